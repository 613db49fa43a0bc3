// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Every scalar operation in every dtype that it supports, on random and on special values, in vectors and scalars.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/codegen/loop_testing.h"

namespace strata::testing {
namespace {

using namespace loop;  // NOLINT: the vocabulary of this file

const std::vector<DType> kIntegers = {DType::U8,  DType::I8,  DType::U16, DType::I16,
                                      DType::U32, DType::I32, DType::U64, DType::I64};
const std::vector<DType> kFloats = {DType::F32, DType::F64};

bool supports(ScalarOp op, DType d) {
  bool f = is_floating(d);
  bool float_only = (op >= ScalarOp::Sqrt && op <= ScalarOp::Erfc) || op == ScalarOp::Sigmoid ||
                    op == ScalarOp::Reciprocal || op == ScalarOp::IsNan || op == ScalarOp::IsInf ||
                    op == ScalarOp::Atan2;
  bool integer_only = op == ScalarOp::Not || (op >= ScalarOp::And && op <= ScalarOp::Shr);
  if (d == DType::Bool) {
    bool logic = op == ScalarOp::Not || op == ScalarOp::And || op == ScalarOp::Or || op == ScalarOp::Xor ||
                 is_comparison(op) || op == ScalarOp::Min || op == ScalarOp::Max;
    return logic;
  }
  return f ? !integer_only : !float_only;
}

template <class T>
std::vector<T> float_values(size_t n) {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {T(0),
                      T(-0.0),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(-0.5),
                      T(1.5),
                      T(2.5),
                      T(-2.5),
                      T(3),
                      T(1e-3),
                      T(-1e-3),
                      T(88),
                      T(-88),
                      T(104),
                      T(-104),
                      T(1e10),
                      T(-1e10),
                      L::max(),
                      L::min(),
                      L::denorm_min(),
                      -L::denorm_min(),
                      L::min() / 3,
                      L::infinity(),
                      -L::infinity(),
                      L::quiet_NaN(),
                      T(0.999),
                      T(1.001),
                      T(3.1415926535),
                      T(100.25)};
  std::uniform_real_distribution<double> scale(-6, 4), unit(-1, 1);
  while (v.size() < n) {
    double r = unit(random_engine());
    v.push_back(static_cast<T>(v.size() % 2 ? r * 3 : r * std::pow(10, scale(random_engine()))));
  }
  return v;
}

Bytes values_of(DType d, size_t n, bool shuffled) {
  Bytes out(n * dtype_size(d));
  auto put = [&](auto v) {
    v.resize(n);
    if (shuffled) std::shuffle(v.begin(), v.end(), random_engine());
    std::memcpy(out.data(), v.data(), out.size());
  };
  if (d == DType::F32) {
    put(float_values<float>(n));
  } else if (d == DType::F64) {
    put(float_values<double>(n));
  } else {
    for (size_t i = 0; i < n; ++i) {
      uint64_t bits = random_engine()() >> (random_engine()() % 64);
      if (random_engine()() % 2) bits = 0 - bits;
      if (d == DType::Bool) bits &= 1;
      std::memcpy(&out[i * dtype_size(d)], &bits, dtype_size(d));
    }
  }
  return out;
}

ScalarValue read(const Bytes& bytes, size_t i, DType d) {
  const std::byte* at = &bytes[i * dtype_size(d)];
  auto get = [&](auto v) {
    std::memcpy(&v, at, sizeof v);
    return v;
  };
  switch (d) {
    case DType::F32:
      return {get(float{}), 0};
    case DType::F64:
      return {get(double{}), 0};
    case DType::I8:
      return {0, get(int8_t{})};
    case DType::I16:
      return {0, get(int16_t{})};
    case DType::I32:
      return {0, get(int32_t{})};
    case DType::U16:
      return {0, get(uint16_t{})};
    case DType::U32:
      return {0, get(uint32_t{})};
    case DType::U64:
    case DType::I64:
      return {0, get(int64_t{})};
    default:
      return {0, get(uint8_t{})};
  }
}

/// Distance in units of the last place of `d` at the expected value; 0 where both are NaN.
double ulps(double got, double expected, DType d) {
  if (std::isnan(got) && std::isnan(expected)) return 0;
  if (got == expected) return 0;
  if (std::isnan(got) || std::isnan(expected) || std::isinf(got) || std::isinf(expected)) return 1e30;
  double unit = d == DType::F32
                    ? static_cast<double>(std::nextafter(std::fabs(static_cast<float>(expected)), INFINITY)) -
                          std::fabs(static_cast<float>(expected))
                    : std::nextafter(std::fabs(expected), INFINITY) - std::fabs(expected);
  return std::fabs(got - expected) / unit;
}

struct OpCase {
  ScalarOp op;
  DType operand, result;
  std::unique_ptr<LoopCase> c;
};

constexpr size_t kCount = 181;

OpCase make_case(ScalarOp op, DType operand, DType result, int width) {
  OpCase out{op, operand, result,
             std::make_unique<LoopCase>(std::string(to_string(op)) + "_" + std::string(dtype_abbr(operand)))};
  LoopCase& c = *out.c;
  auto n = static_cast<int64_t>(kCount);
  BufferId x = c.input("x", operand, n), y = c.input("y", operand, n), z = c.output("z", result, n);
  SymInt i = c.outer(n);
  Body& b = c.body;
  b.begin_nest({});
  ScalarId a = b.load(x, i), v;
  if (op == ScalarOp::Cast) {
    v = b.cast(a, result);
  } else if (is_unary(op)) {
    v = b.unary(op, a);
  } else {
    v = b.binary(op, a, b.load(y, i));
  }
  b.store({z, i, v});
  c.kernel.schedule.vector_width = width;
  return out;
}

/// The largest error allowed, in units of the last place.
double allowed(ScalarOp op, DType d) {
  switch (op) {
    case ScalarOp::Rsqrt:
      return 1.5;
    case ScalarOp::Sigmoid:
      return 6;
    case ScalarOp::Erfc:
    case ScalarOp::Pow:
      return 6;
    default:
      break;
  }
  bool call = (op >= ScalarOp::Exp && op <= ScalarOp::Erfc) || op == ScalarOp::Atan2;
  return call ? 4.5 : d == DType::F32 || d == DType::F64 ? 0.51 : 0;
}

/// What the definition leaves open: division by zero, conversions without a meaning. The denormal tail of the sigmoid
/// is the formula's own underflow, which PyTorch has too.
bool undefined(const OpCase& c, ScalarValue a, ScalarValue b) {
  if (!is_floating(c.operand)) {
    bool divides =
        c.op == ScalarOp::Div || c.op == ScalarOp::FloorDiv || c.op == ScalarOp::Mod || c.op == ScalarOp::Fmod;
    return divides && b.integer == 0;
  }
  if (c.op == ScalarOp::Cast && !is_floating(c.result)) {
    return std::isnan(a.number) || (c.result == DType::U64 && (a.number < 0 || a.number >= 0x1p64));
  }
  return c.op == ScalarOp::Sigmoid && a.number < (c.operand == DType::F32 ? -87 : -708);
}

void run_cases(const std::vector<OpCase>& cases, const Target& target, const std::string& label) {
  std::vector<const Kernel*> kernels;
  for (const OpCase& c : cases) kernels.push_back(&c.c->kernel);
  codegen::LoopJit jit(target);
  auto compiled = jit.compile(kernels);
  for (size_t k = 0; k < cases.size(); ++k) {
    const OpCase& c = cases[k];
    Bytes x = values_of(c.operand, kCount, false), y = values_of(c.operand, kCount, true);
    Bytes z(kCount * dtype_size(c.result), std::byte{0xa5});
    std::byte* buffers[] = {x.data(), y.data(), z.data()};
    compiled[k]->run({buffers, c.c->symbols, 1});
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < kCount; ++i) {
      ScalarValue a = read(x, i, c.operand), b = read(y, i, c.operand), got = read(z, i, c.result);
      if (undefined(c, a, b)) continue;
      ScalarValue expected = evaluate_scalar(c.op, c.operand, c.result, a, b);
      double error = is_floating(c.result)             ? ulps(got.number, expected.number, c.result)
                     : got.integer == expected.integer ? 0
                                                       : 1e30;
      if (error > worst) {
        worst = error;
        at = i;
      }
    }
    ScalarValue a = read(x, at, c.operand), b = read(y, at, c.operand), got = read(z, at, c.result);
    ScalarValue expected = evaluate_scalar(c.op, c.operand, c.result, a, b);
    EXPECT_LE(worst, allowed(c.op, c.operand))
        << label << " " << c.c->kernel.name << " to " << dtype_abbr(c.result) << " of (" << a.number << " " << a.integer
        << ", " << b.number << " " << b.integer << ") is " << got.number << " " << got.integer << ", expected "
        << expected.number << " " << expected.integer;
  }
}

std::vector<OpCase> all_operations(const std::vector<DType>& dtypes, int width) {
  std::vector<OpCase> cases;
  for (int o = static_cast<int>(ScalarOp::Neg); o <= static_cast<int>(ScalarOp::Ge); ++o) {
    auto op = static_cast<ScalarOp>(o);
    for (DType d : dtypes) {
      if (!supports(op, d)) continue;
      bool to_bool = is_comparison(op) || op == ScalarOp::IsNan || op == ScalarOp::IsInf;
      cases.push_back(make_case(op, d, to_bool ? DType::Bool : d, width));
    }
  }
  return cases;
}

std::vector<DType> all_dtypes() {
  std::vector<DType> out = kIntegers;
  out.insert(out.end(), kFloats.begin(), kFloats.end());
  out.push_back(DType::Bool);
  return out;
}

TEST(LoopScalar, FloatOperationsInVectors) {
  for (const Target& target : targets()) run_cases(all_operations(kFloats, 0), target, target.cpu);
}

/// Functions that are computed in place, all over float32's numbers: within the error that they promise.
TEST(LoopScalar, FunctionsInPlaceEverywhere) {
  constexpr int64_t count = 1 << 20;
  using Exact = double (*)(double);
  const std::pair<ScalarOp, Exact> functions[] = {{ScalarOp::Exp, std::exp}, {ScalarOp::Log, std::log},
                                                  {ScalarOp::Erf, std::erf}, {ScalarOp::Tanh, std::tanh},
                                                  {ScalarOp::Sin, std::sin}, {ScalarOp::Cos, std::cos}};
  if (!host_target().has("fma")) GTEST_SKIP() << "functions in place are for AVX-512 and AVX2";
  for (const auto& [op, exact_of] : functions) {
    if (op == ScalarOp::Log && !host_target().avx512) continue;  // the library's there
    const bool sine = op == ScalarOp::Sin || op == ScalarOp::Cos;
    LoopCase c(std::string(to_string(op)));
    BufferId x = c.input("x", DType::F32, count), y = c.output("y", DType::F32, count);
    SymInt i = c.outer(count);
    c.body.begin_nest({});
    c.body.store({y, i, c.body.unary(op, c.body.load(x, i))});
    const Kernel* kernels[] = {&c.kernel};
    const auto compiled = codegen::LoopJit(host_target()).compile(kernels);
    std::vector<float> in(count), out(count, -1);
    // Every 8192nd bit pattern, and as many numbers where the functions are neither 0 nor 1.
    for (uint32_t k = 0; k < count; k += 2) {
      in[k] = std::bit_cast<float>(k * 4096 + k % 4096);
      in[k + 1] = static_cast<float>(k) * (200.0F / count) - 110;
      // Next to 1, where a logarithm is nearly 0.
      if (op == ScalarOp::Log && k > count / 2) in[k + 1] = 0.5F + static_cast<float>(k - count / 2) * (2.0F / count);
      // Near 65536 sines change from the one way to the other; elsewhere whole vectors are near.
      if (sine && k > count / 2) in[k] = static_cast<float>(k) * (140000.0F / count) - 70000;
    }
    std::byte* buffers[] = {reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data())};
    compiled[0]->run({buffers, c.symbols, 1});
    double worst = 0;
    float at = 0;
    for (size_t k = 0; k < in.size(); ++k) {
      const double exact = exact_of(in[k]);
      const double want = std::fabs(exact) > 3.402823466e38 ? static_cast<float>(exact) : exact;
      const double error = ulps(out[k], want, DType::F32);
      if (error > worst) at = in[k];
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, sine ? 3 : op == ScalarOp::Tanh ? 1.8 : 2.5) << to_string(op) << " of " << at;
    if (op != ScalarOp::Erf && op != ScalarOp::Tanh) continue;
    for (size_t k = 0; k < in.size(); ++k) {
      if (std::isnan(in[k])) continue;
      ASSERT_LE(std::fabs(out[k]), 1) << to_string(op) << " of " << in[k];
      ASSERT_EQ(std::signbit(out[k]), std::signbit(in[k])) << to_string(op) << " of " << in[k];
    }
  }
}

