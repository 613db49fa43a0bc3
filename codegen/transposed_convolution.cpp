// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Channels lie innermost throughout: rows of the product are input positions, its columns (tap, channel). A line of
/// the result is summed in a buffer that has the positions cut off by the padding too: there the taps of one row of the
/// kernel lie side by side, so that what an input position adds is one dense run. Where no two input positions add to
/// the same place (stride and kernel are equal), that buffer is the product of a line of the input with one row of
/// taps.

#include "codegen/transposed_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "codegen/attention_kernel.h"
#include "codegen/library_copy.h"
#include "codegen/panel_matmul.h"
#include "codegen/small_matmul.h"
#include "codegen/small_product.h"
#include "core/runtime/parallel.h"
#include "core/support/vector_clones.h"

namespace strata::library {
namespace {

constexpr int64_t kMostBytes = 8 << 20;    // of the products; more is read from memory once too often
constexpr int64_t kTaskElements = 32'768;  // below, another thread costs more than it saves
constexpr int64_t kTaskProducts = 50'000;  // the same, where the elements are computed

using Sizes = std::array<int64_t, 3>;  // depth, height, width; 1 where there are fewer

struct Geometry {
  int64_t batch, in_channels, channels, taps;
  Sizes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{}, dilation{1, 1, 1};
  int64_t positions() const { return in[0] * in[1] * in[2]; }
  int64_t lines() const { return batch * out[0] * out[1]; }
  /// Whether each place of the result is made by one input position.
  bool is_apart() const {
    for (size_t d = 0; d < 3; ++d)
      if (out[d] != in[d] * stride[d]) return false;  // more: output padding
    return kernel == stride && dilation == Sizes{1, 1, 1} && padding == Sizes{};
  }
};

Geometry geometry_of(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  const View &x = call.operands[0], &w = call.operands[1], &y = call.result;
  Geometry g{x.shape[0], x.shape[1], y.shape[1], 1};
  const size_t spatial = x.rank() - 2;
  for (size_t d = 0; d < spatial; ++d) {
    const size_t at = 3 - spatial + d;
    g.in[at] = x.shape[d + 2];
    g.out[at] = y.shape[d + 2];
    g.kernel[at] = w.shape[d + 2];
    g.stride[at] = c.stride[d];
    g.padding[at] = c.padding[d];
    g.dilation[at] = c.dilation[d];
  }
  g.taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  return g;
}

/// to[i * to_step + j] += from[i * from_step + j] for j < n, i < count
STRATA_VECTOR_CLONES void add_runs(float* to, int64_t to_step, const float* from, int64_t from_step, int64_t n,
                                   int64_t count) {
  for (int64_t i = 0; i < count; ++i, to += to_step, from += from_step)
    for (int64_t j = 0; j < n; ++j) to[j] += from[j];
}

STRATA_VECTOR_CLONES void store_channel(const float* line, int64_t channels, float* to, int64_t step, int64_t n) {
  if (step == 1) {
    for (int64_t x = 0; x < n; ++x) to[x] = line[x * channels];
  } else {
    for (int64_t x = 0; x < n; ++x) to[x * step] = line[x * channels];
  }
}

/// Work on lines as they are summed: per-channel operands and what is one instruction. NaN stays NaN.
bool is_done_in_lines(const ResultOp& op) {
  if (op.kind == PostOp::Kind::Relu || op.kind == PostOp::Kind::Linear) return true;
  if (!op.has_operand() || op.operand.dtype != DType::F32) return false;
  const View& v = op.operand;
  for (size_t d = 0; d < v.rank(); ++d) {
    if (d != 1 && v.shape[d] != 1 && v.strides[d] != 0) return false;
  }
  return v.shape[1] == 1 || v.strides[1] <= 1;
}

STRATA_VECTOR_CLONES void work_on_line(PostOp::Kind kind, float a, float b, const float* y, int64_t y_step,
                                       int64_t channels, float* line, int64_t positions) {
  const int64_t n = channels * positions;
  if (kind == PostOp::Kind::Relu) {
    for (int64_t i = 0; i < n; ++i) line[i] = line[i] < 0 ? 0 : line[i];
    return;
  }
  if (kind == PostOp::Kind::Linear) {
    for (int64_t i = 0; i < n; ++i) line[i] = line[i] * a + b;
    return;
  }
  for (int64_t x = 0; x < positions; ++x, line += channels) {
    if (kind == PostOp::Kind::Mul)
      for (int64_t o = 0; o < channels; ++o) line[o] *= y[o * y_step];
    else if (kind == PostOp::Kind::Add)
      for (int64_t o = 0; o < channels; ++o) line[o] += y[o * y_step];
    else
      for (int64_t o = 0; o < channels; ++o) line[o] -= y[o * y_step];
  }
}

/// result[n, o, ...] = bias[o] + what the taps come to, line by line, then work on it.
class Lines : public Step {
 public:
  /// `tasks`: what the work is enough for.
  Lines(const Geometry& g, std::optional<View> bias, std::vector<ResultOp> ops, View result, int64_t tasks, int threads)
      : g_(g), bias_(std::move(bias)), ops_(std::move(ops)), result_(std::move(result)) {
    const size_t spatial = result_.rank() - 2;
    for (size_t d = 0; d < spatial; ++d) result_step_[3 - spatial + d] = result_.strides[d + 2];
    threads_ = threads_for(tasks, threads);
    // Of one dimension there is one line for each sample: pieces of it, then, that begin with a new input position.
    const int64_t wanted = (threads_ + g.lines() - 1) / g.lines();
    span_ = ((g.out[2] + wanted - 1) / wanted + g.stride[2] - 1) / g.stride[2] * g.stride[2];
    spans_ = (g.out[2] + span_ - 1) / span_;
    threads_ = static_cast<int>(std::min<int64_t>(threads_, g.lines() * spans_));
  }

