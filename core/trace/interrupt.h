// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads that nobody waits for any more are ended in the middle.

#include <exception>

namespace strata::trace {

/// A read that was asked to stop.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// While it lives, every read on this thread asks `asked` now and then, and throws Interrupted when that says true.
/// `asked` must be quick and must not read. Scopes may be nested; the innermost counts.
class InterruptScope {
 public:
  explicit InterruptScope(bool (*asked)());
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  bool (*before_)();
};

/// Whether the innermost scope of this thread says that reads should end.
bool interrupted();

}  // namespace strata::trace
