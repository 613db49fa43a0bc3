// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata import` of exported programs: the captured graph, nothing compiled.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/pt2.h"
#include "core/trace/reader.h"
#include "tests/app/import_testing.h"
#include "tests/capture/zip_writer.h"

namespace strata::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> addresses(const std::string& trace) {
  trace::Reader reader(trace);
  std::vector<std::string> all;
  for (const trace::CompileRecord& c : reader.compiles()) all.push_back(c.address);
  return all;
}

class ImportOfPrograms : public ::testing::Test {
 protected:
  std::string out() const { return folder_.file("out.strata"); }
  std::string archive(const std::vector<std::string>& members) {
    ZipWriter zip;
    for (const std::string& name : members) zip.add(name, "x");
    write_text(folder_.path() / "model.pt2", zip.finish());
    return folder_.file("model.pt2");
  }
  TemporaryFolder folder_;
};

TEST_F(ImportOfPrograms, TheGraphIsTheStageCaptured) {
  for (const char* name : {"cnn_fmnist", "bert_dynamic"}) {
    const Imported i = import_files({model_file(name)}, out());
    ASSERT_EQ(i.run.code, 0) << i.run.err;
    EXPECT_EQ(i.json.at("inputs").array().at(0).at("kind").string(), "program");
    EXPECT_THAT(i.json.at("inputs").array().at(0).at("producer").string(), HasSubstr("torch 2."));
    const Program program = load_pt2(model_file(name));
    trace::Reader reader(out());
    ASSERT_EQ(reader.compiles().size(), 1u);
    const auto snapshots = reader.snapshots(reader.find_compile("0/0").id);
    ASSERT_EQ(snapshots.size(), 1u);
    EXPECT_EQ(snapshots[0].stage, "captured");
    const auto nodes = reader.nodes(snapshots[0].id);
    ASSERT_EQ(nodes.size(), program.graph.size());
    auto record = nodes.begin();
    for (const auto& node : program.graph.nodes()) {
      EXPECT_EQ(record->name, node->name);
      EXPECT_EQ(record->target, node->target);
      EXPECT_EQ(record->type, to_string(node->type));
      ++record;
    }
    EXPECT_EQ(reader.symbols(reader.compiles()[0].id).empty(), std::string(name) == "cnn_fmnist");
  }
}

/// A compile makes the same graph its first stage.
TEST_F(ImportOfPrograms, AsACompileRecordsIt) {
  ASSERT_EQ(import_files({model_file("cnn_fmnist")}, out()).run.code, 0);
  ASSERT_EQ(strata({"compile", model_file("cnn_fmnist"), "-o", folder_.file("own.strata")}).code, 0);
  const auto text = [](const std::string& trace) {
    return strata({"show", trace, "--graph", "0/0", "--stage", "captured"}).out;
  };
  EXPECT_EQ(text(out()), text(folder_.file("own.strata")));
  EXPECT_THAT(text(out()), HasSubstr("aten.conv2d.default"));
}

TEST_F(ImportOfPrograms, TogetherWithLogsAndProfiles) {
  const Imported i =
      import_files({torch_data("profiles/cnn_fmnist_compiled.json.gz").string(), model_file("cnn_fmnist"),
                    model_file("cnn_fmnist_dynamic"), torch_data("logs/cnn_fmnist_provenance.log.gz").string()},
                   out());
  ASSERT_EQ(i.run.code, 0) << i.run.err;
  EXPECT_THAT(addresses(out()), ElementsAre("0/0", "1/0", "2/0"));
  EXPECT_GT(i.json.at("matched_share").number(), 0.9) << "programs do not stand in the way of matching";
  for (const char* command : {"graphs", "explain", "profile"}) EXPECT_EQ(strata({command, out()}).code, 0) << command;
  EXPECT_THAT(strata({"query", out(), "target=aten.conv2d*", "--graph", "1/0"}).out, HasSubstr("conv2d"));
}

TEST_F(ImportOfPrograms, Redacted) {
  ASSERT_EQ(strata({"import", model_file("cnn_fmnist"), "--redact", "-o", out()}).code, 0);
  const std::string text = strata({"show", out()}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("aten.conv2d.default"), HasSubstr("f32[32, 1, 3, 3]")));
  EXPECT_EQ(text.find("layer1"), std::string::npos);
}

TEST_F(ImportOfPrograms, WhatIsNoProgramIsRefused) {
  const auto refused = [&](const std::vector<std::string>& members, const std::string& words) {
    const Finished f = strata({"import", archive(members), "-o", out()});
    EXPECT_EQ(f.code, 2);
    EXPECT_THAT(f.err, AllOf(HasSubstr("nothing could be imported"), HasSubstr(words)));
    EXPECT_THAT(folder_.names(), ElementsAre("model.pt2"));
  };
  refused({"m/data/aotinductor/model/x.so", "m/archive_format"}, "an AOTInductor package: compiled code");
  refused({"serialized_exported_program.json"}, "export it again");
  refused({"m/models/model.json"}, "model.pt2");
  refused({"word/document.xml"}, "a zip archive without a trace");
}

}  // namespace
}  // namespace strata::testing
