//===- OutlineLoops.cpp - Functions for the loops of long programs -*- C++ -*-//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What LLVM does to a function takes more than twice as long if the function
// has twice as many loops. A chunk of many blocks is a long program, and its
// blocks do the same on other memory; so its loops become functions of the
// memory they work on, one for all loops that are the same.
//
//===----------------------------------------------------------------------===//

#include "larc/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "larc/Conversion/Passes.h.inc"
} // namespace larc

namespace {

/// What a loop does, whatever values from outside it does that to: two loops
/// with equal descriptions are the same function of their `arguments`.
class LoopDescription {
public:
  explicit LoopDescription(Operation *loop) { describe(loop); }

  using Words = std::vector<const void *>;
  const Words &getWords() const { return words; }
  /// Values from outside, in the order of their first use.
  ArrayRef<Value> getArguments() const { return arguments; }
  /// Constants from outside, which the description has.
  ArrayRef<Operation *> getConstants() const { return constants; }

private:
  void addNumber(uintptr_t number) {
    words.push_back(reinterpret_cast<const void *>(number));
  }
  void addType(Type type) { words.push_back(type.getAsOpaquePointer()); }
  void addUse(Value value);
  void describe(Operation *op);

  Words words;
  DenseMap<Value, unsigned> numbers;
  SmallVector<Value> arguments;
  SmallVector<Operation *> constants;
};

} // namespace

void LoopDescription::addUse(Value value) {
  auto [it, isNew] = numbers.try_emplace(value, numbers.size());
  addNumber(it->second);
  if (!isNew)
    return;
  addType(value.getType());
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    words.push_back(constant.getAsOpaquePointer());
    constants.push_back(value.getDefiningOp());
  } else {
    addNumber(0);
    arguments.push_back(value);
  }
}

void LoopDescription::describe(Operation *op) {
  words.push_back(op->getName().getAsOpaquePointer());
  words.push_back(op->getAttrDictionary().getAsOpaquePointer());
  addNumber(op->getNumOperands());
  for (Value operand : op->getOperands())
    addUse(operand);
  addNumber(op->getNumResults());
  for (Value result : op->getResults()) {
    numbers.try_emplace(result, numbers.size());
    addType(result.getType());
  }
  for (Region &region : op->getRegions()) {
    addNumber(llvm::range_size(region));
    for (Block &block : region) {
      addNumber(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        numbers.try_emplace(argument, numbers.size());
        addType(argument.getType());
      }
      addNumber(block.getOperations().size());
      for (Operation &inside : block)
        describe(&inside);
    }
  }
}

static int64_t countOperations(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// The block with more operations directly inside than any operation of it has:
/// the body of the loop that is most of `function`.
static Block &findProgram(func::FuncOp function) {
  Block *block = &function.getBody().front();
  while (true) {
    int64_t total = 0, most = 0;
    Operation *largest = nullptr;
    for (Operation &op : *block) {
      int64_t count = countOperations(&op);
      total += count;
      if (count > most) {
        most = count;
        largest = &op;
      }
    }
    if (!largest || 2 * most <= total)
      return *block;
    Block *next = nullptr;
    int64_t mostInside = 0;
    for (Region &region : largest->getRegions())
      for (Block &inside : region) {
        int64_t count = 0;
        for (Operation &op : inside)
          count += countOperations(&op);
        if (count > mostInside) {
          mostInside = count;
          next = &inside;
        }
      }
    if (!next)
      return *block;
    block = next;
  }
}

namespace {
struct OutlineLoopsPass : larc::impl::OutlineLoopsBase<OutlineLoopsPass> {
  using OutlineLoopsBase::OutlineLoopsBase;

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && countOperations(function) >= leastProgram)
        outline(function);
  }

private:
  void outline(func::FuncOp function);
  /// The function that does what `loop` does.
  func::FuncOp makeFunction(func::FuncOp function, Operation *loop,
                            const LoopDescription &description,
                            SymbolTable &symbols);
};
} // namespace

func::FuncOp OutlineLoopsPass::makeFunction(func::FuncOp function,
                                            Operation *loop,
                                            const LoopDescription &description,
                                            SymbolTable &symbols) {
  OpBuilder builder(function);
  Location loc = loop->getLoc();
  ValueRange arguments(description.getArguments());
  auto part = func::FuncOp::create(
      builder, loc, (function.getSymName() + "_part").str(),
      builder.getFunctionType(TypeRange(arguments), {}));
  part.setPrivate();
  part->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  part->setAttr("llvm.linkage",
                LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
  symbols.insert(part);

  Block *body = part.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(arguments, body->getArguments());
  for (Operation *constant : description.getConstants())
    builder.clone(*constant, mapping);
  builder.clone(*loop, mapping);
  func::ReturnOp::create(builder, loc);
  return part;
}

void OutlineLoopsPass::outline(func::FuncOp function) {
  SymbolTable symbols(getOperation());
  std::map<LoopDescription::Words, func::FuncOp> parts;
  for (Operation &loop : llvm::make_early_inc_range(findProgram(function))) {
    if (loop.getNumRegions() == 0 || loop.getNumResults() != 0 ||
        countOperations(&loop) < leastLoop)
      continue;
    LoopDescription description(&loop);
    func::FuncOp &part = parts[description.getWords()];
    if (!part) {
      part = makeFunction(function, &loop, description, symbols);
      ++numFunctions;
    }
    OpBuilder builder(&loop);
    func::CallOp::create(builder, loop.getLoc(), part,
                         ValueRange(description.getArguments()));
    loop.erase();
    ++numLoops;
  }
}
