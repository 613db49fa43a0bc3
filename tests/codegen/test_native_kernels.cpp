// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Rows with a `KernelRule` from the graph to the executor: recorded calls against PyTorch, random operands in every
// element type against the reference, and what all such kernels share: results that nobody reads, operands as they
// lie, sizes that change, errors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "codegen/compiler.h"
#include "codegen/native/native_kernel.h"
#include "core/support/error.h"
#include "passes/schedule.h"
#include "tests/core/ops_cases.h"
#include "tests/error_text.h"

namespace strata {
namespace {

using testing::CaseGraph;
using ::testing::HasSubstr;
using testing::OpCase;
using testing::return_all;

/// A graph scheduled and compiled; results start as garbage.
class Program {
 public:
  explicit Program(const Graph& graph, int threads = 2)
      : scheduled_(schedule(graph, {})),
        compiler_(make_cpu_compiler()),
        executor_(scheduled_.plan, compiler_->compile(plan(), {}), threads) {}

  const Plan& plan() const { return *scheduled_.plan; }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) { return executor_.run(inputs); }
  void observe(std::function<void(size_t, int, const Tensor&)> observer) {
    executor_.set_observer(std::move(observer));
  }
  size_t native_calls() const {
    size_t n = 0;
    for (const Launch& l : plan().launches) n += std::holds_alternative<NativeCall>(l.work) ? 1 : 0;
    return n;
  }

 private:
  Scheduled scheduled_;
  std::unique_ptr<KernelCompiler> compiler_;
  Executor executor_;
};

Node* strided(Graph& graph, DType dtype, std::vector<SymInt> shape, const char* name = "x") {
  return graph.placeholder(name, Type::of(dtype, std::move(shape), "cpu"));
}

/// Empty if equal: floats within `tolerance` of max(1, |b|), NaN as NaN, everything else exactly.
std::string difference(const Tensor& a, const Tensor& b, double tolerance) {
  if (a.dtype != b.dtype || a.shape != b.shape) return a.str() + ", expected " + b.str();
  for (int64_t i = 0; i < a.numel(); ++i) {
    if (!is_floating(a.dtype)) {
      if (a.int_at(i) == b.int_at(i)) continue;
    } else {
      const double x = a.at(i), y = b.at(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y))) continue;
    }
    return "element " + std::to_string(i) + " of " + b.str() + " is " + std::to_string(a.at(i)) + ", expected " +
           std::to_string(b.at(i));
  }
  return {};
}

/// What kernels of this row may differ by: those that only move or count elements not at all.
double tolerance(const OpDef& op, DType dtype) {
  static const std::set<std::string_view> inexact{"special", "logspace", "logcumsumexp", "max_pool_backward",
                                                  "histogram"};
  if (dtype == DType::F64) return 1e-8;  // the file holds nine digits
  if (!inexact.contains(std::get<KernelRule>(op.lowering).name)) return 0;
  return dtype == DType::BF16 ? 1e-2 : dtype == DType::F16 ? 2e-3 : 4e-6;
}

// ---------------------------------------------------------------------------------------------------- against PyTorch

