// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arithmetic of float32 convolutions with kernels of 3 by 3 and steps of one, after Winograd: two by two places of
/// the result from four by four of the input in 16 products a pair of channels instead of 36 (A. Lavin and S. Gray,
/// "Fast Algorithms for Convolutional Neural Networks", 2015, F(2x2, 3x3)):
///
///   y = A' [(G g G') * (B' x B)] A     g: the kernel of 3 by 3,  x: a tile of 4 by 4 of the input,  y: 2 by 2
///
/// with the element-wise product * added up over input channels, as 16 matrix products of tiles by channels.
/// B and A are of 0, 1 and -1, G has halves: sums are as exact as of the convolution itself, which has nine times as
/// many terms. Where a number is not finite, differences of infinities would make NaN of what is infinity: such tiles
/// are computed again, tap by tap.

#include <cstdint>

#include "codegen/convolution_product.h"

namespace strata::library {

constexpr int64_t kWinogradParts = 16;  // elements of a tile

struct WinogradProduct {
  /// As there, but for `weight`: panels of WinogradKernels::panel floats if it is turned, else of [3, 3, in_channels,
  /// columns], which are turned one by one as they are met.
  ConvolutionProduct convolution;
  bool turned;
  /// Of a turned weight, what it was: for tiles that are computed tap by tap. [out_channels, in_channels, 3, 3],
  /// strides in elements.
  const float* plain;
  int64_t plain_strides[4];

  int64_t tile_rows() const { return (convolution.out_size[0] + 1) / 2; }
  int64_t tile_columns() const { return (convolution.out_size[1] + 1) / 2; }
};

/// Memory that is asked for when it is needed.
class FloatRoom {
 public:
  FloatRoom() = default;
  ~FloatRoom();
  FloatRoom(const FloatRoom&) = delete;
  FloatRoom& operator=(const FloatRoom&) = delete;
  bool is_empty() const { return memory_ == nullptr; }
  /// n zeros, once.
  float* make(int64_t n);
  const float* data() const { return memory_; }

 private:
  float* memory_ = nullptr;
};

/// Kernels for one instruction set.
struct WinogradKernels {
  int64_t columns;  ///< output channels of a panel
  int64_t rows;     ///< tiles that stay together: as many as have their sums in registers
  /// Floats of a turned panel: [kWinogradParts, in_channels, columns], each part a little apart from the next.
  int64_t (*panel)(int64_t in_channels);
  /// Floats of the room that so many tiles need, beside a panel where the weight is not turned.
  int64_t (*room)(int64_t in_channels, int64_t tiles);
  /// Tiles [first, last) of all images, row by row, of output channels in panels [first_panel, last_panel). `room` is
  /// overwritten.
  void (*multiply)(const WinogradProduct& product, int64_t first, int64_t last, int64_t first_panel, int64_t last_panel,
                   float* room);
  /// `plain` of panels [first_panel, last_panel), to where all panels begin; channels beyond the last become anything.
  void (*turn_weights)(const WinogradProduct& product, int64_t first_panel, int64_t last_panel, float* to);
};

/// Null where there is neither AVX2 nor AVX-512.
const WinogradKernels* winograd_kernels();
/// Those in AVX2. Only where has_avx2().
const WinogradKernels& winograd_avx2();

}  // namespace strata::library
