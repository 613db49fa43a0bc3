// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/code_view.h"

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolTip>
#include <algorithm>

#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr int kHeatWidth = 5;  // of one column

class Gutter : public QWidget {
 public:
  explicit Gutter(CodeView* view) : QWidget(view), view_(view) {}
  QSize sizeHint() const override { return {view_->gutter_width(), 0}; }

 protected:
  void paintEvent(QPaintEvent* event) override { view_->paint_gutter(event); }
  void mousePressEvent(QMouseEvent* event) override { view_->click_gutter(event->pos().y()); }
  bool event(QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const QString text = view_->margin_text(help->pos());
    // A table of fixed width wraps; tooltips of plain text are as wide as their longest line.
    QToolTip::showText(
        help->globalPos(),
        text.isEmpty()
            ? QString()
            : QString("<table width=420><tr><td>%1</td></tr></table>").arg(text.toHtmlEscaped().replace("\n", "<br>")),
        this);
    return true;
  }

 private:
  CodeView* view_;
};

/// From cold to hot, readable on both themes.
QColor heat_colour(double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  return QColor::fromHsvF(0.13 - 0.13 * s, 0.35 + 0.6 * s, dark_theme() ? 0.45 + 0.5 * s : 1.0 - 0.15 * s);
}

}  // namespace

CodeView::CodeView(QWidget* parent)
    : QPlainTextEdit(parent),
      gutter_(new Gutter(this)),
      bar_(new QWidget(this)),
      find_(new QLineEdit),
      found_(new QLabel) {
  setReadOnly(true);
  setLineWrapMode(NoWrap);
  setFont(code_font());
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* row = new QHBoxLayout(bar_);
  row->setContentsMargins(6, 3, 6, 3);
  row->addWidget(find_);
  row->addWidget(found_);
  bar_->setAutoFillBackground(true);
  bar_->hide();
  find_->setAccessibleName("find in this text");
  find_->setPlaceholderText("words, or :line");
  found_->setAccessibleName("places found");
  find_->installEventFilter(this);
  connect(find_, &QLineEdit::textEdited, this, [this] {
    QTextCursor at = textCursor();
    at.setPosition(at.selectionStart());
    setTextCursor(at);
    find_next(1);
  });
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy)
      gutter_->scroll(0, dy);
    else
      gutter_->update(0, rect.y(), gutter_->width(), rect.height());
    colour_visible();
  });
}

// ------------------------------------------------------------------------------------------------------------ content

void CodeView::set_text(const QString& text, std::vector<int> numbers, std::vector<int> gaps) {
  const bool same = text == text_ && numbers == numbers_ && gaps == gaps_;
  gaps_ = std::move(gaps);
  numbers_ = std::move(numbers);
  lines_.clear();
  fainter_.clear();
  marks_.clear();
  heat_.clear();
  if (!same) {
    text_ = text;
    setPlainText(text);
    open_.clear();
    coloured_.clear();
  }
  place_gutter();
  colour_visible();
}

void CodeView::set_language(Language language) {
  if (language == language_) return;
  language_ = language;
  open_.clear();
  coloured_.clear();
  colour_visible();
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

int CodeView::last_number() const { return numbers_.empty() ? blockCount() : numbers_.back(); }

// ------------------------------------------------------------------------------------------------------ marked lines

bool CodeView::contains(const Ranges& ranges, int number) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), number,
                                [](int n, const std::pair<int, int>& range) { return n < range.first; });
  return after != ranges.begin() && std::prev(after)->second >= number;
}

namespace {
/// In order, and none inside another: the search asks only the last one that begins before a line.
void tidy(std::vector<std::pair<int, int>>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  size_t kept = 0;
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first <= ranges[kept].second)
      ranges[kept].second = std::max(ranges[kept].second, ranges[i].second);
    else
      ranges[++kept] = ranges[i];
  if (!ranges.empty()) ranges.resize(kept + 1);
}
}  // namespace

