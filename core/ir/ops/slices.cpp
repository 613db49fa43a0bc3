// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Views of a part: slice is the primitive; select, narrow, split, chunk and unbind become slices.

#include <algorithm>

#include "core/ir/aliasing.h"
#include "core/ir/ops/views.h"

namespace strata::ops {

SymInt from_front(const SymInt& index, const SymInt& size) {
  if (known_le(0, index)) return index;
  if (known_lt(index, 0)) return index + size;
  // -n of a symbol that may be 0: 1 where the index is negative, else 0
  return index + size * max(SymInt(0), min(SymInt(1), SymInt(0) - index));
}

SymInt element_index(const Call& call, const SymInt& index, const std::vector<SymInt>& shape, size_t dim) {
  const SymInt at = from_front(index, shape[dim]);
  const std::string of = "index " + index.str() + " into dimension " + std::to_string(dim);
  require_at_least(call, at, 0, of + ", counted from the front");
  require_at_least(call, shape[dim], at + 1, "size for the " + of);
  return at;
}

SymInt clamp_bound(SymInt bound, const SymInt& size) {
  bound = from_front(bound, size);
  if (!known_le(0, bound)) bound = max(SymInt(0), bound);
  return known_le(bound, size) ? bound : known_le(size, bound) ? size : min(bound, size);
}

SliceBounds slice_bounds(const Call& call, const std::vector<SymInt>& shape) {
  if (shape.empty()) reject(call, "a 0-dimensional tensor cannot be sliced");
  const size_t dim = call.dim(1, shape.size());
  const SymInt step = call.integer(4);
  if (step.is_const() && step.value() <= 0) reject(call, "step must be positive, found " + step.str());
  const SymInt& size = shape[dim];
  const SymInt start = clamp_bound(call.optional_integer(2).value_or(0), size);
  const auto end = call.optional_integer(3);
  const SymInt stop = !end || (end->is_const() && end->value() == INT64_MAX) ? size : clamp_bound(*end, size);
  SymInt extent = stop - start;
  if (!known_le(0, extent)) extent = max(SymInt(0), extent);
  return {dim, start, step == SymInt(1) ? extent : ceildiv(extent, step), step};
}

namespace {

using Ctx = const GradientContext&;

// --------------------------------------------------------------------------------------------------------------- slice

Type slice_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const SliceBounds s = slice_bounds(call, t.shape);
  std::vector<SymInt> shape = t.shape;
  shape[s.dim] = s.length;
  auto strides = t.strides;
  if (strides) (*strides)[s.dim] = (*strides)[s.dim] * s.step;
  return view_type(call, shape, strides);
}

RefValue slice_reference(const RefContext& c) {
  Tensor t = c.tensor(0);
  const SliceBounds s = slice_bounds(c.call, c.call.type(0).shape);
  const int64_t length = c.eval(s.length);
  if (length > 0) t.offset += c.eval(s.start) * t.strides[s.dim];
  t.strides[s.dim] *= c.eval(s.step);
  t.shape[s.dim] = length;
  return t;
}

std::vector<SymInt> slice_index(const Call& call, const std::vector<SymInt>& index) {
  const SliceBounds s = slice_bounds(call, tensor_type(call, 0).shape);
  std::vector<SymInt> out = index;
  out[s.dim] = s.start + index[s.dim] * s.step;
  return out;
}

/// Zeros around: by constant_pad_nd for step 1, else by scattering into zeros.
Node* slice_gradient(Ctx c) {
  const auto& shape = c.x()->type.tensor.shape;
  const SliceBounds s = slice_bounds(c.call, shape);
  if (!(s.step == SymInt(1)))
    return c.b.call("aten.slice_scatter.default",
                    {c.b.call("aten.zeros_like.default", {c.x()}, {{"dtype", c.dy->type.tensor.dtype}}), c.dy, c.arg(1),
                     c.arg(2), c.arg(3), c.arg(4)});
  std::vector<SymInt> pad(2 * (shape.size() - s.dim), SymInt(0));
  pad[pad.size() - 2] = s.start;
  pad[pad.size() - 1] = shape[s.dim] - s.start - s.length;
  return c.b.call("aten.constant_pad_nd.default", {c.dy, sizes(pad), 0.0});
}

/// `length` elements from `start` on, which are there whatever the ranges of symbols say: a slice alone would end where
/// its operand may end.
Node* slice(Builder& b, Node* x, size_t dim, const SymInt& start, const SymInt& length) {
  Node* part = b.call("aten.slice.Tensor", {x, static_cast<int64_t>(dim), integer(start), integer(start + length)});
  part->type.tensor.shape[dim] = length;
  return part;
}

// -------------------------------------------------------------------------------------------------------------- select

struct Selection {
  size_t dim;
  SymInt index;
};

Selection selection(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (shape.empty()) reject(call, "a 0-dimensional tensor has no elements to select");
  const size_t dim = call.dim(1, shape.size());
  return {dim, element_index(call, call.integer(2), shape, dim)};
}

template <class T>
std::vector<T> without(std::vector<T> list, size_t dim) {
  list.erase(list.begin() + static_cast<ptrdiff_t>(dim));
  return list;
}

Type select_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const Selection s = selection(call);
  return view_type(call, without(t.shape, s.dim), t.strides ? std::optional(without(*t.strides, s.dim)) : std::nullopt);
}

