// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/ops/common.h"

#include <iterator>

#include "core/ir/program.h"

namespace strata::ops {

void append(Rows& rows, Rows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// --------------------------------------------------------------------------------------------------------------- calls

namespace {

std::string describe(const Argument& argument) {
  if (const Node* node = argument.node()) return to_string(node->type);
  if (const auto* i = argument.as<int64_t>()) return std::to_string(*i);
  if (const auto* s = argument.as<SymInt>()) return s->str();
  if (const auto* d = argument.as<double>()) {
    std::string text = std::to_string(*d);
    return text;
  }
  if (const auto* b = argument.as<bool>()) return *b ? "True" : "False";
  if (argument.is_none()) return "None";
  if (const auto* d = argument.as<DType>()) return std::string(dtype_name(*d));
  if (const auto* list = argument.as<ListArg>()) {
    std::string text = "[";
    for (size_t i = 0; i < list->items.size() && i < 8; ++i) text += (i ? ", " : "") + describe(list->items[i]);
    return text + (list->items.size() > 8 ? ", ...]" : "]");
  }
  return "...";
}

}  // namespace

std::string describe(const Node& node) {
  std::string text = (node.op ? node.op->name : node.target) + "(";
  bool first = true;
  for (const Argument& a : node.args) text += (std::exchange(first, false) ? "" : ", ") + describe(a);
  for (const auto& [name, a] : node.kwargs)
    text += (std::exchange(first, false) ? "" : ", ") + name + "=" + describe(a);
  return text + ")";
}

void reject(const Call& call, const std::string& what, const std::string& hint) {
  throw_user(describe(call.node()) + ": " + what, hint);
}

bool is_tensor(const Call& call, size_t i) {
  const Node* node = call.arg(i).node();
  return node && node->type.is_tensor();
}

const TensorType& tensor_type(const Call& call, size_t i) {
  if (!is_tensor(call, i)) reject(call, "expected a tensor for '" + call.op().schema.params[i].name + "'");
  return call.arg(i).node()->type.tensor;
}

std::optional<size_t> param(const Call& call, std::string_view name) {
  const auto& params = call.op().schema.params;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == name) return i;
  return {};
}

std::optional<DType> given_dtype(const Call& call) {
  const auto i = param(call, "dtype");
  return i ? call.dtype(*i) : std::nullopt;
}

void require_mask(const Call& call, size_t i) {
  if (const DType d = tensor_type(call, i).dtype; d != DType::Bool)
    reject(call, "the mask must be bool, found " + std::string(dtype_name(d)));
}

void require_fits(const Call& call, size_t i) {
  const DType into = tensor_type(call, 0).dtype;
  if (is_tensor(call, i) && is_complex(tensor_type(call, i).dtype) && !is_complex(into))
    reject(call, "complex numbers do not fit into " + std::string(dtype_name(into)));
}

std::vector<size_t> distinct_dims(const Call& call, size_t i, size_t rank) {
  std::vector<size_t> dims;
  for (const int64_t d : call.constants(i)) {
    const size_t at = normalize_dim(d, rank, call.node());
    if (std::find(dims.begin(), dims.end(), at) != dims.end())
      reject(call, "dimension " + std::to_string(d) + " is named twice");
    dims.push_back(at);
  }
  return dims;
}

SymInt product(const std::vector<SymInt>& sizes) {
  SymInt n = 1;
  for (const SymInt& s : sizes) n = n * s;
  return n;
}

bool has_zero(const std::vector<SymInt>& sizes) {
  return std::find(sizes.begin(), sizes.end(), SymInt(0)) != sizes.end();
}

namespace {

void assume(const Call& call, const std::pair<SymInt, SymInt>& sizes, bool equal, const std::string& reason) {
  const auto& [a, b] = sizes;
  const SourceLocation* at = user_line(call.node().meta.source);
  Assumption made{a.str() + (equal ? " == " : " >= ") + b.str(), reason + " in " + call.op().name,
                  at ? at->file + ":" + std::to_string(at->line) : ""};
  (equal ? made.equal : made.at_least) = sizes;
  (a.env() ? a.env() : b.env())->assume(std::move(made));
}

}  // namespace

void require_equal(const Call& call, const SymInt& a, const SymInt& b, const std::string& what) {
  if (known_eq(a, b)) return;
  if (known_ne(a, b)) reject(call, what + " must be equal, found " + a.str() + " and " + b.str());
  assume(call, {a, b}, true, what + " must be equal");
}

void require_same_shape(const Call& call, const std::vector<SymInt>& a, const std::vector<SymInt>& b,
                        const std::string& what) {
  if (a.size() != b.size())
    reject(call, what + " must have one number of dimensions, found " + std::to_string(a.size()) + " and " +
                     std::to_string(b.size()));
  for (size_t d = 0; d < a.size(); ++d)
    require_equal(call, a[d], b[d], "sizes of dimension " + std::to_string(d) + " of " + what);
}

void require_multiple(const Call& call, const SymInt& size, const SymInt& factor, const std::string& what) {
  const SymInt rest = mod(size, factor);
  if (known_eq(rest, 0)) return;
  if (known_ne(rest, 0)) reject(call, what + ", " + size.str() + ", must be divisible by " + factor.str());
  assume(call, {rest, 0}, true, what + " must be divisible");
}

void require_at_least(const Call& call, const SymInt& size, const SymInt& least, const std::string& what) {
  if (known_le(least, size)) return;
  if (known_lt(size, least)) reject(call, what + ": expected at least " + least.str() + ", found " + size.str());
  assume(call, {size, least}, false, what);
}

SymInt unless_empty(const SymInt& size, const std::vector<SymInt>& shape) {
  SymInt any = 1;
  for (const SymInt& s : shape)
    if (!known_lt(0, s)) any = any * min(SymInt(1), s);
  return size * any;
}

Node* in_common_floats(Builder& builder, const Call& call, size_t i) {
  const DType common = pointwise_compute_dtype(call);
  return builder.cast(call.tensor(i), is_integral_or_bool(common) ? DType::F32 : common);
}

std::optional<double> number_of(const Argument& argument) {
  if (const auto* real = argument.as<double>()) return *real;
  if (const auto* whole = argument.as<int64_t>()) return static_cast<double>(*whole);
  return {};
}

Argument sizes(const std::vector<SymInt>& shape) { return Argument::ints(shape); }

Argument int_list(const std::vector<int64_t>& items) {
  return Argument::list(std::vector<Argument>(items.begin(), items.end()));
}

Argument integer(const SymInt& value) { return value.is_const() ? Argument(value.value()) : Argument(value); }

// -------------------------------------------------------------------------------------------------------------- result
// types

namespace {

/// Tensor operands of a call, those in lists included.
std::vector<const Node*> tensor_operands(const Call& call) {
  std::vector<const Node*> out;
  for (size_t i = 0; i < call.size(); ++i)
    for_each_node(call.arg(i), [&](Node* n) {
      if (n && n->type.is_tensor()) out.push_back(n);
    });
  return out;
}

}  // namespace

Type result_like(const Call& call, DType dtype, std::vector<SymInt> shape) {
  std::string device = "cpu";
  if (const auto operands = tensor_operands(call); !operands.empty()) {
    device = operands[0]->type.tensor.device;
    for (const Node* n : operands)  // a 0-dimensional CPU operand does not say where the result is
      if (!n->type.tensor.shape.empty()) {
        device = n->type.tensor.device;
        break;
      }
  }
  return Type::of(dtype, std::move(shape), device);
}

Type broadcast_type(const Call& call, DType dtype) {
  std::vector<SymInt> shape;
  bool first = true;
  for (const Node* n : tensor_operands(call))
    shape = std::exchange(first, false) ? n->type.tensor.shape : broadcast(shape, n->type.tensor.shape, call.node());
  return result_like(call, dtype, std::move(shape));
}

Type pointwise_type(const Call& call) {
  const Promotion p = call.op().promotion;
  if (tensor_operands(call).empty()) reject(call, "expected at least one tensor operand");
  const bool to_bool = p == Promotion::Compare || p == Promotion::Logical;
  return broadcast_type(call, to_bool ? DType::Bool : pointwise_compute_dtype(call));
}

Type floating_type(const Call& call) {
  if (const DType d = tensor_type(call, 0).dtype; !is_floating(d))
    reject(call, "expected a floating-point tensor, found " + std::string(dtype_name(d)));
  return pointwise_type(call);
}

Type number_type(const Call& call) {
  for (const Node* n : tensor_operands(call))
    if (n->type.tensor.dtype != DType::Bool) return pointwise_type(call);
  reject(call, "expected numbers, found bool", "use logical or bitwise operators on bool");
}

Type integral_type(const Call& call) {
  for (const Node* n : tensor_operands(call))
    if (const DType d = n->type.tensor.dtype; !is_integral(d) && d != DType::Bool)
      reject(call, "expected integers or bool, found " + std::string(dtype_name(d)));
  const Type type = pointwise_type(call);
  if (is_floating(type.tensor.dtype)) reject(call, "expected integers or bool, found a floating-point number");
  return type;
}

Type same_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  return result_like(call, t.dtype, t.shape);
}

