// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/step_ahead.h"

#include <algorithm>

namespace strata::studio {

namespace {
/// A person who looks is not disturbed; one who holds the key down gets every stage as it is asked for.
constexpr int kWaitMilliseconds = 60;
/// Two more of these in memory are enough.
constexpr size_t kMostNodes = 15000;
}  // namespace

StepAhead::StepAhead(QObject* parent) : QObject(parent) {
  wait_.setSingleShot(true);
  wait_.setInterval(kWaitMilliseconds);
  connect(&wait_, &QTimer::timeout, this, &StepAhead::begin);
}

bool StepAhead::fits(const Place& place) const {
  return place_.reader == place.reader && place_.compile == place.compile && place_.step == place.step &&
         place_.options == place.options;
}

void StepAhead::prepare(const Place& place) {
  if (fits(place)) return;
  clear();
  if (!place.step || !place.compile || place.step->rewrite || place.step->nodes.size() > kMostNodes) return;
  place_ = place;
  wait_.start();
}

void StepAhead::begin() {
  const auto& stages = place_.compile->snapshots;
  const auto here =
      std::find_if(stages.begin(), stages.end(), [this](const auto& s) { return s.id == place_.step->snapshot.id; });
  if (here == stages.end()) return;
  std::vector<trace::SnapshotRecord> wanted;
  if (here + 1 != stages.end()) wanted.push_back(*(here + 1));
  if (here != stages.begin()) wanted.push_back(*(here - 1));
  queue_.post("ahead", [this, place = place_, wanted]() -> JobQueue::Apply {
    std::vector<StepPtr> made;
    for (const auto& snapshot : wanted)
      made.push_back(
          load_step(*place.reader, *place.compile, snapshot, place.options, place.step, JobQueue::superseded));
    return [this, made] { made_ = made; };
  });
}

StepPtr StepAhead::take(const Place& place, trace::Id snapshot) {
  StepPtr found;
  if (fits(place))
    for (const StepPtr& step : made_)
      if (step->snapshot.id == snapshot) found = step;
  clear();
  return found;
}

void StepAhead::clear() {
  wait_.stop();
  queue_.supersede("ahead");
  made_.clear();
  place_ = {};
}

}  // namespace strata::studio