RefValue select_reference(const RefContext& c) {
  Tensor t = c.tensor(0);
  const Selection s = selection(c.call);
  const int64_t at = c.eval(s.index), size = t.shape[s.dim];
  if (at < -size || at >= size)
    reject(c.call, "index " + std::to_string(at) + " is out of range for size " + std::to_string(size));
  t.offset += (at < 0 ? at + size : at) * t.strides[s.dim];
  t.shape = without(t.shape, s.dim);
  t.strides = without(t.strides, s.dim);
  return t;
}

std::vector<SymInt> select_index(const Call& call, const std::vector<SymInt>& index) {
  const Selection s = selection(call);
  std::vector<SymInt> out = index;
  out.insert(out.begin() + static_cast<ptrdiff_t>(s.dim), s.index);
  return out;
}

Node* select_gradient(Ctx c) {
  const auto& shape = c.x()->type.tensor.shape;
  const Selection s = selection(c.call);
  std::vector<SymInt> pad(2 * (shape.size() - s.dim), SymInt(0));
  pad[pad.size() - 2] = s.index;
  pad[pad.size() - 1] = shape[s.dim] - 1 - s.index;
  return c.b.call("aten.constant_pad_nd.default", {c.b.unsqueeze(c.dy, static_cast<int64_t>(s.dim)), sizes(pad), 0.0});
}

// -------------------------------------------------------------------------------------------------------------- narrow

std::vector<Node*> narrow(Builder& b, const Call& c) {
  const SymInt& size = c.type(0).shape[c.dim(1, c.type(0).shape.size())];
  const SymInt start = from_front(c.integer(2), size);
  return {slice(b, c.tensor(0), c.dim(1, c.type(0).shape.size()), start, c.integer(3))};
}

Type narrow_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  if (t.shape.empty()) reject(call, "a 0-dimensional tensor cannot be narrowed");
  const size_t dim = call.dim(1, t.shape.size());
  const SymInt length = call.integer(3), start = from_front(call.integer(2), t.shape[dim]);
  const std::string of = " of dimension " + std::to_string(dim);
  require_at_least(call, length, 0, "length");
  require_at_least(call, start, 0, "start, counted from the front,");
  require_at_least(call, t.shape[dim], start + length, "size" + of + " for start and length");
  std::vector<SymInt> shape = t.shape;
  shape[dim] = length;
  return view_type(call, shape, t.strides);
}

// -------------------------------------------------------------------------------------------------------------- pieces

/// Pieces along a dimension, by their lengths.
struct Pieces {
  size_t dim;
  std::vector<SymInt> lengths;
};

