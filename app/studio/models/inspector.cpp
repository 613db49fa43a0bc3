// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
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
    if (d_.selection.node != 0)
      node();
    else
      kernel_fields();
    python();
    if (d_.selection.node != 0) {
      origins();
      results();
      removals();
      rewrites();
    }
    fusions();
    if (d_.selection.node != 0) history();
  }

 private:
  using Item = QStandardItem;

  Item* section(const QString& title) {
    auto* item = new Item(title);
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
    auto* left = new Item(key);
    auto* right = new Item(value);
    left->setEditable(false);
    right->setEditable(false);
    right->setToolTip(value);
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

  void kernel_section(const KernelRecord& kernel) {
    Item* s = section("Kernel");
    field(s, "name", kernel.name);
    field(s, "library", kernel.library);
    field(s, "device", kernel.device);
    auto amount = [&](const QString& key, const Amount& a) {
      if (a.value)
        row(s, key, QString::number(*a.value, 'f', 0) + (a.formula.empty() ? "" : "  = " + qt(a.formula)));
      else
        field(s, key, a.formula);
    };
    amount("bytes", kernel.bytes);
    amount("flops", kernel.flops);
    if (compile_)
      if (auto it = compile_->times.find(kernel.id); it != compile_->times.end())
        row(s, "median time", qt(draw::format_time(it->second)));
    Item* nodes = section(QString("Nodes (%1)").arg(kernel.nodes.size()));
    each(nodes, kernel.nodes, [&](NodeId id) { node_row(nodes, "node", id); });
  }

  void python() {
    const auto& list = d_.selection.node != 0 && !d_.stack.empty() ? d_.stack : d_.origins.locations;
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

  void results() {
    const auto& r = d_.results;
    if (r.descendants.size() > 1) {
      Item* s = section(QString("Became (%1)").arg(r.descendants.size() - 1));
      each(s, r.descendants, [&](const OriginStep& step) { origin_row(s, step); });
    }
    if (!r.kernels.empty()) {
      Item* s = section(QString("Kernels (%1)").arg(r.kernels.size()));
      each(s, r.kernels, [&](const KernelRecord& kernel) { kernel_row(s, kernel); });
    }
    if (!r.launches.empty()) {
      Item* s = section(QString("Launches (%1)").arg(r.launches.size()));
      each(s, r.launches, [&](const LaunchRecord& launch) {
        Item* item = row(s, QString("launch %1").arg(launch.ordinal), qt(launch.name));
        link(item, KernelRole, static_cast<qlonglong>(launch.kernel));
      });
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
      NodeId other = fusion.producer == d_.selection.node ? fusion.consumer : fusion.producer;
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

void fill_inspector(QStandardItemModel& model, const CompileData* compile, const Details* details) {
  model.clear();
  model.setHorizontalHeaderLabels({"Field", "Value"});
  if (details) Tree(model, compile, *details).fill();
}

}  // namespace strata::studio
