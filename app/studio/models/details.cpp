// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// What belongs to a selection. One class for all kinds: they differ in where they start, and share how nodes lead to
/// kernels, launches, buffers, guards, code and source.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "app/studio/models/step.h"

namespace strata::studio {
namespace {

using namespace trace;

// Bounds that keep a selection fast whatever it is; the pages count what is left out where that matters.
constexpr size_t kMostRelated = 20000;   // nodes that became of a line
constexpr size_t kMostKernels = 2000;    // of a line or guard
constexpr size_t kMostOrigins = 64;      // nodes of a kernel whose lines are looked up
constexpr size_t kMostNames = 400;       // looked up one by one
constexpr size_t kMostKernelTexts = 24;  // kernels whose code is read
constexpr size_t kMostElsewhere = 64;    // compiles that are searched for a line
constexpr size_t kMostEvents = 1;        // the profile has them all

template <typename Record>
const Record* with_id(const std::vector<Record>& records, Id id) {
  const auto at = std::find_if(records.begin(), records.end(), [id](const Record& r) { return r.id == id; });
  return at == records.end() ? nullptr : &*at;
}

template <typename Record>
void add_new(std::vector<Record>& to, const Record& record) {
  if (!with_id(to, record.id)) to.push_back(record);
}

bool contains(const std::vector<Id>& list, Id id) { return std::find(list.begin(), list.end(), id) != list.end(); }

/// Texts of a whole program that have lines of kernels and launches.
bool is_program_text(const std::string& kind) {
  return kind == "python" || kind == "plan" || kind == "cpp" || kind == "loop-ir" || kind == "text";
}

/// Entries of a plan, each a line that begins with one of `starts` after spaces, and those that are indented below it.
LineRanges starting_with(std::string_view text, const std::set<std::string>& starts) {
  LineRanges found;
  bool inside = false;
  size_t entry_indent = 0;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (inside && indent > entry_indent) {
      found.back().second = number;
      continue;
    }
    // The entry whose beginning this would be is the longest start that is not behind it.
    const auto after = starts.upper_bound(std::string(line.substr(indent)));
    inside = after != starts.begin() && line.substr(indent).starts_with(*std::prev(after));
    if (!inside) continue;
    entry_indent = line.find(' ', indent) == std::string_view::npos ? indent : line.find(' ', indent);
    found.emplace_back(number, number);
  }
  return found;
}

class DetailsLoader {
 public:
  DetailsLoader(Reader& reader, const CompileData& compile, const StepPtr& step, const Selection& selection)
      : reader_(reader), compile_(compile), step_(step), out_(std::make_shared<Details>()) {
    out_->selection = selection;
  }

  DetailsPtr run() {
    if (step_) out_->names = step_->names;
    start();
    launches_and_buffers();
    sources();
    guards();
    names();
    code();
    return out_;
  }

 private:
  Id compile() const { return compile_.compile.id; }
  const Selection& chosen() const { return out_->selection; }

  void start() {
    switch (chosen().kind()) {
      case SelectionKind::Nothing:
        return;
      case SelectionKind::Node:
        return node(chosen().node);
      case SelectionKind::Kernel:
        return kernel(chosen().kernel);
      case SelectionKind::Launch:
        return launch();
      case SelectionKind::Buffer:
        return buffer();
      case SelectionKind::Guard:
        return guard();
      case SelectionKind::Event:
        return event();
      case SelectionKind::Line:
        return line();
    }
  }

  void node(NodeId id) {
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
    out_->results = reader_.results(compile(), id, kMostEvents);
    out_->rewrites = reader_.rewrites_of_node(compile(), id);
    out_->fusions = reader_.fusions_of_node(compile(), id);
    out_->history = reader_.history(compile(), id);
    out_->kernels = out_->results.kernels;
    out_->launches = out_->results.launches;
    for (const auto& step : out_->results.descendants) out_->related.insert(step.node.id);
    out_->related.insert(id);
  }

  void users() {
    for (const auto& other : step_->nodes)
      for (const auto& operand : other.inputs)
        if (std::find(operand.begin(), operand.end(), chosen().node) != operand.end()) {
          out_->users.push_back(other.id);
          break;
        }
  }

