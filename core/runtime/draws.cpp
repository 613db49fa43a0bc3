// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The order in which words are drawn, their width and every rounding are PyTorch's: which sums are fused with a product
// is said by `std::fma`, everything else is rounded (this file is compiled without contraction).

#include "core/runtime/draws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/runtime/normal_block.h"
#include "core/support/error.h"

namespace strata {
namespace {

constexpr int64_t kBlock = 16;

/// What 16-bit floats are drawn in.
constexpr bool is_double(DType dtype) { return dtype == DType::F64; }

float uniform_float(Generator& g) { return static_cast<float>(g.random() & 0xffffffU) * 0x1p-24F; }
double uniform_double(Generator& g) { return static_cast<double>(g.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }

template <class T>
T uniform_of(Generator& g) {
  if constexpr (std::is_same_v<T, double>)
    return uniform_double(g);
  else
    return uniform_float(g);
}

std::byte* element(const Tensor& t, int64_t flat) {
  return t.data() + flat * static_cast<int64_t>(dtype_size(t.dtype));
}

/// `next()` for every element, converted to the tensor's type.
template <class Next>
void fill_floats(const Tensor& out, Next next) {
  const int64_t n = out.numel();
  if (out.dtype == DType::F32) {
    for (int64_t i = 0; i < n; ++i) out.ptr<float>()[i] = static_cast<float>(next());
  } else {
    for (int64_t i = 0; i < n; ++i) store_from_double(out.dtype, element(out, i), next());
  }
}

template <class Next>
void fill_integers(const Tensor& out, Next next) {
  const int64_t n = out.numel();
  if (out.dtype == DType::I64) {
    for (int64_t i = 0; i < n; ++i) out.ptr<int64_t>()[i] = next();
  } else if (out.dtype == DType::Bool) {
    for (int64_t i = 0; i < n; ++i) out.ptr<bool>()[i] = next() != 0;
  } else {
    for (int64_t i = 0; i < n; ++i) store_from_int(out.dtype, element(out, i), next());
  }
}

/// Where rounding to a narrow type reaches the upper bound, PyTorch takes the lower one.
template <class T>
void fill_uniform(Generator& g, const Tensor& out, double low, double high) {
  const T from = static_cast<T>(low), width = static_cast<T>(high) - from;
  Tensor bound = Tensor::empty(out.dtype, {2});
  bound.set(0, low);
  bound.set(1, high);
  const double lower = bound.at(0), upper = bound.at(1);
  const bool narrow = dtype_size(out.dtype) == 2;
  Tensor rounded = Tensor::empty(out.dtype, {1});
  if (!narrow && from == 0 && width == 1) return fill_floats(out, [&] { return uniform_of<T>(g); });
  fill_floats(out, [&]() -> T {
    const T value = std::fma(uniform_of<T>(g), width, from);
    if (!narrow) return value == static_cast<T>(upper) ? static_cast<T>(lower) : value;
    rounded.set(0, static_cast<double>(value));
    return static_cast<T>(rounded.at(0) == upper ? lower : rounded.at(0));
  });
}

/// Pairs of uniform numbers of a block become pairs of normal ones, in place.
void block_of_normals(double* data, double mean, double deviation) {
  for (int64_t j = 0; j < kBlock / 2; ++j) {
    const double radius = std::sqrt(-2 * std::log(1 - data[j])), angle = 2 * std::numbers::pi * data[j + 8];
    data[j] = std::fma(radius * std::cos(angle), deviation, mean);
    data[j + 8] = std::fma(radius * std::sin(angle), deviation, mean);
  }
}
void block_of_normals(float* data, float mean, float deviation) { normal_block(data, mean, deviation); }

template <class T>
void fill_normal_in_place(Generator& g, T* data, int64_t n, T mean, T deviation) {
  const auto draw = [&](T* at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) at[i] = uniform_of<T>(g);
  };
  draw(data, n);
  for (int64_t i = 0; i + kBlock <= n; i += kBlock) block_of_normals(data + i, mean, deviation);
  if (n % kBlock == 0) return;
  // The last block is drawn anew, over the end of the one before.
  draw(data + n - kBlock, kBlock);
  block_of_normals(data + n - kBlock, mean, deviation);
}

/// 16-bit floats: each block is drawn when its turn comes.
void fill_normal_narrow(Generator& g, const Tensor& out, float mean, float deviation) {
  const int64_t n = out.numel();
  std::array<float, kBlock> block;
  const auto fill = [&](int64_t at) {
    for (float& x : block) x = uniform_float(g);
    normal_block(block.data(), mean, deviation);
    for (int64_t i = 0; i < kBlock; ++i)
      store_from_double(out.dtype, element(out, at + i), static_cast<double>(block[static_cast<size_t>(i)]));
  };
  for (int64_t i = 0; i + kBlock <= n; i += kBlock) fill(i);
  if (n % kBlock != 0) fill(n - kBlock);
}

double single_normal(Generator& g) {
  if (g.kept_normal) {
    const double kept = *g.kept_normal;
    g.kept_normal.reset();
    return kept;
  }
  const double u1 = uniform_double(g), u2 = uniform_double(g);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2)), angle = 2.0 * std::numbers::pi * u1;
  g.kept_normal = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) throw_user("probabilities must be in [0, 1], found " + std::to_string(p));
}

template <class T>
void check_weights(const T* weights, int64_t n) {
  T sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    if (!(weights[j] >= 0) || std::isinf(weights[j]))
      throw_user("probability tensor contains either `inf`, `nan` or element < 0");
    sum += weights[j];
  }
  if (!(sum > 0)) throw_user("invalid multinomial distribution (sum of probabilities <= 0)");
}

