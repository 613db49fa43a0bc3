// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/text_diff.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <random>
#include <set>

#include "app/draw/layout.h"

namespace strata::studio {
namespace {

using trace::NodeId;
using trace::NodeRecord;

NodeRecord node(NodeId id, const std::string& name, const std::string& target, const std::string& args = "") {
  NodeRecord record;
  record.id = id;
  record.name = name;
  record.op = "call";
  record.target = target;
  record.args = args;
  record.dtype = "f32";
  record.shape = "[8]";
  return record;
}

/// `=` same, `+`, `-`, `~` changed, `<` moved away, `>` moved here.
std::string shape(const TextDiff& diff) {
  std::string text;
  for (const auto& row : diff.rows) text += "=+-~<>"[static_cast<size_t>(row.kind)];
  return text;
}

/// What must hold of any comparison: both texts are there, whole and in order.
void check(const TextDiff& diff, const std::vector<NodeRecord>& before, const std::vector<NodeRecord>& after) {
  std::vector<int> left, right;
  size_t changed = 0, added = 0, removed = 0, moved = 0;
  for (const auto& row : diff.rows) {
    const bool both = row.kind == DiffKind::Same || row.kind == DiffKind::Changed;
    if (both || row.kind == DiffKind::Removed || row.kind == DiffKind::MovedAway) left.push_back(row.left);
    if (row.right >= 0) right.push_back(row.right);
    if (both) {
      ASSERT_EQ(row.kind == DiffKind::Same,
                diff.left[static_cast<size_t>(row.left)] == diff.right[static_cast<size_t>(row.right)]);
    }
    if (row.kind == DiffKind::Moved) {
      ASSERT_EQ(diff.left_nodes[static_cast<size_t>(row.left)], diff.right_nodes[static_cast<size_t>(row.right)]);
    }
    changed += row.kind == DiffKind::Changed, added += row.kind == DiffKind::Added;
    removed += row.kind == DiffKind::Removed, moved += row.kind == DiffKind::Moved;
  }
  ASSERT_EQ(left.size(), before.size());
  ASSERT_EQ(right.size(), after.size());
  for (size_t i = 0; i < left.size(); ++i) ASSERT_EQ(left[i], static_cast<int>(i));
  for (size_t i = 0; i < right.size(); ++i) ASSERT_EQ(right[i], static_cast<int>(i));
  ASSERT_EQ(changed, diff.changed);
  ASSERT_EQ(added, diff.added);
  ASSERT_EQ(removed, diff.removed);
  ASSERT_EQ(moved, diff.moved);
}

TEST(TextDiff, ALineSaysWhatANodeIs) {
  EXPECT_EQ(node_line(node(1, "relu_1", "aten.relu.default", "add_3")), "relu_1: f32[8] = aten.relu.default(add_3)");
  NodeRecord input = node(2, "x", "x");
  input.op = "placeholder";
  EXPECT_EQ(node_line(input), "x: f32[8] = placeholder");
  NodeRecord output = node(3, "output", "output", "(relu_1,)");
  output.op = "output";
  EXPECT_EQ(node_line(output), "return (relu_1,)");
}

TEST(TextDiff, LinesOfANodeBelongTogether) {
  const std::vector<NodeRecord> before = {node(1, "a", "f"), node(2, "b", "g", "a"), node(3, "c", "h", "b")};
  const std::vector<NodeRecord> after = {node(1, "a", "f"), node(2, "renamed", "g", "a"), node(9, "d", "k", "renamed"),
                                         node(3, "c", "h", "d")};
  const TextDiff diff = diff_graphs(before, after);
  check(diff, before, after);
  EXPECT_EQ(shape(diff), "=~+~");
}

TEST(TextDiff, AMovedLineIsRecognised) {
  const std::vector<NodeRecord> before = {node(1, "a", "f"), node(2, "b", "g"), node(3, "c", "h"), node(4, "d", "k")};
  const std::vector<NodeRecord> after = {node(2, "b", "g"), node(3, "c", "h"), node(4, "d", "k"), node(1, "a", "f")};
  const TextDiff diff = diff_graphs(before, after);
  check(diff, before, after);
  EXPECT_EQ(shape(diff), "<===>");
  EXPECT_EQ(diff.moved, 1u);
  EXPECT_EQ(diff.added + diff.removed + diff.changed, 0u);
  EXPECT_FALSE(diff.same());
}

TEST(TextDiff, NodesThatWereNumberedAnewAreMatchedByWhatTheySay) {
  std::vector<NodeRecord> before, after;
  for (int i = 0; i < 20; ++i) {
    before.push_back(node(i + 1, fmt::format("n{}", i), "aten.op" + std::to_string(i)));
    after.push_back(node(i + 101, fmt::format("n{}", i), "aten.op" + std::to_string(i)));
  }
  after[5].args = "other";
  const TextDiff diff = diff_graphs(before, after);
  check(diff, before, after);
  EXPECT_EQ(shape(diff), "=====~==============");
}

TEST(TextDiff, ANodeGoesWithItselfOrWithNone) {
  // 1 moved to the end; at its place stands a new node of the same operator.
  const std::vector<NodeRecord> before = {node(1, "a", "f"), node(2, "b", "g"), node(3, "c", "h")};
  const std::vector<NodeRecord> after = {node(7, "z", "f"), node(2, "b", "g"), node(3, "c", "h"), node(1, "a", "f")};
  const TextDiff diff = diff_graphs(before, after);
  check(diff, before, after);
  EXPECT_EQ(shape(diff), "<+==>");
}

TEST(TextDiff, RandomEditsKeepBothTexts) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 200; ++round) {
    std::vector<NodeRecord> before, after;
    const size_t size = below(60);
    for (size_t i = 0; i < size; ++i)
      before.push_back(node(static_cast<NodeId>(i + 1), fmt::format("n{}", i), fmt::format("op{}", below(4))));
    after = before;
    for (size_t edit = below(15); edit > 0 && !after.empty(); --edit) {
      const size_t at = below(after.size());
      const auto place = after.begin() + static_cast<long>(at);
      switch (below(4)) {
        case 0:
          after.erase(place);
          break;
        case 1:
          after.insert(place, node(static_cast<NodeId>(1000 + below(1000)), "new", fmt::format("op{}", below(4))));
          break;
        case 2:
          place->args += "x";
          break;
        default:
          std::swap(after[at], after[below(after.size())]);
      }
    }
    check(diff_graphs(before, after), before, after);
    check(diff_graphs(after, before), after, before);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(TextDiff, EqualGraphsAreTheSameAndEmptyOnesAreEndured) {
  const std::vector<NodeRecord> nodes = {node(1, "a", "f"), node(1, "a", "f"), node(0, "", "")};
  EXPECT_TRUE(diff_graphs({}, {}).same());
  check(diff_graphs(nodes, {}), nodes, {});
  check(diff_graphs({}, nodes), {}, nodes);
  check(diff_graphs(nodes, nodes), nodes, nodes);
  EXPECT_EQ(diff_graphs(nodes, {}).removed, 3u);
}

TEST(TextDiff, ItStopsWhenAsked) {
  const std::vector<NodeRecord> nodes = {node(1, "a", "f")};
  EXPECT_THROW(diff_graphs(nodes, nodes, [] { return true; }), draw::Stopped);
}

TEST(DifferingWords, OnlyWhatDiffersIsMarked) {
  const std::string a = "add: f32[8] = aten.add.Tensor(x, relu_1)", b = "add: f32[8] = aten.add.Tensor(x, fused_12)";
  const auto [left, right] = differing_words(a, b);
  ASSERT_EQ(left.size(), 1u);
  ASSERT_EQ(right.size(), 1u);
  EXPECT_EQ(a.substr(static_cast<size_t>(left[0].first), static_cast<size_t>(left[0].second - left[0].first)),
            "relu_1");
  EXPECT_EQ(b.substr(static_cast<size_t>(right[0].first), static_cast<size_t>(right[0].second - right[0].first)),
            "fused_12");
  EXPECT_TRUE(differing_words(a, a).first.empty());
}

TEST(DifferingWords, UnlikeLinesAreMarkedWhole) {
  const auto [left, right] = differing_words("abc", "x: y(z) = w");
  EXPECT_EQ(left, (WordMarks{{0, 3}}));
  EXPECT_EQ(right, (WordMarks{{0, 11}}));
  const std::string giant(100000, 'a');
  EXPECT_EQ(differing_words(giant, "b").first, (WordMarks{{0, 100000}}));
  EXPECT_TRUE(differing_words("", "b").first.empty());
}

TEST(DifferingWords, SequencesOfUtf8StayWhole) {
  const std::string a = "größe = f(x)", b = "größer = f(x)";
  const auto [left, right] = differing_words(a, b);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0], std::pair(0, 7));
  EXPECT_EQ(right[0], std::pair(0, 8));
}

