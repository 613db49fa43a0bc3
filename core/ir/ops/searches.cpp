// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Binary search in sorted lines, and what is made of it: a fixed number of halvings that kernels fuse like any other
// element.

#include <bit>

#include "core/ir/ops/indexing.h"

namespace strata::ops {
namespace {

constexpr auto kNone = NoGradient::Nondifferentiable;

/// A search as its row spells it: positions of the parameters, and which of equal elements it stops at.
struct Search {
  size_t sequence, values;
  std::optional<size_t> sorter;
  bool right;
  bool narrow;  ///< int32 positions
};

Search search_of(const Call& call) {
  const auto& params = call.op().schema.params;
  const bool bucketize = params[1].name == "boundaries";
  Search s{bucketize ? 1U : 0U, bucketize ? 0U : 1U, {}, call.boolean(3), call.boolean(2)};
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == "sorter" && !call.is_none(i)) s.sorter = i;
    if (params[i].name != "side" || call.is_none(i)) continue;
    const std::string side = call.string(i);
    if (side != "left" && side != "right") reject(call, "side can only be 'left' or 'right', found '" + side + "'");
    if (side == "left" && s.right) reject(call, "side and right can't be set to opposites, found side of left");
    s.right = side == "right";
  }
  return s;
}

void check_sequence(const Call& call, const Search& s) {
  const Index& line = tensor_type(call, s.sequence).shape;
  if (line.empty()) reject(call, "boundaries tensor should have positive dimension, but got 0 dimension");
  if (s.sorter) {
    const TensorType& sorter = tensor_type(call, *s.sorter);
    if (sorter.dtype != DType::I64) reject(call, "sorter must be a tensor of long dtype");
    require_same_shape(call, line, sorter.shape, "boundaries and sorter");
  }
  if (s.sequence == 1 && line.size() != 1) reject(call, "boundaries tensor must be 1 dimension");
}

Type search_type(const Call& call) {
  const Search s = search_of(call);
  check_sequence(call, s);
  const Index& line = tensor_type(call, s.sequence).shape;
  Index shape;
  if (is_tensor(call, s.values)) shape = tensor_type(call, s.values).shape;
  if (line.size() > 1) {
    if (shape.size() != line.size())
      reject(call, "boundaries must have 1 dimension or those of the values but for the last");
    for (size_t d = 0; d + 1 < line.size(); ++d)
      require_equal(call, line[d], shape[d], "sizes of dimension " + std::to_string(d) + " of boundaries and values");
  }
  if (s.narrow && known_lt(SymInt(INT32_MAX), line.back()))
    reject(call, "the size of boundaries' last dimension does not fit into int32");
  return Type::of(s.narrow ? DType::I32 : DType::I64, shape, tensor_type(call, s.sequence).device);
}

/// Is the searched place behind an element? NaN lies behind all.
template <class T>
bool before(T element, T value, bool right) {
  return right ? !(element > value) : !(element >= value);
}

template <class T>
void search_lines(const RefContext& c, const Search& s, const Tensor& sequence, const Tensor& values,
                  const Tensor& out) {
  const Tensor sorter = s.sorter ? c.tensor(*s.sorter).contiguous() : Tensor();
  const int64_t n = sequence.shape.back(), count = out.numel();
  const int64_t row = out.rank() ? out.shape.back() : 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t line = sequence.rank() > 1 ? i / row * n : 0;
    int64_t begin = 0, end = n;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      const int64_t at = s.sorter ? sorter.int_at(line + middle) : middle;
      if (at < 0 || at >= n) reject(c.call, "sorter index out of range");
      if (before(sequence.ptr<const T>()[line + at], values.ptr<const T>()[i], s.right))
        begin = middle + 1;
      else
        end = middle;
    }
    out.set_int(i, begin);
  }
}

RefValue search_reference(const RefContext& c) {
  const Search s = search_of(c.call);
  const DType compute = c.storage_dtype(pointwise_compute_dtype(c.call));
  Tensor out = c.result();
  const Tensor sequence = operand(c, s.sequence, compute).contiguous();
  const Tensor values = operand(c, s.values, compute).contiguous();
  with_work_type(compute, [&]<class T>(T) { search_lines<T>(c, s, sequence, values, out); });
  return out;
}

/// Halvings until one place is left: from the size, or from what is known of it.
int halvings(const SymInt& size) {
  const int64_t most = size.maybe_value().value_or(range(size).max);
  return most <= 0 ? 0 : std::min(48, static_cast<int>(std::bit_width(static_cast<uint64_t>(most))));
}

