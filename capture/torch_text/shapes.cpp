// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_text/shapes.h"

#include <charconv>
#include <cmath>

#include "capture/torch_text/guard_tree.h"
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

constexpr auto kNowhere = std::string_view::npos;
using Kind = ShapeMessage::Kind;

/// `y = x * n  # m.py:7 in f (m.py:9 in g), for more info run with ...`
trace::SourceLocation place(std::string_view text) {
  text = trim(text.substr(0, text.find(", for more info")));
  if (text.starts_with("at ")) text.remove_prefix(3);
  if (text.empty()) return {};
  const GuardText parsed = parse_guard_code("0  # " + std::string(text));
  return {parsed.file, parsed.line, parsed.function, parsed.line_text};
}

/// Takes `[2, int_oo]` (or `VR[2, int_oo]`) from the front.
std::string_view take_range(std::string_view& text) {
  text = trim(text);
  const std::size_t close = text.find(']');
  if (close == kNowhere || text.find('[') > 2) return {};
  const std::string_view range = text.substr(0, close + 1);
  text.remove_prefix(close + 1);
  return range;
}

/// `s77 = 9 for L['x'].size()[0] [2, int_oo] PLACE`
void symbol(std::string_view text, ShapeMessage& out) {
  const std::size_t equals = text.find(" = "), word = text.find(" for ");
  if (equals == kNowhere || word == kNowhere || word < equals) return;
  out.kind = Kind::Symbol;
  out.symbol = trim(text.substr(0, equals));
  out.value = trim(text.substr(equals + 3, word - equals - 3));
  text.remove_prefix(word + 5);
  const std::size_t range = find_outside_quotes(text, " [");
  out.source = trim(text.substr(0, range));
  if (range == kNowhere) return;
  text.remove_prefix(range);
  out.range = take_range(text);
  out.place = place(text);
}

void unbacked(std::string_view text, Kind kind, ShapeMessage& out) {
  const std::size_t space = text.find(' ');
  out.kind = kind;
  out.symbol = text.substr(0, space);
  if (space == kNowhere) return;
  text.remove_prefix(space);
  out.range = take_range(text);
  out.place = place(text);
}

/// `Eq(s77, s17) [guard added] PLACE`
void guard(std::string_view text, ShapeMessage& out) {
  const std::size_t mark = text.find(" [guard added]");
  if (mark == kNowhere || text.starts_with("[guard suppressed]")) {
    out.kind = Kind::Progress;
    return;
  }
  out.kind = Kind::Guard;
  out.expression = trim(text.substr(0, mark));
  out.place = place(text.substr(mark + 14));
}

/// `s77 = 21 (range_refined_to_singleton) VR[21, 21]`
void replacement(std::string_view text, ShapeMessage& out) {
  const std::size_t equals = text.find(" = ");
  if (equals == kNowhere) return;
  out.kind = Kind::Replacement;
  out.symbol = trim(text.substr(0, equals));
  text.remove_prefix(equals + 3);
  const std::size_t reason = text.rfind(" (");
  out.value = trim(text.substr(0, reason));
  if (reason == kNowhere) return;
  const std::size_t close = text.find(')', reason);
  out.reason = text.substr(reason + 2, close == kNowhere ? kNowhere : close - reason - 2);
  if (const std::size_t range = text.find("VR[", reason); range != kNowhere) out.range = trim(text.substr(range));
}

void marked(std::string_view text, ShapeMessage& out) {
  const std::size_t as = text.find(" as dynamic");
  if (as == kNowhere) return;
  out.kind = Kind::Marked;
  out.source = trim(text.substr(0, as));
  if (const std::size_t from = text.find("(from "); from != kNowhere) {
    out.reason = trim(text.substr(from + 6));
    if (out.reason.ends_with(')')) out.reason.pop_back();
  }
}

void assumed(std::string_view text, ShapeMessage& out) {
  const std::size_t due = text.find(" due to ");
  out.kind = Kind::Assumed;
  out.expression = text.substr(0, due);
  const std::size_t comma = text.find(", it was ");
  if (comma == kNowhere) return;
  const std::string_view rest = text.substr(comma + 2);
  constexpr std::string_view kEnd = "no runtime assertions";
  const std::size_t end = rest.find(kEnd);
  out.reason = trim(rest.substr(0, end == kNowhere ? kNowhere : end + kEnd.size()));
  if (end != kNowhere) out.place = place(rest.substr(end + kEnd.size()));
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
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

ShapeMessage parse_shape_message(std::string_view text) {
  ShapeMessage out;
  if (take(text, "create_symbol ")) {
    symbol(text, out);
  } else if (take(text, "create_unbacked_symint ") || take(text, "create_unbacked_symfloat ") ||
             take(text, "create_unbacked_symbool ")) {
    unbacked(text, Kind::Unbacked, out);
  } else if (take(text, "constrain_symbol_range ")) {
    unbacked(text, Kind::Range, out);
  } else if (take(text, "eval ") || take(text, "evaluate_expr ") || take(text, "runtime_assert ")) {
    guard(text, out);
  } else if (take(text, "set_replacement ")) {
    replacement(text, out);
  } else if (take(text, "marking ")) {
    marked(text, out);
  } else if (take(text, "could not evaluate ")) {
    assumed(text, out);
  } else {
    for (const std::string_view word :
         {"create_env", "produce_guards", "compute_unbacked_bindings", "update_hint", "_update_var_to_range",
          "ignore_fresh_unbacked_symbols", "propagate_real_tensors"})
      if (text.starts_with(word)) out.kind = Kind::Progress;
  }
  return out;
}

std::optional<std::int64_t> parse_hint(std::string_view text) { return whole_number(trim(text)); }

}  // namespace strata::capture