void CodeView::highlight(const Ranges& lines, const Ranges& fainter) {
  lines_ = lines;
  fainter_ = fainter;
  tidy(lines_);
  tidy(fainter_);
  viewport()->update();
  const Ranges& wanted = lines_.empty() ? fainter_ : lines_;
  if (!wanted.empty() && !any_in_view(wanted)) show_line(wanted.front().first);
}

bool CodeView::any_in_view(const Ranges& ranges) const {
  if (!isVisible()) return false;
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF rect = blockBoundingGeometry(block).translated(contentOffset());
    if (rect.bottom() > viewport()->height()) return false;
    if (contains(ranges, number_of(block.blockNumber()))) return true;
  }
  return false;
}

void CodeView::show_line(int number) {
  const QTextBlock block = document()->findBlockByNumber(std::clamp(block_of(number), 0, blockCount() - 1));
  if (!block.isValid() || block_of(number) < 0) return;
  setTextCursor(QTextCursor(block));
  centerCursor();
}

int CodeView::highlighted_lines() const {
  int count = 0;
  for (auto [first, last] : lines_)
    for (int number = first; number <= std::min(last, last_number()); ++number)
      count += block_of(number) >= 0 && block_of(number) < blockCount();
  return count;
}

QPoint CodeView::point_of(int number) const {
  const QTextBlock block = document()->findBlockByNumber(block_of(number));
  return blockBoundingGeometry(block).translated(contentOffset()).center().toPoint();
}

int CodeView::middle_line() const {
  return number_of(cursorForPosition(QPoint(0, viewport()->height() / 2)).blockNumber());
}

void CodeView::set_marks(std::map<int, LineMark> marks) {
  marks_ = std::move(marks);
  place_gutter();
}

void CodeView::set_heat(std::map<int, LineHeat> heat) {
  heat_ = std::move(heat);
  place_gutter();
}

void CodeView::theme_changed() {
  coloured_.clear();
  colour_visible();
  viewport()->update();
  gutter_->update();
}

// ------------------------------------------------------------------------------------------------------------ colours

/// What is open at the beginning of a line; lines before it are looked at once.
Open CodeView::open_before(int block) {
  if (language_ != Language::Python && language_ != Language::Cpp) return Open::Nothing;
  QTextBlock at = document()->findBlockByNumber(static_cast<int>(open_.size()));
  Open open = open_.empty() ? Open::Nothing : open_.back();
  for (; at.isValid() && static_cast<int>(open_.size()) < block; at = at.next()) {
    const QString text = at.text();
    const bool may_change =
        open != Open::Nothing || text.contains("\"\"\"") || text.contains("'''") || text.contains("/*");
    if (may_change) tokens(language_, text, open);
    open_.push_back(open);
  }
  return block == 0 ? Open::Nothing : open_[static_cast<size_t>(block) - 1];
}

void CodeView::colour_visible() {
  if (colouring_) return;  // what is coloured asks to be painted again
  const QScopedValueRollback<bool> once(colouring_, true);
  coloured_.resize(static_cast<size_t>(blockCount()), 0);
  QTextBlock block = firstVisibleBlock();
  double top = block.isValid() ? blockBoundingGeometry(block).translated(contentOffset()).top() : 0;
  for (; block.isValid() && top <= viewport()->height(); block = block.next()) {
    top += blockBoundingRect(block).height();
    char& done = coloured_[static_cast<size_t>(block.blockNumber())];
    if (std::exchange(done, 1)) continue;
    Open open = open_before(block.blockNumber());
    QList<QTextLayout::FormatRange> formats;
    const bool gap = std::binary_search(gaps_.begin(), gaps_.end(), number_of(block.blockNumber()));
    const std::vector<Token> left_out = {{0, block.length() - 1, Word::Comment}};
    for (const Token& token : gap ? left_out : tokens(language_, block.text(), open)) {
      QTextLayout::FormatRange range;
      range.start = token.start;
      range.length = token.length;
      range.format.setForeground(word_colour(token.word));
      formats.append(range);
    }
    if (formats.isEmpty() && block.layout()->formats().isEmpty()) continue;
    block.layout()->setFormats(formats);
    document()->markContentsDirty(block.position(), block.length());
  }
}

