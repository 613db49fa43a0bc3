// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/ir/control_flow.h"
#include "core/support/error.h"
#include "passes/concat_in_place.h"
#include "passes/data_sizes.h"
#include "passes/loop_axes.h"
#include "passes/plan_memory.h"
#include "passes/repeated_elements.h"

namespace strata {
namespace {

class Scheduler {
 public:
  Scheduler(const Graph& graph, const ScheduleOptions& options) : graph_(graph), options_(options) {
    capabilities_ = options.capabilities ? options.capabilities : &cpu_library_capabilities();
    result_.plan = std::make_shared<Plan>();
    plan().env = graph.shared_env();
  }

  Scheduled run() {
    add_leaves();
    FuseOptions fuse_options;
    fuse_options.within_operators = options_.within_operators;
    fuse_options.capabilities = capabilities_;
    fuse_options.constants = constants_;
    fuse_options.output_strides = options_.output_strides;
    Fused fused = fuse(graph_, fuse_options);
    find_outputs(fused.layouts);
    if (!options_.within_operators) placed_ = concat_in_place(graph_, fused, output_bases_);
    layouts_ = std::move(fused.layouts);
    place_inputs();
    result_.decisions = std::move(fused.decisions);
    for (FusionGroup& group : fused.groups) lower(group);
    add_outputs();
    add_sizes();
    plan_memory(plan());
    fill_fates();
    return std::move(result_);
  }

 private:
  Plan& plan() { return *result_.plan; }

  // ------------------------------------------------------------------------------------------------------------ leaves

  void add_leaves() {
    const std::set<std::string> written = written_state();
    const auto inputs = graph_.placeholders();
    int user = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec spec = i < graph_.input_specs.size() ? graph_.input_specs[i] : InputSpec{};
      const Node* node = inputs[i];
      if (spec.kind == InputSpec::Kind::User) {
        plan().inputs.push_back(node->type);
        Type& type = plan().inputs.back();
        if (type.is_tensor() && repeats_elements(type.tensor))
          type.tensor.strides = contiguous_strides(type.tensor.shape);
        if (spec.complex) plan().complex_inputs.push_back(static_cast<size_t>(user));
        const int index = user++;
        if (node->type.is_tensor()) add_buffer(*node, PlanBuffer::Kind::Input).input = index;
      } else if (node->type.is_tensor()) {
        add_state(*node, spec, written.contains(spec.target));
      }
    }
    for (const auto& node : graph_.nodes()) {
      if (node->kind != NodeKind::GetAttr) continue;
      const auto it = graph_.attributes.find(node->target);
      if (it == graph_.attributes.end()) throw_internal("attribute '" + node->target + "' has no value");
      add_constant(*node, it->second);
    }
  }

  std::set<std::string> written_state() const {
    std::set<std::string> names;
    for (const OutputSpec& spec : graph_.output_specs)
      if (spec.kind == OutputSpec::Kind::BufferMutation || spec.kind == OutputSpec::Kind::ParameterMutation)
        names.insert(spec.target);
    return names;
  }

  void add_state(const Node& node, const InputSpec& spec, bool is_written) {
    const auto it = options_.state ? options_.state->find(spec.target) : decltype(options_.state->end()){};
    if (!options_.state || it == options_.state->end())
      throw_user("the program has no value for '" + spec.target + "' (input '" + node.name + "')",
                 "export it again together with its weights");
    add_constant(node, spec.complex ? as_pairs(it->second.contiguous()) : it->second);
    if (is_written) constants_.erase(&node);
  }

  void add_constant(const Node& node, const Tensor& value) {
    PlanBuffer& buffer = add_buffer(node, PlanBuffer::Kind::Constant);
    buffer.constant = value.contiguous();
    constants_.insert(&node);
  }

