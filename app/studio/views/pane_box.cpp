// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// One pane with its header and its frame.
#include <QHBoxLayout>
#include <QPainter>
#include <QStandardItemModel>

#include "app/studio/models/lists.h"
#include "app/studio/views/graph_panes.h"
#include "app/studio/views/theme.h"

namespace strata::studio {

PaneBox::PaneBox(Context& context, Pane::Kind kind, QWidget* parent)
    : QFrame(parent), pane_(std::make_unique<Pane>(context, kind)) {
  auto* column = new QVBoxLayout(this);
  column->setSpacing(0);
  header_ = build_header();
  column->addWidget(header_);
  pages_ = new QStackedWidget;
  pages_->addWidget(graph_ = new GraphView(*pane_));
  column->addWidget(pages_, 1);
  if (pane_->pinned()) {
    text_ = new PaneText(*pane_);
    pages_->addWidget(text_page_ = text_);
    graph_->setAccessibleName("pinned graph");
  }
  connect(pane_.get(), &Pane::compileChanged, this, [this] {
    list_compiles();
    list_stages();
  });
  connect(&context, &Context::traceGrown, this, &PaneBox::list_compiles);
  connect(&context, &Context::traceOpened, this, &PaneBox::list_compiles);
  connect(pane_.get(), &Pane::stepChanged, this, &PaneBox::list_stages);
  connect(pane_.get(), &Pane::stepChanged, this, &PaneBox::show_page);
  connect(pane_.get(), &Pane::titleChanged, this, [this] { setAccessibleName("pane " + pane_->title()); });
  list_compiles();
  list_stages();
  set_alone(true);
}

QToolButton* PaneBox::link(const QString& sign, const QString& name, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(sign);
  button->setAccessibleName(name);
  button->setToolTip(tip);
  button->setCheckable(true);
  button->setAutoRaise(true);
  return button;
}

QWidget* PaneBox::build_header() {
  auto* header = new QWidget;
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(2, 1, 2, 1);
  row->setSpacing(2);
  stages_ = new QComboBox;
  stages_->setAccessibleName("stage of the pane");
  stages_->setToolTip("The stage that this pane shows (J and K step when the pane is active)");
  compiles_ = new QComboBox;
  compiles_->setAccessibleName("compile of the pane");
  compiles_->setToolTip("The compile that this pane shows");
  for (QComboBox* box : {stages_, compiles_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(6);
  }
  selection_link_ = link("⇄", "selection linked", "Selecting here selects everywhere, and the other way round");
  selection_link_->setChecked(true);
  view_link_ = link("✥", "view linked", "Pans and zooms together with the main pane");
  close_ = new QToolButton;
  close_->setText("✕");
  close_->setAutoRaise(true);
  close_->setAccessibleName("close pane");
  close_->setToolTip("Close this pane (Ctrl+W)");
  row->addWidget(stages_, 3);
  row->addWidget(compiles_, 2);
  for (QToolButton* button : {selection_link_, view_link_, close_}) {
    row->addWidget(button);
    button->setVisible(pane_->pinned());
  }
  connect(stages_, &QComboBox::activated, this,
          [this](int i) { pane_->show_stage(stages_->itemData(i).toLongLong()); });
  connect(compiles_, &QComboBox::activated, this,
          [this](int i) { pane_->show_compile(compiles_->itemData(i).toLongLong()); });
  connect(selection_link_, &QToolButton::toggled, pane_.get(), &Pane::set_linked);
  connect(close_, &QToolButton::clicked, this, &PaneBox::close_requested);
  return header;
}

void PaneBox::list_stages() {
  const auto compile = pane_->compile();
  const StepPtr step = pane_->step_data();
  const size_t count = compile ? compile->snapshots.size() : 0;
  const bool same = static_cast<size_t>(stages_->count()) == count &&
                    (count == 0 || stages_->itemData(0).toLongLong() == compile->snapshots.front().id);
  if (!same) {
    stages_->clear();
    for (size_t i = 0; i < count; ++i)
      stages_->addItem(qt(compile->snapshots[i].stage), static_cast<qlonglong>(compile->snapshots[i].id));
  }
  stages_->setCurrentIndex(step ? stages_->findData(static_cast<qlonglong>(step->snapshot.id)) : -1);
}

void PaneBox::list_compiles() {
  compiles_->clear();
  for (const auto& compile : pane_->compiles())
    compiles_->addItem(qt(compile.address + " " + compile.name), static_cast<qlonglong>(compile.id));
  const auto shown = pane_->compile();
  compiles_->setCurrentIndex(shown ? compiles_->findData(static_cast<qlonglong>(shown->compile.id)) : -1);
  compiles_->setVisible(compiles_->count() > 1);
}

void PaneBox::set_text_page(QWidget* page) {
  text_page_ = page;
  page->setMinimumSize(160, 120);  // its tables would not let the panes be equally wide
  pages_->addWidget(page);
  show_page();
}

void PaneBox::show_page() {
  const StepPtr step = pane_->step_data();
  const bool text = text_page_ && step && step->snapshot.kind == trace::SnapshotKind::Text;
  QWidget* page = text ? text_page_ : graph_;
  if (pages_->currentWidget() == page) return;
  const bool focus = isAncestorOf(QApplication::focusWidget());
  pages_->setCurrentWidget(page);
  if (focus) take_focus();
}

void PaneBox::take_focus() {
  if (pages_->currentWidget() == graph_) return graph_->setFocus();
  if (text_ && !text_->code().isHidden()) return text_->code().setFocus();
  if (text_) return text_->table().setFocus();
  text_page_->setFocus();
}

void PaneBox::set_alone(bool alone) {
  alone_ = alone;
  header_->setVisible(!alone);
  layout()->setContentsMargins(alone ? QMargins() : QMargins(2, 2, 2, 2));
  graph_->set_chrome(alone_ || active_);
  update();
}

void PaneBox::set_active(bool active) {
  active_ = active;
  graph_->set_chrome(alone_ || active_);
  for (QToolButton* button : {selection_link_, view_link_}) button->setVisible(pane_->pinned() && active_);
  update();
}

void PaneBox::paintEvent(QPaintEvent* event) {
  QFrame::paintEvent(event);
  if (alone_) return;
  QPainter p(this);
  p.fillRect(rect(), to_qcolor(active_ ? colours().selected : colours().background));
  p.fillRect(rect().adjusted(2, 2, -2, -2), palette().window());
}

}  // namespace strata::studio
