// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/torch_text/log_prefix.h"
#include "capture/torch_text/torch_logs.h"
#include "capture/torch_trace/torch_trace.h"
#include "core/trace/reader.h"
#include "tests/capture/torch_text_testing.h"

namespace strata::capture {
namespace {

using namespace strata::testing;

/// A trace made of logs, in a file that is removed at the end.
class Imported {
 public:
  Imported() {
    path_ = std::filesystem::temp_directory_path() /
            ("strata-text-" + std::to_string(getpid()) + "-" + std::to_string(next_++) + ".strata");
    writer_ = std::make_unique<trace::Writer>(path_);
    context = std::make_unique<ImportContext>(*writer_);
  }
  ~Imported() {
    reader_.reset();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  trace::Reader& reader() {
    if (!reader_) {
      context->finish();
      writer_->close();
      reader_ = std::make_unique<trace::Reader>(path_);
    }
    return *reader_;
  }

  std::map<std::string, trace::CompileRecord> compiles() {
    std::map<std::string, trace::CompileRecord> all;
    for (trace::CompileRecord& c : reader().compiles()) all[c.address] = std::move(c);
    return all;
  }

  std::size_t guards() {
    std::size_t n = 0;
    for (const trace::CompileRecord& c : reader().compiles()) n += reader().guards(c.id).size();
    return n;
  }

  std::vector<trace::DiagnosticRecord> diagnostics(const std::string& kind) {
    std::vector<trace::DiagnosticRecord> found;
    for (trace::DiagnosticRecord& d : reader().diagnostics())
      if (d.kind == kind) found.push_back(std::move(d));
    return found;
  }

  std::unique_ptr<ImportContext> context;

 private:
  static inline int next_ = 0;
  std::filesystem::path path_;
  std::unique_ptr<trace::Writer> writer_;
  std::unique_ptr<trace::Reader> reader_;
};

std::filesystem::path text_file(const std::string& name) { return torch_data("text/" + name); }

TEST(TorchLogs, BreaksRecompilesAndGuardsAsCountedByPattern) {
  for (const std::string name : {"torch_logs_train.txt.gz", "torch_logs_shapes.txt.gz"}) {
    Imported trace;
    import_torch_logs(*trace.context, text_file(name));
    const std::string text = slurp(text_file(name));
    const std::size_t breaks = count_lines(text, R"(\[__graph_breaks\] Graph break ([(].*[)] )?in user code at)");
    const std::size_t reasons = count_lines(text, R"(\[__recompiles\]     - [0-9]+/[0-9]+: )");
    const std::size_t leaves = count_lines(text, R"(\[__guards\] ([|] )*[+]- [A-Z_]+(:|$))");
    EXPECT_GT(breaks, 0u);
    EXPECT_GT(reasons, 0u);
    EXPECT_EQ(trace.reader().graph_breaks().size(), breaks) << name;
    EXPECT_EQ(trace.reader().recompiles().size(), reasons) << name;
    EXPECT_EQ(trace.guards(), leaves) << name;
  }
}

TEST(TorchLogs, TheSameRunAsRecordsSaysNothingTwice) {
  Imported records;
  import_torch_trace(*records.context, text_file("torch_trace_train.log.gz"));
  Imported both;
  import_torch_trace(*both.context, text_file("torch_trace_train.log.gz"));
  const TorchLogsSummary summary = import_torch_logs(*both.context, text_file("torch_logs_train.txt.gz"));
  EXPECT_GT(summary.messages, 100);
  EXPECT_GT(both.context->counted(summary.input, "log:known"), 60);
  EXPECT_EQ(both.reader().graph_breaks().size(), records.reader().graph_breaks().size());
  EXPECT_EQ(both.reader().recompiles().size(), records.reader().recompiles().size());
  EXPECT_EQ(both.reader().compiles().size(), records.reader().compiles().size());
  EXPECT_EQ(both.reader().frames().size(), records.reader().frames().size());
  EXPECT_EQ(both.reader().processes().size(), records.reader().processes().size());
  EXPECT_EQ(both.guards(), records.guards());
  // what the records lack
  EXPECT_EQ(records.diagnostics("recompile-limit").size(), 0u);
  EXPECT_EQ(both.diagnostics("recompile-limit").size(), 1u);
}

TEST(TorchLogs, CompilesWithAttemptsAndOutcomes) {
  Imported trace;
  import_torch_logs(*trace.context, text_file("torch_logs_train.txt.gz"));
  auto compiles = trace.compiles();
  EXPECT_EQ(compiles.size(), 24u);
  EXPECT_EQ(compiles.at("0/0").outcome, "ok");
  EXPECT_EQ(compiles.at("0/0").name, "f");
  EXPECT_EQ(compiles.at("0/8").outcome, "skipped");
  EXPECT_EQ(compiles.at("2/0").outcome, "restarted");
  EXPECT_EQ(compiles.at("2/0_1").outcome, "ok");
  EXPECT_EQ(compiles.at("2/0_1").attempt, 1);
  EXPECT_EQ(compiles.at("0/1").cause, "n == 2");
  std::map<trace::Id, trace::FrameRecord> frames;
  for (const trace::FrameRecord& f : trace.reader().frames()) frames[f.id] = f;
  EXPECT_EQ(frames.at(compiles.at("7/1").frame).name, "h");
  EXPECT_EQ(frames.at(compiles.at("7/1").frame).line, 31);
  EXPECT_EQ(frames.at(compiles.at("5/1").frame).name, "torch_dynamo_resume_in_g_at_25");
}

TEST(TorchLogs, RecompilesWithGuardValueAndLine) {
  Imported trace;
  import_torch_logs(*trace.context, text_file("torch_logs_train.txt.gz"));
  auto compiles = trace.compiles();
  std::map<trace::Id, trace::GuardRecord> guards;
  for (const auto& [address, c] : compiles)
    for (const trace::GuardRecord& g : trace.reader().guards(c.id)) guards[g.id] = g;
  std::map<std::pair<trace::Id, trace::Id>, trace::RecompileRecord> recompiles;
  for (const trace::RecompileRecord& r : trace.reader().recompiles()) recompiles[{r.compile, r.of}] = r;
  const auto& first = recompiles.at({compiles.at("0/1").id, compiles.at("0/0").id});
  EXPECT_EQ(first.expected, "2");
  EXPECT_EQ(first.actual, "3");
  EXPECT_EQ(guards.at(first.guard).expression, "L['n'] == 2");
  EXPECT_EQ(trace.reader().stack(first.stack).back().line, 14);
  EXPECT_EQ(trace.reader().stack(first.stack).back().file, "/home/user/app/train.py");
  const auto& size = recompiles.at({compiles.at("7/2").id, compiles.at("7/1").id});
  EXPECT_EQ(size.actual, "1");
  EXPECT_EQ(trace.reader().stack(size.stack).back().line, 32);
  for (const auto& [key, r] : recompiles) EXPECT_NE(r.guard, trace::kNone) << r.reason;
}

TEST(TorchLogs, SymbolsAndWhatFixedThem) {
  Imported trace;
  import_torch_logs(*trace.context, text_file("torch_logs_shapes.txt.gz"));
  auto compiles = trace.compiles();
  const auto symbols = trace.reader().symbols(compiles.at("0/1").id);
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].name, "s77");
  EXPECT_EQ(symbols[0].origin, "L['x'].size()[0]");
  EXPECT_EQ(symbols[0].hint, 8);
  EXPECT_EQ(symbols[0].min, 2);
  EXPECT_EQ(symbols[0].max, std::nullopt);
  EXPECT_EQ(trace.reader().stack(symbols[0].stack).back().line, 5);
  std::map<std::string, trace::AssumptionRecord> assumptions;
  for (auto& a : trace.reader().assumptions(compiles.at("1/0").id)) assumptions[a.expression] = a;
  EXPECT_EQ(assumptions.at("Eq(s77, 21)").kind, "specialized");
  EXPECT_EQ(assumptions.at("Eq(s77, 21)").reason, "range_refined_to_singleton");
  EXPECT_EQ(trace.reader().stack(assumptions.at("Eq(s77, 21)").stack).back().line, 13);
  const auto errors = trace.diagnostics("error");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].title.find("ConstraintViolationError"), std::string::npos);
  EXPECT_EQ(trace.reader().stack(errors[0].stack).back().line, 42);
  EXPECT_EQ(trace.diagnostics("perf-hint").size(), 7u);
  EXPECT_EQ(compiles.at("7/0").outcome, "failed");
}

