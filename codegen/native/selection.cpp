// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One element of each line (k-th value, median, mode), or one at each step along it (running extrema and sums of
// exponentials); lines in parallel.

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "codegen/native/lines.h"
#include "codegen/native/native_kernel.h"
#include "codegen/native/sort_keys.h"
#include "codegen/native/strided.h"
#include "core/ir/ops/line_selection.h"
#include "core/runtime/parallel.h"

namespace strata::native {
namespace {

size_t dim_of(const Arguments& a) {
  return normalize_dim(a.integer(a.call.op().schema.index_of("dim")), a.tensor(0).rank(), a.call.node());
}

int64_t grain(int64_t length) { return std::max<int64_t>(1, 4096 / std::max<int64_t>(length, 1)); }

/// Keys of a line with their places.
template <class T>
class KeyedLine {
 public:
  using Item = std::pair<SortKey<T>, int64_t>;
  explicit KeyedLine(size_t n) : keys_(n), items_(n) {}
  std::span<Item> take(const T* x, int64_t step) {
    const std::span<Item> items = items_.span();
    take_sort_keys(x, step, static_cast<int64_t>(items.size()), false, keys_.data());
    for (size_t i = 0; i < items.size(); ++i) items[i] = {keys_.data()[i], static_cast<int64_t>(i)};
    return items;
  }

 private:
  LineRoom<SortKey<T>> keys_;
  LineRoom<Item> items_;
};

/// `choose(from, step)` names an element of each line, which begins at `from`; there is one `choose` for each thread,
/// that `make(length)` gives.
template <class T, class F>
void choose_lines(const Arguments& a, F make) {
  const Tensor& x = a.tensor(0);
  const Lines lines(x, dim_of(a));
  if (lines.length == 0 && lines.count > 0)
    refuse(a.call, "expected reduction dim " + std::to_string(dim_of(a)) + " to have non-zero size");
  T* values = a.result(0).defined() ? a.result(0).ptr<T>() : nullptr;
  int64_t* positions = a.result(1).defined() ? a.result(1).ptr<int64_t>() : nullptr;
  parallel_for(lines.count, grain(lines.length), [&](int64_t begin, int64_t end) {
    auto choose = make(static_cast<size_t>(lines.length));
    for (int64_t l = begin; l < end; ++l) {
      const T* from = x.ptr<const T>() + lines.start(l);
      const int64_t at = choose(from, lines.step);
      if (values) values[l] = from[at * lines.step];
      if (positions) positions[l] = at;
    }
  });
}

void kthvalue(const Arguments& a) {
  const int64_t k = a.integer(1);
  const size_t rank = a.tensor(0).rank();
  const int64_t n = rank ? a.tensor(0).shape[dim_of(a)] : 1;
  if (k < 1 || k > n)
    throw_user("operator '" + a.call.node().name + "' (" + a.call.op().name +
               "): selected number k out of range for dimension " + std::to_string(dim_of(a)));
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    choose_lines<T>(a, [k](size_t length) {
      return [k, line = KeyedLine<T>(length)](const T* x, int64_t step) mutable {
        std::span items = line.take(x, step);
        return ops::kth_position(items, k - 1);
      };
    });
  });
}

/// As `ops::median_position`.
template <class T>
int64_t median_of(std::span<typename KeyedLine<T>::Item> line, bool skip_nan) {
  auto numbers = static_cast<int64_t>(line.size());
  if constexpr (kIsFloat<T>) {
    const auto is_nan = [](const auto& item) { return item.first == kNanKey<T>; };
    const auto first = std::find_if(line.begin(), line.end(), is_nan);
    if (first != line.end() && !skip_nan) return first - line.begin();
    numbers -= std::count_if(first, line.end(), is_nan);
    if (numbers == 0) return ops::median_position(std::vector<double>(line.size(), std::nan("")), true);
  }
  const auto middle = line.begin() + (numbers - 1) / 2;
  std::nth_element(line.begin(), middle, line.end());
  return middle->second;
}
template <bool SkipNan>
void median(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    choose_lines<T>(a, [](size_t length) {
      return [line = KeyedLine<T>(length)](const T* x, int64_t step) mutable {
        return median_of<T>(line.take(x, step), SkipNan);
      };
    });
  });
}
void mode(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) {
    choose_lines<T>(a, [](size_t length) {
      return [line = std::vector<std::pair<WorkType<T>, int64_t>>(length)](const T* x, int64_t step) mutable {
        for (size_t i = 0; i < line.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          line[i] = {work_value(x[at * step]), at};
        }
        return ops::mode_position(line);
      };
    });
  });
}

// --------------------------------------------------------------------------------------------------------------
// running

/// Values and positions of the extremum so far; the last of equals, and of NaNs.
template <class T, bool Max>
void running_lines(const Arguments& a) {
  using Work = WorkType<T>;
  const Tensor& x = a.tensor(0);
  const Tensor &values = a.result(0), &positions = a.result(1);
  const size_t dim = dim_of(a);
  const Lines from(x, dim), to(values.defined() ? values : positions, dim);
  parallel_for(from.count, grain(from.length), [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) {
      const T* in = x.ptr<const T>() + from.start(l);
      const int64_t start = to.start(l);
      Work best{};
      int64_t where = 0;
      for (int64_t i = 0; i < from.length; ++i) {
        const Work v = work_value(in[i * from.step]);
        if (i == 0 || v != v || (Max ? v >= best : v <= best)) {
          best = v;
          where = i;
        }
        if (values.defined()) values.ptr<T>()[start + i * to.step] = in[where * from.step];
        if (positions.defined()) positions.ptr<int64_t>()[start + i * to.step] = where;
      }
    }
  });
}
template <bool Max>
void running_extremum(const Arguments& a) {
  with_stored_type(a.tensor(0).dtype, [&]<class T>(T) { running_lines<T, Max>(a); });
}

template <class T>
void log_sums(const Arguments& a) {
  const Tensor& x = a.tensor(0);
  const Lines from(x, dim_of(a)), to(a.result(), dim_of(a));
  parallel_for(from.count, grain(4 * from.length), [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) {
      const T* in = x.ptr<const T>() + from.start(l);
      T* out = a.result().ptr<T>() + to.start(l);
      double running = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < from.length; ++i) {
        const auto v = static_cast<double>(work_value(in[i * from.step]));
        if (std::isnan(v) || std::isnan(running)) {
          running = std::numeric_limits<double>::quiet_NaN();
        } else {
          const double low = std::min(running, v), high = std::max(running, v);
          running = low == high && std::isinf(low) ? low : high + std::log1p(std::exp(low - high));
        }
        out[i * to.step] = stored_value<T>(static_cast<WorkType<T>>(running));
      }
    }
  });
}
void logcumsumexp(const Arguments& a) {
  with_stored_type(a.result().dtype, [&]<class T>(T) { log_sums<T>(a); });
}

constexpr std::array kEntries{
    Entry{"kthvalue", kthvalue},
    Entry{"median", median<false>},
    Entry{"nanmedian", median<true>},
    Entry{"mode", mode},
    Entry{"cummax", running_extremum<true>},
    Entry{"cummin", running_extremum<false>},
    Entry{"logcumsumexp", logcumsumexp},
};

}  // namespace

std::span<const Entry> selection() { return kEntries; }

}  // namespace strata::native
