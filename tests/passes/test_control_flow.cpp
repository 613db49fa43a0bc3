// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Calls that run other graphs, through the interpreter and both pipelines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/compiler.h"
#include "core/ir/control_flow.h"
#include "core/ir/interpreter.h"
#include "core/ir/text.h"
#include "passes/bind_bodies.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;

/// A graph with the lines of `main` and one subgraph for each of `bodies` (name, lines).
Graph graph_with(const std::string& main, const std::vector<std::pair<std::string, std::string>>& bodies,
                 const std::string& symbols = {}) {
  std::string text = "strata graph 1\n" + symbols + "graph 'GraphModule' {\n" + main;
  for (const auto& [name, lines] : bodies)
    text += "  subgraph '" + name + "'\n  graph '" + name + "' {\n" + lines + "  }\n";
  return parse_text(nullptr, text + "}\n");
}

Tensor f32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Tensor::of(DType::F32, std::move(shape), values);
}

class Runs {
 public:
  explicit Runs(const Graph& graph, const std::map<std::string, Tensor>& state = {}) : graph_(graph) {
    PassContext context;
    context.state = &state;
    ScheduleOptions options;
    options.state = &state;
    for (const auto* pipeline : {&inference_pipeline(), &unfused_pipeline()}) {
      passed_.push_back(run_passes(*pipeline, graph, context, {}));
      options.within_operators = pipeline == &unfused_pipeline();
      scheduled_.push_back(schedule(passed_.back(), options));
      const std::shared_ptr<const Plan> plan = scheduled_.back().plan;
      executors_.push_back(std::make_unique<Executor>(plan, make_cpu_compiler()->compile(*plan, {}), 2));
    }
  }

  /// Results, which the interpreter and both executors agree on.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> expected;
    for (const RefValue& value : Interpreter(graph_).run(std::span<const Tensor>(inputs)))
      expected.push_back(value.tensor());
    for (const auto& executor : executors_) {
      const std::vector<Tensor> found = executor->run(inputs);
      EXPECT_EQ(found.size(), expected.size());
      for (size_t k = 0; k < std::min(found.size(), expected.size()); ++k) {
        EXPECT_EQ(found[k].str(), expected[k].str());
        const std::vector<double> a = found[k].values(), b = expected[k].values();
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i])));
      }
    }
    return expected;
  }

  const Graph& passed() const { return passed_.front(); }
  const Plan& plan() const { return *scheduled_.front().plan; }

 private:
  const Graph& graph_;
  std::vector<Graph> passed_;
  std::vector<Scheduled> scheduled_;
  std::vector<std::unique_ptr<Executor>> executors_;
};

// ---------------------------------------------------------------------------------------------------------------- cond

const char* const kTwice =
    "    %a:20 = placeholder a() : f32[3][1]cpu\n    %m:21 = call aten.mul.Tensor(%a, 2) : f32[3][1]cpu\n"
    "    %o:22 = output output((%m,))\n";
const char* const kLess =
    "    %a:30 = placeholder a() : f32[3][1]cpu\n    %s:31 = call aten.sub.Tensor(%a, 1) : f32[3][1]cpu\n"
    "    %o:32 = output output((%s,))\n";

Graph choice(const std::string& condition = "%p") {
  return graph_with(
      "  %p:1 = placeholder p() : b8[][]cpu\n  %x:2 = placeholder x() : f32[3][1]cpu\n"
      "  %e:3 = call aten.neg.default(%x) : f32[3][1]cpu\n"
      "  %c:4 = call higher_order.cond(" +
          condition +
          ", graph('yes'), graph('no'), [%e]) : tuple(f32[3][1]cpu)\n"
          "  %g:5 = call _operator.getitem(%c, 0) : f32[3][1]cpu\n"
          "  %r:6 = call aten.add.Tensor(%g, %x) : f32[3][1]cpu\n  %o:7 = output output((%r,))\n",
      {{"yes", kTwice}, {"no", kLess}});
}

