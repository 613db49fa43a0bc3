// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The stages before and after the one that is shown, made while nothing else is to be done, so that the next step
/// shows at once.

#include "app/studio/models/job_queue.h"
#include "app/studio/models/step.h"

namespace strata::studio {

class StepAhead : public QObject {
  Q_OBJECT
 public:
  explicit StepAhead(QObject* parent = nullptr);

  struct Place {
    std::shared_ptr<trace::Reader> reader;
    std::shared_ptr<const CompileData> compile;
    StepPtr step;  ///< what is shown
    draw::DrawOptions options;
  };
  /// Makes the neighbours of this stage, unless it is asked for something else within a moment.
  void prepare(const Place& place);
  /// The stage, if it was made for exactly this place. Otherwise null, and what is under way is stopped.
  StepPtr take(const Place& place, trace::Id snapshot);
  void clear();
  /// Nothing is under way.
  bool idle() const { return queue_.idle() && !wait_.isActive(); }

 private:
  void begin();
  bool fits(const Place& place) const;
  JobQueue queue_;
  QTimer wait_;
  Place place_;
  std::vector<StepPtr> made_;
};

}  // namespace strata::studio
