// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Average pooling, and pooling to a given size ("adaptive"), whose windows may differ by one in length and overlap.

#include <limits>

#include "core/ir/ops/pooling.h"
#include "core/runtime/parallel.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;
using Ints = std::vector<int64_t>;

// ------------------------------------------------------------------------------------------------------------ avg_pool

/// Parameters after the window: ceil_mode 4, count_include_pad 5, divisor_override 6.
template <size_t N>
PoolWindow window_of(const Call& call, size_t first = 1) {
  require_rank(call, first - 1, N + 1, N + 2);
  return pool_window(call, N, first, false);
}
std::optional<int64_t> divisor(const Call& call, size_t i) {
  if (i >= call.size() || call.is_none(i)) return {};
  const int64_t d = call.constant(i);
  if (d == 0) reject(call, "divisor_override must not be 0");
  return d;
}

template <size_t N>
Type avg_pool_type(const Call& call) {
  divisor(call, 6);
  return result_like(call, call.type(0).dtype, pooled_shape(call, call.type(0).shape, window_of<N>(call)));
}

/// Elements that the window at `o` counts.
int64_t count_at(const PoolGeometry& g, const std::array<int64_t, 3>& o, bool include_pad) {
  int64_t count = 1;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t start = o[d] * g.stride[d] - g.padding[d];
    const int64_t end = std::min(start + g.kernel[d], g.in[d] + (include_pad ? g.padding[d] : 0));
    count *= end - (include_pad ? start : std::max<int64_t>(0, start));
  }
  return count;
}

template <size_t N>
RefValue avg_pool_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result();
  const PoolGeometry g = pool_geometry(window_of<N>(c.call), x.shape, out.shape);
  const std::vector<double> from = doubles_of(x);
  std::vector<double> to(static_cast<size_t>(out.numel()));
  const bool include_pad = c.call.boolean(5);
  const std::optional<int64_t> fixed = divisor(c.call, 6);
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t plane = static_cast<int64_t>(i) / g.out_points();
    const auto o = g.out_index(static_cast<int64_t>(i) % g.out_points());
    double sum = 0;
    g.for_window(o, [&](int64_t at) { sum += from[static_cast<size_t>(plane * g.in_points() + at)]; });
    to[i] = sum / static_cast<double>(fixed.value_or(count_at(g, o, include_pad)));
  }
  store_doubles(to, out);
  return out;
}

template <size_t N>
std::vector<SymInt> window_extents(const Call& call) {
  const Ints kernel = window_of<N>(call).kernel;
  return {kernel.begin(), kernel.end()};
}
template <size_t N>
ScalarId window_element(const IndexedCall& c, const std::vector<SymInt>& window_index,
                        std::optional<ScalarId>& inside) {
  const std::vector<SymInt> index = pooled_index(c, window_of<N>(c.call), window_index, c.call.type(0).shape, inside);
  return c.load(c.call.tensor(0), index, inside);
}

/// The divisor as an expression in the result index; a constant where every window lies inside.
SymInt count_of(const IndexedCall& c, const PoolWindow& w, bool include_pad) {
  const Shape &in = c.call.type(0).shape, &out = c.call.node().type.tensor.shape;
  SymInt count = 1;
  for (size_t d = 0; d < w.spatial(); ++d) {
    const size_t at = in.size() - w.spatial() + d;
    const SymInt edge = in[at] + (include_pad ? w.padding[d] : 0);
    const SymInt start = c.index[at] * w.stride[d] - w.padding[d];
    const SymInt last = (out[at] - 1) * w.stride[d] - w.padding[d] + w.kernel[d];
    const bool starts_inside = include_pad || w.padding[d] == 0, ends_inside = known_le(last, edge);
    if (starts_inside && ends_inside) {
      count = count * w.kernel[d];
    } else {
      const SymInt end = ends_inside ? start + w.kernel[d] : min(start + w.kernel[d], edge);
      count = count * (end - (starts_inside ? start : max(start, 0)));
    }
  }
  return count;
}

ScalarId divided(const IndexedCall& c, ScalarId sum, const SymInt& count) {
  const DType dtype = c.body.dtype(sum);
  const ScalarId n = count.is_const() ? c.body.constant(static_cast<double>(count.value()), dtype)
                                      : c.body.cast(c.body.index(count), dtype);
  return c.body.binary(ScalarOp::Div, sum, n);
}

template <size_t N>
ScalarId avg_pool_finish(const IndexedCall& c, std::span<const ScalarId> results) {
  const std::optional<int64_t> fixed = divisor(c.call, 6);
  return divided(c, results[0], fixed ? SymInt(*fixed) : count_of(c, window_of<N>(c.call), c.call.boolean(5)));
}

