// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Views that reorder, repeat or mirror dimensions. `permute`, `expand`, `flip` and `diagonal` are primitive.

#include <algorithm>
#include <numeric>

#include "core/ir/ops/views.h"

namespace strata::ops {
namespace {

using Ctx = const GradientContext&;
using Order = std::vector<size_t>;

// ------------------------------------------------------------------------------------------------------------- permute

Order identity_order(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

Order permute_order(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  Order order = distinct_dims(call, 1, rank);
  if (order.size() != rank)
    reject(call, "expected " + std::to_string(rank) + " dimensions, found " + std::to_string(order.size()));
  return order;
}

Order transpose_order(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  const size_t a = call.dim(1, rank), b = call.dim(2, rank);
  Order order = identity_order(rank);
  if (rank > 0) std::swap(order[a], order[b]);
  return order;
}

Order t_order(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  if (rank > 2) reject(call, "expected a tensor of at most 2 dimensions, found " + std::to_string(rank));
  Order order = identity_order(rank);
  std::reverse(order.begin(), order.end());
  return order;
}

Order reversed_order(const Call& call) {
  Order order = identity_order(tensor_type(call, 0).shape.size());
  std::reverse(order.begin(), order.end());
  return order;
}

Order movedim_order(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  const auto from = call.constants(1), to = call.constants(2);
  if (from.size() != to.size()) reject(call, "source and destination must have the same length");
  constexpr size_t kFree = SIZE_MAX;
  Order order(rank, kFree);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < from.size() && rank > 0; ++i) {
    const size_t s = normalize_dim(from[i], rank, call.node()), d = normalize_dim(to[i], rank, call.node());
    if (taken[s] || order[d] != kFree) reject(call, "a dimension is named twice");
    taken[s] = true;
    order[d] = s;
  }
  size_t next = 0;
  for (size_t& o : order) {
    if (o != kFree) continue;
    while (taken[next]) ++next;
    o = next++;
  }
  return order;
}

template <Order (*F)(const Call&)>
Type order_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  std::vector<SymInt> shape, strides;
  for (size_t d : F(call)) {
    shape.push_back(t.shape[d]);
    if (t.strides) strides.push_back((*t.strides)[d]);
  }
  return view_type(call, shape, t.strides ? std::optional(strides) : std::nullopt);
}

template <Order (*F)(const Call&)>
RefValue order_reference(const RefContext& c) {
  Tensor t = c.tensor(0), out = t;
  const Order order = F(c.call);
  for (size_t d = 0; d < order.size(); ++d) {
    out.shape[d] = t.shape[order[d]];
    out.strides[d] = t.strides[order[d]];
  }
  return out;
}

template <Order (*F)(const Call&)>
std::vector<SymInt> order_index(const Call& call, const std::vector<SymInt>& index) {
  const Order order = F(call);
  std::vector<SymInt> out(order.size());
  for (size_t d = 0; d < order.size(); ++d) out[order[d]] = index[d];
  return out;
}

template <Order (*F)(const Call&)>
std::vector<Node*> as_permute(Builder& b, const Call& c) {
  const Order order = F(c);
  if (std::is_sorted(order.begin(), order.end())) return {c.tensor(0)};
  return {b.permute(c.tensor(0), std::vector<int64_t>(order.begin(), order.end()))};
}

template <Order (*F)(const Call&)>
Node* permute_back(Ctx c) {
  const Order order = F(c.call);
  std::vector<int64_t> back(order.size());
  for (size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int64_t>(d);
  return c.b.permute(c.dy, back);
}

template <Order (*F)(const Call&)>
OpDef order_row(const char* schema, bool primitive, const char* doc) {
  return OpDef(schema, OpClass::View, 0, Promotion::None, order_type<F>, order_reference<F>,
               primitive ? nullptr : as_permute<F>, gradient_of<permute_back<F>>, Lowering(IndexMap(order_index<F>)),
               "", doc);
}

// -------------------------------------------------------------------------------------------------------------- expand

std::vector<SymInt> expanded_shape(const Call& call, std::vector<SymInt> wanted) {
  const auto& from = tensor_type(call, 0).shape;
  if (wanted.size() < from.size()) reject(call, "cannot expand to fewer dimensions");
  const size_t lead = wanted.size() - from.size();
  for (size_t d = 0; d < wanted.size(); ++d) {
    const bool keep = wanted[d] == SymInt(-1);
    if (keep && d < lead) reject(call, "size -1 is not allowed for the new dimension " + std::to_string(d));
    if (d < lead) continue;
    const SymInt& size = from[d - lead];
    if (keep)
      wanted[d] = size;
    else if (!(size == SymInt(1)))
      require_equal(call, size, wanted[d], "size of dimension " + std::to_string(d - lead) + " and what it expands to");
  }
  for (const SymInt& s : wanted)
    if (s.is_const() && s.value() < 0) reject(call, "size " + s.str() + " is negative");
  return wanted;
}

/// PyTorch's strides: 0 where a size of 1 grows; a new dimension gets 0 unless its size is 1, when it continues the
/// next one.
Type expand_to(const Call& call, const std::vector<SymInt>& shape) {
  const TensorType& t = tensor_type(call, 0);
  if (!t.strides) return view_type(call, shape, {});
  if (t.shape.empty()) return view_type(call, shape, std::vector<SymInt>(shape.size(), SymInt(0)));
  const size_t lead = shape.size() - t.shape.size();
  std::vector<SymInt> strides(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    const bool inner = d >= lead;
    const SymInt size = inner ? t.shape[d - lead] : SymInt(1);
    const SymInt stride = inner                  ? (*t.strides)[d - lead]
                          : d + 1 < shape.size() ? strides[d + 1] * shape[d + 1]
                                                 : SymInt(1);
    strides[d] = size == SymInt(1) && !(shape[d] == SymInt(1)) ? SymInt(0) : stride;
  }
  return view_type(call, shape, strides);
}

Type expand_type(const Call& call) { return expand_to(call, expanded_shape(call, call.integers(1))); }
Type expand_as_type(const Call& call) { return expand_to(call, expanded_shape(call, tensor_type(call, 1).shape)); }

std::vector<SymInt> expand_index(const Call& call, const std::vector<SymInt>& index) {
  const auto& from = tensor_type(call, 0).shape;
  const size_t lead = index.size() - from.size();
  std::vector<SymInt> out;
  for (size_t d = 0; d < from.size(); ++d) out.push_back(from[d] == SymInt(1) ? SymInt(0) : index[lead + d]);
  return out;
}

RefValue expand_reference(const RefContext& c) {
  return expanded(c.tensor(0), c.eval(c.call.node().type.tensor.shape));
}

Rows expands() {
  constexpr auto same = gradient_of<[](Ctx c) { return c.dy; }>;  // `fit` sums
  Rows r;
  r.push_back(OpDef("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", OpClass::View,
                    0, Promotion::None, expand_type, expand_reference, nullptr, same, Lowering(IndexMap(expand_index)),
                    "", "dimensions of size 1 repeated without copying"));
  const Decompose as_expand = [](Builder& b, const Call& c) -> std::vector<Node*> {
    return {b.expand(c.tensor(0), c.op().shape(c).tensor.shape)};
  };
  r.push_back(OpDef("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", OpClass::View, 0, Promotion::None,
                    expand_as_type, expand_reference, as_expand, same, Lowering(IndexMap(expand_index)), "",
                    "expanded to the other tensor's shape"));
  r.push_back(OpDef("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", OpClass::View, 0, Promotion::None,
                    expand_type, expand_reference, as_expand, same, Lowering(IndexMap(expand_index)), "",
                    "expanded to a shape"));
  return r;
}

// -------------------------------------------------------------------------------------------------------------- repeat

std::vector<SymInt> repeat_counts(const Call& call) {
  std::vector<SymInt> counts = call.integers(1);
  if (counts.size() < tensor_type(call, 0).shape.size()) reject(call, "there must be a repeat for every dimension");
  for (const SymInt& n : counts)
    if (n.is_const() && n.value() < 0) reject(call, "repeats must not be negative");
  return counts;
}

Type repeat_type(const Call& call) {
  std::vector<SymInt> shape = repeat_counts(call);
  const auto& from = tensor_type(call, 0).shape;
  const size_t lead = shape.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) shape[lead + d] = shape[lead + d] * from[d];
  return result_like(call, tensor_type(call, 0).dtype, shape);
}

/// [a, b] repeated [r, s]: [1, a, 1, b] expanded to [r, a, s, b], seen as [r * a, s * b].
std::vector<Node*> repeat(Builder& b, const Call& c) {
  const std::vector<SymInt> counts = repeat_counts(c);
  const auto& from = c.type(0).shape;
  const size_t lead = counts.size() - from.size();
  std::vector<SymInt> split, wide, out;
  for (size_t d = 0; d < counts.size(); ++d) {
    const SymInt size = d < lead ? SymInt(1) : from[d - lead];
    split.insert(split.end(), {SymInt(1), size});
    wide.insert(wide.end(), {counts[d], size});
    out.push_back(counts[d] * size);
  }
  return {b.reshape(b.expand(b.reshape(c.tensor(0), split), wide), out)};
}

// ---------------------------------------------------------------------------------------------------------------- flip

std::vector<bool> flipped(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  std::vector<bool> flip(std::max<size_t>(rank, 1), false);
  for (const size_t d : distinct_dims(call, 1, rank)) flip[d] = true;
  return flip;
}

Type flip_type(const Call& call) {
  flipped(call);
  return same_type(call);
}

RefValue flip_reference(const RefContext& c) {
  Tensor t = c.tensor(0);
  const std::vector<bool> flip = flipped(c.call);
  for (size_t d = 0; d < t.rank(); ++d) {
    if (!flip[d] || t.shape[d] == 0) continue;
    t.offset += t.strides[d] * (t.shape[d] - 1);
    t.strides[d] = -t.strides[d];
  }
  return t.clone();
}

std::vector<SymInt> flip_index(const Call& call, const std::vector<SymInt>& index) {
  const std::vector<bool> flip = flipped(call);
  std::vector<SymInt> out = index;
  for (size_t d = 0; d < out.size(); ++d)
    if (flip[d]) out[d] = tensor_type(call, 0).shape[d] - 1 - index[d];
  return out;
}

// ------------------------------------------------------------------------------------------------------------ diagonal

struct Diagonal {
  size_t dim1, dim2;
  int64_t offset;
  SymInt row, column, length;  ///< first element, number of elements
};

Diagonal diagonal_of(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (shape.size() < 2) reject(call, "expected at least 2 dimensions");
  Diagonal d{call.dim(2, shape.size()), call.dim(3, shape.size()), call.constant(1), 0, 0, 0};
  if (d.dim1 == d.dim2) reject(call, "the two dimensions must differ");
  d.row = d.offset < 0 ? SymInt(-d.offset) : SymInt(0);
  d.column = d.offset > 0 ? SymInt(d.offset) : SymInt(0);
  d.length = max(SymInt(0), min(shape[d.dim1] - d.row, shape[d.dim2] - d.column));
  return d;
}

Type diagonal_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  const Diagonal diagonal = diagonal_of(call);
  std::vector<SymInt> shape, strides;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (d == diagonal.dim1 || d == diagonal.dim2) continue;
    shape.push_back(t.shape[d]);
    if (t.strides) strides.push_back((*t.strides)[d]);
  }
  shape.push_back(diagonal.length);
  if (!t.strides) return view_type(call, shape, {});
  strides.push_back((*t.strides)[diagonal.dim1] + (*t.strides)[diagonal.dim2]);
  return view_type(call, shape, strides);
}

