// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/panels.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

QColor mark_colour(const QString& mark) {
  const auto& c = colours();
  if (mark == "added" || mark == "accepted") return text_colour(c.added);
  if (mark == "removed" || mark == "refused") return text_colour(c.removed);
  if (mark == "changed") return text_colour(c.changed);
  return {};
}

/// Marks in colour, links in the link colour, passes without effect dimmed.
class MarkDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (!index.data(EffectRole).isValid())
      option->textElideMode = index.column() == 0 ? Qt::ElideMiddle : Qt::ElideRight;
    if (QColor colour = mark_colour(index.siblingAtColumn(0).data(MarkRole).toString());
        colour.isValid() && index.column() == 0)
      option->palette.setColor(QPalette::Text, colour);
    QVariant effect = index.data(EffectRole);
    if (effect.isValid() && !effect.toBool()) option->palette.setColor(QPalette::Text, to_qcolor(colours().dim_text));
    if (index.column() > 0 && option->font.underline())
      option->palette.setColor(QPalette::Text, option->palette.color(QPalette::Link));
  }
};

class EffectFilter : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  bool hide = false;
  void set_hide(bool on) {
    hide = on;
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    return !hide || sourceModel()->index(row, 0, parent).data(EffectRole).toBool();
  }
};

}  // namespace

QVBoxLayout* column(QWidget* widget) {
  auto* layout = new QVBoxLayout(widget);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->setSpacing(5);
  return layout;
}

QLabel* note(const QString& name) {
  auto* label = new QLabel;
  label->setWordWrap(true);
  label->setMinimumWidth(1);  // a long word must not make the window wide
  label->setTextFormat(Qt::PlainText);
  label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  label->setAccessibleName(name);
  return label;
}

// ------------------------------------------------------------------------------------------------------- LinkTable

LinkTable::LinkTable(Context& context, QStringList headers, const QString& name, QWidget* parent)
    : QTableView(parent),
      context_(context),
      rows_(new TableModel(std::move(headers), this)),
      sorted_(new QSortFilterProxyModel(this)) {
  setAccessibleName(name);
  sorted_->setSourceModel(rows_);
  sorted_->setSortRole(SortRole);
  setModel(sorted_);
  setItemDelegate(new MarkDelegate(this));
  setSortingEnabled(true);
  sortByColumn(-1, Qt::AscendingOrder);
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setEditTriggers(NoEditTriggers);
  setShowGrid(false);
  setAlternatingRowColors(true);
  setWordWrap(false);
  setTabKeyNavigation(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  horizontalHeader()->setStretchLastSection(true);
  horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  horizontalHeader()->setHighlightSections(false);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { follow(now); });
}

void LinkTable::set_rows(std::vector<TableRow> rows) {
  following_ = false;
  rows_->set_rows(std::move(rows));
  following_ = true;
  horizontalHeader()->setResizeContentsPrecision(60);
  resizeColumnsToContents();
  for (int c = 0; c + 1 < rows_->columnCount(); ++c)
    if (columnWidth(c) > 320) setColumnWidth(c, 320);
}

void LinkTable::show_row(int source_row) {
  following_ = false;
  QModelIndex at = sorted_->mapFromSource(rows_->index(source_row, 0));
  if (at.isValid()) {
    setCurrentIndex(at);
    scrollTo(at);
  } else {
    clearSelection();
  }
  following_ = true;
}

void LinkTable::follow(const QModelIndex& index) {
  if (!following_ || !index.isValid()) return;
  if (const auto launch = index.data(LaunchRole).toLongLong()) return context_.select_launch(launch);
  if (const auto buffer = index.data(BufferRole).toLongLong()) return context_.select_buffer(buffer);
  if (const auto guard = index.data(GuardRole).toLongLong()) return context_.select_guard(guard);
  const auto compile = index.data(CompileRole).toLongLong(), kernel = index.data(KernelRole).toLongLong();
  if (const auto event = index.data(EventRole).toLongLong()) return context_.select_event(event, compile, kernel);
  if (auto node = index.data(NodeRole).toLongLong())
    return compile ? context_.select_node_of(compile, node) : context_.select_node(node);
  if (kernel && compile) return context_.select_kernel_of(compile, kernel);
  if (kernel) return context_.select_kernel(kernel);
  if (const int line = index.data(LineRole).toInt(); line > 0) {
    emit context_.sourceRequested(index.data(FileRole).toString(), line);
    return context_.select_line_of(compile, index.data(FileRole).toString(), line);
  }
  if (compile) context_.select_compile(compile);
}

// ------------------------------------------------------------------------------------------------------ StagePanel

