// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Symbolic integers: sizes, strides, offsets, and the index expressions of loop IR.
///
/// A `SymInt` is a constant or a pointer to an interned polynomial owned by a `ShapeEnv`: constant + sum of coefficient
/// times product of atoms. An atom is a symbol, `floordiv(a, b)`, `mod(a, b)` (Python's: the sign of the divisor),
/// `min`, `max`, a size times a float made whole, or an opaque call. Interning makes structural equality pointer
/// equality, so `a == b` is cheap; it means "provably the same polynomial", and false means "not known to be equal".
/// Expressions are immutable; a ShapeEnv must outlive its expressions. Expressions of one environment may be built and
/// read by several threads; `ShapeEnv::info` may not be written meanwhile. Simplification uses the ranges known at that
/// moment: narrow a symbol's range before building on it, never widen it later. Overflow of int64 in building or
/// evaluating throws a user Error, and so does an expression that outgrows the limits below.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata {

class ShapeEnv;
struct SymExpr;  // interned polynomial, see sym_impl.h
struct SymAtom;
struct SymCore;  // what a ShapeEnv owns, see sym_impl.h

/// Inclusive bounds; `kSymMin`/`kSymMax` mean unbounded.
struct SymRange {
  int64_t min, max;
};
inline constexpr int64_t kSymMin = INT64_MIN, kSymMax = INT64_MAX;
/// Limits of one expression: nesting of calls, and size as a tree.
inline constexpr uint32_t kSymMaxDepth = 200, kSymMaxSize = 100'000;

class SymInt {
 public:
  SymInt() = default;
  SymInt(int64_t value) : value_(value) {}  // NOLINT: constants convert
  SymInt(int value) : value_(value) {}      // NOLINT

  bool is_const() const { return expr_ == nullptr; }
  /// The constant; throws an internal Error if symbolic.
  int64_t value() const;
  std::optional<int64_t> maybe_value() const { return expr_ ? std::nullopt : std::optional<int64_t>(value_); }
  const SymExpr* expr() const { return expr_; }
  ShapeEnv* env() const;

  /// sympy's spelling, which is also Python's: `2*s77 + 1`, `((s0//2))` is written `s0//2`, `Mod` as `a % b`.
  std::string str() const;

  friend bool operator==(const SymInt& a, const SymInt& b) { return a.expr_ == b.expr_ && a.value_ == b.value_; }

 private:
  friend class ShapeEnv;
  friend struct SymCore;
  const SymExpr* expr_ = nullptr;
  int64_t value_ = 0;
};

SymInt operator+(const SymInt& a, const SymInt& b);
SymInt operator-(const SymInt& a, const SymInt& b);
SymInt operator*(const SymInt& a, const SymInt& b);
/// Python's `//` and `%`. Division by the constant 0 throws a user Error. Simplified with ranges: `(8*i + j) // 8` is
/// `i` where `0 <= j < 8` is known.
SymInt floordiv(const SymInt& a, const SymInt& b);
SymInt mod(const SymInt& a, const SymInt& b);
SymInt min(const SymInt& a, const SymInt& b);
SymInt max(const SymInt& a, const SymInt& b);
/// -a.
SymInt operator-(const SymInt& a);
/// Smallest integer not below a / b.
SymInt ceildiv(const SymInt& a, const SymInt& b);
/// How a float becomes a whole number: Python's `int`, `math.floor`, `math.ceil`, `round` (half to even).
enum class SymRounding : uint8_t { Trunc, Floor, Ceil, Even };
/// `int(factor * size)` and the like, where the size becomes a float of 64 bits and the product is rounded to one, as
/// Python does it: `int(0.29 * 100)` is 28. Quotients in whole numbers where these are the same. Throws a user
/// Error for a factor that is no number, and for a constant result beyond 64 bits.
SymInt scaled(SymRounding rounding, double factor, const SymInt& size);

/// A symbol and what is known of it.
struct Symbol {
  std::string name;  ///< `s77`, `u0`, `i0`
  SymRange range{kSymMin, kSymMax};
  std::optional<SymInt> max_expr;  ///< symbolic inclusive upper bound (loop axes: extent - 1)
  std::optional<int64_t> hint;     ///< value in the example; none for data-dependent sizes
  std::string origin;              ///< where it came from: `x.size()[0]`
  bool traced_from_two = false;    ///< an exporter took it to be 2 or more, though `range` has less (`TracedSizes`)
};

/// Something that was assumed about sizes: printed by `explain`, checked before a run.
struct Assumption {
  std::string text;    ///< `s72 == 4`, `s70 <= 512`
  std::string reason;  ///< which rule needed it
  std::string where;   ///< source line
  /// The two sizes that must be equal; none where the assumption is known in words only. Where they are not, a kernel
  /// would reach beyond its operands: the interpreter and compiled programs check them as soon as they have values.
  std::optional<std::pair<SymInt, SymInt>> equal = {};
  /// The two sizes of which the first must be the second or more, likewise.
  std::optional<std::pair<SymInt, SymInt>> at_least = {};

  std::string broken() const { return reason + ": " + text + " does not hold"; }
};

/// A user Error for sizes that break a condition at `where` (or nowhere known).
[[noreturn]] void throw_broken(const std::string& what, int64_t left, int64_t right, const std::string& where);

/// Symbol id -> value, for evaluation. Index is the symbol's id.
using SymBindings = std::vector<std::optional<int64_t>>;

