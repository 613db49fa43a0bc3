// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Attention with an online softmax: keys are taken in blocks, and each query row keeps the maximum and the sum of what
/// it has seen, so that the scores of a block never leave the first-level cache (attention_kernel.h). A task is one
/// batch-and-head with a range of its queries; with few queries, of its keys. Tasks are handed out one by one, since
/// order and masks make them unequal.

#include "codegen/library_attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "codegen/attention_kernel.h"
#include "codegen/library_copy.h"
#include "core/runtime/parallel.h"
#include "core/support/error.h"

namespace strata::library {
namespace {

constexpr int64_t kBlock = 128;          // keys per block
constexpr int64_t kFewRows = 8;          // up to here vectors run along the head
constexpr int64_t kTileVectors = 2;      // vectors of rows in a tile
constexpr int64_t kTaskTiles = 4;        // tiles that share a packed block of keys
constexpr int64_t kTaskFlops = 200'000;  // below, another thread costs more than it saves
constexpr int64_t kHeadFlops = 20'000;   // what beginning and ending a head takes, in operations of products

int64_t padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Grows, never shrinks; one per thread.
std::byte* thread_scratch(int64_t bytes) {
  thread_local std::unique_ptr<std::byte, decltype(&std::free)> memory(nullptr, &std::free);
  thread_local int64_t size = 0;
  if (bytes > size) {
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(padded(bytes, 64)))));
    size = memory ? bytes : 0;
  }
  return memory.get();
}

/// Parts of one piece of memory, each on a line of its own. The first pass (no memory) only counts.
class Carver {
 public:
  explicit Carver(std::byte* memory) : memory_(memory) {}
  template <class T>
  void take(T*& p, int64_t count) {
    p = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    used_ += padded(count * static_cast<int64_t>(sizeof(T)), 64);
  }
  int64_t used() const { return used_; }

 private:
  std::byte* memory_;
  int64_t used_ = 0;
};

/// The call's sizes and operands for one run of it.
struct Problem {
  View q, k, v, mask, out;
  bool has_mask = false, causal = false, empty_is_nan = false;
  bool replaces = false;  ///< a bool mask replaces scores by `fill`, else it adds `fill` to them
  double scale = 1, fill = -std::numeric_limits<double>::infinity();
  int64_t rows = 0, keys = 0, e = 0, values = 0, batch = 1;

  /// Grouped heads: where the operand has fewer than the result, each serves as many of them in a row.
  int64_t batch_offset(const View& view, int64_t index) const {
    int64_t at = 0;
    for (size_t d = out.rank() - 2; d-- > 0;) {
      const int64_t i = index % out.shape[d];
      at += (view.shape[d] == out.shape[d] ? i : i * view.shape[d] / out.shape[d]) * view.strides[d];
      index /= out.shape[d];
    }
    return at * static_cast<int64_t>(dtype_size(view.dtype));
  }
  AttentionMatrix matrix(const StepArgs& args, const View& view, int64_t index) const {
    return {args.at(view.slot) + batch_offset(view, index), view.dtype, view.strides[view.rank() - 2],
            view.strides[view.rank() - 1]};
  }
};

const std::byte* address(const AttentionMatrix& m, int64_t row, int64_t column) {
  return static_cast<const std::byte*>(m.data) +
         (row * m.row_stride + column * m.column_stride) * static_cast<int64_t>(dtype_size(m.dtype));
}
AttentionMatrix part(const AttentionMatrix& m, int64_t row, int64_t column) {
  return {address(m, row, column), m.dtype, m.row_stride, m.column_stride};
}

/// Elements of two bytes as they are.
void copy_halves(const AttentionMatrix& m, int64_t rows, int64_t columns, int64_t filled, uint16_t* to) {
  for (int64_t r = 0; r < rows; ++r, to += filled) {
    const auto* from = reinterpret_cast<const uint16_t*>(address(m, r, 0));
    if (m.column_stride == 1)
      std::memcpy(to, from, static_cast<size_t>(columns) * sizeof *to);
    else
      for (int64_t c = 0; c < columns; ++c) to[c] = from[c * m.column_stride];
    std::fill(to + columns, to + filled, uint16_t{0});
  }
}

