// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writes the HTML report of a trace on a thread of its own, with a reader of its own: the window stays usable.

#include <QObject>
#include <QString>
#include <atomic>
#include <thread>

namespace strata::studio {

class ReportJob : public QObject {
  Q_OBJECT
 public:
  explicit ReportJob(QObject* parent = nullptr) : QObject(parent) {}
  /// Stops one that is being made and waits for it.
  ~ReportJob() override;
  /// Starts, if none is being made.
  void start(const QString& trace, const QString& output);
  void cancel() { stop_ = true; }
  bool running() const { return running_; }

 signals:
  void progress(double part, const QString& what);
  void done(const QString& output);
  void failed(const QString& text, int exit_code);
  void cancelled();

 private:
  void work(const QString& trace, const QString& output);
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  bool running_ = false;
};

}  // namespace strata::studio
