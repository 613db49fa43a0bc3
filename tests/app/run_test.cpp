// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata run` on the sample models: every backend, every case, against PyTorch's outputs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/support/json.h"
#include "core/trace/reader.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> run_words(const Case& c, const std::string& backend) {
  std::vector<std::string> words{"run", model_file(c.model), "--backend", backend};
  for (const std::string& f : c.files("input_")) words.insert(words.end(), {"--input", f});
  for (const std::string& f : c.files("output_")) words.insert(words.end(), {"--expect", f});
  return words;
}

class RunModels : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RunModels, MatchesPyTorch) {
  const auto& [model, backend] = GetParam();
  const auto cases = cases_of(model);
  ASSERT_GE(cases.size(), 2u);
  for (const Case& c : cases) {
    const Finished f = strata(run_words(c, backend));
    EXPECT_EQ(f.code, 0) << c.folder << "\n" << f.out << f.err;
    EXPECT_THAT(f.out, HasSubstr(": pass")) << f.out;
  }
}

std::vector<std::pair<std::string, std::string>> all_runs() {
  std::vector<std::pair<std::string, std::string>> runs;
  for (const std::string& m : models())
    for (const char* b : {"strata", "unfused", "interpret"}) runs.emplace_back(m, b);
  return runs;
}
INSTANTIATE_TEST_SUITE_P(Models, RunModels, ::testing::ValuesIn(all_runs()),
                         [](const auto& info) { return info.param.first + "_" + info.param.second; });

TEST(Run, WrongExpectationFailsWithOne) {
  const auto cases = cases_of("cnn_fmnist");
  auto words = run_words(cases[0], "strata");
  words.back() = cases[1].files("output_")[0];  // of other inputs
  const Finished f = strata(words);
  EXPECT_EQ(f.code, 1) << f.out << f.err;
  EXPECT_THAT(f.out, HasSubstr("FAIL"));
  EXPECT_THAT(f.out, HasSubstr("max abs error"));
  words.insert(words.end(), {"--atol", "1e9"});
  EXPECT_EQ(strata(words).code, 0);
}

TEST(Run, ToleranceThatIsTooTightFails) {
  auto words = run_words(cases_of("cnn_fmnist")[0], "strata");
  words.insert(words.end(), {"--rtol", "0", "--atol", "1e-12"});
  EXPECT_EQ(strata(words).code, 1);
}

TEST(Run, JsonHoldsEverything) {
  auto words = run_words(cases_of("bert")[0], "strata");
  words.insert(words.end(), {"--json", "--repeat", "3"});
  const Finished f = strata(words);
  ASSERT_EQ(f.code, 0) << f.err;
  const Json j = parse_json(f.out, "stdout");
  EXPECT_TRUE(j.at("passed").boolean());
  EXPECT_EQ(j.at("run").at("repeat").integer(), 3);
  EXPECT_GT(j.at("run").at("median_ns").integer(), 0);
  EXPECT_GE(j.at("run").at("median_ns").integer(), j.at("run").at("min_ns").integer());
  ASSERT_EQ(j.at("outputs").array().size(), 2u);
  EXPECT_EQ(j.at("outputs").array()[0].at("comparison").at("failures").integer(), 0);
  EXPECT_GT(j.at("outputs").array()[0].at("comparison").at("scale").number(), 1);
  EXPECT_GT(j.at("compile").at("launches").integer(), 10);
}

