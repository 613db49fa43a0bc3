// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Views that keep the row-major order of elements. `view` is the primitive; the others become it.

#include <algorithm>

#include "core/ir/ops/views.h"

namespace strata::ops {

// -------------------------------------------------------------------------------------------------------------- shapes

namespace {

std::string text(const std::vector<SymInt>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + shape[i].str();
  return out + "]";
}

/// numel(from) / numel(known): equal sizes are crossed out first, so that symbols cancel.
SymInt quotient(std::vector<SymInt> from, const std::vector<SymInt>& known) {
  std::vector<SymInt> rest;
  for (const SymInt& k : known) {
    const auto it = std::find(from.begin(), from.end(), k);
    if (it != from.end())
      from.erase(it);
    else
      rest.push_back(k);
  }
  const SymInt divisor = product(rest);
  return divisor == SymInt(1) ? product(from) : floordiv(product(from), divisor);
}

}  // namespace

std::vector<SymInt> infer_shape(const Call& call, const std::vector<SymInt>& from, std::vector<SymInt> wanted) {
  std::optional<size_t> inferred;
  std::vector<SymInt> known;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == SymInt(-1)) {
      if (inferred) reject(call, "only one size of " + text(wanted) + " may be -1");
      inferred = i;
    } else {
      if (wanted[i].is_const() && wanted[i].value() < 0)
        reject(call, "size " + wanted[i].str() + " in " + text(wanted) + " is negative");
      known.push_back(wanted[i]);
    }
  }
  if (inferred) {
    if (has_zero(known)) reject(call, "the size -1 in " + text(wanted) + " is ambiguous: another size is 0");
    wanted[*inferred] = quotient(from, known);
  }
  require_equal(call, product(from), product(wanted),
                "numbers of elements of shape " + text(from) + " and of " + text(wanted));
  return wanted;
}

std::optional<std::vector<SymInt>> view_strides(const TensorType& t, const std::vector<SymInt>& shape) {
  if (!t.strides) return {};
  if (has_zero(t.shape)) return same_sizes(t.shape, shape) ? *t.strides : contiguous_strides(shape);
  // Walk from the innermost dimension: dimensions of the operand that follow each other in memory form a chunk, and the
  // new dimensions must tile each chunk exactly.
  std::vector<SymInt> out(shape.size());
  size_t d = shape.size();
  SymInt chunk = 1, stride = t.strides->empty() ? SymInt(1) : t.strides->back();
  for (size_t i = t.shape.size(); i-- > 0;) {
    chunk = chunk * t.shape[i];
    const bool ends = i == 0 || (!(t.shape[i - 1] == SymInt(1)) && !known_eq((*t.strides)[i - 1], chunk * stride));
    if (!ends) continue;
    SymInt covered = 1;
    while (d > 0 && (!known_eq(covered, chunk) || shape[d - 1] == SymInt(1))) {
      out[d - 1] = stride * covered;
      covered = covered * shape[d - 1];
      --d;
      if (known_lt(chunk, covered)) return {};
    }
    if (!known_eq(covered, chunk)) return {};
    if (i > 0) {
      chunk = 1;
      stride = (*t.strides)[i - 1];
    }
  }
  for (; d > 0; --d) {  // leading sizes of 1, and everything for a 0-dimensional operand
    if (!(shape[d - 1] == SymInt(1))) return {};
    out[d - 1] = d < shape.size() ? out[d] * shape[d] : stride;
  }
  return out;
}

Tensor reshaped(const Tensor& t, const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  if (n != t.numel()) throw_user("a tensor " + t.str() + " cannot be seen with " + std::to_string(n) + " elements");
  if (!t.is_contiguous()) {  // what an in-place operator writes through a view must reach its operand
    TensorType type;
    type.shape.assign(t.shape.begin(), t.shape.end());
    type.strides.emplace(t.strides.begin(), t.strides.end());
    if (const auto strides = view_strides(type, {shape.begin(), shape.end()})) {
      Tensor view = t;
      view.shape = shape;
      view.strides.clear();
      for (const SymInt& s : *strides) view.strides.push_back(s.value());
      return view;
    }
  }
  Tensor out = t.contiguous();
  out.shape = shape;
  out.strides = contiguous_strides(std::span<const int64_t>(shape));
  return out;
}

