// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/pane.h"

#include <QFileInfo>
#include <QPointer>
#include <algorithm>
#include <exception>

#include "app/studio/models/undo.h"

namespace strata::studio {

using namespace trace;

namespace {

/// A line of source may stand for thousands of nodes: so many of them are looked for in other stages.
constexpr size_t kMostStarts = 500;

int next_number() {
  static int number = 0;  // panes are made on the UI thread
  return ++number;
}

/// Whether going from one to the other asks for another layout.
bool other_shape(const draw::DrawOptions& a, const draw::DrawOptions& b) {
  return a.parameters != b.parameters || a.groups != b.groups || a.times != b.times || a.types != b.types ||
         a.group_by != b.group_by || a.opened != b.opened || a.user_groups != b.user_groups || a.removed != b.removed ||
         a.removed_by_rewrite != b.removed_by_rewrite;
}

StepPtr with_states(const StepPtr& step, const Pane::States* states) {
  if (!states || states->empty() || step->picture.nodes.empty()) return step;
  auto copy = std::make_shared<StepData>(*step);
  for (auto& node : copy->picture.nodes) {
    node.state = draw::NodeState::Same;
    if (const auto at = states->find(node.id); at != states->end()) node.state = at->second;
    for (NodeId member : node.members)
      if (states->contains(member)) node.state = draw::NodeState::Changed;
  }
  return copy;
}

}  // namespace

/// Between the nodes of one compile of the context and those of the pane's.
struct Pane::Mapping {
  using Table = std::unordered_map<NodeId, std::vector<NodeId>>;
  std::shared_ptr<Reader> context_reader;
  Id context_compile = kNone;
  Table to_pane, to_context;

  static NodeId first(const Table& table, NodeId node) {
    const auto at = table.find(node);
    return at == table.end() ? 0 : at->second.front();
  }

