// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/explain/explain.h"

#include <gtest/gtest.h>

#include <map>

#include "capture/torch_text/torch_logs.h"
#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/writer.h"
#include "tests/app/command.h"

namespace strata {
namespace {

using testing::TemporaryFolder;

std::string data(const std::string& name) { return std::string(STRATA_TEST_DATA) + "/torch/" + name; }

/// A trace made of logs of the repository.
class Logs {
 public:
  explicit Logs(const std::vector<std::string>& names) {
    trace::Writer writer(path());
    capture::ImportContext context(writer);
    for (const std::string& name : names) {
      if (name.find(".txt") != std::string::npos) {
        capture::import_torch_logs(context, std::filesystem::path(data(name)));
      } else {
        capture::import_torch_trace(context, std::filesystem::path(data(name)));
      }
    }
    context.finish();
    writer.close();
  }
  std::string path() const { return folder_.file("t.strata"); }
  Explanation explain(std::string_view address = {}) const {
    trace::Reader reader(path());
    return strata::explain(reader, address);
  }

 private:
  TemporaryFolder folder_;
};

std::int64_t sum_of_phases(const Explanation& e) {
  std::int64_t sum = 0;
  for (const ExplainPhase& p : e.phases)
    for (const ExplainPhase::Span& s : p.spans) sum += s.self_ns;
  return sum;
}

TEST(Explain, BreaksByLineCostliestFirst) {
  const Explanation e = Logs({"logs/breaks_many.log.gz"}).explain();
  EXPECT_EQ(e.compiles, 9);
  EXPECT_EQ(e.attempts, 17);
  EXPECT_EQ(e.graphs, 8);
  EXPECT_EQ(e.breaks, 8);
  EXPECT_EQ(e.recompiles, 1);
  EXPECT_EQ(e.guards.count, 92);
  std::map<std::int64_t, const ExplainBreak*> lines;
  for (const ExplainBreak& b : e.break_groups) lines[b.place.line] = &b;
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines.at(241)->count, 2);
  EXPECT_EQ(lines.at(241)->compiles, (std::vector<std::string>{"4/0", "4/1"}));
  EXPECT_EQ(lines.at(241)->advice, "remove the call of torch._dynamo.graph_break()");
  EXPECT_EQ(lines.at(237)->compiles, (std::vector<std::string>{"1/0", "7/0"}));
  EXPECT_EQ(lines.at(239)->place.text, "n = int(x.abs().max().item() * 0 + 2)");
  EXPECT_NE(lines.at(239)->advice.find("capture_scalar_outputs"), std::string::npos);
  EXPECT_EQ(lines.at(235)->hints.size(), 2u);
  EXPECT_TRUE(lines.at(245)->link.ends_with("gb0036.html"));
  for (std::size_t i = 1; i < e.break_groups.size(); ++i)
    EXPECT_GE(e.break_groups[i - 1].cost_ns, e.break_groups[i].cost_ns);
  EXPECT_EQ(e.break_groups.front().place.line, 241);
}

TEST(Explain, ARestartThatIsNoBreakIsAThingToDo) {
  const Explanation e = Logs({"logs/breaks_many.log.gz"}).explain();
  std::vector<const ExplainFinding*> restarts;
  for (const ExplainFinding& f : e.findings)
    if (f.kind == "restart") restarts.push_back(&f);
  ASSERT_EQ(restarts.size(), 1u);
  EXPECT_EQ(restarts[0]->title, "analysis started over: TensorifyScalarRestartAnalysis");
  EXPECT_EQ(restarts[0]->compiles, std::vector<std::string>{"4/1"});
  EXPECT_NE(restarts[0]->advice.find("specialize_float"), std::string::npos);
  EXPECT_GT(restarts[0]->cost_ns, 0);
}

TEST(Explain, FramesThatGoOnBehindABreakAreSaidToBe) {
  const Explanation e = Logs({"logs/breaks_many.log.gz"}).explain();
  ASSERT_EQ(e.frames.size(), 8u);
  EXPECT_EQ(e.frames[0].place.function, "f");
  EXPECT_EQ(e.frames[0].place.line, 233);
  EXPECT_EQ(e.frames[1].resumes, "f at line 235");
  const ExplainFrame& fourth = e.frames[4];
  ASSERT_EQ(fourth.compiles.size(), 2u);
  EXPECT_EQ(fourth.compiles[1].address, "4/1");
  EXPECT_EQ(fourth.compiles[1].attempts, 3);
  EXPECT_EQ(fourth.compiles[1].cause, "___stack1: 2.6829419136047363 -> 0.8414709568023682");
}

TEST(Explain, RecompilesWithExpectedAndActualValue) {
  const Explanation e = Logs({"logs/recompiles.log.gz"}).explain();
  ASSERT_EQ(e.recompile_list.size(), 8u);
  struct Expected {
    std::string compile, of, form, expected, actual;
    bool inferred;
    std::int64_t line;
    std::string advice;  ///< a part of it
  };
  const std::vector<Expected> expected = {
      {"0/1", "0/0", "value", "2", "3", true, 195, "torch.tensor(n)"},
      {"0/2", "0/1", "type", "int", "float", true, 195, "convert it before the call"},
      {"0/3", "0/2", "type", "float", "int", true, 195, "convert it before the call"},
      {"0/4", "0/3", "dtype", "Float", "Double", false, 195, "x.to(dtype)"},
      {"0/5", "0/4", "dtype", "Double", "Float", false, 195, "x.to(dtype)"},
      {"0/6", "0/5", "length", "2", "1", true, 196, "length of names"},
      {"0/7", "0/6", "requires_grad", "0", "1", true, 195, "x.detach()"},
      {"0/8", "0/7", "requires_grad", "1", "0", true, 195, "x.detach()"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ExplainRecompile& r = e.recompile_list[i];
    ASSERT_EQ(r.reasons.size(), i + 1);
    const ExplainReason& first = r.reasons.front();
    EXPECT_EQ(r.compile, expected[i].compile);
    EXPECT_EQ(first.of, expected[i].of);
    EXPECT_EQ(first.form, expected[i].form);
    EXPECT_EQ(first.expected, expected[i].expected);
    EXPECT_EQ(first.actual, expected[i].actual);
    EXPECT_EQ(first.inferred, expected[i].inferred);
    EXPECT_EQ(first.place.file, "/home/user/app/cases.py");
    EXPECT_EQ(first.place.line, expected[i].line);
    EXPECT_NE(r.advice.find(expected[i].advice), std::string::npos) << r.advice;
    EXPECT_GT(r.cost_ns, 0);
  }
  ASSERT_FALSE(e.findings.empty());
  EXPECT_EQ(e.findings.front().kind, "recompile-limit");
  EXPECT_EQ(e.findings.front().compiles, std::vector<std::string>{"0/8"});
}

TEST(Explain, OneFindingPerThingToDoSortedByCost) {
  const Explanation e = Logs({"logs/recompiles.log.gz"}).explain();
  std::map<std::string, std::int64_t> costs;
  for (const ExplainRecompile& r : e.recompile_list) costs[r.compile] = r.cost_ns;
  bool first = true;
  std::int64_t last = 0;
  std::size_t recompiles = 0;
  for (const ExplainFinding& f : e.findings) {
    if (f.kind != "recompile") continue;
    std::int64_t sum = 0;
    for (const std::string& c : f.compiles) sum += costs.at(c);
    EXPECT_EQ(f.cost_ns, sum) << f.title;
    EXPECT_EQ(f.count, static_cast<std::int64_t>(f.compiles.size()));
    if (!first) {
      EXPECT_LE(f.cost_ns, last);
    }
    first = false;
    last = f.cost_ns;
    recompiles += f.compiles.size();
  }
  EXPECT_EQ(recompiles, 8u);
}

TEST(Explain, SizesAndSymbols) {
  const Explanation e = Logs({"logs/dynamic_shapes.log.gz"}).explain();
  ASSERT_EQ(e.recompile_list.size(), 2u);
  EXPECT_EQ(e.recompile_list[0].reasons[0].form, "size");
  EXPECT_NE(e.recompile_list[0].advice.find("torch._dynamo.mark_dynamic(x, 0)"), std::string::npos);
  EXPECT_EQ(e.recompile_list[1].reasons[0].actual, "1");
  EXPECT_NE(e.recompile_list[1].advice.find("mark_unbacked(x, 0)"), std::string::npos);
  ASSERT_EQ(e.symbols.size(), 1u);
  EXPECT_EQ(e.symbols[0].name, "s77");
  EXPECT_EQ(e.symbols[0].hint, 9);
  EXPECT_EQ(e.symbols[0].min, 2);
  EXPECT_EQ(e.symbols[0].place.line, 187);
  EXPECT_EQ(e.assumptions.size(), 2u);
  EXPECT_EQ(e.guards.count, 39);
  ASSERT_EQ(e.guards.costliest.size(), 3u);
  EXPECT_EQ(e.guards.costliest[0].compile, "0/0");
  EXPECT_DOUBLE_EQ(e.guards.costliest[0].latency_ns, 53970);
}

TEST(Explain, ErrorsSayWhatAndWhere) {
  const Explanation e = Logs({"logs/backend_error.log.gz"}).explain();
  std::vector<const ExplainNote*> errors;
  for (const ExplainNote& n : e.notes)
    if (n.kind == "error") errors.push_back(&n);
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0]->title,
            "torch._dynamo.exc.BackendCompilerFailed: backend='bad' raised: RuntimeError: backend exploded on purpose");
  EXPECT_EQ(errors[0]->place.line, 289);
  EXPECT_EQ(errors[3]->place.line, 298);
  std::vector<std::string> titles;
  for (const ExplainFinding& f : e.findings) titles.push_back(f.title);
  // the error of 1/0 is its break
  EXPECT_EQ(titles,
            (std::vector<std::string>{
                "BackendCompilerFailed: backend='bad' raised: RuntimeError: backend exploded on purpose",
                "Unsupported: Failed to trace builtin operator",
                "TorchRuntimeError: RuntimeError when making fake tensor call", "graph break: Observed exception"}));
  for (const ExplainFrame& f : e.frames) EXPECT_EQ(f.compiles.at(0).outcome, "failed");
}