std::vector<Node*> decompose_avg_pool1d(Builder& b, const Call& call) {
  const PoolWindow w = window_of<1>(call);
  const auto pair = [](int64_t front, int64_t value) { return int_list({front, value}); };
  Node* y =
      b.call("aten.avg_pool2d.default", {b.unsqueeze(call.tensor(0), -2), pair(1, w.kernel[0]), pair(1, w.stride[0]),
                                         pair(0, w.padding[0]), w.ceil_mode, call.boolean(5)});
  return {squeeze(b, y, -2)};
}

// ---------------------------------------------------------------------------------------------------- avg_pool
// gradient

Type avg_pool_backward_type(const Call& call) {
  require_rank(call, 1, 3, 4);
  const Shape y = pooled_shape(call, call.type(1).shape, window_of<2>(call, 2));
  if (call.type(0).shape.size() != y.size()) reject(call, "'grad_output' must have the rank of the pool's result");
  for (size_t d = 0; d < y.size(); ++d)
    require_equal(call, call.type(0).shape[d], y[d], "sizes of 'grad_output' and of the pool's result");
  return result_like(call, call.type(1).dtype, call.type(1).shape);
}

RefValue avg_pool_backward_reference(const RefContext& c) {
  const Tensor dy = c.tensor(0);
  Tensor out = c.result();
  const PoolGeometry g = pool_geometry(window_of<2>(c.call, 2), out.shape, dy.shape);
  const std::vector<double> from = doubles_of(dy);
  std::vector<double> to(static_cast<size_t>(out.numel()), 0);
  const bool include_pad = c.call.boolean(6);
  const std::optional<int64_t> fixed = divisor(c.call, 7);
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t plane = static_cast<int64_t>(i) / g.out_points();
    const auto o = g.out_index(static_cast<int64_t>(i) % g.out_points());
    const double share = from[i] / static_cast<double>(fixed.value_or(count_at(g, o, include_pad)));
    g.for_window(o, [&](int64_t at) { to[static_cast<size_t>(plane * g.in_points() + at)] += share; });
  }
  store_doubles(to, out);
  return out;
}

std::vector<Node*> avg_pool_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  const Call& c = g.call;
  const PoolWindow w = window_of<2>(c);
  out[0] = g.builder.call("aten.avg_pool2d_backward.default", {dy, c.tensor(0), int_list(w.kernel), int_list(w.stride),
                                                               int_list(w.padding), w.ceil_mode, c.arg(5), c.arg(6)});
  return out;
}

// -------------------------------------------------------------------------------------------------------------
// adaptive

/// Requested sizes of the pooled dimensions.
Shape adaptive_sizes(const Call& call, size_t spatial) {
  require_rank(call, 0, spatial + 1, spatial + 2);
  Shape out = call.integers(1);
  if (out.size() == 1) out.assign(spatial, out[0]);
  if (out.size() != spatial) reject(call, "output_size must have " + std::to_string(spatial) + " values");
  for (const SymInt& n : out) require_at_least(call, n, 1, "output_size");
  return out;
}
/// PyTorch has no windows without elements. Averages of one or two dimensions may have no channels, the others not.
Shape adaptive_shape(const Call& call, size_t spatial, bool max = false) {
  require_rank(call, 0, spatial + 1, spatial + 2);
  Shape shape = call.type(0).shape;
  for (size_t d = max || spatial == 3 ? 1 : shape.size() - spatial; d < shape.size(); ++d)
    require_at_least(call, shape[d], 1, "size of dimension " + std::to_string(d));
  const Shape out = adaptive_sizes(call, spatial);
  std::copy(out.begin(), out.end(), shape.end() - static_cast<long>(spatial));
  return shape;
}
template <size_t N>
Type adaptive_type(const Call& call) {
  return result_like(call, call.type(0).dtype, adaptive_shape(call, N));
}
template <size_t N>
Type adaptive_max_type(const Call& call) {
  const Shape shape = adaptive_shape(call, N, true);
  return tuple_like(call, {{call.type(0).dtype, shape}, {DType::I64, shape}});
}

/// Visits the elements of the adaptive window of output point (a, b).
template <class F>
void for_adaptive_window(const Ints& in, const Ints& out, int64_t a, int64_t b, F&& visit) {
  for (int64_t y = a * in[0] / out[0]; y < ((a + 1) * in[0] + out[0] - 1) / out[0]; ++y)
    for (int64_t x = b * in[1] / out[1]; x < ((b + 1) * in[1] + out[1] - 1) / out[1]; ++x) visit(y * in[1] + x);
}

/// The last two sizes (one: a height of 1 before it).
Ints plane_of(const Ints& shape, size_t spatial) { return {spatial == 2 ? shape[shape.size() - 2] : 1, shape.back()}; }