TEST(TorchLogs, WarningsThatShowWithoutTorchLogs) {
  Imported breaks;
  import_torch_logs(*breaks.context, text_file("breaks_many.txt"));
  ASSERT_EQ(breaks.reader().graph_breaks().size(), 1u);
  const trace::GraphBreakRecord b = breaks.reader().graph_breaks()[0];
  EXPECT_EQ(breaks.reader().stack(b.stack).back().line, 239);
  EXPECT_EQ(breaks.compiles().count("3/0"), 1u);
  Imported limit;
  import_torch_logs(*limit.context, text_file("recompiles.txt"));
  ASSERT_EQ(limit.diagnostics("recompile-limit").size(), 1u);
  EXPECT_EQ(limit.compiles().at("0/8").name, "f");
  Imported error;
  import_torch_logs(*error.context, text_file("backend_error.txt"));
  ASSERT_EQ(error.diagnostics("error").size(), 1u);
  EXPECT_EQ(error.diagnostics("error")[0].title,
            "RuntimeError: a and b must have same reduction dim, but got [3, 4] X [3, 4].");
  Imported nothing;
  const TorchLogsSummary summary = import_torch_logs(*nothing.context, text_file("dynamic_shapes.txt"));
  EXPECT_EQ(summary.messages, 0);
  EXPECT_EQ(nothing.context->counted(summary.input, "problem.no_messages"), 1);
}

