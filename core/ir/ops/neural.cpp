// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/neural.h"

namespace strata::ops {

Rows convolution() {
  Rows rows;
  for (auto family : {convolution_rows, max_pool_rows, average_pool_rows, normalisation_rows, batch_norm_rows,
                      resampling_rows, resizing_rows, loss_rows, shorthand_losses, shorthand_sums, shorthand_matrices,
                      complex_rows, fourier, other_names})
    append(rows, family());
  return rows;
}

void require_rank(const Call& call, size_t i, size_t low, size_t high) {
  const size_t rank = tensor_type(call, i).shape.size();
  if (rank >= low && rank <= high) return;
  const std::string expected = low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
  reject(call, "expected '" + call.op().schema.params[i].name + "' to have " + expected + " dimensions, found " +
                   std::to_string(rank));
}

void require_same_dtype(const Call& call, size_t a, size_t b) {
  const DType x = tensor_type(call, a).dtype, y = tensor_type(call, b).dtype;
  if (x == y) return;
  const auto& params = call.op().schema.params;
  reject(call, "expected '" + params[a].name + "' and '" + params[b].name + "' to have one dtype, found " +
                   std::string(dtype_name(x)) + " and " + std::string(dtype_name(y)));
}

std::vector<int64_t> spread(const Call& call, size_t i, size_t count, const std::vector<int64_t>& fallback) {
  std::vector<int64_t> values = call.constants(i);
  if (values.empty() && !fallback.empty()) return fallback;
  if (values.size() == 1) values.assign(count, values[0]);
  if (values.size() != count)
    reject(call, "expected '" + call.op().schema.params[i].name + "' to have 1 or " + std::to_string(count) +
                     " values, found " + std::to_string(values.size()));
  return values;
}

Type tuple_like(const Call& call, std::vector<std::pair<DType, std::vector<SymInt>>> parts) {
  std::vector<Type> types;
  for (auto& [dtype, shape] : parts) types.push_back(result_like(call, dtype, std::move(shape)));
  return Type::tuple(std::move(types));
}

DType statistics_dtype(const Call& call, size_t weight) {
  const TensorType& x = call.type(0);
  const auto differs = [&](size_t i) { return call.optional_tensor(i) && call.type(i).dtype != x.dtype; };
  const bool keeps = std::string_view(x.device).starts_with("cpu") && !differs(weight) && !differs(weight + 1);
  return keeps ? x.dtype : compute_dtype(x.dtype);
}

std::vector<int64_t> last_dims(size_t count) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(static_cast<int64_t>(i) - static_cast<int64_t>(count));
  return dims;
}

Node* along(Builder& b, Node* x, size_t dim, size_t rank) {
  std::vector<SymInt> shape(rank - dim, 1);
  shape[0] = x->tensor().numel();
  return b.reshape(x, shape);
}

Normalised normalise(Builder& b, Node* x, const std::vector<int64_t>& dims, double eps) {
  Node* average = mean(b, x, dims, true);
  Node* centred = b.sub(x, average);
  Node* var = mean(b, b.mul(centred, centred), dims, true);
  Node* rstd = b.call("aten.rsqrt.default", {b.add(var, eps)});
  return {b.mul(centred, rstd), average, rstd, var};
}

Node* arange(Builder& b, const SymInt& n, const Node* like) {
  const Argument end = n.is_const() ? Argument(n.value()) : Argument(n);
  const std::string& device = like->tensor().device;
  return b.call("aten.arange.default", {end}, {{"device", DeviceArg{device.empty() ? "cpu" : device}}});
}

Node* where_else(Builder& b, Node* condition, Node* x, double other) {
  return b.call("aten.masked_fill.Scalar", {x, b.call("aten.logical_not.default", {condition}), other});
}

Node* reduce_loss(Builder& b, const Call& call, Node* loss, int64_t reduction) {
  if (reduction == 0) return loss;
  if (reduction != 1 && reduction != 2)
    reject(call, "expected reduction 0 (none), 1 (mean) or 2 (sum), found " + std::to_string(reduction));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < loss->tensor().shape.size(); ++i) dims.push_back(static_cast<int64_t>(i));
  if (dims.empty()) return loss;
  return reduction == 1 ? mean(b, loss, dims, false) : b.sum(loss, dims, false);
}

}  // namespace strata::ops
