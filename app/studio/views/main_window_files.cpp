// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Opening, export, help, theme.
#include "app/studio/views/main_window.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMimeData>
#include <QStatusBar>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "app/draw/export.h"
#include "app/studio/views/help.h"
#include "app/studio/views/theme.h"

namespace strata::studio {

void MainWindow::open_file(const QString& path) {
  overview_shown_ = true;
  context_.open({path, {}, {}, {}});
}

void MainWindow::ask_open() {
  QString path = QFileDialog::getOpenFileName(this, "Open trace", QFileInfo(context_.path()).path(),
                                              "Traces (*.strata);;All files (*)");
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

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  if (event->modifiers() & Qt::ShiftModifier && event->mimeData()->hasUrls())
    return compare_with(event->mimeData()->urls().front().toLocalFile());
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
