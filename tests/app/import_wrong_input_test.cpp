// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata import` of files that are damaged, or something else: what is sound is imported, what is not is listed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "app/driver/import.h"
#include "tests/app/import_testing.h"

namespace strata::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ImportOfWrongInput : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    write_text(folder_.path() / "in" / name, text);
    return (folder_.path() / "in" / name).string();
  }
  std::string out() const { return folder_.file("out.strata"); }
  Imported import(const std::string& path) { return import_files({path}, out()); }

  /// Nothing could be used: code 2, the words, and no file.
  void refused(const std::string& path, const std::string& words) {
    const Finished f = strata({"import", path, "-o", out()});
    EXPECT_EQ(f.code, 2) << f.err;
    EXPECT_THAT(f.err, AllOf(HasSubstr("nothing could be imported"), HasSubstr(words)));
    EXPECT_EQ(f.out, "");
    const auto names = folder_.names();
    EXPECT_THAT(names, ::testing::Each(::testing::AnyOf("in", "")));
  }

  /// Something could be used, and what could not is told with its line.
  Json warned(const std::string& path, const std::string& place) {
    const Imported i = import(path);
    EXPECT_EQ(i.run.code, 0) << i.run.err;
    EXPECT_THAT(i.run.err, AllOf(HasSubstr("warning: "), HasSubstr(place)));
    EXPECT_THAT(folder_.names(), ElementsAre("in", "out.strata"));
    return i.json;
  }

  static std::int64_t count(const Json& summary, const char* key) {
    const Json* value = summary.find(key);
    return value ? value->integer() : -1;
  }

  /// Records of an input, all kinds together.
  static std::int64_t records(const Json& summary) {
    return summary.at("inputs").array().at(0).at("records").integer();
  }

  TemporaryFolder folder_;
};

TEST_F(ImportOfWrongInput, MissingPath) {
  const Finished f = strata({"import", folder_.file("nothing"), "-o", out()});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err, HasSubstr("there is no file or folder"));
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(ImportOfWrongInput, EmptyFile) { refused(file("a.log", ""), "a.log: empty"); }

TEST_F(ImportOfWrongInput, EmptyFolder) {
  fs::create_directories(folder_.path() / "in");
  refused((folder_.path() / "in").string(), "");
}

TEST_F(ImportOfWrongInput, NotATraceAtAll) {
  refused(file("a.txt", "some notes\nabout nothing\n"), "not a log, trace or profile of PyTorch");
  refused(file("a.json", "{\"a\": [1, 2]}"), "no profile");
  refused(file("b.json", "[1, 2, 3]"), "a JSON list without events");
  refused(file("a.strata", "SQLite format 3"), "database");
}

TEST_F(ImportOfWrongInput, CompiledCodeIsNamed) {
  refused(file("model.so", std::string("\x7f"
                                       "ELF\2\1\1",
                                       7)),
          "compiled code (AOTInductor?)");
  refused(file("model.zip", std::string("PK\3\4", 4)), "damaged zip");
}

TEST_F(ImportOfWrongInput, TruncatedLog) {
  const std::string text = log_text("breaks_many");
  const Json whole = import(file("whole.log", text)).json;
  const Json cut = warned(file("cut.log", text.substr(0, text.size() * 2 / 3 + 7)), "cut.log:");
  EXPECT_GT(records(cut), 0);
  EXPECT_LT(records(cut), records(whole));
  EXPECT_GT(count(cut, "compiles"), 0);
}

TEST_F(ImportOfWrongInput, LogCutWithinALine) {
  const std::string text = log_text("sincos");
  const std::size_t line = text.rfind("\nV", text.size() - 2);
  const Json cut = warned(file("cut.log", text.substr(0, line + 60)), "cut.log:");
  EXPECT_GT(records(cut), 0);
}

TEST_F(ImportOfWrongInput, BadHash) {
  std::string text = log_text("breaks_many");
  const std::size_t at = text.find("\"has_payload\": \"");
  ASSERT_NE(at, std::string::npos);
  const std::size_t payload = text.find("\n\t", at) + 2;
  ASSERT_LT(payload, text.size());
  text[text.find_first_of("abcdefgh", payload)] = 'Z';
  warned(file("hash.log", text), "hash.log:");
}

TEST_F(ImportOfWrongInput, BadJson) {
  std::string text = log_text("breaks_many");
  const std::size_t at = text.find("{\"dynamo_start\"");
  ASSERT_NE(at, std::string::npos);
  text[at + 1] = '}';
  const std::int64_t line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  warned(file("json.log", text), "json.log:" + std::to_string(line) + ":");
}

