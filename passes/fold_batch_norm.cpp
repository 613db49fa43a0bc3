// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Walks up from a node through mul, add and sub by per-channel constants to a convolution with constant weight that has
// no other user on the way. The chain is an affine map per channel: y = scale[c] * conv + shift[c]. Of a convolution in
// a narrow type it may be computed in float32, between two casts: the weight is rounded instead of the result.

#include "passes/fold_batch_norm.h"

#include <algorithm>
#include <optional>

#include "core/runtime/parallel.h"

namespace strata {
namespace {

struct Affine {
  std::vector<double> scale, shift;
};

class BatchNormFolder {
 public:
  BatchNormFolder(const Graph& graph, const PassContext& context)
      : graph_(graph), constants_(graph, context), users_(users_of(graph)), rewriter_(graph, "fold_batch_norm") {}

  PassResult run() {
    for (const auto& node : graph_.nodes()) {
      if (!try_fold(*node)) rewriter_.copy(*node);
    }
    Graph result = rewriter_.finish();
    return {std::move(result), rewriter_.take_rewrites()};
  }

 private:
  /// The constant behind a chain of views that only add or drop dimensions of size 1.
  const Tensor* constant(const Node* node) const {
    while (node->op &&
           (node->is("aten.view.default") || node->is("aten.unsqueeze.default") || node->is("aten.reshape.default")) &&
           node->args.at(0).node())
      node = node->args.at(0).node();
    return constants_.value(node);
  }

  /// One value per channel (dimension 1 of a tensor of `rank` dimensions), if `a` is a number or a constant of such a
  /// shape.
  std::optional<std::vector<double>> per_channel(const Argument& a, size_t channels, size_t rank) const {
    if (const auto* v = a.as<double>()) return std::vector<double>(channels, *v);
    if (const auto* v = a.as<int64_t>()) return std::vector<double>(channels, static_cast<double>(*v));
    const Node* node = a.node();
    const Tensor* t = node && node->type.is_tensor() ? constant(node) : nullptr;
    if (!t) return {};
    const auto& shape = node->tensor().shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const size_t from_left = d + rank - shape.size();
      const int64_t expected = from_left == 1 ? static_cast<int64_t>(channels) : 1;
      if (shape.size() > rank || !(shape[d] == SymInt(expected) || shape[d] == SymInt(1))) return {};
    }
    std::vector<double> values = t->values();
    if (values.size() == 1) values.assign(channels, values[0]);
    if (values.size() != channels) return {};
    return values;
  }

  bool single_user(const Node* node) const { return users_.at(node).size() == 1; }

  bool foldable_convolution(const Node* node) const {
    if (!node->is("aten.convolution.default")) return false;
    const Call call(*node);
    const bool bias_ok = call.is_none(2) || constant(call.tensor(2));
    return constant(call.tensor(1)) && constants_.value(call.tensor(1)) && bias_ok && is_floating(node->tensor().dtype);
  }

  /// Between float32 and a narrower float, and nothing else.
  static bool is_cast(const Node& node) {
    if (!node.is("aten._to_copy.default") || node.kwargs.size() != 1 || node.kwargs[0].first != "dtype") return false;
    const DType from = node.args.at(0).node()->tensor().dtype, to = node.tensor().dtype;
    return (is_reduced_float(from) && to == DType::F32) || (from == DType::F32 && is_reduced_float(to));
  }

  /// One step of the chain: the operand that continues it, with the map of the step applied after `map`.
  const Node* step(const Node& node, Affine& map, size_t channels, size_t rank) const {
    if (is_cast(node)) return node.args.at(0).node();
    if (!node.op || node.args.size() < 2) return nullptr;
    const bool mul = node.is("aten.mul.Tensor"), add = node.is("aten.add.Tensor"), sub = node.is("aten.sub.Tensor");
    if ((!mul && !add && !sub) || !node.kwargs.empty()) return nullptr;
    for (size_t side = 0; side < (sub ? 1U : 2U); ++side) {
      const Node* through = node.args[side].node();
      if (!through || !through->type.is_tensor() || through->tensor().shape != node.tensor().shape) continue;
      const auto c = per_channel(node.args[1 - side], channels, rank);
      if (!c) continue;
      for (size_t i = 0; i < channels; ++i) {
        if (mul)
          map.scale[i] *= (*c)[i];
        else
          map.shift[i] += map.scale[i] * (sub ? -(*c)[i] : (*c)[i]);
      }
      return through;
    }
    return nullptr;
  }

