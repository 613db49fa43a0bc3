// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Writing at indices that come from data. Every place of the result belongs to one thread, which takes what arrives
// there in the order of the indices: the result is the same for any number of threads. Work is divided by independent
// lines, then by columns, and only where neither is there by places of the result.

#include <algorithm>
#include <array>

#include "codegen/native/combine.h"
#include "codegen/native/strided.h"
#include "core/runtime/parallel.h"
#include "core/support/vector_clones.h"

namespace strata::native {
namespace {

/// What is written: an operand, or one number everywhere (all strides 0).
struct Source {
  const std::byte* data = nullptr;
  std::vector<int64_t> strides;  ///< per dimension of the index
};

/// `out[..., index[o, i, j], ...] how= source[o, i, j]`: `i` along the scattered dimension, `j` along the last one (if
/// that is another), `o` over the others.
struct Plan {
  const Call& call;
  Tensor out, index;  ///< index is I64
  size_t dim;
  int threads;
};

/// How the work of a scatter is cut; each part knows its outer point, columns and places.
struct Parts {
  int64_t outer = 1, blocks = 1, ranges = 1, columns = 1;

  Parts(int64_t outer_points, int64_t columns_, int64_t length, int threads) : outer(outer_points), columns(columns_) {
    if (outer < threads)
      blocks = std::clamp<int64_t>(columns / 16, 1, (threads + outer - 1) / std::max<int64_t>(outer, 1));
    if (outer * blocks < threads && length * columns >= 1 << 14) ranges = threads;
  }
  int64_t count() const { return outer * blocks * ranges; }
  /// `f(outer point, first column, end column, range)`.
  template <class F>
  void run(int64_t work, F f) const {
    const int64_t grain = std::max<int64_t>(1, count() * 4096 / std::max<int64_t>(work, 1));
    parallel_for(count(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t block = part / ranges % blocks;
        f(part / ranges / blocks, columns * block / blocks, columns * (block + 1) / blocks, part % ranges);
      }
    });
  }
};

template <How H, class T>
void join_one(T& out, const T& value) {
  if constexpr (H == How::Replace)
    out = value;
  else
    out = stored_value<T>(joined<H, WorkType<T>>(work_value(out), work_value(value)));
}

/// What is written was copied first: it never lies in the same memory.
template <How H, class T>
void join_row(T* __restrict out, const T* __restrict from, int64_t step, int64_t n) {
  if (step == 1) {
    STRATA_SIMD()
    for (int64_t i = 0; i < n; ++i) join_one<H>(out[i], from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) join_one<H>(out[i], from[i * step]);
  }
}

/// Shape of the index without the scattered and the last dimension.
std::vector<int64_t> outer_of(std::vector<int64_t> list, size_t dim) {
  if (dim + 1 != list.size()) list.pop_back();
  list.erase(list.begin() + static_cast<ptrdiff_t>(dim));
  return list;
}

template <How H, class T>
void scatter_lines(const Plan& p, const Source& source) {
  const bool has_columns = p.dim + 1 != p.index.rank();
  const int64_t length = p.index.shape[p.dim], extent = p.out.shape[p.dim], out_step = p.out.strides[p.dim];
  const auto column = [&](const std::vector<int64_t>& strides) { return has_columns ? strides.back() : 0; };
  const int64_t index_step = p.index.strides[p.dim], index_column = column(p.index.strides);
  const int64_t source_step = source.strides[p.dim], source_column = column(source.strides);
  const std::vector<int64_t> outer = outer_of(p.index.shape, p.dim);
  const Parts parts(product(outer), has_columns ? p.index.shape.back() : 1, length, p.threads);
  parts.run(p.index.numel(), [&](int64_t o, int64_t first, int64_t end, int64_t range) {
    const Odometer at(
        outer, {outer_of(p.out.strides, p.dim), outer_of(p.index.strides, p.dim), outer_of(source.strides, p.dim)}, o);
    T* out = p.out.ptr<T>() + at.offset(0);
    const int64_t* index = p.index.ptr<const int64_t>() + at.offset(1);
    const T* from = reinterpret_cast<const T*>(source.data) + at.offset(2);
    const int64_t low = extent * range / parts.ranges, high = extent * (range + 1) / parts.ranges;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t* row = index + i * index_step;
      const T* values = from + i * source_step;
      if (index_column == 0) {
        if (*row >= low && *row < high)
          join_row<H>(out + *row * out_step + first, values + first * source_column, source_column, end - first);
        continue;
      }
      if (parts.ranges == 1) {
        for (int64_t j = first; j < end; ++j)
          join_one<H>(out[row[j * index_column] * out_step + j], values[j * source_column]);
        continue;
      }
      for (int64_t j = first; j < end; ++j) {
        const int64_t k = row[j * index_column];
        if (k >= low && k < high) join_one<H>(out[k * out_step + j], values[j * source_column]);
      }
    }
  });
}

