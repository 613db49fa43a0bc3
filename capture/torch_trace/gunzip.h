// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// gzip files in memory.

#include <cstddef>
#include <string>
#include <string_view>

#include "core/support/file.h"

namespace strata::capture {

/// Whether the bytes begin like a gzip file.
bool is_gzip(std::string_view bytes);

struct Gunzipped {
  Bytes bytes;          ///< everything up to the first fault
  std::string problem;  ///< what ended it early: damage, the end of the file, or the limit; empty if nothing did
};

/// Decompresses all members, at most `limit` bytes. Never throws for what the bytes are.
Gunzipped gunzip(std::string_view bytes, std::size_t limit);

}  // namespace strata::capture
