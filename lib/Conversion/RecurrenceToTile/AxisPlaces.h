//===- AxisPlaces.h - Where axes lie in tiles -*- C++ -*- -----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENCETOTILE_AXISPLACES_H
#define LARC_LIB_CONVERSION_RECURRENCETOTILE_AXISPLACES_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/ADT/DenseMap.h"

namespace larc {

/// Where an axis lies in every tile that has it. An axis with a loop is in no
/// tile: arrays that have it are computed at one index at a time.
enum class AxisPlace { Rows, Cols, Loop };

using AxisPlaces = llvm::DenseMap<mlir::StringAttr, AxisPlace>;

/// Finds a place for every axis of a flat, bound recurrence without nests, such
/// that no array, and no product that is summed, has two axes in one dimension.
/// Of the possibilities one is taken in which states lie as in memory, with
/// loops only where dimensions do not suffice. Reports the operation that rules
/// all of them out.
mlir::FailureOr<AxisPlaces> placeAxes(RecurrenceOp recurrence);

/// The axes of the iteration space of an elementwise operation or a reduction.
llvm::SmallVector<mlir::StringAttr> getSpace(mlir::Operation *op);

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENCETOTILE_AXISPLACES_H
