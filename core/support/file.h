// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files as bytes: mapped for reading, written whole or not at all.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace strata {

/// Bytes and what keeps them alive.
struct Bytes {
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;

  size_t size() const { return data.size(); }
  std::string_view text() const { return {reinterpret_cast<const char*>(data.data()), data.size()}; }
};

/// Maps a file, privately and copy-on-write: writing to the bytes never changes the file. An empty file gives empty
/// bytes. Throws a user Error when it does not exist, is a directory or cannot be read. The file must not be truncated
/// while mapped.
Bytes map_file(const std::filesystem::path& path);

/// Memory aligned to 64 bytes, uninitialised. Throws a runtime Error when there is not enough.
std::shared_ptr<std::byte> allocate_bytes(size_t size);
/// Copies into memory owned by the result, aligned to 64 bytes.
Bytes copy_bytes(std::span<const std::byte> data);

/// Reverses the bytes of every group of `item` bytes, in place (a rest shorter than that stays).
void swap_bytes(std::span<std::byte> data, size_t item);

/// Writes the parts one after another under a temporary name in the same folder, then renames: on failure nothing
/// stands under the final name, and what stood there before is unharmed. Throws a user Error when the place cannot be
/// written, a runtime Error when writing fails.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);

}  // namespace strata
