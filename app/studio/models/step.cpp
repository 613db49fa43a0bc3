// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "app/studio/models/graph_groups.h"
#include "app/studio/models/overview.h"
#include "app/studio/models/pass_drawing.h"

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

/// The nodes with those that went in this step, each after its last operand, and its users of then.
std::vector<NodeRecord> with_removed(const StepData& step) {
  std::unordered_map<NodeId, std::vector<NodeId>> lost;  // by user
  std::unordered_set<NodeId> gone;
  for (const auto& node : step.diff.removed) gone.insert(node.id);
  for (const auto& change : step.diff.changed)
    for (const auto& operand : change.before.inputs)
      for (NodeId id : operand)
        if (gone.contains(id)) lost[change.after.id].push_back(id);
  std::unordered_map<size_t, std::vector<const NodeRecord*>> after;  // by place, from 1
  std::unordered_map<NodeId, size_t> place;
  for (const auto& node : step.diff.removed) {
    size_t at = 0;
    for (const auto& operand : node.inputs)
      for (NodeId id : operand) {
        if (const auto stands = step.index.find(id); stands != step.index.end()) at = std::max(at, stands->second + 1);
        if (const auto went = place.find(id); went != place.end()) at = std::max(at, went->second);
      }
    place[node.id] = at;
    after[at].push_back(&node);
  }
  std::vector<NodeRecord> nodes;
  nodes.reserve(step.nodes.size() + step.diff.removed.size());
  for (size_t i = 0; i <= step.nodes.size(); ++i) {
    if (const auto at = after.find(i); at != after.end())
      for (const NodeRecord* node : at->second) nodes.push_back(*node);
    if (i == step.nodes.size()) break;
    nodes.push_back(step.nodes[i]);
    if (const auto at = lost.find(nodes.back().id); at != lost.end()) nodes.back().inputs.push_back(at->second);
  }
  return nodes;
}

/// Whether frames stand for kernels or modules is one for all rewrites of a pass, however many nodes each has.
draw::DrawOptions options_for(const StepData& step, const draw::DrawOptions& wanted) {
  draw::DrawOptions options = wanted;
  if (step.pass) options.group_by = draw::effective_grouping(options, step.pass->steps().after());
  return options;
}

