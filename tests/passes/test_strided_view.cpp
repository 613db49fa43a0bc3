// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Strides over a buffer against the interpreter, which moves the elements.

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/ir/interpreter.h"
#include "passes/strided_view.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::graph_of;

/// Positions that `shape` with `strides` visits, row-major.
std::vector<int64_t> positions(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides, int64_t offset) {
  std::vector<int64_t> result{offset};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t p : result)
      for (int64_t i = 0; i < shape[d].value(); ++i) next.push_back(p + i * strides[d].value());
    result = std::move(next);
  }
  return result;
}

/// The input holds its own positions, so the output's values are what the strides must visit.
void expect_strides(const std::string& statements) {
  const Graph graph = graph_of("def forward(self, x: \"f32[4, 6]\"):\n" + statements);
  Tensor x = Tensor::empty(DType::F32, {4, 6});
  for (int64_t i = 0; i < 24; ++i) x.set(i, static_cast<double>(i));
  const auto values = Interpreter(graph).run(std::span<const Tensor>(&x, 1)).at(0).tensor().values();
  const Layouts layouts;
  const auto view = strided_view(graph.flat_outputs()[0].node(), layouts);
  ASSERT_TRUE(view) << statements;
  EXPECT_EQ(view->base->name, "x");
  const auto found = positions(view->shape, view->strides, view->offset.value());
  EXPECT_EQ(std::vector<double>(found.begin(), found.end()), values) << statements;
}

TEST(StridedView, EveryKindOfView) {
  expect_strides("  a = torch.ops.aten.permute.default(x, [1, 0])\n  return (a,)");
  expect_strides("  a = torch.ops.aten.select.int(x, 1, -2)\n  return (a,)");
  expect_strides("  a = torch.ops.aten.slice.Tensor(x, 1, 1, 6, 2)\n  return (a,)");
  expect_strides(
      "  a = torch.ops.aten.unsqueeze.default(x, 1)\n  b = torch.ops.aten.expand.default(a, [4, 3, 6])\n  return (b,)");
  expect_strides(
      "  a = torch.ops.aten.view.default(x, [2, 2, 3, 2])\n  b = torch.ops.aten.permute.default(a, [2, 0, 3, 1])\n  "
      "return (b,)");
  expect_strides("  a = torch.ops.aten.diagonal.default(x, 1)\n  return (a,)");
  expect_strides("  a = torch.ops.aten.flip.default(x, [0, 1])\n  return (a,)");
  expect_strides(
      "  a = torch.ops.aten.slice.Tensor(x, 0, 1, 3)\n  b = torch.ops.aten.view.default(a, [12])\n  return (b,)");
}

TEST(StridedView, BordersAreNotStrided) {
  for (const char* border : {"reflection_pad1d", "replication_pad1d"}) {
    const Graph graph = graph_of("def forward(self, x: \"f32[4, 6]\"):\n  a = torch.ops.aten." + std::string(border) +
                                 ".default(x, [1, 2])\n  return (a,)");
    EXPECT_FALSE(strided_view(graph.find("a"), Layouts())) << border;
  }
}

TEST(StridedView, ReshapeThatNeedsACopyHasNone) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[4, 6]"):
    a = torch.ops.aten.permute.default(x, [1, 0])
    b = torch.ops.aten.reshape.default(a, [24])
    return (b,))");
  const Node* b = graph.find("b");
  EXPECT_FALSE(reshape_strides(graph.find("a")->tensor().shape, {1, 6}, b->tensor().shape));
}

std::vector<SymInt> random_factors(std::mt19937_64& rng, int64_t n) {
  std::vector<SymInt> shape;
  for (int64_t f : {2, 2, 3, 2}) {
    if (rng() % 3 == 0) shape.emplace_back(1);
    if (rng() % 3 == 0 && !shape.empty())
      shape.back() = shape.back() * SymInt(f);
    else
      shape.emplace_back(f);
  }
  int64_t product = 1;
  for (const SymInt& s : shape) product *= s.value();
  EXPECT_EQ(product, n);
  return shape;
}

/// Where strides come back they visit the same elements in the same order; where none do, no strides would.
TEST(ReshapeStrides, AgreeWithBruteForce) {
  std::mt19937_64 rng(3);
  int with = 0, without = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<SymInt> shape = random_factors(rng, 24), result = random_factors(rng, 24);
    std::vector<SymInt> strides = contiguous_strides(shape);
    if (rng() % 2) std::swap(strides[rng() % strides.size()], strides[rng() % strides.size()]);
    if (rng() % 4 == 0)
      for (SymInt& s : strides) s = s * SymInt(2);
    const auto elements = positions(shape, strides, 0);
    // The only strides there can be: read off the elements at unit indices.
    const auto row_major = contiguous_strides(result);
    std::vector<SymInt> read(result.size());
    for (size_t d = 0; d < result.size(); ++d)
      read[d] = result[d].value() > 1 ? elements[static_cast<size_t>(row_major[d].value())] : 0;
    const bool possible = positions(result, read, 0) == elements;
    const auto found = reshape_strides(shape, strides, result);
    ASSERT_EQ(found.has_value(), possible) << round;
    if (found) {
      ASSERT_EQ(positions(result, *found, 0), elements) << round;
    }
    ++(found ? with : without);
  }
  EXPECT_GT(with, 200);
  EXPECT_GT(without, 200);
}

TEST(ReshapeStrides, SymbolicSizes) {
  ShapeEnv env;
  const SymInt n = env.symbol({"n", {2, 100}, std::nullopt, 8, ""});
  EXPECT_EQ(reshape_strides({n, 4, 8}, {SymInt(32), 8, 1}, {n, 32}), (std::vector<SymInt>{32, 1}));
  EXPECT_EQ(reshape_strides({n * SymInt(4), 8}, {SymInt(8), 1}, {n, 4, 8}), (std::vector<SymInt>{32, 8, 1}));
  EXPECT_FALSE(reshape_strides({4, n}, {SymInt(1), 4}, {n * SymInt(4)}));
}

TEST(ReshapeStrides, NoElements) { EXPECT_TRUE(reshape_strides({2, 3, 0}, {SymInt(3), 1, 1}, {0, 7})); }

}  // namespace
}  // namespace strata
