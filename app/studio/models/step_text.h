// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a step did, in one line: the pass and its time, or the rule, what it matched and what became of that.

#include <QString>
#include <vector>

#include "app/studio/models/step.h"
#include "app/studio/models/text_diff.h"

namespace strata::studio {

struct StepPiece {
  enum class Kind : int {
    Plain = 0,
    Strong,
    Node,  ///< a link
    Rest   ///< what may be cut when there is little room
  };
  Kind kind = Kind::Plain;
  QString text;
  trace::NodeId node = 0;
};

/// At most `most_names` nodes on either side of the arrow are named, the others counted.
std::vector<StepPiece> describe_step(const CompileData& compile, const StepData& step, size_t most_names = 4);
/// All of it, names of all nodes included, one thing per line: for tooltips.
QString describe_step_fully(const CompileData& compile, const StepData& step);
QString plain_text(const std::vector<StepPiece>& pieces);
/// `75 rewrites: 25 × decompose aten.linear.default, 16 × …`; empty if there are none.
QString rewrites_text(const CompileData& compile, const trace::SnapshotRecord& snapshot, size_t most_rules);

/// The graph as text against the one before it; of the first stage against itself. Null for stages of text.
std::shared_ptr<const TextDiff> load_text_diff(trace::Reader& reader, const CompileData& compile, const StepData& step,
                                               const std::function<bool()>& stop = {});

}  // namespace strata::studio
