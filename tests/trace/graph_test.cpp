// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Snapshots as deltas, their differences, and walks along origin edges.

#include "core/trace/codec.h"
#include "core/trace/database.h"
#include "tests/trace/trace_testing.h"

namespace strata::trace {
namespace {

class Graph : public TraceTest {};

TEST_F(Graph, StagesAreNumberedAndUnique) {
  Writer writer(file());
  const Id compile = add_compile(writer);
  const std::vector nodes{make_node(1, "x")};
  writer.add(stage(compile, "captured"), nodes);
  writer.add(stage(compile, "simplified:cse"), nodes);
  SnapshotRecord text = stage(compile, "code");
  text.kind = SnapshotKind::Text;
  writer.add(text);
  writer.add(stage(compile, "simplified:cse"), nodes);
  writer.close();
  const auto snapshots = Reader(file()).snapshots(compile);
  ASSERT_EQ(snapshots.size(), 4u);
  EXPECT_EQ(snapshots[0].node_count, 1);
  EXPECT_EQ(snapshots[0].added, 1);
  EXPECT_EQ(snapshots[2].kind, SnapshotKind::Text);
  EXPECT_EQ(snapshots[3].stage, "simplified:cse#2");
  EXPECT_EQ(snapshots[3].ordinal, 3);
  EXPECT_EQ(snapshots[3].added + snapshots[3].removed + snapshots[3].changed, 0);
}

TEST_F(Graph, DiffSaysAddedRemovedChanged) {
  Writer writer(file());
  const Id compile = add_compile(writer);
  std::vector nodes{make_node(1, "x"), make_node(2, "aten.sin", {1}), make_node(3, "aten.cos", {1}),
                    make_node(4, "aten.add", {2, 3})};
  const Id before = writer.add(stage(compile, "captured"), nodes);
  const NodeRecord old_add = nodes[3];
  nodes[3] = make_node(4, "aten.add", {2, 5});
  const NodeRecord cos = nodes[2];
  nodes[2] = make_node(5, "aten.sin", {2});
  const Id after = writer.add(stage(compile, "simplified"), nodes);
  std::swap(nodes[1], nodes[2]);
  const Id swapped = writer.add(stage(compile, "swapped"), nodes);
  const Id other = add_compile(writer, "1/0");
  const Id elsewhere = writer.add(stage(other, "captured"), nodes);
  writer.close();

  Reader reader(file());
  const SnapshotDiff diff = reader.diff(before, after);
  EXPECT_EQ(ids_of(diff.added), std::vector<NodeId>{5});
  ASSERT_EQ(diff.removed.size(), 1u);
  EXPECT_EQ(diff.removed[0], cos);
  ASSERT_EQ(diff.changed.size(), 1u);
  EXPECT_EQ(diff.changed[0].before, old_add);
  EXPECT_EQ(diff.changed[0].after, nodes[3]);
  EXPECT_FALSE(diff.reordered);
  const SnapshotDiff back = reader.diff(after, before);
  EXPECT_EQ(ids_of(back.removed), std::vector<NodeId>{5});
  EXPECT_EQ(ids_of(back.added), std::vector<NodeId>{3});
  EXPECT_TRUE(reader.diff(after, swapped).reordered);
  EXPECT_TRUE(reader.diff(after, swapped).changed.empty());
  const auto row = reader.snapshot(after);
  EXPECT_EQ(row->added, 1);
  EXPECT_EQ(row->removed, 1);
  EXPECT_EQ(row->changed, 1);
  EXPECT_EQ(error_of([&] { reader.diff(after, elsewhere); }).kind(), ErrorKind::User);
}

TEST_F(Graph, HistoryOfANode) {
  Writer writer(file());
  const Id compile = add_compile(writer);
  const Id first = writer.add(stage(compile, "a"), std::vector{make_node(1, "x"), make_node(2, "aten.add", {1})});
  writer.add(stage(compile, "b"), std::vector{make_node(1, "x"), make_node(2, "aten.add", {1})});
  const Id third = writer.add(stage(compile, "c"), std::vector{make_node(1, "x"), make_node(2, "aten.mul", {1})});
  writer.close();
  const auto history = Reader(file()).history(compile, 2);
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].snapshot, first);
  EXPECT_EQ(history[0].node.target, "aten.add");
  EXPECT_EQ(history[1].snapshot, third);
  EXPECT_EQ(history[1].node.target, "aten.mul");
}

