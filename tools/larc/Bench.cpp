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

#include "Bench.h"
#include "Peers.h"

#include "larc/Reference/Reference.h"
#include "larc/Support/Error.h"
#include "larc/Support/FileOutput.h"

#include "llvm/ADT/STLExtras.h"

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
  static llvm::Expected<std::unique_ptr<Subject>> create(Session &session,
                                                         const SpecChoice &spec,
                                                         Form form,
                                                         const DimList &dims);

  /// Calls once; nothing but the call is in the time.
  llvm::Error call();
  /// Takes one sample. The first call only warms up and says how many calls
  /// make a sample.
  llvm::Error sample();
  bool isDone() const;

  /// What is known before a sample is taken.
  Measurement told;
  std::vector<double> samples;

private:
  llvm::Error prepareCompiled(const SpecChoice &spec);
  llvm::Error prepareLibrary(const SpecChoice &spec);

  Session *session = nullptr;
  Problem problem;
  /// What is called; the reference if neither.
  CompiledRecurrence *code = nullptr;
  Library *library = nullptr;
  TensorMap results;
  size_t callsPerSample = 0;
  double totalMilliseconds = 0;
};

} // namespace

double driver::countStateBytes(const Problem &problem, const TensorMap &results,
                               DType stored) {
  double elements = 0;
  for (const Tensor *state : problem.states)
    elements += state ? double(state->getNumElements()) : 0;
  for (const Tensor *anchor : problem.anchors)
    elements += anchor ? double(anchor->getNumElements()) : 0;
  for (const auto &[name, tensor] : results)
    if (llvm::StringRef(name).starts_with("final."))
      elements += double(tensor.getNumElements());
  DType type = stored == DType::F32 ? problem.stateDType : stored;
  return elements * double(getByteWidth(type));
}

/// A single token is decoding, which goes on from a state.
static bool isDecoding(const DimList &dims) {
  return llvm::is_contained(dims, std::pair<std::string, int64_t>("T", 1));
}

llvm::Expected<Problem> driver::makeBenchProblem(Session &session,
                                                 const SpecChoice &spec,
                                                 Form form,
                                                 const DimList &dims) {
  RandomInputs request;
  request.dims.assign(dims.begin(), dims.end());
  request.initialStates = isDecoding(dims);
  llvm::Expected<TensorMap> inputs =
      makeRandomInputs(spec.recurrence, spec.attributes, request);
  if (!inputs)
    return inputs.takeError();
  return session.bind(spec, std::move(*inputs), form, /*gradients=*/false,
                      /*defaultDType=*/DType::F32);
}

