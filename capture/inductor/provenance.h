// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inductor's own records of which kernel computes which nodes.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::capture {

/// How Triton came to a kernel's configuration.
struct TritonKernelInfo {
  std::string cache;  ///< `miss`, `hit`, `only 1 config`
  std::int64_t configs = -1;
  std::vector<std::pair<std::string, std::string>> config;  ///< `XBLOCK`, `32`
  std::int64_t compile_us = -1;
};

/// All of one program. Names of kernels are as written: `NAME` or, with debug handles, `NAME:7`.
struct ProvenanceMaps {
  using Names = std::map<std::string, std::vector<std::string>, std::less<>>;
  Names kernel_to_post;  ///< kernel, post-grad nodes
  Names pre_to_post;     ///< node of the graph before gradients, post-grad nodes
  Names post_to_pre;
  Names kernel_stacks;  ///< kernel, stack texts
  std::map<std::string, TritonKernelInfo, std::less<>> triton;
  bool empty() const {
    return kernel_to_post.empty() && pre_to_post.empty() && kernel_stacks.empty() && triton.empty();
  }
};

/// Any of the texts may be empty. `post_nodes` is `inductor_triton_kernel_to_post_grad_nodes` of older versions.
/// Texts that are not JSON, or other JSON, give empty maps; `bad` (may be null) counts them.
ProvenanceMaps parse_provenance(std::string_view node_mappings, std::string_view kernel_stack_traces,
                                std::string_view triton_kernel_info, std::string_view post_nodes = {},
                                int* bad = nullptr);

}  // namespace strata::capture
