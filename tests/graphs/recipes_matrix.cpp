// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products, convolutions, attention.

#include <algorithm>
#include <limits>

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

/// A first operand of rank `rank`; products of integers are rare.
Node* left(G& g, size_t least, size_t most) { return g.chance(90) ? g.floating(least, most) : g.number(least, most); }

/// Of what a product is added to: what broadcasts to it, but in place the result's.
Shape shape_added_to(G& g, const OpDef& row, const Shape& result) {
  return row.op_class == OpClass::Mutation ? result : g.smaller_shape(result);
}

/// What libraries do with a result while they have it, sometimes.
Node* ended(G& g, Node* y) {
  for (int i = 0; i < 2 && g.chance(20); ++i) {
    if (!is_floating(dtype_of(y))) return y;
    const char* simple =
        g.pick({"aten.relu.default", "aten.tanh.default", "aten.silu.default", "aten.hardswish.default"});
    const char* joined = g.pick({"aten.add.Tensor", "aten.add.Tensor", "aten.mul.Tensor", "aten.sub.Tensor"});
    if (g.chance(30)) {
      y = g.call(simple, {y});
      continue;
    }
    Node* other = g.input(dtype_of(y), g.smaller_shape(shape_of(y)));
    y = g.chance(70) ? g.call(joined, {y, other}) : g.call(joined, {other, y});
  }
  return y;
}

Node* product(G& g, const OpDef& row) {
  const std::string& name = row.name;
  const bool batched = has_name(name, {"bmm"}), adds = has_name(name, {"add"});
  const size_t rank = batched ? 3 : 2;
  Node* a = left(g, rank, rank);
  const DType d = dtype_of(a);
  const Shape s = shape_of(a);
  const bool vector = has_name(name, {"mv"});
  const SymInt n = g.size(), k = s[rank - 1], m = s[rank - 2];
  Shape other = vector ? Shape{k} : batched ? Shape{s[0], k, n} : Shape{k, n};
  Shape result = vector ? Shape{m} : batched ? Shape{s[0], m, n} : Shape{m, n};
  Node* b = g.of(d, other);
  if (!adds) return ended(g, g.call(row, {a, b}));
  std::vector<std::pair<std::string, Argument>> kwargs;
  if (g.chance(30)) kwargs.emplace_back("beta", g.pick({0, 1, 2}));
  if (g.chance(30)) kwargs.emplace_back("alpha", is_floating(d) ? Argument(0.5) : Argument(2));
  return g.call(row, {g.of(d, shape_added_to(g, row, result)), a, b}, std::move(kwargs));
}

Node* linear(G& g, const OpDef& row) {
  Node* x = left(g, 1, 4);
  const SymInt n = g.size();
  return ended(g, g.call(row, {x, g.of(dtype_of(x), {n, shape_of(x).back()}), g.maybe(g.of(dtype_of(x), {n}))}));
}

Node* general_product(G& g, const OpDef& row) {
  Node* x = left(g, 1, 4);
  const SymInt k = shape_of(x).back();
  Shape other = g.chance(25) ? Shape{k} : Shape{k, g.size()};
  if (other.size() == 2 && rank_of(x) > 2 && g.chance(50)) {
    Shape batch(shape_of(x).begin(), shape_of(x).end() - 2);
    batch = g.smaller_shape(batch);
    other.insert(other.begin(), batch.begin(), batch.end());
  }
  return g.call(row, {x, g.of(dtype_of(x), other)});
}

/// Summed over all dimensions, or all but the first of both.
Node* summed_over_dims(G& g, const OpDef& row) {
  Node* x = left(g, 1, 3);
  const int64_t rank = static_cast<int64_t>(rank_of(x)), first = g.between(0, 1);
  std::vector<Argument> dims;
  for (int64_t d = first; d < rank; ++d) dims.emplace_back(g.chance(30) ? d - rank : d);
  return g.call(row, {x, g.of(dtype_of(x), shape_of(x)), Argument::list(dims), Argument::list(dims)});
}

Node* several_products(G& g, const OpDef& row) {
  Node* x = left(g, 2, 2);
  const SymInt middle = g.size();
  Node* y = g.of(dtype_of(x), {shape_of(x)[1], middle});
  return g.call(row, {Argument::list({x, y, g.of(dtype_of(x), {middle, g.size()})})});
}

Node* power_of_matrix(G& g, const OpDef& row) {
  const SymInt n = g.size();
  return g.call(row, {g.of(dtype_of(left(g, 2, 2)), {n, n}), g.between(1, 3)});
}

