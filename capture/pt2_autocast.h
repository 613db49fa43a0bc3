// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Regions of exported programs in which autocast is on (`torch.ops.higher_order.wrap_with_autocast`): their calls
/// stand there without the conversions that PyTorch makes of their operands when they run.

#include <optional>

#include "core/ir/graph.h"

namespace strata::capture {

/// The type to which autocast converts the call's floating operands, of float32 and 16 bits; none where it leaves them.
/// `low`: the region's type. It is read off the results' types that the file states (`call.type`), beside those of the
/// same call without autocast: lower precision means that operands are converted down, higher that they are converted
/// up. What writes is left alone, as PyTorch does.
std::optional<DType> autocast_type(const Node& call, DType low);

}  // namespace strata::capture
