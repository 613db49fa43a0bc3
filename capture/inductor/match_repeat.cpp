// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Loop kernels: what their comments say, and other launches of the same kernel.

#include <algorithm>

#include "capture/inductor/matcher.h"
#include "capture/inductor/py_text.h"

namespace strata::capture::detail {

void Matcher::loop(const CodeLaunch& l, LaunchMatch& match) {
  if (const auto first = first_.find(l.kernel); first != first_.end()) {
    if (repeat(l, first->second, match) || named(l, first->second, match)) return;
  } else if (comment(l, match)) {
    return;
  }
  region(l, match);
}

const CodeKernel& Matcher::commented(const CodeLaunch& l) const {
  const CodeKernel& kernel = code_.kernels[static_cast<size_t>(l.kernel)];
  if (!kernel.fragment.empty() || kernel.variants.empty()) return kernel;
  const int variant = code_.find_kernel(kernel.variants[0]);
  return variant < 0 ? kernel : code_.kernels[static_cast<size_t>(variant)];
}

bool Matcher::comment(const CodeLaunch& l, LaunchMatch& match) const {
  const CodeKernel& kernel = commented(l);
  for (const FragmentNode& f : kernel.fragment) {
    if (f.placeholder) continue;
    if (const int n = graph_.find(f.name); n >= 0) match.nodes.push_back(n);
  }
  if (match.nodes.empty()) {
    for (const auto& [source, names] : kernel.source_map) {
      for (const std::string& name : names) {
        if (const int n = graph_.find(name); n >= 0) match.nodes.push_back(n);
      }
    }
  }
  if (match.nodes.empty()) return false;
  match.source = MatchSource::Comment;
  return true;
}

bool Matcher::repeat(const CodeLaunch& l, const First& first, LaunchMatch& match) {
  Repeat r{first, out_.launches[static_cast<size_t>(first.launch)].nodes, operand_writers(l), {}, {}, {}};
  const std::vector<int> operands = operand_values(l);
  for (size_t i = 0; i < operands.size() && i < first.operands.size(); ++i) {
    if (first.operands[i] >= 0 && operands[i] >= 0) r.outer.try_emplace(first.operands[i], operands[i]);
  }
  for (const int t : r.pattern) {
    int u = written_before(t, r);
    if (u < 0) u = counterpart(t, r, l);
    if (u < 0) continue;
    r.inner.emplace(t, u);
    r.taken.insert(u);
  }
  // Half of it found is no match.
  if (r.inner.empty() || r.inner.size() * 4 < r.pattern.size() * 3) return false;
  repeated_.clear();
  for (const auto& [t, u] : r.inner) match.nodes.push_back(u);
  for (size_t i = 0; i < first.results.size() && i < l.buffers.size(); ++i) {
    const auto found = r.inner.find(first.results[i]);
    if (found != r.inner.end() && !l.buffers[i].empty()) repeated_[l.buffers[i][0]] = found->second;
  }
  match.source = MatchSource::Repeat;
  return true;
}

int Matcher::written_before(int t, const Repeat& r) const {
  for (size_t i = 0; i < r.writers.size() && i < r.first.writers.size(); ++i) {
    if (r.writers[i] < 0 || r.first.writers[i] < 0) continue;
    const std::vector<int>& then = out_.launches[static_cast<size_t>(r.first.writers[i])].nodes;
    const std::vector<int>& now = out_.launches[static_cast<size_t>(r.writers[i])].nodes;
    if (!contains(then, t)) continue;
    const auto same = [&](int n) { return graph_.shape_key(n) == graph_.shape_key(t); };
    const auto rank = std::count_if(then.begin(), std::lower_bound(then.begin(), then.end(), t), same);
    std::ptrdiff_t seen = 0;
    for (const int u : now) {
      if (!same(u) || seen++ != rank) continue;
      if (!r.taken.contains(u) && consistent(t, u, r) >= 0) return u;
    }
  }
  return -1;
}

int Matcher::counterpart(int t, const Repeat& r, const CodeLaunch& l) const {
  int best = -1, best_score = -1;
  for (const int u : graph_.alike(t)) {
    if (r.taken.contains(u) || !same_seed(t, u, r.first, l)) continue;
    const int bound = consistent(t, u, r);
    if (bound < 0) continue;
    int score = 4 * bound + (claimed_loop_[static_cast<size_t>(u)] ? 0 : 2);
    for (const std::string& source : l.source_nodes) score += source == graph_.node(u).name ? 1 : 0;
    if (score > best_score) {
      best = u;
      best_score = score;
    }
  }
  return best;
}

bool Matcher::same_seed(int t, int u, const First& first, const CodeLaunch& l) const {
  if (graph_.op(t) != "inductor_lookup_seed") return true;
  const CodeLaunch& then = code_.launches[static_cast<size_t>(first.launch)];
  const std::vector<std::string_view> a = py::split(graph_.node(t).args), b = py::split(graph_.node(u).args);
  const CodeKernel& kernel = commented(l);
  for (size_t i = 0; i < kernel.parameters.size() && i < l.operands.size() && i < then.operands.size(); ++i) {
    if (!kernel.parameters[i].first.starts_with("load_seed_offset")) continue;
    if (a.size() == 2 && b.size() == 2 && then.operands[i] == a[1]) return l.operands[i] == b[1];
  }
  return true;
}

bool Matcher::named(const CodeLaunch& l, const First& first, LaunchMatch& match) const {
  const std::vector<int>& pattern = out_.launches[static_cast<size_t>(first.launch)].nodes;
  for (const std::string& name : l.source_nodes) {
    const int n = graph_.find(name);
    const bool same = n >= 0 && std::any_of(pattern.begin(), pattern.end(),
                                            [&](int t) { return graph_.shape_key(t) == graph_.shape_key(n); });
    if (same) match.nodes.push_back(n);
  }
  if (match.nodes.size() != pattern.size()) match.nodes.clear();
  if (match.nodes.empty()) return false;
  match.source = MatchSource::Comment;
  return true;
}

int Matcher::consistent(int t, int u, const Repeat& r) const {
  const std::vector<int>&a = graph_.inputs(t), &b = graph_.inputs(u);
  if (a.size() != b.size()) return -1;
  int bound = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const auto in = r.inner.find(a[i]); in != r.inner.end()) {
      if (in->second != b[i]) return -1;
      ++bound;
      continue;
    }
    if (contains(r.pattern, a[i])) continue;  // its counterpart was not found
    const auto out = r.outer.find(graph_.base(a[i]));
    if (out == r.outer.end()) continue;
    if (out->second != graph_.base(b[i])) return -1;
    ++bound;
  }
  return bound;
}

}  // namespace strata::capture::detail
