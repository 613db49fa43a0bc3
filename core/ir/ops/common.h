// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the rows of the operator table share: result types, errors, references over strided operands, gradients.
///
/// Conventions that rows and their readers keep:
/// - A `PointwiseBody` gets one scalar per `Tensor` parameter of the schema, in schema order; numbers given for a
/// Tensor parameter come as
///   constants, parameters that are None as `loop::kNone`. Parameters of type `Scalar` are read from the call by the
///   body.
/// - A reduction names its dimensions with a parameter `dim` (absent, None or empty: all) and its parameter `keepdim`.
/// - A gradient is made in the forward call's result shape and brought to the operand's shape and type by `fit`.

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/ir/builder.h"
#include "core/support/error.h"

namespace strata::ops {

using Rows = std::vector<OpDef>;
void append(Rows& rows, Rows more);

// --------------------------------------------------------------------------------------------------------------- calls

/// Throws a user Error: `aten.add.Tensor(f32[2], f32[3]): <what>`.
[[noreturn]] void reject(const Call& call, const std::string& what, const std::string& hint = {});
/// The call with its operands' types, for messages.
std::string describe(const Node& node);

/// Is parameter `i` a tensor (not a number, not None)?
bool is_tensor(const Call& call, size_t i);
/// The operand's type; a user Error if it is no tensor.
const TensorType& tensor_type(const Call& call, size_t i);
/// The place of the parameter of that name; none where the row has no such.
std::optional<size_t> param(const Call& call, std::string_view name);
/// What the call gives for the parameter `dtype`.
std::optional<DType> given_dtype(const Call& call);
/// The dimensions of a tensor of `rank` that the list of parameter `i` names; a user Error where one is named twice.
std::vector<size_t> distinct_dims(const Call& call, size_t i, size_t rank);
/// Rejects parameter `i`, a mask, unless it is bool.
void require_mask(const Call& call, size_t i);
/// Rejects parameter `i`, which is written into parameter 0, if it is complex and that is not.
void require_fits(const Call& call, size_t i);
SymInt product(const std::vector<SymInt>& sizes);
/// Whether one of them is 0 for certain.
bool has_zero(const std::vector<SymInt>& sizes);
/// Rejects two sizes that must be equal but cannot be, where `what` names both; records an assumption where that is not
/// known, so that each run checks it.
void require_equal(const Call& call, const SymInt& a, const SymInt& b, const std::string& what);
/// Rejects shapes that are not the same, likewise.
void require_same_shape(const Call& call, const std::vector<SymInt>& a, const std::vector<SymInt>& b,
                        const std::string& what);
/// Rejects a size that cannot be a multiple of `factor`, likewise.
void require_multiple(const Call& call, const SymInt& size, const SymInt& factor, const std::string& what);
/// Rejects a size that cannot be `least` or more, where `what` names the size, likewise.
void require_at_least(const Call& call, const SymInt& size, const SymInt& least, const std::string& what);
/// `size`, but 0 where a tensor of `shape` has no elements.
SymInt unless_empty(const SymInt& size, const std::vector<SymInt>& shape);
/// Operand `i` in the floating-point type that all come to (float32 for whole numbers): what is made of one of them
/// alone would be rounded to, or be of, another. Of a row without a promotion of its own.
Node* in_common_floats(Builder& builder, const Call& call, size_t i);
/// A number, whole or not, such as stands in a list of them; none if it is something else, or symbolic.
std::optional<double> number_of(const Argument& argument);
/// Sizes given as an argument list.
Argument sizes(const std::vector<SymInt>& shape);
Argument int_list(const std::vector<int64_t>& items);
/// An integer, symbolic or not, as an argument.
Argument integer(const SymInt& value);

// -------------------------------------------------------------------------------------------------------------- result
// types

/// Contiguous tensor on the device of the first tensor operand.
Type result_like(const Call& call, DType dtype, std::vector<SymInt> shape);
/// Broadcast of all tensor operands, in `dtype`.
Type broadcast_type(const Call& call, DType dtype);
/// By the row's promotion (bool for comparisons).
Type pointwise_type(const Call& call);
/// As `pointwise_type`, for operators that PyTorch has for floating-point operands only.
Type floating_type(const Call& call);
/// As `pointwise_type`; bool is refused.
Type number_type(const Call& call);
/// As `pointwise_type`; floats are refused.
Type integral_type(const Call& call);
/// Shape and type of operand 0.
Type same_type(const Call& call);
/// What the row's decomposition gives: for compounds whose result type has no rule of its own.
Type decomposed_type(const Call& call);
/// For assertions and other calls without a value.
Type no_type(const Call& call);

// ---------------------------------------------------------------------------------------------------------- references

/// A number argument at run time: Scalar, float, int, or a symbolic number.
double scalar_value(const RefContext& context, size_t i);
int64_t scalar_int(const RefContext& context, size_t i);
bool scalar_is_int(const RefContext& context, size_t i);
/// A number as a value of T without passing integers through double.
template <class T>
T scalar_as(const RefContext& context, size_t i) {
  if constexpr (std::is_integral_v<T>)
    if (scalar_is_int(context, i)) return static_cast<T>(scalar_int(context, i));
  return static_cast<T>(scalar_value(context, i));
}

/// Storage type that elements of `compute` are worked on in: F64 stays, other floats F32, integers and bool I64.
DType work_dtype(DType compute);
/// Parameter `i` (tensor or number) converted to `compute`, then held in `work_dtype(compute)`; strided as it comes.
Tensor operand(const RefContext& context, size_t i, DType compute);
/// Compute type of a pointwise call in this context.
DType reference_compute_dtype(const RefContext& context);
/// `t` in storage type `dtype` (itself if it is already).
Tensor converted(const Tensor& t, DType dtype);
/// View with broadcast strides.
Tensor expanded(const Tensor& t, const std::vector<int64_t>& shape);
/// Contiguous tensor in the result's type.
Tensor as_result(const RefContext& context, const Tensor& t, size_t part = 0);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else {
    static_assert(std::is_same_v<T, int64_t>);
    return DType::I64;
  }
}

