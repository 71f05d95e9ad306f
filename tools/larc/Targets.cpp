//===- Targets.cpp - What options mean for a target -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "CommandLine.h"
#include "Flags.h"
#include "Session.h"

#include "larc/Support/Error.h"
#include "larc/Target/CUDA/PTX.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"

using namespace larc;
using namespace larc::driver;
namespace cl = llvm::cl;

using OptionList = std::initializer_list<const cl::Option *>;

std::string Target::getName() const {
  if (!isCuda)
    return "cpu";
  if (computeCapability == 0)
    return "cuda";
  return "cuda:" + std::to_string(computeCapability);
}

llvm::Error driver::refuse(const cl::Option &option,
                           const llvm::Twine &reason) {
  if (option.getNumOccurrences() == 0)
    return llvm::Error::success();
  return makeUsageFault("option '--" + option.ArgStr +
                        "' cannot be honoured: " + reason);
}

/// The same of several options.
static llvm::Error refuseAll(OptionList options, const llvm::Twine &reason) {
  for (const cl::Option *option : options)
    if (llvm::Error error = refuse(*option, reason))
      return error;
  return llvm::Error::success();
}

bool driver::isLibraryFile(llvm::StringRef spec) {
  if (spec.ends_with(".so"))
    return true;
  llvm::file_magic magic;
  return !spec.empty() && !llvm::sys::fs::is_directory(spec) &&
         !llvm::identify_magic(spec, magic) &&
         magic == llvm::file_magic::elf_shared_object;
}

