// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What is exported as a Chrome trace is valid JSON with everything in it, and gives the same events when imported.

#include "profiler/chrome_export.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "tests/capture/kineto_testing.h"

namespace strata::profiler {
namespace {

namespace fs = std::filesystem;
using trace::EventRecord;

/// An event without ids: with its row in words.
struct Plain {
  EventRecord event;
  std::string pid, tid, thread, process;
  std::int64_t device = -1;
  bool operator==(const Plain&) const = default;
};

struct PlainTrace {
  std::vector<Plain> events;
  std::vector<std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>> flows;
};

PlainTrace plain(trace::Reader& reader) {
  PlainTrace result;
  std::map<trace::Id, trace::TrackRecord> tracks;
  for (const trace::TrackRecord& t : reader.tracks()) tracks[t.id] = t;
  std::map<trace::Id, EventRecord> by_id;
  reader.each_event([&](const EventRecord& e) {
    by_id[e.id] = e;
    Plain p;
    p.event = e;
    const trace::TrackRecord& t = tracks[e.track];
    p.pid = t.pid, p.tid = t.tid, p.thread = t.name, p.process = t.process_name, p.device = t.device;
    p.event.id = p.event.track = p.event.run = p.event.launch = p.event.kernel = trace::kNone;
    p.event.compile = p.event.program = trace::kNone;
    p.event.match = trace::Match::None;
    result.events.push_back(std::move(p));
    return true;
  });
  for (const trace::FlowRecord& f : reader.flows()) {
    const EventRecord &from = by_id[f.from], &to = by_id[f.to];
    result.flows.emplace_back(f.kind, from.name, to.name, from.start_ns, to.start_ns);
  }
  std::sort(result.flows.begin(), result.flows.end());
  return result;
}

class ChromeExport : public capture::ProfileTest {
 protected:
  std::string exported(const ChromeExportOptions& options = {}) {
    std::ostringstream out;
    last = write_chrome_trace(*reader, out, options);
    return out.str();
  }

  void expect_round_trip() {
    const PlainTrace before = plain(*reader);
    const std::string text = exported();
    EXPECT_EQ(last.events, static_cast<std::int64_t>(before.events.size()));
    const Json json = parse_json(text, "export");  // strict
    EXPECT_EQ(text.find("NaN"), std::string::npos);
    import_text(text);
    const PlainTrace after = plain(*reader);
    ASSERT_EQ(before.events.size(), after.events.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < before.events.size(); ++i) {
      if (before.events[i] == after.events[i]) continue;
      if (++different > 3) break;
      ADD_FAILURE() << i << " " << before.events[i].event.name << " " << before.events[i].event.args << " / "
                    << after.events[i].event.name << " " << after.events[i].event.args;
    }
    EXPECT_EQ(before.flows, after.flows);
    for (const auto& [key, number] : counts()) EXPECT_FALSE(key.starts_with("problem.")) << key;
    for (const trace::MetricRecord& m : reader->metrics())
      EXPECT_FALSE(m.key.find("lonely") != std::string::npos && m.value > 0) << m.key;
  }

  ChromeExportResult last;
};

TEST_F(ChromeExport, RealProfilesComeBack) {
  for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "torch/profiles")) {
    SCOPED_TRACE(entry.path().string());
    import_file(entry.path());
    expect_round_trip();
  }
}

TEST_F(ChromeExport, StrangeEventsComeBack) {
  import_text(R"j({"baseTimeNanoseconds": 1790857026000000000, "my \"key\"": [1, nan], "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "say "x" \\ \u0001 ", "pid": 1, "tid": 2, "ts": 1.5, "dur": 0.001, "s": "t",
     "args": {"a": "b"c", "n": inf, "stream": 5, "External id": 0, "correlation": "7", "Sequence number": -1}},
    {"ph": "i", "s": "g", "name": "", "pid": "Spans", "tid": "a "b"", "ts": -3, "id": "0x1"},
    {"ph": "C", "name": "c", "pid": "-0", "tid": "007", "ts": 3, "args": {"x": 1}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 1,
     "args": {"device": 2, "stream": 7, "external id": 9, "strata.kernel": "gone"}},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "u", "pid": 0, "tid": 7, "ts": 3, "dur": 1},
    {"ph": "B", "name": "open", "pid": 1, "tid": 9, "ts": 3}]})j");
  EXPECT_EQ(events.size(), 6u);
  const PlainTrace before = plain(*reader);
  EXPECT_NO_THROW(parse_json(exported(), "export"));
  import_text(exported());
  const PlainTrace after = plain(*reader);
  ASSERT_EQ(before.events.size(), after.events.size());
  for (std::size_t i = 0; i < before.events.size(); ++i)
    EXPECT_TRUE(before.events[i] == after.events[i])
        << before.events[i].event.args << " / " << after.events[i].event.args;
  EXPECT_EQ(event("k").args, R"({"device":2,"external id":9})");
}

TEST_F(ChromeExport, OldListComesBack) {
  import_text(
      R"([{"name": "aten::zeros", "ph": "X", "ts": 140, "dur": 69, "tid": 1, "pid": "CPU functions", "args": {}}])");
  EXPECT_EQ(events.at(0).clock, "steady");
  expect_round_trip();
  EXPECT_EQ(reader->runs().at(0).clock, "steady");
}

