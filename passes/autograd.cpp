// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reverse mode. The forward nodes are copied; then, from last to first, each node whose results have cotangents asks
// its row for the cotangents of its operands. Cotangents that meet at one value are added. What turns out to be unused
// is dropped at the end.

#include "passes/autograd.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/ir/builder.h"
#include "core/support/error.h"

namespace strata {
namespace {

constexpr int kMaxRounds = 32;

bool is_float_tensor(const Type& type) { return type.is_tensor() && is_floating(type.tensor.dtype); }
bool carries_gradient(const Type& type) {
  if (type.kind == Type::Kind::Tuple) return std::any_of(type.parts.begin(), type.parts.end(), is_float_tensor);
  return is_float_tensor(type);
}
bool is_getitem(const Node& node) { return node.target == "_operator.getitem"; }
const Gradient* gradient_of(const Node& node) { return node.op ? std::get_if<Gradient>(&node.op->gradient) : nullptr; }
bool is_nondifferentiable(const Node& node) {
  if (is_getitem(node)) return false;  // its row speaks of Python lists; parts of a result pass cotangents on
  const auto* word = node.op ? std::get_if<NoGradient>(&node.op->gradient) : nullptr;
  return word && *word == NoGradient::Nondifferentiable;
}

// ------------------------------------------------------------------------------------------------------------- what is
// active

std::vector<bool> wanted_inputs(const Graph& graph, const JointOptions& options) {
  const std::vector<Node*> inputs = graph.placeholders();
  if (!options.needs_gradient.empty()) {
    if (options.needs_gradient.size() != inputs.size())
      throw_user("needs_gradient has " + std::to_string(options.needs_gradient.size()) + " entries, the graph " +
                 std::to_string(inputs.size()) + " inputs");
    for (size_t i = 0; i < inputs.size(); ++i)
      if (options.needs_gradient[i] && !is_float_tensor(inputs[i]->type))
        throw_user("input '" + inputs[i]->name + "' of type " + to_string(inputs[i]->type) + " cannot have a gradient");
    return options.needs_gradient;
  }
  std::vector<bool> wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto kind = i < graph.input_specs.size() ? graph.input_specs[i].kind : InputSpec::Kind::User;
    const bool asked =
        kind == InputSpec::Kind::Parameter || (kind == InputSpec::Kind::User && inputs[i]->tensor().requires_grad);
    wanted.push_back(is_float_tensor(inputs[i]->type) && asked);
  }
  return wanted;
}

using NodeSet = std::unordered_set<const Node*>;

/// Nodes through which a wanted input influences something differentiable.
NodeSet active_nodes(const Graph& graph, const std::vector<bool>& wanted) {
  NodeSet active;
  size_t input = 0;
  for (const auto& node : graph.nodes()) {
    if (node->kind == NodeKind::Placeholder) {
      if (wanted[input++]) active.insert(node.get());
      continue;
    }
    if (node->kind != NodeKind::Call || !carries_gradient(node->type) || is_nondifferentiable(*node)) continue;
    const std::vector<Node*> operands = node->operands();
    if (std::any_of(operands.begin(), operands.end(), [&](Node* n) { return active.contains(n); }))
      active.insert(node.get());
  }
  return active;
}

std::vector<bool> tangent_outputs(const Graph& graph, const JointOptions& options, const NodeSet& active) {
  const std::vector<Argument> outputs = graph.flat_outputs();
  if (!options.has_tangent.empty() && options.has_tangent.size() != outputs.size())
    throw_user("has_tangent has " + std::to_string(options.has_tangent.size()) + " entries, the graph " +
               std::to_string(outputs.size()) + " outputs");
  std::vector<bool> result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Node* node = outputs[i].node();
    const OutputSpec::Kind kind = graph.output_spec(i).kind;
    const bool asked = options.has_tangent.empty() ? kind == OutputSpec::Kind::User || kind == OutputSpec::Kind::Loss
                                                   : options.has_tangent[i];
    result.push_back(asked && node && is_float_tensor(node->type) && active.contains(node));
  }
  return result;
}

