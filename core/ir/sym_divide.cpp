// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// `//`, `%`, min and max: the rules.
///
/// Rules for `a // b` and `a % b` (floor semantics, so `a == b * (a // b) + a % b`), tried in this order:
///   1. bounds: `k*b <= a < (k+1)*b` gives `k` and `a - k*b`;
///   2. multiples: the terms of `a` that `b` divides leave;
///   3. digits: `a == g*x + w` and `b == g*y` with `0 <= w < g` gives `x // y` and `g*(x % y) + w` (w == 0: a common
///   factor);
///   4. nesting: `(x // m) // n`, `(x % (n*k)) // n`, `(x % (n*k)) % n`.
/// A rule that fires starts over on smaller operands; where none fires the operands become an atom unchanged. A new
/// rule must keep that: no rewriting of the operands on the way to the atom, and no rule that undoes another.

#include <algorithm>
#include <numeric>

#include "core/ir/sym_impl.h"
#include "core/support/error.h"

namespace strata {

namespace {

constexpr SymMonomial kOne{nullptr, 1};
constexpr size_t kMaxExtremumArgs = 64;

/// The one term that `a` is, if it is one (constants included).
std::optional<SymMonomial> as_monomial(const SymInt& a) {
  if (a.is_const()) return SymMonomial{nullptr, a.value()};
  if (a.expr()->constant != 0 || a.expr()->terms.size() != 1) return std::nullopt;
  return a.expr()->terms[0];
}

bool is_one(const SymMonomial& m) { return !m.product && m.coefficient == 1; }

/// a / b, where b divides a as a monomial.
std::optional<SymMonomial> quotient(SymCore& core, const SymMonomial& a, const SymMonomial& b) {
  if (b.coefficient == 0 || (b.coefficient == -1 && a.coefficient == INT64_MIN)) return std::nullopt;
  if (a.coefficient % b.coefficient != 0) return std::nullopt;
  std::optional<std::vector<const SymAtom*>> factors = SymCore::divide(a.product, b.product);
  if (!factors) return std::nullopt;
  return SymMonomial{core.product(std::move(*factors)), a.coefficient / b.coefficient};
}

int64_t gcd_of(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  uint64_t g = std::gcd(x, y);
  return g > static_cast<uint64_t>(INT64_MAX) ? 1 : static_cast<int64_t>(g);
}

SymMonomial common_factor(SymCore& core, const SymMonomial& a, const SymMonomial& b) {
  std::vector<const SymAtom*> common;
  if (a.product && b.product) {
    std::set_intersection(a.product->factors.begin(), a.product->factors.end(), b.product->factors.begin(),
                          b.product->factors.end(), std::back_inserter(common),
                          [](const SymAtom* x, const SymAtom* y) { return x->id < y->id; });
  }
  return {core.product(std::move(common)), gcd_of(a.coefficient, b.coefficient)};
}

/// The terms of `a` as monomials, the constant last.
std::vector<SymMonomial> monomials(const SymInt& a) {
  if (a.is_const()) return {{nullptr, a.value()}};
  std::vector<SymMonomial> all = a.expr()->terms;
  if (a.expr()->constant != 0) all.push_back({nullptr, a.expr()->constant});
  return all;
}

/// `a == multiple * by + rest`.
struct Split {
  SymInt multiple, rest;
};

/// The terms that `by` divides, and the others; the constant is split by floor division where `by` is a constant.
Split split_by(SymCore& core, const SymInt& a, const SymMonomial& by) {
  SymPoly multiple, rest;
  for (const SymMonomial& t : monomials(a)) {
    if (std::optional<SymMonomial> q = quotient(core, t, by)) {
      core.add_monomial(multiple, q->product, q->coefficient);
    } else if (!t.product && !by.product && by.coefficient > 0) {
      multiple.constant = checked_add(multiple.constant, floordiv_int(t.coefficient, by.coefficient));
      rest.constant = checked_add(rest.constant, mod_int(t.coefficient, by.coefficient));
    } else {
      core.add_monomial(rest, t.product, t.coefficient);
    }
  }
  return {core.make(std::move(multiple)), core.make(std::move(rest))};
}

/// Polynomial division by a `b` of several terms; only if what is left is known to lie in [0, b).
std::optional<Split> split_by_sum(SymCore& core, const SymInt& a, const SymInt& b) {
  if (b.is_const() || a.is_const()) return std::nullopt;
  const SymMonomial lead = b.expr()->terms[0];
  SymInt multiple = 0, rest = a;
  for (int step = 0; step < 8 && !rest.is_const(); ++step) {
    std::optional<SymMonomial> q;
    for (const SymMonomial& t : rest.expr()->terms) {
      if ((q = quotient(core, t, lead))) break;
    }
    if (!q) break;
    SymInt part = core.from_monomial(*q);
    multiple = multiple + part;
    rest = rest - part * b;
  }
  if (multiple == SymInt(0)) return std::nullopt;
  if (!(rest == SymInt(0)) && !(core.known_nonnegative(rest) && core.known_nonnegative(b - rest - SymInt(1)))) {
    return std::nullopt;
  }
  return Split{multiple, rest};
}

bool positive(SymCore& core, const SymInt& a) { return core.known_nonnegative(a - SymInt(1)); }

/// k where `k*b <= a < (k+1)*b` is known.
std::optional<int64_t> known_quotient(SymCore& core, const SymInt& a, const SymInt& b) {
  if (b.is_const()) {
    SymRange r = core.range(a);
    if (r.min == kSymMin || r.max == kSymMax) {
      return core.known_nonnegative(a) && core.known_nonnegative(b - a - SymInt(1)) ? std::optional<int64_t>(0)
                                                                                    : std::nullopt;
    }
    int64_t low = floordiv_int(r.min, b.value()), high = floordiv_int(r.max, b.value());
    if (low == high) return low;
    return core.known_nonnegative(a) && core.known_nonnegative(b - a - SymInt(1)) ? std::optional<int64_t>(0)
                                                                                  : std::nullopt;
  }
  if (core.known_nonnegative(a) && core.known_nonnegative(b - a - SymInt(1))) return 0;
  return std::nullopt;
}

/// Rule 3: finds g and the split of `a`; `b` is the monomial divisor.
struct Digits {
  SymMonomial g, y;  // b == g * y
  SymInt x, w;       // a == g * x + w
};
std::optional<Digits> split_digits(SymCore& core, const SymInt& a, const SymMonomial& b) {
  std::vector<SymMonomial> tried;
  for (const SymMonomial& t : monomials(a)) {
    SymMonomial g = common_factor(core, t, b);
    if (is_one(g)) continue;
    bool seen = std::any_of(tried.begin(), tried.end(), [&](const SymMonomial& m) {
      return m.product == g.product && m.coefficient == g.coefficient;
    });
    if (seen) continue;
    tried.push_back(g);
    Split s = split_by(core, a, g);
    SymMonomial y = *quotient(core, b, g);
    if (s.rest == SymInt(0)) return Digits{g, y, s.multiple, s.rest};
    SymInt g_value = core.from_monomial(g);
    if (!positive(core, core.from_monomial(y))) continue;
    if (!core.known_nonnegative(s.rest) || !core.known_nonnegative(g_value - s.rest - SymInt(1))) continue;
    return Digits{g, y, s.multiple, s.rest};
  }
  return std::nullopt;
}

/// The greatest monomial that divides every term of `a` and `b`.
SymMonomial content(SymCore& core, const SymInt& a, const SymInt& b) {
  std::vector<SymMonomial> all = monomials(a), more = monomials(b);
  all.insert(all.end(), more.begin(), more.end());
  SymMonomial g = all.back();
  if (g.coefficient == INT64_MIN) return kOne;
  g.coefficient = std::abs(g.coefficient);
  for (const SymMonomial& t : all) g = common_factor(core, g, t);
  return g;
}

/// The single atom of kind `kind` that `a` is, after taking off the constant into `constant`.
const SymAtom* as_atom(const SymInt& a, SymAtomKind kind, int64_t* constant = nullptr) {
  if (a.is_const() || a.expr()->terms.size() != 1 || a.expr()->terms[0].coefficient != 1) return nullptr;
  if (a.expr()->constant != 0 && !constant) return nullptr;
  const auto& factors = a.expr()->terms[0].product->factors;
  if (factors.size() != 1 || factors[0]->kind != kind) return nullptr;
  if (constant) *constant = a.expr()->constant;
  return factors[0];
}

bool lowest(const SymInt& b) { return b.is_const() && b.value() == INT64_MIN; }

/// True where the sign of a divisor is turned so that the leading coefficient is positive.
bool negative_lead(const SymInt& b) {
  if (b.is_const()) return b.value() < 0;
  return std::all_of(b.expr()->terms.begin(), b.expr()->terms.end(),
                     [](const SymMonomial& t) { return t.coefficient < 0; }) &&
         b.expr()->constant <= 0;
}

std::optional<SymInt> nested_floordiv(SymCore& core, const SymInt& a, const SymInt& b) {
  int64_t constant = 0;
  if (const SymAtom* inner = as_atom(a, SymAtomKind::FloorDiv, &constant)) {
    // floor((floor(x/m) + c) / n) == floor((x + c*m) / (m*n)) for n > 0.
    const SymInt& m = inner->args[1];
    if (constant == 0 || m.is_const()) {
      if (positive(core, b)) return floordiv(inner->args[0] + SymInt(constant) * m, m * b);
    }
  }
  if (const SymAtom* inner = as_atom(a, SymAtomKind::Mod)) {
    std::optional<SymMonomial> m = as_monomial(inner->args[1]), n = as_monomial(b);
    if (m && n) {
      std::optional<SymMonomial> k = quotient(core, *m, *n);
      if (k && positive(core, b) && positive(core, core.from_monomial(*k))) {
        return mod(floordiv(inner->args[0], b), core.from_monomial(*k));
      }
    }
  }
  return std::nullopt;
}

/// In `a % n`, `c*(x % m)` may be `c*x` where n divides `c*m`.
std::optional<SymInt> unwrapped_mod(SymCore& core, const SymInt& a, const SymMonomial& n) {
  for (const SymMonomial& t : monomials(a)) {
    if (!t.product) continue;
    for (const SymAtom* factor : t.product->factors) {
      if (factor->kind != SymAtomKind::Mod) continue;
      std::optional<SymMonomial> m = as_monomial(factor->args[1]);
      SymProduct only{.factors = {factor}};
      const SymProduct* rest = core.product(*SymCore::divide(t.product, &only));
      if (!m || !quotient(core, {core.times(rest, m->product), checked_mul(t.coefficient, m->coefficient)}, n))
        continue;
      SymPoly poly;
      core.add_scaled(poly, a, 1);
      core.add_monomial(poly, t.product, checked_mul(t.coefficient, -1));
      core.add_scaled(poly, core.from_monomial({rest, t.coefficient}) * factor->args[0], 1);
      return core.make(std::move(poly));
    }
  }
  return std::nullopt;
}

/// In `a % n`, coefficients may be reduced modulo n (towards zero, so that `-i` stays `-i`).
std::optional<SymInt> reduced_coefficients(SymCore& core, const SymInt& a, int64_t n) {
  SymPoly poly;
  bool changed = false;
  for (const SymMonomial& t : monomials(a)) {
    int64_t c = t.product ? t.coefficient % n : mod_int(t.coefficient, n);
    changed |= c != t.coefficient;
    core.add_monomial(poly, t.product, c);
  }
  if (!changed) return std::nullopt;
  return core.make(std::move(poly));
}

}  // namespace

SymInt SymCore::floordiv(const SymInt& a, const SymInt& b) {
  if (a == SymInt(0)) return 0;
  if (a == b || b == SymInt(1)) return a == b ? SymInt(1) : a;
  if (negative_lead(b) && !lowest(b)) return strata::floordiv(-a, -b);
  if (std::optional<int64_t> k = known_quotient(*this, a, b)) return *k;
  std::optional<SymMonomial> divisor = as_monomial(b);
  if (divisor) {
    Split s = split_by(*this, a, *divisor);
    if (!(s.multiple == SymInt(0))) return s.multiple + strata::floordiv(s.rest, b);
    if (std::optional<Digits> d = split_digits(*this, a, *divisor)) return strata::floordiv(d->x, from_monomial(d->y));
  } else {
    SymMonomial g = content(*this, a, b);
    if (!is_one(g)) return strata::floordiv(split_by(*this, a, g).multiple, split_by(*this, b, g).multiple);
    if (std::optional<Split> s = split_by_sum(*this, a, b)) return s->multiple;
  }
  if (std::optional<SymInt> r = nested_floordiv(*this, a, b)) return *r;
  return from_atom(SymAtomKind::FloorDiv, {}, {a, b});
}

SymInt SymCore::mod(const SymInt& a, const SymInt& b) {
  if (a == SymInt(0) || a == b || b == SymInt(1)) return 0;
  if (negative_lead(b) && !lowest(b)) return -strata::mod(-a, -b);
  if (std::optional<int64_t> k = known_quotient(*this, a, b)) return a - b * SymInt(*k);
  std::optional<SymMonomial> divisor = as_monomial(b);
  if (divisor) {
    Split s = split_by(*this, a, *divisor);
    if (!(s.multiple == SymInt(0))) return strata::mod(s.rest, b);
    if (std::optional<SymInt> r = unwrapped_mod(*this, a, *divisor)) return strata::mod(*r, b);
    if (b.is_const() && !lowest(b)) {
      if (std::optional<SymInt> r = reduced_coefficients(*this, a, b.value())) return strata::mod(*r, b);
    }
    if (std::optional<Digits> d = split_digits(*this, a, *divisor)) {
      return from_monomial(d->g) * strata::mod(d->x, from_monomial(d->y)) + d->w;
    }
  } else {
    SymMonomial g = content(*this, a, b);
    if (!is_one(g))
      return from_monomial(g) * strata::mod(split_by(*this, a, g).multiple, split_by(*this, b, g).multiple);
    if (std::optional<Split> s = split_by_sum(*this, a, b)) return s->rest;
  }
  return from_atom(SymAtomKind::Mod, {}, {a, b});
}

SymInt SymCore::extremum(const SymInt& a, const SymInt& b, bool is_min) {
  const SymAtomKind kind = is_min ? SymAtomKind::Min : SymAtomKind::Max;
  std::vector<SymInt> args;
  for (const SymInt* operand : {&a, &b}) {
    const SymAtom* atom = as_atom(*operand, kind);
    if (atom) args.insert(args.end(), atom->args.begin(), atom->args.end());
    if (!atom) args.push_back(*operand);
  }
  if (args.size() > kMaxExtremumArgs) {
    throw_user("symbolic expression too large: expected at most " + std::to_string(kMaxExtremumArgs) + " operands of " +
               (is_min ? "Min" : "Max"));
  }
  auto dominated = [&](const SymInt& x, const SymInt& by) { return is_min ? known_le(by, x) : known_le(x, by); };
  std::vector<SymInt> kept;
  for (const SymInt& x : args) {
    if (std::any_of(kept.begin(), kept.end(), [&](const SymInt& k) { return dominated(x, k); })) continue;
    std::erase_if(kept, [&](const SymInt& k) { return dominated(k, x); });
    kept.push_back(x);
  }
  if (kept.size() == 1) return kept[0];
  std::sort(kept.begin(), kept.end(), [](const SymInt& x, const SymInt& y) {
    if (x.is_const() || y.is_const())
      return x.is_const() && !y.is_const();  // dominated constants are gone: one at most
    return x.expr()->id < y.expr()->id;
  });
  return from_atom(kind, {}, std::move(kept));
}

// --------------------------------------------------------------------------------------------------------------
// operators

SymInt floordiv(const SymInt& a, const SymInt& b) {
  if (b == SymInt(0)) throw_user("division by zero in a size: " + a.str() + " // 0");
  SymCore* core = shared_core(a, b);
  if (!core) return floordiv_int(a.value(), b.value());
  std::lock_guard lock(core->mutex);
  core->refresh();
  if (auto it = core->floordiv_cache.find({a, b}); it != core->floordiv_cache.end()) return it->second;
  SymCore::Nesting nesting(*core);
  SymInt result = core->floordiv(a, b);
  core->floordiv_cache.emplace(SymCore::PairKey{a, b}, result);
  return result;
}

SymInt mod(const SymInt& a, const SymInt& b) {
  if (b == SymInt(0)) throw_user("division by zero in a size: " + a.str() + " % 0");
  SymCore* core = shared_core(a, b);
  if (!core) return mod_int(a.value(), b.value());
  std::lock_guard lock(core->mutex);
  core->refresh();
  if (auto it = core->mod_cache.find({a, b}); it != core->mod_cache.end()) return it->second;
  SymCore::Nesting nesting(*core);
  SymInt result = core->mod(a, b);
  core->mod_cache.emplace(SymCore::PairKey{a, b}, result);
  return result;
}

SymInt ceildiv(const SymInt& a, const SymInt& b) { return -floordiv(-a, b); }

SymInt min(const SymInt& a, const SymInt& b) {
  SymCore* core = shared_core(a, b);
  if (!core) return std::min(a.value(), b.value());
  std::lock_guard lock(core->mutex);
  return core->extremum(a, b, true);
}

SymInt max(const SymInt& a, const SymInt& b) {
  SymCore* core = shared_core(a, b);
  if (!core) return std::max(a.value(), b.value());
  std::lock_guard lock(core->mutex);
  return core->extremum(a, b, false);
}

}  // namespace strata
