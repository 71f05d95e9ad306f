//===- Bench.cpp - larc bench ---------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are wall-clock times of a whole call on tensors in memory. Machines are
// noisy, so forms take turns, and the machine's own limits are measured before,
// between and after their runs; the best of each is what it can do.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "Plot.h"
#include "Session.h"

#include "larc/Reference/Reference.h"
#include "larc/Support/Error.h"
#include "larc/Support/FileOutput.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;

/// Samples of a form and dims, at least and at most.
static constexpr size_t minSamples = 3, maxSamples = 200;
/// Time after which the fewest samples of a form and dims are enough, and after
/// which one is.
static constexpr double samplingMilliseconds = 1000, longMilliseconds = 15000;
/// A sample repeats calls until it is this long, so that the clock's own time
/// does not show.
static constexpr double shortestSample = 2;

namespace {

/// A form of a recurrence with everything that a call of it needs.
class Subject {
public:
  static llvm::Expected<std::unique_ptr<Subject>>
  create(Session &session, const SpecChoice &spec, Form form,
         llvm::ArrayRef<std::pair<std::string, int64_t>> dims);

  /// Calls once; nothing but the call is in the time.
  llvm::Error call();
  /// Takes one sample. The first call only warms up and says how many calls
  /// make a sample.
  llvm::Error sample();
  bool isDone() const;

  /// The forms that were asked for and are this one: `auto` may be another.
  llvm::SmallVector<Form> requested;
  Form form = Form::Reference;
  DType dtype = DType::F64;
  double flops = 0, bytes = 0;
  std::optional<int64_t> workspaceBytes;
  double compileMilliseconds = 0;
  CallPlan plan;
  std::vector<double> samples;

private:
  Session *session = nullptr;
  Problem problem;
  CompiledRecurrence *code = nullptr;
  TensorMap results;
  size_t callsPerSample = 0;
  double totalMilliseconds = 0;
};

} // namespace

/// Bytes of states and anchors that a call reads, where they are given, and
/// writes.
static double countStateBytes(const Problem &problem,
                              const TensorMap &results) {
  double bytes = 0;
  for (const Tensor *state : problem.states)
    bytes += state ? double(state->getByteSize()) : 0;
  for (const Tensor *anchor : problem.anchors)
    bytes += anchor ? double(anchor->getByteSize()) : 0;
  for (const auto &[name, tensor] : results)
    if (llvm::StringRef(name).starts_with("final."))
      bytes += double(tensor.getByteSize());
  return bytes;
}

/// Makes the final states the initial ones too, as decoding does: the state
/// stays where it is.
static void chainStates(Problem &problem, TensorMap &results) {
  for (auto [decl, state] :
       llvm::zip(problem.recurrence.getStates().getAsRange<StateDeclAttr>(),
                 problem.states)) {
    auto it = results.find("final." + decl.getName().str());
    if (!state || it == results.end())
      continue;
    std::memcpy(it->second.getRawData(), state->getRawData(),
                size_t(state->getByteSize()));
    state = &it->second;
  }
}

