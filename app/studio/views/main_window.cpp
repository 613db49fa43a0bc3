// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/main_window.h"

#include <QAction>
#include <QCloseEvent>
#include <QCryptographicHash>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTabBar>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/draw/export.h"
#include "app/studio/views/copy.h"
#include "app/studio/views/graph_controls.h"
#include "app/studio/views/progress_strip.h"
#include "app/studio/views/theme.h"
#include "app/studio/views/welcome.h"
#include "core/support/error.h"

namespace strata::studio {

MainWindow::MainWindow(Context& context, bool remember, QWidget* parent)
    : QMainWindow(parent), context_(context), remember_(remember), recent_(remember), saved_(remember) {
  setWindowTitle("Strata Studio");
  setWindowIcon(program_icon());
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setAnimated(false);
  resize(1280, 800);
  build_centre();
  build_docks();
  first_layout_ = saveState();
  layout_ = new LayoutHistory(*this, context_.undo());
  build_toolbar();
  build_menus();
  build_tasks();
  new CopyEverywhere(*this);
  status_ = new QLabel;
  status_->setAccessibleName("status");
  status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // its text must not make the window wide
  statusBar()->addWidget(status_, 1);
  statusBar()->addPermanentWidget(new ProgressStrip(context_.queue()));
  connect(&context_, &Context::message, this, &MainWindow::show_message);
  connect(&context_, &Context::stepChanged, this, &MainWindow::step_shown);
  connect(&context_, &Context::selectionChanged, this, [this] {
    if (overview_shown_ && !context_.selection().empty()) return show_overview(false);
    update_status();
  });
  connect(&context_.queue(), &JobQueue::busyChanged, this, &MainWindow::update_status);
  connect(&context_, &Context::traceOpened, this, [this] {
    const QString shown = imported_from_.isEmpty() ? context_.path() : imported_from_;
    setWindowTitle(QFileInfo(shown).fileName() + " – Strata Studio");
    setWindowFilePath(shown);
    recent_.add(shown);
    if (opened_ != context_.path()) context_.undo().clear();
    opened_ = context_.path();
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
  static const std::vector<std::string> names = {"graph",  "changes",  "source",   "code",     "profile", "inspector",
                                                 "stages", "timeline", "overview", "problems", "guards",  "roofline",
                                                 "memory", "query",    "compare",  "diff"};
  return names;
}

namespace {

/// Settings may come from another version, or be damaged: what was not written by `remember_layout` is not used.
QByteArray check_of(const QByteArray& geometry, const QByteArray& layout) {
  return QCryptographicHash::hash(geometry + '|' + layout, QCryptographicHash::Sha1).toHex();
}

}  // namespace

void MainWindow::restore_layout() {
  QSettings settings;
  const QByteArray geometry = settings.value("geometry").toByteArray(), layout = settings.value("layout").toByteArray();
  if (layout.isEmpty() || settings.value("layout_check").toByteArray() != check_of(geometry, layout)) return;
  restoreGeometry(geometry);
  restored_ = restoreState(layout);
  if (!restored_) restoreState(first_layout_);
}

void MainWindow::remember_layout() {
  QSettings settings;
  const QByteArray geometry = saveGeometry(), layout = saveState();
  settings.setValue("geometry", geometry);
  settings.setValue("layout", layout);
  settings.setValue("layout_check", check_of(geometry, layout));
  settings.setValue("dark", dark_theme());
}

void MainWindow::arrange() {
  QTimer::singleShot(0, layout_, &LayoutHistory::start);  // the window takes its sizes when it is shown
  if (restored_) return;
  int left = std::clamp(width() * 26 / 100, 300, 440), right = std::clamp(width() * 25 / 100, 300, 480);
  resizeDocks({docks_["stages"], docks_["inspector"]}, {left, right}, Qt::Horizontal);
  resizeDocks({docks_["changes"]}, {std::clamp(height() * 28 / 100, 160, 340)}, Qt::Vertical);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (remember_) remember_layout();
  import_.cancel();
  report_.cancel();
  QMainWindow::closeEvent(event);
}

/// Tabs of pages keep their whole names; where there is no room for all, they scroll.
void MainWindow::childEvent(QChildEvent* event) {
  QMainWindow::childEvent(event);
  auto* tabs = event->polished() ? qobject_cast<QTabBar*>(event->child()) : nullptr;
  if (!tabs) return;
  tabs->setElideMode(Qt::ElideNone);
  tabs->setUsesScrollButtons(true);
  tabs->setFocusPolicy(Qt::TabFocus);
  tabs->setAccessibleName("pages");
}

bool MainWindow::show_view(const QString& name) {
  const auto& known = views();
  if (std::find(known.begin(), known.end(), name.toStdString()) == known.end()) {
    show_message(QString("unknown view '%1'; %2").arg(name, qt(suggest(name.toStdString(), known))));
    return false;
  }
  std::vector<std::string> below;
  for (const auto& [page, made] : docks_)
    if (dockWidgetArea(made) == Qt::BottomDockWidgetArea && !made->isFloating()) below.push_back(page);
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
    resizeDocks({shown}, {name == "compare" ? height() * 2 / 3 : height() / 2}, Qt::Vertical);
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
  show_rewrite_place();
}

/// A rewrite may have happened anywhere in a tall graph: it is brought into view, unless some of it is in view already.
void MainWindow::show_rewrite_place() {
  const StepPtr step = context_.step_data();
  if (!step || !step->rewrite) return;
  const trace::RewriteRecord& rewrite = step->rewrites[*step->rewrite];
  trace::NodeId first = 0;
  for (const auto* nodes : {&rewrite.after, &rewrite.before})
    for (const trace::NodeId node : *nodes) {
      const QRectF place = graph_->node_rect(node);
      if (place.isNull()) continue;
      if (QRectF(graph_->rect()).adjusted(20, 20, -20, -20).contains(place.center())) return;
      if (!first) first = node;
    }
  if (first) graph_->centre_on(first);
}

void MainWindow::show_page() {
  StepPtr step = context_.step_data();
  QWidget* page = graph_page_;
  if (!step) page = context_.path().isEmpty() ? static_cast<QWidget*>(welcome_) : graph_page_;
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
    parts << qt(step->snapshot.stage) + (step->rewrite ? QString(", rewrite %1").arg(*step->rewrite + 1) : QString());
    if (!step->nodes.empty())
      parts << QString("%1 nodes, %2 edges").arg(step->nodes.size()).arg(step->picture.edges.size());
    if (!step->picture.groups.empty() && step->picture.grouped_by == draw::GroupBy::Kernels)
      parts << QString("%1 fused kernels").arg(step->picture.groups.size());
    const auto& boxes = step->picture.nodes;
    const auto drawn = std::count_if(boxes.begin(), boxes.end(),
                                     [](const auto& node) { return node.state != draw::NodeState::Removed; });
    if (static_cast<size_t>(drawn) != step->nodes.size()) parts << QString("%1 boxes").arg(drawn);
    if (auto* node = step->find(context_.selection().node)) parts << "selected: " + qt(node->name);
  }
  if (context_.following())
    parts << "following: the trace is still being written";
  else if (!context_.queue().idle())
    parts << "loading …";
  for (QString& part : parts) part = part.left(200);
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

}  // namespace strata::studio
