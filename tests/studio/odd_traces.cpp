// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/studio/odd_traces.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/trace/writer.h"

namespace strata::test {
namespace {

using namespace trace;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

Id add_compile(Writer& w, const std::string& address = "0/0", const std::string& name = "odd") {
  CompileRecord c;
  c.address = address;
  c.name = name;
  c.outcome = "ok";
  c.duration_ns = 1'000'000;
  return w.add(c);
}

NodeRecord node(NodeId id, std::vector<std::vector<NodeId>> inputs = {}, std::string name = {}) {
  NodeRecord n;
  n.id = id;
  n.name = name.empty() ? fmt::format("n{}", id) : std::move(name);
  n.op = inputs.empty() ? "placeholder" : "call";
  n.target = inputs.empty() ? "" : "aten.add.Tensor";
  n.inputs = std::move(inputs);
  n.dtype = "f32";
  n.shape = "[8, 64]";
  return n;
}

std::vector<NodeRecord> chain(int count) {
  std::vector<NodeRecord> nodes = {node(1)};
  for (NodeId id = 2; id <= count; ++id) nodes.push_back(node(id, {{id - 1}}));
  return nodes;
}

Id add_stage(Writer& w, Id compile, const char* stage, const std::vector<NodeRecord>& nodes) {
  SnapshotRecord s;
  s.compile = compile;
  s.stage = stage;
  return w.add(s, nodes);
}

Id add_kernel(Writer& w, Id compile, Id snapshot, std::vector<NodeId> nodes, const std::string& name) {
  KernelRecord k;
  k.compile = compile;
  k.snapshot = snapshot;
  k.name = name;
  k.group = 1;
  k.nodes = std::move(nodes);
  k.device = "cpu";
  return w.add(k);
}

Id add_run(Writer& w, Id compile) {
  RunRecord r;
  r.compile = compile;
  r.label = "strata";
  r.clock = "steady";
  r.start_ns = 0;
  return w.add(r);
}

EventRecord event(Id run, Id kernel, std::int64_t start, std::int64_t duration) {
  EventRecord e;
  e.run = run;
  e.kernel = kernel;
  e.name = "event";
  e.category = "kernel";
  e.clock = "steady";
  e.start_ns = start;
  e.duration_ns = duration;
  return e;
}

/// Named where a name can be, in every table that the window shows.
void write_named(const std::filesystem::path& path, const std::vector<std::string>& names) {
  Writer w(path);
  w.set_property("model", names[0]);
  NodeId next = 1;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const Id compile = add_compile(w, fmt::format("{}/0", i), name);
    const std::vector<SourceLocation> places = {{name, 3, name, name}};
    const Id stack = w.stack(places);
    std::vector<NodeRecord> nodes;
    for (const std::string& other : names) {
      std::vector<std::vector<NodeId>> inputs;
      if (!nodes.empty()) inputs = {{next - 1}};
      NodeRecord n = node(next, inputs, other);
      n.target = n.args = n.type = n.dtype = n.shape = n.device = n.module = name;
      n.stack = stack;
      nodes.push_back(std::move(n));
      ++next;
    }
    PassRecord pass;
    pass.compile = compile;
    pass.name = name;
    pass.error = name;
    pass.id = w.add(pass);
    SnapshotRecord s;
    s.compile = compile;
    s.stage = name;
    s.pass = pass.id;
    const Id snapshot = w.add(s, nodes);
    w.add(RewriteRecord{kNone, compile, pass.id, name, {nodes[0].id}, {nodes[0].id}, name});
    const Id kernel = add_kernel(w, compile, snapshot, {nodes.back().id}, name);
    ArtifactRecord code;
    code.owner = {OwnerKind::Kernel, kernel, compile};
    code.kind = name.substr(0, 60);
    code.name = name;
    code.content = name + "\n" + name;
    code.lines = {{1, 2, {nodes.back().id}}};
    w.add(code);
    GuardRecord g;
    g.compile = compile;
    g.kind = g.expression = g.source = g.path = g.detail = name;
    g.stack = stack;
    w.add(g);
    GraphBreakRecord b;
    b.compile = compile;
    b.reason = b.explanation = b.hint = b.kind = b.link = b.detail = name;
    b.stack = stack;
    w.add(b);
    DiagnosticRecord d;
    d.severity = DiagnosticRecord::Severity::Error;
    d.kind = "error";
    d.title = d.detail = d.hint = name;
    d.compile = compile;
    d.stack = stack;
    w.add(d);
    const Id run = add_run(w, compile);
    EventRecord e = event(run, kernel, 10, 20);
    e.name = e.category = e.args = name;
    w.add(e);
    BufferRecord buffer;
    buffer.compile = compile;
    buffer.name = buffer.kind = name;
    buffer.node = nodes.back().id;
    buffer.bytes = {64, name};
    buffer.first_launch = buffer.last_launch = 0;
    w.add(buffer);
    LaunchRecord launch;
    launch.compile = compile;
    launch.kernel = kernel;
    launch.name = name;
    w.add(launch);
  }
  w.close();
}

void write_sizes(const std::filesystem::path& path) {
  Writer w(path);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Id compile = add_compile(w);
  std::vector<NodeRecord> nodes = chain(20);
  for (auto& n : nodes) n.shape = "[1000000000000000000, 1000000000000000000, -9223372036854775808]";
  const Id snapshot = add_stage(w, compile, "scheduled", nodes);
  const Id run = add_run(w, compile);
  const double amounts[] = {nan, inf, -inf, -1, 1e308, 5e-324, 0};
  const std::int64_t times[] = {
      kHuge, -kHuge, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), -1, 0, 1};
  for (NodeId i = 0; i < 7; ++i) {
    KernelRecord k;
    k.compile = compile;
    k.snapshot = snapshot;
    k.name = fmt::format("k{}", i);
    k.group = i + 1;
    k.nodes = {i + 2};
    k.bytes = {amounts[i], "s0*s1"};
    k.flops = {amounts[6 - i], ""};
    k.id = w.add(k);
    BufferRecord b;
    b.compile = compile;
    b.name = fmt::format("b{}", i);
    b.kind = "temporary";
    b.node = i + 2;
    b.bytes = {amounts[i], ""};
    b.first_launch = times[i];
    b.last_launch = times[6 - i];
    if (i % 2) b.arena_offset = times[i];
    b.id = w.add(b);
    LaunchRecord launch;
    launch.compile = compile;
    launch.ordinal = times[i];
    launch.kernel = k.id;
    launch.name = k.name;
    launch.writes = {b.id};
    w.add(launch);
    for (const std::int64_t start : times)
      for (const std::int64_t duration : times) w.add(event(run, k.id, start, duration));
    w.add(MetricRecord{kNone, {OwnerKind::Kernel, k.id, compile}, "flops", amounts[i], "flop"});
    w.add(MetricRecord{kNone, {}, "target.peak_bytes_per_second", amounts[i], "B/s"});
    GuardRecord g;
    g.compile = compile;
    g.expression = "x > 0";
    g.hits = times[i];
    g.failures = times[6 - i];
    g.cost_ns = times[i];
    w.add(g);
    PassRecord pass;
    pass.compile = compile;
    pass.name = "pass";
    pass.ordinal = i;
    pass.start_ns = times[i];
    pass.duration_ns = times[6 - i];
    w.add(pass);
    CompileRecord c;
    c.address = fmt::format("1/{}", i);
    c.frame_number = times[i];
    c.start_ns = times[i];
    c.duration_ns = times[6 - i];
    w.add(c);
  }
  w.close();
}

