// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/sym.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

struct Sym : ::testing::Test {
  ShapeEnv env;
  SymInt size(const char* name, int64_t min = 1, int64_t max = kSymMax) {
    Symbol s;
    s.name = name;
    s.range = {min, max};
    return env.symbol(s);
  }
  SymInt axis(const char* name, const SymInt& extent) {
    Symbol s;
    s.name = name;
    s.range = {0, extent.is_const() ? extent.value() - 1 : kSymMax};
    s.max_expr = extent - SymInt(1);
    return env.symbol(s);
  }
  SymInt parse(const char* text) { return parse_sym(env, text); }
};

TEST_F(Sym, ConstantsNeedNoEnvironment) {
  EXPECT_EQ((SymInt(3) + SymInt(4)).value(), 7);
  EXPECT_EQ(floordiv(-7, 2).value(), -4);
  EXPECT_EQ(mod(-7, 2).value(), 1);
  EXPECT_EQ(floordiv(7, -2).value(), -4);
  EXPECT_EQ(mod(7, -2).value(), -1);
  EXPECT_EQ(min(3, 4).value(), 3);
  EXPECT_EQ(max(3, 4).value(), 4);
  EXPECT_EQ(ceildiv(7, 2).value(), 4);
}

TEST_F(Sym, EqualPolynomialsAreTheSameValue) {
  SymInt a = size("s0"), b = size("s1");
  EXPECT_EQ((a + b) * (a + b), a * a + SymInt(2) * a * b + b * b);
  EXPECT_EQ(a + b - a, b);
  EXPECT_EQ(a - a, SymInt(0));
  EXPECT_TRUE((a - a).is_const());
  EXPECT_FALSE(a == b);
}

TEST_F(Sym, IndexOfSplitAxisFolds) {
  SymInt i = axis("i0", 100), j = axis("i1", 8), k = axis("i2", 4);
  SymInt linear = SymInt(8) * i + j;
  EXPECT_EQ(floordiv(linear, 8), i);
  EXPECT_EQ(mod(linear, 8), j);
  EXPECT_EQ(floordiv(SymInt(32) * i + SymInt(4) * j + k, 4), SymInt(8) * i + j);
  EXPECT_EQ(floordiv(SymInt(32) * i + SymInt(4) * j + k, 16), SymInt(2) * i + floordiv(j, 4));
  EXPECT_EQ(mod(SymInt(32) * i + SymInt(4) * j + k, 16), SymInt(4) * mod(j, 4) + k);
}

TEST_F(Sym, SplitAxisOutOfBoundsStays) {
  SymInt i = axis("i0", 100), j = axis("i1", 9);
  EXPECT_EQ(floordiv(SymInt(8) * i + j, 8), i + floordiv(j, 8));
  EXPECT_FALSE(floordiv(SymInt(8) * i + j, 8) == i);
}

TEST_F(Sym, SymbolicDivisorFoldsThroughTheAxisBound) {
  SymInt n = size("s0"), m = size("s1"), i = axis("i0", m), j = axis("i1", n);
  EXPECT_EQ(floordiv(i * n + j, n), i);
  EXPECT_EQ(mod(i * n + j, n), j);
  SymInt k = axis("i2", 4);
  SymInt linear = i * n * SymInt(4) + j * SymInt(4) + k;
  EXPECT_EQ(floordiv(linear, SymInt(4) * n), i);
  EXPECT_EQ(mod(linear, SymInt(4) * n), SymInt(4) * j + k);
  EXPECT_EQ(floordiv(mod(linear, SymInt(4) * n), 4), j);
}

TEST_F(Sym, SumAsDivisorFolds) {
  SymInt n = size("s0"), i = axis("i0", size("s1")), j = axis("i1", n + SymInt(1));
  EXPECT_EQ(floordiv(i * (n + SymInt(1)) + j, n + SymInt(1)), i);
  EXPECT_EQ(mod(i * (n + SymInt(1)) + j, n + SymInt(1)), j);
}

