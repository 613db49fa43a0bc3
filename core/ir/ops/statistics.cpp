// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions made of other reductions: variance, softmax, norms. They decompose into sums and maxima, so that fusion
// can join those with what stands around them.

#include <algorithm>
#include <limits>

#include "core/ir/ops/reductions.h"

namespace strata::ops {
namespace {

using Ctx = const GradientContext&;

DType result_storage(const RefContext& c) {
  const Type& type = c.call.node().type;
  return c.storage_dtype(type.kind == Type::Kind::Tuple ? type.parts[0].tensor.dtype : type.tensor.dtype);
}

OpDef made_of(const char* schema, ShapeRule type, Reference reference, Decompose decompose,
              std::variant<Gradient, NoGradient> gradient, const char* doc) {
  return OpDef(schema, OpClass::Compound, 0, Promotion::None, type, reference, decompose, gradient, NoLowering{}, "",
               doc);
}

// ------------------------------------------------------------------------------------------------------------ variance

/// Degrees of freedom taken off: `correction` (None: 1) or `unbiased`.
double correction_of(const Call& call) {
  const auto& params = call.op().schema.params;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == "correction") return call.is_none(i) ? 1 : call.number(i);
    if (params[i].name == "unbiased") return call.boolean(i) ? 1 : 0;
  }
  return 1;
}

/// Of complex numbers a variance is real.
Type variance_type(const Call& call) {
  const DType d = tensor_type(call, 0).dtype;
  if (is_complex(d)) return reduced_type(call, real_dtype(d));
  if (!is_floating(d)) reject(call, "expected a floating-point tensor, found " + std::string(dtype_name(d)));
  return reduced_type(call, d);
}
Type variance_mean_type(const Call& call) {
  const Type variance = variance_type(call);
  return Type::tuple({variance, reduced_type(call, tensor_type(call, 0).dtype)});
}

/// Mean and sum of squared distances from it, in two passes.
struct Moments {
  double mean, m2, n;
};
template <class Each>
Moments moments(Each each) {
  Total<double> sum = 0, m2 = 0;
  double n = 0;
  each([&](auto v) {
    sum += static_cast<double>(v);
    ++n;
  });
  const Total<double> mean = sum / n;
  each([&](auto v) { m2 += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean); });
  return {static_cast<double>(mean), static_cast<double>(m2), n};
}

double degrees_of_freedom(double count, double correction) {
  return count > 0 ? std::max(0.0, count - correction) : 0.0;
}

enum class Statistic : uint8_t { Variance, Deviation, Mean };
Tensor statistic(const RefContext& c, Statistic which) {
  const DType compute = result_storage(c);
  const Tensor t = operand(c, 0, compute);
  const double correction = correction_of(c.call);
  return with_work_type(compute, [&]<class T>(T) {
    return fold_elements<T>(t, reduced_dims(c.call), [&](auto each) {
      const Moments m = moments(each);
      if (which == Statistic::Mean) return m.mean;
      // In the type that kernels have it in: where it is too large for that, so is the root of it.
      const double variance = static_cast<double>(static_cast<T>(m.m2 / degrees_of_freedom(m.n, correction)));
      return which == Statistic::Variance ? variance : std::sqrt(variance);
    });
  });
}

Tensor shaped(const RefContext& c, Tensor t, size_t part) {
  const Type& type = c.call.node().type;
  t.shape = c.eval((type.kind == Type::Kind::Tuple ? type.parts[part] : type).tensor.shape);
  t.strides = contiguous_strides(std::span<const int64_t>(t.shape));
  return as_result(c, t, part);
}

template <Statistic S>
RefValue statistic_reference(const RefContext& c) {
  return shaped(c, statistic(c, S), 0);
}
template <Statistic S>
RefValue statistic_mean_reference(const RefContext& c) {
  return std::vector<RefValue>{shaped(c, statistic(c, S), 0), shaped(c, statistic(c, Statistic::Mean), 1)};
}

/// Elements to divide by: max(0, n - correction), of none 0, as a number, a symbolic integer or, if that is no integer,
/// a tensor without dimensions of type `dtype`.
Argument freedom(Builder& b, const Call& c, DType dtype) {
  const SymInt n = reduced_count(c);
  const double correction = correction_of(c);
  if (n.is_const()) return degrees_of_freedom(static_cast<double>(n.value()), correction);
  if (correction == std::floor(correction)) {
    const SymInt left = n - SymInt(static_cast<int64_t>(correction));
    return integer(correction < 0 ? left * min(n, SymInt(1)) : max(SymInt(0), left));
  }
  Node* count = b.call("aten.full.default", {sizes({}), integer(n)}, {{"dtype", DType::F64}});
  return b.cast(b.call("aten.clamp.default", {b.sub(count, correction), 0.0}), dtype);
}

