// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Max pooling. Without indices it is one windowed reduction; with indices it is what the gradient needs. NaN wins; the
// first of equal elements counts, and the last NaN.

#include <limits>

#include "core/ir/ops/pooling.h"
#include "core/runtime/parallel.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;

template <size_t N>
PoolWindow window_of(const Call& call) {
  require_rank(call, 0, N + 1, N + 2);
  return pool_window(call, N, 1, true);
}

template <size_t N>
Type max_pool_type(const Call& call) {
  const PoolWindow w = window_of<N>(call);
  return result_like(call, call.type(0).dtype, pooled_shape(call, call.type(0).shape, w));
}
template <size_t N>
Type with_indices_type(const Call& call) {
  const PoolWindow w = window_of<N>(call);
  const Shape shape = pooled_shape(call, call.type(0).shape, w);
  return tuple_like(call, {{call.type(0).dtype, shape}, {DType::I64, shape}});
}

struct Pooled {
  std::vector<double> values;
  std::vector<int64_t> points;  ///< flat input point in its plane
};

/// Where a window begins behind the padding: what PyTorch gives as place for windows without an element, though it lies
/// outside then.
int64_t begin_of_window(const PoolGeometry& g, const std::array<int64_t, 3>& o) {
  int64_t flat = 0;
  for (size_t d = 0; d < 3; ++d) {
    int64_t begin = o[d] * g.stride[d] - g.padding[d];
    if (begin < 0) begin += (-begin + g.dilation[d] - 1) / g.dilation[d] * g.dilation[d];
    flat = flat * g.in[d] + begin;
  }
  return flat;
}

Pooled pool(const PoolGeometry& g, const std::vector<double>& x) {
  const int64_t points = g.out_points();
  Pooled result{std::vector<double>(static_cast<size_t>(g.planes * points)),
                std::vector<int64_t>(static_cast<size_t>(g.planes * points))};
  parallel_for(g.planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const double* from = x.data() + plane * g.in_points();
      for (int64_t p = 0; p < points; ++p) {
        double best = -std::numeric_limits<double>::infinity();
        int64_t where = -1;
        g.for_window(g.out_index(p), [&](int64_t at) {
          if (where >= 0 && !(from[at] > best) && !std::isnan(from[at])) return;
          best = from[at];
          where = at;
        });
        result.values[static_cast<size_t>(plane * points + p)] = best;
        result.points[static_cast<size_t>(plane * points + p)] = where < 0 ? begin_of_window(g, g.out_index(p)) : where;
      }
    }
  });
  return result;
}

void store_indices(const std::vector<int64_t>& values, const Tensor& to) {
  std::copy(values.begin(), values.end(), to.ptr<int64_t>());
}

template <size_t N>
RefValue max_pool_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result();
  store_doubles(pool(pool_geometry(window_of<N>(c.call), x.shape, out.shape), doubles_of(x)).values, out);
  return out;
}
template <size_t N>
RefValue with_indices_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result(0), indices = c.result(1);
  const Pooled pooled = pool(pool_geometry(window_of<N>(c.call), x.shape, out.shape), doubles_of(x));
  store_doubles(pooled.values, out);
  store_indices(pooled.points, indices);
  return std::vector<RefValue>{out, indices};
}

template <size_t N>
std::vector<SymInt> window_extents(const Call& call) {
  const std::vector<int64_t> kernel = window_of<N>(call).kernel;
  return {kernel.begin(), kernel.end()};
}
template <size_t N>
ScalarId window_element(const IndexedCall& c, const std::vector<SymInt>& window_index,
                        std::optional<ScalarId>& inside) {
  const std::vector<SymInt> index = pooled_index(c, window_of<N>(c.call), window_index, c.call.type(0).shape, inside);
  return c.load(c.call.tensor(0), index, inside);
}

std::vector<Node*> decompose_max_pool1d(Builder& b, const Call& call) {
  const PoolWindow w = window_of<1>(call);
  const auto pair = [](int64_t front, int64_t value) { return int_list({front, value}); };
  Node* y =
      b.call("aten.max_pool2d.default", {b.unsqueeze(call.tensor(0), -2), pair(1, w.kernel[0]), pair(1, w.stride[0]),
                                         pair(0, w.padding[0]), pair(1, w.dilation[0]), w.ceil_mode});
  return {squeeze(b, y, -2)};
}

// --------------------------------------------------------------------------------------------------------------
// gradient

void check_places(const Call& call, size_t i) {
  const DType d = tensor_type(call, i).dtype;
  if (d != DType::I64) reject(call, "elements in indices should be type int64, found " + std::string(dtype_name(d)));
}

