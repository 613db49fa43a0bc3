// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Loop kernels that say nothing: the nodes between what they read and what they write.

#include <algorithm>

#include "capture/inductor/matcher.h"

namespace strata::capture::detail {
namespace {

/// Nodes that the search for the region of one kernel may visit.
constexpr size_t kMaxRegion = 4000;
/// Views of views that are followed.
constexpr int kMaxViews = 32;

}  // namespace

std::vector<int> Matcher::reachable(const std::vector<int>& sources) const {
  std::set<int> known(sources.begin(), sources.end());
  std::set<int> todo;
  const auto push_users = [&](int n) {
    for (const int user : graph_.users(n)) todo.insert(user);
  };
  for (const int n : known) push_users(n);
  if (known.empty()) {
    // Nothing is read: it begins with constants.
    for (int n = 0; n < graph_.size(); ++n) {
      if (graph_.is_call(n) && !claimed_loop_[static_cast<size_t>(n)] && computable(n, known)) todo.insert(n);
    }
  }
  std::vector<int> out;
  while (!todo.empty() && out.size() < kMaxRegion) {
    const int n = *todo.begin();
    todo.erase(todo.begin());
    if (known.contains(n) || !graph_.is_call(n) || is_library(n) || !computable(n, known)) continue;
    known.insert(n);
    out.push_back(n);
    push_users(n);
  }
  sort_unique(out);
  return out;
}

bool Matcher::computable(int n, const std::set<int>& known) const {
  return std::all_of(graph_.inputs(n).begin(), graph_.inputs(n).end(),
                     [&](int in) { return known.contains(in) || free_standing(in, known); });
}

bool Matcher::free_standing(int n, const std::set<int>& known) const {
  return known.contains(n) || constant_[static_cast<size_t>(n)];
}

void Matcher::region(const CodeLaunch& l, LaunchMatch& match) const {
  std::vector<int> sources;
  for (const int b : l.reads) {
    const int v = value(b);
    if (v < 0) continue;
    sources.push_back(v);
    sources.push_back(graph_.base(v));
  }
  sort_unique(sources);
  const std::vector<int> region = reachable(sources);
  std::vector<int> stored;
  for (const int b : l.writes) {
    const int n = stored_node(b, l, region, stored);
    if (n >= 0) stored.push_back(n);
  }
  if (stored.empty()) {
    if (returned(l, match) || second_step(l, match) || first_step(l, region, sources, match)) return;
    layout_copy(l, sources, match);
    return;
  }
  for (const int n : stored) add_ancestors(n, sources, match.nodes);
  // Parts of a value with several are no work of their own, unless one is stored.
  std::erase_if(match.nodes, [&](int n) {
    return graph_.op(n) == "getitem" && std::find(stored.begin(), stored.end(), n) == stored.end();
  });
  match.source = MatchSource::Region;
}

bool Matcher::returned(const CodeLaunch& l, LaunchMatch& match) const {
  const int index = static_cast<int>(&l - code_.launches.data());
  for (const int b : l.writes) {
    const int n = graph_.base(final_[static_cast<size_t>(b)]);
    if (n < 0 || last_writer_[static_cast<size_t>(b)] != index || claimed_loop_[static_cast<size_t>(n)]) continue;
    std::vector<int> claimed;
    for (int other = 0; other < n; ++other) {
      if (claimed_loop_[static_cast<size_t>(other)]) claimed.push_back(other);
    }
    add_ancestors(n, claimed, match.nodes);
  }
  if (match.nodes.empty()) return false;
  match.source = MatchSource::Region;
  return true;
}

bool Matcher::second_step(const CodeLaunch& l, LaunchMatch& match) const {
  for (const int writer : operand_writers(l)) {
    if (writer < 0) continue;
    int best = -1;
    for (const int n : out_.launches[static_cast<size_t>(writer)].nodes) {
      const bool named = named_in(l.callee, graph_.op(n));
      if (graph_.is_view(n) || fits(l.writes.empty() ? -1 : l.writes[0], n) <= 0) continue;
      if (best < 0 || (named && !finished_.contains(n))) best = n;
    }
    if (best < 0) continue;
    match.nodes.push_back(best);
    match.source = MatchSource::Region;
    return true;
  }
  return false;
}

int Matcher::stored_node(int b, const CodeLaunch& l, const std::vector<int>& region,
                         const std::vector<int>& stored) const {
  const int index = static_cast<int>(&l - code_.launches.data());
  if (last_writer_[static_cast<size_t>(b)] == index) {
    const int last = graph_.base(final_[static_cast<size_t>(b)]);
    if (last >= 0 && (contains(region, last) || contains(region, final_[static_cast<size_t>(b)]))) return last;
  }
  // Of equals the last: what comes before it on the way is computed too.
  int best = -1, best_score = 0;
  for (size_t i = region.size(); i-- > 0;) {
    const int n = region[i];
    if (graph_.is_view(n) || claimed_loop_[static_cast<size_t>(n)]) continue;
    if (std::find(stored.begin(), stored.end(), n) != stored.end() || fits(b, n) <= 0) continue;
    const int score = 1 + (leaves(n, region) ? 4 : 0) + (named_in(l.callee, graph_.op(n)) ? 1 : 0);
    if (score > best_score) {
      best = n;
      best_score = score;
    }
  }
  return best;
}

bool Matcher::leaves(int n, const std::vector<int>& region, int depth) const {
  for (const int user : graph_.users(n)) {
    if (!contains(region, user)) return true;
    if (depth < kMaxViews && graph_.is_view(user) && leaves(user, region, depth + 1)) return true;
  }
  return graph_.users(n).empty();
}

bool Matcher::named_in(std::string_view kernel, std::string_view op) {
  const size_t at = kernel.find(op);
  return at != std::string_view::npos && !op.empty();
}

void Matcher::add_ancestors(int n, const std::vector<int>& sources, std::vector<int>& out) const {
  std::vector<int> todo = {n};
  std::set<int> seen(out.begin(), out.end());
  while (!todo.empty()) {
    const int now = todo.back();
    todo.pop_back();
    if (now != n && contains(sources, now)) continue;
    if (!graph_.is_call(now) || is_library(now) || !seen.insert(now).second) continue;
    // Views of what is read cost nothing but belong to no other kernel either.
    out.push_back(now);
    for (const int in : graph_.inputs(now)) todo.push_back(in);
  }
}

void Matcher::layout_copy(const CodeLaunch& l, const std::vector<int>& sources, LaunchMatch& match) const {
  std::vector<int> fitting;
  for (const int n : sources) {
    for (const int b : l.writes) {
      if (fits(b, n) > 0) fitting.push_back(n);
    }
  }
  sort_unique(fitting);
  if (fitting.empty()) return;
  match.nodes = std::move(fitting);
  match.source = MatchSource::Region;
}

bool Matcher::first_step(const CodeLaunch& l, const std::vector<int>& region, const std::vector<int>& sources,
                         LaunchMatch& match) const {
  for (const int n : region) {
    if (graph_.is_view(n) || claimed_loop_[static_cast<size_t>(n)] || !named_in(l.callee, graph_.op(n))) continue;
    add_ancestors(n, sources, match.nodes);
    match.source = MatchSource::Region;
    return true;
  }
  return false;
}

}  // namespace strata::capture::detail
