//===- GPUSchedule.cpp - How a form runs on a GPU -------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPUSchedule.h"

#include "larc/Dialect/Tile/IR/Tile.h"
#include "larc/Support/Error.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;

//===----------------------------------------------------------------------===//
// What was decided
//===----------------------------------------------------------------------===//

llvm::Expected<GPUSchedule> driver::getGPUSchedule(RecurrenceOp recurrence,
                                                   const CudaOptions &options,
                                                   larc_form form) {
  mlir::FailureOr<CudaSchedule> made =
      scheduleForCuda(recurrence, options, form);
  if (mlir::failed(made))
    return Session::makePrintedFault();
  GPUSchedule schedule;
  schedule.chunkSize = made->form.chunkSize;
  for (const CudaFormLaunch &launch : made->form.launches) {
    auto op = made->programs->lookupSymbol<tile::ProgramOp>(launch.kernel);
    if (!op)
      continue;
    GPUProgram &program = schedule.programs.emplace_back();
    program.warps = launch.warps;
    program.parts = launch.parts;
    program.sharedBytes = launch.sharedBytes;
    program.resident = static_cast<int64_t>(op.getResident());
    op.walk([&](tile::RoleOp role) {
      GPURole &entry = program.roles.emplace_back();
      entry.warps = static_cast<int64_t>(role.getWarps());
      if (std::optional<uint64_t> registers = role.getRegisters())
        entry.registers = static_cast<int64_t>(*registers);
    });
  }
  return schedule;
}

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

/// From the data sheets of A100 80 GB, H200 and B200; copies reach nine tenths
/// of the bandwidth there.
static constexpr GPUModel models[] = {
    {80, "A100", 108, 1.8e12, 19.5e12},
    {90, "H200", 132, 4.3e12, 67e12},
    {100, "B200", 148, 7.2e12, 75e12},
};

const GPUModel &GPUModel::get(unsigned computeCapability) {
  const GPUModel *best = &models[0];
  for (const GPUModel &model : models)
    if (model.computeCapability <= computeCapability)
      best = &model;
  return *best;
}

/// Between a launch and the first instruction, and from the last to the next
/// kernel of a graph.
static constexpr double launchSeconds = 2.5e-6;
/// What the instructions of a token take that wait for each other: loads of
/// shared memory, sums across lanes and warps, a barrier.
static constexpr double tokenSeconds = 0.6e-6;
/// A multiprocessor takes no more than this of the whole bandwidth.
static constexpr double mostShareOfBandwidth = 1.0 / 48;

GPUPrediction driver::predictTokenLoop(const GPUModel &model,
                                       const GPUProgram &program,
                                       const GPUCall &call) {
  GPUPrediction prediction;
  double blocks =
      double(call.sequences) * double(call.heads) * double(program.parts);
  if (blocks == 0)
    return prediction;
  double busy = std::min(blocks, double(model.multiprocessors));
  double bandwidth =
      model.bytesPerSecond * std::min(1.0, busy * mostShareOfBandwidth);
  double waves =
      std::ceil(blocks / double(model.multiprocessors * program.resident));
  // What takes no instruction of the matrix units.
  double rate = model.flopsPerSecond * busy / double(model.multiprocessors);
  std::pair<double, llvm::StringRef> limits[] = {
      {call.bytes / bandwidth, busy < double(model.multiprocessors)
                                   ? "few blocks reading memory"
                                   : "memory"},
      {call.flops / rate, "arithmetic"},
      {double(call.tokens) * waves * tokenSeconds,
       "tokens that wait for each other"}};
  auto *largest = llvm::max_element(
      limits, [](const auto &a, const auto &b) { return a.first < b.first; });
  double seconds = launchSeconds + largest->first;
  prediction.bound =
      largest->first < launchSeconds ? "the launch" : largest->second;
  prediction.milliseconds = seconds * 1e3;
  return prediction;
}

//===----------------------------------------------------------------------===//
// Telling
//===----------------------------------------------------------------------===//

namespace {
/// Prints the section of a GPU, as text or as Markdown.
class GPUExplainer {
public:
  GPUExplainer(const Options &options, RecurrenceOp recurrence,
               llvm::raw_ostream &os)
      : options(options), recurrence(recurrence), os(os) {}

  void explain();

private:
  void explainForm(larc_form form);
  void explainProgram(const GPUProgram &program);
  void explainCall(larc_form form, const GPUProgram &program);
  void line(unsigned depth, const llvm::Twine &text);
  std::optional<GPUCall> getCall() const;
  bool isBound();

  const Options &options;
  RecurrenceOp recurrence;
  llvm::raw_ostream &os;
  CudaOptions cuda;
};
} // namespace

void GPUExplainer::line(unsigned depth, const llvm::Twine &text) {
  if (options.markdown)
    os.indent(2 * (depth - 1)) << "- ";
  else
    os.indent(2 * depth);
  os << text << '\n';
}

bool GPUExplainer::isBound() {
  return llvm::all_of(recurrence.getAllAxes(), [&](mlir::StringAttr axis) {
    return recurrence.getAxisSize(axis).has_value();
  });
}

