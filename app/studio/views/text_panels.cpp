// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/views/panels.h"

namespace strata::studio {

// -------------------------------------------------------------------------------------------------- TextStagePanel

TextStagePanel::TextStagePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      title_(note("stage")),
      launches_(new LinkTable(context, launch_headers(), "launches")),
      times_(new LinkTable(context, time_headers(), "times of kernels")),
      code_(new CodePanel(context)) {
  auto* layout = column(this);
  layout->addWidget(title_);
  layout->addWidget(launches_, 1);
  layout->addWidget(times_, 1);
  layout->addWidget(code_, 1);
  launches_->rows().set_numeric({0, 2});
  times_->rows().set_numeric({2, 3, 4, 5, 6, 7, 8, 9});
  connect(&context_, &Context::stepChanged, this, &TextStagePanel::fill);
  connect(&context_, &Context::detailsChanged, this, &TextStagePanel::follow_selection);
}

void TextStagePanel::fill() {
  StepPtr step = context_.step_data();
  auto compile = context_.compile();
  if (!step || !compile || step->snapshot.kind != trace::SnapshotKind::Text) return;
  const std::string stage = stage_kind(step->snapshot.stage);
  title_->setText(QString("Stage %1: %2")
                      .arg(qt(step->snapshot.stage), stage == "plan"
                                                         ? "launches in order, with the buffers they read and write"
                                                     : stage == "runs" ? "measured times of each kernel"
                                                                       : "text made at this stage"));
  launches_->setVisible(stage == "plan");
  times_->setVisible(stage == "runs");
  if (stage == "plan") launches_->set_rows(launch_rows(*compile, step->snapshot.program));
  if (stage == "runs") times_->set_rows(time_rows(*compile));
  bool tables = stage == "plan" || stage == "runs";
  code_->setVisible(!tables || !step->texts.empty());
  code_->set_units(step->texts, "The trace holds no text of this stage.");
  follow_selection();
}

void TextStagePanel::follow_selection() {
  StepPtr step = context_.step_data();
  if (!step || step->snapshot.kind != trace::SnapshotKind::Text) return;
  auto details = context_.details();
  if (!details || details->kernels.empty()) return;
  trace::Id kernel = details->kernels.front().id;
  const trace::LaunchRecord* launch = details->launch();
  launches_->show_row(launch ? launches_->rows().row_of_launch(launch->id) : launches_->rows().row_of_kernel(kernel));
  times_->show_row(times_->rows().row_of_kernel(kernel));
  code_->follow(*details);
}

}  // namespace strata::studio
