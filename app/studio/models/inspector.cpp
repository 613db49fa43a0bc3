// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "app/explain/explain.h"
#include "app/studio/models/lists.h"

namespace strata::studio {

using namespace trace;

namespace {

constexpr int kMostRows = 200;  // of one section; the rest is counted

class Tree {
 public:
  Tree(QStandardItemModel& model, const CompileData* compile, const Details& details)
      : model_(model), compile_(compile), d_(details) {}

  void fill() {
    exact();
    const bool line = !d_.line_nodes.empty();
    if (d_.node.id != 0)
      node();
    else if (!line)
      kernel_fields();
    python();
    if (d_.node.id != 0) {
      origins();
      became();
      removals();
      rewrites();
    }
    if (d_.node.id != 0 || line) kernels();
    launches();
    buffers();
    guards();
    fusions();
    if (d_.node.id != 0) history();
  }

 private:
  using Item = QStandardItem;

  Item* section(const QString& title) {
    auto* item = new Item(title.left(2000));
    auto* value = new Item();
    QFont font = item->font();
    font.setBold(true);
    item->setFont(font);
    item->setEditable(false);
    value->setEditable(false);
    model_.appendRow({item, value});
    return item;
  }

  Item* row(Item* parent, const QString& key, const QString& value) {
    // Views lay out all of a text, also what can never be seen of it.
    auto* left = new Item(key.left(2000));
    auto* right = new Item(value.left(2000));
    left->setEditable(false);
    right->setEditable(false);
    right->setToolTip(value.left(4000));
    parent->appendRow({left, right});
    return left;
  }
  void field(Item* parent, const QString& key, const std::string& value) {
    if (!value.empty()) row(parent, key, qt(value));
  }
  static void link(Item* item, Role role, const QVariant& value) {
    item->setData(value, role);
    Item* parent = item->parent();
    if (!parent) return;
    if (Item* right = parent->child(item->row(), 1)) {
      right->setData(value, role);
      QFont font = right->font();
      font.setUnderline(true);
      right->setFont(font);
    }
  }
  void node_row(Item* parent, const QString& key, NodeId id, const QString& note = {}) {
    Item* item = row(parent, key, qt(d_.name(id)) + (note.isEmpty() ? "" : "  " + note));
    link(item, NodeRole, static_cast<qlonglong>(id));
  }
  /// Lists are long in large graphs: the first rows and how many more there are.
  template <class List, class Make>
  void each(Item* parent, const List& list, Make make) {
    int count = 0;
    for (const auto& entry : list) {
      if (++count > kMostRows) {
        row(parent, "…", QString("%1 more").arg(list.size() - kMostRows));
        return;
      }
      make(entry);
    }
  }
  QString stage(Id snapshot) const {
    const SnapshotRecord* found = compile_ ? compile_->find(snapshot) : nullptr;
    return found ? qt(found->stage) : QString();
  }
  QString pass(Id id) const {
    if (compile_)
      for (const auto& p : compile_->passes)
        if (p.id == id) return qt(p.name);
    return {};
  }

  void node() {
    Item* s = section("Node");
    row(s, "name", qt(d_.node.name) + (d_.in_snapshot ? "" : "  (not in this stage)"));
    field(s, "kind", d_.node.op);
    field(s, "operator", d_.node.target);
    field(s, "arguments", d_.node.args);
    field(s, "type", d_.node.type);
    field(s, "dtype", d_.node.dtype);
    field(s, "shape", d_.node.shape);
    field(s, "device", d_.node.device);
    field(s, "module", d_.node.module);
    field(s, "role", d_.node.role);
    field(s, "made by", d_.maker);
    if (d_.node.group) row(s, "kernel group", QString::number(d_.node.group));
    row(s, "id", QString::number(d_.node.id));
    if (!d_.operands.empty()) operands();
    if (d_.users.empty()) return;
    Item* users = section(QString("Users (%1)").arg(d_.users.size()));
    each(users, d_.users, [&](NodeId id) { node_row(users, "user", id); });
  }

  /// The thing itself, where it is neither node nor kernel.
  void exact() {
    if (const LaunchRecord* launch = d_.launch()) launch_fields(*launch);
    if (const BufferRecord* buffer = d_.buffer()) buffer_fields(*buffer);
    if (const GuardRecord* guard = d_.guard()) guard_fields(*guard);
    if (d_.selection.event != kNone && d_.event.id != kNone) event_fields(d_.event);
    if (d_.selection.kind() == SelectionKind::Line || !d_.line_nodes.empty()) line_fields();
  }

