// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tensors put together, padded and masked by position.

#include <algorithm>
#include <cstring>

#include "core/ir/ops/indexing.h"
#include "core/ir/ops/neural.h"

namespace strata::ops {
namespace {

using Ctx = const GradientContext&;

DType result_compute(const Call& call) { return compute_dtype(call.node().type.tensor.dtype); }

// ----------------------------------------------------------------------------------------------------------------- cat

/// Operands that count: PyTorch skips 1-dimensional empty ones.
std::vector<Node*> cat_operands(const Call& call) {
  const std::vector<Node*> all = call.tensors(0);
  std::vector<Node*> kept;
  for (Node* n : all) {
    if (!n || !n->type.is_tensor()) reject(call, "expected tensors");
    const Index& shape = n->type.tensor.shape;
    if (shape.empty()) reject(call, "0-dimensional tensors cannot be concatenated", "use stack");
    if (!(shape.size() == 1 && shape[0] == SymInt(0))) kept.push_back(n);
  }
  if (all.empty()) reject(call, "expected at least one tensor");
  return kept.empty() ? std::vector<Node*>{all[0]} : kept;
}

Type cat_type(const Call& call) {
  const std::vector<Node*> operands = cat_operands(call);
  DType dtype = operands[0]->type.tensor.dtype;
  for (Node* n : call.tensors(0)) dtype = promote(dtype, n->type.tensor.dtype);
  Index shape = operands[0]->type.tensor.shape;
  const size_t dim = call.dim(1, shape.size());
  for (size_t k = 1; k < operands.size(); ++k) {
    const Index& other = operands[k]->type.tensor.shape;
    if (other.size() != shape.size()) reject(call, "all tensors must have the same number of dimensions");
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != dim) require_equal(call, shape[d], other[d], "sizes of dimension " + std::to_string(d));
    shape[dim] = shape[dim] + other[dim];
  }
  return result_like(call, dtype, shape);
}

/// Copies each operand's slabs: everything inside of `dim` is contiguous.
RefValue cat_reference(const RefContext& c) {
  Tensor out = c.result();
  const size_t dim = c.call.dim(1, out.rank());
  int64_t outer = 1, slab = static_cast<int64_t>(dtype_size(out.dtype));
  for (size_t d = 0; d < dim; ++d) outer *= out.shape[d];
  for (size_t d = dim + 1; d < out.rank(); ++d) slab *= out.shape[d];
  const int64_t stride = slab * out.shape[dim];
  std::byte* start = out.data();
  for (Node* n : cat_operands(c.call)) {
    const Tensor part = converted(c.value_of(n).tensor(), out.dtype).contiguous();
    const int64_t bytes = slab * part.shape[dim];
    for (int64_t i = 0; i < outer && bytes > 0; ++i)
      std::memcpy(start + i * stride, part.data() + i * bytes, static_cast<size_t>(bytes));
    start += bytes;
  }
  return out;
}

ScalarId cat_body(const IndexedCall& c) {
  Body& b = c.body;
  const std::vector<Node*> operands = cat_operands(c.call);
  const size_t dim = c.call.dim(1, c.index.size());
  const DType dtype = result_compute(c.call);
  const ScalarId at = b.index(c.index[dim]);
  std::vector<SymInt> starts{SymInt(0)};
  for (Node* n : operands) starts.push_back(starts.back() + n->type.tensor.shape[dim]);
  // Two elements in turn, as complex numbers lie: both are there for every pair, so that nothing is asked before a
  // load.
  const bool in_turn =
      operands.size() == 2 && dim + 1 == c.index.size() && starts[1] == SymInt(1) && starts[2] == SymInt(2);
  ScalarId value = loop::kNone;
  for (size_t k = operands.size(); k-- > 0;) {  // value = at < end0 ? x0 : at < end1 ? x1 : ... : last
    Index index = c.index;
    index[dim] = in_turn ? SymInt(0) : index[dim] - starts[k];
    const ScalarId below = b.binary(ScalarOp::Lt, at, b.index(starts[k + 1]));
    const ScalarId above = b.binary(ScalarOp::Ge, at, b.index(starts[k]));
    std::optional<ScalarId> mask;
    if (operands.size() > 1 && !in_turn)
      mask = k == 0 ? below : k + 1 == operands.size() ? above : b.binary(ScalarOp::And, above, below);
    const ScalarId x = b.cast(c.load(operands[k], index, mask), dtype);
    value = value == loop::kNone ? x : b.select(below, x, value);
  }
  return value;
}

Node* cut(Builder& b, Node* dy, size_t dim, const SymInt& start, const SymInt& length) {
  return b.call("aten.slice.Tensor", {dy, static_cast<int64_t>(dim), integer(start), integer(start + length)});
}

/// Cotangents are slices, one for each element of the list.
std::vector<Node*> cat_gradient(const GradientCall& g) {
  const std::vector<Node*> operands = g.call.tensors(0);
  std::vector<Node*> out(operands.size() + 1, nullptr);
  Node* dy = cotangent(g);
  if (!dy || !g.needed(0)) return out;
  const size_t dim = g.call.dim(1, dy->type.tensor.shape.size());
  SymInt at = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const TensorType& t = operands[k]->type.tensor;
    if (t.shape.size() != dy->type.tensor.shape.size() || !is_floating(t.dtype)) {  // a skipped empty operand
      if (t.shape.size() == dy->type.tensor.shape.size()) at = at + t.shape[dim];
      continue;
    }
    out[k] = g.builder.cast(cut(g.builder, dy, dim, at, t.shape[dim]), t.dtype);
    at = at + t.shape[dim];
  }
  return out;
}

