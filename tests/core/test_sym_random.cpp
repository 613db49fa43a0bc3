// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Random expressions: what the rules make of them has the value that the operations have one by one, and survives
/// text.

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "core/ir/sym.h"
#include "core/support/error.h"

namespace strata {
namespace {

/// The expression as written, without any rule.
struct Tree {
  char op = 'c';  // c constant, s symbol, + - * / % m M
  int64_t constant = 0;
  size_t symbol = 0;
  std::unique_ptr<Tree> a, b;
};

int64_t floored(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<int64_t> value(const Tree& t, const std::vector<int64_t>& symbols) {
  if (t.op == 'c') return t.constant;
  if (t.op == 's') return symbols[t.symbol];
  std::optional<int64_t> a = value(*t.a, symbols), b = value(*t.b, symbols);
  if (!a || !b || ((t.op == '/' || t.op == '%') && *b == 0)) return std::nullopt;
  switch (t.op) {
    case '+':
      return *a + *b;
    case '-':
      return *a - *b;
    case '*':
      return *a * *b;
    case '/':
      return floored(*a, *b);
    case '%':
      return *a - *b * floored(*a, *b);
    case 'm':
      return std::min(*a, *b);
    default:
      return std::max(*a, *b);
  }
}

SymInt build(const Tree& t, const std::vector<SymInt>& symbols) {
  if (t.op == 'c') return t.constant;
  if (t.op == 's') return symbols[t.symbol];
  SymInt a = build(*t.a, symbols), b = build(*t.b, symbols);
  switch (t.op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return floordiv(a, b);
    case '%':
      return mod(a, b);
    case 'm':
      return min(a, b);
    default:
      return max(a, b);
  }
}

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  std::unique_ptr<Tree> tree(int depth, size_t symbols) {
    auto t = std::make_unique<Tree>();
    if (depth == 0 || pick(0, 6) == 0) {
      t->op = pick(0, 2) == 0 ? 'c' : 's';
      static constexpr int64_t constants[] = {1, 2, 3, 4, 8, 16, 5, 6, -1, -2, -4, 7, 32, 0};
      t->constant = constants[pick(0, 13)];
      t->symbol = static_cast<size_t>(pick(0, static_cast<int64_t>(symbols) - 1));
      return t;
    }
    t->op = "++-**//%%/%mM"[pick(0, 12)];
    t->a = tree(depth - 1, symbols);
    t->b = tree((t->op == '/' || t->op == '%') && pick(0, 2) ? 0 : depth - 1, symbols);
    return t;
  }

 private:
  std::mt19937 random_;
};

struct World {
  ShapeEnv env;
  std::vector<SymInt> symbols;

  /// Two sizes, two axes bounded by them, one bounded by a constant, one that may be negative.
  World() {
    auto add = [&](const char* name, SymRange range, std::optional<SymInt> bound) {
      Symbol s;
      s.name = name;
      s.range = range;
      s.max_expr = bound;
      symbols.push_back(env.symbol(s));
    };
    add("s0", {1, kSymMax}, {});
    add("s1", {2, 12}, {});
    add("i0", {0, kSymMax}, symbols[0] - SymInt(1));
    add("i1", {0, kSymMax}, symbols[1] - SymInt(1));
    add("i2", {0, 7}, {});
    add("u0", {-9, 9}, {});
  }

  static std::vector<int64_t> values(Generator& g) {
    int64_t s0 = g.pick(1, 20), s1 = g.pick(2, 12);
    return {s0, s1, g.pick(0, s0 - 1), g.pick(0, s1 - 1), g.pick(0, 7), g.pick(-9, 9)};
  }
};

TEST(SymRandom, SimplificationKeepsTheValueAndTheText) {
  std::random_device device;
  const uint32_t seed = device();
  int compared = 0;
  for (uint32_t round = 0; round < 400; ++round) {
    Generator g(seed + round);
    World world;
    for (int n = 0; n < 25; ++n) {
      std::unique_ptr<Tree> tree = g.tree(static_cast<int>(g.pick(1, 4)), world.symbols.size());
      SymInt built;
      try {
        built = build(*tree, world.symbols);
      } catch (const Error&) {
        continue;  // division by the constant zero, or too large
      }
      EXPECT_EQ(parse_sym(world.env, built.str()), built)
          << built.str() << " read back is " << parse_sym(world.env, built.str()).str() << ", seed " << seed + round;
      SymRange bounds = range(built);
      for (int sample = 0; sample < 8; ++sample) {
        std::vector<int64_t> values = World::values(g);
        std::optional<int64_t> expected = value(*tree, values);
        if (!expected) continue;
        SymBindings bindings(values.begin(), values.end());
        std::optional<int64_t> found;
        try {
          found = evaluate(built, bindings);
        } catch (const Error&) {
          continue;  // a zero divisor elsewhere in the expression
        }
        ASSERT_EQ(found, expected) << built.str() << ", seed " << seed + round;
        ASSERT_LE(bounds.min, *expected) << built.str() << ", seed " << seed + round;
        ASSERT_GE(bounds.max, *expected) << built.str() << ", seed " << seed + round;
        ++compared;
      }
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(compared, 10000);
}

TEST(SymRandom, ProofsHold) {
  std::random_device device;
  const uint32_t seed = device();
  int proofs = 0;
  for (uint32_t round = 0; round < 300; ++round) {
    Generator g(seed + round);
    World world;
    auto first = g.tree(3, world.symbols.size()), second = g.tree(3, world.symbols.size());
    SymInt a, b;
    try {
      a = build(*first, world.symbols);
      b = build(*second, world.symbols);
    } catch (const Error&) {
      continue;
    }
    const bool less = known_lt(a, b), less_equal = known_le(a, b), equal = known_eq(a, b), different = known_ne(a, b);
    proofs += less + less_equal + equal + different;
    for (int sample = 0; sample < 30; ++sample) {
      std::vector<int64_t> values = World::values(g);
      std::optional<int64_t> x = value(*first, values), y = value(*second, values);
      if (!x || !y) continue;
      EXPECT_TRUE(!less || *x < *y) << a.str() << " < " << b.str() << ", seed " << seed + round;
      EXPECT_TRUE(!less_equal || *x <= *y) << a.str() << " <= " << b.str() << ", seed " << seed + round;
      EXPECT_TRUE(!equal || *x == *y) << a.str() << " == " << b.str() << ", seed " << seed + round;
      EXPECT_TRUE(!different || *x != *y) << a.str() << " != " << b.str() << ", seed " << seed + round;
    }
  }
  EXPECT_GT(proofs, 10);
}

}  // namespace
}  // namespace strata
