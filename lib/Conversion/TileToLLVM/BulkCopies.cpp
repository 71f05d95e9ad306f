//===- BulkCopies.cpp - Copies by tensor maps -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map has four dimensions: channels, heads, tokens and sequences. One
// with a distance of 0 has an extent of 1, so that its coordinate is 0.
//
//===----------------------------------------------------------------------===//

#include "ProgramEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace larc::tile;

void ProgramEmitter::markMap(LLVM::LLVMFuncOp kernel, unsigned parameter) {
  constexpr unsigned bytes = 128, alignment = 64;
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  kernel.setArgAttr(parameter, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(type));
  kernel.setArgAttr(parameter, LLVM::LLVMDialect::getAlignAttrName(),
                    builder.getI64IntegerAttr(alignment));
  kernel.setArgAttr(parameter, NVVM::NVVMDialect::getGridConstantAttrName(),
                    builder.getUnitAttr());
}

/// `number`, or 0 where the distance between two is 0.
static Value getCoordinate(OpBuilder &builder, Location loc, Value number,
                           Value distance) {
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
  Value repeats = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        distance, zero);
  return arith::SelectOp::create(builder, loc, repeats, none, number);
}

void ProgramEmitter::emitBoxes(CopyBulkOp op, Value map, Value target,
                               Value barrier, Value token) {
  unsigned argument = cast<BlockArgument>(op.getSource()).getArgNumber();
  unsigned first = getFirstParameter(argument);
  Value sequenceStride = kernelEntry->getArgument(first + 1);
  Value headStride = kernelEntry->getArgument(first + 3);
  Value group = kernelEntry->getArgument(first + 4);
  Value sequence = arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                           place.sequence);
  sequence = getCoordinate(builder, loc, sequence, sequenceStride);
  Value head =
      getCoordinate(builder, loc, divideSmall(place.head, group), headStride);
  SharedType type = op.getTarget().getType();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t perPanel = kBoxBytes / bytes;
  int64_t panels = llvm::divideCeil(type.getCols(), perPanel);
  Value col = scalars.lookupOrDefault(op.getCol());

  // One lane starts the copies of all panels.
  std::string text = "{ .reg .pred p; elect.sync _|p, 0xffffffff; ";
  std::string constraints = "r,l,r,r,r";
  llvm::raw_string_ostream stream(text), list(constraints);
  Values operands = {toWord(barrier), map, head, token, sequence};
  for (int64_t panel = 0; panel < panels; ++panel) {
    int64_t offset = panel * type.getRows() * kBoxBytes;
    Value place = LLVM::GEPOp::create(
        builder, loc, target.getType(), builder.getI8Type(), target,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    stream << "@p cp.async.bulk.tensor.4d.shared::cta.global.tile"
              ".mbarrier::complete_tx::bytes [$"
           << operands.size() << "], [$1, {$" << operands.size() + 1
           << ", $2, $3, $4}], [$0]; ";
    list << ",r,r";
    operands.append({toWord(place), toI32(add(col, index(panel * perPanel)))});
  }
  stream << "}";
  list << ",~{memory}";
  assembly(text, constraints, operands, {});
}

/// Boxes hold as many tokens as the target where all of them exist, and where
/// none exist behind them: what lies outside of a tensor reads as zero. Where
/// other sequences lie behind, rows are copied one by one, and those that do
/// not exist from outside of the tensor.
LogicalResult ProgramEmitter::emitCopyBulk(CopyBulkOp op) {
  if (computeCapability < kHopper)
    return op.emitOpError("needs a GPU of compute capability 9.0, found ")
           << computeCapability / 10 << "." << computeCapability % 10;
  SharedType type = op.getTarget().getType();
  Value barrier =
      getBarrierAddress(op.getPhases(), scalars.lookupOrDefault(op.getStage()));
  Value target = scalars.lookupOrDefault(op.getTarget());
  Value row = scalars.lookupOrDefault(op.getRow());
  assembly("{ .reg .pred p; elect.sync _|p, 0xffffffff; @p mbarrier.expect_tx"
           ".relaxed.cta.shared::cta.b64 [$0], " +
               std::to_string(type.getStageBytes()) + "; }",
           "r,~{memory}", {toWord(barrier)}, {});

  Value firstToken = arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                             place.firstToken);
  Value end = add(row, index(type.getRows()));
  Value exist = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                      end, length);
  Value offsets = kernelEntry->getArgument(0);
  Value null = LLVM::ZeroOp::create(builder, loc, offsets.getType());
  Value alone = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                     offsets, null);
  Value whole = arith::OrIOp::create(builder, loc, exist, alone);
  unsigned argument = cast<BlockArgument>(op.getSource()).getArgNumber();
  auto choose = [&](Value ofAll, Value ofRow) -> Value {
    return arith::SelectOp::create(builder, loc, whole, ofAll, ofRow);
  };
  Value map = choose(getMap(argument, false), getMap(argument, true));
  Value count = choose(index(1), index(type.getRows()));
  auto loop = scf::ForOp::create(builder, loc, index(0), count, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  // Where lanes meet nothing is unrolled: the loop runs once as a rule.
  NVVM::SyncWarpOp::create(builder, loc, i32(-1));
  Value number = loop.getInductionVar();
  Value at = add(row, number);
  Value exists = arith::OrIOp::create(
      builder, loc, whole,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, at,
                            length));
  Value token = arith::AddIOp::create(builder, loc, firstToken, toI32(at));
  token = arith::SelectOp::create(builder, loc, exists, token, i32(-1));
  Value line = LLVM::GEPOp::create(
      builder, loc, target.getType(), builder.getI8Type(), target,
      ArrayRef<LLVM::GEPArg>{toI32(multiply(number, kBoxBytes))});
  emitBoxes(op, map, line, barrier, token);
  return success();
}
