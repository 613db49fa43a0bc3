// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/loose_json.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "core/support/utf8.h"

namespace strata::loose {
namespace {

/// How far a string may go on after a quote that did not look like its end.
constexpr std::ptrdiff_t kMaxTail = 1 << 13;
constexpr std::ptrdiff_t kMaxKey = 1 << 10;

// `p` is behind a comma in an object: does `"key":` come next?
Scan key_follows(const char* p, const char* end, Scan cut) {
  p = skip_space(p, end);
  if (p == end) return cut;
  if (*p == '}') return Scan::Ok;  // a trailing comma
  if (*p != '"') return Scan::Bad;
  for (const char* start = ++p; p != end; ++p) {
    if (*p == '\\' && p + 1 != end) {
      ++p;
    } else if (*p == '"') {
      p = skip_space(p + 1, end);
      return p == end ? cut : *p == ':' ? Scan::Ok : Scan::Bad;
    } else if (p - start > kMaxKey) {
      return Scan::Bad;
    }
  }
  return cut;
}

Scan close_follows(const char* p, const char* end, Scan cut) {
  p = skip_space(p, end);
  if (p == end) return cut == Scan::More ? Scan::More : Scan::Ok;
  return *p == ',' || *p == '}' || *p == ']' ? Scan::Ok : Scan::Bad;
}

Scan item_follows(const char* p, const char* end, Scan cut) {
  p = skip_space(p, end);
  if (p == end) return cut;
  const char c = *p;
  return c == '"' || c == '[' || c == '{' || c == ']' || c == '-' || (c >= '0' && c <= '9') || c == 't' || c == 'f' ||
                 c == 'n'
             ? Scan::Ok
             : Scan::Bad;
}

// Whether the string may end before `p`.
Scan may_end(const char* p, const char* end, bool last, Place place) {
  const Scan cut = last ? Scan::Bad : Scan::More;
  p = skip_space(p, end);
  if (p == end) return last ? Scan::Ok : Scan::More;
  if (place == Place::Key) return *p == ':' ? Scan::Ok : Scan::Bad;
  if (*p == '}' && place == Place::Member) return close_follows(p + 1, end, cut);
  if (*p == ']' && place == Place::Item) return close_follows(p + 1, end, cut);
  if (*p != ',') return Scan::Bad;
  return place == Place::Member ? key_follows(p + 1, end, cut) : item_follows(p + 1, end, cut);
}

const char* next_quote(const char* p, const char* end) {
  while (p != end && *p != '"') {
    if (*p == '\\' && ++p == end) break;
    ++p;
  }
  return p;
}

struct NoSink {
  void open(char) {}
  void close(char) {}
  void comma() {}
  void colon() {}
  void text(std::string_view) {}
  void scalar(std::string_view) {}
};

bool is_json_number(std::string_view word) {
  std::size_t i = word.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < word.size() && word[i] >= '0' && word[i] <= '9') ++i;
    return i > start;
  };
  const std::size_t first = i;
  if (!digits() || (word[first] == '0' && i > first + 1)) return false;
  if (i < word.size() && word[i] == '.' && (++i, !digits())) return false;
  if (i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
    ++i;
    if (i < word.size() && (word[i] == '+' || word[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == word.size();
}

struct JsonSink {
  std::string& out;
  void open(char c) { out += c; }
  void close(char c) { out += c; }
  void comma() { out += ','; }
  void colon() { out += ':'; }
  void text(std::string_view body) { append_string(out, body); }
  void scalar(std::string_view word) {
    if (word == "true" || word == "false" || word == "null" || is_json_number(word)) {
      out += word;
    } else {
      append_quoted(out, word);
    }
  }
};

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '"' || c == '\\')
      return false;
  return true;
}

constexpr std::uint32_t kReplacement = 0xfffd;

std::optional<std::uint32_t> hex4(std::string_view text) {
  std::uint32_t value = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (error != std::errc() || stop != text.data() + 4) return std::nullopt;
  return value;
}

// `rest` stands behind `\u`; returns how many bytes of it were used, 0 when it is no escape.
std::size_t unicode_escape(std::string_view rest, std::uint32_t& code) {
  const auto high = hex4(rest);
  if (!high) return 0;
  code = *high;
  if (code < 0xd800 || code > 0xdfff) return 4;
  const auto low = code < 0xdc00 && rest.substr(4).starts_with("\\u") ? hex4(rest.substr(6)) : std::nullopt;
  if (low && *low >= 0xdc00 && *low <= 0xdfff) {
    code = 0x10000 + ((code - 0xd800) << 10) + (*low - 0xdc00);
    return 10;
  }
  code = kReplacement;
  return 4;
}

// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char c = byte(0);
  const std::size_t length = c < 0x80                ? 1
                             : c >= 0xc2 && c < 0xe0 ? 2
                             : (c & 0xf0) == 0xe0    ? 3
                             : c >= 0xf0 && c < 0xf5 ? 4
                                                     : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (c == 0xe0 && byte(1) < 0xa0) return 0;
  if (c == 0xed && byte(1) >= 0xa0) return 0;
  if (c == 0xf0 && byte(1) < 0x90) return 0;
  if (c == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

// Copies one character of plain text, replacing what is no UTF-8; returns the bytes used.
std::size_t append_character(std::string& out, std::string_view rest) {
  const std::size_t length = utf8_length(rest);
  if (length == 0) {
    append_utf8(out, kReplacement);
    return 1;
  }
  out.append(rest.substr(0, length));
  return length;
}

// Resolves the escape behind a backslash; returns the bytes used. Unknown ones stand for themselves, backslash
// included.
std::size_t append_escape(std::string& out, std::string_view rest) {
  static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
  if (rest.empty()) {
    out += '\\';
    return 0;
  }
  if (const auto found = names.find(rest[0]); found != names.npos) {
    out += values[found];
    return 1;
  }
  std::uint32_t code = 0;
  if (const std::size_t used = rest[0] == 'u' ? unicode_escape(rest.substr(1), code) : 0) {
    append_utf8(out, code);
    return used + 1;
  }
  out += '\\';
  return 0;
}

}  // namespace

Scanned string_end(const char* open, const char* end, bool last, Place place) {
  const char* first = nullptr;
  for (const char* p = next_quote(open + 1, end); p != end; p = next_quote(p + 1, end)) {
    const Scan answer = may_end(p + 1, end, last, place);
    if (answer != Scan::Bad) return {answer, p};
    if (!first) first = p;
    if (p - first > kMaxTail) return {Scan::Ok, first};
  }
  if (!last && (!first || end - first <= kMaxTail)) return {Scan::More, end};
  return first ? Scanned{Scan::Ok, first} : Scanned{Scan::Bad, end};
}

Scanned value_end(const char* p, const char* end, bool last, Place outer) {
  return walk_value(p, end, last, NoSink(), outer);
}

std::optional<std::string_view> take_value(Cursor& cursor) {
  cursor.p = skip_space(cursor.p, cursor.end);
  const Scanned stop = value_end(cursor.p, cursor.end, true);
  if (stop.status != Scan::Ok) return std::nullopt;
  const std::string_view value(cursor.p, stop.at);
  cursor.p = stop.at;
  return value;
}

bool take_json(Cursor& cursor, std::string& out) {
  const Scanned stop = walk_value(cursor.p, cursor.end, true, JsonSink{out});
  cursor.p = stop.at;
  return stop.status == Scan::Ok;
}

void append_text(std::string& out, std::string_view body) {
  if (is_plain(body)) {
    out += body;
    return;
  }
  while (!body.empty()) {
    const std::size_t used = body[0] == '\\' ? 1 + append_escape(out, body.substr(1)) : append_character(out, body);
    body.remove_prefix(used);
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text[0];
    std::size_t used = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      used = append_character(out, text);
    }
    text.remove_prefix(used);
  }
  out += '"';
}

void append_string(std::string& out, std::string_view body) {
  if (is_plain(body)) {
    out += '"';
    out += body;
    out += '"';
    return;
  }
  std::string text;
  append_text(text, body);
  append_quoted(out, text);
}

std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') return value.substr(1, value.size() - 2);
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view value) {
  value = unquoted(value);
  std::int64_t result = 0;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || stop != value.data() + value.size()) return std::nullopt;
  return result;
}

