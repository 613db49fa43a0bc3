// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Log lines have local time without a year and zone; some records say what time it is since the epoch.

#include <cstdint>
#include <optional>

#include "capture/torch_trace/log_line.h"

namespace strata::capture {

class LogClock {
 public:
  LogClock() = default;
  /// `at` was logged right at `epoch_ns`. The zone is taken to be a whole quarter of an hour.
  LogClock(const LogTime& at, std::int64_t epoch_ns);
  /// Without any such record: lines are not newer than the file; the zone is unknown and taken to be UTC.
  static LogClock before(std::int64_t file_time_ns);

  /// Since the Unix epoch; -1 when nothing is known or the time is none.
  std::int64_t ns(const LogTime& time) const;

 private:
  std::optional<std::int64_t> reference_s_;  ///< local time of some moment in the log, as if it were UTC
  std::int64_t zone_s_ = 0;
};

}  // namespace strata::capture
