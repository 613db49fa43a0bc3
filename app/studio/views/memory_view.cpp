// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/memory_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSplitter>
#include <algorithm>

namespace strata::studio {

MemoryPanel::MemoryPanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      what_(new QComboBox),
      outside_(new QCheckBox("Inputs and weights")),
      at_peak_(new QCheckBox("Alive at the peak")),
      summary_(note("summary of memory")),
      map_(new MemoryMap),
      table_(new LinkTable(context, memory_headers(), "buffers")),
      curve_(new MemoryCurveView),
      plan_page_(new QWidget) {
  auto* layout = column(this);
  auto* bar = new QHBoxLayout;
  what_->setAccessibleName("program or device whose memory is shown");
  what_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  outside_->setAccessibleName("show inputs and weights too");
  at_peak_->setAccessibleName("list only what is alive at the peak");
  at_peak_->setToolTip("List only the buffers that are alive in the launch that uses most");
  summary_->setWordWrap(false);
  // Its text must not make the window wide.
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  summary_->setAlignment(Qt::AlignVCenter | Qt::AlignLeft);
  bar->addWidget(what_);
  bar->addWidget(summary_, 1);
  bar->addWidget(at_peak_);
  bar->addWidget(outside_);
  layout->addLayout(bar);
  auto* both = new QSplitter;
  both->addWidget(map_);
  both->addWidget(table_);
  both->setStretchFactor(0, 3);
  both->setStretchFactor(1, 1);
  both->setChildrenCollapsible(false);
  table_->setMinimumWidth(260);
  auto* page = new QVBoxLayout(plan_page_);
  page->setContentsMargins(0, 0, 0, 0);
  page->addWidget(both);
  layout->addWidget(plan_page_, 1);
  layout->addWidget(curve_, 1);
  table_->rows().set_numeric({2, 5});
  table_->horizontalHeader()->moveSection(2, 1);
  connect(what_, &QComboBox::currentIndexChanged, this, &MemoryPanel::fill);
  connect(outside_, &QCheckBox::toggled, this, &MemoryPanel::fill);
  connect(map_, &MemoryMap::chosen, this,
          [this](int block) { context_.select_buffer(map_->plan().blocks.at(static_cast<size_t>(block)).buffer); });
  connect(at_peak_, &QCheckBox::toggled, this, &MemoryPanel::fill_table);
  connect(curve_, &MemoryCurveView::chosen, this,
          [this](trace::Id event) { context_.select_event(event, trace::kNone, trace::kNone); });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(now.model());
    const int row = sorted ? sorted->mapToSource(now).row() : -1;
    if (showing_ || row < 0 || static_cast<size_t>(row) >= blocks_.size()) return;
    const auto block = static_cast<size_t>(blocks_[static_cast<size_t>(row)]);
    context_.select_buffer(map_->plan().blocks.at(block).buffer);
  });
  connect(&context_, &Context::traceOpened, this, [this] {
    context_.queue().supersede("memory curves");
    curves_.clear();
    curves_asked_ = false;
    list();
    if (isVisible()) load_curves();
  });
  connect(&context_, &Context::traceGrown, this, [this] {
    curves_asked_ = false;
    if (isVisible()) load_curves();
  });
  connect(&context_, &Context::compileChanged, this, &MemoryPanel::list);
  connect(&context_, &Context::detailsChanged, this, &MemoryPanel::follow);
  list();
}

/// The buffer that is selected; else those of the node, kernel or launch are lit.
void MemoryPanel::follow() {
  const DetailsPtr details = context_.details();
  std::vector<trace::Id> lit;
  trace::Id selected = trace::kNone;
  if (details) {
    selected = details->selection.buffer;
    for (const trace::BufferRecord& b : details->buffers) {
      if (selected == trace::kNone && b.node != 0 && b.node == details->selection.node) selected = b.id;
      lit.push_back(b.id);
    }
    if (details->selection.buffer != trace::kNone) lit.clear();
  }
  map_->set_selected(selected, std::move(lit));
  const auto block_of = [&](trace::Id buffer) {
    const auto& blocks = map_->plan().blocks;
    const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.buffer == buffer; });
    return at == blocks.end() ? -1 : static_cast<int>(at - blocks.begin());
  };
  int shown = selected != trace::kNone ? block_of(selected) : -1;
  if (shown < 0 && !map_->lit().empty()) shown = map_->lit().front();
  showing_ = true;
  if (shown >= 0) table_->show_row(row_of_block(shown));
  showing_ = false;
}

