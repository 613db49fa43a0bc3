// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random numbers. Every operator that draws becomes a `strata.draw_*` call, which takes its numbers from the run's
/// generator (core/runtime/generator.h) when its turn in program order comes, and gives a row-major tensor.

#include <functional>

#include "core/ir/ops/indexing.h"

namespace strata::ops {

/// Fills `out`, of the call's shape and declared type, from the run's generator. `integer(i)`: parameter i at run time;
/// `probabilities`: the operand of `strata.draw_bernoulli_each` and `strata.draw_multinomial`, else undefined.
void draw_into(const Call& call, const std::function<int64_t(size_t)>& integer, const Tensor& probabilities,
               const Tensor& out);

/// Numbers of the shape and element type given, in the order in which PyTorch would fill memory that is laid out like
/// `like`: `target` is a `strata.draw_*` with its size first, then `args`.
Node* drawn_like(Builder& builder, const Call& call, const TensorType& like, DType dtype, std::string_view target,
                 std::vector<Argument> args);

/// Whether a library operator draws inside (attention with dropout): then only its decomposition computes it, whose
/// draws have their turn.
bool draws_within(const Node& node);

}  // namespace strata::ops