  PlanBuffer& add_buffer(const Node& node, PlanBuffer::Kind kind) {
    PlanBuffer buffer;
    buffer.kind = kind;
    buffer.name = node.name;
    buffer.dtype = node.tensor().dtype;
    buffer.shape = node.tensor().shape;
    buffer.strides = layouts_.strides(&node);
    buffer.numel = node.tensor().numel();
    buffer.node = node.id;
    buffer_of_[&node] = static_cast<int>(plan().buffers.size());
    plan().buffers.push_back(std::move(buffer));
    return plan().buffers.back();
  }

  /// Once it is known how they lie.
  void place_inputs() {
    for (const auto& [node, index] : buffer_of_) {
      PlanBuffer& buffer = plan().buffers[static_cast<size_t>(index)];
      if (buffer.kind != PlanBuffer::Kind::Input || !layouts_.chosen_strides.contains(node)) continue;
      buffer.strides = layouts_.strides(node);
      buffer.numel = max(buffer.numel, buffer_elements(buffer.shape, buffer.strides));  // sizes may be 0
    }
  }

  // ----------------------------------------------------------------------------------------------------------- outputs

  void find_outputs(const Layouts& layouts) {
    for (const Argument& leaf : graph_.flat_outputs())
      if (const Node* n = leaf.node(); n && n->type.is_tensor()) output_bases_.insert(layouts.base(n));
  }

