// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graph payloads of structured logs for tests: a scanner that knows just enough of the format.

#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace strata::capture::test {

inline std::string file_bytes(const std::filesystem::path& path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return out;
  char buffer[1 << 16];
  for (int n; (n = gzread(file, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  return out;
}

struct LogRecord {
  std::string compile;  ///< `0/1_2`
  std::string key;      ///< record key, for artifacts their name
  std::string head;     ///< the envelope
  std::string payload;
  int line = 0;
};

inline std::vector<LogRecord> log_records(const std::string& text) {
  std::vector<LogRecord> records;
  int number = 0;
  simdjson::dom::parser parser;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line(text.data() + start, end - start);
    start = end + 1;
    ++number;
    if (line.starts_with("\t")) {
      if (records.empty()) continue;
      LogRecord& r = records.back();
      if (r.line + 1 != number) r.payload += '\n';
      r.payload += line.substr(1);
      continue;
    }
    const size_t json = line.find("] {");
    if (json == std::string_view::npos) continue;
    LogRecord r;
    r.line = number;
    r.head = line.substr(json + 2);
    simdjson::dom::object head;
    if (parser.parse(r.head).get(head) != simdjson::SUCCESS) continue;
    int64_t frame = -1, compile = -1, attempt = 0;
    if (head["frame_id"].get(frame)) frame = -1;
    if (head["frame_compile_id"].get(compile)) compile = -1;
    if (head["attempt"].get(attempt)) attempt = 0;
    r.compile = std::to_string(frame) + "/" + std::to_string(compile) + "_" + std::to_string(attempt);
    for (const auto& [key, value] : head) {
      r.key = key;
      std::string_view name;
      if (key == "artifact" && value["name"].get(name) == simdjson::SUCCESS) r.key = name;
      break;
    }
    records.push_back(std::move(r));
  }
  return records;
}

/// Whether the payload is a graph.
inline bool is_graph(const LogRecord& r) {
  return !r.payload.empty() && r.key != "fx_graph_runnable" && r.key != "inductor_output_code" &&
         (r.payload.starts_with("class ") || r.payload.find("\nclass ") < 200) &&
         r.payload.find("def forward") != std::string::npos;
}

/// Stage and role of a graph record, by name and by how many post-grad graphs came before it in its compile.
struct Placed {
  std::string stage, role;
};
inline Placed place(const std::string& key, const std::string& role) {
  if (key == "dynamo_output_graph") return {"captured", ""};
  if (key.find("pre_grad") != std::string::npos) return {"functional:" + key.substr(0, key.rfind("_graph")), ""};
  if (key == "aot_joint_graph") return {"joint", ""};
  if (key == "aot_forward_graph") return {"forward", "forward"};
  if (key == "aot_backward_graph") return {"backward", "backward"};
  if (key == "aot_inference_graph") return {"inference", "inference"};
  if (key == "before_post_grad_graph") return {"simplified:" + role + ".before", role};
  if (key == "inductor_post_grad_graph" || key == "after_post_grad_graph")
    return {"simplified:" + role + ".after", role};
  return {"simplified:" + key, role};
}

/// The graphs of each compile attempt, in order, with their places.
struct LogGraph {
  Placed place;
  LogRecord record;
};
inline std::map<std::string, std::vector<LogGraph>> graphs_by_compile(const std::vector<LogRecord>& records) {
  std::map<std::string, std::vector<LogGraph>> out;
  std::map<std::string, std::string> roles;
  for (const LogRecord& r : records) {
    std::string& role = roles[r.compile];
    if (r.key == "aot_inference_graph") role = "inference";
    if (r.key == "aot_forward_graph") role = "forward";
    if (is_graph(r)) out[r.compile].push_back({place(r.key, role), r});
    if (r.key == "inductor_output_code" && role == "forward") role = "backward";
  }
  return out;
}

inline std::vector<std::filesystem::path> logs_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".log.gz") || name.starts_with("dedicated_log_torch_trace")) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

inline const LogRecord* record_of(const std::vector<LogRecord>& records, std::string_view key) {
  for (const LogRecord& r : records)
    if (r.key == key && !r.payload.empty()) return &r;
  return nullptr;
}

/// Without any white space.
inline std::string words(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) out += c;
  return out;
}

}  // namespace strata::capture::test
