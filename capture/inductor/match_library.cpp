// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Library calls: the node with their operator on their operands.

#include <algorithm>
#include <array>

#include "capture/inductor/matcher.h"

namespace strata::capture::detail {

std::vector<std::string_view> operators_of(std::string_view callee) {
  std::string_view op = operator_name(callee);
  if (callee.starts_with("aoti_torch_")) {
    // `aoti_torch_cpu_addmm_out`
    op = callee.substr(11);
    for (const std::string_view device : {"cpu_", "cuda_", "xpu_", "mps_"}) {
      if (op.starts_with(device)) op.remove_prefix(device.size());
    }
    if (op.ends_with("_out")) op.remove_suffix(4);
  }
  std::vector<std::string_view> out = {op};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOther = {{
      {"randint", "inductor_seeds"},
      {"bias_addmm", "addmm"},
      {"_mm_plus_mm", "mm_plus_mm"},
      {"item", "_local_scalar_dense"},
      {"copy_", "copy"},
      {"copy_", "device_put"},
      {"copy_", "_to_copy"},
      {"copy_", "convert_element_type"},
      {"index_put_", "_unsafe_index_put"},
      {"scatter_", "scatter_value"},
      {"addmm", "_linear_pointwise"},
      {"mm", "_linear_pointwise"},
  }};
  for (const auto& [from, to] : kOther) {
    if (op == from) out.push_back(to);
  }
  if (op.ends_with("_") && op.size() > 1) out.push_back(op.substr(0, op.size() - 1));
  return out;
}

void Matcher::from_operands(const CodeLaunch& l, LaunchMatch& match) {
  std::vector<std::string_view> operators = operators_of(l.callee);
  if (l.kernel >= 0) operators = {"triton_kernel_wrapper_mutation", "triton_kernel_wrapper_functional"};
  int best = best_call(l, operators);
  if (best < 0 && !l.original_aten.empty()) {
    // The call is named otherwise than the operator it does: the comment's last operator.
    best = best_call(l, {operator_name(l.original_aten.back())});
  }
  if (best < 0 && l.kernel < 0) best = call_on_same_operands(l);
  if (best < 0) return;
  claimed_library_[static_cast<size_t>(best)] = 1;
  match.nodes.push_back(best);
  if (l.callee.starts_with("torch.ops.")) add_operand_views(best, match.nodes);
  match.source = MatchSource::Operands;
}

void Matcher::add_operand_views(int n, std::vector<int>& nodes) const {
  for (int in : graph_.inputs(n)) {
    while (graph_.is_view(in)) {
      if (graph_.op(in) != "getitem") nodes.push_back(in);
      in = graph_.inputs(in)[0];
    }
  }
}

int Matcher::best_call(const CodeLaunch& l, const std::vector<std::string_view>& operators) const {
  std::vector<int> reads;
  for (const int b : l.reads) {
    if (const int v = base_value(b); v >= 0) reads.push_back(v);
  }
  sort_unique(reads);
  int best = -1, best_score = -1000;
  for (const std::string_view op : operators) {
    const auto it = by_operator_.find(op);
    if (it == by_operator_.end()) continue;
    for (const int n : it->second) {
      if (claimed_library_[static_cast<size_t>(n)]) continue;
      const int score = call_score(l, n, reads);
      if (score > best_score) {
        best = n;
        best_score = score;
      }
    }
  }
  return best;
}

int Matcher::call_on_same_operands(const CodeLaunch& l) const {
  std::vector<int> reads;
  for (const int b : l.reads) {
    if (const int v = base_value(b); v >= 0) reads.push_back(v);
  }
  sort_unique(reads);
  if (reads.empty()) return -1;
  std::set<int> candidates;
  for (const int v : reads) add_users(v, candidates, 0);
  for (const int n : candidates) {
    const auto at = static_cast<size_t>(n);
    if (claimed_library_[at] || claimed_loop_[at] || graph_.op(n) == "getitem") continue;
    if (call_score(l, n, reads) >= 3 * static_cast<int>(reads.size()) - 1) return n;
  }
  return -1;
}

void Matcher::add_users(int v, std::set<int>& out, int depth) const {
  for (const int user : graph_.users(v)) {
    if (graph_.is_view(user) && depth < 16) add_users(user, out, depth + 1);
    if (graph_.is_call(user) && !graph_.is_view(user)) out.insert(user);
  }
}

int Matcher::call_score(const CodeLaunch& l, int n, const std::vector<int>& reads) const {
  std::vector<int> operands;
  for (const int in : graph_.inputs(n)) operands.push_back(graph_.base(in));
  sort_unique(operands);
  int score = 0;
  for (const int v : reads) score += contains(operands, v) ? 3 : -4;
  for (const int v : operands) score -= contains(reads, v) ? 0 : 1;
  for (const int b : l.writes) {
    const int fit = fits(b, n);
    score += fit > 0 ? 1 : fit < 0 && b != l.result ? -6 : fit < 0 ? -3 : 0;
  }
  for (const std::string& source : l.source_nodes) score += source == graph_.node(n).name ? 1 : 0;
  return score;
}

}  // namespace strata::capture::detail
