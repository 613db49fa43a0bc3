// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Rows of matrix products, convolution, pooling, normalisation, resampling and losses against PyTorch's recorded
// results.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/core/recorded_calls.h"

namespace strata {
namespace {

using recorded::OpCase;

const Json& all_recorded() {
  static const Json cases = recorded::read_cases("ops/ops_b.json");
  return cases;
}

std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases;
  for (const Json& json : all_recorded().array()) {
    cases.push_back(recorded::decode_case(json));
    recorded::build(cases.back());
  }
  return cases;
}

std::string name_of(const OpCase& c, size_t number) { return "case " + std::to_string(number) + " " + c.op; }

TEST(OpsB, ShapeRulesGivePyTorchsShapes) {
  size_t number = 0;
  for (const OpCase& c : all_cases()) {
    const std::vector<Argument> outputs = c.graph.flat_outputs();
    ASSERT_EQ(outputs.size(), c.expected.size()) << name_of(c, number);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorType& type = outputs[i].node()->tensor();
      EXPECT_EQ(type.shape, std::vector<SymInt>(c.expected[i].shape.begin(), c.expected[i].shape.end()))
          << name_of(c, number);
      EXPECT_EQ(is_floating(type.dtype), is_floating(c.expected[i].dtype)) << name_of(c, number);
    }
    ++number;
  }
}

void expect_results(bool float64, double tolerance) {
  size_t number = 0;
  for (const OpCase& c : all_cases()) {
    const std::vector<RefValue> results =
        Interpreter(c.graph, {.float64 = float64, .observer = {}, .progress = {}}).run(c.inputs);
    ASSERT_EQ(results.size(), c.expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(recorded::difference(results[i].tensor(), c.expected[i], tolerance), "")
          << name_of(c, number) << " result " << i;
      if (float64) continue;
      EXPECT_EQ(results[i].tensor().dtype, c.graph.flat_outputs()[i].node()->tensor().dtype) << name_of(c, number);
    }
    ++number;
  }
}
TEST(OpsB, NativeResultsArePyTorchs) { expect_results(false, 4e-6); }

/// Operands were rounded to float32 on the way in, which is the error that is left.
TEST(OpsB, Float64ResultsArePyTorchs) { expect_results(true, 2e-6); }

/// Rows with both a reference and a decomposition must mean the same.
TEST(OpsB, DecompositionsAgreeWithReferences) {
  size_t compared = 0, number = 0;
  for (const OpCase& c : all_cases()) {
    const OpDef& row = *c.result->op;
    if (row.reference && row.decompose) {
      Graph spelled(c.graph.shared_env());
      std::unordered_map<const Node*, Node*> map;
      for (const Node* input : c.graph.placeholders()) map[input] = spelled.placeholder(input->name, input->type);
      Node call = *c.result;
      call.for_each_operand([&](Node*& n) { n = map.at(n); });
      Builder builder(spelled);
      spelled.output(row.decompose(builder, Call(call)).at(0));
      EXPECT_EQ(recorded::difference(Interpreter(spelled).run(c.inputs)[0].tensor(), c.expected[0], 4e-6), "")
          << name_of(c, number);
      ++compared;
    }
    ++number;
  }
  EXPECT_GE(compared, 6u);
}

TEST(OpsB, EveryRowWithAReferenceOrDecompositionIsRecorded) {
  std::set<std::string> seen;
  for (const OpCase& c : all_cases()) seen.insert(c.result->op->name);
  for (const char* other : {"ops/ops_c.json", "ops/ops_d.json", "ops/ops_e.json", "ops/ops_f.json", "ops/ops_g.json",
                            "ops/ops_h.json", "ops/ops_i.json"}) {  // compared by the tests of family A
    if (!std::filesystem::exists(std::string(STRATA_TEST_DATA) + "/" + other)) continue;
    const Json file = recorded::read_cases(other);
    for (const Json& call : file.at("cases").array()) seen.insert(call.at("op").string());
  }
  // Covered by gradients of the others or other names of the same rule.
  const std::set<std::string> elsewhere{"aten.max_pool2d_with_indices_backward.default",
                                        "aten._batch_norm_with_update.default",  // tests/passes/test_functionalize.cpp
                                        "aten.vdot.default",
                                        "aten.ger.default",
                                        "aten.conv1d.padding",
                                        "aten.conv3d.padding",
                                        "aten.nll_loss.default",
                                        "strata.grouped_mm.default",  // aten._grouped_mm
                                        "transformers.grouped_mm_fallback.default",
                                        "strata.fft_c2c.default",  // aten._fft_c2c and its like
                                        "strata.fft_r2c.default",
                                        "strata.fft_c2r.default",
                                        "strata.attention.default",        // tests/passes/test_fuse_attention.cpp
                                        "strata.recurrent_layer.default",  // inside lstm and gru
                                        "aten._is_all_true.default",
                                        "aten._is_any_true.default",
                                        "aten.squeeze_.default",  // tests/passes/test_functionalize.cpp
                                        "aten.squeeze_.dim",
                                        "aten.squeeze_.dims",
                                        "aten.unsqueeze_.default",
                                        "aten.t_.default",
                                        "aten.transpose_.default",
                                        "aten.swapaxes_.default",
                                        "aten.swapdims_.default"};
  std::vector<OpDef> rows = ops::matrix();
  for (OpDef& row : ops::convolution()) rows.push_back(std::move(row));
  for (const OpDef& row : rows) EXPECT_TRUE(seen.contains(row.name) || elsewhere.contains(row.name)) << row.name;
}

