// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A layer of a recurrent network in one direction. Steps follow each other; in each, the state's share of the gates is
// a product with few rows, for which the weight is turned once per call into panels of 32 gates. Everything is computed
// in float32, or float64 for such operands.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "codegen/attention_kernel.h"
#include "codegen/attention_tile.h"
#include "codegen/native/native_kernel.h"
#include "codegen/small_product.h"
#include "core/runtime/parallel.h"
#include "core/support/vector_clones.h"

namespace strata::native {
namespace {

using library::AttentionMatrix;

enum class Cell : uint8_t { Lstm, Gru, Tanh, Relu };

constexpr int64_t kPanel = 32;             // gates in a panel of the weight
constexpr int64_t kStepProducts = 60'000;  // below, another thread costs a step more than it saves

// ---------------------------------------------------------------------------------------------------------- the cells

using library::exp_in_place;
using library::Floats;
constexpr int64_t kLanes = sizeof(Floats) / sizeof(float);

STRATA_INLINE void logistic_in_place(Floats& x) {
  const Floats one = Floats{} + 1.0f;
  Floats e = x < 0.0f ? x : -x;
  exp_in_place(e);
  const Floats top = x < 0.0f ? e : one;
  x = top / (one + e);
}

/// Through exp; near 0, where that cancels, a polynomial.
STRATA_INLINE void tanh_in_place(Floats& x) {
  const Floats one = Floats{} + 1.0f, size = x < 0.0f ? -x : x;
  Floats e = size * -2.0f;
  exp_in_place(e);
  const Floats far = (one - e) / (one + e);
  const Floats s = x * x;
  Floats p = s * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * s - 5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s - 3.33332819422e-1f;
  const Floats near = x + x * s * p;
  const Floats signed_far = x < 0.0f ? -far : far;
  x = size < 0.625f ? near : signed_far;
}

/// Some of a row's elements; what is behind them is 0.
STRATA_INLINE void load_part(Floats& to, const float* from, int64_t count) {
  if (count == kLanes) return void(std::memcpy(&to, from, sizeof to));
  float part[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) part[i] = from[i];
  std::memcpy(&to, part, sizeof to);
}
STRATA_INLINE void store_part(const Floats& from, float* to, int64_t count) {
  if (count == kLanes) return void(std::memcpy(to, &from, sizeof from));
  float part[kLanes];
  std::memcpy(part, &from, sizeof from);
  for (int64_t i = 0; i < count; ++i) to[i] = part[i];
}
STRATA_INLINE void load_sum(Floats& to, const float* x, const float* y, int64_t count) {
  Floats other;
  load_part(to, x, count);
  load_part(other, y, count);
  to += other;
}

// New states of one row of n from its gates: x the input's share, y the state's.

STRATA_VECTOR_CLONES void advance_lstm(int64_t n, const float* x, const float* y, float* h, float* c) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    Floats in, forget, cell, out, memory;
    load_sum(in, x + i, y + i, count);
    load_sum(forget, x + n + i, y + n + i, count);
    load_sum(cell, x + 2 * n + i, y + 2 * n + i, count);
    load_sum(out, x + 3 * n + i, y + 3 * n + i, count);
    load_part(memory, c + i, count);
    logistic_in_place(in);
    logistic_in_place(forget);
    tanh_in_place(cell);
    logistic_in_place(out);
    memory = forget * memory + in * cell;
    store_part(memory, c + i, count);
    tanh_in_place(memory);
    out *= memory;
    store_part(out, h + i, count);
  }
}

STRATA_VECTOR_CLONES void advance_gru(int64_t n, const float* x, const float* y, float* h) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    Floats reset, update, share, state, candidate;
    load_sum(reset, x + i, y + i, count);
    load_sum(update, x + n + i, y + n + i, count);
    load_part(candidate, x + 2 * n + i, count);
    load_part(share, y + 2 * n + i, count);
    load_part(state, h + i, count);
    logistic_in_place(reset);
    logistic_in_place(update);
    candidate += reset * share;
    tanh_in_place(candidate);
    state = candidate + update * (state - candidate);
    store_part(state, h + i, count);
  }
}

STRATA_VECTOR_CLONES void advance_plain(bool relu, int64_t n, const float* x, const float* y, float* h) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    Floats sum;
    load_sum(sum, x + i, y + i, count);
    if (relu)
      sum = sum < 0.0f ? Floats{} : sum;
    else
      tanh_in_place(sum);
    store_part(sum, h + i, count);
  }
}

void advance(Cell cell, int64_t n, const float* x, const float* y, float* h, float* c) {
  if (cell == Cell::Lstm) return advance_lstm(n, x, y, h, c);
  if (cell == Cell::Gru) return advance_gru(n, x, y, h);
  advance_plain(cell == Cell::Relu, n, x, y, h);
}

