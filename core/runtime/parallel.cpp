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
#include <limits>
#include <mutex>
#include <utility>

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

/// Of this thread; see ThreadLimit.
thread_local int most_threads = std::numeric_limits<int>::max();
thread_local int team_size = 0;  ///< 0: what each region asks for
thread_local int used_threads = 1;

/// Equal chunks of at least `grain`, at most one per thread.
Chunks split(int64_t total, int64_t grain, int threads) {
  const int64_t most = std::max<int64_t>(1, total / std::max<int64_t>(1, grain));
  const int64_t wanted = std::min<int64_t>(std::max(1, threads), most);
  const int64_t size = (total + wanted - 1) / wanted;
  return {static_cast<int>((total + size - 1) / size), size};
}

/// Work cut into chunks, for a team of threads: each member has neighbouring ones, which share cache lines.
struct Region {
  Chunks chunks;
  int64_t total;
  int threads;  ///< that the caller has
  void (*body)(void*, int64_t, int64_t);
  void* context;

  int64_t team() const { return std::min(chunks.count, most_threads); }
  void member(int64_t number, int64_t team) const {
    const int64_t end = chunks.count * (number + 1) / team;
    for (int64_t i = chunks.count * number / team; i < end; ++i)
      body(context, i * chunks.size, std::min(total, (i + 1) * chunks.size));
  }
  void alone() const { body(context, 0, total); }
};

#ifdef STRATA_STD_THREADS

thread_local bool inside_region = false;

/// Workers that sleep between regions. One region at a time: a second caller runs its loop alone.
class Pool {
 public:
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  bool run(const Region& region, int64_t team) {
    std::unique_lock only(region_, std::try_to_lock);
    if (!only.owns_lock()) return false;
    grow(static_cast<int>(team) - 1);
    {
      std::lock_guard lock(mutex_);
      work_ = region;
      team_ = team;
      pending_ = static_cast<int>(team) - 1;
      ++generation_;
    }
    wake_.notify_all();
    inside_region = true;
    region.member(0, team);
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
      if (number + 1 >= team_) continue;
      const Region region = work_;
      const int64_t team = team_;
      lock.unlock();
      region.member(number + 1, team);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex region_, mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  uint64_t generation_ = 0;
  int64_t team_ = 0;
  int pending_ = 0;
  Region work_{};
  bool stopping_ = false;
};

void run_region(const Region& region) {
  static Pool pool;
  if (inside_region) return region.alone();
  if (region.team() == 1) return region.member(0, 1);
  note_threads_used(static_cast<int>(region.team()));
  if (!pool.run(region, region.team())) region.alone();
}

#else

/// This thread has forked, and with it a team that waits for threads that are not there.
thread_local bool without_team = false;

void run_region(const Region& region) {
  if (omp_in_parallel() || without_team) return region.alone();
  const int64_t team = region.team();
  if (team == 1) return region.member(0, 1);
  note_threads_used(static_cast<int>(team));
  // libgomp ends threads that a team does not need and makes new ones for the next, larger team, which takes longer
  // than most regions. So teams are of one size, and members without work go through.
#pragma omp parallel num_threads(team_size > 0 ? team_size : region.threads)
  {
    const int64_t members = std::min<int64_t>(team, omp_get_num_threads());  // it may give fewer than asked for
    if (omp_get_thread_num() < members) region.member(omp_get_thread_num(), members);
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

ThreadLimit::ThreadLimit(int most) : before_(most_threads), team_before_(team_size) {
  most_threads = team_size = std::min(before_, std::max(1, most));
}
ThreadLimit::~ThreadLimit() {
  most_threads = before_;
  team_size = team_before_;
}
void ThreadLimit::set(int most) { most_threads = std::min(team_size, std::max(1, most)); }

int take_threads_used() { return std::exchange(used_threads, 1); }
void note_threads_used(int threads) { used_threads = std::max(used_threads, threads); }

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
  run_region({chunks, total, threads, body, context});
}

void parallel_for(int64_t total, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (total <= 0) return;
  const int threads = thread_count();
  const Chunks chunks = split(total, grain, threads);
  if (chunks.count == 1) return body(0, total);
  Guarded guarded{body, {}, {}};
  run_region({chunks, total, threads, &Guarded::call, &guarded});
  if (guarded.error) std::rethrow_exception(guarded.error);
}

}  // namespace strata
