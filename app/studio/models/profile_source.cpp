// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/profile_source.h"

namespace strata::studio {

ProfileSource::ProfileSource(Context& context, QObject* parent) : QObject(parent), context_(context) {
  connect(&context_, &Context::traceOpened, this, [this] {
    context_.queue().supersede("profile");
    choices_.clear();
    current_ = 0;
    loaded_ = -1;
    profile_.reset();
    roofline_.reset();
    emit choicesChanged();
    emit profileChanged();
    list();
  });
  // There may be more runs, and more in each: who looks will want it again.
  connect(&context_, &Context::traceGrown, this, [this] {
    loaded_ = -1;
    list();
  });
}

void ProfileSource::list() {
  if (!context_.reader()) return;
  context_.queue().post("profile runs", [this, reader = context_.reader()]() -> JobQueue::Apply {
    auto choices = std::make_shared<std::vector<ProfileRun>>(profile_choices(*reader));
    return [this, choices] {
      choices_ = *choices;
      emit choicesChanged();
    };
  });
}

void ProfileSource::want() {
  if (loaded_ < 0) load();
}

void ProfileSource::choose(int index) {
  if (index < 0 || static_cast<size_t>(index) >= choices_.size()) return;
  current_ = index;
  if (index != loaded_) load();
}

void ProfileSource::load() {
  if (choices_.empty()) return;
  loaded_ = current_;
  context_.queue().post(
      "profile",
      [this, reader = context_.reader(), runs = choices_[static_cast<size_t>(current_)].runs]() -> JobQueue::Apply {
        auto profile = load_profile(*reader, runs);
        auto roofline = std::make_shared<const Roofline>(make_roofline(*profile, known_ceilings(*reader)));
        return [this, profile, roofline] {
          profile_ = profile;
          roofline_ = roofline;
          emit profileChanged();
        };
      });
}

}  // namespace strata::studio
