// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "passes/decompose.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using testing::after;
using testing::graph_of;

TEST(Decompose, LeavesPrimitivesAlone) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[2, 3]"):
    a = torch.ops.aten.sin.default(x)
    return (a,))");
  EXPECT_TRUE(decompose(graph, {}).rewrites.empty());
}

TEST(Decompose, LinearBecomesTransposeAndProduct) {
  EXPECT_EQ(after(decompose, R"(
def forward(self, x: "f32[2, 3]", w: "f32[4, 3]", b: "f32[4]"):
    y = torch.ops.aten.linear.default(x, w, b)
    return (y,))"),
            "permute = aten.permute.default(w, [1, 0])\n"
            "addmm = aten.addmm.default(b, x, permute)\n"
            "return (addmm,)\n");
}

// A view of all channels as one line would tie the image to one order of them.
TEST(Decompose, NormsOfOneGroupLeaveTheImageWhatItIs) {
  const auto views_of = [](const char* groups) {
    const PassResult result = decompose(graph_of(std::string(R"(
def forward(self, x: "f32[2, 6, 5, 4]"):
    y = torch.ops.aten.group_norm.default(x, )") +
                                                 groups + R"()
    return (y,))"),
                                        {});
    return std::ranges::count_if(result.graph.nodes(), [](const auto& node) {
      return node->is("aten.view.default") && node->tensor().numel() == SymInt(240);
    });
  };
  EXPECT_EQ(views_of("1"), 0);
  EXPECT_GT(views_of("2"), 0);
}

// A piece of 3 has 3 elements although its operand might have fewer for all that is known: it is broadcast as such.
TEST(Decompose, PiecesHaveTheLengthsThatTheyAreCutTo) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[s0]"):
    n = torch.ops.aten.narrow.default(x, 0, 1, 3)
    p = torch.ops.aten.split_with_sizes.default(n, [1, 2], 0)
    first = p[0]
    rest = p[1]
    y = torch.ops.aten.div.Tensor(rest, first)
    return (y, n))");
  const PassResult result = decompose(graph, {});
  std::vector<int64_t> lengths;
  for (const auto& node : result.graph.nodes())
    if (node->is("aten.slice.Tensor")) lengths.push_back(node->tensor().shape[0].maybe_value().value_or(-1));
  EXPECT_EQ(lengths, (std::vector<int64_t>{3, 1, 2}));
}

// What is filled stays where it lies: numbers are drawn in the order of memory.
TEST(Decompose, FillsKeepTheOrderOfWhatTheyFill) {
  EXPECT_EQ(after(decompose, R"(
def forward(self, x: "f32[2, 3][1, 2]", y: "f32[]"):
    b = torch.ops.aten.fill.Tensor(x, y)
    d = torch.ops.aten.rand_like.default(b)
    return (d,))"),
            "expand = aten.expand.default(y, [2, 3])\n"
            "permute = aten.permute.default(expand, [1, 0])\n"
            "clone = aten.clone.default(permute, memory_format = torch.contiguous_format)\n"
            "permute_1 = aten.permute.default(clone, [1, 0])\n"
            "draw_uniform = strata.draw_uniform.default([3, 2], 0.0, 1.0, dtype = torch.float32)\n"
            "permute_2 = aten.permute.default(draw_uniform, [1, 0])\n"
            "return (permute_2,)\n");
}

