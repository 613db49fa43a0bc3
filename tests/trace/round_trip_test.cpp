// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Every entity comes back as it was written.

#include <cmath>
#include <limits>

#include "core/trace/schema.h"
#include "tests/trace/trace_testing.h"

namespace strata::trace {
namespace {

std::mt19937_64 random_engine{std::random_device{}()};

/// Fills each column of a record with a value that no other has, so that a column read from the wrong place shows.
class Filler {
 public:
  template <class R>
  R fill() {
    R record;
    for_each_column<R>([&](const auto& c) { set(c.get(record)); });
    return record;
  }

 private:
  std::int64_t number() { return static_cast<std::int64_t>(random_engine() >> 2) + 1; }
  // With a NUL and letters beyond ASCII: text is bytes with a length.
  std::string text() { return std::to_string(number()) + std::string("\0 größe\n", 10) + std::to_string(number()); }

  void set(std::int64_t& field) { field = number(); }
  void set(std::string& field) { field = text(); }
  void set(bool& field) { field = true; }
  void set(double& field) { field = static_cast<double>(number()) / 7; }
  template <class T>
  void set(std::optional<T>& field) {
    set(field.emplace());
  }
  template <class E>
    requires std::is_enum_v<E>
  void set(E& field) {
    field = static_cast<E>(enum_last<E>());
  }
  void set(std::vector<std::int64_t>& field) { field = {number(), -number(), number()}; }
  void set(std::vector<std::vector<NodeId>>& field) { field = {{number()}, {}, {number(), number()}}; }
  void set(std::vector<SourceFileRecord::Line>& field) { field = {{number(), text()}, {number(), ""}}; }
  void set(std::vector<LineMapEntry>& field) { field = {{1, 2, {number(), number()}}, {3, 3, {}}}; }
};

class RoundTrip : public TraceTest {
 protected:
  /// A second record between, so that ids differ from 1 and lists have several.
  template <class R>
  std::vector<R> add_some(Writer& writer) {
    std::vector<R> records;
    for (int i = 0; i < 3; ++i) {
      R record = filler.fill<R>();
      if constexpr (requires { record.compile; }) record.compile = compile;
      if constexpr (std::is_same_v<R, ArtifactRecord>) record.size = static_cast<std::int64_t>(record.content.size());
      record.id = writer.add(record);
      records.push_back(record);
    }
    return records;
  }

  template <class R>
  void by_compile(std::vector<R> (Reader::*list)(Id), bool sort_by_ordinal = false) {
    Writer writer(file());
    compile = add_compile(writer);
    auto records = add_some<R>(writer);
    writer.close();
    if constexpr (requires { records[0].ordinal; }) {
      if (sort_by_ordinal) {
        std::sort(records.begin(), records.end(), [](auto& a, auto& b) { return a.ordinal < b.ordinal; });
      }
    }
    Reader reader(file());
    EXPECT_EQ((reader.*list)(compile), records);
    EXPECT_TRUE((reader.*list)(compile + 1).empty());
  }

  template <class R>
  void whole_list(std::vector<R> (Reader::*list)()) {
    Writer writer(file());
    const auto records = add_some<R>(writer);
    writer.close();
    EXPECT_EQ((Reader(file()).*list)(), records);
  }

