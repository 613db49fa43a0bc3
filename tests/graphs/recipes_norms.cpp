// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Normalisation, losses, and other layers with parameters.

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using G = Generator;

/// Parameters of a batch norm: one per channel.
struct Channels {
  Node* x;
  Argument weight, bias;
  Node *mean, *variance;
};
Channels channels(G& g, size_t least) {
  Node* x = g.floating(least, 4);
  const Shape c{shape_of(x)[1]};
  const DType d = dtype_of(x);
  return {x, g.maybe(g.of(d, c)), g.maybe(g.of(d, c)), g.input(d, c, {Domain::Kind::Tame, 0, 0}),
          g.input(d, c, {Domain::Kind::Positive, 0, 0})};
}

Node* batch_normed(G& g, const OpDef& row) {
  const std::string& name = row.name;
  const bool instance = has_name(name, {"instance"}), functional = has_name(name, {"functional"});
  Channels c = channels(g, instance ? 3 : 2);
  if (has_name(name, {"no_stats"})) return g.call(row, {c.x, c.weight, c.bias, true, 0.1, 1e-3});
  if (has_name(name, {"no_training"})) return g.call(row, {c.x, c.weight, c.bias, c.mean, c.variance, 0.1, 1e-3});
  // Training writes the running statistics where there are any, which only the functional form says.
  const bool training = g.chance(40);
  const bool keeps = functional || !training;
  std::vector<Argument> args{
      c.x,      c.weight, c.bias, keeps ? Argument(c.mean) : Argument(), keeps ? Argument(c.variance) : Argument(),
      training, 0.1,      1e-3};
  if (has_name(name, {"batch_norm.default", "instance_norm"}) && !has_name(name, {"native"})) args.emplace_back(true);
  return g.call(row, std::move(args));
}

Node* layer_normed(G& g, const OpDef& row) {
  Node* x = g.floating(1, 4);
  const size_t over = 1 + g.below(std::min<size_t>(2, rank_of(x)));
  const Shape last(shape_of(x).end() - static_cast<std::ptrdiff_t>(over), shape_of(x).end());
  const DType d = dtype_of(x);
  std::vector<Argument> args{x, g.sizes(last), g.maybe(g.of(d, last))};
  if (has_name(row.name, {"rms"}))
    args.push_back(g.chance(50) ? Argument() : Argument(1e-5));
  else
    args.insert(args.end(), {g.maybe(g.of(d, last)), Argument(1e-5)});
  return g.call(row, std::move(args));
}

Node* group_normed(G& g, const OpDef& row) {
  const int64_t groups = g.between(1, 3), count = groups * g.between(1, 3);
  Shape shape{g.between(1, 3), count, g.between(1, 4), g.between(1, 4)};
  if (g.chance(40)) shape.pop_back();
  Node* x = g.of(g.floating_dtype(), shape);
  const Argument weight = g.maybe(g.of(dtype_of(x), {count})), bias = g.maybe(g.of(dtype_of(x), {count}));
  if (!has_name(row.name, {"native"})) return g.call(row, {x, groups, weight, bias, 1e-5});
  SymInt plane = 1;
  for (size_t d = 2; d < shape.size(); ++d) plane = plane * shape[d];
  return g.call(row, {x, weight, bias, shape[0].value(), count, plane.value(), groups, 1e-5});
}

Node* prelu(G& g, const OpDef& row) {
  Node* x = g.floating(1, 4);
  const SymInt channels = rank_of(x) > 1 ? shape_of(x)[1] : SymInt(1);
  return g.call(row, {x, g.of(dtype_of(x), {g.chance(50) ? SymInt(1) : channels})});
}

Node* glu(G& g, const OpDef& row) {
  Shape shape = g.random_shape(1, 3);
  const size_t d = g.below(shape.size());
  shape[d] = 2 * g.between(0, 4);
  return g.call(row, {g.of(g.floating_dtype(), shape), static_cast<int64_t>(d)});
}

Node* softmax(G& g, const OpDef& row) {
  Node* x = g.floating(0, 4);
  const int64_t d = g.dim(x);
  if (has_name(row.name, {"_backward_data"})) return g.call(row, {x, g.of(dtype_of(x), shape_of(x)), d, dtype_of(x)});
  if (has_name(row.name, {"._"})) return g.call(row, {x, d, false});
  std::vector<Argument> args{x, d};
  if (g.chance(20)) args.emplace_back(g.floating_dtype());
  return g.call(row, std::move(args));
}

Node* dropped(G& g, const OpDef& row) {
  // Which elements survive is random unless none or all do.
  Node* x = g.floating();
  if (has_name(row.name, {"backward"})) return g.call(row, {x, g.of(DType::Bool, shape_of(x)), 2.0});
  const bool trains = g.chance(40);
  return g.call(row, {x, trains ? g.pick({0.0, 1.0}) : 0.5, trains});
}

