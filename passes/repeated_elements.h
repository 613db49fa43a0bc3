// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ir/graph.h"

namespace strata {

/// Whether strides are known that put several elements at one place, as those of an expanded tensor do. What another
/// caller's tensor holds cannot be brought into that form.
bool repeats_elements(const TensorType& type);

}  // namespace strata