/// Cotangents and indices have one shape, which is the operand's but for the pooled dimensions.
template <size_t N>
Type max_pool_backward_type(const Call& call) {
  require_rank(call, 1, N + 1, N + 2);
  const Shape &dy = call.type(0).shape, &indices = tensor_type(call, 7).shape, &x = call.type(1).shape;
  require_same_dtype(call, 0, 1);
  check_places(call, 7);
  if (dy.size() != indices.size() || dy.size() != x.size())
    reject(call, "'grad_output' and 'indices' must have one shape, that of the pooled 'self'");
  for (size_t d = 0; d < x.size(); ++d) {
    const std::string which = "dimension " + std::to_string(d) + " of 'grad_output' and ";
    require_equal(call, dy[d], indices[d], which + "'indices'");
    if (d + N < x.size()) require_equal(call, dy[d], x[d], which + "'self'");
  }
  return result_like(call, call.type(1).dtype, x);
}

int64_t plane_size(const Tensor& t, size_t spatial) {
  int64_t n = 1;
  for (size_t d = t.rank() - spatial; d < t.rank(); ++d) n *= t.shape[d];
  return n;
}

/// Elements of `from`, each at its place in its plane of the result: added, or the last of them.
RefValue placed(const RefContext& c, const Tensor& from, const Tensor& places, size_t spatial, bool add) {
  Tensor out = c.result();
  const Tensor indices = places.contiguous();
  const int64_t in = plane_size(out, spatial), points = plane_size(from, spatial);
  if (indices.numel() != from.numel()) reject(c.call, "values and indices must have one shape");
  const std::vector<double> values = doubles_of(from);
  std::vector<double> to(static_cast<size_t>(out.numel()), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = indices.ptr<const int64_t>()[i];
    if (at < 0 || at >= in) reject(c.call, "found an invalid max index: " + std::to_string(at));
    double& slot = to[i / static_cast<size_t>(points) * static_cast<size_t>(in) + static_cast<size_t>(at)];
    slot = add ? slot + values[i] : values[i];  // -0 stays -0
  }
  store_doubles(to, out);
  return out;
}

template <size_t N>
RefValue max_pool_backward_reference(const RefContext& c) {
  return placed(c, c.tensor(0), c.tensor(7), N, true);
}

template <size_t N>
Node* scattered(const GradientCall& g, Node* dy, Node* indices) {
  const Call& c = g.call;
  const PoolWindow w = pool_window(c, N, 1, true);
  return g.builder.call("aten.max_pool" + std::to_string(N) + "d_with_indices_backward.default",
                        {dy, c.tensor(0), int_list(w.kernel), int_list(w.stride), int_list(w.padding),
                         int_list(w.dilation), w.ceil_mode, indices});
}
template <size_t N>
std::vector<Node*> with_indices_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  if (Node* dy = cotangent(g); dy && g.needed(0))
    out[0] = scattered<N>(g, dy, g.builder.getitem(const_cast<Node*>(&g.call.node()), 1));
  return out;
}
/// The indices are found again from the input, which is kept anyway more often than not.
template <size_t N>
std::vector<Node*> max_pool_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  std::vector<Argument> args;
  for (size_t i = 0; i < g.call.size(); ++i) args.push_back(g.call.arg(i));
  Node* again = g.builder.call("aten.max_pool" + std::to_string(N) + "d_with_indices.default", std::move(args));
  out[0] = scattered<N>(g, dy, g.builder.getitem(again, 1));
  return out;
}

template <size_t N>
OpDef plain_row() {
  const std::string n = std::to_string(N);
  return OpDef("aten::max_pool" + n + "d(Tensor self, int[" + n + "] kernel_size, int[" + n + "] stride=[], int[" + n +
                   "] padding=0, int[" + n + "] dilation=1, bool ceil_mode=False) -> Tensor",
               OpClass::Indexing, 0, Promotion::None, max_pool_type<N>, max_pool_reference<N>, nullptr,
               Gradient(max_pool_gradient<N>), WindowRule{loop::Combine::Max, window_extents<N>, window_element<N>}, "",
               "largest element of each window");
}
template <size_t N>
OpDef indices_row() {
  const std::string n = std::to_string(N);
  return OpDef("aten::max_pool" + n + "d_with_indices(Tensor self, int[" + n + "] kernel_size, int[" + n +
                   "] stride=[], int[" + n + "] padding=0, int[" + n +
                   "] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
               OpClass::Indexing, 0, Promotion::None, with_indices_type<N>, with_indices_reference<N>, nullptr,
               Gradient(with_indices_gradient<N>), KernelRule{"max_pool"}, "",
               "largest element of each window, and where in its plane it is");
}

