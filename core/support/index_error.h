// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/support/error.h"

namespace strata {

/// A user Error for an index out of range: Python's IndexError.
class IndexError : public Error {
 public:
  explicit IndexError(std::string message, std::string hint = {})
      : Error(ErrorKind::User, std::move(message), std::move(hint)) {}
};

}  // namespace strata
