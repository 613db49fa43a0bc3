// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/stack_times.h"

#include <vector>

#include "profiler/eager_costs.h"
#include "profiler/iterations.h"
#include "profiler/python_stacks.h"
#include "profiler/timeline.h"

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;

/// Adds up one timeline.
class Summer {
 public:
  Summer(const Timeline& timeline, StackTimes& times)
      : t_(timeline), forward_(timeline), places_(timeline), times_(times) {
    times_.any = places_.any();
    backward_.reserve(timeline.host.size());
    optimizer_.reserve(timeline.host.size());
    for (const HostEvent& e : timeline.host) {  // parents come first
      const auto own = static_cast<int>(backward_.size());
      const auto parent = static_cast<size_t>(e.parent);
      backward_.push_back(is_backward_call(e) ? own : e.parent < 0 ? -1 : backward_[parent]);
      const bool step = e.kind == Kind::Annotation && starts_with(e.name, "Optimizer.");
      optimizer_.push_back(step || (e.parent >= 0 && optimizer_[parent]));
    }
  }

  void devices() {
    for (const DeviceEvent& e : t_.device) {
      if (e.category != "kernel" || e.compile != trace::kNone || e.program != trace::kNone) continue;
      if (!in_optimizer(e.launcher)) add(e.launcher, e.duration);
    }
  }

  void outermost_operators() {
    int outer = -1;
    for (int i = 0; i < static_cast<int>(t_.host.size()); ++i) {
      const HostEvent& e = at(i);
      if (e.kind != Kind::Operator || e.compile != trace::kNone || e.program != trace::kNone) continue;
      if (outer >= 0 && at(outer).track == e.track && e.start < at(outer).end()) continue;
      outer = i;
      if (!in_optimizer(i)) add(i, e.duration);
    }
  }

 private:
  const HostEvent& at(int i) const { return t_.host[static_cast<size_t>(i)]; }

  bool in_optimizer(int host) const { return host >= 0 && optimizer_[static_cast<size_t>(host)]; }
  /// The call of the engine that runs a backward node, around an event; -1 none.
  int backward_around(int host) const { return host < 0 ? -1 : backward_[static_cast<size_t>(host)]; }

  void add(int host, std::int64_t ns) {
    const int backward = backward_around(host);
    const int from = backward < 0 ? host : forward_.of(at(backward).sequence);
    const PythonPlace& place = places_.of(from);
    const char* none = backward < 0                ? "(no Python function known)"
                       : at(backward).sequence < 0 ? "(gradient accumulation)"
                                                   : "(backward, forward operator not in the profile)";
    put(times_.lines, place.text(), none, ns);
    put(times_.modules, place.modules, from >= 0 ? "(outside of modules)" : none, ns);
    times_.total += ns;
  }

  static void put(std::map<std::string, StackTime>& table, const std::string& key, const char* none, std::int64_t ns) {
    StackTime& time = table[key.empty() ? none : key];
    time.known = !key.empty();
    ++time.calls;
    time.ns += ns;
  }

  const Timeline& t_;
  ForwardOperators forward_;
  PythonPlaces places_;
  StackTimes& times_;
  std::vector<int> backward_;
  std::vector<bool> optimizer_;
};

}  // namespace

StackTimes stack_times(trace::Reader& reader, const trace::RunRecord& run, bool device) {
  const Timeline timeline = read_timeline(reader, {run});
  StackTimes times;
  Summer summer(timeline, times);
  if (!times.any) return times;
  if (device)
    summer.devices();
  else
    summer.outermost_operators();
  return times;
}

}  // namespace strata::profiler
