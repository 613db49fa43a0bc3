// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Expressions of FX graph text, before names mean anything. Internal to the FX reader.

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/fx_lexer.h"

namespace strata::fx {

inline constexpr int kMaxExprDepth = 256;

struct Expr {
  enum class Kind : uint8_t {
    Name,
    Number,
    String,
    List,
    Tuple,
    Dict,
    Attr,
    Call,
    Index,
    Unary,
    Binary,
    Keyword,
    Object,
  };
  Kind kind = Kind::Object;
  std::string_view text;    ///< name, literal, attribute or operator
  std::string_view source;  ///< the whole expression
  size_t line = 1;          ///< of its last token
  int height = 1;           ///< of the tree
  Token first;              ///< for errors
  /// Elements; Dict: key, value, key, value; Attr: base; Call: callee and arguments; Index: base and index; Keyword:
  /// value.
  std::vector<Expr> items;

  bool is_name(std::string_view name) const { return kind == Kind::Name && text == name; }
  /// `a.b.c` as written; empty if it is anything else.
  std::string dotted() const;
};

/// Parses one expression. Throws a user Error with line and column.
Expr parse_expr(Lexer& lexer);
/// As parse_expr, without binary operators (the left side of a statement).
Expr parse_target(Lexer& lexer);
/// Value of a Python string literal.
std::string unquote(std::string_view literal);

}  // namespace strata::fx