// --------------------------------------------------------------------------------------------------------------- stack

Type stack_type(const Call& call) {
  const std::vector<Node*> operands = call.tensors(0);
  if (operands.empty()) reject(call, "expected at least one tensor");
  Index shape = operands[0]->type.tensor.shape;
  DType dtype = operands[0]->type.tensor.dtype;
  for (Node* n : operands) {
    if (!n || !n->type.is_tensor()) reject(call, "expected tensors");
    require_same_shape(call, shape, n->type.tensor.shape, "the tensors");
    dtype = promote(dtype, n->type.tensor.dtype);
  }
  const size_t dim = call.dim(1, shape.size() + 1);
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(dim), SymInt(static_cast<int64_t>(operands.size())));
  return result_like(call, dtype, shape);
}

std::vector<Node*> stack(Builder& b, const Call& c) {
  const std::vector<Node*> operands = c.tensors(0);
  const auto dim = static_cast<int64_t>(c.dim(1, operands[0]->type.tensor.shape.size() + 1));
  std::vector<Argument> parts;
  for (Node* n : operands) parts.push_back(b.unsqueeze(n, dim));
  return {b.call("aten.cat.default", {Argument::list(parts), dim})};
}

// ----------------------------------------------------------------------------------------------------------------- pad

/// (before, after) for every dimension; `pad` lists them from the last dimension.
std::vector<std::pair<SymInt, SymInt>> paddings(const Call& call) {
  const size_t rank = tensor_type(call, 0).shape.size();
  const std::vector<SymInt> pad = call.integers(1);
  if (pad.size() % 2 || pad.size() / 2 > rank)
    reject(call, "padding must have two numbers for each of at most " + std::to_string(rank) + " dimensions");
  std::vector<std::pair<SymInt, SymInt>> out(rank, {SymInt(0), SymInt(0)});
  for (size_t i = 0; i < pad.size() / 2; ++i) out[rank - 1 - i] = {pad[2 * i], pad[2 * i + 1]};
  return out;
}

Type pad_type(const Call& call) {
  Index shape = tensor_type(call, 0).shape;
  const auto pads = paddings(call);
  for (size_t d = 0; d < shape.size(); ++d) {
    const SymInt size = shape[d] + pads[d].first + pads[d].second;
    require_at_least(call, size, 0, "padded size of dimension " + std::to_string(d));
    shape[d] = size;
  }
  return result_like(call, tensor_type(call, 0).dtype, shape);
}

