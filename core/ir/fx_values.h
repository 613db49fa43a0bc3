// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From expressions of FX graph text to arguments, and the comments that carry sources. Internal to the FX reader.

#include <optional>
#include <string>
#include <string_view>

#include "core/ir/fx_expr.h"
#include "core/ir/fx_names.h"
#include "core/ir/graph.h"

namespace strata::fx {

/// The names of one class.
struct Scope {
  FxNames nodes;

  /// The node of that name, or null. Throws a user Error after its clean-up.
  Node* find(std::string_view name, const Lexer& lexer, const Token& at) const;
};

/// The value of an expression; what is not known is an OpaqueArg with its text.
Argument to_argument(const Expr& e, const Scope& scope, const Lexer& lexer);
/// `File: a.py:3 in f, code: ...` anywhere in the comment.
std::optional<SourceLocation> parse_source_comment(std::string_view comment);
/// `self.a`, `getattr(self.layers, "0").weight`: `a`, `layers.0.weight`. Nothing if the root is not `self`.
std::optional<std::string> self_path_of(const Expr& e);

}  // namespace strata::fx
