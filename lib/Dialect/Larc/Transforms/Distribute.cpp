//===- Distribute.cpp - Distributes sums over products -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Dialect/Larc/Transforms/Dependence.h"
#include "larc/Dialect/Larc/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace larc;

namespace larc {
#define GEN_PASS_DEF_DISTRIBUTE
#include "larc/Dialect/Larc/Transforms/Passes.h.inc"
} // namespace larc

namespace {

/// A number times values.
struct Term {
  double coefficient = 1.0;
  SmallVector<Value, 4> factors;
};

/// Builds values before an operation.
struct TermBuilder {
  OpBuilder builder;
  Location loc;

  /// What is made is not what the spec's name of the operation's value means.
  explicit TermBuilder(Operation *op) : builder(op), loc(placeOf(op)) {}

  Value multiply(Value lhs, Value rhs) {
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    return MulOp::create(builder, loc, lhs, rhs);
  }
  Value number(double value) {
    return ConstantOp::create(builder, loc, builder.getF64FloatAttr(value));
  }
  /// The product of `factors`, those with fewer axes first; null without any.
  Value product(ArrayRef<Value> factors) {
    unsigned highest = 0;
    for (Value factor : factors)
      highest = std::max(highest, arrayOf(factor).getRank());
    Value result;
    for (unsigned rank = 0; rank <= highest; ++rank)
      for (Value factor : factors)
        if (arrayOf(factor).getRank() == rank)
          result = multiply(result, factor);
    return result;
  }
  Value contract(Value lhs, Value rhs, ArrayRef<StringAttr> axes) {
    SmallVector<Attribute> names(axes.begin(), axes.end());
    return ContractOp::create(builder, loc, lhs, rhs,
                              builder.getArrayAttr(names));
  }
  Value sum(Value operand, ArrayRef<StringAttr> axes) {
    SmallVector<Attribute> names(axes.begin(), axes.end());
    return ReduceOp::create(builder, loc, ReduceKind::Sum, operand,
                            builder.getArrayAttr(names));
  }
};

/// The rules, each applied once through the step. `Dependence` is made anew for
/// each, since they make values.
class Distributor {
public:
  explicit Distributor(RecurrenceOp recurrence)
      : recurrence(recurrence), dependence(recurrence) {}

  /// Applies the first rule that matches somewhere. False where none does.
  bool applyOne();

private:
  bool splitPower(ExpOp op);
  bool gatherFactors(Operation &op);
  bool contractProduct(ReduceOp op);
  bool distributeOverStates(Operation &op);
  bool sumInTurn(Operation &op);
  bool unrollWrite(ContractOp op);
  bool sliceOperands(SliceOp op);
  bool expandContraction(Operation &op);

  bool holdsMatrix(Value value) const;
  bool isSumOfStates(Value value) const;
  bool isLarge(Value value) const;
  bool expand(Value value, SmallVectorImpl<Term> &terms) const;
  Value buildTerm(TermBuilder &build, const Term &term,
                  ArrayRef<StringAttr> axes) const;
  void replace(Operation &op, Value value) {
    if (Operation *last = value.getDefiningOp())
      last->setLoc(op.getLoc());
    op.getResult(0).replaceAllUsesWith(value);
    op.erase();
  }

  RecurrenceOp recurrence;
  Dependence dependence;
};

} // namespace

static bool isSumReduction(Operation &op) {
  if (isa<ContractOp>(op))
    return true;
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::Sum;
}

static SmallVector<StringAttr> getSummedAxes(Operation &op) {
  return cast<ReductionOpInterface>(op).getReducedAxes();
}

bool Distributor::applyOne() {
  for (Operation &op : recurrence.getBody().front()) {
    if (auto power = dyn_cast<ExpOp>(op); power && splitPower(power))
      return true;
    if (auto slice = dyn_cast<SliceOp>(op); slice && sliceOperands(slice))
      return true;
    if (gatherFactors(op) || distributeOverStates(op))
      return true;
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && contractProduct(reduce))
      return true;
    if (!isSumReduction(op))
      continue;
    if (sumInTurn(op) || expandContraction(op))
      return true;
    if (auto contract = dyn_cast<ContractOp>(op);
        contract && unrollWrite(contract))
      return true;
  }
  return false;
}

