// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/small_sizes.h"

#include "core/support/error.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"

namespace strata {
namespace {

constexpr int64_t kTracedFrom = 2;

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
    Graph graph = graph_.clone();
    graph.substitute([&](size_t symbol) -> std::optional<SymInt> {
      if (symbol >= small.size() || !small[symbol]) return {};
      return SymInt(*small[symbol]);
    });
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
