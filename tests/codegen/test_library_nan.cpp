// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// NaN and infinities go through calls with work on the result as through the plain operators one after the other.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "codegen/library_bound.h"
#include "library_reference.h"

namespace strata {
namespace {

using library::max_magnitude;
using library_test::Case;
using testing::HasSubstr;
using testing::Not;
using K = PostOp::Kind;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr K kKinds[] = {K::Relu,  K::GeluErf,   K::GeluTanh,    K::Tanh, K::Sigmoid, K::Silu,
                        K::Clamp, K::HardSwish, K::HardSigmoid, K::Elu,  K::Linear};

/// A compiled case that can run several times.
class Runner {
 public:
  Runner(const Case& c, bool prepack = true) : case_(c) {
    std::vector<const Tensor*> constants(c.tensors.size(), nullptr);
    for (const LibraryOperand& o : c.call.operands) {
      if (o.constant) constants[o.buffer] = &c.tensors[o.buffer];
    }
    CompileOptions options;
    options.prepack = prepack;
    options.threads = 2;
    kernel_ = library::compile_library_call(c.call, constants, options, std::make_shared<library::Scratch>());
  }
  std::vector<double> run() {
    const Tensor& result = case_.tensors.back();
    for (int64_t i = 0; i < result.numel(); ++i) result.set(i, 77);
    std::vector<std::byte*> buffers;
    for (const Tensor& t : case_.tensors) buffers.push_back(t.data());
    kernel_->run({buffers.data(), {}, 2});
    return result.values();
  }
  std::string describe() const { return kernel_->describe(); }

