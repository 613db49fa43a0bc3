// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/interpreter.h"

#include <algorithm>
#include <cstring>

#include "core/ir/aliasing.h"
#include "core/ir/builder.h"
#include "core/ir/complex_parts.h"
#include "core/ir/control_flow.h"
#include "core/ir/ops/randoms.h"
#include "core/runtime/generator.h"
#include "core/support/error.h"

namespace strata {
namespace {

constexpr int kMaxDepth = 32;  // decompositions of decompositions

std::string place(const Node& node) {
  std::string text = "'" + node.name + "' (" + node.target + ")";
  if (node.meta.source && !node.meta.source->empty()) {
    const SourceLocation& at = node.meta.source->back();
    text += " at " + at.file + ":" + std::to_string(at.line);
    if (!at.code.empty()) text += ": " + at.code;
  }
  return text;
}

bool is_mutation(const Node& node) { return node.op && node.op->op_class == OpClass::Mutation; }

// ----------------------------------------------------------------------------------------------------------------
// writing

/// `x.op_()`: the value replaces the elements that `target` views, in the target's type.
void assign(const Node& node, const Tensor& value, const Tensor& target) {
  if (value.storage == target.storage && value.offset == target.offset && value.strides == target.strides &&
      value.shape == target.shape)
    return;
  if (value.shape != target.shape)
    throw_user("in-place operator " + place(node) + ": the result " + value.str() + " does not fit into " +
               target.str());
  Tensor source = value.dtype == target.dtype ? value.contiguous() : value.to(target.dtype);
  if (source.storage == target.storage) source = source.clone();
  copy_elements(source, target);
}

// ---------------------------------------------------------------------------------------------------------------
// execution

/// Binds symbols that stand alone as a size, or are an integer, to what the value of this type has there.
void bind_sizes(const Graph& graph, const Type& type, const RefValue& value, SymBindings& symbols) {
  const auto bind = [&](const SymInt& size, int64_t n) {
    const auto id = size.is_const() ? std::nullopt : graph.env().symbol_id(size);
    if (!id) return;
    if (symbols.size() <= *id) symbols.resize(*id + 1);
    if (!symbols[*id]) symbols[*id] = n;
  };
  if (const auto* parts = std::get_if<std::vector<RefValue>>(&value.value)) {
    for (size_t i = 0; i < std::min(parts->size(), type.parts.size()); ++i)
      bind_sizes(graph, type.parts[i], (*parts)[i], symbols);
    return;
  }
  if (const auto* n = std::get_if<int64_t>(&value.value); n && type.kind == Type::Kind::SymInt)
    return bind(type.sym, *n);
  const auto* t = std::get_if<Tensor>(&value.value);
  if (!t || !t->defined() || !type.is_tensor() || t->rank() != type.tensor.shape.size()) return;
  for (size_t d = 0; d < t->rank(); ++d) bind(type.tensor.shape[d], t->shape[d]);
}

/// Values of one graph while it runs.
class Frame {
 public:
  Frame(const InterpreterOptions& options, std::shared_ptr<ShapeEnv> env, SymBindings& symbols, int depth)
      : options_(options), env_(std::move(env)), symbols_(symbols), depth_(depth) {}

  void set(const Node* node, RefValue value) { values_[node] = std::move(value); }
  void forget(const Node* node) { values_.erase(node); }
  void observe(const Node& node) const {
    if (options_.observer && node.kind != NodeKind::Output) options_.observer(node, get(&node));
  }
  const RefValue& get(const Node* node) const {
    const auto it = values_.find(node);
    if (it == values_.end()) throw_internal("interpreter: '" + node->name + "' is used before it is computed");
    return it->second;
  }
  /// The value of an argument that stands among the outputs.
  RefValue output(const Argument& a) const;
  void execute(const Graph& graph, const Node& node);

 private:
  RefValue attribute(const Graph& graph, const Node& node) const;
  RefValue call(const Graph& graph, const Node& node);
  RefValue control_flow(const Graph& graph, const Node& node);
  std::vector<RefValue> run(const Graph& body, const std::vector<RefValue>& inputs, SymBindings symbols) const;
  RefValue mutation(const Node& node);
  RefValue functional_twin(const Node& node);
  RefValue decomposed(const Node& node);
  RefValue reference(const Node& node);
  RefValue by_parts(const Node& node);
  void bind(const Graph& graph, const Node& node);

