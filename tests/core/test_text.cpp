// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/op.h"
#include "core/ir/text.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

Type full_type(ShapeEnv& env) {
  TensorType t;
  t.dtype = DType::BF16;
  t.shape = {parse_sym(env, "2*s0"), 64};
  t.strides = {64, 1};
  t.device = "cuda:0";
  t.requires_grad = true;
  return Type::of(t);
}

/// Something of everything that a graph can hold.
Graph everything(const std::shared_ptr<ShapeEnv>& env) {
  Symbol s0{"s0", {2, 512}, std::nullopt, 8, "x.size()[0]"};
  env->symbol(s0);
  Symbol i0{"i0", {0, kSymMax}, *env->find("s0") - SymInt(1), std::nullopt, ""};
  SymInt axis = env->symbol(i0);
  env->assume({"s0 == 4", "because 'it' \"must\"", "m.py:3"});
  env->assume({"2*s1 == s0", "broadcast", "", std::pair(parse_sym(*env, "2*s1"), *env->find("s0"))});
  Assumption fits{"s1 >= 3", "a window", ""};
  fits.at_least = std::pair(*env->find("s1"), SymInt(3));
  env->assume(fits);
  Graph g(env);
  g.name = "a graph\n'quoted'";
  g.extra["fx.trailer"] = "# graph id: 3";
  Node* x = g.placeholder("x", full_type(*env));
  Node* w = g.placeholder("w", Type::of(DType::F32, {3}));
  g.input_specs = {{}, {InputSpec::Kind::Buffer, "layer.w", false, {}}};
  g.attributes["c"] = Tensor::of(DType::F32, {2}, std::vector<double>{1, 2});
  auto body = std::make_unique<Graph>(env, g.ids());
  body->output(body->placeholder("y", Type()));
  g.subgraphs["body"] = std::move(body);

  DictArg dict;
  dict.items.emplace_back("key", x);
  Node* n = g.add(NodeKind::Call, "my.foreign op",
                  {NoneArg{},
                   x,
                   true,
                   7,
                   1.0,
                   -0.0,
                   1e300,
                   std::complex<double>(0, -2),
                   "it's\n\"x\"\x01",
                   axis * SymInt(3),
                   SymInt(4),
                   DType::I64,
                   DeviceArg{"cuda:1"},
                   EnumArg{"torch.strided"},
                   OpaqueArg{"<obj>"},
                   GraphArg{"body"},
                   EllipsisArg{},
                   SliceArg{{NoneArg{}, 3}},
                   dict,
                   Argument::list({x, Argument::list({})}),
                   ListArg{ListArg::Kind::Tuple, {w}},
                   ListArg{ListArg::Kind::Size, {2}}},
                  Type::tuple({full_type(*env), Type::symint(axis), Type()}), "n");
  n->kwargs = {{"alpha", 2}, {"odd key", w}};
  n->meta.source = std::make_shared<const std::vector<SourceLocation>>(
      std::vector<SourceLocation>{{"a.py", 1, "f", "g(x)"}, {"b \\ c.py", 2, "<lambda>", "return x # 'y'"}});
  n->meta.module_path = "encoder.layer.0";
  n->meta.module_type = "torch.nn.Linear";
  n->meta.origins = {{3, OriginKind::Fused, "rule \"r\"", false}, {4, OriginKind::Copied, "", true}};
  n->meta.maker = "fuse";
  n->meta.role = Role::Recomputed;
  n->meta.extra = {{"fx.comment", ""}, {"k", "line\nline"}};
  Node* relu = g.add(NodeKind::Call, "aten.relu.default", {x}, full_type(*env), "relu");
  relu->op = find_op("aten.relu.default");
  relu->type.text = "as read";
  Node* other = g.add(NodeKind::CallMethod, "view", {relu, -1}, Type(), "view");
  other->type.kind = Type::Kind::Other;
  other->type.text = "DTensor(...)";
  g.add(NodeKind::GetAttr, "layers.0.weight", {}, Type(), "attr");
  g.add(NodeKind::CallModule, "lin", {other}, Type(), "module");
  g.output(ListArg{ListArg::Kind::Tuple, {n, relu}});
  g.output_specs = {{OutputSpec::Kind::User, ""}, {OutputSpec::Kind::BufferMutation, "layer.w"}};
  return g;
}