TEST(NativeKernels, RecordedCallsGivePyTorchsResults) {
  std::set<std::string_view> kernels;
  for (const OpCase& c : testing::op_data("ops_c.json").cases) {
    const OpDef* op = find_op(c.op);
    ASSERT_NE(op, nullptr) << c.op;
    if (!std::holds_alternative<KernelRule>(op->lowering)) continue;
    SCOPED_TRACE(c.text);
    try {
      CaseGraph g(c);
      Builder b(g.graph);
      return_all(g.graph, b, g.add_call(b, c));
      Program program(g.graph);
      EXPECT_EQ(program.native_calls(), 1U);
      const std::vector<Tensor> results = program.run(c.inputs);
      ASSERT_EQ(results.size(), c.out.size());
      for (size_t k = 0; k < results.size(); ++k)
        EXPECT_EQ(difference(results[k], c.out[k].data, tolerance(*op, c.out[k].dtype)), "") << "result " << k;
      kernels.insert(std::get<KernelRule>(op->lowering).name);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_THAT(kernels, ::testing::IsSupersetOf({"sort", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin",
                                                "logcumsumexp", "logspace", "special", "max_pool", "adaptive_max_pool",
                                                "max_pool_backward", "max_unpool"}));
}

TEST(NativeKernels, EachOfTheirResultsIsObserved) {
  Graph graph;
  Builder b(graph);
  return_all(graph, b, b.call("aten.sort.default", {strided(graph, DType::F32, {3})}));
  Program program(graph);
  std::vector<std::string> seen;
  program.observe([&](size_t, int, const Tensor& value) { seen.push_back(value.str()); });
  Tensor x = Tensor::empty(DType::F32, {3});
  for (int64_t i = 0; i < 3; ++i) x.set(i, std::array{2.5, -1.0, 0.5}[static_cast<size_t>(i)]);
  const std::vector<Tensor> results = program.run({x});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_THAT(seen, ::testing::ElementsAre(results[0].str(), results[1].str()));
}

TEST(NativeKernels, EveryRuleNamesAKernel) {
  for (const OpDef* op : all_ops()) {
    const auto* rule = std::get_if<KernelRule>(&op->lowering);
    EXPECT_TRUE(!rule || native::find_kernel(rule->name)) << op->name << " names " << rule->name;
  }
  EXPECT_EQ(native::find_kernel("no such kernel"), nullptr);
}

// ----------------------------------------------------------------------------------------- against the reference

uint64_t seed() {
  const char* given = std::getenv("STRATA_TEST_SEED");
  static const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  return seed;
}

/// Many equal elements, and for floats NaN, infinities and both zeros.
Tensor random_operand(std::mt19937_64& rng, DType dtype, const std::vector<int64_t>& shape) {
  Tensor t = Tensor::empty(dtype, shape);
  std::uniform_int_distribution<int> kind(0, 19), small(dtype == DType::U8 || dtype == DType::Bool ? 0 : -3, 5);
  std::normal_distribution<double> wide(0, 3);
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < t.numel(); ++i) {
    const int k = kind(rng);
    if (!is_floating(dtype))
      t.set_int(i, dtype == DType::Bool ? small(rng) & 1 : small(rng));
    else
      t.set(i, k == 0 ? std::nan("") : k == 1 ? inf : k == 2 ? -inf : k == 3 ? -0.0 : k < 12 ? small(rng) : wide(rng));
  }
  return t;
}

struct Family {
  const char* op;
  std::vector<Argument> args;  ///< after the operands
  size_t types = 8;            ///< element types that it has at least
  size_t operands = 1;
};

std::vector<Family> families() {
  const auto ints = [](std::initializer_list<int64_t> values) {
    return Argument::list(std::vector<Argument>(values.begin(), values.end()));
  };
  return {
      {"aten.sort.default", {-1, true}},
      {"aten.sort.default", {1}},
      {"aten.topk.default", {4, 1, false}},
      {"aten.topk.default", {3, -1, true}},
      {"aten.kthvalue.default", {3, 1, true}},
      {"aten.median.dim", {-1}},
      {"aten.nanmedian.dim", {0, true}},
      {"aten.mode.default", {2}},
      {"aten.cummax.default", {1}},
      {"aten.cummin.default", {-1}},
      {"aten.logcumsumexp.default", {1}, 4},
      {"aten.max_pool2d_with_indices.default", {ints({2, 3}), ints({2, 1}), ints({1, 1}), ints({1, 1}), true}},
      {"aten.max_pool3d_with_indices.default", {ints({2, 2, 2}), ints({1, 2, 1})}},
      {"aten.adaptive_max_pool2d.default", {ints({3, 4})}},
      {"aten.adaptive_max_pool3d.default", {ints({2, 3, 2})}},
      {"aten.i0.default", {}},
      {"aten.lgamma.default", {}},
      {"aten.polygamma.default", {}},
      {"aten.special_hermite_polynomial_h.n_scalar", {3}},
      {"aten.special_zeta.other_scalar", {1.5}},
      {"aten.copysign.Tensor", {}, 8, 2},
      {"aten.hypot.default", {}, 8, 2},
      {"aten.gcd.default", {}, 5, 2},
      {"aten.lcm.default", {}, 5, 2},
      {"aten.nextafter.default", {}, 4, 2},
      {"aten.frexp.Tensor", {}, 4},
      {"aten.histc.default", {5, -2, 3}, 4},
  };
}

constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64,
                            DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};

