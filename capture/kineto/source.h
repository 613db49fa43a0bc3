// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of a file in order, decompressed if it is gzip (by its first bytes; several members; cut short).

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace strata::capture::kineto {

class Source {
 public:
  /// Throws a user Error when the file cannot be opened or is a folder.
  explicit Source(const std::filesystem::path& path);
  /// Bytes in memory, not copied.
  explicit Source(std::string_view bytes);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Up to `size` bytes; 0 at the end. Throws a runtime Error when reading fails.
  std::size_t read(char* to, std::size_t size);
  /// Which part of the file was read, 0 to 1.
  double part() const;
  std::size_t file_size() const;
  /// What is wrong with the compressed stream; empty as long as nothing was found. Good after `read` gave 0.
  const std::string& damage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::capture::kineto
