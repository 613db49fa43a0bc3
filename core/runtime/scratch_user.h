// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kernels that need memory while they run, and nothing of it afterwards. The executor gives it a place among the
/// temporaries that live during the launch, so that it costs memory only where it exceeds what lives elsewhere.

#include <cstdint>

#include "core/runtime/plan.h"

namespace strata {

class ScratchUser {
 public:
  virtual ~ScratchUser() = default;
  /// Bytes that a run with these sizes and threads needs; makes whatever such a run needs. Throws Error.
  virtual int64_t scratch_bytes(const SymBindings& symbols, int threads) = 0;
  /// From now on `LaunchArgs::buffers` has one pointer more than the launch has buffers: the scratch, aligned to 64
  /// bytes, as large as `scratch_bytes` said last for the sizes of the run. Not called: the kernel finds memory itself.
  virtual void expect_scratch() = 0;
};

}  // namespace strata