llvm::Expected<std::unique_ptr<Subject>>
Subject::create(Session &session, const SpecChoice &spec, Form form,
                llvm::ArrayRef<std::pair<std::string, int64_t>> dims) {
  auto subject = std::make_unique<Subject>();
  subject->session = &session;
  subject->requested = {form};
  RandomInputs request;
  request.dims.assign(dims.begin(), dims.end());
  // A single token is decoding, which goes on from a state.
  bool isDecoding = llvm::any_of(dims, [](const auto &dim) {
    return dim.first == "T" && dim.second == 1;
  });
  request.initialStates = isDecoding;
  llvm::Expected<TensorMap> inputs =
      makeRandomInputs(spec.recurrence, spec.attributes, request);
  if (!inputs)
    return inputs.takeError();
  llvm::Expected<Problem> problem =
      session.bind(spec, std::move(*inputs), form, /*gradients=*/false,
                   /*defaultDType=*/DType::F32);
  if (!problem)
    return problem.takeError();
  subject->problem = std::move(*problem);
  form = subject->form = session.chooseForm(form, subject->problem);
  subject->dtype = getResultDType(form, subject->problem);

  llvm::Expected<TensorMap> results =
      createResults(subject->problem, /*float64=*/form == Form::Reference);
  if (!results)
    return results.takeError();
  subject->results = std::move(*results);
  // The reference does the work of the token loop, as the compiler counts it:
  // it compiles, too, and `--print-ir-after` and `--timing` show so.
  llvm::Expected<Compiled *> code = session.getCompiled(
      spec, subject->problem, form == Form::Reference ? Form::Recurrent : form);
  if (!code)
    return code.takeError();
  TokenCost cost = (*code)->recurrence->getTokenCost();
  unsigned threads = session.getOptions().threads;
  CallPlan plan = (*code)->recurrence->getPlan(subject->problem, threads);
  if (form != Form::Reference) {
    subject->code = (*code)->recurrence.get();
    subject->compileMilliseconds = (*code)->milliseconds;
    subject->workspaceBytes =
        subject->code->getWorkspaceBytes() * int64_t(threads);
    subject->plan = plan;
    // A token loop is not cut.
    if (form == Form::Recurrent)
      subject->plan.chunkSize = subject->plan.segments = 0;
    if (isDecoding)
      chainStates(subject->problem, subject->results);
  }
  double steps = double(subject->problem.batch) *
                 double(subject->problem.tokens) *
                 double(subject->problem.heads);
  subject->flops = plan.flops.value_or(cost.flops * steps);
  subject->bytes =
      cost.bytes * steps + countStateBytes(subject->problem, subject->results);
  return subject;
}

llvm::Error Subject::call() {
  unsigned threads = session->getOptions().threads;
  if (code)
    return code->run(problem, results, threads);
  Progress progress("measuring the reference");
  ReferenceOptions reference;
  reference.threads = threads;
  reference.progress = [&](double fraction) { progress.update(fraction); };
  llvm::Expected<TensorMap> computed = runReference(problem, reference);
  return computed ? llvm::Error::success() : computed.takeError();
}

llvm::Error Subject::sample() {
  if (callsPerSample == 0) {
    // Warm up, first once and then as long as a sample takes.
    size_t count = 0;
    Clock::time_point start = Clock::now();
    double elapsed = 0;
    do {
      if (llvm::Error error = call())
        return error;
      ++count;
      elapsed = getMilliseconds(Clock::now() - start);
    } while (elapsed < shortestSample);
    callsPerSample = count;
    totalMilliseconds = elapsed;
    // The first call of long work is as good as any.
    if (elapsed > samplingMilliseconds)
      samples.push_back(elapsed);
    return llvm::Error::success();
  }
  Clock::time_point start = Clock::now();
  for (size_t i = 0; i < callsPerSample; ++i)
    if (llvm::Error error = call())
      return error;
  double elapsed = getMilliseconds(Clock::now() - start);
  totalMilliseconds += elapsed;
  samples.push_back(elapsed / double(callsPerSample));
  return llvm::Error::success();
}

bool Subject::isDone() const {
  return samples.size() >= maxSamples ||
         (samples.size() >= minSamples &&
          totalMilliseconds > samplingMilliseconds) ||
         (!samples.empty() && totalMilliseconds > longMilliseconds);
}

/// Keeps the better of what was measured and a new measurement.
static llvm::Error updateLimits(MachineLimits &limits, DType type,
                                unsigned threads) {
  llvm::Expected<MachineLimits> measured = measureLimits(type, threads);
  if (!measured)
    return measured.takeError();
  limits.gflops = std::max(limits.gflops, measured->gflops);
  limits.copyGBps = std::max(limits.copyGBps, measured->copyGBps);
  return llvm::Error::success();
}

namespace {
/// What is printed of a subject.
struct Measurement {
  DimList dims;
  llvm::SmallVector<Form> requested;
  Form form;
  DType dtype;
  double median, min, max;
  size_t runs;
  double flops, bytes;
  MachineLimits limits;
  std::optional<int64_t> workspaceBytes;
  double compileMilliseconds;
  CallPlan plan;

