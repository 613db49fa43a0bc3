// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The second step of operators whose result has a size that only the data tells: the size is known, and memory for the
// result is there. Also what finds equal elements and slices.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

template <class T>
bool is_set(T x) {
  return x != T{};
}
bool is_set(Half x) { return (x.bits & 0x7fff) != 0; }
bool is_set(BFloat16 x) { return (x.bits & 0x7fff) != 0; }

// ---------------------------------------------------------------------------------------------------------- selecting

/// Elements in row-major order, cut into blocks.
struct Blocks {
  explicit Blocks(int64_t elements) : total(elements), size(std::max<int64_t>(4096, (elements + 63) / 64)) {}
  int64_t count() const { return (total + size - 1) / size; }
  int64_t begin(int64_t block) const { return block * size; }
  int64_t end(int64_t block) const { return std::min(total, (block + 1) * size); }
  int64_t total, size;
};

/// Calls `piece(line, first, count)` for the parts of lines that elements [begin, end) lie in.
template <class F>
void for_pieces(const Lines& lines, int64_t begin, int64_t end, F&& piece) {
  for (int64_t at = begin; at < end;) {
    const int64_t first = at % lines.length, count = std::min(lines.length - first, end - at);
    piece(at / lines.length, first, count);
    at += count;
  }
}

size_t last_dim(const Tensor& t) { return t.rank() ? t.rank() - 1 : 0; }

/// How many elements are set before each block, and in all.
template <class T>
std::vector<int64_t> set_before(const Tensor& x, const Lines& lines, const Blocks& blocks) {
  std::vector<int64_t> before(static_cast<size_t>(blocks.count()) + 1, 0);
  parallel_for(blocks.count(), 1, [&](int64_t from, int64_t to) {
    for (int64_t b = from; b < to; ++b) {
      int64_t n = 0;
      for_pieces(lines, blocks.begin(b), blocks.end(b), [&](int64_t l, int64_t first, int64_t count) {
        const T* p = x.ptr<T>() + lines.start(l) + first * lines.step;
        for (int64_t i = 0; i < count; ++i) n += is_set(p[i * lines.step]);
      });
      before[static_cast<size_t>(b) + 1] = n;
    }
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

/// Coordinates of the first element of a line.
std::vector<int64_t> coordinates(const Tensor& x, int64_t line) {
  std::vector<int64_t> at(x.rank(), 0);
  for (size_t d = last_dim(x); d-- > 0;) {
    at[d] = line % x.shape[d];
    line /= x.shape[d];
  }
  return at;
}

template <class T>
void nonzero_of(const Tensor& x, const Tensor& out, int64_t fill) {
  const Lines lines(x, last_dim(x));
  const Blocks blocks(x.numel());
  const std::vector<int64_t> before = set_before<T>(x, lines, blocks);
  const int64_t rows = out.shape[0], rank = out.shape[1];
  auto* const to = out.ptr<int64_t>();
  parallel_for(blocks.count(), 1, [&](int64_t from, int64_t until) {
    for (int64_t b = from; b < until; ++b) {
      int64_t row = before[static_cast<size_t>(b)];
      for_pieces(lines, blocks.begin(b), blocks.end(b), [&](int64_t l, int64_t first, int64_t count) {
        const T* p = x.ptr<T>() + lines.start(l) + first * lines.step;
        std::vector<int64_t> at = coordinates(x, l);
        for (int64_t i = 0; i < count && row < rows; ++i) {
          if (!is_set(p[i * lines.step])) continue;
          if (rank) at.back() = first + i;
          std::copy(at.begin(), at.end(), to + row++ * rank);
        }
      });
    }
  });
  if (before.back() < rows) std::fill(to + before.back() * rank, to + rows * rank, fill);
}

void nonzero(const Arguments& a) {
  const Tensor& x = a.tensor(0);
  with_stored_type(x.dtype, [&]<class T>(T) { nonzero_of<T>(x, a.result(), a.integer(2)); });
}

template <class T>
void select_of(const Tensor& x, const Tensor& mask, const Tensor& out) {
  const Lines lines(x, last_dim(x)), masks(mask, last_dim(mask));
  const Blocks blocks(mask.numel());
  const std::vector<int64_t> before = set_before<uint8_t>(mask, masks, blocks);
  const int64_t most = out.numel();
  T* const to = out.ptr<T>();
  parallel_for(blocks.count(), 1, [&](int64_t from, int64_t until) {
    for (int64_t b = from; b < until; ++b) {
      int64_t n = before[static_cast<size_t>(b)];
      for_pieces(masks, blocks.begin(b), blocks.end(b), [&](int64_t l, int64_t first, int64_t count) {
        const uint8_t* m = mask.ptr<uint8_t>() + masks.start(l) + first * masks.step;
        const T* p = x.ptr<T>() + lines.start(l) + first * lines.step;
        for (int64_t i = 0; i < count && n < most; ++i)
          if (m[i * masks.step]) to[n++] = p[i * lines.step];
      });
    }
  });
}

void masked_select(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) { select_of<T>(a.tensor(0), a.tensor(1), a.result()); });
}

// ------------------------------------------------------------------------------------------------------------- groups

template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(b) ? !std::isnan(a) : a < b;
  return a < b;
}

