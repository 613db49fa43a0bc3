// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arithmetic and functions of complex numbers, said in their parts. Operands and results are pairs of floating tensors
/// of one type that broadcast; calls of primitives are appended to the builder. NaN and infinities come out where
/// PyTorch's CPU kernels have them, unless a line here says otherwise.

#include <string>

#include "core/ir/complex_parts.h"

namespace strata::complex_formulas {

/// `aten.NAME.default` of one tensor.
Node* unary(Builder& builder, const char* name, Node* x);

ComplexParts times(Builder& builder, const ComplexParts& x, const ComplexParts& y);
/// x / y by Smith's method: by the quotient of the divisor's parts, so that no square overflows.
ComplexParts quotient(Builder& builder, const ComplexParts& x, const ComplexParts& y);
/// exp(y log x); 0 stays 0, and any number to the power 0 is 1.
ComplexParts power(Builder& builder, const ComplexParts& x, const ComplexParts& y);

/// |x|, real: infinite if a part is, whatever the other.
Node* magnitude(Builder& builder, const ComplexParts& x);
/// The angle in radians, real, from -pi to pi.
Node* angle(Builder& builder, const ComplexParts& x);

ComplexParts negative(Builder& builder, const ComplexParts& x);
ComplexParts inverse(Builder& builder, const ComplexParts& x);
ComplexParts square_root(Builder& builder, const ComplexParts& x);
ComplexParts inverse_root(Builder& builder, const ComplexParts& x);
ComplexParts exponential(Builder& builder, const ComplexParts& x);
ComplexParts exponential_2(Builder& builder, const ComplexParts& x);
/// exp(x) - 1, exact next to zero
ComplexParts exponential_less_1(Builder& builder, const ComplexParts& x);
ComplexParts logarithm(Builder& builder, const ComplexParts& x);
ComplexParts logarithm_2(Builder& builder, const ComplexParts& x);
ComplexParts logarithm_10(Builder& builder, const ComplexParts& x);
/// 1 / (1 + exp(-x))
ComplexParts logistic(Builder& builder, const ComplexParts& x);
ComplexParts sine(Builder& builder, const ComplexParts& x);
ComplexParts cosine(Builder& builder, const ComplexParts& x);
ComplexParts tangent(Builder& builder, const ComplexParts& x);
ComplexParts hyperbolic_sine(Builder& builder, const ComplexParts& x);
ComplexParts hyperbolic_cosine(Builder& builder, const ComplexParts& x);
ComplexParts hyperbolic_tangent(Builder& builder, const ComplexParts& x);

}  // namespace strata::complex_formulas
