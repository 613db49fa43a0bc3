// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The compile-time timeline. B and E pair by nesting within a process: an E ends the innermost open span of its name,
// spans inside it that were never ended stay without an end.
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
  if (event->phase == "B" && process.open.size() < kDeepest) {
    process.open.push_back({i, std::move(event)});
  } else if (event->phase == "E") {
    end_span(process, i, std::move(event));
  } else {
    add_event(process, i, *event, event->phase, event->phase == "B" ? -1 : 0);
  }
}

void LogImport::end_span(ProcessState& process, std::size_t i, std::unique_ptr<EventText> event) {
  auto& open = process.open;
  const auto begin =
      std::find_if(open.rbegin(), open.rend(), [&](const auto& o) { return o.event->name == event->name; });
  if (begin == open.rend()) {
    add_event(process, i, *event, "E", 0);
    return;
  }
  const std::size_t at = static_cast<std::size_t>(open.rend() - begin) - 1;
  for (std::size_t k = at + 1; k < open.size(); ++k) add_event(process, open[k].record, *open[k].event, "B", -1);
  OpenSpan span = std::move(open[at]);
  open.resize(at);
  const std::int64_t duration = std::max<std::int64_t>(event->start_ns - span.event->start_ns, 0);
  note_span(span.record, *span.event, duration);
  // The end repeats what the beginning says, and adds what was measured.
  if (!event->args.empty() || event->all_args) {
    span.event->args = std::move(event->args);
    span.event->all_args = std::move(event->all_args);
  }
  add_event(process, span.record, *span.event, "", duration);
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
  if (process.track == trace::kNone) {
    trace::TrackRecord track;
    track.process = process.id;
    track.pid = fmt::format("{}", pid_of(record(i).head.ident));
    track.tid = "0";
    track.name = "compile";
    process.track = writer().add(track);
  }
  trace::EventRecord e;
  e.run = run_.id;
  e.name = std::move(event.name);
  e.category = "compile";
  e.clock = "unix";
  e.start_ns = event.start_ns;
  e.duration_ns = duration_ns;
  e.args = std::move(event.args);
  e.track = process.track;
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
    for (OpenSpan& span : process.open) add_event(process, span.record, *span.event, "B", -1);
    process.open.clear();
  }
  flush_events();
  if (run_.id == trace::kNone) return;
  run_.duration_ns = run_end_ns_ - run_.start_ns;
  writer().update(run_);
}

}  // namespace strata::capture::detail
