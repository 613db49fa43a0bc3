// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/export_dialog.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <algorithm>

namespace strata::studio {
namespace {

QString format_title(const QString& format) {
  if (format == "dot") return "Graphviz DOT (dot)";
  if (format == "csv") return "Table (csv)";
  if (format == "txt") return "Text (txt)";
  return QString("%1 (%2)").arg(format.toUpper(), format);
}

QString file_name(QString text) {
  for (QChar& c : text)
    if (!c.isLetterOrNumber() && c != '-' && c != '.') c = '_';
  return text.isEmpty() ? "export" : text;
}

}  // namespace

ExportDialog::ExportDialog(const QString& graph, std::vector<Page> pages, const QString& current, const QString& folder,
                           QWidget* parent)
    : QDialog(parent),
      graph_(graph),
      folder_(folder),
      pages_(std::move(pages)),
      what_(new QComboBox),
      format_(new QComboBox),
      path_(new QLineEdit) {
  setWindowTitle("Export");
  auto* form = new QFormLayout(this);
  auto* row = new QHBoxLayout;
  auto* browse = new QPushButton("&Browse …");
  browse->setAccessibleName("choose the file");
  browse->setAutoDefault(false);
  row->addWidget(path_, 1);
  row->addWidget(browse);
  form->addRow("&What:", what_);
  form->addRow("&Format:", format_);
  form->addRow("F&ile:", row);
  static_cast<QLabel*>(form->labelForField(row))->setBuddy(path_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  accept_ = buttons->addButton("&Export", QDialogButtonBox::AcceptRole);
  form->addRow(buttons);
  what_->setAccessibleName("what is exported");
  format_->setAccessibleName("format");
  path_->setAccessibleName("file to write");
  path_->setMinimumWidth(path_->fontMetrics().averageCharWidth() * 50);
  if (!graph_.isEmpty()) what_->addItem(QString("Whole graph of %1").arg(graph_), QString());
  for (const Page& page : pages_) what_->addItem("This view: " + page.title, page.name);
  if (const int at = what_->findData(current); at >= 0) what_->setCurrentIndex(at);
  connect(what_, &QComboBox::currentIndexChanged, this, &ExportDialog::list_formats);
  connect(format_, &QComboBox::currentIndexChanged, this, &ExportDialog::offer_path);
  connect(path_, &QLineEdit::textChanged, this, [this](const QString& text) { accept_->setEnabled(!text.isEmpty()); });
  connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  list_formats();
}

void ExportDialog::list_formats() {
  const QString page = what_->currentData().toString(), before = format_->currentData().toString();
  QStringList formats = {"svg", "png", "pdf", "dot"};
  for (const Page& known : pages_)
    if (!page.isEmpty() && known.name == page) formats = known.formats;
  const QSignalBlocker block(format_);
  format_->clear();
  for (const QString& format : formats) format_->addItem(format_title(format), format);
  format_->setCurrentIndex(std::max(0, format_->findData(before)));
  offer_path();
}

void ExportDialog::offer_path() {
  const QString format = format_->currentData().toString();
  if (!path_->text().isEmpty() && path_->text() != offered_) {
    const QFileInfo typed(path_->text());
    path_->setText(QDir(typed.path()).filePath(typed.completeBaseName() + "." + format));
    return;
  }
  const QString page = what_->currentData().toString();
  offered_ = QDir(folder_).filePath(file_name(page.isEmpty() ? graph_ : page) + "." + format);
  path_->setText(offered_);
}

void ExportDialog::browse() {
  const QString format = format_->currentData().toString();
  const QString path =
      QFileDialog::getSaveFileName(this, "Export", path_->text(), QString("%1 (*.%2)").arg(format.toUpper(), format));
  if (!path.isEmpty()) path_->setText(path);
}

ExportChoice ExportDialog::choice() const {
  QString path = path_->text();
  if (QFileInfo(path).suffix().isEmpty()) path += "." + format_->currentData().toString();
  return {what_->currentData().toString(), path};
}

}  // namespace strata::studio
