// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The last pass over a line, one point late: softmax multiplies and stores a line while it takes the next one's
// exponentials, a norm while it sums up the next one.
//
//   passes of point `low` but the last
//   for each other point: its passes; the one before the last takes along, vector by vector, the last one of the point
//     before
//   the last pass of the last point
//
// Of the point before, what its reductions came to is kept in variables; all else is computed again from them.

#include "codegen/loop_late.h"

#include <algorithm>

#include "codegen/loop_emitter.h"
#include "codegen/loop_memory.h"
#include "codegen/loop_pair.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

bool is_written(const Kernel& k, BufferId buffer) {
  return std::any_of(k.nests.begin(), k.nests.end(), [&](const Nest& n) {
    return std::any_of(n.stores.begin(), n.stores.end(), [&](const Store& s) { return s.buffer == buffer; });
  });
}

/// The nest that takes the last one along: the one before it that goes through a line. Nests without axes may stand
/// between them.
size_t host_of_last(const Kernel& k) {
  size_t host = k.nests.size() - 1;
  while (host > 0 && k.nests[host - 1].axes.empty()) --host;
  return host == 0 ? k.nests.size() : host - 1;
}

/// Whether scratch that the last nest reads is written by the one before only, at the same place of the line: then a
/// vector of it is read before the next point's takes its place.
bool is_read_in_time(const Kernel& k, const Scalar& load) {
  const Nest &last = k.nests.back(), &host = k.nests[host_of_last(k)];
  const auto at = linear_in(load.index, k.axes[last.axes[0]].symbol);
  for (const Nest& nest : k.nests)
    for (const Store& s : nest.stores) {
      if (s.buffer != load.buffer) continue;
      const auto to = linear_in(s.index, k.axes[host.axes[0]].symbol);
      if (&nest != &host || !at || !to || !(at->coefficient == to->coefficient) || !(at->rest == to->rest))
        return false;
    }
  return true;
}

bool can_be_late(const KernelPlan& plan) {
  const Kernel& k = plan.kernel;
  if (k.outer.empty() || plan.lanes_are_points || !k.checks.empty() || !k.indirect.empty()) return false;
  const size_t at = host_of_last(k);
  if (at >= k.nests.size()) return false;
  for (const size_t n : {at, k.nests.size() - 1})
    if (k.nests[n].axes.size() != 1 || plan.nests[n].lanes < 2 || !plan.nests[n].turned.empty() || k.nests[n].scan)
      return false;
  const Nest &last = k.nests.back(), &host = k.nests[at];
  if (!(k.axes[last.axes[0]].extent == k.axes[host.axes[0]].extent)) return false;
  if (!last.reductions.empty() || last.stores.empty()) return false;
  const auto past_caches = [&](const Store& s) { return plan.streamed[s.buffer] != 0; };
  if (!std::all_of(last.stores.begin(), last.stores.end(), past_caches)) return false;
  return std::all_of(k.scalars.begin(), k.scalars.end(), [&](const Scalar& s) {
    if (s.op != ScalarOp::Load || !is_written(k, s.buffer)) return true;
    return k.buffers[s.buffer].role == BufferRole::Local && is_read_in_time(k, s);
  });
}

}  // namespace

void choose_late(KernelPlan& plan) { plan.late = can_be_late(plan); }

/// Instructions of other nests that the last one needs, in order.
std::vector<ScalarId> KernelEmitter::needs_of_late() const {
  const Nest& late = k_.nests.back();
  std::vector<char> needed(k_.scalars.size(), 0);
  for (ScalarId id : late.body) needed[id] = 1;
  for (const Store& s : late.stores)
    for (ScalarId id : {s.value, s.mask})
      if (id != kNone) needed[id] = 1;
  // An operand stands before its user or in an earlier nest: nests are gone through backwards.
  for (size_t n = k_.nests.size(); n-- > 0;) mark_operands(k_, k_.nests[n], needed);
  std::vector<ScalarId> found;
  for (size_t n = 0; n + 1 < k_.nests.size(); ++n)
    for (ScalarId id : k_.nests[n].body)
      if (needed[id]) found.push_back(id);
  return found;
}

