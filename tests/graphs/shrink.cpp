// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/shrink.h"

#include <algorithm>

#include "core/support/error.h"
#include "tests/graphs/generator.h"

namespace strata::fuzz {
namespace {

using Change = std::function<bool(RandomProgram&)>;

Node* node_at(Graph& graph, size_t position) { return graph.nodes()[position].get(); }

void replace_uses(Graph& graph, const Node* old, Node* with) {
  for (const auto& node : graph.nodes())
    node->for_each_operand([&](Node*& operand) {
      if (operand == old) operand = with;
    });
}

bool drop_output(RandomProgram& p, size_t leaf) {
  std::vector<Argument> leaves = p.graph.flat_outputs();
  if (leaves.size() < 2 || leaf >= leaves.size()) return false;
  leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(leaf));
  p.graph.output_node()->args = {Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)})};
  tidy(p);
  return true;
}

/// The node's operands are given out instead of it.
bool output_operands(RandomProgram& p, size_t leaf) {
  std::vector<Argument> leaves = p.graph.flat_outputs();
  const Node* node = leaf < leaves.size() ? leaves[leaf].node() : nullptr;
  if (!node || node->kind != NodeKind::Call) return false;
  std::vector<Argument> fresh;
  for (Node* operand : node->operands())
    if (operand->kind == NodeKind::Call && operand->type.is_tensor()) fresh.emplace_back(operand);
  if (fresh.empty()) return false;
  leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(leaf));
  leaves.insert(leaves.end(), fresh.begin(), fresh.end());
  p.graph.output_node()->args = {Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)})};
  tidy(p);
  return true;
}

/// Removes a call that writes and whose result nobody reads.
bool drop_write(RandomProgram& p, size_t position) {
  Node* node = node_at(p.graph, position);
  if (node->kind != NodeKind::Call || !node->op || node->op->op_class != OpClass::Mutation) return false;
  Node* self = node->args.at(0).node();
  replace_uses(p.graph, node, self);
  p.graph.remove_if([&](const Node& n) { return &n == node; });
  tidy(p);
  return true;
}

/// Users of the node use an operand of the same type instead.
bool skip(RandomProgram& p, size_t position) {
  Node* node = node_at(p.graph, position);
  if (node->kind != NodeKind::Call || !node->type.is_tensor()) return false;
  for (Node* operand : node->operands()) {
    if (!operand->type.is_tensor() || operand->tensor().dtype != node->tensor().dtype ||
        operand->tensor().shape != node->tensor().shape)
      continue;
    replace_uses(p.graph, node, operand);
    p.graph.remove_if([&](const Node& n) { return &n == node; });
    tidy(p);
    return true;
  }
  return false;
}

void order_placeholders_first(Graph& graph) {
  std::vector<Node*> order = graph.placeholders();
  for (const auto& n : graph.nodes())
    if (n->kind != NodeKind::Placeholder) order.push_back(n.get());
  graph.reorder(order);
}

/// The node at `position` becomes an input.
bool cut(RandomProgram& p, size_t position, bool special) {
  Node* node = node_at(p.graph, position);
  if (node->kind != NodeKind::Call || !node->type.is_tensor()) return false;
  std::vector<int64_t> shape;
  for (const SymInt& s : node->tensor().shape) {
    const auto n = evaluate(s, p.symbols);
    if (!n) return false;
    shape.push_back(*n);
  }
  Node* made = p.graph.placeholder("cut_" + node->name, Type::of(node->tensor().dtype, node->tensor().shape));
  std::mt19937_64 rng(position);
  p.inputs.push_back(random_tensor(rng, node->tensor().dtype, shape, special));
  p.graph.input_specs.push_back({});
  replace_uses(p.graph, node, made);
  p.graph.remove_if([&](const Node& n) { return &n == node; });
  order_placeholders_first(p.graph);
  tidy(p);
  return true;
}

