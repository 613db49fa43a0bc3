// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/native/strided.h"

#include <cstring>

#include "core/ir/ops/common.h"
#include "core/ir/program.h"
#include "core/runtime/parallel.h"
#include "core/support/index_error.h"

namespace strata::native {

Odometer::Odometer(std::span<const int64_t> shape, std::vector<std::vector<int64_t>> strides, int64_t at)
    : shape_(shape.begin(), shape.end()),
      index_(shape.size(), 0),
      offsets_(strides.size(), 0),
      strides_(std::move(strides)) {
  for (size_t d = shape_.size(); d-- > 0 && at > 0;) {
    index_[d] = at % shape_[d];
    at /= shape_[d];
    for (size_t t = 0; t < offsets_.size(); ++t) offsets_[t] += index_[d] * strides_[t][d];
  }
}

void Odometer::next() {
  for (size_t d = shape_.size(); d-- > 0;) {
    ++index_[d];
    for (size_t t = 0; t < offsets_.size(); ++t) offsets_[t] += strides_[t][d];
    if (index_[d] < shape_[d]) return;
    for (size_t t = 0; t < offsets_.size(); ++t) offsets_[t] -= strides_[t][d] * shape_[d];
    index_[d] = 0;
  }
}

int64_t product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

namespace {

template <class T>
void copy_typed(const Tensor& from, const Tensor& to) {
  const std::vector<int64_t> outer(from.shape.begin(), from.shape.end() - 1),
      strides(from.strides.begin(), from.strides.end() - 1);
  const int64_t n = from.shape.back(), step = from.strides.back();
  parallel_for(product(outer), std::max<int64_t>(1, 32768 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    Odometer at(outer, {strides}, begin);
    for (int64_t row = begin; row < end; ++row, at.next()) {
      const T* x = from.ptr<const T>() + at.offset(0);
      T* y = to.ptr<T>() + row * n;
      for (int64_t i = 0; i < n; ++i) y[i] = x[i * step];
    }
  });
}

}  // namespace

void copy_to_rows(const Tensor& from, const Tensor& to) {
  const int64_t n = from.numel();
  if (n == 0) return;
  const size_t size = dtype_size(from.dtype);
  if (from.is_contiguous()) {
    parallel_for(n, 65536, [&](int64_t begin, int64_t end) {
      const auto at = static_cast<size_t>(begin) * size;
      std::memcpy(to.data() + at, from.data() + at, static_cast<size_t>(end - begin) * size);
    });
    return;
  }
  switch (size) {
    case 1:
      return copy_typed<uint8_t>(from, to);
    case 2:
      return copy_typed<uint16_t>(from, to);
    case 4:
      return copy_typed<uint32_t>(from, to);
    case 8:
      return copy_typed<uint64_t>(from, to);
    default:
      throw_internal("elements of " + std::to_string(size) + " bytes are not copied here");
  }
}

Tensor as_rows(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor out = Tensor::empty(t.dtype, t.shape);
  copy_to_rows(t, out);
  return out;
}

Tensor as_rows(const Tensor& t, DType dtype) { return t.dtype == dtype ? as_rows(t) : t.to(dtype); }

Tensor operand_like(const Arguments& arguments, size_t param, const Tensor& result) {
  if (!ops::is_tensor(arguments.call, param))
    return ops::expanded(Tensor::scalar(result.dtype, arguments.call.number(param)), result.shape);
  const Tensor& t = arguments.tensor(param);
  return ops::expanded(t.dtype == result.dtype ? t : t.to(result.dtype), result.shape);
}

namespace {

/// The call and its line of Python.
std::string place_of(const Call& call) {
  const SourceLocation* line = user_line(call.node().meta.source);
  return "'" + call.node().name + "'" + (line ? " at " + line->file + ":" + std::to_string(line->line) : "");
}

}  // namespace

void refuse(const Call& call, const std::string& what, const std::string& hint) {
  throw_user(what + ", in " + place_of(call), hint);
}

void refuse_index(const Call& call, int64_t index, int64_t size, size_t dim) {
  throw IndexError("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) +
                   " with size " + std::to_string(size) + ", in " + place_of(call));
}

}  // namespace strata::native
