// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Imports a program's output with PyTorch's own log in it (TORCH_LOGS=graph_breaks,recompiles,guards,dynamic,
/// perf_hints,cudagraphs; or nothing set, then only warnings and errors).
///
/// Import TORCH_TRACE logs of the same run first: what they said already (same process, compile and words) is then
/// not added again, only what they lack. Counts of the input: `log:KIND` per message, `log:known` for messages that
/// told nothing new, `output` for lines of the program. Messages of unknown kinds are kept as raw records.

#include <filesystem>
#include <string_view>

#include "capture/import/context.h"

namespace strata::capture {

struct TorchLogsSummary {
  trace::Id input = trace::kNone;
  std::int64_t messages = 0;  ///< of PyTorch; 0: nothing usable
};

/// Reads a file, also a gzipped one. Throws User when it cannot be read.
TorchLogsSummary import_torch_logs(ImportContext& context, const std::filesystem::path& path);

/// The same for text in memory; `name` is the path of the input record.
TorchLogsSummary import_torch_logs(ImportContext& context, std::string_view text, std::string_view name);

}  // namespace strata::capture
