// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Products of groups of rows: every way that the kernel has of multiplying a group, against the interpreter.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "codegen/compiler.h"
#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/runtime/plan.h"
#include "passes/schedule.h"

namespace strata {
namespace {

Tensor normal_numbers(DType dtype, std::vector<int64_t> shape, std::mt19937_64& random) {
  Tensor t = Tensor::empty(dtype, std::move(shape));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, normal(random));
  return t;
}

/// The last two dimensions lie the other way round.
Tensor turned(const Tensor& t) {
  Tensor memory = Tensor::empty(t.dtype, {t.shape[0], t.shape[2], t.shape[1]});
  std::swap(memory.shape[1], memory.shape[2]);
  std::swap(memory.strides[1], memory.strides[2]);
  for (int64_t i = 0; i < t.numel(); ++i) memory.set(i, t.at(i));
  return memory;
}

double slack(DType dtype) {
  return dtype == DType::F64 ? 1e-12 : dtype == DType::F32 ? 1e-5 : dtype == DType::F16 ? 1e-3 : 8e-3;
}

TEST(GroupedProducts, GroupsOfAnySizeAndMatricesOfAnyOrder) {
  std::mt19937_64 random(std::random_device{}());
  const int64_t k = 37, n = 70;
  // Empty ones, few rows, more than the kernels for few rows take; two rows belong to no group.
  const std::vector<int64_t> sizes{0, 1, 5, 8, 9, 31, 45, 0, 2};
  std::vector<int64_t> ends;
  for (const int64_t size : sizes) ends.push_back((ends.empty() ? 0 : ends.back()) + size);
  const int64_t groups = static_cast<int64_t>(sizes.size()), rows = ends.back() + 2;
  Tensor places = Tensor::empty(DType::I32, {groups});
  for (int64_t g = 0; g < groups; ++g) places.set_int(g, ends[static_cast<size_t>(g)]);

  for (const DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64}) {
    const Tensor x = normal_numbers(dtype, {rows, k}, random);
    const Tensor plain = normal_numbers(dtype, {groups, k, n}, random);
    for (const Tensor& matrices : {plain, turned(plain)}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + (matrices.is_contiguous() ? ", rows" : ", columns"));
      Graph graph;
      Builder b(graph);
      TensorType type;
      type.dtype = dtype;
      type.shape.assign(matrices.shape.begin(), matrices.shape.end());
      type.strides = std::vector<SymInt>(matrices.strides.begin(), matrices.strides.end());
      type.device = "cpu";
      Node* left = graph.placeholder("x", Type::of(dtype, {rows, k}, "cpu"));
      Node* right = graph.placeholder("matrices", Type::of(std::move(type)));
      Node* behind = graph.placeholder("ends", Type::of(DType::I32, {groups}, "cpu"));
      graph.output(Argument::list({b.call("strata.grouped_mm.default", {left, right, behind})}));

      const std::vector<Tensor> inputs{x, matrices, places};
      const Scheduled scheduled = schedule(graph, {});
      Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 2);
      const Tensor result = executor.run(inputs)[0];
      const Tensor expected = Interpreter(graph).run(std::span<const Tensor>(inputs))[0].tensor();
      ASSERT_EQ(result.shape, expected.shape);
      ASSERT_EQ(result.dtype, expected.dtype);
      for (int64_t i = 0; i < result.numel(); ++i)
        ASSERT_NEAR(result.at(i), expected.at(i), slack(dtype) * std::max(8.0, std::fabs(expected.at(i))))
            << "row " << i / n << ", column " << i % n;
      for (int64_t i = ends.back() * n; i < result.numel(); ++i) ASSERT_EQ(result.at(i), 0);
    }
  }
}

}  // namespace
}  // namespace strata