llvm::Expected<CallPlan> driver::describeCall(Library &library,
                                              Problem &problem, Form &form) {
  llvm::Expected<larc_plan_info> info =
      library.code->describe(problem, library.getRun(form));
  if (!info)
    return info.takeError();
  form = fromLibraryForm(info->form);
  CallPlan plan;
  if (form != Form::Chunk)
    return plan;
  plan.chunkSize = info->chunk_size;
  plan.segments = info->segments;
  // The work of chunks of that size, as the model of CPUs counts it.
  CPUOptions types = CPUOptions::of(problem);
  types.form = CPUForm::Chunk;
  types.chunkSize = plan.chunkSize;
  types.segments = 1;
  mlir::FailureOr<CostModel> costs =
      CostModel::create(problem.recurrence, types);
  if (mlir::failed(costs))
    return Session::makePrintedFault();
  plan.flops = costs
                   ->choose(CallShape::of(problem, library.run.threads), types,
                            /*anyForm=*/false)
                   .flops;
  return plan;
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

/// Gets the compiled code of the form. The reference does the work of the token
/// loop, as the compiler counts it: it compiles, too, and `--print-ir-after`
/// and
/// `--timing` show so.
llvm::Error Subject::prepareCompiled(const SpecChoice &spec) {
  Form form = told.form;
  llvm::Expected<Compiled *> found = session->getCompiled(
      spec, problem, form == Form::Reference ? Form::Recurrent : form);
  if (!found)
    return found.takeError();
  CompiledRecurrence &compiled = *(*found)->recurrence;
  unsigned threads = session->getOptions().threads;
  CallPlan plan = compiled.getPlan(problem, threads);
  if (plan.flops)
    told.flops = *plan.flops;
  if (form == Form::Reference)
    return llvm::Error::success();
  code = &compiled;
  told.compileMilliseconds = (*found)->milliseconds;
  told.workspaceBytes = compiled.getWorkspaceBytes() * int64_t(threads);
  told.plan = plan;
  // A token loop is not cut.
  if (form == Form::Recurrent)
    told.plan.chunkSize = told.plan.segments = 0;
  return llvm::Error::success();
}

/// The same of a library's code.
llvm::Error Subject::prepareLibrary(const SpecChoice &spec) {
  llvm::Expected<Library *> found =
      session->getLibrary(spec, problem, told.form);
  if (!found)
    return found.takeError();
  library = *found;
  llvm::Expected<CallPlan> plan = describeCall(*library, problem, told.form);
  if (!plan)
    return plan.takeError();
  told.plan = *plan;
  if (plan->flops)
    told.flops = *plan->flops;
  llvm::Expected<larc_plan_info> info =
      library->code->describe(problem, library->getRun(told.form));
  if (!info)
    return info.takeError();
  told.workspaceBytes = static_cast<int64_t>(info->workspace_bytes);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Subject>> Subject::create(Session &session,
                                                         const SpecChoice &spec,
                                                         Form form,
                                                         const DimList &dims) {
  auto subject = std::make_unique<Subject>();
  subject->session = &session;
  Measurement &told = subject->told;
  told.requested = {form};
  told.dims = dims;
  llvm::Expected<Problem> problem = makeBenchProblem(session, spec, form, dims);
  if (!problem)
    return problem.takeError();
  subject->problem = std::move(*problem);
  llvm::Expected<Form> chosen =
      session.chooseForm(spec, form, subject->problem);
  if (!chosen)
    return chosen.takeError();
  told.form = *chosen;
  told.dtype = getResultDType(told.form, subject->problem);

  llvm::Expected<TensorMap> results =
      createResults(subject->problem, /*float64=*/told.form == Form::Reference);
  if (!results)
    return results.takeError();
  subject->results = std::move(*results);
  TokenCost cost = countTokenCost(subject->problem.recurrence,
                                  CPUOptions::of(subject->problem));
  double steps = double(subject->problem.batch) *
                 double(subject->problem.tokens) *
                 double(subject->problem.heads);
  told.flops = cost.flops * steps;
  told.bytes =
      cost.bytes * steps + countStateBytes(subject->problem, subject->results,
                                           session.getStoredStateDType());
  if (llvm::Error error = session.runsLibrary()
                              ? subject->prepareLibrary(spec)
                              : subject->prepareCompiled(spec))
    return std::move(error);
  if (told.form != Form::Reference && isDecoding(dims))
    chainStates(subject->problem, subject->results);
  return subject;
}

llvm::Error Subject::call() {
  unsigned threads = session->getOptions().threads;
  if (code)
    return code->run(problem, results, threads);
  if (library)
    return library->code->run(problem, results, library->getRun(told.form));
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
    auto same = llvm::find_if(subjects, [&](auto &other) {
      return other->told.form == (*subject)->told.form;
    });
    if (same == subjects.end())
      subjects.push_back(std::move(*subject));
    else
      (*same)->told.requested.push_back(form);
  }
  // Arithmetic is in float64 or float32; each has its own peak.
  auto getPeakType = [](const Subject &subject) {
    return subject.told.dtype == DType::F64 ? DType::F64 : DType::F32;
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
  for (const auto &subject : subjects) {
    Measurement &measurement = measurements.emplace_back(subject->told);
    measurement.limits = limits[getPeakType(*subject)];
    measurement.setSamples(subject->samples);
  }
  return llvm::Error::success();
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
    auto measureOn = session.runsOnGPU() ? measureOnGPU : measure;
    if (llvm::Error error = measureOn(session, spec, forms, dims, measurements))
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
    if (!form && options.allForms && options.isLibrary) {
      // All that it has.
      llvm::consumeError(form.takeError());
      continue;
    }
    if (!form)
      return form.takeError();
    if (!llvm::is_contained(forms, *form))
      forms.push_back(*form);
  }
  std::vector<DimList> points = expandDims(options.dims);
  for (DimList &dims : points)
    if (llvm::Error error = session.completeDims(dims))
      return std::move(error);
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
    printTable(measurements, *spec, options);
    if (options.peers)
      printPeers(measurements);
    return 0;
  }
  llvm::json::Array array;
  for (const Measurement &measurement : measurements)
    array.push_back(measurementToJSON(measurement, *spec, options));
  printJSONList(std::move(array));
  return 0;
}
