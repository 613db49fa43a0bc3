// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Every old value belongs to an alias set with one base. A set has a version, raised by each write; a value whose own
// version is older is made again, on demand, by replaying the view operators that lead from the base to it.
//
// Invariant: `rewriter_.mapped(old)` is the value of `old` at version `valid_[old]` of its set.

#include "passes/functionalize.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/ir/aliasing.h"
#include "core/ir/ops/common.h"
#include "core/ir/ops/views.h"
#include "core/support/error.h"
#include "passes/data_sizes.h"

namespace strata {
namespace {

constexpr int64_t kEnd = INT64_MAX;

const std::set<std::string_view>& same_elements() {
  static const std::set<std::string_view> names = {"aten.view.default",
                                                   "aten.reshape.default",
                                                   "aten.flatten.using_ints",
                                                   "aten.unflatten.int",
                                                   "aten.squeeze.default",
                                                   "aten.squeeze.dim",
                                                   "aten.squeeze.dims",
                                                   "aten.unsqueeze.default",
                                                   "aten.alias.default",
                                                   "aten.detach.default",
                                                   "aten.contiguous.default",
                                                   "aten._unsafe_view.default",
                                                   "aten.detach_.default",
                                                   "aten.dropout.default",
                                                   "aten.to.dtype",
                                                   "aten.to.dtype_layout",
                                                   "aten.to.device",
                                                   "aten.to.other",
                                                   "aten.view_as.default",
                                                   "aten.reshape_as.default",
                                                   "aten.lift_fresh.default",
                                                   "aten.type_as.default",
                                                   "aten.positive.default",
                                                   "aten.resolve_conj.default",
                                                   "aten.resolve_neg.default",
                                                   "aten.ravel.default",
                                                   "aten.squeeze_.default",
                                                   "aten.squeeze_.dim",
                                                   "aten.squeeze_.dims",
                                                   "aten.unsqueeze_.default",
                                                   "aten.atleast_1d.default",
                                                   "aten.atleast_2d.default",
                                                   "aten.atleast_3d.default",
                                                   "aten.conj_physical.default",
                                                   "aten.sum_to_size.default",
                                                   "aten.feature_dropout.default",
                                                   "aten.alpha_dropout.default",
                                                   "aten.feature_alpha_dropout.default"};
  return names;
}

std::string place(const Node& node) {
  if (!node.meta.source || node.meta.source->empty()) return "'" + node.name + "'";
  const SourceLocation& at = node.meta.source->back();
  return "'" + node.name + "' at " + at.file + ":" + std::to_string(at.line);
}

class Functionalizer {
 public:
  Functionalizer(const Graph& graph)
      : graph_(graph), sizes_(graph), users_(users_of(graph)), rewriter_(graph, "functionalize") {}

  PassResult run() {
    for (const auto& node : graph_.nodes()) visit(*node);
    Graph result = rewriter_.finish();
    result.output_specs = std::move(specs_);
    return {std::move(result), rewriter_.take_rewrites()};
  }

 private:
  struct AliasSet {
    int version = 0;
  };
  struct Value {
    const Node* base;
    const Node* via;  ///< operand it is a view of; null for a base
    int version;
  };

  void visit(const Node& node) {
    if (node.kind == NodeKind::Output) return finish_outputs(node);
    const bool of_element = node.is("aten._assert_async.default") || node.is("aten._assert_async.msg") ||
                            node.is("aten._linalg_check_errors.default");
    if (node.op && node.op->op_class == OpClass::Assertion && !of_element && !about_data(node))
      return rewriter_.erase(node, "assertion", "it holds for the exported program");
    for (Node* operand : node.operands()) refresh(*operand);
    if (of_element) return assert_element(node);
    if (const Solver* solver = solver_of(node)) return solve(node, *solver);
    if (writes_statistics(node)) return normalise(node);
    if (node.op && node.op->op_class == OpClass::Mutation) return mutate(node);
    if (is_truth(node)) return read_truth(node);
    if (node.is("torch.sym_ite")) return choose(node);
    if (node.is("aten.as_strided.default"))
      rewriter_.replace(node, elements_of_memory(node), "as_strided", "elements of memory");
    else
      rewriter_.copy(node);
    const Node* via = aliased_operand(node);
    const Value* parent = via ? &values_.at(via) : nullptr;
    const Node* base = parent ? parent->base : &node;
    values_[&node] = {base, via, parent ? sets_[base].version : 0};
    if (!parent) sets_[base];
  }

