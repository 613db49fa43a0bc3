// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A flat picture regrouped: frames that nest, and one box for each group that is collapsed.

#include <string>
#include <vector>

#include "app/draw/picture.h"

namespace strata::draw {

/// Above this many nodes modules start collapsed, as deep as leaves at most kMostBoxes boxes, those of nodes
/// without a module not counted.
inline constexpr size_t kWholeGraph = 1500;
inline constexpr size_t kMostBoxes = 300;

/// What frames stand for when the options leave it open.
GroupBy effective_grouping(const DrawOptions& options, const std::vector<trace::NodeRecord>& nodes);

/// `flat` has no groups and one picture node per record (some records may be missing); `grouping` is not Automatic.
/// Modules of a single node and modules that hold one module and nothing else have no frame of their own. A group of
/// the user's stands in the innermost frame that holds all of it; frames that it cuts stand on both sides of its
/// border, and so does a kernel. The result is not measured.
Picture group_picture(const Picture& flat, const std::vector<trace::NodeRecord>& nodes, const DrawOptions& options,
                      GroupBy grouping);

/// What the frame of a user's group is called in DrawOptions::opened.
std::string user_group_key(const std::string& name);
/// The name in such a key; empty if the frame is none of the user's.
std::string user_group_name(const std::string& key);

/// The module, kernel or group whose box or frame holds this node of a picture; empty if none.
std::string group_of(const Picture& picture, int node);

}  // namespace strata::draw
