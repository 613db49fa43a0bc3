// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Greedy grouping in graph order. Every computing node starts as its own group; a node then tries to take in the groups
// of its operands, nearest first. Whether two groups fit is asked of the lowering itself (a trial), so that what is
// promised here can be generated there, and a refusal carries its reason. Two rules stand before the trial: merging
// must not close a cycle, and it must not compute expensive work several times.
//
// Post-operations of library calls come first: they cost nothing there, and take nodes away from loop kernels that
// would read the result again.

#include "passes/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/ir/control_flow.h"
#include "core/ir/program.h"
#include "core/support/error.h"
#include "passes/channel_layouts.h"
#include "passes/fusion_answers.h"
#include "passes/fusion_groups.h"
#include "passes/fusion_recompute.h"
#include "passes/fusion_siblings.h"
#include "passes/repeated_elements.h"

namespace strata {
namespace {

constexpr size_t kMaxNodes = 256;  ///< per kernel: keeps code and compile time bounded
constexpr size_t kMaxBuffers = 32;
constexpr int kNear = 256;  ///< nodes between siblings: what is computed long before it is needed only occupies memory

bool is_expensive(const Node& node) {
  static const std::set<std::string_view> names = {
      "aten.exp.default",      "aten.log.default",     "aten.tanh.default",      "aten.erf.default",
      "aten.gelu.default",     "aten.sigmoid.default", "aten.silu.default",      "aten.sin.default",
      "aten.cos.default",      "aten.tan.default",     "aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor",
      "aten.pow.Scalar",       "aten.exp2.default",    "aten.expm1.default",     "aten.log1p.default",
      "aten.log2.default",     "aten.log10.default",   "aten.sinh.default",      "aten.cosh.default",
      "aten.softplus.default", "aten.mish.default",    "aten.elu.default",       "aten.atan2.default"};
  return names.contains(node.target);
}

class Fuser {
 public:
  Fuser(const Graph& graph, const FuseOptions& options)
      : graph_(graph), options_(options), groups_(graph, fused_.layouts) {}

  Fused run() {
    choose_layouts();
    fuse_post_operations();
    if (!options_.within_operators) choose_channel_layouts();
    choose_output_layouts();
    fuse_loops();
    fuse_siblings();
    if (!options_.within_operators) compute_values_again();
    Fused fused = finish();
    answer_for_every_pair(graph_, fused);
    return fused;
  }

 private:
  using Group = FusionGroups::Group;

  // ----------------------------------------------------------------------------------------------------------- layouts

  /// Inputs lie as the caller has them (row-major where that repeats elements: not every caller has them so); library
  /// results get the strides their readers want; views that have no strides where somebody needs them are copied out.
  void choose_layouts() {
    for (const Node* input : user_placeholders(graph_)) {
      if (!input->type.is_tensor() || !input->tensor().strides || repeats_elements(input->tensor())) continue;
      if (!input->tensor().is_contiguous()) fused_.layouts.chosen_strides[input] = *input->tensor().strides;
    }
    for (const auto& node : graph_.nodes())
      if (is_library(*node)) fused_.layouts.chosen_strides[node.get()] = library_result_strides(*node);
    for (const auto& node : graph_.nodes()) {
      if (is_library(*node))
        for (const Node* n : operands_to_materialize(*node, fused_.layouts)) materialize(n);
      else if (computes(*node) && is_opaque(*node))
        for (const Node* n : node->operands())
          if (is_view(*n) && !(reads_strides(*node, *n) && strided_view(n, fused_.layouts))) materialize(n);
    }
    for (const Node* n : groups_.outputs())
      if (n->type.is_tensor() && !strided_view(n, fused_.layouts)) materialize(n);
    for (const Node* n : views_to_copy(graph_, fused_.layouts)) materialize(n);
    groups_.index();
  }

  void materialize(const Node* view) {
    if (is_view(*view) && fused_.layouts.materialized.insert(view).second) groups_.add(view);
  }

