//===- SplitBlocks.cpp - Secondary chunking -*- C++ -*- -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// With b the first token of the later of two halves, j < b <= i and d the
// decays,
//
//   product of d[l] over j < l < i
//     = (product over j < l < b) (product over b <= l < i)
//
// The first is a backward running product of the earlier half, the second a
// forward one of the later half: both are exact where d is 0, and no larger
// than 1 where d is.
//
// Rows beyond the last token are made but not read: operations that sum over
// tokens leave them out, and where the later half has a token, the earlier one
// is full, so that products to the boundary between them are complete.
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Chunk/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace larc;
using namespace larc::chunk;

namespace larc::chunk {
#define GEN_PASS_DEF_SPLITBLOCKS
#include "larc/Dialect/Chunk/Transforms/Passes.h.inc"
} // namespace larc::chunk

namespace {

/// Tokens [offset, offset + size) of a chunk.
struct Range {
  int64_t offset, size;
  bool operator==(const Range &other) const {
    return offset == other.offset && size == other.size;
  }
  bool contains(const Range &other) const {
    return other.offset >= offset && other.offset + other.size <= offset + size;
  }
};

/// The axes of an operation for tokens that read and tokens that wrote.
struct AxisPair {
  StringAttr token, source;
};

class BlockSplitter {
public:
  BlockSplitter(ScanOp scan, int64_t block)
      : scan(scan), block(block), builder(scan.getContext()) {}

  /// Splits what is to be split; returns how many operations that were.
  unsigned run();

private:
  /// Scores between the tokens `rows` that read and `columns` that wrote.
  struct Piece {
    Range rows, columns;
    Value value;
  };

  Range rangeOf(StringAttr axis) {
    TokenAxisAttr token = scan.lookupTokenAxis(axis);
    return {token.getOffset(), token.getSize()};
  }
  bool isLong(StringAttr token) { return rangeOf(token).size > block; }
  /// The axis over `range`; `whole` itself or one named after it.
  StringAttr axisOver(StringAttr whole, Range range);
  std::pair<Range, Range> halve(Range range);
  void appendLeaves(Range range, SmallVectorImpl<Range> &leaves);

  /// The rows `range` of `value`, which stays if it lacks the axis `axis`.
  Value rows(Value value, StringAttr axis, Range range);
  SmallVector<Value> rows(ValueRange values, StringAttr axis, Range range);
  /// Scores of readers `rows` and writers `columns`.
  Value block2D(Value scores, AxisPair axes, Range rows, Range columns);
  /// `value`, over tokens `range`, times the product of all decays from the
  /// first token of `range` to each (`backward`: from each to the last).
  Value scale(Value value, ValueRange decays, StringAttr axis, Range range,
              bool backward);
  Value add(Value lhs, Value rhs);
  Value stack(ValueRange parts, ArrayRef<Range> ranges, StringAttr axis);
  /// What tokens `later` read of the writes of `earlier`, summed over `terms`
  /// (scores and what was written, over the rows `earlier`).
  Value readEarlier(ArrayRef<std::pair<Value, Value>> terms, ValueRange decays,
                    AxisPair axes, Range earlier, Range later);

  void split(ScoresOp op);
  void collectPieces(ScoresOp op, Range range, SmallVectorImpl<Piece> &pieces);
  void split(MixOp op);
  void collectMixed(MixOp op, Range range, Value init,
                    SmallVectorImpl<Value> &leaves);
  void split(SolveOp op);
  /// Appends the results of the solve for each leaf of `range`. The pasts of
  /// its tokens begin with `inits` (null: with 0).
  void collectSolved(SolveOp op, Range range, ArrayRef<Value> inits,
                     SmallVectorImpl<SmallVector<Value>> &leaves);
  /// Result `index` of the leaves of a solve that make up `range`.
  Value stackLeaves(ArrayRef<SmallVector<Value>> leaves, unsigned index,
                    Range range, StringAttr axis);
  SmallVector<Value> solveLeaf(SolveOp op, Range range, ArrayRef<Value> inits);

  void replace(Operation *op, ValueRange values) {
    op->replaceAllUsesWith(values);
    replaced.push_back(op);
  }

