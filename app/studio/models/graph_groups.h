// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A flat picture regrouped by module path: frames that nest, and one box for each module that is collapsed.

#include <string>
#include <vector>

#include "app/draw/picture.h"

namespace strata::studio {

/// Above this many nodes modules start collapsed, as deep as leaves at most kMostBoxes boxes.
inline constexpr size_t kWholeGraph = 1500;
inline constexpr size_t kMostBoxes = 300;

/// What frames stand for when the options leave it open.
draw::GroupBy effective_grouping(const draw::DrawOptions& options, const std::vector<trace::NodeRecord>& nodes);

/// The parts of a path: `encoder.layer[0].mlp` has `encoder`, `layer[0]`, `mlp`. Dots in brackets and quotes separate
/// nothing; paths of more than 48 parts are cut there.
std::vector<std::string> module_parts(const std::string& path);

/// `flat` has no groups and one picture node per record (some records may be missing). Modules of a single node and
/// modules that hold one module and nothing else have no frame of their own. Nodes without a module (weights, copies)
/// belong where their users are. The result is not measured.
draw::Picture group_by_modules(const draw::Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                               const draw::DrawOptions& options);

/// The module whose box or frame holds this node of a picture; empty if none.
std::string module_of(const draw::Picture& picture, int node);

}  // namespace strata::studio