double logistic(double x) {
  const double e = std::exp(-std::abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

void advance(Cell cell, int64_t n, const double* x, const double* y, double* h, double* c) {
  for (int64_t i = 0; i < n; ++i) {
    const auto sum = [&](int64_t gate) { return x[gate * n + i] + y[gate * n + i]; };
    if (cell == Cell::Lstm) {
      c[i] = logistic(sum(1)) * c[i] + logistic(sum(0)) * std::tanh(sum(2));
      h[i] = logistic(sum(3)) * std::tanh(c[i]);
    } else if (cell == Cell::Gru) {
      const double update = logistic(sum(1)), candidate = std::tanh(x[2 * n + i] + logistic(sum(0)) * y[2 * n + i]);
      h[i] = candidate + update * (h[i] - candidate);
    } else {
      const double s = sum(0);
      h[i] = cell == Cell::Tanh ? std::tanh(s) : s < 0 ? 0 : s;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------- the weight

/// y[rows, gates] = h[rows, n] weight^T + bias, gates of some panels.
class StateProduct {
 public:
  StateProduct(const float* weight, std::vector<float> bias, int64_t n)
      : weight_(weight), bias_(std::move(bias)), n_(n), gates_(static_cast<int64_t>(bias_.size())) {
    if (!library::has_small_products()) return;
    memory_.resize(static_cast<size_t>((gates_ + kPanel - 1) / kPanel * kPanel * n_ + 16));
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    panels_ = memory_.data() + (64 - address % 64) % 64 / sizeof(float);
    for (int64_t first = 0; first < gates_; first += kPanel) pack(first);
  }
  int64_t panels() const { return (gates_ + kPanel - 1) / kPanel; }

  void run(int64_t rows, const float* h, float* y, int64_t first_panel, int64_t last_panel) const {
    const int64_t last = std::min(gates_, last_panel * kPanel);
    if (!panels_) return plain(rows, h, y, first_panel * kPanel, last);
    for (int64_t first = first_panel * kPanel; first < last; first += kPanel) {
      const library::SmallProduct p{rows,       std::min(kPanel, gates_ - first),
                                    n_,         h,
                                    n_,         panels_ + first * n_,
                                    kPanel,     false,
                                    DType::F32, y + first,
                                    gates_,     DType::F32,
                                    1,          bias_.data() + first};
      library::small_product(p, 0, p.columns);
    }
  }

 private:
  void pack(int64_t first) {
    const int64_t rows = std::min(kPanel, gates_ - first);
    float* to = panels_ + first * n_;
    if (n_ % 16 == 0) return library::pack_transposed(weight_ + first * n_, n_, rows, n_, 2, to);
    for (int64_t k = 0; k < n_; ++k)
      for (int64_t r = 0; r < rows; ++r) to[k * kPanel + r] = weight_[(first + r) * n_ + k];
  }

  void plain(int64_t rows, const float* h, float* y, int64_t first, int64_t last) const {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t g = first; g < last; ++g) {
        float sum = bias_[static_cast<size_t>(g)];
        for (int64_t k = 0; k < n_; ++k) sum += h[row * n_ + k] * weight_[g * n_ + k];
        y[row * gates_ + g] = sum;
      }
    }
  }

  const float* weight_;
  std::vector<float> bias_, memory_;
  float* panels_ = nullptr;  ///< in memory_, on a line of the cache
  int64_t n_, gates_;
};

class WideStateProduct {
 public:
  WideStateProduct(const double* weight, std::vector<double> bias, int64_t n)
      : weight_(weight), bias_(std::move(bias)), n_(n), gates_(static_cast<int64_t>(bias_.size())) {}
  int64_t panels() const { return gates_; }

  void run(int64_t rows, const double* h, double* y, int64_t first, int64_t last) const {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t g = first; g < last; ++g) {
        double sum = bias_[static_cast<size_t>(g)];
        for (int64_t k = 0; k < n_; ++k) sum += h[row * n_ + k] * weight_[g * n_ + k];
        y[row * gates_ + g] = sum;
      }
    }
  }

 private:
  const double* weight_;
  std::vector<double> bias_;
  int64_t n_, gates_;
};

// ----------------------------------------------------------------------------------------------------------- the layer

/// A matrix of an operand, or a vector as one row.
AttentionMatrix matrix_of(const Tensor& t, size_t row_dim, int64_t offset = 0) {
  const std::byte* data =
      static_cast<const std::byte*>(t.storage->data) + (t.offset + offset) * static_cast<int64_t>(dtype_size(t.dtype));
  return {data, t.dtype, t.rank() > 1 ? t.strides[row_dim] : 0, t.strides.back()};
}

template <class T>
std::vector<T> dense(const Tensor& t) {
  const int64_t columns = t.shape.back(), rows = t.rank() > 1 ? t.shape[0] : 1;
  std::vector<T> values(static_cast<size_t>(rows * columns));
  library::pack_rows(matrix_of(t, 0), rows, columns, columns, values.data(), columns);
  return values;
}

template <class T>
void store(const std::vector<T>& values, const Tensor& to) {
  if (!to.defined()) return;
  const int64_t columns = to.shape.back();
  library::store_rows(values.data(), columns, to.shape[0], columns, matrix_of(to, 0));
}

template <class T, class Product>
class Layer {
 public:
  explicit Layer(const Arguments& a, Cell cell)
      : a_(a), cell_(cell), gates_(a.tensor(0)), reverse_(a.call.boolean(6)), batch_dim_(a.call.boolean(7) ? 0 : 1) {
    steps_ = gates_.shape[1 - batch_dim_];
    batch_ = gates_.shape[batch_dim_];
    width_ = gates_.shape[2];
    n_ = a.tensor(1).shape[1];
  }

  void run() {
    std::vector<T> h = dense<T>(a_.tensor(1)), c = a_.has(2) ? dense<T>(a_.tensor(2)) : std::vector<T>(h.size());
    const Tensor& given = a_.tensor(3);
    const bool in_place = given.dtype == kType && given.is_contiguous();
    const std::vector<T> copy = in_place ? std::vector<T>() : dense<T>(given);
    std::vector<T> bias = a_.has(4) ? dense<T>(a_.tensor(4)) : std::vector<T>(static_cast<size_t>(width_));
    const Product product(in_place ? given.ptr<const T>() : copy.data(), std::move(bias), n_);
    const int64_t step_work = batch_ * width_ * n_;
    const int sharing = threads_for(steps_ * step_work / kStepProducts, a_.threads);
    if (shares_rows(sharing)) {
      parallel_parts(batch_, sharing, [&](int64_t begin, int64_t end) {
        run_rows(product, begin, end - begin, h.data() + begin * n_, c.data() + begin * n_, 1);
      });
    } else {
      run_rows(product, 0, batch_, h.data(), c.data(), threads_for(step_work / kStepProducts, a_.threads));
    }
    store(h, a_.result(1));
    store(a_.has(2) ? c : h, a_.result(2));
  }

 private:
  static constexpr DType kType = sizeof(T) == 8 ? DType::F64 : DType::F32;

  /// Rows do not wait for each other, as panels of gates do after every step; but each thread then reads all weights.
  bool shares_rows(int threads) const {
    constexpr int64_t kManyRows = 8, kFewWeights = 65'536;
    return threads > 1 && batch_ >= threads * (width_ * n_ <= kFewWeights ? 1 : kManyRows);
  }

  /// All steps of some rows, with so many threads in each.
  void run_rows(const Product& product, int64_t first, int64_t rows, T* h, T* c, int threads) const {
    const size_t row_dim = batch_dim_, step_dim = 1 - batch_dim_;
    const bool in_place = gates_.dtype == kType && gates_.strides[2] == 1;
    std::vector<T> packed(in_place ? 0 : static_cast<size_t>(rows * width_)), y(static_cast<size_t>(rows * width_));
    const int64_t x_stride = in_place ? gates_.strides[row_dim] : width_;
    const Tensor& out = a_.result(0);
    for (int64_t step = 0; step < steps_; ++step) {
      const int64_t t = reverse_ ? steps_ - 1 - step : step;
      const int64_t offset = t * gates_.strides[step_dim] + first * gates_.strides[row_dim];
      if (!in_place)
        library::pack_rows(matrix_of(gates_, row_dim, offset), rows, width_, width_, packed.data(), width_);
      const T* x = in_place ? gates_.ptr<const T>() + offset : packed.data();
      parallel_parts(product.panels(), threads,
                     [&](int64_t begin, int64_t end) { product.run(rows, h, y.data(), begin, end); });
      for (int64_t row = 0; row < rows; ++row)
        advance(cell_, n_, x + row * x_stride, y.data() + row * width_, h + row * n_, c + row * n_);
      if (out.defined()) {
        const int64_t to = t * out.strides[step_dim] + first * out.strides[row_dim];
        library::store_rows(h, n_, rows, n_, matrix_of(out, row_dim, to));
      }
    }
  }

  const Arguments& a_;
  const Cell cell_;
  const Tensor& gates_;
  const bool reverse_;
  const size_t batch_dim_;
  int64_t steps_, batch_, width_, n_;
};

void recurrent_layer(const Arguments& a) {
  const std::string name = a.call.string(5);
  const Cell cell = name == "lstm" ? Cell::Lstm : name == "gru" ? Cell::Gru : name == "tanh" ? Cell::Tanh : Cell::Relu;
  if (a.tensor(1).numel() == 0 || a.tensor(0).numel() == 0) {
    // No rows, or no steps: the states stay as they are.
    if (a.tensor(1).numel() == 0) return;
    store(dense<double>(a.tensor(1)), a.result(1));
    return store(dense<double>(a.tensor(a.has(2) ? 2 : 1)), a.result(2));
  }
  if (a.tensor(0).dtype == DType::F64)
    Layer<double, WideStateProduct>(a, cell).run();
  else
    Layer<float, StateProduct>(a, cell).run();
}

constexpr Entry kEntries[] = {{"recurrent_layer", recurrent_layer}};

}  // namespace

std::span<const Entry> recurrent() { return kEntries; }

}  // namespace strata::native
