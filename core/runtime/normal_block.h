// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata {

/// Eight pairs of uniform numbers, (data[j], data[j + 8]) in [0, 1), become eight pairs of normal ones in place
/// (Box-Muller), with the roundings of PyTorch's kernel for this processor: polynomials for logarithm, sine and cosine
/// where it has AVX2 and FMA, else the C library's functions.
void normal_block(float* data, float mean, float deviation);

}  // namespace strata
