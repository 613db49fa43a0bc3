// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/ir/interpreter.h"
#include "core/support/error.h"
#include "passes/functionalize.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::HasSubstr;

std::string functional(const char* text) { return after(functionalize, text); }

std::string specs_of(const Graph& graph) {
  std::string text;
  for (const OutputSpec& spec : graph.output_specs) {
    switch (spec.kind) {
      case OutputSpec::Kind::User:
        text += "user ";
        break;
      case OutputSpec::Kind::BufferMutation:
        text += "buffer:" + spec.target + " ";
        break;
      case OutputSpec::Kind::ParameterMutation:
        text += "parameter:" + spec.target + " ";
        break;
      case OutputSpec::Kind::UserInputMutation:
        text += "input:" + spec.target + " ";
        break;
      default:
        text += "? ";
    }
  }
  return text;
}

TEST(Functionalize, LeavesFunctionalGraphsAlone) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.transpose.int(x, 0, 1)
    b = torch.ops.aten.relu.default(a)
    return (b,))");
  EXPECT_TRUE(functionalize(graph, {}).rewrites.empty());
}

TEST(Functionalize, InPlaceOnValue) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.add_.Tensor(a, 1)
    c = torch.ops.aten.mul.Tensor(a, b)
    return (c,))"),
            "a = aten.sin.default(x)\n"
            "add = aten.add.Tensor(a, 1)\n"
            "c = aten.mul.Tensor(add, add)\n"
            "return (c,)\n");
}

TEST(Functionalize, ReadsBeforeTheWriteSeeTheOldValue) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    before = torch.ops.aten.neg.default(a)
    b = torch.ops.aten.relu_.default(a)
    return (before, a))"),
            "a = aten.sin.default(x)\n"
            "before = aten.neg.default(a)\n"
            "relu = aten.relu.default(a)\n"
            "return (before, relu)\n");
}

constexpr const char* kLooksAtMemory = R"(
def forward(self, x: "f32[2, 3][1, 2]cpu"):
    a = torch.ops.aten.select.int(x, 0, 1)
    b = torch.ops.aten.as_strided.default(a, [2], [2], 1)
    c = torch.ops.aten.add_.Tensor(x, 10)
    return (b,))";

TEST(Functionalize, AsStridedLooksAtTheMemoryOfWhatIsViewed) {
  EXPECT_THAT(functional(kLooksAtMemory),
              HasSubstr("permute_1 = aten.permute.default(add, [1, 0])\n"
                        "strided_elements_1 = strata.strided_elements.default(permute_1, [2], [2], 1)\n"
                        "return (add, strided_elements_1)\n"));
  const std::vector<Tensor> x{Tensor::of(DType::F32, {2, 3}, std::vector<double>{0, 1, 2, 3, 4, 5})};
  const Graph captured = graph_of(kLooksAtMemory), made = functionalize(captured, {}).graph;
  const auto values = [&](const Graph& graph) { return Interpreter(graph).run(x).back().tensor().values(); };
  EXPECT_THAT(values(captured), ElementsAre(13, 14));  // as PyTorch says; in memory: 0 3 1 4 2 5
  EXPECT_THAT(values(made), ElementsAre(13, 14));
}

TEST(Functionalize, AsStridedOfMemoryWithGapsIsRefused) {
  const auto memory = [](const std::string& strides, const std::string& offset) {
    return "def forward(self, x: \"f32[2, 3]" + strides + "cpu\"):\n" +
           "    a = torch.ops.aten.as_strided.default(x, [2], [1]" + offset + ")\n    return (a,)";
  };
  EXPECT_THAT(functional(memory("[3, 1]", ", 4").c_str()), HasSubstr("strided_elements.default(x, [2], [1], 4)"));
  EXPECT_THROW(functional(memory("[3, 1]", ", 5").c_str()), Error);  // ends behind the memory
  EXPECT_THROW(functional(memory("[4, 1]", "").c_str()), Error);
  EXPECT_THROW(functional(memory("[0, 1]", "").c_str()), Error);
}

