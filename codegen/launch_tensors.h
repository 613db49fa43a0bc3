// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operands and results of a launch that is one call of a graph, as tensors in the launch's buffers.

#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/op.h"
#include "core/runtime/plan.h"

namespace strata {

/// The one call in the graph of a launch. Throws an internal Error that names the launch if there is none.
const Node& operator_of(const Graph* graph, const std::string& launch);
/// Which of the call's results an output of its graph is.
size_t result_index(const Node& output, const Node& operation);

class LaunchTensors {
 public:
  /// `graph`: placeholders for the operands, and the call; `offsets`: per tensor placeholder, in elements. The launch's
  /// buffers are those of the tensor placeholders, then of the graph's outputs; throws an internal Error where they are
  /// of another number. All must outlive this.
  LaunchTensors(const Plan& plan, const Launch& launch, const Graph& graph, const std::vector<SymInt>& offsets);

  /// Values of the placeholders, in order: views of the buffers, sizes, or nothing.
  std::vector<RefValue> operands(const LaunchArgs& args) const;
  /// Where the value of output `i` goes.
  Tensor result(const LaunchArgs& args, size_t i) const;
  /// Memory of its own for a value that the launch has no buffer for.
  Tensor apart(const LaunchArgs& args, const TensorType& type) const;
  /// The position of a placeholder.
  size_t placeholder(const Node& node) const { return positions_.at(&node); }

  /// The value of a size; throws an internal Error where it has none.
  int64_t eval(const SymInt& size, const SymBindings& symbols) const;

 private:
  std::vector<int64_t> eval(const std::vector<SymInt>& sizes, const SymBindings& symbols) const;
  Tensor view(DType dtype, const std::vector<SymInt>& shape, const std::vector<SymInt>& strides, const LaunchArgs& args,
              size_t at) const;

  const Plan& plan_;
  const Launch& launch_;
  const std::vector<SymInt>& offsets_;
  std::vector<Node*> placeholders_;
  std::unordered_map<const Node*, size_t> positions_;
  size_t tensors_ = 0;  ///< placeholders that are tensors
};

}  // namespace strata