template <class T>
constexpr DType kDType = sizeof(T) == 8 ? DType::F64 : DType::F32;
template <class T>
constexpr int64_t kLaneCount = 64 / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr T kNothing = -std::numeric_limits<T>::infinity();

template <class T>
MaskKind mask_kind(const Problem& p) {
  if (!p.has_mask) return MaskKind::None;
  if (p.mask.dtype != DType::Bool) return MaskKind::Add;
  return p.replaces ? MaskKind::Fill : MaskKind::Hide;
}

/// Row i of rows `first` on in causal order: where a key of its block that it does not see has a value that is not
/// finite, the result is NaN. `values` are those of keys [key, key + n), row by row.
template <class T, class Out>
void spoil_hidden(const T* values, int64_t key, int64_t n, int64_t width, int64_t first, int64_t rows, Out out) {
  if (all_finite(values, n * width)) return;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t c = 0; c < width; ++c) {
      if (std::isfinite(values[j * width + c])) continue;
      const int64_t block = (key + j) / kCausalKeys * kCausalKeys;
      for (int64_t r = std::max<int64_t>(0, block - first); r < rows && first + r < key + j; ++r)
        out(r, c) = std::numeric_limits<T>::quiet_NaN();
    }
  }
}
/// Behind the keys that the row before `end` looks at.
int64_t end_of_hidden(const Problem& p, int64_t end) { return std::min(p.keys, padded(end, kCausalKeys)); }

/// result = out / sum; rows that saw no key are 0 or NaN.
template <class T>
void finish_rows(const Problem& p, T* out, const T* sum, int64_t rows, int64_t width, const AttentionMatrix& to) {
  for (int64_t r = 0; r < rows; ++r) {
    const T inverse = sum[r] == 0 ? (p.empty_is_nan ? std::numeric_limits<T>::quiet_NaN() : T(0)) : T(1) / sum[r];
    for (int64_t c = 0; c < p.values; ++c) out[r * width + c] *= inverse;
  }
  store_rows(out, width, rows, p.values, to);
}

// -------------------------------------------------------------------------------------------------------------
// many rows

/// Rows [first, last) of one batch index. `Pairs`: bfloat16 is multiplied as it is.
template <class T, bool Pairs>
class TileTask {
 public:
  TileTask(const Problem& p, const StepArgs& args, int64_t index, int64_t first, int64_t last)
      : p_(p),
        first_(first),
        rows_(last - first),
        q_(p.matrix(args, p.q, index)),
        k_(p.matrix(args, p.k, index)),
        v_(p.matrix(args, p.v, index)),
        out_to_(p.matrix(args, p.out, index)) {
    if (p.has_mask) mask_from_ = p.matrix(args, p.mask, index);
    matrices_ = Pairs && has_bfloat16_matrices();
    fill_to_ = matrices_ ? kAttentionMatrix : kAttentionKeys;
    block_ = std::min(kBlock, padded(p.keys, fill_to_));
    words_ = Pairs ? (p.e + 1) / 2 : p.e;
    width_ = padded(p.values, fill_to_);
    kind_ = mask_kind<T>(p);
    row_mask_ = p.has_mask && (mask_from_.row_stride != 0 && p.rows > 1);
  }

  /// False: out of memory.
  bool run() {
    if (!allocate()) return false;
    pack_queries();
    const int64_t seen = p_.causal ? std::min(p_.keys, first_ + rows_) : p_.keys;
    for (int64_t key = 0; key < seen; key += block_) block(key, std::min(block_, seen - key));
    if (p_.causal) spoil();
    finish();
    return true;
  }

 private:
  static constexpr int64_t kLanes = kLaneCount<T>;

  int64_t padded_rows() const { return padded(rows_, kLanes); }
  int64_t vectors_at(int64_t row) const { return std::min(kTileVectors, (padded_rows() - row) / kLanes); }