TEST_F(Graph, WrongSnapshotsAreRefusedAndHarmless) {
  Writer writer(file());
  const Id compile = add_compile(writer);
  const std::vector good{make_node(1, "x"), make_node(2, "aten.sin", {1})};
  const auto kind = [&](const std::vector<NodeRecord>& nodes) {
    return error_of([&] { writer.add(stage(compile, "bad"), nodes); }).kind();
  };
  EXPECT_EQ(kind({good[0], good[0]}), ErrorKind::Internal);
  EXPECT_EQ(kind({make_node(0, "x")}), ErrorKind::Internal);
  EXPECT_EQ(kind({make_node(-4, "x")}), ErrorKind::Internal);
  const std::vector<NodeId> order{1, 2};
  EXPECT_EQ(error_of([&] { writer.add_delta(stage(compile, "bad"), {}, order); }).kind(), ErrorKind::Internal);
  EXPECT_EQ(error_of([&] { writer.add(stage(77, "bad"), good); }).kind(), ErrorKind::Internal);
  const Id snapshot = writer.add(stage(compile, "good"), good);
  writer.close();
  Reader reader(file());
  EXPECT_EQ(reader.snapshots(compile).size(), 1u);
  EXPECT_EQ(reader.nodes(snapshot), good);
}

/// A random edit as a pass would do it: nodes vanish, appear, change and move.
void mutate(std::vector<NodeRecord>& nodes, NodeId& next, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int edit = 0; edit < 12; ++edit) {
    const auto at = nodes.begin() + static_cast<std::ptrdiff_t>(nodes.empty() ? 0 : below(nodes.size()));
    switch (nodes.empty() ? 0 : below(4)) {
      case 0:
        nodes.insert(at, make_node(++next, "aten.new", {static_cast<NodeId>(below(50) + 1)}));
        break;
      case 1:
        nodes.erase(at);
        break;
      case 2:
        at->target = "aten.changed" + std::to_string(below(1000));
        break;
      default:
        std::rotate(nodes.begin(), at, nodes.end());
    }
  }
}

TEST_F(Graph, EverySnapshotIsRebuiltFromDeltas) {
  std::mt19937_64 random{std::random_device{}()};
  Writer writer(file(), {.keyframe_interval = 5});
  const Id compile = add_compile(writer);
  NodeId next = 0;
  std::vector<NodeRecord> nodes;
  while (nodes.size() < 200) nodes.push_back(make_node(++next, "aten.start"));
  const std::vector<NodeRecord> start = nodes;
  std::vector<std::pair<Id, std::vector<NodeRecord>>> expected;
  for (int i = 0; i < 40; ++i) {
    if (i == 20) nodes = start;  // nodes that ended come back, as forward and backward do after joint
    const auto before = nodes;
    mutate(nodes, next, random);
    SnapshotRecord record = stage(compile, "s" + std::to_string(i));
    if (i % 2 == 0) {
      expected.emplace_back(writer.add(record, nodes), nodes);
    } else {
      std::vector<NodeRecord> fresh;
      for (const auto& node : nodes) {
        if (std::find(before.begin(), before.end(), node) == before.end()) fresh.push_back(node);
      }
      const auto order = ids_of(nodes);
      expected.emplace_back(writer.add_delta(record, fresh, order), nodes);
    }
  }
  writer.close();
  Reader forward(file());
  for (const auto& [snapshot, content] : expected) EXPECT_EQ(forward.nodes(snapshot), content) << snapshot;
  Reader backward(file());
  std::reverse(expected.begin(), expected.end());
  for (const auto& [snapshot, content] : expected) EXPECT_EQ(backward.nodes(snapshot), content) << snapshot;
  Database raw(file(), Database::Mode::ReadOnly, file());
  const auto keyframes = raw.integer("SELECT count(*) FROM snapshot WHERE base = 0");
  EXPECT_GE(keyframes, 8);
  EXPECT_LE(keyframes, 14) << "most snapshots must be deltas";
}

