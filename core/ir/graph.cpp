// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/graph.h"

#include <algorithm>
#include <cstring>

#include "core/support/error.h"

namespace strata {

// ----------------------------------------------------------------------------------------------------------------
// types

std::vector<SymInt> contiguous_strides(const std::vector<SymInt>& shape) {
  std::vector<SymInt> strides(shape.size());
  SymInt step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    if (!(shape[d] == SymInt(0))) step = step * shape[d];
  }
  return strides;
}

bool same_places(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides,
                 const std::vector<SymInt>& others) {
  if (strides.size() != shape.size() || others.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!(shape[d] == SymInt(1)) && !(strides[d] == others[d])) return false;
  return true;
}

SymInt TensorType::numel() const {
  SymInt n = 1;
  for (const SymInt& s : shape) n = n * s;
  return n;
}

bool TensorType::is_contiguous() const {
  if (!strides) return true;
  const auto expected = contiguous_strides(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (!(shape[d] == SymInt(1)) && !((*strides)[d] == expected[d])) return false;
  return true;
}

Type Type::of(TensorType t) {
  Type type;
  type.kind = Kind::Tensor;
  type.tensor = std::move(t);
  return type;
}

Type Type::of(DType dtype, std::vector<SymInt> shape, std::string device) {
  TensorType t;
  t.dtype = dtype;
  t.strides = contiguous_strides(shape);
  t.shape = std::move(shape);
  t.device = std::move(device);
  return of(std::move(t));
}

Type Type::symint(SymInt e) {
  Type type;
  type.kind = Kind::SymInt;
  type.sym = e;
  return type;
}

Type Type::tuple(std::vector<Type> parts) {
  Type type;
  type.kind = Kind::Tuple;
  type.parts = std::move(parts);
  return type;
}

namespace {

std::string bracketed(const std::vector<SymInt>& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + items[i].str();
  return text + "]";
}

}  // namespace

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Unknown:
      return type.text;
    case Type::Kind::Other:
      return type.text;
    case Type::Kind::None:
      return "None";
    case Type::Kind::SymInt:
      return "Sym(" + type.sym.str() + ")";
    case Type::Kind::SymFloat:
      return type.text.empty() ? "Sym(float)" : type.text;
    case Type::Kind::SymBool:
      return type.text.empty() ? "Sym(bool)" : type.text;
    case Type::Kind::Tuple: {
      std::string text = "(";
      for (size_t i = 0; i < type.parts.size(); ++i) text += (i ? ", " : "") + to_string(type.parts[i]);
      return text + (type.parts.size() == 1 ? ",)" : ")");
    }
    case Type::Kind::Tensor:
      break;
  }
  std::string text(dtype_abbr(type.tensor.dtype));
  text += bracketed(type.tensor.shape);
  if (type.tensor.strides) text += bracketed(*type.tensor.strides);
  return text + type.tensor.device;
}

// -------------------------------------------------------------------------------------------------------------
// arguments

bool ListArg::operator==(const ListArg& other) const { return kind == other.kind && items == other.items; }
bool DictArg::operator==(const DictArg& other) const { return items == other.items; }
bool SliceArg::operator==(const SliceArg& other) const { return parts == other.parts; }

Argument Argument::ints(const std::vector<SymInt>& items) {
  std::vector<Argument> list;
  list.reserve(items.size());
  for (const SymInt& item : items) {
    if (item.is_const())
      list.emplace_back(item.value());
    else
      list.emplace_back(item);
  }
  return Argument::list(std::move(list));
}

void for_each_node(Argument& argument, const std::function<void(Node*&)>& visit) {
  if (auto* node = std::get_if<Node*>(&argument.value)) return visit(*node);
  if (auto* list = std::get_if<ListArg>(&argument.value))
    for (Argument& item : list->items) for_each_node(item, visit);
  if (auto* dict = std::get_if<DictArg>(&argument.value)) {
    for (auto& [key, item] : dict->items) {
      for_each_node(key, visit);
      for_each_node(item, visit);
    }
  }
  if (auto* slice = std::get_if<SliceArg>(&argument.value))
    for (Argument& item : slice->parts) for_each_node(item, visit);
}

