// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Corners of rows that PyTorch's operator database found: no dimensions, operands of unlike ranks, types that a rule
// must refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/support/error.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

/// A graph whose operands are given as tensors.
struct Corner {
  Graph graph;
  Builder builder{graph};
  std::vector<Tensor> inputs;

  Node* operand(const Tensor& t) {
    inputs.push_back(t);
    std::vector<SymInt> shape(t.shape.begin(), t.shape.end());
    return graph.placeholder("x" + std::to_string(inputs.size()), Type::of(t.dtype, shape));
  }

  std::vector<double> run(const char* op, std::vector<Argument> args) {
    Node* result = builder.call(op, std::move(args));
    graph.output(result);
    const Tensor value = Interpreter(graph).run(inputs).at(0).tensor();
    EXPECT_EQ(std::vector<SymInt>(value.shape.begin(), value.shape.end()), result->tensor().shape);
    return value.values();
  }

  std::string refusal(const char* op, std::vector<Argument> args) {
    try {
      builder.call(op, std::move(args));
    } catch (const Error& e) {
      return e.message();
    }
    return "none";
  }
};

const Tensor kNumber = Tensor::of(DType::F32, {}, std::vector<double>{3});
const Tensor kFirst = Tensor::of(DType::I64, {1}, std::vector<double>{0});

TEST(OpsEdges, WritingAtIndicesOfATensorWithoutDimensions) {
  Corner fill;
  EXPECT_THAT(fill.run("aten.index_fill.int_Scalar", {fill.operand(kNumber), 0, fill.operand(kFirst), 7.0}),
              ElementsAre(7));
  Corner none;
  const Tensor nothing = Tensor::of(DType::I64, {0}, std::vector<double>{});
  EXPECT_THAT(none.run("aten.index_fill.int_Scalar", {none.operand(kNumber), 0, none.operand(nothing), 7.0}),
              ElementsAre(3));
  Corner add;
  Node* self = add.operand(kNumber);
  EXPECT_THAT(add.run("aten.index_add.default", {self, 0, add.operand(kFirst), add.operand(kNumber)}), ElementsAre(6));
}

TEST(OpsEdges, TakeAlongDimBroadcastsTheOtherDimensions) {
  Corner c;
  Node* self = c.operand(Tensor::of(DType::F32, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6}));
  Node* at = c.operand(Tensor::of(DType::I64, {1, 2}, std::vector<double>{2, 0}));
  EXPECT_THAT(c.run("aten.take_along_dim.default", {self, at, 1}), ElementsAre(3, 1, 6, 4));
}

TEST(OpsEdges, ProgressionsOfIntegersLoseTheFractionsFirst) {
  Corner c;
  Node* made = c.builder.call("aten.arange.start_step", {2.1, -2.9, -1.0}, {{"dtype", DType::I8}});
  c.graph.output(made);
  EXPECT_THAT(Interpreter(c.graph).run(c.inputs).at(0).tensor().values(), ElementsAre(2, 1, 0, -1, -2));
}

TEST(OpsEdges, WhatFollowsAnotherArithmeticIsRefused) {
  Corner c;
  Node* whole = c.operand(Tensor::of(DType::I64, {2, 2}, std::vector<double>{1, 2, 3, 4}));
  Node* flags = c.operand(Tensor::of(DType::Bool, {2}, std::vector<double>{1, 0}));
  Node* pixels = c.operand(Tensor::full(DType::U8, {1, 1, 2, 2}, 9));
  EXPECT_THAT(c.refusal("aten.addmm.default", {whole, whole, whole}), HasSubstr("none"));
  const std::vector<std::pair<std::string, Argument>> factors{{"beta", 0.2}, {"alpha", 1}};
  EXPECT_THROW(c.builder.call("aten.addmm.default", {whole, whole, whole}, factors), Error);
  EXPECT_THAT(c.refusal("aten.square.default", {flags}), HasSubstr("bool"));
  EXPECT_THAT(c.refusal("aten.upsample_bilinear2d.default", {pixels, Argument::list({4, 4}), false}),
              HasSubstr("integers"));
}

