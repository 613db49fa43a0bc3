// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/profile_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>

namespace strata::studio {

RunBox::RunBox(ProfileSource& source, const QString& name, QWidget* parent) : QComboBox(parent) {
  setAccessibleName(name);
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  const auto list = [this, &source] {
    const QSignalBlocker block(this);
    clear();
    for (const ProfileRun& run : source.choices()) addItem(qt(run.title));
    setCurrentIndex(source.current());
    setEnabled(count() > 0);
  };
  connect(&source, &ProfileSource::choicesChanged, this, list);
  connect(&source, &ProfileSource::profileChanged, this, list);
  connect(this, &QComboBox::activated, &source, &ProfileSource::choose);
  list();
}

ProfilePanel::ProfilePanel(Context& context, ProfileSource& source, QWidget* parent)
    : QWidget(parent),
      context_(context),
      source_(source),
      runs_(new RunBox(source, "run whose times are shown")),
      by_(new QComboBox),
      filter_(new QLineEdit),
      summary_(note("summary of the profile")),
      pages_(new QStackedWidget) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  by_->addItems({"by kernel", "by operator", "by module", "by line"});
  by_->setAccessibleName("rows of the profile");
  filter_->setPlaceholderText("Filter rows");
  filter_->setAccessibleName("filter rows of the profile");
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(220);
  summary_->setWordWrap(false);
  summary_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
  bar->addWidget(runs_);
  bar->addWidget(by_);
  bar->addWidget(summary_, 1);
  bar->addWidget(filter_);
  layout->addLayout(bar);
  layout->addWidget(pages_, 1);
  for (int i = 0; i < kProfileTables; ++i) {
    const auto by = static_cast<ProfileBy>(i);
    auto* table = new LinkTable(context_, profile_headers(by), "profile " + by_->itemText(i));
    table->rows().set_numeric({3, 4, 5, 6, 7, 8, 9});
    // What a kernel was made of tells it from others of its name.
    if (by == ProfileBy::Kernel) table->horizontalHeader()->moveSection(10, 1);
    auto* sorted = qobject_cast<QSortFilterProxyModel*>(table->model());
    sorted->setFilterKeyColumn(-1);
    sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this, by](const QModelIndex& now) { mark_nodes(by, now); });
    connect(table, &QTableView::doubleClicked, this, [this](const QModelIndex& at) {
      if (const int line = at.data(LineRole).toInt(); line > 0)
        emit context_.sourceRequested(at.data(FileRole).toString(), line);
    });
    pages_->addWidget(table);
    tables_[static_cast<size_t>(i)] = table;
  }
  connect(by_, &QComboBox::currentIndexChanged, this, &ProfilePanel::show_by);
  connect(filter_, &QLineEdit::textChanged, this, &ProfilePanel::filter);
  connect(&source_, &ProfileSource::profileChanged, this, &ProfilePanel::fill);
  connect(&source_, &ProfileSource::choicesChanged, this, [this] {
    fill();
    if (isVisible()) source_.want();
  });
  connect(&context_, &Context::detailsChanged, this, &ProfilePanel::follow);
  fill();
}

void ProfilePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  source_.want();
}

void ProfilePanel::fill() {
  const ProfilePtr profile = source_.profile();
  for (int i = 0; i < kProfileTables; ++i) {
    const auto by = static_cast<ProfileBy>(i);
    LinkTable* table = tables_[static_cast<size_t>(i)];
    table->set_rows(profile ? profile_table(*profile, by) : std::vector<TableRow>());
    for (const int wide : {0, 10})
      if (by == ProfileBy::Kernel && table->columnWidth(wide) > 220) table->setColumnWidth(wide, 220);
    bool graphs = false;
    if (profile)
      for (const ProfileRow& row : profile->by(by)) graphs |= !row.graph.empty();
    table->setColumnHidden(1, by != ProfileBy::Kernel);
    table->setColumnHidden(2, !graphs);
  }
  summary_->setText(profile                     ? profile_summary(*profile)
                    : source_.choices().empty() ? QString("No run was timed in this trace.")
                                                : QString());
  follow();
}

void ProfilePanel::show_by(int by) {
  pages_->setCurrentIndex(by);
  follow();
}

void ProfilePanel::filter() {
  for (LinkTable* table : tables_)
    qobject_cast<QSortFilterProxyModel*>(table->model())->setFilterFixedString(filter_->text().trimmed());
}

void ProfilePanel::follow() {
  const ProfilePtr profile = source_.profile();
  const DetailsPtr details = context_.details();
  if (!profile || !details || !context_.compile()) return;
  following_ = true;
  show_selected(*profile, *details);
  following_ = false;
}

void ProfilePanel::show_selected(const ProfileData& profile, const Details& details) {
  const int by = by_->currentIndex();
  LinkTable& shown = table();
  if (by == 0) {
    if (!details.kernels.empty()) shown.show_row(shown.rows().row_of_kernel(details.kernels.front().id));
    return;
  }
  const trace::Id compile = context_.compile()->compile.id;
  const auto show = [&](trace::NodeId node) {
    const auto at = profile.row_of_node.find({compile, node});
    if (at == profile.row_of_node.end() || at->second[static_cast<size_t>(by)] < 0) return false;
    shown.show_row(at->second[static_cast<size_t>(by)]);
    return true;
  };
  if (show(details.selection.node)) return;
  for (const trace::OriginStep& step : details.origins.ancestors)
    if (show(step.node.id)) return;
}

void ProfilePanel::mark_nodes(ProfileBy by, const QModelIndex& current) {
  const ProfilePtr profile = source_.profile();
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(current.model());
  if (following_ || !profile || !sorted || !context_.compile()) return;
  const auto row = static_cast<size_t>(sorted->mapToSource(current).row());
  if (row >= profile->by(by).size()) return;
  std::vector<trace::NodeId> nodes;
  for (const auto& [compile, node] : profile->by(by)[row].nodes)
    if (compile == context_.compile()->compile.id) nodes.push_back(node);
  context_.set_marked(std::move(nodes));
}

}  // namespace strata::studio
