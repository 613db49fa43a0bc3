// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/interpreter.h"

#include <gtest/gtest.h>

#include "core/ir/builder.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

Tensor tensor(std::vector<int64_t> shape, std::vector<double> values) {
  return Tensor::of(DType::F32, std::move(shape), values);
}
Type f32(std::vector<SymInt> shape) { return Type::of(DType::F32, std::move(shape)); }

std::vector<double> run(const Graph& graph, std::vector<Tensor> inputs, size_t output = 0) {
  return Interpreter(graph).run(inputs).at(output).tensor().values();
}

TEST(Interpreter, WritesThroughViews) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({2, 3}));
  Builder b(graph);
  Node* y = b.mul(x, 1.0);
  Node* row = b.call("aten.select.int", {y, 0, 1});
  b.call("aten.add_.Tensor", {b.call("aten.view.default", {row, Argument::list({3})}), 10.0});
  Node* column = b.call("aten.slice.Tensor", {b.permute(y, {1, 0}), 0, 0, 1});
  b.call("aten.mul_.Tensor", {column, -1.0});
  graph.output(Argument::list({y, row, x}));
  const std::vector<Tensor> in{tensor({2, 3}, {1, 2, 3, 4, 5, 6})};
  Interpreter interpreter(graph);
  const auto out = interpreter.run(in);
  EXPECT_EQ(out[0].tensor().values(), (std::vector<double>{-1, 2, 3, -14, 15, 16}));
  EXPECT_EQ(out[1].tensor().values(), (std::vector<double>{-14, 15, 16}));
  EXPECT_EQ(out[2].tensor().values(), in[0].values());
}

TEST(Interpreter, InputsAreWrittenInTheirCopy) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({3}));
  Builder b(graph);
  b.call("aten.relu_.default", {b.call("aten.slice.Tensor", {x, 0, 1, 3})});
  graph.output(b.add(x, 0.5));
  const std::vector<Tensor> in{tensor({3}, {-1, -2, 3})};
  Interpreter interpreter(graph);
  EXPECT_EQ(interpreter.run(in)[0].tensor().values(), (std::vector<double>{-0.5, 0.5, 3.5}));
  EXPECT_EQ(interpreter.input(0).tensor().values(), (std::vector<double>{-1, 0, 3}));
  EXPECT_EQ(in[0].values(), (std::vector<double>{-1, -2, 3}));
}

TEST(Interpreter, ConstantsSurviveInPlaceOperators) {
  Graph graph;
  Builder b(graph);
  graph.placeholder("x", f32({2}));
  Node* c = b.constant(tensor({2}, {1, 2}));
  graph.output(b.call("aten.add_.Tensor", {c, 1.0}));
  EXPECT_EQ(run(graph, {tensor({2}, {7, 8})}), (std::vector<double>{2, 3}));
  EXPECT_EQ(run(graph, {tensor({2}, {7, 8})}), (std::vector<double>{2, 3}));
}

TEST(Interpreter, Float64CarriesMoreDigits) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({1}));
  Builder b(graph);
  graph.output(b.sub(b.add(x, 1e-9), x));
  const std::vector<Tensor> in{tensor({1}, {1})};
  EXPECT_EQ(Interpreter(graph).run(in)[0].tensor().at(0), 0.0);
  Interpreter wide(graph, {.float64 = true, .observer = {}, .progress = {}});
  const RefValue y = wide.run(in)[0];
  EXPECT_EQ(y.tensor().dtype, DType::F64);
  EXPECT_NEAR(y.tensor().at(0), 1e-9, 1e-15);
}

TEST(Interpreter, SizesAreBoundFromInputs) {
  Graph graph;
  const SymInt n = graph.env().symbol({.name = "s0", .range = {2, 64}, .max_expr = {}, .hint = 8, .origin = "x"});
  Node* x = graph.placeholder("x", f32({n, 3}));
  Builder b(graph);
  graph.output(b.reshape(x, {3, n}));
  EXPECT_EQ(Interpreter(graph).run(std::vector<Tensor>{tensor({5, 3}, std::vector<double>(15, 1.5))})[0].tensor().shape,
            (std::vector<int64_t>{3, 5}));
}

TEST(Interpreter, TuplesAndNoneComeBack) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({4, 2}));
  Builder b(graph);
  Node* norm = b.call("aten.native_layer_norm.default", {x, Argument::list({2}), NoneArg{}, NoneArg{}, 1e-5});
  graph.output(Argument::list({b.getitem(norm, 1), NoneArg{}}));
  const auto out = Interpreter(graph).run(std::vector<Tensor>{tensor({4, 2}, {1, 3, 2, 4, 5, 5, -1, 1})});
  EXPECT_EQ(out[0].tensor().values(), (std::vector<double>{2, 3, 5, 0}));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(out[1].value));
}

TEST(Interpreter, ObserverSeesEveryValueOnce) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({2}));
  Builder b(graph);
  graph.output(b.mul(b.add(x, 1.0), 2.0));
  std::vector<std::string> seen;
  InterpreterOptions options;
  options.observer = [&](const Node& node, const RefValue& value) {
    seen.push_back(node.name + "=" + std::to_string(value.tensor().at(1)));
  };
  Interpreter(graph, options).run(std::vector<Tensor>{tensor({2}, {1, 2})});
  EXPECT_EQ(seen, (std::vector<std::string>{"x=2.000000", "add=3.000000", "mul=6.000000"}));
}

std::string error_of(const Graph& graph, std::vector<Tensor> inputs, InterpreterOptions options = {}) {
  return testing::error_text([&] { Interpreter(graph, std::move(options)).run(inputs); });
}

TEST(Interpreter, MistakesAreNamed) {
  Graph graph;
  Node* x = graph.placeholder("x", f32({2}));
  Node* y = graph.add(NodeKind::Call, "mylib.spin.default", {x}, f32({2}), "spin");
  y->meta.source = std::make_shared<std::vector<SourceLocation>>(
      std::vector<SourceLocation>{{"model.py", 12, "forward", "x = spin(x)"}});
  graph.output(y);
  EXPECT_EQ(error_of(graph, {}), "the graph takes 1 inputs, found 0");
  EXPECT_EQ(error_of(graph, {tensor({2}, {1, 2})}),
            "operator 'spin' (mylib.spin.default) at model.py:12: x = spin(x) is not in the operator table: it cannot "
            "be interpreted");
  InterpreterOptions cancelling;
  cancelling.progress = [](size_t done, size_t) { return done < 1; };
  EXPECT_EQ(error_of(graph, {tensor({2}, {1, 2})}, cancelling), "interpretation was cancelled");
}

}  // namespace
}  // namespace strata
