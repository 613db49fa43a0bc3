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

void draw_step(StepData& step, const CompileData& compile, draw::DrawOptions options, draw::LayoutRequest request) {
  const draw::GroupBy grouping = effective_grouping(options, step.nodes);
  options.groups = grouping == draw::GroupBy::Kernels;
  std::vector<KernelRecord> kernels;
  for (const auto& kernel : compile.kernels)
    if (kernel.snapshot == step.snapshot.id) kernels.push_back(kernel);
  step.picture = draw::make_picture(step.nodes, kernels, compile.times, options);
  step.picture.title = fmt::format("{} {} {}", compile.compile.name, compile.compile.address, step.snapshot.stage);
  auto mark = [&](NodeId id, draw::NodeState state) {
    if (int i = step.picture.find(id); i >= 0) step.picture.nodes[static_cast<size_t>(i)].state = state;
  };
  if (!step.before.empty()) {
    for (const auto& node : step.diff.added) mark(node.id, draw::NodeState::Added);
    for (const auto& change : step.diff.changed)
      if (!only_grouped(change)) mark(change.after.id, draw::NodeState::Changed);
  }
  step.picture.grouped_by = grouping;
  if (grouping == draw::GroupBy::Modules) {
    step.picture = group_by_modules(step.picture, step.nodes, options);
    draw::measure(step.picture, options);
  }
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
    if (auto artifact = reader.artifact(id)) step.texts.push_back({std::move(*artifact), kernel, {}});
  };
  for (const auto& artifact : reader.artifacts(Owner{OwnerKind::Snapshot, step.snapshot.id, step.snapshot.compile}))
    add(artifact.id, "");
  const std::string stage = stage_kind(step.snapshot.stage);
  if (stage != "loops" && stage != "code") return;
  for (const auto& artifact : reader.artifacts_of_compile(step.snapshot.compile))
    if (artifact.owner.kind == OwnerKind::Kernel && shown_as_code(step.snapshot.stage, artifact.kind)) {
      const KernelRecord* kernel = compile.kernel(artifact.owner.id);
      if (kernel && step.snapshot.program != kNone && kernel->program != step.snapshot.program) continue;
      add(artifact.id, kernel ? kernel->name : "");
    }
}

std::string node_name(const std::unordered_map<NodeId, std::string>& names, NodeId node) {
  auto it = names.find(node);
  return it == names.end() ? fmt::format("#{}", node) : it->second;
}

class DetailsLoader {
 public:
  DetailsLoader(Reader& reader, const CompileData& compile, const StepPtr& step, const Selection& selection)
      : reader_(reader), compile_(compile), step_(step), out_(std::make_shared<Details>()) {
    out_->selection = selection;
  }

  DetailsPtr run() {
    if (step_) out_->names = step_->names;
    if (out_->selection.node != 0)
      node();
    else if (out_->selection.kernel != kNone)
      kernel();
    names();
    code();
    sources();
    return out_;
  }

 private:
  Id compile() const { return compile_.compile.id; }

  void node() {
    NodeId id = out_->selection.node;
    const NodeRecord* here = step_ ? step_->find(id) : nullptr;
    out_->in_snapshot = here != nullptr;
    if (here)
      out_->node = *here;
    else if (auto last = reader_.last_node(compile(), id))
      out_->node = *last;
    else
      return;
    for (size_t i = 0; i < out_->node.inputs.size(); ++i)
      out_->operands.emplace_back(fmt::format("operand {}", i), out_->node.inputs[i]);
    if (here) users();
    out_->stack = reader_.stack(out_->node.stack);
    if (auto pass = reader_.pass(out_->node.maker)) out_->maker = pass->name;
    out_->origins = reader_.origins(compile(), id);
    out_->results = reader_.results(compile(), id, 200);
    out_->rewrites = reader_.rewrites_of_node(compile(), id);
    out_->fusions = reader_.fusions_of_node(compile(), id);
    out_->history = reader_.history(compile(), id);
    out_->kernels = out_->results.kernels;
    for (const auto& step : out_->results.descendants) out_->related.insert(step.node.id);
    out_->related.insert(id);
  }

  void users() {
    for (const auto& other : step_->nodes)
      for (const auto& operand : other.inputs)
        if (std::find(operand.begin(), operand.end(), out_->selection.node) != operand.end()) {
          out_->users.push_back(other.id);
          break;
        }
  }

