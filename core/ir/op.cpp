// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/op.h"
#include "core/ir/foreign.h"

#include <algorithm>
#include <memory>

#include "core/support/error.h"

namespace strata {

OpDef::OpDef(std::string_view schema_text, OpClass op_class_, uint32_t traits_, Promotion promotion_, ShapeRule shape_,
             Reference reference_, Decompose decompose_, std::variant<Gradient, NoGradient> gradient_,
             Lowering lowering_, std::string_view functional_name_, std::string_view doc_)
    : schema(parse_schema(schema_text)),
      name(schema.name),
      op_class(op_class_),
      traits(traits_),
      promotion(promotion_),
      shape(shape_),
      reference(reference_),
      decompose(decompose_),
      gradient(gradient_),
      lowering(std::move(lowering_)),
      functional_name(functional_name_),
      doc(doc_) {}

std::string_view to_string(OpClass c) {
  switch (c) {
    case OpClass::Pointwise:
      return "pointwise";
    case OpClass::Reduction:
      return "reduction";
    case OpClass::View:
      return "view";
    case OpClass::Indexing:
      return "indexing";
    case OpClass::Library:
      return "library";
    case OpClass::Creation:
      return "creation";
    case OpClass::Compound:
      return "compound";
    case OpClass::Mutation:
      return "mutation";
    case OpClass::Symbolic:
      return "symbolic";
    case OpClass::Assertion:
      return "assertion";
    case OpClass::Control:
      return "control";
  }
  return "";
}

// -----------------------------------------------------------------------------------------------------------------
// table

namespace {

struct Table {
  std::vector<std::unique_ptr<const OpDef>> rows;
  std::vector<const OpDef*> sorted;
  std::unordered_map<std::string, const OpDef*> by_name;

