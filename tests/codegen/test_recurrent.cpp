// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The kernel of a recurrent layer against the reference in float64; lstm, gru and plain networks against PyTorch's
// recorded results are in tests/core/test_ops_b.cpp.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "codegen/compiler.h"
#include "core/ir/builder.h"
#include "core/ir/interpreter.h"
#include "passes/schedule.h"

namespace strata {
namespace {

struct Sizes {
  int64_t steps, batch, size;
};

class RecurrentCase {
 public:
  RecurrentCase(const std::string& cell, DType dtype, Sizes s, bool reverse, bool batch_first, bool with_bias) {
    const int64_t width = s.size * (cell == "lstm" ? 4 : cell == "gru" ? 3 : 1);
    std::vector<int64_t> gates{s.steps, s.batch, width};
    if (batch_first) std::swap(gates[0], gates[1]);
    Builder b(graph_);
    const auto input = [&](const char* name, std::vector<int64_t> shape) {
      inputs_.push_back(random(dtype, shape));
      return graph_.placeholder(name, Type::of(dtype, std::vector<SymInt>(shape.begin(), shape.end())));
    };
    Node* x = input("x", gates);
    Node* h = input("h", {s.batch, s.size});
    const Argument c = cell == "lstm" ? Argument(input("c", {s.batch, s.size})) : Argument(NoneArg{});
    Node* w = input("w", {width, s.size});
    const Argument bias = with_bias ? Argument(input("b", {width})) : Argument(NoneArg{});
    Node* made = b.call("strata.recurrent_layer.default", {x, h, c, w, bias, cell, reverse, batch_first});
    std::vector<Argument> parts;
    for (int64_t k = 0; k < 3; ++k) parts.emplace_back(b.getitem(made, k));
    graph_.output(Argument::list(std::move(parts)));
  }

  std::vector<Tensor>& inputs() { return inputs_; }

  std::vector<Tensor> run(int threads) const {
    const Scheduled scheduled = schedule(graph_, {});
    auto compiler = make_cpu_compiler();
    Executor executor(scheduled.plan, compiler->compile(*scheduled.plan, {}), threads);
    return executor.run(inputs_);
  }

  void check(double tolerance, int threads) const {
    InterpreterOptions options;
    options.float64 = true;
    const std::vector<RefValue> expected = Interpreter(graph_, options).run(inputs_);
    const std::vector<Tensor> found = run(threads);
    for (size_t k = 0; k < 3; ++k) {
      const Tensor& e = expected[k].tensor();
      ASSERT_EQ(found[k].shape, e.shape);
      for (int64_t i = 0; i < e.numel(); ++i)
        ASSERT_NEAR(found[k].at(i), e.at(i), tolerance * std::max(1.0, std::abs(e.at(i))))
            << "result " << k << " at " << i;
    }
  }

 private:
  Tensor random(DType dtype, const std::vector<int64_t>& shape) {
    Tensor t = Tensor::empty(dtype, shape);
    std::normal_distribution<double> normal(0, 0.4);
    for (int64_t i = 0; i < t.numel(); ++i) t.set(i, normal(random_));
    return t;
  }

  std::mt19937 random_{3};
  Graph graph_;
  std::vector<Tensor> inputs_;
};

TEST(Recurrent, EveryCellTypeAndSize) {
  int variant = 0;
  for (const char* cell : {"lstm", "gru", "tanh", "relu"}) {
    for (const Sizes s : {Sizes{1, 1, 1}, {4, 3, 16}, {3, 2, 37}, {2, 9, 64}, {2, 5, 130}, {5, 25, 24}}) {
      for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
        SCOPED_TRACE(std::string(cell) + " " + std::to_string(s.size) + " " + std::string(dtype_name(dtype)));
        ++variant;
        const double tolerance = dtype == DType::F64 ? 1e-12 : dtype == DType::F32 ? 5e-6 : 1e-2;
        RecurrentCase(cell, dtype, s, variant & 1, variant & 2, variant % 3).check(tolerance, 1 + variant % 4);
      }
    }
  }
}

TEST(Recurrent, SmallAndLargeGates) {
  RecurrentCase c("lstm", DType::F32, {1, 2, 32}, false, false, false);
  for (int64_t i = 0; i < c.inputs()[0].numel(); ++i)
    c.inputs()[0].set(i, i % 3 == 0 ? 1e-6 * i : i % 3 == 1 ? 200 : -200);
  c.check(2e-6, 1);
}

TEST(Recurrent, NanStaysInItsRowOfTheBatch) {
  for (const char* cell : {"lstm", "gru", "tanh", "relu"}) {
    RecurrentCase c(cell, DType::F32, {3, 4, 20}, false, false, true);
    c.inputs()[1].set(2 * 20 + 5, NAN);
    const std::vector<Tensor> found = c.run(1);
    for (int64_t i = 0; i < found[1].numel(); ++i)
      EXPECT_EQ(std::isnan(found[1].at(i)), i / 20 == 2) << cell << " " << i;
  }
}

}  // namespace
}  // namespace strata
