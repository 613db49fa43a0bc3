// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The window: connects the context to the pages, and the user to both.

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QStackedWidget>

#include "app/studio/models/context.h"
#include "app/studio/views/compare_panel.h"
#include "app/studio/views/graph_panes.h"
#include "app/studio/views/graph_view.h"
#include "app/studio/views/memory_view.h"
#include "app/studio/views/panels.h"
#include "app/studio/views/profile_panel.h"
#include "app/studio/views/query_panel.h"
#include "app/studio/views/roofline_view.h"
#include "app/studio/views/timeline_panel.h"

namespace strata::studio {

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `remember`: window layout is kept in the user's settings.
  MainWindow(Context& context, bool remember, QWidget* parent = nullptr);

  /// Names that --view takes.
  static const std::vector<std::string>& views();
  /// Brings a page to the front; an unknown name gives a message that names the nearest and false.
  bool show_view(const QString& name);
  void show_message(const QString& text);
  /// Gives the side pages their share of the width; for a window whose layout was not remembered.
  void arrange();
  QString message_text() const { return message_->text(); }
  GraphView& graph() { return *graph_; }
  GraphPanes& panes() { return *panes_; }
  StagePanel& stages() { return *stages_; }
  InspectorPanel& inspector() { return *inspector_; }
  ChangesPanel& changes() { return *changes_; }
  SourcePanel& source() { return *source_; }
  CodePanel& code() { return *code_; }
  ProfilePanel& profile() { return *profile_; }
  RooflinePanel& roofline() { return *roofline_; }
  MemoryPanel& memory() { return *memory_; }
  QueryPanel& query() { return *query_; }
  ComparePanel& compare() { return *compare_; }
  OverviewPanel& overview() { return *overview_; }
  ProblemsPanel& problems() { return *problems_; }
  GuardsPanel& guards() { return *guards_; }
  TimelinePanel& timeline() { return *timeline_; }
  TextStagePanel& text_stage() { return *text_stage_; }
  QLineEdit& search_box() { return *search_; }
  void open_file(const QString& path);
  /// Compares the open trace with another one.
  void compare_with(const QString& path);
  /// Draws the present stage into a file; the ending says the format.
  void export_to(const QString& path);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void build_centre();
  void build_docks();
  void build_toolbar();
  void build_menus();
  void restore_layout();
  QDockWidget* dock(const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea area);
  void toggle(QToolBar* bar, const QString& text, const QString& tip, bool draw::DrawOptions::* option);
  void ask_open();
  void ask_compare();
  void ask_export();
  void show_help();
  void set_dark(bool dark);
  void step_shown();
  void show_page();
  void show_overview(bool shown);
  void search(int direction);
  void update_status();

  Context& context_;
  bool remember_, restored_ = false;
  QFrame* message_bar_ = nullptr;
  QLabel* message_ = nullptr;
  QLabel* status_ = nullptr;
  QStackedWidget* centre_ = nullptr;
  QWidget* graph_page_ = nullptr;  ///< the graph and what stands around it
  GraphPanes* panes_ = nullptr;
  GraphView* graph_ = nullptr;  ///< the main one
  TextStagePanel* text_stage_ = nullptr;
  QLabel* welcome_ = nullptr;
  OverviewPanel* overview_ = nullptr;
  ProblemsPanel* problems_ = nullptr;
  GuardsPanel* guards_ = nullptr;
  bool overview_shown_ = false;
  bool had_step_ = false;  ///< a stage was shown since the trace was opened
  StagePanel* stages_ = nullptr;
  InspectorPanel* inspector_ = nullptr;
  ChangesPanel* changes_ = nullptr;
  SourcePanel* source_ = nullptr;
  CodePanel* code_ = nullptr;
  ProfileSource* profile_source_ = nullptr;
  ProfilePanel* profile_ = nullptr;
  RooflinePanel* roofline_ = nullptr;
  MemoryPanel* memory_ = nullptr;
  QueryPanel* query_ = nullptr;
  ComparePanel* compare_ = nullptr;
  TimelinePanel* timeline_ = nullptr;
  QLineEdit* search_ = nullptr;
  QLabel* found_ = nullptr;
  QAction* theme_ = nullptr;
  std::map<std::string, QDockWidget*> docks_;
  std::vector<trace::NodeId> matches_;
  size_t match_ = 0;
  QString searched_;
};

}  // namespace strata::studio