TEST(OpsEdges, OuterProductsAreOfVectors) {
  Corner c;
  const auto f32 = [&](const std::vector<int64_t>& shape) { return c.operand(Tensor::full(DType::F32, shape, 1)); };
  const char* op = "aten.addr.default";
  EXPECT_THAT(c.refusal(op, {f32({2, 3}), f32({2, 3}), f32({3})}), HasSubstr("vec1"));
  EXPECT_THAT(c.refusal(op, {f32({2, 3}), f32({2}), f32({})}), HasSubstr("vec2"));
  EXPECT_NE(c.refusal(op, {f32({5, 2, 3}), f32({2}), f32({3})}), "none");
  EXPECT_NE(c.refusal(op, {f32({2, 3}), f32({1}), f32({3})}), "none");
  Node* whole = c.operand(Tensor::full(DType::I64, {2}, 1));
  EXPECT_THROW(c.builder.call(op, {whole, whole, whole}, {{"beta", 0.5}}), Error);
}

TEST(OpsEdges, NumbersWithAPointHaveNoBits) {
  Corner c;
  Node* whole = c.operand(Tensor::full(DType::I8, {3}, 1));
  for (const char* op : {"aten.bitwise_or.Scalar", "aten.bitwise_left_shift.Tensor_Scalar"})
    EXPECT_THAT(c.refusal(op, {whole, 2.0}), HasSubstr("found a floating-point number"));
  for (const char* op : {"aten.bitwise_or.Scalar_Tensor", "aten.bitwise_right_shift.Scalar_Tensor"})
    EXPECT_THAT(c.refusal(op, {2.0, whole}), HasSubstr("found a floating-point number"));
  EXPECT_THAT(c.refusal("aten.hinge_embedding_loss.default", {whole, whole}), HasSubstr("floating"));
}

TEST(OpsEdges, WindowsOfNothingAreRefused) {
  Corner c;
  Node* no_rows = c.operand(Tensor::empty(DType::F32, {1, 2, 0, 3}));
  Node* no_channels = c.operand(Tensor::empty(DType::F32, {1, 0, 2, 3}));
  const Argument to = Argument::list({1, 2});
  EXPECT_THAT(c.refusal("aten.adaptive_max_pool2d.default", {no_rows, to}),
              HasSubstr("size of dimension 2: expected at least 1, found 0"));
  EXPECT_THAT(c.refusal("aten.adaptive_max_pool2d.default", {no_channels, to}),
              HasSubstr("size of dimension 1: expected at least 1, found 0"));
  EXPECT_THAT(c.refusal("aten.adaptive_avg_pool2d.default", {no_rows, to}),
              HasSubstr("size of dimension 2: expected at least 1, found 0"));
  EXPECT_EQ(c.refusal("aten.adaptive_avg_pool2d.default", {no_channels, to}), "none");
  EXPECT_EQ(c.refusal("aten.adaptive_max_pool2d.default", {c.operand(Tensor::empty(DType::F32, {0, 2, 2, 3})), to}),
            "none");
}

TEST(OpsEdges, TransposedConvolutionsOfNothingAreRefused) {
  Corner c;
  Node* point = c.operand(Tensor::full(DType::F32, {1, 1, 1, 1}, 1));
  const auto padded = [&](int64_t by) {
    return c.refusal("aten.convolution.default",
                     {point, point, Argument(), Argument::list({1, 1}), Argument::list({0, by}), Argument::list({1, 1}),
                      true, Argument::list({0, 0}), 1});
  };
  EXPECT_EQ(padded(0), "none");
  EXPECT_THAT(padded(1), HasSubstr("output size: expected at least 1, found -1"));
}