/// Index into the operand, or nothing if it is padding.
RefValue pad_reference(const RefContext& c) {
  const Tensor self = c.tensor(0);
  Tensor out = c.result();
  const auto pads = paddings(c.call);
  std::vector<int64_t> before;
  for (const auto& p : pads) before.push_back(c.eval(p.first));
  Tensor fill = Tensor::empty(out.dtype, {});
  if (is_floating(out.dtype) || out.dtype == DType::Bool)
    fill.set(0, scalar_value(c, 2));
  else
    fill.set_int(0, scalar_as<int64_t>(c, 2));
  const size_t item = dtype_size(out.dtype);
  std::vector<int64_t> source(self.rank());
  for_each_index(out.shape, [&](int64_t flat, const std::vector<int64_t>& at) {
    bool inside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      source[d] = at[d] - before[d];
      inside = inside && source[d] >= 0 && source[d] < self.shape[d];
    }
    const std::byte* from = inside ? self.data() + position(self, source) * static_cast<int64_t>(item) : fill.data();
    std::memcpy(out.data() + static_cast<size_t>(flat) * item, from, item);
  });
  return out;
}

ScalarId pad_body(const IndexedCall& c) {
  Body& b = c.body;
  const auto pads = paddings(c.call);
  const Index& from = c.call.type(0).shape;
  Index source = c.index;
  std::optional<ScalarId> inside;
  const auto require = [&](ScalarId condition) {
    inside = inside ? b.binary(ScalarOp::And, *inside, condition) : condition;
  };
  for (size_t d = 0; d < source.size(); ++d) {
    source[d] = source[d] - pads[d].first;
    if (!known_le(pads[d].first, 0)) require(b.binary(ScalarOp::Ge, b.index(source[d]), b.integer(0)));
    if (!known_le(pads[d].second, 0)) require(b.binary(ScalarOp::Lt, b.index(source[d]), b.index(from[d])));
  }
  const DType dtype = result_compute(c.call);
  const ScalarId value = b.cast(c.load(c.call.tensor(0), source, inside), dtype);
  return inside ? b.select(*inside, value, body_number(b, c.call, 2, dtype)) : value;
}

/// The padding taken off again.
Node* pad_gradient(Ctx c) {
  std::vector<SymInt> back;
  for (const SymInt& p : c.call.integers(1)) back.push_back(SymInt(0) - p);
  return c.b.call("aten.constant_pad_nd.default", {c.dy, sizes(back), 0.0});
}

/// Padding from the operand itself: a view with other indices.
enum class Border : uint8_t { Reflect, Replicate, Circular };

template <Border B>
Type border_type(const Call& call) {
  const auto pads = paddings(call);
  const Index& shape = tensor_type(call, 0).shape;
  for (size_t d = 0; d < shape.size(); ++d)
    for (const SymInt& p : {pads[d].first, pads[d].second}) {
      if (p == SymInt(0)) continue;
      if (B == Border::Circular) require_at_least(call, p, 0, "padding that wraps around");
      // What is mirrored begins behind the border, so one element more is needed; what is repeated needs one.
      const SymInt least = B == Border::Replicate ? SymInt(1) : max(SymInt(1), B == Border::Reflect ? p + 1 : p);
      require_at_least(call, shape[d], least, "dimension " + std::to_string(d) + " for a padding of " + p.str());
    }
  return pad_type(call);
}

template <Border B>
SymInt border_index(const SymInt& at, const SymInt& size) {
  if (B == Border::Replicate) return min(max(at, SymInt(0)), size - 1);
  if (B == Border::Circular) return mod(at, size);
  const SymInt folded = max(at, SymInt(0) - at), from_end = size - 1 - folded;  // |at|, then mirrored at the end
  return size - 1 - max(from_end, SymInt(0) - from_end);
}

template <Border B>
std::vector<SymInt> border_map(const Call& call, const std::vector<SymInt>& index) {
  const auto pads = paddings(call);
  const Index& shape = tensor_type(call, 0).shape;
  std::vector<SymInt> out = index;
  for (size_t d = 0; d < out.size(); ++d)
    if (!(pads[d].first == SymInt(0) && pads[d].second == SymInt(0)))
      out[d] = border_index<B>(index[d] - pads[d].first, shape[d]);
  return out;
}