Type decomposed_type(const Call& call) {
  Graph scratch;  // only types are looked at: the operands stay where they are
  Builder builder(scratch);
  std::vector<Type> types;
  for (const Node* n : call.op().decompose(builder, call)) {
    types.push_back(n->type);
    types.back().tensor.requires_grad = false;
  }
  return call.op().schema.returns.size() > 1 || call.op().schema.returns[0] == "Tensor[]" ? Type::tuple(types)
                                                                                          : types.at(0);
}

Type no_type(const Call&) {
  Type type;
  type.kind = Type::Kind::None;
  return type;
}

// ---------------------------------------------------------------------------------------------------------- references

double scalar_value(const RefContext& c, size_t i) {
  const Argument& a = c.call.arg(i);
  if (const Node* node = a.node()) {
    const RefValue& v = c.value_of(node);
    if (const auto* n = std::get_if<int64_t>(&v.value)) return static_cast<double>(*n);
    if (const auto* d = std::get_if<double>(&v.value)) return *d;
    if (const auto* b = std::get_if<bool>(&v.value)) return *b ? 1 : 0;
    return v.tensor().at(0);
  }
  if (const auto* s = a.as<SymInt>()) return static_cast<double>(c.eval(*s));
  return c.call.number(i);
}

int64_t scalar_int(const RefContext& c, size_t i) {
  const Argument& a = c.call.arg(i);
  if (const Node* node = a.node()) {
    const RefValue& v = c.value_of(node);
    if (const auto* n = std::get_if<int64_t>(&v.value)) return *n;
    if (const auto* t = std::get_if<Tensor>(&v.value)) return t->int_at(0);
    return static_cast<int64_t>(scalar_value(c, i));
  }
  if (const auto* s = a.as<SymInt>()) return c.eval(*s);
  if (const auto* n = a.as<int64_t>()) return *n;
  return static_cast<int64_t>(c.call.number(i));
}

