//===- Session.h - What the commands share ----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_SESSION_H
#define LARC_TOOLS_LARC_SESSION_H

#include "Dims.h"
#include "Options.h"
#include "Report.h"

#include "larc/Execution/Problem.h"
#include "larc/Specs/Specs.h"
#include "larc/Target/CPU/CompiledRecurrence.h"
#include "larc/Target/CPU/CostModel.h"
#include "larc/Target/Library.h"
#include "larc/Target/LoadedLibrary.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileUtilities.h"

#include <map>

namespace larc::driver {

/// Attribute values by name, as text.
using AttributeList = std::vector<std::pair<std::string, std::string>>;

/// A spec and the values that its attributes get.
struct SpecChoice {
  std::string name;
  RecurrenceOp recurrence;
  AttributeList attributes;
};

/// A recurrence compiled in this process, or loaded.
struct Compiled {
  std::unique_ptr<CompiledRecurrence> recurrence;
  double milliseconds = 0; ///< until it was ready
};

/// A library whose code runs: the user's, or one made here of code for a GPU.
struct Library {
  std::string path;
  /// Removes the file of one that was made here.
  std::unique_ptr<llvm::FileRemover> file;
  std::unique_ptr<LoadedLibrary> code;
  /// How it is run, whatever the form.
  LibraryRunOptions run;
  double milliseconds = 0; ///< until it was compiled

  LibraryRunOptions getRun(Form form) const;
  /// Whether there is code of a form for the target.
  bool hasForm(Form form) const;
};

/// The form as libraries have it, and the other way.
larc_form toLibraryForm(Form form);
Form fromLibraryForm(larc_form form);

/// One run of the driver: the MLIR context with its diagnostics on stderr, the
/// specs that were loaded, and what was compiled.
class Session {
public:
  explicit Session(const Options &options);

  const Options &getOptions() const { return options; }
  mlir::MLIRContext &getContext() { return context; }

  /// Prints an error that was not printed as a diagnostic; the exit code.
  /// `firstLine` becomes the first line printed of the error, here or as the
  /// last diagnostic.
  int report(llvm::Error error, std::string *firstLine = nullptr);

  /// Prints a note to stderr, once for each text.
  void noteOnce(const llvm::Twine &text);

  /// The fault whose message was printed as a diagnostic.
  static llvm::Error makePrintedFault();

  /// Loads the spec that the command line names, else the one in the metadata
  /// of `file`, and gathers attribute values: of the metadata, overridden by
  /// the command line. `path` is the file's name; both may be absent.
  llvm::Expected<SpecChoice> chooseSpec(const TensorFile *file,
                                        llvm::StringRef path);

  /// Fails for a conversion that has nothing to convert in `recurrence`.
  llvm::Error checkConversions(RecurrenceOp recurrence) const;

  /// Whether the code that runs is a library's.
  bool runsLibrary() const {
    return options.isLibrary ||
           (options.hasCuda() && options.command != Command::Compile);
  }

  /// Whether it runs on a GPU, which is known once the spec is chosen.
  bool runsOnGPU() const {
    return options.isLibrary ? library && library->run.target == LARC_CUDA
                             : runsLibrary();
  }

  /// The type in which states are kept between calls, other than float32.
  DType getStoredStateDType() const;

  /// Adds the sizes of axes that a library has to those of `--dims`.
  llvm::Error completeDims(DimList &dims);

  /// Checks the sizes of `--dims` against `spec`, see `bindDimsOption`.
  llvm::Error checkDims(const SpecChoice &spec,
                        llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                        llvm::ArrayRef<llvm::StringRef> required);

  /// `form`, or what `Auto` can only be: the reference for gradients, chunks
  /// where the command line has their options. Fails if `form` cannot compute
  /// gradients and they are asked for.
  llvm::Expected<Form> resolveForm(Form form, bool gradients);

  /// The form of a resolved one that computes `problem`: what `Auto` chooses.
  /// For a GPU it is compiled first.
  llvm::Expected<Form> chooseForm(const SpecChoice &spec, Form form,
                                  Problem &problem);

  /// Binds tensors to the spec with the command line's conversions;
  /// `defaultDType` is that of random inputs. Prints the IR that
  /// `--print-ir-after` asks for; `bench` compiles for every form.
  llvm::Expected<Problem>
  bind(const SpecChoice &spec, TensorMap tensors, Form form, bool gradients,
       std::optional<DType> defaultDType = std::nullopt);

