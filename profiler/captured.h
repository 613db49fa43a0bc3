// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The way back from any node of a compile to the captured graph.

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/reader.h"

namespace strata::profiler {

class CapturedNodes {
 public:
  /// Reads the first graph snapshot of a compile and all origin edges. A compile without a graph has no captured nodes.
  CapturedNodes(trace::Reader& reader, trace::Id compile);

  const std::map<trace::NodeId, trace::NodeRecord>& nodes() const { return nodes_; }
  /// Captured calls that these nodes came from (themselves included), each with how many of the nodes did. Inputs,
  /// weights and the output are not among them.
  std::map<trace::NodeId, int> of(const std::vector<trace::NodeId>& nodes) const;
  /// Whether a captured node computes something: it is no input, weight or output.
  bool is_call(trace::NodeId node) const;
  /// The innermost line of the node's stack that is not inside PyTorch, else the innermost; nothing without a stack.
  std::optional<trace::SourceLocation> location(trace::NodeId node) const;
  /// The same as `model.py:12: return x + 1`; empty without a stack.
  std::string line(trace::NodeId node) const;

 private:
  std::vector<trace::NodeId> of(trace::NodeId node) const;

  trace::Reader& reader_;
  std::map<trace::NodeId, trace::NodeRecord> nodes_;
  std::unordered_map<trace::NodeId, std::vector<trace::NodeId>> parents_;
};

}  // namespace strata::profiler
