// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/support/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/support/error.h"
#include "core/support/utf8.h"

namespace strata {
namespace {

constexpr int kMaxDepth = 512;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Json parse_document() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    Json result = parse_value(0);
    skip_blanks();
    if (at_ != text_.size()) fail("expected the end of the text");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
      ++column;
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      }
    }
    std::string found = "the end of the text";
    if (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      found = c >= 0x20 && c < 0x7f ? fmt::format("'{}'", static_cast<char>(c)) : fmt::format("byte 0x{:02x}", c);
    }
    throw_user(
        fmt::format("'{}' is not valid JSON at line {}, column {}: {}, found {}", name_, line, column, what, found));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    skip_blanks();
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Json parse_value(int depth) {
    if (depth > kMaxDepth) fail(fmt::format("expected at most {} nested levels", kMaxDepth));
    skip_blanks();
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"':
        return {parse_string()};
      case 't':
        if (accept_word("true")) return {true};
        break;
      case 'f':
        if (accept_word("false")) return {false};
        break;
      case 'n':
        if (accept_word("null")) return {nullptr};
        break;
      case 'N':
        if (accept_word("NaN")) return {std::numeric_limits<double>::quiet_NaN()};
        break;
      case 'I':
        if (accept_word("Infinity")) return {std::numeric_limits<double>::infinity()};
        break;
      default:
        if (peek() == '-' || is_digit(peek())) return parse_number();
    }
    fail("expected a value");
  }

  Json parse_object(int depth) {
    ++at_;
    JsonObject object;
    if (accept('}')) return {std::move(object)};
    do {
      skip_blanks();
      if (peek() != '"') fail("expected a key in double quotes");
      std::string key = parse_string();
      if (!accept(':')) fail("expected ':'");
      Json value = parse_value(depth + 1);
      object.emplace_back(std::move(key), std::move(value));
    } while (accept(','));
    if (!accept('}')) fail("expected ',' or '}'");
    return {std::move(object)};
  }

  Json parse_array(int depth) {
    ++at_;
    JsonArray array;
    if (accept(']')) return {std::move(array)};
    do array.push_back(parse_value(depth + 1));
    while (accept(','));
    if (!accept(']')) fail("expected ',' or ']'");
    return {std::move(array)};
  }

  void skip_digits() {
    if (!is_digit(peek())) fail("expected a digit");
    while (is_digit(peek())) ++at_;
  }

  Json parse_number() {
    const size_t start = at_;
    if (peek() == '-') ++at_;
    if (accept_word("Infinity")) return {-std::numeric_limits<double>::infinity()};
    const bool leading_zero = peek() == '0';
    const size_t digits = at_;
    skip_digits();
    if (leading_zero && at_ > digits + 1) {
      at_ = digits + 1;
      fail("expected no digit after a leading zero");
    }
    bool integral = true;
    if (peek() == '.') {
      integral = false;
      ++at_;
      skip_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      integral = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      skip_digits();
    }
    return integral ? integer_of(text_.substr(start, at_ - start)) : Json{double_of(text_.substr(start, at_ - start))};
  }

  static Json integer_of(std::string_view digits) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc()) return {value};
    return {BigInt{std::string(digits)}};
  }

  static double double_of(std::string_view digits) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // Out of range is infinity or zero, as in Python; from_chars leaves the value alone then.
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
    return value;
  }

  std::string parse_string() {
    ++at_;
    std::string out;
    while (true) {
      const size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20)
        ++at_;
      out.append(text_, run, at_ - run);
      if (at_ >= text_.size()) fail("expected the end of a string");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') fail("expected no control character in a string");
      ++at_;
      parse_escape(out);
    }
    ++at_;
    return out;
  }

  void parse_escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (c == 'u') {
      ++at_;
      return append_utf8(out, parse_unicode());
    }
    const size_t known = at_ < text_.size() ? kNames.find(c) : std::string_view::npos;
    if (known == std::string_view::npos) fail("expected a valid escape after '\\'");
    out += kValues[known];
    ++at_;
  }

  uint32_t parse_hex4() {
    uint32_t code = 0;
    if (at_ + 4 > text_.size()) {
      at_ = text_.size();
      fail("expected four hexadecimal digits");
    }
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    if (error != std::errc() || end != text_.data() + at_ + 4) fail("expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  uint32_t parse_unicode() {
    constexpr uint32_t kReplacement = 0xfffd;
    const uint32_t high = parse_hex4();
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high > 0xdbff || !text_.substr(at_).starts_with("\\u")) return kReplacement;
    const size_t back = at_;
    at_ += 2;
    const uint32_t low = parse_hex4();
    if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    at_ = back;  // the first was a lone surrogate, the second is a character of its own
    return kReplacement;
  }

  std::string_view text_, name_;
  size_t at_ = 0;
};

