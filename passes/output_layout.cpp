// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/output_layout.h"

#include <algorithm>

namespace strata {
namespace {

/// A permutation of dimensions laid out without gaps; dimensions of one element count for nothing.
bool is_dense(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides) {
  std::vector<bool> placed(shape.size(), false);
  SymInt step = 1;
  for (size_t found = 0; found < shape.size();) {
    size_t d = 0;
    while (d < shape.size() && (placed[d] || !(shape[d] == SymInt(1) || strides[d] == step))) ++d;
    if (d == shape.size()) return false;
    placed[d] = true;
    step = step * shape[d];
    ++found;
  }
  return true;
}

/// Strides of the buffer under which `node`, a view that reorders its dimensions, has strides `wanted`.
std::optional<std::vector<SymInt>> under_view(const StridedView& view, const std::vector<SymInt>& wanted) {
  const auto& shape = view.base->tensor().shape;
  const std::vector<SymInt> plain = contiguous_strides(shape);
  if (!(view.offset == SymInt(0)) || view.shape.size() != shape.size()) return {};
  std::vector<SymInt> strides(shape.size());
  std::vector<bool> taken(shape.size(), false);
  for (size_t d = 0; d < shape.size(); ++d) {
    size_t e = 0;
    while (e < shape.size() &&
           (taken[e] || !(shape[e] == view.shape[d]) || !(plain[e] == view.strides[d] || shape[e] == SymInt(1))))
      ++e;
    if (e == shape.size()) return {};
    taken[e] = true;
    strides[e] = wanted[d];
  }
  return strides;
}

}  // namespace

OutputStrides output_strides(const Graph& graph) {
  OutputStrides result;
  const auto leaves = graph.flat_outputs();
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!graph.is_user_output(i)) continue;
    const Node* node = leaves[i].node();
    result.push_back(node && node->type.is_tensor() ? node->tensor().strides : std::nullopt);
  }
  return result;
}

std::vector<std::pair<const Node*, std::vector<SymInt>>> wanted_layouts(const Graph& graph, const Layouts& layouts,
                                                                        const OutputStrides& wanted) {
  std::vector<std::pair<const Node*, std::vector<SymInt>>> result;
  std::unordered_set<const Node*> decided;
  const auto leaves = graph.flat_outputs();
  size_t user = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!graph.is_user_output(i)) continue;
    const size_t at = user++;
    const Node* node = leaves[i].node();
    if (at >= wanted.size() || !wanted[at] || !node || !node->type.is_tensor()) continue;
    const Node* base = layouts.base(node);
    if (!(layouts.strides(base) == contiguous_strides(base->tensor().shape))) continue;  // its readers' choice
    const auto view = strided_view(node, layouts);
    if (!view || view->shape.size() != wanted[at]->size() || !decided.insert(view->base).second) continue;
    const auto strides = under_view(*view, *wanted[at]);
    const auto& shape = view->base->tensor().shape;
    if (strides && !(*strides == contiguous_strides(shape)) && is_dense(shape, *strides))
      result.emplace_back(view->base, *strides);
  }
  return result;
}

std::vector<const Node*> views_to_copy(const Graph& graph, const Layouts& layouts) {
  constexpr int64_t kLittle = 1024;  // elements: the copy element by element costs less than a kernel's start
  std::vector<const Node*> result;
  const auto leaves = graph.flat_outputs();
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Node* node = leaves[i].node();
    if (!node || !graph.is_user_output(i) || !layouts.is_virtual(*node)) continue;
    const NodeKind given = layouts.base(node)->kind;
    if ((given != NodeKind::Placeholder && given != NodeKind::GetAttr) || is_complex(node->tensor().dtype)) continue;
    if (hint(node->tensor().numel()).value_or(0) >= kLittle) result.push_back(node);
  }
  return result;
}

}  // namespace strata