// -------------------------------------------------------------------------------------------------------------- losses

Node* distance(G& g, const OpDef& row) {
  Node* x = g.floating();
  std::vector<Argument> args{x, g.of(dtype_of(x), g.chance(80) ? shape_of(x) : g.smaller_shape(shape_of(x))),
                             g.between(0, 2)};
  if (has_name(row.name, {"smooth"}) && g.chance(50)) args.emplace_back(g.pick({0.5, 1.0, 2.0}));
  return g.call(row, std::move(args));
}

Node* binary_cross_entropy(G& g, const OpDef& row) {
  Node* x = g.floating();
  const DType d = dtype_of(x);
  const auto some = [&] { return g.chance(30) ? Argument(g.of(d, shape_of(x))) : Argument(); };
  return g.call(row, {x, g.input(d, shape_of(x), {Domain::Kind::Unit, 0, 0}), some(), some(), g.between(0, 2)});
}

struct Classes {
  Node *x, *target;
  Argument weight;
};
std::optional<Classes> classes(G& g, bool plane, bool lone) {
  Shape shape{g.size(), g.between(1, 5)};
  if (plane)
    shape.insert(shape.end(), {g.size(), g.size()});
  else if (lone && g.chance(20))
    shape.erase(shape.begin());
  Shape target = shape;
  target.erase(target.begin() + (shape.size() == 1 ? 0 : 1));
  const SymInt count = shape.size() == 1 ? shape[0] : shape[1];
  Node* t = g.indices(0, count, target);
  if (!t) return {};
  const DType d = g.floating_dtype();
  return Classes{g.of(d, shape), t,
                 g.chance(40) ? Argument(g.input(d, {count}, {Domain::Kind::Positive, 0, 0})) : Argument()};
}

Node* likelihood(G& g, const OpDef& row) {
  const bool plane = has_name(row.name, {"2d"}) || (has_name(row.name, {"nd", "cross_entropy"}) && g.chance(40));
  const bool crossed = has_name(row.name, {"cross_entropy"});
  const auto c = classes(g, plane, !has_name(row.name, {"backward", "2d"}));
  if (!c) return nullptr;
  const int64_t reduction = g.between(0, 2), ignored = g.chance(30) ? 0 : -100;
  if (has_name(row.name, {"backward"})) {
    Node* forward = g.call("aten.nll_loss_forward.default", {c->x, c->target, c->weight, reduction, ignored});
    Node *loss = g.part(forward, 0), *total = g.part(forward, 1);
    return g.call(row, {g.of(dtype_of(loss), shape_of(loss)), c->x, c->target, c->weight, reduction, ignored, total});
  }
  std::vector<Argument> args{c->x, c->target, c->weight, reduction, ignored};
  if (crossed && g.chance(30)) args.emplace_back(0.1);
  return g.call(row, std::move(args));
}

Node* margins(G& g, const OpDef& row) {
  const auto c = classes(g, false, true);
  const Argument margin(static_cast<double>(g.between(0, 3)) / 2);
  return c ? g.call(row, {c->x, c->target, g.between(1, 2), margin, c->weight, g.between(0, 2)}) : nullptr;
}

Node* margins_of_several(G& g, const OpDef& row) {
  Node* x = g.floating(1, 2);
  Node* target = g.indices(-1, shape_of(x).back(), shape_of(x));
  return target ? g.call(row, {x, target, g.between(0, 2)}) : nullptr;
}

constexpr RecipeEntry kRecipes[] = {
    {"aten.batch_norm.default", batch_normed},
    {"aten.native_batch_norm.default", batch_normed},
    {"aten._native_batch_norm*", batch_normed},
    {"aten.instance_norm.default", batch_normed},
    {"aten.layer_norm.default", layer_normed},
    {"aten.native_layer_norm.default", layer_normed},
    {"aten.rms_norm.default", layer_normed},
    {"aten.group_norm.default", group_normed},
    {"aten.native_group_norm.default", group_normed},
    {"aten.prelu.default", prelu},
    {"aten.glu.default", glu},
    {"aten._softmax*", softmax},
    {"aten._log_softmax*", softmax},
    {"aten.softmax.int", softmax},
    {"aten.log_softmax.int", softmax},
    {"aten.dropout*", dropped},
    {"aten.native_dropout*", dropped},
    {"aten.mse_loss.default", distance},
    {"aten.l1_loss.default", distance},
    {"aten.smooth_l1_loss.default", distance},
    {"aten.binary_cross_entropy_with_logits.default", binary_cross_entropy},
    {"aten.nll_loss*", likelihood},
    {"aten.cross_entropy_loss.default", likelihood},
    {"aten.multi_margin_loss.default", margins},
    {"aten.multilabel_margin_loss.default", margins_of_several},
};

}  // namespace

std::span<const RecipeEntry> norm_recipes() { return kRecipes; }

}  // namespace strata::fuzz
