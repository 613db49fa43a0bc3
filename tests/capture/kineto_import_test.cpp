// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What of a profile arrives in the trace: times of three styles, columns, rows, flows, metadata.

#include "tests/capture/kineto_testing.h"

namespace strata::capture {
namespace {

const std::string kHand = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU X",
   "totalGlobalMem": 1000000000, "computeMajor": 9, "computeMinor": 0, "numSms": 132, "warpSize": 32}],
 "record_shapes": 1, "user_key": {"a": [1, 2.50, "x"]},
 "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
 "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000,
 "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 77, "tid": 78, "ts": 1000.000, "dur": 30.250,
   "args": {"External id": 4, "Record function id": 0, "Sequence number": 9, "Fwd thread id": 0,
            "Input Dims": [[8, 64], [64, 4]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""], "Ev Idx": 3}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 77, "tid": 78, "ts": 1010.5, "dur": 6.1,
   "args": {"External id": 4, "cbid": 211, "correlation": 35}},
  {"ph": "s", "id": 35, "pid": 77, "tid": 78, "ts": 1010.5, "cat": "ac2g", "name": "ac2g"},
  {"ph": "f", "id": 35, "pid": 0, "tid": 7, "ts": 1020.001, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "f", "id": 36, "pid": 0, "tid": 7, "ts": 1020.001, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "X", "cat": "kernel", "name": "gemm_a", "pid": 0, "tid": 7, "ts": 1020.001, "dur": 3.840,
   "args": {"External id": 4, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 35,
            "blocks per SM": 0.24, "grid": [4, 1, 1], "block": [128, 1, 1]}},
  {"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 77, "tid": 79, "ts": 1100, "dur": 10,
   "args": {"External id": 5, "Sequence number": 9, "Fwd thread id": 1}},
  {"ph": "s", "id": 1, "pid": 77, "tid": 78, "ts": 1000.000, "cat": "fwdbwd", "name": "fwdbwd"},
  {"ph": "f", "id": 1, "pid": 77, "tid": 79, "ts": 1100, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 77, "tid": 78, "ts": 1001,
   "args": {"Device Type": 0, "Device Id": -1, "Addr": 18446744073709551615, "Bytes": -256}},
  {"ph": "C", "name": "power", "pid": 0, "tid": 0, "ts": 1002, "args": {"W": 300.5}},
  {"ph": "B", "name": "outer", "pid": 77, "tid": 80, "ts": 1, "args": {"a": 1}},
  {"ph": "B", "name": "inner", "pid": 77, "tid": 80, "ts": 2},
  {"ph": "E", "pid": 77, "tid": 80, "ts": 3},
  {"ph": "E", "pid": 77, "tid": 80, "ts": 5, "args": {"b": 2}},
  {"name": "process_name", "ph": "M", "ts": 999.0, "pid": 77, "tid": 0, "args": {"name": "python3"}},
  {"name": "process_labels", "ph": "M", "ts": 999.0, "pid": 77, "tid": 0, "args": {"labels": "CPU"}},
  {"name": "thread_name", "ph": "M", "ts": 999.0, "pid": 77, "tid": 78, "args": {"name": "main"}},
  {"name": "thread_sort_index", "ph": "M", "ts": 999.0, "pid": 77, "tid": 78, "args": {"sort_index": 5}}],
 "traceName": "/tmp/t.json"})";

constexpr std::int64_t kBase = 1790857026000000000;

class KinetoImport : public ProfileTest {};

