// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that make complex numbers, take them apart, or mean something else for them. On real numbers they are what
// other rows compute; on complex ones they stay as they are until all values have become two real ones
// (core/ir/complex_parts.h).

#include <algorithm>
#include <numbers>

#include "core/ir/complex_parts.h"
#include "core/ir/ops/neural.h"
#include "core/ir/ops/views.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;

bool of_complex(const Call& c) { return is_complex(tensor_type(c, 0).dtype); }

void require_complex(const Call& c) {
  if (!of_complex(c))
    reject(c, "expected complex numbers, found " + std::string(dtype_name(tensor_type(c, 0).dtype)),
           "torch.view_as_complex(x) makes complex numbers of pairs of real ones");
}

Type pairs_of(const Call& c) {
  require_complex(c);
  const TensorType pairs = pairs_type(tensor_type(c, 0));
  Type type = view_type(c, pairs.shape, pairs.strides);
  type.tensor.dtype = pairs.dtype;
  return type;
}

Type of_pairs(const Call& c) {
  const TensorType& t = tensor_type(c, 0);
  if (t.dtype != DType::F32 && t.dtype != DType::F64 && t.dtype != DType::F16)
    reject(c, "expected float16, float32 or float64, found " + std::string(dtype_name(t.dtype)));
  if (t.shape.empty()) reject(c, "the last dimension must have size 2: real, imaginary");
  require_equal(c, t.shape.back(), 2, "size of the last dimension (real, imaginary) and 2");
  std::optional<std::vector<SymInt>> strides;
  if (t.strides) {
    strides.emplace();
    for (size_t d = 0; d + 1 < t.shape.size(); ++d) strides->push_back(floordiv((*t.strides)[d], 2));
  }
  Type type = view_type(c, {t.shape.begin(), t.shape.end() - 1}, strides);
  type.tensor.dtype = complex_dtype(t.dtype);
  return type;
}

/// One part of each number, as it lies between the others.
Type part_type(const Call& c) {
  const TensorType& t = tensor_type(c, 0);
  if (!is_complex(t.dtype)) return view_type(c, t.shape, t.strides);
  TensorType pairs = pairs_type(t);
  pairs.shape.pop_back();
  if (pairs.strides) pairs.strides->pop_back();
  Type type = view_type(c, pairs.shape, pairs.strides);
  type.tensor.dtype = pairs.dtype;
  return type;
}
Type imaginary_type(const Call& c) {
  require_complex(c);
  return part_type(c);
}
Type alias_type(const Call& c) { return view_type(c, tensor_type(c, 0).shape, tensor_type(c, 0).strides); }

Type joined_type(const Call& c) {
  require_same_dtype(c, 0, 1);
  const DType d = tensor_type(c, 0).dtype;
  if (d != DType::F16 && d != DType::F32 && d != DType::F64)
    reject(c, "expected float16, float32 or float64, found " + std::string(dtype_name(d)));
  return broadcast_type(c, complex_dtype(d));
}

Type real_type(const Call& c) {
  const DType d = tensor_type(c, 0).dtype;
  return result_like(c, is_floating(d) ? d : is_complex(d) ? real_dtype(d) : DType::F32, tensor_type(c, 0).shape);
}
Type truth_type(const Call& c) { return result_like(c, DType::Bool, tensor_type(c, 0).shape); }

// Values of views share memory in the interpreter, too.
RefValue pairs_value(const RefContext& c) { return as_pairs(c.tensor(0)); }
RefValue complex_value(const RefContext& c) {
  const Tensor t = c.tensor(0);
  const auto even = [](int64_t stride) { return stride % 2 == 0; };
  const bool lies_so =
      t.strides.back() == 1 && even(t.offset) && std::all_of(t.strides.begin(), t.strides.end() - 1, even);
  return from_pairs(lies_so ? t : t.contiguous());
}
template <int64_t which>
RefValue part_value(const RefContext& c) {
  return is_complex(c.tensor(0).dtype) ? part_of(c.tensor(0), which) : c.tensor(0);
}

