// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/compare_graph_page.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSplitter>

namespace strata::studio {

using draw::NodeState;

CompareGraphPage::CompareGraphPage(Context& context, Comparison& comparison, QWidget* parent)
    : QWidget(parent), context_(context), comparison_(comparison) {
  auto* layout = column(this);
  layout->setContentsMargins(0, 4, 0, 0);
  auto* both = new QSplitter(Qt::Vertical);
  both->addWidget(make_views());
  both->addWidget(make_lists());
  both->setStretchFactor(0, 3);
  both->setStretchFactor(1, 2);
  both->setChildrenCollapsible(false);
  both->setSizes({600, 300});
  layout->addWidget(both, 1);
  connect(&context_, &Context::selectionChanged, this, &CompareGraphPage::follow_context);
}

QWidget* CompareGraphPage::make_views() {
  auto* both = new QSplitter(Qt::Horizontal);
  for (const int side : {0, 1}) {
    auto* pane = new Pane(context_, Pane::Kind::Pinned, this);
    pane->set_linked(false);
    panes_[static_cast<size_t>(side)] = pane;
    auto* view = new GraphView(*pane);
    view->setAccessibleName(side == 0 ? "graph of side A" : "graph of side B");
    view->setMinimumSize(120, 90);
    view->set_chrome(false);
    views_[static_cast<size_t>(side)] = view;
    auto* title = note(side == 0 ? "title of side A" : "title of side B");
    title->setWordWrap(false);
    titles_[static_cast<size_t>(side)] = title;
    auto* page = new QWidget;
    auto* column_of_side = new QVBoxLayout(page);
    column_of_side->setContentsMargins(0, 0, 0, 0);
    column_of_side->setSpacing(2);
    column_of_side->addWidget(title);
    column_of_side->addWidget(view, 1);
    both->addWidget(page);
    connect(pane, &Pane::selectionChanged, this, [this, side] { follow(side); });
  }
  both->setChildrenCollapsible(false);
  return both;
}

QWidget* CompareGraphPage::make_lists() {
  lists_ = new QTabWidget;
  lists_->setAccessibleName("lists of the graph comparison");
  differences_ = new CompareTable(context_, comparison_, difference_headers(), "differences of the graphs");
  operators_ = new CompareTable(context_, comparison_, graph_count_headers(false), "differences by operator");
  modules_ = new CompareTable(context_, comparison_, graph_count_headers(true), "differences by module");
  for (CompareTable* table : {operators_, modules_}) table->rows().set_numeric({1, 2, 3, 4, 5, 6});
  lists_->addTab(differences_, "Differences");
  lists_->addTab(operators_, "By operator");
  lists_->addTab(modules_, "By module");
  connect(differences_, &CompareTable::row_changed, this, &CompareGraphPage::show_row);
  differences_->set_places([this](int row, int side) {
    ComparePlace place;
    if (!shown_) return place;
    const GraphDifference& d = shown_->differences[static_cast<size_t>(row)];
    const CompareSide chosen = comparison_.chosen(side);
    if (const trace::NodeRecord* n = node(side, side == 0 ? d.a : d.b); n && chosen.compile) {
      place.compile = chosen.compile->record.id;
      place.node = n->id;
    }
    return place;
  });
  auto* corner = new QWidget;
  auto* bar = new QHBoxLayout(corner);
  bar->setContentsMargins(0, 0, 0, 0);
  place_ = note("which difference");
  place_->setWordWrap(false);
  place_->setAlignment(Qt::AlignVCenter | Qt::AlignRight);
  const auto button = [&](const char* text, const char* name, const char* tip, int by) {
    auto* made = new QToolButton;
    made->setText(text);
    made->setAccessibleName(name);
    made->setToolTip(tip);
    connect(made, &QToolButton::clicked, this, [this, by] { step(by); });
    return made;
  };
  before_ = button("▲", "difference before", "Difference before (F7 or P)", -1);
  next_ = button("▼", "next difference", "Next difference (F8 or N)", 1);
  bar->addWidget(place_);
  bar->addWidget(before_);
  bar->addWidget(next_);
  lists_->setCornerWidget(corner);
  return lists_;
}

const trace::NodeRecord* CompareGraphPage::node(int side, int index) const {
  if (!shown_ || index < 0) return nullptr;
  return &(side == 0 ? shown_->a : shown_->b)[static_cast<size_t>(index)];
}

CompareTable& CompareGraphPage::current_table() { return *static_cast<CompareTable*>(lists_->currentWidget()); }

void CompareGraphPage::fill() {
  if (shown_ == comparison_.graph()) return;
  shown_ = comparison_.graph();
  for (const int side : {0, 1}) {
    index_[static_cast<size_t>(side)].clear();
    row_[static_cast<size_t>(side)].clear();
  }
  differences_->set_compare_rows(shown_ ? difference_rows(*shown_) : std::vector<TableRow>());
  operators_->set_compare_rows(shown_ ? graph_count_rows(shown_->operators) : std::vector<TableRow>());
  for (const int wide : {1, 2}) differences_->setColumnWidth(wide, std::min(differences_->columnWidth(wide), 200));
  modules_->set_compare_rows(shown_ ? graph_count_rows(shown_->modules) : std::vector<TableRow>());
  if (shown_) show_graphs();
  update_place();
}

void CompareGraphPage::show_graphs() {
  for (const int side : {0, 1}) {
    const auto at = static_cast<size_t>(side);
    const auto& nodes = side == 0 ? shown_->a : shown_->b;
    for (size_t i = 0; i < nodes.size(); ++i) index_[at].emplace(nodes[i].id, static_cast<int>(i));
    Pane::States states;
    for (size_t row = 0; row < shown_->differences.size(); ++row) {
      const GraphDifference& d = shown_->differences[row];
      const trace::NodeRecord* n = node(side, side == 0 ? d.a : d.b);
      if (!n) continue;
      row_[at].emplace(n->id, static_cast<int>(row));
      states[n->id] = d.a >= 0 && d.b >= 0 ? NodeState::Changed : NodeState::Added;
    }
    const CompareSide chosen = comparison_.chosen(side);
    const int only = side == 0 ? shown_->only_a : shown_->only_b;
    QString title = (side == 0 ? "A: " : "B: ") + qt(side == 0 ? shown_->title_a : shown_->title_b);
    if (only > 0) title += QString(" · + only in %1").arg(side == 0 ? "A" : "B");
    if (shown_->changed > 0) title += " · ~ changed";
    titles_[at]->setText(title);
    // An empty list of states would mean those of the step.
    if (states.empty() && !nodes.empty()) states[nodes.front().id] = NodeState::Same;
    if (chosen.compile) panes_[at]->show(chosen.reader, chosen.compile->record.id, chosen.snapshot);
    panes_[at]->set_states(std::move(states), side == 0 ? "only in A" : "only in B", "changed");
  }
}

void CompareGraphPage::step(int by) {
  if (!shown_ || shown_->differences.empty()) return;
  lists_->setCurrentWidget(differences_);
  const QAbstractItemModel& rows = *differences_->model();
  const QModelIndex now = differences_->currentIndex();
  const int last = rows.rowCount() - 1;
  const int row = now.isValid() ? std::clamp(now.row() + by, 0, last) : by > 0 ? 0 : last;
  differences_->setCurrentIndex(rows.index(row, 0));
  differences_->scrollTo(rows.index(row, 0));
}

void CompareGraphPage::show_row(int row) {
  update_place();
  if (following_ || !shown_ || row < 0 || static_cast<size_t>(row) >= shown_->differences.size()) return;
  const GraphDifference& d = shown_->differences[static_cast<size_t>(row)];
  following_ = true;
  for (const int side : {0, 1}) {
    const auto at = static_cast<size_t>(side);
    const trace::NodeRecord* n = node(side, side == 0 ? d.a : d.b);
    if (n) {
      panes_[at]->select_node(n->id);
      views_[at]->centre_on(n->id);
    } else {
      panes_[at]->clear_selection();
    }
  }
  following_ = false;
}

void CompareGraphPage::follow(int side) {
  if (following_ || !shown_) return;
  const auto from = static_cast<size_t>(side), to = 1 - from;
  const trace::NodeId selected = panes_[from]->selection().node;
  const auto at = index_[from].find(selected);
  const int partner =
      at == index_[from].end() ? -1 : (side == 0 ? shown_->b_of_a : shown_->a_of_b)[static_cast<size_t>(at->second)];
  following_ = true;
  if (const trace::NodeRecord* n = node(1 - side, partner)) {
    panes_[to]->select_node(n->id);
    views_[to]->centre_on(n->id);
  } else {
    panes_[to]->clear_selection();
  }
  if (const auto row = row_[from].find(selected); row != row_[from].end())
    differences_->set_current(row->second);
  else
    differences_->clearSelection();
  const CompareSide chosen = comparison_.chosen(side);
  if (selected && comparison_.is_open(side) && chosen.compile && context_.compile() &&
      context_.compile()->compile.id == chosen.compile->record.id)
    context_.select_node(selected);
  following_ = false;
  update_place();
}

/// A node selected elsewhere in the window is shown in both graphs.
void CompareGraphPage::follow_context() {
  const trace::NodeId selected = context_.selection().node;
  if (following_ || !shown_ || !selected || !isVisible() || !context_.compile()) return;
  for (const int side : {0, 1}) {
    const CompareSide chosen = comparison_.chosen(side);
    const auto at = static_cast<size_t>(side);
    if (!comparison_.is_open(side) || !chosen.compile || !index_[at].contains(selected) ||
        context_.compile()->compile.id != chosen.compile->record.id)
      continue;
    panes_[at]->select_node(selected);
    views_[at]->centre_on(selected);
    return;
  }
}

void CompareGraphPage::update_place() {
  const size_t count = shown_ ? shown_->differences.size() : 0;
  next_->setEnabled(count > 0);
  before_->setEnabled(count > 0);
  const QModelIndex now = differences_->selectionModel()->hasSelection() ? differences_->currentIndex() : QModelIndex();
  place_->setText(count == 0      ? QString("no difference")
                  : now.isValid() ? QString("difference %1 of %2").arg(now.row() + 1).arg(count)
                                  : QString("%1 differences").arg(count));
}

void CompareGraphPage::keyPressEvent(QKeyEvent* event) {
  const bool plain = event->modifiers() == Qt::NoModifier;
  if (plain && (event->key() == Qt::Key_F8 || event->key() == Qt::Key_N)) return step(1);
  if (plain && (event->key() == Qt::Key_F7 || event->key() == Qt::Key_P)) return step(-1);
  QWidget::keyPressEvent(event);
}

}  // namespace strata::studio