TEST(OpsEdges, ScaledSumsHaveTheTypeOfAllThreeOperands) {
  Corner c;
  Node* half = c.operand(Tensor::full(DType::F16, {1}, 2));
  Node* number = c.operand(kNumber);  // no dimensions: does not make the result float32
  Node* whole = c.operand(Tensor::full(DType::I64, {1}, 2));
  Node* flag = c.operand(Tensor::full(DType::Bool, {1}, 1));
  const auto call = [&](const char* op, std::vector<Argument> args, Argument value) {
    return c.builder.call(op, std::move(args), {{"value", std::move(value)}});
  };
  Node* mul = call("aten.addcmul.default", {half, number, whole}, -2.0);
  Node* div = call("aten.addcdiv.default", {half, number, whole}, 2.0);
  Node* cut = call("aten.addcmul.default", {whole, flag, whole}, 1.5);  // as PyTorch: 1
  EXPECT_EQ(mul->tensor().dtype, DType::F16);
  EXPECT_EQ(cut->tensor().dtype, DType::I64);
  c.graph.output(Argument::list({mul, div, cut}));
  const std::vector<RefValue> found = Interpreter(c.graph).run(c.inputs);
  const std::vector<DType> types{DType::F16, DType::F16, DType::I64};
  const std::vector<double> values{-10, 5, 4};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].tensor().dtype, types[i]);
    EXPECT_THAT(found[i].tensor().values(), ElementsAre(values[i]));
  }
  EXPECT_THAT(c.refusal("aten.addcdiv.default", {half, flag, whole}), HasSubstr("integer division"));
  EXPECT_THAT(c.refusal("aten.addcmul.default", {flag, flag, flag}), HasSubstr("bool"));
}

Tensor filled(DType dtype, std::vector<int64_t> shape) { return Tensor::full(dtype, std::move(shape), 1); }

// A kernel reads as many elements as the other operands have: what it would read beyond an operand is refused before.
TEST(OpsEdges, FactorsOfReflectorsFitTheirColumns) {
  Corner c;
  Node* a = c.operand(filled(DType::F32, {2, 3, 2}));
  Node* wide = c.operand(filled(DType::F32, {2, 2, 3}));
  Node* square = c.operand(filled(DType::F32, {2, 3, 3}));
  const auto tau = [&](std::vector<int64_t> shape, DType d = DType::F32) {
    return c.operand(filled(d, std::move(shape)));
  };
  const char* product = "aten.linalg_householder_product.default";
  EXPECT_THAT(c.refusal(product, {a, tau({2, 2})}), HasSubstr("none"));
  EXPECT_THAT(c.refusal(product, {a, tau({2, 1})}), HasSubstr("none"));
  EXPECT_THAT(c.refusal(product, {a, tau({24})}), HasSubstr("expected 2 dimensions, found 1"));
  EXPECT_THAT(c.refusal(product, {a, tau({2, 3})}),
              HasSubstr("rank for the factors in tau: expected at least 3, found 2"));
  EXPECT_THAT(c.refusal(product, {a, tau({1, 2})}), HasSubstr("found 1 and 2"));
  EXPECT_THAT(c.refusal(product, {a, tau({2, 2}, DType::F64)}), HasSubstr("one dtype"));
  EXPECT_THAT(c.refusal(product, {wide, tau({2, 2})}),
              HasSubstr("rows for that many columns: expected at least 3, found 2"));
  EXPECT_THAT(c.refusal("aten.ormqr.default", {a, tau({2, 2}), square}), HasSubstr("none"));
  EXPECT_THAT(c.refusal("aten.ormqr.default", {a, tau({2, 4}), square}),
              HasSubstr("rank for the factors in tau: expected at least 4, found 2"));
  EXPECT_THAT(c.refusal("aten.ormqr.default", {a, tau({2, 2}), wide}), HasSubstr("found 2 and 3"));
  EXPECT_THAT(c.refusal("aten.ormqr.default", {a, tau({2, 2}), tau({3, 3})}), HasSubstr("3 dimensions, found 2"));
}

