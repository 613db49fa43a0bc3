// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One call at a time, for threads of Python.

#include <pybind11/pybind11.h>

#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata {

/// While it lives, other threads of Python run. Other than pybind11's, it lets a thread end where it wants the lock
/// back from an interpreter that is being shut down: that unwinds the thread's stack, out of this destructor.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() noexcept(false) { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Survives a fork in the middle of a call: the child starts with a free lock.
class RunLock {
 public:
  RunLock() { new (&memory_) std::mutex; }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  // The mutex is never destroyed: in a child it may be held by a thread that is not there. glibc's needs no destructor.

  /// Held while it lives. Needs the interpreter's lock and keeps it, but gives it away while another call runs: that
  /// call may need it to end.
  class Hold {
   public:
    explicit Hold(RunLock& lock) : lock_(lock) {
      lock.renew_after_fork();
      if (!lock.mutex().try_lock()) wait();
      lock.owner_ = std::this_thread::get_id();
    }
    ~Hold() {
      lock_.owner_ = std::thread::id();
      lock_.mutex().unlock();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    void wait() {
      if (lock_.owner_ == std::this_thread::get_id())
        throw_user("a compiled function was called from within its own call, by an operator that PyTorch runs for it",
                   "leave that operator out of the compiled function, or call the function itself there");
      const Unlocked unlocked;
      lock_.mutex().lock();
    }
    RunLock& lock_;
  };

 private:
  std::mutex& mutex() { return *std::launder(reinterpret_cast<std::mutex*>(&memory_)); }

  /// Under the interpreter's lock, so one thread does it.
  void renew_after_fork() {
    if (forks_ == fork_count()) return;
    forks_ = fork_count();
    new (&memory_) std::mutex;
    owner_ = std::thread::id();
  }

  alignas(std::mutex) std::byte memory_[sizeof(std::mutex)];
  std::atomic<std::thread::id> owner_{};
  unsigned forks_ = fork_count();
};

}  // namespace strata
