// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graphs of the window, side by side: the main one, and any number of pinned ones. One of them is active: keys and
/// menus act on it.

#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <memory>
#include <vector>

#include "app/studio/models/pane.h"
#include "app/studio/views/graph_view.h"
#include "app/studio/views/pane_text.h"

namespace strata::studio {

/// One pane with its header and its frame.
class PaneBox : public QFrame {
  Q_OBJECT
 public:
  PaneBox(Context& context, Pane::Kind kind, QWidget* parent = nullptr);

  Pane& pane() { return *pane_; }
  GraphView& graph() { return *graph_; }
  /// Shown in place of the graph at stages of text; null in the main pane until one is set.
  PaneText* text() { return text_; }
  QComboBox& stages() { return *stages_; }
  QComboBox& compiles() { return *compiles_; }
  QToolButton& selection_link() { return *selection_link_; }
  QToolButton& view_link() { return *view_link_; }
  QToolButton& close_button() { return *close_; }
  bool view_linked() const { return view_link_->isChecked(); }
  /// What stands in the main pane in place of the graph at stages of text.
  void set_text_page(QWidget* page);
  /// Alone in the window: no header and no frame.
  void set_alone(bool alone);
  void set_active(bool active);
  bool active() const { return active_; }
  /// Gives the keys to what is shown.
  void take_focus();

 signals:
  void close_requested();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget* build_header();
  QToolButton* link(const QString& sign, const QString& name, const QString& tip);
  void list_stages();
  void list_compiles();
  void show_page();

  std::unique_ptr<Pane> pane_;
  QWidget* header_ = nullptr;
  QComboBox *stages_ = nullptr, *compiles_ = nullptr;
  QLabel* name_ = nullptr;
  QToolButton *selection_link_ = nullptr, *view_link_ = nullptr, *close_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  GraphView* graph_ = nullptr;
  PaneText* text_ = nullptr;
  QWidget* text_page_ = nullptr;
  bool active_ = false, alone_ = true;
};

class GraphPanes : public QWidget {
  Q_OBJECT
 public:
  /// Automatic: as many beside each other as leaves them the most even shape.
  enum class Arrangement : int { Automatic = 0, Row, Column, Grid };

  explicit GraphPanes(Context& context, QWidget* parent = nullptr);
  ~GraphPanes() override;

  GraphView& main() { return boxes_.front()->graph(); }
  /// A new pinned pane that shows nothing yet.
  Pane& add();
  /// Closes a pinned pane; the main one stays.
  void remove(Pane& pane);
  /// The main one first.
  std::vector<Pane*> panes() const;
  /// The box of a pane that is here.
  PaneBox& box(const Pane& pane) const;
  /// A new pane beside, with what the active one shows; it becomes the active one. Null if that shows nothing.
  Pane* split();
  /// Closes the active pane, or the last one if the main pane is active. Does nothing when there is only that.
  void close_active();
  Pane& active() const { return active_->pane(); }
  void set_active(Pane& pane);
  /// The next (`by` 1) or last (-1) pane gets the keys.
  void activate_next(int by);
  /// Steps the active pane if that is a pinned one; else false.
  bool step(int by);
  /// A pinned pane for a stage, as on the command line: `scheduled`, or `0/1@scheduled` of another compile. Opened when
  /// the trace is there; an unknown one is reported by the context.
  void open_stage(const QString& text);
  void set_arrangement(Arrangement arrangement);
  Arrangement arrangement() const { return arrangement_; }
  /// What stands in the main pane at stages of text.
  void set_main_text(QWidget* page) { boxes_.front()->set_text_page(page); }
  /// For the menu, with keys.
  QList<QAction*> make_actions(QObject* owner);

 signals:
  void panesChanged();
  void activeChanged();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Closed;
  PaneBox& add_box();
  void remove_box(PaneBox* box);
  void focus_changed(QWidget* now);
  void arrange();
  int columns() const;
  void share_view(PaneBox& moved);
  void join(PaneBox& box);
  void open_waiting();
  void open_waiting(const QString& text);

  Context& context_;
  QSplitter* rows_;
  std::vector<PaneBox*> boxes_;  ///< owned by the splitters; the main one first
  PaneBox* active_ = nullptr;
  Arrangement arrangement_ = Arrangement::Automatic;
  int arranged_columns_ = 0;
  bool sharing_ = false;
  QStringList waiting_;  ///< stages to be opened
};

}  // namespace strata::studio
