// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Wrong data in compiled graphs: indices out of range and integer division by zero end the run with an error that
/// names the operator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/compiler.h"
#include "core/support/index_error.h"
#include "passes/schedule.h"
#include "tests/passes/pass_testing.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

class Compiled1 {
 public:
  explicit Compiled1(const std::string& text) : graph_(testing::graph_of(text)) {
    scheduled_ = schedule(graph_, {});
    kernels_ = make_cpu_compiler()->compile(*scheduled_.plan, {});
  }
  Tensor run(const std::vector<Tensor>& inputs) {
    if (!executor_) executor_ = std::make_unique<Executor>(scheduled_.plan, std::move(kernels_), 2);
    return executor_->run(inputs).at(0);
  }
  std::string index_error(const std::vector<Tensor>& inputs) {
    try {
      run(inputs);
    } catch (const IndexError& e) {
      return e.what();
    }
    return "";
  }
  std::string error(const std::vector<Tensor>& inputs) {
    return testing::error_text([&] { run(inputs); });
  }
  size_t launches() const { return scheduled_.plan->launches.size(); }

 private:
  Graph graph_;
  Scheduled scheduled_;
  std::vector<std::unique_ptr<CompiledKernel>> kernels_;
  std::unique_ptr<Executor> executor_;
};

Tensor whole(std::vector<int64_t> shape, std::vector<double> values, DType dtype = DType::I64) {
  return Tensor::of(dtype, std::move(shape), values);
}
Tensor counted(std::vector<int64_t> shape) {
  Tensor t = Tensor::empty(DType::F32, std::move(shape));
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, static_cast<double>(i));
  return t;
}

TEST(DataChecks, IndicesOutOfRange) {
  Compiled1 gather(R"(
def forward(self, x: "f32[4, 3]", i: "i64[4, 2]"):
    g = torch.ops.aten.gather.default(x, 1, i)
    y = torch.ops.aten.mul.Tensor(g, 2.0)
    return (y,))");
  EXPECT_EQ(gather.run({counted({4, 3}), whole({4, 2}, {0, 2, 1, 1, 2, 0, 0, 1})}).at(1), 4);
  EXPECT_THAT(gather.index_error({counted({4, 3}), whole({4, 2}, {0, 2, 1, 3, 2, 0, 0, 1})}),
              HasSubstr("index 3 is out of bounds for dimension 1 with size 3, in 'g'"));
  EXPECT_THAT(gather.index_error({counted({4, 3}), whole({4, 2}, {0, 2, 1, 1, 2, 0, 0, -1})}),
              HasSubstr("index -1 is"));
  // The next call is not touched by the one before.
  EXPECT_EQ(gather.run({counted({4, 3}), whole({4, 2}, {0, 2, 1, 1, 2, 0, 0, 1})}).at(7), 20);

  Compiled1 index(R"(
def forward(self, x: "f32[5, 7]", i: "i64[3]"):
    y = torch.ops.aten.index.Tensor(x, [None, i])
    return (y,))");
  EXPECT_EQ(index.run({counted({5, 7}), whole({3}, {-1, 0, -7})}).at(0), 6);
  EXPECT_THAT(index.index_error({counted({5, 7}), whole({3}, {-8, 0, 0})}),
              HasSubstr("index -8 is out of bounds for dimension 1 with size 7"));

  Compiled1 embedding(R"(
def forward(self, w: "f32[10, 33]", i: "i64[2, 3]"):
    y = torch.ops.aten.embedding.default(w, i)
    return (y,))");
  EXPECT_EQ(embedding.run({counted({10, 33}), whole({2, 3}, {9, 0, 1, 2, 3, 4})}).at(0), 297);
  EXPECT_THAT(embedding.index_error({counted({10, 33}), whole({2, 3}, {9, 0, 10, 2, 3, 4})}),
              HasSubstr("index out of range in self: 10 of 10 rows"));

  Compiled1 select(R"(
def forward(self, x: "f32[s0, 4]", i: "i64[s1]"):
    y = torch.ops.aten.index_select.default(x, 0, i)
    return (y,))");
  EXPECT_EQ(select.run({counted({3, 4}), whole({2}, {2, 0})}).at(0), 8);
  EXPECT_THAT(select.index_error({counted({3, 4}), whole({2}, {0, 3})}), HasSubstr("with size 3"));
}

