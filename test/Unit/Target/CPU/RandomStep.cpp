//===- RandomStep.cpp - Steps made at random for lowerings ------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomStep.h"

#include "larc/Support/Random.h"

#include <algorithm>
#include <map>
#include <set>

using namespace larc;
using namespace larc::test;

namespace {

using Axes = std::set<std::string>;

struct Value {
  std::string name;
  Axes axes;
};

/// Arrays of more elements are not made: the reference is slow.
constexpr int64_t maxElements = 20000;

class Generator {
public:
  Generator(uint64_t seed, const RandomStepOptions &options)
      : random(seed, "step"), options(options) {}

  RandomSpec generate(int numOps);

private:
  int pick(int count) { return int(random.next() % uint64_t(count)); }
  bool chance(int percent) { return pick(100) < percent; }
  template <typename T>
  const T &oneOf(const std::vector<T> &list) {
    return list[pick(int(list.size()))];
  }
  std::string oneAxis(Axes axes) {
    if (options.columns)
      axes.erase("V");
    return *std::next(axes.begin(), pick(int(axes.size())));
  }
  Axes someAxes(const Axes &axes) {
    Axes chosen = {oneAxis(axes)};
    for (const std::string &axis : axes)
      if (chance(30) && !(options.columns && axis == "V"))
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
  /// A layout: the axes in any order.
  std::string layout(const Axes &axes) {
    if (axes.empty())
      return "";
    std::vector<std::string> order(axes.begin(), axes.end());
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[pick(int(i))]);
    std::string text;
    for (const std::string &axis : order)
      text += (text.empty() ? "[" : ", ") + axis;
    return text + "]";
  }
  int64_t sizeOf(const std::string &axis) {
    return sizes.at(axis.substr(0, 1));
  }
  int64_t elements(const Axes &axes) {
    int64_t count = 1;
    for (const std::string &axis : axes)
      count *= sizeOf(axis);
    return count;
  }

  Value emit(const std::string &text, Axes axes) {
    Value value = {"%x" + std::to_string(counter++), std::move(axes)};
    body += indent + value.name + " = larc." + text + "\n";
    return value;
  }
  Value constant(const std::string &number) {
    return emit("constant " + number, {});
  }
  /// A random value: a late one or any.
  Value any() {
    if (chance(35))
      return pool[pool.size() - 1 - pick(std::min(4, int(pool.size())))];
    if (chance(25) && !states.empty())
      return oneOf(states);
    return oneOf(pool);
  }
  /// A random value that can be combined with arrays over `axes`.
  Value anyWith(const Axes &axes) {
    for (int tries = 0; tries < 10; ++tries)
      if (Value value = any(); elements(unite(value.axes, axes)) <= maxElements)
        return value;
    return constant("0.7");
  }
  Value anyWithAxis() {
    for (int tries = 0; tries < 20; ++tries)
      if (Value value = any();
          !value.axes.empty() && !(options.columns && value.axes == Axes{"V"}))
        return value;
    return emit("broadcast " + any().name + " to [K]", Axes{"K"});
  }
  Value unary(const std::string &op, const Value &x) {
    return emit(op + " " + x.name, x.axes);
  }
  Value binary(const std::string &op, const Value &x, const Value &y) {
    return emit(op + " " + x.name + ", " + y.name, unite(x.axes, y.axes));
  }
  Value bound(const Value &x) {
    return chance(50) ? unary("tanh", x) : unary("sin", x);
  }
  /// A sum over `over`, made a mean: tokens must not blow up roundings.
  Value boundSum(const Value &x, const Axes &over) {
    std::string factor = std::to_string(1.0 / double(elements(over)));
    return bound(binary("mul", x, constant(factor)));
  }
  Value positive(const Value &x) {
    return binary("add", unary("softplus", x), constant("0.4"));
  }
  Value fit(Value x, const Axes &axes) {
    Axes extra = subtract(x.axes, axes);
    if (options.columns && extra.count("V")) {
      x = constant("0.7");
      extra.clear();
    }
    if (!extra.empty())
      x = boundSum(emit("reduce sum " + x.name + " over " + list(extra),
                        subtract(x.axes, extra)),
                   extra);
    if (!subtract(axes, x.axes).empty())
      x = emit("broadcast " + x.name + " to [" + list(axes) + "]", axes);
    return x;
  }

  Value operation(int depth);
  Value matrixOperation();
  void region(int depth, const std::string &head,
              const std::vector<Value> &arguments,
              const std::vector<Value> &inits);
  void addFold(int depth);
  void addFire(int depth);
  Value nextState(const Value &state);

