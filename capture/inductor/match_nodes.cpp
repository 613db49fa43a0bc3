// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/match_nodes.h"

#include "capture/inductor/matcher.h"
#include "capture/inductor/py_text.h"

namespace strata::capture {
namespace detail {
namespace {

/// The number of elements, or the dims that are no numbers, sorted: equal for equal sizes.
std::string extent(const std::vector<std::string_view>& dims) {
  std::int64_t number = 1;
  std::vector<std::string_view> words;
  for (const std::string_view dim : dims) {
    if (const auto n = py::integer(dim)) {
      if (__builtin_mul_overflow(number, *n, &number)) number = -1;
    } else {
      words.push_back(dim);
    }
  }
  std::sort(words.begin(), words.end());
  std::string out = std::to_string(number);
  for (const std::string_view word : words) out.append("*").append(word);
  return out;
}

}  // namespace

ProgramMatch Matcher::run() {
  prepare_buffers();
  index_operators();
  out_.launches.resize(code_.launches.size());
  for (size_t i = 0; i < code_.launches.size(); ++i) launch(static_cast<int>(i));
  return std::move(out_);
}

void Matcher::prepare_buffers() {
  for (size_t i = 0; i < code_.buffers.size(); ++i) {
    const CodeBuffer& b = code_.buffers[i];
    if (b.kind == "input" || b.kind == "constant") {
      set_value(static_cast<int>(i), graph_.find(b.name));
    } else if (const int n = child_input(b.name); n >= 0) {
      set_value(static_cast<int>(i), n);
    }
  }
  for (size_t i = 0; i < code_.launches.size(); ++i) {
    first_launches_.try_emplace(code_.launches[i].kernel, static_cast<int>(i));
    for (const int b : code_.launches[i].writes) last_writer_[static_cast<size_t>(b)] = static_cast<int>(i);
  }
  const std::vector<int>& outputs = graph_.outputs();
  if (outputs.size() != code_.output_buffers.size()) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int b = code_.output_buffers[i];
    if (b >= 0 && outputs[i] >= 0) final_[static_cast<size_t>(b)] = outputs[i];
  }
}

int Matcher::child_input(std::string_view name) const {
  for (const std::string_view child : graph_.children()) {
    if (name.size() <= child.size() + 1 || !name.starts_with(child) || name[child.size()] != '_') continue;
    const int n = graph_.find(std::string(child) + "/" + std::string(name.substr(child.size() + 1)));
    if (n >= 0 && !graph_.is_call(n)) return n;
  }
  return -1;
}

void Matcher::index_operators() {
  for (int n = 0; n < graph_.size(); ++n) {
    if (graph_.is_call(n)) by_operator_[graph_.op(n)].push_back(n);
  }
  std::set<std::string_view> seen;
  for (const CodeLaunch& l : code_.launches) {
    if (l.kernel >= 0 || !seen.insert(l.callee).second) continue;
    for (const std::string_view op : operators_of(l.callee)) library_operators_.insert(op);
  }
  for (int n = 0; n < graph_.size(); ++n) {
    const std::vector<int>& inputs = graph_.inputs(n);
    const bool number = !graph_.is_call(n) && graph_.node(n).shape.empty();
    constant_.push_back(number ||
                        (graph_.is_call(n) && !is_library(n) && std::all_of(inputs.begin(), inputs.end(), [&](int in) {
                           return constant_[static_cast<size_t>(in)];
                         })));
  }
}

void Matcher::set_value(int b, int node) {
  value_[static_cast<size_t>(b)] = node;
  int& first = out_.buffer_nodes[static_cast<size_t>(b)];
  if (first < 0) first = node;
}

int Matcher::value(int b) const {
  for (size_t steps = 0; b >= 0 && steps <= code_.buffers.size(); ++steps) {
    // Written, but what with is not known: what it took over before no longer counts.
    if (value_[static_cast<size_t>(b)] < 0 && writer_[static_cast<size_t>(b)] >= 0) return -1;
    if (value_[static_cast<size_t>(b)] >= 0) return value_[static_cast<size_t>(b)];
    const CodeBuffer& now = buffer(b);
    if (now.element >= 0 && now.alias_of >= 0) {
      const int whole = value_[static_cast<size_t>(now.alias_of)];
      return whole < 0 ? -1 : graph_.element(whole, now.element);
    }
    b = now.reuse_of >= 0 ? now.reuse_of : now.alias_of;
  }
  return -1;
}

std::string_view Matcher::dtype_of(int b) const {
  for (size_t steps = 0; b >= 0 && steps <= code_.buffers.size(); ++steps) {
    if (!buffer(b).dtype.empty()) return buffer(b).dtype;
    if (const int n = out_.buffer_nodes[static_cast<size_t>(b)]; n >= 0 && !graph_.node(n).dtype.empty()) {
      return graph_.node(n).dtype;
    }
    b = buffer(b).reuse_of >= 0 ? buffer(b).reuse_of : buffer(b).alias_of;
  }
  return {};
}

int Matcher::fits(int b, int n) const {
  if (b < 0) return 0;
  const CodeBuffer& held = buffer(b);
  const trace::NodeRecord& node = graph_.node(n);
  const std::string_view dtype = dtype_of(b);
  if (!dtype.empty() && !node.dtype.empty() && short_dtype(dtype) != node.dtype) return -1;
  if (!held.has_sizes || node.shape.empty()) return 0;
  const std::vector<std::string_view> sizes(held.sizes.begin(), held.sizes.end());
  return extent(sizes) == extent(py::items(node.shape)) ? 1 : -1;
}

void Matcher::launch(int index) {
  const CodeLaunch& l = code_.launches[static_cast<size_t>(index)];
  LaunchMatch& match = out_.launches[static_cast<size_t>(index)];
  First before{index, operand_values(l), operand_writers(l), {}};
  if (from_maps(l, match)) {
  } else if (l.kernel < 0 || is_user_kernel(l)) {
    from_operands(l, match);
  } else {
    loop(l, match);
  }
  sort_unique(match.nodes);
  bind(index, match);
  if (l.kernel < 0) return;
  for (const int n : match.nodes) claimed_loop_[static_cast<size_t>(n)] = 1;
  if (match.nodes.empty() || first_.contains(l.kernel)) return;
  before.results = operand_values(l);
  first_.try_emplace(l.kernel, std::move(before));
}

bool Matcher::is_user_kernel(const CodeLaunch& l) const {
  const CodeKernel& kernel = code_.kernels[static_cast<size_t>(l.kernel)];
  return kernel.family == "user" && kernel.fragment.empty();
}

std::vector<int> Matcher::operand_values(const CodeLaunch& l) const {
  std::vector<int> out;
  for (const auto& buffers : l.buffers) out.push_back(buffers.empty() ? -1 : base_value(buffers[0]));
  return out;
}

std::vector<int> Matcher::operand_writers(const CodeLaunch& l) const {
  std::vector<int> out;
  for (const auto& buffers : l.buffers) {
    int writer = -1;
    int b = buffers.empty() ? -1 : buffers[0];
    for (size_t steps = 0; b >= 0 && writer < 0 && steps <= code_.buffers.size(); ++steps) {
      writer = writer_[static_cast<size_t>(b)];
      b = buffer(b).reuse_of >= 0 ? buffer(b).reuse_of : buffer(b).alias_of;
    }
    out.push_back(writer);
  }
  return out;
}

bool Matcher::from_maps(const CodeLaunch& l, LaunchMatch& match) {
  if (maps_.kernel_to_post.empty()) return false;
  auto it = maps_.kernel_to_post.end();
  if (l.handle >= 0) {
    const std::string name = l.handle_name.empty() ? l.callee : l.handle_name;
    it = maps_.kernel_to_post.find(name + ":" + std::to_string(l.handle));
  } else if (launches_named(l.callee) == 1) {
    it = maps_.kernel_to_post.find(l.callee);
  }
  if (it == maps_.kernel_to_post.end()) return false;
  for (const std::string& name : it->second) {
    if (const int n = graph_.find(name); n >= 0) match.nodes.push_back(n);
  }
  if (match.nodes.empty()) return false;
  match.source = MatchSource::Maps;
  if (l.kernel < 0) {
    for (const int n : match.nodes) claimed_library_[static_cast<size_t>(n)] = 1;
  }
  return true;
}

int Matcher::launches_named(std::string_view callee) {
  if (counts_.empty()) {
    for (const CodeLaunch& l : code_.launches) ++counts_[l.callee];
  }
  return counts_[callee];
}

void Matcher::bind(int index, const LaunchMatch& match) {
  const CodeLaunch& l = code_.launches[static_cast<size_t>(index)];
  std::vector<int> stores = stored_nodes(l, match);
  for (const int b : l.writes) {
    writer_[static_cast<size_t>(b)] = index;
    int node = -1;
    if (last_writer_[static_cast<size_t>(b)] == index) node = final_[static_cast<size_t>(b)];
    if (l.kernel < 0 && !match.nodes.empty() && node < 0) node = match.nodes.back();
    if (node < 0 && match.source == MatchSource::Repeat) {
      if (const auto known = repeated_.find(b); known != repeated_.end()) node = known->second;
    }
    if (node < 0) node = best_store(index, b, stores);
    // A part of a reduction that another kernel completes is no node's value.
    value_[static_cast<size_t>(b)] = -1;
    if (node < 0) continue;
    std::erase(stores, graph_.base(node));
    finished_.insert(node);
    set_value(b, node);
  }
}

int Matcher::best_store(int index, int b, const std::vector<int>& stores) const {
  std::vector<int> fitting;
  for (const int n : stores) {
    if (fits(b, n) > 0) fitting.push_back(n);
  }
  if (fitting.empty()) return -1;
  if (fitting.size() == 1) return fitting[0];
  for (size_t i = static_cast<size_t>(index) + 1; i < code_.launches.size(); ++i) {
    const CodeLaunch& later = code_.launches[i];
    const bool reads = std::any_of(later.reads.begin(), later.reads.end(), [&](int r) { return comes_from(r, b); });
    if (reads && later.kernel >= 0 && first_launch(later.kernel) == static_cast<int>(i)) {
      for (const int n : fitting) {
        if (reads_node(commented(later), graph_.node(n).name)) return n;
      }
    }
    if (std::find(later.writes.begin(), later.writes.end(), b) != later.writes.end()) break;
  }
  return fitting[0];
}

bool Matcher::comes_from(int b, int source) const {
  for (int steps = 0; b >= 0 && steps < 64; ++steps) {
    if (b == source) return true;
    b = buffer(b).reuse_of >= 0 ? buffer(b).reuse_of : buffer(b).alias_of;
  }
  return false;
}

bool Matcher::reads_node(const CodeKernel& kernel, std::string_view name) {
  return std::any_of(kernel.fragment.begin(), kernel.fragment.end(),
                     [&](const FragmentNode& f) { return f.placeholder && f.name == name; });
}

int Matcher::first_launch(int kernel) const {
  const auto it = first_launches_.find(kernel);
  return it == first_launches_.end() ? -1 : it->second;
}

std::vector<int> Matcher::stored_nodes(const CodeLaunch& l, const LaunchMatch& match) const {
  std::vector<int> out;
  if (match.source == MatchSource::Comment && l.kernel >= 0) {
    for (const std::string& name : commented(l).stores) {
      if (const int n = graph_.find(name); n >= 0) out.push_back(n);
    }
  }
  for (const int n : match.nodes) {
    if (graph_.is_view(n) || std::find(out.begin(), out.end(), n) != out.end()) continue;
    if (leaves(n, match.nodes)) out.push_back(n);
  }
  return out;
}

ProgramMatch match_nodes(const OutputCode& code, const ProvenanceMaps& maps, const GraphView& graph) {
  return Matcher(code, maps, graph).run();
}

}  // namespace detail

ProgramMatch match_nodes(const OutputCode& code, const ProvenanceMaps& maps, std::span<const trace::NodeRecord> nodes) {
  return detail::match_nodes(code, maps, detail::GraphView(nodes));
}

}  // namespace strata::capture
