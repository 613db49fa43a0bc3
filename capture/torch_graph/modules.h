// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which module each call of a captured graph belongs to. Internal to torch_graph.

#include <string>
#include <vector>

#include "capture/torch_graph/imported_graph.h"

namespace strata::capture::graphs {

struct ModulePaths {
  std::vector<std::string> path;  ///< per node: `encoder.layer.0.attention`; empty: unknown or the root
  std::vector<bool> inferred;     ///< per node: not said by a parameter that the call uses
};

/// Calls that use a parameter or buffer belong to its module. A call between two calls that belong to children of one
/// module, in the same function of the same file, belongs to that module (inferred).
/// `sources`: what inputs are in Python (`L['self']._modules['fc']._parameters['weight']`); where an input is in none
/// of them its name is taken apart (inferred).
ModulePaths module_paths(const ImportedGraph& graph, const std::vector<std::string>& sources);

}  // namespace strata::capture::graphs