struct Parts {
  Node *mean, *variance;  ///< in the compute type; mean with kept dimensions
};
Parts mean_and_variance(Builder& b, const Call& c, bool keepdim) {
  const std::vector<int64_t> dims = reduced_dim_list(c);
  Node* x = b.cast(c.tensor(0), compute_dtype(c.type(0).dtype));
  const auto total = [&](Node* v, bool keep) { return dims.empty() ? v : b.sum(v, dims, keep); };
  Node* mean = b.div(total(x, true), integer(reduced_count(c)));
  Node* d = b.sub(x, mean);
  return {mean, b.div(total(b.mul(d, d), keepdim), freedom(b, c, compute_dtype(x->type.tensor.dtype)))};
}

template <bool Deviation, bool WithMean>
std::vector<Node*> variance(Builder& b, const Call& c) {
  const DType dtype = c.type(0).dtype;
  const Parts p = mean_and_variance(b, c, keeps_dims(c));
  Node* value = Deviation ? b.call("aten.sqrt.default", {p.variance}) : p.variance;
  std::vector<Node*> out{b.cast(value, dtype)};
  if (WithMean) out.push_back(b.cast(b.reshape(p.mean, value->type.tensor.shape), dtype));
  return out;
}

/// 2 (x - mean) / (n - correction), times `dy` spread over the operand.
Node* variance_slope(Builder& b, const Call& c, Node* dy) {
  Node* x = c.tensor(0);
  Node* mean = b.call("aten.mean.dim", {x, int_list(reduced_dim_list(c)), true});
  Node* slope = b.div(b.mul(b.sub(x, mean), 2), freedom(b, c, compute_dtype(x->type.tensor.dtype)));
  return b.mul(spread(b, dy, c), slope);
}

std::vector<Node*> variance_gradient(const GradientCall& g) {
  return gradient_of<[](Ctx c) { return variance_slope(c.b, c.call, c.dy); }>(g);
}
std::vector<Node*> deviation_gradient(const GradientCall& g) {
  return gradient_of<[](Ctx c) { return variance_slope(c.b, c.call, c.b.div(c.dy, c.b.mul(c.y, 2))); }>(g);
}
std::vector<Node*> variance_mean_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (!g.needed(0)) return out;
  Node* dx = g.cotangents[0] ? variance_slope(g.builder, g.call, g.cotangents[0]) : nullptr;
  if (g.cotangents.size() > 1 && g.cotangents[1]) {
    Node* m = g.builder.div(spread(g.builder, g.cotangents[1], g.call), integer(reduced_count(g.call)));
    dx = dx ? g.builder.add(dx, m) : m;
  }
  out[0] = fit(g.builder, dx, g.call.tensor(0));
  return out;
}

Rows variances() {
  Rows r;
  const auto family = [&](const std::string& name, const std::string& returns, ShapeRule type, Reference reference,
                          Decompose decompose, std::variant<Gradient, NoGradient> gradient, const char* doc) {
    const std::string head = "aten::" + name, tail = " -> " + returns;
    r.push_back(made_of((head + "(Tensor self, bool unbiased=True)" + tail).c_str(), type, reference, decompose,
                        gradient, doc));
    r.push_back(
        made_of((head + ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False)" + tail).c_str(), type,
                reference, decompose, gradient, doc));
    r.push_back(made_of(
        (head + ".correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)" + tail)
            .c_str(),
        type, reference, decompose, gradient, doc));
  };
  family("var", "Tensor", variance_type, statistic_reference<Statistic::Variance>, variance<false, false>,
         Gradient(variance_gradient), "variance with n - correction in the denominator");
  family("std", "Tensor", variance_type, statistic_reference<Statistic::Deviation>, variance<true, false>,
         Gradient(deviation_gradient), "square root of the variance");
  family("var_mean", "(Tensor, Tensor)", variance_mean_type, statistic_mean_reference<Statistic::Variance>,
         variance<false, true>, Gradient(variance_mean_gradient), "variance and mean");
  family("std_mean", "(Tensor, Tensor)", variance_mean_type, statistic_mean_reference<Statistic::Deviation>,
         variance<true, true>, NoGradient::Pending, "standard deviation and mean");
  return r;
}

