//===- FileOutput.cpp - Writing files whole or not at all -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/FileOutput.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace larc;
namespace fs = llvm::sys::fs;

/// True for names that stand for a descriptor of the process. What they lead to
/// may be a regular file, but replacing that would not write to the descriptor.
static bool namesDescriptor(llvm::StringRef path) {
  return path == "/dev/stdout" || path == "/dev/stderr" ||
         path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

/// Runs `write` on a stream over `descriptor`, and reports the stream's errors.
/// The stream closes the descriptor if `close` is set.
static llvm::Error
writeTo(int descriptor, bool close,
        llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  llvm::raw_fd_ostream os(descriptor, close);
  llvm::Error error = write(os);
  if (close)
    os.close();
  else
    os.flush();
  // An uncleared error would end the process when the stream dies.
  std::error_code code = os.error();
  os.clear_error();
  if (error)
    return error;
  return code ? makeFault("cannot write: " + code.message())
              : llvm::Error::success();
}

static llvm::Error
writeStraight(llvm::StringRef path,
              llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  int descriptor;
  if (std::error_code code =
          fs::openFileForWrite(path, descriptor, fs::CD_OpenExisting))
    return makeFault("cannot open for writing: " + code.message());
  return writeTo(descriptor, /*close=*/true, write);
}

namespace {
/// A new file that is removed on destruction and on signals unless it was given
/// another name. llvm::sys::fs::TempFile is not used since it takes every `%`
/// of the path for a place holder.
class TemporaryFile {
public:
  ~TemporaryFile() { remove(); }

  /// Creates the file in `folder` and leaves it open.
  std::error_code create(llvm::StringRef folder, unsigned mode,
                         int &descriptor) {
    constexpr int attempts = 128;
    std::error_code code;
    for (int i = 0; i < attempts; ++i) {
      llvm::SmallString<256> candidate(folder);
      unsigned number = llvm::sys::Process::GetRandomNumber();
      llvm::sys::path::append(candidate,
                              ".larc-" + llvm::utohexstr(number) + ".tmp");
      code = fs::openFileForWrite(candidate, descriptor, fs::CD_CreateNew,
                                  fs::OF_None, mode);
      if (code == std::errc::file_exists)
        continue;
      if (!code) {
        name = candidate.str().str();
        llvm::sys::RemoveFileOnSignal(name);
      }
      break;
    }
    return code;
  }

  /// Gives the file, which must be closed, the name `target`.
  std::error_code rename(llvm::StringRef target) {
    if (std::error_code code = fs::rename(name, target))
      return code;
    llvm::sys::DontRemoveFileOnSignal(name);
    name.clear();
    return {};
  }

  llvm::StringRef getName() const { return name; }

private:
  void remove() {
    if (name.empty())
      return;
    fs::remove(name);
    llvm::sys::DontRemoveFileOnSignal(name);
  }

  std::string name;
};
} // namespace

static llvm::Error
writeReplacing(llvm::StringRef path,
               llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write,
               unsigned mode) {
  llvm::SmallString<256> target(path);
  fs::file_status status;
  bool exists = !fs::status(path, status) && fs::exists(status);
  if (exists) {
    if (fs::is_directory(status))
      return makeFault("cannot write: is a directory");
    if (!fs::is_regular_file(status))
      return writeStraight(path, write);
    if (!fs::can_write(path))
      return makeFault(
          "cannot open for writing: " +
          std::make_error_code(std::errc::permission_denied).message());
    if (std::error_code code = fs::real_path(path, target))
      return makeFault("cannot open for writing: " + code.message());
  }

  TemporaryFile temporary;
  int descriptor;
  if (std::error_code code = temporary.create(
          llvm::sys::path::parent_path(target), mode, descriptor))
    return makeFault("cannot open for writing: " + code.message());
  if (llvm::Error error = writeTo(descriptor, /*close=*/true, write))
    return error;
  if (exists)
    if (std::error_code code =
            fs::setPermissions(temporary.getName(), status.permissions()))
      return makeFault("cannot set permissions: " + code.message());
  if (std::error_code code = temporary.rename(target))
    return makeFault("cannot write: " + code.message());
  return llvm::Error::success();
}

llvm::Error larc::writeFileAtomically(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write, unsigned mode) {
  if (path.empty())
    return makeFault("the name of the output file is empty");
  if (path == "-") {
    llvm::outs().flush();
    return addFile(writeTo(/*stdout=*/1, /*close=*/false, write), "<stdout>");
  }
  if (namesDescriptor(path))
    return addFile(writeStraight(path, write), path);
  return addFile(writeReplacing(path, write, mode), path);
}