  /// What stands for these nodes on the other side; for one that has no pair, its next of kin that has one.
  static std::vector<NodeId> translate(const Table& table, Reader& reader, Id compile, const std::vector<NodeId>& nodes,
                                       const std::function<bool()>& stop) {
    std::vector<NodeId> result;
    std::unordered_set<NodeId> seen;
    const auto take = [&](NodeId id) {
      const auto at = table.find(id);
      if (at == table.end()) return false;
      for (NodeId other : at->second)
        if (seen.insert(other).second) result.push_back(other);
      return true;
    };
    for (NodeId node : nodes) {
      bool found = take(node);
      for (bool down : {false, true}) {
        if (found) break;
        for (NodeId relative : kin(reader, compile, {node}, down, stop))
          if ((found = take(relative))) break;
      }
    }
    return result;
  }
};

struct Pane::Loaded {
  Wanted wanted;
  std::shared_ptr<const CompileData> compile;
  std::vector<CompileRecord> compiles;
  StepPtr step;
  QString error;
};

Pane::Pane(Context& context, Kind kind, QObject* parent)
    : QObject(parent), context_(context), kind_(kind), number_(next_number()) {
  options_ = context_.options();
  connect(&context_, &Context::selectionChanged, this, &Pane::follow);
  connect(&context_, &Context::markedChanged, this, [this] {
    if (context_.selection().line > 0) follow();  // what is marked is what it stands for
    follow_marked();
  });
  connect(&context_, &Context::optionsChanged, this, &Pane::options_changed);
  if (pinned()) {
    connect(&context_, &Context::traceOpened, this, &Pane::trace_opened);
    connect(&context_, &Context::compileChanged, this, [this] {
      if (same_compile() && compile_ != context_.compile()) {  // a trace that is being written has grown
        compile_ = context_.compile();
        emit compileChanged();
      }
      follow();
      follow_marked();
    });
  } else {
    connect(&context_, &Context::compileChanged, this, &Pane::compileChanged);
    connect(&context_, &Context::stepChanged, this, [this] {
      emit stepChanged();
      emit titleChanged();
      follow();
      follow_marked();
    });
    follow();
    follow_marked();
  }
}

Pane::~Pane() {
  for (const char* what : {"step", "kin", "lead"}) context_.queue().supersede(key(what));
}

QString Pane::key(const char* what) const { return QString("pane:%1:%2").arg(number_).arg(what); }

// -------------------------------------------------------------------------------------------------- what is shown

std::shared_ptr<Reader> Pane::reader() const { return pinned() ? reader_ : context_.reader(); }
std::shared_ptr<const CompileData> Pane::compile() const { return pinned() ? compile_ : context_.compile(); }
StepPtr Pane::step_data() const { return pinned() ? step_ : context_.step_data(); }
const draw::DrawOptions& Pane::options() const { return pinned() ? options_ : context_.options(); }

const std::vector<CompileRecord>& Pane::compiles() const {
  return pinned() && reader_ != context_.reader() ? compiles_ : context_.compiles();
}

bool Pane::same_compile() const {
  if (!pinned()) return true;
  return compile_ && context_.compile() && reader_ == context_.reader() &&
         compile_->compile.id == context_.compile()->compile.id;
}

void Pane::show(std::shared_ptr<Reader> reader, Id compile, Id snapshot) {
  if (!pinned() || !reader) return;
  load({std::move(reader), compile, snapshot, {}, {}});
}

void Pane::show_stage(Id snapshot) {
  if (!pinned()) return context_.select_snapshot(snapshot);
  if (compile_) load({reader_, compile_->compile.id, snapshot, {}, {}});
}

void Pane::show_compile(Id compile) {
  if (!pinned()) return context_.select_compile(compile);
  if (compile_ && compile_->compile.id == compile) return;
  if (reader_) load({reader_, compile, kNone, {}, step_ ? QString::fromStdString(step_->snapshot.stage) : QString()});
}

void Pane::step(int by) {
  if (!pinned()) return context_.step(by);
  if (!compile_) return;
  const auto& list = compile_->snapshots;
  const auto at = std::find_if(list.begin(), list.end(), [this](const auto& s) { return s.id == wanted_.snapshot; });
  if (at == list.end()) return;
  const long target = (at - list.begin()) + by;
  if (target >= 0 && target < static_cast<long>(list.size())) show_stage(list[static_cast<size_t>(target)].id);
}

void Pane::step_to_end(int by) {
  if (!pinned()) return context_.step_to_end(by);
  if (!compile_ || compile_->snapshots.empty()) return;
  show_stage(by < 0 ? compile_->snapshots.front().id : compile_->snapshots.back().id);
}

namespace {

/// The snapshot that was asked for by id or name; else the first with nodes, or the first.
const SnapshotRecord* choose(const CompileData& compile, Id id, const QString& stage) {
  if (id != kNone) return compile.find(id);
  if (const SnapshotRecord* named = compile.find(stage.toStdString())) return named;
  for (const SnapshotRecord& snapshot : compile.snapshots)
    if (snapshot.kind == SnapshotKind::Graph) return &snapshot;
  return compile.snapshots.empty() ? nullptr : &compile.snapshots.front();
}

Id compile_at(const std::vector<CompileRecord>& compiles, const QString& address) {
  for (const CompileRecord& compile : compiles)
    if (QString::fromStdString(compile.address) == address) return compile.id;
  return kNone;
}

}  // namespace

void Pane::load(const Wanted& wanted) {
  of_context_ = wanted.reader == context_.reader();
  wanted_ = wanted;
  loading_ = true;
  error_.clear();
  std::shared_ptr<const CompileData> known;
  if (of_context_ && context_.compile() && context_.compile()->compile.id == wanted.compile) known = context_.compile();
  if (!known && compile_ && reader_ == wanted.reader && compile_->compile.id == wanted.compile) known = compile_;
  StepPtr previous;
  if (known) previous = step_ && step_->snapshot.compile == wanted.compile ? step_ : context_.step_data();
  if (previous && previous->snapshot.compile != wanted.compile) previous.reset();
  auto work = [this, wanted, known, previous, options = options_, states = states_]() -> JobQueue::Apply {
    auto result = std::make_shared<Loaded>();
    result->wanted = wanted;
    try {
      result->compiles = wanted.reader->compiles();
      const Id id = wanted.compile != kNone ? wanted.compile : compile_at(result->compiles, wanted.address);
      result->compile = known;
      if (!known)
        if (const auto record = wanted.reader->compile(id)) result->compile = load_compile(*wanted.reader, *record);
      const SnapshotRecord* snapshot =
          result->compile ? choose(*result->compile, wanted.snapshot, wanted.stage) : nullptr;
      if (snapshot)
        result->step =
            with_states(load_step(*wanted.reader, *result->compile, *snapshot, options, previous, JobQueue::superseded),
                        states.get());
      else
        result->error = result->compile ? "this compile has no such stage" : "the trace has no such compile";
    } catch (const std::exception& e) {
      result->error = QString::fromUtf8(e.what());
    }
    return [this, result] { loaded(result); };
  };
  context_.queue().post(key("step"), std::move(work));
  emit loadingChanged();
}

void Pane::loaded(const std::shared_ptr<Loaded>& result) {
  loading_ = false;
  const bool again = !result->wanted.address.isEmpty();
  if (again && (!result->step || QString::fromStdString(result->step->snapshot.stage) != result->wanted.stage))
    return emit lost();
  error_ = result->error;
  const bool other = reader_ != result->wanted.reader || !compile_ || !result->compile ||
                     compile_->compile.id != result->compile->compile.id;
  if (other && compile_) mapping_.reset();
  reader_ = result->wanted.reader;
  compile_ = result->compile;
  compiles_ = std::move(result->compiles);
  step_ = result->step;
  wanted_ = {reader_, compile_ ? compile_->compile.id : kNone, step_ ? step_->snapshot.id : kNone, {}, {}};
  if (other) emit compileChanged();
  emit loadingChanged();
  emit stepChanged();
  emit titleChanged();
  follow();
  follow_marked();
}

/// The same steps of a trace that was opened again; another trace has other ones.
void Pane::trace_opened() {
  if (!of_context_ || reader_ == context_.reader()) return;
  context_.queue().supersede(key("step"));
  if (!compile_ || !step_) return emit lost();
  load({context_.reader(), kNone, kNone, QString::fromStdString(compile_->compile.address),
        QString::fromStdString(step_->snapshot.stage)});
}

QString Pane::title() const {
  if (!title_.isEmpty()) return title_;
  const auto shown = compile();
  const StepPtr step = step_data();
  QStringList parts;
  if (pinned() && reader_ && reader_ != context_.reader())
    parts << QFileInfo(QString::fromStdString(reader_->path().string())).fileName();
  if (shown) parts << QString::fromStdString(shown->compile.name + " " + shown->compile.address);
  if (step) parts << QString::fromStdString(step->snapshot.stage);
  return parts.join(" · ");
}

void Pane::set_title(const QString& title) {
  title_ = title;
  emit titleChanged();
}

// ------------------------------------------------------------------------------------------------- how it is drawn

void Pane::set_states(States states, const QString& added, const QString& changed) {
  states_ = std::make_shared<const States>(std::move(states));
  added_means_ = added;
  changed_means_ = changed;
  if (!pinned()) return;
  if (loading_) return load(wanted_);
  redraw_step();
}

void Pane::set_opened(const std::map<std::string, bool>& opened) {
  draw::DrawOptions options = this->options();
  options.opened = opened;
  if (!pinned()) return context_.set_options(options);
  const auto set = [self = QPointer(this)](const std::map<std::string, bool>& to) {
    return [self, to] {
      if (self) self->apply_opened(to);
    };
  };
  context_.undo().push(new LayoutChange("collapse or expand", set(opened), set(options_.opened)));
}

void Pane::apply_opened(const std::map<std::string, bool>& opened) {
  draw::DrawOptions options = options_;
  options.opened = opened;
  const bool other = other_shape(options, options_);
  options_ = options;
  emit optionsChanged();
  if (other) redraw_step();
}

void Pane::options_changed() {
  draw::DrawOptions options = context_.options();
  if (pinned()) options.opened = options_.opened;
  const bool other = other_shape(options, options_);
  options_ = options;
  emit optionsChanged();
  if (pinned() && other) redraw_step();
}

void Pane::redraw_step() {
  if (loading_) return load(wanted_);
  if (!step_ || step_->nodes.empty()) return;
  context_.queue().post(
      key("step"), [this, step = step_, compile = compile_, options = options_, states = states_]() -> JobQueue::Apply {
        const StepPtr drawn = with_states(redraw(*step, *compile, options, JobQueue::superseded), states.get());
        return [this, drawn] {
          step_ = drawn;
          follow();
          emit stepChanged();
        };
      });
}

// -------------------------------------------------------------------------------------------------- the selection

void Pane::set_mapping(const Pairs& pairs) {
  auto made = std::make_shared<Mapping>();
  made->context_reader = context_.reader();
  if (context_.compile()) made->context_compile = context_.compile()->compile.id;
  for (const auto& [ours, theirs] : pairs) {
    made->to_pane[ours].push_back(theirs);
    made->to_context[theirs].push_back(ours);
  }
  mapping_ = std::move(made);
  follow();
  follow_marked();
}

std::shared_ptr<const Pane::Mapping> Pane::mapping() const {
  const auto compile = context_.compile();
  const bool usable = mapping_ && compile && mapping_->context_reader == context_.reader() &&
                      mapping_->context_compile == compile->compile.id;
  return usable ? mapping_ : nullptr;
}

NodeId Pane::counterpart(NodeId node) const {
  if (same_compile()) return node;
  const auto map = mapping();
  return map ? Mapping::first(map->to_pane, node) : 0;
}

NodeId Pane::context_counterpart(NodeId node) const {
  if (same_compile()) return node;
  const auto map = mapping();
  return map ? Mapping::first(map->to_context, node) : 0;
}

void Pane::set_linked(bool linked) {
  if (linked == linked_) return;
  linked_ = linked;
  follow();
  follow_marked();
}

/// The nodes of the context that the selection stands for.
std::vector<NodeId> Pane::selected_nodes() const {
  const Selection& s = context_.selection();
  const auto& marked = context_.marked();
  const bool of_line = s.line > 0 && s.node && !marked.empty() && marked.front() == s.node;
  const bool of_guard = pinned() && s.guard != kNone && !s.in_graph();
  if (of_line || of_guard)
    return {marked.begin(), marked.begin() + static_cast<std::ptrdiff_t>(std::min(marked.size(), kMostStarts))};
  if (s.node) return {s.node};
  const auto compile = context_.compile();
  const KernelRecord* kernel = s.kernel && compile ? compile->kernel(s.kernel) : nullptr;
  return kernel ? kernel->nodes : std::vector<NodeId>();
}

void Pane::follow() {
  if (leading_ || !linked_) return;
  context_.queue().supersede(key("kin"));
  const StepPtr step = step_data();
  const auto shown = compile();
  const std::vector<NodeId> nodes = selected_nodes();
  const Id kernel = same_compile() ? context_.selection().kernel : kNone;
  const auto map = mapping();
  const bool same = same_compile();
  const bool elsewhere = !pinned() && step && step->snapshot.kind == SnapshotKind::Text;  // has a page of its own
  if (!step || !shown || nodes.empty() || elsewhere || (!same && !map)) return take_relatives({}, kernel);
  const bool here = same && std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) { return step->find(id); });
  if (here) return take_relatives({nodes, Relation::Same, {}, {}}, kernel);
  auto work = [this, nodes, kernel, same, map, step, shown, reader = reader()]() -> JobQueue::Apply {
    Relatives found;
    try {
      const auto stop = JobQueue::superseded;
      const auto start =
          same ? nodes : Mapping::translate(map->to_pane, *map->context_reader, map->context_compile, nodes, stop);
      found = find_relatives(*reader, *shown, *step, start, stop);
    } catch (const std::exception&) {
      found = {};  // a trace that cannot be read any more: nothing stands for the selection
    }
    return [this, found, kernel] { take_relatives(found, kernel); };
  };
  context_.queue().post(key("kin"), std::move(work), JobQueue::Lane::Quick);
}

