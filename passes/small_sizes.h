// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a program is right for sizes of 0 and 1.
///
/// An exporter takes symbolic sizes to be 2 or more when it decides what a call gives: `x[:2]` of `s0` rows are 2 rows
/// then. Its file lets 0 and 1 pass all the same, and so does PyTorch, whose operators look at the tensors that they
/// get. What is compiled goes by what the file says, and would read memory that is not there.

#include <mutex>
#include <set>

#include "core/ir/program.h"

namespace strata {

class SmallSizes {
 public:
  /// `program` must outlive this.
  explicit SmallSizes(const Program& program) : program_(program) {}
  /// Throws a user Error if a symbol is bound to 0 or 1, and something of the program is then not as it was compiled: a
  /// size (`Program::stated`), what operators make of their operands, or which operand is broadcast. The operators are
  /// asked once for each set of such symbols, and nothing is where the sizes are those of the last run. Any thread.
  void require(const SymBindings& bindings);

 private:
  void require_sizes(const SymBindings& bindings) const;
  void require_operators(const SymBindings& small) const;

  const Program& program_;
  std::mutex mutex_;
  std::set<SymBindings> fit_;  ///< sizes of 0 and 1 for which operators make what the program says
  SymBindings last_;           ///< all sizes of the last run that fitted
};

}  // namespace strata