const char kMixed[] =
    "epoch 1\r\n"
    "[rank0]:V0705 10:00:00.000000 11 torch/_dynamo/guards.py:1] [0/1] [__recompiles] Recompiling function f in "
    "/a/m.py:3\r\n"
    "[rank1]:V0705 10:00:00.000000 12 torch/_dynamo/guards.py:1] [0/1] [__recompiles] Recompiling function f in "
    "/a/m.py:3\r\n"
    "[rank0]:V0705 10:00:00.000000 11 torch/_dynamo/guards.py:1] [0/1] [__recompiles]     triggered by the following "
    "guard failure(s):\r\n"
    "loss 0.5\r\n"
    "[rank1]:V0705 10:00:00.000000 12 torch/_dynamo/guards.py:1] [0/1] [__recompiles]     - 0/0: L['n'] == 4\r\n"
    "[rank0]:V0705 10:00:00.000000 11 torch/_dynamo/guards.py:1] [0/1] [__recompiles]     - 0/0: L['n'] == 2\r\n"
    "[rank0]:W0705 10:00:01.000000 11 torch/_inductor/utils.py:9] [0/1] skipping cudagraphs due to cpu device (x)\r\n"
    "[rank1]:V0705 10:00:01.000000 12 torch/_dynamo/x.py:9] [0/1] [__bytecode] MODIFIED BYTECODE\r\n"
    "[rank1]: Traceback (most recent call last):\r\n"
    "[rank1]:   File \"/a/m.py\", line 9, in <module>\r\n"
    "[rank1]:     main()\r\n"
    "[rank1]: ValueError: no data\r\n"
    "done\r\n";

TEST(TorchLogs, RanksInOneOutput) {
  Imported trace;
  const TorchLogsSummary summary = import_torch_logs(*trace.context, kMixed, "out.txt");
  EXPECT_EQ(trace.context->counted(summary.input, "output"), 3);
  EXPECT_EQ(trace.context->counted(summary.input, "log:other"), 1);
  std::map<std::int64_t, std::string> expected;
  std::map<trace::Id, std::int64_t> ranks;
  for (const trace::ProcessRecord& p : trace.reader().processes()) ranks[p.id] = p.rank;
  std::map<trace::Id, trace::CompileRecord> compiles;
  for (const trace::CompileRecord& c : trace.reader().compiles()) compiles[c.id] = c;
  for (const trace::RecompileRecord& r : trace.reader().recompiles())
    expected[ranks.at(compiles.at(r.compile).process)] = r.expected;
  EXPECT_EQ(expected, (std::map<std::int64_t, std::string>{{0, "2"}, {1, "4"}}));
  EXPECT_EQ(trace.compiles().count("r1:0/1"), 1u);
  ASSERT_EQ(trace.diagnostics("cudagraph-skip").size(), 1u);
  EXPECT_EQ(trace.diagnostics("cudagraph-skip")[0].title, "skipping cudagraphs due to cpu device (x)");
  ASSERT_EQ(trace.diagnostics("error").size(), 1u);
  EXPECT_EQ(trace.diagnostics("error")[0].title, "ValueError: no data");
  EXPECT_EQ(ranks.at(trace.diagnostics("error")[0].process), 1);
  ASSERT_EQ(trace.reader().raw_records().size(), 1u);
  EXPECT_EQ(trace.reader().raw_records()[0].kind, "__bytecode");
  EXPECT_EQ(trace.reader().raw_records()[0].ordinal, 9);
}

