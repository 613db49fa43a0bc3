// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Batched products have one batch dimension; attention takes its operands with the dimensions that the mask has, so the
// reshapes and expansions that programs put in front of a product are walked back here. Where that does not succeed a
// reshape does, at the price of a copy that the product would have needed as well.

#include "passes/fuse_attention.h"

#include <unordered_map>
#include <unordered_set>

#include "passes/attention_match.h"

namespace strata {
namespace {

using Shape = std::vector<SymInt>;
constexpr const char* kRule = "softmax(q k^T) v = attention";

/// An operand before it was brought into the product's shape.
struct Source {
  const Node* node = nullptr;
  bool swapped = false;  ///< its last two dimensions are the other way round
  Shape shape;           ///< what it is reshaped to, if that is not its own shape
};

bool swaps_rows(const Node& n) {
  if (!n.is("aten.permute.default")) return false;
  const std::vector<int64_t> dims = Call(n).constants(1);
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t expected = d + 2 < rank ? d : d == rank - 1 ? rank - 2 : rank - 1;
    if (((dims[static_cast<size_t>(d)] + rank) % rank) != expected) return false;
  }
  return rank >= 2;
}

bool same_rows(const Shape& a, const Shape& b) {
  return a.size() >= 2 && b.size() >= 2 && a.back() == b.back() && a[a.size() - 2] == b[b.size() - 2];
}

class SourceFinder {
 public:
  explicit SourceFinder(const Shape& scores) : lead_(scores.begin(), scores.end() - 2) {}

  Source find(const Node* n, bool may_broadcast) const {
    Source at{n, false, {}};
    for (const Node* next = n; next;) {
      at.node = next;
      if (may_broadcast && repeats_heads(at)) return at;
      if (fits(next->tensor().shape, false)) return may_broadcast ? before_expansion(at) : at;
      next = before(at);
    }
    return {};
  }

 private:
  /// The operand of a view that keeps rows; `swapped` follows. Null: none.
  static const Node* before(Source& at) {
    const Node& n = *at.node;
    const Node* x = n.args.empty() ? nullptr : n.args[0].node();
    const bool same_elements = n.is("aten.view.default") || n.is("aten._unsafe_view.default");
    if (x && same_elements && same_rows(n.tensor().shape, x->tensor().shape)) return x;
    if (!swaps_rows(n)) return nullptr;
    at.swapped = !at.swapped;
    return x;
  }

  bool fits(const Shape& shape, bool may_broadcast) const {
    if (shape.size() != lead_.size() + 2) return false;
    for (size_t d = 0; d < lead_.size(); ++d)
      if (!(shape[d] == lead_[d]) && !(may_broadcast && shape[d] == SymInt(1))) return false;
    return true;
  }

  /// [..., heads, rows, columns] from an expansion of [..., kept, 1, rows, columns] to [..., kept, group, ...].
  bool repeats_heads(Source& at) const {
    const Node& n = *at.node;
    if (!n.is("aten.expand.default") || lead_.empty()) return false;
    const Node* x = n.args[0].node();
    const Shape &from = x->tensor().shape, &to = n.tensor().shape;
    const size_t heads = lead_.size() - 1;
    if (to.size() != lead_.size() + 3 || from.size() != to.size() || !same_rows(from, to)) return false;
    if (!(from[heads + 1] == SymInt(1)) || !(from[heads] == to[heads]) || !(to[heads] * to[heads + 1] == lead_[heads]))
      return false;
    for (size_t d = 0; d < heads; ++d)
      if (!(to[d] == lead_[d]) || !(from[d] == to[d] || from[d] == SymInt(1))) return false;
    at.node = x;
    at.shape = from;
    at.shape.erase(at.shape.begin() + static_cast<long>(heads) + 1);
    return true;
  }

  /// Looks through expansions of an operand that fits, as far as that gains something.
  Source before_expansion(Source at) const {
    Source best = at;
    for (const Node* next = at.node; next;) {
      at.node = next;
      if (repeats_heads(at)) return at;
      const Node& n = *next;
      const Node* x = n.args.empty() ? nullptr : n.args[0].node();
      if (x && n.is("aten.expand.default") && fits(x->tensor().shape, true) &&
          same_rows(x->tensor().shape, n.tensor().shape)) {
        at.node = next = x;
        best = at;
      } else {
        next = before(at);
      }
    }
    return best;
  }

