// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/text_diff_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "app/studio/models/lists.h"
#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

constexpr int kSignWidth = 16;
constexpr int kLongestShown = 4000;  ///< characters of a line; more are not painted

QColor blend(QColor over, const QColor& under, double share) {
  const auto mix = [share](int a, int b) { return static_cast<int>(a * share + b * (1 - share)); };
  return {mix(over.red(), under.red()), mix(over.green(), under.green()), mix(over.blue(), under.blue())};
}

/// What marks a line; invalid if nothing does.
QColor colour_of(DiffKind kind) {
  const auto& c = colours();
  switch (kind) {
    case DiffKind::Added:
      return to_qcolor(c.added);
    case DiffKind::Removed:
      return to_qcolor(c.removed);
    case DiffKind::Changed:
      return to_qcolor(c.changed);
    case DiffKind::MovedAway:
    case DiffKind::Moved:
      return to_qcolor(c.group_border);
    case DiffKind::Same:
      break;
  }
  return {};
}

QString sign_of(DiffKind kind, bool two_lines, bool right_side) {
  switch (kind) {
    case DiffKind::Added:
      return "+";
    case DiffKind::Removed:
      return "−";
    case DiffKind::Changed:
      return !two_lines ? "~" : right_side ? "+" : "−";
    case DiffKind::MovedAway:
      return "↰";
    case DiffKind::Moved:
      return "↳";
    case DiffKind::Same:
      break;
  }
  return {};
}

}  // namespace

TextDiffView::TextDiffView(QWidget* parent) : QAbstractScrollArea(parent) {
  setAccessibleName("text of the graph against the step before");
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setCursor(Qt::ArrowCursor);
  setFont(code_font());
}

void TextDiffView::set_diff(std::shared_ptr<const TextDiff> diff) {
  diff_ = std::move(diff);
  opened_.clear();
  longest_ = 0;
  if (diff_)
    for (const auto* lines : {&diff_->left, &diff_->right})
      for (const auto& line : *lines) longest_ = std::max(longest_, static_cast<int>(line.size()));
  longest_ = std::min(longest_, kLongestShown);
  current_ = -1;
  build();
  verticalScrollBar()->setValue(0);
  const auto at = std::find_if(lines_.begin(), lines_.end(), [](const Line& l) { return l.differs(); });
  if (at != lines_.end()) {
    current_ = static_cast<int>(at - lines_.begin());
    show_line(current_);
  }
}

void TextDiffView::set_side_by_side(bool on) {
  if (on == side_by_side_) return;
  side_by_side_ = on;
  build();
}

void TextDiffView::set_folding(bool on) {
  if (on == folding_) return;
  folding_ = on;
  opened_.clear();
  build();
}

void TextDiffView::build() {
  const trace::NodeId here =
      current_ >= 0 && current_ < static_cast<int>(lines_.size()) ? node_of(lines_[static_cast<size_t>(current_)]) : 0;
  lines_.clear();
  folds_.clear();
  if (diff_) {
    lines_.reserve(diff_->rows.size());
    folds_ = fold_rows(diff_->rows);
    // A text without a difference is there to be read.
    const bool fold = folding_ && !diff_->same();
    for (size_t f = 0; f < folds_.size(); ++f) {
      const bool folded = folds_[f].folded && fold && !opened_.contains(static_cast<int>(f));
      if (!folded)
        add_run(folds_[f].first, folds_[f].count);
      else
        lines_.push_back({.fold = static_cast<int>(f)});
    }
  }
  current_ = -1;
  for (size_t i = 0; here && i < lines_.size(); ++i)
    if (node_of(lines_[i]) == here) {
      current_ = static_cast<int>(i);
      break;
    }
  place_bars();
  if (current_ >= 0) show_line(current_);
  viewport()->update();
}

void TextDiffView::add_run(int first, int count) {
  std::vector<int> went, came;  // rows next to each other that have one side only
  const auto flush = [&] {
    add_block(went, came);
    went.clear();
    came.clear();
  };
  for (int i = first; i < first + count; ++i) {
    const DiffRow& row = diff_->rows[static_cast<size_t>(i)];
    switch (row.kind) {
      case DiffKind::Removed:
      case DiffKind::MovedAway:
        if (!came.empty()) flush();
        went.push_back(i);
        continue;
      case DiffKind::Added:
      case DiffKind::Moved:
        came.push_back(i);
        continue;
      case DiffKind::Same:
      case DiffKind::Changed:
        break;
    }
    flush();
    if (row.kind == DiffKind::Changed && !side_by_side_) {
      lines_.push_back({.left = row.left, .left_kind = row.kind});
      lines_.push_back({.right = row.right, .right_kind = row.kind});
    } else {
      lines_.push_back({row.left, row.right, row.kind, row.kind, -1});
    }
  }
  flush();
}

