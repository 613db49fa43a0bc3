// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/timeline_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QSignalBlocker>
#include <QSplitter>
#include <map>

#include "app/draw/picture.h"

namespace strata::studio {
namespace {

QToolButton* button(const QString& text, const QString& name, const QString& tip) {
  auto* made = new QToolButton;
  made->setText(text);
  made->setAccessibleName(name);
  made->setToolTip(tip);
  made->setFocusPolicy(Qt::TabFocus);
  // What is switched on has to be seen in the dark theme too.
  made->setStyleSheet(
      "QToolButton { padding: 3px 8px; border: 1px solid palette(mid); border-radius: 3px; }"
      "QToolButton:hover, QToolButton:focus { border-color: palette(highlight); }"
      "QToolButton:checked { background: palette(highlight); color: palette(highlighted-text); }"
      "QToolButton::menu-indicator { image: none; }");
  return made;
}

QString time_text(std::int64_t ns) { return qt(draw::format_time(static_cast<double>(ns))); }

int source_row(const QModelIndex& index) {
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(index.model());
  return sorted ? sorted->mapToSource(index).row() : -1;
}

}  // namespace

struct TimelinePanel::Loaded {
  TimelinePtr timeline;
  GapPtr gaps;
  std::vector<TableRow> gap_rows;
};

TimelinePanel::TimelinePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      runs_(new QComboBox),
      colour_(new QComboBox),
      search_(new QLineEdit),
      found_(new QLabel),
      summary_(note("summary of the timeline")),
      details_(note("selected event")),
      flows_button_(button("Arrows", "show all arrows", "All arrows from launches to what they started (L)")),
      tracks_button_(button("Rows ▾", "rows shown", "Which threads and streams are shown")),
      tables_button_(button("Tables", "show tables", "Idle gaps and the measured span as tables (T)")),
      view_(new TimelineView),
      tables_(new QTabWidget),
      gap_table_(new LinkTable(context, gap_headers(), "largest idle gaps")),
      range_table_(new LinkTable(context, range_headers(), "time by name in the measured span")) {
  build();
  connect(runs_, &QComboBox::activated, this, [this] { load(); });
  connect(colour_, &QComboBox::currentIndexChanged, this,
          [this](int by) { view_->set_colour_by(static_cast<TimelineColour>(by)); });
  connect(search_, &QLineEdit::textChanged, this, &TimelinePanel::look_for);
  connect(flows_button_, &QToolButton::toggled, view_, &TimelineView::set_all_flows);
  connect(tables_button_, &QToolButton::toggled, this, [this](bool on) { show_tables(on); });
  connect(view_, &TimelineView::selected_slice, this, &TimelinePanel::chose_slice);
  connect(view_, &TimelineView::selected_gap_changed, this, &TimelinePanel::chose_gap);
  connect(view_, &TimelineView::range_changed, this, &TimelinePanel::fill_range);
  connect(view_, &TimelineView::tracks_changed, this, &TimelinePanel::fill_tracks);
  connect(gap_table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const int row = source_row(now);
    const GapPtr gaps = view_->gaps();
    if (row < 0 || !gaps || static_cast<size_t>(row) >= gaps->longest.size()) return;
    if (const Gap* gap = gaps->longest[static_cast<size_t>(row)]; gap != view_->selected_gap()) view_->show_gap(gap);
  });
  connect(range_table_, &QTableView::activated, this, [this](const QModelIndex& at) {
    const int row = source_row(at);
    if (row >= 0 && static_cast<size_t>(row) < sums_.size()) view_->show_slice(sums_[static_cast<size_t>(row)].event);
  });
  connect(&context_, &Context::traceOpened, this, [this] {
    context_.queue().supersede("timeline");
    loaded_ = -1;
    choices_.clear();
    view_->set_timeline(nullptr);
    gap_table_->set_rows({});
    fill_range();
    details_->hide();
    list_runs();
  });
  connect(&context_, &Context::traceGrown, this, &TimelinePanel::list_runs);
  connect(&context_.queue(), &JobQueue::cancelledChanged, this, [this] {
    if (context_.queue().cancelled().contains("timeline")) summary_->setText("reading events was cancelled");
  });
  connect(&context_, &Context::selectionChanged, this, &TimelinePanel::follow);
  connect(&context_, &Context::detailsChanged, this, &TimelinePanel::follow);
}

