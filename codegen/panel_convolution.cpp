// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/panel_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/convolution_product.h"
#include "codegen/instruction_sets.h"
#include "codegen/library_copy.h"
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
  PanelConvolutionStep(const ConcreteCall& call, Slot weight) : weight_(weight) {
    const LibraryCall& c = *call.call;
    in_ = call.operands[0];
    out_ = call.result;
    if (c.has_bias) bias_ = call.operands[2];
    const View& w = call.operands[1];
    for (size_t d = 0; d < 2; ++d) {
      s_.in_size[d] = in_.shape[d + 2];
      s_.out_size[d] = out_.shape[d + 2];
      s_.kernel[d] = w.shape[d + 2];
      s_.stride[d] = c.stride[d];
      s_.padding[d] = c.padding[d];
      s_.dilation[d] = c.dilation[d];
    }
    s_.in_channels = w.shape[1];
    s_.out_channels = w.shape[0];
    s_.in_image = in_.strides[0];
    s_.in_row = in_.strides[2];
    s_.in_place = in_.strides[3];
    s_.out_place = out_.strides[3];
    places_ = out_.numel() / s_.out_channels;
    panels_ = parts(s_.out_channels, kPanelColumns);
    const int64_t work = out_.numel() * s_.in_channels * s_.kernel[0] * s_.kernel[1];
    threads_ = threads_for(work / kTaskProducts, call.threads);
    cut_ = cut_for(1, parts(places_, kPlacesTogether), panels_, threads_, true);
    take_ops(result_ops(call));
  }

  void run(const StepArgs& args) override {
    parallel_parts(cut_.rows * cut_.panels, threads_, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) task(args, begin);
    });
  }

  std::string describe() const override {
    std::string text = fmt::format(
        "convolution own kernel in panels\n  input {}\n  weight [{}, {}, {}, {}] packed\n  result {}\n  stride [{}] "
        "padding [{}] dilation [{}]\n",
        library::describe(in_), s_.out_channels, s_.in_channels, s_.kernel[0], s_.kernel[1], library::describe(out_),
        fmt::join(s_.stride, ", "), fmt::join(s_.padding, ", "), fmt::join(s_.dilation, ", "));
    if (bias_) text += "  bias " + library::describe(*bias_) + "\n";
    if (added_) text += "  plus " + library::describe(*added_) + "\n";
    if (s_.relu) text += "  relu\n";
    return rest_ ? text + rest_->describe() : text;
  }

 private:
  /// An operand that lies as the result does is added, and `relu` taken, before the sums leave their registers; other
  /// work follows.
  void take_ops(std::vector<ResultOp> ops) {
    const View lines = channels_at_end(out_);
    for (ResultOp& op : ops)
      if (op.has_operand()) op.operand = channels_at_end(std::move(op.operand));
    const auto take = [&](PostOp::Kind kind) {
      if (ops.empty() || ops[0].kind != kind) return false;
      ops.erase(ops.begin());
      return true;
    };
    const bool alike = !ops.empty() && ops[0].has_operand() && ops[0].operand.dtype == DType::F32 &&
                       ops[0].operand.shape == lines.shape && ops[0].operand.strides == lines.strides;
    if (alike) {
      const View operand = ops[0].operand;
      if (take(PostOp::Kind::Add)) added_ = operand;
    }
    s_.relu = take(PostOp::Kind::Relu);
    if (!ops.empty()) rest_ = make_epilogue_in_parts(lines, lines, std::move(ops));
  }

  /// Work on the result follows block by block, while that is in the cache.
  void task(const StepArgs& args, int64_t i) {
    const auto [first, last, panel, last_panel] = part_of(cut_, i, places_, kPlacesTogether, panels_);
    ConvolutionProduct s = s_;
    s.in = reinterpret_cast<const float*>(args.at(in_.slot));
    s.weight = reinterpret_cast<const float*>(args.at(weight_));
    s.out = reinterpret_cast<float*>(args.at(out_.slot));
    s.bias = bias_ ? reinterpret_cast<const float*>(args.at(bias_->slot)) : nullptr;
    s.added = added_ ? reinterpret_cast<const float*>(args.at(added_->slot)) : nullptr;
    for (int64_t place = first; place < last; place += kPlacesAtOnce) {
      const int64_t end = std::min(place + kPlacesAtOnce, last);
      convolution_product(s, place, end, panel, last_panel);
      if (rest_)
        rest_->run_part(args, place, end, panel * kPanelColumns, std::min(s_.out_channels, last_panel * kPanelColumns));
    }
  }

  const Slot weight_;
  View in_, out_;
  std::optional<View> bias_, added_;
  ConvolutionProduct s_{};
  int64_t places_ = 0, panels_ = 0;
  int threads_ = 1;
  PanelCut cut_;
  std::unique_ptr<EpilogueInParts> rest_;
};

bool is_dense_line(const View& v) { return v.dtype == DType::F32 && v.rank() == 1 && v.strides[0] == 1; }

/// Whether places of all images follow each other at one distance.
bool has_even_places(const View& v) {
  const int64_t place = v.strides[3], row = place * v.shape[3], image = row * v.shape[2];
  return (v.shape[2] == 1 || v.strides[2] == row) && (v.shape[0] == 1 || v.strides[0] == image);
}

bool takes(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  if (!has_avx2_at_most() || c.kind != "convolution" || c.groups != 1 || call.result.rank() != 4) return false;
  const View &in = call.operands[0], &w = call.operands[1], &out = call.result;
  if (in.dtype != DType::F32 || w.dtype != DType::F32 || out.dtype != DType::F32 || !call.constant[1]) return false;
  if (c.has_bias && !is_dense_line(call.operands[2])) return false;
  if (in.numel() == 0 || out.numel() == 0 || w.numel() == 0) return false;
  return has_dense_channels(in) && has_dense_channels(out) && has_even_places(out);
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
