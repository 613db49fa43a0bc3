// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop_split_columns.h"

#include <algorithm>
#include <limits>

#include "codegen/loop_sums.h"

namespace strata::codegen {

using namespace loop;  // NOLINT: the vocabulary of this file

namespace {

constexpr int64_t kRowChunks = 32;                // of rows: enough to share out, few enough to combine at once
constexpr int64_t kFewestRows = 16 * kRowChunks;  // fewer are not worth a second kernel
constexpr int64_t kFewestElements = 256 * 1024;   // neither is less work
constexpr int64_t kPartialLine = 16 * 1024;  // of partial results, beside as much of the operand in a cache of 32 KiB
constexpr int64_t kPartialBytes = 8 << 20;
constexpr int kLanes = 16;         // of a cache line of float32, which is a vector with AVX-512
constexpr size_t kShortBody = 16;  // instructions

bool is_simple(const Reduction& r) {
  const bool extremum = (r.combine == Combine::Max || r.combine == Combine::Min) && is_floating(r.dtype);
  return r.combine == Combine::Sum || extremum;
}

/// Whether what is added are numbers of 16 bits as they lie: of those, float32 holds the sum of thousands.
bool adds_short_floats(const Kernel& k, const Reduction& r) {
  const Scalar& value = k.scalars[r.value];
  return value.op == ScalarOp::Load && dtype_size(k.buffers[value.buffer].dtype) == 2;
}

/// Of partial results: rows are added one after the other, far more of them than a block has (loop_sums.h).
DType partial_dtype(const Kernel& k, const Reduction& r) {
  return adds_floats(r) && !adds_short_floats(k, r) ? DType::F64 : r.dtype;
}

/// The first nest with inner axes, if only scalars come before it and its reductions are simple.
std::optional<size_t> nest_of(const Kernel& k) {
  for (size_t n = 0; n < k.nests.size(); ++n) {
    const Nest& nest = k.nests[n];
    if (!nest.stores.empty() || nest.scan) return std::nullopt;
    if (nest.axes.empty()) continue;
    const bool simple = std::all_of(nest.reductions.begin(), nest.reductions.end(), is_simple);
    return simple && !nest.reductions.empty() ? std::optional(n) : std::nullopt;
  }
  return std::nullopt;
}

SymInt count_of(const Kernel& k, const std::vector<AxisId>& axes) {
  SymInt total = 1;
  for (AxisId a : axes) total = total * k.axes[a].extent;
  return total;
}

/// Whether every load goes to neighbours, or to one place, along the column axis, and at least one is of a whole line.
bool reads_lines(const Kernel& k, const Nest& nest, AxisId column) {
  bool any = false;
  for (ScalarId id : nest.body) {
    const Scalar& s = k.scalars[id];
    if (s.op != ScalarOp::Load) continue;
    const auto along = linear_in(s.index, k.axes[column].symbol);
    if (!along) return false;
    const bool line = along->coefficient == SymInt(1);
    if (!line && !(along->coefficient == SymInt(0))) return false;
    any = any || line;
    for (AxisId a : nest.axes) {
      const auto down = linear_in(s.index, k.axes[a].symbol);
      if (!down || (line && down->coefficient == SymInt(1))) return false;
    }
  }
  return any;
}

/// Of all reductions, at one point.
int64_t partial_bytes(const Kernel& k, const Nest& nest) {
  int64_t bytes = 0;
  for (const Reduction& r : nest.reductions) bytes += static_cast<int64_t>(dtype_size(partial_dtype(k, r)));
  return bytes;
}

struct Columns {
  size_t nest;
  int64_t columns;
  ShapeEnv* env;
};

std::optional<Columns> shape_of(const Kernel& k) {
  const auto n = nest_of(k);
  if (!n || k.outer.size() != 1 || !k.indirect.empty() || !k.checks.empty() || k.schedule.vector_axis >= 0)
    return std::nullopt;
  const Nest& nest = k.nests[*n];
  const auto columns = k.axes[k.outer[0]].extent.maybe_value();
  const int64_t rows = hint(count_of(k, nest.axes)).value_or(0);
  if (!columns || *columns < 64 || rows < kFewestRows || rows * *columns < kFewestElements) return std::nullopt;
  const int64_t bytes = partial_bytes(k, nest);
  if (bytes * *columns * kRowChunks > kPartialBytes || !reads_lines(k, nest, k.outer[0])) return std::nullopt;
  for (ScalarId id : nest.body)
    if (!k.scalars[id].index.is_const()) return Columns{*n, *columns, k.scalars[id].index.env()};
  return std::nullopt;
}

ScalarId neutral(Body& body, const Reduction& r, DType dtype) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (!is_floating(r.dtype)) return body.integer(0, r.dtype);
  return body.constant(r.combine == Combine::Max ? -inf : r.combine == Combine::Min ? inf : 0, dtype);
}

ScalarOp operation(const Reduction& r) {
  return r.combine == Combine::Max ? ScalarOp::Max : r.combine == Combine::Min ? ScalarOp::Min : ScalarOp::Add;
}

void replace_symbol(Kernel& k, const std::vector<ScalarId>& body, size_t symbol, const SymInt& by) {
  for (ScalarId id : body) {
    SymInt& e = k.scalars[id].index;
    if (e.is_const()) continue;
    e = substitute(e, [&](size_t s) { return s == symbol ? std::optional<SymInt>(by) : std::nullopt; });
  }
}

/// Turns a copy of the kernel into the one that works on chunks of rows and blocks of columns.
class Partial {
 public:
  Partial(SplitReduction& out, const Columns& shape, int64_t rows_at_once)
      : out_(out),
        k_(out.partial),
        body_(out.partial, *shape.env),
        shape_(shape),
        rows_at_once_(rows_at_once),
        nest_(k_.nests[shape.nest]) {}

