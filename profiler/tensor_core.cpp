// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/tensor_core.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace strata::profiler {
namespace {

bool has_any(std::string_view name, auto&& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return name.find(w) != name.npos; });
}

/// Parts of names of kernels that use no Tensor Core though their family may: checked first.
constexpr std::array<std::string_view, 27> kNever = {"ffma",
                                                     "simt",
                                                     "splitKreduce",
                                                     "ReduceSplitK",
                                                     "split_k_kernel",
                                                     "nchwToNhwc",
                                                     "nhwcToNchw",
                                                     "init_device_workspace",
                                                     "convertTensor",
                                                     "scalePackedTensor",
                                                     "winograd_nonfused::winogradWgrad",
                                                     "cublasLt::epilogue",
                                                     "compute_dot_do_o",
                                                     "convert_dq",
                                                     "MmaSimt",
                                                     "sgemm_largek",
                                                     "ampere_sgemm",
                                                     "volta_sgemm",
                                                     "maxwell_",
                                                     "implicit_convolve_sgemm",
                                                     "convolve_common_engine",
                                                     "wgrad_alg",
                                                     "dgrad_engine",
                                                     "scudnn",
                                                     "bn_bw_1C11",
                                                     "bn_fw_",
                                                     "reduce_wgrad"};

constexpr std::array<std::string_view, 18> kAlways = {
    "tensorop",  "MmaTensorOp", "OpClassTensorOp",  "wgmma",      "hmma",      "imma",
    "nvjet",     "tcgen05",     "utcmma",           "tensor16x8", "tensor8x8", "flash_fwd",
    "flash_bwd", "flash::",     "fort_native_sdpa", "mfma",       "FlashAttn", "tensor_op"};

/// Work on single elements, reductions, copies: frameworks' own kernels and Inductor's loops.
constexpr std::array<std::string_view, 22> kPlain = {"at::native::",  "at_cuda_detail",
                                                     "triton_poi_",   "triton_red_",
                                                     "triton_per_",   "triton_for_",
                                                     "triton_spl_",   "elementwise",
                                                     "vectorized_",   "multi_tensor_apply",
                                                     "softmax",       "Memcpy",
                                                     "Memset",        "ncclKernel",
                                                     "ncclDevKernel", "CatArrayBatchedCopy",
                                                     "gemv",          "dot_kernel",
                                                     "scal_kernel",   "cub::",
                                                     "thrust::",      "gemmSN_"};

/// `_s1688gemm`, `_h884gemm`, `_fp16_s16816gemm`, `i8816`: the shape of a matrix instruction with its type letter.
bool names_instruction(std::string_view name) {
  for (const std::string_view shape : {"884", "1688", "8816", "16816", "16832", "168256"})
    for (size_t at = name.find(shape); at != name.npos; at = name.find(shape, at + 1)) {
      if (at == 0 || std::string_view("shidbzcg").find(name[at - 1]) == std::string_view::npos) continue;
      const bool whole =
          at + shape.size() == name.size() || !std::isdigit(static_cast<unsigned char>(name[at + shape.size()]));
      if (whole && (at == 1 || name[at - 2] == '_')) return true;
    }
  return false;
}

/// The implicit-GEMM kernels of Hopper name types and a warp group, no instruction: those are wgmma.
bool warp_group(std::string_view name) {
  return name.find("xmma") != name.npos && name.find("warpgroupsize") != name.npos;
}

/// Memory-efficient attention of PyTorch: half types from sm70 on, single precision (as three TF32 products) from sm80.
bool attention(std::string_view name, bool& known) {
  const size_t at = name.find("fmha_cutlass");
  known = at != name.npos;
  if (!known) return false;
  const bool single = name.find("_f32_", at) != name.npos;
  return !single || name.find("sm80") != name.npos || name.find("Sm80") != name.npos;
}

}  // namespace

TensorCoreUse tensor_core_use(std::string_view name) {
  if (has_any(name, kNever)) return TensorCoreUse::No;
  bool known = false;
  const bool fmha = attention(name, known);
  if (known) return fmha ? TensorCoreUse::Yes : TensorCoreUse::No;
  if (has_any(name, kAlways) || names_instruction(name) || warp_group(name)) return TensorCoreUse::Yes;
  if (has_any(name, kPlain)) return TensorCoreUse::No;
  return TensorCoreUse::Unknown;
}

std::string_view tensor_core_text(TensorCoreUse use) {
  if (use == TensorCoreUse::Unknown) return "unknown";
  return use == TensorCoreUse::Yes ? "yes" : "no";
}

}  // namespace strata::profiler
