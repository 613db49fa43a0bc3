// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/panel_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/convolution_end.h"
#include "codegen/convolution_product.h"
#include "codegen/instruction_sets.h"
#include "codegen/panel_cut.h"
#include "codegen/panel_product.h"
#include "core/runtime/parallel.h"

namespace strata::library {
namespace {

constexpr int64_t kTaskProducts = 50'000;  // below, another thread costs more than it saves
constexpr int64_t kPlacesTogether = 6;     // tasks are multiples of it

class PanelConvolutionStep : public Step {
 public:
  /// Of [n, c, d...] views; `weight` is where the packed one lies.
  PanelConvolutionStep(const ConcreteCall& call, Slot weight)
      : weight_(weight), in_(call.operands[0]), out_(call.result), s_(geometry_of(call)), end_(call) {
    places_ = out_.numel() / s_.out_channels;
    panels_ = parts(s_.out_channels, kPanelColumns);
    threads_ = threads_for(products_of(call) / kTaskProducts, call.threads);
    cut_ = cut_for(1, parts(places_, kPlacesTogether), panels_, threads_, true);
  }

  void run(const StepArgs& args) override {
    parallel_parts(cut_.rows * cut_.panels, threads_, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) task(args, begin);
    });
  }

  std::string describe() const override {
    return fmt::format(
               "convolution own kernel in panels\n  input {}\n  weight [{}, {}, {}, {}] packed\n  result {}\n  stride "
               "[{}] padding [{}] dilation [{}]\n",
               library::describe(in_), s_.out_channels, s_.in_channels, s_.kernel[0], s_.kernel[1],
               library::describe(out_), fmt::join(s_.stride, ", "), fmt::join(s_.padding, ", "),
               fmt::join(s_.dilation, ", ")) +
           end_.describe();
  }

 private:
  /// Work on the result follows block by block, while that is in the cache.
  void task(const StepArgs& args, int64_t i) {
    const auto [first, last, panel, last_panel] = part_of(cut_, i, places_, kPlacesTogether, panels_);
    ConvolutionProduct s = s_;
    s.in = reinterpret_cast<const float*>(args.at(in_.slot));
    s.weight = reinterpret_cast<const float*>(args.at(weight_));
    s.out = reinterpret_cast<float*>(args.at(out_.slot));
    end_.give(args, s);
    for (int64_t place = first; place < last; place += kPlacesAtOnce) {
      const int64_t end = std::min(place + kPlacesAtOnce, last);
      convolution_product(s, place, end, panel, last_panel);
      end_.run_rest(args, place, end, panel * kPanelColumns, std::min(s_.out_channels, last_panel * kPanelColumns));
    }
  }

  const Slot weight_;
  const View in_, out_;
  const ConvolutionProduct s_;
  const ConvolutionEnd end_;
  int64_t places_ = 0, panels_ = 0;
  int threads_ = 1;
  PanelCut cut_;
};

bool takes(const ConcreteCall& call) {
  return has_avx2_at_most() && is_plane_convolution(call) && has_dense_channels(call.operands[0]) &&
         has_dense_places(call.result) && call.constant[1];
}

/// The library's kernel has sums of as many places as fit into the registers beside 32 output channels: with 16 it has
/// half as many, which wait for each other. Few input channels make short loops for each tap.
bool pays(const ConcreteCall& call) {
  constexpr int64_t kFewestIn = 16;
  const View& w = call.operands[1];
  return w.shape[0] > kPanelColumns / 2 && w.shape[0] <= kPanelColumns && w.shape[1] >= kFewestIn &&
         w.shape[2] * w.shape[3] > 1;
}

/// Places beyond the edges are multiplied as zeros, which must stay zeros.
bool are_finite(const dnnl::memory& weights) {
  const auto* w = static_cast<const float*>(weights.get_data_handle());
  return std::all_of(w, w + weights.get_desc().get_size() / sizeof(float), [](float v) { return std::isfinite(v); });
}

}  // namespace

bool build_panel_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (!takes(call) || !pays(call)) return false;
  const View& w = call.operands[1];
  const dnnl::memory::desc plain = onednn_desc(w);
  const dnnl::memory::desc panels(dnnl::memory::dims(w.shape.begin(), w.shape.end()), dnnl::memory::data_type::f32,
                                  dnnl::memory::format_tag::Ohwi16o);
  Instance made;
  made.scratch = instance.scratch;
  auto memory = packed.get(call.packed_key, plain, panels, w.slot);
  if (!are_finite(*memory)) return false;
  made.unpack = onednn_unpack(memory, plain);
  const Slot slot{Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
  made.owned.push_back(std::move(memory));
  made.steps.push_back(std::make_unique<PanelConvolutionStep>(call, slot));
  instance = std::move(made);
  return true;
}

}  // namespace strata::library
