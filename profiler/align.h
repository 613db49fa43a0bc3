// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Operators of a profile put beside the calls of a captured graph, in order.

#include <string>
#include <vector>

namespace strata::profiler {

/// One side of an alignment: a call by its base name (`operator_base`) and the shapes of its tensor inputs, where they
/// are known.
struct AlignItem {
  std::string name;
  std::vector<std::string> shapes;
  bool operator==(const AlignItem&) const = default;
};

/// For every operator the call that it is, or -1; calls rise with operators. Names must go together (`name_match`);
/// among alignments with the same names those win whose shapes are the same. A call whose shapes contradict the
/// operator's counts little. Sequences of any length: long ones are aligned piece by piece.
std::vector<int> align(const std::vector<AlignItem>& calls, const std::vector<AlignItem>& operators);

}  // namespace strata::profiler
