// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/compiler.h"
#include "core/ir/interpreter.h"
#include "core/ir/op.h"
#include "core/ir/text.h"
#include "core/support/error.h"
#include "passes/schedule.h"
#include "tests/error_text.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::AllOf;
using testing::graph_of;
using ::testing::HasSubstr;

class Plans {
 public:
  explicit Plans(const char* text, std::map<std::string, Tensor> state = {})
      : graph_(graph_of(text)), state_(std::move(state)) {
    ScheduleOptions options;
    options.state = &state_;
    scheduled_ = schedule(graph_, options);
  }

  std::string fate(std::string_view name) const {
    return std::string(to_string(scheduled_.fates.at(graph_.find(name)->id).kind));
  }
  const Plan& plan() const { return *scheduled_.plan; }
  const PlanBuffer& buffer(std::string_view name) const {
    for (const PlanBuffer& b : plan().buffers)
      if (b.name == name) return b;
    throw std::out_of_range(std::string(name));
  }
  /// Name of the buffer whose memory `name` takes over; empty if none.
  std::string over(std::string_view name) const {
    const int of = buffer(name).reuse_of;
    return of < 0 ? "" : plan().buffers[static_cast<size_t>(of)].name;
  }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    const auto compiler = make_cpu_compiler();
    Executor executor(scheduled_.plan, compiler->compile(plan(), {}), 1);
    return executor.run(inputs);
  }

 private:
  Graph graph_;
  std::map<std::string, Tensor> state_;
  Scheduled scheduled_;
};

Tensor numbers(std::vector<int64_t> shape, std::vector<double> values, DType dtype = DType::F32) {
  return Tensor::of(dtype, std::move(shape), values);
}

TEST(Schedule, EveryNodeEndsSomewhere) {
  Plans p(R"(
def forward(self, p_w: "f32[3]", x: "f32[s0, 3]"):
    n = torch.ops.aten.sym_size.int(x, 0)
    t = torch.ops.aten.permute.default(x, [1, 0])
    a = torch.ops.aten.mul.Tensor(x, p_w)
    u = torch.ops.aten.unsqueeze.default(a, 0)
    unused = torch.ops.aten.permute.default(a, [1, 0])
    return (u, t, n))",
          {{"p_w", numbers({3}, {1, 2, 3})}});
  EXPECT_EQ(p.fate("p_w"), "constant");
  EXPECT_EQ(p.fate("x"), "input");
  EXPECT_EQ(p.fate("n"), "size");
  EXPECT_EQ(p.fate("t"), "view of an output");
  EXPECT_EQ(p.fate("a"), "launch");
  EXPECT_EQ(p.fate("u"), "view of an output");
  EXPECT_EQ(p.fate("unused"), "unused");
}