void TimelinePanel::build() {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  runs_->setAccessibleName("run shown in the timeline");
  runs_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  colour_->addItems({"by name", "by category", "by kernel", "by module"});
  colour_->setAccessibleName("colour of events");
  colour_->setToolTip("What colours stand for");
  search_->setPlaceholderText("Find event");
  search_->setAccessibleName("find event");
  search_->setToolTip("Events by name (/). Enter: next; Shift+Enter: the one before");
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(200);
  search_->installEventFilter(this);
  view_->installEventFilter(this);
  found_->setAccessibleName("events found");
  flows_button_->setCheckable(true);
  tables_button_->setCheckable(true);
  tracks_button_->setMenu(new QMenu(tracks_button_));
  tracks_button_->setPopupMode(QToolButton::InstantPopup);
  for (QWidget* widget :
       {static_cast<QWidget*>(runs_), static_cast<QWidget*>(colour_), static_cast<QWidget*>(flows_button_),
        static_cast<QWidget*>(tracks_button_), static_cast<QWidget*>(tables_button_)})
    bar->addWidget(widget);
  bar->addStretch(1);
  bar->addWidget(found_);
  bar->addWidget(search_);
  layout->addLayout(bar);
  tables_->setDocumentMode(true);
  tables_->setAccessibleName("tables of the timeline");
  tables_->addTab(gap_table_, "Gaps");
  tables_->addTab(range_table_, "Span");
  tables_->setVisible(false);
  tables_->setMinimumWidth(200);
  gap_table_->rows().set_numeric({0, 1});
  range_table_->rows().set_numeric({2, 3, 4, 5});
  range_table_->horizontalHeader()->moveSection(3, 1);
  auto* both = new QSplitter;
  both->addWidget(view_);
  both->addWidget(tables_);
  both->setStretchFactor(0, 3);
  both->setStretchFactor(1, 2);
  both->setChildrenCollapsible(false);
  both->setSizes({600, 400});
  layout->addWidget(both, 1);
  layout->addWidget(details_);
  layout->addWidget(summary_);
  summary_->setWordWrap(false);
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  details_->hide();
}

bool TimelinePanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (watched == search_ && (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter)) {
    search(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
    return true;
  }
  if (watched != view_) return QWidget::eventFilter(watched, event);
  if (key->key() == Qt::Key_L)
    flows_button_->toggle();
  else if (key->key() == Qt::Key_T)
    tables_button_->toggle();
  else if (key->key() == Qt::Key_Slash)
    search_->setFocus(Qt::ShortcutFocusReason);
  else
    return QWidget::eventFilter(watched, event);
  return true;
}

// ------------------------------------------------------------------------------------------------------------ reading

void TimelinePanel::list_runs() {
  if (!context_.reader()) return;
  context_.queue().post("timeline runs", [this, reader = context_.reader()]() -> JobQueue::Apply {
    auto choices = std::make_shared<std::vector<TimelineRun>>(timeline_runs(*reader));
    return [this, choices] {
      const bool first = choices_.empty();
      choices_ = *choices;
      QSignalBlocker block(runs_);
      const int before = runs_->currentIndex();
      runs_->clear();
      std::map<std::string, int> titles, seen;
      for (const TimelineRun& run : choices_) ++titles[run.title];
      for (const TimelineRun& run : choices_)
        runs_->addItem(titles[run.title] == 1 ? qt(run.title).left(80)
                                              : QString("%1 (%2)").arg(qt(run.title).left(80)).arg(++seen[run.title]));
      runs_->setCurrentIndex(first || before < 0 ? 0 : std::min(before, runs_->count() - 1));
      runs_->setEnabled(!choices_.empty());
      if (choices_.empty()) view_->set_timeline(std::make_shared<Timeline>());
      if (first) summary_->clear();
      if (isVisible()) load(!first);
    };
  });
}

/// Reading half a million events takes a moment: it is done when somebody looks.
void TimelinePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (loaded_ < 0 && !choices_.empty())
    load();
  else
    follow();
}

void TimelinePanel::load(bool again) {
  const int index = std::max(0, runs_->currentIndex());
  if (static_cast<size_t>(index) >= choices_.size() || (index == loaded_ && !again)) return;
  const bool keep = index == loaded_;
  loaded_ = index;
  if (!keep) summary_->setText("reading events …");
  context_.queue().post(
      "timeline",
      [this, keep, reader = context_.reader(), run = choices_[static_cast<size_t>(index)]]() -> JobQueue::Apply {
        auto result = std::make_shared<Loaded>();
        result->timeline = load_run(*reader, run, JobQueue::superseded);
        result->gaps = find_gaps(*result->timeline);
        result->gap_rows = gap_rows(*result->timeline, *result->gaps);
        return [this, result, keep] { loaded(*result, keep); };
      });
}

