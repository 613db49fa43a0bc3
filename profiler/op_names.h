// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an operator is called in a captured graph and in a profile, made comparable.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::profiler {

/// `torch.nn.functional.conv2d`, `aten.conv2d.default`, `aten::conv2d` -> `conv2d`; `aten::relu_` -> `relu`;
/// `_operator.iadd`, `aten::add_` -> `add`; `float`, `aten::_to_copy` -> `to`.
std::string operator_base(std::string_view name);

/// Operators that are each other's front or back end, under one name: `linear`, `addmm` and `mm` are `matmul`,
/// `cudnn_convolution` is `convolution`. Others are their own family. Takes and gives base names.
std::string_view operator_family(std::string_view base);

/// How well a captured call (`node`) and an operator of a profile (`op`), both base names, go together: 0 not at all,
/// 4 the same, between: one may show as the other (`getitem` as `slice`).
int name_match(std::string_view node, std::string_view op);

/// What an operator's `Input Dims` and `Input type` say.
struct OperatorInputs {
  std::vector<std::string> shapes;  ///< of the tensors, `[64, 1, 28, 28]`; scalar tensors are left out
  std::int64_t bytes = 0;           ///< of all tensors with a known type
  std::int64_t largest = 0, first = 0;
  std::int64_t element = 0;  ///< bytes of an element of the first
  bool known = false;        ///< shapes were recorded
};
/// `args` is the JSON object of an event; anything else gives unknown inputs.
OperatorInputs operator_inputs(std::string_view args);

/// Bytes that an operator of this base name writes, as far as its inputs say: what a matrix product makes, else as much
/// as its largest input; 0 where the output is among the inputs already.
std::int64_t written_bytes(std::string_view base, const OperatorInputs& in);

/// Bytes of a tensor type as nodes have it (`f32[64, 10][10, 1]cuda:0`); -1 with symbols or for anything else.
std::int64_t tensor_bytes(std::string_view type);

}  // namespace strata::profiler
