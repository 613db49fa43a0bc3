// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "core/ir/text.h"
#include "core/support/error.h"
#include "tests/graphs/reproduce.h"
#include "tests/graphs/shrink.h"

namespace strata::fuzz {
namespace {

class WithoutCache : public ::testing::Environment {
  void SetUp() override { setenv("STRATA_CACHE", "0", 1); }
};
const auto* const kWithoutCache = ::testing::AddGlobalTestEnvironment(new WithoutCache);

std::string with_reproducers(const Outcome& outcome) {
  std::string text;
  for (const Failure& f : outcome.failures) text += reproducer(f) + "\n";
  return text;
}

TEST(RandomGraphs, MeanTheSameInterpretedUnfusedAndCompiled) {
  CampaignOptions options;
  options.graphs = 400;
  options.most_failures = 3;
  const Outcome outcome = run_campaign(options);
  EXPECT_EQ(outcome.statistics.programs + outcome.statistics.refused, options.graphs);
  EXPECT_TRUE(outcome.failures.empty()) << with_reproducers(outcome);
}

TEST(RandomGraphs, MeanTheSameAfterEveryPass) {
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    const RandomProgram program = random_program(seed);
    EXPECT_EQ(check(program, Depth::Stages), "") << "seed " << seed << "\n" << program.str();
  }
}

TEST(RandomGraphs, AreTheSameForTheSameSeed) {
  for (uint64_t seed = 1; seed < 20; ++seed)
    EXPECT_EQ(to_file(random_program(seed), ""), to_file(random_program(seed), ""));
}

TEST(RandomGraphs, MakeEveryRowThatIsNotLeftOut) {
  std::string missing;
  for (const OpDef* row : all_ops()) {
    if (!recipe_of(*row)) {
      EXPECT_FALSE(reason_left_out(*row).empty()) << row->name;
      continue;
    }
    bool made = false;
    for (uint64_t seed = 1; seed < 60 && !made; ++seed) {
      const RandomProgram program = random_program(seed, {row});
      for (const auto& node : program.graph.nodes()) made |= node->op == row;
    }
    if (!made) missing += row->name + " ";
  }
  EXPECT_EQ(missing, "") << "no program has these: give them a recipe, or put them into the list of coverage.cpp";
}

TEST(RandomGraphs, LeaveOutOnlyRowsOfTheTable) {
  for (const LeftOut& entry : left_out()) {
    EXPECT_FALSE(entry.reason.empty());
    bool found = false;
    for (const OpDef* row : all_ops()) found |= reason_left_out(*row) == entry.reason;
    EXPECT_TRUE(found) << entry.rows;
  }
}

TEST(RandomGraphs, AreReadBackAsWritten) {
  for (uint64_t seed = 1; seed < 40; ++seed) {
    const std::string once = to_file(random_program(seed), "a note\nof two lines");
    EXPECT_EQ(to_file(from_file(once), "a note\nof two lines"), once) << "seed " << seed;
  }
  std::vector<RandomProgram> several;
  for (uint64_t seed = 1; seed < 4; ++seed) several.push_back(random_program(seed));
  const std::string once = to_file(several, "");
  const std::vector<RandomProgram> read = from_file(once);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].threads, 2);
  EXPECT_EQ(read[1].threads, 1);
  EXPECT_EQ(to_file(read, ""), once);
  EXPECT_THROW(from_file("graph"), Error);
}

/// Reproducers of faults that are mended; what was wrong is said in the files.
TEST(RandomGraphs, FormerFaults) {
  size_t replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STRATA_TEST_DATA "/graphs")) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::vector<RandomProgram> programs = from_file(text);
    for (int run = 0; run < 2; ++run) {
      for (const std::string& why : check_together(programs)) EXPECT_EQ(why, "") << entry.path();
      for (RandomProgram& p : programs) p.threads = 3 - p.threads;
    }
    ++replayed;
  }
  EXPECT_GE(replayed, 28u);
}

/// A program with a known culprit: a product of a sum.
RandomProgram sum_and_product() {
  RandomProgram program{Graph(), {}, {}};
  Builder b(program.graph);
  Node* x = program.graph.placeholder("x", Type::of(DType::F32, {4, 6}));
  Node* y = program.graph.placeholder("y", Type::of(DType::F32, {4, 6}));
  Node* sum = b.call("aten.exp.default", {b.call("aten.add.Tensor", {x, b.call("aten.tanh.default", {y})})});
  Node* product = b.call("aten.mul.Tensor", {sum, b.call("aten.relu.default", {x})});
  program.graph.output(Argument(ListArg{ListArg::Kind::Tuple, {product, b.call("aten.neg.default", {y})}}));
  program.graph.input_specs.resize(2);
  std::mt19937_64 rng(1);
  for (int i = 0; i < 2; ++i) program.inputs.push_back(random_tensor(rng, DType::F32, {4, 6}, false));
  return program;
}

