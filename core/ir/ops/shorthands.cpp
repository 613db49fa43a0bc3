// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that say in one word what others say in a few: exported programs keep them as they were written. Here those
// that join, cut, mirror, multiply, unfold and copy tensors; those of numbers are in `shorthand_numbers.cpp`.

#include <algorithm>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"
#include "core/ir/ops/views.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
using Shape = std::vector<SymInt>;

size_t rank_of(const Node* x) { return x->tensor().shape.size(); }
Argument list(const Nodes& nodes) { return Argument::list({nodes.begin(), nodes.end()}); }
Node* joined(Builder& b, const Nodes& parts, int64_t dim) { return b.call("aten.cat.default", {list(parts), dim}); }
Node* cut(Builder& b, Node* x, size_t dim, const SymInt& from, const SymInt& to) {
  return b.call("aten.slice.Tensor", {x, static_cast<int64_t>(dim), integer(from), integer(to)});
}

// ------------------------------------------------------------------------------------------------------------ joining

/// With dimensions of size 1 added until there are `n`: NumPy's places for them.
Node* at_least(Builder& b, Node* x, size_t n) {
  if (rank_of(x) == 0 && n >= 1) x = b.reshape(x, {SymInt(1)});
  if (rank_of(x) == 1 && n >= 2) x = b.unsqueeze(x, 0);
  if (rank_of(x) == 2 && n >= 3) x = b.unsqueeze(x, -1);
  return x;
}

template <size_t N>
Nodes at_least_each(Builder& b, const Call& c) {
  Nodes out;
  for (Node* x : c.tensors(0)) out.push_back(at_least(b, x, N));
  return out;
}

/// Stacked along dimension `Dim` of what has at least `N`.
template <size_t N, int64_t Dim>
Nodes stacked(Builder& b, const Call& c) {
  return {joined(b, at_least_each<N>(b, c), Dim)};
}

Nodes hstack(Builder& b, const Call& c) {
  if (c.tensors(0).empty()) reject(c, "expected at least one tensor");
  const Nodes parts = at_least_each<1>(b, c);
  return {joined(b, parts, rank_of(parts.front()) == 1 ? 0 : 1)};
}

Nodes column_stack(Builder& b, const Call& c) {
  Nodes columns;
  for (Node* x : c.tensors(0)) columns.push_back(rank_of(x) <= 1 ? b.reshape(x, {x->tensor().numel(), SymInt(1)}) : x);
  return {joined(b, columns, 1)};
}

Nodes broadcast_tensors(Builder& b, const Call& c) {
  const Nodes all = c.tensors(0);
  Shape shape;
  for (const Node* x : all) shape = broadcast(shape, x->tensor().shape, c.node());
  Nodes out;
  for (Node* x : all) out.push_back(b.expand(x, shape));
  return out;
}

Nodes block_diag(Builder& b, const Call& c) {
  Nodes blocks;
  SymInt columns = 0;
  const Nodes given = c.tensors(0);
  if (given.empty()) reject(c, "expected at least one block");
  DType dtype = given[0]->tensor().dtype;
  for (const Node* x : given) dtype = promote(dtype, x->tensor().dtype);
  for (Node* x : given) {
    if (rank_of(x) > 2) reject(c, "expected blocks of at most 2 dimensions");
    blocks.push_back(at_least(b, b.cast(x, dtype), 2));
    columns = columns + blocks.back()->tensor().shape[1];
  }
  SymInt before = 0;
  for (Node*& block : blocks) {
    const SymInt width = block->tensor().shape[1], after = columns - before - width;
    block = b.call("aten.constant_pad_nd.default", {block, sizes({before, after}), 0});
    before = before + width;
  }
  return {joined(b, blocks, 0)};
}

// ------------------------------------------------------------------------------------------------------------ cutting

/// Dimension of hsplit, vsplit and dsplit.
int64_t cut_dim(const Call& c, char which) {
  const size_t n = rank_of(c.tensor(0)), least = which == 'h' ? 1 : which == 'v' ? 2 : 3;
  if (n < least) reject(c, "expected at least " + std::to_string(least) + " dimensions");
  return which == 'v' ? 0 : which == 'd' ? 2 : n == 1 ? 0 : 1;
}

