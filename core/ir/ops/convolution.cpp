// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions of one to three dimensions. `convolution` is the primitive that all spellings become.

#include "core/ir/ops/convolution_kernels.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Shape = std::vector<SymInt>;
using Ints = std::vector<int64_t>;

// -----------------------------------------------------------------------------------------------------------
// parameters

/// Parameters of `convolution` that follow the tensors; `first` is the position of `stride`.
struct Parameters {
  Ints stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

void check_parameters(const Call& call, const Parameters& p) {
  for (size_t d = 0; d < p.stride.size(); ++d) {
    if (p.stride[d] < 1 || p.dilation[d] < 1) reject(call, "stride and dilation must be at least 1");
    if (p.padding[d] < 0 || p.output_padding[d] < 0) reject(call, "padding must not be negative");
    if (p.output_padding[d] && !p.transposed) reject(call, "output_padding needs a transposed convolution");
    if (p.output_padding[d] >= std::max(p.stride[d], p.dilation[d]) && p.output_padding[d])
      reject(call, "output_padding must be smaller than stride or dilation");
  }
  if (p.groups < 1) reject(call, "groups must be at least 1");
}

Parameters parameters(const Call& call, size_t first, size_t spatial) {
  Parameters p;
  p.stride = spread(call, first, spatial);
  p.padding = spread(call, first + 1, spatial);
  p.dilation = spread(call, first + 2, spatial);
  p.transposed = call.boolean(first + 3);
  p.output_padding = spread(call, first + 4, spatial);
  p.groups = call.constant(first + 5);
  check_parameters(call, p);
  return p;
}

SymInt output_size(const Call& call, const SymInt& in, const SymInt& kernel, const Parameters& p, size_t d) {
  const SymInt reach = p.dilation[d] * (kernel - 1) + 1;
  if (p.transposed) {
    const SymInt size = (in - 1) * p.stride[d] - 2 * p.padding[d] + reach + p.output_padding[d];
    require_at_least(call, size, 1, "output size");
    return size;
  }
  const SymInt padded = in + 2 * p.padding[d];
  require_at_least(call, padded, reach, "elements of the padded input for the kernel's reach");
  return floordiv(padded - reach, p.stride[d]) + 1;
}

/// Result shape of a convolution of `x` by `w`, batch and channels included.
Shape output_shape(const Call& call, const Shape& x, const Shape& w, const Parameters& p) {
  const SymInt& channels = x[1];
  if (!w[0].is_const() || !w[1].is_const()) reject(call, "weight must have constant channel counts");
  if (w[0].value() % p.groups)
    reject(call, "channels of the weight, " + w[0].str() + ", are not divisible by groups=" + std::to_string(p.groups));
  require_equal(call, channels, p.transposed ? w[0] : w[1] * p.groups,
                "channels of the input and those that the weight expects");
  Shape shape{x[0], p.transposed ? w[1] * p.groups : w[0]};
  for (size_t d = 0; d + 2 < x.size(); ++d) shape.push_back(output_size(call, x[d + 2], w[d + 2], p, d));
  return shape;
}

Type convolution_type(const Call& call) {
  require_rank(call, 0, 3, 5);
  const size_t rank = call.type(0).shape.size();
  require_rank(call, 1, rank, rank);
  require_same_dtype(call, 0, 1);
  Shape shape = output_shape(call, call.type(0).shape, call.type(1).shape, parameters(call, 3, rank - 2));
  if (call.optional_tensor(2)) {
    require_rank(call, 2, 1, 1);
    require_same_dtype(call, 0, 2);
    require_equal(call, call.type(2).shape[0], shape[1], "length of the bias and output channels");
  }
  return result_like(call, call.type(0).dtype, std::move(shape));
}

// -------------------------------------------------------------------------------------------------------------
// reference

/// Geometry of the ordinary convolution that reads `x` and makes `y`; for a transposed one the roles of its input and
/// result are exchanged.
ConvolutionGeometry geometry(const Parameters& p, const Ints& x, const Ints& y, const Ints& w) {
  ConvolutionGeometry g;
  g.n = x[0];
  g.groups = p.groups;
  g.in_channels = w[1];
  g.out_channels = w[0] / p.groups;
  const size_t spatial = x.size() - 2, skip = 3 - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    g.in[skip + d] = x[d + 2];
    g.out[skip + d] = y[d + 2];
    g.kernel[skip + d] = w[d + 2];
    g.stride[skip + d] = p.stride[d];
    g.padding[skip + d] = p.padding[d];
    g.dilation[skip + d] = p.dilation[d];
  }
  return g;
}

