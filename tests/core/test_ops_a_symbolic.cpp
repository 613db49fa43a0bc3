// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Shape rules on symbolic sizes, index maps on them, wrong calls and their words, in-place forms, arithmetic on sizes,
// assertions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

/// A graph with one symbol `s` in [2, 64] and placeholders made from expressions.
class OpsASymbolic : public ::testing::Test {
 protected:
  OpsASymbolic() : b(graph) {
    Symbol symbol;
    symbol.name = "s0";
    symbol.range = {2, 64};
    s = graph.env().symbol(symbol);
  }

  Node* input(std::vector<SymInt> shape, DType dtype = DType::F32) {
    return graph.placeholder("x", Type::of(dtype, std::move(shape)));
  }
  Node* call(const char* op, std::vector<Argument> args) { return b.call(op, std::move(args)); }
  static std::string shape(const Node* n) {
    std::string text;
    for (const SymInt& d : n->type.tensor.shape) text += (text.empty() ? "" : ", ") + d.str();
    return text;
  }
  std::string error(const char* op, std::vector<Argument> args) {
    return testing::error_text([&] { b.call(op, std::move(args)); });
  }

  Graph graph;
  Builder b;
  SymInt s;
};

Argument list(std::vector<Argument> items) { return Argument::list(std::move(items)); }

TEST_F(OpsASymbolic, ViewInfersTheMissingSize) {
  Node* x = input({s, 8, 24});
  EXPECT_EQ(shape(call("aten.view.default", {x, list({s, 8, -1})})), "s0, 8, 24");
  EXPECT_EQ(shape(call("aten.view.default", {x, list({-1, 24})})), "8*s0, 24");
  EXPECT_EQ(shape(call("aten.view.default", {x, list({s, -1})})), "s0, 192");
  EXPECT_EQ(shape(call("aten.view.default", {x, list({-1, 192})})), "s0, 192");
  EXPECT_EQ(shape(call("aten.view.default", {x, list({2, s, 4, -1})})), "2, s0, 4, 24");
  EXPECT_EQ(shape(call("aten.flatten.using_ints", {x, 1})), "s0, 192");
  EXPECT_EQ(shape(call("aten.flatten.using_ints", {x})), "192*s0");
}

TEST_F(OpsASymbolic, SlicesAreClampedAsFarAsKnown) {
  Node* table = input({1, 512});
  EXPECT_EQ(shape(call("aten.slice.Tensor", {table, 1, 0, s})), "1, s0");  // s0 <= 64 < 512
  Node* x = input({s, 4});
  EXPECT_EQ(shape(call("aten.slice.Tensor", {x, 0, 0, INT64_MAX})), "s0, 4");
  EXPECT_EQ(shape(call("aten.slice.Tensor", {x, 0, 1})), "s0 - 1, 4");
  EXPECT_EQ(shape(call("aten.slice.Tensor", {x, 0, -2})), "2, 4");
  EXPECT_EQ(shape(call("aten.slice.Tensor", {x, 0, 0, -1})), "s0 - 1, 4");
  EXPECT_EQ(shape(call("aten.slice.Tensor", {x, 0, 100})), "0, 4");
  Node* capped = call("aten.slice.Tensor", {x, 0, 0, 8});
  const SymBindings four{4}, sixty{60};
  EXPECT_EQ(evaluate(capped->tensor().shape[0], four), 4);
  EXPECT_EQ(evaluate(capped->tensor().shape[0], sixty), 8);
}