RefValue diagonal_reference(const RefContext& c) {
  Tensor t = c.tensor(0);
  const Diagonal diagonal = diagonal_of(c.call);
  const int64_t s1 = t.strides[diagonal.dim1], s2 = t.strides[diagonal.dim2], n = c.eval(diagonal.length);
  if (n > 0) t.offset += c.eval(diagonal.row) * s1 + c.eval(diagonal.column) * s2;
  for (size_t d : {std::max(diagonal.dim1, diagonal.dim2), std::min(diagonal.dim1, diagonal.dim2)}) {
    t.shape.erase(t.shape.begin() + static_cast<ptrdiff_t>(d));
    t.strides.erase(t.strides.begin() + static_cast<ptrdiff_t>(d));
  }
  t.shape.push_back(n);
  t.strides.push_back(s1 + s2);
  return t;
}

std::vector<SymInt> diagonal_index(const Call& call, const std::vector<SymInt>& index) {
  const Diagonal diagonal = diagonal_of(call);
  std::vector<SymInt> out(index.size() + 1);
  size_t next = 0;
  for (size_t d = 0; d < out.size(); ++d)
    out[d] = d == diagonal.dim1   ? diagonal.row + index.back()
             : d == diagonal.dim2 ? diagonal.column + index.back()
                                  : index[next++];
  return out;
}

}  // namespace