  Shape lead_;
};

class AttentionFuser {
 public:
  AttentionFuser(const Graph& graph, const PassContext& context)
      : graph_(graph), constants_(graph, context), users_(users_of(graph)), rewriter_(graph, "fuse_attention") {}

  PassResult run() {
    find();
    for (const auto& node : graph_.nodes()) {
      if (const auto it = matches_.find(node.get()); it != matches_.end())
        rewrite(it->second);
      else if (inside_.contains(node.get()))
        rewriter_.erase(*node, kRule, "inside the attention that replaces '" + inside_.at(node.get())->name + "'");
      else
        rewriter_.copy(*node);
    }
    Graph result = rewriter_.finish();
    return {std::move(result), rewriter_.take_rewrites(), std::move(refusals_)};
  }

 private:
  void find() {
    for (const auto& node : graph_.nodes()) {
      std::string why_not;
      const Node* blocker = nullptr;
      auto match = match_attention(*node, constants_, users_, why_not, blocker);
      if (match && matches_.contains(match->inside.back())) {
        blocker = match->inside.back();
        why_not = "its first product '" + blocker->name + "' is attention itself";
      } else if (match) {
        for (const Node* n : match->inside) inside_[n] = node.get();
        matches_.emplace(node.get(), std::move(*match));
      }
      if (!why_not.empty()) {
        refusals_.push_back({kRule, blocker->id, node->id, why_not});
      }
    }
  }

  void rewrite(const AttentionMatch& m) {
    Builder& b = rewriter_.at(*m.product, kRule, OriginKind::Fused);
    for (auto it = m.inside.rbegin(); it != m.inside.rend(); ++it)
      b.meta.origins.push_back({(*it)->id, OriginKind::Fused, kRule, true});
    Node* q = in_shape(b, m, m.query, false, false);
    Node* k = in_shape(b, m, m.key, true, true);
    Node* v = in_shape(b, m, m.value, true, false);
    if (m.widened) {  // back to what they were: the kernel widens them itself
      q = b.cast(q, v->tensor().dtype);
      k = b.cast(k, v->tensor().dtype);
    }
    Node* mask = m.mask ? rewriter_.mapped(m.mask) : nullptr;
    if (m.inverted) mask = b.call("aten.logical_not.default", {mask});
    Argument given = mask ? Argument(mask) : Argument(NoneArg{});
    std::vector<std::pair<std::string, Argument>> how = {{"scale", m.scale}, {"fill", m.fill}};
    if (m.zero_without_keys) how.emplace_back("zero_without_keys", true);
    Node* made = b.call("strata.attention.default", {q, k, v, given}, std::move(how));
    rewriter_.replace(*m.product, b.reshape(made, m.product->tensor().shape), kRule,
                      "the scores and weights of '" + m.product->name + "' are read by nothing else");
  }

  /// An operand with the dimensions of the scores before its last two.
  Node* in_shape(Builder& b, const AttentionMatch& m, const Node* operand, bool may_broadcast, bool transposed) {
    const Source source = SourceFinder(m.shape).find(operand, may_broadcast);
    Node* x = rewriter_.mapped(source.node ? source.node : operand);
    if (!source.node) {
      Shape shape(m.shape.begin(), m.shape.end() - 2);
      const Shape& own = operand->tensor().shape;
      shape.insert(shape.end(), own.end() - 2, own.end());
      x = b.reshape(x, shape);
    } else if (!source.shape.empty()) {
      x = b.reshape(x, source.shape);
    }
    return source.swapped != transposed ? b.transpose(x, -2, -1) : x;
  }

  const Graph& graph_;
  ConstantInputs constants_;
  UserMap users_;
  GraphRewriter rewriter_;
  std::unordered_map<const Node*, AttentionMatch> matches_;
  std::unordered_map<const Node*, const Node*> inside_;
  std::vector<Refusal> refusals_;
};

}  // namespace

/// A softmax.
bool fuse_attention_may_change(const Graph& graph, const PassContext&) {
  for (const auto& node : graph.nodes())
    if (node->is("aten.sum.dim_IntList") && Call(*node).tensor(0)->is("aten.exp.default")) return true;
  return false;
}

PassResult fuse_attention(const Graph& graph, const PassContext& context) {
  return AttentionFuser(graph, context).run();
}

}  // namespace strata
