// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Upsampling and pixel shuffles. Source positions are computed in float32 as PyTorch does (float64 for float64 input),
// so that both choose the same elements.

#include "core/ir/ops/neural.h"
#include "core/runtime/parallel.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;
using Ints = std::vector<int64_t>;

// ------------------------------------------------------------------------------------------------------------------
// shapes

Type resized(const Call& call, const Shape& out) {
  const bool nearest = call.op().name.find("nearest") != std::string::npos;
  if (!nearest && !is_floating(call.type(0).dtype)) reject(call, "integers are interpolated in another arithmetic");
  Shape shape = call.type(0).shape;
  for (const SymInt& n : out) require_at_least(call, n, 1, "output size");
  for (size_t d = 1; d < shape.size(); ++d)
    require_at_least(call, shape[d], 1, "size of dimension " + std::to_string(d));
  std::copy(out.begin(), out.end(), shape.end() - static_cast<long>(out.size()));
  return result_like(call, call.type(0).dtype, std::move(shape));
}
template <size_t Factors>
Type vec_type(const Call& call) {
  require_rank(call, 0, 4, 4);
  return resized(call, wanted_sizes(call, 2, Factors));
}
Type upsample_type(const Call& call) {
  require_rank(call, 0, 4, 4);
  const Shape out = call.integers(1);
  if (out.size() != 2) reject(call, "output_size must have 2 values");
  return resized(call, out);
}

Argument factor(const Call& call, size_t factors, size_t d) {
  const auto* list = call.arg(factors).as<ListArg>();
  return call.is_none(1) && list ? list->items[d] : Argument();
}
std::vector<Node*> decompose_nearest_vec(Builder& b, const Call& call) {
  return {b.call("aten.upsample_nearest2d.default",
                 {call.tensor(0), sizes(wanted_sizes(call, 2, 2)), factor(call, 2, 0), factor(call, 2, 1)})};
}
std::vector<Node*> decompose_bilinear_vec(Builder& b, const Call& call) {
  return {b.call("aten.upsample_bilinear2d.default", {call.tensor(0), sizes(wanted_sizes(call, 2, 3)), call.arg(2),
                                                      factor(call, 3, 0), factor(call, 3, 1)})};
}

// ---------------------------------------------------------------------------------------------------------------
// positions

/// A factor given by the caller (parameter `i`), if positive.
std::optional<double> given_factor(const Call& call, size_t i) {
  if (call.is_none(i) || !(call.number(i) > 0)) return {};
  return call.number(i);
}

int64_t nearest_source(int64_t o, int64_t in, int64_t out, std::optional<double> factor) {
  if (in == out) return o;
  if (out == 2 * in) return o / 2;
  const float scale = factor ? static_cast<float>(1.0 / *factor) : static_cast<float>(in) / static_cast<float>(out);
  return std::min(static_cast<int64_t>(std::floor(static_cast<float>(o) * scale)), in - 1);
}

template <class T>
struct Blend {
  int64_t low, high;
  T fraction;  ///< of `high`
};
template <class T>
Blend<T> linear_source(int64_t o, int64_t in, int64_t out, bool align, std::optional<double> factor) {
  T at;
  if (align)
    at = out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) * static_cast<T>(o) : T{0};
  else {
    const T scale = factor ? static_cast<T>(1.0 / *factor) : static_cast<T>(in) / static_cast<T>(out);
    at = std::max(T{0}, scale * (static_cast<T>(o) + T{0.5}) - T{0.5});
  }
  const int64_t low = std::min(static_cast<int64_t>(at), in - 1);
  return {low, std::min(low + 1, in - 1), std::min(std::max(at - static_cast<T>(low), T{0}), T{1})};
}

// --------------------------------------------------------------------------------------------------------------
// references

