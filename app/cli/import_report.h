// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `strata import` and `strata capture` say about an import.

#include <string>

#include "app/driver/import.h"
#include "core/support/json.h"

namespace strata::cli {

/// Runs the import with progress on stderr and Ctrl-C; throws what import_paths throws. `lines`: progress as lines, for
/// programs that read it.
ImportSummary import_with_progress(const std::vector<std::filesystem::path>& paths, const std::string& out, bool redact,
                                   const std::string& command, bool lines = false);

/// Tables for people.
std::string import_text(const ImportSummary& summary, const std::string& out);
Json import_json(const ImportSummary& summary, const std::string& out);
/// Warnings and skipped files to stderr, the first `most` of each.
void note_import_warnings(const ImportSummary& summary, std::size_t most);

}  // namespace strata::cli
