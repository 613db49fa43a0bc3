// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/code_panel.h"

#include <QScrollBar>
#include <QSignalBlocker>
#include <QSplitter>
#include <algorithm>
#include <cstdlib>

#include "app/studio/views/panels.h"

namespace strata::studio {

CodePanel::CodePanel(Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      tabs_(new QTabBar),
      kernels_(new QComboBox),
      beside_(new QComboBox),
      hint_(note("code hint")),
      view_(new CodeView),
      second_(new CodeView) {
  auto* layout = column(this);
  auto* top = new QHBoxLayout;
  top->addWidget(tabs_);
  top->addStretch(1);
  top->addWidget(beside_);
  top->addWidget(kernels_);
  layout->addLayout(top);
  layout->addWidget(hint_);
  auto* both = new QSplitter;
  both->addWidget(view_);
  both->addWidget(second_);
  both->setChildrenCollapsible(false);
  layout->addWidget(both, 1);
  second_->hide();
  tabs_->setAccessibleName("languages");
  tabs_->setExpanding(false);
  kernels_->setAccessibleName("kernels of the selection");
  kernels_->setMinimumContentsLength(22);
  kernels_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  beside_->setAccessibleName("language beside it");
  beside_->setToolTip("A second language of the same kernel, scrolled in step with the first");
  view_->setAccessibleName("generated code");
  second_->setAccessibleName("generated code in the second language");
  connect(tabs_, &QTabBar::currentChanged, this, [this](int i) {
    if (i < 0) return;
    preferred_ = tabs_->tabText(i);
    show_tab();
  });
  connect(kernels_, &QComboBox::activated, this, [this](int) { show_unit(); });
  connect(beside_, &QComboBox::activated, this, [this](int) {
    preferred_beside_ = beside_->currentData().toString();
    show_second();
  });
  connect(view_, &CodeView::lineActivated, this, [this](int line) {
    if (const CodeUnit* shown = unit()) select_line(*shown, line);
  });
  connect(second_, &CodeView::lineActivated, this, [this](int line) {
    if (const CodeUnit* shown = second_unit()) select_line(*shown, line);
  });
  connect(view_->verticalScrollBar(), &QScrollBar::valueChanged, this, &CodePanel::scroll_second);
  connect(&context_, &Context::markedChanged, this, &CodePanel::mark);
}

/// The most exact entry of the line: outer loops stand for all nodes within.
void CodePanel::select_line(const CodeUnit& unit, int line) {
  const trace::LineMapEntry* best = nullptr;
  for (const auto& entry : unit.artifact->lines)
    if (entry.first_line <= line && line <= entry.last_line && !entry.nodes.empty() &&
        (!best || entry.nodes.size() < best->nodes.size()))
      best = &entry;
  if (!best) return;
  const std::vector<trace::NodeId> nodes = best->nodes;
  context_.select_node(nodes.front());
  context_.set_marked(nodes);
}

void CodePanel::set_units(const std::vector<CodeUnit>& units, const QString& when_empty) {
  units_ = units;
  QSignalBlocker block(tabs_);
  static const QStringList order = {"fx",   "ir",      "loop-ir", "python", "triton", "cpp",
                                    "cuda", "llvm-ir", "ptx",     "asm",    "sass",   "library"};
  QStringList kinds;
  for (const auto& unit : units_)
    if (QString kind = qt(unit.artifact->kind); !kinds.contains(kind)) kinds << kind;
  std::stable_sort(kinds.begin(), kinds.end(), [](const QString& a, const QString& b) {
    auto rank = [](const QString& k) { return order.contains(k) ? order.indexOf(k) : order.size(); };
    return rank(a) < rank(b);
  });
  bool any = !kinds.isEmpty();
  show_kinds(kinds);
  view_->setVisible(any);
  kernels_->setVisible(any);
  beside_->setVisible(any);
  tabs_->setVisible(any);
  hint_->setVisible(!any);
  hint_->setText(when_empty);
  if (!any) second_->hide();
  list_beside();
  if (any) show_tab();
}

void CodePanel::show_kinds(const QStringList& kinds) {
  QStringList present;
  for (int i = 0; i < tabs_->count(); ++i) present << tabs_->tabText(i);
  if (present != kinds) {
    tabs_->hide();  // shown again by the caller: a visible tab bar keeps the size it had without tabs
    while (tabs_->count() > 0) tabs_->removeTab(0);
    for (const QString& kind : kinds) tabs_->addTab(kind);
  }
  if (!kinds.isEmpty()) tabs_->setCurrentIndex(first_tab(kinds));
}

/// The language chosen last, else the first that a kernel has (whole programs come after).
int CodePanel::first_tab(const QStringList& kinds) const {
  if (kinds.contains(preferred_)) return static_cast<int>(kinds.indexOf(preferred_));
  for (int i = 0; i < kinds.size(); ++i)
    for (const CodeUnit& unit : units_)
      if (!unit.kernel.empty() && qt(unit.artifact->kind) == kinds[i]) return i;
  return 0;
}

void CodePanel::list_beside() {
  QSignalBlocker block(beside_);
  beside_->clear();
  beside_->addItem("One language", QString());
  for (int i = 0; i < tabs_->count(); ++i) beside_->addItem("Beside: " + tabs_->tabText(i), tabs_->tabText(i));
  beside_->setCurrentIndex(std::max(0, beside_->findData(preferred_beside_)));
}

void CodePanel::follow(const Details& details) {
  if (units_.empty()) return;
  QString kernel = details.kernels.empty() ? QString() : qt(details.kernels.front().name);
  const bool kernel_itself = details.selection.node == 0 && details.line_nodes.empty();
  for (CodeUnit& unit : units_)
    unit.lines = kernel_itself && !unit.kernel.empty() ? LineRanges() : lines_of(*unit.artifact, details.related);
  if (int at = kernels_->findText(kernel); at >= 0) kernels_->setCurrentIndex(at);
  show_unit();
}

void CodePanel::show_tab() {
  QString kind = tabs_->tabText(tabs_->currentIndex());
  QString kernel = kernels_->currentText();
  QSignalBlocker block(kernels_);
  kernels_->clear();
  for (size_t i = 0; i < units_.size(); ++i)
    if (qt(units_[i].artifact->kind) == kind)
      kernels_->addItem(qt(units_[i].kernel.empty() ? units_[i].artifact->name : units_[i].kernel),
                        static_cast<int>(i));
  if (int same = kernels_->findText(kernel); same >= 0) kernels_->setCurrentIndex(same);
  show_unit();
}

const CodeUnit* CodePanel::unit() const {
  const int at = kernels_->currentData().toInt();
  return kernels_->count() == 0 || at < 0 || at >= static_cast<int>(units_.size()) ? nullptr
                                                                                   : &units_[static_cast<size_t>(at)];
}

/// The text of the second language that is of the same kernel as the first.
const CodeUnit* CodePanel::second_unit() const {
  const CodeUnit* first = unit();
  const std::string kind = beside_->currentData().toString().toStdString();
  if (!first || kind.empty() || kind == first->artifact->kind) return nullptr;
  const CodeUnit* any = nullptr;
  for (const CodeUnit& other : units_) {
    if (other.artifact->kind != kind) continue;
    if (other.kernel == first->kernel) return &other;
    if (!any) any = &other;
  }
  return any;
}

void CodePanel::show_text(CodeView& view, const CodeUnit& unit, ArtifactPtr& shown) {
  if (shown != unit.artifact) {
    QString text = qt(unit.artifact->content);
    if (text.endsWith('\n')) text.chop(1);
    view.set_language(language_of(unit.artifact->kind));
    view.set_text(text);
  }
  shown = unit.artifact;
}

void CodePanel::show_unit() {
  const CodeUnit* shown = unit();
  if (!shown) return;
  show_text(*view_, *shown, shown_);
  show_second();
}

void CodePanel::show_second() {
  const CodeUnit* other = second_unit();
  second_->setVisible(other != nullptr);
  if (other) show_text(*second_, *other, shown_beside_);
  mark();
}

/// Nodes that are marked (of a line of code, of a search) show fainter.
LineRanges CodePanel::faint_lines(const CodeUnit& unit) const {
  const auto& marked = context_.marked();
  constexpr size_t kMost = 2000;  // a search that finds everything marks nothing worth seeing
  if (marked.empty() || marked.size() > kMost) return {};
  return lines_of(*unit.artifact, {marked.begin(), marked.end()});
}

void CodePanel::mark() {
  if (const CodeUnit* shown = unit()) view_->highlight(shown->lines, faint_lines(*shown));
  if (const CodeUnit* other = second_unit()) second_->highlight(other->lines, faint_lines(*other));
}

/// The line in the middle of the first view, or the nearest one that has nodes, and the second's line of those nodes
/// stand at the same height.
void CodePanel::scroll_second() {
  const CodeUnit* first = unit();
  const CodeUnit* other = second_unit();
  if (!first || !other || !second_->isVisible()) return;
  const int middle = view_->middle_line();
  const trace::LineMapEntry* from = nullptr;
  const trace::LineMapEntry* to = nullptr;
  const auto distance = [&](const trace::LineMapEntry& e) { return std::abs(e.first_line - middle); };
  const auto twin = [&](const trace::LineMapEntry& entry) -> const trace::LineMapEntry* {
    for (const auto& candidate : other->artifact->lines)
      for (const trace::NodeId id : candidate.nodes)
        if (std::find(entry.nodes.begin(), entry.nodes.end(), id) != entry.nodes.end()) return &candidate;
    return nullptr;
  };
  std::vector<const trace::LineMapEntry*> near;
  for (const auto& entry : first->artifact->lines) near.push_back(&entry);
  constexpr size_t kTried = 8;
  const auto end = near.begin() + static_cast<long>(std::min(kTried, near.size()));
  std::partial_sort(near.begin(), end, near.end(),
                    [&](const auto* a, const auto* b) { return distance(*a) < distance(*b); });
  for (auto it = near.begin(); it != end && !to; ++it) to = twin(*(from = *it));
  if (!to) return;
  const int above = static_cast<int>(from->first_line) - view_->verticalScrollBar()->value();
  second_->verticalScrollBar()->setValue(static_cast<int>(to->first_line) - above);
}

}  // namespace strata::studio
