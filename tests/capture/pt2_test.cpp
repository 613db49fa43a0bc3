// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "capture/pt2_archive.h"
#include "core/ir/interpreter.h"
#include "core/runtime/npy.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;

const std::string kModels = STRATA_BINARY_DIR "/models/", kSmall = STRATA_TEST_DATA "/pt2/";

/// `name = target(operands)` of the calls, in order.
std::vector<std::string> calls(const Graph& graph) {
  std::vector<std::string> result;
  for (const auto& node : graph.nodes()) {
    if (node->kind != NodeKind::Call) continue;
    std::string line = node->name + " = " + node->target + "(";
    for (const Node* operand : node->operands()) line += (line.back() == '(' ? "" : ", ") + operand->name;
    result.push_back(line + ")");
  }
  return result;
}

Type type_of(const Program& program, std::string_view name) {
  const Node* node = program.graph.find(name);
  EXPECT_NE(node, nullptr) << name;
  return node ? node->type : Type();
}

TEST(Pt2, ReadsAWholeModel) {
  const Program p = load_pt2(kModels + "cnn_fmnist/cnn_fmnist.pt2");
  EXPECT_EQ(p.producer, "torch 2.11.0+cu130");
  EXPECT_EQ(p.schema_version, "8.17");
  EXPECT_THAT(p.verifiers, ElementsAre("TRAINING"));
  EXPECT_THAT(calls(p.graph),
              ElementsAre("conv2d = aten.conv2d.default(x, p_layer1_0_weight, p_layer1_0_bias)",
                          "relu = aten.relu.default(conv2d)", "max_pool2d = aten.max_pool2d.default(relu)",
                          "conv2d_1 = aten.conv2d.default(max_pool2d, p_layer2_0_weight, p_layer2_0_bias)",
                          "relu_1 = aten.relu.default(conv2d_1)", "max_pool2d_1 = aten.max_pool2d.default(relu_1)",
                          "view = aten.view.default(max_pool2d_1)",
                          "linear = aten.linear.default(view, p_fc1_weight, p_fc1_bias)",
                          "dropout = aten.dropout.default(linear)",
                          "linear_1 = aten.linear.default(dropout, p_fc2_weight, p_fc2_bias)",
                          "linear_2 = aten.linear.default(linear_1, p_fc3_weight, p_fc3_bias)"));
  EXPECT_EQ(p.state.size(), 10u);
  EXPECT_EQ(p.state.at("fc1.weight").shape, (std::vector<int64_t>{600, 2304}));
  EXPECT_THAT(p.user_input_names, ElementsAre("x"));
  EXPECT_THAT(p.user_output_names, ElementsAre("out"));
  ASSERT_EQ(p.sample_inputs.size(), 1u);
  const Tensor expected = read_npy(kModels + "cnn_fmnist/input_0.npy");
  EXPECT_EQ(p.sample_inputs[0].shape, expected.shape);
  EXPECT_EQ(p.graph.input_specs.size(), 11u);
  EXPECT_EQ(p.graph.input_specs[4].target, "fc1.weight");
  EXPECT_EQ(p.graph.input_specs[4].kind, InputSpec::Kind::Parameter);
  EXPECT_EQ(p.graph.input_specs[10].kind, InputSpec::Kind::User);
}

TEST(Pt2, ReadsProvenance) {
  const Program p = load_pt2(kModels + "cnn_fmnist/cnn_fmnist.pt2");
  const Node* relu = p.graph.find("relu");
  ASSERT_NE(relu, nullptr);
  EXPECT_EQ(relu->meta.module_path, "layer1.1");
  EXPECT_EQ(relu->meta.module_type, "torch.nn.modules.activation.ReLU");
  ASSERT_TRUE(relu->meta.source);
  ASSERT_EQ(relu->meta.source->size(), 3u);
  const SourceLocation& outer = relu->meta.source->front();
  EXPECT_EQ(outer.function, "forward");
  EXPECT_EQ(outer.line, 70);
  EXPECT_EQ(outer.code, "x = self.layer2(self.layer1(x))");
  EXPECT_EQ(user_line(relu->meta.source), &outer);
  EXPECT_EQ(p.source_lines.at(outer.file).at(70), outer.code);
  EXPECT_FALSE(relu->meta.extra.at("torch_fn").empty());
}