TEST_F(OpsASymbolic, OtherShapeRulesKeepExpressions) {
  Node* x = input({s, 4});
  EXPECT_EQ(shape(call("aten.cat.default", {list({x, x, input({3, 4})})})), "2*s0 + 3, 4");
  EXPECT_EQ(shape(call("aten.expand.default", {input({1, 4}), list({s, -1})})), "s0, 4");
  EXPECT_EQ(shape(call("aten.permute.default", {x, list({1, 0})})), "4, s0");
  EXPECT_EQ(shape(call("aten.constant_pad_nd.default", {x, list({0, 0, 1, 2})})), "s0 + 3, 4");
  EXPECT_EQ(shape(call("aten.arange.default", {s})), "s0");
  EXPECT_EQ(shape(call("aten.repeat.default", {x, list({2, 3})})), "2*s0, 12");
  EXPECT_EQ(shape(call("aten.sum.dim_IntList", {x, list({1}), true})), "s0, 1");
  EXPECT_EQ(shape(call("aten.add.Tensor", {x, input({4})})), "s0, 4");
  EXPECT_EQ(shape(call("aten.full.default", {list({s, 2}), 1.0})), "s0, 2");
  EXPECT_EQ(shape(call("aten.embedding.default", {input({10, 6}), input({s, 3}, DType::I64)})), "s0, 3, 6");
}

/// Splits a mixed-radix index as the view's map does, for every index of some concrete size.
TEST_F(OpsASymbolic, ViewMapsAgreeWithRowMajorOrder) {
  Node* x = input({s, 6, 4});
  const std::vector<std::vector<SymInt>> shapes{{s * 2, 12}, {s, 24},      {s * 24},
                                                {3, s, 8},   {s, 2, 3, 4}, {1, s, 6, 1, 4}};
  const SymBindings five{5};
  for (const auto& to : shapes) {
    Node* v = call("aten.view.default", {x, Argument::ints(to)});
    std::vector<int64_t> sizes;
    for (const SymInt& d : to) sizes.push_back(*evaluate(d, five));
    for (int64_t flat = 0; flat < 120; ++flat) {
      std::vector<SymInt> index(to.size());
      int64_t rest = flat;
      for (size_t d = to.size(); d-- > 0; rest /= sizes[d]) index[d] = rest % sizes[d];
      const auto from = std::get<IndexMap>(v->op->lowering)(Call(*v), index);
      const int64_t back = *evaluate((from[0] * 6 + from[1]) * 4 + from[2], five);
      EXPECT_EQ(back, flat) << shape(v);
    }
  }
}

TEST_F(OpsASymbolic, DimensionsThatAgreeStayPlainSymbols) {
  Node* x = input({s, 3, 4});
  Node* v = call("aten.view.default", {x, list({s, 12})});
  Symbol row, column;
  row.name = "i0";
  row.range = {0, 63};
  column.name = "i1";
  column.range = {0, 11};
  const SymInt i = graph.env().symbol(row), j = graph.env().symbol(column);
  const auto from = std::get<IndexMap>(v->op->lowering)(Call(*v), {i, j});
  EXPECT_EQ(from[0], i);
  EXPECT_EQ(from[1], floordiv(j, 4));
  EXPECT_EQ(from[2], mod(j, 4));
}

TEST_F(OpsASymbolic, ViewStridesOfUnknownLayoutsStayUnknown) {
  TensorType t;
  t.shape = {s, 4};
  Node* x = graph.placeholder("x", Type::of(std::move(t)));
  EXPECT_FALSE(call("aten.permute.default", {x, list({1, 0})})->tensor().strides);
  EXPECT_FALSE(call("aten.view.default", {x, list({-1})})->tensor().strides);
  EXPECT_TRUE(call("aten.relu.default", {x})->tensor().strides);
}

// -------------------------------------------------------------------------------------------------------------- errors

