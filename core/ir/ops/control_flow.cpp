// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Calls that run other graphs: what they do is in core/ir/control_flow.h. Arguments stand as PyTorch's exporter writes
// them, and as Dynamo does.

#include "core/ir/ops/common.h"

namespace strata::ops {
namespace {

/// What the program says: the bodies belong to the graph, and are compared with it there (`require_fitting_bodies`).
Type stated_type(const Call& call) { return call.node().type; }

OpDef control_row(const std::string& schema, const std::string& doc) {
  OpDef row(schema, OpClass::Control, 0, Promotion::None, stated_type, nullptr, nullptr, NoGradient::Pending,
            NoLowering{}, "", doc);
  row.name.resize(row.name.rfind('.'));  // these have no overloads
  row.schema.name = row.name;
  return row;
}

}  // namespace

std::vector<OpDef> control_flow() {
  Rows rows;
  rows.push_back(
      control_row("higher_order::cond(Tensor pred, Graph true_fn, Graph false_fn, Tensor[] operands) -> Tensor[]",
                  "one of two graphs"));
  rows.push_back(control_row(
      "higher_order::while_loop(Graph cond_fn, Graph body_fn, Tensor[] carried_inputs, Tensor[] additional_inputs) -> "
      "Tensor[]",
      "a graph again and again, as long as another says so"));
  rows.push_back(control_row("higher_order::map_impl(Graph f, Tensor[] xs, Tensor[] pos_args) -> Tensor[]",
                             "a graph for each element of the first dimension"));
  rows.push_back(control_row(
      "higher_order::scan(Graph combine_fn, Tensor[] init, Tensor[] xs, Tensor[] additional_inputs) -> Tensor[]",
      "a graph for each element of the first dimension, each with what the one before has carried on"));
  return rows;
}

}  // namespace strata::ops
