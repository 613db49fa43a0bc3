// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/lower_to_library.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/support/error.h"

namespace strata {
namespace {

std::string_view rule_name(const Node& node) { return std::get<LibraryRule>(node.op->lowering).name; }

/// Tensor parameters in the call's order: (a, b, bias?), (input, weight, bias?), (q, k, v, mask?).
std::vector<size_t> operand_params(const Node& node) {
  if (node.is("aten.mm.default") || node.is("aten.bmm.default")) return {0, 1};
  if (node.is("aten.addmm.default") || node.is("aten.baddbmm.default")) return {1, 2, 0};
  if (node.is("aten.convolution.default")) return {0, 1, 2};
  if (rule_name(node) == "attention") return {0, 1, 2, 3};
  return {};
}

class LibraryLowering {
 public:
  LibraryLowering(const Layouts& layouts, const std::unordered_set<const Node*>& constants)
      : layouts_(layouts), constants_(constants) {}

  std::optional<LoweredLibrary> run(const std::vector<const Node*>& nodes, const LibraryCapabilities& capabilities,
                                    std::string& why_not) {
    const Node& root = *nodes.at(0);
    touch(root);
    if (!describe(root, why_not)) return {};
    for (size_t param : operand_params(root)) {
      const Node* n = Call(root).optional_tensor(param);
      if (!n) continue;
      auto operand = view_operand(*n);
      if (!operand) return refuse(why_not, "'" + n->name + "' has no strides over a buffer");
      out_.call.operands.push_back(std::move(*operand));
    }
    out_.call.flops = flops(root);
    if (!add_post_ops(nodes, capabilities, why_not)) return {};
    add_result(*nodes.back());
    out_.call.nodes = out_.nodes;
    return std::move(out_);
  }

 private:
  static std::nullopt_t refuse(std::string& why_not, std::string reason) {
    why_not = std::move(reason);
    return std::nullopt;
  }

  void touch(const Node& node) {
    if (std::find(out_.nodes.begin(), out_.nodes.end(), node.id) == out_.nodes.end()) out_.nodes.push_back(node.id);
  }

  bool describe(const Node& node, std::string& why_not) {
    const Call call(node);
    LibraryCall& out = out_.call;
    out.kind = rule_name(node);
    if (node.is("aten.addmm.default") || node.is("aten.baddbmm.default")) {
      out.beta = call.number(3);
      out.alpha = call.number(4);
      out.has_bias = true;
    } else if (out.kind == "convolution") {
      out.has_bias = !call.is_none(2);
      out.stride = call.constants(3);
      out.padding = call.constants(4);
      out.dilation = call.constants(5);
      if (call.boolean(6)) out.kind = "convolution_transpose";
      out.output_padding = call.constants(7);
      out.groups = call.constant(8);
    } else if (node.is("strata.attention.default")) {
      out.has_mask = !call.is_none(3);
      out.alpha = call.number(4);
      out.mask_fill = call.number(5);
      out.mask_replaces = true;
      out.empty_rows_nan = !call.boolean(6);
    } else if (out.kind == "attention") {
      return describe_attention(call, why_not);
    }
    return true;
  }

  bool describe_attention(const Call& call, std::string& why_not) {
    if (call.number(4) != 0) {
      why_not = "attention with dropout";
      return false;
    }
    const SymInt head = call.type(0).shape.back();  // a number, or there is a scale: others are spelled out
    out_.call.has_mask = !call.is_none(3);
    out_.call.causal = call.boolean(5);
    out_.call.alpha = call.is_none(6) ? 1.0 / std::sqrt(static_cast<double>(head.value())) : call.number(6);
    return true;
  }

  int buffer_of(const Node* base) {
    const auto it = std::find(out_.buffers.begin(), out_.buffers.end(), base);
    if (it != out_.buffers.end()) return static_cast<int>(it - out_.buffers.begin());
    out_.buffers.push_back(base);
    return static_cast<int>(out_.buffers.size() - 1);
  }

  std::optional<LibraryOperand> view_operand(const Node& node) {
    const auto view = strided_view(&node, layouts_);
    if (!view) return {};
    for (const Node* step : view->through) touch(*step);
    LibraryOperand operand;
    operand.buffer = buffer_of(view->base);
    operand.dtype = node.tensor().dtype;
    operand.shape = view->shape;
    operand.strides = view->strides;
    operand.offset = view->offset;
    operand.constant = constants_.contains(view->base);
    operand.node = view->base->id;
    return operand;
  }

