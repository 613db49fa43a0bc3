// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// FX style: a graph as PyTorch's `print_readable` shows it.

#include <span>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace strata {

struct FxOptions {
  enum class Form : uint8_t {
    AsRead,    ///< the form that it was read in; `Class` if it was not read from FX text
    Class,     ///< `class GraphModule(torch.nn.Module):` with `def forward(self, ...)`
    Function,  ///< `def forward(self, ...)` alone
    Listing    ///< `graph():` with one `%x : [num_users=1] = call_function[...]` per node
  };
  Form form = Form::AsRead;
  bool annotations = true;  ///< `: "f32[8, 64][64, 1]cpu"`
  bool comments = true;     ///< `# File: a.py:3 in f, code: ...` where it changes
  bool clean_ups = true;    ///< `;  x = None` after the last use
};

/// Prints the graph and its subgraphs. parse_fx reads it back to a structurally equal graph; the text of PyTorch that
/// parse_fx has read comes out the same up to white space.
std::string print_fx(const Graph& graph, const FxOptions& options = {});

/// One value as FX prints it: `[1, 2]`, `torch.float32`, `device(type='cpu')`, a node's name.
std::string print_fx(const Argument& argument);
/// The same, appended.
void print_fx(const Argument& argument, std::string& out);

namespace fx {
/// Python's repr of a string and of a float.
std::string python_repr(std::string_view s);
std::string python_repr(double value);
/// The operator's sign if `target` is one that FX prints as such (`_operator.add` is `+`); empty otherwise.
std::string_view infix_of(std::string_view target);     ///< two operands
std::string_view prefix_of(std::string_view target);    ///< one operand
std::string_view in_place_of(std::string_view target);  ///< `+=`
/// The target whose sign this is; empty if none.
std::string_view infix_target(std::string_view sign);
std::string_view prefix_target(std::string_view sign);
std::string_view in_place_target(std::string_view sign);
/// True where a target without `fx.prefix` is printed behind `torch.ops.`.
bool has_ops_prefix(std::string_view target);
/// `File: a.py:3 in f, code: ...` as a comment line.
std::string source_comment(const SourceStack& source);
/// What FX prints as clean-up after each node: the nodes that it uses last, and itself if it has no user.
struct LastUses {
  std::span<const Node* const> of(size_t position) const {
    return {nodes.data() + first[position], first[position + 1] - first[position]};
  }
  std::vector<const Node*> nodes;
  std::vector<size_t> first;  ///< in `nodes`, by position in the graph, and the end
};
LastUses last_uses(const Graph& graph);
}  // namespace fx

}  // namespace strata