  void kernel(Id id) {
    const KernelRecord* kernel = compile_.kernel(id);
    if (!kernel) return;
    out_->kernels = {*kernel};
    std::set<std::tuple<std::string, std::int64_t>> seen;
    std::unordered_set<Id> decisions;
    for (size_t i = 0; i < kernel->nodes.size(); ++i) {
      out_->related.insert(kernel->nodes[i]);
      if (i >= kMostOrigins) continue;
      auto origins = reader_.origins(compile(), kernel->nodes[i]);
      for (auto& location : origins.locations)
        if (seen.emplace(location.file, location.line).second) out_->origins.locations.push_back(std::move(location));
      for (auto& ancestor : origins.ancestors) out_->names.emplace(ancestor.node.id, ancestor.node.name);
      for (auto& fusion : reader_.fusions_of_node(compile(), kernel->nodes[i]))
        if (decisions.insert(fusion.id).second) out_->fusions.push_back(std::move(fusion));
    }
  }

  void launch() {
    const LaunchRecord* launch = with_id(compile_.launches, chosen().launch);
    if (!launch) return;
    out_->launches = {*launch};
    kernel(launch->kernel);
  }

  void buffer() {
    const BufferRecord* buffer = with_id(compile_.buffers, chosen().buffer);
    if (!buffer) return;
    out_->buffers = {*buffer};
    if (buffer->node) node(buffer->node);
    out_->launches.clear();
    for (const LaunchRecord& launch : compile_.launches) {
      const bool writes = contains(launch.writes, buffer->id);
      if (!writes && !contains(launch.reads, buffer->id)) continue;
      out_->launches.push_back(launch);
      const KernelRecord* kernel = writes ? compile_.kernel(launch.kernel) : nullptr;
      if (kernel) add_new(out_->kernels, *kernel);
    }
    if (const BufferRecord* before = with_id(compile_.buffers, buffer->reuse_of)) add_new(out_->buffers, *before);
    for (const BufferRecord& after : compile_.buffers)
      if (after.reuse_of == buffer->id) add_new(out_->buffers, after);
  }

  void guard() {
    const GuardRecord* guard = with_id(compile_.guards, chosen().guard);
    if (!guard) return;
    out_->guards = {*guard};
    out_->stack = reader_.stack(guard->stack);
    if (!chosen().file.empty()) line();
  }

  void line() {
    auto& nodes = out_->line_nodes;
    nodes = reader_.nodes_at(compile(), chosen().file, chosen().line);
    if (nodes.empty()) return elsewhere();
    out_->related = compile_.index->descendants(reader_, nodes, kMostRelated);
    for (const KernelRecord& kernel : compile_.kernels) {
      if (out_->kernels.size() >= kMostKernels) break;
      const auto mine = [&](NodeId id) { return out_->related.contains(id); };
      if (std::any_of(kernel.nodes.begin(), kernel.nodes.end(), mine)) out_->kernels.push_back(kernel);
    }
  }

  void elsewhere() {
    for (const CompileRecord& other : reader_.compiles()) {
      if (out_->elsewhere.size() >= kMostElsewhere) return;
      const auto count = reader_.nodes_at(other.id, chosen().file, chosen().line).size();
      if (count) out_->elsewhere.emplace_back(other.id, static_cast<std::int64_t>(count));
    }
  }

  void event() {
    const auto event = reader_.event(chosen().event);
    if (!event) return;
    out_->event = *event;
    for (TrackRecord& track : reader_.tracks())
      if (track.id == event->track) out_->track = std::move(track);
    if (event->compile != kNone && event->compile != compile()) return;
    kernel(event->kernel != kNone ? event->kernel : chosen().kernel);
    if (const LaunchRecord* launch = with_id(compile_.launches, event->launch)) out_->launches = {*launch};
  }

