// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Corners of rows that PyTorch's operator database found: no dimensions, operands of unlike ranks, types that a rule
// must refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "core/ir/ops/common.h"
#include "core/support/error.h"

namespace strata {
namespace {

using ops::int_list;
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

  /// By the rule of its type or by its decomposition.
  std::string refusal(const char* op, std::vector<Argument> args,
                      std::vector<std::pair<std::string, Argument>> keywords = {}) {
    try {
      const Node* made = builder.call(op, std::move(args), std::move(keywords));
      if (made->op->decompose) made->op->decompose(builder, Call(*made));
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

TEST(OpsEdges, WhatSingularValuesTellIsOfSmallMatricesOfFloats) {
  Corner c;
  const auto f32 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::F32, std::move(shape))); };
  Node *line = f32({4}), *long_line = f32({64, 65}), *large = f32({65, 65}), *matrix = f32({3, 4});
  Node* whole = c.operand(filled(DType::I64, {3, 3}));
  for (const char* op : {"aten.linalg_svdvals.default", "aten.linalg_eigvalsh.default", "aten.linalg_cond.default",
                         "aten.linalg_pinv.atol_rtol_float", "aten.linalg_matrix_rank.atol_rtol_float"}) {
    EXPECT_NE(c.refusal(op, {line}), "none") << op;
    EXPECT_NE(c.refusal(op, {whole}), "none") << op;
    EXPECT_THAT(c.refusal(op, {large}), HasSubstr("more than 64 lines")) << op;
  }
  EXPECT_EQ(c.refusal("aten.linalg_svdvals.default", {long_line}), "none");
  EXPECT_NE(c.refusal("aten.linalg_eigvalsh.default", {matrix}), "none");
  EXPECT_THAT(c.refusal("aten.linalg_eigvalsh.default", {f32({3, 3}), "X"}), HasSubstr("'L' or 'U'"));
  EXPECT_THAT(c.refusal("aten._linalg_svd.default", {matrix}), HasSubstr("PyTorch's choice"));
  EXPECT_THAT(c.refusal("aten._linalg_eigh.default", {f32({3, 3})}), HasSubstr("PyTorch's choice"));
  EXPECT_NE(c.refusal("aten.linalg_tensorinv.default", {f32({2, 3, 5})}), "none");
  EXPECT_NE(c.refusal("aten.linalg_tensorsolve.default", {f32({2, 3, 5}), f32({2, 3})}), "none");
}

TEST(OpsEdges, OperandsOfShorthandsFit) {
  Corner c;
  const auto f32 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::F32, std::move(shape))); };
  const auto i64 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::I64, std::move(shape))); };
  Node *number = f32({}), *line = f32({4}), *matrix = f32({3, 4}), *block = f32({2, 3, 3}), *whole = i64({4});
  const char *by_number = "aten.linalg_matrix_norm.default", *by_name = "aten.linalg_matrix_norm.str_ord";
  EXPECT_THAT(c.refusal(by_number, {line, 1}), HasSubstr("at least two dimensions"));
  EXPECT_THAT(c.refusal(by_number, {whole, 1}), HasSubstr("expected a floating-point tensor"));
  EXPECT_THAT(c.refusal(by_number, {matrix, 3}), HasSubstr("no such norm"));
  EXPECT_THAT(c.refusal(by_name, {matrix, "nucl"}), HasSubstr("there is no norm 'nucl'"));
  EXPECT_THAT(c.refusal("aten._weight_norm.default", {whole, whole}), HasSubstr("expected a floating-point tensor"));
  EXPECT_NE(c.refusal("aten._weight_norm.default", {line, whole}), "none");
  for (const auto& dims : {int_list({0, 5}), int_list({0, 0}), int_list({0}), int_list({-3, 0}), int_list({})})
    EXPECT_NE(c.refusal(by_number, {matrix, 1, dims}), "none");
  EXPECT_THAT(c.refusal("aten.linalg_norm.default", {block, 1}), HasSubstr("1 or 2 dimensions, or dim"));
  EXPECT_NE(c.refusal("aten.linalg_norm.ord_str", {line, "fro"}), "none");
  EXPECT_EQ(c.refusal("aten.matrix_power.default", {block, -1}), "none");
  for (Node* x : {number, line, matrix}) EXPECT_NE(c.refusal("aten.matrix_power.default", {x, 0}), "none");
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