void TextDiffView::add_block(const std::vector<int>& went, const std::vector<int>& came) {
  const auto row = [this](int i) -> const DiffRow& { return diff_->rows[static_cast<size_t>(i)]; };
  const size_t beside = side_by_side_ ? std::min(went.size(), came.size()) : 0;
  for (size_t i = 0; i < beside; ++i)
    lines_.push_back({row(went[i]).left, row(came[i]).right, row(went[i]).kind, row(came[i]).kind, -1});
  for (size_t i = beside; i < went.size(); ++i)
    lines_.push_back({.left = row(went[i]).left, .left_kind = row(went[i]).kind});
  for (size_t i = beside; i < came.size(); ++i)
    lines_.push_back({.right = row(came[i]).right, .right_kind = row(came[i]).kind});
}

trace::NodeId TextDiffView::node_of(const Line& line, bool left_half) const {
  if (!diff_) return 0;
  if (line.right >= 0 && (!left_half || line.left < 0)) return diff_->right_nodes[static_cast<size_t>(line.right)];
  return line.left >= 0 ? diff_->left_nodes[static_cast<size_t>(line.left)] : 0;
}

bool TextDiffView::is_selected(int line) const {
  return selected_ && line >= 0 && line < static_cast<int>(lines_.size()) &&
         (node_of(lines_[static_cast<size_t>(line)]) == selected_ ||
          node_of(lines_[static_cast<size_t>(line)], true) == selected_);
}

void TextDiffView::set_selected(trace::NodeId node) {
  if (node == selected_) return;
  selected_ = node;
  viewport()->update();
  if (!node || !diff_) return;
  // A folded line is brought out.
  for (size_t f = 0; f < folds_.size() && folding_; ++f) {
    if (!folds_[f].folded || opened_.contains(static_cast<int>(f))) continue;
    for (int i = folds_[f].first; i < folds_[f].first + folds_[f].count; ++i)
      if (diff_->node(diff_->rows[static_cast<size_t>(i)]) == node) {
        opened_.insert(static_cast<int>(f));
        build();
        f = folds_.size();
        break;
      }
  }
  for (size_t i = 0; i < lines_.size(); ++i)
    if (is_selected(static_cast<int>(i))) {
      current_ = static_cast<int>(i);
      return show_line(current_);
    }
}

void TextDiffView::go_to_change(int by) {
  const auto differs = [this](int i) { return lines_[static_cast<size_t>(i)].differs(); };
  const int size = static_cast<int>(lines_.size());
  int at = std::clamp(current_, by > 0 ? -1 : 0, size);
  while (at >= 0 && at < size && differs(at)) at += by;
  if (at < 0 && by > 0) at = 0;
  while (at >= 0 && at < size && !differs(at)) at += by;
  if (at < 0 || at >= size) return;
  while (by < 0 && at > 0 && differs(at - 1)) --at;
  current_ = at;
  show_line(at);
  viewport()->update();
}

QString TextDiffView::copied_text() const { return diff_ ? qt(diff_->to_text()) : QString(); }

// ------------------------------------------------------------------------------------------------------- geometry

int TextDiffView::number_width() const {
  const size_t most = diff_ ? std::max(diff_->left.size(), diff_->right.size()) : 0;
  return fontMetrics().horizontalAdvance(QString::number(most)) + 10;
}

void TextDiffView::place_bars() {
  const int row = fontMetrics().height() + 2, page = std::max(viewport()->height() / row, 1);
  verticalScrollBar()->setRange(0, std::max(static_cast<int>(lines_.size()) - page, 0));
  verticalScrollBar()->setPageStep(page);
  const int column = side_by_side_ ? viewport()->width() / 2 : viewport()->width();
  const int numbers = side_by_side_ ? number_width() : 2 * number_width();
  const int wide = fontMetrics().horizontalAdvance('M') * longest_ + 16;
  const int room = std::max(column - numbers - kSignWidth, 20);
  horizontalScrollBar()->setRange(0, std::max(wide - room, 0));
  horizontalScrollBar()->setPageStep(room);
  horizontalScrollBar()->setSingleStep(24);
}

