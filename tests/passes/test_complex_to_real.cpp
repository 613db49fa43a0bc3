// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/complex_to_real.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/ir/complex_parts.h"
#include "core/ir/interpreter.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::error_text;
using testing::graph_of;

TEST(ComplexToReal, InputsAreThePairsThatTheyLieIn) {
  EXPECT_EQ(after(complex_to_real, R"(
def forward(self, x: "c64[2, 3]", y: "f32[3]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    angle = torch.ops.aten.angle.default(mul)
    return (angle,)
)"),
            "select = aten.select.int(x, -1, 0)\n"
            "select_1 = aten.select.int(x, -1, 1)\n"
            "full = aten.full.default([], 0.0, dtype = torch.float32)\n"
            "mul_1 = aten.mul.Tensor(select, y)\n"
            "mul_2 = aten.mul.Tensor(select_1, full)\n"
            "sub = aten.sub.Tensor(mul_1, mul_2)\n"
            "mul_3 = aten.mul.Tensor(select, full)\n"
            "mul_4 = aten.mul.Tensor(select_1, y)\n"
            "add = aten.add.Tensor(mul_3, mul_4)\n"
            "atan2 = aten.atan2.default(add, sub)\n"
            "return (atan2,)\n");
}

TEST(ComplexToReal, ResultsAreViewsOfPairs) {
  EXPECT_EQ(after(complex_to_real, R"(
def forward(self, x: "f64[4, 2]"):
    view_as_complex = torch.ops.aten.view_as_complex.default(x)
    conj = torch.ops.aten._conj.default(view_as_complex)
    return (conj,)
)"),
            "select = aten.select.int(x, -1, 0)\n"
            "select_1 = aten.select.int(x, -1, 1)\n"
            "neg = aten.neg.default(select_1)\n"
            "unsqueeze = aten.unsqueeze.default(select, -1)\n"
            "unsqueeze_1 = aten.unsqueeze.default(neg, -1)\n"
            "cat = aten.cat.default([unsqueeze, unsqueeze_1], -1)\n"
            "view_as_complex_1 = aten.view_as_complex.default(cat)\n"
            "return (view_as_complex_1,)\n");
}

TEST(ComplexToReal, TypesOfInputsAndTheirSpecs) {
  const Graph graph = graph_of(R"(
def forward(self, b_turn: "c128[5]", x: "c64[s0, 3][3, 1]"):
    sum_1 = torch.ops.aten.sum.dim_IntList(x, [1])
    return (sum_1,)
)");
  const Graph real = complex_to_real(graph, {}).graph;
  const auto inputs = real.placeholders();
  EXPECT_EQ(to_string(inputs[1]->type), "f32[s0, 3, 2][6, 2, 1]cpu");
  ASSERT_EQ(real.input_specs.size(), 2u);
  EXPECT_TRUE(real.input_specs[0].complex);
  EXPECT_TRUE(real.input_specs[1].complex);
  EXPECT_EQ(inputs[0]->tensor().dtype, DType::F64);
  const Scheduled scheduled = [&] {
    const std::map<std::string, Tensor> state{{"b_turn", Tensor::empty(DType::C128, {5})}};
    ScheduleOptions options;
    options.state = &state;
    return schedule(real, options);
  }();
  EXPECT_EQ(scheduled.plan->complex_inputs, std::vector<size_t>{0});
  ASSERT_EQ(scheduled.plan->outputs.size(), 1u);
  EXPECT_EQ(scheduled.plan->outputs[0].dtype, DType::C64);
  EXPECT_EQ(scheduled.plan->outputs[0].shape.size(), 1u);
}

TEST(ComplexToReal, WhatIsWrittenStaysPairs) {
  const Graph graph = graph_of(R"(
def forward(self, x: "c64[3]"):
    mul_ = torch.ops.aten.mul_.Tensor(x, 2)
    real = torch.ops.aten.real.default(mul_)
    return (real,)
)");
  const Graph functional = functionalize(graph, {}).graph;
  const Graph real = complex_to_real(functional, {}).graph;
  ASSERT_EQ(real.output_specs.size(), 2u);
  EXPECT_EQ(real.output_specs[0].kind, OutputSpec::Kind::UserInputMutation);
  EXPECT_EQ(real.flat_outputs()[0].node()->tensor().dtype, DType::F32);
  EXPECT_EQ(real.flat_outputs()[0].node()->tensor().shape.size(), 2u);
}

/// Writes through views of another type reach what is viewed.
TEST(ComplexToReal, WritesThroughPartsAndPairs) {
  const Graph graph = graph_of(R"(
def forward(self, x: "c64[3]"):
    clone = torch.ops.aten.clone.default(x)
    real = torch.ops.aten.real.default(clone)
    add_ = torch.ops.aten.add_.Tensor(real, 1)
    view_as_real = torch.ops.aten.view_as_real.default(clone)
    select = torch.ops.aten.select.int(view_as_real, 0, 1)
    mul_ = torch.ops.aten.mul_.Tensor(select, 3)
    conj = torch.ops.aten._conj.default(clone)
    view_as_real_1 = torch.ops.aten.view_as_real.default(conj)
    return (view_as_real_1,)
)");
  Tensor x = Tensor::empty(DType::C64, {3});
  for (int64_t i = 0; i < 6; ++i) as_pairs(x).set(i, static_cast<double>(i));
  const auto value = [&](const Graph& g) {
    return Interpreter(g, {}).run(std::span<const Tensor>(std::vector{x})).at(0).tensor().values();
  };
  const std::vector<double> want{1, -1, 9, -9, 5, -5};
  EXPECT_EQ(value(functionalize(graph, {}).graph), want);
}

/// The results of a program of one complex vector, as complex numbers; real ones have no imaginary part. Once from the
/// program itself, once after the pass: both must be the same.
std::vector<std::complex<double>> values_of(const std::string& body, const std::vector<std::complex<double>>& x) {
  const std::string text = "def forward(self, x: \"c128[" + std::to_string(x.size()) + "]\"):\n" + body;
  const Graph graph = decompose(graph_of(text), {}).graph;
  Tensor input = Tensor::empty(DType::C128, {static_cast<int64_t>(x.size())});
  for (size_t i = 0; i < x.size(); ++i) {
    as_pairs(input).set(static_cast<int64_t>(2 * i), x[i].real());
    as_pairs(input).set(static_cast<int64_t>(2 * i + 1), x[i].imag());
  }
  const auto run = [&](const Graph& g, const Tensor& given) {
    std::vector<std::complex<double>> values;
    const auto results = Interpreter(g, {}).run(std::span<const Tensor>(std::vector{given}));
    for (const RefValue& r : results) {
      const bool complex = is_complex(r.tensor().dtype);
      const std::vector<double> numbers = complex ? as_pairs(r.tensor()).values() : r.tensor().values();
      for (size_t i = 0; i < numbers.size(); i += complex ? 2 : 1)
        values.emplace_back(numbers[i], complex ? numbers[i + 1] : 0.0);
    }
    return values;
  };
  auto values = run(graph, input);
  EXPECT_EQ(run(complex_to_real(graph, {}).graph, as_pairs(input)), values) << body;
  return values;
}

void expect_near(const std::vector<std::complex<double>>& found, const std::vector<std::complex<double>>& want) {
  ASSERT_EQ(found.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_LE(std::abs(found[i] - want[i]), 1e-13 * std::max(1.0, std::abs(want[i]))) << i << ": " << found[i];
}

TEST(ComplexToReal, FunctionsOfOneNumber) {
  const std::vector<std::complex<double>> x{{1, 2}, {-0.5, 3}, {1e-9, -1e-9}, {0, -2}};
  const auto of = [&](const char* name) {
    return values_of("    y = torch.ops.aten." + std::string(name) + ".default(x)\n    return (y,)\n", x);
  };
  const auto each = [&](const auto& f) {
    std::vector<std::complex<double>> values;
    for (const auto& z : x) values.push_back(f(z));
    return values;
  };
  expect_near(of("exp2"), each([](auto z) { return std::pow(std::complex<double>(2), z); }));
  expect_near(of("silu"), each([](auto z) { return z / (1.0 + std::exp(-z)); }));
  const auto less = of("expm1");
  expect_near(less, each([](auto z) { return std::exp(z) - 1.0; }));
  EXPECT_NEAR(less[2].real() * 1e9, 1, 1e-8);  // exp(x) - 1 would have eight digits there
}

TEST(ComplexToReal, MomentsOfNumbers) {
  const std::vector<std::complex<double>> x{{1, 2}, {-0.5, 3}, {4, -1}, {0, -2}};
  std::complex<double> mean = 0;
  for (const auto& z : x) mean += z / 4.0;
  double squares = 0;
  for (const auto& z : x) squares += std::norm(z - mean);
  expect_near(values_of("    v = torch.ops.aten.var_mean.correction(x, [0], correction = 1)\n"
                        "    a = _operator.getitem(v, 0)\n    b = _operator.getitem(v, 1)\n"
                        "    c = torch.ops.aten.std.correction(x, [0], correction = 0)\n    return (a, b, c)\n",
                        x),
              {squares / 3, mean, std::sqrt(squares / 4)});
}

TEST(ComplexToReal, SpacedNumbersAndWaysBetweenThem) {
  using namespace std::complex_literals;  // NOLINT: numbers as they are written
  const std::vector<std::complex<double>> x{{1, 2}, {-0.5, 3}, {4, -1}};
  const std::complex<double> far(0.75, 1.0), near(0.25, -0.25), step = (2.0 - 1.0i) / 2.0;
  expect_near(
      values_of("    a = torch.ops.aten.linspace.default(complex(0.0, 1.0), 2, 3, dtype = torch.complex128)\n"
                "    b = torch.ops.aten.logspace.default(complex(0.0, 1.0), 2, 3, 2.0, dtype = torch.complex128)\n"
                "    c = torch.ops.aten.lerp.Scalar(x, a, complex(0.75, 1.0))\n"
                "    d = torch.ops.aten.lerp.Scalar(x, a, complex(0.25, -0.25))\n    return (a, b, c, d)\n",
                x),
      {1i, 1i + step, 2, std::pow(2.0, 1i), std::pow(2.0, 1i + step), 4,  //
       x[0] + far * (1i - x[0]), x[1] + far * (1i + step - x[1]), x[2] + far * (2.0 - x[2]), x[0] + near * (1i - x[0]),
       x[1] + near * (1i + step - x[1]), x[2] + near * (2.0 - x[2])});
}

TEST(ComplexToReal, NormsTruthsAndProducts) {
  const std::vector<std::complex<double>> x{{3, 4}, {0, 0}, {0, -2}};
  expect_near(values_of("    a = torch.ops.aten.linalg_vector_norm.default(x, 3)\n"
                        "    b = torch.ops.aten.linalg_vector_norm.default(x, 0)\n"
                        "    c = torch.ops.aten.count_nonzero.default(x)\n"
                        "    d = torch.ops.aten.logical_xor.default(x, x)\n"
                        "    e = torch.ops.aten.linalg_vecdot.default(x, x)\n    return (a, b, c, d, e)\n",
                        x),
              {std::cbrt(125.0 + 8.0), 2, 2, 0, 0, 0, 29});
}

TEST(ComplexToReal, ConvolutionIsFourRealOnes) {
  const std::vector<std::complex<double>> x{{1, 2}, {-0.5, 3}, {4, -1}, {0, -2}};
  std::vector<std::complex<double>> want;
  for (size_t i = 0; i < 3; ++i) want.push_back(x[i] * x[0] + x[i + 1] * x[1] + x[3]);
  expect_near(
      values_of("    a = torch.ops.aten.view.default(x, [1, 1, 4])\n    w = torch.ops.aten.slice.Tensor(a, 2, 0, 2)\n"
                "    s = torch.ops.aten.slice.Tensor(x, 0, 3, 4)\n    c = torch.ops.aten.convolution.default("
                "a, w, s, [1], [0], [1], False, [0], 1)\n    return (c,)\n",
                x),
      want);
}

TEST(ComplexToReal, WhatHasNoRuleIsNamed) {
  const char* text = R"(
def forward(self, x: "c64[3]"):
    y = torch.ops.aten.erf.default(x)
    return (y,)
)";
  EXPECT_NE(
      error_text([&] { decompose(graph_of(text), {}); }).find("(aten.erf.default) on complex numbers is not supported"),
      std::string::npos);
}

TEST(ComplexToReal, RealGraphsAreLeftAlone) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[3]"):
    y = torch.ops.aten.real.default(x)
    return (y,)
)");
  EXPECT_FALSE(complex_to_real_may_change(graph, {}));
}

/// What a table of names says must be rows, and rows that decompose must be able to.
TEST(ComplexToReal, EveryRowSaysWhatItDoes) {
  size_t parts = 0, decomposed = 0;
  for (const OpDef* op : all_ops()) {
    const ComplexSupport support = complex_support(*op);
    parts += support == ComplexSupport::Parts;
    decomposed += support == ComplexSupport::Decomposes;
    if (support == ComplexSupport::Decomposes && op->op_class != OpClass::Mutation) {
      EXPECT_NE(op->decompose, nullptr) << op->name;
    }
  }
  const auto has_row = [](std::string_view name) {
    const auto known = all_ops();
    return std::any_of(known.begin(), known.end(), [&](const OpDef* op) {
      return op->name == name || op->name.starts_with(std::string(name) + ".");
    });
  };
  for (const std::string_view name : names_with_complex_rules()) EXPECT_TRUE(has_row(name)) << name;
  EXPECT_GT(parts, 120u);
  EXPECT_GT(decomposed, 150u);
}

}  // namespace
}  // namespace strata
