// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/python_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/support/error.h"
#include "core/trace/reader.h"
#include "profiler/measured.h"
#include "profiler/stack_times.h"
#include "tests/profiler/eager_support.h"

namespace strata::profiler {
namespace {

using test::ProfileMaker;
using Kind = PythonName::Kind;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(PythonName, SaysFileLineAndFunction) {
  const PythonName n = parse_python_name("src/my (old)/model.py(12): forward");
  EXPECT_EQ(n.kind, Kind::User);
  EXPECT_EQ(n.file, "src/my (old)/model.py");
  EXPECT_EQ(n.line, 12);
  EXPECT_EQ(n.function, "forward");
  EXPECT_EQ(parse_python_name("a.py(3): <listcomp>").function, "<listcomp>");
}

TEST(PythonName, TellsOtherKindsApart) {
  EXPECT_EQ(parse_python_name("nn.Module: Linear_0").kind, Kind::Module);
  EXPECT_EQ(parse_python_name("nn.Module: Linear_0").module, "Linear_0");
  EXPECT_EQ(parse_python_name("<built-in method relu of type object at 0x7f1>").kind, Kind::BuiltIn);
  EXPECT_EQ(parse_python_name("<built-in function f(1): g>").kind, Kind::BuiltIn);
  EXPECT_EQ(parse_python_name("torch/nn/modules/linear.py(124): forward").kind, Kind::Library);
  EXPECT_EQ(parse_python_name("<eval_with_key>.12(4): forward").kind, Kind::Library);
  for (const char* damaged :
       {"", "(", "):", "): f", "(1): f", "a.py(): f", "a.py(x): f", "a.py(-1): f", "a.py(99999999999999999999): f"})
    EXPECT_EQ(parse_python_name(damaged).kind, Kind::BuiltIn) << damaged;
}

TEST(PythonName, UsersFiles) {
  for (const char* file :
       {"model.py", "/home/me/torch_things/net.py", "torchvision/models/densenet.py",
        "/usr/lib/python3/dist-packages/transformers/modeling.py", "<ipython-input-3-ab12>", R"(C:\work\net.py)"})
    EXPECT_TRUE(is_user_file(file)) << file;
  for (const char* file :
       {"torch/_ops.py", "/venv/lib/python3.12/site-packages/torch/nn/functional.py", "/src/pytorch/torch/nn/init.py",
        R"(C:\venv\Lib\site-packages\torch\nn\functional.py)", "triton/runtime/jit.py", "contextlib.py",
        "/usr/lib/python3.11/copy.py", "/tmp/torchinductor_me/ab/cab.py", "<string>", "<frozen runpy>"})
    EXPECT_FALSE(is_user_file(file)) << file;
}

TEST(PythonName, FilesAndFunctionsUnderSeveralNames) {
  EXPECT_TRUE(same_file("net/model.py", "/home/me/net/model.py"));
  EXPECT_TRUE(same_file("/home/me/net/model.py", "model.py"));
  EXPECT_TRUE(same_file(R"(C:\net\model.py)", "net/model.py"));
  EXPECT_FALSE(same_file("model.py", "/home/me/other_model.py"));
  EXPECT_FALSE(same_file("a/model.py", "b/model.py"));
  EXPECT_FALSE(same_file("", "model.py"));
  EXPECT_EQ(original_function("torch_dynamo_resume_in_forward_at_70"), "forward");
  EXPECT_EQ(original_function("torch_dynamo_resume_in_torch_dynamo_resume_in_f_at_7_at_9"), "f");
  EXPECT_EQ(original_function("torch_dynamo_resume_in_"), "torch_dynamo_resume_in_");
  EXPECT_EQ(original_function("forward"), "forward");
}

/// One profile, written by a function.
class Stacks : public ::testing::Test {
 protected:
  void write(const std::function<void(ProfileMaker&)>& body) {
    trace::Writer w(path_);
    ProfileMaker p(w, w.add(trace::ProcessRecord{}));
    body(p);
    p.finish();
    device_total_ = p.device_total();
    w.close();
  }
  Timeline timeline() {
    trace::Reader reader(path_);
    return read_timeline(reader, profiles_in(reader));
  }
  PythonPlace place(const std::string& op) {
    const Timeline t = timeline();
    PythonPlaces places(t);
    for (int i = 0; i < static_cast<int>(t.host.size()); ++i)
      if (t.host[static_cast<size_t>(i)].name == op) return places.of(i);
    ADD_FAILURE() << "no " << op;
    return {};
  }
  std::map<std::string, std::int64_t> table(MeasuredBy by) {
    trace::Reader reader(path_);
    MeasuredOptions options;
    options.by = by;
    const MeasuredTable t = make_measured_table(reader, options);
    std::map<std::string, std::int64_t> rows;
    double sum = 0;
    for (const MeasuredRow& r : t.rows) rows[r.key] = static_cast<std::int64_t>(r.total), sum += r.total;
    EXPECT_EQ(sum, t.total);
    return rows;
  }
  std::filesystem::path path_ =
      test::temporary(std::string("stacks_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::int64_t device_total_ = 0;
};

TEST_F(Stacks, InnermostFunctionOfTheUser) {
  write([](ProfileMaker& p) {
    p.python("train.py(1): <module>", [&] {
      p.python("nn.Module: Net_0", [&] {
        p.python("net.py(10): forward", [&] {
          p.python("nn.Module: Linear_1", [&] {
            p.python("torch/nn/modules/linear.py(124): forward",
                     [&] { p.python("<built-in function linear>", [&] { p.op("aten::linear", ""); }); });
          });
          p.op("aten::mul", "");
        });
      });
    });
    p.op("aten::alone", "");
  });
  const PythonPlace linear = place("aten::linear");
  EXPECT_EQ(linear.text(), "net.py(10): forward");
  EXPECT_EQ(linear.modules, "Net_0.Linear_1");
  EXPECT_EQ(place("aten::mul").modules, "Net_0");
  EXPECT_FALSE(place("aten::alone").known());
}

TEST_F(Stacks, RunningLineWhereCallsSayIt) {
  write([](ProfileMaker& p) {
    p.python(
        "net.py(10): forward",
        [&] {
          p.python("torch/nn/functional.py(2): relu", [&] { p.op("aten::relu", ""); }, R"({"CallFrom":"net.py:14"})");
          p.python("torch/nn/functional.py(9): gelu", [&] { p.op("aten::gelu", ""); }, R"({"CallFrom":"other.py:15"})");
          p.python("torch/nn/functional.py(9): silu", [&] { p.op("aten::silu", ""); }, R"({"CallFrom":"net.py:x"})");
        },
        R"({"CallFrom":"train.py:3"})");
  });
  EXPECT_EQ(place("aten::relu").text(), "net.py:14 in forward");
  EXPECT_EQ(place("aten::gelu").text(), "net.py(10): forward");
  EXPECT_EQ(place("aten::silu").text(), "net.py(10): forward");
}

TEST_F(Stacks, WrittenOnOperators) {
  write([](ProfileMaker& p) {
    p.next_args(R"json({"Call stack":"torch/nn/functional.py(1847): linear;net.py(8): forward;train.py(3): f",
                        "Module Hierarchy":"TOP(Net)::forward.SELF(Net)"})json");
    p.op("aten::linear", "", [&] { p.op("aten::addmm", ""); });
    p.next_args(R"json({"Call stack":"net.py(8)json");
    p.op("aten::damaged", "");
  });
  EXPECT_EQ(place("aten::linear").text(), "net.py:8 in forward");
  EXPECT_EQ(place("aten::addmm").text(), "net.py:8 in forward");
  EXPECT_EQ(place("aten::addmm").modules, "TOP(Net)::forward.SELF(Net)");
  EXPECT_FALSE(place("aten::damaged").known());
}

TEST_F(Stacks, DeepOnesAreWalkedOnce) {
  write([](ProfileMaker& p) {
    std::function<void(int)> call = [&](int depth) {
      if (depth == 0) return p.op("aten::deep", "");
      p.python("f.py(" + std::to_string(depth) + "): f", [&] { call(depth - 1); });
    };
    call(3000);
  });
  EXPECT_EQ(place("aten::deep").text(), "f.py(1): f");
}

TEST_F(Stacks, PathsOfModulesHaveALimit) {
  write([](ProfileMaker& p) {
    std::function<void(int)> call = [&](int depth) {
      if (depth == 0) return p.op("aten::deep", "");
      p.python("nn.Module: Module_" + std::to_string(depth), [&] { call(depth - 1); });
    };
    call(3000);
  });
  EXPECT_LE(place("aten::deep").modules.size(), 4096u);
}

/// Two iterations: model, loss, backward, optimizer, a copy.
void training(ProfileMaker& p, bool stacks) {
  const auto python = [&](const std::string& name, const ProfileMaker::Body& body) {
    if (stacks) return p.python(name, body);
    body();
  };
  for (int i = 0; i < 2; ++i) {
    python("train.py(1): <module>", [&] {
      p.op("aten::to", "[[8]]", [&] { p.launch("Memcpy HtoD", 7, "gpu_memcpy"); });
      python("nn.Module: Net_0", [&] {
        python("net.py(10): forward", [&] {
          p.op("aten::relu", "[[8]]", [&] { p.launch("relu", 30); }, 10 * i);
          python("nn.Module: Linear_0",
                 [&] { p.op("aten::linear", "[[8]]", [&] { p.launch("gemm", 50); }, 10 * i + 1); });
        });
      });
      python("train.py(5): loss", [&] { p.op("aten::sum", "[[8]]", [&] { p.launch("sum", 9); }, 10 * i + 2); });
    });
    p.backward("SumBackward0", 10 * i + 2, [&] { p.launch("fill", 3); });
    p.backward("AddmmBackward0", 10 * i + 1, [&] { p.launch("gemm_d", 60); });
    p.backward("ReluBackward0", 10 * i, [&] { p.launch("relu_d", 31); });
    p.backward("torch::autograd::AccumulateGrad", -1, [&] { p.launch("add", 4); });
    p.annotation("Optimizer.step#SGD.step", [&] { p.op("aten::add_", "[[8]]", [&] { p.launch("step", 40); }); });
  }
}

TEST_F(Stacks, ProfileByFunction) {
  write([](ProfileMaker& p) { training(p, true); });
  // No correlation was written, so that everything that is in no kernel counts as not compiled.
  EXPECT_THAT(table(MeasuredBy::Line),
              ElementsAre(Pair("(gradient accumulation)", 2 * 4), Pair("eager", 2 * 47),
                          Pair("net.py(10): forward", 2 * (30 + 50 + 60 + 31)), Pair("train.py(5): loss", 2 * 12)));
}

TEST_F(Stacks, ProfileByModule) {
  write([](ProfileMaker& p) { training(p, true); });
  EXPECT_THAT(table(MeasuredBy::Module),
              ElementsAre(Pair("(gradient accumulation)", 2 * 4), Pair("(outside of modules)", 2 * 12),
                          Pair("Net_0", 2 * 61), Pair("Net_0.Linear_0", 2 * 110), Pair("eager", 2 * 47)));
}

TEST_F(Stacks, ProfileWithoutStacksStaysWhole) {
  write([](ProfileMaker& p) { training(p, false); });
  EXPECT_THAT(table(MeasuredBy::Line), ElementsAre(Pair("eager", device_total_)));
}

TEST_F(Stacks, TimeOfTheHostIsThatOfOutermostOperators) {
  write([](ProfileMaker& p) { training(p, true); });
  trace::Reader reader(path_);
  const StackTimes times = stack_times(reader, profiles_in(reader).front(), false);
  std::int64_t lines = 0, modules = 0;
  for (const auto& [key, time] : times.lines) lines += time.ns;
  for (const auto& [key, time] : times.modules) modules += time.ns;
  EXPECT_EQ(lines, times.total);
  EXPECT_EQ(modules, times.total);
  // Relu, linear and their backward, in two iterations.
  EXPECT_EQ(times.lines.at("net.py(10): forward").calls, 8);
  EXPECT_EQ(times.lines.at("train.py(5): loss").calls, 4);
  EXPECT_EQ(times.lines.at("train.py(1): <module>").calls, 2);
}

TEST_F(Stacks, IterationsWithoutAnnotations) {
  write([](ProfileMaker& p) {
    for (int i = 0; i < 3; ++i) {
      p.python("net.py(10): forward", [&] { p.op("aten::relu", ""), p.op("aten::mul", ""); });
      p.backward("MulBackward0", 2 * i + 1, [] {});
      p.backward("ReluBackward0", 2 * i, [] {});
    }
  });
  const Timeline t = timeline();
  EXPECT_EQ(t.iterations.size(), 3u);
  for (const HostEvent& e : t.host) {
    if (e.name != "aten::relu") continue;
    EXPECT_EQ(e.track, t.main_track);
  }
}

}  // namespace
}  // namespace strata::profiler