  static bool is_opaque(const Node& node) {
    return !is_inlinable(node) && !is_reduction(node) && !is_window(node) && !is_scan(node) && !is_library(node) &&
           !is_view(node);
  }

  /// Whether a call reads an operand where it lies. What no kernel of ours computes is copied in the call, element by
  /// element: other kernels do that faster, unless they do not know the type.
  static bool reads_strides(const Node& call, const Node& operand) {
    return is_native(call) || is_control_flow(call) || !is_loop_dtype(operand.tensor().dtype);
  }

  static bool is_native(const Node& node) { return std::holds_alternative<KernelRule>(node.op->lowering); }

  // --------------------------------------------------------------------------------------------------- post-operations

  void fuse_post_operations() {
    for (const auto& node : graph_.nodes()) {
      if (!is_library(*node)) continue;
      const size_t call = groups_.of(node.get());
      while (const Node* next = next_post_operation(groups_.members(call))) groups_.merge(groups_.of(next), call);
    }
  }

  const Node* next_post_operation(const Group& chain) {
    const Node* last = chain.back();
    const std::vector<const Node*>& uses = groups_.readers(last);
    if (uses.empty() || groups_.is_kept(last)) return nullptr;
    const std::set<const Node*> readers(uses.begin(), uses.end());
    const Node* next = *readers.begin();
    const auto decline = [&](std::string why) {
      for (const Node* reader : readers)
        if (groups_.of(reader) != FusionGroups::kNone) decide(*last, *reader, false, why);
      return nullptr;
    };
    if (readers.size() > 1) return decline("the call's result has " + std::to_string(readers.size()) + " readers");
    if (groups_.group_of(*next).size() != 1) return decline("'" + next->name + "' already belongs to another call");
    if (is_library(*next) || is_view(*next) || !next->type.is_tensor() || !is_inlinable(*next)) return nullptr;
    if (!same_operator(*chain.front(), *next)) return decline("different operators of the program");
    if (!keeps_order(*next, last)) return decline("a view in between reorders or repeats elements");
    std::string why;
    const auto match = match_post_op(*next, last, why);
    if (!match) return decline(std::move(why));
    if (match->other && groups_.depends_on(groups_.base_of(match->other), chain.front()))
      return decline("'" + match->other->name + "' depends on the call");
    Group with = chain;
    with.push_back(next);
    if (!lower_to_library(with, fused_.layouts, options_.constants, *options_.capabilities, why))
      return decline(std::move(why));
    decide(*last, *next, true, "post-operation of the library call");
    return next;
  }

  /// Every path of views from `chain` to `node` only renames sizes.
  bool keeps_order(const Node& node, const Node* chain) const {
    if (node.tensor().numel() == chain->tensor().numel()) {
      for (const Node* operand : node.operands()) {
        if (groups_.base_of(operand) != chain) continue;
        const auto view = strided_view(operand, fused_.layouts);
        const Type whole = Type::of(operand->tensor().dtype, operand->tensor().shape);
        if (!view || !(view->offset == SymInt(0)) || operand->tensor().shape != node.tensor().shape) return false;
        TensorType t = whole.tensor;
        t.strides = view->strides;
        if (!t.is_contiguous()) return false;
      }
      return true;
    }
    return false;
  }

  // --------------------------------------------------------------------------------------------- channels-last layouts

  void choose_channel_layouts() {
    const auto call_of = [this](const Node& node) { return library_call_of(node); };
    const auto result_of = [this](const Node& call) { return groups_.group_of(call).back(); };
    const auto base = [this](const Node* node) { return groups_.base_of(node); };
    for (const Node* node : choose_channels_last({graph_, fused_.layouts, groups_.all_readers(), groups_.outputs(),
                                                  options_.output_strides, base, call_of, result_of}))
      fused_.layouts.chosen_strides[node] = channels_last_strides(node->tensor().shape);
  }

  // ----------------------------------------------------------------------------------------------- layouts of outputs

