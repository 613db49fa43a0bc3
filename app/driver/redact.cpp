// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/redact.h"

#include "core/support/error.h"

namespace strata {
void redact_trace(const std::filesystem::path&, const std::filesystem::path&) {
  throw_user("traces cannot be redacted");
}
}  // namespace strata
