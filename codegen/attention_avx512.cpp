// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Attention for few rows in AVX-512.

#include "codegen/attention_kernel.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both in the intrinsics of the compiler
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma")
#include "codegen/vector_avx512.h"
// After the vector that it is written in.
#include "codegen/attention_lines.h"

namespace strata::library {
namespace {

void score(const AttentionLines<float>& t) { score_all(t); }
void gather(const AttentionLines<float>& t) { gather_all(t); }

}  // namespace
}  // namespace strata::library
#pragma GCC pop_options

namespace strata::library {

void score_lines_avx512(const AttentionLines<float>& lines) { score(lines); }
void gather_lines_avx512(const AttentionLines<float>& lines) { gather(lines); }

}  // namespace strata::library

#else

namespace strata::library {

void score_lines_avx512(const AttentionLines<float>&) { throw_internal("no AVX-512 on this processor"); }
void gather_lines_avx512(const AttentionLines<float>&) { throw_internal("no AVX-512 on this processor"); }

}  // namespace strata::library
#endif