STRATA_VECTOR_CLONES
bool all_inside(const int64_t* index, int64_t n, int64_t step, int64_t extent) {
  uint64_t outside = 0;
  const auto look = [&](int64_t i) { return uint64_t{static_cast<uint64_t>(i) >= static_cast<uint64_t>(extent)}; };
  if (step == 1) {
    STRATA_SIMD(reduction(| : outside))
    for (int64_t i = 0; i < n; ++i) outside |= look(index[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) outside |= look(index[i * step]);
  }
  return outside == 0;
}

void check_indices(const Plan& p) {
  Tensor once = p.index;  // what is broadcast is looked at once
  for (size_t d = 0; d < once.rank(); ++d)
    if (once.strides[d] == 0) once.shape[d] = std::min<int64_t>(once.shape[d], 1);
  const int64_t extent = p.out.shape[p.dim], n = once.shape.back(), step = once.strides.back();
  const std::vector<int64_t> outer(once.shape.begin(), once.shape.end() - 1),
      strides(once.strides.begin(), once.strides.end() - 1);
  parallel_for(product(outer), std::max<int64_t>(1, 16384 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    Odometer at(outer, {strides}, begin);
    for (int64_t row = begin; row < end; ++row, at.next()) {
      const int64_t* index = once.ptr<const int64_t>() + at.offset(0);
      if (all_inside(index, n, step, extent)) continue;
      for (int64_t i = 0; i < n; ++i) index_in(p.call, index[i * step], extent, p.dim, false);
    }
  });
}

void scatter_values(const Plan& p, const Source& source, How how) {
  with_element_type(p.out.dtype, [&]<class T>(T) {
    with_how(how, [&](auto h) { scatter_lines<decltype(h)::value, T>(p, source); });
  });
}

/// A number of the result's type, and the source that gives it everywhere.
struct Everywhere {
  std::array<std::byte, 8> number{};
  Source source;
  explicit Everywhere(size_t rank) { source = {number.data(), std::vector<int64_t>(rank, 0)}; }
  Everywhere(const Everywhere&) = delete;
  Everywhere& operator=(const Everywhere&) = delete;
};

/// The places that are written hold nothing of self.
void forget_self(const Plan& p, How how) {
  Everywhere start(p.index.rank());
  with_element_type(p.out.dtype, [&]<class T>(T) {
    *reinterpret_cast<T*>(start.number.data()) = stored_value<T>(identity_of<WorkType<T>>(how));
  });
  scatter_values(p, start.source, How::Replace);
}

void divide_by_counts(const Plan& p, bool include_self) {
  Plan counts{p.call, Tensor::empty(DType::I64, p.out.shape), p.index, p.dim, p.threads};
  int64_t* count = counts.out.ptr<int64_t>();
  std::fill_n(count, counts.out.numel(), include_self ? 1 : 0);
  Everywhere one(p.index.rank());
  *reinterpret_cast<int64_t*>(one.number.data()) = 1;
  scatter_values(counts, one.source, How::Add);
  with_element_type(p.out.dtype, [&]<class T>(T) {
    T* x = p.out.ptr<T>();
    parallel_for(p.out.numel(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (count[i] > 1) x[i] = stored_value<T>(mean_of<WorkType<T>>(work_value(x[i]), count[i]));
    });
  });
}

How how_of(const std::string& name) {
  if (name == "sum" || name == "mean" || name == "add") return How::Add;
  if (name == "prod" || name == "multiply") return How::Multiply;
  if (name == "amax") return How::Max;
  if (name == "amin") return How::Min;
  throw_internal("no way to combine is called '" + name + "'");
}

/// One dimension at least.
Tensor with_dimension(Tensor t) {
  if (t.rank() == 0) {
    t.shape = {1};
    t.strides = {1};
  }
  return t;
}

void write_number(const Arguments& a, DType dtype, std::byte* at) {
  if (is_floating(dtype) || !a.call.is_integer_scalar(3))
    store_from_double(dtype, at, a.call.number(3));
  else
    store_from_int(dtype, at, a.integer(3));
}

/// Sizes that only a run knows: the index's are no larger than those of `t`, but along `free`.
void check_extents(const Plan& p, const Tensor& t, const char* name, size_t free) {
  for (size_t d = 0; d < p.index.rank(); ++d)
    if (d != free && p.index.shape[d] > t.shape[d])
      refuse(p.call, "index exceeds " + std::string(name) + " in dimension " + std::to_string(d) +
                         ": expected at most " + std::to_string(t.shape[d]) + ", found " +
                         std::to_string(p.index.shape[d]));
}

/// scatter(self, dim, index, src or value), scatter_add, scatter_reduce(..., reduce, include_self).
void scatter(const Arguments& a) {
  copy_to_rows(a.tensor(0), a.result());
  Plan p{a.call, with_dimension(a.result()), with_dimension(a.tensor(2)), 0, a.threads};
  if (p.index.numel() == 0) return;
  p.dim = normalize_dim(a.integer(1), p.out.rank(), a.call.node());
  if (p.index.dtype != DType::I64) p.index = p.index.to(DType::I64);
  check_extents(p, p.out, "self", p.dim);
  check_indices(p);
  Everywhere number(p.index.rank());
  Source source = number.source;
  if (a.call.arg(3).node() && a.call.tensor(3)->type.is_tensor()) {
    const Tensor src = with_dimension(a.tensor(3));
    check_extents(p, src, "src", src.rank());
    source = {src.data(), src.strides};
  } else {
    write_number(a, p.out.dtype, number.number.data());
  }
  const auto& name = a.call.op().name;
  if (name == "aten.scatter_reduce.two") {
    const std::string reduce = a.call.string(4);
    const bool include_self = a.call.boolean(5);
    if (!include_self) forget_self(p, how_of(reduce));
    scatter_values(p, source, how_of(reduce));
    if (reduce == "mean") divide_by_counts(p, include_self);
  } else {
    scatter_values(p, source, name == "aten.scatter_add.default" ? How::Add : How::Replace);
  }
}

// ----------------------------------------------------------------------------------------------------------- index_put

/// One index of `self[indices]`: where it points along its dimension. Masks have become positions.
struct Pointer {
  size_t dim;
  Tensor index;  ///< I64, any strides
};

/// The positions where a mask is true, one index per dimension of it.
void positions_of(const Tensor& mask, size_t dim, std::vector<Pointer>& out) {
  const Tensor rows = as_rows(mask);
  const auto* truth = rows.ptr<const uint8_t>();
  const int64_t n = rows.numel(), found = n - std::count(truth, truth + n, 0);
  for (size_t d = 0; d < mask.rank(); ++d) {
    out.push_back({dim + d, Tensor::empty(DType::I64, {found})});
    const int64_t below = product(std::span(rows.shape).subspan(d + 1)), extent = rows.shape[d];
    int64_t* to = out.back().index.ptr<int64_t>();
    for (int64_t i = 0; i < n; ++i)
      if (truth[i]) *to++ = i / below % extent;
  }
}

std::vector<Pointer> pointers_of(const Arguments& a, const Tensor& out) {
  std::vector<Pointer> pointers;
  size_t dim = 0;
  for (const Tensor& index : a.tensors(1)) {
    const bool mask = index.defined() && (index.dtype == DType::Bool || index.dtype == DType::U8);
    const size_t used = mask ? index.rank() : 1;
    if (dim + used > out.rank())
      refuse(a.call, "too many indices for a tensor of " + std::to_string(out.rank()) + " dimensions");
    for (size_t d = 0; mask && d < used; ++d)
      if (index.shape[d] != out.shape[dim + d])
        refuse(a.call, "the mask has size " + std::to_string(index.shape[d]) + " where self has " +
                           std::to_string(out.shape[dim + d]));
    if (mask)
      positions_of(index, dim, pointers);
    else if (index.defined())
      pointers.push_back({dim, index.dtype == DType::I64 ? index : index.to(DType::I64)});
    dim += used;
  }
  return pointers;
}

/// Sizes of both, broadcast.
std::vector<int64_t> common_shape(const Call& call, std::vector<int64_t> a, const std::vector<int64_t>& b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t& at = a[a.size() - b.size() + d];
    if (at == 1) at = b[d];
    if (b[d] != 1 && b[d] != at)
      refuse(call, "indices of sizes " + std::to_string(at) + " and " + std::to_string(b[d]) + " cannot be broadcast");
  }
  return a;
}

