// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/interrupt.h"

#include <utility>

namespace strata::trace {

namespace {
thread_local bool (*t_asked)() = nullptr;
}  // namespace

InterruptScope::InterruptScope(bool (*asked)()) : before_(std::exchange(t_asked, asked)) {}
InterruptScope::~InterruptScope() { t_asked = before_; }

bool interrupted() { return t_asked && t_asked(); }

}  // namespace strata::trace
