// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that choose between elements, and the fused multiply-adds of ATen.

#include "core/ir/ops/neural.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

using Ctx = const GradientContext&;

// --------------------------------------------------------------------------------------------------------------- where

void check_condition(const Call& call, size_t i) {
  const DType d = tensor_type(call, i).dtype;
  if (d != DType::Bool && d != DType::U8)
    reject(call,
           "'" + call.op().schema.params[i].name + "' must be a bool tensor, found " + std::string(dtype_name(d)));
}

/// torch.result_type of two arguments, found by asking the table's rule on a call that has only them.
DType joint_dtype(const Argument& a, const Argument& b) {
  Node pair;
  pair.op = find_op("aten.mul.Tensor");
  pair.target = pair.op->name;
  pair.args = {a, b};
  return pointwise_compute_dtype(Call(pair));
}

Type where_type(const Call& call) {
  check_condition(call, 0);
  return broadcast_type(call, joint_dtype(call.arg(1), call.arg(2)));
}

/// Result element by element: `choose(condition, a, b)`, operands given by parameter number.
RefValue choose(const RefContext& c, size_t condition, size_t yes, size_t no) {
  const TensorType& type = c.call.node().type.tensor;
  const DType dtype = c.storage_dtype(type.dtype);
  const std::vector<int64_t> shape = c.eval(type.shape);
  const Tensor mask = operand(c, condition, DType::Bool);
  return with_work_type(dtype, [&]<class T>(T) -> RefValue {
    const Tensor m = converted(mask, dtype_of<T>());
    const std::array<Tensor, 3> in{m, operand(c, yes, dtype), operand(c, no, dtype)};
    return as_result(
        c, map_elements<T>(shape, in, [](T k, T a, T b) { return k != T{0} ? a : b; }, std::make_index_sequence<3>()));
  });
}

RefValue where_reference(const RefContext& c) { return choose(c, 0, 1, 2); }

DType result_compute_dtype(const Call& call) { return compute_dtype(call.node().type.tensor.dtype); }

ScalarId where_body(Body& b, const Call& call, Operands x) {
  const DType d = result_compute_dtype(call);
  const auto branch = [&](size_t i) {
    return call.op().schema.params[i].type == "Tensor" ? b.cast(body_operand(b, call, x, i), d)
                                                       : body_number(b, call, i, d);
  };
  return b.select(b.cast(x[0], DType::Bool), branch(1), branch(2));
}

std::vector<Node*> where_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  for (size_t i = 1; i < 3; ++i) {
    if (!g.needed(i) || !is_tensor(g.call, i)) continue;
    const Argument zero = 0.0, value = dy;
    out[i] =
        fit(g.builder, g.builder.call("aten.where.self", {g.call.arg(0), i == 1 ? value : zero, i == 1 ? zero : value}),
            g.call.tensor(i));
  }
  return out;
}

Rows wheres() {
  Rows r;
  for (const char* schema : {"aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
                             "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
                             "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
                             "aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"})
    r.push_back(row(schema, 0, Promotion::Fixed, where_type, where_reference, where_body, Gradient(where_gradient),
                    "self where the condition holds, else other"));
  return r;
}

// --------------------------------------------------------------------------------------------------------- masked_fill

Type masked_fill_type(const Call& call) {
  require_mask(call, 1);
  const TensorType& self = tensor_type(call, 0);
  require_fits(call, 2);
  if (is_tensor(call, 2) && !tensor_type(call, 2).shape.empty())
    reject(call, "value must be a number or a 0-dimensional tensor");
  return result_like(call, self.dtype, broadcast(self.shape, tensor_type(call, 1).shape, call.node()));
}

RefValue masked_fill_reference(const RefContext& c) { return choose(c, 1, 2, 0); }

ScalarId masked_fill_body(Body& b, const Call& call, Operands x) {
  const DType d = result_compute_dtype(call);
  const ScalarId value = call.op().schema.params[2].type == "Tensor" ? b.cast(x[2], d) : body_number(b, call, 2, d);
  return b.select(b.cast(x[1], DType::Bool), value, b.cast(x[0], d));
}