/// A call of the family on placeholders of one type; null where the row refuses the type, which is an error of the
/// user.
Node* call_family(Graph& graph, Builder& b, const Family& family, DType dtype, const std::vector<int64_t>& shape) {
  std::vector<Argument> args;
  for (size_t i = 0; i < family.operands; ++i)
    args.emplace_back(strided(graph, dtype, {shape.begin(), shape.end()}, i ? "y" : "x"));
  args.insert(args.end(), family.args.begin(), family.args.end());
  if (find_op(family.op)->schema.params[0].type != "Tensor") args.insert(args.begin(), 2);
  try {
    return b.call(family.op, args);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::User) << e.what();
    return nullptr;
  }
}

/// What the kernel computes against the reference, in the type's precision and in float64.
void compare(const Graph& graph, const OpDef& op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& got) {
  const bool rounds = op.name == "aten.histc.default";  // to which bin an element belongs depends on the type
  for (const bool float64 : {false, true}) {
    if (float64 && rounds) continue;
    InterpreterOptions options;
    options.float64 = float64;
    const std::vector<RefValue> want = Interpreter(graph, options).run(std::span<const Tensor>(inputs));
    for (size_t k = 0; k < got.size(); ++k) {
      Tensor expected = want[k].tensor();
      if (float64 && expected.dtype != got[k].dtype) expected = expected.to(got[k].dtype);
      EXPECT_EQ(difference(got[k], expected, tolerance(op, got[k].dtype)), "")
          << "result " << k << (float64 ? " in float64" : "");
    }
  }
}

bool compare_family(std::mt19937_64& rng, const Family& family, DType dtype) {
  const std::vector<int64_t> shape{3, 5, 6, 7};
  Graph graph;
  Builder b(graph);
  Node* call = call_family(graph, b, family, dtype, shape);
  if (!call) return false;
  return_all(graph, b, call);
  Program program(graph);
  EXPECT_EQ(program.native_calls(), 1U);
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < family.operands; ++i) inputs.push_back(random_operand(rng, dtype, shape));
    compare(graph, *call->op, inputs, program.run(inputs));
  }
  return true;
}

TEST(NativeKernels, RandomOperandsOfEveryTypeGiveWhatTheReferenceGives) {
  std::mt19937_64 rng(seed());
  SCOPED_TRACE("STRATA_TEST_SEED=" + std::to_string(seed()));
  for (const Family& family : families()) {
    size_t types = 0;
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(std::string(family.op) + " of " + std::string(dtype_name(dtype)));
      types += compare_family(rng, family, dtype) ? 1 : 0;
    }
    EXPECT_GE(types, family.types) << family.op;
  }
}

