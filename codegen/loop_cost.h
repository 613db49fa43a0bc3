// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What instructions and accesses of a loop kernel cost, roughly: in simple vector instructions.

#include <cstdint>
#include <optional>

#include "core/ir/loop.h"

namespace strata::codegen {

/// The axis' extent, or what is known of it; 64 where nothing is.
int64_t extent_hint(const loop::Kernel& kernel, loop::AxisId axis);

/// Whether `symbol` occurs in `e`.
bool mentions(const SymInt& e, size_t symbol);

/// Calls `visit` with every index expression of a kernel.
template <class Kernel, class Visit>
void each_index(Kernel& kernel, const Visit& visit) {
  for (auto& s : kernel.scalars)
    if (s.op == loop::ScalarOp::Load || s.op == loop::ScalarOp::Index) visit(s.index);
  for (auto& nest : kernel.nests)
    for (auto& s : nest.stores) visit(s.index);
}

/// The environment of a kernel's symbols, from any expression at hand; null if all is constant.
ShapeEnv* environment(const loop::Kernel& kernel);
/// The same from what is read and computed alone: null if nothing of that depends on where it is.
ShapeEnv* environment_of_loads(const loop::Kernel& kernel);

/// One instruction, without loads.
double operation_cost(const loop::Scalar& scalar);

/// One iteration over `lanes` elements of a nest, with lanes along `axis`, which may be an outer one; without an axis,
/// of instructions that are scalar.
double iteration_cost(const loop::Kernel& kernel, const loop::Nest& nest, std::optional<loop::AxisId> axis, int lanes);

/// Instructions of a nest's body: what a second copy of it would add to the code. A call is short.
size_t length_of(const loop::Nest& nest, const loop::Kernel& kernel);

/// What a nest's body takes, with calls by their length.
size_t work_in(const loop::Kernel& kernel, const loop::Nest& nest);

/// Whether the nest finds the largest of a line and the sum of exponentials in one pass.
bool sums_exponentials(const loop::Nest& nest);

}  // namespace strata::codegen
