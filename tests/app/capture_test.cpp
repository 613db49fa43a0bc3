// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata capture`: the script runs as it would without; what it logs becomes a trace. Tests with a PyTorch that has
/// torch.compile need a Python that has it: STRATA_TORCH_PYTHON, or python3.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/trace/reader.h"
#include "tests/app/import_testing.h"

namespace strata::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Capture : public ::testing::Test {
 protected:
  std::string out() const { return folder_.file("out.strata"); }
  Finished capture(std::vector<std::string> options, const std::vector<std::string>& command,
                   const Child::Environment& environment = {}) {
    std::vector<std::string> words = {strata_binary(), "capture", "-o", out()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    Child child(words, environment);
    return child.finish(std::chrono::seconds(280));
  }
  /// A command that writes a log as a script with torch.compile does.
  std::string logging(const std::string& log) const {
    return "cp '" + log + "' \"$TORCH_TRACE/dedicated_log_torch_trace_abcdefgh.log\"";
  }
  std::string log() const {
    write_text(folder_.path() / "log.txt", log_text("sincos"));
    return folder_.file("log.txt");
  }
  TemporaryFolder folder_;
};

TEST_F(Capture, OutputAndExitCodeAreTheScripts) {
  const Finished f = capture({}, {"/bin/sh", "-c", "echo out; echo err >&2; " + logging(log()) + "; exit 7"});
  EXPECT_EQ(f.code, 7);
  EXPECT_EQ(f.out, "out\n");
  EXPECT_THAT(f.err, AllOf(HasSubstr("err\n"), HasSubstr("ended with exit code 7"), HasSubstr("out.strata: ")));
  EXPECT_EQ(strata({"graphs", out()}).code, 0);
}

TEST_F(Capture, InputReachesTheScript) {
  const Finished f = capture(
      {}, {"/bin/sh", "-c", "echo 'a \"b\" --c'; printf '%s|' \"$@\"; " + logging(log()), "sh", "x y", "--lr", "1"});
  EXPECT_EQ(f.code, 0) << f.err;
  EXPECT_EQ(f.out, "a \"b\" --c\nx y|--lr|1|");
}

TEST_F(Capture, KilledByASignal) {
  const Finished f = capture({}, {"/bin/sh", "-c", logging(log()) + "; kill -TERM $$"});
  EXPECT_EQ(f.code, 128 + SIGTERM);
  EXPECT_EQ(strata({"graphs", out()}).code, 0) << "what it left is imported";
}

TEST_F(Capture, SignalsArePassedOn) {
  const std::string ready = folder_.file("ready");
  Child child(
      {strata_binary(), "capture", "-o", out(), "--", "/bin/sh", "-c",
       "trap 'echo caught; exit 5' INT; " + logging(log()) + "; touch '" + ready + "'; while :; do sleep 0.05; done"});
  for (int i = 0; i < 200 && !fs::exists(ready); ++i) ::usleep(50000);
  ASSERT_TRUE(fs::exists(ready));
  child.signal(SIGINT);
  const Finished f = child.finish();
  EXPECT_EQ(f.code, 5) << f.err;
  EXPECT_EQ(f.out, "caught\n");
  EXPECT_EQ(strata({"graphs", out()}).code, 0);
}

TEST_F(Capture, NothingToImportIsSaid) {
  const Finished f = capture({}, {"/bin/sh", "-c", "exit 0"});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err, HasSubstr("no trace: '/bin/sh' did not import torch"));
  EXPECT_EQ(capture({}, {"/bin/sh", "-c", "exit 9"}).code, 9);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(Capture, CommandThatDoesNotExist) {
  const Finished f = capture({}, {"no-such-command"});
  EXPECT_EQ(f.code, 2);
  EXPECT_THAT(f.err, HasSubstr("cannot start 'no-such-command': No such file"));
}

TEST_F(Capture, TheUsersTorchTraceStays) {
  const fs::path logs = folder_.path() / "logs";
  write_text(logs / "dedicated_log_torch_trace_old_old_.log", log_text("breaks_many"));
  const Finished f = capture({}, {"/bin/sh", "-c", logging(log())}, {{"TORCH_TRACE", logs.string()}});
  EXPECT_EQ(f.code, 0) << f.err;
  EXPECT_THAT(f.err, HasSubstr("is set and stays"));
  const Json graphs = parse_json(strata({"graphs", out(), "--json"}).out, "graphs");
  EXPECT_LT(graphs.array().size(), 10u) << "only the new log";
  EXPECT_TRUE(fs::exists(logs / "dedicated_log_torch_trace_old_old_.log"));
}

TEST_F(Capture, KeepLeavesTheLogs) {
  const std::string keep = folder_.file("kept");
  EXPECT_EQ(capture({"--keep", keep}, {"/bin/sh", "-c", logging(log())}).code, 0);
  EXPECT_TRUE(fs::exists(fs::path(keep) / "log" / "dedicated_log_torch_trace_abcdefgh.log"));
  EXPECT_FALSE(fs::exists(fs::path(keep) / "hook"));
}

// ------------------------------------------------------------------------------------------------------------------

/// A Python whose torch has torch.compile; empty if there is none.
std::string torch_python() {
  static const std::string found = [] {
    const char* set = std::getenv("STRATA_TORCH_PYTHON");
    for (const std::string& python : {std::string(set ? set : ""), std::string("python3")}) {
      if (python.empty()) continue;
      const Finished f =
          Child({"/bin/sh", "-c",
                 "exec " + python +
                     " -c 'import torch, torch._dynamo; assert int(torch.__version__.split(\".\")[1]) >= 6 "
                     "and torch.__version__[0] == \"2\"'"})
              .finish();
      if (f.code == 0) return python;
    }
    return std::string();
  }();
  return found;
}

class LivePyTorch : public Capture {
 protected:
  void SetUp() override {
    if (torch_python().empty()) GTEST_SKIP() << "no Python with torch >= 2.6: set STRATA_TORCH_PYTHON";
  }
  static std::string script(const std::string& name) { return std::string(STRATA_TEST_DATA) + "/../" + name; }
};

TEST_F(LivePyTorch, TrainingWithBreaksAndRecompiles) {
  const Finished f =
      capture({"--profile"}, {"/usr/bin/env", torch_python(), script("../examples/capture/breaks_and_recompiles.py")});
  ASSERT_EQ(f.code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("loss torch.Size([])"));
  const Json graphs = parse_json(strata({"graphs", out(), "--json"}).out, "graphs");
  std::set<std::string> addresses;
  std::size_t breaks = 0, recompiles = 0, stages = 0;
  for (const Json& g : graphs.array()) {
    addresses.insert(g.at("graph").string());
    breaks += g.at("breaks").array().size();
    recompiles += g.at("recompiles").array().size();
    stages += static_cast<std::size_t>(g.at("stages").integer());
  }
  EXPECT_TRUE(addresses.contains("0/0"));
  EXPECT_TRUE(addresses.contains("0/1")) << "another batch size";
  EXPECT_GE(breaks, 2u);
  EXPECT_GE(recompiles, 1u);
  EXPECT_GE(stages, 10u);
  EXPECT_GT(parse_json(strata({"query", out(), "category=cpu_op", "--json"}).out, "query").at("count").integer(), 100);
  EXPECT_EQ(strata({"export", out(), "--format", "html", "-o", folder_.file("r.html")}).code, 0);
}

TEST_F(LivePyTorch, EagerScriptsAndErrors) {
  const Finished eager =
      capture({}, {"/usr/bin/env", torch_python(), "-c", "import torch; print(torch.ones(2).sum())"});
  EXPECT_EQ(eager.code, 2);
  EXPECT_THAT(eager.err, HasSubstr("nothing was compiled with torch.compile"));
  const Finished fails = capture(
      {"--profile"}, {"/usr/bin/env", torch_python(), "-c", "import torch; torch.ones(2).sum(); raise SystemExit(3)"});
  EXPECT_EQ(fails.code, 3);
  EXPECT_EQ(strata({"query", out(), "category=cpu_op"}).code, 0) << "the profile is there";
}

/// Compiles and runs a function, says so in the file `ready`, and then does as the words say.
constexpr const char* kCompilesAndThen = R"PY(
import os, signal, sys, time, torch
@torch.compile
def f(x):
    return (x.sin() + x.cos()).relu() * 2
for i in range(3):
    f(torch.randn(64, 64))
open(sys.argv[1], "w").close()
exec(sys.argv[2])
)PY";

