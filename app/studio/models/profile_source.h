// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The run whose times the profile and the roofline show. It is read when somebody looks at one of them.

#include "app/studio/models/context.h"
#include "app/studio/models/profile_rows.h"
#include "app/studio/models/roofline.h"

namespace strata::studio {

class ProfileSource : public QObject {
  Q_OBJECT
 public:
  explicit ProfileSource(Context& context, QObject* parent = nullptr);

  const std::vector<ProfileRun>& choices() const { return choices_; }
  /// Index of the run that is or will be shown; -1 without runs.
  int current() const { return choices_.empty() ? -1 : current_; }
  void choose(int index);
  /// Somebody looks: the data is read unless it is there. To be called again when there are other choices.
  void want();
  /// Null until it was read.
  ProfilePtr profile() const { return profile_; }
  std::shared_ptr<const Roofline> roofline() const { return roofline_; }

 signals:
  void choicesChanged();
  void profileChanged();

 private:
  void list();
  void load();
  Context& context_;
  std::vector<ProfileRun> choices_;
  int current_ = 0, loaded_ = -1;
  ProfilePtr profile_;
  std::shared_ptr<const Roofline> roofline_;
};

}  // namespace strata::studio