// As `empty_like` lays them out: dimensions of which all elements are one say nothing.
TEST(Decompose, DrawsLikeViewsGoByTheirStrides) {
  const struct {
    const char *like, *size;
  } cases[] = {
      {"f32[3, 20][1, 0]", "[3, 20]"},        {"f32[5, 20][0, 1]", "[5, 20]"},
      {"f32[4, 5, 6][5, 1, 0]", "[4, 5, 6]"}, {"f32[5, 7, 4][1, 0, 5]", "[4, 7, 5]"},
      {"f32[8, 3][1, 16]", "[3, 8]"},         {"f32[2, 4, 3, 6][0, 6, 0, 1]", "[2, 4, 3, 6]"},
      {"f32[1, 9][0, 0]", "[1, 9]"},          {"f32[4, 4][4, 4]", "[4, 4]"},
      {"f32[5, 3][7, 7]", "[5, 3]"},          {"f32[3, 5][7, 7]", "[5, 3]"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(after(decompose, std::string("def forward(self, x: \"") + c.like +
                                     "\"):\n    d = torch.ops.aten.rand_like.default(x)\n    return (d,)"),
                ::testing::HasSubstr(std::string("draw_uniform.default(") + c.size))
        << c.like;
}

TEST(Decompose, StatedSizesThatMayBeRightAreComparedInARun) {
  Graph graph = graph_of(R"(
def forward(self, x: "f32[s0, 4]", w: "f32[s1, 4]"):
    a = torch.ops.aten.relu.default(x)
    return (a, w)
)");
  graph.find("a")->type = graph.find("w")->type;
  decompose(graph, {});
  ASSERT_EQ(graph.env().assumptions().size(), 1u);
  EXPECT_EQ(graph.env().assumptions()[0].equal.value(), std::pair(*graph.env().find("s1"), *graph.env().find("s0")));
  EXPECT_THAT(graph.env().assumptions()[0].reason, ::testing::HasSubstr("what the program says of 'a'"));
}

// What follows goes by what a captured program says of a call: in a damaged file that may be anything.
// What exporters write of `x[:n].relu()` where n may be negative.
TEST(Decompose, SizesOfSlicesAreWhatTheirBoundsMakeThem) {
  Graph graph;
  Builder builder(graph);
  const auto unknown = [&](const char* name) {
    Symbol symbol;
    symbol.name = name;
    return graph.env().symbol(symbol);
  };
  const SymInt n = unknown("u0"), size = unknown("u1");
  Node* x = graph.placeholder("x", Type::of(DType::F32, {6, 5}));
  Node* item = builder.call("aten.item.default", {graph.placeholder("n", Type::of(DType::I64, {}))});
  item->type = Type::symint(n);
  Node* slice = builder.call("aten.slice.Tensor", {x, 0, 0, item});
  slice->type = Type::of(DType::F32, {size, 5});
  Node* relu = builder.call("aten.relu.default", {slice});
  relu->type = slice->type;
  graph.output(relu);
  const PassResult result = decompose(graph, {});
  ASSERT_FALSE(result.rewrites.empty());
  EXPECT_EQ(result.rewrites[0].rule, "tell a size");
  const SymInt told = result.graph.flat_outputs().at(0).node()->tensor().shape[0];
  EXPECT_EQ(free_symbols(told), free_symbols(n)) << told.str();
  EXPECT_EQ(graph.flat_outputs().at(0).node()->tensor().shape[0], size);  // the graph that was given stays
}

TEST(Decompose, StatedTypesAreWhatTheOperandsMake) {
  const auto refused = [](const char* node, const std::function<Type(ShapeEnv&)>& type) {
    Graph graph = graph_of(R"(
def forward(self, x: "f32[s0, 4]", w: "f32[5, 4]"):
    a = torch.ops.aten.relu.default(x)
    b = torch.ops.aten.linear.default(a, w)
    c = torch.ops.aten.max.dim(b, 1)
    d = c[0]
    e = torch.ops.aten.hstack.default([b, b])
    return (d, e)
)");
    graph.find(node)->type = type(graph.env());
    return testing::error_text([&] { decompose(graph, {}); });
  };
  const auto sized = [](std::vector<SymInt> shape, DType dtype = DType::F32) {
    return [=](ShapeEnv&) { return Type::of(dtype, shape); };
  };
  const auto of_nowhere = [](ShapeEnv& env) {
    Symbol other;
    other.name = "other";
    return Type::of(DType::F32, {env.symbol(other), 4});
  };
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const auto names = [](const char* node, const char* what) { return AllOf(HasSubstr(node), HasSubstr(what)); };
  EXPECT_THAT(refused("a", sized({7, 12})), names("'a' (aten.relu.default) is said to be f32[7, 12]", "f32[s0, 4]"));
  EXPECT_THAT(refused("a", sized({7, 4}, DType::F64)), names("'a'", "f64[7, 4]"));
  EXPECT_THAT(refused("a", sized({7})), names("'a'", "f32[7]"));
  EXPECT_THAT(refused("a", of_nowhere), names("'a'", "a size that nothing tells: other"));
  EXPECT_THAT(refused("b", of_nowhere), names("'b'", "f32[other, 4]"));
  EXPECT_THAT(
      refused("c", [](ShapeEnv&) { return Type::tuple({Type::of(DType::F32, {3, 3}), Type::of(DType::I64, {3})}); }),
      names("'c'", "f32[3, 3]"));
  EXPECT_THAT(refused("e", sized({7, 11})), names("'e' (aten.hstack.default)", "f32[7, 11]"));
  EXPECT_THAT(refused("a", [](ShapeEnv& env) { return Type::of(DType::F32, {*env.find("s0"), 4}); }),
              ::testing::IsEmpty());
}

TEST(Decompose, PartsOfTuplesBecomeTheirValues) {
  EXPECT_EQ(after(decompose, R"(
def forward(self, x: "f32[4, 3]"):
    parts = torch.ops.aten.split.Tensor(x, 2)
    a = parts[0]
    b = parts[1]
    c = torch.ops.aten.add.Tensor(a, b)
    return (c,))"),
            "slice = aten.slice.Tensor(x, 0, 0, 2)\n"
            "slice_1 = aten.slice.Tensor(x, 0, 2, 4)\n"
            "c = aten.add.Tensor(slice, slice_1)\n"
            "return (c,)\n");
}

TEST(Decompose, NothingThatTakesApartIsLeft) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[2, 4, 8, 8]", w: "f32[4]", b: "f32[4]", m: "f32[4]", v: "f32[4]", k: "f32[4, 4, 3, 3]"):
    a = torch.ops.aten.conv2d.default(x, k)
    n = torch.ops.aten.batch_norm.default(a, w, b, m, v, False, 0.1, 1e-05, True)
    r = torch.ops.aten.relu.default(n)
    p = torch.ops.aten.adaptive_avg_pool2d.default(r, [1, 1])
    f = torch.ops.aten.flatten.using_ints(p, 1)
    s = torch.ops.aten.log_softmax.int(f, -1)
    d = torch.ops.aten.var.correction(s, [1], correction = 1)
    return (s, d))");
  const PassResult result = decompose(graph, {});
  for (const auto& node : result.graph.nodes()) {
    if (!node->op) continue;
    EXPECT_TRUE(!node->op->decompose || node->op->op_class == OpClass::Library) << node->target;
    EXPECT_NE(node->op->op_class, OpClass::Compound) << node->target;
  }
}