TEST_F(Sym, NestedDivisions) {
  SymInt a = size("s0"), b = size("s1"), c = size("s2");
  EXPECT_EQ(floordiv(floordiv(a, 4), 8), floordiv(a, 32));
  EXPECT_EQ(floordiv(floordiv(a, b), c), floordiv(a, b * c));
  EXPECT_EQ(mod(mod(a, b), b), mod(a, b));
  EXPECT_EQ(mod(mod(a, 16), 8), mod(a, 8));
  EXPECT_EQ(floordiv(mod(a, 64), 8), mod(floordiv(a, 8), 8));
  EXPECT_EQ(floordiv(a * b, b), a);
  EXPECT_EQ(floordiv(SymInt(6) * a, SymInt(4) * a * b), floordiv(3, SymInt(2) * b));
  EXPECT_EQ(floordiv(a - SymInt(1), 2) + SymInt(1), floordiv(a + SymInt(1), 2));
}

TEST_F(Sym, QuotientAndRemainderJoin) {
  SymInt a = size("s0"), n = size("s1");
  EXPECT_EQ(SymInt(8) * floordiv(a, 8) + mod(a, 8), a);
  EXPECT_EQ(n * floordiv(a, n) + mod(a, n), a);
  EXPECT_EQ(SymInt(24) * floordiv(a, 8) + SymInt(3) * mod(a, 8) + SymInt(5), SymInt(3) * a + SymInt(5));
  EXPECT_EQ(SymInt(8) * mod(floordiv(a, 8), 4) + mod(a, 8), mod(a, 32));
  EXPECT_FALSE(SymInt(7) * floordiv(a, 8) + mod(a, 8) == a);
}

TEST_F(Sym, MinMaxFoldWhereRangesDecide) {
  SymInt a = size("s0", 4, 8), b = size("s1", 8, 20), c = size("s2", 1, 100);
  EXPECT_EQ(min(a, b), a);
  EXPECT_EQ(max(a, b), b);
  EXPECT_EQ(min(c, c + SymInt(1)), c);
  EXPECT_EQ(min(a, c), min(c, a));
  EXPECT_EQ(min(min(a, c), a), min(a, c));
  EXPECT_EQ(min(min(a, c), 3), min(c, 3));
  EXPECT_EQ(max(1, c), c);
}

TEST_F(Sym, RangesAndProofs) {
  SymInt a = size("s0", 2, 10), b = size("s1", 3);
  SymRange r = range(SymInt(3) * a - SymInt(1));
  EXPECT_EQ(r.min, 5);
  EXPECT_EQ(r.max, 29);
  EXPECT_EQ(range(floordiv(b, 2)).min, 1);
  EXPECT_EQ(range(floordiv(b, 2)).max, kSymMax);
  EXPECT_EQ(range(mod(b, a)).max, 9);
  EXPECT_TRUE(known_le(b, a * b));
  EXPECT_TRUE(known_lt(b, a * b));
  EXPECT_FALSE(known_lt(a, b));
  EXPECT_TRUE(known_ne(a, 11));
  EXPECT_FALSE(known_ne(a, 10));
  EXPECT_TRUE(known_le(floordiv(b, 8) * SymInt(8), b));
  EXPECT_FALSE(known_lt(floordiv(b, 8) * SymInt(8), b));
  SymInt i = axis("i0", b), j = axis("i1", a);
  EXPECT_TRUE(known_lt(i * a + j, a * b));
  EXPECT_FALSE(known_lt(i * a + j + SymInt(1), a * b));
}

TEST_F(Sym, NarrowedRangeIsSeen) {
  SymInt a = size("s0");
  SymInt folded = floordiv(a, 100);
  EXPECT_FALSE(folded.is_const());
  env.info(*env.symbol_id(a)).range.max = 99;
  EXPECT_EQ(floordiv(a, 100), SymInt(0));
  EXPECT_EQ(range(a).max, 99);
}

