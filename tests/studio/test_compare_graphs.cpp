// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Which node is which in two graphs, and how they differ.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "app/studio/models/comparison_graph.h"
#include "app/studio/models/comparison_sequence.h"
#include "tests/studio/compare_support.h"

namespace strata::studio {
namespace {

using test::make_graph;
using test::remove_node;
using trace::NodeRecord;
using Nodes = std::vector<NodeRecord>;

GraphComparison compare(const Nodes& a, const Nodes& b) { return compare_graphs({&a, {}}, {&b, {}}, false); }

/// Gives every operator another name, as another compile would.
void rename(Nodes& nodes) {
  for (size_t i = 1; i < nodes.size(); ++i) nodes[i].name = "other_" + std::to_string(i);
  for (size_t i = 1; i < nodes.size(); ++i) {
    nodes[i].args.clear();
    for (const auto& operand : nodes[i].inputs)
      for (const NodeRecord& n : nodes)
        if (n.id == operand.front()) nodes[i].args += (nodes[i].args.empty() ? "" : ", ") + n.name;
  }
}

TEST(CompareGraphs, TheSameGraphUnderOtherNamesAndIds) {
  for (const bool modules : {true, false}) {
    const Nodes a = make_graph(200, 1, modules);
    Nodes b = make_graph(200, 5001, modules);
    rename(b);
    const GraphComparison c = compare(a, b);
    EXPECT_EQ(c.same, 200) << modules;
    EXPECT_TRUE(c.differences.empty());
    EXPECT_EQ(graph_verdict(c), "All 200 nodes are the same.");
  }
}

TEST(CompareGraphs, ANodeMoreMovesNothing) {
  const Nodes a = make_graph(120, 1);
  for (const size_t at : {1u, 2u, 50u, 118u}) {
    Nodes b = a;
    remove_node(b, at);
    rename(b);
    const GraphComparison c = compare(a, b);
    EXPECT_EQ(c.only_a, 1) << at;
    EXPECT_EQ(c.only_b, 0) << at;
    // Its users have another operand now, and nothing else is touched.
    EXPECT_EQ(c.same + c.changed, 119) << at;
    EXPECT_GE(c.changed, 1) << at;
    EXPECT_LE(c.changed, 2) << at;
    const GraphComparison back = compare(b, a);
    EXPECT_EQ(back.only_b, 1);
    EXPECT_EQ(back.same, c.same);
  }
}

TEST(CompareGraphs, ReasonsSayWhatDiffers) {
  const Nodes a = make_graph(40, 1);
  Nodes b = make_graph(40, 101);
  b[3].shape = "[s0, 128]";
  b[3].type = "f32[s0, 128][128, 1]cpu";
  b[9].dtype = "bf16";
  b[9].type = "bf16[8, 128][128, 1]cpu";
  b[17].type = "f32[8, 128][1, 8]cpu";
  b[22].args = a[21].name + ", 0.5";
  b[30].target = "aten.relu.default";
  const GraphComparison c = compare(a, b);
  ASSERT_EQ(c.differences.size(), 5u);
  EXPECT_EQ(c.differences[0].reason, "shape: [8, 128] → [s0, 128]");
  EXPECT_EQ(c.differences[1].reason, "dtype: f32 → bf16");
  EXPECT_THAT(c.differences[2].reason, testing::HasSubstr("strides: "));
  EXPECT_EQ(c.differences[3].reason, "arguments: · → ·, 0.5");
  EXPECT_EQ(c.differences[4].reason, "operator: aten.add.Tensor → aten.relu.default");
  EXPECT_EQ(c.changed, 5);
}

TEST(CompareGraphs, AnotherOperandIsADifference) {
  const Nodes a = make_graph(60, 1);
  Nodes b = a;
  b[31].inputs = {{b[28].id}};
  const GraphComparison c = compare(a, b);
  ASSERT_EQ(c.differences.size(), 1u);
  EXPECT_EQ(c.differences[0].reason, "operand 1: %" + a[30].name + " → %" + b[28].name);
}

TEST(CompareGraphs, AnyNodesCanBeMissing) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 20; ++round) {
    const Nodes a = make_graph(300, 1);
    Nodes b = a;
    std::set<trace::NodeId> gone;
    for (int i = 0; i < 12; ++i) {
      const size_t at = 1 + random() % (b.size() - 1);
      gone.insert(b[at].id);
      remove_node(b, at);
    }
    rename(b);
    const GraphComparison c = compare(a, b);
    // Partners are those that they were made from (ids stayed), but for operators that stand for each other.
    size_t right = 0;
    for (size_t i = 0; i < a.size(); ++i)
      right += c.b_of_a[i] >= 0 && b[static_cast<size_t>(c.b_of_a[i])].id == a[i].id;
    EXPECT_GE(right, b.size() - 2 * gone.size());
    EXPECT_EQ(c.same + c.changed + c.only_a, static_cast<int>(a.size()));
    EXPECT_EQ(c.same + c.changed + c.only_b, static_cast<int>(b.size()));
  }
}