bool find_path(const Json& from, const Json* value, std::string& path) {
  if (&from == value) return true;
  const size_t size = path.size();
  if (const auto* array = from.as<JsonArray>()) {
    for (size_t i = 0; i < array->size(); ++i) {
      path += fmt::format("[{}]", i);
      if (find_path((*array)[i], value, path)) return true;
      path.resize(size);
    }
  } else if (const auto* object = from.as<JsonObject>()) {
    for (const auto& [key, member] : *object) {
      path += (size ? "." : "") + key;
      if (find_path(member, value, path)) return true;
      path.resize(size);
    }
  }
  return false;
}

template <class T>
const T& expect(const Json& json, std::string_view what) {
  if (const T* value = json.as<T>()) return *value;
  throw JsonTypeError(&json, fmt::format("expected {}, found {}", what, describe(json)));
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  const auto* members = as<JsonObject>();
  if (!members) return nullptr;
  for (auto it = members->rbegin(); it != members->rend(); ++it)
    if (it->first == key) return it->second.is_null() ? nullptr : &it->second;
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  const JsonObject& members = object();
  for (auto it = members.rbegin(); it != members.rend(); ++it)
    if (it->first == key) return it->second;
  throw JsonTypeError(this, fmt::format("key '{}' is missing", key));
}

const JsonArray& Json::array() const { return expect<JsonArray>(*this, "an array"); }
const JsonObject& Json::object() const { return expect<JsonObject>(*this, "an object"); }
const std::string& Json::string() const { return expect<std::string>(*this, "a string"); }
int64_t Json::integer() const { return expect<int64_t>(*this, "a 64-bit integer"); }
bool Json::boolean() const { return expect<bool>(*this, "true or false"); }

double Json::number() const {
  if (const auto* v = as<double>()) return *v;
  if (const auto* v = as<int64_t>()) return static_cast<double>(*v);
  if (const auto* v = as<BigInt>()) return std::strtod(v->digits.c_str(), nullptr);
  if (const auto* v = as<std::string>()) {
    if (*v == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*v == "Infinity") return std::numeric_limits<double>::infinity();
    if (*v == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  throw JsonTypeError(this, "expected a number, found " + describe(*this));
}

std::string describe(const Json& json) {
  if (json.is_null()) return "null";
  if (const auto* v = json.as<bool>()) return *v ? "true" : "false";
  if (const auto* v = json.as<int64_t>()) return fmt::format("{}", *v);
  if (const auto* v = json.as<double>()) return fmt::format("{}", *v);
  if (const auto* v = json.as<BigInt>()) return v->digits.size() > 40 ? "a very large integer" : v->digits;
  if (const auto* v = json.as<std::string>())
    return v->size() > 40 ? fmt::format("a string of {} bytes", v->size()) : fmt::format("\"{}\"", *v);
  if (const auto* v = json.as<JsonArray>()) return fmt::format("an array of {}", v->size());
  return fmt::format("an object with {} keys", json.as<JsonObject>()->size());
}

Json parse_json(std::string_view text, std::string_view name) { return Parser(text, name).parse_document(); }

std::string json_path(const Json& root, const Json* value) {
  std::string path;
  return find_path(root, value, path) ? path : std::string();
}

}  // namespace strata