TEST_F(ChromeExport, HeadAndRows) {
  import_file(fs::path(STRATA_TEST_DATA) / "torch/profiles/bert_compiled.json.gz");
  const Json json = parse_json(exported(), "export");
  EXPECT_EQ(json.at("schemaVersion").integer(), 1);
  EXPECT_EQ(json.at("deviceProperties").array().at(0).at("name").string(), "NVIDIA H200");
  EXPECT_EQ(json.at("displayTimeUnit").string(), "ms");
  const std::int64_t base = json.at("baseTimeNanoseconds").integer();
  std::map<std::string, std::string> names;
  std::set<std::int64_t> starts, ends;
  for (const Json& e : json.at("traceEvents").array()) {
    const std::string phase = e.at("ph").string();
    EXPECT_GE(base + static_cast<std::int64_t>(e.at("ts").number() * 1000), base);
    if (phase == "M" && e.at("name").string() == "thread_name")
      names[describe(e.at("pid")) + "/" + describe(e.at("tid"))] = e.at("args").at("name").string();
    if (phase == "s") starts.insert(e.at("id").integer());
    if (phase == "f") ends.insert(e.at("id").integer());
    if (phase == "X") {
      EXPECT_GE(e.at("dur").number(), 0);
    }
  }
  EXPECT_EQ(names["433/433"], "thread 433 (python3)");
  EXPECT_EQ(names["0/7"], "stream 7 ");
  EXPECT_EQ(starts.size(), 176u);
  EXPECT_EQ(starts, ends);
}

TEST_F(ChromeExport, TwoRanksWithTheSameDevice) {
  const auto rank = [](int number) {
    return R"({"baseTimeNanoseconds": 1790857026000000000, "distributedInfo": {"rank": )" + std::to_string(number) +
           R"(}, "traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "op", "pid": )" +
           std::to_string(70 + number) + R"(, "tid": 1, "ts": 1, "dur": 5, "args": {}},
      {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 1, "args": {"device": 0, "stream": 7}}]})";
  };
  make_trace([&](capture::ImportContext& context) {
    capture::import_profile(context, rank(0), "a.json");
    capture::import_profile(context, rank(1), "b.json");
  });
  const auto pids = [&](const std::string& text) {
    std::set<std::string> result;
    const Json json = parse_json(text, "export");
    for (const Json& e : json.at("traceEvents").array()) result.insert(describe(e.at("pid")));
    return result.size();
  };
  EXPECT_EQ(pids(exported()), 4u);
  ChromeExportOptions one;
  one.run = reader->runs().at(1).id;
  EXPECT_EQ(pids(exported(one)), 2u);
  EXPECT_EQ(last.events, 2);
  one.run = 99;
  EXPECT_THROW(exported(one), Error);
}

TEST_F(ChromeExport, OurOwnRuns) {
  make_trace([](capture::ImportContext& context) {
    trace::Writer& writer = context.writer();
    trace::ProcessRecord process;
    process.pid = 5;
    trace::CompileRecord compile;
    compile.process = writer.add(process);
    compile.address = "0/0";
    compile.name = "m";
    compile.start_ns = 1790857026000000123;
    compile.duration_ns = 9000;
    compile.id = writer.add(compile);
    trace::PassRecord pass;
    pass.compile = compile.id;
    pass.name = "fuse \"all\"";
    pass.duration_ns = 500;
    writer.add(pass);
    trace::KernelRecord kernel;
    kernel.compile = compile.id;
    kernel.name = "fused_add_0";
    trace::RunRecord run;
    run.process = compile.process;
    run.compile = compile.id;
    run.label = "strata";
    run.clock = "steady";
    run.start_ns = 777;
    run.duration_ns = 100;
    EventRecord event;
    event.run = writer.add(run);
    event.kernel = writer.add(kernel);
    event.category = "kernel";
    event.clock = "steady";
    event.start_ns = 800;
    event.duration_ns = 40;
    event.args = "not json";
    writer.add(event);
  });
  const Json json = parse_json(exported(), "export");
  std::map<std::string, const Json*> found;
  for (const Json& e : json.at("traceEvents").array()) found[e.at("cat").string()] = &e;
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found["compile"]->at("name").string(), "compile 0/0 m");
  EXPECT_EQ(found["pass"]->at("name").string(), "fuse \"all\"");
  EXPECT_EQ(found["run"]->at("dur").number(), 0.1);
  EXPECT_EQ(found["cpu_op"]->at("name").string(), "fused_add_0");
  EXPECT_EQ(found["cpu_op"]->at("args").at("strata.graph").string(), "0/0");
  EXPECT_EQ(found["cpu_op"]->at("args").at("text").string(), "not json");
  EXPECT_NEAR(found["cpu_op"]->at("ts").number() - found["run"]->at("ts").number(), 0.023, 1e-9);
  EXPECT_GE(found["run"]->at("ts").number(),
            found["compile"]->at("ts").number() + found["compile"]->at("dur").number() - 1e-9);
}

TEST_F(ChromeExport, FilesAppearWhole) {
  import_file(fs::path(STRATA_TEST_DATA) / "torch/profiles/bert_eager.json.gz");
  const fs::path path = folder / "out.json";
  EXPECT_THROW(write_chrome_trace(*reader, folder / "no" / "out.json"), Error);
  const ChromeExportResult result = write_chrome_trace(*reader, path);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(capture::read_file(path), exported());
}

TEST_F(ChromeExport, Stops) {
  std::string many = "[";
  for (int i = 0; i < 50000; ++i) many += R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 5, "dur": 2},)";
  import_text(many);
  ChromeExportOptions options;
  std::vector<double> parts;
  options.progress = [&](double part) {
    parts.push_back(part);
    return parts.size() < 2;
  };
  const ChromeExportResult result = write_chrome_trace(*reader, folder / "out.json", options);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(fs::exists(folder / "out.json"));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_LT(parts[0], parts[1]);
  EXPECT_LT(parts[1], 1.0);
}

}  // namespace
}  // namespace strata::profiler
