// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/vector_math.h"

#include <array>
#include <cmath>
#include <string>

#include "codegen/erf_tables.h"
#include "codegen/instruction_sets.h"
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

/// erf as vector_tables.cpp has it, a third of the time of libmvec's.
__attribute__((target("avx512f"))) void erf_by_sixteen(void* /*function*/, float* x, int64_t n) {
  using codegen::kErf;
  constexpr __mmask16 kAll = 0xFFFF;  // GCC 12 takes the forms without a mask for uses of what is not set
  const __m512 last = _mm512_set1_ps(static_cast<float>(15 / codegen::kErfSteps)),
               steps = _mm512_set1_ps(static_cast<float>(codegen::kErfSteps)), shift = _mm512_set1_ps(12582912);
  const __m512i signs = _mm512_set1_epi32(INT32_MIN);
  __m512 factors[kErf.size()];
  for (size_t k = 0; k < kErf.size(); ++k) factors[k] = _mm512_loadu_ps(kErf[k].data());
  for (int64_t i = 0; i < n; i += 16) {
    const __m512 v = _mm512_loadu_ps(x + i), size = _mm512_maskz_min_ps(kAll, last, _mm512_abs_ps(v));  // NaN stays
    const __m512 shifted = _mm512_fmadd_ps(size, steps, shift);  // a whole number, in the low bits
    const __m512 d = _mm512_fmsub_ps(size, steps, _mm512_sub_ps(shifted, shift));
    const __m512i index = _mm512_castps_si512(shifted);
    __m512 p = _mm512_maskz_permutexvar_ps(kAll, index, factors[kErf.size() - 1]);
#pragma GCC unroll 8
    for (size_t k = kErf.size() - 1; k-- > 0;)
      p = _mm512_fmadd_ps(p, d, _mm512_maskz_permutexvar_ps(kAll, index, factors[k]));
    const __m512i sign = _mm512_and_si512(_mm512_castps_si512(v), signs);
    _mm512_storeu_ps(x + i, _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(p), sign)));
  }
}
__attribute__((target("avx2,fma"))) void erf_by_eight(void* /*function*/, float* x, int64_t n) {
  using codegen::kWideErf;
  const __m256 last = _mm256_set1_ps(static_cast<float>(7 / codegen::kWideErfSteps)),
               steps = _mm256_set1_ps(static_cast<float>(codegen::kWideErfSteps)), shift = _mm256_set1_ps(12582912),
               signs = _mm256_set1_ps(-0.0F);
  __m256 factors[kWideErf.size()];
  for (size_t k = 0; k < kWideErf.size(); ++k) factors[k] = _mm256_loadu_ps(kWideErf[k].data());
  for (int64_t i = 0; i < n; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i), size = _mm256_min_ps(last, _mm256_andnot_ps(signs, v));
    const __m256 shifted = _mm256_fmadd_ps(size, steps, shift);
    const __m256 d = _mm256_fmsub_ps(size, steps, _mm256_sub_ps(shifted, shift));
    const __m256i index = _mm256_castps_si256(shifted);
    __m256 p = _mm256_permutevar8x32_ps(factors[kWideErf.size() - 1], index);
#pragma GCC unroll 8
    for (size_t k = kWideErf.size() - 1; k-- > 0;)
      p = _mm256_fmadd_ps(p, d, _mm256_permutevar8x32_ps(factors[k], index));
    _mm256_storeu_ps(x + i, _mm256_or_ps(p, _mm256_and_ps(v, signs)));
  }
}
#endif

/// The widest form of a function that processor and library have.
struct MathForm {
  VectorLoop loop = by_one;
  void* function;

  MathForm(const char* name, Scalar scalar) : function(reinterpret_cast<void*>(scalar)) {
#ifdef STRATA_HAS_VECTOR_MATH
    if (scalar == static_cast<Scalar>(std::erf) && has_avx2()) {
      loop = has_avx512() ? erf_by_sixteen : erf_by_eight;
      return;
    }
    // Names as the vector ABI of x86-64 builds them: instruction set (d: AVX2, e: AVX-512), no mask, lanes, one vector.
    if (has_avx2()) take(by_eight, "_ZGVdN8v_", name);
    if (has_avx512()) take(by_sixteen, "_ZGVeN16v_", name);
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