  const InterpreterOptions& options_;
  std::shared_ptr<ShapeEnv> env_;
  SymBindings& symbols_;
  int depth_;
  std::unordered_map<const Node*, RefValue> values_;
};

/// A complex tensor of its parts.
Tensor joined(const Tensor& real, const Tensor& imag) {
  const Tensor whole = Tensor::empty(complex_dtype(real.dtype), real.shape);
  copy_elements(real.contiguous(), part_of(whole, 0));
  copy_elements(imag.contiguous(), part_of(whole, 1));
  return whole;
}

/// Floats in the type they are carried in.
Tensor carried(const Tensor& t, bool float64) {
  if (!float64) return t;
  if (is_complex(t.dtype))
    return t.dtype == DType::C128 ? t : joined(part_of(t, 0).to(DType::F64), part_of(t, 1).to(DType::F64));
  return is_floating(t.dtype) ? t.to(DType::F64) : t;
}

/// Views of complex tensors share memory as others do; all else is computed with the parts.
bool is_split(const Node& node) {
  const bool views = node.op->reference && (node.op->op_class == OpClass::View || node.op->schema.returns_alias);
  return !views && node.op->op_class != OpClass::Mutation && touches_complex(node);
}

RefValue Frame::output(const Argument& a) const {
  if (const Node* node = a.node()) return get(node);
  if (const auto* i = a.as<int64_t>()) return *i;
  if (const auto* d = a.as<double>()) return *d;
  if (const auto* b = a.as<bool>()) return *b;
  if (const auto* s = a.as<SymInt>())
    if (const auto v = evaluate(*s, symbols_)) return *v;
  return {};
}

RefValue Frame::attribute(const Graph& graph, const Node& node) const {
  const auto it = graph.attributes.find(node.target);
  if (it == graph.attributes.end())
    throw_user("attribute " + place(node) + " has no value", "its tensor is missing from the program");
  // A clone: an in-place operator must not write the graph's constant.
  const Tensor value = carried(it->second, options_.float64);
  return value.storage == it->second.storage ? value.clone() : value;
}

/// A data-dependent size gets its value when the node that makes it has run.
void Frame::bind(const Graph& graph, const Node& node) {
  if (node.type.kind != Type::Kind::SymInt || node.type.sym.is_const()) return;
  const auto id = graph.env().symbol_id(node.type.sym);
  const auto* value = std::get_if<int64_t>(&values_[&node].value);
  if (!id || !value) return;
  if (symbols_.size() <= *id) symbols_.resize(*id + 1);
  if (!symbols_[*id]) symbols_[*id] = *value;
  if (*symbols_[*id] != *value)
    throw_user("size " + std::to_string(*value) + ", expected " + node.type.sym.str() + " = " +
               std::to_string(*symbols_[*id]));
  require_assumptions(graph.env(), symbols_);
}

void Frame::execute(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case NodeKind::Placeholder:
    case NodeKind::Output:
      return;
    case NodeKind::GetAttr:
      return set(&node, attribute(graph, node));
    case NodeKind::Call:
      break;
    default:
      throw_user("the interpreter runs ATen operators only, found " + std::string(to_string(node.kind)) + " " +
                 place(node));
  }
  try {
    set(&node, call(graph, node));
  } catch (const Error& e) {
    if (e.message().find(place(node)) != std::string::npos) throw;
    throw Error(e.kind(), e.message() + ", in " + place(node), e.hint());
  }
  bind(graph, node);
}

RefValue Frame::call(const Graph& graph, const Node& node) {
  if (node.target == "_operator.getitem" && node.args.size() == 2 && node.args[0].node() &&
      node.args[1].as<int64_t>()) {
    if (const auto* parts = std::get_if<std::vector<RefValue>>(&get(node.args[0].node()).value)) {
      const int64_t at = *node.args[1].as<int64_t>(), n = static_cast<int64_t>(parts->size());
      if (at >= n || at < -n)
        throw_user("result " + std::to_string(at) + " of " + std::to_string(n) + " does not exist");
      return (*parts)[static_cast<size_t>(at < 0 ? at + n : at)];
    }
  }
  if (!node.op) throw_user("operator " + place(node) + " is not in the operator table: it cannot be interpreted");
  if (is_control_flow(node)) return control_flow(graph, node);
  if (is_split(node))
    return complex_support(*node.op) == ComplexSupport::Decomposes ? decomposed(node) : by_parts(node);
  if (node.op->decompose && (node.op->has(trait::DataDependent) || ops::draws_within(node))) return decomposed(node);
  if (node.op->reference) return reference(node);
  if (node.op->op_class == OpClass::Mutation) return mutation(node);
  if (node.op->op_class == OpClass::Assertion) return {};
  if (node.op->decompose) return decomposed(node);
  throw_user("operator " + place(node) + " has no reference rule: it cannot be interpreted");
}

RefValue owned(const RefValue& value) {
  const auto* t = std::get_if<Tensor>(&value.value);
  return t && t->defined() ? RefValue(t->clone()) : value;
}

/// Bodies have sizes of their own: those of one run are not those of the next.
RefValue Frame::control_flow(const Graph& graph, const Node& node) {
  if (depth_ >= kMaxDepth) throw_user("bodies of control flow stand in more than 32 others: " + place(node));
  require_fitting_bodies(graph, node);
  const ControlFlow flow = control_flow_of(node);
  std::vector<RefValue> operands;
  for (const Argument& a : flow.operands) operands.push_back(output(a));
  ControlRunner runner;
  runner.run = [&](size_t body, const std::vector<RefValue>& inputs) {
    return run(*graph.subgraphs.at(flow.bodies.at(body)), inputs, symbols_);
  };
  const Call call(node);
  const std::function<const RefValue&(const Node*)> value_of = [this](const Node* n) -> const RefValue& {
    return get(n);
  };
  const RefContext context{call, value_of, symbols_, options_.float64};
  runner.memory = [&](size_t k) { return context.result(k); };
  std::vector<RefValue> results = run_control_flow(flow, output(flow.condition), std::move(operands), runner);
  for (RefValue& result : results) result = owned(result);  // a loop that takes no turn gives what it was given
  RefValue value = node.type.kind == Type::Kind::Tuple ? RefValue(std::move(results)) : results.at(0);
  bind_sizes(graph, node.type, value, symbols_);
  return value;
}

/// A body by itself; what it writes into its inputs is not seen outside.
std::vector<RefValue> Frame::run(const Graph& body, const std::vector<RefValue>& inputs, SymBindings symbols) const {
  Frame inner(options_, body.shared_env(), symbols, depth_ + 1);
  const std::vector<Node*> placeholders = body.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const auto* t = std::get_if<Tensor>(&inputs.at(i).value);
    inner.set(placeholders[i], t ? RefValue(t->clone()) : inputs[i]);
    bind_sizes(body, placeholders[i]->type, inputs[i], symbols);
    inner.observe(*placeholders[i]);
  }
  for (const auto& node : body.nodes()) {
    inner.execute(body, *node);
    if (node->kind != NodeKind::Placeholder) inner.observe(*node);
  }
  std::vector<RefValue> results;
  for (const Argument& leaf : body.flat_outputs()) results.push_back(inner.output(leaf));
  return results;
}