TEST_F(Sym, PrintsAsSympyDoes) {
  EXPECT_EQ(parse("1 + s77*2").str(), "2*s77 + 1");
  EXPECT_EQ(parse("((s0//2))").str(), "s0//2");
  EXPECT_EQ(parse("2*(s0//2) - 3").str(), "2*(s0//2) - 3");
  EXPECT_EQ(parse("-(s0 // 3)").str(), "-(s0//3)");
  EXPECT_EQ(parse("s1*s0 + s0**2 + 3").str(), "s0**2 + s0*s1 + 3");
  EXPECT_EQ(parse("Mod(s0, s1)").str(), "s0 % s1");
  EXPECT_EQ(parse("Max(s0, 1) * Min(s1, s0 + 1)").str(), "Max(1, s0)*Min(s0 + 1, s1)");
  EXPECT_EQ(parse("CeilToInt(IntTrueDiv(s0, s1))").str(), "CeilToInt(IntTrueDiv(s0, s1))");
  EXPECT_EQ(parse("-s0").str(), "-s0");
  EXPECT_EQ(parse("-9223372036854775808").str(), "-9223372036854775808");
  EXPECT_EQ(parse("0.5*s0").str(), "0.5*s0");
  EXPECT_EQ(parse("int_oo").str(), "int_oo");
  EXPECT_EQ(parse("99999999999999999999").str(), "99999999999999999999");
}

TEST(SymText, FloatsOfSizesBecomeWholeNumbersWhereTheyAreExact) {
  ShapeEnv env;
  for (const char* name : {"s0", "s1"}) {
    Symbol symbol;
    symbol.name = name;
    symbol.range = {0, kSymMax};
    env.symbol(symbol);
  }
  const auto parse = [&](std::string_view text) { return parse_sym(env, text); };
  EXPECT_EQ(parse("CeilToInt(IntTrueDiv(s0, 3))").str(), "(s0 + 2)//3");
  EXPECT_EQ(parse("FloorToInt(IntTrueDiv(s0, 3))").str(), "s0//3");
  EXPECT_EQ(parse("TruncToInt(1.5*ToFloat(s0))").str(), "(3*s0)//2");
  EXPECT_EQ(parse("TruncToInt(0.25*ToFloat(s0 + 3))").str(), "(s0 + 3)//4");
  EXPECT_EQ(parse("TruncToInt(2.0*ToFloat(s0))").str(), "2*s0");
  EXPECT_EQ(parse("CeilToInt(ToFloat(s0 - 9))").str(), "s0 - 9");
  EXPECT_EQ(parse("CeilToInt(FloatTrueDiv(ToFloat(s0), 2.0))").str(), "(s0 + 1)//2");
  EXPECT_EQ(parse("CeilToInt(FloatTrueDiv(ToFloat(-2*s0), -1.0))").str(), "2*s0");
  EXPECT_EQ(parse("FloorToInt(FloatTrueDiv(-1*ToFloat(s0), -4.0))").str(), "s0//4");
  EXPECT_EQ(parse("CeilToInt(FloatTrueDiv(ToFloat(s0 + 1) - 0.5, 1.0))").str(), "s0 + 1");
  EXPECT_EQ(parse("CeilToInt(ToFloat(s0) + 0.25)").str(), "s0 + 1");
  EXPECT_EQ(parse("FloorToInt(FloatTrueDiv(ToFloat(s0) + 0.5, 1.5))").str(), "(2*s0 + 1)//3");
  EXPECT_EQ(parse("CeilToInt(FloatTrueDiv(ToFloat(s0 - 9), 2.0))").str(), "s0//2 - 4");
  EXPECT_EQ(parse("CeilToInt(FloatTrueDiv(-0.5 + ToFloat(s0//16), 1.0))").str(), "s0//16");
  // Products that a float rounds are computed as they are.
  for (const char* text : {"TruncToInt(1.1*ToFloat(s0))", "TruncToInt(1.5*ToFloat(s0 - 9))",
                           "FloorToInt(-0.3*ToFloat(s0))", "RoundToInt(0.5*ToFloat(s0))"}) {
    EXPECT_EQ(parse(text).str(), text);
    EXPECT_TRUE(is_computable(parse(text)));
  }
  // So are no others.
  for (const char* text :
       {"TruncToInt(1.5*IntTrueDiv(s0, 3))", "TruncToInt(1.5*ToFloat(s0) + 1)", "TruncToInt(0.5*1.5*ToFloat(s0))",
        "CeilToInt(IntTrueDiv(s0, s1))", "TruncToInt(FloatTrueDiv(ToFloat(s0 - 9), 2.0))",
        "CeilToInt(FloatTrueDiv(ToFloat(s0), 1.1))", "CeilToInt(FloatTrueDiv(ToFloat(s0), ToFloat(s1)))",
        "CeilToInt(0.5*FloatTrueDiv(ToFloat(s0), 2.0))"}) {
    EXPECT_THAT(parse(text).str(), ::testing::HasSubstr("ToInt(")) << text;
    EXPECT_FALSE(is_computable(parse(text) * parse("s1") + 1)) << text;
  }
  EXPECT_TRUE(is_computable(parse("Max(1, s0*s1//2) % 3")));
}

