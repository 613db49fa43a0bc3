// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/numbers_as_tensors.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/ir/control_flow.h"

namespace strata {
namespace {

bool is_number(const Node* node) {
  return node && (node->type.kind == Type::Kind::SymFloat || node->type.kind == Type::Kind::SymBool);
}

bool is_item(const Node& node) { return node.is("aten.item.default") || node.is("aten._local_scalar_dense.default"); }

/// Arithmetic on Python's numbers, as operators on tensors of float64.
const char* arithmetic(std::string_view target) {
  static const std::map<std::string_view, const char*> names = {{"_operator.add", "aten.add.Tensor"},
                                                                {"_operator.sub", "aten.sub.Tensor"},
                                                                {"_operator.mul", "aten.mul.Tensor"},
                                                                {"_operator.truediv", "aten.div.Tensor"},
                                                                {"_operator.floordiv", "aten.floor_divide.default"},
                                                                {"_operator.mod", "aten.remainder.Tensor"},
                                                                {"_operator.pow", "aten.pow.Tensor_Tensor"},
                                                                {"_operator.neg", "aten.neg.default"},
                                                                {"torch.sym_float", "aten.clone.default"},
                                                                {"torch.sym_sqrt", "aten.sqrt.default"},
                                                                {"torch._sym_sqrt", "aten.sqrt.default"},
                                                                {"torch.sym_min", "aten.minimum.default"},
                                                                {"torch.sym_max", "aten.maximum.default"},
                                                                {"_operator.eq", "aten.eq.Tensor"},
                                                                {"_operator.ne", "aten.ne.Tensor"},
                                                                {"_operator.lt", "aten.lt.Tensor"},
                                                                {"_operator.le", "aten.le.Tensor"},
                                                                {"_operator.gt", "aten.gt.Tensor"},
                                                                {"_operator.ge", "aten.ge.Tensor"}};
  const auto it = names.find(target);
  return it == names.end() ? nullptr : it->second;
}

const char* logic(std::string_view target) {
  if (target == "_operator.and_") return "aten.logical_and.default";
  if (target == "_operator.or_") return "aten.logical_or.default";
  if (target == "_operator.not_" || target == "torch.sym_not") return "aten.logical_not.default";
  return nullptr;
}

/// How an operator takes a number.
enum class Use : uint8_t {
  Operand,   ///< as what it is computed with
  Rounded,   ///< likewise, rounded to the result's type first
  Compared,  ///< beside another operand, in whose type they are compared
  Stored     ///< as an element of the result
};
struct Form {
  const char* tensors;  ///< the same operator of tensors; null: no operator, the result is the number
  Use use;
};

/// By the functional operator's name.
const Form* form_of(const std::string& target) {
  static const std::map<std::string_view, Form> forms = {
      {"aten.add.Tensor", {"aten.add.Tensor", Use::Rounded}},
      {"aten.add.Scalar", {"aten.add.Tensor", Use::Rounded}},
      {"aten.sub.Tensor", {"aten.sub.Tensor", Use::Rounded}},
      {"aten.sub.Scalar", {"aten.sub.Tensor", Use::Rounded}},
      {"aten.rsub.Scalar", {"aten.rsub.Tensor", Use::Rounded}},
      {"aten.mul.Tensor", {"aten.mul.Tensor", Use::Operand}},
      {"aten.mul.Scalar", {"aten.mul.Tensor", Use::Operand}},
      {"aten.div.Tensor", {"aten.div.Tensor", Use::Operand}},
      {"aten.div.Scalar", {"aten.div.Tensor", Use::Operand}},
      {"aten.div.Tensor_mode", {"aten.div.Tensor_mode", Use::Operand}},
      {"aten.div.Scalar_mode", {"aten.div.Tensor_mode", Use::Operand}},
      {"aten.floor_divide.default", {"aten.floor_divide.default", Use::Operand}},
      {"aten.floor_divide.Scalar", {"aten.floor_divide.default", Use::Operand}},
      {"aten.remainder.Tensor", {"aten.remainder.Tensor", Use::Rounded}},
      {"aten.remainder.Scalar", {"aten.remainder.Tensor", Use::Rounded}},
      {"aten.remainder.Scalar_Tensor", {"aten.remainder.Tensor", Use::Rounded}},
      {"aten.fmod.Tensor", {"aten.fmod.Tensor", Use::Rounded}},
      {"aten.fmod.Scalar", {"aten.fmod.Tensor", Use::Rounded}},
      {"aten.pow.Tensor_Scalar", {"aten.pow.Tensor_Tensor", Use::Operand}},
      {"aten.pow.Scalar", {"aten.pow.Tensor_Tensor", Use::Rounded}},
      {"aten.lerp.Scalar", {"aten.lerp.Tensor", Use::Operand}},
      {"aten.clamp.default", {"aten.clamp.Tensor", Use::Stored}},
      {"aten.clamp_min.default", {"aten.clamp_min.Tensor", Use::Stored}},
      {"aten.clamp_max.default", {"aten.clamp_max.Tensor", Use::Stored}},
      {"aten.masked_fill.Scalar", {"aten.masked_fill.Tensor", Use::Stored}},
      {"aten.where.ScalarOther", {"aten.where.self", Use::Stored}},
      {"aten.where.ScalarSelf", {"aten.where.self", Use::Stored}},
      {"aten.where.Scalar", {"aten.where.self", Use::Stored}},
      {"aten.fill.Scalar", {"aten.fill.Tensor", Use::Stored}},
      {"aten.eq.Scalar", {"aten.eq.Tensor", Use::Compared}},
      {"aten.ne.Scalar", {"aten.ne.Tensor", Use::Compared}},
      {"aten.lt.Scalar", {"aten.lt.Tensor", Use::Compared}},
      {"aten.le.Scalar", {"aten.le.Tensor", Use::Compared}},
      {"aten.gt.Scalar", {"aten.gt.Tensor", Use::Compared}},
      {"aten.ge.Scalar", {"aten.ge.Tensor", Use::Compared}},
      {"aten.full.default", {nullptr, Use::Stored}},
      {"aten.full_like.default", {nullptr, Use::Stored}},
      {"aten.new_full.default", {nullptr, Use::Stored}},
      {"aten.scalar_tensor.default", {nullptr, Use::Stored}}};
  const auto it = forms.find(target);
  return it == forms.end() ? nullptr : &it->second;
}

/// The operator that writes what `functional` gives into its first operand; null if there is none.
const OpDef* in_place_twin(std::string_view functional) {
  const auto ops = all_ops();
  const auto it = std::find_if(ops.begin(), ops.end(), [&](const OpDef* op) {
    return op->op_class == OpClass::Mutation && op->functional_name == functional;
  });
  return it == ops.end() ? nullptr : *it;
}

class Numbers {
 public:
  explicit Numbers(const Graph& graph) : rewriter_(graph, "numbers_as_tensors") {}

