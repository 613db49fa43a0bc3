// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Compiles side by side in one trace: addresses, whose run it is, what PyTorch was left with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "app/driver/compile.h"
#include "app/driver/inputs.h"
#include "capture/pt2.h"
#include "core/ir/text.h"
#include "core/runtime/parallel.h"
#include "core/trace/reader.h"
#include "tests/app/cases.h"

namespace strata::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// `y = relu(x)` on so many floats.
Program small_program(const std::string& name, int size) {
  Program program(parse_text(std::make_shared<ShapeEnv>(),
                             "strata graph 1\ngraph 'g' {\n  %x:1 = placeholder x() : f32[" + std::to_string(size) +
                                 "][1]cpu\n  %y:2 = call aten.relu.default(%x) : f32[" + std::to_string(size) +
                                 "][1]cpu\n  %output:3 = output output((%y,))\n}\n"));
  program.name = name;
  program.user_input_names = {"x"};
  program.user_output_names = {"out"};
  program.graph.input_specs = {{InputSpec::Kind::User, "", true, {}}};
  return program;
}

CompileOrigin origin_at(std::int64_t frame, std::int64_t compile) {
  CompileOrigin origin;
  origin.addressed = true;
  origin.frame = frame;
  origin.compile = compile;
  origin.function = "f";
  origin.file = "/home/user/m.py";
  origin.line = 3;
  return origin;
}

struct Compilation {
  Compilation(Recorder& recorder, Program p, CompileOrigin* origin) : program(std::move(p)) {
    CompileRequest request;
    request.recorder = &recorder;
    request.origin = origin;
    compiled = compile_program(program, request);
  }
  Program program;
  std::unique_ptr<Compiled> compiled;
};

std::vector<std::string> addresses(trace::Reader& reader) {
  std::vector<std::string> found;
  for (const trace::CompileRecord& c : reader.compiles()) found.push_back(c.address);
  return found;
}

TEST(Recorder, RunsGoToTheirCompile) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "two.strata";
  Recorder recorder(path, "test");
  CompileOrigin a = origin_at(0, 0), b = origin_at(0, 1);
  Compilation first(recorder, small_program("first", 8), &a), second(recorder, small_program("second", 9), &b);
  EXPECT_NE(a.recorded, b.recorded);
  first.compiled->set_timing(true);
  first.compiled->run({Tensor::full(DType::F32, {8}, 1)});
  recorder.run(first.compiled->recorded, "strata", 0, 1000, 50, first.compiled->times());
  recorder.run(second.compiled->recorded, "strata", 0, 2000, 60, {});
  recorder.run(999, "strata", 0, 3000, 60, {});  // nobody's
  recorder.close();
  recorder.run(first.compiled->recorded, "strata", 1, 4000, 50, {});  // too late
  trace::Reader reader(path);
  EXPECT_THAT(addresses(reader), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(reader.frames(), SizeIs(1));
  ASSERT_THAT(reader.runs(), SizeIs(2));
  EXPECT_EQ(reader.runs()[0].compile, a.recorded);
  EXPECT_EQ(reader.runs()[1].compile, b.recorded);
  const auto events = reader.events(reader.runs()[0].id);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(reader.kernel(events[0].kernel)->compile, a.recorded);
}

TEST(Recorder, KernelsByHandHaveTheirName) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "sort.strata";
  Recorder recorder(path, "test");
  Program program(parse_text(std::make_shared<ShapeEnv>(), R"(strata graph 1
graph 'g' {
  %x:1 = placeholder x() : f32[3, 4][4, 1]cpu
  %s:2 = call aten.sort.default(%x) : tuple(f32[3, 4][4, 1]cpu, i64[3, 4][4, 1]cpu)
  %y:3 = call _operator.getitem(%s, 1) : i64[3, 4][4, 1]cpu
  %output:4 = output output((%y,))
}
)"));
  program.user_input_names = {"x"};
  program.user_output_names = {"out"};
  program.graph.input_specs = {{InputSpec::Kind::User, "", true, {}}};
  CompileOrigin origin = origin_at(0, 0);
  Compilation sorting(recorder, std::move(program), &origin);
  recorder.close();
  trace::Reader reader(path);
  const auto kernels = reader.kernels(origin.recorded);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].kind, trace::KernelKind::Library);
  EXPECT_EQ(kernels[0].library, "sort");
  EXPECT_THAT(kernels[0].nodes, SizeIs(::testing::Ge(1)));
}

