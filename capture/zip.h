// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reader of ZIP archives: the central directory only (PyTorch's local headers have no sizes), ZIP64 included.
///
/// Stored members are views of the mapped file; deflated ones are inflated at first use. Every offset and size in the
/// archive is checked against the file, members may not overlap, and nothing is allocated from a declared size that the
/// data cannot fill. All errors are user Errors that begin with the archive's name.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/file.h"

namespace strata::capture {

class ZipArchive {
 public:
  /// Reads the directory of `bytes`; `name` stands in messages.
  ZipArchive(Bytes bytes, std::string name);

  const std::string& name() const { return name_; }
  /// Member names in ascending order; of members with equal names the last one of the directory.
  std::vector<std::string> names() const;
  bool contains(std::string_view member) const { return members_.find(member) != members_.end(); }
  /// Contents, or nothing if there is no such member. Throws for compression methods other than stored and deflate, for
  /// encryption, and for members whose data is not what their header says.
  std::optional<Bytes> find(std::string_view member) const;
  /// Like find; a missing member is an error.
  Bytes read(std::string_view member) const;

  /// True if the bytes begin or end like a ZIP archive.
  static bool looks_like_zip(std::span<const std::byte> data);

 private:
  struct Member {
    uint64_t header = 0, packed = 0, size = 0;
    uint16_t method = 0, flags = 0;
    uint64_t data = 0;
  };
  struct Directory {
    uint64_t offset = 0, size = 0, count = 0, end = 0;
  };
  [[noreturn]] void fail(const std::string& what) const;
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  void locate(Member& member, const std::string& member_name) const;
  void check_overlaps(const Directory& directory) const;
  Bytes inflate(const Member& member, std::string_view member_name) const;

  Bytes bytes_;
  std::string name_;
  std::map<std::string, Member, std::less<>> members_;
};

}  // namespace strata::capture