namespace {

// ---------------------------------------------------------------------------------------------------------------- view
// rows

/// Views over strides that do not allow one are taken as reshapes: values are the same, and whether PyTorch would have
/// refused is not for this table to say, since strides of intermediate results need not be PyTorch's.
Type as_shape(const Call& call, std::vector<SymInt> shape) {
  auto strides = view_strides(tensor_type(call, 0), shape);
  if (!strides && tensor_type(call, 0).strides) strides = contiguous_strides(shape);
  return view_type(call, std::move(shape), std::move(strides));
}

Type reshape_type(const Call& call) {
  return as_shape(call, infer_shape(call, tensor_type(call, 0).shape, call.integers(1)));
}
Type unsafe_view_type(const Call& call) {
  return result_like(call, tensor_type(call, 0).dtype, infer_shape(call, tensor_type(call, 0).shape, call.integers(1)));
}

RefValue reshape_reference(const RefContext& c) {
  return reshaped(c.tensor(0), c.eval(c.call.node().type.tensor.shape));
}

/// The shapes are cut into groups of equal element count, so that an index stays a plain symbol wherever dimensions
/// agree.
std::vector<SymInt> reshape_index(const std::vector<SymInt>& from, const std::vector<SymInt>& to,
                                  const std::vector<SymInt>& index) {
  std::vector<SymInt> out(from.size(), SymInt(0));
  size_t i = 0, j = 0;
  while (i < from.size()) {
    const size_t i0 = i, j0 = j;
    SymInt n = from[i++], m = 1;
    if (j < to.size()) m = to[j++];
    while (!known_eq(n, m) && (i < from.size() || j < to.size())) {
      const bool grow_to = j < to.size() && (i == from.size() || known_lt(m, n) || !known_lt(n, m));
      if (grow_to)
        m = m * to[j++];
      else
        n = n * from[i++];
    }
    if (i == from.size()) j = to.size();  // trailing ones
    SymInt linear = 0;
    for (size_t k = j0; k < j; ++k) linear = linear * to[k] + index[k];
    for (size_t k = i; k-- > i0;) {
      out[k] = k == i0 ? linear : mod(linear, from[k]);
      if (k > i0) linear = floordiv(linear, from[k]);
    }
  }
  return out;
}

std::vector<SymInt> view_index(const Call& call, const std::vector<SymInt>& index) {
  return reshape_index(tensor_type(call, 0).shape, call.node().type.tensor.shape, index);
}

constexpr auto kReshapeBack = [](const GradientContext& c) -> Node* {
  return c.b.reshape(c.dy, c.x()->type.tensor.shape);
};

/// Becomes `view` of the shape that the row's own rule finds.
std::vector<Node*> as_view(Builder& b, const Call& c) { return {b.reshape(c.tensor(0), c.op().shape(c).tensor.shape)}; }

OpDef reshape_row(const char* schema, ShapeRule type, Decompose decompose, const char* doc) {
  return OpDef(schema, OpClass::View, 0, Promotion::None, type, reshape_reference, decompose, gradient_of<kReshapeBack>,
               Lowering(IndexMap(view_index)), "", doc);
}

// --------------------------------------------------------------------------------------------------------- flatten and
// unflatten

Type flatten_type(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (shape.empty()) return as_shape(call, {SymInt(1)});
  const size_t first = call.dim(1, shape.size()), last = call.dim(2, shape.size());
  if (first > last) reject(call, "start_dim " + std::to_string(first) + " comes after end_dim " + std::to_string(last));
  std::vector<SymInt> out(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(first));
  out.push_back(
      product({shape.begin() + static_cast<ptrdiff_t>(first), shape.begin() + static_cast<ptrdiff_t>(last) + 1}));
  out.insert(out.end(), shape.begin() + static_cast<ptrdiff_t>(last) + 1, shape.end());
  return as_shape(call, out);
}

Type unflatten_type(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (shape.empty()) reject(call, "a 0-dimensional tensor has no dimension to unflatten");
  const size_t dim = call.dim(1, shape.size());
  const std::vector<SymInt> parts = infer_shape(call, {shape[dim]}, call.integers(2));
  std::vector<SymInt> out(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(dim));
  out.insert(out.end(), parts.begin(), parts.end());
  out.insert(out.end(), shape.begin() + static_cast<ptrdiff_t>(dim) + 1, shape.end());
  return as_shape(call, out);
}

// --------------------------------------------------------------------------------------------------------- squeeze and
// unsqueeze

/// Drops the dimensions for which `drop` holds and whose size is 1; strides of the others stay.
template <class F>
Type squeezed(const Call& call, F drop) {
  const TensorType& t = tensor_type(call, 0);
  std::vector<SymInt> shape, strides;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] == SymInt(1) && drop(d)) continue;
    shape.push_back(t.shape[d]);
    if (t.strides) strides.push_back((*t.strides)[d]);
  }
  return view_type(call, shape, t.strides ? std::optional(strides) : std::nullopt);
}

Type squeeze_type(const Call& call) {
  return squeezed(call, [](size_t) { return true; });
}
Type squeeze_dims_type(const Call& call) {
  const std::vector<size_t> dims = distinct_dims(call, 1, tensor_type(call, 0).shape.size());
  return squeezed(call, [&](size_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); });
}

Type unsqueeze_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const size_t dim = call.dim(1, t.shape.size() + 1);
  const auto at = static_cast<ptrdiff_t>(dim);
  std::vector<SymInt> shape = t.shape;
  shape.insert(shape.begin() + at, SymInt(1));
  if (!t.strides) return view_type(call, shape, {});
  std::vector<SymInt> strides = *t.strides;
  strides.insert(strides.begin() + at, dim < t.shape.size() ? t.shape[dim] * strides[dim] : SymInt(1));
  return view_type(call, shape, strides);
}

}  // namespace

Rows reshapes() {
  Rows r;
  r.push_back(reshape_row("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", reshape_type, nullptr,
                          "the elements in another shape"));
  r.push_back(reshape_row("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshape_type, as_view,
                          "the elements in another shape, copied where memory does not allow a view"));
  r.push_back(reshape_row("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", unsafe_view_type, as_view,
                          "view that is not an alias"));
  r.push_back(reshape_row("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
                          flatten_type, as_view, "the dimensions start_dim to end_dim as one"));
  r.push_back(reshape_row("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", unflatten_type,
                          as_view, "one dimension as several"));
  r.push_back(
      reshape_row("aten::squeeze(Tensor(a) self) -> Tensor(a)", squeeze_type, as_view, "without dimensions of size 1"));
  r.push_back(reshape_row("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeeze_dims_type, as_view,
                          "without the dimension if its size is 1"));
  r.push_back(reshape_row("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeeze_dims_type, as_view,
                          "without those of the dimensions whose size is 1"));
  r.push_back(reshape_row("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze_type, as_view,
                          "with a new dimension of size 1"));
  return r;
}

}  // namespace strata::ops
