// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Two graphs put beside each other: how long until both are read, every node has its partner and every difference its
/// reason. One node in a hundred is missing, all have other names and ids, one in fifty (or all) another shape.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "app/studio/models/comparison_graph.h"
#include "core/trace/writer.h"
#include "tests/studio/compare_graphs.h"

namespace {

namespace fs = std::filesystem;
using namespace strata;
using Nodes = std::vector<trace::NodeRecord>;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

Nodes other(int count, bool modules, bool all_shapes) {
  Nodes nodes = test::make_graph(count, 1'000'000, modules);
  for (size_t at = nodes.size() - 50; at > 100; at -= 100) test::remove_node(nodes, at);
  for (size_t i = 1; i < nodes.size(); ++i) {
    nodes[i].name = "other_" + std::to_string(i);
    if (all_shapes || i % 50 == 0) nodes[i].shape = "[s0, 128]", nodes[i].type = "f32[s0, 128]";
  }
  return nodes;
}

void write(const fs::path& path, const Nodes& nodes) {
  trace::Writer writer(path);
  trace::CompileRecord compile;
  compile.address = "0/0";
  trace::SnapshotRecord snapshot;
  snapshot.compile = writer.add(compile);
  snapshot.stage = "captured";
  writer.add(snapshot, nodes);
  writer.close();
}

studio::CompareSide side(const fs::path& path) {
  studio::CompareSide side;
  side.reader = std::make_shared<trace::Reader>(path);
  side.snapshot = side.reader->snapshots(side.reader->compiles().front().id).front().id;
  return side;
}

void measure(const char* name, int count, bool modules, bool all_shapes, const fs::path& folder) {
  const Nodes a = test::make_graph(count, 1, modules), b = other(count, modules, all_shapes);
  write(folder / "a.strata", a);
  write(folder / "b.strata", b);
  const auto first = side(folder / "a.strata"), second = side(folder / "b.strata");
  auto from = Clock::now();
  const auto whole = studio::load_graph_comparison(first, second);
  const double all = milliseconds(from);
  from = Clock::now();
  const auto c = studio::compare_graphs({&a, {}}, {&b, {}}, false);
  fmt::print("{:8} {:6} x {:6} {:10.0f} ms {:10.0f} ms {:7} same {:6} changed {:5} only A {:5} only B\n", name,
             a.size(), b.size(), milliseconds(from), all, whole.same, whole.changed, c.only_a, c.only_b);
}

}  // namespace

int main() {
  const fs::path folder = fs::temp_directory_path() / ("strata-bench-compare-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  fmt::print("graphs             nodes      compare    with reading\n");
  for (const int count : {10000, 40000}) {
    measure("modules", count, true, false, folder);
    measure("flat", count, false, false, folder);
    measure("dynamic", count, true, true, folder);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}
