//===- LoadedLibrary.cpp - Running compiled libraries -----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

#include "mlir/Parser/Parser.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>
#include <mutex>

using namespace larc;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

struct LoadedLibrary::Impl {
  std::string path;
  void *handle = nullptr;
  const larc_library *functions = nullptr;
  LibraryManifest manifest;

  /// GPUs that were used, which keep what is loaded there.
  std::mutex mutex;
  std::map<int, CudaContext> contexts;

  llvm::Expected<const CudaContext *> getContext(int device);
  /// Success, or an error with what the library says.
  llvm::Error check(larc_status status) const {
    if (status == LARC_OK)
      return llvm::Error::success();
    return makeFault(functions->message());
  }
  ~Impl();
};

llvm::Expected<const CudaContext *>
LoadedLibrary::Impl::getContext(int device) {
  std::lock_guard<std::mutex> guard(mutex);
  auto it = contexts.find(device);
  if (it != contexts.end())
    return &it->second;
  llvm::Expected<CudaContext> created = CudaContext::create(device);
  if (!created)
    return created.takeError();
  return &contexts.emplace(device, std::move(*created)).first->second;
}

LoadedLibrary::Impl::~Impl() {
  for (const auto &[device, context] : contexts) {
    llvm::Expected<CudaContext::Scope> scope = context.enter();
    if (scope)
      functions->unload(LARC_CUDA);
    else
      llvm::consumeError(scope.takeError());
  }
  if (handle)
    ::dlclose(handle);
}

LoadedLibrary::LoadedLibrary() : impl(std::make_unique<Impl>()) {}
LoadedLibrary::~LoadedLibrary() = default;

const LibraryManifest &LoadedLibrary::getManifest() const {
  return impl->manifest;
}
const larc_library &LoadedLibrary::getFunctions() const {
  return *impl->functions;
}

bool LoadedLibrary::isLibrary(llvm::StringRef path) {
  llvm::file_magic magic;
  return !llvm::identify_magic(path, magic) &&
         magic == llvm::file_magic::elf_shared_object;
}

llvm::Expected<std::unique_ptr<LoadedLibrary>>
LoadedLibrary::open(llvm::StringRef path) {
  std::unique_ptr<LoadedLibrary> library(new LoadedLibrary());
  Impl &impl = *library->impl;
  impl.path = path.str();
  // A name without a folder would be looked for among the system's libraries.
  llvm::SmallString<128> absolute(path);
  llvm::sys::fs::make_absolute(absolute);
  impl.handle = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!impl.handle) {
    const char *reason = ::dlerror();
    return makeFileFault(path, "cannot be loaded",
                         {reason ? reason : "unknown error"});
  }
  auto find = reinterpret_cast<larc_library_function>(
      ::dlsym(impl.handle, LARC_LIBRARY_FUNCTION));
  if (!find)
    return makeFileFault(path, "is no library of larc's",
                         {"it has no function '" LARC_LIBRARY_FUNCTION "'"});
  impl.functions = find();
  if (impl.functions->version != LARC_LIBRARY_VERSION)
    return makeFileFault(path, "has version " +
                                   llvm::Twine(impl.functions->version) +
                                   " of the interface, expected " +
                                   llvm::Twine(LARC_LIBRARY_VERSION));
  llvm::Expected<LibraryManifest> manifest =
      parseLibraryManifest(impl.functions->manifest);
  if (!manifest)
    return addFile(manifest.takeError(), path);
  if (manifest->tensors.size() != impl.functions->tensors)
    return makeFileFault(path, "has another number of tensors than it says");
  impl.manifest = std::move(*manifest);
  return library;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
LoadedLibrary::parseSpec(mlir::MLIRContext &context) const {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(impl->manifest.spec,
                                                        &context, impl->path);
  if (!module || llvm::range_size(module->getOps<RecurrenceOp>()) != 1)
    return makeFileFault(impl->path, "has no recurrence that this larc reads");
  return module;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

llvm::Error LoadedLibrary::run(Problem &problem, TensorMap &results,
                               const LibraryRunOptions &options) const {
  HostCall host(impl->manifest, problem, &results);
  if (llvm::Error error = host.prepare())
    return error;
  if (options.target == LARC_CPU) {
    if (llvm::Error error = runOnHost(*impl->functions, problem, host, options))
      return error;
    return host.finish();
  }
  llvm::Expected<const CudaContext *> context =
      impl->getContext(options.device);
  if (!context)
    return context.takeError();
  llvm::Expected<CudaContext::Scope> scope = (*context)->enter();
  if (!scope)
    return scope.takeError();
  DeviceCall call(*impl->functions, impl->manifest, problem, host);
  if (llvm::Error error = call.prepare(options, /*inPlace=*/false))
    return error;
  if (llvm::Error error = call.run())
    return error;
  if (llvm::Error error = call.fetch())
    return error;
  return host.finish();
}

llvm::Expected<larc_plan_info>
LoadedLibrary::describe(const Problem &problem,
                        const LibraryRunOptions &options) const {
  std::optional<CudaContext::Scope> scope;
  if (options.target == LARC_CUDA) {
    llvm::Expected<const CudaContext *> context =
        impl->getContext(options.device);
    if (!context)
      return context.takeError();
    llvm::Expected<CudaContext::Scope> entered = (*context)->enter();
    if (!entered)
      return entered.takeError();
    scope.emplace(std::move(*entered));
  }
  HostCall host(impl->manifest, problem, /*results=*/nullptr);
  Plan plan(*impl->functions);
  if (llvm::Error error = plan.create(host, options))
    return std::move(error);
  larc_plan_info info = {};
  impl->functions->describe(plan.get(), &info);
  return info;
}

llvm::Expected<LibraryTimes>
LoadedLibrary::measure(Problem &problem, TensorMap &results,
                       const LibraryRunOptions &options,
                       const LibraryTimeOptions &time) const {
  if (options.target != LARC_CUDA)
    return makeFault("only calls on GPUs are timed on the device");
  HostCall host(impl->manifest, problem, &results);
  if (llvm::Error error = host.prepare())
    return std::move(error);
  llvm::Expected<const CudaContext *> context =
      impl->getContext(options.device);
  if (!context)
    return context.takeError();
  llvm::Expected<CudaContext::Scope> scope = (*context)->enter();
  if (!scope)
    return scope.takeError();
  DeviceCall call(*impl->functions, impl->manifest, problem, host);
  LibraryTimes times;
  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = call.makePlan(options))
    return std::move(error);
  times.firstMilliseconds = std::chrono::duration<double, std::milli>(
                                std::chrono::steady_clock::now() - start)
                                .count();
  if (llvm::Error error =
          call.prepare(options, /*inPlace=*/problem.tokens == 1))
    return std::move(error);
  if (llvm::Error error = call.measure(time, times))
    return std::move(error);
  return times;
}
