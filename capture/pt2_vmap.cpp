// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_vmap.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_map>

#include "core/ir/builder.h"
#include "core/ir/ops/common.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

constexpr std::string_view kTransforms = "torch._functorch.predispatch.";

/// Calls of `vmap`, counted from the outermost, whose batches a tensor has: its first dimensions, in this order.
using Levels = std::vector<int64_t>;

bool is_one_of(std::string_view target, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view name) { return target.starts_with(name); });
}

/// Whether each element of the result comes of one element of each operand.
bool is_elementwise(const Node& node) {
  if (node.op->op_class == OpClass::Pointwise) return true;
  return is_one_of(node.target,
                   {"aten.__and__.",   "aten.__or__.",      "aten.__xor__.", "aten.to.",     "aten._to_copy.",
                    "aten.type_as.",   "aten.clone.",       "aten.alias.",   "aten.detach.", "aten.contiguous.",
                    "aten.where.",     "aten.masked_fill.", "aten.clamp",    "aten.clip",    "aten.float_power.",
                    "aten.square.",    "aten.relu",         "aten.gelu",     "aten.silu",    "aten.zeros_like.",
                    "aten.ones_like.", "aten.full_like."});
}

/// Whether dimensions before those that it works on are kept, with its dimensions counted from the last.
bool works_on_dimensions(std::string_view target) {
  return is_one_of(target, {"aten.sum.dim_IntList", "aten.mean.dim",       "aten.amax.",
                            "aten.amin.",           "aten.softmax.int",    "aten.log_softmax.int",
                            "aten._softmax.",       "aten.logsumexp.",     "aten.cumsum.",
                            "aten.argmax.",         "aten.argmin.",        "aten.select.int",
                            "aten.slice.Tensor",    "aten.transpose.int",  "aten.squeeze.dim",
                            "aten.prod.dim_int",    "aten.any.dim",        "aten.all.dim",
                            "aten.flip.",           "aten.var.correction", "aten.linalg_vector_norm."});
}

/// Products whose operands' dimensions before the last two are batches; of `linear` the weight is one matrix.
bool multiplies_batches(std::string_view target) { return is_one_of(target, {"aten.matmul.", "aten.linear."}); }

/// Reads nothing of its operand but its type.
bool creates(std::string_view target) {
  return is_one_of(target, {"aten.new_ones.", "aten.new_zeros.", "aten.new_full."});
}

bool is_before_2_14(std::string_view version) {
  int major = 0, minor = 0;
  const std::string text(version);
  return std::sscanf(text.c_str(), "%d.%d", &major, &minor) == 2 && (major < 2 || (major == 2 && minor < 14));
}

class Batcher {
 public:
  Batcher(const Graph& graph, std::string_view torch)
      : rewriter_(graph, "vmap"), puts_all_in_front_(is_before_2_14(torch)) {}

  std::optional<Graph> run() {
    try {
      for (const auto& node : rewriter_.from().nodes())
        if (!visit(*node)) return {};
    } catch (const Error&) {  // an operator does not take a batch
      return {};
    }
    return rewriter_.finish();
  }

 private:
  const Levels& levels_of(const Node* node) const {
    static const Levels none;
    const auto it = levels_.find(node);
    return it == levels_.end() ? none : it->second;
  }

  static size_t rank_of(const Node& node) { return node.tensor().shape.size(); }

  bool has_batches(const Node& node) const {
    return std::ranges::any_of(node.operands(), [&](const Node* operand) { return levels_.contains(operand); });
  }

  /// False where a rule is missing.
  bool visit(const Node& node) {
    if (node.target.starts_with(kTransforms)) return transform(node, node.target.substr(kTransforms.size()));
    if (!has_batches(node)) {
      rewriter_.copy(node);
      return true;
    }
    if (node.target == "aten._assert_tensor_metadata.default") {
      rewriter_.erase(node, "vmap", "the file's types say so, too");
      return true;
    }
    if (!node.op || !node.type.is_tensor() || node.op->op_class == OpClass::Mutation) return false;
    if (creates(node.target)) return put(node, call(node, operands_as_they_are()), {});
    if (node.target == "aten.index.Tensor") return index(node);
    if (is_elementwise(node)) return elementwise(node);
    if (works_on_dimensions(node.target)) return on_dimensions(node);
    if (multiplies_batches(node.target)) return product(node);
    if (node.target == "aten.dot.default") return dot(node);
    if (is_one_of(node.target, {"aten.sum.default", "aten.mean.default"})) return reduction_of_all(node);
    if (node.target == "aten.unsqueeze.default") return unsqueeze(node);
    if (is_one_of(node.target, {"aten.view.default", "aten.reshape.default"})) return reshape(node);
    return false;
  }