TEST(Explain, PhasesAddUpToTheOutermostSpans) {
  for (const std::string name : {"recompiles", "breaks_many", "bert"}) {
    const Logs logs({"logs/" + name + ".log.gz"});
    const Explanation e = logs.explain();
    EXPECT_EQ(sum_of_phases(e), e.phases_ns);
    // outermost: spans of the run that begin when no other is open, counted here on their own
    trace::Reader reader(logs.path());
    std::int64_t outer = 0;
    for (const trace::RunRecord& run : reader.runs()) {
      if (run.label != "compile") continue;
      std::map<std::pair<trace::Id, std::int64_t>, std::int64_t> until;
      auto events = reader.events(run.id);
      std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
        return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.duration_ns > b.duration_ns;
      });
      for (const trace::EventRecord& event : events) {
        if (event.duration_ns < 0 || (!event.phase.empty() && event.phase != "X")) continue;
        std::int64_t& end = until[{event.track, event.thread}];
        if (event.start_ns < end) continue;
        end = event.start_ns + event.duration_ns;
        outer += event.duration_ns;
      }
    }
    EXPECT_GT(outer, 0);
    EXPECT_EQ(e.phases_ns, outer) << name;
  }
}

TEST(Explain, OneCompileAlone) {
  const Logs logs({"logs/breaks_many.log.gz"});
  const Explanation e = logs.explain("4/1");
  EXPECT_EQ(e.compiles, 1);
  EXPECT_EQ(e.attempts, 3);
  EXPECT_EQ(e.breaks, 1);
  EXPECT_EQ(e.recompiles, 1);
  EXPECT_EQ(e.guards.count, 15);
  EXPECT_LT(e.phases_ns, logs.explain().phases_ns);
  EXPECT_THROW(logs.explain("9/9"), Error);
}

