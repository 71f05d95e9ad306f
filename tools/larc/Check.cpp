//===- Check.cpp - larc check ---------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Dims.h"
#include "Session.h"

#include "larc/Execution/Compare.h"
#include "larc/Reference/Reference.h"
#include "larc/Support/Error.h"
#include "larc/Support/Safetensors.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>

using namespace larc;
using namespace larc::driver;

namespace {

/// One tensor's comparison.
struct Row {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  double maxAbs = 0, rel = 0, limit = 0;
  bool pass = false;
  /// Elements that should be infinite or NaN, which the errors leave out.
  int64_t numNonFinite = 0;
};

/// One file's comparison, or that of random inputs.
struct CheckReport {
  std::string spec, file, dims, caseText;
  /// None where they were not found out.
  std::optional<Form> form;
  std::optional<DType> dtype;
  /// The relative error allowed by default.
  double limit = 0;
  /// Where expected values come from, if not from the file.
  std::string expectedFrom;
  std::vector<Row> rows;
  /// What went wrong before anything could be compared, as it was printed.
  std::string error;
  /// What two computations gave other bits of; empty where there is nothing.
  std::string differing;

  bool pass() const {
    return error.empty() && differing.empty() &&
           llvm::all_of(rows, [](const Row &row) { return row.pass; });
  }
};

} // namespace

static bool isExpectedName(llvm::StringRef name) {
  return name.starts_with("out.") || name.starts_with("final.") ||
         isGradientName(name);
}

static llvm::Expected<int64_t> countNonFinite(const Tensor &tensor) {
  llvm::Expected<Tensor> values = tensor.toFloat64();
  if (!values)
    return values.takeError();
  return llvm::count_if(values->getValues<double>(),
                        [](double value) { return !std::isfinite(value); });
}

/// Compares `results` with every tensor of `expected`.
static llvm::Error compareAll(const Options &options, const TensorMap &results,
                              const TensorMap &expected, CheckReport &report) {
  double base = options.tolerance.value_or(report.limit);
  llvm::SmallVector<llvm::StringRef> known;
  for (const auto &entry : results)
    known.push_back(entry.first);
  for (const auto &[name, tensor] : expected) {
    auto it = results.find(name);
    if (it == results.end())
      return makeFault("nothing computed is called " + quoteName(name) +
                           didYouMean(name, known),
                       {"computed are " + llvm::join(known, ", ")});
    double limit = isGradientName(name) ? 3 * base : base;
    llvm::Expected<Comparison> comparison =
        compareTensors(name, it->second, tensor, limit);
    if (!comparison)
      return comparison.takeError();
    llvm::Expected<int64_t> numNonFinite = countNonFinite(tensor);
    if (!numNonFinite)
      return numNonFinite.takeError();
    report.rows.push_back(Row{name, llvm::to_vector(tensor.getShape()),
                              comparison->maxAbs, comparison->rel, limit,
                              comparison->pass, *numNonFinite});
  }
  return llvm::Error::success();
}

/// The first tensor of which two computations gave other bits; empty if there
/// is none.
static std::string findDiffering(const TensorMap &once,
                                 const TensorMap &again) {
  for (const auto &[name, tensor] : once)
    if (tensor.getByteSize() > 0 &&
        std::memcmp(tensor.getRawData(), again.at(name).getRawData(),
                    size_t(tensor.getByteSize())) != 0)
      return name;
  return "";
}

