// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// A killed `strata run --trace` leaves a trace that opens and holds everything that was acknowledged.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "core/support/error.h"
#include "core/trace/reader.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

/// How many commits of the recorder a trace must hold: 1 the process, 2 the captured graph, 3... one per pass, the
/// schedule, the code, the end of the compile, one per run.
int64_t commits_in(trace::Reader& reader) {
  if (reader.processes().empty()) return 0;
  if (reader.compiles().empty()) return 1;
  const auto compile = reader.compiles().front();
  int64_t count = 2 + static_cast<int64_t>(reader.passes(compile.id).size());  // the schedule is a pass as well
  bool code = false;
  for (const auto& s : reader.snapshots(compile.id)) code = code || s.stage == "code";
  return count + (code ? 1 : 0) + (compile.outcome.empty() ? 0 : 1) + static_cast<int64_t>(reader.runs().size());
}

struct Killed {
  int64_t acknowledged = 0;
  bool was_running = false;
};

Killed run_and_kill(const std::string& trace, std::chrono::microseconds after) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  Child child({strata_binary(), "run", model_file("bert"), "--repeat", "1000000", "--trace", trace},
              {{"STRATA_ACKNOWLEDGE_FD", std::to_string(pipe[1])}}, pipe[1]);
  ::close(pipe[1]);
  // Nobody may wait for the reader of the pipe: it is read while the child runs.
  std::string lines;
  std::thread reader([&] {
    char buffer[65536];
    for (ssize_t n; (n = ::read(pipe[0], buffer, sizeof buffer)) > 0;) lines.append(buffer, static_cast<size_t>(n));
  });
  std::this_thread::sleep_for(after);
  child.signal(SIGKILL);
  const Finished f = child.finish();
  reader.join();
  ::close(pipe[0]);
  return {static_cast<int64_t>(std::count(lines.begin(), lines.end(), '\n')), f.code == 128 + SIGKILL};
}

TEST(Kill, TwentyTimesAtRandomMoments) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int with_acknowledgements = 0;
  for (int i = 0; i < 20; ++i) {
    TemporaryFolder folder;
    const std::string trace = folder.file("t.strata");
    // From the first moments of the process to the middle of its runs.
    const auto after =
        std::chrono::microseconds(std::uniform_int_distribution<int>(1000, i % 2 ? 250000 : 2500000)(random));
    const Killed killed = run_and_kill(trace, after);
    EXPECT_TRUE(killed.was_running);
    if (killed.acknowledged == 0) continue;
    ++with_acknowledgements;
    trace::Reader reader(trace);
    EXPECT_GE(commits_in(reader), killed.acknowledged) << "after " << after.count() << " us";
    EXPECT_TRUE(reader.unfinished());
    for (const auto& c : reader.compiles())
      for (const auto& s : reader.snapshots(c.id))
        EXPECT_EQ(static_cast<int64_t>(reader.nodes(s.id).size()), s.node_count) << s.stage;
    EXPECT_EQ(strata({"graphs", trace}).code, 0);
  }
  EXPECT_GE(with_acknowledgements, 5);
}

}  // namespace
}  // namespace strata::testing
