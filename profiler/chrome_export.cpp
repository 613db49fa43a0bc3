// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/chrome_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "core/support/clamped.h"
#include "core/support/error.h"
#include "core/support/loose_json.h"
#include "profiler/chrome_text.h"

namespace strata::profiler {
namespace {

const std::string kHostCategory = "cpu_op";
constexpr std::size_t kFlush = std::size_t{1} << 20;
constexpr std::int64_t kProgressEvents = 20000;
/// Rows of a second process whose number is taken.
constexpr std::int64_t kNextProcess = 1'000'000;

/// Where an event stands in the picture: JSON of `pid` and `tid`.
struct OutputRow {
  std::string pid, tid;
};

struct RunInfo {
  trace::RunRecord record;
  std::int64_t origin = 0;             ///< what its times count from in the output
  std::int64_t flow_base = 0;          ///< added to ids of arrows, which are unique within a run only
  std::vector<std::int64_t> launches;  ///< correlations that a call and a device event share, ascending
};

/// An end of an arrow, at an event.
struct FlowEnd {
  trace::Id event = trace::kNone;
  std::int64_t id = 0;
  std::size_t kind = 0;
  bool start = false;
};

class ChromeWriter {
 public:
  ChromeWriter(trace::Reader& reader, std::ostream& out, const ChromeExportOptions& options)
      : reader_(reader), out_(out), options_(options) {}

  ChromeExportResult run() {
    load_runs();
    load_rows();
    load_matches();
    load_flows();
    head();
    names();
    compiles();
    own_runs();
    events();
    buffer_ += "\n]}\n";
    flush();
    out_.flush();
    if (!out_) throw_runtime("writing the Chrome trace failed", "check the space on the disk");
    return result_;
  }

 private:
  void load_runs();
  void set_origins();
  void load_launches(RunInfo& run);
  void load_rows();
  std::string pid_of(const std::string& pid, trace::Id process);
  void load_matches();
  void load_flows();
  void head();
  void metadata();
  void names();
  void name_event(const char* name, const OutputRow& row, const char* key, const std::string& value);
  void span(const char* category, const std::string& name, const OutputRow& row, std::int64_t start,
            std::int64_t duration, const std::string& args);
  void compiles();
  void passes(const trace::CompileRecord& compile, const OutputRow& row);
  void own_runs();
  std::string pid_of_process(trace::Id id) const;
  void events();
  void event(const trace::EventRecord& event);
  void slice(const trace::EventRecord& event, const RunInfo& run, const OutputRow& row);
  void args(const trace::EventRecord& event, const RunInfo& run);
  void columns(const trace::EventRecord& event, const RunInfo& run);
  void arrows(const trace::EventRecord& event, const RunInfo& run, const OutputRow& row);
  void arrow(bool start, std::string_view kind, std::int64_t id, const OutputRow& row, std::int64_t time);
  OutputRow row_of(const trace::EventRecord& event, const RunInfo& run);
  void begin_event();
  void begin_arg(std::string_view key);
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  trace::Reader& reader_;
  std::ostream& out_;
  const ChromeExportOptions& options_;
  ChromeExportResult result_;
  std::string buffer_, extra_;
  bool first_event_ = true, first_arg_ = true;
  std::int64_t base_ = 0;
  bool has_base_ = false, has_compile_run_ = false;
  std::map<trace::Id, RunInfo> runs_;
  std::unordered_map<trace::Id, OutputRow> rows_;
  std::vector<trace::TrackRecord> tracks_;
  std::unordered_map<trace::Id, trace::ProcessRecord> processes_;
  std::map<std::string, trace::Id> pid_owners_;
  std::unordered_map<trace::Id, std::string> graphs_, kernels_;
  std::vector<FlowEnd> flow_ends_;
  std::vector<std::string> flow_kinds_;
  std::size_t next_flow_ = 0;
};

void ChromeWriter::load_runs() {
  for (const trace::ProcessRecord& p : reader_.processes()) processes_[p.id] = p;
  std::int64_t number = 0;
  for (const trace::RunRecord& r : reader_.runs()) {
    has_compile_run_ |= r.label == "compile";
    if (options_.run != trace::kNone && r.id != options_.run) continue;
    RunInfo& run = runs_[r.id];
    run.record = r;
    run.flow_base = number++ << 32;
    load_launches(run);
  }
  if (options_.run != trace::kNone && runs_.empty())
    throw_user(fmt::format("{} has no run {}", reader_.path().string(), options_.run));
  set_origins();
}

// A round second before the first event, as small numbers keep their digits in viewers that use doubles.
void ChromeWriter::set_origins() {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, run] : runs_)
    if (run.record.clock == "unix" && run.record.start_ns >= 0) first = std::min(first, run.record.start_ns);
  for (const trace::CompileRecord& c : reader_.compiles())
    if (options_.run == trace::kNone && c.start_ns >= 0) first = std::min(first, c.start_ns);
  // Runs on another clock are shown behind what was compiled: when they were is not known.
  std::int64_t rest = first;
  for (const trace::CompileRecord& c : reader_.compiles())
    if (c.start_ns >= 0) rest = std::max(rest, add_clamped(c.start_ns, std::max<std::int64_t>(c.duration_ns, 0)));
  has_base_ = first != std::numeric_limits<std::int64_t>::max();
  base_ = has_base_ ? first - first % 1'000'000'000 : 0;
  std::int64_t steady = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, run] : runs_)
    if (run.record.clock != "unix" && run.record.start_ns >= 0) steady = std::min(steady, run.record.start_ns);
  for (auto& [id, run] : runs_)
    run.origin = run.record.clock == "unix" ? base_
                 : has_base_                ? subtract_clamped(steady, subtract_clamped(rest, base_))
                                            : 0;
}