void KernelEmitter::emit_late_points(Value* low, Value* high) {
  const size_t symbol = k_.axes[k_.outer.back()].symbol;
  late_.host = host_of_last(k_);
  late_.needs = needs_of_late();
  symbols_[symbol] = low;
  emit_early_nests();
  Value* second = b_.CreateAdd(low, b_.getInt64(1));
  loop(second, high, 1, false, kPointLevel, "point", [&](Value* i) {
    symbols_[symbol] = i;
    late_.point = b_.CreateSub(i, b_.getInt64(1));
    late_.reduced.clear();
    for (const auto& [key, place] : late_.kept) late_.reduced[key] = b_.CreateLoad(place->getAllocatedType(), place);
    emit_early_nests();
    late_.point = nullptr;
  });
  symbols_[symbol] = b_.CreateSub(high, b_.getInt64(1));
  for (const auto& [key, place] : late_.kept) reduced_[key] = b_.CreateLoad(place->getAllocatedType(), place);
  depth_ = kPointLevel;
  for (ScalarId id : late_.needs) emit_scalar(id);
  nest_ = k_.nests.size() - 1;
  emit_nest(nest_);
  forget(kPointLevel);
  reduced_.clear();
  late_ = {};
}

/// All nests of a point but the last, and what that one needs of them put aside.
void KernelEmitter::emit_early_nests() {
  emit_nests(k_.nests.size() - 1);
  for (const auto& [key, value] : reduced_) {
    auto& place = late_.kept[key];
    if (!place) place = at_entry(value->getType(), "kept");
    b_.CreateStore(value, place);
  }
  forget(kPointLevel);
  late_.values.clear();
  reduced_.clear();
}

/// The last nest at the vector that the present one is at, one point before.
void KernelEmitter::emit_late_body(size_t copy) {
  if (!late_.point || nest_ != late_.host) return;
  const size_t host = nest_, symbol = k_.axes[k_.outer.back()].symbol;
  const auto axis_of = [&](size_t nest) { return k_.axes[k_.nests[nest].axes[0]].symbol; };
  Value *point = symbols_.at(symbol), *lane = symbols_.at(axis_of(host));
  nest_ = k_.nests.size() - 1;
  symbols_[symbol] = late_.point;
  symbols_[axis_of(nest_)] = lane;
  std::swap(values_, late_.values);
  std::swap(reduced_, late_.reduced);
  for (ScalarId id : late_.needs) emit_scalar(id);
  emit_body(copy);
  forget(kInnerLevel);
  std::swap(reduced_, late_.reduced);
  std::swap(values_, late_.values);
  symbols_[symbol] = point;
  nest_ = host;
}

/// Whether every vector that the last nest stores while the present one goes through its line may go past the caches,
/// or null: each has to be asked for itself.
llvm::Value* KernelEmitter::late_is_aligned() {
  if (!late_.point || nest_ != late_.host) return nullptr;
  for (const Store& s : k_.nests[nest_].stores)
    if (plan_.streamed[s.buffer]) return nullptr;
  const Nest& last = k_.nests.back();
  const size_t outer = k_.axes[k_.outer.back()].symbol, lane = k_.axes[last.axes[0]].symbol;
  std::vector<SymInt> starts;
  for (const Store& s : last.stores) {
    const auto along = linear_in(s.index, lane);
    if (!along || !(along->coefficient == SymInt(1))) return nullptr;
    starts.push_back(along->rest);
  }
  Value *point = symbols_.at(outer), *low = b_.getInt64(0);
  symbols_[outer] = late_.point;
  for (size_t i = 0; i < starts.size(); ++i)
    low = b_.CreateOr(low, bits_past_vector(last.stores[i].buffer, expression(starts[i])));
  symbols_[outer] = point;
  return b_.CreateICmpEQ(low, b_.getInt64(0));
}

/// Of the address of an element and of the distance of those that follow (bytes), what is no whole number of the
/// vectors that go past the caches: 0 if all begin as such a vector must.
llvm::Value* KernelEmitter::bits_past_vector(BufferId buffer, Value* index, Value* pitch) {
  const uint64_t unit = std::min<uint64_t>(lanes_ * dtype_size(k_.buffers[buffer].dtype), 64);
  Value* place = b_.CreatePtrToInt(pointer(buffer, index), b_.getInt64Ty());
  return b_.CreateAnd(pitch ? b_.CreateOr(place, pitch) : place, b_.getInt64(unit - 1));
}

}  // namespace strata::codegen