/// C's fmod is exact, whichever way it is computed: bit by bit the library's, signs of zeros among it.
template <class T>
void check_remainders(DType dtype, const Target& target) {
  constexpr int64_t kPoints = 1 << 16;
  constexpr size_t kCount = kPoints;
  LoopCase c("remainder");
  const BufferId x = c.input("x", dtype, kPoints), y = c.input("y", dtype, kPoints), z = c.output("z", dtype, kPoints);
  const SymInt i = c.outer(kPoints);
  c.body.begin_nest({});
  c.body.store({z, i, c.body.binary(ScalarOp::Fmod, c.body.load(x, i), c.body.load(y, i))});
  const Kernel* kernels[] = {&c.kernel};
  const auto compiled = codegen::LoopJit(target).compile(kernels);
  using Limits = std::numeric_limits<T>;
  const T odd[] = {0,
                   -T(0),
                   1,
                   Limits::infinity(),
                   -Limits::infinity(),
                   Limits::quiet_NaN(),
                   Limits::denorm_min(),
                   Limits::min(),
                   Limits::max(),
                   Limits::epsilon()};
  std::vector<T> a(kCount), b(kCount), out(kCount, 7);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  for (size_t k = 0; k < kCount; ++k) {
    // Mostly whole vectors of small quotients, many of them next to a whole number.
    const auto scale = static_cast<int>(k / 64 % 48) - 8;
    b[k] = static_cast<T>(mantissa(random_engine()));
    a[k] = std::ldexp(static_cast<T>(mantissa(random_engine())), scale);
    if (k % 3 == 0) a[k] = b[k] * static_cast<T>(k % 1000);
    if (k % 6 == 0) a[k] = std::nextafter(a[k], T(0));
    if (k / 1024 % 4 == 3 && k % 7 == 0) a[k] = odd[k % std::size(odd)];
    if (k / 1024 % 4 == 3 && k % 5 == 0) b[k] = odd[k / 7 % std::size(odd)];
    if (k / 1024 % 8 == 5) a[k] *= Limits::min(), b[k] *= Limits::min();
  }
  std::byte* buffers[] = {reinterpret_cast<std::byte*>(a.data()), reinterpret_cast<std::byte*>(b.data()),
                          reinterpret_cast<std::byte*>(out.data())};
  compiled[0]->run({buffers, c.symbols, 1});
  for (size_t k = 0; k < kCount; ++k) {
    const T exact = std::fmod(a[k], b[k]);
    ASSERT_TRUE(std::isnan(exact) ? std::isnan(out[k]) : out[k] == exact && std::signbit(out[k]) == std::signbit(exact))
        << std::hexfloat << a[k] << " % " << b[k] << " is " << out[k] << ", not " << exact;
  }
}

