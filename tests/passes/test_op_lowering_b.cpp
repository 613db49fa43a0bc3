// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Loop rules of pooling and resampling: lowered to loop IR, evaluated, compared with PyTorch's recorded results.

#include <gtest/gtest.h>

#include "core/ir/loop_eval.h"
#include "passes/lower_to_loops.h"
#include "tests/core/recorded_calls.h"

namespace strata {
namespace {

using recorded::OpCase;

bool has_loop_rule(const OpDef& row) {
  return std::holds_alternative<WindowRule>(row.lowering) || std::holds_alternative<IndexedBody>(row.lowering);
}

/// The result of the call alone in a kernel.
Tensor evaluate(const OpCase& c) {
  const Layouts layouts;  // everything contiguous
  LowerOptions options;
  options.layouts = &layouts;
  options.name = "kernel";
  const LoweredLoops lowered = lower_to_loops(c.graph, {{c.result}, {c.result}}, options);
  if (!lowered.ok) throw_internal(c.op + " does not lower: " + lowered.refusal);
  loop::verify_loop(lowered.kernel);
  Tensor out = Tensor::full(DType::F32, c.expected[0].shape, -12345.0);
  std::vector<Tensor> held;
  std::vector<std::byte*> buffers;
  for (const Node* node : lowered.buffers) {
    if (node == c.result) {
      buffers.push_back(out.data());
      continue;
    }
    const std::vector<Node*> inputs = c.graph.placeholders();
    held.push_back(
        c.inputs.at(static_cast<size_t>(std::find(inputs.begin(), inputs.end(), node) - inputs.begin())).contiguous());
    buffers.push_back(held.back().data());
  }
  loop::evaluate_loop(lowered.kernel, buffers, {});
  return out;
}

TEST(OpLoweringB, LoopsGivePyTorchsResults) {
  static const Json json = recorded::read_cases("ops/ops_b.json");
  size_t compared = 0;
  for (const Json& entry : json.array()) {
    OpCase c = recorded::decode_case(entry);
    recorded::build(c);
    if (!has_loop_rule(*c.result->op)) continue;
    EXPECT_EQ(recorded::difference(evaluate(c), c.expected[0], 4e-6), "") << c.op << " case " << compared;
    ++compared;
  }
  EXPECT_GE(compared, 15u);
}

// A window that may reach over the edge loads nothing there: masks appear only where they are needed.
TEST(OpLoweringB, WindowsInsideTheInputNeedNoMask) {
  for (const bool padded : {false, true}) {
    Graph graph;
    Node* x = graph.placeholder("x", Type::of(DType::F32, {1, 2, 8, 8}));
    const auto pair = [](int64_t v) { return Argument::list({v, v}); };
    Node* y = Builder(graph).call("aten.max_pool2d.default", {x, pair(2), pair(2), pair(padded ? 1 : 0)});
    graph.output(y);
    const Layouts layouts;
    LowerOptions options;
    options.layouts = &layouts;
    const LoweredLoops lowered = lower_to_loops(graph, {{y}, {y}}, options);
    ASSERT_TRUE(lowered.ok) << lowered.refusal;
    bool masked = false;
    for (const loop::Nest& nest : lowered.kernel.nests)
      for (const loop::Reduction& r : nest.reductions) masked |= r.mask != loop::kNone;
    EXPECT_EQ(masked, padded);
  }
}

}  // namespace
}  // namespace strata
