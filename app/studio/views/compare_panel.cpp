// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/compare_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolButton>

namespace strata::studio {

// ------------------------------------------------------------------------------------------------------- SideChooser

QComboBox* SideChooser::box(const QString& name) {
  auto* made = new QComboBox;
  made->setAccessibleName(QString("%1 of side %2").arg(name, side_ == 0 ? "A" : "B"));
  made->setToolTip(made->accessibleName());
  made->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  made->setMinimumWidth(70);
  made->setMinimumContentsLength(4);
  made->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  layout()->addWidget(made);
  return made;
}

SideChooser::SideChooser(Comparison& comparison, int side, QWidget* parent)
    : QWidget(parent), comparison_(comparison), side_(side) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  auto* letter = new QLabel(side == 0 ? "A" : "B");
  QFont bold = letter->font();
  bold.setBold(true);
  letter->setFont(bold);
  row->addWidget(letter);
  trace_ = box("trace");
  run_ = box("run");
  compile_ = box("compile");
  stage_ = box("stage");
  rank_ = box("rank");
  connect(trace_, &QComboBox::activated, this, [this](int i) { comparison_.choose_source(side_, i); });
  connect(run_, &QComboBox::activated, this, [this](int i) { comparison_.choose_run(side_, i); });
  connect(compile_, &QComboBox::activated, this, [this](int i) { comparison_.choose_compile(side_, i); });
  connect(stage_, &QComboBox::activated, this, [this](int i) { comparison_.choose_stage(side_, i); });
  connect(rank_, &QComboBox::activated, this, [this](int i) { comparison_.choose_rank(side_, i); });
}

void SideChooser::fill(Comparison::Page page) {
  using Page = Comparison::Page;
  const auto fill_box = [](QComboBox* box, const QStringList& items, int current, bool shown) {
    const QSignalBlocker block(box);
    box->clear();
    box->addItems(items);
    for (int i = 0; i < items.size(); ++i) box->setItemData(i, items[i], Qt::ToolTipRole);
    box->setCurrentIndex(current);
    box->setEnabled(items.size() > 1);
    box->setVisible(shown && !items.isEmpty());
  };
  QStringList traces, runs, compiles, stages, ranks;
  for (const Comparison::Source& s : comparison_.sources()) traces << s.title;
  const SideIndex& index = comparison_.index(side_);
  if (const SideChoices* c = comparison_.choices(side_)) {
    for (const RunChoice& r : c->runs) runs << qt(r.title);
    for (const CompileChoice& x : c->compiles) compiles << qt(x.title);
    for (const std::int64_t rank : c->ranks) ranks << QString("rank %1").arg(rank);
    if (const CompareSide chosen = comparison_.chosen(side_); chosen.compile)
      for (const trace::SnapshotRecord& s : chosen.compile->graphs) stages << qt(s.stage);
  }
  fill_box(trace_, traces, comparison_.source(side_), traces.size() > 1);
  fill_box(run_, runs, index.run, page == Page::Profile);
  fill_box(compile_, compiles, index.compile, page == Page::Graph || page == Page::Compile);
  fill_box(stage_, stages, index.stage, page == Page::Graph);
  fill_box(rank_, ranks, index.rank, page == Page::Ranks);
}

// ------------------------------------------------------------------------------------------------------ ComparePanel

ComparePanel::ComparePanel(Context& context, QWidget* parent)
    : QWidget(parent), comparison_(context), verdict_(note("verdict of the comparison")), tabs_(new QTabBar) {
  auto* layout = column(this);
  QFont large = verdict_->font();
  large.setBold(true);
  verdict_->setFont(large);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layout->addWidget(make_bar());
  layout->addWidget(verdict_);
  pages_ = new QStackedWidget;
  profile_ = new CompareProfilePage(context, comparison_);
  graph_ = new CompareGraphPage(context, comparison_);
  compile_ = new CompareCompilePage(context, comparison_);
  ranks_ = new CompareRankPage(context, comparison_);
  nothing_ = new QLabel;
  nothing_->setAlignment(Qt::AlignCenter);
  nothing_->setAccessibleName("what could be compared");
  for (QWidget* page : {static_cast<QWidget*>(profile_), static_cast<QWidget*>(graph_), static_cast<QWidget*>(compile_),
                        static_cast<QWidget*>(ranks_), static_cast<QWidget*>(nothing_)})
    pages_->addWidget(page);
  layout->addWidget(pages_, 1);
  connect(tabs_, &QTabBar::currentChanged, this, [this](int page) { fill(page); });
  connect(&comparison_, &Comparison::choicesChanged, this, &ComparePanel::choices_changed);
  connect(&comparison_, &Comparison::resultChanged, this, [this](int page) {
    if (page == tabs_->currentIndex()) fill(page);
  });
  connect(&context, &Context::traceOpened, this, [this] {
    if (comparison_.sources().size() < 2) sources_ = 0;
  });
  choices_changed();
}

