// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Programs of structured logs and what importing them gives, for tests.

#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/import/context.h"
#include "capture/inductor/match_nodes.h"
#include "capture/inductor/output_code.h"
#include "capture/inductor/provenance.h"
#include "capture/torch_graph/importer.h"
#include "core/trace/reader.h"
#include "tests/capture/torch_graph_support.h"

namespace strata::capture::test {

/// An output code of a log with the graph before it and the maps behind it.
struct LogProgram {
  std::string code, graph, mappings, triton;
};

inline std::vector<LogProgram> log_programs(const std::string& name) {
  std::vector<LogProgram> out;
  std::string graph;
  for (LogRecord& r : log_records(file_bytes(STRATA_TEST_DATA "/torch/logs/" + name + ".log.gz"))) {
    if (r.key == "inductor_post_grad_graph") graph = r.payload;
    if (r.key == "inductor_output_code") out.push_back({r.payload, graph, {}, {}});
    if (out.empty()) continue;
    if (r.key == "inductor_provenance_tracking_node_mappings") out.back().mappings = r.payload;
    if (r.key == "triton_kernel_info") out.back().triton = r.payload;
  }
  return out;
}

/// A trace file that goes away with the test.
class TempTrace {
 public:
  explicit TempTrace(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) / (name + "_" + std::to_string(getpid()) + ".strata")) {}
  ~TempTrace() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Nodes of a graph text as a trace would have them.
inline std::vector<trace::NodeRecord> graph_nodes(const std::string& text) {
  TempTrace file("inductor_graph");
  trace::Writer writer(file.path());
  ImportContext context(writer);
  trace::CompileRecord compile;
  compile.address = "0/0";
  GraphImporter importer(context, writer.add(compile));
  const trace::Id id =
      importer.add("simplified:forward.after", trace::kNone, parse_graph_payload(text), text, "forward");
  const auto nodes = importer.nodes(id);
  return {nodes.begin(), nodes.end()};
}

}  // namespace strata::capture::test
