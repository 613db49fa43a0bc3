// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/kineto/pipeline.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace strata::capture::kineto {
namespace {

struct Job {
  std::unique_ptr<Block> block;
  ParsedBlock result;
  bool done = false;
};

}  // namespace

struct Pipeline::Impl {
  Impl(Splitter& splitter_, int workers) : splitter(splitter_), limit(static_cast<std::size_t>(workers) * 2 + 2) {
    threads.emplace_back([this] { guarded([this] { split(); }); });
    for (int i = 0; i < workers; ++i) threads.emplace_back([this] { guarded([this] { parse(); }); });
  }

  ~Impl() { stop(); }

  void stop() {
    {
      std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
  }

  template <class F>
  void guarded(F&& action) {
    try {
      action();
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      changed.notify_all();
    }
  }

  void split() {
    for (;;) {
      auto job = std::make_shared<Job>();
      job->block = splitter.next();
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopped || failure || order.size() < limit; });
      if (stopped || failure) return;
      if (!job->block) {
        ended = true;
        changed.notify_all();
        return;
      }
      order.push_back(job);
      waiting.push_back(std::move(job));
      changed.notify_all();
    }
  }

  void parse() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopped || failure || ended || !waiting.empty(); });
        if (stopped || failure || waiting.empty()) return;
        job = std::move(waiting.front());
        waiting.pop_front();
      }
      job->result = parse_block(*job->block);
      job->block.reset();
      std::lock_guard lock(mutex);
      job->done = true;
      changed.notify_all();
    }
  }

  Splitter& splitter;
  std::size_t limit;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job>> order, waiting;  ///< not yet taken by the caller, by a worker
  bool stopped = false, ended = false;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
};

Pipeline::Pipeline(Splitter& splitter, int workers) : impl_(std::make_unique<Impl>(splitter, workers)) {}
Pipeline::~Pipeline() = default;

std::optional<ParsedBlock> Pipeline::next() {
  std::shared_ptr<Job> job;
  {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait(
        lock, [&] { return impl_->failure || (impl_->order.empty() ? impl_->ended : impl_->order.front()->done); });
    if (!impl_->failure && !impl_->order.empty()) {
      job = std::move(impl_->order.front());
      impl_->order.pop_front();
      impl_->changed.notify_all();
      return std::move(job->result);
    }
  }
  impl_->stop();
  if (impl_->failure) std::rethrow_exception(impl_->failure);
  return std::nullopt;
}

}  // namespace strata::capture::kineto