TEST(LoopScalar, RemaindersAreExact) {
  for (const Target& target : targets()) {
    check_remainders<float>(DType::F32, target);
    check_remainders<double>(DType::F64, target);
  }
}

TEST(LoopScalar, FloatOperationsInScalars) { run_cases(all_operations(kFloats, 1), host_target(), "scalar"); }

/// A value may be computed once for all lanes in one place, and in every lane of wider or narrower vectors in another.
TEST(LoopScalar, FunctionsAreTheSameInVectorsOfAllWidths) {
  for (const Target& target : targets()) {
    std::vector<std::pair<Bytes, Bytes>> inputs;
    std::vector<Bytes> whole;
    for (const int width : {0, 1, 4, 8}) {
      const std::vector<OpCase> cases = all_operations(kFloats, width);
      std::vector<const Kernel*> kernels;
      for (const OpCase& c : cases) kernels.push_back(&c.c->kernel);
      const auto compiled = codegen::LoopJit(target).compile(kernels);
      for (size_t k = 0; k < cases.size(); ++k) {
        const OpCase& c = cases[k];
        if (width == 0) inputs.emplace_back(values_of(c.operand, kCount, false), values_of(c.operand, kCount, true));
        auto& [x, y] = inputs[k];
        Bytes z(kCount * dtype_size(c.result));
        std::byte* buffers[] = {x.data(), y.data(), z.data()};
        compiled[k]->run({buffers, c.c->symbols, 1});
        if (width == 0) whole.push_back(z);
        for (size_t i = 0; i < kCount; ++i) {
          const ScalarValue got = read(z, i, c.result), expected = read(whole[k], i, c.result);
          const bool same = got.integer == expected.integer && ulps(got.number, expected.number, c.result) == 0;
          EXPECT_TRUE(same) << c.c->kernel.name << " in vectors of " << width << " for " << target.cpu << ": "
                            << got.number << ", and in whole ones " << expected.number << ", of "
                            << read(x, i, c.operand).number;
          if (!same) break;
        }
      }
    }
  }
}

