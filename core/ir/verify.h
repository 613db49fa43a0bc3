// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The verifier: what every graph must fulfil, whatever made it.

#include <string_view>

#include "core/ir/graph.h"

namespace strata {

struct VerifyOptions {
  /// Graphs that are compiled: calls of table operators carry types and legal arguments, attributes are there. Off for
  /// graphs that were only read from logs, which lack both.
  bool compiled = true;
};

/// Throws an internal Error that names `after` (the pass that made the graph, or the reader), the node, what was
/// expected and what was found. Checks, in the graph and its subgraphs:
/// - ids are set and unique; names are unique and legal (letters, digits, `_`, `.`; not starting with a digit);
/// - one output node, the last, with one argument;
/// - operands are nodes of this graph and stand before their users;
/// - tensor types have as many strides as dimensions; symbolic sizes belong to the graph's shape environment;
/// - `op` is the row of `target`; subgraph arguments exist; getitem of a tuple stays inside it and has the part's type;
/// - input specs are parallel to placeholders, output specs to flat outputs (or empty);
/// - compiled: table operators have a type, arguments that fit the schema, and no tuple where one tensor is wanted;
/// attributes exist.
void verify(const Graph& graph, std::string_view after, const VerifyOptions& options = {});

}  // namespace strata