/// Calls `f(T{})` with float, double or int64_t for the work type of `compute`.
template <class F>
auto with_work_type(DType compute, F&& f) {
  switch (work_dtype(compute)) {
    case DType::F32:
      return f(float{});
    case DType::F64:
      return f(double{});
    default:
      return f(int64_t{});
  }
}

/// Walks a shape row by row of its innermost dimension, after merging dimensions that are adjacent in every operand.
class RowLoop {
 public:
  /// `strides[k]` are operand k's, one per dimension of `shape`.
  RowLoop(const std::vector<int64_t>& shape, const std::vector<std::vector<int64_t>>& strides);
  int64_t inner() const { return shape_.back(); }
  int64_t stride(size_t operand) const { return strides_[operand].back(); }
  /// `row(offsets)`: where the row starts in each operand.
  template <class F>
  void run(F&& row) const {
    if (rows_ == 0 || inner() == 0) return;
    std::vector<int64_t> index(shape_.size(), 0), offsets(strides_.size(), 0);
    for (int64_t r = 0; r < rows_; ++r) {
      row(offsets.data());
      for (size_t d = shape_.size() - 1; d-- > 0;) {
        ++index[d];
        for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += strides_[k][d];
        if (index[d] < shape_[d]) break;
        for (size_t k = 0; k < offsets.size(); ++k) offsets[k] -= strides_[k][d] * shape_[d];
        index[d] = 0;
      }
    }
  }

 private:
  std::vector<int64_t> shape_;
  std::vector<std::vector<int64_t>> strides_;
  int64_t rows_ = 1;
};

/// `f` of the elements of N operands (work type T, any strides, broadcast to `shape`), into a new tensor of f's type.
template <class T, class F, size_t... K>
Tensor map_elements(const std::vector<int64_t>& shape, const std::array<Tensor, sizeof...(K)>& in, F f,
                    std::index_sequence<K...>) {
  using R = decltype(f((static_cast<void>(K), T{})...));
  Tensor out = Tensor::empty(dtype_of<R>(), shape);
  const std::array<Tensor, sizeof...(K)> wide{expanded(in[K], shape)...};
  const RowLoop loop(shape, {wide[K].strides...});
  R* o = out.ptr<R>();
  const int64_t n = loop.inner();
  const bool unit = ((loop.stride(K) == 1) && ...);
  loop.run([&](const int64_t* at) {
    const std::array<const T*, sizeof...(K)> p{(wide[K].template ptr<const T>() + at[K])...};
    if (unit)
      for (int64_t i = 0; i < n; ++i) o[i] = f(p[K][i]...);
    else
      for (int64_t i = 0; i < n; ++i) o[i] = f(p[K][i * loop.stride(K)]...);
    o += n;
  });
  return out;
}