std::vector<Node*> masked_fill_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  if (g.needed(0))
    out[0] = fit(g.builder, g.builder.call("aten.masked_fill.Scalar", {dy, g.call.arg(1), 0.0}), g.call.tensor(0));
  if (is_tensor(g.call, 2) && g.needed(2))
    out[2] = fit(g.builder, g.builder.call("aten.where.self", {g.call.arg(1), dy, 0.0}), g.call.tensor(2));
  return out;
}

Rows masked_fills() {
  Rows r;
  for (const char* schema : {"aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
                             "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"})
    r.push_back(row(schema, 0, Promotion::Fixed, masked_fill_type, masked_fill_reference, masked_fill_body,
                    Gradient(masked_fill_gradient), "value where the mask holds, else self"));
  return r;
}

// --------------------------------------------------------------------------------------------------------------- clamp

Type clamp_type(const Call& call) {
  if (call.is_none(1) && call.is_none(2)) reject(call, "at least one of min and max must be given");
  return pointwise_type(call);
}

/// Lower bound first, so that max wins when min > max; NaN in the element or a bound propagates.
RefValue clamp_reference(const RefContext& c) {
  Tensor value = operand(c, 0, reference_compute_dtype(c));
  const DType compute = reference_compute_dtype(c);
  const std::vector<int64_t> shape = c.eval(c.call.node().type.tensor.shape);
  return with_work_type(compute, [&]<class T>(T) -> RefValue {
    const auto two = std::make_index_sequence<2>();
    if (!c.call.is_none(1))
      value = map_elements<T>(
          shape, {value, operand(c, 1, compute)}, [](T a, T b) { return is_nan(b) ? b : nan_max(a, b); }, two);
    if (!c.call.is_none(2))
      value = map_elements<T>(
          shape, {value, operand(c, 2, compute)}, [](T a, T b) { return is_nan(b) ? b : nan_min(a, b); }, two);
    return as_result(c, value);
  });
}

ScalarId clamp_body(Body& b, const Call& call, Operands x) {
  ScalarId v = x[0];
  if (!call.is_none(1)) v = b.binary(ScalarOp::Max, v, body_operand(b, call, x, 1));
  if (!call.is_none(2)) v = b.binary(ScalarOp::Min, v, body_operand(b, call, x, 2));
  return v;
}

/// `call(op, {x, bound})`; comparisons take a number in either overload.
Node* against(Builder& b, const std::string& op, Node* x, const Argument& bound) {
  const bool tensor = bound.node() && bound.node()->type.is_tensor();
  return b.call("aten." + op + (tensor ? ".Tensor" : ".Scalar"), {x, bound});
}

std::vector<Node*> clamp_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  Builder& b = g.builder;
  Node* x = g.call.tensor(0);
  Node* below = g.call.is_none(1) ? nullptr : against(b, "lt", x, g.call.arg(1));
  Node* above = g.call.is_none(2) ? nullptr : against(b, "gt", x, g.call.arg(2));
  if (g.needed(0)) {
    Node* dx = dy;
    for (Node* mask : {below, above})
      if (mask) dx = b.call("aten.masked_fill.Scalar", {dx, mask, 0.0});
    out[0] = fit(b, dx, x);
  }
  // Where the bounds cross, max is the result.
  Node* crossed = nullptr;
  if (below && above && is_tensor(g.call, 1)) crossed = against(b, "lt", g.call.tensor(2), g.call.arg(1));
  if (below && is_tensor(g.call, 1) && g.needed(1)) {
    Node* kept = b.call("aten.where.self", {below, dy, 0.0});
    if (crossed) kept = b.call("aten.masked_fill.Scalar", {kept, crossed, 0.0});
    out[1] = fit(b, kept, g.call.tensor(1));
  }
  if (above && is_tensor(g.call, 2) && g.needed(2)) {
    Node* mask = crossed ? b.call("aten.logical_or.default", {above, crossed}) : above;
    out[2] = fit(b, b.call("aten.where.self", {mask, dy, 0.0}), g.call.tensor(2));
  }
  return out;
}