TEST(ControlFlow, OneOfTwoGraphs) {
  const Graph graph = choice();
  Runs runs(graph);
  const Tensor x = f32({3}, {1, -2, 4});
  EXPECT_THAT(runs.run({Tensor::scalar(DType::Bool, 1), x})[0].values(), ElementsAre(-1, 2, -4));
  EXPECT_THAT(runs.run({Tensor::scalar(DType::Bool, 0), x})[0].values(), ElementsAre(-1, -1, -1));
  ASSERT_EQ(runs.plan().launches.size(), 3U);
  const auto& call = std::get<ControlCall>(runs.plan().launches[1].work);
  EXPECT_EQ(call.bodies.size(), 2U);
  // The launch computes the nodes of both bodies: 21 and 31.
  EXPECT_THAT(runs.plan().launches[1].nodes, ElementsAre(4, 5, 21, 31));
}

TEST(ControlFlow, AConditionMayBeConstant) {
  const Graph yes = choice("true"), no = choice("false");
  const std::vector<Tensor> inputs{Tensor::scalar(DType::Bool, 0), f32({3}, {1, -2, 4})};
  EXPECT_THAT(Runs(yes).run(inputs)[0].values(), ElementsAre(-1, 2, -4));
  EXPECT_THAT(Runs(no).run(inputs)[0].values(), ElementsAre(-1, -1, -1));
}

TEST(ControlFlow, AConditionOnSizesIsFoundInEveryRun) {
  const Graph graph = graph_with(
      "  %x:1 = placeholder x() : f32[s0][1]cpu\n  %n:2 = call aten.sym_size.int(%x, 0) : sym(s0)\n"
      "  %l:3 = call _operator.gt(%n, 2) : symbool\n"
      "  %c:4 = call higher_order.cond(%l, graph('yes'), graph('no'), [%x]) : tuple(f32[s0][1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : f32[s0][1]cpu\n  %o:6 = output output((%g,))\n",
      {{"yes",
        "    %a:20 = placeholder a() : f32[s0][1]cpu\n    %m:21 = call aten.mul.Tensor(%a, 2) : f32[s0][1]cpu\n"
        "    %o:22 = output output((%m,))\n"},
       {"no",
        "    %a:30 = placeholder a() : f32[s0][1]cpu\n    %s:31 = call aten.sub.Tensor(%a, 1) : f32[s0][1]cpu\n"
        "    %o:32 = output output((%s,))\n"}},
      "symbol s0 range 0 99\n");
  Runs runs(graph);
  EXPECT_THAT(runs.run({f32({3}, {1, -2, 4})})[0].values(), ElementsAre(2, -4, 8));
  EXPECT_THAT(runs.run({f32({2}, {1, -2})})[0].values(), ElementsAre(0, -3));
  EXPECT_THAT(runs.run({f32({0}, {})})[0].values(), ElementsAre());
}

/// One condition of two choices, which is returned as well, and its opposite.
TEST(ControlFlow, AConditionMayHaveOtherReaders) {
  const auto body = [](const std::string& digit, const std::string& call) {
    return "    %a:" + digit + "0 = placeholder a() : f32[s0][1]cpu\n    %m:" + digit + "1 = call " + call +
           " : f32[s0][1]cpu\n    %o:" + digit + "2 = output output((%m,))\n";
  };
  const Graph graph = graph_with(
      "  %x:1 = placeholder x() : f32[s0][1]cpu\n  %n:2 = call aten.sym_size.int(%x, 0) : sym(s0)\n"
      "  %l:3 = call _operator.gt(%n, 2) : symbool\n  %k:4 = call torch.sym_not(%l) : symbool\n"
      "  %c:5 = call higher_order.cond(%l, graph('yes'), graph('no'), [%x]) : tuple(f32[s0][1]cpu)\n"
      "  %g:6 = call _operator.getitem(%c, 0) : f32[s0][1]cpu\n"
      "  %d:7 = call higher_order.cond(%l, graph('no'), graph('yes'), [%x]) : tuple(f32[s0][1]cpu)\n"
      "  %h:8 = call _operator.getitem(%d, 0) : f32[s0][1]cpu\n"
      "  %e:9 = call higher_order.cond(%k, graph('yes'), graph('no'), [%x]) : tuple(f32[s0][1]cpu)\n"
      "  %i:10 = call _operator.getitem(%e, 0) : f32[s0][1]cpu\n  %o:11 = output output((%g, %h, %i))\n",
      {{"yes", body("2", "aten.mul.Tensor(%a, 2)")}, {"no", body("3", "aten.sub.Tensor(%a, 1)")}},
      "symbol s0 range 0 99\n");
  Runs runs(graph);
  for (const bool large : {true, false}) {
    const Tensor x = large ? f32({3}, {1, -2, 4}) : f32({2}, {1, -2});
    const std::vector<Tensor> found = runs.run({x});
    EXPECT_EQ(found[0].at(1), large ? -4 : -3);
    EXPECT_EQ(found[1].at(1), large ? -3 : -4);
    EXPECT_EQ(found[2].at(1), large ? -3 : -4);
  }
}

