// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// MD5, as PyTorch's logs and caches name their texts by. Not for anything that must be secure.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::capture {

using Md5Digest = std::array<std::uint8_t, 16>;

class Md5 {
 public:
  void update(std::string_view bytes);
  /// Of everything so far; more may follow.
  Md5Digest digest() const;

 private:
  void block(const std::uint8_t* bytes);
  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::uint64_t size_ = 0;
  std::array<std::uint8_t, 64> rest_{};
};

Md5Digest md5(std::string_view bytes);
/// 32 lowercase hex digits.
std::string to_hex(const Md5Digest& digest);
/// Reads 32 hex digits of either case; nullopt for anything else.
std::optional<Md5Digest> parse_md5(std::string_view hex);

}  // namespace strata::capture
