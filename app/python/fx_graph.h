// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graphs of torch.fx, as live Python objects, made into ours.

#include <pybind11/pybind11.h>

#include <map>
#include <string>

#include "core/ir/program.h"

namespace strata {

/// Reads a `torch.fx.GraphModule` of ATen calls whose nodes carry example values (`meta["val"]`): arguments, dtypes,
/// sizes (symbolic ones with hint and range), strides, devices, source lines and module paths. Every placeholder
/// becomes an input of kind User, sizes among them as 0-dimensional int64 tensors; tensors that are attributes of the
/// module become attributes of the graph, viewing PyTorch's memory: `module` must outlive the program. A value of a
/// kind that the graph cannot hold becomes opaque text. Throws a user Error for a node that cannot be read at all, with
/// its name.
Program read_fx_graph(const pybind11::object& module, const std::string& name);

/// A program of a graph that came from torch.fx: every placeholder an input, PyTorch's version, lines of Python.
Program program_of_fx(Graph graph, const std::string& name);

/// Names of operators that the table lacks, each once, those of subgraphs too; read off the targets alone.
struct FxOperators {
  std::vector<std::string> missing;  ///< can neither be compiled nor called
  std::vector<std::string> foreign;  ///< PyTorch is called for them
};
FxOperators operators_of_fx_graph(const pybind11::object& module);

/// Calls whose operator is in the table and does not take these operands (a kind of index, a mode), or has no kernel,
/// by node name, with what its rules say. Only rules of shapes and decompositions are asked. Throws like read_fx_graph.
std::map<std::string, std::string> rejected_calls(const pybind11::object& module);

/// Whether sizes in whole numbers, or times a float, tell an expression of sympy.
bool is_size(const pybind11::object& expression);

}  // namespace strata