TEST(Recorder, AddressesThatAreTaken) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "again.strata";
  Recorder recorder(path, "test");
  CompileOrigin a = origin_at(0, 0), again = origin_at(0, 0), unknown;
  Compilation one(recorder, small_program("a", 4), &a), two(recorder, small_program("b", 4), &again),
      three(recorder, small_program("c", 4), &unknown), four(recorder, small_program("d", 4), nullptr);
  recorder.compiled_before(one.program, "strata", one.compiled->plan(), origin_at(0, 0));
  recorder.close();
  trace::Reader reader(path);
  EXPECT_THAT(addresses(reader), ElementsAre("0/0", "s2:0/0", "live:0/0", "1/0", "before:0/0"));
  const trace::CompileRecord before = reader.find_compile("before:0/0");
  EXPECT_FALSE(reader.kernels(before.id).empty());
  EXPECT_FALSE(reader.launches(before.id).empty());
}

TEST(Recorder, DynamosGraphAndEdges) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "torch.strata";
  Recorder recorder(path, "test");
  CompileOrigin origin = origin_at(0, 0);
  origin.graph =
      "class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: \"f32[8][1]cpu\"):\n        l_x_ = L_x_\n"
      "        z: \"f32[8][1]cpu\" = torch.relu(l_x_);  l_x_ = None\n        return (z,)";
  origin.made_from = {{"y", "z"}, {"nobody", "z"}, {"y2", "nothing"}};
  Compilation compilation(recorder, small_program("net", 8), &origin);
  recorder.close();
  trace::Reader reader(path);
  const auto snapshots = reader.snapshots(origin.recorded);
  ASSERT_GE(snapshots.size(), 2u);
  EXPECT_EQ(snapshots[0].stage, "captured");
  EXPECT_EQ(snapshots[1].stage, "captured:aten");
  std::map<std::string, trace::NodeId> torch, own;
  for (const auto& n : reader.nodes(snapshots[0].id)) torch[n.name] = n.id;
  for (const auto& n : reader.nodes(snapshots[1].id)) own[n.name] = n.id;
  std::map<trace::NodeId, trace::NodeId> edges;
  for (const trace::OriginRecord& e : reader.edges(origin.recorded)) edges[e.node] = e.from;
  EXPECT_EQ(edges[own["y"]], torch["z"]);
  EXPECT_EQ(edges[own["x"]], torch["l_x_"]);
}

TEST(Recorder, LeftToPyTorch) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "left.strata";
  Recorder recorder(path, "test");
  CompileOrigin origin = origin_at(2, 0), begun = origin_at(3, 0);
  recorder.left("net", "gradients are needed", origin);
  recorder.begin_compile(small_program("net", 8), "strata", &begun);
  recorder.end_compile("failed", "no code for this", 10);
  recorder.left("net", "no code for this", begun);
  recorder.close();
  trace::Reader reader(path);
  EXPECT_THAT(addresses(reader), ElementsAre("2/0", "3/0"));
  for (const trace::CompileRecord& c : reader.compiles()) EXPECT_EQ(c.outcome, "left");
  ASSERT_THAT(reader.diagnostics(), SizeIs(2));
  EXPECT_EQ(reader.diagnostics()[0].kind, "left");
  EXPECT_EQ(reader.diagnostics()[0].title, "gradients are needed");
  EXPECT_EQ(reader.stack(reader.diagnostics()[0].stack).back().line, 3);
}

