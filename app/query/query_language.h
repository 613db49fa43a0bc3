// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Conditions on what is in a trace, as a person types them:
///
///     expression := term { "or" term }
///     term       := factor { [ "and" ] factor }
///     factor     := "not" factor | "(" expression ")" | KEY OPERATOR VALUE
///     OPERATOR   := "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="
///     VALUE      := 'text' | "text" | letters up to a blank or an unmatched parenthesis
///
/// `=` compares with a pattern in which `*` stands for anything, `~` looks for a part. Numbers may have a unit: ns, us,
/// ms, s. `target=aten.add* shape=[8, 64] and not module=*.layer.0*`, `category=kernel duration>1ms`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

struct QueryCondition {
  enum class Operator { Equal, NotEqual, Contains, ContainsNot, Less, LessEqual, Greater, GreaterEqual };
  std::string key;
  Operator op = Operator::Equal;
  std::string value;
  std::optional<double> number;    ///< of the value, times in nanoseconds
  std::size_t position = 0;        ///< in the text, from 1
  std::size_t value_position = 0;  ///< of the value
};

struct QueryExpression {
  enum class Kind { And, Or, Not, Condition };
  Kind kind = Kind::And;  ///< And of nothing: everything
  std::vector<QueryExpression> children;
  QueryCondition condition;
};

/// Throws a user Error with the position (from 1) of what is wrong. Empty text: everything. Nesting deeper than 200 is
/// refused.
QueryExpression parse_query(std::string_view text);

/// Every condition of an expression.
std::vector<const QueryCondition*> conditions_of(const QueryExpression& expression);

/// Glob with `*` only: linear space, quadratic time at worst.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace strata
