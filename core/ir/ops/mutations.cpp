// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// In-place operators. Each is the functional row whose name it carries, written back into its first operand: schema,
// checks and documentation are derived from that row, so that a line here is its name.

#include <map>
#include <sstream>

#include "core/ir/ops/common.h"
#include "core/ir/ops/indexing.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

/// Functional names with an in-place twin: `add.Tensor` makes `aten.add_.Tensor`, `abs` `aten.abs_.default`.
constexpr std::string_view kInPlace =
    "abs absolute acos acosh add.Scalar add.Tensor addbmm addcdiv addcmul addmm addmv addr alpha_dropout arccos "
    "arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh baddbmm bernoulli.Tensor "
    "bitwise_and.Scalar bitwise_and.Tensor bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar bitwise_not "
    "bitwise_or.Scalar bitwise_or.Tensor bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar "
    "bitwise_xor.Scalar bitwise_xor.Tensor ceil celu clamp.Tensor clamp clamp_max.Tensor clamp_max "
    "clamp_min.Tensor clamp_min clip.Tensor clip conj_physical copy copysign.Scalar copysign.Tensor cos cosh "
    "cumprod cumsum deg2rad digamma div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode divide.Scalar "
    "divide.Scalar_mode divide.Tensor divide.Tensor_mode dropout elu eq.Scalar eq.Tensor erf erfc erfinv exp exp2 "
    "expm1 exponential feature_alpha_dropout feature_dropout fill.Scalar fill.Tensor fix floor "
    "floor_divide.Scalar fmod.Scalar fmod.Tensor frac gcd ge.Scalar ge.Tensor gelu greater.Scalar greater.Tensor "
    "greater_equal.Scalar greater_equal.Tensor gt.Scalar gt.Tensor hardsigmoid hardswish hardtanh heaviside hypot "
    "i0 igamma igammac index_add index_copy index_fill.int_Scalar index_fill.int_Tensor index_put index_reduce "
    "lcm le.Scalar le.Tensor leaky_relu lerp.Scalar lerp.Tensor less.Scalar less.Tensor less_equal.Scalar "
    "less_equal.Tensor lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor logit lt.Scalar "
    "lt.Tensor masked_fill.Scalar masked_fill.Tensor masked_scatter mish mul.Scalar mul.Tensor multiply.Scalar "
    "multiply.Tensor mvlgamma nan_to_num ne.Scalar ne.Tensor neg negative nextafter not_equal.Scalar "
    "not_equal.Tensor put rad2deg random.to reciprocal relu relu6 remainder.Scalar remainder.Tensor renorm "
    "round.decimals round rsqrt scatter.reduce scatter.src scatter.value scatter.value_reduce scatter_add "
    "scatter_reduce.two selu sgn sigmoid sign silu sin sinc sinh sqrt square sub.Scalar sub.Tensor "
    "subtract.Scalar subtract.Tensor tan tanh threshold tril triu true_divide.Scalar true_divide.Tensor trunc "
    "uniform xlogy.Scalar_Other xlogy.Tensor zero";

/// Some of ATen's names do not follow the rule: `pow_.Scalar` is pow.Tensor_Scalar, `normal_` normal_functional.
constexpr std::pair<const char*, const char*> kRenamed[] = {
    {"aten.bernoulli.p", "aten.bernoulli_.float"},
    {"aten.normal_functional.default", "aten.normal_.default"},
    {"aten.pow.Tensor_Scalar", "aten.pow_.Scalar"},
    {"aten.pow.Tensor_Tensor", "aten.pow_.Tensor"},
    {"aten.floor_divide.default", "aten.floor_divide_.Tensor"},
    {"aten.float_power.Tensor_Scalar", "aten.float_power_.Scalar"},
    {"aten.float_power.Tensor_Tensor", "aten.float_power_.Tensor"},
    {"aten.ldexp.Tensor", "aten.ldexp_.default"},
    {"strata.fill_diagonal.default", "aten.fill_diagonal_.default"},
};

/// Keeps the operand's type and shape: the functional result must fit into it.
Type in_place_type(const Call& call) {
  const OpDef* functional = find_op(call.op().functional_name);
  if (!functional) throw_internal(call.op().name + " names a functional operator that is not in the table");
  Node node;
  node.op = functional;
  node.target = functional->name;
  node.name = call.node().name;
  node.args = call.node().args;
  node.kwargs = call.node().kwargs;
  node.meta.source = call.node().meta.source;
  const Type result = functional->shape(Call(node));
  const TensorType& self = tensor_type(call, 0);
  const auto& shape = result.tensor.shape;
  require_same_shape(call, shape, self.shape, "the result and the tensor it is written to");
  const auto category = [](DType d) { return d == DType::Bool ? 0 : is_integral(d) ? 1 : is_floating(d) ? 2 : 3; };
  if (category(result.tensor.dtype) > category(self.dtype))
    reject(call, "the result of type " + std::string(dtype_name(result.tensor.dtype)) + " cannot be written to " +
                     std::string(dtype_name(self.dtype)));
  Type type = Type::of(self);
  type.tensor.requires_grad = false;
  return type;
}

/// The row of `name` (in-place) from that of its functional twin.
OpDef in_place(const OpDef& functional, const std::string& name) {
  const size_t dot = name.find('.'), overload = name.find('.', dot + 1);
  std::string schema = "aten::" + name.substr(dot + 1, overload - dot - 1);
  if (name.substr(overload + 1) != "default") schema += name.substr(overload);
  schema += "(Tensor(a!) self) -> Tensor(a!)";
  OpDef row(schema, OpClass::Mutation, functional.traits & trait::Random, Promotion::None, in_place_type, nullptr,
            nullptr, NoGradient::Pending, NoLowering{}, functional.name,
            functional.doc + ", written into the first operand");
  row.schema.params = functional.schema.params;
  row.schema.params[0].name = "self";  // dropout calls it `input`, dropout_ does not
  row.schema.params[0].written = row.schema.params[0].aliased = true;
  return row;
}

}  // namespace

std::vector<OpDef> mutations() {
  std::map<std::string, OpDef> functional;  // the table itself is being made: ask the families
  for (auto family : {pointwise, views, reductions, indexing, matrix, convolution})
    for (OpDef& row : family()) functional.emplace(row.name, std::move(row));
  const auto twin = [&](const std::string& name) -> const OpDef& {
    const auto it = functional.find(name);
    if (it == functional.end()) throw_internal("in-place operator without functional row: " + name);
    return it->second;
  };
  Rows rows;
  std::istringstream words{std::string(kInPlace)};
  for (std::string word; words >> word;) {
    const size_t dot = word.find('.');
    const std::string name = "aten." + word.substr(0, dot),
                      overload = dot < word.size() ? word.substr(dot) : ".default";
    rows.push_back(in_place(twin(name + overload), name + "_" + overload));
  }
  for (const auto& [name, renamed] : kRenamed) rows.push_back(in_place(twin(name), renamed));
  return rows;
}

}  // namespace strata::ops
