// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which element of a line is its k-th, median or most frequent one. Of equal elements these name the one that PyTorch
/// names, which follows from the steps of its selection. NaN counts as the largest.

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
/// reordered.
template <class T>
int64_t kth_position(std::vector<std::pair<T, int64_t>>& line, int64_t k) {
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
  return line[static_cast<size_t>(k)].second;
}

/// The lower of two middle elements. The first NaN if there is one and `skip_nan` does not hold. The line is not empty.
template <class T>
int64_t median_position(const std::vector<T>& line, bool skip_nan) {
  const auto nan = std::find_if(line.begin(), line.end(), not_a_number<T>);
  if (!skip_nan && nan != line.end()) return nan - line.begin();
  const auto count =
      static_cast<int64_t>(line.size() - static_cast<size_t>(std::count_if(nan, line.end(), not_a_number<T>)));
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto middle = order.begin() + (count - 1) / 2;
  std::nth_element(order.begin(), middle, order.end(), [&](int64_t a, int64_t b) {
    return comes_after(line[static_cast<size_t>(b)], line[static_cast<size_t>(a)]);
  });
  return *middle;
}

/// The last of the most frequent elements; of several as frequent the smallest. `line` is reordered, and not empty.
template <class T>
int64_t mode_position(std::vector<std::pair<T, int64_t>>& line) {
  std::sort(line.begin(), line.end(), [](const auto& a, const auto& b) {
    if (comes_after(b.first, a.first)) return true;
    return !comes_after(a.first, b.first) && a.second < b.second;
  });
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