TEST(Functionalize, ThroughView) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    v = torch.ops.aten.view.default(a, [6])
    b = torch.ops.aten.add_.Tensor(v, 1)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "v = aten.view.default(a, [6])\n"
            "add = aten.add.Tensor(v, 1)\n"
            "view = aten.view.default(add, [2, 3])\n"
            "return (view,)\n");
}

TEST(Functionalize, ThroughTranspose) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    t = torch.ops.aten.transpose.int(a, 0, 1)
    b = torch.ops.aten.relu_.default(t)
    return (a, t))"),
            "a = aten.sin.default(x)\n"
            "t = aten.transpose.int(a, 0, 1)\n"
            "relu = aten.relu.default(t)\n"
            "permute = aten.permute.default(relu, [1, 0])\n"
            "return (permute, relu)\n");
}

TEST(Functionalize, ThroughPermuteWithItsInverse) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3, 4]"):
    a = torch.ops.aten.sin.default(x)
    p = torch.ops.aten.permute.default(a, [1, 2, 0])
    b = torch.ops.aten.relu_.default(p)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "p = aten.permute.default(a, [1, 2, 0])\n"
            "relu = aten.relu.default(p)\n"
            "permute = aten.permute.default(relu, [2, 0, 1])\n"
            "return (permute,)\n");
}

TEST(Functionalize, ThroughSlice) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[5, 3]"):
    a = torch.ops.aten.sin.default(x)
    s = torch.ops.aten.slice.Tensor(a, 0, 1, 3)
    b = torch.ops.aten.zero_.default(s)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "s = aten.slice.Tensor(a, 0, 1, 3)\n"
            "zero = aten.zero.default(s)\n"
            "slice = aten.slice.Tensor(a, 0, 0, 1)\n"
            "slice_1 = aten.slice.Tensor(a, 0, 3, 9223372036854775807)\n"
            "cat = aten.cat.default([slice, zero, slice_1], 0)\n"
            "return (cat,)\n");
}

TEST(Functionalize, ThroughSelectFromTheEnd) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    s = torch.ops.aten.select.int(a, 1, -1)
    b = torch.ops.aten.mul_.Tensor(s, 2)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "s = aten.select.int(a, 1, -1)\n"
            "mul = aten.mul.Tensor(s, 2)\n"
            "unsqueeze = aten.unsqueeze.default(mul, 1)\n"
            "slice = aten.slice.Tensor(a, 1, 0, 2)\n"
            "cat = aten.cat.default([slice, unsqueeze], 1)\n"
            "return (cat,)\n");
}

TEST(Functionalize, ThroughPartOfSplit) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 5]"):
    a = torch.ops.aten.sin.default(x)
    parts = torch.ops.aten.split.Tensor(a, 2, 1)
    first = parts[0]
    last = parts[2]
    b = torch.ops.aten.mul_.Tensor(last, 2)
    return (a, first))"),
            "a = aten.sin.default(x)\n"
            "parts = aten.split.Tensor(a, 2, 1)\n"
            "first = parts[0]\n"
            "last = parts[2]\n"
            "mul = aten.mul.Tensor(last, 2)\n"
            "slice = aten.slice.Tensor(a, 1, 0, 4)\n"
            "cat = aten.cat.default([slice, mul], 1)\n"
            "parts_1 = aten.split.Tensor(cat, 2, 1)\n"
            "first_1 = parts_1[0]\n"
            "return (cat, first_1)\n");
}

TEST(Functionalize, NestedViewsAreWrittenBackStepByStep) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    t = torch.ops.aten.transpose.int(a, 0, 1)
    row = torch.ops.aten.select.int(t, 0, 0)
    b = torch.ops.aten.fill_.Scalar(row, 7)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "t = aten.transpose.int(a, 0, 1)\n"
            "row = aten.select.int(t, 0, 0)\n"
            "fill = aten.fill.Scalar(row, 7)\n"
            "unsqueeze = aten.unsqueeze.default(fill, 0)\n"
            "slice = aten.slice.Tensor(t, 0, 1, 9223372036854775807)\n"
            "cat = aten.cat.default([unsqueeze, slice], 0)\n"
            "permute = aten.permute.default(cat, [1, 0])\n"
            "return (permute,)\n");
}

