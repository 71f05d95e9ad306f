//===- ResourceReport.cpp - What the assembler says of kernels ------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each entry function, ptxas -v writes
//
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
//   ptxas info    : Function properties for NAME
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 8 registers, used 1 barriers, 1024 bytes smem
//
// and for functions that are not inlined the second and third lines only.
// Messages C75xx name their function and come before all of these.
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/ResourceReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace larc;

/// Of every multiprocessor since compute capability 3.0. A warp gets registers
/// in pieces.
static constexpr uint64_t registersPerSM = 65536;
static constexpr uint64_t registersPerPiece = 256;
static constexpr uint64_t threadsPerWarp = 32;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The text between the first `before` and the next `after`; empty if either is
/// not there.
static llvm::StringRef getBetween(llvm::StringRef text, llvm::StringRef before,
                                  llvm::StringRef after) {
  size_t begin = text.find(before);
  if (begin == llvm::StringRef::npos)
    return {};
  text = text.drop_front(begin + before.size());
  size_t end = text.find(after);
  return end == llvm::StringRef::npos ? llvm::StringRef()
                                      : text.take_front(end);
}

/// The message of a line `(C7517) ...`; empty if it is none of C75xx.
static llvm::StringRef getSerialisation(llvm::StringRef line) {
  size_t begin = line.find("(C75");
  if (begin == llvm::StringRef::npos)
    return {};
  llvm::StringRef message = line.drop_front(begin);
  return message.size() > 7 && llvm::isDigit(message[4]) &&
                 llvm::isDigit(message[5]) && message[6] == ')'
             ? message.rtrim()
             : llvm::StringRef();
}

namespace {
class ReportParser {
public:
  void addLine(llvm::StringRef line);
  ResourceReport take() { return std::move(report); }

private:
  KernelResources &getKernel(llvm::StringRef name);
  void addStack(llvm::StringRef line);
  void addUse(llvm::StringRef line);

  ResourceReport report;
  /// The entry function that the next lines are about.
  std::string entry;
};
} // namespace

KernelResources &ReportParser::getKernel(llvm::StringRef name) {
  for (KernelResources &kernel : report.kernels)
    if (kernel.kernel == name)
      return kernel;
  report.kernels.emplace_back();
  report.kernels.back().kernel = name.str();
  return report.kernels.back();
}

/// Functions that a kernel calls count as parts of it.
void ReportParser::addStack(llvm::StringRef line) {
  if (entry.empty())
    return;
  KernelResources &kernel = getKernel(entry);
  for (llvm::StringRef part : llvm::split(line.trim(), ", ")) {
    uint64_t bytes = 0;
    if (part.consumeInteger(10, bytes))
      continue;
    if (part == " bytes spill stores")
      kernel.spillStoreBytes += bytes;
    else if (part == " bytes spill loads")
      kernel.spillLoadBytes += bytes;
    else if (part == " bytes stack frame")
      kernel.stackBytes += bytes;
  }
}

void ReportParser::addUse(llvm::StringRef line) {
  if (entry.empty())
    return;
  KernelResources &kernel = getKernel(entry);
  for (llvm::StringRef part : llvm::split(line, ", ")) {
    uint64_t count = 0;
    if (!part.consume_front("Used "))
      part.consume_front("used ");
    if (part.consumeInteger(10, count))
      continue;
    if (part.starts_with(" registers"))
      kernel.registers = count;
    else if (part.starts_with(" barriers"))
      kernel.barriers = count;
    else if (part.starts_with(" bytes smem"))
      kernel.sharedBytes = count;
  }
}

void ReportParser::addLine(llvm::StringRef line) {
  if (llvm::StringRef message = getSerialisation(line); !message.empty()) {
    llvm::StringRef name = getBetween(message, "function '", "'");
    getKernel(name).serialisations.push_back(message.str());
    return;
  }
  if (line.contains("bytes spill stores"))
    return addStack(line);
  if (!line.consume_front("ptxas info"))
    return;
  line = line.ltrim(" :").rtrim();
  if (line.starts_with("Compiling entry function"))
    entry = getKernel(getBetween(line, "function '", "'")).kernel;
  else if (line.starts_with("Used "))
    addUse(line);
}

ResourceReport ResourceReport::parse(llvm::StringRef messages) {
  ReportParser parser;
  for (llvm::StringRef line : llvm::split(messages, '\n'))
    parser.addLine(line);
  return parser.take();
}

//===----------------------------------------------------------------------===//
// Showing
//===----------------------------------------------------------------------===//

const KernelResources *ResourceReport::find(llvm::StringRef kernel) const {
  for (const KernelResources &it : kernels)
    if (it.kernel == kernel)
      return &it;
  return nullptr;
}

void ResourceReport::print(llvm::raw_ostream &os) const {
  for (const KernelResources &kernel : kernels) {
    os << kernel.kernel << ": " << kernel.registers << " registers, "
       << kernel.barriers << " barriers, " << kernel.sharedBytes
       << " bytes of static shared memory, " << kernel.stackBytes
       << " bytes of stack, spills " << kernel.spillStoreBytes
       << " bytes stored and " << kernel.spillLoadBytes << " loaded\n";
    for (const std::string &message : kernel.serialisations)
      os << "  " << message << '\n';
  }
}

//===----------------------------------------------------------------------===//
// Judging
//===----------------------------------------------------------------------===//

/// Registers that a multiprocessor sets aside for the thread blocks meant.
static uint64_t countRegisters(const KernelResources &kernel,
                               const LaunchBounds &bounds) {
  uint64_t warp =
      llvm::alignTo(kernel.registers * threadsPerWarp, registersPerPiece);
  return warp * llvm::divideCeil(bounds.threads, threadsPerWarp) *
         std::max(bounds.blocksPerSM, 1u);
}

std::vector<ResourceFault>
larc::findResourceFaults(const ResourceReport &report,
                         llvm::ArrayRef<LaunchBounds> bounds) {
  std::vector<ResourceFault> faults;
  for (const LaunchBounds &bound : bounds) {
    std::string start = "kernel '" + bound.kernel + "' ";
    auto add = [&](const llvm::Twine &message) {
      faults.push_back({bound.kernel, (start + message).str()});
    };
    const KernelResources *kernel = report.find(bound.kernel);
    if (!kernel || !kernel->registers) {
      add("is missing in the assembler's report");
      continue;
    }
    if (kernel->spillStoreBytes || kernel->spillLoadBytes)
      add("spills registers: " + llvm::Twine(kernel->spillStoreBytes) +
          " bytes stored and " + llvm::Twine(kernel->spillLoadBytes) +
          " loaded, at " + llvm::Twine(kernel->registers) + " registers");
    for (const std::string &message : kernel->serialisations)
      add("has matrix products that the assembler serialises: " + message);
    uint64_t registers = countRegisters(*kernel, bound);
    if (registers > registersPerSM)
      add("takes too many registers: " + llvm::Twine(kernel->registers) +
          " for each of " + llvm::Twine(bound.threads) + " threads in " +
          llvm::Twine(std::max(bound.blocksPerSM, 1u)) + " blocks are " +
          llvm::Twine(registers) + ", and a multiprocessor has " +
          llvm::Twine(registersPerSM));
  }
  // Messages that name no function that is launched must not get lost.
  for (const KernelResources &kernel : report.kernels)
    if (llvm::none_of(bounds, [&](const LaunchBounds &bound) {
          return bound.kernel == kernel.kernel;
        }))
      for (const std::string &message : kernel.serialisations)
        faults.push_back(
            {"", "the assembler serialises matrix products: " + message});
  return faults;
}