  bool allocate() {
    for (std::byte* memory = nullptr;;) {
      Carver c(memory);
      const int64_t tile_rows = kTileVectors * kLanes, head = padded(Pairs ? words_ : p_.e, kLanes);
      c.take(qt_, head * padded_rows());
      c.take(maximum_, padded_rows());
      c.take(sum_, padded_rows());
      c.take(out_, width_ * padded_rows());
      c.take(k_block_, block_ * (Pairs ? 2 * words_ : words_));
      c.take(v_block_, block_ * width_);
      c.take(turned_, matrices_ ? padded(block_ / 2, kLanes) * width_ : 0);
      c.take(scores_, block_ * tile_rows);
      c.take(mask_, row_mask_ ? padded(block_, kLanes) * tile_rows : padded(block_, kLanes));
      c.take(dense_, tile_rows * std::max({head, padded(block_, kLanes), padded(width_, kLanes)}));
      if (memory) return true;
      if (!(memory = thread_scratch(c.used()))) return false;
    }
  }

  void pack_queries() {
    const int64_t head = padded(Pairs ? words_ : p_.e, kLanes);
    for (int64_t row = 0; row < rows_; row += kTileVectors * kLanes) {
      const int64_t vectors = vectors_at(row), n = std::min(rows_ - row, vectors * kLanes);
      if constexpr (Pairs)
        copy_halves(part(q_, first_ + row, 0), n, p_.e, 2 * head, reinterpret_cast<uint16_t*>(dense_));
      else
        pack_rows(part(q_, first_ + row, 0), n, p_.e, head, dense_, head);
      pack_transposed(dense_, head, n, head, vectors, qt_ + row * head);
    }
    std::fill(maximum_, maximum_ + padded_rows(), kNothing<T>);
    std::fill(sum_, sum_ + padded_rows(), T(0));
    std::fill(out_, out_ + width_ * padded_rows(), T(0));
  }

  /// Whether the tile can read rows of this operand where they lie. Far apart, they fall on few lines of the cache.
  bool in_place(const AttentionMatrix& m, int64_t n) const {
    return m.dtype == kDType<T> && m.column_stride == 1 && m.row_stride <= 2 * n && n % kAttentionKeys == 0;
  }

  void pack_keys(AttentionTile<T>& t, int64_t key, int64_t live) {
    const AttentionMatrix from = part(k_, key, 0);
    t.k_stride = words_;
    t.k = k_block_;
    if constexpr (Pairs) {
      const bool aligned = reinterpret_cast<uintptr_t>(from.data) % 4 == 0;
      if (aligned && from.column_stride == 1 && from.row_stride % 2 == 0 && p_.e % 2 == 0 && live == t.keys) {
        t.k = from.data;
        t.k_stride = from.row_stride / 2;
        return;
      }
      auto* to = reinterpret_cast<uint16_t*>(k_block_);
      copy_halves(from, live, p_.e, 2 * words_, to);
      std::fill(to + live * 2 * words_, to + t.keys * 2 * words_, uint16_t{0});
    } else if (in_place(from, p_.e) && live == t.keys) {
      t.k = from.data;
      t.k_stride = from.row_stride;
    } else {
      pack_rows(from, live, p_.e, words_, k_block_, words_);
      std::fill(k_block_ + live * words_, k_block_ + t.keys * words_, T(0));
    }
  }

  /// Whether elements of these rows are numbers; `dense_` has room for some at a time.
  bool are_finite(const AttentionMatrix& m, int64_t rows, int64_t columns) {
    for (int64_t row = 0; row < rows; row += kLanes) {
      const int64_t n = std::min(rows - row, kLanes);
      pack_rows(part(m, row, 0), n, columns, columns, dense_, columns);
      if (!all_finite(dense_, n * columns)) return false;
    }
    return true;
  }

  /// Whether keys that no row sees may be left out: their weights of 0 make nothing of their values, as far as operands
  /// tell. A mask that is added leaves scores that are no numbers what they are.
  bool may_skip(int64_t key, int64_t live) {
    return p_.fill == kNothing<double> && are_finite(part(v_, key, 0), live, p_.values) &&
           (kind_ != MaskKind::Hide ||
            (are_finite(part(k_, key, 0), live, p_.e) && are_finite(part(q_, first_, 0), rows_, p_.e)));
  }

