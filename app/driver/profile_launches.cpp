// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/profile_launches.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/support/clamped.h"

namespace strata {
namespace {

using trace::EventRecord;
using trace::RunRecord;

constexpr std::string_view kCall = "Strata: ";
/// The profiler's clock and ours are read apart, and its times are converted from cycles.
constexpr std::int64_t kTolerance = 2'000'000;

/// From the clock of our runs to the profiler's.
std::int64_t steady_to_unix() {
  using std::chrono::nanoseconds;
  const auto steady = std::chrono::steady_clock::now().time_since_epoch() / nanoseconds(1);
  return std::chrono::system_clock::now().time_since_epoch() / nanoseconds(1) - steady;
}

std::vector<EventRecord> calls_in(trace::Reader& reader, trace::Id profile) {
  std::vector<EventRecord> calls = reader.events(profile);
  std::erase_if(calls, [](const EventRecord& e) { return !e.name.starts_with(kCall) || e.duration_ns < 0; });
  return calls;
}

/// The first call from `next` on that is as long as the run at least and began with it; calls.size() if there is none.
size_t call_of(const std::vector<EventRecord>& calls, size_t next, const RunRecord& run, std::int64_t shift) {
  const std::int64_t start = add_clamped(run.start_ns, shift), end = add_clamped(start, run.duration_ns);
  for (size_t i = next; i < calls.size() && calls[i].start_ns <= add_clamped(start, kTolerance); ++i) {
    const std::int64_t end_of_call = add_clamped(calls[i].start_ns, calls[i].duration_ns);
    if (calls[i].duration_ns >= run.duration_ns && add_clamped(end_of_call, kTolerance) >= end) return i;
  }
  return calls.size();
}

class Adder {
 public:
  Adder(trace::Reader& reader, trace::Writer& writer) : reader_(reader), writer_(writer), shift_(steady_to_unix()) {
    for (const trace::CompileRecord& c : reader.compiles())
      for (const trace::KernelRecord& k : reader.kernels(c.id)) names_[k.id] = k.name;
    for (const RunRecord& run : reader.runs())
      if (run.clock == "steady" && run.compile != trace::kNone) own_.push_back(run);
    std::stable_sort(own_.begin(), own_.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  }

  void add(const RunRecord& profile) {
    const std::vector<EventRecord> calls = calls_in(reader_, profile.id);
    size_t next = 0;
    for (const RunRecord& run : own_) {
      const size_t call = call_of(calls, next, run, shift_);
      if (call == calls.size()) continue;
      add_run(run, calls[call]);
      next = call + 1;
    }
    writer_.add(events_);
    writer_.assign(matches_);
    events_.clear();
    matches_.clear();
  }

 private:
  void add_run(const RunRecord& run, const EventRecord& call) {
    matches_.push_back({call.id, run.compile, call.program, call.kernel, call.launch, trace::Match::Exact});
    const std::int64_t before = subtract_clamped(call.duration_ns, run.duration_ns) / 2;
    const std::int64_t move = subtract_clamped(add_clamped(call.start_ns, before), run.start_ns);
    for (EventRecord e : reader_.events(run.id)) {
      const auto name = names_.find(e.kernel);
      e.run = call.run;
      e.name = name == names_.end() ? "kernel" : name->second;
      e.category = "cpu_op";
      e.clock = call.clock;
      e.start_ns = add_clamped(e.start_ns, move);
      e.thread = call.thread;
      e.stream = call.stream;
      e.track = call.track;
      e.compile = run.compile;
      e.match = trace::Match::Exact;
      events_.push_back(std::move(e));
    }
  }

  trace::Reader& reader_;
  trace::Writer& writer_;
  const std::int64_t shift_;
  std::vector<RunRecord> own_;
  std::unordered_map<trace::Id, std::string> names_;
  std::vector<EventRecord> events_;
  std::vector<trace::EventMatch> matches_;
};

}  // namespace

void add_launches_to_profiles(trace::Reader& reader, trace::Writer& writer) {
  Adder adder(reader, writer);
  for (const RunRecord& run : reader.runs())
    if (run.label == "profile" && run.clock == "unix") adder.add(run);
}

}  // namespace strata
