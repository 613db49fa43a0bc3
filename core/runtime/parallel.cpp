// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/parallel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>

#ifdef STRATA_STD_THREADS
#include <condition_variable>
#include <thread>
#include <vector>
#else
#include <omp.h>
#endif

namespace strata {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

namespace {

int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const long wanted = std::strtol(text, nullptr, 10);  // a list `4,2` gives its first level
    if (wanted > 0 && wanted <= 4096) return static_cast<int>(wanted);
  }
  return usable_cores();
}

std::atomic<int> chosen_threads{0};

struct Chunks {
  int count;
  int64_t size;
};

/// Equal chunks of at least `grain`, at most one per thread.
Chunks split(int64_t total, int64_t grain, int threads) {
  const int64_t most = std::max<int64_t>(1, total / std::max<int64_t>(1, grain));
  const int64_t wanted = std::min<int64_t>(std::max(1, threads), most);
  const int64_t size = (total + wanted - 1) / wanted;
  return {static_cast<int>((total + size - 1) / size), size};
}

#ifdef STRATA_STD_THREADS

thread_local bool inside_region = false;

/// Workers that sleep between regions. One region at a time: a second caller runs its loop alone.
class Pool {
 public:
  using Body = void (*)(void*, int64_t, int64_t);

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  bool run(Chunks chunks, int64_t total, Body body, void* context) {
    std::unique_lock region(region_, std::try_to_lock);
    if (!region.owns_lock()) return false;
    grow(chunks.count - 1);
    {
      std::lock_guard lock(mutex_);
      body_ = body;
      context_ = context;
      total_ = total;
      chunk_ = chunks.size;
      active_ = chunks.count - 1;
      pending_ = active_;
      ++generation_;
    }
    wake_.notify_all();
    inside_region = true;
    body(context, 0, std::min(chunks.size, total));
    inside_region = false;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
    return true;
  }

 private:
  void grow(int count) {
    while (static_cast<int>(workers_.size()) < count) {
      const int number = static_cast<int>(workers_.size());
      std::lock_guard lock(mutex_);
      workers_.emplace_back([this, number, seen = generation_] { work(number, seen); });
    }
  }

  void work(int number, uint64_t seen) {
    inside_region = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      if (number >= active_) continue;
      const int64_t begin = (number + 1) * chunk_, end = std::min(total_, begin + chunk_);
      const Body body = body_;
      void* const context = context_;
      lock.unlock();
      body(context, begin, end);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex region_, mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  uint64_t generation_ = 0;
  int active_ = 0, pending_ = 0;
  int64_t total_ = 0, chunk_ = 0;
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool stopping_ = false;
};

void run_chunks(Chunks chunks, int64_t total, void (*body)(void*, int64_t, int64_t), void* context) {
  static Pool pool;
  if (inside_region || !pool.run(chunks, total, body, context)) body(context, 0, total);
}

#else

/// This thread has forked, and with it a team that waits for threads that are not there.
thread_local bool without_team = false;

void run_chunks(Chunks chunks, int64_t total, void (*body)(void*, int64_t, int64_t), void* context) {
  if (omp_in_parallel() || without_team) return body(context, 0, total);
  const int64_t size = chunks.size, count = chunks.count;
#pragma omp parallel num_threads(chunks.count)
  {
    // The runtime may give fewer threads than asked for.
    const int64_t step = omp_get_num_threads();
    for (int64_t i = omp_get_thread_num(); i < count; i += step)
      body(context, i * size, std::min(total, (i + 1) * size));
  }
}

#endif

// ---------------------------------------------------------------------------------------------------------------- fork

std::atomic<unsigned> forks{0};

/// libgomp keeps a team of threads for every thread that has used one. A child inherits the team of the thread that
/// forked, but not its threads, and would wait for them forever. Older runtimes, such as that of PyTorch up to 2.6,
/// cannot end a team (looked up, not linked): there the child's thread goes on alone.
bool end_team() {
  static const auto pause = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "omp_pause_resource_all"));
  constexpr int kSoft = 1;
  return pause && pause(kSoft) == 0;
}

#ifdef STRATA_STD_THREADS

/// Of the host's libraries, if they use one.
void before_fork() { end_team(); }
/// The pool's threads are not there any more, and its locks may be held by them.
void in_child() {
  forks.fetch_add(1, std::memory_order_relaxed);
  inside_region = true;
}

#else

thread_local bool team_ended = false;

void before_fork() { team_ended = !omp_in_parallel() && end_team(); }

void in_child() {
  forks.fetch_add(1, std::memory_order_relaxed);
  if (team_ended) return;
  without_team = true;
  omp_set_num_threads(1);  // for libraries
}

#endif

/// From the start: a fork may come before the first region of ours, but after one of the host's.
const int fork_handlers = pthread_atfork(&before_fork, nullptr, &in_child);

/// Keeps the first exception of a region.
struct Guarded {
  const std::function<void(int64_t, int64_t)>& body;
  std::mutex mutex;
  std::exception_ptr error;

  static void call(void* context, int64_t begin, int64_t end) {
    auto& self = *static_cast<Guarded*>(context);
    try {
      self.body(begin, end);
    } catch (...) {
      std::lock_guard lock(self.mutex);
      if (!self.error) self.error = std::current_exception();
    }
  }
};

}  // namespace

int thread_count() {
  const int chosen = chosen_threads.load(std::memory_order_relaxed);
  if (chosen > 0) return chosen;
  static const int standard = default_threads();
  return standard;
}

unsigned fork_count() { return forks.load(std::memory_order_relaxed); }

void set_thread_count(int threads) { chosen_threads.store(std::max(1, threads), std::memory_order_relaxed); }

void parallel_for_raw(int64_t total, int64_t grain, int threads, void (*body)(void*, int64_t, int64_t), void* context) {
  if (total <= 0) return;
  const Chunks chunks = split(total, grain, threads);
  if (chunks.count == 1) return body(context, 0, total);
  run_chunks(chunks, total, body, context);
}

void parallel_for(int64_t total, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (total <= 0) return;
  const Chunks chunks = split(total, grain, thread_count());
  if (chunks.count == 1) return body(0, total);
  Guarded guarded{body, {}, {}};
  run_chunks(chunks, total, &Guarded::call, &guarded);
  if (guarded.error) std::rethrow_exception(guarded.error);
}

}  // namespace strata