  /// What is asserted of sizes that only the data tells is tested in every run.
  bool about_data(const Node& node) const {
    for (const Node* operand : node.operands()) {
      if (operand->type.kind == Type::Kind::SymInt && sizes_.depends_on_data(operand->type.sym)) return true;
      for (const Node* size : operand->operands())
        if (size->type.kind == Type::Kind::SymInt && sizes_.depends_on_data(size->type.sym)) return true;
    }
    return false;
  }

  /// The value of `node` is new memory, which nothing else sees.
  void owns_memory(const Node& node) {
    values_[&node] = {&node, nullptr, 0};
    sets_[&node];
  }

  /// An element that is read for the 1 or 0 that `sym_ite` makes of it.
  bool is_truth(const Node& node) const {
    if (!node.is("aten.item.default") || node.type.kind != Type::Kind::SymBool) return false;
    const auto& users = users_.at(&node);
    return !users.empty() && std::ranges::all_of(users, [](const Node* user) { return user->is("torch.sym_ite"); });
  }

  void read_truth(const Node& node) {
    Node* read = rewriter_.at(node, "truth").call("aten.item.default", {rewriter_.mapped(Call(node).tensor(0))});
    read->type = users_.at(&node).front()->type;
    rewriter_.replace(node, read, "truth", "an element that is true is 1");
    owns_memory(node);
  }

  void choose(const Node& node) {
    const Call call(node);
    const Node* truth = call.arg(0).node();
    if (!truth || !is_truth(*truth) || call.constant(1) != 1 || call.constant(2) != 0 ||
        !(users_.at(truth).front()->type.sym == node.type.sym))
      throw_user("sym_ite of " + place(node) + " chooses between other numbers than 1 and 0, or by no tensor's element",
                 "use torch.where on tensors");
    rewriter_.replace(node, rewriter_.mapped(truth), "truth", "an element that is true is 1");
    owns_memory(node);
  }

  /// Operators of linear algebra that refuse matrices, and those that tell of it instead.
  struct Solver {
    std::string_view name, telling, said;
    int64_t info;  ///< which part tells
  };
  static const Solver* solver_of(const Node& node) {
    static constexpr Solver kSolvers[] = {
        {"aten.inverse.default", "aten.linalg_inv_ex.default", "linalg.inv", 1},
        {"aten.linalg_inv.default", "aten.linalg_inv_ex.default", "linalg.inv", 1},
        {"aten.linalg_solve.default", "aten._linalg_solve_ex.default", "linalg.solve", 3},
        {"aten.cholesky.default", "aten.linalg_cholesky_ex.default", "cholesky", 1},
        {"aten.linalg_cholesky.default", "aten.linalg_cholesky_ex.default", "linalg.cholesky", 1},
    };
    const auto* found =
        std::find_if(std::begin(kSolvers), std::end(kSolvers), [&](const Solver& s) { return node.is(s.name); });
    return found == std::end(kSolvers) ? nullptr : found;
  }

  void solve(const Node& node, const Solver& solver) {
    Builder& b = rewriter_.at(node, "solver");
    const Call call(node);
    std::vector<Argument> operands;
    std::vector<std::pair<std::string, Argument>> keywords;
    for (size_t i = 0; i < call.size(); ++i) {
      const std::string& name = call.op().schema.params[i].name;
      if (Node* operand = call.arg(i).node())
        operands.emplace_back(rewriter_.mapped(operand));
      else
        keywords.emplace_back(name, call.arg(i));
    }
    Node* told = b.call(solver.telling, std::move(operands), std::move(keywords));
    require(b, without_errors(b, b.getitem(told, solver.info)), complaint(std::string(solver.said)));
    rewriter_.replace(node, b.getitem(told, 0), "solver", "whether it can be solved is tested in every run");
    owns_memory(node);
  }

  void assert_element(const Node& node) {
    const Call call(node);
    Builder& b = rewriter_.at(node, "assertion of an element");
    require(b, asserted(b, call), message(call));
    rewriter_.erase(node, "assertion", "tested in every run");
  }

