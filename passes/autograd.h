// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Differentiation: from a functional graph to the joint graph of forward and backward, by the gradient builders of the
/// operator table.

#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace strata {

struct JointOptions {
  /// Placeholders (by position) whose gradient is wanted. Empty: every floating parameter and every floating user input
  /// that requires a gradient.
  std::vector<bool> needs_gradient;
  /// Flat outputs (by position) that get a tangent. Empty: every floating tensor that depends on such a placeholder and
  /// is no mutation.
  std::vector<bool> has_tangent;
};

/// The graph with placeholders `primals_1...` (the inputs, in order) and `tangents_1...` (one per output that has one),
/// and the outputs followed by one gradient per primal (None where none is wanted or none arrives). Output specs say
/// which is which. Nodes of the forward part keep their ids; those of the backward part have the role Backward, the
/// source line of what they differentiate, and an origin of kind Gradient. Operators without a gradient of their own
/// are differentiated through their decomposition. Throws a user Error that lists all operators between a wanted input
/// and a tangent that have no gradient, with their Python lines.
Graph make_joint(const Graph& functional, const JointOptions& options = {});

/// Number of placeholders of a joint graph that are primals; the rest are tangents.
size_t count_primals(const Graph& joint);

}  // namespace strata