void for_each_node(const Argument& argument, const std::function<void(Node*)>& visit) {
  for_each_node(const_cast<Argument&>(argument), [&](Node*& node) { visit(node); });
}

std::string_view to_string(OriginKind kind) {
  switch (kind) {
    case OriginKind::Copied:
      return "copied";
    case OriginKind::Lowered:
      return "lowered";
    case OriginKind::Decomposed:
      return "decomposed";
    case OriginKind::Fused:
      return "fused";
    case OriginKind::Folded:
      return "folded";
    case OriginKind::Gradient:
      return "gradient";
    case OriginKind::Replaced:
      return "replaced";
  }
  return "";
}

std::string_view to_string(NodeKind kind) {
  switch (kind) {
    case NodeKind::Placeholder:
      return "placeholder";
    case NodeKind::GetAttr:
      return "get_attr";
    case NodeKind::Call:
      return "call_function";
    case NodeKind::CallMethod:
      return "call_method";
    case NodeKind::CallModule:
      return "call_module";
    case NodeKind::Output:
      return "output";
  }
  return "";
}

// -----------------------------------------------------------------------------------------------------------------
// nodes

void Node::for_each_operand(const std::function<void(Node*&)>& visit) {
  for (Argument& a : args) for_each_node(a, visit);
  for (auto& [key, a] : kwargs) for_each_node(a, visit);
}

std::vector<Node*> Node::operands() const {
  std::vector<Node*> result;
  const_cast<Node*>(this)->for_each_operand([&](Node*& n) {
    if (n && std::find(result.begin(), result.end(), n) == result.end()) result.push_back(n);
  });
  return result;
}

// -----------------------------------------------------------------------------------------------------------------
// graph

bool is_array_output(const Argument& output) {
  return output.node() || output.as<int64_t>() || output.as<double>() || output.as<bool>() || output.as<SymInt>();
}

Graph::Graph(std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids)
    : env_(env ? std::move(env) : std::make_shared<ShapeEnv>()),
      ids_(ids ? std::move(ids) : std::make_shared<IdSource>()) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

std::string Graph::unique_name(std::string_view hint) {
  std::string base(hint.empty() ? "node" : hint);
  const auto taken = [this](const std::string& n) { return names_.contains(n) || reserved_.contains(n); };
  if (!taken(base)) return base;
  int& counter = name_counters_[base];
  std::string candidate;
  do candidate = base + "_" + std::to_string(++counter);
  while (taken(candidate));
  return candidate;
}

void Graph::reserve_names_of(const Graph& other) {
  for (const auto& [key, node] : other.names_) reserved_.insert(key);
}

Node* Graph::add(std::unique_ptr<Node> node) {
  const bool is_copy = node->id != 0;
  if (is_copy)
    ids_->next = std::max(ids_->next, node->id + 1);
  else
    node->id = ids_->next++;
  Node* raw = node.get();
  const bool usable = !raw->name.empty() && (is_copy || reserved_.empty() || !reserved_.contains(raw->name));
  if (!usable || !names_.try_emplace(raw->name, raw).second) {
    raw->name = unique_name(raw->name);
    names_[raw->name] = raw;
  }
  if (raw->kind != NodeKind::Output && output_node())
    nodes_.insert(nodes_.end() - 1, std::move(node));
  else
    nodes_.push_back(std::move(node));
  return raw;
}

Node* Graph::add(NodeKind kind, std::string target, std::vector<Argument> args, Type type, std::string name_hint) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->target = std::move(target);
  node->args = std::move(args);
  node->type = std::move(type);
  node->name = std::move(name_hint);
  return add(std::move(node));
}

Node* Graph::placeholder(std::string name_of_input, Type type) {
  return add(NodeKind::Placeholder, name_of_input, {}, std::move(type), name_of_input);
}

Node* Graph::output(Argument value) { return add(NodeKind::Output, "output", {std::move(value)}, {}, "output"); }

void Graph::remove_if(const std::function<bool(const Node&)>& dead) {
  std::erase_if(nodes_, [&](const std::unique_ptr<Node>& node) {
    if (!dead(*node)) return false;
    names_.erase(node->name);
    return true;
  });
}

