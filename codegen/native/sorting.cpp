// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sorting along one dimension, or its first elements: of keys (sort_keys.h) for each line, lines in parallel. NaN
// counts as the largest; equals keep their order, but in topk. Results: values, positions.

#include <algorithm>
#include <array>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/sort_keys.h"
#include "codegen/native/strided.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

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
  const Lines from(a.tensor(0), order.dim);
  const Tensor &values = a.result(0), &positions = a.result(1);
  const Lines to(values.defined() ? values : positions, order.dim);
  const int64_t n = from.length;
  const auto write = [&](int64_t l, const T* x, const auto& line) {
    constexpr int64_t kAhead = 16;  // places of long lines lie anywhere in memory
    const int64_t at = to.start(l);
    for (int64_t i = 0; i < order.keep; ++i) {
      if (i + kAhead < order.keep) __builtin_prefetch(x + line.place(i + kAhead) * from.step);
      const int64_t place = line.place(i);
      if (values.defined()) values.ptr<T>()[at + i * to.step] = x[place * from.step];
      if (positions.defined()) positions.ptr<int64_t>()[at + i * to.step] = place;
    }
  };
  parallel_for(from.count, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    const auto each = [&](auto line, auto work) {
      for (int64_t l = begin; l < end; ++l) {
        const T* x = a.tensor(0).ptr<T>() + from.start(l);
        work(line, x);
        write(l, x, line);
      }
    };
    if (order.selects)
      each(LineSelector<T>(n, order.keep, order.sorted),
           [&](auto& line, const T* x) { line.select(x, from.step, !order.descending); });
    else if (const auto sort = [&](auto& line, const T* x) { line.sort(x, from.step, order.descending); };
             n < UINT32_MAX)
      each(LineSorter<T, uint32_t>(n), sort);
    else
      each(LineSorter<T, uint64_t>(n), sort);
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