  /// What the caller wants otherwise than row by row is written so, by kernels that can: loops, and convolutions, which
  /// work on such data inside.
  void choose_output_layouts() {
    for (const auto& [node, strides] : wanted_layouts(graph_, fused_.layouts, options_.output_strides)) {
      if (groups_.of(node) == FusionGroups::kNone) continue;
      const Group& group = groups_.group_of(*node);
      const bool convolution = made_by_convolution(*node) && group.front()->tensor().shape == node->tensor().shape;
      if (!convolution && !is_loop_group(group)) continue;
      const std::vector<SymInt> before = fused_.layouts.strides(node);
      fused_.layouts.chosen_strides[node] = strides;
      if (!has_strides_for_readers(*node)) fused_.layouts.chosen_strides[node] = before;
    }
  }

  /// Calls that read `node` through views, and outputs that are views of it, still find strides over its buffer.
  bool has_strides_for_readers(const Node& node) const {
    for (const Node* output : groups_.outputs())
      if (output->type.is_tensor() && groups_.base_of(output) == &node && !strided_view(output, fused_.layouts))
        return false;
    const std::vector<const Node*>& readers = groups_.readers(&node);
    return std::all_of(readers.begin(), readers.end(), [&](const Node* reader) {
      if (!is_library(*reader) && !is_opaque(*reader)) return true;
      const auto operands = reader->operands();
      return std::all_of(operands.begin(), operands.end(), [&](const Node* operand) {
        return groups_.base_of(operand) != &node || strided_view(operand, fused_.layouts).has_value();
      });
    });
  }

  /// The library's call whose group the node belongs to, or nullptr.
  const Node* library_call_of(const Node& node) const {
    if (groups_.of(&node) == FusionGroups::kNone) return nullptr;
    const Node* first = groups_.group_of(node).front();
    return is_library(*first) ? first : nullptr;
  }

  /// The node is what a convolution's group leaves behind.
  bool made_by_convolution(const Node& node) const {
    const Node* call = library_call_of(node);
    return call && call->is("aten.convolution.default") && groups_.group_of(node).back() == &node;
  }

  // --------------------------------------------------------------------------------------------------------------
  // loops

  bool is_loop_group(const Group& group) const {
    return !group.empty() && !is_library(*group.front()) && !is_opaque(*group.front());
  }

  void fuse_loops() {
    for (const auto& node : graph_.nodes()) {
      if (groups_.of(node.get()) == FusionGroups::kNone || !is_loop_group(groups_.group_of(*node))) continue;
      for (const Node* producer : producers_of(*node)) try_merge(*producer, *node);
    }
  }

  /// Bases of operands that a kernel computes, nearest first.
  std::vector<const Node*> producers_of(const Node& node) const {
    std::vector<const Node*> result;
    for (const Node* operand : node.operands()) {
      const Node* base = groups_.base_of(operand);
      const bool made = groups_.of(base) != FusionGroups::kNone;
      if (made && std::find(result.begin(), result.end(), base) == result.end()) result.push_back(base);
    }
    std::sort(result.begin(), result.end(),
              [&](const Node* a, const Node* b) { return groups_.position(a) > groups_.position(b); });
    return result;
  }

  void try_merge(const Node& producer, const Node& consumer) {
    const size_t from = groups_.of(&producer), to = groups_.of(&consumer);
    if (from == to) return;
    std::string reason;
    const bool accepted = may_merge(producer, consumer, groups_.members(from), groups_.members(to), reason);
    decide(producer, consumer, accepted, reason);
    if (accepted) groups_.merge(from, to);
  }

