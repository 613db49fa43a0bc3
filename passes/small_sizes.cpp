// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/small_sizes.h"

#include "core/support/error.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"

namespace strata {
namespace {

constexpr int64_t kTracedFrom = 2;

/// A graph in which some symbols are numbers.
class AtSizes {
 public:
  explicit AtSizes(const SymBindings& sizes) : sizes_(sizes) {}

  Graph operator()(const Graph& graph) const {
    Graph result = graph.clone();
    for (const auto& node : result.nodes()) {
      change(node->type);
      for (Argument& a : node->args) change(a);
      for (auto& [key, a] : node->kwargs) change(a);
    }
    return result;
  }

 private:
  void change(SymInt& size) const {
    size = substitute(size, [&](size_t symbol) -> std::optional<SymInt> {
      if (symbol >= sizes_.size() || !sizes_[symbol]) return {};
      return SymInt(*sizes_[symbol]);
    });
  }
  void change(Type& type) const {
    change(type.sym);
    for (SymInt& size : type.tensor.shape) change(size);
    if (type.tensor.strides)
      for (SymInt& stride : *type.tensor.strides) change(stride);
    for (Type& part : type.parts) change(part);
  }
  void change(Argument& a) const {
    if (auto* size = std::get_if<SymInt>(&a.value)) {
      change(*size);
      if (size->is_const()) a = size->value();
    } else if (auto* list = std::get_if<ListArg>(&a.value)) {
      for (Argument& item : list->items) change(item);
    }
  }

  const SymBindings& sizes_;
};

std::string told(const Graph& graph, const SymBindings& sizes) {
  std::string text;
  for (size_t symbol = 0; symbol < sizes.size(); ++symbol)
    if (sizes[symbol])
      text += (text.empty() ? "" : ", ") + graph.env().info(symbol).name + " = " + std::to_string(*sizes[symbol]);
  return text;
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
  if (fit_.contains(small)) return;
  try {
    const Graph graph = AtSizes(small)(graph_);
    (void)decompose(functionalize(graph, {}).graph, {});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    throw_user("the inputs do not fit the program, which was captured for sizes of 2 and more: with " +
                   told(graph_, small) + " " + error.message(),
               "capture it with inputs of this size");
  }
  fit_.insert(std::move(small));
}

}  // namespace strata
