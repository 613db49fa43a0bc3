// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "app/draw/layout.h"
#include "tests/studio/drawing.h"

namespace strata::draw {
namespace {

using test::record;
using trace::NodeRecord;

/// A wide program: chains side by side that meet, some with weights.
std::vector<NodeRecord> program(std::mt19937& random) {
  std::vector<NodeRecord> nodes = {record(1, {})};
  std::vector<trace::NodeId> last(8, 1);
  for (int i = 2; i < 140; ++i) {
    const size_t chain = random() % last.size();
    std::vector<trace::NodeId> operands = {last[chain]};
    if (random() % 6 == 0) operands.push_back(last[random() % last.size()]);
    nodes.push_back(record(i, operands));
    last[chain] = i;
  }
  return nodes;
}

/// The next stage: some nodes are bypassed.
std::vector<NodeRecord> without_some(const std::vector<NodeRecord>& nodes, std::mt19937& random) {
  std::vector<NodeRecord> fewer;
  std::map<trace::NodeId, trace::NodeId> instead;
  for (NodeRecord node : nodes) {
    for (auto& operand : node.inputs)
      for (auto& id : operand)
        if (const auto at = instead.find(id); at != instead.end()) id = at->second;
    const bool gone = node.inputs.size() == 1 && random() % 12 == 0;
    if (gone)
      instead[node.id] = node.inputs[0][0];
    else
      fewer.push_back(node);
  }
  return fewer;
}

/// Of all pairs of nodes that stand side by side now, how many stood in the same order before.
double kept_order(const Picture& before, const Layout& old, const Picture& after, const Layout& now) {
  double pairs = 0, kept = 0;
  auto was = [&](size_t i) { return old.nodes[static_cast<size_t>(before.find(after.nodes[i].id))].centre_x(); };
  for (size_t i = 0; i < after.nodes.size(); ++i)
    for (size_t k = i + 1; k < after.nodes.size(); ++k) {
      const Rect &a = now.nodes[i], &b = now.nodes[k];
      if (a.bottom() < b.y || b.bottom() < a.y || std::abs(was(i) - was(k)) < 1) continue;
      pairs += 1;
      kept += (a.centre_x() < b.centre_x()) == (was(i) < was(k));
    }
  return pairs > 0 ? kept / pairs : 1;
}

double kept_from_stage_to_stage(Engine engine, bool with_places) {
  std::mt19937 random(7);
  double sum = 0;
  constexpr int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    const auto nodes = program(random), fewer = without_some(nodes, random);
    const Picture before = make_picture(nodes, {}, {}, {}), after = make_picture(fewer, {}, {}, {});
    LayoutRequest request;
    request.engine = engine;
    const Layout old = lay_out(before, request);
    EXPECT_EQ(old.engine, engine == Engine::Automatic ? Engine::Graphviz : engine);
    for (size_t i = 0; with_places && i < before.nodes.size(); ++i)
      request.places[before.nodes[i].id] = old.nodes[i].centre_x();
    sum += kept_order(before, old, after, lay_out(after, request)) / rounds;
  }
  testing::Test::RecordProperty("kept", std::to_string(sum));
  return sum;
}

TEST(Stability, OurLayoutKeepsTheOrderOfNodesThatStay) {
  EXPECT_GT(kept_from_stage_to_stage(Engine::Layered, true), 0.999);
}

TEST(Stability, GraphvizKeepsMostOfIt) {
  const double with = kept_from_stage_to_stage(Engine::Graphviz, true);
  EXPECT_GT(with, 0.8);
  EXPECT_GE(with, kept_from_stage_to_stage(Engine::Graphviz, false) - 0.02);
}

TEST(Stability, TheWindowKeepsNearlyAll) { EXPECT_GT(kept_from_stage_to_stage(Engine::Automatic, true), 0.95); }

}  // namespace
}  // namespace strata::draw