  bool try_fold(const Node& node) {
    if (!node.type.is_tensor() || node.tensor().shape.size() < 3 || !node.tensor().shape[1].is_const()) return false;
    const auto channels = static_cast<size_t>(node.tensor().shape[1].value());
    Affine map{std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)};
    std::vector<const Node*> chain;
    const Node* at = &node;
    while (!foldable_convolution(at)) {
      if (!chain.empty() && !single_user(at)) return false;
      chain.push_back(at);
      at = step(*at, map, channels, node.tensor().shape.size());
      if (!at) return false;
    }
    if (std::all_of(chain.begin(), chain.end(), [](const Node* link) { return is_cast(*link); })) return false;
    if (node.tensor().dtype != at->tensor().dtype) return false;
    // Fold at the end of a chain only: a user that continues it will do it, with this node inside.
    if (!single_user(at) || continues(node, channels)) return false;
    rewrite(node, *at, chain, map, channels);
    return true;
  }

  bool continues(const Node& node, size_t channels) const {
    if (!single_user(&node)) return false;
    Affine scratch{std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)};
    const Node* user = users_.at(&node).front();
    if (is_cast(*user)) return false;  // of another chain, which may not come back
    return user->type.is_tensor() && user->tensor().shape == node.tensor().shape &&
           step(*user, scratch, channels, node.tensor().shape.size()) == &node;
  }

  void rewrite(const Node& node, const Node& convolution, const std::vector<const Node*>& chain, const Affine& map,
               size_t channels) {
    const Call call(convolution);
    const Tensor weight = constants_.value(call.tensor(1))->contiguous();
    const bool transposed = call.boolean(6);
    const int64_t groups = call.constant(8);
    const Tensor scaled = scale_weight(weight, map.scale, transposed, groups);
    std::vector<double> bias(channels, 0.0);
    if (!call.is_none(2)) bias = constant(call.tensor(2))->values();
    for (size_t i = 0; i < channels; ++i) bias[i] = bias[i] * map.scale[i] + map.shift[i];

    Builder& b = rewriter_.at(node, "fold batch norm", OriginKind::Folded);
    for (const Node* link : chain)
      if (link != &node) b.meta.origins.push_back({link->id, OriginKind::Folded, "fold batch norm", true});
    b.meta.origins.push_back({convolution.id, OriginKind::Folded, "fold batch norm", true});
    Node* w = b.constant(scaled, "_folded_weight");
    Node* t = b.constant(Tensor::of(weight.dtype, {static_cast<int64_t>(channels)}, bias), "_folded_bias");
    std::vector<Argument> args = convolution.args;
    args[0] = rewriter_.mapped(args[0]);
    args[1] = w;
    args[2] = t;
    Node* made = b.call("aten.convolution.default", std::move(args));
    rewriter_.replace(node, made, "fold batch norm", "scale and shift per channel are constant");
  }

  /// Elements [begin, begin + count) times a factor, computed in double.
  static void scale_run(const Tensor& from, Tensor& to, int64_t begin, int64_t count, double factor) {
    if (from.dtype != DType::F32) {
      for (int64_t i = begin; i < begin + count; ++i) to.set(i, from.at(i) * factor);
      return;
    }
    const auto* p = reinterpret_cast<const float*>(from.data()) + begin;
    auto* q = reinterpret_cast<float*>(to.data()) + begin;
    for (int64_t i = 0; i < count; ++i) q[i] = static_cast<float>(p[i] * factor);
  }

  static Tensor scale_weight(const Tensor& weight, const std::vector<double>& scale, bool transposed, int64_t groups) {
    Tensor out = Tensor::empty(weight.dtype, weight.shape);
    const int64_t n0 = weight.shape[0], n1 = weight.shape[1], inner = n0 > 0 && n1 > 0 ? weight.numel() / (n0 * n1) : 0;
    // The output channel is the row's; of transposed weights, [in, out / groups, ...], it lies in the row's group.
    const int64_t runs = transposed ? n1 : 1, length = transposed ? inner : n1 * inner;
    parallel_for(n0, std::max<int64_t>(1, 65536 / std::max<int64_t>(n1 * inner, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < runs; ++j) {
          const int64_t channel = transposed ? i / (n0 / groups) * n1 + j : i;
          scale_run(weight, out, (i * runs + j) * length, length, scale[static_cast<size_t>(channel)]);
        }
    });
    return out;
  }

  const Graph& graph_;
  ConstantInputs constants_;
  UserMap users_;
  GraphRewriter rewriter_;
};

}  // namespace

bool fold_batch_norm_may_change(const Graph& graph, const PassContext&) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    if (!node->is("aten.mul.Tensor") && !node->is("aten.add.Tensor") && !node->is("aten.sub.Tensor")) return false;
    bool after = false;
    node->for_each_operand([&](Node*& operand) {
      const Node* from = operand->is("aten._to_copy.default") ? operand->args.at(0).node() : operand;
      after = after || (from && from->is("aten.convolution.default"));
    });
    return after;
  });
}

PassResult fold_batch_norm(const Graph& graph, const PassContext& context) {
  return BatchNormFolder(graph, context).run();
}

}  // namespace strata