void Pane::take_relatives(const Relatives& relatives, Id kernel) {
  Selection mine = same_compile() ? context_.selection() : Selection();
  mine.kernel = kernel;
  const auto shown = compile();
  const StepPtr step = step_data();
  const KernelRecord* record = kernel && shown ? shown->kernel(kernel) : nullptr;
  const bool framed = record && step && record->snapshot == step->snapshot.id && !context_.selection().node;
  mine.node = relatives.nodes.empty() || framed ? 0 : relatives.nodes.front();
  set_selection(mine, relatives);
}

void Pane::set_selection(const Selection& selection, const Relatives& relatives) {
  if (selection == selection_ && relatives == relatives_) return;
  selection_ = selection;
  relatives_ = relatives;
  emit selectionChanged();
}

QString Pane::relation_text() const {
  const size_t count = relatives_.nodes.size();
  const bool other = relatives_.relation == Relation::MadeOf || relatives_.relation == Relation::MadeFrom;
  if (!other || count == 0) return {};
  const QString how = relatives_.relation == Relation::MadeOf ? "made of" : "that became";
  QString name = "the selection";
  if (const NodeId node = context_.selection().node)
    if (const DetailsPtr details = context_.details(); details && details->node.id == node)
      name = QString::fromStdString(details->node.name);
  return QString("%1 node%2 %3 %4").arg(count).arg(count == 1 ? "" : "s", how, name);
}