/// Types of all calls anew, from the shape rules; false if a row refuses.
bool infer_again(Graph& graph) {
  try {
    for (const auto& node : graph.nodes()) {
      if (node->kind != NodeKind::Call || !node->op) continue;
      if (node->is("_operator.getitem")) {
        const Node* tuple = node->args.at(0).node();
        node->type = tuple->type.parts.at(static_cast<size_t>(*node->args.at(1).as<int64_t>()));
      } else {
        node->type = node->op->shape(Call(*node));
      }
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

/// Size `dim` of input `i`, and every equal number in the program, becomes `to`.
bool resize(RandomProgram& p, int64_t from, int64_t to) {
  const auto number = [&](const SymInt& s) { return s == SymInt(from) ? SymInt(to) : s; };
  bool changed = false;
  const auto placeholders = p.graph.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    TensorType& type = placeholders[i]->type.tensor;
    if (std::find(type.shape.begin(), type.shape.end(), SymInt(from)) == type.shape.end()) continue;
    changed = true;
    for (SymInt& s : type.shape) s = number(s);
    type.strides = contiguous_strides(type.shape);
    Tensor smaller = Tensor::empty(p.inputs[i].dtype, p.inputs[i].shape);
    for (int64_t& n : smaller.shape)
      if (n == from) n = to;
    smaller = Tensor::empty(smaller.dtype, smaller.shape);
    const bool floating = is_floating(smaller.dtype);
    for (int64_t k = 0; k < smaller.numel(); ++k)
      if (floating)
        smaller.set(k, p.inputs[i].at(k));
      else
        smaller.set_int(k, p.inputs[i].int_at(k));
    p.inputs[i] = smaller;
  }
  const std::function<void(Argument&)> rewrite = [&](Argument& a) {
    if (auto* list = std::get_if<ListArg>(&a.value))
      for (Argument& item : list->items)
        if (item.as<int64_t>() && *item.as<int64_t>() == from) item = to;
  };
  for (const auto& node : p.graph.nodes())
    if (node->kind == NodeKind::Call)
      for (Argument& a : node->args) rewrite(a);
  return changed && infer_again(p.graph);
}

/// The symbol becomes the number that it has in the run.
bool fix_symbol(RandomProgram& p, size_t id) {
  if (id >= p.symbols.size() || !p.symbols[id]) return false;
  const auto fixed = [&](const SymInt& s) {
    return substitute(
        s, [&](size_t symbol) { return symbol == id ? std::optional<SymInt>(*p.symbols[id]) : std::nullopt; });
  };
  bool changed = false;
  for (Node* node : p.graph.placeholders()) {
    for (SymInt& s : node->type.tensor.shape) {
      const SymInt n = fixed(s);
      changed |= !(n == s);
      s = n;
    }
    if (node->type.tensor.strides)
      for (SymInt& s : *node->type.tensor.strides) s = fixed(s);
  }
  const std::function<void(Argument&)> rewrite = [&](Argument& a) {
    if (auto* list = std::get_if<ListArg>(&a.value)) {
      for (Argument& item : list->items) rewrite(item);
    } else if (const auto* s = a.as<SymInt>()) {
      const SymInt n = fixed(*s);
      a = n.is_const() ? Argument(n.value()) : Argument(n);
    }
  };
  for (const auto& node : p.graph.nodes())
    for (Argument& a : node->args) rewrite(a);
  return changed && infer_again(p.graph);
}

/// Input `i` lies row by row; the caller passes it.
bool make_plain(RandomProgram& p, size_t i) {
  Node* node = p.graph.placeholders()[i];
  TensorType& type = node->type.tensor;
  const bool was_plain = type.is_contiguous() && p.inputs[i].is_contiguous() && p.inputs[i].offset == 0 &&
                         p.graph.input_specs[i].kind == InputSpec::Kind::User;
  if (was_plain) return false;
  type.strides = contiguous_strides(type.shape);
  p.inputs[i] = p.inputs[i].clone();
  p.graph.input_specs[i] = {};
  return infer_again(p.graph);
}

/// All elements of input `i` that are not `value` become so.
bool set_values(RandomProgram& p, size_t i, int64_t first, int64_t last, double value) {
  Tensor& t = p.inputs[i];
  bool changed = false;
  const bool floating = is_floating(t.dtype);
  for (int64_t k = first; k < std::min(last, t.numel()); ++k) {
    if (floating ? t.at(k) == value : t.int_at(k) == static_cast<int64_t>(value)) continue;
    changed = true;
    if (floating)
      t.set(k, value);
    else
      t.set_int(k, static_cast<int64_t>(value));
  }
  return changed;
}

class Shrinker {
 public:
  Shrinker(const RandomProgram& program, const std::function<bool(const RandomProgram&)>& fails, size_t budget)
      : best_(program.clone()), fails_(fails), budget_(budget) {}

  RandomProgram run() {
    for (bool progress = true; progress && budget_ > 0;) {
      progress = structure();
      progress |= sizes();
      progress |= inputs();
    }
    values();
    return std::move(best_);
  }

 private:
  bool attempt(const Change& change) {
    if (budget_ == 0) return false;
    RandomProgram candidate = best_.clone();
    try {
      if (!change(candidate) || candidate.graph.flat_outputs().empty()) return false;
    } catch (const Error&) {
      return false;
    }
    --budget_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool structure() {
    bool progress = false;
    for (size_t i = best_.graph.flat_outputs().size(); i-- > 0;) {
      progress |= attempt([&](RandomProgram& p) { return drop_output(p, i); });
      progress |= attempt([&](RandomProgram& p) { return output_operands(p, i); });
    }
    for (size_t i = best_.graph.size(); i-- > 0;) {
      if (i >= best_.graph.size()) continue;
      progress |= attempt([&](RandomProgram& p) { return drop_write(p, i); }) ||
                  attempt([&](RandomProgram& p) { return skip(p, i); }) ||
                  attempt([&](RandomProgram& p) { return cut(p, i, false); }) ||
                  attempt([&](RandomProgram& p) { return cut(p, i, true); });
    }
    return progress;
  }

  bool sizes() {
    bool progress = false;
    for (size_t id = 0; id < best_.symbols.size(); ++id)
      progress |= attempt([&](RandomProgram& p) { return fix_symbol(p, id); });
    std::vector<int64_t> found;
    for (const Tensor& t : best_.inputs) found.insert(found.end(), t.shape.begin(), t.shape.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const int64_t n : found)
      for (const int64_t to : {int64_t{1}, int64_t{2}, int64_t{3}, n / 2, n - 1})
        if (to > 0 && to < n && attempt([&](RandomProgram& p) { return resize(p, n, to); })) {
          progress = true;
          break;
        }
    return progress;
  }

  bool inputs() {
    bool progress = false;
    for (size_t i = 0; i < best_.inputs.size(); ++i)
      progress |= attempt([&](RandomProgram& p) { return make_plain(p, i); });
    return progress;
  }

  /// Halves of an input, quarters, ... become 1 (else 0) as long as that keeps the failure. Not each of many elements.
  void values() {
    for (size_t i = 0; i < best_.inputs.size(); ++i) {
      const int64_t count = best_.inputs[i].numel(), least = count <= 64 ? 1 : count / 32;
      for (int64_t length = count; length >= std::max<int64_t>(least, 1); length /= 2)
        for (int64_t at = 0; at < count && budget_ > 0; at += length)
          attempt([&](RandomProgram& p) { return set_values(p, i, at, at + length, 1); }) ||
              attempt([&](RandomProgram& p) { return set_values(p, i, at, at + length, 0); });
    }
  }

  RandomProgram best_;
  const std::function<bool(const RandomProgram&)>& fails_;
  size_t budget_;
};

}  // namespace

RandomProgram shrink(const RandomProgram& program, const std::function<bool(const RandomProgram&)>& fails,
                     size_t budget) {
  return Shrinker(program, fails, budget).run();
}

}  // namespace strata::fuzz