Rows clamps() {
  Rows r;
  for (const char* schema : {"aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
                             "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"})
    r.push_back(row(schema, trait::Idempotent, Promotion::Default, clamp_type, clamp_reference, clamp_body,
                    Gradient(clamp_gradient), "min(max(self, min), max)"));
  const auto one_sided = [&](const char* schema, Decompose decompose, const char* doc) {
    r.push_back(OpDef(schema, OpClass::Compound, trait::Idempotent, Promotion::Default, pointwise_type, nullptr,
                      decompose, NoGradient::Pending, NoLowering{}, "", doc));
  };
  one_sided(
      "aten::clamp_min(Tensor self, Scalar min) -> Tensor",
      [](Builder& b, const Call& c) -> std::vector<Node*> {
        return {b.call("aten.clamp.default", {c.tensor(0), c.arg(1)})};
      },
      "max(self, min)");
  one_sided(
      "aten::clamp_max(Tensor self, Scalar max) -> Tensor",
      [](Builder& b, const Call& c) -> std::vector<Node*> {
        return {b.call("aten.clamp.default", {c.tensor(0), NoneArg{}, c.arg(1)})};
      },
      "min(self, max)");
  return r;
}

// ------------------------------------------------------------------------------------------------------- multiply-adds

/// self + value * (a op b) in the type that all three come to: rounded once, and an integral result takes the whole
/// part of `value`.
std::vector<Node*> add_scaled(Builder& b, const Call& c, const char* op) {
  const DType type = pointwise_compute_dtype(c), inside = compute_dtype(type);
  Node* term = b.call(op, {b.cast(c.tensor(1), inside), b.cast(c.tensor(2), inside)});
  const Argument& value = c.arg(3);
  if (value.node() || value.as<SymInt>())
    term = b.mul(term, value);
  else if (c.number(3) != 1)
    term = b.mul(term, is_integral(type) ? Argument(static_cast<int64_t>(c.number(3))) : value);
  return {b.cast(b.add(b.cast(c.tensor(0), inside), term), type)};
}

Type addcmul_type(const Call& call) {
  if (pointwise_compute_dtype(call) == DType::Bool) reject(call, "addcmul of bool tensors is not defined");
  return pointwise_type(call);
}

Type addcdiv_type(const Call& call) {
  const auto is_whole = [&](size_t i) { return is_integral_or_bool(tensor_type(call, i).dtype); };
  if (is_whole(1) && is_whole(2))
    reject(call, "integer division with addcdiv is no longer supported",
           "use self + value * torch.trunc(tensor1 / tensor2), or make one of the two floating");
  return pointwise_type(call);
}

Rows multiply_adds() {
  const auto simple = [](const char* schema, ShapeRule type, Decompose decompose, const char* doc) {
    return OpDef(schema, OpClass::Compound, 0, Promotion::Default, type, nullptr, decompose, NoGradient::Pending,
                 NoLowering{}, "", doc);
  };
  Rows r;
  r.push_back(simple(
      "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addcmul_type,
      [](Builder& b, const Call& c) { return add_scaled(b, c, "aten.mul.Tensor"); },
      "self + value * tensor1 * tensor2"));
  r.push_back(simple(
      "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addcdiv_type,
      [](Builder& b, const Call& c) { return add_scaled(b, c, "aten.div.Tensor"); },
      "self + value * tensor1 / tensor2"));
  for (const char* schema : {"aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
                             "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor"})
    r.push_back(simple(
        schema, pointwise_type,
        [](Builder& b, const Call& c) -> std::vector<Node*> {
          require_same_dtype(c, 0, 1);
          // A number that only a run tells is a weight of the widest type.
          if (is_tensor(c, 2) && !c.type(2).shape.empty()) require_same_dtype(c, 0, 2);
          // All in the type that the three come to, which two of them alone may not.
          const DType type = pointwise_compute_dtype(c);
          Node* self = b.cast(c.tensor(0), type);
          return {b.cast(b.add(self, b.mul(b.sub(b.cast(c.tensor(1), type), self), c.arg(2))), type)};
        },
        "self + weight * (end - self)"));
  return r;
}

}  // namespace

Rows selections() {
  Rows rows;
  for (auto part : {wheres, masked_fills, clamps, multiply_adds}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
