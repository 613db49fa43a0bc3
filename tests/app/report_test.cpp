// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The commands on imported traces: graphs, show, query, export.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <utility>

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

/// Words of a line as a shell splits them; quotes hold blanks.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : line + " ") {
    if (quote != 0) {
      c == quote ? quote = 0 : (word += c, 0);
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

/// Every example in the documentation finds something in PyTorch's files.
TEST_F(ImportedTrace, QueriesOfTheDocumentation) {
  const std::string bert = folder_->file("t.strata");
  ASSERT_EQ(import_files({torch_data("logs/bert_provenance.log.gz").string(),
                          torch_data("profiles/bert_compiled.json.gz").string()},
                         bert)
                .run.code,
            0);
  std::istringstream lines(read_text(fs::path(STRATA_TEST_DATA) / "../../docs/cli.md"));
  std::size_t examples = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("    strata query t.strata ")) continue;
    std::vector<std::string> words = shell_words(line);
    words.erase(words.begin());
    words[1] = bert;
    words.push_back("--json");
    const Json found = parse_json(ok(words), line);
    const Json* events = found.find("events");
    EXPECT_FALSE((events ? *events : found).array().empty()) << line;
    ++examples;
  }
  EXPECT_GE(examples, 3u);
}

TEST_F(ImportedTrace, QueriesThatAreWrongSayWhere) {
  const Finished f = strata({"query", cnn_trace(), "category=kernel", "durations>1ms"});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err,
              AllOf(HasSubstr("position 17: events have no key 'durations'"), HasSubstr("did you mean 'duration'")));
  EXPECT_THAT(strata({"query", cnn_trace(), "duration>x"}).err,
              HasSubstr("position 10: 'duration' compares with a number, found 'x'"));
  EXPECT_THAT(strata({"query", cnn_trace(), "name=x adn op=call"}).err,
              AllOf(HasSubstr("position 8: "), HasSubstr("valid: and, or, not")));
  EXPECT_THAT(strata({"query", cnn_trace(), "duration => 3us"}).err,
              AllOf(HasSubstr("position 10: "), HasSubstr("did you mean '>='")));
  EXPECT_THAT(strata({"query", cnn_trace(), "category=kernel duration>1.5mss"}).err,
              HasSubstr("position 29: there is no unit 'mss'; did you mean 'ms'"));
  EXPECT_THAT(strata({"query", cnn_trace(), "name>3"}).err, HasSubstr("it has no order"));
}

TEST_F(ImportedTrace, ChromeTraceHasTheEvents) {
  const std::string file = folder_->file("c.json");
  ok({"export", cnn_trace(), "--format", "chrome", "-o", file});
  const Json chrome = parse_json(read_text(file), file);
  EXPECT_GT(chrome.at("traceEvents").array().size(), 700u);
}

/// Tags that are not closed where they should be, or closed without being open.
std::vector<std::string> unbalanced_tags(const std::string& html) {
  std::vector<std::string> open, wrong;
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
    char quote = 0;
    std::size_t end = at + 1;
    for (; end < html.size() && (quote != 0 || html[end] != '>'); ++end) {
      if (html[end] == '"' || html[end] == '\'') quote = quote == 0 ? html[end] : quote == html[end] ? 0 : quote;
    }
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", tag.starts_with('/') ? 1 : 0));
    at = end;
    if (tag.starts_with('!') || tag.ends_with('/') || name == "meta" || name == "br") continue;
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else if (!open.empty() && "/" + open.back() == name) {
      open.pop_back();
    } else {
      wrong.push_back(name);
    }
  }
  wrong.insert(wrong.end(), open.begin(), open.end());
  return wrong;
}

/// A report that is well-formed, loads nothing and is not large.
std::string sound_report(const std::string& trace, const std::string& file) {
  const Finished f = strata({"export", trace, "--format", "html", "-o", file});
  EXPECT_EQ(f.code, 0) << f.err;
  const std::string html = read_text(file);
  EXPECT_THAT(unbalanced_tags(html), ::testing::IsEmpty());
  // Its own script, that filters tables, is the only one.
  EXPECT_EQ(html.find("<script"), html.rfind("<script>"));
  for (const char* outside : {"src=", "<link", "@import", "url(", "href=\"http", "<iframe", "<object"})
    EXPECT_THAT(html, Not(HasSubstr(outside))) << outside;
  EXPECT_LT(html.size(), std::size_t{5} << 20);
  EXPECT_THAT(html, HasSubstr("</html>"));
  EXPECT_THAT(html, HasSubstr("What to fix first"));
  return html;
}