/// Operators that promise a new tensor even where their decomposition ends in a view of the operand.
bool copies(const Node& node) { return !aliased_operand(node) && !views_each(node); }

RefValue Frame::reference(const Node& node) {
  const Call call(node);
  const std::function<const RefValue&(const Node*)> value_of = [this](const Node* n) -> const RefValue& {
    return get(n);
  };
  const RefValue value = node.op->reference(RefContext{call, value_of, symbols_, options_.float64});
  // What is a view of ours need not be one of PyTorch's: writing a flipped tensor leaves the operand as it is.
  return node.op->op_class == OpClass::View && copies(node) ? owned(value) : value;
}

/// The functional operator on the same operands (without the tensors that only receive results).
RefValue Frame::functional_twin(const Node& node) {
  Node twin = node;
  twin.op = find_op(node.op->functional_name);
  if (!twin.op) throw_user("in-place operator " + place(node) + " has no functional form in the operator table");
  twin.target = twin.op->name;
  std::erase_if(twin.kwargs, [&](const auto& kwarg) {
    const auto& params = twin.op->schema.params;
    return std::none_of(params.begin(), params.end(), [&](const Param& p) { return p.name == kwarg.first; });
  });
  twin.type = twin.op->shape(Call(twin));
  return call(Graph(env_), twin);
}

