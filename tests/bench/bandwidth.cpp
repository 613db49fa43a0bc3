// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// What bench_bandwidth.py measures kernels against; g++ -O3 -march=native -fopenmp. Lengths are multiples of 16
/// floats, addresses of 64 bytes.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>

namespace {

#ifdef __AVX512F__
constexpr long kLanes = 16;
using Vector = __m512;
extern "C" Vector _ZGVeN16v_sinf(Vector);
extern "C" Vector _ZGVeN16v_cosf(Vector);
Vector load(const float* p) { return _mm512_loadu_ps(p); }
void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
void stream(float* p, Vector v) { _mm512_stream_ps(p, v); }
Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
Vector sum_of_squares(Vector a, Vector b) { return _mm512_fmadd_ps(a, a, _mm512_mul_ps(b, b)); }
Vector sine(Vector v) { return _ZGVeN16v_sinf(v); }
Vector cosine(Vector v) { return _ZGVeN16v_cosf(v); }
float first(Vector v) { return _mm512_cvtss_f32(v); }
#else
constexpr long kLanes = 8;
using Vector = __m256;
extern "C" Vector _ZGVdN8v_sinf(Vector);
extern "C" Vector _ZGVdN8v_cosf(Vector);
Vector load(const float* p) { return _mm256_loadu_ps(p); }
void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
void stream(float* p, Vector v) { _mm256_stream_ps(p, v); }
Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
Vector sum_of_squares(Vector a, Vector b) { return _mm256_add_ps(_mm256_mul_ps(a, a), _mm256_mul_ps(b, b)); }
Vector sine(Vector v) { return _ZGVdN8v_sinf(v); }
Vector cosine(Vector v) { return _ZGVdN8v_cosf(v); }
float first(Vector v) { return _mm256_cvtss_f32(v); }
#endif

/// Reads every array of `reads`, writes every one of `writes`: what comes in is added and goes out. Four vectors at a
/// time, so that sums do not wait for one another. Perhaps what is read a page later is fetched into the second cache:
/// the machine's own prefetching ends at a page.
template <int kReads, bool kStreaming, bool kAhead>
void move_part(const float* const* reads, float* const* writes, int written, long begin, long end, float* result) {
  Vector sums[4] = {};
  for (long i = begin; i < end; i += 4 * kLanes) {
    for (int part = 0; part < 4; ++part) {
      const long at = i + part * kLanes;
      for (int r = 0; kAhead && r < kReads; ++r)
        _mm_prefetch(reinterpret_cast<const char*>(reads[r] + at + 1024), _MM_HINT_T1);
      Vector value = kReads > 0 ? load(reads[0] + at) : Vector{};
      for (int r = 1; r < kReads; ++r) value = add(value, load(reads[r] + at));
      if (written == 0) sums[part] = add(sums[part], value);
      if (written > 0) kStreaming ? stream(writes[0] + at, value) : store(writes[0] + at, value);
    }
  }
  if constexpr (kStreaming) _mm_sfence();
  *result = first(add(add(sums[0], sums[1]), add(sums[2], sums[3])));
}

/// Each thread has a part of n floats, of whole blocks, and a result that is kept.
template <typename Part>
void in_parts(long n, int threads, const Part& part) {
  const long block = 4 * kLanes;
  const long share = (n / block + threads - 1) / threads * block;
  float results[256];
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) part(std::min(n, t * share), std::min(n, (t + 1) * share), &results[t]);
  volatile float kept = results[0];
  (void)kept;
}

template <int kReads, bool kAhead>
void move_all(bool streaming, const float* const* reads, float* const* writes, int written, long n, int threads) {
  in_parts(n, threads, [&](long begin, long end, float* result) {
    if (streaming)
      move_part<kReads, true, kAhead>(reads, writes, written, begin, end, result);
    else
      move_part<kReads, false, kAhead>(reads, writes, written, begin, end, result);
  });
}

/// Reads `x`, writes `y` past the caches if there is one, and takes `kWork` steps of registers alone, which wait for
/// nothing, beside each vector: what a kernel's arithmetic costs where all of it has room beside memory.
template <int kWork>
void work_part(const float* x, float* y, long begin, long end, float* result) {
  Vector sums[4] = {}, a{}, b{};
  for (long i = begin; i < end; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      const long at = i + part * kLanes;
      _mm_prefetch(reinterpret_cast<const char*>(x + at + 1024), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(x + at + 2048), _MM_HINT_T1);
      const Vector value = load(x + at);
#pragma GCC unroll 16
      for (int k = 0; k < kWork; ++k) {
        asm volatile("" : "+v"(a));  // who knows what it is now
        const Vector step = multiply_add(a, b, b);
        asm volatile("" : : "v"(step));
      }
      if (y == nullptr)
        sums[part] = add(sums[part], value);
      else
        stream(y + at, value);
    }
  }
  _mm_sfence();
  *result = first(add(add(sums[0], sums[1]), add(sums[2], sums[3])));
}

}  // namespace

extern "C" {

/// n floats of x read and, if it is not null, of y written, with 0, 4, 8 or 16 multiply-adds a vector.
void work(int steps, const float* x, float* y, long n, int threads) {
  const auto all = [&]<int kWork>() {
    in_parts(n, threads, [&](long begin, long end, float* to) { work_part<kWork>(x, y, begin, end, to); });
  };
  if (steps == 0) all.operator()<0>();
  if (steps == 4) all.operator()<4>();
  if (steps == 8) all.operator()<8>();
  if (steps == 16) all.operator()<16>();
}

/// One to three arrays read, none or one written, of n floats, n a multiple of 64.
void move(int streaming, int ahead, const float* const* reads, int read, float* const* writes, int written, long n,
          int threads) {
  const auto all = [&]<int kReads>() {
    ahead != 0 ? move_all<kReads, true>(streaming != 0, reads, writes, written, n, threads)
               : move_all<kReads, false>(streaming != 0, reads, writes, written, n, threads);
  };
  if (read == 1) all.operator()<1>();
  if (read == 2) all.operator()<2>();
  if (read == 3) all.operator()<3>();
}

void sin2cos2(const float* in, float* out, long n, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; i += kLanes) {
    const Vector x = load(in + i);
    store(out + i, sum_of_squares(sine(x), cosine(x)));
  }
}

}  // extern "C"
