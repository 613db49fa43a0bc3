// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Large graphs made by hand, always the same: for benchmarks of drawing.

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/trace/records.h"

namespace strata::bench {

/// A decoder without modules: norms, projections with weights, attention, residuals, a gated MLP, 30 nodes a layer.
class DecoderGraph {
 public:
  explicit DecoderGraph(size_t count) {
    trace::NodeId x = input("tokens");
    const trace::NodeId mask = input("mask");
    while (nodes_.size() + 30 < count) x = layer(x, mask);
    while (nodes_.size() < count) x = call("aten.gelu.default", {x});
  }
  std::vector<trace::NodeRecord> take() { return std::move(nodes_); }

 private:
  trace::NodeId add(trace::NodeRecord node) {
    node.id = static_cast<trace::NodeId>(nodes_.size()) + 1;
    if (node.name.empty()) node.name = fmt::format("v{}", node.id);
    node.dtype = "f32";
    node.shape = "[8, 128, 768]";
    nodes_.push_back(std::move(node));
    return nodes_.back().id;
  }
  trace::NodeId input(const std::string& name) {
    trace::NodeRecord node;
    node.name = name;
    node.op = "placeholder";
    return add(std::move(node));
  }
  trace::NodeId weight() { return input(fmt::format("p_weight_{}", nodes_.size())); }
  trace::NodeId call(const char* target, const std::vector<trace::NodeId>& operands) {
    trace::NodeRecord node;
    node.op = "call";
    node.target = target;
    for (auto operand : operands) node.inputs.push_back({operand});
    return add(std::move(node));
  }
  trace::NodeId norm(trace::NodeId x) {
    const auto scale = call("aten.rsqrt.default", {call("aten.mean.dim", {call("aten.pow.Tensor_Scalar", {x})})});
    return call("aten.mul.Tensor", {call("aten.mul.Tensor", {x, scale}), weight()});
  }
  trace::NodeId layer(trace::NodeId x, trace::NodeId mask) {
    const auto h = norm(x);
    auto heads = [&] { return call("aten.view.default", {call("aten.mm.default", {h, weight()})}); };
    const auto q = heads(), k = heads(), v = heads();
    const auto scores = call("aten.add.Tensor", {call("aten.bmm.default", {q, k}), mask});
    const auto mixed = call("aten.bmm.default", {call("aten.softmax.int", {scores}), v});
    x = call("aten.add.Tensor", {x, call("aten.mm.default", {mixed, weight()})});
    const auto g = norm(x);
    const auto gate = call("aten.silu.default", {call("aten.mm.default", {g, weight()})});
    const auto up = call("aten.mul.Tensor", {gate, call("aten.mm.default", {g, weight()})});
    return call("aten.add.Tensor", {x, call("aten.mm.default", {up, weight()})});
  }
  std::vector<trace::NodeRecord> nodes_;
};

}  // namespace strata::bench
