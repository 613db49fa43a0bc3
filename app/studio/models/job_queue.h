// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Slow work, off the thread of the window. There are three lanes, each a thread that does one job after the other:
/// what a click asks for never waits for a drawing, nor a drawing for a profile that is being read. Of jobs with the
/// same key only the newest counts: a waiting one is replaced, a running one is stopped and its result dropped.
///
/// Work that takes long says how far it is with `report` and asks `superseded` now and then; reading a trace asks by
/// itself and then throws trace::Interrupted. What a person cancelled can be taken up again with `resume`.

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>

namespace strata::studio {

/// What a key does, for people: "reading events".
QString title_of(const QString& key);

class JobQueue : public QObject {
  Q_OBJECT
 public:
  enum class Lane : int {
    Quick = 0,  ///< opening, the compile shown, the selection
    Drawing,    ///< the stage shown and its layout
    Slow        ///< everything else
  };
  /// What is to be done with a result, in the thread of the queue's owner.
  using Apply = std::function<void()>;
  /// Runs on a worker thread; must not touch widgets or models.
  using Work = std::function<Apply()>;

  explicit JobQueue(QObject* parent = nullptr);
  /// Waiting jobs are dropped, running ones are asked to stop. One that does not within a moment is left alone: its
  /// thread goes on without the queue, see `abandoned`.
  ~JobQueue() override;

  /// In the lane of the key.
  void post(const QString& key, Work work);
  void post(const QString& key, Work work, Lane lane);
  /// Drops waiting, running and cancelled jobs of this key.
  void supersede(const QString& key);
  /// Asked by work that takes long: nobody waits for its result any more. What it then throws is dropped.
  static bool superseded();
  /// Said by work that takes long: how much of it is done, 0 to 1.
  static void report(double done);
  /// Nothing waits, runs, or has a result that is yet to be applied.
  bool idle() const;

  /// What has been under way for so long that it is worth saying.
  struct Progress {
    QString key, title;
    double done = -1;  ///< negative: unknown
  };
  /// Empty, or the jobs that run, the longest first.
  std::vector<Progress> progress() const;

  /// Stops everything that runs or waits and keeps it, so that it can be taken up again.
  void cancel();
  /// Keys of what was cancelled, oldest first.
  QStringList cancelled() const;
  /// Posts cancelled jobs again.
  void resume(const QString& key);
  void resume_all();
  /// Cancelled jobs are of no use any more: another trace is opened.
  void forget_cancelled();

  /// How many threads queues have left alone. If there is one, the program must end without taking down what is static:
  /// the thread may still use it.
  static int abandoned();

 signals:
  void busyChanged(bool busy);
  /// About ten times a second while work has taken long enough to be shown, and once when nothing is to be shown.
  void progressChanged();
  /// `cancelled` has changed.
  void cancelledChanged();
  /// A job threw; `exit_code` as in strata::Error.
  void failed(const QString& key, const QString& message, int exit_code);

 private:
  struct Job;
  struct Shared;
  using JobPtr = std::shared_ptr<Job>;
  struct Parked {
    QString key;
    Work work;
    Lane lane;
  };
  static void loop(const std::shared_ptr<Shared>& shared, size_t lane);
  static void run(Shared& shared, const JobPtr& job);
  void finish(const JobPtr& job, const Apply& apply);
  void drop(int jobs);
  void park(std::vector<JobPtr> jobs);

  std::shared_ptr<Shared> shared_;  ///< outlives the queue where a worker does
  std::map<QString, quint64> newest_;
  quint64 next_ = 0;
  int open_ = 0;  ///< posted and not finished
  std::vector<Parked> parked_;
  QTimer tick_;
  bool shown_ = false;  ///< the last progressChanged was about something
};

}  // namespace strata::studio
