// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/library_groups.h"

#include <algorithm>
#include <array>
#include <string>

namespace strata::profiler {
namespace {

enum class Sort { Head, Tail, Product, Convolution, Attention, Other };

template <size_t N>
bool has(std::string_view name, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return name.find(w) != name.npos; });
}

constexpr std::array<std::string_view, 10> kHeads = {"memcpy",
                                                     "Memcpy",
                                                     "Memset",
                                                     "scal_kernel",
                                                     "nchwToNhwc",
                                                     "init_device_workspace",
                                                     "winogradWgradData",
                                                     "winogradWgradDelta",
                                                     "scalePackedTensor",
                                                     "compute_dot_do_o"};
constexpr std::array<std::string_view, 8> kTails = {"splitKreduce",       "split_k_kernel", "ReduceSplitK",
                                                    "cublasLt::epilogue", "nhwcToNchw",     "winogradWgradOutput",
                                                    "reduce_wgrad",       "convert_dq"};
constexpr std::array<std::string_view, 3> kAttention = {"fmha", "sdpa", "flash"};
constexpr std::array<std::string_view, 5> kConvolution = {"conv", "fprop", "dgrad", "wgrad", "winograd"};
constexpr std::array<std::string_view, 5> kProduct = {"gemm", "nvjet", "gemv", "dot_kernel", "cutlass"};
/// Around products these say that a convolution uses them.
constexpr std::array<std::string_view, 4> kOfConvolution = {"winograd", "nchwToNhwc", "nhwcToNchw", "wgrad"};

Sort sort_of(std::string_view name) {
  if (has(name, kHeads)) return Sort::Head;
  if (has(name, kTails)) return Sort::Tail;
  if (name.find("at::native") != name.npos) return has(name, kConvolution) ? Sort::Convolution : Sort::Other;
  if (has(name, kAttention)) return Sort::Attention;
  if (has(name, kConvolution)) return Sort::Convolution;
  return has(name, kProduct) ? Sort::Product : Sort::Other;
}

/// A main kernel with what prepares and finishes it.
struct Group {
  size_t begin = 0, end = 0;
  Sort sort = Sort::Other;
};

std::vector<Group> group(const std::vector<std::string_view>& kernels) {
  std::vector<Group> groups;
  bool open = false;  // heads without a main kernel yet
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Sort sort = sort_of(kernels[i]);
    const bool tail = sort == Sort::Tail && !groups.empty() && !open;
    if (!tail && !open) groups.push_back({i, i, Sort::Head});
    groups.back().end = i + 1;
    if (sort != Sort::Tail && sort != Sort::Head) groups.back().sort = sort;
    open = !tail && (sort == Sort::Head || (sort == Sort::Tail && open));
  }
  if (open && groups.size() > 1) {  // preparations of nothing
    const size_t end = groups.back().end;
    groups.pop_back();
    groups.back().end = end;
  }
  for (Group& g : groups)
    for (size_t i = g.begin; i < g.end; ++i)
      if (has(kernels[i], kOfConvolution)) g.sort = Sort::Convolution;
  return groups;
}

/// How many groups a call can have, and of which sorts.
struct Takes {
  size_t least = 1, most = 1;
  std::array<bool, 6> sorts{};
};

Takes takes(std::string_view call) {
  Takes t;
  const auto allow = [&](std::initializer_list<Sort> sorts) {
    for (Sort s : sorts) t.sorts[static_cast<size_t>(s)] = true;
  };
  if (call.find("convolution_backward") != call.npos) {
    t.most = 2;
    allow({Sort::Convolution, Sort::Product});
  } else if (call.find("conv") != call.npos) {
    allow({Sort::Convolution, Sort::Product});
  } else if (call.find("attention") != call.npos) {
    t.most = 4;
    allow({Sort::Attention, Sort::Other, Sort::Head});
  } else if (call.find("mm") != call.npos || call.find("addmv") != call.npos || call.find("dot") != call.npos) {
    allow({Sort::Product});
  } else {
    t.most = 8;
    allow({Sort::Other, Sort::Head});
  }
  return t;
}

}  // namespace

std::vector<int> divide_among_calls(const std::vector<std::string_view>& kernels,
                                    const std::vector<std::string_view>& calls) {
  const std::vector<Group> groups = group(kernels);
  const size_t n = groups.size(), m = calls.size();
  if (n < m || m == 0 || n * m > 4'000'000) return {};
  std::vector<Takes> rules;
  for (std::string_view call : calls) rules.push_back(takes(call));
  // ways[i][j]: how the groups from i on can go to the calls from j on; 2 stands for more.
  std::vector<std::vector<int>> ways(n + 1, std::vector<int>(m + 1, 0));
  ways[n][m] = 1;
  const auto fits = [&](size_t g, size_t c) { return rules[c].sorts[static_cast<size_t>(groups[g].sort)]; };
  for (size_t j = m; j-- > 0;)
    for (size_t i = n; i-- > 0;)
      for (size_t k = 1; k <= rules[j].most && i + k <= n && fits(i + k - 1, j); ++k)
        if (k >= rules[j].least) ways[i][j] = std::min(2, ways[i][j] + ways[i + k][j + 1]);
  if (ways[0][0] != 1) return {};
  std::vector<int> owner(kernels.size(), -1);
  for (size_t i = 0, j = 0; j < m; ++j) {
    size_t k = 1;
    while (ways[i + k][j + 1] == 0) ++k;
    for (size_t at = groups[i].begin; at < groups[i + k - 1].end; ++at) owner[at] = static_cast<int>(j);
    i += k;
  }
  return owner;
}

}  // namespace strata::profiler
