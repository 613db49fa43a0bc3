// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Synthetic graphs and traces for the benchmarks of the window.

#include <fmt/format.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/trace/writer.h"

namespace strata::bench {

/// A decoder without modules: norms, projections with weights, attention, residuals, a gated MLP, 30 nodes a layer.
class Decoder {
 public:
  explicit Decoder(size_t count) {
    trace::NodeId x = input("tokens");
    const trace::NodeId mask = input("mask");
    while (nodes_.size() + 30 < count) x = layer(x, mask);
    while (nodes_.size() < count) x = call("aten.gelu.default", {x});
  }
  std::vector<trace::NodeRecord> take() { return std::move(nodes_); }

 private:
  trace::NodeId add(trace::NodeRecord node) {
    node.id = static_cast<trace::NodeId>(nodes_.size()) + 1;
    if (node.name.empty()) node.name = fmt::format("v{}", node.id);
    node.dtype = "f32";
    node.shape = "[8, 128, 768]";
    nodes_.push_back(std::move(node));
    return nodes_.back().id;
  }
  trace::NodeId input(const std::string& name) {
    trace::NodeRecord node;
    node.name = name;
    node.op = "placeholder";
    return add(std::move(node));
  }
  trace::NodeId weight() { return input(fmt::format("p_weight_{}", nodes_.size())); }
  trace::NodeId call(const char* target, const std::vector<trace::NodeId>& operands) {
    trace::NodeRecord node;
    node.op = "call";
    node.target = target;
    for (auto operand : operands) node.inputs.push_back({operand});
    return add(std::move(node));
  }
  trace::NodeId norm(trace::NodeId x) {
    auto scale = call("aten.rsqrt.default", {call("aten.mean.dim", {call("aten.pow.Tensor_Scalar", {x})})});
    return call("aten.mul.Tensor", {call("aten.mul.Tensor", {x, scale}), weight()});
  }
  friend std::vector<trace::NodeRecord> towers(size_t count);
  Decoder() = default;
  trace::NodeId layer(trace::NodeId x, trace::NodeId mask) {
    const auto h = norm(x);
    auto heads = [&] { return call("aten.view.default", {call("aten.mm.default", {h, weight()})}); };
    const auto q = heads(), k = heads(), v = heads();
    const auto scores = call("aten.add.Tensor", {call("aten.bmm.default", {q, k}), mask});
    const auto mixed = call("aten.bmm.default", {call("aten.softmax.int", {scores}), v});
    x = call("aten.add.Tensor", {x, call("aten.mm.default", {mixed, weight()})});
    const auto g = norm(x);
    const auto gate = call("aten.silu.default", {call("aten.mm.default", {g, weight()})});
    const auto up = call("aten.mul.Tensor", {gate, call("aten.mm.default", {g, weight()})});
    return call("aten.add.Tensor", {x, call("aten.mm.default", {up, weight()})});
  }
  std::vector<trace::NodeRecord> nodes_;
};

/// A hundred chains side by side, each step also reading from its neighbour: as many boxes in view as can be.
inline std::vector<trace::NodeRecord> towers(size_t count) {
  Decoder made;
  std::vector<trace::NodeId> last;
  for (size_t i = 0; i < 100; ++i) last.push_back(made.input(fmt::format("in{}", i)));
  for (size_t i = 100; i < count; ++i)
    last[i % 100] = made.call("aten.add.Tensor", {last[i % 100], last[(i + 1) % 100]});
  return made.take();
}

/// Three stages: every twentieth node changes, then every fiftieth call is bypassed.
inline void write_trace(const std::filesystem::path& path, std::vector<trace::NodeRecord> nodes) {
  trace::Writer writer(path);
  trace::CompileRecord compile;
  compile.address = "0/0";
  compile.name = "decoder";
  compile.outcome = "ok";
  const trace::Id id = writer.add(compile);
  auto stage = [&](const char* name) {
    trace::SnapshotRecord snapshot;
    snapshot.compile = id;
    snapshot.stage = name;
    writer.add(snapshot, nodes);
  };
  stage("captured");
  for (size_t i = 0; i < nodes.size(); i += 20) nodes[i].dtype = "bf16";
  stage("functional");
  std::vector<trace::NodeRecord> fewer;
  std::vector<trace::NodeId> instead(nodes.size() + 1);
  for (auto& node : nodes) {
    for (auto& operand : node.inputs)
      for (auto& of : operand) of = instead[static_cast<size_t>(of)];
    const bool gone = node.id % 50 == 0 && node.inputs.size() == 1;
    instead[static_cast<size_t>(node.id)] = gone ? node.inputs[0][0] : node.id;
    if (!gone) fewer.push_back(node);
  }
  nodes = std::move(fewer);
  stage("decomposed");
  writer.close();
}

/// A profile: threads with nested operators that launch kernels on two streams.
inline void write_events(const std::filesystem::path& path, int count) {
  trace::Writer writer(path);
  trace::RunRecord run;
  run.label = "profile";
  run.clock = "unix";
  run.start_ns = 0;
  run.id = writer.add(run);
  std::vector<trace::Id> tracks;
  for (int i = 0; i < 6; ++i) {
    trace::TrackRecord track;
    track.pid = i < 4 ? "100" : "0";
    track.tid = fmt::format("{}", i);
    track.name = fmt::format("{} {}", i < 4 ? "thread" : "stream", i);
    track.device = i < 4 ? -1 : 0;
    track.stream = i < 4 ? -1 : i;
    tracks.push_back(writer.add(track));
  }
  std::mt19937 random(7);
  std::vector<std::int64_t> at(tracks.size(), 0);
  std::vector<trace::EventRecord> batch;
  for (int i = 0; i < count; ++i) {
    const size_t row = random() % tracks.size();
    trace::EventRecord e;
    e.run = run.id;
    e.track = tracks[row];
    e.clock = run.clock;
    e.name = fmt::format("aten::op_{}", random() % 500);
    e.category = row < 4 ? "cpu_op" : "kernel";
    e.stream = row < 4 ? -1 : static_cast<std::int64_t>(row);
    e.correlation = i % 4 == 0 ? i : 0;
    e.start_ns = at[row];
    e.duration_ns = 500 + random() % 20000;
    at[row] += random() % 4 ? e.duration_ns + random() % 3000 : 1 + e.duration_ns / 3;
    batch.push_back(std::move(e));
    if (batch.size() < 8192 && i + 1 < count) continue;
    writer.add(batch);
    batch.clear();
  }
  writer.close();
}

}  // namespace strata::bench