// What exported programs say in one word is taken apart before anyone else looks at its operands.
TEST(OpsEdges, OperandsOfTransformsFit) {
  Corner c;
  const auto of = [&](DType d, std::vector<int64_t> shape) { return c.operand(Tensor::empty(d, std::move(shape))); };
  Node *number = of(DType::F32, {}), *line = of(DType::F32, {4}), *half = of(DType::BF16, {4}),
       *none = of(DType::F32, {0});
  Node *z = of(DType::C64, {3}), *whole = of(DType::I64, {4});
  const Argument first = Argument::list({0}), nowhere = Argument::list(std::vector<Argument>{});
  EXPECT_THAT(c.refusal("aten.fft_fft.default", {number}), HasSubstr("no dimension to transform"));
  EXPECT_THAT(c.refusal("aten.fft_fft.default", {none}),
              HasSubstr("elements to transform: expected at least 1, found 0"));
  EXPECT_THAT(c.refusal("aten.fft_fft.default", {line, 0}),
              HasSubstr("elements to transform: expected at least 1, found 0"));
  EXPECT_THAT(c.refusal("aten.fft_fft.default", {line, Argument(), 1}), HasSubstr("out of range"));
  EXPECT_THAT(c.refusal("aten.fft_fft.default", {half}), HasSubstr("16-bit floats"));
  EXPECT_THAT(c.refusal("aten.fft_fft.default", {line, Argument(), -1, "twice"}), HasSubstr("norm must be"));
  EXPECT_THAT(c.refusal("aten.fft_rfft.default", {z}), HasSubstr("expected real numbers"));
  EXPECT_THAT(c.refusal("aten.fft_fftn.default", {line, Argument(), Argument::list({0, -1})}),
              HasSubstr("named twice"));
  EXPECT_THAT(c.refusal("aten.fft_rfftn.default", {line, Argument(), nowhere}), HasSubstr("at least one dimension"));
  EXPECT_THAT(c.refusal("aten._fft_c2r.default", {z, first, 0, 8}),
              HasSubstr("elements of the spectrum: expected at least 5, found 3"));
  EXPECT_THAT(c.refusal("aten._fft_c2r.default", {z, first, 0, 0}),
              HasSubstr("elements to transform: expected at least 1, found 0"));
  EXPECT_THAT(c.refusal("aten._fft_c2c.default", {line, first, 0, true}), HasSubstr("expected complex numbers"));
  EXPECT_THAT(c.refusal("aten._fft_r2c.default", {whole, first, 0, true}), HasSubstr("expected float32 or float64"));
  EXPECT_THAT(c.refusal("aten._fft_r2c.default", {number, first, 0, true}), HasSubstr("at least one dimension"));
  EXPECT_THAT(c.refusal("aten.stft.default", {line, 8}), HasSubstr("return_complex"));
  EXPECT_THAT(c.refusal("aten.view_as_complex.default", {line}),
              HasSubstr("size of the last dimension (real, imaginary) and 2 must be equal, found 4 and 2"));
  EXPECT_THAT(c.refusal("aten.view_as_complex.default", {whole}), HasSubstr("expected float16, float32 or float64"));
  EXPECT_THAT(c.refusal("aten.view_as_real.default", {line}), HasSubstr("expected complex numbers"));
  EXPECT_THAT(c.refusal("aten.imag.default", {line}), HasSubstr("expected complex numbers"));
  EXPECT_THAT(c.refusal("aten.complex.default", {line, half}), HasSubstr("type"));
}