// ------------------------------------------------------------------------------------------------------------- softmax

/// Result type: `dtype` if given, float32 for half_to_float, else the operand's.
Type softmax_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  reduced_dims(call);
  DType d = t.dtype;
  if (call.op().schema.params[2].name == "dtype")
    d = call.dtype(2).value_or(d);
  else if (call.boolean(2))
    d = DType::F32;
  if (!is_floating(d)) reject(call, "expected a floating-point tensor, found " + std::string(dtype_name(d)));
  return result_like(call, d, t.shape);
}

/// Applies `f(row, n, step, out)` along parameter 1's dimension of a contiguous copy in double.
template <class F>
RefValue along_dim(const RefContext& c, F f) {
  const DType compute = result_storage(c);
  Tensor x = converted(operand(c, 0, compute), DType::F64).contiguous();
  const size_t dim = c.call.dim(1, x.rank());
  const int64_t n = x.rank() ? x.shape[dim] : 1, step = x.rank() ? x.strides[dim] : 1;
  Tensor out = Tensor::empty(DType::F64, x.shape);
  const int64_t lines = n > 0 ? x.numel() / n : 0;
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t at = i / step * step * n + i % step;
    f(x.ptr<const double>() + at, n, step, out.ptr<double>() + at);
  }
  return as_result(c, out);
}

struct RowSum {
  double max, sum;
};
RowSum exp_sum(const double* x, int64_t n, int64_t step) {
  double m = -std::numeric_limits<double>::infinity();
  Total<double> sum = 0;
  for (int64_t i = 0; i < n; ++i) m = nan_max(m, x[i * step]);
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i * step] - m);
  return {m, static_cast<double>(sum)};
}

RefValue softmax_reference(const RefContext& c) {
  return along_dim(c, [](const double* x, int64_t n, int64_t step, double* out) {
    const RowSum r = exp_sum(x, n, step);
    for (int64_t i = 0; i < n; ++i) out[i * step] = std::exp(x[i * step] - r.max) / r.sum;
  });
}
RefValue log_softmax_reference(const RefContext& c) {
  return along_dim(c, [](const double* x, int64_t n, int64_t step, double* out) {
    const RowSum r = exp_sum(x, n, step);
    for (int64_t i = 0; i < n; ++i) out[i * step] = x[i * step] - r.max - std::log(r.sum);
  });
}

template <bool Log>
std::vector<Node*> softmax(Builder& b, const Call& c) {
  const DType result = softmax_type(c).tensor.dtype;
  Node* x = b.cast(c.tensor(0), compute_dtype(result));
  const Argument dims = Argument::list({c.arg(1)});
  if (reduced_count(c) == SymInt(0)) return {b.cast(x, result)};
  Node* shifted = b.sub(x, b.call("aten.amax.default", {x, dims, true}));
  Node* e = b.call("aten.exp.default", {shifted});
  Node* sum = b.call("aten.sum.dim_IntList", {e, dims, true});
  return {b.cast(Log ? b.sub(shifted, b.call("aten.log.default", {sum})) : b.div(e, sum), result)};
}

Node* softmax_gradient(Ctx c) {
  Node* weighted = c.b.mul(c.dy, c.y);
  Node* total = c.b.call("aten.sum.dim_IntList", {weighted, Argument::list({c.arg(1)}), true});
  return c.b.sub(weighted, c.b.mul(c.y, total));
}
Node* log_softmax_gradient(Ctx c) {
  Node* total = c.b.call("aten.sum.dim_IntList", {c.dy, Argument::list({c.arg(1)}), true});
  return c.b.sub(c.dy, c.b.mul(c.b.call("aten.exp.default", {c.y}), total));
}

Rows softmaxes() {
  Rows r;
  for (const char* schema : {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                             "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"})
    r.push_back(made_of(schema, softmax_type, softmax_reference, softmax<false>, gradient_of<softmax_gradient>,
                        "exp(x) divided by its sum along a dimension"));
  for (const char* schema : {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                             "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"})
    r.push_back(made_of(schema, softmax_type, log_softmax_reference, softmax<true>, gradient_of<log_softmax_gradient>,
                        "logarithm of softmax"));
  return r;
}

// ----------------------------------------------------------------------------------------------------------- logsumexp

Type logsumexp_type(const Call& call) {
  const DType d = tensor_type(call, 0).dtype;
  return reduced_type(call, is_floating(d) ? d : DType::F32);
}