void TimelinePanel::loaded(const Loaded& result, bool keep) {
  view_->set_timeline(result.timeline, result.gaps, keep);
  gap_table_->set_rows(result.gap_rows);
  tables_->setTabText(0, QString("Gaps (%1)").arg(result.gaps->by_start.size()));
  if (!keep) details_->hide();
  QString text = QString("%1 events in %2 rows, %3")
                     .arg(result.timeline->slices)
                     .arg(result.timeline->tracks.size())
                     .arg(time_text(result.timeline->duration));
  if (const QString idle = qt(result.gaps->summary()); !idle.isEmpty()) text += "; " + idle + " (G: to it)";
  summary_->setText(text);
  summary_->setToolTip(text);
  look_for();
  fill_range();
  follow();
}

// ---------------------------------------------------------------------------------------------------------- selection

void TimelinePanel::follow() {
  const TimelinePtr timeline = view_->timeline();
  if (!isVisible() || !timeline || loaded_ < 0) return;
  const Selection& selection = context_.selection();
  const bool own = selection.event != trace::kNone && selection.event == view_->selected();
  if (selection.event != trace::kNone && !own) {
    if (!timeline->find(selection.event)) return find_run_of(selection.event);
    view_->show_slice(selection.event);
    describe(timeline->at(*timeline->find(selection.event)));
  }
  std::vector<trace::Id> kernels;
  if (selection.kernel != trace::kNone) kernels.push_back(selection.kernel);
  const DetailsPtr details = context_.details();
  if (kernels.empty() && details && details->selection == selection)
    for (const trace::KernelRecord& kernel : details->kernels) kernels.push_back(kernel.id);
  std::vector<SlicePlace> lit;
  for (const trace::Id kernel : kernels)
    for (const SlicePlace& place : timeline->slices_of(kernel, selection.launch)) lit.push_back(place);
  view_->set_lit(std::move(lit));
  if (selection.event == trace::kNone && !view_->lit().empty()) view_->show_nearest_lit();
}

/// An event of another run: that run is shown, and `follow` finds the event there.
void TimelinePanel::find_run_of(trace::Id event) {
  context_.queue().post("timeline event", [this, event, reader = context_.reader()]() -> JobQueue::Apply {
    const auto record = reader->event(event);
    const trace::Id run = record ? record->run : trace::kNone;
    return [this, run] {
      for (size_t i = 0; i < choices_.size(); ++i) {
        const auto& runs = choices_[i].runs;
        if (static_cast<int>(i) == loaded_ || std::find(runs.begin(), runs.end(), run) == runs.end()) continue;
        runs_->setCurrentIndex(static_cast<int>(i));
        return load();
      }
    };
  });
}

void TimelinePanel::chose_slice(const Slice* slice, bool chosen) {
  if (!slice) {
    details_->hide();
    if (chosen) context_.select({});
    return;
  }
  describe(*slice);
  if (!chosen) return;
  if (slice->event > 0) {
    const auto kernel = view_->timeline()->kernels.find(slice->kernel);
    const bool known = kernel != view_->timeline()->kernels.end() && kernel->second.compile != trace::kNone;
    return context_.select_event(slice->event, known ? kernel->second.compile : trace::kNone,
                                 known ? slice->kernel : trace::kNone);
  }
  const trace::Id compile = choices_[static_cast<size_t>(loaded_)].passes_of;
  if (!context_.compile() || context_.compile()->compile.id != compile) return context_.select_compile(compile);
  for (const trace::SnapshotRecord& snapshot : context_.compile()->snapshots)
    if (snapshot.pass == -slice->event) return context_.select_snapshot(snapshot.id);
}

/// What is known at once, and what has to be read soon after.
void TimelinePanel::describe(const Slice& slice) {
  const TimelinePtr timeline = view_->timeline();
  const QString text = QString("%1\n%2 · %3 at %4")
                           .arg(qt(timeline->name(slice)).left(300), qt(timeline->category(slice)),
                                time_text(slice.duration), time_text(slice.start));
  details_->setText(text);
  details_->setToolTip({});
  details_->show();
  if (slice.event <= 0) return;
  context_.queue().post(
      "details event", [this, event = slice.event, text, reader = context_.reader()]() -> JobQueue::Apply {
        const auto record = reader->event(event);
        return [this, record, event, text] {
          if (!record || view_->selected() != event) return;
          QString more = text;
          if (record->match == trace::Match::Inferred) more += " · matched to its kernel by inference";
          const QString args = qt(record->args);
          details_->setText(args.isEmpty() ? more : more + " · " + args.left(200) + (args.size() > 200 ? " …" : ""));
          details_->setToolTip(args.left(2000));
        };
      });
}

