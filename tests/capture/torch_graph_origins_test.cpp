// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Origin edges, roles and modules of imported graphs: against truth read off by hand, and against the maps that the
/// producer wrote into the same log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "capture/torch_graph/importer.h"
#include "core/trace/reader.h"
#include "tests/capture/torch_graph_support.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<test::LogRecord> log_of(const std::string& name) {
  return test::log_records(test::file_bytes(STRATA_TEST_DATA "/torch/logs/" + name + ".log.gz"));
}

NameMap map_in(const std::string& json, const char* key) {
  NameMap map;
  simdjson::dom::parser parser;
  simdjson::dom::object root, object;
  if (parser.parse(json).get(root) || root[key].get(object)) return map;
  for (const auto& [name, from] : object)
    for (const simdjson::dom::element item : simdjson::dom::array(from)) map[std::string(name)].emplace_back(item);
  return map;
}

/// One compile of a log, imported; graphs of the stages in `without` are left out.
class Imported {
 public:
  Imported(const std::vector<test::LogRecord>& records, const std::string& compile,
           const std::set<std::string>& without = {}, const std::map<std::string, NameMap>& maps = {},
           const std::vector<std::string>& sources = {})
      : path_(fs::path(testing::TempDir()) / ("torch_graph_origins_" + std::to_string(getpid()) + ".strata")) {
    trace::Writer writer(path_);
    ImportContext context(writer);
    trace::CompileRecord record;
    record.address = compile;
    compile_ = writer.add(record);
    GraphImporter importer(context, compile_);
    importer.set_sources(sources);
    const auto by_compile = test::graphs_by_compile(records);
    for (const test::LogGraph& g : by_compile.at(compile)) {
      if (without.contains(g.place.stage)) continue;
      const trace::Id id = importer.add(g.place.stage, trace::kNone, parse_graph_payload(g.record.payload),
                                        g.record.payload, g.place.role, g.record.line);
      snapshots_[g.place.stage] = id;
      for (const trace::NodeRecord& n : importer.nodes(id)) {
        EXPECT_EQ(importer.find(id, n.name), n.id);
        nodes_[g.place.stage][n.name] = n;
        if (g.place.stage == "captured") captured_[n.id] = n.name;
      }
    }
    for (const auto& [stage, map] : maps) importer.link(snapshots_.at(stage), map);
    importer.finish();
    writer.close();
    reader_.emplace(path_);
  }
  ~Imported() {
    reader_.reset();
    fs::remove(path_);
  }

  const trace::NodeRecord& node(const std::string& stage, const std::string& name) const {
    return nodes_.at(stage).at(name);
  }
  const std::map<std::string, trace::NodeRecord>& nodes(const std::string& stage) const { return nodes_.at(stage); }
  bool has(const std::string& stage) const { return nodes_.contains(stage); }

  /// Names of the captured nodes that a node comes from.
  std::vector<std::string> causes(const std::string& stage, const std::string& name) {
    std::set<std::string> names;
    for (const trace::OriginStep& step : reader_->origins(compile_, node(stage, name).id).ancestors)
      if (const auto found = captured_.find(step.node.id); found != captured_.end()) names.insert(found->second);
    return {names.begin(), names.end()};
  }

  /// Lines of source that a node comes from.
  std::vector<int> lines(const std::string& stage, const std::string& name) {
    std::set<int> numbers;
    for (const auto& l : reader_->origins(compile_, node(stage, name).id).locations)
      numbers.insert(static_cast<int>(l.line));
    return {numbers.begin(), numbers.end()};
  }

  /// The edge between two nodes; `kind` is empty if there is none.
  trace::OriginRecord edge(const trace::NodeRecord& node, const trace::NodeRecord& from) {
    for (const trace::OriginRecord& e : reader_->edges_up(compile_, node.id))
      if (e.from == from.id) return e;
    return {};
  }
  trace::Reader& reader() { return *reader_; }
  trace::Id compile() const { return compile_; }

 private:
  fs::path path_;
  trace::Id compile_ = trace::kNone;
  std::map<std::string, trace::Id> snapshots_;
  std::map<std::string, std::map<std::string, trace::NodeRecord>> nodes_;  // by stage and name
  std::map<trace::NodeId, std::string> captured_;
  std::optional<trace::Reader> reader_;
};