/// Nodes that a tangent reaches: ancestors of the outputs that have one.
NodeSet reached_nodes(const Graph& graph, const std::vector<bool>& tangents, const NodeSet& active) {
  NodeSet reached;
  const std::vector<Argument> outputs = graph.flat_outputs();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (tangents[i]) reached.insert(outputs[i].node());
  const auto& nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
    if (reached.contains(it->get()))
      for (const Node* operand : (*it)->operands())
        if (active.contains(operand)) reached.insert(operand);
  return reached;
}

// -----------------------------------------------------------------------------------------------------------------
// expansion

/// Takes apart the operators on the way that have a decomposition but no gradient, until none is left.
Graph expand(const Graph& graph, const JointOptions& options) {
  Graph current = graph.clone();
  for (int round = 0; round < kMaxRounds; ++round) {
    const NodeSet active = active_nodes(current, wanted_inputs(current, options));
    const NodeSet reached = reached_nodes(current, tangent_outputs(current, options, active), active);
    GraphRewriter rewriter(current, "make_joint");
    for (const auto& node : current.nodes()) {
      if (!reached.contains(node.get()) || !node->op || !node->op->decompose || gradient_of(*node)) {
        rewriter.copy(*node);
        continue;
      }
      Node call = *node;
      call.for_each_operand([&](Node*& operand) { operand = rewriter.mapped(operand); });
      const std::string rule = "decompose " + node->target;
      Builder& builder = rewriter.at(*node, rule, OriginKind::Decomposed);
      std::vector<Node*> results = node->op->decompose(builder, Call(call));
      if (node->type.kind == Type::Kind::Tuple)
        rewriter.replace_parts(*node, std::move(results), rule);
      else
        rewriter.replace(*node, results.at(0), rule);
    }
    const bool changed = rewriter.changed();
    Graph next = rewriter.finish();
    current = std::move(next);
    if (!changed) return current;
  }
  throw_internal("decompositions do not end after " + std::to_string(kMaxRounds) + " rounds");
}

void require_gradients(const Graph& graph, const NodeSet& reached) {
  std::set<std::string> lacking;
  for (const auto& node : graph.nodes()) {
    if (node->kind != NodeKind::Call || !reached.contains(node.get()) || is_getitem(*node) || gradient_of(*node))
      continue;
    std::string text = node->target;
    if (node->meta.source && !node->meta.source->empty())
      text += " (" + node->meta.source->back().file + ":" + std::to_string(node->meta.source->back().line) + ")";
    lacking.insert(text);
  }
  if (lacking.empty()) return;
  std::string text;
  for (const std::string& name : lacking) text += (text.empty() ? "" : ", ") + name;
  throw_user(std::to_string(lacking.size()) + " operators on the way to a gradient have none: " + text);
}

// ------------------------------------------------------------------------------------------------------------------
// backward

class Differentiator {
 public:
  Differentiator(const Graph& from, std::vector<bool> wanted, std::vector<bool> tangents, const NodeSet& active)
      : from_(from),
        wanted_(std::move(wanted)),
        tangents_(std::move(tangents)),
        active_(active),
        joint_(from.shared_env(), from.ids()),
        builder_(joint_) {
    builder_.on_create = [](Node& node) { node.meta.role = Role::Backward; };
  }

  Graph run() {
    add_inputs();
    for (const auto& node : from_.nodes())
      if (node->kind == NodeKind::Call || node->kind == NodeKind::GetAttr) copy(*node);
    seed();
    const auto& nodes = from_.nodes();
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if ((*it)->kind == NodeKind::Call) differentiate(**it);
    add_outputs();
    return std::move(joint_);
  }

 private:
  void add_inputs();
  void copy(const Node& node);
  void seed();
  void differentiate(const Node& node);
  void differentiate_getitem(const Node& node);
  std::vector<Node*> cotangents_of(const Node& node);
  void give(const Node* old_operand, Node* cotangent);
  void add_outputs();
  Argument mapped(Argument a) const {
    for_each_node(a, [&](Node*& n) { n = map_.at(n); });
    return a;
  }