  void run() {
    k_.name += "_partial";
    for (size_t n = shape_.nest; n-- > 0;)
      nest_.body.insert(nest_.body.begin(), k_.nests[n].body.begin(), k_.nests[n].body.end());
    k_.nests.clear();
    cut_rows();
    cut_columns();
    add_buffers();
    for (size_t r = 0; r < lines_.size(); ++r) clear(r);
    add_rows();
    for (size_t r = 0; r < lines_.size(); ++r) write(r);
    k_.schedule.grain = 1;
    if (group_ == kWideRowsAtOnce && k_.schedule.vector_width == 0 && reads_floats()) k_.schedule.vector_width = kLanes;
  }

 private:
  /// Then lanes are those of what is read, a cache line of a row at a time, and not half as many, as of its sums.
  bool reads_floats() const {
    return std::ranges::all_of(nest_.body, [&](ScalarId id) { return k_.scalars[id].dtype == DType::F32; });
  }

  /// Of several reduced axes the longest.
  void cut_rows() {
    const auto length = [&](AxisId a) { return hint(k_.axes[a].extent).value_or(1); };
    const auto longest = std::max_element(nest_.axes.begin(), nest_.axes.end(),
                                          [&](AxisId a, AxisId b) { return length(a) < length(b); });
    const SymInt extent = k_.axes[*longest].extent;
    const bool in_groups = mod(extent, rows_at_once_) == SymInt(0) && nest_.body.size() <= kShortBody;
    group_ = in_groups ? rows_at_once_ : 1;
    const SymInt groups = floordiv(extent, group_), each = ceildiv(groups, kRowChunks);
    const AxisId chunk = body_.axis("c", kRowChunks);
    chunk_ = body_.axis_index(chunk);
    const AxisId within = body_.axis("w", max(0, min(each, groups - chunk_ * each)));
    row_symbol_ = k_.axes[*longest].symbol;
    row_ = (chunk_ * each + body_.axis_index(within)) * group_;
    *longest = within;
    column_axis_ = k_.outer[0];
    k_.outer = {chunk};
  }

