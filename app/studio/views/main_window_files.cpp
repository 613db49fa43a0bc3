// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Opening, importing, export, theme.
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <filesystem>

#include "app/draw/export.h"
#include "app/studio/views/export_dialog.h"
#include "app/studio/views/main_window.h"
#include "app/studio/views/theme.h"
#include "app/studio/views/view_export.h"
#include "app/studio/views/welcome.h"
#include "core/support/error.h"

namespace strata::studio {

void MainWindow::open_file(const QString& path) { open_files({path}); }

void MainWindow::open_files(const QStringList& paths) {
  if (paths.isEmpty()) return;
  if (paths.size() > 1 || !is_trace(paths.front())) {
    message_bar_->hide();
    task_->show_progress(QString("Importing %1 …").arg(QFileInfo(paths.front()).fileName()), -1);
    return import_.start(paths);
  }
  if (import_.running()) import_.cancel();
  imported_from_.clear();
  overview_shown_ = true;
  context_.open({paths.front(), {}, {}, {}});
}

void MainWindow::build_tasks() {
  connect(task_, &TaskBar::cancelled, this, [this] {
    import_.cancel();
    report_.cancel();
    task_->show_progress("Stopping …", -1);
  });
  connect(&import_, &ImportJob::progress, this,
          [this](double part, const QString& what) { task_->show_progress("Importing: " + what, part); });
  connect(&import_, &ImportJob::done, this, [this](const QString& trace, const QString& from) {
    task_->hide();
    imported_from_ = QFileInfo(from).absoluteFilePath();
    overview_shown_ = true;
    context_.open({trace, {}, {}, {}});
  });
  connect(&import_, &ImportJob::failed, this, [this](const QString& text) {
    task_->hide();
    show_message(text);
  });
  connect(&import_, &ImportJob::cancelled, this, [this] {
    task_->hide();
    statusBar()->showMessage("the import was cancelled", 8000);
  });
  connect(&report_, &ReportJob::progress, this, [this](double part, const QString& what) {
    if (report_.running()) task_->show_progress("Writing the report: " + what, part);
  });
  connect(&report_, &ReportJob::done, this, [this](const QString& path) {
    task_->hide();
    statusBar()->showMessage("exported " + path, 8000);
  });
  connect(&report_, &ReportJob::failed, this, [this](const QString& text) {
    task_->hide();
    show_message(text);
  });
  connect(&report_, &ReportJob::cancelled, this, [this] {
    task_->hide();
    statusBar()->showMessage("the report was cancelled", 8000);
  });
}

void MainWindow::reload() {
  if (!imported_from_.isEmpty()) return open_file(imported_from_);
  if (context_.path().isEmpty()) return;
  const SavedView here = present_view(context_);
  const bool overview = overview_shown_;
  context_.open({context_.path(), here.graph, here.stage, here.node});
  overview_shown_ = overview;
}

void MainWindow::ask_open() {
  const QString path = QFileDialog::getOpenFileName(this, "Open", QFileInfo(context_.path()).path(),
                                                    "Traces (*.strata);;PyTorch logs, profiles and programs (*.log "
                                                    "*.json *.json.gz *.gz *.txt *.pt2);;All files (*)");
  if (!path.isEmpty()) open_file(path);
}

void MainWindow::ask_compare() {
  const QString path = QFileDialog::getOpenFileName(this, "Compare with", QFileInfo(context_.path()).path(),
                                                    "Traces (*.strata);;All files (*)");
  if (!path.isEmpty()) compare_with(path);
}

void MainWindow::compare_with(const QString& path) {
  compare_->comparison().open_other(path);
  show_view("compare");
}

void MainWindow::ask_import() {
  const QString path =
      QFileDialog::getExistingDirectory(this, "Open a folder of PyTorch", QFileInfo(context_.path()).path());
  if (!path.isEmpty()) open_file(path);
}

void MainWindow::ask_copy() {
  if (context_.path().isEmpty()) return show_message("there is no trace to save; open one first");
  const QString name = QFileInfo(context_.path()).fileName();
  const QString path = QFileDialog::getSaveFileName(this, "Save a copy of the trace", name, "Traces (*.strata)");
  if (path.isEmpty() || QFileInfo(path) == QFileInfo(context_.path())) return;
  context_.queue().post("copy", [this, from = context_.path(), path]() -> JobQueue::Apply {
    const QString part = path + ".part";
    QFile::remove(part);
    std::error_code failed;
    const bool copied = QFile::copy(from, part);
    if (copied) std::filesystem::rename(part.toStdString(), path.toStdString(), failed);
    if (!copied || failed) {
      QFile::remove(part);
      throw_user("cannot write '" + path.toStdString() + "'", "check that the folder exists and is writable");
    }
    return [this, path] { statusBar()->showMessage("saved " + path, 8000); };
  });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) paths << url.toLocalFile();
  if (event->modifiers() & Qt::ShiftModifier && !paths.isEmpty()) return compare_with(paths.front());
  open_files(paths);
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

// ------------------------------------------------------------------------------------------------------------ export

QWidget* MainWindow::page_widget(const QString& page) {
  if (page == "graph" || page == "overview") return centre_->currentWidget();
  const auto found = docks_.find(page.toStdString());
  return found == docks_.end() ? nullptr : found->second->widget();
}

/// The page in the middle, then those that are in sight, then the others that are open.
QStringList MainWindow::open_pages() const {
  QStringList seen = {centre_->currentWidget() == overview_ ? "overview" : "graph"}, behind;
  for (const auto& [name, made] : docks_) {
    if (!made->toggleViewAction()->isChecked()) continue;
    const bool in_sight = made->isVisible() && !made->visibleRegion().isEmpty();
    (in_sight ? seen : behind) << qt(name);
  }
  return seen + behind;
}

void MainWindow::ask_export() {
  const StepPtr step = context_.step_data();
  if (!context_.reader()) return show_message("there is nothing to export; open a trace first");
  const QString graph = step && !step->nodes.empty() ? qt(step->snapshot.stage) : QString();
  std::vector<ExportDialog::Page> pages;
  for (const QString& name : open_pages()) {
    const QWidget* page = page_widget(name);
    const auto found = docks_.find(name.toStdString());
    if (page) pages.push_back({name, found == docks_.end() ? name : found->second->windowTitle(), view_formats(*page)});
  }
  const QString page = focused_page();
  const QString folder = QFileInfo(QSettings().value("export_folder").toString()).isDir()
                             ? QSettings().value("export_folder").toString()
                             : QDir::currentPath();
  ExportDialog dialog(graph, std::move(pages), page == "graph" ? QString() : page, folder, this);
  if (dialog.exec() != QDialog::Accepted) return;
  const ExportChoice choice = dialog.choice();
  if (remember_) QSettings().setValue("export_folder", QFileInfo(choice.path).absolutePath());
  choice.page.isEmpty() ? export_to(choice.path) : export_page(choice.page, choice.path);
}

void MainWindow::ask_report() {
  if (!context_.reader()) return show_message("there is nothing to report; open a trace first");
  const QString name = QFileInfo(context_.path()).completeBaseName() + ".html";
  const QString path = QFileDialog::getSaveFileName(this, "Export report", name, "HTML (*.html)");
  if (!path.isEmpty()) report_to(QFileInfo(path).suffix().isEmpty() ? path + ".html" : path);
}

void MainWindow::report_to(const QString& path) {
  task_->show_progress("Writing the report …", -1);
  report_.start(context_.path(), path);
}

void MainWindow::export_page(const QString& page, const QString& path) {
  if (!show_view(page)) return;
  auto* timer = new QTimer(this);
  connect(timer, &QTimer::timeout, this, [this, timer, page, path] {
    if (!context_.queue().idle()) return;
    timer->deleteLater();
    timer->stop();
    if (export_page_now(page, path)) statusBar()->showMessage("exported " + path, 8000);
  });
  timer->start(20);
}

bool MainWindow::export_page_now(const QString& page, const QString& path) {
  QWidget* widget = page_widget(page);
  try {
    if (!widget) throw_user("there is no page '" + page.toStdString() + "'");
    const StepPtr step = context_.step_data();
    if (page == "graph" && QFileInfo(path).suffix().toLower() == "dot" && step && !step->nodes.empty()) {
      draw::DrawOptions options = context_.options();
      draw::write_file(path.toStdString(), draw::to_dot(step->picture, options));
    } else {
      export_view(*widget, path);
    }
    return true;
  } catch (const Error& error) {
    show_message(QString::fromUtf8(error.what()));
    return false;
  }
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

void MainWindow::set_dark(bool dark) {
  apply_theme(dark);
  draw::DrawOptions options = context_.options();
  options.dark = dark;
  context_.set_options(options);
  for (CodeView* view : findChildren<CodeView*>()) view->theme_changed();
  overview_->theme_changed();
  welcome_->fill();
  update();
}

void MainWindow::set_text_size(double scale) {
  set_text_scale(scale);
  if (remember_) QSettings().setValue("text_scale", scale);
  set_dark(dark_theme());
  for (CodeView* view : findChildren<CodeView*>()) view->setFont(code_font());
}

}  // namespace strata::studio
