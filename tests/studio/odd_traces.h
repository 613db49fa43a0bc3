// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Traces that no sane program writes and that open all the same.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace strata::test {

struct OddTrace {
  const char* name;
  std::function<void(const std::filesystem::path&)> write;
};

/// Small enough to be written in well under a second each.
const std::vector<OddTrace>& odd_traces();

/// Names with line ends, other scripts, markup, control characters; and one of `length` letters.
std::vector<std::string> absurd_names(size_t length);

/// A profile of its own: `events` events on a few threads and streams, nested and joined.
void write_event_trace(const std::filesystem::path& path, int events);

}  // namespace strata::test
