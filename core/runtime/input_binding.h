// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks the inputs of a call against a plan and finds the values of its size symbols.

#include <string>
#include <vector>

#include "core/runtime/plan.h"

namespace strata {

/// Gives `size`, an expression that has turned out to be `value`, to the symbols: its one unknown symbol is solved for
/// and checked against its range; without one the value is compared. Throws a user Error that names `where`.
void bind_size(const ShapeEnv& env, const SymInt& size, int64_t value, const std::string& where, SymBindings& symbols);

/// The checks of one plan, in an order in which every size symbol is found before it is needed. Built once, used per
/// call.
class InputBinder {
 public:
  explicit InputBinder(const Plan& plan);

  /// Values of the symbols. Throws a user Error that names the input: wrong count, dtype, rank or size, a size out of
  /// range.
  SymBindings bind(const std::vector<Tensor>& inputs) const;
  /// `input 1 (mask)`, for messages.
  std::string describe(size_t input) const;

 private:
  struct Step {
    size_t input;
    int dim;      ///< -1: the input is an integer
    SymInt expr;  ///< what the size is
    int symbol;   ///< to be solved for, or -1: only check
  };
  struct Bound {
    size_t symbol;
    size_t step;  ///< that binds it
  };

  void add_steps(const Type& type, size_t input, std::vector<Step>& found) const;
  void check_kinds(const std::vector<Tensor>& inputs) const;
  int64_t actual(const Step& step, const std::vector<Tensor>& inputs) const;
  void solve(const Step& step, int64_t size, SymBindings& symbols) const;
  void check_range(const Step& step, int64_t size, const SymBindings& symbols) const;
  std::string place(const Step& step) const;

  const Plan& plan_;
  std::vector<std::string> names_;
  std::vector<Step> steps_;
};

}  // namespace strata
