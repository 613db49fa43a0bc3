// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/library_fallback.h"

#include <algorithm>

#include "codegen/library_copy.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"
#include "core/support/vector_clones.h"

namespace strata::library {
namespace {

/// Integers are computed without sign, so that they wrap.
using Integer = uint64_t;

// ----------------------------------------------------------------------------------------------------------------
// matmul

constexpr int64_t kRows = 4, kColumns = 32;

/// c[rows, n] = a[rows, k] b[k, n], all row-major; `rows` is at most kRows.
template <class T>
__attribute__((always_inline)) inline void row_block(const T* a, const T* b, T* c, int64_t rows, int64_t n, int64_t k) {
  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t columns = std::min(kColumns, n - j);
    T sum[kRows][kColumns] = {};
    if (rows == kRows && columns == kColumns) {
      for (int64_t p = 0; p < k; ++p) {
        const T* line = b + p * n + j;
        for (int64_t r = 0; r < kRows; ++r) {
          for (int64_t i = 0; i < kColumns; ++i) sum[r][i] += a[r * k + p] * line[i];
        }
      }
    } else {
      for (int64_t p = 0; p < k; ++p) {
        const T* line = b + p * n + j;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < columns; ++i) sum[r][i] += a[r * k + p] * line[i];
        }
      }
    }
    for (int64_t r = 0; r < rows; ++r) std::copy(sum[r], sum[r] + columns, c + r * n + j);
  }
}

STRATA_VECTOR_CLONES void multiply_rows(const float* a, const float* b, float* c, int64_t rows, int64_t n, int64_t k) {
  row_block(a, b, c, rows, n, k);
}
STRATA_VECTOR_CLONES void multiply_rows(const double* a, const double* b, double* c, int64_t rows, int64_t n,
                                        int64_t k) {
  row_block(a, b, c, rows, n, k);
}
STRATA_VECTOR_CLONES void multiply_rows(const Integer* a, const Integer* b, Integer* c, int64_t rows, int64_t n,
                                        int64_t k) {
  row_block(a, b, c, rows, n, k);
}

/// Contiguous operands in the compute type; the batch of each operand as strides in matrices over the result's batch
/// dimensions.
class MatmulStep : public Step {
 public:
  MatmulStep(View a, View b, View c) : a_(std::move(a)), b_(std::move(b)), c_(std::move(c)) {
    const size_t r = c_.rank();
    m_ = c_.shape[r - 2];
    n_ = c_.shape[r - 1];
    k_ = a_.shape[r - 1];
    blocks_ = (m_ + kRows - 1) / kRows;
    for (size_t d = 0; d + 2 < r; ++d) batch_ *= c_.shape[d];
  }

  void run(const StepArgs& args) override {
    if (c_.dtype == DType::F32) return work<float>(args);
    if (c_.dtype == DType::F64) return work<double>(args);
    work<Integer>(args);
  }
  std::string describe() const override {
    return "matmul own blocked kernel\n  a " + library::describe(a_) + "\n  b " + library::describe(b_) +
           "\n  result " + library::describe(c_) + "\n";
  }

 private:
  /// Position of the operand's matrix for a flat batch index of the result.
  int64_t matrix(const View& v, int64_t batch) const {
    int64_t at = 0;
    for (size_t d = c_.rank() - 2; d-- > 0;) {
      if (v.shape[d] != 1) at += batch % c_.shape[d] * v.strides[d];
      batch /= c_.shape[d];
    }
    return at;
  }

  template <class T>
  void work(const StepArgs& args) {
    const T *a = reinterpret_cast<const T*>(args.at(a_.slot)), *b = reinterpret_cast<const T*>(args.at(b_.slot));
    T* out = reinterpret_cast<T*>(args.at(c_.slot));
    const int64_t cost = std::max<int64_t>(1, kRows * n_ * std::max<int64_t>(1, k_));
    const int64_t grain = std::max<int64_t>(1, 32768 / cost);
    parallel_for_raw(batch_ * blocks_, grain, args.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / blocks_, row = i % blocks_ * kRows;
        multiply_rows(a + matrix(a_, batch) + row * k_, b + matrix(b_, batch), out + (batch * m_ + row) * n_,
                      std::min(kRows, m_ - row), n_, k_);
      }
    });
  }

  View a_, b_, c_;
  int64_t m_ = 0, n_ = 0, k_ = 0, blocks_ = 0, batch_ = 1;
};

/// Contiguous in the compute type: where it is, or a copy in scratch.
View staged(const View& v, DType dtype, Instance& instance) {
  if (v.dtype == dtype && v.is_contiguous()) {
    View same = v;
    same.strides = contiguous_strides(std::span<const int64_t>(v.shape));
    return same;
  }
  const View to = instance.scratch.tensor(dtype, v.shape);
  instance.steps.push_back(make_copy(v, to));
  return to;
}

/// The type that the operands and the result are computed in together.
DType compute_type(const ConcreteCall& call) {
  return accumulation_dtype(promote(promote(call.operands[0].dtype, call.operands[1].dtype), call.result.dtype));
}

