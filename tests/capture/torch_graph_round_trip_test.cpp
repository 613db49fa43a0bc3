// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Every graph of every log goes into a trace and comes back as the text it was, up to white space.

#include <gtest/gtest.h>

#include <cstdlib>

#include "capture/torch_graph/importer.h"
#include "capture/torch_graph/records.h"
#include "core/ir/fx_printer.h"
#include "core/trace/reader.h"
#include "tests/capture/torch_graph_support.h"

namespace strata::capture {
namespace {

namespace fs = std::filesystem;

struct TempTrace {
  TempTrace() : path(fs::path(testing::TempDir()) / ("torch_graph_" + std::to_string(getpid()) + ".strata")) {}
  ~TempTrace() { fs::remove(path); }
  fs::path path;
};

/// Sources of the records go back to the nodes, so that comments print.
Graph graph_in(trace::Reader& reader, const trace::SnapshotRecord& snapshot) {
  const auto nodes = reader.nodes(snapshot.id);
  std::unordered_map<const Node*, const trace::NodeRecord*> records;
  Graph graph = graph_of(snapshot, nodes, nullptr, &records);
  std::unordered_map<trace::Id, SourceStack> stacks;
  for (const auto& [node, record] : records) {
    if (record->stack == trace::kNone) continue;
    SourceStack& stack = stacks[record->stack];
    if (!stack) {
      auto entries = std::make_shared<std::vector<SourceLocation>>();
      for (const auto& l : reader.stack(record->stack))
        entries->push_back({l.file, static_cast<int>(l.line), l.function, l.text});
      stack = entries;
    }
    const_cast<Node*>(node)->meta.source = stack;
  }
  return graph;
}

int expect_round_trip(const fs::path& log) {
  SCOPED_TRACE(log.string());
  TempTrace trace;
  std::map<trace::Id, std::string> payloads;
  {
    trace::Writer writer(trace.path);
    ImportContext context(writer);
    for (const auto& [compile, graphs] : test::graphs_by_compile(test::log_records(test::file_bytes(log)))) {
      trace::CompileRecord record;
      record.address = compile;
      GraphImporter importer(context, writer.add(record));
      for (const test::LogGraph& g : graphs) {
        ParsedGraph parsed = parse_graph_payload(g.record.payload);
        EXPECT_EQ(parsed.error, "") << g.record.key << " at line " << g.record.line;
        EXPECT_TRUE(parsed.exact) << g.record.key << " at line " << g.record.line;
        payloads[importer.add(g.place.stage, trace::kNone, std::move(parsed), g.record.payload, g.place.role)] =
            g.record.payload;
      }
      importer.finish();
    }
    writer.close();
  }
  trace::Reader reader(trace.path);
  for (const trace::CompileRecord& compile : reader.compiles()) {
    for (const trace::SnapshotRecord& snapshot : reader.snapshots(compile.id)) {
      const std::string printed = print_fx(graph_in(reader, snapshot));
      EXPECT_EQ(test::words(printed), test::words(payloads.at(snapshot.id)))
          << compile.address << " " << snapshot.stage;
    }
  }
  return static_cast<int>(payloads.size());
}

TEST(TorchGraphRoundTrip, EveryGraphOfTheLogs) {
  int graphs = 0;
  for (const fs::path& log : test::logs_below(STRATA_TEST_DATA "/torch/logs")) graphs += expect_round_trip(log);
  EXPECT_GE(graphs, 100);
}

TEST(TorchGraphRoundTrip, EveryGraphOfExtraFolder) {
  const char* folder = std::getenv("STRATA_TORCH_TRACES");
  if (!folder) GTEST_SKIP() << "STRATA_TORCH_TRACES is not set: no folder of more logs";
  int graphs = 0;
  for (const fs::path& log : test::logs_below(folder)) graphs += expect_round_trip(log);
  std::cout << graphs << " graphs\n";
  EXPECT_GT(graphs, 0);
}

}  // namespace
}  // namespace strata::capture
