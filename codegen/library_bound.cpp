// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/library_bound.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/runtime/parallel.h"
#include "core/runtime/tensor.h"
#include "core/support/vector_clones.h"

namespace strata::library {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A seventh of float's largest: hard swish multiplies by six, and there is room for the rounding of very long sums.
constexpr double kLimit = 5e37;
constexpr double kLimitF16 = 6e4;
/// Of what is told to others: results are rounded.
constexpr double kSlack = 1.01;
/// Bytes below which a second thread costs more than it saves.
constexpr int64_t kGrainBytes = 128 * 1024;

/// Magnitudes order like their bits, infinity above all numbers and NaN above infinity. Loads go through memcpy: the
/// memory holds floats.
template <class Bits, Bits Mask>
inline uint32_t scan_run(const std::byte* p, int64_t n, int64_t stride) {
  Bits top = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) {
      Bits bits;
      std::memcpy(&bits, p + i * static_cast<int64_t>(sizeof bits), sizeof bits);
      top = std::max<Bits>(top, bits & Mask);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      Bits bits;
      std::memcpy(&bits, p + i * stride * static_cast<int64_t>(sizeof bits), sizeof bits);
      top = std::max<Bits>(top, bits & Mask);
    }
  }
  return static_cast<uint32_t>(top);
}

STRATA_VECTOR_CLONES uint32_t scan32(const std::byte* p, int64_t n, int64_t stride) {
  return scan_run<int32_t, 0x7fffffff>(p, n, stride);
}
STRATA_VECTOR_CLONES uint32_t scan16(const std::byte* p, int64_t n, int64_t stride) {
  return scan_run<int16_t, 0x7fff>(p, n, stride);
}

bool can_scan(DType dtype) { return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16; }

double to_magnitude(DType dtype, uint32_t bits) {
  const float value = dtype == DType::F32    ? std::bit_cast<float>(bits)
                      : dtype == DType::BF16 ? bfloat16_to_float(static_cast<uint16_t>(bits))
                                             : half_to_float(static_cast<uint16_t>(bits));
  return std::isfinite(value) ? static_cast<double>(value) : kInfinity;
}

/// A view's elements as few long runs: dimensions in the order of their strides, broadcast ones left out, those that
/// join merged. The innermost is last.
struct Runs {
  static constexpr size_t kMost = 16;
  std::array<int64_t, kMost> shape{}, strides{};
  size_t rank = 0;
  int64_t rows = 1, columns = 1, step = 1;

  explicit Runs(const View& v) {
    for (size_t d = 0; d < v.rank(); ++d) {
      if (v.shape[d] != 1 && v.strides[d] != 0) insert(v.shape[d], v.strides[d]);
    }
    merge();
    if (rank > 0) {
      columns = shape[rank - 1];
      step = strides[rank - 1];
    }
    for (size_t d = 0; d + 1 < rank; ++d) rows *= shape[d];
  }
  int64_t offset(int64_t row) const {
    int64_t at = 0;
    for (size_t d = rank > 0 ? rank - 1 : 0; d-- > 0;) {
      at += row % shape[d] * strides[d];
      row /= shape[d];
    }
    return at;
  }

 private:
  void insert(int64_t size, int64_t stride) {
    size_t d = rank++;
    for (; d > 0 && strides[d - 1] < stride; --d) {
      strides[d] = strides[d - 1];
      shape[d] = shape[d - 1];
    }
    shape[d] = size;
    strides[d] = stride;
  }
  void merge() {
    size_t kept = 0;
    for (size_t d = 0; d < rank; ++d) {
      if (kept > 0 && strides[kept - 1] == shape[d] * strides[d]) {
        shape[kept - 1] *= shape[d];
        strides[kept - 1] = strides[d];
        continue;
      }
      shape[kept] = shape[d];
      strides[kept++] = strides[d];
    }
    rank = kept;
  }
};

struct Scan {
  const std::byte* data;
  int64_t size;  // bytes of an element
  const Runs* runs;
  std::atomic<uint32_t> top{0};

  uint32_t part(int64_t row, int64_t column, int64_t n) const {
    const std::byte* p = data + (runs->offset(row) + column * runs->step) * size;
    return size == 4 ? scan32(p, n, runs->step) : scan16(p, n, runs->step);
  }
  /// Elements [begin, end) in the order of the runs.
  void range(int64_t begin, int64_t end) {
    uint32_t found = 0;
    while (begin < end) {
      const int64_t column = begin % runs->columns, n = std::min(end - begin, runs->columns - column);
      found = std::max(found, part(begin / runs->columns, column, n));
      begin += n;
    }
    uint32_t seen = top.load(std::memory_order_relaxed);
    while (seen < found && !top.compare_exchange_weak(seen, found, std::memory_order_relaxed)) {
    }
  }
};

}  // namespace

bool drops_nan(PostOp::Kind kind) {
  using K = PostOp::Kind;
  return kind == K::Relu || kind == K::Clamp || kind == K::HardSigmoid || kind == K::Sigmoid || kind == K::Tanh ||
         kind == K::Elu || kind == K::HardSwish;
}