TEST_F(Sym, AssumptionsAreCheckedAsSoonAsTheirSizesAreKnown) {
  const SymInt s0 = parse("s0"), s1 = parse("s1");
  Assumption fits{"s0 - 3 >= s1", "a window", "m.py:7"};
  fits.at_least = std::pair(s0 - 3, s1);
  env.assume(fits);
  SymBindings values(env.symbol_count());
  const auto bind = [&](const SymInt& symbol, int64_t value) { values[*env.symbol_id(symbol)] = value; };
  bind(s0, 5);
  EXPECT_NO_THROW(require_assumptions(env, values));  // s1 may still be anything
  bind(s1, 2);
  EXPECT_NO_THROW(require_assumptions(env, values));
  bind(s1, 3);
  try {
    require_assumptions(env, values);
    ADD_FAILURE() << "2 is not at least 3";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User);
    EXPECT_STREQ(e.what(), "a window: s0 - 3 >= s1 does not hold (found 2 and 3), in m.py:7");
  }
}

TEST_F(Sym, SizesAreTheSameByAssumptions) {
  const SymInt half = parse("s0//2"), other = parse("s1 + 3");
  EXPECT_FALSE(same_size(half, 5));
  env.assume({"s0//2 == 5", "a test", "", std::pair(half, SymInt(5))});
  EXPECT_TRUE(same_size(half, 5));
  EXPECT_TRUE(same_size(5, half));
  EXPECT_FALSE(same_size(half, 6));
  EXPECT_FALSE(same_size(parse("s0"), 10));  // it may be 11
  EXPECT_FALSE(same_size(half, other));
  env.assume({"s1 + 3 == s0//2", "a test", "", std::pair(other, half)});
  EXPECT_TRUE(same_size(other, 5));
  EXPECT_TRUE(same_sizes({half, 7, other}, {other, 7, 5}));
  EXPECT_FALSE(same_sizes({half, 7}, {5}));
  EXPECT_FALSE(same_sizes({half, 7}, {5, 8}));
  env.forget_assumptions_after(1);
  EXPECT_TRUE(same_size(half, 5));
  EXPECT_FALSE(same_size(other, 5));
}

TEST_F(Sym, SymbolsStandForCalls) {
  const SymInt call = parse("TruncToInt(sqrt(ToFloat(s0)))"), before = call * 2 + 1;
  const SymInt symbol = env.symbol({"f0", {0, kSymMax}, std::nullopt, 7, "s0"});
  env.define(call, symbol);
  EXPECT_EQ(parse("TruncToInt(sqrt(ToFloat(s0)))"), symbol);
  EXPECT_EQ(parse("2*TruncToInt(sqrt(ToFloat(s0))) + 1").str(), "2*f0 + 1");
  EXPECT_TRUE(is_computable(parse("TruncToInt(sqrt(ToFloat(s0)))//3")));
  EXPECT_FALSE(is_computable(before));  // what was made before stays as it is
  EXPECT_FALSE(is_computable(parse("TruncToInt(sqrt(ToFloat(s1)))")));
}

