// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random numbers of programs that run inside of PyTorch come from PyTorch's own generator.

#include <pybind11/pybind11.h>

namespace strata {

/// From now on every run in this process draws from `generator` (a `torch.Generator` of the CPU).
void draw_from(const pybind11::object& generator);

/// One draw from a generator of its own: the result in `out` (a tensor of the CPU, row-major), the state after it in
/// `state` (bytes), both PyTorch's. `kind` is a `strata.draw_*` without its prefix. To compare the two.
void draw_once(const std::string& kind, uint64_t seed, const pybind11::list& numbers,
               const pybind11::object& probabilities, const pybind11::object& out, const pybind11::object& state);

}  // namespace strata
