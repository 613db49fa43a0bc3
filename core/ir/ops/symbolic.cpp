// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sizes, Python arithmetic on them, tuples, and checks without a value.

#include <limits>

#include "core/ir/ops/common.h"

namespace strata::ops {
namespace {

constexpr auto kNone = NoGradient::Nondifferentiable;

OpDef sym_row(const std::string& schema, ShapeRule type, Reference reference, const std::string& doc) {
  return OpDef(schema, OpClass::Symbolic, 0, Promotion::None, type, reference, nullptr, kNone, NoLowering{}, "", doc);
}

// --------------------------------------------------------------------------------------------------------------- sizes

RefValue type_reference(const RefContext& c) { return c.eval(c.call.node().type.sym); }

Type sym_size(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (shape.empty()) reject(call, "a 0-dimensional tensor has no sizes");
  return Type::symint(shape[call.dim(1, shape.size())]);
}
Type sym_stride(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  if (t.shape.empty()) reject(call, "a 0-dimensional tensor has no strides");
  if (!t.strides) reject(call, "the strides of the operand are not known");
  return Type::symint((*t.strides)[call.dim(1, t.shape.size())]);
}
Type sym_numel(const Call& call) { return Type::symint(tensor_type(call, 0).numel()); }

// ---------------------------------------------------------------------------------------------------------- arithmetic

bool is_float(const Argument& a) {
  if (a.as<double>()) return true;
  const Node* n = a.node();
  return n && n->type.kind == Type::Kind::SymFloat;
}

Type of_kind(Type::Kind kind) {
  Type type;
  type.kind = kind;
  return type;
}

/// Integers stay expressions; a float operand makes a float.
template <SymInt (*F)(const SymInt&, const SymInt&)>
Type arithmetic_type(const Call& call) {
  if (is_float(call.arg(0)) || is_float(call.arg(1))) return of_kind(Type::Kind::SymFloat);
  return Type::symint(F(call.integer(0), call.integer(1)));
}
Type float_type(const Call&) { return of_kind(Type::Kind::SymFloat); }
Type bool_type(const Call&) { return of_kind(Type::Kind::SymBool); }
/// Of conditions; the bits of integers are not joined.
Type truth_type(const Call& call) {
  for (size_t i = 0; i < 2; ++i) {
    const Node* n = call.arg(i).node();
    if (!call.arg(i).as<bool>() && !(n && n->type.kind == Type::Kind::SymBool))
      reject(call, "expected conditions, found another value for '" + call.op().schema.params[i].name + "'");
  }
  return bool_type(call);
}
Type neg_type(const Call& call) {
  return is_float(call.arg(0)) ? of_kind(Type::Kind::SymFloat) : Type::symint(SymInt(0) - call.integer(0));
}

SymInt sym_add(const SymInt& a, const SymInt& b) { return a + b; }
SymInt sym_sub(const SymInt& a, const SymInt& b) { return a - b; }
SymInt sym_mul(const SymInt& a, const SymInt& b) { return a * b; }

double python_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// An integer result comes from the type's expression; a float is computed.
template <auto F>
RefValue arithmetic_reference(const RefContext& c) {
  if (c.call.node().type.kind == Type::Kind::SymInt) return type_reference(c);
  return F(scalar_value(c, 0), scalar_value(c, 1));
}
template <auto F>
RefValue compare_reference(const RefContext& c) {
  if (scalar_is_int(c, 0) && scalar_is_int(c, 1)) return F(scalar_int(c, 0), scalar_int(c, 1));
  return F(scalar_value(c, 0), scalar_value(c, 1));
}

Rows sizes_rows() {
  Rows r;
  r.push_back(
      sym_row("aten::sym_size.int(Tensor self, int dim) -> SymInt", sym_size, type_reference, "size of a dimension"));
  r.push_back(sym_row("aten::sym_stride.int(Tensor self, int dim) -> SymInt", sym_stride, type_reference,
                      "stride of a dimension"));
  r.push_back(sym_row("aten::sym_numel(Tensor self) -> SymInt", sym_numel, type_reference, "number of elements"));
  // Of a view at a place that only data tells it is a symbol, which only the program names.
  r.push_back(sym_row(
      "aten::sym_storage_offset(Tensor self) -> SymInt", [](const Call& call) { return call.node().type; },
      [](const RefContext& c) -> RefValue { return c.tensor(0).offset; }, "where in memory the first element is"));
  return r;
}

Rows operators() {
  Rows r;
  const auto binary = [&](const char* name, ShapeRule type, Reference reference, const char* doc) {
    r.push_back(sym_row(std::string("_operator::") + name + "(Scalar a, Scalar b) -> SymInt", type, reference, doc));
    r.back().schema.name = r.back().name = std::string("_operator.") + name;
  };
  binary("add", arithmetic_type<sym_add>, arithmetic_reference<[](double a, double b) { return a + b; }>,
         "a + b of sizes");
  binary("sub", arithmetic_type<sym_sub>, arithmetic_reference<[](double a, double b) { return a - b; }>,
         "a - b of sizes");
  binary("mul", arithmetic_type<sym_mul>, arithmetic_reference<[](double a, double b) { return a * b; }>,
         "a * b of sizes");
  binary("floordiv", arithmetic_type<floordiv>,
         arithmetic_reference<[](double a, double b) { return std::floor(a / b); }>, "a // b of sizes");
  binary("mod", arithmetic_type<mod>, arithmetic_reference<[](double a, double b) { return python_mod(a, b); }>,
         "a % b of sizes");
  binary("truediv", float_type, arithmetic_reference<[](double a, double b) { return a / b; }>,
         "a / b of sizes, a float");
  binary("pow", float_type, arithmetic_reference<[](double a, double b) { return std::pow(a, b); }>,
         "a ** b of numbers, a float");
  binary("eq", bool_type, compare_reference<[](auto a, auto b) { return a == b; }>, "a == b of sizes");
  binary("ne", bool_type, compare_reference<[](auto a, auto b) { return a != b; }>, "a != b of sizes");
  binary("lt", bool_type, compare_reference<[](auto a, auto b) { return a < b; }>, "a < b of sizes");
  binary("le", bool_type, compare_reference<[](auto a, auto b) { return a <= b; }>, "a <= b of sizes");
  binary("gt", bool_type, compare_reference<[](auto a, auto b) { return b < a; }>, "a > b of sizes");
  binary("ge", bool_type, compare_reference<[](auto a, auto b) { return b <= a; }>, "a >= b of sizes");
  binary("and_", truth_type, compare_reference<[](auto a, auto b) { return a != 0 && b != 0; }>, "both conditions");
  binary("or_", truth_type, compare_reference<[](auto a, auto b) { return a != 0 || b != 0; }>,
         "one of two conditions");
  for (const char* name : {"_operator.not_", "torch.sym_not"}) {
    r.push_back(sym_row(
        "_operator::not_(Scalar a) -> bool", bool_type,
        [](const RefContext& c) -> RefValue { return scalar_value(c, 0) == 0; }, "whether a condition fails"));
    r.back().schema.name = r.back().name = name;
  }
  r.push_back(sym_row(
      "_operator::neg(Scalar a) -> SymInt", neg_type,
      [](const RefContext& c) -> RefValue {
        if (c.call.node().type.kind == Type::Kind::SymInt) return type_reference(c);
        return -scalar_value(c, 0);
      },
      "-a of a size"));
  r.back().schema.name = r.back().name = "_operator.neg";
  return r;
}

/// Functions of one number that give a float.
Rows functions() {
  Rows r;
  const auto add = [&](const std::string& name, Reference reference, const char* doc) {
    r.push_back(sym_row("torch::" + name + "(Scalar a) -> float", float_type, reference, doc));
    r.back().schema.name = r.back().name = "torch." + name;
  };
  add("sym_float", [](const RefContext& c) -> RefValue { return scalar_value(c, 0); }, "a number as a float");
  const Reference root = [](const RefContext& c) -> RefValue { return std::sqrt(scalar_value(c, 0)); };
  add("sym_sqrt", root, "square root of a number");
  add("_sym_sqrt", root, "square root of a number");
  return r;
}

/// Minimum and maximum keep integers as expressions too.
Rows extrema() {
  Rows r;
  const auto add = [&](const std::string& name, ShapeRule type, Reference reference, const char* doc) {
    r.push_back(sym_row("torch::" + name + "(Scalar a, Scalar b) -> SymInt", type, reference, doc));
    r.back().schema.name = r.back().name = "torch." + name;
  };
  add("sym_min", arithmetic_type<min>, arithmetic_reference<[](double a, double b) { return nan_min(a, b); }>,
      "smaller of two sizes");
  add("sym_max", arithmetic_type<max>, arithmetic_reference<[](double a, double b) { return nan_max(a, b); }>,
      "larger of two sizes");
  return r;
}

/// What is true as one number, what is not as another: of data, so that only the program says the result's symbol.
Rows choices() {
  Rows r;
  r.push_back(sym_row(
      "torch::sym_ite(Scalar a, Scalar b, Scalar c) -> SymInt", [](const Call& call) { return call.node().type; },
      [](const RefContext& c) -> RefValue { return scalar_int(c, scalar_value(c, 0) != 0 ? 1 : 2); },
      "the second number where the first is true, else the third"));
  r.back().schema.name = r.back().name = "torch.sym_ite";
  return r;
}

// -------------------------------------------------------------------------------------------------------------- tuples

const Node& tuple_of(const Call& call) {
  const Node* node = call.arg(0).node();
  if (!node || node->type.kind != Type::Kind::Tuple) reject(call, "expected a tuple");
  return *node;
}

size_t part_of(const Call& call) {
  const auto n = static_cast<int64_t>(tuple_of(call).type.parts.size());
  const int64_t i = call.constant(1);
  if (i < -n || i >= n)
    reject(call, "index " + std::to_string(i) + " is out of range for " + std::to_string(n) + " results");
  return static_cast<size_t>(i < 0 ? i + n : i);
}

Type getitem_type(const Call& call) { return tuple_of(call).type.parts[part_of(call)]; }
RefValue getitem_reference(const RefContext& c) {
  return std::get<std::vector<RefValue>>(c.value_of(&tuple_of(c.call)).value).at(part_of(c.call));
}

// ---------------------------------------------------------------------------------------------------------- assertions

RefValue nothing(const RefContext&) { return {}; }

/// What is known when the graph is made is checked then.
Type metadata_type(const Call& call) {
  const TensorType& t = tensor_type(call, 0);
  if (const auto d = call.dtype(3); d && *d != t.dtype)
    reject(call,
           "the program asserts type " + std::string(dtype_name(*d)) + ", found " + std::string(dtype_name(t.dtype)));
  if (!call.is_none(1)) require_same_shape(call, call.integers(1), t.shape, "what the program asserts and the tensor");
  return no_type(call);
}

void require(const RefContext& c, bool holds, size_t message) {
  if (holds) return;
  const bool said = message < c.call.size() && c.call.arg(message).as<std::string>();
  reject(c.call, said ? "assertion failed: " + c.call.string(message) : "assertion failed");
}

/// The value must lie in [min, max].
RefValue range_reference(const RefContext& c) {
  const int64_t v = scalar_int(c, 0);
  int64_t lo = std::numeric_limits<int64_t>::min(), hi = std::numeric_limits<int64_t>::max();
  const auto& params = c.call.op().schema.params;
  for (size_t i = 1; i < params.size(); ++i) {
    if (c.call.is_none(i)) continue;
    if (params[i].name == "min") lo = c.integer(i);
    if (params[i].name == "max") hi = c.integer(i);
  }
  if (v < lo || v > hi)
    reject(c.call,
           "size " + std::to_string(v) + " is outside [" + std::to_string(lo) + ", " + std::to_string(hi) + "]");
  return {};
}

Rows assertions() {
  const auto check = [](const char* schema, ShapeRule type, Reference reference, const char* doc) {
    return OpDef(schema, OpClass::Assertion, trait::SideEffect, Promotion::None, type, reference, nullptr, kNone,
                 NoLowering{}, "", doc);
  };
  const Reference truth = [](const RefContext& c) -> RefValue {
    require(c, scalar_value(c, 0) != 0, 1);
    return {};
  };
  Rows r;
  r.push_back(check(
      "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, "
      "Device? device=None, Layout? layout=None) -> ()",
      metadata_type, nothing, "shape and type are as asserted"));
  r.push_back(check("aten::_assert_async(Tensor self) -> ()", no_type, truth, "the element is true"));
  r.push_back(
      check("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", no_type, truth, "the element is true"));
  r.push_back(check(
      "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()", no_type,
      [](const RefContext& c) -> RefValue {
        const Tensor info = c.tensor(0).contiguous();
        for (int64_t i = 0; i < info.numel(); ++i)
          if (info.int_at(i) != 0) reject(c.call, c.call.string(1) + ": the factorisation failed");
        return {};
      },
      "no factorisation failed"));
  r.push_back(check("aten::_assert_scalar(Scalar self, str assert_msg) -> ()", no_type, truth, "the number is true"));
  for (const char* schema : {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()",
                             "aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()"})
    r.push_back(check(schema, no_type, range_reference, "a size lies in a range"));
  return r;
}

}  // namespace

std::vector<OpDef> symbolic() {
  Rows rows;
  for (auto part : {sizes_rows, operators, functions, extrema, choices, assertions}) append(rows, part());
  rows.push_back(
      sym_row("_operator::getitem(Any a, int b) -> Any", getitem_type, getitem_reference, "a part of a tuple"));
  rows.back().schema.name = rows.back().name = "_operator.getitem";
  return rows;
}

}  // namespace strata::ops
