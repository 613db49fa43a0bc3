// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sorting along one dimension, or its first elements: of positions by value for each line, lines in parallel. NaN
// counts as the largest; equals keep their order, but in topk. Results: values, positions.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/strided.h"
#include "core/ir/ops/line_selection.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(b) ? !std::isnan(a) : a < b;
  return a < b;
}

/// What `aten.sort` and its relatives ask for.
struct Order {
  size_t dim = 0;
  bool descending = false;
  bool selects = false;  ///< topk
  bool sorted = true;    ///< topk's
  int64_t keep = 0;      ///< of each line
};

Order order_of(const Arguments& a) {
  const auto& params = a.call.op().schema.params;
  const Tensor& x = a.tensor(0);
  Order order;
  order.dim = normalize_dim(-1, x.rank(), a.call.node());
  for (size_t i = 1; i < params.size(); ++i) {
    if (params[i].name == "dim") order.dim = normalize_dim(a.integer(i), x.rank(), a.call.node());
    if (params[i].name == "descending" || params[i].name == "largest") order.descending = a.call.boolean(i);
    if (params[i].name == "k") order.selects = true;
    if (params[i].name == "sorted") order.sorted = a.call.boolean(i);
  }
  const Tensor& any = a.result(0).defined() ? a.result(0) : a.result(1);
  order.keep = any.rank() ? any.shape[order.dim] : 1;
  if (const int64_t n = x.rank() ? x.shape[order.dim] : 1; order.keep > n)
    refuse(a.call, "k must lie in [0, " + std::to_string(n) + "], found " + std::to_string(order.keep));
  return order;
}

template <class T>
void sort_lines(const Arguments& a, const Order& order) {
  using Work = WorkType<T>;
  const Lines from(a.tensor(0), order.dim);
  const Tensor &values = a.result(0), &positions = a.result(1);
  const Lines to(values.defined() ? values : positions, order.dim);
  const int64_t n = from.length;
  parallel_for(from.count, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    std::vector<std::pair<Work, int64_t>> line(static_cast<size_t>(n));
    for (int64_t l = begin; l < end; ++l) {
      const T* x = a.tensor(0).ptr<T>() + from.start(l);
      for (int64_t i = 0; i < n; ++i) line[static_cast<size_t>(i)] = {work_value(x[i * from.step]), i};
      const auto less = [&](const auto& p, const auto& q) {
        if (order.descending ? before(q.first, p.first) : before(p.first, q.first)) return true;
        if (order.descending ? before(p.first, q.first) : before(q.first, p.first)) return false;
        return p.second < q.second;
      };
      if (order.selects)
        ops::select_first(line, order.keep, order.descending, order.sorted);
      else
        std::sort(line.begin(), line.end(), less);
      const int64_t at = to.start(l);
      for (int64_t i = 0; i < order.keep; ++i) {
        const int64_t position = line[static_cast<size_t>(i)].second;
        if (values.defined()) values.ptr<T>()[at + i * to.step] = x[position * from.step];
        if (positions.defined()) positions.ptr<int64_t>()[at + i * to.step] = position;
      }
    }
  });
}

void sort(const Arguments& a) {
  const Order order = order_of(a);
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) { sort_lines<T>(a, order); });
}

constexpr std::array kEntries{Entry{"sort", sort}};

}  // namespace

std::span<const Entry> sorting() { return kEntries; }

}  // namespace strata::native
