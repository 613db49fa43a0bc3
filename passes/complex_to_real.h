// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pass.h"

namespace strata {

/// Makes two real values of each complex one (core/ir/complex_parts.h), as kernels know real numbers only. Complex
/// inputs and state become the pairs that they lie in (`InputSpec::complex` of an input says so); a result that is
/// complex is `view_as_complex` of pairs. Throws a user Error for operators without a rule.
PassResult complex_to_real(const Graph& graph, const PassContext& context);
bool complex_to_real_may_change(const Graph& graph, const PassContext& context);

}  // namespace strata