  /// A tensor's element that must be true: read as a number in every run, as a size would be, and compared.
  void require(Builder& b, Node* element, const std::string& otherwise) {
    ShapeEnv& env = graph_.env();
    Symbol symbol;
    for (int i = 0; symbol.name.empty() || env.find(symbol.name); ++i) symbol.name = "assert" + std::to_string(i);
    symbol.range = {0, 1};
    symbol.origin = "assertion";
    Node* read = b.call("aten.item.default", {element});
    read->type = Type::symint(env.symbol(symbol));
    b.call("aten._assert_scalar.default", {b.call("_operator.eq", {read, 1}), otherwise});
  }

  Node* asserted(Builder& b, const Call& call) const {
    Node* value = rewriter_.mapped(call.tensor(0));
    if (!call.node().is("aten._linalg_check_errors.default"))
      return b.call("aten.ne.Scalar", {b.reshape(value, {}), 0});
    return without_errors(b, value);
  }

  static Node* without_errors(Builder& b, Node* info) {
    Node* failed = b.call("aten.any.default", {b.call("aten.ne.Scalar", {info, 0})});
    return b.call("aten.logical_not.default", {failed});
  }

  static std::string complaint(const std::string& who) {
    return who + ": a matrix is singular, or not positive-definite";
  }

  static std::string message(const Call& call) {
    if (call.size() < 2) return "an assertion does not hold";
    if (!call.node().is("aten._linalg_check_errors.default")) return call.string(1);
    return complaint(call.string(1));
  }

  /// Brings the new value of `old` up to date with the writes to its set.
  void refresh(const Node& old) {
    Value& value = values_.at(&old);
    if (value.version == sets_[value.base].version || !value.via) return;
    refresh(*value.via);
    Node* made = nullptr;
    if (old.op && old.op->op_class == OpClass::Mutation) {
      made = rewriter_.mapped(value.via);  // an in-place result is its operand
    } else {
      made = replay(old);
    }
    rewriter_.replace(old, made, "replay view", "'" + value.base->name + "' was written");
    value.version = sets_[value.base].version;
  }

  Node* replay(const Node& old) {
    if (old.is("aten.as_strided.default")) return elements_of_memory(old);
    const Node* tuple = made_anew(old);
    Node* list = tuple ? replay(*tuple) : nullptr;
    Builder& b = rewriter_.at(old, "replay view", OriginKind::Copied);
    if (list) return b.getitem(list, *old.args.at(1).as<int64_t>());
    auto node = std::make_unique<Node>(old);
    node->id = 0;
    node->meta = b.meta;
    for (Argument& a : node->args) a = rewriter_.mapped(a);
    for (auto& [key, a] : node->kwargs) a = rewriter_.mapped(a);
    Node* made = rewriter_.to().add(std::move(node));
    b.on_create(*made);
    return made;
  }

  /// The list that `old` is a part of, where not the list but its parts are views; else null.
  const Node* made_anew(const Node& old) const {
    const Node* tuple = old.is("_operator.getitem") ? old.args.at(0).node() : nullptr;
    return tuple && !aliased_operand(*tuple) ? tuple : nullptr;
  }

  /// `as_strided` counts in memory, which is a value from here on: the owner's, in the order in which it lies.
  Node* elements_of_memory(const Node& node) {
    Builder& b = rewriter_.at(node, "elements of memory");
    const Call call(node);
    const StridedOver over = strided_over(call);
    if (over == StridedOver::Unknown)
      throw_user("as_strided of " + place(node) + " depends on what lies between the elements of its operand",
                 "call contiguous() on the operand first");
    const Node* self = call.tensor(0);
    Node* memory = rewriter_.mapped(over == StridedOver::Owner ? &storage_owner(*self) : self);
    if (over == StridedOver::Owner) {
      const std::vector<int64_t> order = *memory_order(storage_owner(*self).tensor());
      if (!std::is_sorted(order.begin(), order.end())) memory = b.permute(memory, order);
      memory = in_numbers_of(b, memory, self->tensor().dtype);
    }
    const auto given = [&](size_t i) { return rewriter_.mapped(call.arg(i)); };
    const Argument offset = call.is_none(3) ? Argument(int64_t{0}) : given(3);
    return b.call("strata.strided_elements.default", {memory, given(1), given(2), offset});
  }

  /// Complex numbers as pairs of real ones, or the other way round, where the type asked for is such.
  static Node* in_numbers_of(Builder& b, Node* memory, DType dtype) {
    const bool pairs = is_complex(memory->tensor().dtype);
    if (pairs == is_complex(dtype)) return memory;
    if (pairs) return b.call("aten.view_as_real.default", {memory});
    const SymInt count = elements_in_memory(memory->tensor(), dtype);
    return b.call("aten.view_as_complex.default", {b.reshape(memory, {count, SymInt(2)})});
  }