/// Against the same arithmetic one element at a time: longer and shorter than a block, edges, what lies outside, NaN.
TEST(NativeKernels, BinsOfFloats) {
  std::mt19937_64 rng(seed());
  SCOPED_TRACE("STRATA_TEST_SEED=" + std::to_string(seed()));
  for (const auto& [left, right] : {std::pair{-1.5F, 2.25F}, {0.0F, 0.0F}}) {
    for (const int64_t n : {1, 16, 255, 256, 1000}) {
      SCOPED_TRACE(n);
      Graph graph;
      Builder b(graph);
      Node* x = strided(graph, DType::F32, {n});
      return_all(graph, b, b.call("aten.histc.default", {x, 7, double{left}, double{right}}));
      Tensor elements = random_operand(rng, DType::F32, {n});
      for (int64_t i = 0; i < n; ++i) elements.set(i, std::uniform_real_distribution<double>(-4, 4)(rng));
      const bool given = left < right;
      if (given && n > 20) {
        elements.set(3, left), elements.set(5, right), elements.set(n - 1, right);
        elements.set(7, std::numeric_limits<double>::quiet_NaN());
        elements.set(9, std::numeric_limits<double>::infinity());
      }
      float low = left, high = right;
      if (!given) {  // of the elements; of a single one, widened
        low = high = static_cast<float>(elements.at(0));
        for (int64_t i = 0; i < n; ++i) {
          low = std::min(low, static_cast<float>(elements.at(i)));
          high = std::max(high, static_cast<float>(elements.at(i)));
        }
        if (low == high) low -= 1, high += 1;
      }
      std::vector<double> counts(7, 0);
      for (int64_t i = 0; i < n; ++i) {
        const auto v = static_cast<float>(elements.at(i));
        if (!(v >= low && v <= high)) continue;
        counts[std::min<size_t>(6, static_cast<size_t>((v - low) * 7.0F / (high - low)))] += 1;
      }
      EXPECT_EQ(Program(graph).run({elements})[0].values(), counts);
    }
  }
  Graph graph;
  Builder b(graph);
  return_all(graph, b, b.call("aten.histc.default", {strided(graph, DType::F32, {40}), 7}));
  Tensor elements = random_operand(rng, DType::F32, {40});
  elements.set(17, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(Program(graph).run({elements}), Error);  // as PyTorch: a range that is not finite
}

TEST(NativeKernels, PlacesOfAPoolLeadBack) {
  std::mt19937_64 rng(seed());
  SCOPED_TRACE("STRATA_TEST_SEED=" + std::to_string(seed()));
  const auto pair = [](int64_t v) { return Argument::list({v, v}); };
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    SCOPED_TRACE(dtype_name(dtype));
    Graph graph;
    Builder b(graph);
    Node* x = strided(graph, dtype, {2, 3, 9, 8});
    Node* pooled = b.call("aten.max_pool2d_with_indices.default", {x, pair(3), pair(2), pair(1)});
    Node *values = b.getitem(pooled, 0), *places = b.getitem(pooled, 1);
    Node* back = b.call("aten.max_pool2d_with_indices_backward.default",
                        {values, x, pair(3), pair(2), pair(1), pair(1), false, places});
    graph.output(Argument::list({b.call("aten.max_unpool2d.default", {values, places, Argument::list({9, 8})}), back}));
    Program program(graph);
    EXPECT_EQ(program.native_calls(), 3U);
    const std::vector<Tensor> inputs{random_operand(rng, dtype, {2, 3, 9, 8})};
    compare(graph, *back->op, inputs, program.run(inputs));
  }
}

TEST(NativeKernels, PowersOfEveryType) {
  for (const DType dtype : kTypes) {
    if (dtype == DType::Bool) continue;
    SCOPED_TRACE(dtype_name(dtype));
    Graph graph;
    Builder b(graph);
    Node* end = strided(graph, dtype, {});
    Node* powers = b.call("aten.logspace.Scalar_Tensor", {0, end, 7, 2.0}, {{"dtype", dtype}});
    graph.output(Argument::list({powers}));
    Program program(graph);
    const std::vector<Tensor> inputs{Tensor::scalar(dtype, 5)};
    compare(graph, *powers->op, inputs, program.run(inputs));
  }
}

// ------------------------------------------------------------------------------------------------------ what all share

Tensor ramp(std::vector<int64_t> shape) {
  Tensor t = Tensor::empty(DType::F32, std::move(shape));
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, static_cast<double>(i * 7919 % 101));
  return t;
}

/// Results of the graph by the interpreter and by its program.
void expect_as_interpreted(const Graph& graph, Program& program, const std::vector<Tensor>& inputs, double within = 0) {
  const std::vector<Tensor> got = program.run(inputs);
  const std::vector<RefValue> want = Interpreter(graph).run(std::span<const Tensor>(inputs));
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) EXPECT_EQ(difference(got[k], want[k].tensor(), within), "") << "result " << k;
}

TEST(NativeKernels, AResultThatNobodyReadsHasNoBuffer) {
  for (const int64_t part : {0, 1})
    for (const char* op : {"aten.sort.default", "aten.cummax.default", "aten.median.dim"}) {
      SCOPED_TRACE(std::string(op) + " part " + std::to_string(part));
      Graph graph;
      Builder b(graph);
      Node* x = strided(graph, DType::F32, {4, 6});
      Node* wanted = b.getitem(b.call(op, {x, 1}), part);
      graph.output(Argument::list({wanted}));
      Program program(graph);
      ASSERT_EQ(program.plan().launches.size(), 1U);
      EXPECT_EQ(program.plan().launches[0].buffers.size(), 2U);
      expect_as_interpreted(graph, program, {ramp({4, 6})});
    }
}