/// Number of pieces must be known: a constant quotient.
Pieces equal_pieces(const Call& call, size_t dim, const SymInt& size, const SymInt& piece) {
  if (known_lt(piece, 0) || (piece == SymInt(0) && known_ne(size, 0)))
    reject(call, "split size must be positive, found " + piece.str());
  if (piece == SymInt(0)) return {dim, {SymInt(0)}};
  const SymInt count = ceildiv(size, piece);
  if (!count.is_const())
    reject(call, "the number of pieces of a dimension of size " + size.str() + " is not known",
           "split with fixed sizes");
  Pieces p{dim, std::vector<SymInt>(static_cast<size_t>(std::max<int64_t>(1, count.value())), piece)};
  p.lengths.back() = size - piece * SymInt(static_cast<int64_t>(p.lengths.size()) - 1);
  return p;
}

const std::vector<SymInt>& splittable(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (shape.empty()) reject(call, "a 0-dimensional tensor cannot be split");
  return shape;
}

Pieces split_pieces(const Call& call) {
  const auto& shape = splittable(call);
  const size_t dim = call.dim(2, shape.size());
  return equal_pieces(call, dim, shape[dim], call.integer(1));
}

Pieces split_sizes_pieces(const Call& call) {
  const auto& shape = splittable(call);
  Pieces p{call.dim(2, shape.size()), call.integers(1)};
  SymInt total = 0;
  for (const SymInt& n : p.lengths) {
    require_at_least(call, n, 0, "split size");
    total = total + n;
  }
  require_equal(call, total, shape[p.dim], "sum of the split sizes and the size");
  return p;
}

Pieces chunk_pieces(const Call& call) {
  const auto& shape = splittable(call);
  const size_t dim = call.dim(2, shape.size());
  const int64_t n = call.constant(1);
  if (n <= 0) reject(call, "the number of chunks must be positive");
  if (shape[dim] == SymInt(0)) return {dim, std::vector<SymInt>(static_cast<size_t>(n), SymInt(0))};
  return equal_pieces(call, dim, shape[dim], ceildiv(shape[dim], SymInt(n)));
}

template <Pieces (*F)(const Call&)>
Type pieces_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const Pieces p = F(call);
  std::vector<Type> parts;
  for (const SymInt& n : p.lengths) {
    std::vector<SymInt> shape = t.shape;
    shape[p.dim] = n;
    parts.push_back(view_type(call, shape, t.strides));
  }
  return Type::tuple(std::move(parts));
}

template <Pieces (*F)(const Call&)>
std::vector<Node*> cut(Builder& b, const Call& c) {
  const Pieces p = F(c);
  std::vector<Node*> parts;
  SymInt at = 0;
  for (const SymInt& n : p.lengths) {
    parts.push_back(slice(b, c.tensor(0), p.dim, at, n));
    at = at + n;
  }
  return parts;
}

int64_t unbind_count(const Call& call, size_t dim) {
  const SymInt& size = tensor_type(call, 0).shape[dim];
  if (!size.is_const())
    reject(call, "cannot unbind dimension " + std::to_string(dim) + " of symbolic size " + size.str());
  return size.value();
}

Type unbind_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const size_t dim = call.dim(1, splittable(call).size());
  const Type part =
      view_type(call, without(t.shape, dim), t.strides ? std::optional(without(*t.strides, dim)) : std::nullopt);
  return Type::tuple(std::vector<Type>(static_cast<size_t>(unbind_count(call, dim)), part));
}

std::vector<Node*> unbind(Builder& b, const Call& c) {
  const size_t dim = c.dim(1, c.type(0).shape.size());
  std::vector<Node*> parts;
  for (int64_t i = 0; i < unbind_count(c, dim); ++i)
    parts.push_back(b.call("aten.select.int", {c.tensor(0), static_cast<int64_t>(dim), i}));
  return parts;
}

// -------------------------------------------------------------------------------------------------------------- unfold

struct Windows {
  size_t dim;
  int64_t size, step;
  SymInt count;
};

Windows windows(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  Windows w{call.dim(1, shape.size()), call.constant(2), call.constant(3), 0};
  const SymInt n = shape.empty() ? SymInt(1) : shape[w.dim];
  if (w.step <= 0 || w.size < 0)
    reject(call, "windows of " + std::to_string(w.size) + " every " + std::to_string(w.step) + " cannot be");
  require_at_least(call, n, w.size, "size for windows of " + std::to_string(w.size));
  w.count = floordiv(n - w.size, w.step) + 1;
  return w;
}