  void mutate(const Node& node) {
    const Node* self = node.args.at(0).node();
    Node* value = functional_value(node, *self);
    rewriter_.replace(node, value, "functional form", "in-place operator");
    write(node, self, value);
    const Value target = values_.at(self);
    values_[&node] = {target.base, self, target.version};
  }

  /// `self` is `value` from here on, and so is what else looks at its memory.
  void write(const Node& node, const Node* self, Node* value) {
    const Value target = values_.at(self);
    // Replace for the operand as well, so that it needs no replay.
    const Node* view = self;
    std::vector<const Node*> path;
    Node* written = value;
    while (values_.at(view).via) {
      path.push_back(view);
      written = write_back(node, *view, written);
      view = values_.at(view).via;
      // Writing back a part has passed over the tuple that holds it.
      if (view->type.kind == Type::Kind::Tuple) view = values_.at(view).via;
    }
    AliasSet& set = sets_[target.base];
    ++set.version;
    rewriter_.replace(*target.base, written, "write", "written by '" + node.name + "'");
    values_.at(target.base).version = set.version;
    if (self != target.base) {
      rewriter_.replace(*self, value, "write", "written by '" + node.name + "'");
      values_.at(self).version = set.version;
    }
    written_.insert(target.base);
  }

  static bool is_instance_norm(const Node& node) { return node.is("aten.instance_norm.default"); }
  static bool updates(const Node& node) { return node.is("aten._batch_norm_with_update.default"); }

  /// Norms in training that write their running statistics, operands 3 and 4, without an underscore in their names.
  static bool writes_statistics(const Node& node) {
    static constexpr std::string_view kNorms[] = {"aten.batch_norm.default", "aten.native_batch_norm.default",
                                                  "aten._native_batch_norm_legit.default"};
    const bool one = std::any_of(std::begin(kNorms), std::end(kNorms), [&](std::string_view n) { return node.is(n); });
    if (!one && !updates(node) && !is_instance_norm(node)) return false;
    const Call call(node);
    return call.optional_tensor(3) && call.optional_tensor(4) && (updates(node) || call.boolean(5));
  }

  void normalise(const Node& node) {
    Builder& b = rewriter_.at(node, "running statistics");
    const Call call(node);
    (void)node.op->shape(call);  // refuses what the lines below cannot do with
    std::vector<Argument> args;
    for (size_t i = 0; i < 5; ++i) args.push_back(rewriter_.mapped(call.arg(i)));
    // Each sample's channels are channels of one sample, for instance_norm.
    using Shape = std::vector<SymInt>;
    const Shape shape = call.type(0).shape;
    const bool by_sample = is_instance_norm(node);
    if (by_sample) {
      Shape joined = shape;
      joined[0] = 1;
      joined[1] = shape[0] * shape[1];
      args[0] = b.reshape(args[0].node(), joined);
      for (size_t i = 1; i < 5; ++i)
        if (Node* x = args[i].node())
          args[i] = b.reshape(b.expand(b.unsqueeze(x, 0), {shape[0], shape[1]}), {joined[1]});
    }
    const size_t momentum = updates(node) ? 5 : 6;
    args.insert(args.end(), {Argument(true), call.arg(momentum), call.arg(momentum + 1)});
    Node* made = b.call("aten._native_batch_norm_legit_functional.default", std::move(args));
    std::vector<Node*> parts;
    for (int64_t i = 0; i < 5; ++i) parts.push_back(b.getitem(made, i));
    if (by_sample) {
      parts[0] = b.reshape(parts[0], shape);
      for (size_t i : {3, 4})
        parts[i] = b.call("aten.mean.dim", {b.reshape(parts[i], {shape[0], shape[1]}), Argument::ints({0})});
    }
    for (size_t i : {3, 4}) {
      const Node* statistics = call.tensor(i);
      write(node, statistics, in_own_memory(b, b.cast(parts[i], statistics->tensor().dtype), statistics->tensor()));
    }
    if (node.type.kind == Type::Kind::Tuple) {
      parts.resize(3);
      if (updates(node)) parts.push_back(b.call("aten.full.default", {Argument::ints({0}), 0}, {{"dtype", DType::U8}}));
      rewriter_.replace_parts(node, std::move(parts), "running statistics");
    } else {
      rewriter_.replace(node, parts[0], "running statistics", "norms in training write them");
    }
    owns_memory(node);
  }

