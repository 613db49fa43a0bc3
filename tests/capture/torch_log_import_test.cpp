// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "capture/torch_graph/importer.h"
#include "capture/torch_trace/log_clock.h"
#include "capture/torch_trace/torch_trace.h"
#include "core/support/error.h"
#include "core/support/json.h"
#include "core/trace/reader.h"

namespace strata::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string small_log() {
  std::ifstream in(STRATA_TEST_DATA "/torch_log/small.log", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Bytes bytes_of(std::string_view text) { return copy_bytes(std::as_bytes(std::span(text.data(), text.size()))); }

class TorchLogImport : public testing::Test {
 protected:
  void TearDown() override {
    reader_.reset();
    std::filesystem::remove(path());
  }
  static std::filesystem::path path() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::path(testing::TempDir()) / fmt::format("torch_log_{}.strata", test->name());
  }

  trace::Reader& import(const std::vector<std::pair<std::string, std::string>>& files,
                        const TorchTraceOptions& options = {}) {
    reader_.reset();
    {
      trace::Writer writer(path());
      ImportContext context(writer);
      for (const auto& [name, text] : files) import_torch_trace(context, bytes_of(text), name, options);
      compiles_ = context.compiles().size();
      programs_ = context.programs();
      context.finish();
      writer.close();
    }
    reader_ = std::make_unique<trace::Reader>(path());
    return *reader_;
  }
  trace::Reader& import(const std::string& text) { return import({{"a.log", text}}); }

  std::int64_t count(const std::string& key) {
    std::int64_t total = 0;
    for (const trace::InputRecord& input : reader_->inputs()) {
      const Json json = parse_json(input.counts, "counts");
      if (const Json* number = json.find(key)) total += number->integer();
    }
    return total;
  }
  std::vector<trace::DiagnosticRecord> diagnostics(std::string_view kind) {
    std::vector<trace::DiagnosticRecord> out;
    for (const trace::DiagnosticRecord& d : reader_->diagnostics()) {
      if (d.kind == kind) out.push_back(d);
    }
    return out;
  }
  std::string content(trace::Id compile, std::string_view name) {
    for (const trace::ArtifactRecord& a : reader_->artifacts_of_compile(compile)) {
      if (a.name == name) return reader_->artifact(a.id)->content;
    }
    return "(none)";
  }

  std::unique_ptr<trace::Reader> reader_;
  std::size_t compiles_ = 0;
  std::vector<ImportedProgram> programs_;
};

std::string record(std::string_view json, std::string_view payload = {}, std::int64_t pid = 7) {
  std::string out = fmt::format("V1121 09:31:15.242000 {} torch/x.py:1] {}\n", pid, json);
  if (!payload.empty()) {
    out += '\t';
    for (const char c : payload) {
      out += c;
      if (c == '\n') out += '\t';
    }
    out += '\n';
  }
  return out;
}

constexpr const char* kStart =
    R"({{"dynamo_start": {{"stack": [{{"line": 3, "name": "{}", "filename": 0}}]}}, "frame_id": {}, )"
    R"("frame_compile_id": {}, "attempt": {}{}}})";

std::string start(std::string_view name, int frame, int compile, int attempt, std::int64_t pid = 7,
                  std::string_view more = {}) {
  return record(fmt::format(kStart, name, frame, compile, attempt, more), {}, pid);
}

TEST_F(TorchLogImport, CompilesAttemptsAndTimes) {
  trace::Reader& reader = import(small_log());
  const auto compiles = reader.compiles();
  ASSERT_EQ(compiles.size(), 4u);
  EXPECT_EQ(compiles_, 4u);
  std::vector<std::string> addresses, outcomes;
  for (const auto& c : compiles) addresses.push_back(c.address), outcomes.push_back(c.outcome);
  EXPECT_THAT(addresses, ElementsAre("0/0", "0/0_1", "1/0", "0/1"));
  EXPECT_THAT(outcomes, ElementsAre("restarted", "ok", "ok", "failed"));
  const std::int64_t epoch = 1767323045000000000;
  EXPECT_EQ(compiles[0].start_ns, epoch + 100'000);
  EXPECT_EQ(compiles[0].duration_ns, 1'200'000) << "to the beginning of the next attempt";
  EXPECT_EQ(compiles[1].start_ns, epoch + 1'300'000);
  EXPECT_EQ(compiles[1].duration_ns, 8'600'000) << "to the end of the compile";
  EXPECT_EQ(compiles[2].duration_ns, 3'000'000);
  EXPECT_EQ(compiles[3].error, "BackendCompilerFailed: on purpose");
  EXPECT_EQ(compiles[3].cause, "0/0: tensor 'x' size mismatch at index 0. expected 8, actual 9");
  const auto frames = reader.frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].name, "f");
  EXPECT_EQ(frames[0].file, "/w/m.py");
  EXPECT_EQ(frames[0].line, 7);
  EXPECT_EQ(compiles[0].frame, frames[0].id);
  ASSERT_EQ(reader.processes().size(), 1u);
  EXPECT_EQ(reader.processes()[0].pid, 4242);
  EXPECT_NEAR(static_cast<double>(reader.processes()[0].start_ns), static_cast<double>(epoch), 1e9);
  EXPECT_EQ(reader.property("torch"), "2.14.1");
  EXPECT_EQ(reader.inputs()[0].producer, "torch 2.14.1");
  EXPECT_EQ(reader.inputs()[0].kind, "torch-trace");
}

