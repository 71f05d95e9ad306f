//===- Describe.h - The tensors of a library's calls ------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_TARGET_LIBRARY_DESCRIBE_H
#define LARC_LIB_TARGET_LIBRARY_DESCRIBE_H

#include "larc/Target/Library.h"
#include "larc/Target/LoadedLibrary.h"

#include "llvm/Support/MemoryBufferRef.h"

namespace larc {

/// A tensor, and what the runtime needs to know of it.
struct DescribedTensor : LibraryTensor {
  std::string member; ///< of the header's structures: `q`, `state_S`
  unsigned state = 0; ///< of states and anchors: their declaration
};

/// The tensors of a call in the order of its pointers: operands, constants,
/// outputs, initial states, final states, initial anchors, final anchors.
std::vector<DescribedTensor> describeTensors(LibraryContents &contents);

/// Elements of all axes of a tensor, and of the last one.
int64_t countElements(const LibraryTensor &tensor);
int64_t countRowElements(const LibraryTensor &tensor);

/// The axes of a recurrence with their sizes.
std::vector<std::pair<std::string, int64_t>> getDimSizes(RecurrenceOp op);

/// `text` as part of a name of C.
std::string makeCName(llvm::StringRef text);

/// The functions of a library by the ends of their names, with what the runtime
/// calls them.
struct LibraryFunction {
  llvm::StringLiteral name, implementation;
};
llvm::ArrayRef<LibraryFunction> getLibraryFunctions();

/// `cuda:90`.
std::string getTargetName(const CudaCode &code);
llvm::StringRef getFormName(larc_form form);
larc_form toLibraryForm(CPUForm form);

/// The header that all libraries have in common, and the object files of the
/// runtime, which were compiled with this program.
llvm::StringRef getCommonHeader();
llvm::ArrayRef<llvm::StringRef> getRuntimeObjects();

/// The tables of a library as an object file (lib/Runtime/LibraryData.h).
llvm::Expected<std::string> makeDataObject(LibraryContents &contents,
                                           llvm::StringRef manifest);
/// An object file with nothing in it.
llvm::Expected<std::string> makeEmptyObject();

/// Links a shared object that exports `exports`, each another name for a
/// symbol of the objects, and `kept`, one of theirs. It asks for the shared
/// objects called `needed` when it is loaded.
llvm::Expected<std::string>
linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects,
                 llvm::StringRef soname,
                 llvm::ArrayRef<std::pair<std::string, std::string>> exports,
                 llvm::StringRef kept, llvm::ArrayRef<llvm::StringRef> needed);

} // namespace larc

#endif // LARC_LIB_TARGET_LIBRARY_DESCRIBE_H