  /// Launches of the kernels, buffers of both, unless the selection says which.
  void launches_and_buffers() {
    const SelectionKind kind = chosen().kind();
    if (kind == SelectionKind::Buffer) return;
    std::unordered_set<Id> kernels;
    for (const KernelRecord& kernel : out_->kernels) kernels.insert(kernel.id);
    if (out_->launches.empty())
      for (const LaunchRecord& launch : compile_.launches)
        if (kernels.contains(launch.kernel)) out_->launches.push_back(launch);
    std::unordered_set<Id> used;
    for (const LaunchRecord& launch : out_->launches) {
      used.insert(launch.reads.begin(), launch.reads.end());
      used.insert(launch.writes.begin(), launch.writes.end());
    }
    for (const BufferRecord& buffer : compile_.buffers)
      if (used.contains(buffer.id) || (kind == SelectionKind::Node && out_->related.contains(buffer.node)))
        out_->buffers.push_back(buffer);
  }

  void guards() {
    for (const GuardRecord& guard : compile_.guards) {
      const auto at = compile_.guard_lines.find(guard.stack);
      if (at != compile_.guard_lines.end() && in_sources(at->second)) add_new(out_->guards, guard);
    }
    if (out_->guards.empty()) return;
    for (RecompileRecord& failure : reader_.recompiles())
      if (failure.guard != kNone && with_id(out_->guards, failure.guard)) out_->failures.push_back(std::move(failure));
  }

  bool in_sources(const SourceLocation& at) const {
    const int line = static_cast<int>(at.line);
    return std::any_of(out_->sources.begin(), out_->sources.end(), [&](const SourceUnit& unit) {
      return unit.file.path == at.file &&
             std::find(unit.lines.begin(), unit.lines.end(), std::pair(line, line)) != unit.lines.end();
    });
  }

  void name(NodeId id) {
    if (id == 0 || out_->names.contains(id) || looked_up_ > kMostNames) return;
    ++looked_up_;
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
    for (NodeId id : out_->line_nodes) name(id);
    for (const auto& buffer : out_->buffers) name(buffer.node);
    for (const auto& kernel : out_->kernels)
      for (NodeId id : kernel.nodes) name(id);
  }

  /// The texts of the kernels, then those lines of whole programs that belong to the selection.
  void code() {
    const bool whole = chosen().node == 0 && out_->line_nodes.empty();
    for (size_t i = 0; i < std::min(kMostKernelTexts, out_->kernels.size()); ++i) {
      const KernelRecord& kernel = out_->kernels[i];
      for (const ArtifactRecord& artifact : compile_.index->artifacts(reader_))
        if (artifact.owner.kind == OwnerKind::Kernel && artifact.owner.id == kernel.id)
          add_code(artifact.id, kernel.name, !whole);
    }
    if (out_->related.empty() && out_->launches.empty()) return;
    for (const ArtifactRecord& artifact : compile_.index->artifacts(reader_))
      if (artifact.owner.kind == OwnerKind::Snapshot && is_program_text(artifact.kind)) add_program(artifact);
  }

  void add_code(Id id, const std::string& kernel, bool mark) {
    CodeUnit unit{compile_.index->artifact(reader_, id), kernel, {}};
    if (!unit.artifact) return;
    if (mark) unit.lines = lines_of(*unit.artifact, out_->related);
    out_->code.push_back(std::move(unit));
  }

  void add_program(const ArtifactRecord& artifact) {
    const SnapshotRecord* stage = compile_.find(artifact.owner.id);
    if (!stage || stage->kind != SnapshotKind::Text) return;
    CodeUnit unit{compile_.index->artifact(reader_, artifact.id), "", {}};
    if (!unit.artifact) return;
    unit.lines = program_lines(*unit.artifact, *stage);
    if (!unit.lines.empty()) out_->code.push_back(std::move(unit));
  }