  ScanOp scan;
  int64_t block;
  OpBuilder builder;
  Location loc = UnknownLoc::get(scan.getContext());
  /// Operations of the scan come before their users, so that what was made for
  /// one is there for later ones.
  DenseMap<std::pair<Value, StringAttr>, Value> rowsMade;
  /// Running products of decays, forward and backward.
  DenseMap<Value, Value> productsMade[2];
  /// Erased at the end, since the maps have their values as keys.
  SmallVector<Operation *> replaced;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ranges and rows
//===----------------------------------------------------------------------===//

StringAttr BlockSplitter::axisOver(StringAttr whole, Range range) {
  if (rangeOf(whole) == range)
    return whole;
  // `token_16` is a part of `token`.
  StringRef base = whole.getValue();
  while (true) {
    auto [front, number] = base.rsplit('_');
    if (front.empty() || number.empty() || !llvm::all_of(number, llvm::isDigit))
      break;
    base = front;
  }
  return scan.getOrAddTokenAxis(base, range.offset, range.size);
}

std::pair<Range, Range> BlockSplitter::halve(Range range) {
  // A pair of blocks is split where their numbers first differ in a bit.
  uint64_t numBlocks = llvm::divideCeil(range.size, block);
  auto size = static_cast<int64_t>(llvm::bit_floor(numBlocks - 1)) * block;
  return {{range.offset, size}, {range.offset + size, range.size - size}};
}

void BlockSplitter::appendLeaves(Range range, SmallVectorImpl<Range> &leaves) {
  if (range.size <= block) {
    leaves.push_back(range);
    return;
  }
  auto [earlier, later] = halve(range);
  appendLeaves(earlier, leaves);
  appendLeaves(later, leaves);
}

Value BlockSplitter::rows(Value value, StringAttr axis, Range range) {
  if (!value || !cast<ArrayType>(value.getType()).hasAxis(axis))
    return value;
  StringAttr to = axisOver(axis, range);
  if (to == axis)
    return value;
  Value &made = rowsMade[{value, to}];
  if (!made)
    made = builder.createOrFold<RowsOp>(loc, value, axis, to);
  return made;
}

SmallVector<Value> BlockSplitter::rows(ValueRange values, StringAttr axis,
                                       Range range) {
  return llvm::map_to_vector(
      values, [&](Value value) { return rows(value, axis, range); });
}

Value BlockSplitter::block2D(Value scores, AxisPair axes, Range readers,
                             Range writers) {
  return rows(rows(scores, axes.token, readers), axes.source, writers);
}

Value BlockSplitter::stack(ValueRange parts, ArrayRef<Range> ranges,
                           StringAttr axis) {
  SmallVector<Attribute> from;
  for (Range range : ranges)
    from.push_back(axisOver(axis, range));
  return builder.createOrFold<StackOp>(loc, parts, builder.getArrayAttr(from),
                                       axis);
}

Value BlockSplitter::add(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return AddOp::create(builder, loc, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Between two halves
//===----------------------------------------------------------------------===//

Value BlockSplitter::scale(Value value, ValueRange decays, StringAttr axis,
                           Range range, bool backward) {
  StringAttr token = axisOver(axis, range);
  for (Value decay : decays) {
    Value part = rows(decay, axis, range);
    Value &product = productsMade[backward ? 1 : 0][part];
    if (!product)
      product = CumulateOp::create(builder, loc, part, CombineKind::Product,
                                   token, /*exclusive=*/true, backward);
    value = MulOp::create(builder, loc, value, product);
  }
  return value;
}

Value BlockSplitter::readEarlier(ArrayRef<std::pair<Value, Value>> terms,
                                 ValueRange decays, AxisPair axes,
                                 Range earlier, Range later) {
  StringAttr token = axisOver(axes.token, earlier);
  StringAttr source = axisOver(axes.source, earlier);
  Value sum;
  for (auto [scores, written] : terms) {
    Value scaled = scale(written, decays, axes.token, earlier,
                         /*backward=*/true);
    Value writer = RenameOp::create(builder, loc, scaled, token, source);
    sum = add(sum, ContractOp::create(
                       builder, loc, block2D(scores, axes, later, earlier),
                       writer, builder.getStrArrayAttr(source.getValue())));
  }
  return scale(sum, decays, axes.token, later, /*backward=*/false);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

void BlockSplitter::collectPieces(ScoresOp op, Range range,
                                  SmallVectorImpl<Piece> &pieces) {
  AxisPair axes = {op.getTokenAttr(), op.getSourceAttr()};
  if (range.size <= block) {
    Value value = ScoresOp::create(
        builder, loc, rows(op.getReader(), axes.token, range),
        rows(op.getWriter(), axes.token, range),
        rows(op.getDecays(), axes.token, range),
        rows(op.getDiagonal(), axes.token, range), op.getAxesAttr(),
        axisOver(axes.token, range), axisOver(axes.source, range));
    pieces.push_back({range, range, value});
    return;
  }
  auto [earlier, later] = halve(range);
  collectPieces(op, earlier, pieces);
  Value reader = scale(rows(op.getReader(), axes.token, later), op.getDecays(),
                       axes.token, later, /*backward=*/false);
  Value scaled = scale(rows(op.getWriter(), axes.token, earlier),
                       op.getDecays(), axes.token, earlier, /*backward=*/true);
  Value writer =
      RenameOp::create(builder, loc, scaled, axisOver(axes.token, earlier),
                       axisOver(axes.source, earlier));
  pieces.push_back(
      {later, earlier,
       ContractOp::create(builder, loc, reader, writer, op.getAxesAttr())});
  collectPieces(op, later, pieces);
}

void BlockSplitter::split(ScoresOp op) {
  StringAttr token = op.getTokenAttr();
  SmallVector<Piece> pieces;
  collectPieces(op, rangeOf(token), pieces);
  SmallVector<Range> leaves;
  appendLeaves(rangeOf(token), leaves);
  SmallVector<Value> bands;
  for (Range leaf : leaves) {
    // Pieces in the order of columns are in the order of recursion.
    SmallVector<Value> parts;
    SmallVector<Range> columns;
    for (const Piece &piece : pieces) {
      if (!piece.rows.contains(leaf))
        continue;
      parts.push_back(rows(piece.value, axisOver(token, piece.rows), leaf));
      columns.push_back(piece.columns);
    }
    bands.push_back(stack(parts, columns, op.getSourceAttr()));
  }
  replace(op, stack(bands, leaves, token));
}

//===----------------------------------------------------------------------===//
// Mixes
//===----------------------------------------------------------------------===//

void BlockSplitter::collectMixed(MixOp op, Range range, Value init,
                                 SmallVectorImpl<Value> &leaves) {
  AxisPair axes = {op.getTokenAttr(), op.getSourceAttr()};
  StringAttr token = axisOver(axes.token, range);
  if (range.size <= block) {
    leaves.push_back(MixOp::create(builder, loc,
                                   block2D(op.getScores(), axes, range, range),
                                   rows(op.getValues(), axes.token, range),
                                   rows(op.getDecays(), axes.token, range),
                                   init, token, axisOver(axes.source, range)));
    return;
  }
  auto [earlier, later] = halve(range);
  collectMixed(op, earlier, rows(init, token, earlier), leaves);
  Value past =
      readEarlier({{op.getScores(), rows(op.getValues(), axes.token, earlier)}},
                  op.getDecays(), axes, earlier, later);
  collectMixed(op, later, add(rows(init, token, later), past), leaves);
}

void BlockSplitter::split(MixOp op) {
  StringAttr token = op.getTokenAttr();
  SmallVector<Range> leaves;
  appendLeaves(rangeOf(token), leaves);
  SmallVector<Value> mixed;
  collectMixed(op, rangeOf(token), op.getInit(), mixed);
  replace(op, stack(mixed, leaves, token));
}

//===----------------------------------------------------------------------===//
// Solves
//===----------------------------------------------------------------------===//

SmallVector<Value> BlockSplitter::solveLeaf(SolveOp op, Range range,
                                            ArrayRef<Value> inits) {
  AxisPair axes = {op.getTokenAttr(), op.getSourceAttr()};
  StringAttr token = axisOver(axes.token, range);
  SmallVector<Value> scores;
  for (Value value : op.getScores())
    scores.push_back(block2D(value, axes, range, range));
  SmallVector<Value> over = rows(op.getOver(), axes.token, range);
  llvm::copy_if(inits, std::back_inserter(over),
                [](Value init) { return init != nullptr; });
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(
        withAxis(cast<ArrayType>(type).without({axes.token}), token));
  auto leaf = SolveOp::create(builder, loc, types, scores, over,
                              rows(op.getDecays(), axes.token, range),
                              op.getPairs(), op.getNumWrites(), token,
                              axisOver(axes.source, range), op.getAffine());

  Block &body = leaf.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : op.getBody().getArguments())
    mapping.map(argument,
                body.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inner = OpBuilder::atBlockBegin(&body);
  for (auto [argument, init] : llvm::zip(op.getPastArguments(), inits)) {
    if (!init)
      continue;
    ArrayType type = cast<ArrayType>(init.getType()).without({token});
    Value before = body.addArgument(type, argument.getLoc());
    mapping.map(argument, AddOp::create(inner, argument.getLoc(), before,
                                        mapping.lookup(argument)));
  }
  for (Operation &inside : op.getBody().front())
    inner.clone(inside, mapping);
  return SmallVector<Value>(leaf.getResults());
}

Value BlockSplitter::stackLeaves(ArrayRef<SmallVector<Value>> leaves,
                                 unsigned index, Range range, StringAttr axis) {
  SmallVector<Value> parts;
  for (const SmallVector<Value> &results : leaves)
    parts.push_back(results[index]);
  if (parts.size() == 1)
    return parts.front();
  SmallVector<Range> ranges;
  appendLeaves(range, ranges);
  return stack(parts, ranges, axis);
}

void BlockSplitter::collectSolved(SolveOp op, Range range,
                                  ArrayRef<Value> inits,
                                  SmallVectorImpl<SmallVector<Value>> &leaves) {
  if (range.size <= block) {
    leaves.push_back(solveLeaf(op, range, inits));
    return;
  }
  AxisPair axes = {op.getTokenAttr(), op.getSourceAttr()};
  StringAttr token = axisOver(axes.token, range);
  auto [earlier, later] = halve(range);
  size_t before = leaves.size();
  collectSolved(op, earlier, rows(ValueRange(inits), token, earlier), leaves);
  SmallVector<Value> writes;
  for (unsigned i = 0, e = op.getNumWrites(); i < e; ++i)
    writes.push_back(stackLeaves(ArrayRef(leaves).drop_front(before), i,
                                 earlier, axisOver(axes.token, earlier)));
  SmallVector<Value> pasts;
  for (auto [read, init] : llvm::enumerate(inits)) {
    SmallVector<std::pair<Value, Value>> terms;
    for (auto [i, scores] : llvm::enumerate(op.getScores()))
      if (op.getPairs()[2 * i] == static_cast<int64_t>(read))
        terms.push_back({scores, writes[op.getPairs()[2 * i + 1]]});
    pasts.push_back(
        add(rows(init, token, later),
            readEarlier(terms, op.getDecays(), axes, earlier, later)));
  }
  collectSolved(op, later, pasts, leaves);
}

void BlockSplitter::split(SolveOp op) {
  Range range = rangeOf(op.getTokenAttr());
  SmallVector<Value> none(op.getPastArguments().size());
  SmallVector<SmallVector<Value>> leaves;
  collectSolved(op, range, none, leaves);
  SmallVector<Value> results;
  for (unsigned i = 0, e = op.getNumResults(); i < e; ++i)
    results.push_back(stackLeaves(leaves, i, range, op.getTokenAttr()));
  replace(op, results);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether a decay has any of `axes`.
template <typename Axes>
static bool anyHas(ValueRange decays, Axes &&axes) {
  return llvm::any_of(decays, [&](Value decay) {
    return llvm::any_of(axes, [&](Attribute axis) {
      return cast<ArrayType>(decay.getType()).hasAxis(cast<StringAttr>(axis));
    });
  });
}

unsigned BlockSplitter::run() {
  SmallVector<Operation *> operations;
  for (Operation &op : scan.getBody().front())
    operations.push_back(&op);
  for (Operation *op : operations) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    if (auto scores = dyn_cast<ScoresOp>(op)) {
      if (isLong(scores.getTokenAttr()) &&
          anyHas(scores.getDecays(), scores.getAxes()))
        split(scores);
    } else if (auto mix = dyn_cast<MixOp>(op)) {
      ArrayType axes = mix.getType().without({mix.getTokenAttr()});
      if (isLong(mix.getTokenAttr()) && anyHas(mix.getDecays(), axes.getAxes()))
        split(mix);
    } else if (auto solve = dyn_cast<SolveOp>(op)) {
      if (isLong(solve.getTokenAttr()))
        split(solve);
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  // Stacks that nothing reads as a whole, and rows of them.
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(scan.getBody().front().getOperations())))
    if (isa<StackOp, RowsOp>(op) && op.use_empty())
      op.erase();
  return replaced.size();
}

namespace {
struct SplitBlocksPass : chunk::impl::SplitBlocksBase<SplitBlocksPass> {
  using SplitBlocksBase::SplitBlocksBase;

  void runOnOperation() override {
    if (block < 1) {
      getOperation().emitError("blocks have at least one token, not ")
          << block.getValue();
      return signalPassFailure();
    }
    numSplit += BlockSplitter(getOperation(), block).run();
  }
};
} // namespace
