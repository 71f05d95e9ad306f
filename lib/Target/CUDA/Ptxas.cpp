//===- Ptxas.cpp - NVIDIA's assembler -------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Target/CUDA/Ptxas.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace larc;
namespace fs = llvm::sys::fs;

/// Lines of a refusal that are repeated to the user.
static constexpr size_t maxQuotedLines = 8;

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

llvm::VersionTuple larc::parsePtxasVersion(llvm::StringRef text) {
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    // "release 13.5, V13.5.37": the second is more exact.
    auto [start, rough] = line.split("release ");
    for (llvm::StringRef spelling : {rough.split(", V").second, rough}) {
      llvm::VersionTuple version;
      spelling = spelling.take_while(
          [](char c) { return llvm::isDigit(c) || c == '.'; });
      if (!version.tryParse(spelling))
        return version;
    }
  }
  return {};
}

PtxasNeed PtxasNeed::of(llvm::StringRef ptx, const CudaTarget &target) {
  // The assembler may reuse registers of the first factor before an
  // asynchronous product has read them.
  if (ptx.contains("wgmma."))
    return {llvm::VersionTuple(13, 3), "may make wrong code of wgmma"};
  // Wrong addresses of shared memory on that architecture alone.
  if (ptx.contains("mma.sync") && llvm::StringRef(target.chip) == "sm_90a")
    return {llvm::VersionTuple(13, 1), "may make wrong code of mma.sync"};
  // Each version of the toolkit has brought one of PTX.
  for (auto [text, version, reason] :
       {std::tuple(".version 9.0", llvm::VersionTuple(13, 0),
                   "does not know PTX 9.0"),
        std::tuple(".version 8.8", llvm::VersionTuple(12, 9),
                   "does not know PTX 8.8"),
        std::tuple(".version 8.7", llvm::VersionTuple(12, 8),
                   "does not know PTX 8.7")})
    if (ptx.contains(text))
      return {version, reason};
  return {llvm::VersionTuple(12, 7), "does not know PTX 8.6"};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// A file that goes away at the end, or when a signal ends the process.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix) {
    llvm::SmallString<128> model;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, model);
    llvm::sys::path::append(model, "larc-%%%%%%%%" + suffix);
    auto file = fs::TempFile::create(model, fs::owner_read | fs::owner_write);
    if (!file)
      return addFile(file.takeError(), model);
    return TemporaryFile(std::move(*file));
  }
  TemporaryFile(TemporaryFile &&other) = default;
  ~TemporaryFile() {
    if (file)
      llvm::consumeError(file->discard());
  }

  llvm::StringRef getPath() const { return file->TmpName; }

  llvm::Error write(llvm::StringRef text) {
    llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    os << text;
    os.flush();
    std::error_code code = os.error();
    os.clear_error();
    if (code)
      return makeFileFault(getPath(), "cannot write: " + code.message());
    return llvm::Error::success();
  }

  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> read() const {
    auto buffer = llvm::MemoryBuffer::getFile(getPath(), /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false,
                                              /*IsVolatile=*/true);
    if (!buffer)
      return makeFileFault(getPath(),
                           "cannot read: " + buffer.getError().message());
    // The file goes away, and the buffer stays.
    return llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer());
  }

private:
  explicit TemporaryFile(fs::TempFile file) : file(std::move(file)) {}
  /// Moved from: nothing.
  struct Holder : std::optional<fs::TempFile> {
    using std::optional<fs::TempFile>::optional;
    Holder(Holder &&other) : std::optional<fs::TempFile>(std::move(other)) {
      other.reset();
    }
  } file;
};

/// How a program ended, and what it printed.
struct RunResult {
  int code;
  std::string output;
};
} // namespace

/// Runs a program without input; what it prints on either stream is `output`.
static llvm::Expected<RunResult>
run(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> arguments) {
  auto output = TemporaryFile::create(".txt");
  if (!output)
    return output.takeError();
  llvm::SmallVector<llvm::StringRef> all{path};
  llvm::append_range(all, arguments);
  std::string message;
  bool hasFailed = false;
  std::optional<llvm::StringRef> redirects[] = {"", output->getPath(),
                                                output->getPath()};
  int code = llvm::sys::ExecuteAndWait(path, all, /*Env=*/std::nullopt,
                                       redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &message, &hasFailed);
  if (hasFailed || code < 0)
    return makeFileFault(path, "cannot be run: " + message);
  auto text = output->read();
  if (!text)
    return text.takeError();
  return RunResult{code, (*text)->getBuffer().str()};
}

llvm::Expected<Ptxas> Ptxas::open(llvm::StringRef path) {
  auto result = run(path, {"--version"});
  if (!result)
    return result.takeError();
  Ptxas ptxas;
  ptxas.path = path.str();
  ptxas.identity = std::move(result->output);
  ptxas.version = parsePtxasVersion(ptxas.identity);
  if (result->code != 0 || ptxas.version.empty())
    return makeFileFault(path, "is no ptxas: expected a version such as "
                               "'release 13.5, V13.5.37' from --version");
  return ptxas;
}

/// The error for what ptxas refused: the first line that is not only
/// information, and the others as notes.
static llvm::Error makeRefusal(llvm::StringRef path, llvm::StringRef output) {
  std::vector<std::string> lines;
  for (llvm::StringRef line : llvm::split(output, '\n'))
    if (!line.trim().empty() && !line.contains("ptxas info"))
      lines.push_back(line.trim().str());
  if (lines.empty())
    return makeFileFault(path, "failed without a message");
  std::string first = std::move(lines.front());
  lines.erase(lines.begin());
  if (lines.size() > maxQuotedLines)
    lines.resize(maxQuotedLines);
  return makeFileFault(path, "refuses the PTX: " + first, std::move(lines));
}

llvm::Expected<AssembledPTX> Ptxas::assemble(llvm::StringRef ptx,
                                             const CudaTarget &target) const {
  auto source = TemporaryFile::create(".ptx");
  if (!source)
    return source.takeError();
  auto cubin = TemporaryFile::create(".cubin");
  if (!cubin)
    return cubin.takeError();
  if (llvm::Error error = source->write(ptx))
    return std::move(error);
  auto result = run(path, {"-v", "-O3", "-arch", target.chip, "-o",
                           cubin->getPath(), source->getPath()});
  if (!result)
    return result.takeError();
  if (result->code != 0)
    return makeRefusal(path, result->output);
  auto image = cubin->read();
  if (!image)
    return image.takeError();
  return AssembledPTX{std::move(*image), std::move(result->output)};
}
