//===- LinearState.cpp - Chunk equations of a linear state -*- C++ -*- ----===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearState.h"

using namespace mlir;
using namespace larc;

/// Whether two products have the same factors, in any order.
static bool sameProduct(const Product &lhs, const Product &rhs) {
  auto same = [](ArrayRef<Value> left, ArrayRef<Value> right) {
    return left.size() == right.size() &&
           std::is_permutation(left.begin(), left.end(), right.begin());
  };
  return lhs.coefficient == rhs.coefficient && same(lhs.factors, rhs.factors) &&
         same(lhs.divisors, rhs.divisors);
}

static bool sameSum(const Sum &lhs, const Sum &rhs) {
  return lhs.size() == rhs.size() &&
         std::is_permutation(lhs.begin(), lhs.end(), rhs.begin(), sameProduct);
}

LinearState::LinearState(ChunkDeriver &deriver,
                         const StateTransition &transition)
    : deriver(deriver), build(deriver.build), transition(transition),
      stateArgument(deriver.scan.getStateArguments()[transition.state]),
      axes(arrayOf(stateArgument).getAxes()) {}

Value LinearState::cumulate(Value factors, bool backward) {
  if (!factors)
    return nullptr;
  return chunk::CumulateOp::create(
      build.builder, build.loc, factors, chunk::CombineKind::Product,
      deriver.getToken(), /*exclusive=*/true, backward);
}

