// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The window: connects the context to the pages, and the user to both.

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QPointer>
#include <QStackedWidget>

#include "app/studio/models/context.h"
#include "app/studio/models/import_job.h"
#include "app/studio/models/recent_files.h"
#include "app/studio/models/report_job.h"
#include "app/studio/models/saved_views.h"
#include "app/studio/views/compare_panel.h"
#include "app/studio/views/graph_panes.h"
#include "app/studio/views/graph_view.h"
#include "app/studio/views/layout_history.h"
#include "app/studio/views/memory_view.h"
#include "app/studio/views/panels.h"
#include "app/studio/views/profile_panel.h"
#include "app/studio/views/query_panel.h"
#include "app/studio/views/roofline_view.h"
#include "app/studio/views/step_bar.h"
#include "app/studio/views/task_bar.h"
#include "app/studio/views/text_diff_view.h"
#include "app/studio/views/timeline_panel.h"

namespace strata::studio {

class WelcomePage;

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
  StepBar& step_bar() { return *step_bar_; }
  TextDiffPanel& text_diff() { return *text_diff_; }
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
  /// A trace is opened; a folder or a file of another kind is imported first.
  void open_file(const QString& path);
  /// Compares the open trace with another one.
  void compare_with(const QString& path);
  void open_files(const QStringList& paths);
  /// Opens the trace again, as it is now.
  void reload();
  /// Draws the present stage into a file; the ending says the format.
  void export_to(const QString& path);
  /// What a page shows into a file; the page is shown first, and what it loads is waited for.
  void export_page(const QString& page, const QString& path);
  /// The same at once: false, with a message, if it could not be written.
  bool export_page_now(const QString& page, const QString& path);
  /// The whole trace as an HTML page.
  void report_to(const QString& path);
  ReportJob& report_job() { return report_; }
  ImportJob& import_job() { return import_; }
  TaskBar& task_bar() { return *task_; }
  WelcomePage& welcome() { return *welcome_; }
  RecentFiles& recent() { return recent_; }
  SavedViews& saved_views() { return saved_; }
  LayoutHistory& layout_history() { return *layout_; }
  /// What a page consists of; null for an unknown one.
  QWidget* page_widget(const QString& page);
  /// The page with the focus, else the one in the middle.
  QString focused_page() const;
  /// What is shown now, how, under a name; `everywhere`: not only for this trace.
  void save_view(const QString& name, bool everywhere);
  void show_saved_view(const SavedView& view);
  /// All pages where they are at first.
  void reset_layout();
  /// Shows some pages and hides the others: `graph`, `source`, `profile`, `compare`.
  void show_workspace(const QString& name);
  /// Opens the help: of a page, of all keys (`keys`), or the list of pages (empty).
  void show_help(const QString& page);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void childEvent(QChildEvent* event) override;

 private:
  void build_centre();
  void build_docks();
  void build_toolbar();
  void build_menus();
  void restore_layout();
  QDockWidget* dock(const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea area);
  void toggle(QToolBar* bar, const QString& text, const QString& tip, bool draw::DrawOptions::* option);
  void build_file_menu();
  void build_edit_menu();
  void build_view_menu();
  void build_go_menu();
  void build_help_menu();
  void build_tasks();
  void list_recent();
  void list_saved();
  void ask_open();
  void ask_compare();
  void ask_import();
  void ask_export();
  void ask_report();
  void ask_copy();
  void ask_save_view();
  void manage_views();
  void about();
  void set_dark(bool dark);
  void set_text_size(double scale);
  void remember_layout();
  QStringList open_pages() const;
  void step_shown();
  void show_rewrite_place();
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
  WelcomePage* welcome_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QMenu* saved_menu_ = nullptr;
  TaskBar* task_ = nullptr;
  RecentFiles recent_;
  SavedViews saved_;
  ImportJob import_;
  ReportJob report_;
  LayoutHistory* layout_ = nullptr;
  QByteArray first_layout_;  ///< as the window was built
  QString opened_;           ///< the trace that is shown
  QString imported_from_;    ///< what the trace that is shown was made of; empty if it was not imported
  QPointer<QDialog> help_;
  OverviewPanel* overview_ = nullptr;
  ProblemsPanel* problems_ = nullptr;
  GuardsPanel* guards_ = nullptr;
  bool overview_shown_ = false;
  bool had_step_ = false;  ///< a stage was shown since the trace was opened
  StagePanel* stages_ = nullptr;
  StepBar* step_bar_ = nullptr;
  TextDiffPanel* text_diff_ = nullptr;
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
