// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/support/error.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::body_of;
using testing::error_text;
using testing::graph_of;
using ::testing::HasSubstr;

constexpr const char* kProgram = R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.sin.default(x)
    c = torch.ops.aten.mul.Tensor(b, 1)
    unused = torch.ops.aten.neg.default(x)
    d = torch.ops.aten.add_.Tensor(a, c)
    return (a,))";

/// A short one: what it tests does not depend on which passes there are.
std::vector<Pass> pipeline() {
  std::vector<Pass> list;
  for (const char* name : {"functionalize", "decompose", "dce", "simplify", "cse", "dce"})
    for (const Pass& pass : inference_pipeline())
      if (pass.name == name && (list.empty() || list.back().name != name)) list.push_back(pass);
  return list;
}

/// `name#occurrence` of passes that changed something, `-name` of those that were left out.
std::string trail(RunnerOptions options, std::string* result = nullptr) {
  std::string text;
  options.observer = [&](const PassRun& run, const Graph& graph) {
    if (run.skipped)
      text += "-" + run.pass->name + " ";
    else if (run.changed)
      text += run.pass->name + "#" + std::to_string(run.occurrence) + " ";
    EXPECT_EQ(run.nodes_after, graph.size());
    EXPECT_EQ(run.changed, !run.rewrites.empty());
  };
  const Graph graph = run_passes(pipeline(), graph_of(kProgram), {}, options);
  if (result) *result = body_of(graph);
  return text;
}

TEST(Runner, RunsThePipelineInOrder) {
  std::string result;
  EXPECT_EQ(trail({}, &result), "functionalize#1 dce#1 simplify#1 cse#1 ");
  EXPECT_EQ(result,
            "a = aten.sin.default(x)\n"
            "add = aten.add.Tensor(a, a)\n"
            "return (add,)\n");
}

TEST(Runner, LeavesOutWhatIsDisabled) {
  RunnerOptions options;
  options.disabled = {"cse", "dce"};
  EXPECT_EQ(trail(options), "functionalize#1 -dce simplify#1 -cse -dce ");
}

TEST(Runner, StopsAfterSoManyOptionalPasses) {
  RunnerOptions options;
  options.stop_after = 1;
  EXPECT_EQ(trail(options), "functionalize#1 dce#1 -simplify -cse -dce ");
}

TEST(Runner, UnknownNameIsAnsweredWithTheNearest) {
  RunnerOptions options;
  options.disabled = {"csee"};
  EXPECT_EQ(error_text([&] { trail(options); }), "there is no pass 'csee'; did you mean 'cse'");
}

TEST(Runner, RequiredPassCannotBeDisabled) {
  RunnerOptions options;
  options.disabled = {"decompose"};
  EXPECT_THAT(error_text([&] { trail(options); }), HasSubstr("pass 'decompose' cannot be switched off"));
}

TEST(Runner, InputIsNotChanged) {
  const Graph graph = graph_of(kProgram);
  const std::string before = body_of(graph);
  run_passes(inference_pipeline(), graph, {}, {});
  EXPECT_EQ(body_of(graph), before);
  for (const auto& node : graph.nodes()) EXPECT_TRUE(node->meta.origins.empty()) << node->name;
}

/// Leaves the second operand of the addition behind its user.
PassResult break_order(const Graph& graph, const PassContext&) {
  PassResult result{graph.clone(), {{"break", {1}, {}, ""}}};
  std::vector<Node*> order;
  for (const auto& node : result.graph.nodes()) order.push_back(node.get());
  std::swap(order[1], order[2]);
  result.graph.reorder(order);
  return result;
}

TEST(Runner, InvalidGraphNamesThePass) {
  const std::vector<Pass> broken = {inference_pipeline()[0], {"break_order", "", break_order, "simplified", false}};
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[2]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.neg.default(a)
    return (b,))");
  const std::string error = error_text([&] { run_passes(broken, graph, {}, {}); });
  EXPECT_THAT(error, HasSubstr("pass 'break_order' (after: numbers_as_tensors) made an invalid graph"));
  RunnerOptions unverified;
  unverified.verify = false;
  EXPECT_EQ(error_text([&] { run_passes(broken, graph, {}, unverified); }), "");
}

TEST(Runner, CanBeCancelledBetweenPasses) {
  RunnerOptions options;
  int asked = 0;
  options.cancelled = [&] { return ++asked == 3; };
  EXPECT_EQ(error_text([&] { trail(options); }), "cancelled before pass 'dce'");
}

TEST(Runner, SecondRunFindsNothingToDo) {
  const Graph once = run_passes(inference_pipeline(), graph_of(kProgram), {}, {});
  RunnerOptions options;
  options.observer = [](const PassRun& run, const Graph&) { EXPECT_FALSE(run.changed) << run.pass->name; };
  run_passes(inference_pipeline(), once, {}, options);
}

}  // namespace
}  // namespace strata