TEST(Functionalize, OtherViewsSeeTheWrite) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    other = torch.ops.aten.view.default(a, [3, 2])
    b = torch.ops.aten.relu_.default(a)
    c = torch.ops.aten.neg.default(other)
    return (c,))"),
            "a = aten.sin.default(x)\n"
            "other = aten.view.default(a, [3, 2])\n"
            "relu = aten.relu.default(a)\n"
            "other_1 = aten.view.default(relu, [3, 2])\n"
            "c = aten.neg.default(other_1)\n"
            "return (c,)\n");
}

TEST(Functionalize, ResultOfTupleOperatorIsNoView) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    pair = torch.ops.aten.sort.default(x)
    values = pair[0]
    b = torch.ops.aten.neg_.default(values)
    return (values,))"),
            "pair = aten.sort.default(x)\n"
            "values = pair[0]\n"
            "neg = aten.neg.default(values)\n"
            "return (neg,)\n");
}

/// A view for kernels, but for PyTorch a copy.
TEST(Functionalize, FlipIsNoView) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.flip.default(x, [0])
    b = torch.ops.aten.neg_.default(a)
    return (a, x))"),
            "a = aten.flip.default(x, [0])\n"
            "neg = aten.neg.default(a)\n"
            "return (neg, x)\n");
}

TEST(Functionalize, CopyBroadcastsAndConverts) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3]", y: "f64[3]"):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.copy_.default(a, y)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "_to_copy = aten._to_copy.default(y, dtype = torch.float32)\n"
            "expand = aten.expand.default(_to_copy, [2, 3])\n"
            "clone = aten.clone.default(expand, memory_format = torch.contiguous_format)\n"
            "return (clone,)\n");
}

// Random numbers cannot be drawn into an expanded view.
TEST(Functionalize, CopiesThatBroadcastHaveTheOrderOfWhatTheyAreWrittenInto) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[2, 3][1, 2]", y: "f32[3]"):
    b = torch.ops.aten.copy_.default(x, y)
    d = torch.ops.aten.rand_like.default(b)
    return (d,))"),
            "expand = aten.expand.default(y, [2, 3])\n"
            "permute = aten.permute.default(expand, [1, 0])\n"
            "clone = aten.clone.default(permute, memory_format = torch.contiguous_format)\n"
            "permute_1 = aten.permute.default(clone, [1, 0])\n"
            "d = aten.rand_like.default(permute_1)\n"
            "return (permute_1, d)\n");
}

TEST(Functionalize, WrittenInputsAndBuffersBecomeOutputsFirst) {
  const PassResult result = functionalize(graph_of(R"(
def forward(self, p_w: "f32[3]", b_count: "i64[]", x: "f32[2, 3]"):
    n = torch.ops.aten.add_.Tensor(b_count, 1)
    y = torch.ops.aten.mul.Tensor(x, p_w)
    z = torch.ops.aten.relu_.default(x)
    return (y,))"),
                                          {});
  EXPECT_EQ(testing::body_of(result.graph),
            "add = aten.add.Tensor(b_count, 1)\n"
            "y = aten.mul.Tensor(x, p_w)\n"
            "relu = aten.relu.default(x)\n"
            "return (add, relu, y)\n");
  EXPECT_EQ(specs_of(result.graph), "buffer:b_count input:x user ");
}

TEST(Functionalize, AssertionsOfElementsAreTestedInEveryRun) {
  const Graph graph = graph_of(R"(
def forward(self, x: "b8[]"):
    check = torch.ops.aten._assert_async.msg(x, 'must hold')
    y = torch.ops.aten.logical_not.default(x)
    return (y,))");
  const PassResult result = functionalize(graph, {});
  EXPECT_EQ(testing::body_of(result.graph),
            "ne = aten.ne.Scalar(x, 0)\n"
            "item = aten.item.default(ne)\n"
            "eq = item == 1\n"
            "_assert_scalar = aten._assert_scalar.default(eq, 'must hold')\n"
            "y = aten.logical_not.default(x)\n"
            "return (y,)\n");
  EXPECT_EQ(testing::rules_of(result.rewrites), "assertion");
}