TEST(OpsEdges, RunningStatisticsAreFloats) {
  Corner c;
  Node *x = c.operand(filled(DType::F32, {3, 4})), *line = c.operand(filled(DType::F32, {4}));
  Node* whole = c.operand(filled(DType::I64, {4}));
  const std::vector<std::vector<Argument>> given{{x, NoneArg{}, NoneArg{}, whole, line, 0.1, 1e-5},
                                                 {x, NoneArg{}, NoneArg{}, line, whole, 0.1, 1e-5},
                                                 {x, whole, NoneArg{}, line, line, 0.1, 1e-5}};
  for (const std::vector<Argument>& args : given)
    for (const char* op : {"aten._batch_norm_with_update.default", "aten._native_batch_norm_legit_no_training.default"})
      EXPECT_THAT(c.refusal(op, args), HasSubstr("is int64, expected a floating type"));
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

// Found by changing arguments of the database's samples (tests/opinfo/run_changed.py): PyTorch refuses these.
TEST(OpsEdges, DimensionsAreNamedOnce) {
  Corner c;
  Node *cube = c.operand(filled(DType::F32, {2, 1, 3})),
       *waves = c.graph.placeholder("waves", Type::of(DType::C64, {2, 3}));
  const Argument twice = int_list({1, -2});
  EXPECT_THAT(c.refusal("aten.flip.default", {cube, twice}), HasSubstr("dimension -2 is named twice"));
  EXPECT_THAT(c.refusal("aten.squeeze.dims", {cube, twice}), HasSubstr("named twice"));
  EXPECT_THAT(c.refusal("aten._fft_c2c.default", {waves, int_list({1, -1}), 0, true}), HasSubstr("named twice"));
  EXPECT_THAT(c.refusal("aten._fft_c2c.default", {waves, int_list({1}), 3, true}), HasSubstr("0, 1 or 2, found 3"));
  EXPECT_THAT(c.refusal("aten.roll.default", {c.operand(kNumber), int_list({1}), int_list({0})}),
              HasSubstr("no dimension to roll along"));
}

TEST(OpsEdges, WhatIsWrittenFitsItsIndices) {
  Corner c;
  Node *matrix = c.operand(filled(DType::F32, {5, 4})), *line = c.operand(filled(DType::F32, {5})),
       *number = c.operand(kNumber);
  Node *two = c.operand(filled(DType::I64, {2})), *square = c.operand(filled(DType::I64, {2, 1})),
       *rows = c.operand(filled(DType::F32, {2, 4})), *long_rows = c.operand(filled(DType::F32, {3, 4}));
  for (const char* op : {"aten.index_add.default", "aten.index_copy.default"}) {
    EXPECT_EQ(c.refusal(op, {matrix, 0, two, rows}), "none");
    EXPECT_THAT(c.refusal(op, {matrix, 0, two, long_rows}), HasSubstr("slices of the source and indices"));
    EXPECT_THAT(c.refusal(op, {matrix, 1, two, rows}), HasSubstr("dimension 0 of source and self"));
    EXPECT_THAT(c.refusal(op, {matrix, 0, two, line}), HasSubstr("a source of 2 dimensions, found 1"));
    EXPECT_THAT(c.refusal(op, {matrix, 0, square, rows}), HasSubstr("at most 1 dimension, found 2"));
    EXPECT_THAT(c.refusal(op, {matrix, 0, line, rows}), HasSubstr("int64 or int32"));
    EXPECT_NE(c.refusal(op, {line, 0, two, number}), "none");
  }
  const char* reduce = "aten.index_reduce.default";
  EXPECT_EQ(c.refusal(reduce, {matrix, 0, two, rows, "amax"}), "none");
  EXPECT_THAT(c.refusal(reduce, {matrix, 0, two, rows, "sum"}), HasSubstr("prod, mean, amax or amin"));
  EXPECT_THAT(c.refusal(reduce, {matrix, 1, two, line, "amax"}), HasSubstr("a source of 2 dimensions"));
  EXPECT_NE(c.refusal("aten.index_fill.int_Scalar", {matrix, 0, square, 1.0}), "none");
  EXPECT_NE(c.refusal("aten.index_fill.int_Tensor", {matrix, 0, square, number}), "none");
  EXPECT_NE(c.refusal("aten.index_select.default", {number, 0, two}), "none");
  EXPECT_NE(c.refusal("aten.index.Tensor", {matrix, Argument::list({})}), "none");
  EXPECT_NE(c.refusal("aten.put.default", {matrix, two, line}), "none");
  EXPECT_NE(c.refusal("aten.select_scatter.default", {number, number, 0, 0}), "none");
  EXPECT_NE(c.refusal("aten.select_scatter.default", {matrix, line, 0, 0}), "none");
  EXPECT_NE(c.refusal("aten.as_strided_scatter.default", {line, number, int_list({2}), int_list({1})}), "none");
  EXPECT_NE(c.refusal("aten.as_strided_scatter.default", {line, line, int_list({5}), int_list({1}), -1}), "none");
  const Argument places = Argument::list({two, two, two});
  EXPECT_THAT(c.refusal("aten._unsafe_masked_index_put_accumulate.default",
                        {matrix, c.operand(filled(DType::Bool, {2})), places, c.operand(filled(DType::F32, {2}))}),
              HasSubstr("more indices than dimensions"));
}

TEST(OpsEdges, OperandsOfOneKindAreOfOneType) {
  Corner c;
  Node *x = c.operand(filled(DType::F32, {2, 3})), *wide = c.operand(filled(DType::F64, {2, 3})),
       *flags = c.operand(filled(DType::Bool, {2, 3})), *bytes = c.operand(filled(DType::U8, {2, 3})),
       *wave = c.graph.placeholder("wave", Type::of(DType::C64, {}));
  const char* types = "to have one dtype, found float32 and float64";
  EXPECT_THAT(c.refusal("aten.lerp.Scalar", {x, wide, 0.5}), HasSubstr(types));
  EXPECT_THAT(c.refusal("aten.lerp.Tensor", {x, x, wide}), HasSubstr(types));
  for (const char* op : {"aten.heaviside.default", "aten.linalg_cross.default"})
    EXPECT_THAT(c.refusal(op, {x, wide}), HasSubstr(types));
  for (const char* op : {"aten.sub.Tensor", "aten.rsub.Tensor"})
    for (const auto& [a, b] : {std::pair{x, flags}, {flags, x}})
      EXPECT_THAT(c.refusal(op, {a, b}), HasSubstr("found bool"));
  EXPECT_THAT(c.refusal("aten.masked_fill.Scalar", {x, bytes, 1.0}), HasSubstr("must be bool, found uint8"));
  EXPECT_THAT(c.refusal("aten.masked_fill.Tensor", {x, flags, wave}), HasSubstr("complex numbers do not fit"));
  Node* waves = c.graph.placeholder("waves", Type::of(DType::C64, {3}));
  EXPECT_THAT(c.refusal("aten.select_scatter.default", {x, waves, 0, 0}), HasSubstr("complex numbers do not fit"));
  EXPECT_THAT(c.refusal("aten.diagonal_scatter.default", {x, waves}), HasSubstr("complex numbers do not fit"));
  EXPECT_THAT(c.refusal("aten.masked_scatter.default", {x, bytes, x}), HasSubstr("must be bool, found uint8"));
  EXPECT_THAT(c.refusal("aten.masked_scatter.default", {x, flags, wide}), HasSubstr("one type"));
  const auto norm = [&](DType dtype) {
    const Argument all = int_list({});
    return c.refusal("aten.linalg_vector_norm.default", {x, 2, all, false}, {{"dtype", dtype}});
  };
  EXPECT_EQ(norm(DType::F64), "none");
  for (const DType dtype : {DType::F16, DType::I64})
    EXPECT_THAT(norm(dtype), HasSubstr("does not hold numbers of float32"));
}

TEST(OpsEdges, ShapesThatPyTorchDoesNotBroadcast) {
  Corner c;
  const auto f32 = [&](std::vector<int64_t> shape) { return c.operand(filled(DType::F32, std::move(shape))); };
  Node *rows = f32({5, 3}), *column = f32({5, 1}), *line = f32({3}), *number = f32({});
  EXPECT_NE(c.refusal("aten.linalg_cross.default", {rows, column}), "none");
  EXPECT_THAT(c.refusal("aten.linalg_cross.default", {rows, line}), HasSubstr("same number of dimensions"));
  EXPECT_NE(c.refusal("aten.binary_cross_entropy.default", {line, rows}), "none");
  EXPECT_NE(c.refusal("aten.binary_cross_entropy_with_logits.default", {rows, line}), "none");
  EXPECT_NE(c.refusal("aten.soft_margin_loss.default", {line, rows}), "none");
  EXPECT_NE(c.refusal("aten._softmax_backward_data.default", {rows, line, 0, DType::F32}), "none");
  EXPECT_NE(c.refusal("aten.trapezoid.x", {f32({6}), f32({2})}), "none");
  EXPECT_NE(c.refusal("aten.diff.default", {rows, 1, 0, column}), "none");
  EXPECT_NE(c.refusal("aten.native_layer_norm.default", {rows, int_list({3}), f32({1, 3}), Argument(), 1e-5}), "none");
  for (const auto& [n, channels, pixels] : {std::array{1, 3, 1}, {5, 1, 1}, {5, 3, 2}})
    EXPECT_NE(c.refusal("aten.native_group_norm.default", {rows, Argument(), Argument(), n, channels, pixels, 1, 1e-5}),
              "none");
  EXPECT_NE(c.refusal("aten.linalg_multi_dot.default", {Argument::list({rows})}), "none");
  EXPECT_NE(c.refusal("aten.linalg_multi_dot.default", {Argument::list({column, f32({1, 1, 1}), column})}), "none");
  EXPECT_NE(c.refusal("aten.meshgrid.indexing", {Argument::list({})}, {{"indexing", "xy"}}), "none");
  EXPECT_NE(c.refusal("aten.meshgrid.indexing", {Argument::list({rows})}, {{"indexing", "xy"}}), "none");
  EXPECT_NE(c.refusal("aten.meshgrid.indexing", {Argument::list({line})}, {{"indexing", "x"}}), "none");
  for (const auto& pad : {int_list({}), int_list({1, 1, 1, 1})})
    EXPECT_NE(c.refusal("aten.reflection_pad1d.default", {rows, pad}), "none");
  EXPECT_NE(c.refusal("aten.replication_pad1d.default", {line, int_list({1, 1})}), "none");
  EXPECT_NE(c.refusal("aten.upsample_bilinear2d.default", {f32({2, 3, 0, 4}), int_list({3, 3}), true}), "none");
  EXPECT_NE(c.refusal("aten.sum_to_size.default", {rows, int_list({-1, 1})}), "none");
  EXPECT_NE(c.refusal("aten.empty_strided.default", {int_list({5}), int_list({4, 4})}), "none");
  EXPECT_NE(c.refusal("aten.empty_strided.default", {int_list({5}), int_list({-4})}), "none");
  EXPECT_NE(c.refusal("aten.renorm.default", {rows, 0, 0, 1.0}), "none");
  EXPECT_NE(c.refusal("aten.renorm.default", {rows, 2, 0, std::numeric_limits<double>::quiet_NaN()}), "none");
  EXPECT_NE(c.refusal("aten.softshrink.default", {rows, -0.5}), "none");
  EXPECT_NE(c.refusal("aten.smooth_l1_loss.default", {rows, rows, 1, -1.0}), "none");
  EXPECT_NE(c.refusal("aten.polygamma.default", {-1, rows}), "none");
  EXPECT_NE(c.refusal("aten.quantile.scalar", {line, 1.5}), "none");
  EXPECT_NE(c.refusal("aten.uniform.default", {rows, 2.0, 1.0}), "none");
  EXPECT_NE(c.refusal("aten.exponential.default", {rows, 0.0}), "none");
  EXPECT_NE(c.refusal("aten.normal_functional.default", {rows, 0.0, -1.0}), "none");
  EXPECT_NE(c.refusal("aten.gradient.scalarint", {number}, {{"dim", 0}}), "none");
  EXPECT_EQ(c.refusal("aten.sub.Tensor", {rows, number}), "none");
}

// Numbers that would have taken years to count, or memory that no machine has.
TEST(OpsEdges, LargeNumbersAreNoLoops) {
  constexpr int64_t huge = int64_t{1} << 40;
  Corner c;
  Node* line = c.operand(filled(DType::F32, {4}));
  EXPECT_EQ(c.refusal("aten.diff.default", {line, huge}), "none");
  EXPECT_THAT(c.refusal("aten.mvlgamma.default", {line, huge}), HasSubstr("too large"));
  EXPECT_THAT(c.refusal("aten.tril_indices.default", {huge, huge}), HasSubstr("64 bits"));
  EXPECT_EQ(c.refusal("aten.tril_indices.default", {huge, 1}), "none");
}

TEST(OpsEdges, PlacesOnOneSideOfADiagonal) {
  for (const int64_t offset : {-5, -2, 0, 1, 2, 7})
    for (const auto& [rows, columns] : {std::pair{3, 5}, {4, 2}, {0, 3}, {3, 0}, {1, 1}}) {
      std::vector<double> below, above;
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
          if (column - row <= offset) below.push_back(row);
          if (column - row >= offset) above.push_back(row);
        }
      for (const auto& [op, places] :
           {std::pair{"aten.tril_indices.default", &below}, {"aten.triu_indices.default", &above}}) {
        Corner c;
        const std::vector<double> found = c.run(op, {rows, columns, offset});
        ASSERT_EQ(found.size(), 2 * places->size()) << op << ' ' << rows << ' ' << columns << ' ' << offset;
        EXPECT_TRUE(std::equal(places->begin(), places->end(), found.begin()));
      }
    }
}

