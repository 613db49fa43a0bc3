// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand_depthwise.h"

#include <algorithm>

namespace strata {
namespace {

constexpr int64_t kMostTaps = 8;

bool is_short_depthwise(const Node& node) {
  if (!node.is("aten.convolution.default") || !is_floating(node.tensor().dtype)) return false;
  const Call call(node);
  const auto &input = call.type(0).shape, &weight = call.type(1).shape;
  if (input.size() != 3 || call.boolean(6) || !weight[0].is_const() || !weight[2].is_const()) return false;
  const bool depthwise = input[1] == weight[0] && weight[1] == SymInt(1) && SymInt(call.constant(8)) == weight[0];
  const int64_t taps = weight[2].value();
  return depthwise && taps >= 1 && taps <= kMostTaps && range(node.tensor().shape[2]).min >= 1;
}

/// sum over k of w[c, k] * x[n, c, stride * o + dilation * k - padding]: each product is moved along its positions, cut
/// off and filled up with zeros, by one `constant_pad_nd`.
Node* expand(const Node& node, GraphRewriter& rewriter) {
  const Call call(node);
  Builder& b = rewriter.at(node, "expand depthwise convolution", OriginKind::Decomposed);
  const DType dtype = node.tensor().dtype, work = compute_dtype(dtype);
  const auto wide = [&](size_t i) { return b.cast(rewriter.mapped(call.tensor(i)), work); };
  Node *x = wide(0), *weight = wide(1);
  const int64_t stride = call.constants(3)[0], padding = call.constants(4)[0], dilation = call.constants(5)[0];
  const SymInt positions = (node.tensor().shape[2] - SymInt(1)) * SymInt(stride) + SymInt(1);
  Node* sum = nullptr;
  for (int64_t k = 0; k < call.type(1).shape[2].value(); ++k) {
    Node* term = b.call("aten.mul.Tensor", {x, b.call("aten.select.int", {weight, 2, k})});
    const SymInt before = padding - k * dilation, behind = positions - call.type(0).shape[2] - before;
    if (!(before == SymInt(0) && behind == SymInt(0)))
      term = b.call("aten.constant_pad_nd.default", {term, Argument::ints({before, behind}), 0.0});
    if (stride > 1) term = b.call("aten.slice.Tensor", {term, 2, 0, Argument(positions), stride});
    sum = sum ? b.call("aten.add.Tensor", {sum, term}) : term;
  }
  if (!call.is_none(2)) sum = b.call("aten.add.Tensor", {sum, b.unsqueeze(wide(2), 1)});
  return b.cast(sum, dtype);
}

}  // namespace

bool expand_depthwise_may_change(const Graph& graph, const PassContext&) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return is_short_depthwise(*node); });
}

PassResult expand_depthwise(const Graph& graph, const PassContext&) {
  GraphRewriter rewriter(graph, "expand_depthwise");
  for (const auto& node : graph.nodes()) {
    if (is_short_depthwise(*node))
      rewriter.replace(*node, expand(*node, rewriter), "expand depthwise convolution", "few taps in one dimension");
    else
      rewriter.copy(*node);
  }
  Graph result = rewriter.finish();
  return {std::move(result), rewriter.take_rewrites()};
}

}  // namespace strata