Nodes stays(Builder&, const Call&) { return {}; }
Nodes itself(Builder&, const Call& c) { return of_complex(c) ? Nodes{} : Nodes{c.tensor(0)}; }
Nodes copied(Builder& b, const Call& c) {
  return of_complex(c) ? Nodes{} : Nodes{b.call("aten.clone.default", {c.tensor(0)})};
}
Nodes sign(Builder& b, const Call& c) {
  return of_complex(c) ? Nodes{} : Nodes{b.call("aten.sign.default", {c.tensor(0)})};
}
/// Of a real number: 0 or pi.
Nodes angle(Builder& b, const Call& c) {
  if (of_complex(c)) return {};
  Node* x = c.tensor(0);
  const auto number = [&](double v) {
    return b.call("aten.full.default", {sizes({}), v}, {{"dtype", real_type(c).tensor.dtype}});
  };
  Node* angle = b.call("aten.where.self", {b.call("aten.lt.Scalar", {x, 0}), number(std::numbers::pi), number(0)});
  if (!is_floating(c.type(0).dtype)) return {angle};
  return {b.call("aten.where.self", {b.call("aten.isnan.default", {x}), x, angle})};
}
Nodes all_real(Builder& b, const Call& c) {
  if (of_complex(c)) return {};
  return {b.call("aten.full.default", {sizes(c.type(0).shape), true}, {{"dtype", DType::Bool}})};
}

OpDef made(const std::string& schema, ShapeRule type, Decompose decompose, const char* doc,
           Reference reference = nullptr) {
  return OpDef("aten::" + schema, OpClass::Compound, 0, Promotion::None, type, reference, decompose,
               NoGradient::Pending, NoLowering{}, "", doc);
}

}  // namespace

Rows complex_rows() {
  Rows r;
  r.push_back(made("view_as_real(Tensor(a) self) -> Tensor(a)", pairs_of, stays,
                   "complex numbers as pairs in a new last dimension", pairs_value));
  // The one of these that reaches the schedule: a result that is complex is a view of pairs.
  r.push_back(OpDef("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", OpClass::View, trait::NotAffine,
                    Promotion::None, of_pairs, complex_value, nullptr, NoGradient::Pending,
                    Lowering(IndexMap([](const Call&, const std::vector<SymInt>& index) {
                      std::vector<SymInt> first = index;
                      first.emplace_back(0);
                      return first;
                    })),
                    "", "pairs in the last dimension as complex numbers"));
  r.push_back(made("real(Tensor(a) self) -> Tensor(a)", part_type, itself, "the real parts", part_value<0>));
  r.push_back(made("imag(Tensor(a) self) -> Tensor(a)", imaginary_type, stays, "the imaginary parts", part_value<1>));
  for (const char* name : {"conj", "_conj", "resolve_conj", "resolve_neg"})
    r.push_back(made(std::string(name) + "(Tensor(a) self) -> Tensor(a)", alias_type, itself,
                     name[0] == 'r' ? "the tensor itself" : "the conjugate; of real numbers, the tensor itself"));
  for (const char* name : {"conj_physical", "_conj_physical"})
    r.push_back(made(std::string(name) + "(Tensor self) -> Tensor", same_type, copied, "the conjugate, copied"));
  r.push_back(
      made("complex(Tensor real, Tensor imag) -> Tensor", joined_type, stays, "complex numbers of their parts"));
  r.push_back(made("polar(Tensor abs, Tensor angle) -> Tensor", joined_type, stays,
                   "complex numbers of magnitudes and angles"));
  r.push_back(
      made("angle(Tensor self) -> Tensor", real_type, angle, "the angle; of real numbers 0, or pi for negative ones"));
  r.push_back(made("sgn(Tensor self) -> Tensor", same_type, sign, "the sign; of complex numbers, x / |x|"));
  r.push_back(made("isreal(Tensor self) -> Tensor", truth_type, all_real, "is the imaginary part 0"));
  return r;
}

}  // namespace strata::ops
