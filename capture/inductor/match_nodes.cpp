// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/inductor/match_nodes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "capture/inductor/graph_view.h"
#include "capture/inductor/py_text.h"

namespace strata::capture {
namespace {

using detail::GraphView;

/// Nodes that the search for the region of one kernel may visit.
constexpr size_t kMaxRegion = 4000;

struct DtypeName {
  std::string_view torch, brief;
  int bytes;
};
constexpr std::array<DtypeName, 20> kDtypes = {{{"float32", "f32", 4},        {"float64", "f64", 8},
                                                {"float16", "f16", 2},        {"bfloat16", "bf16", 2},
                                                {"int64", "i64", 8},          {"int32", "i32", 4},
                                                {"int16", "i16", 2},          {"int8", "i8", 1},
                                                {"uint8", "u8", 1},           {"bool", "b8", 1},
                                                {"complex64", "c64", 8},      {"complex128", "c128", 16},
                                                {"complex32", "c32", 4},      {"float8_e4m3fn", "f8e4m3fn", 1},
                                                {"float8_e5m2", "f8e5m2", 1}, {"float8_e4m3fnuz", "f8e4m3fnuz", 1},
                                                {"uint16", "u16", 2},         {"uint32", "u32", 4},
                                                {"uint64", "u64", 8},         {"float8_e5m2fnuz", "f8e5m2fnuz", 1}}};

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

void sort_unique(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool contains(const std::vector<int>& sorted, int value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

/// The operator names that a library call may stand for in a graph, besides its own.
std::vector<std::string_view> operators_of(std::string_view callee) {
  std::string_view op = detail::operator_name(callee);
  if (callee.starts_with("aoti_torch_")) {
    // `aoti_torch_cpu_addmm_out`
    op = callee.substr(11);
    for (const std::string_view device : {"cpu_", "cuda_", "xpu_", "mps_"}) {
      if (op.starts_with(device)) op.remove_prefix(device.size());
    }
    if (op.ends_with("_out")) op.remove_suffix(4);
  }
  std::vector<std::string_view> out = {op};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOther = {{
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
      {"wait_tensor", "wait_tensor"},
      {"_scaled_mm", "_scaled_mm"},
  }};
  for (const auto& [from, to] : kOther) {
    if (op == from) out.push_back(to);
  }
  if (op.ends_with("_") && op.size() > 1) out.push_back(op.substr(0, op.size() - 1));
  return out;
}

class Matcher {
 public:
  Matcher(const OutputCode& code, const ProvenanceMaps& maps, std::span<const trace::NodeRecord> nodes)
      : code_(code), maps_(maps), graph_(nodes) {
    value_.assign(code.buffers.size(), -1);
    final_.assign(code.buffers.size(), -1);
    last_writer_.assign(code.buffers.size(), -1);
    writer_.assign(code.buffers.size(), -1);
    out_.buffer_nodes.assign(code.buffers.size(), -1);
    claimed_library_.assign(nodes.size(), 0);
    claimed_loop_.assign(nodes.size(), 0);
  }

  ProgramMatch run() {
    prepare_buffers();
    index_operators();
    out_.launches.resize(code_.launches.size());
    for (size_t i = 0; i < code_.launches.size(); ++i) launch(static_cast<int>(i));
    return std::move(out_);
  }

 private:
  const CodeBuffer& buffer(int b) const { return code_.buffers[static_cast<size_t>(b)]; }

  void prepare_buffers() {
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

  /// `true_graph_0_arg0_1` is the input `true_graph_0/arg0_1` of a child graph.
  int child_input(std::string_view name) const {
    for (const std::string_view child : graph_.children()) {
      if (name.size() <= child.size() + 1 || !name.starts_with(child) || name[child.size()] != '_') continue;
      const int n = graph_.find(std::string(child) + "/" + std::string(name.substr(child.size() + 1)));
      if (n >= 0 && !graph_.is_call(n)) return n;
    }
    return -1;
  }

  void index_operators() {
    for (int n = 0; n < graph_.size(); ++n) {
      if (graph_.is_call(n)) by_operator_[graph_.op(n)].push_back(n);
    }
    std::set<std::string_view> seen;
    for (const CodeLaunch& l : code_.launches) {
      if (l.kernel >= 0 || !seen.insert(l.callee).second) continue;
      for (const std::string_view op : operators_of(l.callee)) library_operators_.insert(op);
    }
  }

  void set_value(int b, int node) {
    value_[static_cast<size_t>(b)] = node;
    int& first = out_.buffer_nodes[static_cast<size_t>(b)];
    if (first < 0) first = node;
  }

  /// The node whose value a buffer holds now.
  int value(int b) const {
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

  int base_value(int b) const { return graph_.base(value(b)); }

  /// The type of a buffer's elements; memory that is taken over keeps it.
  std::string_view dtype_of(int b) const {
    for (size_t steps = 0; b >= 0 && steps <= code_.buffers.size(); ++steps) {
      if (!buffer(b).dtype.empty()) return buffer(b).dtype;
      if (const int n = out_.buffer_nodes[static_cast<size_t>(b)]; n >= 0 && !graph_.node(n).dtype.empty()) {
        return graph_.node(n).dtype;
      }
      b = buffer(b).reuse_of >= 0 ? buffer(b).reuse_of : buffer(b).alias_of;
    }
    return {};
  }

  /// Whether a buffer could hold a node's value: 1 yes, 0 not known, -1 no.
  int fits(int b, int n) const {
    if (b < 0) return 0;
    const CodeBuffer& held = buffer(b);
    const trace::NodeRecord& node = graph_.node(n);
    const std::string_view dtype = dtype_of(b);
    if (!dtype.empty() && !node.dtype.empty() && short_dtype(dtype) != node.dtype) return -1;
    if (!held.has_sizes || node.shape.empty()) return 0;
    const std::vector<std::string_view> sizes(held.sizes.begin(), held.sizes.end());
    return extent(sizes) == extent(py::items(node.shape)) ? 1 : -1;
  }

  void launch(int index) {
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

  bool is_user_kernel(const CodeLaunch& l) const {
    const CodeKernel& kernel = code_.kernels[static_cast<size_t>(l.kernel)];
    return kernel.family == "user" && kernel.fragment.empty();
  }

  std::vector<int> operand_values(const CodeLaunch& l) const {
    std::vector<int> out;
    for (const auto& buffers : l.buffers) out.push_back(buffers.empty() ? -1 : base_value(buffers[0]));
    return out;
  }

  /// Of each operand, the launch that wrote it; -1: none, an input.
  std::vector<int> operand_writers(const CodeLaunch& l) const {
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

  // --- the producer's maps

  bool from_maps(const CodeLaunch& l, LaunchMatch& match) {
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

  int launches_named(std::string_view callee) {
    if (counts_.empty()) {
      for (const CodeLaunch& l : code_.launches) ++counts_[l.callee];
    }
    return counts_[callee];
  }

  // --- loop kernels

  void loop(const CodeLaunch& l, LaunchMatch& match) {
    if (const auto first = first_.find(l.kernel); first != first_.end()) {
      if (repeat(l, first->second, match) || named(l, first->second, match)) return;
    } else if (comment(l, match)) {
      return;
    }
    region(l, match);
  }

  const CodeKernel& commented(const CodeLaunch& l) const {
    const CodeKernel& kernel = code_.kernels[static_cast<size_t>(l.kernel)];
    if (!kernel.fragment.empty() || kernel.variants.empty()) return kernel;
    const int variant = code_.find_kernel(kernel.variants[0]);
    return variant < 0 ? kernel : code_.kernels[static_cast<size_t>(variant)];
  }

  bool comment(const CodeLaunch& l, LaunchMatch& match) const {
    const CodeKernel& kernel = commented(l);
    for (const FragmentNode& f : kernel.fragment) {
      if (f.placeholder) continue;
      if (const int n = graph_.find(f.name); n >= 0) match.nodes.push_back(n);
    }
    if (match.nodes.empty()) {
      for (const auto& [source, names] : kernel.source_map) {
        for (const std::string& name : names) {
          if (const int n = graph_.find(name); n >= 0) match.nodes.push_back(n);
        }
      }
    }
    if (match.nodes.empty()) return false;
    match.source = MatchSource::Comment;
    return true;
  }

  struct First {
    int launch;
    std::vector<int> operands;  ///< values when it was launched
    std::vector<int> writers;   ///< launches that had written them
    std::vector<int> results;   ///< values afterwards
  };

  /// What is known of the counterparts of one kernel's nodes in another launch of it.
  struct Repeat {
    const First& first;
    const std::vector<int>& pattern;
    std::vector<int> writers;
    std::unordered_map<int, int> outer;  ///< value that the first launch read -> value that this one reads
    std::unordered_map<int, int> inner;  ///< node of the first launch -> node of this one
    std::set<int> taken;
  };

  /// The nodes that do on this launch's operands what the first launch's nodes did on theirs.
  bool repeat(const CodeLaunch& l, const First& first, LaunchMatch& match) {
    Repeat r{first, out_.launches[static_cast<size_t>(first.launch)].nodes, operand_writers(l), {}, {}, {}};
    const std::vector<int> operands = operand_values(l);
    for (size_t i = 0; i < operands.size() && i < first.operands.size(); ++i) {
      if (first.operands[i] >= 0 && operands[i] >= 0) r.outer.try_emplace(first.operands[i], operands[i]);
    }
    for (const int t : r.pattern) {
      int u = written_before(t, r);
      if (u < 0) u = counterpart(t, r, l);
      if (u < 0) continue;
      r.inner.emplace(t, u);
      r.taken.insert(u);
    }
    // Half of it found is no match.
    if (r.inner.empty() || r.inner.size() * 4 < r.pattern.size() * 3) return false;
    repeated_.clear();
    for (const auto& [t, u] : r.inner) match.nodes.push_back(u);
    for (size_t i = 0; i < first.results.size() && i < l.buffers.size(); ++i) {
      const auto found = r.inner.find(first.results[i]);
      if (found != r.inner.end() && !l.buffers[i].empty()) repeated_[l.buffers[i][0]] = found->second;
    }
    match.source = MatchSource::Repeat;
    return true;
  }

  /// A node that the writer of an operand computed too (a reduction in two steps, a value computed twice): the
  /// counterpart is what this launch's operand's writer computed.
  int written_before(int t, const Repeat& r) const {
    for (size_t i = 0; i < r.writers.size() && i < r.first.writers.size(); ++i) {
      if (r.writers[i] < 0 || r.first.writers[i] < 0) continue;
      const std::vector<int>& then = out_.launches[static_cast<size_t>(r.first.writers[i])].nodes;
      const std::vector<int>& now = out_.launches[static_cast<size_t>(r.writers[i])].nodes;
      if (!contains(then, t)) continue;
      const auto same = [&](int n) { return graph_.shape_key(n) == graph_.shape_key(t); };
      const auto rank = std::count_if(then.begin(), std::lower_bound(then.begin(), then.end(), t), same);
      std::ptrdiff_t seen = 0;
      for (const int u : now) {
        if (!same(u) || seen++ != rank) continue;
        if (!r.taken.contains(u) && consistent(t, u, r) >= 0) return u;
      }
    }
    return -1;
  }

  int counterpart(int t, const Repeat& r, const CodeLaunch& l) const {
    int best = -1, best_score = -1;
    for (const int u : graph_.alike(t)) {
      if (r.taken.contains(u) || !same_seed(t, u, r.first, l)) continue;
      const int bound = consistent(t, u, r);
      if (bound < 0) continue;
      int score = 4 * bound + (claimed_loop_[static_cast<size_t>(u)] ? 0 : 2);
      for (const std::string& source : l.source_nodes) score += source == graph_.node(u).name ? 1 : 0;
      if (score > best_score) {
        best = u;
        best_score = score;
      }
    }
    return best;
  }

  /// The index of a random seed is an argument of the kernel: it differs from launch to launch.
  bool same_seed(int t, int u, const First& first, const CodeLaunch& l) const {
    if (graph_.op(t) != "inductor_lookup_seed") return true;
    const CodeLaunch& then = code_.launches[static_cast<size_t>(first.launch)];
    const std::vector<std::string_view> a = py::split(graph_.node(t).args), b = py::split(graph_.node(u).args);
    const CodeKernel& kernel = commented(l);
    for (size_t i = 0; i < kernel.parameters.size() && i < l.operands.size() && i < then.operands.size(); ++i) {
      if (!kernel.parameters[i].first.starts_with("load_seed_offset")) continue;
      if (a.size() == 2 && b.size() == 2 && then.operands[i] == a[1]) return l.operands[i] == b[1];
    }
    return true;
  }

  /// The nodes that the call's comment names: backward graphs keep their nodes' names there.
  bool named(const CodeLaunch& l, const First& first, LaunchMatch& match) const {
    const std::vector<int>& pattern = out_.launches[static_cast<size_t>(first.launch)].nodes;
    for (const std::string& name : l.source_nodes) {
      const int n = graph_.find(name);
      const bool same = n >= 0 && std::any_of(pattern.begin(), pattern.end(),
                                              [&](int t) { return graph_.shape_key(t) == graph_.shape_key(n); });
      if (same) match.nodes.push_back(n);
    }
    if (match.nodes.size() != pattern.size()) match.nodes.clear();
    if (match.nodes.empty()) return false;
    match.source = MatchSource::Comment;
    return true;
  }

  /// How many operands of u are known to be the counterparts of t's; -1: one is not.
  int consistent(int t, int u, const Repeat& r) const {
    const std::vector<int>&a = graph_.inputs(t), &b = graph_.inputs(u);
    if (a.size() != b.size()) return -1;
    int bound = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (const auto in = r.inner.find(a[i]); in != r.inner.end()) {
        if (in->second != b[i]) return -1;
        ++bound;
        continue;
      }
      if (contains(r.pattern, a[i])) continue;  // its counterpart was not found
      const auto out = r.outer.find(graph_.base(a[i]));
      if (out == r.outer.end()) continue;
      if (out->second != graph_.base(b[i])) return -1;
      ++bound;
    }
    return bound;
  }

  // --- loop kernels that say nothing

  /// The calls that can be computed from what the kernel reads without a library call between.
  std::vector<int> reachable(const std::vector<int>& sources) const {
    std::set<int> known(sources.begin(), sources.end());
    std::set<int> todo;
    const auto push_users = [&](int n) {
      for (const int user : graph_.users(n)) todo.insert(user);
    };
    for (const int n : known) push_users(n);
    if (known.empty()) {
      // Nothing is read: it begins with constants.
      for (int n = 0; n < graph_.size(); ++n) {
        if (graph_.is_call(n) && !claimed_loop_[static_cast<size_t>(n)] && computable(n, known)) todo.insert(n);
      }
    }
    std::vector<int> out;
    while (!todo.empty() && out.size() < kMaxRegion) {
      const int n = *todo.begin();
      todo.erase(todo.begin());
      if (known.contains(n) || !graph_.is_call(n) || is_library(n) || !computable(n, known)) continue;
      known.insert(n);
      out.push_back(n);
      push_users(n);
    }
    sort_unique(out);
    return out;
  }

  bool is_library(int n) const { return library_operators_.contains(graph_.op(n)); }

  bool computable(int n, const std::set<int>& known) const {
    return std::all_of(graph_.inputs(n).begin(), graph_.inputs(n).end(),
                       [&](int in) { return known.contains(in) || free_standing(in, known, 0); });
  }

  /// Values that no buffer holds: constants, sizes, views of what is known.
  bool free_standing(int n, const std::set<int>& known, int depth) const {
    if (depth > 16) return false;
    if (known.contains(n)) return true;
    if (!graph_.is_call(n)) return graph_.node(n).shape.empty();  // a number
    if (is_library(n)) return false;
    const std::vector<int>& inputs = graph_.inputs(n);
    if (inputs.empty()) return true;
    return std::all_of(inputs.begin(), inputs.end(), [&](int in) { return free_standing(in, known, depth + 1); });
  }

  void region(const CodeLaunch& l, LaunchMatch& match) const {
    std::vector<int> sources;
    for (const int b : l.reads) {
      const int v = value(b);
      if (v < 0) continue;
      sources.push_back(v);
      sources.push_back(graph_.base(v));
    }
    sort_unique(sources);
    const std::vector<int> region = reachable(sources);
    std::vector<int> stored;
    for (const int b : l.writes) {
      const int n = stored_node(b, l, region, stored);
      if (n >= 0) stored.push_back(n);
    }
    if (stored.empty()) {
      if (returned(l, match) || second_step(l, match) || first_step(l, region, sources, match)) return;
      layout_copy(l, sources, match);
      return;
    }
    for (const int n : stored) add_ancestors(n, sources, match.nodes);
    // Parts of a value with several are no work of their own, unless one is stored.
    std::erase_if(match.nodes, [&](int n) {
      return graph_.op(n) == "getitem" && std::find(stored.begin(), stored.end(), n) == stored.end();
    });
    match.source = MatchSource::Region;
  }

  /// What the program returns is known even where the way to it is not: back to what other kernels compute.
  bool returned(const CodeLaunch& l, LaunchMatch& match) const {
    const int index = static_cast<int>(&l - code_.launches.data());
    for (const int b : l.writes) {
      const int n = graph_.base(final_[static_cast<size_t>(b)]);
      if (n < 0 || last_writer_[static_cast<size_t>(b)] != index || claimed_loop_[static_cast<size_t>(n)]) continue;
      std::vector<int> claimed;
      for (int other = 0; other < n; ++other) {
        if (claimed_loop_[static_cast<size_t>(other)]) claimed.push_back(other);
      }
      add_ancestors(n, claimed, match.nodes);
    }
    if (match.nodes.empty()) return false;
    match.source = MatchSource::Region;
    return true;
  }

  /// The second half of a reduction: what it writes is a node that the first half is part of.
  bool second_step(const CodeLaunch& l, LaunchMatch& match) const {
    for (const int writer : operand_writers(l)) {
      if (writer < 0) continue;
      int best = -1;
      for (const int n : out_.launches[static_cast<size_t>(writer)].nodes) {
        const bool named = named_in(l.callee, graph_.op(n));
        if (graph_.is_view(n) || fits(l.writes.empty() ? -1 : l.writes[0], n) <= 0) continue;
        if (best < 0 || (named && !finished_.contains(n))) best = n;
      }
      if (best < 0) continue;
      match.nodes.push_back(best);
      match.source = MatchSource::Region;
      return true;
    }
    return false;
  }

  /// The first half of a reduction: it writes no node's value, but something on the way to a node that it is named for.
  bool first_step(const CodeLaunch& l, const std::vector<int>& region, const std::vector<int>& sources,
                  LaunchMatch& match) const {
    for (const int n : region) {
      if (graph_.is_view(n) || claimed_loop_[static_cast<size_t>(n)] || !named_in(l.callee, graph_.op(n))) continue;
      add_ancestors(n, sources, match.nodes);
      match.source = MatchSource::Region;
      return true;
    }
    return false;
  }

  /// The node of the region that a written buffer takes.
  int stored_node(int b, const CodeLaunch& l, const std::vector<int>& region, const std::vector<int>& stored) const {
    const int index = static_cast<int>(&l - code_.launches.data());
    if (last_writer_[static_cast<size_t>(b)] == index) {
      const int last = graph_.base(final_[static_cast<size_t>(b)]);
      if (last >= 0 && (contains(region, last) || contains(region, final_[static_cast<size_t>(b)]))) return last;
    }
    // Of equals the last: what comes before it on the way is computed too.
    int best = -1, best_score = 0;
    for (size_t i = region.size(); i-- > 0;) {
      const int n = region[i];
      if (graph_.is_view(n) || claimed_loop_[static_cast<size_t>(n)]) continue;
      if (std::find(stored.begin(), stored.end(), n) != stored.end() || fits(b, n) <= 0) continue;
      const int score = 1 + (leaves(n, region) ? 4 : 0) + (named_in(l.callee, graph_.op(n)) ? 1 : 0);
      if (score > best_score) {
        best = n;
        best_score = score;
      }
    }
    return best;
  }

  /// Whether something outside the region uses the node's value.
  bool leaves(int n, const std::vector<int>& region) const {
    for (const int user : graph_.users(n)) {
      if (!contains(region, user)) return true;
      if (graph_.is_view(user) && leaves(user, region)) return true;
    }
    return graph_.users(n).empty();
  }

  static bool named_in(std::string_view kernel, std::string_view op) {
    const size_t at = kernel.find(op);
    return at != std::string_view::npos && !op.empty();
  }

  void add_ancestors(int n, const std::vector<int>& sources, std::vector<int>& out) const {
    std::vector<int> todo = {n};
    std::set<int> seen(out.begin(), out.end());
    while (!todo.empty()) {
      const int now = todo.back();
      todo.pop_back();
      if (now != n && contains(sources, now)) continue;
      if (!graph_.is_call(now) || is_library(now) || !seen.insert(now).second) continue;
      // Views of what is read cost nothing but belong to no other kernel either.
      out.push_back(now);
      for (const int in : graph_.inputs(now)) todo.push_back(in);
    }
  }

  /// A kernel that only brings a value into another layout computes no node; what it copies stands for it.
  void layout_copy(const CodeLaunch& l, const std::vector<int>& sources, LaunchMatch& match) const {
    std::vector<int> fitting;
    for (const int n : sources) {
      for (const int b : l.writes) {
        if (fits(b, n) > 0) fitting.push_back(n);
      }
    }
    sort_unique(fitting);
    if (fitting.empty()) return;
    match.nodes = std::move(fitting);
    match.source = MatchSource::Region;
  }

  // --- library calls

  void from_operands(const CodeLaunch& l, LaunchMatch& match) {
    std::vector<std::string_view> operators = operators_of(l.callee);
    if (l.kernel >= 0) operators = {"triton_kernel_wrapper_mutation", "triton_kernel_wrapper_functional"};
    int best = best_call(l, operators);
    if (best < 0 && !l.original_aten.empty()) {
      // The call is named otherwise than the operator it does: the comment's last operator.
      best = best_call(l, {detail::operator_name(l.original_aten.back())});
    }
    if (best < 0 && l.kernel < 0) best = call_on_same_operands(l);
    if (best < 0) return;
    claimed_library_[static_cast<size_t>(best)] = 1;
    match.nodes.push_back(best);
    if (l.callee.starts_with("torch.ops.")) add_operand_views(best, match.nodes);
    match.source = MatchSource::Operands;
  }

  /// The producer counts views that only the call looks through as part of an operator it does not know itself.
  void add_operand_views(int n, std::vector<int>& nodes) const {
    for (int in : graph_.inputs(n)) {
      while (graph_.is_view(in)) {
        if (graph_.op(in) != "getitem") nodes.push_back(in);
        in = graph_.inputs(in)[0];
      }
    }
  }

  int best_call(const CodeLaunch& l, const std::vector<std::string_view>& operators) const {
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

  /// A call of another name: the first node left over that has all its operands and gives what it gives.
  int call_on_same_operands(const CodeLaunch& l) const {
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

  /// Calls that use a value, also through views.
  void add_users(int v, std::set<int>& out, int depth) const {
    for (const int user : graph_.users(v)) {
      if (graph_.is_view(user) && depth < 16) add_users(user, out, depth + 1);
      if (graph_.is_call(user) && !graph_.is_view(user)) out.insert(user);
    }
  }

  int call_score(const CodeLaunch& l, int n, const std::vector<int>& reads) const {
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

  // --- what buffers hold afterwards

  void bind(int index, const LaunchMatch& match) {
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

  /// The first store that has the buffer's size, one that a later reader names before others.
  int best_store(int index, int b, const std::vector<int>& stores) const {
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

  bool comes_from(int b, int source) const {
    for (int steps = 0; b >= 0 && steps < 64; ++steps) {
      if (b == source) return true;
      b = buffer(b).reuse_of >= 0 ? buffer(b).reuse_of : buffer(b).alias_of;
    }
    return false;
  }

  static bool reads_node(const CodeKernel& kernel, std::string_view name) {
    return std::any_of(kernel.fragment.begin(), kernel.fragment.end(),
                       [&](const FragmentNode& f) { return f.placeholder && f.name == name; });
  }

  int first_launch(int kernel) const {
    const auto it = first_launches_.find(kernel);
    return it == first_launches_.end() ? -1 : it->second;
  }

  /// The nodes of a kernel whose values others use, those that the comment names first.
  std::vector<int> stored_nodes(const CodeLaunch& l, const LaunchMatch& match) const {
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

  const OutputCode& code_;
  const ProvenanceMaps& maps_;
  GraphView graph_;
  ProgramMatch out_;
  std::vector<int> value_, final_, last_writer_;
  std::vector<int> writer_;  ///< the launch that wrote a buffer last, so far
  std::vector<char> claimed_library_, claimed_loop_;
  std::set<int> finished_;  ///< nodes whose value some buffer got
  std::unordered_map<int, First> first_;
  std::unordered_map<int, int> first_launches_;  ///< of each kernel
  std::unordered_map<int, int> repeated_;        ///< buffer and what the launch at hand writes into it
  std::unordered_map<std::string_view, std::vector<int>> by_operator_;
  std::set<std::string_view> library_operators_;
  std::unordered_map<std::string_view, int> counts_;
};

}  // namespace

ProgramMatch match_nodes(const OutputCode& code, const ProvenanceMaps& maps, std::span<const trace::NodeRecord> nodes) {
  return Matcher(code, maps, nodes).run();
}

std::string_view short_dtype(std::string_view torch_dtype) {
  for (const DtypeName& d : kDtypes) {
    if (d.torch == torch_dtype) return d.brief;
  }
  return torch_dtype;
}

int dtype_bytes(std::string_view dtype) {
  for (const DtypeName& d : kDtypes) {
    if (d.torch == dtype || d.brief == dtype) return d.bytes;
  }
  return 0;
}

}  // namespace strata::capture
