// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Fourier transforms: the names of `torch.fft`, made of `_fft_r2c`, `_fft_c2c` and `_fft_c2r`, which are made of
// transforms of real and imaginary parts along one dimension (core/ir/complex_parts.h), `strata::fft_*`.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

// ----------------------------------------------------------------------------------------------------------- reference

using Complex = std::complex<double>;

/// Plain recursion over the least factors of the length. `root(k)` is exp(-2 pi i k / n) of the whole line's n.
class PlainFourier {
 public:
  explicit PlainFourier(size_t n) : roots_(n) {
    for (size_t k = 0; k < n; ++k)
      roots_[k] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  }
  std::vector<Complex> transform(const std::vector<Complex>& x) const {
    const size_t n = x.size();
    if (n <= 1) return x;
    size_t p = 2;
    while (p * p <= n && n % p != 0) ++p;
    if (n % p != 0) p = n;
    const size_t m = n > p ? n / p : 1, step = roots_.size() / n;
    std::vector<std::vector<Complex>> parts(p);
    for (size_t r = 0; r < p; ++r) {
      std::vector<Complex> part(m);
      for (size_t j = 0; j < m; ++j) part[j] = x[j * p + r];
      parts[r] = transform(part);
    }
    std::vector<Complex> result(n);
    for (size_t r = 0; r < p; ++r)
      for (size_t k = 0, j = 0; k < n; ++k, j = j + 1 < m ? j + 1 : 0)
        result[k] += parts[r][j] * roots_[r * k % n * step];
    return result;
  }

 private:
  std::vector<Complex> roots_;
};

double factor(const RefContext& c, size_t normalization, size_t count) {
  const auto n = static_cast<double>(c.integer(count));
  const int64_t kind = c.call.constant(normalization);
  return kind == 0 ? 1 : kind == 1 ? 1 / std::sqrt(n) : 1 / n;
}

/// `change(line)` of each line of complex numbers along a dimension, times `scale`.
template <class F>
std::vector<RefValue> each_line(const Tensor& re, const Tensor& im, const std::vector<Tensor>& out, size_t dim,
                                double scale, F change) {
  const Tensor real = re.contiguous(), imag = im.defined() ? im.contiguous() : Tensor{};
  const int64_t n = real.shape[dim], m = out[0].shape[dim];
  int64_t inner = 1, outer = 1;
  for (size_t d = 0; d < dim; ++d) outer *= real.shape[d];
  for (size_t d = dim + 1; d < real.rank(); ++d) inner *= real.shape[d];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<Complex> line(static_cast<size_t>(n));
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = (o * n + k) * inner + i;
        line[static_cast<size_t>(k)] = {real.at(at), imag.defined() ? imag.at(at) : 0.0};
      }
      line = change(std::move(line));
      for (int64_t k = 0; k < m; ++k) {
        const int64_t at = (o * m + k) * inner + i;
        out[0].set(at, line[static_cast<size_t>(k)].real() * scale);
        if (out.size() > 1) out[1].set(at, line[static_cast<size_t>(k)].imag() * scale);
      }
    }
  return {out.begin(), out.end()};
}

std::vector<Complex> conjugated(std::vector<Complex> x) {
  for (Complex& v : x) v = std::conj(v);
  return x;
}