RefValue adaptive_average_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result();
  const Ints in = plane_of(x.shape, 2), to = plane_of(out.shape, 2);
  const std::vector<double> from = doubles_of(x);
  if (out.numel() > 0 && from.empty()) reject(c.call, "expected sizes other than 0 behind the batch");
  std::vector<double> values(static_cast<size_t>(out.numel()));
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t point = i % (to[0] * to[1]);
    const double* plane = from.data() + i / (to[0] * to[1]) * in[0] * in[1];
    double sum = 0;
    int64_t count = 0;
    for_adaptive_window(in, to, point / to[1], point % to[1], [&](int64_t at) { sum += plane[at], ++count; });
    values[static_cast<size_t>(i)] = sum / static_cast<double>(count);
  }
  store_doubles(values, out);
  return out;
}

/// As PyTorch: the first of equal elements counts, and the last NaN.
template <size_t N>
RefValue adaptive_max_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result(0), indices = c.result(1);
  Ints in(3, 1), to(3, 1);
  for (size_t d = 0; d < N; ++d) {
    in[3 - N + d] = x.shape[x.rank() - N + d];
    to[3 - N + d] = out.shape[x.rank() - N + d];
  }
  const std::vector<double> from = doubles_of(x);
  if (out.numel() > 0 && from.empty()) reject(c.call, "expected sizes other than 0 behind the batch");
  std::vector<double> values(static_cast<size_t>(out.numel()));
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t point = i % (to[0] * to[1] * to[2]), row = point / to[2], z = row / to[1];
    const double* plane = from.data() + i / (to[0] * to[1] * to[2]) * in[0] * in[1] * in[2];
    int64_t where = -1;
    for (int64_t a = z * in[0] / to[0]; a < ((z + 1) * in[0] + to[0] - 1) / to[0]; ++a)
      for_adaptive_window({in[1], in[2]}, {to[1], to[2]}, row % to[1], point % to[2], [&](int64_t at) {
        at += a * in[1] * in[2];
        if (where < 0 || plane[at] > plane[where] || std::isnan(plane[at])) where = at;
      });
    values[static_cast<size_t>(i)] = where < 0 ? -std::numeric_limits<double>::infinity() : plane[where];
    indices.ptr<int64_t>()[i] = where;
  }
  store_doubles(values, out);
  return std::vector<RefValue>{out, indices};
}

/// Start and end of the adaptive window of result index `o` along one dimension.
SymInt adaptive_start(const SymInt& o, const SymInt& in, const SymInt& out) { return floordiv(o * in, out); }
SymInt adaptive_end(const SymInt& o, const SymInt& in, const SymInt& out) { return ceildiv((o + 1) * in, out); }

std::vector<SymInt> adaptive_window(const Call& call) {
  const Shape &in = call.type(0).shape, &out = call.node().type.tensor.shape;
  std::vector<SymInt> extents;
  for (size_t d = in.size() - 2; d < in.size(); ++d)
    extents.push_back(mod(in[d], out[d]) == SymInt(0) ? floordiv(in[d], out[d]) : ceildiv(in[d], out[d]) + 1);
  return extents;
}

ScalarId adaptive_element(const IndexedCall& c, const std::vector<SymInt>& window_index,
                          std::optional<ScalarId>& inside) {
  const Shape &in = c.call.type(0).shape, &out = c.call.node().type.tensor.shape;
  std::vector<SymInt> index = c.index;
  for (size_t k = 0; k < 2; ++k) {
    const size_t d = in.size() - 2 + k;
    index[d] = adaptive_start(c.index[d], in[d], out[d]) + window_index[k];
    if (mod(in[d], out[d]) == SymInt(0)) continue;
    const ScalarId before =
        c.body.binary(ScalarOp::Lt, c.body.index(index[d]), c.body.index(adaptive_end(c.index[d], in[d], out[d])));
    inside = inside ? c.body.binary(ScalarOp::And, *inside, before) : before;
  }
  return c.load(c.call.tensor(0), index, inside);
}

ScalarId adaptive_finish(const IndexedCall& c, std::span<const ScalarId> results) {
  const Shape &in = c.call.type(0).shape, &out = c.call.node().type.tensor.shape;
  SymInt count = 1;
  for (size_t d = in.size() - 2; d < in.size(); ++d)
    count = count * (mod(in[d], out[d]) == SymInt(0)
                         ? floordiv(in[d], out[d])
                         : adaptive_end(c.index[d], in[d], out[d]) - adaptive_start(c.index[d], in[d], out[d]));
  return divided(c, results[0], count);
}

bool all_ones(const Shape& s) {
  return std::all_of(s.begin(), s.end(), [](const SymInt& n) { return n == SymInt(1); });
}

