// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// From a group of nodes to one kernel.
//
// The group's *domain* is a shape with some dimensions reduced: outer axes for the kept ones, inner axes for the
// reduced ones. A group without reductions has only outer axes. Nests are laid down in order: reductions by level (a
// level needs only results of the levels before), after each level the finished values once per outer point, then the
// stores.
//
// `value(node, index)` gives the scalar of a node at an index of its own shape, computing it in place: pointwise nodes
// recurse into their operands, views remap the index, nodes outside load from their buffer, reductions give the
// finished value of this outer point, if the index is this outer point's. Everything that does not fit throws
// NotLowered with the reason; it never leaves this file.

#include "passes/lower_to_loops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/ir/program.h"
#include "core/support/error.h"
#include "passes/loop_axes.h"

namespace strata {
namespace {

using loop::AxisId;
using loop::BufferId;
using loop::ScalarId;
using loop::ScalarOp;

struct NotLowered {
  std::string reason;
};

std::string shape_text(const std::vector<SymInt>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + shape[d].str();
  return text + "]";
}

/// A reduction's operand shape and which of its dimensions are folded.
struct Extent {
  std::vector<SymInt> shape;
  std::vector<bool> reduced;
  bool operator==(const Extent& other) const { return reduced == other.reduced && same_sizes(shape, other.shape); }
};

class GroupLowering {
 public:
  GroupLowering(const Graph& graph, const LoopGroup& group, const LowerOptions& options)
      : graph_(graph),
        group_(group),
        options_(options),
        body_(kernel_, graph.env()),
        members_(group.nodes.begin(), group.nodes.end()) {
    for (const Node* node : group.nodes)
      if (is_view(*node)) own_views_ = true;
    if (own_views_) {
      own_layouts_ = *options.layouts;
      std::erase_if(own_layouts_.materialized, [this](const Node* n) { return members_.contains(n); });
    }
  }

  LoweredLoops run() {
    kernel_.name = options_.name;
    choose_domain();
    make_axes();
    lower_reductions();
    lower_stores();
    LoweredLoops result;
    finish(result);
    return result;
  }

 private:
  using Index = std::vector<SymInt>;

  // ------------------------------------------------------------------------------------------------------------ domain

  void choose_domain() {
    for (const Node* node : group_.nodes) {
      if (is_scan(*node) || is_window(*node)) special_ = special_ ? refuse_two(*special_, *node) : node;
      if (is_reduction(*node)) add_extent(*node);
    }
    if (special_ && !reductions_.empty()) refuse_two(*special_, *reductions_.front());
    if (special_ && is_scan(*special_)) return scan_domain();
    if (!reductions_.empty()) return;
    const Node* shaped = special_ ? special_ : group_.stored.back();
    domain_.shape = shaped->tensor().shape;
    domain_.reduced.assign(domain_.shape.size(), false);
  }

  [[noreturn]] static const Node* refuse_two(const Node& a, const Node& b) {
    throw NotLowered{"'" + a.name + "' (" + a.target + ") and '" + b.name + "' (" + b.target +
                     ") need different loop nests"};
  }

  void add_extent(const Node& node) {
    const Extent e = extent_of(node);
    if (reductions_.empty()) {
      domain_ = e;
    } else if (!(domain_ == e)) {
      throw NotLowered{"'" + reductions_.front()->name + "' reduces " + describe(domain_) + ", '" + node.name +
                       "' reduces " + describe(e)};
    }
    reductions_.push_back(&node);
  }

  static std::string describe(const Extent& e) {
    std::string dims;
    for (size_t d = 0; d < e.reduced.size(); ++d)
      if (e.reduced[d]) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
    return shape_text(e.shape) + " over dimensions " + dims;
  }

  static Extent extent_of(const Node& node) {
    const Call call(node);
    Extent e;
    e.shape = call.tensor(0)->tensor().shape;
    e.reduced.assign(e.shape.size(), false);
    std::vector<int64_t> dims;
    const auto& params = node.op->schema.params;
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i].name == "dim" && !call.is_none(i)) dims = call.constants(i);
    for (int64_t d : dims)
      if (!e.shape.empty()) e.reduced[normalize_dim(d, e.shape.size(), node)] = true;
    if (dims.empty()) e.reduced.assign(e.shape.size(), true);
    return e;
  }