RefValue c2c_reference(const RefContext& c) {
  const bool forward = c.call.boolean(3);
  const auto dim = static_cast<size_t>(c.call.constant(2));
  const PlainFourier fourier(static_cast<size_t>(std::max<int64_t>(1, c.tensor(0).shape[dim])));
  return each_line(c.tensor(0), c.tensor(1), {c.result(0), c.result(1)}, dim, factor(c, 4, 5), [&](auto line) {
    return forward ? fourier.transform(line) : conjugated(fourier.transform(conjugated(std::move(line))));
  });
}
RefValue r2c_reference(const RefContext& c) {
  const auto dim = static_cast<size_t>(c.call.constant(1));
  const PlainFourier fourier(static_cast<size_t>(std::max<int64_t>(1, c.tensor(0).shape[dim])));
  return each_line(c.tensor(0), {}, {c.result(0), c.result(1)}, dim, factor(c, 2, 3),
                   [&](auto line) { return fourier.transform(line); });
}
RefValue c2r_reference(const RefContext& c) {
  const auto dim = static_cast<size_t>(c.call.constant(2));
  const Tensor out = c.result();
  const auto n = static_cast<size_t>(out.shape[dim]);
  if (static_cast<size_t>(c.tensor(0).shape[dim]) < n / 2 + 1)
    throw_user("the spectrum is shorter than its numbers need");
  const PlainFourier fourier(n);
  return each_line(c.tensor(0), c.tensor(1), {out}, dim, factor(c, 3, 4), [&](std::vector<Complex> half) {
    std::vector<Complex> line(n);
    for (size_t k = 0; k <= n / 2; ++k) line[k] = std::conj(half[k]);  // of the conjugate: the inverse
    for (size_t k = n / 2 + 1; k < n; ++k) line[k] = half[n - k];
    line[0] = line[0].real();
    if (n % 2 == 0) line[n / 2] = line[n / 2].real();
    return fourier.transform(line);
  })[0];
}

// --------------------------------------------------------------------------------------------------------------- types

void require_float(const Call& c, DType d) {
  if (d != DType::F32 && d != DType::F64) reject(c, "expected float32 or float64, found " + std::string(dtype_name(d)));
}
Shape with_size(Shape shape, size_t dim, const SymInt& size) {
  shape.at(dim) = size;
  return shape;
}
SymInt half_of(const SymInt& n) { return floordiv(n, 2) + 1; }

Type parts_c2c_type(const Call& c) {
  require_float(c, tensor_type(c, 0).dtype);
  const Type part = result_like(c, tensor_type(c, 0).dtype, tensor_type(c, 0).shape);
  return Type::tuple({part, part});
}
Type parts_r2c_type(const Call& c) {
  const TensorType& t = tensor_type(c, 0);
  require_float(c, t.dtype);
  const size_t dim = c.dim(1, t.shape.size());
  const Type part = result_like(c, t.dtype, c.boolean(4) ? with_size(t.shape, dim, half_of(t.shape[dim])) : t.shape);
  return Type::tuple({part, part});
}
/// The first half of a spectrum of `n` numbers must be there.
void require_half(const Call& c, const SymInt& given, const SymInt& n) {
  require_at_least(c, n, 1, "elements to transform");
  require_at_least(c, given, half_of(n), "elements of the spectrum");
}

Type parts_c2r_type(const Call& c) {
  const TensorType& t = tensor_type(c, 0);
  require_float(c, t.dtype);
  require_half(c, t.shape.at(c.dim(2, t.shape.size())), c.integer(5));
  return result_like(c, t.dtype, with_size(t.shape, c.dim(2, t.shape.size()), c.integer(5)));
}

const TensorType& complex_operand(const Call& c) {
  const TensorType& t = tensor_type(c, 0);
  if (!is_complex(t.dtype)) reject(c, "expected complex numbers, found " + std::string(dtype_name(t.dtype)));
  require_float(c, real_dtype(t.dtype));
  return t;
}
/// Of `_fft_c2c`, `_fft_r2c` and `_fft_c2r`: dimensions, of which each is transformed once, and the normalisation.
std::vector<size_t> dims_of_stage(const Call& c, size_t rank) {
  if (const int64_t n = c.constant(2); n < 0 || n > 2)
    reject(c, "normalization: expected 0, 1 or 2, found " + std::to_string(n));
  return distinct_dims(c, 1, rank);
}
size_t last_dim(const Call& c, size_t rank) {
  const std::vector<size_t> dims = dims_of_stage(c, rank);
  if (dims.empty() || rank == 0) reject(c, "expected at least one dimension");
  return dims.back();
}
Type c2c_type(const Call& c) {
  const TensorType& t = complex_operand(c);
  if (t.shape.empty() && !c.constants(1).empty()) reject(c, "a number has no dimension to transform");
  dims_of_stage(c, t.shape.size());
  return result_like(c, t.dtype, t.shape);
}
Type r2c_type(const Call& c) {
  const TensorType& t = tensor_type(c, 0);
  require_float(c, t.dtype);
  const size_t dim = last_dim(c, t.shape.size());
  return result_like(c, complex_dtype(t.dtype),
                     c.boolean(3) ? with_size(t.shape, dim, half_of(t.shape[dim])) : t.shape);
}
Type c2r_type(const Call& c) {
  const TensorType& t = complex_operand(c);
  require_half(c, t.shape.at(last_dim(c, t.shape.size())), c.integer(3));
  return result_like(c, real_dtype(t.dtype), with_size(t.shape, last_dim(c, t.shape.size()), c.integer(3)));
}
Nodes stays(Builder&, const Call&) { return {}; }

