//===- CommandLine.cpp - Checking the argument list -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "larc/Support/Error.h"
#include "larc/Support/Spelling.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"

using namespace larc;
using namespace larc::driver;
namespace cl = llvm::cl;

/// Options that llvm::cl adds to every command while it parses.
static constexpr llvm::StringLiteral genericOptions[] = {
    "h", "help", "help-hidden", "help-list", "help-list-hidden", "version"};

llvm::Error driver::makeLaterFault(const llvm::Twine &what,
                                   const llvm::Twine &remedy) {
  std::vector<std::string> notes;
  if (std::string note = remedy.str(); !note.empty())
    notes.push_back(std::move(note));
  return makeUsageFault("this version of larc, " LARC_VERSION_STRING
                        ", does not have " +
                            what + " yet",
                        std::move(notes));
}

std::string driver::didYouMean(llvm::StringRef name,
                               llvm::ArrayRef<llvm::StringRef> candidates,
                               llvm::StringRef prefix) {
  // Farther than this is another word, not a slip.
  unsigned limit = std::max<unsigned>(2, name.size() / 2);
  std::string closest = closestName(name, candidates, limit);
  if (closest.empty())
    return "";
  return ", did you mean '" + prefix.str() + closest + "'?";
}

llvm::Error driver::makeValueFault(llvm::StringRef what, llvm::StringRef value,
                                   llvm::ArrayRef<llvm::StringRef> known) {
  return makeUsageFault(what + " has no value " + quoteName(value) +
                            didYouMean(value, known),
                        {"expected one of " + llvm::join(known, ", ")});
}

static cl::SubCommand *findCommand(llvm::StringRef name) {
  for (cl::SubCommand *command : cl::getRegisteredSubcommands())
    if (!name.empty() && command->getName() == name)
      return command;
  return nullptr;
}

static llvm::Error makeUnknownCommandFault(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> known;
  for (cl::SubCommand *command : cl::getRegisteredSubcommands())
    if (!command->getName().empty())
      known.push_back(command->getName());
  llvm::sort(known);
  return makeUsageFault("unknown command " + quoteName(name) +
                            didYouMean(name, known),
                        {"commands are " + llvm::join(known, ", ") +
                         "; 'larc --help' tells more"});
}

static llvm::Error makeUnknownOptionFault(llvm::StringRef name,
                                          cl::SubCommand &command) {
  llvm::SmallVector<llvm::StringRef> known(std::begin(genericOptions),
                                           std::end(genericOptions));
  for (const auto &entry : command.OptionsMap)
    if (entry.second->getOptionHiddenFlag() == cl::NotHidden)
      known.push_back(entry.first);
  llvm::sort(known);
  return makeUsageFault(
      "unknown option " + quoteName("--" + name.str()) + " of 'larc " +
          command.getName() + "'" + didYouMean(name, known, "--"),
      {"'larc " + command.getName().str() + " --help' lists the options"});
}

/// Whether llvm::cl's parser of flags takes `value`.
static bool isFlagValue(llvm::StringRef value) {
  return llvm::StringSwitch<bool>(value)
      .Cases({"true", "TRUE", "True", "1"}, true)
      .Cases({"false", "FALSE", "False", "0"}, true)
      .Default(false);
}

llvm::Error driver::checkCommandLine(llvm::ArrayRef<const char *> arguments) {
  if (arguments.empty())
    return makeUsageFault("no command is given",
                          {"'larc --help' lists the commands"});
  llvm::StringRef first = arguments.front();
  if (first.starts_with("-")) {
    if (llvm::is_contained(genericOptions, first.ltrim('-')))
      return llvm::Error::success();
    return makeUsageFault("expected a command before " + quoteName(first),
                          {"'larc --help' lists the commands"});
  }
  cl::SubCommand *command = findCommand(first);
  if (!command)
    return makeUnknownCommandFault(first);

  size_t numPositional = 0;
  llvm::StringMap<unsigned> occurrences;
  for (size_t i = 1; i < arguments.size(); ++i) {
    llvm::StringRef word = arguments[i];
    // A lone dash is a file name.
    if (!word.starts_with("-") || word == "-") {
      if (++numPositional > command->PositionalOpts.size())
        return makeUsageFault("unexpected argument " + quoteName(word) +
                              " of 'larc " + command->getName() + "'");
      continue;
    }
    if (word == "--")
      return makeUsageFault("unexpected argument '--'");
    bool hasValue = word.contains('=');
    auto [name, value] = word.split('=');
    name = name.drop_front(name.starts_with("--") ? 2 : 1);
    if (llvm::is_contained(genericOptions, name))
      continue;
    auto it = command->OptionsMap.find(name);
    if (it == command->OptionsMap.end())
      return makeUnknownOptionFault(name, *command);
    const cl::Option &option = *it->second;
    if (option.getNumOccurrencesFlag() == cl::Optional &&
        ++occurrences[name] > 1)
      return makeUsageFault("option '--" + name + "' is given twice");
    if (option.getValueExpectedFlag() != cl::ValueRequired) {
      if (hasValue && !isFlagValue(value))
        return makeUsageFault("option '--" + name + "' is a flag and takes " +
                              "no value " + quoteName(value));
      continue;
    }
    if (!hasValue) {
      if (++i == arguments.size())
        return makeUsageFault("option '--" + name + "' needs a value");
      value = arguments[i];
    }
    if (value.empty())
      return makeUsageFault("option '--" + name + "' has an empty value");
  }
  return llvm::Error::success();
}