  const Graph& from_;
  std::vector<bool> wanted_, tangents_;
  const NodeSet& active_;
  Graph joint_;
  Builder builder_;
  std::unordered_map<const Node*, Node*> map_;        // old -> joint
  std::unordered_map<const Node*, const Node*> old_;  // joint -> old
  std::unordered_map<const Node*, Node*> cotangent_;
  std::unordered_map<const Node*, std::vector<Node*>> part_cotangents_;
  std::vector<Node*> tangent_inputs_;
};

void Differentiator::add_inputs() {
  joint_.attributes = from_.attributes;
  joint_.name = from_.name;
  int number = 0;
  for (Node* input : from_.placeholders()) {
    auto node = std::make_unique<Node>(*input);
    node->name = node->target = "primals_" + std::to_string(++number);
    node->meta.extra.try_emplace("input", input->name);
    map_[input] = joint_.add(std::move(node));
    old_[map_[input]] = input;
  }
  const std::vector<Argument> outputs = from_.flat_outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!tangents_[i]) continue;
    Node* tangent =
        joint_.placeholder("tangents_" + std::to_string(tangent_inputs_.size() + 1), outputs[i].node()->type);
    tangent->meta.role = Role::Backward;
    tangent->meta.maker = "make_joint";
    tangent_inputs_.push_back(tangent);
  }
  joint_.input_specs = from_.input_specs;
  if (joint_.input_specs.empty()) joint_.input_specs.resize(static_cast<size_t>(number));
  joint_.input_specs.resize(static_cast<size_t>(number) + tangent_inputs_.size());
}

void Differentiator::copy(const Node& node) {
  auto twin = std::make_unique<Node>(node);
  for (Argument& a : twin->args) a = mapped(a);
  for (auto& [key, a] : twin->kwargs) a = mapped(a);
  map_[&node] = joint_.add(std::move(twin));
  old_[map_[&node]] = &node;
}

void Differentiator::seed() {
  const std::vector<Argument> outputs = from_.flat_outputs();
  size_t tangent = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (tangents_[i]) give(outputs[i].node(), tangent_inputs_[tangent++]);
}

void Differentiator::give(const Node* operand, Node* cotangent) {
  if (!cotangent || !active_.contains(operand)) return;
  Node*& sum = cotangent_[operand];
  sum = sum ? builder_.add(sum, cotangent) : cotangent;
}

/// What the cotangents of a call belong to: one operand per parameter (null for numbers and None), a list of tensors
/// one by one.
std::vector<Node*> slots(const Call& call) {
  std::vector<Node*> operands;
  for (size_t i = 0; i < call.size(); ++i) {
    const Param& param = call.op().schema.params[i];
    if (param.list && param.type == "Tensor") {
      for (Node* tensor : call.tensors(i)) operands.push_back(tensor);
    } else {
      operands.push_back(call.optional_tensor(i));
    }
  }
  return operands;
}

/// One per result, null where none arrived; empty if none did.
std::vector<Node*> Differentiator::cotangents_of(const Node& node) {
  if (node.type.kind == Type::Kind::Tuple) {
    const auto it = part_cotangents_.find(&node);
    return it == part_cotangents_.end() ? std::vector<Node*>() : it->second;
  }
  const auto it = cotangent_.find(&node);
  return it == cotangent_.end() ? std::vector<Node*>() : std::vector<Node*>{it->second};
}

void Differentiator::differentiate_getitem(const Node& node) {
  const auto it = cotangent_.find(&node);
  const Node* tuple = node.args.at(0).node();
  const auto* index = node.args.at(1).as<int64_t>();
  if (it == cotangent_.end() || !tuple || !index || !active_.contains(tuple)) return;
  std::vector<Node*>& parts = part_cotangents_[tuple];
  parts.resize(tuple->type.parts.size(), nullptr);
  Node*& sum = parts.at(static_cast<size_t>(*index < 0 ? *index + static_cast<int64_t>(parts.size()) : *index));
  sum = sum ? builder_.add(sum, it->second) : it->second;
}

