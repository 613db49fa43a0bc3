// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/control_flow.h"

#include <algorithm>

#include "core/ir/aliasing.h"
#include "core/ir/program.h"
#include "core/support/error.h"

namespace strata {
namespace {

/// Where the arguments of each kind stand.
struct Form {
  std::string_view target;
  ControlFlow::Kind kind;
  size_t bodies;  ///< position of the first
  size_t body_count;
  int carried, sliced, rest;  ///< positions of lists of operands; -1: there is none
};
constexpr Form kForms[] = {
    {"higher_order.cond", ControlFlow::Kind::Cond, 1, 2, -1, -1, 3},
    {"higher_order.while_loop", ControlFlow::Kind::WhileLoop, 0, 2, 2, -1, 3},
    {"higher_order.map_impl", ControlFlow::Kind::Map, 0, 1, -1, 1, 2},
    {"higher_order.scan", ControlFlow::Kind::Scan, 0, 1, 1, 2, 3},
};

const Form& form_of(const Node& node) {
  for (const Form& form : kForms)
    if (node.op && node.op->name == form.target) return form;
  throw_internal(place_of(node) + " is no control flow");
}

/// Appends the operands at `position`; gives their number.
size_t take(const Call& call, int position, std::vector<Argument>& operands) {
  if (position < 0) return 0;
  const Argument& argument = call.arg(static_cast<size_t>(position));
  if (argument.is_none()) return 0;
  const auto* list = argument.as<ListArg>();
  if (!list) throw_user(place_of(call.node()) + ": operands are expected as a list, found another value");
  operands.insert(operands.end(), list->items.begin(), list->items.end());
  return list->items.size();
}

/// Of a type, what two values of one place must have in common: dtype and number of dimensions.
bool alike(const Type& a, const Type& b, size_t more_dimensions) {
  if (!a.is_tensor() || !b.is_tensor()) return a.kind == b.kind;
  if (a.tensor.dtype != b.tensor.dtype || a.tensor.shape.size() != b.tensor.shape.size() + more_dimensions)
    return false;
  for (size_t d = 0; d < b.tensor.shape.size(); ++d)
    if (known_ne(a.tensor.shape[d + more_dimensions], b.tensor.shape[d])) return false;
  return true;
}

/// Whether a value of this type can be a body's result.
bool is_truth(const Type& type) {
  return type.kind == Type::Kind::SymBool ||
         (type.is_tensor() && type.tensor.dtype == DType::Bool && type.tensor.shape.empty());
}

class Fit {
 public:
  Fit(const Graph& graph, const Node& node)
      : graph_(graph), node_(node), flow_(control_flow_of(node)), results_(result_types(node)) {}

  void check() const {
    for (size_t b = 0; b < flow_.bodies.size(); ++b) {
      const auto it = graph_.subgraphs.find(flow_.bodies[b]);
      if (it == graph_.subgraphs.end()) wrong("names graph '" + flow_.bodies[b] + "', which the program does not have");
      reads(*it->second, flow_.bodies[b]);
      inputs(*it->second, flow_.bodies[b]);
      const bool condition = flow_.kind == ControlFlow::Kind::WhileLoop && b == 0;
      condition ? truth(*it->second, flow_.bodies[b]) : results(*it->second, flow_.bodies[b]);
    }
    for (size_t k = 0; k < results_.size(); ++k)
      if (!results_[k].is_tensor())
        wrong("gives a number as result " + std::to_string(k), "make a tensor of it: torch.tensor(n)");
  }

 private:
  [[noreturn]] void wrong(
      const std::string& what,
      const std::string& advice = "the program is damaged, or was changed by hand; export it again") const {
    throw_user(place_of(node_) + " " + what, advice);
  }

  /// Nothing but results comes out of a body.
  void reads(const Graph& body, const std::string& name) const {
    for (const auto& node : body.nodes()) {
      if (!node->op || node->op->op_class != OpClass::Mutation) continue;
      const Call call(*node);
      for (size_t i = 0; i < call.size(); ++i) {
        const Node* target = call.op().schema.params[i].written ? call.arg(i).node() : nullptr;
        if (target && storage_owner(*target).kind == NodeKind::Placeholder)
          wrong("has a graph '" + name + "' that writes its input '" + storage_owner(*target).name + "'",
                "return the new value instead");
      }
    }
  }