/// The mean of a box is the mean along its depth of the means of its planes.
Node* by_planes(Builder& b, Node* x, const Shape& out) {
  const TensorType type = x->type.tensor;
  const Shape& in = type.shape;
  Shape result(in.begin(), in.end() - 3);
  const SymInt count = product(result), depth = in[in.size() - 3];
  Node* volumes = b.call("aten.reshape.default", {b.cast(x, compute_dtype(type.dtype)),
                                                  sizes({count, depth, in[in.size() - 2], in[in.size() - 1]})});
  Node* planes = b.call("aten._adaptive_avg_pool2d.default", {volumes, sizes({out[1], out[2]})});
  Node* lines = b.reshape(planes, {count, depth, out[1] * out[2]});
  Node* y = b.call("aten._adaptive_avg_pool2d.default", {lines, sizes({out[0], out[1] * out[2]})});
  result.insert(result.end(), out.begin(), out.end());
  return b.cast(b.reshape(y, result), type.dtype);
}

/// Size 1: the mean. Sizes that divide the input: an ordinary average pool. Else the adaptive primitive, which has
/// two dimensions.
template <size_t N>
std::vector<Node*> decompose_adaptive(Builder& b, const Call& call) {
  Node* x = call.tensor(0);
  const Shape out = adaptive_sizes(call, N);
  if (all_ones(out)) return {mean(b, x, last_dims(N), true)};
  const Shape& in = x->tensor().shape;
  Ints kernel;
  for (size_t d = 0; d < N; ++d) {
    const SymInt& n = in[in.size() - N + d];
    if (n.is_const() && out[d].is_const() && n.value() % out[d].value() == 0 && n.value() > 0)
      kernel.push_back(n.value() / out[d].value());
  }
  if (kernel.size() == N)
    return {b.call("aten.avg_pool" + std::to_string(N) + "d.default", {x, int_list(kernel), int_list(kernel)})};
  if (N == 2) return {b.call("aten._adaptive_avg_pool2d.default", {x, sizes(out)})};
  if (N == 1)
    return {squeeze(b, b.call("aten._adaptive_avg_pool2d.default", {b.unsqueeze(x, -2), sizes({1, out[0]})}), -2)};
  return {by_planes(b, x, out)};
}

template <size_t N>
OpDef avg_pool_row(std::variant<Gradient, NoGradient> gradient) {
  const std::string n = std::to_string(N);
  return OpDef(
      "aten::avg_pool" + n + "d(Tensor self, int[" + n + "] kernel_size, int[" + n + "] stride=[], int[" + n +
          "] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
      OpClass::Indexing, 0, Promotion::None, avg_pool_type<N>, avg_pool_reference<N>, nullptr, gradient,
      WindowRule{loop::Combine::Sum, window_extents<N>, window_element<N>, avg_pool_finish<N>}, "",
      "mean of each window");
}

template <size_t N>
OpDef adaptive_row() {
  const std::string n = std::to_string(N);
  return compound("aten::adaptive_avg_pool" + n + "d(Tensor self, SymInt[" + n + "] output_size) -> Tensor", 0,
                  adaptive_type<N>, decompose_adaptive<N>, "mean over windows chosen to give the requested size");
}
template <size_t N>
OpDef adaptive_max_row() {
  const std::string n = std::to_string(N);
  return OpDef("aten::adaptive_max_pool" + n + "d(Tensor self, int[" + n + "] output_size) -> (Tensor, Tensor)",
               OpClass::Indexing, 0, Promotion::None, adaptive_max_type<N>, adaptive_max_reference<N>, nullptr,
               NoGradient::Pending, KernelRule{"adaptive_max_pool"}, "",
               "largest element over windows chosen to give the requested size, and where it is");
}

}  // namespace

Rows average_pool_rows() {
  Rows rows;
  rows.push_back(avg_pool_row<2>(avg_pool_gradient));
  rows.push_back(avg_pool_row<3>(NoGradient::Pending));
  rows.push_back(compound(
      "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, "
      "bool count_include_pad=True) -> Tensor",
      0, avg_pool_type<1>, decompose_avg_pool1d, "mean of each window of the last dimension"));
  rows.push_back(OpDef(
      "aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
      "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
      OpClass::Indexing, 0, Promotion::None, avg_pool_backward_type, avg_pool_backward_reference, nullptr,
      NoGradient::Pending, NoLowering{}, "", "shares each cotangent among the elements of its window"));
  rows.push_back(adaptive_row<1>());
  rows.push_back(adaptive_row<2>());
  rows.push_back(adaptive_row<3>());
  rows.push_back(OpDef("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", OpClass::Indexing, 0,
                       Promotion::None, adaptive_type<2>, adaptive_average_reference, nullptr, NoGradient::Pending,
                       WindowRule{loop::Combine::Sum, adaptive_window, adaptive_element, adaptive_finish}, "",
                       "mean over windows of uneven length"));
  rows.push_back(adaptive_max_row<1>());
  rows.push_back(adaptive_max_row<2>());
  rows.push_back(adaptive_max_row<3>());
  return rows;
}

}  // namespace strata::ops
