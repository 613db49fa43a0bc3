// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Complex numbers never leave a recipe: they are made of values of the program, computed with, and taken apart again.

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

Node* apart(G& g, Node* z) {
  if (!is_complex(z->tensor().dtype)) return z;
  // A copy: what is written later must not reach back through views of another type.
  return g.call("aten.clone.default", {g.call("aten.view_as_real.default", {z})});
}

/// Complex numbers of `shape`.
Node* numbers(G& g, DType part, Shape shape) {
  if (g.chance(50)) return g.call("aten.complex.default", {g.of(part, shape), g.of(part, shape)});
  shape.emplace_back(2);
  return g.call("aten.view_as_complex.default", {g.contiguous(g.of(part, shape))});
}

/// One more operator on them.
Node* computed(G& g, Node* z, DType part) {
  const Shape shape = z->tensor().shape;
  switch (g.below(14)) {
    case 0:
      return g.call("aten.mul.Tensor", {z, numbers(g, part, g.smaller_shape(shape))});
    case 1:
      return g.call("aten.add.Tensor", {z, g.of(part, g.smaller_shape(shape))});
    case 2:
      return g.call("aten.sub.Tensor", {numbers(g, part, shape), z}, {{"alpha", 2}});
    case 3:
      return g.call("aten.mul.Tensor", {z, std::complex(0.5, -1.0)});
    case 4:
      return g.call("aten.stack.default", {Argument::list({z, z}), 0});
    case 5:
      return g.call("aten.neg.default", {g.call("aten._conj.default", {z})});
    case 6:
      return g.call("aten.lerp.Scalar", {z, numbers(g, part, shape), std::complex(0.25, 0.5)});
    case 7:
      return shape.empty() ? z : g.call("aten.narrow.default", {z, g.dim(z), 0, 0});
    case 8:
      return g.call("aten.logical_and.default", {z, numbers(g, part, shape)});
    case 9:
      return shape.empty() ? z : g.call("aten.linalg_vecdot.default", {z, numbers(g, part, shape)});
    case 10:
      return g.call("aten.masked_fill.Scalar", {z, g.of(DType::Bool, shape), 0.5});
    case 11:
      return g.call("aten.count_nonzero.default", {z});
    case 12:
      return shape.empty() ? z : g.call("aten.sum.dim_IntList", {z, G::ints({g.dim(z)}), g.chance(50)});
    default:
      return shape.size() < 2 ? z : g.call("aten.transpose.int", {z, 0, -1});
  }
}

Node* of_complex(G& g, const OpDef& row) {
  const DType part = g.chance(70) ? DType::F32 : DType::F64;
  const Shape shape = g.random_shape(0, 3);
  const std::string_view name = row.name;
  if (name == "aten.complex.default" || name == "aten.polar.default")
    return apart(g, computed(g, g.call(row, {g.of(part, shape), g.of(part, shape)}), part));
  Node* z = numbers(g, part, shape);
  if (g.chance(60)) z = computed(g, z, part);
  if (name == "aten.view_as_complex.default") return apart(g, z);
  return apart(g, g.call(row, {z}));
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.view_as_complex.default", of_complex},
    {"aten.view_as_real.default", of_complex},
    {"aten.real.default", of_complex},
    {"aten.imag.default", of_complex},
    {"aten.conj*", of_complex},
    {"aten._conj*", of_complex},
    {"aten.complex.default", of_complex},
    {"aten.polar.default", of_complex},
    {"aten.resolve_*", of_complex},
    {"aten.isreal.default", of_complex},
};

}  // namespace

std::span<const RecipeEntry> complex_recipes() { return kRecipes; }

}  // namespace strata::fuzz
