// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Calls that run other graphs: `torch.cond`, `while_loop`, `map`, `scan`. The other graphs, their bodies, are
/// subgraphs of the one that the call stands in. The interpreter and compiled programs run them by the same rules,
/// which are here.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/ir/op.h"

namespace strata {

/// What a control-flow call does. Every body has as many placeholders as there are operands; what comes first of them
/// is carried from run to run, then come those of which a run gets one element along the first dimension.
struct ControlFlow {
  enum class Kind : uint8_t {
    Cond,       ///< bodies: if true, if false; results: the body's
    WhileLoop,  ///< bodies: the condition (one bool), what is repeated; results: what is carried
    Map,        ///< body: of one element of each sliced operand; results: all runs', stacked
    Scan        ///< body: gives what is carried, then what is stacked; results: both
  };
  Kind kind = Kind::Cond;
  std::vector<std::string> bodies;  ///< names of subgraphs
  Argument condition;               ///< Cond
  std::vector<Argument> operands;
  size_t carried = 0, sliced = 0;  ///< of the operands, in this order
  size_t results = 0;
};

bool is_control_flow(const Node& node);
/// Nodes of a graph, then those of the graphs in it.
std::vector<const Node*> all_nodes(const Graph& graph);
/// Of a node for which `is_control_flow` holds. Throws a user Error for arguments of another form.
ControlFlow control_flow_of(const Node& node);
/// Types of its results: parts of a tuple, or one.
std::span<const Type> result_types(const Node& node);
/// The call with these operands in place of its own; as many of them as before are carried and sliced.
std::vector<Argument> with_operands(const Node& node, const std::vector<Argument>& operands);

/// Throws a user Error where a body of the call (a subgraph of `graph`) does not fit: its number of inputs, what they
/// are, its results beside those that the call is said to have.
void require_fitting_bodies(const Graph& graph, const Node& node);

/// How bodies are run.
struct ControlRunner {
  /// The results of body `i`.
  std::function<std::vector<RefValue>(size_t body, const std::vector<RefValue>& inputs)> run;
  /// Memory for result `k`, all of it, where the results of many runs are stacked.
  std::function<Tensor(size_t k)> memory;
};
/// Results of a call, in order. `condition`: of Cond.
std::vector<RefValue> run_control_flow(const ControlFlow& flow, const RefValue& condition,
                                       std::vector<RefValue> operands, const ControlRunner& runner);

}  // namespace strata