  void launch_fields(const LaunchRecord& launch) {
    Item* s = section("Launch");
    row(s, "number", QString::number(launch.ordinal));
    field(s, "name", launch.name);
    if (launch.line > 0) row(s, "line of the code", QString::number(launch.line));
    if (const KernelRecord* kernel = compile_ ? compile_->kernel(launch.kernel) : nullptr) kernel_row(s, *kernel);
    for (Id id : launch.reads) buffer_row(s, "reads", id);
    for (Id id : launch.writes) buffer_row(s, "writes", id);
  }

  const BufferRecord* buffer(Id id) const {
    for (const BufferRecord& b : d_.buffers)
      if (b.id == id) return &b;
    return nullptr;
  }
  void buffer_row(Item* s, const QString& key, Id id) {
    const BufferRecord* b = buffer(id);
    if (!b) return;
    QString text = qt(b->name) + " · " + qt(b->kind);
    if (b->bytes.value) text += " · " + bytes_text(*b->bytes.value);
    link(row(s, key, text), BufferRole, static_cast<qlonglong>(id));
  }

  void buffer_fields(const BufferRecord& b) {
    Item* s = section("Buffer");
    field(s, "name", b.name);
    field(s, "kind", b.kind);
    amount(s, "bytes", b.bytes);
    if (b.node) node_row(s, "value of", b.node);
    if (b.first_launch >= 0) row(s, "lives", QString("launches %1 to %2").arg(b.first_launch).arg(b.last_launch));
    if (b.arena_offset) row(s, "place in the arena", QString::number(*b.arena_offset));
    buffer_row(s, "takes the memory of", b.reuse_of);
    for (const BufferRecord& after : d_.buffers)
      if (after.reuse_of == b.id) buffer_row(s, "memory goes to", after.id);
  }

  void guard_fields(const GuardRecord& g) {
    Item* s = section("Guard");
    field(s, "kind", g.kind);
    field(s, "condition", g.expression);
    field(s, "looks at", g.source);
    if (g.hits) row(s, "checks", QString::number(g.hits));
    if (g.failures) row(s, "failures", QString::number(g.failures));
    if (g.cost_ns >= 0) row(s, "one check", duration_text(static_cast<double>(g.cost_ns)));
    if (d_.selection.line > 0) line_row(s, "line", d_.selection.file, d_.selection.line);
    field(s, "path", g.path);
    for (const RecompileRecord& r : d_.failures)
      if (r.guard == g.id) failure_rows(s, r);
  }
  void failure_rows(Item* s, const RecompileRecord& r) {
    QString text = qt(r.expression.empty() ? r.reason : r.expression).section('\n', 0, 0);
    if (!r.expected.empty() || !r.actual.empty())
      text += QString("  expected %1, found %2").arg(qt(r.expected), qt(r.actual));
    link(row(s, "failed", text), CompileRole, static_cast<qlonglong>(r.compile));
    row(s, "what to change", qt(recompile_advice(explain_reason(r))));
    if (r.cost_ns >= 0) row(s, "cost", duration_text(static_cast<double>(r.cost_ns)));
  }

  void event_fields(const EventRecord& e) {
    Item* s = section("Event");
    field(s, "name", e.name);
    field(s, "category", e.category);
    row(s, "starts at", duration_text(static_cast<double>(std::max<std::int64_t>(e.start_ns, 0))));
    if (e.duration_ns >= 0) row(s, "takes", duration_text(static_cast<double>(e.duration_ns)));
    field(s, "clock", e.clock);
    if (d_.track.id != kNone) field(s, "on", d_.track.process_name + " · " + d_.track.name);
    if (e.thread) row(s, "thread", QString::number(e.thread));
    if (e.stream >= 0) row(s, "stream", QString::number(e.stream));
    if (e.correlation) row(s, "correlation", QString::number(e.correlation));
    if (e.sequence >= 0) row(s, "sequence", QString::number(e.sequence));
    if (e.match == Match::Inferred) row(s, "kernel", "inferred");
    const QJsonObject args = QJsonDocument::fromJson(QByteArray::fromStdString(e.args)).object();
    for (auto it = args.begin(); it != args.end(); ++it) {
      const QString value = it->isString() ? it->toString() : it->toVariant().toString();
      if (!value.isEmpty()) row(s, it.key(), value);
    }
  }

  void line_row(Item* s, const QString& key, const std::string& file, std::int64_t line) {
    Item* item = row(s, key, QString("%1:%2").arg(qt(file).section('/', -1)).arg(line));
    link(item, FileRole, qt(file));
    link(item, LineRole, static_cast<int>(line));
  }

  void line_fields() {
    Item* s = section("Line");
    line_row(s, "place", d_.selection.file, d_.selection.line);
    for (const auto& [compile, count] : d_.elsewhere)
      link(row(s, "nodes", QString("%1 in another compile").arg(count)), CompileRole, static_cast<qlonglong>(compile));
    if (d_.line_nodes.empty()) return;
    Item* nodes = section(QString("Nodes of the line (%1)").arg(d_.line_nodes.size()));
    each(nodes, d_.line_nodes, [&](NodeId id) { node_row(nodes, "node", id); });
  }