TEST(OpsEdges, OperandsOfShorthandsFit) {
  Corner c;
  const auto f32 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::F32, std::move(shape))); };
  const auto i64 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::I64, std::move(shape))); };
  Node *number = f32({}), *line = f32({4}), *matrix = f32({3, 4}), *block = f32({2, 3, 3}), *whole = i64({4});
  const auto ints = [](std::vector<int64_t> items) {
    std::vector<Argument> list;
    for (const int64_t i : items) list.emplace_back(i);
    return Argument::list(std::move(list));
  };
  const char *by_number = "aten.linalg_matrix_norm.default", *by_name = "aten.linalg_matrix_norm.str_ord";
  EXPECT_THAT(c.refusal(by_number, {line, 1}), HasSubstr("at least two dimensions"));
  EXPECT_THAT(c.refusal(by_number, {whole, 1}), HasSubstr("expected a floating-point tensor"));
  EXPECT_THAT(c.refusal(by_number, {matrix, 2}), HasSubstr("singular values"));
  EXPECT_THAT(c.refusal(by_name, {matrix, "nuc"}), HasSubstr("singular values"));
  EXPECT_THAT(c.refusal("aten._weight_norm.default", {whole, whole}), HasSubstr("expected a floating-point tensor"));
  EXPECT_NE(c.refusal("aten._weight_norm.default", {line, whole}), "none");
  for (const auto& dims : {ints({0, 5}), ints({0, 0}), ints({0}), ints({-3, 0}), ints({})})
    EXPECT_NE(c.refusal(by_number, {matrix, 1, dims}), "none");
  EXPECT_THAT(c.refusal("aten.linalg_norm.default", {block, 1}), HasSubstr("1 or 2 dimensions, or dim"));
  EXPECT_NE(c.refusal("aten.linalg_norm.ord_str", {line, "fro"}), "none");
  EXPECT_THAT(c.refusal("aten.matrix_power.default", {block, -1}), HasSubstr("powers of 0 and more"));
  for (Node* x : {number, line}) EXPECT_NE(c.refusal("aten.matrix_power.default", {x, 0}), "none");
  EXPECT_THAT(c.refusal("aten.combinations.default", {line, 3}), HasSubstr("expected 1 or 2, found 3"));
  for (Node* x : {number, matrix}) EXPECT_NE(c.refusal("aten.combinations.default", {x, 2}), "none");
  const char* lookup = "aten._unsafe_masked_index.default";
  EXPECT_THAT(c.refusal(lookup, {line, line, Argument::list({whole, whole}), 0}),
              HasSubstr("for each dimension at most"));
  EXPECT_NE(c.refusal(lookup, {number, line, Argument::list({whole}), 0}), "none");
  EXPECT_THAT(c.refusal("aten._safe_softmax.default", {line, 1}), HasSubstr("dim"));
  for (Node* x : {number, line, matrix}) EXPECT_NE(c.refusal("aten.conv_tbc.default", {x, block, line}), "none");
  EXPECT_THAT(c.refusal("aten.pad_sequence.default", {Argument::list({})}), HasSubstr("at least one sequence"));
  EXPECT_NE(c.refusal("aten.pad_sequence.default", {Argument::list({number, line})}), "none");
  EXPECT_NE(c.refusal("aten.pad_sequence.default", {Argument::list({line, matrix})}), "none");
  for (Node* x : {number, line, block}) EXPECT_NE(c.refusal("aten.embedding_bag.default", {x, whole, whole}), "none");
  for (Node* x : {i64({}), i64({2, 2})}) {
    EXPECT_NE(c.refusal("aten.embedding_bag.default", {matrix, x, whole}), "none");
    EXPECT_NE(c.refusal("aten.embedding_bag.default", {matrix, whole, x}), "none");
  }
  EXPECT_NE(c.refusal("aten.multi_margin_loss.default", {matrix, i64({5})}), "none");
  EXPECT_NE(c.refusal("aten.multi_margin_loss.default", {matrix, i64({3}), 3}), "none");
  EXPECT_NE(c.refusal("aten.multilabel_margin_loss.default", {matrix, i64({4})}), "none");
  EXPECT_NE(c.refusal("aten.multilabel_margin_loss.default", {block, i64({2, 3, 3})}), "none");
  for (Node* x : {number, line, matrix})
    for (const char* op :
         {"aten.det.default", "aten.inverse.default", "aten.slogdet.default", "aten.linalg_cholesky.default"})
      EXPECT_NE(c.refusal(op, {x}), "none") << op;
  for (Node* x : {number, line})
    EXPECT_THAT(c.refusal("aten._batch_norm_with_update.default", {x, NoneArg{}, NoneArg{}, line, line, 0.1, 1e-5}),
                HasSubstr("dimensions"));
}

TEST(OpsEdges, PivotsAndRightSidesFitTheirMatrices) {
  Corner c;
  Node* lu = c.operand(filled(DType::F32, {2, 3, 3}));
  Node* right = c.operand(filled(DType::F32, {2, 3, 1}));
  Node* wide = c.operand(filled(DType::F64, {2, 3, 1}));
  const auto pivots = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::I32, std::move(shape))); };
  const char* solve = "aten.linalg_lu_solve.default";
  EXPECT_THAT(c.refusal(solve, {lu, pivots({2, 3}), right}), HasSubstr("none"));
  EXPECT_THAT(c.refusal(solve, {lu, pivots({2, 2}), right}), HasSubstr("found 2 and 3"));
  EXPECT_THAT(c.refusal(solve, {lu, pivots({}), right}), HasSubstr("expected 2 dimensions, found 0"));
  EXPECT_THAT(c.refusal(solve, {lu, pivots({2, 3}), wide}), HasSubstr("one dtype"));
  EXPECT_THAT(c.refusal("aten.lu_unpack.default", {lu, pivots({2, 5})}), HasSubstr("found 5 and 3"));
  EXPECT_THAT(c.refusal("aten.cholesky_solve.default", {wide, lu}), HasSubstr("one dtype"));
}

