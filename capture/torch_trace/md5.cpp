// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/md5.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace strata::capture {
namespace {

using Word = std::uint32_t;

// floor(2^32 * |sin(i + 1)|), RFC 1321.
constexpr Word kSine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

constexpr int kShift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

// One of the four rounds of 16 steps; unrolled by the compiler, since everything about a step is constant.
template <int round>
inline void steps(Word& a, Word& b, Word& c, Word& d, const Word* m) {
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    Word f;
    int g;
    if constexpr (round == 0) f = d ^ (b & (c ^ d)), g = i;
    // The two halves have no bit in common: a sum instead of an or leaves one fewer step to wait for.
    if constexpr (round == 1) f = (b & d) + (c & ~d), g = (5 * i + 1) & 15;
    if constexpr (round == 2) f = b ^ c ^ d, g = (3 * i + 5) & 15;
    if constexpr (round == 3) f = c ^ (b | ~d), g = (7 * i) & 15;
    const Word sum = a + f + kSine[16 * round + i] + m[g];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShift[round][i & 3]);
  }
}

}  // namespace

void Md5::block(const std::uint8_t* bytes) {
  Word m[16];
  std::memcpy(m, bytes, 64);
  if constexpr (std::endian::native == std::endian::big) {
    for (Word& w : m) w = __builtin_bswap32(w);
  }
  auto [a, b, c, d] = state_;
  steps<0>(a, b, c, d, m);
  steps<1>(a, b, c, d, m);
  steps<2>(a, b, c, d, m);
  steps<3>(a, b, c, d, m);
  state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
}

void Md5::update(std::string_view bytes) {
  const std::size_t used = size_ % 64;
  size_ += bytes.size();
  if (used > 0) {
    const std::size_t take = std::min(64 - used, bytes.size());
    std::memcpy(rest_.data() + used, bytes.data(), take);
    bytes.remove_prefix(take);
    if (used + take < 64) return;
    block(rest_.data());
  }
  for (; bytes.size() >= 64; bytes.remove_prefix(64)) block(reinterpret_cast<const std::uint8_t*>(bytes.data()));
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

Md5Digest Md5::digest() const {
  Md5 end = *this;
  const std::uint64_t bits = size_ * 8;
  const char zeros[64] = {'\x80'};
  end.update({zeros, 1 + (119 - size_ % 64) % 64});
  std::array<std::uint8_t, 8> length;
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  end.update({reinterpret_cast<const char*>(length.data()), 8});
  Md5Digest digest;
  for (int i = 0; i < 16; ++i) digest[i] = static_cast<std::uint8_t>(end.state_[i / 4] >> (8 * (i % 4)));
  return digest;
}

Md5Digest md5(std::string_view bytes) {
  Md5 hash;
  hash.update(bytes);
  return hash.digest();
}

std::string to_hex(const Md5Digest& digest) {
  std::string out;
  for (const std::uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::optional<Md5Digest> parse_md5(std::string_view hex) {
  if (hex.size() != 32) return std::nullopt;
  Md5Digest digest{};
  for (int i = 0; i < 32; ++i) {
    const char c = static_cast<char>(hex[i] | 0x20);
    int value = -1;
    if (c >= '0' && c <= '9' && hex[i] == c) value = c - '0';
    if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
    if (value < 0) return std::nullopt;
    digest[i / 2] = static_cast<std::uint8_t>(digest[i / 2] << 4 | value);
  }
  return digest;
}

}  // namespace strata::capture