StagePanel::StagePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      compiles_(new QComboBox),
      outcome_(note("outcome of the compile")),
      view_(new QTreeView),
      hide_(new QCheckBox("Hide passes without effect")),
      model_(new TableModel(stage_headers(), this)),
      filter_(new EffectFilter(this)) {
  auto* layout = column(this);
  layout->addWidget(compiles_);
  layout->addWidget(outcome_);
  layout->addWidget(view_, 1);
  layout->addWidget(hide_);
  compiles_->setAccessibleName("compiled graphs");
  compiles_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  hide_->setAccessibleName("hide passes without effect");
  view_->setAccessibleName("stages and passes");
  model_->set_numeric({1, 2, 3});
  filter_->setSourceModel(model_);
  view_->setModel(filter_);
  view_->setRootIsDecorated(false);
  view_->setUniformRowHeights(true);
  view_->setTextElideMode(Qt::ElideLeft);  // what tells `simplified:cse#1` from its like is at the end
  view_->setItemDelegate(new MarkDelegate(view_));
  view_->setAllColumnsShowFocus(true);
  view_->header()->setStretchLastSection(false);
  view_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  for (int c = 1; c < 4; ++c) view_->header()->setSectionResizeMode(c, QHeaderView::ResizeToContents);
  connect(hide_, &QCheckBox::toggled, this, [this](bool on) {
    static_cast<EffectFilter*>(filter_)->set_hide(on);
    context_.set_hide_unchanged(on);
    show_current();
  });
  connect(&context_, &Context::hidingChanged, this, [this] { hide_->setChecked(context_.hides_unchanged()); });
  connect(compiles_, &QComboBox::activated, this,
          [this](int i) { context_.select_compile(compiles_->itemData(i).toLongLong()); });
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (auto snapshot = now.data(SnapshotRole).toLongLong()) context_.select_snapshot(snapshot);
  });
  // From one of its rewrites back to the stage: its row is the current one already.
  connect(view_, &QTreeView::clicked, this, [this](const QModelIndex& at) {
    if (auto snapshot = at.data(SnapshotRole).toLongLong()) context_.select_snapshot(snapshot);
  });
  connect(&context_, &Context::traceOpened, this, &StagePanel::fill_compiles);
  connect(&context_, &Context::traceGrown, this, &StagePanel::fill_compiles);
  connect(&context_, &Context::compileChanged, this, &StagePanel::fill_stages);
  connect(&context_, &Context::stepChanged, this, &StagePanel::show_current);
}

void StagePanel::fill_compiles() {
  QSignalBlocker block(compiles_);
  compiles_->clear();
  for (const auto& compile : context_.compiles()) {
    QString text = QString("%1  %2").arg(qt(compile.address), qt(compile.name));
    if (!compile.outcome.empty() && compile.outcome != "ok") text += " (" + qt(compile.outcome) + ")";
    compiles_->addItem(text, static_cast<qlonglong>(compile.id));
  }
}

void StagePanel::fill_stages() {
  auto compile = context_.compile();
  QSignalBlocker block(view_->selectionModel());
  model_->set_rows(compile ? stage_rows(*compile) : std::vector<TableRow>());
  QString text;
  if (compile) {
    QSignalBlocker combo(compiles_);
    compiles_->setCurrentIndex(compiles_->findData(static_cast<qlonglong>(compile->compile.id)));
    const auto& c = compile->compile;
    text = c.outcome.empty() ? "not finished" : qt(c.outcome);
    if (c.duration_ns >= 0) text += " in " + qt(draw::format_time(static_cast<double>(c.duration_ns)));
    if (!c.cause.empty()) text += "\ncompiled again: " + qt(c.cause);
    if (!c.error.empty()) text += "\n" + qt(c.error);
  }
  outcome_->setText(text);
  outcome_->setVisible(!text.isEmpty());
}

void StagePanel::show_current() {
  StepPtr step = context_.step_data();
  if (!step) return;
  QModelIndex at = filter_->mapFromSource(model_->index(model_->row_of_snapshot(step->snapshot.id), 0));
  QSignalBlocker block(view_->selectionModel());
  view_->setCurrentIndex(at);
  view_->scrollTo(at);
  view_->viewport()->update();
}

// -------------------------------------------------------------------------------------------------- InspectorPanel