/// Each element of `out` from the place of `self` that `source(dimension, index)` gives.
template <class Source>
void copy_from_places(const Tensor& self, Tensor& out, const Source& source) {
  std::vector<int64_t> from(self.rank());
  const size_t item = dtype_size(out.dtype);
  for_each_index(out.shape, [&](int64_t flat, const std::vector<int64_t>& at) {
    for (size_t d = 0; d < at.size(); ++d) from[d] = source(d, at[d]);
    std::memcpy(out.data() + static_cast<size_t>(flat) * item,
                self.data() + position(self, from) * static_cast<int64_t>(item), item);
  });
}

template <Border B>
RefValue border_reference(const RefContext& c) {
  const Tensor self = c.tensor(0);
  Tensor out = c.result();
  std::vector<int64_t> before;
  for (const auto& p : paddings(c.call)) before.push_back(c.eval(p.first));
  copy_from_places(self, out, [&](size_t d, int64_t at) {
    int64_t i = at - before[d];
    const int64_t n = self.shape[d];
    if (B == Border::Replicate)
      i = std::clamp<int64_t>(i, 0, n - 1);
    else if (B == Border::Circular)
      i = (i % n + n) % n;
    else
      i = i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    if (i < 0 || i >= n) reject(c.call, "padding is too large for dimension " + std::to_string(d));
    return i;
  });
  return out;
}

/// Of images of N dimensions, with their channels and perhaps a batch.
template <Border B, size_t N>
Type image_border_type(const Call& call) {
  require_rank(call, 0, N + 1, N + 2);
  if (const size_t found = call.integers(1).size(); found != 2 * N)
    reject(call, "padding must have " + std::to_string(2 * N) + " numbers, found " + std::to_string(found));
  const Index& shape = tensor_type(call, 0).shape;
  for (size_t d = shape.size() - N - 1; d < shape.size(); ++d)
    require_at_least(call, shape[d], 1, "size of dimension " + std::to_string(d));
  return border_type<B>(call);
}

template <Border B>
OpDef border_row(const std::string& name, size_t dims, ShapeRule type, const char* doc) {
  const std::string schema = name + "(Tensor self, SymInt[" + std::to_string(2 * dims) + "] padding) -> Tensor";
  return OpDef(schema, OpClass::View, trait::NotAffine, Promotion::None, type, border_reference<B>, nullptr,
               NoGradient::Pending, Lowering(IndexMap(border_map<B>)), "", doc);
}
template <size_t N>
Rows image_borders() {
  const std::string dims = std::to_string(N) + "d";
  return {border_row<Border::Reflect>("aten::reflection_pad" + dims, N, image_border_type<Border::Reflect, N>,
                                      "border mirrored without repeating the edge"),
          border_row<Border::Replicate>("aten::replication_pad" + dims, N, image_border_type<Border::Replicate, N>,
                                        "border that repeats the edge")};
}

/// `shifts`, one per dimension.
std::vector<SymInt> shifts_of(const Call& call) {
  std::vector<SymInt> shifts = call.integers(1);
  if (shifts.size() != tensor_type(call, 0).shape.size()) reject(call, "expected one shift per dimension");
  return shifts;
}

Type roll_type(const Call& call) {
  shifts_of(call);
  return same_type(call);
}

std::vector<SymInt> roll_map(const Call& call, const std::vector<SymInt>& index) {
  const std::vector<SymInt> shifts = shifts_of(call);
  const Index& shape = tensor_type(call, 0).shape;
  std::vector<SymInt> out = index;
  for (size_t d = 0; d < out.size(); ++d)
    if (!(shifts[d] == SymInt(0))) out[d] = mod(index[d] - shifts[d], shape[d]);
  return out;
}

RefValue roll_reference(const RefContext& c) {
  const Tensor self = c.tensor(0);
  Tensor out = Tensor::empty(self.dtype, self.shape);
  std::vector<int64_t> by;
  for (const SymInt& shift : shifts_of(c.call)) by.push_back(c.eval(shift));
  copy_from_places(self, out, [&](size_t d, int64_t at) {
    const int64_t n = self.shape[d];
    return ((at - by[d]) % n + n) % n;
  });
  return out;
}

