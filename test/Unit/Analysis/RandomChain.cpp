//===- RandomChain.cpp - Random products of the algebra ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomChain.h"

#include <random>
#include <vector>

using namespace larc::test;

namespace {

class ChainMaker {
public:
  explicit ChainMaker(uint64_t seed) : random(seed) {}

  std::string make() {
    unsigned numStates = 1 + pick(3);
    std::string states, yielded;
    for (unsigned state = 0; state < numStates; ++state) {
      std::string name = "S" + std::to_string(state);
      // Keys over K or M, values over V.
      key = pick(3) == 0 ? "M" : "K";
      states += (state ? ", %" : "%") + name + "[" + key + ", V]";
      yielded += (state ? ", " : "") + makeState("%" + name);
    }
    std::string outputs;
    for (size_t output = 0; output < reads.size(); ++output) {
      outputs += (output ? ", o" : "o") + std::to_string(output) + "[V]";
      yielded += ", " + reads[output];
    }
    return "larc.recurrence @chain(%qK[K], %kK[K]: unit(K), %aK[K]: "
           "coefficient, %wK[K]: unit(K), %gK[K]: gate, %qM[M], %kM[M]: "
           "unit(M), %aM[M]: coefficient, %wM[M]: unit(M), %gM[M]: gate, "
           "%v[V], %u[V]: unit(V), %bV[V]: coefficient, %gV[V]: gate, "
           "%c: coefficient, %g: gate)\n    state(" +
           states + ") -> (" + outputs + ") {\n" + body + "  larc.yield " +
           yielded + "\n}\n";
  }

private:
  unsigned pick(unsigned count) {
    return static_cast<unsigned>(random() % count);
  }
  std::string add(const std::string &operation) {
    std::string name = "%x" + std::to_string(number++);
    body += "  " + name + " = larc." + operation + "\n";
    return name;
  }

  std::string makeDecay() {
    switch (pick(6)) {
    case 0:
      return add("exp %g" + key);
    case 1:
      return add("exp %gV");
    case 2:
      return add("exp %g");
    case 3: {
      std::string one = add("constant 1.0");
      std::string more = add("add " + one + ", %a" + key);
      return add("div %c, " + more);
    }
    case 4:
      return add("exp " + add("add %g" + key + ", %gV"));
    default:
      // A gate made from a read of an earlier state.
      if (earlier.empty())
        return "%c";
      return add("sigmoid " +
                 add("contract " + pickEarlier("") + ", %u over V"));
    }
  }

  std::string makeRead(const std::string &point, const std::string &query) {
    return add("contract " + point + ", %" + query + key + " over " + key);
  }

  /// A read of an earlier state, or `other` if there is none.
  std::string pickEarlier(const std::string &other) {
    return earlier.empty()
               ? other
               : earlier[pick(static_cast<unsigned>(earlier.size()))];
  }

  /// A value that the state has no part in.
  std::string makeValue() {
    switch (pick(4)) {
    case 0:
      return "%v";
    case 1:
      return add("mul %bV, %u");
    default:
      return pickEarlier("%u");
    }
  }

  /// A step of the state against what it holds: an error or a tanh, or seldom
  /// the tanh of all of it, for which only the token loop is left.
  std::string makeFeedback(const std::string &point) {
    if (pick(6) == 0)
      return add("tanh " + point);
    std::string readKey = std::string(pick(2) ? "%k" : "%w") + key;
    std::string known =
        add("contract " + point + ", " + readKey + " over " + key);
    bool isError = pick(3);
    std::string value =
        isError ? add("sub %v, " + known) : add("tanh " + known);
    std::string step = pick(2) ? "%c" : "%bV";
    if (pick(2)) {
      std::string write =
          add("mul " + readKey + ", " + add("mul " + step + ", " + value));
      return add((isError ? "add " : "sub ") + point + ", " + write);
    }
    std::string small = add("mul " + step + ", " + add("constant 0.125"));
    std::string writeKey = std::string(pick(2) ? "%k" : "%w") + key;
    std::string write =
        add("mul " + writeKey + ", " + add("mul " + small + ", " + value));
    std::string moved = add((pick(2) ? "add " : "sub ") + point + ", " + write);
    return add("div " + moved + ", " +
               add("add " + add("constant 1.0") + ", " + small));
  }

  std::string makeState(const std::string &old) {
    std::string point = old;
    unsigned steps = 1 + pick(4);
    for (unsigned step = 0; step < steps; ++step) {
      switch (pick(6)) {
      case 0:
      case 1:
        point = add("mul " + makeDecay() + ", " + point);
        break;
      case 2:
        reads.push_back(makeRead(point, pick(2) ? "q" : "k"));
        break;
      case 3: {
        std::string write = add("mul %" + std::string(pick(2) ? "k" : "a") +
                                key + ", " + makeValue());
        point = add((pick(3) ? "add " : "sub ") + point + ", " + write);
        break;
      }
      default:
        point = makeFeedback(point);
      }
    }
    reads.push_back(makeRead(point, "q"));
    // By a unit key: the gates made from it are no steep functions of states.
    earlier.push_back(makeRead(point, "k"));
    reads.push_back(earlier.back());
    return point;
  }

  std::mt19937_64 random;
  std::string body, key;
  unsigned number = 0;
  /// Outputs; those of states that are done.
  std::vector<std::string> reads, earlier;
};

} // namespace

std::string larc::test::makeRandomChain(uint64_t seed) {
  return ChainMaker(seed).make();
}