RefValue nearest_reference(const RefContext& c) {
  const Tensor x = c.tensor(0).contiguous();
  Tensor out = c.result();
  const int64_t ih = x.shape[2], iw = x.shape[3], oh = out.shape[2], ow = out.shape[3];
  const std::vector<double> from = doubles_of(x);
  std::vector<double> to(static_cast<size_t>(out.numel()));
  const auto fh = given_factor(c.call, 2), fw = given_factor(c.call, 3);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t y = nearest_source(i / ow % oh, ih, oh, fh), z = nearest_source(i % ow, iw, ow, fw);
    to[static_cast<size_t>(i)] = from[static_cast<size_t>((i / (oh * ow) * ih + y) * iw + z)];
  }
  store_doubles(to, out);
  return out;
}

template <class T>
void bilinear(const RefContext& c, const Tensor& x, const Tensor& out) {
  const int64_t ih = x.shape[2], iw = x.shape[3], oh = out.shape[2], ow = out.shape[3];
  const bool align = c.call.boolean(2);
  const auto fh = given_factor(c.call, 3), fw = given_factor(c.call, 4);
  const std::vector<double> from = doubles_of(x);
  std::vector<double> to(static_cast<size_t>(out.numel()));
  for (int64_t i = 0; i < out.numel(); ++i) {
    const auto v = linear_source<T>(i / ow % oh, ih, oh, align, fh);
    const auto h = linear_source<T>(i % ow, iw, ow, align, fw);
    const double* plane = from.data() + i / (oh * ow) * ih * iw;
    const auto row = [&](int64_t y) {
      return plane[y * iw + h.low] * (1.0 - static_cast<double>(h.fraction)) +
             plane[y * iw + h.high] * static_cast<double>(h.fraction);
    };
    to[static_cast<size_t>(i)] =
        row(v.low) * (1.0 - static_cast<double>(v.fraction)) + row(v.high) * static_cast<double>(v.fraction);
  }
  store_doubles(to, out);
}
RefValue bilinear_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result();
  x.dtype == DType::F64 ? bilinear<double>(c, x, out) : bilinear<float>(c, x, out);
  return out;
}

// ------------------------------------------------------------------------------------------------------------- loop
// bodies

/// in / out, or 1 / factor, in `dtype`.
ScalarId scale_scalar(Body& body, const SymInt& in, const SymInt& out, std::optional<double> factor, DType dtype) {
  if (factor) return body.constant(1.0 / *factor, dtype);
  return body.binary(ScalarOp::Div, body.cast(body.index(in), dtype), body.cast(body.index(out), dtype));
}

SymInt nearest_index(Body& body, const SymInt& o, const SymInt& in, const SymInt& out, std::optional<double> factor) {
  if (in == out) return o;
  if (out == in * 2) return floordiv(o, 2);
  const ScalarId scaled =
      body.binary(ScalarOp::Mul, body.cast(body.index(o), DType::F32), scale_scalar(body, in, out, factor, DType::F32));
  ScalarId at = body.cast(body.unary(ScalarOp::Floor, scaled), DType::I64);
  // As many elements as there were, or twice as many, do not follow the factor; only a run may tell of symbolic sizes.
  const auto instead_where = [&](const SymInt& so_many, const SymInt& place) {
    if (known_ne(out, so_many)) return;
    const ScalarId same = body.binary(ScalarOp::Eq, body.index(out), body.index(so_many));
    at = body.select(same, body.index(place), at);
  };
  if (factor && *factor >= 1 && *factor < 2) instead_where(in, o);
  if (factor && *factor >= 2 && *factor < 3) instead_where(in * 2, floordiv(o, 2));
  return body.indirect(body.binary(ScalarOp::Min, at, body.index(in - 1)), {0, kSymMax}, in - 1);
}

ScalarId nearest_body(const IndexedCall& c) {
  const Shape &in = c.call.type(0).shape, &out = c.call.node().type.tensor.shape;
  std::vector<SymInt> index = c.index;
  for (size_t d = 2; d < 4; ++d) index[d] = nearest_index(c.body, c.index[d], in[d], out[d], given_factor(c.call, d));
  return c.load(c.call.tensor(0), index, {});
}

