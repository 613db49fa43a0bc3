// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/job_queue.h"

#include <QMetaObject>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/support/error.h"
#include "core/trace/interrupt.h"

namespace strata::studio {

namespace {

using Clock = std::chrono::steady_clock;
using Lane = JobQueue::Lane;

constexpr size_t kLanes = 3;
/// Work that takes less is not worth a progress bar.
constexpr std::chrono::milliseconds kWorthSaying{300};
constexpr int kTickMilliseconds = 100;
/// How long a program that ends waits for work that was asked to stop.
constexpr std::chrono::milliseconds kPatience{80};

std::atomic<int> g_abandoned{0};

struct Kind {
  const char* key;
  Lane lane;
  const char* title;
};

constexpr std::array kKinds = {
    Kind{"open", Lane::Quick, "opening the trace"},
    Kind{"compile", Lane::Quick, "reading the graph"},
    Kind{"details", Lane::Quick, "reading what is selected"},
    Kind{"line", Lane::Quick, "looking for the line"},
    Kind{"source", Lane::Quick, "reading the source"},
    Kind{"bytecode", Lane::Quick, "reading the bytecode"},
    Kind{"timeline event", Lane::Quick, "looking for the event"},
    Kind{"show source", Lane::Quick, "looking for the line"},
    Kind{"step", Lane::Drawing, "drawing the graph"},
    Kind{"pane", Lane::Drawing, "drawing the graph"},
    Kind{"text-diff", Lane::Drawing, "comparing the texts"},
    Kind{"overview", Lane::Slow, "reading what the whole trace says"},
    Kind{"follow", Lane::Slow, "reading what is new"},
    Kind{"timeline", Lane::Slow, "reading events"},
    Kind{"timeline runs", Lane::Slow, "reading the list of runs"},
    Kind{"profile", Lane::Slow, "adding up times"},
    Kind{"profile runs", Lane::Slow, "reading the list of runs"},
    Kind{"memory curves", Lane::Slow, "reading memory over time"},
    Kind{"line times", Lane::Slow, "adding up times by line"},
    Kind{"compare", Lane::Slow, "comparing"},
    Kind{"query", Lane::Slow, "looking for what fits the query"},
    Kind{"export", Lane::Slow, "writing the file"},
    Kind{"compare", Lane::Slow, "comparing"},
    Kind{"compare with", Lane::Slow, "opening the second trace"},
    Kind{"compare lists", Lane::Slow, "reading what can be compared"},
};

/// A key such as `pane:2:step` is of the kind `pane`; the longest that fits.
const Kind* kind_of(const QString& key) {
  const Kind* best = nullptr;
  for (const Kind& kind : kKinds) {
    const QString name = kind.key;
    if (key != name && !key.startsWith(name + " ") && !key.startsWith(name + ":")) continue;
    if (!best || name.size() > QString(best->key).size()) best = &kind;
  }
  return best;
}

Lane lane_of(const QString& key) {
  const Kind* kind = kind_of(key);
  return kind ? kind->lane : Lane::Slow;
}

}  // namespace

QString title_of(const QString& key) {
  const Kind* kind = kind_of(key);
  return kind ? QString(kind->title) : key;
}

struct JobQueue::Job {
  QString key;
  Lane lane{};
  quint64 ticket = 0;
  Work work;
  Clock::time_point begun;
  std::atomic<bool> superseded{false};
  std::atomic<double> done{-1};
};

namespace {
/// Of the job that runs on this thread; null on threads that are no worker.
thread_local const std::atomic<bool>* t_superseded = nullptr;
thread_local std::atomic<double>* t_done = nullptr;
}  // namespace

struct JobQueue::Shared {
  struct Line {
    std::deque<JobPtr> waiting;
    JobPtr running;
    std::condition_variable wake;
    std::thread thread;
    bool ended = false;
  };
  std::mutex mutex;
  std::array<Line, kLanes> lines;
  std::condition_variable one_ended;
  bool stop = false;
  JobQueue* queue = nullptr;  ///< null when it is gone
};

bool JobQueue::superseded() { return t_superseded && t_superseded->load(std::memory_order_relaxed); }

void JobQueue::report(double done) {
  if (t_done) t_done->store(std::clamp(done, 0.0, 1.0), std::memory_order_relaxed);
}

int JobQueue::abandoned() { return g_abandoned; }

JobQueue::JobQueue(QObject* parent) : QObject(parent), shared_(std::make_shared<Shared>()) {
  shared_->queue = this;
  for (size_t lane = 0; lane < kLanes; ++lane)
    shared_->lines[lane].thread = std::thread([shared = shared_, lane] { loop(shared, lane); });
  tick_.setInterval(kTickMilliseconds);
  connect(&tick_, &QTimer::timeout, this, [this] {
    if (idle()) tick_.stop();
    const bool show = !progress().empty();
    if (show || shown_) emit progressChanged();
    shown_ = show;
  });
}

JobQueue::~JobQueue() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->queue = nullptr;
  for (auto& line : shared_->lines) {
    line.waiting.clear();
    if (line.running) line.running->superseded = true;
    line.wake.notify_all();
  }
  const auto all_ended = [this] {
    return std::all_of(shared_->lines.begin(), shared_->lines.end(), [](const auto& line) { return line.ended; });
  };
  shared_->one_ended.wait_for(lock, kPatience, all_ended);
  std::vector<std::thread> ended;
  for (auto& line : shared_->lines) {
    if (line.ended) {
      ended.push_back(std::move(line.thread));
    } else {
      ++g_abandoned;
      line.thread.detach();
    }
  }
  lock.unlock();
  for (auto& thread : ended) thread.join();
}

void JobQueue::post(const QString& key, Work work) { post(key, std::move(work), lane_of(key)); }

