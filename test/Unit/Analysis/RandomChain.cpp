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
           "coefficient, %gK[K]: gate, %qM[M], %kM[M]: unit(M), %aM[M]: "
           "coefficient, %gM[M]: gate, %v[V], %u[V], %bV[V]: coefficient, "
           "%gV[V]: gate, %c: coefficient, %g: gate)\n    state(" +
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
                 add("contract " +
                     earlier[pick(static_cast<unsigned>(earlier.size()))] +
                     ", %u over V"));
    }
  }

  std::string makeRead(const std::string &point) {
    return add("contract " + point + ", %" + (pick(2) ? "q" : "k") + key +
               " over " + key);
  }

  std::string makeValue(const std::string &point) {
    switch (pick(5)) {
    case 0:
      return "%v";
    case 1:
      return add("mul %bV, %u");
    case 2: {
      std::string error = add("sub %v, " + add("contract " + point + ", %k" +
                                               key + " over " + key));
      return add(pick(2) ? "mul %c, " + error : "mul " + error + ", %bV");
    }
    case 3:
      return add("tanh " + makeRead(point));
    default:
      return earlier.empty()
                 ? "%u"
                 : earlier[pick(static_cast<unsigned>(earlier.size()))];
    }
  }

  std::string makeState(const std::string &old) {
    std::string point = old;
    unsigned steps = 1 + pick(4);
    for (unsigned step = 0; step < steps; ++step) {
      switch (pick(4)) {
      case 0:
        point = add("mul " + makeDecay() + ", " + point);
        break;
      case 1:
        reads.push_back(makeRead(point));
        break;
      default: {
        std::string value = makeValue(point);
        std::string write = add("mul %" + std::string(pick(2) ? "k" : "a") +
                                key + ", " + value);
        point = add((pick(3) ? "add " : "sub ") + point + ", " + write);
      }
      }
    }
    reads.push_back(makeRead(point));
    earlier.push_back(reads.back());
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
