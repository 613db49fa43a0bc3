// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A trace without what its owner wrote: no source text, paths, names, strings or constants; the structure, shapes,
/// dtypes, operators and times stay. docs/import.md has the rules.

#include <filesystem>
#include <span>
#include <string_view>

namespace strata {

/// What becomes of a text column.
enum class Redaction : int {
  Drop = 0,  ///< emptied
  Keep,      ///< a closed set of words of ours, times, hashes
  File,      ///< `file3.py`: a file of the same name stays the same file
  Code,      ///< operators, dtypes and keywords stay; other names become `n7`, strings `'...'`, constants 0
  Module,    ///< `m1.m4.0`
  Shape,     ///< like Code, but numbers stay: they are sizes
  Words,     ///< PyTorch's own sentences: words that are not in its vocabulary become `_`
  Kernel,    ///< names of kernels and operators
  Event,     ///< name of an event: depends on its category
  Counts,    ///< JSON object of numbers
  Stage      ///< `simplified:NAME`
};

struct RedactionRule {
  std::string_view table, column;
  Redaction what;
};

/// One rule per text column of the schema. A trace with a column that is not listed is not redacted (Internal error).
std::span<const RedactionRule> redaction_rules();

/// Whether a name stays as it is because PyTorch and Python have it: an operator, a dtype, a keyword.
bool is_public_name(std::string_view name);

/// Writes the redacted copy of the trace `from` to `to`, a new file: ids, structure and times are the same. Throws what
/// Reader and Writer throw.
void redact_trace(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace strata
