// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/bind_bodies.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/ir/complex_parts.h"
#include "core/ir/control_flow.h"
#include "core/ir/program.h"
#include "core/support/error.h"
#include "passes/known_sizes.h"

namespace strata {
namespace {

/// How many calls run each subgraph.
std::map<std::string, int> calls_of_bodies(const Graph& graph) {
  std::map<std::string, int> calls;
  for (const auto& node : graph.nodes())
    if (is_control_flow(*node))
      for (const std::string& body : control_flow_of(*node).bodies) ++calls[body];
  return calls;
}

class Binder {
 public:
  Binder(const Graph& graph, const PassContext& context)
      : constants_(graph, context), rewriter_(graph, "bind_bodies"), calls_(calls_of_bodies(graph)) {}

  PassResult run() {
    for (const auto& node : rewriter_.from().nodes()) {
      is_control_flow(*node) ? visit(*node) : static_cast<void>(rewriter_.copy(*node));
      known_.note(node->type);
    }
    Graph result = rewriter_.finish();
    for (auto& [name, body] : bodies_) result.subgraphs[name] = std::move(body);
    if (!sizes_.empty())
      result.substitute([&](size_t symbol) {
        const auto it = sizes_.find(symbol);
        return it == sizes_.end() ? std::nullopt : std::optional(it->second);
      });
    return {std::move(result), std::move(bound_)};
  }

 private:
  void visit(const Node& node) {
    for (const std::string& name : control_flow_of(node).bodies) require_reads(node, name);
    require_fitting_bodies(rewriter_.from(), node);
    if (touches_complex(node))
      throw_user(place_of(node) + " on complex numbers is not supported", "hand over torch.view_as_real(x)");
    const ControlFlow flow = control_flow_of(node);
    const bool shared = std::any_of(flow.bodies.begin(), flow.bodies.end(),
                                    [&](const std::string& body) { return calls_.at(body) > 1; });
    std::vector<std::unique_ptr<Graph>> bodies;
    for (const std::string& name : flow.bodies)
      bodies.push_back(std::make_unique<Graph>(rewriter_.from().subgraphs.at(name)->clone()));
    std::vector<Argument> kept;
    std::vector<size_t> bound;
    for (size_t i = 0; i < flow.operands.size(); ++i) {
      const Node* operand = flow.operands[i].node();
      const bool same = i >= flow.carried + flow.sliced && !shared && operand && constants_.value(operand);
      same ? bound.push_back(i) : kept.push_back(rewriter_.mapped(flow.operands[i]));
    }
    name_sizes(node, flow, bodies);
    const std::vector<SymInt> sizes = untold_sizes(bodies);
    if (bound.empty() && sizes.empty() && sizes_.empty()) return static_cast<void>(rewriter_.copy(node));
    for (size_t b = 0; b < bodies.size(); ++b) {
      const std::vector<Node*> inputs = bodies[b]->placeholders();
      for (const size_t i : bound) become_constant(*bodies[b], *inputs[i], *constants_.value(flow.operands[i].node()));
      for (const SymInt& size : sizes) add_input(*bodies[b], size);
      bodies_[flow.bodies[b]] = std::move(bodies[b]);
    }
    for (const SymInt& size : sizes) kept.emplace_back(size);
    Node* made = rewriter_.copy(node);
    made->args = with_operands(*made, kept);
    made->kwargs.clear();
    bound_.push_back({"bind", {node.id}, {node.id}, "what its bodies are given is known"});
  }

  // ------------------------------------------------------------------------------------------------ sizes of results

