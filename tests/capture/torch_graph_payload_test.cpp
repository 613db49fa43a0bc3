// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Payloads as logs hold them: dressed up, cut, broken; symbols, sizes, child classes, buckets.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "capture/torch_graph/importer.h"
#include "capture/torch_graph/records.h"
#include "core/ir/fx_printer.h"
#include "core/ir/sym.h"
#include "core/trace/reader.h"
#include "tests/capture/torch_graph_support.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;

const std::string kGraph =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, s77: \"Sym(s77)\", L_x_: \"f32[s77, 4][4, 1]cpu\"):\n"
    "        l_x_ = L_x_\n"
    "\n"
    "        # File: /a b/m.py:3 in f, code: y = x.relu() * 2\n"
    "        relu: \"f32[s77, 4][4, 1]cpu\" = l_x_.relu();  l_x_ = None\n"
    "        mul: \"f32[s77, 4][4, 1]cpu\" = relu * 2;  relu = None\n"
    "        return (mul, s77)\n";

/// A compile in a trace of its own.
class Compile {
 public:
  explicit Compile(const std::string& name)
      : path_(fs::path(testing::TempDir()) / ("torch_graph_" + name + std::to_string(::getpid()) + ".strata")),
        writer_(path_),
        context_(writer_) {
    trace::InputRecord input;
    input.path = "x.log";
    input.kind = "torch-trace";
    input_ = context_.add_input(input);
    compile_ = writer_.add(trace::CompileRecord{});
    importer_.emplace(context_, compile_, input_);
  }
  ~Compile() { fs::remove(path_); }

  trace::Id add(const std::string& stage, const std::string& text, const std::string& role = "") {
    return importer_->add(stage, trace::kNone, parse_graph_payload(text), text, role, 7);
  }
  trace::Reader& read() {
    importer_->finish();
    context_.finish();
    writer_.close();
    return reader_.emplace(path_);
  }
  GraphImporter& importer() { return *importer_; }
  ImportContext& context() { return context_; }
  trace::Id input() const { return input_; }
  trace::Id id() const { return compile_; }

 private:
  fs::path path_;
  trace::Writer writer_;
  ImportContext context_;
  trace::Id input_, compile_;
  std::optional<GraphImporter> importer_;
  std::optional<trace::Reader> reader_;
};

Graph back(trace::Reader& reader, trace::Id snapshot, std::shared_ptr<ShapeEnv> env = nullptr) {
  const auto nodes = reader.nodes(snapshot);
  std::unordered_map<const Node*, const trace::NodeRecord*> records;
  Graph graph = graph_of(*reader.snapshot(snapshot), nodes, std::move(env), &records);
  for (const auto& [node, record] : records) {
    auto stack = std::make_shared<std::vector<SourceLocation>>();
    for (const auto& l : reader.stack(record->stack))
      stack->push_back({l.file, static_cast<int>(l.line), l.function, l.text});
    if (!stack->empty()) const_cast<Node*>(node)->meta.source = stack;
  }
  return graph;
}

TEST(TorchGraphPayload, CarriageReturnsColoursAndTrailersAreNoTrouble) {
  std::string text = kGraph + "\n\n # graph id: 140631033936064";
  EXPECT_TRUE(parse_graph_payload(text).exact);
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_TRUE(parse_graph_payload(crlf).exact);
  std::string coloured = text;
  coloured.insert(coloured.find("f32"), "\x1b[31m");
  coloured.insert(coloured.find("cpu"), "\x1b[0m");
  EXPECT_TRUE(parse_graph_payload(coloured).exact);
}

TEST(TorchGraphPayload, MetadataBlocksAreLeftOutAndTheTextIsKept) {
  std::string text = kGraph;
  text.insert(text.find("        mul:"), "        \"\"\"\n        seq_nr: 3; x = f(\n        \"\"\"\n");
  Compile compile("meta");
  const trace::Id id = compile.add("captured", text);
  trace::Reader& reader = compile.read();
  EXPECT_EQ(reader.nodes(id).size(), 5u);
  const auto kept = reader.artifacts({trace::OwnerKind::Snapshot, id, compile.id()});
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].kind, "fx");
  EXPECT_EQ(reader.artifact(kept[0].id)->content, text);
}