void TimelinePanel::chose_gap(const Gap* gap) {
  if (!gap) return details_->hide();
  const TimelinePtr timeline = view_->timeline();
  QString text = QString("%1 idle for %2 at %3 · %4: %5\nhost meanwhile: ")
                     .arg(qt(view_->gaps()->devices[gap->device].title), time_text(gap->duration),
                          time_text(gap->start), reason_name(gap->reason), reason_text(gap->reason));
  QStringList host;
  for (const Meanwhile& m : host_meanwhile(*timeline, gap->start, gap->end(), 6))
    host << QString("%1 %2").arg(qt(timeline->name(timeline->at(m.place))).left(60), time_text(m.time));
  details_->setText(text + (host.isEmpty() ? QString("nothing recorded") : host.join(", ")));
  details_->setToolTip(host.join("\n"));
  details_->show();
  const auto& longest = view_->gaps()->longest;
  const auto row = std::find(longest.begin(), longest.end(), gap) - longest.begin();
  if (row < gap_table_->rows().rowCount()) gap_table_->show_row(static_cast<int>(row));
}

// ------------------------------------------------------------------------------------------------------------- search

void TimelinePanel::look_for() {
  const TimelinePtr timeline = view_->timeline();
  const QString text = search_->text().trimmed();
  matches_.clear();
  found_->clear();
  if (!timeline || text.isEmpty()) return view_->set_matches({});
  std::vector<bool> fits(timeline->names.size());
  size_t count = 0;
  for (size_t i = 0; i < fits.size(); ++i) {
    fits[i] = qt(timeline->names[i]).contains(text, Qt::CaseInsensitive);
    if (fits[i]) count += timeline->name_counts[i];
  }
  found_->setText(count == 0 ? QString("none") : QString("%1 events").arg(count));
  view_->set_matches(std::move(fits));
}

/// The next event after the selected one whose name has the text, in order of time over all rows.
void TimelinePanel::search(int by) {
  const TimelinePtr timeline = view_->timeline();
  const QString text = search_->text().trimmed();
  if (!timeline || text.isEmpty()) return;
  const auto before = [&](const SlicePlace& a, const SlicePlace& b) {
    const Slice &x = timeline->at(a), &y = timeline->at(b);
    return x.start != y.start ? x.start < y.start : x.event < y.event;
  };
  if (matches_.empty()) {
    std::vector<bool> fits;
    for (const std::string& name : timeline->names) fits.push_back(qt(name).contains(text, Qt::CaseInsensitive));
    for (const auto& [event, place] : timeline->by_event)
      if (fits[timeline->at(place).name]) matches_.push_back(place);
    std::sort(matches_.begin(), matches_.end(), before);
  }
  if (matches_.empty()) return;
  const SlicePlace* selected = timeline->find(view_->selected());
  const auto count = static_cast<std::ptrdiff_t>(matches_.size());
  std::ptrdiff_t at = by > 0 ? 0 : count - 1;
  if (selected && by > 0)
    at = std::upper_bound(matches_.begin(), matches_.end(), *selected, before) - matches_.begin();
  else if (selected)
    at = std::lower_bound(matches_.begin(), matches_.end(), *selected, before) - matches_.begin() - 1;
  at = (at + count) % count;
  const Slice& found = timeline->at(matches_[static_cast<size_t>(at)]);
  view_->show_slice(found.event);
  chose_slice(&found, true);
  found_->setText(QString("%1 of %2").arg(at + 1).arg(count));
}

// ------------------------------------------------------------------------------------------------------ span and rows

void TimelinePanel::show_tables(bool on, QWidget* page) {
  const QSignalBlocker block(tables_button_);
  tables_button_->setChecked(on);
  tables_->setVisible(on);
  if (page) tables_->setCurrentWidget(page);
}

void TimelinePanel::fill_range() {
  const auto range = view_->range();
  sums_ =
      range && view_->timeline() ? sum_range(*view_->timeline(), range->first, range->second) : std::vector<RangeSum>();
  range_table_->set_rows(range ? range_rows(*view_->timeline(), sums_) : std::vector<TableRow>());
  if (range_table_->columnWidth(0) > 170) range_table_->setColumnWidth(0, 170);
  tables_->setTabText(1, range ? "Span " + time_text(range->second - range->first) : QString("Span"));
  if (range) show_tables(true, range_table_);
}

void TimelinePanel::fill_tracks() {
  QMenu* menu = tracks_button_->menu();
  menu->clear();
  const TimelinePtr timeline = view_->timeline();
  if (!timeline) return;
  menu->addAction("Collapse all", this, [this] { view_->collapse_all(true); });
  menu->addAction("Expand all", this, [this] { view_->collapse_all(false); });
  menu->addAction("Show all", this, [this] { view_->show_all_tracks(); });
  menu->addSeparator();
  for (const int track : view_->order()) {
    QAction* action = menu->addAction(qt(timeline->tracks[static_cast<size_t>(track)].title));
    action->setCheckable(true);
    action->setChecked(!view_->hidden(track));
    connect(action, &QAction::toggled, this, [this, track](bool on) { view_->set_hidden(track, !on); });
  }
}

}  // namespace strata::studio
