//===- CompileRecurrence.cpp - Kernels of a recurrence ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormCompiler.h"

#include "larc/Target/CUDA/PredictForm.h"

#include <memory>
#include <tuple>

using namespace mlir;
using namespace larc;

/// The numbers of tokens that chunks of kernels may have.
static constexpr int64_t chunkSizes[] = {32, 16};

CudaOptions CudaOptions::uniform(RecurrenceOp recurrence, DType dtype,
                                 DType gateDType) {
  CudaOptions options;
  auto getType = [&](OperandDeclAttr decl) {
    return decl.getKind() == OperandKind::Gate ? gateDType : dtype;
  };
  for (auto decl : recurrence.getTokenOperands().getAsRange<OperandDeclAttr>())
    options.operandTypes.push_back(getType(decl));
  for (auto decl : recurrence.getConstants().getAsRange<OperandDeclAttr>())
    options.constantTypes.push_back(getType(decl));
  options.outputTypes.assign(recurrence.getOutputs().size(), dtype);
  return options;
}

ArrayRef<larc_form> larc::getCudaForms() {
  static constexpr larc_form forms[] = {LARC_FORM_RECURRENT, LARC_FORM_CHUNK};
  return forms;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Fails where a copy unit is asked for that the GPU has not.
static LogicalResult checkCopies(RecurrenceOp recurrence,
                                 const CudaOptions &options) {
  if (options.copies != CudaCopies::Bulk ||
      options.computeCapability == kHopperCapability)
    return success();
  return recurrence.emitError()
         << "cannot have its chunks copied by a unit on GPUs of compute "
            "capability "
         << options.computeCapability / 10 << '.'
         << options.computeCapability % 10 << ": only 9.0 has it";
}

/// How operands may be copied, by the unit or not; the best first.
static SmallVector<bool> listCopies(larc_form form,
                                    const CudaOptions &options) {
  bool isAsked = options.copies == CudaCopies::Bulk;
  if (form != LARC_FORM_CHUNK ||
      options.computeCapability != kHopperCapability ||
      options.copies == CudaCopies::Async)
    return {false};
  return isAsked ? SmallVector<bool>{true} : SmallVector<bool>{true, false};
}

/// How `form` may be compiled; of those that take as long, the best first.
static SmallVector<FormChoice> listChoices(larc_form form, bool bulkCopies,
                                           const CudaOptions &options) {
  if (form != LARC_FORM_CHUNK) {
    constexpr int64_t spare = 16;
    return {{form}, {form, 0, 0, false, spare}};
  }
  // Registers are divided among roles on Hopper alone.
  SmallVector<int64_t> splits = {0};
  if (options.computeCapability == kHopperCapability)
    splits.append({144, 120, 96, 80});
  SmallVector<FormChoice> choices;
  for (int64_t size : chunkSizes)
    if (options.chunkSize == 0 || size <= options.chunkSize)
      for (int64_t registers : splits)
        choices.push_back({form, size, registers, /*segments=*/true,
                           /*spareRegisters=*/0, bulkCopies});
  return choices;
}

namespace {
/// Takes the errors at operations while it lives, and remembers the first.
class ErrorTaker {
public:
  explicit ErrorTaker(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          if (first)
            return success();
          std::string text = diagnostic.str();
          for (Diagnostic &note : diagnostic.getNotes())
            text += "; " + note.str();
          first.emplace(diagnostic.getLocation(), std::move(text));
          return success();
        }) {}

  std::optional<std::pair<Location, std::string>> first;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// What schedules are compared by: a call that gives each multiprocessor a
/// sequence.
static constexpr int64_t tokensOfComparison = 4096;

namespace {
/// A choice whose tile programs can be made.
struct Candidate {
  FormChoice choice;
  size_t number; ///< among the choices
  /// Whether it is for where none of the others assembles.
  bool isFallback;
  double seconds;
  std::unique_ptr<FormCompiler> compiler;
};
} // namespace

/// Whether states have several roles, which share what registers the first one
/// leaves.
static bool isCascade(ModuleOp programs) {
  constexpr int64_t otherRoles = 2;
  return llvm::any_of(programs.getOps<tile::ProgramOp>(), [](auto program) {
    auto roles = program.getBody().template getOps<tile::RoleOp>();
    return std::distance(roles.begin(), roles.end()) > otherRoles + 1;
  });
}

/// Those of `choices` whose tile programs can be made. Where there is none the
/// errors of the last choice are emitted, unless `quiet`.
static SmallVector<Candidate> makeTilesOf(RecurrenceOp recurrence,
                                          const CudaOptions &options,
                                          ArrayRef<FormChoice> choices,
                                          bool quiet) {
  SmallVector<Candidate> candidates;
  // What the roles of a cascade have is too little to give up any of it; where
  // one of them spills, another may have to spare.
  constexpr int64_t ofCascade = 80;
  bool cascade = false;
  for (auto [i, choice] : llvm::enumerate(choices)) {
    if (cascade && choice.factorRegisters != 0 &&
        choice.factorRegisters != ofCascade)
      continue;
    bool isLastHope = candidates.empty() && i + 1 == choices.size();
    std::optional<ErrorTaker> taker;
    if (quiet || !isLastHope)
      taker.emplace(recurrence.getContext());
    auto compiler = std::make_unique<FormCompiler>(recurrence, options, choice);
    if (failed(compiler->makeTiles()))
      continue;
    cascade = isCascade(compiler->getModule());
    // The stages of a cascade wait for each other rather than for copies.
    if (choice.bulkCopies && options.copies == CudaCopies::Auto &&
        (cascade || compiler->getForm().maps.empty()))
      return {};
    bool isFallback =
        choice.spareRegisters > 0 || (cascade && choice.factorRegisters != 0);
    candidates.push_back({choice, i, isFallback, 0, std::move(compiler)});
  }
  return candidates;
}

/// The same, the fastest first. Without segments, where there is no choice with
/// them.
static SmallVector<Candidate>
makeCandidates(RecurrenceOp recurrence, const CudaOptions &options,
               MutableArrayRef<FormChoice> choices, bool quiet) {
  bool mayBeCut = choices.front().segments;
  SmallVector<Candidate> candidates =
      makeTilesOf(recurrence, options, choices, quiet || mayBeCut);
  if (candidates.empty() && mayBeCut) {
    for (FormChoice &choice : choices)
      choice.segments = false;
    candidates = makeTilesOf(recurrence, options, choices, quiet);
  }
  const GPUModel &model = GPUModel::get(options.computeCapability);
  CudaCall call{/*sequences=*/1, tokensOfComparison, model.multiprocessors,
                /*segments=*/1};
  if (choices.size() > 1)
    for (Candidate &candidate : candidates)
      candidate.seconds =
          predictForm(candidate.compiler->getForm(),
                      candidate.compiler->getModule(), model, call)
              .seconds;
  llvm::sort(candidates, [](const Candidate &lhs, const Candidate &rhs) {
    return std::tie(lhs.isFallback, lhs.seconds, lhs.number) <
           std::tie(rhs.isFallback, rhs.seconds, rhs.number);
  });
  return candidates;
}

using CompileStep = llvm::function_ref<LogicalResult(FormCompiler &)>;

/// Calls `work` with compilers whose tile programs are made, those of the
/// fastest first, until it succeeds. The errors of the last one are emitted,
/// unless `quiet`; those of the others are not.
static LogicalResult compileBest(RecurrenceOp recurrence,
                                 const CudaOptions &options, larc_form form,
                                 bool bulkCopies, bool quiet,
                                 CompileStep work) {
  SmallVector<FormChoice> choices = listChoices(form, bulkCopies, options);
  if (choices.empty() && quiet)
    return failure();
  if (choices.empty())
    return recurrence.emitError()
           << "cannot have chunks of " << options.chunkSize
           << " tokens on GPUs: expected at least "
           << CudaOptions::leastChunkSize;
  // Those that are only looked at are not told of.
  CudaOptions untold = options;
  untold.printIRAfter.clear();
  untold.timing = false;
  bool isTold = options.timing || !options.printIRAfter.empty();
  SmallVector<Candidate> candidates =
      makeCandidates(recurrence, untold, choices, quiet);
  for (auto [i, candidate] : llvm::enumerate(candidates)) {
    std::optional<ErrorTaker> taker;
    if (quiet || i + 1 != candidates.size())
      taker.emplace(recurrence.getContext());
    if (isTold) {
      candidate.compiler =
          std::make_unique<FormCompiler>(recurrence, options, candidate.choice);
      if (failed(candidate.compiler->makeTiles()))
        continue;
    }
    if (succeeded(work(*candidate.compiler)))
      return success();
  }
  return failure();
}

/// The same, of the best way to copy operands that there is.
static LogicalResult compileBest(RecurrenceOp recurrence,
                                 const CudaOptions &options, larc_form form,
                                 CompileStep work) {
  SmallVector<bool> copies = listCopies(form, options);
  for (bool bulk : ArrayRef(copies).drop_back())
    if (succeeded(
            compileBest(recurrence, options, form, bulk, /*quiet=*/true, work)))
      return success();
  return compileBest(recurrence, options, form, copies.back(), /*quiet=*/false,
                     work);
}

static LogicalResult emitForm(FormCompiler &compiler, CudaEmit what,
                              std::string &text) {
  llvm::raw_string_ostream os(text);
  if (what != CudaEmit::Tile && failed(compiler.makeKernels()))
    return failure();
  switch (what) {
  case CudaEmit::Tile:
  case CudaEmit::LLVM:
    compiler.getModule().print(os);
    return success();
  case CudaEmit::PTX: {
    FailureOr<CudaTarget> target = compiler.getTarget();
    if (failed(target))
      return failure();
    FailureOr<std::string> ptx = translateToPTX(compiler.getModule(), *target);
    if (failed(ptx))
      return failure();
    text = std::move(*ptx);
    return success();
  }
  case CudaEmit::Cubin: {
    FailureOr<CudaForm> code = compiler.assemble();
    if (failed(code))
      return failure();
    text = std::move(code->cubin);
    return success();
  }
  }
  return failure();
}

LogicalResult larc::emitCuda(RecurrenceOp recurrence,
                             const CudaOptions &options, larc_form form,
                             CudaEmit what, llvm::raw_ostream &os) {
  std::string text;
  if (failed(checkCopies(recurrence, options)) ||
      failed(
          compileBest(recurrence, options, form, [&](FormCompiler &compiler) {
            return emitForm(compiler, what, text);
          })))
    return failure();
  os << text;
  return success();
}

FailureOr<CudaSchedule> larc::scheduleForCuda(RecurrenceOp recurrence,
                                              const CudaOptions &options,
                                              larc_form form) {
  CudaSchedule schedule;
  auto work = [&](FormCompiler &compiler) -> LogicalResult {
    schedule.programs = compiler.getModule().clone();
    if (failed(compiler.makeKernels()))
      return failure();
    schedule.form = compiler.getForm();
    return success();
  };
  if (failed(checkCopies(recurrence, options)) ||
      failed(compileBest(recurrence, options, form, work)))
    return failure();
  return schedule;
}

/// Compiles `form`, for all ways to copy operands that there are; fails where
/// there is none.
static LogicalResult compileForm(RecurrenceOp recurrence,
                                 const CudaOptions &options, larc_form form,
                                 std::vector<CudaForm> &forms) {
  auto work = [&](FormCompiler &compiler) -> LogicalResult {
    if (failed(compiler.makeKernels()))
      return failure();
    FailureOr<CudaForm> compiled = compiler.assemble();
    if (failed(compiled))
      return failure();
    forms.push_back(std::move(*compiled));
    return success();
  };
  size_t before = forms.size();
  SmallVector<bool> copies = listCopies(form, options);
  for (auto [i, bulk] : llvm::enumerate(copies)) {
    bool isLastHope = i + 1 == copies.size() && forms.size() == before;
    if (failed(compileBest(recurrence, options, form, bulk,
                           /*quiet=*/!isLastHope, work)) &&
        isLastHope)
      return failure();
  }
  return success();
}

FailureOr<CudaCode> larc::compileForCuda(RecurrenceOp recurrence,
                                         const CudaOptions &options,
                                         ArrayRef<larc_form> forms) {
  if (failed(checkCopies(recurrence, options)))
    return failure();
  CudaCode code;
  code.computeCapability = options.computeCapability;
  for (larc_form form : forms.empty() ? getCudaForms() : forms) {
    if (!forms.empty() || form != LARC_FORM_CHUNK) {
      if (failed(compileForm(recurrence, options, form, code.forms)))
        return failure();
      continue;
    }
    // Where nobody asked for chunks, there need not be any.
    ErrorTaker errors(recurrence.getContext());
    if (failed(compileForm(recurrence, options, form, code.forms)))
      code.whyNoChunks = errors.first.value_or(std::pair(
          recurrence.getLoc(), std::string("its chunks do not compile")));
  }
  // Where copies can be made both ways, the later form is the one with maps,
  // which is taken for tensors that those can describe.
  llvm::sort(code.forms, [](const CudaForm &lhs, const CudaForm &rhs) {
    return std::tuple(lhs.leastTokens, lhs.maps.size()) <
           std::tuple(rhs.leastTokens, rhs.maps.size());
  });
  return code;
}
