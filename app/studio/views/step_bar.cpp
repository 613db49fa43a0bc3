// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/step_bar.h"

#include <QGridLayout>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyleOptionSlider>
#include <algorithm>

#include "app/studio/models/lists.h"
#include "app/studio/views/theme.h"

namespace strata::studio {

// ----------------------------------------------------------------------------------------------------- TickSlider

namespace {

constexpr int kMostTicks = 400;  ///< more would run into each other
constexpr int kPlaceWidth = 190;

}  // namespace

TickSlider::TickSlider(const QString& name, QWidget* parent) : QSlider(Qt::Horizontal, parent) {
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumWidth(60);
  setMinimumHeight(22);
  setPageStep(1);
}

void TickSlider::set_strong(std::vector<char> strong) {
  strong_ = std::move(strong);
  update();
}

QPoint TickSlider::point_of(int value) const {
  QStyleOptionSlider option;
  initStyleOption(&option);
  const QRect groove = style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderGroove, this);
  const int handle = style()->pixelMetric(QStyle::PM_SliderLength, &option, this);
  const int at = QStyle::sliderPositionFromValue(minimum(), maximum(), value, groove.width() - handle);
  return {groove.x() + handle / 2 + at, groove.center().y()};
}

void TickSlider::paintEvent(QPaintEvent* event) {
  const int count = maximum() - minimum() + 1;
  if (isEnabled() && count > 1 && count <= kMostTicks) {
    QPainter p(this);
    QColor weak = to_qcolor(colours().dim_text), strong = to_qcolor(colours().changed);
    weak.setAlpha(150);
    for (int i = 0; i < count; ++i) {
      const bool marked = static_cast<size_t>(i) < strong_.size() && strong_[static_cast<size_t>(i)];
      p.setPen(QPen(marked ? strong : weak, marked ? 2 : 1));
      const QPoint at = point_of(minimum() + i);
      p.drawLine(at.x(), height() - 5, at.x(), height() - 1);
    }
  }
  QSlider::paintEvent(event);
}

void TickSlider::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && maximum() > minimum()) {
    const int first = point_of(minimum()).x(), last = point_of(maximum()).x();
    setSliderPosition(QStyle::sliderValueFromPosition(minimum(), maximum(), event->position().toPoint().x() - first,
                                                      std::max(last - first, 1)));
  }
  QSlider::mousePressEvent(event);
}

// ---------------------------------------------------------------------------------------------------- ElidedLabel

ElidedLabel::ElidedLabel(const QString& name, QWidget* parent) : QLabel(parent) {
  setAccessibleName(name);
  setTextFormat(Qt::PlainText);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::set_whole(const QString& text, Qt::TextElideMode mode) {
  whole_ = text;
  mode_ = mode;
  setToolTip(text);
  fit();
}

void ElidedLabel::fit() { setText(fontMetrics().elidedText(whole_, mode_, std::max(width() - 2, 0))); }

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  fit();
}

// -------------------------------------------------------------------------------------------------------- StepBar

QToolButton* StepBar::button(const QString& text, const QString& name, const QString& tip) {
  auto* made = new QToolButton(this);
  made->setText(text);
  made->setAccessibleName(name);
  made->setToolTip(tip);
  made->setAutoRaise(true);
  made->setFocusPolicy(Qt::TabFocus);
  return made;
}

StepBar::StepBar(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      stages_(new TickSlider("stage")),
      rewrites_(new TickSlider("rewrite of the pass")),
      stage_(new ElidedLabel("stage shown")),
      place_(new ElidedLabel("rewrite shown")),
      line_(new QLabel) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(6, 3, 6, 3);
  grid->setHorizontalSpacing(2);
  grid->setVerticalSpacing(0);
  auto* last = button("◀", "stage before", "Stage before (K)");
  auto* next = button("▶", "next stage", "Next stage (J)");
  last_rewrite_ = button("◁", "rewrite before", "Rewrite before (Shift+K)");
  next_rewrite_ = button("▷", "next rewrite", "Next rewrite, also of the next pass (Shift+J)");
  removed_ = button("Removed", "draw removed nodes", "Draw what went in this step, dashed in red");
  removed_->setCheckable(true);
  stages_->setToolTip("Stages; those with an amber tick changed the graph (Home, End: first, last)");
  rewrites_->setToolTip("Rewrites of the pass that made this stage; at the right end: all of them");
  grid->addWidget(last, 0, 0);
  grid->addWidget(stages_, 0, 1);
  grid->addWidget(next, 0, 2);
  grid->addWidget(stage_, 0, 3, 1, 2);
  grid->addWidget(last_rewrite_, 1, 0);
  grid->addWidget(rewrites_, 1, 1);
  grid->addWidget(next_rewrite_, 1, 2);
  grid->addWidget(place_, 1, 3);
  grid->addWidget(removed_, 1, 4);
  grid->addWidget(line_, 2, 0, 1, 5);
  grid->setColumnStretch(1, 1);
  grid->setColumnMinimumWidth(3, kPlaceWidth - 70);
  grid->setColumnStretch(3, 1);
  line_->setAccessibleName("what this step did");
  line_->setTextFormat(Qt::RichText);
  line_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  line_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  line_->setFixedHeight(20);
  connect(line_, &QLabel::linkActivated, this,
          [this](const QString& link) { context_.select_node(link.toLongLong()); });
  connect(last, &QToolButton::clicked, this, [this] { context_.step(-1); });
  connect(next, &QToolButton::clicked, this, [this] { context_.step(1); });
  connect(last_rewrite_, &QToolButton::clicked, this, [this] { context_.step_rewrite(-1); });
  connect(next_rewrite_, &QToolButton::clicked, this, [this] { context_.step_rewrite(1); });
  connect(stages_, &QSlider::valueChanged, this, [this](int value) {
    if (static_cast<size_t>(value) < snapshots_.size())
      context_.select_snapshot(snapshots_[static_cast<size_t>(value)]);
  });
  connect(rewrites_, &QSlider::valueChanged, this,
          [this](int value) { context_.show_rewrite(context_.wanted_snapshot(), static_cast<size_t>(value)); });
  connect(removed_, &QToolButton::toggled, this, [this](bool on) {
    draw::DrawOptions options = context_.options();
    const StepPtr step = context_.step_data();
    (step && step->rewrite ? options.removed_by_rewrite : options.removed) = on;
    context_.set_options(options);
  });
  for (auto signal : {&Context::compileChanged, &Context::hidingChanged})
    connect(&context_, signal, this, &StepBar::list_stages);
  connect(&context_, &Context::wantedChanged, this, &StepBar::follow_wanted);
  connect(&context_, &Context::stepChanged, this, &StepBar::show_step);
  connect(&context_, &Context::optionsChanged, this, &StepBar::follow_removed);
  list_stages();
  show_step();
}

