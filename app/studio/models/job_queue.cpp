// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/job_queue.h"

#include <QMetaObject>
#include <algorithm>

#include "core/support/error.h"

namespace strata::studio {

namespace {

/// Of the job that runs on this thread; null on threads that are no worker.
thread_local const std::atomic<bool>* t_superseded = nullptr;

}  // namespace

bool JobQueue::superseded() { return t_superseded && t_superseded->load(); }

JobQueue::JobQueue(QObject* parent) : QObject(parent), thread_([this] { loop(); }) {}

JobQueue::~JobQueue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    waiting_.clear();
    if (running_.superseded) *running_.superseded = true;
  }
  wake_.notify_all();
  thread_.join();
}

void JobQueue::post(const QString& key, Work work) {
  supersede(key);
  Job job{key, newest_[key], std::move(work), std::make_shared<std::atomic<bool>>(false)};
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
  if (open_++ == 0) emit busyChanged(true);
}

void JobQueue::supersede(const QString& key) {
  newest_[key] = ++next_;
  size_t dropped = 0;
  {
    std::lock_guard lock(mutex_);
    dropped = std::erase_if(waiting_, [&](const Job& job) { return job.key == key; });
    if (running_.superseded && running_.key == key) *running_.superseded = true;
  }
  open_ -= static_cast<int>(dropped);
  if (dropped > 0 && open_ == 0) emit busyChanged(false);
}

bool JobQueue::idle() const { return open_ == 0; }

bool JobQueue::is_newest(const Job& job) const {
  auto it = newest_.find(job.key);
  return it != newest_.end() && it->second == job.ticket;
}

void JobQueue::finish(const Job& job, const Apply& apply) {
  if (is_newest(job) && apply) apply();
  if (--open_ == 0) emit busyChanged(false);
}

void JobQueue::loop() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      running_ = {job.key, job.ticket, nullptr, job.superseded};
    }
    t_superseded = job.superseded.get();
    Apply apply;
    auto fail = [&](const char* what, int code) {
      QString message = QString::fromUtf8(what);
      apply = [this, key = job.key, message, code] { emit failed(key, message, code); };
    };
    try {
      apply = job.work();
    } catch (const Error& error) {
      fail(error.what(), error.exit_code());
    } catch (const std::exception& error) {
      fail(error.what(), static_cast<int>(ErrorKind::Internal));
    }
    job.work = nullptr;
    QMetaObject::invokeMethod(this, [this, job, apply] { finish(job, apply); }, Qt::QueuedConnection);
  }
}

}  // namespace strata::studio