TEST(NativeKernels, AResultMayBeReturnedTwiceAndReadInBetween) {
  Graph graph;
  Builder b(graph);
  Node* x = strided(graph, DType::F32, {4, 6});
  Node* sorted = b.call("aten.sort.default", {x, 0});
  Node* again = b.getitem(sorted, 0);
  graph.output(Argument::list({b.getitem(sorted, 0), b.neg(again), b.getitem(sorted, 1), again}));
  Program program(graph);
  EXPECT_EQ(program.native_calls(), 1U);
  expect_as_interpreted(graph, program, {ramp({4, 6})});
}

TEST(NativeKernels, OperandsAreReadAsTheyLie) {
  Graph graph;
  Builder b(graph);
  Node* x = strided(graph, DType::F32, {6, 5, 8});
  const auto call = [&](const char* op, Node* on, std::vector<Argument> rest) {
    rest.insert(rest.begin(), on);
    return b.call(op, rest);
  };
  Node* turned = b.permute(x, {2, 0, 1});
  Node* stepped = call("aten.slice.Tensor", x, {2, 1, 8, 3});
  Node* one = call("aten.select.int", x, {1, 3});
  Node* spread = b.expand(b.unsqueeze(one, 0), {3, 6, 8});
  std::vector<Argument> outputs;
  for (Node* view : {turned, stepped, one, spread}) {
    Node* sorted = call("aten.sort.default", view, {-1});
    outputs.emplace_back(b.getitem(sorted, 0));
    outputs.emplace_back(b.getitem(sorted, 1));
    outputs.emplace_back(b.getitem(call("aten.cummin.default", view, {0}), 1));
  }
  outputs.emplace_back(call("aten.lgamma.default", turned, {}));
  graph.output(Argument::list(std::move(outputs)));
  Program program(graph);
  EXPECT_EQ(program.native_calls(), 9U);
  EXPECT_EQ(program.plan().launches.size(), 9U) << "a view was copied";
  expect_as_interpreted(graph, program, {ramp({6, 5, 8})});
}

TEST(NativeKernels, InputsMayHaveStridesOfTheirOwn) {
  Graph graph;
  Builder b(graph);
  Node* x = graph.placeholder("x", Type::of(DType::F32, {6, 5}, "cpu"));
  x->type.tensor.strides = std::vector<SymInt>{1, 6};
  return_all(graph, b, b.call("aten.sort.default", {x, 0}));
  Program program(graph);
  Tensor input = ramp({30});
  input.shape = {6, 5};
  input.strides = {1, 6};
  expect_as_interpreted(graph, program, {input});
}

TEST(NativeKernels, ResultsMayBeReturnedAsViews) {
  Graph graph;
  Builder b(graph);
  Node* x = strided(graph, DType::F32, {4, 6});
  Node* values = b.getitem(b.call("aten.sort.default", {x, 1}), 0);
  graph.output(Argument::list({b.permute(values, {1, 0}), b.call("aten.slice.Tensor", {values, 1, 1, 6, 2})}));
  Program program(graph);
  EXPECT_EQ(program.plan().launches.size(), 1U);
  const std::vector<Tensor> out = program.run({ramp({4, 6})});
  EXPECT_EQ(out[0].strides, (std::vector<int64_t>{1, 6}));
  expect_as_interpreted(graph, program, {ramp({4, 6})});
}

TEST(NativeKernels, OneProgramForAllSizes) {
  Graph graph;
  Builder b(graph);
  const SymInt n = graph.env().symbol({.name = "s0", .range = {0, 4096}, .max_expr = {}, .hint = 8, .origin = "x"});
  Node* x = strided(graph, DType::F32, {n, 3});
  Node* sorted = b.call("aten.sort.default", {x, 0});
  Node* pooled = b.call("aten.max_pool2d_with_indices.default",
                        {b.reshape(x, {n, 1, 1, 3}), Argument::list({1, 2}), Argument::list({1, 1})});
  graph.output(Argument::list({b.getitem(sorted, 0), b.getitem(sorted, 1),
                               b.getitem(b.call("aten.cummax.default", {b.permute(x, {1, 0}), 1}), 1),
                               b.getitem(pooled, 1), b.call("aten.digamma.default", {x})}));
  Program program(graph);
  for (const int64_t size : {8, 1, 0, 700, 8, 3}) {
    SCOPED_TRACE(size);
    expect_as_interpreted(graph, program, {ramp({size, 3})});
  }
}

