// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tensors at run time: a strided view of shared storage on the CPU.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ir/dtype.h"

namespace strata {

/// Bytes, shared by the tensors that view them. Aligned to 64 bytes when owned here, to 128 from 4 KiB on.
struct Storage {
  std::byte* data = nullptr;
  size_t size = 0;                    ///< bytes
  std::shared_ptr<const void> owner;  ///< keeps `data` alive (an allocation, a mapped file, a caller's array)
};

/// Value type; copies share storage. Element (i...) is at `storage->data + (offset + sum i*strides) * dtype_size`.
struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  ///< in elements; 0 where broadcast
  int64_t offset = 0;            ///< in elements
  std::shared_ptr<Storage> storage;

  bool defined() const { return storage != nullptr; }
  size_t rank() const { return shape.size(); }
  int64_t numel() const;
  bool is_contiguous() const;
  std::byte* data() const { return storage->data + offset * static_cast<int64_t>(dtype_size(dtype)); }
  template <class T>
  T* ptr() const {
    return reinterpret_cast<T*>(data());
  }
  /// `float32[2, 3]`, for messages.
  std::string str() const;

  /// Uninitialised contiguous tensor (64-byte aligned). Throws a runtime Error when memory does not suffice.
  static Tensor empty(DType dtype, std::vector<int64_t> shape);
  static Tensor full(DType dtype, std::vector<int64_t> shape, double value);
  /// Copies `values` into a new contiguous tensor, converting.
  static Tensor of(DType dtype, std::vector<int64_t> shape, std::span<const double> values);
  /// 0-dimensional.
  static Tensor scalar(DType dtype, double value);

  /// Contiguous copy (or itself when contiguous already).
  Tensor contiguous() const;
  /// Contiguous copy in another type, with PyTorch's conversion (`static_cast`; NaN to bool is true).
  Tensor to(DType dtype) const;
  Tensor clone() const;
  /// Element at a flat row-major position, as double (integers above 2^53 lose digits: use `int_at`).
  double at(int64_t flat) const;
  int64_t int_at(int64_t flat) const;
  void set(int64_t flat, double value) const;
  void set_int(int64_t flat, int64_t value) const;
  /// Contents as doubles in row-major order.
  std::vector<double> values() const;
};

/// Copies elements between tensors of one dtype and shape, each with its own strides.
void copy_elements(const Tensor& from, const Tensor& to);

/// Row-major strides of a shape (a size of 0 counts as 1).
std::vector<int64_t> contiguous_strides(std::span<const int64_t> shape);

/// Real (0) or imaginary (1) parts of a complex tensor, where they lie in its memory.
Tensor part_of(const Tensor& tensor, int64_t which);
/// A complex tensor as pairs in a new last dimension, and pairs as a complex tensor, in the same memory. The last
/// stride of pairs must be 1 and the others, and the offset, even.
Tensor as_pairs(const Tensor& tensor);
Tensor from_pairs(const Tensor& pairs);

float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);  ///< round to nearest even
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);  ///< round to nearest even, NaN stays NaN

/// Element read/write by type: pointers to the element itself.
double load_as_double(DType dtype, const std::byte* element);
int64_t load_as_int(DType dtype, const std::byte* element);
void store_from_double(DType dtype, std::byte* element, double value);
void store_from_int(DType dtype, std::byte* element, int64_t value);

}  // namespace strata