/// Whether `value` holds the whole of a state over several axes.
bool Distributor::holdsMatrix(Value value) const {
  for (unsigned state : dependence.getWholes(value).set_bits())
    if (arrayOf(dependence.getState(state)).getRank() > 1)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// e^(x + y), over more axes than x and than y, times a state: e^x e^y.
bool Distributor::splitPower(ExpOp op) {
  auto sum = op.getOperand().getDefiningOp<AddOp>();
  if (!sum)
    return false;
  unsigned rank = arrayOf(op).getRank();
  if (arrayOf(sum.getLhs()).getRank() >= rank ||
      arrayOf(sum.getRhs()).getRank() >= rank || dependence.isInvariant(op))
    return false;
  bool scalesState = llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isa<MulOp>(user) && llvm::any_of(user->getOperands(), [&](Value v) {
             return v != op.getResult() && holdsMatrix(v);
           });
  });
  if (!scalesState)
    return false;
  TermBuilder build(op);
  Value lhs = ExpOp::create(build.builder, build.loc, sum.getLhs());
  Value rhs = ExpOp::create(build.builder, build.loc, sum.getRhs());
  replace(*op, build.multiply(lhs, rhs));
  return true;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Whether `value` adds arrays that hold different states and neither of which
/// the other's new value is made of.
bool Distributor::isSumOfStates(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<AddOp, SubOp>(op) || !holdsMatrix(op->getOperand(0)) ||
      !holdsMatrix(op->getOperand(1)))
    return false;
  return dependence.getWholes(op->getOperand(0)) !=
         dependence.getWholes(op->getOperand(1));
}

/// a X + b X, for a whole state X: (a + b) X, with one decay.
bool Distributor::gatherFactors(Operation &op) {
  if (!isa<AddOp, SubOp>(op))
    return false;
  // A value as a factor (null: 1) times a state.
  struct Scaled {
    Value factor, state;
  };
  auto takeApart = [&](Value value) -> Scaled {
    auto mul = value.getDefiningOp<MulOp>();
    if (!mul)
      return {nullptr, value};
    if (holdsMatrix(mul.getLhs()) && !holdsMatrix(mul.getRhs()))
      return {mul.getRhs(), mul.getLhs()};
    if (holdsMatrix(mul.getRhs()) && !holdsMatrix(mul.getLhs()))
      return {mul.getLhs(), mul.getRhs()};
    return {nullptr, value};
  };
  Value left = op.getOperand(0), right = op.getOperand(1);
  if (!holdsMatrix(left) || !holdsMatrix(right))
    return false;
  for (Scaled lhs : {Scaled{nullptr, left}, takeApart(left)})
    for (Scaled rhs : {Scaled{nullptr, right}, takeApart(right)}) {
      if (lhs.state != rhs.state)
        continue;
      TermBuilder build(&op);
      Value a = lhs.factor ? lhs.factor : build.number(1.0);
      Value b = rhs.factor ? rhs.factor : build.number(1.0);
      Value factor = isa<AddOp>(op)
                         ? Value(AddOp::create(build.builder, build.loc, a, b))
                         : Value(SubOp::create(build.builder, build.loc, a, b));
      replace(op, build.multiply(factor, lhs.state));
      return true;
    }
  return false;
}

/// The sum of a product with a whole state is a contraction.
bool Distributor::contractProduct(ReduceOp op) {
  auto mul = op.getOperand().getDefiningOp<MulOp>();
  if (!mul || op.getKind() != ReduceKind::Sum ||
      holdsMatrix(mul.getLhs()) == holdsMatrix(mul.getRhs()))
    return false;
  TermBuilder build(op);
  replace(*op, build.contract(mul.getLhs(), mul.getRhs(), op.getReducedAxes()));
  return true;
}

