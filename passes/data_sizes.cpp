// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/data_sizes.h"

#include "passes/strided_view.h"

namespace strata {
namespace {

constexpr int kMaxViews = 64;

void collect(const Type& type, std::set<size_t>& symbols) {
  for (const SymInt& s : type.tensor.shape)
    for (size_t id : free_symbols(s)) symbols.insert(id);
  if (type.kind == Type::Kind::SymInt)
    for (size_t id : free_symbols(type.sym)) symbols.insert(id);
}

}  // namespace

DataSizes::DataSizes(const Graph& graph) {
  for (const Node* input : graph.placeholders()) collect(input->type, of_inputs_);
  for (const auto& node : graph.nodes()) {
    const bool reads = node->kind == NodeKind::Call && node->type.kind == Type::Kind::SymInt && node->op &&
                       node->op->op_class == OpClass::Symbolic && node->op->has(trait::DataDependent);
    if (!reads) continue;
    readers_.push_back(node.get());
    for (size_t id : free_symbols(node->type.sym))
      if (!of_inputs_.contains(id)) giver_.try_emplace(id, node.get());
  }
}

bool DataSizes::depends_on_data(const SymInt& e) const {
  for (size_t id : free_symbols(e))
    if (!of_inputs_.contains(id)) return true;
  return false;
}

void DataSizes::add(const SymInt& e, std::set<const Node*>& found) const {
  for (size_t id : free_symbols(e))
    if (const auto it = giver_.find(id); it != giver_.end()) found.insert(it->second);
}

void DataSizes::add(const Argument& argument, std::set<const Node*>& found) const {
  if (const auto* e = argument.as<SymInt>()) add(*e, found);
  if (const auto* list = argument.as<ListArg>())
    for (const Argument& item : list->items) add(item, found);
  if (const Node* node = argument.node(); node && node->type.kind == Type::Kind::SymInt) add(node->type.sym, found);
}

void DataSizes::add(const Type& type, std::set<const Node*>& found) const {
  for (const SymInt& s : type.tensor.shape) add(s, found);
  for (const Type& part : type.parts) add(part, found);
}

void DataSizes::add(const Node& node, std::set<const Node*>& found, int depth) const {
  add(node.type, found);
  for (const Argument& a : node.args) add(a, found);
  for (const auto& [key, a] : node.kwargs) add(a, found);
  for (const Node* operand : node.operands()) {
    add(operand->type, found);
    if (is_view(*operand) && depth < kMaxViews) add(*operand, found, depth + 1);
  }
}

std::vector<const Node*> DataSizes::needed_by(const Node& node) const {
  if (giver_.empty()) return {};
  std::set<const Node*> found;
  add(node, found, 0);
  return {found.begin(), found.end()};
}

}  // namespace strata
