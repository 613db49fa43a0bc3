// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Wrong input: one clear error, the right exit code, and nothing left behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/runtime/npy.h"
#include "tests/app/cases.h"
#include "tests/capture/zip_writer.h"

namespace strata::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Matcher;

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// The exit code, and the words of an error that is a single message on stderr with nothing on stdout.
void expect_error(const std::vector<std::string>& words, int code, const Matcher<const std::string&>& message,
                  const Child::Environment& env = {}) {
  const Finished f = strata(words, env);
  EXPECT_EQ(f.code, code) << f.err;
  EXPECT_EQ(f.out, "");
  EXPECT_THAT(f.err, AllOf(HasSubstr("strata: error: "), message));
}

std::string cnn() { return model_file("cnn_fmnist"); }
std::string cnn_input() { return cases_of("cnn_fmnist")[0].files("input_")[0]; }

TEST(WrongOption, NearestIsNamed) {
  expect_error({"rum", cnn()}, 2, AllOf(HasSubstr("no command 'rum'"), HasSubstr("did you mean 'run'")));
  expect_error({"run", cnn(), "--reapet", "3"}, 2, HasSubstr("did you mean '--repeat'"));
  expect_error({"run", cnn(), "--backend", "strada"}, 2,
               AllOf(HasSubstr("no backend 'strada'"), HasSubstr("did you mean 'strata'")));
  expect_error({"run", cnn(), "--mode", "max-autotun"}, 2, HasSubstr("did you mean 'max-autotune'"));
  expect_error({"run", cnn(), "--disable-pass", "simplfy"}, 2, HasSubstr("did you mean 'simplify'"));
  expect_error({"run", cnn(), "--target", "gpu"}, 2, HasSubstr("no target 'gpu'"));
  expect_error({"run", cnn(), "--dtype", "bfloat"}, 2, HasSubstr("no dtype 'bfloat'"));
  expect_error({"run", cnn(), "--repeat", "many"}, 2, HasSubstr("--repeat"));
  expect_error({"run", cnn(), "--repeat", "0"}, 2, HasSubstr("--repeat"));
  expect_error({"run"}, 2, HasSubstr("MODEL is required"));
  expect_error({}, 2, HasSubstr("--help"));
  expect_error({"run", cnn(), "--input", "x.npy", "--use-sample-inputs"}, 2, HasSubstr("exclude each other"));
  expect_error({"run", cnn(), "--rtol", "1e-3"}, 2, HasSubstr("--expect"));
  expect_error({"run", cnn(), "--disable-pass", "functionalize"}, 2, HasSubstr("functionalize"));
}

TEST(WrongModel, Files) {
  TemporaryFolder folder;
  expect_error({"run", folder.file("none.pt2")}, 2, HasSubstr("none.pt2"));
  expect_error({"run", folder.path().string()}, 2, HasSubstr(folder.path().string()));
  write_text(folder.file("empty.pt2"), "");
  expect_error({"run", folder.file("empty.pt2")}, 2, HasSubstr("empty.pt2"));
  write_text(folder.file("text.pt2"), "this is no archive");
  expect_error({"run", folder.file("text.pt2")}, 2, HasSubstr("text.pt2"));
  ZipWriter zip;
  zip.add("hello.txt", "no model");
  write_text(folder.file("zip.pt2"), zip.finish());
  expect_error({"run", folder.file("zip.pt2")}, 2, HasSubstr("zip.pt2"));
}

TEST(WrongModel, TruncatedAnywhere) {
  TemporaryFolder folder;
  const std::string whole = read_text(cnn());
  for (size_t part : {1, 5, 9, 13, 15}) {
    write_text(folder.file("cut.pt2"), whole.substr(0, whole.size() * part / 16));
    expect_error({"run", folder.file("cut.pt2"), "--trace", folder.file("t.strata")}, 2, HasSubstr("cut.pt2"));
  }
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("cut.pt2"));
}

TEST(WrongModel, CorruptGraphIsNoCrash) {
  TemporaryFolder folder;
  std::string bytes = read_text(cnn());
  const size_t at = bytes.find("\"graph_module\"");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 3] = '{';
  write_text(folder.file("corrupt.pt2"), bytes);
  expect_error({"run", folder.file("corrupt.pt2")}, 2, HasSubstr("corrupt.pt2"));
}

