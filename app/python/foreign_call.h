// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators that the compiler does not have, called through PyTorch.

#include <pybind11/pybind11.h>

#include "core/ir/op.h"

namespace strata {

/// The row through which calls of this `torch._ops.OpOverload` go to PyTorch; null when it cannot be called so: it
/// writes or aliases its operands, or has a schema of another kind. Needs the GIL; calls take it themselves.
const OpDef* torch_op(const pybind11::object& overload);

/// The row for a target that has `strata_schema` (strata._opaque.OpaqueCall, or a check that is computed here).
const OpDef* opaque_row(const pybind11::object& target);

/// The function that opaque calls go to: (id, tensors, sizes) -> list of tensors.
void set_opaque_caller(const pybind11::object& function);

}  // namespace strata
