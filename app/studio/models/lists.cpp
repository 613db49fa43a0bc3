// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/lists.h"

#include "app/studio/models/step_text.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace strata::studio {

using namespace trace;

QString qt(const std::string& text) { return QString::fromStdString(text); }

QString duration_text(double ns) { return ns < 0 ? QString() : qt(draw::format_time(ns)); }

QString bytes_text(double bytes) {
  if (bytes < 1e3) return QString("%1 B").arg(bytes, 0, 'f', 0);
  if (bytes < 1e6) return QString("%1 kB").arg(bytes / 1e3, 0, 'f', 1);
  if (bytes < 1e9) return QString("%1 MB").arg(bytes / 1e6, 0, 'f', 2);
  return QString("%1 GB").arg(bytes / 1e9, 0, 'f', 2);
}

namespace {

QString count_text(std::int64_t n) { return n < 0 ? QString() : QString::number(n); }

QString change_text(std::int64_t added, std::int64_t removed, std::int64_t changed) {
  QStringList parts;
  if (added > 0) parts << QString("+%1").arg(added);
  if (removed > 0) parts << QString("−%1").arg(removed);
  if (changed > 0) parts << QString("~%1").arg(changed);
  return parts.join(' ');
}

TableRow pass_row(const PassRecord& pass) {
  TableRow row;
  QString tip = QString("pass %1: %2").arg(qt(pass.name), pass.changed ? "changed the graph" : "changed nothing");
  if (!pass.error.empty()) tip += "\nfailed: " + qt(pass.error);
  row.cells = {{"    " + qt(pass.name), {}, tip},
               {duration_text(static_cast<double>(pass.duration_ns)), static_cast<double>(pass.duration_ns)},
               {count_text(pass.nodes_after)},
               {pass.error.empty() ? (pass.changed ? "changed" : "–") : "failed"}};
  row.pass = pass.id;
  row.effect = pass.changed || !pass.error.empty();
  row.mark = pass.error.empty() ? "" : "refused";
  return row;
}

TableRow snapshot_row(const CompileData& compile, const SnapshotRecord& snapshot, const PassRecord* pass, bool first) {
  TableRow row;
  QString tip = QString("stage %1").arg(qt(snapshot.stage));
  if (pass) tip += QString("\nmade by pass %1").arg(qt(pass->name));
  if (pass && pass->verified == Verified::Passed) tip += "\nverified";
  if (pass && !pass->error.empty()) tip += "\nfailed: " + qt(pass->error);
  if (const QString rewrites = rewrites_text(compile, snapshot, 12); !rewrites.isEmpty()) tip += "\n" + rewrites;
  bool graph = snapshot.kind == SnapshotKind::Graph;
  row.cells = {
      {qt(snapshot.stage), {}, tip},
      {pass ? duration_text(static_cast<double>(pass->duration_ns)) : QString()},
      {graph ? count_text(snapshot.node_count) : QString()},
      {graph && !first ? change_text(snapshot.added, snapshot.removed, snapshot.changed) : QString(),
       {},
       graph && !first
           ? QString("%1 added, %2 removed, %3 changed").arg(snapshot.added).arg(snapshot.removed).arg(snapshot.changed)
           : QString()}};
  row.snapshot = snapshot.id;
  row.pass = snapshot.pass;
  row.effect = compile.has_effect(snapshot);
  return row;
}

QString join_names(const std::vector<NodeId>& nodes, const std::function<std::string(NodeId)>& name) {
  QStringList names;
  for (NodeId id : nodes) {
    if (names.size() == 12) {
      names << QString("… %1 more").arg(nodes.size() - 12);
      break;
    }
    names << qt(name(id));
  }
  return names.join(", ");
}

/// The fields in which two versions of a node differ.
QString difference(const NodeRecord& a, const NodeRecord& b) {
  QStringList parts;
  auto field = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y) parts << QString("%1: %2 → %3").arg(what, x.empty() ? "none" : qt(x), y.empty() ? "none" : qt(y));
  };
  field("name", a.name, b.name);
  field("target", a.target, b.target);
  field("type", a.type, b.type);
  field("module", a.module, b.module);
  if (a.group != b.group)
    parts << (b.group ? QString("joined kernel group %1").arg(b.group) : QString("left its group"));
  if (a.inputs != b.inputs) parts << "operands";
  if (a.args != b.args && parts.isEmpty()) parts << QString("arguments: %1 → %2").arg(qt(a.args), qt(b.args));
  return parts.join("; ");
}