  void spoil() {
    const int64_t end = end_of_hidden(p_, first_ + rows_);
    for (int64_t key = first_ + 1; key < end; key += block_) {
      const int64_t n = std::min(block_, end - key);
      pack_rows(part(v_, key, 0), n, p_.values, width_, v_block_, width_);
      spoil_hidden(v_block_, key, n, width_, first_, rows_, [&](int64_t r, int64_t c) -> T& {
        const int64_t tile = r / (kTileVectors * kLanes) * kTileVectors * kLanes;
        return out_[tile * width_ + c * vectors_at(tile) * kLanes + r - tile];
      });
    }
  }

  void pack_values(AttentionTile<T>& t, int64_t key, int64_t live) {
    const AttentionMatrix from = part(v_, key, 0);
    t.v_stride = width_;
    t.v = v_block_;
    if constexpr (Pairs) {
      auto* to = reinterpret_cast<uint32_t*>(v_block_);
      const auto* rows = static_cast<const uint16_t*>(from.data);
      int64_t stride = from.row_stride;
      if (from.column_stride != 1) {
        auto* halves = reinterpret_cast<uint16_t*>(to + t.keys / 2 * width_);
        copy_halves(from, live, p_.values, width_, halves);
        rows = halves;
        stride = width_;
      }
      pack_pairs(rows, stride, live, p_.values, t.keys, width_, to);
      if (!matrices_) return;
      const int64_t pairs = t.keys / 2;
      t.v_stride = padded(pairs, kLanes);
      t.v = turned_;
      pack_transposed(v_block_, width_, pairs, width_, t.v_stride / kLanes, turned_);
    } else if (in_place(from, p_.values) && live == t.keys) {
      t.v = from.data;
      t.v_stride = from.row_stride;
    } else {
      pack_rows(from, live, p_.values, width_, v_block_, width_);
      std::fill(v_block_ + live * width_, v_block_ + t.keys * width_, T(0));
    }
  }

  /// The mask of a block that is the same for all rows. False: no row sees any of its keys, nor what is behind them.
  bool load_key_mask(AttentionTile<T>& t, int64_t key, int64_t live) {
    t.kind = kind_;
    t.mask = mask_;
    t.mask_stride = 0;
    if (kind_ == MaskKind::None || row_mask_) return true;
    pack_rows(part(mask_from_, 0, key), 1, live, live, mask_, live);
    if (kind_ == MaskKind::Add) return true;
    const auto shown = live - std::count(mask_, mask_ + live, T(0));
    if (shown == live) t.kind = MaskKind::None;
    return shown > 0 || !may_skip(key, live);
  }

  enum class Shown : uint8_t { None, Some, All };

  /// What `n` rows see of a block. Masks of causal order, and of whole sequences side by side, are mostly all or
  /// nothing.
  Shown shown_in(int64_t row, int64_t n, int64_t key, int64_t live) const {
    if (mask_from_.dtype != DType::Bool || mask_from_.column_stride != 1) return Shown::Some;
    int64_t count = 0;
    for (int64_t r = 0; r < n; ++r) {
      const auto* shown = reinterpret_cast<const uint8_t*>(address(mask_from_, first_ + row + r, key));
      for (int64_t c = 0; c < live; ++c) count += shown[c] != 0;
      if (count != 0 && count != (r + 1) * live) return Shown::Some;
    }
    return count == 0 ? Shown::None : Shown::All;
  }

  void load_row_mask(AttentionTile<T>& t, int64_t row, int64_t key, int64_t live) {
    const int64_t lanes = t.vectors * kLanes, n = std::min(rows_ - row, lanes), filled = padded(live, kLanes);
    pack_rows(part(mask_from_, first_ + row, key), n, live, filled, dense_, filled);
    pack_transposed(dense_, filled, n, filled, t.vectors, mask_);
    t.mask_stride = lanes;
  }

