//===- larc.cpp - The driver ----------------------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs, checks, measures and compiles recurrences. Exit codes: 0 done; 1 a
// failed check, a compile error, or something wrong with a file; 2 something
// wrong on the command line.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "larc/Support/Error.h"
#include "larc/Target/CUDA/CudaDriver.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace larc;
using namespace larc::driver;

/// Fails where the command runs on a GPU and there is none: nothing else is
/// worth looking at then.
static llvm::Error requireGPU(const Options &options) {
  bool runs = options.command == Command::Run ||
              options.command == Command::Check ||
              options.command == Command::Bench;
  // A library may have no code for one, which is worse.
  if (!runs || options.isLibrary || !options.hasCuda())
    return llvm::Error::success();
  llvm::Expected<CudaContext> gpu = CudaContext::create();
  return gpu ? llvm::Error::success() : gpu.takeError();
}

static llvm::Expected<int> runCommand(Session &session) {
  if (llvm::Error error = requireGPU(session.getOptions()))
    return std::move(error);
  switch (session.getOptions().command) {
  case Command::List:
    return runList(session);
  case Command::Run:
    return runRun(session);
  case Command::Check:
    return runCheck(session);
  case Command::Explain:
    return runExplain(session);
  case Command::Bench:
    return runBench(session);
  case Command::Compile:
    return runCompile(session);
  }
  return 0;
}

/// Writes out what is buffered for the standard output. A full disk or a closed
/// pipe is the fault of that file.
static llvm::Error flushOutput() {
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  if (!code)
    return llvm::Error::success();
  // An uncleared error would end the process when the stream dies.
  llvm::outs().clear_error();
  return makeFileFault("<stdout>", "cannot write: " + code.message());
}

/// Writes out the help or version that llvm::cl printed before it ended the
/// process. Elsewhere there is nothing left to write.
static void flushAtExit() {
  llvm::Error error = flushOutput();
  if (!error)
    return;
  int exitCode = 1;
  llvm::errs() << renderError(std::move(error), &exitCode) << '\n';
  std::_Exit(exitCode);
}

/// Ends the process when an allocation that no check foresaw fails. Nothing
/// here may allocate, and other threads may still run: no destructors.
static void endOutOfMemory(void *, const char *, bool) {
  llvm::sys::RunInterruptHandlers(); // removes unfinished files
  static constexpr char message[] = "error: out of memory\n";
  // There is nobody left to tell if this fails.
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, message, sizeof(message) - 1);
  std::_Exit(1);
}

int main(int argc, char **argv) {
  llvm::install_bad_alloc_error_handler(endOutOfMemory);
  llvm::install_out_of_memory_new_handler();
  // What is made before outlives the call.
  llvm::outs();
  llvm::errs();
  std::atexit(flushAtExit);
  llvm::Expected<Options> options = parseOptions(argc, argv);
  if (!options) {
    int exitCode = 2;
    llvm::errs() << renderError(options.takeError(), &exitCode) << '\n';
    return exitCode;
  }
  Session session(*options);
  llvm::Expected<int> result = runCommand(session);
  int exitCode = result ? *result : session.report(result.takeError());
  if (llvm::Error error = flushOutput())
    exitCode = std::max(exitCode, session.report(std::move(error)));
  if (options->timing)
    session.getTimer().print(llvm::errs());
  return exitCode;
}
