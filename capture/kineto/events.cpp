// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/kineto/events.h"

#include <algorithm>
#include <array>
#include <functional>

#include "core/support/loose_json.h"

namespace strata::capture::kineto {
namespace {

using namespace loose;

constexpr std::size_t kMaxKept = 4096;

constexpr std::array<std::string_view, 9> kHostCategories = {"cpu_op",       "user_annotation", "python_function",
                                                             "cuda_runtime", "cuda_driver",     "cpu_instant_event",
                                                             "xpu_runtime",  "mtia_runtime",    "privateuse1_runtime"};
constexpr std::array<std::string_view, 6> kDeviceCategories = {"kernel",    "gpu_memcpy", "gpu_memset",
                                                               "cuda_sync", "cuda_event", "gpu_user_annotation"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string text_of(std::string_view body) {
  std::string out;
  append_text(out, body);
  return out;
}

/// Parses the events of one block one after another.
class BlockParser {
 public:
  explicit BlockParser(const Block& block) : block_(block) {}

  ParsedBlock run() {
    out_.events.reserve(block_.events.size());
    for (std::size_t i = 0; i < block_.events.size(); ++i) {
      index_ = i;
      event(block_.text(block_.events[i]));
    }
    out_.problems.insert(out_.problems.begin(), block_.problems.begin(), block_.problems.end());
    out_.part = block_.part;
    out_.base = block_.base;
    return std::move(out_);
  }

 private:
  /// The members of an event as they stand in the text, strings without quotes.
  struct Members {
    std::string_view phase, category, name, pid, tid, time, duration, id, args;
    bool parsed_args = false;
  };

  void event(std::string_view text) {
    Cursor cursor{text.data(), text.data() + text.size()};
    Members m;
    record_ = trace::EventRecord();
    args_.clear();
    extra_.clear();
    device_ = -1;
    const bool sound = each_member(cursor, [&](std::string_view key, Cursor& value) { return member(m, key, value); });
    if (!sound) return problem("bad_event", "an event is not a JSON object: skipped", text);
    if (!m.args.empty() && !m.parsed_args) {
      Cursor args{m.args.data(), m.args.data() + m.args.size()};
      if (!read_args(m, args)) return problem("bad_event", "the args of an event cannot be read: skipped", text);
    }
    count(m);
    take(m, text);
  }

  bool member(Members& m, std::string_view key, Cursor& value) {
    if (key == "args") return member_args(m, value);
    std::string_view* known = find_member(m, key);
    if (!known) {
      begin_extra(key);
      return take_json(value, extra_);
    }
    const auto text = take_value(value);
    if (text) *known = unquoted(*text);
    return text.has_value();
  }

  static std::string_view* find_member(Members& m, std::string_view key) {
    switch (key.size()) {
      case 2:
        return key == "ph" ? &m.phase : key == "ts" ? &m.time : key == "id" ? &m.id : nullptr;
      case 3:
        return key == "cat"   ? &m.category
               : key == "pid" ? &m.pid
               : key == "tid" ? &m.tid
               : key == "dur" ? &m.duration
                              : nullptr;
      case 4:
        return key == "name" ? &m.name : nullptr;
      default:
        return nullptr;
    }
  }

  // The args come last as a rule; what they mean depends on the category.
  bool member_args(Members& m, Cursor& value) {
    if (*value.p == '{' && !m.phase.empty() && !m.category.empty()) {
      m.parsed_args = true;
      return read_args(m, value);
    }
    const auto text = take_value(value);
    if (text) m.args = *text;
    return text.has_value();
  }

  void begin_arg(std::string_view key) {
    args_ += args_.empty() ? '{' : ',';
    append_string(args_, key);
    args_ += ':';
  }
  // Members that stand beside the args come behind them, marked.
  void begin_extra(std::string_view key) {
    extra_ += ',';
    append_string(extra_, "@" + std::string(key));
    extra_ += ':';
  }

  bool read_args(const Members& m, Cursor& cursor) {
    if (*cursor.p != '{') {
      if (std::string_view(cursor.p, cursor.end) == "null") return true;
      begin_extra("args");
      return take_json(cursor, extra_);
    }
    name_value_ = {};
    return each_member(cursor, [&](std::string_view key, Cursor& value) { return arg(m, key, value); });
  }

  bool arg(const Members& m, std::string_view key, Cursor& value) {
    if (m.phase == "M") {
      if (key != "name" && key != "labels" && key != "sort_index") return take_value(value).has_value();
      const auto text = take_value(value);
      if (text) name_value_ = unquoted(*text);
      return text.has_value();
    }
    // What an export added is said by columns.
    if (key.starts_with("strata.")) return take_value(value).has_value();
    if (std::int64_t* column = column_of(m, key)) {
      Cursor ahead = value;
      const auto text = take_value(ahead);
      if (!text) return false;
      if (const auto number = parse_integer(*text)) {
        *column = *number;
        if (*value.p != '"' && has_meaning(*column, column) && is_own_spelling(key)) {
          value = ahead;
          return true;
        }
      }
    }
    begin_arg(key);
    return take_json(value, args_);
  }

  std::int64_t* column_of(const Members& m, std::string_view key) {
    switch (key.size()) {
      case 6:
        if (!on_device(m)) return nullptr;
        return key == "stream" ? &record_.stream : key == "device" ? &device_ : nullptr;
      case 11:
        return key == "correlation"                           ? &record_.correlation
               : key == "External id" || key == "external id" ? &record_.external
                                                              : nullptr;
      case 15:
        return key == "Sequence number" ? &record_.sequence : nullptr;
      default:
        return nullptr;
    }
  }

  // Whether the column says what the argument said: 0 and -1 mean that there was none.
  bool has_meaning(std::int64_t value, const std::int64_t* column) const {
    if (column == &device_) return false;
    return column == &record_.correlation || column == &record_.external ? value != 0 : value >= 0;
  }
  static bool is_own_spelling(std::string_view key) { return key != "external id"; }

  static bool on_device(const Members& m) {
    return is_one_of(m.category, kDeviceCategories) || m.category.starts_with("gpu_");
  }

  void count(const Members& m) {
    for (EventCount& c : out_.counts)
      if (c.phase == m.phase && c.category == m.category) {
        ++c.number;
        return;
      }
    out_.counts.push_back({std::string(m.phase), std::string(m.category), 1});
  }

  void take(const Members& m, std::string_view text) {
    const char phase = m.phase.size() == 1 ? m.phase[0] : '?';
    switch (phase) {
      case 'X':
      case 'i':
      case 'I':
      case 'C':
      case 'B':
      case 'E':
        return slice(m, phase, text);
      case 's':
      case 't':
      case 'f':
        return flow(m, phase, text);
      case 'M':
        return name(m);
      default:
        problem("", "", text, "event:" + text_of(m.phase));
    }
  }

  void slice(const Members& m, char phase, std::string_view text) {
    const auto time = parse_microseconds(m.time);
    if (!time) return problem("bad_time", "an event has no time that can be read: skipped", text);
    record_.start_ns = *time;
    if (phase == 'X') record_.duration_ns = duration(m.duration);
    if (phase != 'X') record_.phase = phase == 'I' ? 'i' : phase;
    if (!m.id.empty()) {
      begin_extra("id");
      append_string(extra_, m.id);
    }
    append_text(record_.name, m.name);
    append_text(record_.category, m.category);
    if (m.category.empty() && m.pid == "CPU functions") record_.category = "cpu_op";
    if (m.category.empty() && m.pid == "CUDA functions") record_.category = "kernel";
    record_.clock = "unix";
    record_.track = place(m);
    if (args_.empty() && !extra_.empty()) extra_[0] = '{';
    args_ += extra_;
    if (!args_.empty()) args_ += '}';
    record_.args = args_;
    out_.events.push_back(std::move(record_));
  }

  static std::int64_t duration(std::string_view text) {
    const auto value = parse_microseconds(text);
    return value ? std::max<std::int64_t>(*value, 0) : -1;
  }

  // The row, with what this event says about it.
  std::int64_t place(const Members& m) {
    const std::int64_t index = track(m.pid, m.tid);
    LocalTrack& track = out_.tracks[static_cast<std::size_t>(index)];
    const auto tid = parse_integer(m.tid);
    record_.thread = tid.value_or(0);
    if (on_device(m)) {
      track.on_device = true;
      if (device_ >= 0) track.device = device_;
      if (record_.stream < 0 && m.category == "gpu_user_annotation") record_.stream = tid.value_or(-1);
      if (record_.stream >= 0) track.stream = record_.stream;
    } else if (!track.on_host) {
      track.on_host = is_one_of(m.category, kHostCategories);
    }
    return index;
  }

  std::int64_t track(std::string_view pid, std::string_view tid) {
    const auto is = [&](const LocalTrack& t) { return t.pid == pid && t.tid == tid; };
    if (last_track_ < out_.tracks.size() && is(out_.tracks[last_track_])) return static_cast<std::int64_t>(last_track_);
    const auto found = std::find_if(out_.tracks.begin(), out_.tracks.end(), is);
    last_track_ = static_cast<std::size_t>(found - out_.tracks.begin());
    if (found == out_.tracks.end()) {
      out_.tracks.emplace_back();
      out_.tracks.back().pid = pid;
      out_.tracks.back().tid = tid;
    }
    return static_cast<std::int64_t>(last_track_);
  }

  void flow(const Members& m, char phase, std::string_view text) {
    if (phase == 't') return problem("", "", text, "event:t");
    const std::int64_t id =
        parse_integer(m.id).value_or(static_cast<std::int64_t>(std::hash<std::string_view>()(m.id) >> 1));
    if (m.category == "ac2g") {
      (phase == 's' ? out_.launch_starts : out_.launch_ends).push_back(id);
      return;
    }
    const auto time = parse_microseconds(m.time);
    if (!time) return problem("bad_time", "a flow has no time that can be read: skipped", text);
    FlowEnd end;
    append_text(end.category, m.category.empty() ? m.name : m.category);
    end.id = id;
    end.time = *time;
    end.track = static_cast<std::int32_t>(track(m.pid, m.tid));
    end.start = phase == 's';
    out_.flows.push_back(std::move(end));
  }

  void name(const Members& m) {
    out_.names.push_back({text_of(m.name), std::string(m.pid), std::string(m.tid), text_of(name_value_)});
  }

  /// A kind of its own for what is kept but no problem.
  void problem(std::string kind, std::string message, std::string_view text, std::string raw_kind = {}) {
    const Block::Range& range = block_.events[index_];
    Problem p;
    p.kind = raw_kind.empty() ? std::move(kind) : std::move(raw_kind);
    p.message = std::move(message);
    for (; counted_ < range.begin; ++counted_) lines_ += block_.bytes[counted_] == '\n';
    p.line = block_.first_line + lines_;
    p.ordinal = block_.first_event + static_cast<std::int64_t>(index_);
    p.text = text.substr(0, kMaxKept);
    out_.problems.push_back(std::move(p));
  }

  const Block& block_;
  ParsedBlock out_;
  std::size_t index_ = 0, counted_ = 0, last_track_ = 0;
  std::int64_t lines_ = 0;
  trace::EventRecord record_;
  std::string args_, extra_;
  std::string_view name_value_;
  std::int64_t device_ = -1;
};

}  // namespace

ParsedBlock parse_block(const Block& block) { return BlockParser(block).run(); }

}  // namespace strata::capture::kineto