  Filler filler;
  Id compile = kNone;
};

TEST_F(RoundTrip, Properties) {
  Writer writer(file());
  writer.set_property("producer", "old");
  writer.set_property("producer", "strata");
  writer.set_property("cpu", "");
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.property("producer"), "strata");
  EXPECT_EQ(reader.property("cpu"), "");
  EXPECT_EQ(reader.property("gpu"), std::nullopt);
  EXPECT_EQ(reader.properties().size(), 3u);  // and trace.complete
}

TEST_F(RoundTrip, Process) { whole_list<ProcessRecord>(&Reader::processes); }
TEST_F(RoundTrip, Frame) { whole_list<FrameRecord>(&Reader::frames); }
TEST_F(RoundTrip, Compile) { whole_list<CompileRecord>(&Reader::compiles); }
TEST_F(RoundTrip, GraphBreak) { whole_list<GraphBreakRecord>(&Reader::graph_breaks); }
TEST_F(RoundTrip, Run) { whole_list<RunRecord>(&Reader::runs); }
TEST_F(RoundTrip, Metric) { whole_list<MetricRecord>(&Reader::metrics); }
TEST_F(RoundTrip, Input) { whole_list<InputRecord>(&Reader::inputs); }
TEST_F(RoundTrip, Program) { by_compile<ProgramRecord>(&Reader::programs); }
TEST_F(RoundTrip, Recompile) { whole_list<RecompileRecord>(&Reader::recompiles); }
TEST_F(RoundTrip, Diagnostic) { whole_list<DiagnosticRecord>(&Reader::diagnostics); }
TEST_F(RoundTrip, Track) { whole_list<TrackRecord>(&Reader::tracks); }
TEST_F(RoundTrip, Flow) { whole_list<FlowRecord>(&Reader::flows); }
TEST_F(RoundTrip, Pass) { by_compile<PassRecord>(&Reader::passes, true); }
TEST_F(RoundTrip, Rewrite) { by_compile<RewriteRecord>(&Reader::rewrites); }
TEST_F(RoundTrip, Guard) { by_compile<GuardRecord>(&Reader::guards); }
TEST_F(RoundTrip, Symbol) { by_compile<SymbolRecord>(&Reader::symbols); }
TEST_F(RoundTrip, Assumption) { by_compile<AssumptionRecord>(&Reader::assumptions); }
TEST_F(RoundTrip, Kernel) { by_compile<KernelRecord>(&Reader::kernels); }
TEST_F(RoundTrip, Fusion) { by_compile<FusionRecord>(&Reader::fusions); }
TEST_F(RoundTrip, Buffer) { by_compile<BufferRecord>(&Reader::buffers); }
TEST_F(RoundTrip, Launch) { by_compile<LaunchRecord>(&Reader::launches, true); }

TEST_F(RoundTrip, EventsAreAssignedAndVisitedInOrderOfId) {
  Writer writer(file());
  auto events = add_some<EventRecord>(writer);
  events[1].compile = 7;
  events[1].program = 8;
  events[1].kernel = 9;
  events[1].launch = 10;
  events[1].match = Match::Inferred;
  const EventMatch match{events[1].id, 7, 8, 9, 10, Match::Inferred};
  writer.assign({&match, 1});
  writer.close();
  Reader reader(file());
  std::vector<EventRecord> seen;
  reader.each_event([&](const EventRecord& e) {
    seen.push_back(e);
    return seen.size() < 2;
  });
  EXPECT_EQ(seen, std::vector<EventRecord>(events.begin(), events.begin() + 2));
}

TEST_F(RoundTrip, WhatRanOnADeviceIsWhatWasExecuted) {
  Writer writer(file());
  EventRecord event;
  event.kernel = 3;
  event.duration_ns = 100;
  writer.add(event);
  event.kernel = 4;
  writer.add(event);
  event.stream = 7;
  event.duration_ns = 5;
  writer.add(event);
  writer.close();
  Reader reader(file());
  ASSERT_EQ(reader.executions_of_kernel(3).size(), 1u);
  EXPECT_EQ(reader.executions_of_kernel(3)[0].duration_ns, 100);
  ASSERT_EQ(reader.executions_of_kernel(4).size(), 1u);
  EXPECT_EQ(reader.executions_of_kernel(4)[0].duration_ns, 5);
  EXPECT_EQ(reader.events_of_kernel(4).size(), 2u);
}

TEST_F(RoundTrip, AStageWithoutItsStepIsTheLastStep) {
  Writer writer(file());
  compile = add_compile(writer);
  for (const char* stage : {"captured", "simplified:cse", "simplified:dce", "scheduled"}) {
    SnapshotRecord snapshot;
    snapshot.compile = compile;
    snapshot.stage = stage;
    writer.add(snapshot);
  }
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.find_snapshot(compile, "simplified").stage, "simplified:dce");
  EXPECT_EQ(reader.find_snapshot(compile, "simplified:cse").stage, "simplified:cse");
  EXPECT_THROW(reader.find_snapshot(compile, "simpl"), Error);
}

