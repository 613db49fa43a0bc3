// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Rows of the last dimension are loaded in pieces into a small array of the compute type, worked on there, and stored:
/// so one loop per operation and one per type suffice, and the compiler vectorises each.

#include "codegen/library_copy.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "codegen/halves.h"
#include "codegen/vector_math.h"
#include "core/runtime/elements.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"
#include "core/support/vector_clones.h"

namespace strata::library {
namespace {

constexpr int64_t kPiece = 256;
static_assert(kPiece % kMathLanes == 0);

/// Integers wrap; floats to integers as PyTorch does for values in range.
template <class T, class C>
T narrow(C v) {
  using W = WorkType<T>;
  if constexpr (std::is_same_v<W, bool>)
    return stored_value<T>(v != 0);
  else if constexpr (!std::is_same_v<T, W>)
    return stored_value<T>(static_cast<W>(v));
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<C>)
    return static_cast<T>(v > -9.2e18 && v < 9.2e18 ? static_cast<int64_t>(v) : INT64_MIN);
  else
    return static_cast<T>(v);
}

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr DType kHalfType = std::is_same_v<T, Half> ? DType::F16 : DType::BF16;

/// Integers of 8 bits are numbers here.
template <class C, class T>
C widen(T v) {
  return static_cast<C>(work_value(v));  // NOLINT(bugprone-signed-char-misuse)
}

template <class C, class T>
void load_piece(C* x, const T* p, int64_t stride, int64_t n) {
  if constexpr (kIsHalf<T> && std::is_same_v<C, float>)
    if (stride == 1) return halves_to_floats(kHalfType<T>, p, x, n);
  if (stride == 1)
    for (int64_t i = 0; i < n; ++i) x[i] = widen<C>(p[i]);
  else if (stride == 0)
    std::fill(x, x + n, widen<C>(*p));
  else
    for (int64_t i = 0; i < n; ++i) x[i] = widen<C>(p[i * stride]);
}

template <class C, class T>
void store_piece(const C* x, T* p, int64_t stride, int64_t n) {
  if constexpr (kIsHalf<T> && std::is_same_v<C, float>)
    if (stride == 1) return floats_to_halves(kHalfType<T>, x, p, n);
  if (stride == 1)
    for (int64_t i = 0; i < n; ++i) p[i] = narrow<T>(x[i]);
  else
    for (int64_t i = 0; i < n; ++i) p[i * stride] = narrow<T>(x[i]);
}

/// Calls `f(T*)` with the pointer typed as the dtype says; unlike with_element_type, whole numbers of every kind.
template <class F>
void with_type(DType dtype, std::byte* p, F&& f) {
  switch (dtype) {
    case DType::U16:
      return f(reinterpret_cast<uint16_t*>(p));
    case DType::U32:
      return f(reinterpret_cast<uint32_t*>(p));
    case DType::U64:
      return f(reinterpret_cast<uint64_t*>(p));
    default:
      with_element_type(dtype, [&](auto x) { f(reinterpret_cast<decltype(x)*>(p)); });
  }
}

template <class C>
C add(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class C>
C multiply(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <class C, class F>
STRATA_ALWAYS_INLINE inline void each(C* x, int64_t n, F&& f) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<C>(f(x[i]));
}

/// Operations that call a function of the math library, for float32: before it, the function itself for all numbers at
/// once, and after it, with the number that came in. False for other operations.
STRATA_ALWAYS_INLINE inline bool apply_by_vectors(const ResultOp& op, float* x, int64_t n) {
  alignas(64) float t[kPiece];
  const auto through = [&](auto before, MathFunction function, auto after) STRATA_ALWAYS_INLINE {
    for (int64_t i = 0; i < n; ++i) t[i] = before(x[i]);
    std::fill(t + n, t + (n + kMathLanes - 1) / kMathLanes * kMathLanes, 0.0F);
    apply_all(function, t, n);
    for (int64_t i = 0; i < n; ++i) x[i] = after(x[i], t[i]);
    return true;
  };
  const auto same = [](float v) { return v; };
  const auto minus = [](float v) { return -v; };
  switch (op.kind) {
    case PostOp::Kind::GeluErf:
      return through([](float v) { return v * static_cast<float>(M_SQRT1_2); }, MathFunction::Erf,
                     [](float v, float f) { return 0.5F * v * (1 + f); });
    case PostOp::Kind::GeluTanh:
      return through([](float v) { return 0.79788456F * (v + 0.044715F * v * v * v); }, MathFunction::Tanh,
                     [](float v, float f) { return 0.5F * v * (1 + f); });
    case PostOp::Kind::Tanh:
      return through(same, MathFunction::Tanh, [](float, float f) { return f; });
    case PostOp::Kind::Sigmoid:
      return through(minus, MathFunction::Exp, [](float, float f) { return 1 / (1 + f); });
    case PostOp::Kind::Silu:
      return through(minus, MathFunction::Exp, [](float v, float f) { return v / (1 + f); });
    case PostOp::Kind::Elu:
      return through(same, MathFunction::Expm1,
                     [&](float v, float f) { return v < 0 || v != v ? static_cast<float>(op.alpha) * f : v; });
    default:
      return false;
  }
}

/// The comparisons are written so that NaN stays NaN.
template <class C>
STRATA_ALWAYS_INLINE inline void apply_all_of(const ResultOp& op, C* x, const C* y, int64_t n) {
  using F = std::conditional_t<std::is_integral_v<C>, double, C>;
  if constexpr (std::is_same_v<C, float>)
    if (apply_by_vectors(op, x, n)) return;
  const C a = static_cast<C>(op.alpha), b = static_cast<C>(op.beta);
  switch (op.kind) {
    case PostOp::Kind::Relu:
      return each(x, n, [](C v) { return v < 0 ? C(0) : v; });
    case PostOp::Kind::GeluErf:
      return each(x, n, [](F v) { return F(0.5) * v * (1 + std::erf(v * F(M_SQRT1_2))); });
    case PostOp::Kind::GeluTanh:
      return each(x, n, [](F v) {
        return F(0.5) * v * (1 + std::tanh(F(0.79788456080286535588) * (v + F(0.044715) * v * v * v)));
      });
    case PostOp::Kind::Tanh:
      return each(x, n, [](F v) { return std::tanh(v); });
    case PostOp::Kind::Sigmoid:
      return each(x, n, [](F v) { return 1 / (1 + std::exp(-v)); });
    case PostOp::Kind::Silu:
      return each(x, n, [](F v) { return v / (1 + std::exp(-v)); });
    case PostOp::Kind::HardSwish:
      return each(x, n, [](F v) {
        const F t = v + 3;
        return v * (t < 0 ? F(0) : t > 6 ? F(6) : t) / 6;
      });
    case PostOp::Kind::HardSigmoid:
      return each(x, n, [](F v) {
        const F t = v + 3;
        return (t < 0 ? F(0) : t > 6 ? F(6) : t) / 6;
      });
    case PostOp::Kind::Elu:
      return each(x, n, [&](F v) { return v < 0 || v != v ? F(op.alpha) * std::expm1(v) : v; });
    case PostOp::Kind::Clamp:
      if constexpr (std::is_floating_point_v<C>) {
        if (a != a || b != b) return std::fill(x, x + n, a + b);
      }
      return each(x, n, [=](C v) {
        v = v < a ? a : v;
        return v > b ? b : v;
      });
    case PostOp::Kind::Linear:
      // Whole numbers wrap, as PyTorch's do.
      if (std::is_integral_v<C> && F(a) == op.alpha && F(b) == op.beta)
        return each(x, n, [=](C v) { return add(multiply(v, a), b); });
      return each(x, n, [&](F v) { return F(op.alpha) * v + F(op.beta); });
    case PostOp::Kind::Add:
      for (int64_t i = 0; i < n; ++i) x[i] = add(x[i], y[i]);
      return;
    case PostOp::Kind::Sub:
      for (int64_t i = 0; i < n; ++i) x[i] = add(x[i], multiply(y[i], C(-1)));
      return;
    case PostOp::Kind::Mul:
      for (int64_t i = 0; i < n; ++i) x[i] = multiply(x[i], y[i]);
      return;
  }
}

STRATA_VECTOR_CLONES void apply(const ResultOp& op, float* x, const float* y, int64_t n) { apply_all_of(op, x, y, n); }
void apply(const ResultOp& op, double* x, const double* y, int64_t n) { apply_all_of(op, x, y, n); }
void apply(const ResultOp& op, int64_t* x, const int64_t* y, int64_t n) { apply_all_of(op, x, y, n); }

int64_t row_offset(const View& v, int64_t row) {
  int64_t offset = 0;
  for (size_t d = v.rank() - 1; d-- > 0;) {
    offset += row % v.shape[d] * v.strides[d];
    row /= v.shape[d];
  }
  return offset;
}

View spread(View v, const std::vector<int64_t>& shape) {
  v = with_rank(std::move(v), std::max<size_t>(1, shape.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    if (v.shape[d] == 1 && shape[d] != 1) v.strides[d] = 0;
    v.shape[d] = shape[d];
  }
  return v;
}

class ElementwiseStep : public EpilogueInParts {
 public:
  /// `keeps_rows`: rows are lines of the last dimension, whatever its length.
  ElementwiseStep(View from, View to, std::vector<ResultOp> ops, bool keeps_rows)
      : from_(std::move(from)), to_(std::move(to)), ops_(std::move(ops)) {
    text_ = (ops_.empty() ? "copy " : "work on the result ") + library::describe(from_) + " -> " +
            library::describe(to_) + "\n";
    for (const ResultOp& op : ops_) text_ += "  " + library::describe(op) + "\n";
    const size_t rank = std::max<size_t>(1, to_.rank());
    to_ = with_rank(std::move(to_), rank);
    from_ = spread(std::move(from_), to_.shape);
    for (ResultOp& op : ops_) {
      if (op.has_operand()) op.operand = spread(std::move(op.operand), to_.shape);
    }
    if (keeps_rows) {
      // They are what parts are told by.
    } else if (is_one_line()) {
      for (ResultOp& op : ops_) {
        if (op.has_operand()) op.operand = line(std::move(op.operand));
      }
      from_ = line(std::move(from_));
      to_ = line(std::move(to_));
    } else {
      merge_dimensions();
      put_last(best_row());
    }
    columns_ = to_.shape.back();
    rows_ = columns_ == 0 ? 0 : to_.numel() / columns_;
  }

  void run(const StepArgs& args) override {
    switch (accumulation_dtype(from_.dtype)) {
      case DType::F32:
        return work<float>(args);
      case DType::F64:
        return work<double>(args);
      default:
        return work<int64_t>(args);
    }
  }
  void run_part(const StepArgs& args, int64_t row, int64_t last_row, int64_t column, int64_t last_column) override {
    for (; row < last_row; ++row)
      for (int64_t c = column; c < last_column; c += kPiece)
        piece<float>(args, row, c, std::min(kPiece, last_column - c));
  }
  std::string describe() const override { return text_; }

 private:
  /// Whether everything lies as the result does, without gaps: then rows need not be told apart.
  bool is_one_line() const {
    if (!to_.is_contiguous() || from_.strides != to_.strides) return false;
    return std::all_of(ops_.begin(), ops_.end(),
                       [&](const ResultOp& op) { return !op.has_operand() || op.operand.strides == to_.strides; });
  }
  /// The dimension that rows go along: one that is dense on both sides, or the last one, unless it is short and another
  /// one, dense on one side, is longer.
  size_t best_row() const {
    constexpr int64_t kShort = 16;
    for (size_t d = 0; d < to_.rank(); ++d)
      if (from_.strides[d] == 1 && to_.strides[d] == 1 && to_.shape[d] >= kShort) return d;
    size_t best = to_.rank() - 1;
    if (to_.shape[best] >= kShort) return best;
    for (size_t d = 0; d < to_.rank(); ++d)
      if ((from_.strides[d] == 1 || to_.strides[d] == 1) && to_.shape[d] > to_.shape[best]) best = d;
    return best;
  }
  /// Neighbours that are one behind the other on all sides become one: taps of a kernel, in a row that is worth a loop.
  void merge_dimensions() {
    std::vector<View*> views{&from_, &to_};
    for (ResultOp& op : ops_)
      if (op.has_operand()) views.push_back(&op.operand);
    for (size_t d = to_.rank() - 1; d-- > 0;) {
      const bool joined = std::all_of(views.begin(), views.end(), [d](const View* v) {
        return v->strides[d] == v->strides[d + 1] * v->shape[d + 1];
      });
      if (!joined) continue;
      const auto at = static_cast<ptrdiff_t>(d);
      for (View* v : views) {
        v->shape[d + 1] *= v->shape[d];
        v->shape.erase(v->shape.begin() + at);
        v->strides.erase(v->strides.begin() + at);
      }
    }
  }
  void put_last(size_t dim) {
    const auto move = [dim](View& v) {
      const auto at = static_cast<ptrdiff_t>(dim);
      std::rotate(v.shape.begin() + at, v.shape.begin() + at + 1, v.shape.end());
      std::rotate(v.strides.begin() + at, v.strides.begin() + at + 1, v.strides.end());
    };
    move(from_);
    move(to_);
    for (ResultOp& op : ops_)
      if (op.has_operand()) move(op.operand);
  }
  static View line(View v) {
    v.shape = {v.numel()};
    v.strides = {1};
    return v;
  }

  /// Pieces are the unit of parallel work, so that one long row is split as well as many short ones.
  template <class C>
  void work(const StepArgs& args) {
    const int64_t pieces = (columns_ + kPiece - 1) / kPiece, width = std::min(columns_, kPiece);
    const int64_t grain =
        std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width * static_cast<int64_t>(1 + ops_.size())));
    parallel_for_raw(rows_ * pieces, grain, args.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i % pieces * kPiece;
        piece<C>(args, i / pieces, column, std::min(kPiece, columns_ - column));
      }
    });
  }

  template <class C>
  void piece(const StepArgs& args, int64_t row, int64_t column, int64_t n) {
    alignas(64) C room[kPiece], room_of_operand[kPiece];
    // In place: nobody else can be reading what was just made. Elsewhere the result may lie where an operand does.
    C* const in = line_of<C>(args, from_, row, column);
    C* const out = line_of<C>(args, to_, row, column);
    C* const x = in && in == out ? out : room;
    if (x == room) load<C>(args, from_, row, column, n, x);
    for (const ResultOp& op : ops_) {
      const C* y = nullptr;
      if (op.has_operand() && !(y = line_of<C>(args, op.operand, row, column))) {
        load<C>(args, op.operand, row, column, n, room_of_operand);
        y = room_of_operand;
      }
      apply(op, x, y, n);
    }
    if (x == out) return;
    const int64_t at = row_offset(to_, row) + column * to_.strides.back();
    with_type(to_.dtype, args.at(to_.slot), [&](auto* p) { store_piece<C>(x, p + at, to_.strides.back(), n); });
  }

  /// Numbers that need no conversion and follow each other, or null.
  template <class C>
  static C* line_of(const StepArgs& args, const View& v, int64_t row, int64_t column) {
    constexpr DType kDtype = std::is_same_v<C, float>    ? DType::F32
                             : std::is_same_v<C, double> ? DType::F64
                                                         : DType::I64;
    if (v.dtype != kDtype || v.strides.back() != 1) return nullptr;
    return reinterpret_cast<C*>(args.at(v.slot)) + row_offset(v, row) + column;
  }

  template <class C>
  static void load(const StepArgs& args, const View& v, int64_t row, int64_t column, int64_t n, C* x) {
    const int64_t at = row_offset(v, row) + column * v.strides.back();
    with_type(v.dtype, args.at(v.slot), [&](auto* p) { load_piece<C>(x, p + at, v.strides.back(), n); });
  }

  View from_, to_;
  std::vector<ResultOp> ops_;
  int64_t rows_ = 0, columns_ = 0;
  std::string text_;
};

}  // namespace

std::unique_ptr<Step> make_copy(View from, View to) { return make_epilogue(std::move(from), std::move(to), {}); }

std::unique_ptr<Step> make_epilogue(View from, View to, std::vector<ResultOp> ops) {
  return std::make_unique<ElementwiseStep>(std::move(from), std::move(to), std::move(ops), false);
}

std::unique_ptr<EpilogueInParts> make_epilogue_in_parts(View from, View to, std::vector<ResultOp> ops) {
  if (accumulation_dtype(from.dtype) != DType::F32) throw_internal("parts of an epilogue that is not float32");
  return std::make_unique<ElementwiseStep>(std::move(from), std::move(to), std::move(ops), true);
}

}  // namespace strata::library
