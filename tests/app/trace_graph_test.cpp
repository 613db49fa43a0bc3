// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Imported graphs out of a trace: they print as the text that they were read from, and know their sources, modules,
/// origins and the ranges of their symbols.

#include "app/driver/trace_graph.h"

#include <gtest/gtest.h>

#include "capture/torch_graph/importer.h"
#include "core/ir/fx_printer.h"
#include "core/support/error.h"
#include "tests/capture/torch_graph_support.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using capture::test::LogGraph;

struct Imported {
  explicit Imported(const std::string& log)
      : path(fs::path(testing::TempDir()) / ("trace_graph_" + log + std::to_string(getpid()) + ".strata")) {
    namespace test = capture::test;
    trace::Writer writer(path);
    capture::ImportContext context(writer);
    const std::string text = test::file_bytes(STRATA_TEST_DATA "/torch/logs/" + log + ".log.gz");
    for (const auto& [address, graphs] : test::graphs_by_compile(test::log_records(text))) {
      trace::CompileRecord record;
      record.address = address;
      const trace::Id compile = writer.add(record);
      trace::SymbolRecord symbol;
      symbol.compile = compile;
      symbol.name = "s77";
      symbol.min = 2;
      symbol.max = 512;
      symbol.hint = 16;
      writer.add(symbol);
      capture::GraphImporter importer(context, compile);
      for (const LogGraph& g : graphs) {
        const trace::Id id = importer.add(g.place.stage, trace::kNone, capture::parse_graph_payload(g.record.payload),
                                          g.record.payload, g.place.role);
        payloads[id] = g.record.payload;
      }
      importer.finish();
    }
    writer.close();
  }
  ~Imported() { fs::remove(path); }
  fs::path path;
  std::map<trace::Id, std::string> payloads;
};

TEST(TraceGraph, ImportedGraphsPrintAsTheyWereRead) {
  for (const char* log : {"cnn_fmnist", "dynamic_shapes", "breaks_many"}) {
    const Imported imported(log);
    trace::Reader reader(imported.path);
    ASSERT_GE(imported.payloads.size(), 8u);
    for (const auto& [id, payload] : imported.payloads) {
      const Graph graph = graph_from_trace(reader, *reader.snapshot(id));
      EXPECT_EQ(capture::test::words(print_fx(graph)), capture::test::words(payload)) << log << " snapshot " << id;
    }
  }
}

TEST(TraceGraph, ImportedNodesKnowWhereTheyComeFrom) {
  const Imported imported("cnn_fmnist");
  trace::Reader reader(imported.path);
  const trace::Id compile = reader.compiles().front().id;
  const Graph graph = graph_from_trace(reader, reader.find_snapshot(compile, "simplified:backward.after"));
  const Node* node = graph.find("convolution_backward");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->meta.role, Role::Backward);
  EXPECT_EQ(node->meta.module_path, "layer2.0");
  ASSERT_TRUE(node->meta.source);
  EXPECT_EQ(node->meta.source->back().function, "forward");
  ASSERT_EQ(node->meta.origins.size(), 1u);
  EXPECT_EQ(node->meta.origins[0].kind, OriginKind::Gradient);
  EXPECT_FALSE(node->meta.origins[0].exact);
  const Graph captured = graph_from_trace(reader, reader.find_snapshot(compile, "captured"));
  const Node* cause = captured.find(node->meta.origins[0].node);
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->name, "input_4");
}

TEST(TraceGraph, SymbolsOfImportedGraphsHaveTheirRanges) {
  const Imported imported("dynamic_shapes");
  trace::Reader reader(imported.path);
  const auto compiles = reader.compiles();
  const auto dynamic =
      std::find_if(compiles.begin(), compiles.end(), [](const auto& c) { return c.address == "0/1_0"; });
  ASSERT_NE(dynamic, compiles.end());
  const Graph graph = graph_from_trace(reader, reader.find_snapshot(dynamic->id, "captured"));
  const SymInt rows = graph.find("matmul")->tensor().shape.at(0);
  EXPECT_EQ(rows.str(), "s77");
  EXPECT_EQ(hint(rows), 16);
}

}  // namespace
}  // namespace strata
