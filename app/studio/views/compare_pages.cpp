// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The pages of the comparison: profiles, compiles, ranks.
#include <QHBoxLayout>
#include <QHeaderView>

#include "app/studio/views/compare_panel.h"

namespace strata::studio {

namespace {

QLineEdit* make_filter(const QString& name) {
  auto* box = new QLineEdit;
  box->setPlaceholderText("Filter rows");
  box->setAccessibleName(name);
  box->setClearButtonEnabled(true);
  box->setMaximumWidth(220);
  return box;
}

QString ns_text(double ns) { return qt(draw::format_time(ns)); }

QString totals_text(const ProfileComparison& c, ProfileBy by) {
  int only_a = 0, only_b = 0;
  for (const CompareRow& r : c.by(by)) only_a += !r.in_b, only_b += !r.in_a;
  QString text = QString("All %1 rows: %2 %3, %4 → %5")
                     .arg(c.by(by).size())
                     .arg(qt(c.what), qt(c.unit), ns_text(c.total_a), ns_text(c.total_b));
  if (c.launches_a > 0 || c.launches_b > 0)
    text += QString(", %1 → %2 launches").arg(c.launches_a, 0, 'g', 6).arg(c.launches_b, 0, 'g', 6);
  if (only_a > 0) text += QString("; %1 only in A").arg(only_a);
  if (only_b > 0) text += QString("; %1 only in B").arg(only_b);
  return text;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ CompareProfilePage

CompareProfilePage::CompareProfilePage(Context& context, Comparison& comparison, QWidget* parent)
    : QWidget(parent),
      comparison_(comparison),
      by_(new QComboBox),
      filter_(make_filter("filter rows of the comparison")),
      summary_(note("totals of the comparison")),
      notes_(note("notes of the comparison")),
      pages_(new QStackedWidget) {
  auto* layout = column(this);
  layout->setContentsMargins(0, 4, 0, 0);
  auto* bar = new QHBoxLayout;
  by_->addItems({"by kernel", "by operator", "by module", "by line"});
  by_->setAccessibleName("rows of the comparison");
  summary_->setWordWrap(false);
  summary_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  bar->addWidget(by_);
  bar->addWidget(summary_, 1);
  bar->addWidget(filter_);
  layout->addLayout(bar);
  layout->addWidget(pages_, 1);
  layout->addWidget(notes_);
  for (int i = 0; i < kProfileTables; ++i) {
    const auto by = static_cast<ProfileBy>(i);
    auto* table = new CompareTable(context, comparison, compare_headers(by), "comparison " + by_->itemText(i));
    table->rows().set_numeric({2, 3, 4, 5, 6, 7});
    table->set_difference_column(kDifferenceColumn);
    table->set_selecting(true);
    // What matters most stands where a narrow window still shows it; the kind comes late.
    table->horizontalHeader()->moveSection(kDifferenceColumn, 1);
    table->horizontalHeader()->moveSection(2, 7);
    table->setColumnHidden(1, by != ProfileBy::Kernel);
    table->set_places([this, by](int row, int side) {
      if (!shown_ || static_cast<size_t>(row) >= shown_->by(by).size()) return ComparePlace();
      const CompareRow& r = shown_->by(by)[static_cast<size_t>(row)];
      return side == 0 ? r.place_a : r.place_b;
    });
    pages_->addWidget(table);
    tables_[static_cast<size_t>(i)] = table;
  }
  connect(by_, &QComboBox::currentIndexChanged, this, &CompareProfilePage::show_by);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    for (CompareTable* table : tables_) table->set_filter(text.trimmed());
  });
}

void CompareProfilePage::fill() {
  if (shown_ == comparison_.profile()) return;
  shown_ = comparison_.profile();
  for (int i = 0; i < kProfileTables; ++i) {
    const auto by = static_cast<ProfileBy>(i);
    CompareTable* table = tables_[static_cast<size_t>(i)];
    table->set_compare_rows(shown_ ? compare_table(*shown_, by) : std::vector<TableRow>());
    table->setColumnWidth(0, std::min(table->columnWidth(0), by == ProfileBy::Kernel ? 240 : 300));
  }
  QStringList notes;
  if (shown_)
    for (const std::string& text : shown_->notes) notes << qt(text);
  notes_->setText(notes.join("; "));
  notes_->setVisible(!notes.isEmpty());
  show_by();
}

void CompareProfilePage::show_by() {
  pages_->setCurrentIndex(by_->currentIndex());
  summary_->setText(shown_ ? totals_text(*shown_, static_cast<ProfileBy>(by_->currentIndex())) : QString());
  summary_->setToolTip(summary_->text());
}

// ------------------------------------------------------------------------------------------------ CompareCompilePage

CompareCompilePage::CompareCompilePage(Context& context, Comparison& comparison, QWidget* parent)
    : QWidget(parent),
      comparison_(comparison),
      filter_(make_filter("filter differences of the compiles")),
      advice_(note("what to change")),
      table_(new CompareTable(context, comparison, compile_difference_headers(), "differences of the compiles")) {
  auto* layout = column(this);
  layout->setContentsMargins(0, 4, 0, 0);
  auto* bar = new QHBoxLayout;
  advice_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  bar->addWidget(advice_, 1);
  bar->addWidget(filter_, 0, Qt::AlignTop);
  layout->addLayout(bar);
  layout->addWidget(table_, 1);
  connect(filter_, &QLineEdit::textChanged, table_,
          [this](const QString& text) { table_->set_filter(text.trimmed()); });
  table_->set_selecting(true);
  table_->set_places([this](int row, int side) {
    ComparePlace place;
    const CompileComparisonPtr c = comparison_.compile();
    if (!c || static_cast<size_t>(row) >= c->rows.size()) return place;
    const CompileDifference& d = c->rows[static_cast<size_t>(row)];
    place = {side == 0 ? c->compile_a : c->compile_b, side == 0 ? d.kernel_a : d.kernel_b,
             side == 0 ? d.node_a : d.node_b, d.file, d.line};
    return place;
  });
}

void CompareCompilePage::fill() {
  const CompileComparisonPtr c = comparison_.compile();
  table_->set_compare_rows(c ? compile_difference_rows(*c) : std::vector<TableRow>());
  for (const int wide : {1, 2, 3}) table_->setColumnWidth(wide, std::min(table_->columnWidth(wide), 250));
  advice_->setText(c && !c->advice.empty() ? "Way out: " + qt(c->advice) : QString());
}

// --------------------------------------------------------------------------------------------------- CompareRankPage

CompareRankPage::CompareRankPage(Context& context, Comparison& comparison, QWidget* parent)
    : QWidget(parent), comparison_(comparison), notes_(note("notes of the ranks")), pages_(new QTabWidget) {
  auto* layout = column(this);
  layout->setContentsMargins(0, 4, 0, 0);
  pages_->setAccessibleName("tables of the ranks");
  frames_ = new CompareTable(context, comparison, rank_frame_headers(), "functions that the ranks compiled");
  frames_->rows().set_numeric({1, 2, 3, 4});
  frames_->set_places([this](int row, int side) {
    ComparePlace place;
    const RankComparisonPtr c = comparison_.ranks();
    if (!c || static_cast<size_t>(row) >= c->frames.size()) return place;
    const RankFrame& f = c->frames[static_cast<size_t>(row)];
    place.compile = side == 0 ? f.compile_a : f.compile_b;
    return place;
  });
  collectives_ = new CompareTable(context, comparison, collective_headers(), "collectives of the ranks");
  collectives_->rows().set_numeric({2, 3, 4, 5, 6});
  pages_->addTab(frames_, "Compiles");
  pages_->addTab(collectives_, "Collectives");
  layout->addWidget(pages_, 1);
  layout->addWidget(notes_);
}

void CompareRankPage::fill() {
  const RankComparisonPtr c = comparison_.ranks();
  frames_->set_compare_rows(c ? rank_frame_rows(*c) : std::vector<TableRow>());
  collectives_->set_compare_rows(c ? collective_rows(*c) : std::vector<TableRow>());
  QStringList notes;
  if (c)
    for (const std::string& text : c->notes) notes << qt(text);
  notes_->setText(notes.join("; "));
  notes_->setVisible(!notes.isEmpty());
  if (c) pages_->setTabText(1, QString("Collectives (%1)").arg(c->collectives.size()));
  if (c) pages_->setTabText(0, QString("Compiles (%1)").arg(c->frames.size()));
}

}  // namespace strata::studio
