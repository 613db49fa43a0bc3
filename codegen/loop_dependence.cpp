// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_dependence.h"

#include <algorithm>

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

Dependence::Dependence(const Kernel& kernel, bool lanes_are_points)
    : k_(kernel),
      lanes_are_points_(lanes_are_points),
      level_(kernel.scalars.size(), 0),
      varies_(kernel.scalars.size(), 0),
      stored_(kernel.buffers.size(), 0) {
  for (const Nest& nest : k_.nests) {
    for (const Store& s : nest.stores) stored_[s.buffer] = 1;
  }
  for (size_t n = 0; n < k_.nests.size(); ++n) {
    for (ScalarId id : k_.nests[n].body) analyse(id, n);
  }
}

int Dependence::depth(size_t nest) const { return kPointLevel + static_cast<int>(k_.nests[nest].axes.size()); }

std::optional<AxisId> Dependence::lane_axis(size_t nest) const {
  if (lanes_are_points_) return k_.outer.empty() ? std::nullopt : std::optional(k_.outer.back());
  return k_.nests[nest].axes.empty() ? std::nullopt : std::optional(k_.nests[nest].axes.back());
}

int Dependence::symbol_level(size_t symbol, size_t nest) const {
  for (size_t i = 0; i < k_.outer.size(); ++i) {
    if (k_.axes[k_.outer[i]].symbol == symbol) return i + 1 == k_.outer.size() ? kPointLevel : kRowLevel;
  }
  const auto& axes = k_.nests[nest].axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (k_.axes[axes[i]].symbol == symbol) return kInnerLevel + static_cast<int>(i);
  }
  auto it = k_.indirect.find(symbol);
  return it == k_.indirect.end() ? static_cast<int>(kFunctionLevel) : level_[it->second];
}

bool Dependence::symbol_varies(size_t symbol, size_t nest) const {
  if (auto axis = lane_axis(nest); axis && k_.axes[*axis].symbol == symbol) return true;
  auto it = k_.indirect.find(symbol);
  return it != k_.indirect.end() && varies_[it->second];
}

int Dependence::level(const SymInt& e, size_t nest) const {
  int level = kFunctionLevel;
  if (e.is_const()) return level;
  for (size_t s : free_symbols(e)) level = std::max(level, symbol_level(s, nest));
  return level;
}

bool Dependence::varies(const SymInt& e, size_t nest) const {
  if (e.is_const()) return false;
  for (size_t s : free_symbols(e)) {
    if (symbol_varies(s, nest)) return true;
  }
  return false;
}

void Dependence::analyse(ScalarId id, size_t nest) {
  const Scalar& s = k_.scalars[id];
  int level = kFunctionLevel;
  bool varies = false;
  auto operand = [&](ScalarId a) {
    if (a == kNone) return;
    level = std::max(level, level_[a]);
    varies = varies || varies_[a];
  };
  switch (s.op) {
    case ScalarOp::Const:
      break;
    case ScalarOp::Reduced:
      level = s.a == nest ? depth(nest) : static_cast<int>(kPointLevel);
      varies = lanes_are_points_;
      break;
    case ScalarOp::Load:
      operand(s.a);
      [[fallthrough]];
    case ScalarOp::Index:
      level = std::max(level, this->level(s.index, nest));
      varies = varies || this->varies(s.index, nest);
      if (s.op != ScalarOp::Load) break;
      // Not before the earlier stores of this point; and not before it is known that the nest runs at all.
      if (stored_[s.buffer]) level = depth(nest);
      if (lanes_are_points_ && k_.buffers[s.buffer].role == BufferRole::Local) varies = true;
      if (!k_.nests[nest].axes.empty() || k_.outer.empty()) level = std::max<int>(level, kPointLevel);
      break;
    default:
      operand(s.a);
      operand(s.b);
      operand(s.c);
      // Where nothing runs, nothing is violated.
      if (s.op == ScalarOp::Check && (!k_.nests[nest].axes.empty() || k_.outer.empty()))
        level = std::max<int>(level, kPointLevel);
  }
  level_[id] = level;
  varies_[id] = varies;
}

}  // namespace strata::codegen
