// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "capture/torch_graph/align.h"

// What Python calls decompose into, as far as it helps to tell them apart. A call that is not here decomposes into the
// operator of its own name.

namespace strata::capture::graphs {
namespace {

struct Decomposition {
  std::string_view calls;  // words
  std::string_view aten;
};

constexpr Decomposition kDecompositions[] = {
    {"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
     "convolution squeeze unsqueeze _to_copy convert_element_type"},
    {"linear",
     "addmm mm bmm permute t transpose view _unsafe_view reshape add unsqueeze squeeze expand "
     "convert_element_type _to_copy clone sum"},
    {"matmul mm bmm baddbmm addmm __matmul__",
     "mm bmm addmm view _unsafe_view reshape expand permute transpose clone unsqueeze squeeze mul sum mv dot "
     "convert_element_type _to_copy"},
    {"einsum", "permute unsqueeze squeeze bmm mm view _unsafe_view reshape mul sum clone expand"},
    {"batch_norm instance_norm",
     "_native_batch_norm_legit_functional _native_batch_norm_legit_no_training native_batch_norm cudnn_batch_norm "
     "_native_batch_norm_legit add mul sub var_mean rsqrt sqrt reciprocal squeeze unsqueeze copy_ copy getitem view "
     "convert_element_type _to_copy div sum"},
    {"layer_norm group_norm rms_norm",
     "native_layer_norm native_group_norm _fused_rms_norm var_mean rsqrt sub mul add pow mean view unsqueeze squeeze "
     "convert_element_type _to_copy div sum getitem"},
    {"dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout",
     "native_dropout rand gt lt mul bernoulli div clone empty_like inductor_random inductor_lookup_seed inductor_seeds "
     "convert_element_type"},
    {"softmax log_softmax softmin", "_softmax _log_softmax amax sub exp sum div log mul neg convert_element_type"},
    {"cross_entropy nll_loss",
     "_log_softmax log_softmax nll_loss_forward nll_loss amax sub exp sum log gather ne where neg div unsqueeze "
     "squeeze "
     "scalar_tensor full convert_element_type view mean eq scatter mul"},
    {"mse_loss l1_loss smooth_l1_loss huber_loss", "sub pow mean sum abs mul lt where div sign"},
    {"binary_cross_entropy binary_cross_entropy_with_logits", "sub mul log log1p exp abs neg add mean minimum"},
    {"gelu", "mul erf add tanh pow convert_element_type exp"},
    {"silu mish", "sigmoid mul neg exp add div convert_element_type tanh log1p"},
    {"hardswish hardsigmoid hardtanh relu6",
     "add clamp_min clamp_max clamp mul div lt gt le ge where bitwise_or "
     "bitwise_and logical_and full scalar_tensor sub"},
    {"relu threshold leaky_relu elu selu celu", "threshold le gt where mul full scalar_tensor alias detach expm1"},
    {"sigmoid tanh logsigmoid softplus", "mul sub neg exp add div alias detach log1p"},
    {"max_pool1d max_pool2d max_pool3d adaptive_max_pool2d max_pool2d_with_indices",
     "max_pool2d_with_indices max_pool3d_with_indices _low_memory_max_pool_with_offsets "
     "_low_memory_max_pool_offsets_to_indices getitem squeeze unsqueeze _low_memory_max_pool2d_with_offsets "
     "_low_memory_max_pool2d_offsets_to_indices"},
    {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d",
     "_adaptive_avg_pool2d avg_pool2d mean view expand div sum squeeze unsqueeze"},
    {"scaled_dot_product_attention flex_attention multi_head_attention_forward",
     "_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
     "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_fused_attention_overrideable "
     "mul expand clone view reshape permute transpose bmm mm add sub exp sum div amax full where eq logical_not any "
     "full_like scalar_tensor getitem unsqueeze squeeze slice constant_pad_nd tril ones masked_fill _softmax "
     "_safe_softmax neg fma addmm"},
    {"embedding embedding_bag", "embedding index embedding_dense full where index_put eq unsqueeze scalar_tensor"},
    {"view reshape flatten unflatten view_as reshape_as ravel", "view reshape _unsafe_view clone alias"},
    {"contiguous clone detach alias", "clone alias detach copy"},
    {"transpose t permute T mT swapaxes movedim transpose_", "permute transpose t"},
    {"chunk split split_with_sizes tensor_split unbind",
     "split split_with_sizes slice getitem select unbind squeeze cat stack"},
    {"cat concat concatenate hstack vstack stack", "cat unsqueeze slice view"},
    {"to float half bfloat16 double long int bool type type_as cpu cuda _to_copy",
     "_to_copy convert_element_type device_put clone"},
    {"getitem", "slice select unsqueeze index squeeze slice_backward select_backward getitem full index_put alias"},
    {"setitem",
     "slice select slice_scatter select_scatter copy copy_ index_put fill full scalar_tensor lift_fresh_copy"},
    {"masked_fill masked_fill_ where", "where full scalar_tensor masked_fill lift_fresh_copy"},
    {"arange", "iota arange mul add convert_element_type"},
    {"full full_like zeros ones zeros_like ones_like new_zeros new_ones new_full empty scalar_tensor tensor",
     "full full_like scalar_tensor empty zeros ones lift_fresh_copy _tensor_constant0"},
    {"truediv div divide true_divide floordiv floor_divide", "div reciprocal mul floor convert_element_type neg"},
    {"sub rsub subtract neg", "sub neg rsub"},
    {"pow square sqrt rsqrt reciprocal", "pow mul rsqrt sqrt reciprocal"},
    {"mean std var sum norm", "mean var sqrt sum div mul linalg_vector_norm pow var_mean expand unsqueeze"},
    {"pad", "constant_pad_nd reflection_pad2d replication_pad2d"},
    {"interpolate upsample",
     "upsample_nearest2d upsample_bilinear2d _unsafe_index iota add mul convert_element_type "
     "unsqueeze sub clamp _unsafe_index_put"},
    {"lstm gru rnn_tanh rnn_relu lstm_cell gru_cell",
     "addmm mm add mul sigmoid tanh split getitem unsqueeze squeeze permute t view select cat slice full sub clone"},
    {"repeat expand expand_as repeat_interleave tile", "expand repeat clone view unsqueeze sum"},
    {"ne eq lt le gt ge __and__ and_ __or__ or_ invert", "logical_not bitwise_and bitwise_or bitwise_not logical_and"},
    {"rotary_embedding", "mul add neg cat slice"},
    {"checkpoint tag_activation_checkpoint", ""},
};

using Words = std::vector<std::string_view>;

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const std::unordered_map<std::string_view, Words>& decompositions() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Words> out;
    for (const Decomposition& d : kDecompositions)
      for (const std::string_view call : words_of(d.calls)) out.emplace(call, words_of(d.aten));
    return out;
  }();
  return table;
}

}  // namespace

std::string_view operator_stem(const trace::NodeRecord& node) {
  std::string_view target = node.target;
  const bool python = target.starts_with("_operator.");
  const size_t first = target.find('.');
  if (node.op == "call_function" && first != std::string_view::npos && !target.starts_with("torch")) {
    target.remove_prefix(first + 1);  // the namespace; then the overload
    target = target.substr(0, target.find('.'));
  } else {
    target.remove_prefix(target.rfind('.') + 1);
  }
  if (python && target.starts_with("i") && target != "invert" && target != "is_" && target != "index")
    target.remove_prefix(1);
  if (target.size() > 1 && target.ends_with("_") && !target.ends_with("__")) target.remove_suffix(1);
  return target;
}

bool may_compute(std::string_view call, std::string_view aten) {
  if (call == aten || call == kModule) return true;
  if (aten.ends_with("_backward")) aten.remove_suffix(9);
  if (aten.starts_with("_") && aten.substr(1) == call) return true;
  if (call == aten) return true;
  const auto found = decompositions().find(call);
  return found != decompositions().end() &&
         std::find(found->second.begin(), found->second.end(), aten) != found->second.end();
}

}  // namespace strata::capture::graphs
