/*===- decode.c - One token through a compiled recurrence ---------*- C -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes tokens of four heads with the object that `larc compile` made of a
// linear attention with a gate per key channel, the states in place, and
// compares with the same loop written out. -DBF16: operands and outputs of 16
// bits. Plain C11.
//
//===----------------------------------------------------------------------===*/

#include "larc/Runtime/Recurrent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { heads = 4, K = 16, V = 24, tokens = 5 };

void larc_gla(const larc_call *call, int64_t first, int64_t last,
              void *scratch);
extern const int64_t larc_gla_scratch_bytes;
extern const int64_t larc_gla_blocks;

#ifdef BF16
typedef uint16_t element;
static const double limit = 1e-2;
static float widen(element x) {
  uint32_t bits = (uint32_t)x << 16;
  float y;
  memcpy(&y, &bits, 4);
  return y;
}
static element narrow(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return (element)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
#else
typedef float element;
static const double limit = 1e-5;
static float widen(element x) { return x; }
static element narrow(float x) { return x; }
#endif

/* Uniform in [-1, 1). */
static float draw(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / 8388608.0f - 1.0f;
}

int main(void) {
  element q[heads][K], k[heads][K], v[heads][V], g[heads][K], o[heads][V];
  static float S[heads][K][V];
  static double expected[heads][K][V];
  /* One sequence; the position is what came before. */
  int64_t begin = 0, length = 1, position = 0;
  larc_tensor tensors[] = {
      {q, heads * K, heads * K, K, heads}, {k, heads * K, heads * K, K, heads},
      {v, heads * V, heads * V, V, heads}, {g, heads * K, heads * K, K, heads},
      {o, heads * V, heads * V, V, heads}, {S, heads * K * V, 0, K * V, heads},
      {S, heads * K * V, 0, K * V, heads},
  };
  larc_call call = {1, heads, &begin, &length, &position, tensors};
  size_t bytes = (size_t)(larc_gla_scratch_bytes + 63) / 64 * 64;
  void *scratch = aligned_alloc(64, bytes);
  double worst = 0.0;
  int h, i, j, t;
  if (!scratch || larc_gla_blocks < 1)
    return 1;

  for (h = 0; h < heads; ++h)
    for (i = 0; i < K; ++i)
      for (j = 0; j < V; ++j)
        expected[h][i][j] = S[h][i][j] = draw();
  for (t = 0; t < tokens; ++t) {
    for (h = 0; h < heads; ++h) {
      for (i = 0; i < K; ++i) {
        q[h][i] = narrow(draw());
        k[h][i] = narrow(draw());
        g[h][i] = narrow(-fabsf(draw()));
      }
      for (j = 0; j < V; ++j)
        v[h][j] = narrow(draw());
    }
    position = t;
    larc_gla(&call, 0, heads * larc_gla_blocks, scratch);
    for (h = 0; h < heads; ++h)
      for (j = 0; j < V; ++j) {
        double sum = 0.0, error;
        for (i = 0; i < K; ++i) {
          double *s = &expected[h][i][j];
          *s = exp(widen(g[h][i])) * *s + widen(k[h][i]) * widen(v[h][j]);
          sum += *s * widen(q[h][i]);
        }
        error = fabs(sum / sqrt(K) - widen(o[h][j]));
        /* Also where the difference is no number. */
        if (!(error <= worst))
          worst = error;
      }
  }
  for (h = 0; h < heads; ++h)
    for (i = 0; i < K; ++i)
      for (j = 0; j < V; ++j)
        if (!(fabs(expected[h][i][j] - S[h][i][j]) <= 1e-5)) {
          printf("state %d, %d, %d: %g, expected %g\n", h, i, j, S[h][i][j],
                 expected[h][i][j]);
          return 1;
        }
  free(scratch);
  if (!(worst <= limit)) {
    printf("outputs: error %g\n", worst);
    return 1;
  }
  printf("ok\n");
  return 0;
}
