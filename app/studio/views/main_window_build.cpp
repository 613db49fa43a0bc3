// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// What the window is made of: its pages and its toolbar.
#include "app/studio/views/main_window.h"

#include <QAction>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/studio/views/graph_controls.h"
#include "app/studio/views/theme.h"
#include "app/studio/views/welcome.h"

namespace strata::studio {

void MainWindow::build_centre() {
  auto* middle = new QWidget;
  auto* layout = new QVBoxLayout(middle);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  message_bar_ = new QFrame;
  message_bar_->setObjectName("message_bar");
  message_bar_->setStyleSheet(
      "#message_bar { background: #a8322a; } #message_bar QLabel, #message_bar QToolButton { color: white; }");
  auto* bar = new QHBoxLayout(message_bar_);
  bar->setContentsMargins(10, 5, 5, 5);
  message_ = new QLabel;
  message_->setAccessibleName("message");
  message_->setWordWrap(true);
  message_->setMinimumWidth(1);
  message_->setTextFormat(Qt::PlainText);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* close = new QToolButton;
  close->setText("✕");
  close->setAccessibleName("close message");
  close->setAutoRaise(true);
  connect(close, &QToolButton::clicked, message_bar_, &QWidget::hide);
  bar->addWidget(message_, 1);
  bar->addWidget(close);
  message_bar_->hide();
  centre_ = new QStackedWidget;
  welcome_ = new WelcomePage(recent_);
  connect(welcome_, &WelcomePage::open_requested, this, &MainWindow::ask_open);
  connect(welcome_, &WelcomePage::import_requested, this, &MainWindow::ask_import);
  connect(welcome_, &WelcomePage::recent_requested, this, &MainWindow::open_file);
  connect(welcome_, &WelcomePage::help_requested, this, [this] { show_help("keys"); });
  panes_ = new GraphPanes(context_);
  graph_ = &panes_->main();
  graph_page_ = new QWidget;
  auto* graph_column = new QVBoxLayout(graph_page_);
  graph_column->setContentsMargins(0, 0, 0, 0);
  graph_column->setSpacing(0);
  graph_column->addWidget(step_bar_ = new StepBar(context_));
  graph_column->addWidget(panes_, 1);
  text_stage_ = new TextStagePanel(context_);
  text_stage_->setMinimumHeight(150);  // its tables would keep the pages below small
  panes_->set_main_text(text_stage_);
  overview_ = new OverviewPanel(context_);
  connect(overview_, &OverviewPanel::view_requested, this, &MainWindow::show_view);
  connect(overview_, &OverviewPanel::graph_requested, this, [this] { show_overview(false); });
  for (QWidget* page : {static_cast<QWidget*>(welcome_), graph_page_, static_cast<QWidget*>(overview_)})
    centre_->addWidget(page);
  task_ = new TaskBar;
  layout->addWidget(message_bar_);
  layout->addWidget(task_);
  layout->addWidget(centre_, 1);
  setCentralWidget(middle);
}

QDockWidget* MainWindow::dock(const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea area) {
  auto* made = new QDockWidget(title);
  made->setObjectName(name);
  made->setAccessibleName(title);
  content->setMinimumSize(120, 60);  // a page that wants more must not take it from those beside it
  made->setWidget(content);
  addDockWidget(area, made);
  docks_[name.toStdString()] = made;
  return made;
}

void MainWindow::build_docks() {
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  auto* stages = dock("Stages", "stages", stages_ = new StagePanel(context_), Qt::LeftDockWidgetArea);
  auto* inspector = dock("Inspector", "inspector", inspector_ = new InspectorPanel(context_), Qt::RightDockWidgetArea);
  auto* changes = dock("Changes", "changes", changes_ = new ChangesPanel(context_), Qt::BottomDockWidgetArea);
  auto* diff = dock("Text diff", "diff", text_diff_ = new TextDiffPanel(context_), Qt::BottomDockWidgetArea);
  auto* source = dock("Source", "source", source_ = new SourcePanel(context_), Qt::BottomDockWidgetArea);
  auto* code = dock("Code", "code", code_ = new CodePanel(context_), Qt::BottomDockWidgetArea);
  profile_source_ = new ProfileSource(context_, this);
  profile_ = new ProfilePanel(context_, *profile_source_);
  auto* profile = dock("Profile", "profile", profile_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(changes, diff);
  tabifyDockWidget(diff, source);
  tabifyDockWidget(source, code);
  tabifyDockWidget(code, profile);
  auto* timeline = dock("Timeline", "timeline", timeline_ = new TimelinePanel(context_), Qt::BottomDockWidgetArea);
  roofline_ = new RooflinePanel(context_, *profile_source_);
  auto* roofline = dock("Roofline", "roofline", roofline_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(profile, roofline);
  auto* memory = dock("Memory", "memory", memory_ = new MemoryPanel(context_), Qt::BottomDockWidgetArea);
  tabifyDockWidget(roofline, memory);
  tabifyDockWidget(memory, timeline);
  auto* query = dock("Query", "query", query_ = new QueryPanel(context_, remember_), Qt::BottomDockWidgetArea);
  auto* problems = dock("Problems", "problems", problems_ = new ProblemsPanel(context_), Qt::BottomDockWidgetArea);
  tabifyDockWidget(timeline, problems);
  auto* guards = dock("Guards", "guards", guards_ = new GuardsPanel(context_), Qt::BottomDockWidgetArea);
  tabifyDockWidget(problems, guards);
  tabifyDockWidget(guards, query);
  auto* compare = dock("Compare", "compare", compare_ = new ComparePanel(context_), Qt::BottomDockWidgetArea);
  tabifyDockWidget(query, compare);
  connect(compare_, &ComparePanel::file_requested, this, &MainWindow::ask_compare);
  changes->raise();
  setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
  resizeDocks({stages, inspector}, {300, 330}, Qt::Horizontal);
  resizeDocks({changes}, {230}, Qt::Vertical);
  connect(source_, &SourcePanel::view_requested, this, &MainWindow::show_view);
  connect(&context_, &Context::sourceRequested, source, [source] {
    source->show();
    source->raise();
  });
}

void MainWindow::toggle(QToolBar* bar, const QString& text, const QString& tip, bool draw::DrawOptions::* option) {
  auto* action = bar->addAction(text);
  action->setCheckable(true);
  action->setToolTip(tip);
  action->setChecked(context_.options().*option);
  connect(action, &QAction::toggled, this, [this, option](bool on) {
    draw::DrawOptions options = context_.options();
    options.*option = on;
    context_.set_options(options);
  });
}

void MainWindow::build_toolbar() {
  auto* bar = addToolBar("Graph");
  bar->setObjectName("graph_bar");
  bar->setMovable(false);
  auto* back = bar->addAction("↶");
  auto* forward = bar->addAction("↷");
  back->setStatusTip("Back");
  forward->setStatusTip("Forward");
  back->setToolTip("Back to what was selected before (Alt+←)");
  forward->setToolTip("Forward again (Alt+→)");
  back->setShortcut(QKeySequence("Alt+Left"));
  forward->setShortcut(QKeySequence("Alt+Right"));
  connect(back, &QAction::triggered, this, [this] { context_.go(-1); });
  connect(forward, &QAction::triggered, this, [this] { context_.go(1); });
  const auto enable = [this, back, forward] {
    back->setEnabled(context_.can_go(-1));
    forward->setEnabled(context_.can_go(1));
  };
  connect(&context_, &Context::placesChanged, this, enable);
  enable();
  bar->addSeparator();
  connect(bar->addAction("◀"), &QAction::triggered, this, [this] { context_.step(-1); });
  connect(bar->addAction("▶"), &QAction::triggered, this, [this] { context_.step(1); });
  bar->actions().at(bar->actions().size() - 2)->setToolTip("Stage before (K)");
  bar->actions().back()->setToolTip("Next stage (J)");
  bar->addSeparator();
  connect(bar->addAction("Fit"), &QAction::triggered, graph_, &GraphView::fit);
  toggle(bar, "Weights", "Show weights and constants", &draw::DrawOptions::parameters);
  toggle(bar, "Types", "Show dtype and shape on the edges", &draw::DrawOptions::types);
  toggle(bar, "Legend", "Show what the colours mean", &draw::DrawOptions::legend);
  bar->addActions(graph_actions(*graph_));
  bar->addSeparator();
  bar->addWidget(new QLabel(" Group: "));
  bar->addWidget(new GroupBox(context_));
  bar->addWidget(new QLabel(" Colour: "));
  bar->addWidget(new ColourBox(context_));
  auto* space = new QWidget;
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(space);
  found_ = new QLabel;
  found_->setAccessibleName("search result");
  bar->addWidget(found_);
  search_ = new QLineEdit;
  search_->setPlaceholderText("Find node (Ctrl+F)");
  search_->setAccessibleName("find node");
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(240);
  search_->installEventFilter(this);
  bar->addWidget(search_);
  connect(search_, &QLineEdit::returnPressed, this, [this] { search(1); });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (text.isEmpty()) search(0);
  });
}

}  // namespace strata::studio
