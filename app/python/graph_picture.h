// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pictures of graphs that PyTorch printed.

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace strata {

/// An SVG of the graph in FX text (what `GraphModule.print_readable` gives). `modules`: where nodes stand, by name: the
/// innermost entry of PyTorch's `nn_module_stack`, path and class. Throws a user Error for text that is no FX graph.
std::string svg_of_fx(std::string_view text, const std::map<std::string, std::pair<std::string, std::string>>& modules,
                      const std::string& title, bool dark);

}  // namespace strata
