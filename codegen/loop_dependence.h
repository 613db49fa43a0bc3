// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which instructions of a loop kernel depend on which of its loops.

#include <optional>
#include <vector>

#include "core/ir/loop.h"

namespace strata::codegen {

/// Depth of the loop that an instruction belongs to: it is computed once per iteration of that loop.
enum Level : int {
  kFunctionLevel = 0,  ///< constant for the whole call
  kRowLevel = 1,       ///< changes with the outer axes but the innermost one
  kPointLevel = 2,     ///< once per outer point
  kInnerLevel = 3      ///< plus the position of the inner axis in its nest
};

/// Where each instruction belongs, and whether it differs between lanes.
class Dependence {
 public:
  Dependence(const loop::Kernel& kernel, bool lanes_are_points);

  int level(loop::ScalarId id) const { return level_[id]; }
  bool varies(loop::ScalarId id) const { return varies_[id] != 0; }
  int level(const SymInt& e, size_t nest) const;
  bool varies(const SymInt& e, size_t nest) const;
  /// The axis along which the lanes of a nest lie; nothing if its instructions are scalar.
  std::optional<loop::AxisId> lane_axis(size_t nest) const;
  /// Depth of the innermost loop of a nest.
  int depth(size_t nest) const;
  int symbol_level(size_t symbol, size_t nest) const;
  bool symbol_varies(size_t symbol, size_t nest) const;

 private:
  void analyse(loop::ScalarId id, size_t nest);

  const loop::Kernel& k_;
  bool lanes_are_points_;
  std::vector<int> level_;
  std::vector<char> varies_;
  std::vector<char> stored_;  // buffer is written by this kernel
};

}  // namespace strata::codegen
