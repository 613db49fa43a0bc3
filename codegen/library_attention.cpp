// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Attention with an online softmax: keys are taken in blocks, and each query row keeps the maximum and the sum of what
/// it has seen, so that the scores of a block never leave the first-level cache. Keys are packed transposed and values
/// dense, in float32 whatever the storage type; both products then run over rows of vectors. A task is one
/// batch-and-head with a range of its queries.

#include "codegen/library_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/library_copy.h"
#include "codegen/vector_clones.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::library {
namespace {

// 64 bytes: one register where there is AVX-512, several elsewhere. Never passed by value, so that the calling
// convention does not matter.
typedef float Floats __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
constexpr int64_t kLanes = 16;
constexpr int64_t kKeys = 128;  // keys per block: scores of a row block stay in cache
constexpr int64_t kRows = 6;    // query rows per register block: 6 x 2 vectors of sums
constexpr float kInfinity = std::numeric_limits<float>::infinity();

#define STRATA_INLINE __attribute__((always_inline)) inline

int64_t padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// x = exp(x), 1 ulp or so; below -87 it is 0; NaN stays.
STRATA_INLINE void exp_in_place(Floats& x) {
  const Floats scaled = x * 1.44269504f + 12582912.0f;  // rounds to an integer in the low bits
  const Floats n = scaled - 12582912.0f;
  const Floats r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints bits;
  std::memcpy(&bits, &scaled, sizeof bits);
  const Ints power = (bits + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &power, sizeof scale);
  const Floats zero = {};
  const Floats value = p * scale;
  x = x < -87.0f ? zero : value;
}

/// c[rows, n] (+)= a[rows, k] b[k, n]: leading dimensions lda, ldb, ldc; n a multiple of 16, b and c aligned.
template <int R, int V>
STRATA_INLINE void tile(const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t k,
                        bool add) {
  Floats sum[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) sum[r][v] = add ? *reinterpret_cast<const Floats*>(c + r * ldc + v * kLanes) : Floats{};
  }
  for (int64_t p = 0; p < k; ++p) {
    Floats line[V];
    for (int v = 0; v < V; ++v) line[v] = *reinterpret_cast<const Floats*>(b + p * ldb + v * kLanes);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < V; ++v) sum[r][v] += a[r * lda + p] * line[v];
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) *reinterpret_cast<Floats*>(c + r * ldc + v * kLanes) = sum[r][v];
  }
}

template <int R>
STRATA_INLINE void multiply(const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t n,
                            int64_t k, bool add) {
  int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) tile<R, 2>(a, lda, b + j, ldb, c + j, ldc, k, add);
  if (j < n) tile<R, 1>(a, lda, b + j, ldb, c + j, ldc, k, add);
}

STRATA_INLINE float horizontal_max(const Floats& v) {
  float m = v[0];
  for (int i = 1; i < kLanes; ++i) m = v[i] > m ? v[i] : m;
  return m;
}

/// Turns a row of scores into probabilities relative to the row's running maximum; rescales what the row has gathered.
STRATA_INLINE void softmax_row(float* s, int64_t n, float& maximum, float& sum, float* out, int64_t width) {
  Floats top = {};
  top = top - kInfinity;
  for (int64_t j = 0; j < n; j += kLanes) {
    const Floats x = *reinterpret_cast<const Floats*>(s + j);
    top = x > top ? x : top;
  }
  const float now = std::max(maximum, horizontal_max(top));
  // Nothing seen so far: any finite reference gives zeros (and keeps a NaN).
  const float reference = now == -kInfinity ? 0.0f : now;
  Floats total = {};
  for (int64_t j = 0; j < n; j += kLanes) {
    Floats x = *reinterpret_cast<const Floats*>(s + j) - reference;
    exp_in_place(x);
    *reinterpret_cast<Floats*>(s + j) = x;
    total += x;
  }
  const float shrink = maximum == -kInfinity ? 0.0f : std::exp(maximum - now);
  float added = 0;
  for (int i = 0; i < kLanes; ++i) added += total[i];
  sum = sum * shrink + added;
  if (shrink != 1.0f) {
    for (int64_t j = 0; j < width; j += kLanes) *reinterpret_cast<Floats*>(out + j) *= shrink;
  }
  maximum = now;
}