  PassResult run() {
    for (const auto& node : rewriter_.from().nodes()) visit(*node);
    Graph result = rewriter_.finish();
    return {std::move(result), rewriter_.take_rewrites()};
  }

 private:
  void visit(const Node& node) {
    if (node.kind == NodeKind::Output) return finish(node);
    if (node.is("aten._assert_scalar.default"))
      if (Node* condition = tensor_of(node.args.at(0).node())) return check(node, condition);
    if (is_control_flow(node)) return choose(node);
    if (node.kind == NodeKind::Call && node.op && take_numbers(node)) return;
    rewriter_.copy(node);
    if (is_number(&node)) define(node);
  }

  // ----------------------------------------------------------------------------------------------------- definitions

  /// The tensor of a number, or null where there is none (a comparison of sizes, what is not known here).
  Node* tensor_of(const Node* number) const {
    const auto it = tensors_.find(number);
    return it == tensors_.end() ? nullptr : it->second;
  }

  void define(const Node& node) {
    if (is_item(node)) return define_item(node);
    // What is made of sizes alone may be a size again; it is made a tensor where one is needed.
    const auto operands = node.operands();
    if (std::any_of(operands.begin(), operands.end(), [&](const Node* n) { return tensors_.contains(n); }))
      if (Node* made = computed(node)) tensors_[&node] = made;
  }

