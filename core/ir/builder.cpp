// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/builder.h"

#include <algorithm>
#include <unordered_set>

#include "core/support/error.h"

namespace strata {
namespace {

/// `aten.add.Tensor` -> `add`, as PyTorch names nodes.
std::string base_name(std::string_view target) {
  const size_t first = target.find('.');
  std::string_view rest = first == std::string_view::npos ? target : target.substr(first + 1);
  return std::string(rest.substr(0, rest.find('.')));
}

Argument dims_argument(const std::vector<int64_t>& dims) {
  std::vector<Argument> items(dims.begin(), dims.end());
  return Argument::list(std::move(items));
}

}  // namespace

Node* Builder::call(std::string_view target, std::vector<Argument> args,
                    std::vector<std::pair<std::string, Argument>> kwargs) {
  const OpDef* op = find_op(target);
  if (!op) throw_internal("builder: operator '" + std::string(target) + "' is not in the table");
  auto node = std::make_unique<Node>();
  node->op = op;
  node->target = op->name;
  node->args = std::move(args);
  node->kwargs = std::move(kwargs);
  node->name = base_name(op->name);
  node->meta = meta;
  node->type = op->shape(Call(*node));
  Node* made = graph_.add(std::move(node));
  if (on_create) on_create(*made);
  return made;
}

Node* Builder::getitem(Node* tuple, int64_t index) {
  if (tuple->type.kind != Type::Kind::Tuple || index < 0 || static_cast<size_t>(index) >= tuple->type.parts.size())
    throw_internal("getitem " + std::to_string(index) + " of '" + tuple->name + "' of type " + to_string(tuple->type));
  Node* made = graph_.add(NodeKind::Call, "_operator.getitem", {tuple, index},
                          tuple->type.parts[static_cast<size_t>(index)], "getitem");
  made->op = find_op("_operator.getitem");
  made->meta = meta;
  if (on_create) on_create(*made);
  return made;
}

Node* Builder::constant(Tensor value, std::string_view name_hint) {
  std::string name(name_hint);
  for (int i = 0; graph_.attributes.contains(name) || graph_.find(name); ++i)
    name = std::string(name_hint) + std::to_string(i);
  TensorType type;
  type.dtype = value.dtype;
  type.shape.assign(value.shape.begin(), value.shape.end());
  type.strides = std::vector<SymInt>(value.strides.begin(), value.strides.end());
  type.device = "cpu";
  graph_.attributes[name] = std::move(value);
  Node* made = graph_.add(NodeKind::GetAttr, name, {}, Type::of(std::move(type)), name);
  made->meta = meta;
  if (on_create) on_create(*made);
  return made;
}

Node* Builder::scalar(double value, DType dtype) { return constant(Tensor::scalar(dtype, value), "_scalar"); }

std::string Builder::tensor_or_scalar(const char* base, const Argument&) { return std::string(base) + ".Tensor"; }

Node* Builder::cast(Node* a, DType dtype) {
  if (a->tensor().dtype == dtype) return a;
  return call("aten._to_copy.default", {a}, {{"dtype", dtype}});
}

Node* Builder::reshape(Node* a, const std::vector<SymInt>& shape) {
  if (a->tensor().shape == shape) return a;
  return call("aten.view.default", {a, Argument::ints(shape)});
}

Node* Builder::permute(Node* a, const std::vector<int64_t>& dims) {
  return call("aten.permute.default", {a, dims_argument(dims)});
}

Node* Builder::transpose(Node* a, int64_t d0, int64_t d1) {
  const auto rank = static_cast<int64_t>(a->tensor().shape.size());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) dims[static_cast<size_t>(i)] = i;
  std::swap(dims[normalize_dim(d0, dims.size(), *a)], dims[normalize_dim(d1, dims.size(), *a)]);
  return permute(a, dims);
}

Node* Builder::expand(Node* a, const std::vector<SymInt>& shape) {
  if (a->tensor().shape == shape) return a;
  return call("aten.expand.default", {a, Argument::ints(shape)});
}

Node* Builder::unsqueeze(Node* a, int64_t dim) { return call("aten.unsqueeze.default", {a, dim}); }

Node* Builder::sum(Node* a, const std::vector<int64_t>& dims, bool keepdim) {
  return call("aten.sum.dim_IntList", {a, dims_argument(dims), keepdim});
}

