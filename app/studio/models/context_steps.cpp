// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// Stepping through stages and rewrites.
#include <algorithm>

#include "app/studio/models/context.h"

namespace strata::studio {

using namespace trace;

std::vector<const SnapshotRecord*> Context::stages_to_visit() const {
  std::vector<const SnapshotRecord*> stages;
  if (!compile_) return stages;
  for (const SnapshotRecord& snapshot : compile_->snapshots)
    if (!hide_unchanged_ || snapshot.id == wanted_snapshot_ || compile_->has_effect(snapshot))
      stages.push_back(&snapshot);
  return stages;
}

namespace {

/// Where the stage is in the list; its size if it is not there.
size_t place_of(const std::vector<const SnapshotRecord*>& stages, Id snapshot) {
  const auto at = std::find_if(stages.begin(), stages.end(), [snapshot](const auto* s) { return s->id == snapshot; });
  return static_cast<size_t>(at - stages.begin());
}

}  // namespace

void Context::show_rewrite(Id snapshot, size_t index) {
  const SnapshotRecord* found = compile_ ? compile_->find(snapshot) : nullptr;
  if (!found) return;
  if (index >= compile_->rewrite_count(*found)) return select_snapshot(snapshot);
  const bool shown = step_ && step_->snapshot.id == snapshot && step_->rewrite == index;
  if (shown && wanted_snapshot_ == snapshot && wanted_rewrite_ == index) return;
  show_step(*found, {}, index);
}

void Context::step(int by) {
  const auto stages = stages_to_visit();
  const size_t at = place_of(stages, wanted_snapshot_);
  if (at == stages.size() || by == 0) return;
  if (wanted_rewrite_ && by > 0) return select_snapshot(wanted_snapshot_);
  if (by > 0 && at + 1 < stages.size()) select_snapshot(stages[at + 1]->id);
  if (by < 0 && at > 0) select_snapshot(stages[at - 1]->id);
}

void Context::step_rewrite(int by) {
  const auto stages = stages_to_visit();
  const size_t at = place_of(stages, wanted_snapshot_);
  if (at == stages.size() || by == 0) return;
  const size_t count = compile_->rewrite_count(*stages[at]);
  if (by > 0) {
    if (wanted_rewrite_) return show_rewrite(wanted_snapshot_, *wanted_rewrite_ + 1);
    if (at + 1 < stages.size()) show_rewrite(stages[at + 1]->id, 0);
    return;
  }
  const size_t done = wanted_rewrite_.value_or(count);  // rewrites before this step
  if (done > 0) return show_rewrite(wanted_snapshot_, done - 1);
  if (at > 0) select_snapshot(stages[at - 1]->id);
}

void Context::step_to_end(int by) {
  const auto stages = stages_to_visit();
  if (!stages.empty()) select_snapshot((by < 0 ? stages.front() : stages.back())->id);
}

void Context::set_hide_unchanged(bool hide) {
  if (hide == hide_unchanged_) return;
  hide_unchanged_ = hide;
  emit hidingChanged();
}

}  // namespace strata::studio
