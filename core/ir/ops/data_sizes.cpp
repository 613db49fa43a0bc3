// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Results whose size only the data tells. Each is two steps: something counts, `item` makes the count a size, and a
// kernel fills memory of that size. The rows of the second step are our own; their sizes are parameters.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Nodes = std::vector<Node*>;
constexpr auto kNone = NoGradient::Nondifferentiable;

// ----------------------------------------------------------------------------------------------------------- items

/// Capture and whoever makes the node say which symbol the number is.
Type item_type(const Call& call) { return call.node().type; }

RefValue item_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  if (x.numel() != 1)
    reject(c.call, "a tensor with " + std::to_string(x.numel()) + " elements cannot be converted to a number");
  if (is_floating(x.dtype)) return x.at(0);
  return x.int_at(0);
}

// --------------------------------------------------------------------------------------------------------- nonzero

Type nonzero_fill_type(const Call& call) {
  return result_like(call, DType::I64,
                     {call.integer(1), SymInt(static_cast<int64_t>(tensor_type(call, 0).shape.size()))});
}

RefValue nonzero_fill_reference(const RefContext& c) {
  const Tensor x = c.tensor(0);
  Tensor out = c.result();
  int64_t row = 0;
  const int64_t rows = out.shape[0], rank = out.shape[1];
  for_each_index(x.shape, [&](int64_t, const std::vector<int64_t>& at) {
    const std::byte* element = x.data() + position(x, at) * static_cast<int64_t>(dtype_size(x.dtype));
    if (row >= rows || load_as_double(x.dtype, element) == 0) return;
    for (int64_t d = 0; d < rank; ++d) out.set_int(row * rank + d, at[static_cast<size_t>(d)]);
    ++row;
  });
  for (int64_t i = row * rank; i < rows * rank; ++i) out.set_int(i, c.integer(2));
  return out;
}

Node* count_of(Builder& b, Node* mask) {
  if (mask->type.tensor.dtype != DType::Bool) mask = b.call("aten.ne.Scalar", {mask, 0});
  return b.call("aten.sum.default", {mask}, {{"dtype", DType::I64}});
}

Node* nonzero_of(Builder& b, Node* x, const SymInt& count) {
  read_size(b, count_of(b, x), count);
  return b.call("strata.nonzero_fill.default", {x, integer(count)});
}

Type nonzero_type(const Call& call) {
  return result_like(call, DType::I64,
                     {stated_size(call, 0, 0), SymInt(static_cast<int64_t>(tensor_type(call, 0).shape.size()))});
}

Nodes nonzero(Builder& b, const Call& c) { return {nonzero_of(b, c.tensor(0), stated_size(c, 0, 0))}; }

/// A list of indices for each dimension; a number is a line of one.
Type nonzero_lists_type(const Call& call) {
  const size_t rank = std::max<size_t>(tensor_type(call, 0).shape.size(), 1);
  return Type::tuple(std::vector<Type>(rank, result_like(call, DType::I64, {stated_size(call, 0, 0)})));
}

Nodes nonzero_lists(Builder& b, const Call& c) {
  Node* x = c.type(0).shape.empty() ? b.unsqueeze(c.tensor(0), 0) : c.tensor(0);
  Node* places = nonzero_of(b, x, stated_size(c, 0, 0));
  Nodes lists;
  for (size_t d = 0; d < x->tensor().shape.size(); ++d)
    lists.push_back(b.call("aten.select.int", {places, 1, static_cast<int64_t>(d)}));
  return lists;
}

// --------------------------------------------------------------------------------------------------- masked_select

Type masked_fill_type(const Call& call) {
  require_same_shape(call, tensor_type(call, 0).shape, tensor_type(call, 1).shape, "self and mask");
  return result_like(call, tensor_type(call, 0).dtype, {call.integer(2)});
}

RefValue masked_fill_reference(const RefContext& c) {
  const Tensor x = c.tensor(0), mask = c.tensor(1);
  Tensor out = c.result();
  const size_t item = dtype_size(x.dtype);
  int64_t n = 0;
  for_each_index(x.shape, [&](int64_t, const std::vector<int64_t>& at) {
    if (n >= out.shape[0] || load_as_int(mask.dtype, mask.data() + position(mask, at)) == 0) return;
    std::memcpy(out.data() + static_cast<size_t>(n++) * item, x.data() + position(x, at) * static_cast<int64_t>(item),
                item);
  });
  return out;
}

