// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is being done, on stderr: when that is a terminal and the work has taken more than a second; or, for programs
/// that read it, as lines and at once.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace strata::cli {

class Progress {
 public:
  explicit Progress(bool lines = false) : lines_(lines) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string_view what) {
    if (lines_) return say_line(what);
    if (!terminal_ || what == said_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
    said_ = what;
    std::fprintf(stderr, "\r\033[K%.*s ...", static_cast<int>(what.size()), what.data());
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

 private:
  void say_line(std::string_view what) {
    if (what == said_) return;
    said_ = what;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
    std::fflush(stderr);
  }

  bool lines_;
  bool terminal_ = ::isatty(2) != 0;
  bool shown_ = false;
  std::string said_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace strata::cli
