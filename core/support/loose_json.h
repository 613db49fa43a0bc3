// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// JSON as C++ streams and string formatting write it, profilers above all: quotes inside strings that nobody escaped,
/// bare `nan` and `inf`, control bytes, trailing commas. A quote ends a string only if what follows can follow a string
/// there.
///
/// Every function works on a part of a file: `last` says that nothing comes after `end`. With `last` false the answer
/// `More` means that it depends on bytes that are not there yet.

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::loose {

enum class Scan { Ok, More, Bad };
struct Scanned {
  Scan status;
  const char* at;
};

/// Where a string stands; what may follow it depends on that.
enum class Place { Key, Member, Item };

inline constexpr int kMaxDepth = 512;

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline const char* skip_space(const char* p, const char* end) {
  while (p != end && is_space(*p)) ++p;
  return p;
}

/// `open` is the opening quote; `at` of the answer the closing one.
Scanned string_end(const char* open, const char* end, bool last, Place place);

/// The end of a number or word.
inline const char* scalar_end(const char* p, const char* end) {
  const auto word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '+' || c == '_' || c == '#';
  };
  while (p != end && word(*p)) ++p;
  return p;
}

/// Walks one value from `p` (spaces before it are skipped) and tells `sink` what is in it:
/// `open(char)`, `close(char)`, `comma()`, `colon()`, `text(body)`, `scalar(word)`. `at` is the end of the value.
/// `outer` says where the value itself stands.
template <class Sink>
Scanned walk_value(const char* p, const char* end, bool last, Sink&& sink, Place outer = Place::Member) {
  const Scan cut = last ? Scan::Bad : Scan::More;
  std::bitset<kMaxDepth> objects;
  int depth = 0;
  bool key = false, comma = false;
  const auto in_object = [&] { return depth > 0 && objects[static_cast<std::size_t>(depth - 1)]; };
  for (;;) {
    p = skip_space(p, end);
    if (p == end) return {cut, p};
    if (depth > 0 && (*p == '}' || *p == ']')) {
      if ((*p == '}') != in_object() || (in_object() && !key)) return {Scan::Bad, p};
      sink.close(*p++);
      --depth;
    } else {
      if (comma) sink.comma();
      comma = false;
      if (*p == '"') {
        const Place place = key ? Place::Key : depth == 0 ? outer : in_object() ? Place::Member : Place::Item;
        const Scanned close = string_end(p, end, last, place);
        if (close.status != Scan::Ok) return close;
        sink.text(std::string_view(p + 1, close.at));
        p = close.at + 1;
        if (key) {
          p = skip_space(p, end);
          if (p == end) return {cut, p};
          if (*p != ':') return {Scan::Bad, p};
          sink.colon();
          ++p;
          key = false;
          continue;
        }
      } else if (key) {
        return {Scan::Bad, p};
      } else if (*p == '{' || *p == '[') {
        if (depth == kMaxDepth) return {Scan::Bad, p};
        objects[static_cast<std::size_t>(depth++)] = key = *p == '{';
        sink.open(*p++);
        continue;
      } else {
        const char* stop = scalar_end(p, end);
        if (stop == p) return {Scan::Bad, p};
        if (stop == end && !last) return {Scan::More, p};
        sink.scalar(std::string_view(p, stop));
        p = stop;
      }
    }
    if (depth == 0) return {Scan::Ok, p};
    p = skip_space(p, end);
    if (p == end) return {cut, p};
    key = in_object();
    if (*p == ',') {
      comma = true;
      ++p;
    } else if (*p != '}' && *p != ']') {
      return {Scan::Bad, p};
    }
  }
}

/// The end of the value at `p`.
Scanned value_end(const char* p, const char* end, bool last, Place outer = Place::Member);

/// A place in a text that is complete.
struct Cursor {
  const char* p;
  const char* end;
};

/// Skips the value at the cursor and returns its text; nullopt when it is broken.
std::optional<std::string_view> take_value(Cursor& cursor);
/// Appends the value at the cursor as valid JSON without spaces; false when it is broken.
bool take_json(Cursor& cursor, std::string& out);

/// Calls `visit(key, cursor)` for each member of the object at the cursor; `visit` consumes the value and returns
/// whether it was sound. False when anything was broken.
template <class F>
bool each_member(Cursor& cursor, F&& visit) {
  cursor.p = skip_space(cursor.p, cursor.end);
  if (cursor.p == cursor.end || *cursor.p != '{') return false;
  ++cursor.p;
  for (;;) {
    cursor.p = skip_space(cursor.p, cursor.end);
    if (cursor.p == cursor.end) return false;
    if (*cursor.p == '}') break;
    if (*cursor.p != '"') return false;
    const Scanned close = string_end(cursor.p, cursor.end, true, Place::Key);
    if (close.status != Scan::Ok) return false;
    const std::string_view key(cursor.p + 1, close.at);
    cursor.p = skip_space(close.at + 1, cursor.end);
    if (cursor.p == cursor.end || *cursor.p != ':') return false;
    cursor.p = skip_space(cursor.p + 1, cursor.end);
    if (cursor.p == cursor.end || !visit(key, cursor)) return false;
    cursor.p = skip_space(cursor.p, cursor.end);
    if (cursor.p != cursor.end && *cursor.p == ',') ++cursor.p;
  }
  ++cursor.p;
  return true;
}

/// The text that the inside of a string stands for: escapes resolved, valid UTF-8.
void append_text(std::string& out, std::string_view body);
/// The inside of a string as a valid JSON string with its quotes.
void append_string(std::string& out, std::string_view body);
/// Plain text as a JSON string.
void append_quoted(std::string& out, std::string_view text);

/// The inside of the quotes if there are any, else the text itself.
std::string_view unquoted(std::string_view value);
/// A decimal integer, perhaps in quotes; nullopt for anything else and outside int64.
std::optional<std::int64_t> parse_integer(std::string_view value);
/// Decimal microseconds, perhaps in quotes, as nanoseconds, rounded; exact, not by way of double. Nullopt for anything
/// else and beyond 2^61.
std::optional<std::int64_t> parse_microseconds(std::string_view value);
/// Any number, perhaps in quotes.
std::optional<double> parse_number(std::string_view value);

}  // namespace strata::loose