Type masked_select_type(const Call& call) {
  const DType mask = tensor_type(call, 1).dtype;
  if (mask != DType::Bool) reject(call, "expected a mask of type bool, found " + std::string(dtype_name(mask)));
  (void)broadcast(tensor_type(call, 0).shape, tensor_type(call, 1).shape, call.node());
  return result_like(call, tensor_type(call, 0).dtype, {stated_size(call, 0, 0)});
}

Nodes masked_select(Builder& b, const Call& c) {
  const Index shape = broadcast(c.type(0).shape, c.type(1).shape, c.node());
  const SymInt count = stated_size(c, 0, 0);
  Node* mask = b.expand(c.tensor(1), shape);
  read_size(b, count_of(b, mask), count);
  return {b.call("strata.masked_select_fill.default", {b.expand(c.tensor(0), shape), mask, integer(count)})};
}

// ----------------------------------------------------------------------------------------------------------- unique

SymInt slices_of(const Call& call, size_t dim_param) {
  const Index& shape = tensor_type(call, 0).shape;
  if (call.is_none(dim_param)) return product(shape);
  const size_t dim = call.dim(dim_param, shape.size());
  return shape.empty() ? SymInt(1) : shape[dim];
}

Type groups_type(const Call& call) {
  const SymInt n = slices_of(call, 1);
  return tuple_like(call, {{DType::I64, {n}}, {DType::I64, {n}}, {DType::I64, {}}});
}

/// Slices along a dimension, or elements, as rows of doubles or integers.
struct Slices {
  explicit Slices(const RefContext& c) {
    const Tensor x = c.tensor(0).contiguous();
    const bool whole = c.call.is_none(1) || x.rank() == 0;
    const size_t dim = whole ? 0 : c.call.dim(1, x.rank());
    const int64_t n = whole ? x.numel() : x.shape[dim];
    rows.resize(static_cast<size_t>(n));
    for_each_index(whole ? std::vector<int64_t>{n} : x.shape, [&](int64_t flat, const std::vector<int64_t>& at) {
      auto& row = rows[static_cast<size_t>(at[dim])];
      row.emplace_back(is_floating(x.dtype) ? 0 : x.int_at(flat), is_floating(x.dtype) ? x.at(flat) : 0);
    });
  }
  using Row = std::vector<std::pair<int64_t, double>>;
  static bool less(const Row& a, const Row& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].first != b[i].first) return a[i].first < b[i].first;
      const double x = a[i].second, y = b[i].second;
      if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
      if (x != y && !std::isnan(x)) return x < y;
    }
    return false;
  }
  std::vector<Row> rows;
};

RefValue groups_reference(const RefContext& c) {
  const Slices s(c);
  const auto n = static_cast<int64_t>(s.rows.size());
  std::vector<int64_t> order(s.rows.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto row = [&](int64_t i) -> const Slices::Row& { return s.rows[static_cast<size_t>(i)]; };
  if (!c.call.boolean(2))
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return Slices::less(row(a), row(b)); });
  Tensor at = c.result(0), group = c.result(1), count = c.result(2);
  int64_t g = -1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t k = order[static_cast<size_t>(i)];
    if (i == 0 || row(order[static_cast<size_t>(i - 1)]) != row(k)) ++g;  // NaN differs from NaN
    at.set_int(i, k);
    group.set_int(i, g);
  }
  count.set_int(0, g + 1);
  return std::vector<RefValue>{at, group, count};
}

Type starts_type(const Call& call) {
  return tuple_like(call, {{DType::I64, {call.integer(1)}}, {DType::I64, {call.integer(1)}}});
}

RefValue starts_reference(const RefContext& c) {
  const Tensor group = c.tensor(0).contiguous();
  Tensor start = c.result(0), count = c.result(1);
  for (int64_t g = 0; g < count.numel(); ++g) count.set_int(g, 0);
  for (int64_t i = 0; i < group.numel(); ++i) {
    const int64_t g = group.int_at(i);
    if (g < 0 || g >= count.numel()) reject(c.call, "group " + std::to_string(g) + " is out of range");
    if (count.int_at(g) == 0) start.set_int(g, i);
    count.set_int(g, count.int_at(g) + 1);
  }
  return std::vector<RefValue>{start, count};
}

