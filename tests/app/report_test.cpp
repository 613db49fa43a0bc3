// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The commands on imported traces: graphs, show, query, export.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/writer.h"
#include "tests/app/import_testing.h"

namespace strata::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ImportedTrace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const Imported cnn = import_files({torch_data("logs/cnn_fmnist_provenance.log.gz").string(),
                                       torch_data("profiles/cnn_fmnist_compiled.json.gz").string()},
                                      cnn_trace());
    ASSERT_EQ(cnn.run.code, 0) << cnn.run.err;
    matched_ = cnn.json.at("matched_share").number();
    ASSERT_EQ(import_files({torch_data("logs/breaks_many.log.gz").string()}, breaks_trace()).run.code, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string cnn_trace() { return folder_->file("cnn.strata"); }
  static std::string breaks_trace() { return folder_->file("breaks.strata"); }
  static std::string ok(const std::vector<std::string>& words) {
    const Finished f = strata(words);
    EXPECT_EQ(f.code, 0) << f.err;
    return f.out;
  }
  static Json query(const std::string& trace, const std::string& expression) {
    return parse_json(ok({"query", trace, expression, "--json"}), "query");
  }
  static TemporaryFolder* folder_;
  static double matched_;
};
TemporaryFolder* ImportedTrace::folder_ = nullptr;
double ImportedTrace::matched_ = 0;

TEST_F(ImportedTrace, KernelTimeIsMatched) { EXPECT_GT(matched_, 0.99); }

TEST_F(ImportedTrace, GraphsAreATreeOfFrames) {
  const std::string text = ok({"graphs", breaks_trace()});
  EXPECT_THAT(text, AllOf(HasSubstr("frame 0"), HasSubstr("  0/0 "), HasSubstr("  1/0_1"), HasSubstr("restarted"),
                          HasSubstr("recompiled: "), HasSubstr("cases.py:235: Data-dependent branching")));
}

TEST_F(ImportedTrace, GraphsPrintAsPyTorchPrintsThem) {
  EXPECT_THAT(ok({"show", cnn_trace(), "--graph", "0/0", "--stage", "captured", "--style", "fx"}),
              AllOf(HasSubstr("class GraphModule"), HasSubstr("def forward(self")));
  EXPECT_THAT(ok({"show", cnn_trace(), "--graph", "0/0", "--stage", "code:forward"}), HasSubstr("def call("));
}

TEST_F(ImportedTrace, NodeLeadsToItsLineAndItsKernel) {
  const Json found = query(cnn_trace(), "target=aten.relu* stage=joint");
  ASSERT_EQ(found.array().size(), 2u);
  EXPECT_GT(found.array()[0].at("time_ns").number(), 0);
  const std::string text =
      ok({"show", cnn_trace(), "--graph", "0/0", "--stage", "joint", "--node", found.array()[0].at("name").string()});
  EXPECT_THAT(text, AllOf(HasSubstr("kernel triton_"), HasSubstr("runs of it"), HasSubstr("cases.py:")));
}

TEST_F(ImportedTrace, SourceShowsBreaksAndGuards) {
  EXPECT_THAT(ok({"show", breaks_trace(), "--graph", "0/0", "--stage", "source"}),
              AllOf(HasSubstr("^ graph break (graph 0/0): Data-dependent branching"), HasSubstr("^ guard TENSOR_MATCH"),
                    HasSubstr("torch._dynamo.graph_break()")));
}

TEST_F(ImportedTrace, EventsByCategoryTimeKernelAndNode) {
  const std::int64_t all = query(cnn_trace(), "category=kernel").at("count").integer();
  EXPECT_EQ(all, 112);
  const std::int64_t slow = query(cnn_trace(), "category=kernel duration>3us").at("count").integer();
  const std::int64_t fast = query(cnn_trace(), "category=kernel duration<=3us").at("count").integer();
  EXPECT_EQ(slow + fast, all);
  EXPECT_GT(slow, 0);
  EXPECT_GT(fast, 0);
  const std::int64_t of_relu = query(cnn_trace(), "category=kernel target=aten.relu*").at("count").integer();
  EXPECT_GT(of_relu, 0);
  EXPECT_LT(of_relu, all);
  EXPECT_EQ(query(cnn_trace(), "category=kernel not target=aten.relu*").at("count").integer(), all - of_relu);
  EXPECT_EQ(query(cnn_trace(), "category=kernel kernel=triton_*").at("count").integer() +
                query(cnn_trace(), "category=kernel kernel!=triton_*").at("count").integer(),
            all);
  const Json line = query(cnn_trace(), "category=kernel line=cases.py:70");
  EXPECT_GT(line.at("count").integer(), 0);
}

TEST_F(ImportedTrace, QueriesThatAreWrongSayWhere) {
  const Finished f = strata({"query", cnn_trace(), "category=kernel", "durations>1ms"});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err,
              AllOf(HasSubstr("position 17: events have no key 'durations'"), HasSubstr("did you mean 'duration'")));
  EXPECT_THAT(strata({"query", cnn_trace(), "duration>x"}).err, HasSubstr("compares with a number, found 'x'"));
  EXPECT_THAT(strata({"query", cnn_trace(), "name>3"}).err, HasSubstr("it has no order"));
}

TEST_F(ImportedTrace, ChromeTraceHasTheEvents) {
  const std::string file = folder_->file("c.json");
  ok({"export", cnn_trace(), "--format", "chrome", "-o", file});
  const Json chrome = parse_json(read_text(file), file);
  EXPECT_GT(chrome.at("traceEvents").array().size(), 700u);
}

TEST_F(ImportedTrace, ReportIsOneFile) {
  const std::string file = folder_->file("r.html");
  ok({"export", breaks_trace(), "--format", "html", "-o", file});
  const std::string html = read_text(file);
  EXPECT_THAT(
      html, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Data-dependent branching"), HasSubstr("<svg"),
                  HasSubstr("prefers-color-scheme: dark"), HasSubstr("What to fix first"), HasSubstr("cases.py:235")));
  for (const char* outside : {"<script", "src=\"", "<link", "@import", "url(", "href=\"http"})
    EXPECT_THAT(html, Not(HasSubstr(outside))) << outside;
}

TEST_F(ImportedTrace, ReportEscapesWhatItShows) {
  const std::string file = folder_->file("x.strata"), html = folder_->file("x.html");
  {
    trace::Writer writer(file);
    trace::CompileRecord c;
    c.address = "0/0";
    c.name = "<script>alert(1)</script>";
    c.outcome = "\"><b>";
    c.error = "a & b < c";
    writer.add(c);
    trace::DiagnosticRecord d;
    d.severity = trace::DiagnosticRecord::Severity::Warning;
    d.title = "</td><script>";
    writer.add(d);
    writer.close();
  }
  ok({"export", file, "--format", "html", "-o", html});
  EXPECT_THAT(read_text(html),
              AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\"><b>")), HasSubstr("a &amp; b &lt; c")));
}

}  // namespace
}  // namespace strata::testing
