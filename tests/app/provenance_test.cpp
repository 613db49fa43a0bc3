// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Every captured node ends somewhere, and every kernel leads back to the right lines of Python. The lines are computed a second time from the
/// archive's own JSON, by node names, without our loader.

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
  return trace.substr(at + 6, quote - at - 6) + ":" + trace.substr(number, trace.find_first_not_of("0123456789", number) - number);
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

/// Line of every named value of the archive.
std::map<std::string, std::string> lines_of_archive(const std::string& path) {
  const capture::ZipArchive archive(map_file(path), path);
  std::map<std::string, std::string> lines;
  for (const std::string& member : archive.names()) {
    if (!member.ends_with("models/model.json")) continue;
    const Bytes bytes = archive.read(member);
    const Json model = parse_json(bytes.text(), member);
    for (const Json& node : model.at("graph_module").at("graph").at("nodes").array()) {
      const Json* stack = node.at("metadata").find("stack_trace");
      if (!stack) continue;
      for (const std::string& name : result_names(node)) lines[name] = innermost_line(stack->string());
    }
  }
  return lines;
}

class Provenance : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void SetUp() override {
    const Finished f = strata({"compile", model_file(GetParam().first), "--backend", GetParam().second, "-o", folder_.file("t.strata")});
    ASSERT_EQ(f.code, 0) << f.err;
    reader_ = std::make_unique<trace::Reader>(folder_.file("t.strata"));
    compile_ = reader_->find_compile("").id;
    for (const trace::NodeRecord& n : reader_->nodes(reader_->find_snapshot(compile_, "captured").id)) captured_[n.id] = n;
  }
  bool is_leaf(const trace::NodeRecord& n) const { return n.op == "placeholder" || n.op == "get_attr" || n.op == "output"; }

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
    const trace::Results results = reader_->results(compile_, id, 0);
    bool constant = false;
    for (const trace::OriginStep& s : results.descendants) constant = constant || constants.contains(s.node.id);
    EXPECT_TRUE(!results.kernels.empty() || !results.removals.empty() || constant) << node.name << " (" << node.target << ") ends nowhere";
    for (const trace::RemovalRecord& r : results.removals) {
      EXPECT_TRUE(reader_->pass(r.pass).has_value()) << node.name;
      EXPECT_FALSE(r.rule.empty() && r.reason.empty()) << node.name;
    }
  }
}

TEST_P(Provenance, EveryKernelLeadsToItsLines) {
  const auto lines = lines_of_archive(model_file(GetParam().first));
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

/// A kernel's own operands: what it computes must come from nodes that the archive connects to its inputs and outputs, not from anywhere.
TEST_P(Provenance, KernelsOfOneOperatorStayWithIt) {
  for (const auto& [id, node] : captured_) {
    if (node.target != "aten.linear.default" && node.target != "aten.conv2d.default") continue;
    std::set<trace::Id> libraries;
    for (const trace::KernelRecord& k : reader_->results(compile_, id, 0).kernels)
      if (k.kind == trace::KernelKind::Library) libraries.insert(k.id);
    EXPECT_FALSE(libraries.empty()) << node.name << " reaches no library call";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Provenance,
                         ::testing::Values(std::pair{"cnn_fmnist", "strata"}, std::pair{"bert", "strata"}, std::pair{"cnn_fmnist", "unfused"},
                                           std::pair{"bert", "unfused"}, std::pair{"bert_dynamic", "strata"}),
                         [](const auto& info) { return std::string(info.param.first) + "_" + info.param.second; });

}  // namespace
}  // namespace strata::testing
