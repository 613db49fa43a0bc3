// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a device kernel computes on Tensor Cores, as far as its name says.

#include <string_view>

namespace strata::profiler {

enum class TensorCoreUse : int { Unknown = 0, No, Yes };

/// From the name as a profile shows it: what vendors' and compilers' kernels are called says which instructions they
/// use (`tensor16x8x8` against `ffma`, `s1688gemm` against `simt_sgemm`, `wgmma`). A name that says nothing, such as
/// that of a Triton template or of somebody's own kernel, is Unknown.
TensorCoreUse tensor_core_use(std::string_view name);

/// `yes`, `no`, `unknown`.
std::string_view tensor_core_text(TensorCoreUse use);

}  // namespace strata::profiler
