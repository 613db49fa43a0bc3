// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SHA-256 (FIPS 180-4): names of cache entries, and whether a file is what was written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace strata {

using Sha256Digest = std::array<std::byte, 32>;

Sha256Digest sha256(std::span<const std::byte> data);
Sha256Digest sha256(std::string_view text);
/// 64 lower-case hexadecimal digits.
std::string to_hex(const Sha256Digest& digest);

}  // namespace strata
