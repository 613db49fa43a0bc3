// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/kineto/splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/support/loose_json.h"

namespace strata::capture::kineto {
namespace {

using namespace loose;

/// A member or an event larger than this is broken: the profiler writes nothing like it.
constexpr std::size_t kMaxMember = std::size_t{16} << 20;
constexpr std::size_t kMaxEvent = std::size_t{64} << 20;
/// Of something broken, what is kept.
constexpr std::size_t kMaxKept = 4096;

constexpr std::array<std::string_view, 12> kEventKeys = {"ph",  "name", "cat", "pid", "tid", "ts",
                                                         "dur", "args", "id",  "s",   "bp",  "tts"};
constexpr std::array<std::string_view, 6> kTopKeys = {"traceName",        "displayTimeUnit", "baseTimeNanoseconds",
                                                      "deviceProperties", "schemaVersion",   "distributedInfo"};

// Reads `"key" :` at `p`; empty if something else stands there.
std::string_view key_at(const char* p, const char* end) {
  p = skip_space(p, end);
  if (p == end || *p != '"') return {};
  const char* close = static_cast<const char*>(std::memchr(p + 1, '"', static_cast<std::size_t>(end - p - 1)));
  if (!close || close - p > 64) return {};
  const char* colon = skip_space(close + 1, end);
  return colon != end && *colon == ':' ? std::string_view(p + 1, close) : std::string_view();
}

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Whether an event begins behind the brace at `p`.
const char* event_behind(const char* p, const char* end) {
  p = skip_space(p + 1, end);
  if (p == end || *p != ',') return nullptr;
  p = skip_space(p + 1, end);
  if (p == end || *p != '{') return nullptr;
  return is_one_of(key_at(p + 1, end), kEventKeys) ? p : nullptr;
}

bool list_ends_at(const char* p, const char* end) {
  p = skip_space(p + 1, end);
  return p != end && *p == ',' && is_one_of(key_at(p + 1, end), kTopKeys);
}

}  // namespace

Splitter::Splitter(Source& source, std::size_t block_bytes) : source_(source), block_bytes_(block_bytes) {}

bool Splitter::more() {
  if (at_end_) return false;
  const std::size_t before = buffer_.size();
  // What is not done with is scanned again, so a large piece is read in larger and larger steps.
  const std::size_t wanted = std::max(block_bytes_, before - pos_);
  buffer_.resize(before + wanted);
  std::size_t have = 0;
  while (have < wanted) {
    const std::size_t n = source_.read(buffer_.data() + before + have, wanted - have);
    if (n == 0) break;
    have += n;
  }
  buffer_.resize(before + have);
  at_end_ = have < wanted;
  return have > 0;
}

void Splitter::drop(std::size_t to) {
  line_ = line_at(to);
  counted_to_ = counted_ = 0;
  buffer_.erase(0, to);
  pos_ -= to;
}

// Asked in ascending order; goes on counting where the last answer stopped.
std::int64_t Splitter::line_at(std::size_t at) {
  const auto begin = buffer_.begin();
  if (at < counted_to_) counted_to_ = counted_ = 0;
  counted_ += static_cast<std::size_t>(
      std::count(begin + static_cast<std::ptrdiff_t>(counted_to_), begin + static_cast<std::ptrdiff_t>(at), '\n'));
  counted_to_ = at;
  return line_ + static_cast<std::int64_t>(counted_);
}

// More bytes for a piece that goes on beyond the buffer; what is complete is handed out first (`full_`). False when
// there were none the last time already.
bool Splitter::ensure() {
  if (at_end_) return false;
  if (!ranges_.empty()) {
    full_ = true;
    return true;
  }
  if (pos_ > 0) drop(pos_);
  more();
  return true;
}

void Splitter::problem(std::string kind, std::string message, std::size_t at, std::size_t keep) {
  Problem problem;
  problem.kind = std::move(kind);
  problem.message = std::move(message);
  problem.line = line_at(at);
  problem.ordinal = events_;
  problem.text = buffer_.substr(at, std::min(keep, kMaxKept));
  problems_.push_back(std::move(problem));
}

std::unique_ptr<Block> Splitter::hand_out() {
  auto block = std::make_unique<Block>();
  block->first_line = line_;
  block->first_event = events_ - static_cast<std::int64_t>(ranges_.size());
  block->events = std::move(ranges_);
  block->problems = std::move(problems_);
  block->part = source_.part();
  block->base = base_;
  ranges_.clear();
  problems_.clear();
  std::string tail = buffer_.substr(pos_);
  line_ = line_at(pos_);
  counted_to_ = counted_ = 0;
  block->bytes = std::move(buffer_);
  buffer_ = std::move(tail);
  buffer_.reserve(block_bytes_ * 5 / 4);
  pos_ = 0;
  full_ = false;
  return block;
}

std::unique_ptr<Block> Splitter::next() {
  while (!full_ && state_ != State::Done && step()) {
  }
  if (!full_) state_ = State::Done;
  if (ranges_.empty() && problems_.empty()) return nullptr;
  return hand_out();
}

// Deals with one piece at `pos_`; false at the end of everything.
bool Splitter::step() {
  pos_ = static_cast<std::size_t>(skip_space(data() + pos_, end()) - data());
  if (pos_ == buffer_.size()) return ensure() || cut_short();
  switch (state_) {
    case State::Start:
      return start();
    case State::Members:
      return member();
    case State::Events:
      return event();
    default:
      return false;
  }
}

bool Splitter::cut_short() {
  if (state_ == State::Events || state_ == State::Members) {
    problem("truncated", "the file ends in the middle: what comes before was read", buffer_.size());
  }
  return false;
}

bool Splitter::start() {
  // A byte order mark
  if (buffer_.compare(pos_, 3, "\xef\xbb\xbf") == 0) {
    pos_ += 3;
    return true;
  }
  list_ = buffer_[pos_] == '[';
  if (!list_ && buffer_[pos_] != '{') return false;
  has_events_ = list_;
  state_ = list_ ? State::Events : State::Members;
  ++pos_;
  return true;
}

bool Splitter::member() {
  const char c = buffer_[pos_];
  if (c == ',') {
    ++pos_;
    return true;
  }
  if (c == '}') return finish();
  if (c != '"') return find_events();
  const Scanned close = string_end(data() + pos_, end(), at_end_, Place::Key);
  if (close.status == Scan::More) return ensure();
  if (close.status == Scan::Bad) return find_events();
  const char* colon = skip_space(close.at + 1, end());
  const char* value = colon == end() ? colon : skip_space(colon + 1, end());
  if (value == end()) return ensure() || cut_short();
  if (*colon != ':') return find_events();
  const std::string key(data() + pos_ + 1, close.at);
  if (key == "traceEvents" && *value == '[') {
    has_events_ = true;
    state_ = State::Events;
    pos_ = static_cast<std::size_t>(value + 1 - data());
    return true;
  }
  const Scanned stop = value_end(value, end(), at_end_);
  if (stop.status == Scan::More && buffer_.size() - pos_ < kMaxMember) return ensure();
  if (stop.status == Scan::Ok) {
    // What follows must look like the end of a member too, else the value is broken further on.
    const char* after = skip_space(stop.at, end());
    if (after == end() && !at_end_) return ensure();
    if (after == end() || *after == ',' || *after == '}') {
      metadata_.emplace_back(key, std::string(value, stop.at));
      if (key == "baseTimeNanoseconds") base_ = parse_integer(metadata_.back().second);
      pos_ = static_cast<std::size_t>(stop.at - data());
      return true;
    }
  }
  return find_events();
}

// Metadata that users add stands in the file as it is. When it is broken, the events are what matters.
bool Splitter::find_events() {
  problem("bad_metadata", "a top-level member cannot be read: skipped", pos_, 256);
  if (has_events_) return find_member();
  static constexpr std::string_view name = "\"traceEvents\"";
  for (;;) {
    for (std::size_t at = buffer_.find(name, pos_); at != std::string::npos; at = buffer_.find(name, at + 1)) {
      const char* p = skip_space(data() + at + name.size(), end());
      if (p == end() || *p != ':') continue;
      p = skip_space(p + 1, end());
      if (p == end() || *p != '[') continue;
      pos_ = at;
      return true;
    }
    // Enough is left for a match that straddles the edge.
    pos_ = std::max(pos_, buffer_.size() - std::min<std::size_t>(buffer_.size(), 4096));
    if (!ensure()) return false;
  }
}

// Behind the events: on to the next member that is known.
bool Splitter::find_member() {
  while (!at_end_ && buffer_.size() - pos_ < kMaxMember) more();
  for (std::size_t at = buffer_.find('"', pos_ + 1); at != std::string::npos; at = buffer_.find('"', at + 1)) {
    if (!is_one_of(key_at(data() + at, end()), kTopKeys)) continue;
    pos_ = at;
    return true;
  }
  return false;
}

bool Splitter::event() {
  const char c = buffer_[pos_];
  if (c == ',') {
    ++pos_;
    return true;
  }
  if (c == ']') {
    ++pos_;
    state_ = State::Members;
    return list_ ? finish() : true;
  }
  const Scanned stop = value_end(data() + pos_, end(), at_end_, Place::Item);
  if (stop.status == Scan::Ok) {
    const std::size_t stop_at = static_cast<std::size_t>(stop.at - data());
    const char* after = skip_space(stop.at, end());
    if (after == end() && !at_end_) return ensure();
    if (after == end() || *after == ',' || *after == ']' || *after == '{') {
      ranges_.push_back({pos_, stop_at});
      ++events_;
      pos_ = stop_at;
      return true;
    }
  }
  if (stop.status == Scan::More && buffer_.size() - pos_ < kMaxEvent) return ensure();
  if (at_end_ && stop.at == end()) {
    problem("truncated", "the file ends in the middle of an event: what comes before was read", pos_, kMaxKept);
    return false;
  }
  return resync();
}

// Goes on at the next thing that looks like an event or the end of the list.
bool Splitter::resync() {
  const std::size_t begin = pos_;
  std::size_t from = pos_ + 1;
  for (;;) {
    for (std::size_t at = buffer_.find_first_of("}]", from); at != std::string::npos;
         at = buffer_.find_first_of("}]", at + 1)) {
      const char* p = data() + at;
      const char* event = *p == '}' ? event_behind(p, end()) : nullptr;
      if (!event && !(*p == ']' && list_ends_at(p, end()))) continue;
      const std::size_t stop = *p == ']' ? at : at + 1;
      problem("bad_event", "an event cannot be read: skipped", begin, stop - begin);
      ++events_;
      pos_ = stop;
      return true;
    }
    const std::size_t tail = std::min<std::size_t>(buffer_.size() - begin, 4096);
    from = std::max(begin + 1, buffer_.size() - tail);
    if (buffer_.size() - begin > kMaxEvent || at_end_ || !more()) break;
  }
  problem("bad_event", "an event cannot be read and none was found behind it", begin, buffer_.size() - begin);
  return false;
}

bool Splitter::finish() {
  state_ = State::Done;
  const char* rest = skip_space(data() + pos_ + (list_ ? 0 : 1), end());
  if (rest != end())
    problem("trailing_bytes", "there is more behind the end of the profile: perhaps two processes wrote to one file",
            static_cast<std::size_t>(rest - data()));
  return false;
}

}  // namespace strata::capture::kineto