void add_bias(std::vector<double>& y, const std::vector<double>& bias, const Ints& shape) {
  const size_t points = y.size() / std::max<size_t>(1, static_cast<size_t>(shape[0] * shape[1]));
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i / points % bias.size()];
}

RefValue convolution_reference(const RefContext& c) {
  const Tensor x = c.tensor(0), w = c.tensor(1), bias = c.optional_tensor(2);
  Tensor out = c.result();
  const Parameters p = parameters(c.call, 3, x.rank() - 2);
  const std::vector<double> xs = doubles_of(x), ws = doubles_of(w);
  std::vector<double> y = p.transposed ? convolution_input_gradient(geometry(p, out.shape, x.shape, w.shape), xs, ws)
                                       : convolve(geometry(p, x.shape, out.shape, w.shape), xs, ws);
  if (bias.defined()) add_bias(y, doubles_of(bias), out.shape);
  store_doubles(y, out);
  return out;
}

// --------------------------------------------------------------------------------------------------------------
// backward

Type convolution_backward_type(const Call& call) {
  for (size_t i : {0, 1, 2}) require_rank(call, i, 3, 5);
  const Shape &dy = call.type(0).shape, &x = call.type(1).shape, &w = call.type(2).shape;
  const Shape y = output_shape(call, x, w, parameters(call, 4, x.size() - 2));
  if (dy.size() != y.size()) reject(call, "'grad_output' must have the rank of the convolution's result");
  for (size_t d = 0; d < y.size(); ++d)
    require_equal(call, dy[d], y[d], "sizes of 'grad_output' and of the convolution's result");
  return tuple_like(call, {{call.type(1).dtype, x}, {call.type(2).dtype, w}, {call.type(2).dtype, {y[1]}}});
}

std::vector<double> sum_channels(const std::vector<double>& dy, const Ints& shape) {
  std::vector<double> sums(static_cast<size_t>(shape[1]), 0);
  const size_t points = dy.size() / std::max<size_t>(1, static_cast<size_t>(shape[0] * shape[1]));
  for (size_t i = 0; i < dy.size(); ++i) sums[i / points % sums.size()] += dy[i];
  return sums;
}

RefValue convolution_backward_reference(const RefContext& c) {
  const Tensor dy = c.tensor(0), x = c.tensor(1), w = c.tensor(2);
  const Parameters p = parameters(c.call, 4, x.rank() - 2);
  const Ints mask = c.call.constants(10);
  if (mask.size() != 3) reject(c.call, "output_mask must have 3 values");
  const std::vector<double> dys = doubles_of(dy), xs = doubles_of(x), ws = doubles_of(w);
  const auto g = p.transposed ? geometry(p, dy.shape, x.shape, w.shape) : geometry(p, x.shape, dy.shape, w.shape);
  std::vector<RefValue> parts;
  const auto give = [&](size_t k, const std::function<std::vector<double>()>& make) {
    Tensor out = c.result(k);
    // Parts that were not asked for are zero: nobody reads them.
    store_doubles(mask[k] ? make() : std::vector<double>(static_cast<size_t>(out.numel()), 0), out);
    parts.emplace_back(out);
  };
  give(0, [&] { return p.transposed ? convolve(g, dys, ws) : convolution_input_gradient(g, dys, ws); });
  give(1, [&] {
    return p.transposed ? convolution_weight_gradient(g, dys, xs) : convolution_weight_gradient(g, xs, dys);
  });
  give(2, [&] { return sum_channels(dys, dy.shape); });
  return parts;
}