template <size_t N>
OpDef backward_row() {
  const std::string n = std::to_string(N), sizes = "int[" + n + "] ";
  return OpDef("aten::max_pool" + n + "d_with_indices_backward(Tensor grad_output, Tensor self, " + sizes +
                   "kernel_size, " + sizes + "stride, " + sizes + "padding, " + sizes +
                   "dilation, bool ceil_mode, Tensor indices) -> Tensor",
               OpClass::Indexing, 0, Promotion::None, max_pool_backward_type<N>, max_pool_backward_reference<N>,
               nullptr, NoGradient::Pending, KernelRule{"max_pool_backward"}, "",
               "adds each cotangent to the element that its window chose");
}

std::vector<Node*> decompose_indices1d(Builder& b, const Call& call) {
  const PoolWindow w = window_of<1>(call);
  const auto pair = [](int64_t front, int64_t value) { return int_list({front, value}); };
  Node* y = b.call("aten.max_pool2d_with_indices.default",
                   {b.unsqueeze(call.tensor(0), -2), pair(1, w.kernel[0]), pair(1, w.stride[0]), pair(0, w.padding[0]),
                    pair(1, w.dilation[0]), w.ceil_mode});
  return {squeeze(b, b.getitem(y, 0), -2), squeeze(b, b.getitem(y, 1), -2)};
}

// ---------------------------------------------------------------------------------------------------------- unpooling

template <size_t N>
Type max_unpool_type(const Call& call) {
  require_rank(call, 0, N + 1, N + 2);
  const TensorType &x = call.type(0), &indices = tensor_type(call, 1);
  check_places(call, 1);
  require_same_shape(call, x.shape, indices.shape, "input and indices");
  const Shape size = call.integers(2);
  if (size.size() != N)
    reject(call, "there should be exactly " + std::to_string(N) + " elements in output_size, found " +
                     std::to_string(size.size()));
  for (const SymInt& s : size) require_at_least(call, s, 0, "output_size");
  Shape shape = x.shape;
  std::copy(size.begin(), size.end(), shape.end() - static_cast<ptrdiff_t>(N));
  return result_like(call, x.dtype, shape);
}
template <size_t N>
RefValue max_unpool_reference(const RefContext& c) {
  return placed(c, c.tensor(0), c.tensor(1), N, false);
}
/// What stands at its place, read back.
template <size_t N>
std::vector<Node*> max_unpool_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  const Shape &x = g.call.type(0).shape, &y = dy->type.tensor.shape;
  const auto flat = [&](Node* node, const Shape& shape) {
    Shape planes(shape.begin(), shape.end() - static_cast<ptrdiff_t>(N));
    planes.push_back(product(Shape(shape.end() - static_cast<ptrdiff_t>(N), shape.end())));
    return g.builder.reshape(node, planes);
  };
  Node* read = g.builder.call("aten.gather.default", {flat(dy, y), -1, flat(g.call.tensor(1), x)});
  out[0] = g.builder.reshape(read, x);
  return out;
}

template <size_t N>
OpDef unpool_row() {
  const std::string n = std::to_string(N);
  const std::string more = N == 3 ? ", int[3] stride, int[3] padding" : "";
  return OpDef(
      "aten::max_unpool" + n + "d(Tensor self, Tensor indices, SymInt[" + n + "] output_size" + more + ") -> Tensor",
      OpClass::Indexing, 0, Promotion::None, max_unpool_type<N>, max_unpool_reference<N>, nullptr,
      Gradient(max_unpool_gradient<N>), KernelRule{"max_unpool"}, "",
      "each element where its window had found it, zeros elsewhere");
}

}  // namespace

Rows max_pool_rows() {
  Rows rows;
  rows.push_back(plain_row<2>());
  rows.push_back(plain_row<3>());
  rows.push_back(indices_row<2>());
  rows.push_back(indices_row<3>());
  rows.push_back(backward_row<2>());
  rows.push_back(backward_row<3>());
  rows.push_back(unpool_row<2>());
  rows.push_back(unpool_row<3>());
  const std::string line =
      "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool "
      "ceil_mode=False) "
      "-> ";
  rows.push_back(compound("aten::max_pool1d" + line + "Tensor", 0, max_pool_type<1>, decompose_max_pool1d,
                          "largest element of each window of the last dimension"));
  rows.push_back(compound("aten::max_pool1d_with_indices" + line + "(Tensor, Tensor)", 0, with_indices_type<1>,
                          decompose_indices1d,
                          "largest element of each window of the last dimension, and where it is"));
  return rows;
}

}  // namespace strata::ops