/// Slices as rows of a matrix: where each row begins, and how many elements it has.
template <class T>
struct Rows {
  Rows(const Tensor& x, bool whole, size_t dim) {
    const Lines lines(x, dim);
    count = whole ? x.numel() : lines.length;
    width = whole ? 1 : lines.count;
    values.resize(static_cast<size_t>(count * width));
    for (int64_t l = 0; l < (whole ? lines.count : width); ++l) {
      const T* p = x.ptr<T>() + lines.start(l);
      for (int64_t i = 0; i < lines.length; ++i)
        values[static_cast<size_t>(whole ? l * lines.length + i : i * width + l)] = work_value(p[i * lines.step]);
    }
  }
  const WorkType<T>* row(int64_t i) const { return values.data() + i * width; }
  bool less(int64_t a, int64_t b) const {
    const WorkType<T>*p = row(a), *q = row(b);
    for (int64_t i = 0; i < width; ++i) {
      if (before(p[i], q[i])) return true;
      if (before(q[i], p[i])) return false;
    }
    return a < b;
  }
  /// NaN differs from NaN.
  bool same(int64_t a, int64_t b) const { return std::equal(row(a), row(a) + width, row(b)); }

  int64_t count = 0, width = 1;
  std::vector<WorkType<T>> values;
};

template <class W>
std::vector<int64_t> sorted_elements(const std::vector<W>& values) {
  std::vector<std::pair<W, int64_t>> pairs(values.size());
  for (size_t i = 0; i < values.size(); ++i) pairs[i] = {values[i], static_cast<int64_t>(i)};
  std::sort(pairs.begin(), pairs.end(), [](const auto& p, const auto& q) {
    return before(p.first, q.first) || (!before(q.first, p.first) && p.second < q.second);
  });
  std::vector<int64_t> order(values.size());
  for (size_t i = 0; i < values.size(); ++i) order[i] = pairs[i].second;
  return order;
}

template <class T>
void groups_of(const Arguments& a, bool whole, size_t dim, bool consecutive) {
  const Rows<T> rows(a.tensor(0), whole, dim);
  std::vector<int64_t> order(static_cast<size_t>(rows.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!consecutive && rows.width == 1)
    order = sorted_elements(rows.values);
  else if (!consecutive)
    std::sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return rows.less(p, q); });
  int64_t group = -1;
  for (size_t i = 0; i < order.size(); ++i) {
    group += i == 0 || !rows.same(order[i - 1], order[i]);
    if (a.result(1).defined()) a.result(1).ptr<int64_t>()[i] = group;
  }
  if (a.result(0).defined()) std::copy(order.begin(), order.end(), a.result(0).ptr<int64_t>());
  if (a.result(2).defined()) *a.result(2).ptr<int64_t>() = group + 1;
}

void unique_groups(const Arguments& a) {
  const Tensor& x = a.tensor(0);
  const bool whole = a.call.is_none(1) || x.rank() == 0;
  const size_t dim = whole ? last_dim(x) : a.call.dim(1, x.rank());
  with_stored_type(x.dtype, [&]<class T>(T) { groups_of<T>(a, whole, dim, a.call.boolean(2)); });
}

void group_starts(const Arguments& a) {
  const Tensor& group = a.tensor(0);
  const int64_t groups = a.integer(1), n = group.numel(), step = group.strides.empty() ? 1 : group.strides[0];
  const auto* from = group.ptr<int64_t>();
  std::vector<int64_t> sizes(static_cast<size_t>(groups), 0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t g = from[i * step];
    if (g < 0 || g >= groups) throw_internal("group " + std::to_string(g) + " of " + std::to_string(groups));
    if (sizes[static_cast<size_t>(g)]++ == 0 && a.result(0).defined()) a.result(0).ptr<int64_t>()[g] = i;
  }
  if (a.result(1).defined()) std::copy(sizes.begin(), sizes.end(), a.result(1).ptr<int64_t>());
}

// ----------------------------------------------------------------------------------------------------------- counting

template <class T>
void repeat_of(const Tensor& repeats, const Tensor& out) {
  const int64_t n = repeats.numel(), step = repeats.strides.empty() ? 1 : repeats.strides[0], most = out.numel();
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t times = repeats.ptr<T>()[i * step];
    if (times < 0) throw_user("repeats can not be negative");
    if (times > most - at) throw_user("allocated size does not match required size");
    std::fill_n(out.ptr<T>() + at, times, static_cast<T>(i));
    at += times;
  }
  if (at != most) throw_user("allocated size does not match required size");
}

void repeat_interleave(const Arguments& a) {
  if (a.tensor(0).dtype == DType::I32)
    repeat_of<int32_t>(a.tensor(0), a.result());
  else
    repeat_of<int64_t>(a.tensor(0), a.result());
}

template <class T>
void count_into(const Tensor& x, const Tensor& weights, const Tensor& out) {
  const int64_t n = x.numel(), step = x.strides.empty() ? 1 : x.strides[0], bins = out.numel();
  std::memset(out.data(), 0, static_cast<size_t>(bins) * dtype_size(out.dtype));
  for (int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<int64_t>(x.ptr<T>()[i * step]);
    if (v < 0 || v >= bins) throw_user("bincount only supports 1-d non-negative integral inputs.");
    if (!weights.defined()) {
      ++out.ptr<int64_t>()[v];
      continue;
    }
    const std::byte* w = weights.data() + i * weights.strides[0] * static_cast<int64_t>(dtype_size(weights.dtype));
    if (out.dtype == DType::F32)
      out.ptr<float>()[v] += *reinterpret_cast<const float*>(w);
    else
      out.ptr<double>()[v] += load_as_double(weights.dtype, w);
  }
}

void bincount(const Arguments& a) {
  const Tensor weights = a.has(1) ? a.tensor(1) : Tensor();
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) count_into<T>(a.tensor(0), weights, a.result());
  });
}

constexpr std::array kEntries{Entry{"nonzero", nonzero},
                              Entry{"masked_select", masked_select},
                              Entry{"unique_groups", unique_groups},
                              Entry{"group_starts", group_starts},
                              Entry{"repeat_interleave", repeat_interleave},
                              Entry{"bincount", bincount}};

}  // namespace

std::span<const Entry> data_sizes() { return kEntries; }

}  // namespace strata::native
