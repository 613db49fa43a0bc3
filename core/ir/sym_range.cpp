// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Bounds and proofs. Bounds are intervals with saturating ends (`kSymMin`, `kSymMax` are infinities). A proof of `a >=
/// 0` tries the interval, then a shift of every atom to its lower bound, then replaces atoms by symbolic bounds (`i <=
/// s0 - 1`).

#include <algorithm>
#include <limits>

#include "core/ir/sym_impl.h"
#include "core/support/error.h"

namespace strata {

namespace {

constexpr int kMaxBoundDepth = 8;

__extension__ typedef __int128 Wide;

int64_t clamp(Wide v) {
  if (v < kSymMin) return kSymMin;
  if (v > kSymMax) return kSymMax;
  return static_cast<int64_t>(v);
}

bool infinite(int64_t v) { return v == kSymMin || v == kSymMax; }

SymRange add(SymRange a, SymRange b) {
  return {a.min == kSymMin || b.min == kSymMin ? kSymMin : clamp(Wide(a.min) + b.min),
          a.max == kSymMax || b.max == kSymMax ? kSymMax : clamp(Wide(a.max) + b.max)};
}

int64_t product_end(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kSymMax : kSymMin;
  return clamp(Wide(a) * b);
}

SymRange multiply(SymRange a, SymRange b) {
  const int64_t ends[] = {product_end(a.min, b.min), product_end(a.min, b.max), product_end(a.max, b.min),
                          product_end(a.max, b.max)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

int64_t quotient_end(int64_t a, int64_t b) {
  if (a == 0) return 0;
  if (infinite(b)) return infinite(a) ? (a < 0 ? kSymMin : kSymMax) : (a < 0 ? -1 : 0);
  if (infinite(a)) return a;
  return floordiv_int(a, b);
}

SymRange quotient(SymRange a, SymRange b) {
  if (b.min <= 0) return {kSymMin, kSymMax};
  const int64_t ends[] = {quotient_end(a.min, b.min), quotient_end(a.min, b.max), quotient_end(a.max, b.min),
                          quotient_end(a.max, b.max)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

SymRange remainder(SymRange a, SymRange b) {
  if (b.min > 0) {
    int64_t max = b.max == kSymMax ? kSymMax : b.max - 1;
    return {0, a.min >= 0 ? std::min(max, a.max) : max};
  }
  if (b.max < 0) return {b.min == kSymMin ? kSymMin : b.min + 1, 0};
  return {kSymMin, kSymMax};
}

bool same_range(const SymRange& a, const SymRange& b) { return a.min == b.min && a.max == b.max; }

/// Computes ranges, keeping them in the expressions.
struct Ranger {
  SymCore& core;
  int depth = 0;

  SymRange of(const SymInt& a) {
    if (a.is_const()) return {a.value(), a.value()};
    auto* e = const_cast<SymExpr*>(a.expr());
    if (e->range_epoch == core.epoch) return e->range;
    SymRange sum{e->constant, e->constant};
    for (const SymMonomial& t : e->terms) sum = add(sum, multiply({t.coefficient, t.coefficient}, of(*t.product)));
    // A bound found while a chain of symbolic bounds was cut short is valid, but a better one may exist.
    if (depth == 0) {
      e->range = sum;
      e->range_epoch = core.epoch;
    }
    return sum;
  }

  SymRange of(const SymProduct& p) {
    SymRange result{1, 1};
    for (size_t i = 0; i < p.factors.size();) {
      size_t end = i;
      SymRange base = of(*p.factors[i]), power{1, 1};
      for (; end < p.factors.size() && p.factors[end] == p.factors[i]; ++end) power = multiply(power, base);
      if ((end - i) % 2 == 0) power.min = std::max<int64_t>(power.min, 0);
      result = multiply(result, power);
      i = end;
    }
    return result;
  }

  SymRange of(const SymAtom& atom) {
    switch (atom.kind) {
      case SymAtomKind::Symbol:
        return of_symbol(core.symbols[atom.symbol]);
      case SymAtomKind::FloorDiv:
        return quotient(of(atom.args[0]), of(atom.args[1]));
      case SymAtomKind::Mod:
        return remainder(of(atom.args[0]), of(atom.args[1]));
      case SymAtomKind::Min:
      case SymAtomKind::Max:
        return of_extremum(atom);
      case SymAtomKind::Scaled:
        return of_scaled(atom);
      case SymAtomKind::Opaque:
        break;
    }
    return {kSymMin, kSymMax};
  }

  /// Products of larger sizes are larger, or all smaller.
  SymRange of_scaled(const SymAtom& atom) {
    const SymRange size = of(atom.args[0]);
    const auto at = [&](int64_t end) {
      const bool is_large = end == kSymMin || end == kSymMax ||
                            std::abs(atom.factor * static_cast<double>(end)) >= static_cast<double>(kSymMax);
      if (is_large) return (end < 0) == (atom.factor < 0) ? kSymMax : kSymMin;
      return scaled_int(atom.rounding, atom.factor, end);
    };
    const int64_t first = at(size.min), last = at(size.max);
    return {std::min(first, last), std::max(first, last)};
  }

  SymRange of_extremum(const SymAtom& atom) {
    const bool is_min = atom.kind == SymAtomKind::Min;
    SymRange result = of(atom.args[0]);
    for (const SymInt& arg : atom.args) {
      SymRange r = of(arg);
      result.min = is_min ? std::min(result.min, r.min) : std::max(result.min, r.min);
      result.max = is_min ? std::min(result.max, r.max) : std::max(result.max, r.max);
    }
    return result;
  }

  SymRange of_symbol(const Symbol& symbol) {
    SymRange r = symbol.range;
    if (!symbol.max_expr || depth >= kMaxBoundDepth) return r;
    ++depth;
    r.max = std::min(r.max, of(*symbol.max_expr).max);
    --depth;
    return r;
  }
};

}  // namespace

void SymCore::refresh() {
  bool changed = false;
  for (auto& [id, seen] : watched) {
    const Symbol& now = symbols[id];
    if (same_range(now.range, seen.range) && now.max_expr == seen.max_expr) continue;
    seen = now;
    changed = true;
  }
  if (!changed) return;
  ++epoch;
  floordiv_cache.clear();
  mod_cache.clear();
}

SymRange SymCore::range(const SymInt& a) { return Ranger{*this}.of(a); }

namespace {

/// Every atom with a finite lower bound written as bound + something not negative: if then no coefficient is negative,
/// `a` is not.
bool nonnegative_after_shift(SymCore& core, const SymInt& a) {
  if (a.expr()->terms.size() > 16) return false;
  std::vector<const SymAtom*> atoms;
  for (const SymMonomial& t : a.expr()->terms) {
    if (t.product->factors.size() > 4) return false;
    atoms.insert(atoms.end(), t.product->factors.begin(), t.product->factors.end());
  }
  Ranger ranger{core};
  SymPoly shifted;
  shifted.constant = a.expr()->constant;
  for (const SymMonomial& t : a.expr()->terms) {
    // The product over factors of (atom' + bound), expanded over all subsets of factors.
    const auto& factors = t.product->factors;
    std::vector<int64_t> bounds;
    for (const SymAtom* f : factors) {
      SymRange r = ranger.of(*f);
      if (r.min == kSymMin) return false;
      bounds.push_back(r.min);
    }
    for (size_t subset = 0; subset < (size_t{1} << factors.size()); ++subset) {
      std::vector<const SymAtom*> kept;
      Wide coefficient = t.coefficient;
      for (size_t i = 0; i < factors.size(); ++i) {
        if (subset >> i & 1) {
          kept.push_back(factors[i]);
        } else {
          coefficient *= bounds[i];
          if (coefficient > kSymMax || coefficient < kSymMin) return false;
        }
      }
      if (coefficient != 0)
        core.add_monomial(shifted, core.product(std::move(kept)), static_cast<int64_t>(coefficient));
    }
  }
  return shifted.constant >= 0 && std::all_of(shifted.terms.begin(), shifted.terms.end(),
                                              [](const SymMonomial& t) { return t.coefficient > 0; });
}

struct Bound {
  SymInt value;
  int64_t divisor = 1;  // the atom times this is bounded by `value`
};

/// Upper (lower) bounds of an atom as expressions.
std::vector<Bound> bounds_of(SymCore& core, const SymAtom& atom, bool upper) {
  std::vector<Bound> bounds;
  switch (atom.kind) {
    case SymAtomKind::Symbol:
      if (upper && core.symbols[atom.symbol].max_expr) bounds.push_back({*core.symbols[atom.symbol].max_expr});
      break;
    case SymAtomKind::Mod:
      if (upper && core.range(atom.args[1]).min > 0) bounds.push_back({atom.args[1] - SymInt(1)});
      break;
    case SymAtomKind::FloorDiv:
      if (atom.args[1].is_const() && atom.args[1].value() > 0) {
        const SymInt& n = atom.args[1];
        bounds.push_back({upper ? atom.args[0] : atom.args[0] - n + SymInt(1), n.value()});
      }
      break;
    case SymAtomKind::Min:
    case SymAtomKind::Max:
      if (upper == (atom.kind == SymAtomKind::Min)) {
        for (const SymInt& arg : atom.args) bounds.push_back({arg});
      }
      break;
    case SymAtomKind::Scaled:
    case SymAtomKind::Opaque:
      break;
  }
  return bounds;
}

}  // namespace

bool SymCore::known_nonnegative(const SymInt& a) {
  int steps = 64;
  return known_nonnegative(a, 4, steps);
}

bool SymCore::known_nonnegative(const SymInt& a, int depth, int& steps) {
  if (a.is_const()) return a.value() >= 0;
  if (range(a).min >= 0 || nonnegative_after_shift(*this, a)) return true;
  if (depth == 0 || a.expr()->terms.size() > 16) return false;
  const std::vector<SymMonomial> terms = a.expr()->terms;
  for (const SymMonomial& t : terms) {
    for (const SymAtom* factor : t.product->factors) {
      SymProduct only{.factors = {factor}};
      const SymProduct* rest = product(*divide(t.product, &only));
      if (rest && Ranger{*this}.of(*rest).min < 0) continue;
      for (const Bound& bound : bounds_of(*this, *factor, t.coefficient < 0)) {
        if (t.coefficient % bound.divisor != 0) continue;
        if (--steps < 0) return false;
        SymPoly poly;
        add_scaled(poly, a, 1);
        add_monomial(poly, t.product, checked_mul(t.coefficient, -1));
        add_scaled(poly, from_monomial({rest, t.coefficient / bound.divisor}) * bound.value, 1);
        if (known_nonnegative(make(std::move(poly)), depth - 1, steps)) return true;
      }
    }
  }
  return false;
}

SymRange range(const SymInt& a) {
  if (a.is_const()) return {a.value(), a.value()};
  std::lock_guard lock(a.expr()->core->mutex);
  a.expr()->core->refresh();
  return a.expr()->core->range(a);
}

namespace {

/// b - a, or nothing where that overflows (then nothing is known).
std::optional<SymInt> difference(const SymInt& b, const SymInt& a) {
  try {
    return b - a;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    return std::nullopt;
  }
}

bool known_le_with(const SymInt& a, const SymInt& b, int64_t gap) {
  SymCore* core = shared_core(a, b);
  if (!core) return gap == 0 ? a.value() <= b.value() : a.value() < b.value();
  std::lock_guard lock(core->mutex);
  core->refresh();
  try {
    return core->known_nonnegative(b - a - SymInt(gap));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::User) throw;
    return false;
  }
}

}  // namespace

bool known_eq(const SymInt& a, const SymInt& b) {
  if (a == b) return true;
  if (!shared_core(a, b)) return false;
  std::optional<SymInt> d = difference(b, a);
  if (!d) return false;
  SymRange r = range(*d);
  return r.min == 0 && r.max == 0;
}

bool known_ne(const SymInt& a, const SymInt& b) {
  if (a == b) return false;
  if (!shared_core(a, b)) return true;
  return known_lt(a, b) || known_lt(b, a);
}

bool known_lt(const SymInt& a, const SymInt& b) { return known_le_with(a, b, 1); }
bool known_le(const SymInt& a, const SymInt& b) { return known_le_with(a, b, 0); }

bool same_size(const SymInt& a, const SymInt& b) {
  if (known_eq(a, b)) return true;
  SymCore* core = shared_core(a, b);
  if (!core) return false;
  std::lock_guard lock(core->mutex);
  // All that assumptions say to be as large as `a`.
  std::vector<SymInt> alike{a};
  for (size_t i = 0; i < alike.size(); ++i) {
    for (const Assumption& assumption : core->assumptions) {
      if (!assumption.equal) continue;
      const auto& [x, y] = *assumption.equal;
      if (!(x == alike[i]) && !(y == alike[i])) continue;
      const SymInt& other = x == alike[i] ? y : x;
      if (known_eq(other, b)) return true;
      if (std::ranges::find(alike, other) == alike.end()) alike.push_back(other);
    }
  }
  return false;
}

bool same_sizes(const std::vector<SymInt>& a, const std::vector<SymInt>& b) {
  return std::ranges::equal(a, b, same_size);
}

}  // namespace strata