TEST(Shrink, KeepsWhatFailsAndNothingElse) {
  const RandomProgram small = shrink(sum_and_product(), [](const RandomProgram& p) {
    for (const auto& n : p.graph.nodes())
      if (n->is("aten.mul.Tensor")) return true;
    return false;
  });
  EXPECT_EQ(small.graph.size(), 3u) << small.str();  // an input, the product, the output
  for (const Tensor& t : small.inputs) {
    EXPECT_EQ(t.numel(), 1) << small.str();
    EXPECT_EQ(t.at(0), 1) << small.str();
  }
  EXPECT_EQ(check(small), "");
}

TEST(Shrink, StopsWhenItsBudgetIsSpent) {
  size_t calls = 0;
  shrink(sum_and_product(), [&](const RandomProgram&) { return ++calls, true; }, 5);
  EXPECT_EQ(calls, 5u);
}

bool has(const RandomProgram& p, std::string_view target) {
  return std::any_of(p.graph.nodes().begin(), p.graph.nodes().end(), [&](const auto& n) { return n->is(target); });
}

/// One program differs only while another one is compiled with it: both stay, and nothing else.
TEST(Shrink, KeepsTheProgramsOfABatchThatTakePart) {
  Batch batch;
  for (uint64_t seed = 0; seed < 9; ++seed) {
    batch.programs.push_back(seed == 2 || seed == 7 ? sum_and_product() : random_program(seed));
    batch.seeds.push_back(seed);
  }
  batch.at = 7;
  const Batch small = shrink_batch(std::move(batch), [](const Batch& b) {
    if (!has(b.programs[b.at], "aten.mul.Tensor")) return false;
    for (size_t i = 0; i < b.programs.size(); ++i)
      if (i != b.at && has(b.programs[i], "aten.exp.default") && b.seeds[i] == 2) return true;
    return false;
  });
  EXPECT_EQ(small.seeds, (std::vector<uint64_t>{2, 7}));
  ASSERT_EQ(small.at, 1u);
  EXPECT_EQ(small.programs[0].graph.size(), 3u) << small.programs[0].str();
  EXPECT_EQ(small.programs[1].graph.size(), 3u) << small.programs[1].str();
}

TEST(Reproducer, HasTheWholeProgramWhereNothingDiffersAgain) {
  const Failure failure{5, "compiled: result 0 element 0 is 1, expected 2", 4, 7};
  for (const std::string& text : {whole_program(failure, {}), reproducer(failure)}) {
    EXPECT_NE(text.find("fuzz_graphs --seed 4 --graphs 3 --batch 3"), text.npos) << text;
    const std::vector<RandomProgram> programs = from_file(text);
    ASSERT_EQ(programs.size(), 1u);
    EXPECT_EQ(to_file(programs, ""), to_file(random_program(5), ""));
  }
  EXPECT_NE(reproducer(failure).find("does not differ"), std::string::npos);
}

TEST(InAProcess, EndsWhenItIsCancelledOrLate) {
  const auto forever = [] { return pause(), std::string(); };
  EXPECT_EQ(in_a_process(forever, 0), "hangs: no end after 0 s");
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(in_a_process(forever, 60, &cancelled), "cancelled");
}

TEST(Campaign, EndsWhenItIsCancelled) {
  std::atomic<bool> cancelled = false;
  CampaignOptions options;
  options.graphs = 100000;
  options.batch = 8;
  options.cancelled = &cancelled;
  const Outcome outcome = run_campaign(options, [&](size_t, size_t) { cancelled = true; });
  EXPECT_LT(outcome.statistics.programs, 100u);
  EXPECT_TRUE(outcome.failures.empty());
}

TEST(InAProcess, SaysHowItEnded) {
  EXPECT_EQ(in_a_process([] { return std::string("done"); }), "done");
  EXPECT_TRUE(in_a_process([]() -> std::string { abort(); }).starts_with("crashes: "));
  EXPECT_TRUE(in_a_process([]() -> std::string { throw_user("no"); }).starts_with("throws: no"));
}

}  // namespace
}  // namespace strata::fuzz
