// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory of the results of a prepared plan: taken again by a later call once nobody holds the earlier result.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/runtime/tensor.h"

namespace strata {

/// The memory of one result. A caller that holds many of its values at once gets memory of its own for those beyond
/// the first few.
class ResultMemory {
 public:
  /// At least `bytes` bytes (uninitialised, aligned to 64, with room for a vector behind) that nobody else holds.
  /// Throws a runtime Error when memory does not suffice.
  std::shared_ptr<Storage> take(int64_t bytes);
  /// What is kept, in bytes.
  size_t bytes() const;

 private:
  std::vector<std::shared_ptr<Storage>> kept_;
};

}  // namespace strata
