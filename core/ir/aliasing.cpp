// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/aliasing.h"

#include <algorithm>
#include <string_view>

#include "core/ir/library.h"
#include "core/ir/op.h"
#include "core/ir/ops/neural.h"

namespace strata {
namespace {

bool same_type(const Type& a, const Type& b) {
  return a.is_tensor() && b.is_tensor() && a.tensor.dtype == b.tensor.dtype && a.tensor.shape == b.tensor.shape;
}

/// Whether the elements can be seen in another shape where they lie, as PyTorch finds out (`computeStride` in
/// ATen/TensorUtils.cpp): each group of dimensions that lie behind one another must become dimensions of its own. No,
/// where sizes and strides do not tell.
bool can_be_viewed(const TensorType& t, const std::vector<SymInt>& shape) {
  if (t.is_contiguous() || t.shape.empty()) return true;
  if (std::find(t.shape.begin(), t.shape.end(), SymInt(0)) != t.shape.end()) return true;
  const auto& strides = *t.strides;
  size_t left = shape.size();
  SymInt step = strides.back(), count = 1;
  for (size_t d = t.shape.size(); d-- > 0;) {
    count = count * t.shape[d];
    if (d > 0 && (t.shape[d - 1] == SymInt(1) || strides[d - 1] == count * step)) continue;
    SymInt covered = 1;
    while (left > 0 && (!(covered == count) || shape[left - 1] == SymInt(1))) covered = covered * shape[--left];
    if (!(covered == count)) return false;
    if (d > 0) step = strides[d - 1];
    count = 1;
  }
  return left == 0;
}

/// Whether elements lie as a memory format asks.
bool lies_in(const TensorType& t, const Argument& format) {
  const auto* name = format.as<EnumArg>();
  if (!name || name->name == "torch.preserve_format") return true;
  if (name->name == "torch.contiguous_format") return t.is_contiguous();
  if (!t.strides || t.shape.size() < 3) return false;
  const std::vector<SymInt> wanted = channels_last_strides(t.shape);
  for (size_t d = 0; d < wanted.size(); ++d)
    if (!(t.shape[d] == SymInt(1)) && !(wanted[d] == (*t.strides)[d])) return false;
  return true;
}

const Node* aliased_by_part(const Node& part) {
  const Node* tuple = part.args.at(0).node();
  if (!tuple || !tuple->op) return nullptr;
  if (!views_each(*tuple)) return aliased_operand(*tuple) ? tuple : nullptr;
  const auto operands = Call(*tuple).tensors(0);
  return operands.at(static_cast<size_t>(*part.args.at(1).as<int64_t>()));
}

}  // namespace

bool views_each(const Node& node) {
  const std::string_view target = node.target;
  return target.starts_with("aten.meshgrid.") || target == "aten.broadcast_tensors.default" ||
         (target.starts_with("aten.atleast_") && target.ends_with(".Sequence"));
}

const Node* aliased_operand(const Node& node) {
  if (node.target == "_operator.getitem") return aliased_by_part(node);
  if (!node.op || node.args.empty()) return nullptr;
  const std::string_view target = node.target;
  if (target == "aten.einsum.default") {
    const Call call(node);
    return ops::einsum_is_view(call) ? call.tensors(1).at(0) : nullptr;
  }
  const Node* self = node.args[0].node();
  if (!self || !self->type.is_tensor()) return nullptr;
  if (node.op->op_class == OpClass::Mutation) return self;
  if (target.starts_with("aten.dropout.") || target.starts_with("aten.feature_dropout.") ||
      target.starts_with("aten.alpha_dropout.") || target.starts_with("aten.feature_alpha_dropout."))
    return Call(node).boolean(2) && Call(node).number(1) != 0 ? nullptr : self;
  if (target == "aten.type_as.default") return same_type(node.type, self->type) ? self : nullptr;
  if (target.starts_with("aten.to.")) {
    const Call call(node);
    const auto* copy = call.arg("copy").as<bool>();
    const bool is_same = same_type(node.type, self->type) && lies_in(self->tensor(), call.arg("memory_format"));
    return is_same && !(copy && *copy) ? self : nullptr;
  }
  if (target == "aten.contiguous.default")
    return lies_in(self->tensor(), Call(node).arg("memory_format")) ? self : nullptr;
  if (target == "aten.ravel.default") return self->tensor().is_contiguous() ? self : nullptr;
  if (target == "aten.reshape.default" || target == "aten.reshape_as.default" || target == "aten.flatten.using_ints")
    return can_be_viewed(self->tensor(), node.tensor().shape) ? self : nullptr;
  if (target == "aten.conj_physical.default") return is_complex(self->tensor().dtype) ? nullptr : self;
  if (target == "aten.sum_to_size.default")  // to one number it is a sum
    return same_type(node.type, self->type) && !self->tensor().shape.empty() ? self : nullptr;
  if (target.starts_with("aten.unsafe_")) return self;  // chunk and split: parts of memory all the same
  // Not every view of ours is one of PyTorch's: flip copies.
  return node.op->schema.returns_alias ? self : nullptr;
}

const Node& storage_owner(const Node& node) {
  const Node* owner = &node;
  while (const Node* operand = aliased_operand(*owner)) owner = operand;
  return *owner;
}

std::optional<std::vector<int64_t>> memory_order(const TensorType& type) {
  const size_t rank = type.shape.size();
  std::vector<int64_t> order(rank);
  for (size_t d = 0; d < rank; ++d) order[d] = static_cast<int64_t>(d);
  const bool empty = std::find(type.shape.begin(), type.shape.end(), SymInt(0)) != type.shape.end();
  if (!type.strides || empty || type.is_contiguous()) return order;
  std::vector<bool> placed(rank, false);
  SymInt step = 1;
  for (size_t place = rank; place-- > 0;) {
    size_t d = rank;  // the last that fits: row-major order stays as it is
    while (d-- > 0)
      if (!placed[d] && (type.shape[d] == SymInt(1) || (*type.strides)[d] == step)) break;
    if (d >= rank) return {};
    placed[d] = true;
    order[place] = static_cast<int64_t>(d);
    step = step * type.shape[d];
  }
  return order;
}

std::vector<int64_t> inverse_of(const std::vector<int64_t>& order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return back;
}

Node* in_own_memory(Builder& b, Node* value, const TensorType& like) {
  if (memory_order(value->tensor())) return value;
  const auto contiguous = [&](Node* x) {
    return b.call("aten.clone.default", {x}, {{"memory_format", EnumArg{"torch.contiguous_format"}}});
  };
  const auto order = memory_order(like);
  if (!order || std::is_sorted(order->begin(), order->end())) return contiguous(value);
  return b.permute(contiguous(b.permute(value, *order)), inverse_of(*order));
}

/// Whether memory holds other numbers than the value that lies there: PyTorch conjugates what is read of it.
static bool is_conjugated(const Node& node) {
  for (const Node* view = &node; view; view = aliased_operand(*view))
    if (view->type.is_tensor() && is_complex(view->tensor().dtype) &&
        (view->is("aten.conj.default") || view->is("aten._conj.default")))
      return true;
  return false;
}

StridedOver strided_over(const Call& call) {
  const Node& self = *call.tensor(0);
  const Node& owner = storage_owner(self);
  const bool from_start = &owner == &self || call.optional_integer(3).has_value();
  if (from_start && owner.type.is_tensor() && memory_order(owner.tensor()) && !is_conjugated(self))
    return StridedOver::Owner;
  // Without an offset the elements are counted from the operand's first.
  return !call.optional_integer(3) && self.tensor().is_contiguous() ? StridedOver::Operand : StridedOver::Unknown;
}

SymInt elements_in_memory(const TensorType& memory, DType dtype) {
  const bool pairs = is_complex(memory.dtype);
  if (pairs == is_complex(dtype)) return memory.numel();
  return pairs ? memory.numel() * 2 : floordiv(memory.numel(), 2);
}

}  // namespace strata