  Node* functional_value(const Node& node, const Node& self) {
    Builder& b = rewriter_.at(node, "functional form");
    std::vector<Argument> args;
    for (const Argument& a : node.args) args.push_back(rewriter_.mapped(a));
    std::vector<std::pair<std::string, Argument>> kwargs;
    for (const auto& [key, a] : node.kwargs) kwargs.emplace_back(key, rewriter_.mapped(a));
    Node* value = nullptr;
    if (node.target == "aten.copy_.default") {
      value = b.expand(b.cast(args.at(1).node(), self.tensor().dtype), self.tensor().shape);
    } else if (node.op->functional_name.empty()) {
      throw_user("in-place operator " + node.target + " of " + place(node) + " has no functional form");
    } else {
      value = b.call(node.op->functional_name, std::move(args), std::move(kwargs));
    }
    return in_own_memory(b, b.cast(value, self.tensor().dtype), self.tensor());
  }

  /// The operand of `view`, with `value` written where the view looks.
  Node* write_back(const Node& cause, const Node& view, Node* value) {
    Builder& b = rewriter_.at(cause, "write through view");
    const Node& parent = *values_.at(&view).via;
    if (view.op && view.op->op_class == OpClass::Mutation) return value;
    if (view.target == "_operator.getitem") return write_part(b, cause, view, *view.args.at(0).node(), value);
    if (parent.type.kind == Type::Kind::Tuple) throw_internal("tuple in a chain of views");
    Node* whole = whole_value(parent);
    const Call call(view);
    if (same_elements().contains(view.target)) return b.reshape(value, whole->tensor().shape);
    const size_t rank = whole->tensor().shape.size();
    if (Node* parts = write_complex(b, view.target, whole, value)) return parts;
    static const std::set<std::string_view> kSwaps = {"aten.transpose.int",     "aten.transpose_.default",
                                                      "aten.swapaxes.default",  "aten.swapdims.default",
                                                      "aten.swapaxes_.default", "aten.swapdims_.default"};
    if (kSwaps.contains(view.target)) return rank == 0 ? value : b.transpose(value, call.constant(1), call.constant(2));
    if (view.target == "aten.mT.default" || view.target == "aten.adjoint.default") return b.transpose(value, -2, -1);
    if (view.target == "aten.narrow.default") return write_slice(b, whole, value, call.dim(1, rank), call.integer(2));
    if (view.target == "aten.t.default" || view.target == "aten.t_.default")
      return rank < 2 ? value : b.transpose(value, 0, 1);
    if (view.target == "aten.permute.default") return b.permute(value, inverse(call.constants(1), rank, view));
    if (view.target == "aten.select.int") {
      const size_t dim = call.dim(1, rank);
      return write_slice(b, whole, b.unsqueeze(value, static_cast<int64_t>(dim)), dim, call.integer(2));
    }
    if (view.target == "aten.slice.Tensor" && call.integer(4) == SymInt(1)) {
      const size_t dim = call.dim(1, rank);
      return write_slice(b, whole, value, dim, call.optional_integer(2).value_or(SymInt(0)));
    }
    if (view.target == "aten.slice.Tensor")
      return b.call("aten.slice_scatter.default", {whole, value, call.arg(1), call.arg(2), call.arg(3), call.arg(4)});
    if (view.target.starts_with("aten.movedim.") || view.target.starts_with("aten.moveaxis."))
      return b.call(view.target, {value, call.arg(2), call.arg(1)});
    if (view.target == "aten.numpy_T.default") return b.call(view.target, {value});
    if (view.target == "aten.diagonal.default")
      return b.call("aten.diagonal_scatter.default", {whole, value, call.arg(1), call.arg(2), call.arg(3)});
    return write_places(b, cause, view, whole, value);
  }

