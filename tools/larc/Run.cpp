//===- Run.cpp - larc run -------------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "larc/Support/Error.h"
#include "larc/Support/FileOutput.h"
#include "larc/Support/Safetensors.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;

namespace {
/// What is told of a tensor's values; over the finite ones.
struct Summary {
  double min = INFINITY, max = -INFINITY, mean = 0, rms = 0;
  int64_t numFinite = 0, numNonFinite = 0;
};
} // namespace

static llvm::Expected<Summary> summarize(const Tensor &tensor) {
  llvm::Expected<Tensor> values = tensor.toFloat64();
  if (!values)
    return values.takeError();
  Summary summary;
  double sum = 0, squares = 0;
  for (double value : values->getValues<double>()) {
    if (!std::isfinite(value)) {
      ++summary.numNonFinite;
      continue;
    }
    ++summary.numFinite;
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
    sum += value;
    squares += value * value;
  }
  if (summary.numFinite) {
    summary.mean = sum / double(summary.numFinite);
    summary.rms = std::sqrt(squares / double(summary.numFinite));
  }
  return summary;
}

static llvm::Error printTable(const TensorMap &results, llvm::StringRef title) {
  Table table(
      {"tensor", "type", "shape", "min", "max", "mean", "rms", "non-finite"},
      /*numLeft=*/3);
  for (const auto &[name, tensor] : results) {
    llvm::Expected<Summary> summary = summarize(tensor);
    if (!summary)
      return summary.takeError();
    auto format = [&](double value) {
      return summary->numFinite ? formatNumber(value, 4) : std::string("-");
    };
    table.addRow({name, larc::getName(tensor.getDType()).str(),
                  formatShape(tensor.getShape()), format(summary->min),
                  format(summary->max), format(summary->mean),
                  format(summary->rms), std::to_string(summary->numNonFinite)});
  }
  llvm::outs() << title << '\n';
  table.print(llvm::outs());
  return llvm::Error::success();
}

static llvm::Expected<llvm::json::Value>
summaryToJSON(const TensorMap &results) {
  llvm::json::Array tensors;
  for (const auto &[name, tensor] : results) {
    llvm::Expected<Summary> summary = summarize(tensor);
    if (!summary)
      return summary.takeError();
    auto number = [&](double value) {
      return summary->numFinite ? toJSON(value) : llvm::json::Value(nullptr);
    };
    tensors.push_back(
        llvm::json::Object{{"name", name},
                           {"dtype", larc::getName(tensor.getDType())},
                           {"shape", toJSON(tensor.getShape())},
                           {"min", number(summary->min)},
                           {"max", number(summary->max)},
                           {"mean", number(summary->mean)},
                           {"rms", number(summary->rms)},
                           {"non_finite", summary->numNonFinite}});
  }
  return tensors;
}

/// Computes the results, and writes them to `--outputs` where that is given.
/// The file is opened first: one that cannot be written costs no computation.
static llvm::Expected<TensorMap> computeAndWrite(Session &session,
                                                 const SpecChoice &spec,
                                                 Problem &problem, Form form) {
  const Options &options = session.getOptions();
  auto compute = [&] {
    return session.compute(spec, problem, form, options.gradients,
                           "running " + spec.name);
  };
  if (options.outputs.empty())
    return compute();
  TensorFile output;
  output.metadata.insert(spec.attributes.begin(), spec.attributes.end());
  output.metadata["spec"] = spec.name;
  // What goes wrong before anything is written is no fault of the output file.
  llvm::Error computing = llvm::Error::success();
  llvm::Error writing = writeFileAtomically(
      options.outputs, [&](llvm::raw_ostream &os) -> llvm::Error {
        llvm::ErrorAsOutParameter guard(computing);
        llvm::Expected<TensorMap> results = compute();
        if (!results) {
          computing = results.takeError();
          return Session::makePrintedFault();
        }
        output.tensors = std::move(*results);
        PhaseTimer::Scope scope(session.getTimer(), "write");
        return writeSafetensors(os, output);
      });
  if (computing) {
    llvm::consumeError(std::move(writing));
    return std::move(computing);
  }
  if (writing)
    return std::move(writing);
  return std::move(output.tensors);
}

llvm::Expected<int> driver::runRun(Session &session) {
  const Options &options = session.getOptions();
  llvm::Expected<TensorFile> file = [&] {
    PhaseTimer::Scope scope(session.getTimer(), "read");
    return readSafetensors(options.inputs);
  }();
  if (!file)
    return file.takeError();
  llvm::Expected<SpecChoice> spec = session.chooseSpec(&*file, options.inputs);
  if (!spec)
    return spec.takeError();
  llvm::Expected<Form> form =
      session.resolveForm(options.forms.front(), options.gradients);
  if (!form)
    return form.takeError();
  llvm::Expected<Problem> problem =
      session.bind(*spec, std::move(file->tensors), *form, options.gradients);
  if (!problem)
    return blameFile(problem.takeError(), options.inputs);
  form = session.chooseForm(*spec, *form, *problem);
  if (!form)
    return form.takeError();
  llvm::Expected<TensorMap> results =
      computeAndWrite(session, *spec, *problem, *form);
  if (!results)
    return results.takeError();

  DType dtype = getResultDType(*form, *problem);
  // Only what was written is told of.
  if (options.json) {
    llvm::Expected<llvm::json::Value> tensors = summaryToJSON(*results);
    if (!tensors)
      return tensors.takeError();
    printJSON(llvm::json::Object{{"spec", toJSONText(spec->name)},
                                 {"form", driver::getName(*form)},
                                 {"dtype", larc::getName(dtype)},
                                 {"file", toJSONText(options.inputs)},
                                 {"outputs", options.outputs.empty()
                                                 ? llvm::json::Value(nullptr)
                                                 : toJSONText(options.outputs)},
                                 {"tensors", std::move(*tensors)}});
  } else if (options.outputs.empty()) {
    std::string title = spec->name + ", form " + driver::getName(*form).str() +
                        ", " + larc::getName(dtype).str();
    if (llvm::Error error = printTable(*results, title))
      return std::move(error);
  }
  return 0;
}
