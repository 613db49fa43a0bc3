// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Read-only text with line numbers, highlighted lines, signs and times in the margin, and a box to find words and
/// lines. Only lines that are seen are coloured, so texts of 100,000 lines cost no more than short ones.

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <map>
#include <utility>
#include <vector>

#include "app/studio/views/syntax.h"

namespace strata::studio {

/// What stands in the margin of a line.
struct LineMark {
  QString sign;     ///< letters
  QString tooltip;  ///< plain text
  bool grave = false;
};

/// Time of a line, each as a share of the greatest (0 to 1); negative: unknown.
struct LineHeat {
  double eager = -1, compiled = -1;
  QString text;  ///< both in words
};

class CodeView : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit CodeView(QWidget* parent = nullptr);

  /// `numbers`: the number of each line where the text is an excerpt, ascending, else empty. `gaps`: numbers that stand
  /// for lines left out and are not shown. The same text again keeps its place.
  void set_text(const QString& text, std::vector<int> numbers = {}, std::vector<int> gaps = {});
  void set_language(Language language);
  /// Lines by the numbers that are shown, inclusive. Scrolls to the first of `lines` unless one of them is in view.
  void highlight(const std::vector<std::pair<int, int>>& lines, const std::vector<std::pair<int, int>>& fainter = {});
  /// Signs in the margin, by the numbers that are shown; stay until the next `set_text`.
  void set_marks(std::map<int, LineMark> marks);
  const std::map<int, LineMark>& marks() const { return marks_; }
  /// Two slim columns beside the numbers; stay until the next `set_text`.
  void set_heat(std::map<int, LineHeat> heat);
  const std::map<int, LineHeat>& heat() const { return heat_; }
  /// What the margin says at this place of it; empty where it says nothing.
  QString margin_text(const QPoint& at) const;
  int highlighted_lines() const;
  bool is_highlighted(int number) const { return contains(lines_, number); }
  bool is_faint(int number) const { return contains(fainter_, number); }
  void theme_changed();

  /// The middle of the line in the viewport; its number must be shown.
  QPoint point_of(int number) const;
  /// The number of the line in the middle of the view.
  int middle_line() const;
  void show_line(int number);
  /// Opens the box for words (`/`) or, with a colon in front, for the number of a line (G).
  void open_find(const QString& text = {});
  QLineEdit& find_box() { return *find_; }
  QString find_result() const { return found_->text(); }
  /// The next (1) or last (-1) place of what is in the box.
  void find_next(int by);

  int gutter_width() const;
  void paint_gutter(QPaintEvent* event);
  void click_gutter(int y);

 signals:
  /// A line was clicked, or Enter pressed on it.
  void lineActivated(int line);
  /// A sign in the margin was clicked.
  void markActivated(int line);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  using Ranges = std::vector<std::pair<int, int>>;
  static bool contains(const Ranges& ranges, int number);
  int number_of(int block) const;
  int block_of(int number) const;
  int last_number() const;
  bool any_in_view(const Ranges& ranges) const;
  void colour_visible();
  Open open_before(int block);
  void place_gutter();
  void place_find();

  QWidget* gutter_;
  QWidget* bar_;
  QLineEdit* find_;
  QLabel* found_;
  QString text_;
  std::vector<int> numbers_, gaps_;
  std::map<int, LineMark> marks_;
  std::map<int, LineHeat> heat_;
  Ranges lines_, fainter_;  ///< sorted
  Language language_ = Language::Plain;
  std::vector<Open> open_;      ///< what each line leaves open, as far as it was needed
  std::vector<char> coloured_;  ///< by line
  bool colouring_ = false;
  QPoint pressed_;
};

}  // namespace strata::studio
