// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

/// A class around the body's lines.
Graph read(const std::string& body, const std::string& args = "self, x") {
  return parse_fx("class G(torch.nn.Module):\n    def forward(" + args + "):\n" + body);
}
std::string line(const std::string& statement) { return "        " + statement + "\n"; }

const Node& node(const Graph& g, std::string_view name) {
  const Node* n = g.find(name);
  if (!n) throw_internal("no node " + std::string(name));
  return *n;
}

TEST(Fx, EachFormIsItsKindOfNode) {
  Graph g =
      read(line("a = torch.ops.aten.relu.default(x)") + line("b = torch.nn.functional.relu(a)") + line("c = a + 1") +
           line("d = -c") + line("e = d[0]") + line("f = e.view(2, 3)") + line("h = f.shape") +
           line("w = self.weight") + line("v = getattr(self.layers, \"0\").bias") + line("m = self.lin(w, key = v)") +
           line("n = getattr(self.layers, \"0\")(m)") + line("k = custom_function(n)") + line("return (k,)"));
  auto is = [&](const char* name, NodeKind kind, const char* target) {
    EXPECT_EQ(node(g, name).kind, kind) << name;
    EXPECT_EQ(node(g, name).target, target) << name;
  };
  is("x", NodeKind::Placeholder, "x");
  is("a", NodeKind::Call, "aten.relu.default");
  is("b", NodeKind::Call, "torch.nn.functional.relu");
  is("c", NodeKind::Call, "_operator.add");
  is("d", NodeKind::Call, "_operator.neg");
  is("e", NodeKind::Call, "_operator.getitem");
  is("f", NodeKind::CallMethod, "view");
  is("h", NodeKind::Call, "getattr");
  is("w", NodeKind::GetAttr, "weight");
  is("v", NodeKind::GetAttr, "layers.0.bias");
  is("m", NodeKind::CallModule, "lin");
  is("n", NodeKind::CallModule, "layers.0");
  is("k", NodeKind::Call, "custom_function");
  EXPECT_EQ(node(g, "c").args[0].node(), g.find("a"));
  EXPECT_EQ(*node(g, "c").args[1].as<int64_t>(), 1);
  EXPECT_EQ(node(g, "f").args.size(), 3u);
  EXPECT_EQ(node(g, "m").kwargs[0].first, "key");
  EXPECT_EQ(node(g, "m").kwargs[0].second.node(), g.find("v"));
  ASSERT_TRUE(g.output_node());
  EXPECT_EQ(g.output_node()->args[0].as<ListArg>()->kind, ListArg::Kind::Tuple);
}

TEST(Fx, ValuesHaveTheirTypes) {
  Graph g = read(line("a = f(None, True, -3, 1e-05, inf, -inf, nan, 'it\\'s', \"d\\\"q\", [1, [x]], (x,), {'k': x})") +
                 line("b = f(torch.float16, torch.strided, device(type='cuda', index=1), torch.Size([2, x]))") +
                 line("c = x[(Ellipsis, slice(1, None, None), None)]") +
                 line("d = f(complex(0.0, 1.0), (1+2j), <object at 0x7f>, Foo.BAR, 99999999999999999999, x.y)") +
                 line("return a"));
  const auto& a = node(g, "a").args;
  EXPECT_TRUE(a[0].is_none());
  EXPECT_EQ(*a[1].as<bool>(), true);
  EXPECT_EQ(*a[2].as<int64_t>(), -3);
  EXPECT_EQ(*a[3].as<double>(), 1e-05);
  EXPECT_EQ(*a[4].as<double>(), INFINITY);
  EXPECT_EQ(*a[5].as<double>(), -INFINITY);
  EXPECT_TRUE(std::isnan(*a[6].as<double>()));
  EXPECT_EQ(*a[7].as<std::string>(), "it's");
  EXPECT_EQ(*a[8].as<std::string>(), "d\"q");
  EXPECT_EQ(a[9].as<ListArg>()->items[1].as<ListArg>()->items[0].node(), g.find("x"));
  EXPECT_EQ(a[10].as<ListArg>()->kind, ListArg::Kind::Tuple);
  EXPECT_EQ(a[11].as<DictArg>()->items[0].second.node(), g.find("x"));
  const auto& b = node(g, "b").args;
  EXPECT_EQ(*b[0].as<DType>(), DType::F16);
  EXPECT_EQ(b[1].as<EnumArg>()->name, "torch.strided");
  EXPECT_EQ(b[2].as<DeviceArg>()->name, "cuda:1");
  EXPECT_EQ(b[3].as<ListArg>()->kind, ListArg::Kind::Size);
  const auto* index = node(g, "c").args[1].as<ListArg>();
  EXPECT_TRUE(index->items[0].as<EllipsisArg>());
  EXPECT_EQ(index->items[1].as<SliceArg>()->parts.size(), 3u);
  const auto& d = node(g, "d").args;
  EXPECT_EQ(*d[0].as<std::complex<double>>(), std::complex<double>(0, 1));
  EXPECT_EQ(d[1].as<OpaqueArg>()->text, "(1+2j)");
  EXPECT_EQ(d[2].as<OpaqueArg>()->text, "<object at 0x7f>");
  EXPECT_EQ(d[3].as<OpaqueArg>()->text, "Foo.BAR");
  EXPECT_EQ(d[4].as<OpaqueArg>()->text, "99999999999999999999");
  EXPECT_EQ(d[5].as<OpaqueArg>()->text, "x.y");
}

