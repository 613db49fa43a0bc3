// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/complex_parts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "core/ir/complex_formulas.h"
#include "core/ir/ops/reductions.h"
#include "core/ir/program.h"
#include "core/support/error.h"

namespace strata {
namespace {

using namespace complex_formulas;  // NOLINT: the vocabulary of the rules

/// `aten.add` of `aten.add.Tensor`.
std::string_view base_of(std::string_view target) {
  const size_t first = target.find('.');
  return first == std::string_view::npos ? target : target.substr(0, target.find('.', first + 1));
}

// ---------------------------------------------------------------------------------------------------------------- one
// call

/// One call on complex numbers, and words for what rules say often.
class Split {
 public:
  using PartsOf = std::function<ComplexParts(const Node*)>;
  Split(Builder& builder, const Call& call, const PartsOf& parts_of) : b(builder), call(call), parts_of_(parts_of) {
    const Type* known = &call_node().type;
    for (const Node* operand : call_node().operands())
      if (!has_complex(*known) && has_complex(operand->type)) known = &operand->type;
    while (known->kind == Type::Kind::Tuple && !known->parts.empty()) known = &known->parts.front();
    part = real_dtype(known->tensor.dtype);
    if (call.op().promotion != Promotion::Default && call.op().promotion != Promotion::Compare) return;
    if (const DType compute = pointwise_compute_dtype(call); is_complex(compute)) part = real_dtype(compute);
  }

  Builder& b;
  const Call& call;
  DType part;  ///< element type of the parts

  const Node& call_node() const { return call.node(); }
  const std::vector<SymInt>& shape() const { return call_node().type.tensor.shape; }
  ComplexParts parts(const Node* operand) const { return parts_of_(operand); }

  Node* number(const Argument& value) const {
    return b.call("aten.full.default", {Argument::ints({}), value}, {{"dtype", part}});
  }
  /// Parameter `i`, tensor or number, as a complex number.
  ComplexParts value(size_t i) const {
    const Argument& a = call.arg(i);
    if (const auto* z = a.as<std::complex<double>>()) return {number(z->real()), number(z->imag())};
    if (!a.node() || !a.node()->type.is_tensor()) return {number(a), number(0.0)};
    const ComplexParts p = parts_of_(a.node());
    return {b.cast(p.real, part), p.imag ? b.cast(p.imag, part) : number(0.0)};
  }
  Node* operand(size_t i) const { return parts_of_(call.tensor(i)).real; }

  /// `target` with the operands of the call, but for the first.
  Node* with_first(const std::string& target, Node* first) const {
    std::vector<Argument> args = call_node().args;
    args.at(0) = first;
    return b.call(target, std::move(args), call_node().kwargs);
  }

  /// That of parameter `i`, where it is an element of the result; else the parameter.
  Argument part_of(size_t i, bool imaginary) const { return of(call.op().schema.params.at(i), call.arg(i), imaginary); }

  /// The real and the imaginary part of the call itself, on those of its operands.
  Node* each(bool imaginary) const {
    std::vector<Argument> args;
    std::vector<std::pair<std::string, Argument>> kwargs;
    const auto& params = call.op().schema.params;
    for (size_t i = 0; i < call_node().args.size(); ++i)
      args.push_back(of(params.at(i), call_node().args[i], imaginary));
    for (const auto& [name, a] : call_node().kwargs)
      kwargs.emplace_back(name, of(params.at(call.op().schema.index_of(name)), a, imaginary));
    return b.call(call.op().name, std::move(args), std::move(kwargs));
  }

 private:
  /// Parameters that are elements of the result, and not where they come from. A slice starts and ends at places.
  bool is_value(const Param& param) const {
    static const std::set<std::string_view> names = {"self",  "input",  "other",   "src",       "source",
                                                     "value", "values", "tensors", "fill_value"};
    if (param.name != "start" && param.name != "end") return names.contains(param.name);
    const std::string_view base = base_of(call.op().name);
    return base == "aten.linspace" || base == "aten.logspace";
  }
  Argument of(const Param& param, const Argument& a, bool imaginary) const {
    if (const auto* d = a.as<DType>()) return real_dtype(*d);
    if (const auto* list = a.as<ListArg>()) {
      ListArg copy{list->kind, {}};
      for (const Argument& item : list->items) copy.items.push_back(of(param, item, imaginary));
      return copy;
    }
    if (const auto* z = a.as<std::complex<double>>()) return imaginary ? z->imag() : z->real();
    if (const Node* node = a.node()) {
      const ComplexParts p = parts_of_(node);
      if (!node->type.is_tensor() || !is_value(param)) return imaginary && p.imag ? p.imag : p.real;
      if (!imaginary) return b.cast(p.real, part);
      return p.imag ? b.cast(p.imag, part) : zeros(node->tensor().shape);
    }
    const bool a_number = a.as<double>() || a.as<int64_t>() || a.as<bool>() || a.as<SymInt>();
    return imaginary && a_number && is_value(param) ? Argument(0.0) : a;
  }
  Node* zeros(const std::vector<SymInt>& shape) const {
    return b.call("aten.full.default", {Argument::ints(shape), 0.0}, {{"dtype", part}});
  }

