// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/iterations.h"

#include <algorithm>
#include <map>

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;

const HostEvent& at(const Timeline& t, int i) { return t.host[static_cast<size_t>(i)]; }

/// The thread with most operators that are not run by the autograd engine; annotations count for it.
trace::Id find_main_track(const Timeline& t) {
  std::map<trace::Id, std::int64_t> weight;
  trace::Id engine = trace::kNone;
  std::vector<bool> in_operator;  // per event; parents come first
  in_operator.reserve(t.host.size());
  for (const HostEvent& e : t.host) {
    const auto parent = static_cast<size_t>(e.parent);
    in_operator.push_back(e.parent >= 0 && (t.host[parent].kind == Kind::Operator || in_operator[parent]));
    if (e.kind == Kind::Annotation && !starts_with(e.name, "## Call")) weight[e.track] += 1000;
    if (e.kind != Kind::Operator || in_operator.back()) continue;
    if (is_backward_call(e))
      engine = engine == trace::kNone ? e.track : engine;
    else
      weight[e.track] += 1;
  }
  trace::Id best = engine;
  std::int64_t most = 0;
  for (const auto& [track, w] : weight)
    if (w > most) best = track, most = w;
  return best;
}

bool is_step_name(std::string_view name) { return starts_with(name, "ProfilerStep#"); }
bool is_optimizer_step(std::string_view name) { return starts_with(name, "Optimizer.step#"); }

/// Outermost annotations of a track by name.
std::map<std::string, std::vector<int>> outer_annotations(const Timeline& t, trace::Id track) {
  std::map<std::string, std::vector<int>> found;
  for (int i = 0; i < static_cast<int>(t.host.size()); ++i) {
    const HostEvent& e = at(t, i);
    if (e.track != track || e.kind != Kind::Annotation) continue;
    if (starts_with(e.name, "Optimizer.") || starts_with(e.name, "## Call")) continue;
    if (t.enclosing(e.parent, Kind::Annotation) >= 0 || t.enclosing(e.parent, Kind::Operator) >= 0) continue;
    found[is_step_name(e.name) ? "ProfilerStep" : e.name].push_back(i);
  }
  return found;
}

std::int64_t total(const Timeline& t, const std::vector<int>& events) {
  std::int64_t sum = 0;
  for (const int i : events) sum += at(t, i).duration;
  return sum;
}

void from_events(Timeline& t, const std::vector<int>& events) {
  for (const int i : events) t.iterations.push_back({at(t, i).start, at(t, i).end(), at(t, i).duration});
}

bool by_annotations(Timeline& t) {
  const auto found = outer_annotations(t, t.main_track);
  const auto steps = found.find("ProfilerStep");
  if (steps != found.end()) {
    t.iteration_source = "ProfilerStep";
    from_events(t, steps->second);
    return true;
  }
  const std::vector<int>* best = nullptr;
  std::int64_t longest = 0, all = 0;
  for (const int i : top_operators(t, t.main_track)) all += at(t, i).duration;
  for (const auto& [name, events] : found) {
    const std::int64_t sum = total(t, events);
    // One annotation alone is an iteration only if it is around nearly everything.
    if (events.size() == 1 && sum < all - all / 10) continue;
    if (sum > longest) longest = sum, best = &events, t.iteration_source = "annotation '" + name + "'";
  }
  if (best == nullptr) return false;
  from_events(t, *best);
  return true;
}

/// Each iteration ends with a step of the optimizer; the first begins with the first operator.
bool by_optimizer(Timeline& t) {
  std::vector<std::int64_t> ends;
  std::int64_t start = 0;
  bool any = false;
  for (const HostEvent& e : t.host) {
    if (e.track != t.main_track) continue;
    if (!any) start = e.start, any = true;
    if (e.kind == Kind::Annotation && is_optimizer_step(e.name)) ends.push_back(e.end());
  }
  for (const std::int64_t end : ends) {
    t.iterations.push_back({start, end, end - start});
    start = end;
  }
  if (!ends.empty()) t.iteration_source = "Optimizer.step";
  return !ends.empty();
}

/// The length of the shortest part that the whole is made of, repeated.
size_t period(const std::vector<std::string_view>& s) {
  std::vector<size_t> fail(s.size(), 0);
  for (size_t i = 1, k = 0; i < s.size(); ++i) {
    while (k > 0 && s[i] != s[k]) k = fail[k - 1];
    if (s[i] == s[k]) ++k;
    fail[i] = k;
  }
  const size_t p = s.empty() ? 0 : s.size() - fail.back();
  return p > 0 && s.size() % p == 0 ? p : s.size();
}

bool by_repetition(Timeline& t) {
  std::vector<std::string_view> names;
  const std::vector<int> tops = top_operators(t, t.main_track);
  for (const int i : tops) names.push_back(at(t, i).name);
  const size_t p = period(names);
  // Two calls of one operator are no loop over a program.
  if (p < 2 || names.size() / p < 2) return false;
  for (size_t i = 0; i < tops.size(); i += p) {
    const std::int64_t start = at(t, tops[i]).start;
    const std::int64_t end = i + p < tops.size() ? at(t, tops[i + p]).start : at(t, tops[i + p - 1]).end();
    t.iterations.push_back({start, end, at(t, tops[i + p - 1]).end() - start});
  }
  t.iteration_source = "repeated operators";
  return true;
}

/// An iteration is over when the devices finished what was launched in it.
void extend_by_device_work(Timeline& t) {
  for (const DeviceEvent& d : t.device) {
    if (d.launcher < 0) continue;
    const int i = t.iteration_at(at(t, d.launcher).start);
    if (i < 0) continue;
    Iteration& it = t.iterations[static_cast<size_t>(i)];
    it.duration = std::max(it.duration, d.end() - it.start);
  }
}

}  // namespace

bool is_backward_call(const HostEvent& event) { return starts_with(event.name, "autograd::engine::evaluate_function"); }

bool is_real_operator(const HostEvent& event) {
  return event.kind == Kind::Operator && event.name.find("::") != std::string::npos && event.name.front() != '#';
}

std::vector<int> top_operators(const Timeline& t, trace::Id track) {
  std::vector<int> tops;
  int last = -1;  // events come parents first: everything until the end of the last top is inside it
  for (int i = 0; i < static_cast<int>(t.host.size()); ++i) {
    const HostEvent& e = at(t, i);
    if (e.track != track || !is_real_operator(e)) continue;
    if (last >= 0 && e.start < at(t, last).end()) continue;
    tops.push_back(i);
    last = i;
  }
  return tops;
}

void find_iterations(Timeline& t) {
  t.main_track = find_main_track(t);
  if (!by_annotations(t) && !by_optimizer(t)) by_repetition(t);
  extend_by_device_work(t);
}

}  // namespace strata::profiler
