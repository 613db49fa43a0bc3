// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// A large compile stays small. Times are printed, not asserted.

#include <fmt/format.h>

#include <chrono>

#include "tests/trace/trace_testing.h"

namespace strata::trace {
namespace {

constexpr int kNodes = 40000, kPasses = 30;

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Size : public TraceTest {
 protected:
  std::mt19937_64 random{std::random_device{}()};
  NodeId next = 0;

  std::uint64_t below(std::uint64_t n) { return random() % n; }

  NodeRecord large_graph_node(Writer& writer) {
    const NodeId id = ++next;
    std::vector<NodeId> inputs;
    for (std::uint64_t i = 0; id > 1 && i < 1 + below(3); ++i)
      inputs.push_back(id - static_cast<NodeId>(1 + below(std::min<std::uint64_t>(id - 1, 30))));
    NodeRecord node = make_node(id, fmt::format("aten.op{}.Tensor", below(150)), inputs);
    node.name = fmt::format("op_{}", id);
    node.shape = fmt::format("[{}, {}]", 8 << below(4), 64 << below(6));
    node.type = fmt::format("f32{}[{}, 1]cpu", node.shape, 64 << below(6));
    node.module = fmt::format("model.layers.{}.attention.part{}", id / 400, id % 400 / 50);
    const auto line = static_cast<std::int64_t>(id % 900);
    node.stack = writer.stack(std::vector<SourceLocation>{
        {"main.py", 12, "<module>", "out = model(x)"}, {"model.py", line, "forward", fmt::format("y{} = f(x)", line)}});
    return node;
  }

  /// What a pass does to a graph: one node in fifty changes, one in a hundred is replaced.
  void run_pass(Writer& writer, std::vector<NodeRecord>& nodes) {
    for (NodeRecord& node : nodes) {
      const auto dice = below(100);
      if (dice < 2) node.args += ", alpha=2";
      if (dice == 2) node = large_graph_node(writer);
    }
  }
};

TEST_F(Size, FortyThousandNodesThroughThirtyPasses) {
  std::vector<NodeRecord> nodes;
  std::vector<Id> snapshots;
  double first_ms = 0, passes_ms = 0;
  std::vector<NodeRecord> middle;
  {
    Writer writer(file());
    const Id compile = add_compile(writer);
    while (nodes.size() < kNodes) nodes.push_back(large_graph_node(writer));
    Stopwatch first;
    snapshots.push_back(writer.add(stage(compile, "captured"), nodes));
    first_ms = first.milliseconds();
    for (int pass = 1; pass <= kPasses; ++pass) {
      run_pass(writer, nodes);
      Stopwatch watch;
      snapshots.push_back(writer.add(stage(compile, fmt::format("simplified:pass{}", pass)), nodes));
      passes_ms += watch.milliseconds();
      if (pass == 15) middle = nodes;
    }
    Stopwatch closing;
    writer.close();
    fmt::print("write: first snapshot {:.0f} ms, then {:.1f} ms each, close {:.0f} ms\n", first_ms, passes_ms / kPasses,
               closing.milliseconds());
  }
  const auto bytes = std::filesystem::file_size(file());
  fmt::print("size: {:.1f} MB for {} snapshots of {} nodes\n", static_cast<double>(bytes) / 1e6, snapshots.size(),
             kNodes);
  EXPECT_LT(bytes, 60'000'000u);

  for (const std::size_t i : {std::size_t{0}, std::size_t{15}, snapshots.size() - 1}) {
    Stopwatch watch;
    Reader reader(file());
    const auto got = reader.nodes(snapshots[i]);
    fmt::print("read: open and snapshot {} in {:.0f} ms\n", i, watch.milliseconds());
    EXPECT_EQ(got.size(), nodes.size());
    if (i == 15) {
      EXPECT_EQ(got, middle);
    }
    if (i == snapshots.size() - 1) {
      EXPECT_EQ(got, nodes);
    }
  }
  Reader reader(file());
  Stopwatch near_watch;
  const SnapshotDiff step = reader.diff(snapshots[14], snapshots[15]);
  const double near_ms = near_watch.milliseconds();
  Stopwatch far_watch;
  const SnapshotDiff all = reader.diff(snapshots.front(), snapshots.back());
  fmt::print("diff: neighbours {:.1f} ms ({} changed), first to last {:.0f} ms ({} changed, {} added)\n", near_ms,
             step.changed.size(), far_watch.milliseconds(), all.changed.size(), all.added.size());
  EXPECT_EQ(all.added.size(), all.removed.size());
  EXPECT_GT(step.added.size(), 0u);
}

TEST_F(Size, EventsAreCheap) {
  constexpr int kEvents = 200000;
  const std::string names[] = {"fused_add_relu", "fused_softmax"};
  Writer writer(file());
  EventRecord event;
  event.run = 1;
  event.category = "kernel";
  event.clock = "steady";
  Stopwatch watch;
  for (int i = 0; i < kEvents; ++i) {
    event.kernel = i % 300 + 1;
    event.name = names[i % 2];
    event.start_ns = 1000 * i;
    writer.add(event);
  }
  writer.commit();
  fmt::print("events: {:.2f} us each\n", watch.milliseconds() * 1000 / kEvents);
  Stopwatch commits;
  for (int i = 0; i < 1000; ++i) {
    writer.add(event);
    writer.commit();
  }
  fmt::print("events: {:.1f} us each when every one is committed\n", commits.milliseconds());
  writer.close();
  fmt::print("events: {:.0f} bytes each\n", static_cast<double>(std::filesystem::file_size(file())) / kEvents);
  EXPECT_EQ(Reader(file()).event_count(), kEvents + 1000);
}

}  // namespace
}  // namespace strata::trace