Type unfold_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const Windows w = windows(call);
  if (t.shape.empty()) return view_type(call, {w.size}, std::vector<SymInt>{1});
  std::vector<SymInt> shape = t.shape;
  shape[w.dim] = w.count;
  shape.push_back(w.size);
  auto strides = t.strides;
  if (strides) {
    strides->push_back((*strides)[w.dim]);
    (*strides)[w.dim] = (*strides)[w.dim] * w.step;
  }
  return view_type(call, shape, strides);
}

RefValue unfold_reference(const RefContext& c) {
  Tensor t = c.tensor(0);
  const Windows w = windows(c.call);
  t.shape = c.eval(c.call.node().type.tensor.shape);
  if (t.strides.empty()) {
    t.strides = {1};
    return t;
  }
  t.strides.push_back(t.strides[w.dim]);
  t.strides[w.dim] *= w.step;
  return t;
}

std::vector<SymInt> unfold_index(const Call& call, const std::vector<SymInt>& index) {
  const Windows w = windows(call);
  std::vector<SymInt> out(index.begin(), index.end() - 1);
  if (out.empty()) return out;
  out[w.dim] = index[w.dim] * w.step + index.back();
  return out;
}

/// Each window's part added to the places that it shows.
Node* unfold_gradient(const GradientContext& c) {
  Builder& b = c.b;
  const TensorType& t = c.x()->type.tensor;
  const Windows w = windows(c.call);
  if (t.shape.empty()) return b.reshape(c.dy, {});
  const auto line = [&](const SymInt& n) {
    return b.call("aten.arange.default", {integer(n)}, {{"device", DeviceArg{t.device}}});
  };
  Node* places = b.add(b.unsqueeze(b.mul(line(w.count), w.step), 1), line(w.size));
  std::vector<int64_t> order;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    order.push_back(static_cast<int64_t>(d));
    if (d == w.dim) order.push_back(static_cast<int64_t>(t.shape.size()));
  }
  std::vector<SymInt> shape = t.shape;
  shape[w.dim] = w.count * w.size;
  Node* dy = b.reshape(b.permute(c.dy, order), shape);
  Node* zeros = b.call("aten.new_zeros.default", {dy, sizes(t.shape)});
  return b.call("aten.index_add.default", {zeros, static_cast<int64_t>(w.dim), b.reshape(places, {shape[w.dim]}), dy});
}

// ---------------------------------------------------------------------------------------------------------- as_strided

/// Elements at given strides among the `count` elements of memory.
Type strided_type(const Call& call, const SymInt& count) {
  const auto shape = call.integers(1), strides = call.integers(2);
  if (shape.size() != strides.size()) reject(call, "size and stride must have the same length");
  SymInt last = call.optional_integer(3).value_or(0);
  require_at_least(call, last, 0, "offset");
  for (size_t d = 0; d < shape.size(); ++d) {
    require_at_least(call, shape[d], 0, "size");
    require_at_least(call, strides[d], 0, "stride");
    last = last + (shape[d] - 1) * strides[d];
  }
  require_at_least(call, count, unless_empty(last + 1, shape), "elements of memory");
  return view_type(call, shape, strides);
}

Type as_strided_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  switch (strided_over(call)) {
    case StridedOver::Owner:
      return strided_type(call, elements_in_memory(storage_owner(*call.tensor(0)).tensor(), t.dtype));
    case StridedOver::Operand:
      return strided_type(call, t.numel());
    case StridedOver::Unknown:
      break;
  }
  reject(call, "as_strided of a tensor with gaps, or of a part of one, depends on its memory");
}

RefValue strided_elements(const RefContext& c, Tensor memory) {
  const int64_t offset = c.call.is_none(3) ? 0 : c.integer(3), n = memory.numel();
  Tensor t = std::move(memory);
  t.shape = c.integers(1);
  t.strides = c.integers(2);
  int64_t last = offset;
  for (size_t d = 0; d < t.rank(); ++d) last += (t.shape[d] - 1) * t.strides[d];
  if (t.numel() > 0 && (last >= n || offset < 0))
    reject(c.call, "element " + std::to_string(last) + " is outside the memory");
  t.offset += offset;
  return t;
}

