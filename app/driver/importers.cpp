// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/importers.h"

#include <fmt/format.h>

#include "core/support/error.h"

namespace strata {
namespace {

using capture::ImportContext;

/// A file that cannot be read at all is a problem of that file.
template <class Read>
void guarded(ImportContext& context, const FoundInput& input, Read&& read) {
  try {
    read();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    trace::InputRecord record;
    record.path = input.path.string();
    record.kind = to_string(input.kind);
    const trace::Id id = context.add_input(record);
    context.problem(id, "unreadable", 0, e.what());
    context.finish_input(id);
  }
}

void read_input(ImportContext&, const FoundInput& input) {
  throw_user(fmt::format("inputs of kind {} are not read yet", to_string(input.kind)));
}

}  // namespace

void read_inputs(ImportContext& context, InputKind, std::span<const FoundInput> inputs) {
  for (const FoundInput& input : inputs) guarded(context, input, [&] { read_input(context, input); });
}

MatchSummary match_inputs(ImportContext&) { return {}; }

}  // namespace strata
