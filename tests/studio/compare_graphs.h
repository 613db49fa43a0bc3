// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graphs made by hand, for tests and benchmarks of comparisons.

#include <algorithm>
#include <string>
#include <vector>

#include "core/trace/records.h"

namespace strata::test {

/// A decoder-like graph of `count` operators in modules of eight; ids from `first_id`.
inline std::vector<trace::NodeRecord> make_graph(int count, trace::NodeId first_id, bool modules = true) {
  std::vector<trace::NodeRecord> nodes;
  const char* const targets[] = {"aten.addmm.default", "aten.gelu.default", "aten.add.Tensor", "aten.mul.Tensor"};
  for (int i = 0; i < count; ++i) {
    trace::NodeRecord n;
    n.id = first_id + i;
    n.op = i == 0 ? "placeholder" : "call_function";
    n.target = i == 0 ? "x" : targets[i % 4];
    n.name = i == 0 ? "x" : std::string(1, static_cast<char>('a' + i % 4)) + "_" + std::to_string(i / 4);
    if (i > 0) {
      n.inputs.push_back({n.id - 1});
      n.args = nodes.back().name;
    }
    if (i > 9 && i % 8 == 0) {
      n.inputs.push_back({n.id - 7});
      n.args += ", " + nodes[static_cast<size_t>(i - 7)].name;
    }
    n.shape = "[8, 128]";
    n.dtype = "f32";
    n.type = "f32[8, 128][128, 1]cpu";
    if (modules) n.module = "layers." + std::to_string(i / 8);
    nodes.push_back(std::move(n));
  }
  return nodes;
}

/// Takes a node out: its users (of the next `reach` nodes) use its first operand.
inline void remove_node(std::vector<trace::NodeRecord>& nodes, size_t at, size_t reach = 16) {
  const trace::NodeId gone = nodes[at].id, instead = nodes[at].inputs.front().front();
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at));
  for (size_t i = at; i < std::min(nodes.size(), at + reach); ++i)
    for (auto& operand : nodes[i].inputs)
      for (trace::NodeId& id : operand)
        if (id == gone) id = instead;
}

}  // namespace strata::test