/// Read off the program: line 57 is two blocks of convolution, ReLU and pooling, 58 a view, 59 three linear layers with
/// a dropout behind the first.
const std::map<std::string, std::string> kForward = {{"convolution", "input_1"},
                                                     {"relu", "input_2"},
                                                     {"_low_memory_max_pool_with_offsets", "input_3"},
                                                     {"getitem", "input_3"},
                                                     {"getitem_1", "input_3"},
                                                     {"convolution_1", "input_4"},
                                                     {"relu_1", "input_5"},
                                                     {"_low_memory_max_pool_with_offsets_1", "input_6"},
                                                     {"getitem_2", "input_6"},
                                                     {"getitem_3", "input_6"},
                                                     {"view", "x"},
                                                     {"permute", "linear"},
                                                     {"mm_default", "linear"},
                                                     {"add_tensor", "linear"},
                                                     {"inductor_lookup_seed_default", "dropout"},
                                                     {"inductor_random_default", "dropout"},
                                                     {"gt", "dropout"},
                                                     {"mul", "dropout"},
                                                     {"mul_1", "dropout"},
                                                     {"permute_1", "linear_1"},
                                                     {"addmm_1", "linear_1"},
                                                     {"permute_2", "linear_2"},
                                                     {"addmm_2", "linear_2"}};
const std::map<std::string, std::string> kBackward = {{"permute_2", "linear_2"},
                                                      {"mm", "linear_2"},
                                                      {"mm_1", "linear_2"},
                                                      {"sum_1", "linear_2"},
                                                      {"view_1", "linear_2"},
                                                      {"permute_1", "linear_1"},
                                                      {"mm_2", "linear_1"},
                                                      {"mm_3", "linear_1"},
                                                      {"sum_2", "linear_1"},
                                                      {"view_2", "linear_1"},
                                                      {"convert_element_type", "dropout"},
                                                      {"mul_2", "dropout"},
                                                      {"mul_3", "dropout"},
                                                      {"permute_11", "linear"},
                                                      {"mm_4", "linear"},
                                                      {"mm_5", "linear"},
                                                      {"sum_3", "linear"},
                                                      {"view_3", "linear"},
                                                      {"view_4", "x"},
                                                      {"_low_memory_max_pool_offsets_to_indices_1", "input_6"},
                                                      {"max_pool2d_with_indices_backward", "input_6"},
                                                      {"le", "input_5"},
                                                      {"where", "input_5"},
                                                      {"sum_4", "input_4"},
                                                      {"convolution_backward", "input_4"},
                                                      {"getitem_4", "input_4"},
                                                      {"getitem_5", "input_4"},
                                                      {"_low_memory_max_pool_offsets_to_indices", "input_3"},
                                                      {"max_pool2d_with_indices_backward_1", "input_3"},
                                                      {"le_1", "input_2"},
                                                      {"where_1", "input_2"},
                                                      {"sum_5", "input_1"},
                                                      {"convolution_backward_1", "input_1"},
                                                      {"getitem_8", "input_1"}};

int line_of(const std::string& call, int first) {
  return call.starts_with("input_") ? first : call == "x" ? first + 1 : first + 2;
}

void expect_causes(Imported& log, const std::string& stage, const std::map<std::string, std::string>& truth,
                   int first) {
  for (const auto& [name, call] : truth) {
    SCOPED_TRACE(stage + " " + name);
    EXPECT_THAT(log.causes(stage, name), ElementsAre(call));
    EXPECT_THAT(log.lines(stage, name), ElementsAre(line_of(call, first)));
  }
}

TEST(TorchGraphOrigins, EachNodeOfCnnReachesItsCall) {
  const auto records = log_of("cnn_fmnist_provenance");
  Imported log(records, "0/0_0");
  expect_causes(log, "simplified:forward.after", kForward, 70);
  expect_causes(log, "simplified:backward.after", kBackward, 70);
}

TEST(TorchGraphOrigins, TheSameWithoutJointGraph) {
  Imported log(log_of("cnn_fmnist"), "0/0_0", {"joint"});
  ASSERT_FALSE(log.has("joint"));
  const int line = log.lines("captured", "input_1").front();
  expect_causes(log, "simplified:forward.after", kForward, line);
  expect_causes(log, "simplified:backward.after", kBackward, line);
}

TEST(TorchGraphOrigins, OnlyPostGradGraphs) {
  Imported log(log_of("cnn_fmnist"), "0/0_0",
               {"joint", "forward", "backward", "functional:before_pre_grad", "functional:after_pre_grad"});
  EXPECT_THAT(log.causes("simplified:forward.before", "convolution_1"), ElementsAre("input_4"));
  EXPECT_THAT(log.causes("simplified:forward.after", "relu_1"), ElementsAre("input_5"));
}

