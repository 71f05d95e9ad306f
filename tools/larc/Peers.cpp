//===- Peers.cpp - Timing peers beside larc -------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Peers are operators of Python packages. A script, tools/gpu_peers.py, which
// is in this program as text, runs the library and the peers on the same
// tensors.
//
//===----------------------------------------------------------------------===//

#include "Peers.h"

#include "larc/Support/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace larc;
using namespace larc::driver;

static constexpr char script[] =
#include "GPUPeers.inc"
    ;

/// The script's exit code where something is missing.
static constexpr int missingCode = 3;

static llvm::Error makeMissingFault(const llvm::Twine &what) {
  return makeFault(
      "option '--peers' needs Python with PyTorch and "
      "flash-linear-attention: " +
          what,
      {"'pip install torch flash-linear-attention' installs them"});
}

/// A temporary file that `write` fills, which goes with the result.
static llvm::Expected<std::unique_ptr<llvm::FileRemover>>
makeTemporary(llvm::StringRef suffix, llvm::StringRef text,
              llvm::SmallVectorImpl<char> &path) {
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile(
          "larc-peers", suffix, descriptor, path))
    return makeFault("cannot make a temporary file: " + code.message());
  auto remover = std::make_unique<llvm::FileRemover>(
      llvm::StringRef(path.data(), path.size()));
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << text;
  os.close();
  if (std::error_code code = os.error()) {
    os.clear_error();
    return makeFault("cannot write a temporary file: " + code.message());
  }
  return remover;
}

static std::string readText(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// B, T and H of `dims`.
static std::string formatCallDims(const DimList &dims) {
  DimList chosen;
  for (const auto &dim : dims)
    if (dim.first == "B" || dim.first == "T" || dim.first == "H")
      chosen.push_back(dim);
  return formatDims(chosen);
}

llvm::Error driver::measurePeers(const Library &library,
                                 Measurement &measurement) {
  llvm::ErrorOr<std::string> python = llvm::sys::findProgramByName("python3");
  if (!python)
    return makeMissingFault("no 'python3' in PATH");
  llvm::SmallString<128> scriptPath, outputPath, errorPath;
  auto scriptFile = makeTemporary("py", script, scriptPath);
  if (!scriptFile)
    return scriptFile.takeError();
  auto outputFile = makeTemporary("json", "", outputPath);
  if (!outputFile)
    return outputFile.takeError();
  auto errorFile = makeTemporary("txt", "", errorPath);
  if (!errorFile)
    return errorFile.takeError();

  std::string self = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&formatCallDims));
  std::string dims = "--dims=" + formatCallDims(measurement.dims);
  std::string larc = "--larc=" + self;
  llvm::StringRef arguments[] = {*python, scriptPath, library.path, dims, larc};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), outputPath,
                                                errorPath};
  std::string message;
  // Peers tune themselves in their first call, for minutes.
  Ticker ticker("timing peers");
  int code = llvm::sys::ExecuteAndWait(*python, arguments, std::nullopt,
                                       redirects, 0, 0, &message);
  std::string errors = readText(errorPath);
  llvm::StringRef lastLine =
      llvm::StringRef(errors).rtrim().rsplit('\n').second;
  if (lastLine.empty())
    lastLine = llvm::StringRef(errors).rtrim();
  if (code == missingCode)
    return makeMissingFault(lastLine);
  if (code != 0)
    return makeFault("the peers could not be timed: " +
                     (message.empty() ? lastLine.str() : message));
  llvm::Expected<llvm::json::Value> rows =
      llvm::json::parse(readText(outputPath));
  if (!rows)
    return rows.takeError();
  if (llvm::json::Array *array = rows->getAsArray())
    measurement.peers = std::move(*array);
  return llvm::Error::success();
}

void driver::printPeers(llvm::ArrayRef<Measurement> measurements) {
  Table table({"contender", "dims", "median ms", "min", "max", "over larc",
               "error", ""},
              /*numLeft=*/2);
  for (const Measurement &m : measurements) {
    for (const llvm::json::Value &value : m.peers) {
      const llvm::json::Object *row = value.getAsObject();
      if (!row)
        continue;
      auto number = [&](llvm::StringRef key) {
        std::optional<double> number = row->getNumber(key);
        return number ? formatNumber(*number, 4) : std::string("-");
      };
      table.addRow({row->getString("contender").value_or("").str(),
                    formatDims(m.dims), number("median_ms"), number("min_ms"),
                    number("max_ms"), number("ratio"), number("error"),
                    row->getString("unavailable").value_or("").str()});
    }
  }
  llvm::outs() << "beside peers, in turns\n";
  table.print(llvm::outs());
}
