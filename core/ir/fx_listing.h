// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reader of `graph():` listings. Internal to the FX reader.

#include <memory>
#include <string_view>

#include "core/ir/graph.h"

namespace strata::fx {

/// Reads from the line `graph():` on, which stands at `offset`. `rest` is what follows the return.
Graph parse_listing(std::string_view text, size_t offset, size_t line, const std::shared_ptr<ShapeEnv>& env,
                    const std::shared_ptr<IdSource>& ids, std::string_view& rest);

/// Sets a call's target from a dotted name as written, without `torch.ops.`, and marks what print_fx needs to print it
/// back.
void set_call_target(Node& node, const std::string& dotted);

}  // namespace strata::fx
