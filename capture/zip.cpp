// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/support/error.h"

namespace strata::capture {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr uint64_t kMaxMembers = 1'000'000;
/// The best that deflate can do is 1032 bytes out of one.
constexpr uint64_t kMaxInflation = 1032;

template <class T>
T load(std::span<const std::byte> data, uint64_t at) {
  T value;
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;  // archives are little-endian, and so are the machines this is built for
}

bool inside(uint64_t offset, uint64_t size, uint64_t total) { return offset <= total && size <= total - offset; }

}  // namespace

ZipArchive::ZipArchive(Bytes bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {
  const Directory directory = find_directory();
  read_directory(directory);
  for (auto& [member_name, member] : members_) locate(member, member_name);
  check_overlaps(directory);
}

void ZipArchive::fail(const std::string& what) const { throw_user(fmt::format("'{}': {}", name_, what)); }

ZipArchive::Directory ZipArchive::find_directory() const {
  const auto data = bytes_.data;
  if (data.size() < kEndSize) fail(fmt::format("{} bytes are too few for a zip archive", data.size()));
  // The end record is last but for a comment of at most 65535 bytes.
  const size_t first = data.size() - std::min<size_t>(data.size(), kEndSize + 0xffff);
  size_t at = data.size() - kEndSize;
  while (!(load<uint32_t>(data, at) == kEnd && at + kEndSize + load<uint16_t>(data, at + 20) <= data.size())) {
    if (at == first) fail("the zip directory at the end of the file is missing: the file is truncated or no zip");
    --at;
  }
  Directory d{.offset = load<uint32_t>(data, at + 16),
              .size = load<uint32_t>(data, at + 12),
              .count = load<uint16_t>(data, at + 10),
              .end = at};
  const bool needs64 = d.offset == 0xffffffff || d.size == 0xffffffff || d.count == 0xffff;
  if (at >= kLocatorSize && load<uint32_t>(data, at - kLocatorSize) == kEnd64Locator) {
    const auto end64 = load<uint64_t>(data, at - kLocatorSize + 8);
    if (!inside(end64, kEnd64Size, at) || load<uint32_t>(data, end64) != kEnd64)
      fail("the zip64 end record lies outside the file");
    d = {.offset = load<uint64_t>(data, end64 + 48),
         .size = load<uint64_t>(data, end64 + 40),
         .count = load<uint64_t>(data, end64 + 32),
         .end = end64};
  } else if (needs64) {
    fail("the zip64 end record is missing");
  }
  if (!inside(d.offset, d.size, d.end)) fail("the zip directory lies outside the file");
  if (d.count > kMaxMembers) fail(fmt::format("{} members, at most {} are read", d.count, kMaxMembers));
  return d;
}

void ZipArchive::read_directory(const Directory& directory) {
  const auto data = bytes_.data;
  uint64_t at = directory.offset;
  const uint64_t end = directory.offset + directory.size;
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (!inside(at, kCentralSize, end) || load<uint32_t>(data, at) != kCentralHeader)
      fail(fmt::format("entry {} of {} of the zip directory is damaged", i + 1, directory.count));
    const uint64_t name_size = load<uint16_t>(data, at + 28), extra_size = load<uint16_t>(data, at + 30);
    const uint64_t comment_size = load<uint16_t>(data, at + 32);
    if (!inside(at + kCentralSize, name_size + extra_size + comment_size, end))
      fail(fmt::format("entry {} of {} of the zip directory is damaged", i + 1, directory.count));
    Member member{.header = load<uint32_t>(data, at + 42),
                  .packed = load<uint32_t>(data, at + 20),
                  .size = load<uint32_t>(data, at + 24),
                  .method = load<uint16_t>(data, at + 10),
                  .flags = load<uint16_t>(data, at + 8)};
    std::string member_name(reinterpret_cast<const char*>(data.data() + at + kCentralSize), name_size);
    // Extra field 1 (ZIP64) holds, in this order, those of the three values that did not fit.
    const uint64_t extra_end = at + kCentralSize + name_size + extra_size;
    for (uint64_t e = at + kCentralSize + name_size; e + 4 <= extra_end;) {
      const uint16_t id = load<uint16_t>(data, e), size = load<uint16_t>(data, e + 2);
      const uint64_t stop = std::min<uint64_t>(e + 4 + size, extra_end);
      if (id == 1) {
        uint64_t field = e + 4;
        for (uint64_t* value : {&member.size, &member.packed, &member.header}) {
          if (*value != 0xffffffff || field + 8 > stop) continue;
          *value = load<uint64_t>(data, field);
          field += 8;
        }
      }
      e += 4 + uint64_t{size};
    }
    members_[std::move(member_name)] = member;
    at += kCentralSize + name_size + extra_size + comment_size;
  }
}

