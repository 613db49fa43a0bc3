// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which elements of a line are its k-th, median, most frequent or k largest ones. Of equal elements these name the one
/// that PyTorch names, which follows from the steps of its selection. NaN counts as the largest.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace strata::ops {

template <class T>
bool not_a_number(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}
template <class T>
bool comes_after(T a, T b) {
  return a > b || (not_a_number(a) && !not_a_number(b));
}

/// Hoare's selection with the median of three as pivot: position of the element of rank `k` from 0. `line` is
/// reordered: pairs of a value and a position.
template <class Line>
int64_t kth_position(Line& line, int64_t k) {
  int64_t low = 0, high = static_cast<int64_t>(line.size()) - 1;
  const auto after = [&](int64_t a, int64_t b) {
    return comes_after(line[static_cast<size_t>(a)].first, line[static_cast<size_t>(b)].first);
  };
  const auto swap = [&](int64_t a, int64_t b) {
    std::swap(line[static_cast<size_t>(a)], line[static_cast<size_t>(b)]);
  };
  while (high > low + 1) {
    swap(low + (high - low) / 2, low + 1);
    if (after(low + 1, high)) swap(low + 1, high);
    if (after(low, high)) swap(low, high);
    if (after(low + 1, low)) swap(low + 1, low);
    int64_t i = low + 1, j = high;
    for (;;) {
      do ++i;
      while (after(low, i));
      do --j;
      while (after(j, low));
      if (j < i) break;
      swap(i, j);
    }
    swap(low, j);
    if (j >= k) high = j - 1;
    if (j <= k) low = i;
  }
  if (high == low + 1 && after(low, high)) swap(low, high);
  return static_cast<int64_t>(line[static_cast<size_t>(k)].second);
}

/// Moves the `k` largest (or smallest) elements of a line to its front, in order, the first of them too if `sorted`.
/// Which of equals these are, and where each stands, follows from the steps of the library's algorithms, as in PyTorch:
/// experts whose scores are equal are chosen by that. 0 <= k <= size.
template <class Line>
void select_first(Line& line, int64_t k, bool largest, bool sorted) {
  if (k == 0) return;
  const auto before = [largest](const auto& a, const auto& b) {
    return largest ? comes_after(a.first, b.first) : comes_after(b.first, a.first);
  };
  if (k * 64 <= static_cast<int64_t>(line.size())) {
    std::partial_sort(line.begin(), line.begin() + k, line.end(), before);
  } else {
    std::nth_element(line.begin(), line.begin() + k - 1, line.end(), before);
    if (sorted) std::sort(line.begin(), line.begin() + k - 1, before);
  }
}

/// The lower of two middle elements, of equal ones as if sorted stably. The first NaN if there is one and `skip_nan`
/// does not hold. The line is not empty.
template <class T>
int64_t median_position(const std::vector<T>& line, bool skip_nan) {
  const auto nan = std::find_if(line.begin(), line.end(), not_a_number<T>);
  if (!skip_nan && nan != line.end()) return nan - line.begin();
  const auto count =
      static_cast<int64_t>(line.size()) - static_cast<int64_t>(std::count_if(nan, line.end(), not_a_number<T>));
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto middle = order.begin() + std::max<int64_t>(count - 1, 0) / 2;
  std::nth_element(order.begin(), middle, order.end(), [&](int64_t a, int64_t b) {
    const T x = line[static_cast<size_t>(a)], y = line[static_cast<size_t>(b)];
    return comes_after(y, x) || (x == y && a < b);  // of NaNs as it comes
  });
  return *middle;
}

/// In order by value alone. Where of equals each stands is left to the library's sort, as it is in PyTorch, so that the
/// same one of them comes last. NaN is not in order with anything: short lines are sorted as if that were no matter,
/// which is what the library does with them; in long ones it comes last.
template <class T>
void sort_by_value(std::vector<std::pair<T, int64_t>>& line) {
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (std::none_of(line.begin(), line.end(), [](const auto& item) { return not_a_number(item.first); })) {
    std::sort(line.begin(), line.end(), less);
  } else if (line.size() > 16) {
    std::sort(line.begin(), line.end(), [](const auto& a, const auto& b) { return comes_after(b.first, a.first); });
  } else {
    for (size_t i = 1; i < line.size(); ++i) {
      const auto begin = line.begin(), item = begin + static_cast<ptrdiff_t>(i);
      auto to = less(*item, *begin) ? begin : item;
      while (to != begin && less(*item, *(to - 1))) --to;
      std::rotate(to, item, item + 1);
    }
  }
}

/// The last of the most frequent elements in order; of several as frequent the smallest. `line` is reordered, and not
/// empty.
template <class T>
int64_t mode_position(std::vector<std::pair<T, int64_t>>& line) {
  sort_by_value(line);
  size_t longest = 0, best = 0, run = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    ++run;
    if (i + 1 < line.size() && line[i].first == line[i + 1].first) continue;
    if (run > longest) {
      longest = run;
      best = i;
    }
    run = 0;
  }
  return line[best].second;
}

}  // namespace strata::ops