  void block(int64_t key, int64_t live) {
    AttentionTile<T> t{};
    t.keys = padded(live, fill_to_);
    t.live = live;
    t.e = words_;
    t.width = width_;
    t.scale = static_cast<T>(p_.scale);
    t.fill = static_cast<T>(p_.fill);
    t.scores = scores_;
    if (!load_key_mask(t, key, live)) return;
    pack_keys(t, key, live);
    pack_values(t, key, live);
    const int64_t head = padded(Pairs ? words_ : p_.e, kLanes);
    std::optional<bool> skips;
    for (int64_t row = 0; row < rows_; row += kTileVectors * kLanes) {
      t.vectors = vectors_at(row);
      t.causal_from = p_.causal ? first_ + row - key : INT32_MAX;
      if (t.causal_from + t.vectors * kLanes <= 0) continue;
      if (row_mask_) {
        const Shown shown = shown_in(row, std::min(rows_ - row, t.vectors * kLanes), key, live);
        if (shown == Shown::None && !skips) skips = may_skip(key, live);
        if (shown == Shown::None && *skips) continue;
        t.kind = shown == Shown::All ? MaskKind::None : kind_;
        if (shown != Shown::All) load_row_mask(t, row, key, live);
      }
      t.q = qt_ + row * head;
      t.maximum = maximum_ + row;
      t.sum = sum_ + row;
      t.out = out_ + row * width_;
      if constexpr (Pairs)
        attend_tile_bfloat16(t, matrices_);
      else
        attend_tile(t);
    }
  }

  void finish() {
    const int64_t stride = padded(width_, kLanes);
    for (int64_t row = 0; row < rows_; row += kTileVectors * kLanes) {
      const int64_t vectors = vectors_at(row), n = std::min(rows_ - row, vectors * kLanes);
      unpack_transposed(out_ + row * width_, vectors, n, p_.values, dense_, stride);
      finish_rows(p_, dense_, sum_ + row, n, stride, part(out_to_, first_ + row, 0));
    }
  }

  const Problem& p_;
  int64_t first_, rows_, block_, words_, width_, fill_to_;
  AttentionMatrix q_, k_, v_, mask_from_{}, out_to_;
  MaskKind kind_;
  bool row_mask_, matrices_;
  T *qt_, *maximum_, *sum_, *out_, *k_block_, *v_block_, *turned_, *scores_, *mask_, *dense_;
};

// -------------------------------------------------------------------------------------------------------------
// few rows

/// The state of all rows of a batch index over some of its keys.
template <class T>
struct LineState {
  T *maximum, *sum, *out;
  LineState(T* memory, int64_t rows, int64_t width) : maximum(memory), sum(memory + rows), out(memory + 2 * rows) {
    std::fill(maximum, maximum + rows, kNothing<T>);
    std::fill(sum, sum + rows + rows * width, T(0));
  }
};
template <class T>
int64_t line_width(const Problem& p) {
  return padded(p.values, kLaneCount<T>);
}
template <class T>
int64_t line_state_size(const Problem& p) {
  return padded(p.rows * (line_width<T>(p) + 2), kLaneCount<T>);
}

template <class T>
class LineTask {
 public:
  LineTask(const Problem& p, const StepArgs& args, int64_t index)
      : p_(p), q_(p.matrix(args, p.q, index)), k_(p.matrix(args, p.k, index)), v_(p.matrix(args, p.v, index)) {
    if (p.has_mask) mask_from_ = p.matrix(args, p.mask, index);
    e_ = padded(p.e, kLanes);
    width_ = line_width<T>(p);
    const bool dense = k_.column_stride == 1 && v_.column_stride == 1 && p.e == e_ && p.values == width_;
    narrow_ = dense && sizeof(T) == 4 && k_.dtype == DType::BF16;
    in_place_ = narrow_ || (dense && k_.dtype == kDType<T>);
  }

  /// Keys [first, last) into `state`. False: out of memory.
  bool run(const LineState<T>& state, int64_t first, int64_t last) {
    if (!allocate()) return false;
    pack_rows(q_, p_.rows, p_.e, e_, qp_, e_);
    const int64_t seen = p_.causal ? std::min(last, p_.rows) : last;
    for (int64_t key = first; key < seen; key += kBlock) block(state, key, std::min(kBlock, seen - key));
    if (p_.causal) spoil(state, std::max<int64_t>(first, 1), std::min(last, end_of_hidden(p_, p_.rows)));
    return true;
  }

 private:
  static constexpr int64_t kLanes = kLaneCount<T>;

