//===- TileHazardTest.cpp - Tile programs that are wrong --------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every mistake that the interpreter finds, beside the program without it.
//
//===----------------------------------------------------------------------===//

#include "TileTestUtils.h"

#include "llvm/ADT/StringExtras.h"

using namespace larc;
using namespace larc::test;

namespace {

/// Types by short names, `$g` and so on.
std::string expandTypes(std::string text) {
  const std::pair<const char *, const char *> names[] = {
      {"$g", "!tile.global<16x16xf32>"},
      {"$s", "!tile.shared<16x16xf32>"},
      {"$r", "!tile.reg<16x16xf32, acc>"},
      {"$bg", "!tile.global<16x16xbf16>"},
      {"$bs", "!tile.shared<16x16xbf16, swizzle = 32>"},
      {"$br", "!tile.reg<16x16xbf16, acc>"},
      {"$l", "!tile.reg<16x16xbf16, lhs>"},
      {"$f", "!tile.flight<16x16xf32, acc>"}};
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (text[i] == '$' && end < text.size() && llvm::isAlpha(text[end]))
      ++end;
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    for (auto [name, type] : names)
      if (text.substr(i, end - i) == name)
        result += type;
    i = end;
  }
  return result;
}

class TileHazardTest : public TileTest {
protected:
  /// The error of a body that has %a: $g, %b: $bg, and %x: $r.
  std::string check(const std::string &body, int64_t warps = 4) {
    return getError({countMatrix(16, 16), zeroMatrix(16, 16, DType::BF16)},
                    warps,
                    expandTypes("%f0 = arith.constant 0.0 : f32\n"
                                "%b0 = arith.constant 0.0 : bf16\n"
                                "%warp = tile.warp\n"
                                "%is0 = arith.cmpi eq, %warp, %c0 : index\n"
                                "%x = tile.load %a[%c0, %c0] : $g -> $r\n" +
                                body));
  }

  void expectError(const std::string &body, const std::string &message,
                   int64_t warps = 4) {
    std::string error = check(body, warps);
    EXPECT_NE(error.find(message), std::string::npos)
        << "found '" << error << "', expected '" << message << "'";
  }
  void expectNone(const std::string &body, int64_t warps = 4) {
    EXPECT_EQ(check(body, warps), "");
  }
};

TEST_F(TileHazardTest, OutsideOfMemory) {
  expectError("%y = tile.load %a[%c1, %c0] : $g -> $r",
              "reaches row 16, column 0, outside of '!tile.global<16x16xf32>'");
  expectError("tile.store %x, %a[%c4, %c0] : $r, $g", "reaches row 16");
  expectError("%s = tile.alloc : $s\ntile.store %x, %s[%c1, %c0] : $r, $s",
              "outside of '!tile.shared<16x16xf32>'");
  expectError("%s = tile.alloc : $s\n%far = arith.constant 20 : index\n"
              "tile.copy_async %a[%c8, %c0] below %far to %s : $g, $s",
              "reaches row 16");
  expectError("%m = arith.subi %c0, %c1 : index\n"
              "%y = tile.load %a[%m, %c0] below %c16 : $g -> $r",
              "reaches row -1");
  expectError("%s = tile.alloc : !tile.shared<16x16xf32, stages = 2>\n"
              "%t = tile.stage %s[%c2] : !tile.shared<16x16xf32, stages = 2>",
              "expected a stage below 2, found 2");
  expectNone("%y = tile.load %a[%c1, %c1] below %c16 : $g -> $r\n"
             "tile.store %y, %a[%c0, %c8] : $r, $g",
             1);
}

TEST_F(TileHazardTest, ReadsBeforeWrites) {
  expectError("%s = tile.alloc : $s\n%y = tile.load %s[%c0, %c0] : $s -> $r",
              "reads shared memory that was never written");
}

TEST_F(TileHazardTest, Races) {
  std::string store = "%s = tile.alloc : $s\nscf.if %is0 {\n"
                      "tile.store %x, %s[%c0, %c0] : $r, $s\n}\n";
  std::string load = "%y = tile.load %s[%c0, %c0] : $s -> $r\n";
  expectError(store + load, "warp 1 reads what warp 0 wrote, and no barrier");
  expectNone(store + "tile.barrier\n" + load);
  // Two warps met, the third did not.
  expectError(store +
                  "%two = arith.cmpi ult, %warp, %c2 : index\n"
                  "scf.if %two {\ntile.barrier id %c1 warps 2\n}\n" +
                  load,
              "warp 2 reads what warp 0 wrote");
  expectError("%s = tile.alloc : $s\ntile.store %x, %s[%c0, %c0] : $r, $s",
              "warp 1 writes what warp 0 wrote");
  expectError(store + "tile.barrier\n" + load +
                  "scf.if %is0 {\ntile.store %x, %s[%c0, %c0] : $r, $s\n}\n"
                  "tile.barrier",
              "warp 0 writes what warp 3 reads, and no barrier");
  std::string last = "%is1 = arith.cmpi eq, %warp, %c1 : index\n"
                     "scf.if %is1 {\ntile.store %x, %s[%c0, %c0] : $r, $s\n}\n";
  expectError(store + "tile.barrier\n" + load + last,
              "warp 1 writes what warp 0 reads, and no barrier");
  expectNone(store + "tile.barrier\n" + load + "tile.barrier\n" + last);
}