TEST(TorchGraphPayload, TextThatIsNoGraphBecomesATextSnapshot) {
  Compile compile("broken");
  const std::string cut = kGraph.substr(0, kGraph.rfind("relu()") + 5);
  const trace::Id id = compile.add("captured", cut);
  EXPECT_EQ(compile.importer().snapshot("captured"), id);
  EXPECT_TRUE(compile.importer().nodes(id).empty());
  EXPECT_EQ(compile.context().counted(compile.input(), "problem.graph_parse_error"), 1);
  trace::Reader& reader = compile.read();
  EXPECT_EQ(reader.snapshot(id)->kind, trace::SnapshotKind::Text);
  const auto kept = reader.artifacts({trace::OwnerKind::Snapshot, id, compile.id()});
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(reader.artifact(kept[0].id)->content, cut);
  const auto problems = reader.diagnostics();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].line, 7);
  EXPECT_NE(problems[0].title.find("line 6, column "), std::string::npos) << problems[0].title;
}

TEST(TorchGraphPayload, EveryCutIsAGraphOrAnError) {
  for (size_t length = 0; length <= kGraph.size(); ++length) {
    const ParsedGraph parsed = parse_graph_payload(std::string_view(kGraph).substr(0, length));
    EXPECT_EQ(parsed.graph == nullptr, !parsed.error.empty()) << length;
  }
}

TEST(TorchGraphPayload, HugeAndDeepTextsEndInErrorsOrGraphs) {
  const std::string start = "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        y = f(";
  const std::string end = ")\n        return y\n";
  EXPECT_NE(parse_graph_payload(start + std::string(100000, '[') + end).error, "");
  EXPECT_NE(parse_graph_payload(start + std::string(100000, '(') + "x" + std::string(100000, ')') + end).error, "");
  EXPECT_NE(parse_graph_payload(start + std::string(100000, '-') + "x" + end).error, "");
  std::string many;
  for (int i = 0; i < 500000; ++i) many += "x, ";
  EXPECT_EQ(parse_graph_payload(start + many + end).error, "");
  EXPECT_EQ(parse_graph_payload(start + "'" + std::string(8 << 20, 'a') + "'" + end).error, "");
  EXPECT_NE(parse_graph_payload(std::string(8 << 20, ' ')).error, "");
}

TEST(TorchGraphPayload, BytesThatAreNoTextAreReplaced) {
  std::string text = kGraph;
  text.insert(text.find("m.py"), "\xff\xc3(");
  const ParsedGraph parsed = parse_graph_payload(text);
  EXPECT_EQ(parsed.error, "");
  EXPECT_FALSE(parsed.exact);
}

TEST(TorchGraphPayload, SymbolsKeepTheirRanges) {
  Compile compile("symbols");
  const trace::Id id = compile.add("captured", kGraph);
  trace::Reader& reader = compile.read();
  const auto nodes = reader.nodes(id);
  EXPECT_EQ(nodes.at(2).shape, "[s77, 4]");
  EXPECT_EQ(nodes.at(2).dtype, "f32");
  EXPECT_EQ(nodes.at(2).device, "cpu");
  EXPECT_EQ(nodes.at(2).op, "call_method");
  auto env = std::make_shared<ShapeEnv>();
  Symbol symbol;
  symbol.name = "s77";
  symbol.range = {2, 512};
  symbol.hint = 8;
  const SymInt made = env->symbol(symbol);
  const Graph graph = back(reader, id, env);
  EXPECT_EQ(graph.find("relu")->tensor().shape[0], made);
  EXPECT_EQ(test::words(print_fx(graph)), test::words(kGraph));
}

