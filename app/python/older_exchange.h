// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// DLPack's C table for versions of PyTorch without one (before 2.10), and its capsule.

#include <pybind11/pybind11.h>

#include "app/python/dlpack_abi.h"

namespace strata {

/// Tensors come in through libtorch's C functions (`aoti_torch_*`), found in the library that PyTorch has loaded, or by
/// the methods of the tensor object where some are missing; they go back through a DLPack capsule. Only
/// `array_from_object` and `managed_to_object` are there. What the first borrows is valid until its next call on this
/// thread. Both need the GIL, and set a Python error when they return anything but 0. Never null.
const dlpack::ExchangeApi* older_exchange();

/// A new capsule `dltensor` that owns the array until somebody takes it; null with a Python error set, and the array
/// the caller's still, where there is no memory for it.
PyObject* dlpack_capsule(dlpack::ManagedArray* managed);

}  // namespace strata