void draw_step(StepData& step, const CompileData& compile, const draw::DrawOptions& wanted,
               draw::LayoutRequest request) {
  const draw::DrawOptions options = options_for(step, wanted);
  std::vector<KernelRecord> kernels;
  for (const auto& kernel : compile.kernels)
    if (kernel.snapshot == step.snapshot.id && !step.rewrite) kernels.push_back(kernel);
  std::unordered_map<NodeId, draw::NodeState> states;
  if (!step.before.empty()) {
    for (const auto& node : step.diff.added) states[node.id] = draw::NodeState::Added;
    for (const auto& change : step.diff.changed)
      if (!only_grouped(change)) states[change.after.id] = draw::NodeState::Changed;
  }
  // Boxes of modules would count what they do not hold any more.
  const bool removed = !step.before.empty() && !step.diff.removed.empty() &&
                       draw::effective_grouping(options, step.nodes) != draw::GroupBy::Modules &&
                       (step.rewrite ? options.removed_by_rewrite : options.removed);
  if (removed)
    for (const auto& node : step.diff.removed) states[node.id] = draw::NodeState::Removed;
  step.picture = draw::make_picture(removed ? with_removed(step) : step.nodes, kernels, compile.times, options, states);
  step.picture.title = fmt::format("{} {} {}", compile.compile.name, compile.compile.address, step.snapshot.stage);
  if (step.rewrite) step.picture.title += fmt::format(", rewrite {}", *step.rewrite + 1);
  step.layout = step.pass ? step.pass->lay_out(step.picture, options, request) : draw::lay_out(step.picture, request);
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

const SnapshotRecord* graph_before(const CompileData& compile, const SnapshotRecord& snapshot) {
  const SnapshotRecord* best = nullptr;
  for (const auto& other : compile.snapshots)
    if (other.kind == SnapshotKind::Graph && other.ordinal < snapshot.ordinal &&
        (!best || other.ordinal > best->ordinal))
      best = &other;
  return best;
}

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

const PassRecord* CompileData::pass(Id id) const {
  auto it = std::find_if(passes.begin(), passes.end(), [id](const auto& p) { return p.id == id; });
  return it == passes.end() ? nullptr : &*it;
}

size_t CompileData::rewrite_count(const SnapshotRecord& snapshot) const {
  const auto at = rewrites.find(snapshot.pass);
  const bool graphs = snapshot.kind == SnapshotKind::Graph && snapshot.pass != kNone;
  return graphs && at != rewrites.end() && graph_before(*this, snapshot) ? at->second.count : 0;
}

bool CompileData::has_effect(const SnapshotRecord& snapshot) const {
  if (snapshot.kind == SnapshotKind::Text || (!snapshots.empty() && snapshots.front().id == snapshot.id)) return true;
  const PassRecord* made_by = pass(snapshot.pass);
  return snapshot.added + snapshot.removed + snapshot.changed > 0 || rewrite_count(snapshot) > 0 ||
         (made_by && !made_by->error.empty());
}

namespace {

void count_rewrites(Reader& reader, CompileData& data) {
  std::map<std::pair<Id, std::string>, size_t> place;  // of the rule in the list of its pass
  for (auto& rewrite : reader.rewrites(data.compile.id)) {
    CompileData::PassRewrites& of_pass = data.rewrites[rewrite.pass];
    ++of_pass.count;
    const auto [at, first] = place.emplace(std::pair(rewrite.pass, rewrite.rule), of_pass.rules.size());
    if (first) of_pass.rules.emplace_back(rewrite.rule, 0);
    ++of_pass.rules[at->second].second;
  }
}

}  // namespace

std::shared_ptr<const CompileData> load_compile(Reader& reader, const CompileRecord& compile) {
  auto data = std::make_shared<CompileData>();
  data->compile = compile;
  data->index = std::make_shared<CompileIndex>(compile.id);
  data->passes = reader.passes(compile.id);
  count_rewrites(reader, *data);
  data->snapshots = reader.snapshots(compile.id);
  data->kernels = reader.kernels(compile.id);
  data->launches = reader.launches(compile.id);
  data->buffers = reader.buffers(compile.id);
  data->guards = reader.guards(compile.id);
  data->symbols = reader.symbols(compile.id);
  data->assumptions = reader.assumptions(compile.id);
  std::set<Id> stacks;
  for (const auto& guard : data->guards) stacks.insert(guard.stack);
  for (const auto& symbol : data->symbols) stacks.insert(symbol.stack);
  for (const auto& assumption : data->assumptions) stacks.insert(assumption.stack);
  stacks.erase(kNone);
  for (const Id stack : stacks)
    if (const auto line = user_line(reader.stack(stack))) data->guard_lines[stack] = *line;
  for (const auto& metric : reader.metrics(Owner{OwnerKind::Compile, compile.id, compile.id}))
    if (metric.key == "guard_latency") data->guard_latency_ns = metric.value;
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

namespace {

std::shared_ptr<const PassDrawing> pass_of(Reader& reader, const SnapshotRecord& before, const SnapshotRecord& after,
                                           const StepPtr& previous) {
  if (previous && previous->pass && previous->snapshot.id == after.id) return previous->pass;
  return std::make_shared<PassDrawing>(reader.nodes(before.id), reader.nodes(after.id),
                                       reader.rewrites_of_pass(after.pass));
}

void read_rewrite(Reader& reader, const RewriteSteps& steps, StepData& step) {
  const size_t number = *step.rewrite + 1;
  step.nodes = steps.graph(number);
  step.diff = steps.diff(number);
  step.rewrites = steps.rewrites();
  for (const auto& node : steps.before()) step.names[node.id] = node.name;
  for (const auto& node : steps.after()) step.names[node.id] = node.name;
  for (const auto& node : step.diff.removed)
    if (auto removal = reader.removal(step.snapshot.compile, node.id)) step.removals.push_back(std::move(*removal));
  if (number > 1) step.before = fmt::format("rewrite {}", number - 1);
}

}  // namespace

StepPtr load_rewrite_step(Reader& reader, const CompileData& compile, const SnapshotRecord& snapshot, size_t rewrite,
                          const draw::DrawOptions& options, const StepPtr& previous,
                          const std::function<bool()>& stop) {
  const SnapshotRecord* before = graph_before(compile, snapshot);
  if (!before || rewrite >= compile.rewrite_count(snapshot))
    return load_step(reader, compile, snapshot, options, previous, stop);
  auto step = std::make_shared<StepData>();
  step->snapshot = snapshot;
  step->pass = pass_of(reader, *before, snapshot, previous);
  if (step->pass->steps().count() == 0) return load_step(reader, compile, snapshot, options, previous, stop);
  step->rewrite = std::min(rewrite, step->pass->steps().count() - 1);
  step->before = before->stage;
  read_rewrite(reader, step->pass->steps(), *step);
  for (size_t i = 0; i < step->nodes.size(); ++i) step->index.emplace(step->nodes[i].id, i);
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
