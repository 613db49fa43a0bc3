// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// A real profile with Python stacks: `strata profile` by line and module.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/support/json.h"
#include "tests/app/command.h"

namespace strata::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// Two training steps of a model with two linears and a branch on its data, CPU.
class StacksCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const Finished f = strata(
        {"import", STRATA_TEST_DATA "/torch/profiles/breaking_stacks_eager.json.gz", "-o", folder_->file("s.strata")});
    ASSERT_EQ(f.code, 0) << f.err;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static Json table(const std::string& by) {
    const Finished f = strata({"profile", folder_->file("s.strata"), "--by", by, "--json"});
    EXPECT_EQ(f.code, 0) << f.err;
    return parse_json(f.out, "profile");
  }
  static std::map<std::string, int64_t> calls(const Json& table) {
    std::map<std::string, int64_t> calls;
    for (const Json& row : table.at("rows").array()) calls[row.at("name").string()] = row.at("calls").integer();
    return calls;
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* StacksCommand::folder_ = nullptr;

// Per step: nine operators of `forward` and eight backward nodes of theirs; four and two of the loss in `step`.
TEST_F(StacksCommand, ByLine) {
  const Json lines = table("line");
  EXPECT_THAT(calls(lines), UnorderedElementsAre(Pair("make_torch_traces.py(68): forward", 2 * (9 + 8)),
                                                 Pair("make_torch_traces.py(115): step", 2 * (4 + 2)),
                                                 Pair("(gradient accumulation)", 2 * 4), Pair("optimizer", 80)));
  for (const Json& row : lines.at("rows").array()) {
    const bool known = row.at("name").string().ends_with("forward") || row.at("name").string().ends_with("step");
    EXPECT_EQ(row.at("match").string(), known ? "exact" : "");
  }
}

// Linears are told apart, and their backward (two nodes each) is with them.
TEST_F(StacksCommand, ByModule) {
  EXPECT_THAT(calls(table("module")),
              UnorderedElementsAre(Pair("Breaking_0", 2 * (7 + 4)), Pair("Breaking_0.Linear_0", 2 * (1 + 2)),
                                   Pair("Breaking_0.Linear_1", 2 * (1 + 2)), Pair("(outside of modules)", 2 * (4 + 2)),
                                   Pair("(gradient accumulation)", 2 * 4), Pair("optimizer", 80)));
}

TEST_F(StacksCommand, TablesAddUpToTheSame) {
  const double all = table("kernel").at("total_ns").number();
  EXPECT_GT(all, 0);
  for (const char* by : {"line", "module", "op"}) {
    const Json t = table(by);
    double sum = 0;
    for (const Json& row : t.at("rows").array()) sum += row.at("total_ns").number();
    EXPECT_EQ(t.at("total_ns").number(), all) << by;
    EXPECT_EQ(sum, all) << by;
  }
}

TEST_F(StacksCommand, DiffWithItselfHasTheSameRowsOnBothSides) {
  const Finished f = strata({"diff", folder_->file("s.strata"), folder_->file("s.strata"), "--by", "line", "--json"});
  ASSERT_EQ(f.code, 0) << f.err;
  const Json diff = parse_json(f.out, "diff");
  size_t functions = 0;
  for (const Json& row : diff.at("rows").array()) {
    EXPECT_EQ(row.at("first").at("time_ns").integer(), row.at("second").at("time_ns").integer())
        << row.at("key").string();
    functions += row.at("key").string().starts_with("make_torch_traces.py(");
  }
  EXPECT_EQ(functions, 2u);
}

}  // namespace
}  // namespace strata::testing