  /// What the command line asks of compiled code of `form`.
  void setFormOptions(CPUOptions &types, Form form) const;

  /// The code of `form` (a compiled one) for `problem`, compiled unless it was
  /// before for the same attributes, sizes and types.
  llvm::Expected<Compiled *> getCompiled(const SpecChoice &spec,
                                         Problem &problem, Form form);

  /// The library whose code computes `problem` in `form`, where it is one's;
  /// compiled unless it is the user's, or was before. Fails where there is no
  /// GPU for it.
  llvm::Expected<Library *> getLibrary(const SpecChoice &spec, Problem &problem,
                                       Form form);

  /// Computes outputs, final states and, by the reference, gradients.
  llvm::Expected<TensorMap> compute(const SpecChoice &spec, Problem &problem,
                                    Form form, bool gradients,
                                    llvm::StringRef what);

  /// Fails if `--print-ir-after` names no pass that is run for `form`.
  llvm::Error checkPrintIRAfter(Form form);

  /// Prints `--print-ir-after` of the passes that make `recurrence` flat and
  /// bound to `sizes`.
  llvm::Error printFlattening(SpecChoice spec, RecurrenceOp bound);

  /// The hooks of the compiler that the options ask for.
  CompileHooks getCompileHooks() const;

  PhaseTimer &getTimer() { return timer; }

private:
  // Libraries.cpp has what concerns libraries.
  llvm::Expected<Library *> openLibrary();
  llvm::Error checkMetadata(RecurrenceOp recurrence, const TensorFile &file,
                            llvm::StringRef path) const;
  llvm::Expected<SpecChoice> chooseLibrarySpec(const TensorFile *file,
                                               llvm::StringRef path);
  ConversionOptions getLibraryConversion() const;
  llvm::Error roundStates(Problem &problem) const;
  llvm::Expected<Library> compileLibrary(const SpecChoice &spec,
                                         Problem &problem, Form form);

  /// What the cost model makes of a call in `form`, or in any.
  FormChoice chooseCall(Problem &problem, Form form);
  llvm::Expected<RecurrenceOp> getSpec(llvm::StringRef name);
  llvm::Error checkAttributes(RecurrenceOp recurrence) const;

  const Options &options;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler diagnostics;
  PhaseTimer timer;
  std::map<std::string, LoadedSpec, std::less<>> specs;
  std::map<std::string, Compiled> compiled;
  /// The user's, and the recurrence in it.
  std::optional<Library> library;
  mlir::OwningOpRef<mlir::ModuleOp> libraryModule;
  /// Those compiled here.
  std::map<std::string, Library> libraries;
  std::map<std::string, CostModel> costs;
  std::vector<std::string> printedNotes;
  /// The first line of the last error that was printed as a diagnostic.
  std::string lastDiagnostic;
};

/// Whether anything in `error` is wrong with the command line.
bool isUsageFault(const llvm::Error &error);

/// Makes `error` one of the command line: whatever went wrong came from there.
llvm::Error blameCommandLine(llvm::Error error);

/// Gives the faults of content in `error` the file `path`; those of the command
/// line concern no file.
llvm::Error blameFile(llvm::Error error, llvm::StringRef path);

/// The dtype that results of `form` have.
DType getResultDType(Form form, const Problem &problem);

/// The relative error that results of `form` may have: as of the coarsest of
/// their type, the type computed in and that of states between calls.
double getDefaultLimit(Form form, const Problem &problem, DType storedState);

/// The options of the compiler for GPUs, but for the kind of GPU.
CudaOptions makeCudaOptions(LibraryContents &contents, const Options &options);

/// The compute capability that code for `target` is compiled for where no GPU
/// is at hand: Hopper's unless it says otherwise.
unsigned getCompileCapability(const Target &target);

// The commands; each returns the exit code or an error.
llvm::Expected<int> runList(Session &session);
llvm::Expected<int> runRun(Session &session);
llvm::Expected<int> runCheck(Session &session);
llvm::Expected<int> runExplain(Session &session);
llvm::Expected<int> runBench(Session &session);
llvm::Expected<int> runCompile(Session &session);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_SESSION_H
