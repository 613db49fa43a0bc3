// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/context.h"

#include <QTimer>
#include <algorithm>
#include <utility>

#include "core/support/error.h"

namespace strata::studio {

using namespace trace;

namespace {
/// How often a trace that is being written is looked at.
constexpr int kFollowMilliseconds = 500;
}  // namespace

struct Context::Opened {
  OpenRequest request;
  std::shared_ptr<Reader> reader;
  std::vector<CompileRecord> compiles;
  Id first = kNone;  ///< the first compile that has stages
};

Context::Context(QObject* parent) : QObject(parent) {
  connect(&queue_, &JobQueue::failed, this,
          [this](const QString&, const QString& text, int code) { fail(text, code); });
  follow_.setInterval(kFollowMilliseconds);
  connect(&follow_, &QTimer::timeout, this, &Context::look_again);
  connect(&queue_, &JobQueue::busyChanged, this, [this](bool busy) {
    if (busy) return;
    ahead_.prepare({reader_, compile_, step_, options_});
    emit settled();
  });
}

struct Context::Grown {
  std::shared_ptr<Reader> reader;
  std::vector<CompileRecord> compiles;
  TraceDataPtr data;
  std::shared_ptr<const CompileData> compile;
  bool complete = false;
};

/// On the worker: what is asked of the reader may wait for what it is reading now.
void Context::look_again() {
  if (!queue_.idle() || !reader_) return;
  const Id shown = compile_ ? compile_->compile.id : kNone;
  queue_.post("follow", [this, reader = reader_, shown]() -> JobQueue::Apply {
    auto result = std::make_shared<Grown>();
    const bool changed = reader->changed();
    result->complete = !reader->unfinished();
    if (!changed && !result->complete) return [] {};
    result->reader = reader;
    result->compiles = reader->compiles();
    result->data = load_trace_data(*reader);
    for (const CompileRecord& c : result->compiles)
      if (c.id == shown) result->compile = load_compile(*reader, c);
    return [this, result] { grown(result); };
  });
}

void Context::grown(const std::shared_ptr<Grown>& result) {
  if (result->reader != reader_) return;
  if (result->complete) follow_.stop();
  compiles_ = std::move(result->compiles);
  trace_data_ = result->data;
  emit traceGrown();
  emit traceDataChanged();
  if (!compile_ && !compiles_.empty()) return load_compile_data(compiles_.front(), {}, {});
  if (!result->compile || !compile_ || result->compile->compile.id != compile_->compile.id) return;
  compile_ = result->compile;
  emit compileChanged();
  if (!step_)
    if (const SnapshotRecord* first = compile_->snapshots.empty() ? nullptr : &compile_->snapshots.front())
      show_step(*first, {});
}

Context::~Context() = default;

void Context::fail(const QString& text, int code) {
  if (exit_code_ == 0) {
    exit_code_ = code;
    first_error_ = text;
  }
  emit message(text);
}

void Context::open(const OpenRequest& request) {
  exit_code_ = 0;
  first_error_.clear();
  follow_.stop();
  queue_.forget_cancelled();
  ahead_.clear();
  for (const char* key : {"compile", "step", "details", "overview", "follow"}) queue_.supersede(key);
  queue_.post("open", [this, request]() -> JobQueue::Apply {
    auto result = std::make_shared<Opened>();
    result->request = request;
    result->reader = std::make_shared<Reader>(request.path.toStdString());
    result->compiles = result->reader->compiles();
    for (const CompileRecord& c : result->compiles) {
      if (result->reader->snapshots(c.id).empty()) continue;
      result->first = c.id;
      break;
    }
    return [this, result] { opened(result); };
  });
}

void Context::opened(const std::shared_ptr<Opened>& result) {
  path_ = result->request.path;
  reader_ = result->reader;
  compiles_ = std::move(result->compiles);
  compile_.reset();
  trace_data_.reset();
  places_.clear();
  place_ = 0;
  going_ = false;
  wanted_place_.reset();
  emit placesChanged();
  step_.reset();
  details_.reset();
  selection_ = {};
  marked_.clear();
  if (reader_->unfinished()) follow_.start();
  emit traceOpened();
  emit compileChanged();
  emit stepChanged();
  emit selectionChanged();
  emit detailsChanged();
  load_overview();
  if (compiles_.empty() && following()) return;  // the first one is on its way
  if (compiles_.empty()) {
    // A profile alone has no graph, and its timeline is shown.
    if (reader_->event_count() == 0) fail("the trace holds no compiled graph", static_cast<int>(ErrorKind::User));
    return;
  }
  const CompileRecord* chosen = &compiles_.front();
  for (const CompileRecord& c : compiles_)
    if (c.id == result->first) chosen = &c;
  if (!result->request.graph.isEmpty()) {
    std::string wanted = result->request.graph.toStdString();
    auto it = std::find_if(compiles_.begin(), compiles_.end(), [&](const auto& c) { return c.address == wanted; });
    if (it != compiles_.end()) {
      chosen = &*it;
    } else {
      std::vector<std::string> names;
      for (const auto& c : compiles_) names.push_back(c.address);
      fail(QString("unknown graph '%1'; %2").arg(result->request.graph, QString::fromStdString(suggest(wanted, names))),
           static_cast<int>(ErrorKind::User));
    }
  }
  load_compile_data(*chosen, result->request.stage, result->request.node);
}

void Context::load_overview() {
  queue_.post("overview", [this, reader = reader_]() -> JobQueue::Apply {
    auto data = load_trace_data(*reader);
    return [this, data] {
      trace_data_ = data;
      emit traceDataChanged();
    };
  });
}

void Context::select_in(Id compile, const Selection& selection) {
  if (compile_ && compile_->compile.id == compile) return select_here(selection);
  wanted_ = selection;
  select_compile(compile);
}

/// A line finds its first node before it is selected.
void Context::select_here(const Selection& selection) {
  if (selection.kind() == SelectionKind::Line && selection.node == 0)
    return select_line(QString::fromStdString(selection.file), selection.line);
  select(selection);
}

void Context::select_line_of(Id compile, const QString& file, int line) {
  if (compile == kNone) return select_line(file, line);
  Selection selection;
  selection.file = file.toStdString();
  selection.line = line;
  select_in(compile, selection);
}

void Context::select_kernel_of(Id compile, Id kernel) {
  Selection selection;
  selection.kernel = kernel;
  select_in(compile, selection);
}

void Context::select_node_of(Id compile, NodeId node) {
  Selection selection;
  selection.node = node;
  select_in(compile, selection);
}

void Context::select_node(NodeId node) {
  Selection selection;
  selection.node = node;
  select(selection);
}

void Context::select_kernel(Id kernel) {
  Selection selection;
  selection.kernel = kernel;
  select(selection);
}

namespace {
template <typename Record>
const Record* with_id(const std::vector<Record>& records, Id id) {
  const auto at = std::find_if(records.begin(), records.end(), [id](const Record& r) { return r.id == id; });
  return at == records.end() ? nullptr : &*at;
}
}  // namespace

void Context::select_launch(Id id) {
  const LaunchRecord* launch = compile_ ? with_id(compile_->launches, id) : nullptr;
  if (!launch) return;
  Selection selection;
  selection.kernel = launch->kernel;
  selection.launch = id;
  select(selection);
}

void Context::select_buffer(Id id) {
  const BufferRecord* buffer = compile_ ? with_id(compile_->buffers, id) : nullptr;
  if (!buffer) return;
  Selection selection;
  selection.node = buffer->node;
  selection.buffer = id;
  select(selection);
}

void Context::select_guard(Id id) {
  const GuardRecord* guard = compile_ ? with_id(compile_->guards, id) : nullptr;
  if (!guard) return;
  Selection selection;
  selection.guard = id;
  if (const auto at = compile_->guard_lines.find(guard->stack); at != compile_->guard_lines.end()) {
    selection.file = at->second.file;
    selection.line = static_cast<int>(at->second.line);
  }
  select(selection);
}

void Context::select_event(Id event, Id compile, Id kernel) {
  Selection selection;
  selection.event = event;
  selection.kernel = kernel;
  if (kernel != kNone && compile != kNone) return select_in(compile, selection);
  select(selection);
}

void Context::select_compile(Id id) {
  auto it = std::find_if(compiles_.begin(), compiles_.end(), [id](const auto& c) { return c.id == id; });
  if (it == compiles_.end() || (compile_ && compile_->compile.id == id)) return;
  load_compile_data(*it, {}, {});
}

namespace {

/// `decomposed@12` is the twelfth rewrite of the pass that made `decomposed`.
std::pair<QString, std::optional<size_t>> rewrite_in_name(const CompileData& compile, const QString& stage) {
  const qsizetype at = stage.lastIndexOf('@');
  bool number = false;
  const qulonglong rewrite = stage.mid(at + 1).toULongLong(&number);
  if (at < 0 || !number || rewrite == 0 || compile.find(stage.toStdString())) return {stage, std::nullopt};
  return {stage.left(at), static_cast<size_t>(rewrite - 1)};
}

}  // namespace

void Context::load_compile_data(const CompileRecord& compile, const QString& stage, const QString& node) {
  queue_.supersede("step");
  queue_.supersede("details");
  queue_.post("compile", [this, reader = reader_, compile, stage, node]() -> JobQueue::Apply {
    auto data = load_compile(*reader, compile);
    return [this, data, stage, node] {
      compile_ = data;
      step_.reset();
      details_.reset();
      selection_ = {};
      wanted_snapshot_ = kNone;
      wanted_rewrite_.reset();
      emit compileChanged();
      emit stepChanged();
      emit selectionChanged();
      emit detailsChanged();
      if (const auto place = std::exchange(wanted_place_, std::nullopt)) return restore(*place);
      going_ = false;
      const Selection wanted_selection = std::exchange(wanted_, {});
      const KernelRecord* wanted = wanted_selection.kernel ? compile_->kernel(wanted_selection.kernel) : nullptr;
      const SnapshotRecord* drawn = wanted ? compile_->find(wanted->snapshot) : nullptr;
      const auto [name, rewrite] = rewrite_in_name(*compile_, stage);
      if (const SnapshotRecord* first = drawn ? drawn : first_snapshot(name)) {
        if (const size_t count = compile_->rewrite_count(*first); rewrite && *rewrite >= count)
          fail(QString("stage '%1' has %2 rewrites, there is no rewrite %3").arg(name).arg(count).arg(*rewrite + 1),
               static_cast<int>(ErrorKind::User));
        show_step(*first, node, rewrite);
      }
      if (!wanted_selection.empty()) select_here(wanted_selection);
    };
  });
}

const SnapshotRecord* Context::first_snapshot(const QString& stage) {
  const auto& list = compile_->snapshots;
  if (!stage.isEmpty()) {
    if (const SnapshotRecord* found = compile_->find(stage.toStdString())) return found;
    std::vector<std::string> names;
    for (const auto& s : list) names.push_back(s.stage);
    fail(QString("unknown stage '%1' of graph %2; %3")
             .arg(stage, QString::fromStdString(compile_->compile.address),
                  QString::fromStdString(suggest(stage.toStdString(), names))),
         static_cast<int>(ErrorKind::User));
  }
  if (list.empty()) {
    fail(QString("graph %1 has no stages%2")
             .arg(QString::fromStdString(compile_->compile.address),
                  compile_->compile.error.empty() ? "" : ": " + QString::fromStdString(compile_->compile.error)),
         static_cast<int>(ErrorKind::User));
    return nullptr;
  }
  return &list.front();
}

void Context::select_snapshot(Id id) {
  if (!compile_ || (id == wanted_snapshot_ && !wanted_rewrite_ && step_ && step_->snapshot.id == id && !step_->rewrite))
    return;
  if (const SnapshotRecord* found = compile_->find(id)) show_step(*found, {});
}

void Context::show_step(const SnapshotRecord& snapshot, const QString& node, std::optional<size_t> rewrite) {
  wanted_snapshot_ = snapshot.id;
  wanted_rewrite_ = rewrite && *rewrite < compile_->rewrite_count(snapshot) ? rewrite : std::nullopt;
  StepPtr made = ahead_.take({reader_, compile_, step_, options_}, snapshot.id);
  if (wanted_rewrite_) made.reset();
  queue_.post("step",
              [this, reader = reader_, compile = compile_, snapshot, options = options_, node, previous = step_, made,
               index = wanted_rewrite_]() -> JobQueue::Apply {
                if (made) return [this, made, node] { step_ready(made, node); };
                const auto stop = JobQueue::superseded;
                StepPtr step = index ? load_rewrite_step(*reader, *compile, snapshot, *index, options, previous, stop)
                                     : load_step(*reader, *compile, snapshot, options, previous, stop);
                return [this, step, node] { step_ready(step, node); };
              });
  emit wantedChanged();
}

void Context::step_ready(const StepPtr& step, const QString& node) {
  step_ = step;
  remember();
  going_ = false;
  emit stepChanged();
  if (NodeId id = node.isEmpty() ? 0 : find_node(node)) return select_node(id);
  if (!selection_.empty()) load_selection();  // what it was is still selected; its place in this stage is new
}

namespace {

const NodeRecord* named(const std::vector<NodeRecord>& nodes, const QString& text) {
  std::string wanted = text.toStdString();
  bool number = false;
  NodeId id = text.toLongLong(&number);
  const NodeRecord* by_id = nullptr;
  for (const auto& node : nodes) {
    if (node.name == wanted) return &node;
    if (number && node.id == id) by_id = &node;
  }
  return by_id;
}

QString with_hint(const QString& message, const std::string& wanted, const std::vector<std::string>& names) {
  return names.empty() ? message : message + "; " + QString::fromStdString(suggest(wanted, names));
}

}  // namespace

/// By name or id; at a stage without nodes, in the last stage that has some.
NodeId Context::find_node(const QString& text) {
  std::vector<NodeRecord> earlier;
  const std::vector<NodeRecord>* nodes = &step_->nodes;
  std::string stage = step_->snapshot.stage;
  if (step_->snapshot.kind == SnapshotKind::Text) {
    const SnapshotRecord* last = nullptr;
    for (const auto& snapshot : compile_->snapshots)
      if (snapshot.kind == SnapshotKind::Graph && snapshot.ordinal < step_->snapshot.ordinal) last = &snapshot;
    if (last) {
      earlier = reader_->nodes(last->id);
      stage = last->stage;
    }
    nodes = &earlier;
  }
  if (const NodeRecord* found = named(*nodes, text)) return found->id;
  std::vector<std::string> names;
  for (const auto& node : *nodes) names.push_back(node.name);
  QString message = QString("unknown node '%1' at stage '%2'").arg(text, QString::fromStdString(stage));
  fail(with_hint(message, text.toStdString(), names), static_cast<int>(ErrorKind::User));
  return 0;
}

/// Places beyond this many are forgotten, oldest first.
constexpr size_t kMostPlaces = 200;

void Context::remember() {
  if (going_ || !compile_ || !step_) return;
  const Place place{compile_->compile.id, step_->snapshot.id, step_->rewrite, selection_};
  if (!places_.empty() && places_[place_] == place) return;
  if (!places_.empty()) places_.resize(place_ + 1);
  places_.push_back(place);
  if (places_.size() > kMostPlaces) places_.erase(places_.begin());
  place_ = places_.size() - 1;
  emit placesChanged();
}

bool Context::can_go(int by) const { return by < 0 ? place_ > 0 : place_ + 1 < places_.size(); }

void Context::go(int by) {
  if (!can_go(by) || !compile_) return;
  place_ += static_cast<size_t>(by);
  const Place place = places_[place_];
  going_ = true;
  if (compile_->compile.id != place.compile) {
    const auto at =
        std::find_if(compiles_.begin(), compiles_.end(), [&](const auto& c) { return c.id == place.compile; });
    if (at == compiles_.end()) return;
    wanted_place_ = place;
    load_compile_data(*at, {}, {});
  } else {
    restore(place);
  }
  emit placesChanged();
}

void Context::restore(const Place& place) {
  const SnapshotRecord* snapshot = compile_->find(place.snapshot);
  const bool other = snapshot && (!step_ || step_->snapshot.id != place.snapshot || step_->rewrite != place.rewrite);
  if (place.selection != selection_) {
    selection_ = place.selection;
    emit selectionChanged();
    if (!other) load_selection();
  }
  if (other) return show_step(*snapshot, {}, place.rewrite);
  going_ = false;
}

void Context::select(const Selection& selection) {
  if (selection == selection_) return;
  selection_ = selection;
  remember();
  emit selectionChanged();
  load_selection();
}

void Context::load_selection() {
  if (selection_.empty() || !compile_ || !reader_) {
    queue_.supersede("details");
    details_.reset();
    emit detailsChanged();
    return;
  }
  queue_.post("details",
              [this, reader = reader_, compile = compile_, step = step_, selection = selection_]() -> JobQueue::Apply {
                DetailsPtr details = load_details(*reader, *compile, step, selection);
                return [this, details] {
                  details_ = details;
                  mark_line_nodes();
                  emit detailsChanged();
                };
              });
}

/// Guards and lines stand for many nodes, none of which is the selected one.
void Context::mark_line_nodes() {
  const bool many = !details_->line_nodes.empty();
  if (many || marks_are_of_line_) set_marked(details_->line_nodes);
  marks_are_of_line_ = many;
}

void Context::select_line(const QString& file, int line) {
  if (!compile_) return;
  queue_.post("line", [this, reader = reader_, compile = compile_, step = step_, file, line]() -> JobQueue::Apply {
    std::vector<NodeId> nodes = reader->nodes_at(compile->compile.id, file.toStdString(), line);
    if (step) {
      std::vector<NodeId> here;
      for (NodeId id : nodes)
        if (step->find(id)) here.push_back(id);
      if (!here.empty()) nodes = here;
    }
    return [this, nodes, file, line] {
      Selection selection;
      selection.file = file.toStdString();
      selection.line = line;
      if (!nodes.empty()) selection.node = nodes.front();
      select(selection);
    };
  });
}

void Context::set_marked(std::vector<NodeId> nodes) {
  marks_are_of_line_ = false;
  if (nodes == marked_) return;
  marked_ = std::move(nodes);
  emit markedChanged();
}

void Context::set_options(const draw::DrawOptions& options) {
  bool shape = options.parameters != options_.parameters || options.groups != options_.groups ||
               options.times != options_.times || options.types != options_.types ||
               options.group_by != options_.group_by || options.opened != options_.opened ||
               options.user_groups != options_.user_groups || options.removed != options_.removed ||
               options.removed_by_rewrite != options_.removed_by_rewrite;
  options_ = options;
  emit optionsChanged();
  if (!shape || !step_ || step_->nodes.empty()) return;
  // Another step is on its way: load that one with the new options.
  if (wanted_snapshot_ != step_->snapshot.id || wanted_rewrite_ != step_->rewrite)
    if (const SnapshotRecord* wanted = compile_->find(wanted_snapshot_)) return show_step(*wanted, {}, wanted_rewrite_);
  queue_.post("step", [this, compile = compile_, step = step_, options]() -> JobQueue::Apply {
    StepPtr drawn = redraw(*step, *compile, options, JobQueue::superseded);
    return [this, drawn] { step_ready(drawn, {}); };
  });
}

}  // namespace strata::studio