TEST(OpsB, SixteenBitResultsAreRoundedOnce) {
  Graph graph;
  Node* a = graph.placeholder("a", Type::of(DType::BF16, {1, 300}));
  Node* b = graph.placeholder("b", Type::of(DType::BF16, {300, 1}));
  graph.output(Builder(graph).call("aten.mm.default", {a, b}));
  // 299 ones and one 2^-9: any partial rounding to bfloat16 would stick at 256.
  std::vector<double> ones(300, 1.0);
  ones[7] = 0x1p-9;
  const std::vector<Tensor> inputs{Tensor::of(DType::BF16, {1, 300}, ones), Tensor::full(DType::BF16, {300, 1}, 1.0)};
  const Tensor y = Interpreter(graph).run(inputs)[0].tensor();
  EXPECT_EQ(y.dtype, DType::BF16);
  EXPECT_EQ(y.at(0), 300.0);  // 299.002 lies between 298 and 300
}

TEST(OpsB, SymbolicSizesPassThroughShapeRules) {
  Graph graph;
  const SymInt n = graph.env().symbol({.name = "s0", .range = {2, 64}, .max_expr = {}, .hint = 8, .origin = "x"});
  Node* x = graph.placeholder("x", Type::of(DType::F32, {n, 3, 10 + n, 12}));
  Node* w = graph.placeholder("w", Type::of(DType::F32, {6, 3, 3, 3}));
  Builder b(graph);
  const auto pair = [](int64_t v) { return Argument::list({v, v}); };
  Node* y = b.call("aten.conv2d.default", {x, w, NoneArg{}, pair(1), pair(1)});
  EXPECT_EQ(y->tensor().shape, (std::vector<SymInt>{n, 6, n + 10, 12}));
  Node* z = b.call("aten.max_pool2d.default", {y, pair(2)});
  EXPECT_EQ(z->tensor().shape, (std::vector<SymInt>{n, 6, floordiv(n, 2) + 5, 6}));
  Node* m = b.call("aten.linear.default", {b.reshape(z, {n, 6 * (floordiv(n, 2) + 5), 6}), b.reshape(w, {27, 6})});
  EXPECT_EQ(m->tensor().shape.back(), SymInt(27));
}

struct Mistake {
  const char* op;
  std::vector<std::vector<SymInt>> shapes;
  std::vector<Argument> rest;
  const char* words;
};
TEST(OpsB, MistakesAreNamed) {
  const auto pair = [](int64_t v) { return Argument::list({v, v}); };
  const std::vector<Mistake> mistakes{
      {"aten.mm.default",
       {{2, 3}, {4, 5}},
       {},
       "columns of the first and rows of the second matrix must be equal, found 3 and 4"},
      {"aten.mm.default", {{2, 3, 1}, {4, 5}}, {}, "expected 'self' to have 2 dimensions, found 3"},
      {"aten.linear.default", {{2, 3}, {4, 5}}, {}, "last sizes of input and weight must be equal, found 3 and 5"},
      {"aten.conv2d.default",
       {{1, 3, 5, 5}, {4, 2, 3, 3}},
       {},
       "channels of the input and those that the weight expects must be equal, found 3 and 2"},
      {"aten.conv2d.default",
       {{1, 3, 2, 2}, {4, 3, 3, 3}},
       {},
       "elements of the padded input for the kernel's reach: expected at least 3, found 2"},
      {"aten.conv2d.default",
       {{1, 3, 5, 5}, {4, 3, 3, 3}},
       {NoneArg{}, pair(0)},
       "stride and dilation must be at least 1"},
      {"aten.max_pool2d.default",
       {{1, 3, 5, 5}},
       {pair(2), pair(2), pair(2)},
       "padding must be at least 0 and at most half the kernel, found 2"},
      {"aten.layer_norm.default",
       {{2, 3}},
       {Argument::list({4})},
       "sizes of input and normalized_shape must be equal, found 3 and 4"},
      {"aten.group_norm.default", {{2, 6, 3}}, {4}, "channels, 6, must be divisible by 4"},
      {"aten.einsum.default", {}, {"ij,jk->ik", Argument::list({})}, "expected at least one operand"},
      {"aten.scaled_dot_product_attention.default",
       {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
       {NoneArg{}, 1.5},
       "dropout_p must be between 0 and 1"},
  };
  for (const Mistake& m : mistakes) {
    Graph graph;
    std::vector<Argument> args;
    for (size_t i = 0; i < m.shapes.size(); ++i)
      args.emplace_back(graph.placeholder("x" + std::to_string(i), Type::of(DType::F32, m.shapes[i])));
    args.insert(args.end(), m.rest.begin(), m.rest.end());
    try {
      Builder(graph).call(m.op, args);
      ADD_FAILURE() << m.op << " was accepted; expected: " << m.words;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::User) << e.what();
      EXPECT_NE(std::string(e.what()).find(m.words), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace strata