void ChromeWriter::load_launches(RunInfo& run) {
  std::vector<std::int64_t> calls, work;
  std::set<trace::Id> call_categories;
  for (const auto& [id, name] : reader_.event_categories(run.record.id))
    if (name.ends_with("_runtime") || name.ends_with("_driver")) call_categories.insert(id);
  reader_.each_event_key(run.record.id, {}, [&](const trace::EventKey& key) {
    if (key.correlation == 0) return;
    if (key.stream >= 0) {
      work.push_back(key.correlation);
    } else if (call_categories.contains(key.category)) {
      calls.push_back(key.correlation);
    }
  });
  std::sort(calls.begin(), calls.end());
  std::sort(work.begin(), work.end());
  std::set_intersection(calls.begin(), calls.end(), work.begin(), work.end(), std::back_inserter(run.launches));
  run.launches.erase(std::unique(run.launches.begin(), run.launches.end()), run.launches.end());
}

void ChromeWriter::load_rows() {
  tracks_ = reader_.tracks();
  for (const trace::TrackRecord& track : tracks_) {
    OutputRow row;
    row.pid = pid_of(track.pid, track.process);
    append_id(row.tid, track.tid);
    rows_[track.id] = std::move(row);
  }
}

// Two ranks may both have a device 0: the second process gets other numbers.
std::string ChromeWriter::pid_of(const std::string& pid, trace::Id process) {
  std::string json;
  const auto number = loose::parse_integer(pid);
  const auto [owner, fresh] = pid_owners_.try_emplace(pid, process);
  if (fresh || owner->second == process) {
    append_id(json, pid);
  } else if (number && *number > -kNextProcess && *number < (std::int64_t{1} << 40)) {
    json = std::to_string(process * kNextProcess + *number);
  } else {
    append_text(json, fmt::format("{} ({})", pid, process));
  }
  return json;
}

void ChromeWriter::load_matches() {
  for (const trace::CompileRecord& compile : reader_.compiles()) {
    graphs_[compile.id] = compile.address;
    for (const trace::KernelRecord& kernel : reader_.kernels(compile.id)) kernels_[kernel.id] = kernel.name;
  }
}

void ChromeWriter::load_flows() {
  std::map<std::string, std::size_t> kinds;
  for (const trace::FlowRecord& flow : reader_.flows()) {
    const auto [kind, fresh] = kinds.try_emplace(flow.kind, flow_kinds_.size());
    if (fresh) flow_kinds_.push_back(flow.kind);
    flow_ends_.push_back({flow.from, flow.id, kind->second, true});
    flow_ends_.push_back({flow.to, flow.id, kind->second, false});
  }
  std::stable_sort(flow_ends_.begin(), flow_ends_.end(),
                   [](const FlowEnd& a, const FlowEnd& b) { return a.event < b.event; });
}