Nodes pieces_at(Builder& b, Node* x, size_t dim, const std::vector<SymInt>& ends) {
  Nodes out;
  SymInt from = 0;
  for (const SymInt& end : ends) {
    out.push_back(cut(b, x, dim, from, end));
    from = end;
  }
  out.push_back(b.call("aten.slice.Tensor", {x, static_cast<int64_t>(dim), integer(from)}));
  return out;
}

/// The first ones are one longer where the number does not divide the size.
Nodes equal_pieces(Builder& b, const Call& c, size_t dim, int64_t count) {
  Node* x = c.tensor(0);
  if (count < 1) reject(c, "the number of sections must be at least 1");
  const SymInt n = x->tensor().shape[dim], each = floordiv(n, count), longer = mod(n, count);
  Nodes out;
  SymInt from = 0;
  for (int64_t i = 0; i < count; ++i) {
    const SymInt to =
        from + each + (longer.is_const() ? SymInt(i < longer.value() ? 1 : 0) : min(max(longer - i, 0), 1));
    out.push_back(cut(b, x, dim, from, to));
    from = to;
  }
  return out;
}

size_t dim_or(const Call& c, char which, size_t param) {
  if (rank_of(c.tensor(0)) == 0) reject(c, "expected at least 1 dimension");
  if (which == 't') return c.dim(param, rank_of(c.tensor(0)));
  return static_cast<size_t>(cut_dim(c, which));
}
template <char Which>
Nodes split_evenly(Builder& b, const Call& c) {
  const size_t dim = dim_or(c, Which, 2);
  if (Which != 't') require_multiple(c, c.type(0).shape[dim], c.constant(1), "size to divide into sections");
  return equal_pieces(b, c, dim, c.constant(1));
}
template <char Which>
Nodes split_at(Builder& b, const Call& c) {
  return pieces_at(b, c.tensor(0), dim_or(c, Which, 2), c.integers(1));
}

// ---------------------------------------------------------------------------------------------------------- mirroring

template <int64_t Dim>
Nodes mirrored(Builder& b, const Call& c) {
  if (rank_of(c.tensor(0)) <= Dim) reject(c, "expected at least " + std::to_string(Dim + 1) + " dimensions");
  return {b.call("aten.flip.default", {c.tensor(0), int_list({Dim})})};
}

Nodes rot90(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const auto dims = c.constants(2);
  if (dims.size() != 2) reject(c, "expected two dimensions to turn");
  const auto at = [&](size_t i) { return static_cast<int64_t>(normalize_dim(dims[i], rank_of(x), c.node())); };
  if (at(0) == at(1)) reject(c, "the two dimensions must differ");
  const auto flip = [&](Node* y, const std::vector<int64_t>& along) {
    return b.call("aten.flip.default", {y, int_list(along)});
  };
  switch ((c.constant(1) % 4 + 4) % 4) {
    case 1:
      return {b.transpose(flip(x, {at(1)}), at(0), at(1))};
    case 2:
      return {flip(x, {at(0), at(1)})};
    case 3:
      return {b.transpose(flip(x, {at(0)}), at(0), at(1))};
    default:
      return {b.call("aten.clone.default", {x})};
  }
}

Nodes channel_shuffle(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  const SymInt groups = c.integer(1);
  if (rank_of(x) < 3) reject(c, "expected at least 3 dimensions");
  const Shape shape = x->tensor().shape;
  require_multiple(c, shape[1], groups, "channels");
  Shape split{shape[0], groups, floordiv(shape[1], groups)};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  return {b.reshape(b.transpose(b.reshape(x, split), 1, 2), shape)};
}

// ---------------------------------------------------------------------------------------------------------- diagonals

/// A square whose diagonal is the last dimension.
Node* with_diagonal(Builder& b, Node* x, int64_t offset) {
  const SymInt n = x->tensor().shape.back(), size = n + std::abs(offset);
  Node* line = b.call("aten.arange.default", {integer(size)}, {{"device", DeviceArg{x->tensor().device}}});
  Node* on = b.call("aten.eq.Tensor", {offset ? b.add(b.unsqueeze(line, 1), offset) : b.unsqueeze(line, 1), line});
  const int64_t before = std::max<int64_t>(offset, 0), after = std::max<int64_t>(-offset, 0);
  Node* padded = offset ? b.call("aten.constant_pad_nd.default", {x, int_list({before, after}), 0}) : x;
  Shape shape = x->tensor().shape;
  shape.back() = size;
  shape.push_back(size);
  return where_else(b, on, b.expand(b.unsqueeze(padded, -2), shape), 0);
}

