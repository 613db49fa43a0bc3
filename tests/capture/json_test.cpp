// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using testing::error_text;

std::string parse_error(std::string_view text) {
  return error_text([&] { parse_json(text, "f.json"); });
}

TEST(Json, IntegersAreExactAndLargeOnesKeepTheirDigits) {
  const Json json = parse_json("[9223372036854775807, -9223372036854775808, 9223372036854775808, -0]", "f");
  const JsonArray& a = json.array();
  EXPECT_EQ(a[0].integer(), INT64_MAX);
  EXPECT_EQ(a[1].integer(), INT64_MIN);
  ASSERT_TRUE(a[2].as<BigInt>());
  EXPECT_EQ(a[2].as<BigInt>()->digits, "9223372036854775808");
  EXPECT_EQ(a[2].number(), 9223372036854775808.0);
  EXPECT_EQ(a[3].integer(), 0);
}

TEST(Json, PythonsNonFiniteTokensAndSpellings) {
  const Json json = parse_json(R"([NaN, Infinity, -Infinity, "NaN", "-Infinity", 1e999, 1e-05])", "f");
  const JsonArray& a = json.array();
  EXPECT_TRUE(std::isnan(a[0].number()));
  EXPECT_EQ(a[1].number(), INFINITY);
  EXPECT_EQ(a[2].number(), -INFINITY);
  EXPECT_TRUE(std::isnan(a[3].number()));
  EXPECT_EQ(a[4].number(), -INFINITY);
  EXPECT_EQ(a[5].number(), INFINITY);
  EXPECT_EQ(a[6].number(), 1e-05);
}

TEST(Json, EscapesAndSurrogates) {
  const Json json = parse_json(R"(["a\n\"\\\/\u00e9", "\ud83d\ude00", "\ud83dx", "\udc80", "\ud83d\u0041"])", "f");
  const JsonArray& a = json.array();
  EXPECT_EQ(a[0].string(), "a\n\"\\/\xc3\xa9");
  EXPECT_EQ(a[1].string(), "\xf0\x9f\x98\x80");
  EXPECT_EQ(a[2].string(), "\xef\xbf\xbdx");
  EXPECT_EQ(a[3].string(), "\xef\xbf\xbd");
  EXPECT_EQ(a[4].string(),
            "\xef\xbf\xbd"
            "A");
}

TEST(Json, LastOfDuplicateKeysWins) {
  const Json json = parse_json(R"({"a": 1, "b": null, "a": 2})", "f");
  EXPECT_EQ(json.at("a").integer(), 2);
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_TRUE(json.at("b").is_null());
}

TEST(Json, ErrorsSayLineAndColumn) {
  EXPECT_EQ(parse_error("{\"a\": 1,\n  \"b\" 2}"),
            "'f.json' is not valid JSON at line 2, column 7: expected ':', found '2'");
  EXPECT_EQ(parse_error("[1, 2"),
            "'f.json' is not valid JSON at line 1, column 6: expected ',' or ']', found the end of the text");
  for (const char* bad : {"", "[01]", "[1.]", "[1e]", "[-]", "[+1]", "[.5]", "nul", "[1,]", "{1: 2}", "{\"a\":1,}",
                          "\"\\x\"", "\"\\u12\"", "\"a\nb\"", "[] []", "'a'", "[NaNs]", "\"abc"})
    EXPECT_NE(parse_error(bad), "") << bad;
}

TEST(Json, DepthIsLimited) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(parse_error(nested(512)), "");
  EXPECT_NE(parse_error(nested(514)).find("at most 512 nested levels"), std::string::npos);
  EXPECT_NE(parse_error(std::string(1'000'000, '[')), "");
}

TEST(Json, TypeErrorsKnowTheirPath) {
  const Json json = parse_json(R"({"graph": {"nodes": [{"target": 5}]}})", "f");
  const Json& node = json.at("graph").at("nodes").array()[0];
  try {
    node.at("target").string();
    FAIL();
  } catch (const JsonTypeError& error) {
    EXPECT_EQ(json_path(json, error.where), "graph.nodes[0].target");
    EXPECT_EQ(error.message, "expected a string, found 5");
  }
  EXPECT_THROW(node.at("name"), JsonTypeError);
}

}  // namespace
}  // namespace strata
