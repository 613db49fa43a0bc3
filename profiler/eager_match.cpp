// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/eager_match.h"

#include <algorithm>

#include "profiler/iterations.h"

namespace strata::profiler {
namespace {

using Kind = HostEvent::Kind;
constexpr std::string_view kCall = "## Call CompiledFxGraph ", kRegion = "Torch-Compiled Region: ";

const HostEvent& at(const Timeline& t, int i) { return t.host[static_cast<size_t>(i)]; }

bool is_optimizer(const HostEvent& e) { return e.kind == Kind::Annotation && starts_with(e.name, "Optimizer."); }

AlignItem align_item(const HostEvent& op) { return {operator_base(op.name), operator_inputs(op.args).shapes}; }

/// The words after a prefix, up to a blank.
std::string word_after(std::string_view text, std::string_view prefix) {
  text.remove_prefix(prefix.size());
  return std::string(text.substr(0, text.find(' ')));
}

/// Whether a call of a program follows within this event.
bool has_call_inside(const Timeline& t, int region) {
  for (size_t i = static_cast<size_t>(region) + 1; i < t.host.size(); ++i) {
    if (t.host[i].track != at(t, region).track || t.host[i].start >= at(t, region).end()) return false;
    if (starts_with(t.host[i].name, kCall)) return true;
  }
  return false;
}

/// Walks the main thread of the compiled profile.
class ReferenceMaker {
 public:
  ReferenceMaker(const Timeline& t, CompiledGraphs& graphs) : t_(t), graphs_(graphs) {}

  Reference make() {
    Reference r;
    r.iterations.resize(std::max<size_t>(t_.iterations.size(), 1));
    std::int64_t skip_until = 0;
    bool first = true;
    for (int i = 0; i < static_cast<int>(t_.host.size()); ++i) {
      const HostEvent& e = at(t_, i);
      if (e.track != t_.main_track || (!first && e.start < skip_until)) continue;
      const int iteration = t_.iterations.empty() ? 0 : t_.iteration_at(e.start);
      if (iteration < 0 || !add(i, r.iterations[static_cast<size_t>(iteration)])) continue;
      skip_until = e.end();
      first = false;
    }
    if (!any_graph_) assume(r);
    return r;
  }

 private:
  /// Adds what an event ran; true when what is inside it is dealt with.
  bool add(int i, std::vector<ReferenceItem>& list) {
    const HostEvent& e = at(t_, i);
    if (is_backward_call(e) || is_optimizer(e)) return true;
    if (starts_with(e.name, kCall)) {
      const trace::ProgramRecord* p = graphs_.program(word_after(e.name, kCall));
      if (p == nullptr) p = graphs_.program(e.program);
      if (p != nullptr && p->role != "backward") add_graph(p->compile, list);
      return true;
    }
    if (starts_with(e.name, kRegion)) {
      if (has_call_inside(t_, i)) return false;
      add_graph(e.compile != trace::kNone ? e.compile : graphs_.compile_at(word_after(e.name, kRegion)), list);
      return true;
    }
    if (!is_real_operator(e)) return false;
    list.push_back({nullptr, i, align_item(e)});
    return true;
  }

  void add_graph(trace::Id compile, std::vector<ReferenceItem>& list) {
    const CompiledGraph* g = graphs_.graph(compile);
    if (g == nullptr) return;
    any_graph_ = true;
    for (const CapturedCall& call : g->calls) list.push_back({&call, -1, call.item});
  }

  /// Graphs in the order of compilation, before what was not compiled.
  void assume(Reference& r) {
    std::vector<ReferenceItem> all;
    for (const auto& compile : graphs_.compiles()) add_graph(compile.id, all);
    r.assumed = !all.empty();
    for (auto& list : r.iterations) list.insert(list.begin(), all.begin(), all.end());
  }