TEST(Functionalize, MatricesThatCannotBeSolvedAreTestedInEveryRun) {
  const struct {
    const char *call, *first;
    std::vector<double> solvable, singular, expected;
  } cases[] = {
      {"inverse.default(x)", "linalg.inv", {2, 0, 0, 4}, {1, 2, 2, 4}, {0.5, 0, 0, 0.25}},
      {"linalg_inv.default(x)", "linalg.inv", {2, 0, 0, 4}, {1, 2, 2, 4}, {0.5, 0, 0, 0.25}},
      {"linalg_solve.default(x, x)", "linalg.solve", {2, 1, 0, 4}, {1, 2, 2, 4}, {1, 0, 0, 1}},
      {"linalg_solve.default(x, x, left=False)", "linalg.solve", {2, 1, 0, 4}, {1, 2, 2, 4}, {1, 0, 0, 1}},
      {"cholesky.default(x)", "cholesky", {4, 0, 0, 9}, {1, 2, 2, 1}, {2, 0, 0, 3}},
      {"linalg_cholesky.default(x, upper=True)", "linalg.cholesky", {4, 2, 2, 2}, {1, 2, 2, 1}, {2, 1, 0, 1}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.call);
    const PassResult result = functionalize(graph_of("def forward(self, x: \"f32[2, 2]\"):\n    y = torch.ops.aten." +
                                                     std::string(c.call) + "\n    return (y,)"),
                                            {});
    EXPECT_EQ(testing::rules_of(result.rewrites), "solver");
    const auto run = [&](const std::vector<double>& x) {
      return Interpreter(result.graph).run(std::vector<Tensor>{Tensor::of(DType::F32, {2, 2}, x)}).at(0).tensor();
    };
    const Tensor y = run(c.solvable);
    for (size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(y.at(static_cast<int64_t>(i)), c.expected[i]) << i;
    EXPECT_THAT(testing::error_text([&] { run(c.singular); }),
                AllOf(HasSubstr(std::string(c.first) + ": "), HasSubstr("singular, or not positive-definite")));
  }
}

TEST(Functionalize, NormsInTrainingWriteTheirStatistics) {
  for (const char* call : {"batch_norm.default(x, None, None, b_mean, b_var, True, 0.1, 1e-05, True)",
                           "_batch_norm_with_update.default(x, None, None, b_mean, b_var, 0.1, 1e-05)",
                           "_native_batch_norm_legit.default(x, None, None, b_mean, b_var, True, 0.1, 1e-05)",
                           "native_batch_norm.default(x, None, None, b_mean, b_var, True, 0.1, 1e-05)",
                           "instance_norm.default(x, None, None, b_mean, b_var, True, 0.1, 1e-05, True)"}) {
    SCOPED_TRACE(call);
    const bool tuple = std::string_view(call).find("native") < 3 || call[1] == 'b';
    const PassResult result = functionalize(
        graph_of(
            "def forward(self, b_mean: \"f32[2]\", b_var: \"f32[2]\", x: \"f32[2, 2, 4]\"):\n    y = torch.ops.aten." +
            std::string(call) + (tuple ? "\n    z = y[0]\n    return (z, b_mean)" : "\n    return (y, b_mean)")),
        {});
    EXPECT_EQ(specs_of(result.graph), "buffer:b_mean buffer:b_var user user ");
    // Channels of 1, 1, 1, 5 and 2, 2, 2, 2 in both samples.
    const std::vector<double> x{1, 1, 1, 5, 2, 2, 2, 2, 1, 1, 1, 5, 2, 2, 2, 2};
    const std::vector<RefValue> out =
        Interpreter(result.graph)
            .run(std::vector<Tensor>{Tensor::full(DType::F32, {2}, 10), Tensor::full(DType::F32, {2}, 20),
                                     Tensor::of(DType::F32, {2, 2, 4}, x)});
    const bool by_sample = call[0] == 'i';  // 4 elements each, else 8: the variance is that of a sample
    const double variance = 12.0 / (by_sample ? 3 : 7) * (by_sample ? 1 : 2);
    EXPECT_FLOAT_EQ(out.at(0).tensor().at(0), 0.9 * 10 + 0.1 * 2);
    EXPECT_FLOAT_EQ(out.at(0).tensor().at(1), 0.9 * 10 + 0.1 * 2);
    EXPECT_FLOAT_EQ(out.at(1).tensor().at(0), 0.9 * 20 + 0.1 * variance);
    EXPECT_FLOAT_EQ(out.at(1).tensor().at(1), 0.9 * 20);
    EXPECT_NEAR(out.at(2).tensor().at(3), 3 / std::sqrt(3 + 1e-5), 1e-6);
    EXPECT_EQ(out.at(3).tensor().at(0), out.at(0).tensor().at(0)) << "who reads later sees the new ones";
  }
}

TEST(Functionalize, WriteThroughExpandIsRefused) {
  const std::string error = testing::error_text([] {
    functionalize(graph_of(R"(
def forward(self, x: "f32[1, 3]"):
    a = torch.ops.aten.sin.default(x)
    e = torch.ops.aten.expand.default(a, [2, 3])
    b = torch.ops.aten.add_.Tensor(e, 1)
    return (a,))"),
                  {});
  });
  EXPECT_THAT(error, HasSubstr("in-place operator aten.add_.Tensor of 'b' writes through aten.expand.default of 'e', "
                               "which cannot be written back"));
  EXPECT_THAT(error, HasSubstr("use the out-of-place form"));
}

/// Which elements of `a` a write through `calls`, the last of which gives `v`, triples: by the interpreter, which has
/// memory, and by what it becomes without memory, which must say the same.
std::vector<double> tripled(const std::string& calls) {
  const Graph captured = graph_of((R"(
def forward(self, x: "f32[2, 3, 4][12, 4, 1]cpu"):
    a = torch.ops.aten.add.Tensor(x, 0)
)" + calls + R"(
    w = torch.ops.aten.mul_.Tensor(v, 3)
    return (a, v))")
                                      .c_str());
  const Graph made = functionalize(captured, {}).graph;
  std::vector<double> numbers(24);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i + 1);
  const std::vector<Tensor> x{Tensor::of(DType::F32, {2, 3, 4}, numbers)};
  const auto with_memory = Interpreter(captured).run(x), without = Interpreter(made).run(x);
  EXPECT_EQ(with_memory[0].tensor().values(), without[0].tensor().values());
  EXPECT_EQ(with_memory[1].tensor().values(), without[1].tensor().values());
  std::vector<double> found;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double value = without[0].tensor().values()[i];
    if (value == 3 * numbers[i])
      found.push_back(static_cast<double>(i));
    else
      EXPECT_EQ(value, numbers[i]);
  }
  return found;
}

