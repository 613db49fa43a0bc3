// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/support/error.h"

namespace strata::testing {

/// The words of the Error that `action` throws, after "internal: " or "runtime: " unless it is a user's; empty if it
/// throws none.
template <class F>
std::string error_text(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string kind = error.kind() == ErrorKind::Internal  ? "internal: "
                             : error.kind() == ErrorKind::Runtime ? "runtime: "
                                                                  : "";
    return kind + error.what();
  }
  return {};
}

}  // namespace strata::testing