  /// An element as it is now: a copy, for its tensor may be written later.
  void define_item(const Node& node) {
    Node* x = rewriter_.mapped(node.args.at(0).node());
    Builder& b = rewriter_.at(node, "item");
    x = b.call("aten.clone.default", {b.reshape(x, {})});
    tensors_[&node] = b.cast(x, node.type.kind == Type::Kind::SymBool ? DType::Bool : DType::F64);
  }

  /// A call on Python's numbers, of tensors; null where that is not known.
  Node* computed(const Node& node) {
    const char* joined = logic(node.target);
    const char* target = joined ? joined : arithmetic(node.target);
    if (!target) return nullptr;
    Builder& b = rewriter_.at(node, "arithmetic");
    std::vector<Argument> args;
    for (const Argument& a : node.args) {
      Node* operand = operand_of(b, a, joined ? DType::Bool : DType::F64);
      if (!operand) return nullptr;
      args.emplace_back(operand);
    }
    return b.call(target, std::move(args));
  }

  /// A number, size or constant as a tensor of `dtype`; null where it is none of these.
  Node* operand_of(Builder& b, const Argument& a, DType dtype) {
    if (Node* node = a.node()) {
      if (Node* made = tensor_of(node)) return b.cast(made, dtype);
      if (node->type.kind == Type::Kind::SymInt) return filled(b, Argument(node->type.sym), dtype);
      if (!is_number(node)) return nullptr;
      Node* made = computed(*node);  // of sizes
      return made ? b.cast(made, dtype) : nullptr;
    }
    return a.is_none() || a.as<std::string>() ? nullptr : filled(b, a, dtype);
  }

  static Node* filled(Builder& b, Argument value, DType dtype) {
    if (const auto* size = value.as<SymInt>(); size && size->is_const()) value = size->value();
    return b.call("aten.full.default", {Argument::list({}), value}, {{"dtype", dtype}, {"device", DeviceArg{"cpu"}}});
  }

  // ------------------------------------------------------------------------------------------------------------ uses

  /// Whether the call took numbers and has been replaced.
  bool take_numbers(const Node& node) {
    const bool writes = node.op->op_class == OpClass::Mutation;
    const Form* form = form_of(writes ? node.op->functional_name : node.target);
    if (!form || !node.type.is_tensor()) return false;
    const Call call(node);
    bool any = false;
    for (size_t i = 0; i < call.size(); ++i) any = any || is_number(call.arg(i).node());
    if (!any) return false;
    const OpDef* op = !form->tensors ? nullptr : writes ? in_place_twin(form->tensors) : find_op(form->tensors);
    if (!op && (form->tensors || writes)) return false;
    Builder& b = rewriter_.at(node, "number");
    Node* made = op ? of_tensors(b, call, *op, form->use, writes) : repeated(b, call);
    if (!made) return false;
    rewriter_.replace(node, made, "number", "known when it runs");
    return true;
  }

  /// Control flow: the condition as a tensor. Others may read the number.
  void choose(const Node& node) {
    const Argument condition = control_flow_of(node).condition;
    Builder& b = rewriter_.at(node, "condition");
    Node* made = is_number(condition.node()) ? operand_of(b, condition, DType::Bool) : nullptr;
    if (!made) return static_cast<void>(rewriter_.copy(node));
    std::vector<Argument> args{made};
    for (size_t i = 1; i < node.args.size(); ++i) args.push_back(rewriter_.mapped(node.args[i]));
    Node* call = b.call(node.target, std::move(args));
    call->type = node.type;
    rewriter_.replace(node, call, "condition", "known when it runs");
  }

