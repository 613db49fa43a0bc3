// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/profile_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

/// A bar behind the text of a share.
class BarDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QVariant part = index.data(kPartRole);
    if (part.isValid() && part.toDouble() > 0) {
      QColor fill = to_qcolor(colours().related);
      fill.setAlpha(dark_theme() ? 110 : 80);
      const QRectF cell(option.rect);
      painter->fillRect(QRectF(cell.left() + 1, cell.top() + 2, std::min(1.0, part.toDouble()) * (cell.width() - 2),
                               cell.height() - 4),
                        fill);
    }
    QStyledItemDelegate::paint(painter, option, index);
  }
};

}  // namespace

ProfileTree::ProfileTree(Context& context, ProfileBy by, const QString& name, QWidget* parent)
    : QTreeView(parent),
      context_(context),
      rows_(new ProfileModel(profile_tree_headers(by), this)),
      sorted_(new QSortFilterProxyModel(this)) {
  setAccessibleName(name);
  sorted_->setSourceModel(rows_);
  sorted_->setSortRole(SortRole);
  sorted_->setFilterKeyColumn(-1);
  sorted_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  sorted_->setRecursiveFilteringEnabled(true);
  sorted_->setAutoAcceptChildRows(true);
  setModel(sorted_);
  setItemDelegate(new BarDelegate(this));
  setSortingEnabled(true);
  sortByColumn(-1, Qt::AscendingOrder);
  setAlternatingRowColors(true);
  setUniformRowHeights(true);
  setEditTriggers(NoEditTriggers);
  setAllColumnsShowFocus(true);
  setExpandsOnDoubleClick(false);
  setTextElideMode(Qt::ElideMiddle);
  setIndentation(14);
  header()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { follow(now); });
}

void ProfileTree::set_items(std::vector<ProfileItem> items) {
  following_ = false;
  rows_->set_items(std::move(items));
  following_ = true;
  header()->setResizeContentsPrecision(60);
  for (int c = 0; c + 1 < rows_->columnCount(); ++c) {
    resizeColumnToContents(c);
    setColumnWidth(c, std::clamp(columnWidth(c) + 6, 48, c == 0 ? 260 : 220));
  }
}

void ProfileTree::show_item(int item) {
  following_ = false;
  const QModelIndex at = sorted_->mapFromSource(rows_->index_of(item));
  if (at.isValid()) {
    setCurrentIndex(at);
    scrollTo(at);
  } else {
    clearSelection();
  }
  following_ = true;
}

void ProfileTree::follow(const QModelIndex& index) {
  const int at = rows_->item_of(sorted_->mapToSource(index));
  if (!following_ || at < 0) return;
  const ProfileItem& item = rows_->items()[static_cast<size_t>(at)];
  const TableRow& row = item.row;
  // A module that has no time of its own stands for what is in it.
  ProfileNode node{row.compile, row.node};
  if (row.node == 0 && row.kernel == 0 && !item.nodes.empty()) node = item.nodes.front();
  if (node.second != 0)
    node.first ? context_.select_node_of(node.first, node.second) : context_.select_node(node.second);
  else if (row.kernel && row.compile)
    context_.select_kernel_of(row.compile, row.kernel);
  else if (row.kernel)
    context_.select_kernel(row.kernel);
  else if (row.line > 0)
    emit context_.sourceRequested(row.file, row.line);
  else if (row.compile)
    context_.select_compile(row.compile);
  if (!context_.compile()) return;
  // All nodes of the row, not only the one that is selected.
  std::vector<trace::NodeId> nodes;
  for (const auto& [compile, marked] : item.nodes)
    if (compile == context_.compile()->compile.id) nodes.push_back(marked);
  context_.set_marked(std::move(nodes));
}

// ------------------------------------------------------------------------------------------------------ the page

RunBox::RunBox(ProfileSource& source, const QString& name, QWidget* parent) : QComboBox(parent) {
  setAccessibleName(name);
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  const auto list = [this, &source] {
    const QSignalBlocker block(this);
    clear();
    for (const ProfileRun& run : source.choices()) addItem(qt(run.title).left(80));
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
  // Its text must not make the window wide.
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  summary_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
  bar->addWidget(runs_);
  bar->addWidget(by_);
  bar->addWidget(summary_, 1);
  bar->addWidget(filter_);
  layout->addLayout(bar);
  layout->addWidget(pages_, 1);
  for (int i = 0; i < kProfileTables; ++i) {
    const auto by = static_cast<ProfileBy>(i);
    auto* table = new ProfileTree(context_, by, "profile " + by_->itemText(i));
    // What matters most stands first: share, total and a module's own time; what a kernel was made of.
    QHeaderView* header = table->header();
    int place = 1;
    for (const int column : {6, 4, 10}) {
      if (column < header->count()) header->moveSection(header->visualIndex(column), place++);
    }
    connect(table, &QTreeView::activated, this, [this](const QModelIndex& at) {
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
    ProfileTree* table = tables_[static_cast<size_t>(i)];
    bool graphs = false;
    if (profile)
      for (const ProfileRow& row : profile->by(by)) graphs |= !row.graph.empty();
    table->setColumnHidden(1, by != ProfileBy::Kernel);
    table->setColumnHidden(2, !graphs);
    table->set_items(profile ? profile_items(*profile, by) : std::vector<ProfileItem>());
    if (by == ProfileBy::Module) table->expandToDepth(1);
  }
  summary_->setText(profile                     ? profile_summary(*profile)
                    : source_.choices().empty() ? QString("No run was timed in this trace.")
                                                : QString());
  summary_->setToolTip(summary_->text());
  follow();
}

void ProfilePanel::show_by(int by) {
  pages_->setCurrentIndex(by);
  follow();
}

void ProfilePanel::filter() {
  for (ProfileTree* table : tables_)
    qobject_cast<QSortFilterProxyModel*>(table->model())->setFilterFixedString(filter_->text().trimmed());
}

void ProfilePanel::follow() {
  if (source_.profile() && context_.details() && context_.compile()) table().show_item(item_of_selection());
}

/// By kernel what computes the selection, else where its captured nodes or its line stand.
int ProfilePanel::item_of_selection() {
  const ProfileModel& model = table().rows();
  const Details& details = *context_.details();
  if (by_->currentIndex() == 0) {
    for (const trace::KernelRecord& kernel : details.kernels)
      if (const int item = model.item_of_kernel(kernel.id); item >= 0) return item;
    return -1;
  }
  if (const int item = model.item_of_line(qt(details.selection.file), details.selection.line); item >= 0) return item;
  const trace::Id compile = context_.compile()->compile.id;
  std::vector<trace::NodeId> nodes{details.selection.node};
  for (const trace::OriginStep& step : details.origins.ancestors) nodes.push_back(step.node.id);
  for (const trace::KernelRecord& kernel : details.kernels)
    if (details.selection.node == 0) nodes.insert(nodes.end(), kernel.nodes.begin(), kernel.nodes.end());
  for (const trace::NodeId node : nodes)
    if (const int item = node == 0 ? -1 : model.item_of_node({compile, node}); item >= 0) return item;
  return -1;
}

}  // namespace strata::studio
