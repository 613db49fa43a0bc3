// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_pair.h"

#include <algorithm>
#include <bit>

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

bool LinePair::reduce(Combine of_first, Combine of_second) const {
  const auto has_one = [](const Nest& nest, Combine combine) {
    return nest.axes.size() == 1 && !nest.scan && nest.reductions.size() == 1 &&
           nest.reductions[0].combine == combine && nest.reductions[0].mask == kNone;
  };
  const Nest &a = k.nests[first], &b = k.nests[second];
  return has_one(a, of_first) && has_one(b, of_second) && b.stores.empty() &&
         a.reductions[0].dtype == b.reductions[0].dtype && k.axes[a.axes[0]].extent == k.axes[b.axes[0]].extent;
}

bool LinePair::equal(ScalarId of_second, ScalarId of_first) const {
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

bool LinePair::is_result(ScalarId id, size_t nest) const {
  return k.scalars[id].op == ScalarOp::Reduced && k.scalars[id].a == nest;
}

bool LinePair::same_place(const SymInt& of_second, const SymInt& of_first) const {
  if (of_second.is_const() || of_first.is_const()) return of_second == of_first;
  const auto a = linear_in(of_second, symbol(second)), b = linear_in(of_first, symbol(first));
  return a && b && a->coefficient == b->coefficient && a->rest == b->rest;
}

bool has_checks(const Kernel& k, const Nest& nest) {
  return std::ranges::any_of(nest.body, [&](ScalarId id) { return k.scalars[id].op == ScalarOp::Check; });
}

bool reads_what_is_written(const Kernel& k, const Nest& reader, const Nest& writer) {
  return std::ranges::any_of(reader.body, [&](ScalarId id) {
    const Scalar& s = k.scalars[id];
    return s.op == ScalarOp::Load &&
           std::ranges::any_of(writer.stores, [&](const Store& w) { return w.buffer == s.buffer; });
  });
}

void mark_operands(const Kernel& k, const Nest& nest, std::vector<char>& marked) {
  // An operand stands before its user in the body.
  for (size_t i = nest.body.size(); i-- > 0;) {
    const Scalar& s = k.scalars[nest.body[i]];
    if (!marked[nest.body[i]] || s.op == ScalarOp::Reduced) continue;
    for (const ScalarId operand : {s.a, s.b, s.c})
      if (operand != kNone) marked[operand] = 1;
  }
}

size_t next_line(const Kernel& k, size_t n) {
  for (++n; n < k.nests.size() && k.nests[n].axes.empty(); ++n)
    if (!k.nests[n].stores.empty()) return k.nests.size();
  return n;
}

void join(Kernel& k, size_t first, size_t second, Combine combine) {
  k.nests[first].reductions[0].combine = combine;
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

}  // namespace strata::codegen