  void kernel() {
    const KernelRecord* kernel = compile_.kernel(out_->selection.kernel);
    if (!kernel) return;
    out_->kernels = {*kernel};
    for (NodeId id : kernel->nodes) {
      out_->related.insert(id);
      auto origins = reader_.origins(compile(), id);
      for (auto& location : origins.locations)
        if (std::find(out_->origins.locations.begin(), out_->origins.locations.end(), location) ==
            out_->origins.locations.end())
          out_->origins.locations.push_back(std::move(location));
      for (auto& ancestor : origins.ancestors) out_->names.emplace(ancestor.node.id, ancestor.node.name);
    }
    std::unordered_set<Id> seen;
    for (NodeId id : kernel->nodes)
      for (auto& fusion : reader_.fusions_of_node(compile(), id))
        if (seen.insert(fusion.id).second) out_->fusions.push_back(std::move(fusion));
  }

  void name(NodeId id) {
    if (id == 0 || out_->names.contains(id)) return;
    if (auto node = reader_.last_node(compile(), id)) out_->names[id] = node->name;
  }

  void names() {
    for (const auto& step : out_->origins.ancestors) out_->names.emplace(step.node.id, step.node.name);
    for (const auto& step : out_->results.descendants) out_->names.emplace(step.node.id, step.node.name);
    for (const auto& rewrite : out_->rewrites) {
      for (NodeId id : rewrite.before) name(id);
      for (NodeId id : rewrite.after) name(id);
    }
    for (const auto& fusion : out_->fusions) name(fusion.producer), name(fusion.consumer);
    for (const auto& kernel : out_->kernels)
      for (NodeId id : kernel.nodes) name(id);
  }

  void code() {
    bool kernel_itself = out_->selection.node == 0;
    for (const auto& kernel : out_->kernels)
      for (const auto& artifact : reader_.artifacts(Owner{OwnerKind::Kernel, kernel.id, compile()}))
        if (auto full = reader_.artifact(artifact.id)) {
          CodeUnit unit{std::move(*full), kernel.name, {}};
          if (!kernel_itself) unit.lines = lines_of(unit.artifact, out_->related);
          out_->code.push_back(std::move(unit));
        }
  }

  void sources() {
    for (const auto& location : out_->origins.locations) mark(location, false);
    for (size_t i = 0; i < out_->stack.size(); ++i) mark(out_->stack[i], i + 1 < out_->stack.size());
  }

  void mark(const SourceLocation& location, bool caller) {
    auto it = std::find_if(out_->sources.begin(), out_->sources.end(),
                           [&](const SourceUnit& unit) { return unit.file.path == location.file; });
    if (it == out_->sources.end()) {
      auto file = reader_.source_file(location.file);
      if (!file) {
        file.emplace();
        file->path = location.file;
        file->excerpt = true;
      }
      out_->sources.push_back({std::move(*file), {}, {}});
      it = std::prev(out_->sources.end());
    }
    int line = static_cast<int>(location.line);
    add_excerpt(it->file, location);
    auto& list = caller ? it->callers : it->lines;
    if (std::find(list.begin(), list.end(), std::pair(line, line)) == list.end()) list.emplace_back(line, line);
  }

  /// A file that is not in the trace still has the lines that stacks quote.
  static void add_excerpt(SourceFileRecord& file, const SourceLocation& location) {
    if (!file.excerpt) return;
    auto at = std::lower_bound(file.lines.begin(), file.lines.end(), location.line,
                               [](const SourceFileRecord::Line& line, std::int64_t n) { return line.number < n; });
    if (at == file.lines.end() || at->number != location.line) file.lines.insert(at, {location.line, location.text});
  }

  Reader& reader_;
  const CompileData& compile_;
  StepPtr step_;
  std::shared_ptr<Details> out_;
};

}  // namespace

std::string stage_kind(const std::string& stage) { return stage.substr(0, stage.find(':')); }

LineRanges lines_of(const ArtifactRecord& artifact, const std::unordered_set<NodeId>& nodes) {
  LineRanges lines;
  for (const auto& entry : artifact.lines)
    if (std::any_of(entry.nodes.begin(), entry.nodes.end(), [&](NodeId id) { return nodes.contains(id); }))
      lines.emplace_back(static_cast<int>(entry.first_line), static_cast<int>(entry.last_line));
  return lines;
}

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

std::string StepData::name(NodeId node) const { return node_name(names, node); }
std::string Details::name(NodeId node) const { return node_name(names, node); }

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

DetailsPtr load_details(Reader& reader, const CompileData& compile, const StepPtr& step, const Selection& selection) {
  return DetailsLoader(reader, compile, step, selection).run();
}

}  // namespace strata::studio
