//===- LinearState.h - Chunk equations of a linear state -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A state whose token map is S' = D (.) S + sum of a_w (x) y_w. With P the
// product of the decays of earlier tokens of the chunk, a read with coefficient
// b of the state that token i finds is
//
//   sum over R of (b P)[i] S_0  +  sum over j < i of A[i, j] y[j]
//   A[i, j] = sum over R of b[i] (product of D[l] over j < l < i) a[j]
//
// and every other read is one of these plus terms of the token's own writes.
// docs/transition-algebra.md has the derivation.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_DERIVECHUNK_LINEARSTATE_H
#define LARC_LIB_CONVERSION_DERIVECHUNK_LINEARSTATE_H

#include "ChunkDeriver.h"

namespace larc {

class LinearState {
public:
  LinearState(ChunkDeriver &deriver, const StateTransition &transition);

  /// Computes what the tokens write; reads can be asked for afterwards.
  mlir::LogicalResult derive();
  /// The value of a read that the update does not need, or needs and is known
  /// now. Null after a failure.
  mlir::Value getRead(const Read &read);
  /// The state at the chunk's end. Null after a failure.
  mlir::Value getEnd();

private:
  /// Factors by the axes that they have: those that reads sum over, the others
  /// of the state, none. Null: 1.
  struct Sides {
    mlir::Value key, value, scalar;
  };
  /// Writes that share a key.
  struct KeyedWrite {
    Product key;
    Sum value;
    /// `[token, R]` and `[token, F]`; null until they are known.
    mlir::Value keyArray, valueArray;
  };
  /// A write with a factor Phi over axes of both sides that is the same for all
  /// tokens: S has a part Phi (.) s with a small state s.
  struct Straddling {
    Product invariant;
    Sum written;
    /// Phi; s before each token; s at the end.
    mlir::Value invariantArray, before, end;
  };
  /// The state seen by reads that sum over `keyAxes`.
  struct View {
    llvm::SmallVector<mlir::StringAttr> keyAxes, valueAxes;
    Sides decay, prefix;
    llvm::SmallVector<KeyedWrite> writes;
    llvm::SmallVector<Straddling> straddling;
  };
  /// A read, taken apart: a read of the old state and what its own token adds.
  struct NormalRead {
    View *view;
    mlir::Value reader; ///< b D_X over R
    mlir::Value plain;  ///< b over R, for the token's own writes
    mlir::Value past;   ///< the part from the chunk's start, [token, F]
    Sides pointDecay;   ///< D_X; its value side multiplies what is past
    mlir::Value factor; ///< b's factors outside of R
    /// The token's own writes at the point of the read.
    llvm::SmallVector<KeyedWrite> own;
    mlir::Value straddling; ///< the part of straddling writes, or null
  };

  std::optional<Sides> splitDecay(const Sum &decay, const View &view);
  bool addWrites(llvm::ArrayRef<Product> products, const View &view,
                 llvm::SmallVectorImpl<KeyedWrite> &writes,
                 llvm::SmallVectorImpl<Straddling> &straddling);
  View *getView(llvm::ArrayRef<mlir::StringAttr> keyAxes);
  mlir::Value makeKey(const KeyedWrite &write, const View &view);
  mlir::Value makeValue(const KeyedWrite &write, const View &view);
  bool fillValues(View &view);
  bool deriveStraddling(View &view, Straddling &part);
  mlir::Value readStraddling(const NormalRead &read, const Straddling &part,
                             llvm::ArrayRef<Straddling> own);
  std::optional<NormalRead> normalize(const Read &read);
  mlir::Value makePast(const NormalRead &read);
  mlir::Value makeScores(const NormalRead &read, const KeyedWrite &write,
                         mlir::Value diagonal);
  mlir::LogicalResult solve();
  mlir::Value cumulate(mlir::Value factors, bool backward);
  mlir::Value total(mlir::Value factors);
  class SolveRegion;

  ChunkDeriver &deriver;
  ArrayBuilder &build;
  const StateTransition &transition;
  mlir::Value stateArgument;
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<std::unique_ptr<View>> views;
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_DERIVECHUNK_LINEARSTATE_H