/// Computes what is compared.
static llvm::Expected<TensorMap>
computeResults(Session &session, const SpecChoice &spec, Problem &problem,
               Form form, bool gradients, llvm::StringRef title,
               CheckReport &report) {
  llvm::Expected<TensorMap> results =
      session.compute(spec, problem, form, gradients, title);
  if (!results)
    return results.takeError();
  if (!session.getOptions().twice)
    return std::move(*results);
  llvm::Expected<TensorMap> again =
      session.compute(spec, problem, form, gradients, title);
  if (!again)
    return again.takeError();
  report.differing = findDiffering(*results, *again);
  return std::move(*results);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Whether converting `original` to `bound` changed any value. NaNs that stay
/// NaNs are no change.
static llvm::Expected<bool> isRounded(const Tensor &original,
                                      const Tensor &bound) {
  if (original.getDType() == bound.getDType() || !isFloat(bound.getDType()))
    return false;
  llvm::Expected<Tensor> before = original.toFloat64();
  if (!before)
    return before.takeError();
  llvm::Expected<Tensor> after = bound.toFloat64();
  if (!after)
    return after.takeError();
  auto changed = [](auto pair) {
    auto [a, b] = pair;
    return a != b && !(std::isnan(a) && std::isnan(b));
  };
  return llvm::any_of(
      llvm::zip(before->getValues<double>(), after->getValues<double>()),
      changed);
}

static llvm::Expected<bool> isAnyRounded(const TensorMap &originals,
                                         const Problem &problem) {
  for (const auto &[name, original] : originals) {
    auto it = problem.storage.find(name);
    if (it == problem.storage.end())
      continue;
    llvm::Expected<bool> rounded = isRounded(original, it->second);
    if (!rounded || *rounded)
      return rounded;
  }
  return false;
}

/// What `check` has to know of a file beside its inputs.
namespace {
struct Expectations {
  TensorMap expected;
  /// Copies of the inputs, if a conversion may round them.
  TensorMap originals;
  bool gradients = false;
};
} // namespace

/// Takes the expected tensors out of `file`.
static llvm::Expected<Expectations> takeExpectations(const Options &options,
                                                     TensorFile &file) {
  Expectations result;
  for (auto it = file.tensors.begin(); it != file.tensors.end();) {
    if (!isExpectedName(it->first)) {
      ++it;
      continue;
    }
    auto node = file.tensors.extract(it++);
    if (isGradientName(node.key())) {
      if (options.noGradients)
        continue;
      result.gradients = true;
    }
    result.expected.insert(std::move(node));
  }
  if (result.expected.empty())
    return makeFault("nothing to compare: the file has no " +
                         llvm::Twine(options.noGradients
                                         ? "'out.' or 'final.'"
                                         : "'out.', 'final.' or 'grad.'") +
                         " tensors",
                     {"'larc check SPEC --dims=...' compares random inputs "
                      "with the reference"});
  if (!options.dtype && !options.gateDType && !options.stateDType &&
      !options.isLibrary)
    return result;
  for (const auto &[name, tensor] : file.tensors) {
    llvm::Expected<Tensor> copy = tensor.clone();
    if (!copy)
      return copy.takeError();
    result.originals.emplace(name, std::move(*copy));
  }
  return result;
}

/// Replaces what a file expects of `problem` by what the reference computes of
/// it.
static llvm::Error recomputeExpected(Session &session, const SpecChoice &spec,
                                     Problem &problem, bool gradients,
                                     TensorMap &expected) {
  llvm::Expected<TensorMap> exact =
      session.compute(spec, problem, Form::Reference, gradients,
                      "computing the reference of " + spec.name);
  if (!exact)
    return exact.takeError();
  for (auto &[name, tensor] : expected) {
    auto it = exact->find(name);
    // What is not there at all is found by the comparison.
    if (it != exact->end() && it->second.getShape() == tensor.getShape())
      tensor = std::move(it->second);
  }
  return llvm::Error::success();
}

static llvm::Error checkFile(Session &session, llvm::StringRef path, Form asked,
                             CheckReport &report) {
  const Options &options = session.getOptions();
  llvm::Expected<TensorFile> file = [&] {
    PhaseTimer::Scope scope(session.getTimer(), "read");
    return readSafetensors(path);
  }();
  if (!file)
    return file.takeError();
  llvm::Expected<SpecChoice> spec = session.chooseSpec(&*file, path);
  if (!spec)
    return spec.takeError();
  report.spec = spec->name;
  llvm::Expected<Expectations> expectations = takeExpectations(options, *file);
  if (!expectations)
    return expectations.takeError();
  bool gradients = expectations->gradients;
  llvm::Expected<Form> form = session.resolveForm(asked, gradients);
  if (!form)
    return form.takeError();
  if (*form != Form::Auto)
    report.form = *form;

  llvm::Expected<Problem> problem =
      session.bind(*spec, std::move(file->tensors), *form, gradients);
  if (!problem)
    return problem.takeError();
  form = session.chooseForm(*spec, *form, *problem);
  if (!form)
    return form.takeError();
  report.form = *form;
  report.dtype = getResultDType(*form, *problem);
  report.limit =
      getDefaultLimit(*form, *problem, session.getStoredStateDType());
  llvm::Expected<bool> rounded =
      isAnyRounded(expectations->originals, *problem);
  if (!rounded)
    return rounded.takeError();
  expectations->originals.clear();
  if (*rounded) {
    report.expectedFrom = "the reference on the rounded inputs";
    if (llvm::Error error = recomputeExpected(
            session, *spec, *problem, gradients, expectations->expected))
      return error;
  }
  llvm::Expected<TensorMap> results =
      computeResults(session, *spec, *problem, *form, gradients,
                     ("checking " + path).str(), report);
  if (!results)
    return results.takeError();
  PhaseTimer::Scope scope(session.getTimer(), "compare");
  return compareAll(options, *results, expectations->expected, report);
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

static llvm::Error compareRandom(Session &session, const SpecChoice &spec,
                                 const RandomCase &given, Form asked,
                                 CheckReport &report) {
  const Options &options = session.getOptions();
  report.spec = spec.name;
  report.caseText = given.text;
  RandomInputs request;
  request.dims = getSingleDims(given.dims);
  request.headCounts.assign(given.headCounts.begin(), given.headCounts.end());
  request.seed = given.seed;
  // Packed sequences say what B and T are.
  llvm::SmallVector<llvm::StringRef> required = {"B", "T", "H"};
  if (given.sequenceLengths) {
    required = {"H"};
    request.lengths.assign(given.sequenceLengths->begin(),
                           given.sequenceLengths->end());
  }
  if (llvm::Error error = session.completeDims(request.dims))
    return error;
  if (llvm::Error error = session.checkDims(spec, request.dims, required))
    return error;
  llvm::Expected<Form> form = session.resolveForm(asked, /*gradients=*/false);
  if (!form)
    return form.takeError();
  report.dims = formatDims(request.dims);
  report.expectedFrom = "the reference";

  llvm::Expected<TensorMap> inputs =
      makeRandomInputs(spec.recurrence, spec.attributes, request);
  if (!inputs)
    return inputs.takeError();
  llvm::Expected<Problem> problem =
      session.bind(spec, std::move(*inputs), *form, /*gradients=*/false,
                   /*defaultDType=*/DType::F32);
  if (!problem)
    return problem.takeError();
  form = session.chooseForm(spec, *form, *problem);
  if (!form)
    return form.takeError();
  report.form = *form;
  report.dtype = getResultDType(*form, *problem);
  report.limit =
      getDefaultLimit(*form, *problem, session.getStoredStateDType());
  llvm::Expected<TensorMap> expected =
      session.compute(spec, *problem, Form::Reference, /*gradients=*/false,
                      "computing the reference of " + spec.name);
  if (!expected)
    return expected.takeError();
  if (*form == Form::Reference)
    session.noteOnce("--form=reference compares the reference with itself");
  llvm::Expected<TensorMap> results =
      computeResults(session, spec, *problem, *form, /*gradients=*/false,
                     "checking " + spec.name, report);
  if (!results)
    return results.takeError();
  return compareAll(options, *results, *expected, report);
}

static llvm::Error checkRandom(Session &session, const RandomCase &given,
                               Form asked, CheckReport &report) {
  llvm::Expected<SpecChoice> spec =
      session.chooseSpec(/*file=*/nullptr, /*path=*/"");
  if (!spec)
    return spec.takeError();
  llvm::Error error = compareRandom(session, *spec, given, asked, report);
  // Everything but the spec comes from the command line, or the case.
  return given.text.empty() ? blameCommandLine(std::move(error))
                            : addFile(std::move(error), given.place);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static void printReport(const CheckReport &report) {
  llvm::raw_ostream &os = llvm::outs();
  os << report.spec << ", form " << driver::getName(*report.form) << ", "
     << larc::getName(*report.dtype) << ": ";
  os << (report.file.empty() ? report.dims : report.file);
  if (!report.expectedFrom.empty())
    os << ", against " << report.expectedFrom;
  os << '\n';
  Table table({"tensor", "shape", "max abs", "rel", "limit", "verdict"},
              /*numLeft=*/2);
  for (const Row &row : report.rows)
    table.addRow({row.name, formatShape(row.shape), formatNumber(row.maxAbs),
                  formatNumber(row.rel), formatNumber(row.limit),
                  row.pass ? "pass" : "FAIL"});
  table.print(os);
  for (const Row &row : report.rows)
    if (row.numNonFinite)
      os << "  note: the errors of " << row.name << " leave out "
         << row.numNonFinite
         << (row.numNonFinite == 1 ? " element" : " elements")
         << " expected to be infinite or NaN\n";
  if (!report.differing.empty())
    os << "  two computations of " << quoteName(report.differing)
       << " differ: FAIL\n";
  os.flush();
}

static llvm::json::Value reportToJSON(const CheckReport &report) {
  llvm::json::Array tensors;
  for (const Row &row : report.rows)
    tensors.push_back(
        llvm::json::Object{{"name", row.name},
                           {"shape", driver::toJSON(row.shape)},
                           {"max_abs", driver::toJSON(row.maxAbs)},
                           {"rel", driver::toJSON(row.rel)},
                           {"limit", driver::toJSON(row.limit)},
                           {"pass", row.pass}});
  auto textOrNull = [](llvm::StringRef text) {
    return text.empty() ? llvm::json::Value(nullptr) : toJSONText(text);
  };
  llvm::json::Object object{
      {"spec", textOrNull(report.spec)},
      {"form", textOrNull(report.form ? driver::getName(*report.form) : "")},
      {"dtype", textOrNull(report.dtype ? larc::getName(*report.dtype) : "")},
      {"file", textOrNull(report.file)},
      {"pass", report.pass()},
      {"tensors", std::move(tensors)}};
  if (!report.caseText.empty())
    object["case"] = toJSONText(report.caseText);
  if (!report.differing.empty())
    object["differing"] = toJSONText(report.differing);
  if (!report.error.empty())
    object["error"] = toJSONText(report.error);
  return object;
}

/// Checks one thing, and keeps and prints what is found. Fails where it makes
/// no sense to go on.
static llvm::Error check(Session &session, bool isOneOfMany,
                         std::vector<CheckReport> &reports,
                         llvm::function_ref<llvm::Error(CheckReport &)> work) {
  CheckReport &report = reports.emplace_back();
  llvm::Error error = work(report);
  // What is wrong with the command line is wrong for all of them.
  if (error && (isUsageFault(error) || !isOneOfMany))
    return error;
  if (error) {
    report.rows.clear();
    session.report(std::move(error), &report.error);
  } else if (!session.getOptions().json) {
    printReport(report);
  }
  return llvm::Error::success();
}

llvm::Expected<int> driver::runCheck(Session &session) {
  const Options &options = session.getOptions();
  std::vector<CheckReport> reports;
  size_t count = options.forms.size() *
                 std::max(options.cases.size(), options.data.size());
  Progress progress("checking");
  auto checkOne = [&](bool isOneOfMany,
                      llvm::function_ref<llvm::Error(CheckReport &)> work) {
    progress.update(double(reports.size()) / double(count));
    return check(session, isOneOfMany, reports, [&](CheckReport &report) {
      llvm::Error error = work(report);
      progress.clear();
      return error;
    });
  };
  for (Form form : options.forms) {
    for (const RandomCase &given : options.cases)
      if (llvm::Error error = checkOne(count > 1, [&](CheckReport &report) {
            return checkRandom(session, given, form, report);
          }))
        return std::move(error);
    for (const std::string &path : options.data)
      if (llvm::Error error = checkOne(true, [&](CheckReport &report) {
            report.file = path;
            llvm::Error error = checkFile(session, path, form, report);
            return error && !isUsageFault(error)
                       ? addFile(std::move(error), path)
                       : std::move(error);
          }))
        return std::move(error);
  }

  size_t numFailed = llvm::count_if(
      reports, [](const CheckReport &report) { return !report.pass(); });
  if (options.json) {
    llvm::json::Array array;
    for (const CheckReport &report : reports)
      array.push_back(reportToJSON(report));
    printJSONList(std::move(array));
  } else if (reports.size() > 1) {
    llvm::outs() << reports.size() - numFailed << " of " << reports.size()
                 << (options.data.empty() ? " cases pass\n" : " files pass\n");
  }
  return numFailed == 0 ? 0 : 1;
}