TEST_F(Sym, SizesTimesFloatsAreRoundedAsPythonDoes) {
  const SymInt s0 = env.symbol({"s0", {2, 1000}, std::nullopt, 10, "x"});
  // 0.29 * 100 is less than 29, 0.07 * 100 more than 7.
  const auto at = [&](const SymInt& e, int64_t n) { return *evaluate(e, {n}); };
  EXPECT_EQ(at(scaled(SymRounding::Trunc, 0.29, s0), 100), 28);
  EXPECT_EQ(at(scaled(SymRounding::Floor, -0.29, s0), 100), -29);
  EXPECT_EQ(at(scaled(SymRounding::Ceil, 0.07, s0), 100), 8);
  EXPECT_EQ(at(scaled(SymRounding::Even, 0.5, s0), 5), 2);
  EXPECT_EQ(at(scaled(SymRounding::Even, 0.5, s0), 7), 4);
  for (const SymRounding rounding : {SymRounding::Trunc, SymRounding::Floor, SymRounding::Ceil, SymRounding::Even})
    for (const double factor : {0.29, 0.1 + 0.2, 1.0 / 3, -0.7, 1e-9, 0.333333333333333, 1.00000000000002, 123456.789,
                                -2.0, 5.0, 123456789.0}) {
      const SymInt e = scaled(rounding, factor, s0 * 3 - 1);
      EXPECT_EQ(parse_sym(env, e.str()), e) << e.str();  // a text tells all of a factor
      const SymRange bounds = range(e);
      for (int64_t n : {2, 3, 10, 100, 999, 1000}) {
        EXPECT_LE(bounds.min, at(e, n)) << e.str();
        EXPECT_GE(bounds.max, at(e, n)) << e.str();
        EXPECT_EQ(at(e, n), scaled(rounding, factor, n * 3 - 1).value()) << e.str();
        EXPECT_EQ(substitute(e, [&](size_t) { return SymInt(n); }).value(), at(e, n)) << e.str();
      }
      EXPECT_LE(bounds.max - bounds.min, std::abs(factor) * 3000 + 2) << e.str();
    }
  EXPECT_EQ(scaled(SymRounding::Ceil, 1.5, s0), floordiv(s0 * 3 + 1, 2));
  EXPECT_EQ(scaled(SymRounding::Even, 3, s0 - 9), s0 * 3 - 27);
  EXPECT_EQ(scaled(SymRounding::Trunc, 0, s0), SymInt(0));
  EXPECT_FALSE(scaled(SymRounding::Trunc, 0.29, s0) == scaled(SymRounding::Ceil, 0.29, s0));
  EXPECT_FALSE(scaled(SymRounding::Trunc, 0.29, s0) == scaled(SymRounding::Trunc, 0.3, s0));
  EXPECT_THROW(scaled(SymRounding::Trunc, HUGE_VAL, s0), Error);
  EXPECT_THROW(at(scaled(SymRounding::Trunc, 1e17, s0), 1000), Error);
  // As many digits as sympy prints may not be all: 1 / 3 times 3 is 1, 0.333333333333333 times 3 is not.
  EXPECT_FALSE(is_computable(parse("TruncToInt(0.333333333333333*ToFloat(s0))")));
  EXPECT_EQ(parse_srepr(env, "TruncToInt(Mul(Float('0.33333333333333331', precision=53), ToFloat(Symbol('s0'))))"),
            scaled(SymRounding::Trunc, 1.0 / 3, s0));
}

TEST_F(Sym, ReadsSrepr) {
  EXPECT_EQ(parse_srepr(env, "Mul(Integer(2), Symbol('s0', positive=True, integer=True))").str(), "2*s0");
  EXPECT_EQ(range(*env.find("s0")).min, 1);
  EXPECT_EQ(parse_srepr(env, "Add(FloorDiv(Symbol('s0', integer=True), Integer(2)), Integer(-1))").str(), "s0//2 - 1");
  EXPECT_EQ(parse_srepr(env, "Pow(Symbol(\"s0\"), Integer(2))").str(), "s0**2");
  EXPECT_EQ(parse_srepr(env, "Mul(Rational(1, 2), Symbol('s0'))").str(), "Rational(1, 2)*s0");
  EXPECT_EQ(parse_srepr(env, "Float('0.5', precision=53)").str(), "0.5");
  EXPECT_EQ(parse_srepr(env, "ModularIndexing(Symbol('s0'), Integer(4), Integer(8))").str(), "(s0//4) % 8");
  EXPECT_EQ(parse_srepr(env, "Equality(Symbol('s0'), Integer(4))").str(), "Equality(s0, 4)");
  EXPECT_EQ(parse_srepr(env, "Max(Integer(1), Symbol('s1'))").str(), "Max(1, s1)");
  EXPECT_EQ(parse_srepr(env, "IntInfinity()").str(), "int_oo");
  EXPECT_EQ(parse_srepr(env, "Integer(7)").value(), 7);
}