void StepBar::list_stages() {
  const auto compile = context_.compile();
  snapshots_.clear();
  std::vector<char> strong;
  for (const trace::SnapshotRecord* stage : context_.stages_to_visit()) {
    snapshots_.push_back(stage->id);
    strong.push_back(stage->kind == trace::SnapshotKind::Graph && compile->has_effect(*stage));
  }
  QSignalBlocker block(stages_);
  stages_->setRange(0, std::max(static_cast<int>(snapshots_.size()) - 1, 0));
  stages_->set_strong(std::move(strong));
  stages_->setEnabled(snapshots_.size() > 1);
  follow_wanted();
}

/// The sliders go where one wants to go at once; the graph follows.
void StepBar::follow_wanted() {
  const auto compile = context_.compile();
  const trace::SnapshotRecord* wanted = compile ? compile->find(context_.wanted_snapshot()) : nullptr;
  const auto at = std::find(snapshots_.begin(), snapshots_.end(), context_.wanted_snapshot());
  if (wanted && at == snapshots_.end() && context_.hides_unchanged()) return list_stages();  // a hidden one was chosen
  const QSignalBlocker block(stages_), block_rewrites(rewrites_);
  if (at != snapshots_.end()) stages_->setValue(static_cast<int>(at - snapshots_.begin()));
  const size_t count = wanted ? compile->rewrite_count(*wanted) : 0;
  const auto rewrite = context_.wanted_rewrite();
  rewrites_->setEnabled(count > 0);
  rewrites_->setRange(0, static_cast<int>(count));
  rewrites_->setValue(static_cast<int>(rewrite.value_or(count)));
  last_rewrite_->setEnabled(wanted);
  next_rewrite_->setEnabled(wanted);
  if (wanted)
    stage_->set_whole(
        QString("%1 of %2 · %3").arg(at - snapshots_.begin() + 1).arg(snapshots_.size()).arg(qt(wanted->stage)),
        Qt::ElideMiddle);
  else
    stage_->set_whole({});
  rewrite_place_ = !wanted      ? QString()
                   : count == 0 ? QString("no rewrites recorded")
                   : rewrite    ? QString("rewrite %1 of %2").arg(*rewrite + 1).arg(count)
                                : QString("all %1 rewrites").arg(count);
  if (count == 1 && !rewrite) rewrite_place_ = "its only rewrite";
  place_->set_whole(rewrite_place_);
}

void StepBar::show_step() {
  const auto compile = context_.compile();
  const StepPtr step = context_.step_data();
  pieces_.clear();
  if (step && compile) pieces_ = describe_step(*compile, *step);
  line_->setToolTip(step && compile ? describe_step_fully(*compile, *step) : QString());
  fit_line();
  follow_removed();
}

void StepBar::follow_removed() {
  const StepPtr step = context_.step_data();
  const draw::DrawOptions& options = context_.options();
  const QSignalBlocker block(removed_);
  removed_->setChecked(step && step->rewrite ? options.removed_by_rewrite : options.removed);
  removed_->setEnabled(step && step->snapshot.kind == trace::SnapshotKind::Graph && !step->before.empty());
}

QString StepBar::line_text() const { return plain_text(pieces_); }

/// Text is cut from its end; what may be cut goes first.
void StepBar::fit_line() {
  QFont bold = line_->font();
  bold.setBold(true);
  const QFontMetrics normal(line_->font()), strong(bold);
  const auto wide = [&](const StepPiece& piece, const QString& text) {
    return (piece.kind == StepPiece::Kind::Strong ? strong : normal).horizontalAdvance(text);
  };
  int left = width() - 18;
  QString html;
  for (const StepPiece& piece : pieces_) {
    const QFontMetrics& metrics = piece.kind == StepPiece::Kind::Strong ? strong : normal;
    const QString text = metrics.elidedText(piece.text, Qt::ElideRight, std::max(left, 0));
    left -= wide(piece, text);
    const QString safe = text.toHtmlEscaped();
    if (piece.kind == StepPiece::Kind::Node)
      html += QString("<a href='%1'>%2</a>").arg(piece.node).arg(safe);
    else
      html += piece.kind == StepPiece::Kind::Strong ? "<b>" + safe + "</b>" : safe;
    if (text != piece.text) break;
  }
  line_->setText("<span style='white-space: pre'>" + html + "</span>");
}

void StepBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_line();
}

}  // namespace strata::studio
