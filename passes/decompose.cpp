// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/decompose.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/ir/complex_parts.h"
#include "core/ir/ops/neural.h"
#include "core/support/error.h"
#include "passes/known_sizes.h"

namespace strata {
namespace {

constexpr int kMaxRounds = 16;

bool decomposes(const Node& node) {
  if (node.kind != NodeKind::Call || !node.op || !node.op->decompose) return false;
  if (touches_complex(node) && complex_support(*node.op) != ComplexSupport::Decomposes) return false;
  return node.op->op_class != OpClass::Library || ops::attention_is_spelled_out(node);
}

/// Integer operands as expressions: sizes need no nodes from here on.
Argument with_expressions(Argument argument) {
  if (Node* node = argument.node(); node && node->type.kind == Type::Kind::SymInt) {
    const SymInt e = node->type.sym;
    return e.is_const() ? Argument(e.value()) : Argument(e);
  }
  if (const auto* list = argument.as<ListArg>()) {
    ListArg copy{list->kind, {}};
    for (const Argument& item : list->items) copy.items.push_back(with_expressions(item));
    return copy;
  }
  return argument;
}

/// The call on operands of the new graph; it belongs to no graph.
Node detached(const GraphRewriter& rewriter, const Node& node) {
  Node call = node;
  for (Argument& a : call.args) a = with_expressions(rewriter.mapped(a));
  for (auto& [key, a] : call.kwargs) a = with_expressions(rewriter.mapped(a));
  return call;
}

Node* copy_with_expressions(GraphRewriter& rewriter, const Node& node) {
  Node* copied = rewriter.copy(node);
  if (copied->kind != NodeKind::Call || copied->type.kind == Type::Kind::SymInt) return copied;
  for (Argument& a : copied->args) a = with_expressions(a);
  for (auto& [key, a] : copied->kwargs) a = with_expressions(a);
  return copied;
}

/// A size that only a run tells may have a symbol of its own although the operands tell it, as where `x[:n]` begins or
/// ends at an `n` of unknown sign. It is what they make it.
std::vector<Rewrite> tell_sizes(Graph& graph) {
  KnownSizes known;
  std::vector<Rewrite> told_of;
  for (const auto& node : graph.nodes()) {
    const bool is_slice = node->is("aten.slice.Tensor") && node->op && node->type.is_tensor();
    for (size_t d = 0; is_slice && d < node->tensor().shape.size(); ++d) {
      const SymInt stated = node->tensor().shape[d];
      const auto symbol = graph.env().symbol_id(stated);
      if (!symbol || known.has(stated)) continue;
      Node call = *node;
      for (Argument& a : call.args) a = with_expressions(a);
      for (auto& [key, a] : call.kwargs) a = with_expressions(a);
      const Type made = call.op->shape(Call(call));
      if (!made.is_tensor() || made.tensor.shape.size() != node->tensor().shape.size()) break;
      const SymInt told = made.tensor.shape[d];
      if (!known.has(told)) continue;
      graph.substitute([&](size_t id) { return id == *symbol ? std::optional(told) : std::nullopt; });
      told_of.push_back({"tell a size", {node->id}, {node->id}, stated.str() + " is " + told.str()});
    }
    known.note(node->type);
  }
  return told_of;
}

bool contradict(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::Tuple && b.kind == Type::Kind::Tuple) {
    if (a.parts.size() != b.parts.size()) return true;
    return !std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(),
                       [](const Type& x, const Type& y) { return !contradict(x, y); });
  }
  if (a.is_result() && b.is_result() && a.kind != b.kind) return true;
  if (!a.is_tensor() || !b.is_tensor()) return false;
  const auto &x = a.tensor.shape, &y = b.tensor.shape;
  return a.tensor.dtype != b.tensor.dtype || x.size() != y.size() ||
         !std::equal(x.begin(), x.end(), y.begin(), [](const SymInt& m, const SymInt& n) { return !known_ne(m, n); });
}

/// Captured programs state what each call gives. All that follows goes by that, so that it must be what the operator
/// makes of its operands: a damaged file must not have memory read that is not there.
class StatedTypes {
 public:
  /// Of a call by its row's rule.
  void check(const Node& node) {
    if (node.kind == NodeKind::Call && node.op && node.type.is_result()) compare(node, node.op->shape(Call(node)));
    known_.note(node.type);
  }
  /// Of a call by what it has become.
  void check(const Node& node, const std::vector<Node*>& results) {
    Type made = results[0]->type;
    if (node.type.kind == Type::Kind::Tuple || results.size() > 1) {
      made = Type::tuple({});
      for (const Node* result : results) made.parts.push_back(result->type);
    }
    compare(node, made);
    known_.note(node.type);
  }

 private:
  [[noreturn]] static void wrong(
      const Node& node, const std::string& what,
      const std::string& advice = "the program is damaged, or was changed by hand; export it again") {
    throw_user("'" + node.name + "' (" + node.target + ") " + what, advice);
  }

  /// Files do not tell that autocast was on around an export: it ran with it, and nothing in the program says so.
  static bool comes_of_autocast(const Type& stated, const Type& made) {
    if (!stated.is_tensor() || !made.is_tensor() || made.tensor.dtype != DType::F32) return false;
    return stated.tensor.dtype == DType::BF16 || stated.tensor.dtype == DType::F16;
  }