  void scan_domain() {
    const Call call(*special_);
    domain_.shape = special_->tensor().shape;
    domain_.reduced.assign(domain_.shape.size(), false);
    if (!domain_.shape.empty())
      domain_.reduced[normalize_dim(call.constant(1), domain_.shape.size(), *special_)] = true;
  }

  void make_axes() {
    point_.assign(domain_.shape.size(), SymInt(0));
    for (size_t d : axis_order()) {
      if (domain_.shape[d] == SymInt(1)) continue;
      const AxisId axis = body_.axis(domain_.reduced[d] ? "r" : "i", domain_.shape[d]);
      point_[d] = body_.axis_index(axis);
      (domain_.reduced[d] ? inner_ : kernel_.outer).push_back(axis);
    }
    // Folding a single element is still folding: the rule's preparation and finish apply.
    const bool folds = !reductions_.empty() || (special_ && is_scan(*special_));
    if (folds && inner_.empty()) inner_.push_back(body_.axis("r", 1));
  }

  /// Dimensions as they lie in memory, outermost first: of the result where its layout was chosen, else as they are
  /// numbered.
  std::vector<size_t> axis_order() const {
    std::vector<size_t> order(domain_.shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const Node* stored = group_.stored.back();
    const auto it = layouts().chosen_strides.find(stored);
    if (it == layouts().chosen_strides.end() || it->second.size() != order.size()) return order;
    const auto stride = [&](size_t d) { return hint(it->second[d]).value_or(0); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return stride(a) > stride(b); });
    return order;
  }

  // -------------------------------------------------------------------------------------------------------- reductions

  void lower_reductions() {
    if (special_) return is_window(*special_) ? lower_window(*special_) : lower_scan(*special_);
    std::map<int, std::vector<const Node*>> levels;
    for (const Node* r : reductions_) levels[level(r)].push_back(r);
    for (const auto& [depth, nodes] : levels) lower_level(nodes);
  }

  /// 1 + the highest level among reductions of the group that it depends on.
  int level(const Node* node) {
    if (const auto it = levels_.find(node); it != levels_.end()) return it->second;
    int highest = 0;
    if (members_.contains(node) || layouts().is_virtual(*node))
      for (const Node* operand : node->operands()) highest = std::max(highest, level(operand));
    if (members_.contains(node) && is_reduction(*node)) ++highest;
    return levels_[node] = highest;
  }

  void lower_level(const std::vector<const Node*>& nodes) {
    const size_t nest = body_.begin_nest(inner_);
    std::vector<size_t> numbers;
    for (const Node* node : nodes) numbers.push_back(body_.reduce(reduction_of(*node)));
    body_.begin_nest({});
    for (size_t i = 0; i < nodes.size(); ++i) finished_[nodes[i]] = finish_reduction(*nodes[i], nest, numbers[i]);
    memo_.clear();
  }

  /// In bool a sum is whether any element is true, a product whether all are.
  static loop::Combine combine_in(loop::Combine combine, DType dtype) {
    if (dtype != DType::Bool) return combine;
    if (combine == loop::Combine::Sum) return loop::Combine::Any;
    return combine == loop::Combine::Prod ? loop::Combine::All : combine;
  }

  loop::Reduction reduction_of(const Node& node) {
    const auto& rule = std::get<ReductionRule>(node.op->lowering);
    const Call call(node);
    touch(node);
    ScalarId element = value(call.tensor(0), point_);
    body_.node = node.id;
    if (rule.prepare) element = rule.prepare(body_, call, element);
    loop::Reduction r;
    r.combine = rule.combine;
    r.node = node.id;
    const bool by_position = r.combine == loop::Combine::ArgMax || r.combine == loop::Combine::ArgMin;
    r.dtype = by_position || rule.finish ? compute_dtype(body_.dtype(element)) : compute_dtype(node.tensor().dtype);
    if (r.combine == loop::Combine::Any || r.combine == loop::Combine::All)
      r.dtype = DType::Bool;  // of uint8 they are uint8
    r.combine = combine_in(r.combine, r.dtype);
    r.value = body_.cast(element, r.dtype);
    if (by_position) r.position = body_.index(linear(point_, domain_, true));
    return r;
  }