/// A process group of its own, as a shell makes one for what is typed.
class LivePyTorchEnd : public LivePyTorch {
 protected:
  std::vector<std::string> words(const std::string& end) {
    write_text(folder_.path() / "script.py", kCompilesAndThen);
    return {"/usr/bin/setsid", strata_binary(),           "capture", "--profile", "-o", out(), "--", "/usr/bin/env",
            torch_python(),    folder_.file("script.py"), ready(),   end};
  }
  std::string ready() const { return folder_.file("ready"); }
  Finished run(const std::string& end) { return Child(words(end)).finish(std::chrono::seconds(280)); }
  bool has_graph() const { return strata({"show", out(), "--graph", "0/0", "--stage", "captured"}).code == 0; }
  bool has_profile() const {
    const Finished f = strata({"query", out(), "category=cpu_op", "--json"});
    return f.code == 0 && parse_json(f.out, "query").at("count").integer() > 0;
  }
};

TEST_F(LivePyTorchEnd, ControlCInTheMiddle) {
  Child child(words("while True: f(torch.randn(64, 64)); time.sleep(0.01)"));
  for (int i = 0; i < 2000 && !fs::exists(ready()); ++i) ::usleep(50000);
  ASSERT_TRUE(fs::exists(ready()));
  ::kill(-child.pid(), SIGINT);
  const Finished f = child.finish(std::chrono::seconds(280));
  EXPECT_EQ(f.code, 130) << f.err;
  EXPECT_THAT(f.err, AllOf(HasSubstr("KeyboardInterrupt"), HasSubstr("what it left is imported")));
  EXPECT_TRUE(has_graph());
  EXPECT_TRUE(has_profile());
}

