// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/indexing.h"

#include <algorithm>

#include "core/support/index_error.h"

namespace strata::ops {

SymInt data_index(loop::Body& b, ScalarId value, const SymInt& size) {
  const ScalarId wide = b.cast(value, DType::I64), extent = b.index(size), zero = b.integer(0), one = b.integer(1);
  const ScalarId wrapped = b.select(b.binary(ScalarOp::Lt, wide, zero), b.binary(ScalarOp::Add, wide, extent), wide);
  const ScalarId last = b.binary(ScalarOp::Sub, extent, one);
  const ScalarId clamped = b.binary(ScalarOp::Max, b.binary(ScalarOp::Min, wrapped, last), zero);
  const SymRange sizes = range(size);
  return b.indirect(clamped, {0, sizes.max == kSymMax ? kSymMax : std::max<int64_t>(0, sizes.max - 1)}, size - 1);
}

IndexRange index_range(const SymInt& size, size_t dim, bool negative) {
  return {size, negative, "index {index} is out of bounds for dimension " + std::to_string(dim) + " with size {size}"};
}

SymInt checked_data_index(loop::Body& b, ScalarId value, const IndexRange& r, std::optional<ScalarId>& readable) {
  const ScalarId wide = b.cast(value, DType::I64), extent = b.index(r.size), zero = b.integer(0);
  ScalarId at = wide;
  if (r.negative) at = b.select(b.binary(ScalarOp::Lt, wide, zero), b.binary(ScalarOp::Add, wide, extent), wide);
  // One comparison: as unsigned numbers negative ones are beyond every size.
  const ScalarId holds = b.binary(ScalarOp::Lt, b.cast(at, DType::U64), b.cast(extent, DType::U64));
  at = b.check(at, holds, zero, {loop::Check::Kind::Index, r.size, r.negative, r.text, {}, 0});
  const SymRange sizes = range(r.size);
  if (sizes.min < 1) {
    const ScalarId some = b.binary(ScalarOp::Lt, zero, extent);
    readable = readable ? b.binary(ScalarOp::And, *readable, some) : some;
  }
  return b.indirect(at, {0, sizes.max == kSymMax ? kSymMax : std::max<int64_t>(0, sizes.max - 1)}, r.size - 1);
}

int64_t checked_index(const Call& call, int64_t index, int64_t size, bool negative) {
  const int64_t least = negative ? -size : 0;
  if (index >= least && index < size) return index < 0 ? index + size : index;
  throw IndexError("'" + call.node().name + "' (" + call.op().name + "): index " + std::to_string(index) +
                   " is out of range, expected [" + std::to_string(least) + ", " + std::to_string(size - 1) + "]");
}

void require_covered(const Call& call, const SymInt& size, Index index, size_t d, const std::string& what) {
  const SymInt length = std::exchange(index[d], SymInt(1));
  require_at_least(call, size, unless_empty(length, index),
                   "size of " + what + " in dimension " + std::to_string(d) + " for the index");
}

void check_index_type(const Call& call, size_t i) {
  const TensorType& t = tensor_type(call, i);
  const DType d = t.dtype;
  if (has_zero(t.shape)) return;  // no index at all
  if (d != DType::I64 && d != DType::I32)
    reject(call, "'" + call.op().schema.params[i].name + "' must hold int64 or int32 indices, found " +
                     std::string(dtype_name(d)));
}

void check_line_of_indices(const Call& call, size_t i) {
  check_index_type(call, i);
  if (const size_t rank = call.type(i).shape.size(); rank > 1)
    reject(call,
           "'" + call.op().schema.params[i].name + "' must have at most 1 dimension, found " + std::to_string(rank));
}

void check_source(const Call& call, size_t dim) {
  const Index &self = tensor_type(call, 0).shape, &source = tensor_type(call, 3).shape;
  const SymInt count = tensor_type(call, 2).numel();
  if (source.size() != self.size() && !(self.size() <= 1 && source.size() <= 1))
    reject(call, "expected a source of " + std::to_string(self.size()) + " dimensions, found " +
                     std::to_string(source.size()));
  for (size_t d = 0; d < std::min(self.size(), source.size()); ++d)
    if (d != dim) require_equal(call, source[d], self[d], "dimension " + std::to_string(d) + " of source and self");
  require_equal(call, source.empty() ? SymInt(1) : source[dim], count, "slices of the source and indices");
}

IndexPlan index_plan(const Call& call) {
  IndexPlan p{call.tensors(1), {}, 0, {}};
  const Index& self = tensor_type(call, 0).shape;
  if (p.indices.empty()) reject(call, "at least one index must be provided");
  if (p.indices.size() > self.size())
    reject(call, "too many indices for a tensor of " + std::to_string(self.size()) + " dimensions");
  std::vector<size_t> used;
  for (size_t d = 0; d < p.indices.size(); ++d) {
    if (!p.indices[d]) continue;
    const TensorType& t = p.indices[d]->type.tensor;
    if (t.dtype == DType::Bool || t.dtype == DType::U8)
      reject(call, "indexing by a mask gives a size that depends on data, which is not supported",
             "use torch.where, or multiply by the mask");
    if (t.dtype != DType::I64 && t.dtype != DType::I32)
      reject(call, "indices must be int64 or int32, found " + std::string(dtype_name(t.dtype)));
    p.broadcast = used.empty() ? t.shape : broadcast(p.broadcast, t.shape, call.node());
    used.push_back(d);
  }
  // Index tensors side by side put their dimensions where they stand; with a gap between them these come first.
  const bool adjacent = !used.empty() && used.back() - used.front() + 1 == used.size();
  if (adjacent) p.at = used.front();
  for (size_t d = 0; d < self.size(); ++d)
    if (d >= p.indices.size() || !p.indices[d]) p.shape.push_back(self[d]);
  p.shape.insert(p.shape.begin() + static_cast<ptrdiff_t>(p.at), p.broadcast.begin(), p.broadcast.end());
  return p;
}

std::vector<OpDef> indexing() {
  Rows rows;
  for (auto part : {gathers,
                    scatters,
                    scatter_forms,
                    joins,
                    creations,
                    orders,
                    searches,
                    spacings,
                    data_sizes,
                    special_functions,
                    selections_of_lines,
                    histograms,
                    pairs,
                    distances,
                    grid_samplings,
                    segments,
                    regions,
                    linear_algebra,
                    singular_values,
                    randoms,
                    composed_indexing})
    append(rows, part());
  return rows;
}

}  // namespace strata::ops