/// (X + Y) times b, or a sum of that, for two states X and Y.
bool Distributor::distributeOverStates(Operation &op) {
  if (!isa<MulOp>(op) && !isSumReduction(op))
    return false;
  for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i) {
    if (!isSumOfStates(op.getOperand(i)))
      continue;
    Operation *sum = op.getOperand(i).getDefiningOp();
    // Each part needs the axes that are summed over.
    if (isSumReduction(op))
      for (StringAttr axis : getSummedAxes(op))
        if (!arrayOf(sum->getOperand(0)).hasAxis(axis) ||
            !arrayOf(sum->getOperand(1)).hasAxis(axis))
          return false;
    TermBuilder build(&op);
    Value parts[2];
    for (unsigned part : {0u, 1u}) {
      Operation *copy = build.builder.clone(op);
      copy->setLoc(build.loc);
      copy->setOperand(i, sum->getOperand(part));
      ArrayType axes = ArrayType::scalar(op.getContext());
      for (Value operand : copy->getOperands())
        axes = ArrayType::unionOf(axes, arrayOf(operand));
      if (isSumReduction(op))
        axes = axes.without(getSummedAxes(op));
      copy->getResult(0).setType(axes);
      parts[part] = copy->getResult(0);
    }
    Value result =
        isa<AddOp>(sum)
            ? Value(AddOp::create(build.builder, build.loc, parts[0], parts[1]))
            : Value(
                  SubOp::create(build.builder, build.loc, parts[0], parts[1]));
    replace(op, result);
    return true;
  }
  return false;
}

/// The factors of `value` through larc.mul.
static void collectFactors(Value value, SmallVectorImpl<Value> &factors) {
  if (auto mul = value.getDefiningOp<MulOp>()) {
    collectFactors(mul.getLhs(), factors);
    collectFactors(mul.getRhs(), factors);
    return;
  }
  factors.push_back(value);
}

/// A sum over several axes of a state times factors that have one of them each:
/// over one axis after the other.
bool Distributor::sumInTurn(Operation &op) {
  SmallVector<StringAttr> axes = getSummedAxes(op);
  auto contract = dyn_cast<ContractOp>(op);
  if (axes.size() < 2 || !contract)
    return false;
  Value state = contract.getLhs(), other = contract.getRhs();
  if (!holdsMatrix(state))
    std::swap(state, other);
  if (!holdsMatrix(state) || holdsMatrix(other))
    return false;
  SmallVector<Value> factors, summed, rest;
  collectFactors(other, factors);
  auto countSummed = [&](Value factor) {
    return llvm::count_if(
        axes, [&](StringAttr axis) { return arrayOf(factor).hasAxis(axis); });
  };
  if (llvm::any_of(factors, [&](Value v) { return countSummed(v) > 1; }))
    return false;
  auto *axis = llvm::find_if(axes, [&](StringAttr name) {
    return arrayOf(state).hasAxis(name) &&
           llvm::any_of(factors, [&](Value factor) {
             return arrayOf(factor).hasAxis(name);
           });
  });
  if (axis == axes.end())
    return false;
  for (Value factor : factors)
    (arrayOf(factor).hasAxis(*axis) ? summed : rest).push_back(factor);
  TermBuilder build(&op);
  Value inner = build.contract(state, build.product(summed), *axis);
  SmallVector<StringAttr> remaining;
  for (StringAttr name : axes)
    if (name != *axis)
      remaining.push_back(name);
  Value factor = build.product(rest);
  replace(op, factor ? build.contract(inner, factor, remaining)
                     : build.sum(inner, remaining));
  return true;
}

/// The sum of several outer products that is added to a state, written out.
bool Distributor::unrollWrite(ContractOp op) {
  SmallVector<StringAttr> axes = op.getReducedAxes();
  std::optional<int64_t> size =
      axes.size() == 1 ? recurrence.getAxisSize(axes.front()) : std::nullopt;
  Value lhs = op.getLhs(), rhs = op.getRhs();
  unsigned rank = arrayOf(op).getRank();
  if (!size || *size > 16 || rank < 2 || dependence.isInvariant(op) ||
      holdsMatrix(lhs) || holdsMatrix(rhs) ||
      !arrayOf(lhs).hasAxis(axes.front()) ||
      !arrayOf(rhs).hasAxis(axes.front()) || arrayOf(lhs).getRank() > rank ||
      arrayOf(rhs).getRank() > rank)
    return false;
  bool isWrite = llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isa<AddOp, SubOp, MulOp, NegOp>(user) &&
           holdsMatrix(user->getResult(0));
  });
  if (!isWrite)
    return false;
  TermBuilder build(op);
  Value sum;
  for (int64_t i = 0; i < *size; ++i) {
    auto slice = [&](Value array) -> Value {
      return SliceOp::create(build.builder, build.loc, array, axes.front(),
                             Value(), static_cast<uint64_t>(i));
    };
    Value product = build.multiply(slice(lhs), slice(rhs));
    sum = sum ? Value(AddOp::create(build.builder, build.loc, sum, product))
              : product;
  }
  replace(*op, sum);
  return true;
}

