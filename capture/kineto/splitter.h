// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Cuts a profile into events without reading it whole: it finds where `traceEvents` begins and each event in it ends,
/// and hands out blocks of about a megabyte.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/kineto/source.h"

namespace strata::capture::kineto {

/// Something that could not be used.
struct Problem {
  std::string kind, message;
  std::int64_t line = 0;     ///< from 1
  std::int64_t ordinal = 0;  ///< of the event, from 0
  std::string text;          ///< as it stands in the file, as much as is worth keeping; empty: nothing to keep
};

/// Part of a file with the events in it.
struct Block {
  struct Range {
    std::size_t begin, end;
  };
  std::string bytes;
  std::vector<Range> events;
  std::int64_t first_line = 1;   ///< line of the first byte
  std::int64_t first_event = 0;  ///< ordinal of the first event
  std::vector<Problem> problems;
  double part = 0;                   ///< of the file that was read
  std::optional<std::int64_t> base;  ///< `baseTimeNanoseconds`, as far as it was read

  std::string_view text(const Range& range) const {
    return std::string_view(bytes).substr(range.begin, range.end - range.begin);
  }
};

class Splitter {
 public:
  explicit Splitter(Source& source, std::size_t block_bytes = std::size_t{1} << 20);

  /// The next block, null at the end. A block may have only problems.
  std::unique_ptr<Block> next();

  /// Whether it is the bare list of the older profiler.
  bool is_list() const { return list_; }
  /// Whether there was a list of events at all.
  bool has_events() const { return has_events_; }
  /// Top-level members but the events, as they stand in the file. Complete after `next` gave null.
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }

 private:
  enum class State { Start, Members, Events, Done };
  bool more();
  bool ensure();
  void drop(std::size_t to);
  std::int64_t line_at(std::size_t at);
  void problem(std::string kind, std::string message, std::size_t at, std::size_t keep = 0);
  std::unique_ptr<Block> hand_out();
  bool step();
  bool start();
  bool member();
  bool member_value(const std::string& key);
  bool find_events();
  bool find_member();
  bool event();
  bool resync();
  bool finish();
  bool cut_short();
  const char* data() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + buffer_.size(); }

  Source& source_;
  std::size_t block_bytes_;
  State state_ = State::Start;
  bool list_ = false, has_events_ = false, at_end_ = false, full_ = false;
  std::string buffer_;                        ///< what was read and not handed out
  std::size_t pos_ = 0;                       ///< what is before was dealt with
  std::int64_t line_ = 1;                     ///< of the first byte of the buffer
  std::size_t counted_to_ = 0, counted_ = 0;  ///< lines counted in the buffer
  std::int64_t events_ = 0;
  std::optional<std::int64_t> base_;
  std::vector<Block::Range> ranges_;
  std::vector<Problem> problems_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace strata::capture::kineto
