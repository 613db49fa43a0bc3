// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From what PyTorch leaves behind (logs, debug folders, profiles) to one trace.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/driver/import_scan.h"
#include "capture/import/context.h"

namespace strata {

struct ImportOptions {
  /// The part of the whole import that is done, 0 to 1, and what is being read; false cancels.
  capture::ImportContext::Progress progress;
  bool redact = false;  ///< see app/driver/redact.h
  /// Properties of the trace beside those that the inputs give: `version`, `command`.
  std::vector<std::pair<std::string, std::string>> properties;
};

struct ImportSummary {
  struct Input {
    std::string path, kind, producer;
    std::int64_t bytes = 0;
    std::int64_t records = 0;   ///< that were used
    std::int64_t problems = 0;  ///< that could not be
    std::map<std::string, std::int64_t> counts;
  };
  std::vector<Input> inputs;
  std::vector<SkippedInput> skipped;
  std::size_t skipped_count = 0;
  std::vector<std::string> warnings;  ///< `FILE:LINE: what`, at most kMaxWarnings
  std::size_t warning_count = 0;

  std::size_t processes = 0, frames = 0, compiles = 0;
  std::size_t attempts = 0;  ///< compiles and the attempts that were started over
  std::size_t breaks = 0, recompiles = 0, graphs = 0, programs = 0, kernels = 0, guards = 0;
  std::int64_t events = 0;
  /// Kernel time under compiled regions, and the part of it that was matched to graph nodes; -1 without a profile.
  double kernel_ns = -1, matched_ns = -1;
};

inline constexpr std::size_t kMaxWarnings = 200;

/// Imports everything usable under `paths` into the trace `out`. What cannot be used is in the summary.
/// Throws a user Error when nothing can be used, when a path does not exist, or when `out` is there and no trace; and
/// ImportCancelled. In each of these cases `out` is as it was before.
ImportSummary import_paths(std::span<const std::filesystem::path> paths, const std::filesystem::path& out,
                           const ImportOptions& options = {});

}  // namespace strata