  bool allocate() {
    for (std::byte* memory = nullptr;;) {
      Carver c(memory);
      c.take(qp_, p_.rows * e_);
      c.take(scores_, kAttentionLineRows * kBlock);
      c.take(mask_, p_.has_mask ? p_.rows * kBlock : 0);
      c.take(k_block_, in_place_ ? 0 : kBlock * e_);
      c.take(v_block_, in_place_ && !p_.causal ? 0 : kBlock * width_);
      if (memory) return true;
      if (!(memory = thread_scratch(c.used()))) return false;
    }
  }

  void spoil(const LineState<T>& state, int64_t from, int64_t end) {
    for (int64_t key = from; key < end; key += kBlock) {
      const int64_t n = std::min(kBlock, end - key);
      pack_rows(part(v_, key, 0), n, p_.values, width_, v_block_, width_);
      spoil_hidden(v_block_, key, n, width_, 0, p_.rows,
                   [&](int64_t r, int64_t c) -> T& { return state.out[r * width_ + c]; });
    }
  }

  void block(const LineState<T>& state, int64_t key, int64_t keys) {
    AttentionLines<T> t{};
    t.keys = keys;
    t.e = e_;
    t.width = width_;
    t.narrow = narrow_;
    t.scale = static_cast<T>(p_.scale);
    t.fill = static_cast<T>(p_.fill);
    t.kind = mask_kind<T>(p_);
    t.mask_stride = t.score_stride = kBlock;
    t.scores = scores_;
    t.k = in_place_ ? static_cast<const void*>(address(k_, key, 0)) : k_block_;
    t.v = in_place_ ? static_cast<const void*>(address(v_, key, 0)) : v_block_;
    t.k_stride = in_place_ ? k_.row_stride : e_;
    t.v_stride = in_place_ ? v_.row_stride : width_;
    if (!in_place_) {
      pack_rows(part(k_, key, 0), keys, p_.e, e_, k_block_, e_);
      pack_rows(part(v_, key, 0), keys, p_.values, width_, v_block_, width_);
    }
    if (p_.has_mask) pack_rows(part(mask_from_, 0, key), p_.rows, keys, keys, mask_, kBlock);
    for (int64_t row = 0; row < p_.rows; row += kAttentionLineRows) {
      t.rows = std::min(kAttentionLineRows, p_.rows - row);
      t.causal_from = p_.causal ? row - key : INT32_MAX;
      t.q = qp_ + row * e_;
      t.mask = mask_ + row * kBlock;
      t.maximum = state.maximum + row;
      t.sum = state.sum + row;
      t.out = state.out + row * width_;
      attend_lines(t);
    }
  }

  const Problem& p_;
  AttentionMatrix q_, k_, v_, mask_from_{};
  int64_t e_, width_;
  bool narrow_, in_place_;
  T *qp_, *scores_, *mask_, *k_block_, *v_block_;
};

// -------------------------------------------------------------------------------------------------------------
// the step

/// Aligned to the result's rank; batch dimensions of one element are broadcast.
View spread(const View& view, size_t rank) {
  View v = with_rank(view, rank);
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (v.shape[d] == 1) v.strides[d] = 0;
  }
  return v;
}

/// The heads that share a key head become rows when there is one query only.
void stack_heads(Problem& p) {
  const size_t rank = p.out.rank(), head = rank - 3, row = rank - 2;
  if (rank < 3 || p.rows != 1 || p.causal || p.k.shape[head] != p.v.shape[head]) return;
  const int64_t kept = p.k.shape[head], group = kept ? p.out.shape[head] / kept : 0;
  if (group < 2 || group > kFewRows || p.q.shape[head] != p.out.shape[head]) return;
  const auto stack = [&](View& v) {
    const int64_t stride = v.shape[head] == 1 ? 0 : v.strides[head];
    v.shape[row] = group;
    v.strides[row] = stride;
    v.strides[head] = stride * group;
    v.shape[head] = kept;
  };
  stack(p.q);
  stack(p.out);
  if (p.has_mask) stack(p.mask);
  p.rows = group;
  p.batch /= group;
}

