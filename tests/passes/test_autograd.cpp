// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/autograd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/pt2.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"
#include "passes/partition.h"
#include "tests/core/recorded_calls.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Type f32(std::vector<SymInt> shape) { return Type::of(DType::F32, std::move(shape)); }
std::vector<std::string> names(const std::vector<Node*>& nodes) {
  std::vector<std::string> result;
  for (const Node* n : nodes) result.push_back(n->name);
  return result;
}
std::vector<std::string> targets(const Graph& graph, Role role) {
  std::vector<std::string> result;
  for (const auto& node : graph.nodes())
    if (node->kind == NodeKind::Call && node->meta.role == role) result.push_back(node->target);
  return result;
}

/// sin(x)**2 + cos(x)**2
Graph sincos() {
  Graph graph;
  Node* x = graph.placeholder("x", f32({1000}));
  Builder b(graph);
  b.meta.source =
      std::make_shared<std::vector<SourceLocation>>(std::vector<SourceLocation>{{"cases.py", 174, "f", "..."}});
  Node* s = b.call("aten.pow.Tensor_Scalar", {b.call("aten.sin.default", {x}), 2});
  Node* c = b.call("aten.pow.Tensor_Scalar", {b.call("aten.cos.default", {x}), 2});
  graph.output(Argument::list({b.add(s, c)}));
  return graph;
}

JointOptions first_input() { return {.needs_gradient = {true}, .has_tangent = {}}; }

// PyTorch's log of the same function: one primal, one tangent; forward keeps primals_1 alone; sin and cos are computed
// again in the backward graph.
TEST(Autograd, SinCosHasPyTorchsShape) {
  const Graph joint = make_joint(sincos(), first_input());
  EXPECT_THAT(names(joint.placeholders()), ElementsAre("primals_1", "tangents_1"));
  EXPECT_EQ(joint.flat_outputs().size(), 2u);
  const Partition p = partition(joint);
  EXPECT_THAT(names(p.forward.placeholders()), ElementsAre("primals_1"));
  EXPECT_THAT(targets(p.forward, Role::Forward),
              ElementsAre("aten.sin.default", "aten.pow.Tensor_Scalar", "aten.cos.default", "aten.pow.Tensor_Scalar",
                          "aten.add.Tensor"));
  EXPECT_THAT(names(p.backward.placeholders()), ElementsAre("primals_1", "tangents_1"));
  EXPECT_THAT(targets(p.backward, Role::Recomputed),
              ::testing::UnorderedElementsAre("aten.sin.default", "aten.cos.default"));
  EXPECT_EQ(p.forward.flat_outputs()[1].node()->name, "primals_1");
  EXPECT_EQ(p.saved_bytes, 4000);
}

TEST(Autograd, BackwardNodesSayWhereTheyComeFrom) {
  const Graph graph = sincos();
  const Graph joint = make_joint(graph, first_input());
  size_t backward = 0;
  for (const auto& node : joint.nodes()) {
    if (node->kind != NodeKind::Call) continue;
    if (node->meta.role == Role::Forward) {
      EXPECT_NE(graph.find(node->id), nullptr) << node->name;
      continue;
    }
    ++backward;
    ASSERT_EQ(node->meta.origins.size(), 1u);
    const Origin& origin = node->meta.origins[0];
    EXPECT_EQ(origin.kind, OriginKind::Gradient);
    ASSERT_NE(graph.find(origin.node), nullptr);
    EXPECT_EQ(origin.rule, "gradient of " + graph.find(origin.node)->target);
    EXPECT_EQ(node->meta.source->at(0).line, 174);
  }
  EXPECT_GE(backward, 5u);
}

TEST(Autograd, InputsWithoutInfluenceGetNone) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({3}));
  graph.placeholder("unused", f32({3}));
  Node* frozen = graph.placeholder("frozen", f32({3}));
  graph.output(Argument::list({Builder(graph).mul(x, frozen)}));
  const Graph joint = make_joint(graph, {.needs_gradient = {true, true, false}, .has_tangent = {}});
  const std::vector<Argument> outputs = joint.flat_outputs();
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_NE(outputs[1].node(), nullptr);
  EXPECT_TRUE(outputs[2].is_none());
  EXPECT_TRUE(outputs[3].is_none());
  EXPECT_THAT(targets(joint, Role::Backward), ElementsAre("aten.mul.Tensor"));
}