TEST(OpsEdges, OperandsOfWritesRunsAndPlacesFit) {
  Corner c;
  const auto f32 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::F32, std::move(shape))); };
  const auto i64 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::I64, std::move(shape))); };
  Node *self = f32({3, 4}), *index = i64({2, 2});
  const char* add = "aten.scatter_add.default";
  EXPECT_THAT(c.refusal(add, {self, 0, index, f32({2})}), HasSubstr("expected 2, found 1"));
  EXPECT_THAT(c.refusal(add, {f32({5}), 0, i64({3}), f32({})}),
              HasSubstr("size of src in dimension 0 for the index: expected at least 3, found 1"));
  EXPECT_THAT(c.refusal(add, {f32({}), 0, i64({1}), f32({})}), HasSubstr("none"));
  const std::vector<std::pair<std::string, Argument>> by{{"offsets", i64({0})}};
  EXPECT_THROW(c.builder.call("aten.segment_reduce.default", {self, "sum"}, by), Error);
  const std::vector<std::pair<std::string, Argument>> lengths{{"lengths", i64({1})}};
  EXPECT_THROW(c.builder.call("aten.segment_reduce.default", {f32({}), "sum"}, lengths), Error);
  const auto back = [&](Node* dy, Node* places) {
    const Argument two = Argument::list({2, 2});
    return c.refusal("aten.max_pool2d_with_indices_backward.default",
                     {dy, f32({1, 4, 4}), two, two, Argument::list({0, 0}), Argument::list({1, 1}), false, places});
  };
  EXPECT_THAT(back(f32({1, 2, 2}), i64({1, 2, 2})), HasSubstr("none"));
  EXPECT_THAT(back(f32({1, 2, 2}), c.operand(filled(DType::I32, {1, 2, 2}))), HasSubstr("int64"));
  EXPECT_THAT(back(c.operand(filled(DType::F16, {1, 2, 2})), i64({1, 2, 2})), HasSubstr("one dtype"));
}

TEST(OpsEdges, MemoryAndBiasOfARecurrentLayerFitItsState) {
  Corner c;
  const auto f32 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::F32, std::move(shape))); };
  const auto layer = [&](Node* memory, Node* bias) {
    return c.refusal("strata.recurrent_layer.default",
                     {f32({2, 3, 8}), f32({3, 2}), memory, f32({8, 2}), bias, "lstm", false, false});
  };
  EXPECT_THAT(layer(f32({3, 2}), f32({8})), HasSubstr("none"));
  EXPECT_THAT(layer(f32({2, 2}), f32({8})), HasSubstr("batches of memory and state"));
  EXPECT_THAT(layer(f32({3, 2}), f32({6})), HasSubstr("elements of the bias"));
}

// PyTorch's CPU kernel: hidden values count in the 512 keys of a row's own, further ones do not.
TEST(OpsEdges, HiddenValuesOfCausalAttention) {
  Corner c;
  Tensor v = Tensor::full(DType::F32, {1, 1, 520, 1}, 1);
  v.set(511, std::numeric_limits<double>::infinity());
  Node* q = c.operand(Tensor::full(DType::F32, {1, 1, 2, 1}, 1));
  Node* k = c.operand(Tensor::full(DType::F32, {1, 1, 520, 1}, 1));
  const std::vector<Argument> args{q, k, c.operand(v), Argument(), 0.0, true};
  EXPECT_THAT(c.run("aten.scaled_dot_product_attention.default", args), ElementsAre(IsNan(), IsNan()));
  Corner far;
  v.set(511, 1);
  v.set(512, std::numeric_limits<double>::infinity());
  q = far.operand(Tensor::full(DType::F32, {1, 1, 2, 1}, 1));
  k = far.operand(Tensor::full(DType::F32, {1, 1, 520, 1}, 1));
  EXPECT_THAT(far.run("aten.scaled_dot_product_attention.default", {q, k, far.operand(v), Argument(), 0.0, true}),
              ElementsAre(1, 1));
}

}  // namespace
}  // namespace strata
