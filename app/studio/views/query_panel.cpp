// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/query_panel.h"

#include <QAbstractItemView>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QTimer>
#include <algorithm>

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
      events_(new LinkTable(context, query_headers(true), "events that were found")),
      history_(lasting),
      completer_(new QCompleter(this)),
      words_(new QStringListModel(this)) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  box_->setPlaceholderText("target=aten.add* and dtype=f32     category=kernel duration>1ms     (Enter)");
  box_->setAccessibleName("query");
  box_->setToolTip(kHint);
  box_->setClearButtonEnabled(true);
  box_->installEventFilter(this);
  completer_->setModel(words_);
  completer_->setWidget(box_);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->setMaxVisibleItems(12);
  completer_->popup()->setAccessibleName("what can stand here");
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &QueryPanel::insert);
  connect(box_, &QLineEdit::textEdited, this, [this] { offer(false); });
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
    values_.clear();
    values_asked_ = false;
  });
  connect(&context_.queue(), &JobQueue::cancelledChanged, this, [this] {
    if (context_.queue().cancelled().contains("query")) summary_->setText("the query was cancelled");
  });
  list_saved();
}

/// Arrow keys go through what was looked for before, Ctrl+Space completes.
bool QueryPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched != box_) return QWidget::eventFilter(watched, event);
  if (event->type() == QEvent::FocusIn) load_values();
  if (event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Space && key->modifiers() == Qt::ControlModifier) {
    offer(true);
    return true;
  }
  if ((key->key() != Qt::Key_Up && key->key() != Qt::Key_Down) || key->modifiers() != Qt::NoModifier) return false;
  if (const auto text = history_.go(key->key() == Qt::Key_Up ? -1 : 1, box_->text())) box_->setText(*text);
  return true;
}

/// Values of the keys that have few enough to choose from.
void QueryPanel::load_values() {
  if (values_asked_ || !context_.reader()) return;
  values_asked_ = true;
  context_.queue().post("query_values", [this, path = context_.reader()->path()]() -> JobQueue::Apply {
    auto all = std::make_shared<std::map<std::string, std::vector<std::string>, std::less<>>>();
    for (const bool events : {false, true})
      for (const std::string& key : query_keys(events)) {
        if (JobQueue::superseded()) break;
        auto& values = (*all)[key];
        const auto more = query_values(path, key, events);
        values.insert(values.end(), more.begin(), more.end());
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
      }
    (*all)["match"] = {"exact", "inferred", "none"};
    return [this, all] { values_ = std::move(*all); };
  });
}

void QueryPanel::offer(bool wanted) {
  const QByteArray before = box_->text().left(box_->cursorPosition()).toUtf8();
  completion_ = complete_query({before.constData(), static_cast<size_t>(before.size())},
                               static_cast<size_t>(before.size()), [this](std::string_view key) {
                                 const auto found = values_.find(key);
                                 return found == values_.end() ? std::vector<std::string>() : found->second;
                               });
  QStringList words;
  for (const std::string& word : completion_.words) words << qt(word);
  const bool nothing_typed = completion_.from == completion_.to;
  words_->setStringList(words);
  if (words.isEmpty() || (nothing_typed && !wanted && !before.endsWith('='))) return completer_->popup()->hide();
  const QString typed = QString::fromUtf8(before.first(static_cast<qsizetype>(completion_.from)));
  const int width = std::min(box_->width(), box_->fontMetrics().averageCharWidth() * 40);
  const int left = std::clamp(box_->fontMetrics().horizontalAdvance(typed), 0, box_->width() - width);
  const QRect place(left, 0, width, box_->height());
  completer_->complete(place);
}

void QueryPanel::insert(const QString& word) {
  QByteArray text = box_->text().toUtf8();
  const auto from = static_cast<qsizetype>(completion_.from), to = static_cast<qsizetype>(completion_.to);
  text.replace(from, to - from, word.toUtf8());
  box_->setText(QString::fromUtf8(text));
  box_->setCursorPosition(static_cast<int>(QString::fromUtf8(text.first(from)).size() + word.size()));
  if (word.endsWith('=') || word.endsWith('~')) QTimer::singleShot(0, this, [this] { offer(true); });
}

/// The message, and the word that is wrong marked in the box.
void QueryPanel::show_error(const QueryResult& result) {
  summary_->setText(result.error);
  if (result.position <= 0) return;
  const QString text = box_->text();
  const QString before =
      QString::fromUtf8(text.toUtf8().first(std::min<qsizetype>(result.position - 1, text.toUtf8().size())));
  static const QRegularExpression end("[\\s()=!~<>]");
  qsizetype last = text.indexOf(end, before.size());
  if (last <= before.size()) last = last < 0 ? text.size() : before.size() + 1;
  box_->setSelection(static_cast<int>(before.size()), static_cast<int>(last - before.size()));
}

void QueryPanel::run() {
  if (!context_.reader()) return summary_->setText("Open a trace first.");
  QueryRequest request;
  request.text = box_->text().trimmed();
  request.of = static_cast<QueryRequest::Of>(of_->currentIndex());
  if (scope_->currentIndex() >= 1 && context_.compile()) request.compile = context_.compile()->compile.id;
  if (scope_->currentIndex() == 2 && context_.step_data()) request.snapshot = context_.step_data()->snapshot.id;
  completer_->popup()->hide();
  history_.add(request.text);
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
    return show_error(result);
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
