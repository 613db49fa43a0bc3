// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// All three unfold the input into a matrix (one row per channel and window position, one column per output point) and
// multiply.

#include "core/ir/ops/convolution_kernels.h"

#include <algorithm>

#include "core/ir/ops/dense.h"
#include "core/runtime/parallel.h"

namespace strata::ops {
namespace {

/// Input point that window position `k` sees at output point `o`; negative if it lies in the padding.
int64_t input_point(const ConvolutionGeometry& g, const std::array<int64_t, 3>& o, const std::array<int64_t, 3>& k) {
  int64_t flat = 0;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t i = o[d] * g.stride[d] + k[d] * g.dilation[d] - g.padding[d];
    if (i < 0 || i >= g.in[d]) return -1;
    flat = flat * g.in[d] + i;
  }
  return flat;
}

std::array<int64_t, 3> unflatten(int64_t flat, const std::array<int64_t, 3>& shape) {
  return {flat / (shape[1] * shape[2]), flat / shape[2] % shape[1], flat % shape[2]};
}

/// For output points [begin, end): the input point of every window position, window position major.
std::vector<int64_t> point_table(const ConvolutionGeometry& g, int64_t begin, int64_t end) {
  std::vector<int64_t> table;
  table.reserve(static_cast<size_t>(g.window() * (end - begin)));
  for (int64_t k = 0; k < g.window(); ++k)
    for (int64_t p = begin; p < end; ++p) table.push_back(input_point(g, unflatten(p, g.out), unflatten(k, g.kernel)));
  return table;
}

/// Rows of `channels` channels starting at `x`, columns as in `table`.
void unfold(const ConvolutionGeometry& g, const double* x, int64_t channels, const std::vector<int64_t>& table,
            std::vector<double>& columns) {
  columns.resize(table.size() * static_cast<size_t>(channels));
  double* to = columns.data();
  for (int64_t c = 0; c < channels; ++c) {
    const double* from = x + c * g.in_points();
    for (const int64_t at : table) *to++ = at < 0 ? 0.0 : from[at];
  }
}

void fold(const ConvolutionGeometry& g, const std::vector<double>& columns, const std::vector<int64_t>& table,
          double* x) {
  const double* from = columns.data();
  for (int64_t c = 0; c < g.in_channels; ++c) {
    double* to = x + c * g.in_points();
    for (const int64_t at : table) {
      if (at >= 0) to[at] += *from;
      ++from;
    }
  }
}

/// Output points that are worked on at a time: the unfolded block should stay in the cache.
int64_t block_points(const ConvolutionGeometry& g) {
  const int64_t depth = std::max<int64_t>(1, g.in_channels * g.window());
  return std::clamp<int64_t>((1 << 17) / depth, 32, std::max<int64_t>(32, g.out_points()));
}

}  // namespace

std::vector<double> convolve(const ConvolutionGeometry& g, const std::vector<double>& x, const std::vector<double>& w) {
  std::vector<double> y(static_cast<size_t>(g.y_size()), 0);
  const int64_t points = g.out_points(), depth = g.in_channels * g.window(), step = block_points(g);
  const int64_t blocks = (points + step - 1) / step;
  parallel_for(blocks * g.n * g.groups, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> columns;
    std::vector<int64_t> table;
    for (int64_t task = begin, last = -1; task < end; ++task) {
      const int64_t block = task / (g.n * g.groups), image = task % (g.n * g.groups), group = image % g.groups;
      const int64_t p = block * step, count = std::min(step, points - p);
      if (block != last) table = point_table(g, p, p + count);
      last = block;
      unfold(g, x.data() + image * g.in_channels * g.in_points(), g.in_channels, table, columns);
      multiply_add(g.out_channels, count, depth, {w.data() + group * g.out_channels * depth, depth},
                   {columns.data(), count}, y.data() + image * g.out_channels * points + p, points);
    }
  });
  return y;
}

std::vector<double> convolution_input_gradient(const ConvolutionGeometry& g, const std::vector<double>& dy,
                                               const std::vector<double>& w) {
  std::vector<double> dx(static_cast<size_t>(g.x_size()), 0);
  const int64_t points = g.out_points(), depth = g.in_channels * g.window(), step = block_points(g);
  parallel_for(g.n * g.groups, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> columns;
    for (int64_t image = begin; image < end; ++image)
      for (int64_t p = 0; p < points; p += step) {
        const int64_t count = std::min(step, points - p);
        columns.assign(static_cast<size_t>(depth * count), 0);
        const MatrixView weight{w.data() + image % g.groups * g.out_channels * depth, depth};
        multiply_add(depth, count, g.out_channels, weight.transposed(),
                     {dy.data() + image * g.out_channels * points + p, points}, columns.data(), count);
        fold(g, columns, point_table(g, p, p + count), dx.data() + image * g.in_channels * g.in_points());
      }
  });
  return dx;
}

std::vector<double> convolution_weight_gradient(const ConvolutionGeometry& g, const std::vector<double>& x,
                                                const std::vector<double>& dy) {
  std::vector<double> dw(static_cast<size_t>(g.w_size()), 0);
  const int64_t points = g.out_points(), window = g.window(), depth = g.in_channels * window;
  const std::vector<int64_t> table = point_table(g, 0, points);
  // A task is one input channel of one group, over all images: nobody else writes its columns of dw.
  parallel_for(g.groups * g.in_channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> columns;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / g.in_channels, channel = task % g.in_channels;
      for (int64_t i = 0; i < g.n; ++i) {
        const int64_t image = i * g.groups + group;
        unfold(g, x.data() + (image * g.in_channels + channel) * g.in_points(), 1, table, columns);
        multiply_add(g.out_channels, window, points, {dy.data() + image * g.out_channels * points, points},
                     MatrixView{columns.data(), points}.transposed(),
                     dw.data() + group * g.out_channels * depth + channel * window, depth);
      }
    }
  });
  return dw;
}

}  // namespace strata::ops