/// What is drawn inside of a body is what comes next.
TEST(ControlFlow, RandomNumbersGoOn) {
  const std::string draws =
      "    %r:N1 = call aten.rand_like.default(%a) : f32[3][1]cpu\n    %o:N2 = output output((%r,))\n";
  const auto with = [&](const std::string& digit) {
    std::string text = "    %a:N0 = placeholder a() : f32[3][1]cpu\n" + draws;
    for (size_t at; (at = text.find('N')) != std::string::npos;) text.replace(at, 1, digit);
    return text;
  };
  const Graph graph = graph_with(
      "  %p:1 = placeholder p() : b8[][]cpu\n  %x:2 = placeholder x() : f32[3][1]cpu\n"
      "  %d:3 = call aten.rand_like.default(%x) : f32[3][1]cpu\n"
      "  %c:4 = call higher_order.cond(%p, graph('yes'), graph('no'), [%d]) : tuple(f32[3][1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : f32[3][1]cpu\n  %l:6 = call aten.rand_like.default(%x) : f32[3][1]cpu\n"
      "  %o:7 = output output((%d, %g, %l))\n",
      {{"yes", with("2")}, {"no", with("3")}});
  const std::vector<Tensor> found = Runs(graph).run({Tensor::scalar(DType::Bool, 1), f32({3}, {0, 0, 0})});
  EXPECT_NE(found[0].values(), found[1].values());
  EXPECT_NE(found[1].values(), found[2].values());
  EXPECT_NE(found[0].values(), found[2].values());
}

// --------------------------------------------------------------------------------------------------------------- loops

/// x * 2 until its sum is `limit` or more; the weight `w`, which adds to it, is a parameter.
Graph doubling(const std::string& limit) {
  return graph_with(
      "  input user\n  input parameter 'w'\n  %x:1 = placeholder x() : f32[3][1]cpu\n  %w:2 = placeholder p_w() : "
      "f32[3][1]cpu\n"
      "  %i:3 = call aten.full.default([], 0, dtype=dtype(int64)) : i64[][]cpu\n"
      "  %c:4 = call higher_order.while_loop(graph('more'), graph('step'), [%i, %x], [%w]) : tuple(i64[][]cpu, "
      "f32[3][1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : i64[][]cpu\n  %h:6 = call _operator.getitem(%c, 1) : f32[3][1]cpu\n"
      "  %o:7 = output output((%g, %h))\n",
      {{"more",
        "    %i:20 = placeholder i() : i64[][]cpu\n    %a:21 = placeholder a() : f32[3][1]cpu\n"
        "    %w:22 = placeholder w() : f32[3][1]cpu\n    %s:23 = call aten.sum.default(%a) : f32[][]cpu\n"
        "    %l:24 = call aten.lt.Scalar(%s, " +
            limit + ") : b8[][]cpu\n    %o:25 = output output(%l)\n"},
       {"step",
        "    %i:30 = placeholder i() : i64[][]cpu\n    %a:31 = placeholder a() : f32[3][1]cpu\n"
        "    %w:32 = placeholder w() : f32[3][1]cpu\n    %m:33 = call aten.mul.Tensor(%a, 2) : f32[3][1]cpu\n"
        "    %n:34 = call aten.add.Tensor(%m, %w) : f32[3][1]cpu\n    %j:35 = call aten.add.Tensor(%i, 1) : "
        "i64[][]cpu\n"
        "    %o:36 = output output((%j, %n))\n"}});
}

