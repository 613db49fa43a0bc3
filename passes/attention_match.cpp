// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The walk goes from the last product up to the first one, along the scores. Each node on the way must be one that the
// fused kernel does to a score, in the kernel's order: scale, mask, softmax. How a rule is added safely: take a node
// only if the kernel gives the same value for every score, NaN and infinities included; what comes after the mask may
// not be moved before it.

#include "passes/attention_match.h"

#include <algorithm>
#include <cmath>

#include "core/ir/op.h"

namespace strata {
namespace {

using Shape = std::vector<SymInt>;

bool is_product(const Node& n) { return n.is("aten.bmm.default") || n.is("aten.mm.default"); }
bool is_reshape(const Node& n) { return n.is("aten.view.default") || n.is("aten._unsafe_view.default"); }

/// The same rows: only what comes before the last two dimensions differs.
bool keeps_rows(const Node& view, const Node& source) {
  const Shape &a = view.tensor().shape, &b = source.tensor().shape;
  return a.size() >= 2 && b.size() >= 2 && a.back() == b.back() && a[a.size() - 2] == b[b.size() - 2];
}

Node* operand(const Node& n, size_t i) { return i < n.args.size() ? n.args[i].node() : nullptr; }

std::string quoted(const Node& n) { return "'" + n.name + "'"; }

class Matcher {
 public:
  Matcher(const Node& product, const ConstantInputs& constants, const UserMap& users, std::string& why_not,
          const Node*& blocker)
      : constants_(constants), users_(users), why_not_(why_not), blocker_(blocker) {
    match_.product = &product;
  }

  std::optional<AttentionMatch> run() {
    const Node* shares = weights(operand(*match_.product, 0));
    const Node* looked_at = nullptr;
    if (const Node* inner = without_keys(shares, looked_at)) shares = inner;
    const Node* scores = softmax(shares);
    if (!scores || (looked_at && looked_at != scores) || !is_attention(scores)) return {};
    match_.value = operand(*match_.product, 1);
    if (!walk(scores) || !types_fit() || !is_private()) return {};
    return std::move(match_);
  }

 private:
  std::nullopt_t refuse(const Node& at, std::string reason) {
    why_not_ = std::move(reason);
    blocker_ = &at;
    return std::nullopt;
  }
  bool fail(const Node& at, std::string reason) {
    refuse(at, std::move(reason));
    return false;
  }

  /// From the weights as the product reads them to the quotient of the softmax.
  const Node* weights(const Node* n) {
    while (n && (is_reshape(*n) || n->is("aten._to_copy.default"))) {
      if (is_reshape(*n) && !keeps_rows(*n, *operand(*n, 0))) return nullptr;
      match_.inside.push_back(n);
      n = operand(*n, 0);
    }
    return n;
  }

  /// `_safe_softmax`: 0 where no score of a row is another number than -infinity. Gives what it chooses from, and in
  /// `looked_at` the scores; null for other nodes.
  const Node* without_keys(const Node* n, const Node*& looked_at) {
    if (!n || !n->is("aten.masked_fill.Scalar") || number(n->args.at(2)) != 0.0) return nullptr;
    const Node* none = operand(*n, 1);
    const Node* some = none && none->is("aten.logical_not.default") ? operand(*none, 0) : nullptr;
    const Node* other = some && some->is("aten.any.dim") ? operand(*some, 0) : nullptr;
    if (!other || !other->is("aten.ne.Scalar") || number(other->args.at(1)) != -std::numeric_limits<double>::infinity())
      return nullptr;
    const Call call(*some);
    const auto rank = static_cast<int64_t>(other->tensor().shape.size());
    if (const int64_t dim = call.constant(1); (dim != -1 && dim != rank - 1) || !call.boolean(2)) return nullptr;
    for (const Node* inside : {n, none, some, other}) match_.inside.push_back(inside);
    match_.zero_without_keys = true;
    looked_at = operand(*other, 0);
    return operand(*n, 0);
  }

  bool is_over_last(const Node& reduction, const Node* of) const {
    if (operand(reduction, 0) != of || reduction.args.size() < 3) return false;
    const Call call(reduction);
    const auto rank = static_cast<int64_t>(of->tensor().shape.size());
    const std::vector<int64_t> dims = call.constants(1);
    return dims.size() == 1 && (dims[0] == -1 || dims[0] == rank - 1) && call.boolean(2) &&
           reduction.tensor().dtype == of->tensor().dtype;
  }