void JobQueue::post(const QString& key, Work work, Lane lane) {
  supersede(key);
  auto job = std::make_shared<Job>();
  job->key = key;
  job->lane = lane;
  job->ticket = newest_[key];
  job->work = std::move(work);
  {
    std::lock_guard lock(shared_->mutex);
    shared_->lines[static_cast<size_t>(lane)].waiting.push_back(job);
    shared_->lines[static_cast<size_t>(lane)].wake.notify_one();
  }
  if (!tick_.isActive()) tick_.start();
  if (open_++ == 0) emit busyChanged(true);
}

void JobQueue::supersede(const QString& key) {
  newest_[key] = ++next_;
  size_t dropped = 0;
  {
    std::lock_guard lock(shared_->mutex);
    for (auto& line : shared_->lines) {
      dropped += std::erase_if(line.waiting, [&](const JobPtr& job) { return job->key == key; });
      if (line.running && line.running->key == key) line.running->superseded = true;
    }
  }
  if (std::erase_if(parked_, [&](const Parked& parked) { return parked.key == key; }) > 0) emit cancelledChanged();
  drop(static_cast<int>(dropped));
}

void JobQueue::drop(int jobs) {
  open_ -= jobs;
  if (jobs > 0 && open_ == 0) emit busyChanged(false);
}

bool JobQueue::idle() const { return open_ == 0; }

std::vector<JobQueue::Progress> JobQueue::progress() const {
  std::vector<JobPtr> running;
  {
    std::lock_guard lock(shared_->mutex);
    for (const auto& line : shared_->lines)
      if (line.running && !line.running->superseded && Clock::now() - line.running->begun > kWorthSaying)
        running.push_back(line.running);
  }
  std::sort(running.begin(), running.end(), [](const JobPtr& a, const JobPtr& b) { return a->begun < b->begun; });
  std::vector<Progress> result;
  for (const JobPtr& job : running) result.push_back({job->key, title_of(job->key), job->done.load()});
  return result;
}

// ------------------------------------------------------------------------------------------------------------- cancel

void JobQueue::cancel() {
  std::vector<JobPtr> stopped;
  size_t dropped = 0;
  {
    std::lock_guard lock(shared_->mutex);
    for (auto& line : shared_->lines) {
      if (line.running && !line.running->superseded) {
        line.running->superseded = true;
        stopped.push_back(line.running);
      }
      dropped += line.waiting.size();
      stopped.insert(stopped.end(), line.waiting.begin(), line.waiting.end());
      line.waiting.clear();
    }
  }
  park(std::move(stopped));
  drop(static_cast<int>(dropped));
}

/// What is looked at again and again anyway need not be kept.
void JobQueue::park(std::vector<JobPtr> jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const JobPtr& a, const JobPtr& b) { return a->ticket < b->ticket; });
  for (const JobPtr& job : jobs) {
    newest_[job->key] = ++next_;
    if (job->key != "follow") parked_.push_back({job->key, job->work, job->lane});
  }
  if (!jobs.empty()) emit cancelledChanged();
}

QStringList JobQueue::cancelled() const {
  QStringList keys;
  for (const Parked& parked : parked_) keys << parked.key;
  return keys;
}

void JobQueue::resume(const QString& key) {
  const auto at = std::find_if(parked_.begin(), parked_.end(), [&](const Parked& p) { return p.key == key; });
  if (at == parked_.end()) return;
  Parked parked = std::move(*at);
  parked_.erase(at);
  emit cancelledChanged();
  post(parked.key, std::move(parked.work), parked.lane);
}

void JobQueue::resume_all() {
  for (const QString& key : cancelled()) resume(key);
}

void JobQueue::forget_cancelled() {
  if (parked_.empty()) return;
  parked_.clear();
  emit cancelledChanged();
}

// ------------------------------------------------------------------------------------------------------------ workers

void JobQueue::finish(const JobPtr& job, const Apply& apply) {
  const auto newest = newest_.find(job->key);
  if (newest != newest_.end() && newest->second == job->ticket && apply) apply();
  if (--open_ == 0) emit busyChanged(false);
}

void JobQueue::loop(const std::shared_ptr<Shared>& shared, size_t lane) {
  const trace::InterruptScope reads(&JobQueue::superseded);
  Shared::Line& line = shared->lines[lane];
  std::unique_lock lock(shared->mutex);
  for (;;) {
    line.wake.wait(lock, [&] { return shared->stop || !line.waiting.empty(); });
    if (shared->stop) break;
    JobPtr job = line.waiting.front();
    line.waiting.pop_front();
    job->begun = Clock::now();
    line.running = job;
    lock.unlock();
    run(*shared, job);
    job.reset();
    lock.lock();
  }
  line.ended = true;
  shared->one_ended.notify_all();
}

void JobQueue::run(Shared& shared, const JobPtr& job) {
  t_superseded = &job->superseded;
  t_done = &job->done;
  Apply apply;
  auto fail = [&](const char* what, int code) {
    apply = [&shared, key = job->key, message = QString::fromUtf8(what), code] {
      emit shared.queue->failed(key, message, code);
    };
  };
  try {
    apply = job->work();
  } catch (const Error& error) {
    fail(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for this", static_cast<int>(ErrorKind::Runtime));
  } catch (const std::exception& error) {
    fail(error.what(), static_cast<int>(ErrorKind::Internal));
  }
  t_superseded = nullptr;
  t_done = nullptr;
  std::lock_guard lock(shared.mutex);
  shared.lines[static_cast<size_t>(job->lane)].running.reset();
  if (!shared.queue) return;
  QMetaObject::invokeMethod(
      shared.queue, [queue = shared.queue, job, apply] { queue->finish(job, apply); }, Qt::QueuedConnection);
}

}  // namespace strata::studio