  const PartsOf& parts_of_;
};

// --------------------------------------------------------------------------------------------------------------- rules

using Results = std::vector<ComplexParts>;
using Rule = Results (*)(const Split&);

Results each_part(const Split& s) { return {{s.each(false), s.each(true)}}; }
template <ComplexParts (*F)(Builder&, const ComplexParts&)>
Results of_one(const Split& s) {
  return {F(s.b, s.value(0))};
}
template <ComplexParts (*F)(Builder&, const ComplexParts&, const ComplexParts&)>
Results of_two(const Split& s) {
  return {F(s.b, s.value(0), s.value(1))};
}

/// With `alpha`, a factor of the second.
Results sum_of_two(const Split& s, bool minus) {
  const size_t alpha = s.call.op().schema.index_of("alpha");
  const ComplexParts x = s.value(0);
  ComplexParts y = s.value(1);
  std::vector<std::pair<std::string, Argument>> factor{{"alpha", s.call.arg(alpha)}};
  if (s.call.arg(alpha).as<std::complex<double>>()) {
    y = times(s.b, y, s.value(alpha));
    factor.clear();
  }
  const char* target = minus ? "aten.sub.Tensor" : "aten.add.Tensor";
  Node* real = s.b.call(target, {x.real, y.real}, factor);
  return {{real, s.b.call(target, {x.imag, y.imag}, factor)}};
}
Results add(const Split& s) { return sum_of_two(s, false); }
Results sub(const Split& s) { return sum_of_two(s, true); }

Results silu(const Split& s) {
  const ComplexParts x = s.value(0);
  return {times(s.b, x, logistic(s.b, x))};
}

/// Like `each_part`, but before it decomposes: what it decomposes into holds for real numbers.
Results evenly(const Split& s) { return {{s.each(false), s.each(true)}}; }
/// A real base to the power of numbers that lie evenly.
Results evenly_in_powers(const Split& s) {
  const auto exponents = [&](bool imaginary) {
    std::string target = s.call.op().name;  // with the same kinds of ends
    target.replace(target.find("logspace"), 8, "linspace");
    return s.b.call(target, {s.part_of(0, imaginary), s.part_of(1, imaginary), s.call.arg(2)}, {{"dtype", s.part}});
  };
  const double base = s.call.is_none(3) ? 10 : s.call.number(3);
  return {power(s.b, {s.number(base), s.number(0.0)}, {exponents(false), exponents(true)})};
}

Results absolute(const Split& s) { return {{magnitude(s.b, s.value(0)), nullptr}}; }
Results angle(const Split& s) { return {{complex_formulas::angle(s.b, s.value(0)), nullptr}}; }
Results sign(const Split& s) {
  const ComplexParts x = s.value(0);
  Node* size = magnitude(s.b, x);
  Node* none = s.b.call("aten.eq.Scalar", {size, 0});
  const auto part = [&](Node* v) { return s.b.call("aten.where.self", {none, s.number(0.0), s.b.div(v, size)}); };
  return {{part(x.real), part(x.imag)}};
}
Results raise(const Split& s) {
  const ComplexParts x = s.value(0);
  const Argument& exponent = s.call.arg(1);
  const bool square = (exponent.as<int64_t>() && *exponent.as<int64_t>() == 2) ||
                      (exponent.as<double>() && *exponent.as<double>() == 2);
  return {square ? times(s.b, x, x) : power(s.b, x, s.value(1))};
}

/// A condition of both parts, or of either.
Results condition(const Split& s, const char* of_part, const char* joined) {
  const ComplexParts x = s.value(0);
  return {{s.b.call(joined, {unary(s.b, of_part, x.real), unary(s.b, of_part, x.imag)}), nullptr}};
}
constexpr const char *kBoth = "aten.logical_and.default", *kEither = "aten.logical_or.default";
Results is_nan(const Split& s) { return condition(s, "isnan", kEither); }
Results is_infinite(const Split& s) { return condition(s, "isinf", kEither); }
Results is_finite(const Split& s) {
  const ComplexParts x = s.value(0);
  const auto finite = [&](Node* v) { return s.b.call("aten.lt.Scalar", {unary(s.b, "abs", v), HUGE_VAL}); };
  return {{s.b.call(kBoth, {finite(x.real), finite(x.imag)}), nullptr}};
}
Results compare(const Split& s, const char* of_part, const char* joined) {
  const ComplexParts x = s.value(0), y = s.value(1);
  return {{s.b.call(joined, {s.b.call(of_part, {x.real, y.real}), s.b.call(of_part, {x.imag, y.imag})}), nullptr}};
}
Results equal(const Split& s) { return compare(s, "aten.eq.Tensor", kBoth); }
Results unequal(const Split& s) { return compare(s, "aten.ne.Tensor", kEither); }
Node* is_true(const Split& s, const ComplexParts& x) {
  return s.b.call(kEither, {s.b.call("aten.ne.Scalar", {x.real, 0}), s.b.call("aten.ne.Scalar", {x.imag, 0})});
}
Results logical_not(const Split& s) { return {{unary(s.b, "logical_not", is_true(s, s.value(0))), nullptr}}; }

Results truths_of_two(const Split& s) {
  Node *x = is_true(s, s.value(0)), *y = is_true(s, s.value(1));
  return {{s.b.call(s.call.op().name, {x, y}), nullptr}};
}

/// Of elements or along dimensions.
Results truths(const Split& s) { return {{s.with_first(s.call.op().name, is_true(s, s.value(0))), nullptr}}; }

/// To complex numbers, or to real ones, which drops what is imaginary.
Results convert(const Split& s) {
  const DType to = s.call_node().type.tensor.dtype;
  const ComplexParts x = s.parts(s.call.tensor(0));
  if (to == DType::Bool) return {{is_true(s, x), nullptr}};
  if (!is_complex(to)) return {{s.b.cast(x.real, to), nullptr}};
  Node* none = s.b.call("aten.full.default", {Argument::ints(s.shape()), 0.0}, {{"dtype", s.part}});
  return {{s.b.cast(x.real, s.part), x.imag ? s.b.cast(x.imag, s.part) : none}};
}

Results make(const Split& s) { return {{s.operand(0), s.operand(1)}}; }
Results from_polar(const Split& s) {
  Node *size = s.operand(0), *angle = s.operand(1);
  return {{s.b.mul(size, unary(s.b, "cos", angle)), s.b.mul(size, unary(s.b, "sin", angle))}};
}
Results as_pairs(const Split& s) { return {{interleaved(s.b, s.value(0)), nullptr}}; }
Results from_pairs(const Split& s) { return {parts_of_pairs(s.b, s.operand(0))}; }
Results real(const Split& s) { return {{s.value(0).real, nullptr}}; }
Results imaginary(const Split& s) { return {{s.value(0).imag, nullptr}}; }
Results itself(const Split& s) { return {s.value(0)}; }
Results conjugate(const Split& s) {
  const ComplexParts x = s.value(0);
  return {{x.real, s.b.neg(x.imag)}};
}
Results conjugate_transposed(const Split& s) {
  const ComplexParts x = s.value(0);
  if (x.real->tensor().shape.empty()) return conjugate(s);
  return {{s.b.transpose(x.real, -2, -1), s.b.neg(s.b.transpose(x.imag, -2, -1))}};
}
Results size(const Split& s) { return {{s.with_first(s.call.op().name, s.operand(0)), nullptr}}; }
Results is_real(const Split& s) { return {{s.b.call("aten.eq.Scalar", {s.value(0).imag, 0}), nullptr}}; }

/// A product of sums: four real ones.
ComplexParts matrix_product(const Split& s, const char* target, size_t i, size_t j) {
  const ComplexParts x = s.value(i), y = s.value(j);
  const auto product = [&](Node* a, Node* b) { return s.b.call(target, {a, b}); };
  return {s.b.sub(product(x.real, y.real), product(x.imag, y.imag)),
          s.b.add(product(x.real, y.imag), product(x.imag, y.real))};
}
Results product(const Split& s) { return {matrix_product(s, s.call.op().name.c_str(), 0, 1)}; }
/// Along a dimension.
Results conjugate_products(const Split& s, int64_t dim) {
  const ComplexParts x = s.value(0), y = s.value(1);
  const auto dot = [&](Node* a, Node* b) { return s.b.sum(s.b.mul(a, b), {dim}, false); };
  return {{s.b.add(dot(x.real, y.real), dot(x.imag, y.imag)), s.b.sub(dot(x.real, y.imag), dot(x.imag, y.real))}};
}
Results vdot(const Split& s) { return conjugate_products(s, 0); }
Results vecdot(const Split& s) { return conjugate_products(s, s.call.constant(2)); }
/// Four real ones; the bias is added once.
Results convolution(const Split& s) {
  const ComplexParts x = s.value(0), w = s.value(1);
  const auto one = [&](Node* a, Node* b, Node* bias) {
    std::vector<Argument> args = s.call_node().args;
    args.at(0) = a;
    args.at(1) = b;
    args.at(2) = bias ? Argument(bias) : Argument();
    return s.b.call(s.call.op().name, std::move(args));
  };
  const ComplexParts bias = s.call.is_none(2) ? ComplexParts{} : s.value(2);
  Node* real = s.b.sub(one(x.real, w.real, bias.real), one(x.imag, w.imag, nullptr));
  return {{real, s.b.add(one(x.real, w.imag, bias.imag), one(x.imag, w.real, nullptr))}};
}
/// From the nearer end, as PyTorch does.
Results between(const Split& s) {
  const ComplexParts x = s.value(0), y = s.value(1), w = s.value(2);
  const ComplexParts way{s.b.sub(y.real, x.real), s.b.sub(y.imag, x.imag)};
  const ComplexParts on = times(s.b, w, way);
  const ComplexParts back = times(s.b, way, {s.b.sub(s.number(1.0), w.real), s.b.neg(w.imag)});
  Node* near = s.b.call("aten.lt.Scalar", {magnitude(s.b, w), 0.5});
  const auto part = [&](Node* x, Node* on, Node* y, Node* back) {
    return s.b.call("aten.where.self", {near, s.b.add(x, on), s.b.sub(y, back)});
  };
  return {{part(x.real, on.real, y.real, back.real), part(x.imag, on.imag, y.imag, back.imag)}};
}

/// The mean square of the distance from the mean: the variances of the parts, together.
Node* variance_of(const Split& s) {
  const std::string& own = s.call.op().name;
  const std::string name = "aten.var" + own.substr(base_of(own).size());  // the same overload
  const ComplexParts x = s.value(0);
  Node* real = s.with_first(name, x.real);
  return s.b.add(real, s.with_first(name, x.imag));
}
ComplexParts mean_of(const Split& s) {
  const ComplexParts x = s.value(0);
  const Argument dims = ops::int_list(ops::reduced_dim_list(s.call));
  const bool keep = ops::keeps_dims(s.call);
  Node* real = s.b.call("aten.mean.dim", {x.real, dims, keep});
  return {real, s.b.call("aten.mean.dim", {x.imag, dims, keep})};
}
Results variance(const Split& s) { return {{variance_of(s), nullptr}}; }
Results deviation(const Split& s) { return {{unary(s.b, "sqrt", variance_of(s)), nullptr}}; }
Results variance_and_mean(const Split& s) { return {{variance_of(s), nullptr}, mean_of(s)}; }
Results deviation_and_mean(const Split& s) { return {{unary(s.b, "sqrt", variance_of(s)), nullptr}, mean_of(s)}; }

Results add_product(const Split& s) {
  const char* target = s.call_node().is("aten.addmm.default") ? "aten.mm.default" : "aten.bmm.default";
  const auto scaled = [&](const ComplexParts& x, const char* name) -> ComplexParts {
    const size_t i = s.call.op().schema.index_of(name);
    if (s.call.arg(i).as<std::complex<double>>()) return times(s.b, x, s.value(i));
    if (s.call.number(i) == 1) return x;
    Node* real = s.b.mul(x.real, s.call.arg(i));
    return {real, s.b.mul(x.imag, s.call.arg(i))};
  };
  const ComplexParts product = scaled(matrix_product(s, target, 1, 2), "alpha");
  const Argument& beta = s.call.arg("beta");
  // A factor of 0 drops the first, whatever it holds.
  const auto* factor = beta.as<std::complex<double>>();
  if (factor ? *factor == 0.0 : s.call.number(s.call.op().schema.index_of("beta")) == 0) return {product};
  const ComplexParts first = scaled(s.value(0), "beta");
  Node* real = s.b.add(first.real, product.real);
  return {{real, s.b.add(first.imag, product.imag)}};
}

/// Of the magnitudes; squares need no root in between.
Results vector_norm(const Split& s) {
  const ComplexParts x = s.value(0);
  const double order = s.call.is_none(1) ? 2 : s.call.number(1);
  const Argument dims = ops::int_list(ops::reduced_dim_list(s.call));
  const bool keep = ops::keeps_dims(s.call);
  const auto sum = [&](Node* v) { return s.b.call("aten.sum.dim_IntList", {v, dims, keep}); };
  const DType result = s.call_node().type.tensor.dtype;
  Node* norm = nullptr;
  if (order == 2)
    norm = unary(s.b, "sqrt", sum(s.b.add(s.b.mul(x.real, x.real), s.b.mul(x.imag, x.imag))));
  else if (order == 1)
    norm = sum(magnitude(s.b, x));
  else if (std::isinf(order))
    norm = s.b.call(order > 0 ? "aten.amax.default" : "aten.amin.default", {magnitude(s.b, x), dims, keep});
  else if (order == 0)
    norm = sum(s.b.cast(s.b.call("aten.ne.Scalar", {magnitude(s.b, x), 0}), result));
  else
    norm = s.b.call("aten.pow.Tensor_Scalar",
                    {sum(s.b.call("aten.pow.Tensor_Scalar", {magnitude(s.b, x), order})), 1 / order});
  return {{s.b.cast(norm, result), nullptr}};
}

// ------------------------------------------------------------------------------------------------------------- Fourier

/// Normalization as PyTorch numbers it: nothing, the root of the number of elements, that number.
Argument count_of(const std::vector<SymInt>& shape, const std::vector<int64_t>& dims) {
  SymInt n = 1;
  for (const int64_t d : dims) n = n * shape[static_cast<size_t>(d)];
  return n.is_const() ? Argument(n.value()) : Argument(n);
}
std::vector<int64_t> axes_of(const Split& s) {
  std::vector<int64_t> dims;
  const size_t rank = s.call.type(0).shape.size();
  for (const int64_t d : s.call.constants(1))
    dims.push_back(static_cast<int64_t>(normalize_dim(d, rank, s.call_node())));
  return dims;
}
/// Along one dimension after the other; the last of them normalises all.
ComplexParts transformed(const Split& s, ComplexParts x, const std::vector<int64_t>& dims, bool forward,
                         const Argument& normalization, const Argument& count) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool last = i + 1 == dims.size();
    Node* both = s.b.call("strata.fft_c2c.default",
                          {x.real, x.imag, dims[i], forward, last ? normalization : Argument(0), count});
    x = {s.b.getitem(both, 0), s.b.getitem(both, 1)};
  }
  return x;
}
Results fourier(const Split& s) {
  const std::vector<int64_t> dims = axes_of(s);
  return {transformed(s, s.value(0), dims, s.call.boolean(3), s.call.arg(2), count_of(s.call.type(0).shape, dims))};
}
Results fourier_of_real(const Split& s) {
  std::vector<int64_t> dims = axes_of(s);
  const Argument count = count_of(s.call.type(0).shape, dims);
  const int64_t last = dims.back();
  dims.pop_back();
  Node* both = s.b.call("strata.fft_r2c.default",
                        {s.operand(0), last, dims.empty() ? s.call.arg(2) : Argument(0), count, s.call.arg(3)});
  return {transformed(s, {s.b.getitem(both, 0), s.b.getitem(both, 1)}, dims, true, s.call.arg(2), count)};
}
Results fourier_to_real(const Split& s) {
  std::vector<int64_t> dims = axes_of(s);
  const Argument count = count_of(s.shape(), dims);
  const int64_t last = dims.back();
  dims.pop_back();
  const ComplexParts x = transformed(s, s.value(0), dims, false, Argument(0), count);
  return {{s.b.call("strata.fft_c2r.default", {x.real, x.imag, last, s.call.arg(2), count, s.call.arg(3)}), nullptr}};
}