  /// Row-major position among the reduced dimensions.
  static SymInt linear(const Index& point, const Extent& domain, bool reduced) {
    SymInt position = 0;
    for (size_t d = 0; d < point.size(); ++d)
      if (domain.reduced[d] == reduced) position = position * domain.shape[d] + point[d];
    return position;
  }

  ScalarId finish_reduction(const Node& node, size_t nest, size_t number) {
    const auto& rule = std::get<ReductionRule>(node.op->lowering);
    body_.node = node.id;
    std::vector<ScalarId> results;
    for (size_t k = 0; k < loop::result_count(rule.combine); ++k) results.push_back(body_.reduced(nest, number, k));
    ScalarId v = results[0];
    if (rule.finish) {
      SymInt count = 1;
      for (size_t d = 0; d < domain_.shape.size(); ++d)
        if (domain_.reduced[d]) count = count * domain_.shape[d];
      v = rule.finish(body_, Call(node), results, body_.index(count));
    }
    return body_.cast(v, compute_dtype(node.tensor().dtype));
  }

  void lower_window(const Node& node) {
    const auto& rule = std::get<WindowRule>(node.op->lowering);
    const Call call(node);
    touch(node);
    std::vector<AxisId> axes;
    Index window;
    for (const SymInt& extent : rule.window(call)) {
      if (extent == SymInt(1)) {
        window.emplace_back(0);
        continue;
      }
      axes.push_back(body_.axis("w", extent));
      window.push_back(body_.axis_index(axes.back()));
    }
    if (axes.empty()) axes.push_back(body_.axis("w", 1));
    const size_t nest = body_.begin_nest(axes);
    body_.node = node.id;
    const IndexedCall indexed = indexed_call(call, point_);
    std::optional<ScalarId> inside;
    loop::Reduction r;
    r.combine = rule.combine;
    r.node = node.id;
    const ScalarId element = rule.element(indexed, window, inside);
    r.dtype = compute_dtype(body_.dtype(element));
    r.value = body_.cast(element, r.dtype);
    if (inside) r.mask = *inside;
    const bool by_position = r.combine == loop::Combine::ArgMax || r.combine == loop::Combine::ArgMin;
    if (by_position) throw NotLowered{"positions in windows are not lowered to loops"};
    const size_t number = body_.reduce(r);
    body_.begin_nest({});
    body_.node = node.id;
    std::vector<ScalarId> results;
    for (size_t k = 0; k < loop::result_count(rule.combine); ++k) results.push_back(body_.reduced(nest, number, k));
    const ScalarId v = rule.finish ? rule.finish(indexed_call(call, point_), results) : results[0];
    finished_[&node] = body_.cast(v, compute_dtype(node.tensor().dtype));
    memo_.clear();
  }

  void lower_scan(const Node& node) {
    const Call call(node);
    touch(node);
    const size_t nest = body_.begin_nest(inner_);
    body_.node = node.id;
    loop::Reduction r;
    r.combine = std::get<ScanRule>(node.op->lowering).combine;
    r.node = node.id;
    const DType dtype = node.tensor().dtype;
    // As PyTorch does: what is added one after the other would soon be far from the sum.
    r.dtype = dtype == DType::F32 ? DType::F64 : compute_dtype(dtype);
    r.combine = combine_in(r.combine, r.dtype);
    r.value = body_.cast(value(call.tensor(0), point_), r.dtype);
    const size_t number = body_.reduce(r);
    kernel_.nests.back().scan = true;
    finished_[&node] = body_.cast(body_.reduced(nest, number, 0), compute_dtype(dtype));
  }

  // ------------------------------------------------------------------------------------------------------------ stores

  void lower_stores() {
    std::vector<const Node*> full, row;
    const bool by_row = !special_ && !reductions_.empty();
    for (const Node* node : group_.stored) (by_row && !is_full(*node) ? row : full).push_back(node);
    if (!row.empty()) {
      if (!kernel_.nests.back().axes.empty()) open({});
      for (const Node* node : row) store(*node, row_index(*node));
    }
    if (full.empty()) return;
    if (by_row)
      open(inner_);
    else if (!special_)
      open({});
    for (const Node* node : full) store(*node, full_index(*node));
  }

  void open(const std::vector<AxisId>& axes) {
    body_.begin_nest(axes);
    memo_.clear();
  }

  bool is_full(const Node& node) const { return same_sizes(node.tensor().shape, domain_.shape) && !is_reduction(node); }