TEST(Autograd, EveryElementOfAListHasItsCotangent) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({2, 1}));
  Node* y = graph.placeholder("y", f32({2, 2}));
  Builder b(graph);
  graph.output(Argument::list({b.call("aten.cat.default", {Argument::list({x, y, b.mul(x, 3.0)}), 1})}));
  const Graph joint = make_joint(graph, {.needs_gradient = {true, true}, .has_tangent = {}});
  const std::vector<double> tangent{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<RefValue> all = Interpreter(joint).run(
      std::vector<Tensor>{Tensor::full(DType::F32, {2, 1}, 1), Tensor::full(DType::F32, {2, 2}, 1),
                          Tensor::of(DType::F32, {2, 4}, tangent)});
  EXPECT_THAT(all[1].tensor().values(), ElementsAre(1 + 3 * 4, 5 + 3 * 8));
  EXPECT_THAT(all[2].tensor().values(), ElementsAre(2, 3, 6, 7));
}

std::string error_of(const Graph& graph, const JointOptions& options) {
  return testing::error_text([&] { make_joint(graph, options); });
}

TEST(Autograd, MistakesAreNamed) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({2, 3, 4, 4}));
  Node* i = graph.placeholder("i", Type::of(DType::I64, {2}));
  Builder b(graph);
  b.meta.source =
      std::make_shared<std::vector<SourceLocation>>(std::vector<SourceLocation>{{"model.py", 7, "forward", "..."}});
  Node* y = b.call("aten.upsample_nearest2d.default", {x, Argument::list({8, 8})});
  graph.output(Argument::list({y, i}));
  EXPECT_EQ(error_of(graph, {.needs_gradient = {true, false}, .has_tangent = {}}),
            "1 operators on the way to a gradient have none: aten.upsample_nearest2d.default (model.py:7)");
  EXPECT_THAT(error_of(graph, {.needs_gradient = {false, false}, .has_tangent = {}}),
              HasSubstr("nothing to differentiate"));
  EXPECT_EQ(error_of(graph, {.needs_gradient = {false, true}, .has_tangent = {}}),
            "input 'i' of type i64[2][1]cpu cannot have a gradient");
  EXPECT_EQ(error_of(graph, {.needs_gradient = {true}, .has_tangent = {}}),
            "needs_gradient has 1 entries, the graph 2 inputs");
}

// ----------------------------------------------------------------------------------------------------------------
// partition

PartitionDecision decision(const Partition& p, const std::string& name) {
  for (const PartitionDecision& d : p.decisions)
    if (d.name == name) return d;
  ADD_FAILURE() << "no decision about " << name;
  return {};
}

TEST(Partition, CheapValuesAreComputedAgainAndExpensiveOnesKept) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({8, 16}));
  Node* w = graph.placeholder("w", f32({16, 16}));
  Builder b(graph);
  Node* m = b.call("aten.mm.default", {x, w});
  Node* s = b.call("aten.sin.default", {m});
  graph.output(Argument::list({b.call("aten.exp.default", {s})}));
  const Partition p = partition(make_joint(graph, {.needs_gradient = {true, true}, .has_tangent = {}}));
  EXPECT_EQ(decision(p, "mm").kind, PartitionDecision::Kind::Saved);
  EXPECT_THAT(decision(p, "mm").reason, HasSubstr("computing aten.mm.default again would cost more"));
  EXPECT_EQ(decision(p, "sin").kind, PartitionDecision::Kind::Recomputed);
  EXPECT_THAT(decision(p, "sin").reason, HasSubstr("computed again from mm"));
  EXPECT_EQ(p.saved_bytes, 4 * (8 * 16 + 16 * 16 + 8 * 16));
}

// Both ends of a chain cost the same: keeping the last value computes nothing again.
TEST(Partition, OfEqualCutsTheOneThatRecomputesLeastIsTaken) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({8, 16}));
  Node* w = graph.placeholder("w", f32({16, 16}));
  Node* v = graph.placeholder("v", f32({16, 4}));
  Builder b(graph);
  Node* r = b.call("aten.relu.default", {b.call("aten.mm.default", {x, w})});
  graph.output(Argument::list({b.call("aten.mm.default", {r, v})}));
  const Partition p = partition(make_joint(graph, {.needs_gradient = {false, true, true}, .has_tangent = {}}));
  EXPECT_EQ(decision(p, "relu").kind, PartitionDecision::Kind::Saved);
  EXPECT_THAT(targets(p.backward, Role::Recomputed), ::testing::Not(::testing::Contains("aten.relu.default")));
}