TEST(OpsEdges, WholeNumbersBesideFloats) {
  Corner c;
  Node *half = c.operand(Tensor::of(DType::F16, {1}, std::vector<double>{2})),
       *whole = c.operand(Tensor::of(DType::I64, {1}, std::vector<double>{20}));
  for (const char* op : {"aten.xlogy.Tensor", "aten.special_xlog1py.default", "aten.ldexp.Tensor"})
    EXPECT_EQ(c.builder.call(op, {half, whole})->tensor().dtype, DType::F16) << op;
  // 2^20 and 2^140 are no numbers of these types, what they are multiplied to is.
  const auto ldexp = [](DType dtype, double x, double exponent) {
    Corner corner;
    Node* a = corner.operand(Tensor::of(dtype, {1}, std::vector<double>{x}));
    Node* e = corner.operand(Tensor::of(DType::I64, {1}, std::vector<double>{exponent}));
    return corner.run("aten.ldexp.Tensor", {a, e}).at(0);
  };
  EXPECT_EQ(ldexp(DType::F16, 0x1p-10, 20), 1024);
  EXPECT_EQ(ldexp(DType::F32, 0x1.8p-100, 140), 0x1.8p40);
  EXPECT_EQ(ldexp(DType::F64, 0x1.8p-1000, 1100), 0x1.8p100);
  EXPECT_EQ(ldexp(DType::F64, 0x1.8p1000, -1100), 0x1.8p-100);
  EXPECT_EQ(ldexp(DType::F64, 0x1p-1074, 2090), 0x1p1016);
  EXPECT_EQ(ldexp(DType::F32, 3, -1e15), 0);
  EXPECT_EQ(ldexp(DType::I64, 3, 2), 12);
}

