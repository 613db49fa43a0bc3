// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Inputs are checked against the program, symbols are solved from their sizes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/pt2.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using testing::error_text;
using ::testing::HasSubstr;

const std::string kModels = STRATA_BINARY_DIR "/models/", kSmall = STRATA_TEST_DATA "/pt2/";

std::string input_error(const Program& program, std::vector<Tensor> inputs) {
  return error_text([&] { check_inputs(program, inputs); });
}

Tensor ones(std::vector<int64_t> shape, DType dtype = DType::F32) { return Tensor::full(dtype, std::move(shape), 1); }

TEST(CheckInputs, FixedSizes) {
  const Program p = load_pt2(kModels + "cnn_fmnist/cnn_fmnist.pt2");
  EXPECT_EQ(input_error(p, {ones({2, 1, 28, 28})}), "");
  EXPECT_THAT(input_error(p, {}), HasSubstr("the program takes 1 input (x: f32[2, 1, 28, 28]"));
  EXPECT_THAT(input_error(p, {ones({2, 1, 28, 28}), ones({1})}), HasSubstr("2 were given"));
  EXPECT_THAT(input_error(p, {ones({2, 1, 28, 28}, DType::F64)}),
              HasSubstr("input 'x' must be float32, found float64"));
  EXPECT_THAT(input_error(p, {ones({2, 28, 28})}),
              HasSubstr("input 'x' must have 4 dimensions [2, 1, 28, 28], found 3: [2, 28, 28]"));
  EXPECT_THAT(input_error(p, {ones({2, 1, 28, 29})}), HasSubstr("x.size()[3] must be 28, found 29"));
  EXPECT_THAT(input_error(p, {Tensor()}), HasSubstr("input 'x' is missing"));
}

TEST(CheckInputs, AllProblemsAreInOneError) {
  const Program p = load_pt2(kSmall + "nested.pt2");
  const std::string error = input_error(p, {ones({3, 5}), ones({3, 4}, DType::I64), ones({3})});
  EXPECT_THAT(error, HasSubstr("d.a.size()[1] must be 4, found 5"));
  EXPECT_THAT(error, HasSubstr("input 'd.b.0' must be float32, found int64"));
  EXPECT_THAT(error, HasSubstr("input 'kwargs.mask' must have 2 dimensions"));
}

TEST(CheckInputs, RangesNameSymbolAndConstraint) {
  const Program p = load_pt2(kModels + "cnn_fmnist_dynamic/cnn_fmnist.pt2");
  EXPECT_EQ(input_error(p, {ones({64, 1, 28, 28})}), "");
  EXPECT_THAT(input_error(p, {ones({65, 1, 28, 28})}),
              HasSubstr("x.size()[0] gives s77 = 65, the program allows 2 <= s77 <= 64"));
  EXPECT_THAT(input_error(p, {ones({1, 1, 28, 28})}), HasSubstr("2 <= s77 <= 64"));
  const SymBindings bound = bind_symbols(p.graph, std::vector{ones({5, 1, 28, 28})});
  EXPECT_EQ(evaluate(*p.graph.env().find("s77"), bound), 5);
}

TEST(CheckInputs, DerivedSizesAreSolvedAndChecked) {
  const Program p = load_pt2(kSmall + "sizes.pt2");
  const Tensor k = Tensor::full(DType::I64, {}, 3);
  const SymBindings bound = check_inputs(p, std::vector{ones({4, 4}), ones({3, 4}), k});
  EXPECT_EQ(evaluate(p.graph.find("x")->type.tensor.shape[0], bound), 4);
  EXPECT_EQ(evaluate(p.graph.find("k")->type.sym, bound), 3);
  EXPECT_THAT(input_error(p, {ones({5, 4}), ones({3, 4}), k}), HasSubstr("must be"));
  EXPECT_THAT(input_error(p, {ones({10, 4}), ones({9, 4}), k}), HasSubstr("the program allows 2 <= s"));
  EXPECT_THAT(input_error(p, {ones({4, 4}), ones({3, 4}), ones({2}, DType::I64)}),
              HasSubstr("input 'k' must be an integer scalar"));
}

TEST(CheckInputs, MultiplesAreDivided) {
  const Program p = load_pt2(kSmall + "even.pt2");
  const SymInt size = p.graph.find("x")->type.tensor.shape[0];
  ASSERT_EQ(free_symbols(size).size(), 1u);
  const SymBindings bound = check_inputs(p, std::vector{ones({6, 3})});
  EXPECT_EQ(bound[free_symbols(size)[0]], 3);
  EXPECT_THAT(input_error(p, {ones({7, 3})}), HasSubstr("x.size()[0] must be 2*s"));
  EXPECT_THAT(input_error(p, {ones({102, 3})}), HasSubstr("<= 50"));
}

TEST(CheckInputs, GuardsAreEvaluated) {
  Program p = load_pt2(kModels + "cnn_fmnist_dynamic/cnn_fmnist.pt2");
  p.guards.push_back({"L['x'].size()[0] % 4 == 0", mod(*p.graph.env().find("s77"), 4), 0, SizeGuard::Relation::Equal});
  EXPECT_EQ(input_error(p, {ones({8, 1, 28, 28})}), "");
  EXPECT_THAT(
      input_error(p, {ones({6, 1, 28, 28})}),
      HasSubstr("the program requires L['x'].size()[0] % 4 == 0; here the left side is 2, the right side is 0"));
}

TEST(UnsupportedOperators, AreListedTogetherWithTheirLines) {
  Program p = load_pt2(kModels + "cnn_fmnist/cnn_fmnist.pt2");
  for (const auto& node : p.graph.nodes()) {
    if (node->kind != NodeKind::Call) continue;
    const bool strange = node->target == "aten.relu.default" || node->target == "aten.view.default";
    static const auto* some = reinterpret_cast<const OpDef*>(&p);  // only whether there is a row counts
    node->op = strange ? nullptr : some;
  }
  const auto missing = unsupported_operators(p.graph);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].target, "aten.relu.default");
  EXPECT_EQ(missing[0].count, 2u);
  ASSERT_EQ(missing[0].where.size(), 1u);
  EXPECT_EQ(missing[0].where[0].line, 70);
  const std::string error = error_text([&] { require_supported_operators(p.graph); });
  EXPECT_THAT(error, HasSubstr("2 operators of the program are not supported"));
  EXPECT_THAT(error, HasSubstr("aten.relu.default (2 calls)"));
  EXPECT_THAT(error, HasSubstr("cases.py:70 in forward: x = self.layer2(self.layer1(x))"));
  EXPECT_THAT(error, HasSubstr("aten.view.default (1 call)"));
}

}  // namespace
}  // namespace strata
