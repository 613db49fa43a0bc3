// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Slow work, one job after the other on one thread of its own. Of jobs with the same key only the newest counts: a
/// waiting one is replaced, the result of a running one is dropped.

#include <QObject>
#include <QString>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace strata::studio {

class JobQueue : public QObject {
  Q_OBJECT
 public:
  /// What is to be done with a result, in the thread of the queue's owner.
  using Apply = std::function<void()>;
  /// Runs on the worker thread; must not touch widgets or models.
  using Work = std::function<Apply()>;

  explicit JobQueue(QObject* parent = nullptr);
  /// Waits for the running job; waiting ones are dropped.
  ~JobQueue() override;

  void post(const QString& key, Work work);
  /// Drops waiting and running jobs of this key.
  void supersede(const QString& key);
  /// Asked by work that takes long: nobody waits for its result any more. What it then throws is dropped.
  static bool superseded();
  /// Nothing waits, runs, or has a result that is yet to be applied.
  bool idle() const;

 signals:
  void busyChanged(bool busy);
  /// A job threw; `exit_code` as in strata::Error.
  void failed(const QString& key, const QString& message, int exit_code);

 private:
  struct Job {
    QString key;
    quint64 ticket;
    Work work;
    std::shared_ptr<std::atomic<bool>> superseded;
  };
  void loop();
  void finish(const Job& job, const Apply& apply);
  bool is_newest(const Job& job) const;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  bool stop_ = false;
  Job running_;                        // its key and flag
  std::map<QString, quint64> newest_;  // owner's thread only
  quint64 next_ = 0;
  int open_ = 0;  // posted and not finished, owner's thread only
  std::thread thread_;
};

}  // namespace strata::studio
