// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// All that could lie so is assumed to; then whatever has a reader or an operand that does not fit is taken out, until
// nothing changes. What is left over never reorders: each value of it is made and read by somebody who takes it so.

#include "passes/channels_last.h"

#include <algorithm>

#include "passes/lower_to_loops.h"
#include "passes/strided_view.h"

namespace strata {
namespace {

/// More parts than this and a vector of channels asks too often which of them it is in.
constexpr size_t kMostParts = 3;

bool is_cat(const Node& node) { return node.is("aten.cat.default"); }

class Search {
 public:
  Search(const Graph& graph, const ConvolutionGroups& groups) : graph_(graph), groups_(groups) {}

  std::vector<const Node*> run() {
    for (const auto& node : graph_.nodes())
      if (could(*node)) chosen_.insert(node.get());
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& node : graph_.nodes())
        if (chosen_.contains(node.get()) && !(operands_fit(*node) && readers_fit(*node)))
          changed = chosen_.erase(node.get()) > 0;
    }
    std::vector<const Node*> values;
    for (const auto& node : graph_.nodes())
      if (chosen_.contains(node.get()) && (!groups_.convolution_of(*node) || has_other_readers(*node)))
        values.push_back(node.get());
    return values;
  }

 private:
  static bool is_image(const Node& node) {
    return node.type.is_tensor() && node.tensor().shape.size() == 4 &&
           (node.tensor().dtype == DType::F32 || node.tensor().dtype == DType::BF16);
  }

  bool could(const Node& node) const {
    if (!is_image(node) || groups_.outputs.contains(&node) || is_view(node) || !groups_.readers.contains(&node))
      return false;
    if (const Node* convolution = groups_.convolution_of(node))
      return groups_.is_result(node) && convolution->tensor().shape == node.tensor().shape;
    if (is_cat(node)) return node.operands().size() <= kMostParts;
    return is_window(node) || is_resampling(node) || is_pointwise(node);
  }

  /// Every element from those at its own place, or broadcast.
  static bool is_pointwise(const Node& node) {
    return is_inlinable(node) && node.op && node.op->op_class == OpClass::Pointwise;
  }

  /// Elements of its operand's places, within their channel.
  static bool is_resampling(const Node& node) {
    return is_inlinable(node) &&
           (node.target.starts_with("aten.upsample_") || node.target.starts_with("aten.constant_pad_nd."));
  }

  bool operands_fit(const Node& node) const {
    if (groups_.convolution_of(node)) return true;
    bool any = false;
    for (const Node* operand : node.operands()) {
      if (!operand->type.is_tensor()) continue;
      if (chosen_.contains(operand)) {
        any = true;
      } else if (!is_pointwise(node) || operand->tensor().numel() == node.tensor().numel()) {
        return false;
      }
    }
    return any;
  }

  bool readers_fit(const Node& node) const {
    const auto& readers = groups_.readers.at(&node);
    return std::all_of(readers.begin(), readers.end(), [&](const Node* r) { return fits(*r, node); });
  }

  bool fits(const Node& reader, const Node& node) const {
    for (const Node* operand : reader.operands())
      if (operand != &node && groups_.base_of(operand) == &node) return false;  // through a view
    if (const Node* convolution = groups_.convolution_of(reader)) {
      const bool as_weight =
          &reader == convolution &&
          (reader.args.at(1).node() == &node || (!reader.args.at(2).is_none() && reader.args.at(2).node() == &node));
      return !as_weight;
    }
    return chosen_.contains(&reader) || is_mean_of_channels(reader, node);
  }

  /// A sum of all places of each channel: whole vectors of channels are added.
  static bool is_mean_of_channels(const Node& reader, const Node& node) {
    if (!is_reduction(reader) || !reader.type.is_tensor()) return false;
    const auto& shape = node.tensor().shape;
    return reader.tensor().numel() == shape[0] * shape[1];
  }

  bool has_other_readers(const Node& node) const {
    const auto& readers = groups_.readers.at(&node);
    return std::any_of(readers.begin(), readers.end(), [&](const Node* r) { return !groups_.convolution_of(*r); });
  }

  const Graph& graph_;
  const ConvolutionGroups& groups_;
  std::unordered_set<const Node*> chosen_;
};

}  // namespace

std::vector<const Node*> channels_last_values(const Graph& graph, const ConvolutionGroups& groups) {
  return Search(graph, groups).run();
}

}  // namespace strata
