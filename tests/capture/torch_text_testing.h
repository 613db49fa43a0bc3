// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads test logs in a way of its own: nothing here is shared with the importers.

#include <gtest/gtest.h>
#include <regex.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace strata::testing {

inline std::string torch_data(const std::string& name) { return std::string(STRATA_TEST_DATA) + "/torch/" + name; }

/// A file, gunzipped if need be.
inline std::string slurp(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  std::string text;
  char buffer[1 << 16];
  for (int n = 0; file && (n = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  if (file) gzclose(file);
  return text;
}

/// A record of a TORCH_TRACE log: the envelope's text and the payload.
struct LogRecord {
  std::string envelope, payload;

  bool is(const std::string& key) const { return envelope.rfind("{\"" + key + "\"", 0) == 0; }
  bool is_artifact(const std::string& name) const {
    return envelope.rfind("{\"artifact\": {\"name\": \"" + name + "\"", 0) == 0;
  }
  long number(const std::string& key) const {
    const std::size_t at = envelope.rfind("\"" + key + "\": ");
    return at == std::string::npos ? -1 : std::strtol(envelope.c_str() + at + key.size() + 4, nullptr, 10);
  }
  std::string address() const {
    return std::to_string(number("frame_id")) + "/" + std::to_string(number("frame_compile_id"));
  }
};

inline std::vector<LogRecord> log_records(const std::string& text) {
  std::vector<LogRecord> records;
  std::istringstream lines(text);
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("] {");
    if (!line.empty() && line[0] == '\t') {
      if (records.empty()) continue;
      records.back().payload += (first ? "" : "\n") + line.substr(1);
      first = false;
    } else if (at != std::string::npos) {
      records.push_back({line.substr(at + 2), {}});
      first = true;
    }
  }
  return records;
}

/// All logs that tests may use: those of the repository, and those under STRATA_TORCH_TRACES.
inline std::vector<std::string> all_logs() {
  std::vector<std::string> paths;
  for (const auto& e : std::filesystem::directory_iterator(torch_data("logs"))) paths.push_back(e.path().string());
  paths.push_back(torch_data("text/torch_trace_train.log.gz"));
  if (const char* folder = std::getenv("STRATA_TORCH_TRACES"))
    for (const auto& e : std::filesystem::recursive_directory_iterator(folder))
      if (e.is_regular_file() && e.path().filename().string().rfind("dedicated_log", 0) == 0)
        paths.push_back(e.path().string());
  return paths;
}

/// POSIX extended patterns: those of the standard library recurse for every character of a line.
class Pattern {
 public:
  explicit Pattern(const std::string& pattern) {
    EXPECT_EQ(regcomp(&regex_, pattern.c_str(), REG_EXTENDED | REG_NEWLINE), 0) << pattern;
  }
  ~Pattern() { regfree(&regex_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// The whole match and its groups; empty when there is none.
  std::vector<std::string> find(const std::string& text) const {
    regmatch_t groups[6];
    std::vector<std::string> found;
    if (regexec(&regex_, text.c_str(), 6, groups, 0) != 0) return found;
    for (const regmatch_t& g : groups)
      if (g.rm_so >= 0)
        found.push_back(text.substr(static_cast<std::size_t>(g.rm_so), static_cast<std::size_t>(g.rm_eo - g.rm_so)));
    return found;
  }

 private:
  regex_t regex_;
};

inline std::size_t count_lines(const std::string& text, const std::string& pattern) {
  const Pattern regex(pattern);
  std::istringstream lines(text);
  std::size_t n = 0;
  for (std::string line; std::getline(lines, line);) n += regex.find(line).empty() ? 0 : 1;
  return n;
}

}  // namespace strata::testing