TEST(OpsEdges, LogitsOfWholeNumbersAreOfFloats) {
  Corner bytes;  // 1 - x is no byte
  EXPECT_THAT(
      bytes.run("aten.logit.default", {bytes.operand(Tensor::of(DType::U8, {3}, std::vector<double>{2, 1, 0}))}),
      ElementsAre(IsNan(), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()));
  Corner flags;
  EXPECT_THAT(flags.run("aten.logit.default", {flags.operand(Tensor::of(DType::Bool, {1}, std::vector<double>{1}))}),
              ElementsAre(std::numeric_limits<double>::infinity()));
}

TEST(OpsEdges, VariancesOfNothingAreNoNumbers) {
  for (const int64_t correction : {-2, -1, 0, 1}) {
    Corner c;
    Node* nothing = c.operand(filled(DType::F32, {2, 0}));
    Node* made = c.builder.call("aten.var.correction", {nothing, int_list({1})}, {{"correction", correction}});
    c.graph.output(made);
    EXPECT_THAT(Interpreter(c.graph).run(c.inputs).at(0).tensor().values(), ElementsAre(IsNan(), IsNan()));
  }
}

TEST(OpsEdges, IndicesThatAreComparedAreChecked) {
  const auto filled_at = [](double index) {
    Corner c;
    Node* self = c.operand(Tensor::of(DType::F32, {3}, std::vector<double>{1, 2, 3}));
    Node* at = c.operand(Tensor::of(DType::I64, {1}, std::vector<double>{index}));
    return c.run("aten.index_fill.int_Scalar", {self, 0, at, 9.0});
  };
  EXPECT_THAT(filled_at(-1), ElementsAre(1, 2, 9));
  for (const double index : {3.0, -4.0, 5.0}) EXPECT_THROW(filled_at(index), Error);
  Corner number;
  Node* one = number.operand(Tensor::of(DType::I64, {1}, std::vector<double>{1}));
  EXPECT_THROW(number.run("aten.index_select.default", {number.operand(kNumber), 0, one}), Error);
  Corner scattered;  // the mask names more than there is
  Node* self = scattered.operand(filled(DType::F32, {2}));
  Node* mask = scattered.operand(Tensor::of(DType::Bool, {2}, std::vector<double>{0, 1}));
  EXPECT_THROW(scattered.run("aten.masked_scatter.default", {self, mask, scattered.operand(filled(DType::F32, {0}))}),
               Error);
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
