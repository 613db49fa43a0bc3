// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "profiler/iterations.h"

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;

Kind kind_of(std::string_view category) {
  if (category == "cpu_op") return Kind::Operator;
  if (category == "user_annotation") return Kind::Annotation;
  if (category == "python_function") return Kind::Python;
  if (category.ends_with("_runtime") || category.ends_with("_driver")) return Kind::Runtime;
  return Kind::Other;
}

bool is_device_work(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

/// What is outside is nonsense from a damaged file, and would overflow sums.
constexpr std::int64_t kMostTime = std::int64_t{1} << 61, kMostDuration = std::int64_t{1} << 50;
std::int64_t sane_start(std::int64_t ns) { return std::clamp(ns, -kMostTime, kMostTime); }
std::int64_t sane_duration(std::int64_t ns) { return std::clamp<std::int64_t>(ns, 0, kMostDuration); }

HostEvent host_event(const trace::EventRecord& e, Kind kind) {
  HostEvent h;
  h.id = e.id;
  h.name = e.name;
  h.kind = kind;
  h.start = sane_start(e.start_ns);
  h.duration = sane_duration(e.duration_ns);
  h.track = e.track;
  h.correlation = e.correlation;
  h.external = e.external;
  h.sequence = e.sequence;
  h.compile = e.compile;
  h.program = e.program;
  h.kernel = e.kernel;
  h.match = e.match;
  // Of Python functions only where they were called from.
  if (kind == Kind::Operator || (kind == Kind::Python && e.args.find("CallFrom") != std::string::npos)) h.args = e.args;
  return h;
}

DeviceEvent device_event(const trace::EventRecord& e, std::int64_t device) {
  DeviceEvent d;
  d.id = e.id;
  d.name = e.name;
  d.category = e.category;
  d.start = sane_start(e.start_ns);
  d.duration = sane_duration(e.duration_ns);
  d.track = e.track;
  d.device = device;
  d.compile = e.compile;
  d.program = e.program;
  d.kernel = e.kernel;
  d.match = e.match;
  d.args = e.args;
  return d;
}

/// Sorts host events and finds the event around each.
void nest(std::vector<HostEvent>& host) {
  std::sort(host.begin(), host.end(), [](const HostEvent& a, const HostEvent& b) {
    if (a.track != b.track) return a.track < b.track;
    if (a.start != b.start) return a.start < b.start;
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.id < b.id;
  });
  std::vector<int> open;
  for (int i = 0; i < static_cast<int>(host.size()); ++i) {
    HostEvent& e = host[static_cast<size_t>(i)];
    while (!open.empty()) {
      const HostEvent& top = host[static_cast<size_t>(open.back())];
      if (top.track == e.track && e.start < top.end()) break;
      open.pop_back();
    }
    e.parent = open.empty() ? -1 : open.back();
    open.push_back(i);
  }
}

bool counts_as_time(const HostEvent& e) { return e.kind == Kind::Operator || e.kind == Kind::Annotation; }

/// Time of each event without the operators and annotations directly inside (runtime calls and Python frames between
/// belong to the event around them).
void find_self_times(std::vector<HostEvent>& host) {
  for (HostEvent& e : host) e.self = e.duration;
  std::vector<int> nearest;  // per event: the one at or around it that counts; parents come first
  nearest.reserve(host.size());
  for (const HostEvent& e : host) {
    const int p = e.parent < 0 ? -1 : nearest[static_cast<size_t>(e.parent)];
    nearest.push_back(counts_as_time(e) ? static_cast<int>(nearest.size()) : p);
    if (!counts_as_time(e) || p < 0) continue;
    HostEvent& around = host[static_cast<size_t>(p)];
    // Clocks are read one after the other, so a child may end a little after its parent.
    around.self -= std::min(e.end(), around.end()) - e.start;
  }
  for (HostEvent& e : host) e.self = std::max<std::int64_t>(e.self, 0);
}

/// Runs in which a compiled graph was called.
std::set<trace::Id> runs_with_compiled_code(trace::Reader& reader) {
  std::set<trace::Id> found;
  reader.each_event([&](const trace::EventRecord& e) {
    if (e.program != trace::kNone || starts_with(e.name, "## Call CompiledFxGraph") ||
        starts_with(e.name, "Torch-Compiled Region"))
      found.insert(e.run);
    return true;
  });
  return found;
}

/// Correlation and external numbers are unique within a process only.
using Number = std::pair<trace::Id, std::int64_t>;

void find_launchers(Timeline& t, const std::vector<std::pair<std::int64_t, std::int64_t>>& numbers,
                    const std::unordered_map<trace::Id, trace::Id>& process_of) {
  const auto process = [&](trace::Id track) {
    const auto found = process_of.find(track);
    return found == process_of.end() ? trace::kNone : found->second;
  };
  std::map<Number, int> calls, operators;
  for (int i = 0; i < static_cast<int>(t.host.size()); ++i) {
    const HostEvent& e = t.host[static_cast<size_t>(i)];
    if (e.kind == Kind::Runtime && e.correlation != 0) calls.emplace(Number{process(e.track), e.correlation}, i);
    if (counts_as_time(e) && e.external != 0) operators[Number{process(e.track), e.external}] = i;
  }
  for (size_t i = 0; i < t.device.size(); ++i) {
    DeviceEvent& d = t.device[i];
    const auto call = calls.find({process(d.track), numbers[i].first});
    const auto op = operators.find({process(d.track), numbers[i].second});
    if (numbers[i].first != 0 && call != calls.end()) {
      d.launcher = call->second;
      // A call on a thread whose operators were not recorded still has the number of its operator.
      if (t.host[static_cast<size_t>(d.launcher)].parent < 0 && op != operators.end()) d.launcher = op->second;
    } else if (numbers[i].second != 0 && op != operators.end()) {
      d.launcher = op->second;
    }
  }
}

}  // namespace

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_launch_call(std::string_view name) {
  for (const char* word : {"Launch", "Memcpy", "Memset", "launch", "memcpy", "memset"})
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

int Timeline::enclosing(int index, HostEvent::Kind kind) const {
  while (index >= 0 && host[static_cast<size_t>(index)].kind != kind) index = host[static_cast<size_t>(index)].parent;
  return index;
}

std::vector<int> Timeline::ancestors(int index) const {
  std::vector<int> chain;
  for (; index >= 0; index = host[static_cast<size_t>(index)].parent) chain.push_back(index);
  return chain;
}

int Timeline::iteration_at(std::int64_t time) const {
  const auto after = std::upper_bound(iterations.begin(), iterations.end(), time,
                                      [](std::int64_t t, const Iteration& it) { return t < it.start; });
  if (after == iterations.begin()) return -1;
  const auto it = after - 1;
  return time < it->end ? static_cast<int>(it - iterations.begin()) : -1;
}

bool has_profile(trace::Reader& reader) { return !profiles_in(reader).empty(); }

std::vector<trace::RunRecord> profiles_in(trace::Reader& reader) {
  std::vector<trace::RunRecord> runs = reader.runs();
  std::erase_if(runs, [](const auto& run) { return run.label != "profile"; });
  return runs;
}

ChosenRuns choose_runs(trace::Reader& reader, bool compiled) {
  ChosenRuns chosen{profiles_in(reader), {}};
  if (chosen.runs.size() < 2) return chosen;
  const size_t all = chosen.runs.size();
  const std::set<trace::Id> with = runs_with_compiled_code(reader);
  std::vector<trace::RunRecord> fitting = chosen.runs;
  std::erase_if(fitting, [&](const auto& run) { return with.contains(run.id) != compiled; });
  if (!fitting.empty()) chosen.runs = std::move(fitting);
  std::map<trace::Id, std::int64_t> rank_of;
  for (const auto& p : reader.processes()) rank_of[p.id] = p.rank;
  const auto lowest = std::min_element(chosen.runs.begin(), chosen.runs.end(), [&](const auto& a, const auto& b) {
    return rank_of[a.process] < rank_of[b.process];
  });
  const trace::Id process = lowest->process;
  std::erase_if(chosen.runs, [&](const auto& run) { return run.process != process; });
  if (chosen.runs.size() < all)
    chosen.note = "of " + std::to_string(all) + " profiles in the " + (compiled ? "second" : "first") + " trace " +
                  std::to_string(chosen.runs.size()) + (compiled ? " with" : " without") + " compiled code " +
                  (rank_of[process] >= 0 ? "(rank " + std::to_string(rank_of[process]) + ") " : "") + "is compared";
  return chosen;
}

Timeline read_timeline(trace::Reader& reader, const std::vector<trace::RunRecord>& chosen) {
  Timeline t;
  std::set<trace::Id> runs;
  for (const auto& run : chosen) runs.insert(run.id);
  t.tracks = reader.tracks();
  std::unordered_map<trace::Id, std::int64_t> device_of;
  std::unordered_map<trace::Id, trace::Id> process_of;
  for (const auto& track : t.tracks) device_of[track.id] = track.device, process_of[track.id] = track.process;

  std::vector<std::pair<DeviceEvent, std::pair<std::int64_t, std::int64_t>>> device;
  reader.each_event([&](const trace::EventRecord& e) {
    if (!runs.contains(e.run) || !(e.phase.empty() || e.phase == "X")) return true;
    const Kind kind = kind_of(e.category);
    if (is_device_work(e.category)) {
      const auto found = device_of.find(e.track);
      device.emplace_back(device_event(e, found == device_of.end() ? -1 : found->second),
                          std::pair{e.correlation, e.external});
    } else if (kind != Kind::Other) {
      t.host.push_back(host_event(e, kind));
    }
    return true;
  });
  nest(t.host);
  find_self_times(t.host);
  std::stable_sort(device.begin(), device.end(),
                   [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  std::vector<std::pair<std::int64_t, std::int64_t>> numbers;
  for (auto& [event, number] : device) t.device.push_back(std::move(event)), numbers.push_back(number);
  find_launchers(t, numbers, process_of);
  find_iterations(t);
  return t;
}

}  // namespace strata::profiler
