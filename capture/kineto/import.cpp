// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <thread>
#include <unordered_map>

#include "capture/kineto/file_hints.h"
#include "capture/kineto/flows.h"
#include "capture/kineto/kineto.h"
#include "capture/kineto/pipeline.h"
#include "core/support/error.h"
#include "core/support/loose_json.h"

namespace strata::capture {
namespace {

using namespace kineto;
using namespace loose;

/// Bad events that are kept as they are; those of a kind that is not known all are.
constexpr std::int64_t kMaxKept = 1000;

/// Events within each other that wait for their end, in a row.
constexpr std::size_t kMaxOpen = 1000;

/// What metadata events say of a process or, under (pid, tid), of a thread.
struct Names {
  std::string name, label;
  std::int64_t sort = 0;
};

class ProfileImport {
 public:
  ProfileImport(ImportContext& context, const std::filesystem::path& path)
      : context_(context), path_(path), source_(path), splitter_(source_) {}
  ProfileImport(ImportContext& context, const std::filesystem::path& path, std::string_view bytes, std::size_t block)
      : context_(context), path_(path), in_memory_(true), source_(bytes), splitter_(source_, block) {}

  trace::Id run() {
    begin();
    {
      // One thread reads, this one writes.
      const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
      Pipeline pipeline(splitter_, std::clamp(cores - 2, 1, 4));
      while (auto block = pipeline.next()) take(*block);
    }
    finish();
    return run_.id;
  }

 private:
  void begin();
  void begin_run();
  void take(ParsedBlock& block);
  void set_base(const ParsedBlock& block);
  std::vector<std::int32_t> rows_of(const std::vector<LocalTrack>& tracks);
  std::int32_t row(const LocalTrack& local);
  void write_events(ParsedBlock& block, const std::vector<std::int32_t>& rows);
  bool pair(trace::EventRecord& event, std::int32_t row);
  void report(const Problem& problem);
  void names(const std::vector<NameEvent>& names);
  void finish();
  void unclosed(trace::EventRecord& event);
  void write_unclosed();
  void finish_time();
  void finish_flows();
  void count_launch_flows();
  void finish_tracks(trace::Id process);
  std::int64_t host_pid() const;
  void write_metadata();
  void profiler_said(bool error, const std::string& text);
  void write_metrics(const std::string& prefix, std::string_view object, int depth);
  void metric(const std::string& key, std::string_view value);
  void number(const std::string& key, double value);
  const std::string* metadata(std::string_view key) const;