TEST(TorchGraphPayload, SizesFillWhatTheTextLacks) {
  Compile compile("sizes");
  compile.importer().set_sizes({{"y", "[8, s77]"}, {"gone", "[1]"}});
  const trace::Id id = compile.add("captured",
                                   "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        y = "
                                   "torch.sin(x);  x = None\n        return (y,)\n");
  EXPECT_EQ(compile.importer().nodes(id)[1].shape, "[8, s77]");
  EXPECT_EQ(compile.importer().nodes(id)[0].shape, "");
}

const std::string kWrapped =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, L_x_: \"f32[4][1]cpu\"):\n"
    "        l_x_ = L_x_\n"
    "        # No stacktrace found for following nodes\n"
    "        wrap_body_0 = self.wrap_body_0\n"
    "        wrap = torch.ops.higher_order.wrap(wrap_body_0, l_x_);  wrap_body_0 = l_x_ = None\n"
    "        getitem: \"f32[4][1]cpu\" = wrap[0];  wrap = None\n"
    "        return (getitem,)\n"
    "\n"
    "    class wrap_body_0(torch.nn.Module):\n"
    "        def forward(self, l_x_: \"f32[4][1]cpu\"):\n"
    "            # File: /m.py:8 in f, code: return x.sin().cos()\n"
    "            sin: \"f32[4][1]cpu\" = l_x_.sin();  l_x_ = None\n"
    "            cos: \"f32[4][1]cpu\" = sin.cos();  sin = None\n"
    "            return (cos,)\n";

TEST(TorchGraphPayload, NodesOfChildClassesAreNodes) {
  Compile compile("children");
  const trace::Id id = compile.add("captured", kWrapped);
  const trace::Id joint =
      compile.add("inference",
                  "class <lambda>(torch.nn.Module):\n"
                  "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"
                  "        # File: /m.py:8 in f, code: return x.sin().cos()\n"
                  "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None\n"
                  "        cos: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(sin);  sin = None\n"
                  "        return (cos,)\n",
                  "inference");
  const trace::NodeId child = compile.importer().find(id, "wrap_body_0/cos");
  const trace::NodeId cos = compile.importer().find(joint, "cos");
  ASSERT_NE(child, 0);
  trace::Reader& reader = compile.read();
  EXPECT_EQ(test::words(print_fx(back(reader, id))), test::words(kWrapped));
  const auto edges = reader.edges_up(compile.id(), cos);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from, child);
}

/// A bucket of a model that was split: linear, then ReLU, over its own names.
std::string traced(const std::string& size, bool backward) {
  const std::string type = "\"f32[" + size + "][1]cpu\"";
  if (backward) {
    return "class GraphModule(torch.nn.Module):\n    def forward(self, relu: " + type + ", tangents_1: " + type +
           "):\n        le: \"b8[" + size + "][1]cpu\" = torch.ops.aten.le.Scalar(relu, 0);  relu = None\n" +
           "        where: " + type + " = torch.ops.aten.where.self(le, 0.0, tangents_1);  le = tangents_1 = None\n" +
           "        return (where,)\n";
  }
  return "class GraphModule(torch.nn.Module):\n    def forward(self, primals_1: " + type + "):\n        relu: " + type +
         " = torch.ops.aten.relu.default(primals_1);  primals_1 = None\n        return (relu, relu)\n";
}