TEST_F(TorchLogImport, BreaksAndWhatTheyCost) {
  trace::Reader& reader = import(small_log());
  const auto breaks = reader.graph_breaks();
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].compile, reader.find_compile("0/0").id);
  EXPECT_EQ(breaks[0].reason, "Call to `torch._dynamo.graph_break()`");
  EXPECT_EQ(breaks[0].hint, "Remove the `torch._dynamo.graph_break()` call.");
  EXPECT_EQ(breaks[0].cost_ns, 1'200'000 + 3'000'000) << "the attempt, and the function that resumes at line 9";
  const auto stack = reader.stack(breaks[0].stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[1].line, 9);
  const auto restarts = diagnostics("restart");
  ASSERT_EQ(restarts.size(), 1u);
  EXPECT_EQ(restarts[0].title, "Call to `torch._dynamo.graph_break()`");
  EXPECT_EQ(restarts[0].cost_ns, 1'200'000);
  const auto file = reader.source_file("/w/m.py");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->excerpt);
  EXPECT_THAT(file->lines, testing::Contains(trace::SourceFileRecord::Line{9, "torch._dynamo.graph_break()"}));
  EXPECT_THAT(file->lines, testing::Contains(trace::SourceFileRecord::Line{30, "g(x)"}));
}

TEST_F(TorchLogImport, RecompilesPointToTheGuard) {
  trace::Reader& reader = import(small_log());
  const auto recompiles = reader.recompiles();
  ASSERT_EQ(recompiles.size(), 1u);
  const trace::RecompileRecord& r = recompiles[0];
  EXPECT_EQ(r.compile, reader.find_compile("0/1").id);
  EXPECT_EQ(r.of, reader.find_compile("0/0_1").id);
  EXPECT_EQ(r.expected, "8");
  EXPECT_EQ(r.actual, "9");
  EXPECT_EQ(r.cost_ns, 2'000'000);
  const auto guards = reader.guards(r.of);
  ASSERT_EQ(guards.size(), 2u);
  EXPECT_EQ(guards[1].kind, "TENSOR_MATCH");
  EXPECT_EQ(r.guard, guards[1].id);
  const auto stack = reader.stack(guards[1].stack);
  ASSERT_EQ(stack.size(), 1u);
  EXPECT_EQ(stack[0].file, "/w/m.py");
  EXPECT_EQ(stack[0].line, 8);
}

TEST_F(TorchLogImport, ReasonsAsListAndAsText) {
  const auto reasons = [](std::string_view payload) {
    return record(R"({"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, )"
                  R"("frame_compile_id": 1, "attempt": 0})",
                  payload);
  };
  EXPECT_EQ(import(reasons("[\n\"0/0: L['n'] == 2\",\n\"0/0: L['m'] == 3\"\n]")).recompiles().size(), 2u);
  EXPECT_EQ(import(reasons("0/0: L['n'] == 2")).recompiles().size(), 1u);
  EXPECT_EQ(import(reasons("\"0/0: L['n'] == 2\"")).recompiles().size(), 1u);
}

