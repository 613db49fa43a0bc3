// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/vector_math.h"

#include <cmath>
#include <string>

#include "codegen/math_symbol.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define STRATA_HAS_VECTOR_MATH 1
#include <immintrin.h>
#endif

namespace strata::library {
namespace {

using Scalar = float (*)(float);

/// A function in three forms; addresses are null where the library does not have it.
struct Function {
  Scalar scalar;
  void *eight = nullptr, *sixteen = nullptr;

  Function(const char* name, Scalar one) : scalar(one) {
#ifdef STRATA_HAS_VECTOR_MATH
    // Names as the vector ABI of x86-64 builds them: instruction set (d: AVX2, e: AVX-512), no mask, lanes, one vector.
    if (__builtin_cpu_supports("avx512f")) sixteen = codegen::math_symbol(std::string("_ZGVeN16v_") + name);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      eight = codegen::math_symbol(std::string("_ZGVdN8v_") + name);
#endif
  }
};

#ifdef STRATA_HAS_VECTOR_MATH
__attribute__((target("avx512f"))) void by_sixteen(void* function, float* x, int64_t n) {
  const auto f = reinterpret_cast<__m512 (*)(__m512)>(function);
  for (int64_t i = 0; i < n; i += 16) _mm512_storeu_ps(x + i, f(_mm512_loadu_ps(x + i)));
}
__attribute__((target("avx2,fma"))) void by_eight(void* function, float* x, int64_t n) {
  const auto f = reinterpret_cast<__m256 (*)(__m256)>(function);
  for (int64_t i = 0; i < n; i += 8) _mm256_storeu_ps(x + i, f(_mm256_loadu_ps(x + i)));
}
#else
void by_sixteen(void*, float*, int64_t) {}
void by_eight(void*, float*, int64_t) {}
#endif

void apply_all(const Function& f, float* x, int64_t n) {
  if (f.sixteen) return by_sixteen(f.sixteen, x, n);
  if (f.eight) return by_eight(f.eight, x, n);
  for (int64_t i = 0; i < n; ++i) x[i] = f.scalar(x[i]);
}

}  // namespace

void exp_all(float* x, int64_t n) {
  static const Function f("expf", std::exp);
  apply_all(f, x, n);
}
void expm1_all(float* x, int64_t n) {
  static const Function f("expm1f", std::expm1);
  apply_all(f, x, n);
}
void tanh_all(float* x, int64_t n) {
  static const Function f("tanhf", std::tanh);
  apply_all(f, x, n);
}
void erf_all(float* x, int64_t n) {
  static const Function f("erff", std::erf);
  apply_all(f, x, n);
}

}  // namespace strata::library
