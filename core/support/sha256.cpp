// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace strata {
namespace {

constexpr uint64_t kPrimes[64] = {2,   3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,  43,  47,  53,
                                  59,  61,  67,  71,  73,  79,  83,  89,  97,  101, 103, 107, 109, 113, 127, 131,
                                  137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223,
                                  227, 229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311};

/// The first 32 bits behind the point of the square root (power 2) or cube root (power 3) of p: the standard defines
/// its constants that way. Bit by bit: the largest r with r^power <= p * 2^(32 * power).
constexpr uint32_t root_fraction(uint64_t p, int power) {
  using Wide = unsigned __int128;
  uint64_t root = 0;  // fixed point, 32 bits behind the point
  for (int bit = 36; bit >= 0; --bit) {
    const uint64_t r = root | uint64_t{1} << bit;
    // r^power compared without overflow: r < 2^37, so r^2 < 2^74, and r^3 < 2^111.
    const Wide value = power == 2 ? Wide{r} * r : Wide{r} * r * r;
    if (value <= Wide{p} << (32 * power)) root = r;
  }
  return static_cast<uint32_t>(root);
}

template <size_t n>
constexpr std::array<uint32_t, n> root_fractions(int power) {
  std::array<uint32_t, n> out{};
  for (size_t i = 0; i < n; ++i) out[i] = root_fraction(kPrimes[i], power);
  return out;
}

constexpr std::array<uint32_t, 8> kStart = root_fractions<8>(2);
constexpr std::array<uint32_t, 64> kRound = root_fractions<64>(3);

class Hasher {
 public:
  void block(const unsigned char* p) {
    std::array<uint32_t, 64> w;
    for (size_t i = 0; i < 16; ++i)
      w[i] = uint32_t{p[4 * i]} << 24 | uint32_t{p[4 * i + 1]} << 16 | uint32_t{p[4 * i + 2]} << 8 | p[4 * i + 3];
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      const uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3;
      const uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> add{a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state_[i] += add[i];
  }

  Sha256Digest digest() const {
    Sha256Digest out;
    for (size_t i = 0; i < 32; ++i) out[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return out;
  }

 private:
  std::array<uint32_t, 8> state_ = kStart;
};

}  // namespace

Sha256Digest sha256(std::span<const std::byte> data) {
  Hasher hasher;
  const auto* p = reinterpret_cast<const unsigned char*>(data.data());
  size_t left = data.size();
  for (; left >= 64; left -= 64, p += 64) hasher.block(p);
  // The rest, a one bit, zeros, and the length in bits: one block, or two.
  unsigned char end[128] = {};
  if (left > 0) std::memcpy(end, p, left);
  end[left] = 0x80;
  const size_t size = left < 56 ? 64 : 128;
  const uint64_t bits = uint64_t{data.size()} * 8;
  for (size_t i = 0; i < 8; ++i) end[size - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (size_t at = 0; at < size; at += 64) hasher.block(end + at);
  return hasher.digest();
}

Sha256Digest sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text.data(), text.size()))); }

std::string to_hex(const Sha256Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (std::byte b : digest) {
    out += digits[std::to_integer<int>(b) >> 4];
    out += digits[std::to_integer<int>(b) & 15];
  }
  return out;
}

}  // namespace strata