  bool add_post_ops(const std::vector<const Node*>& nodes, const LibraryCapabilities& capabilities,
                    std::string& why_not) {
    const auto& shape = nodes[0]->tensor().shape;
    out_.call.result.dtype = nodes[0]->tensor().dtype;
    out_.call.result.shape = shape;
    const auto chosen = layouts_.chosen_strides.find(nodes.back());
    const bool has_chosen = chosen != layouts_.chosen_strides.end();
    // Those who read the result go by the strides that were chosen: to lay it out otherwise would be wrong numbers.
    if (has_chosen && nodes.back()->tensor().shape != shape) {
      why_not = "strides were chosen for '" + nodes.back()->name + "', whose shape is not that of the call's result";
      return false;
    }
    out_.call.result.strides = has_chosen ? chosen->second : library_result_strides(*nodes[0]);
    for (size_t i = 1; i < nodes.size(); ++i) {
      auto match = match_post_op(*nodes[i], nodes[i - 1], why_not);
      if (!match) return false;
      std::optional<LibraryOperand> operand;
      if (match->other) {
        operand = post_operand(*match->other, *nodes[i], shape);
        if (!operand) {
          why_not = "'" + match->other->name + "' has no strides in the shape of the call's result";
          return false;
        }
      }
      if (!capabilities.accepts(out_.call, match->op, operand ? &*operand : nullptr, &why_not)) return false;
      touch_path(*nodes[i], nodes[i - 1]);
      if (operand) {
        match->op.operand = static_cast<int>(out_.call.operands.size());
        out_.call.operands.push_back(std::move(*operand));
      }
      out_.call.post_ops.push_back(match->op);
    }
    return true;
  }

  /// The operand of a post-operation in the shape of the call's own result (views between call and post-operation keep
  /// the elements' order).
  std::optional<LibraryOperand> post_operand(const Node& other, const Node& at,
                                             const std::vector<SymInt>& result_shape) {
    auto operand = view_operand(other);
    if (!operand) return {};
    const auto& shape = at.tensor().shape;
    std::vector<SymInt> strides(shape.size(), SymInt(0));
    const size_t lead = shape.size() - operand->shape.size();
    for (size_t d = 0; d < operand->shape.size(); ++d)
      // Not "as large as the result's": a size of symbols and a number may be the same without being written alike.
      if (!(operand->shape[d] == SymInt(1))) strides[d + lead] = operand->strides[d];
    auto in_result = shape == result_shape ? std::optional(strides) : reshape_strides(shape, strides, result_shape);
    if (!in_result) return {};
    operand->shape = result_shape;
    for (size_t d = 0; d < result_shape.size(); ++d)
      if ((*in_result)[d] == SymInt(0)) operand->shape[d] = 1;
    operand->strides = std::move(*in_result);
    return operand;
  }

  /// The post-operation and the views that lead to it.
  void touch_path(const Node& node, const Node* chain) {
    for (Node* operand : node.operands()) {
      std::vector<const Node*> views;
      const Node* n = operand;
      while (n != chain && layouts_.is_virtual(*n)) {
        views.push_back(n);
        n = n->args.at(0).node();
      }
      if (n != chain) continue;
      for (const Node* v : views) touch(*v);
    }
    touch(node);
  }

  void add_result(const Node& last) {
    LibraryOperand& result = out_.call.result;
    result.buffer = static_cast<int>(out_.buffers.size());
    result.offset = 0;
    result.node = last.id;
    result.dtype = last.tensor().dtype;
    out_.buffers.push_back(&last);
  }

  static SymInt flops(const Node& root) {
    const Call call(root);
    const SymInt points = root.tensor().numel();
    const std::string_view kind = rule_name(root);
    if (kind == "matmul") {
      const size_t a = root.is("aten.mm.default") || root.is("aten.bmm.default") ? 0 : 1;
      return points * call.type(a).shape.back() * SymInt(2);
    }
    if (kind == "convolution") {
      SymInt window = 2;
      const auto& weight = call.type(1).shape;
      for (size_t d = 1; d < weight.size(); ++d) window = window * weight[d];
      return points * window;
    }
    const auto& key = call.type(1).shape;
    return points * key[key.size() - 2] * SymInt(4);
  }

