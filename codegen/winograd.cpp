// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Winograd's convolutions in AVX-512, and the choice of the instruction set.

#include "codegen/winograd.h"

#include <cstdlib>
#include <new>

#include "codegen/instruction_sets.h"

namespace strata::library {

FloatRoom::~FloatRoom() { std::free(memory_); }
float* FloatRoom::make(int64_t n) {
  memory_ = static_cast<float*>(std::calloc(static_cast<size_t>(n), sizeof(float)));
  if (!memory_) throw std::bad_alloc();
  return memory_;
}

}  // namespace strata::library

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <utility>

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both in the intrinsics of the compiler
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")
#include "codegen/vector_avx512.h"
// After the vector that it is written in.
#include "codegen/winograd_tile.h"
#pragma GCC pop_options

namespace strata::library {

const WinogradKernels* winograd_kernels() { return has_avx512() ? &kKernels : has_avx2() ? &winograd_avx2() : nullptr; }

}  // namespace strata::library

#else

namespace strata::library {

const WinogradKernels* winograd_kernels() { return nullptr; }

}  // namespace strata::library
#endif