  Index full_index(const Node& node) const {
    if (same_sizes(node.tensor().shape, domain_.shape)) return point_;
    throw NotLowered{"'" + node.name + "' has shape " + shape_text(node.tensor().shape) + ", the loops run over " +
                     shape_text(domain_.shape)};
  }

  /// Index of a value that has one element per outer point: the domain's shape with reduced dimensions of size 1 or
  /// left out.
  Index row_index(const Node& node) const {
    Index kept, with_ones;
    std::vector<SymInt> kept_shape, ones_shape;
    for (size_t d = 0; d < point_.size(); ++d) {
      ones_shape.push_back(domain_.reduced[d] ? SymInt(1) : domain_.shape[d]);
      with_ones.push_back(domain_.reduced[d] ? SymInt(0) : point_[d]);
      if (domain_.reduced[d]) continue;
      kept.push_back(point_[d]);
      kept_shape.push_back(domain_.shape[d]);
    }
    const auto& shape = node.tensor().shape;
    if (same_sizes(shape, kept_shape)) return kept;
    if (same_sizes(shape, ones_shape)) return with_ones;
    throw NotLowered{"'" + node.name + "' has shape " + shape_text(shape) + ", the loops run over " +
                     describe(domain_)};
  }

  void store(const Node& node, const Index& index) {
    const ScalarId v = value(&node, index);
    body_.node = node.id;
    loop::Buffer b;
    b.name = node.name;
    b.dtype = node.tensor().dtype;
    b.numel = node.tensor().numel();
    b.role = loop::BufferRole::Output;
    b.node = node.id;
    const BufferId buffer = body_.buffer(b);
    buffers_.push_back(&node);
    loop::Store s;
    s.buffer = buffer;
    s.index = flat(index, layouts().strides(&node));
    // Stores round to 16-bit floats by themselves.
    s.value = body_.cast(v, compute_dtype(node.tensor().dtype));
    s.node = node.id;
    body_.store(s);
  }

  static SymInt flat(const Index& index, const std::vector<SymInt>& strides) {
    SymInt sum = 0;
    for (size_t d = 0; d < index.size(); ++d) sum = sum + index[d] * strides[d];
    return sum;
  }

  // ------------------------------------------------------------------------------------------------------------ values

  struct Key {
    const Node* node;
    Index index;
    ScalarId mask;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const {
      size_t h = std::hash<const void*>()(k.node) ^ k.mask;
      for (const SymInt& i : k.index)
        h = h * 31 + std::hash<const void*>()(i.expr()) + static_cast<size_t>(i.maybe_value().value_or(7));
      return h;
    }
  };

  /// Layouts in which the views that this very group writes out are virtual: they are computed through.
  const Layouts& layouts() const { return own_views_ ? own_layouts_ : *options_.layouts; }

  void touch(const Node& node) {
    if (touched_.insert(&node).second) order_.push_back(node.id);
  }

  ScalarId value(const Node* node, const Index& index, ScalarId mask = loop::kNone) {
    const Key key{node, index, mask};
    if (const auto it = memo_.find(key); it != memo_.end()) return it->second;
    if (++depth_ > 400) throw NotLowered{"more than 400 operators deep"};
    const ScalarId result = compute(node, index, mask);
    --depth_;
    return memo_[key] = result;
  }

  ScalarId compute(const Node* node, const Index& index, ScalarId mask) {
    if (const auto it = finished_.find(node); it != finished_.end()) return finished_value(*node, it->second, index);
    if (layouts().is_virtual(*node)) return through_view(*node, index, mask);
    if (!members_.contains(node)) return load(*node, index, mask);
    if (!is_inlinable(*node))
      throw NotLowered{"'" + node->name + "' (" + node->target + ") is needed before it is complete"};
    touch(*node);
    const Call call(*node);
    const ScalarId outer = std::exchange(body_.live, mask);
    const ScalarId v = rule_value(*node, call, index, mask);
    body_.live = outer;
    return v;
  }

  ScalarId rule_value(const Node& node, const Call& call, const Index& index, ScalarId mask) {
    if (std::holds_alternative<PointwiseBody>(node.op->lowering)) return pointwise(node, call, index, mask);
    body_.node = node.id;
    const ScalarId v = std::get<IndexedBody>(node.op->lowering)(indexed_call(call, index, mask));
    body_.node = node.id;
    return body_.cast(v, compute_dtype(node.tensor().dtype));
  }

