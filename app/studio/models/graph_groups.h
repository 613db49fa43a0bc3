// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of app/draw/grouping.h as the window uses them.

#include <string>
#include <vector>

#include "app/draw/grouping.h"
#include "app/draw/module_paths.h"
#include "app/draw/picture.h"

namespace strata::studio {

using draw::effective_grouping;
using draw::kMostBoxes;
using draw::kWholeGraph;
using draw::module_parts;

/// A flat picture with frames and boxes for modules. The result is not measured.
inline draw::Picture group_by_modules(const draw::Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                                      const draw::DrawOptions& options) {
  return draw::group_picture(flat, nodes, options, draw::GroupBy::Modules);
}

/// The module, kernel or group whose box or frame holds this node of a picture; empty if none.
inline std::string module_of(const draw::Picture& picture, int node) { return draw::group_of(picture, node); }

}  // namespace strata::studio