// ------------------------------------------------------------------------------------------------------------
// torch.fft

/// As PyTorch numbers them: nothing, by the root of the number of elements, by that number.
int64_t normalization(const Call& c, size_t i, bool forward) {
  const std::string norm = c.is_none(i) ? "backward" : c.string(i);
  if (norm == "ortho") return 1;
  if (norm != "backward" && norm != "forward")
    reject(c, "norm must be backward, forward or ortho, found '" + norm + "'");
  return (norm == "forward") == forward ? 2 : 0;
}

Node* floating(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const DType d = x->tensor().dtype;
  if (is_complex(d)) return x;
  if (is_reduced_float(d)) reject(c, "16-bit floats are not transformed", "convert to float32 first");
  return is_floating(d) ? x : b.cast(x, DType::F32);
}
/// The one dimension of a transform.
size_t line_dim(const Call& c) {
  const size_t rank = c.type(0).shape.size();
  if (rank == 0) reject(c, "a number has no dimension to transform");
  return c.dim(2, rank);
}
Node* complex_of(Builder& b, Node* x) {
  const DType d = x->tensor().dtype;
  return is_complex(d) ? x : b.cast(x, complex_dtype(d));
}
Node* conjugate(Builder& b, Node* x) { return b.call("aten.conj_physical.default", {x}); }

/// Cut, or filled up with zeros, to `n` elements along a dimension.
Node* resized(Builder& b, const Call& c, Node* x, size_t dim, const SymInt& n) {
  require_at_least(c, n, 1, "elements to transform");
  const Shape& shape = x->tensor().shape;
  if (shape[dim] == n) return x;
  if (!known_lt(shape[dim], n))
    x = b.call("aten.slice.Tensor", {x, static_cast<int64_t>(dim), 0, integer(min(n, shape[dim]))});
  if (known_le(n, shape[dim])) return x;
  std::vector<Argument> pads;
  for (size_t d = shape.size(); d-- > dim;) {
    pads.emplace_back(0);
    pads.emplace_back(d == dim ? integer(max(n - shape[dim], SymInt(0))) : Argument(0));
  }
  return b.call("aten.constant_pad_nd.default", {x, Argument::list(std::move(pads)), 0});
}

Node* c2c(Builder& b, Node* x, const std::vector<int64_t>& dims, int64_t norm, bool forward) {
  return dims.empty() ? x : b.call("aten._fft_c2c.default", {x, int_list(dims), norm, forward});
}

