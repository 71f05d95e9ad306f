//===- Specs.cpp - Built-in and user specs ----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Specs/Specs.h"

#include "larc/Support/Error.h"
#include "larc/Support/SourceText.h"
#include "larc/Support/Spelling.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace larc;

//===----------------------------------------------------------------------===//
// The built-in specs
//===----------------------------------------------------------------------===//

static constexpr BuiltinSpec builtinSpecs[] = {
#define LARC_BUILTIN_SPEC(NAME, FILE, SOURCE) {NAME, SOURCE, FILE},
#include "BuiltinSpecs.inc"
#undef LARC_BUILTIN_SPEC
};

llvm::ArrayRef<BuiltinSpec> larc::getBuiltinSpecs() { return builtinSpecs; }

static const BuiltinSpec *lookupBuiltin(llvm::StringRef name) {
  auto *it = llvm::lower_bound(
      builtinSpecs, name, [](const BuiltinSpec &spec, llvm::StringRef name) {
        return spec.name < name;
      });
  return it != std::end(builtinSpecs) && it->name == name ? it : nullptr;
}

//===----------------------------------------------------------------------===//
// Names and paths
//===----------------------------------------------------------------------===//

namespace {
/// What the user wrote: a file and perhaps the name of a recurrence in it.
struct SpecPath {
  llvm::StringRef file;
  std::optional<llvm::StringRef> recurrence;
};
} // namespace

/// `FILE.mlir`, `FILE.mlir:NAME` or anything with a slash; nothing for a plain
/// name.
static std::optional<SpecPath> parsePath(llvm::StringRef name) {
  constexpr llvm::StringLiteral separator = ".mlir:";
  if (size_t at = name.rfind(separator); at != llvm::StringRef::npos) {
    size_t colon = at + separator.size() - 1;
    return SpecPath{name.take_front(colon), name.drop_front(colon + 1)};
  }
  if (name.ends_with(".mlir") || name.contains('/'))
    return SpecPath{name, std::nullopt};
  return std::nullopt;
}

/// `did you mean 'x'?` where some candidate is close.
static void suggest(std::vector<std::string> &notes, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates) {
  unsigned maxDistance = std::max<unsigned>(2, name.size() / 3);
  std::string closest = closestName(name, candidates, maxDistance);
  if (!closest.empty())
    notes.push_back("did you mean '" + closest + "'?");
}

static llvm::Error unknownName(llvm::StringRef name) {
  auto names = llvm::map_to_vector(
      builtinSpecs, [](const BuiltinSpec &spec) { return spec.name; });
  std::vector<std::string> notes;
  suggest(notes, name, names);
  notes.push_back("a spec is a name that 'larc list' shows, or a file that "
                  "ends in '.mlir'");
  return makeUsageFault("unknown spec " + quoteName(name), std::move(notes));
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Parses and verifies `buffer`. What is wrong goes to the context's diagnostic
/// handler.
static llvm::Expected<OwningOpRef<ModuleOp>>
parseModule(MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> buffer) {
  std::string file = buffer->getBufferIdentifier().str();
  if (llvm::Error error = checkSourceText(buffer->getBuffer(), file))
    return error;

  context.loadDialect<LarcDialect>();
  bool reported = false;
  ScopedDiagnosticHandler counter(&context, [&](Diagnostic &diagnostic) {
    reported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // Left to the handler below.
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (module)
    return module;
  return reported ? makeFault("") : makeFileFault(file, "not a spec");
}

/// The recurrence of `module` that `name` means, or the only one.
static llvm::Expected<RecurrenceOp>
findRecurrence(ModuleOp module, llvm::StringRef file,
               std::optional<llvm::StringRef> name) {
  SmallVector<RecurrenceOp> all(module.getOps<RecurrenceOp>());
  auto names =
      llvm::map_to_vector(all, [](RecurrenceOp op) { return op.getSymName(); });
  if (all.empty())
    return makeFileFault(file, "expected a larc.recurrence, found none");
  if (!name) {
    if (all.size() == 1)
      return all.front();
    std::string list = llvm::join(names, ", ");
    return makeFileFault(file,
                         "expected one recurrence, found " +
                             llvm::Twine(all.size()) + ": " + list,
                         {"name the one that is meant: '" +
                          (file + ":" + names.front()).str() + "'"});
  }
  for (RecurrenceOp op : all)
    if (op.getSymName() == *name)
      return op;
  std::vector<std::string> notes;
  suggest(notes, *name, names);
  notes.push_back("the file has " + llvm::join(names, ", "));
  return addFile(
      makeUsageFault("no recurrence " + quoteName(*name), std::move(notes)),
      file);
}

llvm::Expected<LoadedSpec> larc::loadSpec(MLIRContext &context,
                                          llvm::StringRef name) {
  SpecPath path;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (const BuiltinSpec *builtin = lookupBuiltin(name)) {
    path.file = builtin->file;
    buffer = llvm::MemoryBuffer::getMemBuffer(builtin->source, builtin->file);
  } else if (std::optional<SpecPath> parsed = parsePath(name)) {
    path = *parsed;
    auto read = llvm::MemoryBuffer::getFile(path.file);
    if (!read)
      return makeFileFault(path.file,
                           "cannot be read: " + read.getError().message());
    buffer = std::move(*read);
  } else {
    return unknownName(name);
  }

  llvm::Expected<OwningOpRef<ModuleOp>> module =
      parseModule(context, std::move(buffer));
  if (!module)
    return module.takeError();
  llvm::Expected<RecurrenceOp> recurrence =
      findRecurrence(**module, path.file, path.recurrence);
  if (!recurrence)
    return recurrence.takeError();
  return LoadedSpec{std::move(*module), *recurrence};
}
