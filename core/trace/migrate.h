// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>

#include "core/trace/database.h"

namespace strata::trace {

/// One step: statements that turn a file of version `from` into version `from + 1`.
struct Migration {
  int from;
  const char* sql;
};

/// All steps, ascending, without gaps up to the current version.
std::span<const Migration> migrations();

/// Throws User unless `database` is a trace of version 0 to the current one; returns its version.
int check_format(Database& database);

/// Brings `database` from `version` to the current version in one transaction. User error if a step fails.
void migrate(Database& database, int version);

/// Migrates a file in place; does nothing when it is current.
void migrate_file(const std::filesystem::path& path);

}  // namespace strata::trace