TEST_F(ImportOfWrongInput, InvalidUtf8) {
  std::string text = log_text("breaks_many");
  const std::size_t payload = text.find("\n\t", text.find("dynamo_output_graph")) + 2;
  text.insert(payload, "# \xff\xfe\xc3(");
  const Imported i = import(file("bytes.log", text));
  EXPECT_EQ(i.run.code, 0) << i.run.err;
  EXPECT_GT(records(i.json), 0);
}

TEST_F(ImportOfWrongInput, NanInJson) {
  const std::string log = log_text("sincos");
  const std::int64_t whole = records(import(file("a.log", log)).json);
  std::string metrics = log;
  const std::size_t at = metrics.find("\"ts\": ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(whole, 0);
  // In front of the first record stands one more, with numbers that JSON does not have.
  const std::string line = metrics.substr(0, metrics.find("] {") + 2);
  metrics.insert(0, line + "{\"something_new\": {\"a\": NaN, \"b\": -Infinity}}\n");
  const Imported i = import(file("nan.log", metrics));
  EXPECT_EQ(i.run.code, 0) << i.run.err;
  EXPECT_EQ(records(i.json), whole + 1);
  std::string profile = profile_text("cnn_fmnist_cpu_compiled");
  const std::size_t dims = profile.find("\"Ev Idx\": ");
  ASSERT_NE(dims, std::string::npos);
  profile.insert(dims, "\"x\": NaN, ");
  EXPECT_EQ(import(file("nan.json", profile)).run.code, 0);
}

TEST_F(ImportOfWrongInput, GiganticLine) {
  const std::string text = log_text("sincos");
  const Json whole = import(file("a.log", text)).json;
  const Json huge = import(file("b.log", std::string(30 << 20, 'x') + "\n" + text)).json;
  EXPECT_EQ(count(huge, "graphs"), count(whole, "graphs"));
  EXPECT_GT(count(huge, "graphs"), 0);
}

TEST_F(ImportOfWrongInput, InterleavedProcesses) {
  const std::string text = log_text("sincos");
  // The same log by two processes, record by record.
  std::string both;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find("\nV", at);
    end = end == std::string::npos ? text.size() : end + 1;
    const std::string record = text.substr(at, end - at);
    const std::size_t pid = record.find(' ', record.find(' ') + 1) + 1;
    both += record + record.substr(0, pid) + "7" + record.substr(pid);
    at = end;
  }
  const Json one = import(file("one.log", text)).json;
  const Json two = import(file("two.log", both)).json;
  EXPECT_EQ(count(two, "processes"), 2 * count(one, "processes"));
  EXPECT_EQ(count(two, "graphs"), 2 * count(one, "graphs"));
  EXPECT_EQ(records(two), 2 * records(one));
}

TEST_F(ImportOfWrongInput, GzCutShort) {
  const std::string packed = read_text(torch_data("logs/breaks_many.log.gz"));
  const Json cut = warned(file("cut.log.gz", packed.substr(0, packed.size() / 2)), "cut.log.gz");
  EXPECT_GT(records(cut), 0);
  fs::remove(out());
  fs::remove_all(folder_.path() / "in");
  refused(file("tiny.log.gz", packed.substr(0, 12)), "a gzip file that is cut short or damaged");
}

TEST_F(ImportOfWrongInput, TruncatedProfile) {
  const std::string text = profile_text("cnn_fmnist_eager");
  const std::int64_t whole = count(import(file("a.json", text)).json, "events");
  const Json cut = warned(file("cut.json", text.substr(0, text.size() / 2)), "cut.json:");
  EXPECT_GT(count(cut, "events"), 0);
  EXPECT_LT(count(cut, "events"), whole);
}

TEST_F(ImportOfWrongInput, FolderWithOtherThings) {
  file("log/dedicated_log_torch_trace_abcdefgh.log", log_text("sincos"));
  file("notes.txt", "nothing");
  file("weights.bin", std::string(5000, '\0'));
  file("deep/er/empty.log", "");
  const fs::path in = folder_.path() / "in";
  fs::create_directory_symlink(in, in / "deep" / "loop");
  fs::create_symlink(in / "nowhere", in / "broken");
  ASSERT_EQ(::mkfifo((in / "pipe").c_str(), 0600), 0);
  const Imported i = import(in.string());
  ASSERT_EQ(i.run.code, 0) << i.run.err;
  EXPECT_EQ(i.json.at("inputs").array().size(), 1u);
  EXPECT_EQ(count(i.json, "skipped_count"), 5);
  EXPECT_THAT(i.run.err, AllOf(HasSubstr("notes.txt: not a log"), HasSubstr("pipe: neither a file nor a folder"),
                               HasSubstr("empty.log: empty")));
}

