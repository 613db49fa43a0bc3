// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Machine code of one kernel that runs wherever it is put: made from the object that LLVM writes, kept on disk, copied
/// into executable memory. Free of LLVM.
///
/// An image is code, its constants, and a table of addresses of the functions that it calls. Everything inside refers
/// to its own by distance, so that loading is a copy and filling that table.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/plan.h"

namespace strata::codegen {

/// Text of a kernel whose lines stand for entries of `kernel_lines`, not for nodes: kernels that share code share it.
struct KernelText {
  std::string kind, text;
  std::vector<std::vector<uint32_t>> lines;  ///< per line: 1-based entries
};

struct KernelCode {
  std::string symbol;            ///< name of the function in the texts
  std::vector<std::byte> image;  ///< to be put at a multiple of `alignment`
  uint32_t alignment = 64;
  uint32_t entry = 0;  ///< where the function begins
  /// Places of 8 bytes that get the address of a function.
  std::vector<std::pair<uint32_t, std::string>> imports;
  /// Places of 8 bytes that get the image's own address added.
  std::vector<uint32_t> bases;
  std::vector<KernelText> texts;
};

/// The image of an x86-64 object with one function `symbol`. Throws an internal Error for what such objects do not
/// have.
KernelCode link_image(std::span<const char> object, const std::string& symbol);

/// Flat form for the disk, and back; false for anything that is not one, `code` is then undefined.
std::vector<std::byte> pack_code(const KernelCode& code);
bool unpack_code(std::span<const std::byte> data, KernelCode& code);

/// Code that can be called; freed with the last reference.
class LoadedCode {
 public:
  /// Whether this system has all functions that the code calls.
  static bool can_load(const KernelCode& code);
  /// Throws a runtime Error if a function is unknown or memory cannot be had.
  explicit LoadedCode(std::span<const KernelCode> codes);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  void* function(size_t i) const { return functions_[i]; }

 private:
  std::byte* memory_ = nullptr;
  size_t size_ = 0;
  std::vector<void*> functions_;
};

}  // namespace strata::codegen