TEST(TorchGraphOrigins, GradientsAreInferredEdges) {
  Imported log(log_of("cnn_fmnist"), "0/0_0");
  const auto gradient = log.edge(log.node("joint", "convolution_backward"), log.node("captured", "input_4"));
  EXPECT_EQ(gradient.kind, "gradient");
  EXPECT_FALSE(gradient.exact);
  const auto lowered = log.edge(log.node("joint", "convolution"), log.node("captured", "input_1"));
  EXPECT_EQ(lowered.kind, "lowered");
  EXPECT_FALSE(lowered.exact);
  const auto tangent = log.edge(log.node("joint", "tangents_1"), log.node("captured", "linear_2"));
  EXPECT_EQ(tangent.kind, "gradient");
  EXPECT_TRUE(tangent.exact) << "the description of the input says it";
  const auto input = log.edge(log.node("joint", "primals_3"), log.node("captured", "l_x_"));
  EXPECT_EQ(input.kind, "copied");
  EXPECT_TRUE(input.exact);
}

TEST(TorchGraphOrigins, NodesThatStayKeepTheirIds) {
  Imported log(log_of("cnn_fmnist"), "0/0_0");
  EXPECT_EQ(log.node("captured", "linear").id, log.node("functional:after_pre_grad", "linear").id);
  EXPECT_EQ(log.node("joint", "relu").id, log.node("forward", "relu").id);
  EXPECT_EQ(log.node("forward", "relu").id, log.node("simplified:forward.after", "relu").id);
  EXPECT_EQ(log.node("joint", "mm_5").id, log.node("simplified:backward.after", "mm_5").id);
  EXPECT_NE(log.node("captured", "linear").id, log.node("joint", "addmm").id);
  // `view` became `reshape` under its name.
  EXPECT_NE(log.node("forward", "view").id, log.node("simplified:forward.after", "view").id);
  const auto edge = log.edge(log.node("simplified:forward.after", "view"), log.node("forward", "view"));
  EXPECT_EQ(edge.kind, "replaced");
  EXPECT_FALSE(edge.exact);
}

TEST(TorchGraphOrigins, SavedAndRecomputedValuesAreCopies) {
  Imported log(log_of("cnn_fmnist"), "0/0_0");
  const auto saved = log.edge(log.node("backward", "relu"), log.node("forward", "relu"));
  EXPECT_EQ(saved.kind, "copied");
  EXPECT_EQ(saved.rule, "saved");
  EXPECT_TRUE(saved.exact);
  const auto again = log.edge(log.node("backward", "permute_2"), log.node("forward", "permute_2"));
  EXPECT_EQ(again.rule, "recomputed");
  EXPECT_EQ(log.node("backward", "permute_2").role, "recomputed");
  EXPECT_EQ(log.node("forward", "permute_2").role, "forward");
  EXPECT_EQ(log.node("backward", "mm_5").role, "backward");
  EXPECT_EQ(log.node("joint", "mm_5").role, "backward");
  EXPECT_EQ(log.node("joint", "addmm_2").role, "forward");
}

TEST(TorchGraphOrigins, NodesInPlaceOfOthersPointToThem) {
  Imported log(log_of("cnn_fmnist"), "0/0_0");
  for (const char* name : {"mm_default", "add_tensor"}) {
    const auto edge =
        log.edge(log.node("simplified:forward.after", name), log.node("simplified:forward.before", "addmm"));
    EXPECT_EQ(edge.kind, "replaced") << name;
    EXPECT_FALSE(edge.exact) << name;
  }
}

// What was inferred without the maps is what the maps say.
TEST(TorchGraphOrigins, InferredOriginsAgreeWithTheProducer) {
  const struct {
    const char* name;
    const char* stage;
  } logs[] = {{"bert_provenance", "simplified:inference.after"}, {"cnn_fmnist_provenance", "simplified:forward.after"}};
  for (const auto& [name, stage] : logs) {
    const auto records = log_of(name);
    Imported log(records, "0/0_0");
    const auto* maps = test::record_of(records, "inductor_provenance_tracking_node_mappings");
    ASSERT_NE(maps, nullptr);
    const NameMap truth = map_in(maps->payload, "postToPre");
    ASSERT_GE(truth.size(), 20u);
    for (auto [node, from] : truth) {
      std::sort(from.begin(), from.end());
      EXPECT_EQ(log.causes(stage, node), from) << name << " " << node;
    }
  }
}

TEST(TorchGraphOrigins, EveryNodeOfBertReachesALine) {
  Imported log(log_of("bert_provenance"), "0/0_0");
  for (const auto& [name, node] : log.nodes("simplified:inference.after")) {
    EXPECT_THAT(log.causes("simplified:inference.after", name), testing::Not(IsEmpty())) << name;
    if (!node.op.starts_with("call")) continue;
    EXPECT_THAT(log.lines("simplified:inference.after", name), testing::Not(IsEmpty())) << name;
  }
}