  const Layouts& layouts_;
  const std::unordered_set<const Node*>& constants_;
  LoweredLibrary out_;
};

/// Post-operations without operands, by operator.
std::optional<PostOp> simple_post_op(const Node& node) {
  static const std::map<std::string_view, PostOp::Kind> kinds = {
      {"aten.relu.default", PostOp::Kind::Relu},           {"aten.tanh.default", PostOp::Kind::Tanh},
      {"aten.sigmoid.default", PostOp::Kind::Sigmoid},     {"aten.silu.default", PostOp::Kind::Silu},
      {"aten.hardswish.default", PostOp::Kind::HardSwish}, {"aten.hardsigmoid.default", PostOp::Kind::HardSigmoid}};
  PostOp op;
  if (const auto it = kinds.find(node.target); it != kinds.end()) {
    op.kind = it->second;
    return op;
  }
  const Call call(node);
  if (node.is("aten.gelu.default")) {
    op.kind = call.string(1) == "tanh" ? PostOp::Kind::GeluTanh : PostOp::Kind::GeluErf;
    return op;
  }
  if (node.is("aten.hardtanh.default") || (node.is("aten.clamp.default") && !call.is_none(1) && !call.is_none(2))) {
    op.kind = PostOp::Kind::Clamp;
    op.alpha = call.number(1);
    op.beta = call.number(2);
    if (!(op.alpha <= op.beta)) return {};  // all the upper limit, or NaN: the library has no such operation
    return op;
  }
  return {};
}

}  // namespace

bool is_library(const Node& node) {
  return node.kind == NodeKind::Call && node.op && node.type.is_tensor() &&
         std::holds_alternative<LibraryRule>(node.op->lowering) && !operand_params(node).empty();
}

std::vector<SymInt> library_result_strides(const Node& node) {
  const auto& s = node.tensor().shape;
  if (node.op && is_library(node) && rule_name(node) == "attention" && s.size() == 4)
    return {s[1] * s[2] * s[3], s[3], s[1] * s[3], SymInt(1)};  // [batch, length, heads, size] in memory
  return contiguous_strides(s);
}

std::vector<const Node*> operands_to_materialize(const Node& node, const Layouts& layouts) {
  std::vector<const Node*> result;
  const Call call(node);
  for (size_t param : operand_params(node)) {
    const Node* n = call.optional_tensor(param);
    if (n && !strided_view(n, layouts)) result.push_back(n);
  }
  return result;
}

std::optional<PostOpMatch> match_post_op(const Node& node, const Node* chain, std::string& why_not) {
  if (node.tensor().dtype != chain->tensor().dtype) {
    why_not = "the result changes type from " + std::string(dtype_name(chain->tensor().dtype)) + " to " +
              std::string(dtype_name(node.tensor().dtype));
    return {};
  }
  PostOpMatch match;
  if (auto simple = simple_post_op(node)) {
    match.op = *simple;
    match.op.node = node.id;
    return match;
  }
  const bool add = node.is("aten.add.Tensor"), sub = node.is("aten.sub.Tensor"), mul = node.is("aten.mul.Tensor");
  if ((!add && !sub && !mul) || !node.kwargs.empty() || node.args.size() != 2) {
    why_not = node.target + " is no post-operation of the library";
    return {};
  }
  const auto leads_to_chain = [&](const Argument& a) {
    const Node* n = a.node();
    while (n && n != chain && is_view(*n)) n = n->args.at(0).node();
    return n == chain;
  };
  const bool left = leads_to_chain(node.args[0]), right = leads_to_chain(node.args[1]);
  if (left == right || (sub && right)) {
    why_not = left ? "both operands of '" + node.name + "' are the call's result" : "the call's result is subtracted";
    return {};
  }
  const Argument& other = node.args[left ? 1 : 0];
  match.op.node = node.id;
  if (const Node* n = other.node(); n && n->type.is_tensor()) {
    match.op.kind = add ? PostOp::Kind::Add : sub ? PostOp::Kind::Sub : PostOp::Kind::Mul;
    match.other = n;
    if (n->tensor().dtype != node.tensor().dtype) {
      why_not = "'" + n->name + "' has another type";
      return {};
    }
    return match;
  }
  const Call call(node);
  const size_t i = left ? 1 : 0;
  if (call.is_integer_scalar(i) && !call.integer(i).is_const()) {
    why_not = "the number that '" + node.name + "' takes is a size";
    return {};
  }
  match.op.kind = PostOp::Kind::Linear;
  match.op.alpha = mul ? call.number(i) : 1;
  match.op.beta = mul ? PostOp::kNothingAdded : sub ? -call.number(i) : call.number(i);
  return match;
}

std::optional<LoweredLibrary> lower_to_library(const std::vector<const Node*>& nodes, const Layouts& layouts,
                                               const std::unordered_set<const Node*>& constants,
                                               const LibraryCapabilities& capabilities, std::string& why_not) {
  return LibraryLowering(layouts, constants).run(nodes, capabilities, why_not);
}

}  // namespace strata