Node* vectors(G& g, const OpDef& row) {
  Node* x = left(g, 1, 1);
  const bool outer = has_name(row.name, {"outer", "ger"});
  return g.call(row, {x, g.of(dtype_of(x), outer ? g.random_shape(1, 1) : shape_of(x))});
}

Node* products_added(G& g, const OpDef& row) {
  Node* a = left(g, 3, 3);
  const DType d = dtype_of(a);
  const Shape s = shape_of(a);
  const SymInt n = g.size();
  return g.call(row, {g.of(d, shape_added_to(g, row, {s[1], n})), a, g.of(d, {s[0], s[2], n})});
}

Node* outer_added(G& g, const OpDef& row) {
  Node* a = left(g, 1, 1);
  const DType d = dtype_of(a);
  const SymInt n = g.size();
  return g.call(row, {g.of(d, shape_added_to(g, row, {shape_of(a)[0], n})), a, g.of(d, {n})});
}

Node* bilinear(G& g, const OpDef& row) {
  Node* x = g.floating(2, 2);
  const DType d = dtype_of(x);
  const SymInt n = shape_of(x)[0], i = shape_of(x)[1], j = g.size(), out = g.size();
  return g.call(row, {x, g.of(d, {n, j}), g.of(d, {out, i, j}), g.maybe(g.of(d, {out}))});
}

Node* distances(G& g, const OpDef& row) {
  Node* x = g.floating(2, 3);
  Shape other = shape_of(x);
  other[other.size() - 2] = g.size();
  return g.call(row,
                {x, g.of(dtype_of(x), other), g.pick({2.0, 1.0, 0.0, 3.0, std::numeric_limits<double>::infinity()})});
}

Node* distances_within(G& g, const OpDef& row) { return g.call(row, {g.floating(2, 2), g.pick({2.0, 1.0, 0.0, 3.0})}); }

Node* einsum(G& g, const OpDef& row) {
  const DType d = g.main_dtype();
  const SymInt i = g.size(), j = g.size(), k = g.size(), b = g.size();
  struct Form {
    const char* text;
    std::vector<Shape> shapes;
  };
  const std::vector<Form> forms{{"ij,jk->ik", {{i, j}, {j, k}}},
                                {"bij,bjk->bik", {{b, i, j}, {b, j, k}}},
                                {"ij->ji", {{i, j}}},
                                {"ij->i", {{i, j}}},
                                {"i,j->ij", {{i}, {j}}},
                                {"bij,kj->bik", {{b, i, j}, {k, j}}},
                                {"ij,ij->", {{i, j}, {i, j}}},
                                {"bi,bj,ij->b", {{b, i}, {b, j}, {i, j}}}};
  const Form& form = g.pick(forms);
  std::vector<Argument> operands;
  for (const Shape& s : form.shapes) operands.emplace_back(g.of(d, s));
  return g.call(row, {form.text, Argument::list(operands)});
}

// -------------------------------------------------------------------------------------------------------- convolutions

/// Libraries skip products with padding, or multiply it by zero: NaN and infinity show which, so operands have none.
Node* plain(G& g, DType dtype, const Shape& shape) { return g.input(dtype, shape, {Domain::Kind::Tame, 0, 0}); }

struct Convolution {
  size_t dims = 0;
  bool transposed = false;
  int64_t groups = 1, out = 1;
  Shape x, weight;
  std::vector<int64_t> stride, padding, dilation, output_padding;
};

/// Whether a value has neither NaN nor infinities: what is made of plain operands by operators that make none.
bool stays_plain(const Node* x) {
  if (x->kind != NodeKind::Call) return false;
  if (has_name(x->target, {".conv", "nan_to_num"})) return true;
  if (!has_name(x->target, {"relu", "add.Tensor", "cat", "_pool2d.", "upsample_nearest", "mean", "hardswish", "tanh",
                            "sigmoid", "clamp"}))
    return false;
  const auto operands = x->operands();
  return std::all_of(operands.begin(), operands.end(), stays_plain);
}

/// As many channels as vectors take, kernels of 3 by 3: what has kernels of its own.
Convolution wide_convolution(G& g, const Node* given) {
  Convolution c;
  c.dims = 2;
  const int64_t in = given ? shape_of(given)[1].value() : g.between(16, 20);
  c.out = g.between(16, 36);
  c.x = {g.size(), in};
  c.weight = {c.out, in, 3, 3};
  for (size_t i = 0; i < c.dims; ++i) c.x.push_back(given ? shape_of(given)[i + 2] : g.width(4, 9));
  c.stride = c.dilation = {1, 1};
  c.padding = {g.between(0, 2), g.between(0, 2)};
  for (size_t i = 0; i < c.dims; ++i)  // the window fits
    if (g.concrete(c.x[i + 2]) < 3) c.padding[i] = std::max<int64_t>(c.padding[i], 1);
  c.output_padding = {0, 0};
  return c;
}