  Table() {
    for (auto family : {ops::pointwise, ops::views, ops::reductions, ops::indexing, ops::matrix, ops::convolution,
                        ops::symbolic, ops::mutations, ops::control_flow})
      for (OpDef& row : family()) add(std::make_unique<const OpDef>(std::move(row)));
    std::sort(sorted.begin(), sorted.end(), [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
  }

  void add(std::unique_ptr<const OpDef> row) {
    if (!by_name.emplace(row->name, row.get()).second) throw_internal("operator " + row->name + " has two rows");
    sorted.push_back(row.get());
    rows.push_back(std::move(row));
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

const OpDef* find_op(std::string_view target) {
  if (target.starts_with("torch.ops.")) target.remove_prefix(10);
  const auto& names = table().by_name;
  if (const auto it = names.find(std::string(target)); it != names.end()) return it->second;
  if (std::count(target.begin(), target.end(), '.') == 1) {  // `aten.relu`: the default overload
    if (const auto it = names.find(std::string(target) + ".default"); it != names.end()) return it->second;
  }
  return find_foreign_op(target);
}

std::span<const OpDef* const> all_ops() { return table().sorted; }

// ------------------------------------------------------------------------------------------------------------------
// call

namespace {

std::string where(const Node& node) {
  std::string text = "'" + node.name + "' (" + node.target + ")";
  if (node.meta.source && !node.meta.source->empty()) {
    const SourceLocation& at = node.meta.source->back();
    text += " at " + at.file + ":" + std::to_string(at.line);
  }
  return text;
}

const Argument& none_argument() {
  static const Argument none;
  return none;
}

/// Nothing if the argument is not an integer.
std::optional<SymInt> as_integer(const Argument& a) {
  if (const auto* v = a.as<int64_t>()) return SymInt(*v);
  if (const auto* v = a.as<SymInt>()) return *v;
  if (const auto* v = a.as<bool>()) return SymInt(*v ? 1 : 0);
  if (const auto* v = a.as<double>(); v && *v == static_cast<double>(static_cast<int64_t>(*v)))
    return SymInt(static_cast<int64_t>(*v));
  if (Node* n = a.node(); n && n->type.kind == Type::Kind::SymInt) return n->type.sym;
  return {};
}

}  // namespace

Call::Call(const Node& node) : node_(&node) {
  if (!node.op) throw_internal("call of '" + node.target + "', which has no row in the operator table");
  const Schema& schema = node.op->schema;
  args_.assign(schema.params.size(), nullptr);
  if (node.args.size() > schema.params.size()) {
    throw_user("operator " + where(node) + ": expected at most " + std::to_string(schema.params.size()) +
               " arguments, found " + std::to_string(node.args.size()));
  }
  for (size_t i = 0; i < node.args.size(); ++i) args_[i] = &node.args[i];
  for (const auto& [key, value] : node.kwargs) {
    const auto it =
        std::find_if(schema.params.begin(), schema.params.end(), [&](const Param& p) { return p.name == key; });
    if (it == schema.params.end()) {
      std::vector<std::string> names;
      for (const Param& p : schema.params) names.push_back(p.name);
      throw_user("operator " + where(node) + ": unknown keyword argument '" + key + "'", suggest(key, names));
    }
    const auto i = static_cast<size_t>(it - schema.params.begin());
    if (args_[i]) throw_user("operator " + where(node) + ": argument '" + key + "' is given twice");
    args_[i] = &value;
  }
  for (size_t i = 0; i < args_.size(); ++i) {
    if (args_[i]) continue;
    const Param& p = schema.params[i];
    if (p.default_value)
      args_[i] = &*p.default_value;
    else if (p.optional)
      args_[i] = &none_argument();
    else
      throw_user("operator " + where(node) + ": argument '" + p.name + "' of type " + p.type + " is missing");
  }
}

const Argument& Call::arg(std::string_view param) const { return arg(node_->op->schema.index_of(param)); }

Node* Call::optional_tensor(size_t i) const { return args_[i]->node(); }

Node* Call::tensor(size_t i) const {
  Node* n = args_[i]->node();
  if (!n || n->type.kind != Type::Kind::Tensor) {
    throw_user("operator " + where(*node_) + ": argument '" + op().schema.params[i].name +
               "' must be a tensor, found " + (n ? "'" + n->name + "' of type " + to_string(n->type) : "a constant"));
  }
  return n;
}

std::vector<Node*> Call::tensors(size_t i) const {
  const auto* list = args_[i]->as<ListArg>();
  if (!list) expected(i, "must be a list of tensors");
  std::vector<Node*> result;
  for (const Argument& item : list->items) result.push_back(item.node());
  return result;
}

SymInt Call::integer(size_t i) const {
  if (auto v = as_integer(*args_[i])) return *v;
  expected(i, "must be an integer");
}

void Call::expected(size_t i, const std::string& what) const {
  const std::string message = "operator " + where(*node_) + ": argument '" + op().schema.params[i].name + "' " + what;
  const Node* n = args_[i]->node();
  if (n && n->type.kind == Type::Kind::SymFloat)
    throw_user(message + ", found '" + n->name + "', a number that only a run tells",
               "make it a constant of the model, or compute with the tensor that it comes from");
  throw_user(message);
}

std::optional<SymInt> Call::optional_integer(size_t i) const {
  if (is_none(i)) return {};
  return integer(i);
}

std::vector<SymInt> Call::integers(size_t i) const {
  if (is_none(i)) return {};
  const auto* list = args_[i]->as<ListArg>();
  if (!list) return {integer(i)};
  std::vector<SymInt> result;
  for (const Argument& item : list->items) {
    auto v = as_integer(item);
    if (!v) expected(i, "must be a list of integers");
    result.push_back(*v);
  }
  return result;
}

int64_t Call::constant(size_t i) const {
  const SymInt v = integer(i);
  if (!v.is_const()) expected(i, "must be a constant, found " + v.str());
  return v.value();
}

std::vector<int64_t> Call::constants(size_t i) const {
  std::vector<int64_t> result;
  for (const SymInt& v : integers(i)) {
    if (!v.is_const()) expected(i, "must be constant, found " + v.str());
    result.push_back(v.value());
  }
  return result;
}

double Call::number(size_t i) const {
  if (const auto* v = args_[i]->as<double>()) return *v;
  if (auto v = as_integer(*args_[i]); v && v->is_const()) return static_cast<double>(v->value());
  expected(i, "must be a number");
}

bool Call::is_integer_scalar(size_t i) const { return !args_[i]->as<double>() && as_integer(*args_[i]).has_value(); }

bool Call::boolean(size_t i) const {
  if (const auto* v = args_[i]->as<bool>()) return *v;
  if (const auto* v = args_[i]->as<int64_t>()) return *v != 0;
  expected(i, "must be a boolean");
}

std::optional<DType> Call::dtype(size_t i) const {
  if (const auto* v = args_[i]->as<DType>()) return *v;
  return {};
}

std::string Call::string(size_t i) const {
  if (const auto* v = args_[i]->as<std::string>()) return *v;
  expected(i, "must be a string");
}

size_t Call::dim(size_t i, size_t rank) const { return normalize_dim(constant(i), rank, *node_); }

size_t normalize_dim(int64_t dim, size_t rank, const Node& node) {
  const int64_t n = std::max<int64_t>(1, static_cast<int64_t>(rank));
  if (dim < -n || dim >= n) {
    throw_user("operator " + where(node) + ": dimension " + std::to_string(dim) + " is out of range, expected [" +
               std::to_string(-n) + ", " + std::to_string(n - 1) + "]");
  }
  return static_cast<size_t>(dim < 0 ? dim + n : dim);
}

// -------------------------------------------------------------------------------------------------------------
// promotion

namespace {

/// torch.result_type keeps three classes of operands apart: tensors with dimensions, 0-dim tensors, and Python numbers.
/// A lower class decides only when its category (bool < integer < float < complex) is higher.
struct ResultType {
  std::optional<DType> dimensioned, zero_dim, number;

  static void join(std::optional<DType>& slot, DType d) { slot = slot ? promote(*slot, d) : d; }
  static int category(DType d) { return d == DType::Bool ? 0 : is_integral(d) ? 1 : is_floating(d) ? 2 : 3; }
  static DType combine(const std::optional<DType>& higher, DType lower) {
    if (!higher) return lower;
    return category(lower) > category(*higher) ? lower : *higher;
  }

  void add(const Argument& a) {
    if (Node* n = a.node()) {
      if (n->type.kind == Type::Kind::Tensor)
        join(n->tensor().shape.empty() ? zero_dim : dimensioned, n->tensor().dtype);
      else if (n->type.kind == Type::Kind::SymFloat)
        join(number, DType::F32);
      else
        join(number, DType::I64);
    } else if (a.as<double>()) {
      join(number, DType::F32);  // the default dtype
    } else if (a.as<std::complex<double>>()) {
      join(number, DType::C64);
    } else if (a.as<bool>()) {
      join(number, DType::Bool);
    } else if (a.as<int64_t>() || a.as<SymInt>()) {
      join(number, DType::I64);
    }
  }

  DType get() const {
    std::optional<DType> result = dimensioned;
    if (zero_dim) result = combine(result, *zero_dim);
    if (number) result = number_with(result);
    return result.value_or(DType::F32);
  }

  DType number_with(const std::optional<DType>& tensors) const {
    if (!tensors) return *number;
    if (category(*number) <= category(*tensors)) return *tensors;
    return *number;
  }
};

}  // namespace

DType pointwise_compute_dtype(const Call& call) {
  ResultType result;
  const Schema& schema = call.op().schema;
  for (size_t i = 0; i < schema.params.size(); ++i) {
    const Param& p = schema.params[i];
    // alpha and the like follow the tensors; only operands named as such take part.
    if (p.keyword_only || p.list) continue;
    if (p.type == "Tensor" || p.type == "Scalar") result.add(call.arg(i));
  }
  DType d = result.get();
  if (call.op().promotion == Promotion::IntToFloat && is_integral_or_bool(d)) return DType::F32;
  if (call.op().promotion == Promotion::Logical) return DType::Bool;
  return d;
}

bool rounds_operand(const Call& call, size_t i) {
  const DType common = pointwise_compute_dtype(call);
  if (!is_reduced_float(common)) return false;
  const Node* n = call.arg(i).node();
  const bool tensor = n && n->type.is_tensor();
  // The integers of 8 bits, and bool, are numbers of 16 bits too.
  if (tensor && (n->tensor().dtype == common || dtype_size(n->tensor().dtype) == 1)) return false;
  if (i != 1 || !call.op().has(trait::WideFactor)) return true;
  return tensor && !std::ranges::all_of(n->tensor().shape, [](const SymInt& size) { return size == SymInt(1); });
}

std::vector<SymInt> broadcast(const std::vector<SymInt>& a, const std::vector<SymInt>& b, const Node& node) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<SymInt> result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const SymInt x = i < a.size() ? a[a.size() - 1 - i] : SymInt(1), y = i < b.size() ? b[b.size() - 1 - i] : SymInt(1);
    SymInt& out = result[rank - 1 - i];
    if (x == y || y == SymInt(1)) {
      out = x;
    } else if (x == SymInt(1)) {
      out = y;
    } else if (x.is_const() && y.is_const()) {
      auto text = [](const std::vector<SymInt>& s) {
        std::string t = "[";
        for (size_t k = 0; k < s.size(); ++k) t += (k ? ", " : "") + s[k].str();
        return t + "]";
      };
      throw_user("operator " + where(node) + ": shapes " + text(a) + " and " + text(b) +
                 " do not broadcast: dimension " + std::to_string(rank - 1 - i) + " is " + x.str() + " against " +
                 y.str());
    } else {
      // Neither is 1 by its range (exported sizes are at least 2), so PyTorch has required them to be equal.
      out = x.is_const() ? x : y.is_const() ? y : x;
      if (!known_eq(x, y)) {
        ShapeEnv* env = x.env() ? x.env() : y.env();
        env->assume({x.str() + " == " + y.str(), "broadcast in " + node.target, where(node), std::pair(x, y)});
      }
    }
  }
  return result;
}

// -------------------------------------------------------------------------------------------------------------
// reference

Tensor RefContext::tensor(size_t i) const { return value_of(call.tensor(i)).tensor(); }

Tensor RefContext::optional_tensor(size_t i) const {
  Node* n = call.optional_tensor(i);
  return n ? value_of(n).tensor() : Tensor{};
}

std::vector<Tensor> RefContext::tensors(size_t i) const {
  std::vector<Tensor> result;
  for (Node* n : call.tensors(i)) result.push_back(n ? value_of(n).tensor() : Tensor{});
  return result;
}

int64_t RefContext::eval(const SymInt& e) const {
  if (auto v = evaluate(e, symbols)) return *v;
  throw_user("operator " + where(call.node()) + ": size " + e.str() + " has no value here");
}

std::vector<int64_t> RefContext::eval(const std::vector<SymInt>& e) const {
  std::vector<int64_t> result;
  result.reserve(e.size());
  for (const SymInt& x : e) result.push_back(eval(x));
  return result;
}

int64_t RefContext::integer(size_t i) const { return eval(call.integer(i)); }
std::vector<int64_t> RefContext::integers(size_t i) const { return eval(call.integers(i)); }

Tensor RefContext::result(size_t k) const {
  const Type& type = call.node().type.kind == Type::Kind::Tuple ? call.node().type.parts.at(k) : call.node().type;
  return Tensor::empty(storage_dtype(type.tensor.dtype), eval(type.tensor.shape));
}

}  // namespace strata
