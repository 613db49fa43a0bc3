// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What there is to import under some paths: every file is told by its content, folders of known layout by what lies in
/// them. Nothing is imported here, and nothing in a folder is an error.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// In the order in which inputs are imported: what says most comes first, profiles last.
enum class InputKind : int { TorchTrace = 0, DebugFolder, Tlparse, TorchLogs, Program, Profile };

/// `torch-trace`, `debug-folder`, `tlparse`, `torch-logs`, `program`, `profile`: as in `trace::InputRecord::kind`.
std::string_view to_string(InputKind kind);

struct FoundInput {
  std::filesystem::path path;  ///< a file, or the folder for DebugFolder and Tlparse
  InputKind kind = InputKind::Profile;
  /// Of a TorchTrace that is not compressed: its rank (-1 unknown) and the times of the first and last record as they
  /// are written, `MMDD HH:MM:SS.ffffff`; empty when unknown.
  std::int64_t rank = -1;
  std::string first_time, last_time;
};

struct SkippedInput {
  std::filesystem::path path;
  std::string why;  ///< `an AOTInductor package: ...`
};

struct FoundInputs {
  std::vector<FoundInput> inputs;     ///< by kind, then path
  std::vector<SkippedInput> skipped;  ///< at most kMaxSkipped
  std::size_t skipped_count = 0;
  std::vector<std::string> warnings;  ///< stale files, folders that could not be read, limits that were met
};

inline constexpr std::size_t kMaxSkipped = 1000;
inline constexpr int kMaxFolderDepth = 24;
inline constexpr std::size_t kMaxFolderEntries = 200000;

/// Walks the paths. Folders are walked to `kMaxFolderDepth`, each folder once however many links lead to it. Devices,
/// pipes and sockets are never opened. A path that does not exist is a user Error; everything else is skipped or warned
/// of.
FoundInputs find_inputs(std::span<const std::filesystem::path> paths);

}  // namespace strata
