// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/kineto/flows.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace strata::capture::kineto {
namespace {

/// How many slices before a time are looked at for one that contains it.
constexpr int kMaxLook = 1000;

bool ends_after(const Slice& slice, std::int64_t time) {
  return slice.duration >= 0 && slice.start + slice.duration >= time;
}

}  // namespace

// Slices are sorted by row, start, longest first.
trace::Id FlowMatcher::event_at(const Arrow& arrow) const {
  const auto after = std::upper_bound(slices_.begin(), slices_.end(), arrow, [](const Arrow& a, const Slice& s) {
    return std::tie(a.track, a.time) < std::tie(s.track, s.start);
  });
  auto slice = after;
  for (int looked = 0; slice != slices_.begin() && looked < kMaxLook; ++looked) {
    --slice;
    if (slice->track != arrow.track) break;
    if (slice->start == arrow.time || ends_after(*slice, arrow.time)) return slice->event;
  }
  return trace::kNone;
}

std::vector<trace::FlowRecord> FlowMatcher::match() {
  std::sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.track, a.start, -a.duration, a.event) < std::tuple(b.track, b.start, -b.duration, b.event);
  });
  std::stable_sort(arrows_.begin(), arrows_.end(), [](const Arrow& a, const Arrow& b) {
    return std::tuple(std::string_view(a.category), a.id, !a.start) <
           std::tuple(std::string_view(b.category), b.id, !b.start);
  });
  std::vector<trace::FlowRecord> flows;
  for (auto first = arrows_.begin(); first != arrows_.end();) {
    const auto same = [&](const Arrow& a) { return a.category == first->category && a.id == first->id; };
    const auto last = std::find_if_not(first, arrows_.end(), same);
    const auto middle = std::find_if(first, last, [](const Arrow& a) { return !a.start; });
    FlowCounts& counts = counts_[first->category];
    auto start = first, end = middle;
    for (; start != middle && end != last; ++start, ++end) {
      trace::FlowRecord flow;
      flow.kind = first->category;
      flow.from = event_at(*start);
      flow.to = event_at(*end);
      const bool found = flow.from != trace::kNone && flow.to != trace::kNone;
      ++(found ? counts.matched : counts.unmatched);
      if (found) flows.push_back(std::move(flow));
    }
    counts.lonely_starts += middle - start;
    counts.lonely_ends += last - end;
    first = last;
  }
  return flows;
}

}  // namespace strata::capture::kineto
