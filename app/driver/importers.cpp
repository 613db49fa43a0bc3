// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/importers.h"

#include "app/driver/import_program.h"
#include "capture/inductor/debug_folder.h"
#include "capture/inductor/tlparse.h"
#include "capture/kineto/kineto.h"
#include "capture/torch_text/torch_logs.h"
#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"
#include "core/trace/reader.h"
#include "profiler/correlate.h"
#include "profiler/ranks.h"

namespace strata {
namespace {

using capture::ImportContext;

/// A file that cannot be read at all is a problem of that file.
template <class Read>
void guarded(ImportContext& context, const FoundInput& input, Read&& read) {
  const std::size_t inputs = context.inputs().size();
  try {
    read();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    trace::Id id = trace::kNone;
    if (context.inputs().size() > inputs) {
      id = context.inputs().back().id;
    } else {
      trace::InputRecord record;
      record.path = input.path.string();
      record.kind = to_string(input.kind);
      id = context.add_input(record);
    }
    context.problem(id, "unreadable", 0, e.what());
    context.finish_input(id);
  }
}

/// Addresses name the rank only where there are several.
capture::TorchTraceOptions torch_options(InputKind kind, std::span<const FoundInput> inputs) {
  capture::TorchTraceOptions options;
  if (kind != InputKind::TorchTrace) return options;
  std::vector<std::filesystem::path> paths;
  for (const FoundInput& input : inputs) paths.push_back(input.path);
  options.rank_prefix = capture::ranks_of_torch_traces(paths).size() > 1;
  return options;
}

void read_input(ImportContext& context, const FoundInput& input, const capture::TorchTraceOptions& options) {
  switch (input.kind) {
    case InputKind::TorchTrace:
      capture::import_torch_trace(context, input.path, options);
      break;
    case InputKind::DebugFolder:
      capture::import_debug_folder(context, input.path);
      break;
    case InputKind::Tlparse:
      capture::import_tlparse_folder(context, input.path, options);
      break;
    case InputKind::TorchLogs:
      capture::import_torch_logs(context, input.path);
      break;
    case InputKind::Program:
      import_program(context, input.path);
      break;
    case InputKind::Profile:
      capture::import_profile(context, input.path);
      break;
  }
}

/// Kernel time under compiled code, over all profiles.
MatchSummary total(const profiler::CorrelationReport& report) {
  MatchSummary sum;
  for (const profiler::RunCorrelation& run : report.runs) {
    const auto matched = static_cast<double>(run[profiler::TimePart::Matched].ns);
    const auto unmatched = static_cast<double>(run[profiler::TimePart::Unmatched].ns);
    sum.matched_ns = std::max(sum.matched_ns, 0.0) + matched;
    sum.kernel_ns = std::max(sum.kernel_ns, 0.0) + matched + unmatched;
  }
  return sum;
}

}  // namespace

void read_inputs(ImportContext& context, InputKind kind, std::span<const FoundInput> inputs) {
  const capture::TorchTraceOptions options = torch_options(kind, inputs);
  for (const FoundInput& input : inputs) guarded(context, input, [&] { read_input(context, input, options); });
}

MatchSummary match_inputs(ImportContext& context) {
  context.writer().commit();
  trace::Reader reader(context.writer().path());
  const auto report = profiler::correlate(
      reader, context.writer(), [&](double part, std::string_view what) { context.progress(0.9 * part, what); });
  context.writer().commit();
  context.progress(0.95, "comparing ranks");
  profiler::diagnose_ranks(reader, context.writer());
  return total(report);
}

}  // namespace strata
