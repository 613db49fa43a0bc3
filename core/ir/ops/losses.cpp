// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Losses, all by decomposition. Class indices are compared with 0, 1, ..., C - 1 rather than gathered: the comparison
// fuses with the log-softmax before it, and its gradient is another comparison instead of a scatter.

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;

// ------------------------------------------------------------------------------------------------- negative log
// likelihood

size_t class_dim(const TensorType& input) { return input.shape.size() == 1 ? 0 : 1; }

Shape without_classes(const TensorType& input) {
  Shape shape = input.shape;
  shape.erase(shape.begin() + static_cast<long>(class_dim(input)));
  return shape;
}

/// Checks indices `target` of one class per position of `input`.
void check_target(const Call& call, size_t input, size_t target, size_t weight) {
  require_rank(call, input, 1, 64);
  const Shape expected = without_classes(call.type(input)), &found = tensor_type(call, target).shape;
  if (found.size() != expected.size())
    reject(call, "'target' must have the dimensions of the input without the class dimension");
  for (size_t d = 0; d < found.size(); ++d) require_equal(call, found[d], expected[d], "sizes of target and input");
  if (is_floating(call.type(target).dtype)) reject(call, "'target' must hold class indices");
  if (!call.optional_tensor(weight)) return;
  require_rank(call, weight, 1, 1);
  require_equal(call, call.type(weight).shape[0], call.type(input).shape[class_dim(call.type(input))],
                "length of the weight and classes");
}

Shape reduced_shape(const Call& call, const TensorType& input, size_t reduction) {
  return call.constant(reduction) == 0 ? without_classes(input) : Shape{};
}

Type nll_loss_type(const Call& call) {
  check_target(call, 0, 1, 2);
  return result_like(call, call.type(0).dtype, reduced_shape(call, call.type(0), 3));
}
Type nll_forward_type(const Call& call) {
  check_target(call, 0, 1, 2);
  return tuple_like(call, {{call.type(0).dtype, reduced_shape(call, call.type(0), 3)}, {call.type(0).dtype, {}}});
}

/// True at the class of each position, unless the position is ignored. Shape of the input.
Node* chosen(Builder& b, Node* input, Node* target, const Argument& ignore) {
  const size_t dim = class_dim(input->tensor());
  Node* column = b.unsqueeze(target, static_cast<int64_t>(dim));
  Node* classes = along(b, arange(b, input->tensor().shape[dim], input), dim, input->tensor().shape.size());
  Node* hit = b.call("aten.eq.Tensor", {column, classes});
  return b.call("aten.logical_and.default", {hit, b.call("aten.ne.Scalar", {column, ignore})});
}

std::vector<int64_t> all_dims(const Node* x) {
  std::vector<int64_t> dims(x->tensor().shape.size());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int64_t>(d);
  return dims;
}
Node* total(Builder& b, Node* x) { return x->tensor().shape.empty() ? x : b.sum(x, all_dims(x), false); }

struct Likelihood {
  Node* loss;          ///< per position
  Node* total_weight;  ///< of the positions that count
};
/// `x` is in its compute type. One element per position is read; that of an ignored position is the first, and does not
/// count.
Likelihood likelihood(Builder& b, Node* x, Node* target, Node* weight, const Argument& ignore) {
  const auto dim = static_cast<int64_t>(class_dim(x->tensor()));
  Node* counts = b.call("aten.ne.Scalar", {target, ignore});
  Node* ignored = b.call("aten.eq.Scalar", {target, ignore});
  Node* place = b.unsqueeze(b.call("aten.masked_fill.Scalar", {target, ignored, int64_t{0}}), dim);
  const auto chosen_of = [&](Node* values) {
    return squeeze(b, b.call("aten.gather.default", {values, dim, place}), dim);
  };
  Node* value = b.neg(chosen_of(x));
  Node* share = b.cast(counts, x->tensor().dtype);
  if (weight) {
    Node* column = along(b, widen(b, weight), static_cast<size_t>(dim), x->tensor().shape.size());
    Node* factor = chosen_of(b.expand(column, x->tensor().shape));
    value = b.mul(value, factor);
    share = b.mul(share, factor);
  }
  return {where_else(b, counts, value, 0.0), total(b, share)};
}

Node* reduced(Builder& b, const Call& call, Node* loss, Node* total_weight, int64_t reduction) {
  if (reduction == 0) return loss;
  if (reduction != 1 && reduction != 2)
    reject(call, "expected reduction 0 (none), 1 (mean) or 2 (sum), found " + std::to_string(reduction));
  Node* sum = total(b, loss);
  return reduction == 1 ? b.div(sum, total_weight) : sum;
}

