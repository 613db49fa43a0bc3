// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arithmetic of float32 convolutions in AVX2: places of the result by panels of its channels, as panel_product.h
/// has it for matrices. A row of the left matrix is what all taps read for one place; it is never put together.

#include <array>
#include <cstdint>

namespace strata::library {

/// Of two dimensions and one group. Channels of a place are dense in memory; strides in elements.
struct ConvolutionProduct {
  std::array<int64_t, 2> in_size, out_size, kernel, stride, padding, dilation;
  int64_t in_channels, out_channels;
  const float* in;
  int64_t in_image, in_row, in_place;  ///< strides
  const float* weight;                 ///< [panels, kernel[0], kernel[1], in_channels, kPanelColumns]
  float* out;                          ///< places of all images one after the other
  int64_t out_place;                   ///< stride
  const float* bias;                   ///< [out_channels], or null
  const float* scale;                  ///< [out_channels], what comes to then is multiplied by, or null
  const float* shift;                  ///< [out_channels], added to it, or null
  const float* added;                  ///< lies as the result does, and is added to it; or null
  bool relu;                           ///< in the end, numbers below 0 become 0
};

/// Places at a time: what they read stays in the second-level cache while panels go over it.
constexpr int64_t kPlacesAtOnce = 96;

/// Places [first, last) of panels [first_panel, last_panel). Only where has_avx2().
void convolution_product(const ConvolutionProduct& product, int64_t first, int64_t last, int64_t first_panel,
                         int64_t last_panel);

}  // namespace strata::library