/// What the operators of the family differ in.
struct Unique {
  int dim = -1;  ///< parameter; -1: elements
  bool consecutive = false, inverse = false, counts = false;
};

Unique unique_of(const Call& call) {
  Unique u;
  u.consecutive = call.op().name.find("consecutive") != std::string::npos;
  const auto& params = call.op().schema.params;
  u.counts = false;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == "dim" && !call.is_none(i)) u.dim = static_cast<int>(i);
    if (params[i].name == "return_inverse") u.inverse = call.boolean(i);
    if (params[i].name == "return_counts") u.counts = call.boolean(i);
  }
  if (u.dim >= 0) u.inverse = u.counts = true;  // of slices PyTorch gives both, wanted or not
  return u;
}

Index unique_shape(const Call& call, const Unique& u) {
  Index shape = tensor_type(call, 0).shape;
  if (u.dim < 0 || shape.empty()) return {stated_size(call, 0, 0)};
  const size_t dim = call.dim(static_cast<size_t>(u.dim), shape.size());
  shape[dim] = stated_size(call, 0, dim);
  return shape;
}

Type unique_type(const Call& call) {
  const Unique u = unique_of(call);
  const Index shape = unique_shape(call, u);
  const TensorType& self = tensor_type(call, 0);
  const SymInt count =
      u.dim < 0 || self.shape.empty() ? shape[0] : shape[call.dim(static_cast<size_t>(u.dim), shape.size())];
  const Index each = u.dim < 0 ? self.shape : Index{slices_of(call, static_cast<size_t>(u.dim))};
  std::vector<std::pair<DType, Index>> parts{{self.dtype, shape}, {DType::I64, u.inverse ? each : Index{0}}};
  if (call.op().schema.returns.size() > 2) parts.push_back({DType::I64, {u.counts ? count : SymInt(0)}});
  return tuple_like(call, std::move(parts));
}

Nodes unique(Builder& b, const Call& c) {
  const Unique u = unique_of(c);
  Node* self = c.tensor(0);
  const Type type = unique_type(c);
  const bool whole = u.dim < 0 || self->type.tensor.shape.empty();
  const size_t dim = whole ? 0 : c.dim(static_cast<size_t>(u.dim), self->type.tensor.shape.size());
  const SymInt count = type.parts[0].tensor.shape[dim];
  if (whole) self = b.reshape(self, {self->type.tensor.numel()});
  Node* groups = b.call("strata.unique_groups.default",
                        {self, whole ? Argument() : Argument(static_cast<int64_t>(dim)), u.consecutive});
  Node *order = b.getitem(groups, 0), *group = b.getitem(groups, 1);
  read_size(b, b.getitem(groups, 2), count);
  Node* starts = b.call("strata.group_starts.default", {group, integer(count)});
  Node* first = b.getitem(starts, 0);
  if (!u.consecutive) first = b.call("aten.index_select.default", {order, 0, first});
  const auto none = [&] { return b.call("aten.empty.memory_format", {Argument::list({0})}, {{"dtype", DType::I64}}); };
  Nodes parts{b.call("aten.index_select.default", {self, static_cast<int64_t>(dim), first})};
  Node* inverse = group;
  if (u.inverse && !u.consecutive)
    inverse = b.call("aten.scatter.src", {b.call("aten.zeros_like.default", {group}), 0, order, group});
  parts.push_back(u.inverse ? b.reshape(inverse, type.parts[1].tensor.shape) : none());
  if (type.parts.size() > 2) parts.push_back(u.counts ? b.getitem(starts, 1) : none());
  return parts;
}

// ------------------------------------------------------------------------------------------------ repeat_interleave

void check_repeats(const Call& call, size_t i) {
  const TensorType& t = tensor_type(call, i);
  if (t.dtype != DType::I64 && t.dtype != DType::I32) reject(call, "repeats must be int64 or int32");
  if (t.shape.size() > 1) reject(call, "repeats must have at most 1 dimension");
}

