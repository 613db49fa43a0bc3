// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Calls that run other graphs. Bodies are chains of a few operators that keep the type of what they start from.

#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

Type type_of(DType dtype, const Shape& shape) {
  TensorType type;
  type.dtype = dtype;
  type.shape = shape;
  type.device = "cpu";
  return Type::of(std::move(type));
}

Type type_of(const Node* node) { return type_of(dtype_of(node), shape_of(node)); }

Shape shape_of_element(const Node* node) { return {shape_of(node).begin() + 1, shape_of(node).end()}; }

/// One body, under way.
class Body {
 public:
  Body(Generator& g, const std::string& name)
      : g_(g), graph_(g.builder().graph().shared_env(), g.builder().graph().ids()), builder_(graph_) {
    graph_.name = name;
  }

  Node* input(Type type) {
    inputs_.push_back(graph_.placeholder("in" + std::to_string(inputs_.size()), std::move(type)));
    return inputs_.back();
  }
  Builder& builder() { return builder_; }

  /// A value of the same type and shape.
  Node* chain(Node* x) {
    for (int64_t left = g_.between(1, 3); left > 0; --left) x = step(x);
    return x;
  }

  /// The name of the finished graph, a subgraph of the program.
  GraphArg finish(std::vector<Argument> results, bool bare = false) {
    graph_.output(bare ? results.at(0) : Argument::list(std::move(results)));
    auto& graphs = g_.builder().graph().subgraphs;
    std::string name = graph_.name;
    for (int i = 1; graphs.contains(name); ++i) name = graph_.name + "_" + std::to_string(i);
    graph_.name = name;
    graphs[name] = std::make_unique<Graph>(std::move(graph_));
    return GraphArg{name};
  }

 private:
  /// Another input of the same type and shape, or the value itself.
  Node* partner(Node* x) {
    std::vector<Node*> fitting{x};
    for (Node* input : inputs_)
      if (input->type.is_tensor() && dtype_of(input) == dtype_of(x) && shape_of(input) == shape_of(x))
        fitting.push_back(input);
    return g_.pick(fitting);
  }

  Node* step(Node* x) {
    Builder& b = builder_;
    if (g_.chance(25))
      return b.call(dtype_of(x) == DType::Bool ? "aten.logical_or.default" : "aten.maximum.default", {x, partner(x)});
    if (dtype_of(x) == DType::Bool) return b.call("aten.logical_not.default", {x});
    if (!is_floating(dtype_of(x))) {
      if (g_.chance(50)) return b.add(x, g_.between(-3, 3));
      return b.call("aten.bitwise_not.default", {x});
    }
    if (rank_of(x) > 0 && g_.chance(40)) {
      if (g_.chance(50)) return b.call("aten.softmax.int", {x, -1});
      // Nothing that cancels: the yardstick does not see what is rounded inside of a body.
      return b.call("aten.maximum.default", {x, b.call("aten.mean.dim", {x, Generator::ints({0}), true})});
    }
    static constexpr std::string_view kPointwise[] = {"aten.neg.default", "aten.tanh.default", "aten.relu.default",
                                                      "aten.abs.default", "aten.sigmoid.default"};
    if (g_.chance(30)) return b.mul(x, 0.5);
    return b.call(g_.pick(kPointwise), {x});
  }

  Generator& g_;
  Graph graph_;
  Builder builder_;
  std::vector<Node*> inputs_;
};

bool fits(const Node* node) { return node && node->type.is_tensor() && !is_complex(dtype_of(node)); }

/// A value that bodies can take; null if what was drawn is none.
Node* operand(Generator& g, size_t least = 0) {
  Node* x = g.value(least, 4);
  return fits(x) ? x : nullptr;
}

Node* choice(Generator& g, const OpDef& row) {
  Node *x = operand(g), *y = operand(g);
  if (!x || !y) return nullptr;
  std::vector<Argument> bodies;
  for (const char* name : {"yes", "no"}) {
    Body body(g, name);
    Node *a = body.input(type_of(x)), *c = body.input(type_of(y));
    bodies.emplace_back(body.finish({body.chain(a), body.chain(c)}));
  }
  Node* condition = g.input(DType::Bool, {});
  return g.stated(row, {condition, bodies[0], bodies[1], Argument::list({x, y})}, {},
                  Type::tuple({type_of(x), type_of(y)}));
}

Node* loop(Generator& g, const OpDef& row) {
  Node *x = operand(g), *y = operand(g);
  if (!x || !y) return nullptr;
  Node* zero =
      g.call("aten.full.default", {Argument::list({}), 0}, {{"dtype", DType::I64}, {"device", DeviceArg{"cpu"}}});
  const auto take = [&](Body& body) {
    std::vector<Node*> inputs;
    for (const Node* node : {static_cast<const Node*>(zero), static_cast<const Node*>(x), static_cast<const Node*>(y)})
      inputs.push_back(body.input(type_of(node)));
    return inputs;
  };
  Body more(g, "more"), turn(g, "turn");
  std::vector<Node*> inputs = take(more);
  const GraphArg condition = more.finish({more.builder().call("aten.lt.Scalar", {inputs[0], g.between(0, 4)})}, true);
  inputs = take(turn);
  const GraphArg body = turn.finish({turn.builder().add(inputs[0], 1), turn.chain(inputs[1])});
  return g.stated(row, {condition, body, Argument::list({zero, x}), Argument::list({y})}, {},
                  Type::tuple({type_of(zero), type_of(x)}));
}

Shape stacked(const SymInt& count, const Node* of) {
  Shape shape{count};
  shape.insert(shape.end(), shape_of(of).begin(), shape_of(of).end());
  return shape;
}

Node* over_elements(Generator& g, const OpDef& row) {
  const bool carries = row.name == "higher_order.scan";
  Node *x = operand(g, 1), *h = operand(g), *y = operand(g);
  if (!x || !h || !y) return nullptr;
  Body body(g, "each");
  Node* a = carries ? body.input(type_of(h)) : nullptr;
  Node* e = body.input(type_of(dtype_of(x), shape_of_element(x)));
  body.input(type_of(y));
  Node* made = body.chain(e);
  std::vector<Argument> results{made};
  std::vector<Type> types{type_of(dtype_of(made), stacked(shape_of(x)[0], made))};
  if (carries) {
    Node* next = body.chain(a);
    results = {next, made, next};
    types = {type_of(h), types[0], type_of(dtype_of(next), stacked(shape_of(x)[0], next))};
  }
  std::vector<Argument> args{body.finish(std::move(results))};
  if (carries) args.push_back(Argument::list({h}));
  args.push_back(Argument::list({x}));
  args.push_back(Argument::list({y}));
  return g.stated(row, std::move(args), {}, Type::tuple(std::move(types)));
}

constexpr RecipeEntry kRecipes[] = {
    {"higher_order.cond", choice},
    {"higher_order.while_loop", loop},
    {"higher_order.map_impl", over_elements},
    {"higher_order.scan", over_elements},
};

}  // namespace

std::span<const RecipeEntry> control_recipes() { return kRecipes; }

}  // namespace strata::fuzz