std::vector<Node*> convolution_gradient(const GradientCall& g) {
  std::vector<Node*> out = no_cotangents(g);
  Node* dy = cotangent(g);
  if (!dy) return out;
  const Call& c = g.call;
  Node* bias = c.optional_tensor(2);
  const bool wanted[3] = {g.needed(0), g.needed(1), bias && g.needed(2)};
  if (!wanted[0] && !wanted[1] && !wanted[2]) return out;
  const Argument bias_sizes = bias ? sizes(bias->tensor().shape) : Argument();
  Node* all = g.builder.call("aten.convolution_backward.default",
                             {dy, c.tensor(0), c.tensor(1), bias_sizes, c.arg(3), c.arg(4), c.arg(5), c.arg(6),
                              c.arg(7), c.arg(8), Argument::list({wanted[0], wanted[1], wanted[2]})});
  for (size_t i = 0; i < 3; ++i)
    if (wanted[i]) out[i] = g.builder.getitem(all, static_cast<int64_t>(i));
  return out;
}

// --------------------------------------------------------------------------------------------------------- all
// spellings

Argument repeated(int64_t value, size_t count) { return int_list(Ints(count, value)); }

/// Where a spelling keeps its parameters. `transposed` ones have output_padding and groups before dilation.
struct Spelling {
  size_t stride = 3, padding = 4, dilation = 5, groups = 6, output_padding = 0;
  bool transposed = false;
};
constexpr Spelling kOrdinary{};
constexpr Spelling kTransposed{3, 4, 7, 6, 5, true};

Parameters spelled(const Call& call, const Spelling& s, size_t spatial, Ints padding) {
  Parameters p;
  p.stride = spread(call, s.stride, spatial);
  p.padding = std::move(padding);
  p.dilation = spread(call, s.dilation, spatial);
  p.output_padding = s.transposed ? spread(call, s.output_padding, spatial) : Ints(spatial, 0);
  p.transposed = s.transposed;
  p.groups = call.constant(s.groups);
  check_parameters(call, p);
  return p;
}

/// With one batch dimension missing, as PyTorch allows.
bool unbatched(const Call& call, size_t spatial) {
  require_rank(call, 0, spatial + 1, spatial + 2);
  require_rank(call, 1, spatial + 2, spatial + 2);
  return call.type(0).shape.size() == spatial + 1;
}

/// `padding="same"`: total padding per dimension.
Ints same_padding(const Call& call, size_t spatial) {
  const std::string word = call.string(4);
  if (word == "valid") return Ints(spatial, 0);
  if (word != "same") reject(call, "padding must be 'valid', 'same' or sizes, found '" + word + "'");
  const Ints dilation = spread(call, 5, spatial), stride = spread(call, 3, spatial);
  Ints total;
  for (size_t d = 0; d < spatial; ++d) {
    if (stride[d] != 1) reject(call, "padding='same' needs a stride of 1");
    const SymInt& kernel = call.type(1).shape[d + 2];
    if (!kernel.is_const()) reject(call, "padding='same' needs a kernel of constant size");
    total.push_back((SymInt(dilation[d]) * (kernel - 1)).value());
  }
  return total;
}

Type shape_of(const Call& call, size_t spatial, const Spelling& s, Shape x, const Ints& padding) {
  const bool single = unbatched(call, spatial);
  require_same_dtype(call, 0, 1);
  if (single) x.insert(x.begin(), 1);
  Shape shape = output_shape(call, x, call.type(1).shape, spelled(call, s, spatial, padding));
  if (single) shape.erase(shape.begin());
  return result_like(call, call.type(0).dtype, std::move(shape));
}

template <size_t N, bool Transposed>
Type spelled_type(const Call& call) {
  const Spelling& s = Transposed ? kTransposed : kOrdinary;
  unbatched(call, N);
  return shape_of(call, N, s, call.type(0).shape, spread(call, s.padding, N));
}

template <size_t N>
Type padded_type(const Call& call) {
  unbatched(call, N);
  const Ints total = same_padding(call, N);
  Shape x = call.type(0).shape;
  for (size_t d = 0; d < N; ++d) x[x.size() - N + d] = x[x.size() - N + d] + total[d];
  return shape_of(call, N, kOrdinary, x, Ints(N, 0));
}

