// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The text of a graph against that of the step before, side by side or in one column.

#include <QAbstractScrollArea>
#include <QToolButton>
#include <memory>
#include <set>
#include <vector>

#include "app/studio/models/context.h"
#include "app/studio/models/text_diff.h"
#include "app/studio/views/step_bar.h"

namespace strata::studio {

/// Only what is seen is painted, and words are compared only where they are seen: 40,000 lines are no burden.
class TextDiffView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TextDiffView(QWidget* parent = nullptr);

  void set_diff(std::shared_ptr<const TextDiff> diff);
  std::shared_ptr<const TextDiff> diff() const { return diff_; }
  void set_side_by_side(bool on);
  bool side_by_side() const { return side_by_side_; }
  /// Whether runs without a difference are folded; single ones are opened by a click.
  void set_folding(bool on);
  /// Marks the lines of this node, 0 none, and brings them into view.
  void set_selected(trace::NodeId node);
  /// To the next (1) or last (-1) difference from the current line.
  void go_to_change(int by);

  /// A line of the display: `row` of the comparison or a fold. In one column a changed row takes two lines; side by
  /// side what came stands beside what went.
  struct Line {
    int left = -1, right = -1;                                         ///< lines of the texts
    DiffKind left_kind = DiffKind::Same, right_kind = DiffKind::Same;  ///< two where what came stands beside what went
    int fold = -1;                                                     ///< index of the folded run
    bool differs() const { return left_kind != DiffKind::Same || right_kind != DiffKind::Same; }
    bool operator==(const Line&) const = default;
  };
  const std::vector<Line>& lines() const { return lines_; }
  int current() const { return current_; }
  /// The middle of a line in the viewport.
  QPoint point_of(int line) const;
  bool is_selected(int line) const;
  /// All of it, as DiffText::to_text says.
  QString copied_text() const;

 signals:
  void node_chosen(trace::NodeId node);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void build();
  void add_run(int first, int count);
  void add_block(const std::vector<int>& went, const std::vector<int>& came);
  void place_bars();
  void show_line(int line);
  void choose(int line, bool left_half = false);
  int line_at(int y) const;
  trace::NodeId node_of(const Line& line, bool left_half = false) const;
  void paint_side(QPainter& p, const Line& line, QRect box, bool right_side);
  void paint_text(QPainter& p, const QString& text, QRect box, const QColor& mark, const WordMarks& words,
                  const std::string& bytes);
  int number_width() const;

  std::shared_ptr<const TextDiff> diff_;
  std::vector<DiffFold> folds_;
  std::vector<Line> lines_;
  std::set<int> opened_;  ///< folds
  bool side_by_side_ = true, folding_ = true;
  int current_ = -1;
  int longest_ = 0;  ///< characters of the longest line
  trace::NodeId selected_ = 0;
};

class TextDiffPanel : public QWidget {
  Q_OBJECT
 public:
  explicit TextDiffPanel(Context& context, QWidget* parent = nullptr);
  TextDiffView& view() { return *view_; }
  QToolButton& columns_button() { return *columns_; }
  QToolButton& fold_button() { return *fold_; }
  QToolButton& copy_button() { return *copy_; }
  QString summary() const { return summary_text_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void load();
  void shown(const StepPtr& step, std::shared_ptr<const TextDiff> diff);
  QToolButton* button(const QString& text, const QString& name, const QString& tip, bool checkable);
  Context& context_;
  ElidedLabel* summary_;
  QString summary_text_;
  QToolButton *columns_, *fold_, *copy_;
  TextDiffView* view_;
  bool columns_chosen_ = false;  ///< else by the width there is
  StepPtr compared_;             ///< the step that the view shows or waits for
};

}  // namespace strata::studio