// A small source of a wide value: the source is kept.
TEST(Partition, FewerBytesAreKeptWhereAValueWidens) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({64, 1}));
  Node* y = graph.placeholder("y", f32({1, 64}));
  Builder b(graph);
  Node* wide = b.call("aten.exp.default", {b.add(b.call("aten.cumsum.default", {x, 0}), y)});
  graph.output(Argument::list({b.sum(wide, {0, 1}, false)}));
  const Partition p = partition(make_joint(graph, {.needs_gradient = {false, true}, .has_tangent = {}}));
  EXPECT_EQ(p.saved_bytes, 2 * 64 * 4);
  EXPECT_EQ(decision(p, "cumsum").kind, PartitionDecision::Kind::Saved);
}

// --------------------------------------------------------------------------------------------------------------- train
// step

struct TrainStep {
  Program program;
  Graph joint;
  std::vector<Tensor> inputs;
};

/// cnn_fmnist with cross entropy on top, differentiated by every parameter and the image.
TrainStep train_step(const Json& record) {
  Program program = load_pt2(STRATA_BINARY_DIR "/models/cnn_fmnist/cnn_fmnist.pt2");
  Graph graph = functionalize(program.graph, {}).graph;
  Node* target = graph.placeholder("target", Type::of(DType::I64, {2}));
  graph.input_specs.emplace_back();
  Node* logits = graph.flat_outputs().at(0).node();
  graph.output_node()->args[0] = Argument::list(
      {Builder(graph).call("aten.cross_entropy_loss.default", {logits, target}, {{"label_smoothing", 0.1}})});
  JointOptions options;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < program.graph.input_specs.size(); ++i) {
    const InputSpec& spec = program.graph.input_specs[i];
    inputs.push_back(spec.kind == InputSpec::Kind::User ? program.sample_inputs.at(0) : program.state.at(spec.target));
    options.needs_gradient.push_back(true);
  }
  std::vector<double> classes;
  for (const Json& c : record.at("target").array()) classes.push_back(c.number());
  inputs.push_back(Tensor::of(DType::I64, {2}, classes));
  options.needs_gradient.push_back(false);
  inputs.push_back(Tensor::scalar(DType::F32, 1));  // the tangent of the loss
  return {std::move(program), make_joint(decompose(graph, {}).graph, options), std::move(inputs)};
}

void expect_gradients(const Json& record, const std::vector<RefValue>& gradients, double tolerance) {
  size_t i = 0;
  for (const Json& expected : record.at("gradients").array()) {
    const Tensor g = gradients.at(i++).tensor();
    const double scale = expected.at("abs_sum").number() / static_cast<double>(std::max<int64_t>(1, g.numel()));
    double sum = 0, abs_sum = 0;
    for (double v : g.values()) sum += v, abs_sum += std::abs(v);
    EXPECT_NEAR(sum, expected.at("sum").number(), tolerance * abs_sum) << expected.at("name").string();
    EXPECT_NEAR(abs_sum, expected.at("abs_sum").number(), tolerance * abs_sum) << expected.at("name").string();
    int64_t at = 0;
    for (const Json& sample : expected.at("samples").array()) {
      EXPECT_NEAR(g.at(at), sample.number(), tolerance * (10 * scale + std::abs(sample.number())))
          << expected.at("name").string() << " " << at;
      at += expected.at("step").integer();
    }
  }
  EXPECT_EQ(i, 11u);
}

