// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inside of the symbolic integers; only `sym*.cpp` include this.
///
/// Three levels are interned: an atom (symbol or call), a product (sorted atoms, a power is a repeated atom) and an
/// expression (constant + sorted products with coefficients). Every builder goes through `SymCore::make`, so equal
/// polynomials are the same pointer. A rule of `sym_divide.cpp` either rewrites and starts over, or leaves the operands
/// as they are: that makes simplification idempotent, which the round trip through text relies on.

#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/sym.h"

namespace strata {

struct SymAtom {
  SymAtomKind kind;
  size_t symbol = 0;
  std::string name;
  std::vector<SymInt> args;
  double factor = 0;  // Scaled, as is the next
  SymRounding rounding = SymRounding::Trunc;
  size_t hash = 0;
  uint32_t id = 0, depth = 0, size = 1;
};

struct SymProduct {
  std::vector<const SymAtom*> factors;  // by id, repeated for powers
  size_t hash = 0;
  uint32_t id = 0, depth = 0, size = 0;
};

struct SymMonomial {
  const SymProduct* product;  // null: the constant one (only where a single monomial is handled)
  int64_t coefficient;
};

struct SymExpr {
  SymCore* core = nullptr;
  int64_t constant = 0;
  std::vector<SymMonomial> terms;  // by product id, no zero coefficient, not empty
  size_t hash = 0;
  uint32_t id = 0, depth = 0, size = 0;
  SymRange range{kSymMin, kSymMax};  // guarded by the core's mutex, as is the epoch
  uint64_t range_epoch = 0;
};

/// A polynomial that is not interned yet.
struct SymPoly {
  int64_t constant = 0;
  std::vector<SymMonomial> terms;  // by product id
};

template <class T>
struct SymPointerHash {
  size_t operator()(const T* p) const { return p->hash; }
};
struct SymAtomEqual {
  bool operator()(const SymAtom* a, const SymAtom* b) const {
    return a->kind == b->kind && a->symbol == b->symbol && a->name == b->name && a->args == b->args &&
           a->factor == b->factor && a->rounding == b->rounding;
  }
};
struct SymProductEqual {
  bool operator()(const SymProduct* a, const SymProduct* b) const { return a->factors == b->factors; }
};
struct SymExprEqual {
  bool operator()(const SymExpr* a, const SymExpr* b) const;
};
struct SymStringHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

/// What a ShapeEnv owns. All public functions lock `mutex` (recursive: the rules call each other).
struct SymCore {
  explicit SymCore(ShapeEnv* env) : env(env) {}

  ShapeEnv* env;
  mutable std::recursive_mutex mutex;
  std::deque<Symbol> symbols;
  std::vector<SymInt> symbol_values;
  std::unordered_map<std::string, size_t, SymStringHash, std::equal_to<>> symbol_ids;
  std::vector<Assumption> assumptions;
  std::unordered_map<SymInt, SymInt> defined;  ///< calls that symbols stand for

  std::deque<SymAtom> atoms;
  std::deque<SymProduct> products;
  std::deque<SymExpr> exprs;
  std::unordered_set<const SymAtom*, SymPointerHash<SymAtom>, SymAtomEqual> atom_set;
  std::unordered_set<const SymProduct*, SymPointerHash<SymProduct>, SymProductEqual> product_set;
  std::unordered_set<const SymExpr*, SymPointerHash<SymExpr>, SymExprEqual> expr_set;

  // Symbols that were handed out for writing, with what was known when the caches below were filled.
  std::vector<std::pair<size_t, Symbol>> watched;
  uint64_t epoch = 1;
  struct PairKey {
    SymInt a, b;
    bool operator==(const PairKey&) const = default;
  };
  struct PairHash {
    size_t operator()(const PairKey& k) const {
      return std::hash<SymInt>()(k.a) * 0x9e3779b97f4a7c15u + std::hash<SymInt>()(k.b);
    }
  };
  std::unordered_map<PairKey, SymInt, PairHash> floordiv_cache, mod_cache;

  /// Rules that call each other: counts how deep, and throws a user Error before the stack is in danger.
  int nesting = 0;
  struct Nesting {
    explicit Nesting(SymCore& core);
    ~Nesting() { --core.nesting; }
    SymCore& core;
  };

  /// Drops caches if a watched symbol's range has changed.
  void refresh();

  // Interning.
  const SymAtom* atom(SymAtom probe);
  /// Computes the probe's hash and looks it up.
  const SymAtom* find_atom(SymAtom& probe) const;
  const SymProduct* product(std::vector<const SymAtom*> factors);
  SymInt make(SymPoly poly);
  SymInt from_atom(SymAtomKind kind, std::string name, std::vector<SymInt> args);
  SymInt from_monomial(SymMonomial m);
  static SymInt wrap(const SymExpr* e) {
    SymInt r;
    r.expr_ = e;
    return r;
  }

  // Polynomials.
  void add_scaled(SymPoly& to, const SymInt& what, int64_t factor);
  void add_monomial(SymPoly& to, const SymProduct* product, int64_t coefficient);
  SymPoly multiply(const SymInt& a, const SymInt& b);
  const SymProduct* times(const SymProduct* a, const SymProduct* b);
  /// a / b for products, where b divides a; `{null, true}` is the constant one.
  static std::optional<std::vector<const SymAtom*>> divide(const SymProduct* a, const SymProduct* b);
  bool join_quotient_and_remainder(SymPoly& poly);
  bool join_remainder(SymPoly& poly, SymMonomial term, const SymAtom* remainder);

  // Rules.
  SymInt floordiv(const SymInt& a, const SymInt& b);
  SymInt mod(const SymInt& a, const SymInt& b);
  SymInt extremum(const SymInt& a, const SymInt& b, bool is_min);
  SymRange range(const SymInt& a);
  bool known_nonnegative(const SymInt& a);
  bool known_nonnegative(const SymInt& a, int depth, int& steps);
};

/// The core two operands share; throws an internal Error if they have different ones. Null if both are constant.
SymCore* shared_core(const SymInt& a, const SymInt& b);

int64_t checked_add(int64_t a, int64_t b);
int64_t checked_mul(int64_t a, int64_t b);
/// Python's `//` and `%` on integers; b is not 0.
int64_t floordiv_int(int64_t a, int64_t b);
/// The value of `scaled`; a user Error where it is beyond 64 bits.
int64_t scaled_int(SymRounding rounding, double factor, int64_t size);
int64_t mod_int(int64_t a, int64_t b);

}  // namespace strata