  ImportContext& context_;
  std::filesystem::path path_;
  bool in_memory_ = false;
  Source source_;
  Splitter splitter_;
  trace::Id input_ = trace::kNone;
  trace::RunRecord run_;
  std::int64_t base_ = 0;  ///< that was added to what is written
  bool first_block_ = true;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max(), last_ = std::numeric_limits<std::int64_t>::min();
  std::map<std::pair<std::string, std::string>, std::int32_t> row_ids_;
  std::vector<trace::TrackRecord> tracks_;
  std::vector<LocalTrack> rows_;
  std::map<std::string, Names> processes_;
  std::map<std::pair<std::string, std::string>, Names> threads_;
  std::map<std::pair<std::string, std::string>, std::int64_t> counts_;
  std::unordered_map<std::int32_t, std::vector<trace::EventRecord>> open_;  ///< begun and not ended, by row
  FlowMatcher flows_;
  std::vector<std::int64_t> launch_starts_, launch_ends_;
  std::int64_t rank_ = -1;
  std::int64_t kept_ = 0;  ///< bad events that were kept
};

std::string plain(std::string_view body) {
  std::string out;
  append_text(out, body);
  return out;
}

void ProfileImport::begin() {
  trace::InputRecord input;
  input.path = path_.string();
  input.kind = "profile";
  input.bytes = static_cast<std::int64_t>(source_.file_size());
  input_ = context_.add_input(input);
}

// Not before there is an event: a file that is no profile leaves no run.
void ProfileImport::begin_run() {
  if (run_.id != trace::kNone) return;
  run_.label = "profile";
  run_.clock = "unix";
  run_.id = context_.writer().add(run_);
}

void ProfileImport::take(ParsedBlock& block) {
  set_base(block);
  for (const Problem& problem : block.problems) report(problem);
  for (const EventCount& c : block.counts) counts_[{c.phase, c.category}] += c.number;
  names(block.names);
  const std::vector<std::int32_t> rows = rows_of(block.tracks);
  write_events(block, rows);
  for (FlowEnd& end : block.flows)
    flows_.add(Arrow{std::move(end.category), end.id, end.time, rows[static_cast<std::size_t>(end.track)], end.start});
  launch_starts_.insert(launch_starts_.end(), block.launch_starts.begin(), block.launch_starts.end());
  launch_ends_.insert(launch_ends_.end(), block.launch_ends.begin(), block.launch_ends.end());
  context_.progress(block.part, path_.filename().string());
}

// Newer profilers write the base before the events. Where it comes behind them, the end of the file may show it; if
// that was wrong or cannot be looked at, everything is moved at the end.
void ProfileImport::set_base(const ParsedBlock& block) {
  if (first_block_) base_ = block.base ? sound_base(*block.base) : in_memory_ ? 0 : base_behind(path_);
  first_block_ = false;
}

std::vector<std::int32_t> ProfileImport::rows_of(const std::vector<LocalTrack>& tracks) {
  std::vector<std::int32_t> rows;
  for (const LocalTrack& track : tracks) rows.push_back(row(track));
  return rows;
}

std::int32_t ProfileImport::row(const LocalTrack& local) {
  const auto [found, fresh] = row_ids_.try_emplace({local.pid, local.tid}, static_cast<std::int32_t>(rows_.size()));
  if (fresh) {
    trace::TrackRecord track;
    track.pid = plain(local.pid);
    track.tid = plain(local.tid);
    track.id = context_.writer().add(track);
    tracks_.push_back(track);
    rows_.push_back(local);
  }
  LocalTrack& known = rows_[static_cast<std::size_t>(found->second)];
  known.on_device |= local.on_device;
  known.on_host |= local.on_host;
  if (local.device >= 0) known.device = local.device;
  if (local.stream >= 0) known.stream = local.stream;
  return found->second;
}

void ProfileImport::write_events(ParsedBlock& block, const std::vector<std::int32_t>& rows) {
  const std::int64_t base = base_;
  std::vector<trace::EventRecord>& events = block.events;
  if (events.empty()) return;
  begin_run();
  std::vector<std::int32_t> kept_rows;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    trace::EventRecord& event = events[i];
    const std::int32_t row = rows[static_cast<std::size_t>(event.track)];
    event.run = run_.id;
    event.start_ns += base;
    first_ = std::min(first_, event.start_ns);
    last_ = std::max(last_, event.start_ns + std::max<std::int64_t>(event.duration_ns, 0));
    event.track = tracks_[static_cast<std::size_t>(row)].id;
    if (!event.phase.empty() && !pair(event, row)) continue;
    if (kept != i) events[kept] = std::move(event);
    ++kept;
    kept_rows.push_back(row);
  }
  events.resize(kept);
  const trace::Id first = context_.writer().add(std::span<const trace::EventRecord>(events));
  for (std::size_t i = 0; i < kept; ++i) {
    const trace::EventRecord& event = events[i];
    // Kineto's arrows join events with sequence numbers; the older profiler has none.
    if (!event.phase.empty() || (event.sequence < 0 && !splitter_.is_list())) continue;
    flows_.add(Slice{kept_rows[i], event.start_ns - base, event.duration_ns, first + static_cast<trace::Id>(i)});
  }
}

// Joins a begin and its end; false when there is nothing to write yet.
bool ProfileImport::pair(trace::EventRecord& event, std::int32_t row) {
  if (event.phase == "B") {
    if (open_[row].size() >= kMaxOpen) {
      unclosed(event);
      return true;
    }
    open_[row].push_back(std::move(event));
    return false;
  }
  if (event.phase != "E") return true;
  std::vector<trace::EventRecord>& open = open_[row];
  if (open.empty()) {
    context_.problem(input_, "unmatched_end", 0, "an event ends that never began: skipped");
    return false;
  }
  trace::EventRecord begun = std::move(open.back());
  open.pop_back();
  begun.phase.clear();
  begun.duration_ns = std::max<std::int64_t>(event.start_ns - begun.start_ns, 0);
  if (begun.args.empty()) {
    begun.args = std::move(event.args);
  } else if (!event.args.empty()) {
    begun.args.back() = ',';
    begun.args += std::string_view(event.args).substr(1);
  }
  event = std::move(begun);
  return true;
}

void ProfileImport::report(const Problem& problem) {
  const bool unknown = problem.kind.starts_with("event:");
  if (unknown) {
    context_.count(input_, "unknown:" + problem.kind);
  } else {
    context_.problem(input_, problem.kind, problem.line, problem.message);
  }
  if (problem.text.empty() || (!unknown && ++kept_ > kMaxKept)) return;
  trace::RawRecord raw;
  raw.source = path_.string();
  raw.ordinal = problem.ordinal;
  raw.kind = problem.kind;
  raw.content = problem.text;
  context_.writer().add(raw);
}

// The first name of a thread is its own; later ones may be those of the process.
void ProfileImport::names(const std::vector<NameEvent>& names) {
  for (const NameEvent& e : names) {
    const bool process = e.name.starts_with("process");
    Names& target = process ? processes_[e.pid] : threads_[{e.pid, e.tid}];
    if (e.name.ends_with("_name") && target.name.empty()) target.name = e.value;
    if (e.name.ends_with("_labels") && target.label.empty()) target.label = e.value;
    if (e.name.ends_with("_sort_index")) target.sort = parse_integer(e.value).value_or(0);
  }
}

void ProfileImport::finish() {
  if (!splitter_.has_events()) {
    context_.problem(input_, "no_events", 0, fmt::format("{} is not a profile: it has no traceEvents", path_.string()));
    throw_user(fmt::format("{} is not a profile: it has no traceEvents", path_.string()),
               "expected a Chrome trace as torch.profiler exports it (.json or .json.gz)");
  }
  begin_run();
  if (!source_.damage().empty()) context_.problem(input_, "truncated_gzip", 0, source_.damage());
  write_unclosed();
  if (const std::string* info = metadata("distributedInfo")) {
    Cursor cursor{info->data(), info->data() + info->size()};
    each_member(cursor, [&](std::string_view key, Cursor& value) {
      const auto text = take_value(value);
      if (text && key == "rank") rank_ = parse_integer(*text).value_or(-1);
      return text.has_value();
    });
  }
  if (rank_ < 0) rank_ = rank_in(path_.filename().string());
  finish_time();
  finish_flows();
  const trace::Id process = context_.process(host_pid(), rank_);
  finish_tracks(process);
  run_.process = process;
  context_.writer().update(run_);
  write_metadata();
  for (const auto& [key, number] : counts_) context_.count(input_, plain(key.first) + ":" + plain(key.second), number);
  context_.finish_input(input_, process);
}

void ProfileImport::unclosed(trace::EventRecord& event) {
  event.duration_ns = -1;
  context_.problem(input_, "unclosed", 0, fmt::format("'{}' begins and never ends", event.name));
}

void ProfileImport::write_unclosed() {
  std::vector<trace::EventRecord> events;
  for (auto& [row, open] : open_)
    for (trace::EventRecord& event : open) {
      unclosed(event);
      events.push_back(std::move(event));
    }
  context_.writer().add(std::span<const trace::EventRecord>(events));
}

void ProfileImport::finish_time() {
  const std::string* text = metadata("baseTimeNanoseconds");
  const std::int64_t shift = sound_base(text ? parse_integer(*text).value_or(0) : 0) - base_;
  const bool any = first_ <= last_;
  if (any && first_ + shift < kFirstAbsolute) {
    run_.clock = "steady";
    if (!splitter_.is_list() && !metadata("clockDomain"))
      context_.problem(input_, "no_base_time", 0, "the base of the times is missing: they count from an unknown start");
  }
  if (any) {
    run_.start_ns = first_ + shift;
    run_.duration_ns = last_ - first_;
  }
  if (shift != 0 || run_.clock != "unix") context_.writer().shift_events(run_.id, shift, run_.clock);
}

void ProfileImport::finish_flows() {
  count_launch_flows();
  for (const trace::FlowRecord& flow : flows_.match()) context_.writer().add(flow);
  for (const auto& [kind, c] : flows_.counts()) {
    number(fmt::format("flow.{}.matched", kind), static_cast<double>(c.matched));
    number(fmt::format("flow.{}.lonely_start", kind), static_cast<double>(c.lonely_starts));
    number(fmt::format("flow.{}.lonely_end", kind), static_cast<double>(c.lonely_ends));
    if (c.unmatched > 0) number(fmt::format("flow.{}.no_event", kind), static_cast<double>(c.unmatched));
  }
}

void ProfileImport::count_launch_flows() {
  if (launch_starts_.empty() && launch_ends_.empty()) return;
  std::sort(launch_starts_.begin(), launch_starts_.end());
  std::sort(launch_ends_.begin(), launch_ends_.end());
  std::int64_t matched = 0;
  auto start = launch_starts_.begin();
  for (auto end = launch_ends_.begin(); start != launch_starts_.end() && end != launch_ends_.end();) {
    if (*start == *end)
      ++matched, ++start, ++end;
    else if (*start < *end)
      ++start;
    else
      ++end;
  }
  number("flow.ac2g.matched", static_cast<double>(matched));
  number("flow.ac2g.lonely_start", static_cast<double>(launch_starts_.size()) - static_cast<double>(matched));
  number("flow.ac2g.lonely_end", static_cast<double>(launch_ends_.size()) - static_cast<double>(matched));
}

// The process that was profiled: the first host row with a number, else the one labelled so.
std::int64_t ProfileImport::host_pid() const {
  for (const LocalTrack& row : rows_)
    if (const auto pid = parse_integer(row.pid); row.on_host && pid.value_or(0) > 0) return *pid;
  for (const auto& [pid, names] : processes_)
    if (const auto number = parse_integer(pid); names.label == "CPU" && number.value_or(0) > 0) return *number;
  return 0;
}

void ProfileImport::finish_tracks(trace::Id process) {
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    trace::TrackRecord& track = tracks_[i];
    const LocalTrack& row = rows_[i];
    const auto owner = processes_.find(row.pid);
    const auto thread = threads_.find({row.pid, row.tid});
    track.process = process;
    if (owner != processes_.end()) track.process_name = owner->second.name;
    if (thread != threads_.end()) {
      track.name = thread->second.name;
      track.sort = thread->second.sort;
    }
    if (row.on_device) {
      track.device = row.device >= 0 ? row.device : parse_integer(row.pid).value_or(-1);
      track.stream = row.stream >= 0 ? row.stream : parse_integer(row.tid).value_or(-1);
    } else if (owner != processes_.end() && owner->second.label.starts_with("GPU ")) {
      track.device = parse_integer(std::string_view(owner->second.label).substr(4)).value_or(-1);
    }
    context_.writer().update(track);
  }
}