  /// e / sum(e), e = exp(x - amax(x)): returns x.
  const Node* softmax(const Node* quotient) {
    if (!quotient || !quotient->is("aten.div.Tensor") || quotient->args.size() != 2) return nullptr;
    const Node *e = operand(*quotient, 0), *sum = operand(*quotient, 1);
    if (!e || !sum || !e->is("aten.exp.default") || !sum->is("aten.sum.dim_IntList")) return nullptr;
    const Node* shifted = operand(*e, 0);
    if (!shifted->is("aten.sub.Tensor") || !shifted->kwargs.empty()) return nullptr;
    const Node *x = operand(*shifted, 0), *top = operand(*shifted, 1);
    if (!x || !top || !top->is("aten.amax.default")) return nullptr;
    if (x->tensor().shape.size() < 2 || !is_over_last(*sum, e) || !is_over_last(*top, x)) return nullptr;
    for (const Node* n : {quotient, sum, e, shifted, top}) match_.inside.push_back(n);
    match_.shape = x->tensor().shape;
    return x;
  }

  /// Whether a product is near, up the chain: then a refusal is worth a word.
  static bool is_attention(const Node* n, int steps = 12) {
    if (steps == 0 || n->kind != NodeKind::Call || !n->op || !n->type.is_tensor()) return false;
    if (is_product(*n) || n->is("aten.baddbmm.default")) return true;
    for (const Node* o : n->operands())
      if (o->type.is_tensor() && o->tensor().numel() == n->tensor().numel() && is_attention(o, steps - 1)) return true;
    return false;
  }

  bool walk(const Node* n) {
    for (;;) {
      if (is_product(*n) || n->is("aten.baddbmm.default")) return first_product(*n);
      const Node* next = step(*n);
      if (!next) return false;
      match_.inside.push_back(n);
      n = next;
    }
  }

  /// The scores that `n` was made from; null: not understood, and said so.
  const Node* step(const Node& n) {
    const Node* x = operand(n, 0);
    if (is_reshape(n)) {
      if (keeps_rows(n, *x)) return x;
      return fail(n, quoted(n) + " mixes queries or keys with the dimensions before them"), nullptr;
    }
    if (n.is("aten._to_copy.default")) return x;  // types are looked at in the end
    if (n.is("aten.mul.Tensor") || n.is("aten.div.Tensor")) return scale_step(n);
    if (n.is("aten.add.Tensor")) return add_step(n);
    if (n.target.starts_with("aten.where.")) return where_step(n);
    if (n.target.starts_with("aten.masked_fill.")) {
      const auto fill = number(n.args.at(2));
      if (!fill) return fail(n, "the number that " + quoted(n) + " puts in place of scores is not known"), nullptr;
      return set_fill(n, operand(n, 1), true, *fill) ? x : nullptr;
    }
    return fail(n, quoted(n) + " (" + n.target + ") is nothing that attention does to its scores"), nullptr;
  }

  const Node* scale_step(const Node& n) {
    const bool divides = n.is("aten.div.Tensor");
    const Node *a = operand(n, 0), *b = operand(n, 1);
    auto factor = n.args.size() == 2 && n.kwargs.empty() ? number(n.args[1]) : std::nullopt;
    const Node* scores = a;
    if (!factor && !divides) {
      factor = number(n.args[0]);
      scores = b;
    }
    if (!factor || !scores || !(scores->tensor().shape == n.tensor().shape))
      return fail(n, "the scores are multiplied by what is no known number in " + quoted(n)), nullptr;
    return scale_of(n, divides ? 1 / *factor : *factor) ? scores : nullptr;
  }

  bool scale_of(const Node& n, double factor) {
    match_.scale *= factor;
    const double size = std::abs(match_.scale);
    if (!std::isfinite(factor) || size > 1e30 || size < 1e-30) return fail(n, "the scale is too large or too small");
    return true;
  }

  /// What came before in the walk comes after in the program.
  bool may_mask(const Node& n) {
    if (match_.mask) return fail(n, "there are two masks, " + quoted(*match_.mask) + " and that of " + quoted(n));
    if (match_.scale != 1) return fail(n, "the scores are scaled after " + quoted(n) + " masked them");
    return true;
  }

  bool set_fill(const Node& n, const Node* mask, bool inverted, double fill) {
    if (!may_mask(n)) return false;
    if (!mask || mask->tensor().dtype != DType::Bool || std::isnan(fill))
      return fail(n, quoted(n) + " chooses by something that is no bool mask, or puts NaN");
    match_.mask = mask;
    match_.inverted = inverted;
    match_.fill = Tensor::scalar(n.tensor().dtype, fill).at(0);
    match_.shape = n.tensor().shape;
    return true;
  }

  const Node* add_step(const Node& n) {
    if (n.args.size() != 2 || !n.kwargs.empty() || !operand(n, 0) || !operand(n, 1))
      return fail(n, quoted(n) + " adds a number, or a multiple"), nullptr;
    const Node *a = operand(n, 0), *b = operand(n, 1);
    const auto are_scores = [&](const Node* s) { return s->tensor().shape == n.tensor().shape && is_attention(s); };
    if (!are_scores(a)) std::swap(a, b);
    if (!are_scores(a) || !is_floating(b->tensor().dtype))
      return fail(n, "neither side of " + quoted(n) + " is a product of the result's shape"), nullptr;
    if (!may_mask(n)) return nullptr;
    match_.mask = b;
    match_.shape = n.tensor().shape;
    return a;
  }