TEST(TorchGraphOrigins, MapsAreExactAndWin) {
  const auto records = log_of("cnn_fmnist_provenance");
  const std::string stage = "simplified:forward.after";
  Imported plain(records, "0/0_0", {},
                 {{stage, {{"relu", {"input_2"}}, {"gone", {"input_2"}}, {"view", {"nothing"}}}}});
  const auto edge = plain.edge(plain.node(stage, "relu"), plain.node("captured", "input_2"));
  EXPECT_TRUE(edge.exact);
  // A map that says something else than what was inferred.
  Imported other(records, "0/0_0", {}, {{stage, {{"relu", {"input_5"}}, {"mm_default", {"linear_1"}}}}});
  EXPECT_THAT(other.causes(stage, "relu"), ElementsAre("input_5"));
  EXPECT_THAT(other.causes(stage, "mm_default"), ElementsAre("linear_1"));
}

TEST(TorchGraphOrigins, OldMapsOfNodesToNodes) {
  const fs::path path =
      fs::path(testing::TempDir()) / ("torch_graph_old_map_" + std::to_string(::getpid()) + ".strata");
  {
    trace::Writer writer(path);
    ImportContext context(writer);
    const trace::Id compile = writer.add(trace::CompileRecord{});
    GraphImporter importer(context, compile);
    importer.add("captured", 0,
                 parse_graph_payload("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        sin = "
                                     "torch.sin(x);  x = None\n        return (sin,)\n"),
                 "", "");
    const trace::Id post = importer.add(
        "simplified:inference.after", 0,
        parse_graph_payload("class GraphModule(torch.nn.Module):\n    def forward(self, arg0_1):\n        sin_1 = "
                            "torch.ops.aten.sin.default(arg0_1);  arg0_1 = None\n        return (sin_1,)\n"),
        "", "inference");
    importer.link_json(post, R"({"sin_1": [{"name": "sin_9", "from_node": [{"name": "sin", "from_node": []}]}]})");
    importer.link_json(post, "not JSON");
    EXPECT_EQ(importer.program_graph("inference"), post);
    EXPECT_EQ(importer.snapshot("simplified:inference.after"), post);
    EXPECT_NE(importer.pre_grad_node("sin"), 0);
    importer.finish();
    writer.close();
  }
  trace::Reader reader(path);
  const auto compile = reader.compiles().front().id;
  const auto nodes = reader.nodes(reader.find_snapshot(compile, "simplified:inference.after").id);
  const auto edges = reader.edges_up(compile, nodes.at(1).id);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_TRUE(edges[0].exact);
  fs::remove(path);
}

// ------------------------------------------------------------------------------------------------------------- modules

std::string module_mark(const trace::NodeRecord& node) {
  return node.module + (node.extra.find("\"module\": \"inferred\"") != std::string::npos ? "?" : "");
}

TEST(TorchGraphModules, ParametersSayWhereACallBelongs) {
  const std::vector<std::string> sources = {"L['self']._modules['layer1']._modules['0']._parameters['weight']",
                                            "L['self']._modules['layer1']._modules['0']._parameters['bias']", "L['x']"};
  Imported log(log_of("cnn_fmnist"), "0/0_0", {}, {}, sources);
  EXPECT_EQ(module_mark(log.node("captured", "input_1")), "layer1.0");
  EXPECT_EQ(module_mark(log.node("captured", "input_4")), "layer2.0?") << "from the name of the input alone";
  EXPECT_EQ(module_mark(log.node("captured", "input_2")), "");
  EXPECT_EQ(module_mark(log.node("simplified:forward.after", "convolution")), "layer1.0?");
  EXPECT_EQ(module_mark(log.node("simplified:backward.after", "convolution_backward")), "layer2.0?");
}

TEST(TorchGraphModules, CallsBetweenChildrenBelongToTheParent) {
  Imported log(log_of("bert"), "0/0_0");
  EXPECT_EQ(log.node("captured", "linear").module, "encoder.layer.0.attention.self.query");
  EXPECT_EQ(log.node("captured", "view").module, "encoder.layer.0.attention.self");
  EXPECT_EQ(log.node("captured", "hidden_states_1").module, "encoder.layer.0.attention.output");
  EXPECT_EQ(log.node("captured", "attn_output").module, "") << "nothing says that it is part of a module";
}

}  // namespace
}  // namespace strata::capture