/// Reference of a pointwise row over parameters `params`; `make(context)` gives the function of the elements.
/// `FloatOnly`: the compute type is always a float, so that no integer version is made.
template <size_t N, bool FloatOnly = false, class Make>
RefValue map_reference(const RefContext& c, const std::array<size_t, N>& params, Make make) {
  const DType compute = reference_compute_dtype(c);
  std::array<Tensor, N> in;
  for (size_t k = 0; k < N; ++k) in[k] = operand(c, params[k], compute);
  const std::vector<int64_t> shape = c.eval(c.call.node().type.tensor.shape);
  return with_work_type(compute, [&]<class T>(T) -> RefValue {
    if constexpr (FloatOnly && std::is_integral_v<T>)
      throw_internal(c.call.op().name + ": integers in a floating-point operator");
    auto f = make(c);
    return as_result(c, map_elements<T>(shape, in, f, std::make_index_sequence<N>()));
  });
}
/// `F(x)` and `F(a, b)` of parameters 0 (and 1); `Make(context)` gives a function of parameter 0.
template <auto F>
RefValue unary_reference(const RefContext& c) {
  return map_reference<1>(c, {0}, [](const RefContext&) { return F; });
}
template <auto F>
RefValue binary_reference(const RefContext& c) {
  return map_reference<2>(c, {0, 1}, [](const RefContext&) { return F; });
}
template <auto F>
RefValue float_reference(const RefContext& c) {
  return map_reference<1, true>(c, {0}, [](const RefContext&) { return F; });
}
template <auto F>
RefValue float_binary_reference(const RefContext& c) {
  return map_reference<2, true>(c, {0, 1}, [](const RefContext&) { return F; });
}
template <auto Make>
RefValue float_reference_with(const RefContext& c) {
  return map_reference<1, true>(c, {0}, Make);
}
template <auto Make>
RefValue unary_reference_with(const RefContext& c) {
  return map_reference<1>(c, {0}, Make);
}
template <auto Make>
RefValue binary_reference_with(const RefContext& c) {
  return map_reference<2>(c, {0, 1}, Make);
}

// Integer arithmetic that wraps.
inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <std::floating_point T>
T wrap_add(T a, T b) {
  return a + b;
}
template <std::floating_point T>
T wrap_sub(T a, T b) {
  return a - b;
}
template <std::floating_point T>
T wrap_mul(T a, T b) {
  return a * b;
}
template <class T>
T wrap_neg(T a) {
  return wrap_sub(T{0}, a);
}
template <std::floating_point T>
T wrap_neg(T a) {
  return -a;
}
template <class T>
bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a);
  else
    return false;
}
/// Minimum and maximum that propagate NaN.
template <class T>
T nan_max(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}
template <class T>
T nan_min(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}

// ---------------------------------------------------------------------------------------------------------------- loop
// bodies

using loop::Body;
using loop::ScalarId;
using loop::ScalarOp;
using Operands = std::span<const ScalarId>;

/// Parameter `i` in a pointwise body: its operand, or a number as a constant of the compute type (that of the first
/// operand).
ScalarId body_operand(Body& body, const Call& call, Operands operands, size_t i);
/// A number argument as a constant (or symbolic value) of `dtype`.
ScalarId body_number(Body& body, const Call& call, size_t i, DType dtype);
/// Type that a body computes in: that of its first operand.
DType body_dtype(const Body& body, Operands operands);
template <ScalarOp Op>
ScalarId unary_body(Body& body, const Call&, Operands x) {
  return body.unary(Op, x[0]);
}
template <ScalarOp Op>
ScalarId binary_body(Body& body, const Call& call, Operands x) {
  return body.binary(Op, body_operand(body, call, x, 0), body_operand(body, call, x, 1));
}

// ----------------------------------------------------------------------------------------------------------- gradients

/// Sums `gradient` down to the operand's shape and casts it to the operand's type; null stays null.
Node* fit(Builder& builder, Node* gradient, const Node* operand);
/// One cotangent per parameter, none so far.
std::vector<Node*> no_cotangents(const GradientCall& call);
/// The cotangent of the only result; null if it is not needed.
inline Node* cotangent(const GradientCall& call) { return call.cotangents.empty() ? nullptr : call.cotangents[0]; }

/// What the gradient of a row with one result sees.
struct GradientContext {
  Builder& b;
  const Call& call;
  Node* dy;
  Node* y;  ///< the forward result
  Node* x(size_t i = 0) const { return call.tensor(i); }
  /// Parameter `i` for a Builder call: a node or a number.
  const Argument& arg(size_t i) const { return call.arg(i); }
};
/// Gradient from one function per differentiable parameter (in order from parameter 0), each in the result's shape.
template <auto... F>
std::vector<Node*> gradient_of(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  const GradientContext context{g.builder, g.call, dy, const_cast<Node*>(&g.call.node())};
  size_t i = 0;
  const auto one = [&](auto f) {
    if (g.needed(i) && is_tensor(g.call, i)) out[i] = fit(g.builder, f(context), g.call.tensor(i));
    ++i;
  };
  (one(F), ...);
  return out;
}
/// The gradient that is zero everywhere (floor, sign, ...).
std::vector<Node*> zero_gradient(const GradientCall& g);

// ---------------------------------------------------------------------------------------------------------------- rows

/// Primitive pointwise row.
OpDef row(std::string_view schema, uint32_t traits, Promotion promotion, ShapeRule shape, Reference reference,
          PointwiseBody body, std::variant<Gradient, NoGradient> gradient, std::string_view doc);
/// Row that exists as captured only.
OpDef compound(std::string_view schema, uint32_t traits, ShapeRule shape, Decompose decompose, std::string_view doc);

}  // namespace strata::ops
