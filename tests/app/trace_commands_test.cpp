// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The commands that read a trace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/ir/text.h"
#include "core/support/json.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Traces of bert, made once: fused and unfused.
class TraceCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    for (const char* backend : {"strata", "unfused"}) {
      const Finished f = strata({"run", model_file("bert"), "--backend", backend, "--repeat", "3", "--trace",
                                 folder_->file(std::string(backend) + ".strata")});
      ASSERT_EQ(f.code, 0) << f.err;
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string fused() { return folder_->file("strata.strata"); }
  static std::string unfused() { return folder_->file("unfused.strata"); }
  static std::string ok(const std::vector<std::string>& words) {
    const Finished f = strata(words);
    EXPECT_EQ(f.code, 0) << f.err;
    return f.out;
  }
  static std::vector<std::string> stages() {
    std::vector<std::string> names;
    const Json list = parse_json(ok({"stages", fused(), "--json"}), "stages");
    for (const Json& s : list.array()) names.push_back(s.at("stage").string());
    return names;
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* TraceCommands::folder_ = nullptr;

TEST_F(TraceCommands, WhyTwoAreNotOneKernel) {
  const auto names = [](const std::string& target) {
    const Json nodes =
        parse_json(ok({"query", fused(), "target=" + target, "--stage", "scheduled", "--json"}), "nodes");
    std::vector<std::string> found;
    for (const Json& n : nodes.array()) found.push_back(n.at("name").string());
    return found;
  };
  const std::string embedding = names("aten.embedding.default").at(0), sum = names("aten.add.Tensor").at(0);
  const std::string product = names("aten.addmm.default").at(0);
  // The embeddings' kernel ends with what the first product reads.
  EXPECT_THAT(ok({"explain", fused(), "--pair", embedding, product}),
              AllOf(HasSubstr("two kernels\n"), HasSubstr("not fused: "), HasSubstr("a library call")));
  EXPECT_THAT(ok({"explain", fused(), "--pair", embedding, sum}),
              AllOf(HasSubstr("one kernel computes both\n"), HasSubstr(embedding + " to " + sum + ": fused: ")));
  const Finished wrong = strata({"explain", fused(), "--pair", embedding, "no_such_node"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("stage 'scheduled' has no node or kernel 'no_such_node'"));
}

TEST_F(TraceCommands, Lists) {
  EXPECT_THAT(ok({"graphs", fused()}), AllOf(HasSubstr("0/0"), HasSubstr("bert"), HasSubstr("ok")));
  EXPECT_THAT(stages(), ::testing::IsSupersetOf({"source", "captured", "functional", "decomposed", "scheduled", "loops",
                                                 "code", "plan", "runs"}));
  const Json passes = parse_json(ok({"passes", fused(), "--json"}), "passes");
  std::vector<int64_t> ordinals;
  for (const Json& p : passes.array()) ordinals.push_back(p.at("ordinal").integer());
  for (size_t i = 0; i < ordinals.size(); ++i) EXPECT_EQ(ordinals[i], static_cast<int64_t>(i));
  EXPECT_THAT(ok({"passes", fused()}), AllOf(HasSubstr("functionalize"), HasSubstr("schedule")));
  EXPECT_THAT(ok({"backends"}), AllOf(HasSubstr("strata"), HasSubstr("unfused"), HasSubstr("interpret")));
}

TEST_F(TraceCommands, DefaultsAreSaid) {
  const Finished f = strata({"show", fused()});
  EXPECT_EQ(f.code, 0);
  EXPECT_THAT(f.err, AllOf(HasSubstr("graph 0/0"), HasSubstr("stage captured")));
  EXPECT_THAT(strata({"show", fused(), "--stage", "simplified"}).err, HasSubstr("simplified:"));
}

TEST_F(TraceCommands, TextOfEveryStageIsReadAndPrintedAgain) {
  for (const std::string& stage : stages()) {
    const std::string text = ok({"show", fused(), "--graph", "0/0", "--stage", stage});
    EXPECT_GT(text.size(), 50u) << stage;
    if (!text.starts_with("strata graph")) continue;
    // What follows the graph are comments: the kernels of the stage that has some.
    const auto graph_of = [](const std::string& shown) { return shown.substr(0, shown.find("# kernel ")); };
    EXPECT_EQ(graph_of(text) != text, stage == "scheduled") << stage;
    EXPECT_EQ(print_text(parse_text(std::make_shared<ShapeEnv>(), text)), graph_of(text)) << stage;
    const std::string fx = ok({"show", fused(), "--graph", "0/0", "--stage", stage, "--style", "fx"});
    EXPECT_THAT(fx, AllOf(StartsWith("class GraphModule(torch.nn.Module):"), HasSubstr("# File: "),
                          HasSubstr("torch.ops.aten.")))
        << stage;
    EXPECT_EQ(print_fx(parse_fx(fx)), fx) << stage;
  }
}

TEST_F(TraceCommands, KernelsStandBelowTheStageThatHasThem) {
  const std::string text = ok({"show", fused(), "--graph", "0/0", "--stage", "scheduled"});
  const Json profile = parse_json(ok({"profile", fused(), "--json"}), "profile");
  for (const Json& row : profile.at("rows").array())
    EXPECT_THAT(text, HasSubstr("\n# kernel " + row.at("name").string())) << text;
  EXPECT_THAT(text, ContainsRegex("\n# kernel addmm_gelu[^\n]*matmul[^\n]*%gelu"));
}

TEST_F(TraceCommands, ShowNodeLeadsBothWays) {
  const std::string text = ok({"show", fused(), "--graph", "0/0", "--stage", "captured", "--node", "linear_4"});
  EXPECT_THAT(text, AllOf(HasSubstr("aten.linear.default"), HasSubstr("modeling_bert.py"),
                          HasSubstr("model.encoder.layer.0.intermediate"), HasSubstr("kernel addmm")));
}

TEST_F(TraceCommands, ShowKernelPrintsItsCode) {
  const Json profile = parse_json(ok({"profile", fused(), "--json"}), "profile");
  std::string loop;
  for (const Json& row : profile.at("rows").array())
    if (row.at("kind").string() == "loop") loop = row.at("name").string();
  ASSERT_NE(loop, "");
  EXPECT_THAT(ok({"show", fused(), "--graph", "0/0", "--kernel", loop}),
              AllOf(HasSubstr("# cpp"), HasSubstr("# llvm-ir"), HasSubstr("# asm"), HasSubstr("define ")));
}

TEST_F(TraceCommands, ProfilesAddUp) {
  double totals[4];
  int i = 0;
  for (const char* by : {"kernel", "op", "module", "line"}) {
    const Json p = parse_json(ok({"profile", fused(), "--by", by, "--json"}), "profile");
    double sum = 0, shares = 0;
    for (const Json& row : p.at("rows").array()) {
      sum += row.at("total_ns").number();
      shares += row.at("share").number();
    }
    EXPECT_NEAR(sum, p.at("total_ns").number(), 1e-6 * sum) << by;
    EXPECT_NEAR(shares, 1, 1e-6) << by;
    totals[i++] = sum;
    EXPECT_GT(p.at("rows").array().size(), 5u) << by;
  }
  for (double t : totals) EXPECT_NEAR(t, totals[0], 1e-6 * totals[0]);
  EXPECT_THAT(ok({"profile", fused(), "--by", "op"}), HasSubstr("aten.linear.default"));
  EXPECT_THAT(ok({"profile", fused(), "--by", "line"}), HasSubstr("modeling_bert.py:"));
}

TEST_F(TraceCommands, DiffAddsUpAndCountsLaunches) {
  const Json d = parse_json(ok({"diff", unfused(), fused(), "--json"}), "diff");
  for (const char* side : {"first", "second"}) {
    double time = 0, bytes = 0;
    int64_t launches = 0;
    for (const Json& c : d.at("changes").array()) {
      time += c.at(side).at("time_ns").number();
      bytes += c.at(side).at("bytes").number();
      launches += c.at(side).at("launches").integer();
    }
    EXPECT_NEAR(time, d.at(side).at("time_ns").number(), 1);
    EXPECT_NEAR(bytes, d.at(side).at("bytes").number(), 1);
    EXPECT_EQ(launches, d.at(side).at("launches").integer());
    // What the plans themselves say.
    const Json plan =
        parse_json(ok({"profile", side == std::string("first") ? unfused() : fused(), "--json"}), "profile");
    EXPECT_EQ(launches, plan.at("launches").integer());
  }
  EXPECT_GT(d.at("first").at("launches").integer(), d.at("second").at("launches").integer());
  EXPECT_GT(d.at("first").at("bytes").number(), d.at("second").at("bytes").number());
  // linear and the gelu behind it became one kernel.
  bool found = false;
  for (const Json& c : d.at("changes").array()) {
    std::vector<std::string> operators;
    for (const Json& o : c.at("operators").array()) operators.push_back(o.string());
    if (operators != std::vector<std::string>{"linear_4", "gelu"}) continue;
    found = true;
    EXPECT_EQ(c.at("first").at("launches").integer(), 2);
    EXPECT_EQ(c.at("second").at("launches").integer(), 1);
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(ok({"diff", unfused(), fused()}), AllOf(HasSubstr("launches saved"), HasSubstr("times as fast")));
}

TEST_F(TraceCommands, DiffFailsWhenSlower) {
  // However the two compare, one direction is allowed everything and the other nothing.
  EXPECT_EQ(strata({"diff", unfused(), fused(), "--fail-slower", "1000000"}).code, 0);
  const Finished f = strata({"diff", fused(), unfused(), "--fail-slower", "-99.9999"});
  EXPECT_EQ(f.code, 1);
  EXPECT_THAT(f.err, HasSubstr("slower by"));
}

TEST_F(TraceCommands, DiffOfGraphs) {
  EXPECT_THAT(ok({"diff", fused() + "@0/0@captured", fused() + "@0/0@captured"}),
              HasSubstr("0 removed, 0 changed, 0 added"));
  EXPECT_THAT(ok({"diff", fused() + "@0/0@captured", unfused() + "@0/0@captured"}),
              HasSubstr("0 removed, 0 changed, 0 added"));
  EXPECT_THAT(ok({"diff", fused() + "@0/0@captured", fused() + "@0/0@decomposed"}),
              AllOf(HasSubstr("- layer_norm"), HasSubstr("+ ")));
}

TEST_F(TraceCommands, Exports) {
  const auto content = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"export", fused(), "--graph", "0/0", "-o", folder_->file(name)};
    words.insert(words.end(), more.begin(), more.end());
    ok(words);
    return read_text(folder_->file(name));
  };
  EXPECT_THAT(content("a.svg", {"--stage", "scheduled", "--format", "svg"}),
              AllOf(HasSubstr("<svg"), HasSubstr("</svg>")));
  EXPECT_THAT(content("a.dot", {"--stage", "captured", "--format", "dot"}), HasSubstr("digraph"));
  EXPECT_THAT(content("a.png", {"--stage", "captured", "--format", "png"}).substr(1, 3), "PNG");
  EXPECT_THAT(content("a.pdf", {"--stage", "captured"}), StartsWith("%PDF"));
  const Json graph = parse_json(content("a.json", {"--stage", "scheduled", "--format", "json"}), "a.json");
  EXPECT_GT(graph.at("nodes").array().size(), 100u);
  EXPECT_GT(graph.at("kernels").array().size(), 10u);
  const Json chrome = parse_json(content("c.json", {"--format", "chrome"}), "c.json");
  std::map<std::string, size_t> events;
  for (const Json& e : chrome.at("traceEvents").array()) {
    EXPECT_GE(e.at("ts").number(), 0);
    ++events[e.at("cat").string()];
  }
  // Three runs that launch every kernel once, and how the program was compiled.
  EXPECT_EQ(events["run"], 3u);
  EXPECT_EQ(events["cpu_op"], 3 * graph.at("kernels").array().size());
  EXPECT_EQ(events["compile"], 1u);
  const Json passes = parse_json(ok({"passes", fused(), "--json"}), "passes");
  size_t timed = 0;
  for (const Json& pass : passes.array()) timed += pass.at("duration_ns").integer() >= 0;
  EXPECT_GT(timed, 5u);
  EXPECT_EQ(events["pass"], timed);
}

TEST_F(TraceCommands, Query) {
  const Json found = parse_json(
      ok({"query", fused(), "target=aten.gelu*", "--graph", "0/0", "--stage", "captured", "--json"}), "query");
  EXPECT_EQ(found.array().size(), 4u);
  EXPECT_EQ(
      parse_json(ok({"query", fused(), "target=aten.gelu*", "module!=*layer.0*", "--stage", "captured", "--json"}),
                 "query")
          .array()
          .size(),
      3u);
}

TEST(Compile, WritesATraceWithoutRuns) {
  TemporaryFolder folder;
  const Finished f = strata({"compile", model_file("cnn_fmnist"), "-o", folder.file("c.strata"), "--json"});
  ASSERT_EQ(f.code, 0) << f.err;
  EXPECT_EQ(parse_json(f.out, "stdout").at("trace").string(), folder.file("c.strata"));
  EXPECT_THAT(strata({"profile", folder.file("c.strata")}).err, HasSubstr("no timed launches"));
  EXPECT_EQ(strata({"profile", folder.file("c.strata")}).code, 2);
  EXPECT_THAT(strata({"stages", folder.file("c.strata")}).out, ::testing::Not(HasSubstr("runs")));
}

}  // namespace
}  // namespace strata::testing