TEST_F(TileHazardTest, RacesInGlobalMemory) {
  std::string one = "%f1 = arith.constant 1.0 : f32\n"
                    "%y = tile.splat %f1 : $r\n";
  std::string store = "scf.if %is0 {\ntile.store %y, %a[%c0, %c0] : $r, $g\n}";
  expectError(one + store, "warp 1 reads what warp 0 wrote, and no barrier");
  expectNone(one + "tile.barrier\n" + store);
  // Equal elements may be written by all.
  expectNone(one + "tile.barrier\ntile.store %y, %a[%c0, %c0] : $r, $g");
  expectError("%i = arith.index_cast %warp : index to i32\n"
              "%f = arith.sitofp %i : i32 to f32\n%y = tile.splat %f : $r\n"
              "tile.barrier\ntile.store %y, %a[%c0, %c0] : $r, $g",
              "writes what warp 3 wrote, and no barrier");
}

TEST_F(TileHazardTest, Barriers) {
  expectError("scf.if %is0 {\ntile.barrier\n}",
              "warp 0 waits for warps that do not come");
  expectError("scf.if %is0 {\ntile.barrier id %c1 warps 4\n} else {\n"
              "tile.barrier id %c2 warps 4\n}",
              "warp 0 waits for warps that do not come");
  expectError("scf.if %is0 {\ntile.barrier id %c1 warps 2\n} else {\n"
              "tile.barrier id %c1 warps 3\n}",
              "warps do not meet at the same kind of barrier");
  expectError("tile.barrier id %c16 warps 4", "expected an id from 1 to 15");
  expectError("tile.barrier id %c1 warps 5",
              "waits for 5 warps of a block of 4");
  expectNone("scf.if %is0 {\ntile.barrier\n} else {\ntile.barrier\n}");
}

TEST_F(TileHazardTest, Copies) {
  std::string copy = "%s = tile.alloc : $s\n"
                     "tile.copy_async %a[%c0, %c0] below %c16 to %s : $g, $s\n"
                     "tile.copy_commit\n";
  std::string load = "%y = tile.load %s[%c0, %c0] : $s -> $r\n";
  expectError(copy + load, "warp 0 has not waited for its share");
  expectError(copy + "tile.copy_wait 1\ntile.barrier\n" + load,
              "warp 0 has not waited for its share");
  expectError(copy + "tile.barrier\ntile.copy_wait 0\n" + load,
              "what is copied here");
  expectError(copy + "scf.if %is0 {\ntile.copy_wait 0\n}\ntile.barrier\n" +
                  load,
              "warp 1 has not waited for its share");
  expectError("%s = tile.alloc : $s\n"
              "tile.copy_async %a[%c0, %c0] below %c16 to %s : $g, $s\n"
              "tile.copy_wait 0\ntile.barrier\n" +
                  load,
              "warp 0 has not waited for its share");
  expectError(copy + "tile.store %x, %s[%c0, %c0] : $r, $s",
              "warp 0 has not waited for its share");
  expectNone(copy + "tile.copy_wait 0\ntile.barrier\n" + load);
  // The next copy may only start when all have read.
  std::string again = "tile.copy_async %a[%c0, %c0] below %c8 to %s : $g, $s\n";
  expectError(copy + "tile.copy_wait 0\ntile.barrier\n" + load + again,
              "what is copied here has not arrived");
  expectNone(copy + "tile.copy_wait 0\ntile.barrier\n" + load +
             "tile.barrier\n" + again);
  expectError("%s = tile.alloc : $s\n"
              "tile.copy_async %a[%warp, %c0] below %c16 to %s : $g, $s\n",
              "warp 1 does not copy what the other warps do");
  expectError("%s = tile.alloc : $s\nscf.if %is0 {\n"
              "tile.copy_async %a[%c0, %c0] below %c16 to %s : $g, $s\n}",
              "is done by 1 of the 4 warps that do it together");
}

/// Parts of a program with one product.
const char *storeRight = "%s = tile.alloc : $bs\n"
                         "%zb = tile.splat %b0 : $br\n"
                         "scf.if %is0 {\n"
                         "tile.store %zb, %s[%c0, %c0] : $br, $bs\n";
const char *loadLeft = "%l = tile.load %b[%c0, %c0] : $bg -> $l\n"
                       "tile.wgmma_fence\n";
const char *start = "%f = tile.wgmma %x, %l, %s[%c0, %c0] : $r, $l, $bs\n";
const char *finish = "tile.wgmma_commit\n"
                     "%d = tile.wgmma_wait %f pending 0 : $f\n";

