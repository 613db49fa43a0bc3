// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Batch and instance normalisation, all by decomposition. With running statistics the vectors scale = weight / sqrt(var
// + eps) and shift = bias - mean * scale are made first, so that each element costs one multiplication and one addition
// (and a preceding convolution can take both over). With statistics of the batch: mean, centred values, mean of their
// squares.
//
// Training with running statistics writes them in place, though the schemas of batch_norm and native_batch_norm do not
// say so. Only
// `_native_batch_norm_legit_functional`, which returns the new ones, can be compiled; the others are refused rather
// than computed wrongly.

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;
constexpr size_t kInput = 0, kWeight = 1, kBias = 2, kMean = 3, kVar = 4;

void check_vectors(const Call& call) {
  require_rank(call, kInput, 2, 64);
  const SymInt channels = call.type(kInput).shape[1];
  for (size_t i : {kWeight, kBias, kMean, kVar}) {
    if (call.op().schema.params[i].type != "Tensor" || !call.optional_tensor(i)) continue;
    const std::string& name = call.op().schema.params[i].name;
    require_rank(call, i, 1, 1);
    require_equal(call, call.type(i).shape[0], channels, "length of '" + name + "' and channels");
    if (!is_floating(call.type(i).dtype))
      reject(call, "'" + name + "' is " + std::string(dtype_name(call.type(i).dtype)) + ", expected a floating type");
  }
}

Type same_as_input(const Call& call) {
  check_vectors(call);
  return result_like(call, call.type(kInput).dtype, call.type(kInput).shape);
}

DType saved_dtype(const Call& call) {
  if (Node* mean = call.optional_tensor(kMean); mean && call.op().schema.params[kMean].type == "Tensor")
    return mean->tensor().dtype;
  return statistics_dtype(call, kWeight);
}

/// (result, mean, 1 / deviation); the last two are empty when running statistics were used, as on PyTorch's CPU.
Type with_statistics(const Call& call, bool training) {
  check_vectors(call);
  const Shape &x = call.type(kInput).shape, saved{training ? x[1] : SymInt(0)};
  return tuple_like(call, {{call.type(kInput).dtype, x}, {saved_dtype(call), saved}, {saved_dtype(call), saved}});
}
Type no_training_type(const Call& call) { return with_statistics(call, false); }
Type native_type(const Call& call) { return with_statistics(call, call.boolean(5)); }
Type no_stats_type(const Call& call) { return with_statistics(call, true); }
Type functional_type(const Call& call) {
  Type type = with_statistics(call, call.boolean(5));
  for (size_t i : {kMean, kVar}) type.parts.push_back(result_like(call, call.type(i).dtype, call.type(i).shape));
  return type;
}

/// What its gradient may put aside is empty on the CPU.
Type with_update_type(const Call& call) {
  Type type = with_statistics(call, true);
  type.parts.push_back(result_like(call, DType::U8, {SymInt(0)}));
  return type;
}

std::vector<int64_t> all_but_channels(size_t rank, size_t kept) {
  std::vector<int64_t> dims;
  for (size_t d = kept == 1 ? 0 : 2; d < rank; ++d)
    if (d != 1) dims.push_back(static_cast<int64_t>(d));
  return dims;
}

Node* affine(Builder& b, Node* x, Node* weight, Node* bias) {
  const size_t rank = x->tensor().shape.size();
  if (weight) x = b.mul(x, along(b, weight, 1, rank));
  if (bias) x = b.add(x, along(b, bias, 1, rank));
  return x;
}

/// By running statistics: x * scale + shift.
Node* by_running(Builder& b, const Call& call, double eps) {
  check_vectors(call);  // types of exported programs are stated, not worked out
  Node *x = call.tensor(kInput), *mean = widen(b, call.tensor(kMean)), *var = widen(b, call.tensor(kVar));
  const size_t rank = x->tensor().shape.size();
  Node* scale = b.call("aten.rsqrt.default", {b.add(var, eps)});
  if (Node* weight = call.optional_tensor(kWeight)) scale = b.mul(scale, widen(b, weight));
  Node* shift = b.mul(mean, scale);
  Node* bias = call.optional_tensor(kBias);
  shift = bias ? b.sub(widen(b, bias), shift) : b.neg(shift);
  Node* y = b.add(b.mul(widen(b, x), along(b, scale, 1, rank)), along(b, shift, 1, rank));
  return b.cast(y, x->tensor().dtype);
}

/// By the batch's statistics: result, mean, rstd (per channel), and the variance.
Normalised by_batch(Builder& b, const Call& call, double eps) {
  check_vectors(call);
  Node* x = call.tensor(kInput);
  Normalised n = normalise(b, widen(b, x), all_but_channels(x->tensor().shape.size(), 1), eps);
  const Shape channels{x->tensor().shape[1]};
  n.value = b.cast(affine(b, n.value, call.optional_tensor(kWeight), call.optional_tensor(kBias)), x->tensor().dtype);
  const DType saved = saved_dtype(call);
  for (Node** vector : {&n.mean, &n.rstd, &n.var}) *vector = b.cast(b.reshape(*vector, channels), saved);
  return n;
}

