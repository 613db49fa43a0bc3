// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/schema.h"

#include <fmt/format.h>

#include <optional>

namespace strata::trace {
namespace {

template <class T>
const char* sql_type(Store store) {
  if (store == Store::Interned) return "INTEGER NOT NULL";
  if (store == Store::Packed) return "BLOB NOT NULL";
  if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) return "INTEGER";
  if constexpr (std::is_same_v<T, std::optional<double>>) return "REAL";
  // A NaN is stored as NULL.
  if constexpr (std::is_same_v<T, double>) return "REAL";
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return "INTEGER NOT NULL";
  return "TEXT NOT NULL";
}

template <class R>
void create_table(std::string& sql) {
  constexpr bool keyed = requires { Table<R>::key; };
  sql += fmt::format("CREATE TABLE {} (", Table<R>::name);
  bool first = true;
  for_each_column<R>([&](const auto& c) {
    using Field = std::remove_cvref_t<decltype(c.get(std::declval<R&>()))>;
    const bool key = first && !keyed;
    sql += fmt::format("{}{} {}", first ? "" : ", ", c.name, key ? "INTEGER PRIMARY KEY" : sql_type<Field>(c.store));
    first = false;
  });
  if constexpr (keyed) sql += fmt::format(", {}) WITHOUT ROWID;\n", Table<R>::key);
  if constexpr (!keyed) sql += ");\n";
  int number = 0;
  for (const char* index : Table<R>::indexes) {
    sql += fmt::format("CREATE INDEX {0}_{1} ON {0} {2};\n", Table<R>::name, ++number, index);
  }
}

template <class... R>
struct CreateAll {
  static void run(std::string& sql) { (create_table<R>(sql), ...); }
};

// Tables without a record of their own: interned text, stacks, and the links that are searched from the node's side.
constexpr const char* kLinkTables = R"(
CREATE TABLE property (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE string (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE stack_frame (stack INTEGER NOT NULL, depth INTEGER NOT NULL, location INTEGER NOT NULL,
                          PRIMARY KEY (stack, depth)) WITHOUT ROWID;
CREATE INDEX stack_frame_1 ON stack_frame (location);
CREATE TABLE node_end (compile INTEGER NOT NULL, node INTEGER NOT NULL, snapshot INTEGER NOT NULL,
                       PRIMARY KEY (compile, node)) WITHOUT ROWID;
CREATE TABLE kernel_node (compile INTEGER NOT NULL, node INTEGER NOT NULL, kernel INTEGER NOT NULL,
                          PRIMARY KEY (compile, node, kernel)) WITHOUT ROWID;
CREATE TABLE rewrite_node (compile INTEGER NOT NULL, node INTEGER NOT NULL, rewrite INTEGER NOT NULL,
                           PRIMARY KEY (compile, node, rewrite)) WITHOUT ROWID;
)";

}  // namespace

std::string create_schema() {
  std::string sql;
  ForAllTables<CreateAll>::run(sql);
  return sql + kLinkTables;
}

}  // namespace strata::trace
