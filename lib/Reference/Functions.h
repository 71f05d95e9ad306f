//===- Functions.h - Scalar functions and their derivatives -----*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `eval` is the function, `dx` (and `dy`) its derivative, given the operands
// and the result r. Each is written so that it keeps its digits where an
// operand is far from 0, and is finite wherever the limit is.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_REFERENCE_FUNCTIONS_H
#define LARC_LIB_REFERENCE_FUNCTIONS_H

#include <cmath>
#include <limits>

namespace larc::functions {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Neg {
  static double eval(double x) { return -x; }
  static double dx(double, double) { return -1; }
};
struct Abs {
  static double eval(double x) { return std::fabs(x); }
  static double dx(double x, double) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
};
struct Exp {
  static double eval(double x) { return std::exp(x); }
  static double dx(double, double r) { return r; }
};
struct Expm1 {
  static double eval(double x) { return std::expm1(x); }
  static double dx(double x, double) { return std::exp(x); }
};
struct Log {
  static double eval(double x) { return std::log(x); }
  static double dx(double x, double) { return 1 / x; }
};
struct Log1p {
  static double eval(double x) { return std::log1p(x); }
  static double dx(double x, double) { return 1 / (1 + x); }
};
struct Sqrt {
  static double eval(double x) { return std::sqrt(x); }
  static double dx(double, double r) { return 0.5 / r; }
};
struct Rsqrt {
  static double eval(double x) { return 1 / std::sqrt(x); }
  static double dx(double x, double r) { return -0.5 * r / x; }
};
struct Reciprocal {
  static double eval(double x) { return 1 / x; }
  static double dx(double, double r) { return -r * r; }
};
struct Square {
  static double eval(double x) { return x * x; }
  static double dx(double x, double) { return 2 * x; }
};
struct Sigmoid {
  static double eval(double x) { return sigmoid(x); }
  static double dx(double x, double) {
    double e = std::exp(-std::fabs(x));
    return e / ((1 + e) * (1 + e));
  }
};
struct LogSigmoid {
  static double eval(double x) {
    return std::fmin(x, 0) - std::log1p(std::exp(-std::fabs(x)));
  }
  static double dx(double x, double) { return sigmoid(-x); }
};
struct Softplus {
  static double eval(double x) {
    return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
  }
  static double dx(double x, double) { return sigmoid(x); }
};
struct Tanh {
  static double eval(double x) { return std::tanh(x); }
  static double dx(double x, double) {
    double c = std::cosh(x);
    return 1 / (c * c);
  }
};
struct Relu {
  static double eval(double x) { return x < 0 ? 0 : x; }
  static double dx(double x, double) { return x > 0 ? 1 : 0; }
};
struct Sin {
  static double eval(double x) { return std::sin(x); }
  static double dx(double x, double) { return std::cos(x); }
};
struct Cos {
  static double eval(double x) { return std::cos(x); }
  static double dx(double x, double) { return -std::sin(x); }
};
struct Erf {
  static double eval(double x) { return std::erf(x); }
  static double dx(double x, double) {
    return 1.1283791670955125739 * std::exp(-x * x);
  }
};

struct Add {
  static double eval(double x, double y) { return x + y; }
  static double dx(double, double, double) { return 1; }
  static double dy(double, double, double) { return 1; }
};
struct Sub {
  static double eval(double x, double y) { return x - y; }
  static double dx(double, double, double) { return 1; }
  static double dy(double, double, double) { return -1; }
};
struct Mul {
  static double eval(double x, double y) { return x * y; }
  static double dx(double, double y, double) { return y; }
  static double dy(double x, double, double) { return x; }
};
struct Div {
  static double eval(double x, double y) { return x / y; }
  static double dx(double, double y, double) { return 1 / y; }
  static double dy(double, double y, double r) { return -r / y; }
};

/// The larger operand; at a tie each has `tie` percent of the derivative.
template <int tie>
struct Max {
  static double eval(double x, double y) {
    if (std::isnan(x) || std::isnan(y))
      return x + y;
    return x > y ? x : y;
  }
  static double share(double mine, double other) {
    return mine > other ? 1 : mine < other ? 0 : tie / 100.0;
  }
  static double dx(double x, double y, double) { return share(x, y); }
  static double dy(double x, double y, double) { return share(y, x); }
};
template <int tie>
struct Min {
  static double eval(double x, double y) {
    if (std::isnan(x) || std::isnan(y))
      return x + y;
    return x < y ? x : y;
  }
  static double dx(double x, double y, double) {
    return Max<tie>::share(-x, -y);
  }
  static double dy(double x, double y, double) {
    return Max<tie>::share(-y, -x);
  }
};
struct LogAddExp {
  static double eval(double x, double y) {
    // Two equal infinities have no difference; theirs is taken as 0.
    double difference = x == y ? 0 : x - y;
    return Max<50>::eval(x, y) + std::log1p(std::exp(-std::fabs(difference)));
  }
  static double share(double mine, double other) {
    if (mine == other)
      return mine == -std::numeric_limits<double>::infinity() ? 0 : 0.5;
    return sigmoid(mine - other);
  }
  static double dx(double x, double y, double) { return share(x, y); }
  static double dy(double x, double y, double) { return share(y, x); }
};

} // namespace larc::functions

#endif // LARC_LIB_REFERENCE_FUNCTIONS_H
