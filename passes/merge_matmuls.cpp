// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The merged product stands where the first of its members stood: all of them have the same input, and the other
// operands are constants, so it can.

#include "passes/merge_matmuls.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "passes/strided_view.h"

namespace strata {
namespace {

/// `x @ weight.T (+ bias)` with constant weight [out, in] and bias [out].
struct Product {
  const Node* node;
  const Node* input;
  const Tensor* weight;
  const Tensor* bias;  ///< null: none
};

class MatmulMerger {
 public:
  MatmulMerger(const Graph& graph, const PassContext& context)
      : graph_(graph), constants_(graph, context), users_(users_of(graph)), rewriter_(graph, "merge_matmuls") {}

  PassResult run() {
    find_sets();
    for (const auto& node : graph_.nodes()) {
      if (const auto it = set_of_.find(node.get()); it != set_of_.end())
        rewrite(*node, sets_[it->second]);
      else
        rewriter_.copy(*node);
    }
    Graph result = rewriter_.finish();
    return {std::move(result), rewriter_.take_rewrites()};
  }

 private:
  struct Set {
    std::vector<Product> members;
    Node* merged = nullptr;
  };

  void find_sets() {
    std::map<std::pair<const Node*, bool>, std::vector<Product>> by_input;
    for (const auto& node : graph_.nodes())
      if (auto p = as_product(*node)) by_input[{p->input, p->bias != nullptr}].push_back(*p);
    for (auto& [key, members] : by_input) {
      if (members.size() < 2) continue;
      for (const Product& p : members) set_of_[p.node] = sets_.size();
      sets_.push_back({std::move(members), nullptr});
    }
  }

  std::optional<Product> as_product(const Node& node) const {
    const bool with_bias = node.is("aten.addmm.default");
    if (!with_bias && !node.is("aten.mm.default")) return {};
    const Call call(node);
    if (with_bias && (call.number(3) != 1 || call.number(4) != 1)) return {};
    Product p{&node, call.tensor(with_bias ? 1 : 0), transposed_constant(call.tensor(with_bias ? 2 : 1)), nullptr};
    if (!p.weight || constants_.value(p.input) || wants_post_operation(node)) return {};
    if (!with_bias) return p;
    p.bias = constants_.value(call.tensor(0));
    if (!p.bias || p.bias->rank() != 1 || p.bias->shape[0] != p.weight->shape[0] || p.bias->dtype != p.weight->dtype)
      return {};
    return p;
  }

  /// The constant [out, in] behind a transposition to [in, out].
  const Tensor* transposed_constant(const Node* node) const {
    if (!node->is("aten.permute.default")) return nullptr;
    const Node* inner = node->args.at(0).node();
    const Tensor* t = constants_.value(inner);
    return t && t->rank() == 2 && Call(*node).constants(1) == std::vector<int64_t>{1, 0} ? t : nullptr;
  }

  /// Whether the only reader is element-wise: then it is better off inside the call.
  bool wants_post_operation(const Node& node) const {
    const Node* at = &node;
    for (;;) {
      const auto& users = users_.at(at);
      if (users.size() != 1) return false;
      const Node* user = users.front();
      if (!is_view(*user)) return user->op && std::holds_alternative<PointwiseBody>(user->op->lowering);
      at = user;
    }
  }

  void rewrite(const Node& node, Set& set) {
    if (!set.merged) set.merged = merged_product(node, set);
    SymInt start = 0;
    for (const Product& p : set.members) {
      const SymInt end = start + p.weight->shape[0];
      if (p.node == &node) {
        Builder& b = rewriter_.at(node, "side by side", OriginKind::Fused);
        Node* part = b.call("aten.slice.Tensor", {set.merged, 1, start.value(), end.value()});
        rewriter_.replace(node, part, "side by side", "part of '" + set.merged->name + "'");
        return;
      }
      start = end;
    }
  }

  Node* merged_product(const Node& first, const Set& set) {
    Builder& b = rewriter_.at(first, "side by side", OriginKind::Fused);
    for (const Product& p : set.members)
      if (p.node != &first) b.meta.origins.push_back({p.node->id, OriginKind::Fused, "side by side", true});
    std::vector<const Tensor*> weights, biases;
    for (const Product& p : set.members) {
      weights.push_back(p.weight);
      if (p.bias) biases.push_back(p.bias);
    }
    Node* x = rewriter_.mapped(set.members.front().input);
    Node* w = b.permute(b.constant(stacked(weights), "_merged_weight"), {1, 0});
    if (biases.empty()) return b.call("aten.mm.default", {x, w});
    return b.call("aten.addmm.default", {b.constant(stacked(biases), "_merged_bias"), x, w});
  }

  /// Along dimension 0.
  static Tensor stacked(const std::vector<const Tensor*>& parts) {
    std::vector<int64_t> shape = parts.front()->shape;
    shape[0] = 0;
    for (const Tensor* t : parts) shape[0] += t->shape[0];
    Tensor out = Tensor::empty(parts.front()->dtype, shape);
    std::byte* at = out.data();
    for (const Tensor* t : parts) {
      const Tensor dense = t->contiguous();
      const size_t bytes = static_cast<size_t>(dense.numel()) * dtype_size(dense.dtype);
      std::memcpy(at, dense.data(), bytes);
      at += bytes;
    }
    return out;
  }

  const Graph& graph_;
  ConstantInputs constants_;
  UserMap users_;
  GraphRewriter rewriter_;
  std::vector<Set> sets_;
  std::unordered_map<const Node*, size_t> set_of_;
};

}  // namespace

/// Two products of one input.
bool merge_matmuls_may_change(const Graph& graph, const PassContext&) {
  std::set<const Node*> inputs;
  for (const auto& node : graph.nodes()) {
    const bool with_bias = node->is("aten.addmm.default");
    if (!with_bias && !node->is("aten.mm.default")) continue;
    if (!inputs.insert(Call(*node).tensor(with_bias ? 1 : 0)).second) return true;
  }
  return false;
}

PassResult merge_matmuls(const Graph& graph, const PassContext& context) { return MatmulMerger(graph, context).run(); }

}  // namespace strata
