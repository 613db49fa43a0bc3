// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/copy_text.h"

#include "app/studio/models/lists.h"

namespace strata::studio {
namespace {

/// `: "f32[8, 64]"`, without strides and device; nothing where the type is not known.
QString annotation(const trace::NodeRecord& node) {
  const std::string type = node.dtype.empty() ? node.type : node.dtype + node.shape;
  return type.empty() ? QString() : QString(": \"%1\"").arg(qt(type));
}

QString callee(const trace::NodeRecord& node) {
  QString target = qt(node.target);
  if (target.startsWith("aten.") || target.startsWith("prims.")) return "torch.ops." + target;
  if (target.startsWith("_operator.")) return target.mid(1);
  return target;
}

QString arguments(const trace::NodeRecord& node) { return qt(node.args).remove('%'); }

QString cell(QString text, TableFormat format) {
  if (format == TableFormat::Tabs) return text.replace('\t', ' ').replace('\r', ' ').replace('\n', ' ');
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n') && !text.contains('\r')) return text;
  return '"' + text.replace("\"", "\"\"") + '"';
}

void add_rows(const QAbstractItemModel& model, const QModelIndex& parent, int depth, TableFormat format,
              const std::function<bool(const QModelIndex&)>& wanted, QString& out) {
  const QChar separator = format == TableFormat::Tabs ? '\t' : ',';
  for (int row = 0; row < model.rowCount(parent); ++row) {
    const QModelIndex first = model.index(row, 0, parent);
    if (!wanted || wanted(first)) {
      QStringList cells;
      for (int column = 0; column < model.columnCount(parent); ++column)
        cells << cell(model.index(row, column, parent).data().toString(), format);
      out += QString(2 * depth, ' ') + cells.join(separator) + '\n';
    }
    if (model.hasChildren(first)) add_rows(model, first, depth + 1, format, wanted, out);
  }
}

}  // namespace

QString fx_line(const trace::NodeRecord& node) {
  const QString left = qt(node.name) + annotation(node);
  if (node.op == "placeholder") return left;
  if (node.op == "output") return "return " + arguments(node);
  if (node.op == "get_attr") return left + " = self." + qt(node.target);
  if (node.op == "call_method") {
    const QString all = arguments(node);
    return QString("%1 = %2.%3(%4)")
        .arg(left, all.section(',', 0, 0).trimmed(), qt(node.target), all.section(',', 1).trimmed());
  }
  const QString self = node.op == "call_module" ? "self." : "";
  return QString("%1 = %2%3(%4)").arg(left, self, callee(node), arguments(node));
}

QString fx_lines(const StepData& step, const std::unordered_set<trace::NodeId>& nodes) {
  QString text;
  for (const trace::NodeRecord& node : step.nodes)
    if (nodes.contains(node.id)) text += fx_line(node) + '\n';
  return text;
}

QString fx_text(const StepData& step) {
  if (step.nodes.empty()) {
    QString text;
    for (const CodeUnit& unit : step.texts) text += qt(unit.artifact->content);
    return text;
  }
  QStringList inputs = {"self"};
  QString body;
  for (const trace::NodeRecord& node : step.nodes) {
    if (node.op == "placeholder")
      inputs << fx_line(node);
    else
      body += "    " + fx_line(node) + '\n';
  }
  return "def forward(" + inputs.join(", ") + "):\n" + (body.isEmpty() ? QString("    pass\n") : body);
}

std::unordered_set<trace::NodeId> neighbours(const StepData& step, trace::NodeId node) {
  std::unordered_set<trace::NodeId> result = {node};
  for (const trace::NodeRecord& other : step.nodes)
    for (const auto& operand : other.inputs)
      for (const trace::NodeId input : operand) {
        if (other.id == node) result.insert(input);
        if (input == node) result.insert(other.id);
      }
  return result;
}

QString table_text(const QAbstractItemModel& model, TableFormat format,
                   const std::function<bool(const QModelIndex&)>& wanted) {
  QStringList heads;
  for (int column = 0; column < model.columnCount(); ++column)
    heads << cell(model.headerData(column, Qt::Horizontal).toString(), format);
  QString text = heads.join(format == TableFormat::Tabs ? '\t' : ',') + '\n';
  add_rows(model, {}, 0, format, wanted, text);
  return text;
}

}  // namespace strata::studio
