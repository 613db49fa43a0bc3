// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Layer, group and root-mean-square normalisation, by decomposition into means, so that fusion makes one kernel of
// each. Statistics take two passes (mean, then mean of the squared distances), in float32 for 16-bit types; the result
// is rounded once.

#include <numeric>

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;

/// Checks that the last dimensions of the input, and weight and bias (parameters 2 and 3), have shape
/// `normalized_shape`; returns its rank.
size_t check_normalised(const Call& call, bool has_bias) {
  const Shape &x = tensor_type(call, 0).shape, shape = call.integers(1);
  if (shape.empty() || shape.size() > x.size())
    reject(call, "normalized_shape must name 1 to " + std::to_string(x.size()) + " dimensions");
  const auto check = [&](const Shape& other, const std::string& what) {
    if (what != "input" && other.size() != shape.size())
      reject(call, what + " must have as many dimensions as normalized_shape, " + std::to_string(shape.size()) +
                       ", found " + std::to_string(other.size()));
    for (size_t d = 0; d < shape.size(); ++d)
      require_equal(call, other[other.size() - shape.size() + d], shape[d],
                    "sizes of " + what + " and normalized_shape");
  };
  check(x, "input");
  if (call.optional_tensor(2)) check(call.type(2).shape, "weight");
  if (has_bias && call.optional_tensor(3)) check(call.type(3).shape, "bias");
  return shape.size();
}

Type layer_norm_type(const Call& call) {
  check_normalised(call, true);
  return result_like(call, call.type(0).dtype, call.type(0).shape);
}
Type rms_norm_type(const Call& call) {
  check_normalised(call, false);
  return result_like(call, call.type(0).dtype, call.type(0).shape);
}
Type native_layer_norm_type(const Call& call) {
  const size_t last = check_normalised(call, true);
  const Shape& x = call.type(0).shape;
  Shape kept = x;
  std::fill(kept.end() - static_cast<long>(last), kept.end(), SymInt(1));
  const DType saved = statistics_dtype(call, 2);
  return tuple_like(call, {{call.type(0).dtype, x}, {saved, kept}, {saved, kept}});
}