/// torch.fft.fft, ifft: along one dimension.
template <bool forward>
Nodes one_dimension(Builder& b, const Call& c) {
  Node* x = floating(b, c);
  const size_t dim = line_dim(c);
  if (const auto n = c.optional_integer(1)) x = resized(b, c, x, dim, *n);
  require_at_least(c, x->tensor().shape[dim], 1, "elements to transform");
  const int64_t norm = normalization(c, 3, forward);
  const Argument dims = int_list({static_cast<int64_t>(dim)});
  if (is_complex(x->tensor().dtype)) return {b.call("aten._fft_c2c.default", {x, dims, norm, forward})};
  Node* y = b.call("aten._fft_r2c.default", {x, dims, norm, false});
  return {forward ? y : conjugate(b, y)};
}
template <bool forward>
Nodes half_of_real(Builder& b, const Call& c) {  // rfft, ihfft
  Node* x = floating(b, c);
  if (is_complex(x->tensor().dtype)) reject(c, "expected real numbers, found complex ones");
  const size_t dim = line_dim(c);
  if (const auto n = c.optional_integer(1)) x = resized(b, c, x, dim, *n);
  require_at_least(c, x->tensor().shape[dim], 1, "elements to transform");
  Node* y =
      b.call("aten._fft_r2c.default", {x, int_list({static_cast<int64_t>(dim)}), normalization(c, 3, forward), true});
  return {forward ? y : conjugate(b, y)};
}
template <bool forward>
Nodes real_of_half(Builder& b, const Call& c) {  // hfft, irfft
  Node* x = complex_of(b, floating(b, c));
  const size_t dim = line_dim(c);
  const SymInt n = c.optional_integer(1).value_or((x->tensor().shape[dim] - 1) * 2);
  require_at_least(c, n, 1, "elements to transform");
  x = resized(b, c, x, dim, half_of(n));
  if (forward) x = conjugate(b, x);
  return {b.call("aten._fft_c2r.default",
                 {x, int_list({static_cast<int64_t>(dim)}), normalization(c, 3, forward), integer(n)})};
}

/// Dimensions of a transform over several (those given, as many as there are sizes, all), and their sizes.
struct Area {
  std::vector<int64_t> dims;
  std::vector<std::optional<SymInt>> sizes;
};
Area area_of(const Call& c, size_t rank) {
  Area area;
  const Shape sizes = c.is_none(1) ? Shape{} : c.integers(1);
  if (c.is_none(2)) {
    const size_t count = c.is_none(1) ? rank : sizes.size();
    if (count > rank) reject(c, "more sizes than dimensions");
    for (size_t d = rank - count; d < rank; ++d) area.dims.push_back(static_cast<int64_t>(d));
  } else {
    for (const size_t d : distinct_dims(c, 2, rank)) area.dims.push_back(static_cast<int64_t>(d));
    if (rank == 0 && !area.dims.empty()) reject(c, "a number has no dimension to transform");
  }
  if (!c.is_none(1) && sizes.size() != area.dims.size()) reject(c, "as many sizes as dimensions are expected");
  for (size_t i = 0; i < area.dims.size(); ++i) {
    const bool given = !c.is_none(1) && !(sizes[i] == SymInt(-1));
    area.sizes.push_back(given ? std::optional(sizes[i]) : std::nullopt);
  }
  return area;
}
Node* resized(Builder& b, const Call& c, Node* x, const Area& area) {
  for (size_t i = 0; i < area.dims.size(); ++i) {
    const auto dim = static_cast<size_t>(area.dims[i]);
    if (area.sizes[i]) x = resized(b, c, x, dim, *area.sizes[i]);
    require_at_least(c, x->tensor().shape[dim], 1, "elements to transform");
  }
  return x;
}

template <bool forward>
Nodes dimensions(Builder& b, const Call& c) {
  Node* x = floating(b, c);
  const Area area = area_of(c, x->tensor().shape.size());
  x = resized(b, c, x, area);
  // Half of what comes of real numbers says the other half.
  if (forward && !is_complex(x->tensor().dtype) && !area.dims.empty())
    return {b.call("aten._fft_r2c.default", {x, int_list(area.dims), normalization(c, 3, forward), false})};
  x = complex_of(b, x);
  return {c2c(b, x, area.dims, normalization(c, 3, forward), forward)};
}
template <bool forward>
Nodes halves_of_real(Builder& b, const Call& c) {  // rfftn, ihfftn
  Node* x = floating(b, c);
  if (is_complex(x->tensor().dtype)) reject(c, "expected real numbers, found complex ones");
  Area area = area_of(c, x->tensor().shape.size());
  if (area.dims.empty()) reject(c, "expected at least one dimension");
  x = resized(b, c, x, area);
  const int64_t norm = normalization(c, 3, forward);
  if (forward) return {b.call("aten._fft_r2c.default", {x, int_list(area.dims), norm, true})};
  x = conjugate(b, b.call("aten._fft_r2c.default", {x, int_list({area.dims.back()}), norm, true}));
  area.dims.pop_back();
  return {area.dims.empty() ? x : c2c(b, x, area.dims, normalization(c, 3, forward), forward)};
}
template <bool forward>
Nodes real_of_halves(Builder& b, const Call& c) {  // hfftn, irfftn
  Node* x = complex_of(b, floating(b, c));
  Area area = area_of(c, x->tensor().shape.size());
  if (area.dims.empty()) reject(c, "expected at least one dimension");
  const auto last = static_cast<size_t>(area.dims.back());
  const SymInt n = area.sizes.back().value_or((x->tensor().shape[last] - 1) * 2);
  require_at_least(c, n, 1, "elements to transform");
  area.sizes.back() = half_of(n);
  x = resized(b, c, x, area);
  if (forward) {
    area.dims.pop_back();
    if (!area.dims.empty()) x = c2c(b, x, area.dims, normalization(c, 3, forward), forward);
    x = conjugate(b, x);
    area.dims = {static_cast<int64_t>(last)};
  }
  return {b.call("aten._fft_c2r.default", {x, int_list(area.dims), normalization(c, 3, forward), integer(n)})};
}

