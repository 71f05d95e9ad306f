//===- Composition.cpp - States at the starts of segments -*- C++ -*- -----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between the program that sums up segments and the one that does them, one
// composes the records: that of each segment becomes the state at the start of
// the next, in place. Elements of a state have nothing to do with each other,
// so that the blocks of a sequence's segments divide them instead of its
// tokens. A warp goes through the records of a row or some one by one, many of
// which are on their way at a time.
//
//===----------------------------------------------------------------------===//

#include "StateRole.h"

using namespace mlir;
using namespace larc;

using tile::Dimension;
using tile::LayoutAttr;
using tile::RegType;

/// A lane has 16 bytes of a row.
static constexpr int64_t kVector = 4;
/// So many vectors of elements are read at once: of records, and of rows if
/// there are so few records.
static constexpr int64_t kAtOnce = 16;
static constexpr int64_t kFewRecords = 4;

namespace {

class Composer {
public:
  Composer(const ScanPlan &plan, OpBuilder builder, Value memory)
      : plan(plan), builder(builder), loc(plan.scan.getLoc()), memory(memory) {}

  void emit();

private:
  /// Whole rows of a state's record, and what they are multiplied by.
  struct Piece {
    Value added, rows, cols;
  };

  void emitState(const StateForm &state, Value number);
  void emitCols(const StateForm &state, Value number);
  void emitRows(const StateForm &state, Value number, int64_t records);
  Value emitRound(const StateForm &state, Value first, int64_t records,
                  Value tile);
  Piece loadPiece(const StateForm &state, Value record);
  Value compose(Value tile, const Piece &piece);
  Value load(Value record, Value row, Value col, RegType as,
             bool transposed = false);
  Value getRow(Value record, Value row);

  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }
  Value add(Value lhs, Value rhs) {
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
  Value multiply(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  }

  const ScanPlan &plan;
  OpBuilder builder;
  Location loc;
  Value memory;
  Value count, end;     ///< records of the sequence, and their rows
  int64_t firstRow = 0; ///< of the state in a record
  int64_t firstCol = 0, numCols = 0;
  Value row;    ///< the first of the warp's rows
  RegType type; ///< of them
};

} // namespace

Value Composer::getRow(Value record, Value of) {
  return add(multiply(record, index(getRecordRows(plan))), of);
}

/// Of records that do not exist, zeros.
Value Composer::load(Value record, Value of, Value col, RegType as,
                     bool transposed) {
  return tile::LoadOp::create(builder, loc, as, memory, getRow(record, of), col,
                              end, transposed);
}

Composer::Piece Composer::loadPiece(const StateForm &state, Value record) {
  Piece piece;
  piece.added = load(record, add(row, index(firstRow)), index(firstCol), type);
  int64_t decays = firstRow + plan.getAllPadded(state.rows);
  for (Value factor : state.update.getDecays()) {
    if (plan.getChannels(factor) == state.cols) {
      if (!piece.cols)
        piece.cols = load(record, index(decays), index(firstCol),
                          type.getSlice(Dimension::Cols));
    } else if (!piece.rows) {
      piece.rows = load(record, index(decays + 1), row,
                        type.getSlice(Dimension::Rows), /*transposed=*/true);
    }
  }
  return piece;
}

Value Composer::compose(Value tile, const Piece &piece) {
  SmallVector<Value> operands{piece.added, tile};
  for (Value factor : {piece.cols, piece.rows})
    if (factor)
      operands.push_back(factor);
  auto map = tile::MapOp::create(
      builder, loc, TypeRange(type), operands,
      [&](OpBuilder &inner, Location, ValueRange args) {
        Value kept = args[1];
        for (Value factor : args.drop_front(2))
          kept = arith::MulFOp::create(inner, loc, kept, factor,
                                       arith::FastMathFlags::contract);
        return SmallVector<Value>{arith::AddFOp::create(
            inner, loc, kept, args[0], arith::FastMathFlags::contract)};
      });
  return map->getResult(0);
}

/// Composes `records` records from `first` on with the state before.
Value Composer::emitRound(const StateForm &state, Value first, int64_t records,
                          Value tile) {
  SmallVector<Piece> pieces;
  for (int64_t i = 0; i < records; ++i)
    pieces.push_back(loadPiece(state, add(first, index(i))));
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    tile = compose(tile, piece);
    Value record = add(first, index(static_cast<int64_t>(i)));
    tile::StoreOp::create(builder, loc, tile, memory,
                          getRow(record, add(row, index(firstRow))),
                          index(firstCol), end, /*transposed=*/false);
  }
  return tile;
}

/// Composes `records` records at a time. `number` counts the warps of all of
/// the sequence's blocks, blocks first.
void Composer::emitRows(const StateForm &state, Value number, int64_t records) {
  int64_t cols = numCols;
  int64_t rowsOfVectors = kVector * LayoutAttr::kLanes / cols;
  int64_t rows = rowsOfVectors * kAtOnce / records;
  type = RegType::get(builder.getContext(), rows, cols, builder.getF32Type(),
                      LayoutAttr::getBlocked(builder.getContext(),
                                             rowsOfVectors, cols, kVector));
  auto loop =
      scf::ForOp::create(builder, loc, multiply(number, index(rows)),
                         index(plan.getSize(state.rows)),
                         multiply(count, index(kComposingWarps * rows)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  row = loop.getInductionVar();
  Value initial =
      load(index(0), add(row, index(firstRow)), index(firstCol), type);
  auto rounds = scf::ForOp::create(builder, loc, index(1), count,
                                   index(records), initial);
  builder.setInsertionPointToStart(rounds.getBody());
  Value next = emitRound(state, rounds.getInductionVar(), records,
                         rounds.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, next);
}

/// A warp has as many columns as its lanes have vectors.
void Composer::emitState(const StateForm &state, Value number) {
  int64_t all = plan.getAllPadded(state.cols);
  numCols = std::min(all, kVector * LayoutAttr::kLanes);
  for (firstCol = 0; firstCol < all; firstCol += numCols)
    emitCols(state, number);
}

void Composer::emitCols(const StateForm &state, Value number) {
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                      count, index(kFewRecords + 1));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), isFew,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, records] : {std::pair(branch.thenBlock(), kFewRecords),
                                std::pair(branch.elseBlock(), kAtOnce)}) {
    builder.setInsertionPointToEnd(block);
    auto end = scf::YieldOp::create(builder, loc);
    builder.setInsertionPoint(end);
    emitRows(state, number, records);
  }
}

void Composer::emit() {
  Value segment = tile::SegmentOp::create(builder, loc);
  count = tile::SegmentsOp::create(builder, loc);
  end = multiply(count, index(getRecordRows(plan)));
  Value warp = tile::WarpOp::create(builder, loc);
  Value number = add(multiply(warp, count), segment);
  for (const StateForm &state : plan.states) {
    emitState(state, number);
    firstRow += getRecordRows(plan, state);
  }
}

void larc::emitComposition(const ScanPlan &plan, OpBuilder builder,
                           Value memory) {
  Composer(plan, builder, memory).emit();
}
