// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One call at a time, for threads of Python.

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata {

class RunLock;

/// While it lives, other threads of Python run. A thread that wants the lock back from an interpreter that is being
/// shut down stays where it is, as in Python 3.14: before, Python ends such a thread by unwinding its stack, and
/// PyTorch's frames, which then run without the lock, do not survive that.
class Unlocked {
 public:
  /// `held`, if given, is released by a thread that stays here.
  explicit Unlocked(RunLock* held = nullptr) : held_(held), state_(PyEval_SaveThread()) {}
  ~Unlocked() noexcept(false);
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  RunLock* held_;
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
    ~Hold() { lock_.release(); }
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

  /// Only by the thread that holds it.
  void release() {
    owner_ = std::thread::id();
    mutex().unlock();
  }

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

inline Unlocked::~Unlocked() noexcept(false) {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // nothing is thrown: the thread is being ended
    if (held_) held_->release();
    for (;;) pause();
  }
}

}  // namespace strata
