// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// PyTorch tensors as ours and back, without copies and without PyTorch's headers: through DLPack's C table where
/// PyTorch has it (2.10 and later), else through the methods of the tensor object.

#include <pybind11/pybind11.h>

#include "core/runtime/tensor.h"

namespace strata {

/// A view of a CPU tensor's memory; the caller keeps the object alive. Throws a user Error (with `what`, such as `input
/// 3`) for devices, layouts and element types that cannot be viewed.
Tensor view_of_torch(pybind11::handle object, const std::string& what);

/// A `torch.Tensor` over the tensor's memory, which it keeps alive.
pybind11::object to_torch(const Tensor& tensor);

/// `torch.float32` and back.
DType dtype_of_torch(pybind11::handle dtype);
pybind11::object dtype_to_torch(DType dtype);

}  // namespace strata