/// Ids that nothing has, bases and owners in circles.
void write_dangling(const std::filesystem::path& path) {
  Writer w(path);
  const Id compile = add_compile(w);
  std::vector<NodeRecord> nodes = chain(30);
  nodes[3].inputs = {{4}, {7777}, {-5}, {30}};  // itself, nothing, nonsense, a later one
  nodes[29].inputs = {{1}};
  nodes[5].stack = 12345;
  nodes[6].maker = 54321;
  nodes[7].group = -8;
  nodes[8].extra = "{not json";
  const Id snapshot = add_stage(w, compile, "captured", nodes);
  std::vector<OriginRecord> circle;
  for (NodeId id = 1; id <= 30; ++id) circle.push_back({compile, id, id % 30 + 1, "replaced", "", true});
  w.add(circle);
  const Id kernel = add_kernel(w, compile, 4711, {1, 2, 9999}, "of nothing");
  add_kernel(w, 99, snapshot, {}, "of no compile");
  for (const Id k : {kernel, Id{8888}, Id{-3}}) {
    LaunchRecord launch;
    launch.compile = compile;
    launch.kernel = k;
    launch.reads = {77, 78};
    launch.writes = {-1};
    launch.line = -4;
    w.add(launch);
    BufferRecord b;
    b.compile = compile;
    b.name = "lost";
    b.node = k;
    b.first_launch = 100;
    b.last_launch = 3;
    b.reuse_of = 4;  // the fourth takes over itself
    w.add(b);
  }
  const Id run = add_run(w, 31337);
  EventRecord e = event(run, 31337, 5, 5);
  e.track = 999;
  e.launch = 998;
  e.correlation = 4;
  w.add(e);
  w.add(FlowRecord{kNone, "fwdbwd", 1, 999});
  TrackRecord track;
  track.process = 55;
  w.add(track);
  RecompileRecord again;
  again.compile = 404;
  again.of = 405;
  again.guard = 406;
  again.stack = 407;
  w.add(again);
  RewriteRecord rewrite;
  rewrite.compile = compile;
  rewrite.pass = 17;
  rewrite.before = {9, 10000};
  rewrite.after = {-1};
  w.add(rewrite);
  w.add(FusionRecord{kNone, compile, 17, 9999, 1, 5, -5, true, "", ""});
  ArtifactRecord text;
  text.owner = {OwnerKind::Kernel, kernel, compile};
  text.kind = "cpp";
  text.content = "one line";
  text.lines = {{-5, 3, {1}}, {7, 2, {2}}, {1, kHuge, {1}}, {kHuge, kHuge, {9999}}};
  w.add(text);
  w.close();
}