bool scalar_is_int(const RefContext& c, size_t i) {
  const Argument& a = c.call.arg(i);
  if (const Node* node = a.node()) {
    if (node->type.is_tensor()) return !is_floating(node->type.tensor.dtype);
    return node->type.kind != Type::Kind::SymFloat;
  }
  return a.as<SymInt>() || a.as<int64_t>() || a.as<bool>();
}

DType work_dtype(DType compute) {
  if (is_complex(compute)) throw_user("complex numbers are not supported in computations");
  return compute == DType::F64 ? DType::F64 : is_floating(compute) ? DType::F32 : DType::I64;
}

Tensor converted(const Tensor& t, DType dtype) { return t.dtype == dtype ? t : t.to(dtype); }

Tensor operand(const RefContext& c, size_t i, DType compute) {
  const DType work = work_dtype(compute);
  Tensor t;
  if (is_tensor(c.call, i)) {
    t = c.tensor(i);
  } else {
    t = Tensor::empty(work, {});
    if (work == DType::I64)
      t.set_int(0, scalar_as<int64_t>(c, i));
    else
      t.set(0, scalar_value(c, i));
  }
  // What is a float already is exact in the wider type, so that only narrowing (integers, bool) goes through the
  // compute type.
  const bool narrows =
      is_reduced_float(compute) ? rounds_operand(c.call, i) : work == DType::I64 || !is_floating(t.dtype);
  return converted(narrows ? converted(t, compute) : t, work);
}

DType reference_compute_dtype(const RefContext& c) { return c.storage_dtype(pointwise_compute_dtype(c.call)); }