/// Packed operands of one key block against a range of query rows.
struct Block {
  const float* q;                      // [rows, e], scaled
  const float* k;                      // [e, keys], transposed
  const float* v;                      // [keys, width]
  float* scores;                       // [kRows, keys]
  float *maximum, *sum;                // [rows]
  float* out;                          // [rows, width]
  int64_t rows, e, keys, width, live;  // live: keys that exist; the rest is padding
  const float* mask;                   // [rows, keys] to be added, or null
  int64_t causal_from;                 // first row's index minus the block's first key, for causal; else a large number
};

template <int R>
STRATA_INLINE void attend_rows(const Block& b, int64_t row) {
  multiply<R>(b.q + row * b.e, b.e, b.k, b.keys, b.scores, b.keys, b.keys, b.e, false);
  for (int r = 0; r < R; ++r) {
    float* s = b.scores + r * b.keys;
    if (b.mask) {
      for (int64_t j = 0; j < b.keys; ++j) s[j] += b.mask[(row + r) * b.keys + j];
    }
    const int64_t seen = std::clamp<int64_t>(b.causal_from + row + r + 1, 0, b.live);
    std::fill(s + seen, s + b.keys, -kInfinity);
    softmax_row(s, b.keys, b.maximum[row + r], b.sum[row + r], b.out + (row + r) * b.width, b.width);
  }
  multiply<R>(b.scores, b.keys, b.v, b.width, b.out + row * b.width, b.width, b.width, b.live, true);
}

STRATA_VECTOR_CLONES void attend_block(const Block& b) {
  int64_t row = 0;
  for (; row + kRows <= b.rows; row += kRows) attend_rows<kRows>(b, row);
  for (; row < b.rows; ++row) attend_rows<1>(b, row);
}

float load(DType dtype, const std::byte* p, int64_t i) {
  switch (dtype) {
    case DType::F32:
      return reinterpret_cast<const float*>(p)[i];
    case DType::BF16:
      return bfloat16_to_float(reinterpret_cast<const uint16_t*>(p)[i]);
    case DType::F16:
      return half_to_float(reinterpret_cast<const uint16_t*>(p)[i]);
    default:
      return static_cast<float>(load_as_double(dtype, p + i * static_cast<int64_t>(dtype_size(dtype))));
  }
}

/// A matrix of the operand for one batch index: address and strides.
struct Matrix {
  const std::byte* p;
  DType dtype;
  int64_t rows, columns;  // strides
  float at(int64_t r, int64_t c) const { return load(dtype, p, r * rows + c * columns); }
  void row(int64_t r, int64_t n, float* to) const {
    if (dtype == DType::F32 && columns == 1) {
      std::memcpy(to, reinterpret_cast<const float*>(p) + r * rows, static_cast<size_t>(n) * sizeof(float));
    } else {
      for (int64_t c = 0; c < n; ++c) to[c] = at(r, c);
    }
  }
};

/// Grows, never shrinks; one per thread.
float* thread_scratch(int64_t floats) {
  thread_local std::unique_ptr<float, decltype(&std::free)> memory(nullptr, &std::free);
  thread_local int64_t size = 0;
  if (floats > size) {
    memory.reset(
        static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(padded(floats, kLanes)) * sizeof(float))));
    size = memory ? floats : 0;
  }
  return memory.get();
}

