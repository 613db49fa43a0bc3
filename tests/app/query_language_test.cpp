// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

#include "app/query/query_language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using Kind = QueryExpression::Kind;

/// `(a=1 and (b~x or not c<2))`
std::string shown(const QueryExpression& e) {
  static const char* const ops[] = {"=", "!=", "~", "!~", "<", "<=", ">", ">="};
  if (e.kind == Kind::Condition)
    return e.condition.key + ops[static_cast<int>(e.condition.op)] + "{" + e.condition.value + "}";
  if (e.kind == Kind::Not) return "not " + shown(e.children.front());
  std::string text;
  for (const QueryExpression& child : e.children)
    text += (text.empty() ? "(" : e.kind == Kind::And ? " and " : " or ") + shown(child);
  return text + ")";
}

std::string parsed(std::string_view text) { return shown(parse_query(text)); }

/// What is wrong with a query, without what to do about it.
std::string message(std::string_view text) {
  const std::string words = testing::error_text([&] { parse_query(text); });
  return words.substr(0, words.find("; "));
}

TEST(QueryLanguage, Parses) {
  EXPECT_EQ(parsed("target=aten.add*"), "target={aten.add*}");
  EXPECT_EQ(parsed("target=aten.add* module!=*.layer.0*"), "(target={aten.add*} and module!={*.layer.0*})");
  EXPECT_EQ(parsed("a=1 and b=2 or c=3"), "((a={1} and b={2}) or c={3})");
  EXPECT_EQ(parsed("a=1 (b=2 or not c=3)"), "(a={1} and (b={2} or not c={3}))");
  EXPECT_EQ(parsed("shape=[8, 64] x=1"), "(shape={[8, 64]} and x={1})");
  EXPECT_EQ(parsed("name='a b' x=\"(\""), "(name={a b} and x={(})");
  EXPECT_EQ(parsed("(name=f(x))"), "name={f(x)}");
  EXPECT_EQ(parsed("order=1"), "order={1}") << "no `or`";
  EXPECT_EQ(parsed("a >= 2"), "a>={2}");
  EXPECT_TRUE(parse_query("  ").children.empty());
}

TEST(QueryLanguage, NumbersHaveUnits) {
  EXPECT_EQ(parse_query("time>1.5ms").condition.number, 1.5e6);
  EXPECT_EQ(parse_query("time>30us").condition.number, 3e4);
  EXPECT_EQ(parse_query("time>2s").condition.number, 2e9);
  EXPECT_EQ(parse_query("group=3").condition.number, 3);
  EXPECT_EQ(parse_query("time>3min").condition.number, std::nullopt);
}

TEST(QueryLanguage, ErrorsSayWhere) {
  EXPECT_EQ(message("a=1 b"), "query, position 6: expected =, !=, ~, !~, <, <=, > or >=, found the end");
  EXPECT_EQ(message("a="), "query, position 3: expected a value, found the end");
  EXPECT_EQ(message("(a=1"), "query, position 5: expected ')', found the end");
  EXPECT_EQ(message("a=1)"), "query, position 4: expected a condition, found ')'");
  EXPECT_EQ(message("=1"), "query, position 1: expected a key, found '=1'");
  EXPECT_EQ(message("a='x"), "query, position 3: expected the closing quote, found ''x'");
  EXPECT_EQ(message("a=1 adn b=2"), "query, position 5: expected and, or, not or a condition, found 'adn'");
  EXPECT_EQ(message("a=>1"), "query, position 2: there is no operator '=>'");
  EXPECT_EQ(message("a <> 1"), "query, position 3: there is no operator '<>'");
  EXPECT_EQ(message("a ! 1"), "query, position 3: there is no operator '!'");
  EXPECT_THAT(message(std::string(100000, '(')), ::testing::HasSubstr("nested too deep"));
  std::string nots;
  for (int i = 0; i < 10000; ++i) nots += "not ";
  EXPECT_THAT(message(nots + "a=1"), ::testing::HasSubstr("nested too deep"));
}

TEST(QueryLanguage, Patterns) {
  EXPECT_TRUE(matches_pattern("aten.*.Tensor", "aten.add.Tensor"));
  EXPECT_FALSE(matches_pattern("aten.*.Tensor", "aten.add.Scalar"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_FALSE(matches_pattern("", "a"));
  EXPECT_TRUE(matches_pattern("[8, ?]", "[8, ?]")) << "only * is special";
}

}  // namespace
}  // namespace strata
