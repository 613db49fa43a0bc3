// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers as small integers, a scale and the integer that stands for zero: what quantized programs are exported with
// (`quantized_decomposed` of PyTorch, `torchao`), and products with such weights. All are compositions, in the order of
// steps that those libraries have: which integer a number becomes depends on it.

#include <limits>

#include "core/ir/ops/common.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

/// Integers that a type holds.
struct Bounds {
  int64_t low = 0, high = 0;
};

Bounds bounds_of(const Call& call, DType dtype) {
  if (!is_integral(dtype) || dtype_size(dtype) > 4 || dtype == DType::U32)
    reject(call, "cannot hold quantized numbers in " + std::string(dtype_name(dtype)),
           "use uint8, int8, uint16, int16 or int32");
  const int bits = static_cast<int>(dtype_size(dtype)) * 8;
  if (!is_signed_integral(dtype)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

DType given_type(const Call& call, size_t i) {
  const std::optional<DType> dtype = call.dtype(i);
  if (!dtype) reject(call, "expected a type for '" + call.op().schema.params[i].name + "'");
  return *dtype;
}

/// Rejects least and largest integers (parameters `low` and `low` + 1) that the type does not hold.
void check_bounds(const Call& call, size_t low, DType dtype) {
  const Bounds bounds = bounds_of(call, dtype);
  if (is_tensor(call, low)) return;
  if (call.constant(low) < bounds.low)
    reject(call, "quant_min out of bounds for dtype, quant_min_lower_bound: " + std::to_string(bounds.low) +
                     " quant_min: " + std::to_string(call.constant(low)));
  if (call.constant(low + 1) > bounds.high)
    reject(call, "quant_max out of bounds for dtype, quant_max_upper_bound: " + std::to_string(bounds.high) +
                     " quant_max: " + std::to_string(call.constant(low + 1)));
}

/// The operand, which must be float32 or narrower, in float32.
Node* as_float(Builder& b, const Call& c) {
  const DType dtype = tensor_type(c, 0).dtype;
  if (dtype != DType::F32 && !is_reduced_float(dtype))
    reject(c, "Expecting input to have dtype torch.float32, but got dtype: torch." + std::string(dtype_name(dtype)));
  return b.cast(c.tensor(0), DType::F32);
}

/// Rejects an operand of another type than parameter `i` says.
void check_stored(const Call& call, size_t i) {
  const DType dtype = given_type(call, i), found = tensor_type(call, 0).dtype;
  if (found != dtype)
    reject(call, "Expecting input to have dtype: torch." + std::string(dtype_name(dtype)) + ", but got dtype: torch." +
                     std::string(dtype_name(found)));
}

Node* rounded(Builder& b, Node* x) { return b.call("aten.round.default", {x}); }
Node* limited(Builder& b, Node* x, const Argument& low, const Argument& high) {
  return b.call("aten.clamp.default", {x, low, high});
}
Node* reciprocal(Builder& b, Node* x) { return b.call("aten.reciprocal.default", {x}); }
Node* extreme(Builder& b, const char* op, Node* x, const std::vector<int64_t>& dims, bool keep) {
  return b.call(op, {x, int_list(dims), keep});
}
/// The lesser of elements and 0, and the greater.
Node* at_most_zero(Builder& b, Node* x) { return b.call("aten.clamp.default", {x, Argument(), 0}); }
Node* at_least_zero(Builder& b, Node* x) { return b.call("aten.clamp.default", {x, 0}); }

/// The only element of parameter `i`, without dimensions.
Node* one_element(Builder& b, const Call& c, size_t i) {
  require_equal(c, tensor_type(c, i).numel(), 1, "elements of '" + c.op().schema.params[i].name + "' and 1");
  return b.reshape(c.tensor(i), {});
}

// --------------------------------------------------------------------------------------------------- one scale for all

Nodes quantize_per_tensor(Builder& b, const Call& c) {
  const DType dtype = given_type(c, 5);
  check_bounds(c, 3, dtype);
  Node* x = b.mul(as_float(b, c), 1.0 / c.number(1));
  return {b.cast(limited(b, b.add(rounded(b, x), c.constant(2)), c.constant(3), c.constant(4)), dtype)};
}

/// Scale and zero, and for some the limits, are tensors of one element.
Nodes quantize_by_tensors(Builder& b, const Call& c) {
  const DType dtype = given_type(c, 5);
  check_bounds(c, 3, dtype);
  // The reciprocal of a number in float64, as Python has it, then rounded to the type of what it is multiplied with.
  Node* inverse = b.cast(reciprocal(b, b.cast(one_element(b, c, 1), DType::F64)), DType::F32);
  Node* x = b.add(rounded(b, b.mul(as_float(b, c), inverse)), b.cast(one_element(b, c, 2), DType::F32));
  if (is_tensor(c, 3))
    x = b.call("aten.clamp.Tensor",
               {x, b.cast(one_element(b, c, 3), DType::F32), b.cast(one_element(b, c, 4), DType::F32)});
  else
    x = limited(b, x, c.constant(3), c.constant(4));
  return {b.cast(x, dtype)};
}

Nodes dequantize_per_tensor(Builder& b, const Call& c) {
  check_stored(c, 5);
  bounds_of(c, given_type(c, 5));
  Node* x = b.cast(c.tensor(0), c.dtype(6).value_or(DType::F32));
  return {b.mul(b.sub(x, c.constant(2)), c.number(1))};
}

Nodes dequantize_by_tensors(Builder& b, const Call& c) {
  check_stored(c, 5);
  bounds_of(c, given_type(c, 5));
  const DType out = c.dtype(6).value_or(DType::F32);
  Node* x = b.sub(b.cast(c.tensor(0), out), one_element(b, c, 2));
  return {b.cast(b.mul(x, b.cast(one_element(b, c, 1), DType::F32)), out)};
}

/// Scale and zero for all elements, from the least and the largest of them, and 0.
template <bool Symmetric>
Nodes choose_qparams(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const DType from = tensor_type(c, 0).dtype;
  if (from != DType::F32 && !is_reduced_float(from))
    reject(c,
           "Expecting input to have dtype torch.float32/16/b16, but got dtype: torch." + std::string(dtype_name(from)));
  bounds_of(c, given_type(c, 4));
  const int64_t low = c.constant(1), high = c.constant(2);
  if (low >= high)
    reject(c, "Expecting quant_min to be smaller than quant_max but received min: " + std::to_string(low) +
                  " max: " + std::to_string(high));
  const auto steps = static_cast<double>(high - low);
  Node* least = at_most_zero(b, extreme(b, "aten.amin.default", x, {}, false));
  Node* most = at_least_zero(b, extreme(b, "aten.amax.default", x, {}, false));
  // Not less than eps, which is a tensor of float32.
  const auto scale_of = [&](Node* range, double parts) {
    return b.call("aten.clamp.default", {b.reshape(b.cast(b.div(range, parts), DType::F32), {SymInt(1)}),
                                         static_cast<double>(static_cast<float>(c.number(3)))});
  };
  const auto whole = [&](int64_t value) {
    return b.call("aten.full.default", {Argument::list({1}), value}, {{"dtype", DType::I64}});
  };
  if constexpr (Symmetric) {
    Node* scale = scale_of(b.call("aten.maximum.default", {b.neg(least), most}), steps / 2);
    return {b.cast(scale, DType::F64), whole(given_type(c, 4) == DType::U8 ? 128 : 0)};
  } else {
    Node* scale = scale_of(b.sub(most, least), steps);
    Node* moved = b.cast(b.cast(rounded(b, b.div(least, scale)), DType::I32), DType::I64);
    return {b.cast(scale, DType::F64), limited(b, b.sub(whole(low), moved), low, high)};
  }
}

// ------------------------------------------------------------------------------------------------ a scale for each
// line

/// Parameter `i`, a line of one number per place along the axis, beside the operand.
Node* along_axis(Builder& b, const Call& c, size_t i, size_t axis) {
  const TensorType& x = tensor_type(c, 0);
  require_equal(c, tensor_type(c, i).numel(), x.shape[axis],
                "numbers of '" + c.op().schema.params[i].name + "' and places");
  Shape shape(x.shape.size(), SymInt(1));
  shape[axis] = x.shape[axis];
  return b.reshape(c.tensor(i), shape);
}

Nodes quantize_per_channel(Builder& b, const Call& c) {
  const DType dtype = given_type(c, 6);
  check_bounds(c, 4, dtype);
  const size_t axis = c.dim(3, tensor_type(c, 0).shape.size());
  Node* x = rounded(b, b.mul(as_float(b, c), reciprocal(b, along_axis(b, c, 1, axis))));
  return {b.cast(limited(b, b.add(x, along_axis(b, c, 2, axis)), c.constant(4), c.constant(5)), dtype)};
}

Nodes dequantize_per_channel(Builder& b, const Call& c) {
  check_stored(c, 6);
  check_bounds(c, 4, given_type(c, 6));
  const size_t axis = c.dim(3, tensor_type(c, 0).shape.size());
  Node* x = c.tensor(0);
  if (!c.is_none(2)) x = b.sub(x, along_axis(b, c, 2, axis));
  return {b.cast(b.mul(x, along_axis(b, c, 1, axis)), c.dtype(7).value_or(DType::F32))};
}

/// Rejects scales or zeros (parameter `i`) of another number than there are lines along the last dimension.
void check_tokens(const Call& call, size_t i) {
  const Shape& x = tensor_type(call, 0).shape;
  SymInt lines = 1;
  for (size_t d = 0; d + 1 < x.size(); ++d) lines = lines * x[d];
  require_equal(call, tensor_type(call, i).numel(), lines,
                "numbers of '" + call.op().schema.params[i].name + "' and tokens");
}

Nodes quantize_per_token(Builder& b, const Call& c) {
  const DType dtype = given_type(c, 5);
  check_bounds(c, 3, dtype);
  check_tokens(c, 1), check_tokens(c, 2);
  Node* x = rounded(b, b.add(b.mul(c.tensor(0), reciprocal(b, c.tensor(1))), c.tensor(2)));
  return {b.cast(limited(b, x, c.constant(3), c.constant(4)), dtype)};
}

Nodes dequantize_per_token(Builder& b, const Call& c) {
  check_bounds(c, 3, given_type(c, 5));
  check_tokens(c, 1), check_tokens(c, 2);
  return {b.cast(b.mul(b.sub(c.tensor(0), c.tensor(2)), c.tensor(1)), given_type(c, 6))};
}

Nodes choose_qparams_per_token(Builder& b, const Call& c) {
  constexpr int64_t kLow = -128, kHigh = 127;
  Node* least = at_most_zero(b, extreme(b, "aten.amin.default", c.tensor(0), {-1}, true));
  Node* most = at_least_zero(b, extreme(b, "aten.amax.default", c.tensor(0), {-1}, true));
  Node* scale = b.div(b.sub(most, least), static_cast<double>(kHigh - kLow));
  scale = b.call("aten.clamp.default", {scale, static_cast<double>(std::numeric_limits<float>::epsilon())});
  least = b.div(least, scale);
  most = b.div(most, scale);
  Node* error = b.add(b.add(least, kLow), b.add(most, kHigh));
  Node* above = b.call("aten.gt.Scalar", {error, 0});
  Node* zero = b.call("aten.where.self",
                      {above, b.call("aten.rsub.Scalar", {least, kLow}), b.call("aten.rsub.Scalar", {most, kHigh})});
  zero = rounded(b, limited(b, zero, kLow, kHigh));
  return {b.cast(scale, DType::F64), b.cast(zero, DType::I64)};
}

/// A matrix as lines of so many elements (parameter `size`), each with a scale.
Node* in_groups(Builder& b, const Call& c, size_t size) {
  const Shape& shape = tensor_type(c, 0).shape;
  if (shape.size() != 2) reject(c, "input must be 2-dimensional");
  SymInt group = c.constant(size);
  if (c.constant(size) <= 1) reject(c, "group_size must be > 1");
  const Shape& scales = tensor_type(c, 1).shape;
  if (!scales.empty() && known_eq(scales.back(), 1) && known_lt(shape[1], group)) group = shape[1];
  require_multiple(c, shape[1], group, "columns of the input");
  return b.reshape(c.tensor(0), {shape[0] * floordiv(shape[1], group), group});
}
Node* as_column(Builder& b, const Call& c, size_t i) {
  return b.reshape(c.tensor(i), {tensor_type(c, i).numel(), SymInt(1)});
}

Nodes quantize_per_channel_group(Builder& b, const Call& c) {
  const DType dtype = given_type(c, 5);
  bounds_of(c, dtype);
  Node* x = b.mul(in_groups(b, c, 6), reciprocal(b, as_column(b, c, 1)));
  x = limited(b, rounded(b, b.add(x, as_column(b, c, 2))), c.constant(3), c.constant(4));
  return {b.reshape(b.cast(x, dtype), tensor_type(c, 0).shape)};
}

Nodes dequantize_per_channel_group(Builder& b, const Call& c) {
  Node* x = in_groups(b, c, 6);
  // Without zeros the library subtracts one of int32, which makes the integers wider.
  x = c.is_none(2) ? b.cast(x, DType::I32) : b.sub(x, as_column(b, c, 2));
  x = b.mul(x, as_column(b, c, 1));
  return {b.cast(b.reshape(x, tensor_type(c, 0).shape), given_type(c, 7))};
}

Nodes convert_element_type(Builder& b, const Call& c) { return {b.cast(c.tensor(0), given_type(c, 1))}; }

// ----------------------------------------------------------------------------------------------- a scale for each
// block

/// The operand with each dimension that is cut into blocks as two, and what belongs to a block next to it.
struct Blocks {
  Shape whole, each;          ///< shapes of elements, and of one number per block
  std::vector<int64_t> dims;  ///< within a block

  Blocks(const Call& c, size_t param) {
    const Shape &shape = tensor_type(c, 0).shape, sizes = c.integers(param);
    if (sizes.size() != shape.size())
      reject(c, "Got input dim:" + std::to_string(shape.size()) + ", and " + std::to_string(sizes.size()) +
                    " sizes of a block");
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool one = known_eq(sizes[d], 1), all = known_eq(sizes[d], shape[d]);
      if (one || all) {
        whole.push_back(shape[d]);
        each.push_back(one ? shape[d] : SymInt(1));
        if (!one) dims.push_back(static_cast<int64_t>(whole.size()) - 1);
        continue;
      }
      require_at_least(c, sizes[d], 1, "size of a block");
      require_multiple(c, shape[d], sizes[d], "size of dimension " + std::to_string(d));
      const SymInt count = floordiv(shape[d], sizes[d]);
      whole.insert(whole.end(), {count, sizes[d]});
      each.insert(each.end(), {count, SymInt(1)});
      dims.push_back(static_cast<int64_t>(whole.size()) - 1);
    }
  }
};

/// Parameters `low` and `low` + 1, or what the type holds.
std::pair<Argument, Argument> limits(const Call& c, size_t low, DType dtype) {
  const Bounds bounds = bounds_of(c, dtype);
  const auto limit = [&](size_t i, int64_t otherwise) { return c.is_none(i) ? Argument(otherwise) : c.arg(i); };
  if (!c.is_none(low) && c.number(low) < static_cast<double>(bounds.low))
    reject(c, "quant_min out of bound for dtype, quant_min_lower_bound: " + std::to_string(bounds.low));
  if (!c.is_none(low + 1) && c.number(low + 1) > static_cast<double>(bounds.high))
    reject(c, "quant_max out of bound for dtype, quant_max_upper_bound: " + std::to_string(bounds.high));
  return {limit(low, bounds.low), limit(low + 1, bounds.high)};
}
void check_floats(const Call& c) {
  const DType dtype = tensor_type(c, 0).dtype;
  if (dtype != DType::F32 && !is_reduced_float(dtype))
    reject(c, "Unsupported input dtype: torch." + std::string(dtype_name(dtype)));
}

Nodes quantize_affine(Builder& b, const Call& c) {
  check_floats(c);
  const DType dtype = given_type(c, 4);
  const auto [low, high] = limits(c, 5, dtype);
  const Blocks blocks(c, 1);
  Node* x = b.reshape(c.tensor(0), blocks.whole);
  x = rounded(b, b.mul(x, reciprocal(b, b.reshape(c.tensor(2), blocks.each))));
  if (c.is_none(3)) reject(c, "expected a zero_point");
  x = limited(b, b.add(x, b.reshape(c.tensor(3), blocks.each)), low, high);
  return {b.cast(b.reshape(x, tensor_type(c, 0).shape), dtype)};
}

Nodes dequantize_affine(Builder& b, const Call& c) {
  check_stored(c, 4);
  (void)limits(c, 5, given_type(c, 4));
  const DType out = c.dtype(7).value_or(DType::F32);
  const Blocks blocks(c, 1);
  Node* x = b.cast(b.reshape(c.tensor(0), blocks.whole), out);
  if (!c.is_none(3)) x = b.sub(x, b.cast(b.reshape(c.tensor(3), blocks.each), out));
  x = b.mul(x, b.reshape(c.tensor(2), blocks.each));
  return {b.cast(b.reshape(x, tensor_type(c, 0).shape), out)};
}

double smallest_normal(DType dtype) {
  return dtype == DType::F16 ? 0x1p-14 : static_cast<double>(std::numeric_limits<float>::min());
}

Nodes choose_qparams_affine(Builder& b, const Call& c) {
  check_floats(c);
  const std::string mapping = c.string(1);
  const auto [low_limit, high_limit] = limits(c, 4, given_type(c, 3));
  const double low = number_of(low_limit).value(), high = number_of(high_limit).value();
  const bool keep = c.boolean(9);
  const Blocks blocks(c, 2);
  Node* x = b.reshape(c.tensor(0), blocks.whole);
  Node* least = at_most_zero(b, extreme(b, "aten.amin.default", x, blocks.dims, keep));
  Node* most = at_least_zero(b, extreme(b, "aten.amax.default", x, blocks.dims, keep));
  const double eps = c.is_none(6) ? smallest_normal(tensor_type(c, 0).dtype) : c.number(6);
  const auto not_less = [&](Node* scale) { return b.call("aten.clamp.default", {scale, eps}); };
  Node *scale = nullptr, *zero = nullptr;
  std::optional<DType> zero_type = c.dtype(8);
  if (mapping == "ASYMMETRIC") {
    scale = not_less(b.div(b.sub(most, least), high - low));
    zero = limited(b, b.call("aten.rsub.Scalar", {rounded(b, b.div(least, scale)), low_limit}), low_limit, high_limit);
    if (!zero_type) zero_type = DType::I32;
  } else {
    if (mapping == "SYMMETRIC") {
      scale = b.div(b.call("aten.maximum.default", {b.neg(least), most}), (high - low) / 2);
    } else if (mapping == "SYMMETRIC_NO_CLIPPING_ERR") {
      Node *below = b.div(least, low), *above = b.div(most, high);
      scale = b.call("aten.where.self", {b.call("aten.gt.Tensor", {below, above}), below, above});
    } else {
      reject(c, "Unsupported mapping type: " + mapping, "use SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR or ASYMMETRIC");
    }
    zero = b.call("aten.full_like.default", {scale, static_cast<int64_t>((high + low + 1) / 2)});
    scale = not_less(scale);
  }
  if (keep) {
    Shape shape;
    const Shape sizes = c.integers(2);
    for (size_t d = 0; d < sizes.size(); ++d) shape.push_back(floordiv(tensor_type(c, 0).shape[d], sizes[d]));
    scale = b.reshape(scale, shape);
    zero = b.reshape(zero, shape);
  }
  return {b.cast(scale, c.dtype(7).value_or(tensor_type(c, 0).dtype)), zero_type ? b.cast(zero, *zero_type) : zero};
}

// ------------------------------------------------------------------------------------------------------------ products

/// Of matrices of int8, summed up in int32.
Nodes int_mm(Builder& b, const Call& c) {
  for (size_t i = 0; i < 2; ++i)
    if (tensor_type(c, i).dtype != DType::I8 && (i != 0 || tensor_type(c, i).dtype != DType::U8))
      reject(c, "expected matrices of int8, found " + std::string(dtype_name(tensor_type(c, i).dtype)));
  return {b.call("aten.mm.default", {b.cast(c.tensor(0), DType::I32), b.cast(c.tensor(1), DType::I32)})};
}

/// self [m, k] with the transpose of weights of int8 [n, k], which have a scale per row.
Nodes int8_weights_mm(Builder& b, const Call& c) {
  const TensorType &x = tensor_type(c, 0), &weight = tensor_type(c, 1);
  if (!is_floating(x.dtype)) reject(c, "expected floating-point self, found " + std::string(dtype_name(x.dtype)));
  if (weight.dtype != DType::I8) reject(c, "expected mat2 to be int8, found " + std::string(dtype_name(weight.dtype)));
  if (weight.shape.size() != 2) reject(c, "expected mat2 to be 2-D tensor");
  require_same_shape(c, tensor_type(c, 2).shape, {weight.shape[0]}, "scales and rows of mat2");
  Node* y = b.call("aten.mm.default", {c.tensor(0), b.transpose(b.cast(c.tensor(1), x.dtype), 0, 1)});
  return {b.mul(y, c.tensor(2))};
}

}  // namespace

