// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/winograd_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codegen/convolution_end.h"
#include "codegen/panel_cut.h"
#include "codegen/winograd.h"
#include "core/runtime/parallel.h"

namespace strata::library {
namespace {

constexpr int64_t kTaskProducts = 100'000;  // of the convolution; below, another thread costs more than it saves
constexpr int64_t kPairsOfTask = 2'000;     // of channels whose kernels are turned by a thread

/// What the weight is. A turned one is nearly twice as large as it was, and that must be kept beside it, since it
/// cannot be told from it to the last bit.
enum class Weight : uint8_t {
  Ahead,    ///< constant, and turned once: small ones
  Each,     ///< turned in each run
  ByPanel,  ///< constant, and only packed; turned panel by panel for some tiles at a time
};
constexpr int64_t kMostPairsAhead = 128 * 128;  // of channels
constexpr int64_t kMostPairsEach = 256 * 256;   // of more, runs would need much memory
/// Tiles that are taken together: more of them where that turns weights less often. Their parts of all channels are to
/// stay in the second-level cache while panels go over them. Panels of few channels stay there too, and are read again
/// for no more time: fewer tiles take less memory.
constexpr int64_t kTogether = 24, kTogetherByPanel = 48, kTogetherOfFew = 12, kFewChannels = 128;

Weight weight_of(const ConcreteCall& call) {
  const View& w = call.operands[1];
  if (!call.constant[1]) return Weight::Each;
  return w.shape[0] * w.shape[1] <= kMostPairsAhead ? Weight::Ahead : Weight::ByPanel;
}

WinogradProduct product_of(const ConcreteCall& call) {
  WinogradProduct p{geometry_of(call), weight_of(call) != Weight::ByPanel, nullptr, {}};
  std::ranges::copy(call.operands[1].strides, p.plain_strides);
  return p;
}

int64_t tiles_of(const WinogradProduct& p, const View& out) { return out.shape[0] * p.tile_rows() * p.tile_columns(); }

/// The whole weight, shared out among threads.
void turn_weights(const WinogradKernels& kernels, const WinogradProduct& p, int most_threads, float* to) {
  const ConvolutionProduct& c = p.convolution;
  const int threads = threads_for(c.in_channels * c.out_channels / kPairsOfTask, most_threads);
  parallel_parts(parts(c.out_channels, kernels.columns), threads,
                 [&](int64_t begin, int64_t end) { kernels.turn_weights(p, begin, end, to); });
}

class WinogradStep : public Step {
 public:
  /// `weight` is where the turned or packed one lies.
  WinogradStep(const ConcreteCall& call, const WinogradKernels& kernels, Slot weight, ScratchPlan& scratch)
      : kernels_(kernels),
        kind_(weight_of(call)),
        weight_(weight),
        in_(call.operands[0]),
        plain_(call.operands[1]),
        out_(call.result),
        p_(product_of(call)),
        end_(call) {
    const ConvolutionProduct& c = p_.convolution;
    tiles_ = tiles_of(p_, out_);
    panels_ = parts(c.out_channels, kernels_.columns);
    threads_ = threads_for(products_of(call) / kTaskProducts, call.threads);
    cut_ = cut_for(1, parts(tiles_, kernels_.rows), panels_, threads_, true);
    most_ = !p_.turned ? kTogetherByPanel : c.in_channels <= kFewChannels ? kTogetherOfFew : kTogether;
    most_ = std::min(most_, tiles_);
    const int64_t floats = kernels_.room(c.in_channels, most_) + (p_.turned ? 0 : kernels_.panel(c.in_channels));
    room_floats_ = parts(floats, kLineFloats) * kLineFloats + kBetweenRooms;
    const int64_t rooms = cut_.rows * cut_.panels;
    room_ = scratch.take((room_floats_ * rooms - kBetweenRooms) * static_cast<int64_t>(sizeof(float)));
  }

