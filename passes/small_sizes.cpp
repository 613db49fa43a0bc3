// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/small_sizes.h"

#include "core/ir/op.h"
#include "core/support/error.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"

namespace strata {
namespace {

std::string told(const Graph& graph, const SymBindings& sizes) {
  std::string text;
  const ShapeEnv& env = graph.env();
  for (size_t symbol = 0; symbol < sizes.size(); ++symbol)
    if (sizes[symbol] && *sizes[symbol] < kTracedFrom)
      text += (text.empty() ? "" : ", ") + env.info(symbol).name + " = " + std::to_string(*sizes[symbol]);
  return text;
}

[[noreturn]] void misfit(const Graph& graph, const SymBindings& sizes, const std::string& what) {
  throw_user("the inputs do not fit the program, which was captured for sizes of 2 and more: with " +
                 told(graph, sizes) + " " + what,
             "capture it with inputs of this size");
}

/// A number of one graph that is another one in the other.
std::optional<std::string> difference(const SymInt& a, const SymInt& b, const SymBindings& sizes) {
  if (a == b) return {};
  const auto x = evaluate(a, sizes), y = evaluate(b, sizes);
  if (x == y) return {};
  return "a size is " + (y ? std::to_string(*y) : b.str()) + ", not " + (x ? std::to_string(*x) : a.str());
}

std::optional<std::string> difference(const Type& a, const Type& b, const SymBindings& sizes) {
  if (auto found = difference(a.sym, b.sym, sizes)) return found;
  for (size_t d = 0; d < a.tensor.shape.size(); ++d)
    if (auto found = difference(a.tensor.shape[d], b.tensor.shape[d], sizes)) return found;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (auto found = difference(a.parts[i], b.parts[i], sizes)) return found;
  return {};
}

std::optional<std::string> difference(const Argument& a, const Argument& b, const SymBindings& sizes) {
  const auto* list = a.as<ListArg>();
  const auto* others = b.as<ListArg>();
  for (size_t i = 0; list && others && i < list->items.size(); ++i)
    if (auto found = difference(list->items[i], others->items[i], sizes)) return found;
  const auto number = [](const Argument& n) -> std::optional<SymInt> {
    if (const auto* size = n.as<SymInt>()) return *size;
    if (const auto* size = n.as<int64_t>()) return SymInt(*size);
    return {};
  };
  const auto x = number(a), y = number(b);
  return x && y ? difference(*x, *y, sizes) : std::nullopt;
}

/// An operand of one element along a dimension that the kernel does not know to be broadcast.
std::optional<std::string> broadcast_unforeseen(const Node& node, const SymBindings& sizes) {
  if (!node.op || node.op->op_class != OpClass::Pointwise || !node.type.is_tensor()) return {};
  const auto& result = node.tensor().shape;
  for (const Node* operand : node.operands()) {
    if (!operand->type.is_tensor()) continue;
    const auto& shape = operand->tensor().shape;
    for (size_t d = 0; d < shape.size() && shape.size() <= result.size(); ++d) {
      const SymInt &own = shape[d], &whole = result[result.size() - shape.size() + d];
      if (own == SymInt(1) || own == whole) continue;
      const auto x = evaluate(own, sizes), y = evaluate(whole, sizes);
      if (x && y && *x != *y)
        return "'" + operand->name + "' has " + std::to_string(*x) + " of " + std::to_string(*y) + " elements";
    }
  }
  return {};
}

}  // namespace

void SmallSizes::require(const SymBindings& bindings) {
  SymBindings small = bindings;
  bool any = false;
  for (auto& size : small) {
    if (size && (*size < 0 || *size >= kTracedFrom)) size.reset();
    any |= size.has_value();
  }
  if (!any) return;
  const std::lock_guard lock(mutex_);
  if (bindings == last_) return;
  require_sizes(bindings);
  if (!fit_.contains(small)) {
    require_operators(small);
    fit_.insert(std::move(small));
  }
  last_ = bindings;
}

void SmallSizes::require_sizes(const SymBindings& bindings) const {
  const auto& nodes = program_.graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    std::optional<std::string> wrong = broadcast_unforeseen(node, bindings);
    if (program_.stated && !wrong) {
      const Node& stated = *program_.stated->nodes()[i];
      wrong = difference(node.type, stated.type, bindings);
      for (size_t a = 0; a < node.args.size() && !wrong; ++a)
        wrong = difference(node.args[a], stated.args[a], bindings);
      for (size_t a = 0; a < node.kwargs.size() && !wrong; ++a)
        wrong = difference(node.kwargs[a].second, stated.kwargs[a].second, bindings);
    }
    if (wrong) misfit(program_.graph, bindings, "'" + node.name + "' (" + node.target + "): " + *wrong);
  }
}

void SmallSizes::require_operators(const SymBindings& small) const {
  try {
    Graph graph = (program_.stated ? *program_.stated : program_.graph).clone();
    graph.substitute([&](size_t symbol) -> std::optional<SymInt> {
      if (symbol >= small.size() || !small[symbol]) return {};
      return SymInt(*small[symbol]);
    });
    (void)decompose(functionalize(graph, {}).graph, {});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    misfit(program_.graph, small, error.message());
  }
}

}  // namespace strata
