// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace strata {

/// What the package needs to know of backends and options, and how it words breaks and draws graphs.
void bind_backends(pybind11::module_& module);

}  // namespace strata
