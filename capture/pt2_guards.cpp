// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/support/error.h"

namespace strata::capture {
namespace {

/// `L['d']['a']`, `L['x'][0]` from `at`: the input's name (`d.a`, `x.0`); moves `at` behind it.
std::optional<std::string> read_access(std::string_view text, size_t& at) {
  if (!text.substr(at).starts_with("L[")) return std::nullopt;
  ++at;
  std::string name;
  while (at < text.size() && text[at] == '[') {
    const size_t end = text.find(']', at);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view key = text.substr(at + 1, end - at - 1);
    if (key.size() >= 2 && (key.front() == '\'' || key.front() == '"')) key = key.substr(1, key.size() - 2);
    name += (name.empty() ? "" : ".") + std::string(key);
    at = end + 1;
  }
  return name;
}

const Type* input_type(const Program& program, const std::vector<Node*>& placeholders, const std::string& name) {
  for (const std::string& candidate : {name, "kwargs." + name}) {
    const auto& names = program.user_input_names;
    const auto it = std::find(names.begin(), names.end(), candidate);
    const auto index = static_cast<size_t>(it - names.begin());
    if (it != names.end() && index < placeholders.size()) return &placeholders[index]->type;
  }
  // Arguments collected by `*args` are known by their flat names only: `L['a'][0]` is the placeholder `a_0`.
  std::string flat = name;
  std::replace(flat.begin(), flat.end(), '.', '_');
  for (const Node* placeholder : placeholders)
    if (placeholder->name == flat) return &placeholder->type;
  return nullptr;
}

/// Replaces accesses to inputs by the expressions of their sizes; nothing if one is not a size or an integer.
std::optional<std::string> substitute_sizes(const Program& program, std::string_view text) {
  constexpr std::string_view kSize = ".size()[";
  const auto placeholders = user_placeholders(program.graph);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!text.substr(at).starts_with("L[")) {
      out += text[at++];
      continue;
    }
    const auto name = read_access(text, at);
    const Type* type = name ? input_type(program, placeholders, *name) : nullptr;
    if (!type) return std::nullopt;
    if (type->kind == Type::Kind::SymInt) {
      out += "(" + type->sym.str() + ")";
      continue;
    }
    if (!type->is_tensor() || !text.substr(at).starts_with(kSize)) return std::nullopt;
    at += kSize.size();
    size_t dim = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), dim);
    at = static_cast<size_t>(end - text.data());
    if (error != std::errc() || at >= text.size() || text[at] != ']' || dim >= type->tensor.shape.size())
      return std::nullopt;
    ++at;
    out += "(" + type->tensor.shape[dim].str() + ")";
  }
  return out;
}

struct Split {
  std::string left, right;
  SizeGuard::Relation relation;
};

/// `a <= b` at its one comparison outside of parentheses.
std::optional<Split> split_comparison(const std::string& text) {
  using Relation = SizeGuard::Relation;
  static constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations = {{{"==", Relation::Equal},
                                                                                       {"!=", Relation::NotEqual},
                                                                                       {"<=", Relation::LessEqual},
                                                                                       {">=", Relation::GreaterEqual},
                                                                                       {"<", Relation::Less},
                                                                                       {">", Relation::Greater}}};
  std::optional<Split> found;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth != 0) continue;
    for (const auto& [sign, relation] : kRelations) {
      if (text.compare(i, sign.size(), sign) != 0) continue;
      if (found) return std::nullopt;  // a chain
      found = Split{text.substr(0, i), text.substr(i + sign.size()), relation};
      i += sign.size() - 1;
      break;
    }
  }
  return found;
}

std::optional<SizeGuard> parse_guard(const Program& program, const std::string& text) {
  const auto sizes = substitute_sizes(program, text);
  if (!sizes || sizes->find_first_of("'\"[]") != std::string::npos) return std::nullopt;
  const auto split = split_comparison(*sizes);
  if (!split) return std::nullopt;
  try {
    ShapeEnv& env = program.graph.env();
    return SizeGuard{text, parse_sym(env, split->left), parse_sym(env, split->right), split->relation};
  } catch (const Error&) {
    return std::nullopt;  // more than integers: stays an assumption in words
  }
}

int64_t bound(const Json* json, int64_t none) {
  if (!json) return none;
  if (const auto* value = json->as<int64_t>()) return *value;
  if (const auto* big = json->as<BigInt>()) return big->digits.starts_with('-') ? kSymMin : kSymMax;
  const double value = json->number();  // infinities of older writers
  if (value >= 9.2e18) return kSymMax;
  if (value <= -9.2e18) return kSymMin;
  throw JsonTypeError(json, "expected an integer bound, found " + describe(*json));
}

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
         std::string_view::npos;
}

}  // namespace

void read_ranges(const Json& program, ShapeEnv& env) {
  const Json* constraints = program.find("range_constraints");
  if (!constraints) return;
  for (const auto& [name, range] : constraints->object()) {
    SymRange bounds{bound(range.find("min_val"), kSymMin), bound(range.find("max_val"), kSymMax)};
    if (bounds.min > bounds.max)
      throw JsonTypeError(&range, fmt::format("the range of '{}' is empty: {} to {}", name, bounds.min, bounds.max));
    if (is_identifier(name)) {
      Symbol symbol;
      symbol.name = name;
      // The exporter takes sizes to be 2 or more, since it takes 0 and 1 for constants. PyTorch runs the program with
      // those, too (`_check_symint` in torch/_export/utils.py); not here where a range is given that begins at 2.
      symbol.traced_from_two = name.starts_with('s') && bounds.max >= kTracedFrom;
      if (symbol.traced_from_two && bounds.min == kTracedFrom && bounds.max == kSymMax) bounds.min = 0;
      symbol.range = bounds;
      env.symbol(symbol);
      continue;
    }
    const std::string low = bounds.min == kSymMin ? "" : fmt::format("{} <= ", bounds.min);
    const std::string high = bounds.max == kSymMax ? "" : fmt::format(" <= {}", bounds.max);
    if (!low.empty() || !high.empty())
      env.assume({low + name + high, "range of an expression in the exported program", ""});
  }
}

void add_guards(Program& program, const std::vector<std::string>& guards) {
  for (const std::string& text : guards) {
    program.graph.env().assume({text, "guard of the exported program", ""});
    if (auto guard = parse_guard(program, text)) program.guards.push_back(*std::move(guard));
  }
}

}  // namespace strata::capture