TEST(Pt2, ReadsSymbolsWithRangesHintsAndOrigins) {
  const Program p = load_pt2(kModels + "bert_dynamic/bert.pt2");
  ShapeEnv& env = p.graph.env();
  ASSERT_TRUE(env.find("s72") && env.find("s70"));
  const Symbol& batch = env.info(*env.symbol_id(*env.find("s72")));
  const Symbol& length = env.info(*env.symbol_id(*env.find("s70")));
  EXPECT_EQ(batch.range.min, 2);
  EXPECT_EQ(batch.range.max, 64);
  EXPECT_EQ(batch.hint, 3);
  EXPECT_EQ(batch.origin, p.user_input_names.at(0) + ".size()[0]");
  EXPECT_EQ(length.range.max, 128);
  EXPECT_EQ(length.origin, p.user_input_names.at(0) + ".size()[1]");
  EXPECT_THAT(p.user_output_names, ElementsAre("out.0", "out.1"));
  const Node* size = p.graph.find("sym_size_int_13");
  ASSERT_NE(size, nullptr);
  EXPECT_EQ(size->type.kind, Type::Kind::SymInt);
  EXPECT_TRUE(size->type.sym == *env.find("s72"));
}

TEST(Pt2, NestedInputsKeywordsConstantsAndOutputs) {
  const Program p = load_pt2(kSmall + "nested.pt2");
  EXPECT_THAT(p.user_input_names, ElementsAre("d.a", "d.b.0", "kwargs.mask"));
  EXPECT_THAT(p.user_output_names, ElementsAre("out.logits", "out.rest.0", "out.rest.1.0"));
  ASSERT_EQ(p.constant_inputs.size(), 2u);
  EXPECT_EQ(p.constant_inputs[0].name, "scale");
  EXPECT_EQ(p.constant_inputs[0].value, Argument(3.0));
  EXPECT_EQ(p.constant_inputs[1].name, "kwargs.flag");
  EXPECT_EQ(p.constant_inputs[1].value, Argument(true));
  ASSERT_EQ(p.sample_inputs.size(), 3u);
  EXPECT_EQ(p.sample_inputs[0].at(0), 1.0);
  EXPECT_EQ(p.sample_inputs[1].at(11), 2.0);
  EXPECT_EQ(p.sample_inputs[2].at(5), 0.5);
  EXPECT_EQ(p.out_spec.keys, (std::vector<std::string>{"logits", "rest"}));
  EXPECT_EQ(p.out_spec.leaf_count(), 3u);
}

TEST(Pt2, OutputsThatAreNoArrays) {
  const Program p = load_pt2(kSmall + "constants.pt2");
  EXPECT_THAT(p.user_output_names, ElementsAre("out.0.0", "out.1", "out.2", "out.4", "out.5"));
  ASSERT_EQ(p.constant_outputs.size(), 2u);
  EXPECT_EQ(p.constant_outputs[0].position, 1u);
  EXPECT_EQ(p.constant_outputs[0].name, "out.0.1");
  EXPECT_TRUE(p.constant_outputs[0].value.is_none());
  EXPECT_EQ(p.constant_outputs[1].position, 4u);
  EXPECT_EQ(p.constant_outputs[1].name, "out.3");
  EXPECT_EQ(p.constant_outputs[1].value, Argument("words"));
}