void ChromeWriter::head() {
  buffer_ += "{";
  metadata();
  buffer_ += "\"displayTimeUnit\":\"ms\",";
  if (has_base_) fmt::format_to(std::back_inserter(buffer_), "\"baseTimeNanoseconds\":{},", base_);
  if (!has_base_) buffer_ += "\"clockDomain\":\"steady\",";
  buffer_ += "\n\"traceEvents\":[";
}

void ChromeWriter::metadata() {
  std::string text;
  for (const trace::ArtifactRecord& a : reader_.artifacts()) {
    if (a.owner.kind != trace::OwnerKind::Run || a.name != "metadata" || !runs_.contains(a.owner.id)) continue;
    if (const auto artifact = reader_.artifact(a.id)) text = artifact->content;
    break;
  }
  std::string members;
  loose::Cursor cursor{text.data(), text.data() + text.size()};
  const bool sound = loose::each_member(cursor, [&](std::string_view key, loose::Cursor& value) {
    if (key == "traceEvents" || key == "displayTimeUnit" || key == "baseTimeNanoseconds" || key == "clockDomain")
      return loose::take_value(value).has_value();
    loose::append_string(members, key);
    members += ':';
    if (!loose::take_json(value, members)) return false;
    members += ",\n";
    return true;
  });
  buffer_ += sound ? members : "\"schemaVersion\":1,\"deviceProperties\":[],\n";
}

void ChromeWriter::begin_event() {
  buffer_ += first_event_ ? "\n{" : ",\n{";
  first_event_ = false;
  if (buffer_.size() > kFlush) flush();
}

void ChromeWriter::name_event(const char* name, const OutputRow& row, const char* key, const std::string& value) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"("ph":"M","name":"{}","pid":{},"tid":{},"ts":0.000,"args":{{"{}":{}}}}})", name, row.pid, row.tid,
                 key, value);
}

void ChromeWriter::names() {
  std::set<std::string> named;
  for (const trace::TrackRecord& track : tracks_) {
    const OutputRow& row = rows_[track.id];
    const auto text = [](const std::string& plain) {
      std::string json;
      append_text(json, plain);
      return json;
    };
    if (!track.process_name.empty() && named.insert(row.pid).second) {
      const OutputRow process{row.pid, "0"};
      name_event("process_name", process, "name", text(track.process_name));
      name_event("process_labels", process, "labels",
                 text(track.device >= 0 ? fmt::format("GPU {}", track.device) : "CPU"));
    }
    if (!track.name.empty()) name_event("thread_name", row, "name", text(track.name));
    if (track.sort != 0) name_event("thread_sort_index", row, "sort_index", std::to_string(track.sort));
  }
}

void ChromeWriter::span(const char* category, const std::string& name, const OutputRow& row, std::int64_t start,
                        std::int64_t duration, const std::string& args) {
  if (duration < 0) return;
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"("ph":"X","cat":"{}","name":)", category);
  append_text(buffer_, name);
  fmt::format_to(std::back_inserter(buffer_), R"(,"pid":{},"tid":{},"ts":)", row.pid, row.tid);
  append_time(buffer_, start);
  buffer_ += ",\"dur\":";
  append_time(buffer_, duration);
  buffer_ += ",\"args\":{" + args + "}}";
  ++result_.events;
}

// What our own compiler did has no events: compiles and their passes are the timeline. Imported traces have a run.
void ChromeWriter::compiles() {
  if (options_.run != trace::kNone || has_compile_run_) return;
  for (const trace::CompileRecord& compile : reader_.compiles()) {
    OutputRow row{pid_of_process(compile.process), {}};
    append_text(row.tid, "compile " + compile.address);
    if (compile.start_ns >= 0)
      span("compile", fmt::format("compile {} {}", compile.address, compile.name), row,
           subtract_clamped(compile.start_ns, base_), compile.duration_ns, {});
    passes(compile, row);
  }
}

