// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/code_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTextBlock>
#include <QToolTip>
#include <algorithm>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr int kMostHighlights = 4000;

class Gutter : public QWidget {
 public:
  explicit Gutter(CodeView* view) : QWidget(view), view_(view) {}
  QSize sizeHint() const override { return {view_->gutter_width(), 0}; }

 protected:
  void paintEvent(QPaintEvent* event) override { view_->paint_gutter(event); }
  bool event(QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), view_->mark_text(help->pos().y()).toHtmlEscaped().replace("\n", "<br>"),
                       this);
    return true;
  }

 private:
  CodeView* view_;
};

}  // namespace

CodeView::CodeView(QWidget* parent) : QPlainTextEdit(parent), gutter_(new Gutter(this)) {
  setReadOnly(true);
  setLineWrapMode(NoWrap);
  setFont(code_font());
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy)
      gutter_->scroll(0, dy);
    else
      gutter_->update(0, rect.y(), gutter_->width(), rect.height());
  });
}

void CodeView::set_text(const QString& text, std::vector<int> numbers, std::vector<int> gaps) {
  gaps_ = std::move(gaps);
  numbers_ = std::move(numbers);
  lines_.clear();
  fainter_.clear();
  marks_.clear();
  highlighted_ = 0;
  setExtraSelections({});
  setPlainText(text);
  setViewportMargins(gutter_width(), 0, 0, 0);
}

int CodeView::number_of(int block) const {
  if (numbers_.empty()) return block + 1;
  return block >= 0 && block < static_cast<int>(numbers_.size()) ? numbers_[static_cast<size_t>(block)] : 0;
}

int CodeView::block_of(int number) const {
  if (numbers_.empty()) return number - 1;
  auto it = std::lower_bound(numbers_.begin(), numbers_.end(), number);
  return it == numbers_.end() || *it != number ? -1 : static_cast<int>(it - numbers_.begin());
}

void CodeView::add_selections(QList<QTextEdit::ExtraSelection>& list, const std::vector<std::pair<int, int>>& lines,
                              const QColor& colour) {
  for (auto [first, last] : lines)
    for (int number = first; number <= last && list.size() < kMostHighlights; ++number) {
      QTextBlock block = document()->findBlockByNumber(block_of(number));
      if (!block.isValid()) {
        if (numbers_.empty() && number > blockCount()) break;
        continue;
      }
      QTextEdit::ExtraSelection selection;
      selection.format.setBackground(colour);
      selection.format.setProperty(QTextFormat::FullWidthSelection, true);
      selection.cursor = QTextCursor(block);
      list.append(selection);
    }
}

void CodeView::highlight(const std::vector<std::pair<int, int>>& lines,
                         const std::vector<std::pair<int, int>>& fainter) {
  lines_ = lines;
  fainter_ = fainter;
  QList<QTextEdit::ExtraSelection> list;
  add_selections(list, fainter, caller_highlight());
  qsizetype before = list.size();
  add_selections(list, lines, line_highlight());
  highlighted_ = static_cast<int>(list.size() - before);
  setExtraSelections(list);
  if (list.isEmpty()) return;
  setTextCursor(QTextCursor(list[before < list.size() ? before : 0].cursor.block()));
  centerCursor();
}

void CodeView::set_marks(std::map<int, LineMark> marks) {
  marks_ = std::move(marks);
  setViewportMargins(gutter_width(), 0, 0, 0);
  const QRect r = contentsRect();
  gutter_->setGeometry(r.left(), r.top(), gutter_width(), r.height());
  gutter_->update();
}

QString CodeView::mark_text(int y) const {
  const QTextBlock block = cursorForPosition(QPoint(0, y)).block();
  const auto found = marks_.find(number_of(block.blockNumber()));
  return found == marks_.end() ? QString() : found->second.tooltip;
}

void CodeView::theme_changed() {
  highlight(lines_, fainter_);
  gutter_->update();
}

int CodeView::gutter_width() const {
  int last = numbers_.empty() ? blockCount() : numbers_.back();
  const int signs = marks_.empty() ? 0 : 2 * fontMetrics().horizontalAdvance('9') + 6;
  return 16 + signs +
         fontMetrics().horizontalAdvance('9') * static_cast<int>(QString::number(std::max(last, 99)).size());
}

void CodeView::paint_gutter(QPaintEvent* event) {
  QPainter p(gutter_);
  p.fillRect(event->rect(), palette().alternateBase());
  p.setPen(to_qcolor(colours().dim_text));
  p.setFont(font());
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top();
  while (block.isValid() && top <= event->rect().bottom()) {
    double height = blockBoundingRect(block).height();
    int number = number_of(block.blockNumber());
    if (number > 0 && !std::binary_search(gaps_.begin(), gaps_.end(), number))
      p.drawText(QRectF(0, top, gutter_->width() - 8, height), Qt::AlignRight | Qt::AlignVCenter,
                 QString::number(number));
    if (const auto mark = marks_.find(number); mark != marks_.end()) {
      const QColor colour = to_qcolor(mark->second.grave ? colours().removed : colours().changed);
      p.fillRect(QRectF(0, top, 3, height), colour);
      p.setPen(colour);
      p.drawText(QRectF(6, top, 40, height), Qt::AlignLeft | Qt::AlignVCenter, mark->second.sign);
      p.setPen(to_qcolor(colours().dim_text));
    }
    top += height;
    block = block.next();
  }
}

void CodeView::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  QRect r = contentsRect();
  gutter_->setGeometry(r.left(), r.top(), gutter_width(), r.height());
}

void CodeView::mouseDoubleClickEvent(QMouseEvent* event) {
  QPlainTextEdit::mouseDoubleClickEvent(event);
  int line = number_of(cursorForPosition(event->pos()).blockNumber());
  if (line > 0) emit lineActivated(line);
}

}  // namespace strata::studio
