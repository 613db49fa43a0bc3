// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Read-only text with line numbers and highlighted lines.

#include <QPlainTextEdit>
#include <map>
#include <utility>
#include <vector>

namespace strata::studio {

/// What stands in the margin of a line.
struct LineMark {
  QString sign;     ///< one or two letters
  QString tooltip;  ///< plain text
  bool grave = false;
};

class CodeView : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit CodeView(QWidget* parent = nullptr);

  /// `numbers`: the number of each line where the text is an excerpt, ascending, else empty. `gaps`: numbers that stand
  /// for lines left out and are not shown.
  void set_text(const QString& text, std::vector<int> numbers = {}, std::vector<int> gaps = {});
  /// Lines by the numbers that are shown, inclusive. Scrolls to the first of `lines`.
  void highlight(const std::vector<std::pair<int, int>>& lines, const std::vector<std::pair<int, int>>& fainter = {});
  /// Signs in the margin, by the numbers that are shown; stay until the next `set_text`.
  void set_marks(std::map<int, LineMark> marks);
  const std::map<int, LineMark>& marks() const { return marks_; }
  /// What the margin says at this height of the view; empty where it says nothing.
  QString mark_text(int y) const;
  int highlighted_lines() const { return highlighted_; }
  void theme_changed();

  int gutter_width() const;
  void paint_gutter(QPaintEvent* event);

 signals:
  void lineActivated(int line);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  int number_of(int block) const;
  int block_of(int number) const;
  void add_selections(QList<QTextEdit::ExtraSelection>& list, const std::vector<std::pair<int, int>>& lines,
                      const QColor& colour);

  QWidget* gutter_;
  std::vector<int> numbers_, gaps_;
  std::map<int, LineMark> marks_;
  std::vector<std::pair<int, int>> lines_, fainter_;
  int highlighted_ = 0;
};

}  // namespace strata::studio
