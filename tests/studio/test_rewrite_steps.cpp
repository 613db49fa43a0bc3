// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/rewrite_steps.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/studio/sample_trace.h"
#include "tests/studio/test_support.h"

namespace strata::studio {
namespace {

using namespace trace;

NodeRecord node(NodeId id, std::vector<NodeId> inputs, const std::string& type = "f32[8]") {
  NodeRecord record;
  record.id = id;
  record.name = fmt::format("n{}", id);
  record.op = "call";
  record.target = fmt::format("aten.op{}", id);
  record.dtype = type;
  for (NodeId input : inputs) {
    record.inputs.push_back({input});
    record.args += fmt::format("{}%n{}", record.args.empty() ? "" : ", ", input);
  }
  return record;
}

RewriteRecord rewrite(std::vector<NodeId> before, std::vector<NodeId> after) {
  RewriteRecord record;
  record.rule = "rule";
  record.before = std::move(before);
  record.after = std::move(after);
  return record;
}

/// `1 2(1) 3(1,2)`: ids with their operands.
std::string text(const std::vector<NodeRecord>& nodes) {
  std::string result;
  for (const auto& n : nodes) {
    result += fmt::format("{}{}", result.empty() ? "" : " ", n.id);
    std::string operands;
    for (const auto& operand : n.inputs)
      for (NodeId id : operand) operands += fmt::format("{}{}", operands.empty() ? "" : ",", id);
    if (!operands.empty()) result += "(" + operands + ")";
  }
  return result;
}

std::vector<NodeId> ids(const std::vector<NodeRecord>& nodes) {
  std::vector<NodeId> result;
  for (const auto& n : nodes) result.push_back(n.id);
  return result;
}

using Graph = std::map<NodeId, NodeRecord>;
Graph by_id(const std::vector<NodeRecord>& nodes) {
  Graph result;
  for (const auto& n : nodes) result.emplace(n.id, n);
  return result;
}

/// What must hold of the steps of any pass.
void check(const RewriteSteps& steps) {
  ASSERT_EQ(steps.graph(0), steps.before());
  ASSERT_EQ(steps.graph(steps.count() + 1), steps.after());
  if (steps.complete()) {
    ASSERT_EQ(text(steps.graph(steps.count())), text(steps.after()));
    ASSERT_EQ(steps.graph(steps.count()), steps.after());
  }
  Graph known = by_id(steps.before());
  known.merge(by_id(steps.after()));
  for (size_t k = 1; k <= steps.count() + 1; ++k) {
    SCOPED_TRACE(fmt::format("rewrite {} of {}", k, steps.count()));
    const auto old_nodes = steps.graph(k - 1), new_nodes = steps.graph(k);
    Graph before = by_id(old_nodes), after = by_id(new_nodes);
    ASSERT_EQ(after.size(), new_nodes.size()) << "a node stands twice";
    for (const auto& n : new_nodes)
      for (const auto& operand : n.inputs)
        for (NodeId id : operand)
          ASSERT_TRUE(after.contains(id) || !known.contains(id)) << n.id << " refers to " << id << ", which is gone";
    const SnapshotDiff diff = steps.diff(k);
    Graph applied = before;
    for (const auto& n : diff.removed) ASSERT_EQ(applied.erase(n.id), 1u) << n.id;
    for (const auto& n : diff.added) ASSERT_TRUE(applied.emplace(n.id, n).second) << n.id;
    for (const auto& change : diff.changed) {
      ASSERT_EQ(applied.at(change.before.id), change.before);
      ASSERT_NE(change.before, change.after);
      applied[change.after.id] = change.after;
    }
    ASSERT_EQ(applied, after);
    if (k > steps.count()) continue;
    std::vector<NodeId> a = ids(old_nodes), b = ids(new_nodes);
    std::erase_if(a, [&](NodeId id) { return !after.contains(id); });
    std::erase_if(b, [&](NodeId id) { return !before.contains(id); });
    ASSERT_EQ(a, b) << "nodes changed their order";
  }
  ASSERT_EQ(by_id(steps.together()).size(), known.size());
}

TEST(RewriteSteps, WhatIsReplacedGoesAndItsUsersFollow) {
  // 3 = f(2) becomes 10, 11 = g(10); then 4 becomes 12.
  RewriteSteps steps({node(1, {}), node(2, {1}), node(3, {2}), node(4, {3}), node(5, {4})},
                     {node(1, {}), node(2, {1}), node(10, {2}), node(11, {10}), node(12, {11}), node(5, {12})},
                     {rewrite({3}, {10, 11}), rewrite({4}, {12})});
  check(steps);
  EXPECT_TRUE(steps.complete());
  EXPECT_EQ(text(steps.graph(0)), "1 2(1) 3(2) 4(3) 5(4)");
  EXPECT_EQ(text(steps.graph(1)), "1 2(1) 10(2) 11(10) 4(11) 5(4)");
  EXPECT_EQ(text(steps.graph(2)), "1 2(1) 10(2) 11(10) 12(11) 5(12)");
  const SnapshotDiff first = steps.diff(1);
  EXPECT_EQ(text(first.added), "10(2) 11(10)");
  EXPECT_EQ(text(first.removed), "3(2)");
  ASSERT_EQ(first.changed.size(), 1u);
  EXPECT_EQ(first.changed[0].after.args, "%n11") << "names in the text follow";
}

TEST(RewriteSteps, WhatIsMadeRefersToWhatStandsThen) {
  // Rewritten from the last to the first: 11 is made before its operand 10 is.
  RewriteSteps steps({node(1, {}), node(2, {1}), node(3, {2})}, {node(1, {}), node(10, {1}), node(11, {10})},
                     {rewrite({3}, {11}), rewrite({2}, {10})});
  check(steps);
  EXPECT_EQ(text(steps.graph(1)), "1 2(1) 11(2)");
  EXPECT_EQ(steps.graph(1)[2].args, "%n2");
  EXPECT_EQ(text(steps.graph(2)), "1 10(1) 11(10)");
}

TEST(RewriteSteps, NodesThatNoRewriteNamesComeAndGoWithTheirUsers) {
  // The rewrite names only the roots of the pattern: 2 goes with 3, 10 comes with 11.
  RewriteSteps steps({node(1, {}), node(2, {1}), node(3, {2}), node(4, {3})},
                     {node(1, {}), node(10, {1}), node(11, {10}), node(4, {11})},
                     {rewrite({1}, {1}), rewrite({3}, {11})});
  check(steps);
  EXPECT_TRUE(steps.complete());
  EXPECT_EQ(text(steps.graph(1)), text(steps.graph(0)));
  EXPECT_EQ(text(steps.graph(2)), "1 10(1) 11(10) 4(11)");
}

TEST(RewriteSteps, ANodeThatTakesTheUsersOfAnother) {
  RewriteSteps steps({node(1, {}), node(2, {1}), node(3, {1}), node(4, {2, 3})},
                     {node(1, {}), node(2, {1}), node(4, {2, 2})}, {rewrite({3}, {2})});
  check(steps);
  EXPECT_TRUE(steps.complete());
  EXPECT_EQ(text(steps.graph(1)), "1 2(1) 4(2,2)");
}

TEST(RewriteSteps, WhatIsMadeAndRemovedWithinThePass) {
  // 2 becomes 99, which becomes 10; 99 is in neither graph: 2 stands until 10 is there.
  RewriteSteps steps({node(1, {}), node(2, {1}), node(3, {2})}, {node(1, {}), node(10, {1}), node(3, {10})},
                     {rewrite({2}, {99}), rewrite({99}, {10})});
  check(steps);
  EXPECT_TRUE(steps.complete());
  EXPECT_EQ(text(steps.graph(1)), "1 2(1) 3(2)");
  EXPECT_EQ(text(steps.graph(2)), "1 10(1) 3(10)");
}

TEST(RewriteSteps, WhatRewritesDoNotSayIsTheRest) {
  RewriteSteps steps({node(1, {}), node(2, {1}), node(7, {})}, {node(1, {}), node(2, {1}), node(8, {})},
                     {rewrite({2}, {2})});
  check(steps);
  EXPECT_FALSE(steps.complete());
  EXPECT_EQ(text(steps.graph(1)), "1 2(1) 7");
  EXPECT_EQ(text(steps.diff(2).added), "8");
  EXPECT_EQ(text(steps.diff(2).removed), "7");
}

TEST(RewriteSteps, BrokenRecordsAreEndured) {
  const std::vector<NodeRecord> before = {node(1, {1, 77}), node(2, {3}), node(3, {2}), node(3, {1}), node(0, {})};
  const std::vector<NodeRecord> after = {node(3, {9}), node(9, {3, 3}), node(1, {2, -5}), node(9, {}), node(1, {})};
  std::vector<RewriteRecord> rewrites = {rewrite({}, {}), rewrite({2}, {2, 2}), rewrite({500}, {501}),
                                         rewrite({501, 2, 9}, {3, 9, -1}), rewrite({2}, {})};
  RewriteSteps steps(before, after, rewrites);
  for (size_t k = 0; k < 8; ++k) {
    steps.graph(k);
    steps.diff(k);
  }
  steps.together();
  EXPECT_FALSE(steps.complete());
  EXPECT_EQ(steps.graph(99), after);
  RewriteSteps nothing({}, {}, {rewrite({1}, {2})});
  check(nothing);
}

TEST(RewriteSteps, WordsAreReplacedWhole) {
  EXPECT_EQ(rename_words("%relu_1, %relu_12, [relu_1:2]", {{"relu_1", "add"}}), "%add, %relu_12, [add:2]");
  EXPECT_EQ(rename_words("", {{"a", "b"}}), "");
}

/// A pass that is carried out for real, with every graph between kept.
struct Simulated {
  std::vector<std::vector<NodeRecord>> graphs;
  std::vector<RewriteRecord> rewrites;
};

Simulated simulate(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  std::vector<NodeRecord> nodes = {node(1, {})};
  NodeId next = 2;
  const size_t size = 5 + below(40);
  while (nodes.size() < size) {
    nodes.push_back(node(next, {nodes[below(nodes.size())].id, nodes[below(nodes.size())].id}));
    ++next;
  }
  std::vector<NodeId> rewritable = ids(nodes);
  Simulated result;
  result.graphs.push_back(nodes);
  const size_t count = 1 + below(10);
  for (size_t r = 0; r < count && rewritable.size() > 2; ++r) {
    const size_t pick = 1 + below(rewritable.size() - 1);
    const NodeId old_id = rewritable[pick];
    rewritable.erase(rewritable.begin() + static_cast<long>(pick));
    auto at = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.id == old_id; });
    NodeRecord old_node = *at;
    std::vector<NodeId> operands;
    for (const auto& operand : old_node.inputs) operands.push_back(operand[0]);
    std::vector<NodeRecord> made;
    const size_t parts = below(4);  // 0: another node takes its users
    for (size_t p = 0; p < parts; ++p) {
      made.push_back(node(next, p == 0 ? operands : std::vector<NodeId>{made.back().id}));
      ++next;
    }
    const NodeId stand_in = made.empty() ? operands[below(operands.size())] : made.back().id;
    RewriteRecord record = rewrite({old_id}, {});
    for (const auto& n : made) record.after.push_back(n.id);
    if (made.empty()) record.after = {stand_in};
    at = nodes.erase(at);
    nodes.insert(at, made.begin(), made.end());
    for (auto& n : nodes) {
      bool changed = false;
      for (auto& operand : n.inputs)
        for (NodeId& id : operand)
          if (id == old_id) id = stand_in, changed = true;
      if (changed) n.args = rename_words(n.args, {{fmt::format("n{}", old_id), fmt::format("n{}", stand_in)}});
    }
    result.graphs.push_back(nodes);
    result.rewrites.push_back(record);
  }
  return result;
}

