// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// libFuzzer harness of what reads PyTorch's texts: guards, breaks, recompile reasons, tracebacks, shapes, logs. None
/// of it may throw, and what is counted must be what was there.

#include <cstdlib>
#include <string_view>

#include "capture/torch_text/break_reason.h"
#include "capture/torch_text/guard_tree.h"
#include "capture/torch_text/log_prefix.h"
#include "capture/torch_text/python_traceback.h"
#include "capture/torch_text/recompile_reason.h"
#include "capture/torch_text/shapes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata::capture;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const GuardTree tree = parse_guard_tree(text);
  KnownFiles files;
  std::vector<strata::trace::GuardRecord> guards;
  for (const GuardText& guard : tree.guards) {
    if (guard.kind.empty()) std::abort();
    files.add(guard.file, guard.line, guard.line_text);
    guard_location(guard, files);
    guards.push_back(guard_record(guard));
  }
  for (RecompileText& reason : parse_recompile_reasons(text)) {
    find_guard(reason, guards);
    derive_actual(reason, guards, {});
    recompile_stack(reason, files);
    if (form_name(reason.form).empty()) std::abort();
  }
  const GraphBreakText parsed = parse_graph_break(text);
  graph_break_record(parsed, text);
  parse_python_error(text);
  std::size_t used = 0;
  parse_python_stack(text, &used);
  if (used > size) std::abort();
  parse_range(text);
  parse_shape_message(text);
  LogVisitor visitor;
  std::int64_t last = 0;
  visitor.message = [&](const LogMessage& m) {
    if (m.line <= 0) std::abort();
    last = m.line;
  };
  visitor.traceback = [](std::int64_t, std::string, std::int64_t) {};
  visit_log(text, visitor);
  return last < 0;
}