  const Node* where_step(const Node& n) {
    const Node *a = operand(n, 1), *b = operand(n, 2);
    const auto then = number(n.args.at(1)), otherwise = number(n.args.at(2));
    const bool inverted = then.has_value();
    const Node* scores = inverted ? b : a;
    if (!(inverted ? then : otherwise) || !scores || !(scores->tensor().shape == n.tensor().shape))
      return fail(n, quoted(n) + " chooses between scores and what is no known number"), nullptr;
    return set_fill(n, operand(n, 0), inverted, inverted ? *then : *otherwise) ? scores : nullptr;
  }

  /// Whether a value is one of `type` widened to float32, seen through views.
  static bool is_widened(const Node* n, DType type) {
    if ((type != DType::BF16 && type != DType::F16) || n->tensor().dtype != DType::F32) return false;
    while (is_reshape(*n) || n->is("aten.permute.default") || n->is("aten.expand.default")) n = operand(*n, 0);
    return n->is("aten._to_copy.default") && operand(*n, 0)->tensor().dtype == type;
  }

  bool first_product(const Node& n) {
    match_.inside.push_back(&n);
    const bool adds = n.is("aten.baddbmm.default");
    match_.query = operand(n, adds ? 1 : 0);
    match_.key = operand(n, adds ? 2 : 1);
    const DType type = match_.product->tensor().dtype;
    match_.widened = is_widened(match_.query, type) && is_widened(match_.key, type);
    if (!adds) return true;
    const Call call(n);
    if (call.number(3) != 0) {
      if (!may_mask(n)) return false;
      if (call.number(3) != 1 || !is_floating(operand(n, 0)->tensor().dtype))
        return fail(n, quoted(n) + " adds a multiple of its first operand");
      match_.mask = operand(n, 0);
      match_.shape = n.tensor().shape;
    }
    return scale_of(n, call.number(4));
  }

  /// A number, or a constant of one element.
  std::optional<double> number(const Argument& a) const {
    if (const auto* v = a.as<double>()) return *v;
    if (const auto* v = a.as<int64_t>()) return static_cast<double>(*v);
    const Node* n = a.node();
    if (!n || !n->type.is_tensor()) return {};
    if (n->is("aten.full.default") && n->tensor().shape.empty()) return number(n->args.at(1));
    const Tensor* t = constants_.value(n);
    if (t && t->numel() == 1 && t->shape.empty()) return t->at(0);
    return {};
  }

  /// The kernel sums in float32, or float64 for such operands, and rounds once: no more and no less is asked for here.
  bool types_fit() {
    const DType type = match_.product->tensor().dtype;
    for (const Node* n : {match_.query, match_.key, match_.value})
      if (!is_floating(type) || (n->tensor().dtype != type && !(match_.widened && n != match_.value)))
        return fail(*n, quoted(*n) + " is of another type than the result");
    const bool is_short = type == DType::BF16 || type == DType::F16;
    for (const Node* n : match_.inside) {
      const DType d = n->tensor().dtype;
      if (d != type && !(is_short && d == DType::F32) && d != DType::Bool)
        return fail(*n, quoted(*n) + " computes in " + std::string(dtype_name(d)));
    }
    return true;
  }

  bool is_private() {
    for (const Node* n : match_.inside) {
      for (const Node* user : users_.at(n)) {
        if (user == match_.product ||
            std::find(match_.inside.begin(), match_.inside.end(), user) != match_.inside.end())
          continue;
        return fail(*n, quoted(*n) + " is also read by " +
                            (user->kind == NodeKind::Output ? "the caller, as a result" : quoted(*user)));
      }
    }
    for (const Node* n : {match_.query, match_.key, match_.value, match_.mask})
      if (n && std::find(match_.inside.begin(), match_.inside.end(), n) != match_.inside.end())
        return fail(*n, quoted(*n) + " is an operand and part of the computation");
    return true;
  }

  const ConstantInputs& constants_;
  const UserMap& users_;
  std::string& why_not_;
  const Node*& blocker_;
  AttentionMatch match_;
};

}  // namespace

std::optional<AttentionMatch> match_attention(const Node& node, const ConstantInputs& constants, const UserMap& users,
                                              std::string& why_not, const Node*& blocker) {
  why_not.clear();
  blocker = nullptr;
  if (node.kind != NodeKind::Call || !is_product(node)) return {};
  return Matcher(node, constants, users, why_not, blocker).run();
}

}  // namespace strata
