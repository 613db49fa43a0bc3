// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/importers.h"

#include <fmt/format.h>

#include "capture/kineto/kineto.h"
#include "capture/torch_text/torch_logs.h"
#include "core/support/error.h"
#include "core/trace/reader.h"
#include "profiler/correlate.h"

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

void read_input(ImportContext& context, const FoundInput& input) {
  switch (input.kind) {
    case InputKind::TorchLogs:
      capture::import_torch_logs(context, input.path);
      return;
    case InputKind::Profile:
      capture::import_profile(context, input.path);
      return;
    default:
      throw_user(fmt::format("inputs of kind {} are not read yet", to_string(input.kind)));
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

void read_inputs(ImportContext& context, InputKind, std::span<const FoundInput> inputs) {
  for (const FoundInput& input : inputs) guarded(context, input, [&] { read_input(context, input); });
}

MatchSummary match_inputs(ImportContext& context) {
  context.writer().commit();
  trace::Reader reader(context.writer().path());
  return total(profiler::correlate(reader, context.writer(),
                                   [&](double part, std::string_view what) { context.progress(part, what); }));
}

}  // namespace strata