class AttentionStep : public Step {
 public:
  AttentionStep(const ConcreteCall& call, View out, Instance& instance) : call_(*call.call) {
    const size_t rank = out.rank();
    p_.out = std::move(out);
    p_.q = spread(call.operands[0], rank);
    p_.k = spread(call.operands[1], rank);
    p_.v = spread(call.operands[2], rank);
    p_.has_mask = call_.has_mask;
    p_.causal = call_.causal;
    p_.scale = call_.alpha;
    p_.fill = call_.mask_fill;
    p_.replaces = call_.mask_replaces;
    p_.rows = p_.out.shape[rank - 2];
    p_.values = p_.out.shape[rank - 1];
    p_.keys = p_.k.shape[rank - 2];
    p_.e = p_.q.shape[rank - 1];
    p_.empty_is_nan = call_.empty_rows_nan && p_.keys > 0;  // a sum over no keys is 0
    for (size_t d = 0; d + 2 < rank; ++d) p_.batch *= p_.out.shape[d];
    if (p_.has_mask) widen_mask(call.operands[3], rank);
    if (p_.q.shape[rank - 2] != p_.rows || p_.k.shape[rank - 1] != p_.e || p_.v.shape[rank - 2] != p_.keys ||
        p_.v.shape[rank - 1] != p_.values) {
      throw_internal("attention " + call_.name + " with operands that do not fit: " + library::describe(p_.q) + ", " +
                     library::describe(p_.k) + ", " + library::describe(p_.v));
    }
    text_ = description();
    stack_heads(p_);
    divide(call.threads);
    if (few()) states_ = instance.scratch.take(p_.batch * splits_ * state_bytes());
  }

  void run(const StepArgs& args) override {
    // A part of the tasks for each thread, which then helps the others: rows stay with the core that has them.
    constexpr int kMostParts = 32;
    struct alignas(64) Next {
      std::atomic<int64_t> task;
    };
    std::array<Next, kMostParts> next;
    const int64_t count = std::min(threads_, kMostParts);
    for (int64_t p = 0; p < count; ++p) next[p].task.store(tasks_ * p / count, std::memory_order_relaxed);
    std::atomic<bool> failed = false;
    parallel_for_raw(threads_, 1, threads_, [&](int64_t thread, int64_t) {
      for (int64_t v = 0; v < count; ++v) {
        const int64_t p = (thread + v) % count, end = tasks_ * (p + 1) / count;
        for (int64_t i; (i = next[p].task.fetch_add(1, std::memory_order_relaxed)) < end;)
          if (!task(args, i)) failed.store(true, std::memory_order_relaxed);
      }
    });
    if (failed) throw_runtime("out of memory in attention " + call_.name);
    if (splits_ > 1) wide() ? join<double>(args) : join<float>(args);
  }

  std::string describe() const override { return text_; }

 private:
  bool wide() const { return p_.out.dtype == DType::F64; }
  bool pairs() const {
    const auto narrow = [](const View& v) { return v.dtype == DType::BF16; };
    return narrow(p_.q) && narrow(p_.k) && narrow(p_.v) && has_bfloat16_products();
  }
  bool few() const { return p_.rows <= kFewRows; }
  int64_t state_bytes() const {
    return wide() ? line_state_size<double>(p_) * static_cast<int64_t>(sizeof(double))
                  : line_state_size<float>(p_) * static_cast<int64_t>(sizeof(float));
  }

  void widen_mask(const View& given, size_t rank) {
    p_.mask = spread(given, rank);
    if (p_.mask.shape[rank - 2] == 1) p_.mask.strides[rank - 2] = 0;
    if (p_.mask.shape[rank - 1] == 1) p_.mask.strides[rank - 1] = 0;
  }

  /// Enough tasks for all threads, but not so many that packing the keys is repeated in vain.
  void divide(int threads) {
    const int64_t flops = p_.batch * (kHeadFlops + 2 * p_.rows * p_.keys * (p_.e + p_.values));
    threads_ = threads_for(flops / kTaskFlops, threads);
    const int64_t wanted = threads_ == 1 ? 1 : (4 * threads_ + p_.batch - 1) / p_.batch;
    if (few()) {
      splits_ = std::clamp<int64_t>(p_.keys / (2 * kBlock), 1, wanted);
      split_keys_ = padded((p_.keys + splits_ - 1) / splits_, kBlock);
      tasks_ = p_.batch * splits_;
      return;
    }
    const int64_t lanes = wide() ? kLaneCount<double> : kLaneCount<float>, tile = kTileVectors * lanes;
    chunk_ = std::min(padded((p_.rows + wanted - 1) / wanted, tile), kTaskTiles * tile);
    chunks_ = (p_.rows + chunk_ - 1) / chunk_;
    tasks_ = p_.batch * chunks_;
  }