TEST_F(TorchLogImport, GraphsProgramsAndKernels) {
  trace::Reader& reader = import(small_log());
  const trace::CompileRecord compile = reader.find_compile("0/0_1");
  std::vector<std::string> stages;
  for (const auto& s : reader.snapshots(compile.id)) {
    if (s.kind == trace::SnapshotKind::Graph) stages.push_back(s.stage);
  }
  EXPECT_THAT(stages, ElementsAre("captured", "inference", "simplified:inference.before", "simplified:inference.after",
                                  "scheduled:inference"));
  const auto programs = reader.programs(compile.id);
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].role, "inference");
  EXPECT_EQ(programs[0].key, "fkey123");
  EXPECT_EQ(programs[0].path, "/tmp/ti/ab/cab.py");
  EXPECT_EQ(reader.find_snapshot(compile.id, "simplified:inference.after").program, programs[0].id);
  ASSERT_EQ(programs_.size(), 1u);
  EXPECT_EQ(programs_[0].aot_id, "0_inference");
  EXPECT_EQ(programs_[0].record.key, "fkey123");
  EXPECT_EQ(programs_[0].code_hash.size(), 32u);
  const auto kernels = reader.kernels(compile.id);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "cpp_fused_relu_0");
  EXPECT_EQ(kernels[0].nodes.size(), 1u);
}

TEST_F(TorchLogImport, ShapesCachesSkipsAndErrors) {
  trace::Reader& reader = import(small_log());
  const trace::Id compile = reader.find_compile("0/0_1").id;
  const auto symbols = reader.symbols(compile);
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_EQ(symbols[0].name, "s77");
  EXPECT_EQ(symbols[0].hint, 8);
  EXPECT_EQ(symbols[0].min, 2);
  EXPECT_EQ(symbols[0].max, std::nullopt);
  EXPECT_EQ(reader.stack(symbols[0].stack).back().line, 8);
  const auto assumptions = reader.assumptions(compile);
  ASSERT_EQ(assumptions.size(), 2u);
  EXPECT_EQ(assumptions[0].expression, "s77 <= 64");
  EXPECT_EQ(assumptions[1].kind, "specialized");
  EXPECT_EQ(assumptions[1].expression, "Eq(s77, 8)");
  ASSERT_EQ(diagnostics("cache-bypass").size(), 1u);
  EXPECT_EQ(diagnostics("cache-bypass")[0].title, "AOTAutograd cache bypass: Unsupported call_function target f");
  ASSERT_EQ(diagnostics("cache-miss").size(), 1u);
  EXPECT_EQ(diagnostics("cache-miss")[0].cost_ns, 5000);
  ASSERT_EQ(diagnostics("cudagraph-skip").size(), 1u);
  EXPECT_THAT(diagnostics("cudagraph-skip")[0].title, HasSubstr("cpu device"));
  const auto errors = diagnostics("error");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].title, "RuntimeError: on purpose");
  EXPECT_EQ(reader.stack(errors[0].stack).back().line, 8);
}

TEST_F(TorchLogImport, MetricsInputsAndOtherTexts) {
  trace::Reader& reader = import(small_log());
  const trace::Id compile = reader.find_compile("0/0_1").id;
  std::map<std::string, std::pair<double, std::string>> metrics;
  for (const auto& m : reader.metrics({trace::OwnerKind::Compile, compile, compile}))
    metrics[m.key] = {m.value, m.unit};
  EXPECT_EQ(metrics["duration_us"], std::pair(9'800'000.0, std::string("ns")));
  EXPECT_EQ(metrics["code_gen_time_s"], std::pair(5e8, std::string("ns")));
  EXPECT_EQ(metrics["param_bytes"], std::pair(12.0, std::string("B")));
  EXPECT_EQ(metrics["guard_count"], std::pair(2.0, std::string("1")));
  EXPECT_EQ(metrics["runtime.duration_us"], std::pair(7000.0, std::string("ns"))) << "no attempt: the last one";
  EXPECT_EQ(metrics["guard_latency"], std::pair(1250.0, std::string("ns")));
  EXPECT_THAT(content(compile, "compilation_metrics"), HasSubstr("\"inductor_config\""));
  EXPECT_EQ(content(compile, "torch._functorch.config"), "{\n\"a\": 1\n}");
  const std::string tensors = content(reader.find_compile("0/0").id, "tensors");
  const Json list = parse_json(tensors, "tensors");
  ASSERT_EQ(list.array().size(), 1u);
  EXPECT_EQ(list.array()[0].at("sources").array()[0].string(), "L['x']");
  EXPECT_EQ(list.array()[0].at("storage").at("size").integer(), 2048);
  EXPECT_EQ(list.array()[0].at("tensor").at("ndim").integer(), 2);
}