  void cut_columns() {
    width_ = std::min(shape_.columns, kPartialLine / partial_bytes(k_, nest_) / 64 * 64);
    extent_ = width_;
    if (width_ < shape_.columns) {
      const AxisId block = body_.axis("b", ceildiv(shape_.columns, width_));
      first_ = body_.axis_index(block) * width_;
      if (shape_.columns % width_ != 0) extent_ = min(width_, shape_.columns - first_);
      k_.outer.push_back(block);
    }
  }

  void add_buffers() {
    for (const Reduction& r : nest_.reductions) {
      const int64_t slots = kRowChunks * shape_.columns;
      results_.push_back(body_.buffer({"partial", partial_dtype(k_, r), slots, BufferRole::Output, r.node}));
      out_.scratch.push_back(static_cast<size_t>(slots) * dtype_size(partial_dtype(k_, r)));
    }
    for (const Reduction& r : nest_.reductions)
      lines_.push_back(body_.buffer({"line", partial_dtype(k_, r), width_, BufferRole::Local, r.node}));
  }

  void store(BufferId buffer, const SymInt& index, ScalarId value) {
    Store s;
    s.buffer = buffer;
    s.index = index;
    s.value = value;
    s.node = body_.node;
    body_.store(s);
  }

  void clear(size_t r) {
    const AxisId c = body_.axis("j", extent_);
    body_.begin_nest({c});
    body_.node = nest_.reductions[r].node;
    store(lines_[r], body_.axis_index(c), neutral(body_, nest_.reductions[r], partial_dtype(k_, nest_.reductions[r])));
  }

  void add_rows() {
    const AxisId c = body_.axis("j", extent_);
    std::vector<AxisId> axes = nest_.axes;
    axes.push_back(c);
    body_.begin_nest(axes);
    replace_symbol(k_, nest_.body, k_.axes[column_axis_].symbol, first_ + body_.axis_index(c));
    std::vector<std::vector<ScalarId>> values(lines_.size());  // of each reduction, by row of the group
    for (int64_t u = 0; u < group_; ++u) {
      const std::vector<Reduction> reductions = add_body(row_ + u);
      for (size_t r = 0; r < lines_.size(); ++r) {
        const Reduction& reduction = reductions[r];
        body_.node = reduction.node;
        ScalarId value = reduction.value;
        if (reduction.mask != kNone)
          value = body_.select(reduction.mask, value, neutral(body_, reduction, reduction.dtype));
        values[r].push_back(value);
      }
    }
    for (size_t r = 0; r < lines_.size(); ++r) {
      const Reduction& reduction = nest_.reductions[r];
      body_.node = reduction.node;
      while (values[r].size() > 1) values[r] = by_twos(operation(reduction), values[r]);
      const ScalarId value = body_.cast(values[r][0], partial_dtype(k_, reduction));
      const ScalarId old = body_.load(lines_[r], body_.axis_index(c));
      store(lines_[r], body_.axis_index(c), body_.binary(operation(reduction), old, value));
    }
  }

  /// Appends the nest's body at a row; gives the reductions of what it computes.
  std::vector<Reduction> add_body(const SymInt& row) {
    std::vector<ScalarId> copy(k_.scalars.size(), kNone), added;
    const auto copied = [&](ScalarId id) { return id == kNone || copy[id] == kNone ? id : copy[id]; };
    for (const ScalarId id : nest_.body) {
      Scalar s = k_.scalars[id];
      s.a = copied(s.a), s.b = copied(s.b), s.c = copied(s.c);
      copy[id] = static_cast<ScalarId>(k_.scalars.size());
      k_.scalars.push_back(std::move(s));
      added.push_back(copy[id]);
    }
    replace_symbol(k_, added, row_symbol_, row);
    auto& body = k_.nests.back().body;
    body.insert(body.end(), added.begin(), added.end());
    std::vector<Reduction> reductions = nest_.reductions;
    for (Reduction& r : reductions) r.value = copied(r.value), r.mask = copied(r.mask);
    return reductions;
  }

