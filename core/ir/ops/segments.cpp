// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions of runs of elements whose lengths are data. How many runs there are is a size, so the result's shape is
// known.

#include <algorithm>
#include <limits>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

constexpr size_t kLengths = 2, kIndices = 3, kOffsets = 4, kAxis = 5, kUnsafe = 6, kInitial = 7;

enum class Reduce : uint8_t { Sum, Mean, Max, Min, Prod };

Reduce reduce_of(const Call& c) {
  const std::string word = c.string(1);
  const char* words[] = {"sum", "mean", "max", "min", "prod"};
  for (size_t i = 0; i < 5; ++i)
    if (word == words[i]) return static_cast<Reduce>(i);
  reject(c, "reduce must be sum, mean, max, min or prod, found '" + word + "'");
}

/// Of lengths [..., runs] or offsets [..., runs + 1] and data [..., elements, inner...]: [..., runs, inner...].
Type segment_type(const Call& c) {
  const TensorType& data = tensor_type(c, 0);
  if (!is_floating(data.dtype)) reject(c, "expected floats, found " + std::string(dtype_name(data.dtype)));
  reduce_of(c);
  if (!c.is_none(kIndices)) reject(c, "indices are not supported");
  if (c.is_none(kLengths) == c.is_none(kOffsets)) reject(c, "expected either lengths or offsets");
  const size_t by = c.is_none(kLengths) ? kOffsets : kLengths;
  check_index_type(c, by);
  const Index& runs = tensor_type(c, by).shape;
  const size_t axis = c.dim(kAxis, data.shape.size());
  if (data.shape.empty()) reject(c, "expected data of at least 1 dimension, found a tensor without dimensions");
  if (runs.size() != axis + 1)
    reject(c, "lengths and offsets must end with the axis: expected " + std::to_string(axis + 1) +
                  " dimensions, found " + std::to_string(runs.size()));
  if (by == kOffsets && known_lt(runs.back(), 1)) reject(c, "expected offsets with at least 1 element, found none");
  Index shape = data.shape;
  for (size_t d = 0; d < axis; ++d)
    require_equal(c, runs[d], shape[d], "dimension " + std::to_string(d) + " of lengths or offsets and of data");
  shape[axis] = by == kOffsets ? runs.back() - 1 : runs.back();
  return result_like(c, data.dtype, std::move(shape));
}

/// Where each run begins, from lengths or offsets of one line.
std::vector<int64_t> bounds_of(const RefContext& c, const Tensor& runs, int64_t line, int64_t n, int64_t elements) {
  std::vector<int64_t> bounds(static_cast<size_t>(n) + 1, 0);
  const bool offsets = c.call.is_none(kLengths);
  for (int64_t k = 0; k < n + (offsets ? 1 : 0); ++k) {
    const int64_t v = runs.int_at(line * (offsets ? n + 1 : n) + k);
    if (offsets)
      bounds[static_cast<size_t>(k)] = v;
    else if (v < 0)
      reject(c.call, "lengths contains negative value!");
    else
      bounds[static_cast<size_t>(k) + 1] = bounds[static_cast<size_t>(k)] + v;
  }
  const bool whole = offsets || c.call.boolean(kUnsafe) || bounds.back() == elements;
  if (!whole) reject(c.call, "the lengths must add up to the size of data along the axis");
  for (size_t k = 0; k + 1 < bounds.size(); ++k)
    if (bounds[k] < 0 || bounds[k + 1] < bounds[k] || bounds[k + 1] > elements)
      reject(c.call, "the runs go beyond data or backwards");
  return bounds;
}

double reduced(const RefContext& c, Reduce how, const Tensor& x, int64_t first, int64_t count, int64_t step) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const bool given = !c.call.is_none(kInitial);
  const double start[] = {0, 0, -inf, inf, 1};
  double value = given ? c.call.number(kInitial) : start[static_cast<size_t>(how)];
  for (int64_t k = 0; k < count; ++k) {
    const double v = x.at(first + k * step);
    if (how == Reduce::Sum || how == Reduce::Mean) value += v;
    if (how == Reduce::Prod) value *= v;
    if (how == Reduce::Max) value = is_nan(v) ? v : nan_max(value, v);
    if (how == Reduce::Min) value = is_nan(v) ? v : nan_min(value, v);
  }
  if (how == Reduce::Mean && count == 0 && !given) return std::numeric_limits<double>::quiet_NaN();
  if (how == Reduce::Mean && count > 0) value /= static_cast<double>(count);
  return value;
}

RefValue segment_reference(const RefContext& c) {
  const Tensor x = c.tensor(0).contiguous(),
               runs = c.tensor(c.call.is_none(kLengths) ? kOffsets : kLengths).contiguous();
  Tensor out = c.result();
  const size_t axis = c.call.dim(kAxis, x.rank());
  int64_t lines = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) lines *= x.shape[d];
  for (size_t d = axis + 1; d < x.rank(); ++d) inner *= x.shape[d];
  const int64_t n = out.shape[axis], elements = x.shape[axis];
  const Reduce how = reduce_of(c.call);
  for (int64_t line = 0; line < lines; ++line) {
    const std::vector<int64_t> bounds = bounds_of(c, runs, line, n, elements);
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t begin = bounds[static_cast<size_t>(k)], count = bounds[static_cast<size_t>(k) + 1] - begin;
        out.set((line * n + k) * inner + j, reduced(c, how, x, (line * elements + begin) * inner + j, count, inner));
      }
  }
  return out;
}

}  // namespace

Rows segments() {
  Rows r;
  r.push_back(
      OpDef("aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
            "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
            OpClass::Indexing, 0, Promotion::None, segment_type, segment_reference, nullptr, NoGradient::Pending,
            KernelRule{"segment_reduce"}, "", "sums, means, extrema or products of runs of elements"));
  return r;
}

}  // namespace strata::ops
