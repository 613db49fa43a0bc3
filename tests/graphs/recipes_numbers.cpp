// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Element by element where operands must keep to a range, and conversions.

#include <limits>

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

/// An operand for division: integers are never divided by zero.
Node* divisor(G& g, const Node* x) {
  const Shape shape = g.smaller_shape(shape_of(x));
  const bool integers = !is_floating(dtype_of(x));
  const DType dtype = integers && g.chance(70) ? (dtype_of(x) == DType::Bool ? DType::I32 : dtype_of(x))
                      : integers               ? g.integer_dtype()
                                               : dtype_of(x);
  return integers ? g.input(dtype, shape, {Domain::Kind::NonZero, 0, 0}) : g.of(dtype, shape);
}

Node* divided(G& g, const OpDef& row) {
  const std::string_view name = name_of(row);
  if (name == "aten.remainder.Scalar_Tensor") {
    Node* x = g.number();
    return g.call(row, {g.scalar(dtype_of(x)), divisor(g, x)});
  }
  Node* x = g.number();
  const bool number = row.schema.params[1].type == "Scalar";
  std::vector<Argument> args{x, number ? g.scalar(dtype_of(x), is_floating(dtype_of(x))) : Argument(divisor(g, x))};
  if (!has_name(name, {"_mode"})) return g.call(row, std::move(args));
  const size_t mode = g.below(3);
  return g.call(row, std::move(args), {{"rounding_mode", mode == 0 ? Argument() : mode == 1 ? "floor" : "trunc"}});
}

Node* raised(G& g, const OpDef& row) {
  const std::string_view name = name_of(row);
  Node* x = g.number();
  const bool integers = !is_floating(dtype_of(x));
  if (name == "aten.pow.Tensor_Scalar")
    return g.call(row, {x, integers ? Argument(g.between(0, 4))
                                    : g.pick({Argument(2), Argument(3), Argument(-1), Argument(0.5), Argument(-0.5),
                                              Argument(1.7), Argument(0)})});
  if (name == "aten.pow.Scalar")
    return g.call(
        row, {g.scalar(dtype_of(x)), integers ? g.input(dtype_of(x), shape_of(x), {Domain::Kind::Small, 0, 0}) : x});
  const Shape shape = g.smaller_shape(shape_of(x));
  return g.call(row,
                {x, integers ? g.input(dtype_of(x), shape, {Domain::Kind::Small, 0, 0}) : g.of(dtype_of(x), shape)});
}

Node* shifted(G& g, const OpDef& row) {
  Node* x = g.integral();
  const auto bits = static_cast<int64_t>(8 * dtype_size(dtype_of(x)));
  return g.call(row, {x, g.input(dtype_of(x), g.smaller_shape(shape_of(x)), {Domain::Kind::Index, 0, bits + 3})});
}

/// Of NaN and of what does not fit there is no integer.
Node* converted(G& g, const OpDef& row) {
  Node* x = g.value();
  const DType to = g.any_dtype();
  if (is_floating(dtype_of(x)) && is_integral(to)) {
    x = g.tame(x);
    if (!is_signed_integral(to)) x = g.call("aten.abs.default", {x});
  }
  const std::string& name = row.name;
  if (name == "aten.to.dtype") return g.call(row, {x, to, false, g.chance(30)});
  if (name == "aten.to.device") return g.call(row, {x, DeviceArg{"cpu"}, to});
  if (name == "aten.to.other") return g.call(row, {x, g.of(to, g.random_shape(0, 1))});
  if (name == "aten.type_as.default") return g.call(row, {x, g.of(to, g.random_shape(0, 1))});
  return g.call(row, {x}, {{"dtype", to}});
}

Node* copied(G& g, const OpDef& row) {
  Node* x = g.value();
  if (row.schema.params.size() < 2 || g.chance(50)) return g.call(row, {x});
  return g.call(row, {x}, {{"memory_format", EnumArg{"torch.contiguous_format"}}});
}

Node* chosen(G& g, const OpDef& row) {
  const auto& p = row.schema.params;
  Node* x = g.value();
  Node* condition = g.of(DType::Bool, g.smaller_shape(shape_of(x)));
  const DType d = dtype_of(x);
  const Argument a = p[1].type == "Scalar" ? g.scalar(d) : Argument(x);
  const Argument b = p[2].type == "Scalar" ? g.scalar(d) : Argument(p[1].type == "Scalar" ? x : g.broadcastable(x));
  return g.call(row, {condition, a, b});
}

Node* polynomial(G& g, const OpDef& row) {
  Node* x = g.floating();
  const auto& p = row.schema.params;
  const Shape shape = g.smaller_shape(shape_of(x));
  const Argument degree =
      p[1].type == "Scalar"
          ? Argument(g.between(0, 5))
          : Argument(g.call("aten._to_copy.default", {g.input(DType::I64, shape, {Domain::Kind::Small, 0, 0})},
                            {{"dtype", dtype_of(x)}}));
  return g.call(row, {p[0].type == "Scalar" ? Argument(0.5) : Argument(x), degree});
}

Node* polygamma(G& g, const OpDef& row) { return g.call(row, {g.between(0, 3), g.floating()}); }

Node* multigamma(G& g, const OpDef& row) {
  return g.call(row, {g.call("aten.add.Scalar",
                             {g.input(g.floating_dtype(), g.random_shape(0, 3), {Domain::Kind::Positive, 0, 0}), 2}),
                      g.between(1, 3)});
}

