// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What can be said of a profile without reading its events.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace strata::capture::kineto {

/// Times below this are relative to something: the year 1973 in nanoseconds since the epoch.
inline constexpr std::int64_t kFirstAbsolute = 100'000'000'000'000'000;

/// 0 for a base that no clock can have shown.
std::int64_t sound_base(std::int64_t base);
/// `baseTimeNanoseconds` in the last bytes of a plain file; 0 when it is not there.
std::int64_t base_behind(const std::filesystem::path& path);
/// People name files after the rank where the profile does not say it: `trace_rank_3.json`, `rank3.json.gz`. -1: none.
std::int64_t rank_in(std::string_view name);

}  // namespace strata::capture::kineto
