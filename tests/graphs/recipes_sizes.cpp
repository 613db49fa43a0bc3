// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sizes as values, and results whose sizes only the data tells.

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

/// A size of a value, used as an operand, in the shape of another value, or given out.
Node* used(G& g, Node* n) {
  if (g.chance(30)) g.also_output(n);
  if (n->type.kind != Type::Kind::SymInt) return g.call("aten.mul.Tensor", {g.floating(), n});
  if (g.chance(50) && n->type.sym == max(n->type.sym, SymInt(0)))
    return g.call("aten.full.default", {Argument::list({Argument(n), Argument(2)}), 1.5}, {{"dtype", g.main_dtype()}});
  return g.call("aten.mul.Tensor", {g.floating(), n});
}

Node* size_taken(G& g, const OpDef& row) {
  Node* x = g.value(1);
  std::vector<Argument> args{x};
  if (row.schema.params.size() > 1) args.emplace_back(g.dim(x));
  return used(g, g.call(row, std::move(args)));
}

Node* calculated(G& g, const OpDef& row) {
  Node* x = g.value(1);
  Node* n = g.call("aten.sym_size.int", {x, g.dim(x)});
  std::vector<Argument> args{n};
  if (row.schema.params.size() > 1) args.emplace_back(g.between(1, 3));
  return used(g, g.call(row, std::move(args)));
}

/// Results whose sizes only the data tells.
Node* places(G& g, const OpDef& row) {
  Node* x = g.value(1, 3);
  return g.stated(row, {x}, {}, Type::of(DType::I64, {g.unknown_size(), SymInt(static_cast<int64_t>(rank_of(x)))}));
}

Node* masked(G& g, const OpDef& row) {
  Node* x = g.value();
  return g.stated(row, {x, g.of(DType::Bool, shape_of(x))}, {}, Type::of(dtype_of(x), {g.unknown_size()}));
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.sym_size.int", size_taken},      {"aten.sym_numel.default", size_taken}, {"aten.sym_stride.int", size_taken},
    {"_operator.add", calculated},          {"_operator.sub", calculated},          {"_operator.mul", calculated},
    {"torch.sym_max*", calculated},         {"torch.sym_min*", calculated},         {"_operator.floordiv", calculated},
    {"_operator.mod", calculated},          {"aten.nonzero.default", places},       {"aten.argwhere.default", places},
    {"aten.masked_select.default", masked},
};

}  // namespace

std::span<const RecipeEntry> size_recipes() { return kRecipes; }

}  // namespace strata::fuzz