struct BodyBlend {
  SymInt low, high;
  ScalarId fraction, rest;
};
ScalarId linear_position(Body& body, const SymInt& o, const SymInt& in, const SymInt& out, bool align,
                         std::optional<double> factor, DType t) {
  const ScalarId at = body.cast(body.index(o), t);
  if (align) {
    // The only element of a line, as a symbolic size may turn out to make it, is the first one.
    return body.binary(ScalarOp::Mul, scale_scalar(body, in - 1, max(out - 1, SymInt(1)), {}, t), at);
  }
  const ScalarId half = body.constant(0.5, t);
  const ScalarId centre =
      body.binary(ScalarOp::Mul, scale_scalar(body, in, out, factor, t), body.binary(ScalarOp::Add, at, half));
  return body.binary(ScalarOp::Max, body.binary(ScalarOp::Sub, centre, half), body.constant(0, t));
}
BodyBlend blend(Body& body, const SymInt& o, const SymInt& in, const SymInt& out, bool align,
                std::optional<double> factor, DType t) {
  const ScalarId at = linear_position(body, o, in, out, align, factor, t), last = body.index(in - 1),
                 one = body.constant(1, t);
  const ScalarId low = body.binary(ScalarOp::Min, body.cast(at, DType::I64), last);
  const ScalarId high = body.binary(ScalarOp::Min, body.binary(ScalarOp::Add, low, body.integer(1)), last);
  const ScalarId beyond = body.binary(ScalarOp::Sub, at, body.cast(low, t));
  const ScalarId fraction = body.binary(ScalarOp::Min, body.binary(ScalarOp::Max, beyond, body.constant(0, t)), one);
  return {body.indirect(low, {0, kSymMax}, in - 1), body.indirect(high, {0, kSymMax}, in - 1), fraction,
          body.binary(ScalarOp::Sub, one, fraction)};
}

ScalarId bilinear_body(const IndexedCall& c) {
  const Shape &in = c.call.type(0).shape, &out = c.call.node().type.tensor.shape;
  const DType t = compute_dtype(c.call.type(0).dtype);
  const bool align = c.call.boolean(2);
  const BodyBlend v = blend(c.body, c.index[2], in[2], out[2], align, given_factor(c.call, 3), t);
  const BodyBlend h = blend(c.body, c.index[3], in[3], out[3], align, given_factor(c.call, 4), t);
  const auto mix = [&](ScalarId a, ScalarId b, const BodyBlend& w) {
    return c.body.binary(ScalarOp::Add, c.body.binary(ScalarOp::Mul, a, w.rest),
                         c.body.binary(ScalarOp::Mul, b, w.fraction));
  };
  const auto row = [&](const SymInt& y) {
    const ScalarId left = c.load(c.call.tensor(0), {c.index[0], c.index[1], y, h.low}, {});
    return mix(left, c.load(c.call.tensor(0), {c.index[0], c.index[1], y, h.high}, {}), h);
  };
  const ScalarId top = row(v.low);
  return mix(top, row(v.high), v);
}

// ------------------------------------------------------------------------------------------------------------ pixel
// shuffle

