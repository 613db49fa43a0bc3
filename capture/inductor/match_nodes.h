// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which nodes of the post-grad graph each launch of a program computes, and which node's value each buffer holds.
///
/// In this order: the producer's provenance maps (exact); the graph fragment that a kernel's comment shows; for another
/// launch of the same kernel the part of the graph that has the fragment's shape on that launch's operands; for a
/// library call the node with its operator whose operands are the call's; for a loop kernel without comment (C++) the
/// nodes between what it reads and what it writes. All but the first are inferred.

#include <span>
#include <vector>

#include "capture/inductor/output_code.h"
#include "capture/inductor/provenance.h"
#include "core/trace/records.h"

namespace strata::capture {

enum class MatchSource { None, Maps, Comment, Repeat, Operands, Region };

struct LaunchMatch {
  std::vector<int> nodes;  ///< positions in the graph, ascending
  MatchSource source = MatchSource::None;
};

struct ProgramMatch {
  std::vector<LaunchMatch> launches;  ///< as in the code
  std::vector<int> buffer_nodes;      ///< position of the node whose value a buffer holds first; -1 unknown
};

/// Pure. Positions of nodes are indices into `nodes`; inputs of nodes that are not in `nodes` are passed over.
ProgramMatch match_nodes(const OutputCode& code, const ProvenanceMaps& maps, std::span<const trace::NodeRecord> nodes);

/// `float32` -> `f32`; a type without short name stays.
std::string_view short_dtype(std::string_view torch_dtype);
/// Bytes of one element of a type in torch's words (`bfloat16`) or short (`bf16`); 0 unknown.
int dtype_bytes(std::string_view dtype);

}  // namespace strata::capture
