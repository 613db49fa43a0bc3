// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/cse.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>

namespace strata {
namespace {

void write_key(std::string& key, const Argument& a);

void write_list(std::string& key, const std::vector<Argument>& items) {
  key += '[';
  for (const Argument& item : items) write_key(key, item);
  key += ']';
}

void write_key(std::string& key, const Argument& a) {
  key += static_cast<char>('a' + a.value.index());
  if (const auto* v = a.as<int64_t>())
    key += std::to_string(*v);
  else if (const auto* v = a.as<bool>())
    key += *v ? '1' : '0';
  else if (const auto* v = a.as<double>())
    key.append(reinterpret_cast<const char*>(v), sizeof *v);  // bits: 0.0 is not -0.0
  else if (const auto* v = a.as<std::complex<double>>())
    key.append(reinterpret_cast<const char*>(v), sizeof *v);
  else if (const auto* v = a.as<std::string>())
    key += std::to_string(v->size()) + *v;
  else if (const auto* v = a.as<SymInt>())
    key += v->str();
  else if (const auto* v = a.as<DType>())
    key += dtype_abbr(*v);
  else if (const auto* v = a.as<DeviceArg>())
    key += v->name;
  else if (const auto* v = a.as<EnumArg>())
    key += v->name;
  else if (const auto* v = a.as<ListArg>())
    write_list(key, v->items);
  else if (const auto* v = a.as<SliceArg>())
    write_list(key, v->parts);
  else if (Node* node = a.node())
    key += std::to_string(node->id);
  key += ';';
}

bool comparable(const Argument& a) { return !a.as<OpaqueArg>() && !a.as<GraphArg>() && !a.as<DictArg>(); }

/// Empty if the node must not be merged. Operands are those of the new graph, so twins of twins meet too.
std::string key_of(const Node& node, const std::vector<Argument>& args,
                   const std::vector<std::pair<std::string, Argument>>& kwargs) {
  if (node.kind != NodeKind::Call || !node.op) return {};
  if (node.op->has(trait::Random) || node.op->has(trait::SideEffect) || node.op->op_class == OpClass::Mutation)
    return {};
  std::string key = node.target + "(";
  for (const Argument& a : args) {
    if (!comparable(a)) return {};
    write_key(key, a);
  }
  for (const auto& [name, a] : kwargs) {
    if (!comparable(a)) return {};
    key += name + "=";
    write_key(key, a);
  }
  return key + to_string(node.type);
}

bool equal_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.numel() == 0 || std::memcmp(x.data(), y.data(), static_cast<size_t>(x.numel()) * dtype_size(x.dtype)) == 0;
}

/// Small constants: attributes, and constants of exported programs, which come as inputs (`torch.tensor(1.0)` of a
/// forward is a new one in each call of it). Not parameters and buffers: these are known by their names.
class Constants {
 public:
  Constants(const Graph& graph, const PassContext& context) : known_(graph, context) {
    const std::vector<Node*> inputs = graph.placeholders();
    for (size_t i = 0; i < std::min(inputs.size(), graph.input_specs.size()); ++i)
      if (graph.input_specs[i].kind == InputSpec::Kind::TensorConstant) lifted_.insert(inputs[i]);
  }

  bool is_lifted(const Node& node) const { return lifted_.contains(&node); }

  /// The same for equal contents; empty if the node is no such constant. Nothing is gained where one has no users.
  std::string key(const Node& node) {
    if (node.kind != NodeKind::GetAttr && !is_lifted(node)) return {};
    const Tensor* value = known_.value(&node);
    if (!value || value->numel() > 4096) return {};
    const auto equal =
        std::find_if(seen_.begin(), seen_.end(), [&](const Tensor* t) { return equal_bits(*t, *value); });
    const auto number = equal - seen_.begin();
    if (equal == seen_.end()) seen_.push_back(value);
    return "constant " + std::to_string(number);
  }

 private:
  ConstantInputs known_;
  std::unordered_set<const Node*> lifted_;
  std::vector<const Tensor*> seen_;
};

}  // namespace

/// Operands need not be mapped: before the first pair of equal nodes nothing has been replaced.
bool cse_may_change(const Graph& graph, const PassContext& context) {
  std::unordered_set<std::string> seen;
  Constants constants(graph, context);
  std::optional<UserMap> users;
  for (const auto& node : graph.nodes()) {
    std::string key = constants.key(*node);
    if (key.empty()) key = key_of(*node, node->args, node->kwargs);
    if (key.empty() || seen.insert(std::move(key)).second) continue;
    if (!constants.is_lifted(*node)) return true;
    if (!users) users = users_of(graph);
    if (!users->at(node.get()).empty()) return true;
  }
  return false;
}

PassResult cse(const Graph& graph, const PassContext& context) {
  GraphRewriter rewriter(graph, "cse");
  std::unordered_map<std::string, Node*> first;
  Constants constants(graph, context);
  const UserMap users = users_of(graph);
  for (const auto& node : graph.nodes()) {
    std::vector<Argument> args;
    std::vector<std::pair<std::string, Argument>> kwargs;
    for (const Argument& a : node->args) args.push_back(rewriter.mapped(a));
    for (const auto& [name, a] : node->kwargs) kwargs.emplace_back(name, rewriter.mapped(a));
    std::string key = constants.key(*node);
    if (key.empty()) key = key_of(*node, args, kwargs);
    const auto it = key.empty() ? first.end() : first.find(key);
    const bool is_input = node->kind == NodeKind::Placeholder;
    // An input stays one: what is not used is dropped elsewhere.
    Node* copied = it == first.end() || is_input ? rewriter.copy(*node) : nullptr;
    if (it == first.end()) {
      if (!key.empty()) first[key] = copied;
    } else if (!is_input || !users.at(node.get()).empty()) {
      // The survivor computes both: whoever asks where it comes from must see both lines.
      it->second->meta.origins.push_back({node->id, OriginKind::Replaced, "common subexpression", true});
      rewriter.at(*node, "common subexpression");
      rewriter.replace(*node, it->second, "common subexpression", "same as '" + it->second->name + "'");
    }
  }
  Graph result = rewriter.finish();
  return {std::move(result), rewriter.take_rewrites()};
}

}  // namespace strata