int64_t shuffle_factor(const Call& call) {
  require_rank(call, 0, 3, 64);
  const int64_t r = call.constant(1);
  if (r < 1 || r > 1 << 15) reject(call, "the factor must be at least 1");
  return r;
}
Type pixel_shuffle_type(const Call& call) {
  const int64_t r = shuffle_factor(call);
  Shape s = call.type(0).shape;
  const size_t n = s.size();
  require_multiple(call, s[n - 3], r * r, "channels");
  s[n - 3] = floordiv(s[n - 3], r * r);
  s[n - 2] = s[n - 2] * r;
  s[n - 1] = s[n - 1] * r;
  return result_like(call, call.type(0).dtype, std::move(s));
}
Type pixel_unshuffle_type(const Call& call) {
  const int64_t r = shuffle_factor(call);
  Shape s = call.type(0).shape;
  const size_t n = s.size();
  require_multiple(call, s[n - 2], r, "height");
  require_multiple(call, s[n - 1], r, "width");
  s[n - 3] = s[n - 3] * (r * r);
  s[n - 2] = floordiv(s[n - 2], r);
  s[n - 1] = floordiv(s[n - 1], r);
  return result_like(call, call.type(0).dtype, std::move(s));
}
std::vector<Node*> decompose_pixel_shuffle(Builder& b, const Call& call) {
  const int64_t r = shuffle_factor(call);
  const Shape &x = call.type(0).shape, &y = call.node().tensor().shape;
  const size_t n = x.size();
  const SymInt lead = product(Shape(x.begin(), x.end() - 3));
  Node* split = b.reshape(call.tensor(0), {lead, y[n - 3], r, r, x[n - 2], x[n - 1]});
  return {b.reshape(b.permute(split, {0, 1, 4, 2, 5, 3}), y)};
}
std::vector<Node*> decompose_pixel_unshuffle(Builder& b, const Call& call) {
  const int64_t r = shuffle_factor(call);
  const Shape &x = call.type(0).shape, &y = call.node().tensor().shape;
  const size_t n = x.size();
  const SymInt lead = product(Shape(x.begin(), x.end() - 3));
  Node* split = b.reshape(call.tensor(0), {lead, x[n - 3], y[n - 2], r, y[n - 1], r});
  return {b.reshape(b.permute(split, {0, 1, 3, 5, 2, 4}), y)};
}

}  // namespace

Shape wanted_sizes(const Call& call, size_t spatial, size_t factors) {
  Shape out = call.integers(1);
  if (!call.is_none(1)) {
    if (out.size() != spatial) reject(call, "output_size must have " + std::to_string(spatial) + " values");
    return out;
  }
  const auto* list = call.arg(factors).as<ListArg>();
  if (!list || list->items.size() != spatial)
    reject(call, "expected output_size or " + std::to_string(spatial) + " scale_factors");
  const Shape& x = call.type(0).shape;
  for (size_t d = 0; d < spatial; ++d) {
    const auto* scale = list->items[d].as<double>();
    if (!scale || !(*scale > 0) || *scale > 1e6) reject(call, "scale_factors must be positive numbers");
    const SymInt& n = x[x.size() - spatial + d];
    out.push_back(scaled(SymRounding::Trunc, *scale, n));
  }
  return out;
}

Rows resampling_rows() {
  return {
      OpDef("aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) "
            "-> Tensor",
            OpClass::Indexing, 0, Promotion::None, upsample_type, nearest_reference, nullptr, NoGradient::Pending,
            IndexedBody(nearest_body), "", "resizes by taking the nearest element"),
      OpDef("aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, "
            "float? scales_w=None) -> "
            "Tensor",
            OpClass::Indexing, 0, Promotion::None, upsample_type, bilinear_reference, nullptr, NoGradient::Pending,
            IndexedBody(bilinear_body), "", "resizes by blending the four nearest elements"),
      compound("aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 0,
               vec_type<2>, decompose_nearest_vec, "upsample_nearest2d by size or factors"),
      compound("aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
               "scale_factors) -> Tensor",
               0, vec_type<3>, decompose_bilinear_vec, "upsample_bilinear2d by size or factors"),
      compound("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", 0, pixel_shuffle_type,
               decompose_pixel_shuffle, "moves blocks of channels into height and width"),
      compound("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", 0, pixel_unshuffle_type,
               decompose_pixel_unshuffle, "moves blocks of height and width into channels"),
  };
}

}  // namespace strata::ops