// --------------------------------------------------------------------------------------------------------------- table

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = [] {
    std::unordered_map<std::string_view, Rule> t = {
        {"aten.add", add},
        {"aten.sub", sub},
        {"aten.mul", of_two<times>},
        {"aten.div", of_two<quotient>},
        {"aten.neg", of_one<negative>},
        {"aten.reciprocal", of_one<inverse>},
        {"aten.abs", absolute},
        {"aten.angle", angle},
        {"aten.sgn", sign},
        {"aten.exp", of_one<exponential>},
        {"aten.exp2", of_one<exponential_2>},
        {"aten.expm1", of_one<exponential_less_1>},
        {"aten.log", of_one<logarithm>},
        {"aten.log2", of_one<logarithm_2>},
        {"aten.log10", of_one<logarithm_10>},
        {"aten.sqrt", of_one<square_root>},
        {"aten.rsqrt", of_one<inverse_root>},
        {"aten.sigmoid", of_one<logistic>},
        {"aten.silu", silu},
        {"aten.sinh", of_one<hyperbolic_sine>},
        {"aten.cosh", of_one<hyperbolic_cosine>},
        {"aten.tanh", of_one<hyperbolic_tangent>},
        {"aten.sin", of_one<sine>},
        {"aten.cos", of_one<cosine>},
        {"aten.tan", of_one<tangent>},
        {"aten.pow", raise},
        {"aten.eq", equal},
        {"aten.ne", unequal},
        {"aten.isnan", is_nan},
        {"aten.isinf", is_infinite},
        {"aten.isfinite", is_finite},
        {"aten.logical_not", logical_not},
        {"aten.logical_and", truths_of_two},
        {"aten.logical_or", truths_of_two},
        {"aten.logical_xor", truths_of_two},
        {"aten.any", truths},
        {"aten.all", truths},
        {"aten.count_nonzero", truths},
        {"aten.linspace", evenly},
        {"aten.logspace", evenly_in_powers},
        {"aten._to_copy", convert},
        {"aten.complex", make},
        {"aten.polar", from_polar},
        {"aten.view_as_real", as_pairs},
        {"aten.view_as_complex", from_pairs},
        {"aten.real", real},
        {"aten.imag", imaginary},
        {"aten.isreal", is_real},
        {"aten.sym_size", size},
        {"aten.sym_numel", size},
        {"aten.resolve_conj", itself},
        {"aten.resolve_neg", itself},
        {"aten.conj", conjugate},
        {"aten._conj", conjugate},
        {"aten.conj_physical", conjugate},
        {"aten._conj_physical", conjugate},
        {"aten.adjoint", conjugate_transposed},
        {"aten.mH", conjugate_transposed},
        {"aten.matrix_H", conjugate_transposed},
        {"aten.mm", product},
        {"aten.bmm", product},
        {"aten.vdot", vdot},
        {"aten.addmm", add_product},
        {"aten.baddbmm", add_product},
        {"aten.linalg_vecdot", vecdot},
        {"aten.convolution", convolution},
        {"aten.lerp", between},
        {"aten.var", variance},
        {"aten.std", deviation},
        {"aten.var_mean", variance_and_mean},
        {"aten.std_mean", deviation_and_mean},
        {"aten.linalg_vector_norm", vector_norm},
        {"aten._fft_c2c", fourier},
        {"aten._fft_r2c", fourier_of_real},
        {"aten._fft_c2r", fourier_to_real},
    };
    for (const char* name : {"aten.cat",
                             "aten.clone",
                             "aten.index",
                             "aten.index_select",
                             "aten.gather",
                             "aten.embedding",
                             "aten.index_put",
                             "aten.scatter",
                             "aten.scatter_add",
                             "aten.slice_scatter",
                             "aten.select_scatter",
                             "aten.diagonal_scatter",
                             "aten.index_add",
                             "aten.index_copy",
                             "aten.where",
                             "aten.masked_fill",
                             "aten.constant_pad_nd",
                             "aten.tril",
                             "aten.triu",
                             "aten.sum",
                             "aten.cumsum",
                             "aten.full",
                             "aten.full_like",
                             "aten.new_full",
                             "aten.zeros",
                             "aten.zeros_like",
                             "aten.new_zeros",
                             "aten.empty",
                             "aten.empty_like",
                             "aten.new_empty",
                             "aten.empty_strided",
                             "aten.empty_permuted",
                             "aten.fill",
                             "aten.unbind",
                             "strata.masked_select_fill",
                             "_operator.getitem"})
      t.emplace(name, each_part);
    return t;
  }();
  return table;
}