  void run(const StepArgs& args) override {
    parallel_parts(g_.lines() * spans_, threads_, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) work(args, begin);
    });
  }

  std::string describe() const override {
    std::string text = describe_taps() + fmt::format("  result {}\n", library::describe(result_));
    for (const ResultOp& op : ops_) text += "  " + library::describe(op) + "\n";
    return text;
  }

 protected:
  /// A piece of a line, and the buffer that it is summed in: positions of both count from where the padding begins.
  struct Span {
    int64_t first, last;    ///< of input positions that reach it: [first, last)
    int64_t origin;         ///< position of the buffer's first element
    int64_t begin, length;  ///< in the buffer: where the piece begins; all of it
  };

  /// What `span` of line (z, y) of sample n is, all channels of each position side by side.
  virtual void fill(const StepArgs& args, int64_t n, int64_t z, int64_t y, const Span& span, float* line) const = 0;
  virtual std::string describe_taps() const = 0;

  static const float* floats(const StepArgs& args, const View& v) {
    return reinterpret_cast<const float*>(args.at(v.slot));
  }

  const Geometry g_;
  const std::optional<View> bias_;

 private:
  /// Output positions [x, x + n).
  Span span_of(int64_t x, int64_t n) const {
    const int64_t from = x + g_.padding[2], to = from + n, reach = (g_.kernel[2] - 1) * g_.dilation[2];
    Span s{};
    s.first = std::max<int64_t>(0, (from - reach + g_.stride[2] - 1) / g_.stride[2]);
    s.last = std::max(s.first, std::min(g_.in[2], (to - 1) / g_.stride[2] + 1));
    s.origin = s.first < s.last ? std::min(from, s.first * g_.stride[2]) : from;
    s.begin = from - s.origin;
    const int64_t end = s.first < s.last ? std::max(to, (s.last - 1) * g_.stride[2] + reach + 1) : to;
    s.length = end - s.origin;
    return s;
  }

  void work(const StepArgs& args, int64_t index) const {
    const int64_t x = index % spans_ * span_, count = std::min(span_, g_.out[2] - x);
    index /= spans_;
    const int64_t y = index % g_.out[1], z = index / g_.out[1] % g_.out[0], n = index / g_.out[1] / g_.out[0];
    const int64_t channels = g_.channels;
    const Span span = span_of(x, count);
    thread_local std::vector<float> line;
    line.resize(static_cast<size_t>(span.length * channels));
    fill(args, n, z, y, span, line.data());
    float* shown = line.data() + span.begin * channels;
    for (const ResultOp& op : ops_) {
      const float* operand = op.has_operand() ? floats(args, op.operand) : nullptr;
      const int64_t step = op.has_operand() && op.operand.shape[1] > 1 ? op.operand.strides[1] : 0;
      work_on_line(op.kind, static_cast<float>(op.alpha), static_cast<float>(op.beta), operand, step, channels, shown,
                   count);
    }
    const int64_t at = n * result_.strides[0] + z * result_step_[0] + y * result_step_[1] + x * result_step_[2];
    std::byte* to = args.at(result_.slot) + at * static_cast<int64_t>(dtype_size(result_.dtype));
    const bool channels_last = result_.strides[1] == 1 || channels == 1;
    if (result_.dtype != DType::F32)
      store_narrow(shown, count, channels_last, to);
    else
      store_floats(shown, count, channels_last, reinterpret_cast<float*>(to));
  }