Type repeats_fill_type(const Call& call) {
  check_repeats(call, 0);
  return result_like(call, tensor_type(call, 0).dtype, {call.integer(1)});
}

RefValue repeats_fill_reference(const RefContext& c) {
  const Tensor repeats = c.tensor(0).contiguous();
  Tensor out = c.result();
  int64_t n = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    const int64_t times = repeats.int_at(i);
    if (times < 0) reject(c.call, "repeats can not be negative");
    for (int64_t k = 0; k < times && n < out.numel(); ++k) out.set_int(n++, i);
  }
  if (n != out.numel()) reject(c.call, "the repeats do not sum up to the output size");
  return out;
}

Node* repeated_positions(Builder& b, Node* repeats, const SymInt& count) {
  read_size(b, b.call("aten.sum.default", {repeats}, {{"dtype", DType::I64}}), count);
  return b.call("strata.repeat_interleave_fill.default", {repeats, integer(count)});
}

Type repeat_type(const Call& call) {
  check_repeats(call, 0);
  return result_like(call, tensor_type(call, 0).dtype, {stated_size(call, 0, 0)});
}

Nodes repeat_interleave(Builder& b, const Call& c) {
  return {repeated_positions(b, c.tensor(0), stated_size(c, 0, 0))};
}

size_t repeated_dim(const Call& c) {
  const size_t rank = tensor_type(c, 0).shape.size();
  return c.is_none(2) || rank == 0 ? 0 : c.dim(2, rank);
}

Type repeat_self_type(const Call& call) {
  check_repeats(call, 1);
  const size_t dim = repeated_dim(call);
  Index shape = tensor_type(call, 0).shape;
  if (call.is_none(2) || shape.empty()) shape = {SymInt(0)};
  shape[dim] = stated_size(call, 0, dim);
  return result_like(call, tensor_type(call, 0).dtype, std::move(shape));
}

Nodes repeat_interleave_self(Builder& b, const Call& c) {
  Node* self = c.tensor(0);
  Node* repeats = c.tensor(1);
  const size_t dim = repeated_dim(c);
  if (c.is_none(2) || self->type.tensor.shape.empty()) self = b.reshape(self, {self->type.tensor.numel()});
  const SymInt n = self->type.tensor.shape[dim];
  if (repeats->type.tensor.shape.empty()) repeats = b.reshape(repeats, {SymInt(1)});
  if (const SymInt& count = repeats->type.tensor.shape[0]; count != SymInt(1))
    require_equal(c, count, n, "number of repeats and size of the input");
  if (!(repeats->type.tensor.shape[0] == n)) repeats = b.expand(repeats, {n});
  Node* positions = repeated_positions(b, repeats, stated_size(c, 0, dim));
  return {b.call("aten.index_select.default", {self, static_cast<int64_t>(dim), positions})};
}

// --------------------------------------------------------------------------------------------------------- bincount

/// Where there is nothing to count, PyTorch does not look at the weights.
bool counts_only(const Call& call) { return call.is_none(1) || tensor_type(call, 0).numel() == SymInt(0); }

DType bincount_dtype(const Call& call) {
  if (counts_only(call)) return DType::I64;
  return tensor_type(call, 1).dtype == DType::F32 ? DType::F32 : DType::F64;
}

void check_counted(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  if (t.shape.size() != 1 || !is_integral(t.dtype))
    reject(call, "bincount only supports 1-d non-negative integral inputs.");
  if (!call.is_none(1)) require_same_shape(call, t.shape, tensor_type(call, 1).shape, "input and weights");
}

Type bincount_fill_type(const Call& call) {
  check_counted(call);
  return result_like(call, bincount_dtype(call), {call.integer(2)});
}

RefValue bincount_fill_reference(const RefContext& c) {
  const Tensor x = c.tensor(0).contiguous();
  const Tensor weights = c.call.is_none(1) ? Tensor() : c.tensor(1).contiguous();
  Tensor out = c.result();
  for (int64_t i = 0; i < out.numel(); ++i) out.set(i, 0);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t v = x.int_at(i);
    if (v < 0 || v >= out.numel()) reject(c.call, "bincount only supports 1-d non-negative integral inputs.");
    if (weights.defined())
      out.set(v, out.at(v) + weights.at(i));
    else
      out.set_int(v, out.int_at(v) + 1);
  }
  return out;
}