TEST_F(KinetoImport, ColumnsAndArgs) {
  import_text(kHand);
  const trace::EventRecord& mm = event("aten::mm");
  EXPECT_EQ(mm.start_ns, kBase + 1'000'000);
  EXPECT_EQ(mm.duration_ns, 30'250);
  EXPECT_EQ(mm.external, 4);
  EXPECT_EQ(mm.sequence, 9);
  EXPECT_EQ(mm.correlation, 0);
  EXPECT_EQ(mm.stream, -1);
  EXPECT_EQ(mm.thread, 78);
  EXPECT_EQ(mm.category, "cpu_op");
  EXPECT_EQ(mm.phase, "");
  EXPECT_EQ(mm.args,
            R"({"Record function id":0,"Fwd thread id":0,"Input Dims":[[8,64],[64,4]],"Input type":["float","float"],)"
            R"("Concrete Inputs":["",""],"Ev Idx":3})");
  const trace::EventRecord& gemm = event("gemm_a");
  EXPECT_EQ(gemm.start_ns, kBase + 1'020'001);
  EXPECT_EQ(gemm.stream, 7);
  EXPECT_EQ(gemm.correlation, 35);
  EXPECT_EQ(gemm.args, R"({"queued":0,"device":0,"context":1,"blocks per SM":0.24,"grid":[4,1,1],"block":[128,1,1]})");
  EXPECT_EQ(event("cudaLaunchKernel").correlation, 35);
}

TEST_F(KinetoImport, OtherPhases) {
  import_text(kHand);
  EXPECT_EQ(event("[memory]").phase, "i");
  EXPECT_EQ(event("[memory]").args,
            R"({"Device Type":0,"Device Id":-1,"Addr":18446744073709551615,"Bytes":-256,"@s":"t"})");
  EXPECT_EQ(event("power").phase, "C");
  EXPECT_EQ(event("power").args, R"({"W":300.5})");
  EXPECT_EQ(event("inner").duration_ns, 1000);
  EXPECT_EQ(event("outer").duration_ns, 4000);
  EXPECT_EQ(event("outer").phase, "");
  EXPECT_EQ(event("outer").args, R"({"a":1,"b":2})");
}

TEST_F(KinetoImport, RowsAndProcess) {
  import_text(kHand);
  const trace::TrackRecord host = track(event("aten::mm").track);
  EXPECT_EQ(host.pid, "77");
  EXPECT_EQ(host.tid, "78");
  EXPECT_EQ(host.name, "main");
  EXPECT_EQ(host.process_name, "python3");
  EXPECT_EQ(host.sort, 5);
  EXPECT_EQ(host.device, -1);
  const trace::TrackRecord device = track(event("gemm_a").track);
  EXPECT_EQ(device.device, 0);
  EXPECT_EQ(device.stream, 7);
  ASSERT_EQ(reader->processes().size(), 1u);
  EXPECT_EQ(reader->processes()[0].pid, 77);
  EXPECT_EQ(reader->processes()[0].rank, 3);
  EXPECT_EQ(host.process, reader->processes()[0].id);
  const trace::RunRecord run = reader->runs().at(0);
  EXPECT_EQ(run.label, "profile");
  EXPECT_EQ(run.clock, "unix");
  EXPECT_EQ(run.process, reader->processes()[0].id);
  EXPECT_EQ(run.start_ns, kBase + 1000);
  EXPECT_EQ(run.duration_ns, 1'110'000 - 1000);
}

TEST_F(KinetoImport, Flows) {
  import_text(kHand);
  ASSERT_EQ(reader->flows().size(), 1u);
  EXPECT_EQ(reader->flows()[0].kind, "fwdbwd");
  EXPECT_EQ(reader->flows()[0].from, event("aten::mm").id);
  EXPECT_EQ(reader->flows()[0].to, event("MmBackward0").id);
  auto c = counts();
  EXPECT_EQ(metric("flow.ac2g.matched"), 1);
  EXPECT_EQ(metric("flow.ac2g.lonely_end"), 1);
  EXPECT_EQ(metric("flow.fwdbwd.matched"), 1);
}

TEST_F(KinetoImport, Metadata) {
  import_text(kHand);
  EXPECT_EQ(metric("device.0.numSms"), 132);
  EXPECT_EQ(metric("device.0.totalGlobalMem"), 1e9);
  EXPECT_EQ(metric("record_shapes"), 1);
  EXPECT_EQ(metric("rank"), 3);
  EXPECT_EQ(metric("world_size"), 8);
  EXPECT_EQ(reader->property("device.0.name"), "GPU X");
  const Json json = parse_json(metadata(), "metadata");
  EXPECT_EQ(json.at("user_key").at("a").array().at(2).string(), "x");
  EXPECT_EQ(json.at("distributedInfo").at("backend").string(), "nccl");
  EXPECT_EQ(json.at("traceName").string(), "/tmp/t.json");
  EXPECT_EQ(json.find("traceEvents"), nullptr);
}

TEST_F(KinetoImport, WhatTheProfilerLogged) {
  import_text(R"({"traceEvents": [], "INFO": ["a"], "WARNING": ["lost 5 \"records\"", "b"], "ERROR": ["c"]})");
  const auto diagnostics = reader->diagnostics();
  ASSERT_EQ(diagnostics.size(), 3u);
  EXPECT_EQ(diagnostics[0].title, "lost 5 \"records\"");
  EXPECT_EQ(diagnostics[0].kind, "profiler");
  EXPECT_EQ(diagnostics[0].severity, trace::DiagnosticRecord::Severity::Warning);
  EXPECT_EQ(diagnostics[2].severity, trace::DiagnosticRecord::Severity::Error);
}

