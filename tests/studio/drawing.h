// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small graphs, and what must hold of every layout.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "app/draw/layout.h"
#include "app/draw/picture.h"

namespace strata::test {

inline trace::NodeRecord record(trace::NodeId id, const std::vector<trace::NodeId>& operands,
                                const std::string& module = "", const std::string& target = "aten.add.Tensor") {
  trace::NodeRecord n;
  n.id = id;
  n.name = fmt::format("n{}", id);
  n.op = operands.empty() ? "placeholder" : "call";
  n.target = operands.empty() ? "" : target;
  for (auto operand : operands) n.inputs.push_back({operand});
  n.module = module;
  n.dtype = "f32";
  n.shape = "[8, 64]";
  return n;
}

/// A random program: modules nest, kernels are runs of neighbours.
inline std::vector<trace::NodeRecord> random_records(std::mt19937& random, int count) {
  std::vector<trace::NodeRecord> nodes;
  for (int i = 1; i <= count; ++i) {
    std::vector<trace::NodeId> operands;
    for (unsigned k = random() % 4; k > 0 && i > 1; --k)
      operands.push_back(1 + static_cast<trace::NodeId>(random() % static_cast<unsigned>(i - 1)));
    std::string path;
    for (unsigned k = random() % 5; k > 0; --k) path += fmt::format("{}{}", path.empty() ? "" : ".", random() % 3);
    nodes.push_back(record(i, operands, path, random() % 3 ? "aten.add.Tensor" : "aten.mm.default"));
    if (random() % 2) nodes.back().group = 1 + i / 6;
  }
  return nodes;
}

inline draw::Rect cell(const draw::Picture& picture, const draw::Layout& layout, size_t i) {
  const draw::Rect &r = layout.nodes[i], &label = layout.labels[i];
  if (label.width <= 0) return r;
  const double left = std::min(r.x, label.x), right = std::max(r.right(), label.right());
  return {left, r.y, right - left, draw::cell_height(picture.nodes[i])};
}

/// Boxes never overlap; frames hold exactly what is in them; edges join their boxes; everything is in the picture.
inline void expect_sound(const draw::Picture& picture, const draw::Layout& layout) {
  using draw::Rect;
  constexpr double slack = 0.6;
  ASSERT_EQ(layout.nodes.size(), picture.nodes.size());
  ASSERT_EQ(layout.edges.size(), picture.edges.size());
  ASSERT_EQ(layout.groups.size(), picture.groups.size());
  const Rect all{0, 0, layout.width, layout.height};
  auto holds = [&](size_t g, int at) {
    while (at >= 0 && static_cast<size_t>(at) != g) at = picture.groups[static_cast<size_t>(at)].parent;
    return at >= 0;
  };
  auto shrunk = [](const Rect& r) { return Rect{r.x + slack, r.y + slack, r.width - 2 * slack, r.height - 2 * slack}; };
  int overlaps = 0, outside = 0, loose = 0, strangers = 0, frames = 0;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const Rect a = shrunk(cell(picture, layout, i));
    outside += !all.contains(a);
    for (size_t k = i + 1; k < picture.nodes.size(); ++k) overlaps += a.overlaps(cell(picture, layout, k));
    for (size_t g = 0; g < picture.groups.size(); ++g)
      strangers += holds(g, picture.nodes[i].group) ? !layout.groups[g].contains(a) : layout.groups[g].overlaps(a);
  }
  for (size_t g = 0; g < picture.groups.size(); ++g)
    for (size_t h = 0; h < picture.groups.size(); ++h) {
      if (g == h) continue;
      const Rect inner = shrunk(layout.groups[h]);
      const bool apart = !holds(g, static_cast<int>(h)) && !holds(h, static_cast<int>(g));
      frames += holds(g, picture.groups[h].parent) ? !layout.groups[g].contains(inner)
                                                   : apart && layout.groups[g].overlaps(inner);
    }
  for (size_t e = 0; e < picture.edges.size(); ++e) {
    const auto& points = layout.edges[e];
    ASSERT_GE(points.size(), 4u);
    ASSERT_EQ(points.size() % 3, 1u);
    const Rect from = cell(picture, layout, static_cast<size_t>(picture.edges[e].from));
    const Rect& to = layout.nodes[static_cast<size_t>(picture.edges[e].to)];
    loose += std::hypot(points.front().x - from.centre_x(), points.front().y - from.bottom()) > 3;
    loose += std::hypot(points.back().x - to.centre_x(), points.back().y - to.y) > 3;
    for (const draw::Point& p : points) ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y));
  }
  EXPECT_EQ(overlaps, 0) << "boxes overlap";
  EXPECT_EQ(outside, 0) << "boxes outside of the picture";
  EXPECT_EQ(loose, 0) << "edge ends that touch no box";
  EXPECT_EQ(strangers, 0) << "nodes on the wrong side of a frame";
  EXPECT_EQ(frames, 0) << "frames that cross";
}

}  // namespace strata::test