/// PyTorch gives views where the elements can be seen so, and copies elsewhere.
TEST(Functionalize, ReshapedWhereItLies) {
  const auto calls = [](const std::string& before, const std::string& last) {
    return "    s = torch.ops.aten." + before + "\n    v = torch.ops.aten." + last;
  };
  const auto part = ElementsAre(0, 1, 2, 3, 12, 13, 14, 15);
  EXPECT_THAT(tripled(calls("slice.Tensor(a, 1, 0, 1)", "reshape.default(s, [2, 2, 2])")), part);
  EXPECT_THAT(tripled(calls("slice.Tensor(a, 1, 0, 1)", "flatten.using_ints(s, 1)")), part);
  EXPECT_THAT(tripled(calls("slice.Tensor(a, 1, 0, 1)", "reshape.default(s, [8])")), ElementsAre());
  EXPECT_EQ(tripled(calls("transpose.int(a, 0, 1)", "reshape.default(s, [3, 2, 2, 2])")).size(), 24U);
  EXPECT_THAT(tripled(calls("transpose.int(a, 1, 2)", "reshape.default(s, [24])")), ElementsAre());
  EXPECT_THAT(tripled(calls("select.int(a, 0, 1)", "contiguous.default(s)")).size(), 12U);
  EXPECT_THAT(tripled(calls("transpose.int(a, 0, 1)", "contiguous.default(s)")), ElementsAre());
  EXPECT_THAT(tripled(calls("select.int(a, 0, 0)", "to.dtype(s, torch.float32, False, True)")), ElementsAre());
}

