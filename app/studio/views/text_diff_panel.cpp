// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The page with the text of the graph against that of the step before.
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "app/studio/models/lists.h"
#include "app/studio/views/text_diff_view.h"

namespace strata::studio {

namespace {

constexpr int kTwoColumns = 800;  ///< pixels

QString counts(const TextDiff& diff) {
  QStringList parts;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) parts << QString("%1 %2").arg(count).arg(what);
  };
  add(diff.added, "added");
  add(diff.removed, "removed");
  add(diff.changed, "changed");
  add(diff.moved, "moved");
  return parts.join(", ");
}

}  // namespace

QToolButton* TextDiffPanel::button(const QString& text, const QString& name, const QString& tip, bool checkable) {
  auto* made = new QToolButton(this);
  made->setText(text);
  made->setAccessibleName(name);
  made->setToolTip(tip);
  made->setCheckable(checkable);
  made->setAutoRaise(true);
  return made;
}

TextDiffPanel::TextDiffPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      summary_(new ElidedLabel("summary of the text comparison")),
      columns_(button("Side by side", "side by side", "Both texts side by side, or one below the other", true)),
      fold_(button("Fold", "fold what is the same", "Hide runs of lines without a difference", true)),
      copy_(button("Copy", "copy the comparison", "Copy all as text (Ctrl+C in the text)", false)),
      view_(new TextDiffView) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->setSpacing(4);
  auto* bar = new QHBoxLayout;
  bar->setSpacing(4);
  auto* last = button("▲", "difference before", "Difference before (P in the text)", false);
  auto* next = button("▼", "next difference", "Next difference (N in the text)", false);
  bar->addWidget(summary_, 1);
  for (QToolButton* b : {last, next, columns_, fold_, copy_}) bar->addWidget(b);
  layout->addLayout(bar);
  layout->addWidget(view_, 1);
  columns_->setChecked(true);
  fold_->setChecked(true);
  connect(last, &QToolButton::clicked, this, [this] { view_->go_to_change(-1); });
  connect(next, &QToolButton::clicked, this, [this] { view_->go_to_change(1); });
  connect(columns_, &QToolButton::toggled, this, [this](bool on) {
    columns_chosen_ = true;
    view_->set_side_by_side(on);
  });
  connect(fold_, &QToolButton::toggled, view_, &TextDiffView::set_folding);
  connect(copy_, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(view_->copied_text()); });
  connect(view_, &TextDiffView::node_chosen, this, [this](trace::NodeId node) { context_.select_node(node); });
  connect(&context_, &Context::stepChanged, this, &TextDiffPanel::load);
  connect(&context_, &Context::selectionChanged, this, [this] { view_->set_selected(context_.selection().node); });
  load();
}

void TextDiffPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  load();
}

/// In a narrow page two columns would show no more than the beginning of each line.
void TextDiffPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (columns_chosen_) return;
  const QSignalBlocker block(columns_);
  columns_->setChecked(width() >= kTwoColumns);
  view_->set_side_by_side(columns_->isChecked());
}

/// Nothing is compared while nobody sees it.
void TextDiffPanel::load() {
  const StepPtr step = context_.step_data();
  const auto compile = context_.compile();
  if (!step || !compile) {
    compared_.reset();
    context_.queue().supersede("text-diff");
    return shown(nullptr, nullptr);
  }
  const bool known = compared_ && compared_->snapshot.id == step->snapshot.id &&
                     compared_->snapshot.compile == step->snapshot.compile && compared_->rewrite == step->rewrite;
  if (!isVisible() || known) return;
  compared_ = step;
  context_.queue().post(
      "text-diff",
      [this, reader = context_.reader(), compile, step]() -> JobQueue::Apply {
        auto diff = load_text_diff(*reader, *compile, *step, JobQueue::superseded);
        return [this, step, diff] { shown(step, diff); };
      },
      JobQueue::Lane::Drawing);
}

void TextDiffPanel::shown(const StepPtr& step, std::shared_ptr<const TextDiff> diff) {
  view_->set_diff(diff);
  view_->set_selected(0);
  view_->set_selected(context_.selection().node);
  if (!step)
    summary_text_ = "Open a trace to see what each step changed.";
  else if (!diff)
    summary_text_ = "This stage has no nodes to compare.";
  else if (step->before.empty())
    summary_text_ = "The first stage: there is nothing to compare it with.";
  else if (diff->same())
    summary_text_ = QString("The same text as %1.").arg(qt(diff->left_title));
  else
    summary_text_ = QString("%1 → %2, lines: %3").arg(qt(diff->left_title), qt(diff->right_title), counts(*diff));
  summary_->set_whole(summary_text_);
}

}  // namespace strata::studio
