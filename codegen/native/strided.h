// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Walking over strided tensors, for hand-written kernels.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/native/native_kernel.h"
#include "core/runtime/tensor.h"

namespace strata::native {

/// The multi-indices of a shape in row-major order, as offsets into tensors with these strides.
class Odometer {
 public:
  /// Starts at position `at` of the order.
  Odometer(std::span<const int64_t> shape, std::vector<std::vector<int64_t>> strides, int64_t at = 0);
  int64_t offset(size_t tensor) const { return offsets_[tensor]; }
  void next();

 private:
  std::vector<int64_t> shape_, index_, offsets_;
  std::vector<std::vector<int64_t>> strides_;
};

int64_t product(std::span<const int64_t> sizes);

/// `from` (any strides) copied to row-major `to`, which has the same shape and element type.
void copy_to_rows(const Tensor& from, const Tensor& to);
/// Row-major tensor of the same values: itself where it lies so.
Tensor as_rows(const Tensor& t);
/// The same in another element type.
Tensor as_rows(const Tensor& t, DType dtype);

/// Parameter `param`, a tensor or a number, in the type and (with strides of 0) the shape of a result.
Tensor operand_like(const Arguments& arguments, size_t param, const Tensor& result);

/// Throws a user Error that names the call and the line of Python it comes from.
[[noreturn]] void refuse(const Call& call, const std::string& what, const std::string& hint = {});
[[noreturn]] void refuse_index(const Call& call, int64_t index, int64_t size, size_t dim);
/// Index in [0, size) of dimension `dim`: negative ones count from the end if `negative`. Throws IndexError with
/// PyTorch's words, the call and the line of Python where it is out of range.
inline int64_t index_in(const Call& call, int64_t index, int64_t size, size_t dim, bool negative) {
  if (index < (negative ? -size : 0) || index >= size) refuse_index(call, index, size, dim);
  return index < 0 ? index + size : index;
}

}  // namespace strata::native