// A pass whose start is not known follows the one before it.
void ChromeWriter::passes(const trace::CompileRecord& compile, const OutputRow& row) {
  std::int64_t next = compile.start_ns;
  for (const trace::PassRecord& pass : reader_.passes(compile.id)) {
    const std::int64_t start = pass.start_ns >= 0 ? pass.start_ns : next;
    if (start < 0 || pass.duration_ns < 0) continue;
    span("pass", pass.name, row, subtract_clamped(start, base_), pass.duration_ns,
         fmt::format(R"("changed":{},"nodes before":{},"nodes after":{},"start known":{})", pass.changed,
                     pass.nodes_before, pass.nodes_after, pass.start_ns >= 0));
    next = add_clamped(start, pass.duration_ns);
  }
}

// Whole runs of our own programs; an imported profile has such a slice itself.
void ChromeWriter::own_runs() {
  for (const auto& [id, run] : runs_) {
    const trace::RunRecord& r = run.record;
    if (r.label == "profile" || r.label == "compile" || r.start_ns < 0) continue;
    span("run", fmt::format("{} {}", r.label, r.repeat), OutputRow{pid_of_process(r.process), "0"},
         subtract_clamped(r.start_ns, run.origin), r.duration_ns, {});
  }
}

std::string ChromeWriter::pid_of_process(trace::Id id) const {
  const auto process = processes_.find(id);
  return std::to_string(process == processes_.end() ? 0 : process->second.pid);
}

void ChromeWriter::events() {
  const std::int64_t total = std::max<std::int64_t>(reader_.event_count(), 1);
  std::int64_t seen = 0;
  reader_.each_event([&](const trace::EventRecord& e) {
    event(e);
    if (++seen % kProgressEvents == 0 && options_.progress &&
        !options_.progress(static_cast<double>(seen) / static_cast<double>(total)))
      result_.complete = false;
    if (!out_) throw_runtime("writing the Chrome trace failed", "check the space on the disk");
    return result_.complete;
  });
}

void ChromeWriter::event(const trace::EventRecord& event) {
  const auto run = runs_.find(event.run);
  if (run == runs_.end()) return;
  const OutputRow row = row_of(event, run->second);
  slice(event, run->second, row);
  arrows(event, run->second, row);
  ++result_.events;
}

OutputRow ChromeWriter::row_of(const trace::EventRecord& event, const RunInfo& run) {
  if (const auto row = rows_.find(event.track); row != rows_.end()) return row->second;
  OutputRow row;
  row.pid = pid_of_process(run.record.process);
  if (event.stream >= 0) {
    append_text(row.tid, fmt::format("stream {}", event.stream));
  } else {
    row.tid = std::to_string(event.thread);
  }
  return row;
}

void ChromeWriter::slice(const trace::EventRecord& event, const RunInfo& run, const OutputRow& row) {
  begin_event();
  buffer_ += "\"ph\":";
  append_text(buffer_, event.phase.empty() ? "X" : event.phase);
  // Launches of our own run on the host; viewers take `kernel` for the work of a device.
  const bool on_host = event.track == trace::kNone && event.stream < 0;
  const std::string& category = on_host && event.category == "kernel" ? kHostCategory : event.category;
  if (!category.empty()) {
    buffer_ += ",\"cat\":";
    append_text(buffer_, category);
  }
  buffer_ += ",\"name\":";
  // Launches of our own have no name but that of their kernel.
  const auto kernel = kernels_.find(event.kernel);
  append_text(buffer_, event.name.empty() && kernel != kernels_.end() ? kernel->second : event.name);
  fmt::format_to(std::back_inserter(buffer_), R"(,"pid":{},"tid":{},"ts":)", row.pid, row.tid);
  append_time(buffer_, subtract_clamped(event.start_ns, run.origin));
  if (event.phase.empty() || event.phase == "X") {
    if (event.duration_ns >= 0) {
      buffer_ += ",\"dur\":";
      append_time(buffer_, event.duration_ns);
    }
  }
  args(event, run);
  buffer_ += '}';
}

void ChromeWriter::begin_arg(std::string_view key) {
  buffer_ += first_arg_ ? ",\"args\":{" : ",";
  first_arg_ = false;
  loose::append_string(buffer_, key);
  buffer_ += ':';
}