TEST(Explain, PlainLogsToo) {
  const Explanation e = Logs({"text/torch_logs_train.txt.gz"}).explain();
  EXPECT_EQ(e.breaks, 6);
  EXPECT_EQ(e.recompiles, 11);
  EXPECT_EQ(e.guards.count, 267);
  EXPECT_EQ(e.findings.front().kind, "recompile-limit");
  bool print = false;
  for (const ExplainBreak& b : e.break_groups)
    print = print || (b.place.line == 23 && b.advice.find("reorderable_logging_functions") != std::string::npos);
  EXPECT_TRUE(print);
}

TEST(Explain, AdviceForEveryForm) {
  for (const char* form :
       {"size", "stride", "rank", "dtype", "device", "requires_grad", "dispatch_keys", "value", "type", "length",
        "identity", "contains", "attribute", "shape", "aliasing", "global_state", "other"}) {
    ExplainReason r;
    r.form = form;
    r.source = "L['x']";
    const std::string advice = recompile_advice(r);
    EXPECT_FALSE(advice.empty());
    EXPECT_EQ(advice.find("L['x']"), std::string::npos) << advice;
  }
  EXPECT_FALSE(break_advice("", "").empty());
  EXPECT_EQ(break_advice("", "generic_jump TensorVariable()"), break_advice("Data-dependent branching", ""));
  EXPECT_NE(break_advice("Attempted to wrap RNN, GRU, or LSTM", "").find("allow_rnn"), std::string::npos);
  EXPECT_FALSE(error_advice("").empty());
  EXPECT_EQ(compile_phase("Scheduler.codegen"), "inductor: write code");
  EXPECT_EQ(compile_phase("build_guards"), "dynamo: guards");
  EXPECT_EQ(compile_phase("never heard of"), "other");
}