TEST_F(TorchLogImport, TimelineIsPairedByNesting) {
  trace::Reader& reader = import(small_log());
  ASSERT_EQ(reader.runs().size(), 1u);
  EXPECT_EQ(reader.runs()[0].label, "compile");
  EXPECT_EQ(reader.runs()[0].clock, "unix");
  std::vector<std::string> events;
  for (const auto& e : reader.events(reader.runs()[0].id))
    events.push_back(fmt::format("{}:{}:{}", e.name, e.phase, e.duration_ns));
  EXPECT_THAT(events, ElementsAre("dynamo::10000000", "entire_frame_compile::9800000", "compile_attempt_0::1000000",
                                  "compile_attempt_1::7700000", "fx_graph_cache_miss:i:0", "never_ended:B:-1",
                                  "never_begun:E:0"));
  const auto dynamo = reader.events(reader.runs()[0].id)[0];
  EXPECT_EQ(dynamo.args, R"({"compile_id":"0/0"})");
  const auto args = reader.artifacts({trace::OwnerKind::Event, dynamo.id, dynamo.compile});
  ASSERT_EQ(args.size(), 1u);
  EXPECT_THAT(reader.artifact(args[0].id)->content, HasSubstr(std::string(700, 'z')));
  EXPECT_EQ(reader.tracks().size(), 2u) << "compile, and threads without a compile";
}

TEST_F(TorchLogImport, UnknownRecordsAreKept) {
  trace::Reader& reader = import(small_log());
  std::map<std::string, std::string> raw;
  for (const auto& r : reader.raw_records()) raw[r.kind] = reader.raw_record(r.id)->content;
  EXPECT_THAT(raw["brand_new_record"], HasSubstr("{\"brand_new_record\": {\"a\": 1}"));
  EXPECT_THAT(raw["brand_new_record"], HasSubstr("kept\nas it is"));
  EXPECT_EQ(raw["extra:second"], "[1]");
  EXPECT_EQ(count("unknown:brand_new_record"), 1);
  EXPECT_EQ(count("problem.unknown_record"), 1);
  EXPECT_EQ(count("artifact:"), 1);
  ASSERT_EQ(diagnostics("link").size(), 1u);
  ASSERT_EQ(diagnostics("fake-kernel").size(), 1u);
  EXPECT_EQ(diagnostics("fake-kernel")[0].title, "mylib::f has no fake kernel");
}

// Everything that an import says, apart from the file's size.
std::string gist(trace::Reader& reader) {
  std::ostringstream out;
  for (const auto& c : reader.compiles()) {
    out << c.address << ' ' << c.outcome << ' ' << c.error << ' ' << c.start_ns << ' ' << c.duration_ns << '\n';
    for (const auto& s : reader.snapshots(c.id)) {
      out << "  " << s.stage << ' ' << s.node_count << '\n';
      for (const auto& n : reader.nodes(s.id))
        out << "    " << n.name << ' ' << n.target << ' ' << n.args << n.type << '\n';
    }
    for (const auto& g : reader.guards(c.id)) out << "  " << g.kind << ' ' << g.expression << '\n';
    for (const auto& a : reader.artifacts_of_compile(c.id))
      out << "  " << a.name << ' ' << a.kind << ' ' << reader.artifact(a.id)->content << '\n';
  }
  for (const auto& b : reader.graph_breaks()) out << b.reason << b.cost_ns << b.detail << '\n';
  for (const auto& r : reader.recompiles()) out << r.reason << r.cost_ns << '\n';
  for (const auto& i : reader.inputs()) out << i.counts << '\n';
  return out.str();
}

TEST_F(TorchLogImport, CrLfAndThreadsChangeNothing) {
  const std::string log = small_log();
  std::string crlf;
  for (const char c : log) {
    if (c == '\n') crlf += '\r';
    crlf += c;
  }
  TorchTraceOptions one, many;
  one.threads = 1;
  many.threads = 4;
  const std::string expected = gist(import({{"a.log", log}}, one));
  EXPECT_EQ(gist(import({{"a.log", log}}, many)), expected);
  EXPECT_EQ(gist(import({{"a.log", crlf}}, many)), expected);
}

