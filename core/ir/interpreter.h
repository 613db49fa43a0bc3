// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The reference interpreter: runs a graph of any stage node by node through the operator table's reference rules.
/// Slow, plain, and what everything else is compared with.
///
/// Graphs as captured may alias and mutate: views share storage, and an in-place operator computes its functional twin
/// and writes the result through the view it was given. The caller's tensors are never written; `input()` gives what
/// the program left in them. Operators without a reference are run through their decomposition.

#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/op.h"

namespace strata {

struct InterpreterOptions {
  /// Every floating tensor is carried in float64, whatever its declared type: the yardstick for errors of the native
  /// types.
  bool float64 = false;
  /// Called with the value of every node of the graph as soon as it is there (an in-place operator may change it
  /// later); of bodies of control flow in each of their runs.
  std::function<void(const Node&, const RefValue&)> observer;
  /// Called before every node with the number of nodes done and their total; returning false ends the run with a user
  /// Error.
  std::function<bool(size_t done, size_t total)> progress;
};

class Interpreter {
 public:
  /// The graph must outlive the interpreter.
  explicit Interpreter(const Graph& graph, InterpreterOptions options = {});

  /// Values of the placeholders in order; the values of the flat outputs come back, in order (None as an empty
  /// RefValue). Sizes are taken from `symbols`; symbols without a value that a placeholder's shape names are bound from
  /// the tensors. Throws a user Error that names node and Python line: wrong number of inputs, no reference for an
  /// operator, an operand that an operator does not take.
  std::vector<RefValue> run(std::span<const RefValue> inputs, const SymBindings& symbols = {});
  std::vector<RefValue> run(std::span<const Tensor> inputs, const SymBindings& symbols = {});

  /// After a run: placeholder `i` as the program left it (in-place operators on inputs and buffers).
  const RefValue& input(size_t i) const { return inputs_.at(i); }

 private:
  const Graph& graph_;
  InterpreterOptions options_;
  bool mutates_ = false;
  std::unordered_map<const Node*, size_t> last_use_;
  std::unordered_set<const Node*> in_memory_;  ///< whose memory `as_strided` looks at: they lie as their types say
  std::vector<RefValue> inputs_;
};

}  // namespace strata