  ScalarId finished_value(const Node& node, ScalarId v, const Index& index) {
    const bool same = special_ ? index == point_ : index == row_index(node);
    if (!same) throw NotLowered{"'" + node.name + "' is needed at another place than where it is reduced"};
    return v;
  }

  ScalarId through_view(const Node& node, const Index& index, ScalarId mask) {
    touch(node);
    // Over a buffer the strides are simpler than the chain of index maps (no divisions where a reshape keeps rows
    // together).
    const Node* base = layouts().base(&node);
    if (!members_.contains(base)) {
      if (const auto view = strided_view(&node, layouts())) {
        for (const Node* v : view->through) touch(*v);
        return load_at(*base, view->offset + flat(index, view->strides), mask);
      }
    }
    const Node* from = node.args.at(0).node();
    // Without elements no index is ever computed, and a reshape's divisions by sizes would be divisions by zero.
    if (node.tensor().numel() == SymInt(0)) return value(from, Index(from->tensor().shape.size(), SymInt(0)), mask);
    return value(from, std::get<IndexMap>(node.op->lowering)(Call(node), index), mask);
  }

  ScalarId load(const Node& node, const Index& index, ScalarId mask) {
    if (!node.type.is_tensor()) throw NotLowered{"'" + node.name + "' is no tensor"};
    if (const Tensor* constant = single_element(node)) {
      const DType type = compute_dtype(constant->dtype);
      const ScalarId v =
          is_floating(type) ? body_.constant(constant->at(0), type) : body_.integer(constant->int_at(0), type);
      return mask == loop::kNone ? v : body_.select(mask, v, body_.constant(0, type));
    }
    return load_at(node, flat(index, layouts().strides(&node)), mask);
  }

  ScalarId load_at(const Node& node, const SymInt& address, ScalarId mask) {
    auto it = inputs_.find(&node);
    if (it == inputs_.end()) {
      loop::Buffer b;
      b.name = node.name;
      b.dtype = node.tensor().dtype;
      b.numel = buffer_elements(node.tensor().shape, layouts().strides(&node));
      b.role = loop::BufferRole::Input;
      b.node = node.id;
      it = inputs_.emplace(&node, body_.buffer(b)).first;
      buffers_.push_back(&node);
    }
    return body_.load(it->second, address, mask);
  }

  /// Constants of one element are written into the code.
  const Tensor* single_element(const Node& node) const {
    if (node.kind != NodeKind::GetAttr) return nullptr;
    const auto it = graph_.attributes.find(node.target);
    return it != graph_.attributes.end() && it->second.numel() == 1 ? &it->second : nullptr;
  }

  /// Where `outer` is false the index may be out of bounds, so every load is under it too.
  IndexedCall indexed_call(const Call& call, const Index& index, ScalarId outer = loop::kNone) {
    return {
        body_, call, index, [this, outer](const Node* operand, const Index& at, std::optional<ScalarId> own) {
          const uint64_t node = body_.node;
          const ScalarId mask = !own ? outer : outer == loop::kNone ? *own : body_.binary(ScalarOp::And, outer, *own);
          ScalarId v = value(operand, at, mask);
          // A masked-off load gives 0; a masked-off computed value must too.
          const Node* base = layouts().base(operand);
          if (own && members_.contains(base)) v = body_.select(*own, v, body_.constant(0, body_.dtype(v)));
          body_.node = node;
          return v;
        }};
  }

  /// The index into an operand that is broadcast to the result.
  static Index broadcast_index(const Index& index, const std::vector<SymInt>& shape) {
    Index result(shape.size());
    const size_t lead = index.size() - shape.size();
    for (size_t d = 0; d < shape.size(); ++d) result[d] = shape[d] == SymInt(1) ? SymInt(0) : index[d + lead];
    return result;
  }

  ScalarId pointwise(const Node& node, const Call& call, const Index& index, ScalarId mask) {
    const bool fixed = node.op->promotion == Promotion::Fixed;
    const DType common = fixed ? DType::F32 : pointwise_compute_dtype(call);
    std::vector<ScalarId> operands;
    const auto& params = node.op->schema.params;
    for (size_t i = 0; i < params.size(); ++i) {
      if (params[i].type != "Tensor") continue;
      operands.push_back(operand(call, i, index, mask, fixed, common));
    }
    body_.node = node.id;
    const ScalarId v = std::get<PointwiseBody>(node.op->lowering)(body_, call, operands);
    return body_.cast(v, compute_dtype(node.tensor().dtype));
  }

