// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Convolutions and transposed convolutions through oneDNN. The primitive chooses the layouts it is fastest in
/// (`format_tag::any`); weights that are constant are packed once, activations are reordered around the call unless
/// they already lie channels-last.

#include <fmt/format.h>

#include <algorithm>

#include "codegen/library_copy.h"
#include "codegen/onednn.h"
#include "core/support/error.h"

namespace strata::library {
namespace {

using dnnl::memory;

struct Shape {
  bool transposed = false;
  memory::dims strides, dilates, left, right;
  View weight;  // with groups as a dimension of its own when there are several
};

View grouped_weight(View w, int64_t groups, bool transposed) {
  // Of a transposed convolution the weight is [c, o/groups, k...]; oneDNN wants [groups, o/groups, c/groups, k...].
  if (groups > 1) {
    w.shape.insert(w.shape.begin(), groups);
    w.shape[1] /= groups;
    w.strides.insert(w.strides.begin(), w.shape[1] * w.strides[0]);
  }
  const size_t first = groups > 1 ? 1 : 0;
  if (transposed) {
    std::swap(w.shape[first], w.shape[first + 1]);
    std::swap(w.strides[first], w.strides[first + 1]);
  }
  return w;
}

Shape make_shape(const ConcreteCall& call) {
  const LibraryCall& c = *call.call;
  Shape s;
  s.transposed = c.kind == "convolution_transpose";
  const View& in = call.operands[0];
  const View& out = call.result;
  s.weight = grouped_weight(call.operands[1], c.groups, s.transposed);
  const size_t spatial = in.rank() - 2;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t kernel = s.weight.shape[s.weight.rank() - spatial + d];
    const int64_t span = (kernel - 1) * c.dilation[d] + 1;
    s.strides.push_back(c.stride[d]);
    s.dilates.push_back(c.dilation[d] - 1);
    s.left.push_back(c.padding[d]);
    const int64_t i = in.shape[d + 2], o = out.shape[d + 2];
    s.right.push_back(s.transposed ? (i - 1) * c.stride[d] + span - c.padding[d] - o
                                   : (o - 1) * c.stride[d] + span - c.padding[d] - i);
  }
  return s;
}

bool is_channels_last(const View& v) {
  if (v.rank() < 3) return v.is_contiguous();  // a bias has no channels to put last
  int64_t expected = 1;
  for (size_t k = 0; k < v.rank(); ++k) {
    const size_t d = k == 0 ? 1 : k + 1 == v.rank() ? 0 : v.rank() - k;
    if (v.shape[d] > 1 && v.strides[d] != expected) return false;
    expected *= v.shape[d];
  }
  return true;
}

View plain(View v) {
  v.strides = contiguous_strides(std::span<const int64_t>(v.shape));
  return v;
}

memory::desc any_desc(const View& v, DType dtype) {
  return {memory::dims(v.shape.begin(), v.shape.end()), *onednn_dtype(dtype), memory::format_tag::any};
}

/// What is asked of oneDNN: layouts of the activations, and how many operations on the result.
struct Request {
  memory::desc in, weight, bias, out;
  OnednnAttr attr;
};

struct Primitive {
  memory::desc in, weight, bias, out, scratchpad;
  dnnl::primitive primitive;
  std::string implementation;
  OnednnAttr attr;
};

/// Convolutions from and to few channels by oneDNN 2.6's batched products: in some processes, two random programs of
/// some 60,000, such a primitive has read the weights of another tap, or what lies behind them, run after run, with
/// operands that were right; single kernels of the library alone have not shown it.
bool is_doubtful(const char* implementation, const Shape& s) {
  constexpr int64_t kFew = 16;
  const size_t first = s.weight.rank() - s.strides.size() - 2;  // of the dimensions: output channels of a group
  return std::string_view(implementation).starts_with("brgconv:") && s.weight.shape[first] < kFew &&
         s.weight.shape[first + 1] < kFew;
}

template <class Kind>
std::optional<Primitive> create_as(const Request& r, const Shape& s, dnnl::algorithm algorithm) {
  using Desc = typename Kind::desc;
  const auto kind = dnnl::prop_kind::forward_inference;
  const Desc desc = r.bias.data.ndims > 0
                        ? Desc(kind, algorithm, r.in, r.weight, r.bias, r.out, s.strides, s.dilates, s.left, s.right)
                        : Desc(kind, algorithm, r.in, r.weight, r.out, s.strides, s.dilates, s.left, s.right);
  typename Kind::primitive_desc pd(desc, r.attr.attr, onednn_engine(), /*allow_empty=*/true);
  if (pd.get(true) == nullptr) return std::nullopt;
  while (is_doubtful(pd.impl_info_str(), s))
    if (!pd.next_impl()) return std::nullopt;
  if (!onednn_is_fast(pd.impl_info_str())) return std::nullopt;
  return Primitive{pd.src_desc(), pd.weights_desc(),  r.bias, pd.dst_desc(), pd.scratchpad_desc(),
                   Kind(pd),      pd.impl_info_str(), r.attr};
}

std::optional<Primitive> create(const Request& r, const Shape& s) {
  try {
    return s.transposed ? create_as<dnnl::deconvolution_forward>(r, s, dnnl::algorithm::deconvolution_direct)
                        : create_as<dnnl::convolution_forward>(r, s, dnnl::algorithm::convolution_direct);
  } catch (const dnnl::error&) {
    return std::nullopt;  // sizes it does not take: ours does
  }
}

struct Activations {
  View in, out;  // as the primitive may take them (plain or channels-last)
  bool fixed;    // these very layouts; else the primitive chooses
};

/// Whether the primitive computes the operations that it took: oneDNN 2.6's convolution by matrix products accepts
/// operands, and reads the wrong elements of those of the result's shape, and with three dimensions of those of
/// channels; and its ReLU multiplies what is less than 0 by 0, which is -0.
bool takes_rightly(const Primitive& p, const std::vector<ResultOp>& ops) {
  if (p.implementation.find("gemm") == std::string::npos) return true;
  return std::none_of(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(p.attr.taken),
                      [](const ResultOp& op) { return op.has_operand() || op.kind == PostOp::Kind::Relu; });
}

std::optional<Primitive> attempt(const Activations& a, const Shape& s, const std::optional<View>& bias,
                                 const std::vector<ResultOp>& ops, DType dtype) {
  size_t most = ops.size();
  for (;;) {
    Request r;
    r.attr = onednn_attr(ops, a.out, 1, most);
    r.in = a.fixed ? onednn_desc(a.in) : any_desc(a.in, dtype);
    r.out = a.fixed ? onednn_desc(a.out) : any_desc(a.out, a.out.dtype);
    r.weight = any_desc(s.weight, dtype);
    if (bias) r.bias = onednn_desc(*bias);
    const size_t taken = r.attr.taken;
    if (std::optional<Primitive> made = create(r, s); made && takes_rightly(*made, ops)) return made;
    if (taken == 0) return std::nullopt;
    most = taken - 1;
  }
}

/// oneDNN 2.6 adds an operand of the result's shape in its older kernels alone: where many products are summed up for
/// an element, its newer ones are faster by more than a pass over the result takes, which then does the rest of the
/// work (3x3x3 over 256 channels: 6.8 ms instead of 17).
std::optional<Primitive> without_whole(const Primitive& p, const Activations& a, const Shape& s,
                                       const std::optional<View>& bias, const std::vector<ResultOp>& ops, DType dtype) {
  constexpr int64_t kManyProducts = 1024;
  const std::string_view own = p.implementation;
  if (dtype != DType::F32 || a.out.dtype != DType::F32 || own.starts_with("brg")) return std::nullopt;
  const auto end = ops.begin() + static_cast<std::ptrdiff_t>(p.attr.taken);
  const auto whole = std::find_if(ops.begin(), end, [&](const ResultOp& op) { return op.reads_whole(a.out); });
  int64_t products = 1;  // input channels of a group, times places of the window
  for (size_t d = s.weight.rank() - s.strides.size() - 1; d < s.weight.rank(); ++d) products *= s.weight.shape[d];
  if (whole == end || s.transposed || products < kManyProducts) return std::nullopt;
  std::optional<Primitive> other = attempt(a, s, bias, {ops.begin(), whole}, dtype);
  // One place: "brgconv_1x1", which gains nothing.
  return other && std::string_view(other->implementation).starts_with("brgconv:") ? std::move(other) : std::nullopt;
}

/// Operands of the result's shape laid out channels-last, in scratch unless they are already.
std::vector<ResultOp> with_operands_last(const std::vector<ResultOp>& ops, const View& out, Instance& instance) {
  std::vector<ResultOp> moved = ops;
  for (ResultOp& op : moved) {
    View& v = op.operand;
    if (!op.reads_whole(out) || is_channels_last(v) || !onednn_dtype(v.dtype)) continue;
    if (!v.is_contiguous()) {
      const View dense = instance.scratch.tensor(v.dtype, v.shape);
      instance.steps.push_back(make_copy(v, dense));
      v = dense;
    }
    View last = channels_last(instance.scratch.tensor(v.dtype, v.shape));
    instance.steps.push_back(
        make_onednn_reorder(onednn_desc(v), v.slot, onednn_desc(last), last.slot, instance.scratch));
    v = last;
  }
  return moved;
}

/// Channels-last where the data lies so already, or where an operand of the result's shape must lie as the result does
/// (layouts of the primitive's own choice have no fast kernel for these); else whatever it likes best.
std::optional<Primitive> choose(const View& in, const View& out, const Shape& s, const std::optional<View>& bias,
                                std::vector<ResultOp>& ops, DType dtype, Instance& made) {
  const auto is_last = [](const View& v) { return is_channels_last(v) && !v.is_contiguous(); };
  const bool whole = std::any_of(ops.begin(), ops.end(), [&](const ResultOp& op) { return op.reads_whole(out); });
  if (is_last(in) || is_last(out) || whole) {
    Instance with_last;
    with_last.scratch = made.scratch;
    const std::vector<ResultOp> moved = with_operands_last(ops, out, with_last);
    const Activations last{channels_last(in), channels_last(out), true};
    if (std::optional<Primitive> p = attempt(last, s, bias, moved, dtype)) {
      if (std::optional<Primitive> faster = without_whole(*p, last, s, bias, moved, dtype)) p = std::move(faster);
      made.scratch = with_last.scratch;
      for (auto& step : with_last.steps) made.steps.push_back(std::move(step));
      ops = moved;
      return p;
    }
  }
  // Of the operations, only those before the first operand of the result's shape: its layout is not known.
  const auto end = std::find_if(ops.begin(), ops.end(), [&](const ResultOp& op) { return op.reads_whole(out); });
  return attempt({in, out, false}, s, bias, {ops.begin(), end}, dtype);
}

/// Copies an operand into scratch in the compute type when it has another or odd strides. Channels that lie side by
/// side (part of each token, say) stay so: the primitive wants nothing else, and the copy goes run by run.
void stage(View& v, DType dtype, bool any_strides, Instance& instance) {
  if (v.dtype == dtype && (any_strides || v.is_contiguous() || is_channels_last(v))) return;
  View to = instance.scratch.tensor(dtype, v.shape);
  if (v.rank() >= 3 && v.shape[1] > 1 && v.strides[1] == 1) to = channels_last(to);
  instance.steps.push_back(make_copy(v, to));
  v = to;
}

std::string describe_primitive(const Primitive& p, const ConcreteCall& call, const Shape& s,
                               const std::vector<ResultOp>& ops) {
  const LibraryCall& c = *call.call;
  std::string text =
      fmt::format("{} {}\n  input {}\n  weight {}{}\n  result {}\n  stride [{}] padding [{}] dilation [{}] groups {}\n",
                  c.kind, p.implementation, describe(call.operands[0]), describe(s.weight),
                  call.constant[1] ? fmt::format(" packed, {} bytes", p.weight.get_size()) : "", describe(call.result),
                  fmt::join(c.stride, ", "), fmt::join(c.padding, ", "), fmt::join(c.dilation, ", "), c.groups);
  for (size_t i = 0; i < p.attr.taken; ++i) text += "  " + describe(ops[i]) + "\n";
  return text;
}

bool takes(const ConcreteCall& call) {
  const size_t rank = call.result.rank();
  if (accumulation_dtype(call.result.dtype) != DType::F32 || rank < 3 || rank > 5) return false;
  if (call.result.numel() == 0 || call.operands[0].numel() == 0 || call.operands[1].numel() == 0) return false;
  return call.operands[0].dtype != DType::F64 && call.operands[1].dtype != DType::F64;
}

/// The packed constant, or the weight reordered in each call.
Slot weight_slot(const ConcreteCall& call, const Primitive& p, const View& weight, PackedConstants& packed,
                 Instance& made) {
  const memory::desc from = onednn_desc(weight);
  if (call.constant[1]) {
    const auto memory = packed.get(call.packed_key, from, p.weight, weight.slot);
    made.owned.push_back(memory);
    made.unpack = onednn_unpack(memory, from);
    return {Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
  }
  if (from == p.weight) return weight.slot;
  const Slot to = made.scratch.take(static_cast<int64_t>(p.weight.get_size()));
  made.steps.push_back(make_onednn_reorder(from, weight.slot, p.weight, to, made.scratch));
  return to;
}

bool build_as(DType dtype, const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  Instance made;
  Shape shape = make_shape(call);
  View in = call.operands[0];
  stage(in, dtype, false, made);
  if (shape.weight.dtype != dtype) {
    if (call.constant[1]) return false;  // converted by the caller, once
    stage(shape.weight, dtype, true, made);
  }
  std::vector<ResultOp> ops = result_ops(call);
  std::optional<View> bias;
  if (call.call->has_bias) {
    bias = call.operands[2];
    stage(*bias, DType::F32, false, made);
  }
  // The primitive writes to the result itself, or to scratch when the result has another type, odd strides, or needs
  // more work.
  const bool direct = onednn_dtype(call.result.dtype) && (call.result.is_contiguous() || is_channels_last(call.result));
  View out = direct ? call.result : plain(call.result);
  if (!direct) out.dtype = DType::F32;
  std::optional<Primitive> p = choose(in, out, shape, bias, ops, dtype, made);
  if (p && p->attr.taken < ops.size() && out.dtype != DType::F32) {
    out.dtype = DType::F32;
    p = choose(in, out, shape, bias, ops, dtype, made);
  }
  if (!p) return false;

  std::vector<OnednnArg> args;
  Slot in_slot = in.slot;
  if (const memory::desc from = onednn_desc(in); from != p->in) {
    in_slot = made.scratch.take(static_cast<int64_t>(p->in.get_size()));
    made.steps.push_back(make_onednn_reorder(from, in.slot, p->in, in_slot, made.scratch));
  }
  args.push_back({DNNL_ARG_SRC, p->in, in_slot});
  args.push_back({DNNL_ARG_WEIGHTS, p->weight, weight_slot(call, *p, shape.weight, packed, made)});
  if (bias) args.push_back({DNNL_ARG_BIAS, p->bias, bias->slot});
  const std::vector<ResultOp> rest(ops.begin() + static_cast<int64_t>(p->attr.taken), ops.end());
  const bool to_result = direct && out.dtype == call.result.dtype;
  if (!to_result) out.slot = made.scratch.take(out.numel() * 4);
  const memory::desc wanted = onednn_desc(out);
  const Slot out_slot = wanted == p->out ? out.slot : made.scratch.take(static_cast<int64_t>(p->out.get_size()));
  args.push_back({DNNL_ARG_DST, p->out, out_slot});
  args.insert(args.end(), p->attr.args.begin(), p->attr.args.end());
  if (const auto size = p->scratchpad.get_size(); size > 0) {
    args.push_back({DNNL_ARG_SCRATCHPAD, p->scratchpad, made.scratch.take(static_cast<int64_t>(size))});
  }
  made.steps.push_back(make_onednn_step(p->primitive, std::move(args), describe_primitive(*p, call, shape, ops)));
  if (wanted != p->out) made.steps.push_back(make_onednn_reorder(p->out, out_slot, wanted, out.slot, made.scratch));
  if (!rest.empty() || !to_result) made.steps.push_back(make_epilogue(out, call.result, rest));
  made.drops_nan = p->attr.drops_nan;
  instance = std::move(made);
  return true;
}

}  // namespace

bool build_onednn_convolution(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (!takes(call)) return false;
  const bool is_bf16 =
      call.operands[0].dtype == DType::BF16 && call.operands[1].dtype == DType::BF16 && onednn_dtype(DType::BF16);
  if (!is_bf16) return build_as(DType::F32, call, packed, instance);
  if (build_as(DType::BF16, call, packed, instance)) return true;
  ConcreteCall widened = call;  // in each run, a constant too
  if (call.constant[1] && !call.operands[1].slot.fixed) throw NotPacked{};
  widened.constant[1] = false;
  return build_as(DType::F32, widened, packed, instance);
}

}  // namespace strata::library
