//===- Segments.h - Into how many pieces sequences are cut ------*- C -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_RUNTIME_SEGMENTS_H
#define LARC_RUNTIME_SEGMENTS_H

#include <stdint.h>

// Names as C has them.
// NOLINTBEGIN(readability-identifier-naming)

/// The number of segments with which a GPU is predicted to be done first; of
/// two that take as long, the smaller. There are `chains` heads of sequences
/// with `tokens` each, and `places` thread blocks run at a time. Segments have
/// at least `least` tokens, and a sequence has at most `limit` of them (0: any
/// number).
///
/// Thread blocks run in turns, each for as long as its tokens take and what it
/// does before and after them. Summing up segments takes about 2/3 of the time
/// of doing them, and to compose them that of a kernel more.
static inline int64_t larc_choose_segments(int64_t chains, int64_t tokens,
                                           int64_t places, int64_t least,
                                           int64_t limit) {
  enum {
    besides = 80,    // what a block does besides, in tokens
    composing = 160, // likewise
    most = 4         // turns, since each segment has a record in memory
  };
  int64_t best = 1;
  double bestTime = 0;
  if (chains <= 0 || least <= 0)
    return best;
  for (int64_t segments = 1; segments <= tokens / least || segments == 1;
       ++segments) {
    if (segments > 1 &&
        ((limit > 0 && segments > limit) || segments > most * places / chains))
      break;
    double blocks = (double)chains * (double)segments;
    int64_t turns = (int64_t)((blocks + (double)places - 1) / (double)places);
    double time = (double)turns * ((double)tokens / (double)segments + besides);
    if (segments > 1)
      time = time * 5 / 3 + composing + (double)segments / 2;
    if (segments == 1 || time < bestTime) {
      best = segments;
      bestTime = time;
    }
  }
  return best;
}

// NOLINTEND(readability-identifier-naming)

#endif // LARC_RUNTIME_SEGMENTS_H