Convolution convolution(G& g, size_t dims, bool transposed, const Node* given = nullptr) {
  const bool has_channels = !given || shape_of(given)[1].value() >= 16;
  if (dims == 2 && !transposed && has_channels && g.chance(given ? 60 : 12)) return wide_convolution(g, given);
  Convolution c;
  c.dims = dims;
  c.transposed = transposed;
  c.groups = g.chance(25) ? 2 : 1;
  if (given && shape_of(given)[1].value() % 2) c.groups = 1;
  const int64_t in = given ? shape_of(given)[1].value() : c.groups * g.between(1, 3);
  c.out = c.groups * g.between(1, 3);
  c.x = {g.size(), in};
  c.weight = transposed ? Shape{in, c.out / c.groups} : Shape{c.out, in / c.groups};
  for (size_t i = 0; i < dims; ++i) {
    c.x.push_back(given ? shape_of(given)[i + 2] : g.width(3, 7));
    c.weight.emplace_back(g.between(1, 3));
    c.stride.push_back(g.between(1, 2));
    c.padding.push_back(g.between(0, 1));
    c.dilation.push_back(g.chance(20) ? 2 : 1);
    c.output_padding.push_back(transposed && c.stride.back() > 1 && g.chance(30) ? 1 : 0);
  }
  for (size_t i = 0; i < dims && !transposed; ++i)  // the window fits
    if ((c.weight[i + 2].value() - 1) * c.dilation[i] + 1 > g.concrete(c.x[i + 2]) + 2 * c.padding[i])
      c.dilation[i] = 1;
  return c;
}

Node* convolved_alone(G& g, const OpDef& row) {
  const bool general = row.name == "aten.convolution.default",
             transposed = general ? g.chance(25) : has_name(row.name, {"transpose"});
  const size_t dims = general ? 1 + g.below(3) : static_cast<size_t>(row.name[row.name.find("d.") - 1] - '0');
  Node* given = g.image(dims);
  const Convolution c = convolution(g, dims, transposed, given);
  const DType d = g.main_dtype();
  Node* x = !given ? plain(g, d, c.x) : stays_plain(given) ? given : g.tame(given);
  if (!given && g.chance(40)) x = g.call("aten.tanh.default", {x});
  Node* w = plain(g, d, c.weight);
  const Argument bias = g.maybe(plain(g, d, {c.out}));
  if (general)
    return g.call(row, {x, w, bias, G::ints(c.stride), G::ints(c.padding), G::ints(c.dilation), c.transposed,
                        G::ints(c.output_padding), c.groups});
  if (transposed)
    return g.call(row, {x, w, bias, G::ints(c.stride), G::ints(c.padding), G::ints(c.output_padding), c.groups,
                        G::ints(c.dilation)});
  if (row.schema.params[4].type == "str") {
    const bool same = g.chance(60);
    return g.call(row, {x, w, bias, G::ints(std::vector<int64_t>(dims, 1)), same ? "same" : "valid",
                        G::ints(c.dilation), c.groups});
  }
  return g.call(row, {x, w, bias, G::ints(c.stride), G::ints(c.padding), G::ints(c.dilation), c.groups});
}

Node* convolved(G& g, const OpDef& row) { return ended(g, convolved_alone(g, row)); }

Node* convolution_gradient(G& g, const OpDef& row) {
  const Convolution c = convolution(g, 1 + g.below(2), g.chance(25));
  const DType d = g.main_dtype();
  Node *x = plain(g, d, c.x), *w = plain(g, d, c.weight);
  Node* y =
      g.call("aten.convolution.default", {x, w, Argument(), G::ints(c.stride), G::ints(c.padding), G::ints(c.dilation),
                                          c.transposed, G::ints(c.output_padding), c.groups});
  const std::vector<Argument> mask{true, true, g.chance(60)};
  return g.call(row, {plain(g, d, shape_of(y)), x, w, G::ints({c.out}), G::ints(c.stride), G::ints(c.padding),
                      G::ints(c.dilation), c.transposed, G::ints(c.output_padding), c.groups, Argument::list(mask)});
}