Node* roll_gradient(const GradientContext& c) {
  std::vector<SymInt> back;
  for (const SymInt& shift : shifts_of(c.call)) back.push_back(SymInt(0) - shift);
  return c.b.call("prims.roll.default", {c.dy, sizes(back)});
}

std::vector<Node*> pad(Builder& b, const Call& c) {
  const std::string mode = c.string(2), dims = std::to_string(c.integers(1).size() / 2) + "d";
  if (mode == "constant")
    return {b.call("aten.constant_pad_nd.default", {c.tensor(0), c.arg(1), c.is_none(3) ? Argument(0) : c.arg(3)})};
  const std::string row = mode == "reflect"     ? "aten.reflection_pad" + dims + ".default"
                          : mode == "replicate" ? "aten.replication_pad" + dims + ".default"
                                                : "prims.circular_pad.default";
  return {b.call(row, {c.tensor(0), c.arg(1)})};
}

Type any_pad_type(const Call& call) {
  const std::string mode = call.string(2);
  const size_t n = call.integers(1).size() / 2;
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular")
    reject(call, "mode must be constant, reflect, replicate or circular, found '" + mode + "'");
  if (mode != "constant" && (n < 1 || n > 3))
    reject(call, "mode '" + mode + "' pads 1 to 3 dimensions, found " + std::to_string(n));
  return pad_type(call);
}

Rows pads() {
  Rows r;
  r.push_back(OpDef("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", OpClass::Indexing, 0,
                    Promotion::None, pad_type, pad_reference, nullptr, gradient_of<pad_gradient>,
                    Lowering(IndexedBody(pad_body)), "",
                    "the tensor with a border of one value; negative padding cuts off"));
  for (const auto& rows : {image_borders<1>(), image_borders<2>(), image_borders<3>()}) append(r, rows);
  r.push_back(border_row<Border::Circular>("prims::circular_pad", 3, border_type<Border::Circular>,
                                           "border that wraps around"));
  r.push_back(OpDef("prims::roll(Tensor self, SymInt[] shifts) -> Tensor", OpClass::View, trait::NotAffine,
                    Promotion::None, roll_type, roll_reference, nullptr, gradient_of<roll_gradient>,
                    Lowering(IndexMap(roll_map)), "", "elements moved along each dimension, around the end"));
  r.push_back(compound("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor", 0,
                       any_pad_type, pad, "the tensor with a border of the given mode"));
  return r;
}

// ------------------------------------------------------------------------------------------------------------ tril and
// triu

Type triangle_type(const Call& call) {
  if (tensor_type(call, 0).shape.size() < 2) reject(call, "expected at least 2 dimensions");
  return same_type(call);
}

template <bool Lower>
RefValue triangle_reference(const RefContext& c) {
  Tensor out = c.tensor(0).clone();
  const int64_t diagonal = c.integer(1), rows = out.shape[out.rank() - 2], columns = out.shape[out.rank() - 1];
  const size_t item = dtype_size(out.dtype);
  const int64_t matrices = rows * columns > 0 ? out.numel() / (rows * columns) : 0;
  for (int64_t i = 0; i < matrices * rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t above = j - i % rows;
      const bool keep = Lower ? above <= diagonal : above >= diagonal;
      if (!keep) std::memset(out.data() + static_cast<size_t>(i * columns + j) * item, 0, item);
    }
  return out;
}

template <bool Lower>
ScalarId triangle_body(const IndexedCall& c) {
  Body& b = c.body;
  const size_t rank = c.index.size();
  const ScalarId above = b.index(c.index[rank - 1] - c.index[rank - 2]);
  const ScalarId keep = b.binary(Lower ? ScalarOp::Le : ScalarOp::Ge, above, b.index(c.call.integer(1)));
  const ScalarId value = c.load(c.call.tensor(0), c.index, {});
  const DType d = b.dtype(value);
  return b.select(keep, value, is_floating(d) ? b.constant(0, d) : b.integer(0, d));
}

