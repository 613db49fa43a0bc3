// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include <charconv>
#include <memory>

#include "core/support/error.h"

namespace strata::trace {
namespace {

/// Just enough JSON for lists of integers.
class ListParser {
 public:
  explicit ListParser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) throw FormatError(fmt::format("a list of ids lacks '{}'", wanted));
  }

  std::int64_t number() {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at_, end_, value);
    if (error != std::errc()) throw FormatError("a list of ids holds something that is no number");
    at_ = next;
    return value;
  }

  std::vector<std::int64_t> ids() {
    std::vector<std::int64_t> result;
    expect('[');
    if (take(']')) return result;
    do result.push_back(number());
    while (take(','));
    expect(']');
    return result;
  }

  void end() const {
    if (at_ != end_) throw FormatError("a list of ids goes on after its end");
  }

 private:
  const char* at_;
  const char* end_;
};

void append_ids(std::string& out, std::span<const std::int64_t> ids) {
  out += '[';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i) out += ',';
    char digits[24];
    const auto result = std::to_chars(digits, digits + sizeof digits, ids[i]);
    out.append(digits, result.ptr);
  }
  out += ']';
}

// Sums of untrusted numbers wrap instead of overflowing; a wrong result is caught where it is used.
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

std::string encode_ids(std::span<const std::int64_t> ids) {
  std::string out;
  append_ids(out, ids);
  return out;
}

std::vector<std::int64_t> decode_ids(std::string_view text) {
  ListParser parser(text);
  auto result = parser.ids();
  parser.end();
  return result;
}

std::string encode_operands(std::span<const std::vector<NodeId>> operands) {
  std::string out = "[";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i) out += ',';
    append_ids(out, operands[i]);
  }
  return out + ']';
}

std::vector<std::vector<NodeId>> decode_operands(std::string_view text) {
  ListParser parser(text);
  std::vector<std::vector<NodeId>> result;
  parser.expect('[');
  if (!parser.take(']')) {
    do result.push_back(parser.ids());
    while (parser.take(','));
    parser.expect(']');
  }
  parser.end();
  return result;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_signed(std::string& out, std::int64_t value) {
  put_varint(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

std::uint64_t ByteReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  throw FormatError("a packed number is too long");
}

std::int64_t ByteReader::signed_varint() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::string_view ByteReader::take(std::uint64_t count) {
  if (count > bytes_.size()) throw FormatError("packed data ends too early");
  const auto result = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return result;
}

std::string compress(std::string_view bytes, int level) {
  if (bytes.size() > kMaxContent) {
    throw_runtime(fmt::format("a trace entry has {} bytes; at most {} fit", bytes.size(), kMaxContent));
  }
  if (bytes.empty()) return {};
  // Traces hold many short texts: setting up a context would take longer than most of them.
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  if (!context) throw_runtime("not enough memory to compress");
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compressCCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size)) throw_runtime(fmt::format("compression failed: {}", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

std::string decompress(std::string_view frame) {
  if (frame.empty()) return {};
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxContent) {
    throw FormatError("compressed data has no valid header");
  }
  std::string out(size, '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) || got != size) throw FormatError("compressed data cannot be unpacked");
  return out;
}

std::string pack_lines(std::span<const SourceFileRecord::Line> lines) {
  std::string out;
  for (const auto& line : lines) {
    put_signed(out, line.number);
    put_varint(out, line.text.size());
    out += line.text;
  }
  return out;
}

std::vector<SourceFileRecord::Line> unpack_lines(std::string_view bytes) {
  std::vector<SourceFileRecord::Line> lines;
  for (ByteReader in(bytes); !in.done();) {
    auto& line = lines.emplace_back();
    line.number = in.signed_varint();
    line.text = in.take(in.varint());
  }
  return lines;
}

std::string pack_line_map(std::span<const LineMapEntry> entries) {
  std::string out;
  for (const auto& entry : entries) {
    put_signed(out, entry.first_line);
    put_signed(out, entry.last_line);
    put_varint(out, entry.nodes.size());
    for (const NodeId node : entry.nodes) put_signed(out, node);
  }
  return out;
}

std::vector<LineMapEntry> unpack_line_map(std::string_view bytes) {
  std::vector<LineMapEntry> entries;
  for (ByteReader in(bytes); !in.done();) {
    auto& entry = entries.emplace_back();
    entry.first_line = in.signed_varint();
    entry.last_line = in.signed_varint();
    const std::uint64_t count = in.varint();
    if (count > in.left()) throw FormatError("a line map ends too early");
    for (std::uint64_t i = 0; i < count; ++i) entry.nodes.push_back(in.signed_varint());
  }
  return entries;
}

void OrderEncoder::copy(std::int64_t position) {
  flush_insert();
  if (copy_count_ && position != copy_start_ + copy_count_) flush_copy();
  if (!copy_count_) copy_start_ = position;
  ++copy_count_;
}

void OrderEncoder::insert(const OrderEntry& entry) {
  flush_copy();
  put_signed(pending_, wrapping_sub(entry.node, before_.node));
  put_signed(pending_, wrapping_sub(entry.version, before_.version));
  before_ = entry;
  ++inserted_;
}

void OrderEncoder::flush_copy() {
  if (!copy_count_) return;
  put_varint(out_, static_cast<std::uint64_t>(copy_count_) << 1);
  put_signed(out_, copy_start_ - copy_end_);
  copy_end_ = copy_start_ + copy_count_;
  copy_count_ = 0;
}

void OrderEncoder::flush_insert() {
  if (!inserted_) return;
  put_varint(out_, static_cast<std::uint64_t>(inserted_) << 1 | 1);
  out_ += pending_;
  pending_.clear();
  inserted_ = 0;
}

std::string OrderEncoder::finish() {
  flush_copy();
  flush_insert();
  return std::move(out_);
}

std::vector<OrderEntry> decode_order(std::string_view bytes, std::span<const OrderEntry> base, std::size_t limit) {
  std::vector<OrderEntry> result;
  std::int64_t copy_end = 0;
  OrderEntry entry;
  for (ByteReader in(bytes); !in.done();) {
    const std::uint64_t op = in.varint();
    const std::uint64_t count = op >> 1;
    if (count > limit - result.size()) throw FormatError("a snapshot holds more nodes than it says");
    if (op & 1) {
      for (std::uint64_t i = 0; i < count; ++i) {
        entry.node = wrapping_add(entry.node, in.signed_varint());
        entry.version = wrapping_add(entry.version, in.signed_varint());
        result.push_back(entry);
      }
      continue;
    }
    const std::int64_t start = wrapping_add(copy_end, in.signed_varint());
    if (start < 0 || static_cast<std::uint64_t>(start) > base.size() || count > base.size() - start) {
      throw FormatError("a snapshot refers to nodes that the one before does not have");
    }
    result.insert(result.end(), base.begin() + start, base.begin() + start + count);
    copy_end = start + static_cast<std::int64_t>(count);
  }
  return result;
}

}  // namespace strata::trace
