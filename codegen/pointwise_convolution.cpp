// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/pointwise_convolution.h"

#include <algorithm>

#include "codegen/instruction_sets.h"
#include "codegen/matmul_product.h"
#include "codegen/panel_matmul.h"
#include "codegen/small_matmul.h"

namespace strata::library {
namespace {

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
}

bool is_pointwise(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  const View &in = call.operands[0], &w = call.operands[1];
  if (c.kind != "convolution" || c.groups != 1 || !all_are(c.stride, 1) || !all_are(c.padding, 0)) return false;
  if (!std::all_of(w.shape.begin() + 2, w.shape.end(), [](int64_t k) { return k == 1; })) return false;
  if (in.numel() == 0 || call.result.numel() == 0 || in.dtype != w.dtype || !onednn_dtype(in.dtype)) return false;
  return has_dense_channels(in) && has_dense_channels(call.result);
}

/// oneDNN 2.6 adds an operand of the result's shape in the older of its convolutions alone, but in its newest products:
/// 0.65 to 1 of the time with as many channels or more behind as before (AVX-512; 0.8 to 1.5 with fewer).
bool adds_whole(const ConcreteCall& call) {
  constexpr int64_t kFewestChannels = 64;
  const View& out = call.result;
  if (!has_avx512() || out.dtype != DType::F32 || call.operands[0].dtype != DType::F32) return false;
  if (out.shape[1] < std::max(kFewestChannels, call.operands[0].shape[1])) return false;
  const std::vector<ResultOp> ops = result_ops(call);
  return std::ranges::any_of(
      ops, [&](const ResultOp& op) { return op.reads_whole(out) && op.operand.strides == out.strides; });
}

/// The library's convolution puts the weight in an order of its own first, unless that is done once: few places do not
/// make up for it. Of packed weights its convolutions are as fast as products or faster, but for a place or two, and
/// where an operand as large as the result is added.
bool pays(const ConcreteCall& call) {
  constexpr int64_t kFewPlaces = 8, kWeightsOfPlace = 1024;
  const int64_t channels = call.result.shape[1], places = call.result.numel() / channels;
  if (!call.constant[1]) return channels * call.operands[0].shape[1] >= kWeightsOfPlace * places;
  return places <= kFewPlaces || adds_whole(call);
}

/// The product's operands in the order of the convolution's, so that work on the result finds its own.
ConcreteCall product_of(const ConcreteCall& call, const LibraryCall& inner) {
  ConcreteCall product = call;
  product.call = &inner;
  product.result = channels_at_end(call.result);
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (i == 2 && inner.has_bias) continue;
    View& v = product.operands[i];
    if (i == 1) {
      v.shape = {v.shape[1], v.shape[0]};
      v.strides = {v.strides[1], v.strides[0]};
    } else {
      v = channels_at_end(with_rank(std::move(v), call.result.rank()));
    }
  }
  return product;
}

}  // namespace

bool build_pointwise_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (!is_pointwise(call) || !pays(call)) return false;
  auto inner = std::make_shared<LibraryCall>(*call.call);
  inner->kind = "matmul";
  inner->alpha = inner->beta = 1;
  const ConcreteCall product = product_of(call, *inner);
  Instance probe, made;
  if (make_matmul_product(product, probe).result.rank() != 2) return false;
  if (!build_small_matmul(product, packed, made) && !build_large_matmul(product, packed, made)) return false;
  made.owned.push_back(std::move(inner));
  instance = std::move(made);
  return true;
}

}  // namespace strata::library
