// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/import_job.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTimer>

namespace strata::studio {

bool is_trace(const QString& path) {
  const QFileInfo info(path);
  // Of what is not there, or is a device or pipe, opening says what is wrong.
  if (info.suffix().compare("strata", Qt::CaseInsensitive) == 0) return true;
  if (!info.isFile()) return !info.isDir();
  QFile file(path);
  return !file.open(QIODevice::ReadOnly) || file.read(15) == "SQLite format 3";
}

QString find_strata(const QString& program_folder, const QString& search_path) {
  const QString beside = QStandardPaths::findExecutable("strata", {program_folder});
  if (!beside.isEmpty()) return beside;
  // An empty list would mean the folders of this process.
  const QStringList folders = search_path.split(QDir::listSeparator(), Qt::SkipEmptyParts);
  return folders.isEmpty() ? QString() : QStandardPaths::findExecutable("strata", folders);
}

ImportJob::ImportJob(QString command, QObject* parent) : QObject(parent), command_(std::move(command)) {}

ImportJob::~ImportJob() { drop(); }

void ImportJob::drop() {
  if (!process_) return;
  process_->disconnect(this);
  process_->kill();
  process_->waitForFinished(3000);
  delete process_;
  process_ = nullptr;
}

void ImportJob::start(const QStringList& paths) {
  drop();
  const QString command =
      command_.isEmpty() ? find_strata(QCoreApplication::applicationDirPath(), qEnvironmentVariable("PATH")) : command_;
  if (command.isEmpty()) {
    emit failed(
        "the command 'strata', which makes traces of PyTorch's files, is not beside this program and not in PATH; "
        "install it, or run `strata import` elsewhere and open its trace");
    return;
  }
  if (!folder_) folder_ = std::make_unique<QTemporaryDir>();
  if (!folder_->isValid()) {
    emit failed("cannot make a temporary folder for the trace: " + folder_->errorString());
    return;
  }
  first_ = paths.value(0);
  // A name of its own each time: the trace of the time before may still be open.
  const QString name = QFileInfo(first_).completeBaseName();
  QDir(folder_->path()).mkdir(QString::number(++count_));
  output_ = QString("%1/%2/%3.strata").arg(folder_->path()).arg(count_).arg(name.isEmpty() ? "imported" : name);
  said_.clear();
  pending_.clear();
  cancelled_ = false;
  process_ = new QProcess(this);
  process_->setStandardOutputFile(QProcess::nullDevice());
  connect(process_, &QProcess::readyReadStandardError, this, &ImportJob::read_errors);
  connect(process_, &QProcess::finished, this, &ImportJob::finished);
  connect(process_, &QProcess::errorOccurred, this, [this, command](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      emit failed(QString("cannot run '%1': %2").arg(command, process_->errorString()));
  });
  QStringList words = {"import", "--progress", "-o", output_, "--"};
  process_->start(command, words + paths, QIODevice::ReadOnly);
}

void ImportJob::cancel() {
  if (!running() || cancelled_) return;
  cancelled_ = true;
  process_->terminate();
  QTimer::singleShot(2000, process_, &QProcess::kill);
}

void ImportJob::read_errors() {
  pending_ += process_->readAllStandardError();
  static const QRegularExpression percent("^ *(\\d+)% (.*)$");
  for (qsizetype end; (end = pending_.indexOf('\n')) >= 0;) {
    const QString line = QString::fromUtf8(pending_.first(end));
    pending_.remove(0, end + 1);
    if (const auto match = percent.match(line); match.hasMatch()) {
      emit progress(match.captured(1).toDouble() / 100, match.captured(2));
    } else if (!line.trimmed().isEmpty()) {
      said_ << line;
      if (said_.size() > 20) said_.removeFirst();
    }
  }
}

void ImportJob::finished(int code, QProcess::ExitStatus status) {
  read_errors();
  if (!pending_.trimmed().isEmpty()) said_ << QString::fromUtf8(pending_);
  if (cancelled_) return emit cancelled();
  if (status == QProcess::CrashExit) return emit failed(QString("the import of '%1' ended by a fault").arg(first_));
  if (code == 0 && QFileInfo::exists(output_)) return emit done(output_, first_);
  QStringList errors = said_.filter(QRegularExpression("^strata: error: "));
  if (errors.isEmpty()) errors = said_;
  errors.replaceInStrings(QRegularExpression("^strata: (error: )?"), "");
  emit failed(errors.isEmpty() ? QString("the import of '%1' failed with code %2").arg(first_).arg(code)
                               : errors.join('\n'));
}

}  // namespace strata::studio
