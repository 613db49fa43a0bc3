// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small random programs over the operator table, and making failing ones smaller.

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/ir/builder.h"

namespace strata {

/// A program as captured, with what to run it on.
struct RandomProgram {
  Graph graph;
  std::vector<Tensor> inputs;  ///< one per placeholder, weights and buffers included
  SymBindings symbols;

  RandomProgram clone() const;
  /// Values of the placeholders that are no user inputs, by qualified name; fresh copies.
  std::map<std::string, Tensor> state() const;
  /// Fresh copies of the user inputs, in order.
  std::vector<Tensor> user_inputs() const;
  /// The graph as text, then every input.
  std::string str() const;
};

/// The same program for the same seed: shapes with sizes 0 and 1, broadcasting, views, symbolic sizes, all element
/// types that kernels know, NaN and infinity, in-place operators on values, views, inputs and buffers.
RandomProgram random_program(uint64_t seed);

/// A tensor that `random_program` would make up: uniform in [-3, 3], integers in [-5, 5]; one element in ten NaN,
/// infinite or a signed zero if `special`.
Tensor random_tensor(std::mt19937_64& rng, DType dtype, const std::vector<int64_t>& shape, bool special);

/// Drops outputs and nodes, and cuts operands off, as long as `fails` holds for what is left.
RandomProgram shrink(const RandomProgram& program, const std::function<bool(const RandomProgram&)>& fails);

}  // namespace strata
