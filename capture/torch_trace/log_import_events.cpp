// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The compile-time timeline. B and E pair by nesting within a compile: an E ends the innermost open span of its name.
// Events of no compile are those of worker threads, which run beside each other: spans that are open inside another
// one may end after it, so they are left open.
#include <fmt/format.h>

#include <algorithm>

#include "capture/torch_trace/log_import.h"

namespace strata::capture::detail {
namespace {

constexpr std::size_t kBatch = 2000;
constexpr std::size_t kDeepest = 10000;

}  // namespace

void LogImport::take_event(std::size_t i, PreparedRecord& prepared) {
  std::unique_ptr<EventText> event = std::move(prepared.event);
  if (!event || !event->valid) {
    context_.problem(input_, "bad_event", record(i).line, "the timeline event is not valid JSON with a time");
    trace::RawRecord raw;
    raw.source = name_.string();
    raw.ordinal = record(i).line;
    raw.kind = "chromium_event";
    raw.content = file_.payload(record(i));
    if (raw.content.size() <= kMaxKept) writer().add(raw);
    return;
  }
  ProcessState& process = process_of(record(i).head.ident);
  auto& open = process.open[place(i).compile];
  if (event->phase == "B" && open.size() < kDeepest) {
    open.push_back({i, std::move(event)});
  } else if (event->phase == "E") {
    end_span(process, i, std::move(event));
  } else {
    add_event(process, i, *event, event->phase, event->phase == "B" ? -1 : 0);
  }
}

void LogImport::end_span(ProcessState& process, std::size_t i, std::unique_ptr<EventText> event) {
  auto& open = process.open[place(i).compile];
  const auto begin =
      std::find_if(open.rbegin(), open.rend(), [&](const auto& o) { return o.event->name == event->name; });
  if (begin == open.rend()) {
    add_event(process, i, *event, "E", 0);
    return;
  }
  const OpenSpan span = std::move(*begin);
  open.erase(std::next(begin).base());
  const std::int64_t duration = std::max<std::int64_t>(event->start_ns - span.event->start_ns, 0);
  note_span(span.record, *span.event, duration);
  // The end repeats what the beginning says, and adds what was measured.
  if (!event->args.empty() || event->all_args) {
    span.event->args = std::move(event->args);
    span.event->all_args = std::move(event->all_args);
  }
  add_event(process, span.record, *span.event, "", duration);
}

trace::Id LogImport::track_of(ProcessState& process, std::size_t i) {
  const bool worker = place(i).compile < 0;
  trace::Id& id = worker ? process.worker_track : process.track;
  if (id == trace::kNone) {
    trace::TrackRecord track;
    track.process = process.id;
    track.pid = fmt::format("{}", pid_of(record(i).head.ident));
    track.tid = worker ? "1" : "0";
    track.name = worker ? "compile workers" : "compile";
    track.sort = worker;
    id = writer().add(track);
  }
  return id;
}

void LogImport::add_event(ProcessState& process, std::size_t i, EventText& event, std::string_view phase,
                          std::int64_t duration_ns) {
  if (run_.id == trace::kNone) {
    run_.process = process.id;
    run_.label = "compile";
    run_.clock = "unix";
    run_.start_ns = event.start_ns;
    run_.id = writer().add(run_);
  }
  trace::EventRecord e;
  e.run = run_.id;
  e.name = std::move(event.name);
  e.category = "compile";
  e.clock = "unix";
  e.start_ns = event.start_ns;
  e.duration_ns = duration_ns;
  e.args = std::move(event.args);
  e.track = track_of(process, i);
  e.compile = compile_id_of(i);
  e.phase = phase;
  run_.start_ns = std::min(run_.start_ns, e.start_ns);
  run_end_ns_ = std::max(run_end_ns_, e.start_ns + std::max<std::int64_t>(duration_ns, 0));
  if (event.all_args) event_args_.emplace_back(events_.size(), std::move(event.all_args));
  events_.push_back(std::move(e));
  if (events_.size() >= kBatch) flush_events();
}

void LogImport::note_span(std::size_t i, const EventText& event, std::int64_t duration_ns) {
  AttemptState* attempt = attempt_of(i);
  if (!attempt) return;
  if (event.name.starts_with("compile_attempt_")) attempt->span = {event.start_ns, duration_ns};
  if (event.name == "entire_frame_compile") compile_of(i)->span = {event.start_ns, duration_ns};
}

void LogImport::flush_events() {
  const trace::Id first = writer().add(events_);
  for (const auto& [index, content] : event_args_) {
    const trace::Id event = first + static_cast<trace::Id>(index);
    artifact({trace::OwnerKind::Event, event, events_[index].compile}, "json", "args", *content);
  }
  events_.clear();
  event_args_.clear();
}

void LogImport::finish_events() {
  for (auto& [pid, process] : processes_) {
    for (auto& [compile, spans] : process.open) {
      for (OpenSpan& span : spans) add_event(process, span.record, *span.event, "B", -1);
    }
    process.open.clear();
  }
  flush_events();
  if (run_.id == trace::kNone) return;
  run_.duration_ns = run_end_ns_ - run_.start_ns;
  writer().update(run_);
}

}  // namespace strata::capture::detail