void write_missing_stages(const std::filesystem::path& path) {
  Writer w(path);
  const Id compile = add_compile(w);
  for (const char* stage : {"loops", "runs", "unheard of", "simplified:#", ":", ""}) {
    SnapshotRecord s;
    s.compile = compile;
    s.stage = stage;
    s.kind = SnapshotKind::Text;
    w.add(s);
  }
  add_stage(w, compile, "scheduled", {});
  CompileRecord failed;
  failed.address = "1/0";
  failed.outcome = "failed";
  failed.error = "out of luck";
  w.add(failed);
  w.close();
}

void write_wide(const std::filesystem::path& path) {
  Writer w(path);
  const Id compile = add_compile(w);
  std::vector<NodeRecord> nodes;
  std::vector<std::vector<NodeId>> all(2);
  for (NodeId id = 1; id <= 10000; ++id) {
    nodes.push_back(node(id));
    all[static_cast<size_t>(id % 2)].push_back(id);
  }
  nodes.push_back(node(10001, all));
  nodes.push_back(node(10002, {{10001}}));
  add_stage(w, compile, "captured", nodes);
  w.close();
}

void write_many_compiles(const std::filesystem::path& path) {
  Writer w(path);
  for (int i = 0; i < 5000; ++i) {
    const Id compile = add_compile(w, fmt::format("{}/{}", i / 7, i % 7), fmt::format("function_{}", i / 7));
    if (i % 10 == 0) add_stage(w, compile, "captured", chain(3));
  }
  w.close();
}

void write_many_guards(const std::filesystem::path& path) {
  Writer w(path);
  const Id compile = add_compile(w);
  add_stage(w, compile, "captured", chain(5));
  GuardRecord g;
  g.compile = compile;
  for (int i = 0; i < 100000; ++i) {
    g.kind = i % 3 ? "TENSOR_MATCH" : "shape";
    g.expression = fmt::format("L['x{}'].size()[0] == {}", i, i % 97);
    g.hits = i;
    w.add(g);
  }
  w.close();
}

