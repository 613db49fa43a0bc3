// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Every view but a reshape, as_strided and those that say NotAffine maps indices by an affine function, so its value at
// 0 and at the unit vectors gives offset and strides.

#include "passes/strided_view.h"

#include <algorithm>

namespace strata {
namespace {

bool is_reshape(const Node& node) {
  return node.is("aten.view.default") || node.is("aten._unsafe_view.default") || node.is("aten.reshape.default");
}

/// Elements follow each other row by row, without gaps.
bool is_row_major(const StridedView& view) {
  TensorType type = Type::of(DType::F32, view.shape).tensor;
  type.strides = view.strides;
  return type.is_contiguous();
}

/// Counts the operand's elements row by row: strides over the buffer only where they lie so.
bool apply_as_strided(const Node& node, StridedView& view) {
  if (!is_row_major(view)) return false;
  const Call call(node);
  view.strides = call.integers(2);
  view.offset = view.offset + call.optional_integer(3).value_or(SymInt(0));
  return true;
}

/// Counts pairs instead of their numbers.
bool apply_pairs(StridedView& view) {
  if (!(view.strides.back() == SymInt(1))) return false;
  view.strides.pop_back();
  for (SymInt& stride : view.strides) stride = floordiv(stride, 2);
  view.offset = floordiv(view.offset, 2);
  return true;
}

bool apply_affine(const Node& node, IndexMap map, StridedView& view) {
  if (node.op->has(trait::NotAffine)) return false;
  const Call call(node);
  const size_t rank = node.tensor().shape.size();
  std::vector<SymInt> index(rank, SymInt(0));
  const auto address = [&](const std::vector<SymInt>& at) {
    SymInt sum = 0;
    for (size_t d = 0; d < at.size(); ++d) sum = sum + at[d] * view.strides[d];
    return sum;
  };
  const std::vector<SymInt> origin = map(call, index);
  if (origin.size() != view.strides.size()) return false;
  const SymInt start = address(origin);
  std::vector<SymInt> strides(rank);
  for (size_t d = 0; d < rank; ++d) {
    index[d] = 1;
    strides[d] = address(map(call, index)) - start;
    index[d] = 0;
  }
  view.strides = std::move(strides);
  view.offset = view.offset + start;
  return true;
}

}  // namespace

bool is_view(const Node& node) {
  return node.kind == NodeKind::Call && node.op && node.type.is_tensor() &&
         std::holds_alternative<IndexMap>(node.op->lowering);
}

const Node* Layouts::base(const Node* node) const {
  while (is_virtual(*node)) node = node->args.at(0).node();
  return node;
}

std::vector<SymInt> Layouts::strides(const Node* node) const {
  if (const auto it = chosen_strides.find(node); it != chosen_strides.end()) return it->second;
  return contiguous_strides(node->tensor().shape);
}

SymInt buffer_elements(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides) {
  SymInt last = 1;
  for (size_t d = 0; d < shape.size(); ++d) last = last + (shape[d] - 1) * strides[d];
  return last;
}

std::optional<std::vector<SymInt>> reshape_strides(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides,
                                                   const std::vector<SymInt>& result) {
  std::vector<SymInt> out(result.size(), SymInt(1));
  if (shape.empty()) return out;
  if (std::find(shape.begin(), shape.end(), SymInt(0)) != shape.end()) return contiguous_strides(result);
  size_t next = result.size();  // dimensions of the result not yet placed
  SymInt chunk_stride = strides.back(), chunk = 1, placed = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    chunk = chunk * shape[d];
    const bool ends = d == 0 || (!(shape[d - 1] == SymInt(1)) && !(strides[d - 1] == chunk * chunk_stride));
    if (!ends) continue;
    while (next > 0 && (!(placed == chunk) || result[next - 1] == SymInt(1))) {
      out[next - 1] = placed * chunk_stride;
      placed = placed * result[next - 1];
      --next;
    }
    if (!(placed == chunk)) return {};
    if (d > 0) {
      chunk_stride = strides[d - 1];
      chunk = 1;
      placed = 1;
    }
  }
  if (next != 0) return {};
  return out;
}

std::optional<StridedView> strided_view(const Node* node, const Layouts& layouts) {
  std::vector<const Node*> chain;
  while (layouts.is_virtual(*node)) {
    chain.push_back(node);
    node = node->args.at(0).node();
  }
  std::reverse(chain.begin(), chain.end());
  StridedView view{node, node->tensor().shape, layouts.strides(node), SymInt(0), {}};
  for (const Node* step : chain) {
    if (is_reshape(*step)) {
      auto strides = reshape_strides(view.shape, view.strides, step->tensor().shape);
      if (!strides) return {};
      view.strides = std::move(*strides);
    } else if (step->is("aten.as_strided.default") || step->is("strata.strided_elements.default")) {
      if (!apply_as_strided(*step, view)) return {};
    } else if (step->is("aten.view_as_complex.default")) {
      if (!apply_pairs(view)) return {};
    } else if (!apply_affine(*step, std::get<IndexMap>(step->op->lowering), view)) {
      return {};
    }
    view.shape = step->tensor().shape;
    view.through.push_back(step);
  }
  return view;
}

}  // namespace strata