  /// The same for any view: it is shown the elements' numbers, and so tells which of them it looks at.
  Node* write_places(Builder& b, const Node& cause, const Node& view, Node* whole, Node* value) {
    static const std::set<std::string_view> kShare = {"aten.as_strided.default", "aten.expand.default",
                                                      "aten.expand_as.default", "aten.broadcast_to.default"};
    const auto& shape = whole->tensor().shape;
    const bool is_part = view.target == "_operator.getitem";
    const bool is_list = is_part && made_anew(view);
    if (is_list || kShare.contains(view.target)) {
      if (view.target != "aten.as_strided.default" && value->tensor().shape == shape) return value;
      if (!is_list || !(value->tensor().numel() == whole->tensor().numel())) no_inverse(cause, view);
    }
    if (view.target == "aten.unfold.default" && Call(view).constant(3) < Call(view).constant(2))
      no_inverse(cause, view);
    const SymInt count = whole->tensor().numel();
    Node* numbers =
        b.call("aten.arange.default", {ops::integer(count)}, {{"device", DeviceArg{whole->tensor().device}}});
    numbers = b.reshape(numbers, shape);
    // A list's own operand, or one of those in a list, at the part's place.
    const Node *parent = values_.at(&view).via, *looks = is_part ? view.args.at(0).node() : &view;
    const Node* shown = is_part && parent && looks == parent ? values_.at(parent).via : parent;
    if (!shown || !looks) throw_internal("what views nothing was written back");
    Node* places = look(b, *looks, *shown, numbers);
    if (is_part) places = b.getitem(places, *view.args.at(1).as<int64_t>());
    const SymInt seen = value->tensor().numel();
    const Argument at = Argument::list({b.reshape(places, {seen})});
    Node* put = b.call("aten.index_put.default", {b.reshape(whole, {count}), at, b.reshape(value, {seen}), false});
    return b.reshape(put, shape);
  }

  /// A call like `view` of `numbers` in the place of `operand`.
  Node* look(Builder& b, const Node& view, const Node& operand, Node* numbers) {
    std::vector<Argument> args;
    std::vector<std::pair<std::string, Argument>> kwargs;
    const std::function<Argument(const Argument&)> shown = [&](const Argument& a) -> Argument {
      if (a.node() == &operand) return numbers;
      if (const auto* list = a.as<ListArg>()) {
        ListArg copy{list->kind, {}};
        for (const Argument& item : list->items) copy.items.push_back(shown(item));
        return copy;
      }
      return rewriter_.mapped(a);
    };
    for (const Argument& a : view.args) args.push_back(shown(a));
    for (const auto& [key, a] : view.kwargs) kwargs.emplace_back(key, shown(a));
    return b.call(view.target, std::move(args), std::move(kwargs));
  }

  /// Complex numbers whose pairs, or one of whose parts, were written; null for other views.
  static Node* write_complex(Builder& b, std::string_view view, Node* whole, Node* value) {
    const auto unary = [&](const char* target, Node* x) { return b.call(target, {x}); };
    if (view == "aten.view_as_real.default") return unary("aten.view_as_complex.default", value);
    if (view == "aten.view_as_complex.default") return unary("aten.view_as_real.default", value);
    if (!is_complex(whole->tensor().dtype)) {
      const bool itself = view == "aten.real.default" || view == "aten.conj.default" || view == "aten._conj.default";
      return itself ? value : nullptr;
    }
    if (view == "aten.real.default") return b.call("aten.complex.default", {value, unary("aten.imag.default", whole)});
    if (view == "aten.imag.default") return b.call("aten.complex.default", {unary("aten.real.default", whole), value});
    if (view == "aten.conj.default" || view == "aten._conj.default") return unary("aten._conj.default", value);
    if (view == "aten.adjoint.default") return unary(view.data(), value);
    return nullptr;
  }

  [[noreturn]] static void no_inverse(const Node& cause, const Node& view) {
    throw_user("in-place operator " + cause.target + " of " + place(cause) + " writes through " + view.target + " of " +
                   place(view) + ", which cannot be written back",
               "use the out-of-place form on this line");
  }