  void add_outputs() {
    const auto leaves = graph_.flat_outputs();
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!is_array_output(leaves[i])) continue;
      plan().outputs.push_back(output_of(leaves[i]));
      const OutputSpec spec = graph_.output_spec(i);
      const bool mutation = spec.kind == OutputSpec::Kind::BufferMutation ||
                            spec.kind == OutputSpec::Kind::ParameterMutation ||
                            spec.kind == OutputSpec::Kind::UserInputMutation;
      if (mutation)
        plan().mutations.push_back({static_cast<int>(plan().outputs.size()) - 1, spec, written_buffer(spec)});
    }
  }

  /// The buffer of the input or of the state that an output is written back to.
  int written_buffer(const OutputSpec& spec) const {
    const auto inputs = graph_.placeholders();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec input = i < graph_.input_specs.size() ? graph_.input_specs[i] : InputSpec{};
      const bool user = spec.kind == OutputSpec::Kind::UserInputMutation;
      const bool same =
          user ? input.kind == InputSpec::Kind::User && inputs[i]->name == spec.target : input.target == spec.target;
      if (same) return buffer_of_.at(inputs[i]);
    }
    throw_user("the program writes '" + spec.target + "', which is none of its inputs");
  }

  PlanOutput output_of(const Argument& leaf) {
    PlanOutput out;
    const Node* node = leaf.node();
    if (!node) {
      if (const auto* v = leaf.as<int64_t>()) out.value = *v;
      if (const auto* v = leaf.as<SymInt>()) out.value = *v;
      if (const auto* v = leaf.as<double>()) out.constant = Tensor::scalar(DType::F64, *v);
      if (const auto* v = leaf.as<bool>()) out.constant = Tensor::full(DType::Bool, {}, *v);
      return out;
    }
    if (node->type.kind == Type::Kind::SymInt) {
      out.value = node->type.sym;
      return out;
    }
    if (!node->type.is_tensor()) throw_user("output '" + node->name + "' is neither a tensor nor an integer");
    const auto view = strided_view(node, layouts_);
    if (!view) throw_internal("output '" + node->name + "' has no strides over a buffer");
    out.buffer = buffer_of_.at(view->base);
    out.dtype = node->tensor().dtype;
    out.shape = view->shape;
    out.strides = view->strides;
    out.offset = view->offset;
    // A view without elements may start anywhere, even before its buffer (a flip): say the start.
    if (node->tensor().numel() == SymInt(0)) out.offset = 0;
    for (const Node* step : view->through) output_views_.insert(step);
    return out;
  }

  // ------------------------------------------------------------------------------------------------------------- sizes

  /// Sizes that are read from data, and what the program asserts of them.
  void add_sizes() {
    const DataSizes sizes(graph_);
    std::unordered_map<int, int> made;  // buffer -> launch
    for (size_t i = 0; i < result_.groups.size(); ++i)
      for (const Node* node : result_.groups[i].stored) made[buffer_of_.at(node)] = static_cast<int>(i);
    for (const Node* reader : sizes.readers()) {
      const StridedView view = view_of(*reader->args.at(0).node(), reader->name);
      PlanSize size{reader->type.sym, buffer_of_.at(view.base), view.offset, view.base->tensor().dtype, -1, reader->id,
                    place(*reader)};
      if (const auto it = made.find(size.buffer); it != made.end()) size.after = it->second;
      plan().sizes.push_back(std::move(size));
    }
    std::stable_sort(plan().sizes.begin(), plan().sizes.end(),
                     [](const PlanSize& a, const PlanSize& b) { return a.after < b.after; });
    for (const auto& node : graph_.nodes())
      if (node->op && node->op->op_class == OpClass::Assertion) add_condition(*node, sizes);
    add_assumptions();
  }

  /// What shape rules took for equal or for large enough: where it is not, kernels would reach beyond their operands.
  void add_assumptions() {
    using Relation = SizeGuard::Relation;
    for (const Assumption& a : graph_.env().assumptions())
      if (const auto& sizes = a.equal ? a.equal : a.at_least)
        plan().conditions.push_back(
            {{a.broken(), sizes->first, sizes->second, a.equal ? Relation::Equal : Relation::GreaterEqual}, a.where});
  }

  void add_condition(const Node& node, const DataSizes& sizes) {
    for (PlanCondition& condition : conditions_of(node)) {
      if (!sizes.depends_on_data(condition.guard.left) && !sizes.depends_on_data(condition.guard.right)) continue;
      condition.where = place(node);
      plan().conditions.push_back(std::move(condition));
    }
  }

  /// Comparisons of sizes; other conditions are none here.
  static std::vector<PlanCondition> conditions_of(const Node& node) {
    using Relation = SizeGuard::Relation;
    std::vector<PlanCondition> found;
    const Call call(node);
    const auto& params = node.op->schema.params;
    if (node.target.starts_with("aten.sym_constrain_range")) {
      const std::string text = "a size is outside the range that the program states";
      for (size_t i = 1; i < params.size(); ++i)
        if (!call.is_none(i))
          found.push_back({{text, call.integer(0), call.integer(i),
                            params[i].name == "min" ? Relation::GreaterEqual : Relation::LessEqual},
                           {}});
      return found;
    }
    if (node.is("aten._assert_scalar.default")) add_comparisons(node.args.at(0).node(), call.string(1), found);
    return found;
  }

  /// A comparison of sizes that must hold, or several of which all must.
  static void add_comparisons(const Node* test, const std::string& text, std::vector<PlanCondition>& found) {
    using Relation = SizeGuard::Relation;
    if (!test || !test->op) return;
    if (test->is("_operator.and_"))
      for (const Argument& part : test->args) add_comparisons(part.node(), text, found);
    static const std::map<std::string_view, Relation> relations = {
        {"_operator.eq", Relation::Equal},   {"_operator.ne", Relation::NotEqual},
        {"_operator.lt", Relation::Less},    {"_operator.le", Relation::LessEqual},
        {"_operator.gt", Relation::Greater}, {"_operator.ge", Relation::GreaterEqual}};
    const auto it = relations.find(test->target);
    if (it == relations.end()) return;
    const auto size = [&](size_t i) -> std::optional<SymInt> {
      const Argument& a = test->args.at(i);
      if (const auto* v = a.as<int64_t>()) return SymInt(*v);
      if (const auto* v = a.as<SymInt>()) return *v;
      const Node* n = a.node();
      return n && n->type.kind == Type::Kind::SymInt ? std::optional(n->type.sym) : std::nullopt;
    };
    const auto left = size(0), right = size(1);
    if (left && right) found.push_back({{text, *left, *right, it->second}, {}});
  }

  /// A node and its line of Python.
  static std::string place(const Node& node) {
    const SourceLocation* at = user_line(node.meta.source);
    return "'" + node.name + "'" + (at ? " at " + at->file + ":" + std::to_string(at->line) : "");
  }

  // ---------------------------------------------------------------------------------------------------------- launches

  void lower(FusionGroup& group) {
    Launch launch;
    launch.name = group.name;
    std::vector<const Node*> nodes;
    switch (group.kind) {
      case FusionGroup::Kind::Loop:
        nodes = lower_loops(group, launch);
        break;
      case FusionGroup::Kind::Library:
        nodes = lower_library(group, launch);
        break;
      case FusionGroup::Kind::Native:
      case FusionGroup::Kind::Opaque:
      case FusionGroup::Kind::Control:
        nodes = lower_opaque(group, launch);
        break;
    }
    const std::set<const Node*> made(group.stored.begin(), group.stored.end());
    for (const Node* node : nodes) {
      launch.buffers.push_back(buffer_for(*node));
      const PlanBuffer& buffer = plan().buffers[static_cast<size_t>(launch.buffers.back())];
      const bool is_made = made.contains(node);
      SymInt& bytes = is_made ? launch.bytes_written : launch.bytes_read;
      const SymInt elements = is_made ? elements_written(*node, buffer) : buffer.numel;
      bytes = bytes + elements * SymInt(static_cast<int64_t>(dtype_size(buffer.dtype)));
    }
    plan().launches.push_back(std::move(launch));
    result_.groups.push_back(std::move(group));
  }

  /// The buffer that a node's value lies in, as a whole or as a part of a concatenation.
  int buffer_for(const Node& node) {
    const auto placed = placed_.parts.find(&node);
    const Node& owner = placed == placed_.parts.end() ? node : *placed->second.whole;
    if (!buffer_of_.contains(&owner)) add_buffer(owner, kind_of(owner));
    return buffer_of_[&node] = buffer_of_.at(&owner);
  }

  /// Of a buffer, what the kernel that makes this node writes.
  SymInt elements_written(const Node& node, const PlanBuffer& buffer) const {
    if (placed_.parts.contains(&node)) return node.tensor().numel();
    const auto rest = placed_.rests.find(&node);
    if (rest == placed_.rests.end()) return buffer.numel;
    SymInt n = 1;
    for (const SymInt& size : rest->second.shape) n = n * size;
    return n;
  }

  PlanBuffer::Kind kind_of(const Node& node) const {
    return output_bases_.contains(&node) ? PlanBuffer::Kind::Output : PlanBuffer::Kind::Temporary;
  }

  std::vector<const Node*> lower_loops(const FusionGroup& group, Launch& launch) {
    const auto rest = placed_.rests.find(group.nodes.back());
    LoweredLoops lowered = rest == placed_.rests.end()
                               ? lower_to_loops(graph_, {group.nodes, group.stored}, {&layouts_, group.name, true})
                               : lower_rest(group, rest->second);
    if (!lowered.ok) throw_internal("kernel '" + group.name + "' cannot be lowered: " + lowered.refusal);
    for (size_t i = 0; i < lowered.buffers.size(); ++i)
      if (const auto part = placed_.parts.find(lowered.buffers[i]); part != placed_.parts.end())
        move_stores(lowered.kernel, static_cast<loop::BufferId>(i), *part->second.whole, part->second.offset);
    loop::verify_loop(lowered.kernel);
    launch.nodes = lowered.nodes;
    launch.flops = lowered.kernel.flops;
    launch.work = std::move(lowered.kernel);
    return lowered.buffers;
  }

  /// A concatenation of what its other parts' kernels have left to it.
  LoweredLoops lower_rest(const FusionGroup& group, const ConcatInPlace::Rest& rest) {
    const Node& whole = *group.nodes.back();
    Node fewer(whole);
    std::vector<Argument> operands;
    for (const Node* operand : rest.operands) operands.emplace_back(const_cast<Node*>(operand));
    fewer.args[0] = Argument::list(std::move(operands));
    fewer.type.tensor.shape = rest.shape;
    fewer.type.tensor.strides = contiguous_strides(rest.shape);
    layouts_.chosen_strides[&fewer] = layouts_.strides(&whole);
    std::vector<const Node*> nodes = group.nodes;
    nodes.back() = &fewer;
    LoweredLoops lowered = lower_to_loops(graph_, {nodes, {&fewer}}, {&layouts_, group.name, true});
    layouts_.chosen_strides.erase(&fewer);
    for (size_t i = 0; i < lowered.buffers.size(); ++i)
      if (lowered.buffers[i] == &fewer) {
        move_stores(lowered.kernel, static_cast<loop::BufferId>(i), whole, rest.offset);
        lowered.buffers[i] = &whole;
      }
    return lowered;
  }

  /// What a kernel writes to its buffer goes into that of `whole`.
  static void move_stores(loop::Kernel& kernel, loop::BufferId buffer, const Node& whole, const SymInt& offset) {
    kernel.buffers[buffer].name = whole.name;
    kernel.buffers[buffer].numel = whole.tensor().numel();
    for (loop::Nest& nest : kernel.nests)
      for (loop::Store& store : nest.stores)
        if (store.buffer == buffer) store.index = store.index + offset;
    kernel.symbols = loop::size_symbols(kernel);
  }

  std::vector<const Node*> lower_library(const FusionGroup& group, Launch& launch) {
    std::string why;
    auto lowered = lower_to_library(group.nodes, layouts_, constants_, *capabilities_, why);
    if (!lowered) throw_internal("library call '" + group.name + "' cannot be lowered: " + why);
    lowered->call.name = group.name;
    if (const auto part = placed_.parts.find(lowered->buffers.back()); part != placed_.parts.end())
      lowered->call.result.offset = part->second.offset;
    launch.nodes = lowered->nodes;
    launch.flops = lowered->call.flops;
    launch.work = std::move(lowered->call);
    return lowered->buffers;
  }

  /// One operator as a graph of its own: placeholders for the operands, in order.
  std::vector<const Node*> lower_opaque(FusionGroup& group, Launch& launch) {
    const Node& node = *group.nodes.front();
    auto graph = std::make_shared<Graph>(graph_.shared_env(), graph_.ids());
    std::unordered_map<const Node*, Node*> inside;
    std::vector<const Node*> buffers;
    std::vector<SymInt> offsets;
    for (const Node* operand : node.operands()) {
      Type type = operand->type;
      if (type.is_tensor()) {
        const StridedView view = view_of(*operand, group.name);
        type.tensor.strides = view.strides;
        buffers.push_back(view.base);
        offsets.push_back(view.offset);
        note_views(launch, view);
      }
      inside[operand] = graph->placeholder(operand->name, std::move(type));
    }
    auto copy = std::make_unique<Node>(node);
    copy->for_each_operand([&](Node*& operand) { operand = inside.at(operand); });
    Node* call = graph->add(std::move(copy));
    group.stored =
        node.type.kind == Type::Kind::Tuple ? add_parts(node, *graph, call, launch) : add_result(node, *graph, call);
    launch.nodes.insert(launch.nodes.begin(), node.id);
    if (group.kind == FusionGroup::Kind::Control)
      launch.work = ControlCall{graph, std::move(offsets), bodies_of(node, launch)};
    else if (group.kind == FusionGroup::Kind::Native)
      launch.work = NativeCall{std::string(std::get<KernelRule>(node.op->lowering).name), graph, std::move(offsets)};
    else
      launch.work = OpaqueCall{node.target, graph, std::move(offsets)};
    buffers.insert(buffers.end(), group.stored.begin(), group.stored.end());
    return buffers;
  }

  /// Plans of what a call runs; their nodes are computed in its launch.
  std::vector<std::shared_ptr<const Plan>> bodies_of(const Node& node, Launch& launch) const {
    ScheduleOptions options = options_;
    options.output_strides = {};
    std::vector<std::shared_ptr<const Plan>> bodies;
    for (const std::string& name : control_flow_of(node).bodies) {
      bodies.push_back(strata::schedule(*graph_.subgraphs.at(name), options).plan);
      for (const Launch& inner : bodies.back()->launches)
        launch.nodes.insert(launch.nodes.end(), inner.nodes.begin(), inner.nodes.end());
    }
    return bodies;
  }

  /// An operand of a call as strides over a buffer.
  StridedView view_of(const Node& operand, const std::string& call) const {
    std::optional<StridedView> view = strided_view(&operand, layouts_);
    if (!view) throw_internal("operand '" + operand.name + "' of '" + call + "' has no strides over a buffer");
    return *std::move(view);
  }

  /// Views that a call reads through are computed in it.
  static void note_views(Launch& launch, const StridedView& view) {
    for (const Node* step : view.through)
      if (std::find(launch.nodes.begin(), launch.nodes.end(), step->id) == launch.nodes.end())
        launch.nodes.push_back(step->id);
  }

  static std::vector<const Node*> add_result(const Node& node, Graph& graph, Node* call) {
    graph.output(Argument::list({Argument(call)}));
    return {&node};
  }

  std::vector<const Node*> add_parts(const Node& node, Graph& graph, Node* call, Launch& launch) {
    std::vector<const Node*> parts;
    std::vector<Argument> leaves;
    for (const auto& user : graph_.nodes()) {
      if (user->target != "_operator.getitem" || user->args.at(0).node() != &node) continue;
      Node* part = graph.add(NodeKind::Call, user->target, {call, user->args.at(1)}, user->type, user->name);
      part->op = user->op;
      leaves.emplace_back(part);
      parts.push_back(user.get());
      launch.nodes.push_back(user->id);
    }
    graph.output(Argument::list(std::move(leaves)));
    return parts;
  }

  // ------------------------------------------------------------------------------------------------------------- fates

  void fill_fates() {
    for (size_t i = 0; i < plan().launches.size(); ++i) {
      for (NodeId id : plan().launches[i].nodes) {
        NodeFate& fate = result_.fates[id];
        fate.kind = NodeFate::Kind::Launch;
        fate.launches.push_back(static_cast<int>(i));
      }
    }
    for (const auto& node : graph_.nodes()) {
      if (node->kind == NodeKind::Output || result_.fates.contains(node->id)) continue;
      NodeFate fate;
      if (node->kind == NodeKind::Placeholder)
        fate.kind = constants_.contains(node.get()) ? NodeFate::Kind::Constant : NodeFate::Kind::Input;
      else if (node->kind == NodeKind::GetAttr)
        fate.kind = NodeFate::Kind::Constant;
      else if (node->type.kind == Type::Kind::SymInt)
        fate.kind = NodeFate::Kind::Size;
      else if (output_views_.contains(node.get()))
        fate.kind = NodeFate::Kind::OutputView;
      result_.fates[node->id] = fate;
    }
  }

  const Graph& graph_;
  const ScheduleOptions& options_;
  const LibraryCapabilities* capabilities_;
  Scheduled result_;
  Layouts layouts_;
  ConcatInPlace placed_;
  std::unordered_set<const Node*> constants_, output_bases_, output_views_;
  std::unordered_map<const Node*, int> buffer_of_;
};

}  // namespace

std::string_view to_string(NodeFate::Kind kind) {
  switch (kind) {
    case NodeFate::Kind::Launch:
      return "launch";
    case NodeFate::Kind::OutputView:
      return "view of an output";
    case NodeFate::Kind::Constant:
      return "constant";
    case NodeFate::Kind::Input:
      return "input";
    case NodeFate::Kind::Size:
      return "size";
    case NodeFate::Kind::Unused:
      return "unused";
  }
  return "";
}

Scheduled schedule(const Graph& graph, const ScheduleOptions& options) { return Scheduler(graph, options).run(); }

}  // namespace strata
