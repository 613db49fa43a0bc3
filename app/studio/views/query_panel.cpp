// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/query_panel.h"

#include <QHBoxLayout>
#include <QSignalBlocker>

namespace strata::studio {
namespace {

constexpr const char* kHint =
    "KEY=PATTERN, KEY~PART, KEY>NUMBER, joined by and, or, not, ( ).\n"
    "Nodes: name op target args type dtype shape device module role group id graph stage kernel file line time.\n"
    "Events: name category duration start thread stream device rank match correlation id kernel graph, and of the "
    "nodes "
    "of their kernel: node op target dtype shape module file line.\n"
    "target=aten.add* shape=[8, 64] and not module=*.layer.0*\n"
    "category=kernel duration>1ms";

}  // namespace

QueryPanel::QueryPanel(Context& context, bool lasting, QWidget* parent)
    : QWidget(parent),
      context_(context),
      kept_(lasting),
      box_(new QLineEdit),
      of_(new QComboBox),
      scope_(new QComboBox),
      saved_(new QComboBox),
      keep_(new QPushButton),
      summary_(note("result of the query")),
      pages_(new QStackedWidget),
      nodes_(new LinkTable(context, query_headers(false), "nodes that were found")),
      events_(new LinkTable(context, query_headers(true), "events that were found")) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  box_->setPlaceholderText("target=aten.add* and dtype=f32     category=kernel duration>1ms     (Enter)");
  box_->setAccessibleName("query");
  box_->setToolTip(kHint);
  box_->setClearButtonEnabled(true);
  of_->addItems({"nodes or events", "nodes", "events"});
  of_->setAccessibleName("what is looked for");
  scope_->addItems({"in the whole trace", "in this graph", "in this stage"});
  scope_->setAccessibleName("where it is looked for");
  saved_->setAccessibleName("kept queries");
  saved_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  saved_->setMinimumContentsLength(12);
  layout->addWidget(box_);
  bar->addWidget(of_);
  bar->addWidget(scope_);
  bar->addStretch(1);
  bar->addWidget(keep_);
  bar->addWidget(saved_);
  layout->addLayout(bar);
  layout->addWidget(summary_);
  layout->addWidget(pages_, 1);
  pages_->addWidget(nodes_);
  pages_->addWidget(events_);
  nodes_->rows().set_numeric({7});
  events_->rows().set_numeric({2, 3, 4});
  summary_->setText(kHint);
  connect(box_, &QLineEdit::returnPressed, this, &QueryPanel::run);
  connect(box_, &QLineEdit::textChanged, this, &QueryPanel::list_saved);
  connect(of_, &QComboBox::activated, this, &QueryPanel::run);
  connect(scope_, &QComboBox::activated, this, &QueryPanel::run);
  connect(keep_, &QPushButton::clicked, this, &QueryPanel::keep);
  connect(saved_, &QComboBox::activated, this, [this](int i) {
    if (i == 0) return;
    box_->setText(saved_->itemText(i));
    run();
  });
  for (LinkTable* table : {nodes_, events_})
    connect(table, &QTableView::doubleClicked, this, [this](const QModelIndex& at) {
      if (const int line = at.data(LineRole).toInt(); line > 0)
        emit context_.sourceRequested(at.data(FileRole).toString(), line);
    });
  connect(&context_, &Context::traceOpened, this, [this] {
    context_.queue().supersede("query");
    nodes_->set_rows({});
    events_->set_rows({});
    summary_->setText(kHint);
  });
  connect(&context_.queue(), &JobQueue::cancelledChanged, this, [this] {
    if (context_.queue().cancelled().contains("query")) summary_->setText("the query was cancelled");
  });
  list_saved();
}

void QueryPanel::run() {
  if (!context_.reader()) return summary_->setText("Open a trace first.");
  QueryRequest request;
  request.text = box_->text().trimmed();
  request.of = static_cast<QueryRequest::Of>(of_->currentIndex());
  if (scope_->currentIndex() >= 1 && context_.compile()) request.compile = context_.compile()->compile.id;
  if (scope_->currentIndex() == 2 && context_.step_data()) request.snapshot = context_.step_data()->snapshot.id;
  summary_->setText("looking …");
  context_.queue().post("query", [this, reader = context_.reader(), request]() -> JobQueue::Apply {
    auto result = std::make_shared<QueryResult>(run_query(*reader, request));
    return [this, result] { show_result(*result); };
  });
}

void QueryPanel::show_result(const QueryResult& result) {
  if (!result.error.isEmpty()) {
    nodes_->set_rows({});
    events_->set_rows({});
    return summary_->setText(result.error);
  }
  summary_->setText(result.summary);
  pages_->setCurrentIndex(result.events ? 1 : 0);
  table().set_rows(result.rows);
  if (table().columnWidth(0) > 260) table().setColumnWidth(0, 260);
  if (result.events || !context_.compile()) return;
  std::vector<trace::NodeId> here;
  for (const TableRow& row : result.rows)
    if (row.compile == context_.compile()->compile.id) here.push_back(row.node);
  context_.set_marked(std::move(here));
}

void QueryPanel::list_saved() {
  const QSignalBlocker block(saved_);
  saved_->clear();
  saved_->addItem(kept_.all().isEmpty() ? "nothing kept" : "kept queries");
  saved_->addItems(kept_.all());
  saved_->setEnabled(!kept_.all().isEmpty());
  const QString text = box_->text().trimmed();
  keep_->setText(kept_.all().contains(text) ? "Forget" : "Keep");
  keep_->setAccessibleName(kept_.all().contains(text) ? "forget this query" : "keep this query");
  keep_->setEnabled(!text.isEmpty());
}

void QueryPanel::keep() {
  const QString text = box_->text().trimmed();
  if (kept_.all().contains(text))
    kept_.remove(text);
  else
    kept_.add(text);
  list_saved();
}

}  // namespace strata::studio