/// Strides of `t` seen as `shape`.
std::vector<int64_t> broadcast_strides(const Call& call, const Tensor& t, const std::vector<int64_t>& shape) {
  if (t.rank() > shape.size()) refuse(call, t.str() + " has more dimensions than what it is written to");
  std::vector<int64_t> strides(shape.size() - t.rank(), 0);
  for (size_t d = 0; d < t.rank(); ++d) {
    const int64_t wanted = shape[strides.size()];
    if (t.shape[d] != 1 && t.shape[d] != wanted)
      refuse(call, "a size of " + std::to_string(t.shape[d]) + " cannot be broadcast to " + std::to_string(wanted));
    strides.push_back(t.shape[d] == 1 ? 0 : t.strides[d]);
  }
  return strides;
}

/// Rows of the result that the indices name, and where their values stand.
struct Rows {
  std::vector<int64_t> target, source;                    ///< offsets, one per element of the indices
  std::vector<int64_t> shape, out_strides, from_strides;  ///< of the dimensions that no index names
};

Rows rows_of(const Arguments& a, const Tensor& out, const Tensor& values) {
  const std::vector<Pointer> pointers = pointers_of(a, out);
  std::vector<int64_t> common;
  for (const Pointer& p : pointers) common = common_shape(a.call, common, p.index.shape);
  const bool adjacent = !pointers.empty() && pointers.back().dim - pointers.front().dim + 1 == pointers.size();
  const size_t at = adjacent ? pointers.front().dim : 0;
  Rows rows;
  for (size_t d = 0; d < out.rank(); ++d) {
    if (std::any_of(pointers.begin(), pointers.end(), [&](const Pointer& p) { return p.dim == d; })) continue;
    rows.shape.push_back(out.shape[d]);
    rows.out_strides.push_back(out.strides[d]);
  }
  std::vector<int64_t> shape = rows.shape;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(at), common.begin(), common.end());
  rows.from_strides = broadcast_strides(a.call, values, shape);
  const auto first = rows.from_strides.begin() + static_cast<ptrdiff_t>(at),
             last = first + static_cast<ptrdiff_t>(common.size());
  std::vector<std::vector<int64_t>> strides{{first, last}};
  rows.from_strides.erase(first, last);
  for (const Pointer& p : pointers) strides.push_back(broadcast_strides(a.call, p.index, common));
  const int64_t n = product(common);
  rows.target.resize(static_cast<size_t>(n));
  rows.source.resize(static_cast<size_t>(n));
  // As PyTorch: where rows have no elements, an index must only not point into a dimension that has none either.
  const bool no_elements = product(rows.shape) == 0;
  const auto place = [&](int64_t index, size_t dim) -> int64_t {
    if (no_elements && out.shape[dim] > 0) return 0;
    return index_in(a.call, index, out.shape[dim], dim, true) * out.strides[dim];
  };
  if (common.size() == 1 && pointers.size() == 1) {
    const Pointer& p = pointers[0];
    const auto* index = p.index.ptr<const int64_t>();
    parallel_for(n, 65536, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        rows.target[static_cast<size_t>(i)] = place(index[i * strides[1][0]], p.dim);
        rows.source[static_cast<size_t>(i)] = i * strides[0][0];
      }
    });
    return rows;
  }
  parallel_for(n, 8192, [&](int64_t begin, int64_t end) {
    Odometer walk(common, strides, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      int64_t target = 0;
      for (size_t k = 0; k < pointers.size(); ++k) {
        const int64_t index = pointers[k].index.ptr<const int64_t>()[walk.offset(k + 1)];
        target += place(index, pointers[k].dim);
      }
      rows.target[static_cast<size_t>(i)] = target;
      rows.source[static_cast<size_t>(i)] = walk.offset(0);
    }
  });
  return rows;
}