  void store_floats(const float* line, int64_t n, bool channels_last, float* to) const {
    const int64_t channels = g_.channels;
    if (channels_last) {
      for (int64_t x = 0; x < n; ++x) std::copy_n(line + x * channels, channels, to + x * result_step_[2]);
      return;
    }
    for (int64_t o = 0; o < channels; ++o)
      store_channel(line + o, channels, to + o * result_.strides[1], result_step_[2], n);
  }

  void store_narrow(const float* line, int64_t n, bool channels_last, std::byte* to) const {
    const int64_t channels = g_.channels, step = result_step_[2];
    const auto size = static_cast<int64_t>(dtype_size(result_.dtype));
    if (channels_last && step == channels) return store_rows(line, 0, 1, n * channels, {to, result_.dtype, 0, 1});
    if (channels_last) return store_rows(line, channels, n, channels, {to, result_.dtype, step, 1});
    thread_local std::vector<float> row;
    row.resize(static_cast<size_t>(n));
    for (int64_t o = 0; o < channels; ++o) {
      store_channel(line + o, channels, row.data(), 1, n);
      store_rows(row.data(), 0, 1, n, {to + o * result_.strides[1] * size, result_.dtype, 0, step});
    }
  }

  const std::vector<ResultOp> ops_;
  const View result_;
  Sizes result_step_{};
  int64_t span_, spans_;  // output positions of a piece, and pieces of a line
  int threads_;
};

/// The sum over taps of the products of all input positions with all taps.
class SumOfTaps : public Lines {
 public:
  SumOfTaps(const Geometry& g, View products, std::optional<View> bias, std::vector<ResultOp> ops, View result,
            int threads)
      : Lines(g, std::move(bias), std::move(ops), std::move(result),
              g.batch * g.positions() * g.taps * g.channels / kTaskElements, threads),
        products_(std::move(products)),
        position_step_(g.taps * g.channels) {}

 private:
  void fill(const StepArgs& args, int64_t n, int64_t z, int64_t y, const Span& span, float* line) const override {
    start(args, span.length, line);
    add_taps(floats(args, products_) + n * g_.positions() * position_step_, z, y, span, line);
  }

  std::string describe_taps() const override {
    return fmt::format("sum of {} taps of {}\n", g_.taps, library::describe(products_));
  }

  void start(const StepArgs& args, int64_t length, float* line) const {
    if (!bias_) {
      std::fill_n(line, length * g_.channels, 0.0f);
      return;
    }
    const float* bias = floats(args, *bias_);
    for (int64_t o = 0; o < g_.channels; ++o) line[o] = bias[o * bias_->strides[0]];
    for (int64_t x = 1; x < length; ++x) std::copy_n(line, g_.channels, line + x * g_.channels);
  }

  /// The input position that tap k carries to output position `at` along dimension d; -1: none.
  int64_t source(size_t d, int64_t at, int64_t k) const {
    const int64_t moved = at + g_.padding[d] - k * g_.dilation[d];
    if (moved < 0 || moved % g_.stride[d] != 0) return -1;
    return moved / g_.stride[d] < g_.in[d] ? moved / g_.stride[d] : -1;
  }

  void add_taps(const float* from, int64_t z, int64_t y, const Span& span, float* line) const {
    const int64_t channels = g_.channels, runs = g_.dilation[2] == 1 ? 1 : g_.kernel[2];
    const int64_t run = g_.kernel[2] / runs * channels;
    line += (span.first * g_.stride[2] - span.origin) * channels;
    for (int64_t kz = 0; kz < g_.kernel[0]; ++kz) {
      const int64_t iz = source(0, z, kz);
      for (int64_t ky = 0; iz >= 0 && ky < g_.kernel[1]; ++ky) {
        const int64_t iy = source(1, y, ky);
        if (iy < 0) continue;
        const float* row = from + ((iz * g_.in[1] + iy) * g_.in[2] + span.first) * position_step_ +
                           (kz * g_.kernel[1] + ky) * g_.kernel[2] * channels;
        for (int64_t k = 0; k < runs; ++k)
          add_runs(line + k * g_.dilation[2] * channels, g_.stride[2] * channels, row + k * run, position_step_, run,
                   span.last - span.first);
      }
    }
  }