  void compare(const Node& node, const Type& made) const {
    if (contradict(node.type, made)) {
      const std::string what = "is said to be " + to_string(node.type) + ", its operands make it " + to_string(made);
      if (comes_of_autocast(node.type, made))
        wrong(node, what,
              "it was exported within torch.autocast, which no file tells: enter it in the module's forward");
      wrong(node, what);
    }
    if (const auto size = from_nowhere(node.type, made)) wrong(node, "has a size that nothing tells: " + *size);
    if (node.op && node.op->op_class != OpClass::Symbolic) assume_alike(node, node.type, made);
  }

  /// What symbols alone do not contradict, the sizes of a run may.
  static void assume_alike(const Node& node, const Type& stated, const Type& made) {
    for (size_t i = 0; i < stated.parts.size(); ++i) assume_alike(node, stated.parts[i], made.parts[i]);
    if (stated.is_tensor() && made.is_tensor())
      ops::require_same_shape(Call(node), stated.tensor.shape, made.tensor.shape,
                              "what the program says of '" + node.name + "' and what it is");
  }

  /// A stated size of symbols that no operand has, where the operands tell it.
  std::optional<std::string> from_nowhere(const Type& stated, const Type& made) const {
    if (stated.kind == Type::Kind::Tuple && made.kind == Type::Kind::Tuple) {
      for (size_t i = 0; i < stated.parts.size(); ++i)
        if (auto size = from_nowhere(stated.parts[i], made.parts[i])) return size;
    } else if (stated.is_tensor() && made.is_tensor()) {
      for (size_t d = 0; d < stated.tensor.shape.size(); ++d)
        if (!known_.has(stated.tensor.shape[d]) && known_.has(made.tensor.shape[d]))
          return stated.tensor.shape[d].str();
    }
    return {};
  }

  KnownSizes known_;
};

/// A decomposition written for real numbers may make something else of complex ones.
void require_same_numbers(const Node& node, const Node& result) {
  if (!node.type.is_tensor() || !result.type.is_tensor() || !touches_complex(node)) return;
  if (node.tensor().dtype == result.tensor().dtype) return;
  throw_user("'" + node.name + "' (" + node.target + ") on complex numbers is not supported",
             "compute with the parts, torch.view_as_real(x)");
}

bool one_round(const Graph& from, Graph& to, std::vector<Rewrite>& rewrites, StatedTypes* stated) {
  GraphRewriter rewriter(from, "decompose");
  for (const auto& node : from.nodes()) {
    if (touches_complex(*node)) require_complex_support(*node);
    if (!decomposes(*node)) {
      const Node* copied = copy_with_expressions(rewriter, *node);
      if (stated) stated->check(*copied);
      continue;
    }
    const std::string rule = "decompose " + node->target;
    Builder& builder = rewriter.at(*node, rule, OriginKind::Decomposed);
    const Node call = detached(rewriter, *node);
    if (stated && node->op->shape != ops::decomposed_type) stated->check(call);
    std::vector<Node*> results = node->op->decompose(builder, Call(call));
    if (results.empty()) {  // it is a primitive for these operands
      copy_with_expressions(rewriter, *node);
      continue;
    }
    require_same_numbers(*node, *results[0]);
    if (stated && node->op->shape == ops::decomposed_type) stated->check(call, results);
    if (node->type.kind == Type::Kind::Tuple)
      rewriter.replace_parts(*node, std::move(results), rule);
    else
      rewriter.replace(*node, results.at(0), rule);
  }
  const bool changed = rewriter.changed();
  to = rewriter.finish();
  for (Rewrite& r : rewriter.take_rewrites()) rewrites.push_back(std::move(r));
  return changed;
}

/// Nodes that no snapshot shows (made in one round, replaced in a later one) vanish from origins and from the rewrites.
void collapse(Graph& graph, std::vector<Rewrite>& rewrites, const Graph& original) {
  std::set<NodeId> visible;
  for (const auto& node : original.nodes()) visible.insert(node->id);
  std::unordered_map<NodeId, NodeId> root;        // intermediate -> the captured node it came from
  std::unordered_map<NodeId, size_t> rewrite_of;  // captured node -> its rewrite
  std::vector<Rewrite> kept;
  for (Rewrite& r : rewrites) {
    const NodeId before = r.before.at(0);
    const NodeId source = visible.contains(before) ? before : root.contains(before) ? root[before] : before;
    for (NodeId id : r.after)
      if (!visible.contains(id)) root.try_emplace(id, source);
    if (visible.contains(before)) {
      rewrite_of[before] = kept.size();
      kept.push_back(std::move(r));
    } else if (const auto it = rewrite_of.find(source); it != rewrite_of.end()) {
      auto& after = kept[it->second].after;
      std::erase(after, before);
      after.insert(after.end(), r.after.begin(), r.after.end());
    }
  }
  for (const auto& node : graph.nodes())
    for (Origin& origin : node->meta.origins)
      if (const auto it = root.find(origin.node); it != root.end()) origin.node = it->second;
  rewrites = std::move(kept);
}

}  // namespace

PassResult decompose(const Graph& graph, const PassContext&) {
  PassResult result{Graph(graph.shared_env(), graph.ids()), {}};
  Graph current = graph.clone();
  const std::vector<Rewrite> told = tell_sizes(current);
  StatedTypes stated;
  for (int round = 0;; ++round) {
    if (round == kMaxRounds)
      throw_internal("decompositions do not end after " + std::to_string(kMaxRounds) + " rounds");
    Graph next(graph.shared_env(), graph.ids());
    const bool changed = one_round(current, next, result.rewrites, round == 0 ? &stated : nullptr);
    current = std::move(next);
    if (!changed) break;
  }
  collapse(current, result.rewrites, graph);
  result.rewrites.insert(result.rewrites.begin(), told.begin(), told.end());
  result.graph = std::move(current);
  return result;
}

}  // namespace strata
