// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/migrate.h"

#include <fmt/format.h>

#include <array>

#include "core/support/error.h"
#include "core/trace/schema.h"

namespace strata::trace {
namespace {

// Version 0 is the format before the first release: events had no correlation number and no arguments.
constexpr std::array kMigrations{
    Migration{0,
              "ALTER TABLE event ADD COLUMN correlation INTEGER NOT NULL DEFAULT 0;"
              "ALTER TABLE event ADD COLUMN args TEXT NOT NULL DEFAULT '';"},
    // Version 2: what other producers' logs and profiles hold.
    Migration{
        1,
        "ALTER TABLE snapshot ADD COLUMN program INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE snapshot ADD COLUMN extra TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE node ADD COLUMN extra TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE guard ADD COLUMN path TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE guard ADD COLUMN detail TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE graph_break ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE graph_break ADD COLUMN link TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE graph_break ADD COLUMN cost_ns INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE graph_break ADD COLUMN detail TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE kernel ADD COLUMN program INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE kernel ADD COLUMN language INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE kernel ADD COLUMN exact INTEGER NOT NULL DEFAULT 1;"
        "ALTER TABLE launch ADD COLUMN program INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE launch ADD COLUMN line INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE event ADD COLUMN track INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE event ADD COLUMN compile INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE event ADD COLUMN program INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE event ADD COLUMN match INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE event ADD COLUMN external INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE event ADD COLUMN sequence INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE event ADD COLUMN phase INTEGER NOT NULL DEFAULT 0;"
        "CREATE TABLE input (id INTEGER PRIMARY KEY, path TEXT NOT NULL, kind INTEGER NOT NULL, bytes INTEGER NOT NULL,"
        " process INTEGER NOT NULL, producer TEXT NOT NULL, counts TEXT NOT NULL);"
        "CREATE TABLE program (id INTEGER PRIMARY KEY, compile INTEGER NOT NULL, role INTEGER NOT NULL,"
        " key TEXT NOT NULL, path TEXT NOT NULL, snapshot INTEGER NOT NULL);"
        "CREATE INDEX program_1 ON program (compile);"
        "CREATE TABLE recompile (id INTEGER PRIMARY KEY, compile INTEGER NOT NULL, of_compile INTEGER NOT NULL,"
        " guard INTEGER NOT NULL, expression TEXT NOT NULL, expected TEXT NOT NULL, actual TEXT NOT NULL,"
        " reason TEXT NOT NULL, stack INTEGER NOT NULL, cost_ns INTEGER NOT NULL);"
        "CREATE INDEX recompile_1 ON recompile (compile);"
        "CREATE TABLE diagnostic (id INTEGER PRIMARY KEY, severity INTEGER NOT NULL, kind INTEGER NOT NULL,"
        " title TEXT NOT NULL, detail TEXT NOT NULL, hint TEXT NOT NULL, compile INTEGER NOT NULL,"
        " process INTEGER NOT NULL, input INTEGER NOT NULL, line INTEGER NOT NULL, stack INTEGER NOT NULL,"
        " cost_ns INTEGER NOT NULL);"
        "CREATE INDEX diagnostic_1 ON diagnostic (compile);"
        "CREATE TABLE track (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, pid INTEGER NOT NULL,"
        " tid INTEGER NOT NULL, name INTEGER NOT NULL, process_name INTEGER NOT NULL, device INTEGER NOT NULL,"
        " stream INTEGER NOT NULL, sort INTEGER NOT NULL);"
        "CREATE TABLE flow (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, from_event INTEGER NOT NULL,"
        " to_event INTEGER NOT NULL);"
        "CREATE INDEX flow_1 ON flow (from_event);"
        "CREATE INDEX flow_2 ON flow (to_event);"},
};
static_assert(kMigrations.size() == kSchemaVersion, "every older version needs a step");

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

int check_format(Database& database) {
  const std::string file = database.shown().string();
  if (database.integer("PRAGMA application_id") != kApplicationId) {
    throw_user(fmt::format("{} is not a strata trace", file), "expected a file written by `strata ... -o NAME.strata`");
  }
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version > kSchemaVersion) {
    throw_user(fmt::format("{} has trace version {}; this program reads up to {}", file, version, kSchemaVersion),
               "open it with a newer strata");
  }
  if (version < 0) throw_corrupt(database.shown(), fmt::format("it says version {}", version));
  return static_cast<int>(version);
}

void migrate(Database& database, int version) {
  if (version == kSchemaVersion) return;
  std::string sql = "BEGIN;";
  for (const Migration& step : migrations()) {
    if (step.from >= version) sql += step.sql;
  }
  database.execute(sql + fmt::format("PRAGMA user_version = {}; COMMIT;", kSchemaVersion));
}

void migrate_file(const std::filesystem::path& path) {
  Database database(path, Database::Mode::ReadWrite, path);
  migrate(database, check_format(database));
}

}  // namespace strata::trace
