// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tensors of random numbers, bit for bit those that PyTorch's CPU kernels draw from the same generator. Results are
/// row-major; elements are drawn in that order.

#include "core/runtime/generator.h"
#include "core/runtime/tensor.h"

namespace strata {

/// Floating point, uniform in [low, high).
void draw_uniform(Generator& generator, const Tensor& out, double low, double high);

/// Floating point, normal. PyTorch fills 16 elements or more of gapless memory in blocks of 16; `one_by_one`: as for
/// other memory.
void draw_normal(Generator& generator, const Tensor& out, double mean, double deviation, bool one_by_one);

/// Floating point, exponential: PyTorch's kernel for processors on which it does not ask MKL.
void draw_exponential(Generator& generator, const Tensor& out, double rate);

/// Any type: 1 with probability `p`, else 0. PyTorch's kernel for processors on which it does not ask MKL.
void draw_bernoulli(Generator& generator, const Tensor& out, double p);

/// The same with a probability (floating point, any strides) for each element. Throws a user Error for one outside
/// of [0, 1].
void draw_bernoulli_each(Generator& generator, const Tensor& probabilities, const Tensor& out);

/// Any type: integers of [low, high), converted.
void draw_integers(Generator& generator, const Tensor& out, int64_t low, int64_t high);

/// One dimension, any type: 0, 1, ... in random order.
void draw_permutation(Generator& generator, const Tensor& out);

/// Positions drawn from rows of weights ([..., n], float32 or float64, row-major) into `out` ([..., count], int64):
/// with replacement each by the cumulated weights, else those of the largest weights over exponential numbers. Throws a
/// user Error for weights that are negative, not finite, or all zero.
void draw_multinomial(Generator& generator, const Tensor& weights, bool replacement, const Tensor& out);

}  // namespace strata
