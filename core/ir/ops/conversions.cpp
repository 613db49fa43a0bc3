// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Casts, copies and identities. Casts become `_to_copy`, copies become `clone`, identities vanish.

#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

using Ctx = const GradientContext&;
constexpr auto kSame = [](Ctx c) { return c.dy; };

std::optional<std::string> device_of(const Argument& a) {
  if (const auto* d = a.as<DeviceArg>()) return d->name;
  return {};
}

/// Type of operand 0 with the dtype and device that the call names.
Type cast_type(const Call& call) {
  Type type = same_type(call);
  const auto& params = call.op().schema.params;
  for (size_t i = 1; i < params.size(); ++i) {
    if (params[i].type == "ScalarType" && call.dtype(i)) type.tensor.dtype = *call.dtype(i);
    if (params[i].name == "device")
      if (const auto device = device_of(call.arg(i))) type.tensor.device = *device;
    if (params[i].type == "Tensor") type.tensor.dtype = tensor_type(call, i).dtype;
  }
  return type;
}

/// The type after an aliasing call: nothing changes, the strides neither.
Type alias_type(const Call& call) {
  Type type = Type::of(tensor_type(call, 0));
  type.tensor.requires_grad = false;
  return type;
}

/// `to` returns the operand itself when nothing changes.
Type to_type(const Call& call) {
  Type type = cast_type(call);
  const TensorType& self = tensor_type(call, 0);
  if (type.tensor.dtype == self.dtype) type.tensor.strides = self.strides;
  return type;
}

RefValue cast_reference(const RefContext& c) {
  const Tensor t = c.tensor(0);
  const DType declared = c.call.node().type.tensor.dtype;
  const DType target = c.storage_dtype(declared);
  // Double to 16 bits goes through float in PyTorch as well; to() does the rest.
  return t.dtype == target ? t.clone() : t.to(target);
}

std::vector<Node*> to_copy(Builder& b, const Call& c) {
  const Type type = c.op().shape(c);
  Node* self = c.tensor(0);
  if (type.tensor.device != self->type.tensor.device && !self->type.tensor.device.empty())
    return {b.call("aten._to_copy.default", {self},
                   {{"dtype", type.tensor.dtype}, {"device", DeviceArg{type.tensor.device}}})};
  return {b.cast(self, type.tensor.dtype)};
}

ScalarId cast_body(Body& b, const Call& call, Operands x) {
  return b.cast(x[0], compute_dtype(call.node().type.tensor.dtype));
}

/// Integers have no cotangents: what becomes one, or comes from one, hands none on.
constexpr auto kThroughFloats = [](const GradientContext& c) -> Node* {
  return is_floating(c.y->type.tensor.dtype) && is_floating(c.x()->type.tensor.dtype) ? c.dy : nullptr;
};

Rows casts() {
  Rows r;
  r.push_back(
      OpDef("aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
            "pin_memory=None, "
            "bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
            OpClass::Pointwise, 0, Promotion::Fixed, cast_type, cast_reference, nullptr, gradient_of<kThroughFloats>,
            Lowering(PointwiseBody(cast_body)), "", "copy in another element type or on another device"));
  const auto to = [&](const char* schema) {
    r.push_back(OpDef(schema, OpClass::Compound, 0, Promotion::Fixed, to_type, nullptr, to_copy,
                      gradient_of<kThroughFloats>, NoLowering{}, "",
                      "the tensor in another element type or on another device; itself if it is so already"));
  };
  to("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
     "memory_format=None) -> Tensor(a)");
  to("aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)");
  to("aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, "
     "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)");
  to("aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
     "memory_format=None) -> Tensor(a)");
  to("aten::type_as(Tensor self, Tensor other) -> Tensor");
  r.push_back(OpDef("prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor", OpClass::Compound, 0,
                    Promotion::Fixed, cast_type, nullptr, to_copy, gradient_of<kThroughFloats>, NoLowering{}, "",
                    "copy in another element type"));
  return r;
}

std::vector<Node*> itself(Builder&, const Call& c) { return {c.tensor(0)}; }
std::vector<Node*> cloned(Builder& b, const Call& c) { return {b.call("aten.clone.default", {c.tensor(0)})}; }
std::vector<SymInt> same_index(const Call&, const std::vector<SymInt>& index) { return index; }

std::vector<Node*> contiguous(Builder& b, const Call& c) {
  return c.type(0).is_contiguous() ? itself(b, c) : cloned(b, c);
}

Rows copies() {
  constexpr Reference share = [](const RefContext& c) -> RefValue { return c.tensor(0); };
  Rows r;
  r.push_back(OpDef(
      "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", OpClass::Pointwise, 0,
      Promotion::Fixed, same_type, [](const RefContext& c) -> RefValue { return c.tensor(0).clone(); }, nullptr,
      gradient_of<kSame>, Lowering(PointwiseBody([](Body&, const Call&, Operands x) { return x[0]; })), "",
      "contiguous copy"));
  r.push_back(OpDef("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
                    OpClass::Compound, 0, Promotion::Fixed, same_type, nullptr, contiguous, gradient_of<kSame>,
                    NoLowering{}, "", "the tensor itself if its memory has no gaps, else a copy"));
  r.push_back(OpDef("aten::lift_fresh_copy(Tensor self) -> Tensor", OpClass::Compound, 0, Promotion::Fixed, same_type,
                    nullptr, cloned, gradient_of<kSame>, NoLowering{}, "", "copy of a constant of the program"));
  const auto alias = [&](const char* schema, std::variant<Gradient, NoGradient> gradient, const char* doc) {
    r.push_back(OpDef(schema, OpClass::View, 0, Promotion::None, alias_type, share, itself, gradient,
                      Lowering(IndexMap(same_index)), "", doc));
  };
  const Gradient same = gradient_of<kSame>;
  alias("aten::alias(Tensor(a) self) -> Tensor(a)", same, "the same elements");
  alias("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", same, "the same elements");
  alias("aten::detach(Tensor(a) self) -> Tensor(a)", NoGradient::Nondifferentiable,
        "the same elements, cut off from differentiation");
  alias("aten::detach_(Tensor(a!) self) -> Tensor(a!)", NoGradient::Nondifferentiable,
        "the tensor itself, cut off from differentiation");
  return r;
}

}  // namespace

Rows conversions() {
  Rows rows;
  for (auto part : {casts, copies}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