/// Compounds that are made of nothing but the operators above, whatever their elements are.
const std::set<std::string_view>& decomposed_for_complex() {
  static const std::set<std::string_view> names = {"aten.to",
                                                   "aten.type_as",
                                                   "prims.convert_element_type",
                                                   "aten.contiguous",
                                                   "aten.lift_fresh_copy",
                                                   "aten.square",
                                                   "aten.rsub",
                                                   "aten.mean",
                                                   "aten.ones",
                                                   "aten.ones_like",
                                                   "aten.new_ones",
                                                   "aten.scalar_tensor",
                                                   "aten.stack",
                                                   "aten.hstack",
                                                   "aten.vstack",
                                                   "aten.dstack",
                                                   "aten.column_stack",
                                                   "aten.roll",
                                                   "aten.tile",
                                                   "aten.repeat",
                                                   "aten.expand_as",
                                                   "aten.view_as",
                                                   "aten.reshape_as",
                                                   "aten.broadcast_to",
                                                   "aten.matmul",
                                                   "aten.linear",
                                                   "aten.einsum",
                                                   "aten.outer",
                                                   "aten.ger",
                                                   "aten.inner",
                                                   "aten.tensordot",
                                                   "aten.kron",
                                                   "aten.addcmul",
                                                   "aten.addcdiv",
                                                   "aten.chunk",
                                                   "aten.split",
                                                   "aten.split_with_sizes",
                                                   "aten.tensor_split",
                                                   "aten.hsplit",
                                                   "aten.vsplit",
                                                   "aten.dsplit",
                                                   "aten.unsafe_chunk",
                                                   "aten.unsafe_split",
                                                   "aten.ravel",
                                                   "aten.flatten",
                                                   "aten.swapaxes",
                                                   "aten.swapdims",
                                                   "aten.moveaxis",
                                                   "aten.concat",
                                                   "aten.concatenate",
                                                   "aten.row_stack",
                                                   "aten.multiply",
                                                   "aten.subtract",
                                                   "aten.divide",
                                                   "aten.true_divide",
                                                   "aten.negative",
                                                   "aten.absolute",
                                                   "aten.diag",
                                                   "aten.diagflat",
                                                   "aten.diag_embed",
                                                   "aten.trace",
                                                   "aten.rot90",
                                                   "aten.fliplr",
                                                   "aten.flipud",
                                                   "aten.block_diag",
                                                   "aten.meshgrid",
                                                   "aten.broadcast_tensors",
                                                   "aten.atleast_1d",
                                                   "aten.atleast_2d",
                                                   "aten.atleast_3d",
                                                   "aten.diff",
                                                   "aten.positive",
                                                   "aten.dropout",
                                                   "aten.repeat_interleave",
                                                   "aten.unflatten",
                                                   "aten.copy",
                                                   "aten.select_copy",
                                                   "aten.slice_copy",
                                                   "aten.view_copy",
                                                   "aten.narrow_copy",
                                                   "aten.zero",
                                                   "aten.addmv",
                                                   "aten.mv",
                                                   "aten.dot",
                                                   "aten.addbmm",
                                                   "aten.addr",
                                                   "aten.linalg_multi_dot",
                                                   "aten.chain_matmul",
                                                   "aten.trapezoid",
                                                   "aten.trapz",
                                                   "aten.take_along_dim",
                                                   "aten.take",
                                                   "aten.masked_scatter",
                                                   "aten._unsafe_masked_index",
                                                   "aten.expand_copy",
                                                   "aten.permute_copy",
                                                   "aten.transpose_copy",
                                                   "aten.unsqueeze_copy",
                                                   "aten.squeeze_copy",
                                                   "aten.alias_copy",
                                                   "aten.detach_copy",
                                                   "aten.t_copy",
                                                   "aten.pad",
                                                   "aten.scatter",
                                                   "aten.narrow",
                                                   "aten.mT",
                                                   "aten.pixel_shuffle",
                                                   "aten.pixel_unshuffle",
                                                   "aten.channel_shuffle",
                                                   "aten.unbind_copy",
                                                   "aten.unfold_copy",
                                                   "aten.diagonal_copy",
                                                   "aten.split_with_sizes_copy",
                                                   "aten.sum_to_size",
                                                   "aten.masked_select",
                                                   "aten.put",
                                                   "aten.linalg_diagonal",
                                                   "aten.cartesian_prod",
                                                   "aten.linalg_norm",
                                                   "aten.linalg_matrix_norm",
                                                   "aten.renorm",
                                                   "aten.pairwise_distance",
                                                   "aten.isclose",
                                                   "aten.ldexp",
                                                   "aten.index_fill",
                                                   "aten.cross",
                                                   "aten.linalg_cross",
                                                   "aten.linalg_matrix_power",
                                                   "aten.linalg_vander",
                                                   "aten._unsafe_masked_index_put_accumulate",
                                                   "aten.cumulative_trapezoid",
                                                   "aten.l1_loss",
                                                   "aten.dist",
                                                   "aten.im2col",
                                                   "aten.eye",
                                                   "aten.conv1d",
                                                   "aten.conv2d",
                                                   "aten.conv3d",
                                                   "aten.conv_transpose1d",
                                                   "aten.conv_transpose2d",
                                                   "aten.conv_transpose3d",

                                                   "aten.fft_fft",
                                                   "aten.fft_ifft",
                                                   "aten.fft_rfft",
                                                   "aten.fft_irfft",
                                                   "aten.fft_hfft",
                                                   "aten.fft_ihfft",
                                                   "aten.fft_fft2",
                                                   "aten.fft_ifft2",
                                                   "aten.fft_rfft2",
                                                   "aten.fft_irfft2",
                                                   "aten.fft_fftn",
                                                   "aten.fft_ifftn",
                                                   "aten.fft_rfftn",
                                                   "aten.fft_irfftn",
                                                   "aten.fft_hfft2",
                                                   "aten.fft_ihfft2",
                                                   "aten.fft_hfftn",
                                                   "aten.fft_ihfftn",
                                                   "aten.fft_fftshift",
                                                   "aten.fft_ifftshift",
                                                   "aten.istft",
                                                   "aten.stft"};
  return names;
}

}  // namespace