int MemoryPanel::row_of_block(int block) const {
  const auto at = std::find(blocks_.begin(), blocks_.end(), block);
  return at == blocks_.end() ? -1 : static_cast<int>(at - blocks_.begin());
}

void MemoryPanel::fill_table() {
  const MemoryPlan& plan = map_->plan();
  const StepPtr step = context_.step_data();
  auto rows =
      memory_rows(plan, [&](trace::NodeId node) { return step ? step->name(node) : "#" + std::to_string(node); });
  blocks_.clear();
  std::vector<TableRow> shown;
  for (size_t i = 0; i < rows.size(); ++i) {
    const MemoryBlock& b = plan.blocks[i];
    if (at_peak_->isChecked() && (b.first > plan.peak_launch || b.last < plan.peak_launch)) continue;
    blocks_.push_back(static_cast<int>(i));
    shown.push_back(std::move(rows[i]));
  }
  showing_ = true;
  table_->set_rows(std::move(shown));
  showing_ = false;
  if (context_.details()) follow();
}

void MemoryPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  load_curves();
}

void MemoryPanel::load_curves() {
  if (curves_asked_ || !context_.reader()) return;
  curves_asked_ = true;
  context_.queue().post("memory curves", [this, reader = context_.reader()]() -> JobQueue::Apply {
    auto curves = std::make_shared<MemoryCurves>(load_memory_curves(*reader));
    return [this, curves] {
      curves_ = std::move(*curves);
      if (!curves_.empty()) list();
    };
  });
}

/// What can be shown; what was shown stays if it is still there.
void MemoryPanel::list() {
  const auto compile = context_.compile();
  const QString before = what_->currentText();
  {
    const QSignalBlocker block(what_);
    what_->clear();
    programs_ = compile ? memory_programs(*compile) : decltype(programs_)();
    for (const auto& [id, name] : programs_)
      what_->addItem(programs_.size() == 1 && name == "program 1" ? QString("plan") : "plan of " + qt(name).left(80));
    for (const MemoryCurve& curve : curves_) what_->addItem("profile, " + qt(curve.device));
    what_->setCurrentIndex(what_->count() > 0 ? std::max(0, what_->findText(before)) : -1);
    what_->setEnabled(what_->count() > 0);
  }
  fill();
}

void MemoryPanel::fill() {
  const auto compile = context_.compile();
  const int index = what_->currentIndex(), curve = index - static_cast<int>(programs_.size());
  const bool shows_curve = index >= 0 && curve >= 0;
  plan_page_->setVisible(!shows_curve);
  outside_->setVisible(!shows_curve);
  at_peak_->setVisible(!shows_curve);
  curve_->setVisible(shows_curve);
  if (shows_curve) {
    const MemoryCurve& shown = curves_[static_cast<size_t>(curve)];
    curve_->set_curve(&shown);
    return summary_->setText(
        QString("%1 allocations and releases, at most %2").arg(shown.points.size()).arg(bytes_text(shown.peak)));
  }
  curve_->set_curve(nullptr);
  MemoryPlan plan;
  if (compile && index >= 0)
    plan = make_memory_plan(*compile, programs_[static_cast<size_t>(index)].first, outside_->isChecked());
  QString text = QString("%1 buffers, at most %2 at once").arg(plan.blocks.size()).arg(bytes_text(plan.peak));
  if (plan.chains > 0) text += QString("; %1 used again").arg(plan.chains);
  if (plan.unplaced > 0) text += QString("; %1 of unknown size or time").arg(plan.unplaced);
  summary_->setText(index < 0 ? QString("This trace holds no plan of memory.") : text);
  summary_->setToolTip(summary_->text());
  map_->set_plan(std::move(plan));
  fill_table();
}

}  // namespace strata::studio