  LineRanges program_lines(const ArtifactRecord& artifact, const SnapshotRecord& stage) const {
    const std::string kind = stage_kind(stage.stage);
    if (kind == "plan" && (chosen().kind() == SelectionKind::Launch || chosen().kind() == SelectionKind::Buffer))
      return plan_lines(artifact, stage.program);
    LineRanges lines = lines_of(artifact, out_->related);
    if (kind == "code" && artifact.kind == "python")
      for (const LaunchRecord& launch : out_->launches)
        if (launch.line > 0 && launch.program == stage.program && covers_none(lines, launch.line))
          lines.emplace_back(static_cast<int>(launch.line), static_cast<int>(launch.line));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  static bool covers_none(const LineRanges& lines, std::int64_t line) {
    return std::none_of(lines.begin(), lines.end(),
                        [&](auto range) { return range.first <= line && line <= range.second; });
  }

  /// The lines of these launches alone, and of the buffer: a kernel may be launched several times.
  LineRanges plan_lines(const ArtifactRecord& artifact, Id program) const {
    const BufferRecord* buffer = out_->buffer();
    std::set<std::string> starts;
    for (const LaunchRecord& launch : out_->launches)
      if (launch.program == program) {
        starts.insert(fmt::format("launch {}:", launch.ordinal));
        starts.insert(fmt::format("{} ", launch.ordinal));
      }
    if (buffer) starts.insert(fmt::format("buffer {}:", buffer->name));
    return starting_with(artifact.content, starts);
  }

  void sources() {
    if (chosen().line > 0 && !chosen().file.empty()) mark({chosen().file, chosen().line, "", line_text()}, false);
    const bool callers_only = chosen().line > 0;
    if (!callers_only)
      for (const auto& location : out_->origins.locations) mark(location, false);
    for (size_t i = 0; i < out_->stack.size(); ++i) mark(out_->stack[i], callers_only || i + 1 < out_->stack.size());
    frame();
  }

  /// The text of the selected line, where a stack quotes it.
  std::string line_text() const {
    for (const SourceLocation& at : out_->stack)
      if (at.file == chosen().file && at.line == chosen().line) return at.text;
    for (const auto& [stack, at] : compile_.guard_lines)
      if (at.file == chosen().file && at.line == chosen().line) return at.text;
    return line_nodes_text();
  }

  std::string line_nodes_text() const {
    if (out_->line_nodes.empty()) return {};
    const auto node = reader_.last_node(compile(), out_->line_nodes.front());
    if (!node) return {};
    for (const SourceLocation& at : reader_.stack(node->stack))
      if (at.file == chosen().file && at.line == chosen().line) return at.text;
    return {};
  }

  /// A guard on what comes from no line (an argument, a global) still belongs to a function.
  void frame() {
    for (FrameRecord& frame : reader_.frames())
      if (frame.id == compile_.compile.frame) out_->frame = std::move(frame);
    const bool guard_alone = chosen().kind() == SelectionKind::Guard && out_->sources.empty();
    if (guard_alone && !out_->frame.file.empty() && out_->frame.line > 0)
      mark({out_->frame.file, out_->frame.line, out_->frame.name, ""}, true);
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
    const int line = static_cast<int>(location.line);
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
  size_t looked_up_ = 0;
};

}  // namespace

SelectionKind Selection::kind() const {
  if (launch != kNone) return SelectionKind::Launch;
  if (buffer != kNone) return SelectionKind::Buffer;
  if (guard != kNone) return SelectionKind::Guard;
  if (event != kNone) return SelectionKind::Event;
  if (line > 0 && !file.empty()) return SelectionKind::Line;
  if (node != 0) return SelectionKind::Node;
  return kernel != kNone ? SelectionKind::Kernel : SelectionKind::Nothing;
}

std::string Details::name(NodeId node) const {
  const auto it = names.find(node);
  return it == names.end() ? fmt::format("#{}", node) : it->second;
}

const LaunchRecord* Details::launch() const { return with_id(launches, selection.launch); }
const BufferRecord* Details::buffer() const { return with_id(buffers, selection.buffer); }
const GuardRecord* Details::guard() const { return with_id(guards, selection.guard); }

LineRanges lines_of(const ArtifactRecord& artifact, const std::unordered_set<NodeId>& nodes) {
  LineRanges lines;
  for (const auto& entry : artifact.lines)
    if (std::any_of(entry.nodes.begin(), entry.nodes.end(), [&](NodeId id) { return nodes.contains(id); }))
      lines.emplace_back(static_cast<int>(entry.first_line), static_cast<int>(entry.last_line));
  return lines;
}

DetailsPtr load_details(Reader& reader, const CompileData& compile, const StepPtr& step, const Selection& selection) {
  return DetailsLoader(reader, compile, step, selection).run();
}

}  // namespace strata::studio