Type bincount_type(const Call& call) {
  check_counted(call);
  return result_like(call, bincount_dtype(call), {stated_size(call, 0, 0)});
}

Nodes bincount(Builder& b, const Call& c) {
  const SymInt count = stated_size(c, 0, 0);
  Node* least = b.call("aten.full.default", {Argument::list({1}), integer(c.integer(2) - 1)}, {{"dtype", DType::I64}});
  Node* all = b.call("aten.cat.default", {Argument::list({b.cast(c.tensor(0), DType::I64), least})});
  Node* largest = b.call("aten.amax.default", {all, Argument::list({0})});
  read_size(b, b.add(largest, 1), count);
  const Argument weights = counts_only(c) ? Argument() : c.arg(1);
  return {b.call("strata.bincount_fill.default", {c.tensor(0), weights, integer(count)})};
}

// ------------------------------------------------------------------------------------------------------------- masks

bool is_mask(const Node* index) {
  return index && (index->type.tensor.dtype == DType::Bool || index->type.tensor.dtype == DType::U8);
}

/// Masks as one index tensor per dimension, each with `count` elements.
std::vector<Argument> without_masks(Builder& b, const Call& c, const SymInt& count) {
  const Index& self = tensor_type(c, 0).shape;
  std::vector<Argument> indices;
  for (Node* index : c.tensors(1)) {
    if (!is_mask(index)) {
      indices.emplace_back(index ? Argument(index) : Argument());
      continue;
    }
    const Index& shape = index->type.tensor.shape;
    if (shape.empty()) reject(c, "a mask without dimensions is not supported");
    for (size_t d = 0; d < shape.size(); ++d) {
      const size_t at = indices.size();
      if (at >= self.size())
        reject(c, "the shape of the mask at index " + std::to_string(d) +
                      " does not match the shape of the indexed tensor");
      require_equal(c, shape[d], self[at], "sizes of the mask at index " + std::to_string(d) + " and of the tensor");
      if (d == 0) index = nonzero_of(b, index, count);
      indices.emplace_back(b.call("aten.select.int", {index, 1, static_cast<int64_t>(d)}));
    }
  }
  return indices;
}

// -------------------------------------------------------------------------------------------------------------- rows

OpDef filled(const char* schema, ShapeRule type, Reference reference, KernelRule kernel, const char* doc) {
  return OpDef(schema, OpClass::Indexing, 0, Promotion::None, type, reference, nullptr, kNone, kernel, "", doc);
}

OpDef sized(const char* schema, ShapeRule type, Decompose decompose, const char* doc) {
  return OpDef(schema, OpClass::Compound, trait::DataDependent, Promotion::None, type, nullptr, decompose,
               NoGradient::Pending, NoLowering{}, "", doc);
}

}  // namespace

void read_size(Builder& b, Node* count, const SymInt& size) {
  b.call("aten.item.default", {count})->type = Type::symint(size);
}

SymInt stated_size(const Call& call, size_t part, size_t dim) {
  const Type& whole = call.node().type;
  const Type* type = whole.kind == Type::Kind::Tuple && part < whole.parts.size() ? &whole.parts[part] : &whole;
  if (!type->is_tensor() || dim >= type->tensor.shape.size())
    reject(call, "the size of the result depends on data, and the program does not name it");
  return type->tensor.shape[dim];
}

bool indexed_by_mask(const Call& call) {
  const std::vector<Node*> indices = call.tensors(1);
  return std::any_of(indices.begin(), indices.end(), is_mask);
}

Type masked_index_type(const Call& call) {
  const TensorType& self = tensor_type(call, 0);
  if (!call.node().type.is_tensor())
    reject(call, "indexing by a mask gives a size that depends on data, and the program does not name it",
           "use torch.where, or multiply by the mask");
  return result_like(call, self.dtype, call.node().type.tensor.shape);
}