/// A slice of what is made from a read: made from slices, so that each of
/// several reads is one of its own.
bool Distributor::sliceOperands(SliceOp op) {
  Operation *def = op.getOperand().getDefiningOp();
  if (!def || op.getIndex() || dependence.getStates(op).none() ||
      !isa<ElementwiseOpInterface, ContractOp, ReduceOp>(def) ||
      isa<BroadcastOp>(def))
    return false;
  // A contraction may sum over an axis of the same name inside.
  if (isSumReduction(*def) || isa<ReduceOp>(def))
    if (llvm::is_contained(getSummedAxes(*def), op.getAxisAttr()))
      return false;
  TermBuilder build(op);
  IRMapping mapping;
  for (Value operand : def->getOperands())
    if (arrayOf(operand).hasAxis(op.getAxisAttr()))
      mapping.map(operand,
                  SliceOp::create(build.builder, build.loc, operand,
                                  op.getAxisAttr(), Value(), op.getOffset()));
  Operation *copy = build.builder.clone(*def, mapping);
  copy->getResult(0).setType(op.getType());
  replace(*op, copy->getResult(0));
  return true;
}

//===----------------------------------------------------------------------===//
// Large arrays
//===----------------------------------------------------------------------===//

/// The sum of products that the operation of `value` is, or nothing.
static SmallVector<Term> expandOnce(Value value, OpBuilder *builder) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isa<MulOp>(op))
    return {{1.0, {op->getOperand(0), op->getOperand(1)}}};
  if (isa<SquareOp>(op))
    return {{1.0, {op->getOperand(0), op->getOperand(0)}}};
  if (isa<NegOp>(op))
    return {{-1.0, {op->getOperand(0)}}};
  if (isa<AddOp, SubOp>(op))
    return {{1.0, {op->getOperand(0)}},
            {isa<SubOp>(op) ? -1.0 : 1.0, {op->getOperand(1)}}};
  if (auto div = dyn_cast<DivOp>(op)) {
    if (!builder)
      return {{1.0, {div.getLhs(), div.getRhs()}}};
    return {{1.0,
             {div.getLhs(),
              ReciprocalOp::create(*builder, div.getLoc(), div.getRhs())}}};
  }
  return {};
}

/// Whether every token has an array `value` of its own that is made of products
/// and sums of smaller ones, over fewer axes, or of what tokens share.
bool Distributor::isLarge(Value value) const {
  unsigned rank = arrayOf(value).getRank();
  if (rank < 2 || dependence.isInvariant(value) ||
      dependence.getStates(value).any())
    return false;
  SmallVector<Value> worklist = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value part = worklist.pop_back_val();
    if (!seen.insert(part).second || dependence.isInvariant(part) ||
        arrayOf(part).getRank() < rank)
      continue;
    SmallVector<Term> terms = expandOnce(part, nullptr);
    if (terms.empty())
      return false;
    for (const Term &term : terms)
      llvm::append_range(worklist, term.factors);
  }
  return true;
}

