// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/library.h"

namespace strata {

std::string_view to_string(PostOp::Kind kind) {
  switch (kind) {
    case PostOp::Kind::Relu:
      return "relu";
    case PostOp::Kind::GeluErf:
      return "gelu_erf";
    case PostOp::Kind::GeluTanh:
      return "gelu_tanh";
    case PostOp::Kind::Tanh:
      return "tanh";
    case PostOp::Kind::Sigmoid:
      return "sigmoid";
    case PostOp::Kind::Silu:
      return "silu";
    case PostOp::Kind::HardSwish:
      return "hardswish";
    case PostOp::Kind::HardSigmoid:
      return "hardsigmoid";
    case PostOp::Kind::Elu:
      return "elu";
    case PostOp::Kind::Clamp:
      return "clamp";
    case PostOp::Kind::Linear:
      return "linear";
    case PostOp::Kind::Add:
      return "add";
    case PostOp::Kind::Sub:
      return "sub";
    case PostOp::Kind::Mul:
      return "mul";
  }
  return "unknown";
}

std::vector<SymInt> channels_last_strides(const std::vector<SymInt>& shape) {
  std::vector<SymInt> strides(shape.size());
  strides[1] = 1;
  SymInt step = shape[1];
  for (size_t d = shape.size(); d-- > 2;) {
    strides[d] = step;
    step = step * shape[d];
  }
  strides[0] = step;
  return strides;
}

}  // namespace strata
