// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Symbolic shapes as PyTorch writes them as text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/records.h"

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

/// A line of TORCH_LOGS=dynamic.
struct ShapeMessage {
  enum class Kind {
    Other,
    Symbol,       ///< `create_symbol s77 = 9 for L['x'].size()[0] [2, int_oo] PLACE`
    Unbacked,     ///< `create_unbacked_symint u0 [-int_oo, int_oo] PLACE`
    Guard,        ///< `eval Eq(s77, s17) [guard added] PLACE`: relied on from now on
    Replacement,  ///< `set_replacement s77 = 21 (range_refined_to_singleton) VR[21, 21]`
    Range,        ///< `constrain_symbol_range u0 [0, 9]`
    Marked,       ///< `marking L['n'] as dynamic (from automatic dynamic/PGO)`
    Assumed,      ///< `could not evaluate Eq(u0, 0) due to data dependency, it was assumed to be False ...`
    Progress      ///< `create_env`, `produce_guards`, ...: says nothing but that
  };
  Kind kind = Kind::Other;
  std::string symbol;           ///< `s77`
  std::string value;            ///< its value now, or what replaces it
  std::string source;           ///< `L['x'].size()[0]`
  std::string range;            ///< `[2, int_oo]`
  std::string expression;       ///< of a guard
  std::string reason;           ///< `range_refined_to_singleton`, `automatic dynamic/PGO`
  trace::SourceLocation place;  ///< path possibly cut at the front; empty file: unknown
};

ShapeMessage parse_shape_message(std::string_view text);

}  // namespace strata::capture