/// Where the product goes, and the step that brings it to the result.
View target(const ConcreteCall& call, DType dtype, Instance& instance) {
  if (call.result.dtype == dtype && call.result.is_contiguous()) return staged(call.result, dtype, instance);
  return instance.scratch.tensor(dtype, call.result.shape);
}

void finish(const ConcreteCall& call, const View& into, std::vector<ResultOp> ops, Instance& instance) {
  if (ops.empty() && into.slot.kind == Slot::Kind::Buffer) return;
  instance.steps.push_back(make_epilogue(into, call.result, std::move(ops)));
}

// -----------------------------------------------------------------------------------------------------------
// convolution

struct Dims {
  int64_t n, c, o, groups;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
};

Dims dims_of(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  const View &in = call.operands[0], &w = call.operands[1];
  Dims d{in.shape[0], in.shape[1], call.result.shape[1], c.groups, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1},
         {0, 0, 0},   {1, 1, 1}};
  const size_t spatial = in.rank() - 2, lead = 3 - spatial;
  for (size_t i = 0; i < spatial; ++i) {
    d.in[lead + i] = in.shape[2 + i];
    d.out[lead + i] = call.result.shape[2 + i];
    d.kernel[lead + i] = w.shape[2 + i];
    d.stride[lead + i] = c.stride[i];
    d.padding[lead + i] = c.padding[i];
    d.dilation[lead + i] = c.dilation[i];
  }
  return d;
}

/// Smallest integer not below a / b; b > 0.
int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

/// Range of i in [0, count) for which `first + i * step` lies in [0, limit).
struct Range {
  int64_t begin, end;
};
Range inside(int64_t first, int64_t step, int64_t limit, int64_t count) {
  return {std::clamp<int64_t>(ceil_div(-first, step), 0, count),
          std::clamp<int64_t>(ceil_div(limit - first, step), 0, count)};
}

template <class T>
__attribute__((always_inline)) inline void axpy(T factor, const T* x, int64_t x_step, T* y, int64_t y_step, int64_t n) {
  if (x_step == 1 && y_step == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
  } else {
    for (int64_t i = 0; i < n; ++i) y[i * y_step] += factor * x[i * x_step];
  }
}

/// One output plane [out...] of one image and output channel: rows of the input times one weight, added to rows of the
/// output. A transposed convolution exchanges the roles: there the *input* position i meets output position i * stride
/// - padding + tap * dilation.
template <class T>
__attribute__((always_inline)) inline void plane(const Dims& d, bool transposed, const T* in, const T* w,
                                                 int64_t w_step, T* out, int64_t channels) {
  const int64_t in_plane = d.in[0] * d.in[1] * d.in[2], taps = d.kernel[0] * d.kernel[1] * d.kernel[2];
  std::fill(out, out + d.out[0] * d.out[1] * d.out[2], T(0));
  // `walk` is stepped over with stride 1, `meet` is the other side.
  const int64_t* walk = transposed ? d.in : d.out;
  const int64_t* meet = transposed ? d.out : d.in;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t k[3] = {tap / (d.kernel[1] * d.kernel[2]), tap / d.kernel[2] % d.kernel[1], tap % d.kernel[2]};
      int64_t first[3];
      Range r[3];
      for (int i = 0; i < 3; ++i) {
        first[i] = k[i] * d.dilation[i] - d.padding[i];
        r[i] = inside(first[i], d.stride[i], meet[i], walk[i]);
      }
      if (r[2].begin >= r[2].end) continue;
      const T factor = w[c * w_step + tap];
      for (int64_t z = r[0].begin; z < r[0].end; ++z) {
        for (int64_t y = r[1].begin; y < r[1].end; ++y) {
          const int64_t walked = (z * walk[1] + y) * walk[2] + r[2].begin;
          const int64_t met = ((z * d.stride[0] + first[0]) * meet[1] + y * d.stride[1] + first[1]) * meet[2] +
                              r[2].begin * d.stride[2] + first[2];
          const int64_t n = r[2].end - r[2].begin;
          if (transposed)
            axpy(factor, in + c * in_plane + walked, 1, out + met, d.stride[2], n);
          else
            axpy(factor, in + c * in_plane + met, d.stride[2], out + walked, 1, n);
        }
      }
    }
  }
}

STRATA_VECTOR_CLONES void convolve(const Dims& d, bool t, const float* in, const float* w, int64_t step, float* out,
                                   int64_t c) {
  plane(d, t, in, w, step, out, c);
}
STRATA_VECTOR_CLONES void convolve(const Dims& d, bool t, const double* in, const double* w, int64_t step, double* out,
                                   int64_t c) {
  plane(d, t, in, w, step, out, c);
}
STRATA_VECTOR_CLONES void convolve(const Dims& d, bool t, const Integer* in, const Integer* w, int64_t step,
                                   Integer* out, int64_t c) {
  plane(d, t, in, w, step, out, c);
}

