// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_sum_exp.h"

#include <algorithm>

#include "codegen/loop_pair.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

/// Elements of a line: putting the lanes together costs several.
constexpr int64_t kShortest = 128;

/// A nest that finds the largest x of a line, and the next one through it, which sums up e^(x - the largest), or
/// e^(x - 0) where the largest is infinite (logsumexp).
struct Pair : LinePair {
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
    if (!reduce(Combine::Max, Combine::Sum) || !a.stores.empty() || a.reductions[0].dtype != DType::F32) return false;
    if (range(k.axes[a.axes[0]].extent).min < 1) return false;
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

  bool is_largest(ScalarId id) const { return is_result(id, first); }
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
};

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

}  // namespace

std::vector<Shares> find_shares(const Kernel& kernel) {
  std::vector<Shares> found;
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    const size_t next = next_line(kernel, n);
    if (next < kernel.nests.size() && Pair{{kernel, n, next}}.shares_only()) found.push_back({n, next});
  }
  return found;
}

void sum_exponentials_as_they_come(Kernel& kernel) {
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    const size_t next = next_line(kernel, n);
    if (next >= kernel.nests.size()) continue;
    const Pair pair{{kernel, n, next}};
    if (!pair.sums_only()) continue;
    if (pair.spares_infinities()) spare_infinities(kernel, n, next);
    join(kernel, n, next, Combine::SumExp);
  }
}

}  // namespace strata::codegen