/// captured: 1 -> 2 (softmax); decomposed: 2 becomes 3, 4, 5; simplified: 4 and 6 become 7, 5 is removed.
struct Story {
  explicit Story(const std::filesystem::path& path) : writer(path) {
    compile = add_compile(writer);
    stack = writer.stack(std::vector<SourceLocation>{{"main.py", 1, "<module>", "m(x)"}, {"m.py", 7, "forward", "s"}});
    PassRecord pass;
    pass.compile = compile;
    pass.name = "decompose";
    this->pass = writer.add(pass);
    auto softmax = make_node(2, "aten.softmax", {1});
    softmax.stack = stack;
    captured = writer.add(stage(compile, "captured"), std::vector{make_node(1, "x"), softmax});
    const std::vector nodes{make_node(1, "x"), make_node(3, "aten.exp", {1}), make_node(4, "aten.sum", {3}),
                            make_node(5, "aten.clone", {4})};
    decomposed = writer.add(stage(compile, "decomposed", this->pass), nodes);
    scheduled = writer.add(stage(compile, "scheduled"), std::vector{nodes[0], nodes[1], make_node(7, "aten.sum", {3})});
    for (const NodeId node : {3, 4, 5}) writer.add(OriginRecord{compile, node, 2, "decomposed", "softmax", true});
    writer.add(OriginRecord{compile, 7, 4, "replaced", "x + 0", false});
    writer.add(RemovalRecord{compile, 5, this->pass, "dce", "has no user"});
    writer.add(RewriteRecord{kNone, compile, this->pass, "softmax", {2}, {3, 4, 5}, "primitive set"});
    KernelRecord record;
    record.compile = compile;
    record.name = "k";
    record.nodes = {3, 7};
    kernel = writer.add(record);
    LaunchRecord launch_record;
    launch_record.compile = compile;
    launch_record.kernel = kernel;
    launch = writer.add(launch_record);
    EventRecord event;
    event.launch = launch;
    writer.add(event);
    event.kernel = kernel;
    writer.add(event);
    event.kernel = kernel + 1;
    event.launch = launch + 1;
    writer.add(event);
    writer.add(FusionRecord{kNone, compile, this->pass, 3, 7, 0, 0, true, "pointwise into reduction", "same domain"});
    writer.close();
  }
  Writer writer;
  Id compile, stack, pass, captured, decomposed, scheduled, kernel, launch;
};

TEST_F(Graph, OriginsLeadUpToSourceLines) {
  const Story story(file());
  Reader reader(file());
  const Origins origins = reader.origins(story.compile, 7);
  ASSERT_EQ(origins.ancestors.size(), 3u);
  EXPECT_EQ(origins.ancestors[0].node.id, 7);
  EXPECT_EQ(origins.ancestors[1].node.id, 4);
  EXPECT_EQ(origins.ancestors[1].edge.rule, "x + 0");
  EXPECT_FALSE(origins.ancestors[1].edge.exact);
  EXPECT_EQ(origins.ancestors[2].node.target, "aten.softmax");
  EXPECT_EQ(origins.ancestors[2].via, 4);
  EXPECT_EQ(origins.ancestors[2].depth, 2);
  EXPECT_EQ(origins.ancestors[2].first_snapshot, story.captured);
  EXPECT_EQ(origins.ancestors[2].last_snapshot, story.captured);
  EXPECT_EQ(origins.ancestors[0].last_snapshot, story.scheduled);
  ASSERT_EQ(origins.locations.size(), 1u);
  EXPECT_EQ(origins.locations[0].line, 7) << "the innermost location counts";
  EXPECT_TRUE(reader.origins(story.compile, 99).ancestors.empty());
}

