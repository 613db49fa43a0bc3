// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/support/error.h"

namespace strata::testing {

/// The words of the user Error that `action` throws; empty if it throws none. Other kinds of error pass on.
template <class F>
std::string error_text(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    return error.what();
  }
  return {};
}

}  // namespace strata::testing