TEST_F(KinetoImport, ManyOpenEvents) {
  std::string text = "[";
  for (int i = 0; i < 3000; ++i)
    text += R"({"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": )" + std::to_string(i) + "},";
  text += R"({"ph": "E", "pid": 1, "tid": 1, "ts": 5000}])";
  import_text(text);
  EXPECT_EQ(events.size(), 3000u);
  EXPECT_EQ(counts()["problem.unclosed"], 2999);
}

TEST_F(KinetoImport, EveryBlockSizeGivesTheSame) {
  import_text(kHand);
  auto want = events;
  const auto want_counts = counts();
  for (std::size_t block : {1u, 2u, 7u, 64u, 300u, 1000u, 4096u}) {
    import_text(kHand, block);
    EXPECT_EQ(events, want) << block;
    EXPECT_EQ(counts(), want_counts) << block;
    EXPECT_EQ(metric("device.0.numSms"), 132) << block;
  }
}

std::string one_event(const std::string& times, const std::string& before = "", const std::string& after = "") {
  return "{" + before + R"("traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, )" + times +
         "}]" + after + "}";
}

TEST_F(KinetoImport, IntegerMicroseconds) {
  import_text(one_event(R"("ts": 1699999999123456, "dur": 7)"));
  EXPECT_EQ(event("a").start_ns, 1699999999123456000);
  EXPECT_EQ(event("a").duration_ns, 7000);
  EXPECT_EQ(event("a").clock, "unix");
}

TEST_F(KinetoImport, DecimalMicrosecondsSinceTheEpoch) {
  import_text(one_event(R"("ts": 1711111111123456.789, "dur": 7.001)", R"("displayTimeUnit": "ns", )"));
  EXPECT_EQ(event("a").start_ns, 1711111111123456789);
  EXPECT_EQ(event("a").duration_ns, 7001);
  EXPECT_EQ(counts().count("problem.no_base_time"), 0u);
}

TEST_F(KinetoImport, BaseBeforeAndAfter) {
  const std::string base = R"("baseTimeNanoseconds": 1790857026000000000)";
  for (const std::string& text : {one_event(R"("ts": 4397667269307.999, "dur": 0.390)", base + ", "),
                                  one_event(R"("ts": 4397667269307.999, "dur": 0.39)", "", ", " + base)}) {
    import_text(text);
    EXPECT_EQ(event("a").start_ns, kBase + 4397667269307999);
    EXPECT_EQ(event("a").duration_ns, 390);
    EXPECT_EQ(event("a").clock, "unix");
    EXPECT_EQ(reader->runs()[0].start_ns, kBase + 4397667269307999);
  }
}

// The end of a plain file is looked at before its events are read; what it shows may be wrong.
TEST_F(KinetoImport, BaseBehindInFiles) {
  const std::string base = R"(, "baseTimeNanoseconds": 1790857026000000000)";
  const std::string lie = R"(, "note": {"baseTimeNanoseconds":5})";
  const std::string event_text = R"("ts": 1.5, "dur": 1)";
  const auto check = [&](const std::string& bytes, std::int64_t start) {
    std::ofstream(folder / "p.json", std::ios::binary | std::ios::trunc) << bytes;
    import_file(folder / "p.json");
    EXPECT_EQ(event("a").start_ns, start);
    EXPECT_EQ(reader->runs()[0].start_ns, start);
    EXPECT_EQ(reader->runs()[0].clock, start < kBase ? "steady" : "unix");
    EXPECT_EQ(event("a").clock, reader->runs()[0].clock);
  };
  check(one_event(event_text, "", base), kBase + 1500);
  check(gzip(one_event(event_text, "", base)), kBase + 1500);
  check(one_event(event_text, "", base + lie), kBase + 1500);
  check(one_event(R"("ts": 1.5, "args": {"baseTimeNanoseconds": 1790857026000000000})"), 1500);
}