void TextDiffView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  place_bars();
}

QPoint TextDiffView::point_of(int line) const {
  const int row = fontMetrics().height() + 2;
  return {viewport()->width() * 3 / 4, (line - verticalScrollBar()->value()) * row + row / 2};
}

int TextDiffView::line_at(int y) const {
  const int line = verticalScrollBar()->value() + y / (fontMetrics().height() + 2);
  return y < 0 || line >= static_cast<int>(lines_.size()) ? -1 : line;
}

void TextDiffView::show_line(int line) {
  const int first = verticalScrollBar()->value(), page = verticalScrollBar()->pageStep();
  if (line < first || line >= first + page) verticalScrollBar()->setValue(std::max(line - page / 3, 0));
}

// ------------------------------------------------------------------------------------------------------- painting

void TextDiffView::paintEvent(QPaintEvent*) {
  QPainter p(viewport());
  p.fillRect(viewport()->rect(), palette().base());
  p.setFont(font());
  if (!diff_) {
    p.setPen(palette().color(QPalette::PlaceholderText));
    p.drawText(viewport()->rect(), Qt::AlignCenter, "There is no graph to compare here.");
    return;
  }
  const int row = fontMetrics().height() + 2, first = verticalScrollBar()->value(), width = viewport()->width();
  const int last = std::min(static_cast<int>(lines_.size()), first + viewport()->height() / row + 2);
  for (int i = first; i < last; ++i) {
    const Line& line = lines_[static_cast<size_t>(i)];
    const QRect box(0, (i - first) * row, width, row);
    if (line.fold >= 0) {
      p.fillRect(box, palette().alternateBase());
      p.setPen(palette().color(QPalette::PlaceholderText));
      p.drawText(box.adjusted(number_width(), 0, 0, 0), Qt::AlignVCenter,
                 QString("▸ %1 lines without a difference").arg(folds_[static_cast<size_t>(line.fold)].count));
    } else if (side_by_side_) {
      paint_side(p, line, {0, box.y(), width / 2, row}, false);
      paint_side(p, line, {width / 2, box.y(), width - width / 2, row}, true);
    } else {
      paint_side(p, line, box, line.right >= 0);
    }
    p.setBrush(Qt::NoBrush);
    if (is_selected(i)) {
      p.setPen(QPen(to_qcolor(colours().selected), 2));
      p.drawRect(box.adjusted(1, 1, -1, -1));
    } else if (i == current_ && hasFocus()) {
      p.setPen(QPen(palette().color(QPalette::PlaceholderText), 1, Qt::DotLine));
      p.drawRect(box.adjusted(0, 0, -1, -1));
    }
  }
  p.setPen(palette().color(QPalette::Mid));
  if (side_by_side_) p.drawLine(width / 2, 0, width / 2, viewport()->height());
}

void TextDiffView::paint_side(QPainter& p, const Line& line, QRect box, bool right_side) {
  const int number = right_side ? line.right : line.left;
  const DiffKind kind = right_side ? line.right_kind : line.left_kind;
  const QColor mark = colour_of(kind), base = palette().color(QPalette::Base);
  const double share = dark_theme() ? 0.2 : 0.13;
  if (number < 0) return p.fillRect(box, blend(palette().color(QPalette::Mid), base, 0.12));
  if (mark.isValid()) p.fillRect(box, blend(mark, base, share));
  p.setPen(palette().color(QPalette::PlaceholderText));
  int x = box.x();
  const auto put_number = [&](int value) {
    if (value >= 0)
      p.drawText(QRect(x, box.y(), number_width() - 5, box.height()), Qt::AlignRight | Qt::AlignVCenter,
                 QString::number(value + 1));
    x += number_width();
  };
  if (!side_by_side_) put_number(line.left);
  put_number(side_by_side_ ? number : line.right);
  if (mark.isValid()) p.setPen(dark_theme() ? mark : mark.darker(130));
  p.drawText(QRect(x, box.y(), kSignWidth, box.height()), Qt::AlignCenter, sign_of(kind, !side_by_side_, right_side));
  const std::string& text = (right_side ? diff_->right : diff_->left)[static_cast<size_t>(number)];
  WordMarks words;
  if (kind == DiffKind::Changed) {
    // In one column the other half of the pair is the line above or below.
    const size_t at = static_cast<size_t>(&line - lines_.data());
    const Line& other = side_by_side_ ? line : right_side ? lines_[at - 1] : lines_[at + 1];
    const auto [left, right] =
        differing_words(diff_->left[static_cast<size_t>(right_side ? other.left : line.left)],
                        diff_->right[static_cast<size_t>(right_side ? line.right : other.right)]);
    words = right_side ? right : left;
  }
  paint_text(p, qt(text).left(kLongestShown),
             QRect(x + kSignWidth, box.y(), box.right() - x - kSignWidth, box.height()), mark, words, text);
}

