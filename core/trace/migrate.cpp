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