  // --- entering and leaving

  bool transform(const Node& node, std::string_view name) {
    if (name == "_add_batch_dim") return enter(node);
    if (name == "_remove_batch_dim") return leave(node);
    // How deep it is the levels say. Where random numbers may be drawn they would be once for all, or for each.
    const auto* randomness =
        name == "_vmap_increment_nesting" && node.args.size() > 1 ? node.args[1].as<std::string>() : nullptr;
    if (randomness && *randomness != "error") return false;
    rewriter_.erase(node, "vmap", "operators are on whole batches");
    return is_one_of(name, {"_vmap_increment_nesting", "_vmap_decrement_nesting", "lazy_load_decompositions"});
  }

  bool enter(const Node& node) {
    if (node.args.size() < 3) return false;
    const Node* x = node.args[0].node();
    const auto *dim = node.args[1].as<int64_t>(), *level = node.args[2].as<int64_t>();
    if (!x || !x->type.is_tensor() || !dim || !level || rank_of(*x) == 0) return false;
    Levels levels = levels_of(x);
    if (!levels.empty() && levels.back() >= *level) return false;
    const size_t place = levels.size();
    levels.push_back(*level);
    Builder& b = rewriter_.at(node, "vmap");
    return put(node, moved(b, value_of(*x), place + normalize_dim(*dim, rank_of(*x), node), place), levels);
  }

