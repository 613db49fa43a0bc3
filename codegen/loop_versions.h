// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Code for all sizes is slower than code for one: a row of unknown length has no fixed number of vectors, cannot stay
/// in registers or in a buffer of its own, and columns of unknown number cannot be cut. So a kernel whose rows have
/// symbolic lengths gets a second version for the lengths of the example, beside the one for all; each call takes the
/// one that fits its sizes. Sizes that only say how many rows there are (batches) stay symbolic in both.
///
/// A length's remainder by the vector width is not worth a version: the last, partial vector of a row takes a mask and
/// no more time than a full one.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/loop.h"

namespace strata::codegen {

/// Size symbols (ids in the ShapeEnv) and the values that a version is for.
using FixedSizes = std::vector<std::pair<size_t, int64_t>>;

struct LoopVersion {
  loop::Kernel kernel;  ///< the same buffers; needs the symbols that stay
  FixedSizes sizes;
  std::string reason;  ///< for people: `s1 = 64: ...`
};

/// The version for the hints of the symbols that lengths of rows depend on; nothing if there are none, one has no hint,
/// or rows are so long that it would not matter. Adds symbols for the new axes to the kernel's ShapeEnv.
std::optional<LoopVersion> version_for_hints(const loop::Kernel& kernel);

}  // namespace strata::codegen