/// A sum of products without large arrays, or false where there is none.
bool Distributor::expand(Value value, SmallVectorImpl<Term> &terms) const {
  constexpr size_t maxTerms = 32;
  SmallVector<Term> open = {{1.0, {value}}};
  OpBuilder builder(value.getContext());
  while (!open.empty()) {
    Term term = open.pop_back_val();
    auto *factor = llvm::find_if(term.factors,
                                 [&](Value array) { return isLarge(array); });
    if (factor == term.factors.end()) {
      terms.push_back(std::move(term));
      continue;
    }
    if (terms.size() + open.size() > maxTerms)
      return false;
    Operation *op = factor->getDefiningOp();
    // Reciprocals stand where the quotient stood.
    builder.setInsertionPoint(op);
    SmallVector<Term> parts = expandOnce(*factor, &builder);
    term.factors.erase(factor);
    for (Term &part : llvm::reverse(parts)) {
      part.coefficient *= term.coefficient;
      llvm::append_range(part.factors, term.factors);
      open.push_back(std::move(part));
    }
  }
  return true;
}

Value Distributor::buildTerm(TermBuilder &build, const Term &term,
                             ArrayRef<StringAttr> axes) const {
  SmallVector<Value> factors(term.factors.begin(), term.factors.end());
  for (StringAttr axis : axes) {
    // What tokens share is one side of the contraction, what they have of
    // their own the other.
    SmallVector<Value> rest, own, shared;
    for (Value factor : factors)
      (!arrayOf(factor).hasAxis(axis)   ? rest
       : dependence.isInvariant(factor) ? shared
                                        : own)
          .push_back(factor);
    if (own.empty() && shared.empty())
      return nullptr;
    if (own.empty() || shared.empty()) {
      SmallVector<Value> &all = own.empty() ? shared : own;
      Value last = all.pop_back_val();
      rest.push_back(all.empty()
                         ? build.sum(last, axis)
                         : build.contract(build.product(all), last, axis));
    } else {
      rest.push_back(
          build.contract(build.product(own), build.product(shared), axis));
    }
    factors = std::move(rest);
  }
  if (term.coefficient != 1.0)
    factors.push_back(build.number(term.coefficient));
  return build.product(factors);
}

/// A sum over axes of large arrays, as sums over products of their parts.
bool Distributor::expandContraction(Operation &op) {
  if (llvm::none_of(op.getOperands(), [&](Value v) { return isLarge(v); }) ||
      llvm::any_of(op.getOperands(),
                   [&](Value v) { return dependence.getStates(v).any(); }))
    return false;
  SmallVector<Term> terms = {Term()};
  for (Value operand : op.getOperands()) {
    SmallVector<Term> parts, products;
    if (!expand(operand, parts) || parts.size() * terms.size() > 64)
      return false;
    for (const Term &lhs : terms)
      for (const Term &rhs : parts) {
        Term product = lhs;
        product.coefficient *= rhs.coefficient;
        llvm::append_range(product.factors, rhs.factors);
        products.push_back(std::move(product));
      }
    terms = std::move(products);
  }
  // Terms of the same factors are one.
  SmallVector<Term> merged;
  for (const Term &term : terms) {
    auto *same = llvm::find_if(merged, [&](const Term &other) {
      return other.factors.size() == term.factors.size() &&
             std::is_permutation(other.factors.begin(), other.factors.end(),
                                 term.factors.begin());
    });
    if (same != merged.end())
      same->coefficient += term.coefficient;
    else
      merged.push_back(term);
  }
  // Every part needs the axes that are summed over.
  SmallVector<StringAttr> axes = getSummedAxes(op);
  for (const Term &term : merged)
    for (StringAttr axis : axes)
      if (llvm::none_of(term.factors, [&](Value factor) {
            return arrayOf(factor).hasAxis(axis);
          }))
        return false;
  TermBuilder build(&op);
  Value sum;
  for (const Term &term : merged) {
    Value value = buildTerm(build, term, axes);
    sum = sum ? Value(AddOp::create(build.builder, build.loc, sum, value))
              : value;
  }
  if (sum.getType() != op.getResult(0).getType())
    return false;
  replace(op, sum);
  return true;
}

namespace {
struct DistributePass : larc::impl::DistributeBase<DistributePass> {
  void runOnOperation() override {
    // Each rewrite leaves less to rewrite; the limit is for safety.
    for (unsigned step = 0; step < 1000; ++step)
      if (!Distributor(getOperation()).applyOne())
        return;
  }
};
} // namespace
