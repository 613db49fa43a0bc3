// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a random program should give, and how certain that is.
///
/// The yardstick is the interpreter: in the native types, and with all floats in float64. How far a right result may
/// lie from it is measured, not guessed: the same run is repeated with every floating value disturbed by its type's
/// rounding error, and what that does to an element, it may do in a kernel too. Where overflow or a comparison of
/// nearly equal values makes native and float64 results differ altogether, an element says nothing.

#include <random>

#include "core/ir/interpreter.h"
#include "tests/graphs/program.h"

namespace strata::fuzz {

/// Results of one run: user outputs, then every input as the program left it.
using Results = std::vector<RefValue>;

/// `graph` is the program's own or one that a pass made of it. `noise`: disturbs every floating value in float64, by
/// `roundings` times its type's rounding error.
Results interpret(const RandomProgram& program, const Graph& graph, bool float64, std::mt19937_64* noise = nullptr,
                  double roundings = 1);

class Expectation {
 public:
  explicit Expectation(const RandomProgram& program);

  /// Empty if `found` is right; else where it is not.
  std::string compare(const Results& found);
  /// Elements of the results, and how many of them are numbers: what a comparison can tell.
  size_t elements() const { return elements_; }
  size_t numbers() const { return numbers_; }

 private:
  void measure();
  void widen(int runs, double roundings = 1);
  std::string difference(const Results& found) const;
  std::string tensors(size_t i, const Tensor& found, const Tensor& native) const;

  const RandomProgram& program_;
  Results native_, truth_;  // truth_: once it is needed
  std::vector<std::vector<double>> spread_;
  std::mt19937_64 rng_{7};
  size_t elements_ = 0, numbers_ = 0;
};

}  // namespace strata::fuzz
