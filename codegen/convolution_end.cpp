// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/convolution_end.h"

#include <utility>
#include <vector>

namespace strata::library {
namespace {

bool is_dense_line(const View& v) { return v.dtype == DType::F32 && v.rank() == 1 && v.strides[0] == 1; }

/// An operand of work on `lines`, of which each channel has one number, and one that has as many and as they lie.
bool is_of_channels(const View& v, const View& lines) {
  return v.dtype == DType::F32 && v.numel() == lines.shape.back() && v.shape.back() == v.numel() &&
         v.strides.back() == 1;
}
bool is_alike(const View& v, const View& lines) {
  return v.dtype == DType::F32 && v.shape == lines.shape && v.strides == lines.strides;
}

const float* floats(const StepArgs& args, const std::optional<View>& view) {
  return view ? reinterpret_cast<const float*>(args.at(view->slot)) : nullptr;
}

}  // namespace

bool is_plane_convolution(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  if (c.kind != "convolution" || c.groups != 1 || call.result.rank() != 4) return false;
  const View &in = call.operands[0], &w = call.operands[1], &out = call.result;
  if (in.dtype != DType::F32 || w.dtype != DType::F32 || out.dtype != DType::F32) return false;
  if (c.has_bias && !is_dense_line(call.operands[2])) return false;
  return in.numel() != 0 && out.numel() != 0 && w.numel() != 0;
}

bool has_dense_places(const View& v) {
  const int64_t place = v.strides[3], row = place * v.shape[3], image = row * v.shape[2];
  return has_dense_channels(v) && (v.shape[2] == 1 || v.strides[2] == row) &&
         (v.shape[0] == 1 || v.strides[0] == image);
}

ConvolutionProduct geometry_of(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  const View &in = call.operands[0], &w = call.operands[1], &out = call.result;
  ConvolutionProduct p{};
  for (size_t d = 0; d < 2; ++d) {
    p.in_size[d] = in.shape[d + 2];
    p.out_size[d] = out.shape[d + 2];
    p.kernel[d] = w.shape[d + 2];
    p.stride[d] = c.stride[d];
    p.padding[d] = c.padding[d];
    p.dilation[d] = c.dilation[d];
  }
  p.in_channels = w.shape[1];
  p.out_channels = w.shape[0];
  p.in_image = in.strides[0];
  p.in_row = in.strides[2];
  p.in_place = in.strides[3];
  p.out_place = out.strides[3];
  return p;
}

int64_t products_of(const ConcreteCall& call) {
  const View& w = call.operands[1];
  return call.result.numel() * (w.numel() / w.shape[0]);
}

ConvolutionEnd::ConvolutionEnd(const ConcreteCall& call) {
  if (call.call->has_bias) bias_ = call.operands[2];
  const View lines = channels_at_end(call.result);
  std::vector<ResultOp> ops = result_ops(call);
  for (ResultOp& op : ops)
    if (op.has_operand()) op.operand = channels_at_end(std::move(op.operand));
  const auto first_is = [&](PostOp::Kind kind) { return !ops.empty() && ops[0].kind == kind; };
  /// The operand of the next operation, if it is of this kind and lies as it is to.
  const auto take = [&](PostOp::Kind kind, bool (*lies)(const View&, const View&)) -> std::optional<View> {
    if (!first_is(kind) || !lies(ops[0].operand, lines)) return std::nullopt;
    View operand = std::move(ops[0].operand);
    ops.erase(ops.begin());
    return operand;
  };
  scale_ = take(PostOp::Kind::Mul, is_of_channels);
  shift_ = take(PostOp::Kind::Add, is_of_channels);
  added_ = take(PostOp::Kind::Add, is_alike);
  relu_ = first_is(PostOp::Kind::Relu);
  if (relu_) ops.erase(ops.begin());
  if (!ops.empty()) rest_ = make_epilogue_in_parts(lines, lines, std::move(ops));
}

void ConvolutionEnd::give(const StepArgs& args, ConvolutionProduct& product) const {
  product.bias = floats(args, bias_);
  product.scale = floats(args, scale_);
  product.shift = floats(args, shift_);
  product.added = floats(args, added_);
  product.relu = relu_;
}

void ConvolutionEnd::run_rest(const StepArgs& args, int64_t first, int64_t last, int64_t first_channel,
                              int64_t last_channel) const {
  if (rest_) rest_->run_part(args, first, last, first_channel, last_channel);
}

std::string ConvolutionEnd::describe() const {
  std::string text;
  if (bias_) text += "  bias " + library::describe(*bias_) + "\n";
  if (scale_) text += "  times " + library::describe(*scale_) + "\n";
  if (shift_) text += "  plus " + library::describe(*shift_) + "\n";
  if (added_) text += "  plus " + library::describe(*added_) + "\n";
  if (relu_) text += "  relu\n";
  return rest_ ? text + rest_->describe() : text;
}

}  // namespace strata::library
