// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Winograd's convolutions in AVX2.

#include "codegen/winograd.h"
#include "core/support/error.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <utility>

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#include "codegen/vector_avx2.h"
// After the vector that it is written in.
#include "codegen/winograd_tile.h"
#pragma GCC pop_options

namespace strata::library {

const WinogradKernels& winograd_avx2() { return kKernels; }

}  // namespace strata::library

#else

namespace strata::library {

const WinogradKernels& winograd_avx2() { throw_internal("no AVX2 on this processor"); }

}  // namespace strata::library
#endif
