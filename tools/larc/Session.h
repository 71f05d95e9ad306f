//===- Session.h - What the commands share ----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_SESSION_H
#define LARC_TOOLS_LARC_SESSION_H

#include "Options.h"
#include "Report.h"

#include "larc/Execution/Problem.h"
#include "larc/Specs/Specs.h"
#include "larc/Target/CPU/CompiledRecurrence.h"
#include "larc/Target/CPU/CostModel.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

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

  /// Checks the sizes of `--dims` against `spec`, see `bindDimsOption`.
  llvm::Error checkDims(const SpecChoice &spec,
                        llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                        llvm::ArrayRef<llvm::StringRef> required);

  /// `form`, or what `Auto` can only be: the reference for gradients, chunks
  /// where the command line has their options. Fails if `form` cannot compute
  /// gradients and they are asked for.
  llvm::Expected<Form> resolveForm(Form form, bool gradients);

  /// The form of a resolved one that computes `problem`: what `Auto` chooses.
  Form chooseForm(Form form, Problem &problem);

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

/// The relative error that results of `form` may have: as of the coarser of
/// their type and the type computed in.
double getDefaultLimit(Form form, const Problem &problem);

// The commands; each returns the exit code or an error.
llvm::Expected<int> runList(Session &session);
llvm::Expected<int> runRun(Session &session);
llvm::Expected<int> runCheck(Session &session);
llvm::Expected<int> runExplain(Session &session);
llvm::Expected<int> runBench(Session &session);
llvm::Expected<int> runCompile(Session &session);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_SESSION_H
