// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Splits a joint graph into forward and backward so that few bytes are kept between them.

#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace strata {

/// What became of a value that the backward graph needs.
struct PartitionDecision {
  enum class Kind : uint8_t {
    Saved,       ///< an output of the forward graph, an input of the backward one
    Recomputed,  ///< computed in both
    Moved        ///< only the backward part needs it: computed there alone
  };
  NodeId node = 0;
  std::string name;
  Kind kind = Kind::Saved;
  int64_t bytes = 0;  ///< of the value, sizes at their hints
  std::string reason;
};
std::string_view to_string(PartitionDecision::Kind kind);

struct Partition {
  Graph forward;                             ///< primals -> outputs, then the saved values
  Graph backward;                            ///< saved values (under their names), then the tangents -> gradients
  std::vector<PartitionDecision> decisions;  ///< in graph order
  size_t output_count = 0;                   ///< flat outputs of `forward` that are the program's
  std::vector<NodeId> saved;                 ///< parallel to the remaining ones, and to the first inputs of `backward`
  int64_t saved_bytes = 0;                   ///< parameters included
};

/// `joint` as `make_joint` gives it. What is saved is a minimum cut between the inputs and what depends on a tangent,
/// weighted by bytes; values whose computation is cheap (element-wise, views, constants) may be recomputed, parameters
/// cost nothing to keep. Nodes that are recomputed get new ids, the role Recomputed and an origin; all others keep
/// their ids.
Partition partition(const Graph& joint);

}  // namespace strata
