// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Symbols that the types of a graph's nodes have so far, in the order of its nodes.

#include <algorithm>
#include <unordered_set>

#include "core/ir/graph.h"

namespace strata {

class KnownSizes {
 public:
  void note(const Type& type) {
    for (const Type& part : type.parts) note(part);
    if (type.kind == Type::Kind::SymInt) note(type.sym);
    if (type.is_tensor())
      for (const SymInt& size : type.tensor.shape) note(size);
  }
  bool has(const SymInt& size) const {
    return std::ranges::all_of(free_symbols(size), [&](size_t symbol) { return symbols_.contains(symbol); });
  }

 private:
  void note(const SymInt& size) {
    for (const size_t symbol : free_symbols(size)) symbols_.insert(symbol);
  }

  std::unordered_set<size_t> symbols_;
};

}  // namespace strata
