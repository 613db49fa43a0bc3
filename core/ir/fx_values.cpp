// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/fx_values.h"

#include <charconv>
#include <limits>

#include "core/ir/fx_printer.h"
#include "core/support/error.h"

namespace strata::fx {

namespace {

OpaqueArg opaque(const Expr& e) { return {one_line(e.source)}; }

std::optional<Argument> number(std::string_view text, bool negative) {
  const std::string with_sign = (negative ? "-" : "") + std::string(text);
  const char *begin = with_sign.data(), *end = begin + with_sign.size();
  if (text.find_first_of(".eEj_") == std::string_view::npos) {
    int64_t value;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc() && stop == end) return Argument(value);
    return std::nullopt;
  }
  double value;
  auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return Argument(value);
}

std::optional<Argument> constant(std::string_view name, bool negative) {
  if (name == "inf")
    return Argument(negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  if (name == "nan" && !negative) return Argument(std::numeric_limits<double>::quiet_NaN());
  if (negative) return std::nullopt;
  if (name == "None") return Argument(NoneArg{});
  if (name == "True") return Argument(true);
  if (name == "False") return Argument(false);
  if (name == "Ellipsis") return Argument(EllipsisArg{});
  return std::nullopt;
}

std::vector<Argument> all(const Expr& e, size_t first, const Scope& scope, const Lexer& lexer) {
  std::vector<Argument> items;
  for (size_t i = first; i < e.items.size(); ++i) items.push_back(to_argument(e.items[i], scope, lexer));
  return items;
}

/// `device(type='cuda', index=0)`
std::optional<Argument> device(const Expr& e) {
  std::string name;
  for (size_t i = 1; i < e.items.size(); ++i) {
    const Expr& arg = e.items[i];
    if (arg.kind != Expr::Kind::Keyword) return std::nullopt;
    const Expr& value = arg.items[0];
    if (arg.text == "type" && value.kind == Expr::Kind::String && name.empty()) {
      name = unquote(value.text);
    } else if (arg.text == "index" && value.kind == Expr::Kind::Number && !name.empty()) {
      name += ":" + std::string(value.text);
    } else {
      return std::nullopt;
    }
  }
  return Argument(DeviceArg{name});
}

/// Calls that are values. A value that would print differently stays text.
std::optional<Argument> call(const Expr& e, const Scope& scope, const Lexer& lexer) {
  const std::string callee = e.items[0].dotted();
  std::optional<Argument> value;
  if (callee == "device") value = device(e);
  if (callee == "slice" && e.items.size() > 1) {
    for (const Expr& item : e.items)
      if (item.kind == Expr::Kind::Keyword) return std::nullopt;
    return Argument(SliceArg{all(e, 1, scope, lexer)});
  }
  if (callee == "torch.Size" && e.items.size() == 2 && e.items[1].kind == Expr::Kind::List) {
    return Argument(ListArg{ListArg::Kind::Size, all(e.items[1], 0, scope, lexer)});
  }
  if (callee == "complex" && e.items.size() == 3) {
    Argument re = to_argument(e.items[1], scope, lexer), im = to_argument(e.items[2], scope, lexer);
    if (re.as<double>() && im.as<double>()) value = Argument(std::complex<double>(*re.as<double>(), *im.as<double>()));
  }
  if (value && print_fx(*value) != one_line(e.source)) return std::nullopt;
  return value;
}

Argument attribute(const Expr& e) {
  const std::string dotted = e.dotted();
  if (dotted.starts_with("torch.")) {
    if (std::optional<DType> dtype = parse_dtype_name(dotted);
        dtype && dotted == "torch." + std::string(dtype_name(*dtype))) {
      return *dtype;
    }
    return EnumArg{dotted};
  }
  return opaque(e);
}

}  // namespace

Node* Scope::find(std::string_view name, const Lexer& lexer, const Token& at) const {
  const FxNames::Entry* entry = nodes.find(name);
  if (!entry) return nullptr;
  if (entry->dead) lexer.fail_at(at, "a name that is still in use (this one was set to None before)");
  return entry->node;
}

Argument to_argument(const Expr& e, const Scope& scope, const Lexer& lexer) {
  switch (e.kind) {
    case Expr::Kind::Name: {
      if (Node* node = scope.find(e.text, lexer, e.first)) return node;
      if (std::optional<Argument> value = constant(e.text, false)) return *value;
      return opaque(e);
    }
    case Expr::Kind::Number:
      if (std::optional<Argument> value = number(e.text, false)) return *value;
      return opaque(e);
    case Expr::Kind::String:
      return unquote(e.text);
    case Expr::Kind::Unary: {
      const Expr& operand = e.items[0];
      std::optional<Argument> value;
      if (e.text == "-" && operand.kind == Expr::Kind::Number) value = number(operand.text, true);
      if (e.text == "-" && operand.kind == Expr::Kind::Name && !scope.nodes.contains(operand.text))
        value = constant(operand.text, true);
      return value ? *value : Argument(opaque(e));
    }
    case Expr::Kind::List:
      return ListArg{ListArg::Kind::List, all(e, 0, scope, lexer)};
    case Expr::Kind::Tuple:
      return ListArg{ListArg::Kind::Tuple, all(e, 0, scope, lexer)};
    case Expr::Kind::Dict: {
      DictArg dict;
      for (size_t i = 0; i + 1 < e.items.size(); i += 2) {
        dict.items.emplace_back(to_argument(e.items[i], scope, lexer), to_argument(e.items[i + 1], scope, lexer));
      }
      return dict;
    }
    case Expr::Kind::Call:
      if (std::optional<Argument> value = call(e, scope, lexer)) return *value;
      return opaque(e);
    case Expr::Kind::Attr:
      return attribute(e);
    default:
      return opaque(e);
  }
}

std::optional<SourceLocation> parse_source_comment(std::string_view comment) {
  size_t start = comment.find("File: ");
  if (start == std::string_view::npos) return std::nullopt;
  std::string_view rest = comment.substr(start + 6);
  size_t code = rest.find(", code: ");
  std::string_view place = rest.substr(0, code);
  for (size_t in = place.rfind(" in "); in != std::string_view::npos && in > 0; in = place.rfind(" in ", in - 1)) {
    size_t colon = place.rfind(':', in - 1);
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view digits = place.substr(colon + 1, in - colon - 1);
    SourceLocation location;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), location.line);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) continue;
    location.file = place.substr(0, colon);
    location.function = place.substr(in + 4);
    if (code != std::string_view::npos) location.code = rest.substr(code + 8);
    return location;
  }
  return std::nullopt;
}

std::optional<std::string> self_path_of(const Expr& e) {
  std::string part;
  const Expr* base = nullptr;
  if (e.kind == Expr::Kind::Attr) {
    part = e.text;
    base = &e.items[0];
  } else if (e.kind == Expr::Kind::Call && e.items.size() == 3 && e.items[0].is_name("getattr") &&
             e.items[2].kind == Expr::Kind::String) {
    part = unquote(e.items[2].text);
    base = &e.items[1];
  }
  // A part with a dot would be taken apart when it is printed.
  if (!base || part.empty() || part.find_first_of(".\"\\\n") != std::string::npos) return std::nullopt;
  if (base->is_name("self")) return part;
  std::optional<std::string> path = self_path_of(*base);
  if (path) *path += "." + part;
  return path;
}

}  // namespace strata::fx