RefValue Frame::mutation(const Node& node) {
  const Call call(node);
  std::vector<Tensor> targets;
  for (size_t i = 0; i < call.size(); ++i)
    if (node.op->schema.params[i].written && call.optional_tensor(i)) targets.push_back(get(call.tensor(i)).tensor());
  const RefValue value = functional_twin(node);
  if (const auto* t = std::get_if<Tensor>(&value.value)) {
    if (targets.size() != 1)
      throw_internal("in-place operator " + place(node) + " has one result for " + std::to_string(targets.size()) +
                     " targets");
    assign(node, *t, targets[0]);
    return targets[0];
  }
  const auto* parts = std::get_if<std::vector<RefValue>>(&value.value);
  if (!parts || parts->size() < targets.size())
    throw_internal("in-place operator " + place(node) + ": the functional form lacks results");
  std::vector<RefValue> results = *parts;
  // Results that are written stand last (running statistics) or are all there is (out variants).
  for (size_t i = 0; i < targets.size(); ++i) {
    RefValue& result = results[results.size() - targets.size() + i];
    assign(node, result.tensor(), targets[i]);
    result = targets[i];
  }
  return results;
}

/// Runs the decomposition in a scratch graph whose placeholders are the operands.
RefValue Frame::decomposed(const Node& node) {
  if (depth_ >= kMaxDepth) throw_internal("the decomposition of " + place(node) + " does not end");
  Graph scratch(env_);
  Frame inner(options_, env_, symbols_, depth_ + 1);
  std::unordered_map<const Node*, Node*> inputs;
  Node copy = node;
  copy.for_each_operand([&](Node*& operand) {
    Node*& input = inputs[operand];
    if (!input) {
      input = scratch.placeholder(operand->name, operand->type);
      inner.set(input, get(operand));
    }
    operand = input;
  });
  Builder builder(scratch);
  builder.meta = node.meta;
  const std::vector<Node*> results = node.op->decompose(builder, Call(copy));
  if (results.empty() && touches_complex(node)) return by_parts(node);
  if (results.empty() && node.op->reference) return reference(node);  // stays as it is
  for (const auto& step : scratch.nodes()) inner.execute(scratch, *step);
  if (node.type.kind != Type::Kind::Tuple)
    return copies(node) ? owned(inner.get(results.at(0))) : inner.get(results.at(0));
  std::vector<RefValue> parts;
  for (Node* result : results) parts.push_back(copies(node) ? owned(inner.get(result)) : inner.get(result));
  return parts;
}

/// A call on complex numbers: its rule's calls on their parts, in a scratch graph.
RefValue Frame::by_parts(const Node& node) {
  require_complex_support(node);
  if (depth_ >= kMaxDepth) throw_internal("the parts of " + place(node) + " do not end");
  Graph scratch(env_);
  Frame inner(options_, env_, symbols_, depth_ + 1);
  std::unordered_map<const Node*, ComplexParts> parts;
  for (const Node* operand : node.operands()) {
    Type type = operand->type;
    if (!has_complex(type)) {
      parts[operand] = {scratch.placeholder(operand->name, type), nullptr};
      inner.set(parts[operand].real, get(operand));
      continue;
    }
    if (!type.is_tensor()) throw_internal("a tuple of complex tensors in " + place(node));
    type.tensor.dtype = real_dtype(type.tensor.dtype);
    type.tensor.strides.reset();
    parts[operand] = {scratch.placeholder(operand->name, type), scratch.placeholder(operand->name + "_imag", type)};
    inner.set(parts[operand].real, part_of(get(operand).tensor(), 0));
    inner.set(parts[operand].imag, part_of(get(operand).tensor(), 1));
  }
  Builder builder(scratch);
  builder.meta = node.meta;
  const auto results = split_complex(builder, Call(node), [&](const Node* n) { return parts.at(n); });
  for (const auto& step : scratch.nodes()) inner.execute(scratch, *step);
  const auto value = [&](const Node* n) { return inner.get(n).tensor(); };
  std::vector<RefValue> values;
  for (const ComplexParts& r : results)
    values.push_back(r.imag ? RefValue(joined(value(r.real), value(r.imag))) : owned(inner.get(r.real)));
  return node.type.kind == Type::Kind::Tuple ? RefValue(std::move(values)) : values.at(0);
}

// ------------------------------------------------------------------------------------------------------------------
// inputs

/// Copies of the inputs that the program may write; inputs that are one tensor stay one.
class InputCopies {
 public:
  explicit InputCopies(bool float64) : float64_(float64) {}
  RefValue copy(const RefValue& value) {
    const auto* t = std::get_if<Tensor>(&value.value);
    if (!t || !t->defined()) return value;
    for (const auto& [original, twin] : seen_)
      if (original.storage == t->storage && original.offset == t->offset && original.shape == t->shape &&
          original.strides == t->strides)
        return twin;
    const Tensor twin = carried(*t, float64_);
    seen_.emplace_back(*t, twin.storage == t->storage ? twin.clone() : twin);
    return seen_.back().second;
  }

