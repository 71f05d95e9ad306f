//===- Bench.h - What larc bench measures -----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_BENCH_H
#define LARC_TOOLS_LARC_BENCH_H

#include "Dims.h"
#include "Plot.h"
#include "Session.h"

namespace larc::driver {

/// What is told of a form and dims.
struct Measurement {
  DimList dims;
  /// The forms that were asked for and are this one: `auto` may be another.
  llvm::SmallVector<Form> requested;
  Form form = Form::Reference;
  DType dtype = DType::F64;
  double median = 0, min = 0, max = 0; ///< milliseconds
  size_t runs = 0;
  double flops = 0, bytes = 0;
  /// Of a GPU only the bandwidth.
  MachineLimits limits;
  std::optional<int64_t> workspaceBytes;
  double compileMilliseconds = 0;
  CallPlan plan;

  // On a GPU.
  std::string device; ///< its name; empty: a CPU
  /// The time that a call takes of the host's, without a graph.
  double hostMicroseconds = 0;
  /// Until the code was on the GPU and the plan was made.
  double firstMilliseconds = 0;
  /// Peers' times beside this one, as the script has them.
  llvm::json::Array peers;

  /// Takes median, minimum and maximum of `samples`, which has one at least.
  void setSamples(std::vector<double> samples);

  double getGFlops() const { return flops / median * 1e-6; }
  double getGBps() const { return bytes / median * 1e-6; }
  /// The milliseconds that the machine's tighter limit allows.
  double getLimit() const {
    double copy = bytes / limits.copyGBps * 1e-6;
    if (limits.gflops == 0)
      return copy;
    return std::max(flops / limits.gflops * 1e-6, copy);
  }
  /// That over the best time measured. Above 1 where the limit is that of
  /// memory, and all that is moved stays in a cache.
  double getShare() const { return getLimit() / min; }
};

/// Bytes of states and anchors that a call reads, where they are given, and
/// writes, as they are kept in the type `stored`.
double countStateBytes(const Problem &problem, const TensorMap &results,
                       DType stored);

/// Random tensors for `bench`, bound. A single token goes on from a state.
llvm::Expected<Problem> makeBenchProblem(Session &session,
                                         const SpecChoice &spec, Form form,
                                         const DimList &dims);

/// What a library's call does: its form and pieces, and for a CPU what the cost
/// model makes of it.
llvm::Expected<CallPlan> describeCall(Library &library, Problem &problem,
                                      Form &form);

/// Measures on a GPU what `forms` are for one choice of dims.
llvm::Error measureOnGPU(Session &session, const SpecChoice &spec,
                         llvm::ArrayRef<Form> forms, const DimList &dims,
                         std::vector<Measurement> &measurements);

// How it is told.
void printTable(llvm::ArrayRef<Measurement> measurements,
                const SpecChoice &spec, const Options &options);
llvm::json::Value measurementToJSON(const Measurement &measurement,
                                    const SpecChoice &spec,
                                    const Options &options);

/// Best times against T: a curve for each form that was asked for and each
/// choice of the other dims, and beside them the limit for the form that has
/// the least to do.
Plot makePlot(llvm::ArrayRef<Measurement> measurements, const SpecChoice &spec,
              const Options &options);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_BENCH_H
