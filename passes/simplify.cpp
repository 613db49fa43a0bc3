// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How to add a rule safely: match on `call` and its operands only; return null unless the replacement has the same
// dtype and shape and equal bits for every input, NaN and -0.0 included (x + 0 is not x for -0.0; x - 0 is). Add a case
// where it fires and one where it must not.

#include "passes/simplify.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace strata {
namespace {

Node* tensor_arg(const Node& call, size_t i) {
  Node* n = i < call.args.size() ? call.args[i].node() : nullptr;
  return n && n->type.is_tensor() ? n : nullptr;
}

/// Whether `with` may stand for a result of type `type`.
bool fits(const Node* with, const Type& type) {
  return with && with->tensor().dtype == type.tensor.dtype && with->tensor().shape == type.tensor.shape;
}

bool is_number(const Node& call, size_t i, double value) {
  if (i >= call.args.size()) return false;
  if (const auto* v = call.args[i].as<double>()) return *v == value && std::signbit(*v) == std::signbit(value);
  if (const auto* v = call.args[i].as<int64_t>()) return static_cast<double>(*v) == value;
  return false;
}

Node* drop_copy(Builder&, const Node& call) {
  static constexpr std::array<std::string_view, 6> kCopies = {
      "aten.clone.default",    "aten.alias.default",           "aten.detach.default",
      "aten._to_copy.default", "aten.lift_fresh_copy.default", "aten.lift_fresh.default"};
  if (std::find(kCopies.begin(), kCopies.end(), call.target) == kCopies.end()) return nullptr;
  Node* x = tensor_arg(call, 0);
  return fits(x, call.type) ? x : nullptr;
}

Node* multiply_by_one(Builder&, const Node& call) {
  if (!call.is("aten.mul.Tensor")) return nullptr;
  if (is_number(call, 1, 1.0) && fits(tensor_arg(call, 0), call.type)) return tensor_arg(call, 0);
  return nullptr;
}

Node* divide_by_one(Builder&, const Node& call) {
  return call.is("aten.div.Tensor") && is_number(call, 1, 1.0) && fits(tensor_arg(call, 0), call.type)
             ? tensor_arg(call, 0)
             : nullptr;
}

Node* subtract_zero(Builder&, const Node& call) {
  const bool plain = call.is("aten.sub.Tensor") && call.kwargs.empty();
  return plain && is_number(call, 1, 0.0) && fits(tensor_arg(call, 0), call.type) ? tensor_arg(call, 0) : nullptr;
}

/// Integers have no -0.
Node* add_integer_zero(Builder&, const Node& call) {
  const bool plain = call.is("aten.add.Tensor") && is_integral(call.type.tensor.dtype);
  return plain && is_number(call, 1, 0.0) && fits(tensor_arg(call, 0), call.type) ? tensor_arg(call, 0) : nullptr;
}

Node* negate_twice(Builder&, const Node& call) {
  Node* x = call.is("aten.neg.default") ? tensor_arg(call, 0) : nullptr;
  return x && x->is("aten.neg.default") && fits(tensor_arg(*x, 0), call.type) ? tensor_arg(*x, 0) : nullptr;
}

Node* idempotent(Builder&, const Node& call) {
  if (!call.op || !call.op->has(trait::Idempotent) || call.args.size() != 1) return nullptr;
  Node* x = tensor_arg(call, 0);
  return x && x->target == call.target && x->args.size() == 1 && fits(x, call.type) ? x : nullptr;
}

/// PyTorch computes these exponents this way too.
Node* small_power(Builder& b, const Node& call) {
  if (!call.is("aten.pow.Tensor_Scalar")) return nullptr;
  Node* x = tensor_arg(call, 0);
  if (!fits(x, call.type)) return nullptr;
  if (is_number(call, 1, 1.0)) return x;
  if (is_number(call, 1, 2.0)) return b.mul(x, x);
  if (is_number(call, 1, 3.0)) return b.mul(b.mul(x, x), x);
  if (is_number(call, 1, 0.5) && is_floating(call.type.tensor.dtype)) return b.call("aten.sqrt.default", {x});
  return nullptr;
}

bool is_view(const Node* n) { return n->is("aten.view.default"); }

Node* view_to_same_shape(Builder&, const Node& call) {
  static constexpr std::array<std::string_view, 3> kViews = {"aten.view.default", "aten.expand.default",
                                                             "aten._unsafe_view.default"};
  if (std::find(kViews.begin(), kViews.end(), call.target) == kViews.end()) return nullptr;
  return fits(tensor_arg(call, 0), call.type) ? tensor_arg(call, 0) : nullptr;
}

Node* view_of_view(Builder& b, const Node& call) {
  Node* inner = is_view(&call) ? tensor_arg(call, 0) : nullptr;
  if (!inner || !is_view(inner)) return nullptr;
  return b.reshape(tensor_arg(*inner, 0), call.type.tensor.shape);
}

std::vector<int64_t> dims_of(const Node& permute) {
  const Call call(permute);
  std::vector<int64_t> dims = call.constants(1);
  for (int64_t& d : dims) d = static_cast<int64_t>(normalize_dim(d, dims.size(), permute));
  return dims;
}

Node* identity_permute(Builder&, const Node& call) {
  if (!call.is("aten.permute.default")) return nullptr;
  const auto dims = dims_of(call);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int64_t>(i)) return nullptr;
  return tensor_arg(call, 0);
}