 private:
  const Case& case_;
  std::unique_ptr<library::LibraryKernel> kernel_;
};

double rounded(DType dtype, double x) {
  const Tensor t = Tensor::scalar(dtype, static_cast<float>(x));
  return t.at(0);
}

/// The product alone, then each operation on its elements.
std::vector<double> one_by_one(const Case& c, bool prepack) {
  Case plain = c;
  plain.call.post_ops.clear();
  plain.tensors.back() = c.tensors.back().clone();
  std::vector<double> x = Runner(plain, prepack).run();
  for (const PostOp& op : c.call.post_ops) {
    std::vector<double> y(x.size());
    if (op.operand >= 0) y = c.values(op.operand).data;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<double>(static_cast<float>(library_test::reference(op, x[i], y[i])));
  }
  for (double& v : x) v = rounded(c.call.result.dtype, v);
  return x;
}

/// How many elements are of another class (NaN, either infinity, finite) or, when finite, far off.
int differing(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  int count = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double f = found[i], e = expected[i];
    if (std::isnan(f) || std::isnan(e))
      count += std::isnan(f) != std::isnan(e);
    else if (std::isinf(f) || std::isinf(e))
      count += f != e;
    else
      count += std::abs(f - e) > tolerance * std::max(1.0, std::abs(e));
  }
  return count;
}

/// Shapes that take different kernels of the library, and small products of our own.
enum class Form { Matmul, Batched, Large, Conv3, Winograd, Conv1, Depthwise, Transposed };
constexpr Form kForms[] = {Form::Matmul,   Form::Batched, Form::Large,     Form::Conv3,
                           Form::Winograd, Form::Conv1,   Form::Depthwise, Form::Transposed};

/// Operands: input, weight, bias, one of the result's shape (read only if an operation does).
Case make(Form form, DType dtype, bool constant, unsigned seed) {
  const bool is_matmul = form == Form::Matmul || form == Form::Batched || form == Form::Large;
  Case c(is_matmul ? "matmul" : form == Form::Transposed ? "convolution_transpose" : "convolution", seed);
  std::vector<int64_t> out;
  c.call.has_bias = true;
  if (is_matmul) {
    const bool batched = form != Form::Matmul, large = form == Form::Large;
    const int64_t rows = batched ? 7 : 9, depth = large ? 700 : constant && !batched ? 450 : 20;
    const auto matrix = [&](int64_t r, int64_t s) {
      return batched ? std::vector<int64_t>{3, r, s} : std::vector<int64_t>{r, s};
    };
    c.operand(dtype, matrix(rows, depth));
    c.operand(dtype, matrix(depth, 19), {}, constant);
    c.operand(dtype, {19}, {}, constant);
    out = matrix(rows, 19);
  } else {
    const int64_t taps = form == Form::Conv1 ? 1 : 3, in = form == Form::Conv3 ? 12 : 16;
    c.call.groups = form == Form::Depthwise ? 16 : 1;
    c.operand(dtype, {2, in, 7, 7});
    c.operand(dtype, {16, in / c.call.groups, taps, taps}, {}, constant);
    c.operand(dtype, {16}, {}, constant);
    c.call.stride = c.call.dilation = {1, 1};
    c.call.padding = {taps / 2, taps / 2};
    c.call.output_padding = {0, 0};
    out = {2, 16, 7, 7};
  }
  c.operand(dtype, out);
  c.result(dtype, out);
  return c;
}

double tolerance_of(DType dtype) { return dtype == DType::F32 ? 1e-4 : 3e-2; }

std::string name_of(const Case& c, double value, const Runner& runner) {
  std::string text = std::to_string(value) + " " + c.call.result.shape[0].str();
  return text + "\n" + runner.describe();
}

/// The call before, during and after `value` is in element `at` of operand `where`.
void check_value(Case& c, int where, int64_t at, double value, bool prepack = true) {
  const double tolerance = tolerance_of(c.tensors[0].dtype);
  const Tensor& operand = c.tensors[where];
  const double before = operand.at(at);
  if (c.call.operands[where].constant) operand.set(at, value);
  Runner runner(c, prepack);
  for (double v : {c.call.operands[where].constant ? value : before, value}) {
    operand.set(at, v);
    const std::vector<double> expected = one_by_one(c, prepack);
    for (int round = 0; round < 2; ++round)
      EXPECT_EQ(differing(runner.run(), expected, tolerance), 0) << where << " " << name_of(c, v, runner);
  }
  operand.set(at, before);
}

TEST(LibraryNan, EveryOperationInEveryForm) {
  unsigned seed = 0;
  for (Form form : kForms) {
    for (K kind : kKinds) {
      for (bool constant : {true, false}) {
        Case c = make(form, DType::F32, constant, ++seed);
        c.post(kind, kind == K::Clamp ? -0.5 : 1.5, 0.75);
        for (float value : {kNan, kInf, -kInf, 1e38f, -1e38f, 1e-40f}) check_value(c, 0, seed % 100 + 5, value);
      }
    }
  }
}

TEST(LibraryNan, SixteenBitTypes) {
  unsigned seed = 1000;
  for (DType dtype : {DType::BF16, DType::F16}) {
    for (Form form : kForms) {
      for (K kind : kKinds) {
        Case c = make(form, dtype, form != Form::Batched, ++seed);
        c.post(kind, kind == K::Clamp ? -0.5 : 1.5, 0.75);
        for (float value : {kNan, kInf, -kInf}) check_value(c, 0, seed % 100 + 5, value);
      }
    }
  }
}

TEST(LibraryNan, InBiasWeightAndWhatIsAdded) {
  unsigned seed = 2000;
  for (Form form : kForms) {
    for (K kind : {K::Relu, K::Clamp, K::HardSigmoid, K::Tanh}) {
      for (int where : {1, 2, 3}) {
        for (bool constant : {true, false}) {
          Case c = make(form, DType::F32, constant, ++seed);
          c.post(K::Add, 0, 0, 3);
          c.post(kind, -0.5, 0.5);
          for (float value : {kNan, kInf, -kInf}) check_value(c, where, 3, value, seed % 3 != 0);
        }
      }
    }
  }
}

TEST(LibraryNan, OperandsBetweenTwoOperationsThatDropIt) {
  for (K between : {K::Add, K::Sub, K::Mul}) {
    Case c = make(Form::Conv3, DType::F32, true, 3000 + static_cast<unsigned>(between));
    c.post(K::Relu);
    c.post(between, 0, 0, 3);
    c.post(K::Clamp, -2, 2);
    c.post(K::Mul, 0, 0, 3);
    for (float value : {kNan, kInf, -kInf, 3e38f}) {
      check_value(c, 0, 100, value);
      check_value(c, 3, 100, value);
    }
  }
}

/// Finite operands whose products overflow; the infinities are multiplied by 0.
TEST(LibraryNan, MadeByFiniteNumbers) {
  for (bool constant : {true, false}) {
    for (K kind : {K::Relu, K::Clamp, K::HardSigmoid}) {
      Case c("matmul", 7);
      c.operand(DType::F32, {5, 16});
      c.operand(DType::F32, {16, 17}, {}, constant);
      for (int64_t i = 0; i < 16 * 17; ++i) c.tensors[1].set(i, 1e30);
      for (int64_t k = 0; k < 16; ++k) c.tensors[0].set(2 * 16 + k, 1e10);
      const int zeros = c.operand(DType::F32, {17});
      for (int64_t i = 0; i < 17; ++i) c.tensors[zeros].set(i, 0);
      c.result(DType::F32, {5, 17});
      c.post(K::Mul, 0, 0, zeros);
      c.post(kind, -1, 1);
      const std::vector<double> found = Runner(c).run();
      for (int64_t i = 0; i < 5 * 17; ++i) EXPECT_EQ(std::isnan(found[i]), i / 17 == 2) << i;
    }
  }
}

/// How many zeros of the call's result have another sign than where the operations follow one by one; and at least one
/// number became a zero.
int zeros_of_another_sign(const Case& c, std::string& text) {
  Runner runner(c);
  const std::vector<double> found = runner.run(), expected = one_by_one(c, true);
  int zeros = 0, wrong = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    zeros += expected[i] == 0;
    wrong += expected[i] == 0 && (found[i] != 0 || std::signbit(found[i]) != std::signbit(expected[i]));
  }
  EXPECT_GT(zeros, 0);
  text = name_of(c, 0, runner);
  return wrong;
}

