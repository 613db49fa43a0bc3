// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_lexer.h"
#include "core/ir/fx_reader.h"
#include "core/support/error.h"

namespace strata {

namespace {

/// Position behind the bracket that closes the one at `open`; npos if none does.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++depth;
    if ((text[i] == ']' || text[i] == ')') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// `8, s77, Max(1, s0)` split at the outer commas.
std::vector<SymInt> parse_list(ShapeEnv& env, std::string_view text) {
  std::vector<SymInt> items;
  if (fx::strip(text).empty()) return items;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    items.push_back(parse_sym(env, text.substr(start, i - start)));
    start = i + 1;
  }
  return items;
}

bool parse_tensor(ShapeEnv& env, std::string_view text, TensorType& tensor) {
  size_t open = text.find('[');
  if (open == std::string_view::npos) return false;
  std::optional<DType> dtype = parse_dtype_abbr(text.substr(0, open));
  size_t end = closing(text, open);
  if (!dtype || end == std::string_view::npos) return false;
  tensor.dtype = *dtype;
  tensor.shape = parse_list(env, text.substr(open + 1, end - open - 2));
  if (end < text.size() && text[end] == '[') {
    size_t strides_end = closing(text, end);
    if (strides_end == std::string_view::npos) return false;
    tensor.strides = parse_list(env, text.substr(end + 1, strides_end - end - 2));
    if (tensor.strides->size() != tensor.shape.size()) return false;
    end = strides_end;
  }
  tensor.device = text.substr(end);
  return tensor.device.find_first_of(" \"\n'") == std::string::npos;
}

Type parse_sym_type(ShapeEnv& env, std::string_view inner) {
  Type type;
  const bool relation =
      inner.starts_with("Eq(") || inner.starts_with("Ne(") || inner.find_first_of("<>=&|~") != std::string_view::npos;
  if (relation || inner == "True" || inner == "False") {
    type.kind = Type::Kind::SymBool;
  } else if (inner.starts_with("zf") || inner.starts_with("zuf") || inner.starts_with("ToFloat(") || inner == "float") {
    type.kind = Type::Kind::SymFloat;
  } else {
    type = Type::symint(parse_sym(env, inner));
  }
  return type;
}

}  // namespace

Type parse_fx_type(ShapeEnv& env, std::string_view text) {
  Type type;
  if (text.empty()) return type;
  try {
    TensorType tensor;
    if (text.starts_with("Sym(") && text.ends_with(")")) {
      type = parse_sym_type(env, text.substr(4, text.size() - 5));
    } else if (parse_tensor(env, text, tensor)) {
      type = Type::of(std::move(tensor));
    } else {
      type.kind = Type::Kind::Other;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    type = Type();
    type.kind = Type::Kind::Other;
  }
  type.text = text;
  // A text that says no more than the type would only go stale when the type is changed.
  const bool needs_text =
      type.kind == Type::Kind::Other || type.kind == Type::Kind::SymBool || type.kind == Type::Kind::SymFloat;
  if (!needs_text && to_string(type) == text) type.text.clear();
  return type;
}

}  // namespace strata
