// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// "Why did these two not fuse?" has an answer for every pair that shares data.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "capture/pt2.h"
#include "core/support/error.h"
#include "passes/pass.h"
#include "passes/schedule.h"
#include "tests/graphs/generator.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using Rule = FusionDecision::Rule;

/// Looks for pairs without an answer, from the groups and the graph alone.
class Pairs {
 public:
  Pairs(const Graph& graph, const Fused& fused) : graph_(graph), fused_(fused) {
    for (size_t g = 0; g < fused.groups.size(); ++g)
      for (const Node* node : fused.groups[g].nodes)
        group_[node] = static_cast<int>(g), of_id_[node->id] = static_cast<int>(g);
    for (const FusionDecision& d : fused.decisions) note(d);
  }

  /// The first complaint; empty if there is none.
  std::string missing() {
    if (!wrong_.empty()) return wrong_;
    for (const auto& node : graph_.nodes()) {
      if (!group_.contains(node.get())) continue;
      for (const Node* operand : node->operands()) {
        if (!operand->type.is_tensor()) continue;
        const Node* value = fused_.layouts.base(operand);
        const Node* maker = value;
        while (maker->target == "_operator.getitem") maker = fused_.layouts.base(maker->args.at(0).node());
        if (maker == node.get()) continue;
        if (group_.contains(maker) && !nodes_.contains({maker->id, node->id}))
          return "no answer for '" + maker->name + "' and its reader '" + node->name + "'";
        if (!group_.contains(maker) || group_.at(maker) != group_.at(node.get())) readers_[value].insert(node.get());
      }
    }
    for (const auto& [value, readers] : readers_) {
      if (std::string why = siblings(*value, readers); !why.empty()) return why;
    }
    return "";
  }

  size_t pairs() const { return pairs_; }

 private:
  void note(const FusionDecision& d) {
    const std::string names = graph_name(d.producer) + " and " + graph_name(d.consumer);
    if (d.reason.empty()) wrong_ = "no reason for " + names;
    if (d.rule == Rule::Crowd) {
      crowds_.insert({d.producer, of_id_.at(d.consumer)});
      return;
    }
    if (!of_id_.contains(d.producer) || !of_id_.contains(d.consumer)) {
      wrong_ = names + " are in no kernel";
      return;
    }
    const int a = of_id_.at(d.producer), b = of_id_.at(d.consumer);
    if (d.accepted != (a == b))
      wrong_ = names + (d.accepted ? ": accepted, but in two kernels" : ": refused, but in one kernel");
    nodes_.insert({d.producer, d.consumer});
    groups_.insert(std::minmax(a, b));
  }

  std::string graph_name(NodeId id) const {
    for (const auto& node : graph_.nodes())
      if (node->id == id) return "'" + node->name + "'";
    return "?";
  }

  std::string siblings(const Node& value, const std::set<const Node*>& readers) {
    std::map<int, const Node*> kernels;
    for (const Node* r : readers) kernels.emplace(group_.at(r), r);
    for (const auto& [a, first] : kernels) {
      for (const auto& [b, second] : kernels) {
        if (a >= b) continue;
        ++pairs_;
        const bool crowd = crowds_.contains({value.id, a}) && crowds_.contains({value.id, b});
        if (!crowd && !groups_.contains({a, b}))
          return "no answer for '" + first->name + "' and '" + second->name + "', which both read '" + value.name + "'";
      }
    }
    return "";
  }

  const Graph& graph_;
  const Fused& fused_;
  std::map<const Node*, int> group_;
  std::map<NodeId, int> of_id_;
  std::set<std::pair<NodeId, NodeId>> nodes_;
  std::set<std::pair<NodeId, int>> crowds_;
  std::set<std::pair<int, int>> groups_;
  std::map<const Node*, std::set<const Node*>> readers_;
  std::string wrong_;
  size_t pairs_ = 0;
};

Fused fused_of(const Graph& graph, bool within_operators) {
  FuseOptions options;
  options.within_operators = within_operators;
  options.capabilities = &cpu_library_capabilities();
  size_t i = 0;
  for (const Node* input : graph.placeholders())
    if (i < graph.input_specs.size() && graph.input_specs[i++].kind != InputSpec::Kind::User)
      options.constants.insert(input);
  return fuse(graph, options);
}

/// Both pipelines; gives the number of pairs of kernels that read the same value.
size_t expect_answers(const Graph& captured, const std::map<std::string, Tensor>& state) {
  size_t pairs = 0;
  for (const bool within : {false, true}) {
    PassContext context;
    context.state = &state;
    const Graph graph = run_passes(within ? unfused_pipeline() : inference_pipeline(), captured, context, {});
    const Fused fused = fused_of(graph, within);
    Pairs found(graph, fused);
    EXPECT_EQ(found.missing(), "") << (within ? "unfused" : "inference");
    pairs += found.pairs();
  }
  return pairs;
}

/// Control flow, which compiling a program refuses before it comes to fusion.
bool has_foreign_operators(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return node->kind == NodeKind::Call && !node->op; });
}

TEST(FusionAnswers, EveryFixture) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "pt2"))
    if (entry.path().extension() == ".pt2") files.push_back(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(STRATA_BINARY_DIR) / "models"))
    if (entry.path().extension() == ".pt2") files.push_back(entry.path());
  ASSERT_GE(files.size(), 8u);
  size_t scheduled = 0, pairs = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    try {
      const Program program = load_pt2(file);
      if (has_foreign_operators(program.graph)) continue;
      pairs += expect_answers(program.graph, program.state);
      ++scheduled;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::User) << e.what();  // complex numbers
    }
  }
  EXPECT_GE(scheduled, 6u);
  EXPECT_GT(pairs, 50u);
}

TEST(FusionAnswers, RandomGraphs) {
  size_t pairs = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const fuzz::RandomProgram program = fuzz::random_program(seed);
    const auto state = program.state();
    try {
      pairs += expect_answers(program.graph, state);
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::Internal) << e.what();  // some are wrong on purpose
    }
  }
  EXPECT_GT(pairs, 20u);
}

/// More readers than are looked at in pairs: each has an answer with the value.
TEST(FusionAnswers, Crowds) {
  std::string text = "\ndef forward(self, x: \"f32[8, 8]\"):\n", results;
  for (size_t i = 0; i < kMaxSiblings + 3; ++i) {
    const std::string name = "m" + std::to_string(i);
    text += "    " + name + " = torch.ops.aten.mm.default(x, " + (i == 0 ? "x" : "m" + std::to_string(i - 1)) + ")\n";
    results = name;
  }
  text += "    return (" + results + ",)";
  const Graph graph = testing::graph_of(text.c_str());
  const Fused fused = fused_of(graph, false);
  Pairs found(graph, fused);
  EXPECT_EQ(found.missing(), "");
  size_t crowd = 0;
  for (const FusionDecision& d : fused.decisions) crowd += d.rule == Rule::Crowd ? 1 : 0;
  EXPECT_EQ(crowd, kMaxSiblings + 3);
}

}  // namespace
}  // namespace strata