/// A negative number times 0 is -0, and what is divided by it -infinity; what is less than 0 becomes 0.
TEST(LibraryNan, ZerosKeepTheirSign) {
  unsigned seed = 4000;
  std::string text;
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (Form form : kForms) {
      for (K kind : {K::Linear, K::Relu}) {
        for (bool constant : {true, false}) {
          Case c = make(form, dtype, constant, ++seed);
          c.post(kind, 0, PostOp::kNothingAdded);
          EXPECT_EQ(zeros_of_another_sign(c, text), 0) << text;
        }
      }
    }
  }
}

/// Convolutions of one channel with spread taps, which the library has no fast kernel for.
TEST(LibraryNan, ZerosOfItsGeneralConvolution) {
  std::string text;
  for (bool constant : {true, false}) {
    Case c("convolution", 4100);
    c.call.has_bias = true;
    c.operand(DType::F32, {2, 1, 2, 2});
    c.operand(DType::F32, {2, 1, 1, 1}, {}, constant);
    const int bias = c.operand(DType::F32, {2}, {}, constant);
    for (int64_t i = 0; i < 2; ++i) c.tensors[bias].set(i, -0.125);  // where the padding lies, nothing else
    c.call.stride = {2, 2};
    c.call.dilation = {2, 1};
    c.call.padding = {1, 1};
    c.call.output_padding = {0, 0};
    c.result(DType::F32, {2, 2, 2, 2});
    c.post(K::Relu);
    EXPECT_EQ(zeros_of_another_sign(c, text), 0) << text;
  }
}