void Differentiator::differentiate(const Node& node) {
  if (!active_.contains(&node)) return;
  builder_.meta = node.meta;
  builder_.meta.maker = "make_joint";
  builder_.meta.role = Role::Backward;
  builder_.meta.origins = {Origin{node.id, OriginKind::Gradient, "gradient of " + node.target, true}};
  if (is_getitem(node)) return differentiate_getitem(node);
  std::vector<Node*> cotangents = cotangents_of(node);
  if (cotangents.empty()) return;
  const Call call(*map_.at(&node));
  const auto needed = [&](size_t i) {
    bool any = false;
    for_each_node(call.arg(i), [&](Node* n) { any |= n && active_.contains(old_.at(n)); });
    return any;
  };
  const std::vector<Node*> results = (*gradient_of(node))(GradientCall{builder_, call, std::move(cotangents), needed});
  const std::vector<Node*> operands = slots(call);
  if (results.size() != operands.size())
    throw_internal("gradient of " + node.target + " gave " + std::to_string(results.size()) + " cotangents, expected " +
                   std::to_string(operands.size()));
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] && operands[i]) give(old_.at(operands[i]), results[i]);
}

void Differentiator::add_outputs() {
  std::vector<Argument> values;
  for (const Argument& a : from_.flat_outputs()) values.push_back(mapped(a));
  joint_.output_specs = from_.output_specs;
  joint_.output_specs.resize(values.size());
  const std::vector<Node*> inputs = from_.placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto it = cotangent_.find(inputs[i]);
    values.push_back(wanted_[i] && it != cotangent_.end() ? Argument(it->second) : Argument());
    const bool parameter = i < from_.input_specs.size() && from_.input_specs[i].kind == InputSpec::Kind::Parameter;
    joint_.output_specs.push_back(
        {parameter ? OutputSpec::Kind::GradientToParameter : OutputSpec::Kind::GradientToUserInput,
         parameter ? from_.input_specs[i].target : inputs[i]->name});
  }
  joint_.output(Argument::list(std::move(values)));
}

/// Drops calls without effect that nothing uses.
void drop_unused(Graph& graph) {
  NodeSet live;
  const auto& nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = **it;
    const bool effect = node.kind != NodeKind::Call && node.kind != NodeKind::GetAttr;
    if (!effect && !live.contains(&node) && !(node.op && node.op->has(trait::SideEffect))) continue;
    live.insert(&node);
    for (const Node* operand : node.operands()) live.insert(operand);
  }
  graph.remove_if([&](const Node& node) { return !live.contains(&node); });
  std::erase_if(graph.attributes, [&](const auto& entry) {
    return std::none_of(nodes.begin(), nodes.end(), [&](const auto& node) {
      return node->kind == NodeKind::GetAttr && node->target == entry.first;
    });
  });
}

}  // namespace

Graph make_joint(const Graph& functional, const JointOptions& options) {
  const Graph graph = expand(functional, options);
  const std::vector<bool> wanted = wanted_inputs(graph, options);
  const NodeSet active = active_nodes(graph, wanted);
  const std::vector<bool> tangents = tangent_outputs(graph, options, active);
  if (std::find(tangents.begin(), tangents.end(), true) == tangents.end())
    throw_user("nothing to differentiate: no output depends on an input whose gradient is wanted");
  const NodeSet reached = reached_nodes(graph, tangents, active);
  require_gradients(graph, reached);
  Graph joint = Differentiator(graph, wanted, tangents, active).run();
  drop_unused(joint);
  return joint;
}

size_t count_primals(const Graph& joint) {
  size_t count = 0;
  for (const Node* input : joint.placeholders()) count += input->name.starts_with("primals_");
  return count;
}

}  // namespace strata