const std::string* ProfileImport::metadata(std::string_view key) const {
  const std::string* value = nullptr;
  for (const auto& [name, text] : splitter_.metadata())
    if (name == key) value = &text;
  return value;
}

void ProfileImport::metric(const std::string& key, std::string_view value) {
  const auto parsed = value.starts_with('"') ? std::nullopt : parse_number(value);
  if (parsed) number(key, *parsed);
}

void ProfileImport::number(const std::string& key, double value) {
  trace::MetricRecord record;
  record.owner = {trace::OwnerKind::Run, run_.id, trace::kNone};
  record.key = key;
  record.value = value;
  record.unit = key.find("Mem") != std::string::npos ? "B" : "1";
  context_.writer().add(record);
}

void ProfileImport::write_metrics(const std::string& prefix, std::string_view object, int depth) {
  Cursor cursor{object.data(), object.data() + object.size()};
  each_member(cursor, [&](std::string_view key, Cursor& value) {
    const auto text = take_value(value);
    if (!text) return false;
    const std::string name = prefix + plain(key);
    if (depth > 0 && text->starts_with('{')) write_metrics(name + ".", *text, depth - 1);
    metric(name, *text);
    if (key == "name" && prefix.starts_with("device.")) context_.writer().set_property(name, plain(unquoted(*text)));
    return true;
  });
}

