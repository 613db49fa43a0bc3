// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Largest element of each window, and where in its plane it is; and the way back, by those places. As in PyTorch the
// first of equal elements counts, and the last NaN.

#include <algorithm>
#include <array>
#include <limits>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "core/ir/ops/pooling.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

/// The windows along one dimension: [begin, end) in the input for each place of the result.
struct Spans {
  int64_t in = 1, step = 1;
  std::vector<std::pair<int64_t, int64_t>> of{{0, 1}};
  int64_t count() const { return static_cast<int64_t>(of.size()); }
};
using Windows = std::array<Spans, 3>;

Spans regular_spans(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  Spans s{in, dilation, {}};
  for (int64_t o = 0; o < out; ++o) {
    int64_t begin = o * stride - padding;
    const int64_t end = std::min(begin + (kernel - 1) * dilation + 1, in);
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    s.of.emplace_back(begin, end);
  }
  return s;
}
Spans adaptive_spans(int64_t in, int64_t out) {
  Spans s{in, 1, {}};
  for (int64_t o = 0; o < out; ++o) s.of.emplace_back(o * in / out, ((o + 1) * in + out - 1) / out);
  return s;
}

/// Dimensions of `x` that are pooled come last; the others count planes.
struct Planes {
  std::vector<int64_t> shape, strides;  ///< of the dimensions in front
  std::array<int64_t, 3> step{0, 0, 0};
  int64_t count = 1;

  Planes(const Tensor& x, size_t spatial) {
    const size_t lead = x.rank() - spatial;
    shape.assign(x.shape.begin(), x.shape.begin() + static_cast<ptrdiff_t>(lead));
    strides.assign(x.strides.begin(), x.strides.begin() + static_cast<ptrdiff_t>(lead));
    for (const int64_t n : shape) count *= n;
    for (size_t d = 0; d < spatial; ++d) step[3 - spatial + d] = x.strides[lead + d];
  }
  int64_t start(int64_t plane) const {
    int64_t at = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      at += plane % shape[d] * strides[d];
      plane /= shape[d];
    }
    return at;
  }
};

template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// Elements of the last `spatial` dimensions.
int64_t elements(const std::vector<int64_t>& shape, size_t spatial) {
  int64_t n = 1;
  for (size_t d = shape.size() - spatial; d < shape.size(); ++d) n *= shape[d];
  return n;
}

/// One row of results: window (z, y) at each place along the last dimension.
template <class T>
void pool_row(const T* plane, const std::array<int64_t, 3>& step, const Windows& w, int64_t z, int64_t y, T* values,
              int64_t* places) {
  using Work = WorkType<T>;
  const auto [z0, z1] = w[0].of[static_cast<size_t>(z)];
  const auto [y0, y1] = w[1].of[static_cast<size_t>(y)];
  for (size_t x = 0; x < w[2].of.size(); ++x) {
    const auto [x0, x1] = w[2].of[x];
    Work best = lowest<Work>();
    int64_t where = (z0 * w[1].in + y0) * w[2].in + x0;
    for (int64_t a = z0; a < z1; a += w[0].step)
      for (int64_t b = y0; b < y1; b += w[1].step) {
        const T* row = plane + a * step[0] + b * step[1];
        const int64_t base = (a * w[1].in + b) * w[2].in;
        for (int64_t c = x0; c < x1; c += w[2].step) {
          const Work v = work_value(row[c * step[2]]);
          if (v > best || v != v) {
            best = v;
            where = base + c;
          }
        }
      }
    if (values) values[x] = stored_value<T>(best);
    if (places) places[x] = where;
  }
}

template <class T>
void pool_planes(const Arguments& a, const Windows& w, size_t spatial) {
  const Tensor& x = a.tensor(0);
  const Planes planes(x, spatial);
  T* values = a.result(0).defined() ? a.result(0).ptr<T>() : nullptr;
  int64_t* places = a.result(1).defined() ? a.result(1).ptr<int64_t>() : nullptr;
  const int64_t rows = w[0].count() * w[1].count(), width = w[2].count();
  if (rows * width == 0) return;
  const int64_t cost = 1 + x.numel() / std::max<int64_t>(1, planes.count * rows);
  parallel_for(planes.count * rows, 1 + 16384 / cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % rows;
      pool_row(x.ptr<const T>() + planes.start(i / rows), planes.step, w, row / w[1].count(), row % w[1].count(),
               values ? values + i * width : nullptr, places ? places + i * width : nullptr);
    }
  });
}