Node* Builder::sum_to(Node* a, const std::vector<SymInt>& shape) {
  const auto& from = a->tensor().shape;
  if (from == shape) return a;
  std::vector<int64_t> dims;
  const size_t lead = from.size() - shape.size();
  for (size_t d = 0; d < from.size(); ++d) {
    const bool folded = d < lead || (shape[d - lead] == SymInt(1) && !(from[d] == SymInt(1)));
    if (folded) dims.push_back(static_cast<int64_t>(d));
  }
  Node* summed = dims.empty() ? a : sum(a, dims, true);
  return reshape(summed, shape);
}

// --------------------------------------------------------------------------------------------------------------
// rewriting

GraphRewriter::GraphRewriter(const Graph& from, std::string pass)
    : from_(from), to_(from.shared_env(), from.ids()), pass_(std::move(pass)), builder_(to_) {
  to_.name = from.name;
  to_.extra = from.extra;
  to_.attributes = from.attributes;
  to_.reserve_names_of(from);
  builder_.on_create = [this](Node& node) { made_.push_back(node.id); };
}

Builder& GraphRewriter::at(const Node& old, std::string rule, OriginKind kind) {
  builder_.meta = old.meta;
  builder_.meta.maker = pass_;
  builder_.meta.origins = {Origin{old.id, kind, std::move(rule), true}};
  made_.clear();
  return builder_;
}

Node* GraphRewriter::mapped(const Node* old) const {
  const auto it = map_.find(old);
  return it == map_.end() ? nullptr : it->second;
}

Argument GraphRewriter::mapped(const Argument& old) const {
  Argument copy = old;
  for_each_node(copy, [&](Node*& node) { node = present(node); });
  return copy;
}

Node* GraphRewriter::present(const Node* old) const {
  Node* made = mapped(old);
  if (!made) throw_internal("pass '" + pass_ + "': operand '" + old->name + "' was removed but is still used");
  return made;
}

Node* GraphRewriter::copy(const Node& old) {
  if (old.target == "_operator.getitem" && !old.args.empty()) {
    if (const auto it = parts_.find(old.args[0].node()); it != parts_.end()) {
      Node* part = it->second.at(static_cast<size_t>(*old.args[1].as<int64_t>()));
      rewrites_.push_back({"getitem", {old.id}, {part->id}, "its tuple was taken apart"});
      return map_[&old] = part;
    }
  }
  auto node = std::make_unique<Node>(old);
  node->for_each_operand([&](Node*& operand) { operand = present(operand); });
  return map_[&old] = to_.add(std::move(node));
}

void GraphRewriter::replace(const Node& old, Node* with, const std::string& rule, const std::string& reason) {
  map_[&old] = with;
  std::vector<NodeId> after = std::move(made_);
  if (after.empty()) after.push_back(with->id);
  rewrites_.push_back({rule, {old.id}, std::move(after), reason});
  made_.clear();
}

void GraphRewriter::replace_parts(const Node& old, std::vector<Node*> parts, const std::string& rule) {
  std::vector<NodeId> after = std::move(made_);
  if (after.empty())
    for (Node* part : parts) after.push_back(part->id);
  rewrites_.push_back({rule, {old.id}, std::move(after), {}});
  made_.clear();
  parts_[&old] = std::move(parts);
}

void GraphRewriter::erase(const Node& old, const std::string& rule, const std::string& reason) {
  rewrites_.push_back({rule, {old.id}, {}, reason});
}

Graph GraphRewriter::finish() {
  const auto old_inputs = from_.placeholders();
  for (size_t i = 0; i < old_inputs.size() && i < from_.input_specs.size(); ++i)
    if (mapped(old_inputs[i])) to_.input_specs.push_back(from_.input_specs[i]);
  to_.output_specs = from_.output_specs;
  for (const auto& [key, sub] : from_.subgraphs) to_.subgraphs[key] = std::make_unique<Graph>(sub->clone());
  std::unordered_set<std::string> named;
  for (const auto& node : to_.nodes())
    if (node->kind == NodeKind::GetAttr) named.insert(node->target);
  std::erase_if(to_.attributes, [&](const auto& entry) { return !named.contains(entry.first); });
  return std::move(to_);
}

}  // namespace strata