Tensor expanded(const Tensor& t, const std::vector<int64_t>& shape) {
  if (t.shape == shape) return t;
  Tensor out = t;
  out.shape = shape;
  out.strides.assign(shape.size(), 0);
  if (t.rank() > shape.size()) throw_internal("cannot expand " + t.str() + " to fewer dimensions");
  const size_t lead = shape.size() - t.rank();
  for (size_t d = 0; d < t.rank(); ++d) {
    if (t.shape[d] != shape[lead + d] && t.shape[d] != 1)
      throw_user("cannot expand " + t.str() + ": sizes do not match");
    out.strides[lead + d] = t.shape[d] == 1 ? 0 : t.strides[d];
  }
  return out;
}

Tensor as_result(const RefContext& c, const Tensor& t, size_t part) {
  const Type& type = c.call.node().type;
  const DType declared = type.kind == Type::Kind::Tuple ? type.parts.at(part).tensor.dtype : type.tensor.dtype;
  return converted(t, c.storage_dtype(declared)).contiguous();
}

RowLoop::RowLoop(const std::vector<int64_t>& shape, const std::vector<std::vector<int64_t>>& strides)
    : strides_(strides.size()) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = !shape_.empty();
    for (size_t k = 0; merge && k < strides.size(); ++k) merge = strides_[k].back() == strides[k][d] * shape[d];
    if (merge)
      shape_.back() *= shape[d];
    else
      shape_.push_back(shape[d]);
    for (size_t k = 0; k < strides.size(); ++k) {
      if (merge)
        strides_[k].back() = strides[k][d];
      else
        strides_[k].push_back(strides[k][d]);
    }
  }
  if (shape_.empty()) {
    shape_.push_back(1);
    for (auto& s : strides_) s.push_back(1);
  }
  for (size_t d = 0; d + 1 < shape_.size(); ++d) rows_ *= shape_[d];
}

// ---------------------------------------------------------------------------------------------------------------- loop
// bodies

DType body_dtype(const Body& body, Operands operands) {
  for (ScalarId x : operands)
    if (x != loop::kNone) return body.dtype(x);
  throw_internal("pointwise body without operands");
}

ScalarId body_number(Body& body, const Call& call, size_t i, DType dtype) {
  const Argument& a = call.arg(i);
  if (a.node() || a.as<SymInt>()) return body.cast(body.index(call.integer(i)), dtype);
  if (const auto* n = a.as<int64_t>(); n && !is_floating(dtype)) return body.integer(*n, dtype);
  return body.constant(call.number(i), dtype);
}

ScalarId body_operand(Body& body, const Call& call, Operands operands, size_t i) {
  const auto& params = call.op().schema.params;
  if (params[i].type != "Tensor") {
    const ScalarId v = body_number(body, call, i, body_dtype(body, operands));
    return rounds_operand(call, i) ? body.cast(body.cast(v, pointwise_compute_dtype(call)), body.dtype(v)) : v;
  }
  size_t k = 0;
  for (size_t j = 0; j < i; ++j) k += params[j].type == "Tensor";
  return operands[k];
}

// ----------------------------------------------------------------------------------------------------------- gradients

Node* fit(Builder& builder, Node* gradient, const Node* operand) {
  if (!gradient) return nullptr;
  const TensorType& want = operand->type.tensor;
  return builder.cast(builder.sum_to(gradient, want.shape), want.dtype);
}

std::vector<Node*> no_cotangents(const GradientCall& call) { return std::vector<Node*>(call.call.size(), nullptr); }

std::vector<Node*> zero_gradient(const GradientCall& g) {
  return gradient_of<[](const GradientContext& c) { return c.b.call("aten.zeros_like.default", {c.x()}); }>(g);
}

// ---------------------------------------------------------------------------------------------------------------- rows

OpDef row(std::string_view schema, uint32_t traits, Promotion promotion, ShapeRule shape, Reference reference,
          PointwiseBody body, std::variant<Gradient, NoGradient> gradient, std::string_view doc) {
  return OpDef(schema, OpClass::Pointwise, traits, promotion, shape, reference, nullptr, gradient, Lowering(body), "",
               doc);
}

OpDef compound(std::string_view schema, uint32_t traits, ShapeRule shape, Decompose decompose, std::string_view doc) {
  // Compounds are decomposed before differentiation, so that they need no gradient of their own.
  return OpDef(schema, OpClass::Compound, traits, Promotion::None, shape, nullptr, decompose, NoGradient::Pending,
               NoLowering{}, "", doc);
}

}  // namespace strata::ops