std::vector<Node*> decompose_nll_forward(Builder& b, const Call& call) {
  Node* x = call.tensor(0);
  const Likelihood l = likelihood(b, widen(b, x), call.tensor(1), call.optional_tensor(2), call.arg(4));
  const int64_t reduction = call.constant(3);
  const DType dtype = x->tensor().dtype;
  // PyTorch leaves it zero where nothing is reduced, but for a single sample.
  const bool none = reduction == 0 && x->tensor().shape.size() > 1;
  Node* weight = none ? b.mul(l.total_weight, 0.0) : l.total_weight;
  return {b.cast(reduced(b, call, l.loss, l.total_weight, reduction), dtype), b.cast(weight, dtype)};
}
std::vector<Node*> decompose_nll_loss(Builder& b, const Call& call) {
  Node* x = call.tensor(0);
  const Likelihood l = likelihood(b, widen(b, x), call.tensor(1), call.optional_tensor(2), call.arg(4));
  return {b.cast(reduced(b, call, l.loss, l.total_weight, call.constant(3)), x->tensor().dtype)};
}

Type nll_backward_type(const Call& call) {
  check_target(call, 1, 2, 3);
  return result_like(call, call.type(1).dtype, call.type(1).shape);
}
std::vector<Node*> decompose_nll_backward(Builder& b, const Call& call) {
  Node *dy = widen(b, call.tensor(0)), *x = call.tensor(1);
  const size_t dim = class_dim(x->tensor());
  const int64_t reduction = call.constant(4);
  if (reduction == 1) dy = b.div(dy, widen(b, call.tensor(6)));
  if (reduction == 0) dy = b.unsqueeze(dy, static_cast<int64_t>(dim));
  Node* value = b.neg(dy);
  if (Node* weight = call.optional_tensor(3))
    value = b.mul(value, along(b, widen(b, weight), dim, x->tensor().shape.size()));
  Node* hit = chosen(b, x, call.tensor(2), call.arg(5));
  return {b.cast(where_else(b, hit, b.expand(value, x->tensor().shape), 0.0), x->tensor().dtype)};
}

// ------------------------------------------------------------------------------------------------------------ cross
// entropy

/// Targets given as probabilities rather than indices.
bool has_probabilities(const Call& call) { return is_floating(tensor_type(call, 1).dtype); }

Type cross_entropy_type(const Call& call) {
  if (!has_probabilities(call)) {
    check_target(call, 0, 1, 2);
  } else {
    require_rank(call, 0, 1, 64);
    require_same_shape(call, call.type(0).shape, call.type(1).shape, "input and probabilities");
  }
  return result_like(call, call.type(0).dtype, reduced_shape(call, call.type(0), 3));
}

Node* by_probabilities(Builder& b, const Call& call, Node* logs, Node* weight, double smoothing) {
  const size_t dim = class_dim(logs->tensor());
  const SymInt classes = logs->tensor().shape[dim];
  Node* target = b.cast(call.tensor(1), logs->tensor().dtype);
  if (smoothing > 0) target = b.add(b.mul(target, 1.0 - smoothing), smoothing / static_cast<double>(classes.value()));
  Node* product = b.mul(logs, target);
  if (weight) product = b.mul(product, weight);
  Node* loss = b.neg(b.sum(product, {static_cast<int64_t>(dim)}, false));
  return reduce_loss(b, call, loss, call.constant(3));
}

/// (1 - smoothing) * nll + smoothing / C * (sum over all classes), both over the positions that count.
Node* by_indices(Builder& b, const Call& call, Node* logs, Node* weight, double smoothing) {
  const size_t dim = class_dim(logs->tensor());
  const Likelihood l = likelihood(b, logs, call.tensor(1), call.optional_tensor(2), call.arg(4));
  Node* loss = l.loss;
  if (smoothing > 0) {
    const double classes = static_cast<double>(logs->tensor().shape[dim].value());
    Node* all = b.neg(b.sum(weight ? b.mul(logs, weight) : logs, {static_cast<int64_t>(dim)}, false));
    all = where_else(b, b.call("aten.ne.Scalar", {call.tensor(1), call.arg(4)}), all, 0.0);
    loss = b.add(b.mul(loss, 1.0 - smoothing), b.mul(all, smoothing / classes));
  }
  return reduced(b, call, loss, l.total_weight, call.constant(3));
}

std::vector<Node*> decompose_cross_entropy(Builder& b, const Call& call) {
  Node* x = call.tensor(0);
  const size_t dim = class_dim(x->tensor()), rank = x->tensor().shape.size();
  const double smoothing = call.number(5);
  if (smoothing > 0 && !x->tensor().shape[dim].is_const())
    reject(call, "label smoothing needs a constant number of classes");
  Node* logs = b.call("aten._log_softmax.default", {widen(b, x), static_cast<int64_t>(dim), false});
  Node* weight = call.optional_tensor(2) ? along(b, widen(b, call.tensor(2)), dim, rank) : nullptr;
  Node* loss = has_probabilities(call) ? by_probabilities(b, call, logs, weight, smoothing)
                                       : by_indices(b, call, logs, weight, smoothing);
  return {b.cast(loss, x->tensor().dtype)};
}

// ---------------------------------------------------------------------------------------------------------------
// distances

