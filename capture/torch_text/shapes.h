// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Symbolic shapes as PyTorch writes them as text.

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::capture {

/// A range of values; a side that is open, not whole or beyond 64 bits is none.
struct RangeText {
  std::optional<std::int64_t> min, max;
  bool valid = false;  ///< the text was a range
};

/// `[2, int_oo]`, `[-int_oo, int_oo]`, `VR[2, 9]`, `[-oo, oo]`, `[2.5, 9]` (2.5 rounds into the range).
RangeText parse_range(std::string_view text);

/// `9`: the number; none for `3.5`, `None`, `s0 + 1` and numbers beyond 64 bits.
std::optional<std::int64_t> parse_hint(std::string_view text);

}  // namespace strata::capture
