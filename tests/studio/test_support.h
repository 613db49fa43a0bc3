// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <filesystem>
#include <string>

#include "app/studio/models/context.h"
#include "tests/studio/sample_trace.h"

namespace strata::test {

/// A folder of its own, removed with its content at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("strata-studio-test-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Runs the event loop until the queue has been empty and nothing new was asked for.
inline bool settle(studio::Context& context) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < 60000) {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    if (context.queue().idle()) return true;
  }
  return false;
}

}  // namespace strata::test