  bool may_merge(const Node& producer, const Node& consumer, const Group& from, const Group& to, std::string& reason) {
    const auto no = [&](std::string why) {
      reason = std::move(why);
      return false;
    };
    if (!is_loop_group(from))
      return no("'" + from.front()->name + "' (" + from.front()->target + ") is not a loop kernel");
    if (!same_operator(producer, consumer)) return no("different operators of the program");
    if (from.size() + to.size() > kMaxNodes)
      return no("the kernel would have more than " + std::to_string(kMaxNodes) + " operators");
    if (groups_.closes_cycle(from, to)) return no("another kernel has to run in between");
    if (!repeats_ok(producer, consumer, from, reason)) return false;
    const Group merged = groups_.united(from, to);
    const LoopGroup trial{merged, groups_.stored_of(merged)};
    if (const auto why = why_no_kernel(lowered_trial(trial))) return no(*why);
    reason = trial.stored.size() > 1 ? "same loops; both values are needed" : "same loops";
    return true;
  }

  LoweredLoops lowered_trial(const LoopGroup& group) const {
    return lower_to_loops(graph_, group, {&fused_.layouts, "trial", false});
  }

  static std::optional<std::string> why_no_kernel(const LoweredLoops& lowered) {
    if (!lowered.ok) return lowered.refusal;
    if (lowered.buffers.size() > kMaxBuffers)
      return "the kernel would read and write more than " + std::to_string(kMaxBuffers) + " buffers";
    return {};
  }

  /// Two values element by element in turn, as complex numbers lie: half of the work is masked off, which costs less
  /// than to write both and to read them again.
  static bool interleaves(const Node& node) {
    if (!node.is("aten.cat.default")) return false;
    const Call call(node);
    const auto parts = call.tensors(0);
    const size_t rank = node.tensor().shape.size();
    return parts.size() == 2 && rank > 0 && call.dim(1, rank) + 1 == rank &&
           std::all_of(parts.begin(), parts.end(), [](const Node* n) { return n->tensor().shape.back() == SymInt(1); });
  }

  /// Work that would be done again for every reader of an element.
  bool repeats_ok(const Node& producer, const Node& consumer, const Group& from, std::string& reason) const {
    const bool reduces = std::any_of(from.begin(), from.end(),
                                     [](const Node* n) { return is_reduction(*n) || is_window(*n) || is_scan(*n); });
    if (is_window(consumer)) {
      reason = "windows would compute '" + producer.name + "' several times";
      return is_free(producer);
    }
    if (reduces) return true;  // the trial decides: a finished value is never computed twice
    const bool indexed = std::holds_alternative<IndexedBody>(consumer.op->lowering);
    const bool expensive = std::any_of(from.begin(), from.end(), [](const Node* n) { return is_expensive(*n); });
    if (interleaves(consumer) && !expensive) return true;
    if (indexed && (expensive || from.size() > 2) && !is_free(producer)) {
      reason = "'" + consumer.name + "' (" + consumer.target + ") reads elements under conditions; '" + producer.name +
               "' is too much work for that";
      return false;
    }
    const auto made = hint(producer.tensor().numel()), read = hint(domain_size(consumer));
    if (expensive && made && read && *read > *made) {
      reason = "each element of '" + producer.name + "' would be computed " +
               std::to_string(*read / std::max<int64_t>(1, *made)) + " times";
      return false;
    }
    return true;
  }

  static SymInt domain_size(const Node& consumer) {
    if (!is_reduction(consumer)) return consumer.tensor().numel();
    return Call(consumer).type(0).numel();
  }

  /// No loads, no work: numbers and ranges.
  bool is_free(const Node& node) const {
    if (groups_.of(&node) == FusionGroups::kNone)
      return node.kind == NodeKind::GetAttr && node.tensor().numel() == SymInt(1);
    if (!is_inlinable(node) || is_expensive(node)) return false;
    const auto operands = node.operands();
    return std::all_of(operands.begin(), operands.end(),
                       [&](const Node* n) { return !n->type.is_tensor() || is_free(*groups_.base_of(n)); });
  }

  // --------------------------------------------------------------------------------------------------------------
  // siblings

  /// Kernels that read the same value read it once.
  void fuse_siblings() {
    for (const auto& value : graph_.nodes()) {
      const std::vector<const Node*> readers = reading_groups(*value);
      if (readers.size() > kMaxSiblings) continue;
      for (size_t i = 0; i < readers.size(); ++i)
        for (size_t j = i + 1; j < readers.size(); ++j) try_siblings(*value, *readers[i], *readers[j]);
    }
  }

