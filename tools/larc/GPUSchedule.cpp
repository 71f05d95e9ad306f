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

#include <algorithm>
#include <cmath>

using namespace larc;
using namespace larc::driver;

//===----------------------------------------------------------------------===//
// What was decided
//===----------------------------------------------------------------------===//

mlir::FailureOr<CudaSchedule> driver::getGPUSchedule(RecurrenceOp recurrence,
                                                     const CudaOptions &options,
                                                     larc_form form,
                                                     std::string &reason) {
  // A form that is not there is no error here.
  mlir::ScopedDiagnosticHandler handler(
      recurrence.getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            reason.empty())
          reason = diagnostic.str();
      });
  return scheduleForCuda(recurrence, options, form);
}

std::optional<double> driver::predictGPUMilliseconds(RecurrenceOp recurrence,
                                                     const CudaOptions &options,
                                                     larc_form form,
                                                     const CudaCall &call) {
  std::string reason;
  mlir::FailureOr<CudaSchedule> schedule =
      getGPUSchedule(recurrence, options, form, reason);
  if (mlir::failed(schedule))
    return std::nullopt;
  const GPUModel &model = GPUModel::get(options.computeCapability);
  return predictForm(schedule->form, *schedule->programs, model, call).seconds *
         1e3;
}

/// The most chunks of an operand that shared memory has at a time.
static int64_t getDepth(tile::ProgramOp program) {
  int64_t depth = 0;
  auto count = [&](auto copy) {
    auto stage = copy.getTarget().template getDefiningOp<tile::StageOp>();
    if (!stage)
      return;
    auto ring = mlir::cast<tile::SharedType>(stage.getRing().getType());
    depth = std::max(depth, ring.getStages());
  };
  program.walk([&](tile::CopyAsyncOp copy) { count(copy); });
  program.walk([&](tile::CopyBulkOp copy) { count(copy); });
  return depth;
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
  void explainProgram(const CudaFormLaunch &launch, tile::ProgramOp program,
                      const TilePrediction &prediction, llvm::StringRef unit);
  void explainUnits(const TilePrediction &prediction, llvm::StringRef unit);
  void explainCall(const CudaCall &call, const CudaPrediction &prediction);
  void line(unsigned depth, const llvm::Twine &text);
  CudaCall getCall(larc_form form);
  double countBytes(const CudaCall &call);
  bool isBound();

  const Options &options;
  RecurrenceOp recurrence;
  llvm::raw_ostream &os;
  CudaOptions cuda;
  std::string callTitle;
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

/// What is told of where `--dims` leaves it open: a long sequence with many
/// heads, and a step of decoding.
static constexpr CudaCall usualCall = {/*sequences=*/1, /*tokens=*/8192,
                                       /*heads=*/96};
static constexpr CudaCall usualStep = {/*sequences=*/128, /*tokens=*/1,
                                       /*heads=*/32};

/// The call that `--dims` describes, or a usual one.
CudaCall GPUExplainer::getCall(larc_form form) {
  std::map<std::string, int64_t> sizes;
  for (const auto &[name, size] : getSingleDims(options.dims))
    sizes[name] = size;
  if (sizes.count("B") && sizes.count("T") && sizes.count("H")) {
    callTitle = formatDims(getSingleDims(options.dims));
    return {sizes["B"], sizes["T"], sizes["H"]};
  }
  CudaCall call = form == LARC_FORM_CHUNK ? usualCall : usualStep;
  callTitle = "for example " + formatDims({{"B", call.sequences},
                                           {"T", call.tokens},
                                           {"H", call.heads}});
  return call;
}

/// What a call has to read and write, with a state in and out.
double GPUExplainer::countBytes(const CudaCall &call) {
  CPUOptions types;
  types.operandTypes = cuda.operandTypes;
  types.constantTypes = cuda.constantTypes;
  types.outputTypes = cuda.outputTypes;
  TokenCost cost = countTokenCost(recurrence, types);
  double states = 0;
  for (auto state : recurrence.getStates().getAsRange<StateDeclAttr>()) {
    double elements = 1;
    for (mlir::StringAttr axis : state.getAxes())
      elements *= double(*recurrence.getAxisSize(axis));
    states += elements;
  }
  return double(call.sequences) * double(call.heads) *
         (cost.bytes * double(call.tokens) +
          2 * states * double(getByteWidth(cuda.stateType)));
}

static std::string getFormTitle(larc_form form) {
  return form == LARC_FORM_CHUNK ? "chunk form" : "recurrent form";
}

/// `2 parts`.
static std::string formatCount(int64_t count, llvm::StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

static std::string formatCycles(double cycles) {
  return formatCount(std::llround(cycles), "cycle");
}

void GPUExplainer::explainProgram(const CudaFormLaunch &launch,
                                  tile::ProgramOp program,
                                  const TilePrediction &prediction,
                                  llvm::StringRef unit) {
  // What goes through no tokens puts together what others have summed up.
  bool composes = launch.onlyIfCut && prediction.cycles == 0;
  line(2, (composes ? "then one that composes what segments do to states"
           : launch.onlyIfCut ? "where sequences are cut, first a thread block "
                                "for each segment"
                              : "a thread block for each sequence and head") +
              (launch.parts > 1
                   ? ", and each of " + formatCount(launch.parts, "part") +
                         " of the columns of its states"
                   : std::string()) +
              ": " + formatCount(launch.warps, "warp") + ", " +
              (composes ? formatCycles(prediction.cost.outsideCycles)
                        : std::to_string(launch.sharedBytes) +
                              " bytes of shared memory"));
  if (composes)
    return;
  if (program.getResident() > 1)
    line(2, formatCount(int64_t(program.getResident()), "block") +
                " share a multiprocessor: one computes while another waits "
                "for its state");
  if (int64_t depth = getDepth(program))
    line(3, "up to " + formatCount(depth, unit) +
                " of each operand in shared memory");
  auto roles = program.getBody().getOps<tile::RoleOp>();
  for (auto [role, cost] : llvm::zip(roles, prediction.cost.roles)) {
    std::optional<uint64_t> registers = role.getRegisters();
    line(3, formatCount(cost.warps, "warp") + " of one role" +
                (registers ? ", with " + std::to_string(*registers) +
                                 " registers a lane"
                           : std::string()) +
                ": " + formatCycles(cost.cycles) + " a " + unit);
  }
  explainUnits(prediction, unit);
}

void GPUExplainer::explainUnits(const TilePrediction &prediction,
                                llvm::StringRef unit) {
  const TileProgramCost &cost = prediction.cost;
  std::string text;
  std::pair<llvm::StringRef, double> units[] = {
      {"instructions", cost.issue},   {"arithmetic", cost.alu},
      {"functions", cost.special},    {"matrix units", cost.matrix},
      {"shared memory", cost.shared}, {"memory", prediction.memoryCycles}};
  for (auto [name, cycles] : units)
    if (std::llround(cycles) > 0)
      text += ", " + name.str() + " " + std::to_string(std::llround(cycles));
  line(3,
       "a " + unit + " takes " + formatCycles(prediction.cycles) +
           (prediction.exactCycles > prediction.cycles * 1.01
                ? ", on the exact path " + formatCycles(prediction.exactCycles)
                : std::string()) +
           "; of the units" + text);
}

void GPUExplainer::explainCall(const CudaCall &call,
                               const CudaPrediction &prediction) {
  const GPUModel &model = GPUModel::get(cuda.computeCapability);
  const CudaPrediction::Kernel &main = prediction.kernels.back();
  double bytes = countBytes(call);
  line(2, callTitle + ": " + formatCount(main.prediction.blocks, "block") +
              " on " + std::to_string(model.multiprocessors) +
              " multiprocessors, " + formatNumber(bytes, 4) + " bytes" +
              (prediction.segments > 1
                   ? ", " + formatCount(prediction.segments, "segment") +
                         " of each sequence"
                   : std::string()));
  if (main.prediction.blocks == 0)
    return;
  line(2, "predicted " + formatNumber(prediction.seconds * 1e3, 3) + " ms on " +
              model.name + " (" +
              formatNumber(model.bytesPerSecond * 1e-12, 3) +
              " TB/s), bound by " +
              prediction.getLongest().prediction.describeBound());
  line(2, "at least " + formatNumber(bytes / model.bytesPerSecond * 1e3, 3) +
              " ms, to read and write memory");
}

void GPUExplainer::explainForm(larc_form form) {
  std::string reason;
  mlir::FailureOr<CudaSchedule> schedule =
      getGPUSchedule(recurrence, cuda, form, reason);
  if (mlir::failed(schedule)) {
    line(1, "no " + getFormTitle(form) + ": it " + reason);
    return;
  }
  const CudaForm &made = schedule->form;
  line(1, getFormTitle(form) +
              (made.chunkSize
                   ? ", chunks of " + std::to_string(made.chunkSize) + " tokens"
                   : std::string()));
  const GPUModel &model = GPUModel::get(cuda.computeCapability);
  CudaCall call = getCall(form);
  CudaPrediction prediction =
      predictForm(made, *schedule->programs, model, call);
  llvm::StringRef unit = made.chunkSize ? "chunk" : "token";
  // The kernel that always runs comes first here.
  std::vector<CudaFormLaunch> launches = made.launches;
  std::rotate(launches.begin(), launches.end() - 1, launches.end());
  for (const CudaFormLaunch &launch : launches)
    for (const CudaPrediction::Kernel &kernel : prediction.kernels)
      if (kernel.name == launch.kernel)
        explainProgram(
            launch,
            schedule->programs->lookupSymbol<tile::ProgramOp>(launch.kernel),
            kernel.prediction, unit);
  explainCall(call, prediction);
}

void GPUExplainer::explain() {
  cuda = CudaOptions::uniform(recurrence, options.dtype.value_or(DType::F32),
                              options.dtype.value_or(DType::F32));
  cuda.stateType = options.stateDType.value_or(DType::F32);
  cuda.computeCapability = getCompileCapability(options.targets.front());
  cuda.chunkSize = options.chunkSize;
  cuda.copies = options.copies;
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
