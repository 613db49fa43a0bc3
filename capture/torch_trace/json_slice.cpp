// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_trace/json_slice.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <memory>

#include "core/support/error.h"
#include "core/support/json.h"

namespace strata::capture {
namespace {

constexpr std::size_t kMaxDepth = 512;
// Buffers beyond this are given back after use.
constexpr std::size_t kKeptBuffer = std::size_t{4} << 20;

struct Checker {
  simdjson::dom::parser parser;
  std::vector<char> padded;
  std::size_t capacity = 0;

  bool check(std::string_view text) {
    if (text.size() > capacity || capacity == 0) {
      capacity = std::max<std::size_t>(text.size(), 4096);
      if (parser.allocate(capacity, kMaxDepth) != simdjson::SUCCESS) return false;
    }
    padded.resize(std::max(padded.size(), text.size() + simdjson::SIMDJSON_PADDING));
    std::copy(text.begin(), text.end(), padded.begin());
    std::fill_n(padded.begin() + static_cast<std::ptrdiff_t>(text.size()), simdjson::SIMDJSON_PADDING, ' ');
    simdjson::dom::element root;
    return parser.parse(padded.data(), text.size(), false).get(root) == simdjson::SUCCESS;
  }
};

bool check_strictly(std::string_view text) {
  thread_local std::unique_ptr<Checker> checker;
  if (!checker) checker = std::make_unique<Checker>();
  const bool valid = checker->check(text);
  if (text.size() > kKeptBuffer) checker.reset();
  return valid;
}

bool check_tolerantly(std::string_view text) {
  try {
    parse_json(text, "");
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Moves over a checked text. Bounds are checked all the same: a mistake must not read beyond it.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  void skip_space() {
    while (!done() && space(text_[at_])) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::string_view value() {
    skip_space();
    const std::size_t start = at_;
    if (peek() == '"') {
      skip_string();
    } else if (peek() == '{' || peek() == '[') {
      skip_nested();
    } else {
      while (!done() && !space(peek()) && peek() != ',' && peek() != '}' && peek() != ']') ++at_;
    }
    return text_.substr(start, at_ - start);
  }

 private:
  void skip_string() {
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return;
      }
    }
    at_ = text_.size();
  }
  void skip_nested() {
    std::size_t depth = 0;
    while (!done()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool valid_json(std::string_view text) { return check_strictly(text) || check_tolerantly(text); }

std::vector<std::pair<std::string, JsonSlice>> JsonSlice::members() const {
  std::vector<std::pair<std::string, JsonSlice>> members;
  Cursor cursor(text);
  if (!cursor.accept('{') || cursor.accept('}')) return members;
  do {
    std::string key = JsonSlice{cursor.value()}.string();
    if (!cursor.accept(':')) break;
    members.emplace_back(std::move(key), JsonSlice{cursor.value()});
  } while (cursor.accept(','));
  return members;
}

std::vector<JsonSlice> JsonSlice::items() const {
  std::vector<JsonSlice> items;
  Cursor cursor(text);
  if (!cursor.accept('[') || cursor.accept(']')) return items;
  do items.push_back({cursor.value()});
  while (cursor.accept(','));
  return items;
}

JsonSlice JsonSlice::find(std::string_view key) const {
  JsonSlice found;
  Cursor cursor(text);
  if (!cursor.accept('{') || cursor.accept('}')) return found;
  do {
    const JsonSlice name{cursor.value()};
    if (!cursor.accept(':')) break;
    const JsonSlice value{cursor.value()};
    const bool plain = name.text.find('\\') == std::string_view::npos && name.text.size() >= 2;
    if (plain ? name.text.substr(1, name.text.size() - 2) == key : name.string() == key) found = value;
  } while (cursor.accept(','));
  return found;
}

std::string JsonSlice::string() const {
  if (!is_string() || text.size() < 2) return {};
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  try {
    const Json json = parse_json(text, "");
    return json.as<std::string>() ? *json.as<std::string>() : std::string();
  } catch (const Error&) {
    return std::string(inside);
  }
}

std::optional<std::int64_t> JsonSlice::integer() const {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> JsonSlice::number() const {
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '-')) return std::nullopt;
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string JsonSlice::words() const {
  if (is_string()) return string();
  return is_null() ? std::string() : std::string(text);
}

JsonSlice parse_slice(std::string_view text) {
  text = trim(text);
  return valid_json(text) ? JsonSlice{text} : JsonSlice{};
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace strata::capture
