// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/ir/loop.h"

namespace strata::codegen {

/// Structure of a kernel without its names and nodes: kernels with equal fingerprints compute the same from the same
/// arguments.
std::string fingerprint(const loop::Kernel& kernel);

}  // namespace strata::codegen