void TextDiffView::paint_text(QPainter& p, const QString& text, QRect box, const QColor& mark, const WordMarks& words,
                              const std::string& bytes) {
  p.save();
  p.setClipRect(box);
  const int x = box.x() + 2 - horizontalScrollBar()->value();
  const auto place = [&](int byte) {  // where a byte of the line stands
    const QString part = QString::fromUtf8(bytes.data(), std::min<qsizetype>(byte, kLongestShown));
    return fontMetrics().horizontalAdvance(part);
  };
  const QColor strong = blend(mark, palette().color(QPalette::Base), dark_theme() ? 0.5 : 0.42);
  for (const auto& [first, last] : words) {
    const int from = place(first), to = place(last);
    p.fillRect(QRect(x + from, box.y() + 1, to - from, box.height() - 2), strong);
  }
  p.setPen(palette().color(QPalette::Text));
  p.drawText(QPoint(x, box.y() + 1 + fontMetrics().ascent()), text);
  p.restore();
}

// --------------------------------------------------------------------------------------------------------- input

void TextDiffView::choose(int line, bool left_half) {
  if (line < 0 || line >= static_cast<int>(lines_.size())) return;
  current_ = line;
  show_line(line);
  viewport()->update();
  const Line chosen = lines_[static_cast<size_t>(line)];
  if (chosen.fold >= 0) {
    opened_.insert(chosen.fold);
    const int top = verticalScrollBar()->value();
    build();
    current_ = line;
    verticalScrollBar()->setValue(top);
  } else if (const trace::NodeId node = node_of(chosen, left_half)) {
    selected_ = node;  // it is in view: nothing is to be scrolled
    emit node_chosen(node);
  }
}

void TextDiffView::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton)
    choose(line_at(event->position().toPoint().y()),
           side_by_side_ && event->position().x() < viewport()->width() / 2.0);
}

void TextDiffView::keyPressEvent(QKeyEvent* event) {
  const auto go = [this](int line) {
    current_ = std::clamp(line, 0, std::max(static_cast<int>(lines_.size()) - 1, 0));
    show_line(current_);
    viewport()->update();
  };
  if (event->matches(QKeySequence::Copy)) return QGuiApplication::clipboard()->setText(copied_text());
  switch (event->key()) {
    case Qt::Key_Up:
      return go(current_ - 1);
    case Qt::Key_Down:
      return go(current_ + 1);
    case Qt::Key_PageUp:
      return go(current_ - verticalScrollBar()->pageStep());
    case Qt::Key_PageDown:
      return go(current_ + verticalScrollBar()->pageStep());
    case Qt::Key_Home:
      return go(0);
    case Qt::Key_End:
      return go(static_cast<int>(lines_.size()) - 1);
    case Qt::Key_N:
      return go_to_change(1);
    case Qt::Key_P:
      return go_to_change(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return choose(current_);
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

/// The whole of a line that is cut.
bool TextDiffView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !diff_) return QAbstractScrollArea::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int at = line_at(viewport()->mapFrom(this, help->pos()).y());
  if (at >= 0 && lines_[static_cast<size_t>(at)].fold < 0) {
    const Line& line = lines_[static_cast<size_t>(at)];
    QStringList text;
    if (line.left >= 0 && line.differs()) text << qt(diff_->left[static_cast<size_t>(line.left)]);
    if (line.right >= 0) text << qt(diff_->right[static_cast<size_t>(line.right)]);
    for (QString& part : text) part = part.left(600).toHtmlEscaped();
    QToolTip::showText(help->globalPos(), "<p style='white-space: pre-wrap'>" + text.join("<br>") + "</p>", this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

}  // namespace strata::studio