void CodeView::paintEvent(QPaintEvent* event) {
  if (!lines_.empty() || !fainter_.empty()) {
    QPainter p(viewport());
    QTextBlock block = firstVisibleBlock();
    QRectF rect = blockBoundingGeometry(block).translated(contentOffset());
    for (; block.isValid() && rect.top() <= event->rect().bottom(); block = block.next()) {
      rect.setHeight(blockBoundingRect(block).height());
      const int number = number_of(block.blockNumber());
      const bool selected = contains(lines_, number);
      if (selected || contains(fainter_, number))
        p.fillRect(QRectF(0, rect.top(), viewport()->width(), rect.height()),
                   selected ? line_highlight() : caller_highlight());
      rect.moveTop(rect.bottom());
    }
  }
  QPlainTextEdit::paintEvent(event);
}

// ------------------------------------------------------------------------------------------------------------- margin

QString CodeView::margin_text(const QPoint& at) const {
  const int number = number_of(cursorForPosition(QPoint(0, at.y())).blockNumber());
  const auto mark = marks_.find(number);
  const auto heat = heat_.find(number);
  const bool over_heat = heat != heat_.end() && at.x() >= gutter_->width() - 2 * kHeatWidth - 6;
  if (heat != heat_.end() && (over_heat || mark == marks_.end())) return heat->second.text;
  return mark == marks_.end() ? QString() : mark->second.tooltip;
}

void CodeView::click_gutter(int y) {
  const int number = number_of(cursorForPosition(QPoint(0, y)).blockNumber());
  if (marks_.contains(number)) return emit markActivated(number);
  if (number > 0) emit lineActivated(number);
}

int CodeView::gutter_width() const {
  const int digit = fontMetrics().horizontalAdvance('9');
  qsizetype letters = 0;
  for (const auto& [line, mark] : marks_) letters = std::max(letters, mark.sign.size());
  const int signs = letters ? static_cast<int>(letters) * digit + 6 : 0;
  const int heat = heat_.empty() ? 0 : 2 * kHeatWidth + 3;
  return 16 + signs + heat + digit * static_cast<int>(QString::number(std::max(last_number(), 99)).size());
}

void CodeView::place_gutter() {
  setViewportMargins(gutter_width(), 0, 0, 0);
  const QRect r = contentsRect();
  gutter_->setGeometry(r.left(), r.top(), gutter_width(), r.height());
  gutter_->update();
}

void CodeView::paint_gutter(QPaintEvent* event) {
  QPainter p(gutter_);
  p.fillRect(event->rect(), palette().alternateBase());
  p.setPen(to_qcolor(colours().dim_text));
  p.setFont(font());
  const int heat_left = gutter_->width() - (heat_.empty() ? 0 : 2 * kHeatWidth + 5);
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top();
  while (block.isValid() && top <= event->rect().bottom()) {
    double height = blockBoundingRect(block).height();
    int number = number_of(block.blockNumber());
    if (number > 0 && !std::binary_search(gaps_.begin(), gaps_.end(), number))
      p.drawText(QRectF(0, top, heat_left - (heat_.empty() ? 8 : 4), height), Qt::AlignRight | Qt::AlignVCenter,
                 QString::number(number));
    if (const auto mark = marks_.find(number); mark != marks_.end()) {
      const QColor colour = to_qcolor(mark->second.grave ? colours().removed : colours().changed);
      p.fillRect(QRectF(0, top, 3, height), colour);
      p.setPen(colour);
      p.drawText(QRectF(6, top, gutter_->width(), height), Qt::AlignLeft | Qt::AlignVCenter, mark->second.sign);
      p.setPen(to_qcolor(colours().dim_text));
    }
    if (const auto heat = heat_.find(number); heat != heat_.end()) {
      if (heat->second.eager >= 0)
        p.fillRect(QRectF(heat_left, top + 1, kHeatWidth, height - 2), heat_colour(heat->second.eager));
      if (heat->second.compiled >= 0)
        p.fillRect(QRectF(heat_left + kHeatWidth + 1, top + 1, kHeatWidth, height - 2),
                   heat_colour(heat->second.compiled));
    }
    top += height;
    block = block.next();
  }
}

