// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// The menus of the window, and what stands behind them: workspaces, saved views, help.
#include <QActionGroup>
#include <QCheckBox>
#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QInputDialog>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QTextBrowser>

#include "app/studio/models/user_groups.h"
#include "app/studio/views/graph_controls.h"
#include "app/studio/views/help.h"
#include "app/studio/views/main_window.h"
#include "app/studio/views/theme.h"

namespace strata::studio {
namespace {

struct Workspace {
  const char* name;
  const char* title;
  std::vector<std::string> pages;  ///< the first of those below stands in front
};

const std::vector<Workspace>& workspaces() {
  static const std::vector<Workspace> all = {
      {"graph", "&Graph", {"stages", "inspector"}},
      {"source", "&Source", {"stages", "source", "code", "guards", "problems", "inspector"}},
      {"profile", "&Profile", {"profile", "timeline", "roofline", "memory", "query", "inspector"}},
      {"compare", "&Compare", {"compare", "changes", "stages"}},
  };
  return all;
}

}  // namespace

void MainWindow::build_menus() {
  build_file_menu();
  build_edit_menu();
  build_view_menu();
  build_go_menu();
  build_help_menu();
}

void MainWindow::build_file_menu() {
  auto* file = menuBar()->addMenu("&File");
  file->addAction("&Open …", QKeySequence::Open, this, &MainWindow::ask_open);
  file->addAction("Open &folder …", QKeySequence("Ctrl+Shift+I"), this, &MainWindow::ask_import)
      ->setToolTip("Make a trace of a folder of PyTorch's logs, profiles and debug files");
  recent_menu_ = file->addMenu("Open &recent");
  connect(&recent_, &RecentFiles::changed, this, &MainWindow::list_recent);
  list_recent();
  file->addAction("Compare &with …", QKeySequence("Ctrl+Shift+O"), this, &MainWindow::ask_compare);
  file->addAction("Re&load", QKeySequence("F5"), this, &MainWindow::reload);
  file->addSeparator();
  file->addAction("Save a &copy of the trace …", this, &MainWindow::ask_copy);
  file->addAction("&Export …", QKeySequence("Ctrl+E"), this, &MainWindow::ask_export);
  file->addAction("Export re&port …", QKeySequence("Ctrl+Shift+E"), this, &MainWindow::ask_report);
  file->addSeparator();
  file->addAction("&Quit", QKeySequence("Ctrl+Q"), this, &QWidget::close);
}

void MainWindow::build_edit_menu() {
  auto* edit = menuBar()->addMenu("&Edit");
  auto* undo = context_.undo().createUndoAction(this, "&Undo");
  auto* redo = context_.undo().createRedoAction(this, "&Redo");
  undo->setShortcut(QKeySequence("Ctrl+Z"));
  redo->setShortcuts({QKeySequence("Ctrl+Y"), QKeySequence("Ctrl+Shift+Z")});
  undo->setStatusTip("Take the last change of the layout back");
  redo->setStatusTip("Make it again");
  edit->addActions({undo, redo});
  edit->addSeparator();
  new GroupHistory(context_, this);
  edit->addActions(grouping_actions(context_, *new UserGroups(context_, remember_, {}, this), *graph_));
}

void MainWindow::build_view_menu() {
  auto* view = menuBar()->addMenu("&View");
  auto* pages = view->addMenu("&Pages");
  for (const auto& [name, made] : docks_) pages->addAction(made->toggleViewAction());
  auto* presets = view->addMenu("&Workspace");
  int number = 1;
  for (const Workspace& workspace : workspaces())
    presets->addAction(workspace.title, QKeySequence(QString("Ctrl+Alt+%1").arg(number++)), this,
                       [this, name = QString(workspace.name)] { show_workspace(name); });
  view->addAction("&Reset layout", this, &MainWindow::reset_layout);
  view->addSeparator();
  view->addActions(panes_->make_actions(this));
  view->addSeparator();
  view->addAction("&Save view …", QKeySequence("Ctrl+S"), this, &MainWindow::ask_save_view);
  saved_menu_ = view->addMenu("Saved &views");
  connect(&saved_, &SavedViews::changed, this, &MainWindow::list_saved);
  connect(&context_, &Context::traceOpened, this, &MainWindow::list_saved);
  list_saved();
  view->addSeparator();
  auto* sizes = view->addMenu("&Text size");
  auto* group = new QActionGroup(this);
  for (const int percent : {100, 125, 150, 200}) {
    auto* size =
        sizes->addAction(QString("%1 %").arg(percent), this, [this, percent] { set_text_size(percent / 100.0); });
    size->setCheckable(true);
    size->setChecked(qRound(text_scale() * 100) == percent);
    group->addAction(size);
  }
  theme_ = view->addAction("&Dark");
  theme_->setShortcut(QKeySequence("Ctrl+Shift+D"));
  theme_->setCheckable(true);
  theme_->setChecked(dark_theme());
  connect(theme_, &QAction::toggled, this, &MainWindow::set_dark);
}

void MainWindow::build_go_menu() {
  auto* go = menuBar()->addMenu("&Go");
  go->addAction("&Next stage", QKeySequence("J"), this, [this] {
    if (!panes_->step(1)) context_.step(1);
  });
  go->addAction("&Stage before", QKeySequence("K"), this, [this] {
    if (!panes_->step(-1)) context_.step(-1);
  });
  go->addAction("Next &rewrite", QKeySequence("Shift+J"), this, [this] { context_.step_rewrite(1); });
  go->addAction("Rewrite &before", QKeySequence("Shift+K"), this, [this] { context_.step_rewrite(-1); });
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
  go->addSeparator();
  int number = 1;
  for (const auto& name : views()) {
    // Alt+1 to Alt+9, then Alt+0.
    const QKeySequence keys = number <= 10 ? QKeySequence(QString("Alt+%1").arg(number++ % 10)) : QKeySequence();
    go->addAction(QString("Show %1").arg(qt(name)), keys, this, [this, name] { show_view(qt(name)); });
  }
}

void MainWindow::build_help_menu() {
  auto* help = menuBar()->addMenu("&Help");
  help->addAction("&This page", QKeySequence("F1"), this, [this] { show_help(focused_page()); });
  help->addAction("&All keys", QKeySequence("Ctrl+F1"), this, [this] { show_help("keys"); });
  help->addAction("&Pages", this, [this] { show_help({}); });
  help->addSeparator();
  help->addAction("About &Strata Studio", this, &MainWindow::about);
}

// ------------------------------------------------------------------------------------------------------ recent files

void MainWindow::list_recent() {
  recent_menu_->clear();
  int number = 1;
  for (const RecentFile& file : recent_.all()) {
    QString text = QFileInfo(file.path).fileName().replace('&', "&&") + "    " + QFileInfo(file.path).path();
    if (!file.exists()) text += "  (missing)";
    auto* action = recent_menu_->addAction(QString("&%1 %2").arg(number++ % 10).arg(text), this,
                                           [this, path = file.path] { open_file(path); });
    action->setEnabled(file.exists());
  }
  if (!recent_.all().empty()) {
    recent_menu_->addSeparator();
    recent_menu_->addAction("&Clear", &recent_, &RecentFiles::clear);
  }
  recent_menu_->setEnabled(!recent_.all().empty());
}

// -------------------------------------------------------------------------------------------------------- workspaces

void MainWindow::show_workspace(const QString& name) {
  for (const Workspace& workspace : workspaces()) {
    if (name != workspace.name) continue;
    if (context_.step_data()) show_overview(false);
    QDockWidget* front = nullptr;
    for (const auto& [page, made] : docks_) {
      const bool shown = std::find(workspace.pages.begin(), workspace.pages.end(), page) != workspace.pages.end();
      made->setVisible(shown);
    }
    for (const std::string& page : workspace.pages)
      if (const auto found = docks_.find(page);
          !front && found != docks_.end() && dockWidgetArea(found->second) == Qt::BottomDockWidgetArea)
        front = found->second;
    if (front) {
      front->raise();
      resizeDocks({front}, {height() / 2}, Qt::Vertical);
    }
  }
  layout_->look();
}

void MainWindow::reset_layout() {
  restoreState(first_layout_);
  restored_ = false;
  arrange();
  layout_->look();
}

QString MainWindow::focused_page() const {
  const QWidget* focus = focusWidget();
  for (const auto& [name, made] : docks_)
    if (focus && made->isAncestorOf(focus) && made->isVisible()) return qt(name);
  return centre_->currentWidget() == overview_ ? "overview" : "graph";
}

// ------------------------------------------------------------------------------------------------------- saved views

void MainWindow::list_saved() {
  saved_menu_->clear();
  const SavedView here = present_view(context_);
  for (const SavedView& view : saved_.of(here.trace))
    saved_menu_->addAction(QString(view.name).replace('&', "&&"), this, [this, view] { show_saved_view(view); });
  if (!saved_.all().empty()) {
    saved_menu_->addSeparator();
    saved_menu_->addAction("&Rename or delete …", this, &MainWindow::manage_views);
  }
  saved_menu_->setEnabled(!saved_.all().empty());
}

void MainWindow::save_view(const QString& name, bool everywhere) {
  SavedView view = present_view(context_);
  view.name = name.trimmed();
  view.query = query_->box().text().trimmed();
  view.page = focused_page();
  view.layout = saveState();
  if (everywhere) view.trace = view.graph = view.stage = view.node = {};
  saved_.save(view);
}

void MainWindow::show_saved_view(const SavedView& view) {
  if (!view.layout.isEmpty() && !restoreState(view.layout))
    show_message(QString("the layout of the view '%1' is not one of this program").arg(view.name));
  layout_->look();
  query_->box().setText(view.query);
  show_overview(view.page == "overview");
  if (const auto page = docks_.find(view.page.toStdString()); page != docks_.end()) page->second->raise();
  show_saved(context_, view);
}

void MainWindow::ask_save_view() {
  QDialog dialog(this);
  dialog.setWindowTitle("Save view");
  auto* form = new QFormLayout(&dialog);
  auto* name = new QLineEdit;
  name->setAccessibleName("name of the view");
  auto* everywhere = new QCheckBox("For &every trace: layout, grouping and query only");
  everywhere->setAccessibleName("for every trace");
  everywhere->setChecked(context_.path().isEmpty());
  everywhere->setEnabled(!context_.path().isEmpty());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
  connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  buttons->button(QDialogButtonBox::Save)->setEnabled(false);
  connect(name, &QLineEdit::textChanged, buttons, [buttons](const QString& text) {
    buttons->button(QDialogButtonBox::Save)->setEnabled(!text.trimmed().isEmpty());
  });
  form->addRow("&Name:", name);
  form->addRow(everywhere);
  form->addRow(buttons);
  if (dialog.exec() == QDialog::Accepted) save_view(name->text(), everywhere->isChecked());
}

void MainWindow::manage_views() {
  QDialog dialog(this);
  dialog.setWindowTitle("Saved views");
  auto* column = new QVBoxLayout(&dialog);
  auto* list = new QListWidget;
  list->setAccessibleName("saved views");
  const auto fill = [this, list] {
    list->clear();
    for (const SavedView& view : saved_.all()) {
      auto* item = new QListWidgetItem(
          view.name + "   (" + (view.trace.isEmpty() ? "every trace" : QFileInfo(view.trace).fileName()) + ")", list);
      item->setData(Qt::UserRole, view.trace);
      item->setData(Qt::UserRole + 1, view.name);
    }
    list->setCurrentRow(0);
  };
  fill();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* rename = buttons->addButton("&Rename …", QDialogButtonBox::ActionRole);
  auto* remove = buttons->addButton("&Delete", QDialogButtonBox::ActionRole);
  connect(rename, &QPushButton::clicked, &dialog, [&] {
    const auto* item = list->currentItem();
    if (!item) return;
    const QString old = item->data(Qt::UserRole + 1).toString();
    const QString name = QInputDialog::getText(&dialog, "Rename view", "Name:", QLineEdit::Normal, old).trimmed();
    if (!name.isEmpty() && name != old && !saved_.rename(item->data(Qt::UserRole).toString(), old, name))
      QMessageBox::information(&dialog, "Rename view", QString("There is a view '%1' already.").arg(name));
    fill();
  });
  connect(remove, &QPushButton::clicked, &dialog, [&] {
    if (const auto* item = list->currentItem())
      saved_.remove(item->data(Qt::UserRole).toString(), item->data(Qt::UserRole + 1).toString());
    fill();
  });
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  column->addWidget(list);
  column->addWidget(buttons);
  dialog.resize(scaled(420), scaled(300));
  dialog.exec();
}

// -------------------------------------------------------------------------------------------------------------- help

void MainWindow::show_help(const QString& page) {
  if (!help_) {
    help_ = new QDialog(this);
    help_->setAttribute(Qt::WA_DeleteOnClose);
    help_->setWindowTitle("Help");
    help_->resize(scaled(660), std::min(scaled(620), height()));
    auto* text = new QTextBrowser;
    text->setAccessibleName("help");
    text->setOpenLinks(false);
    connect(text, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& link) { show_help(link.scheme() == "keys" ? QString("keys") : link.path()); });
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, help_, &QDialog::reject);
    auto* layout = new QVBoxLayout(help_);
    layout->addWidget(text);
    layout->addWidget(buttons);
  }
  help_->findChild<QTextBrowser*>()->setHtml(page == "keys"   ? shortcuts_page(*this)
                                             : page.isEmpty() ? help_index()
                                                              : help_page(page));
  help_->show();
  help_->raise();
  help_->activateWindow();
}

void MainWindow::about() {
  const QString version = QCoreApplication::applicationVersion();
  QMessageBox::about(
      this, "About Strata Studio",
      QString("<h3>Strata Studio %1</h3><p>Shows traces of Strata: every stage of every compiled graph, the "
              "kernels, their code and their times.</p><p>Apache License 2.0</p>")
          .arg(version));
}

}  // namespace strata::studio