TEST(ControlFlow, ALoopEndsWhenItsConditionSaysSo) {
  const Graph graph = doubling("40");
  const std::map<std::string, Tensor> state{{"w", f32({3}, {1, 0, -1})}};
  PassContext context;
  context.state = &state;
  ScheduleOptions options;
  options.state = &state;
  const Graph passed = run_passes(inference_pipeline(), graph, context, {});
  // The parameter is the bodies' own.
  for (const char* body : {"more", "step"}) EXPECT_EQ(passed.subgraphs.at(body)->placeholders().size(), 2U);
  EXPECT_EQ(passed.subgraphs.at("step")->attributes.size(), 1U);
  const Scheduled scheduled = schedule(passed, options);
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 1);
  for (int call = 0; call < 3; ++call) {
    const std::vector<Tensor> found = executor.run({f32({3}, {1, 2, 3})});
    EXPECT_THAT(found[0].values(), ElementsAre(3));
    EXPECT_THAT(found[1].values(), ElementsAre(15, 16, 17));
    EXPECT_THAT(executor.run({f32({3}, {50, 0, 0})})[0].values(), ElementsAre(0));
  }
  const std::vector<Tensor> all{f32({3}, {1, 2, 3}), state.at("w")};
  EXPECT_THAT(Interpreter(graph).run(std::span<const Tensor>(all))[1].tensor().values(), ElementsAre(15, 16, 17));
}

/// What a loop gives is its own, even where it takes no turn: writing it leaves the operand as it is.
TEST(ControlFlow, ResultsAreNoOperands) {
  const Graph graph = graph_with(
      "  %x:1 = placeholder x() : f32[3][1]cpu\n"
      "  %c:4 = call higher_order.while_loop(graph('more'), graph('step'), [%x], []) : tuple(f32[3][1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : f32[3][1]cpu\n"
      "  %s:6 = call aten.square_.default(%g) : f32[3][1]cpu\n  %o:7 = output output((%x, %s))\n",
      {{"more",
        "    %a:20 = placeholder a() : f32[3][1]cpu\n    %t:21 = call aten.sum.default(%a) : f32[][]cpu\n"
        "    %l:22 = call aten.lt.Scalar(%t, 10) : b8[][]cpu\n    %o:23 = output output(%l)\n"},
       {"step",
        "    %a:30 = placeholder a() : f32[3][1]cpu\n    %m:31 = call aten.mul.Tensor(%a, 2) : f32[3][1]cpu\n"
        "    %o:32 = output output((%m,))\n"}});
  Runs runs(graph);
  const std::vector<Tensor> found = runs.run({f32({3}, {5, 6, 7})});
  EXPECT_THAT(found[0].values(), ElementsAre(5, 6, 7));
  EXPECT_THAT(found[1].values(), ElementsAre(25, 36, 49));
  EXPECT_THAT(runs.run({f32({3}, {1, 2, 2})})[1].values(), ElementsAre(4, 16, 16));
}

Graph scan_of(const std::string& kind, const std::string& results, const std::string& operands) {
  const std::string carried = kind == "scan" ? "    %h:20 = placeholder h() : f32[2][1]cpu\n" : "";
  const std::string w = "    %w:22 = placeholder w() : f32[2][1]cpu\n";
  return graph_with(
      "  %x:1 = placeholder x() : f32[s0, 2][2, 1]cpu\n  %h:2 = placeholder h() : f32[2][1]cpu\n"
      "  %c:4 = call higher_order." +
          operands + " : " + results + "\n  %o:7 = output output((%r0, %r1))\n",
      {{"step",
        carried + "    %a:21 = placeholder a() : f32[2][1]cpu\n" + w +
            "    %m:33 = call aten.mul.Tensor(%a, %w) : f32[2][1]cpu\n" +
            (kind == "scan"
                 ? "    %n:34 = call aten.add.Tensor(%m, %h) : f32[2][1]cpu\n"
                   "    %t:35 = call aten.sum.default(%n) : f32[][]cpu\n    %o:36 = output output((%n, %t))\n"
                 : "    %t:35 = call aten.sum.default(%m) : f32[][]cpu\n    %o:36 = output output((%m, %t))\n")}},
      "symbol s0 range 0 99\n");
}

