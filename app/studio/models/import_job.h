// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Makes a trace of what PyTorch wrote, by the `strata import` command in a process of its own.

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <memory>

namespace strata::studio {

/// Whether a path is a trace or is to be treated as one (it is named so, or nothing that could be imported is there):
/// other folders and files are to be imported.
bool is_trace(const QString& path);

/// The command: beside this program, then along PATH; empty if there is none.
QString find_strata(const QString& program_folder, const QString& search_path);

class ImportJob : public QObject {
  Q_OBJECT
 public:
  /// `command`: what to run; found by find_strata if empty.
  explicit ImportJob(QString command = {}, QObject* parent = nullptr);
  /// Stops a process that runs.
  ~ImportJob() override;
  /// Starts; one that runs is stopped. The trace lies in a temporary folder that lasts as long as this object.
  void start(const QStringList& paths);
  void cancel();
  bool running() const { return process_ && process_->state() != QProcess::NotRunning; }

 signals:
  /// `part` from 0 to 1.
  void progress(double part, const QString& what);
  /// The trace is written.
  void done(const QString& trace, const QString& first_path);
  /// What the command said, or that it could not be run. Not after `cancel`.
  void failed(const QString& text);
  /// It was stopped by `cancel`.
  void cancelled();

 private:
  void read_errors();
  void finished(int code, QProcess::ExitStatus status);
  void drop();
  QString command_;
  std::unique_ptr<QTemporaryDir> folder_;
  QProcess* process_ = nullptr;
  bool cancelled_ = false;
  QString output_, first_;
  QByteArray pending_;  ///< of a line that is not complete
  QStringList said_;    ///< last lines of stderr that are no progress
  int count_ = 0;       ///< of traces made so far
};

}  // namespace strata::studio