  Random random;
  RandomStepOptions options;
  int counter = 0;
  std::map<std::string, int64_t> sizes;
  std::string body, indent = "  ";
  std::vector<Value> pool, states;
  bool hasPeriod = false;
};

/// Appends the operation `head` with a region that carries `inits`; its results
/// join the pool.
void Generator::region(int depth, const std::string &head,
                       const std::vector<Value> &arguments,
                       const std::vector<Value> &inits) {
  std::string id = std::to_string(counter++), text = head, iter;
  std::string outerBody = std::exchange(body, "");
  std::vector<Value> outerPool = pool;
  indent += "  ";
  pool.insert(pool.end(), arguments.begin(), arguments.end());
  std::vector<Value> carried;
  for (size_t i = 0; i < inits.size(); ++i) {
    carried.push_back({"%c" + id + "_" + std::to_string(i), inits[i].axes});
    iter += (i ? ", " : "") + carried[i].name + " = " + inits[i].name;
    pool.push_back(carried[i]);
  }
  text += " iter(" + iter + ") {\n";
  for (int i = 1 + pick(3); i-- > 0;) {
    if (depth < 2 && chance(12))
      addFold(depth + 1);
    else
      pool.push_back(operation(depth + 1));
  }
  std::string yield;
  for (const Value &argument : carried) {
    Value next;
    int way = pick(10);
    std::vector<Value> alike;
    for (const Value &other : carried)
      if (other.axes == argument.axes)
        alike.push_back(other);
    if (way == 0) {
      next = oneOf(alike); // swapped, copied or kept
    } else {
      Value late = pool[pool.size() - 1 - pick(std::min(3, int(pool.size())))];
      next = fit(late, argument.axes);
      next = bound(chance(70) ? binary("add", next, argument) : next);
    }
    yield += (yield.empty() ? "" : ", ") + next.name;
  }
  body += indent + "larc.yield " + yield + "\n";
  indent.resize(indent.size() - 2);
  pool = outerPool;
  std::string inner = std::exchange(body, outerBody);
  std::string name = "%r" + std::to_string(counter++);
  body += indent + name + ":" + std::to_string(inits.size()) + " = larc." +
          text + inner + indent + "}\n";
  for (size_t i = 0; i < inits.size(); ++i)
    pool.push_back({name + "#" + std::to_string(i), inits[i].axes});
}

void Generator::addFold(int depth) {
  std::string id = std::to_string(counter++), text;
  Value source = anyWithAxis();
  std::string axis = source.axes.count("n") ? "n" : oneAxis(source.axes);
  // A long fold of large arrays takes too long.
  if (sizeOf(axis) > 5) {
    source = {"%w", {"n"}};
    axis = "n";
  }
  std::vector<Value> arguments;
  auto addSource = [&](const Value &value) {
    arguments.push_back({"%s" + id + "_" + std::to_string(arguments.size()),
                         subtract(value.axes, {axis})});
    text +=
        (text.empty() ? "" : ", ") + arguments.back().name + " = " + value.name;
  };
  addSource(source);
  for (const Value &value : pool)
    if (value.axes.count(axis) && chance(20) && arguments.size() < 3)
      addSource(value);
  std::vector<Value> inits = {chance(20) ? source : any()};
  while (chance(40) && inits.size() < 3)
    inits.push_back(any());
  region(depth, "fold " + axis + " over(" + text + ")", arguments, inits);
}

void Generator::addFire(int depth) {
  std::vector<Value> inits = {any()};
  while (chance(40) && inits.size() < 3)
    inits.push_back(any());
  region(depth, "fire every " + std::to_string(1 + pick(2)), {}, inits);
}

Value Generator::matrixOperation() {
  Value x = any();
  if (x.axes.size() < 2)
    x = fit(x, {"K", "V"});
  std::string rows = oneAxis(x.axes), columns = rows;
  while (columns == rows && !options.columns)
    columns = oneAxis(x.axes);
  if (rows[0] == columns[0] || options.smooth || options.columns ||
      elements(x.axes) * std::min(sizeOf(rows), sizeOf(columns)) > maxElements)
    return bound(x);
  return emit(
      "orthogonalize " + x.name + " over " + rows + ", " + columns +
          " iterations(" + std::to_string(1 + pick(2)) + ")" +
          (chance(50) ? "" : " coefficients([1.8, -1.1, 0.3]) eps(0.1)"),
      x.axes);
}

Value Generator::operation(int depth) {
  switch (pick(15)) {
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
  case 4: {
    Value x = any();
    return bound(
        binary(oneOf<std::string>({"add", "sub", "mul"}), x, anyWith(x.axes)));
  }
  case 5: {
    Value x = any();
    return binary(oneOf<std::string>({"max", "min", "logaddexp"}), x,
                  anyWith(x.axes));
  }
  case 6: {
    Value x = any();
    return bound(binary("div", x, positive(anyWith(x.axes))));
  }
  case 7: {
    Value a = any(), b = anyWith(a.axes);
    Axes axes = unite(a.axes, b.axes);
    if (options.smooth)
      return emit("select " + a.name + " gt " + b.name + ", " + a.name + ", " +
                      b.name,
                  axes);
    Value x = anyWith(axes);
    axes = unite(axes, x.axes);
    Value y = anyWith(axes);
    return emit("select " + a.name + " " +
                    oneOf<std::string>({"gt", "ge", "lt", "le", "eq", "ne"}) +
                    " " + b.name + ", " + x.name + ", " + y.name,
                unite(axes, y.axes));
  }
  case 8:
  case 9: {
    Value x = anyWithAxis(), y = anyWith(x.axes);
    Axes all = unite(x.axes, y.axes), over = someAxes(all);
    return boundSum(
        emit("contract " + x.name + ", " + y.name + " over " + list(over),
             subtract(all, over)),
        over);
  }
  case 10: {
    Value x = anyWithAxis();
    Axes over = someAxes(x.axes);
    return boundSum(emit(oneOf<std::string>({"reduce sum ", "reduce max ",
                                             "reduce min ", "norm "}) +
                             x.name + " over " + list(over),
                         subtract(x.axes, over)),
                    over);
  }
  case 11: {
    Value x = anyWithAxis();
    if (chance(40))
      return emit("softmax " + x.name + " over " + list(someAxes(x.axes)),
                  x.axes);
    return emit("normalize " + x.name + " over " + list(someAxes(x.axes)) +
                    oneOf<std::string>({" max 0.3", " add 0.2", " inside 0.1"}),
                x.axes);
  }
  case 12: {
    // The value under another name, of an axis as long: a transposed view,
    // after some such steps.
    Value x = anyWithAxis();
    std::string axis = oneAxis(x.axes), other = axis + "2";
    std::vector<std::string> names;
    for (const auto &[name, size] : sizes)
      for (const std::string &like : {name, name + "2"})
        if (!(options.columns && name == "V") && size == sizeOf(axis) &&
            !x.axes.count(like))
          names.push_back(like);
    if (!names.empty() && chance(40)) {
      std::string name = oneOf(names);
      Axes axes = subtract(x.axes, {axis});
      axes.insert(name);
      return emit("rename " + x.name + " " + axis + " to " + name, axes);
    }
    // The value meets itself along another axis.
    if (x.axes.count(other) || axis.size() > 1 ||
        elements(x.axes) * sizeOf(axis) > maxElements)
      return bound(x);
    Axes axes = subtract(x.axes, {axis});
    axes.insert(other);
    Value renamed =
        emit("rename " + x.name + " " + axis + " to " + other, axes);
    if (chance(30) && x.axes.size() < 3)
      return renamed;
    Value product = binary("mul", renamed, x);
    return boundSum(emit("contract " + product.name + ", " + renamed.name +
                             " over " + other,
                         subtract(product.axes, {other})),
                    {other});
  }
  case 13: {
    Value x = anyWithAxis();
    std::string axis = oneAxis(x.axes);
    return emit("slice " + x.name + "[" + axis + " = " +
                    std::to_string(pick(int(sizeOf(axis)))) + "]",
                subtract(x.axes, {axis}));
  }
  default:
    if (hasPeriod && depth == 0 && chance(50)) {
      Value state = oneOf(states);
      return emit("anchor " + state.name, state.axes);
    }
    return matrixOperation();
  }
}

/// What the step yields for `state`.
Value Generator::nextState(const Value &state) {
  std::vector<Value> alike, made;
  for (const Value &other : states)
    if (other.axes == state.axes)
      alike.push_back(other);
  for (const Value &value : pool)
    if (value.axes == state.axes && value.name[1] != 'S')
      made.push_back(value);
  int way = pick(100);
  if (way < 20)
    return oneOf(alike); // kept, swapped, copied
  if (way < 50 && !made.empty())
    return made[made.size() - 1 - pick(std::min(3, int(made.size())))];
  if (way < 60 && alike.size() > 1)
    return binary("max", oneOf(alike), state);
  if (way < 65)
    return fit(constant("0.5"), state.axes);
  Value late = pool[pool.size() - 1 - pick(std::min(5, int(pool.size())))];
  Value part = bound(fit(late, state.axes));
  return binary("add", binary("mul", state, constant("0.5")), part);
}

RandomSpec Generator::generate(int numOps) {
  const std::vector<int64_t> large = {1, 3, 5, 16, 17, 20, 33, 64, 100, 128};
  for (const char *axis : {"K", "V", "M"})
    sizes[axis] = options.tiny ? 1 + pick(3) : oneOf(large);
  if (options.columns) {
    sizes["K"] = oneOf<int64_t>({100, 128, 150});
    sizes["V"] = oneOf<int64_t>({64, 96, 128});
    sizes["M"] = 3;
  }
  sizes["n"] = 1 + pick(3);
  std::vector<Axes> shapes;
  for (const Axes &axes : std::vector<Axes>{{},
                                            {"K"},
                                            {"V"},
                                            {"M"},
                                            {"K", "V"},
                                            {"K", "V"},
                                            {"K", "V"},
                                            {"M", "V"},
                                            {"K", "M"},
                                            {"n", "K"},
                                            {"n", "V"},
                                            {"n", "K", "V"},
                                            {"K", "V", "M"}})
    if (elements(axes) <= maxElements)
      shapes.push_back(axes);
  std::vector<Axes> stateShapes = shapes;
  if (options.columns)
    stateShapes = {{"V"}, {"K", "V"}, {"K", "V"}, {"M", "V"}};

  hasPeriod = chance(50);
  auto declare = [&](std::string prefix, int count, std::string suffix) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      Value value = {"%" + prefix + std::to_string(i),
                     oneOf(prefix == "S" ? stateShapes : shapes)};
      if (prefix == "S" && i && chance(50))
        value.axes = states.back().axes;
      text += (i ? ", " : "") + value.name + layout(value.axes) + suffix;
      pool.push_back(value);
      if (prefix == "S")
        states.push_back(value);
    }
    return text;
  };
  pool = {{"%k", {"K"}}, {"%v", {"V"}}, {"%m", {"M"}}, {"%w", {"n"}}};
  std::string signature =
      "larc.recurrence @random(%k[K], %v[V], %m[M], %w[n], " +
      declare("a", 1 + pick(4), "") + ")";
  if (chance(50))
    signature += " constant(" + declare("u", 1 + pick(2), "") + ")";
  signature += " state(" + declare("S", 1 + pick(4), " = 0.25") +
               ") attributes(%scale = 0.7";
  if (hasPeriod)
    signature += ", steps = period(" + std::to_string(2 + pick(3)) + ")";
  signature += ")";
  pool.push_back({"%scale", {}});

  for (int i = 0; i < numOps; ++i) {
    if (chance(8))
      addFold(0);
    else if (hasPeriod && chance(10))
      addFire(0);
    else
      pool.push_back(operation(0));
  }

  std::string yield, outputs;
  for (const Value &state : states)
    yield += nextState(state).name + ", ";
  for (int i = 0, count = 1 + pick(4); i < count; ++i) {
    Value output;
    int way = pick(10);
    if (way == 0) {
      Axes axes = oneOf(shapes);
      output = fit(constant("1.5"), axes);
    } else {
      output = way < 4 ? pool.back() : any();
    }
    // Axes that a rename made are no tensor's.
    Axes named = output.axes;
    for (const std::string &axis : output.axes)
      if (axis.size() > 1)
        named.erase(axis);
    if (options.columns)
      named.insert("V");
    output = fit(output, named);
    outputs += (i ? ", o" : "o") + std::to_string(i) + layout(output.axes);
    yield += (i ? ", " : "") + output.name;
  }
  // Some tensor must say how many tokens and heads there are.
  outputs += options.columns ? ", value[V]" : ", key[K]";
  yield += options.columns ? ", %v" : ", %k";
  signature += " -> (" + outputs + ") dims(";
  // No tensor that the step uses may have the axis.
  for (const auto &[axis, size] : sizes)
    signature += (axis == sizes.begin()->first ? "" : ", ") + axis + " = " +
                 std::to_string(size);
  signature += ")";

  RandomSpec spec;
  spec.source = signature + " {\n" + body + "  larc.yield " + yield + "\n}\n";
  spec.dims.assign(sizes.begin(), sizes.end());
  return spec;
}

} // namespace

RandomSpec test::makeRandomStep(uint64_t seed, int numOps,
                                const RandomStepOptions &options) {
  return Generator(seed, options).generate(numOps);
}