TEST(Text, NothingIsLost) {
  auto env = std::make_shared<ShapeEnv>();
  Graph g = everything(env);
  const std::string printed = print_text(g);
  Graph again = parse_text(nullptr, printed);
  EXPECT_EQ(print_text(again), printed);
  std::string why;
  EXPECT_TRUE(structurally_equal(g, again, &why, true)) << why << "\n" << printed;
  EXPECT_EQ(again.name, g.name);
  EXPECT_EQ(again.extra.at("fx.trailer"), "# graph id: 3");
  EXPECT_EQ(again.input_specs.at(1).target, "layer.w");
  EXPECT_FALSE(again.input_specs.at(1).persistent);
  EXPECT_EQ(again.output_specs.at(1).kind, OutputSpec::Kind::BufferMutation);
  EXPECT_FALSE(again.attributes.at("c").defined());
  EXPECT_EQ(again.attributes.at("c").shape, std::vector<int64_t>{2});
  const Node& n = *again.find("n");
  EXPECT_EQ(n.id, g.find("n")->id);
  EXPECT_EQ(n.meta.origins, g.find("n")->meta.origins);
  EXPECT_EQ(n.meta.maker, "fuse");
  EXPECT_EQ(n.meta.role, Role::Recomputed);
  EXPECT_EQ(n.meta.extra, g.find("n")->meta.extra);
  EXPECT_EQ(n.meta.module_type, "torch.nn.Linear");
  for (size_t i = 0; i < n.args.size(); ++i)
    EXPECT_EQ(n.args[i].value.index(), g.find("n")->args[i].value.index()) << i;
  EXPECT_TRUE(again.find("relu")->type.tensor.requires_grad);
  EXPECT_EQ(again.find("relu")->type.text, "as read");
  EXPECT_EQ(again.find("relu")->op, g.find("relu")->op);
  ShapeEnv& read = again.env();
  const Symbol& s0 = read.info(*read.symbol_id(*read.find("s0")));
  EXPECT_EQ(s0.range.max, 512);
  EXPECT_EQ(s0.hint, 8);
  EXPECT_EQ(s0.origin, "x.size()[0]");
  EXPECT_EQ(read.info(*read.symbol_id(*read.find("i0"))).max_expr->str(), "s0 - 1");
  ASSERT_EQ(read.assumptions().size(), 3u);
  EXPECT_EQ(read.assumptions()[0].where, "m.py:3");
  EXPECT_FALSE(read.assumptions()[0].equal);
  EXPECT_EQ(read.assumptions()[1].equal.value(), std::pair(parse_sym(read, "2*s1"), *read.find("s0")));
  EXPECT_FALSE(read.assumptions()[1].at_least);
  EXPECT_EQ(read.assumptions()[2].at_least.value(), std::pair(*read.find("s1"), SymInt(3)));
}

TEST(Text, SameEnvironmentGivesTheSameSizes) {
  auto env = std::make_shared<ShapeEnv>();
  Graph g = everything(env);
  Graph again = parse_text(env, print_text(g));
  EXPECT_EQ(again.find("x")->tensor().shape[0], g.find("x")->tensor().shape[0]);
  EXPECT_EQ(env->assumptions().size(), 3u);
  EXPECT_EQ(print_text(again), print_text(g));
}