bool has_complex(const Type& type) {
  if (type.is_tensor()) return is_complex(type.tensor.dtype);
  return std::any_of(type.parts.begin(), type.parts.end(), has_complex);
}

bool touches_complex(const Node& node) {
  if (has_complex(node.type)) return true;
  const auto operands = node.operands();
  return std::any_of(operands.begin(), operands.end(), [](const Node* n) { return has_complex(n->type); });
}

ComplexSupport complex_support(const OpDef& op) {
  if (op.op_class == OpClass::Mutation) {
    const OpDef* functional = op.functional_name.empty() ? nullptr : find_op(op.functional_name);
    if (functional) return complex_support(*functional);
    return op.name == "aten.copy_.default" ? ComplexSupport::Parts : ComplexSupport::None;
  }
  const std::string_view base = base_of(op.name);
  const auto rule = rules().find(base);
  const bool moves = rule == rules().end() ? op.op_class == OpClass::View : rule->second == each_part;
  if (op.decompose && (moves || decomposed_for_complex().contains(base))) return ComplexSupport::Decomposes;
  if (moves) return ComplexSupport::Parts;
  return rule == rules().end() ? ComplexSupport::None : ComplexSupport::Parts;
}

std::vector<std::string_view> names_with_complex_rules() {
  std::vector<std::string_view> names(decomposed_for_complex().begin(), decomposed_for_complex().end());
  for (const auto& [name, rule] : rules()) names.push_back(name);
  return names;
}