Node* primitive(Builder& b, const Call& call, size_t spatial, const Spelling& s, Node* x, const Argument& padding) {
  const bool single = unbatched(call, spatial);
  if (single) x = b.unsqueeze(x, 0);
  const Argument output_padding =
      s.transposed ? int_list(spread(call, s.output_padding, spatial)) : repeated(0, spatial);
  Node* y =
      b.call("aten.convolution.default",
             {x, call.tensor(1), call.arg(2), int_list(spread(call, s.stride, spatial)), padding,
              int_list(spread(call, s.dilation, spatial)), s.transposed, output_padding, call.constant(s.groups)});
  return single ? squeeze(b, y, 0) : y;
}

template <size_t N, bool Transposed>
std::vector<Node*> decompose_spelled(Builder& b, const Call& call) {
  const Spelling& s = Transposed ? kTransposed : kOrdinary;
  return {primitive(b, call, N, s, call.tensor(0), int_list(spread(call, s.padding, N)))};
}

template <size_t N>
std::vector<Node*> decompose_padded(Builder& b, const Call& call) {
  const Ints total = same_padding(call, N);
  const bool even = std::all_of(total.begin(), total.end(), [](int64_t t) { return t % 2 == 0; });
  Node* x = call.tensor(0);
  Ints padding(N, 0), widths;
  for (size_t d = 0; d < N; ++d) padding[d] = total[d] / 2;
  if (even) return {primitive(b, call, N, kOrdinary, x, int_list(padding))};
  for (size_t d = N; d-- > 0;) {  // the last dimension comes first
    widths.push_back(total[d] / 2);
    widths.push_back(total[d] - total[d] / 2);
  }
  x = b.call("aten.constant_pad_nd.default", {x, int_list(widths), 0.0});
  return {primitive(b, call, N, kOrdinary, x, repeated(0, N))};
}

template <size_t N>
void append_spellings(Rows& rows) {
  const std::string n = std::to_string(N),
                    head = "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[" + n + "] stride=1, ";
  const std::string transposed = "aten::conv_transpose" + n + "d" + (N == 1 ? "" : ".input");
  rows.push_back(compound("aten::conv" + n + "d" + head + "SymInt[" + n + "] padding=0, SymInt[" + n +
                              "] dilation=1, SymInt groups=1) -> Tensor",
                          0, spelled_type<N, false>, decompose_spelled<N, false>,
                          "convolution over " + n + " dimensions"));
  rows.push_back(compound("aten::conv" + n + "d.padding" + head + "str padding=\"valid\", SymInt[" + n +
                              "] dilation=1, SymInt groups=1) -> Tensor",
                          0, padded_type<N>, decompose_padded<N>,
                          "convolution over " + n + " dimensions, padded to the same size or not at all"));
  rows.push_back(compound(transposed + head + "SymInt[" + n + "] padding=0, SymInt[" + n +
                              "] output_padding=0, SymInt groups=1, SymInt[" + n + "] dilation=1) -> Tensor",
                          0, spelled_type<N, true>, decompose_spelled<N, true>,
                          "transposed convolution over " + n + " dimensions"));
}

}  // namespace

Rows convolution_rows() {
  Rows rows{
      OpDef("aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
            "dilation, bool transposed, "
            "SymInt[] output_padding, SymInt groups) -> Tensor",
            OpClass::Library, 0, Promotion::None, convolution_type, convolution_reference, nullptr,
            convolution_gradient, LibraryRule{"convolution"}, "",
            "convolution or transposed convolution over one to three dimensions"),
      OpDef("aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
            "SymInt[] stride, SymInt[] padding, "
            "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> "
            "(Tensor, Tensor, Tensor)",
            OpClass::Library, 0, Promotion::None, convolution_backward_type, convolution_backward_reference, nullptr,
            NoGradient::Pending, LibraryRule{"convolution_backward"}, "",
            "gradients of a convolution by input, weight and bias"),
  };
  append_spellings<1>(rows);
  append_spellings<2>(rows);
  append_spellings<3>(rows);
  return rows;
}

}  // namespace strata::ops