TableRow change_row(const NodeRecord& node, const QString& mark, const QString& note) {
  TableRow row;
  row.cells = {{mark}, {qt(node.name)}, {qt(node.target)}, {qt(node.dtype + node.shape)}, {note}};
  row.node = node.id;
  row.mark = mark;
  return row;
}

QString origin_note(const StepData& step, NodeId node) {
  for (const auto& rewrite : step.rewrites)
    for (NodeId after : rewrite.after)
      if (after == node)
        return QString("%1: from %2").arg(qt(rewrite.rule), join_names(rewrite.before, [&](NodeId id) {
                                            return step.name(id);
                                          }));
  return {};
}

double rate(const Amount& amount, double ns) { return amount.value && ns > 0 ? *amount.value / ns : -1; }

TableCell number(double value, int digits) {
  return value < 0 ? TableCell{"", -1.0} : TableCell{QString::number(value, 'f', digits), value};
}

}  // namespace

QString stack_text(const Details& details, LineRanges& lines) {
  const auto& list = details.stack.empty() ? details.origins.locations : details.stack;
  QStringList text;
  for (const auto& at : list) {
    QString place = QString("%1:%2").arg(qt(at.file)).arg(at.line);
    text << (at.function.empty() ? place : place + " in " + qt(at.function));
    text << "    " + qt(at.text).trimmed();
    lines.emplace_back(static_cast<int>(text.size()), static_cast<int>(text.size()));
  }
  return text.join('\n');
}

QStringList stage_headers() { return {"Stage", "Time", "Nodes", "Change"}; }

std::vector<TableRow> stage_rows(const CompileData& compile) {
  std::vector<TableRow> rows;
  std::unordered_map<Id, const PassRecord*> by_id;
  std::unordered_set<Id> with_snapshot;
  for (const auto& pass : compile.passes) by_id[pass.id] = &pass;
  for (const auto& snapshot : compile.snapshots) with_snapshot.insert(snapshot.pass);
  size_t next = 0;
  auto passes_before = [&](std::int64_t ordinal) {
    for (; next < compile.passes.size() && compile.passes[next].ordinal < ordinal; ++next)
      if (!with_snapshot.contains(compile.passes[next].id)) rows.push_back(pass_row(compile.passes[next]));
  };
  // Stages after the last one that a pass made (schedule, code) come after all passes.
  auto made_by_pass = [&](const SnapshotRecord& s) { return by_id.contains(s.pass); };
  auto last = std::find_if(compile.snapshots.rbegin(), compile.snapshots.rend(), made_by_pass).base();
  for (auto it = compile.snapshots.begin(); it != compile.snapshots.end(); ++it) {
    const PassRecord* pass = made_by_pass(*it) ? by_id.at(it->pass) : nullptr;
    if (pass) passes_before(pass->ordinal);
    if (it >= last && it != compile.snapshots.begin()) passes_before(INT64_MAX);
    rows.push_back(snapshot_row(compile, *it, pass, it == compile.snapshots.begin()));
  }
  passes_before(INT64_MAX);
  return rows;
}

QStringList change_headers() { return {"What", "Node", "Operator", "Type", "Why"}; }

std::vector<TableRow> change_rows(const StepData& step) {
  std::vector<TableRow> rows;
  if (step.before.empty()) return rows;
  std::unordered_map<NodeId, const RemovalRecord*> why;
  for (const auto& removal : step.removals) why[removal.node] = &removal;
  for (const auto& node : step.diff.added) rows.push_back(change_row(node, "added", origin_note(step, node.id)));
  for (const auto& node : step.diff.removed) {
    auto it = why.find(node.id);
    QString note = it == why.end() ? QString() : QString("%1: %2").arg(qt(it->second->rule), qt(it->second->reason));
    rows.push_back(change_row(node, "removed", note));
  }
  for (const auto& change : step.diff.changed)
    rows.push_back(change_row(change.after, "changed", difference(change.before, change.after)));
  return rows;
}