TEST(Fx, InPlaceFormsNameTheirNodes) {
  Graph g =
      read(line("x[0] = 5;  setitem = x") + line("x += 1;  iadd: \"f32[2]\" = x;  x = None") + line("return iadd"));
  EXPECT_EQ(node(g, "setitem").target, "_operator.setitem");
  EXPECT_EQ(node(g, "setitem").args.size(), 3u);
  EXPECT_EQ(node(g, "iadd").target, "_operator.iadd");
  EXPECT_EQ(to_string(node(g, "iadd").type), "f32[2]");
  EXPECT_EQ(g.size(), 4u);
}

TEST(Fx, InPlaceFormWithoutNameIsKept) {
  Graph g = read(line("x[0] = 5") + line("x.grad = None") + line("return x"));
  EXPECT_EQ(g.size(), 4u);
  EXPECT_THAT(print_fx(g), HasSubstr("x[0] = 5\n"));
  EXPECT_THAT(print_fx(g), HasSubstr("x.grad = None\n"));
}

TEST(Fx, AnnotationsAreTypes) {
  ShapeEnv env;
  Type t = parse_fx_type(env, "bf16[8, 2*s77, Max(1, s0)][64, 1, 1]cuda:0");
  ASSERT_TRUE(t.is_tensor());
  EXPECT_EQ(t.tensor.dtype, DType::BF16);
  EXPECT_EQ(t.tensor.shape.size(), 3u);
  EXPECT_EQ(t.tensor.shape[1].str(), "2*s77");
  EXPECT_EQ(t.tensor.strides->at(0).value(), 64);
  EXPECT_EQ(t.tensor.device, "cuda:0");
  EXPECT_TRUE(t.text.empty());
  EXPECT_EQ(parse_fx_type(env, "f32[((s0//2))]").text, "f32[((s0//2))]");
  EXPECT_FALSE(parse_fx_type(env, "f32[8]").tensor.strides);
  EXPECT_TRUE(parse_fx_type(env, "f32[]").is_tensor());
  EXPECT_EQ(parse_fx_type(env, "Sym(s77 + 1)").sym.str(), "s77 + 1");
  EXPECT_EQ(parse_fx_type(env, "Sym(s77 < 4)").kind, Type::Kind::SymBool);
  EXPECT_EQ(parse_fx_type(env, "Sym(zf7)").kind, Type::Kind::SymFloat);
  EXPECT_EQ(parse_fx_type(env, "DTensor(f32[8], [Shard(0)])").kind, Type::Kind::Other);
  EXPECT_EQ(parse_fx_type(env, "f32[8").kind, Type::Kind::Other);
  EXPECT_EQ(parse_fx_type(env, "").kind, Type::Kind::Unknown);
}

TEST(Fx, CommentsAreSources) {
  Graph g = read(line("# File: /a b/C:x.py:12 in <module>, code: y = x  # , code: z") + line("a = torch.sin(x)") +
                 line("b = torch.sin(a)") + line("# No stacktrace found for following nodes") +
                 line("c = torch.sin(b)") + line("# Backward of forward node: File: m.py:3 in f, code: q") +
                 line("d = torch.sin(c)") + line("return d"));
  const SourceLocation& s = node(g, "b").meta.source->back();
  EXPECT_EQ(s.file, "/a b/C:x.py");
  EXPECT_EQ(s.line, 12);
  EXPECT_EQ(s.function, "<module>");
  EXPECT_EQ(s.code, "y = x  # , code: z");
  EXPECT_EQ(node(g, "c").meta.source, nullptr);
  EXPECT_EQ(node(g, "d").meta.role, Role::Backward);
  EXPECT_EQ(node(g, "d").meta.source->back().line, 3);
}