Rows quantized() {
  Rows r;
  const auto add = [&r](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(compound(schema, 0, decomposed_type, decompose, doc));
  };
  const std::string space = "quantized_decomposed::", one = "(Tensor input, float scale, int zero_point, ";
  const std::string tensors = "(Tensor input, Tensor scale, Tensor zero_point, ";
  const std::string numbers = "int quant_min, int quant_max, ScalarType dtype";
  const std::string limits_too = "Tensor quant_min, Tensor quant_max, ScalarType dtype";
  const std::string floats = ", *, ScalarType? out_dtype=None) -> Tensor";
  const char *to = "numbers as integers by scale and zero", *from = "numbers that integers stand for by scale and zero";
  add(space + "quantize_per_tensor" + one + numbers + ") -> Tensor", quantize_per_tensor, to);
  add(space + "quantize_per_tensor.tensor" + tensors + numbers + ") -> Tensor", quantize_by_tensors, to);
  add(space + "quantize_per_tensor.tensor2" + tensors + limits_too + ") -> Tensor", quantize_by_tensors, to);
  add(space + "dequantize_per_tensor" + one + numbers + floats, dequantize_per_tensor, from);
  add(space + "dequantize_per_tensor.tensor" + tensors + numbers + floats, dequantize_by_tensors, from);
  add(space + "dequantize_per_tensor.tensor2" + tensors + limits_too + floats, dequantize_by_tensors, from);
  const std::string range =
      "(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)";
  const char* chosen = "scale and zero by the least and the largest element";
  add(space + "choose_qparams.tensor" + range, choose_qparams<false>, chosen);
  add(space + "choose_qparams_symmetric.tensor" + range, choose_qparams<true>, chosen);
  add(space + "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, " + numbers +
          ") -> Tensor",
      quantize_per_channel, "numbers as integers, each channel by a scale and zero of its own");
  add(space + "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, " + numbers + floats,
      dequantize_per_channel, "numbers that integers stand for, each channel by a scale and zero of its own");
  for (const char* name : {"choose_qparams_per_token_asymmetric", "_choose_qparams_per_token_asymmetric_impl"})
    add(space + name + "(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", choose_qparams_per_token,
        "scale and zero of each line along the last dimension");
  const std::string tokens = "(Tensor input, Tensor scales, Tensor zero_points, ";
  add(space + "quantize_per_token" + tokens + numbers + ") -> Tensor", quantize_per_token,
      "numbers as integers, each line by a scale and zero of its own");
  add(space + "dequantize_per_token" + tokens + numbers + ", ScalarType output_dtype) -> Tensor", dequantize_per_token,
      "numbers that integers stand for, each line by a scale and zero of its own");
  add(space + "quantize_per_channel_group" + tokens + numbers + ", int group_size) -> Tensor",
      quantize_per_channel_group, "numbers as integers, each group of a row by a scale and zero of its own");
  add(space + "dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, " + numbers +
          ", int group_size, ScalarType output_dtype) -> Tensor",
      dequantize_per_channel_group, "numbers that integers stand for, each group by a scale and zero of its own");
  add(space + "convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor", convert_element_type,
      "elements in another type");

  const std::string given = "Scalar? quant_min=None, Scalar? quant_max=None";
  add("torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
      "output_dtype, " +
          given + ") -> Tensor",
      quantize_affine, "numbers as integers, each block by a scale and zero of its own");
  add("torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
      "input_dtype, " +
          given + ", ScalarType output_dtype=6) -> Tensor",
      dequantize_affine, "numbers that integers stand for, each block by a scale and zero of its own");
  add("torchao::choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, " +
          given +
          ", float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool "
          "keepdim=False) -> (Tensor, Tensor)",
      choose_qparams_affine, "scale and zero of each block");

  add("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", int_mm, "product of matrices of int8 in int32");
  add("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", int8_weights_mm,
      "product with scaled weights of int8");
  return r;
}

}  // namespace strata::ops
