// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sorting along one dimension, or its first elements: of keys (sort_keys.h) for each line, lines in parallel. NaN
// counts as the largest; equals keep their order, but in topk. Results: values, positions.

#include <algorithm>
#include <array>
#include <span>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/sort_keys.h"
#include "codegen/native/strided.h"
#include "core/ir/ops/line_selection.h"
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

/// The `k` largest of lines of `n` elements, as `ops::select_first` names them: the same steps on keys, but that most
/// elements, which a heap of `k` would not take, are passed over many at a time.
template <class T>
class LineSelector {
 public:
  LineSelector(int64_t n, int64_t k, bool sorted)
      : n_(n),
        k_(k),
        sorted_(sorted),
        by_heap_(k * 64 <= n),
        keys_(static_cast<size_t>(n)),
        line_(static_cast<size_t>(by_heap_ ? k + 1 : n)) {}

  void select(const T* x, int64_t step, bool smallest) {
    take_sort_keys(x, step, n_, smallest, keys_.data());
    if (k_ == 0) return;
    for (int64_t i = 0; i < (by_heap_ ? k_ : n_); ++i) line_.data()[i] = item(i);
    if (by_heap_) return by_heap();
    std::span<Item> line = line_.span();
    ops::select_first(line, k_, true, sorted_);
  }

  int64_t place(int64_t i) const { return line_.data()[i].second; }

 private:
  using Item = std::pair<SortKey<T>, int64_t>;
  Item item(int64_t i) const { return {keys_.data()[i], i}; }

  /// std::partial_sort: what comes before the last of a heap takes its place.
  void by_heap() {
    constexpr int64_t kTogether = 64;
    Item *const heap = line_.data(), *const end = heap + k_;
    const auto before = [](const Item& a, const Item& b) { return a.first > b.first; };
    std::make_heap(heap, end, before);
    for (int64_t i = k_; i < n_; i += kTogether) {
      const int64_t last = std::min(i + kTogether, n_);
      if (!any_above(keys_.data() + i, last - i, heap->first)) continue;
      for (int64_t j = i; j < last; ++j) {
        if (keys_.data()[j] <= heap->first) continue;
        *end = item(j);
        std::pop_heap(heap, end + 1, before);
      }
    }
    std::sort_heap(heap, end, before);
  }

  int64_t n_, k_;
  bool sorted_, by_heap_;
  LineRoom<SortKey<T>> keys_;
  LineRoom<Item> line_;
};

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