Node* one_dim_product(G& g, const OpDef& row) {
  Node* x = g.value(1);
  std::vector<std::pair<std::string, Argument>> kwargs;
  if (g.chance(20)) kwargs.emplace_back("dtype", is_floating(dtype_of(x)) ? g.floating_dtype() : g.any_dtype());
  if (row.schema.params[1].name != "dim") return g.call(row, {x}, std::move(kwargs));
  return g.call(row, {x, g.dim(x)}, std::move(kwargs));
}

Node* counted(G& g, const OpDef& row) {
  Node* x = g.value();
  return g.call(row, {x, G::ints(g.dims(x))});
}

Node* extrema(G& g, const OpDef& row) {
  Node* x = g.value();
  std::vector<std::pair<std::string, Argument>> kwargs;
  if (g.chance(60)) kwargs.emplace_back("dim", g.dim(x));
  return g.call(row, {x}, std::move(kwargs));
}

Node* normed(G& g, const OpDef& row) {
  Node* x = g.floating();
  std::vector<Argument> args{x, g.pick({Argument(2), Argument(1), Argument(0), Argument(3.0),
                                        Argument(std::numeric_limits<double>::infinity()),
                                        Argument(-std::numeric_limits<double>::infinity())})};
  if (row.schema.params.size() > 2) args.push_back(G::ints(g.dims(x)));
  if (row.schema.params.size() > 3) args.emplace_back(g.chance(50));
  return g.call(row, std::move(args));
}

Node* logit(G& g, const OpDef& row) { return g.call(row, {g.floating(), g.chance(50) ? Argument() : Argument(1e-3)}); }

Node* histogram(G& g, const OpDef& row) {
  Node* x = g.input(g.chance(70) ? DType::F32 : DType::F64, g.random_shape(0, 3), {Domain::Kind::Tame, 0, 0});
  const DType d = dtype_of(x);
  const int64_t bins = g.between(1, 6);
  if (row.name == "aten.histc.default")
    return g.chance(30) ? g.call(row, {x, bins}) : g.call(row, {x, bins, -2, g.between(-1, 3)});
  std::vector<std::pair<std::string, Argument>> kwargs;
  if (g.chance(30)) kwargs.emplace_back("weight", g.of(d, shape_of(x)));
  if (g.chance(30)) kwargs.emplace_back("density", true);
  if (row.name == "aten.histogram.bins_tensor")
    return g.call(row, {x, g.call("aten.arange.start", {-3, g.between(-1, 4)}, {{"dtype", d}})}, std::move(kwargs));
  if (g.chance(60)) kwargs.emplace_back("range", Argument::list({-2.0, 2.5}));
  return g.call(row, {x, bins}, std::move(kwargs));
}

Node* integers(G& g, const OpDef& row) {
  Node* x = g.integral();
  return g.call(row, {x, g.of(g.chance(70) ? dtype_of(x) : g.integer_dtype(), g.smaller_shape(shape_of(x)))});
}

/// A NaN that was computed may have either sign.
Node* signs(G& g, const OpDef& row) {
  Node* x = g.number();
  if (row.schema.params.size() == 1) return g.call(row, {g.tame(x)});
  if (row.schema.params[1].type == "Scalar") return g.call(row, {x, g.scalar(dtype_of(x))});
  return g.call(row, {x, g.tame(g.of(dtype_of(x), g.smaller_shape(shape_of(x))))});
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.signbit.default", signs},
    {"aten.copysign.*", signs},
    {"aten.histc.default", histogram},
    {"aten.histogram*", histogram},
    {"aten.gcd.default", integers},
    {"aten.lcm.default", integers},
    {"aten.floor_divide*", divided},
    {"prims.div_trunc.default", divided},
    {"aten.remainder*", divided},
    {"aten.fmod*", divided},
    {"aten.div.*_mode", divided},
    {"aten.div.Tensor_mode", divided},
    {"aten.div.Scalar_mode", divided},
    {"aten.pow.*", raised},
    {"aten.bitwise_left_shift.Tensor", shifted},
    {"aten.bitwise_right_shift.Tensor", shifted},
    {"aten._to_copy.default", converted},
    {"aten.to.*", converted},
    {"aten.type_as.default", converted},
    {"aten.clone.default", copied},
    {"aten.contiguous.default", copied},
    {"aten.where.self", chosen},
    {"aten.where.Scalar*", chosen},
    {"aten.polygamma.default", polygamma},
    {"aten.special_polygamma.default", polygamma},
    {"aten.mvlgamma.default", multigamma},
    {"aten.special_multigammaln.default", multigamma},
    {"aten.special_chebyshev*", polynomial},
    {"aten.special_shifted_chebyshev*", polynomial},
    {"aten.special_hermite*", polynomial},
    {"aten.special_laguerre*", polynomial},
    {"aten.special_legendre*", polynomial},
    {"aten.cumsum.default", one_dim_product},
    {"aten.cumprod.default", one_dim_product},
    {"aten.prod*", one_dim_product},
    {"aten.count_nonzero.dim_IntList", counted},
    {"aten.aminmax.default", extrema},
    {"aten.norm.*", normed},
    {"aten.linalg_vector_norm.default", normed},
    {"aten.logit.default", logit},
};

}  // namespace

std::span<const RecipeEntry> number_recipes() { return kRecipes; }

}  // namespace strata::fuzz