/// `to[target[i] + j] += from[source[i] + j]` for the targets of a range: for the most usual type, in the machine's
/// widest vectors.
STRATA_VECTOR_CLONES
void add_rows(float* __restrict to, const float* __restrict from, const Rows& rows, int64_t low, int64_t high,
              int64_t n) {
  for (size_t i = 0; i < rows.target.size(); ++i) {
    if (rows.target[i] < low || rows.target[i] >= high) continue;
    float* __restrict row = to + rows.target[i];
    const float* __restrict values = from + rows.source[i];
    STRATA_SIMD()
    for (int64_t j = 0; j < n; ++j) row[j] += values[j];
  }
}

template <How H, class T>
void write_rows(const Tensor& out, const Tensor& values, const Rows& rows, int threads) {
  const bool has_columns = !rows.shape.empty() && rows.out_strides.back() == 1;
  const auto outer = [&](std::vector<int64_t> list) {
    if (has_columns) list.pop_back();
    return list;
  };
  const auto length = static_cast<int64_t>(rows.target.size());
  const int64_t from_step = has_columns ? rows.from_strides.back() : 0, total = out.numel();
  const std::vector<int64_t> shape = outer(rows.shape);
  const Parts parts(product(shape), has_columns ? rows.shape.back() : 1, length, threads);
  parts.run(length * product(rows.shape), [&](int64_t o, int64_t first, int64_t end, int64_t range) {
    const Odometer at(shape, {outer(rows.out_strides), outer(rows.from_strides)}, o);
    T* to = out.ptr<T>() + at.offset(0) + first;
    const T* from = values.ptr<const T>() + at.offset(1) + first * from_step;
    const int64_t low = total * range / parts.ranges, high = total * (range + 1) / parts.ranges;
    if constexpr (H == How::Add && std::is_same_v<T, float>)
      if (from_step == 1) return add_rows(to, from, rows, low, high, end - first);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t target = rows.target[static_cast<size_t>(i)];
      if (target >= low && target < high)
        join_row<H>(to + target, from + rows.source[static_cast<size_t>(i)], from_step, end - first);
    }
  });
}

/// index_put(self, indices, values, accumulate).
void index_put(const Arguments& a) {
  copy_to_rows(a.tensor(0), a.result());
  const Rows rows = rows_of(a, a.result(), a.tensor(2));
  if (rows.target.empty() || product(rows.shape) == 0) return;
  with_element_type(a.result().dtype, [&]<class T>(T) {
    if (a.call.boolean(3))
      write_rows<How::Add, T>(a.result(), a.tensor(2), rows, a.threads);
    else
      write_rows<How::Replace, T>(a.result(), a.tensor(2), rows, a.threads);
  });
}

constexpr std::array kEntries{Entry{"scatter", scatter}, Entry{"index_put", index_put}};

}  // namespace

std::span<const Entry> scatters() { return kEntries; }

}  // namespace strata::native