Nodes diag_embed(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  if (rank_of(x) == 0) reject(c, "expected at least 1 dimension");
  const size_t n = rank_of(x) + 1, d1 = c.dim(2, n), d2 = c.dim(3, n);
  if (d1 == d2) reject(c, "the two dimensions must differ");
  Node* square = with_diagonal(b, x, c.constant(1));
  std::vector<int64_t> order;
  for (size_t d = 0, next = 0; d < n; ++d)
    order.push_back(d == d1   ? static_cast<int64_t>(n) - 2
                    : d == d2 ? static_cast<int64_t>(n) - 1
                              : static_cast<int64_t>(next++));
  return {b.permute(square, order)};
}

Nodes diag(Builder& b, const Call& c) {
  Node* x = c.tensor(0);
  if (rank_of(x) == 1) return {with_diagonal(b, x, c.constant(1))};
  if (rank_of(x) != 2) reject(c, "expected 1 or 2 dimensions");
  return {b.call("aten.clone.default", {b.call("aten.diagonal.default", {x, c.arg(1)})})};
}

Nodes trace(Builder& b, const Call& c) {
  if (rank_of(c.tensor(0)) != 2) reject(c, "expected a matrix");
  return {b.call("aten.sum.default", {b.call("aten.diagonal.default", {c.tensor(0)})})};
}

// ----------------------------------------------------------------------------------------------------------- products

Nodes inner(Builder& b, const Call& c) {
  Node *x = c.tensor(0), *y = c.tensor(1);
  if (rank_of(x) == 0 || rank_of(y) == 0) return {b.mul(x, y)};
  require_equal(c, x->tensor().shape.back(), y->tensor().shape.back(), "last sizes");
  const SymInt last = x->tensor().shape.back();
  Shape shape(x->tensor().shape.begin(), x->tensor().shape.end() - 1);
  Node* rows = b.reshape(x, {product(shape), last});
  const Shape others(y->tensor().shape.begin(), y->tensor().shape.end() - 1);
  Node* columns = b.transpose(b.reshape(y, {product(others), last}), 0, 1);
  shape.insert(shape.end(), others.begin(), others.end());
  return {b.reshape(b.call("aten.mm.default", {rows, columns}), shape)};
}

Nodes kron(Builder& b, const Call& c) {
  Node *x = c.tensor(0), *y = c.tensor(1);
  while (rank_of(x) < rank_of(y)) x = b.unsqueeze(x, 0);
  while (rank_of(y) < rank_of(x)) y = b.unsqueeze(y, 0);
  Shape xs, ys, out;
  for (size_t d = 0; d < rank_of(x); ++d) {
    const SymInt m = x->tensor().shape[d], n = y->tensor().shape[d];
    xs.insert(xs.end(), {m, SymInt(1)});
    ys.insert(ys.end(), {SymInt(1), n});
    out.push_back(m * n);
  }
  return {b.reshape(b.mul(b.reshape(x, xs), b.reshape(y, ys)), out)};
}

Nodes cross(Builder& b, const Call& c) {
  const Shape &own = tensor_type(c, 0).shape, &other = tensor_type(c, 1).shape;
  if (own.size() != other.size()) reject(c, "self and other must have the same number of dimensions");
  if (own.empty()) reject(c, "expected at least 1 dimension");
  require_same_dtype(c, 0, 1);
  const bool named = c.op().name.find("linalg") != std::string::npos || !c.is_none(2);
  size_t dim = 0;
  if (named) {
    dim = c.dim(2, own.size());
  } else {  // the first one of size 3
    while (dim < own.size() && !known_eq(own[dim], 3)) ++dim;
    if (dim == own.size()) reject(c, "no dimension has size 3");
  }
  for (const Shape* given : {&own, &other}) require_equal(c, (*given)[dim], 3, "size of the dimension and 3");
  const Shape shape = broadcast(own, other, c.node());
  Node *x = b.expand(c.tensor(0), shape), *y = b.expand(c.tensor(1), shape);
  const auto part = [&](Node* z, int64_t i) {
    return b.call("aten.select.int", {z, static_cast<int64_t>(dim), (i % 3)});
  };
  Nodes parts;
  for (int64_t i = 0; i < 3; ++i)
    parts.push_back(b.sub(b.mul(part(x, i + 1), part(y, i + 2)), b.mul(part(x, i + 2), part(y, i + 1))));
  return {b.call("aten.stack.default", {list(parts), static_cast<int64_t>(dim)})};
}

