// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_autocast.h"

#include <set>

#include "core/ir/aliasing.h"
#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

void collect_types(const Type& type, std::set<DType>& types) {
  if (type.is_tensor()) types.insert(type.tensor.dtype);
  for (const Type& element : type.parts) collect_types(element, types);
}

std::set<DType> types_of(const Type& type) {
  std::set<DType> types;
  collect_types(type, types);
  return types;
}

/// Of the results without autocast; nothing where the operator has none then.
std::set<DType> types_without(const Node& call) {
  try {
    return types_of(call.op->shape(Call(call)));
  } catch (const Error&) {
    return {};
  }
}

/// Views say nothing of types, those of several operands neither.
bool hands_on(const Node& call) {
  return call.op->op_class == OpClass::View || call.op->schema.returns_alias || views_each(call);
}

}  // namespace

std::optional<DType> autocast_type(const Node& call, DType low) {
  if (!call.op || call.op->op_class == OpClass::Mutation || hands_on(call)) return {};
  std::set<DType> kinds;
  for (const Node* operand : call.operands())
    if (operand->type.is_tensor() && is_floating(operand->tensor().dtype)) kinds.insert(operand->tensor().dtype);
  if (!kinds.contains(DType::F32) && !kinds.contains(low)) return {};
  const std::set<DType> stated = types_of(call.type);
  // Operands of several types: only autocast may be able to make them one.
  if (kinds.size() == 1 && types_without(call) == stated) return {};
  if (stated.contains(low)) return low;
  if (stated.contains(DType::F32)) return DType::F32;
  return {};
}

}  // namespace strata::capture