/// Once for a row, in front of the loop, as for each of its elements: near and far numbers, infinities and NaN.
TEST(LoopScalar, FunctionsOfARowAreThoseOfItsElements) {
  constexpr int64_t rows = 64, columns = 48;
  for (ScalarOp op : {ScalarOp::Sin, ScalarOp::Cos, ScalarOp::Exp, ScalarOp::Log, ScalarOp::Erf, ScalarOp::Tanh}) {
    LoopCase c(std::string(to_string(op)));
    BufferId x = c.input("x", DType::F32, rows), spread = c.input("spread", DType::F32, rows * columns);
    BufferId y = c.output("y", DType::F32, rows * columns), z = c.output("z", DType::F32, rows * columns);
    SymInt i = c.outer(rows);
    AxisId r = c.inner(columns);
    Body& b = c.body;
    b.begin_nest({r});
    const SymInt at = i * columns + b.axis_index(r);
    b.store({y, at, b.unary(op, b.load(x, i))});
    b.store({z, at, b.unary(op, b.load(spread, at))});
    const Kernel* kernels[] = {&c.kernel};
    const auto compiled = codegen::LoopJit(host_target()).compile(kernels);
    std::vector<float> in = float_values<float>(rows), all(rows * columns), first(all.size()), second(all.size());
    for (size_t k = 0; k < all.size(); ++k) all[k] = in[k / columns];
    std::byte* buffers[] = {reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(all.data()),
                            reinterpret_cast<std::byte*>(first.data()), reinterpret_cast<std::byte*>(second.data())};
    compiled[0]->run({buffers, c.symbols, 1});
    for (size_t k = 0; k < all.size(); ++k)
      ASSERT_TRUE(first[k] == second[k] || (std::isnan(first[k]) && std::isnan(second[k])))
          << to_string(op) << " of " << all[k] << ": " << first[k] << " once, " << second[k] << " in the loop";
  }
}