class ShapeEnv {
 public:
  ShapeEnv();
  ~ShapeEnv();
  ShapeEnv(const ShapeEnv&) = delete;
  ShapeEnv& operator=(const ShapeEnv&) = delete;

  /// A new symbol, or the existing one of that name (then `symbol` is ignored).
  SymInt symbol(const Symbol& symbol);
  std::optional<SymInt> find(std::string_view name);
  size_t symbol_count() const;
  const Symbol& info(size_t id) const;
  Symbol& info(size_t id);
  /// The id of an expression that is exactly one symbol.
  std::optional<size_t> symbol_id(const SymInt& a) const;
  /// Call of a function that has no rule here (`CeilToInt`, `Pow`, ...); compares structurally, cannot be evaluated.
  SymInt opaque(std::string_view name, const std::vector<SymInt>& args);
  /// From now on `opaque` gives `symbol` where it would give `call`: a run tells its value.
  void define(const SymInt& call, const SymInt& symbol);

  /// Once, however often it is made.
  void assume(Assumption assumption);
  const std::vector<Assumption>& assumptions() const;
  /// Drops all but the first `count`: what came of calls that were given up.
  void forget_assumptions_after(size_t count);

 private:
  std::unique_ptr<SymCore> core_;
};

/// Exporters take sizes to be this or more: 0 and 1 are constants to them.
inline constexpr int64_t kTracedFrom = 2;

/// A user Error for sizes that have values by now with which an assumption does not hold.
void require_assumptions(const ShapeEnv& env, const SymBindings& symbols);

/// While it lives, symbols that an exporter took to be 2 or more are: what follows from that (of `Max(1, s0)` that it
/// is `s0`) is so in the program's types. One thread at a time may have it for an environment.
class TracedSizes {
 public:
  explicit TracedSizes(ShapeEnv& env);
  ~TracedSizes();
  TracedSizes(const TracedSizes&) = delete;
  TracedSizes& operator=(const TracedSizes&) = delete;
  /// Whether there is no such symbol.
  bool none() const { return least_.empty(); }

 private:
  ShapeEnv& env_;
  std::vector<std::pair<size_t, int64_t>> least_;  ///< symbols and what they may be at least
};

/// Parses Python/sympy infix text (`2*s0 + Max(1, s1//2)`); unknown names become symbols, unknown calls opaque.
/// Throws a user Error with the column.
SymInt parse_sym(ShapeEnv& env, std::string_view text);
/// Parses sympy's `srepr` (`Mul(Integer(2), Symbol('s0', integer=True))`) as `.pt2` files have it.
SymInt parse_srepr(ShapeEnv& env, std::string_view text);

/// Value under bindings; nothing if a symbol is unbound or a part is opaque. Division by zero throws a user Error.
std::optional<int64_t> evaluate(const SymInt& a, const SymBindings& bindings);
/// Value with every symbol at its hint.
std::optional<int64_t> hint(const SymInt& a);
/// Conservative bounds, from the symbols' ranges.
SymRange range(const SymInt& a);
/// Provable facts; false means "not known".
bool known_eq(const SymInt& a, const SymInt& b);
bool known_ne(const SymInt& a, const SymInt& b);
bool known_lt(const SymInt& a, const SymInt& b);
bool known_le(const SymInt& a, const SymInt& b);
/// Whether two sizes, or all sizes of two shapes, are the same: provably, or by assumptions, which every run checks
/// first.
bool same_size(const SymInt& a, const SymInt& b);
bool same_sizes(const std::vector<SymInt>& a, const std::vector<SymInt>& b);

/// Ids of all symbols in `a`, ascending, unique.
std::vector<size_t> free_symbols(const SymInt& a);
/// Whether all of it can be computed: no part is a call that has no rule here.
bool is_computable(const SymInt& a);
/// Numerator and denominator of a factor of a size, where the float product with any size up to 2^33 is exact; else
/// nothing.
std::optional<std::pair<int64_t, int64_t>> short_fraction(double factor);
/// Replaces symbols; the function returns nothing to keep one.
SymInt substitute(const SymInt& a, const std::function<std::optional<SymInt>(size_t)>& replacement);
/// The polynomial split by one symbol: `a == coefficient * symbol + rest`, if it is linear in it (the symbol not inside
/// an atom).
struct Linear {
  SymInt coefficient, rest;
};
std::optional<Linear> linear_in(const SymInt& a, size_t symbol);

/// Read access to the structure of an expression, for printers and code generators.
enum class SymAtomKind : uint8_t { Symbol, FloorDiv, Mod, Min, Max, Scaled, Opaque };
struct SymAtomView {
  SymAtomKind kind;
  size_t symbol = 0;         ///< Symbol
  std::vector<SymInt> args;  ///< others
  std::string name;          ///< Opaque
  double factor = 0;         ///< Scaled
  SymRounding rounding = SymRounding::Trunc;
};
struct SymTerm {
  int64_t coefficient;
  std::vector<SymAtomView> factors;  ///< product; empty for the constant term
};
/// The sum of terms that `a` is (a constant gives one term without factors; zero gives none).
std::vector<SymTerm> terms(const SymInt& a);

}  // namespace strata

template <>
struct std::hash<strata::SymInt> {
  size_t operator()(const strata::SymInt& a) const noexcept {
    return a.expr() ? std::hash<const void*>()(a.expr()) : std::hash<int64_t>()(*a.maybe_value());
  }
};