  bool task(const StepArgs& args, int64_t i) const {
    if (few()) return wide() ? line_task<double>(args, i) : line_task<float>(args, i);
    // The last rows see most when order counts: they come first.
    const int64_t chunk = p_.causal ? chunks_ - 1 - i % chunks_ : i % chunks_;
    const int64_t first = chunk * chunk_, last = std::min(p_.rows, first + chunk_), index = i / chunks_;
    if (wide()) return TileTask<double, false>(p_, args, index, first, last).run();
    if (pairs()) return TileTask<float, true>(p_, args, index, first, last).run();
    return TileTask<float, false>(p_, args, index, first, last).run();
  }

  template <class T>
  bool line_task(const StepArgs& args, int64_t i) const {
    const int64_t index = i / splits_, first = i % splits_ * split_keys_;
    LineTask<T> task(p_, args, index);
    auto* memory = reinterpret_cast<T*>(args.at(states_) + i * state_bytes());
    const LineState<T> state(memory, p_.rows, line_width<T>(p_));
    if (!task.run(state, first, std::min(p_.keys, first + split_keys_))) return false;
    if (splits_ == 1) finish_rows(p_, state.out, state.sum, p_.rows, line_width<T>(p_), p_.matrix(args, p_.out, index));
    return true;
  }

  template <class T>
  void join(const StepArgs& args) const {
    const int64_t width = line_width<T>(p_), rows = p_.rows;
    for (int64_t index = 0; index < p_.batch; ++index) {
      const auto part = [&](int64_t split) {
        return reinterpret_cast<T*>(args.at(states_) + (index * splits_ + split) * state_bytes());
      };
      T* all = part(0);
      for (int64_t split = 1; split < splits_; ++split) {
        const T* other = part(split);
        for (int64_t r = 0; r < rows; ++r)
          join_states(all + r, all + rows + r, all + 2 * rows + r * width, other[r], other[rows + r],
                      other + 2 * rows + r * width, width);
      }
      finish_rows(p_, all + 2 * rows, all + rows, rows, width, p_.matrix(args, p_.out, index));
    }
  }

  std::string description() const {
    std::string text = "attention own blocked kernel with online softmax";
    if (pairs() && !few()) text += has_bfloat16_matrices() ? ", bfloat16 matrices" : ", bfloat16 products";
    text += "\n  query " + library::describe(p_.q) + "\n  key " + library::describe(p_.k) + "\n  value " +
            library::describe(p_.v) + "\n";
    if (call_.has_mask) text += "  mask " + library::describe(p_.mask) + "\n";
    return text + "  result " + library::describe(p_.out) + (call_.causal ? "\n  causal\n" : "\n");
  }

  const LibraryCall& call_;
  Problem p_;
  int threads_ = 1;
  int64_t tasks_ = 0, chunk_ = 0, chunks_ = 1, splits_ = 1, split_keys_ = 0;
  Slot states_;
  std::string text_;
};

}  // namespace

void build_attention(const ConcreteCall& call, Instance& instance) {
  instance = {};
  if (call.result.numel() == 0) return;
  if (!is_floating(call.result.dtype) || call.result.rank() < 2) {
    throw_user("attention " + call.call->name + " needs floating operands of at least 2 dimensions, found " +
               describe(call.result));
  }
  std::vector<ResultOp> ops = result_ops(call);
  View into = call.result;
  if (!ops.empty()) into = instance.scratch.tensor(accumulation_dtype(call.result.dtype), call.result.shape);
  instance.steps.push_back(std::make_unique<AttentionStep>(call, into, instance));
  if (!ops.empty()) instance.steps.push_back(make_epilogue(into, call.result, std::move(ops)));
}

}  // namespace strata::library