TEST_F(RoundTrip, AbsentValuesStayAbsent) {
  Writer writer(file());
  compile = add_compile(writer);
  SymbolRecord symbol;
  symbol.compile = compile;
  symbol.hint = 0;
  symbol.id = writer.add(symbol);
  BufferRecord buffer;
  buffer.compile = compile;
  buffer.id = writer.add(buffer);
  MetricRecord metric;
  metric.value = std::numeric_limits<double>::quiet_NaN();
  writer.add(metric);
  metric.value = -std::numeric_limits<double>::infinity();
  writer.add(metric);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.symbols(compile).at(0), symbol);
  EXPECT_EQ(reader.buffers(compile).at(0), buffer);
  EXPECT_TRUE(std::isnan(reader.metrics().at(0).value));
  EXPECT_EQ(reader.metrics().at(1).value, metric.value);
}

TEST_F(RoundTrip, SourceFilesLoadTheirTextOnDemand) {
  Writer writer(file());
  SourceFileRecord excerpt{kNone, "a.py", true, "", {{3, "y = sin(x)"}, {17, "\treturn y"}}};
  excerpt.id = writer.add(excerpt);
  SourceFileRecord whole{kNone, "b.py", false, "import torch\n", {}};
  whole.id = writer.add(whole);
  SourceFileRecord later = excerpt;
  later.path = "b.py";
  writer.add(later);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.source_file("a.py"), excerpt);
  EXPECT_EQ(reader.source_file("b.py"), whole) << "the whole text goes before an excerpt";
  EXPECT_EQ(reader.source_file("c.py"), std::nullopt);
  ASSERT_EQ(reader.source_files().size(), 3u);
  EXPECT_EQ(reader.source_files()[1].path, "b.py");
  EXPECT_EQ(reader.source_files()[1].text, "");
}

TEST_F(RoundTrip, StacksAreInterned) {
  const std::vector<SourceLocation> stack{{"m.py", 3, "forward", "return f(x)"}, {"f.py", 9, "f", "x.sin()"}};
  const std::vector<SourceLocation> other{stack[1], stack[0]};
  Writer writer(file());
  const Id id = writer.stack(stack);
  EXPECT_EQ(writer.stack(stack), id);
  const Id other_id = writer.stack(other);
  EXPECT_NE(other_id, id);
  EXPECT_EQ(writer.stack({}), kNone);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.stack(id), stack);
  EXPECT_EQ(reader.stack(other_id), other);
  EXPECT_TRUE(reader.stack(kNone).empty());
}

TEST_F(RoundTrip, EventsInOrderOfStart) {
  Writer writer(file());
  std::vector<EventRecord> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(filler.fill<EventRecord>());
    events.back().run = 1;
    events.back().kernel = 5;
    events.back().start_ns = 100 - i;
  }
  const Id first = writer.add(events);
  for (int i = 0; i < 3; ++i) events[i].id = first + i;
  EventRecord single = events[0];
  single.run = 2;
  single.id = writer.add(single);
  writer.close();
  std::reverse(events.begin(), events.end());
  Reader reader(file());
  EXPECT_EQ(reader.events(1), events);
  EXPECT_EQ(reader.events(1, 2).size(), 2u);
  EXPECT_EQ(reader.events(2), std::vector{single});
  EXPECT_EQ(reader.events_of_kernel(5).size(), 4u);
  EXPECT_EQ(reader.event_count(), 4);
}

TEST_F(RoundTrip, ContentPackedAhead) {
  Writer writer(file());
  ArtifactRecord artifact;
  artifact.kind = "text";
  artifact.content = "not looked at";
  const std::string content = std::string(5000, 'y') + '\0';
  artifact.id = writer.add(artifact, pack_content(content, 1));
  ArtifactRecord after;
  after.content = "its own";
  after.id = writer.add(after);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.artifact(artifact.id)->content, content);
  EXPECT_EQ(reader.artifact(artifact.id)->size, 5001);
  EXPECT_EQ(reader.artifact(after.id)->content, "its own");
}