// Not of native kernels, but of one program for all sizes: a result of one element, or of as many as there were or
// twice as many, has rules of its own.
TEST(ResizedImages, OneProgramForAllSizes) {
  for (const double factor : {0.29, 1.0 / 3, 1.1, 2.3}) {
    SCOPED_TRACE(factor);
    Graph graph;
    Builder b(graph);
    const SymInt n = graph.env().symbol({.name = "s0", .range = {4, 4096}, .max_expr = {}, .hint = 8, .origin = "x"});
    const SymInt m = scaled(SymRounding::Trunc, factor, n);
    Node* x = strided(graph, DType::F32, {1, 2, n, 3});
    const auto resized = [&](const char* op, std::vector<Argument> rest) {
      std::vector<Argument> args{x, Argument::list({m, 5})};
      args.insert(args.end(), rest.begin(), rest.end());
      return b.call(op, args);
    };
    graph.output(Argument::list({resized("aten.upsample_nearest2d.default", {factor, Argument()}),
                                 resized("aten.upsample_bilinear2d.default", {true, factor, Argument()}),
                                 resized("aten.upsample_bilinear2d.default", {false, factor, Argument()})}));
    Program program(graph);
    for (const int64_t size : {8, 4, 5, 9, 10, 11, 100, 700}) {
      SCOPED_TRACE(size);
      expect_as_interpreted(graph, program, {ramp({1, 2, size, 3})}, 1e-5);
    }
  }
}

TEST(NativeKernels, EmptyTensorsGiveEmptyResults) {
  for (const auto& [op, rest] : std::vector<std::pair<const char*, std::vector<Argument>>>{{"aten.sort.default", {1}},
                                                                                           {"aten.cummin.default", {1}},
                                                                                           {"aten.mode.default", {2}},
                                                                                           {"aten.i1.default", {}}}) {
    if (!find_op(op)) continue;
    SCOPED_TRACE(op);
    Graph graph;
    Builder b(graph);
    std::vector<Argument> args{strided(graph, DType::F32, {0, 4, 2})};
    args.insert(args.end(), rest.begin(), rest.end());
    return_all(graph, b, b.call(op, args));
    Program program(graph);
    expect_as_interpreted(graph, program, {ramp({0, 4, 2})});
  }
}

/// What a run says that must be refused.
std::string refusal(Program& program, const std::vector<Tensor>& inputs) {
  return testing::error_text([&] { program.run(inputs); });
}

TEST(NativeKernels, WhatTheValuesForbidIsAnErrorOfTheUser) {
  Graph graph;
  Builder b(graph);
  const SymInt n = graph.env().symbol({.name = "s0", .range = {0, 64}, .max_expr = {}, .hint = 8, .origin = "x"});
  Node* x = strided(graph, DType::F32, {n});
  return_all(graph, b, b.call("aten.kthvalue.default", {x, 5}));
  Program program(graph);
  EXPECT_EQ(program.run({ramp({6})})[1].numel(), 1);
  EXPECT_THAT(refusal(program, {ramp({4})}),
              HasSubstr("elements of dimension 0 to select k from in aten.kthvalue.default: s0 >= 5 does "
                        "not hold (found 4 and 5)"));
}

TEST(NativeKernels, PlacesOutsideThePlaneAreRefused) {
  Graph graph;
  Builder b(graph);
  Node* x = strided(graph, DType::F32, {1, 2, 2});
  Node* places = strided(graph, DType::I64, {1, 2, 2}, "places");
  graph.output(Argument::list({b.call("aten.max_unpool2d.default", {x, places, Argument::list({3, 3})})}));
  Program program(graph);
  Tensor where = Tensor::empty(DType::I64, {1, 2, 2});
  for (int64_t i = 0; i < 4; ++i) where.set_int(i, 2 * i);
  expect_as_interpreted(graph, program, {ramp({1, 2, 2}), where});
  for (const int64_t wrong : {9, -1}) {
    where.set_int(3, wrong);
    EXPECT_THAT(refusal(program, {ramp({1, 2, 2}), where}),
                HasSubstr("found an invalid max index: " + std::to_string(wrong)));
  }
}

