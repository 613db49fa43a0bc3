// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_sum_exp.h"

#include <algorithm>
#include <bit>

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

/// Elements of a line: the lanes' sums, each beside a number of its own, cost several to put together.
constexpr int64_t kShortest = 512;

bool has_one(const Nest& nest, Combine combine) {
  return nest.axes.size() == 1 && nest.stores.empty() && !nest.scan && nest.reductions.size() == 1 &&
         nest.reductions[0].combine == combine && nest.reductions[0].mask == kNone &&
         nest.reductions[0].dtype == DType::F32;
}

/// A nest that finds the largest x of a line, and the next one through it, which sums up e^(x - the largest), or
/// e^(x - 0) where the largest is infinite (logsumexp).
struct Pair {
  const Kernel& k;
  size_t first, second;

  bool sums_only() const {
    return fits() && hint(k.axes[k.nests[first].axes[0]].extent).value_or(0) >= kShortest && !is_wanted_again();
  }

  /// Whether exponentials go nowhere but into the sum and what is divided by it, and the largest into exponents.
  bool shares_only() const {
    if (!fits() || spares_infinities()) return false;
    for (const Nest& nest : k.nests) {
      for (const ScalarId id : nest.body) {
        const Scalar& s = k.scalars[id];
        if (s.op == ScalarOp::Reduced || s.op == ScalarOp::Const || s.op == ScalarOp::Index) continue;
        for (const ScalarId operand : {s.a, s.b, s.c})
          if (operand != kNone && !is_fine(operand, s, operand == s.b)) return false;
      }
      for (const Reduction& r : nest.reductions)
        for (const ScalarId id : {r.value, r.position, r.mask})
          if (id != kNone && is_ours(id) && !(&nest == &k.nests[second] && id == r.value)) return false;
      for (const Store& s : nest.stores)
        if (is_ours(s.value) || (s.mask != kNone && is_ours(s.mask))) return false;
    }
    return true;
  }

  bool fits() const {
    const Nest &a = k.nests[first], &b = k.nests[second];
    if (!has_one(a, Combine::Max) || !has_one(b, Combine::Sum)) return false;
    const SymInt& extent = k.axes[a.axes[0]].extent;
    if (!(extent == k.axes[b.axes[0]].extent) || range(extent).min < 1) return false;
    const std::optional<ScalarId> x = exponent(b.reductions[0].value);
    return x && equal(*x, a.reductions[0].value);
  }

  /// Of a pair that `fits`: whether nothing is subtracted where the largest is infinite.
  bool spares_infinities() const {
    const Scalar& exponential = k.scalars[k.nests[second].reductions[0].value];
    return is_finite_largest(k.scalars[exponential.a].b);
  }

 private:
  /// x of e^(x - the largest).
  std::optional<ScalarId> exponent(ScalarId id) const {
    if (k.scalars[id].op != ScalarOp::Exp) return {};
    const Scalar& difference = k.scalars[k.scalars[id].a];
    if (difference.op != ScalarOp::Sub) return {};
    if (!is_largest(difference.b) && !is_finite_largest(difference.b)) return {};
    return difference.a;
  }

  /// The largest, or 0 where that is infinite.
  bool is_finite_largest(ScalarId id) const {
    const Scalar& s = k.scalars[id];
    if (s.op != ScalarOp::Select || !is_largest(s.c)) return false;
    const Scalar &condition = k.scalars[s.a], &zero = k.scalars[s.b];
    return condition.op == ScalarOp::IsInf && is_largest(condition.a) && zero.op == ScalarOp::Const && zero.number == 0;
  }

  bool is_largest(ScalarId id) const { return k.scalars[id].op == ScalarOp::Reduced && k.scalars[id].a == first; }
  bool is_difference(const Scalar& s) const { return s.op == ScalarOp::Sub && is_largest(s.b); }
  /// The largest, what is less by it, and e^that.
  bool is_ours(ScalarId id) const {
    const Scalar& s = k.scalars[id];
    return is_largest(id) || is_difference(s) || exponent(id);
  }
  /// Whether what takes one of those is the next of them, or divides by the sum.
  bool is_fine(ScalarId operand, const Scalar& user, bool is_second) const {
    if (is_largest(operand)) return user.op == ScalarOp::Sub && is_second && user.a != operand;
    if (is_difference(k.scalars[operand])) return user.op == ScalarOp::Exp;
    if (!exponent(operand)) return true;
    const Scalar* by = user.op == ScalarOp::Div && !is_second ? &k.scalars[user.b] : nullptr;
    return by && by->op == ScalarOp::Reduced && by->a == second;
  }