TEST(ExplainCommand, TextAndJson) {
  const Logs logs({"logs/breaks_many.log.gz"});
  const testing::Finished text = testing::strata({"explain", logs.path()});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(
      text.out.starts_with("torch 2.11.0+cu130: 1 process, 8 functions, 9 compiles in 17 attempts, 8 graphs, "
                           "8 graph breaks, 1 recompile; 49.170 s of compile time\n"))
      << text.out.substr(0, 200);
  for (const char* part : {"What to fix first", "cases.py:239 in f", "n = int(x.abs().max().item() * 0 + 2)",
                           "was       0.8414709568023682   (inferred from the new compile)", "AOTAutograd cache bypass",
                           "Where the compile time went"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  for (std::size_t at = 0, end; (end = text.out.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, 200u);
  const testing::Finished json = testing::strata({"explain", logs.path(), "--json"});
  ASSERT_EQ(json.code, 0);
  const Json root = parse_json(json.out, "explain");
  EXPECT_EQ(root.at("breaks").integer(), 8);
  EXPECT_EQ(root.at("break_list").array().size(), 6u);
  EXPECT_EQ(root.at("recompile_list").array().at(0).at("reasons").array().at(0).at("expected").string(),
            "2.6829419136047363");
  std::int64_t guards = 0;
  for (const Json& kind : root.at("guards").at("kinds").array()) guards += kind.at("count").integer();
  EXPECT_EQ(guards, root.at("guards").at("count").integer());
  const testing::Finished wrong = testing::strata({"explain", logs.path(), "--graph", "9/9"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("has no graph '9/9'"), std::string::npos) << wrong.err;
}

TEST(ExplainCommand, OurOwnTraces) {
  const TemporaryFolder folder;
  const std::string trace = folder.file("own.strata");
  ASSERT_EQ(testing::strata({"compile", testing::model_file("cnn_fmnist"), "-o", trace}).code, 0);
  const testing::Finished text = testing::strata({"explain", trace});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("Nothing to mend"), std::string::npos);
  EXPECT_NE(text.out.find("passes"), std::string::npos);
}

}  // namespace
}  // namespace strata
