// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Dropout: what is kept is drawn as PyTorch draws it on the CPU, and multiplied in the kernel that reads it.

#include "core/ir/ops/randoms.h"

namespace strata::ops {
namespace {

bool trains(const Call& call) { return call.is_none(2) || call.boolean(2); }

Type dropout_type(const Call& call) {
  const double p = call.number(1);
  if (!(p >= 0 && p <= 1)) reject(call, "dropout probability must be between 0 and 1");
  const DType dtype = tensor_type(call, 0).dtype;
  if (trains(call) && p != 0 && p != 1 && !is_floating(dtype))
    reject(call, "expected a floating-point type, found " + std::string(dtype_name(dtype)));
  return same_type(call);
}

Type native_dropout_type(const Call& call) {
  Type value = dropout_type(call), mask = value;
  mask.tensor.dtype = DType::Bool;
  return Type::tuple({value, mask});
}

/// Flags of what is kept, of the operand's shape; of whole channels with `features`.
Node* kept(Builder& b, const Call& c, bool features) {
  TensorType like = c.type(0);
  if (features) {
    if (like.shape.size() < 2) reject(c, "expected at least 2 dimensions");
    for (size_t d = 2; d < like.shape.size(); ++d) like.shape[d] = 1;
    like = Type::of(like.dtype, like.shape, like.device).tensor;
  }
  return drawn_like(b, c, like, DType::Bool, "strata.draw_bernoulli.default", {1 - c.number(1)});
}

template <bool Features>
std::vector<Node*> dropout(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const double p = c.number(1);
  if (!trains(c) || p == 0) return {x};
  if (p == 1) return {b.mul(x, 0.0)};
  return {b.mul(x, b.div(b.cast(kept(b, c, Features), x->tensor().dtype), 1 - p))};
}

/// Dropped elements become the value that a SELU's outputs tend to; mean and variance stay.
template <bool Features>
std::vector<Node*> alpha_dropout(Builder& b, const Call& c) {
  constexpr double alpha = 1.7580993408473766;
  Node* x = c.tensor(0);
  const double p = c.number(1);
  if (!trains(c) || p == 0) return {x};
  if (p == 1) return {b.mul(x, 0.0)};
  Node* noise = b.cast(kept(b, c, Features), x->tensor().dtype);
  const double scale = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  Node* shift = b.add(b.mul(b.add(noise, -1), alpha * scale), alpha * scale * p);
  return {b.add(b.mul(x, b.mul(noise, scale)), shift)};
}

std::vector<Node*> native_dropout(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const double p = c.number(1);
  if (!trains(c)) return {x, b.call("aten.ones_like.default", {x}, {{"dtype", DType::Bool}})};
  if (p == 1) return {b.mul(x, 0.0), b.call("aten.zeros_like.default", {x}, {{"dtype", DType::Bool}})};
  Node* keep = kept(b, c, false);
  return {b.mul(b.mul(x, keep), 1 / (1 - p)), keep};
}

std::vector<Node*> native_dropout_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!cotangent(g) || !g.needed(0)) return out;
  const double p = g.call.number(1);
  if (!trains(g.call))
    out[0] = cotangent(g);
  else if (p == 1)
    out[0] = g.builder.mul(cotangent(g), 0.0);
  else {
    Node* keep = g.builder.getitem(const_cast<Node*>(&g.call.node()), 1);
    out[0] = g.builder.mul(g.builder.mul(cotangent(g), keep), 1 / (1 - p));
  }
  return out;
}

}  // namespace

Rows dropouts() {
  Rows r;
  const auto add = [&](const std::string& name, Decompose decompose, const char* doc) {
    r.push_back(OpDef("aten::" + name + "(Tensor input, float p, bool train) -> Tensor", OpClass::Compound,
                      trait::Random, Promotion::None, dropout_type, nullptr, decompose, NoGradient::Pending,
                      NoLowering{}, "", doc));
  };
  add("dropout", dropout<false>, "zeroes elements with probability p in training; the operand itself otherwise");
  add("feature_dropout", dropout<true>, "dropout of whole channels");
  add("alpha_dropout", alpha_dropout<false>, "dropout that keeps mean and variance of SELU's outputs");
  add("feature_alpha_dropout", alpha_dropout<true>, "the same of whole channels");
  r.push_back(OpDef("aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", OpClass::Compound,
                    trait::Random, Promotion::None, native_dropout_type, nullptr, native_dropout,
                    Gradient(native_dropout_gradient), NoLowering{}, "", "dropout and the mask of what was kept"));
  return r;
}

}  // namespace strata::ops
