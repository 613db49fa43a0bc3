// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/frozen_weights.h"

#include <algorithm>

#include "app/python/tensor_exchange.h"

namespace py = pybind11;

namespace strata {
namespace {

/// `tensor._version`; -1 where it has none.
int64_t version_of(PyObject* tensor) {
  static PyObject* const name = PyUnicode_InternFromString("_version");
  const auto version = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, name));
  if (version) return version.cast<int64_t>();
  PyErr_Clear();
  return -1;
}

const void* data_of(PyObject* tensor) {
  thread_local Tensor view;
  update_view(view, tensor, 0);
  return view.storage->data;
}

}  // namespace

void FrozenWeights::add(size_t position, const py::object& tensor) {
  weights_.push_back({position, tensor, data_of(tensor.ptr()), version_of(tensor.ptr())});
}

bool FrozenWeights::contains(size_t position) const {
  return std::any_of(weights_.begin(), weights_.end(), [&](const Weight& w) { return w.position == position; });
}

bool FrozenWeights::unchanged(PyObject* const* inputs) const {
  return std::all_of(weights_.begin(), weights_.end(), [&](const Weight& w) {
    PyObject* const given = inputs[w.position];
    return given == w.tensor.ptr() && version_of(given) == w.version && data_of(given) == w.data;
  });
}

}  // namespace strata