  /// The first reader in each loop kernel that reads the value from memory.
  std::vector<const Node*> reading_groups(const Node& value) const {
    std::vector<const Node*> found;
    const Node* base = groups_.base_of(&value);
    if (!value.type.is_tensor() || fused_.layouts.is_virtual(value)) return found;
    std::set<size_t> seen{groups_.of(base)};
    for (const Node* reader : groups_.readers(base)) {
      const size_t group = groups_.of(reader);
      if (group == FusionGroups::kNone || !is_loop_group(groups_.members(group))) continue;
      const auto operands = reader->operands();
      const bool reads_it = std::any_of(operands.begin(), operands.end(),
                                        [&](const Node* n) { return fused_.layouts.base(n) == &value; });
      if (reads_it && seen.insert(group).second) found.push_back(reader);
    }
    return found;
  }

  void try_siblings(const Node& value, const Node& a, const Node& b) {
    const size_t first = groups_.of(&a), second = groups_.of(&b);
    if (first == second || !asked_.insert(std::minmax(first, second)).second) return;
    const Group &one = groups_.members(first), &other = groups_.members(second);
    if (reads(one, other) || reads(other, one)) return;
    std::string reason;
    const bool accepted = may_join(value, one, other, reason);
    decide(a, b, accepted, reason, FusionDecision::Rule::Siblings);
    if (accepted) groups_.merge(first, second);
  }

  /// Whether a member of `consumer` reads what one of `producer` makes.
  bool reads(const Group& consumer, const Group& producer) const {
    const size_t from = groups_.of(producer.front());
    return std::any_of(consumer.begin(), consumer.end(), [&](const Node* node) {
      const auto operands = node->operands();
      return std::any_of(operands.begin(), operands.end(),
                         [&](const Node* operand) { return groups_.of(groups_.base_of(operand)) == from; });
    });
  }

  int distance(const Group& a, const Group& b) const {
    const auto between = [this](const Group& first, const Group& then) {
      return groups_.position(then.front()) - groups_.position(first.back());
    };
    return std::max(between(a, b), between(b, a));
  }

  bool may_join(const Node& value, const Group& a, const Group& b, std::string& reason) const {
    const auto no = [&](std::string why) {
      reason = "both read '" + value.name + "', but " + why;
      return false;
    };
    if (!same_operator(*a.front(), *b.front())) return no("they are different operators of the program");
    if (a.size() + b.size() > kMaxNodes)
      return no("the kernel would have more than " + std::to_string(kMaxNodes) + " operators");
    if (const auto why = siblings_differ(value, a, b)) return no(*why);
    if (distance(a, b) > kNear) return no("what one of them makes would occupy memory for long");
    if (groups_.closes_cycle(a, b) || groups_.closes_cycle(b, a))
      return no("one of them needs what follows from the other");
    const Group merged = groups_.united(a, b);
    const LoopGroup trial{merged, groups_.stored_of(merged)};
    const LoweredLoops lowered = lowered_trial(trial);
    if (const auto why = why_no_kernel(lowered)) return no(*why);
    if (const auto why = siblings_lose(value, trial, lowered, fused_.layouts)) return no(*why);
    reason = "both read '" + value.name + "' in the same loops";
    return true;
  }

  // --------------------------------------------------------------------------------------------------------------
  // what is computed again

  void compute_values_again() {
    const auto cheap = [this](const Node& node) {
      static const std::set<std::string_view> slow = {"aten.div",        "aten.sqrt",      "aten.rsqrt",
                                                      "aten.reciprocal", "aten.remainder", "aten.fmod"};
      const std::string_view name(node.target.data(), node.target.rfind('.'));
      const bool pointwise = std::holds_alternative<PointwiseBody>(node.op->lowering);
      return is_inlinable(node) && (pointwise || is_free(node)) && !is_expensive(node) && !slow.contains(name) &&
             !node.op->has(trait::Random) && !groups_.waits(node);
    };
    compute_again({graph_, groups_, cheap, [this](const Group& group) { return is_loop_group(group); },
                   [this](const Group& nodes, const Group& stored) {
                     return nodes.size() <= kMaxNodes && !why_no_kernel(lowered_trial({nodes, stored}));
                   },
                   [this](const Node& value, const Node& reader, const std::string& reason) {
                     decide(value, reader, false, "two kernels");
                     std::string& why = fused_.decisions[decision_index_.at({value.id, reader.id})].reason;
                     why += "; " + reason;
                   }});
  }