/// Half of all elements around the end, so that the frequency 0 stands in the middle; and back.
template <bool back>
Nodes shifted(Builder& b, const Call& c) {
  const Shape& shape = c.type(0).shape;
  std::vector<int64_t> dims;
  if (shape.empty()) return {c.tensor(0)};
  if (c.is_none(1))
    for (size_t d = 0; d < shape.size(); ++d) dims.push_back(static_cast<int64_t>(d));
  else
    for (const int64_t d : c.constants(1))
      dims.push_back(static_cast<int64_t>(normalize_dim(d, shape.size(), c.node())));
  Shape by;
  for (const int64_t d : dims) by.push_back(floordiv(shape[static_cast<size_t>(d)] + (back ? 1 : 0), 2));
  if (dims.empty()) return {c.tensor(0)};
  return {b.call("aten.roll.default", {c.tensor(0), sizes(by), int_list(dims)})};
}

/// 0, 1, ..., and from the middle on the negative ones (half: none of these), by n d.
template <bool half>
Nodes frequencies(Builder& b, const Call& c) {
  const SymInt n = c.integer(0);
  const DType d = c.dtype(2).value_or(DType::F32);
  if (!is_floating(d)) reject(c, "expected a floating-point type, found " + std::string(dtype_name(d)));
  const auto range = [&](const SymInt& from, const SymInt& to) {
    return b.cast(b.call("aten.arange.start", {integer(from), integer(to)}, {{"dtype", DType::I64}}), d);
  };
  Node* k =
      half ? range(0, half_of(n))
           : b.call("aten.cat.default", {Argument::list({range(0, floordiv(n + 1, 2)), range(-floordiv(n, 2), 0)}), 0});
  Node* count = b.call("aten.full.default", {sizes({}), integer(n)}, {{"dtype", d}});
  return {b.mul(k, b.call("aten.reciprocal.default", {b.mul(count, c.number(1))}))};
}

// ---------------------------------------------------------------------------------------------------------------- stft

/// Overlapping frames, each times a window, transformed: frequencies by frames.
Nodes stft(Builder& b, const Call& c) {
  require_rank(c, 0, 1, 2);
  Node* x = floating(b, c);
  const bool batched = x->tensor().shape.size() == 2;
  if (!batched) x = b.unsqueeze(x, 0);
  const int64_t n = c.constant(1), hop = c.is_none(2) ? n / 4 : c.constant(2), width = c.is_none(3) ? n : c.constant(3);
  if (n < 1 || hop < 1 || width < 1 || width > n) reject(c, "expected 0 < win_length <= n_fft and 0 < hop_length");
  if (!c.is_none(7) && !c.boolean(7))
    reject(c, "pairs instead of complex numbers are not supported", "say return_complex=True");
  if (c.is_none(7) && !is_complex(x->tensor().dtype)) reject(c, "return_complex must be said for real signals");
  require_at_least(c, x->tensor().shape[1], n, "length of the signal for n_fft");
  Node* frames = b.call("aten.unfold.default", {x, 1, n, hop});
  if (Node* window = c.optional_tensor(4)) {
    if (window->tensor().shape.size() != 1) reject(c, "the window must have win_length elements");
    require_equal(c, window->tensor().shape[0], width, "elements of the window and win_length");
    const int64_t left = (n - width) / 2;
    if (width < n) window = b.call("aten.constant_pad_nd.default", {window, int_list({left, n - width - left}), 0});
    frames = b.mul(frames, window);
  } else if (width < n) {
    reject(c, "without a window, win_length must be n_fft");
  }
  const bool real = !is_complex(frames->tensor().dtype), half = c.is_none(6) ? real : c.boolean(6);
  if (!real && half) reject(c, "half of the frequencies says all only of real signals");
  const int64_t norm = c.boolean(5) ? 1 : 0;
  Node* y = real ? b.call("aten._fft_r2c.default", {frames, int_list({2}), norm, half})
                 : b.call("aten._fft_c2c.default", {frames, int_list({2}), norm, true});
  y = b.transpose(y, 1, 2);
  return {batched ? y : b.call("aten.squeeze.dim", {y, 0})};
}