Node* permute_of_permute(Builder& b, const Node& call) {
  Node* inner = call.is("aten.permute.default") ? tensor_arg(call, 0) : nullptr;
  if (!inner || !inner->is("aten.permute.default")) return nullptr;
  const auto outer_dims = dims_of(call), inner_dims = dims_of(*inner);
  std::vector<int64_t> dims;
  for (int64_t d : outer_dims) dims.push_back(inner_dims[static_cast<size_t>(d)]);
  return b.permute(tensor_arg(*inner, 0), dims);
}

Node* full_slice(Builder&, const Node& call) {
  return call.is("aten.slice.Tensor") && fits(tensor_arg(call, 0), call.type) && Call(call).integer(4) == SymInt(1)
             ? tensor_arg(call, 0)
             : nullptr;
}

Node* cat_of_one(Builder&, const Node& call) {
  if (!call.is("aten.cat.default")) return nullptr;
  const auto* list = call.args.at(0).as<ListArg>();
  return list && list->items.size() == 1 && fits(list->items[0].node(), call.type) ? list->items[0].node() : nullptr;
}

/// A cast that only widens, then narrows back to where it came from.
Node* cast_there_and_back(Builder&, const Node& call) {
  Node* inner = call.is("aten._to_copy.default") ? tensor_arg(call, 0) : nullptr;
  if (!inner || !inner->is("aten._to_copy.default")) return nullptr;
  Node* x = tensor_arg(*inner, 0);
  if (!fits(x, call.type)) return nullptr;
  const DType from = x->tensor().dtype, through = inner->tensor().dtype;
  const bool exact = is_floating(from) && is_floating(through) && promote(from, through) == through;
  return exact ? x : nullptr;
}

constexpr std::array<SimplifyRule, 15> kRules = {{
    {"copy(x) = x", drop_copy},
    {"x * 1 = x", multiply_by_one},
    {"x / 1 = x", divide_by_one},
    {"x - 0 = x", subtract_zero},
    {"integer x + 0 = x", add_integer_zero},
    {"-(-x) = x", negate_twice},
    {"f(f(x)) = f(x)", idempotent},
    {"pow(x, 2) = x * x", small_power},
    {"view(x, shape of x) = x", view_to_same_shape},
    {"view(view(x)) = view(x)", view_of_view},
    {"permute(x, identity) = x", identity_permute},
    {"permute(permute(x)) = permute(x)", permute_of_permute},
    {"x[:] = x", full_slice},
    {"cat([x]) = x", cat_of_one},
    {"narrow(widen(x)) = x", cast_there_and_back},
}};

Node* apply_rules(Builder& builder, const Node& call, std::string& rule) {
  for (const SimplifyRule& candidate : simplify_rules()) {
    if (Node* with = candidate.apply(builder, call)) {
      rule = candidate.name;
      return with;
    }
  }
  return nullptr;
}

}  // namespace

std::span<const SimplifyRule> simplify_rules() { return kRules; }

/// Rules only make nodes where they apply, here in a graph that is thrown away.
bool simplify_may_change(const Graph& graph, const PassContext&) {
  Graph scratch(graph.shared_env());
  Builder builder(scratch);
  std::string rule;
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) {
    return node->kind == NodeKind::Call && node->op && node->type.is_tensor() && apply_rules(builder, *node, rule);
  });
}

PassResult simplify(const Graph& graph, const PassContext&) {
  GraphRewriter rewriter(graph, "simplify");
  for (const auto& node : graph.nodes()) {
    if (node->kind != NodeKind::Call || !node->op || !node->type.is_tensor()) {
      rewriter.copy(*node);
      continue;
    }
    Node call = *node;
    for (Argument& a : call.args) a = rewriter.mapped(a);
    for (auto& [key, a] : call.kwargs) a = rewriter.mapped(a);
    std::string rule;
    Builder& builder = rewriter.at(*node, "simplify");
    if (Node* with = apply_rules(builder, call, rule)) {
      // A node that lives on instead of this one also computes this one's value.
      if (with->meta.origins.empty() || with->meta.origins.front().node != node->id)
        with->meta.origins.push_back({node->id, OriginKind::Replaced, rule, true});
      else
        with->meta.origins.front().rule = rule;
      rewriter.replace(*node, with, rule);
    } else {
      rewriter.copy(*node);
    }
  }
  Graph result = rewriter.finish();
  return {std::move(result), rewriter.take_rewrites()};
}

}  // namespace strata