TEST_F(ImportOfWrongInput, StaleFilesOfAnOlderRun) {
  file("dedicated_log_torch_trace_aaaaaaaa.log", log_text("sincos"));
  std::string later = log_text("sincos");
  for (std::size_t at = 0; (at = later.find("V1121 09:", at)) != std::string::npos; at += 9)
    if (at == 0 || later[at - 1] == '\n') later.replace(at, 9, "V1121 23:");
  file("dedicated_log_torch_trace_bbbbbbbb.log", later);
  const Imported i = import((folder_.path() / "in").string());
  EXPECT_EQ(i.run.code, 0);
  EXPECT_THAT(i.run.err, AllOf(HasSubstr("aaaaaaaa.log: ends at 1121 09:"), HasSubstr("of an older run?")));
  EXPECT_THAT(i.run.err, Not(HasSubstr("bbbbbbbb.log: ends")));
}

TEST_F(ImportOfWrongInput, OutputIsKept) {
  const std::string log = file("a.log", log_text("sincos"));
  write_text(out(), "my thesis");
  const Finished f = strata({"import", log, "-o", out()});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err, HasSubstr("is not a strata trace; it is not overwritten"));
  EXPECT_EQ(read_text(out()), "my thesis");
  fs::remove(out());
  ASSERT_EQ(import(log).run.code, 0);
  const std::string before = read_text(out());
  EXPECT_EQ(import(file("empty.log", "")).run.code, 2);
  EXPECT_EQ(read_text(out()), before) << "a failed import leaves the trace that was there";
  EXPECT_THAT(folder_.names(), ElementsAre("in", "out.strata"));
}

TEST_F(ImportOfWrongInput, OutputThatCannotBeWritten) {
  const std::string log = file("a.log", log_text("sincos"));
  EXPECT_EQ(strata({"import", log, "-o", folder_.file("no/such/folder/out.strata")}).code, 2);
  EXPECT_EQ(strata({"import", log, "-o", folder_.path().string()}).code, 2);
}

std::string long_profile(int events) {
  std::string profile = "{\"traceEvents\": [\n";
  for (int i = 0; i < events; ++i)
    profile += "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 1, \"ts\": " +
               std::to_string(i) + ", \"dur\": 1, \"args\": {\"External id\": " + std::to_string(i) + "}},\n";
  return profile + "{}]}";
}

/// Whatever is being done when the user gives up: no file is left, and the trace that was there stays as it was.
TEST_F(ImportOfWrongInput, CancelLeavesNothing) {
  file("a.log", log_text("breaks_many"));
  file("b.json", long_profile(20000));
  const fs::path in = folder_.path() / "in";
  ImportOptions options;
  options.redact = true;
  std::size_t calls = 0, last = 0;
  std::set<std::string> stages;
  options.progress = [&](double, std::string_view what) {
    stages.insert(std::string(what));
    return ++calls != last;
  };
  import_paths({&in, 1}, out(), options);
  const std::size_t all = calls;
  EXPECT_GT(all, 5u);
  EXPECT_THAT(stages, ::testing::IsSupersetOf({"matching", "comparing ranks", "redacting", "writing"}));
  fs::remove(out());
  for (last = 1; last <= all; ++last) {
    if (last == all / 2) write_text(out(), "");
    calls = 0;
    EXPECT_THROW(import_paths({&in, 1}, out(), options), capture::ImportCancelled) << last;
    EXPECT_EQ(calls, last) << "nothing is asked again";
    EXPECT_EQ(fs::exists(out()), last >= all / 2);
    EXPECT_EQ(folder_.names().size(), last < all / 2 ? 1u : 2u);
  }
  EXPECT_EQ(read_text(out()), "");
  EXPECT_THAT(folder_.names(), ElementsAre("in", "out.strata"));
}

/// The import is stopped while its file is there, so that the signal meets it at work.
TEST_F(ImportOfWrongInput, ControlC) {
  const std::string path = file("big.json", long_profile(400000));
  const auto has_draft = [&] {
    const auto names = folder_.names();
    return std::any_of(names.begin(), names.end(), [](const auto& n) { return n.starts_with(".out.strata.import"); });
  };
  Child child({strata_binary(), "import", path, "-o", out()});
  for (int i = 0; i < 20000 && !has_draft(); ++i) ::usleep(500);
  child.signal(SIGSTOP);
  ASSERT_TRUE(has_draft());
  child.signal(SIGINT);
  child.signal(SIGCONT);
  const Finished f = child.finish();
  EXPECT_EQ(f.code, 130);
  EXPECT_THAT(f.err, HasSubstr("interrupted"));
  EXPECT_THAT(folder_.names(), ElementsAre("in"));
}

}  // namespace
}  // namespace strata::testing
