// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which of the kernels written for one instruction set may run: what the processor has and STRATA_CPU_FEATURES keeps.

namespace strata::library {

/// AVX-512 F, BW, DQ and VL.
bool has_avx512();
/// AVX2, FMA and F16C, which come together.
bool has_avx2();
/// The latter alone: what is written for it is used.
bool has_avx2_at_most();

}  // namespace strata::library
