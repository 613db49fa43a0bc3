// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The encodings inside columns: lists of ids as JSON text, varints, zstd frames, and the order of a snapshot.
/// Decoders take any bytes: they throw `FormatError` and never read or allocate beyond what the input explains.

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/records.h"

namespace strata::trace {

/// Says which encoding is broken; the reader turns it into a User error with the path.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `[1,2,3]`
std::string encode_ids(std::span<const std::int64_t> ids);
std::vector<std::int64_t> decode_ids(std::string_view text);
/// `[[1],[2,3]]`
std::string encode_operands(std::span<const std::vector<NodeId>> operands);
std::vector<std::vector<NodeId>> decode_operands(std::string_view text);

/// LEB128; signed numbers are zigzagged first.
void put_varint(std::string& out, std::uint64_t value);
void put_signed(std::string& out, std::int64_t value);

/// Reads varints and bytes from a buffer that it does not own.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::size_t left() const { return bytes_.size(); }
  std::uint64_t varint();
  std::int64_t signed_varint();
  std::string_view take(std::uint64_t count);

 private:
  std::string_view bytes_;
};

/// Largest content that a frame may hold, in bytes.
inline constexpr std::size_t kMaxContent = std::size_t{256} << 20;
/// One zstd frame with its content size. Throws Runtime when `bytes` is larger than kMaxContent.
std::string compress(std::string_view bytes, int level);
/// Empty input gives empty output.
std::string decompress(std::string_view frame);

/// Packed forms that are then compressed.
std::string pack_lines(std::span<const SourceFileRecord::Line> lines);
std::vector<SourceFileRecord::Line> unpack_lines(std::string_view bytes);
std::string pack_line_map(std::span<const LineMapEntry> entries);
std::vector<LineMapEntry> unpack_line_map(std::string_view bytes);

/// A place in a snapshot: the node, and the row of table `node` that says what it is like there.
struct OrderEntry {
  NodeId node = 0;
  Id version = kNone;
  bool operator==(const OrderEntry&) const = default;
};

/// Builds an order blob: runs copied from the base, and runs of new entries.
///   op := varint(count << 1)     signed(start - end of the copy before)                      copy from the base
///       | varint(count << 1 | 1) count * (signed(node - node before) signed(version - version before))
class OrderEncoder {
 public:
  /// The entry that stands at `position` in the base.
  void copy(std::int64_t position);
  void insert(const OrderEntry& entry);
  std::string finish();

 private:
  void flush_copy();
  void flush_insert();
  std::string out_, pending_;
  std::int64_t copy_start_ = 0, copy_count_ = 0, copy_end_ = 0, inserted_ = 0;
  OrderEntry before_;
};

/// Applies an order blob to `base`; at most `limit` entries may come out.
std::vector<OrderEntry> decode_order(std::string_view bytes, std::span<const OrderEntry> base, std::size_t limit);

}  // namespace strata::trace