  /// The type that a number has beside the call's tensors.
  static DType number_type(const Call& call, Use use) {
    const DType result = call.node().tensor().dtype;
    DType type = result;
    if (use == Use::Compared) type = call.type(0).dtype;
    if (is_complex(type)) return type == DType::C128 ? DType::F64 : DType::F32;
    if (!is_floating(type)) return use == Use::Stored ? type : DType::F32;
    return use == Use::Operand && type != DType::F64 ? DType::F32 : type;
  }

  Node* of_tensors(Builder& b, const Call& call, const OpDef& op, Use use, bool writes) {
    const DType type = number_type(call, use), result = call.node().tensor().dtype;
    const auto& params = call.op().schema.params;
    std::vector<Argument> args;
    std::vector<std::pair<std::string, Argument>> kwargs;
    for (size_t i = 0; i < call.size(); ++i) {
      const Argument& a = call.arg(i);
      const bool keyword = params[i].name == "alpha" || params[i].name == "rounding_mode";
      if (keyword && is_number(a.node())) return nullptr;
      Argument taken = rewriter_.mapped(a);
      // Beside a number that became a tensor others have to be tensors, too.
      if (!keyword && !a.is_none() && !(a.node() && a.node()->type.is_tensor())) {
        Node* made = operand_of(b, a, type);
        if (!made) return nullptr;
        taken = made;
      } else if (!writes && a.node() && a.node()->type.is_tensor() && a.node()->tensor().shape.empty() &&
                 a.node()->tensor().dtype != DType::Bool && !is_complex(a.node()->tensor().dtype)) {
        taken = b.cast(taken.node(), type);  // without dimensions both count for the result's type
      }
      if (keyword)
        kwargs.emplace_back(params[i].name, std::move(taken));
      else
        args.push_back(std::move(taken));
    }
    Node* made = b.call(op.name, std::move(args), std::move(kwargs));
    return writes ? made : b.cast(made, result);
  }

  /// A tensor all elements of which are the number.
  Node* repeated(Builder& b, const Call& call) {
    const TensorType& type = call.node().tensor();
    for (size_t i = 0; i < call.size(); ++i)
      if (is_number(call.arg(i).node())) {
        Node* number = operand_of(b, call.arg(i), type.dtype);
        return number ? b.call("aten.clone.default", {b.expand(number, type.shape)}) : nullptr;
      }
    return nullptr;
  }

  void check(const Node& node, Node* condition) {
    rewriter_.at(node, "assertion").call("aten._assert_async.msg", {condition, node.args.at(1)});
    rewriter_.erase(node, "assertion", "of data: tested in every run");
  }

  /// Numbers that are returned: nothing comes after that.
  void finish(const Node& output) {
    std::set<const Node*> returned;
    for (const Argument& leaf : rewriter_.from().flat_outputs()) {
      if (!is_number(leaf.node()) || !returned.insert(leaf.node()).second) continue;
      Builder& b = rewriter_.at(*leaf.node(), "returned");
      const bool truth = leaf.node()->type.kind == Type::Kind::SymBool;
      Node* made = operand_of(b, leaf, truth ? DType::Bool : DType::F64);
      if (made) rewriter_.replace(*leaf.node(), made, "returned", "known when it runs");
    }
    rewriter_.copy(output);
  }

  GraphRewriter rewriter_;
  std::map<const Node*, Node*> tensors_;
};

}  // namespace

bool numbers_as_tensors_may_change(const Graph& graph, const PassContext&) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return is_number(node.get()); });
}

PassResult numbers_as_tensors(const Graph& graph, const PassContext&) { return Numbers(graph).run(); }

}  // namespace strata
