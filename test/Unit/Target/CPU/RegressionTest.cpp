//===- RegressionTest.cpp - Steps that were wrong once ----------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledTestUtils.h"

using namespace larc;
using namespace larc::test;

namespace {

class RegressionTest : public CompiledTest {};

// The fold's slices are read while its carried value changes.
TEST_F(RegressionTest, FoldOverWhatItCarries) {
  checkSource(R"(
    larc.recurrence @r(%x[n]) state(%S[n, K]) -> (o[K]) {
      %next = larc.fold n over(%s = %S, %y = %x) iter(%X = %S) {
        %a = larc.mul %s, %y
        %b = larc.add %X, %a
        %c = larc.tanh %b
        larc.yield %c
      }
      %o = larc.reduce sum %next over n
      larc.yield %next, %o
    })",
              {{"n", 3}, {"K", 20}}, {});
}

// Elements of a slice along the last axis in memory are apart.
TEST_F(RegressionTest, SliceOfTheLastAxis) {
  checkSource(R"(
    larc.recurrence @r(%x[V, n]) state(%S[V, n]) -> (o[V], p[V]) {
      %a = larc.slice %x[n = 1]
      %b = larc.slice %S[n = 0]
      %o = larc.mul %a, %b
      %next = larc.add %S, %x
      larc.yield %next, %o, %b
    })",
              {{"n", 3}, {"V", 37}}, {});
}

// Sources of a fold may have its axis last in memory.
TEST_F(RegressionTest, FoldOverTheLastAxis) {
  checkSource(R"(
    larc.recurrence @r(%x[K, n]) state(%S[K]) -> (o[K]) {
      %next = larc.fold n over(%s = %x) iter(%X = %S) {
        %a = larc.add %X, %s
        %c = larc.tanh %a
        larc.yield %c
      }
      larc.yield %next, %next
    })",
              {{"n", 3}, {"K", 37}}, {});
}

// A region reads an array of its own space that is kept for it alone.
TEST_F(RegressionTest, RegionReadsCheapMatrix) {
  checkSource(R"(
    larc.recurrence @r(%x[K], %y[V]) state(%S[K, V])
        attributes(steps = period(2)) -> (o[V]) {
      %a = larc.mul %x, %y
      %next = larc.fire every 1 iter(%X = %S) {
        %b = larc.add %X, %a
        larc.yield %b
      }
      %o = larc.contract %next, %x over K
      larc.yield %next, %o
    })",
              {{"K", 17}, {"V", 20}}, {1, 5, 2, {}, {}, {}, 100});
}

// An output without the columns' axis: blocks of columns would each compute it,
// and none may see the other's sum under way.
TEST_F(RegressionTest, OutputOfAllBlocks) {
  checkSource(R"(
    larc.recurrence @r(%q[K], %k[K], %v[V]) state(%S[K, V]) -> (o[V], p) {
      %w = larc.mul %k, %v
      %next = larc.add %S, %w
      %o = larc.contract %next, %q over K
      %p = larc.contract %q, %k over K
      larc.yield %next, %o, %p
    })",
              {{"K", 240}, {"V", 128}}, {1, 40, 2, {}, {}, {}, 100});
}

//===----------------------------------------------------------------------===//
// Blocks of columns
//===----------------------------------------------------------------------===//

// States larger than the cache whose columns are independent: sequences too
// short for the blocks to be copied together, and others; two states, an
// anchor, a fold, a constant and a region along the columns.
constexpr llvm::StringLiteral blocks = R"(
  larc.recurrence @r(%q[K], %k[n, K], %v[V, n], %w[V]) constant(%u[V])
      state(%S[K, V], %z[V] = 0.5) attributes(steps = period(3))
      -> (o[V]) {
    %A = larc.anchor %S
    %a = larc.contract %A, %q over K
    %b = larc.tanh %a
    %f = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %S) {
      %c = larc.mul %vj, %b
      %d = larc.mul %kj, %c
      %half = larc.constant 0.5
      %e = larc.mul %X, %half
      %Y = larc.add %e, %d
      larc.yield %Y
    }
    %r, %y = larc.fire every 1 iter(%X = %f, %x = %z) {
      %c = larc.mul %X, %u
      %Y = larc.tanh %c
      %d = larc.add %x, %w
      %e = larc.sin %d
      larc.yield %Y, %e
    }
    %g = larc.contract %r, %q over K
    %o = larc.mul %g, %y
    larc.yield %r, %y, %o
  })";

TEST_F(RegressionTest, BlocksOfColumns) {
  for (int64_t tokens : {0, 1, 7, 8, 19})
    checkSource(blocks, {{"K", 100}, {"V", 128}, {"n", 2}},
                {2, tokens, 2, {}, {}, {}, 100});
}

TEST_F(RegressionTest, BlocksOfColumnsPacked) {
  checkSource(blocks, {{"K", 100}, {"V", 128}, {"n", 2}},
              {1, 0, 2, {9, 0, 3, 12}, {{"q", 1}}, {4, 3, 1, 0}, 100});
  checkSource(blocks, {{"K", 100}, {"V", 128}, {"n", 2}},
              {1, 0, 2, {9, 0, 3, 12}, {{"q", 1}}, {}, 0});
}

// The states lie in another order than the loops walk them.
TEST_F(RegressionTest, BlocksOfTransposedColumns) {
  std::string source = blocks.str();
  source.replace(source.find("%S[K, V]"), 8, "%S[V, K]");
  for (int64_t tokens : {1, 8})
    checkSource(source, {{"K", 100}, {"V", 128}, {"n", 2}},
                {1, tokens, 2, {}, {}, {}, 50});
}

} // namespace