TEST_F(OpsASymbolic, WrongCallsNameOperatorOperandsAndExpectation) {
  Node* x = input({2, 3});
  Node* mask = input({2, 3}, DType::Bool);
  Node* ids = input({4}, DType::I64);
  EXPECT_THAT(error("aten.view.default", {x, list({4, -1})}),
              HasSubstr("numbers of elements of shape [2, 3] and of [4, 1] must be equal, found 6 and 4"));
  EXPECT_THAT(error("aten.view.default", {x, list({-1, -1})}), HasSubstr("only one size"));
  EXPECT_THAT(error("aten.add.Tensor", {x, input({4})}), HasSubstr("do not broadcast"));
  EXPECT_THAT(error("aten.permute.default", {x, list({0, 0})}), HasSubstr("named twice"));
  EXPECT_THAT(error("aten.transpose.int", {x, 0, 2}), HasSubstr("out of range"));
  EXPECT_THAT(error("aten.expand.default", {x, list({2, 4})}),
              HasSubstr("size of dimension 1 and what it expands to must be equal, found 3 and 4"));
  EXPECT_THAT(error("aten.select.int", {x, 1, 3}),
              HasSubstr("size for the index 3 into dimension 1: expected at least 4, found 3"));
  EXPECT_THAT(error("aten.slice.Tensor", {x, 0, 0, 2, 0}), HasSubstr("step must be positive"));
  EXPECT_THAT(error("aten.split_with_sizes.default", {x, list({1, 1}), 1}),
              HasSubstr("sum of the split sizes and the size must be equal, found 2 and 3"));
  EXPECT_THAT(error("aten.cat.default", {list({x, input({2, 4})}), 0}),
              HasSubstr("sizes of dimension 1 must be equal, found 3 and 4"));
  EXPECT_THAT(error("aten.index.Tensor", {x, list({mask})}), HasSubstr("depends on data"));
  EXPECT_THAT(error("aten.index.Tensor", {x, list({x})}), HasSubstr("int64 or int32"));
  EXPECT_THAT(error("aten.gelu.default", {ids}), HasSubstr("floating-point"));
  EXPECT_THAT(error("aten.neg.default", {mask}), HasSubstr("found bool"));
  EXPECT_THAT(error("aten.bitwise_and.Tensor", {x, x}), HasSubstr("integers or bool"));
  EXPECT_THAT(error("aten.where.self", {x, x, x}), HasSubstr("must be a bool tensor"));
  EXPECT_THAT(error("aten.amax.default", {input({0}), list({0})}), HasSubstr("empty"));
  EXPECT_THAT(error("aten.mean.dim", {ids, list({0})}), HasSubstr("floating-point"));
  EXPECT_THAT(error("aten.embedding.default", {x, x}), HasSubstr("int64 or int32"));
  EXPECT_THAT(error("aten.gather.default", {x, 0, ids}), HasSubstr("as many dimensions"));
  EXPECT_THAT(error("aten.pow.Tensor_Scalar", {ids, -1}), HasSubstr("negative integer powers"));
  EXPECT_THAT(error("aten.clamp.default", {x}), HasSubstr("at least one of min and max"));
  EXPECT_THAT(error("aten.constant_pad_nd.default", {x, list({1})}), HasSubstr("two numbers"));
  EXPECT_THAT(error("aten.reflection_pad1d.default", {x, list({3, 0})}),
              HasSubstr("dimension 1 for a padding of 3: expected at least 4, found 3"));
  EXPECT_THAT(error("aten.topk.default", {x, 4}), HasSubstr("elements to take k from: expected at least 4, found 3"));
  EXPECT_THAT(error("aten.arange.start_step", {0, 5, -1}),
              HasSubstr("distance from start to end in the direction of step: expected at least 0, found -5"));
  EXPECT_THAT(error("aten.unbind.int", {input({s, 2})}), HasSubstr("symbolic size s0"));
  EXPECT_THAT(error("aten.dropout.default", {x, 1.5, true}), HasSubstr("between 0 and 1"));
  for (const char* part : {"aten.cat.default", "f32[2, 3]", "f32[2, 4]"})
    EXPECT_THAT(error("aten.cat.default", {list({x, input({2, 4})}), 0}), HasSubstr(part));
}