  const View products_;
  const int64_t position_step_;
};

/// Lines that are products: of the positions of an input line with the taps that lie in one line of the result.
class LinesOfTaps : public Lines {
 public:
  LinesOfTaps(const Geometry& g, View rows, View columns, std::optional<View> bias, std::vector<ResultOp> ops,
              View result, int threads)
      : Lines(g, std::move(bias), std::move(ops), std::move(result),
              g.lines() * g.out[2] * g.channels * g.in_channels / kTaskProducts, threads),
        rows_(std::move(rows)),
        columns_(std::move(columns)) {}

 private:
  void fill(const StepArgs& args, int64_t n, int64_t z, int64_t y, const Span& span, float* line) const override {
    const int64_t iz = z / g_.stride[0], iy = y / g_.stride[1], width = g_.kernel[2] * g_.channels;
    const int64_t tap = z % g_.stride[0] * g_.kernel[1] + y % g_.stride[1];
    SmallProduct p{};
    p.rows = span.last - span.first;
    p.columns = width;
    p.depth = p.a_stride = g_.in_channels;
    p.a = floats(args, rows_) + (((n * g_.in[0] + iz) * g_.in[1] + iy) * g_.in[2] + span.first) * g_.in_channels;
    p.b = floats(args, columns_) + tap * width;
    p.b_stride = g_.taps * g_.channels;
    p.dtype = p.c_dtype = DType::F32;
    p.c = line;
    p.c_stride = width;
    p.alpha = 1;
    p.bias = bias_ ? repeated_bias(args) : nullptr;
    small_product(p, 0, width);
  }

  /// For the taps side by side.
  const float* repeated_bias(const StepArgs& args) const {
    thread_local std::vector<float> repeated;
    repeated.resize(static_cast<size_t>(g_.kernel[2] * g_.channels));
    const float* bias = floats(args, *bias_);
    for (int64_t i = 0, n = g_.kernel[2] * g_.channels; i < n; ++i)
      repeated[static_cast<size_t>(i)] = bias[i % g_.channels * bias_->strides[0]];
    return repeated.data();
  }

  std::string describe_taps() const override {
    return fmt::format("lines of {} taps that are apart\n  input {}\n  weight {}\n", g_.taps, library::describe(rows_),
                       library::describe(columns_));
  }

  const View rows_, columns_;
};

View with(View view, std::vector<int64_t> shape, std::vector<int64_t> strides) {
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  return view;
}

/// The operand as it is where it lies dense, else a copy in scratch.
View dense(const View& v, Instance& instance) {
  if (v.is_contiguous()) return v;
  const View to = instance.scratch.tensor(v.dtype, v.shape);
  instance.steps.push_back(make_copy(v, to));
  return to;
}

/// Whether dimension 1 lies innermost, without gaps, and the others as they are ordered.
bool has_channels_inside(const View& v) {
  bool is_inside = v.strides[1] == 1 || v.shape[1] == 1;
  int64_t expected = v.shape[1];
  for (size_t k = 0; k + 1 < v.rank(); ++k) {
    const size_t d = k + 2 < v.rank() ? v.rank() - 1 - k : 0;
    is_inside = is_inside && (v.shape[d] == 1 || v.strides[d] == expected);
    expected *= v.shape[d];
  }
  return is_inside;
}

/// Input positions as rows [batch * positions, channels].
View rows_of_input(const View& x, const Geometry& g, Instance& instance) {
  const int64_t n = g.positions(), c = g.in_channels;
  const std::vector<int64_t> shape{g.batch * n, c}, strides{c, 1};
  if (has_channels_inside(x)) return with(x, shape, strides);
  const View from = with(dense(x, instance), {g.batch, c, n}, {c * n, n, 1});
  const View to = with(instance.scratch.tensor(x.dtype, {g.batch, n, c}), {g.batch, c, n}, {c * n, 1, c});
  instance.steps.push_back(
      make_onednn_reorder(onednn_desc(from), from.slot, onednn_desc(to), to.slot, instance.scratch));
  return with(to, shape, strides);
}