TEST(Recorder, ThreadsCompileSideBySide) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "threads.strata";
  Recorder recorder(path, "test");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&recorder, t] {
      for (int i = 0; i < 5; ++i) {
        CompileOrigin origin = origin_at(t, i);
        CompileRequest request;
        request.recorder = &recorder;
        request.origin = &origin;
        const Program program = small_program("p", 4 + t);
        recorder.begin_compile(program, "strata", &origin);
        recorder.metric("thread", t, "1");
        recorder.end_compile("ok", "", 1);
        recorder.run(origin.recorded, "strata", 0, 100 * t + i, t, {});
      }
    });
  for (std::thread& t : threads) t.join();
  recorder.close();
  trace::Reader reader(path);
  EXPECT_THAT(reader.compiles(), SizeIs(20));
  for (const trace::CompileRecord& c : reader.compiles()) {
    EXPECT_EQ(c.outcome, "ok");
    const auto metrics = reader.metrics(trace::Owner{trace::OwnerKind::Compile, c.id, c.id});
    ASSERT_THAT(metrics, SizeIs(1));
    EXPECT_EQ(metrics[0].value, static_cast<double>(c.frame_number));
  }
  std::map<trace::Id, std::int64_t> frames;
  for (const trace::CompileRecord& c : reader.compiles()) frames[c.id] = c.frame_number;
  for (const trace::RunRecord& r : reader.runs()) EXPECT_EQ(r.duration_ns, frames[r.compile]);
}

TEST(Recorder, ForkedProcessLeavesTheFileAlone) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "fork.strata";
  auto recorder = std::make_unique<Recorder>(path, "test");
  CompileOrigin origin = origin_at(0, 0);
  recorder->begin_compile(small_program("p", 4), "strata", &origin);
  recorder->end_compile("ok", "", 1);
  const pid_t child = fork();
  if (child == 0) {
    recorder->run(origin.recorded, "child", 0, 1, 1, {});
    CompileOrigin other = origin_at(1, 0);
    const bool ignored = recorder->begin_compile(small_program("q", 4), "strata", &other) == trace::kNone;
    recorder->close();
    recorder.reset();
    _exit(ignored ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  recorder->run(origin.recorded, "parent", 0, 2, 2, {});
  recorder->close();
  trace::Reader reader(path);
  EXPECT_THAT(addresses(reader), ElementsAre("0/0"));
  ASSERT_THAT(reader.runs(), SizeIs(1));
  EXPECT_EQ(reader.runs()[0].label, "parent");
}

/// Runs go through several numbers of threads, and nothing of it is seen in the results.
TEST(Compiled, ResultsAreTheSameForAnyNumberOfThreads) {
  for (const std::string model : {"bert", "cnn_fmnist"}) {
    const Program program = load_pt2(model_file(model));
    CompileRequest request;
    request.threads = 3;
    const auto compiled = compile_program(program, request);
    compiled->set_timing(true);
    const std::vector<Tensor> inputs = random_inputs(program, 11);
    const std::vector<Tensor> first = compiled->run(inputs);
    std::set<int> threads;
    for (int run = 0; run < 60; ++run) {
      const std::vector<Tensor> next = compiled->run(inputs);
      for (const LaunchTime& t : compiled->times()) threads.insert(t.threads);
      ASSERT_EQ(next.size(), first.size());
      for (size_t i = 0; i < next.size(); ++i) {
        ASSERT_EQ(next[i].shape, first[i].shape);
        const size_t bytes = static_cast<size_t>(next[i].numel()) * dtype_size(next[i].dtype);
        EXPECT_EQ(std::memcmp(next[i].data(), first[i].data(), bytes), 0) << model << ", run " << run;
      }
    }
    EXPECT_GT(threads.size(), 1u) << model;
  }
  set_thread_count(usable_cores());
}

}  // namespace
}  // namespace strata::testing