void ZipArchive::locate(Member& member, const std::string& member_name) const {
  const auto data = bytes_.data;
  if (!inside(member.header, kLocalSize, data.size()) || load<uint32_t>(data, member.header) != kLocalHeader)
    fail(fmt::format("member '{}' has no header at offset {}: the file is damaged", member_name, member.header));
  member.data =
      member.header + kLocalSize + load<uint16_t>(data, member.header + 26) + load<uint16_t>(data, member.header + 28);
  if (!inside(member.data, member.packed, data.size()))
    fail(fmt::format("member '{}' ({} bytes) reaches beyond the end of the file", member_name, member.packed));
  if (member.method == 0 && member.size != member.packed)
    fail(fmt::format("member '{}' is stored, but its two sizes differ", member_name));
}

void ZipArchive::check_overlaps(const Directory& directory) const {
  std::vector<std::pair<uint64_t, const std::pair<const std::string, Member>*>> order;
  order.reserve(members_.size());
  for (const auto& entry : members_) order.emplace_back(entry.second.header, &entry);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& [member_name, member] = *order[i].second;
    const uint64_t end = member.data + member.packed;
    const uint64_t limit = i + 1 < order.size() ? order[i + 1].first : directory.offset;
    if (end <= limit) continue;
    fail(fmt::format("member '{}' overlaps {}", member_name,
                     i + 1 < order.size() ? "member '" + order[i + 1].second->first + "'" : "the zip directory"));
  }
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> result;
  result.reserve(members_.size());
  for (const auto& [member_name, member] : members_) result.push_back(member_name);
  return result;
}

std::optional<Bytes> ZipArchive::find(std::string_view member_name) const {
  const auto it = members_.find(member_name);
  if (it == members_.end()) return std::nullopt;
  const Member& member = it->second;
  if (member.flags & 1) fail(fmt::format("member '{}' is encrypted", member_name));
  if (member.method == 8) return inflate(member, member_name);
  if (member.method != 0)
    fail(fmt::format("member '{}' has compression method {}, expected 0 (stored)", member_name, member.method));
  return Bytes{bytes_.data.subspan(member.data, member.size), bytes_.owner};
}

Bytes ZipArchive::read(std::string_view member_name) const {
  auto found = find(member_name);
  if (!found) fail(fmt::format("member '{}' is missing", member_name));
  return *std::move(found);
}

Bytes ZipArchive::inflate(const Member& member, std::string_view member_name) const {
  if (member.size / kMaxInflation > member.packed)
    fail(fmt::format("member '{}' declares {} bytes, more than its {} packed bytes can hold", member_name, member.size,
                     member.packed));
  const auto memory = allocate_bytes(member.size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw_runtime("zlib could not be started");
  const auto* in = reinterpret_cast<const Bytef*>(bytes_.data.data() + member.data);
  uint64_t in_left = member.packed, out_left = member.size;
  Bytef nothing = 0;  // zlib wants a pointer even for no bytes
  stream.next_in = const_cast<Bytef*>(in);
  stream.next_out = member.size ? reinterpret_cast<Bytef*>(memory.get()) : &nothing;
  int status = Z_OK;
  while (status == Z_OK) {
    const auto in_now = static_cast<uInt>(std::min<uint64_t>(in_left, 1u << 30));
    const auto out_now = static_cast<uInt>(std::min<uint64_t>(out_left, 1u << 30));
    stream.avail_in = in_now;
    stream.avail_out = out_now;
    status = ::inflate(&stream, Z_NO_FLUSH);
    in_left -= in_now - stream.avail_in;
    out_left -= out_now - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out_left != 0)
    fail(fmt::format("member '{}' does not inflate to its {} bytes: the file is damaged", member_name, member.size));
  return {{memory.get(), member.size}, memory};
}

bool ZipArchive::looks_like_zip(std::span<const std::byte> data) {
  if (data.size() >= 4) {
    const auto magic = load<uint32_t>(data, 0);
    if (magic == kLocalHeader || magic == kEnd) return true;
  }
  return data.size() >= kEndSize && load<uint32_t>(data, data.size() - kEndSize) == kEnd;
}

}  // namespace strata::capture