// ---------------------------------------------------------------------------------------------------------- unfolding

/// Parameters of im2col and col2im from `first` on: kernel size, dilation, padding, stride; each for two dimensions.
struct Windows {
  std::vector<int64_t> kernel, dilation, padding, stride;
  Windows(const Call& c, size_t first)
      : kernel(spread(c, first, 2)),
        dilation(spread(c, first + 1, 2)),
        padding(spread(c, first + 2, 2)),
        stride(spread(c, first + 3, 2)) {
    for (size_t d = 0; d < 2; ++d)
      if (kernel[d] < 1 || dilation[d] < 1 || stride[d] < 1 || padding[d] < 0)
        reject(c, "kernel size, dilation and stride must be positive, padding not negative");
  }
  /// Windows along dimension `d` of an image that is `n` long.
  SymInt count(const SymInt& n, size_t d) const {
    return floordiv(n + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1, stride[d]) + 1;
  }
  /// [kernel, windows]: which element of the padded image each takes.
  Node* places(Builder& b, const SymInt& windows, size_t d, const std::string& device) const {
    const auto numbers = [&](const SymInt& n, int64_t step) {
      Node* line = b.call("aten.arange.default", {integer(n)}, {{"device", DeviceArg{device}}});
      return step == 1 ? line : b.mul(line, step);
    };
    return b.add(b.unsqueeze(numbers(kernel[d], dilation[d]), 1), numbers(windows, stride[d]));
  }
};

Nodes im2col(Builder& b, const Call& c) {
  const Windows w(c, 1);
  require_rank(c, 0, 3, 4);
  const bool batched = rank_of(c.tensor(0)) == 4;
  Node* x = batched ? c.tensor(0) : b.unsqueeze(c.tensor(0), 0);
  const Shape shape = x->tensor().shape;
  std::array<SymInt, 2> count;
  for (size_t d = 0; d < 2; ++d) {
    count[d] = w.count(shape[2 + d], d);
    if (known_lt(count[d], 1)) reject(c, "the kernel does not fit into the padded image");
  }
  if (w.padding[0] || w.padding[1])
    x = b.call("aten.constant_pad_nd.default",
               {x, int_list({w.padding[1], w.padding[1], w.padding[0], w.padding[0]}), 0});
  for (size_t d = 0; d < 2; ++d) {
    const int64_t span = w.dilation[d] * (w.kernel[d] - 1) + 1;
    x = b.call("aten.unfold.default", {x, static_cast<int64_t>(2 + d), span, w.stride[d]});
    if (w.dilation[d] > 1) x = b.call("aten.slice.Tensor", {x, -1, 0, span, w.dilation[d]});
  }
  x = b.permute(x, {0, 1, 4, 5, 2, 3});
  x = b.reshape(x, {shape[0], shape[1] * w.kernel[0] * w.kernel[1], count[0] * count[1]});
  return {batched ? x : b.call("aten.squeeze.dim", {x, 0})};
}

