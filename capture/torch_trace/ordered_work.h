// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Results that are made on many threads and taken by one, in order.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace strata::capture {

/// Calls `make(i)` for i from 0 to `count`, at most about `window` results and `budget` of `weight(i)` ahead of what
/// was taken. Heavy ones are begun first, since everything behind them has to wait for them. Without threads everything
/// is made when it is taken.
template <class Result>
class OrderedWork {
 public:
  using Make = std::function<Result(std::size_t)>;
  using Weight = std::function<std::size_t(std::size_t)>;

  OrderedWork(std::size_t count, int threads, std::size_t window, std::size_t budget, Weight weight, Make make)
      : count_(count), window_(window), budget_(budget), weight_(std::move(weight)), make_(std::move(make)) {
    slots_.resize(std::min(count, window));
    begun_.resize(count);
    for (std::size_t i = 0; threads > 0 && i < count; ++i) {
      if (weight_(i) >= kHeavy) heavy_.push_back(i);
    }
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { run(); });
  }
  ~OrderedWork() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_all();
    for (std::thread& t : workers_) t.join();
  }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  /// Every i once, ascending. Throws what `make(i)` threw.
  Result take(std::size_t i) {
    std::unique_lock lock(mutex_);
    if (!begun_[i]) {
      // Done here, instead of waiting for somebody to begin.
      begun_[i] = true;
      taken_ = i + 1;
      lock.unlock();
      room_.notify_all();
      return make_(i);
    }
    Slot& slot = slots_[i % slots_.size()];
    ready_.wait(lock, [&] { return slot.result || slot.failure; });
    taken_ = i + 1;
    ahead_ -= slot.weight;
    std::optional<Result> result = std::exchange(slot.result, std::nullopt);
    const std::exception_ptr failure = std::exchange(slot.failure, nullptr);
    lock.unlock();
    room_.notify_all();
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }

 private:
  struct Slot {
    std::optional<Result> result;
    std::exception_ptr failure;
    std::size_t weight = 0;
  };

  void skip_begun() {
    while (next_ < count_ && begun_[next_]) ++next_;
    while (next_heavy_ < heavy_.size() && begun_[heavy_[next_heavy_]]) ++next_heavy_;
  }
  std::size_t choose() const {
    const bool heavy = next_heavy_ < heavy_.size() && heavy_[next_heavy_] < taken_ + window_;
    return heavy ? heavy_[next_heavy_] : next_;
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] {
        skip_begun();
        return stop_ || next_ >= count_ || (ahead_ < budget_ && next_ < taken_ + window_);
      });
      if (stop_ || next_ >= count_) return;
      const std::size_t i = choose();
      begun_[i] = true;
      const std::size_t weight = weight_(i);
      ahead_ += weight;
      lock.unlock();
      std::optional<Result> result;
      std::exception_ptr failure;
      try {
        result.emplace(make_(i));
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      Slot& slot = slots_[i % slots_.size()];
      slot.result = std::move(result);
      slot.failure = failure;
      slot.weight = weight;
      ready_.notify_one();
    }
  }

  static constexpr std::size_t kHeavy = std::size_t{128} << 10;

  std::size_t count_, window_, budget_;
  Weight weight_;
  Make make_;
  std::mutex mutex_;
  std::condition_variable ready_, room_;
  std::vector<Slot> slots_;
  std::vector<bool> begun_;
  std::vector<std::size_t> heavy_;
  std::size_t next_ = 0, next_heavy_ = 0, taken_ = 0, ahead_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace strata::capture