TEST_F(OpsASymbolic, IntegerDivisionByZeroIsAUserError) {
  Node* x = input({2}, DType::I64);
  graph.output(call("aten.floor_divide.default", {x, 0}));
  const std::vector<Tensor> inputs{Tensor::of(DType::I64, {2}, std::vector<double>{3, 4})};
  try {
    Interpreter(graph).run(std::span<const Tensor>(inputs));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User);
    EXPECT_THAT(e.what(), HasSubstr("division by zero"));
  }
}

// ------------------------------------------------------------------------------------------------------------------ in
// place

TEST_F(OpsASymbolic, InPlaceFormsWriteTheirOperand) {
  Node* x = input({2, 2});
  call("aten.add_.Tensor", {x, 1.5});
  Node* row = call("aten.select.int", {x, 0, 1});
  call("aten.mul_.Tensor", {row, 10});
  call("aten.relu_.default", {x});
  graph.output(x);
  const std::vector<Tensor> inputs{Tensor::of(DType::F32, {2, 2}, std::vector<double>{-3, 1, 2, -4})};
  const auto out = Interpreter(graph).run(std::span<const Tensor>(inputs));
  EXPECT_EQ(out[0].tensor().values(), (std::vector<double>{0, 2.5, 35, 0}));
}

TEST_F(OpsASymbolic, InPlaceFormsKeepTypeAndShape) {
  Node* f16 = input({2, 3}, DType::F16);
  EXPECT_EQ(call("aten.add_.Tensor", {f16, input({3}, DType::F32)})->tensor().dtype, DType::F16);
  EXPECT_THAT(
      error("aten.add_.Tensor", {input({3}), input({2, 3})}),
      HasSubstr("the result and the tensor it is written to must have one number of dimensions, found 2 and 1"));
  EXPECT_THAT(error("aten.div_.Tensor", {input({3}, DType::I64), 2}), HasSubstr("cannot be written to int64"));
  EXPECT_THAT(error("aten.exp_.default", {input({3}, DType::I64)}), HasSubstr("cannot be written to int64"));
}

// --------------------------------------------------------------------------------------------------------------- sizes

TEST_F(OpsASymbolic, ArithmeticOnSizesGivesExpressions) {
  Node* x = input({s, 4});
  Node* n = call("aten.sym_size.int", {x, 0});
  EXPECT_EQ(n->type.sym, s);
  EXPECT_EQ(call("_operator.add", {n, 3})->type.sym, s + 3);
  EXPECT_EQ(call("_operator.mul", {n, n})->type.sym, s * s);
  EXPECT_EQ(call("_operator.sub", {1, n})->type.sym, SymInt(1) - s);
  EXPECT_EQ(call("_operator.floordiv", {n, 2})->type.sym, floordiv(s, 2));
  EXPECT_EQ(call("_operator.mod", {n, 2})->type.sym, mod(s, 2));
  EXPECT_EQ(call("_operator.neg", {n})->type.sym, SymInt(0) - s);
  EXPECT_EQ(call("torch.sym_max", {n, 3})->type.sym, max(s, 3));
  EXPECT_EQ(call("aten.sym_numel.default", {x})->type.sym, s * 4);
  EXPECT_EQ(call("aten.sym_stride.int", {x, 0})->type.sym, SymInt(4));
  EXPECT_EQ(call("_operator.truediv", {n, 2})->type.kind, Type::Kind::SymFloat);
  EXPECT_EQ(call("_operator.lt", {n, 2})->type.kind, Type::Kind::SymBool);
}