class AttentionStep : public Step {
 public:
  AttentionStep(const ConcreteCall& call, View out) : call_(*call.call), out_(std::move(out)) {
    const size_t rank = out_.rank();
    q_ = spread(call.operands[0], rank);
    k_ = spread(call.operands[1], rank);
    v_ = spread(call.operands[2], rank);
    if (call_.has_mask) mask_ = spread(call.operands[3], rank);
    rows_ = out_.shape[rank - 2];
    values_ = out_.shape[rank - 1];
    keys_ = k_.shape[rank - 2];
    e_ = q_.shape[rank - 1];
    for (size_t d = 0; d + 2 < rank; ++d) batch_ *= out_.shape[d];
    if (call_.has_mask) widen_mask(rank);
    if (q_.shape[rank - 2] != rows_ || k_.shape[rank - 1] != e_ || v_.shape[rank - 2] != keys_ ||
        v_.shape[rank - 1] != values_) {
      throw_internal("attention " + call_.name + " with operands that do not fit: " + library::describe(q_) + ", " +
                     library::describe(k_) + ", " + library::describe(v_));
    }
  }

  void run(const StepArgs& args) override {
    // Enough tasks for all threads, but not so many that packing the keys is repeated in vain.
    const int64_t wanted = batch_ >= 2 * args.threads ? 1 : (2 * args.threads + batch_ - 1) / batch_;
    const int64_t chunk = std::max<int64_t>(padded((rows_ + wanted - 1) / wanted, kRows), 24);
    struct Context {
      const AttentionStep* self;
      const StepArgs* args;
      int64_t chunk, chunks;
      bool failed;
    } context{this, &args, chunk, (rows_ + chunk - 1) / chunk, false};
    parallel_for_raw(
        batch_ * context.chunks, 1, args.threads,
        [](void* p, int64_t begin, int64_t end) {
          auto& c = *static_cast<Context*>(p);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % c.chunks * c.chunk, last = std::min(c.self->rows_, first + c.chunk);
            const bool wide = c.self->out_.dtype == DType::F64;
            const bool fine = wide ? c.self->task_double(*c.args, i / c.chunks, first, last)
                                   : c.self->task(*c.args, i / c.chunks, first, last);
            if (!fine) __atomic_store_n(&c.failed, true, __ATOMIC_RELAXED);
          }
        },
        &context);
    if (context.failed) throw_runtime("out of memory in attention " + call_.name);
  }

  std::string describe() const override {
    std::string text = "attention own blocked kernel with online softmax\n  query " + library::describe(q_) +
                       "\n  key " + library::describe(k_) + "\n  value " + library::describe(v_) + "\n";
    if (call_.has_mask) text += "  mask " + library::describe(mask_) + "\n";
    return text + "  result " + library::describe(out_) + (call_.causal ? "\n  causal\n" : "\n");
  }

 private:
  /// Aligned to the result's rank; batch dimensions of one element are broadcast.
  static View spread(const View& view, size_t rank) {
    View v = with_rank(view, rank);
    for (size_t d = 0; d + 2 < rank; ++d) {
      if (v.shape[d] == 1) v.strides[d] = 0;
    }
    return v;
  }
  void widen_mask(size_t rank) {
    if (mask_.shape[rank - 2] == 1) mask_.strides[rank - 2] = 0;
    if (mask_.shape[rank - 1] == 1) mask_.strides[rank - 1] = 0;
  }

  /// Grouped heads: where the operand has fewer than the result, each serves as many of them in a row.
  int64_t batch_offset(const View& v, int64_t batch) const {
    int64_t at = 0;
    for (size_t d = out_.rank() - 2; d-- > 0;) {
      const int64_t index = batch % out_.shape[d];
      at += (v.shape[d] == out_.shape[d] ? index : index * v.shape[d] / out_.shape[d]) * v.strides[d];
      batch /= out_.shape[d];
    }
    return at * static_cast<int64_t>(dtype_size(v.dtype));
  }
  Matrix matrix(const StepArgs& args, const View& v, int64_t batch) const {
    return {args.at(v.slot) + batch_offset(v, batch), v.dtype, v.strides[v.rank() - 2], v.strides[v.rank() - 1]};
  }

  /// Additive mask of rows and keys; bool becomes 0 or -infinity.
  void load_mask(const Matrix& m, int64_t first, int64_t rows, int64_t key, int64_t live, int64_t keys,
                 float* to) const {
    for (int64_t r = 0; r < rows; ++r) {
      float* line = to + r * keys;
      for (int64_t j = 0; j < live; ++j) {
        const float x = m.at(first + r, key + j);
        line[j] = m.dtype == DType::Bool ? (x != 0 ? 0.0f : -kInfinity) : x;
      }
      std::fill(line + live, line + keys, 0.0f);
    }
  }

  bool task(const StepArgs& args, int64_t batch, int64_t first, int64_t last) const {
    const int64_t rows = last - first, width = padded(values_, kLanes), block = std::min(kKeys, padded(keys_, kLanes));
    const int64_t sizes[] = {padded(rows * e_, kLanes),
                             e_ * block,
                             block * width,
                             kRows * block,
                             padded(2 * rows, kLanes),
                             rows * width,
                             call_.has_mask ? rows * block : 0};
    int64_t total = 0;
    for (int64_t s : sizes) total += s;
    float* memory = thread_scratch(total);
    if (!memory) return false;
    float* part[7];
    for (int i = 0; i < 7; ++i) {
      part[i] = memory;
      memory += sizes[i];
    }
    float *qp = part[0], *kp = part[1], *vp = part[2], *state = part[4], *out = part[5];
    const Matrix q = matrix(args, q_, batch), k = matrix(args, k_, batch), v = matrix(args, v_, batch);
    const auto scale = static_cast<float>(call_.alpha);
    for (int64_t r = 0; r < rows; ++r) {
      q.row(first + r, e_, qp + r * e_);
      for (int64_t c = 0; c < e_; ++c) qp[r * e_ + c] *= scale;
    }
    std::fill(state, state + rows, -kInfinity);
    std::fill(state + rows, state + 2 * rows, 0.0f);
    std::fill(out, out + rows * width, 0.0f);
    for (int64_t key = 0; key < keys_; key += block) {
      if (call_.causal && key > last - 1) break;
      const int64_t live = std::min(block, keys_ - key), keys = padded(live, kLanes);
      pack_keys(k, key, live, keys, kp);
      for (int64_t j = 0; j < live; ++j) {
        v.row(key + j, values_, vp + j * width);
        std::fill(vp + j * width + values_, vp + (j + 1) * width, 0.0f);
      }
      if (call_.has_mask) load_mask(matrix(args, mask_, batch), first, rows, key, live, keys, part[6]);
      attend_block({qp, kp, vp, part[3], state, state + rows, out, rows, e_, keys, width, live,
                    call_.has_mask ? part[6] : nullptr, call_.causal ? first - key : INT32_MAX});
    }
    store(args, batch, first, rows, width, state + rows, out);
    return true;
  }

  void pack_keys(const Matrix& k, int64_t key, int64_t live, int64_t keys, float* kp) const {
    if (k.dtype == DType::F32) {
      const auto* p = reinterpret_cast<const float*>(k.p);
      for (int64_t c = 0; c < e_; ++c) {
        for (int64_t j = 0; j < live; ++j) kp[c * keys + j] = p[(key + j) * k.rows + c * k.columns];
      }
    } else {
      for (int64_t c = 0; c < e_; ++c) {
        for (int64_t j = 0; j < live; ++j) kp[c * keys + j] = k.at(key + j, c);
      }
    }
    for (int64_t c = 0; c < e_; ++c) std::fill(kp + c * keys + live, kp + (c + 1) * keys, 0.0f);
  }

  void store(const StepArgs& args, int64_t batch, int64_t first, int64_t rows, int64_t width, const float* sum,
             const float* out) const {
    const Matrix m = matrix(args, out_, batch);
    const auto item = static_cast<int64_t>(dtype_size(out_.dtype));
    auto* base = const_cast<std::byte*>(m.p);
    for (int64_t r = 0; r < rows; ++r) {
      const float inverse = sum[r] == 0 ? 0.0f : 1.0f / sum[r];
      std::byte* line = base + (first + r) * m.rows * item;
      if (out_.dtype == DType::F32 && m.columns == 1) {
        auto* to = reinterpret_cast<float*>(line);
        for (int64_t c = 0; c < values_; ++c) to[c] = out[r * width + c] * inverse;
      } else {
        for (int64_t c = 0; c < values_; ++c)
          store_from_double(out_.dtype, line + c * m.columns * item, out[r * width + c] * inverse);
      }
    }
  }

  /// float64: plain loops, one query row at a time.
  bool task_double(const StepArgs& args, int64_t batch, int64_t first, int64_t last) const {
    const Matrix q = matrix(args, q_, batch), k = matrix(args, k_, batch), v = matrix(args, v_, batch),
                 o = matrix(args, out_, batch);
    const Matrix m = call_.has_mask ? matrix(args, mask_, batch) : Matrix{};
    const auto at = [](const Matrix& x, int64_t r, int64_t c) {
      return load_as_double(x.dtype, x.p + (r * x.rows + c * x.columns) * static_cast<int64_t>(dtype_size(x.dtype)));
    };
    auto* s = reinterpret_cast<double*>(thread_scratch(2 * (keys_ + values_)));
    if (!s) return false;
    double* out = s + keys_;
    for (int64_t r = first; r < last; ++r) {
      double top = -INFINITY, sum = 0;
      for (int64_t j = 0; j < keys_; ++j) {
        s[j] = 0;
        for (int64_t c = 0; c < e_; ++c) s[j] += at(q, r, c) * at(k, j, c);
        s[j] *= call_.alpha;
        if (call_.has_mask) s[j] += m.dtype != DType::Bool ? at(m, r, j) : at(m, r, j) != 0 ? 0 : -INFINITY;
        if (call_.causal && j > r) s[j] = -INFINITY;
        top = std::max(top, s[j]);
      }
      std::fill(out, out + values_, 0.0);
      for (int64_t j = 0; j < keys_; ++j) {
        const double p = std::exp(s[j] - (top == -INFINITY ? 0 : top));
        sum += p;
        for (int64_t c = 0; c < values_; ++c) out[c] += p * at(v, j, c);
      }
      for (int64_t c = 0; c < values_; ++c) {
        std::byte* to =
            const_cast<std::byte*>(o.p) + (r * o.rows + c * o.columns) * static_cast<int64_t>(sizeof(double));
        store_from_double(DType::F64, to, sum == 0 ? 0 : out[c] / sum);
      }
    }
    return true;
  }

  const LibraryCall& call_;
  View q_, k_, v_, mask_, out_;
  int64_t rows_ = 0, keys_ = 0, e_ = 0, values_ = 0, batch_ = 1;
};

}  // namespace

void build_attention(const ConcreteCall& call, Instance& instance) {
  instance = {};
  if (call.result.numel() == 0) return;
  if (!is_floating(call.result.dtype) || call.result.rank() < 2) {
    throw_user("attention " + call.call->name + " needs floating operands of at least 2 dimensions, found " +
               describe(call.result));
  }
  std::vector<ResultOp> ops = result_ops(call);
  View into = call.result;
  if (!ops.empty()) into = instance.scratch.tensor(accumulation_dtype(call.result.dtype), call.result.shape);
  instance.steps.push_back(std::make_unique<AttentionStep>(call, into));
  if (!ops.empty()) instance.steps.push_back(make_epilogue(into, call.result, std::move(ops)));
}

}  // namespace strata::library
