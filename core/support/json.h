// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// JSON as Python writes it, read into a tree.
///
/// Beyond RFC 8259: the tokens `NaN`, `Infinity`, `-Infinity`; duplicate keys (the last wins); lone surrogates
/// (U+FFFD). Strict in all else. 64-bit integers are exact; larger ones keep their text. Nesting deeper than 512 is
/// refused. Strings are bytes: invalid UTF-8 passes through.

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace strata {

struct Json;
using JsonArray = std::vector<Json>;
using JsonObject = std::vector<std::pair<std::string, Json>>;  ///< in the order written
/// An integer outside int64, as it was written.
struct BigInt {
  std::string digits;
};

struct Json {
  std::variant<std::nullptr_t, bool, int64_t, double, BigInt, std::string, JsonArray, JsonObject> value{nullptr};

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }

  /// Member of an object; null if absent, JSON null, or if this is no object.
  const Json* find(std::string_view key) const;
  /// Typed access; throws JsonTypeError that names this value.
  const Json& at(std::string_view key) const;  ///< a member that must be there (JSON null counts as there)
  const JsonArray& array() const;
  const JsonObject& object() const;
  const std::string& string() const;
  int64_t integer() const;
  bool boolean() const;
  /// A number; also the strings "NaN", "Infinity" and "-Infinity".
  double number() const;
};

/// What a value is, for messages: `null`, `true`, `12`, `a string`, `an array of 3`, ...
std::string describe(const Json& json);

/// A value of another kind than expected, or a missing member. Holds where, so that the owner of the tree can say the
/// path.
struct JsonTypeError : std::exception {
  JsonTypeError(const Json* where, std::string message) : where(where), message(std::move(message)) {}
  const char* what() const noexcept override { return message.c_str(); }
  const Json* where;
  std::string message;
};

/// Parses a whole text; throws a user Error `'NAME' is not valid JSON at line L, column C: ...`.
Json parse_json(std::string_view text, std::string_view name);

/// Path of a value in a tree (`graph.nodes[3].target`), empty for the root or when it is not in there.
std::string json_path(const Json& root, const Json* value);

}  // namespace strata