ScalarId search_body(const IndexedCall& c) {
  const Search s = search_of(c.call);
  Body& b = c.body;
  const DType compute = compute_dtype(pointwise_compute_dtype(c.call));
  const Index& line = c.call.type(s.sequence).shape;
  const SymInt& n = line.back();
  const ScalarId value = is_tensor(c.call, s.values) ? b.cast(c.load(c.call.tensor(s.values), c.index, {}), compute)
                                                     : body_number(b, c.call, s.values, compute);
  Index at(line.size() > 1 ? Index(c.index.begin(), c.index.end() - 1) : Index());
  at.emplace_back(0);
  const ScalarId one = b.integer(1);
  ScalarId begin = b.integer(0), end = b.index(n);
  for (int i = halvings(n); i-- > 0;) {
    const ScalarId open = b.binary(ScalarOp::Lt, begin, end);
    const ScalarId middle =
        b.binary(ScalarOp::Add, begin, b.binary(ScalarOp::Shr, b.binary(ScalarOp::Sub, end, begin), one));
    at.back() = data_index(b, middle, n);
    if (s.sorter) at.back() = data_index(b, c.load(c.call.tensor(*s.sorter), at, open), n);
    const ScalarId element = b.cast(c.load(c.call.tensor(s.sequence), at, open), compute);
    const ScalarId stop = b.binary(s.right ? ScalarOp::Gt : ScalarOp::Ge, element, value);
    const ScalarId upper = b.binary(ScalarOp::And, open, b.unary(ScalarOp::Not, stop));
    const ScalarId lower = b.binary(ScalarOp::And, open, stop);
    begin = b.select(upper, b.binary(ScalarOp::Add, middle, one), begin);
    end = b.select(lower, middle, end);
  }
  return begin;
}

Rows binary_searches() {
  Rows r;
  const char* options = "*, bool out_int32=False, bool right=False";
  const auto add = [&](const std::string& head, const std::string& tail, const char* doc) {
    r.push_back(OpDef("aten::" + head + ", " + options + tail + ") -> Tensor", OpClass::Indexing, 0, Promotion::None,
                      search_type, search_reference, nullptr, kNone, Lowering(IndexedBody(search_body)), "", doc));
  };
  const char* place = "where each value would stand in a sorted line";
  add("searchsorted.Tensor(Tensor sorted_sequence, Tensor self", ", str? side=None, Tensor? sorter=None", place);
  add("searchsorted.Scalar(Tensor sorted_sequence, Scalar self", ", str? side=None, Tensor? sorter=None", place);
  add("bucketize.Tensor(Tensor self, Tensor boundaries", "",
      "the bucket between boundaries that each value falls into");
  add("bucketize.Scalar(Scalar self, Tensor boundaries", "", "the bucket between boundaries that a value falls into");
  return r;
}

// ------------------------------------------------------------------------------------------------------------- nonzero

Type nonzero_static_type(const Call& call) {
  if (known_lt(call.integer(1), 0)) reject(call, "'size' must be non-negative, found " + call.integer(1).str());
  return result_like(call, DType::I64,
                     {call.integer(1), SymInt(static_cast<int64_t>(tensor_type(call, 0).shape.size()))});
}

/// The k-th element that is not zero stands where the running count of them reaches k + 1.
std::vector<Node*> nonzero_static(Builder& b, const Call& c) {
  const Index& shape = c.type(0).shape;
  const SymInt count = c.integer(1), total = c.type(0).numel();
  const auto full = [&](const Index& size) {
    return b.call("aten.full.default", {sizes(size), c.arg(2)}, {{"dtype", DType::I64}});
  };
  if (shape.empty() || total == SymInt(0) || count == SymInt(0))
    return {full({count, SymInt(static_cast<int64_t>(shape.size()))})};
  Node* found = b.reshape(b.call("aten.ne.Scalar", {c.tensor(0), 0}), {total});
  Node* running = b.call("aten.cumsum.default", {found, 0});
  Node* wanted = b.call("aten.arange.start", {1, integer(count + 1)});
  Node* flat = b.call("aten.searchsorted.Tensor", {running, wanted});
  Node* inside = b.call("aten.lt.Scalar", {flat, integer(total)});
  std::vector<Argument> coordinates;
  SymInt step = total;
  for (const SymInt& n : shape) {
    step = floordiv(step, n);
    Node* at = b.call("aten.remainder.Scalar", {b.call("aten.floor_divide.Scalar", {flat, integer(step)}), integer(n)});
    coordinates.emplace_back(b.call("aten.where.self", {inside, at, full({})}));
  }
  return {b.call("aten.stack.default", {Argument::list(std::move(coordinates)), 1})};
}

}  // namespace

Rows searches() {
  Rows rows = binary_searches();
  rows.push_back(compound("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", 0,
                          nonzero_static_type, nonzero_static,
                          "places of the first elements that are not zero, filled up to a given number"));
  return rows;
}

}  // namespace strata::ops