void CodeView::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  place_gutter();
  place_find();
  colour_visible();
}

// ---------------------------------------------------------------------------------------------------- mouse and keys

void CodeView::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  QPlainTextEdit::mousePressEvent(event);
}

/// A click selects the line; a drag selects text.
void CodeView::mouseReleaseEvent(QMouseEvent* event) {
  QPlainTextEdit::mouseReleaseEvent(event);
  if (event->button() != Qt::LeftButton || textCursor().hasSelection()) return;
  if ((event->pos() - pressed_).manhattanLength() > 4) return;
  const int line = number_of(cursorForPosition(event->pos()).blockNumber());
  if (line > 0 && !std::binary_search(gaps_.begin(), gaps_.end(), line)) emit lineActivated(line);
}

bool CodeView::event(QEvent* event) {
  // The window has keys of its own for these; in a text they are about the text.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Find) || key->key() == Qt::Key_Slash ||
        (key->key() == Qt::Key_G && !(key->modifiers() & Qt::ControlModifier))) {
      event->accept();
      return true;
    }
  }
  return QPlainTextEdit::event(event);
}

void CodeView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Find) || event->key() == Qt::Key_Slash) return open_find();
  if (event->key() == Qt::Key_G && event->modifiers() == Qt::NoModifier) return open_find(":");
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    const int line = number_of(textCursor().blockNumber());
    if (line > 0) emit lineActivated(line);
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
}

bool CodeView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != find_ || event->type() != QEvent::KeyPress) return QPlainTextEdit::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Escape) {
    bar_->hide();
    setFocus();
    return true;
  }
  if (key->key() != Qt::Key_Return && key->key() != Qt::Key_Enter) return false;
  find_next(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
  return true;
}

// --------------------------------------------------------------------------------------------------------------- find

void CodeView::place_find() {
  const int width = std::min(340, viewport()->width() - 8);
  bar_->setGeometry(contentsRect().right() - width - 16, contentsRect().top() + 4, width, bar_->sizeHint().height());
}

void CodeView::open_find(const QString& text) {
  place_find();
  bar_->show();
  bar_->raise();
  if (!text.isEmpty()) find_->setText(text);
  found_->clear();
  find_->setFocus(Qt::ShortcutFocusReason);
  if (text.isEmpty()) find_->selectAll();
}

void CodeView::find_next(int by) {
  const QString wanted = find_->text();
  if (wanted.isEmpty()) return found_->clear();
  if (wanted.startsWith(':')) {
    const int number = wanted.mid(1).toInt();
    const bool there = number > 0 && block_of(number) >= 0 && block_of(number) < blockCount();
    found_->setText(there || wanted.size() == 1 ? "" : "no such line");
    if (there) show_line(number);
    return;
  }
  const auto flags = by < 0 ? QTextDocument::FindBackward : QTextDocument::FindFlags();
  QTextCursor found = document()->find(wanted, textCursor(), flags);
  if (found.isNull()) {  // around the end
    QTextCursor start(document());
    if (by < 0) start.movePosition(QTextCursor::End);
    found = document()->find(wanted, start, flags);
  }
  found_->setText(found.isNull() ? QString("not found")
                                 : QString("%1 in all").arg(text_.count(wanted, Qt::CaseInsensitive)));
  if (found.isNull()) return;
  setTextCursor(found);
  centerCursor();
}

}  // namespace strata::studio
