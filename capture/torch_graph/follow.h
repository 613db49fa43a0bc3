// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From a graph to the next one of the same program, where the producer keeps names. Internal to torch_graph.

#include <vector>

#include "capture/torch_graph/imported_graph.h"

namespace strata::capture::graphs {

/// Where a node of the next graph comes from.
struct Ancestor {
  int node = -1;  ///< position in the earlier graph
  const char* kind = "replaced";
  const char* rule = "";
};

/// Per node: position of the node of that name in the earlier graph; -1: none. A name that stands for something else
/// there (other line and other operator) does not count.
std::vector<int> same_names(const ImportedGraph& base, const ImportedGraph& next);

/// Per node that `same` does not name: the nodes that it was put in place of. They are the ones that are gone and whose
/// users and operands it took over; else nodes of its line, else what its users or operands come from. For a node that
/// `same` names: copies of it that are gone.
std::vector<std::vector<Ancestor>> replaced_by(const ImportedGraph& base, const ImportedGraph& next,
                                               const std::vector<int>& same);

}  // namespace strata::capture::graphs