template <bool Lower>
OpDef triangle_row(const char* schema, const char* doc) {
  return OpDef(schema, OpClass::Indexing, trait::ZeroPreserving | trait::Idempotent, Promotion::None, triangle_type,
               triangle_reference<Lower>, nullptr,
               gradient_of<[](Ctx c) { return c.b.call(c.call.op().name, {c.dy, c.arg(1)}); }>,
               Lowering(IndexedBody(triangle_body<Lower>)), "", doc);
}

// ---------------------------------------------------------------------------------------------------------------- diff

SymInt joined_size(const Call& call, size_t dim) {
  const Index& self = tensor_type(call, 0).shape;
  SymInt size = self[dim];
  for (size_t i : {3, 4}) {
    if (!is_tensor(call, i)) continue;
    const std::string& name = call.op().schema.params[i].name;
    Index expected = self;
    if (call.type(i).shape.size() == self.size()) expected[dim] = call.type(i).shape[dim];
    require_same_shape(call, call.type(i).shape, expected,
                       name + " and self, but for dimension " + std::to_string(dim));
    size = size + call.type(i).shape[dim];
  }
  return size;
}

Type diff_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  if (t.shape.empty()) reject(call, "a 0-dimensional tensor has no differences");
  const size_t dim = call.dim(2, t.shape.size());
  const int64_t n = call.constant(1);
  if (n < 0) reject(call, "order must not be negative");
  Index shape = t.shape;
  const SymInt joined = joined_size(call, dim);
  if (n == 0) return result_like(call, t.dtype, shape);  // PyTorch joins nothing then
  const SymInt size = joined - SymInt(n);
  shape[dim] = known_le(0, size) ? size : max(SymInt(0), size);
  return result_like(call, t.dtype, shape);
}

std::vector<Node*> diff(Builder& b, const Call& c) {
  if (c.constant(1) == 0) return {b.call("aten.clone.default", {c.tensor(0)})};
  const size_t dim = c.dim(2, c.type(0).shape.size());
  std::vector<Argument> parts;
  for (size_t i : {3, 0, 4})
    if (is_tensor(c, i)) parts.push_back(c.tensor(i));
  Node* x =
      parts.size() == 1 ? c.tensor(0) : b.call("aten.cat.default", {Argument::list(parts), static_cast<int64_t>(dim)});
  const SymInt joined = x->type.tensor.shape[dim];
  int64_t count = c.constant(1);  // of more than there are elements nothing is left
  if (joined.is_const()) count = std::min(count, joined.value());
  if (constexpr int64_t kMost = 1000; count > kMost) reject(c, "the order is too large: " + std::to_string(count));
  for (int64_t n = count; n > 0; --n) {
    const SymInt size = x->type.tensor.shape[dim];
    const SymInt length = known_le(1, size) ? size - 1 : max(SymInt(0), size - 1);
    Node* upper = cut(b, x, dim, known_le(1, size) ? SymInt(1) : size - length, length);
    Node* lower = cut(b, x, dim, SymInt(0), length);
    x = x->type.tensor.dtype == DType::Bool ? b.call("aten.logical_xor.default", {upper, lower}) : b.sub(upper, lower);
  }
  return {x};
}

}  // namespace

Rows joins() {
  Rows r;
  r.push_back(OpDef("aten::cat(Tensor[] tensors, int dim=0) -> Tensor", OpClass::Indexing, 0, Promotion::None, cat_type,
                    cat_reference, nullptr, Gradient(cat_gradient), Lowering(IndexedBody(cat_body)), "",
                    "tensors one after the other along a dimension"));
  r.push_back(compound("aten::stack(Tensor[] tensors, int dim=0) -> Tensor", 0, stack_type, stack,
                       "tensors side by side along a new dimension"));
  append(r, pads());
  r.push_back(triangle_row<true>("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor",
                                 "elements on and below a diagonal, else 0"));
  r.push_back(triangle_row<false>("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor",
                                  "elements on and above a diagonal, else 0"));
  r.push_back(
      compound("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", 0,
               diff_type, diff, "differences of neighbours along a dimension"));
  return r;
}

}  // namespace strata::ops
