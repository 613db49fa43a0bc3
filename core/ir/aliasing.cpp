// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/aliasing.h"

#include <algorithm>
#include <string_view>

namespace strata {
namespace {

bool same_type(const Type& a, const Type& b) {
  return a.is_tensor() && b.is_tensor() && a.tensor.dtype == b.tensor.dtype && a.tensor.shape == b.tensor.shape;
}

}  // namespace

const Node* aliased_operand(const Node& node) {
  if (node.target == "_operator.getitem") {
    const Node* tuple = node.args.at(0).node();
    return tuple && aliased_operand(*tuple) ? tuple : nullptr;
  }
  if (!node.op || node.args.empty()) return nullptr;
  const Node* self = node.args[0].node();
  if (!self || !self->type.is_tensor()) return nullptr;
  if (node.op->op_class == OpClass::Mutation) return self;
  const std::string_view target = node.target;
  if (target == "aten.dropout.default") return Call(node).boolean(2) && Call(node).number(1) != 0 ? nullptr : self;
  if (target.starts_with("aten.to.") || target == "aten.type_as.default")
    return same_type(node.type, self->type) ? self : nullptr;
  if (target == "aten.contiguous.default" || target == "aten.reshape.default" || target == "aten.flatten.using_ints")
    return self->tensor().is_contiguous() ? self : nullptr;
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

StridedOver strided_over(const Call& call) {
  const Node& self = *call.tensor(0);
  const Node& owner = storage_owner(self);
  const bool from_start = &owner == &self || call.optional_integer(3).has_value();
  if (from_start && owner.type.is_tensor() && memory_order(owner.tensor())) return StridedOver::Owner;
  // Without an offset the elements are counted from the operand's first.
  return !call.optional_integer(3) && self.tensor().is_contiguous() ? StridedOver::Operand : StridedOver::Unknown;
}

}  // namespace strata