/// log_softmax decomposes in more than one step; steps in between are in no snapshot, so nothing may refer to them.
TEST(Decompose, OriginsLeadToTheCapturedNode) {
  const Graph graph = graph_of(R"(
def forward(self, x: "f32[2, 3]", w: "f32[3]"):
    a = torch.ops.aten.sin.default(x)
    s = torch.ops.aten.log_softmax.int(a, -1)
    n = torch.ops.aten.layer_norm.default(s, [3], w)
    return (n,))");
  const PassResult result = decompose(graph, {});
  const NodeId s = graph.find("s")->id, n = graph.find("n")->id;
  for (const auto& node : result.graph.nodes()) {
    if (node->kind != NodeKind::Call || node->name == "a") continue;
    ASSERT_EQ(node->meta.origins.size(), 1u) << node->name;
    EXPECT_TRUE(node->meta.origins[0].node == s || node->meta.origins[0].node == n) << node->name;
    EXPECT_EQ(node->meta.origins[0].kind, OriginKind::Decomposed);
    EXPECT_EQ(node->meta.maker, "decompose");
  }
  ASSERT_EQ(result.rewrites.size(), 2u);  // one per captured node, however many steps it took
  EXPECT_EQ(result.rewrites[0].before, std::vector<NodeId>{s});
  for (const Rewrite& r : result.rewrites)
    for (NodeId id : r.after)
      EXPECT_TRUE(result.graph.find(id)) << "rewrite of " << r.before[0] << " names node " << id;
}

TEST(Decompose, SizesBecomeExpressions) {
  EXPECT_EQ(after(decompose, R"(
def forward(self, x: "f32[s0, 3]"):
    n = torch.ops.aten.sym_size.int(x, 0)
    m = torch.ops.aten.mul.Tensor(x, n)
    v = torch.ops.aten.view.default(m, [n, 3, 1])
    return (v,))"),
            "n = aten.sym_size.int(x, 0)\n"
            "m = aten.mul.Tensor(x, s0)\n"
            "v = aten.view.default(m, [s0, 3, 1])\n"
            "return (v,)\n");
}

/// What is divided by is a number only a run knows, and no integer.
TEST(Decompose, FractionalCorrectionsOfSymbolicSizes) {
  for (const char* op : {"aten.var.correction", "aten.std.correction"}) {
    Graph graph;
    Builder b(graph);
    const SymInt n = graph.env().symbol({.name = "s0", .range = {2, 64}, .max_expr = {}, .hint = 8, .origin = "x"});
    Node* x = graph.placeholder("x", Type::of(DType::F32, {n, SymInt(2)}));
    graph.output(Argument::list({b.call(op, {x, Argument::list({0})}, {{"correction", 0.5}})}));
    const PassResult result = decompose(graph, {});
    EXPECT_FALSE(result.rewrites.empty());
    for (int64_t rows : {2, 7}) {
      Tensor t = Tensor::empty(DType::F32, {rows, 2});
      for (int64_t i = 0; i < t.numel(); ++i) t.set(i, static_cast<double>(i * i % 7));
      const std::vector<double> found = Interpreter(result.graph).run(std::vector<Tensor>{t}).at(0).tensor().values();
      for (int64_t column = 0; column < 2; ++column) {
        double mean = 0, sum = 0;
        for (int64_t r = 0; r < rows; ++r) mean += t.at(2 * r + column) / static_cast<double>(rows);
        for (int64_t r = 0; r < rows; ++r) sum += std::pow(t.at(2 * r + column) - mean, 2);
        const double variance = sum / (static_cast<double>(rows) - 0.5);
        EXPECT_NEAR(found[static_cast<size_t>(column)],
                    std::string(op).starts_with("aten.var") ? variance : std::sqrt(variance), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace strata
