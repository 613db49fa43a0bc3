// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QApplication>
#include <cstdio>
#include <cstdlib>

#include "app/studio/models/job_queue.h"
#include "app/studio/views/theme.h"

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleTest(&argc, argv);
  QApplication app(argc, argv);
  strata::studio::apply_theme(false);
  const int result = RUN_ALL_TESTS();
  std::fflush(nullptr);
  if (strata::studio::JobQueue::abandoned() > 0) std::_Exit(result);  // as the program does
  return result;
}
