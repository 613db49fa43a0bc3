// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QHBoxLayout>
#include <QSignalBlocker>

#include "app/draw/picture.h"
#include "app/studio/views/panels.h"

namespace strata::studio {

TimelinePanel::TimelinePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      runs_(new QComboBox),
      search_(new QLineEdit),
      summary_(note("summary of the timeline")),
      details_(note("selected event")),
      view_(new TimelineView(context)) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  runs_->setAccessibleName("run shown in the timeline");
  runs_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  search_->setPlaceholderText("Find event");
  search_->setAccessibleName("find event");
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(200);
  summary_->setWordWrap(false);
  bar->addWidget(runs_);
  bar->addWidget(summary_, 1);
  bar->addWidget(search_);
  layout->addLayout(bar);
  layout->addWidget(view_, 1);
  layout->addWidget(details_);
  details_->hide();
  connect(runs_, &QComboBox::activated, this, [this] { load(); });
  connect(search_, &QLineEdit::returnPressed, this, &TimelinePanel::search);
  connect(view_, &TimelineView::selected_slice, this, &TimelinePanel::show_selected);
  connect(&context_, &Context::traceOpened, this, [this] {
    loaded_ = -1;
    choices_.clear();
    view_->set_timeline(nullptr);
    details_->hide();
    list_runs();
  });
}

void TimelinePanel::list_runs() {
  if (!context_.reader()) return;
  context_.queue().post("timeline runs", [this, reader = context_.reader()]() -> JobQueue::Apply {
    auto choices = std::make_shared<std::vector<TimelineRun>>(timeline_runs(*reader));
    return [this, choices] {
      choices_ = *choices;
      QSignalBlocker block(runs_);
      runs_->clear();
      for (const TimelineRun& run : choices_) runs_->addItem(qt(run.title));
      runs_->setEnabled(!choices_.empty());
      summary_->clear();
      if (isVisible()) load();
    };
  });
}

/// Reading half a million events takes a moment: it is done when somebody looks.
void TimelinePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (loaded_ < 0 && !choices_.empty()) load();
}

void TimelinePanel::load() {
  const int index = std::max(0, runs_->currentIndex());
  if (static_cast<size_t>(index) >= choices_.size() || index == loaded_) return;
  loaded_ = index;
  summary_->setText("reading events …");
  context_.queue().post(
      "timeline",
      [this, reader = context_.reader(), runs = choices_[static_cast<size_t>(index)].runs]() -> JobQueue::Apply {
        TimelinePtr timeline = load_timeline(*reader, runs);
        return [this, timeline] {
          view_->set_timeline(timeline);
          details_->hide();
          summary_->setText(QString("%1 events in %2 rows, %3")
                                .arg(timeline->slices)
                                .arg(timeline->tracks.size())
                                .arg(qt(draw::format_time(static_cast<double>(timeline->duration)))));
        };
      });
}

/// The next event after the selected one whose name has the text, in order of time over all rows.
void TimelinePanel::search() {
  const TimelinePtr timeline = view_->timeline();
  const QString text = search_->text().trimmed();
  if (!timeline || text.isEmpty()) return;
  std::vector<bool> fits;
  for (const std::string& name : timeline->names) fits.push_back(qt(name).contains(text, Qt::CaseInsensitive));
  const Slice* selected = nullptr;
  const Slice* first = nullptr;
  const Slice* next = nullptr;
  const auto before = [](const Slice& a, const Slice& b) {
    return a.start != b.start ? a.start < b.start : a.event < b.event;
  };
  const auto each = [&](auto&& visit) {
    for (const TimelineTrack& track : timeline->tracks)
      for (const Lane& lane : track.lanes)
        for (const Slice& s : lane) visit(s);
  };
  each([&](const Slice& s) {
    if (s.event == view_->selected()) selected = &s;
  });
  each([&](const Slice& s) {
    if (!fits[s.name]) return;
    if (!first || before(s, *first)) first = &s;
    if (selected && before(*selected, s) && (!next || before(s, *next))) next = &s;
  });
  const Slice* found = next ? next : first;
  if (!found) return summary_->setText("no event has this in its name");
  view_->show_slice(found->event);
  show_selected(found);
}

void TimelinePanel::show_selected(const Slice* slice) {
  if (!slice) return details_->hide();
  const TimelinePtr timeline = view_->timeline();
  const auto duration = static_cast<double>(slice->duration), start = static_cast<double>(slice->start);
  QString text = QString("%1\n%2 · %3 at %4")
                     .arg(qt(timeline->name(*slice)).left(300), qt(timeline->category(*slice)),
                          qt(draw::format_time(duration)), qt(draw::format_time(start)));
  if (const auto record = context_.reader()->event(slice->event)) {
    if (record->match == trace::Match::Inferred) text += " · matched to its kernel by inference";
    if (!record->args.empty()) text += "\n" + qt(record->args).left(600);
  }
  details_->setText(text);
  details_->show();
}

}  // namespace strata::studio
