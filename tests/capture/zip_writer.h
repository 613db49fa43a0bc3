// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Makes small ZIP archives in memory, good and bad ones.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::testing {

class ZipWriter {
 public:
  struct Entry {
    std::string name, data;
    uint16_t method = 0, flags = 0;
    uint64_t size = 0;  ///< uncompressed
    uint64_t packed = 0;
    uint64_t offset = 0;  ///< of the local header
    uint32_t crc = 0;     ///< never checked by the reader
    bool zip64 = false;   ///< sizes and offset in an extra field
  };

  /// Adds a stored member whose data begins at a multiple of 64.
  Entry& add(std::string name, std::string_view data) {
    Entry entry;
    entry.name = std::move(name);
    entry.data = data;
    entry.size = entry.packed = data.size();
    entry.offset = body_.size();
    const size_t extra = (64 - (body_.size() + 30 + entry.name.size() + 4) % 64) % 64 + 4;
    put32(body_, 0x04034b50);
    for (int i = 0; i < 22; ++i) body_ += '\0';  // sizes and CRC are zero, as PyTorch's writer leaves them
    put16(body_, entry.name.size());
    put16(body_, extra);
    body_ += entry.name + "FB";
    put16(body_, extra - 4);
    body_.append(extra - 4, 'Z');
    body_ += data;
    entries.push_back(std::move(entry));
    return entries.back();
  }

  std::string finish() const {
    std::string out = body_;
    const size_t start = out.size();
    for (const Entry& entry : entries) put_central(out, entry);
    const size_t size = out.size() - start;
    put32(out, 0x06054b50);
    put32(out, 0);
    put16(out, entries.size());
    put16(out, entries.size());
    put32(out, size);
    put32(out, start);
    put16(out, 0);
    return out;
  }

  std::vector<Entry> entries;  ///< may be falsified before finish()

 private:
  static void put(std::string& out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  }
  static void put16(std::string& out, uint64_t value) { put(out, value, 2); }
  static void put32(std::string& out, uint64_t value) { put(out, value, 4); }

  static void put_central(std::string& out, const Entry& entry) {
    put32(out, 0x02014b50);
    put32(out, 0);
    put16(out, entry.flags);
    put16(out, entry.method);
    put32(out, 0);
    put32(out, entry.crc);
    put32(out, entry.zip64 ? 0xffffffff : entry.packed);
    put32(out, entry.zip64 ? 0xffffffff : entry.size);
    put16(out, entry.name.size());
    put16(out, entry.zip64 ? 28 : 0);
    put16(out, 0);
    put32(out, 0);
    put32(out, 0);
    put32(out, entry.zip64 ? 0xffffffff : entry.offset);
    out += entry.name;
    if (!entry.zip64) return;
    put16(out, 1);
    put16(out, 24);
    put(out, entry.size, 8);
    put(out, entry.packed, 8);
    put(out, entry.offset, 8);
  }

  std::string body_;
};

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace strata::testing
