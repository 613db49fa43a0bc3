// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// docs/trace.md names every table and every column that a trace has, and no other.

#include <map>
#include <set>

#include "core/trace/database.h"
#include "core/trace/schema.h"
#include "tests/trace/trace_testing.h"

namespace strata::trace {
namespace {

/// Words in backticks of a line, up to an opening parenthesis or colon that starts an explanation of one of them.
std::set<std::string> quoted_words(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t at = text.find('`'); at != std::string::npos;) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    words.insert(text.substr(at + 1, end - at - 1));
    at = text.find('`', end + 1);
  }
  return words;
}

TEST(TraceDocs, NameEveryTableAndColumn) {
  std::map<std::string, std::set<std::string>> documented;
  std::istringstream page(read_bytes(STRATA_TEST_DATA "/../../docs/trace.md"));
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::size_t cell = line.find('|', 2);
    documented[line.substr(3, line.find('`', 3) - 3)] = quoted_words(line.substr(cell));
  }
  Database database("", Database::Mode::Temporary, "memory");
  database.execute(create_schema());
  std::set<std::string> tables;
  Query query =
      database.query("SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'");
  while (query.step()) {
    tables.emplace(query.text(0));
    EXPECT_TRUE(documented[std::string(query.text(0))].count(std::string(query.text(1))))
        << query.text(0) << "." << query.text(1) << " is not in docs/trace.md";
  }
  EXPECT_EQ(tables.size(), 36u);
  for (const auto& [table, columns] : documented) EXPECT_TRUE(tables.count(table)) << "there is no table " << table;
}

}  // namespace
}  // namespace strata::trace
