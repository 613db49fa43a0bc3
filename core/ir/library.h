// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A library call as the scheduler describes it: a matrix product, convolution or attention with the element-wise work
/// that is done on its result while it is still in registers. Code generation binds it to oneDNN (or a kernel of ours)
/// for one machine.

#include <limits>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace strata {

/// Work on the result, in order. `operand` indexes `LibraryCall::operands` for the kinds that read a tensor.
struct PostOp {
  enum class Kind : uint8_t {
    Relu,
    GeluErf,
    GeluTanh,
    Tanh,
    Sigmoid,
    Silu,
    HardSwish,
    HardSigmoid,
    Elu,
    Clamp,   ///< min(max(x, alpha), beta)
    Linear,  ///< alpha * x + beta; a product alone has beta kNothingAdded
    Add,
    Sub,
    Mul,  ///< with operand, broadcast to the result
  };
  static constexpr double kNothingAdded = -0.0;  ///< -0 stays -0, which 0 would make 0

  Kind kind = Kind::Relu;
  double alpha = 0, beta = 0;
  int operand = -1;
  NodeId node = 0;
};
std::string_view to_string(PostOp::Kind kind);

/// Strides, in elements, of a tensor [N, C, spatial...] (two dimensions or more) with its channels next to each other.
std::vector<SymInt> channels_last_strides(const std::vector<SymInt>& shape);

/// A tensor the call reads: where it lies, as strides over a buffer (so transposes and slices need no copy).
struct LibraryOperand {
  int buffer = -1;  ///< index into the launch's buffers
  DType dtype = DType::F32;
  std::vector<SymInt> shape, strides;
  SymInt offset;          ///< elements
  bool constant = false;  ///< never changes: may be packed once
  NodeId node = 0;
};

struct LibraryCall {
  /// `matmul`: result[..., m, n] = alpha * a[..., m, k] @ b[..., k, n] + beta * bias (batch dimensions broadcast;
  /// operands a, b, bias?). `convolution`: operands input [n, c, d...], weight [o, c/groups, k...], bias? [o];
  /// `convolution_transpose`: weight [c, o/groups, k...]. `attention`: operands query, key, value [..., l, e], mask?
  /// (bool or additive float), softmax(q k^T * alpha + mask) v; `causal`.
  std::string kind;
  std::string name;  ///< `conv2d_relu_2`
  std::vector<LibraryOperand> operands;
  bool has_bias = false;  ///< convolution, matmul: operands[2] is the bias
  LibraryOperand result;
  double alpha = 1, beta = 1;
  bool causal = false, has_mask = false;
  /// attention: the score where a bool mask is false; whether it takes the place of the score there, instead of being
  /// added to it; whether a row that sees no key is NaN instead of 0.
  double mask_fill = -std::numeric_limits<double>::infinity();
  bool mask_replaces = false, empty_rows_nan = false;
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups = 1;
  std::vector<PostOp> post_ops;
  std::vector<NodeId> nodes;  ///< everything it computes
  SymInt flops;
};

}  // namespace strata
