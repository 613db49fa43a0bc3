// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/vector_math.h"

#include <array>
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
/// x[i] = f(x[i]), where `f` is what the loop knows how to call.
using VectorLoop = void (*)(void* f, float* x, int64_t n);

void by_one(void* f, float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = reinterpret_cast<Scalar>(f)(x[i]);
}

#ifdef STRATA_HAS_VECTOR_MATH
// Each is compiled for the instructions that its vectors need, which a template over the vector's type could not be.
__attribute__((target("avx512f"))) void by_sixteen(void* f, float* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 16)
    _mm512_storeu_ps(x + i, reinterpret_cast<__m512 (*)(__m512)>(f)(_mm512_loadu_ps(x + i)));
}
__attribute__((target("avx2,fma"))) void by_eight(void* f, float* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 8)
    _mm256_storeu_ps(x + i, reinterpret_cast<__m256 (*)(__m256)>(f)(_mm256_loadu_ps(x + i)));
}
#endif

/// The widest form of a function that processor and library have.
struct MathForm {
  VectorLoop loop = by_one;
  void* function;

  MathForm(const char* name, Scalar scalar) : function(reinterpret_cast<void*>(scalar)) {
#ifdef STRATA_HAS_VECTOR_MATH
    // Names as the vector ABI of x86-64 builds them: instruction set (d: AVX2, e: AVX-512), no mask, lanes, one vector.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) take(by_eight, "_ZGVdN8v_", name);
    if (__builtin_cpu_supports("avx512f")) take(by_sixteen, "_ZGVeN16v_", name);
#endif
  }

 private:
  void take(VectorLoop with, const char* prefix, const char* name) {
    void* const found = codegen::math_symbol(std::string(prefix) + name);
    if (!found) return;
    loop = with;
    function = found;
  }
};

}  // namespace

void apply_all(MathFunction f, float* x, int64_t n) {
  static const std::array<MathForm, 4> forms{
      {{"expf", std::exp}, {"expm1f", std::expm1}, {"tanhf", std::tanh}, {"erff", std::erf}}};
  const MathForm& form = forms[static_cast<size_t>(f)];
  form.loop(form.function, x, n);
}

}  // namespace strata::library