std::vector<Node*> index_without_masks(Builder& b, const Call& c) {
  if (!indexed_by_mask(c)) return {};
  // Index tensors side by side put their dimensions where they stand; with a gap between them these come first.
  size_t first = SIZE_MAX, last = 0, dim = 0, used = 0, wide = 1;
  for (const Node* index : c.tensors(1)) {
    const size_t dims = is_mask(index) ? index->type.tensor.shape.size() : 1;
    if (index) first = std::min(first, dim), last = dim + dims, used += dims;
    if (index && !is_mask(index)) wide = std::max(wide, index->type.tensor.shape.size());
    dim += dims;
  }
  const size_t at = (last - first == used ? first : 0) + wide - 1;
  const SymInt count = stated_size(c, 0, at);
  return {b.call("aten.index.Tensor", {c.arg(0), Argument::list(without_masks(b, c, count))})};
}

Rows data_sizes() {
  Rows r;
  for (const char* schema : {"aten::item(Tensor self) -> Scalar", "aten::_local_scalar_dense(Tensor self) -> Scalar"})
    r.push_back(OpDef(schema, OpClass::Symbolic, trait::SideEffect | trait::DataDependent, Promotion::None, item_type,
                      item_reference, nullptr, kNone, NoLowering{}, "", "the element as a number"));
  r.push_back(filled("strata::nonzero_fill(Tensor self, SymInt count, int fill_value=-1) -> Tensor", nonzero_fill_type,
                     nonzero_fill_reference, {"nonzero"}, "positions of the first `count` elements that are not zero"));
  r.push_back(filled("strata::masked_select_fill(Tensor self, Tensor mask, SymInt count) -> Tensor", masked_fill_type,
                     masked_fill_reference, {"masked_select"}, "the first `count` elements where the mask holds"));
  r.push_back(filled(
      "strata::unique_groups(Tensor self, int? dim, bool consecutive) -> (Tensor order, Tensor group, Tensor count)",
      groups_type, groups_reference, {"unique_groups"},
      "slices in order, which are equal, and how many are different"));
  r.push_back(filled("strata::group_starts(Tensor group, SymInt count) -> (Tensor start, Tensor size)", starts_type,
                     starts_reference, {"group_starts"}, "where each group begins, and its size"));
  r.push_back(filled("strata::repeat_interleave_fill(Tensor repeats, SymInt count) -> Tensor", repeats_fill_type,
                     repeats_fill_reference, {"repeat_interleave"}, "each position as often as it says"));
  r.push_back(filled("strata::bincount_fill(Tensor self, Tensor? weights, SymInt count) -> Tensor", bincount_fill_type,
                     bincount_fill_reference, {"bincount"}, "how often each number below `count` occurs"));
  r.push_back(sized("aten::nonzero(Tensor self) -> Tensor", nonzero_type, nonzero, "positions that are not zero"));
  r.push_back(sized("aten::argwhere(Tensor self) -> Tensor", nonzero_type, nonzero, "positions that are not zero"));
  for (const char* schema :
       {"aten::nonzero_numpy(Tensor self) -> Tensor[]", "aten::where(Tensor condition) -> Tensor[]"})
    r.push_back(sized(schema, nonzero_lists_type, nonzero_lists, "positions that are not zero, a list a dimension"));
  r.push_back(sized("aten::masked_select(Tensor self, Tensor mask) -> Tensor", masked_select_type, masked_select,
                    "elements where the mask holds"));
  r.push_back(
      sized("aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
            "-> (Tensor, Tensor, Tensor)",
            unique_type, unique, "different elements, sorted"));
  r.push_back(sized("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
                    unique_type, unique, "different elements, sorted"));
  r.push_back(
      sized("aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
            "return_counts=False) -> (Tensor, Tensor, Tensor)",
            unique_type, unique, "different slices, sorted"));
  r.push_back(
      sized("aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? "
            "dim=None) -> (Tensor, Tensor, Tensor)",
            unique_type, unique, "one of each run of equal elements"));
  r.push_back(
      sized("aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool "
            "return_counts=False) -> (Tensor, Tensor, Tensor)",
            unique_type, unique, "one of each run of equal slices"));
  r.push_back(sized("aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
                    repeat_type, repeat_interleave, "each position as often as it says"));
  r.push_back(
      sized("aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
            "output_size=None) -> Tensor",
            repeat_self_type, repeat_interleave_self, "each slice as often as `repeats` says"));
  r.push_back(sized("aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", bincount_type,
                    bincount, "how often each number occurs"));
  return r;
}

}  // namespace strata::ops