  /// Whether a later nest goes through these exponentials, too.
  bool is_wanted_again() const {
    return std::any_of(k.nests.begin() + static_cast<std::ptrdiff_t>(second) + 1, k.nests.end(), [&](const Nest& nest) {
      return !nest.axes.empty() &&
             std::any_of(nest.body.begin(), nest.body.end(), [&](ScalarId id) { return exponent(id).has_value(); });
    });
  }

  /// Whether a value of the second nest is one of the first, at the same place of the line.
  bool equal(ScalarId of_second, ScalarId of_first) const {
    if (of_second == of_first) return true;
    if (of_second == kNone || of_first == kNone) return false;
    const Scalar &a = k.scalars[of_second], &b = k.scalars[of_first];
    if (a.op != b.op || a.dtype != b.dtype || a.buffer != b.buffer || a.integer != b.integer ||
        std::bit_cast<uint64_t>(a.number) != std::bit_cast<uint64_t>(b.number) || a.op == ScalarOp::Check ||
        !same_place(a.index, b.index))
      return false;
    if (a.op == ScalarOp::Reduced) return a.a == b.a && a.b == b.b;
    return equal(a.a, b.a) && equal(a.b, b.b) && equal(a.c, b.c);
  }

  bool same_place(const SymInt& of_second, const SymInt& of_first) const {
    if (of_second.is_const() || of_first.is_const()) return of_second == of_first;
    const auto a = linear_in(of_second, symbol(second)), b = linear_in(of_first, symbol(first));
    return a && b && a->coefficient == b->coefficient && a->rest == b->rest;
  }

  size_t symbol(size_t nest) const { return k.axes[k.nests[nest].axes[0]].symbol; }
};

/// The next nest through a line; before it only those that compute a number or two.
size_t next_line(const Kernel& k, size_t n) {
  for (++n; n < k.nests.size() && k.nests[n].axes.empty(); ++n)
    if (!k.nests[n].stores.empty()) return k.nests.size();
  return n;
}

/// Instead of the sum of e^(x - m), m the largest, that of e^(x - 0) where m is infinite: infinite or 0, which is e^m.
void spare_infinities(Kernel& k, size_t first, size_t second) {
  for (Nest& nest : k.nests) {
    for (size_t at = 0; at < nest.body.size(); ++at) {
      const Scalar sum = k.scalars[nest.body[at]];
      if (sum.op != ScalarOp::Reduced || sum.a != second) continue;
      const auto before = [&](const Scalar& s) {
        k.scalars.push_back(s);
        const auto id = static_cast<ScalarId>(k.scalars.size() - 1);
        nest.body.insert(nest.body.begin() + static_cast<std::ptrdiff_t>(at++), id);
        return id;
      };
      const auto made = [&](ScalarOp op, DType dtype, ScalarId a) {
        Scalar s;
        s.op = op, s.dtype = dtype, s.a = a, s.node = sum.node;
        return s;
      };
      Scalar largest = sum;
      largest.a = static_cast<ScalarId>(first);
      const ScalarId old = before(sum), m = before(largest);
      Scalar select = made(ScalarOp::Select, DType::F32, before(made(ScalarOp::IsInf, DType::Bool, m)));
      select.b = before(made(ScalarOp::Exp, DType::F32, m));
      select.c = old;
      k.scalars[nest.body[at]] = select;
    }
  }
}

/// The second nest goes; what it came to is the second result of the first.
void join(Kernel& k, size_t first, size_t second) {
  k.nests[first].reductions[0].combine = Combine::SumExp;
  k.nests.erase(k.nests.begin() + static_cast<std::ptrdiff_t>(second));
  for (Scalar& s : k.scalars) {
    if (s.op != ScalarOp::Reduced || s.a < second) continue;
    if (s.a == second) {
      s.a = static_cast<ScalarId>(first);
      s.integer = 1;
    } else {
      --s.a;
    }
  }
}

}  // namespace

std::vector<Shares> find_shares(const Kernel& kernel) {
  std::vector<Shares> found;
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    const size_t next = next_line(kernel, n);
    if (next < kernel.nests.size() && Pair{kernel, n, next}.shares_only())
      found.push_back({n, kernel.nests[next].reductions[0].value});
  }
  return found;
}

void sum_exponentials_as_they_come(Kernel& kernel) {
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    const size_t next = next_line(kernel, n);
    if (next >= kernel.nests.size()) continue;
    const Pair pair{kernel, n, next};
    if (!pair.sums_only()) continue;
    if (pair.spares_infinities()) spare_infinities(kernel, n, next);
    join(kernel, n, next);
  }
}

}  // namespace strata::codegen
