// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the tests of comparisons share: graphs made by hand, and traces that the command imports.

#include <QProcess>
#include <filesystem>
#include <string>
#include <vector>

#include "app/studio/models/comparison_side.h"
#include "tests/studio/compare_graphs.h"
#include "tests/studio/test_support.h"

namespace strata::test {

inline QString data_file(const char* name) { return QString(STRATA_TEST_DATA) + "/torch/" + name; }

/// Runs `strata`, which is built beside the window, and gives what it prints.
inline QByteArray strata_command(const QStringList& arguments) {
  const auto program = std::filesystem::path(STRATA_STUDIO_BINARY).parent_path() / "strata";
  QProcess process;
  process.start(QString::fromStdString(program.string()), arguments);
  const bool done = process.waitForFinished(100000) && process.exitStatus() == QProcess::NormalExit;
  EXPECT_TRUE(done && process.exitCode() == 0)
      << program << " has to be built and to work: " << process.readAllStandardError().toStdString();
  return process.readAllStandardOutput();
}

inline void import(const std::vector<const char*>& files, const std::filesystem::path& out) {
  QStringList arguments = {"import"};
  for (const char* file : files) arguments << data_file(file);
  strata_command(arguments << "-o" << QString::fromStdString(out.string()));
}

/// The sides of a comparison of one or two traces, as they are suggested.
inline std::pair<studio::CompareSide, studio::CompareSide> sides(const std::filesystem::path& a,
                                                                 const std::filesystem::path& b = {}) {
  using namespace studio;
  const auto first = std::make_shared<trace::Reader>(a);
  const auto second = b.empty() ? first : std::make_shared<trace::Reader>(b);
  const SideChoices x = load_choices(*first), y = load_choices(*second);
  const auto [i, j] = suggest_sides(x, y, first == second, trace::kNone);
  const auto side = [](const std::shared_ptr<trace::Reader>& reader, const SideChoices& choices, const SideIndex& at) {
    CompareSide s;
    s.reader = reader;
    if (at.run >= 0) s.run = choices.runs[static_cast<size_t>(at.run)];
    if (at.compile >= 0) s.compile = choices.compiles[static_cast<size_t>(at.compile)];
    if (at.stage >= 0) {
      s.snapshot = s.compile->graphs[static_cast<size_t>(at.stage)].id;
      s.stage = s.compile->graphs[static_cast<size_t>(at.stage)].stage;
    }
    if (at.rank >= 0) s.rank = choices.ranks[static_cast<size_t>(at.rank)];
    return s;
  };
  return {side(first, x, i), side(second, y, j)};
}

}  // namespace strata::test
