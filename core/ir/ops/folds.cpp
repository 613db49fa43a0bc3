// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions with a combine function of their own.

#include <limits>

#include "core/ir/ops/reductions.h"

namespace strata::ops {
namespace {

using Ctx = const GradientContext&;
using loop::Combine;
constexpr auto kNone = NoGradient::Nondifferentiable;

std::optional<size_t> dtype_param(const Call& call) {
  const auto& params = call.op().schema.params;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == "dtype") return i;
  return {};
}

OpDef fold(const char* schema, ShapeRule type, Reference reference, Decompose decompose,
           std::variant<Gradient, NoGradient> gradient, Lowering lowering, const char* doc) {
  return OpDef(schema, OpClass::Reduction, 0, Promotion::None, type, reference, decompose, gradient, lowering, "", doc);
}

// ------------------------------------------------------------------------------------------------------- sum, product,
// mean

/// Integers and bool are summed as int64 unless `dtype` says otherwise.
Type sum_type(const Call& call) {
  DType d = tensor_type(call, 0).dtype;
  if (!is_floating(d) && !is_complex(d)) d = DType::I64;
  if (const auto p = dtype_param(call); p && call.dtype(*p)) d = *call.dtype(*p);
  return reduced_type(call, d);
}

Type mean_type(const Call& call) {
  DType d = tensor_type(call, 0).dtype;
  if (const auto p = dtype_param(call); p && call.dtype(*p)) d = *call.dtype(*p);
  if (!is_floating(d) && !is_complex(d))
    reject(call, "expected a floating-point tensor, found " + std::string(dtype_name(d)));
  return reduced_type(call, d);
}

DType result_storage(const RefContext& c) { return c.storage_dtype(c.call.node().type.tensor.dtype); }

RefValue sum_reference(const RefContext& c) {
  return fold_reference(c, result_storage(c), []<class T>(T, auto each) {
    Total<T> sum = 0;
    each([&](T v) { sum = wrap_add(sum, static_cast<Total<T>>(v)); });
    return static_cast<Accumulator<T>>(sum);
  });
}

RefValue prod_reference(const RefContext& c) {
  return fold_reference(c, result_storage(c), []<class T>(T, auto each) {
    Accumulator<T> result = 1;
    each([&](T v) { result = wrap_mul(result, static_cast<Accumulator<T>>(v)); });
    return result;
  });
}

RefValue mean_reference(const RefContext& c) {
  const auto n = static_cast<double>(c.eval(reduced_count(c.call)));
  return fold_reference(c, result_storage(c), [n]<class T>(T, auto each) {
    Total<T> sum = 0;
    each([&](T v) { sum += static_cast<Total<T>>(v); });
    return static_cast<double>(sum) / n;
  });
}

/// Sum in at least float32, so that 16-bit means are rounded once.
std::vector<Node*> decompose_mean(Builder& b, const Call& c) {
  const DType result = c.op().shape(c).tensor.dtype;
  Node* x = b.cast(c.tensor(0), compute_dtype(result));
  if (c.type(0).shape.empty()) return {b.cast(b.add(x, 0.0), result)};  // a sum begins with 0: the mean of -0 is 0
  Node* sum = b.sum(x, reduced_dim_list(c), keeps_dims(c));
  return {b.cast(b.div(sum, integer(reduced_count(c))), result)};
}

Node* spread_gradient(Ctx c) { return spread(c.b, c.dy, c.call); }
Node* mean_gradient(Ctx c) { return c.b.div(spread(c.b, c.dy, c.call), integer(reduced_count(c.call))); }

Rows sums() {
  Rows r;
  for (const char* schema :
       {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"})
    r.push_back(fold(schema, sum_type, sum_reference, nullptr, gradient_of<spread_gradient>,
                     ReductionRule{Combine::Sum}, "sum of elements"));
  for (const char* schema :
       {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor"})
    r.push_back(fold(schema, sum_type, prod_reference, nullptr, NoGradient::Pending, ReductionRule{Combine::Prod},
                     "product of elements"));
  for (const char* schema :
       {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"})
    r.push_back(OpDef(schema, OpClass::Compound, 0, Promotion::None, mean_type, mean_reference, decompose_mean,
                      gradient_of<mean_gradient>, NoLowering{}, "", "mean of elements"));
  return r;
}

// ------------------------------------------------------------------------------------------------------------- extrema

void reject_empty(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  const std::vector<bool> reduced = reduced_dims(call);
  for (size_t d = 0; d < shape.size(); ++d)
    if (reduced[d] && shape[d] == SymInt(0))
      reject(call, "dimension " + std::to_string(d) + " is empty: there is no element to take");
}

Type extremum_type(const Call& call) {
  reject_empty(call);
  return reduced_type(call, tensor_type(call, 0).dtype);
}
Type position_type(const Call& call) {
  reject_empty(call);
  return reduced_type(call, DType::I64);
}
Type pair_type(const Call& call) { return Type::tuple({extremum_type(call), position_type(call)}); }

/// Does `v` win against `best`? NaN wins; the first of equals stays.
template <bool Larger, class T>
bool beats(T v, T best) {
  if (is_nan(best)) return false;
  return is_nan(v) || (Larger ? best < v : v < best);
}

template <bool Larger>
RefValue extremum_reference(const RefContext& c) {
  return fold_reference(c, result_storage(c), [&c]<class T>(T, auto each) {
    bool first = true;
    T best{};
    each([&](T v) {
      if (first || beats<Larger>(v, best)) best = v;
      first = false;
    });
    if (first) reject(c.call, "there is no element to take");
    return best;
  });
}

/// Position in row-major order of the folded dimensions.
template <bool Larger>
RefValue position_reference(const RefContext& c) {
  const DType compute = c.storage_dtype(c.call.type(0).dtype);
  return fold_reference(c, compute, [&c]<class T>(T, auto each) {
    int64_t at = 0, found = -1;
    T best{};
    each([&](T v) {
      if (found < 0 || beats<Larger>(v, best)) {
        best = v;
        found = at;
      }
      ++at;
    });
    if (found < 0) reject(c.call, "there is no element to take");
    return found;
  });
}

ScalarId position_result(Body&, const Call&, std::span<const ScalarId> results, ScalarId) { return results[1]; }

/// Equal extrema share the cotangent evenly, as in PyTorch.
Node* extremum_gradient(Ctx c) {
  Node* hit = c.b.call("aten.eq.Tensor", {c.x(), spread(c.b, c.y, c.call)});
  Node* count = c.b.sum(c.b.cast(hit, c.dy->type.tensor.dtype), reduced_dim_list(c.call), true);
  Node* share = c.b.div(with_kept_dims(c.b, c.dy, c.call), count);
  return c.b.mul(c.b.expand(share, c.x()->type.tensor.shape), hit);
}

/// max.dim: values and positions are reductions of their own.
template <bool Larger>
std::vector<Node*> value_and_position(Builder& b, const Call& c) {
  return {b.call(Larger ? "aten.amax.default" : "aten.amin.default",
                 {c.tensor(0), Argument::list({c.arg(1)}), keeps_dims(c)}),
          b.call(Larger ? "aten.argmax.default" : "aten.argmin.default", {c.tensor(0), c.arg(1), keeps_dims(c)})};
}
template <bool Larger>
std::vector<Node*> whole(Builder& b, const Call& c) {
  return {b.call(Larger ? "aten.amax.default" : "aten.amin.default", {c.tensor(0), Argument::list({})})};
}

/// The cotangent goes to the position that was chosen: where(arange == position, dy, 0).
std::vector<Node*> chosen_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!cotangent(g) || !g.needed(0)) return out;
  Builder& b = g.builder;
  const TensorType& x = g.call.type(0);
  if (x.shape.empty()) {
    out[0] = cotangent(g);
    return out;
  }
  const size_t dim = g.call.dim(1, x.shape.size());
  std::vector<SymInt> line(x.shape.size(), SymInt(1));
  line[dim] = x.shape[dim];
  Node* positions =
      b.reshape(b.call("aten.arange.default", {integer(x.shape[dim])}, {{"device", DeviceArg{x.device}}}), line);
  Node* chosen = with_kept_dims(b, b.getitem(const_cast<Node*>(&g.call.node()), 1), g.call);
  Node* hit = b.call("aten.eq.Tensor", {positions, chosen});
  out[0] = b.call("aten.where.self", {hit, with_kept_dims(b, cotangent(g), g.call), 0.0});
  return out;
}

template <bool Larger>
Rows extrema() {
  const std::string word = Larger ? "max" : "min", size = Larger ? "largest" : "smallest";
  const Combine combine = Larger ? Combine::Max : Combine::Min, position = Larger ? Combine::ArgMax : Combine::ArgMin;
  Rows r;
  const auto add = [&](const std::string& schema, OpClass kind, ShapeRule type, Reference reference,
                       Decompose decompose, std::variant<Gradient, NoGradient> gradient, Lowering lowering,
                       const std::string& doc) {
    r.push_back(OpDef(schema, kind, 0, Promotion::None, type, reference, decompose, gradient, lowering, "", doc));
  };
  add("aten::a" + word + "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", OpClass::Reduction,
      extremum_type, extremum_reference<Larger>, nullptr, gradient_of<extremum_gradient>, ReductionRule{combine},
      size + " element; NaN wins");
  add("aten::" + word + "(Tensor self) -> Tensor", OpClass::Compound, extremum_type, extremum_reference<Larger>,
      whole<Larger>, gradient_of<extremum_gradient>, NoLowering{}, size + " of all elements; NaN wins");
  add("aten::" + word + ".dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
      OpClass::Compound, pair_type, nullptr, value_and_position<Larger>, Gradient(chosen_gradient), NoLowering{},
      size + " element along a dimension, and where it is");
  add("aten::arg" + word + "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", OpClass::Reduction,
      position_type, position_reference<Larger>, nullptr, kNone, ReductionRule{position, nullptr, position_result},
      "position of the " + size + " element; the first of equals");
  return r;
}

// ------------------------------------------------------------------------------------------------------------- any and
// all

Type truth_type(const Call& call) {
  const auto& params = call.op().schema.params;
  if (params.size() > 1 && params[1].list && call.arg(1).as<ListArg>() && call.arg(1).as<ListArg>()->items.empty())
    reject(call, "an empty list of dimensions folds nothing", "leave 'dim' out to fold all dimensions");
  const DType d = tensor_type(call, 0).dtype;
  return reduced_type(call, d == DType::U8 ? DType::U8 : DType::Bool);
}

template <bool All>
RefValue truth_reference(const RefContext& c) {
  return fold_reference(c, DType::Bool, []<class T>(T, auto each) {
    bool result = All;
    each([&](T v) { result = All ? result && v != T{0} : result || v != T{0}; });
    return result;
  });
}

ScalarId to_bool(Body& b, const Call&, ScalarId element) { return b.cast(element, DType::Bool); }

template <bool All>
Rows truths() {
  const std::string name = All ? "aten::all" : "aten::any";
  const ReductionRule rule{All ? Combine::All : Combine::Any, to_bool};
  Rows r;
  for (const char* tail : {"(Tensor self) -> Tensor", ".dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                           ".dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"})
    r.push_back(fold((name + tail).c_str(), truth_type, truth_reference<All>, nullptr, kNone, rule,
                     All ? "every element is true" : "some element is true"));
  return r;
}

}  // namespace

Rows folds() {
  Rows rows;
  for (auto part : {sums, extrema<true>, extrema<false>, truths<false>, truths<true>}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
