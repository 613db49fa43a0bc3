// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Library calls as compiled kernels: binds sizes, chooses between oneDNN and our own kernels, keeps what was built for
/// the last sizes.

#include <memory>
#include <span>
#include <string>

#include "codegen/library_bound.h"
#include "codegen/library_view.h"
#include "core/runtime/plan.h"
#include "core/runtime/scratch_user.h"

namespace strata::library {

class LibraryKernel : public CompiledKernel, public ScratchUser {
 public:
  /// What was built, for people; empty until the sizes are known.
  virtual std::string describe() const = 0;
  /// Whether runs read a packed copy of the launch's constant `buffer` alone, from which the kernel can get its
  /// elements back should it ever need them.
  virtual bool can_release(int buffer) const = 0;
  /// The constant `buffer`, which `can_release`, is about to lose its memory.
  virtual void release(int buffer) = 0;
};

/// Who computes a matrix product or convolution: the library where it has a fast kernel, or always our own.
enum class LibraryChoice : uint8_t { Library, Own };

/// `constants[i]` is the value of the launch's buffer i if it never changes, else null; they must outlive the kernel.
/// `aliased`: the result may share memory with an operand. Calls without symbolic sizes are built here, as are those
/// with a constant weight for the sizes of the example; others on their first run. `bounds` is what the calls of a
/// compile tell each other. Throws Error.
std::unique_ptr<LibraryKernel> compile_library_call(const LibraryCall& call, std::span<const Tensor* const> constants,
                                                    const CompileOptions& options, std::shared_ptr<Scratch> scratch,
                                                    bool aliased = false, KnownBounds bounds = {},
                                                    LibraryChoice choice = LibraryChoice::Library);

}  // namespace strata::library