  void inputs(const Graph& body, const std::string& name) const {
    const std::vector<Node*> placeholders = body.placeholders();
    if (placeholders.size() != flow_.operands.size())
      wrong("has " + std::to_string(flow_.operands.size()) + " operands for the " +
            std::to_string(placeholders.size()) + " inputs of graph '" + name + "'");
    for (size_t i = 0; i < placeholders.size(); ++i) {
      const Node* operand = flow_.operands[i].node();
      if (!is_operand(flow_.operands[i]))
        wrong("has an operand " + std::to_string(i) + " that is neither an array nor a whole number",
              "make a tensor of it: torch.tensor(n)");
      const bool sliced = i >= flow_.carried && i < flow_.carried + flow_.sliced;
      if (sliced && (!operand || !operand->type.is_tensor() || operand->tensor().shape.empty()))
        wrong("takes elements of operand " + std::to_string(i) + ", which has no dimensions");
      if (operand && operand->type.is_tensor() && !alike(operand->type, placeholders[i]->type, sliced))
        wrong("gives '" + operand->name + "', " + to_string(operand->type) + ", to graph '" + name + "' as " +
              to_string(placeholders[i]->type));
    }
  }

  static bool is_operand(const Argument& a) {
    if (const Node* node = a.node()) return node->type.is_tensor() || node->type.kind == Type::Kind::SymInt;
    return a.as<int64_t>() || a.as<SymInt>() || a.as<bool>();
  }

  void truth(const Graph& body, const std::string& name) const {
    const std::vector<Argument> leaves = body.flat_outputs();
    const bool fits =
        leaves.size() == 1 && (leaves[0].as<bool>() || (leaves[0].node() && is_truth(leaves[0].node()->type)));
    if (!fits) wrong("asks graph '" + name + "' for a condition: one bool without dimensions is expected");
  }

  void results(const Graph& body, const std::string& name) const {
    const std::vector<Argument> leaves = body.flat_outputs();
    if (leaves.size() != results_.size())
      wrong("has " + std::to_string(results_.size()) + " results, graph '" + name + "' gives " +
            std::to_string(leaves.size()));
    for (size_t k = 0; k < leaves.size(); ++k) {
      const bool stacked =
          flow_.kind == ControlFlow::Kind::Map || (flow_.kind == ControlFlow::Kind::Scan && k >= flow_.carried);
      const Node* leaf = leaves[k].node();
      if (leaf && !alike(results_[k], leaf->type, stacked))
        wrong("is said to give " + to_string(results_[k]) + " as result " + std::to_string(k) + ", graph '" + name +
              "' gives " + to_string(leaf->type));
    }
  }