TEST(ControlFlow, ScanCarriesOnAndStacks) {
  const Graph graph = scan_of("scan",
                              "tuple(f32[2][1]cpu, f32[s0][1]cpu)\n"
                              "  %r0:5 = call _operator.getitem(%c, 0) : f32[2][1]cpu\n"
                              "  %r1:6 = call _operator.getitem(%c, 1) : f32[s0][1]cpu",
                              "scan(graph('step'), [%h], [%x], [%h])");
  Runs runs(graph);
  const Tensor h = f32({2}, {1, 10});
  std::vector<Tensor> found = runs.run({f32({3, 2}, {1, 2, 3, 4, 5, 6}), h});
  EXPECT_THAT(found[0].values(), ElementsAre(10, 130));
  EXPECT_THAT(found[1].values(), ElementsAre(32, 75, 140));
  found = runs.run({f32({0, 2}, {}), h});
  EXPECT_THAT(found[0].values(), ElementsAre(1, 10));
  EXPECT_EQ(found[1].shape, std::vector<int64_t>{0});
}

TEST(ControlFlow, MapStacksWhatEachElementGives) {
  const Graph graph = scan_of("map",
                              "tuple(f32[s0, 2][2, 1]cpu, f32[s0][1]cpu)\n"
                              "  %r0:5 = call _operator.getitem(%c, 0) : f32[s0, 2][2, 1]cpu\n"
                              "  %r1:6 = call _operator.getitem(%c, 1) : f32[s0][1]cpu",
                              "map_impl(graph('step'), [%x], [%h])");
  Runs runs(graph);
  const Tensor h = f32({2}, {1, 10});
  std::vector<Tensor> found = runs.run({f32({3, 2}, {1, 2, 3, 4, 5, 6}), h});
  EXPECT_THAT(found[0].values(), ElementsAre(1, 20, 3, 40, 5, 60));
  EXPECT_THAT(found[1].values(), ElementsAre(21, 43, 65));
  EXPECT_EQ(runs.run({f32({0, 2}, {}), h})[0].shape, (std::vector<int64_t>{0, 2}));
}

