// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loop IR to LLVM IR. Included only by sources that hold LLVM.

#include <llvm/IR/Module.h>

#include <string>

#include "codegen/loop_lines.h"
#include "codegen/loop_plan.h"

namespace strata::codegen {

/// Appends `void name(ptr buffers, ptr symbols, i64 begin, i64 end)`, which computes the outer points [begin, end) of
/// the flattened outer domain of `plan.kernel`. With `lines`, instructions carry a debug line: n for the n-th entry of
/// `kernel_lines`. Vectorised already: later passes need only clean up. Throws Error.
llvm::Function* emit_kernel(llvm::Module& module, const KernelPlan& plan, const std::string& name, const Target& target,
                            bool lines);

}  // namespace strata::codegen