TEST(DataChecks, ReadingFromNothing) {
  Compiled1 select(R"(
def forward(self, x: "f32[0, 4]", i: "i64[s1]"):
    y = torch.ops.aten.index_select.default(x, 0, i)
    return (y,))");
  EXPECT_THAT(select.index_error({counted({0, 4}), whole({2}, {0, 0})}), HasSubstr("index 0 is out of bounds"));
  Compiled1 nothing(R"(
def forward(self, x: "f32[0, 4]", i: "i64[0]"):
    y = torch.ops.aten.index_select.default(x, 0, i)
    return (y,))");
  EXPECT_EQ(nothing.run({counted({0, 4}), whole({0}, {})}).numel(), 0);
}

TEST(DataChecks, ManyThreadsAndVectors) {
  Compiled1 gather(R"(
def forward(self, x: "f32[1000]", i: "i64[300007]"):
    g = torch.ops.aten.gather.default(x, 0, i)
    return (g,))");
  Tensor at = Tensor::empty(DType::I64, {300007});
  for (int64_t k = 0; k < at.numel(); ++k) at.set_int(k, (k * 7) % 1000);
  EXPECT_EQ(gather.run({counted({1000}), at}).at(300006), static_cast<double>(300006 * 7 % 1000));
  for (const int64_t where : {0, 5, 150000, 299999, 300006}) {
    Tensor wrong = at.clone();
    wrong.set_int(where, 1000 + where);
    EXPECT_THAT(gather.index_error({counted({1000}), wrong}), HasSubstr("index " + std::to_string(1000 + where)));
  }
}

TEST(DataChecks, WhatNobodyWantsIsNotChecked) {
  // Before padding, the gather is computed at places that do not exist.
  Compiled1 padded(R"(
def forward(self, x: "f32[3]", i: "i64[4]", n: "i64[4]", d: "i64[4]"):
    g = torch.ops.aten.gather.default(x, 0, i)
    p = torch.ops.aten.constant_pad_nd.default(g, [5, 6], 9.0)
    q = torch.ops.aten.floor_divide.default(n, d)
    r = torch.ops.aten.constant_pad_nd.default(q, [5, 6], 7)
    y = torch.ops.aten.add.Tensor(p, r)
    return (y,))");
  const Tensor y =
      padded.run({counted({3}), whole({4}, {2, 1, 0, 2}), whole({4}, {8, 9, 10, 11}), whole({4}, {2, 3, 5, 4})});
  EXPECT_EQ(y.at(0), 16);
  EXPECT_EQ(y.at(5), 6);
  EXPECT_EQ(y.at(8), 4);
}

TEST(DataChecks, IntegerDivisionByZero) {
  for (const char* op : {"floor_divide.default", "remainder.Tensor", "fmod.Tensor"}) {
    for (const DType dtype : {DType::I64, DType::I32, DType::U8}) {
      const std::string type = dtype == DType::I64 ? "i64" : dtype == DType::I32 ? "i32" : "u8";
      Compiled1 division("\ndef forward(self, a: \"" + type + "[70]\", b: \"" + type +
                         "[70]\"):\n    q = torch.ops.aten." + op + "(a, b)\n    return (q,)");
      Tensor a = Tensor::empty(dtype, {70}), b = Tensor::empty(dtype, {70});
      for (int64_t k = 0; k < 70; ++k) a.set_int(k, k), b.set_int(k, 1 + k % 7);
      EXPECT_EQ(division.run({a, b}).int_at(8), op[0] == 'f' && op[1] == 'l' ? 4 : 0);
      b.set_int(67, 0);
      EXPECT_THAT(division.error({a, b}), HasSubstr("ZeroDivisionError: integer division or modulo by zero, in 'q'"));
    }
  }
}

TEST(DataChecks, ScattersSayTheSame) {
  Compiled1 scatter(R"(
def forward(self, x: "f32[4, 3]", i: "i64[4, 1]", v: "f32[4, 1]"):
    y = torch.ops.aten.scatter.src(x, 1, i, v)
    return (y,))");
  EXPECT_EQ(scatter.run({counted({4, 3}), whole({4, 1}, {0, 1, 2, 0}), counted({4, 1})}).at(4), 1);
  EXPECT_THAT(scatter.index_error({counted({4, 3}), whole({4, 1}, {0, 1, 3, 0}), counted({4, 1})}),
              HasSubstr("index 3 is out of bounds for dimension 1 with size 3, in 'y'"));
}

}  // namespace
}  // namespace strata