TEST(Report, TagsAreChecked) {
  EXPECT_THAT(unbalanced_tags("<!DOCTYPE html><p a=\"<x>\"><b>x</b><br></p>"), ::testing::IsEmpty());
  EXPECT_THAT(unbalanced_tags("<p><b>x</p></b>"), Not(::testing::IsEmpty()));
  EXPECT_THAT(unbalanced_tags("<p>"), ::testing::ElementsAre("p"));
}

TEST_F(ImportedTrace, ReportsAreSound) {
  sound_report(cnn_trace(), folder_->file("s.html"));
  sound_report(breaks_trace(), folder_->file("s.html"));
  const std::string program = folder_->file("program.strata"), own = folder_->file("own.strata");
  ok({"import", model_file("bert"), "-o", program});
  sound_report(program, folder_->file("s.html"));
  ok({"compile", model_file("cnn_fmnist"), "-o", own});
  EXPECT_THAT(sound_report(own, folder_->file("s.html")), HasSubstr("<svg"));
  const std::string empty = folder_->file("empty.strata");
  trace::Writer(empty).close();
  EXPECT_THAT(sound_report(empty, folder_->file("s.html")), HasSubstr("Not measured"));
}

/// What does not fit is counted, never dropped in silence.
TEST_F(ImportedTrace, ReportOfAHugeTraceIsCut) {
  const std::string file = folder_->file("huge.strata");
  {
    trace::Writer writer(file);
    trace::SourceFileRecord source;
    source.path = "huge.py";
    source.excerpt = true;
    for (int i = 1; i <= 20000; ++i) source.lines.push_back({i, "x = " + std::string(100, 'y')});
    writer.add(source);
    for (int i = 0; i < 3000; ++i) {
      trace::CompileRecord c;
      c.frame_number = i;
      c.address = std::to_string(i) + "/0";
      c.id = writer.add(c);
      trace::SnapshotRecord s;
      s.compile = c.id;
      s.stage = "captured";
      std::vector<trace::NodeRecord> nodes(i % 400 + 1);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        nodes[n].id = static_cast<trace::NodeId>(n + 1);
        nodes[n].name = "node_" + std::to_string(n);
        nodes[n].op = "call";
        nodes[n].target = "aten.relu.default";
        if (n > 0) nodes[n].inputs = {{static_cast<trace::NodeId>(n)}};
      }
      writer.add(s, nodes);
    }
    writer.close();
  }
  EXPECT_THAT(sound_report(file, folder_->file("s.html")),
              AllOf(HasSubstr("<svg"), HasSubstr("2500 more compile attempts"), HasSubstr("15000 more lines"),
                    HasSubstr("not drawn here")));
}

std::size_t scripts_in(const std::string& html) {
  std::size_t count = 0;
  for (std::size_t at = html.find("<script"); at != std::string::npos; at = html.find("<script", at + 1)) ++count;
  return count;
}

TEST_F(ImportedTrace, ReportIsOneFile) {
  const std::string file = folder_->file("r.html");
  ok({"export", breaks_trace(), "--format", "html", "-o", file});
  const std::string html = read_text(file);
  EXPECT_THAT(
      html, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Data-dependent branching"), HasSubstr("<svg"),
                  HasSubstr("prefers-color-scheme: dark"), HasSubstr("What to fix first"), HasSubstr("cases.py:235")));
  EXPECT_EQ(scripts_in(html), 1u);  // its own, which the policy in the head names by its hash
  EXPECT_THAT(html, HasSubstr("script-src 'sha256-"));
  for (const char* outside : {"<script src", "src=\"", "<link", "@import", "url(", "href=\"http"})
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
  EXPECT_EQ(scripts_in(read_text(html)), 1u);
  EXPECT_THAT(read_text(html),
              AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("\"><b>")), HasSubstr("a &amp; b &lt; c")));
}

}  // namespace
}  // namespace strata::testing
