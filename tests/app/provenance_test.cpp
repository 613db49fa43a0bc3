// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Every captured node ends somewhere, and every kernel leads back to the right lines of Python. The lines are computed
/// a second time from the archive's own JSON, by node names, without our loader.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "capture/zip.h"
#include "core/support/file.h"
#include "core/support/json.h"
#include "core/trace/reader.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

using Lines = std::set<std::string>;

/// `File "model.py", line 12, in forward` of Python's stack traces, the innermost: `model.py:12`.
std::string innermost_line(const std::string& trace) {
  const size_t at = trace.rfind("File \"");
  if (at == std::string::npos) return {};
  const size_t quote = trace.find('"', at + 6), number = trace.find("line ", quote) + 5;
  return trace.substr(at + 6, quote - at - 6) + ":" +
         trace.substr(number, trace.find_first_not_of("0123456789", number) - number);
}

/// Names of all results of a node in the archive's JSON.
std::vector<std::string> result_names(const Json& node) {
  std::vector<std::string> names;
  for (const Json& output : node.at("outputs").array()) {
    if (const Json* t = output.find("as_tensor")) names.push_back(t->at("name").string());
    if (const Json* list = output.find("as_tensors"))
      for (const Json& t : list->array()) names.push_back(t.at("name").string());
    if (const Json* s = output.find("as_sym_int"))
      if (const Json* name = s->find("as_name")) names.push_back(name->string());
  }
  return names;
}

/// Names of all values anywhere in an argument.
void add_value_names(const Json& json, std::set<std::string>& names) {
  if (const auto* list = json.as<JsonArray>())
    for (const Json& item : *list) add_value_names(item, names);
  const auto* object = json.as<JsonObject>();
  if (!object) return;
  for (const auto& [key, value] : *object) {
    const auto* text = value.as<std::string>();
    if (text && (key == "name" || key == "as_name")) names.insert(*text);
    add_value_names(value, names);
  }
}

/// What the archive's own JSON says of every named result: its line, and the names it is computed from.
struct Archive {
  std::map<std::string, std::string> lines;
  std::map<std::string, std::set<std::string>> operands;

  explicit Archive(const std::string& path) {
    const capture::ZipArchive archive(map_file(path), path);
    for (const std::string& member : archive.names()) {
      if (!member.ends_with("models/model.json")) continue;
      const Bytes bytes = archive.read(member);
      const Json model = parse_json(bytes.text(), member);
      for (const Json& node : model.at("graph_module").at("graph").at("nodes").array()) add(node);
    }
  }

  /// Results that are needed for `outputs` and lie behind no result of `stops`.
  std::set<std::string> region(const std::set<std::string>& outputs, const std::set<std::string>& stops) const {
    std::set<std::string> found = outputs;
    std::vector<std::string> open(outputs.begin(), outputs.end());
    while (!open.empty()) {
      const auto it = operands.find(open.back());
      open.pop_back();
      if (it == operands.end()) continue;
      for (const std::string& name : it->second)
        if (operands.contains(name) && !stops.contains(name) && found.insert(name).second) open.push_back(name);
    }
    return found;
  }

 private:
  void add(const Json& node) {
    std::set<std::string> from;
    for (const Json& input : node.at("inputs").array()) add_value_names(input.at("arg"), from);
    const Json* stack = node.at("metadata").find("stack_trace");
    for (const std::string& name : result_names(node)) {
      operands[name] = from;
      if (stack) lines[name] = innermost_line(stack->string());
    }
  }
};

class Provenance : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void SetUp() override {
    const Finished f = strata(
        {"compile", model_file(GetParam().first), "--backend", GetParam().second, "-o", folder_.file("t.strata")});
    ASSERT_EQ(f.code, 0) << f.err;
    reader_ = std::make_unique<trace::Reader>(folder_.file("t.strata"));
    compile_ = reader_->find_compile("").id;
    for (const trace::NodeRecord& n : reader_->nodes(reader_->find_snapshot(compile_, "captured").id))
      captured_[n.id] = n;
  }
  static bool is_leaf(const trace::NodeRecord& n) {
    return n.op == "placeholder" || n.op == "get_attr" || n.op == "output";
  }

  /// Captured calls that a node came from.
  std::set<std::string> captured_names(trace::NodeId id) const {
    std::set<std::string> names;
    for (const trace::OriginStep& s : reader_->origins(compile_, id).ancestors)
      if (const auto it = captured_.find(s.node.id); it != captured_.end() && !is_leaf(it->second))
        names.insert(it->second.name);
    return names;
  }

  TemporaryFolder folder_;
  std::unique_ptr<trace::Reader> reader_;
  trace::Id compile_ = 0;
  std::map<trace::NodeId, trace::NodeRecord> captured_;
};

