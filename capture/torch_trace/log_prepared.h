// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What can be done with a record away from the thread that writes: decoding, parsing, compressing.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/inductor/output_code.h"
#include "capture/torch_graph/importer.h"
#include "capture/torch_text/guard_tree.h"
#include "capture/torch_trace/log_structure.h"
#include "core/trace/writer.h"

namespace strata::capture {

/// A `chromium_event`.
struct EventText {
  bool valid = false;
  std::string name, phase;
  std::int64_t start_ns = 0;
  std::string compile_id;                          ///< in its arguments; may be empty
  std::string args;                                ///< JSON object of those that are short; may be empty
  std::unique_ptr<trace::PackedContent> all_args;  ///< null when `args` has them all
};

/// A `*compilation_metrics*`.
struct MetricsText {
  struct Number {
    std::string key;
    double value = 0;
    const char* unit = "1";
  };
  std::vector<Number> numbers;
  std::int64_t start_ns = -1, duration_ns = -1;
  std::string fail_type, fail_reason, function, file, cudagraph_skip, recompile_reason;
  std::int64_t first_line = 0;
  std::vector<std::string> restarts;
  std::optional<bool> guarded_code;
  std::vector<std::pair<std::string, std::string>> versions;  ///< `torch`, `cuda`, `triton`, `python`
};

/// A cache's hit, miss or bypass.
struct CacheText {
  std::string key, reason, exception;
  std::int64_t time_ns = -1;
};

struct PreparedRecord {
  std::string text;  ///< the payload, where the writer needs it
  std::string hash;  ///< of output code
  std::optional<ParsedGraph> graph;
  std::unique_ptr<OutputCode> code;
  std::unique_ptr<GuardTree> guards;
  std::unique_ptr<EventText> event;
  std::unique_ptr<MetricsText> metrics;
  std::unique_ptr<CacheText> cache;
  std::unique_ptr<trace::PackedContent> packed;  ///< of the artifact to be kept
};

/// Largest content that is kept; what is larger is left out, as a problem.
inline constexpr std::size_t kMaxKept = std::size_t{256} << 20;

PreparedRecord prepare(const LogFile& file, const LogRecord& record, const RecordClass& what);

MetricsText parse_metrics(JsonSlice fields);
EventText parse_event(std::string_view payload);
CacheText parse_cache(std::string_view payload);

}  // namespace strata::capture
