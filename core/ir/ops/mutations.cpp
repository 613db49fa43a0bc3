// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// In-place operators. Each is the functional row whose name it carries, written back into its first operand: schema,
// checks and documentation are derived from that row, so that a line here is its name.

#include <map>

#include "core/ir/ops/common.h"
#include "core/ir/ops/indexing.h"
#include "core/ir/ops/pointwise.h"

namespace strata::ops {
namespace {

/// Functional names with an in-place twin: `aten.add.Tensor` makes `aten.add_.Tensor`.
constexpr const char* kInPlace[] = {
    "aten.abs.default",         "aten.acos.default",
    "aten.acosh.default",       "aten.add.Scalar",
    "aten.add.Tensor",          "aten.addcdiv.default",
    "aten.addcmul.default",     "aten.asin.default",
    "aten.asinh.default",       "aten.atan.default",
    "aten.atan2.default",       "aten.atanh.default",
    "aten.bitwise_and.Scalar",  "aten.bitwise_and.Tensor",
    "aten.bitwise_not.default", "aten.bitwise_or.Scalar",
    "aten.bitwise_or.Tensor",   "aten.bitwise_xor.Scalar",
    "aten.bitwise_xor.Tensor",  "aten.ceil.default",
    "aten.clamp.Tensor",        "aten.clamp.default",
    "aten.clamp_max.default",   "aten.clamp_min.default",
    "aten.copy.default",        "aten.cos.default",
    "aten.cosh.default",        "aten.cumsum.default",
    "aten.div.Scalar",          "aten.div.Scalar_mode",
    "aten.div.Tensor",          "aten.div.Tensor_mode",
    "aten.dropout.default",     "aten.elu.default",
    "aten.eq.Scalar",           "aten.eq.Tensor",
    "aten.erf.default",         "aten.erfc.default",
    "aten.exp.default",         "aten.exp2.default",
    "aten.exponential.default", "aten.uniform.default",
    "aten.bernoulli.Tensor",    "aten.random.to",
    "aten.expm1.default",       "aten.fill.Scalar",
    "aten.fill.Tensor",         "aten.floor.default",
    "aten.floor_divide.Scalar", "aten.floor_divide.default",
    "aten.fmod.Scalar",         "aten.fmod.Tensor",
    "aten.frac.default",        "aten.ge.Scalar",
    "aten.ge.Tensor",           "aten.gelu.default",
    "aten.gt.Scalar",           "aten.gt.Tensor",
    "aten.hardsigmoid.default", "aten.hardswish.default",
    "aten.hardtanh.default",    "aten.index_put.default",
    "aten.le.Scalar",           "aten.le.Tensor",
    "aten.leaky_relu.default",  "aten.lerp.Scalar",
    "aten.lerp.Tensor",         "aten.log.default",
    "aten.log10.default",       "aten.log1p.default",
    "aten.log2.default",        "aten.logical_and.default",
    "aten.logical_not.default", "aten.logical_or.default",
    "aten.logical_xor.default", "aten.lt.Scalar",
    "aten.lt.Tensor",           "aten.masked_fill.Scalar",
    "aten.masked_fill.Tensor",  "aten.mish.default",
    "aten.mul.Scalar",          "aten.mul.Tensor",
    "aten.ne.Scalar",           "aten.ne.Tensor",
    "aten.neg.default",         "aten.reciprocal.default",
    "aten.relu.default",        "aten.relu6.default",
    "aten.remainder.Scalar",    "aten.remainder.Tensor",
    "aten.round.default",       "aten.rsqrt.default",
    "aten.scatter.src",         "aten.scatter.value",
    "aten.scatter_add.default", "aten.scatter_reduce.two",
    "aten.sigmoid.default",     "aten.sign.default",
    "aten.silu.default",        "aten.sin.default",
    "aten.sinh.default",        "aten.sqrt.default",
    "aten.square.default",      "aten.sub.Scalar",
    "aten.sub.Tensor",          "aten.tan.default",
    "aten.tanh.default",        "aten.tril.default",
    "aten.triu.default",        "aten.trunc.default",
    "aten.zero.default",
};

/// Some of ATen's names do not follow the rule: `pow_.Scalar` is pow.Tensor_Scalar, `normal_` normal_functional.
constexpr std::pair<const char*, const char*> kRenamed[] = {
    {"aten.bernoulli.p", "aten.bernoulli_.float"},  {"aten.normal_functional.default", "aten.normal_.default"},
    {"aten.pow.Tensor_Scalar", "aten.pow_.Scalar"}, {"aten.pow.Tensor_Tensor", "aten.pow_.Tensor"},
    {"aten.clamp.default", "aten.clip_.default"},   {"aten.clamp.Tensor", "aten.clip_.Tensor"},
    {"aten.mul.Tensor", "aten.multiply_.Tensor"},   {"aten.sub.Tensor", "aten.subtract_.Tensor"},
    {"aten.div.Tensor", "aten.divide_.Tensor"},     {"aten.div.Tensor", "aten.true_divide_.Tensor"},
    {"aten.abs.default", "aten.absolute_.default"}, {"aten.neg.default", "aten.negative_.default"},
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
  bool differs = shape.size() != self.shape.size();
  for (size_t d = 0; !differs && d < shape.size(); ++d) differs = known_ne(shape[d], self.shape[d]);
  if (differs)
    reject(call, "the result " + to_string(result) + " does not have the shape of the tensor it is written to");
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
  for (auto family : {pointwise, indexing})
    for (OpDef& row : family()) functional.emplace(row.name, std::move(row));
  const auto twin = [&](const std::string& name) -> const OpDef& {
    const auto it = functional.find(name);
    if (it == functional.end()) throw_internal("in-place operator without functional row: " + name);
    return it->second;
  };
  Rows rows;
  for (const std::string name : kInPlace) {
    const size_t overload = name.rfind('.');
    rows.push_back(in_place(twin(name), name.substr(0, overload) + "_" + name.substr(overload)));
  }
  for (const auto& [name, renamed] : kRenamed) rows.push_back(in_place(twin(name), renamed));
  return rows;
}

}  // namespace strata::ops
