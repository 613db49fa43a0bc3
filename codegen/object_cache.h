// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a compile made, kept on disk for the next process: small entries by key, bounded in size, the least recently
/// used ones go first. Any number of processes may use one folder at once.
///
/// Nothing here fails: a folder that cannot be used, a full disk, a damaged entry all mean that there is no entry. What
/// is read was written whole (entries appear under their name by a rename, and carry their checksum) and by this user:
/// a folder or entry that another user owns or that others may write is not touched.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/support/sha256.h"

namespace strata::codegen {

class ObjectCache {
 public:
  /// What there is, of all processes.
  struct Contents {
    size_t entries = 0;
    int64_t bytes = 0;  ///< on the disk
    int64_t limit = 0;
  };

  /// As the environment says: $STRATA_CACHE_DIR, else $XDG_CACHE_HOME/strata, else ~/.cache/strata; STRATA_CACHE=0 (or
  /// off) turns it off; STRATA_CACHE_SIZE is the limit in MiB (256).
  static ObjectCache from_environment();
  /// A cache that is off.
  ObjectCache() = default;
  /// Makes the folder if it is missing. `limit` in bytes.
  ObjectCache(const std::filesystem::path& folder, int64_t limit);
  ObjectCache(ObjectCache&& other) noexcept;
  ObjectCache& operator=(ObjectCache&& other) noexcept;
  ~ObjectCache();

  bool is_on() const { return folder_ >= 0; }
  /// Why it is off; empty while it is on.
  const std::string& why_off() const { return why_off_; }

  /// Empty while it is off.
  const std::filesystem::path& folder() const { return path_; }
  Contents contents() const;
  /// Removes all entries; how many that were.
  size_t clear() const;

  /// Thread-safe, as is `store`. A damaged entry is removed.
  std::optional<std::vector<std::byte>> load(const Sha256Digest& key) const;
  /// Whether the entry is there now.
  bool store(const Sha256Digest& key, std::span<const std::byte> content) const;

 private:
  int folder_ = -1;  // file descriptor
  int64_t limit_ = 0;
  std::filesystem::path path_;
  std::string why_off_ = "it is off";
};

/// What this program is: changes whenever its code may. Found once.
const std::string& build_identity();

}  // namespace strata::codegen