TEST_F(Sym, WrongTextSaysWhere) {
  EXPECT_EQ(testing::error_text([&] { parse("2*"); }),
            "size expression, column 3: expected a number, a name or '(', found the end");
  EXPECT_EQ(testing::error_text([&] { parse("s0 + )"); }),
            "size expression, column 6: expected a number, a name or '(', found ')'");
  EXPECT_THAT(testing::error_text([&] { parse("s0 s1"); }),
              HasSubstr("column 4: expected an operator or the end, found 's1'"));
  EXPECT_THAT(testing::error_text([&] { parse("s0//0"); }), HasSubstr("division by zero"));
  EXPECT_THAT(testing::error_text([&] { parse("Mod(s0)"); }), HasSubstr("expected 2, found 1"));
  EXPECT_THAT(testing::error_text([&] { parse_srepr(env, "Symbol(s0)"); }),
              HasSubstr("expected the symbol's name in quotes"));
  EXPECT_THAT(testing::error_text([&] { parse("9223372036854775807 + 1"); }), HasSubstr("overflows 64 bits"));
}

TEST_F(Sym, DeepAndHugeInputIsRefused) {
  EXPECT_THAT(testing::error_text([&] { parse_sym(env, std::string(100000, '(')); }), HasSubstr("levels of nesting"));
  EXPECT_THAT(testing::error_text([&] { parse_sym(env, std::string(100000, '-') + "1"); }),
              HasSubstr("levels of nesting"));
  std::string nested;
  for (int i = 0; i < 50000; ++i) nested += "Integer(";
  EXPECT_THAT(testing::error_text([&] { parse_srepr(env, nested); }), HasSubstr("levels of nesting"));
  SymInt x = size("s0");
  EXPECT_NE(testing::error_text([&] {
              for (int i = 0; i < 100000; ++i) x = floordiv(x + SymInt(1), 3) + mod(x, 5);
            }),
            "");
  EXPECT_NE(testing::error_text([&] { parse("(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9)**60"); }), "");
}

TEST_F(Sym, TwoEnvironmentsDoNotMix) {
  ShapeEnv other;
  SymInt a = size("s0"), b = parse_sym(other, "s0");
  EXPECT_FALSE(a == b);
  EXPECT_THROW(a + b, Error);
}

TEST_F(Sym, StructureIsReadable) {
  SymInt e = parse("3*s0*s1 + s0//4 - 2");
  std::vector<SymTerm> parts = terms(e);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts.back().coefficient, -2);
  EXPECT_TRUE(parts.back().factors.empty());
  std::optional<Linear> in_s1 = linear_in(e, *env.symbol_id(parse("s1")));
  ASSERT_TRUE(in_s1);
  EXPECT_EQ(in_s1->coefficient, parse("3*s0"));
  EXPECT_EQ(in_s1->rest, parse("s0//4 - 2"));
  EXPECT_FALSE(linear_in(e, *env.symbol_id(parse("s0"))));
  EXPECT_EQ(free_symbols(e).size(), 2u);
  SymInt replaced = substitute(e, [&](size_t id) -> std::optional<SymInt> {
    return env.info(id).name == "s0" ? std::optional<SymInt>(8) : std::nullopt;
  });
  EXPECT_EQ(replaced.str(), "24*s1");
}

TEST_F(Sym, HintsAndBindings) {
  SymInt a = size("s0");
  env.info(*env.symbol_id(a)).hint = 10;
  EXPECT_EQ(hint(a * a + SymInt(1)), 101);
  EXPECT_EQ(hint(a + parse("u0")), std::nullopt);
  EXPECT_EQ(evaluate(floordiv(a, 3), {7}), 2);
  EXPECT_EQ(evaluate(a + env.opaque("f", {a}), {7}), std::nullopt);
  EXPECT_THROW(evaluate(a * a * a, {INT64_MAX / 2}), Error);
}

}  // namespace
}  // namespace strata
