// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/explain/explain_time.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/support/clamped.h"

namespace strata {
namespace {

using trace::Id;
using trace::kNone;

/// Spans by phase and name.
using Found = std::map<std::string, std::map<std::string, ExplainPhase::Span>>;

class Times {
 public:
  Times(trace::Reader& reader, const std::set<Id>* only) : reader_(reader), only_(only) {}

  void run(Explanation& out) {
    Found found;
    for (const trace::RunRecord& run : reader_.runs())
      if (run.label == "compile") timeline(reader_.events(run.id), found);
    if (found.empty()) {
      pass_times(found);
      step_times(found);
    }
    for (auto& [name, spans] : found) {
      ExplainPhase phase;
      phase.name = name;
      for (auto& [span, s] : spans) {
        phase.self_ns = add_clamped(phase.self_ns, s.self_ns);
        phase.spans.push_back(std::move(s));
      }
      std::stable_sort(phase.spans.begin(), phase.spans.end(),
                       [](const auto& a, const auto& b) { return a.self_ns > b.self_ns; });
      out.phases_ns = add_clamped(out.phases_ns, phase.self_ns);
      out.phases.push_back(std::move(phase));
    }
    std::stable_sort(out.phases.begin(), out.phases.end(),
                     [](const auto& a, const auto& b) { return a.self_ns > b.self_ns; });
  }

 private:
  struct OpenSpan {
    const trace::EventRecord* event = nullptr;
    std::int64_t end = 0, inner = 0;
    Id compile = kNone;
  };

  /// Own times of nested spans, track by track.
  void timeline(const std::vector<trace::EventRecord>& events, Found& found) {
    std::map<std::pair<Id, std::int64_t>, std::vector<const trace::EventRecord*>> tracks;
    for (const trace::EventRecord& e : events)
      if (e.duration_ns >= 0 && (e.phase.empty() || e.phase == "X")) tracks[{e.track, e.thread}].push_back(&e);
    for (auto& [track, list] : tracks) {
      std::stable_sort(list.begin(), list.end(), [](const auto* a, const auto* b) {
        return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->duration_ns > b->duration_ns;
      });
      std::vector<OpenSpan> open;
      for (const trace::EventRecord* e : list) {
        while (!open.empty() && open.back().end <= e->start_ns) close(open, found);
        const std::int64_t end = add_clamped(e->start_ns, e->duration_ns);
        if (!open.empty()) {
          const std::int64_t inside = subtract_clamped(std::min(end, open.back().end), e->start_ns);
          open.back().inner = add_clamped(open.back().inner, inside);
        }
        const Id compile = e->compile != kNone ? e->compile : open.empty() ? kNone : open.back().compile;
        open.push_back({e, open.empty() ? end : std::min(end, open.back().end), 0, compile});
      }
      while (!open.empty()) close(open, found);
    }
  }

  void close(std::vector<OpenSpan>& open, Found& found) {
    const OpenSpan span = open.back();
    open.pop_back();
    if (only_ && !only_->contains(span.compile)) return;
    const std::int64_t whole = subtract_clamped(span.end, span.event->start_ns);
    ExplainPhase::Span& to = found[std::string(compile_phase(span.event->name))][span.event->name];
    to.name = span.event->name;
    add(to, whole, std::max<std::int64_t>(subtract_clamped(whole, span.inner), 0));
  }

  static void add(ExplainPhase::Span& to, std::int64_t total_ns, std::int64_t self_ns) {
    ++to.count;
    to.total_ns = add_clamped(to.total_ns, total_ns);
    to.self_ns = add_clamped(to.self_ns, self_ns);
  }

  /// Our own compiles have passes instead of a timeline.
  void pass_times(Found& found) {
    for (const trace::CompileRecord& c : reader_.compiles()) {
      if (only_ && !only_->contains(c.id)) continue;
      for (const trace::PassRecord& p : reader_.passes(c.id)) {
        if (p.duration_ns < 0) continue;
        ExplainPhase::Span& to = found["passes"][p.name];
        to.name = p.name;
        add(to, p.duration_ns, p.duration_ns);
      }
    }
  }

  /// What our own compiles do beside passes.
  void step_times(Found& found) {
    static const std::map<std::string, std::pair<std::string, std::string>> steps = {
        {"time:schedule", {"schedule", "schedule"}},
        {"time:plan_kernels", {"kernels", "plan"}},
        {"time:kernel_cache", {"kernels", "look into the cache"}},
        {"time:generate_code", {"kernels", "generate code"}},
        {"time:load_code", {"kernels", "load code"}},
        {"time:libraries", {"libraries", "make primitives, pack weights"}},
        {"time:measure_candidates", {"measure candidates", "max-autotune"}}};
    for (const trace::MetricRecord& m : reader_.metrics()) {
      if (m.owner.kind != trace::OwnerKind::Compile || (only_ && !only_->contains(m.owner.id))) continue;
      const auto step = steps.find(m.key);
      if (step == steps.end() || !(m.value > 0)) continue;
      ExplainPhase::Span& to = found[step->second.first][step->second.second];
      to.name = step->second.second;
      const std::int64_t ns = to_integer_clamped(m.value);
      add(to, ns, ns);
    }
  }

  trace::Reader& reader_;
  const std::set<Id>* only_;
};

}  // namespace

void explain_time(trace::Reader& reader, const std::set<trace::Id>* only, Explanation& out) {
  Times(reader, only).run(out);
}

}  // namespace strata