  const Graph& graph_;
  const Node& node_;
  const ControlFlow flow_;
  const std::span<const Type> results_;
};

/// Element `i` along the first dimension, in the tensor's memory.
Tensor element(const Tensor& whole, int64_t i) {
  Tensor part = whole;
  part.offset += i * whole.strides.at(0);
  part.shape.erase(part.shape.begin());
  part.strides.erase(part.strides.begin());
  return part;
}

bool truth_of(const RefValue& value) {
  if (const auto* t = std::get_if<Tensor>(&value.value)) return t->at(0) != 0;
  if (const auto* b = std::get_if<bool>(&value.value)) return *b;
  if (const auto* i = std::get_if<int64_t>(&value.value)) return *i != 0;
  throw_internal("a condition is neither a tensor nor a bool");
}

/// Runs of one body over elements of operands.
std::vector<RefValue> run_over_elements(const ControlFlow& flow, std::vector<RefValue> operands,
                                        const ControlRunner& runner) {
  const size_t first = flow.carried, past = flow.carried + flow.sliced;
  std::vector<Tensor> wholes;
  for (size_t i = first; i < past; ++i) wholes.push_back(operands[i].tensor());
  const int64_t count = wholes.empty() ? 0 : wholes[0].shape.at(0);
  for (const Tensor& whole : wholes)
    if (whole.shape.at(0) != count)
      throw_user("operands of as many elements are expected, found " + wholes[0].str() + " and " + whole.str());
  std::vector<Tensor> stacked;
  for (size_t k = first; k < flow.results; ++k) stacked.push_back(runner.memory(k));
  for (int64_t i = 0; i < count; ++i) {
    for (size_t s = 0; s < wholes.size(); ++s) operands[first + s] = element(wholes[s], i);
    std::vector<RefValue> results = runner.run(0, operands);
    for (size_t k = first; k < results.size(); ++k) {
      const Tensor to = element(stacked[k - first], i);
      const Tensor& from = results[k].tensor();
      if (from.shape != to.shape)
        throw_user("run " + std::to_string(i) + " gave " + from.str() + ", expected " + to.str());
      copy_elements(from.dtype == to.dtype ? from : from.to(to.dtype), to);
    }
    std::move(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(first), operands.begin());
  }
  operands.resize(first);
  operands.insert(operands.end(), stacked.begin(), stacked.end());
  return operands;
}

void add_nodes(const Graph& graph, std::vector<const Node*>& nodes) {
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  for (const auto& [name, body] : graph.subgraphs) add_nodes(*body, nodes);
}

}  // namespace

std::vector<const Node*> all_nodes(const Graph& graph) {
  std::vector<const Node*> nodes;
  add_nodes(graph, nodes);
  return nodes;
}

bool is_control_flow(const Node& node) { return node.op && node.op->op_class == OpClass::Control; }

ControlFlow control_flow_of(const Node& node) {
  const Form& form = form_of(node);
  const Call call(node);
  ControlFlow flow;
  flow.kind = form.kind;
  for (size_t b = form.bodies; b < form.bodies + form.body_count; ++b) {
    const auto* graph = call.arg(b).as<GraphArg>();
    if (!graph) throw_user(place_of(node) + ": a graph is expected as '" + call.op().schema.params[b].name + "'");
    flow.bodies.push_back(graph->name);
  }
  if (form.kind == ControlFlow::Kind::Cond) flow.condition = call.arg(0);
  flow.carried = take(call, form.carried, flow.operands);
  flow.sliced = take(call, form.sliced, flow.operands);
  take(call, form.rest, flow.operands);
  flow.results = result_types(node).size();
  return flow;
}

std::span<const Type> result_types(const Node& node) {
  if (node.type.kind == Type::Kind::Tuple) return node.type.parts;
  return {&node.type, 1};
}

std::vector<Argument> with_operands(const Node& node, const std::vector<Argument>& operands) {
  const Form& form = form_of(node);
  const Call call(node);
  const ControlFlow flow = control_flow_of(node);
  std::vector<Argument> args;
  for (size_t i = 0; i < call.size(); ++i) args.push_back(call.arg(i));
  const auto at = [&](size_t i) { return operands.begin() + static_cast<std::ptrdiff_t>(i); };
  const size_t past = flow.carried + flow.sliced;
  if (form.carried >= 0) args[static_cast<size_t>(form.carried)] = Argument::list({at(0), at(flow.carried)});
  if (form.sliced >= 0) args[static_cast<size_t>(form.sliced)] = Argument::list({at(flow.carried), at(past)});
  args[static_cast<size_t>(form.rest)] = Argument::list({at(past), operands.end()});
  return args;
}

void require_fitting_bodies(const Graph& graph, const Node& node) { Fit(graph, node).check(); }

std::vector<RefValue> run_control_flow(const ControlFlow& flow, const RefValue& condition,
                                       std::vector<RefValue> operands, const ControlRunner& runner) {
  switch (flow.kind) {
    case ControlFlow::Kind::Cond:
      return runner.run(truth_of(condition) ? 0 : 1, operands);
    case ControlFlow::Kind::WhileLoop:
      while (truth_of(runner.run(0, operands).at(0))) {
        std::vector<RefValue> results = runner.run(1, operands);
        std::move(results.begin(), results.end(), operands.begin());
      }
      operands.resize(flow.carried);
      return operands;
    case ControlFlow::Kind::Map:
    case ControlFlow::Kind::Scan:
      return run_over_elements(flow, std::move(operands), runner);
  }
  return {};
}

}  // namespace strata
