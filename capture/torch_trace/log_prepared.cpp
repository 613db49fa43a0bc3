// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_prepared.h"

#include <cmath>

namespace strata::capture {
namespace {

// Arguments of events longer than this go to an artifact of the event.
constexpr std::size_t kShortArgument = 300;
// Fast: these texts are compressed while somebody waits, and shrink well at any level.
constexpr int kLevel = 1;

// Whole units and the rest apart: times since the epoch have more digits than a double of nanoseconds holds.
std::int64_t to_ns(double value, std::int64_t unit) {
  if (!(std::abs(value) < 9e18 / static_cast<double>(unit))) return -1;
  const double whole = std::trunc(value);
  return static_cast<std::int64_t>(whole) * unit + std::llround((value - whole) * static_cast<double>(unit));
}

// The unit that the end of a field's name says, and what makes ns of it.
std::pair<const char*, double> unit_of(std::string_view key) {
  if (key == "start_time") return {"ns", 1e9};
  if (key.ends_with("_us")) return {"ns", 1e3};
  if (key.ends_with("_ms")) return {"ns", 1e6};
  if (key.ends_with("_ns")) return {"ns", 1};
  if (key.ends_with("_s")) return {"ns", 1e9};
  if (key.ends_with("_bytes")) return {"B", 1};
  return {"1", 1};
}

std::vector<std::string> texts(JsonSlice list) {
  std::vector<std::string> out;
  for (const JsonSlice item : list.items()) out.push_back(item.words());
  return out;
}

void take_times(MetricsText& m, std::string_view key, double value) {
  if (key == "start_time_us") m.start_ns = to_ns(value, 1000);
  if (key == "start_time" && m.start_ns < 0) m.start_ns = to_ns(value, 1'000'000'000);
  if (key == "duration_us") m.duration_ns = to_ns(value, 1000);
  if (key == "entire_frame_compile_time_s" && m.duration_ns < 0) m.duration_ns = to_ns(value, 1'000'000'000);
  if (key == "co_firstlineno" && std::abs(value) < 1e15) m.first_line = static_cast<std::int64_t>(value);
}

void take_text(MetricsText& m, std::string_view key, JsonSlice value) {
  const std::pair<std::string_view, std::string*> fields[] = {{"fail_type", &m.fail_type},
                                                              {"fail_reason", &m.fail_reason},
                                                              {"co_name", &m.function},
                                                              {"co_filename", &m.file},
                                                              {"cudagraph_skip_reason", &m.cudagraph_skip},
                                                              {"recompile_reason", &m.recompile_reason}};
  for (const auto& [name, field] : fields) {
    if (key == name) *field = value.string();
  }
  for (const std::string_view name : {"pytorch", "cuda", "triton", "python"}) {
    if (!key.starts_with(name) || key.substr(name.size()) != "_version") continue;
    m.versions.emplace_back(name == "pytorch" ? "torch" : name, value.string());
  }
}

std::string_view artifact_content(const LogRecord& record, const PreparedRecord& prepared) {
  return record.has_payload_lines ? std::string_view(prepared.text) : record.metadata.text;
}

void pack(PreparedRecord& out, std::string_view content) {
  if (content.size() > kMaxKept) return;
  out.packed = std::make_unique<trace::PackedContent>(trace::pack_content(content, kLevel));
}

}  // namespace

MetricsText parse_metrics(JsonSlice fields) {
  MetricsText m;
  for (const auto& [key, value] : fields.members()) {
    if (const auto number = value.number()) {
      const auto [unit, scale] = unit_of(key);
      m.numbers.push_back({key, *number * scale, unit});
      take_times(m, key, *number);
    } else if (key == "restart_reasons") {
      m.restarts = texts(value);
    } else if (key == "has_guarded_code" && !value.is_null()) {
      m.guarded_code = value.text == "true";
    } else if (value.is_string()) {
      take_text(m, key, value);
    }
  }
  return m;
}

EventText parse_event(std::string_view payload) {
  EventText e;
  const JsonSlice json = parse_slice(payload);
  if (!json.is_object()) return e;
  JsonSlice args;
  for (const auto& [key, value] : json.members()) {
    if (key == "name") e.name = value.words();
    if (key == "ph") e.phase = value.words();
    if (key == "ts") {
      const auto ts = value.number();
      if (!ts || !(std::abs(*ts) < 9e15)) return e;
      e.start_ns = to_ns(*ts, 1000);
      e.valid = true;
    }
    if (key == "args") args = value;
  }
  bool left_out = false;
  for (const auto& [key, value] : args.members()) {
    if (key == "compile_id") e.compile_id = value.words();
    if (value.text.size() > kShortArgument) {
      left_out = true;
      continue;
    }
    e.args += e.args.empty() ? '{' : ',';
    append_json_string(e.args, key);
    e.args += ':';
    e.args += value.text;
  }
  if (!e.args.empty()) e.args += '}';
  if (left_out && args.text.size() <= kMaxKept)
    e.all_args = std::make_unique<trace::PackedContent>(trace::pack_content(args.text, kLevel));
  return e;
}

CacheText parse_cache(std::string_view payload) {
  CacheText c;
  const JsonSlice json = parse_slice(payload);
  for (const auto& [key, value] : json.members()) {
    if (key == "key") c.key = value.words();
    if (key == "cache_bypass_reason" || key == "error") c.reason = value.words();
    if (key == "cache_bypass_exception_type") c.exception = value.words();
    if (key == "time_taken_ns" || key == "time_saved_ns") c.time_ns = value.integer().value_or(-1);
    if (key == "time_saved_ms") c.time_ns = to_ns(value.number().value_or(-1e-6), 1'000'000);
  }
  return c;
}

PreparedRecord prepare(const LogFile& file, const LogRecord& record, const RecordClass& what) {
  PreparedRecord out;
  switch (what.kind) {
    case RecordKind::Graph:
      out.text = file.payload(record);
      out.graph = parse_graph_payload(out.text);
      break;
    case RecordKind::OutputCode:
      out.text = file.payload(record);
      out.code = std::make_unique<OutputCode>(parse_output_code(out.text));
      out.hash = output_code_hash(out.text);
      break;
    case RecordKind::GuardTree:
      out.text = file.payload(record);
      out.guards = std::make_unique<GuardTree>(parse_guard_tree(out.text));
      break;
    case RecordKind::Event:
      out.event = std::make_unique<EventText>(parse_event(file.payload(record)));
      break;
    case RecordKind::Metrics:
      out.metrics = std::make_unique<MetricsText>(parse_metrics(record.metadata));
      pack(out, record.metadata.text);
      break;
    case RecordKind::Cache:
      out.text = file.payload(record);
      out.cache = std::make_unique<CacheText>(parse_cache(out.text));
      pack(out, artifact_content(record, out));
      break;
    case RecordKind::Break:
    case RecordKind::Recompile:
    case RecordKind::Unknown:
      out.text = file.payload(record);
      break;
    case RecordKind::Error:
    case RecordKind::GuardList:
    case RecordKind::NodeMappings:
    case RecordKind::KernelStacks:
    case RecordKind::PostNodes:
    case RecordKind::PreNodes:
    case RecordKind::TritonInfo:
    case RecordKind::Version:
    case RecordKind::Runnable:
    case RecordKind::Other:
      out.text = file.payload(record);
      pack(out, artifact_content(record, out));
      break;
    default:
      break;
  }
  return out;
}

}  // namespace strata::capture
