// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Statements as PyTorch writes nearly all of them, read in one pass: `x: "f32[2]" = f(a, 1, [2]);  a = None`.
/// Whatever is not quite of that form is left to the reader that knows the whole grammar. Internal to the FX reader.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/fx_names.h"
#include "core/ir/graph.h"

namespace strata::fx {

/// What a dotted name calls, looked up once.
struct Callee {
  std::string target;
  const OpDef* op = nullptr;
  std::map<std::string, std::string> extra;  ///< what print_fx needs to print it back
};
using Callees = std::unordered_map<std::string_view, Callee>;

struct LineStatement {
  std::string_view name;
  std::string_view annotation;  ///< without its quotes
  bool annotated = false;
  std::unique_ptr<Node> node;               ///< without name and type
  std::vector<FxNames::Entry*> cleaned_up;  ///< in the order of the text; valid until a name is added
  size_t end = 0;                           ///< of the line, where its line end stands
};

/// Reads the statement at `start` of `text`, to the end of its line. False, and nothing done, if it has another form,
/// an error or a comment.
bool read_line_statement(std::string_view text, size_t start, FxNames& names, Callees& callees, LineStatement& out);

}  // namespace strata::fx
