// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threads for parsing what does not depend on each other.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace strata::capture {

/// `wanted`, or as many as the machine has when that is 0; at most 16.
inline int worker_count(int wanted) {
  const int machine = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::clamp(wanted > 0 ? wanted : machine, 1, 16);
}

/// Calls `work(i)` for every i below `count`, in any order, on `threads` threads, this one included. The first
/// exception ends the work and is thrown here.
template <class Work>
void parallel_each(std::size_t count, int threads, std::size_t chunk, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    try {
      for (std::size_t i = next.fetch_add(chunk); i < count; i = next.fetch_add(chunk)) {
        for (std::size_t k = i; k < std::min(count, i + chunk); ++k) work(k);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads && static_cast<std::size_t>(i) * chunk < count; ++i) others.emplace_back(run);
  run();
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace strata::capture