double max_magnitude(const View& view, const StepArgs& args) {
  if (!can_scan(view.dtype) || view.rank() > Runs::kMost) return kInfinity;
  if (view.numel() == 0) return 0;
  const Runs runs(view);
  Scan scan{args.at(view.slot), static_cast<int64_t>(dtype_size(view.dtype)), &runs};
  parallel_for_raw(runs.rows * runs.columns, kGrainBytes / scan.size, args.threads,
                   [&](int64_t begin, int64_t end) { scan.range(begin, end); });
  return to_magnitude(view.dtype, scan.top.load(std::memory_order_relaxed));
}

double* KnownBounds::cell(int buffer) const {
  if (buffer < 0 || static_cast<size_t>(buffer) >= cells.size() || cells[buffer] < 0) return nullptr;
  return &(*table)[cells[buffer]];
}

BoundCheck::BoundCheck(const ConcreteCall& call, const KnownBounds& bounds, std::optional<double> weight) {
  const LibraryCall& c = *call.call;
  const bool is_matmul = c.kind == "matmul";
  const View& b = call.operands[1];
  // Terms in the sum of one element of the result.
  const int64_t terms =
      is_matmul ? call.operands[0].shape.back() : b.numel() / std::max<int64_t>(1, call.result.shape[1]);
  gain_ = (is_matmul ? std::abs(c.alpha) : 1.0) * static_cast<double>(terms);
  result_limit_ = call.result.dtype == DType::F16 ? kLimitF16 : kLimit;
  bias_gain_ = !c.has_bias ? 0.0 : is_matmul ? std::abs(c.beta) : 1.0;
  for (const PostOp& p : c.post_ops) {
    ops_.push_back({p.kind, p.alpha, p.beta, p.operand});
    if (drops_nan(p.kind)) checked_ = ops_.size();
    if (std::isnan(p.alpha) || std::isnan(p.beta)) possible_ = false;
  }
  add_operands(call, bounds, weight);
}

void BoundCheck::add_operands(const ConcreteCall& call, const KnownBounds& bounds, std::optional<double> weight) {
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Operand o;
    o.view = call.operands[i];
    o.constant = call.constant[i];
    o.known = bounds.cell(call.call->operands[i].buffer);
    o.needed = checked_ > 0 && (i < 2 || (i == 2 && bias_gain_ != 0));
    for (size_t k = 0; k < checked_; ++k) o.needed = o.needed || ops_[k].operand == static_cast<int>(i);
    if (o.constant && i == 1 && weight)
      o.magnitude = *weight;
    else if (o.constant)
      o.magnitude = max_magnitude(o.view, {nullptr, nullptr, call.threads});
    if (o.needed && (o.constant ? o.magnitude == kInfinity : !can_scan(o.view.dtype))) possible_ = false;
    operands_.push_back(std::move(o));
  }
}

void BoundCheck::recall() {
  for (Operand& o : operands_) {
    if (!o.constant) o.magnitude = o.known ? *o.known : kInfinity;
    o.scanned = o.constant;
  }
}

/// Looks at the first operand that may be tighter than what is known about it; false when there is none left.
bool BoundCheck::scan(const StepArgs& args) {
  const auto unknown = [](const Operand& o) { return o.needed && !o.scanned && o.magnitude == kInfinity; };
  auto it = std::find_if(operands_.begin(), operands_.end(), unknown);
  if (it == operands_.end()) {
    it = std::find_if(operands_.begin(), operands_.end(), [](const Operand& o) { return o.needed && !o.scanned; });
  }
  if (it == operands_.end()) return false;
  it->magnitude = max_magnitude(it->view, args);
  it->scanned = true;
  return it->magnitude != kInfinity;
}

double BoundCheck::after(const Op& op, double bound) const {
  using K = PostOp::Kind;
  const double a = std::abs(op.alpha), b = std::abs(op.beta);
  switch (op.kind) {
    case K::Relu:
    case K::GeluErf:
    case K::GeluTanh:
    case K::Silu:
    case K::HardSwish:
      return bound;
    case K::Tanh:
    case K::Sigmoid:
    case K::HardSigmoid:
      return std::isfinite(bound) ? 1 : kInfinity;
    case K::Elu:
      return std::max(bound, a);
    case K::Clamp:
      if (std::isfinite(bound) && std::isfinite(a) && std::isfinite(b)) return std::max(a, b);
      return std::max({bound, std::isfinite(a) ? a : 0, std::isfinite(b) ? b : 0});
    case K::Linear:
      return a * bound + b;
    case K::Add:
    case K::Sub:
      return bound + operands_[op.operand].magnitude;
    case K::Mul:
      return bound * operands_[op.operand].magnitude;
  }
  return kInfinity;
}

/// Written so that NaN (infinity times 0) counts as unbounded.
bool BoundCheck::evaluate() {
  double bound = gain_ * operands_[0].magnitude * operands_[1].magnitude;
  if (bias_gain_ != 0) bound += bias_gain_ * operands_[2].magnitude;
  bool fine = bound < kLimit;
  for (size_t i = 0; i < ops_.size(); ++i) {
    bound = after(ops_[i], bound);
    if (i + 1 < checked_ && !(bound < kLimit)) fine = false;
  }
  result_ = fine && bound < result_limit_ ? bound * kSlack : kInfinity;
  return fine;
}

bool BoundCheck::passes(const StepArgs& args) {
  recall();
  while (!evaluate()) {
    if (!scan(args)) return false;
  }
  return true;
}

double BoundCheck::known_result() {
  recall();
  evaluate();
  return result_;
}

}  // namespace strata::library