  bool same_operator(const Node& a, const Node& b) const {
    return !options_.within_operators || captured_origin(a) == captured_origin(b);
  }

  void decide(const Node& producer, const Node& consumer, bool accepted, const std::string& reason,
              FusionDecision::Rule rule = FusionDecision::Rule::Producer) {
    const auto key = std::make_pair(producer.id, consumer.id);
    const auto [it, fresh] = decision_index_.emplace(key, fused_.decisions.size());
    // A call was first asked whether it takes the node as a post-operation: that refusal says more.
    if (!fresh && !accepted && !fused_.decisions[it->second].accepted) return;
    if (fresh) fused_.decisions.push_back({});
    fused_.decisions[it->second] = {producer.id, consumer.id, accepted, reason, rule};
  }

  // -------------------------------------------------------------------------------------------------------------
  // finish

  Fused finish() {
    for (size_t g : groups_.sorted()) {
      FusionGroup group;
      group.nodes = groups_.members(g);
      const Node& first = *group.nodes.front();
      group.kind = kind_of(first);
      if (group.kind == FusionGroup::Kind::Library) {
        group.stored = {group.nodes.back()};
        if (group.nodes.size() > 1) fused_.layouts.chosen_strides.erase(&first);
      } else {
        group.stored = groups_.stored_of(group.nodes);
      }
      group.again = groups_.united({}, {groups_.again(g).begin(), groups_.again(g).end()});
      group.nodes = groups_.all_of(g);
      group.name = name_of(group, static_cast<int>(fused_.groups.size()));
      fused_.groups.push_back(std::move(group));
    }
    return std::move(fused_);
  }

  static FusionGroup::Kind kind_of(const Node& first) {
    if (is_library(first)) return FusionGroup::Kind::Library;
    if (!is_opaque(first)) return FusionGroup::Kind::Loop;
    if (is_native(first)) return FusionGroup::Kind::Native;
    return is_control_flow(first) ? FusionGroup::Kind::Control : FusionGroup::Kind::Opaque;
  }

  static std::string name_of(const FusionGroup& group, int number) {
    std::string name = group.kind == FusionGroup::Kind::Loop && group.nodes.size() > 1 ? "fused" : "";
    size_t words = 0;
    for (const Node* node : group.nodes) {
      const size_t first = node->target.find('.') + 1;
      std::string word = node->target.substr(first, node->target.find('.', first) - first);
      if (group.kind == FusionGroup::Kind::Opaque) word = "opaque_" + word;
      if (++words > 6) break;
      name += (name.empty() ? "" : "_") + word;
    }
    return name + "_" + std::to_string(number);
  }

  const Graph& graph_;
  const FuseOptions& options_;
  Fused fused_;
  FusionGroups groups_;
  std::map<std::pair<NodeId, NodeId>, size_t> decision_index_;
  std::set<std::pair<size_t, size_t>> asked_;  ///< pairs of groups
};

}  // namespace

std::string_view to_string(FusionDecision::Rule rule) {
  return rule == FusionDecision::Rule::Producer   ? "producer"
         : rule == FusionDecision::Rule::Siblings ? "siblings"
                                                  : "readers";
}

NodeId captured_origin(const Node& node) {
  return node.meta.origins.empty() ? node.id : node.meta.origins.front().node;
}

Fused fuse(const Graph& graph, const FuseOptions& options) { return Fuser(graph, options).run(); }

}  // namespace strata