TEST(LibraryNan, AsLimitOfAClamp) {
  for (Form form : {Form::Matmul, Form::Conv3}) {
    Case c = make(form, DType::F32, true, 11);
    c.post(K::Clamp, 0, NAN);
    for (double x : Runner(c).run()) EXPECT_TRUE(std::isnan(x));
  }
}

TEST(LibraryNan, OnlyWhereItIsNeeded) {
  Case c = make(Form::Conv3, DType::F32, true, 8);
  c.post(K::Relu);
  Runner runner(c);
  runner.run();
  EXPECT_THAT(runner.describe(), HasSubstr("runs unfused where a NaN is possible"));
  EXPECT_THAT(runner.describe(), Not(HasSubstr("unfused:")));
  c.tensors[0].set(11, kNan);
  runner.run();
  EXPECT_THAT(runner.describe(), HasSubstr("unfused:"));
  Case harmless = make(Form::Conv3, DType::F32, true, 9);
  harmless.post(K::Silu);
  EXPECT_THAT(Runner(harmless).describe(), Not(HasSubstr("unfused")));
}

TEST(LibraryNan, MagnitudeFindsEveryElement) {
  const struct {
    std::vector<int64_t> shape, strides;
    int64_t size;
  } views[] = {{{3, 5, 7}, {35, 7, 1}, 105},
               {{3, 5, 7}, {1, 3, 15}, 105},
               {{4, 1, 6}, {12, 0, 2}, 60},
               {{2, 3, 4}, {40, 1, 8}, 80},
               {{2, 9, 3}, {3, 0, 1}, 6},
               {{33}, {3}, 99},
               {{}, {}, 1},
               {{1, 1}, {5, 5}, 1}};
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (const auto& v : views) {
      Tensor t = Tensor::empty(dtype, {v.size});
      const auto look = [&] {
        library::View view{{library::Slot::Kind::Fixed, 0, 0, t.data()}, dtype, v.shape, v.strides};
        return max_magnitude(view, {nullptr, nullptr, 2});
      };
      std::vector<bool> inside(static_cast<size_t>(v.size));
      Tensor in = t;
      in.shape = v.shape;
      in.strides = v.strides;
      for (int64_t i = 0; i < v.size; ++i) t.set(i, 0);
      for (int64_t i = 0; i < in.numel(); ++i) in.set(i, 1);
      for (int64_t i = 0; i < v.size; ++i) inside[i] = t.at(i) == 1;
      for (int64_t i = 0; i < v.size; ++i) {
        t.set(i, -2.5);
        EXPECT_EQ(look(), inside[i] ? 2.5 : 1) << i;
        for (float bad : {kNan, -kNan, kInf, -kInf}) {
          t.set(i, bad);
          EXPECT_EQ(look(), inside[i] ? kInf : 1) << i;
        }
        t.set(i, inside[i]);
      }
    }
  }
}

TEST(LibraryNan, MagnitudeOfLargeTensorsInParallel) {
  Tensor t = Tensor::full(DType::F32, {300, 1001}, 0.5);
  std::mt19937 random(4);
  for (int64_t columns : {1001, 999}) {
    const library::View view{{library::Slot::Kind::Fixed, 0, 0, t.data()}, DType::F32, {300, columns}, {1001, 1}};
    for (int i = 0; i < 50; ++i) {
      const int64_t at = static_cast<int64_t>(random() % 300) * 1001 + static_cast<int64_t>(random() % columns);
      t.set(at, -3);
      EXPECT_EQ(max_magnitude(view, {nullptr, nullptr, 2}), 3);
      t.set(at, 0.5);
    }
    EXPECT_EQ(max_magnitude(view, {nullptr, nullptr, 3}), 0.5);
  }
}

TEST(LibraryNan, NothingIsBoundedInOtherTypes) {
  Tensor t = Tensor::full(DType::F64, {4}, 1);
  const library::View view{{library::Slot::Kind::Fixed, 0, 0, t.data()}, DType::F64, {4}, {1}};
  EXPECT_EQ(max_magnitude(view, {nullptr, nullptr, 1}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace strata