TEST(RewriteSteps, EveryGraphOfASimulatedPassIsRebuilt) {
  size_t rewrites = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const Simulated pass = simulate(seed);
    RewriteSteps steps(pass.graphs.front(), pass.graphs.back(), pass.rewrites);
    const Graph first = by_id(pass.graphs.front());
    SCOPED_TRACE(fmt::format("seed {}", seed));
    check(steps);
    ASSERT_TRUE(steps.complete());
    for (size_t k = 0; k < pass.graphs.size(); ++k) {
      const auto rebuilt = steps.graph(k);
      ASSERT_EQ(ids(rebuilt), ids(pass.graphs[k])) << k;
      // What a new node referred to at first is not in the trace when that was replaced later.
      for (size_t i = 0; i < rebuilt.size(); ++i)
        if (first.contains(rebuilt[i].id)) {
          ASSERT_EQ(rebuilt[i], pass.graphs[k][i]) << k << ": " << text({rebuilt[i], pass.graphs[k][i]});
        }
    }
    rewrites += pass.rewrites.size();
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(rewrites, 1000u);
}

TEST(RewriteSteps, EveryPassOfATraceIsRebuilt) {
  test::TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {3, false});
  std::vector<std::filesystem::path> traces = {folder / "cnn.strata"};
  // Traces of real models can be checked too: a folder of them.
  if (const char* more = std::getenv("STRATA_TEST_TRACES"))
    for (const auto& entry : std::filesystem::directory_iterator(more))
      if (entry.path().extension() == ".strata") traces.push_back(entry.path());
  size_t passes = 0, complete = 0;
  for (const auto& path : traces) {
    Reader reader(path);
    for (const auto& compile : reader.compiles()) {
      const SnapshotRecord* before = nullptr;
      const auto snapshots = reader.snapshots(compile.id);
      for (const auto& snapshot : snapshots) {
        if (snapshot.kind != SnapshotKind::Graph) continue;
        const SnapshotRecord* last = std::exchange(before, &snapshot);
        auto rewrites = reader.rewrites_of_pass(snapshot.pass);
        if (!last || rewrites.empty()) continue;
        SCOPED_TRACE(path.filename().string() + " " + snapshot.stage);
        RewriteSteps steps(reader.nodes(last->id), reader.nodes(snapshot.id), std::move(rewrites));
        check(steps);
        ++passes;
        complete += steps.complete();
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GE(passes, 3u);
  EXPECT_GE(complete, 2u) << "functionalize and cse say all they did";
}

}  // namespace
}  // namespace strata::studio