Value LinearState::total(Value factors) {
  if (!factors)
    return nullptr;
  return chunk::TotalOp::create(build.builder, build.loc, factors,
                                chunk::CombineKind::Product,
                                deriver.getToken());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<LinearState::Sides> LinearState::splitDecay(const Sum &decay,
                                                          const View &view) {
  auto lookup = [&](Value value) { return deriver.get(value); };
  Sides sides;
  // The side of an array, by the axes that it has.
  auto place = [&](Value array, Operation *op) {
    bool onKey = hasAnyAxis(array, view.keyAxes);
    bool onValue = hasAnyAxis(array, view.valueAxes);
    if (onKey && onValue) {
      deriver.fail(op, "scales a state along axes that a read sums over and "
                       "axes that it keeps, with one factor");
      return false;
    }
    Value &side = onKey ? sides.key : onValue ? sides.value : sides.scalar;
    side = build.mul(side, array);
    return true;
  };
  Operation *step = deriver.recurrence;
  if (decay.size() != 1) {
    Value sum = deriver.materialize(build, decay, lookup);
    if (deriver.hasFailed() || !place(sum ? sum : build.constant(0.0), step))
      return std::nullopt;
  } else {
    const Product &product = decay.front();
    if (product.coefficient != 1.0)
      place(build.constant(product.coefficient), step);
    for (Value factor : product.factors) {
      Value array = deriver.get(factor);
      if (!array || !place(array, step))
        return std::nullopt;
    }
    for (Value divisor : product.divisors) {
      Value array = deriver.get(divisor);
      if (!array || !place(build.div(nullptr, array), step))
        return std::nullopt;
    }
  }
  for (Value *side : {&sides.key, &sides.value, &sides.scalar})
    if (*side)
      *side = deriver.perToken(*side);
  return sides;
}

bool LinearState::addWrites(ArrayRef<Product> products, const View &view,
                            SmallVectorImpl<KeyedWrite> &writes,
                            SmallVectorImpl<Straddling> &straddling) {
  for (const Product &product : products) {
    Product key, value, invariant;
    value.coefficient = product.coefficient;
    auto place = [&](Value factor, bool divides) {
      bool onKey = hasAnyAxis(factor, view.keyAxes);
      bool onValue = hasAnyAxis(factor, view.valueAxes);
      Product &part = onKey && onValue ? invariant : onKey ? key : value;
      (divides ? part.divisors.emplace_back(factor)
               : part.factors.emplace_back(factor));
      if (!onKey || !onValue || deriver.analysis.isInvariant(factor))
        return true;
      deriver.fail(factor.getDefiningOp(),
                   "writes an array over axes that a read sums over and axes "
                   "that it keeps, and is no product of one over each");
      return false;
    };
    for (Value factor : product.factors)
      if (!place(factor, /*divides=*/false))
        return false;
    for (Value divisor : product.divisors)
      if (!place(divisor, /*divides=*/true))
        return false;
    if (!invariant.factors.empty() || !invariant.divisors.empty()) {
      auto *part = llvm::find_if(straddling, [&](const Straddling &other) {
        return sameProduct(other.invariant, invariant);
      });
      if (part == straddling.end()) {
        straddling.push_back({invariant, {}, {}, {}, {}});
        part = &straddling.back();
      }
      part->written.push_back(key * value);
      continue;
    }
    auto *write = llvm::find_if(writes, [&](const KeyedWrite &other) {
      return sameProduct(other.key, key);
    });
    if (write == writes.end()) {
      writes.push_back({key, {}, {}, {}});
      write = &writes.back();
    }
    write->value.push_back(value);
  }
  return true;
}

LinearState::View *LinearState::getView(ArrayRef<StringAttr> given) {
  // Axes are a set; a type has them in order.
  ArrayRef<StringAttr> keyAxes =
      ArrayType::ofAxes(build.builder.getContext(), given).getAxes();
  for (std::unique_ptr<View> &view : views)
    if (llvm::equal(view->keyAxes, keyAxes))
      return view.get();
  auto view = std::make_unique<View>();
  view->keyAxes.assign(keyAxes.begin(), keyAxes.end());
  for (StringAttr axis : axes)
    if (!llvm::is_contained(keyAxes, axis))
      view->valueAxes.push_back(axis);
  std::optional<Sides> decay = splitDecay(transition.update->decay, *view);
  if (!decay || !addWrites(transition.update->writes, *view, view->writes,
                           view->straddling))
    return nullptr;
  view->decay = *decay;
  view->prefix = {cumulate(decay->key, false), cumulate(decay->value, false),
                  cumulate(decay->scalar, false)};
  View *result = views.emplace_back(std::move(view)).get();
  for (Straddling &part : result->straddling)
    if (!deriveStraddling(*result, part))
      return nullptr;
  // The first view's values are made by `derive`, which may have to solve for
  // them.
  if (views.size() > 1 && !fillValues(*result))
    return nullptr;
  return result;
}

Value LinearState::makeKey(const KeyedWrite &write, const View &view) {
  Value key = deriver.materialize(
      build, write.key, [&](Value value) { return deriver.get(value); });
  if (deriver.hasFailed())
    return nullptr;
  return deriver.perToken(key ? key : build.constant(1.0), view.keyAxes);
}

Value LinearState::makeValue(const KeyedWrite &write, const View &view) {
  Value value = deriver.materialize(
      build, write.value, [&](Value factor) { return deriver.get(factor); });
  if (deriver.hasFailed())
    return nullptr;
  return deriver.perToken(value ? value : build.constant(0.0), view.valueAxes);
}

bool LinearState::fillValues(View &view) {
  for (KeyedWrite &write : view.writes) {
    write.keyArray = makeKey(write, view);
    write.valueArray = makeValue(write, view);
    if (!write.keyArray || !write.valueArray)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Straddling writes
//===----------------------------------------------------------------------===//

bool LinearState::deriveStraddling(View &view, Straddling &part) {
  auto lookup = [&](Value value) { return deriver.get(value); };
  part.invariantArray = deriver.materialize(build, part.invariant, lookup);
  Value written = deriver.materialize(build, part.written, lookup);
  if (deriver.hasFailed())
    return false;
  Value decay =
      build.mul(view.decay.scalar, build.mul(view.decay.key, view.decay.value));
  written = deriver.perToken(written);
  ArrayType type = arrayOf(written);
  if (decay)
    type = ArrayType::unionOf(type, arrayOf(decay));
  ArrayType small = type.without(deriver.getToken());
  Value probe = build.broadcast(build.constant(0.0), small.getAxes());
  if (hasAnyAxis(probe, view.keyAxes) && hasAnyAxis(probe, view.valueAxes)) {
    deriver.fail(deriver.recurrence,
                 "writes a matrix of the period times arrays over both of its "
                 "sides");
    return false;
  }
  written = build.broadcast(written, small.getAxes());

  auto *body = new Block();
  SmallVector<Value> over = {written};
  Value addend = body->addArgument(small, build.loc), factor;
  if (decay) {
    over.push_back(decay);
    factor = body->addArgument(arrayOf(decay).without(deriver.getToken()),
                               build.loc);
  }
  Value old = body->addArgument(small, build.loc);
  // No block of a region yet, so that it cannot tell the context.
  OpBuilder inner(written.getContext());
  inner.setInsertionPointToEnd(body);
  ArrayBuilder step(inner, build.loc);
  Value next = step.add(step.mul(factor, old), addend);
  chunk::YieldOp::create(inner, build.loc, ValueRange{next, old});
  auto loop = chunk::TokensOp::create(
      build.builder, build.loc, TypeRange{small, arrayOf(written)}, over,
      ValueRange(probe), deriver.getToken(), /*semiring=*/true);
  loop.getBody().push_back(body);
  part.end = loop.getResult(0);
  part.before = loop.getResult(1);
  return true;
}

Value LinearState::readStraddling(const NormalRead &read,
                                  const Straddling &part,
                                  ArrayRef<Straddling> own) {
  Value small = build.mul(read.pointDecay.scalar, part.before);
  small = build.mul(read.pointDecay.key, small);
  small = build.mul(read.pointDecay.value, small);
  for (const Straddling &write : own)
    if (sameProduct(write.invariant, part.invariant))
      small = build.add(
          small, deriver.materialize(build, write.written, [&](Value value) {
            return deriver.get(value);
          }));
  if (deriver.hasFailed())
    return nullptr;
  if (hasAnyAxis(small, read.view->valueAxes))
    return build.mul(
        build.contract(part.invariantArray, read.plain, read.view->keyAxes),
        small);
  return build.contract(build.mul(read.plain, small), part.invariantArray,
                        read.view->keyAxes);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

std::optional<LinearState::NormalRead>
LinearState::normalize(const Read &read) {
  NormalRead result;
  View *view = result.view = getView(read.axes);
  if (!view)
    return std::nullopt;
  Product plain, factor;
  plain.coefficient = read.coefficient.coefficient;
  auto place = [&](Value value, bool divides) {
    bool onKey = hasAnyAxis(value, view->keyAxes);
    if (onKey && hasAnyAxis(value, view->valueAxes)) {
      deriver.fail(read.op, "reads a state with an array over axes that it "
                            "sums over and axes that it keeps");
      return false;
    }
    Product &part = onKey ? plain : factor;
    (divides ? part.divisors.emplace_back(value)
             : part.factors.emplace_back(value));
    return true;
  };
  for (Value value : read.coefficient.factors)
    if (!place(value, false))
      return std::nullopt;
  for (Value value : read.coefficient.divisors)
    if (!place(value, true))
      return std::nullopt;
  auto lookup = [&](Value value) { return deriver.get(value); };
  Value reader = deriver.materialize(build, plain, lookup);
  result.factor = deriver.materialize(build, factor, lookup);
  std::optional<Sides> pointDecay = splitDecay(read.form.decay, *view);
  if (deriver.hasFailed() || !pointDecay)
    return std::nullopt;
  result.plain =
      deriver.perToken(reader ? reader : build.constant(1.0), view->keyAxes);
  result.pointDecay = *pointDecay;
  result.reader =
      build.mul(build.mul(result.plain, pointDecay->key), pointDecay->scalar);
  SmallVector<Straddling> ownStraddling;
  if (!addWrites(read.form.writes, *view, result.own, ownStraddling))
    return std::nullopt;
  for (const Straddling &part : view->straddling)
    result.straddling = build.add(result.straddling,
                                  readStraddling(result, part, ownStraddling));
  if (deriver.hasFailed())
    return std::nullopt;
  result.past = makePast(result);
  return result;
}

Value LinearState::makePast(const NormalRead &read) {
  const View &view = *read.view;
  Value query =
      build.mul(build.mul(read.reader, view.prefix.key), view.prefix.scalar);
  return build.mul(build.contract(query, stateArgument, view.keyAxes),
                   view.prefix.value);
}

Value LinearState::makeScores(const NormalRead &read, const KeyedWrite &write,
                              Value diagonal) {
  SmallVector<Value> decays;
  for (Value decay : {read.view->decay.scalar, read.view->decay.key})
    if (decay)
      decays.push_back(decay);
  SmallVector<Attribute> summed(read.view->keyAxes.begin(),
                                read.view->keyAxes.end());
  return chunk::ScoresOp::create(build.builder, build.loc, read.reader,
                                 write.keyArray, decays, diagonal,
                                 build.builder.getArrayAttr(summed),
                                 deriver.getToken(), deriver.getSource());
}

Value LinearState::getRead(const Read &read) {
  std::optional<NormalRead> normal = normalize(read);
  if (!normal)
    return nullptr;
  View &view = *normal->view;
  Value sum = normal->past;
  SmallVector<Value> valueDecays;
  if (view.decay.value)
    valueDecays.push_back(view.decay.value);
  for (KeyedWrite &write : view.writes) {
    // The token's own write joins the others where it is the same one; unless
    // the point's decay still has to multiply those.
    Value diagonal;
    auto *own = llvm::find_if(normal->own, [&](const KeyedWrite &other) {
      return sameProduct(other.key, write.key) &&
             sameSum(other.value, write.value);
    });
    if (own != normal->own.end() && !normal->pointDecay.value) {
      diagonal = build.contract(normal->plain, write.keyArray, view.keyAxes);
      normal->own.erase(own);
    }
    Value scores = makeScores(*normal, write, diagonal);
    sum = chunk::MixOp::create(build.builder, build.loc, scores,
                               write.valueArray, valueDecays, sum,
                               deriver.getToken(), deriver.getSource());
  }
  sum = build.mul(sum, normal->pointDecay.value);
  for (const KeyedWrite &own : normal->own) {
    Value key = makeKey(own, view), value = makeValue(own, view);
    if (!key || !value)
      return nullptr;
    Value weight = build.contract(normal->plain, key, view.keyAxes);
    sum = build.add(sum, build.mul(weight, value));
  }
  sum = build.add(sum, normal->straddling);
  return build.mul(sum, normal->factor);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

LogicalResult LinearState::derive() {
  View *view = getView(transition.keyAxes);
  if (!view)
    return failure();
  bool hasInner = llvm::any_of(transition.reads,
                               [](const Read &read) { return read.isInner; });
  if (hasInner)
    return solve();
  return success(fillValues(*view));
}

Value LinearState::getEnd() {
  View &view = *views.front();
  Value keyAfter = cumulate(view.decay.key, /*backward=*/true);
  Value valueAfter = cumulate(view.decay.value, /*backward=*/true);
  Value scalarAfter = cumulate(view.decay.scalar, /*backward=*/true);
  SmallVector<Value> decays, keys, values;
  for (Value decay : {view.decay.scalar, view.decay.key, view.decay.value})
    if (decay)
      decays.push_back(total(decay));
  for (const KeyedWrite &write : view.writes) {
    keys.push_back(build.mul(build.mul(write.keyArray, keyAfter), scalarAfter));
    values.push_back(build.mul(write.valueArray, valueAfter));
  }
  Value end = chunk::UpdateOp::create(build.builder, build.loc, stateArgument,
                                      decays, keys, values, deriver.getToken());
  for (const Straddling &part : view.straddling)
    end = build.add(end, build.mul(part.invariantArray, part.end));
  return end;
}
