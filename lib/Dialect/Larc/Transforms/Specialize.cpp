//===- Specialize.cpp - Sets attributes and resolves variants -*- C++ -*- -===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"
#include "larc/Support/Error.h"
#include "larc/Support/Spelling.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_SPECIALIZE
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

//===----------------------------------------------------------------------===//
// Attribute values
//===----------------------------------------------------------------------===//

static llvm::Expected<int64_t> parseInteger(StringRef name, StringRef text,
                                            int64_t smallest) {
  int64_t value;
  if (text.trim().getAsInteger(10, value) || value < smallest)
    return makeFault("attribute " + quoteName(name) +
                     " needs an integer from " + Twine(smallest) + " on, not " +
                     quoteName(text));
  return value;
}

static llvm::Expected<Attribute> parseSchedule(Builder &builder, StringRef name,
                                               StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  SmallVector<int64_t> entries;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t entry;
    if (part.trim().getAsInteger(10, entry))
      return makeFault("entry " + Twine(i) + " of " + quoteName(name) +
                       " is no integer: " + quoteName(part));
    if (i == 0 && entry != 1)
      return makeFault("entry 0 of " + quoteName(name) + " is " + Twine(entry) +
                       ": a schedule starts at 1");
    if (i != 0 && entry <= entries.back())
      return makeFault("entry " + Twine(i) + " of " + quoteName(name) + " is " +
                       Twine(entry) + " after " + Twine(entries.back()) +
                       ": a schedule increases strictly");
    entries.push_back(entry);
  }
  return builder.getDenseI64ArrayAttr(entries);
}

llvm::Expected<Attribute> larc::parseAttributeValue(AttributeDeclAttr decl,
                                                    StringRef text) {
  Builder builder(decl.getContext());
  StringRef name = decl.getName();
  switch (decl.getKind()) {
  case AttributeKind::Real: {
    double value;
    if (text.trim().getAsDouble(value))
      return makeFault("attribute " + quoteName(name) +
                       " needs a number, not " + quoteName(text));
    return builder.getF64FloatAttr(value);
  }
  case AttributeKind::Integer:
  case AttributeKind::Period: {
    auto value = parseInteger(name, text,
                              decl.getKind() == AttributeKind::Period ? 1 : 0);
    if (!value)
      return value.takeError();
    return builder.getI64IntegerAttr(*value);
  }
  case AttributeKind::Choice: {
    StringAttr value = builder.getStringAttr(text.trim());
    if (llvm::is_contained(decl.getChoices(), value))
      return value;
    std::string choices;
    llvm::interleave(
        decl.getChoices(),
        [&](StringAttr choice) { choices += choice.getValue(); },
        [&] { choices += ", "; });
    return makeFault("attribute " + quoteName(name) + " has no value " +
                     quoteName(text) + ": expected one of " + choices);
  }
  case AttributeKind::Schedule:
    return parseSchedule(builder, name, text);
  }
  return makeFault("attribute " + quoteName(name) + " has an unknown kind");
}

//===----------------------------------------------------------------------===//
// Specialisation
//===----------------------------------------------------------------------===//

static LogicalResult setAttributes(RecurrenceOp op, AttributeValues values) {
  SmallVector<Attribute> decls(op.getAttributeDecls().getValue());
  for (const auto &[name, text] : values) {
    const std::string &wanted = name;
    auto *it = llvm::find_if(decls, [&](Attribute decl) {
      return cast<AttributeDeclAttr>(decl).getName() == wanted;
    });
    if (it == decls.end())
      return op.emitError() << "recurrence '" << op.getSymName()
                            << "' has no attribute '" << name << "'";
    llvm::Expected<Attribute> value =
        parseAttributeValue(cast<AttributeDeclAttr>(*it), text);
    if (!value)
      return op.emitError() << llvm::toString(value.takeError());
    *it = cast<AttributeDeclAttr>(*it).withValue(*value);
  }
  op.setAttributeDeclsAttr(ArrayAttr::get(op.getContext(), decls));
  // A schedule may have become too short for a family.
  return op.verify();
}

/// Replaces `op` by the region of the attribute's value.
static void resolveChoice(ChooseOp op, StringAttr value) {
  for (auto [labels, region] : llvm::zip(op.getCases(), op.getRegions())) {
    if (!llvm::is_contained(cast<ArrayAttr>(labels), value))
      continue;
    Block &block = region.front();
    auto yield = cast<YieldOp>(block.getTerminator());
    SmallVector<Value> results(yield.getValues());
    yield.erase();
    op->getBlock()->getOperations().splice(Block::iterator(op),
                                           block.getOperations());
    op.replaceAllUsesWith(results);
    op.erase();
    return;
  }
}

LogicalResult larc::specialize(RecurrenceOp op, AttributeValues values) {
  if (failed(setAttributes(op, values)))
    return failure();
  // Outer choices first, so that inner ones of variants not chosen disappear
  // with them.
  while (true) {
    ChooseOp choice;
    op.getBody().walk<WalkOrder::PreOrder>([&](ChooseOp found) {
      choice = found;
      return WalkResult::interrupt();
    });
    if (!choice)
      break;
    AttributeDeclAttr decl = op.lookupAttribute(choice.getAttribute());
    resolveChoice(choice, cast<StringAttr>(decl.getValue()));
  }
  WalkResult iterations = op.getBody().walk([&](OrthogonalizeOp orthogonalize) {
    auto name = dyn_cast<StringAttr>(orthogonalize.getIterations());
    if (!name)
      return WalkResult::advance();
    orthogonalize.setIterationsAttr(op.lookupAttribute(name).getValue());
    return WalkResult(orthogonalize.verify());
  });
  if (iterations.wasInterrupted())
    return failure();
  if (op.getPeriod() == 1) {
    op.getBody().walk([&](AnchorOp anchor) {
      anchor.replaceAllUsesWith(anchor.getState());
      anchor.erase();
    });
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SpecializePass : larc::impl::SpecializeBase<SpecializePass> {
  using SpecializeBase::SpecializeBase;

  void runOnOperation() override {
    SmallVector<std::pair<std::string, std::string>> values;
    SmallVector<StringRef> parts;
    StringRef(attributes).split(parts, ';', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      auto [name, value] = part.split('=');
      values.emplace_back(name.trim().str(), value.trim().str());
    }
    if (failed(specialize(getOperation(), values)))
      signalPassFailure();
  }
};
} // namespace
