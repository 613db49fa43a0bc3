// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The cut. Every value that does not depend on a tangent becomes an edge in -> out whose capacity is its size; out
// leads to the in of each user without limit. The source feeds the inputs, and every value that must not be computed
// twice. What depends on a tangent is the sink. The minimum cut is the set of values to keep; of the minimum cuts we
// take the one nearest to the sink, because it recomputes least.

#include "passes/partition.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_set>

#include "core/ir/op.h"
#include "core/support/error.h"
#include "passes/autograd.h"

namespace strata {
namespace {

using NodeSet = std::unordered_set<const Node*>;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
constexpr int64_t kUnknownSize = 4096;  // stands for sizes without a hint

// ------------------------------------------------------------------------------------------------------------------
// max flow

/// Dinic's algorithm.
class FlowNetwork {
 public:
  explicit FlowNetwork(size_t vertices) : edges_of_(vertices) {}

  void add(size_t from, size_t to, int64_t capacity) {
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  void saturate(size_t source, size_t sink) {
    while (find_levels(source, sink)) {
      next_.assign(edges_of_.size(), 0);
      while (push(source, sink) > 0) {
      }
    }
  }

  /// Vertices from which the sink can still be reached.
  std::vector<bool> reaching(size_t sink) const {
    std::vector<bool> seen(edges_of_.size(), false);
    std::queue<size_t> queue({sink});
    seen[sink] = true;
    for (; !queue.empty(); queue.pop())
      for (size_t e : edges_of_[queue.front()]) {
        const size_t from = edges_[e].to;  // the twin of e leads from there to here
        if (seen[from] || edges_[e ^ 1].capacity == 0) continue;
        seen[from] = true;
        queue.push(from);
      }
    return seen;
  }

 private:
  struct Edge {
    size_t to;
    int64_t capacity;
  };

  bool find_levels(size_t source, size_t sink) {
    level_.assign(edges_of_.size(), -1);
    level_[source] = 0;
    std::queue<size_t> queue({source});
    for (; !queue.empty(); queue.pop())
      for (size_t e : edges_of_[queue.front()])
        if (edges_[e].capacity > 0 && level_[edges_[e].to] < 0) {
          level_[edges_[e].to] = level_[queue.front()] + 1;
          queue.push(edges_[e].to);
        }
    return level_[sink] >= 0;
  }

  /// One augmenting path, walked with an explicit stack: graphs are deep.
  int64_t push(size_t source, size_t sink) {
    std::vector<size_t> path;
    for (size_t at = source; at != sink;) {
      bool forward = false;
      for (size_t& i = next_[at]; i < edges_of_[at].size(); ++i) {
        const size_t e = edges_of_[at][i];
        if (edges_[e].capacity == 0 || level_[edges_[e].to] != level_[at] + 1) continue;
        path.push_back(e);
        at = edges_[e].to;
        forward = true;
        break;
      }
      if (forward) continue;
      if (path.empty()) return 0;
      at = edges_[path.back() ^ 1].to;
      path.pop_back();
      ++next_[at];
    }
    int64_t flow = kUnlimited;
    for (size_t e : path) flow = std::min(flow, edges_[e].capacity);
    for (size_t e : path) {
      edges_[e].capacity -= flow;
      edges_[e ^ 1].capacity += flow;
    }
    return flow;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

// -------------------------------------------------------------------------------------------------------------- the
// question

int64_t bytes_of(const Type& type) {
  if (!type.is_tensor()) return 8;
  int64_t bytes = static_cast<int64_t>(dtype_size(type.tensor.dtype));
  for (const SymInt& n : type.tensor.shape) {
    const int64_t size = std::max<int64_t>(1, hint(n).value_or(kUnknownSize));
    if (bytes > (int64_t{1} << 50) / size) return int64_t{1} << 50;
    bytes *= size;
  }
  return bytes;
}

bool is_cheap(const Node& node) {
  if (node.kind == NodeKind::GetAttr) return true;
  if (node.target == "_operator.getitem") return true;
  if (!node.op || node.op->has(trait::Random | trait::SideEffect | trait::DataDependent)) return false;
  const OpClass c = node.op->op_class;
  return c == OpClass::Pointwise || c == OpClass::View || c == OpClass::Creation || c == OpClass::Symbolic;
}

/// Which nodes belong where.
struct Regions {
  std::vector<const Node*> nodes;  ///< placeholders, constants and calls, in order
  NodeSet backward;                ///< depends on a tangent
  NodeSet forward;                 ///< needed for the program's outputs
  NodeSet parameters;
  std::vector<Argument> outputs, gradients;
  std::vector<OutputSpec> output_specs, gradient_specs;
};

void find_outputs(const Graph& joint, Regions& r) {
  const std::vector<Argument> all = joint.flat_outputs();
  const size_t primals = count_primals(joint);
  if (all.size() < primals) throw_internal("joint graph: expected one gradient per primal among the outputs");
  const auto split = all.end() - static_cast<long>(primals);
  r.outputs.assign(all.begin(), split);
  r.gradients.assign(split, all.end());
  std::vector<OutputSpec> specs = joint.output_specs;
  specs.resize(all.size());
  r.output_specs.assign(specs.begin(), specs.end() - static_cast<long>(primals));
  r.gradient_specs.assign(specs.end() - static_cast<long>(primals), specs.end());
}

Regions find_regions(const Graph& joint) {
  Regions r;
  find_outputs(joint, r);
  size_t position = 0;
  for (const auto& node : joint.nodes()) {
    if (node->kind == NodeKind::Output) continue;
    r.nodes.push_back(node.get());
    if (node->kind == NodeKind::Placeholder) {
      if (!node->name.starts_with("primals_"))
        r.backward.insert(node.get());
      else if (position < joint.input_specs.size() && joint.input_specs[position].kind != InputSpec::Kind::User)
        r.parameters.insert(node.get());
      ++position;
    }
    for (const Node* operand : node->operands())
      if (r.backward.contains(operand)) r.backward.insert(node.get());
  }
  for (const Argument& a : r.outputs)
    if (a.node()) r.forward.insert(a.node());
  for (auto it = r.nodes.rbegin(); it != r.nodes.rend(); ++it)
    if (r.forward.contains(*it))
      for (const Node* operand : (*it)->operands()) r.forward.insert(operand);
  for (const Node* node : r.forward)
    if (r.backward.contains(node)) throw_user("output '" + node->name + "' of the joint graph depends on a tangent");
  return r;
}

/// Values to keep, by the minimum cut.
NodeSet cut(const Regions& r) {
  std::unordered_map<const Node*, size_t> number;
  for (const Node* node : r.nodes)
    if (!r.backward.contains(node)) number.emplace(node, number.size());
  const size_t source = 2 * number.size(), sink = source + 1;
  FlowNetwork network(sink + 1);
  for (const Node* node : r.nodes) {
    const auto it = number.find(node);
    if (it != number.end()) {
      const bool tuple = node->type.kind == Type::Kind::Tuple;
      network.add(2 * it->second, 2 * it->second + 1,
                  tuple                         ? kUnlimited
                  : r.parameters.contains(node) ? 1
                                                : bytes_of(node->type));
      // What only the backward part needs is computed once wherever it stands; the rest twice, if it is not kept.
      if (node->kind == NodeKind::Placeholder || (r.forward.contains(node) && !is_cheap(*node)))
        network.add(source, 2 * it->second, kUnlimited);
    }
    for (const Node* operand : node->operands())
      if (const auto from = number.find(operand); from != number.end())
        network.add(2 * from->second + 1, it != number.end() ? 2 * it->second : sink, kUnlimited);
  }
  // A gradient may be a value of the forward part.
  for (const Argument& a : r.gradients)
    if (const auto it = number.find(a.node()); a.node() && it != number.end())
      network.add(2 * it->second + 1, sink, kUnlimited);
  network.saturate(source, sink);
  const std::vector<bool> below = network.reaching(sink);
  NodeSet kept;
  for (const auto& [node, n] : number)
    if (!below[2 * n] && below[2 * n + 1]) kept.insert(node);
  return kept;
}

// ----------------------------------------------------------------------------------------------------------------- the
// graphs

/// Copies nodes of the joint graph into one of the two.
class Half {
 public:
  explicit Half(const Graph& joint, const std::string& name) : graph_(joint.shared_env(), joint.ids()) {
    graph_.name = name;
    graph_.attributes = joint.attributes;
  }
  bool has(const Node* node) const { return map_.contains(node); }
  Node* at(const Node* node) const { return map_.at(node); }

  void input(const Node& node, InputSpec spec) {
    auto twin = std::make_unique<Node>(node);
    twin->kind = NodeKind::Placeholder;
    twin->op = nullptr;
    twin->args.clear();
    twin->kwargs.clear();
    twin->target = node.name;
    map_[&node] = graph_.add(std::move(twin));
    graph_.input_specs.push_back(std::move(spec));
  }
  void copy(const Node& node, bool recomputed) {
    auto twin = std::make_unique<Node>(node);
    twin->for_each_operand([&](Node*& operand) { operand = map_.at(operand); });
    if (recomputed) {
      twin->id = 0;
      twin->meta.role = Role::Recomputed;
      twin->meta.maker = "partition";
      twin->meta.origins = {Origin{node.id, OriginKind::Copied, "recompute", true}};
    }
    map_[&node] = graph_.add(std::move(twin));
  }
  Argument mapped(Argument a) const {
    for_each_node(a, [&](Node*& n) { n = map_.at(n); });
    return a;
  }
  Graph finish(std::vector<Argument> outputs, std::vector<OutputSpec> specs) {
    for (Argument& a : outputs) a = mapped(a);
    graph_.output(Argument::list(std::move(outputs)));
    graph_.output_specs = std::move(specs);
    std::unordered_set<std::string> named;
    for (const auto& node : graph_.nodes())
      if (node->kind == NodeKind::GetAttr) named.insert(node->target);
    std::erase_if(graph_.attributes, [&](const auto& entry) { return !named.contains(entry.first); });
    return std::move(graph_);
  }

 private:
  Graph graph_;
  std::unordered_map<const Node*, Node*> map_;
};

InputSpec spec_of(const Graph& joint, const Node* node) {
  const std::vector<Node*> inputs = joint.placeholders();
  const auto at = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), node) - inputs.begin());
  return at < joint.input_specs.size() ? joint.input_specs[at] : InputSpec{};
}

/// Nodes that the backward graph computes: ancestors of the gradients up to what is kept.
NodeSet backward_nodes(const Regions& r, const NodeSet& kept) {
  NodeSet needed;
  for (const Argument& a : r.gradients)
    if (a.node()) needed.insert(a.node());
  for (auto it = r.nodes.rbegin(); it != r.nodes.rend(); ++it) {
    if (!needed.contains(*it) || kept.contains(*it)) continue;
    for (const Node* operand : (*it)->operands()) needed.insert(operand);
  }
  return needed;
}

PartitionDecision decide(const Regions& r, const Node* node, const NodeSet& kept) {
  PartitionDecision d{node->id, node->name, PartitionDecision::Kind::Saved, bytes_of(node->type), {}};
  if (kept.contains(node)) {
    if (r.parameters.contains(node))
      d.reason = "a parameter or buffer: there anyway";
    else if (node->kind == NodeKind::Placeholder)
      d.reason = "an input of the program";
    else if (!is_cheap(*node))
      d.reason = "computing " + node->target + " again would cost more than keeping its result";
    else
      d.reason = "recomputing it would need more bytes kept than it has";
    return d;
  }
  std::string from;
  for (const Node* operand : node->operands()) from += (from.empty() ? "" : ", ") + operand->name;
  if (from.empty()) from = "nothing";
  if (r.forward.contains(node)) {
    d.kind = PartitionDecision::Kind::Recomputed;
    d.reason = node->target + " is cheap: computed again from " + from;
  } else {
    d.kind = PartitionDecision::Kind::Moved;
    d.reason = "only the backward part needs it: computed there from " + from;
  }
  return d;
}

/// Forward nodes: for the outputs and for what is kept.
NodeSet forward_nodes(const Regions& r, const NodeSet& kept) {
  NodeSet needed = r.forward;
  needed.insert(kept.begin(), kept.end());
  for (auto it = r.nodes.rbegin(); it != r.nodes.rend(); ++it)
    if (needed.contains(*it))
      for (const Node* operand : (*it)->operands()) needed.insert(operand);
  return needed;
}

}  // namespace

std::string_view to_string(PartitionDecision::Kind kind) {
  switch (kind) {
    case PartitionDecision::Kind::Saved:
      return "saved";
    case PartitionDecision::Kind::Recomputed:
      return "recomputed";
    case PartitionDecision::Kind::Moved:
      return "moved";
  }
  return "";
}

Partition partition(const Graph& joint) {
  const Regions r = find_regions(joint);
  NodeSet kept = cut(r);
  const NodeSet in_backward = backward_nodes(r, kept);
  std::erase_if(kept, [&](const Node* node) { return !in_backward.contains(node); });
  const NodeSet in_forward = forward_nodes(r, kept);

  Partition p{
      Graph(joint.shared_env(), joint.ids()), Graph(joint.shared_env(), joint.ids()), {}, r.outputs.size(), {}, 0};
  Half forward(joint, "forward"), backward(joint, "backward");
  std::vector<Argument> results = r.outputs;
  std::vector<OutputSpec> specs = r.output_specs;
  for (const Node* node : r.nodes) {
    if (!kept.contains(node)) continue;
    results.emplace_back(node);
    specs.push_back({});
    p.saved.push_back(node->id);
    p.saved_bytes += bytes_of(node->type);
    backward.input(*node, node->kind == NodeKind::Placeholder ? spec_of(joint, node) : InputSpec{});
  }
  for (const Node* node : r.nodes) {
    if (node->kind == NodeKind::Placeholder) {
      if (!r.backward.contains(node))
        forward.input(*node, spec_of(joint, node));
      else
        backward.input(*node, {});
    } else if (in_forward.contains(node)) {
      forward.copy(*node, false);
    }
    if (in_backward.contains(node) && !backward.has(node)) backward.copy(*node, in_forward.contains(node));
    if (in_backward.contains(node) && !r.backward.contains(node)) p.decisions.push_back(decide(r, node, kept));
  }
  p.forward = forward.finish(std::move(results), std::move(specs));
  p.backward = backward.finish(r.gradients, r.gradient_specs);
  return p;
}

}  // namespace strata