TEST_F(TorchLogImport, CutAnywhereKeepsTheBeginning) {
  const std::string log = small_log();
  for (std::size_t size = 997; size < log.size(); size += 997) {
    trace::Reader& reader = import(log.substr(0, size));
    EXPECT_LE(reader.compiles().size(), 4u) << size;
    EXPECT_EQ(count("problem.bad_json") + count("problem.hash_mismatch"), 0) << size;
    for (const auto& b : reader.graph_breaks()) EXPECT_EQ(b.kind, "Call to `torch._dynamo.graph_break()`") << size;
  }
}

TEST_F(TorchLogImport, CompileThatNeverEnds) {
  const std::string first = start("f", 0, 0, 0), second = start("g", 1, 0, 0);
  trace::Reader& reader = import(first + second);
  ASSERT_EQ(reader.compiles().size(), 2u);
  EXPECT_EQ(reader.compiles()[0].outcome, "failed");
  EXPECT_NE(reader.compiles()[0].error, "");
  EXPECT_EQ(reader.compiles()[1].outcome, "") << "it may have been under way";
  EXPECT_EQ(reader.frames()[0].file, "<file #0>");
  EXPECT_EQ(count("problem.missing_string"), 1);
}

TEST_F(TorchLogImport, CompiledAutogradHasAddressesOfItsOwn) {
  trace::Reader& reader = import(start("f", 0, 0, 0) + start("g", 0, 0, 1, 7, R"(, "compiled_autograd_id": 2)") +
                                 record(R"({"link": {}, "compiled_autograd_id": 2, "attempt": 0})"));
  std::vector<std::string> addresses, prefixes;
  for (const auto& c : reader.compiles()) addresses.push_back(c.address), prefixes.push_back(c.prefix);
  EXPECT_THAT(addresses, ElementsAre("0/0", "!2/0/0_1", "!2"));
  EXPECT_THAT(prefixes, ElementsAre("", "!2/", ""));
}

TEST_F(TorchLogImport, RanksAndProcesses) {
  const std::string zero = start("f", 0, 0, 0, 11, R"(, "rank": 0)"), one = start("f", 0, 0, 0, 12);
  TorchTraceOptions options;
  options.rank_prefix = true;
  trace::Reader& reader = import({{"x.log", zero}, {"dedicated_log_torch_trace_rank_1_abcdefgh.log", one}}, options);
  ASSERT_EQ(reader.processes().size(), 2u);
  EXPECT_EQ(reader.processes()[0].rank, 0);
  EXPECT_EQ(reader.processes()[1].rank, 1);
  EXPECT_EQ(reader.compiles()[0].address, "r0:0/0");
  EXPECT_EQ(reader.compiles()[1].address, "r1:0/0");
  // Without ranks the process tells compiles of the same number apart.
  trace::Reader& forked = import(start("f", 0, 0, 0, 11) + start("f", 0, 0, 0, 12));
  EXPECT_EQ(forked.compiles()[0].address, "0/0");
  EXPECT_EQ(forked.compiles()[1].address, "p12:0/0");
  EXPECT_EQ(forked.processes().size(), 2u);
}

TEST_F(TorchLogImport, RanksOfFiles) {
  const std::filesystem::path folder = testing::TempDir();
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  const std::vector<std::filesystem::path> paths{
      write("torch_log_none.log", record(R"({"artifact": {"name": "\"rank\": 9"}})", "\"rank\": 8")),
      write("torch_log_two.log", record(R"({"link": {}})") + record(R"({"link": {}, "rank": 2})", "\"rank\": 8")),
      write("torch_log_rank_5_.log", ""), folder / "nowhere.log"};
  EXPECT_THAT(ranks_of_torch_traces(paths), ElementsAre(2, 5));
  for (const auto& path : paths) std::filesystem::remove(path);
}

TEST_F(TorchLogImport, ThreadsOfOldLogsAreOneProcess) {
  trace::Reader& reader = import(start("f", 0, 0, 0, 140144363024384) + start("g", 1, 0, 0, 140144363024999));
  ASSERT_EQ(reader.processes().size(), 1u);
  EXPECT_EQ(reader.processes()[0].pid, 0);
}