Nodes col2im(Builder& b, const Call& c) {
  const Windows w(c, 2);
  require_rank(c, 0, 2, 3);
  const Shape out = c.integers(1);
  if (out.size() != 2) reject(c, "output_size must have 2 values");
  const bool batched = rank_of(c.tensor(0)) == 3;
  Node* x = batched ? c.tensor(0) : b.unsqueeze(c.tensor(0), 0);
  const Shape shape = x->tensor().shape;
  const std::string device = x->tensor().device;
  const SymInt each = w.kernel[0] * w.kernel[1], channels = floordiv(shape[1], each);
  require_multiple(c, shape[1], each, "channels");
  const std::array<SymInt, 2> count{w.count(out[0], 0), w.count(out[1], 1)};
  require_equal(c, shape[2], count[0] * count[1], "numbers of windows");
  x = b.permute(b.reshape(x, {shape[0], channels, w.kernel[0], w.kernel[1], count[0], count[1]}), {0, 1, 2, 4, 3, 5});
  const SymInt height = out[0] + 2 * w.padding[0], width = out[1] + 2 * w.padding[1];
  Node* zeros = b.call("aten.new_zeros.default", {x, sizes({shape[0], channels, height, width})});
  Node* rows = b.reshape(w.places(b, count[0], 0, device), {w.kernel[0], count[0], SymInt(1), SymInt(1)});
  Node* columns = w.places(b, count[1], 1, device);
  Node* y = b.call("aten.index_put.default", {zeros, Argument::list({Argument(), Argument(), rows, columns}), x, true});
  for (size_t d = 0; d < 2; ++d)
    if (w.padding[d]) y = cut(b, y, 2 + d, w.padding[d], out[d] + w.padding[d]);
  return {batched ? y : b.call("aten.squeeze.dim", {y, 0})};
}

// -------------------------------------------------------------------------------------------------------------- copies

/// What another row cuts.
Nodes cut_by(Builder& b, const Call& c, const char* target) {
  Node* all = b.call(target, {c.tensor(0), c.arg(1), c.arg(2)});
  Nodes parts;
  for (size_t i = 0; i < all->type.parts.size(); ++i) parts.push_back(b.getitem(all, static_cast<int64_t>(i)));
  return parts;
}

/// The view of the same name without `_copy`, copied.
Nodes copied(Builder& b, const Call& c) {
  std::string target = c.op().name;
  target.erase(target.find("_copy"), 5);
  std::vector<Argument> arguments;
  for (size_t i = 0; i < c.size(); ++i) arguments.push_back(c.arg(i));
  if (target == "aten.expand.default") arguments.resize(2);
  return {b.call("aten.clone.default", {b.call(target, std::move(arguments))})};
}

}  // namespace

Rows shorthand_views() {
  Rows r;
  const auto add = [&](const std::string& schema, Decompose decompose, const char* doc) {
    r.push_back(shorthand(schema, decompose, doc));
  };
  add(
      "atleast_1d(Tensor(a) self) -> Tensor(a)",
      [](Builder& b, const Call& c) -> Nodes { return {at_least(b, c.tensor(0), 1)}; }, "with at least 1 dimension");
  add(
      "atleast_2d(Tensor(a) self) -> Tensor(a)",
      [](Builder& b, const Call& c) -> Nodes { return {at_least(b, c.tensor(0), 2)}; }, "with at least 2 dimensions");
  add(
      "atleast_3d(Tensor(a) self) -> Tensor(a)",
      [](Builder& b, const Call& c) -> Nodes { return {at_least(b, c.tensor(0), 3)}; }, "with at least 3 dimensions");
  add("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", at_least_each<1>, "each with at least 1 dimension");
  add("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", at_least_each<2>, "each with at least 2 dimensions");
  add("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", at_least_each<3>, "each with at least 3 dimensions");
  add("hstack(Tensor[] tensors) -> Tensor", hstack, "joined column by column");
  add("vstack(Tensor[] tensors) -> Tensor", stacked<2, 0>, "joined row by row");
  add("dstack(Tensor[] tensors) -> Tensor", stacked<3, 2>, "joined along the third dimension");
  add("column_stack(Tensor[] tensors) -> Tensor", column_stack, "joined as columns");
  add("broadcast_tensors(Tensor[] tensors) -> Tensor[]", broadcast_tensors, "expanded to one shape");
  add("block_diag(Tensor[] tensors) -> Tensor", block_diag, "blocks along a diagonal");
  add("tensor_split.sections(Tensor(a) self, SymInt sections, int dim=0) -> Tensor(a)[]", split_evenly<'t'>,
      "pieces of nearly equal size");
  add("tensor_split.indices(Tensor(a) self, SymInt[] indices, int dim=0) -> Tensor(a)[]", split_at<'t'>,
      "pieces that end at given places");
  for (const char which : {'h', 'v', 'd'}) {
    const std::string name(1, which);
    add(name + "split.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        which == 'h'   ? split_evenly<'h'>
        : which == 'v' ? split_evenly<'v'>
                       : split_evenly<'d'>,
        "pieces of equal size");
    add(name + "split.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
        which == 'h'   ? split_at<'h'>
        : which == 'v' ? split_at<'v'>
                       : split_at<'d'>,
        "pieces that end at given places");
  }
  add("fliplr(Tensor self) -> Tensor", mirrored<1>, "columns in reverse order");
  add("flipud(Tensor self) -> Tensor", mirrored<0>, "rows in reverse order");
  add("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", rot90, "turned by quarters");
  add("channel_shuffle(Tensor self, SymInt groups) -> Tensor", channel_shuffle, "channels of all groups in turn");
  add("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", diag_embed,
      "squares with the last dimension as diagonals");
  add("diag(Tensor self, int diagonal=0) -> Tensor", diag, "the diagonal of a matrix, or a matrix with a diagonal");
  add(
      "diagflat(Tensor self, int offset=0) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        return {with_diagonal(b, b.reshape(c.tensor(0), {c.type(0).numel()}), c.constant(1))};
      },
      "a matrix with all elements as its diagonal");
  add("trace(Tensor self) -> Tensor", trace, "the sum of a diagonal");
  add("inner(Tensor self, Tensor other) -> Tensor", inner, "products summed along the last dimensions");
  add("kron(Tensor self, Tensor other) -> Tensor", kron, "each element times the other tensor");
  add("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", cross, "vector product");
  add("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", cross, "vector product");
  add("im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor", im2col,
      "windows of images as columns");
  add("col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) "
      "-> "
      "Tensor",
      col2im, "columns added up where their windows lie");
  return r;
}