TEST(CompareGraphs, CountsAddUpByOperatorAndModule) {
  const Nodes a = make_graph(160, 1);
  Nodes b = make_graph(160, 1001);
  remove_node(b, 77);
  remove_node(b, 20);
  b[5].shape = "[9, 128]";
  const GraphComparison c = compare(a, b);
  for (const auto* counts : {&c.operators, &c.modules}) {
    GraphCount all;
    for (const GraphCount& g : *counts) {
      all.a += g.a, all.b += g.b, all.same += g.same, all.changed += g.changed, all.only_a += g.only_a,
          all.only_b += g.only_b;
    }
    EXPECT_EQ(all.a, 160);
    EXPECT_EQ(all.b, 158);
    EXPECT_EQ(all.same, c.same);
    EXPECT_EQ(all.changed, c.changed);
    EXPECT_EQ(all.only_a, c.only_a);
    EXPECT_EQ(all.only_b, c.only_b);
    EXPECT_TRUE(counts->front().differs());
  }
  EXPECT_EQ(difference_rows(c).size(), c.differences.size());
}

TEST(CompareGraphs, GraphsWithNothingInCommonAndEmptyOnes) {
  const Nodes a = make_graph(50, 1), none;
  Nodes b = make_graph(70, 1);
  for (NodeRecord& n : b) n.target = n.op = "foreign." + n.name;
  const GraphComparison c = compare(a, b);
  EXPECT_EQ(c.same, 0);
  EXPECT_EQ(c.only_a + c.changed, 50);
  EXPECT_EQ(compare(none, none).differences.size(), 0u);
  EXPECT_EQ(compare(a, none).only_a, 50);
  EXPECT_EQ(compare(none, a).only_b, 50);
}

TEST(CompareGraphs, CyclesAndDanglingOperandsAreNoTrap) {
  Nodes a = make_graph(30, 1), b = make_graph(30, 1);
  a[4].inputs = {{a[9].id}, {a[4].id}, {987654321}};
  b[7].inputs = {{b[7].id}};
  const GraphComparison c = compare(a, b);
  EXPECT_EQ(c.same + c.changed + c.only_a, 30);
}

TEST(CompareGraphs, ItStopsWhenAsked) {
  const Nodes a = make_graph(5000, 1), b = make_graph(5000, 9001);
  int asked = 0;
  EXPECT_THROW(compare_graphs({&a, {}}, {&b, {}}, false, [&] { return ++asked > 2; }), ComparisonStopped);
}

TEST(CompareGraphs, StagesOfOneCompileGoByTheirIds) {
  test::TemporaryFolder folder;
  test::write_sample_trace(folder / "cnn.strata", {2, false});
  auto [a, b] = test::sides(folder / "cnn.strata");
  EXPECT_EQ(a.stage, "captured");
  EXPECT_EQ(b.stage, "scheduled");
  const GraphComparison c = load_graph_comparison(a, b);
  EXPECT_TRUE(c.by_id);
  std::set<trace::NodeId> before, after;
  for (const auto& n : c.a) before.insert(n.id);
  for (const auto& n : c.b) after.insert(n.id);
  int both = 0;
  for (const auto id : before) both += static_cast<int>(after.count(id));
  EXPECT_EQ(c.same + c.changed, both);
  EXPECT_EQ(c.only_b, static_cast<int>(after.size()) - both);
}

TEST(CompareGraphs, ArgumentsWithoutNames) {
  NodeRecord n;
  n.args = "%mm_1, [mm, 2], mm_10, alpha = mm";
  EXPECT_EQ(arguments_without_names(n, {"mm", "mm_1"}), "·, [·, 2], mm_10, alpha = ·");
}

TEST(CompareSequence, PairsRiseAndHaveEqualLabels) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 200; ++round) {
    const auto sequence = [&](size_t n) {
      std::vector<std::uint64_t> labels(n);
      for (auto& l : labels) l = random() % (2 + round % 40);
      return labels;
    };
    const auto a = sequence(random() % 80), b = sequence(random() % 80);
    std::vector<int> items_a(a.size()), items_b(b.size());
    for (size_t i = 0; i < a.size(); ++i) items_a[i] = static_cast<int>(i);
    for (size_t i = 0; i < b.size(); ++i) items_b[i] = static_cast<int>(i);
    SequenceAligner aligner(items_a, items_b, [] {});
    aligner.refine(a, b);
    int last_a = -1, last_b = -1;
    for (const auto& [x, y] : aligner.pairs()) {
      EXPECT_GT(x, last_a);
      EXPECT_GT(y, last_b);
      EXPECT_EQ(a[static_cast<size_t>(x)], b[static_cast<size_t>(y)]);
      last_a = x, last_b = y;
    }
  }
}

/// Where no label occurs once there are no anchors, and the longest common subsequence is found.
TEST(CompareSequence, TheShortestDifferenceOfRepeatingLabels) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> a(60), b(60);
    for (auto* s : {&a, &b})
      for (auto& label : *s) label = random() % 2;
    std::vector<std::vector<int>> best(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (size_t i = 1; i <= a.size(); ++i)
      for (size_t j = 1; j <= b.size(); ++j)
        best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
    std::vector<int> items(a.size());
    for (size_t i = 0; i < a.size(); ++i) items[i] = static_cast<int>(i);
    SequenceAligner aligner(items, items, [] {});
    aligner.refine(a, b);
    EXPECT_EQ(static_cast<int>(aligner.pairs().size()), best[a.size()][b.size()]);
  }
}

}  // namespace
}  // namespace strata::studio
