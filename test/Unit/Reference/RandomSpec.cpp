//===- RandomSpec.cpp - Recurrences made at random --------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomSpec.h"

#include "larc/Support/Random.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace larc;
using namespace larc::test;

namespace {

using Axes = std::set<std::string>;

struct Value {
  std::string name;
  Axes axes;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed, "spec") {}

  RandomSpec generate(int numOps);

private:
  int pick(int count) { return int(random.next() % uint64_t(count)); }
  bool chance(int percent) { return pick(100) < percent; }
  template <typename T>
  const T &oneOf(const std::vector<T> &list) {
    return list[pick(int(list.size()))];
  }
  std::string oneAxis(const Axes &axes) {
    return *std::next(axes.begin(), pick(int(axes.size())));
  }
  /// Some axes, at least one.
  Axes someAxes(const Axes &axes) {
    Axes chosen = {oneAxis(axes)};
    for (const std::string &axis : axes)
      if (chance(30))
        chosen.insert(axis);
    return chosen;
  }
  static Axes unite(Axes lhs, const Axes &rhs) {
    lhs.insert(rhs.begin(), rhs.end());
    return lhs;
  }
  static Axes subtract(Axes lhs, const Axes &rhs) {
    for (const std::string &axis : rhs)
      lhs.erase(axis);
    return lhs;
  }
  static std::string list(const Axes &axes) {
    std::string text;
    for (const std::string &axis : axes)
      text += (text.empty() ? "" : ", ") + axis;
    return text;
  }
  static std::string brackets(const Axes &axes) {
    return axes.empty() ? "" : "[" + list(axes) + "]";
  }

  /// Adds `%n = larc.<text>`.
  Value emit(const std::string &text, Axes axes) {
    Value value = {"%x" + std::to_string(counter++), std::move(axes)};
    body += indent + value.name + " = larc." + text + "\n";
    return value;
  }
  Value constant(const std::string &number) {
    return emit("constant " + number, {});
  }
  /// A random value of the enclosing regions.
  Value any() { return oneOf(pool); }
  Value anyWithAxis() {
    for (int tries = 0; tries < 20; ++tries)
      if (Value value = any(); !value.axes.empty())
        return value;
    return emit("broadcast " + any().name + " to [K]", Axes{"K"});
  }
  Value unary(const std::string &op, const Value &x) {
    return emit(op + " " + x.name, x.axes);
  }
  Value binary(const std::string &op, const Value &x, const Value &y) {
    return emit(op + " " + x.name + ", " + y.name, unite(x.axes, y.axes));
  }
  /// x, within (-1, 1).
  Value bound(const Value &x) {
    return chance(50) ? unary("tanh", x) : unary("sin", x);
  }
  /// A number above 0.4 made of x.
  Value positive(const Value &x) {
    return binary("add", unary("softplus", x), constant("0.4"));
  }
  /// x over exactly `axes`.
  Value fit(Value x, const Axes &axes) {
    Axes extra = subtract(x.axes, axes);
    if (!extra.empty())
      x = bound(emit("reduce sum " + x.name + " over " + list(extra),
                     subtract(x.axes, extra)));
    if (!subtract(axes, x.axes).empty())
      x = emit("broadcast " + x.name + " to [" + list(axes) + "]", axes);
    return x;
  }

  Value operation(int depth);
  Value fold();
  Value fire();

  Random random;
  int counter = 0;
  std::string body, indent = "  ";
  std::vector<Value> pool, states;
  bool hasPeriod = false;
};

Value Generator::fold() {
  Value source = anyWithAxis(), init = any();
  std::string axis = oneAxis(source.axes);
  Axes rest = subtract(source.axes, {axis});
  std::string id = std::to_string(counter++);
  std::string text = "fold " + axis + " over(%s" + id + " = " + source.name +
                     ") iter(%c" + id + " = " + init.name + ") {\n";
  std::string outerBody = std::exchange(body, "");
  std::vector<Value> outerPool = pool;
  indent += "  ";
  pool.push_back({"%s" + id, rest});
  pool.push_back({"%c" + id, init.axes});
  Value step = binary("mul", {"%s" + id, rest}, {"%c" + id, init.axes});
  Value other = binary("add", operation(1), bound(step));
  Value next = fit(bound(other), init.axes);
  body += indent + "larc.yield " + next.name + "\n";
  indent.resize(indent.size() - 2);
  pool = outerPool;
  std::string region = std::exchange(body, outerBody);
  return emit(text + region + indent + "}", init.axes);
}

Value Generator::fire() {
  Value init = any();
  std::string id = std::to_string(counter++);
  std::string text = "fire every " + std::to_string(1 + pick(2)) + " iter(%f" +
                     id + " = " + init.name + ") {\n";
  std::string outerBody = std::exchange(body, "");
  std::vector<Value> outerPool = pool;
  indent += "  ";
  pool.push_back({"%f" + id, init.axes});
  Value next =
      fit(binary("sub", operation(1), {"%f" + id, init.axes}), init.axes);
  body += indent + "larc.yield " + next.name + "\n";
  indent.resize(indent.size() - 2);
  pool = outerPool;
  std::string region = std::exchange(body, outerBody);
  return emit(text + region + indent + "}", init.axes);
}

