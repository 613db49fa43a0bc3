// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "app/studio/models/graph_groups.h"
#include "app/studio/models/overview.h"

namespace strata::studio {
namespace {

using namespace trace;

CompileData::Spread add_times(Reader& reader, CompileData& data, Id kernel) {
  CompileData::Spread spread;
  std::vector<double> durations;
  for (const auto& event : reader.executions_of_kernel(kernel, 2000))
    if (event.duration_ns >= 0) durations.push_back(static_cast<double>(event.duration_ns));
  if (durations.empty()) return spread;
  std::sort(durations.begin(), durations.end());
  spread.calls = durations.size();
  for (double d : durations) spread.total += d;
  spread.least = durations.front();
  spread.most = durations.back();
  data.times[kernel] = durations[durations.size() / 2];
  return spread;
}

/// The last stage with nodes before this one.
const SnapshotRecord* graph_before(const CompileData& compile, const SnapshotRecord& snapshot) {
  const SnapshotRecord* best = nullptr;
  for (const auto& other : compile.snapshots)
    if (other.kind == SnapshotKind::Graph && other.ordinal < snapshot.ordinal &&
        (!best || other.ordinal > best->ordinal))
      best = &other;
  return best;
}

void add_names(StepData& step) {
  for (const auto& change : step.diff.changed) step.names[change.before.id] = change.before.name;
  for (const auto& node : step.diff.removed) step.names[node.id] = node.name;
  for (const auto& node : step.nodes) step.names[node.id] = node.name;
}

void read_changes(Reader& reader, const CompileData& compile, StepData& step) {
  if (step.snapshot.pass != kNone) step.rewrites = reader.rewrites_of_pass(step.snapshot.pass);
  const SnapshotRecord* before = graph_before(compile, step.snapshot);
  if (!before) return;
  step.before = before->stage;
  step.diff = reader.diff(before->id, step.snapshot.id);
  std::unordered_set<NodeId> gone;
  for (const auto& node : step.diff.removed) gone.insert(node.id);
  for (auto& removal : reader.removals(step.snapshot.compile))
    if (gone.contains(removal.node)) step.removals.push_back(std::move(removal));
}

/// Scheduling puts nearly every node into a group; the frames show that already.
bool only_grouped(const SnapshotDiff::Change& change) {
  NodeRecord before = change.before;
  before.group = change.after.group;
  before.maker = change.after.maker;
  return before == change.after;
}

/// Where the nodes of a step stand from left to right; a node that a collapsed module hides stands where its box does.
std::unordered_map<NodeId, double> places(const StepData& step) {
  std::unordered_map<NodeId, double> result;
  for (size_t i = 0; i < step.layout.nodes.size(); ++i) {
    const double x = step.layout.nodes[i].centre_x();
    result[step.picture.nodes[i].id] = x;
    for (NodeId id : step.picture.nodes[i].members) result[id] = x;
  }
  return result;
}

void draw_step(StepData& step, const CompileData& compile, const draw::DrawOptions& options,
               draw::LayoutRequest request) {
  std::vector<KernelRecord> kernels;
  for (const auto& kernel : compile.kernels)
    if (kernel.snapshot == step.snapshot.id) kernels.push_back(kernel);
  std::unordered_map<NodeId, draw::NodeState> states;
  if (!step.before.empty()) {
    for (const auto& node : step.diff.added) states[node.id] = draw::NodeState::Added;
    for (const auto& change : step.diff.changed)
      if (!only_grouped(change)) states[change.after.id] = draw::NodeState::Changed;
  }
  step.picture = draw::make_picture(step.nodes, kernels, compile.times, options, states);
  step.picture.title = fmt::format("{} {} {}", compile.compile.name, compile.compile.address, step.snapshot.stage);
  step.layout = draw::lay_out(step.picture, request);
}

bool shown_as_code(const std::string& stage, const std::string& kind) {
  if (stage_kind(stage) == "loops") return kind == "loop-ir";
  return kind == "triton" || kind == "cpp" || kind == "llvm-ir" || kind == "asm" || kind == "cuda" || kind == "ptx" ||
         kind == "library";
}

/// A text stage shows its own artifacts; `loops` and `code` fall back on those of the kernels.
void read_texts(Reader& reader, const CompileData& compile, StepData& step) {
  auto add = [&](Id id, const std::string& kernel) {
    if (auto artifact = compile.index->artifact(reader, id)) step.texts.push_back({std::move(artifact), kernel, {}});
  };
  for (const auto& artifact : reader.artifacts(Owner{OwnerKind::Snapshot, step.snapshot.id, step.snapshot.compile}))
    add(artifact.id, "");
  const std::string stage = stage_kind(step.snapshot.stage);
  if (stage != "loops" && stage != "code") return;
  for (const auto& artifact : compile.index->artifacts(reader))
    if (artifact.owner.kind == OwnerKind::Kernel && shown_as_code(step.snapshot.stage, artifact.kind)) {
      const KernelRecord* kernel = compile.kernel(artifact.owner.id);
      if (kernel && step.snapshot.program != kNone && kernel->program != step.snapshot.program) continue;
      add(artifact.id, kernel ? kernel->name : "");
    }
}

}  // namespace

std::string stage_kind(const std::string& stage) { return stage.substr(0, stage.find(':')); }

const SnapshotRecord* CompileData::find(Id id) const {
  auto it = std::find_if(snapshots.begin(), snapshots.end(), [id](const auto& s) { return s.id == id; });
  return it == snapshots.end() ? nullptr : &*it;
}

const SnapshotRecord* CompileData::find(std::string_view stage) const {
  auto it = std::find_if(snapshots.begin(), snapshots.end(), [stage](const auto& s) { return s.stage == stage; });
  return it == snapshots.end() ? nullptr : &*it;
}

const KernelRecord* CompileData::kernel(Id id) const {
  auto it = std::find_if(kernels.begin(), kernels.end(), [id](const auto& k) { return k.id == id; });
  return it == kernels.end() ? nullptr : &*it;
}

std::shared_ptr<const CompileData> load_compile(Reader& reader, const CompileRecord& compile) {
  auto data = std::make_shared<CompileData>();
  data->compile = compile;
  data->index = std::make_shared<CompileIndex>(compile.id);
  data->passes = reader.passes(compile.id);
  data->snapshots = reader.snapshots(compile.id);
  data->kernels = reader.kernels(compile.id);
  data->launches = reader.launches(compile.id);
  data->buffers = reader.buffers(compile.id);
  data->guards = reader.guards(compile.id);
  for (const auto& guard : data->guards)
    if (guard.stack != kNone && !data->guard_lines.contains(guard.stack))
      if (const auto line = user_line(reader.stack(guard.stack))) data->guard_lines[guard.stack] = *line;
  for (const auto& kernel : data->kernels) {
    auto spread = add_times(reader, *data, kernel.id);
    if (spread.calls > 0) data->spreads[kernel.id] = spread;
  }
  return data;
}

const NodeRecord* StepData::find(NodeId node) const {
  auto it = index.find(node);
  return it == index.end() ? nullptr : &nodes[it->second];
}

std::string StepData::name(NodeId node) const {
  const auto it = names.find(node);
  return it == names.end() ? fmt::format("#{}", node) : it->second;
}

StepPtr load_step(Reader& reader, const CompileData& compile, const SnapshotRecord& snapshot,
                  const draw::DrawOptions& options, const StepPtr& previous, const std::function<bool()>& stop) {
  auto step = std::make_shared<StepData>();
  step->snapshot = snapshot;
  if (snapshot.kind == SnapshotKind::Text) {
    read_texts(reader, compile, *step);
    return step;
  }
  step->nodes = reader.nodes(snapshot.id);
  for (size_t i = 0; i < step->nodes.size(); ++i) step->index.emplace(step->nodes[i].id, i);
  read_changes(reader, compile, *step);
  add_names(*step);
  draw::LayoutRequest request;
  request.stop = stop;
  if (previous) request.places = places(*previous);
  draw_step(*step, compile, options, std::move(request));
  return step;
}

StepPtr redraw(const StepData& step, const CompileData& compile, const draw::DrawOptions& options,
               const std::function<bool()>& stop) {
  auto copy = std::make_shared<StepData>(step);
  draw::LayoutRequest request;
  request.stop = stop;
  request.places = places(step);
  draw_step(*copy, compile, options, std::move(request));
  return copy;
}

}  // namespace strata::studio
