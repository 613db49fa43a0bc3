// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that are others by another name. Exported programs keep the name that was written: `torch.clip`,
// `torch.concat`, `torch.special.expit`.

#include <algorithm>

#include "core/ir/ops/neural.h"
#include "core/ir/ops/views.h"

namespace strata::ops {
namespace {

struct OtherSchema {
  std::string_view schema, target;
};
constexpr OtherSchema kOtherSchemas[] = {
    {"clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "aten.clamp.default"},
    {"clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", "aten.clamp.Tensor"},
    {"concat(Tensor[] tensors, int dim=0) -> Tensor", "aten.cat.default"},
    {"concatenate(Tensor[] tensors, int dim=0) -> Tensor", "aten.cat.default"},
    {"row_stack(Tensor[] tensors) -> Tensor", "aten.vstack.default"},
    {"moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", "aten.movedim.int"},
    {"moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", "aten.movedim.intlist"},
    {"swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "aten.transpose.int"},
    // In-place changes of shape: what follows looks at the result.
    {"squeeze_(Tensor(a!) self) -> Tensor(a!)", "aten.squeeze.default"},
    {"squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", "aten.squeeze.dim"},
    {"squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", "aten.squeeze.dims"},
    {"unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", "aten.unsqueeze.default"},
    {"t_(Tensor(a!) self) -> Tensor(a!)", "aten.t.default"},
    {"transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "aten.transpose.int"},
    {"swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", "aten.transpose.int"},
    {"swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "aten.transpose.int"},
    {"greater.Scalar(Tensor self, Scalar other) -> Tensor", "aten.gt.Scalar"},
    {"greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten.ge.Scalar"},
    {"less.Scalar(Tensor self, Scalar other) -> Tensor", "aten.lt.Scalar"},
    {"less_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten.le.Scalar"},
    {"not_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten.ne.Scalar"},
    {"multiply.Scalar(Tensor self, Scalar other) -> Tensor", "aten.mul.Scalar"},
    {"subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten.sub.Scalar"},
    {"divide.Scalar(Tensor self, Scalar other) -> Tensor", "aten.div.Scalar"},
    {"true_divide.Scalar(Tensor self, Scalar other) -> Tensor", "aten.div.Scalar"},
    {"divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", "aten.div.Tensor_mode"},
    {"divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", "aten.div.Scalar_mode"},
    {"_is_all_true(Tensor self) -> Tensor", "aten.all.default"},
    {"_is_any_true(Tensor self) -> Tensor", "aten.any.default"},
    {"special_erf(Tensor self) -> Tensor", "aten.erf.default"},
    {"special_erfc(Tensor self) -> Tensor", "aten.erfc.default"},
    {"special_exp2(Tensor self) -> Tensor", "aten.exp2.default"},
    {"special_expm1(Tensor self) -> Tensor", "aten.expm1.default"},
    {"special_log1p(Tensor self) -> Tensor", "aten.log1p.default"},
    {"special_expit(Tensor self) -> Tensor", "aten.sigmoid.default"},
    {"special_sinc(Tensor self) -> Tensor", "aten.sinc.default"},
    {"special_round(Tensor self, *, int decimals=0) -> Tensor", "aten.round.decimals"},
    {"special_logit(Tensor self, float? eps=None) -> Tensor", "aten.logit.default"},
    {"special_xlogy(Tensor self, Tensor other) -> Tensor", "aten.xlogy.Tensor"},
    {"as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
     "aten.as_strided.default"},
    {"linalg_matrix_power(Tensor self, int n) -> Tensor", "aten.matrix_power.default"},
    {"linalg_matmul(Tensor self, Tensor other) -> Tensor", "aten.matmul.default"},
    {"orgqr(Tensor self, Tensor input2) -> Tensor", "aten.linalg_householder_product.default"},
    {"linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)", "aten.diagonal.default"},
    {"special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "aten.softmax.int"},
    {"special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "aten.log_softmax.int"},
    {"special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", "aten.logsumexp.default"},
};

/// Arguments as they are given, by place or by keyword as the other name takes them.
std::vector<Node*> forwarded(Builder& b, const Call& c) {
  const auto named = [&](const OtherSchema& row) {
    const std::string_view name = row.schema.substr(0, row.schema.find('('));
    const std::string_view own = std::string_view(c.op().name).substr(5);  // behind `aten.`
    return own == name || (name.find('.') == name.npos && own == std::string(name) + ".default");
  };
  const auto* row = std::find_if(std::begin(kOtherSchemas), std::end(kOtherSchemas), named);
  const auto& params = find_op(row->target)->schema.params;
  std::vector<Argument> arguments;
  std::vector<std::pair<std::string, Argument>> keywords;
  for (size_t i = 0; i < c.size(); ++i) {
    if (params[i].keyword_only)
      keywords.emplace_back(params[i].name, c.arg(i));
    else
      arguments.push_back(c.arg(i));
  }
  return {b.call(row->target, std::move(arguments), std::move(keywords))};
}

}  // namespace

Rows other_names() {
  Rows rows;
  for (const OtherSchema& row : kOtherSchemas)
    rows.push_back(compound("aten::" + std::string(row.schema), 0, decomposed_type, forwarded, "another name"));
  return rows;
}

}  // namespace strata::ops