  /// Part `i` of split or unbind.
  Node* write_part(Builder& b, const Node& cause, const Node& view, const Node& tuple, Node* value) {
    if (&tuple != values_.at(&view).via)
      return write_places(b, cause, view, whole_value(*values_.at(&view).via), value);
    const Node& parent = *values_.at(&tuple).via;
    Node* whole = whole_value(parent);
    const auto index = static_cast<size_t>(*view.args.at(1).as<int64_t>());
    const Call call(tuple);
    const size_t rank = whole->tensor().shape.size();
    if (tuple.target == "aten.unbind.int") {
      const size_t dim = call.dim(1, rank);
      return write_slice(b, whole, b.unsqueeze(value, static_cast<int64_t>(dim)), dim, static_cast<int64_t>(index));
    }
    static const std::set<std::string_view> kSplits = {"aten.split.Tensor", "aten.split.sizes", "aten.split.default",
                                                       "aten.split_with_sizes.default", "aten.chunk.default"};
    const bool split = kSplits.contains(tuple.target) || tuple.target.starts_with("aten.unsafe_");
    if (!split) return write_places(b, cause, view, whole, value);
    const size_t dim = call.dim(2, rank);
    SymInt start = 0;
    for (size_t i = 0; i < index; ++i) start = start + tuple.type.parts.at(i).tensor.shape.at(dim);
    return write_slice(b, whole, value, dim, start);
  }

  Node* whole_value(const Node& parent) {
    refresh(parent);
    return rewriter_.mapped(&parent);
  }

  /// `whole` with [start, start + size of value) along `dim` replaced: before, value, after, concatenated.
  static Node* write_slice(Builder& b, Node* whole, Node* value, size_t dim, SymInt start) {
    const SymInt size = whole->tensor().shape[dim];
    start = ops::clamp_bound(start, size);  // a slice may begin before or behind what there is
    const SymInt end = start + value->tensor().shape[dim];
    const auto d = static_cast<int64_t>(dim);
    std::vector<Argument> pieces;
    const auto slice = [&](const SymInt& from, const SymInt& to) {
      pieces.push_back(b.call("aten.slice.Tensor", {whole, d, ops::integer(from), ops::integer(to)}));
    };
    if (!(start == SymInt(0))) slice(0, start);
    pieces.push_back(value);
    if (!(end == size)) slice(end, kEnd);
    if (pieces.size() == 1) return value;
    Node* made = b.call("aten.cat.default", {Argument::list(std::move(pieces)), d});
    // As large as it was, which the sum of the pieces' sizes may not show: sizes of the next write are made of it.
    made->type = Type::of(made->tensor().dtype, whole->tensor().shape, made->tensor().device);
    return made;
  }

  static std::vector<int64_t> inverse(const std::vector<int64_t>& dims, size_t rank, const Node& where) {
    std::vector<int64_t> result(rank);
    for (size_t i = 0; i < rank; ++i) result[normalize_dim(dims.at(i), rank, where)] = static_cast<int64_t>(i);
    return result;
  }

  void finish_outputs(const Node& node) {
    for (Node* operand : node.operands()) refresh(*operand);
    std::vector<Argument> leaves;
    const auto inputs = graph_.placeholders();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!written_.contains(inputs[i])) continue;
      leaves.push_back(rewriter_.mapped(inputs[i]));
      specs_.push_back(mutation_spec(i, *inputs[i]));
    }
    if (leaves.empty()) {
      specs_ = graph_.output_specs;
      rewriter_.copy(node);
      return;
    }
    for (const Argument& leaf : graph_.flat_outputs()) leaves.push_back(rewriter_.mapped(leaf));
    const size_t own = graph_.flat_outputs().size();
    for (size_t i = 0; i < own; ++i) specs_.push_back(graph_.output_spec(i));
    auto output = std::make_unique<Node>(node);
    output->args = {Argument(ListArg{ListArg::Kind::Tuple, std::move(leaves)})};
    rewriter_.to().add(std::move(output));
  }

  OutputSpec mutation_spec(size_t i, const Node& input) const {
    const InputSpec spec = i < graph_.input_specs.size() ? graph_.input_specs[i] : InputSpec{};
    if (spec.kind == InputSpec::Kind::User) return {OutputSpec::Kind::UserInputMutation, input.name};
    if (spec.kind == InputSpec::Kind::Parameter) return {OutputSpec::Kind::ParameterMutation, spec.target};
    return {OutputSpec::Kind::BufferMutation, spec.target};
  }

  const Graph& graph_;
  const DataSizes sizes_;
  const UserMap users_;
  GraphRewriter rewriter_;
  std::unordered_map<const Node*, Value> values_;
  std::unordered_map<const Node*, AliasSet> sets_;
  std::set<const Node*> written_;
  std::vector<OutputSpec> specs_;
};

}  // namespace

PassResult functionalize(const Graph& graph, const PassContext&) { return Functionalizer(graph).run(); }

}  // namespace strata