TEST(TorchGraphPayload, BucketsOfDistributedTrainingKeepApart) {
  Compile compile("buckets");
  const auto child = [](const std::string& size, const std::string& name) {
    return "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[" + size + "][1]cpu\"):\n        " +
           name + ": \"f32[" + size + "][1]cpu\" = torch.relu(x);  x = None\n        return " + name + "\n";
  };
  compile.add("captured",
              "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"
              "        a: \"f32[4][1]cpu\" = torch.relu(x);  x = None\n"
              "        b: \"f32[2][1]cpu\" = torch.relu(a);  a = None\n        return (b,)\n");
  const trace::Id first = compile.add("functional:submod_0", child("4", "a"));
  compile.add("forward", traced("4", false), "forward");
  compile.add("backward", traced("4", true), "backward");
  const trace::Id second = compile.add("functional:submod_1", child("2", "b"));
  const trace::Id forward = compile.add("forward", traced("2", false), "forward");
  compile.add("backward", traced("2", true), "backward");
  const trace::NodeId a = compile.importer().find(first, "a"), b = compile.importer().find(second, "b");
  const trace::NodeId relu = compile.importer().find(forward, "relu");
  trace::Reader& reader = compile.read();
  ASSERT_NE(a, b);
  EXPECT_EQ(reader.snapshot(forward)->stage, "forward#2");
  bool reaches_b = false;
  for (const trace::OriginStep& step : reader.origins(compile.id(), relu).ancestors) {
    EXPECT_NE(step.node.id, a);
    reaches_b |= step.node.id == b;
  }
  EXPECT_TRUE(reaches_b);
}

// Before modules were taken apart a captured graph called them, and their parameters were the first inputs behind it.
TEST(TorchGraphPayload, CallsOfModulesOfOlderLogs) {
  Compile compile("modules");
  const trace::Id captured = compile.add(
      "captured",
      "class GraphModule(torch.nn.Module):\n    def forward(self, L_x_ : torch.Tensor):\n        l_x_ = L_x_\n"
      "        # File: /m.py:5 in forward, code: return self.b(self.a(x).relu())\n"
      "        l__self___a = self.L__self___a(l_x_);  l_x_ = None\n"
      "        relu = l__self___a.relu();  l__self___a = None\n"
      "        l__self___b = self.L__self___b(relu);  relu = None\n        return (l__self___b,)\n");
  const trace::Id after = compile.add(
      "inference",
      "class <lambda>(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"f32[4, 4]\", arg1_1: \"f32[4]\", arg2_1: \"f32[4, 4]\", arg3_1: \"f32[4]\", "
      "arg4_1: \"f32[2, 4]\"):\n"
      "        # File: /m.py:5 in forward, code: return self.b(self.a(x).relu())\n"
      "        permute: \"f32[4, 4]\" = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None\n"
      "        addmm: \"f32[2, 4]\" = torch.ops.aten.addmm.default(arg1_1, arg4_1, permute);  arg1_1 = arg4_1 = "
      "permute = "
      "None\n"
      "        relu: \"f32[2, 4]\" = torch.ops.aten.relu.default(addmm);  addmm = None\n"
      "        permute_1: \"f32[4, 4]\" = torch.ops.aten.permute.default(arg2_1, [1, 0]);  arg2_1 = None\n"
      "        addmm_1: \"f32[2, 4]\" = torch.ops.aten.addmm.default(arg3_1, relu, permute_1);  arg3_1 = relu = "
      "permute_1 = "
      "None\n"
      "        return (addmm_1,)\n",
      "inference");
  GraphImporter& importer = compile.importer();
  std::map<std::string, trace::NodeId> before, behind;
  for (const auto& n : importer.nodes(captured)) before[n.name] = n.id;
  for (const auto& n : importer.nodes(after)) behind[n.name] = n.id;
  trace::Reader& reader = compile.read();
  const auto cause = [&](const char* name) {
    const auto edges = reader.edges_up(compile.id(), behind.at(name));
    return edges.size() == 1 ? edges[0].from : 0;
  };
  EXPECT_EQ(cause("arg4_1"), before.at("l_x_"));
  EXPECT_EQ(cause("addmm"), before.at("l__self___a"));
  EXPECT_EQ(cause("relu"), before.at("relu"));
  EXPECT_EQ(cause("addmm_1"), before.at("l__self___b"));
  EXPECT_EQ(cause("arg0_1"), 0) << "a parameter of a module that the captured graph does not show";
}

}  // namespace
}  // namespace strata::capture