TEST(WrongInput, CountTypeShape) {
  TemporaryFolder folder;
  expect_error({"run", cnn(), "--input", cnn_input(), cnn_input()}, 2,
               AllOf(HasSubstr("takes 1 input"), HasSubstr("2 were given")));
  write_npy(folder.file("f64.npy"), Tensor::full(DType::F64, {2, 1, 28, 28}, 0.5));
  expect_error({"run", cnn(), "--input", folder.file("f64.npy")}, 2, AllOf(HasSubstr("float32"), HasSubstr("float64")));
  write_npy(folder.file("shape.npy"), Tensor::full(DType::F32, {2, 1, 28, 27}, 0.5));
  expect_error({"run", cnn(), "--input", folder.file("shape.npy")}, 2, AllOf(HasSubstr("28"), HasSubstr("27")));
  write_npy(folder.file("rank.npy"), Tensor::full(DType::F32, {2, 28, 28}, 0.5));
  expect_error({"run", cnn(), "--input", folder.file("rank.npy")}, 2, HasSubstr("4 dimensions"));
  expect_error({"run", cnn(), "--input", "y=" + cnn_input()}, 2, AllOf(HasSubstr("no input 'y'"), HasSubstr("x")));
  expect_error({"run", cnn(), "--input", "x=" + cnn_input(), "x=" + cnn_input()}, 2, HasSubstr("given twice"));
  expect_error({"run", cnn(), "--input", folder.file("none.npy")}, 2, HasSubstr("none.npy"));
  write_text(folder.file("bad.npy"), "\x93NUMPY\x01");
  expect_error({"run", cnn(), "--input", folder.file("bad.npy")}, 2, HasSubstr("bad.npy"));
}

TEST(WrongInput, SizeOutOfRangeNamesTheConstraint) {
  TemporaryFolder folder;
  write_npy(folder.file("one.npy"), Tensor::full(DType::I64, {1, 9}, 3));
  expect_error({"run", model_file("bert_dynamic"), "--input", folder.file("one.npy")}, 2,
               AllOf(HasSubstr("allows"), HasSubstr("= 1")));
  write_npy(folder.file("long.npy"), Tensor::full(DType::I64, {2, 100000}, 3));
  expect_error({"run", model_file("bert_dynamic"), "--input", folder.file("long.npy")}, 2, HasSubstr("100000"));
}

TEST(WrongInput, Expected) {
  const std::string output = cases_of("bert")[0].files("output_")[0];
  expect_error({"run", model_file("bert"), "--expect", output}, 2,
               AllOf(HasSubstr("2 outputs"), HasSubstr("1 to compare")));
}

TEST(WrongOutput, NothingIsLeft) {
  TemporaryFolder folder;
  write_text(folder.file("file"), "in the way");
  expect_error({"run", cnn(), "--output", folder.file("file/out")}, 2, HasSubstr("file/out"));
  expect_error({"run", cnn(), "--trace", folder.file("none/t.strata")}, 2, HasSubstr("none/t.strata"));
  // A file that is no trace is not overwritten.
  expect_error({"run", cnn(), "--trace", folder.file("file")}, 2, HasSubstr("file"));
  EXPECT_EQ(read_text(folder.file("file")), "in the way");
  expect_error({"compile", cnn(), "--backend", "strata", "--target", "cuda", "-o", folder.file("t.strata")}, 2,
               HasSubstr("cuda"));
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("file"));
}

class WrongTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    const Finished f = strata({"run", cnn(), "--trace", trace()});
    ASSERT_EQ(f.code, 0) << f.err;
  }
  std::string trace() const { return folder_.file("t.strata"); }
  TemporaryFolder folder_;
};

TEST_F(WrongTrace, UnknownNames) {
  expect_error({"show", trace(), "--graph", "0/1"}, 2, AllOf(HasSubstr("'0/1'"), HasSubstr("0/0")));
  expect_error({"show", trace(), "--graph", "0/0", "--stage", "schedled"}, 2, HasSubstr("did you mean 'scheduled'"));
  expect_error({"show", trace(), "--graph", "0/0", "--stage", "captured", "--node", "rlu"}, 2,
               HasSubstr("did you mean 'relu'"));
  expect_error({"show", trace(), "--graph", "0/0", "--kernel", "nothing_like_it"}, 2,
               HasSubstr("no kernel 'nothing_like_it'"));
  expect_error({"show", trace(), "--style", "fxx"}, 2, HasSubstr("did you mean 'fx'"));
  expect_error({"profile", trace(), "--by", "modul"}, 2, HasSubstr("did you mean 'module'"));
  expect_error(
      {"export", trace(), "--graph", "0/0", "--stage", "captured", "--format", "svgg", "-o", folder_.file("a.svg")}, 2,
      HasSubstr("did you mean 'svg'"));
  expect_error({"query", trace(), "dtyp=f32"}, 2, HasSubstr("did you mean 'dtype'"));
}

