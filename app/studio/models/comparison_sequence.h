// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What two sequences have in common, in order: a difference as of two texts, refined step by step.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace strata::studio {

class SequenceAligner {
 public:
  /// `a` and `b` are numbers of items, each sequence ascending. `tick` is called now and then and may throw.
  SequenceAligner(std::vector<int> a, std::vector<int> b, std::function<void()> tick);

  /// Pairs items with equal labels (by item number) between the pairs that there are already. Labels that occur once
  /// on either side anchor the rest; where there are none, the shortest difference is taken if it is short enough.
  void refine(const std::vector<std::uint64_t>& labels_a, const std::vector<std::uint64_t>& labels_b);

  /// Item numbers, ascending on both sides.
  std::vector<std::pair<int, int>> pairs() const;

 private:
  struct Range {
    int a0, a1, b0, b1;
    int depth = 0;
    bool empty() const { return a0 >= a1 || b0 >= b1; }
  };
  void align(Range range);
  void trim(Range& range);
  std::vector<std::pair<int, int>> anchors(const Range& range) const;
  void shortest(const Range& range);
  bool hopeless(const Range& range, int most) const;
  std::uint64_t la(int i) const { return label_a_[static_cast<size_t>(i)]; }
  std::uint64_t lb(int i) const { return label_b_[static_cast<size_t>(i)]; }
  void pair(int a, int b) { found_.emplace_back(a, b); }

  std::vector<int> a_, b_;
  std::function<void()> tick_;
  std::vector<std::uint64_t> label_a_, label_b_;  ///< of places in a_ and b_, while refining
  std::vector<std::pair<int, int>> found_;        ///< places
};

}  // namespace strata::studio
