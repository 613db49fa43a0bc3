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
#pragma GCC target("avx2,fma")
#include "codegen/vector_avx2.h"
// After the vector that it is written in.
#include "codegen/attention_lines.h"
#define STRATA_VECTOR_BYTES 32
#include "codegen/attention_tile.h"

namespace strata::library {
namespace {

void score(const AttentionLines<float>& t) { score_all(t); }
void gather(const AttentionLines<float>& t) { gather_all(t); }
void attend_floats(const AttentionTile<float>& t) { attend<PlainInParts<float>>(t); }
void attend_doubles(const AttentionTile<double>& t) { attend<PlainInParts<double>>(t); }

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void score_lines_avx2(const AttentionLines<float>& lines) { score(lines); }
void gather_lines_avx2(const AttentionLines<float>& lines) { gather(lines); }
void attend_tile_avx2(const AttentionTile<float>& tile) { attend_floats(tile); }
void attend_tile_avx2(const AttentionTile<double>& tile) { attend_doubles(tile); }

}  // namespace strata::library

#else

namespace strata::library {

void score_lines_avx2(const AttentionLines<float>&) { throw_internal("no AVX2 on this processor"); }
void gather_lines_avx2(const AttentionLines<float>&) { throw_internal("no AVX2 on this processor"); }
void attend_tile_avx2(const AttentionTile<float>&) { throw_internal("no AVX2 on this processor"); }
void attend_tile_avx2(const AttentionTile<double>&) { throw_internal("no AVX2 on this processor"); }

}  // namespace strata::library
#endif