/// A size that no input of the bodies has by itself is handed to them.
TEST(ControlFlow, SizesThatAreNotToldAreHandedOver) {
  const auto body = [](const std::string& digit, const std::string& call) {
    return "    %a:" + digit + "0 = placeholder a() : f32[2*s0][1]cpu\n    %m:" + digit + "1 = call " + call +
           " : f32[2*s0][1]cpu\n    %v:" + digit +
           "2 = call aten.view.default(%m, [sym(s0), 2]) : f32[s0, 2][2, 1]cpu\n    %o:" + digit +
           "3 = output output((%v,))\n";
  };
  const Graph graph = graph_with(
      "  %p:1 = placeholder p() : b8[][]cpu\n  %x:2 = placeholder x() : f32[s0, 2][2, 1]cpu\n"
      "  %y:3 = call aten.view.default(%x, [sym(2*s0)]) : f32[2*s0][1]cpu\n"
      "  %c:4 = call higher_order.cond(%p, graph('yes'), graph('no'), [%y]) : tuple(f32[s0, 2][2, 1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : f32[s0, 2][2, 1]cpu\n  %o:6 = output output((%g,))\n",
      {{"yes", body("2", "aten.mul.Tensor(%a, 2)")}, {"no", body("3", "aten.neg.default(%a)")}},
      "symbol s0 range 0 99\n");
  Runs runs(graph);
  EXPECT_EQ(runs.passed().subgraphs.at("yes")->placeholders().size(), 2U);
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(runs.run({Tensor::scalar(DType::Bool, 1), x})[0].values(), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(runs.run({Tensor::scalar(DType::Bool, 0), x})[0].values(), ElementsAre(-1, -2, -3, -4));
}

/// x of s0 numbers; the result is said to have u0, which nothing gives.
Graph unnamed_size(const std::string& no) {
  return graph_with(
      "  %p:1 = placeholder p() : b8[][]cpu\n  %x:2 = placeholder x() : f32[s0][1]cpu\n"
      "  %c:4 = call higher_order.cond(%p, graph('yes'), graph('no'), [%x]) : tuple(f32[u0][1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : f32[u0][1]cpu\n"
      "  %f:6 = call aten.full.default([sym(u0)], 2.0) : f32[u0][1]cpu\n"
      "  %r:7 = call aten.mul.Tensor(%g, %f) : f32[u0][1]cpu\n  %o:8 = output output((%r,))\n",
      {{"yes",
        "    %a:20 = placeholder a() : f32[s0][1]cpu\n    %m:21 = call aten.neg.default(%a) : f32[s0][1]cpu\n"
        "    %o:22 = output output((%m,))\n"},
       {"no", no}},
      "symbol s0 range 0 99\nsymbol u0 range 0 99\n");
}

TEST(ControlFlow, SizesOfResultsAreThoseOfTheBranches) {
  const Graph graph = unnamed_size(
      "    %a:30 = placeholder a() : f32[s0][1]cpu\n    %m:31 = call aten.abs.default(%a) : f32[s0][1]cpu\n"
      "    %o:32 = output output((%m,))\n");
  const Graph passed = run_passes(inference_pipeline(), graph, {}, {});
  const Scheduled scheduled = schedule(passed, {});
  Executor executor(scheduled.plan, make_cpu_compiler()->compile(*scheduled.plan, {}), 1);
  EXPECT_THAT(executor.run({Tensor::scalar(DType::Bool, 1), f32({2}, {1, -2})})[0].values(), ElementsAre(-2, 4));
  EXPECT_THAT(executor.run({Tensor::scalar(DType::Bool, 0), f32({3}, {1, -2, 3})})[0].values(), ElementsAre(2, 4, 6));
}

TEST(ControlFlow, SizesOfResultsThatNothingTellsAreRefused) {
  const Graph graph = unnamed_size(
      "    %a:30 = placeholder a() : f32[s0][1]cpu\n    %m:31 = call aten.cat.default([%a, %a]) : f32[2*s0][1]cpu\n"
      "    %o:32 = output output((%m,))\n");
  EXPECT_THAT(error_text([&] { run_passes(inference_pipeline(), graph, {}, {}); }),
              HasSubstr("'c' (higher_order.cond) has a result 0 of a size that nothing tells: u0; give results whose"));
}

// -------------------------------------------------------------------------------------------------------------- errors

std::string refusal(const std::string& call, const std::string& yes, const std::string& type = "tuple(f32[3][1]cpu)") {
  const Graph graph = graph_with(
      "  %p:1 = placeholder p() : b8[][]cpu\n  %x:2 = placeholder x() : f32[3][1]cpu\n"
      "  %c:4 = call higher_order." +
          call + " : " + type + "\n  %o:7 = output output((%x,))\n",
      {{"yes", yes}, {"no", kLess}});
  const std::vector<Tensor> inputs{Tensor::scalar(DType::Bool, 1), f32({3}, {1, 2, 3})};
  const std::string compiled = error_text([&] { run_passes(inference_pipeline(), graph, {}, {}); });
  const std::string interpreted = error_text([&] { Interpreter(graph).run(std::span<const Tensor>(inputs)); });
  EXPECT_THAT(interpreted, HasSubstr(compiled.substr(0, compiled.find(';'))));
  return compiled;
}

TEST(ControlFlow, BodiesThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal("cond(%p, graph('yes'), graph('no'), [%x, %x])", kTwice),
              HasSubstr("'c' (higher_order.cond) has 2 operands for the 1 inputs of graph 'yes'"));
  EXPECT_THAT(refusal("cond(%p, graph('yes'), graph('no'), [%p])", kTwice),
              HasSubstr("gives 'p', b8[][]cpu, to graph 'yes' as f32[3][1]cpu"));
  EXPECT_THAT(refusal("cond(%p, graph('yes'), graph('no'), [%x])", kTwice, "tuple(f32[4][1]cpu)"),
              HasSubstr("is said to give f32[4][1]cpu as result 0, graph 'yes' gives f32[3][1]cpu"));
  EXPECT_THAT(refusal("cond(%p, graph('yes'), graph('no'), [%x])", kTwice, "tuple(f32[3][1]cpu, f32[3][1]cpu)"),
              HasSubstr("has 2 results, graph 'yes' gives 1"));
  EXPECT_THAT(refusal("cond(%p, graph('yes'), graph('no'), [2.5])", kTwice),
              HasSubstr("has an operand 0 that is neither an array nor a whole number"));
  EXPECT_THAT(refusal("cond(%p, 3, graph('no'), [%x])", kTwice), HasSubstr("a graph is expected as 'true_fn'"));
  EXPECT_THAT(refusal("cond(%p, graph('yes'), graph('no'), %x)", kTwice), HasSubstr("operands are expected as a list"));
  EXPECT_THAT(refusal("while_loop(graph('yes'), graph('no'), [%x], [])", kTwice),
              HasSubstr("asks graph 'yes' for a condition: one bool without dimensions is expected"));
  EXPECT_THAT(refusal("map_impl(graph('no'), [%p], [])", kTwice),
              HasSubstr("takes elements of operand 0, which has no dimensions"));
}