Node* attention(G& g, const OpDef& row) {
  const DType d = g.main_dtype();
  const SymInt batch = g.size(), heads = g.size(), length = g.size(), keys = g.size();
  const int64_t head = g.between(1, 8), shared = g.between(1, 3);
  const bool grouped = g.chance(30), causal = g.chance(30);
  Node* q = g.of(d, {batch, grouped ? SymInt(2 * shared) : heads, length, head});
  Node* k = g.of(d, {batch, grouped ? SymInt(shared) : heads, keys, head});
  Node* v = g.of(d, {batch, grouped ? SymInt(shared) : heads, keys, head});
  Argument mask;
  if (has_name(row.name, {"_flash_"})) {
    if (!causal && g.chance(50)) mask = g.of(d, g.chance(70) ? Shape{length, keys} : Shape{batch, 1, length, keys});
    const Argument scale = g.chance(30) ? Argument(0.25) : Argument();
    return g.part(g.call(row, {q, k, v, 0.0, causal}, {{"attn_mask", mask}, {"scale", scale}}), g.below(2));
  }
  if (!causal && g.chance(50))
    mask = g.of(g.chance(50) ? d : DType::Bool, g.chance(70) ? Shape{length, keys} : Shape{batch, 1, length, keys});
  std::vector<std::pair<std::string, Argument>> kwargs{{"enable_gqa", grouped}};
  if (g.chance(30)) kwargs.emplace_back("scale", 0.25);
  return g.call(row, {q, k, v, mask, 0.0, causal}, std::move(kwargs));
}

Node* powers(G& g, const OpDef& row) {
  const Argument count = g.chance(60) ? Argument(g.between(1, 4)) : Argument();
  Node* x = g.value(1, 1);
  return shape_of(x)[0].is_const() && shape_of(x)[0].value() > 0 ? g.call(row, {x, count, g.chance(50)}) : nullptr;
}

Node* slopes(G& g, const OpDef& row) {
  Node* x = g.number(1, 3);
  const size_t d = g.below(rank_of(x));
  if (!shape_of(x)[d].is_const() || shape_of(x)[d].value() < 3) return nullptr;
  std::vector<std::pair<std::string, Argument>> rest{{"edge_order", g.between(1, 2)}};
  for (const Param& p : row.schema.params) {
    const auto given = [&](Argument value) { rest.emplace_back(p.name, p.list ? Argument::list({value}) : value); };
    if (p.name == "spacing") given(0.5);
    if (p.name == "dim") given(static_cast<int64_t>(d));
  }
  return g.part(g.call(row, {x}, std::move(rest)), 0);
}

Node* product_of_bytes(G& g, const OpDef& row) {
  const SymInt inner = g.between(1, 40);
  return g.call(row, {g.of(DType::I8, {g.size(), inner}), g.of(DType::I8, {inner, g.between(1, 20)})});
}

Node* product_with_bytes(G& g, const OpDef& row) {
  const DType d = g.floating_dtype();
  const SymInt inner = g.between(1, 40), outer = g.between(1, 20);
  return g.call(row, {plain(g, d, {g.size(), inner}), g.of(DType::I8, {outer, inner}), plain(g, d, {outer})});
}

Node* convolved_in_time(G& g, const OpDef& row) {
  const DType d = g.floating_dtype();
  const SymInt inner = g.between(1, 4), outer = g.between(1, 4);
  Node* x = plain(g, d, {g.between(3, 6), g.size(), inner});
  Node* weight = plain(g, d, {g.between(1, 3), inner, outer});
  return g.call(row, {x, weight, g.of(d, {outer}), g.between(0, 2)});
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.mm.default", product},
    {"aten.bmm.default", product},
    {"aten.mv.default", product},
    {"aten.addmm.default", product},
    {"aten.baddbmm.default", product},
    {"aten.addmv.default", product},
    {"aten.addbmm.default", products_added},
    {"aten.addr.default", outer_added},
    {"aten.bilinear.default", bilinear},
    {"aten.cdist.default", distances},
    {"aten.pdist.default", distances_within},
    {"aten.linear.default", linear},
    {"aten.matmul.default", general_product},
    {"aten.tensordot.default", summed_over_dims},
    {"aten.vander.default", powers},
    {"aten.gradient.*", slopes},
    {"aten._int_mm.default", product_of_bytes},
    {"aten._weight_int8pack_mm.default", product_with_bytes},
    {"aten.conv_tbc.default", convolved_in_time},
    {"aten.chain_matmul.default", several_products},
    {"aten.matrix_power.default", power_of_matrix},
    {"aten.dot.default", vectors},
    {"aten.vdot.default", vectors},
    {"aten.outer.default", vectors},
    {"aten.ger.default", vectors},
    {"aten.einsum.default", einsum},
    {"aten.convolution_backward.default", convolution_gradient},
    {"aten.conv*", convolved},
    {"aten.scaled_dot_product_attention.default", attention},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", attention},
};

}  // namespace

std::span<const RecipeEntry> matrix_recipes() { return kRecipes; }

}  // namespace strata::fuzz
