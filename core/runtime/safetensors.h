// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files of named tensors in the safetensors format.

#include <filesystem>
#include <map>
#include <string>

#include "core/runtime/tensor.h"
#include "core/support/file.h"

namespace strata {

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Maps a file; tensors are views of it, copy-on-write. Throws a user Error for malformed files, unknown types, and
/// tensors that reach beyond the data or do not have the size that their shape needs.
Safetensors read_safetensors(const std::filesystem::path& path);
Safetensors parse_safetensors(const Bytes& bytes, const std::string& name);

/// Writes contiguous little-endian copies, sorted by name, whole or not at all. Types that the format lacks (complex32,
/// complex128) are a user Error.
void write_safetensors(const std::filesystem::path& path, const Safetensors& contents);

}  // namespace strata
