// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The compiled programs of a trace, as a profile names them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/reader.h"
#include "profiler/launch_align.h"

namespace strata::profiler {

struct KnownProgram {
  trace::ProgramRecord record;
  trace::CompileRecord compile;
  std::vector<ExpectedLaunch> launches;  ///< in order
  bool on_device = true;                 ///< it has kernels that are not for the CPU
  std::vector<trace::Id> kernels;
  std::vector<std::string> cpu_loops;  ///< kernels of the CPU that a profile shows only when asked to

  bool backward() const { return record.role == "backward"; }
  /// `0/0 forward`.
  std::string title() const;
};

class KnownPrograms {
 public:
  explicit KnownPrograms(trace::Reader& reader);

  const std::vector<KnownProgram>& all() const { return programs_; }

  struct Found {
    int program = -1;  ///< index into all()
    bool exact = false;
  };
  /// By the producer's key. Of several with one key that of the compile `near` is preferred, then of the process. Not
  /// exact when it cannot be told which.
  Found by_key(std::string_view key, trace::Id process, trace::Id near) const;
  /// The program of a compile for a direction: its backward program, or its forward or inference program.
  int of_compile(trace::Id compile, bool backward) const;
  /// The compile that `0/1`, `!A/0/1` stands for in a process: the last attempt. Other processes only when the process
  /// has no compiles at all. Numbers come again when PyTorch is reset: the last compile that had begun at `time_ns`
  /// (Unix clock; -1: not known).
  std::optional<trace::CompileRecord> compile_at(std::string_view address, trace::Id process,
                                                 std::int64_t time_ns = -1) const;
  /// Programs with backward role in a process; of all processes when that one has no programs at all.
  std::vector<int> backward_programs(trace::Id process) const;

 private:
  std::vector<trace::CompileRecord> compiles_;
  std::vector<KnownProgram> programs_;
  std::multimap<std::string, int, std::less<>> keys_;
};

}  // namespace strata::profiler