void Graph::reorder(const std::vector<Node*>& order) {
  if (order.size() != nodes_.size()) throw_internal("reorder: not a permutation of the graph's nodes");
  std::unordered_map<const Node*, std::unique_ptr<Node>> owned;
  for (auto& node : nodes_) {
    const Node* key = node.get();
    owned.emplace(key, std::move(node));
  }
  nodes_.clear();
  for (Node* node : order) nodes_.push_back(std::move(owned.at(node)));
}

std::vector<Node*> Graph::placeholders() const {
  std::vector<Node*> result;
  for (const auto& node : nodes_)
    if (node->kind == NodeKind::Placeholder) result.push_back(node.get());
  return result;
}

Node* Graph::output_node() const {
  return !nodes_.empty() && nodes_.back()->kind == NodeKind::Output ? nodes_.back().get() : nullptr;
}

namespace {

void collect_leaves(const Argument& argument, std::vector<Argument>& leaves) {
  if (const auto* list = argument.as<ListArg>()) {
    for (const Argument& item : list->items) collect_leaves(item, leaves);
  } else if (const auto* dict = argument.as<DictArg>()) {
    for (const auto& [key, item] : dict->items) collect_leaves(item, leaves);
  } else {
    leaves.push_back(argument);
  }
}

}  // namespace

OutputSpec Graph::output_spec(size_t i) const { return i < output_specs.size() ? output_specs[i] : OutputSpec{}; }

std::vector<Argument> Graph::flat_outputs() const {
  std::vector<Argument> leaves;
  if (const Node* out = output_node(); out && !out->args.empty()) collect_leaves(out->args[0], leaves);
  return leaves;
}

Node* Graph::find(std::string_view node_name) const {
  const auto it = names_.find(std::string(node_name));
  return it == names_.end() ? nullptr : it->second;
}

Node* Graph::find(NodeId id) const {
  for (const auto& node : nodes_)
    if (node->id == id) return node.get();
  return nullptr;
}

Graph Graph::clone() const {
  Graph copy(env_, ids_);
  copy.name = name;
  copy.input_specs = input_specs;
  copy.output_specs = output_specs;
  copy.attributes = attributes;
  copy.extra = extra;
  copy.name_counters_ = name_counters_;
  for (const auto& [key, sub] : subgraphs) copy.subgraphs[key] = std::make_unique<Graph>(sub->clone());
  std::unordered_map<const Node*, Node*> map;
  for (const auto& node : nodes_) {
    copy.nodes_.push_back(std::make_unique<Node>(*node));
    Node* made = copy.nodes_.back().get();
    map[node.get()] = made;
    copy.names_[made->name] = made;
  }
  for (const auto& node : copy.nodes_) {
    node->for_each_operand([&](Node*& operand) {
      if (const auto it = map.find(operand); it != map.end()) operand = it->second;
    });
  }
  return copy;
}

namespace {

using Replacement = std::function<std::optional<SymInt>(size_t)>;

void substitute_in(Type& type, const Replacement& replacement) {
  const auto change = [&](SymInt& size) { size = strata::substitute(size, replacement); };
  change(type.sym);
  std::ranges::for_each(type.tensor.shape, change);
  if (type.tensor.strides) std::ranges::for_each(*type.tensor.strides, change);
  for (Type& part : type.parts) substitute_in(part, replacement);
}

void substitute_in(Argument& a, const Replacement& replacement) {
  if (const auto* size = std::get_if<SymInt>(&a.value)) {
    const SymInt changed = strata::substitute(*size, replacement);
    a = changed.is_const() ? Argument(changed.value()) : Argument(changed);
  } else if (auto* list = std::get_if<ListArg>(&a.value)) {
    for (Argument& item : list->items) substitute_in(item, replacement);
  } else if (auto* slice = std::get_if<SliceArg>(&a.value)) {
    for (Argument& part : slice->parts) substitute_in(part, replacement);
  }
}

}  // namespace

void Graph::substitute(const Replacement& replacement) {
  for (const auto& node : nodes_) {
    substitute_in(node->type, replacement);
    for (Argument& a : node->args) substitute_in(a, replacement);
    for (auto& [key, a] : node->kwargs) substitute_in(a, replacement);
  }
  for (const auto& [key, sub] : subgraphs) sub->substitute(replacement);
}