  void kernels() {
    if (d_.kernels.empty()) return;
    Item* s = section(QString("Kernels (%1)").arg(d_.kernels.size()));
    each(s, d_.kernels, [&](const KernelRecord& kernel) { kernel_row(s, kernel); });
  }

  void launches() {
    if (d_.launches.empty() || d_.selection.launch != kNone) return;
    Item* s = section(QString("Launches (%1)").arg(d_.launches.size()));
    each(s, d_.launches, [&](const LaunchRecord& launch) {
      const auto has = [&](const std::vector<Id>& list) {
        return std::find(list.begin(), list.end(), d_.selection.buffer) != list.end();
      };
      QString text = qt(launch.name);
      if (const KernelRecord* kernel = compile_ && text.isEmpty() ? compile_->kernel(launch.kernel) : nullptr)
        text = qt(kernel->name);
      if (d_.selection.buffer != kNone) text = (has(launch.writes) ? "writes · " : "reads · ") + text;
      link(row(s, QString("launch %1").arg(launch.ordinal), text), LaunchRole, static_cast<qlonglong>(launch.id));
    });
  }

  void buffers() {
    if (d_.buffers.empty() || d_.selection.buffer != kNone || d_.selection.launch != kNone) return;
    Item* s = section(QString("Buffers (%1)").arg(d_.buffers.size()));
    each(s, d_.buffers, [&](const BufferRecord& b) { buffer_row(s, "buffer", b.id); });
  }

  void guards() {
    const size_t own = d_.guard() ? 1 : 0;
    if (d_.guards.size() <= own) return;
    Item* s = section(QString("Guards of the same lines (%1)").arg(d_.guards.size() - own));
    each(s, d_.guards, [&](const GuardRecord& g) {
      if (g.id == d_.selection.guard) return;
      Item* item = row(s, qt(g.kind), qt(g.expression).simplified());
      if (g.failures) item->setData("refused", MarkRole);
      link(item, GuardRole, static_cast<qlonglong>(g.id));
    });
  }

  void operands() {
    Item* s = section(QString("Operands (%1)").arg(d_.operands.size()));
    each(s, d_.operands, [&](const auto& operand) {
      if (operand.second.empty()) row(s, qt(operand.first), "a constant");
      for (NodeId id : operand.second) node_row(s, qt(operand.first), id);
    });
  }

  void kernel_fields() {
    for (const auto& kernel : d_.kernels) kernel_section(kernel);
  }

  void amount(Item* s, const QString& key, const Amount& a) {
    if (a.value)
      row(s, key, QString::number(*a.value, 'f', 0) + (a.formula.empty() ? "" : "  = " + qt(a.formula)));
    else
      field(s, key, a.formula);
  }

  void kernel_section(const KernelRecord& kernel) {
    Item* s = section("Kernel");
    field(s, "name", kernel.name);
    field(s, "library", kernel.library);
    field(s, "device", kernel.device);
    amount(s, "bytes", kernel.bytes);
    amount(s, "flops", kernel.flops);
    if (compile_)
      if (auto it = compile_->times.find(kernel.id); it != compile_->times.end())
        row(s, "median time", qt(draw::format_time(it->second)));
    Item* nodes = section(QString("Nodes (%1)").arg(kernel.nodes.size()));
    each(nodes, kernel.nodes, [&](NodeId id) { node_row(nodes, "node", id); });
  }

  void python() {
    const auto& list = !d_.stack.empty() ? d_.stack : d_.origins.locations;
    if (list.empty()) return;
    Item* s = section("Python");
    each(s, list, [&](const SourceLocation& at) {
      QString file = qt(at.file).section('/', -1);
      Item* item =
          row(s, QString("%1:%2").arg(file).arg(at.line), at.text.empty() ? qt(at.function) : qt(at.text).trimmed());
      link(item, FileRole, qt(at.file));
      link(item, LineRole, static_cast<int>(at.line));
      item->setToolTip(QString("%1:%2 in %3").arg(qt(at.file)).arg(at.line).arg(qt(at.function)));
    });
  }

  void origins() {
    if (d_.origins.ancestors.size() < 2) return;
    Item* s = section(QString("Made from (%1)").arg(d_.origins.ancestors.size() - 1));
    each(s, d_.origins.ancestors, [&](const OriginStep& step) { origin_row(s, step); });
  }
  void origin_row(Item* s, const OriginStep& step) {
    if (step.depth == 0) return;
    QString rule = qt(step.edge.rule.empty() ? step.edge.kind : step.edge.rule);
    node_row(s, qt(step.edge.kind), step.node.id,
             QString("at %1 · %2%3").arg(stage(step.last_snapshot), rule, step.edge.exact ? "" : " (inferred)"));
  }

