// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NumPy's `.npy` files, versions 1 to 3: any byte order, C or Fortran order.
///
/// Types without a NumPy name are stored as bits: bfloat16 as uint16, float8 as uint8. Reading them back needs `as`.

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/runtime/tensor.h"

namespace strata {

/// Reads a file into a new tensor; a Fortran-order array becomes a tensor with Fortran strides. `as` takes the
/// elements' bits as another type of the same size. Throws a user Error for files that are no such array, are cut off,
/// hold Python objects or records, or do not suit `as`.
Tensor read_npy(const std::filesystem::path& path, std::optional<DType> as = {});
/// The same from memory; `name` stands in messages.
Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name, std::optional<DType> as = {});

/// Writes a tensor in C order, little-endian, whole or not at all. Half-precision complex numbers have no form there:
/// user Error.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
/// The file's bytes.
std::string format_npy(const Tensor& tensor);

}  // namespace strata