void require_statistics(const Call& call) {
  if (!call.optional_tensor(kMean) || !call.optional_tensor(kVar))
    reject(call, "expected running_mean and running_var when not training");
}
void refuse_in_place(const Call& call) {
  if (call.optional_tensor(kMean) || call.optional_tensor(kVar))
    reject(call, "training writes the running statistics: functionalize makes new ones of them",
           "run a later stage than the captured one");
}

std::vector<Node*> decompose_batch_norm(Builder& b, const Call& call) {
  if (call.boolean(5)) {
    refuse_in_place(call);
    return {by_batch(b, call, call.number(7)).value};
  }
  require_statistics(call);
  return {by_running(b, call, call.number(7))};
}

Node* nothing(Builder& b, const Call& call, size_t i) { return b.call("aten.slice.Tensor", {call.tensor(i), 0, 0, 0}); }

std::vector<Node*> evaluated(Builder& b, const Call& call, double eps) {
  require_statistics(call);
  return {by_running(b, call, eps), nothing(b, call, kMean), nothing(b, call, kMean)};
}

std::vector<Node*> decompose_no_training(Builder& b, const Call& call) { return evaluated(b, call, call.number(6)); }

std::vector<Node*> decompose_native(Builder& b, const Call& call) {
  if (!call.boolean(5)) return evaluated(b, call, call.number(7));
  refuse_in_place(call);
  const Normalised n = by_batch(b, call, call.number(7));
  return {n.value, n.mean, n.rstd};
}

std::vector<Node*> decompose_no_stats(Builder& b, const Call& call) {
  const Normalised n = by_batch(b, call, call.number(5));
  return {n.value, n.mean, n.rstd};
}

/// old * (1 - momentum) + new * momentum; of a batch without elements the old one.
Node* moved(Builder& b, const Call& call, Node* old, Node* fresh, double momentum) {
  if (has_zero(call.type(kInput).shape)) return b.call("aten.clone.default", {old});
  return b.add(b.mul(old, 1.0 - momentum), b.mul(fresh, momentum));
}

std::vector<Node*> decompose_functional(Builder& b, const Call& call) {
  Node *mean = call.tensor(kMean), *var = call.tensor(kVar);
  if (!call.boolean(5)) {
    std::vector<Node*> parts = evaluated(b, call, call.number(7));
    parts.insert(parts.end(), {mean, var});
    return parts;
  }
  const Normalised n = by_batch(b, call, call.number(7));
  const Shape& x = call.type(kInput).shape;
  SymInt count = x[0];
  for (size_t d = 2; d < x.size(); ++d) count = count * x[d];
  const double momentum = call.number(6);
  Node* unbiased = nullptr;
  if (count.is_const()) {
    const auto elements = static_cast<double>(count.value());
    unbiased = b.mul(n.var, elements / (elements - 1));
  } else {
    unbiased = b.call("aten.mul.Tensor", {n.var, integer(count)});
    unbiased = b.call("aten.div.Tensor", {unbiased, integer(count - 1)});
  }
  return {n.value, n.mean, n.rstd, moved(b, call, mean, n.mean, momentum), moved(b, call, var, unbiased, momentum)};
}

std::vector<Node*> decompose_instance_norm(Builder& b, const Call& call) {
  Node* x = call.tensor(kInput);
  const double eps = call.number(7);
  if (!call.boolean(5)) {
    require_statistics(call);
    return {by_running(b, call, eps)};
  }
  refuse_in_place(call);
  require_rank(call, kInput, 3, 64);
  Node* y = normalise(b, widen(b, x), all_but_channels(x->tensor().shape.size(), 2), eps).value;
  return {b.cast(affine(b, y, call.optional_tensor(kWeight), call.optional_tensor(kBias)), x->tensor().dtype)};
}

}  // namespace

Rows batch_norm_rows() {
  return {
      compound("aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, "
               "float momentum, float eps, bool cudnn_enabled) -> Tensor",
               0, same_as_input, decompose_batch_norm, "normalises each channel, by running statistics or the batch's"),
      compound("aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor "
               "running_mean, Tensor running_var, "
               "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
               0, no_training_type, decompose_no_training, "batch_norm by running statistics"),
      compound("aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, "
               "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
               0, native_type, decompose_native, "batch_norm that also returns mean and 1 / deviation"),
      compound("aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
               "float momentum, float eps) -> "
               "(Tensor, Tensor, Tensor)",
               0, no_stats_type, decompose_no_stats, "batch_norm by the batch's statistics"),
      compound("aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
               "running_mean, Tensor running_var, "
               "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor "
               "running_var_out)",
               0, functional_type, decompose_functional, "batch_norm that returns the new running statistics"),
      compound("aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
               "Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
               0, native_type, decompose_native, "batch_norm that also returns mean and 1 / deviation"),
      compound("aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
               "Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
               0, with_update_type, nullptr,
               "batch_norm in training, with scratch for its gradient; see functionalize"),
      compound("aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool use_input_stats, "
               "float momentum, float eps, bool cudnn_enabled) -> Tensor",
               0, same_as_input, decompose_instance_norm, "normalises each channel of each element of the batch"),
  };
}

}  // namespace strata::ops
