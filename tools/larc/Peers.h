//===- Peers.h - Timing peers beside larc -----------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_TOOLS_LARC_PEERS_H
#define LARC_TOOLS_LARC_PEERS_H

#include "Bench.h"

namespace larc::driver {

/// Times `library` and its peers on the GPU in one process of Python, which has
/// the peers, on the dims of `measurement`, and enters what the script says
/// there. A fault says what is missing.
llvm::Error measurePeers(const Library &library, Measurement &measurement);

/// Prints the peers of `measurements`.
void printPeers(llvm::ArrayRef<Measurement> measurements);

} // namespace larc::driver

#endif // LARC_TOOLS_LARC_PEERS_H