  double getGFlops() const { return flops / median * 1e-6; }
  double getGBps() const { return bytes / median * 1e-6; }
  /// The milliseconds that the machine's tighter limit allows.
  double getLimit() const {
    double compute = flops / limits.gflops * 1e-6;
    double copy = bytes / limits.copyGBps * 1e-6;
    return std::max(compute, copy);
  }
  /// That over the best time measured. Above 1 where the limit is that of
  /// memory, and all that is moved stays in a cache.
  double getShare() const { return getLimit() / min; }
};
} // namespace

static Measurement summarize(const Subject &subject, DimList dims,
                             MachineLimits limits) {
  std::vector<double> samples = subject.samples;
  llvm::sort(samples);
  size_t middle = samples.size() / 2;
  double median = samples.size() % 2
                      ? samples[middle]
                      : (samples[middle - 1] + samples[middle]) / 2;
  return Measurement{std::move(dims),
                     subject.requested,
                     subject.form,
                     subject.dtype,
                     median,
                     samples.front(),
                     samples.back(),
                     samples.size(),
                     subject.flops,
                     subject.bytes,
                     limits,
                     subject.workspaceBytes,
                     subject.compileMilliseconds,
                     subject.plan};
}

/// Measures all forms for one choice of dims, taking turns.
static llvm::Error measure(Session &session, const SpecChoice &spec,
                           llvm::ArrayRef<Form> forms, const DimList &dims,
                           std::vector<Measurement> &measurements) {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (Form form : forms) {
    auto subject = Subject::create(session, spec, form, dims);
    if (!subject)
      // Everything about it comes from the command line.
      return blameCommandLine(subject.takeError());
    // A form that `auto` chose is not measured twice.
    auto same = llvm::find_if(
        subjects, [&](auto &other) { return other->form == (*subject)->form; });
    if (same == subjects.end())
      subjects.push_back(std::move(*subject));
    else
      (*same)->requested.push_back(form);
  }
  // Arithmetic is in float64 or float32; each has its own peak.
  auto getPeakType = [](const Subject &subject) {
    return subject.dtype == DType::F64 ? DType::F64 : DType::F32;
  };
  std::map<DType, MachineLimits> limits;
  for (const auto &subject : subjects)
    limits.try_emplace(getPeakType(*subject));
  auto updateAll = [&]() -> llvm::Error {
    for (auto &[type, limit] : limits)
      if (llvm::Error error =
              updateLimits(limit, type, session.getOptions().threads))
        return error;
    return llvm::Error::success();
  };

  if (llvm::Error error = updateAll())
    return error;
  Clock::time_point start = Clock::now(), lastLimits = start;
  while (llvm::any_of(subjects,
                      [](const auto &subject) { return !subject->isDone(); })) {
    for (const auto &subject : subjects)
      if (!subject->isDone())
        if (llvm::Error error = subject->sample())
          return blameCommandLine(std::move(error));
    if (getMilliseconds(Clock::now() - lastLimits) < samplingMilliseconds / 3)
      continue;
    if (llvm::Error error = updateAll())
      return error;
    lastLimits = Clock::now();
  }
  if (llvm::Error error = updateAll())
    return error;
  for (const auto &subject : subjects)
    measurements.push_back(
        summarize(*subject, dims, limits[getPeakType(*subject)]));
  return llvm::Error::success();
}

/// Null where the form has no such number.
static llvm::json::Value toJSONCount(int64_t count) {
  return count ? llvm::json::Value(count) : llvm::json::Value(nullptr);
}