// Calls `visit` with each item of a list.
template <class F>
void each_item(std::string_view list, F&& visit) {
  const char* end = list.data() + list.size();
  const char* p = skip_space(list.data(), end);
  if (p == end || *p != '[') return;
  for (++p;;) {
    p = skip_space(p, end);
    if (p != end && *p == ',') p = skip_space(p + 1, end);
    if (p == end || *p == ']') return;
    const Scanned stop = value_end(p, end, true);
    if (stop.status != Scan::Ok) return;
    visit(std::string_view(p, stop.at));
    p = stop.at;
  }
}

void ProfileImport::profiler_said(bool error, const std::string& text) {
  using Severity = trace::DiagnosticRecord::Severity;
  trace::DiagnosticRecord record;
  record.severity = error ? Severity::Error : Severity::Warning;
  record.kind = "profiler";
  record.title = text;
  record.process = run_.process;
  record.input = input_;
  context_.writer().add(record);
}

void ProfileImport::write_metadata() {
  std::string json = "{";
  for (const auto& [key, value] : splitter_.metadata()) {
    if (metadata(key) != &value) continue;  // a key that comes again counts as it is there last
    if (json.size() > 1) json += ",";
    append_string(json, key);
    json += ':';
    Cursor cursor{value.data(), value.data() + value.size()};
    take_json(cursor, json);
    if (key == "deviceProperties") {
      int number = 0;
      each_item(value, [&](std::string_view device) { write_metrics(fmt::format("device.{}.", number++), device, 0); });
    } else if (key == "distributedInfo") {
      write_metrics("", value, 0);
    } else if (key == "WARNING" || key == "ERROR") {
      each_item(value, [&](std::string_view text) { profiler_said(key == "ERROR", plain(unquoted(text))); });
    } else if (key != "baseTimeNanoseconds") {
      metric(plain(key), value);
    }
  }
  if (json.size() == 1) return;
  trace::ArtifactRecord artifact;
  artifact.owner = {trace::OwnerKind::Run, run_.id, trace::kNone};
  artifact.kind = "json";
  artifact.name = "metadata";
  artifact.content = json + "}";
  context_.writer().add(artifact);
}

}  // namespace

trace::Id import_profile(ImportContext& context, const std::filesystem::path& path) {
  return ProfileImport(context, path).run();
}

trace::Id import_profile(ImportContext& context, std::string_view bytes, const std::filesystem::path& name,
                         std::size_t block_bytes) {
  return ProfileImport(context, name, bytes, std::max<std::size_t>(block_bytes, 1)).run();
}

}  // namespace strata::capture