TEST(Run, WritesOutputsThatCompareEqual) {
  TemporaryFolder folder;
  const Case c = cases_of("bert")[0];
  auto words = run_words(c, "strata");
  words.insert(words.end(), {"--output", folder.file("out")});
  const Finished f = strata(words);
  ASSERT_EQ(f.code, 0) << f.err;
  const Finished again =
      strata({"run", model_file("bert"), "--input", "input_ids=" + c.files("input_")[0], "--expect",
              folder.file("out/output_0.npy"), folder.file("out/output_1.npy"), "--rtol", "1e-5", "--atol", "1e-4"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(read_npy(folder.file("out/output_1.npy")).shape, c.tensors("output_")[1].shape);
}

const std::string kPrograms = STRATA_TEST_DATA "/pt2/";

/// PyTorch's results, which are whole numbers.
TEST(Run, ControlFlow) {
  for (const char* backend : {"strata", "unfused", "interpret"}) {
    SCOPED_TRACE(backend);
    TemporaryFolder folder;
    const Finished f = strata({"run", kPrograms + "loops.pt2", "--backend", backend, "--output", folder.file("out")});
    ASSERT_EQ(f.code, 0) << f.err;
    const auto output = [&](int i) {
      return read_npy(folder.file("out/output_" + std::to_string(i) + ".npy")).values();
    };
    EXPECT_THAT(output(0), ElementsAre(2));
    EXPECT_THAT(output(1), ElementsAre(3, 4, 5, 15, 16, 17));
    EXPECT_THAT(output(2), ElementsAre(3, 5, 7));
    EXPECT_THAT(output(3), ElementsAre(3, 15));
    EXPECT_THAT(output(4), ElementsAre(-1, 2, 5, 5, 8, 11));
  }
}

/// Nodes of bodies stand in the trace as in those of PyTorch's logs, and belong to the kernel that runs them.
TEST(Run, BodiesAreInTheTrace) {
  TemporaryFolder folder;
  const std::string trace = folder.file("loops.strata");
  ASSERT_EQ(strata({"compile", kPrograms + "loops.pt2", "-o", trace}).code, 0);
  const Finished scheduled = strata({"show", trace, "--stage", "scheduled"});
  ASSERT_EQ(scheduled.code, 0) << scheduled.err;
  EXPECT_THAT(
      scheduled.out,
      HasSubstr("higher_order.while_loop(graph('while_loop_cond_graph_0'), graph('while_loop_body_graph_0'), "));
  EXPECT_THAT(scheduled.out, HasSubstr("  subgraph 'while_loop_body_graph_0'\n"));
  EXPECT_THAT(scheduled.out, HasSubstr(" %while_loop_body_graph_0/mul"));
  const Finished found = strata({"query", trace, "target=aten.lt*"});
  EXPECT_THAT(found.out, HasSubstr("while_loop_cond_graph_0/lt"));
  const Finished loops = strata({"show", trace, "--stage", "loops"});
  EXPECT_THAT(loops.out, HasSubstr("# end of while_loop_"));
}

TEST(Run, NumbersAreOutputsAndNoneAndWordsAreNamed) {
  for (const char* backend : {"strata", "unfused", "interpret"}) {
    SCOPED_TRACE(backend);
    TemporaryFolder folder;
    const Finished f =
        strata({"run", kPrograms + "constants.pt2", "--backend", backend, "--output", folder.file("out")});
    ASSERT_EQ(f.code, 0) << f.err;
    EXPECT_THAT(f.out, HasSubstr("output out.0.1 is None\noutput out.3 is 'words'\n"));
    const auto output = [&](int i) { return read_npy(folder.file("out/output_" + std::to_string(i) + ".npy")); };
    EXPECT_THAT(output(0).values(), ElementsAre(1, 2, 3));
    EXPECT_EQ(output(1).dtype, DType::F64);
    EXPECT_THAT(output(1).values(), ElementsAre(2.5));
    EXPECT_EQ(output(2).dtype, DType::Bool);
    EXPECT_THAT(output(2).values(), ElementsAre(1));
    EXPECT_EQ(output(3).dtype, DType::I64);
    EXPECT_THAT(output(3).values(), ElementsAre(7));
    EXPECT_THAT(output(4).values(), ElementsAre(0, 2, 4));
  }
}

TEST(Run, UsesSampleInputsByDefaultAndSeedsRepeat) {
  TemporaryFolder folder;
  const std::string model = model_file("cnn_fmnist");
  const Finished samples = strata({"run", model});
  EXPECT_EQ(samples.code, 0) << samples.err;
  EXPECT_THAT(samples.out, HasSubstr("samples of the model"));
  ASSERT_EQ(strata({"run", model, "--seed", "7", "--output", folder.file("a")}).code, 0);
  ASSERT_EQ(strata({"run", model, "--seed", "7", "--output", folder.file("b")}).code, 0);
  ASSERT_EQ(strata({"run", model, "--seed", "8", "--output", folder.file("c")}).code, 0);
  const auto values = [&](const char* name) { return read_npy(folder.file(name) + "/output_0.npy").values(); };
  EXPECT_EQ(values("a"), values("b"));
  EXPECT_NE(values("a"), values("c"));
}

TEST(Run, EveryPassCanBeSwitchedOff) {
  const Case c = cases_of("cnn_fmnist")[0];
  for (const char* pass : {"dce", "simplify", "cse", "fold_constants", "fold_batch_norm", "fuse_attention"}) {
    auto words = run_words(c, "strata");
    words.insert(words.end(), {"--disable-pass", pass});
    const Finished f = strata(words);
    EXPECT_EQ(f.code, 0) << pass << f.out << f.err;
  }
}

TEST(Run, TraceIsOneClosedFile) {
  TemporaryFolder folder;
  auto words = run_words(cases_of("bert_dynamic")[0], "strata");
  words.insert(words.end(), {"--trace", folder.file("t.strata"), "--repeat", "2"});
  const Finished f = strata(words);
  ASSERT_EQ(f.code, 0) << f.err;
  EXPECT_THAT(folder.names(), ElementsAre("t.strata"));
  trace::Reader reader(folder.file("t.strata"));
  EXPECT_FALSE(reader.unfinished());
  const auto compile = reader.find_compile("0/0");
  EXPECT_EQ(compile.outcome, "ok");
  EXPECT_EQ(compile.name, "bert");
  EXPECT_EQ(reader.runs().size(), 2u);
  EXPECT_EQ(reader.event_count(), 2 * static_cast<int64_t>(reader.launches(compile.id).size()));
  EXPECT_FALSE(reader.symbols(compile.id).empty());
}

TEST(Run, InterruptClosesTheTrace) {
  TemporaryFolder folder;
  Child child(
      {strata_binary(), "run", model_file("cnn_fmnist"), "--repeat", "1000000000", "--trace", folder.file("t.strata")});
  for (int i = 0; i < 600 && !fs::exists(folder.file("t.strata")); ++i) ::usleep(50000);
  ::usleep(1500000);
  child.signal(SIGINT);
  const Finished f = child.finish();
  EXPECT_EQ(f.code, 130) << f.err;
  EXPECT_THAT(f.err, HasSubstr("interrupted"));
  EXPECT_THAT(folder.names(), ElementsAre("t.strata"));
  EXPECT_FALSE(trace::Reader(folder.file("t.strata")).unfinished());
}

}  // namespace
}  // namespace strata::testing
