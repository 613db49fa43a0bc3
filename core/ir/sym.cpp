// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/sym.h"

#include <algorithm>
#include <cmath>

#include "core/ir/sym_impl.h"
#include "core/support/error.h"

namespace strata {

namespace {

constexpr size_t kMaxTerms = 512;

size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29); }

uint32_t grown(uint64_t size) {
  if (size > kSymMaxSize) {
    throw_user("symbolic expression too large: expected at most " + std::to_string(kSymMaxSize) + " parts, found " +
               std::to_string(size));
  }
  return static_cast<uint32_t>(size);
}

uint32_t depth_of(const SymInt& a) { return a.is_const() ? 0 : a.expr()->depth; }
uint32_t size_of(const SymInt& a) { return a.is_const() ? 1 : a.expr()->size; }

}  // namespace

// ------------------------------------------------------------------------------------------------------- integer
// helpers

int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) {
    throw_user("size arithmetic overflows 64 bits: " + std::to_string(a) + " + " + std::to_string(b));
  }
  return r;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) {
    throw_user("size arithmetic overflows 64 bits: " + std::to_string(a) + " * " + std::to_string(b));
  }
  return r;
}

int64_t floordiv_int(int64_t a, int64_t b) {
  if (b == -1) return checked_mul(a, -1);
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

int64_t scaled_int(SymRounding rounding, double factor, int64_t size) {
  const double product = factor * static_cast<double>(size);
  const double whole = rounding == SymRounding::Trunc   ? std::trunc(product)
                       : rounding == SymRounding::Floor ? std::floor(product)
                       : rounding == SymRounding::Ceil  ? std::ceil(product)
                                                        : std::nearbyint(product);
  if (!(std::abs(whole) < 0x1p63)) {
    throw_user("size arithmetic overflows 64 bits: " + std::to_string(factor) + " * " + std::to_string(size));
  }
  return static_cast<int64_t>(whole);
}

int64_t mod_int(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

// -------------------------------------------------------------------------------------------------------------
// interning

bool SymExprEqual::operator()(const SymExpr* a, const SymExpr* b) const {
  return a->constant == b->constant && a->terms.size() == b->terms.size() &&
         std::equal(a->terms.begin(), a->terms.end(), b->terms.begin(), [](const SymMonomial& x, const SymMonomial& y) {
           return x.product == y.product && x.coefficient == y.coefficient;
         });
}

const SymAtom* SymCore::find_atom(SymAtom& probe) const {
  probe.hash = mix(static_cast<size_t>(probe.kind) + 1, probe.symbol);
  if (!probe.name.empty()) probe.hash = mix(probe.hash, std::hash<std::string>()(probe.name));
  for (const SymInt& arg : probe.args) probe.hash = mix(probe.hash, std::hash<SymInt>()(arg));
  if (probe.kind == SymAtomKind::Scaled)
    probe.hash = mix(probe.hash, std::hash<double>()(probe.factor) + static_cast<size_t>(probe.rounding));
  auto it = atom_set.find(&probe);
  return it == atom_set.end() ? nullptr : *it;
}

const SymAtom* SymCore::atom(SymAtom probe) {
  if (const SymAtom* found = find_atom(probe)) return found;
  uint64_t size = 1;
  uint32_t depth = 0;
  for (const SymInt& arg : probe.args) {
    size += size_of(arg);
    depth = std::max(depth, depth_of(arg));
  }
  if (depth + 1 > kSymMaxDepth) {
    throw_user("symbolic expression nested too deeply: expected at most " + std::to_string(kSymMaxDepth) + " levels");
  }
  probe.size = grown(size);
  probe.depth = depth + (probe.kind == SymAtomKind::Symbol ? 0 : 1);
  probe.id = static_cast<uint32_t>(atoms.size());
  atoms.push_back(std::move(probe));
  atom_set.insert(&atoms.back());
  return &atoms.back();
}

const SymProduct* SymCore::product(std::vector<const SymAtom*> factors) {
  if (factors.empty()) return nullptr;
  std::sort(factors.begin(), factors.end(), [](const SymAtom* a, const SymAtom* b) { return a->id < b->id; });
  SymProduct probe;
  uint64_t size = 0;
  probe.hash = factors.size();
  for (const SymAtom* f : factors) {
    probe.hash = mix(probe.hash, f->id);
    probe.depth = std::max(probe.depth, f->depth);
    size += f->size;
  }
  probe.factors = std::move(factors);
  if (auto it = product_set.find(&probe); it != product_set.end()) return *it;
  probe.size = grown(size);
  probe.id = static_cast<uint32_t>(products.size());
  products.push_back(std::move(probe));
  product_set.insert(&products.back());
  return &products.back();
}

SymCore::Nesting::Nesting(SymCore& core) : core(core) {
  if (++core.nesting > 300) {
    --core.nesting;
    throw_user("symbolic expression too deep to simplify");
  }
}

SymInt SymCore::make(SymPoly poly) {
  while (join_quotient_and_remainder(poly)) {
  }
  if (poly.terms.empty()) return poly.constant;
  if (poly.terms.size() > kMaxTerms) {
    throw_user("symbolic expression too large: expected at most " + std::to_string(kMaxTerms) + " terms");
  }
  SymExpr probe;
  probe.core = this;
  probe.constant = poly.constant;
  probe.terms = std::move(poly.terms);
  probe.hash = mix(probe.terms.size(), static_cast<size_t>(probe.constant));
  for (const SymMonomial& t : probe.terms) {
    probe.hash = mix(mix(probe.hash, t.product->id), static_cast<size_t>(t.coefficient));
  }
  if (auto it = expr_set.find(&probe); it != expr_set.end()) return wrap(*it);
  uint64_t size = 1;
  for (const SymMonomial& t : probe.terms) {
    size += t.product->size;
    probe.depth = std::max(probe.depth, t.product->depth);
  }
  probe.size = grown(size);
  probe.id = static_cast<uint32_t>(exprs.size());
  exprs.push_back(std::move(probe));
  expr_set.insert(&exprs.back());
  return wrap(&exprs.back());
}

SymInt SymCore::from_atom(SymAtomKind kind, std::string name, std::vector<SymInt> args) {
  SymAtom probe{.kind = kind, .name = std::move(name), .args = std::move(args)};
  return from_monomial({product({atom(std::move(probe))}), 1});
}

SymInt SymCore::from_monomial(SymMonomial m) {
  SymPoly poly;
  add_monomial(poly, m.product, m.coefficient);
  return make(std::move(poly));
}

// -----------------------------------------------------------------------------------------------------------
// polynomials

void SymCore::add_monomial(SymPoly& to, const SymProduct* product, int64_t coefficient) {
  if (!product) {
    to.constant = checked_add(to.constant, coefficient);
    return;
  }
  if (coefficient == 0) return;
  auto it = std::lower_bound(to.terms.begin(), to.terms.end(), product,
                             [](const SymMonomial& t, const SymProduct* p) { return t.product->id < p->id; });
  if (it == to.terms.end() || it->product != product) {
    to.terms.insert(it, {product, coefficient});
    return;
  }
  it->coefficient = checked_add(it->coefficient, coefficient);
  if (it->coefficient == 0) to.terms.erase(it);
}

void SymCore::add_scaled(SymPoly& to, const SymInt& what, int64_t factor) {
  if (what.is_const()) {
    to.constant = checked_add(to.constant, checked_mul(what.value(), factor));
    return;
  }
  const SymExpr* e = what.expr();
  to.constant = checked_add(to.constant, checked_mul(e->constant, factor));
  std::vector<SymMonomial> merged;
  merged.reserve(to.terms.size() + e->terms.size());
  auto a = to.terms.begin();
  for (const SymMonomial& t : e->terms) {
    while (a != to.terms.end() && a->product->id < t.product->id) merged.push_back(*a++);
    int64_t coefficient = checked_mul(t.coefficient, factor);
    if (a != to.terms.end() && a->product == t.product) coefficient = checked_add(coefficient, (a++)->coefficient);
    if (coefficient != 0) merged.push_back({t.product, coefficient});
  }
  merged.insert(merged.end(), a, to.terms.end());
  to.terms = std::move(merged);
}

const SymProduct* SymCore::times(const SymProduct* a, const SymProduct* b) {
  if (!a) return b;
  if (!b) return a;
  std::vector<const SymAtom*> factors = a->factors;
  factors.insert(factors.end(), b->factors.begin(), b->factors.end());
  return product(std::move(factors));
}

SymPoly SymCore::multiply(const SymInt& a, const SymInt& b) {
  SymPoly result;
  if (a.is_const() || b.is_const()) {
    const SymInt& constant = a.is_const() ? a : b;
    if (constant.value() != 0) add_scaled(result, a.is_const() ? b : a, constant.value());
    return result;
  }
  const SymExpr *x = a.expr(), *y = b.expr();
  if (x->terms.size() * y->terms.size() > kMaxTerms) {
    throw_user("symbolic expression too large: expected a product of at most " + std::to_string(kMaxTerms) + " terms");
  }
  if (x->constant != 0) add_scaled(result, b, x->constant);
  for (const SymMonomial& s : x->terms) {
    add_monomial(result, s.product, checked_mul(s.coefficient, y->constant));
    for (const SymMonomial& t : y->terms) {
      add_monomial(result, times(s.product, t.product), checked_mul(s.coefficient, t.coefficient));
    }
  }
  return result;
}

std::optional<std::vector<const SymAtom*>> SymCore::divide(const SymProduct* a, const SymProduct* b) {
  std::vector<const SymAtom*> rest;
  if (a) rest = a->factors;
  if (!b) return rest;
  for (const SymAtom* f : b->factors) {
    auto it = std::find(rest.begin(), rest.end(), f);
    if (it == rest.end()) return std::nullopt;
    rest.erase(it);
  }
  return rest;
}

// `c*P*(x % n) + c*n*P*(x//n)` is `c*P*x`, and `c*P*(x % n) + c*n*P*((x//n) % k)` is `c*P*(x % (n*k))`: what splitting
// an index into digits took apart is put together again.
bool SymCore::join_quotient_and_remainder(SymPoly& poly) {
  if (poly.terms.size() < 2) return false;
  for (const SymMonomial& term : poly.terms) {
    if (term.product->depth == 0) continue;
    for (const SymAtom* remainder : term.product->factors) {
      if (remainder->kind == SymAtomKind::Mod && join_remainder(poly, term, remainder)) return true;
    }
  }
  return false;
}

bool SymCore::join_remainder(SymPoly& poly, SymMonomial term, const SymAtom* remainder) {
  const SymInt &x = remainder->args[0], &n = remainder->args[1];
  SymProduct remainder_only{.factors = {remainder}};
  const SymProduct* rest = product(*divide(term.product, &remainder_only));
  SymPoly scaled = multiply(from_monomial({rest, term.coefficient}), n);
  if (scaled.terms.size() + (scaled.constant != 0 ? 1 : 0) != 1) return false;
  const SymMonomial scale = scaled.terms.empty() ? SymMonomial{nullptr, scaled.constant} : scaled.terms[0];

  auto join = [&](const SymAtom* quotient, const auto& whole) {
    const SymProduct* other = times(scale.product, product({quotient}));
    auto it = std::lower_bound(poly.terms.begin(), poly.terms.end(), other,
                               [](const SymMonomial& t, const SymProduct* p) { return t.product->id < p->id; });
    if (it == poly.terms.end() || it->product != other || it->coefficient != scale.coefficient) return false;
    SymInt joined = from_monomial({rest, term.coefficient}) * whole();
    add_monomial(poly, other, checked_mul(scale.coefficient, -1));
    add_monomial(poly, term.product, checked_mul(term.coefficient, -1));
    add_scaled(poly, joined, 1);
    return true;
  };
  SymAtom probe{.kind = SymAtomKind::FloorDiv, .name = {}, .args = remainder->args};
  if (const SymAtom* quotient = find_atom(probe)) {
    if (join(quotient, [&] { return x; })) return true;
  }
  if (!n.is_const() || n.value() <= 0) return false;
  const SymInt quotient_value = strata::floordiv(x, n);
  for (size_t i = 0; i < poly.terms.size(); ++i) {
    for (const SymAtom* quotient : poly.terms[i].product->factors) {
      if (quotient->kind != SymAtomKind::Mod || !(quotient->args[0] == quotient_value)) continue;
      const SymInt& k = quotient->args[1];
      if (!k.is_const() || k.value() <= 0) continue;
      if (join(quotient, [&] { return strata::mod(x, n * k); })) return true;
    }
  }
  return false;
}

// -------------------------------------------------------------------------------------------------------------- SymInt

int64_t SymInt::value() const {
  if (expr_) throw_internal("expected a constant size, found " + str());
  return value_;
}

ShapeEnv* SymInt::env() const { return expr_ ? expr_->core->env : nullptr; }

SymCore* shared_core(const SymInt& a, const SymInt& b) {
  if (a.is_const()) return b.is_const() ? nullptr : b.expr()->core;
  if (!b.is_const() && a.expr()->core != b.expr()->core) {
    throw_internal("sizes of two shape environments in one expression: " + a.str() + " and " + b.str());
  }
  return a.expr()->core;
}

SymInt operator+(const SymInt& a, const SymInt& b) {
  SymCore* core = shared_core(a, b);
  if (!core) return checked_add(a.value(), b.value());
  if (a == SymInt(0)) return b;
  if (b == SymInt(0)) return a;
  std::lock_guard lock(core->mutex);
  SymPoly poly;
  core->add_scaled(poly, a, 1);
  core->add_scaled(poly, b, 1);
  return core->make(std::move(poly));
}

SymInt operator-(const SymInt& a) { return a * SymInt(-1); }

SymInt operator-(const SymInt& a, const SymInt& b) {
  SymCore* core = shared_core(a, b);
  if (a == b) return 0;
  if (!core) {
    int64_t r;
    if (!__builtin_sub_overflow(a.value(), b.value(), &r)) return r;
    throw_user("size arithmetic overflows 64 bits: " + a.str() + " - " + b.str());
  }
  std::lock_guard lock(core->mutex);
  SymPoly poly;
  core->add_scaled(poly, a, 1);
  core->add_scaled(poly, b, -1);
  return core->make(std::move(poly));
}

SymInt operator*(const SymInt& a, const SymInt& b) {
  SymCore* core = shared_core(a, b);
  if (!core) return checked_mul(a.value(), b.value());
  if (a == SymInt(1)) return b;
  if (b == SymInt(1)) return a;
  std::lock_guard lock(core->mutex);
  return core->make(core->multiply(a, b));
}

// ------------------------------------------------------------------------------------------------------------ ShapeEnv

ShapeEnv::ShapeEnv() : core_(std::make_unique<SymCore>(this)) {}
ShapeEnv::~ShapeEnv() = default;

SymInt ShapeEnv::symbol(const Symbol& symbol) {
  std::lock_guard lock(core_->mutex);
  if (auto it = core_->symbol_ids.find(symbol.name); it != core_->symbol_ids.end()) {
    return core_->symbol_values[it->second];
  }
  size_t id = core_->symbols.size();
  core_->symbols.push_back(symbol);
  core_->symbol_ids.emplace(symbol.name, id);
  SymAtom probe{.kind = SymAtomKind::Symbol, .symbol = id, .name = {}, .args = {}};
  SymInt value = core_->from_monomial({core_->product({core_->atom(std::move(probe))}), 1});
  core_->symbol_values.push_back(value);
  return value;
}

std::optional<SymInt> ShapeEnv::find(std::string_view name) {
  std::lock_guard lock(core_->mutex);
  auto it = core_->symbol_ids.find(name);
  if (it == core_->symbol_ids.end()) return std::nullopt;
  return core_->symbol_values[it->second];
}

size_t ShapeEnv::symbol_count() const {
  std::lock_guard lock(core_->mutex);
  return core_->symbols.size();
}

const Symbol& ShapeEnv::info(size_t id) const {
  std::lock_guard lock(core_->mutex);
  if (id >= core_->symbols.size()) throw_internal("no symbol with id " + std::to_string(id));
  return core_->symbols[id];
}

Symbol& ShapeEnv::info(size_t id) {
  std::lock_guard lock(core_->mutex);
  if (id >= core_->symbols.size()) throw_internal("no symbol with id " + std::to_string(id));
  auto& watched = core_->watched;
  if (std::none_of(watched.begin(), watched.end(), [&](const auto& w) { return w.first == id; })) {
    watched.emplace_back(id, core_->symbols[id]);
  }
  return core_->symbols[id];
}

std::optional<size_t> ShapeEnv::symbol_id(const SymInt& a) const {
  if (a.is_const()) return std::nullopt;
  const SymExpr* e = a.expr();
  if (e->constant != 0 || e->terms.size() != 1 || e->terms[0].coefficient != 1) return std::nullopt;
  const auto& factors = e->terms[0].product->factors;
  if (factors.size() != 1 || factors[0]->kind != SymAtomKind::Symbol) return std::nullopt;
  return factors[0]->symbol;
}

SymInt ShapeEnv::opaque(std::string_view name, const std::vector<SymInt>& args) {
  std::lock_guard lock(core_->mutex);
  for (const SymInt& arg : args) {
    if (!arg.is_const() && arg.env() != this)
      throw_internal("argument of another shape environment in " + std::string(name));
  }
  const SymInt call = core_->from_atom(SymAtomKind::Opaque, std::string(name), args);
  const auto it = core_->defined.find(call);
  return it == core_->defined.end() ? call : it->second;
}

void ShapeEnv::define(const SymInt& call, const SymInt& symbol) {
  std::lock_guard lock(core_->mutex);
  core_->defined.emplace(call, symbol);
}

void ShapeEnv::assume(Assumption assumption) {
  std::lock_guard lock(core_->mutex);
  const auto same = [&](const Assumption& a) {
    return a.text == assumption.text && a.reason == assumption.reason && a.where == assumption.where;
  };
  if (std::ranges::none_of(core_->assumptions, same)) core_->assumptions.push_back(std::move(assumption));
}

const std::vector<Assumption>& ShapeEnv::assumptions() const { return core_->assumptions; }

void ShapeEnv::forget_assumptions_after(size_t count) {
  std::lock_guard lock(core_->mutex);
  if (count < core_->assumptions.size()) core_->assumptions.resize(count);
}

void require_assumptions(const ShapeEnv& env, const SymBindings& symbols) {
  for (const Assumption& a : env.assumptions()) {
    const auto& sizes = a.equal ? a.equal : a.at_least;
    if (!sizes) continue;
    const auto left = evaluate(sizes->first, symbols), right = evaluate(sizes->second, symbols);
    if (left && right && (a.equal ? *left != *right : *left < *right)) throw_broken(a.broken(), *left, *right, a.where);
  }
}

void throw_broken(const std::string& what, int64_t left, int64_t right, const std::string& where) {
  throw_user(what + " (found " + std::to_string(left) + " and " + std::to_string(right) + ")" +
             (where.empty() ? "" : ", in " + where));
}

// ----------------------------------------------------------------------------------------------------- using
// expressions

namespace {

using AtomValue = std::function<std::optional<int64_t>(size_t)>;

std::optional<int64_t> value_of(const SymInt& a, const AtomValue& symbol);

std::optional<int64_t> value_of(const SymAtom& atom, const AtomValue& symbol) {
  if (atom.kind == SymAtomKind::Symbol) return symbol(atom.symbol);
  if (atom.kind == SymAtomKind::Opaque) return std::nullopt;
  std::vector<int64_t> values;
  for (const SymInt& arg : atom.args) {
    std::optional<int64_t> v = value_of(arg, symbol);
    if (!v) return std::nullopt;
    values.push_back(*v);
  }
  switch (atom.kind) {
    case SymAtomKind::Scaled:
      return scaled_int(atom.rounding, atom.factor, values[0]);
    case SymAtomKind::Min:
      return *std::min_element(values.begin(), values.end());
    case SymAtomKind::Max:
      return *std::max_element(values.begin(), values.end());
    default:
      break;
  }
  if (values[1] == 0) throw_user("division by zero in a size: " + atom.args[0].str() + " by " + atom.args[1].str());
  return atom.kind == SymAtomKind::FloorDiv ? floordiv_int(values[0], values[1]) : mod_int(values[0], values[1]);
}

std::optional<int64_t> value_of(const SymInt& a, const AtomValue& symbol) {
  if (a.is_const()) return a.value();
  int64_t sum = a.expr()->constant;
  for (const SymMonomial& t : a.expr()->terms) {
    int64_t part = t.coefficient;
    for (const SymAtom* f : t.product->factors) {
      std::optional<int64_t> v = value_of(*f, symbol);
      if (!v) return std::nullopt;
      part = checked_mul(part, *v);
    }
    sum = checked_add(sum, part);
  }
  return sum;
}

void collect_symbols(const SymInt& a, std::vector<size_t>& out) {
  if (a.is_const()) return;
  for (const SymMonomial& t : a.expr()->terms) {
    for (const SymAtom* f : t.product->factors) {
      if (f->kind == SymAtomKind::Symbol) out.push_back(f->symbol);
      for (const SymInt& arg : f->args) collect_symbols(arg, out);
    }
  }
}

using Replacement = std::function<std::optional<SymInt>(size_t)>;
using AtomMemo = std::unordered_map<const SymAtom*, SymInt>;

SymInt replaced(const SymInt& a, const Replacement& replacement, AtomMemo& memo);

SymInt replaced(const SymAtom* atom, SymCore& core, const Replacement& replacement, AtomMemo& memo) {
  if (auto it = memo.find(atom); it != memo.end()) return it->second;
  std::vector<SymInt> args;
  for (const SymInt& arg : atom->args) args.push_back(replaced(arg, replacement, memo));
  SymInt result;
  switch (atom->kind) {
    case SymAtomKind::Symbol:
      result = replacement(atom->symbol).value_or(core.symbol_values[atom->symbol]);
      break;
    case SymAtomKind::FloorDiv:
      result = floordiv(args[0], args[1]);
      break;
    case SymAtomKind::Mod:
      result = mod(args[0], args[1]);
      break;
    case SymAtomKind::Min:
    case SymAtomKind::Max:
      result = args[0];
      for (size_t i = 1; i < args.size(); ++i)
        result = atom->kind == SymAtomKind::Min ? min(result, args[i]) : max(result, args[i]);
      break;
    case SymAtomKind::Scaled:
      result = scaled(atom->rounding, atom->factor, args[0]);
      break;
    case SymAtomKind::Opaque:
      result = core.env->opaque(atom->name, args);
      break;
  }
  return memo[atom] = result;
}

SymInt replaced(const SymInt& a, const Replacement& replacement, AtomMemo& memo) {
  if (a.is_const()) return a;
  SymInt sum = a.expr()->constant;
  for (const SymMonomial& t : a.expr()->terms) {
    SymInt part = t.coefficient;
    for (const SymAtom* f : t.product->factors) part = part * replaced(f, *a.expr()->core, replacement, memo);
    sum = sum + part;
  }
  return sum;
}

}  // namespace

std::optional<int64_t> evaluate(const SymInt& a, const SymBindings& bindings) {
  return value_of(a, [&](size_t id) { return id < bindings.size() ? bindings[id] : std::nullopt; });
}

std::optional<int64_t> hint(const SymInt& a) {
  if (a.is_const()) return a.value();
  const ShapeEnv& env = *a.env();
  return value_of(a, [&](size_t id) { return env.info(id).hint; });
}

std::vector<size_t> free_symbols(const SymInt& a) {
  std::vector<size_t> ids;
  collect_symbols(a, ids);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

TracedSizes::TracedSizes(ShapeEnv& env) : env_(env) {
  const ShapeEnv& known = env;  // to look at a symbol does not mean to change it
  for (size_t id = 0; id < env.symbol_count(); ++id) {
    const Symbol& symbol = known.info(id);
    if (!symbol.traced_from_two || symbol.range.min >= kTracedFrom || symbol.range.max < kTracedFrom) continue;
    least_.emplace_back(id, symbol.range.min);
    env.info(id).range.min = kTracedFrom;
  }
}

TracedSizes::~TracedSizes() {
  for (const auto& [id, least] : least_) env_.info(id).range.min = least;
}

bool is_computable(const SymInt& a) {
  if (a.is_const()) return true;
  const auto computable = [](const SymAtom* atom) {
    return atom->kind != SymAtomKind::Opaque && std::ranges::all_of(atom->args, is_computable);
  };
  return std::ranges::all_of(
      a.expr()->terms, [&](const SymMonomial& term) { return std::ranges::all_of(term.product->factors, computable); });
}

std::optional<std::pair<int64_t, int64_t>> short_fraction(double factor) {
  constexpr double kLargest = 1 << 20;  // a float has 53 bits
  if (!(factor > 0) || factor > kLargest) return {};
  int64_t denominator = 1;
  for (; factor != std::floor(factor); factor *= 2, denominator *= 2)
    if (factor * 2 > kLargest || denominator > (1 << 30)) return {};
  return std::pair(static_cast<int64_t>(factor), denominator);
}

SymInt scaled(SymRounding rounding, double factor, const SymInt& size) {
  if (!std::isfinite(factor)) throw_user("a size times " + std::to_string(factor) + " is no size");
  if (factor == 0) return 0;
  if (size.is_const()) return scaled_int(rounding, factor, size.value());
  const bool is_quotient = rounding == SymRounding::Floor || rounding == SymRounding::Ceil ||
                           (rounding == SymRounding::Trunc && range(size).min >= 0);
  if (const auto fraction = short_fraction(factor); fraction && (is_quotient || fraction->second == 1)) {
    const auto [over, under] = *fraction;
    return floordiv(size * SymInt(over) + SymInt(rounding == SymRounding::Ceil ? under - 1 : 0), SymInt(under));
  }
  SymCore& core = *size.expr()->core;
  std::lock_guard lock(core.mutex);
  SymAtom probe{.kind = SymAtomKind::Scaled, .name = {}, .args = {size}, .factor = factor, .rounding = rounding};
  return core.from_monomial({core.product({core.atom(std::move(probe))}), 1});
}

SymInt substitute(const SymInt& a, const std::function<std::optional<SymInt>(size_t)>& replacement) {
  if (a.is_const()) return a;
  std::lock_guard lock(a.expr()->core->mutex);
  AtomMemo memo;
  return replaced(a, replacement, memo);
}

std::optional<Linear> linear_in(const SymInt& a, size_t symbol) {
  if (a.is_const()) return Linear{0, a};
  SymCore& core = *a.expr()->core;
  std::lock_guard lock(core.mutex);
  SymPoly coefficient, rest;
  rest.constant = a.expr()->constant;
  for (const SymMonomial& t : a.expr()->terms) {
    std::vector<const SymAtom*> others;
    size_t power = 0;
    for (const SymAtom* f : t.product->factors) {
      if (f->kind == SymAtomKind::Symbol && f->symbol == symbol) {
        ++power;
        continue;
      }
      std::vector<size_t> inside;
      for (const SymInt& arg : f->args) collect_symbols(arg, inside);
      if (std::find(inside.begin(), inside.end(), symbol) != inside.end()) return std::nullopt;
      others.push_back(f);
    }
    if (power > 1) return std::nullopt;
    if (power == 1) core.add_monomial(coefficient, core.product(std::move(others)), t.coefficient);
    if (power == 0) core.add_monomial(rest, t.product, t.coefficient);
  }
  return Linear{core.make(std::move(coefficient)), core.make(std::move(rest))};
}

std::vector<SymTerm> terms(const SymInt& a) {
  if (a.is_const()) return a.value() == 0 ? std::vector<SymTerm>{} : std::vector<SymTerm>{{a.value(), {}}};
  std::vector<SymTerm> result;
  for (const SymMonomial& t : a.expr()->terms) {
    SymTerm term{t.coefficient, {}};
    for (const SymAtom* f : t.product->factors)
      term.factors.push_back({f->kind, f->symbol, f->args, f->name, f->factor, f->rounding});
    result.push_back(std::move(term));
  }
  if (a.expr()->constant != 0) result.push_back({a.expr()->constant, {}});
  return result;
}

}  // namespace strata
