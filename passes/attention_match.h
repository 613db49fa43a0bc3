// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Attention spelled out in primitives, found from its last product backwards.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "passes/pass.h"

namespace strata {

/// product = softmax(mask(scale * (query @ key))) @ value, as the graph has it. Nodes belong to the graph searched.
struct AttentionMatch {
  const Node* product = nullptr;   ///< weights @ value: the node whose value attention gives
  const Node* query = nullptr;     ///< [n, l, e] (or [l, e]), as the first product reads it
  const Node* key = nullptr;       ///< [n, e, s]
  const Node* value = nullptr;     ///< [n, s, d]
  const Node* mask = nullptr;      ///< floating: added to the scaled scores; bool: see `inverted`; null: none
  bool inverted = false;           ///< the score is `fill` where the bool mask holds, instead of where it does not
  bool widened = false;            ///< query and key are 16-bit numbers, widened to float32 for the first product
  bool zero_without_keys = false;  ///< rows of scores that are -infinity throughout give 0
  double scale = 1, fill = -std::numeric_limits<double>::infinity();
  std::vector<SymInt> shape;        ///< of the scores where the mask meets them: [lead..., l, s]
  std::vector<const Node*> inside;  ///< the nodes that attention makes superfluous, without `product`
};

/// What is found before the product `node`. Nothing with an empty `why_not`: it multiplies no softmax; with a text: a
/// softmax of products that has to stay as it is, and `blocker` is the node that is in the way.
std::optional<AttentionMatch> match_attention(const Node& node, const ConstantInputs& constants, const UserMap& users,
                                              std::string& why_not, const Node*& blocker);

}  // namespace strata