/// The signal whose frames these are: transformed back, each times the window, added up where they overlap and divided
/// by what the windows add up to.
Nodes istft(Builder& b, const Call& c) {
  require_rank(c, 0, 2, 3);
  Node* x = floating(b, c);
  if (!is_complex(x->tensor().dtype)) reject(c, "expected complex numbers");
  const bool batched = x->tensor().shape.size() == 3;
  if (!batched) x = b.unsqueeze(x, 0);
  const int64_t n = c.constant(1), hop = c.is_none(2) ? n / 4 : c.constant(2), width = c.is_none(3) ? n : c.constant(3);
  if (n < 1 || hop < 1 || width < 1 || width > n || hop > width)
    reject(c, "expected 0 < hop_length <= win_length <= n_fft");
  if (c.boolean(9) || (!c.is_none(7) && !c.boolean(7)))
    reject(c, "complex signals are not supported", "leave out return_complex, and onesided=False");
  const Shape shape = x->tensor().shape;
  require_equal(c, shape[1], n / 2 + 1, "frequencies and n_fft / 2 + 1");
  require_at_least(c, shape[2], 1, "frames");
  const SymInt whole = (shape[2] - 1) * hop + n;
  Node* frames = b.call("aten._fft_c2r.default", {b.transpose(x, 1, 2), int_list({2}), c.boolean(6) ? 1 : 2, n});
  const DType d = frames->tensor().dtype;
  Node* window = c.optional_tensor(4);
  if (!window) window = b.call("aten.full.default", {int_list({width}), 1}, {{"dtype", d}});
  require_same_shape(c, window->tensor().shape, {SymInt(width)}, "the window and win_length");
  const int64_t left = (n - width) / 2;
  if (width < n) window = b.call("aten.constant_pad_nd.default", {window, int_list({left, n - width - left}), 0});
  const auto added_up = [&](Node* columns) {  // [batch, n, frames] to [batch, whole]
    Node* line = b.call("aten.col2im.default", {columns, sizes({SymInt(1), whole}), int_list({1, n}), int_list({1, 1}),
                                                int_list({0, 0}), int_list({1, hop})});
    return b.reshape(line, {columns->tensor().shape[0], whole});
  };
  Node* signal = added_up(b.transpose(b.mul(frames, window), 1, 2));
  Node* square = b.expand(b.reshape(b.mul(window, window), {1, n, 1}), {1, n, shape[2]});
  signal = b.div(signal, added_up(b.call("aten.contiguous.default", {square})));
  const bool centered = c.boolean(5);
  const SymInt start = centered ? n / 2 : 0;
  const SymInt end = c.is_none(8) ? (centered ? whole - n / 2 : whole) : start + c.integer(8);
  signal = b.call("aten.slice.Tensor", {signal, 1, integer(start), integer(min(end, whole))});
  const SymInt missing = max(end - whole, SymInt(0));
  if (!(missing == SymInt(0)))
    signal = b.call("aten.constant_pad_nd.default", {signal, sizes({SymInt(0), missing}), 0});
  return {batched ? signal : b.call("aten.squeeze.dim", {signal, 0})};
}