void Pane::follow_marked() {
  std::vector<NodeId> marked;
  if (same_compile())
    marked = context_.marked();
  else if (mapping())
    for (NodeId id : context_.marked())
      if (NodeId other = counterpart(id)) marked.push_back(other);
  if (pinned() && !linked_) marked.clear();
  if (marked == marked_) return;
  marked_ = std::move(marked);
  emit markedChanged();
}

void Pane::select_node(NodeId node) {
  if (!pinned()) return context_.select_node(node);
  Selection mine;
  mine.node = node;
  set_selection(mine, {{node}, Relation::Same, {}, {}});
  if (linked_) lead(node, kNone);
}

void Pane::select_kernel(Id kernel) {
  if (!pinned()) return context_.select_kernel(kernel);
  Selection mine;
  mine.kernel = kernel;
  set_selection(mine, {});
  if (linked_ && same_compile()) lead(0, kernel);
}

void Pane::clear_selection() {
  if (!pinned()) return context_.select({});
  set_selection({}, {});
  if (linked_ && (same_compile() || mapping())) lead(0, kNone);
}

/// Tells the context what was selected here. The pane keeps its own idea of it, which is the more exact one.
void Pane::lead(NodeId node, Id kernel) {
  context_.queue().supersede(key("kin"));
  const auto tell = [this](NodeId id, Id kernel_id) {
    Selection selection;
    selection.node = id;
    selection.kernel = kernel_id;
    leading_ = true;
    context_.select(selection);
    leading_ = false;
    if (step_ && step_->snapshot.kind == SnapshotKind::Text) follow();  // what was chosen is a line or a row of it
  };
  const auto map = mapping();
  if (same_compile() || !node || !map) return tell(node, kernel);
  auto work = [tell, map, node, reader = reader_, compile = wanted_.compile]() -> JobQueue::Apply {
    std::vector<NodeId> found;
    try {
      found = Mapping::translate(map->to_context, *reader, compile, {node}, JobQueue::superseded);
    } catch (const std::exception&) {
      found.clear();
    }
    return [tell, found] { tell(found.empty() ? 0 : found.front(), kNone); };
  };
  context_.queue().post(key("lead"), std::move(work), JobQueue::Lane::Quick);
}

}  // namespace strata::studio