QStringList rewrite_headers() { return {"Rule", "Before", "After", "Reason"}; }

std::vector<TableRow> rewrite_rows(const StepData& step) {
  std::vector<TableRow> rows;
  auto name = [&](NodeId id) { return step.name(id); };
  for (const auto& rewrite : step.rewrites) {
    TableRow row;
    row.cells = {{qt(rewrite.rule)},
                 {join_names(rewrite.before, name)},
                 {join_names(rewrite.after, name)},
                 {qt(rewrite.reason)}};
    row.node = !rewrite.after.empty() ? rewrite.after.front() : rewrite.before.empty() ? 0 : rewrite.before.front();
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList time_headers() {
  return {"Kernel", "Kind", "Nodes", "Calls", "Median", "Total", "Share", "Bytes", "GB/s", "Gflop/s"};
}

std::vector<TableRow> time_rows(const CompileData& compile) {
  std::vector<TableRow> rows;
  double all = 0;
  for (const auto& [id, spread] : compile.spreads) all += spread.total;
  for (const auto& kernel : compile.kernels) {
    auto it = compile.spreads.find(kernel.id);
    bool timed = it != compile.spreads.end();
    double median = timed ? compile.times.at(kernel.id) : -1, total = timed ? it->second.total : -1;
    TableRow row;
    QString kind = kernel.kind == KernelKind::Library  ? qt(kernel.library)
                   : kernel.kind == KernelKind::Opaque ? "opaque"
                                                       : "loop";
    row.cells = {
        {qt(kernel.name)},
        {kind},
        {QString::number(kernel.nodes.size()), static_cast<qlonglong>(kernel.nodes.size())},
        {timed ? QString::number(it->second.calls) : "", timed ? static_cast<qlonglong>(it->second.calls) : 0},
        {duration_text(median), median,
         timed ? QString("least %1, most %2").arg(duration_text(it->second.least), duration_text(it->second.most))
               : QString()},
        {duration_text(total), total},
        number(timed && all > 0 ? 100 * total / all : -1, 1),
        {kernel.bytes.value ? bytes_text(*kernel.bytes.value) : qt(kernel.bytes.formula),
         kernel.bytes.value.value_or(-1.0),
         kernel.bytes.value ? QString::number(*kernel.bytes.value, 'f', 0) : QString()},
        number(rate(kernel.bytes, median), 2),
        number(rate(kernel.flops, median), 2)};
    if (!row.cells[6].text.isEmpty()) row.cells[6].text += " %";
    row.kernel = kernel.id;
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList launch_headers() { return {"#", "Launch", "Time", "Reads", "Writes"}; }

std::vector<TableRow> launch_rows(const CompileData& compile, Id program) {
  std::vector<TableRow> rows;
  std::unordered_map<Id, const BufferRecord*> buffers;
  for (const auto& buffer : compile.buffers) buffers[buffer.id] = &buffer;
  auto names = [&](const std::vector<Id>& ids) {
    QStringList list;
    for (Id id : ids) {
      auto it = buffers.find(id);
      if (it == buffers.end()) continue;
      QString name = qt(it->second->name);
      if (auto reused = buffers.find(it->second->reuse_of); reused != buffers.end())
        name += " (memory of " + qt(reused->second->name) + ")";
      list << name;
    }
    return list.join(", ");
  };
  for (const auto& launch : compile.launches) {
    if (program != kNone && launch.program != program) continue;
    auto time = compile.times.find(launch.kernel);
    const KernelRecord* kernel = compile.kernel(launch.kernel);
    TableRow row;
    row.cells = {{QString::number(launch.ordinal), static_cast<qlonglong>(launch.ordinal)},
                 {qt(!launch.name.empty() || !kernel ? launch.name : kernel->name)},
                 {time == compile.times.end() ? QString() : duration_text(time->second),
                  time == compile.times.end() ? -1.0 : time->second},
                 {names(launch.reads)},
                 {names(launch.writes)}};
    row.kernel = launch.kernel;
    row.launch = launch.id;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