void expect_train_step(bool float64, double tolerance) {
  const Json record = recorded::read_cases("autograd/train_step.json");
  const TrainStep step = train_step(record);
  const Partition p = partition(step.joint);
  const InterpreterOptions options{.float64 = float64, .observer = {}, .progress = {}};
  const std::vector<Tensor> primals(step.inputs.begin(), step.inputs.end() - 1);
  const std::vector<RefValue> forward = Interpreter(p.forward, options).run(primals);
  EXPECT_NEAR(forward[0].tensor().at(0), record.at("loss").number(), tolerance);
  std::vector<RefValue> inputs(forward.begin() + static_cast<long>(p.output_count), forward.end());
  inputs.emplace_back(step.inputs.back());
  expect_gradients(record, Interpreter(p.backward, options).run(std::span<const RefValue>(inputs)), tolerance);
}
TEST(TrainStep, GradientsArePyTorchs) { expect_train_step(false, 1e-4); }
TEST(TrainStep, GradientsArePyTorchsInFloat64) { expect_train_step(true, 1e-9); }

/// Attention, layer norm, gelu and embeddings in one: the slope along a direction through all parameters of bert.
TEST(TrainStep, GradientsOfBertAreFiniteDifferences) {
  const Program program = load_pt2(STRATA_BINARY_DIR "/models/bert/bert.pt2");
  const Graph graph = decompose(functionalize(program.graph, {}).graph, {}).graph;
  const Graph joint = make_joint(graph);
  std::vector<Tensor> inputs, up, down, tangents;
  uint64_t state = 88172645463325252ull;
  const auto random = [&state](const Tensor& like) {
    Tensor t = Tensor::empty(DType::F64, like.shape);
    for (int64_t i = 0; i < t.numel(); ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      t.set(i, static_cast<double>(state >> 40) / (1 << 24) - 0.5);
    }
    return t;
  };
  constexpr double kStep = 1e-6;
  std::vector<Tensor> directions;
  for (const InputSpec& spec : program.graph.input_specs) {
    const bool user = spec.kind == InputSpec::Kind::User;
    inputs.push_back(user ? program.sample_inputs.at(0) : program.state.at(spec.target));
    up.push_back(inputs.back());
    down.push_back(inputs.back());
    directions.emplace_back();
    if (spec.kind != InputSpec::Kind::Parameter || !is_floating(inputs.back().dtype)) continue;
    directions.back() = random(inputs.back());
    up.back() = inputs.back().to(DType::F64).clone();
    down.back() = up.back().clone();
    for (int64_t i = 0; i < up.back().numel(); ++i) {
      up.back().ptr<double>()[i] += kStep * directions.back().ptr<double>()[i];
      down.back().ptr<double>()[i] -= kStep * directions.back().ptr<double>()[i];
    }
  }
  const InterpreterOptions options{.float64 = true, .observer = {}, .progress = {}};
  const std::vector<RefValue> above = Interpreter(graph, options).run(up),
                              below = Interpreter(graph, options).run(down);
  double slope = 0, expected = 0;
  for (size_t k = 0; k < above.size(); ++k) {
    const Tensor a = above[k].tensor(), b = below[k].tensor();
    tangents.push_back(random(a));
    for (int64_t i = 0; i < a.numel(); ++i) slope += (a.at(i) - b.at(i)) / (2 * kStep) * tangents.back().at(i);
  }
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), tangents.begin(), tangents.end());
  const std::vector<RefValue> results = Interpreter(joint, options).run(all);
  for (size_t p = 0; p < inputs.size(); ++p) {
    const auto* g = std::get_if<Tensor>(&results[above.size() + p].value);
    if (!g || !directions[p].defined()) continue;
    const std::vector<double> values = g->values(), d = directions[p].values();
    for (size_t i = 0; i < values.size(); ++i) expected += values[i] * d[i];
  }
  EXPECT_NEAR(slope, expected, 1e-5 * std::abs(expected));
  EXPECT_GT(std::abs(expected), 1e-3);
}

TEST(TrainStep, BackwardUsesTheOperatorsOfPyTorch) {
  const TrainStep step = train_step(recorded::read_cases("autograd/train_step.json"));
  const Partition p = partition(step.joint);
  const std::vector<std::string> backward = targets(p.backward, Role::Backward);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "aten.convolution_backward.default"), 2);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "aten.max_pool2d_with_indices_backward.default"), 2);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "aten.mm.default"), 6);
  EXPECT_THAT(targets(p.backward, Role::Recomputed), ::testing::Not(::testing::Contains("aten.convolution.default")));
  for (const PartitionDecision& d : p.decisions) EXPECT_FALSE(d.reason.empty()) << d.name;
}

}  // namespace
}  // namespace strata