/// Numbers are drawn for all rows first; each row gives the places of its largest quotients.
template <class T>
void without_replacement(Generator& g, const Tensor& weights, const Tensor& out) {
  const int64_t n = weights.shape.back(), count = out.shape.back(), rows = n ? weights.numel() / n : 0;
  Tensor quotients = Tensor::empty(weights.dtype, weights.shape);
  draw_exponential(g, quotients, 1);
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t r = 0; r < rows; ++r) {
    const T* w = weights.ptr<T>() + r * n;
    T* q = quotients.ptr<T>() + r * n;
    for (int64_t j = 0; j < n; ++j) q[j] = w[j] / q[j];
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](int64_t a, int64_t b) { return q[a] > q[b] || (q[a] == q[b] && a < b); });
    std::copy_n(order.begin(), count, out.ptr<int64_t>() + r * count);
  }
}

template <class T>
void with_replacement(Generator& g, const Tensor& weights, const Tensor& out) {
  const int64_t n = weights.shape.back(), count = out.shape.back(), rows = n ? weights.numel() / n : 0;
  std::vector<T> cumulated(static_cast<size_t>(n));
  for (int64_t r = 0; r < rows; ++r) {
    const T* w = weights.ptr<T>() + r * n;
    std::partial_sum(w, w + n, cumulated.begin());
    const T sum = cumulated.back();
    for (T& x : cumulated) x /= sum;
    cumulated.back() = 1;
    for (int64_t i = 0; i < count; ++i) {
      const double u = uniform_double(g);
      const auto at =
          std::partition_point(cumulated.begin(), cumulated.end(), [&](T x) { return static_cast<double>(x) < u; });
      out.ptr<int64_t>()[r * count + i] = at - cumulated.begin();
    }
  }
}

template <class T>
void fill_multinomial(Generator& g, const Tensor& weights, bool replacement, const Tensor& out) {
  const int64_t n = weights.shape.back(), count = out.shape.back();
  if (!replacement && count > n)
    throw_user("cannot draw " + std::to_string(count) + " of " + std::to_string(n) + " places without replacement");
  for (int64_t r = 0; n && r < weights.numel() / n; ++r) check_weights(weights.ptr<T>() + r * n, n);
  if (!replacement || count == 1)
    without_replacement<T>(g, weights, out);
  else
    with_replacement<T>(g, weights, out);
}

}  // namespace

void draw_uniform(Generator& generator, const Tensor& out, double low, double high) {
  if (is_double(out.dtype))
    fill_uniform<double>(generator, out, low, high);
  else
    fill_uniform<float>(generator, out, low, high);
}

void draw_normal(Generator& generator, const Tensor& out, double mean, double deviation, bool one_by_one) {
  const int64_t n = out.numel();
  if (one_by_one || n < kBlock)
    fill_floats(out, [&] { return std::fma(single_normal(generator), deviation, mean); });
  else if (is_double(out.dtype))
    fill_normal_in_place(generator, out.ptr<double>(), n, mean, deviation);
  else if (out.dtype == DType::F32)
    fill_normal_in_place(generator, out.ptr<float>(), n, static_cast<float>(mean), static_cast<float>(deviation));
  else
    fill_normal_narrow(generator, out, static_cast<float>(mean), static_cast<float>(deviation));
}

void draw_exponential(Generator& generator, const Tensor& out, double rate) {
  fill_floats(out, [&] { return -1.0 / rate * std::log1p(-uniform_double(generator)); });
}

void draw_bernoulli(Generator& generator, const Tensor& out, double p) {
  check_probability(p);
  fill_integers(out, [&]() -> int64_t { return uniform_double(generator) < p ? 1 : 0; });
}

void draw_bernoulli_each(Generator& generator, const Tensor& probabilities, const Tensor& out) {
  const Tensor each = probabilities.contiguous();
  int64_t i = 0;
  fill_integers(out, [&]() -> int64_t {
    const double p = load_as_double(each.dtype, element(each, i++));
    check_probability(p);
    return is_double(each.dtype) ? uniform_double(generator) < p : uniform_float(generator) < static_cast<float>(p);
  });
}

void draw_integers(Generator& generator, const Tensor& out, int64_t low, int64_t high) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (low >= high)
    throw_user("random integers from " + std::to_string(low) + " to " + std::to_string(high) +
               ": the upper bound must be greater than the lower one");
  const bool wide = range >= uint64_t{1} << 28;
  fill_integers(out, [&] {
    const uint64_t bits = wide ? generator.random64() : generator.random();
    return static_cast<int64_t>(bits % range + static_cast<uint64_t>(low));
  });
}

void draw_permutation(Generator& generator, const Tensor& out) {
  const auto n = static_cast<uint64_t>(out.numel());
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const bool wide = n >= UINT32_MAX / 20;
  for (uint64_t i = 0; i + 1 < n; ++i) {
    const uint64_t bits = wide ? generator.random64() : generator.random();
    std::swap(order[i], order[i + bits % (n - i)]);
  }
  size_t i = 0;
  fill_integers(out, [&] { return order[i++]; });
}

void draw_multinomial(Generator& generator, const Tensor& weights, bool replacement, const Tensor& out) {
  if (is_double(weights.dtype))
    fill_multinomial<double>(generator, weights, replacement, out);
  else
    fill_multinomial<float>(generator, weights, replacement, out);
}

}  // namespace strata