  void became() {
    const auto& r = d_.results;
    if (r.descendants.size() > 1) {
      Item* s = section(QString("Became (%1)").arg(r.descendants.size() - 1));
      each(s, r.descendants, [&](const OriginStep& step) { origin_row(s, step); });
    }
  }
  void kernel_row(Item* s, const KernelRecord& kernel) {
    QString note;
    if (compile_)
      if (auto it = compile_->times.find(kernel.id); it != compile_->times.end())
        note = " · " + qt(draw::format_time(it->second));
    Item* item = row(s, "kernel", QString("%1 · %2 nodes%3").arg(qt(kernel.name)).arg(kernel.nodes.size()).arg(note));
    link(item, KernelRole, static_cast<qlonglong>(kernel.id));
  }

  void removals() {
    if (d_.results.removals.empty()) return;
    Item* s = section("Removed");
    each(s, d_.results.removals, [&](const RemovalRecord& removal) {
      QString why =
          QString("by %1: %2").arg(pass(removal.pass), qt(removal.rule.empty() ? removal.reason : removal.rule));
      if (!removal.rule.empty() && !removal.reason.empty()) why += " – " + qt(removal.reason);
      node_row(s, "removed", removal.node, why);
    });
  }

  void rewrites() {
    if (d_.rewrites.empty()) return;
    Item* s = section(QString("Rewrites (%1)").arg(d_.rewrites.size()));
    each(s, d_.rewrites, [&](const RewriteRecord& rewrite) {
      Item* item = row(s, qt(rewrite.rule), qt(rewrite.reason));
      for (NodeId id : rewrite.before) node_row(item, "before", id);
      for (NodeId id : rewrite.after) node_row(item, "after", id);
    });
  }

  void fusions() {
    if (d_.fusions.empty()) return;
    Item* s = section(QString("Fusion decisions (%1)").arg(d_.fusions.size()));
    each(s, d_.fusions, [&](const FusionRecord& fusion) {
      QString what = QString("%1 → %2").arg(qt(d_.name(fusion.producer)), qt(d_.name(fusion.consumer)));
      Item* item = row(s, fusion.accepted ? "fused" : "refused", QString("%1: %2").arg(what, qt(fusion.reason)));
      item->setData(fusion.accepted ? "accepted" : "refused", MarkRole);
      NodeId other = fusion.producer == d_.node.id ? fusion.consumer : fusion.producer;
      link(item, NodeRole, static_cast<qlonglong>(other));
      if (!fusion.rule.empty()) row(item, "rule", qt(fusion.rule));
    });
  }

  void history() {
    if (d_.history.size() < 2) return;
    Item* s = section("Versions");
    each(s, d_.history, [&](const NodeVersion& version) {
      row(s, "from " + stage(version.snapshot),
          QString("%1 = %2(%3)").arg(qt(version.node.name), qt(version.node.target), qt(version.node.args)));
    });
  }

  QStandardItemModel& model_;
  const CompileData* compile_;
  const Details& d_;
};

}  // namespace

QString selection_title(const Details& d) {
  const Selection& s = d.selection;
  const QString kernel = d.kernels.empty() ? QString() : qt(d.kernels.front().name);
  const auto joined = [](const QString& what, const QString& name) {
    return name.isEmpty() ? what : what + " · " + name;
  };
  switch (s.kind()) {
    case SelectionKind::Launch:
      return d.launch() ? joined(QString("Launch %1").arg(d.launch()->ordinal), kernel) : QString("Unknown launch");
    case SelectionKind::Buffer:
      return d.buffer() ? "Buffer " + qt(d.buffer()->name) : QString("Unknown buffer");
    case SelectionKind::Guard:
      return d.guard() ? joined("Guard " + qt(d.guard()->kind), qt(d.guard()->source)) : QString("Unknown guard");
    case SelectionKind::Event:
      return joined("Event", qt(d.event.name));
    case SelectionKind::Line:
      return QString("%1:%2").arg(qt(s.file).section('/', -1)).arg(s.line);
    case SelectionKind::Kernel:
      return "Kernel " + kernel;
    default:
      return QString("%1  %2").arg(qt(d.node.name), qt(d.node.target));
  }
}

void fill_inspector(QStandardItemModel& model, const CompileData* compile, const Details* details) {
  model.clear();
  model.setHorizontalHeaderLabels({"Field", "Value"});
  if (details) Tree(model, compile, *details).fill();
}

}  // namespace strata::studio
