// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Programs of live PyTorch as text, which is what the cache on disk keeps of them (docs/cache.md).

#include <pybind11/pybind11.h>

#include <map>
#include <string>

#include "core/ir/program.h"

namespace strata {

struct ProgramText {
  std::string graph;                             ///< native text form (core/ir/text.h), without digests
  std::map<std::string, std::string> constants;  ///< bytes of attribute tensors, row by row
};

/// Throws a user Error that says why where the text would not say all: calls of PyTorch, arguments and results that the
/// graph holds as opaque text, subgraphs, constants of more than 64 KiB together.
ProgramText text_of_program(const Program& program);

/// The program that `text_of_program` was given, under a name, with constants of its own. Throws a user Error for text
/// that cannot be read, and for constants that are not those of the graph.
Program program_of_text(const ProgramText& text, const std::string& name);

/// `fx_as_text`, `cached_program`, `keep_program`, `why_nothing_is_kept`, `build_identity`.
void bind_kept_programs(pybind11::module_& module);

}  // namespace strata
