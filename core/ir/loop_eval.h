// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reference evaluator of loop IR: one point after another, one instruction after another, as the header of `loop.h`
/// defines them. Slow; for tests and for finding a faulty kernel.

#include <cstddef>
#include <span>

#include "core/ir/loop.h"

namespace strata::loop {

/// Runs the whole kernel. `buffers` holds one pointer per kernel buffer (those of Local buffers are ignored); `symbols`
/// binds the size symbols. Transcendental functions are computed in double and rounded once; float sums are accumulated
/// in double. Throws Error.
void evaluate_loop(const Kernel& kernel, std::span<std::byte* const> buffers, const SymBindings& symbols);

/// One value: `number` for floats, `integer` otherwise (U64 as its bits).
struct ScalarValue {
  double number = 0;
  int64_t integer = 0;
};
/// One operation on values of `operand` dtype (Cast and Bitcast: to `result`).
ScalarValue evaluate_scalar(ScalarOp op, DType operand, DType result, ScalarValue a, ScalarValue b = {},
                            ScalarValue c = {});

}  // namespace strata::loop