bool driver::hasCudaForm(Form form) {
  return llvm::is_contained(getCudaForms(), toLibraryForm(form));
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static llvm::Expected<Target> parseTarget(llvm::StringRef text) {
  if (text == "cpu")
    return Target();
  auto [kind, capability] = text.split(':');
  if (kind != "cuda")
    return makeValueFault("option '--target'", text,
                          {"cpu", "cuda", "cuda:SM"});
  Target target;
  target.isCuda = true;
  if (kind == text)
    return target;
  if (capability.getAsInteger(10, target.computeCapability))
    return makeUsageFault("option '--target' needs a compute capability after "
                          "'cuda:', not " +
                              quoteName(capability),
                          {"cuda:90 is for GPUs of compute capability 9.0"});
  llvm::Expected<CudaTarget> known = CudaTarget::get(target.computeCapability);
  if (!known)
    return known.takeError();
  return target;
}

llvm::Error driver::parseTargets(Options &options) {
  if (flags::target.empty()) {
    if (!options.isLibrary)
      options.targets = {Target()};
    return llvm::Error::success();
  }
  for (llvm::StringRef part : llvm::split(flags::target.getValue(), ',')) {
    llvm::Expected<Target> target = parseTarget(part);
    if (!target)
      return target.takeError();
    if (llvm::is_contained(options.targets, *target))
      return makeUsageFault("option '--target' names " + quoteName(part) +
                            " twice");
    options.targets.push_back(*target);
  }
  if (options.targets.size() > 1 && options.command != Command::Compile)
    return makeUsageFault("option '--target' takes one target here, not " +
                          quoteName(flags::target));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Options that commands share
//===----------------------------------------------------------------------===//

/// What GPUs do not do, whatever the command.
static llvm::Error checkCudaOptions(const Options &options) {
  for (auto [option, type] : {std::pair(&flags::dtype, options.dtype),
                              std::pair(&flags::gateDType, options.gateDType)})
    if (type == DType::F64)
      return refuse(*option, "GPUs compute in float32");
  for (Form form : options.forms) {
    if (form == Form::Reference)
      return makeUsageFault("form 'reference' is interpreted, which no GPU "
                            "does",
                            {"leave out either '--target' or '--form'"});
    if (form == Form::Chunk && !hasCudaForm(form))
      return makeLaterFault("the form 'chunk' for GPUs",
                            "their form is recurrent");
  }
  if (!hasCudaForm(Form::Chunk))
    return refuseAll({&flags::chunkSize, &flags::segments},
                     "the form of GPUs in this version, recurrent, has none");
  if (options.chunkSize != 0 && options.chunkSize < CudaOptions::leastChunkSize)
    return refuse(flags::chunkSize,
                  "chunks on GPUs have " +
                      llvm::Twine(CudaOptions::leastChunkSize) +
                      " tokens or more");
  return llvm::Error::success();
}

/// CPUs compute on states where they are.
static llvm::Error checkCPUStates(const Options &options) {
  if (options.dtype == DType::F64)
    return refuse(flags::stateDType,
                  "the target 'cpu' has states of float64 with '--dtype=f64'");
  if (options.stateDType == DType::F32)
    return llvm::Error::success();
  return refuse(flags::stateDType, "the target 'cpu' has states of float32");
}

llvm::Error driver::checkTargetOptions(const Options &options) {
  if (options.hasCPU())
    if (llvm::Error error = checkCPUStates(options))
      return error;
  if (!options.hasCuda())
    return refuseAll({&flags::ptxas, &flags::copies, &flags::laneArrivals},
                     "no target is a GPU");
  if (llvm::Error error = checkCudaOptions(options))
    return error;
  constexpr unsigned hopper = 90;
  for (const Target &target : options.targets)
    if (options.copies == CudaCopies::Bulk && target.isCuda &&
        target.computeCapability != 0 && target.computeCapability != hopper)
      return refuse(flags::copies, "only Hopper, 'cuda:90', has the unit");
  if (llvm::Error error = refuse(
          flags::grad, "the target 'cuda' has no gradients in this version"))
    return error;
  if (options.command == Command::Run || options.command == Command::Bench)
    return refuse(flags::threads, "a GPU computes");
  return llvm::Error::success();
}

llvm::Error driver::checkLibraryOptions(const Options &options) {
  if (options.command == Command::Compile ||
      options.command == Command::Explain)
    return makeUsageFault(quoteName(options.spec) +
                              " is compiled already: expected a spec",
                          {"give a name of 'larc list' or a .mlir file"});
  if (llvm::Error error = refuseAll(
          {&flags::chunkSize, &flags::copies, &flags::dtype, &flags::gateDType,
           &flags::stateDType, std::addressof(flags::set)},
          "it was decided when the library was compiled"))
    return error;
  if (llvm::Error error = refuseAll({&flags::ptxas, &flags::printIRAfter},
                                    "the library is compiled already"))
    return error;
  for (const Target &target : options.targets)
    if (target.computeCapability != 0)
      return refuse(flags::target,
                    "a library has what the GPU at hand can run, or has not: "
                    "give 'cuda'");
  return refuse(flags::grad, "libraries have no gradients in this version");
}

llvm::Error driver::checkPeers(const Options &options) {
  if (!options.peers)
    return llvm::Error::success();
  if (!options.hasCuda())
    return makeUsageFault("option '--peers' cannot be honoured: they run on "
                          "GPUs, which need '--target=cuda'",
                          {"tools/peers.py times what there is for CPUs"});
  if (!options.plot.empty())
    return refuse(flags::plot, "times beside '--peers' are not drawn");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// compile
//===----------------------------------------------------------------------===//

/// Checks that the targets are what `--emit` writes code for.
static llvm::Error checkEmitTargets(const Options &options) {
  std::string emit = ("'--emit=" + getName(options.emit) + "'").str();
  switch (options.emit) {
  case Emit::Library:
    return llvm::Error::success();
  case Emit::Larc:
  case Emit::Chunk:
    if (options.hasCuda())
      return refuse(flags::target, "what " + emit + " writes has none");
    return llvm::Error::success();
  case Emit::Assembly:
  case Emit::Object:
    if (options.hasCuda())
      return makeUsageFault(emit + " writes code for CPUs, not for '" +
                                flags::target + "'",
                            {"code for GPUs is 'ptx' and 'cubin'"});
    return llvm::Error::success();
  case Emit::Tile:
  case Emit::PTX:
  case Emit::Cubin:
    if (options.hasCPU())
      return makeUsageFault(emit + " writes code for GPUs",
                            {"give '--target=cuda:90', for GPUs of compute "
                             "capability 9.0"});
    [[fallthrough]];
  case Emit::LLVM:
    if (options.targets.size() > 1)
      return makeUsageFault(emit + " takes one target, not '" + flags::target +
                            "'");
    return llvm::Error::success();
  }
  return llvm::Error::success();
}

llvm::Error driver::checkEmit(const Options &options) {
  if (llvm::Error error = checkEmitTargets(options))
    return error;
  if (options.emit != Emit::Library)
    if (llvm::Error error =
            refuse(flags::header, "it describes what '--emit=lib' writes"))
      return error;
  if (options.emit == Emit::Tile)
    if (llvm::Error error =
            refuse(flags::laneArrivals, "tile programs speak of warps"))
      return error;
  if (options.emit != Emit::Library && options.emit != Emit::Cubin)
    if (llvm::Error error =
            refuse(flags::ptxas,
                   "'--emit=" + getName(options.emit) + "' assembles nothing"))
      return error;
  if (!options.hasCPU())
    return refuse(flags::cpu, "no target is a CPU");
  return llvm::Error::success();
}
