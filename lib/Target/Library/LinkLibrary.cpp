//===- LinkLibrary.cpp - Linking without a linker ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "larc/Support/Error.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace larc;

namespace {

/// A folder that disappears with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }

  llvm::Error create() {
    llvm::SmallString<128> created;
    if (std::error_code error =
            llvm::sys::fs::createUniqueDirectory("larc-link", created))
      return makeFault("cannot make a temporary folder: " + error.message());
    path = created.str().str();
    return llvm::Error::success();
  }

  std::string getPath(const llvm::Twine &name) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    return file.str().str();
  }

  /// Writes a file, and gives its path.
  llvm::Expected<std::string> write(const llvm::Twine &name,
                                    llvm::StringRef data) const {
    std::string file = getPath(name);
    std::error_code error;
    llvm::raw_fd_ostream os(file, error);
    if (!error) {
      os << data;
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (error)
      return makeFileFault(file, error.message());
    return file;
  }

private:
  std::string path;
};

} // namespace

static llvm::Error runLinker(llvm::ArrayRef<std::string> arguments) {
  // The linker has state of its own, which calls after each other may share.
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  llvm::SmallVector<const char *> argv = {"ld.lld"};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream os(messages);
  lld::Result result =
      lld::lldMain(argv, os, os, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return llvm::Error::success();
  return makeFault("the library could not be linked: " +
                   llvm::StringRef(messages).trim());
}

/// A shared object that stands for one of the system's while linking.
static llvm::Expected<std::string> makeStub(const TemporaryFolder &folder,
                                            llvm::StringRef soname) {
  llvm::Expected<std::string> object = makeEmptyObject();
  if (!object)
    return object.takeError();
  llvm::Expected<std::string> file = folder.write(soname + ".o", *object);
  if (!file)
    return file.takeError();
  std::string stub = folder.getPath(soname);
  if (llvm::Error error =
          runLinker({"-shared", "-soname", soname.str(), "-o", stub, *file}))
    return std::move(error);
  return stub;
}

llvm::Expected<std::string> larc::linkSharedObject(
    llvm::ArrayRef<llvm::StringRef> objects, llvm::StringRef soname,
    llvm::ArrayRef<std::pair<std::string, std::string>> exports,
    llvm::StringRef kept, llvm::ArrayRef<llvm::StringRef> needed) {
  TemporaryFolder folder;
  if (llvm::Error error = folder.create())
    return std::move(error);
  std::string output = folder.getPath("output");
  std::vector<std::string> arguments = {"-shared",
                                        "-soname",
                                        soname.str(),
                                        "-o",
                                        output,
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "-Bsymbolic",
                                        "-s",
                                        "--build-id=sha1",
                                        "--gc-sections",
                                        "--hash-style=gnu"};
  std::string script = "{ global: " + kept.str() + ";";
  for (const auto &[name, symbol] : exports) {
    arguments.push_back("--defsym=" + name + "=" + symbol);
    script += " " + name + ";";
  }
  script += " local: *; };\n";
  llvm::Expected<std::string> scriptFile = folder.write("exports", script);
  if (!scriptFile)
    return scriptFile.takeError();
  arguments.push_back("--version-script=" + *scriptFile);
  for (auto [i, object] : llvm::enumerate(objects)) {
    auto file = folder.write(llvm::Twine(i) + ".o", object);
    if (!file)
      return file.takeError();
    arguments.push_back(*file);
  }
  arguments.push_back("--no-as-needed");
  for (llvm::StringRef name : needed) {
    llvm::Expected<std::string> stub = makeStub(folder, name);
    if (!stub)
      return stub.takeError();
    arguments.push_back(*stub);
  }
  if (llvm::Error error = runLinker(arguments))
    return std::move(error);
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeFileFault(output, buffer.getError().message());
  return (*buffer)->getBuffer().str();
}
