//===- Ptxas.h - NVIDIA's assembler -----------------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX becomes machine code by ptxas, a program of the CUDA toolkit, which is
// also in the Python package `nvidia-cuda-nvcc`. Some versions make wrong code
// of some instructions, so which one is used depends on what is assembled.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TARGET_CUDA_PTXAS_H
#define LARC_TARGET_CUDA_PTXAS_H

#include "larc/Target/CUDA/PTX.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VersionTuple.h"

#include <memory>
#include <string>
#include <vector>

namespace larc {

/// The oldest version that may assemble something, and the reason, to follow
/// "ptxas VERSION": `may make wrong code of wgmma`.
struct PtxasNeed {
  llvm::VersionTuple version;
  std::string reason;

  /// What `ptx` needs for `target`.
  static PtxasNeed of(llvm::StringRef ptx, const CudaTarget &target);
};

/// Machine code, and the messages of `ptxas -v` about it.
struct AssembledPTX {
  std::unique_ptr<llvm::MemoryBuffer> cubin;
  std::string messages;
};

/// An assembler that can be run.
class Ptxas {
public:
  /// Asks the program for its version. A fault of the file `path` if it does
  /// not run or does not say.
  static llvm::Expected<Ptxas> open(llvm::StringRef path);

  llvm::StringRef getPath() const { return path; }
  llvm::VersionTuple getVersion() const { return version; }
  /// All that `--version` prints: it differs from build to build.
  llvm::StringRef getIdentity() const { return identity; }

  /// Assembles a whole program. What ptxas refuses is an error that quotes it.
  llvm::Expected<AssembledPTX> assemble(llvm::StringRef ptx,
                                        const CudaTarget &target) const;

private:
  std::string path, identity;
  llvm::VersionTuple version;
};

/// The version that `ptxas --version` printed; empty if there is none.
llvm::VersionTuple parsePtxasVersion(llvm::StringRef text);

/// Where assemblers are looked for.
struct PtxasPlaces {
  /// What the user named, and how (`--ptxas`, `LARC_PTXAS`): this one or none.
  std::string given, givenBy;
  /// Others, in the order in which they are tried.
  std::vector<std::string> candidates;

  /// `option`, if it is not empty, else `LARC_PTXAS`. Candidates are those of
  /// the toolkit, in CUDA_HOME, CUDA_PATH, PATH and /usr/local/cuda*, and those
  /// of the Python package, beside this program, in the virtual environment,
  /// in that of conda, in the user's own packages and those of the Python in
  /// PATH.
  static PtxasPlaces fromEnvironment(llvm::StringRef option = "");
};

/// The assembler that the user named, or else the first candidate that meets
/// `need`. If there is none, the error says which were found, what is wrong
/// with them, and what to install.
llvm::Expected<Ptxas> findPtxas(const PtxasPlaces &places,
                                const PtxasNeed &need);

} // namespace larc

#endif // LARC_TARGET_CUDA_PTXAS_H
