// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/comparison_sequence.h"

#include <algorithm>
#include <unordered_map>

namespace strata::studio {

namespace {

/// The longest difference that is looked for without anchors: time grows with it times the length of the sequences.
constexpr int kMostEdits = 1000;
/// Anchors between anchors: deeper, a sequence is too unlike the other for more of them to help.
constexpr int kMostDepth = 40;

}  // namespace

SequenceAligner::SequenceAligner(std::vector<int> a, std::vector<int> b, std::function<void()> tick)
    : a_(std::move(a)), b_(std::move(b)), tick_(std::move(tick)) {}

std::vector<std::pair<int, int>> SequenceAligner::pairs() const {
  std::vector<std::pair<int, int>> out;
  for (const auto& [a, b] : found_) out.emplace_back(a_[static_cast<size_t>(a)], b_[static_cast<size_t>(b)]);
  return out;
}

void SequenceAligner::refine(const std::vector<std::uint64_t>& labels_a, const std::vector<std::uint64_t>& labels_b) {
  const auto take = [](const std::vector<int>& items, const std::vector<std::uint64_t>& labels) {
    std::vector<std::uint64_t> out;
    for (const int i : items) out.push_back(labels[static_cast<size_t>(i)]);
    return out;
  };
  label_a_ = take(a_, labels_a);
  label_b_ = take(b_, labels_b);
  auto known = found_;
  known.emplace_back(static_cast<int>(a_.size()), static_cast<int>(b_.size()));
  int a = 0, b = 0;
  for (const auto& [next_a, next_b] : known) {
    align({a, next_a, b, next_b});
    a = next_a + 1;
    b = next_b + 1;
  }
  std::sort(found_.begin(), found_.end());
}

void SequenceAligner::align(Range whole) {
  std::vector<Range> open{whole};
  while (!open.empty()) {
    Range r = open.back();
    open.pop_back();
    trim(r);
    if (r.empty()) continue;
    tick_();
    const auto anchors_of_range = r.depth < kMostDepth ? anchors(r) : std::vector<std::pair<int, int>>();
    if (anchors_of_range.empty()) {
      shortest(r);
      continue;
    }
    int a = r.a0, b = r.b0;
    for (const auto& [x, y] : anchors_of_range) {
      pair(x, y);
      open.push_back({a, x, b, y, r.depth + 1});
      a = x + 1;
      b = y + 1;
    }
    open.push_back({a, r.a1, b, r.b1, r.depth + 1});
  }
}

void SequenceAligner::trim(Range& r) {
  while (!r.empty() && la(r.a0) == lb(r.b0)) pair(r.a0++, r.b0++);
  while (!r.empty() && la(r.a1 - 1) == lb(r.b1 - 1)) pair(--r.a1, --r.b1);
}

/// Labels that occur once on either side; of those the most that rise on both.
std::vector<std::pair<int, int>> SequenceAligner::anchors(const Range& r) const {
  struct Seen {
    int a = 0, b = 0, at = 0;
  };
  std::unordered_map<std::uint64_t, Seen> seen;
  for (int i = r.a0; i < r.a1; ++i) ++seen[la(i)].a;
  for (int i = r.b0; i < r.b1; ++i)
    if (const auto s = seen.find(lb(i)); s != seen.end()) ++s->second.b, s->second.at = i;
  std::vector<std::pair<int, int>> candidates;
  for (int i = r.a0; i < r.a1; ++i)
    if (const Seen& s = seen[la(i)]; s.a == 1 && s.b == 1) candidates.emplace_back(i, s.at);
  // Longest rising subsequence: `ends[k]` is the candidate that ends the best one of k + 1.
  std::vector<int> ends, before(candidates.size(), -1);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), candidates[i].second,
                                     [&](int k, int b) { return candidates[static_cast<size_t>(k)].second < b; });
    if (at != ends.begin()) before[i] = *(at - 1);
    if (at == ends.end())
      ends.push_back(static_cast<int>(i));
    else
      *at = static_cast<int>(i);
  }
  std::vector<std::pair<int, int>> rising;
  for (int i = ends.empty() ? -1 : ends.back(); i >= 0; i = before[static_cast<size_t>(i)])
    rising.push_back(candidates[static_cast<size_t>(i)]);
  std::reverse(rising.begin(), rising.end());
  return rising;
}

/// Whether there are too few equal labels for a difference of `most`.
bool SequenceAligner::hopeless(const Range& r, int most) const {
  std::unordered_map<std::uint64_t, int> counts;
  for (int i = r.a0; i < r.a1; ++i) ++counts[la(i)];
  int common = 0;
  for (int i = r.b0; i < r.b1; ++i)
    if (const auto at = counts.find(lb(i)); at != counts.end() && at->second > 0) --at->second, ++common;
  return common == 0 || (r.a1 - r.a0) + (r.b1 - r.b0) - 2 * common > most;
}

/// Myers' shortest difference, in O((n + m) d).
void SequenceAligner::shortest(const Range& r) {
  const int n = r.a1 - r.a0, m = r.b1 - r.b0, most = std::min(n + m, kMostEdits);
  if (hopeless(r, most)) return;
  std::vector<std::vector<int>> steps;  // per number of edits the furthest place on each diagonal before it
  std::vector<int> far(static_cast<size_t>(2 * most + 3), 0);
  const auto at = [&](int k) -> int& { return far[static_cast<size_t>(k + most + 1)]; };
  int edits = -1;
  for (int d = 0; d <= most && edits < 0; ++d) {
    if (d % 64 == 0) tick_();
    steps.emplace_back(far.begin() + most + 1 - d, far.begin() + most + 2 + d);
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      int y = x - k;
      while (x < n && y < m && la(r.a0 + x) == lb(r.b0 + y)) ++x, ++y;
      at(k) = x;
      if (x >= n && y >= m) {
        edits = d;
        break;
      }
    }
  }
  if (edits < 0) return;
  int x = n, y = m;
  for (int d = edits; d >= 0; --d) {
    const std::vector<int>& last = steps[static_cast<size_t>(d)];
    const auto before = [&](int k) { return k < -d || k > d ? 0 : last[static_cast<size_t>(k + d)]; };
    const int k = x - y;
    const int from = k == -d || (k != d && before(k - 1) < before(k + 1)) ? k + 1 : k - 1;
    const int start_x = d == 0 ? 0 : before(from), start_y = d == 0 ? 0 : start_x - from;
    while (x > start_x && y > start_y) pair(r.a0 + --x, r.b0 + --y);
    x = start_x;
    y = start_y;
  }
}

}  // namespace strata::studio