void write_deep_modules(const std::filesystem::path& path) {
  Writer w(path);
  const Id compile = add_compile(w);
  std::vector<NodeRecord> nodes = chain(1600);
  std::string module = "m";
  for (auto& n : nodes) {
    n.module = module;
    if (module.size() < 1000) module += ".m";  // 500 levels
  }
  add_stage(w, compile, "captured", nodes);
  w.close();
}

void write_many_artifacts(const std::filesystem::path& path) {
  Writer w(path);
  const Id compile = add_compile(w);
  const Id snapshot = add_stage(w, compile, "scheduled", chain(10));
  const Id kernel = add_kernel(w, compile, snapshot, {2, 3}, "fused");
  for (int i = 0; i < 300; ++i) {
    ArtifactRecord a;
    a.owner = {OwnerKind::Kernel, kernel, compile};
    a.kind = fmt::format("kind{}", i);
    a.content = i == 7 ? std::string(4'000'000, 'x') : std::string(static_cast<size_t>(i) * 10, '\n');
    w.add(a);
  }
  w.close();
}

}  // namespace

std::vector<std::string> absurd_names(size_t length) {
  return {"<b>bold</b><script>alert(1)</script><img src='file:///etc/passwd'>",
          "two\nlines\r\nand\ttabs",
          std::string("zero\0inside", 11),
          "\x01\x02\x1b[31mcontrol\x7f",
          "مرحبا بالعالم \u202E reversed \u202C",
          "🔥🧨👩‍👩‍👧‍👦 emoji",
          "\xff\xfe not UTF-8 \xc3",
          "%s%n%1%2 &amp; \"quoted\" 'single' \\back",
          "../../etc/passwd",
          " ",
          std::string(length, 'w')};
}

const std::vector<OddTrace>& odd_traces() {
  static const std::vector<OddTrace> all = {
      {"empty", [](const auto& path) { Writer(path).close(); }},
      {"missing_stages", write_missing_stages},
      {"absurd_names", [](const auto& path) { write_named(path, absurd_names(3000)); }},
      {"megabyte_name", [](const auto& path) { write_named(path, {std::string(1 << 20, 'n')}); }},
      {"sizes", write_sizes},
      {"dangling", write_dangling},
      {"wide", write_wide},
      {"many_compiles", write_many_compiles},
      {"many_guards", write_many_guards},
      {"deep_modules", write_deep_modules},
      {"many_artifacts", write_many_artifacts},
      {"events", [](const auto& path) { write_event_trace(path, 20000); }},
  };
  return all;
}

void write_event_trace(const std::filesystem::path& path, int events) {
  Writer w(path);
  w.set_property("producer", "torch");
  std::vector<Id> tracks;
  for (int i = 0; i < 6; ++i) {
    TrackRecord t;
    t.pid = i < 4 ? "100" : "0";
    t.tid = fmt::format("{}", i);
    t.name = i < 4 ? fmt::format("thread {}", i) : fmt::format("stream {}", i);
    t.device = i < 4 ? -1 : 0;
    t.stream = i < 4 ? -1 : i;
    tracks.push_back(w.add(t));
  }
  RunRecord run;
  run.label = "profile";
  run.clock = "unix";
  run.start_ns = 0;
  run.id = w.add(run);
  std::mt19937 random(5);
  std::vector<std::int64_t> at(tracks.size(), 0);
  std::vector<EventRecord> batch;
  for (int i = 0; i < events; ++i) {
    const size_t row = random() % tracks.size();
    EventRecord e;
    e.run = run.id;
    e.track = tracks[row];
    e.clock = run.clock;
    e.name = fmt::format("aten::op_{}", random() % 400);
    e.category = row < 4 ? "cpu_op" : "kernel";
    e.stream = row < 4 ? -1 : static_cast<std::int64_t>(row);
    e.correlation = i % 5 == 0 ? i : 0;
    e.start_ns = at[row];
    e.duration_ns = 500 + random() % 20000;
    at[row] += random() % 4 ? e.duration_ns + random() % 3000 : 1 + e.duration_ns / 3;  // some lie in the one before
    batch.push_back(std::move(e));
    if (batch.size() < 4096 && i + 1 < events) continue;
    w.add(batch);
    batch.clear();
  }
  w.close();
}

}  // namespace strata::test
