// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// PyTorch tensors as ours and back, without copies and without PyTorch's headers: through DLPack's C table,
/// PyTorch's (2.10 and later) or ours (older_exchange.h).

#include <pybind11/pybind11.h>

#include <vector>

#include "core/runtime/tensor.h"

namespace strata {

/// A view of a CPU tensor's memory; the caller keeps the object alive. Throws a user Error (with `what`, such as `input
/// 3`) for devices, layouts and element types that cannot be viewed.
Tensor view_of_torch(pybind11::handle object, const std::string& what);

/// The same into `view`, which may be that of an earlier call: then nothing is allocated as long as the tensor lies as
/// it did. `position` is for messages. Throws a user Error for what is no tensor.
void update_view(Tensor& view, pybind11::handle object, size_t position);

/// A `torch.Tensor` over the tensor's memory, which it keeps alive. Without elements it is PyTorch's own: `resize_`
/// works.
pybind11::object to_torch(Tensor tensor);

/// DLPack's capsule over the tensor's memory, which it keeps alive: any library's `from_dlpack`. Without PyTorch.
/// Throws a user Error for element types that DLPack has no name for.
pybind11::object to_dlpack(Tensor tensor);

/// Whole numbers of Python.
pybind11::tuple tuple_of(const std::vector<int64_t>& values);

/// `torch.empty_strided`: memory of PyTorch's. Strides may not be negative.
pybind11::object empty_of_torch(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, DType dtype);

/// `torch.float32` and back.
DType dtype_of_torch(pybind11::handle dtype);
pybind11::object dtype_to_torch(DType dtype);

}  // namespace strata