std::vector<DiffRow> rows_of(const std::string& text) {
  std::vector<DiffRow> rows;
  int line = 0;
  for (char c : text) {
    rows.push_back({c == '=' ? DiffKind::Same : DiffKind::Changed, line, line});
    ++line;
  }
  return rows;
}

TEST(FoldRows, LongRunsWithoutADifferenceAreFolded) {
  const auto folds = fold_rows(rows_of("==========~==========~~=======~======"), 3);
  EXPECT_EQ(folds, (std::vector<DiffFold>{{0, 7, true}, {7, 7, false}, {14, 4, true}, {18, 16, false}, {34, 3, true}}));
  int next = 0;
  for (const auto& fold : folds) {
    EXPECT_EQ(fold.first, next);
    next += fold.count;
  }
  EXPECT_EQ(next, 37);
  EXPECT_TRUE(fold_rows({}).empty());
  EXPECT_EQ(fold_rows(rows_of("=======")), (std::vector<DiffFold>{{0, 7, true}}));
}

TEST(TextDiff, AsText) {
  std::vector<NodeRecord> before, after;
  for (int i = 0; i < 30; ++i) before.push_back(node(i + 1, fmt::format("n{}", i), "op"));
  after = before;
  after[15].args = "x";
  after.erase(after.begin() + 16);
  TextDiff diff = diff_graphs(before, after);
  diff.left_title = "captured";
  diff.right_title = "functional";
  EXPECT_EQ(diff.to_text(1),
            "--- captured\n+++ functional\n@@ 14 lines without a difference @@\n  n14: f32[8] = op()\n"
            "- n15: f32[8] = op()\n+ n15: f32[8] = op(x)\n- n16: f32[8] = op()\n  n17: f32[8] = op()\n"
            "@@ 12 lines without a difference @@\n");
}

}  // namespace
}  // namespace strata::studio
