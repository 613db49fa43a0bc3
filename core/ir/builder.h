// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Building nodes, and rewriting graphs without mutating the one given.

#include <initializer_list>

#include "core/ir/op.h"

namespace strata {

/// Appends calls to a graph. Types come from the operator table's shape rules; metadata from `meta`, which the owner
/// sets.
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}
  Graph& graph() const { return graph_; }
  ShapeEnv& env() const { return graph_.env(); }

  /// Given to every node made from now on (source, module path, origins, maker, role).
  NodeMeta meta;
  /// Called for every node made (rewriters record origins there); may be empty.
  std::function<void(Node&)> on_create;

  /// A call of a table operator; throws an internal Error if `target` is not in the table.
  Node* call(std::string_view target, std::vector<Argument> args,
             std::vector<std::pair<std::string, Argument>> kwargs = {});
  /// Part of a tuple-typed node.
  Node* getitem(Node* tuple, int64_t index);
  /// A constant tensor: a GetAttr node and an entry in `Graph::attributes`.
  Node* constant(Tensor value, std::string_view name_hint = "_tensor_constant");
  /// 0-dimensional constant.
  Node* scalar(double value, DType dtype);

  // Words for what decompositions and gradients say often.
  Node* add(Node* a, const Argument& b) { return call(tensor_or_scalar("aten.add", b), {a, b}); }
  Node* sub(Node* a, const Argument& b) { return call(tensor_or_scalar("aten.sub", b), {a, b}); }
  Node* mul(Node* a, const Argument& b) { return call(tensor_or_scalar("aten.mul", b), {a, b}); }
  Node* div(Node* a, const Argument& b) { return call(tensor_or_scalar("aten.div", b), {a, b}); }
  Node* neg(Node* a) { return call("aten.neg.default", {a}); }
  Node* cast(Node* a, DType dtype);  ///< itself if it has the type already
  Node* reshape(Node* a, const std::vector<SymInt>& shape);
  Node* permute(Node* a, const std::vector<int64_t>& dims);
  Node* transpose(Node* a, int64_t d0, int64_t d1);
  Node* expand(Node* a, const std::vector<SymInt>& shape);
  Node* unsqueeze(Node* a, int64_t dim);
  Node* sum(Node* a, const std::vector<int64_t>& dims, bool keepdim);
  /// Sums `a` down to `shape` (the gradient of broadcasting).
  Node* sum_to(Node* a, const std::vector<SymInt>& shape);

 private:
  /// `aten.add.Tensor` for both: PyTorch's FX graphs carry numbers in the Tensor overload.
  static std::string tensor_or_scalar(const char* base, const Argument& b);
  Graph& graph_;
};

// --------------------------------------------------------------------------------------------------------------
// rewriting

/// One application of a rule: what disappeared, what came.
struct Rewrite {
  std::string rule;
  std::vector<NodeId> before, after;
  std::string reason;  ///< for removals: why
};

/// Makes a new graph from an old one, node by node in order. Nodes that are copied keep their id.
///
///   GraphRewriter rw(graph, "cse");
///   for (const auto& n : graph.nodes())
///     if (Node* twin = ...) rw.replace(*n, twin, "cse"); else rw.copy(*n);
///   return rw.finish();
class GraphRewriter {
 public:
  GraphRewriter(const Graph& from, std::string pass);

  const Graph& from() const { return from_; }
  Graph& to() { return to_; }
  /// Builder into the new graph, with metadata taken from the old node being rewritten (`at`).
  Builder& at(const Node& old, std::string rule, OriginKind kind = OriginKind::Replaced);

  /// The new node for an old one (or null when removed). Operands must have been handled before.
  Node* mapped(const Node* old) const;
  /// The same of a node that must not be removed; else an internal Error.
  Node* present(const Node* old) const;
  /// An argument with old nodes replaced by new ones.
  Argument mapped(const Argument& old) const;
  /// Copies a node with mapped operands, same id.
  Node* copy(const Node& old);
  /// From now on users of `old` use `with` (a node of the new graph). Records the rewrite with all nodes that `at(old,
  /// ...)` made.
  void replace(const Node& old, Node* with, const std::string& rule, const std::string& reason = {});
  /// `old` (tuple-typed) is replaced by its parts: getitem nodes of it map to them.
  void replace_parts(const Node& old, std::vector<Node*> parts, const std::string& rule);
  /// Drops a node nobody uses any more.
  void erase(const Node& old, const std::string& rule, const std::string& reason);

  bool changed() const { return !rewrites_.empty(); }
  std::vector<Rewrite> take_rewrites() { return std::move(rewrites_); }
  /// Specs, attributes that are still named, subgraphs and the output are carried over. Call once.
  Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::string pass_;
  Builder builder_;
  std::vector<NodeId> made_;
  std::unordered_map<const Node*, Node*> map_;
  std::unordered_map<const Node*, std::vector<Node*>> parts_;
  std::vector<Rewrite> rewrites_;
};

}  // namespace strata