TEST(TorchLogs, WhyCudaGraphsAreSkippedAndWhere) {
  Imported trace;
  const std::string start = "V0705 10:00:00.000000 7 torch/_inductor/cudagraph_trees.py:1] [0/0] [__cudagraphs]";
  import_torch_logs(*trace.context,
                    start + " skipping cudagraphs due to mutated inputs (5 instances). Found from : \n" + start +
                        "   File \"/home/user/app/m.py\", line 131, in step\n" + start + "     self.tok.copy_(x)\n" +
                        start + "\n",
                    "log.txt");
  const auto skips = trace.diagnostics("cudagraph-skip");
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].title, "skipping cudagraphs due to mutated inputs (5 instances)");
  EXPECT_EQ(trace.reader().stack(skips[0].stack).back().line, 131);
  EXPECT_EQ(trace.reader().stack(skips[0].stack).back().text, "self.tok.copy_(x)");
}

TEST(TorchLogs, PrefixesOfAllTimes) {
  auto prefix = parse_log_prefix(
      "[2024-01-29 20:00:12,123] [0/1_2] torch._dynamo.guards.__recompiles: [DEBUG] Recompiling function f");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->artifact, "__recompiles");
  EXPECT_EQ(prefix->attempt, 2);
  EXPECT_EQ(prefix->text, "Recompiling function f");
  prefix = parse_log_prefix("V0705 10:00:00.000000 140144363024384 torch/a b/c.py:7] [!3/0/1] words ] [x]");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->pid, 0);
  EXPECT_EQ(prefix->autograd, 3);
  EXPECT_EQ(prefix->site, "torch/a b/c.py:7");
  EXPECT_EQ(prefix->text, "words ] [x]");
  prefix = parse_log_prefix("[default0]:[rank3]:E0705 10:00:00.000000 7 C:\\torch\\c.py:7] plain");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->rank, 3);
  EXPECT_FALSE(prefix->compile);
  EXPECT_FALSE(parse_log_prefix("V0705 10:00:00.000000 7 no place] text"));
  EXPECT_FALSE(parse_log_prefix("[rank0]: hello there, this is output"));
  EXPECT_TRUE(has_torch_logs("a\nb\nV0705 10:00:00.000000 7 torch/c.py:7] [0/0] x"));
  EXPECT_FALSE(has_torch_logs("V0705 10:00:00.000000 7 torch/c.py:7] {\"str\": [\"a\", 0]}\n\tx\n"));
}

TEST(TorchLogs, GuardsOneByOneOfOldVersions) {
  Imported trace;
  import_torch_logs(
      *trace.context,
      "V0705 10:00:00.000000 7 torch/_dynamo/guards.py:1] [0/0] [__guards] GUARDS:\n"
      "V0705 10:00:00.000000 7 torch/_dynamo/guards.py:2] [0/0] [__guards] L['n'] == 2  # y = n  # app/m.py:3 in f\n"
      "V0705 10:00:00.000000 7 torch/_dynamo/guards.py:2] [0/0] [__guards] len(L['v']) == 1\n"
      "V0705 10:00:00.000000 7 torch/_dynamo/guards.py:3] [0/0] [__guards] def ___make_guard_fn():\n",
      "old.txt");
  const auto guards = trace.reader().guards(trace.compiles().at("0/0").id);
  ASSERT_EQ(guards.size(), 2u);
  EXPECT_EQ(guards[0].expression, "L['n'] == 2");
  EXPECT_EQ(guards[1].kind, "LENGTH_CHECK");
}

TEST(TorchLogs, CutAnywhereItIsStillRead) {
  const std::string text = kMixed;
  for (std::size_t size = 0; size < text.size(); size += 37) {
    Imported trace;
    import_torch_logs(*trace.context, std::string_view(text).substr(0, size), "cut.txt");
    EXPECT_LE(trace.reader().recompiles().size(), 2u);
  }
}

}  // namespace
}  // namespace strata::capture
