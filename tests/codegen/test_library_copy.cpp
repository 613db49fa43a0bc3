// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/library_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/runtime/tensor.h"

namespace strata {
namespace {

using library::View;

Tensor random_floats(std::mt19937& random, const std::vector<int64_t>& shape) {
  Tensor t = Tensor::empty(DType::F32, shape);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, normal(random));
  return t;
}

/// The tensor's dimensions in another order of memory.
View permuted(const Tensor& t, const std::vector<int64_t>& shape, const std::vector<size_t>& order) {
  View v;
  v.slot = {library::Slot::Kind::Fixed, 0, 0, t.data()};
  v.dtype = t.dtype;
  v.shape = shape;
  v.strides.resize(shape.size());
  int64_t step = 1;
  for (size_t k = order.size(); k-- > 0;) {
    v.strides[order[k]] = step;
    step *= shape[order[k]];
  }
  return v;
}

int64_t place(const View& v, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d)
    if (v.shape[d] != 1) at += index[d] * v.strides[d];
  return at;
}

/// Rows go along the last dimension, along a longer one, or along several that lie alike on all sides: every order of
/// both sides, with and without work on the way, one operand of the result's shape and one that is broadcast.
TEST(LibraryCopy, EveryOrderOfDimensions) {
  std::mt19937 random(std::random_device{}());
  for (const auto& shape : std::vector<std::vector<int64_t>>{
           {3, 70, 2, 2}, {70, 3, 2}, {5, 4}, {300, 2}, {2, 300}, {1, 33, 1, 5}, {0, 40, 2}, {7}, {20, 20, 20}}) {
    std::vector<size_t> from_order(shape.size());
    std::iota(from_order.begin(), from_order.end(), 0);
    std::vector<size_t> to_order = from_order;
    const int64_t numel = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    for (int variant = 0; variant < 24; ++variant) {
      std::shuffle(from_order.begin(), from_order.end(), random);
      std::shuffle(to_order.begin(), to_order.end(), random);
      for (size_t last = 2; variant % 3 == 0 && shape.size() > 2 && last > 0; --last) {  // as taps of kernels lie
        for (std::vector<size_t>* order : {&from_order, &to_order}) {
          std::erase(*order, shape.size() - last);
          order->push_back(shape.size() - last);
        }
      }
      const Tensor source = random_floats(random, {numel}), other = random_floats(random, {numel}),
                   line = random_floats(random, {shape[0]}), result = Tensor::full(DType::F32, {numel}, NAN);
      const View from = permuted(source, shape, from_order), to = permuted(result, shape, to_order);
      const View whole = permuted(other, shape, from_order);
      std::vector<int64_t> first(shape.size(), 1);
      first[0] = shape[0];
      const View lines = permuted(line, first, to_order);
      std::vector<library::ResultOp> ops;
      if (variant % 2)
        ops = {{PostOp::Kind::Add, 0, 0, whole, false},
               {PostOp::Kind::Mul, 0, 0, lines, false},
               {PostOp::Kind::Relu, 0, 0, {}, false}};
      library::make_epilogue(from, to, ops)->run({nullptr, nullptr, 1 + variant % 3});
      for (int64_t i = 0; i < numel; ++i) {
        std::vector<int64_t> index(shape.size());
        for (int64_t d = static_cast<int64_t>(shape.size()) - 1, rest = i; d >= 0; --d) {
          index[static_cast<size_t>(d)] = rest % shape[static_cast<size_t>(d)];
          rest /= shape[static_cast<size_t>(d)];
        }
        auto expected = static_cast<float>(source.at(place(from, index)));
        if (variant % 2)
          expected = std::max(0.0F, (expected + static_cast<float>(other.at(place(whole, index)))) *
                                        static_cast<float>(line.at(index[0])));
        ASSERT_EQ(static_cast<float>(result.at(place(to, index))), expected) << i << " of variant " << variant;
      }
    }
  }
}

}  // namespace
}  // namespace strata
