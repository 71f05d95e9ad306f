//===- LibraryCall.h - Calls of loaded libraries ----------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_TARGET_LIBRARY_LIBRARYCALL_H
#define LARC_LIB_TARGET_LIBRARY_LIBRARYCALL_H

#include "larc/Support/Error.h"
#include "larc/Target/CUDA/CudaDriver.h"
#include "larc/Target/LoadedLibrary.h"

#include <optional>

namespace larc {

/// A call's tensors on the host, in the types of the library.
class HostCall {
public:
  HostCall(const LibraryManifest &manifest, const Problem &problem,
           TensorMap *results)
      : manifest(manifest), problem(problem), results(results) {}

  /// Converts inputs, and finds or makes the memory of results.
  llvm::Error prepare();
  /// Converts the results that are not of the type wanted.
  llvm::Error finish();

  larc_shape getShape(const LibraryRunOptions &options) const;
  std::vector<larc_layout> getLayouts() const;

  /// By the manifest; null where there is none.
  std::vector<const Tensor *> inputs;
  std::vector<Tensor *> outputs;

private:
  const Tensor *findInput(const LibraryTensor &tensor, size_t index) const;
  llvm::Error addInput(const LibraryTensor &tensor, const Tensor *given);
  llvm::Error addOutput(const LibraryTensor &tensor);

  const LibraryManifest &manifest;
  const Problem &problem;
  TensorMap *results;
  TensorMap converted; ///< by name
};

/// A plan, released with its owner.
class Plan {
public:
  explicit Plan(const larc_library &functions) : functions(functions) {}
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;
  ~Plan() { functions.release(plan); }

  llvm::Error create(const HostCall &call, const LibraryRunOptions &options) {
    larc_shape shape = call.getShape(options);
    std::vector<larc_layout> layouts = call.getLayouts();
    if (functions.plan(&shape, layouts.data(), &plan) != LARC_OK)
      return makeFault(functions.message());
    return llvm::Error::success();
  }

  const larc_plan *get() const { return plan; }
  size_t getWorkspaceBytes() const { return functions.workspace(plan); }

private:
  const larc_library &functions;
  larc_plan *plan = nullptr;
};

/// Runs on tensors of the host.
llvm::Error runOnHost(const larc_library &functions, const Problem &problem,
                      HostCall &call, const LibraryRunOptions &options);

/// A call whose tensors are in the memory of a GPU.
class DeviceCall {
public:
  DeviceCall(const larc_library &functions, const LibraryManifest &manifest,
             const Problem &problem, HostCall &host)
      : functions(functions), manifest(manifest), problem(problem), host(host),
        plan(functions) {}

  /// Loads the kernels; `prepare` does the same if that was not done.
  llvm::Error makePlan(const LibraryRunOptions &options);

  /// Copies the inputs, and fills the memory of results with NaN. With
  /// `inPlace`, final states are where initial ones are.
  llvm::Error prepare(const LibraryRunOptions &options, bool inPlace);
  llvm::Error run() {
    if (functions.run(plan.get(), pointers.data(), &lists,
                      reinterpret_cast<void *>(workspace),
                      stream->get()) != LARC_OK)
      return makeFault(functions.message());
    return llvm::Error::success();
  }
  /// Copies the results, and waits for them.
  llvm::Error fetch();
  /// Runs again and again.
  llvm::Error measure(const LibraryTimeOptions &time, LibraryTimes &times);

private:
  llvm::Expected<const CudaBuffer *> allocate(size_t bytes);
  /// Memory with these bytes.
  llvm::Expected<const void *> copy(llvm::ArrayRef<char> bytes);
  llvm::Error addResult(const Tensor &tensor);
  llvm::Error addLists();
  llvm::Error placeStates();
  llvm::Error runTimes(unsigned count);
  llvm::Expected<double> timeOnce(llvm::function_ref<llvm::Error()> work);

  const larc_library &functions;
  const LibraryManifest &manifest;
  const Problem &problem;
  HostCall &host;
  Plan plan;
  std::optional<CudaStream> stream;
  std::vector<CudaBuffer> buffers;
  std::vector<const void *> pointers;
  std::vector<std::pair<size_t, Tensor *>> results; ///< by buffer
  larc_lists lists = {};
  larc_cu_pointer workspace = 0;
};

} // namespace larc

#endif // LARC_LIB_TARGET_LIBRARY_LIBRARYCALL_H
