// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/progress_strip.h"

#include <QHBoxLayout>

namespace strata::studio {

namespace {

/// Kinds of work, each once.
QStringList titles(const QStringList& keys) {
  QStringList result;
  for (const QString& key : keys) result << title_of(key);
  result.removeDuplicates();
  return result;
}

}  // namespace

ProgressStrip::ProgressStrip(JobQueue& queue, QWidget* parent)
    : QWidget(parent), queue_(queue), label_(new QLabel), bar_(new QProgressBar), cancel_(new QToolButton) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  label_->setAccessibleName("what is being done");
  label_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  bar_->setAccessibleName("progress");
  bar_->setFixedWidth(140);
  bar_->setMaximumHeight(14);
  bar_->setTextVisible(false);
  cancel_->setText("Cancel");
  cancel_->setToolTip("Stop this work (Esc); what is open stays usable");
  cancel_->setAccessibleName("cancel the work under way");
  cancel_->setFocusPolicy(Qt::TabFocus);
  layout->addWidget(label_);
  layout->addWidget(bar_);
  layout->addWidget(cancel_);
  escape_ = new QShortcut(QKeySequence(Qt::Key_Escape), this);
  escape_->setContext(Qt::WindowShortcut);
  connect(escape_, &QShortcut::activated, &queue_, &JobQueue::cancel);
  connect(cancel_, &QToolButton::clicked, &queue_, &JobQueue::cancel);
  connect(label_, &QLabel::linkActivated, &queue_, &JobQueue::resume_all);
  connect(&queue_, &JobQueue::progressChanged, this, &ProgressStrip::update_content);
  connect(&queue_, &JobQueue::cancelledChanged, this, &ProgressStrip::update_content);
  update_content();
}

void ProgressStrip::update_content() {
  const auto progress = queue_.progress();
  const QStringList cancelled = titles(queue_.cancelled());
  const bool working = !progress.empty();
  escape_->setEnabled(working);
  bar_->setVisible(working);
  cancel_->setVisible(working);
  setVisible(working || !cancelled.isEmpty());
  if (working) {
    const auto& longest = progress.front();
    label_->setText(longest.title.toHtmlEscaped() + " …");
    bar_->setRange(0, longest.done < 0 ? 0 : 1000);
    if (longest.done >= 0) bar_->setValue(static_cast<int>(longest.done * 1000));
  } else if (!cancelled.isEmpty()) {
    label_->setText("cancelled: " + cancelled.join(", ").toHtmlEscaped() + " &nbsp;<a href=\"load\">Load</a>");
  }
}

}  // namespace strata::studio
