// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/task_bar.h"

#include <QHBoxLayout>

namespace strata::studio {

TaskBar::TaskBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel), bar_(new QProgressBar), cancel_(new QPushButton("Cancel")) {
  setFrameShape(QFrame::StyledPanel);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 4, 5, 4);
  layout->addWidget(text_, 1);
  layout->addWidget(bar_);
  layout->addWidget(cancel_);
  text_->setAccessibleName("what is being done");
  text_->setTextFormat(Qt::PlainText);
  bar_->setAccessibleName("progress");
  bar_->setMaximumWidth(220);
  cancel_->setAccessibleName("cancel");
  connect(cancel_, &QPushButton::clicked, this, &TaskBar::cancelled);
  hide();
}

void TaskBar::show_progress(const QString& text, double part) {
  text_->setText(text);
  bar_->setRange(0, part < 0 ? 0 : 100);
  if (part >= 0) bar_->setValue(static_cast<int>(part * 100));
  show();
}

}  // namespace strata::studio
