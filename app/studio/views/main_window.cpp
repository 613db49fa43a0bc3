// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/main_window.h"

#include <QAction>
#include <QCloseEvent>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QShortcut>
#include <QStatusBar>
#include <QTextBrowser>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/draw/export.h"
#include "app/studio/views/graph_controls.h"
#include "app/studio/views/help.h"
#include "app/studio/views/theme.h"
#include "core/support/error.h"

namespace strata::studio {

MainWindow::MainWindow(Context& context, bool remember, QWidget* parent)
    : QMainWindow(parent), context_(context), remember_(remember) {
  setWindowTitle("Strata Studio");
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setAnimated(false);
  resize(1280, 800);
  build_centre();
  build_docks();
  build_toolbar();
  build_menus();
  status_ = new QLabel;
  status_->setAccessibleName("status");
  statusBar()->addWidget(status_, 1);
  connect(&context_, &Context::message, this, &MainWindow::show_message);
  connect(&context_, &Context::stepChanged, this, &MainWindow::step_shown);
  connect(&context_, &Context::selectionChanged, this, [this] {
    if (overview_shown_ && !context_.selection().empty()) return show_overview(false);
    update_status();
  });
  connect(&context_.queue(), &JobQueue::busyChanged, this, &MainWindow::update_status);
  connect(&context_, &Context::traceOpened, this, [this] {
    setWindowTitle(QFileInfo(context_.path()).fileName() + " – Strata Studio");
    message_bar_->hide();
    had_step_ = false;
    if (context_.following())
      show_message(
          "this trace was not closed: its program is still running or was killed; what it writes is shown as it comes");
  });
  connect(&context_, &Context::detailsChanged, this, [this] {
    auto details = context_.details();
    code_->set_units(details ? details->code : std::vector<CodeUnit>(),
                     details ? "No generated code belongs to this selection."
                             : "Select a node or a kernel to see the code made of it.");
  });
  code_->set_units({}, "Select a node or a kernel to see the code made of it.");
  if (remember_) restore_layout();
}

const std::vector<std::string>& MainWindow::views() {
  static const std::vector<std::string> names = {"graph",     "changes",  "source",   "code",     "profile",
                                                 "inspector", "stages",   "timeline", "overview", "problems",
                                                 "guards",    "roofline", "memory",   "query"};
  return names;
}

void MainWindow::build_centre() {
  auto* middle = new QWidget;
  auto* layout = new QVBoxLayout(middle);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  message_bar_ = new QFrame;
  message_bar_->setObjectName("message_bar");
  message_bar_->setStyleSheet(
      "#message_bar { background: #b3382c; } #message_bar QLabel, #message_bar QToolButton { color: white; }");
  auto* bar = new QHBoxLayout(message_bar_);
  bar->setContentsMargins(10, 5, 5, 5);
  message_ = new QLabel;
  message_->setAccessibleName("message");
  message_->setWordWrap(true);
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
  welcome_ = new QLabel("Open a trace: Ctrl+O, or drop a .strata file here.\n\nF1 shows all keys.");
  welcome_->setAlignment(Qt::AlignCenter);
  graph_ = new GraphView(context_);
  text_stage_ = new TextStagePanel(context_);
  overview_ = new OverviewPanel(context_);
  connect(overview_, &OverviewPanel::view_requested, this, &MainWindow::show_view);
  connect(overview_, &OverviewPanel::graph_requested, this, [this] { show_overview(false); });
  for (QWidget* page : {static_cast<QWidget*>(welcome_), static_cast<QWidget*>(graph_),
                        static_cast<QWidget*>(text_stage_), static_cast<QWidget*>(overview_)})
    centre_->addWidget(page);
  layout->addWidget(message_bar_);
  layout->addWidget(centre_, 1);
  setCentralWidget(middle);
}

QDockWidget* MainWindow::dock(const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea area) {
  auto* made = new QDockWidget(title);
  made->setObjectName(name);
  made->setAccessibleName(title);
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
  auto* source = dock("Source", "source", source_ = new SourcePanel(context_), Qt::BottomDockWidgetArea);
  auto* code = dock("Code", "code", code_ = new CodePanel(context_), Qt::BottomDockWidgetArea);
  profile_source_ = new ProfileSource(context_, this);
  profile_ = new ProfilePanel(context_, *profile_source_);
  auto* profile = dock("Profile", "profile", profile_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(changes, source);
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
  changes->raise();
  setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
  resizeDocks({stages, inspector}, {300, 330}, Qt::Horizontal);
  resizeDocks({changes}, {230}, Qt::Vertical);
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
  auto* colour = new QComboBox;
  colour->addItems({"operator", "dtype", "time", "none"});
  colour->setAccessibleName("colour nodes by");
  connect(colour, &QComboBox::activated, this, [this](int i) {
    draw::DrawOptions options = context_.options();
    options.colour_by = static_cast<draw::ColourBy>(i);
    context_.set_options(options);
  });
  bar->addWidget(colour);
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

void MainWindow::build_menus() {
  auto* file = menuBar()->addMenu("&File");
  file->addAction("&Open …", QKeySequence::Open, this, &MainWindow::ask_open);
  file->addAction("&Export graph …", QKeySequence("Ctrl+E"), this, &MainWindow::ask_export);
  file->addSeparator();
  file->addAction("&Quit", QKeySequence::Quit, this, &QWidget::close);
  auto* view = menuBar()->addMenu("&View");
  for (const auto& [name, made] : docks_) view->addAction(made->toggleViewAction());
  view->addSeparator();
  theme_ = view->addAction("&Dark");
  theme_->setCheckable(true);
  theme_->setChecked(dark_theme());
  connect(theme_, &QAction::toggled, this, &MainWindow::set_dark);
  auto* go = menuBar()->addMenu("&Go");
  go->addAction("&Next stage", QKeySequence("J"), this, [this] { context_.step(1); });
  go->addAction("&Stage before", QKeySequence("K"), this, [this] { context_.step(-1); });
  go->addAction("&Find node", QKeySequence::Find, this, [this] {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
  });
  go->addAction("&Query", QKeySequence("Ctrl+Shift+F"), this, [this] {
    show_view("query");
    query_->box().setFocus(Qt::ShortcutFocusReason);
    query_->box().selectAll();
  });
  go->addAction("Next &match", QKeySequence("F3"), this, [this] { search(1); });
  go->addAction("Match &before", QKeySequence("Shift+F3"), this, [this] { search(-1); });
  int number = 1;
  for (const auto& name : views()) {
    // Alt+1 to Alt+9, then Alt+0.
    const QKeySequence keys = number <= 10 ? QKeySequence(QString("Alt+%1").arg(number++ % 10)) : QKeySequence();
    go->addAction(QString("Show %1").arg(qt(name)), keys, this, [this, name] { show_view(qt(name)); });
  }
  auto* help = menuBar()->addMenu("&Help");
  help->addAction("&Keys and pages", QKeySequence::HelpContents, this, &MainWindow::show_help);
}

void MainWindow::restore_layout() {
  QSettings settings;
  restoreGeometry(settings.value("geometry").toByteArray());
  restored_ = restoreState(settings.value("layout").toByteArray());
}

void MainWindow::arrange() {
  if (restored_) return;
  int left = std::clamp(width() * 26 / 100, 300, 440), right = std::clamp(width() * 25 / 100, 300, 480);
  resizeDocks({docks_["stages"], docks_["inspector"]}, {left, right}, Qt::Horizontal);
  resizeDocks({docks_["changes"]}, {std::clamp(height() * 28 / 100, 160, 340)}, Qt::Vertical);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (remember_) {
    QSettings settings;
    settings.setValue("geometry", saveGeometry());
    settings.setValue("layout", saveState());
    settings.setValue("dark", dark_theme());
  }
  QMainWindow::closeEvent(event);
}

bool MainWindow::show_view(const QString& name) {
  const auto& known = views();
  if (std::find(known.begin(), known.end(), name.toStdString()) == known.end()) {
    show_message(QString("unknown view '%1'; %2").arg(name, qt(suggest(name.toStdString(), known))));
    return false;
  }
  static const std::vector<std::string> below = {"changes",  "source", "code",     "profile", "timeline",
                                                 "problems", "guards", "roofline", "memory",  "query"};
  if (name == "overview") {
    show_overview(true);
    return true;
  }
  if (name == "graph") {
    show_overview(false);
    for (const auto& page : below) docks_[page]->hide();
    graph_->setFocus();
    return true;
  }
  QDockWidget* shown = docks_[name.toStdString()];
  bool at_bottom = std::find(below.begin(), below.end(), name.toStdString()) != below.end();
  if (at_bottom) {
    for (const auto& page : below) docks_[page]->show();
    resizeDocks({shown}, {height() / 2}, Qt::Vertical);
  }
  shown->show();
  shown->raise();
  return true;
}

void MainWindow::show_message(const QString& text) {
  message_->setText(text);
  message_bar_->show();
}

void MainWindow::step_shown() {
  const bool has_step = context_.step_data() != nullptr;
  if (has_step && had_step_) overview_shown_ = false;
  had_step_ = has_step || (had_step_ && context_.reader());
  searched_.clear();
  matches_.clear();
  found_->clear();
  show_page();
}

void MainWindow::show_page() {
  StepPtr step = context_.step_data();
  QWidget* page = graph_;
  if (!step)
    page = context_.path().isEmpty() ? static_cast<QWidget*>(welcome_) : graph_;
  else if (step->snapshot.kind == trace::SnapshotKind::Text)
    page = text_stage_;
  const bool no_graphs = context_.reader() && context_.compiles().empty();
  if (context_.reader() && (overview_shown_ || no_graphs)) page = overview_;
  centre_->setCurrentWidget(page);
  update_status();
}

/// The overview stands in the middle until somebody goes to a stage.
void MainWindow::show_overview(bool shown) {
  overview_shown_ = shown;
  show_page();
}

void MainWindow::update_status() {
  QStringList parts;
  if (auto compile = context_.compile()) parts << qt(compile->compile.name) + " " + qt(compile->compile.address);
  if (StepPtr step = context_.step_data()) {
    parts << qt(step->snapshot.stage);
    if (!step->nodes.empty())
      parts << QString("%1 nodes, %2 edges").arg(step->nodes.size()).arg(step->picture.edges.size());
    if (!step->picture.groups.empty() && step->picture.grouped_by == draw::GroupBy::Kernels)
      parts << QString("%1 fused kernels").arg(step->picture.groups.size());
    if (step->picture.nodes.size() != step->nodes.size()) parts << QString("%1 boxes").arg(step->picture.nodes.size());
    if (auto* node = step->find(context_.selection().node)) parts << "selected: " + qt(node->name);
  }
  if (context_.following())
    parts << "following: the trace is still being written";
  else if (!context_.queue().idle())
    parts << "loading …";
  status_->setText("  " + parts.join("   ·   "));
}

// ------------------------------------------------------------------------------------------------------------ search

void MainWindow::search(int direction) {
  QString text = search_->text().trimmed();
  StepPtr step = context_.step_data();
  if (text.isEmpty() || !step) {
    matches_.clear();
    searched_.clear();
    found_->clear();
    return context_.set_marked({});
  }
  if (text != searched_) {
    matches_.clear();
    auto has = [&](const std::string& field) { return qt(field).contains(text, Qt::CaseInsensitive); };
    for (const auto& node : step->nodes)
      if (has(node.name) || has(node.target) || has(node.type) || has(node.module)) matches_.push_back(node.id);
    std::stable_partition(matches_.begin(), matches_.end(),
                          [&](trace::NodeId id) { return qt(step->find(id)->name) == text; });
    searched_ = text;
    match_ = 0;
  } else if (!matches_.empty()) {
    match_ = (match_ + matches_.size() + static_cast<size_t>(direction + static_cast<int>(matches_.size()))) %
             matches_.size();
  }
  context_.set_marked(matches_);
  if (matches_.empty()) return found_->setText("no match  ");
  found_->setText(QString("%1 of %2  ").arg(match_ + 1).arg(matches_.size()));
  context_.select_node(matches_[match_]);
  graph_->centre_on(matches_[match_]);
}

// ------------------------------------------------------------------------------------------------- files and dialogs

void MainWindow::open_file(const QString& path) {
  overview_shown_ = true;
  context_.open({path, {}, {}, {}});
}

void MainWindow::ask_open() {
  QString path = QFileDialog::getOpenFileName(this, "Open trace", QFileInfo(context_.path()).path(),
                                              "Traces (*.strata);;All files (*)");
  if (!path.isEmpty()) open_file(path);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  if (event->mimeData()->hasUrls()) open_file(event->mimeData()->urls().front().toLocalFile());
}

/// In a text field the platform takes Ctrl+E for "end of line"; here it exports. Esc gives the keys back to the graph.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  bool is_key = event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
  if (watched != search_ || !is_key) return QMainWindow::eventFilter(watched, event);
  auto* key = static_cast<QKeyEvent*>(event);
  if (event->type() == QEvent::ShortcutOverride && key->matches(QKeySequence::MoveToEndOfLine) &&
      key->key() == Qt::Key_E) {
    event->ignore();
    return true;
  }
  if (event->type() == QEvent::KeyPress && key->key() == Qt::Key_Escape) {
    graph_->setFocus();
    return true;
  }
  return false;
}

void MainWindow::ask_export() {
  StepPtr step = context_.step_data();
  if (!step || step->nodes.empty()) return show_message("this stage has no graph to export; choose a stage with nodes");
  QString stage = qt(step->snapshot.stage);
  stage.replace(':', '_').replace('#', '_').replace('/', '_');
  QString chosen;
  QString path = QFileDialog::getSaveFileName(this, "Export graph", stage + ".svg",
                                              "SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;Graphviz DOT (*.dot)", &chosen);
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) path += "." + chosen.section("*.", 1).section(')', 0, 0);
  export_to(path);
}

void MainWindow::export_to(const QString& path) {
  StepPtr step = context_.step_data();
  if (!step || step->nodes.empty()) return show_message("this stage has no graph to export; choose a stage with nodes");
  draw::DrawOptions options = context_.options();
  options.dark = dark_theme();
  context_.queue().post("export", [this, step, options, path]() -> JobQueue::Apply {
    draw::Format format = draw::parse_format(QFileInfo(path).suffix().toLower().toStdString());
    draw::write_file(path.toStdString(), draw::render(step->picture, step->layout, format, options));
    return [this, path] { statusBar()->showMessage("exported " + path, 8000); };
  });
}

void MainWindow::show_help() {
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle("Keys and pages");
  dialog->resize(640, 560);
  auto* text = new QTextBrowser;
  text->setAccessibleName("help");
  text->setHtml(help_page());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* layout = new QVBoxLayout(dialog);
  layout->addWidget(text);
  layout->addWidget(buttons);
  dialog->show();
}

void MainWindow::set_dark(bool dark) {
  apply_theme(dark);
  draw::DrawOptions options = context_.options();
  options.dark = dark;
  context_.set_options(options);
  for (CodeView* view : findChildren<CodeView*>()) view->theme_changed();
  overview_->theme_changed();
  update();
}

}  // namespace strata::studio
