// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/draw/layout.h"

namespace strata::draw {

Layout lay_out_with_layers(const Picture& picture, const LayoutRequest& request);

/// nullopt when Graphviz is not usable or fails. It cannot be stopped.
std::optional<Layout> lay_out_with_graphviz(const Picture& picture, const LayoutRequest& request);

/// How much work the picture is for Graphviz: boxes, and the layers that edges pass through, one by one.
size_t graphviz_work(const Picture& picture);

/// Box and label of a node whose cell has its upper left corner here.
void set_cell(Layout& layout, const Picture& picture, int node, double x, double y);

}  // namespace strata::draw
