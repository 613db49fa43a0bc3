// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/overlap.h"

#include "app/python/tensor_exchange.h"

namespace py = pybind11;

namespace strata {
namespace {

struct Range {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

/// Where the elements of a tensor lie; PyTorch has no negative strides.
Range range_of(py::handle object) {
  if (PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || object.is_none()) return {};
  const Tensor tensor = view_of_torch(object, "an input");
  if (tensor.numel() == 0) return {};
  return {tensor.data(), tensor.data() + tensor.storage->size};
}

}  // namespace

bool written_inputs_overlap(const py::sequence& inputs, const std::vector<size_t>& written) {
  std::vector<Range> ranges;
  ranges.reserve(inputs.size());
  for (const py::handle input : inputs) ranges.push_back(range_of(input));
  for (const size_t w : written) {
    const Range& target = ranges.at(w);
    for (size_t i = 0; i < ranges.size(); ++i)
      if (i != w && ranges[i].begin < target.end && target.begin < ranges[i].end) return true;
  }
  return false;
}

}  // namespace strata