  bool leave(const Node& node) {
    if (node.args.size() < 4) return false;
    const Node* x = node.args[0].node();
    const auto *level = node.args[1].as<int64_t>(), *dim = node.args[3].as<int64_t>();
    if (!x || !x->type.is_tensor() || !level || !dim) return false;
    Builder& b = rewriter_.at(node, "vmap");
    Levels levels = levels_of(x);
    const size_t out = normalize_dim(*dim, rank_of(*x) + 1, node);
    const auto found = std::ranges::find(levels, *level);
    Node* value = value_of(*x);
    if (found != levels.end()) {
      const auto place = static_cast<size_t>(found - levels.begin());
      levels.erase(found);
      return put(node, moved(b, value, place, levels.size() + out), levels);
    }
    // The same for all, as often as the batch is large. Before 2.14 PyTorch expanded it, and so from the last dimension
    // on, wherever the batch's is to be.
    const auto count = size_of(node.args[2]);
    if (!count) return false;
    std::vector<SymInt> shape = value->tensor().shape;
    const size_t place = levels.size() + out, from = puts_all_in_front_ ? levels.size() : place;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(place), *count);
    return put(node, b.expand(b.unsqueeze(value, static_cast<int64_t>(from)), shape), levels);
  }

  static Node* moved(Builder& b, Node* x, size_t from, size_t to) {
    if (from == to) return x;
    return b.call("aten.movedim.int", {x, static_cast<int64_t>(from), static_cast<int64_t>(to)});
  }

  static std::optional<SymInt> size_of(const Argument& a) {
    if (const auto* n = a.as<int64_t>()) return SymInt(*n);
    if (const auto* s = a.as<SymInt>()) return *s;
    const Node* node = a.node();
    return node && node->type.kind == Type::Kind::SymInt ? std::optional(node->type.sym) : std::nullopt;
  }

  // --- operators

  Node* value_of(const Node& node) const { return rewriter_.present(&node); }

  static const Node& first(const Node& node) { return *Call(node).tensor(0); }
  using Shown = std::function<Node*(const Node&)>;

  Shown operands_as_they_are() {
    return [this](const Node& operand) { return value_of(operand); };
  }

  /// A call like `node`, with operands as `shown` has them.
  Node* call(const Node& node, const Shown& shown) {
    Builder& b = rewriter_.at(node, "vmap");
    const auto with = [&](Argument a) {
      for_each_node(
          a, [&](Node*& operand) { operand = operand->type.is_tensor() ? shown(*operand) : value_of(*operand); });
      return a;
    };
    std::vector<Argument> args;
    std::vector<std::pair<std::string, Argument>> kwargs;
    for (const Argument& a : node.args) args.push_back(with(a));
    for (const auto& [key, a] : node.kwargs) kwargs.emplace_back(key, with(a));
    return b.call(node.target, std::move(args), std::move(kwargs));
  }

  /// `value` is the node's, with batches of `levels`. False unless its elements are what the file says that they are.
  bool put(const Node& node, Node* value, const Levels& levels) {
    const auto &made = value->tensor().shape, &stated = node.tensor().shape;
    if (value->tensor().dtype != node.tensor().dtype || made.size() != levels.size() + stated.size()) return false;
    if (!std::equal(stated.begin(), stated.end(), made.begin() + static_cast<std::ptrdiff_t>(levels.size())))
      return false;
    rewriter_.replace(node, value, "vmap");
    if (!levels.empty()) levels_[&node] = levels;
    return true;
  }

  Levels levels_of_all(const Node& node) const {
    std::set<int64_t> all;
    for (const Node* operand : node.operands()) all.insert(levels_of(operand).begin(), levels_of(operand).end());
    return {all.begin(), all.end()};
  }

  static size_t rank_of_all(const Node& node) {
    size_t rank = 0;
    for (const Node* operand : node.operands())
      if (operand->type.is_tensor()) rank = std::max(rank, rank_of(*operand));
    return rank;
  }

  /// An operand with a dimension for each of `levels`, and as many of its own as `rank`: those it lacks have one
  /// element.
  Node* aligned(Builder& b, const Node& operand, const Levels& levels, size_t rank) const {
    Node* value = value_of(operand);
    const Levels& own = levels_of(&operand);
    if (own.empty() || (own == levels && rank == rank_of(operand))) return value;
    const auto& from = value->tensor().shape;
    std::vector<SymInt> shape;
    size_t next = 0;
    for (int64_t level : levels) shape.push_back(next < own.size() && own[next] == level ? from[next++] : SymInt(1));
    shape.insert(shape.end(), rank - rank_of(operand), SymInt(1));
    shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(own.size()), from.end());
    return b.reshape(value, shape);
  }

  bool elementwise(const Node& node) {
    const Levels levels = levels_of_all(node);
    const size_t rank = rank_of_all(node);
    Builder& b = rewriter_.at(node, "vmap");
    return put(node, call(node, [&](const Node& x) { return aligned(b, x, levels, rank); }), levels);
  }

  bool product(const Node& node) {
    const auto operands = node.operands();
    const bool is_linear = node.target.starts_with("aten.linear.");
    for (const Node* operand : operands) {
      if (is_linear && operand != &first(node) && levels_.contains(operand)) return false;
      if (!is_linear && rank_of(*operand) < 2) return false;
    }
    return is_linear ? put(node, call(node, operands_as_they_are()), levels_of_all(node)) : elementwise(node);
  }

  bool dot(const Node& node) {
    const Levels levels = levels_of_all(node);
    Builder& b = rewriter_.at(node, "vmap");
    Node* product = b.mul(aligned(b, first(node), levels, 1), aligned(b, *Call(node).tensor(1), levels, 1));
    return put(node, b.sum(product, {-1}, false), levels);
  }

  bool reduction_of_all(const Node& node) {
    const Node& x = first(node);
    std::vector<Argument> dims;
    for (size_t d = rank_of(x); d > 0; --d) dims.emplace_back(-static_cast<int64_t>(d));
    Builder& b = rewriter_.at(node, "vmap");
    if (dims.empty()) return put(node, b.cast(value_of(x), node.tensor().dtype), levels_of(&x));
    const std::string target = node.target.starts_with("aten.sum.") ? "aten.sum.dim_IntList" : "aten.mean.dim";
    std::vector<Argument> args{value_of(x), Argument::list(dims), false};
    return put(node, b.call(target, std::move(args), node.kwargs), levels_of(&x));
  }

  /// Dimensions counted from the last are the same with batches before them.
  bool on_dimensions(const Node& node) {
    const Node* x = node.args.empty() ? nullptr : node.args[0].node();
    if (!x || !levels_.contains(x) || rank_of(*x) == 0 || node.operands().size() != 1) return false;
    const auto rank = static_cast<int64_t>(rank_of(*x));
    const auto from_last = [&](Argument& a) {
      if (auto* n = std::get_if<int64_t>(&a.value); n && *n >= 0) *n -= rank;
    };
    std::vector<Argument> args = node.args;
    std::vector<std::pair<std::string, Argument>> kwargs = node.kwargs;
    const auto& params = node.op->schema.params;
    bool told = false;
    const auto visit_param = [&](const std::string& name, Argument& a) {
      if (!name.starts_with("dim")) return;
      told = !a.is_none();
      if (auto* list = std::get_if<ListArg>(&a.value)) {
        told = !list->items.empty();
        std::ranges::for_each(list->items, from_last);
      } else {
        from_last(a);
      }
    };
    for (size_t i = 0; i < std::min(args.size(), params.size()); ++i) visit_param(params[i].name, args[i]);
    for (auto& [name, a] : kwargs) visit_param(name, a);
    if (!told) return false;  // all of them, or one by default
    args[0] = value_of(*x);
    for (size_t i = 1; i < args.size(); ++i) args[i] = rewriter_.mapped(args[i]);
    return put(node, rewriter_.at(node, "vmap").call(node.target, std::move(args), std::move(kwargs)), levels_of(x));
  }

  bool unsqueeze(const Node& node) {
    const Node& x = first(node);
    const auto place = Call(node).dim(1, rank_of(x) + 1) + levels_of(&x).size();
    return put(node, rewriter_.at(node, "vmap").unsqueeze(value_of(x), static_cast<int64_t>(place)), levels_of(&x));
  }

  bool reshape(const Node& node) {
    const Node& x = first(node);
    Node* value = value_of(x);
    const Levels& levels = levels_of(&x);
    std::vector<SymInt> shape(value->tensor().shape.begin(),
                              value->tensor().shape.begin() + static_cast<std::ptrdiff_t>(levels.size()));
    shape.insert(shape.end(), node.tensor().shape.begin(), node.tensor().shape.end());
    return put(node, rewriter_.at(node, "vmap").reshape(value, shape), levels);
  }

  /// Elements at places that tensors tell, of all dimensions from the first on: batches of what is read are dimensions
  /// with places of their own.
  bool index(const Node& node) {
    const Node& x = first(node);
    const Call given(node);
    const auto* places = given.arg(1).as<ListArg>();
    if (!places) return false;
    const Levels levels = levels_of_all(node);
    size_t rank = 0;
    for (const Argument& place : places->items) {
      const Node* p = place.node();
      if (!p || !p->type.is_tensor() || p->tensor().dtype == DType::Bool) return false;
      rank = std::max(rank, rank_of(*p));
    }
    Builder& b = rewriter_.at(node, "vmap");
    Node* value = value_of(x);
    std::vector<Argument> all;
    for (size_t i = 0; i < levels_of(&x).size(); ++i) {
      std::vector<SymInt> shape(levels.size() + rank, SymInt(1));
      const SymInt size = value->tensor().shape[i];
      shape[static_cast<size_t>(std::ranges::find(levels, levels_of(&x)[i]) - levels.begin())] = size;
      all.emplace_back(b.reshape(
          b.call("aten.arange.default", {ops::integer(size)}, {{"device", DeviceArg{x.tensor().device}}}), shape));
    }
    for (const Argument& place : places->items) all.emplace_back(aligned(b, *place.node(), levels, rank));
    return put(node, b.call("aten.index.Tensor", {value, Argument::list(std::move(all))}), levels);
  }

  GraphRewriter rewriter_;
  bool puts_all_in_front_;
  std::unordered_map<const Node*, Levels> levels_;  ///< of nodes that have any
};

}  // namespace

std::optional<Graph> write_out_vmap(const Graph& graph, std::string_view torch) {
  const bool has_any = std::ranges::any_of(
      graph.nodes(), [](const auto& node) { return std::string_view(node->target).starts_with(kTransforms); });
  return has_any ? Batcher(graph, torch).run() : std::nullopt;
}

}  // namespace strata::capture