/// The pooled dimensions as the operator's name has them: `aten.max_pool2d...` two.
size_t spatial_of(const Arguments& a) {
  const std::string& name = a.call.op().name;
  return static_cast<size_t>(name[name.find("pool") + 4] - '0');
}

void max_pool(const Arguments& a) {
  const size_t n = spatial_of(a);
  const ops::PoolWindow p = ops::pool_window(a.call, n, 1, true);
  const std::vector<int64_t>&in = a.tensor(0).shape, &out = (a.result(0).defined() ? a.result(0) : a.result(1)).shape;
  Windows w;
  for (size_t d = 0; d < n; ++d)
    w[3 - n + d] = regular_spans(in[in.size() - n + d], out[in.size() - n + d], p.kernel[d], p.stride[d], p.padding[d],
                                 p.dilation[d]);
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) { pool_planes<T>(a, w, n); });
}

void adaptive_max_pool(const Arguments& a) {
  const size_t n = spatial_of(a);
  const std::vector<int64_t>&in = a.tensor(0).shape, &out = (a.result(0).defined() ? a.result(0) : a.result(1)).shape;
  if (a.tensor(0).numel() == 0 && elements(out, out.size()) > 0)
    throw_user("operator '" + a.call.node().name + "' (" + a.call.op().name +
               "): expected sizes other than 0 behind the batch");
  Windows w;
  for (size_t d = 0; d < n; ++d) w[3 - n + d] = adaptive_spans(in[in.size() - n + d], out[in.size() - n + d]);
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) { pool_planes<T>(a, w, n); });
}

// ------------------------------------------------------------------------------------------------------- the way back

[[noreturn]] void bad_place(const Arguments& a, int64_t place, int64_t size) {
  throw_user("operator '" + a.call.node().name + "' (" + a.call.op().name + "): found an invalid max index: " +
             std::to_string(place) + " (planes have " + std::to_string(size) + " elements)");
}

/// The result's planes, zero but where places lead: `put(slot, value)` for each element of `source`.
template <class T, class S, class Put>
void by_places(const Arguments& a, const Tensor& source, const Tensor& places, size_t spatial, Put put) {
  const Tensor from = source.contiguous(), at = places.contiguous(), &out = a.result(0);
  const int64_t points = elements(from.shape, spatial), size = elements(out.shape, spatial);
  if (size == 0) return;
  parallel_for(out.numel() / size, 1 + 16384 / (1 + size), [&](int64_t begin, int64_t end) {
    std::vector<S> sums(std::is_same_v<S, T> ? 0 : static_cast<size_t>(size));
    for (int64_t plane = begin; plane < end; ++plane) {
      T* to = out.ptr<T>() + plane * size;
      S* slots;
      if constexpr (std::is_same_v<S, T>)
        slots = to;
      else
        slots = sums.data();
      std::fill(slots, slots + size, S{});
      for (int64_t i = plane * points; i < (plane + 1) * points; ++i) {
        const int64_t place = at.ptr<const int64_t>()[i];
        if (place < 0 || place >= size) bad_place(a, place, size);
        put(slots[place], from.ptr<const T>()[i]);
      }
      if constexpr (!std::is_same_v<S, T>)
        for (int64_t i = 0; i < size; ++i) to[i] = stored_value<T>(slots[i]);
    }
  });
}

void max_pool_backward(const Arguments& a) {
  const size_t n = spatial_of(a);
  with_stored_type(a.result(0).dtype, [&]<class T>(T) {
    by_places<T, WorkType<T>>(a, a.tensor(0), a.tensor(7), n, [](WorkType<T>& slot, T value) {
      slot = static_cast<WorkType<T>>(slot + work_value(value));
    });
  });
}

/// Several elements for one place: the last stays.
void max_unpool(const Arguments& a) {
  const std::string& name = a.call.op().name;
  const size_t n = name[name.find("unpool") + 6] == '3' ? 3 : 2;
  with_stored_type(a.result(0).dtype, [&]<class T>(T) {
    by_places<T, T>(a, a.tensor(0), a.tensor(1), n, [](T& slot, T value) { slot = value; });
  });
}

constexpr std::array kEntries{Entry{"max_pool", max_pool}, Entry{"adaptive_max_pool", adaptive_max_pool},
                              Entry{"max_pool_backward", max_pool_backward}, Entry{"max_unpool", max_unpool}};

}  // namespace

std::span<const Entry> pooling() { return kEntries; }

}  // namespace strata::native
