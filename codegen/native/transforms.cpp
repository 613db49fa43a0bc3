// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Fourier transforms along a dimension: lines are brought side by side, some at a time, transformed together, and
// written where they belong.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include "codegen/native/fourier.h"
#include "codegen/native/fourier_passes.h"
#include "codegen/native/native_kernel.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::native {
namespace {

/// Tables of the lengths that were asked for last; a program has few.
template <class T>
std::shared_ptr<const Fourier<T>> fourier_of(int64_t n) {
  constexpr size_t kKept = 64;
  static std::mutex mutex;
  static std::map<int64_t, std::shared_ptr<const Fourier<T>>> made;
  const std::scoped_lock lock(mutex);
  if (const auto it = made.find(n); it != made.end()) return it->second;
  if (made.size() == kKept) made.clear();
  return made[n] = std::make_shared<const Fourier<T>>(n);
}

/// All lines of a tensor along one dimension, counted row by row over the others.
template <class T>
class Lines {
 public:
  Lines(const Tensor& t, size_t dim) : data_(t.ptr<T>()), step_(t.strides[dim]) {
    for (size_t d = t.rank(); d-- > 0;) {
      if (d == dim || t.shape[d] == 1) continue;
      if (!sizes_.empty() && t.strides[d] == sizes_.back() * strides_.back()) {
        sizes_.back() *= t.shape[d];
        continue;
      }
      sizes_.push_back(t.shape[d]);
      strides_.push_back(t.strides[d]);
    }
  }

  /// Lines `first` to `first + lanes` side by side.
  void read(int64_t first, int64_t lanes, int64_t n, T* to) const {
    each_run(first, lanes, [&](const T* from, int64_t apart, int64_t lane, int64_t count) {
      T* out = to + lane;
      if (step_ == 1) {
        transpose(from, apart, out, lanes, count, n);
      } else if (apart == 1) {
        for (int64_t k = 0; k < n; ++k) std::copy_n(from + k * step_, count, out + k * lanes);
      } else {
        for (int64_t l = 0; l < count; ++l)
          for (int64_t k = 0; k < n; ++k) out[k * lanes + l] = from[l * apart + k * step_];
      }
    });
  }
  /// Back, times `scale`; `from` is used up.
  void write(int64_t first, int64_t lanes, int64_t n, T* from, T scale) const {
    if (scale != T{1})
      for (int64_t i = 0; i < n * lanes; ++i) from[i] *= scale;
    each_run(first, lanes, [&](T* to, int64_t apart, int64_t lane, int64_t count) {
      const T* in = from + lane;
      if (step_ == 1) {
        transpose(in, lanes, to, apart, n, count);
      } else if (apart == 1) {
        for (int64_t k = 0; k < n; ++k) std::copy_n(in + k * lanes, count, to + k * step_);
      } else {
        for (int64_t l = 0; l < count; ++l)
          for (int64_t k = 0; k < n; ++k) to[l * apart + k * step_] = in[k * lanes + l];
      }
    });
  }

 private:
  /// `f(line, apart, lane, count)`: `count` lines, each `apart` from the one before, from lane `lane` on.
  template <class F>
  void each_run(int64_t first, int64_t lanes, F f) const {
    if (sizes_.empty()) return f(data_, int64_t{1}, int64_t{0}, lanes);
    for (int64_t lane = 0; lane < lanes;) {
      const int64_t count = std::min(lanes - lane, sizes_[0] - (first + lane) % sizes_[0]);
      f(line(first + lane), strides_[0], lane, count);
      lane += count;
    }
  }
  T* line(int64_t index) const {
    int64_t at = 0;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      at += index % sizes_[k] * strides_[k];
      index /= sizes_[k];
    }
    return data_ + at;
  }

  T* data_;
  int64_t step_;
  std::vector<int64_t> sizes_, strides_;  ///< innermost first
};

double factor(const Arguments& a, size_t normalization, size_t count) {
  const int64_t kind = a.integer(normalization);
  const auto n = static_cast<double>(a.integer(count));
  return kind == 0 ? 1 : kind == 1 ? 1 / std::sqrt(n) : 1 / n;
}

/// So many lines at once that a vector has one number of each; long lines alone, for they fill the caches.
template <class T>
int64_t lanes_for(int64_t n, bool real) {
  return n >= (real ? 16384 : 2048) ? 1 : 64 / static_cast<int64_t>(sizeof(T));
}

/// `work(first, lanes, memory)` of blocks of lines; `elements` of memory for every lane, and the scratch.
template <class T, class F>
void in_blocks(int64_t lines, const Fourier<T>& fourier, int64_t elements, bool real, F work) {
  const int64_t n = fourier.size(), each = lanes_for<T>(n, real), blocks = (lines + each - 1) / each;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / (n * each));
  parallel_for(blocks, grain, [&](int64_t from, int64_t to) {
    std::vector<T> memory(static_cast<size_t>(elements * each + fourier.scratch_elements(each)));
    for (int64_t block = from; block < to; ++block) {
      const int64_t first = block * each;
      work(first, std::min(each, lines - first), memory.data());
    }
  });
}