UserMap users_of(const Graph& graph) {
  UserMap users;
  for (const auto& node : graph.nodes()) {
    users.try_emplace(node.get());
    for (Node* operand : node->operands()) users[operand].push_back(node.get());
  }
  return users;
}

// ------------------------------------------------------------------------------------------------------------
// comparison

namespace {

using Pairing = std::unordered_map<const Node*, const Node*>;

bool equal_arguments(const Argument& a, const Argument& b, const Pairing& pairs);

bool equal_lists(const std::vector<Argument>& a, const std::vector<Argument>& b, const Pairing& pairs) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Argument& x, const Argument& y) { return equal_arguments(x, y, pairs); });
}

bool equal_arguments(const Argument& a, const Argument& b, const Pairing& pairs) {
  if (a.value.index() != b.value.index()) return false;
  if (const auto* x = a.as<Node*>()) {
    const auto it = pairs.find(*x);
    return it != pairs.end() && it->second == b.node();
  }
  if (const auto* x = a.as<ListArg>()) {
    const auto* y = b.as<ListArg>();
    return x->kind == y->kind && equal_lists(x->items, y->items, pairs);
  }
  if (const auto* x = a.as<SliceArg>()) return equal_lists(x->parts, b.as<SliceArg>()->parts, pairs);
  if (const auto* x = a.as<DictArg>()) {
    const auto* y = b.as<DictArg>();
    return std::equal(x->items.begin(), x->items.end(), y->items.begin(), y->items.end(),
                      [&](const auto& p, const auto& q) {
                        return equal_arguments(p.first, q.first, pairs) && equal_arguments(p.second, q.second, pairs);
                      });
  }
  if (const auto* x = a.as<SymInt>()) return x->str() == b.as<SymInt>()->str();  // graphs may have different ShapeEnvs
  if (const auto* x = a.as<double>())
    return std::memcmp(x, b.as<double>(), sizeof *x) == 0 || *x == *b.as<double>();  // NaN equals itself here
  return a == b;
}

std::string node_difference(const Node& a, const Node& b, const Pairing& pairs, bool with_source) {
  if (a.kind != b.kind) return "kind";
  if (a.name != b.name) return "name";
  if (a.target != b.target) return "target";
  if (!equal_lists(a.args, b.args, pairs)) return "arguments";
  if (a.kwargs.size() != b.kwargs.size()) return "keyword arguments";
  for (size_t i = 0; i < a.kwargs.size(); ++i) {
    if (a.kwargs[i].first != b.kwargs[i].first || !equal_arguments(a.kwargs[i].second, b.kwargs[i].second, pairs))
      return "keyword argument " + a.kwargs[i].first;
  }
  if (to_string(a.type) != to_string(b.type))
    return "type (" + to_string(a.type) + " against " + to_string(b.type) + ")";
  if (with_source) {
    if ((a.meta.source == nullptr) != (b.meta.source == nullptr)) return "source";
    if (a.meta.source && *a.meta.source != *b.meta.source) return "source";
    if (a.meta.module_path != b.meta.module_path) return "module path";
  }
  return {};
}

}  // namespace

bool structurally_equal(const Graph& a, const Graph& b, std::string* why, bool with_source) {
  auto differ = [&](std::string text) {
    if (why) *why = std::move(text);
    return false;
  };
  if (a.size() != b.size())
    return differ("number of nodes: " + std::to_string(a.size()) + " against " + std::to_string(b.size()));
  Pairing pairs;
  for (size_t i = 0; i < a.size(); ++i) {
    const Node &x = *a.nodes()[i], &y = *b.nodes()[i];
    if (std::string d = node_difference(x, y, pairs, with_source); !d.empty())
      return differ("node " + std::to_string(i) + " '" + x.name + "' against '" + y.name + "': " + d);
    pairs[&x] = &y;
  }
  if (a.subgraphs.size() != b.subgraphs.size()) return differ("number of subgraphs");
  for (const auto& [key, sub] : a.subgraphs) {
    const auto it = b.subgraphs.find(key);
    if (it == b.subgraphs.end()) return differ("subgraph '" + key + "' is missing");
    std::string inner;
    if (!structurally_equal(*sub, *it->second, &inner, with_source)) return differ("subgraph '" + key + "': " + inner);
  }
  return true;
}

}  // namespace strata