static llvm::json::Value measurementToJSON(const Measurement &m,
                                           const SpecChoice &spec,
                                           unsigned threads) {
  return llvm::json::Object{
      {"spec", toJSONText(spec.name)},
      {"form", driver::getName(m.form)},
      {"dims", dimsToJSON(m.dims)},
      {"dtype", larc::getName(m.dtype)},
      {"threads", int64_t(threads)},
      {"chunk_size", toJSONCount(m.plan.chunkSize)},
      {"segments", toJSONCount(m.plan.segments)},
      {"median_ms", m.median},
      {"min_ms", m.min},
      {"max_ms", m.max},
      {"runs", int64_t(m.runs)},
      {"flops", m.flops},
      {"bytes", m.bytes},
      {"gflops", driver::toJSON(m.getGFlops())},
      {"gbps", driver::toJSON(m.getGBps())},
      {"peak_gflops", driver::toJSON(m.limits.gflops)},
      {"copy_gbps", driver::toJSON(m.limits.copyGBps)},
      {"share", driver::toJSON(m.getShare())},
      {"workspace_bytes", m.workspaceBytes
                              ? llvm::json::Value(*m.workspaceBytes)
                              : llvm::json::Value(nullptr)},
      {"compile_ms", m.compileMilliseconds},
      {"predicted_ms", m.plan.milliseconds
                           ? driver::toJSON(*m.plan.milliseconds)
                           : llvm::json::Value(nullptr)}};
}

static void printTable(llvm::ArrayRef<Measurement> measurements,
                       const SpecChoice &spec, unsigned threads) {
  llvm::raw_ostream &os = llvm::outs();
  os << spec.name << ", " << threads << (threads == 1 ? " thread" : " threads")
     << '\n';
  Table table({"form", "type", "dims", "chunk", "segments", "median ms", "min",
               "max", "predicted", "runs", "GFLOP/s", "GB/s", "share",
               "peak GFLOP/s", "copy GB/s", "compile ms"},
              /*numLeft=*/3);
  auto number = [](double value) { return formatNumber(value, 4); };
  auto count = [](int64_t value) {
    return value ? std::to_string(value) : std::string("-");
  };
  for (const Measurement &m : measurements) {
    std::string share;
    llvm::raw_string_ostream(share)
        << llvm::format("%.1f %%", 100 * m.getShare());
    table.addRow({driver::getName(m.form).str(), larc::getName(m.dtype).str(),
                  formatDims(m.dims), count(m.plan.chunkSize),
                  count(m.plan.segments), number(m.median), number(m.min),
                  number(m.max),
                  m.plan.milliseconds ? number(*m.plan.milliseconds) : "-",
                  std::to_string(m.runs), number(m.getGFlops()),
                  number(m.getGBps()), share, number(m.limits.gflops),
                  number(m.limits.copyGBps), number(m.compileMilliseconds)});
  }
  table.print(os);
}

//===----------------------------------------------------------------------===//
// The plot
//===----------------------------------------------------------------------===//

/// The dims without T, which is returned.
static std::pair<int64_t, DimList> splitTokens(const DimList &dims) {
  int64_t tokens = 0;
  DimList rest;
  for (const auto &dim : dims) {
    if (dim.first == "T")
      tokens = dim.second;
    else
      rest.push_back(dim);
  }
  return {tokens, rest};
}

