// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What stands for a node in another stage: the node itself, what was made of it, or what it was made from.

#include <functional>
#include <unordered_set>
#include <vector>

#include "app/studio/models/step.h"
#include "core/trace/reader.h"

namespace strata::studio {

enum class Relation : int {
  None = 0,
  Same,      ///< the nodes themselves
  MadeOf,    ///< at least one was made of them
  MadeFrom,  ///< at least one is what they were made from, and none was made of them
};

struct Relatives {
  std::vector<trace::NodeId> nodes;  ///< of the stage, nearest first
  Relation relation = Relation::None;
  /// Of a stage of text: for each text the lines that belong to the nodes, and the kernels that compute them.
  std::vector<LineRanges> lines;
  std::vector<trace::Id> kernels;
  bool operator==(const Relatives&) const = default;
};

/// Nodes met from `start` along origin edges, towards what was made of them (`down`) or what they were made from,
/// nearest first, without `start`; at most kMostKin. `stop` is asked now and then and ends the walk.
inline constexpr size_t kMostKin = 20000;
std::vector<trace::NodeId> kin(trace::Reader& reader, trace::Id compile, const std::vector<trace::NodeId>& start,
                               bool down, const std::function<bool()>& stop = {});

/// What stands in `step` for nodes of its compile, `compile`. Nodes that are not in it have what was made of them, or
/// else what they were made from, stand for them. Reads from the trace only when some node is not there.
Relatives find_relatives(trace::Reader& reader, const CompileData& compile, const StepData& step,
                         const std::vector<trace::NodeId>& nodes, const std::function<bool()>& stop = {});

}  // namespace strata::studio
