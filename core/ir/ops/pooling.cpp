// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/pooling.h"

namespace strata::ops {

PoolWindow pool_window(const Call& call, size_t spatial, size_t first, bool dilated) {
  PoolWindow w;
  w.kernel = spread(call, first, spatial);
  w.stride = spread(call, first + 1, spatial, w.kernel);
  w.padding = spread(call, first + 2, spatial);
  w.dilation = dilated ? spread(call, first + 3, spatial) : std::vector<int64_t>(spatial, 1);
  w.ceil_mode = call.boolean(first + (dilated ? 4 : 3));
  for (size_t d = 0; d < spatial; ++d) {
    if (w.kernel[d] < 1 || w.stride[d] < 1 || w.dilation[d] < 1)
      reject(call, "kernel_size, stride and dilation must be at least 1");
    if (w.padding[d] < 0 || w.padding[d] > w.kernel[d] / 2)
      reject(call, "padding must be at least 0 and at most half the kernel, found " + std::to_string(w.padding[d]));
  }
  return w;
}

std::vector<SymInt> pooled_shape(const Call& call, const std::vector<SymInt>& x, const PoolWindow& w) {
  std::vector<SymInt> shape = x;
  for (size_t d = 0; d < w.spatial(); ++d) {
    SymInt& n = shape[x.size() - w.spatial() + d];
    const SymInt room = n + 2 * w.padding[d] - SymInt(w.dilation[d]) * (w.kernel[d] - 1) - 1;
    SymInt out = floordiv(room + (w.ceil_mode ? w.stride[d] - 1 : 0), w.stride[d]) + 1;
    // The last window must start inside the input or its left padding.
    if (w.ceil_mode) out = min(out, floordiv(n + w.padding[d] - 1, w.stride[d]) + 1);
    require_at_least(call, out, 1, "windows of " + std::to_string(w.kernel[d]) + " that fit into " + n.str());
    n = out;
  }
  return shape;
}

PoolGeometry pool_geometry(const PoolWindow& w, const std::vector<int64_t>& in, const std::vector<int64_t>& out) {
  PoolGeometry g;
  const size_t lead = in.size() - w.spatial(), skip = 3 - w.spatial();
  for (size_t d = 0; d < lead; ++d) g.planes *= in[d];
  for (size_t d = 0; d < w.spatial(); ++d) {
    g.in[skip + d] = in[lead + d];
    g.out[skip + d] = out[lead + d];
    g.kernel[skip + d] = w.kernel[d];
    g.stride[skip + d] = w.stride[d];
    g.padding[skip + d] = w.padding[d];
    g.dilation[skip + d] = w.dilation[d];
  }
  return g;
}

std::vector<SymInt> pooled_index(const IndexedCall& c, const PoolWindow& w, const std::vector<SymInt>& window_index,
                                 const std::vector<SymInt>& shape, std::optional<loop::ScalarId>& inside) {
  std::vector<SymInt> index = c.index;
  const std::vector<SymInt>& out = c.call.node().type.kind == Type::Kind::Tuple
                                       ? c.call.node().type.parts[0].tensor.shape
                                       : c.call.node().type.tensor.shape;
  const auto require = [&](loop::ScalarOp op, const SymInt& a, const SymInt& b) {
    const loop::ScalarId holds = c.body.binary(op, c.body.index(a), c.body.index(b));
    inside = inside ? c.body.binary(loop::ScalarOp::And, *inside, holds) : holds;
  };
  for (size_t d = 0; d < w.spatial(); ++d) {
    const size_t at = index.size() - w.spatial() + d;
    SymInt& i = index[at];
    i = i * w.stride[d] + window_index[d] * w.dilation[d] - w.padding[d];
    if (w.padding[d] > 0) require(loop::ScalarOp::Ge, i, 0);
    const SymInt last = (out[at] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] - w.padding[d];
    if (!known_lt(last, shape[at])) require(loop::ScalarOp::Lt, i, shape[at]);
  }
  return index;
}

}  // namespace strata::ops
