// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A trace without what its owner wrote: no source text, paths, names, strings or constants; structure, shapes, dtypes,
/// operators and times stay. docs/import.md has the rules.

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace strata {

/// What becomes of a text column.
enum class Redaction : int {
  Drop = 0,  ///< emptied
  Keep,      ///< made by Strata out of numbers: an address, a clock
  File,      ///< `file3.py`: equal names stay equal
  Code,      ///< operators, dtypes and keywords stay; other names become `n7`, strings `'...'`, constants 0
  Shape,     ///< like Code, but numbers stay: they are sizes
  Words,     ///< sentences of PyTorch: like Code, and words of PyTorch's vocabulary stay
  Pieces,    ///< names made by PyTorch, `triton_poi_fused_add_0`: pieces that are not in its vocabulary are replaced
  Kernel,    ///< names of kernels and library calls
  Hash,      ///< kept where it is nothing but letters and digits
  Counts,    ///< JSON object of numbers; keys are Pieces
  Special    ///< decided by the record: names of events, arguments of events, metadata of nodes
};

struct RedactionRule {
  std::string_view table, column;
  Redaction what;
};

/// One rule per text column of the schema. A trace with a column that has none is not redacted (Internal error).
std::span<const RedactionRule> redaction_rules();

/// Writes the redacted copy of the trace `from` to `to`, a new file: ids, structure and times are the same. Artifacts
/// and raw records are left out. `step` is called every few thousand rows; it may throw to give up. Throws what Reader,
/// Writer and `step` throw, and leaves no file then.
void redact_trace(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::function<void()>& step = {});

}  // namespace strata
