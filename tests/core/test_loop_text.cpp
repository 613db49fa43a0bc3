// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/loop.h"
#include "core/support/error.h"
#include "tests/error_text.h"

namespace strata::loop {
namespace {

constexpr const char* kSoftmax = R"(kernel fused_softmax_3 nodes 4 5
  schedule vector_axis=1 grain=4 reason="rows \"long\""
  size s77 in 2..1024
  axis i0 < 64
  axis r0 < s77
  axis r1 < s77
  flops 320*s77
  buffer x@0 f32[64*s77] input !1
  buffer y@1 bf16[64*s77] output !5
  outer i0
  nest r0
    %0 f32 = load x@0[s77*i0 + r0] !1
    reduce max f32 %0 !4
  nest
    %1 f32 = reduced 0.0.0 !4
  nest r1
    %2 f32 = load x@0[s77*i0 + r1] !1
    %3 f32 = sub %2 %1 !4
    %4 f32 = exp %3 !4
    %5 i64 = index [r1]
    %6 i64 = const 3
    %7 b8 = ge %5 %6
    %8 f32 = const -inf
    %9 f32 = select %7 %4 %8
    store y@1[s77*i0 + r1] = %9 if %7 !5
)";

TEST(LoopText, PrintsWhatItParsed) {
  ShapeEnv env;
  Kernel k = parse_loop(env, kSoftmax);
  EXPECT_EQ(print_loop(k).substr(0, 60), std::string(kSoftmax).substr(0, 60));
  EXPECT_NO_THROW(verify_loop(k));
  std::string once = print_loop(k);
  EXPECT_EQ(print_loop(parse_loop(env, once)), once);
  ShapeEnv other;
  EXPECT_EQ(print_loop(parse_loop(other, once)), once);
}

TEST(LoopText, RoundTripsWhatBodyBuilds) {
  ShapeEnv env;
  Kernel k;
  k.name = "gather";
  Body b(k, env);
  Symbol s;
  s.name = "s0";
  s.range = {1, 99};
  SymInt n = env.symbol(s);
  k.symbols = {*env.symbol_id(n)};
  BufferId ids = b.buffer({"ids", DType::I32, n, BufferRole::Input, 1});
  BufferId table = b.buffer({"my table", DType::F16, 40 * n, BufferRole::Input, 2});
  BufferId out = b.buffer({"out", DType::F32, n, BufferRole::InOut, 3});
  AxisId i = b.axis("i", n);
  k.outer = {i};
  b.begin_nest({});
  b.node = 7;
  SymInt at = b.indirect(b.load(ids, b.axis_index(i)), {0, kSymMax}, 40 * n - 1);
  ScalarId v = b.load(table, at);
  Store store{out, b.axis_index(i), b.binary(ScalarOp::Mul, v, b.constant(0.1, DType::F32))};
  store.accumulate = true;
  b.store(store);
  verify_loop(k);
  std::string text = print_loop(k);
  EXPECT_THAT(text, ::testing::HasSubstr("let k0 = %0 in 0..oo max [40*s0 - 1]"));
  EXPECT_THAT(text, ::testing::HasSubstr("+= "));
  EXPECT_EQ(print_loop(parse_loop(env, text)), text);
  ShapeEnv other;
  Kernel again = parse_loop(other, text);
  EXPECT_EQ(print_loop(again), text);
  verify_loop(again);
}

TEST(LoopText, MalformedTextIsAUserError) {
  const char* texts[] = {"",
                         "nest",
                         "kernel",
                         "kernel a\n  nest\n    %0 f32 = load x@0[0]",
                         "kernel a\n  nest\n    %1 f32 = const 1",
                         "kernel a\n  nest\n    %0 f32 = frobnicate",
                         "kernel a\n  nest\n    %0 f99 = const 1",
                         "kernel a\n  nest\n    %0 f32 = const",
                         "kernel a\n  nest\n    %0 f32 = const 1 2",
                         "kernel a\n  nest\n    %0 f32 = add %0 %0",
                         "kernel a\n  axis i0 < ((",
                         "kernel a\n  outer i0",
                         "kernel a\n  buffer x@0 f32[4 input",
                         "kernel a\n  buffer x@1 f32[4] input",
                         "kernel a\n  schedule reason=\"open",
                         "kernel a\n  size s0 in 1",
                         "kernel a\nkernel b",
                         "kernel a\n  nest\n    reduce sum f32 %5",
                         "kernel a\n  axis i0 < 4\n  axis i0 < 5"};
  for (const char* text : texts) {
    ShapeEnv env;
    try {
      parse_loop(env, text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::User) << text << ": " << e.what();
      EXPECT_THAT(e.what(), ::testing::HasSubstr("line ")) << text;
    }
  }
}

TEST(LoopText, EveryPrefixIsHandled) {
  std::string text = kSoftmax;
  for (size_t n = 0; n < text.size(); ++n) {
    ShapeEnv env;
    try {
      print_loop(parse_loop(env, text.substr(0, n)));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::User) << e.what();
    }
  }
}

// -----------------------------------------------------------------------------------------------------------------
// builder

struct Small {
  ShapeEnv env;
  Kernel k;
  Body b{k, env};
  BufferId x, y;
  AxisId i;
  Small() {
    k.name = "small";
    x = b.buffer({"x", DType::F32, 8, BufferRole::Input, 0});
    y = b.buffer({"y", DType::F32, 8, BufferRole::InOut, 0});
    i = b.axis("i", 8);
    k.outer = {i};
    b.begin_nest({});
  }
  SymInt at() { return b.axis_index(i); }
};