TEST_F(TorchLogImport, GuardListsOfOldLogs) {
  trace::Reader& reader =
      import(record(R"({"dynamo_guards": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})",
                    "[\n{\"code\": \"L['n'] == 2\", \"stack\": null, \"user_stack\": [{\"line\": 4, \"name\": \"f\", "
                    "\"uninterned_filename\": \"/w/m.py\"}]}\n]") +
             record(R"({"dynamo_guards": {}, "frame_id": 1, "frame_compile_id": 0, "attempt": 0})", "[\n\n]"));
  const auto guards = reader.guards(reader.compiles()[0].id);
  ASSERT_EQ(guards.size(), 1u);
  EXPECT_EQ(guards[0].expression, "L['n'] == 2");
  EXPECT_EQ(reader.stack(guards[0].stack).back().file, "/w/m.py");
  EXPECT_THAT(reader.guards(reader.compiles()[1].id), IsEmpty());
}

TEST_F(TorchLogImport, GraphThatCannotBeReadStaysText) {
  trace::Reader& reader =
      import(record(R"({"aot_forward_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})", "no ( graph") +
             record(R"({"aot_inference_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})"));
  const auto snapshots = reader.snapshots(reader.compiles()[0].id);
  ASSERT_EQ(snapshots.size(), 1u);
  EXPECT_EQ(snapshots[0].kind, trace::SnapshotKind::Text);
  EXPECT_EQ(count("problem.graph_parse_error"), 1);
  EXPECT_EQ(count("aot_inference_graph"), 1) << "a replay without its text";
}

TEST_F(TorchLogImport, BadEventsAreCounted) {
  trace::Reader& reader = import(record(R"({"chromium_event": {}})", "{not json") +
                                 record(R"({"chromium_event": {}})", R"({"name": "x", "ph": "B", "ts": 1e99})") +
                                 record(R"({"chromium_event": {}})"));
  EXPECT_EQ(reader.event_count(), 0);
  EXPECT_EQ(count("problem.bad_event"), 3);
  EXPECT_EQ(count("chromium_event"), 3);
}

TEST_F(TorchLogImport, ExpressionsBecomeOneList) {
  const std::string one = R"({"expression_created": {"method": "ge", "result": "True"}, "frame_id": 0, )"
                          R"("frame_compile_id": 0, "attempt": 0})";
  trace::Reader& reader = import(record(one) + record(one));
  const Json list = parse_json(content(reader.compiles()[0].id, "expression_created"), "list");
  EXPECT_EQ(list.array().size(), 2u);
}