void require_complex_support(const Node& node) {
  if (node.kind != NodeKind::Call || !node.op || complex_support(*node.op) != ComplexSupport::None) return;
  const SourceLocation* at = user_line(node.meta.source);
  throw_user("'" + node.name + "' (" + node.target + ") on complex numbers is not supported" +
                 (at ? ", at " + at->file + ":" + std::to_string(at->line) : ""),
             "compute with the parts, torch.view_as_real(x)");
}

std::vector<ComplexParts> split_complex(Builder& builder, const Call& call,
                                        const std::function<ComplexParts(const Node*)>& parts_of) {
  const auto rule = rules().find(base_of(call.op().name));
  if (rule == rules().end() && call.op().op_class != OpClass::View)
    throw_internal(call.op().name + " has no rule for complex numbers");
  const Split split(builder, call, parts_of);
  Results results = rule == rules().end() ? each_part(split) : rule->second(split);
  const Type& type = call.node().type;
  if (type.is_tensor())  // numbers among the operands are smaller than the result
    for (Node** part : {&results.at(0).real, &results.at(0).imag})
      if (*part) *part = builder.expand(*part, type.tensor.shape);
  return results;
}

Node* interleaved(Builder& b, const ComplexParts& parts) {
  return b.call("aten.cat.default", {Argument::list({b.unsqueeze(parts.real, -1), b.unsqueeze(parts.imag, -1)}), -1});
}

ComplexParts parts_of_pairs(Builder& b, Node* pairs) {
  return {b.call("aten.select.int", {pairs, -1, 0}), b.call("aten.select.int", {pairs, -1, 1})};
}

TensorType pairs_type(const TensorType& type) {
  TensorType pairs = type;
  pairs.dtype = real_dtype(type.dtype);
  pairs.shape.emplace_back(2);
  if (pairs.strides) {
    for (SymInt& stride : *pairs.strides) stride = stride * SymInt(2);
    pairs.strides->emplace_back(1);
  }
  return pairs;
}

}  // namespace strata