/// to[t, n] = from[n, t], `count` times.
template <class T>
STRATA_VECTOR_CLONES void turn_matrices(const T* __restrict from, int64_t count, int64_t n, int64_t taps,
                                        T* __restrict to) {
  for (int64_t k = 0; k < count; ++k, from += n * taps, to += n * taps) {
    if (taps == 4) {  // shuffles instead of single elements
      for (int64_t i = 0; i < n; ++i)
        for (int64_t t = 0; t < 4; ++t) to[t * n + i] = from[i * 4 + t];
    } else {
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t i = 0; i < n; ++i) to[t * n + i] = from[i * taps + t];
    }
  }
}

/// Matrices [o, taps] of the weight, or of the products, as [taps, o]: the library's reorder takes ten times as long.
class TurnTaps : public Step {
 public:
  TurnTaps(View from, View to, const Geometry& g, int threads)
      : from_(std::move(from)), to_(std::move(to)), channels_(g.channels), taps_(g.taps) {
    count_ = from_.numel() / (channels_ * taps_);
    threads_ = threads_for(from_.numel() / kTaskElements, threads);
  }

  void run(const StepArgs& args) override {
    const std::byte* from = args.at(from_.slot);
    std::byte* to = args.at(to_.slot);
    parallel_parts(count_, threads_, [&](int64_t begin, int64_t end) {
      const int64_t n = channels_, taps = taps_, first = begin * n * taps;
      if (from_.dtype == DType::F32 && taps % 16 == 0 && n % 16 == 0)
        for (int64_t at = first; at < end * n * taps; at += n * taps)
          pack_transposed(reinterpret_cast<const float*>(from) + at, taps, n, taps, n / 16,
                          reinterpret_cast<float*>(to) + at);
      else if (from_.dtype == DType::F32)
        turn_matrices(reinterpret_cast<const float*>(from) + first, end - begin, n, taps,
                      reinterpret_cast<float*>(to) + first);
      else
        turn_matrices(reinterpret_cast<const uint16_t*>(from) + first, end - begin, n, taps,
                      reinterpret_cast<uint16_t*>(to) + first);
    });
  }

  std::string describe() const override {
    return fmt::format("turn {} taps of {} to {}\n", taps_, library::describe(from_), library::describe(to_));
  }

 private:
  const View from_, to_;
  const int64_t channels_, taps_;
  int64_t count_;
  int threads_;
};

/// The product's right side [in_channels, (tap, channel)], of which `owner` keeps the memory where it is constant.
View columns_of_weight(const ConcreteCall& call, const Geometry& g, std::shared_ptr<const void>& owner,
                       Instance& instance) {
  const int64_t c = g.in_channels, o = g.channels, t = g.taps;
  if (has_channels_inside(call.operands[1])) return with(call.operands[1], {c, t * o}, {t * o, 1});
  const View from = with(dense(call.operands[1], instance), {c, o, t}, {o * t, t, 1});
  View to = with(from, {c, o, t}, {o * t, 1, o});
  View columns = with(from, {c, t * o}, {t * o, 1});
  if (o == 1 || t == 1) return columns;
  if (!call.constant[1]) {
    to.slot = instance.scratch.take(to.numel() * static_cast<int64_t>(dtype_size(to.dtype)));
    instance.steps.push_back(std::make_unique<TurnTaps>(from, to, g, call.threads));
    return with(to, columns.shape, columns.strides);
  }
  PackedConstants turned;
  const auto memory = turned.get(call.packed_key, onednn_desc(from), onednn_desc(to), from.slot);
  to.slot = {Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
  owner = memory;
  return with(to, columns.shape, columns.strides);
}

/// The steps of the product; false if the library has none. The turned weight is kept only where it is what is read,
/// not a packed copy.
bool add_product(const ConcreteCall& call, View a, View b, View result, std::shared_ptr<const void> b_owner,
                 PackedConstants& packed, Instance& instance) {
  auto inner = std::make_shared<LibraryCall>();
  inner->kind = "matmul";
  inner->name = call.call->name;
  ConcreteCall product;
  product.call = inner.get();
  product.operands = {std::move(a), std::move(b)};
  product.constant = {false, call.constant[1]};
  product.packed_key = call.packed_key;
  product.result = std::move(result);
  product.threads = call.threads;
  Instance made;
  made.scratch = instance.scratch;
  if (!build_small_matmul(product, packed, made) && !build_large_matmul(product, packed, made)) return false;
  if (!made.unpack) made.owned.push_back(std::move(b_owner));  // it is read where it lies
  instance.scratch = made.scratch;
  for (auto& step : made.steps) instance.steps.push_back(std::move(step));
  for (auto& memory : made.owned) instance.owned.push_back(std::move(memory));
  instance.owned.push_back(std::move(inner));
  return true;
}

/// What is left to do on `from` after the lines: operations that the library has kernels for, then ours.
void add_rest(const View& from, const View& result, std::vector<ResultOp> ops, bool in_place, Instance& instance) {
  size_t done = 0;
  for (; done < ops.size() && !ops[done].apart && !ops[done].has_operand(); ++done) {
    if (!add_onednn_eltwise(ops[done], from, instance)) break;
  }
  ops.erase(ops.begin(), ops.begin() + static_cast<int64_t>(done));
  if (!in_place || !ops.empty()) instance.steps.push_back(make_epilogue(from, result, std::move(ops)));
}

bool fits_caches(const Geometry& g) { return g.batch * g.channels * g.taps * g.positions() * 4 <= kMostBytes; }

/// Whether lines are products by themselves: ours know float32. They read the taps again for each line, which the
/// second-level cache should hold; the library's product of all is faster where it does not.
bool takes_lines(const ConcreteCall& call, const Geometry& g) {
  constexpr int64_t kMostDepth = 256;
  if (!g.is_apart() || call.operands[0].dtype != DType::F32 || !has_small_products()) return false;
  return g.in_channels <= kMostDepth || !fits_caches(g);
}

bool takes(const ConcreteCall& call) {
  const View &x = call.operands[0], &w = call.operands[1];
  const size_t rank = x.rank();
  if (call.call->kind != "convolution_transpose") return false;
  if (rank < 3 || rank > 5 || call.result.numel() == 0 || x.numel() == 0 || w.numel() == 0) return false;
  if (call.call->groups != 1 || x.dtype != w.dtype || !onednn_dtype(x.dtype)) return false;
  if (accumulation_dtype(call.result.dtype) != DType::F32) return false;
  const Geometry g = geometry_of(call);
  return takes_lines(call, g) || fits_caches(g);
}

}  // namespace