Value Generator::operation(int depth) {
  switch (pick(depth ? 13 : 17)) {
  case 0:
    return unary(
        oneOf<std::string>({"neg", "abs", "sigmoid", "logsigmoid", "softplus",
                            "tanh", "relu", "sin", "cos", "erf"}),
        any());
  case 1:
    return bound(
        unary(oneOf<std::string>({"exp", "expm1", "square"}), bound(any())));
  case 2:
    return unary(
        oneOf<std::string>({"log", "log1p", "sqrt", "rsqrt", "reciprocal"}),
        positive(any()));
  case 3:
    return bound(
        binary(oneOf<std::string>({"add", "sub", "mul"}), any(), any()));
  case 4:
    return binary(oneOf<std::string>({"max", "min", "logaddexp"}), any(),
                  any());
  case 5:
    return bound(binary("div", any(), positive(any())));
  case 6: {
    Value lhs = any(), rhs = any(), x = any(), y = any();
    return emit("select " + lhs.name + " " +
                    oneOf<std::string>({"gt", "ge", "lt", "le"}) + " " +
                    rhs.name + ", " + x.name + ", " + y.name,
                unite(unite(lhs.axes, rhs.axes), unite(x.axes, y.axes)));
  }
  case 7: {
    Value x = anyWithAxis(), y = any();
    Axes all = unite(x.axes, y.axes), over = someAxes(all);
    return bound(
        emit("contract " + x.name + ", " + y.name + " over " + list(over),
             subtract(all, over)));
  }
  case 8: {
    Value x = anyWithAxis();
    Axes over = someAxes(x.axes);
    return bound(emit(oneOf<std::string>({"reduce sum ", "reduce max ",
                                          "reduce min ", "norm "}) +
                          x.name + " over " + list(over),
                      subtract(x.axes, over)));
  }
  case 9: {
    Value x = anyWithAxis();
    return emit(
        "normalize " + x.name + " over " + list(someAxes(x.axes)) +
            oneOf<std::string>({"", " max 0.3", " add 0.2", " inside 0.1"}),
        x.axes);
  }
  case 10: {
    Value x = anyWithAxis();
    return emit("softmax " + x.name + " over " + list(someAxes(x.axes)),
                x.axes);
  }
  case 11: {
    Value x = any();
    if (x.axes.size() < 2)
      x = emit("broadcast " + x.name + " to [K, V]", unite(x.axes, {"K", "V"}));
    // A broadcast matrix has rank 1; a diagonal would be as good.
    std::string rows = oneAxis(x.axes), columns = rows;
    while (columns == rows)
      columns = oneAxis(x.axes);
    std::string tail =
        chance(50) ? "" : " coefficients([1.8, -1.1, 0.3]) eps(0.1)";
    return emit("orthogonalize " + x.name + " over " + rows + ", " + columns +
                    " iterations(" + std::to_string(1 + pick(3)) + ")" + tail,
                x.axes);
  }
  case 12: {
    // The value meets itself along another axis.
    Value x = anyWithAxis();
    std::string axis = oneAxis(x.axes), other = axis + "2";
    if (x.axes.count(other) || axis.size() > 1)
      return bound(x);
    Axes axes = subtract(x.axes, {axis});
    axes.insert(other);
    Value renamed =
        emit("rename " + x.name + " " + axis + " to " + other, axes);
    Value product = binary("mul", renamed, x);
    return bound(emit("contract " + product.name + ", " + renamed.name +
                          " over " + other,
                      subtract(product.axes, {other})));
  }
  case 13: {
    Value x = anyWithAxis();
    std::string axis = oneAxis(x.axes);
    return emit("slice " + x.name + "[" + axis + " = " +
                    std::to_string(pick(2)) + "]",
                subtract(x.axes, {axis}));
  }
  case 14:
    return fold();
  case 15:
    return hasPeriod ? fire() : fold();
  default: {
    if (!hasPeriod)
      return fold();
    Value state = oneOf(states);
    return emit("anchor " + state.name, state.axes);
  }
  }
}

RandomSpec Generator::generate(int numOps) {
  const std::vector<Axes> shapes = {{},         {"K"},      {"V"},
                                    {"K", "V"}, {"M", "V"}, {"M"}};
  hasPeriod = chance(70);
  auto declare = [&](std::string prefix, int count, std::string suffix) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      Value value = {"%" + prefix + std::to_string(i), oneOf(shapes)};
      text += (i ? ", " : "") + value.name + brackets(value.axes) + suffix;
      pool.push_back(value);
      if (prefix == "S")
        states.push_back(value);
    }
    return text;
  };
  std::string signature = "larc.recurrence @random(%k[K], %v[V], %m[M], ";
  pool = {{"%k", {"K"}}, {"%v", {"V"}}, {"%m", {"M"}}};
  signature += declare("a", 1 + pick(3), "") + ") constant(" +
               declare("u", 1 + pick(2), "") + ") state(" +
               declare("S", 1 + pick(3), " = 0.25") + ")";
  pool.push_back({"%scale", {}});
  signature += " attributes(%scale = 0.7";
  if (hasPeriod)
    signature += ", steps = period(" + std::to_string(2 + pick(2)) + ")";
  signature += ")";

  for (int i = 0; i < numOps; ++i)
    pool.push_back(operation(0));

  std::string yield;
  for (const Value &state : states) {
    // Late values, so that what was made is used.
    Value late = pool[pool.size() - 1 - pick(std::min<int>(5, numOps))];
    Value part = fit(bound(late), state.axes);
    Value kept = binary("mul", state, constant("0.5"));
    Value next = binary("add", kept, part);
    yield += next.name + ", ";
  }
  Value first = pool.back(), second = any();
  yield += first.name + ", " + second.name;
  signature +=
      " -> (o" + brackets(first.axes) + ", p" + brackets(second.axes) + ")";

  RandomSpec spec;
  spec.source = signature + " {\n" + body + "  larc.yield " + yield + "\n}\n";
  for (const char *axis : {"K", "V", "M"})
    spec.dims.push_back({axis, 2 + pick(3)});
  return spec;
}

} // namespace

RandomSpec test::makeRandomSpec(uint64_t seed, int numOps) {
  return Generator(seed).generate(numOps);
}