InspectorPanel::InspectorPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      title_(note("selected")),
      view_(new QTreeView),
      model_(new QStandardItemModel(this)) {
  auto* layout = column(this);
  layout->addWidget(title_);
  layout->addWidget(view_, 1);
  view_->setAccessibleName("inspector");
  view_->setModel(model_);
  view_->setItemDelegate(new MarkDelegate(view_));
  view_->setIndentation(12);
  view_->setWordWrap(false);
  view_->setAlternatingRowColors(true);
  connect(view_, &QTreeView::clicked, this, &InspectorPanel::follow);
  connect(view_, &QTreeView::activated, this, &InspectorPanel::follow);
  connect(&context_, &Context::detailsChanged, this, &InspectorPanel::fill);
  fill();
}

void InspectorPanel::fill() {
  auto compile = context_.compile();
  auto details = context_.details();
  fill_inspector(*model_, compile.get(), details.get());
  QString title = "Nothing selected. Click a node or the frame of a kernel.";
  if (details) title = selection_title(*details);
  title_->setText(title);
  QFont font = title_->font();
  font.setBold(details != nullptr);
  title_->setFont(font);
  view_->expandToDepth(0);
  for (int row = 0; row < model_->rowCount(); ++row) view_->setFirstColumnSpanned(row, {}, true);
  view_->setColumnWidth(0, 120);
}

void InspectorPanel::follow(const QModelIndex& index) {
  const auto id = [&](int role) { return index.data(role).toLongLong(); };
  if (id(NodeRole)) return context_.select_node(id(NodeRole));
  if (id(LaunchRole)) return context_.select_launch(id(LaunchRole));
  if (id(BufferRole)) return context_.select_buffer(id(BufferRole));
  if (id(GuardRole)) return context_.select_guard(id(GuardRole));
  if (id(KernelRole)) return context_.select_kernel(id(KernelRole));
  if (int line = index.data(LineRole).toInt())
    return emit context_.sourceRequested(index.data(FileRole).toString(), line);
  if (id(CompileRole)) context_.select_compile(id(CompileRole));
}

// ---------------------------------------------------------------------------------------------------- ChangesPanel

ChangesPanel::ChangesPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      summary_(note("summary of changes")),
      changes_(new LinkTable(context, change_headers(), "changed nodes")),
      rewrites_(new LinkTable(context, rewrite_headers(), "rewrites")) {
  auto* layout = column(this);
  layout->addWidget(summary_);
  pages_ = new QTabWidget;
  pages_->setDocumentMode(true);
  pages_->setAccessibleName("nodes or rewrites");
  pages_->addTab(changes_, "Nodes");
  pages_->addTab(rewrites_, "Rewrites");
  layout->addWidget(pages_, 1);
  connect(&context_, &Context::stepChanged, this, &ChangesPanel::fill);
  connect(rewrites_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const StepPtr step = context_.step_data();
    if (!step || !now.isValid() || filling_) return;
    const auto* sorted = static_cast<const QSortFilterProxyModel*>(rewrites_->model());
    context_.show_rewrite(step->snapshot.id, static_cast<size_t>(sorted->mapToSource(now).row()));
  });
  fill();
}

/// The rewrites of a pass stay where they are scrolled to while one steps through them.
void ChangesPanel::fill_rewrites(const StepPtr& step) {
  filling_ = true;
  const trace::Id listed = step ? step->snapshot.id : trace::kNone;
  const bool same = listed == listed_ && step && step->rewrites.size() == rewrites_->rows().rows().size();
  if (!same) rewrites_->set_rows(step ? rewrite_rows(*step) : std::vector<TableRow>());
  listed_ = listed;
  rewrites_->show_row(step && step->rewrite ? static_cast<int>(*step->rewrite) : -1);
  filling_ = false;
}

void ChangesPanel::fill() {
  StepPtr step = context_.step_data();
  changes_->set_rows(step ? change_rows(*step) : std::vector<TableRow>());
  fill_rewrites(step);
  pages_->setTabText(0, QString("Nodes (%1)").arg(changes_->rows().rowCount()));
  pages_->setTabText(1, QString("Rewrites (%1)").arg(rewrites_->rows().rowCount()));
  if (!step) return summary_->setText("Open a trace to see what each step changed.");
  if (step->snapshot.kind == trace::SnapshotKind::Text) return summary_->setText("This stage has no nodes to compare.");
  if (step->before.empty()) return summary_->setText("The first stage: there is nothing to compare it with.");
  const auto& d = step->diff;
  bool same = d.added.empty() && d.removed.empty() && d.changed.empty();
  summary_->setText(
      same ? QString("The same nodes as in %1%2.").arg(qt(step->before), d.reordered ? ", in another order" : "")
           : QString("Against %1: %2 added, %3 removed, %4 changed.")
                 .arg(qt(step->before))
                 .arg(d.added.size())
                 .arg(d.removed.size())
                 .arg(d.changed.size()));
}

}  // namespace strata::studio