bool build_transposed_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (!takes(call)) return false;
  const Geometry g = geometry_of(call);
  Instance made;
  const View rows = rows_of_input(call.operands[0], g, made);
  std::shared_ptr<const void> owner;
  const bool lines = takes_lines(call, g);
  // What is smaller: a weight that may change, or what it is multiplied to.
  const bool turns_products = !lines && !call.constant[1] && rows.shape[0] < g.in_channels &&
                              call.operands[1].is_contiguous() && g.taps > 1 && g.channels > 1;
  const View columns = turns_products
                           ? with(call.operands[1], {g.in_channels, g.taps * g.channels}, {g.taps * g.channels, 1})
                           : columns_of_weight(call, g, owner, made);
  View products;
  if (lines) {
    made.owned.push_back(std::move(owner));
  } else {
    products = made.scratch.tensor(DType::F32, {rows.shape[0], columns.shape[1]});
    if (!add_product(call, rows, columns, products, std::move(owner), packed, made)) return false;
    if (turns_products) {
      const View turned = made.scratch.tensor(DType::F32, products.shape);
      made.steps.push_back(std::make_unique<TurnTaps>(products, turned, g, call.threads));
      products = turned;
    }
  }
  std::optional<View> bias;
  if (call.call->has_bias) {
    bias = call.operands[2];
    if (bias->dtype != DType::F32) {
      const View wide = made.scratch.tensor(DType::F32, bias->shape);
      made.steps.push_back(make_copy(*bias, wide));
      bias = wide;
    }
  }
  std::vector<ResultOp> ops = result_ops(call);
  const auto rest = std::find_if_not(ops.begin(), ops.end(), is_done_in_lines);
  // What is left to do, is done before numbers are rounded to the result's type.
  const bool direct = rest == ops.end() || call.result.dtype == DType::F32;
  const View into = direct ? call.result : made.scratch.tensor(DType::F32, call.result.shape);
  std::vector<ResultOp> first(ops.begin(), rest);
  if (lines)
    made.steps.push_back(
        std::make_unique<LinesOfTaps>(g, rows, columns, std::move(bias), std::move(first), into, call.threads));
  else
    made.steps.push_back(
        std::make_unique<SumOfTaps>(g, products, std::move(bias), std::move(first), into, call.threads));
  add_rest(into, call.result, {rest, ops.end()}, direct, made);
  instance = std::move(made);
  return true;
}

}  // namespace strata::library