TEST_P(Provenance, EveryCapturedNodeEndsSomewhere) {
  ASSERT_GT(captured_.size(), 10u);
  std::set<trace::NodeId> constants;
  for (const trace::BufferRecord& b : reader_->buffers(compile_))
    if (b.kind == "constant" || b.kind == "weight") constants.insert(b.node);
  for (const auto& [id, node] : captured_) {
    if (is_leaf(node)) continue;
    for (const trace::OriginStep& s : reader_->results(compile_, id, 0).descendants) {
      const trace::NodeId last = s.node.id;
      if (!reader_->edges_down(compile_, last).empty()) continue;  // its descendants are looked at, too
      const auto removal = reader_->removal(compile_, last);
      EXPECT_TRUE(removal || constants.contains(last) || !reader_->kernels_of_node(compile_, last).empty())
          << node.name << " (" << node.target << ") became " << s.node.name << ", which ends nowhere";
      if (!removal) continue;
      EXPECT_TRUE(reader_->pass(removal->pass).has_value()) << s.node.name;
      EXPECT_FALSE(removal->rule.empty() && removal->reason.empty()) << s.node.name;
    }
  }
}

TEST_P(Provenance, EveryKernelLeadsToItsLines) {
  const auto lines = Archive(model_file(GetParam().first)).lines;
  ASSERT_GT(lines.size(), 5u);
  const auto kernels = reader_->kernels(compile_);
  ASSERT_GT(kernels.size(), 3u);
  std::set<std::string> all;
  for (const trace::KernelRecord& k : kernels) {
    Lines ours, independent;
    ASSERT_FALSE(k.nodes.empty()) << k.name;
    for (trace::NodeId id : k.nodes) {
      const trace::Origins origins = reader_->origins(compile_, id);
      for (const trace::OriginStep& s : origins.ancestors) {
        const auto it = captured_.find(s.node.id);
        if (it == captured_.end() || is_leaf(it->second)) continue;
        ASSERT_TRUE(lines.contains(it->second.name)) << it->second.name;
        independent.insert(lines.at(it->second.name));
      }
      for (const trace::SourceLocation& l : origins.locations) ours.insert(fmt::format("{}:{}", l.file, l.line));
    }
    EXPECT_FALSE(independent.empty()) << k.name << " comes from nowhere";
    EXPECT_EQ(ours, independent) << k.name;
    all.insert(independent.begin(), independent.end());
  }
  // Together the kernels cover most of the program.
  std::set<std::string> program;
  for (const auto& [name, line] : lines) program.insert(line);
  EXPECT_GE(all.size() * 10, program.size() * 6);
}

/// What lies between the values that a kernel reads and those that it writes, by the archive's own edges, is what the
/// kernel says it computes.
TEST_P(Provenance, NothingBetweenInputsAndOutputsIsLost) {
  const Archive archive(model_file(GetParam().first));
  std::set<std::string> removed;  // an inference has no dropout
  for (const auto& [id, node] : captured_)
    if (reader_->results(compile_, id, 0).kernels.empty()) removed.insert(node.name);
  std::map<trace::Id, trace::BufferRecord> buffers;
  for (const trace::BufferRecord& b : reader_->buffers(compile_)) buffers[b.id] = b;
  size_t several = 0;
  for (const trace::LaunchRecord& launch : reader_->launches(compile_)) {
    std::set<std::string> computed, written, read;
    const auto kernel = reader_->kernel(launch.kernel);
    ASSERT_TRUE(kernel.has_value()) << launch.name;
    for (trace::NodeId id : kernel->nodes) computed.merge(captured_names(id));
    for (trace::Id b : launch.writes) written.merge(captured_names(buffers[b].node));
    for (trace::Id b : launch.reads) read.merge(captured_names(buffers[b].node));
    auto region = archive.region(written, read);
    for (const std::string& name : removed) region.erase(name);
    EXPECT_FALSE(region.empty()) << launch.name;
    EXPECT_THAT(computed, ::testing::IsSupersetOf(region)) << launch.name;
    several += region.size() > 1;
  }
  EXPECT_GT(several, 0u);
}

TEST_P(Provenance, LibraryOperatorsReachALibraryCall) {
  for (const auto& [id, node] : captured_) {
    if (node.target != "aten.linear.default" && node.target != "aten.conv2d.default") continue;
    std::set<trace::Id> libraries;
    for (const trace::KernelRecord& k : reader_->results(compile_, id, 0).kernels)
      if (k.kind == trace::KernelKind::Library) libraries.insert(k.id);
    EXPECT_FALSE(libraries.empty()) << node.name << " reaches no library call";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Provenance,
                         ::testing::Values(std::pair{"cnn_fmnist", "strata"}, std::pair{"bert", "strata"},
                                           std::pair{"cnn_fmnist", "unfused"}, std::pair{"bert", "unfused"},
                                           std::pair{"bert_dynamic", "strata"}),
                         [](const auto& info) { return std::string(info.param.first) + "_" + info.param.second; });

}  // namespace
}  // namespace strata::testing
