//===- Resources.h - What a tile program takes -*- C++ -*- ----------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_CONVERSION_RECURRENCETOTILE_RESOURCES_H
#define LARC_LIB_CONVERSION_RECURRENCETOTILE_RESOURCES_H

#include "larc/Dialect/Tile/IR/Tile.h"

namespace larc {

struct Resources {
  /// An estimate of the registers that a lane needs, for as many as are live at
  /// a time of the tiles, and for addresses.
  int64_t registers = 0;
  int64_t sharedBytes = 0;
};

Resources countResources(tile::ProgramOp program);

} // namespace larc

#endif // LARC_LIB_CONVERSION_RECURRENCETOTILE_RESOURCES_H
