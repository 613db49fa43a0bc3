// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A node becomes a constant only when somebody that is not constant needs it: chains are evaluated through, and what is
// left inside them is dead afterwards. Values are kept by old node, so each is computed once.

#include "passes/fold_constants.h"

#include <algorithm>

#include "core/support/error.h"

namespace strata {
namespace {

class Folder {
 public:
  Folder(const Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), constants_(graph, context), rewriter_(graph, "fold_constants") {}

  PassResult run() {
    const UserMap users = users_of(graph_);
    for (const auto& node : graph_.nodes())
      if (evaluates(*node)) is_constant_[node.get()] = true;
    for (const auto& node : graph_.nodes()) {
      if (worth_it(*node, users.at(node.get())))
        fold(*node);
      else
        rewriter_.copy(*node);
    }
    Graph result = rewriter_.finish();
    return {std::move(result), rewriter_.take_rewrites()};
  }

 private:
  bool constant(const Node* node) const { return constants_.value(node) != nullptr || is_constant_.contains(node); }

  bool evaluates(const Node& node) const {
    if (node.kind != NodeKind::Call || !node.op || !node.op->reference || !node.type.is_tensor()) return false;
    if (node.op->has(trait::Random) || node.op->has(trait::SideEffect) || node.op->op_class == OpClass::Mutation)
      return false;
    for (const SymInt& s : node.tensor().shape)
      if (!s.is_const()) return false;
    bool symbolic = false;
    const auto check = [&](const Argument& a) { symbolic |= has_symbol(a); };
    for (const Argument& a : node.args) check(a);
    for (const auto& [key, a] : node.kwargs) check(a);
    if (symbolic) return false;
    for (const Node* operand : node.operands())
      if (!constant(operand)) return false;
    return true;
  }

  static bool has_symbol(const Argument& a) {
    if (const auto* s = a.as<SymInt>()) return !s->is_const();
    if (const auto* list = a.as<ListArg>())
      for (const Argument& item : list->items)
        if (has_symbol(item)) return true;
    return false;
  }

  static int64_t bytes(const Node& node) {
    int64_t n = static_cast<int64_t>(dtype_size(node.tensor().dtype));
    for (const SymInt& s : node.tensor().shape) n *= s.value();
    return n;
  }

  /// At a border to something that varies.
  bool worth_it(const Node& node, const std::vector<Node*>& users) const {
    return may_fold(node) &&
           !std::all_of(users.begin(), users.end(), [this](const Node* user) { return may_fold(*user); });
  }

  /// Constant, more than a view, and not larger than allowed.
  bool may_fold(const Node& node) const {
    if (!is_constant_.contains(&node) || node.op->op_class == OpClass::View) return false;
    int64_t operand_bytes = 0;
    for (const Node* operand : node.operands())
      if (operand->type.is_tensor()) operand_bytes += bytes(*operand);
    return bytes(node) <= std::max(operand_bytes, context_.fold_limit);
  }

  void fold(const Node& node) {
    const Tensor value = evaluate(node);
    Builder& b = rewriter_.at(node, "fold constants", OriginKind::Folded);
    for (const Node* leaf : leaves(node))
      b.meta.origins.push_back({leaf->id, OriginKind::Folded, "fold constants", true});
    Node* made = b.constant(value, "_folded_" + node.name);
    rewriter_.replace(node, made, "fold constants", "all operands are constant");
  }

  /// Every node that is computed inside the constant, so that none is lost when it dies.
  std::vector<const Node*> leaves(const Node& node) const {
    std::vector<const Node*> found, stack{&node};
    std::unordered_map<const Node*, bool> seen;
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      for (const Node* operand : n->operands()) {
        if (seen[operand]) continue;
        seen[operand] = true;
        found.push_back(operand);
        if (is_constant_.contains(operand)) stack.push_back(operand);
      }
    }
    return found;
  }

  Tensor evaluate(const Node& node) {
    if (const Tensor* leaf = constants_.value(&node)) return *leaf;
    if (const auto it = computed_.find(&node); it != computed_.end()) return it->second;
    std::unordered_map<const Node*, RefValue> operands;
    for (const Node* operand : node.operands()) operands[operand] = evaluate(*operand);
    const std::function<const RefValue&(const Node*)> value_of = [&](const Node* n) -> const RefValue& {
      return operands.at(n);
    };
    const SymBindings none;
    const Call call(node);
    const RefContext reference{call, value_of, none, false};
    return computed_[&node] = node.op->reference(reference).tensor();
  }

  const Graph& graph_;
  const PassContext& context_;
  ConstantInputs constants_;
  GraphRewriter rewriter_;
  std::unordered_map<const Node*, bool> is_constant_;
  std::unordered_map<const Node*, Tensor> computed_;
};

}  // namespace

/// The first node of whatever is folded has leaves alone as operands.
bool fold_constants_may_change(const Graph& graph, const PassContext& context) {
  const ConstantInputs constants(graph, context);
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) {
    if (node->kind != NodeKind::Call || !node->op || !node->op->reference || !node->type.is_tensor()) return false;
    bool leaves = true;
    node->for_each_operand([&](Node*& operand) { leaves = leaves && constants.value(operand); });
    return leaves;
  });
}

PassResult fold_constants(const Graph& graph, const PassContext& context) { return Folder(graph, context).run(); }

}  // namespace strata