/// A row by one number: what is taken apart in front of the loop gives what the division gives, bit by bit.
TEST(LoopScalar, QuotientsOfARow) {
  constexpr int64_t rows = 96, columns = 4096 + 16;
  LoopCase c("quotients");
  BufferId x = c.input("x", DType::F32, rows * columns), by = c.input("by", DType::F32, rows);
  BufferId y = c.output("y", DType::F32, rows * columns);
  SymInt i = c.outer(rows);
  AxisId r = c.inner(columns);
  Body& b = c.body;
  b.begin_nest({r});
  const SymInt at = i * columns + b.axis_index(r);
  b.store({y, at, b.binary(ScalarOp::Div, b.load(x, at), b.load(by, i))});
  for (const Target& target : targets()) {
    const Kernel* kernels[] = {&c.kernel};
    const auto compiled = codegen::LoopJit(target).compile(kernels);
    std::mt19937 random(1);
    std::vector<float> in(rows * columns), divisors = float_values<float>(rows), out(in.size(), -1);
    for (size_t k = 0; k < divisors.size() / 2; ++k)
      divisors[k] = std::bit_cast<float>(static_cast<uint32_t>(random()));
    // Any numbers, whole vectors of likely ones, and quotients close to the middle between two numbers.
    for (size_t k = 0; k < in.size(); ++k) {
      const auto bits = static_cast<uint32_t>(random());
      const float near = std::bit_cast<float>((bits & 0x80ffffffU) + (120U << 23));
      in[k] = k % 64 < 16 ? std::bit_cast<float>(bits) : k % 64 < 32 ? near : near * divisors[k / columns];
    }
    std::byte* buffers[] = {reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(divisors.data()),
                            reinterpret_cast<std::byte*>(out.data())};
    compiled[0]->run({buffers, c.symbols, 1});
    for (size_t k = 0; k < in.size(); ++k) {
      const float divisor = divisors[k / columns], expected = in[k] / divisor;
      const bool both_nan = std::isnan(out[k]) && std::isnan(expected);
      // Denormal results may be rounded twice.
      const float off = std::fabs(expected) < 1.18e-38F ? 1.5e-45F : 0.0F;
      const bool same = out[k] == expected && std::signbit(out[k]) == std::signbit(expected);
      ASSERT_TRUE(same || both_nan || (off > 0 && std::fabs(out[k] - expected) <= off))
          << in[k] << " / " << divisor << " is " << expected << ", not " << out[k] << " for " << target.cpu;
    }
  }
}

