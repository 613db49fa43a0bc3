// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one way to use several cores: OpenMP, or std::thread where STRATA_STD_THREADS is defined (sanitizers do not
/// understand libgomp).

#include <algorithm>
#include <cstdint>
#include <functional>

namespace strata {

/// Cores this process may run on; at least 1.
int usable_cores();

/// Threads that `parallel_for` uses; at least 1. Set by `set_thread_count`, else OMP_NUM_THREADS, else the cores this
/// process may use.
int thread_count();
void set_thread_count(int threads);

/// One for each task that is worth a thread, up to `threads`; at least 1.
inline int threads_for(int64_t tasks, int threads) { return static_cast<int>(std::clamp<int64_t>(tasks, 1, threads)); }

/// While it lives, regions of the calling thread run on at most so many threads. How work is cut into chunks stays as
/// it is, so that results do not change by a bit; a thread then has several chunks, next to each other. All teams of
/// OpenMP's have as many threads, however few of them have work. What other libraries do with OpenMP is not concerned.
class ThreadLimit {
 public:
  explicit ThreadLimit(int most);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
  /// Another limit, at least 1 and at most that of the constructor, for teams of the same size.
  void set(int most);

 private:
  int before_, team_before_;
};

/// Calls `body(begin, end)` on disjoint chunks that cover [0, total), each at least `grain` long (but the last). Runs
/// in the calling thread when one chunk suffices or when already inside a parallel region. Exceptions of `body` are
/// rethrown here.
void parallel_for(int64_t total, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

/// The same without allocation or exceptions, for compiled kernels: `body(context, begin, end)`.
void parallel_for_raw(int64_t total, int64_t grain, int threads, void (*body)(void*, int64_t, int64_t), void* context);

/// The same for anything that can be called with (begin, end), which must not throw.
template <class F>
void parallel_for_raw(int64_t total, int64_t grain, int threads, const F& body) {
  const auto call = [](void* context, int64_t begin, int64_t end) { (*static_cast<const F*>(context))(begin, end); };
  parallel_for_raw(total, grain, threads, call, const_cast<F*>(&body));
}

/// The most threads that work of the calling thread has had since it last asked; at least 1. Libraries that share out
/// work themselves are noted by those that call them.
int take_threads_used();
void note_threads_used(int threads);

/// [0, total) in equal parts, one for each thread.
template <class F>
void parallel_parts(int64_t total, int threads, const F& body) {
  parallel_for_raw(total, (total + threads - 1) / threads, threads, body);
}

/// How often this process, or one it comes from, was forked since this library was loaded: a child sees one more than
/// its parent. A forking thread's team of OpenMP threads is ended first, so that the child, which has none of them,
/// makes one of its own when it needs it.
unsigned fork_count();

}  // namespace strata