TEST_F(RoundTrip, ArtifactsAndMetricsByOwner) {
  Writer writer(file());
  ArtifactRecord artifact = filler.fill<ArtifactRecord>();
  artifact.owner = {OwnerKind::Kernel, 7, 2};
  artifact.content = std::string(100000, 'x') + '\0';
  artifact.size = 100001;
  artifact.id = writer.add(artifact);
  ArtifactRecord empty;
  empty.owner = {OwnerKind::Node, 7, 2};
  empty.id = writer.add(empty);
  MetricRecord metric{kNone, {OwnerKind::Node, 7, 2}, "bytes", 12, "B"};
  metric.id = writer.add(metric);
  writer.close();
  EXPECT_LT(std::filesystem::file_size(file()), 400000u);
  Reader reader(file());
  EXPECT_EQ(reader.artifact(artifact.id), artifact);
  EXPECT_EQ(reader.artifact(empty.id), empty);
  EXPECT_EQ(reader.artifact(99), std::nullopt);
  artifact.content.clear();
  artifact.lines.clear();
  EXPECT_EQ(reader.artifacts(artifact.owner), std::vector{artifact}) << "lists leave the content out";
  EXPECT_EQ(reader.artifacts({OwnerKind::Kernel, 8, 2}).size(), 0u);
  EXPECT_EQ(reader.artifacts_of_compile(2).size(), 2u);
  EXPECT_EQ(reader.artifacts({OwnerKind::Node, 7, 3}).size(), 0u) << "node ids are only unique within a compile";
  EXPECT_EQ(reader.metrics({OwnerKind::Node, 7, 2}), std::vector{metric});
  EXPECT_EQ(reader.metrics({OwnerKind::Node, 7, 3}).size(), 0u);
}

TEST_F(RoundTrip, RawRecords) {
  Writer writer(file());
  RawRecord raw = filler.fill<RawRecord>();
  raw.id = writer.add(raw);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.raw_record(raw.id), raw);
  raw.content.clear();
  EXPECT_EQ(reader.raw_records(), std::vector{raw});
}

TEST_F(RoundTrip, Nodes) {
  Writer writer(file());
  compile = add_compile(writer);
  std::vector<NodeRecord> nodes;
  for (int i = 0; i < 5; ++i) nodes.push_back(filler.fill<NodeRow>());
  const Id snapshot = writer.add(stage(compile, "captured"), nodes);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.nodes(snapshot), nodes);
  EXPECT_EQ(reader.node(snapshot, nodes[3].id), nodes[3]);
  EXPECT_EQ(reader.node(snapshot, 1), std::nullopt);
  EXPECT_EQ(reader.last_node(compile, nodes[2].id), nodes[2]);
  EXPECT_EQ(error_of([&] { reader.nodes(snapshot + 1); }).kind(), ErrorKind::User);
}

TEST_F(RoundTrip, UpdatesReplace) {
  Writer writer(file());
  CompileRecord record;
  record.address = "0/0";
  record.id = writer.add(record);
  PassRecord pass;
  pass.compile = record.id;
  pass.name = "cse";
  pass.id = writer.add(pass);
  writer.commit();
  record.outcome = "failed";
  record.error = "no kernel";
  writer.update(record);
  pass.duration_ns = 12;
  pass.verified = Verified::Passed;
  writer.update(pass);
  PassRecord unknown = pass;
  unknown.id = 9;
  EXPECT_EQ(error_of([&] { writer.update(unknown); }).kind(), ErrorKind::Internal);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.compiles(), std::vector{record});
  EXPECT_EQ(reader.pass(pass.id), pass);
}

TEST_F(RoundTrip, FindNamesTheNearest) {
  Writer writer(file());
  compile = add_compile(writer, "0/1");
  add_compile(writer, "1/0");
  const Id snapshot = writer.add(stage(compile, "captured"), std::vector{make_node(1, "x")});
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.find_compile("").id, compile);
  EXPECT_EQ(reader.find_compile("0/1").id, compile);
  EXPECT_EQ(reader.find_snapshot(compile, "captured").id, snapshot);
  const Error no_stage = error_of([&] { reader.find_snapshot(compile, "capturd"); });
  EXPECT_EQ(no_stage.kind(), ErrorKind::User);
  EXPECT_NE(std::string(no_stage.what()).find("did you mean 'captured'"), std::string::npos) << no_stage.what();
  EXPECT_EQ(error_of([&] { reader.find_compile("5/5"); }).kind(), ErrorKind::User);
}

}  // namespace
}  // namespace strata::trace
