// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/shapes.h"

#include <charconv>
#include <cmath>

#include "capture/torch_text/text_scan.h"

namespace strata::capture {
namespace {

/// A bound; `up`: fractions round towards the inside of the range from below.
std::optional<std::int64_t> bound(std::string_view text, bool up) {
  if (const auto whole = whole_number(text)) return whole;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !(std::abs(value) < 9e18))
    return std::nullopt;
  return static_cast<std::int64_t>(up ? std::ceil(value) : std::floor(value));
}

}  // namespace

RangeText parse_range(std::string_view text) {
  RangeText range;
  text = trim(text);
  if (text.starts_with("VR")) text.remove_prefix(2);
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return range;
  text = text.substr(1, text.size() - 2);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return range;
  range.valid = true;
  range.min = bound(trim(text.substr(0, comma)), true);
  range.max = bound(trim(text.substr(comma + 1)), false);
  return range;
}

std::optional<std::int64_t> parse_hint(std::string_view text) { return whole_number(trim(text)); }

}  // namespace strata::capture
