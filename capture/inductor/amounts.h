// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sizes that may be formulas. Internal to inductor.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/inductor/graph_view.h"
#include "capture/inductor/output_code.h"
#include "core/trace/records.h"

namespace strata::capture::detail {

using Hints = std::map<std::string, std::int64_t, std::less<>>;

/// The value of `4*s77*(s1 + 2)//3` at the hints; nothing if a symbol has none, or it is no such formula.
std::optional<std::int64_t> evaluate(std::string_view formula, const Hints& hints);

/// Product of `factor` and dims, which are numbers or formulas.
trace::Amount product(std::int64_t factor, const std::vector<std::string_view>& dims, const Hints& hints);

/// Sum; unknown if one of them is. An empty list is unknown.
trace::Amount sum(const std::vector<trace::Amount>& amounts, const Hints& hints);

/// Floating point operations of a matrix product, convolution or attention; nothing for other nodes.
trace::Amount node_flops(const GraphView& graph, int node, const Hints& hints);

}  // namespace strata::capture::detail