Type distance_type(const Call& call) {
  const DType dtype = promote(tensor_type(call, 0).dtype, tensor_type(call, 1).dtype);
  const Shape wide = broadcast(call.type(0).shape, call.type(1).shape, call.node());
  return result_like(call, dtype, call.constant(2) == 0 ? wide : Shape{});
}

/// Both operands in the compute type; bools beside numbers are numbers.
Node* difference(Builder& b, const Call& call) {
  const DType dtype = compute_dtype(promote(call.type(0).dtype, call.type(1).dtype));
  const auto wide = [&](Node* x) { return x->tensor().dtype == DType::Bool ? b.cast(x, dtype) : widen(b, x); };
  return b.sub(wide(call.tensor(0)), wide(call.tensor(1)));
}
std::vector<Node*> finish(Builder& b, const Call& call, Node* loss, size_t reduction) {
  return {b.cast(reduce_loss(b, call, loss, call.constant(reduction)), call.node().tensor().dtype)};
}

std::vector<Node*> decompose_mse(Builder& b, const Call& call) {
  Node* d = difference(b, call);
  return finish(b, call, b.mul(d, d), 2);
}
std::vector<Node*> decompose_l1(Builder& b, const Call& call) {
  return finish(b, call, b.call("aten.abs.default", {difference(b, call)}), 2);
}
std::vector<Node*> decompose_smooth_l1(Builder& b, const Call& call) {
  const double beta = call.number(3);
  if (!(beta >= 0)) reject(call, "beta must not be negative, found " + std::to_string(beta));
  Node* d = b.call("aten.abs.default", {difference(b, call)});
  if (beta == 0) return finish(b, call, d, 2);
  Node* near = b.mul(b.mul(d, d), 0.5 / beta);
  Node* far = b.sub(d, 0.5 * beta);
  return finish(b, call, b.call("aten.where.self", {b.call("aten.lt.Scalar", {d, beta}), near, far}), 2);
}

Type bce_type(const Call& call) {
  const Shape wide = broadcast(tensor_type(call, 0).shape, tensor_type(call, 1).shape, call.node());
  require_same_shape(call, wide, call.type(1).shape, "what input and target broadcast to and target");
  return result_like(call, call.type(0).dtype, call.constant(4) == 0 ? wide : Shape{});
}
/// (1 - y) * x + (1 + (pos_weight - 1) * y) * log(1 + exp(-x)), the logarithm as max(-x, 0) + log1p(exp(-|x|)).
std::vector<Node*> decompose_bce(Builder& b, const Call& call) {
  Node *x = widen(b, call.tensor(0)), *y = widen(b, call.tensor(1));
  Node* tail = b.call("aten.log1p.default", {b.call("aten.exp.default", {b.neg(b.call("aten.abs.default", {x}))})});
  Node* log = b.add(b.call("aten.relu.default", {b.neg(x)}), tail);
  if (Node* positive = call.optional_tensor(3)) log = b.mul(log, b.add(b.mul(b.sub(positive, 1.0), y), 1.0));
  Node* loss = b.add(b.mul(b.add(b.neg(y), 1.0), x), log);
  if (Node* weight = call.optional_tensor(2)) loss = b.mul(loss, weight);
  return finish(b, call, loss, 4);
}

}  // namespace

Rows loss_rows() {
  const std::string nll =
      "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor";
  const std::string forward =
      "(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor "
      "total_weight)";
  return {
      compound("aten::nll_loss" + nll, 0, nll_loss_type, decompose_nll_loss,
               "minus the log-probability of each target class"),
      compound("aten::nll_loss_nd" + nll, 0, nll_loss_type, decompose_nll_loss,
               "nll_loss with any number of dimensions"),
      compound("aten::nll_loss_forward" + forward, 0, nll_forward_type, decompose_nll_forward,
               "nll_loss that also returns the weight it divided by"),
      compound("aten::nll_loss2d_forward" + forward, 0, nll_forward_type, decompose_nll_forward,
               "nll_loss_forward per pixel"),
      compound("aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
               "SymInt ignore_index, "
               "Tensor total_weight) -> Tensor",
               0, nll_backward_type, decompose_nll_backward, "gradient of nll_loss by its input"),
      compound("aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
               "ignore_index=-100, "
               "float label_smoothing=0.0) -> Tensor",
               0, cross_entropy_type, decompose_cross_entropy,
               "log_softmax and nll_loss, for class indices or probabilities"),
      compound("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", 0, distance_type, decompose_mse,
               "squared distance"),
      compound("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", 0, distance_type, decompose_l1,
               "absolute distance"),
      compound("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor", 0,
               distance_type, decompose_smooth_l1, "squared distance near zero, absolute beyond beta"),
      compound("aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
               "pos_weight=None, int reduction=1) -> "
               "Tensor",
               0, bce_type, decompose_bce, "cross entropy of sigmoid(self) and target"),
  };
}

}  // namespace strata::ops
