// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Weights that a program holds as constants, and whether they still are what they were.

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

namespace strata {

/// Tells apart, per tensor: the object, its memory (`.data =`, `set_`, `resize_`), and PyTorch's count of the writes to
/// it (in-place operators, optimizers, `load_state_dict`). What PyTorch does not count goes unseen: writes through
/// `.data`, through NumPy, and those to tensors made in inference mode.
class FrozenWeights {
 public:
  /// Remembers an input of the call; keeps the tensor alive.
  void add(size_t position, const pybind11::object& tensor);
  bool empty() const { return weights_.empty(); }
  bool contains(size_t position) const;
  /// About 50 ns per weight.
  bool unchanged(PyObject* const* inputs) const;

 private:
  struct Weight {
    size_t position;
    pybind11::object tensor;
    const void* data;
    int64_t version;
  };
  std::vector<Weight> weights_;
};

}  // namespace strata
