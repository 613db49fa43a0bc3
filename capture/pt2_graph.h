// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graph of an exported program, from its JSON.

#include <map>
#include <memory>
#include <string>

#include "capture/pt2_meta.h"
#include "core/ir/graph.h"
#include "core/support/json.h"

namespace strata::capture {

/// What graph and subgraphs share.
struct Pt2GraphContext {
  std::shared_ptr<ShapeEnv> env = std::make_shared<ShapeEnv>();
  std::shared_ptr<IdSource> ids = std::make_shared<IdSource>();
  MetadataReader metadata;
};

/// Reads `Graph` with its signature. Operators with several results get a tuple type and `getitem` nodes, as in
/// torch.fx; results that nothing uses get none. Throws JsonTypeError or a user Error.
Graph read_pt2_graph(const Json& graph, const Json& signature, Pt2GraphContext& context);

}  // namespace strata::capture