/// PyTorch asks of an index that names no element only whether its dimension has any.
TEST(NativeKernels, IndicesOfRowsWithoutElements) {
  for (const int64_t rows : {3, 0}) {
    Graph graph;
    Builder b(graph);
    Node* x = strided(graph, DType::F32, {rows, 0});
    Node* index = strided(graph, DType::I64, {1}, "index");
    Node* values = strided(graph, DType::F32, {1, 0}, "values");
    return_all(graph, b, b.call("aten.index_put.default", {x, Argument::list({index}), values, true}));
    Program program(graph);
    const std::vector<Tensor> inputs{Tensor::full(DType::F32, {rows, 0}, 0),
                                     Tensor::of(DType::I64, {1}, std::vector<double>{9}),
                                     Tensor::full(DType::F32, {1, 0}, 0)};
    if (rows > 0) {
      expect_as_interpreted(graph, program, inputs);
      continue;
    }
    EXPECT_THAT(refusal(program, inputs), HasSubstr("index 9 is out of bounds for dimension 0 with size 0"));
    EXPECT_THAT(testing::error_text([&] { Interpreter(graph).run(inputs); }), HasSubstr("index 9 is out of range"));
  }
}

SymInt any_size(Graph& graph, const char* name) {
  return graph.env().symbol({.name = name, .range = {0, 64}, .max_expr = {}, .hint = 8, .origin = "x"});
}

// Sizes that only a run knows are compared then, before anything beyond an operand is read.
TEST(NativeKernels, SizesOfARunThatDoNotFitAreRefused) {
  Graph reflectors;
  Builder r(reflectors);
  Node* a = strided(reflectors, DType::F32, {4, 3});
  Node* tau = strided(reflectors, DType::F32, {any_size(reflectors, "s0")}, "tau");
  return_all(reflectors, r, r.call("aten.linalg_householder_product.default", {a, tau}));
  Program product(reflectors);
  EXPECT_EQ(refusal(product, {ramp({4, 3}), ramp({2})}), "");
  EXPECT_THAT(refusal(product, {ramp({4, 3}), ramp({40})}),
              HasSubstr("rank for the factors in tau in aten.linalg_householder_product.default: 3 >= s0 does not hold "
                        "(found 3 and 40)"));

  Graph writes;
  Builder w(writes);
  Node* self = strided(writes, DType::F32, {5});
  Node* index = strided(writes, DType::I64, {any_size(writes, "s0")}, "index");
  Node* src = strided(writes, DType::F32, {any_size(writes, "s1")}, "src");
  return_all(writes, w, w.call("aten.scatter_add.default", {self, 0, index, src}));
  Program scatter(writes);
  const auto zeros = [](int64_t n) { return Tensor::full(DType::I64, {n}, 0); };
  EXPECT_EQ(refusal(scatter, {ramp({5}), zeros(3), ramp({4})}), "");
  EXPECT_THAT(
      refusal(scatter, {ramp({5}), zeros(30), ramp({4})}),
      HasSubstr("size of src in dimension 0 for the index in aten.scatter_add.default: s1 >= s0 does not hold"));

  Graph orders;
  Builder o(orders);
  return_all(orders, o, o.call("aten.topk.default", {strided(orders, DType::F32, {any_size(orders, "s0")}), 5}));
  Program top(orders);
  EXPECT_EQ(refusal(top, {ramp({6})}), "");
  EXPECT_THAT(refusal(top, {ramp({4})}),
              HasSubstr("elements to take k from in aten.topk.default: s0 >= 5 does not hold (found 4 and 5)"));

  Graph lines;
  Builder l(lines);
  return_all(lines, l, l.call("aten.median.dim", {strided(lines, DType::F32, {2, any_size(lines, "s0")}), 1}));
  Program median(lines);
  EXPECT_THAT(refusal(median, {Tensor::full(DType::F32, {2, 0}, 0)}), HasSubstr("non-zero size"));
}

}  // namespace
}  // namespace strata