/// Real numbers, one after the other, as complex ones.
Tensor in_pairs(Tensor memory) {
  memory.shape = {memory.numel() / 2, 2};
  memory.strides = {2, 1};
  return from_pairs(memory);
}

/// The interpreter lets owners lie as their types say.
RefValue as_strided_reference(const RefContext& c) {
  const Node& owner = storage_owner(*c.call.tensor(0));
  if (strided_over(c.call) != StridedOver::Owner) return strided_elements(c, c.tensor(0).contiguous());
  Tensor memory = c.value_of(&owner).tensor();
  if (owner.tensor().is_contiguous()) memory = memory.contiguous();
  const bool pairs = is_complex(memory.dtype);
  if (pairs != is_complex(c.tensor(0).dtype)) memory = pairs ? as_pairs(memory) : in_pairs(memory);
  return strided_elements(c, std::move(memory));
}

Type strided_elements_type(const Call& call) { return strided_type(call, tensor_type(call, 0).numel()); }
RefValue strided_elements_reference(const RefContext& c) { return strided_elements(c, c.tensor(0).contiguous()); }

/// Of the operand's elements row by row.
std::vector<SymInt> as_strided_index(const Call& call, const std::vector<SymInt>& index) {
  const auto& from = tensor_type(call, 0).shape;
  const auto strides = call.integers(2);
  SymInt flat = call.optional_integer(3).value_or(0);
  for (size_t d = 0; d < index.size(); ++d) flat = flat + index[d] * strides[d];
  std::vector<SymInt> out(from.size());
  for (size_t d = from.size(); d-- > 0;) {
    out[d] = d == 0 ? flat : mod(flat, from[d]);
    if (d > 0) flat = floordiv(flat, from[d]);
  }
  return out;
}

}  // namespace

Rows slices() {
  const auto pieces = [](const char* schema, ShapeRule type, Decompose decompose, const char* doc) {
    return compound(schema, 0, type, decompose, doc);
  };
  Rows r;
  r.push_back(OpDef(
      "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
      OpClass::View, 0, Promotion::None, slice_type, slice_reference, nullptr, gradient_of<slice_gradient>,
      Lowering(IndexMap(slice_index)), "", "self[start:end:step] along a dimension"));
  r.push_back(OpDef("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", OpClass::View, 0,
                    Promotion::None, select_type, select_reference, nullptr, gradient_of<select_gradient>,
                    Lowering(IndexMap(select_index)), "", "one index of a dimension, which vanishes"));
  r.push_back(pieces("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", narrow_type,
                     narrow, "length elements from start along a dimension"));
  r.push_back(pieces("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
                     pieces_type<split_pieces>, cut<split_pieces>, "pieces of one size; the last may be smaller"));
  r.push_back(pieces("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
                     pieces_type<split_sizes_pieces>, cut<split_sizes_pieces>, "pieces of given sizes"));
  r.push_back(pieces("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
                     pieces_type<split_sizes_pieces>, cut<split_sizes_pieces>, "pieces of given sizes"));
  r.push_back(pieces("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
                     pieces_type<chunk_pieces>, cut<chunk_pieces>, "at most so many pieces of equal size"));
  r.push_back(pieces("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind_type, unbind,
                     "every index of a dimension on its own"));
  r.push_back(OpDef("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", OpClass::View, 0,
                    Promotion::None, unfold_type, unfold_reference, nullptr, gradient_of<unfold_gradient>,
                    Lowering(IndexMap(unfold_index)), "", "windows along a dimension, as a new last one"));
  r.push_back(OpDef(
      "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
      OpClass::View, 0, Promotion::None, as_strided_type, as_strided_reference, nullptr, NoGradient::Pending,
      Lowering(IndexMap(as_strided_index)), "", "elements of memory at given strides"));
  r.push_back(OpDef("strata::strided_elements(Tensor self, SymInt[] size, SymInt[] stride, SymInt offset=0) -> Tensor",
                    OpClass::View, 0, Promotion::None, strided_elements_type, strided_elements_reference, nullptr,
                    NoGradient::Pending, Lowering(IndexMap(as_strided_index)), "",
                    "elements at given strides, counted row by row: what as_strided comes to"));
  return r;
}

}  // namespace strata::ops