TEST(Text, MissingOperandIsKept) {
  Graph g;
  g.add(NodeKind::Call, "f", {static_cast<Node*>(nullptr), 1}, Type(), "f");
  Graph again = parse_text(nullptr, print_text(g));
  EXPECT_EQ(print_text(again), print_text(g));
  EXPECT_EQ(again.find("f")->args.at(0).value.index(), 1u);
  EXPECT_EQ(again.find("f")->args.at(0).node(), nullptr);
}

TEST(Text, DigestFollowsTheContent) {
  Tensor a = Tensor::of(DType::F32, {3}, std::vector<double>{1, 2, 3}),
         b = Tensor::of(DType::F32, {3}, std::vector<double>{1, 2, 4});
  Tensor c = Tensor::of(DType::F32, {3, 1}, std::vector<double>{1, 2, 3});
  EXPECT_EQ(digest(a), digest(a.clone()));
  EXPECT_NE(digest(a), digest(b));
  EXPECT_NE(digest(a), digest(c));
}

TEST(Text, OutputOnOneScreen) {
  Graph g;
  Node* x = g.placeholder("x", Type::of(DType::F32, {8, 64}));
  Node* relu = g.add(NodeKind::Call, "aten.relu.default", {x}, Type::of(DType::F32, {8, 64}), "relu");
  relu->op = find_op("aten.relu.default");
  relu->meta.source =
      std::make_shared<const std::vector<SourceLocation>>(1, SourceLocation{"m.py", 12, "forward", "return relu(x)"});
  relu->meta.module_path = "block.0";
  g.output(ListArg{ListArg::Kind::Tuple, {relu}});
  EXPECT_EQ(print_text(g),
            "strata graph 1\n"
            "source 0 'm.py' 12 'forward' 'return relu(x)'\n"
            "graph 'GraphModule' {\n"
            "  %x:1 = placeholder x() : f32[8, 64][64, 1]cpu\n"
            "  %relu:2 = call aten.relu.default(%x) : f32[8, 64][64, 1]cpu @ 0 in 'block.0'\n"
            "  %output:3 = output output((%relu,))\n"
            "}\n");
}

std::string error_of(const std::string& text) {
  return testing::error_text([&] { parse_text(nullptr, text); });
}
std::string in_graph(const std::string& lines) { return error_of("strata graph 1\ngraph 'g' {\n" + lines + "}\n"); }

TEST(Text, WrongTextSaysWhereAndWhat) {
  EXPECT_EQ(error_of(""), "graph text, line 1, column 1: expected 'strata', found the end");
  EXPECT_THAT(error_of("strata graph 2\ngraph 'g' {}"), HasSubstr("version 1"));
  EXPECT_EQ(in_graph("  %x:1 = plceholder x()\n"),
            "graph text, line 3, column 10: expected a kind of node (did you mean 'placeholder'), found 'plceholder'");
  EXPECT_EQ(in_graph("  %x:1 = call f(%y)\n"),
            "graph text, line 3, column 18: expected a node that stands before this one, found 'y'");
  EXPECT_EQ(in_graph("  %x:1 = call f()\n  %x:2 = call f()\n"),
            "graph text, line 4, column 4: expected a new name, found 'x'");
  EXPECT_EQ(in_graph("  %x:1 = call f()\n  %y:1 = call f()\n"),
            "graph text, line 4, column 6: expected a new id, found '1'");
  EXPECT_THAT(in_graph("  %x:1 = call f() : f33[2]\n"), HasSubstr("expected a type, found 'f33'"));
  EXPECT_THAT(in_graph("  %x:1 = call f() : f32[2, +]\n"), HasSubstr("expected a size"));
  EXPECT_THAT(in_graph("  %x:1 = call f() @ 3\n"), HasSubstr("the number of a source"));
  EXPECT_THAT(in_graph("  %x:1 = call f(a=1, 2)\n"), HasSubstr("expected a keyword argument"));
  EXPECT_THAT(in_graph("  %x:1 = call f(" + std::string(1000, '[') + "\n"), HasSubstr("levels of nesting"));
}

}  // namespace
}  // namespace strata
