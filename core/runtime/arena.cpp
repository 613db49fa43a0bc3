// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/arena.h"

#include <algorithm>
#include <numeric>

#include "core/support/error.h"

namespace strata {
namespace {

/// Requests that share one place through `reuse_of`.
struct Group {
  int64_t bytes = 0;
  int first = 0, last = 0;
  int64_t offset = -1;
};

int64_t rounded(int64_t bytes) {
  if (bytes > INT64_MAX / 2) throw_user("the temporaries need more memory than can be addressed");
  return (std::max<int64_t>(bytes, 1) + 63) / 64 * 64;
}

struct Span {
  int64_t begin, end;
};

/// The smallest gap that holds `bytes` between spans sorted by begin; else behind the last.
int64_t best_fit(const std::vector<Span>& taken, int64_t bytes) {
  int64_t best = -1, best_gap = INT64_MAX, top = 0;
  for (const Span& s : taken) {
    const int64_t gap = s.begin - top;
    if (gap >= bytes && gap < best_gap) {
      best = top;
      best_gap = gap;
    }
    top = std::max(top, s.end);
  }
  return best >= 0 ? best : top;
}

std::vector<size_t> group_requests(const std::vector<ArenaRequest>& requests, std::vector<Group>& groups) {
  std::vector<size_t> group_of(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const ArenaRequest& r = requests[i];
    const int64_t bytes = rounded(r.bytes);
    const bool joins =
        r.reuse_of >= 0 && static_cast<size_t>(r.reuse_of) < i && bytes <= groups[group_of[r.reuse_of]].bytes;
    if (!joins) {
      group_of[i] = groups.size();
      groups.push_back({bytes, r.first, r.last});
      continue;
    }
    Group& g = groups[group_of[i] = group_of[r.reuse_of]];
    g.first = std::min(g.first, r.first);
    g.last = std::max(g.last, r.last);
  }
  return group_of;
}

void place(std::vector<Group>& groups) {
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return groups[a].bytes > groups[b].bytes; });
  std::vector<size_t> placed;
  std::vector<Span> taken;
  for (size_t i : order) {
    Group& g = groups[i];
    taken.clear();
    for (size_t p : placed) {
      const Group& o = groups[p];
      if (o.first <= g.last && g.first <= o.last) taken.push_back({o.offset, o.offset + o.bytes});
    }
    std::sort(taken.begin(), taken.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    g.offset = best_fit(taken, g.bytes);
    placed.push_back(i);
  }
}

}  // namespace

ArenaLayout plan_arena(const std::vector<ArenaRequest>& requests) {
  ArenaLayout layout;
  for (const ArenaRequest& r : requests) {
    if (__builtin_add_overflow(layout.unshared, rounded(r.bytes), &layout.unshared)) {
      throw_user("the temporaries need more memory than can be addressed");
    }
  }
  std::vector<Group> groups;
  const std::vector<size_t> group_of = group_requests(requests, groups);
  place(groups);
  layout.offsets.resize(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) layout.offsets[i] = groups[group_of[i]].offset;
  for (const Group& g : groups) layout.bytes = std::max(layout.bytes, g.offset + g.bytes);
  return layout;
}

}  // namespace strata