TEST(Pt2, MutationsAndUnusedResults) {
  const Program p = load_pt2(kSmall + "buffers.pt2");
  EXPECT_THAT(calls(p.graph),
              ElementsAre("add = aten.add.Tensor(b_count)", "mul = aten.mul.Tensor(x)", "max_1 = aten.max.dim(mul)",
                          "getitem = _operator.getitem(max_1)", "add_1 = aten.add.Tensor(getitem, add)",
                          "add_2 = aten.add.Tensor(add_1, b_hidden)", "add_3 = aten.add.Tensor(add_2, c_fixed)"));
  const Type tuple = type_of(p, "max_1");
  ASSERT_EQ(tuple.kind, Type::Kind::Tuple);
  ASSERT_EQ(tuple.parts.size(), 2u);
  EXPECT_EQ(tuple.parts[1].tensor.dtype, DType::I64);
  using Kind = OutputSpec::Kind;
  ASSERT_EQ(p.graph.output_specs.size(), 3u);
  EXPECT_EQ(p.graph.output_specs[0].kind, Kind::BufferMutation);
  EXPECT_EQ(p.graph.output_specs[0].target, "count");
  EXPECT_EQ(p.graph.output_specs[1].kind, Kind::UserInputMutation);
  EXPECT_EQ(p.graph.output_specs[1].target, "x");
  EXPECT_EQ(p.graph.output_specs[2].kind, Kind::User);
  EXPECT_THAT(p.user_output_names, ElementsAre("out"));
  EXPECT_TRUE(p.graph.input_specs[0].persistent);
  EXPECT_FALSE(p.graph.input_specs[1].persistent);
  EXPECT_EQ(p.graph.input_specs[2].kind, InputSpec::Kind::TensorConstant);
  EXPECT_EQ(p.state.at("hidden").values(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(p.state.at("fixed").values(), (std::vector<double>{1, 2, 3}));
}

TEST(Pt2, BranchesAreSubgraphs) {
  const Program p = load_pt2(kSmall + "choose.pt2");
  EXPECT_THAT(calls(p.graph), ElementsAre("cond = higher_order.cond(p, x)", "getitem = _operator.getitem(cond)",
                                          "getitem_1 = _operator.getitem(cond)"));
  const Node* cond = p.graph.find("cond");
  ASSERT_EQ(cond->args.size(), 4u);
  ASSERT_TRUE(cond->args[1].as<GraphArg>());
  const auto& yes = p.graph.subgraphs.at(cond->args[1].as<GraphArg>()->name);
  const auto& no = p.graph.subgraphs.at(cond->args[2].as<GraphArg>()->name);
  EXPECT_THAT(calls(*yes), ElementsAre("sin = aten.sin.default(x)", "add = aten.add.Tensor(x)"));
  EXPECT_THAT(calls(*no), ElementsAre("cos = aten.cos.default(x)", "sub = aten.sub.Tensor(x)"));
  EXPECT_EQ(&yes->env(), &p.graph.env());
}

TEST(Pt2, RegionsOfNoEffectStandInTheirPlace) {
  const Program p = load_pt2(kSmall + "regions.pt2");
  EXPECT_TRUE(p.graph.subgraphs.empty());
  EXPECT_TRUE(unsupported_operators(p.graph).empty());
  std::vector<std::string> targets;
  std::set<std::string> names;
  for (const auto& node : p.graph.nodes()) {
    if (node->kind == NodeKind::Call) targets.push_back(node->target);
    EXPECT_TRUE(names.insert(node->name).second) << node->name;
  }
  EXPECT_THAT(targets, ElementsAre("aten.mul.Tensor", "aten.sin.default", "aten.add.Tensor", "aten.sum.dim_IntList",
                                   "aten.mul.Tensor", "aten.mul.Tensor", "aten.add.Tensor"));
  // What the program gives is made inside, and outside from what is made inside.
  const auto outputs = p.graph.flat_outputs();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].node()->args[0].node()->target, "aten.add.Tensor");
  EXPECT_EQ(outputs[1].node()->args[0].node()->args[0].node()->target, "aten.sum.dim_IntList");
}

TEST(Pt2, WhatAutocastConvertsIsConvertedByCalls) {
  const Program p = load_pt2(kSmall + "casts.pt2");
  EXPECT_TRUE(p.graph.subgraphs.empty());
  std::vector<std::string> lines;
  std::set<std::string> names;
  for (const auto& node : p.graph.nodes()) {
    EXPECT_TRUE(names.insert(node->name).second) << node->name;
    if (node->kind != NodeKind::Call || node->target.starts_with("aten.t.")) continue;
    std::string line = node->target + ":";
    for (const Node* operand : node->operands()) line += " " + std::string(dtype_name(operand->tensor().dtype));
    lines.push_back(line + " -> " + std::string(dtype_name(node->tensor().dtype)));
  }
  EXPECT_THAT(lines, ElementsAre("aten.to.dtype: float32 -> bfloat16", "aten.to.dtype: float32 -> bfloat16",
                                 "aten.matmul.default: bfloat16 bfloat16 -> bfloat16",
                                 "aten.matmul.default: float32 float32 -> float32",
                                 "aten.matmul.default: bfloat16 bfloat16 -> bfloat16",
                                 "aten.to.dtype: bfloat16 -> float32", "aten.cat.default: float32 float32 -> float32",
                                 "aten.to.dtype: bfloat16 -> float32", "aten.prod.dim_int: float32 -> float32"));
}