TEST(Functionalize, ThroughAnyView) {
  const auto calls = [](const std::string& last) { return "    v = torch.ops.aten." + last; };
  EXPECT_THAT(tripled(calls("diagonal.default(a, 0, 1, 2)")), ElementsAre(0, 5, 10, 12, 17, 22));
  EXPECT_THAT(tripled("    m = torch.ops.aten.movedim.int(a, 0, 2)\n    v = torch.ops.aten.select.int(m, 0, 1)"),
              ElementsAre(4, 5, 6, 7, 16, 17, 18, 19));
  EXPECT_THAT(tripled("    u = torch.ops.aten.unfold.default(a, 2, 2, 2)\n    v = torch.ops.aten.select.int(u, 2, 1)"),
              ElementsAre(2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23));
  EXPECT_THAT(tripled("    parts = torch.ops.aten.tensor_split.sections(a, 3, 2)\n    v = parts[0]"),
              ElementsAre(0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21));
  EXPECT_THAT(tripled("    parts = torch.ops.aten.atleast_3d.Sequence([x, a])\n    v = parts[1]").size(), 24U);
  EXPECT_EQ(tripled(calls("einsum.default('ijk->kji', [a])")).size(), 24U);
  EXPECT_THAT(tripled(calls("einsum.default('ijk->ij', [a])")), ElementsAre());
  EXPECT_EQ(tripled(calls("einsum.default(' k i j -> j i k ', [a])")).size(), 24U);
  EXPECT_EQ(tripled(calls("einsum.default('kij', [a])")).size(), 24U);
  EXPECT_THAT(tripled(calls("einsum.default('...ij->i', [a])")), ElementsAre());
  EXPECT_THAT(
      tripled("    s = torch.ops.aten.slice.Tensor(a, 1, 0, 2)\n    v = torch.ops.aten.einsum.default('iij->ij', [s])"),
      ElementsAre(0, 1, 2, 3, 16, 17, 18, 19));
  EXPECT_THAT(
      tripled("    s = torch.ops.aten.select.int(a, 0, 0)\n    v = torch.ops.aten.unsqueeze_.default(s, 0)").size(),
      12U);
}

TEST(Functionalize, WindowsThatOverlapAreRefused) {
  EXPECT_THAT(
      testing::error_text([] {
        tripled("    u = torch.ops.aten.unfold.default(a, 2, 3, 1)\n    v = torch.ops.aten.select.int(u, 2, 1)");
      }),
      HasSubstr("writes through aten.unfold.default"));
}

TEST(Functionalize, ThroughSliceWithStep) {
  EXPECT_EQ(functional(R"(
def forward(self, x: "f32[6]"):
    a = torch.ops.aten.sin.default(x)
    s = torch.ops.aten.slice.Tensor(a, 0, 0, 6, 2)
    b = torch.ops.aten.add_.Tensor(s, 1)
    return (a,))"),
            "a = aten.sin.default(x)\n"
            "s = aten.slice.Tensor(a, 0, 0, 6, 2)\n"
            "add = aten.add.Tensor(s, 1)\n"
            "slice_scatter = aten.slice_scatter.default(a, add, 0, 0, 6, 2)\n"
            "return (slice_scatter,)\n");
}

}  // namespace
}  // namespace strata