  void run(const StepArgs& args) override {
    WinogradProduct p = p_;
    p.convolution.in = reinterpret_cast<const float*>(args.at(in_.slot));
    p.convolution.weight = reinterpret_cast<const float*>(args.at(weight_));
    p.convolution.out = reinterpret_cast<float*>(args.at(out_.slot));
    if (p.turned) p.plain = reinterpret_cast<const float*>(args.at(plain_.slot));
    end_.give(args, p.convolution);
    if (kind_ == Weight::Each) turn_weights(kernels_, p, args.threads, reinterpret_cast<float*>(args.at(weight_)));
    parallel_parts(cut_.rows * cut_.panels, threads_, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) task(args, p, begin);
    });
  }

  std::string describe() const override {
    const ConvolutionProduct& c = p_.convolution;
    return fmt::format(
               "convolution own kernel after Winograd, F(2x2, 3x3)\n  input {}\n  weight [{}, {}, 3, 3] {}\n  "
               "result {}\n  padding [{}], {} tiles\n",
               library::describe(in_), c.out_channels, c.in_channels,
               kind_ == Weight::Each    ? "turned in each run"
               : kind_ == Weight::Ahead ? "packed, turned"
                                        : "packed",
               library::describe(out_), fmt::join(c.padding, ", "), tiles_) +
           end_.describe();
  }

 private:
  static constexpr int64_t kLineFloats = 16;  // a line of the cache
  // A core fetches ahead beyond the end of its room, time and again. What another core has written there comes back
  // from it line by line, which takes long where they share no cache: AMD's, family 26, were seen to reach 32 KiB far.
  static constexpr int64_t kBetweenRooms = 8192;

  /// Work on the result follows block by block, while that is in the cache.
  void task(const StepArgs& args, const WinogradProduct& p, int64_t i) const {
    const auto [first, last, panel, last_panel] = part_of(cut_, i, tiles_, kernels_.rows, panels_);
    float* room = reinterpret_cast<float*>(args.at(room_)) + i * room_floats_;
    if (first >= last) return;
    const int64_t n = last - first, together = parts(parts(n, parts(n, most_)), kernels_.rows) * kernels_.rows;
    for (int64_t tile = first; tile < last; tile += together) {
      const int64_t end = std::min(tile + together, last);
      kernels_.multiply(p, tile, end, panel, last_panel, room);
      if (end_.has_rest()) run_rest(args, tile, end, panel, last_panel);
    }
  }

  /// On both rows of places that tiles [first, last) come to, row of tiles by row of tiles.
  void run_rest(const StepArgs& args, int64_t first, int64_t last, int64_t panel, int64_t last_panel) const {
    const ConvolutionProduct& c = p_.convolution;
    const int64_t columns = p_.tile_columns(), rows = p_.tile_rows();
    const int64_t channel = panel * kernels_.columns;
    const int64_t last_channel = std::min(c.out_channels, last_panel * kernels_.columns);
    for (int64_t next = 0; first < last; first = next) {
      const int64_t row = first / columns;
      next = std::min((row + 1) * columns, last);
      const int64_t y = row % rows * 2, x = first % columns * 2;
      const int64_t last_x = std::min((next - 1) % columns * 2 + 2, c.out_size[1]);
      const int64_t line = (row / rows * c.out_size[0] + y) * c.out_size[1];
      for (int64_t i = 0; i < std::min<int64_t>(2, c.out_size[0] - y); ++i)
        end_.run_rest(args, line + i * c.out_size[1] + x, line + i * c.out_size[1] + last_x, channel, last_channel);
    }
  }

  const WinogradKernels& kernels_;
  const Weight kind_;
  const Slot weight_;
  const View in_, plain_, out_;
  const WinogradProduct p_;
  const ConvolutionEnd end_;
  int64_t tiles_ = 0, panels_ = 0, most_ = 0, room_floats_ = 0;
  int threads_ = 1;
  PanelCut cut_;
  Slot room_;
};

bool takes(const ConcreteCall& call) {
  if (!is_plane_convolution(call)) return false;
  const ConvolutionProduct c = geometry_of(call);
  constexpr std::array<int64_t, 2> ones{1, 1}, threes{3, 3};
  return c.kernel == threes && c.stride == ones && c.dilation == ones;
}