TEST(LoopScalar, IntegerOperations) {
  std::vector<DType> dtypes = kIntegers;
  dtypes.push_back(DType::Bool);
  for (const Target& target : targets()) run_cases(all_operations(dtypes, 0), target, target.cpu);
  run_cases(all_operations(dtypes, 1), host_target(), "scalar");
}

TEST(LoopScalar, Casts) {
  for (const Target& target : targets()) {
    std::vector<OpCase> cases;
    for (DType from : all_dtypes()) {
      for (DType to : all_dtypes()) {
        if (from != to) cases.push_back(make_case(ScalarOp::Cast, from, to, 0));
      }
    }
    run_cases(cases, target, target.cpu);
  }
}

/// All 65536 values of the 16-bit floats survive load, widening, rounding and store; doubles round by way of float.
/// A comparison of float16 that waits behind a call, in lanes that count and others: any number below 0, and the sum.
TEST(LoopScalar, Float16IsComparedBehindCalls) {
  for (const Target& target : targets()) {
    for (const float lowest : {0.5F, -0.5F}) {
      LoopCase c("below");
      constexpr int64_t rows = 25, columns = 5;
      BufferId x = c.input("x", DType::F16, rows * columns), z = c.input("z", DType::F16, rows);
      BufferId below = c.output("below", DType::Bool, 1), sum = c.output("sum", DType::F32, 1);
      const AxisId i = c.inner(rows), j = c.inner(columns);
      Body& b = c.body;
      const size_t nest = b.begin_nest({i, j});
      const ScalarId v = b.load(x, b.axis_index(i) * columns + b.axis_index(j)), zero = b.constant(0.0, DType::F32);
      b.reduce({Combine::Any, b.binary(ScalarOp::Lt, v, zero), kNone, kNone, DType::Bool, 0});
      const ScalarId log = b.unary(ScalarOp::Log, b.binary(ScalarOp::Max, v, b.constant(0.25, DType::F32)));
      b.reduce({Combine::Sum, b.binary(ScalarOp::Add, log, b.load(z, b.axis_index(i))), kNone, kNone, DType::F32, 0});
      b.begin_nest({});
      b.store({below, SymInt(0), b.reduced(nest, 0)});
      b.store({sum, SymInt(0), b.reduced(nest, 1)});
      c.tolerance = 1e-4;
      c.fill = [lowest](BufferId buffer, Bytes& bytes) {
        if (buffer > 1) return false;
        for (size_t k = 0; k < bytes.size() / 2; ++k) {
          const auto half = static_cast<_Float16>(k == 77 ? lowest : 0.5F + static_cast<float>(k) / 64);
          std::memcpy(&bytes[2 * k], &half, 2);
        }
        return true;
      };
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopScalar, SixteenBitFloats) {
  for (const Target& target : targets()) {
    for (DType d : {DType::F16, DType::BF16}) {
      LoopCase c("round_trip");
      BufferId x = c.input("x", d, 65536), y = c.output("y", d, 65536), z = c.output("z", DType::F32, 65536);
      SymInt i = c.outer(65536);
      c.body.begin_nest({});
      ScalarId v = c.body.load(x, i);
      c.body.store({y, i, v});
      c.body.store({z, i, v});
      c.tolerance = 0;
      c.fill = [](BufferId, Bytes& bytes) {
        for (size_t k = 0; k < bytes.size() / 2; ++k) {
          auto bits = static_cast<uint16_t>(k);
          std::memcpy(&bytes[2 * k], &bits, 2);
        }
        return true;
      };
      check(c, Check::Jit, target);
    }
  }
}

TEST(LoopScalar, RoundsToSixteenBitFloats) {
  for (const Target& target : targets()) {
    for (DType d : {DType::F16, DType::BF16}) {
      LoopCase c("round");
      int64_t n = 5000;
      BufferId x = c.input("x", DType::F32, n), y = c.output("y", d, n), z = c.output("z", DType::I16, n);
      SymInt i = c.outer(n);
      c.body.begin_nest({});
      ScalarId v = c.body.cast(c.body.load(x, i), d);
      c.body.store({y, i, v});
      c.body.store(
          {z, i, c.body.select(c.body.unary(ScalarOp::IsNan, c.body.load(x, i)), c.body.integer(0, DType::I16), [&] {
             Scalar bits;
             bits.op = ScalarOp::Bitcast;
             bits.dtype = DType::I16;
             bits.a = v;
             c.kernel.scalars.push_back(bits);
             auto id = static_cast<ScalarId>(c.kernel.scalars.size() - 1);
             c.kernel.nests.back().body.push_back(id);
             return id;
           }())});
      c.fill = [](BufferId, Bytes& bytes) {
        for (size_t k = 0; k < bytes.size() / 4; ++k) {
          // Near 16-bit numbers and halfway between them, where rounding decides.
          auto bits = static_cast<uint32_t>(random_engine()());
          if (k % 3 == 0) bits = (bits & 0xffff0000u) | 0x8000u;
          if (k % 3 == 1) bits = (bits & 0x8fffe000u) | 0x38000000u | 0x1000u;
          std::memcpy(&bytes[4 * k], &bits, 4);
        }
        return true;
      };
      check(c, Check::Jit, target);
    }
  }
}

}  // namespace
}  // namespace strata::testing