std::optional<std::int64_t> parse_microseconds(std::string_view value) {
  value = unquoted(value);
  const bool negative = value.starts_with('-');
  if (negative || value.starts_with('+')) value.remove_prefix(1);
  // The digits of the mantissa without leading zeros, and where its point stands.
  char digits[40];
  int count = 0, exponent = 0, seen = 0;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < value.size() && value[i] != 'e' && value[i] != 'E'; ++i) {
    if (value[i] == '.') {
      if (fraction) return std::nullopt;
      fraction = true;
      continue;
    }
    if (value[i] < '0' || value[i] > '9' || ++seen > 1000) return std::nullopt;
    if (fraction) --exponent;
    if (count == 0 && value[i] == '0') continue;
    if (count < 40) {
      digits[count++] = value[i];
    } else {
      ++exponent;
    }
  }
  if (seen == 0) return std::nullopt;
  if (i < value.size()) {
    std::string_view text = value.substr(i + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    int more = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), more);
    if (error != std::errc() || stop != text.data() + text.size() || more < -9999 || more > 9999) return std::nullopt;
    exponent += more;
  }
  if (count == 0) return 0;
  exponent += 3;
  const int whole = count + exponent;  // digits before the point of the nanoseconds
  if (whole > 19) return std::nullopt;
  std::uint64_t result = 0;
  for (int d = 0; d < whole; ++d) result = result * 10 + static_cast<std::uint64_t>(d < count ? digits[d] - '0' : 0);
  if (whole >= 0 && whole < count && digits[whole] >= '5') ++result;
  if (result > std::uint64_t{1} << 61) return std::nullopt;
  return negative ? -static_cast<std::int64_t>(result) : static_cast<std::int64_t>(result);
}

std::optional<double> parse_number(std::string_view value) {
  value = unquoted(value);
  double result = 0;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || stop != value.data() + value.size()) return std::nullopt;
  return result;
}

}  // namespace strata::loose