  std::vector<ScalarId> by_twos(ScalarOp op, const std::vector<ScalarId>& values) {
    std::vector<ScalarId> pairs;
    for (size_t i = 0; i + 1 < values.size(); i += 2) pairs.push_back(body_.binary(op, values[i], values[i + 1]));
    return pairs;
  }

  void write(size_t r) {
    const AxisId c = body_.axis("j", extent_);
    body_.begin_nest({c});
    body_.node = nest_.reductions[r].node;
    store(results_[r], chunk_ * shape_.columns + first_ + body_.axis_index(c),
          body_.load(lines_[r], body_.axis_index(c)));
  }

  SplitReduction& out_;
  Kernel& k_;
  Body body_;
  const Columns& shape_;
  const int64_t rows_at_once_;
  Nest nest_;
  AxisId column_axis_ = 0;
  SymInt chunk_, first_ = 0, extent_, row_;
  size_t row_symbol_ = 0;
  int64_t width_ = 0, group_ = 1;
  std::vector<BufferId> results_, lines_;
};

/// What reads a sum reads it rounded.
void round_sums(Kernel& k, const Columns& shape, const std::vector<DType>& types) {
  for (Nest& nest : k.nests)
    for (size_t i = 0; i < nest.body.size(); ++i) {
      const ScalarId id = nest.body[i];
      const Scalar sum = k.scalars[id];
      if (sum.op != ScalarOp::Reduced || sum.a != shape.nest || sum.dtype == types[sum.b]) continue;
      const auto wide = static_cast<ScalarId>(k.scalars.size());
      k.scalars.push_back(sum);
      k.scalars[wide].dtype = types[sum.b];
      Scalar rounded = sum;
      rounded.op = ScalarOp::Cast;
      rounded.a = wide;
      rounded.b = kNone;
      rounded.integer = 0;
      k.scalars[id] = rounded;
      nest.body.insert(nest.body.begin() + static_cast<std::ptrdiff_t>(i), wide);
      ++i;
    }
}

/// The kernel with the partial results in place of what they are made from.
void combine_partials(Kernel& k, const Columns& shape) {
  k.name += "_combine";
  Body body(k, *shape.env);
  const AxisId part = body.axis("c", kRowChunks);
  const SymInt column = body.axis_index(k.outer[0]);
  const std::vector<Reduction> reductions = k.nests[shape.nest].reductions;
  const std::vector<Nest> rest(k.nests.begin() + static_cast<std::ptrdiff_t>(shape.nest) + 1, k.nests.end());
  k.nests.resize(shape.nest);
  body.begin_nest({part});
  std::vector<DType> types;
  for (Reduction r : reductions) {
    body.node = r.node;
    const DType dtype = types.emplace_back(partial_dtype(k, r));
    const BufferId from = body.buffer({"partial", dtype, kRowChunks * shape.columns, BufferRole::Input, r.node});
    r.mask = kNone;
    r.value = body.load(from, body.axis_index(part) * shape.columns + column);
    r.dtype = dtype;
    body.reduce(r);
  }
  k.nests.insert(k.nests.end(), rest.begin(), rest.end());
  round_sums(k, shape, types);
}

}  // namespace

std::optional<SplitReduction> split_columns(const Kernel& kernel, const Target& target) {
  const auto shape = shape_of(kernel);
  if (!shape) return std::nullopt;
  SplitReduction out{kernel, kernel, {}};
  Partial(out, *shape, target.avx512 ? kWideRowsAtOnce : kRowsAtOnce).run();
  combine_partials(out.combine, *shape);
  return out;
}

}  // namespace strata::codegen