TEST(Fx, JointGraphHasItsRealPlaceholders) {
  Graph g = read(line("primals_1: \"f32[4][1]cpu\"  # PlainAOTInput(idx=0)") + line("tangents_1: \"f32[][]cpu\"") +
                     line("primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)") +
                     line("mul = torch.ops.aten.mul.Tensor(primals_1, tangents_1);  primals_1 = tangents_1 = None") +
                     line("return pytree.tree_unflatten([mul, None], self._out_spec)"),
                 "self, primals, tangents");
  ASSERT_EQ(g.placeholders().size(), 2u);
  EXPECT_EQ(g.placeholders()[0]->name, "primals_1");
  EXPECT_EQ(to_string(g.placeholders()[1]->type), "f32[][]cpu");
  EXPECT_EQ(g.flat_outputs().size(), 2u);
}

TEST(Fx, ClassesNest) {
  Graph g = parse_fx(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, L_x_: \"f32[4]\"):\n"
      "        l_x_ = L_x_\n"
      "        body_0 = self.body_0\n"
      "        wrap = torch.ops.higher_order.wrap(body_0, l_x_);  body_0 = l_x_ = None\n"
      "        return (wrap,)\n"
      "\n"
      "    class body_0(torch.nn.Module):\n"
      "        def forward(self, l_x_: \"f32[4]\"):\n"
      "            inner_0 = self.inner_0\n"
      "            return (inner_0,)\n"
      "\n"
      "        class inner_0(torch.nn.Module):\n"
      "            def forward(self):\n"
      "                pass\n"
      "\n"
      "    class other_0(torch.nn.Module):\n"
      "        def forward(self, l_x_):\n"
      "            return l_x_\n"
      " # graph id: 17\n");
  EXPECT_EQ(node(g, "l_x_").target, "L_x_");
  ASSERT_EQ(g.subgraphs.size(), 2u);
  EXPECT_EQ(g.subgraphs.at("body_0")->subgraphs.at("inner_0")->size(), 0u);
  EXPECT_EQ(node(g, "wrap").target, "higher_order.wrap");
  EXPECT_THAT(print_fx(g), HasSubstr("# graph id: 17"));
}

TEST(Fx, ListingReadsNodesByReference) {
  Graph g = parse_fx(
      "graph():\n"
      "    %x : torch.Tensor [num_users=1] = placeholder[target=x](default=None)\n"
      "    %w : [num_users=1] = get_attr[target=lin.weight]\n"
      "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, %w), kwargs = {alpha: "
      "2})\n"
      "    %gelu : [num_users=1] = call_function[target=torch.nn.functional.gelu](args = (%add,), kwargs = "
      "{approximate: a b})\n"
      "    return (gelu,)\n");
  EXPECT_EQ(node(g, "add").args[1].node(), g.find("w"));
  EXPECT_EQ(*node(g, "add").kwargs[0].second.as<int64_t>(), 2);
  EXPECT_TRUE(node(g, "x").args[0].is_none());
  EXPECT_EQ(g.flat_outputs()[0].node(), g.find("gelu"));
  EXPECT_THAT(print_fx(g), HasSubstr("kwargs = {approximate: a b}"));
}