TEST_F(TorchLogImport, ClockAcrossNewYear) {
  const LogTime december{12, 31, 23, 59, 59, 0}, january{1, 1, 0, 0, 1, 0};
  // 2026-01-01T00:00:01+01:00
  const std::int64_t epoch = 1767222001;
  const LogClock clock(january, epoch * 1'000'000'000);
  EXPECT_EQ(clock.ns(january), epoch * 1'000'000'000);
  EXPECT_EQ(clock.ns(december), (epoch - 2) * 1'000'000'000);
  EXPECT_EQ(LogClock().ns(january), -1);
  EXPECT_EQ(LogClock(LogTime{13, 40, 1, 1, 1, 0}, epoch * 1'000'000'000).ns(january), -1);
}

TEST_F(TorchLogImport, NotALogIsTheUsersMistake) {
  trace::Writer writer(path());
  ImportContext context(writer);
  EXPECT_THROW(import_torch_trace(context, bytes_of(""), "empty.log"), Error);
  EXPECT_THROW(import_torch_trace(context, bytes_of("hello\n"), "x.log"), Error);
  EXPECT_THAT(context.inputs(), IsEmpty());
  writer.discard();
}

TEST_F(TorchLogImport, CanBeCancelled) {
  trace::Writer writer(path());
  ImportContext context(writer, [](double, std::string_view) { return false; });
  EXPECT_THROW(import_torch_trace(context, bytes_of(small_log()), "x.log"), ImportCancelled);
  writer.discard();
}

// torch._dynamo.reset() makes PyTorch count from 0/0 on again.
TEST_F(TorchLogImport, NumbersThatStartAgain) {
  const auto metrics = [](int frame) {
    return record(fmt::format(
        R"({{"compilation_metrics": {{"co_name": "f"}}, "frame_id": {}, "frame_compile_id": 0, "attempt": 0}})",
        frame));
  };
  const std::string reason = record(
      R"({"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 1, "attempt": 0})",
      "[\n\"0/0: x == 2\"\n]");
  trace::Reader& reader = import(start("first", 0, 0, 0) + metrics(0) + start("other", 1, 0, 0) + metrics(1) +
                                 start("second", 0, 0, 0) + metrics(0) + start("second", 0, 1, 0) + reason +
                                 start("fresh", 2, 0, 0) + metrics(2) + start("third", 0, 0, 0));
  std::vector<std::string> found;
  std::map<std::string, trace::Id> ids;
  for (const trace::CompileRecord& c : reader.compiles()) {
    found.push_back(c.address + " " + c.name);
    ids[c.address] = c.id;
  }
  EXPECT_THAT(found,
              ElementsAre("0/0 first", "1/0 other", "s2:0/0 second", "s2:0/1 second", "s2:2/0 fresh", "s3:0/0 third"));
  EXPECT_EQ(reader.frames().size(), 5u);
  ASSERT_EQ(reader.recompiles().size(), 1u);
  EXPECT_EQ(reader.recompiles()[0].compile, ids["s2:0/1"]);
  EXPECT_EQ(reader.recompiles()[0].of, ids["s2:0/0"]) << "not the 0/0 of before";
}

// A recorder that took part in a compile has written it already, with a graph of its own numbering.
TEST_F(TorchLogImport, JoinsACompileThatTheTraceHas) {
  const std::string graph =
      "class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: \"f32[8][1]cpu\"):\n        l_x_ = L_x_\n"
      "        y: \"f32[8][1]cpu\" = l_x_.relu();  l_x_ = None\n        return (y,)";
  const std::string at = R"(, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})";
  const auto told = [&](const char* name, const std::string& text) {
    return record(fmt::format(R"({{"artifact": {{"name": "{}", "encoding": "string"}}{})", name, at), text);
  };
  trace::Id own = trace::kNone, snapshot = trace::kNone;
  {
    trace::Writer writer(path());
    ImportContext context(writer);
    trace::ProcessRecord process;
    process.pid = 7;
    process.id = writer.add(process);
    writer.add(trace::CompileRecord{});  // of something else
    trace::CompileRecord compile;
    compile.process = process.id;
    compile.address = "0/0";
    compile.name = "Net";
    compile.outcome = "left";
    own = compile.id = writer.add(compile);
    GraphImporter graphs(context, own, trace::kNone, kTorchNodes);
    snapshot = graphs.add("captured", trace::kNone, parse_graph_payload(graph), graph, "");
    graphs.finish();
    context.adopt(process);
    context.adopt({compile, snapshot});
    const std::string log =
        start("f", 0, 0, 0) + told("backend", "strata") + told("strata_compile", std::to_string(own)) +
        record(R"({"dynamo_output_graph": {"sizes": {}})" + at, graph) +
        record(R"({"compilation_metrics": {"co_name": "f"})" + at) + start("g", 1, 0, 0) +
        record(
            R"({"artifact": {"name": "strata_compile", "encoding": "string"}, "frame_id": 1, "frame_compile_id": 0, )"
            R"("attempt": 0})",
            "999");
    import_torch_trace(context, bytes_of(log), "a.log");
    context.finish();
    writer.close();
  }
  reader_ = std::make_unique<trace::Reader>(path());
  EXPECT_EQ(reader_->processes().size(), 1u);
  ASSERT_EQ(reader_->compiles().size(), 3u) << "one of something else, the one of both, one that only the log knows";
  const trace::CompileRecord c = reader_->find_compile("0/0");
  EXPECT_EQ(c.id, own);
  EXPECT_EQ(c.outcome, "left");
  EXPECT_EQ(c.name, "Net");
  ASSERT_EQ(reader_->snapshots(own).size(), 1u);
  EXPECT_EQ(reader_->snapshots(own)[0].id, snapshot);
  for (const trace::NodeRecord& n : reader_->nodes(snapshot)) EXPECT_GE(n.id, kTorchNodes);
  EXPECT_EQ(content(own, "strata_compile"), "(none)");
  EXPECT_EQ(content(reader_->find_compile("1/0").id, "strata_compile"), "999");
}

}  // namespace
}  // namespace strata::capture