template <class T>
void c2c(const Arguments& a) {
  const Tensor &re = a.tensor(0), &im = a.tensor(1);
  const auto dim = static_cast<size_t>(a.integer(2));
  const int64_t n = re.shape[dim], total = re.numel();
  if (total == 0) return;
  const bool forward = a.call.boolean(3);
  const auto fourier = fourier_of<T>(n);
  const T scale = static_cast<T>(factor(a, 4, 5));
  const Lines<T> in_re(re, dim), in_im(im, dim);
  in_blocks<T>(total / n, *fourier, 2 * n, false, [&](int64_t first, int64_t lanes, T* memory) {
    T *x = memory, *y = x + n * lanes, *scratch = y + n * lanes;
    in_re.read(first, lanes, n, x);
    in_im.read(first, lanes, n, y);
    forward ? fourier->transform(x, y, lanes, scratch) : fourier->transform(y, x, lanes, scratch);
    if (a.result(0).defined()) Lines<T>(a.result(0), dim).write(first, lanes, n, x, scale);
    if (a.result(1).defined()) Lines<T>(a.result(1), dim).write(first, lanes, n, y, scale);
  });
}

/// What the first half says of the second: the conjugate in reverse order.
template <class T>
void mirror(T* re, T* im, int64_t n, int64_t lanes) {
  for (int64_t k = n / 2 + 1; k < n; ++k)
    for (int64_t l = 0; l < lanes; ++l) {
      re[k * lanes + l] = re[(n - k) * lanes + l];
      im[k * lanes + l] = -im[(n - k) * lanes + l];
    }
}

template <class T>
void r2c(const Arguments& a) {
  const Tensor& in = a.tensor(0);
  const auto dim = static_cast<size_t>(a.integer(1));
  const int64_t n = in.shape[dim], total = in.numel();
  if (total == 0) return;
  const bool half = a.call.boolean(4);
  const int64_t m = half ? n / 2 + 1 : n;
  const auto fourier = fourier_of<T>(n);
  const T scale = static_cast<T>(factor(a, 2, 3));
  const Lines<T> lines(in, dim);
  in_blocks<T>(total / n, *fourier, n + 2 * m, true, [&](int64_t first, int64_t lanes, T* memory) {
    T *x = memory, *re = x + n * lanes, *im = re + m * lanes, *scratch = im + m * lanes;
    lines.read(first, lanes, n, x);
    fourier->forward_real(x, re, im, lanes, scratch);
    if (!half) mirror(re, im, n, lanes);
    if (a.result(0).defined()) Lines<T>(a.result(0), dim).write(first, lanes, m, re, scale);
    if (a.result(1).defined()) Lines<T>(a.result(1), dim).write(first, lanes, m, im, scale);
  });
}

template <class T>
void c2r(const Arguments& a) {
  const Tensor &in_re = a.tensor(0), &in_im = a.tensor(1), &out = a.result();
  const auto dim = static_cast<size_t>(a.integer(2));
  const int64_t n = out.shape[dim], m = n / 2 + 1, total = out.numel();
  if (total == 0) return;
  if (in_re.shape[dim] < m)
    throw_user("a spectrum of " + std::to_string(in_re.shape[dim]) + " elements is too short for " + std::to_string(n) +
               " numbers, which need " + std::to_string(m));
  const auto fourier = fourier_of<T>(n);
  const T scale = static_cast<T>(factor(a, 3, 4));
  const Lines<T> real(in_re, dim), imag(in_im, dim), to(out, dim);
  in_blocks<T>(total / n, *fourier, n + 2 * m, true, [&](int64_t first, int64_t lanes, T* memory) {
    T *x = memory, *re = x + n * lanes, *im = re + m * lanes, *scratch = im + m * lanes;
    real.read(first, lanes, m, re);
    imag.read(first, lanes, m, im);
    fourier->inverse_real(re, im, x, lanes, scratch);
    to.write(first, lanes, n, x, scale);
  });
}

#define STRATA_BY_TYPE(name) \
  [](const Arguments& a) { a.tensor(0).dtype == DType::F64 ? name<double>(a) : name<float>(a); }
const std::array kEntries{Entry{"fft_c2c", STRATA_BY_TYPE(c2c)}, Entry{"fft_r2c", STRATA_BY_TYPE(r2c)},
                          Entry{"fft_c2r", STRATA_BY_TYPE(c2r)}};
#undef STRATA_BY_TYPE

}  // namespace

std::span<const Entry> transforms() { return kEntries; }

}  // namespace strata::native