/// Few channels make short products, or leave most of a panel unused (of two vectors with AVX-512, of which 16 channels
/// need one: 0.90 of the library's speed, 20 of them 1.2 to 1.5), few tiles do not make up for weights that are nearly
/// twice as large, and tiles that reach beyond the result compute what nobody needs.
bool pays(const ConcreteCall& call, const WinogradKernels& kernels) {
  constexpr int64_t kFewestIn = 16, kFewestTiles = 8, kFewestTilesOfEach = 24;
  constexpr double kLargestShare = 0.7;
  const WinogradProduct p = product_of(call);
  const ConvolutionProduct& c = p.convolution;
  const int64_t tiles = tiles_of(p, call.result), places = call.result.numel() / c.out_channels;
  const int64_t fewest_out = kernels.columns >= 32 ? 17 : 6;
  if (c.in_channels < kFewestIn || c.out_channels < fewest_out) return false;
  const bool each = weight_of(call) == Weight::Each;
  if (tiles < (each ? kFewestTilesOfEach : kFewestTiles)) return false;
  if (each && c.in_channels * c.out_channels > kMostPairsEach) return false;
  const int64_t direct = places * c.kernel[0] * c.kernel[1];
  return static_cast<double>(tiles * kWinogradParts) <= kLargestShare * static_cast<double>(direct);
}

/// A copy between layouts: the library's, where it knows both.
std::unique_ptr<Step> move(const View& from, const View& to, ScratchPlan& scratch) {
  const View& odd = has_dense_channels(from) ? to : from;
  if (!odd.is_contiguous()) return make_copy(from, to);
  return make_onednn_reorder(onednn_desc(from), from.slot, onednn_desc(to), to.slot, scratch);
}

/// Where a constant weight lies once it is turned or packed.
Slot constant_weight(const ConcreteCall& call, const WinogradKernels& kernels, PackedConstants& packed,
                     Instance& made) {
  const View& w = call.operands[1];
  std::shared_ptr<dnnl::memory> memory;
  if (weight_of(call) == Weight::ByPanel) {
    using Tag = dnnl::memory::format_tag;
    const dnnl::memory::desc plain = onednn_desc(w);
    const dnnl::memory::desc panels(dnnl::memory::dims(w.shape.begin(), w.shape.end()), dnnl::memory::data_type::f32,
                                    kernels.columns == 16 ? Tag::Ohwi16o : Tag::Ohwi32o);
    memory = packed.get(call.packed_key, plain, panels, w.slot);
    made.unpack = onednn_unpack(memory, plain);
  } else {
    if (!w.slot.fixed) throw NotPacked{};
    WinogradProduct p = product_of(call);
    p.plain = reinterpret_cast<const float*>(w.slot.resolve(nullptr, nullptr));
    const int64_t panels = parts(w.shape[0], kernels.columns);
    memory = packed.make(call.packed_key, panels * kernels.panel(w.shape[1]),
                         [&](float* to) { turn_weights(kernels, p, call.threads, to); });
  }
  const Slot slot{Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
  made.owned.push_back(std::move(memory));
  return slot;
}

}  // namespace

bool build_winograd_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  const WinogradKernels* kernels = winograd_kernels();
  if (!kernels || !takes(call) || !pays(call, *kernels)) return false;
  Instance made;
  made.scratch = instance.scratch;
  ConcreteCall moved = call;
  View& in = moved.operands[0];
  if (!has_dense_channels(in)) {
    in = channels_last(made.scratch.tensor(DType::F32, in.shape));
    made.steps.push_back(move(call.operands[0], in, made.scratch));
  }
  if (!has_dense_places(moved.result)) moved.result = channels_last(made.scratch.tensor(DType::F32, call.result.shape));
  const View& w = call.operands[1];
  const int64_t floats = parts(w.shape[0], kernels->columns) * kernels->panel(w.shape[1]);
  const Slot weight = weight_of(call) == Weight::Each ? made.scratch.take(floats * static_cast<int64_t>(sizeof(float)))
                                                      : constant_weight(call, *kernels, packed, made);
  made.steps.push_back(std::make_unique<WinogradStep>(moved, *kernels, weight, made.scratch));
  if (!has_dense_places(call.result)) made.steps.push_back(move(moved.result, call.result, made.scratch));
  instance = std::move(made);
  return true;
}

}  // namespace strata::library