  const Timeline& t_;
  CompiledGraphs& graphs_;
  bool any_graph_ = false;
};

/// Operators of the program in one iteration (of all, without iterations).
std::vector<std::vector<int>> operators_by_iteration(const Timeline& t) {
  std::vector<std::vector<int>> lists(std::max<size_t>(t.iterations.size(), 1));
  std::int64_t skip_until = 0;
  bool first = true;
  for (int i = 0; i < static_cast<int>(t.host.size()); ++i) {
    const HostEvent& e = at(t, i);
    if (e.track != t.main_track || (!first && e.start < skip_until)) continue;
    const bool skip = is_backward_call(e) || is_optimizer(e);
    if (!skip && !is_real_operator(e)) continue;
    skip_until = e.end();
    first = false;
    const int iteration = t.iterations.empty() ? 0 : t.iteration_at(e.start);
    if (!skip && iteration >= 0) lists[static_cast<size_t>(iteration)].push_back(i);
  }
  return lists;
}

/// Operators between two that were matched belong to a call between theirs, if there is just one they can belong to:
/// indexing and composite calls show as several operators.
void fill_gaps(std::vector<int>& found, const std::vector<ReferenceItem>& reference,
               const std::vector<AlignItem>& operators) {
  int before = -1;
  for (size_t j = 0; j < found.size(); ++j) {
    if (found[j] >= 0) {
      before = found[j];
      continue;
    }
    if (before >= 0 && name_match(reference[static_cast<size_t>(before)].item.name, operators[j].name) == 2)
      found[j] = before;
  }
}

int score(const ProgramKernel& k, const std::string& base, std::string_view family,
          const std::vector<std::string>& shapes) {
  int best = 0;
  for (const ComputedNode& n : k.nodes) {
    int s = n.base == base ? 3 : n.family == family ? 2 : 0;
    if (s > 0 && !shapes.empty() && n.shapes == shapes) s += 4;
    best = std::max(best, s);
  }
  // Kernels of libraries compute one operator and nothing else; generated ones take over anything.
  if (best == 0) return k.is_library() ? 0 : 1;
  return best + (k.is_library() ? 5 : 4);
}

}  // namespace

Reference make_reference(const Timeline& compiled, CompiledGraphs& graphs) {
  return ReferenceMaker(compiled, graphs).make();
}

EagerMatch match_operators(const Timeline& eager, const Reference& reference) {
  EagerMatch match;
  const auto lists = operators_by_iteration(eager);
  const size_t have = reference.iterations.size();
  // Most iterations are like the one before.
  std::vector<AlignItem> last_calls, last_operators;
  std::vector<int> last_found;
  for (size_t i = 0; i < lists.size(); ++i) {
    // With as many iterations each has its own; else the last stands for all: earlier ones may compile or warm up.
    const auto& items = reference.iterations[lists.size() == have ? i : have - 1];
    std::vector<AlignItem> calls, operators;
    for (const auto& item : items) calls.push_back(item.item);
    for (const int op : lists[i]) operators.push_back(align_item(at(eager, op)));
    if (i == 0 || calls != last_calls || operators != last_operators) {
      last_found = align(calls, operators);
      fill_gaps(last_found, items, operators);
      last_calls = std::move(calls);
      last_operators = std::move(operators);
    }
    const std::vector<int>& found = last_found;
    for (size_t j = 0; j < found.size(); ++j) {
      if (found[j] < 0)
        ++match.unmatched;
      else
        ++match.matched, match.of[lists[i][j]] = items[static_cast<size_t>(found[j])];
    }
  }
  return match;
}

int replaced_by(const CompiledGraph& graph, trace::NodeId node, const Timeline& eager, const ProfileCosts& costs,
                const CostItem& item) {
  const int op = costs.effective(item);
  const std::string base = op < 0 ? std::string() : operator_base(at(eager, op).name);
  const std::string_view family = operator_family(base);
  const auto shapes = op < 0 ? std::vector<std::string>() : operator_inputs(at(eager, op).args).shapes;
  int best = -1, best_score = -1, best_share = 0;
  for (int i = 0; i < static_cast<int>(graph.kernels.size()); ++i) {
    const ProgramKernel& k = graph.kernels[static_cast<size_t>(i)];
    const auto share = k.captured.find(node);
    if (share == k.captured.end() || k.is_backward() != item.backward) continue;
    const int s = score(k, base, family, shapes);
    if (s < best_score || (s == best_score && share->second <= best_share)) continue;
    best = i, best_score = s, best_share = share->second;
  }
  return best;
}

}  // namespace strata::profiler