// ---------------------------------------------------------------------------------------------------------------- rows

OpDef kernel_row(const std::string& schema, ShapeRule type, Reference reference, KernelRule kernel, const char* doc) {
  return OpDef("strata::" + schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr,
               NoGradient::Pending, kernel, "", doc);
}
OpDef stage_row(const std::string& schema, ShapeRule type, const char* doc) {
  return OpDef("aten::" + schema, OpClass::Compound, 0, Promotion::None, type, nullptr, stays, NoGradient::Pending,
               NoLowering{}, "", doc);
}

}  // namespace

Rows fourier() {
  Rows r;
  const auto add = [&](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  r.push_back(
      kernel_row("fft_c2c(Tensor real, Tensor imag, int dim, bool forward, int normalization, SymInt count) -> "
                 "(Tensor real, Tensor imag)",
                 parts_c2c_type, c2c_reference, {"fft_c2c"}, "Fourier transform along a dimension"));
  r.push_back(
      kernel_row("fft_r2c(Tensor self, int dim, int normalization, SymInt count, bool onesided) -> (Tensor "
                 "real, Tensor imag)",
                 parts_r2c_type, r2c_reference, {"fft_r2c"}, "Fourier transform of real numbers"));
  r.push_back(
      kernel_row("fft_c2r(Tensor real, Tensor imag, int dim, int normalization, SymInt count, SymInt size) -> "
                 "Tensor",
                 parts_c2r_type, c2r_reference, {"fft_c2r"}, "inverse Fourier transform to real numbers"));
  r.push_back(stage_row("_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor", c2c_type,
                        "Fourier transform over dimensions"));
  r.push_back(stage_row("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", r2c_type,
                        "Fourier transform of real numbers over dimensions"));
  r.push_back(stage_row("_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor", c2r_type,
                        "inverse Fourier transform to real numbers"));
  const std::string one = "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor";
  add("fft_fft" + one, one_dimension<true>, "Fourier transform along a dimension");
  add("fft_ifft" + one, one_dimension<false>, "inverse Fourier transform along a dimension");
  add("fft_rfft" + one, half_of_real<true>, "Fourier transform of real numbers: its first half");
  add("fft_ihfft" + one, half_of_real<false>, "inverse Fourier transform of real numbers: its first half");
  add("fft_irfft" + one, real_of_half<false>, "real numbers of the first half of their Fourier transform");
  add("fft_hfft" + one, real_of_half<true>, "real Fourier transform of the first half of Hermitian numbers");
  for (const auto& [suffix, list] :
       {std::pair<std::string, std::string>{"n", "int[1]? dim=None"}, {"2", "int[1] dim=[-2,-1]"}}) {
    const std::string several = "(Tensor self, SymInt[1]? s=None, " + list + ", str? norm=None) -> Tensor";
    add("fft_fft" + suffix + several, dimensions<true>, "Fourier transform over dimensions");
    add("fft_ifft" + suffix + several, dimensions<false>, "inverse Fourier transform over dimensions");
    add("fft_rfft" + suffix + several, halves_of_real<true>,
        "Fourier transform of real numbers over dimensions: its half");
    add("fft_ihfft" + suffix + several, halves_of_real<false>,
        "inverse Fourier transform of real numbers over dimensions: its half");
    add("fft_irfft" + suffix + several, real_of_halves<false>, "real numbers of the half of their Fourier transform");
    add("fft_hfft" + suffix + several, real_of_halves<true>,
        "real Fourier transform of the half of Hermitian numbers over dimensions");
  }
  add("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", shifted<false>, "frequency 0 in the middle");
  add("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", shifted<true>, "frequency 0 first again");
  const std::string created =
      "(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  add("fft_fftfreq" + created, frequencies<false>, "the frequencies of a Fourier transform");
  add("fft_rfftfreq" + created, frequencies<true>, "the frequencies of the first half of a Fourier transform");
  add("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
      "normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
      stft, "Fourier transforms of overlapping frames");
  add("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
      "center=True, "
      "bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
      istft, "the signal of overlapping frames' Fourier transforms");
  return r;
}

}  // namespace strata::ops