TEST_F(WrongTrace, DamagedFiles) {
  const std::string whole = read_text(trace());
  write_text(folder_.file("cut.strata"), whole.substr(0, whole.size() / 2));
  write_text(folder_.file("zero.strata"), "");
  write_text(folder_.file("text.strata"),
             "no trace at all, but long enough to be looked at as one, with some more words to fill a hundred bytes");
  std::string newer = whole;
  newer[63] = 99;  // the last byte of SQLite's user_version
  write_text(folder_.file("newer.strata"), newer);
  std::string corrupt = whole;
  for (size_t i = 4096; i + 4096 < corrupt.size(); i += 512) corrupt[i] = static_cast<char>(corrupt[i] ^ 0x5a);
  write_text(folder_.file("corrupt.strata"), corrupt);
  for (const char* name : {"cut.strata", "zero.strata", "text.strata", "newer.strata", "none.strata"})
    expect_error({"graphs", folder_.file(name)}, 2, HasSubstr(name));
  expect_error({"graphs", folder_.file("newer.strata")}, 2, HasSubstr("newer"));
  for (const char* command : {"graphs", "stages", "passes", "show", "profile"}) {
    const Finished f = strata({command, folder_.file("corrupt.strata")});
    EXPECT_EQ(f.code, 2) << command << f.err;
  }
}

TEST_F(WrongTrace, DamageAnywhereIsNoCrash) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string whole = read_text(trace()), damaged = folder_.file("damaged.strata");
  for (int i = 0; i < 12; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 200; ++k) bytes[100 + random() % (bytes.size() - 100)] = static_cast<char>(random());
    write_text(damaged, bytes);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"show", damaged, "--stage", "scheduled"},
             {"profile", damaged, "--by", "line"},
             {"export", damaged, "--stage", "scheduled", "-o", folder_.file("damaged.svg")},
             {"diff", trace(), damaged}}) {
      const Finished f = strata(words);
      EXPECT_TRUE(f.code == 0 || f.code == 2) << words[0] << " " << f.code << "\n" << f.err;
    }
  }
}

TEST_F(WrongTrace, FailedExportLeavesNothing) {
  expect_error({"export", trace(), "--graph", "0/0", "--stage", "captured", "-o", folder_.file("none/a.svg")}, 2,
               HasSubstr("none/a.svg"));
  expect_error(
      {"export", trace(), "--graph", "0/0", "--stage", "loops", "--format", "svg", "-o", folder_.file("a.svg")}, 2,
      HasSubstr("loops"));
  EXPECT_THAT(folder_.names(), ::testing::ElementsAre("t.strata"));
}

TEST_F(WrongTrace, NoDisplay) {
  expect_error({"view", trace()}, 2, ::testing::AnyOf(HasSubstr("no display"), HasSubstr("not installed")),
               {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"QT_QPA_PLATFORM", ""}});
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Bug, CrashNamesAReproducer) {
  TemporaryFolder folder;
  Child child({strata_binary(), "run", cnn(), "--repeat", "1000000000"}, {{"TMPDIR", folder.path().string()}});
  ::usleep(300000);
  child.signal(SIGSEGV);
  const Finished f = child.finish();
  EXPECT_EQ(f.code, 70) << f.err;
  ASSERT_EQ(folder.names().size(), 1u);
  const std::string file = folder.file(folder.names()[0]);
  EXPECT_THAT(f.err, AllOf(HasSubstr("bug"), HasSubstr(file)));
  EXPECT_THAT(read_text(file),
              AllOf(HasSubstr("strata "), HasSubstr("run " + cnn() + " --repeat 1000000000"), HasSubstr("signal 11")));
}
#endif

TEST(FullDisk, IsAFaultAtRunTime) {
  const Finished f = Child({"/bin/sh", "-c", "exec " + strata_binary() + " backends > /dev/full"}).finish();
  EXPECT_EQ(f.code, 3) << f.err;
  EXPECT_THAT(f.err, HasSubstr("standard output"));
}

TEST(Help, EveryCommandHasOne) {
  for (const char* command : {"run", "compile", "graphs", "stages", "passes", "show", "profile", "diff", "query",
                              "export", "view", "backends"}) {
    const Finished f = strata({command, "--help"});
    EXPECT_EQ(f.code, 0) << command;
    EXPECT_THAT(f.out, HasSubstr("Usage: strata " + std::string(command))) << command;
  }
  EXPECT_EQ(strata({"--version"}).out.substr(0, 7), "strata ");
}

}  // namespace
}  // namespace strata::testing
