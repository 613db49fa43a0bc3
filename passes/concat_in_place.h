// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Concatenations into which the kernels that make the parts write them: a part that nobody else reads needs no memory
/// of its own, nor a copy. (Cheap parts never come here: fusion computes them where they are concatenated.)

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/fuse.h"

namespace strata {

struct ConcatInPlace {
  /// A value that lies in the buffer of another.
  struct Part {
    const Node* whole = nullptr;
    SymInt offset;  ///< elements from the start of that buffer
  };
  /// What a concatenation still copies: neighbours among its operands, one at least.
  struct Rest {
    std::vector<const Node*> operands;
    SymInt offset;              ///< of the first, elements
    std::vector<SymInt> shape;  ///< of all of them together
  };
  std::unordered_map<const Node*, Part> parts;
  std::unordered_map<const Node*, Rest> rests;  ///< by concatenation
};

/// Looks at concatenations that are all that their kernel stores. A part qualifies where a loop kernel or a library
/// call makes it that can write with gaps between rows at no cost, its type is the whole's, and it is none of
/// `outputs`. Sets the strides of parts in `fused.layouts`, and says in `fused.decisions` what became of them. None
/// where sizes depend on data: the whole would be needed before its size is known.
ConcatInPlace concat_in_place(const Graph& graph, Fused& fused, const std::unordered_set<const Node*>& outputs);

}  // namespace strata