  /// `common`: the type that the operands come to.
  ScalarId operand(const Call& call, size_t i, const Index& index, ScalarId mask, bool fixed, DType common) {
    if (call.is_none(i)) return loop::kNone;
    const DType compute_type = compute_dtype(fixed ? call.node().tensor().dtype : common);
    const Node* n = call.arg(i).node();
    body_.node = call.node().id;
    ScalarId v = loop::kNone;
    if (n && n->type.is_tensor()) {
      v = value(n, broadcast_index(index, n->tensor().shape), mask);
      body_.node = call.node().id;
      if (fixed) return v;
    } else if (call.is_integer_scalar(i)) {
      v = body_.index(call.integer(i));
    } else {
      v = body_.constant(call.number(i), compute_type);
    }
    return body_.cast(!fixed && rounds_operand(call, i) ? body_.cast(v, common) : v, compute_type);
  }

  // ------------------------------------------------------------------------------------------------------------ finish

  /// A member of the group by its name and line of Python.
  std::string place(NodeId id) const {
    const auto it = std::find_if(group_.nodes.begin(), group_.nodes.end(), [&](const Node* n) { return n->id == id; });
    if (it == group_.nodes.end()) return {};
    const SourceLocation* line = user_line((*it)->meta.source);
    return "'" + (*it)->name + "'" + (line ? " at " + line->file + ":" + std::to_string(line->line) : "");
  }

  void finish(LoweredLoops& result) {
    for (const Node* node : group_.nodes) {
      // A member that nothing here computes would be lost.
      if (!touched_.contains(node)) throw NotLowered{"'" + node->name + "' is not reached from what is stored"};
    }
    kernel_.nodes = order_;
    for (loop::Check& check : kernel_.checks) check.where = place(check.node);
    if (options_.finish) {
      loop::drop_empty_nests(kernel_);
      loop::merge_axes(kernel_, body_.env());
      kernel_.flops = loop::count_flops(kernel_);
    }
    kernel_.symbols = loop::size_symbols(kernel_);
    result.ok = true;
    result.kernel = std::move(kernel_);
    result.buffers = std::move(buffers_);
    result.nodes = std::move(order_);
  }

  const Graph& graph_;
  const LoopGroup& group_;
  const LowerOptions& options_;
  bool own_views_ = false;
  Layouts own_layouts_;
  loop::Kernel kernel_;
  loop::Body body_;
  std::unordered_set<const Node*> members_;
  const Node* special_ = nullptr;
  std::vector<const Node*> reductions_;
  Extent domain_;
  Index point_;  ///< this iteration's index into the domain's shape
  std::vector<AxisId> inner_;
  std::unordered_map<const Node*, int> levels_;
  std::unordered_map<const Node*, ScalarId> finished_;
  std::unordered_map<const Node*, BufferId> inputs_;
  std::vector<const Node*> buffers_;
  std::unordered_map<Key, ScalarId, KeyHash> memo_;
  std::unordered_set<const Node*> touched_;
  std::vector<NodeId> order_;
  int depth_ = 0;
};

template <class Rule>
bool lowers_as(const Node& node) {
  return node.kind == NodeKind::Call && node.op && node.type.is_tensor() &&
         std::holds_alternative<Rule>(node.op->lowering);
}

}  // namespace

bool is_inlinable(const Node& node) { return lowers_as<PointwiseBody>(node) || lowers_as<IndexedBody>(node); }
bool is_reduction(const Node& node) { return lowers_as<ReductionRule>(node); }
bool is_window(const Node& node) { return lowers_as<WindowRule>(node); }
bool is_scan(const Node& node) { return lowers_as<ScanRule>(node); }

LoweredLoops lower_to_loops(const Graph& graph, const LoopGroup& group, const LowerOptions& options) {
  try {
    return GroupLowering(graph, group, options).run();
  } catch (const NotLowered& refusal) {
    LoweredLoops result;
    result.refusal = refusal.reason;
    return result;
  }
}

}  // namespace strata
