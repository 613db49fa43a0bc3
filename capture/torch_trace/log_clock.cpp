// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/log_clock.h"

#include <chrono>
#include <cstdlib>

namespace strata::capture {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Seconds of a local time in a year, as if it were UTC.
std::optional<std::int64_t> seconds(const LogTime& t, int year) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, month{static_cast<unsigned>(t.month)},
                            day{static_cast<unsigned>(t.day)}};
  if (!date.ok() || t.hour > 23 || t.minute > 59 || t.second > 60) return std::nullopt;
  return sys_days(date).time_since_epoch().count() * std::int64_t{86400} + t.hour * 3600 + t.minute * 60 + t.second;
}

int year_of(std::int64_t second) {
  using namespace std::chrono;
  const auto days = floor<std::chrono::days>(sys_seconds(std::chrono::seconds(second)));
  return static_cast<int>(year_month_day(days).year());
}

// The moment with this date and time that lies nearest to `reference`.
std::optional<std::int64_t> nearest(const LogTime& t, std::int64_t reference) {
  std::optional<std::int64_t> best;
  const int year = year_of(reference);
  for (int y = year - 1; y <= year + 1; ++y) {
    const auto at = seconds(t, y);
    if (at && (!best || std::llabs(*at - reference) < std::llabs(*best - reference))) best = at;
  }
  return best;
}

// Years that a log can be of; everything else is a number that is no time.
bool plausible(std::int64_t second) { return second > 0 && second < std::int64_t{7} * 1'000'000'000; }

}  // namespace

LogClock::LogClock(const LogTime& at, std::int64_t epoch_ns) {
  const std::int64_t epoch = epoch_ns / kSecond;
  if (!plausible(epoch)) return;
  const auto local = nearest(at, epoch);
  if (!local || std::llabs(*local - epoch) > 15 * 3600) return;
  reference_s_ = local;
  const std::int64_t offset = *local - epoch;
  zone_s_ = (offset + (offset < 0 ? -450 : 450)) / 900 * 900;
}

LogClock LogClock::before(std::int64_t file_time_ns) {
  LogClock clock;
  if (plausible(file_time_ns / kSecond)) clock.reference_s_ = file_time_ns / kSecond;
  return clock;
}

std::int64_t LogClock::ns(const LogTime& time) const {
  if (!reference_s_) return -1;
  const auto at = nearest(time, *reference_s_);
  return at ? (*at - zone_s_) * kSecond + time.micros * std::int64_t{1000} : -1;
}

}  // namespace strata::capture
