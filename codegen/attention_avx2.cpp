// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Attention in AVX2: 16 registers of 32 bytes.

#include "codegen/attention_kernel.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>
#include <limits>
#include <utility>

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#include "codegen/vector_avx2.h"
// After the vector that it is written in.
#include "codegen/attention_lines.h"
#define STRATA_VECTOR_BYTES 32
#include "codegen/attention_tile.h"
#include "codegen/attention_turn.h"

namespace strata::library {
namespace {

void score(const AttentionLines<float>& t) { score_all(t); }
void gather(const AttentionLines<float>& t) { gather_all(t); }
void attend_floats(const AttentionTile<float>& t) { attend<PlainInParts<float>>(t); }
void attend_doubles(const AttentionTile<double>& t) { attend<PlainInParts<double>>(t); }

constexpr int64_t kRegisters = 64 / STRATA_VECTOR_BYTES;  // of a vector

void turn_in(const float* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors, float* to) {
  transpose_in(from, stride, rows, columns, vectors * kRegisters, to);
}
void turn_out(const float* from, int64_t vectors, int64_t rows, int64_t columns, float* to, int64_t stride) {
  transpose_out(from, vectors * kRegisters, rows, columns, to, stride);
}

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void score_lines_avx2(const AttentionLines<float>& lines) { score(lines); }
void gather_lines_avx2(const AttentionLines<float>& lines) { gather(lines); }
void attend_tile_avx2(const AttentionTile<float>& tile) { attend_floats(tile); }
void attend_tile_avx2(const AttentionTile<double>& tile) { attend_doubles(tile); }
void pack_transposed_avx2(const float* from, int64_t stride, int64_t rows, int64_t columns, int64_t vectors,
                          float* to) {
  turn_in(from, stride, rows, columns, vectors, to);
}
void unpack_transposed_avx2(const float* from, int64_t vectors, int64_t rows, int64_t columns, float* to,
                            int64_t stride) {
  turn_out(from, vectors, rows, columns, to, stride);
}

}  // namespace strata::library

#else

namespace strata::library {

void score_lines_avx2(const AttentionLines<float>&) { throw_internal("no AVX2 on this processor"); }
void gather_lines_avx2(const AttentionLines<float>&) { throw_internal("no AVX2 on this processor"); }
void attend_tile_avx2(const AttentionTile<float>&) { throw_internal("no AVX2 on this processor"); }
void attend_tile_avx2(const AttentionTile<double>&) { throw_internal("no AVX2 on this processor"); }
void pack_transposed_avx2(const float*, int64_t, int64_t, int64_t, int64_t, float*) {
  throw_internal("no AVX2 on this processor");
}
void unpack_transposed_avx2(const float*, int64_t, int64_t, int64_t, float*, int64_t) {
  throw_internal("no AVX2 on this processor");
}

}  // namespace strata::library
#endif