RefValue logsumexp_reference(const RefContext& c) {
  return fold_reference(c, result_storage(c), []<class T>(T, auto each) {
    double m = -std::numeric_limits<double>::infinity();
    Total<double> sum = 0;
    each([&](T v) { m = nan_max(m, static_cast<double>(v)); });
    if (std::isinf(m)) m = 0;
    each([&](T v) { sum += std::exp(static_cast<double>(v) - m); });
    return m + std::log(static_cast<double>(sum));
  });
}

/// An infinite maximum is not subtracted: inf - inf would be NaN.
std::vector<Node*> logsumexp(Builder& b, const Call& c) {
  const DType result = logsumexp_type(c).tensor.dtype;
  Node* x = b.cast(c.tensor(0), compute_dtype(result));
  const Argument dims = int_list(reduced_dim_list(c));
  if (c.type(0).shape.empty()) return {b.cast(x, result)};
  if (reduced_count(c) == SymInt(0))
    return {b.cast(b.call("aten.log.default", {b.call("aten.sum.dim_IntList", {x, dims, keeps_dims(c)})}), result)};
  Node* top = b.call("aten.amax.default", {x, dims, true});
  Node* safe = b.call("aten.masked_fill.Scalar", {top, b.call("aten.isinf.default", {top}), 0.0});
  Node* sum = b.call("aten.sum.dim_IntList", {b.call("aten.exp.default", {b.sub(x, safe)}), dims, keeps_dims(c)});
  Node* log = b.call("aten.log.default", {sum});
  return {b.cast(b.add(log, b.reshape(safe, log->type.tensor.shape)), result)};
}

// --------------------------------------------------------------------------------------------------------------- norms

Type norm_type(const Call& call) {
  DType d = real_dtype(tensor_type(call, 0).dtype);
  if (!is_floating(d)) reject(call, "expected a floating-point tensor, found " + std::string(dtype_name(d)));
  if (const auto given = given_dtype(call)) {
    const DType wanted = real_dtype(*given);
    if (promote(wanted, d) != wanted)
      reject(call,
             "dtype: " + std::string(dtype_name(wanted)) + " does not hold numbers of " + std::string(dtype_name(d)));
    d = wanted;
  }
  return reduced_type(call, d);
}

double norm_order(const Call& call) { return call.is_none(1) ? 2 : call.number(1); }

Node* norm_of(Builder& b, Node* x, double p, const Argument& dims, bool keepdim) {
  const auto sum = [&](Node* v) { return b.call("aten.sum.dim_IntList", {v, dims, keepdim}); };
  const auto abs = [&] { return b.call("aten.abs.default", {x}); };
  if (p == 2) return b.call("aten.sqrt.default", {sum(b.mul(x, x))});
  if (p == 1) return sum(abs());
  if (p == 0) return sum(b.cast(b.call("aten.ne.Scalar", {x, 0}), x->type.tensor.dtype));
  if (std::isinf(p)) return b.call(p > 0 ? "aten.amax.default" : "aten.amin.default", {abs(), dims, keepdim});
  return b.call("aten.pow.Tensor_Scalar", {sum(b.call("aten.pow.Tensor_Scalar", {abs(), p})), 1 / p});
}

std::vector<Node*> norm(Builder& b, const Call& c) {
  const DType result = norm_type(c).tensor.dtype;
  Node* x = b.cast(c.tensor(0), compute_dtype(result));
  return {b.cast(norm_of(b, x, norm_order(c), int_list(reduced_dim_list(c)), keeps_dims(c)), result)};
}

Rows norms() {
  Rows r;
  for (const char* schema :
       {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
        "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
        "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor"})
    r.push_back(made_of(schema, norm_type, nullptr, norm, NoGradient::Pending,
                        "(sum of |x|^p)^(1/p); p may be 0 and infinite"));
  return r;
}

}  // namespace

Rows statistics() {
  Rows rows = variances();
  append(rows, softmaxes());
  rows.push_back(made_of("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", logsumexp_type,
                         logsumexp_reference, logsumexp, gradient_of<[](Ctx c) {
                           return c.b.mul(spread(c.b, c.dy, c.call),
                                          c.b.call("aten.exp.default", {c.b.sub(c.x(), spread(c.b, c.y, c.call))}));
                         }>,
                         "log(sum(exp(x))) without overflow"));
  append(rows, norms());
  return rows;
}

}  // namespace strata::ops