TEST_F(Graph, ResultsLeadDownToEvents) {
  const Story story(file());
  Reader reader(file());
  const Results results = reader.results(story.compile, 2);
  ASSERT_EQ(results.descendants.size(), 5u);
  EXPECT_EQ(results.descendants[4].node.id, 7);
  ASSERT_EQ(results.kernels.size(), 1u);
  EXPECT_EQ(results.kernels[0].id, story.kernel);
  ASSERT_EQ(results.launches.size(), 1u);
  EXPECT_EQ(results.events.size(), 2u);
  ASSERT_EQ(results.removals.size(), 1u);
  EXPECT_EQ(results.removals[0].reason, "has no user");
  EXPECT_EQ(reader.results(story.compile, 2, 1).events.size(), 1u);
  EXPECT_TRUE(reader.results(story.compile, 1).kernels.empty());
}

TEST_F(Graph, QuestionsAboutOneNode) {
  const Story story(file());
  Reader reader(file());
  EXPECT_EQ(reader.removal(story.compile, 5)->rule, "dce");
  EXPECT_EQ(reader.removal(story.compile, 4), std::nullopt);
  EXPECT_EQ(reader.removals(story.compile).size(), 1u);
  EXPECT_EQ(reader.edges_up(story.compile, 7).size(), 1u);
  EXPECT_EQ(reader.edges_down(story.compile, 2).size(), 3u);
  EXPECT_EQ(reader.edges(story.compile).size(), 4u);
  EXPECT_EQ(reader.rewrites_of_node(story.compile, 4).size(), 1u);
  EXPECT_EQ(reader.rewrites_of_node(story.compile, 7).size(), 0u);
  EXPECT_EQ(reader.rewrites_of_pass(story.pass).size(), 1u);
  EXPECT_EQ(reader.fusions_of_node(story.compile, 7).size(), 1u);
  EXPECT_EQ(reader.fusions_of_node(story.compile, 4).size(), 0u);
  EXPECT_EQ(reader.kernels_of_node(story.compile, 3).size(), 1u);
  EXPECT_EQ(reader.kernels_of_node(story.compile, 4).size(), 0u);
  EXPECT_EQ(reader.nodes_at(story.compile, "m.py", 7), std::vector<NodeId>{2});
  EXPECT_TRUE(reader.nodes_at(story.compile, "m.py", 8).empty());
  EXPECT_TRUE(reader.nodes_at(story.compile, "n.py", 7).empty());
}

TEST_F(Graph, OriginCirclesEnd) {
  Writer writer(file());
  const Id compile = add_compile(writer);
  writer.add(stage(compile, "a"), std::vector{make_node(1, "x"), make_node(2, "y")});
  writer.add(std::vector<OriginRecord>{{compile, 1, 2, "", "", true}, {compile, 2, 1, "", "", true}});
  writer.close();
  EXPECT_EQ(Reader(file()).origins(compile, 1).ancestors.size(), 2u);
}

TEST(OrderCodec, RefusesWhatDoesNotFit) {
  const std::vector<OrderEntry> base{{1, 1}, {2, 2}, {3, 3}};
  OrderEncoder encoder;
  encoder.copy(1);
  encoder.copy(2);
  encoder.insert({9, 4});
  encoder.copy(0);
  const std::string good = encoder.finish();
  const std::vector<OrderEntry> expected{{2, 2}, {3, 3}, {9, 4}, {1, 1}};
  EXPECT_EQ(decode_order(good, base, 4), expected);
  EXPECT_THROW(decode_order(good, base, 3), FormatError);
  EXPECT_THROW(decode_order(good, std::span(base).first(2), 4), FormatError);
  EXPECT_THROW(decode_order(std::string(12, '\xff'), base, 1000), FormatError);
  EXPECT_THROW(decode_ids("[1,2"), FormatError);
  EXPECT_THROW(decode_ids("[99999999999999999999]"), FormatError);
  EXPECT_THROW(decode_operands("[[1],]"), FormatError);
  EXPECT_THROW(decompress("not zstd"), FormatError);
}

}  // namespace
}  // namespace strata::trace
