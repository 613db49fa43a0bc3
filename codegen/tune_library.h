// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Matrix products and convolutions by measuring: the library or a kernel of our own, and whether a second thread pays.

#include <span>
#include <vector>

#include "codegen/library_call.h"
#include "codegen/tuning.h"

namespace strata::codegen {

struct TunedCall {
  library::LibraryChoice choice = library::LibraryChoice::Library;
  bool one_thread = false;
  std::vector<TuningCandidate> candidates;  ///< empty: sizes are not known, or it needs too much memory
  double ns = 0;                            ///< of the best; 0: not known
  bool measured = false;                    ///< now, not in an earlier process
};

/// `constants` and `aliased` as for `compile_library_call`. Throws a user Error when cancelled.
TunedCall tune_library_call(const LibraryCall& call, std::span<const Tensor* const> constants, bool aliased,
                            const Target& target, const CompileOptions& options, const ObjectCache& cache);

/// The call as it was tuned: a kernel that keeps to one thread where that was faster.
std::unique_ptr<library::LibraryKernel> compile_tuned_call(const TunedCall& tuned, const LibraryCall& call,
                                                           std::span<const Tensor* const> constants,
                                                           const CompileOptions& options,
                                                           std::shared_ptr<library::Scratch> scratch, bool aliased,
                                                           library::KnownBounds bounds);

}  // namespace strata::codegen
