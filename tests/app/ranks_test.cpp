// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Logs of several ranks, as an import compares them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "app/driver/import.h"
#include "core/trace/reader.h"
#include "tests/app/command.h"

namespace strata::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string unpacked(const std::string& name) {
  const std::string path = std::string(STRATA_TEST_DATA "/torch/logs/") + name + ".log.gz";
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 65536> part{};
  for (int n = 0; file != nullptr && (n = gzread(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(n));
  if (file != nullptr) gzclose(file);
  return text;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The log of one process as that of a rank.
std::string as_rank(std::string text, int rank) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t brace = line.find("] {\"");
    if (!line.empty() && line[0] == 'V' && brace != std::string::npos)
      line.insert(brace + 3, "\"rank\": " + std::to_string(rank) + ", ");
    out += line + "\n";
  }
  return out;
}

/// Titles of what the import of some logs found to differ.
std::vector<std::string> differences(const std::vector<std::string>& logs) {
  TemporaryFolder folder;
  const fs::path in = folder.path() / "logs", out = folder.path() / "t.strata";
  fs::create_directories(in);
  for (size_t i = 0; i < logs.size(); ++i)
    std::ofstream(in / ("dedicated_log_torch_trace_rank_" + std::to_string(i) + "_abcdefgh.log")) << logs[i];
  import_paths(std::vector<fs::path>{in}, out);
  trace::Reader reader(out);
  std::vector<std::string> titles;
  for (const auto& d : reader.diagnostics())
    if (d.kind == "rank") titles.push_back(d.title);
  return titles;
}

TEST(Ranks, OneThatRecompiled) {
  const auto found = differences({unpacked("ddp_rank_0"), unpacked("ddp_rank_1")});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], HasSubstr("was compiled once on rank 1, 2 times on rank 0"));
}

TEST(Ranks, TheSameOnAll) {
  const std::string log = unpacked("cnn_fmnist");
  EXPECT_THAT(differences({as_rank(log, 0), as_rank(log, 1), as_rank(log, 2)}), IsEmpty());
}

TEST(Ranks, AnotherGraph) {
  const std::string log = unpacked("cnn_fmnist");
  std::string other = log;
  replace_all(other, "torch.nn.functional.relu(", "torch.nn.functional.gelu(");
  ASSERT_NE(other, log);
  EXPECT_THAT(differences({as_rank(log, 0), as_rank(other, 1), as_rank(log, 2)}),
              Contains(HasSubstr("is another on rank 1 than on ranks 0 and 2")));
}

TEST(Ranks, OtherGuards) {
  const std::string log = unpacked("cnn_fmnist");
  std::string other = log;
  replace_all(other, "size=[64, 1, 28, 28]", "size=[32, 1, 28, 28]");
  ASSERT_NE(other, log);
  EXPECT_THAT(differences({as_rank(log, 0), as_rank(log, 1), as_rank(other, 2)}), Contains(HasSubstr("guards")));
}

/// Two GPUs, NCCL: rank 1 begins 11.4 ms late, sleeps in its second step, and is 0.4 ms late at the third. The waits
/// are what rank 0's kernels take beyond rank 1's.
TEST(Ranks, WaitingInCollectives) {
  TemporaryFolder folder;
  const fs::path out = folder.path() / "t.strata";
  import_paths(std::vector<fs::path>{STRATA_TEST_DATA "/torch/ddp"}, out);
  trace::Reader reader(out);
  std::vector<std::string> titles;
  for (const auto& d : reader.diagnostics())
    if (d.kind == "rank" && d.severity == trace::DiagnosticRecord::Severity::Warning) {
      titles.push_back(d.title);
      EXPECT_NEAR(static_cast<double>(d.cost_ns), 23'350'000, 30'000);
      EXPECT_THAT(d.detail, HasSubstr("rank 1: waited 0.0 ms, arrived last in 3 of 3"));
    }
  EXPECT_THAT(titles, ElementsAre(HasSubstr("others wait 23.4 ms for rank 1 in collectives, of 27.8 ms")));
}

}  // namespace
}  // namespace strata::testing