/// The call that `--dims` describes, with a state in and out.
std::optional<GPUCall> GPUExplainer::getCall() const {
  std::map<std::string, int64_t> sizes;
  for (const auto &[name, size] : getSingleDims(options.dims))
    sizes[name] = size;
  if (!sizes.count("B") || !sizes.count("T") || !sizes.count("H"))
    return std::nullopt;
  GPUCall call{sizes["B"], sizes["T"], sizes["H"], 0, 0};
  CPUOptions types;
  types.operandTypes = cuda.operandTypes;
  types.constantTypes = cuda.constantTypes;
  types.outputTypes = cuda.outputTypes;
  TokenCost cost = countTokenCost(recurrence, types);
  double heads = double(call.sequences) * double(call.heads);
  double states = 0;
  RecurrenceOp op = recurrence;
  for (auto state : op.getStates().getAsRange<StateDeclAttr>()) {
    double elements = 1;
    for (mlir::StringAttr axis : state.getAxes())
      elements *= double(*op.getAxisSize(axis));
    states += elements;
  }
  call.bytes = heads * (cost.bytes * double(call.tokens) +
                        2 * states * double(getByteWidth(cuda.stateType)));
  call.flops = heads * cost.flops * double(call.tokens);
  return call;
}

static std::string getFormTitle(larc_form form) {
  return form == LARC_FORM_CHUNK ? "chunk form" : "recurrent form";
}

/// `2 parts`.
static std::string formatCount(int64_t count, llvm::StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

void GPUExplainer::explainProgram(const GPUProgram &program) {
  line(2, "a thread block for each sequence and head" +
              (program.parts > 1
                   ? ", and each of " + formatCount(program.parts, "part") +
                         " of the columns of its states"
                   : std::string()) +
              ": " + formatCount(program.warps, "warp") + ", " +
              std::to_string(program.sharedBytes) + " bytes of shared memory");
  if (program.resident > 1)
    line(2, formatCount(program.resident, "block") +
                " share a multiprocessor: one computes while another waits "
                "for its state");
  for (const GPURole &role : program.roles)
    line(3, formatCount(role.warps, "warp") + " of one role" +
                (role.registers ? ", with " + std::to_string(*role.registers) +
                                      " registers a lane"
                                : std::string()));
}

void GPUExplainer::explainCall(larc_form form, const GPUProgram &program) {
  std::optional<GPUCall> call = getCall();
  if (!call) {
    line(2, "sizes of B, T and H let the time be predicted");
    return;
  }
  const GPUModel &model = GPUModel::get(cuda.computeCapability);
  int64_t blocks = call->sequences * call->heads * program.parts;
  line(2, formatDims(getSingleDims(options.dims)) + ": " +
              formatCount(blocks, "block") + " on " +
              std::to_string(model.multiprocessors) + " multiprocessors, " +
              formatNumber(call->bytes, 4) + " bytes");
  if (blocks == 0)
    return;
  if (form == LARC_FORM_CHUNK) {
    line(2, "at least " +
                formatNumber(call->bytes / model.bytesPerSecond * 1e3, 3) +
                " ms on " + model.name + " (" +
                formatNumber(model.bytesPerSecond * 1e-12, 3) +
                " TB/s), to read and write memory");
    return;
  }
  GPUPrediction prediction = predictTokenLoop(model, program, *call);
  line(2, "predicted " + formatNumber(prediction.milliseconds, 3) + " ms on " +
              model.name + " (" +
              formatNumber(model.bytesPerSecond * 1e-12, 3) +
              " TB/s), bound by " + prediction.bound);
}

void GPUExplainer::explainForm(larc_form form) {
  // A form that is not there is no error here.
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(
      recurrence.getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            reason.empty())
          reason = diagnostic.str();
      });
  llvm::Expected<GPUSchedule> schedule = getGPUSchedule(recurrence, cuda, form);
  if (!schedule) {
    llvm::consumeError(schedule.takeError());
    line(1, "no " + getFormTitle(form) + ": it " + reason);
    return;
  }
  line(1, getFormTitle(form) +
              (schedule->chunkSize
                   ? ", chunks of " + std::to_string(schedule->chunkSize) +
                         " tokens"
                   : std::string()));
  for (const GPUProgram &program : schedule->programs)
    explainProgram(program);
  if (!schedule->programs.empty())
    explainCall(form, schedule->programs.front());
}

void GPUExplainer::explain() {
  cuda = CudaOptions::uniform(recurrence, options.dtype.value_or(DType::F32),
                              options.dtype.value_or(DType::F32));
  cuda.stateType = options.stateDType.value_or(DType::F32);
  cuda.computeCapability = getCompileCapability(options.targets.front());
  cuda.chunkSize = options.chunkSize;
  os << '\n'
     << (options.markdown ? "## " : "") << "On GPUs of compute capability "
     << cuda.computeCapability / 10 << '.' << cuda.computeCapability % 10
     << '\n'
     << (options.markdown ? "\n" : "");
  if (!isBound()) {
    line(1, "a schedule needs the sizes of all axes: give them with '--dims'");
    return;
  }
  for (larc_form form : getCudaForms())
    explainForm(form);
}

void driver::explainGPU(const Options &options, RecurrenceOp recurrence,
                        llvm::raw_ostream &os) {
  GPUExplainer(options, recurrence, os).explain();
}