Rows permutations() {
  Rows r;
  r.push_back(order_row<permute_order>("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", true,
                                       "dimensions in another order"));
  r.push_back(order_row<transpose_order>("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", false,
                                         "two dimensions swapped"));
  r.push_back(order_row<t_order>("aten::t(Tensor(a) self) -> Tensor(a)", false, "matrix transposed"));
  r.push_back(
      order_row<reversed_order>("aten::numpy_T(Tensor(a) self) -> Tensor(a)", false, "dimensions in reverse order"));
  r.push_back(order_row<movedim_order>("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
                                       false, "a dimension moved to another place"));
  r.push_back(
      order_row<movedim_order>("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                               false, "dimensions moved to other places"));
  append(r, expands());
  r.push_back(compound("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", 0, repeat_type, repeat,
                       "the tensor repeated along each dimension"));
  r.push_back(OpDef("aten::flip(Tensor self, int[] dims) -> Tensor", OpClass::View, 0, Promotion::None, flip_type,
                    flip_reference, nullptr,
                    gradient_of<[](Ctx c) { return c.b.call("aten.flip.default", {c.dy, c.arg(1)}); }>,
                    Lowering(IndexMap(flip_index)), "", "dimensions mirrored"));
  r.push_back(OpDef("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", OpClass::View,
                    0, Promotion::None, diagonal_type, diagonal_reference, nullptr, NoGradient::Pending,
                    Lowering(IndexMap(diagonal_index)), "", "the diagonal of two dimensions, as the last one"));
  return r;
}

}  // namespace strata::ops
