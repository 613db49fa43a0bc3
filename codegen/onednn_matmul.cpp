// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Matrix products through oneDNN's matmul primitive. Its blocked kernels cost 0.3 us to call and take the constant
/// side packed; the inner product primitive is no faster on packed weights (but for short sums with AMX) and slower on
/// plain ones.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "codegen/library_copy.h"
#include "codegen/matmul_product.h"
#include "codegen/onednn.h"
#include "core/support/error.h"

namespace strata::library {
namespace {

using dnnl::memory;

/// Strides of dimensions of one element may be anything in a view; oneDNN reads a layout out of them.
void tidy_strides(View& v) {
  const size_t r = v.rank();
  int64_t& sr = v.strides[r - 2];
  int64_t& sc = v.strides[r - 1];
  if (v.shape[r - 1] == 1 && v.shape[r - 2] == 1)
    sc = sr = 1;
  else if (v.shape[r - 1] == 1)
    sc = sr == 1 ? v.shape[r - 2] : 1;
  else if (v.shape[r - 2] == 1)
    sr = sc == 1 ? v.shape[r - 1] : 1;
  for (size_t d = 0; d + 2 < r; ++d) {
    if (v.shape[d] == 1) v.strides[d] = v.shape[r - 1] * v.shape[r - 2];
  }
}

/// Copies an operand into scratch, dense and in `dtype`, when oneDNN cannot read it where it is; columns stay columns.
void stage(View& v, DType dtype, Instance& instance) {
  if (v.dtype == dtype && is_plain_matrix(v)) return;
  const size_t r = v.rank();
  const bool columns = v.strides[r - 2] == 1 && v.strides[r - 1] != 1;
  std::vector<int64_t> shape = v.shape;
  if (columns) std::swap(shape[r - 2], shape[r - 1]);
  View to = instance.scratch.tensor(dtype, std::move(shape));
  if (columns) {
    std::swap(to.shape[r - 2], to.shape[r - 1]);
    std::swap(to.strides[r - 2], to.strides[r - 1]);
  }
  instance.steps.push_back(make_copy(v, to));
  v = to;
}

struct Attempt {
  dnnl::matmul::primitive_desc pd;
  OnednnAttr attr;
};

/// oneDNN's kernel without blocks takes elements of bfloat16 in pairs and fills an odd number up with the last one
/// again, times zero: NaN where that is infinite.
bool makes_nan_of_infinity(const dnnl::matmul::primitive_desc& pd, const MatmulProduct& p) {
  return p.a.dtype == DType::BF16 && p.a.shape.back() % 2 == 1 &&
         std::string_view(pd.impl_info_str()).starts_with("gemm");
}

/// The primitive with as many operations on the result as a fast kernel takes.
std::optional<Attempt> attempt(const MatmulProduct& p, const View& into, const memory::desc& b) {
  const size_t channel = into.rank() - 1;
  size_t most = p.ops.size();
  for (;;) {
    OnednnAttr attr = onednn_attr(p.ops, into, channel, most);
    if (p.scale != 1) attr.attr.set_output_scales(0, {p.scale});
    const memory::desc bias = p.bias ? onednn_desc(*p.bias) : memory::desc();
    const dnnl::matmul::desc desc = p.bias ? dnnl::matmul::desc(onednn_desc(p.a), b, bias, onednn_desc(into))
                                           : dnnl::matmul::desc(onednn_desc(p.a), b, onednn_desc(into));
    dnnl::matmul::primitive_desc pd(desc, attr.attr, onednn_engine(), /*allow_empty=*/true);
    const bool fast = pd.get(true) != nullptr && onednn_is_fast(pd.impl_info_str());
    if (fast && makes_nan_of_infinity(pd, p)) return std::nullopt;
    if (fast) return Attempt{pd, std::move(attr)};
    if (attr.taken == 0) return std::nullopt;
    most = attr.taken - 1;
  }
}

/// A row that is added first is the primitive's own bias, in either type: as an operand of the other operations on the
/// result it costs a third of a short sum's time.
void take_bias(MatmulProduct& p, DType dtype) {
  if (p.bias || p.scale != 1 || p.ops.empty() || p.ops[0].kind != PostOp::Kind::Add || p.ops[0].apart) return;
  const View& row = p.ops[0].operand;
  const bool fits = row.dtype == DType::F32 || (row.dtype == DType::BF16 && dtype == DType::BF16);
  if (!fits || !is_row_vector(row) || row.shape.back() != p.result.shape.back()) return;
  p.bias = row;
  p.ops.erase(p.ops.begin());
}

/// Functions that take the library several times as long as a pass of ours over what it wrote. The result is rounded
/// before, as PyTorch's product is.
bool is_better_apart(PostOp::Kind kind) { return kind == PostOp::Kind::GeluErf; }

/// Elements of `a` up to which its rows are put together for a better kernel.
constexpr int64_t kMostGathered = 65'536;

bool is_general(const Attempt& found) { return std::string_view(found.pd.impl_info_str()).starts_with("gemm"); }

/// The blocked kernels take rows that follow each other; what is left, the library's general product, takes tens of
/// milliseconds to come up the first time. Few rows with gaps are copied first.
std::optional<Attempt> with_dense_rows(MatmulProduct& p, const View& into, const memory::desc& b, Instance& instance) {
  if (p.a.is_contiguous() || p.a.numel() > kMostGathered) return std::nullopt;
  MatmulProduct dense = p;
  Instance made;
  made.scratch = instance.scratch;
  dense.a = made.scratch.tensor(p.a.dtype, p.a.shape);
  std::optional<Attempt> found = attempt(dense, into, b);
  if (!found || is_general(*found)) return std::nullopt;
  instance.scratch = made.scratch;
  instance.steps.push_back(make_copy(p.a, dense.a));
  p.a = dense.a;
  return found;
}

std::string describe_primitive(const Attempt& made, const MatmulProduct& p, bool packed) {
  std::string text = fmt::format(
      "matmul {}\n  a {}\n  b {}{}\n  result {}\n", made.pd.impl_info_str(), describe(p.a), describe(p.b),
      packed ? fmt::format(" packed, {} bytes", made.pd.weights_desc().get_size()) : "", describe(p.result));
  if (p.scale != 1) text += fmt::format("  scale {}\n", p.scale);
  if (p.bias) text += "  bias " + describe(*p.bias) + "\n";
  for (size_t i = 0; i < made.attr.taken; ++i) text += "  " + describe(p.ops[i]) + "\n";
  return text;
}

/// The product of operands that are, or are made, elements of `dtype`.
bool build(const ConcreteCall& call, DType dtype, PackedConstants& packed, Instance& instance) {
  Instance made;
  made.scratch = instance.scratch;
  MatmulProduct p = make_matmul_product(call, made);
  take_bias(p, dtype);
  if (p.result.dtype == DType::BF16)
    for (ResultOp& op : p.ops) op.apart = op.apart || is_better_apart(op.kind);
  const bool pack = p.b_constant && p.b.dtype == dtype && p.b.rank() == 2;
  stage(p.a, dtype, made);
  if (!pack) stage(p.b, dtype, made);
  tidy_strides(p.a);
  tidy_strides(p.b);
  tidy_strides(p.result);

  const bool direct = onednn_dtype(p.result.dtype) && is_plain_matrix(p.result) && p.result.strides.back() == 1;
  View into = direct ? p.result : made.scratch.tensor(DType::F32, p.result.shape);
  const memory::desc b_plain = pack || is_plain_matrix(p.b) ? onednn_desc(p.b) : memory::desc();
  const memory::desc b_any(memory::dims(p.b.shape.begin(), p.b.shape.end()), *onednn_dtype(dtype),
                           memory::format_tag::any);
  std::optional<Attempt> found = attempt(p, into, pack ? b_any : b_plain);
  const auto is_rounded_here = [&](const Attempt& a) { return is_better_apart(p.ops[a.attr.taken].kind); };
  if (found && found->attr.taken < p.ops.size() && into.dtype != DType::F32 && !is_rounded_here(*found)) {
    // What is left to do must not start from a rounded result.
    into = made.scratch.tensor(DType::F32, p.result.shape);
    found = attempt(p, into, pack ? b_any : b_plain);
  }
  if (!found) return false;
  if (is_general(*found)) {
    if (std::optional<Attempt> better = with_dense_rows(p, into, pack ? b_any : b_plain, made))
      found = std::move(better);
  }

  Slot b_slot = p.b.slot;
  if (pack) {
    auto memory = packed.get(p.b_key, b_plain, found->pd.weights_desc(), p.b.slot);
    b_slot = {Slot::Kind::Fixed, 0, 0, static_cast<std::byte*>(memory->get_data_handle())};
    made.owned.push_back(memory);
    made.unpack = onednn_unpack(memory, b_plain);
  }
  std::vector<OnednnArg> args{{DNNL_ARG_SRC, found->pd.src_desc(), p.a.slot},
                              {DNNL_ARG_WEIGHTS, found->pd.weights_desc(), b_slot},
                              {DNNL_ARG_DST, found->pd.dst_desc(), into.slot}};
  if (p.bias) args.push_back({DNNL_ARG_BIAS, found->pd.bias_desc(), p.bias->slot});
  args.insert(args.end(), found->attr.args.begin(), found->attr.args.end());
  if (const auto size = found->pd.scratchpad_desc().get_size(); size > 0) {
    args.push_back({DNNL_ARG_SCRATCHPAD, found->pd.scratchpad_desc(), made.scratch.take(static_cast<int64_t>(size))});
  }
  made.steps.push_back(make_onednn_step(dnnl::matmul(found->pd), std::move(args), describe_primitive(*found, p, pack)));
  const std::vector<ResultOp> rest(p.ops.begin() + static_cast<int64_t>(found->attr.taken), p.ops.end());
  const bool in_place = into.slot.kind == p.result.slot.kind && into.slot.offset == p.result.slot.offset;
  if (!rest.empty() || !in_place) made.steps.push_back(make_epilogue(into, p.result, rest));
  made.drops_nan = found->attr.drops_nan;
  instance = std::move(made);
  return true;
}

}  // namespace

bool build_onednn_matmul(const ConcreteCall& call, PackedConstants& packed, Instance& instance) {
  if (accumulation_dtype(call.result.dtype) != DType::F32 || call.result.rank() < 2 || call.result.rank() > 12)
    return false;
  if (call.result.numel() == 0 || call.operands[0].shape.back() == 0) return false;
  const bool narrow =
      call.operands[0].dtype == DType::BF16 && call.operands[1].dtype == DType::BF16 && onednn_dtype(DType::BF16);
  return (narrow && build(call, DType::BF16, packed, instance)) || build(call, DType::F32, packed, instance);
}

}  // namespace strata::library