TEST_F(KinetoImport, NoBase) {
  import_text(one_event(R"("ts": 12.5, "dur": 1)"));
  EXPECT_EQ(event("a").start_ns, 12500);
  EXPECT_EQ(event("a").clock, "steady");
  EXPECT_EQ(reader->runs()[0].clock, "steady");
  EXPECT_EQ(counts()["problem.no_base_time"], 1);
}

TEST_F(KinetoImport, ListOfTheOldProfiler) {
  import_text(
      R"([{"name": "aten::zeros", "ph": "X", "ts": 140, "dur": 69, "tid": 1, "pid": "CPU functions", "args": {}},
    {"name": "k", "ph": "X", "ts": 150, "dur": 2, "tid": 0, "pid": "CUDA functions", "args": {}},
    {"name": "aten::zeros", "ph": "s", "ts": 209, "tid": 1, "pid": "CPU functions", "id": "11",
     "cat": "cpu_to_cuda", "args": {}},
    {"name": "aten::zeros", "ph": "f", "ts": 150, "tid": 0, "pid": "CUDA functions", "id": "11",
     "cat": "cpu_to_cuda", "args": {}}])");
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(event("aten::zeros").category, "cpu_op");
  EXPECT_EQ(event("k").category, "kernel");
  EXPECT_EQ(event("aten::zeros").clock, "steady");
  EXPECT_EQ(track(event("aten::zeros").track).pid, "CPU functions");
  auto c = counts();
  EXPECT_EQ(c["X:"], 2);
  EXPECT_EQ(c["s:cpu_to_cuda"], 1);
  EXPECT_EQ(c.count("problem.no_base_time"), 0u);
  EXPECT_EQ(metric("flow.cpu_to_cuda.matched"), 1);
  ASSERT_EQ(reader->flows().size(), 1u);
  EXPECT_EQ(reader->flows()[0].from, event("aten::zeros").id);
  EXPECT_EQ(reader->flows()[0].to, event("k").id);
}

TEST_F(KinetoImport, RankInTheNameOfTheFile) {
  for (const auto& [name, rank] : std::map<std::string, std::int64_t>{{"trace_rank_12.json", 12},
                                                                      {"rank3.json", 3},
                                                                      {"rank-0.pt.trace.json", 0},
                                                                      {"frank2.json", -1},
                                                                      {"a.json", -1}}) {
    std::ofstream(folder / name) << one_event(R"("ts": 1699999999123456, "dur": 7)");
    import_file(folder / name);
    EXPECT_EQ(reader->processes().at(0).rank, rank) << name;
  }
}

TEST_F(KinetoImport, NumbersAsStrings) {
  import_text(R"j({"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
   {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 5, "tid": "6", "ts": "10.5", "dur": "2",
    "args": {"cid": 1, "correlation": "35", "stream": "0x0", "grid": "[1,1,1]"}},
   {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 11, "dur": 1,
    "args": {"device": 0, "stream": 3, "correlation": 35, "memory bandwidth (GB/s)": "N/A", "warps per SM": "inf"}}]})j");
  EXPECT_EQ(event("hipLaunchKernel").correlation, 35);
  EXPECT_EQ(event("hipLaunchKernel").start_ns, kBase + 10500);
  EXPECT_EQ(event("hipLaunchKernel").stream, -1);
  EXPECT_EQ(event("hipLaunchKernel").args, R"({"cid":1,"correlation":"35","stream":"0x0","grid":"[1,1,1]"})");
  EXPECT_EQ(track(event("k").track).stream, 3);
}

}  // namespace
}  // namespace strata::capture
