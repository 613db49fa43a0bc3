// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Windows of max and average pooling over the last one to three dimensions.

#include <array>

#include "core/ir/ops/neural.h"

namespace strata::ops {

struct PoolWindow {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;
  size_t spatial() const { return kernel.size(); }
};

/// From parameters kernel_size (`first`), stride, padding and, if `dilated`, dilation, then ceil_mode. Rejects what
/// PyTorch rejects.
PoolWindow pool_window(const Call& call, size_t spatial, size_t first, bool dilated);
/// The pooled shape of `x`.
std::vector<SymInt> pooled_shape(const Call& call, const std::vector<SymInt>& x, const PoolWindow& w);

/// A pool at run time, dimensions padded in front to three.
struct PoolGeometry {
  int64_t planes = 1;  ///< product of the dimensions that are not pooled
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};
  int64_t in_points() const { return in[0] * in[1] * in[2]; }
  int64_t out_points() const { return out[0] * out[1] * out[2]; }
  std::array<int64_t, 3> out_index(int64_t flat) const {
    return {flat / (out[1] * out[2]), flat / out[2] % out[1], flat % out[2]};
  }
  /// Calls `visit(flat input point)` for the window's points inside the input, in order.
  template <class F>
  void for_window(const std::array<int64_t, 3>& o, F&& visit) const {
    for (int64_t a = 0; a < kernel[0]; ++a)
      for (int64_t b = 0; b < kernel[1]; ++b)
        for (int64_t c = 0; c < kernel[2]; ++c) {
          const int64_t z = o[0] * stride[0] - padding[0] + a * dilation[0],
                        y = o[1] * stride[1] - padding[1] + b * dilation[1],
                        x = o[2] * stride[2] - padding[2] + c * dilation[2];
          if (z >= 0 && z < in[0] && y >= 0 && y < in[1] && x >= 0 && x < in[2]) visit((z * in[1] + y) * in[2] + x);
        }
  }
};
PoolGeometry pool_geometry(const PoolWindow& w, const std::vector<int64_t>& in, const std::vector<int64_t>& out);

/// Index into the input that result index and window index name, and (if not all of them are inside) the mask of those
/// that are.
std::vector<SymInt> pooled_index(const IndexedCall& c, const PoolWindow& w, const std::vector<SymInt>& window_index,
                                 const std::vector<SymInt>& shape, std::optional<loop::ScalarId>& inside);

}  // namespace strata::ops