/// Best times against T: a curve for each form that was asked for and each
/// choice of the other dims, and beside them the limit for the form that has
/// the least to do.
static Plot makePlot(llvm::ArrayRef<Measurement> measurements,
                     const SpecChoice &spec, const Options &options) {
  DimList fixed;
  for (const DimValues &dim : options.dims)
    if (dim.values.size() == 1)
      fixed.emplace_back(dim.name, dim.values.front());
  std::map<std::string, std::map<double, double>> limits;
  std::vector<Curve> curves;
  auto getCurve = [&](std::string label) -> Curve & {
    auto it = llvm::find_if(
        curves, [&](const Curve &curve) { return curve.label == label; });
    if (it != curves.end())
      return *it;
    curves.push_back(Curve{std::move(label), {}});
    return curves.back();
  };
  for (const Measurement &m : measurements) {
    auto [tokens, rest] = splitTokens(m.dims);
    // What all curves have in common is said in the title.
    llvm::erase_if(
        rest, [&](const auto &dim) { return llvm::is_contained(fixed, dim); });
    std::string suffix = rest.empty() ? "" : ", " + formatDims(rest);
    for (Form form : m.requested)
      getCurve(driver::getName(form).str() + suffix)
          .points.emplace_back(double(tokens), m.min);
    double &limit = limits["limit" + suffix]
                        .try_emplace(double(tokens), HUGE_VAL)
                        .first->second;
    limit = std::min(limit, m.getLimit());
  }
  for (auto &[label, points] : limits)
    curves.push_back(Curve{label,
                           {points.begin(), points.end()},
                           /*isLimit=*/true});
  // The reference is float64 whatever is compiled.
  const Measurement *compiled =
      llvm::find_if(measurements, [](const Measurement &m) {
        return m.form != Form::Reference;
      });
  DType dtype = compiled == measurements.end() ? measurements.front().dtype
                                               : compiled->dtype;
  std::string title = spec.name + ", " + larc::getName(dtype).str() + ", " +
                      formatDims(fixed) + ", " +
                      std::to_string(options.threads) +
                      (options.threads == 1 ? " thread" : " threads");
  return Plot{std::move(title), "T", "best time of a call, ms",
              std::move(curves)};
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Measures all forms for all choices of dims.
static llvm::Error measureAll(Session &session, const SpecChoice &spec,
                              llvm::ArrayRef<Form> forms,
                              llvm::ArrayRef<DimList> points,
                              std::vector<Measurement> &measurements) {
  Progress progress("measuring " + spec.name);
  for (auto [i, dims] : llvm::enumerate(points)) {
    progress.update(double(i) / double(points.size()));
    if (llvm::Error error = measure(session, spec, forms, dims, measurements))
      return error;
  }
  return llvm::Error::success();
}

/// Calls `measure`, and writes the plot of its measurements. The file is opened
/// first: one that cannot be written costs no measurement.
static llvm::Error measureAndPlot(const Options &options,
                                  const SpecChoice &spec,
                                  const std::vector<Measurement> &measurements,
                                  llvm::function_ref<llvm::Error()> measure) {
  // What goes wrong before anything is written is no fault of the file.
  llvm::Error measuring = llvm::Error::success();
  llvm::Error writing = writeFileAtomically(
      options.plot, [&](llvm::raw_ostream &os) -> llvm::Error {
        llvm::ErrorAsOutParameter guard(measuring);
        measuring = measure();
        if (measuring)
          return Session::makePrintedFault();
        printSVG(makePlot(measurements, spec, options), os);
        return llvm::Error::success();
      });
  if (measuring) {
    llvm::consumeError(std::move(writing));
    return measuring;
  }
  return writing;
}

llvm::Expected<int> driver::runBench(Session &session) {
  const Options &options = session.getOptions();
  llvm::Expected<SpecChoice> spec =
      session.chooseSpec(/*file=*/nullptr, /*path=*/"");
  if (!spec)
    return spec.takeError();
  std::vector<Form> forms;
  for (Form requested : options.forms) {
    llvm::Expected<Form> form =
        session.resolveForm(requested, /*gradients=*/false);
    if (!form)
      return form.takeError();
    if (!llvm::is_contained(forms, *form))
      forms.push_back(*form);
  }
  std::vector<DimList> points = expandDims(options.dims);
  for (const DimList &dims : points)
    if (llvm::Error error = session.checkDims(*spec, dims, {"B", "T", "H"}))
      return std::move(error);

  std::vector<Measurement> measurements;
  auto measure = [&] {
    return measureAll(session, *spec, forms, points, measurements);
  };
  if (llvm::Error error =
          options.plot.empty()
              ? measure()
              : measureAndPlot(options, *spec, measurements, measure))
    return std::move(error);

  if (!options.json) {
    printTable(measurements, *spec, options.threads);
    return 0;
  }
  llvm::json::Array array;
  for (const Measurement &measurement : measurements)
    array.push_back(measurementToJSON(measurement, *spec, options.threads));
  printJSONList(std::move(array));
  return 0;
}
