//===- TokenScan.h - States that are scanned over tokens -*- C++ -*- ------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_CHUNKTOTILE_TOKENSCAN_H
#define LARC_LIB_CONVERSION_CHUNKTOTILE_TOKENSCAN_H

#include "RoleEmitter.h"

namespace larc {

/// What a state that is carried from token to token is before and after each
/// token of a chunk: computed by the warp of the first role that has the chunk,
/// before all else, and left in shared memory for all roles. Lanes have
/// channels of their own, all of a token at a time, so that tokens are combined
/// within a lane. From chunk to chunk, which is from warp to warp, goes what
/// the state is after the last token.
class TokenScan : public RoleEmitter {
public:
  TokenScan(const ScanPlan &plan, SharedArrays &shared,
            mlir::ValueRange arguments, const CarriedForm &form)
      : RoleEmitter(plan, shared, arguments, tile::Dimension::Rows,
                    /*barrierId=*/0, /*warps=*/1),
        form(form) {}

  /// A chunk, as the warp that has it finds it.
  struct Chunk {
    mlir::Value number, stage, remaining;
    /// Tiles of the operands with one number for each token.
    const llvm::DenseMap<mlir::Value, mlir::Value> *scalars;
  };

  /// Allocates memory; the first of the warps hands `initial` to who has the
  /// first chunk.
  void begin(mlir::OpBuilder &at, mlir::Value warpNumber, mlir::Value initial);
  /// Scans a chunk.
  void scan(mlir::OpBuilder &at, const Chunk &chunk);
  /// One of the warps writes the state after all of `chunks` chunks to `final`.
  void end(mlir::OpBuilder &at, mlir::Value chunks, mlir::Value final);

protected:
  mlir::Value evaluateLeaf(mlir::Value value) override;
  mlir::Value evaluateScale(Scale scale, mlir::Value decay) override;

private:
  /// (state + shift) (+) input; shift is null where it is 0.
  struct Step {
    mlir::Value shift, input;
  };

  tile::RegType getRowsType(int64_t rows, mlir::StringAttr axis) const;
  int64_t getCols() const;
  int64_t getToken(int64_t group) const;
  bool fitsRegisters() const;
  mlir::Value join(mlir::ValueRange rows);
  mlir::Value getRow(mlir::Value tile, int64_t row);
  mlir::Value evaluateRows(mlir::Value value, double otherwise);
  void storeRows(mlir::Value tile, mlir::Value memory, int64_t first);
  mlir::Value loadRows(mlir::Value memory, int64_t first);

  mlir::Value combine(mlir::Value lhs, mlir::Value rhs);
  Step getStep();
  Step join(llvm::ArrayRef<Step> steps);
  Step getRow(const Step &step, int64_t row);
  Step compose(const Step &first, const Step &second);
  mlir::Value apply(mlir::Value state, const Step &step);
  Step scanGroups(llvm::SmallVectorImpl<Step> &known);
  void wait(mlir::Value number);
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  const CarriedForm &form;
  mlir::Value self;
  /// Rings of the state; rows of what shifts add up to; what goes from chunk to
  /// chunk, and when.
  mlir::Value states, shifts, carry, phases;
  const llvm::DenseMap<mlir::Value, mlir::Value> *scalars = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> constants;
  int64_t inGroup = 0; ///< the token of each group that is evaluated
};

} // namespace larc

#endif // LARC_LIB_CONVERSION_CHUNKTOTILE_TOKENSCAN_H
