// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of the pointwise family; `ops::pointwise()` joins them.

#include "core/ir/ops/common.h"

namespace strata::ops {

Rows elementary();           ///< one operand: exp, sin, floor, isnan, ...
Rows activations();          ///< relu, gelu, hardswish, elu, ...
Rows arithmetic();           ///< add, mul, div, pow, remainder, maximum, ...
Rows comparisons();          ///< eq, lt, logical and bitwise operators
Rows selections();           ///< where, masked_fill, clamp, lerp, addcmul
Rows composed_pointwise();   ///< selu, glu, nan_to_num, ...: `compositions.cpp`
Rows quantized();            ///< numbers as integers, a scale and a zero, of quantized_decomposed and torchao
Rows shorthand_pointwise();  ///< deg2rad, heaviside, absolute, greater, ...: `shorthand_numbers.cpp`
Rows conversions();          ///< casts, clone, contiguous, detach, dropout

}  // namespace strata::ops