TEST(ControlFlow, ABodyThatWritesItsInputIsRefused) {
  const Graph graph = graph_with(
      "  %p:1 = placeholder p() : b8[][]cpu\n  %x:2 = placeholder x() : f32[3][1]cpu\n"
      "  %c:4 = call higher_order.cond(%p, graph('yes'), graph('no'), [%x]) : tuple(f32[3][1]cpu)\n  %o:7 = output "
      "output((%x,))\n",
      {{"yes",
        "    %a:20 = placeholder a() : f32[3][1]cpu\n    %m:21 = call aten.mul_.Tensor(%a, 2) : f32[3][1]cpu\n"
        "    %o:22 = output output((%m,))\n"},
       {"no", kLess}});
  EXPECT_THAT(error_text([&] { run_passes(inference_pipeline(), graph, {}, {}); }),
              HasSubstr("has a graph 'yes' that writes its input 'a'; return the new value instead"));
  const std::vector<Tensor> inputs{Tensor::scalar(DType::Bool, 1), f32({3}, {1, 2, 3})};
  EXPECT_THAT(error_text([&] { Interpreter(graph).run(std::span<const Tensor>(inputs)); }),
              HasSubstr("has a graph 'yes' that writes its input 'a'"));
}

TEST(ControlFlow, ElementsOfOperandsAreOfOneNumber) {
  const Graph graph = graph_with(
      "  %x:1 = placeholder x() : f32[s0][1]cpu\n  %y:2 = placeholder y() : f32[s1][1]cpu\n"
      "  %c:4 = call higher_order.map_impl(graph('sum'), [%x, %y], []) : tuple(f32[s0][1]cpu)\n"
      "  %g:5 = call _operator.getitem(%c, 0) : f32[s0][1]cpu\n  %o:7 = output output((%g,))\n",
      {{"sum",
        "    %a:20 = placeholder a() : f32[][]cpu\n    %b:21 = placeholder b() : f32[][]cpu\n"
        "    %m:22 = call aten.add.Tensor(%a, %b) : f32[][]cpu\n    %o:23 = output output((%m,))\n"}},
      "symbol s0 range 0 99\nsymbol s1 range 0 99\n");
  Runs runs(graph);
  EXPECT_THAT(runs.run({f32({2}, {1, 2}), f32({2}, {3, 5})})[0].values(), ElementsAre(4, 7));
  EXPECT_THAT(error_text([&] { runs.run({f32({2}, {1, 2}), f32({3}, {3, 5, 6})}); }),
              HasSubstr("operands of as many elements are expected, found float32[2] and float32[3]"));
}

}  // namespace
}  // namespace strata
