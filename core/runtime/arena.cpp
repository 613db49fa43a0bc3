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
  int loan = -1;
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

/// A place for `g` in one block of memory beside the groups that lie there while it lives.
int64_t place_in(int loan, const Group& g, const std::vector<Group>& groups, const std::vector<size_t>& placed) {
  std::vector<Span> taken;
  for (size_t p : placed) {
    const Group& o = groups[p];
    if (o.loan == loan && o.first <= g.last && g.first <= o.last) taken.push_back({o.offset, o.offset + o.bytes});
  }
  std::sort(taken.begin(), taken.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return best_fit(taken, g.bytes);
}

void place(std::vector<Group>& groups, const std::vector<ArenaLoan>& loans) {
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return groups[a].bytes > groups[b].bytes; });
  std::vector<size_t> placed;
  int64_t top = 0;
  for (size_t i : order) {
    Group& g = groups[i];
    g.offset = place_in(-1, g, groups, placed);
    for (size_t k = 0; k < loans.size() && g.loan < 0 && g.offset + g.bytes > top; ++k) {
      if (g.last >= loans[k].until || g.bytes > loans[k].bytes) continue;
      const int64_t offset = place_in(static_cast<int>(k), g, groups, placed);
      if (offset + g.bytes > loans[k].bytes) continue;
      g.offset = offset;
      g.loan = static_cast<int>(k);
    }
    if (g.loan < 0) top = std::max(top, g.offset + g.bytes);
    placed.push_back(i);
  }
}

}  // namespace

ArenaLayout plan_arena(const std::vector<ArenaRequest>& requests, const std::vector<ArenaLoan>& loans) {
  ArenaLayout layout;
  for (const ArenaRequest& r : requests) {
    if (__builtin_add_overflow(layout.unshared, rounded(r.bytes), &layout.unshared)) {
      throw_user("the temporaries need more memory than can be addressed");
    }
  }
  std::vector<Group> groups;
  const std::vector<size_t> group_of = group_requests(requests, groups);
  place(groups, loans);
  for (size_t group : group_of) {
    layout.offsets.push_back(groups[group].offset);
    layout.loans.push_back(groups[group].loan);
  }
  for (const Group& g : groups)
    if (g.loan < 0) layout.bytes = std::max(layout.bytes, g.offset + g.bytes);
  return layout;
}

}  // namespace strata
