// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The program ends when it is told to, whatever it is doing.
#include <signal.h>

#include <QElapsedTimer>
#include <QProcess>
#include <random>

#include "tests/studio/test_support.h"

namespace strata::test {
namespace {

/// Far more than the program needs, and less than the work it is interrupted in: machines are busy at times.
constexpr int kAtOnceMilliseconds = 8000;

class Closing : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write_large_trace(*folder_ / "large.strata", 40000);
    write_sample_trace(*folder_ / "cnn.strata", {12, true});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  /// Started, and after a while sent the signal.
  void end(const char* trace, const QStringList& more, int after, int signal) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("XDG_CONFIG_HOME", QString::fromStdString((*folder_ / "config").string()));
    process.setProcessEnvironment(environment);
    const QString path = QString::fromStdString((*folder_ / trace).string());
    process.start(STRATA_STUDIO_BINARY, QStringList{path} + more);
    ASSERT_TRUE(process.waitForStarted());
    ready(process);
    QElapsedTimer waited;
    waited.start();
    while (waited.elapsed() < after) process.waitForReadyRead(1);
    ::kill(static_cast<pid_t>(process.processId()), signal);
    const bool ended = process.waitForFinished(kAtOnceMilliseconds);
    if (!ended) process.kill();
    EXPECT_TRUE(ended) << "still there, told after " << after << " ms";
    EXPECT_EQ(process.exitStatus(), QProcess::NormalExit) << after << " ms";
    EXPECT_EQ(process.exitCode(), 0) << after << " ms";
    EXPECT_EQ(process.readAllStandardError().toStdString(), "") << after << " ms";
  }

  /// Until it listens to signals: before that they end it as they end any program.
  static void ready(QProcess& process) {
    const QString status = QString("/proc/%1/status").arg(process.processId());
    for (int i = 0; i < 5000; ++i) {
      QFile file(status);
      if (!file.open(QIODevice::ReadOnly)) return;
      for (const QByteArray& line : file.readAll().split('\n'))
        if (line.startsWith("SigCgt:") && (line.mid(7).trimmed().toULongLong(nullptr, 16) & (1ull << (SIGTERM - 1))))
          return;
      ::usleep(2000);
    }
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> Closing::folder_;

TEST_F(Closing, AtAnyTimeWhileALargeTraceIsOpened) {
  std::mt19937 random(20261121);
  for (int i = 0; i < 8; ++i) end("large.strata", {"--view", "graph"}, static_cast<int>(random() % 700), SIGTERM);
}

TEST_F(Closing, WhileGraphvizDraws) {
  std::mt19937 random(7);
  for (int i = 0; i < 4; ++i)
    end("cnn.strata", {"--stage", "scheduled"}, static_cast<int>(random() % 300), i % 2 ? SIGINT : SIGHUP);
}

TEST_F(Closing, WithEveryPageLoading) {
  std::mt19937 random(11);
  for (const char* view : {"timeline", "profile", "memory", "query"})
    end("cnn.strata", {"--view", view}, static_cast<int>(random() % 200), SIGTERM);
}

}  // namespace
}  // namespace strata::test