TEST(Pt2, MappedFunctionsAreWrittenOutForWholeBatches) {
  const Program p = load_pt2(kSmall + "mapped.pt2");
  EXPECT_TRUE(unsupported_operators(p.graph).empty());
  const Tensor x = Tensor::of(DType::F32, {3, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13});
  const Tensor at = Tensor::of(DType::I64, {4, 2}, std::vector<double>{0, 2, 1, 1, 2, 0, 0, 1});
  Interpreter interpreter(p.graph, {});
  const std::vector<Tensor> inputs{x, at};
  const auto results = interpreter.run(std::span<const Tensor>(inputs));
  ASSERT_EQ(results.size(), 2U);
  // Columns of sums 15, 18, 21, 25.
  EXPECT_EQ(results[0].tensor().shape, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(results[0].tensor().values(), (std::vector<double>{15, 135, 108, 108, 231, 63, 100, 200}));
  EXPECT_EQ(results[1].tensor().values(), (std::vector<double>{0, -1, -2, -3, 2, 1, 0, -1, 4, 3, 2, 1, 6, 5, 4, 3}));
}

TEST(Pt2, WeightsOfAllKinds) {
  const Program p = load_pt2(kSmall + "weights.pt2");
  const auto values = [&](const std::string& name) { return p.state.at(name).values(); };
  const std::vector<double> base{0, 1, -2.5, 3};
  for (const char* name : {"w_bfloat16", "w_float16", "w_float64"}) EXPECT_EQ(values(name), base) << name;
  EXPECT_EQ(p.state.at("w_bfloat16").dtype, DType::BF16);
  EXPECT_EQ(values("w_int8"), (std::vector<double>{0, 1, -2, 3}));
  EXPECT_EQ(values("w_bool"), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(values("u16"), (std::vector<double>{0, 1, 2, 65535}));
  EXPECT_EQ(p.state.at("w_complex64").ptr<std::complex<float>>()[2], std::complex<float>(-2.5f, 0));
  EXPECT_EQ(p.state.at("e4m3").dtype, DType::F8E4M3FN);
  EXPECT_EQ(p.state.at("empty").shape, (std::vector<int64_t>{0, 3}));
  // A slice of a transposed matrix, and the same parameter under a second name.
  const Tensor &a = p.state.at("a"), &tied = p.state.at("tied");
  EXPECT_EQ(a.values(), (std::vector<double>{1, 5, 9, 2, 6, 10}));
  EXPECT_FALSE(a.is_contiguous());
  EXPECT_EQ(a.storage, tied.storage);
  EXPECT_EQ(tied.values(), a.values());
}

TEST(Pt2, WritingToWeightsLeavesTheFileAlone) {
  const std::string path = kSmall + "buffers.pt2";
  {
    const Program p = load_pt2(path);
    p.state.at("fixed").set(0, 99);
    EXPECT_EQ(p.state.at("fixed").at(0), 99);
  }
  EXPECT_EQ(load_pt2(path).state.at("fixed").at(0), 1);
}

TEST(Pt2, DerivedSizesListsAndIntegers) {
  const Program p = load_pt2(kSmall + "sizes.pt2");
  const SymInt s = p.graph.find("y")->type.tensor.shape[0];
  EXPECT_TRUE(p.graph.find("x")->type.tensor.shape[0] == s + 1);
  EXPECT_TRUE(p.graph.find("arange")->type.tensor.shape[0] == 2 * s);
  EXPECT_EQ(p.graph.find("split")->type.parts.size(), 2u);
  EXPECT_THAT(p.user_input_names, ElementsAre("x", "y", "k"));
  EXPECT_EQ(p.graph.find("k")->type.kind, Type::Kind::SymInt);
  ASSERT_EQ(p.sample_inputs.size(), 3u);
  EXPECT_EQ(p.sample_inputs[2].int_at(0), 7);
  ASSERT_EQ(p.guards.size(), 1u);
  EXPECT_EQ(p.guards[0].text, "((-1) + L['x'].size()[0]) == L['y'].size()[0]");
  const Node* slice = p.graph.find("slice_1");
  EXPECT_EQ(slice->args.back(), Argument(INT64_MAX));
}

TEST(Pt2, EveryNodeOfTheSampleModelsHasASourceLineAndAType) {
  for (const char* model :
       {"cnn_fmnist/cnn_fmnist.pt2", "bert/bert.pt2", "cnn_fmnist_dynamic/cnn_fmnist.pt2", "bert_dynamic/bert.pt2"}) {
    const Program p = load_pt2(kModels + model);
    std::set<std::string> names;
    for (const auto& node : p.graph.nodes()) {
      EXPECT_TRUE(names.insert(node->name).second) << node->name;
      if (node->kind != NodeKind::Call) continue;
      EXPECT_NE(user_line(node->meta.source), nullptr) << node->name;
      EXPECT_NE(node->type.kind, Type::Kind::Unknown) << node->name;
    }
    EXPECT_NO_THROW(check_inputs(p, p.sample_inputs));
  }
}

}  // namespace
}  // namespace strata
