// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Random numbers: those that PyTorch draws after its default seed, interpreted and compiled, in program order.

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/compiler.h"
#include "core/runtime/draws.h"
#include "core/support/error.h"
#include "passes/pass.h"
#include "passes/schedule.h"
#include "tests/core/ops_cases.h"

namespace strata {
namespace {

/// Empty if the same: the file holds nine digits, which is all of everything but float64.
std::string unlike(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return a.str() + ", expected " + b.str();
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.contiguous().at(i), y = b.at(i);
    const double slack = a.dtype == DType::F64 ? 1e-8 * std::max(1.0, std::fabs(y)) : 0;
    if (!(std::fabs(x - y) <= slack))
      return "element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y);
  }
  return {};
}

/// Scaling by a factor and shifting are rounded by the kernel that does them.
bool is_computed_with(const std::string& op) {
  return op.starts_with("aten.normal.") || op.starts_with("aten.scaled") || op.find("dropout") != std::string::npos;
}

std::string differs(const testing::OpCase& c, const Tensor& got, const Tensor& expected) {
  if (!is_computed_with(c.op) || got.shape != expected.shape) return unlike(got, expected);
  for (int64_t i = 0; i < got.numel(); ++i) {
    const double x = got.contiguous().at(i), y = expected.at(i);
    const double unit = got.dtype == DType::BF16 ? 1e-2 : got.dtype == DType::F16 ? 1e-3 : 2e-6;
    if (!(std::fabs(x - y) <= unit * std::max(1.0, std::fabs(y))))
      return "element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y);
  }
  return {};
}

std::vector<Tensor> compiled(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Pass>& passes) {
  const Graph lowered = run_passes(passes, graph, {}, {});
  const Scheduled scheduled = schedule(lowered, {});
  for (const Launch& l : scheduled.plan->launches)
    EXPECT_FALSE(std::holds_alternative<OpaqueCall>(l.work)) << l.name << " runs in the interpreter";
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 2);
  return executor.run(inputs);
}

TEST(Random, CallsGivePyTorchsNumbers) {
  const auto& cases = testing::op_data("ops_random.json").cases;
  ASSERT_GT(cases.size(), 100U);
  for (const testing::OpCase& c : cases) {
    SCOPED_TRACE(c.text);
    testing::CaseGraph g(c);
    Builder b(g.graph);
    testing::return_all(g.graph, b, g.add_call(b, c));
    const std::vector<RefValue> interpreted = Interpreter(g.graph).run(std::span<const Tensor>(c.inputs));
    const std::vector<Tensor> fused = compiled(g.graph, c.inputs, inference_pipeline());
    ASSERT_EQ(fused.size(), c.out.size());
    for (size_t k = 0; k < fused.size(); ++k) {
      EXPECT_EQ(differs(c, interpreted[k].tensor(), c.out[k].data), "") << "interpreted, result " << k;
      EXPECT_EQ(differs(c, fused[k], c.out[k].data), "") << "compiled, result " << k;
    }
  }
}

/// Draws that nobody reads, equal draws, and draws that are read in another order.
TEST(Random, DrawsKeepTheirTurn) {
  for (const auto* passes : {&inference_pipeline(), &unfused_pipeline()}) {
    Graph graph;
    Builder b(graph);
    const auto size = Argument::ints({5});
    b.call("aten.rand.default", {Argument::ints({3})});  // not used
    Node* first = b.call("aten.rand.default", {size});
    Node* second = b.call("aten.rand.default", {size});
    b.call("aten.randn.default", {Argument::ints({20})});  // not used
    Node* third = b.call("aten.randint.default", {1000, size});
    b.call("aten.rand.default", {Argument::ints({3})});  // not used
    Node* joined = b.call("aten.cat.default",
                          {Argument::list({Argument(b.cast(third, DType::F32)), Argument(second), Argument(first)})});
    graph.output(Argument::list({Argument(joined)}));
    Generator g;
    Tensor few = Tensor::empty(DType::F32, {3}), some = Tensor::empty(DType::F32, {5}), other = some.clone(),
           many = Tensor::empty(DType::F32, {20}), whole = Tensor::empty(DType::I64, {5});
    draw_uniform(g, few, 0, 1);
    draw_uniform(g, some, 0, 1);
    draw_uniform(g, other, 0, 1);
    draw_normal(g, many, 0, 1, false);
    draw_integers(g, whole, 0, 1000);
    std::vector<double> want = whole.values();
    for (const Tensor& t : {other, some})
      for (const double v : t.values()) want.push_back(v);
    EXPECT_EQ(compiled(graph, {}, *passes)[0].values(), want);
    EXPECT_EQ(Interpreter(graph).run(std::span<const Tensor>())[0].tensor().values(), want);
  }
}

TEST(Random, TheSeedDecidesAndARunBeginsAnew) {
  Graph graph;
  Builder b(graph);
  graph.output(Argument::list({Argument(b.call("aten.rand.default", {Argument::ints({4})}))}));
  const auto run = [&] { return compiled(graph, {}, inference_pipeline())[0].values(); };
  const std::vector<double> numbers = run();
  EXPECT_EQ(run(), numbers);
  set_generator_seed(7);
  const std::vector<double> others = run();
  set_generator_seed(Generator::kDefaultSeed);
  EXPECT_NE(others, numbers);
  EXPECT_EQ(run(), numbers);
}

TEST(Random, AGeneratorsStateGoesOutAndIn) {
  Generator g(99);
  Tensor drawn = Tensor::empty(DType::F64, {701});  // beyond the words of one step
  draw_normal(g, drawn, 0, 1, true);
  std::vector<std::byte> state(Generator::kStateBytes);
  g.store(state);
  Generator twin;
  twin.load(state);
  Tensor a = Tensor::empty(DType::F64, {3}), c = a.clone();
  draw_normal(g, a, 0, 1, true);
  draw_normal(twin, c, 0, 1, true);
  EXPECT_EQ(a.values(), c.values());
  state.pop_back();
  EXPECT_THROW(twin.load(state), Error);
  EXPECT_THROW(draw_integers(g, a, 3, 3), Error);
  EXPECT_THROW(draw_bernoulli(g, a, 1.5), Error);
}

}  // namespace
}  // namespace strata