// Members that stood beside `args` are marked with `@`; they go back there, behind.
void ChromeWriter::args(const trace::EventRecord& event, const RunInfo& run) {
  first_arg_ = true;
  extra_.clear();
  columns(event, run);
  if (!event.args.empty()) {
    loose::Cursor cursor{event.args.data(), event.args.data() + event.args.size()};
    const std::size_t before = buffer_.size();
    const bool was_first = first_arg_;
    const bool sound = loose::each_member(cursor, [&](std::string_view key, loose::Cursor& value) {
      if (!key.starts_with('@')) {
        begin_arg(key);
        return loose::take_json(value, buffer_);
      }
      extra_ += ',';
      loose::append_string(extra_, key.substr(1));
      extra_ += ':';
      return loose::take_json(value, extra_);
    });
    if (!sound) {
      buffer_.resize(before);
      extra_.clear();
      first_arg_ = was_first;
      begin_arg("text");
      append_text(buffer_, event.args);
    }
  }
  if (!first_arg_) buffer_ += '}';
  buffer_ += extra_;
}

void ChromeWriter::columns(const trace::EventRecord& event, const RunInfo& run) {
  const auto number = [&](const char* key, std::int64_t value) {
    // The column may have been read from an argument that is there still.
    if (event.args.find(fmt::format("\"{}\":", key)) != std::string::npos) return;
    begin_arg(key);
    buffer_ += std::to_string(value);
  };
  if (event.external != 0 && event.args.find("\"external id\":") == std::string::npos)
    number("External id", event.external);
  if (event.correlation != 0) number("correlation", event.correlation);
  if (event.stream >= 0 && event.category != "gpu_user_annotation") number("stream", event.stream);
  if (event.sequence >= 0) number("Sequence number", event.sequence);
  const auto text = [&](const char* key, const std::string& value) {
    begin_arg(key);
    append_text(buffer_, value);
  };
  const trace::Id compile = event.compile == trace::kNone ? run.record.compile : event.compile;
  if (const auto graph = graphs_.find(compile); graph != graphs_.end()) text("strata.graph", graph->second);
  if (const auto kernel = kernels_.find(event.kernel); kernel != kernels_.end()) text("strata.kernel", kernel->second);
  if (event.match != trace::Match::None)
    text("strata.match", event.match == trace::Match::Exact ? "exact" : "inferred");
}

void ChromeWriter::arrows(const trace::EventRecord& event, const RunInfo& run, const OutputRow& row) {
  const std::int64_t time = subtract_clamped(event.start_ns, run.origin);
  const bool complete = event.phase.empty() || event.phase == "X";
  if (complete && event.correlation != 0 &&
      std::binary_search(run.launches.begin(), run.launches.end(), event.correlation)) {
    const bool call = event.category.ends_with("_runtime") || event.category.ends_with("_driver");
    if (call || event.stream >= 0) arrow(call, "ac2g", run.flow_base + event.correlation, row, time);
  }
  // Events come in order of id.
  while (next_flow_ < flow_ends_.size() && flow_ends_[next_flow_].event < event.id) ++next_flow_;
  for (; next_flow_ < flow_ends_.size() && flow_ends_[next_flow_].event == event.id; ++next_flow_) {
    const FlowEnd& end = flow_ends_[next_flow_];
    arrow(end.start, flow_kinds_[end.kind], end.id, row, time);
  }
}

void ChromeWriter::arrow(bool start, std::string_view kind, std::int64_t id, const OutputRow& row, std::int64_t time) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"("ph":"{}","id":{},"pid":{},"tid":{},"ts":)", start ? 's' : 'f', id,
                 row.pid, row.tid);
  append_time(buffer_, time);
  buffer_ += ",\"cat\":";
  append_text(buffer_, kind);
  buffer_ += ",\"name\":";
  append_text(buffer_, kind);
  buffer_ += start ? "}" : ",\"bp\":\"e\"}";
  if (start) ++result_.flows;
}

}  // namespace

ChromeExportResult write_chrome_trace(trace::Reader& reader, std::ostream& out, const ChromeExportOptions& options) {
  return ChromeWriter(reader, out, options).run();
}

}  // namespace strata::profiler