TEST(Fx, OwnGraphsPrintAsPyTorchWould) {
  Graph g;
  Node* x = g.placeholder("x", Type::of(DType::F32, {8, 64}));
  auto source = std::make_shared<const std::vector<SourceLocation>>(1, SourceLocation{"m.py", 3, "f", "y = x + 1"});
  Node* y = g.add(NodeKind::Call, "aten.add.Tensor", {x, 1}, Type::of(DType::F32, {8, 64}), "add");
  y->meta.source = source;
  Node* z = g.add(NodeKind::Call, "aten.relu.default", {y}, Type::of(DType::F32, {8, 64}), "relu");
  z->meta.source = source;
  g.output(ListArg{ListArg::Kind::Tuple, {z}});
  EXPECT_EQ(print_fx(g),
            "class GraphModule(torch.nn.Module):\n"
            "    def forward(self, x: \"f32[8, 64][64, 1]cpu\"):\n"
            "        # File: m.py:3 in f, code: y = x + 1\n"
            "        add: \"f32[8, 64][64, 1]cpu\" = torch.ops.aten.add.Tensor(x, 1);  x = None\n"
            "        relu: \"f32[8, 64][64, 1]cpu\" = torch.ops.aten.relu.default(add);  add = None\n"
            "        return (relu,)\n");
  FxOptions plain;
  plain.form = FxOptions::Form::Function;
  plain.annotations = plain.comments = plain.clean_ups = false;
  EXPECT_EQ(print_fx(g, plain),
            "def forward(self, x):\n"
            "    add = torch.ops.aten.add.Tensor(x, 1)\n"
            "    relu = torch.ops.aten.relu.default(add)\n"
            "    return (relu,)\n");
  FxOptions listing;
  listing.form = FxOptions::Form::Listing;
  EXPECT_EQ(
      print_fx(g, listing),
      "graph():\n"
      "    %x : [num_users=1] = placeholder[target=x]\n"
      "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, 1), kwargs = {})\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%add,), kwargs = {})\n"
      "    return (%relu,)\n");
}

TEST(Fx, CarriageReturnsAndColoursAreNoise) {
  Graph g = parse_fx("class G(torch.nn.Module):\r\n    def forward(self, \x1b[31mx\x1b[0m):\r\n        return x\r\n");
  EXPECT_EQ(g.placeholders().at(0)->name, "x");
}

std::string error_of(const std::string& text) {
  return testing::error_text([&] { parse_fx(text); });
}
std::string body_error(const std::string& body) {
  return error_of("class G(torch.nn.Module):\n    def forward(self, x):\n" + body);
}

TEST(Fx, WrongTextSaysWhereAndWhat) {
  EXPECT_EQ(error_of("hello\n"),
            "fx text, line 1, column 1: expected 'class NAME(torch.nn.Module):', 'def forward(' or 'graph():', found "
            "'hello'");
  EXPECT_THAT(error_of(""), HasSubstr("found nothing"));
  EXPECT_EQ(body_error(line("a = torch.sin(x")), "fx text, line 4, column 1: expected ')' or ',', found the end");
  EXPECT_EQ(body_error(line("a = ")), "fx text, line 3, column 13: expected an expression, found the end of the line");
  EXPECT_EQ(body_error(line("a = x b")), "fx text, line 3, column 15: expected ';' or the end of the line, found 'b'");
  EXPECT_EQ(body_error(line("a = 'x")), "fx text, line 3, column 13: expected a closing ', found '''");
  EXPECT_EQ(body_error(line("x = torch.sin(x)")), "fx text, line 3, column 9: expected a new name, found 'x'");
  EXPECT_THAT(
      body_error(line("a = torch.sin(x);  x = None") + line("b = torch.cos(x)")),
      HasSubstr(
          "line 4, column 23: expected a name that is still in use (this one was set to None before), found 'x'"));
  EXPECT_THAT(body_error(line("return x") + line("a = torch.sin(x)")),
              HasSubstr("the end of the function after its return"));
  EXPECT_THAT(error_of("graph():\n  nonsense\n"),
              HasSubstr("line 2, column 3: expected '%name : ' or 'return', found 'nonsense'"));
  EXPECT_THAT(error_of("class G(torch.nn.Module):\n    x\n"), HasSubstr("expected 'def forward', found the end"));
}

TEST(Fx, DepthIsLimited) {
  EXPECT_THAT(body_error(line("a = f(" + std::string(5000, '['))), HasSubstr("levels of nesting"));
  EXPECT_THAT(body_error(line("a = f(" + std::string(5000, '-') + "1)")), HasSubstr("levels of nesting"));
  std::string chain = "x";
  for (int i = 0; i < 5000; ++i) chain += ".a()";
  EXPECT_THAT(body_error(line("a = " + chain)), HasSubstr("levels"));
  std::string classes;
  for (int i = 0; i < 200; ++i) {
    const std::string indent(static_cast<size_t>(i) * 2, ' ');
    classes += indent + "class c(torch.nn.Module):\n" + indent + " def forward(self):\n" + indent + "  pass\n";
  }
  EXPECT_THAT(error_of(classes), HasSubstr("at most 64 nested classes"));
}

}  // namespace
}  // namespace strata