 private:
  bool float64_;
  std::vector<std::pair<Tensor, Tensor>> seen_;
};

/// A size may come as an integer or as a tensor of one element.
RefValue as_placeholder(const Node& node, RefValue value, bool float64) {
  auto* t = std::get_if<Tensor>(&value.value);
  if (!t || !t->defined()) return value;
  if (node.type.kind == Type::Kind::SymInt && t->numel() == 1) return t->int_at(0);
  if (node.type.kind == Type::Kind::SymFloat && t->numel() == 1) return t->at(0);
  return carried(*t, float64);
}

/// The value where its type says that it lies, if that leaves no gaps.
RefValue in_memory(const Node& node, const RefValue& value, const SymBindings& symbols) {
  const auto* t = std::get_if<Tensor>(&value.value);
  if (!t || !t->defined() || !node.type.is_tensor() || !node.tensor().strides || !memory_order(node.tensor()))
    return value;
  Tensor laid = Tensor::empty(t->dtype, {t->numel()});
  laid.shape = t->shape;
  laid.strides.clear();
  bool same = t->offset == 0;
  for (size_t d = 0; d < t->rank(); ++d) {
    const auto stride = evaluate(node.tensor().strides->at(d), symbols);
    if (!stride) return value;
    laid.strides.push_back(*stride);
    same &= t->shape[d] == 1 || t->strides[d] == *stride;
  }
  if (same || t->numel() == 0) return value;
  copy_elements(t->contiguous(), laid);
  return laid;
}

}  // namespace

Interpreter::Interpreter(const Graph& graph, InterpreterOptions options) : graph_(graph), options_(std::move(options)) {
  size_t position = 0;
  for (const auto& node : graph.nodes()) {
    mutates_ |= is_mutation(*node);
    for (Node* operand : node->operands()) last_use_[operand] = position;
    if (node->is("aten.as_strided.default")) {
      const Node& owner = storage_owner(*node->args.at(0).node());
      in_memory_.insert(&owner);
      last_use_[&owner] = position;
    }
    ++position;
  }
  // Whether a reshape shows its operand's memory, and so what is written, is told by how the operand is said to lie.
  if (!mutates_) return;
  for (const auto& node : graph.nodes())
    if (const Node& owner = storage_owner(*node); &owner != node.get()) in_memory_.insert(&owner);
}

std::vector<RefValue> Interpreter::run(std::span<const Tensor> inputs, const SymBindings& symbols) {
  const std::vector<RefValue> values(inputs.begin(), inputs.end());
  return run(std::span<const RefValue>(values), symbols);
}

std::vector<RefValue> Interpreter::run(std::span<const RefValue> inputs, const SymBindings& symbols) {
  const std::vector<Node*> placeholders = graph_.placeholders();
  if (placeholders.size() != inputs.size())
    throw_user("the graph takes " + std::to_string(placeholders.size()) + " inputs, found " +
               std::to_string(inputs.size()));
  restart_generator();
  SymBindings bound = symbols;
  Frame frame(options_, graph_.shared_env(), bound, 0);
  InputCopies copies(options_.float64);
  inputs_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs_.push_back(
        as_placeholder(*placeholders[i], mutates_ ? copies.copy(inputs[i]) : inputs[i], options_.float64));
    bind_sizes(graph_, placeholders[i]->type, inputs_.back(), bound);
    if (in_memory_.contains(placeholders[i])) inputs_.back() = in_memory(*placeholders[i], inputs_.back(), bound);
    frame.set(placeholders[i], inputs_.back());
    frame.observe(*placeholders[i]);
  }
  require_assumptions(graph_.env(), bound);
  size_t position = 0;
  for (const auto& node : graph_.nodes()) {
    if (options_.progress && !options_.progress(position, graph_.size())) throw_user("interpretation was cancelled");
    frame.execute(graph_, *node);
    if (in_memory_.contains(node.get()) && node->kind != NodeKind::Placeholder)
      frame.set(node.get(), in_memory(*node, frame.get(node.get()), bound));
    if (node->kind != NodeKind::Placeholder) frame.observe(*node);
    for (Node* operand : node->operands())
      if (node->kind != NodeKind::Output && last_use_.at(operand) == position) frame.forget(operand);
    ++position;
  }
  std::vector<RefValue> outputs;
  for (const Argument& a : graph_.flat_outputs()) outputs.push_back(frame.output(a));
  return outputs;
}

}  // namespace strata
