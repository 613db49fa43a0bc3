// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inputs that share memory with an input that the graph writes.

#include <pybind11/pybind11.h>

#include <vector>

namespace strata {

/// Whether any of the tensors at positions `written` may share memory with another tensor of `inputs` (by the first and
/// last address of each). Inputs that are no tensors do not count.
bool written_inputs_overlap(const pybind11::sequence& inputs, const std::vector<size_t>& written);

}  // namespace strata
