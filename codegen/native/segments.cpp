// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of runs of elements whose lengths are data: each run is one thread's.

#include <algorithm>
#include <array>
#include <numeric>

#include "codegen/native/combine.h"
#include "codegen/native/strided.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

constexpr size_t kLengths = 2, kOffsets = 4, kAxis = 5, kUnsafe = 6, kInitial = 7;

/// Data [lines, elements, inner] as rows, and runs per line.
struct Runs {
  int64_t lines = 1, inner = 1, elements = 0, count = 0;
  std::vector<int64_t> bounds;  ///< per line `count + 1`

  Runs(const Arguments& a, const Tensor& x, size_t axis) : elements(x.shape[axis]), count(a.result().shape[axis]) {
    for (size_t d = 0; d < axis; ++d) lines *= x.shape[d];
    for (size_t d = axis + 1; d < x.rank(); ++d) inner *= x.shape[d];
    bounds.resize(static_cast<size_t>(lines * (count + 1)), 0);
    if (a.has(kLengths))
      add_lengths(a);
    else
      copy_offsets(a);
    check(a);
  }

 private:
  void add_lengths(const Arguments& a) {
    const Tensor lengths = as_rows(a.tensor(kLengths), DType::I64);
    const auto* from = lengths.ptr<const int64_t>();
    for (int64_t line = 0; line < lines; ++line) {
      int64_t* to = bounds.data() + line * (count + 1);
      for (int64_t k = 0; k < count; ++k) {
        const int64_t length = from[line * count + k];
        if (length < 0) refuse(a.call, "lengths contains negative value!");
        if (length > elements - to[k])
          refuse(a.call, "the lengths add up to more than the size of data along the axis");
        to[k + 1] = to[k] + length;
      }
      if (!a.call.boolean(kUnsafe) && to[count] != elements)
        refuse(a.call, "the lengths must add up to the size of data along the axis");
    }
  }

  void copy_offsets(const Arguments& a) {
    const Tensor offsets = as_rows(a.tensor(kOffsets), DType::I64);
    std::copy_n(offsets.ptr<const int64_t>(), bounds.size(), bounds.begin());
  }

  void check(const Arguments& a) const {
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t* at = bounds.data() + line * (count + 1);
      if (at[0] < 0 || at[count] > elements || !std::is_sorted(at, at + count + 1))
        refuse(a.call, "the runs go beyond data or backwards");
    }
  }
};

How how_of(const std::string& word) {
  if (word == "max") return How::Max;
  if (word == "min") return How::Min;
  return word == "prod" ? How::Multiply : How::Add;
}

/// One run of `n` elements, `inner` columns wide, in the work type.
template <How H, class T>
void reduce_run(const T* x, int64_t n, int64_t inner, WorkType<T> start, bool mean, bool given, T* out) {
  using W = WorkType<T>;
  for (int64_t j = 0; j < inner; ++j) {
    W value = start;
    for (int64_t k = 0; k < n; ++k) value = joined<H, W>(value, work_value(x[k * inner + j]));
    if (mean && n == 0 && !given) value = std::numeric_limits<W>::quiet_NaN();
    if (mean && n > 0) value = value / static_cast<W>(n);
    out[j] = stored_value<T>(value);
  }
}

template <How H, class T>
void reduce_runs(const Arguments& a, const Tensor& x, const Runs& runs) {
  const bool given = !a.call.is_none(kInitial), mean = a.call.string(1) == "mean";
  const auto start = given ? static_cast<WorkType<T>>(a.call.number(kInitial)) : identity_of<WorkType<T>>(H);
  const int64_t total = runs.lines * runs.count;
  const int64_t each = std::max<int64_t>(1, x.numel() / std::max<int64_t>(total, 1));
  parallel_for(total, std::max<int64_t>(1, 8192 / each), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t line = r / runs.count, k = r % runs.count;
      const int64_t* bounds = runs.bounds.data() + line * (runs.count + 1) + k;
      const T* from = x.ptr<const T>() + (line * runs.elements + bounds[0]) * runs.inner;
      reduce_run<H, T>(from, bounds[1] - bounds[0], runs.inner, start, mean, given,
                       a.result().ptr<T>() + r * runs.inner);
    }
  });
}

void segment_reduce(const Arguments& a) {
  const Tensor x = as_rows(a.tensor(0));
  const Runs runs(a, x, a.call.dim(kAxis, x.rank()));
  with_stored_type(x.dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<WorkType<T>>)
      with_how(how_of(a.call.string(1)), [&](auto how) { reduce_runs<decltype(how)::value, T>(a, x, runs); });
  });
}

constexpr std::array kEntries{Entry{"segment_reduce", segment_reduce}};

}  // namespace

std::span<const Entry> segments() { return kEntries; }

}  // namespace strata::native