  /// Exporters give results of branches symbols of their own for sizes that only data tells. Where the branches'
  /// results are as large as each other, that is their size.
  void name_sizes(const Node& node, const ControlFlow& flow, const std::vector<std::unique_ptr<Graph>>& bodies) {
    const std::span<const Type> results = result_types(node);
    for (size_t k = 0; k < results.size(); ++k)
      for (size_t d = 0; d < results[k].tensor.shape.size(); ++d) {
        const SymInt& size = results[k].tensor.shape[d];
        if (known_.has(size)) continue;
        const auto symbol = rewriter_.from().env().symbol_id(size);
        const SymInt told = flow.kind == ControlFlow::Kind::Cond ? size_in(*bodies[0], k, d) : size;
        const bool alike = std::ranges::all_of(bodies, [&](const auto& b) { return size_in(*b, k, d) == told; });
        if (!symbol || flow.kind != ControlFlow::Kind::Cond || !alike || !known_.has(told))
          throw_user(
              place_of(node) + " has a result " + std::to_string(k) + " of a size that nothing tells: " + size.str(),
              "give results whose sizes are those of operands");
        sizes_.emplace(*symbol, told);
      }
  }

  static SymInt size_in(const Graph& body, size_t result, size_t dim) {
    const Node* leaf = body.flat_outputs().at(result).node();
    return leaf && leaf->type.is_tensor() ? leaf->tensor().shape.at(dim) : SymInt(-1);
  }

  // ---------------------------------------------------------------------------------------------------------- operands

  /// Nothing but results comes out of a body; what it writes has become results before these.
  void require_reads(const Node& node, const std::string& name) const {
    const auto body = rewriter_.from().subgraphs.find(name);
    if (body == rewriter_.from().subgraphs.end()) return;
    for (size_t i = 0; i < body->second->output_specs.size(); ++i)
      if (!body->second->is_user_output(i))
        throw_user(place_of(node) + " has a graph '" + name + "' that writes its input '" +
                       body->second->output_specs[i].target + "'",
                   "return the new value instead");
  }

  static void become_constant(Graph& body, Node& input, const Tensor& value) {
    input.kind = NodeKind::GetAttr;
    input.target = input.name;
    input.type.tensor.strides.reset();
    body.attributes[input.name] = value;
  }

  static void add_input(Graph& body, const SymInt& size) {
    const std::vector<Node*> inputs = body.placeholders();
    Node* input = body.placeholder(body.unique_name(size.str()), Type::symint(size));
    std::vector<Node*> order;
    for (const auto& node : body.nodes())
      if (node.get() != input) order.push_back(node.get());
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place_after(order, inputs)), input);
    body.reorder(order);
  }

  static size_t place_after(const std::vector<Node*>& order, const std::vector<Node*>& inputs) {
    if (inputs.empty()) return 0;
    return static_cast<size_t>(std::find(order.begin(), order.end(), inputs.back()) - order.begin()) + 1;
  }

  /// Symbols in what the bodies are given that stand nowhere alone: sizes of the graph around them.
  static std::vector<SymInt> untold_sizes(const std::vector<std::unique_ptr<Graph>>& bodies) {
    std::vector<SymInt> sizes;
    for (const auto& body : bodies) {
      std::set<size_t> told, needed;
      const auto see = [&](const SymInt& size) {
        for (const size_t symbol : free_symbols(size)) needed.insert(symbol);
        if (const auto id = size.is_const() ? std::nullopt : body->env().symbol_id(size)) told.insert(*id);
      };
      for (const Node* input : body->placeholders()) {
        if (input->type.kind == Type::Kind::SymInt) see(input->type.sym);
        if (input->type.is_tensor()) std::ranges::for_each(input->tensor().shape, see);
      }
      for (const size_t symbol : needed) {
        const auto size = told.contains(symbol) ? std::nullopt : body->env().find(body->env().info(symbol).name);
        if (size && std::find(sizes.begin(), sizes.end(), *size) == sizes.end()) sizes.push_back(*size);
      }
    }
    return sizes;
  }

  ConstantInputs constants_;
  GraphRewriter rewriter_;
  std::map<std::string, int> calls_;
  std::map<std::string, std::unique_ptr<Graph>> bodies_;
  std::vector<Rewrite> bound_;
  KnownSizes known_;
  std::map<size_t, SymInt> sizes_;  ///< what symbols of results are
};

}  // namespace

bool bind_bodies_may_change(const Graph& graph, const PassContext&) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return is_control_flow(*node); });
}

PassResult bind_bodies(const Graph& graph, const PassContext& context) { return Binder(graph, context).run(); }

}  // namespace strata
