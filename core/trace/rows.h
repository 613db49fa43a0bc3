// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Moves records into and out of statements, driven by `Table<R>`.

#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/trace/codec.h"
#include "core/trace/database.h"
#include "core/trace/schema.h"

namespace strata::trace {

/// Binds records. `intern(text)` gives the id of a string; encoded values live here until `clear()`.
template <class Intern>
class RowBinder {
 public:
  RowBinder(Intern intern, int level) : intern_(intern), level_(level) {}
  void clear() { scratch_.clear(); }
  /// A frame that takes the place of the packed text of the records that follow; null: none.
  void set_packed(const std::string* frame) { packed_ = frame; }

  template <class R>
  void bind(Query& query, const R& record) {
    for_each_column<R>([&](const auto& c) {
      const auto& field = c.get(record);
      using Field = std::remove_cvref_t<decltype(field)>;
      if (c.store == Store::Packed) {
        const bool given = std::is_same_v<Field, std::string> && packed_;
        query.bind_blob(given ? *packed_ : keep(compress(pack(field), level_)));
      } else if constexpr (std::is_same_v<Field, std::string>) {
        if (c.store == Store::Interned) {
          query.bind(intern_(field));
        } else {
          query.bind(std::string_view(field));
        }
      } else {
        bind_field(query, field);
      }
    });
  }

 private:
  const std::string& keep(std::string text) { return scratch_.emplace_back(std::move(text)); }

  // Only called for columns that are packed; the others are here because both branches are compiled.
  template <class T>
  static std::string pack(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) return value;
    if constexpr (std::is_same_v<T, std::vector<SourceFileRecord::Line>>) return pack_lines(value);
    if constexpr (std::is_same_v<T, std::vector<LineMapEntry>>) return pack_line_map(value);
    return {};
  }

  void bind_field(Query& query, double value) { std::isnan(value) ? query.bind_null() : query.bind(value); }
  void bind_field(Query& query, const std::vector<std::int64_t>& ids) {
    query.bind(std::string_view(keep(encode_ids(ids))));
  }
  void bind_field(Query& query, const std::vector<std::vector<NodeId>>& operands) {
    query.bind(std::string_view(keep(encode_operands(operands))));
  }
  void bind_field(Query&, const std::vector<SourceFileRecord::Line>&) {}
  void bind_field(Query&, const std::vector<LineMapEntry>&) {}
  template <class T>
  void bind_field(Query& query, const std::optional<T>& value) {
    value ? query.bind(*value) : query.bind_null();
  }
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void bind_field(Query& query, T value) {
    query.bind(static_cast<std::int64_t>(value));
  }

  Intern intern_;
  int level_;
  const std::string* packed_ = nullptr;
  std::deque<std::string> scratch_;
};

/// Reads the current row, whose columns are `column_list<R>()`. `lookup(id)` gives the text of an interned string.
/// Throws FormatError for values that cannot be.
template <class Lookup>
class RowReader {
 public:
  explicit RowReader(Lookup lookup) : lookup_(lookup) {}

  template <class R>
  R read(const Query& query) {
    R record;
    int index = 0;
    for_each_column<R>([&](const auto& c) {
      auto& field = c.get(record);
      using Field = std::remove_cvref_t<decltype(field)>;
      const int i = index++;
      if (c.store == Store::Packed) {
        if (!query.null(i)) unpack(query.blob(i), field);
      } else if constexpr (std::is_same_v<Field, std::string>) {
        if (c.store == Store::Interned) {
          field = lookup_(query.integer(i));
        } else {
          field = query.text(i);
        }
      } else {
        read_field(query, i, field);
      }
    });
    return record;
  }

 private:
  template <class T>
  static void unpack(std::string_view blob, T& field) {
    if constexpr (std::is_same_v<T, std::string>) field = decompress(blob);
    if constexpr (std::is_same_v<T, std::vector<SourceFileRecord::Line>>) field = unpack_lines(decompress(blob));
    if constexpr (std::is_same_v<T, std::vector<LineMapEntry>>) field = unpack_line_map(decompress(blob));
  }

  static void read_field(const Query& query, int i, double& field) {
    field = query.null(i) ? std::numeric_limits<double>::quiet_NaN() : query.real(i);
  }
  static void read_field(const Query& query, int i, std::optional<double>& field) {
    if (!query.null(i)) field = query.real(i);
  }
  static void read_field(const Query& query, int i, std::optional<std::int64_t>& field) {
    if (!query.null(i)) field = query.integer(i);
  }
  static void read_field(const Query& query, int i, std::vector<std::int64_t>& field) {
    field = decode_ids(query.text(i));
  }
  static void read_field(const Query& query, int i, std::vector<std::vector<NodeId>>& field) {
    field = decode_operands(query.text(i));
  }
  static void read_field(const Query&, int, std::vector<SourceFileRecord::Line>&) {}
  static void read_field(const Query&, int, std::vector<LineMapEntry>&) {}
  static void read_field(const Query& query, int i, bool& field) { field = query.integer(i) != 0; }
  static void read_field(const Query& query, int i, std::int64_t& field) { field = query.integer(i); }
  template <class E>
    requires std::is_enum_v<E>
  static void read_field(const Query& query, int i, E& field) {
    const std::int64_t value = query.integer(i);
    if (value < 0 || value > enum_last<E>()) throw FormatError("a record is of a kind that does not exist");
    field = static_cast<E>(value);
  }

  Lookup lookup_;
};

}  // namespace strata::trace