TEST_F(LivePyTorchEnd, Exception) {
  const Finished f = run("raise RuntimeError('mine')");
  EXPECT_EQ(f.code, 1) << f.err;
  EXPECT_THAT(f.err, HasSubstr("RuntimeError: mine"));
  EXPECT_TRUE(has_graph());
  EXPECT_TRUE(has_profile());
}

TEST_F(LivePyTorchEnd, Terminated) {
  EXPECT_EQ(run("os.kill(os.getpid(), signal.SIGTERM)").code, 128 + SIGTERM);
  EXPECT_TRUE(has_graph());
  EXPECT_TRUE(has_profile());
}

TEST_F(LivePyTorchEnd, WithoutPythonsExit) {
  const std::pair<const char*, int> ends[] = {{"os._exit(5)", 5},
                                              {"os.kill(os.getpid(), signal.SIGKILL)", 128 + SIGKILL}};
  for (const auto& [end, code] : ends) {
    const Finished f = run(end);
    EXPECT_EQ(f.code, code) << f.err;
    EXPECT_THAT(f.err, HasSubstr("left no profile"));
    EXPECT_TRUE(has_graph()) << end;
    EXPECT_FALSE(has_profile()) << end;
  }
}

constexpr const char* kRanks = R"PY(
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
compiled = torch.compile(model)
for step in range(3):
    compiled(torch.randn(8 + step * rank, 8)).sum().backward()  # other sizes on rank 1: it compiles again
    for p in model.parameters():
        dist.all_reduce(p.grad)
dist.destroy_process_group()
)PY";

TEST_F(LivePyTorch, SeveralRanks) {
  write_text(folder_.path() / "ranks.py", kRanks);
  const Finished f = capture({"--profile"}, {"/usr/bin/env", torch_python(), "-m", "torch.distributed.run",
                                             "--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port",
                                             std::to_string(20000 + ::getpid() % 20000), folder_.file("ranks.py")});
  ASSERT_EQ(f.code, 0) << f.err;
  trace::Reader reader(out());
  std::set<std::int64_t> ranks;
  for (const trace::ProcessRecord& p : reader.processes()) ranks.insert(p.rank);
  EXPECT_THAT(ranks, ElementsAre(0, 1)) << "logs and profiles of a rank are one process";
  EXPECT_EQ(reader.processes().size(), 2u);
  std::map<std::string, int> kinds;
  for (const trace::InputRecord& i : reader.inputs()) ++kinds[i.kind];
  EXPECT_EQ(kinds["torch-trace"], 2);
  EXPECT_EQ(kinds["profile"], 2);
  std::set<std::string> addresses;
  for (const trace::CompileRecord& c : reader.compiles()) addresses.insert(c.address);
  EXPECT_TRUE(addresses.contains("r0:0/0") && addresses.contains("r1:0/0") && addresses.contains("r1:0/1"));
  EXPECT_FALSE(addresses.contains("r0:0/1"));
  const Finished explained = strata({"explain", out(), "--all"});
  EXPECT_EQ(explained.code, 0);
  EXPECT_THAT(explained.out, AllOf(HasSubstr("2 ranks"), HasSubstr("times on rank 1, once on rank 0")));
}

}  // namespace
}  // namespace strata::testing