TEST_F(TileHazardTest, MatrixUnitReadsSharedMemory) {
  std::string right(storeRight), left(loadLeft);
  std::string product = left + start + finish;
  expectNone(right + "tile.fence_async\n}\ntile.barrier\n" + product);
  expectError(right + "}\ntile.barrier\n" + product,
              "the matrix unit reads what warp 0 stored, and no "
              "tile.fence_async stands in between");
  expectError(right + "}\ntile.barrier\ntile.fence_async\n" + product,
              "no tile.fence_async stands in between");
  expectError(right + "tile.fence_async\n}\n" + product,
              "warp 1 reads what warp 0 wrote");
  std::string store =
      "scf.if %is0 {\ntile.store %zb, %s[%c0, %c0] : $br, $bs\n}\n";
  std::string begin = right + "tile.fence_async\n}\ntile.barrier\n";
  expectError(begin + left + start + "tile.wgmma_commit\ntile.barrier\n" +
                  store + "%d = tile.wgmma_wait %f pending 0 : $f",
              "writes shared memory that a matrix product in flight reads");
  expectError(begin + product + store,
              "warp 0 writes what warp 3 reads, and no barrier");
  expectNone(begin + product + "tile.barrier\n" + store);
  expectError("%s = tile.alloc : $bs\n" + product,
              "reads shared memory that was never written");
}

TEST_F(TileHazardTest, MatrixUnitHasRegisters) {
  std::string begin =
      std::string(storeRight) + "tile.fence_async\n}\ntile.barrier\n";
  std::string fenced = begin + loadLeft;
  expectError(begin + "%l = tile.load %b[%c0, %c0] : $bg -> $l\n" + start +
                  finish,
              "expected a tile.wgmma_fence after its registers were written");
  expectError(fenced + start +
                  "%y = tile.convert %x : $r -> $l\ntile.wgmma_commit",
              "touches registers that a matrix product in flight writes");
  expectNone(fenced + start + finish + "%y = tile.convert %x : $r -> $l");
  expectError(fenced + start + "%d = tile.wgmma_wait %f pending 0 : $f",
              "waits for a product that was not committed");
  expectError(fenced + start +
                  "tile.wgmma_commit\n%d = tile.wgmma_wait %f pending 1 : $f",
              "asks for accumulators of a product that still runs");
  expectError(fenced + start + finish +
                  "%e = tile.wgmma_wait %f pending 0 : $f",
              "its accumulators were given to another operation");
  std::string next = "%g = tile.wgmma %f, %l, %s[%c0, %c0] : $f, $l, $bs\n";
  expectNone(fenced + start + next +
             "tile.wgmma_commit\n%d = tile.wgmma_wait %g pending 0 : $f");
  expectError(fenced + start + next + finish,
              "its accumulators were given to another operation");
  // The second group's accumulators do not wait for the first's.
  std::string two = "%z = tile.splat %f0 : $r\n" + fenced +
                    "%f = tile.wgmma %z, %l, %s[%c0, %c0] : $r, $l, $bs\n"
                    "tile.wgmma_commit\n"
                    "%g = tile.wgmma %z, %l, %s[%c0, %c0] : $r, $l, $bs\n"
                    "tile.wgmma_commit\n";
  expectNone(two + "%d = tile.wgmma_wait %f pending 1 : $f\n"
                   "%e = tile.wgmma_wait %g pending 0 : $f");
  expectError(two + "%e = tile.wgmma_wait %g pending 1 : $f",
              "asks for accumulators of a product that still runs");
}

TEST_F(TileHazardTest, MatrixUnitNeedsFourWarps) {
  std::string begin = std::string(storeRight) +
                      "tile.fence_async\n}\ntile.barrier\n" + loadLeft;
  expectError(begin + start + finish, "needs four warps, found a block of 2",
              2);
  expectError(begin + "scf.if %is0 {\n" + start + finish + "}",
              "is done by 1 of the 4 warps that do it together");
  expectError(begin + "scf.if %is0 {\n" + start + finish + "} else {\n" +
                  start + finish + "}",
              "does not start the product that the other three do");
  expectError(begin + "%f = tile.wgmma %x, %l, %s[%c1, %c0] : $r, $l, $bs",
              "reads 16x16 elements from row 1, column 0, outside of");
}

TEST_F(TileHazardTest, Scalars) {
  expectError("%y = arith.divui %c1, %c0 : index", "divides by zero");
  expectError("%m = arith.constant -1 : index\n"
              "scf.for %i = %c0 to %c4 step %c0 {\n}",
              "expected a positive step, found 0");
  expectError("%y = math.acos %f0 : f32", "is not known to the interpreter");
}

TEST_F(TileHazardTest, Arguments) {
  TileMatrix matrix = countMatrix(16, 16);
  matrix.tokens = true;
  EXPECT_NE(getError({matrix}, 1, "", 15)
                .find("expected argument 0 to be "
                      "15x16x'f32', found "
                      "16x16x'f32'"),
            std::string::npos);
  EXPECT_EQ(getError({matrix}, 1, "", 16), "");
}

} // namespace
