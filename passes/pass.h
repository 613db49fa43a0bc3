// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Passes and the one runner that times, verifies, records, skips and bisects them.
///
/// A pass is a named function from a graph to a graph. It never mutates its input, reads no globals and no environment.
/// Everything it did is in the rewrites it returns; a pass that found nothing to do returns none, and the runner then
/// keeps the old graph.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ir/graph.h"

namespace strata {

/// A rewrite that looked possible and was not done.
struct Refusal {
  std::string rule;
  NodeId blocker = 0;  ///< the node that is in the way
  NodeId node = 0;     ///< the node that would have been replaced
  std::string reason;
};

struct PassResult {
  Graph graph;
  std::vector<Rewrite> rewrites;    ///< empty: nothing changed
  std::vector<Refusal> refusals{};  ///< for people; they may stand beside rewrites
};

/// What a pass may know beside the graph.
struct PassContext {
  /// Values of parameters, buffers and constants by qualified name. Those that the program does not write count as
  /// constant.
  const std::map<std::string, Tensor>* state = nullptr;
  /// Largest result (bytes) that constant folding may create beyond the size of its operands.
  int64_t fold_limit = 1 << 20;
};

struct Pass {
  std::string name;  ///< a verb phrase: file, function, trace label, command-line name and test have it
  std::string doc;   ///< one line
  PassResult (*run)(const Graph& graph, const PassContext& context);
  std::string stage;      ///< stage whose snapshot its result is: `functional`, `decomposed`, `simplified`
  bool required = false;  ///< later passes need it: cannot be switched off
  /// Whether it may find something to do, without making a graph; null: not known before it has run.
  bool (*may_change)(const Graph& graph, const PassContext& context) = nullptr;
};

/// What is known of one application.
struct PassRun {
  const Pass* pass = nullptr;
  int ordinal = 0;     ///< place in the pipeline, from 0
  int occurrence = 1;  ///< how often a pass of this name has run: `cse#2`
  int64_t duration_ns = 0, verify_ns = 0;
  bool changed = false, skipped = false;
  size_t nodes_before = 0, nodes_after = 0;
  std::vector<Rewrite> rewrites;
  std::vector<Refusal> refusals;
};

struct RunnerOptions {
  std::set<std::string> disabled;  ///< names of passes to leave out
  int stop_after = -1;             ///< bisection: run only so many optional passes; -1: all
  bool verify = true;
  /// Called after each pass with its graph (the unchanged one if it did nothing).
  std::function<void(const PassRun&, const Graph&)> observer;
  /// Called between passes; true ends the run with a user Error "cancelled".
  std::function<bool()> cancelled;
};

/// From `functional` to the graph that is scheduled. Ordering constraints stand beside the entries.
const std::vector<Pass>& inference_pipeline();
/// The same without anything that crosses operator borders, for the `unfused` backend.
const std::vector<Pass>& unfused_pipeline();

/// Throws a user Error for a name that is no pass of the pipeline, or one that cannot be left out.
void check_disabled(const std::vector<Pass>& pipeline, const std::set<std::string>& disabled);

/// Runs a pipeline. Unknown names in `disabled`, or a required pass there, are user Errors. A failing verification is
/// an internal Error that names the pass and the ones before it.
Graph run_passes(const std::vector<Pass>& pipeline, const Graph& graph, const PassContext& context,
                 const RunnerOptions& options);

/// Whether the value of a node is the same in every run: a constant, or a parameter or buffer that the program does not
/// write.
class ConstantInputs {
 public:
  ConstantInputs(const Graph& graph, const PassContext& context);
  /// The value of a constant leaf (GetAttr, parameter placeholder), or null.
  const Tensor* value(const Node* leaf) const;

 private:
  std::unordered_map<const Node*, const Tensor*> values_;
  std::unordered_map<const Node*, Tensor> pairs_;  ///< of complex state
};

}  // namespace strata
