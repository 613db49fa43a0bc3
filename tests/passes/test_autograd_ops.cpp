// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Gradients of single operators: against PyTorch's recorded ones, and against finite differences in float64.

#include <gtest/gtest.h>

#include "passes/autograd.h"
#include "passes/decompose.h"
#include "passes/partition.h"
#include "tests/core/recorded_calls.h"

namespace strata {
namespace {

using recorded::OpCase;

std::vector<OpCase> cases_with_gradients() {
  static const Json json = recorded::read_cases("ops/ops_b.json");
  std::vector<OpCase> cases;
  for (const Json& entry : json.array()) {
    if (!entry.find("grads")) continue;
    cases.push_back(recorded::decode_case(entry));
    recorded::build(cases.back());
  }
  return cases;
}

/// Gradients of every floating input, for a tangent of the first result.
JointOptions options_for(const OpCase& c) {
  JointOptions options;
  for (const Tensor& t : c.inputs) options.needs_gradient.push_back(is_floating(t.dtype));
  options.has_tangent.assign(c.graph.flat_outputs().size(), false);
  options.has_tangent[0] = true;
  return options;
}

Graph joint_of(const OpCase& c) {
  try {
    return make_joint(decompose(c.graph, {}).graph, options_for(c));
  } catch (const Error& e) {
    throw Error(e.kind(), c.op + ": " + e.message());
  }
}

std::vector<RefValue> run64(const Graph& graph, const std::vector<Tensor>& inputs) {
  return Interpreter(graph, {.float64 = true, .observer = {}, .progress = {}}).run(inputs);
}

std::vector<RefValue> gradients(const Graph& joint, const OpCase& c) {
  std::vector<Tensor> inputs = c.inputs;
  inputs.push_back(c.tangent);
  std::vector<RefValue> all = run64(joint, inputs);
  all.erase(all.begin(), all.end() - static_cast<long>(c.inputs.size()));
  return all;
}

double dot(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.values(), y = b.values();
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

TEST(AutogradOps, GradientsArePyTorchs) {
  size_t number = 0;
  for (const OpCase& c : cases_with_gradients()) {
    SCOPED_TRACE(c.op);
    const std::vector<RefValue> found = gradients(joint_of(c), c);
    size_t floating = 0;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (!is_floating(c.inputs[i].dtype)) continue;
      const Tensor& expected = c.gradients.at(floating++);
      const auto* gradient = std::get_if<Tensor>(&found[i].value);
      ASSERT_EQ(gradient != nullptr, expected.defined()) << c.op << " case " << number << " input " << i;
      if (!gradient) continue;
      EXPECT_EQ(recorded::difference(*gradient, expected, 4e-6), "") << c.op << " case " << number << " input " << i;
    }
    ++number;
  }
  EXPECT_GE(number, 50u);
}

/// A direction that is not along any axis, the same in every run.
Tensor direction(const Tensor& like, size_t seed) {
  Tensor d = Tensor::empty(DType::F64, like.shape);
  uint64_t state = 0x9E3779B97F4A7C15ull * (seed + 1);
  for (int64_t i = 0; i < d.numel(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    d.set(i, static_cast<double>(state >> 40) / (1 << 24) - 0.5);
  }
  return d;
}
Tensor moved(const Tensor& x, const Tensor& d, double step) {
  Tensor y = x.to(DType::F64).clone();
  for (int64_t i = 0; i < y.numel(); ++i) y.set(i, y.at(i) + step * d.at(i));
  return y;
}

TEST(AutogradOps, GradientsAreFiniteDifferences) {
  constexpr double kStep = 1e-6;
  for (const OpCase& c : cases_with_gradients()) {
    SCOPED_TRACE(c.op);
    const std::vector<RefValue> found = gradients(joint_of(c), c);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const auto* gradient = std::get_if<Tensor>(&found[i].value);
      if (!gradient) continue;
      const Tensor d = direction(c.inputs[i], i);
      std::vector<Tensor> up = c.inputs, down = c.inputs;
      up[i] = moved(c.inputs[i], d, kStep);
      down[i] = moved(c.inputs[i], d, -kStep);
      const double slope =
          (dot(run64(c.graph, up)[0].tensor(), c.tangent) - dot(run64(c.graph, down)[0].tensor(), c.tangent)) /
          (2 * kStep);
      const double expected = dot(*gradient, d);
      EXPECT_NEAR(slope, expected, 1e-6 * std::max(1.0, std::abs(expected))) << c.op << " input " << i;
    }
  }
}

/// Forward and backward together compute what the joint graph does.
TEST(AutogradOps, PartitionKeepsTheGradients) {
  for (const OpCase& c : cases_with_gradients()) {
    SCOPED_TRACE(c.op);
    const Graph joint = joint_of(c);
    const std::vector<RefValue> expected = gradients(joint, c);
    const Partition p = partition(joint);
    const std::vector<RefValue> forward = run64(p.forward, c.inputs);
    std::vector<Tensor> inputs;
    for (size_t i = p.output_count; i < forward.size(); ++i) inputs.push_back(forward[i].tensor());
    inputs.push_back(c.tangent);
    ASSERT_EQ(p.backward.placeholders().size(), inputs.size()) << c.op;
    const std::vector<RefValue> found = run64(p.backward, inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].value.index(), expected[i].value.index());
      const auto* t = std::get_if<Tensor>(&expected[i].value);
      if (!t) continue;
      EXPECT_EQ(recorded::difference(found[i].tensor(), *t, 1e-12), "") << c.op << " input " << i;
    }
  }
}

}  // namespace
}  // namespace strata