QWidget* ComparePanel::make_bar() {
  auto* bar = new QWidget;
  auto* rows = new QVBoxLayout(bar);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(4);
  auto* row = new QHBoxLayout;
  auto* sides = new QHBoxLayout;
  rows->addLayout(row);
  rows->addLayout(sides);
  tabs_->setAccessibleName("what is compared");
  tabs_->setDrawBase(false);
  tabs_->setExpanding(false);
  for (const char* title : {"Profile", "Graph", "Compile", "Ranks"}) tabs_->addTab(title);
  row->addWidget(tabs_);
  const auto button = [&](const char* text, const char* name, const char* tip) {
    auto* made = new QToolButton;
    made->setText(text);
    made->setAccessibleName(name);
    made->setToolTip(tip);
    return made;
  };
  choosers_ = {new SideChooser(comparison_, 0), new SideChooser(comparison_, 1)};
  auto* turn = button("⇄", "swap sides", "Swap sides");
  auto* other = button("Compare with …", "compare with another trace", "Choose a second trace (Ctrl+Shift+O)");
  auto* copy = button("Copy", "copy the comparison as text", "Copy the verdict and the table as text");
  sides->addWidget(choosers_[0], 1);
  sides->addWidget(turn);
  sides->addWidget(choosers_[1], 1);
  row->addStretch(1);
  row->addWidget(other);
  row->addWidget(copy);
  connect(turn, &QToolButton::clicked, &comparison_, &Comparison::swap);
  connect(other, &QToolButton::clicked, this, &ComparePanel::file_requested);
  connect(copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(text()); });
  return bar;
}

void ComparePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  comparison_.want(page());
}

void ComparePanel::show_page(Comparison::Page page) {
  sources_ = comparison_.sources().size();
  tabs_->setCurrentIndex(static_cast<int>(page));
}

void ComparePanel::choices_changed() {
  // Another trace begins anew; else the page stays.
  if (comparison_.listed() && sources_ != comparison_.sources().size()) {
    sources_ = comparison_.sources().size();
    const QSignalBlocker block(tabs_);
    tabs_->setCurrentIndex(static_cast<int>(comparison_.best_page()));
  }
  fill(tabs_->currentIndex());
}

void ComparePanel::fill(int page) {
  const auto which = static_cast<Comparison::Page>(page);
  for (SideChooser* chooser : choosers_) chooser->fill(which);
  if (comparison_.listed())
    for (int i = 0; i < Comparison::kPages; ++i) {
      const QString why = comparison_.why_not(static_cast<Comparison::Page>(i));
      tabs_->setTabToolTip(i, why);
      tabs_->setTabTextColor(i, why.isEmpty() ? QColor() : palette().color(QPalette::Disabled, QPalette::WindowText));
    }
  if (isVisible()) comparison_.want(which);
  switch (which) {
    case Comparison::Page::Profile:
      profile_->fill();
      break;
    case Comparison::Page::Graph:
      graph_->fill();
      break;
    case Comparison::Page::Compile:
      compile_->fill();
      break;
    case Comparison::Page::Ranks:
      ranks_->fill();
      break;
  }
  update_verdict();
}

void ComparePanel::update_verdict() {
  const auto which = page();
  const QString text = comparison_.verdict(which);
  const bool none = !comparison_.why_not(which).isEmpty() || !comparison_.error(which).isEmpty();
  verdict_->setVisible(!none);
  verdict_->setText(text);
  nothing_->setText(text);
  if (none)
    pages_->setCurrentWidget(nothing_);
  else
    pages_->setCurrentIndex(tabs_->currentIndex());
}

CompareTable& ComparePanel::current_table() const {
  switch (page()) {
    case Comparison::Page::Graph:
      return graph_->current_table();
    case Comparison::Page::Compile:
      return compile_->table();
    case Comparison::Page::Ranks:
      return ranks_->current_table();
    case Comparison::Page::Profile:
      break;
  }
  return profile_->table();
}

QString ComparePanel::text() const {
  QString text = verdict_->text() + '\n';
  const bool none = pages_->currentWidget() == nothing_;
  return none ? text : text + '\n' + current_table().text();
}

}  // namespace strata::studio
