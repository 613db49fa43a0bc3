// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Convolution over double arrays: forward, and its two gradients. A transposed convolution is the input gradient of an
/// ordinary one, so these three serve every reference.

#include <array>
#include <cstdint>
#include <vector>

namespace strata::ops {

/// x [n, groups * in_channels, in...], w [groups * out_channels, in_channels, kernel...], y [n, groups * out_channels,
/// out...].
struct ConvolutionGeometry {
  int64_t n = 1, groups = 1, in_channels = 1, out_channels = 1;  ///< channels per group
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};

  int64_t in_points() const { return in[0] * in[1] * in[2]; }
  int64_t out_points() const { return out[0] * out[1] * out[2]; }
  int64_t window() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t x_size() const { return n * groups * in_channels * in_points(); }
  int64_t y_size() const { return n * groups * out_channels * out_points(); }
  int64_t w_size() const { return groups * out_channels * in_channels * window(); }
};

std::vector<double> convolve(const ConvolutionGeometry& g, const std::vector<double>& x, const std::vector<double>& w);
std::vector<double> convolution_input_gradient(const ConvolutionGeometry& g, const std::vector<double>& dy,
                                               const std::vector<double>& w);
std::vector<double> convolution_weight_gradient(const ConvolutionGeometry& g, const std::vector<double>& x,
                                                const std::vector<double>& dy);

}  // namespace strata::ops