TEST(LoopBody, ReusesEqualInstructions) {
  Small s;
  EXPECT_EQ(s.b.load(s.x, s.at()), s.b.load(s.x, s.at()));
  EXPECT_NE(s.b.load(s.x, s.at()), s.b.load(s.y, s.at()));
  ScalarId one = s.b.constant(1, DType::F32);
  s.b.begin_nest({});
  EXPECT_EQ(s.b.constant(1, DType::F32), one);  // nests without inner axes are visible to later ones
  s.b.begin_nest({s.b.axis("r", 4)});
  ScalarId two = s.b.constant(2, DType::F32);
  s.b.begin_nest({});
  EXPECT_NE(s.b.constant(2, DType::F32), two);
}

TEST(LoopBody, LoadsAfterAStoreAreNotReused) {
  Small s;
  ScalarId before = s.b.load(s.y, s.at());
  s.b.store({s.y, s.at(), s.b.unary(ScalarOp::Neg, before)});
  s.b.begin_nest({});
  EXPECT_NE(s.b.load(s.y, s.at()), before);
}

TEST(LoopBody, FoldsConstantsExactly) {
  Small s;
  ScalarId x = s.b.load(s.x, s.at());
  auto f = [&](double v) { return s.b.constant(v, DType::F32); };
  EXPECT_EQ(s.b.binary(ScalarOp::Mul, x, f(1)), x);
  EXPECT_EQ(s.b.binary(ScalarOp::Add, x, f(-0.0)), x);
  EXPECT_NE(s.b.binary(ScalarOp::Add, x, f(0.0)), x);   // -0 + 0 is 0
  EXPECT_NE(s.b.binary(ScalarOp::Mul, x, f(0)), f(0));  // NaN * 0 is NaN
  EXPECT_EQ(s.b.binary(ScalarOp::Add, f(0.1), f(0.2)), f(0.1f + 0.2f));
  EXPECT_EQ(s.b.integer(300, DType::U8), s.b.integer(44, DType::U8));
  EXPECT_EQ(s.b.cast(f(-1.9), DType::I32), s.b.integer(-1, DType::I32));
  EXPECT_EQ(s.b.cast(f(0.5), DType::Bool), s.b.integer(1, DType::Bool));
  EXPECT_EQ(s.b.unary(ScalarOp::Neg, s.b.unary(ScalarOp::Neg, x)), x);
  EXPECT_EQ(s.b.select(s.b.integer(1, DType::Bool), x, f(2)), x);
}

TEST(LoopBody, AxesOfOneEnvironmentShareSymbols) {
  ShapeEnv env;
  Kernel a, b;
  Body x(a, env), y(b, env);
  SymInt i = x.axis_index(x.axis("i", 8)), j = y.axis_index(y.axis("i", 8));
  EXPECT_EQ(i, j);
  SymInt other = y.axis_index(y.axis("i", 9));
  EXPECT_NE(other.str(), i.str());
  Kernel c;
  Body z(c, env);
  EXPECT_NE(z.axis_index(z.axis("i", 10)), i);
  EXPECT_EQ(range(z.axis_index(0)).max, 9);
}

// ----------------------------------------------------------------------------------------------------------------
// verifier

TEST(LoopVerify, NamesTheFault) {
  {
    Small s;
    s.b.store({s.x, s.at(), s.b.load(s.x, s.at())});
    EXPECT_THAT(testing::error_text([&] { verify_loop(s.k); }), ::testing::HasSubstr("store to the input 'x'"));
  }
  {
    Small s;
    ScalarId v = s.b.load(s.x, s.at());
    s.b.store({s.y, s.at(), v});
    s.b.store({s.y, s.at(), s.b.unary(ScalarOp::Neg, v)});
    EXPECT_THAT(testing::error_text([&] { verify_loop(s.k); }), ::testing::HasSubstr("two stores"));
  }
  {
    Small s;
    AxisId r = s.b.axis("r", 4);
    s.b.begin_nest({r});
    ScalarId v = s.b.load(s.x, s.b.axis_index(r));
    s.b.begin_nest({});
    s.b.store({s.y, s.at(), v});
    EXPECT_THAT(testing::error_text([&] { verify_loop(s.k); }), ::testing::HasSubstr("not visible"));
  }
  {
    Small s;
    AxisId r = s.b.axis("r", 4);
    s.b.store({s.y, s.at(), s.b.load(s.x, s.b.axis_index(r))});
    EXPECT_THAT(testing::error_text([&] { verify_loop(s.k); }), ::testing::HasSubstr("out of scope"));
  }
  {
    Small s;
    ScalarId v = s.b.load(s.x, s.at());
    std::swap(s.k.nests[0].body[0], s.k.nests[0].body.emplace_back(s.b.unary(ScalarOp::Neg, v)));
    EXPECT_THAT(testing::error_text([&] { verify_loop(s.k); }), ::testing::HasSubstr("used before its definition"));
  }
  {
    Small s;
    s.k.scalars[s.b.load(s.x, s.at())].dtype = DType::F64;
    EXPECT_THAT(testing::error_text([&] { verify_loop(s.k); }), ::testing::HasSubstr("wrong dtype"));
  }
}

}  // namespace
}  // namespace strata::loop