TEST(Schedule, OutputsMayBeViewsInputsConstantsAndSizes) {
  Plans p(R"(
def forward(self, p_w: "f32[3]", x: "f32[s0, 3]"):
    n = torch.ops.aten.sym_size.int(x, 0)
    a = torch.ops.aten.neg.default(x)
    t = torch.ops.aten.permute.default(a, [1, 0])
    s = torch.ops.aten.select.int(x, 1, 2)
    return (t, x, p_w, s, n))",
          {{"p_w", numbers({3}, {7, 8, 9})}});
  const auto out = p.run({numbers({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(out[0].values(), (std::vector<double>{-1, -4, -2, -5, -3, -6}));
  EXPECT_EQ(out[0].shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(out[1].values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(out[2].values(), (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(out[3].values(), (std::vector<double>{3, 6}));
  EXPECT_EQ(out[4].int_at(0), 2);
}

TEST(Schedule, PartsOfOpaqueResults) {
  Plans p(R"(
def forward(self, x: "f32[3, 2]"):
    t = torch.ops.aten.permute.default(x, [1, 0])
    s = torch.ops.aten.sort.default(t, 1, True)
    v = s[0]
    i = s[1]
    n = torch.ops.aten.neg.default(v)
    return (n, i))");
  EXPECT_EQ(p.fate("s"), "launch");
  EXPECT_EQ(p.fate("i"), "launch");
  const auto out = p.run({numbers({3, 2}, {1, 6, 3, 4, 2, 5})});
  EXPECT_EQ(out[0].values(), (std::vector<double>{-3, -2, -1, -6, -5, -4}));
  EXPECT_EQ(out[1].values(), (std::vector<double>{1, 2, 0, 0, 2, 1}));
}

TEST(Schedule, NothingToCompute) {
  Plans p(R"(
def forward(self, x: "f32[2]"):
    return (x,))");
  EXPECT_TRUE(p.plan().launches.empty());
  EXPECT_EQ(p.run({numbers({2}, {3, 4})})[0].values(), (std::vector<double>{3, 4}));
}

TEST(Schedule, ZeroSizesAndScalars) {
  Plans p(R"(
def forward(self, x: "f32[0, 3]", y: "f32[]"):
    a = torch.ops.aten.sin.default(x)
    s = torch.ops.aten.sum.dim_IntList(x, [0])
    v = torch.ops.aten.view.default(a, [3, 0])
    n = torch.ops.aten.neg.default(y)
    t = torch.ops.aten.sum.default(n)
    return (v, s, t))");
  const auto out = p.run({Tensor::empty(DType::F32, {0, 3}), numbers({}, {5})});
  EXPECT_EQ(out[0].shape, (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(out[1].values(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(out[2].values(), (std::vector<double>{-5}));
}

/// Shape rules take sizes for equal that nothing else makes equal: a kernel would read beyond the shorter operand.
TEST(Schedule, SizesThatAreTakenForEqualAreCompared) {
  const char* const text = R"(
def forward(self, x: "f32[s0]", y: "f32[s1]"):
    a = torch.ops.aten.add.Tensor(x, y)
    return (a,))";
  Plans p(text);
  const std::vector<Tensor> same{numbers({3}, {1, 2, 3}), numbers({3}, {4, 5, 6})};
  EXPECT_EQ(p.run(same)[0].values(), (std::vector<double>{5, 7, 9}));
  const std::vector<Tensor> others{numbers({3}, {1, 2, 3}), numbers({2}, {4, 5})};
  const auto says = HasSubstr("broadcast in aten.add.Tensor: s0 == s1 does not hold (found 3 and 2), in 'a'");
  EXPECT_THAT(testing::error_text([&] { p.run(others); }), says);
  const Graph graph = graph_of(text);
  EXPECT_THAT(testing::error_text([&] { Interpreter(graph).run(others); }), says);
}

/// Sizes that let a call read or write beyond its operands, or make less than nothing, end the run first. `x` has one
/// symbolic size; with `good` for it the call works.
struct Fit {
  const char *shape, *call;
  int64_t good, bad;
  const char* says;
};
void PrintTo(const Fit& fit, std::ostream* out) { *out << fit.call; }

class Fits : public ::testing::TestWithParam<Fit> {};

TEST_P(Fits, OrTheRunEnds) {
  const Fit& fit = GetParam();
  const Graph graph =
      graph_of(std::string("\ndef forward(self, x: \"f32[") + fit.shape +
               "]\", y: \"f32[5, 3]\", w: \"f32[1, 1, 5]\", i: \"i64[5, 3]\"):\n    r = torch.ops.aten." + fit.call +
               "\n    return (r,)");
  const Scheduled scheduled = schedule(run_passes(inference_pipeline(), graph, {}, {}), {});
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 1);
  const auto inputs = [&](int64_t size) {
    std::vector<int64_t> shape;
    for (const SymInt& s : graph.find("x")->tensor().shape) shape.push_back(s.is_const() ? s.value() : size);
    std::vector<Tensor> made;
    const std::vector<std::vector<int64_t>> others{{5, 3}, {1, 1, 5}};
    for (const auto& sizes : {shape, others[0], others[1]}) {
      made.push_back(Tensor::empty(DType::F32, sizes));
      for (int64_t k = 0; k < made.back().numel(); ++k) made.back().set(k, static_cast<double>(k % 7) - 3.5);
    }
    made.push_back(Tensor::full(DType::I64, {5, 3}, 1));
    return made;
  };
  EXPECT_EQ(executor.run(inputs(fit.good))[0].values(), Interpreter(graph).run(inputs(fit.good))[0].tensor().values());
  const auto says = AllOf(HasSubstr(fit.says), HasSubstr("does not hold"));
  EXPECT_THAT(testing::error_text([&] { executor.run(inputs(fit.bad)); }), says);
  EXPECT_THAT(testing::error_text([&] { Interpreter(graph).run(inputs(fit.bad)); }), says);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Fits,
    ::testing::Values(Fit{"1, 1, s0", "max_pool1d.default(x, [5], [1])", 6, 4, "windows of 5"},
                      Fit{"1, 1, s0", "avg_pool1d.default(x, [5], [1])", 6, 4, "windows of 5"},
                      Fit{"1, 1, s0", "convolution.default(x, w, None, [1], [0], [1], False, [0], 1)", 6, 4, "s0 >= 5"},
                      Fit{"1, 1, s0", "convolution.default(x, w, None, [1], [4], [1], True, [0], 1)", 6, 2,
                          "output size"},
                      Fit{"s0, 3", "select.int(x, 0, 4)", 5, 4, "index 4"},
                      Fit{"s0, 3", "select.int(x, 0, -5)", 5, 4, "index -5"},
                      Fit{"s0, 3", "narrow.default(x, 0, 2, 3)", 5, 4, "start and length"},
                      Fit{"s0, 3", "as_strided.default(x, [5, 3], [3, 1])", 5, 4, "elements of memory"},
                      Fit{"s0, 3", "gather.default(x, 1, i)", 5, 4, "size of self in dimension 0"},
                      Fit{"s0, 3", "scatter.src(y, 1, i, x)", 5, 4, "size of src in dimension 0"},
                      Fit{"s0, 3", "scatter.src(x, 1, i, y)", 5, 4, "size of self in dimension 0"},
                      Fit{"s0, 3", "view.default(x, [5, 3])", 5, 4, "numbers of elements"},
                      Fit{"s0, 3", "view.default(x, [-1, 2])", 4, 5, "numbers of elements"},
                      Fit{"s0, 3", "cat.default([x, y], 1)", 5, 4, "sizes of dimension 0"},
                      Fit{"s0, 3", "stack.default([x, y])", 5, 4, "sizes of dimension 0 of the tensors"},
                      Fit{"s0, 3", "expand.default(x, [5, 3])", 5, 4, "what it expands to"},
                      Fit{"s0, 3", "slice_scatter.default(y, x, 0, 1, 4)", 3, 4, "src and the slice"},
                      Fit{"s0, 3", "unfold.default(x, 0, 5, 1)", 6, 4, "windows of 5"},
                      Fit{"s0, 3", "constant_pad_nd.default(x, [0, 0, -3, -2])", 6, 4, "padded size"},
                      Fit{"1, s0", "reflection_pad1d.default(x, [4, 0])", 5, 4, "for a padding of 4"},
                      Fit{"1, s0", "glu.default(x, 1)", 4, 5, "divisible"},
                      Fit{"1, s0, 2, 2", "pixel_shuffle.default(x, 2)", 4, 6, "divisible"}));

TEST(Schedule, SizesOfDataThatAreTakenForEqualAreCompared) {
  const Graph graph = parse_text(nullptr, R"(strata graph 1
symbol u0 range 0 oo
graph 'GraphModule' {
  input user
  input user
  %x:1 = placeholder x() : f32[3][1]cpu
  %y:2 = placeholder y() : i64[2, 2][2, 1]cpu
  %rows:3 = call aten.argwhere.default(%x) : i64[u0, 1][1, 1]cpu
  %both:4 = call aten.mul.Tensor(%rows, %y) : i64[2, 2][2, 1]cpu
  %output:5 = output output((%both,))
})");
  Node& both = *graph.find("both");
  both.type = both.op->shape(Call(both));  // makes the assumption
  const Scheduled scheduled = schedule(run_passes(inference_pipeline(), graph, {}, {}), {});
  const auto run = [&](const std::vector<Tensor>& inputs) {
    Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 1);
    return executor.run(inputs);
  };
  const Tensor y = numbers({2, 2}, {1, 2, 3, 4}, DType::I64);
  EXPECT_EQ(run({numbers({3}, {0, 1, 1}), y})[0].values(), (std::vector<double>{1, 2, 6, 8}));
  for (const auto& [x, found] : {std::pair(std::vector<double>{0, 1, 0}, "(found 1 and 2)"),
                                 std::pair(std::vector<double>{1, 1, 1}, "(found 3 and 2)")}) {
    const std::vector<Tensor> inputs{numbers({3}, x), y};
    const auto says = AllOf(HasSubstr("broadcast in aten.mul.Tensor: u0 == 2 does not hold"), HasSubstr(found));
    EXPECT_THAT(testing::error_text([&] { run(inputs); }), says);
    EXPECT_THAT(testing::error_text([&] { Interpreter(graph).run(inputs); }), says);
  }
}

TEST(Schedule, MissingWeightIsNamed) {
  const std::string error = testing::error_text([] {
    Plans p(R"(
def forward(self, p_w: "f32[3]", x: "f32[3]"):
    a = torch.ops.aten.mul.Tensor(x, p_w)
    return (a,))");
  });
  EXPECT_THAT(error, HasSubstr("the program has no value for 'p_w'"));
}

TEST(Schedule, CountsBytesOfEveryLaunch) {
  Plans p(R"(
def forward(self, x: "f32[8, 16]"):
    a = torch.ops.aten.neg.default(x)
    s = torch.ops.aten.sum.dim_IntList(a, [1])
    return (s,))");
  ASSERT_EQ(p.plan().launches.size(), 1u);
  EXPECT_EQ(p.plan().launches[0].bytes_read, SymInt(8 * 16 * 4));
  EXPECT_EQ(p.plan().launches[0].bytes_written, SymInt(8 * 4));
}

// -------------------------------------------------------------------------------------------------------------
// plan_memory

TEST(PlanMemory, LifetimesSpanTheLaunchesThatUseABuffer) {
  Plans p(R"(
def forward(self, x: "f32[4, 4]"):
    a = torch.ops.aten.mm.default(x, x)
    b = torch.ops.aten.mm.default(a, x)
    c = torch.ops.aten.mm.default(b, b)
    return (c,))");
  EXPECT_EQ(std::pair(p.buffer("a").first_launch, p.buffer("a").last_launch), std::pair(0, 1));
  EXPECT_EQ(std::pair(p.buffer("b").first_launch, p.buffer("b").last_launch), std::pair(1, 2));
  EXPECT_EQ(std::pair(p.buffer("c").first_launch, p.buffer("c").last_launch), std::pair(2, 2));
  EXPECT_EQ(std::pair(p.buffer("x").first_launch, p.buffer("x").last_launch), std::pair(0, 2));
  EXPECT_EQ(p.buffer("c").kind, PlanBuffer::Kind::Output);
}

TEST(PlanMemory, LoopMayOverwriteAnOperandThatDies) {
  Plans p(R"(
def forward(self, x: "f32[4, 4]"):
    a = torch.ops.aten.mm.default(x, x)
    b = torch.ops.aten.sin.default(a)
    c = torch.ops.aten.mm.default(b, x)
    return (c,))");
  EXPECT_EQ(p.over("b"), "a");
}

/// The text between product and product decides: what is read at another place, later, or in another type must stay.
class NotInPlace : public ::testing::TestWithParam<const char*> {};

TEST_P(NotInPlace, KeepsItsOwnMemory) {
  const std::string text =
      "def forward(self, x: \"f32[4, 4]\", d: \"f64[4, 4]\"):\n    a = torch.ops.aten.mm.default(x, x)\n" +
      std::string(GetParam());
  EXPECT_EQ(Plans(text.c_str()).over("b"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Reads, NotInPlace,
    ::testing::Values(
        // transposed
        "    t = torch.ops.aten.permute.default(a, [1, 0])\n    b = torch.ops.aten.sin.default(t)\n    c = "
        "torch.ops.aten.mm.default(b, x)\n    return (c,)",
        // needed again
        "    b = torch.ops.aten.sin.default(a)\n    c = torch.ops.aten.mm.default(b, a)\n    return (c,)",
        // smaller
        "    t = torch.ops.aten.slice.Tensor(a, 0, 0, 2)\n    b = torch.ops.aten.sin.default(t)\n    c = "
        "torch.ops.aten.mm.default(b, x)\n    return (c,)",
        // wider type
        "    b = torch.ops.aten._to_copy.default(a, dtype = torch.float64)\n    c = torch.ops.aten.mm.default(b, d)\n  "
        "  return (c,)",
        // a result of its own for the caller
        "    b = torch.ops.aten.sin.default(a)\n    return (b,)",
        // read at two places
        "    t = torch.ops.aten.permute.default(a, [1, 0])\n    s = torch.ops.aten.add.Tensor(a, t)\n    b = "
        "torch.ops.aten.sin.default(s)\n"
        "    c = torch.ops.aten.mm.default(b, x)\n    return (c,)"));

}  // namespace
}  // namespace strata