class ConvolutionStep : public Step {
 public:
  ConvolutionStep(Dims dims, bool transposed, View in, View w, View out)
      : d_(dims), transposed_(transposed), in_(std::move(in)), w_(std::move(w)), out_(std::move(out)) {}

  void run(const StepArgs& args) override {
    if (out_.dtype == DType::F32) return work<float>(args);
    if (out_.dtype == DType::F64) return work<double>(args);
    work<Integer>(args);
  }
  std::string describe() const override {
    return std::string(transposed_ ? "convolution_transpose" : "convolution") + " own direct kernel\n  input " +
           library::describe(in_) + "\n  weight " + library::describe(w_) + "\n  result " + library::describe(out_) +
           "\n";
  }

 private:
  template <class T>
  void work(const StepArgs& args) {
    const T *in = reinterpret_cast<const T*>(args.at(in_.slot)), *w = reinterpret_cast<const T*>(args.at(w_.slot));
    T* out = reinterpret_cast<T*>(args.at(out_.slot));
    parallel_for_raw(d_.n * d_.o, 1, args.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) channel(in, w, out, i / d_.o, i % d_.o);
    });
  }

  template <class T>
  void channel(const T* in, const T* w, T* out, int64_t n, int64_t o) const {
    const int64_t in_plane = d_.in[0] * d_.in[1] * d_.in[2], out_plane = d_.out[0] * d_.out[1] * d_.out[2];
    const int64_t taps = d_.kernel[0] * d_.kernel[1] * d_.kernel[2];
    const int64_t channels = d_.c / d_.groups, outputs = d_.o / d_.groups, g = o / outputs;
    // Weight [o, c/groups, k...], transposed [c, o/groups, k...].
    const int64_t w_first = transposed_ ? (g * channels * outputs + o % outputs) * taps : o * channels * taps;
    convolve(d_, transposed_, in + (n * d_.c + g * channels) * in_plane, w + w_first,
             transposed_ ? outputs * taps : taps, out + (n * d_.o + o) * out_plane, channels);
  }

  Dims d_;
  bool transposed_;
  View in_, w_, out_;
};

void add_matmul_bias(const ConcreteCall& call, DType dtype, std::vector<ResultOp>& ops, Instance& instance) {
  const LibraryCall& c = *call.call;
  if (c.alpha != 1) ops.push_back({PostOp::Kind::Linear, c.alpha, PostOp::kNothingAdded, {}});
  if (!c.has_bias || c.beta == 0) return;
  View bias = call.operands[2];
  if (c.beta != 1) {
    const View scaled = instance.scratch.tensor(dtype, bias.shape);
    instance.steps.push_back(make_copy(bias, scaled));
    instance.steps.push_back(
        make_epilogue(scaled, scaled, {{PostOp::Kind::Linear, c.beta, PostOp::kNothingAdded, {}}}));
    bias = scaled;
  }
  ops.push_back({PostOp::Kind::Add, 0, 0, with_rank(bias, call.result.rank())});
}

}  // namespace

void build_fallback_matmul(const ConcreteCall& call, Instance& instance) {
  instance = {};
  if (call.result.numel() == 0) return;
  const DType dtype = compute_type(call);
  const size_t rank = call.result.rank();
  if (rank < 2)
    throw_internal("matmul " + call.call->name + " with a result of " + std::to_string(rank) + " dimensions");
  const View a = staged(with_rank(call.operands[0], rank), dtype, instance);
  const View b = staged(with_rank(call.operands[1], rank), dtype, instance);
  const View into = target(call, dtype, instance);
  instance.steps.push_back(std::make_unique<MatmulStep>(a, b, into));
  std::vector<ResultOp> ops;
  add_matmul_bias(call, dtype, ops, instance);
  for (ResultOp& op : result_ops(call)) ops.push_back(std::move(op));
  finish(call, into, std::move(ops), instance);
}

void build_fallback_convolution(const ConcreteCall& call, Instance& instance) {
  instance = {};
  if (call.result.numel() == 0) return;
  const DType dtype = compute_type(call);
  const View in = staged(call.operands[0], dtype, instance);
  const View weight = staged(call.operands[1], dtype, instance);
  const View into = target(call, dtype, instance);
  instance.steps.push_back(
      std::make_unique<ConvolutionStep>(dims_of(call), call.call->kind == "convolution_transpose", in, weight, into));
  std::vector<ResultOp> ops;
  if (call.call->has_bias) {
    View bias = call.operands[2];
    bias.shape.insert(bias.shape.begin(), 1);
    bias.strides.insert(bias.strides.begin(), 0);
    bias.shape.resize(call.result.rank(), 1);
    bias.strides.resize(call.result.rank(), 0);
    ops.push_back({PostOp::Kind::Add, 0, 0, bias});
  }
  for (ResultOp& op : result_ops(call)) ops.push_back(std::move(op));
  finish(call, into, std::move(ops), instance);
}

}  // namespace strata::library
