// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/copy.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QPlainTextEdit>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextDocumentFragment>

#include "app/studio/models/copy_text.h"
#include "app/studio/views/graph_view.h"

namespace strata::studio {
namespace {

void put(const QString& text) {
  if (!text.isEmpty()) QApplication::clipboard()->setText(text);
}

QString rows_of(const QAbstractItemView& view, bool selected, TableFormat format) {
  if (!view.model()) return {};
  if (!selected) return table_text(*view.model(), format);
  const QItemSelectionModel* chosen = view.selectionModel();
  const QModelIndex current = view.currentIndex();
  const bool none = !chosen || !chosen->hasSelection();  // then the row of the keyboard
  if (none && !current.isValid()) return {};
  return table_text(*view.model(), format, [&](const QModelIndex& first) {
    if (none) return first == current.siblingAtColumn(0);
    for (int column = 0; column < view.model()->columnCount(first.parent()); ++column)
      if (chosen->isSelected(first.siblingAtColumn(column))) return true;
    return false;
  });
}

void install_on_table(QAbstractItemView& view) {
  if (view.selectionMode() == QAbstractItemView::SingleSelection)
    view.setSelectionMode(QAbstractItemView::ExtendedSelection);
  install_copy(view, {{"&Copy rows", [&view] { return rows_of(view, true, TableFormat::Tabs); }},
                      {"Copy c&ell", [&view] { return view.currentIndex().data().toString(); }},
                      {"Copy &all rows", [&view] { return rows_of(view, false, TableFormat::Tabs); }},
                      {"Copy all rows as CS&V", [&view] { return rows_of(view, false, TableFormat::Csv); }}});
}

/// What is marked, else the line of the cursor.
template <class Text>
QString marked_text(const Text& view) {
  const QTextCursor cursor = view.textCursor();
  return cursor.hasSelection() ? cursor.selection().toPlainText() : cursor.block().text();
}

template <class Text>
void install_on_text(Text& view) {
  install_copy(
      view, {{"&Copy", [&view] { return marked_text(view); }}, {"Copy &all", [&view] { return view.toPlainText(); }}});
}

QString selected_nodes(const Pane& pane, bool with_neighbours) {
  const StepPtr step = pane.step_data();
  const Selection& selection = pane.selection();
  if (!step || !selection.in_graph()) return {};
  std::unordered_set<trace::NodeId> nodes;
  if (selection.node) nodes.insert(selection.node);
  if (const auto compile = pane.compile(); nodes.empty() && compile)
    if (const auto* kernel = compile->kernel(selection.kernel))
      nodes.insert(kernel->nodes.begin(), kernel->nodes.end());
  if (!with_neighbours) return fx_lines(*step, nodes);
  std::unordered_set<trace::NodeId> around;
  for (const trace::NodeId node : nodes) around.merge(neighbours(*step, node));
  return fx_lines(*step, around);
}

/// Not a menu: the graph has its own, with these actions in it.
void install_on_graph(GraphView& view) {
  view.setContextMenuPolicy(Qt::PreventContextMenu);
  install_copy(view, {{"&Copy node as FX", [&view] { return selected_nodes(view.pane(), false); }},
                      {"Copy nei&ghbourhood as FX", [&view] { return selected_nodes(view.pane(), true); }},
                      {"Copy stage as F&X", [&view] {
                         const StepPtr step = view.pane().step_data();
                         return step ? fx_text(*step) : QString();
                       }}});
  view.setContextMenuPolicy(Qt::DefaultContextMenu);
}

}  // namespace

void install_copy(QWidget& widget, std::vector<CopyEntry> entries) {
  if (widget.property("copies").toBool()) return;
  widget.setProperty("copies", true);
  bool first = true;
  for (CopyEntry& entry : entries) {
    auto* action = new QAction(entry.text, &widget);
    action->setShortcutContext(Qt::WidgetShortcut);
    if (std::exchange(first, false)) action->setShortcut(QKeySequence::Copy);
    QObject::connect(action, &QAction::triggered, &widget, [make = std::move(entry.make)] { put(make()); });
    widget.addAction(action);
  }
  if (widget.contextMenuPolicy() == Qt::DefaultContextMenu) widget.setContextMenuPolicy(Qt::ActionsContextMenu);
}

CopyEverywhere::CopyEverywhere(QWidget& window) : QObject(&window), window_(window) { qApp->installEventFilter(this); }

bool CopyEverywhere::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Show || !watched->isWidgetType()) return false;
  auto* widget = static_cast<QWidget*>(watched);
  if (!window_.isAncestorOf(widget)) return false;
  if (auto* graph = qobject_cast<GraphView*>(widget))
    install_on_graph(*graph);
  else if (auto* table = qobject_cast<QAbstractItemView*>(widget))
    install_on_table(*table);
  else if (auto* plain = qobject_cast<QPlainTextEdit*>(widget); plain && plain->isReadOnly())
    install_on_text(*plain);
  else if (auto* rich = qobject_cast<QTextBrowser*>(widget))
    install_on_text(*rich);
  return false;
}

}  // namespace strata::studio