Normalised layer_norm(Builder& b, const Call& call) {
  Node* x = call.tensor(0);
  Normalised n = normalise(b, widen(b, x), last_dims(call.integers(1).size()), call.number(4));
  if (Node* weight = call.optional_tensor(2)) n.value = b.mul(n.value, weight);
  if (Node* bias = call.optional_tensor(3)) n.value = b.add(n.value, bias);
  n.value = b.cast(n.value, x->tensor().dtype);
  return n;
}
std::vector<Node*> decompose_layer_norm(Builder& b, const Call& call) { return {layer_norm(b, call).value}; }
std::vector<Node*> decompose_native_layer_norm(Builder& b, const Call& call) {
  const Normalised n = layer_norm(b, call);
  const DType saved = statistics_dtype(call, 2);
  return {n.value, b.cast(n.mean, saved), b.cast(n.rstd, saved)};
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return 0x1p-10;
    case DType::BF16:
      return 0x1p-7;
    case DType::F64:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

std::vector<Node*> decompose_rms_norm(Builder& b, const Call& call) {
  Node* x = call.tensor(0);
  const double eps = call.is_none(3) ? epsilon_of(x->tensor().dtype) : call.number(3);
  Node* wide = widen(b, x);
  Node* square = mean(b, b.mul(wide, wide), last_dims(call.integers(1).size()), true);
  Node* y = b.mul(wide, b.call("aten.rsqrt.default", {b.add(square, eps)}));
  if (Node* weight = call.optional_tensor(2)) y = b.mul(y, weight);
  return {b.cast(y, x->tensor().dtype)};
}

// ------------------------------------------------------------------------------------------------------------ group
// norm

void check_groups(const Call& call, int64_t groups, size_t weight) {
  require_rank(call, 0, 2, 64);
  const SymInt& channels = call.type(0).shape[1];
  if (groups < 1) reject(call, "the number of groups must be at least 1, found " + std::to_string(groups));
  require_multiple(call, channels, groups, "channels");
  for (size_t i : {weight, weight + 1})
    if (call.optional_tensor(i)) {
      require_rank(call, i, 1, 1);
      require_equal(call, call.type(i).shape[0], channels,
                    "length of '" + call.op().schema.params[i].name + "' and channels");
    }
}

Type group_norm_type(const Call& call) {
  check_groups(call, call.constant(1), 2);
  return result_like(call, call.type(0).dtype, call.type(0).shape);
}
Type native_group_norm_type(const Call& call) {
  check_groups(call, call.constant(6), 1);
  const Shape& x = call.type(0).shape;
  require_equal(call, x[0], call.integer(3), "samples of the input and N");
  require_equal(call, x[1], call.integer(4), "channels of the input and C");
  require_equal(call, product(Shape(x.begin() + 2, x.end())), call.integer(5), "elements of a channel and HxW");
  const DType saved = statistics_dtype(call, 1);
  const Shape kept{x[0], call.integer(6)};
  return tuple_like(call, {{call.type(0).dtype, x}, {saved, kept}, {saved, kept}});
}

Normalised group_norm(Builder& b, const Call& call, int64_t groups, Node* weight, Node* bias, double eps) {
  Node* x = call.tensor(0);
  const Shape& s = x->tensor().shape;
  Normalised n;
  if (groups == 1) {  // as the image lies, whichever way that is
    std::vector<int64_t> dims(s.size() - 1);
    std::iota(dims.begin(), dims.end(), 1);
    n = normalise(b, widen(b, x), dims, eps);
    for (Node** kept : {&n.mean, &n.rstd}) *kept = b.reshape(*kept, {s[0], 1, 1});
  } else {
    const SymInt rest = floordiv(product(Shape(s.begin() + 1, s.end())), groups);
    n = normalise(b, b.reshape(widen(b, x), {s[0], groups, rest}), {-1}, eps);
    n.value = b.reshape(n.value, s);
  }
  if (weight) n.value = b.mul(n.value, along(b, weight, 1, s.size()));
  if (bias) n.value = b.add(n.value, along(b, bias, 1, s.size()));
  n.value = b.cast(n.value, x->tensor().dtype);
  return n;
}
std::vector<Node*> decompose_group_norm(Builder& b, const Call& call) {
  return {
      group_norm(b, call, call.constant(1), call.optional_tensor(2), call.optional_tensor(3), call.number(4)).value};
}
std::vector<Node*> decompose_native_group_norm(Builder& b, const Call& call) {
  const Normalised n =
      group_norm(b, call, call.constant(6), call.optional_tensor(1), call.optional_tensor(2), call.number(7));
  const DType saved = statistics_dtype(call, 1);
  return {n.value, b.cast(squeeze(b, n.mean, -1), saved), b.cast(squeeze(b, n.rstd, -1), saved)};
}

}  // namespace

Rows normalisation_rows() {
  return {
      compound("aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
               "float eps=1e-05, "
               "bool cudnn_enable=True) -> Tensor",
               0, layer_norm_type, decompose_layer_norm, "normalises over the last dimensions"),
      compound("aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float "
               "eps) -> (Tensor, Tensor, Tensor)",
               0, native_layer_norm_type, decompose_native_layer_norm,
               "layer_norm that also returns mean and 1 / deviation"),
      compound(
          "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", 0,
          rms_norm_type, decompose_rms_norm, "divides by the root of the mean square over the last dimensions"),
      compound("aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
               "eps=1e-05, bool cudnn_enabled=True) -> "
               "Tensor",
               0, group_norm_type, decompose_group_norm, "normalises over groups of channels"),
      compound("aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
               "int group, float eps) -> "
               "(Tensor, Tensor, Tensor)",
               0, native_group_norm_type, decompose_native_group_norm,
               "group_norm that also returns mean and 1 / deviation"),
  };
}

}  // namespace strata::ops