Rows shorthand_copies() {
  Rows r;
  for (const char* schema :
       {"view_copy(Tensor self, SymInt[] size) -> Tensor", "permute_copy(Tensor self, int[] dims) -> Tensor",
        "expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
        "alias_copy(Tensor self) -> Tensor", "detach_copy(Tensor self) -> Tensor", "t_copy(Tensor self) -> Tensor",
        "transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor",
        "unsqueeze_copy(Tensor self, int dim) -> Tensor", "squeeze_copy(Tensor self) -> Tensor",
        "squeeze_copy.dim(Tensor self, int dim) -> Tensor", "squeeze_copy.dims(Tensor self, int[] dim) -> Tensor",
        "select_copy.int(Tensor self, int dim, SymInt index) -> Tensor",
        "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
        "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
        "unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor"})
    r.push_back(shorthand(schema, copied, "a copy of the view"));
  r.push_back(shorthand(
      "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
      [](Builder& b, const Call& c) { return cut_by(b, c, "aten.chunk.default"); }, "pieces of equal size"));
  r.push_back(shorthand(
      "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
      [](Builder& b, const Call& c) { return cut_by(b, c, "aten.split.Tensor"); }, "pieces of a given size"));
  r.push_back(shorthand(
      "split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
      [](Builder& b, const Call& c) { return cut_by(b, c, "aten.split.Tensor"); }, "pieces of a given size, copied"));
  r.push_back(shorthand(
      "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
      [](Builder& b, const Call& c) { return cut_by(b, c, "aten.split_with_sizes.default"); },
      "pieces of given sizes, copied"));
  r.push_back(shorthand(
      "unbind_copy.int(Tensor self, int dim=0) -> Tensor[]",
      [](Builder& b, const Call& c) {
        Node* all = b.call("aten.unbind.int", {c.tensor(0), c.arg(1)});
        Nodes parts;
        for (size_t i = 0; i < all->type.parts.size(); ++i) parts.push_back(b.getitem(all, static_cast<int64_t>(i)));
        return parts;
      },
      "slices, copied"));
  r.push_back(shorthand(
      "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
      [](Builder& b, const Call& c) -> Nodes {
        const auto wanted = c.integers(1);
        for (const SymInt& size : wanted) require_at_least(c, size, 0, "size");
        // One number is the sum of all, even of one: of integers an int64.
        return {wanted.empty() ? b.call("aten.sum.default", {c.tensor(0)}) : b.sum_to(c.tensor(0), wanted)};
      },
      "summed over what broadcasting would add"));
  return r;
}

}  // namespace strata::ops
