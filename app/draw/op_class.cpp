// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/op_class.h"

#include <algorithm>
#include <unordered_map>

namespace strata::draw {
namespace {

struct Row {
  OpClass op_class;
  std::string_view names;  // separated by blanks
};

// Everything that is not named here and has tensor operands is taken for pointwise only if it is an ATen operator.
constexpr Row kRows[] = {
    {OpClass::Contraction,
     "mm bmm addmm addmv baddbmm addbmm matmul linear mv dot vdot outer einsum convolution conv1d conv2d conv3d "
     "conv_transpose1d conv_transpose2d conv_transpose3d convolution_backward _convolution "
     "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention "
     "_scaled_dot_product_efficient_attention _scaled_dot_product_attention_math matmul_packed conv_packed lstm gru"},
    {OpClass::Reduction,
     "sum mean prod amax amin max min argmax argmin any all var var_mean std std_mean norm linalg_vector_norm "
     "logsumexp softmax _softmax log_softmax _log_softmax layer_norm native_layer_norm batch_norm native_batch_norm "
     "_native_batch_norm_legit_no_training _native_batch_norm_legit group_norm native_group_norm rms_norm "
     "cross_entropy nll_loss mse_loss count_nonzero _softmax_backward_data native_layer_norm_backward cumsum cumprod"},
    {OpClass::View,
     "view reshape permute transpose t expand squeeze unsqueeze slice select split split_with_sizes chunk unbind "
     "flatten unflatten as_strided alias detach view_as narrow movedim swapaxes diagonal contiguous clone getitem "
     "_unsafe_view expand_as mT real unfold lift_fresh_copy"},
    {OpClass::Indexing,
     "embedding gather index index_select scatter scatter_add index_put cat stack pad constant_pad_nd "
     "max_pool2d max_pool2d_with_indices avg_pool2d adaptive_avg_pool2d _adaptive_avg_pool2d mean_pool flip roll "
     "repeat repeat_interleave upsample_nearest2d upsample_bilinear2d interpolate tril triu sort topk where_index "
     "slice_scatter select_scatter full full_like zeros zeros_like ones ones_like empty empty_like arange linspace "
     "scalar_tensor eye new_zeros new_ones new_full new_empty one_hot max_pool1d reflection_pad2d"},
    {OpClass::Random, "rand randn rand_like randn_like bernoulli dropout native_dropout randint normal multinomial"},
    {OpClass::Symbolic,
     "sym_size sym_numel sym_stride sym_constrain_range _assert_scalar _assert_async _assert_tensor_metadata "
     "sym_constrain_range_for_size item _local_scalar_dense sym_sum"},
};

const std::unordered_map<std::string_view, OpClass>& table() {
  static const auto built = [] {
    std::unordered_map<std::string_view, OpClass> map;
    for (const Row& row : kRows) {
      std::string_view rest = row.names;
      while (!rest.empty()) {
        size_t end = std::min(rest.find(' '), rest.size());
        map.emplace(rest.substr(0, end), row.op_class);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return map;
  }();
  return built;
}

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// Rows through which PyTorch is called: `called.NAME`, `called_in_order.NAME`.
bool is_called(std::string_view target) {
  return starts(target, "called.") || (starts(target, "called_") && target.find('.') != std::string_view::npos);
}

bool is_parameter_name(std::string_view name) {
  return starts(name, "p_") || starts(name, "b_") || starts(name, "c_") || starts(name, "lifted_tensor");
}

}  // namespace

std::string_view label(OpClass c) {
  constexpr std::string_view names[kOpClasses] = {"input",           "parameter, constant",
                                                  "output",          "pointwise",
                                                  "reduction, norm", "matrix product, convolution",
                                                  "view, copy",      "indexing, pooling, creation",
                                                  "random",          "sizes, checks",
                                                  "other",           "opaque: PyTorch is called"};
  int i = static_cast<int>(c);
  return i >= 0 && i < kOpClasses ? names[i] : "other";
}

std::string short_name(std::string_view target) {
  std::string_view rest = target;
  if (is_called(rest)) rest.remove_prefix(rest.find('.') + 1);
  if (size_t colons = rest.rfind("::"); colons != std::string_view::npos) {
    rest.remove_prefix(colons + 2);
    return std::string(rest.substr(0, rest.find('.')));
  }
  if (starts(rest, "torch.ops.")) rest.remove_prefix(10);
  size_t first = rest.find('.');
  if (first == std::string_view::npos) return std::string(rest);
  size_t last = rest.rfind('.');
  // namespace.op.overload; anything deeper is a Python path whose last word is the name.
  bool overload = last != first && rest.find('.', first + 1) == last && !starts(rest, "torch.");
  return std::string(overload ? rest.substr(first + 1, last - first - 1) : rest.substr(last + 1));
}

OpClass classify(std::string_view op, std::string_view target, std::string_view name) {
  if (op == "output") return OpClass::Output;
  if (op == "placeholder" || op == "input") return is_parameter_name(name) ? OpClass::Parameter : OpClass::Input;
  if (op == "constant" || op == "get_attr" || op == "parameter" || op == "buffer") return OpClass::Parameter;
  if (is_called(target)) return OpClass::Opaque;
  std::string base = short_name(target);
  if (auto it = table().find(base); it != table().end()) return it->second;
  if (!base.empty() && base.back() == '_') {
    base.pop_back();  // in-place variants
    if (auto it = table().find(base); it != table().end()) return it->second;
  }
  if (starts(target, "sym.") || op == "symbol") return OpClass::Symbolic;
  bool known =
      starts(target, "aten.") || starts(target, "prims.") || starts(target, "torch.") || starts(target, "aten::");
  return known ? OpClass::Pointwise : OpClass::Other;
}

}  // namespace strata::draw