TEST_F(OpsASymbolic, ArithmeticOnSizesIsInterpreted) {
  Node* x = input({s, 4});
  Node* n = call("aten.sym_size.int", {x, 0});
  Node* half = call("_operator.floordiv", {n, 2});
  Node* ratio = call("_operator.truediv", {n, 2});
  Node* small = call("_operator.lt", {n, 6});
  Node* scaled = call("aten.mul.Tensor", {x, n});
  Node* large = call("torch.sym_not", {small});
  Node* both = call("_operator.and_", {small, large});
  Node* either = call("_operator.or_", {large, small});
  Node* place = call("aten.sym_storage_offset.default", {call("aten.select.int", {x, 0, 2})});
  graph.output(list({half, ratio, small, scaled, large, both, either, place}));
  const std::vector<Tensor> inputs{Tensor::full(DType::F32, {5, 4}, 2)};
  const auto out = Interpreter(graph).run(std::span<const Tensor>(inputs));
  EXPECT_EQ(std::get<int64_t>(out[0].value), 2);
  EXPECT_EQ(std::get<double>(out[1].value), 2.5);
  EXPECT_EQ(std::get<bool>(out[2].value), true);
  EXPECT_EQ(out[3].tensor().at(7), 10);
  EXPECT_EQ(std::get<bool>(out[4].value), false);
  EXPECT_EQ(std::get<bool>(out[5].value), false);
  EXPECT_EQ(std::get<bool>(out[6].value), true);
  EXPECT_EQ(std::get<int64_t>(out[7].value), 8);
  EXPECT_THAT(error("_operator.and_", {n, 3}), HasSubstr("expected conditions"));
}

TEST_F(OpsASymbolic, SlicesAreInterpretedAtEverySize) {
  Node* x = input({s});
  Node* y = call("aten.slice.Tensor", {x, 0, 1, 8, 2});
  graph.output(y);
  for (int64_t n : {2, 5, 9, 40}) {
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i) + 0.5);
    const std::vector<Tensor> inputs{Tensor::of(DType::F32, {n}, values)};
    std::vector<double> want;
    for (int64_t i = 1; i < std::min<int64_t>(n, 8); i += 2) want.push_back(values[static_cast<size_t>(i)]);
    EXPECT_EQ(Interpreter(graph).run(std::span<const Tensor>(inputs))[0].tensor().values(), want) << n;
  }
}

TEST_F(OpsASymbolic, AssertionsAreCheckedWhenTheyCanBe) {
  Node* x = input({2, 3});
  auto metadata = [&](DType d) { b.call("aten._assert_tensor_metadata.default", {x}, {{"dtype", d}}); };
  EXPECT_NO_THROW(metadata(DType::F32));
  EXPECT_THROW(metadata(DType::F64), Error);
  EXPECT_THAT(error("aten._assert_tensor_metadata.default", {x, list({2, 4})}),
              HasSubstr("dimension 1 of what the program asserts and the tensor must be equal, found 4 and 3"));
}

TEST_F(OpsASymbolic, RandomNumbersAreUniformAndTheSameEachRun) {
  Node* r = call("aten.rand.default", {list({4096})});
  graph.output(r);
  const auto first = Interpreter(graph).run(std::span<const Tensor>())[0].tensor().values();
  EXPECT_EQ(first, Interpreter(graph).run(std::span<const Tensor>())[0].tensor().values());
  double sum = 0;
  for (double v : first) {
    EXPECT_TRUE(v >= 0 && v < 1);
    sum += v;
  }
  EXPECT_NEAR(sum / 4096, 0.5, 0.03);
}

TEST_F(OpsASymbolic, DropoutInTrainingKeepsAndScales) {
  Node* x = input({64, 64});
  const std::vector<Node*> made =
      find_op("aten.dropout.default")->decompose(b, Call(*call("aten.dropout.default", {x, 0.25, true})));
  graph.remove_if([](const Node& n) { return n.target == "aten.dropout.default"; });
  graph.output(made[0]);
  const std::vector<Tensor> inputs{Tensor::full(DType::F32, {64, 64}, 3)};
  const auto values = Interpreter(graph).run(std::span<const Tensor>(inputs))[0].tensor().values();
  const auto kept = std::count(values.begin(), values.end(), 4.0),
             dropped = std::count(values.begin(), values.end(), 0.0);
  EXPECT_EQ(kept + dropped, 4096);
  EXPECT_NEAR(static_cast<double>(kept) / 4096, 0.75, 0.03);
}

}  // namespace
}  // namespace strata
