// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tensors made of nothing. `full` and `arange` are primitive; zeros, ones, *_like, new_* become `full`.

#include <limits>

#include "core/ir/aliasing.h"
#include "core/ir/ops/indexing.h"

namespace strata::ops {
namespace {

constexpr auto kNone = NoGradient::Nondifferentiable;
const std::string kOptions = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";

std::string device_of(const Call& call) {
  if (const auto p = param(call, "device"))
    if (const auto* d = call.arg(*p).as<DeviceArg>()) return d->name;
  return is_tensor(call, 0) ? tensor_type(call, 0).device : "cpu";
}

/// torch's type of a Python number.
DType number_dtype(const Argument& a) {
  if (a.as<bool>()) return DType::Bool;
  if (a.as<double>()) return DType::F32;
  const Node* n = a.node();
  return n && n->type.kind == Type::Kind::SymFloat ? DType::F32 : DType::I64;
}

std::vector<SymInt> checked_sizes(const Call& call, std::vector<SymInt> shape) {
  for (const SymInt& s : shape) require_at_least(call, s, 0, "size");
  return shape;
}

// ---------------------------------------------------------------------------------------------------------------- full

Type full_type(const Call& call) {
  return Type::of(given_dtype(call).value_or(number_dtype(call.arg(1))), checked_sizes(call, call.integers(0)),
                  device_of(call));
}

template <class T>
void fill(const Tensor& t, T value) {
  const int64_t n = t.numel();
  for (int64_t i = 0; i < n; ++i) t.ptr<T>()[i] = value;
}

RefValue full_reference(const RefContext& c) {
  Tensor out = c.result();
  if (out.numel() == 0) return out;
  if (is_floating(out.dtype))
    out.set(0, scalar_value(c, 1));
  else if (out.dtype == DType::Bool)
    out.set_int(0, scalar_is_int(c, 1) ? scalar_int(c, 1) != 0 : scalar_value(c, 1) != 0);
  else
    out.set_int(0, scalar_as<int64_t>(c, 1));
  switch (dtype_size(out.dtype)) {
    case 1:
      fill(out, out.ptr<uint8_t>()[0]);
      break;
    case 2:
      fill(out, out.ptr<uint16_t>()[0]);
      break;
    case 4:
      fill(out, out.ptr<uint32_t>()[0]);
      break;
    default:
      fill(out, out.ptr<uint64_t>()[0]);
      break;
  }
  return out;
}

ScalarId full_body(const IndexedCall& c) {
  return body_number(c.body, c.call, 1, compute_dtype(c.call.node().type.tensor.dtype));
}

/// What a `full`-like row fills with.
enum class Value : uint8_t { Zero, One, Given };

template <Value V>
Argument fill_value(const Call& call) {
  if (V == Value::Zero) return 0;
  if (V == Value::One) return 1;
  return call.arg(*param(call, "fill_value"));
}

/// zeros(size), zeros_like(self), new_zeros(self, size): the sizes given, else those of self.
template <Value V>
Type filled_type(const Call& call) {
  const auto size = param(call, "size");
  const bool like = is_tensor(call, 0);
  const DType dtype = given_dtype(call).value_or(like                ? tensor_type(call, 0).dtype
                                                 : V == Value::Given ? number_dtype(fill_value<V>(call))
                                                                     : DType::F32);
  if (const auto stride = param(call, "stride")) {
    const auto steps = call.integers(*stride);
    if (steps.size() != call.integers(*size).size()) reject(call, "size and stride must have as many elements");
    for (const SymInt& s : steps) require_at_least(call, s, 0, "stride");
  }
  return Type::of(dtype, size ? checked_sizes(call, call.integers(*size)) : tensor_type(call, 0).shape,
                  device_of(call));
}

template <Value V>
std::vector<Node*> filled(Builder& b, const Call& c) {
  const TensorType t = filled_type<V>(c).tensor;
  return {b.call("aten.full.default", {sizes(t.shape), fill_value<V>(c)},
                 {{"dtype", t.dtype}, {"device", DeviceArg{t.device}}})};
}

template <Value V>
OpDef filled_row(const std::string& schema, const char* doc) {
  return OpDef(schema, OpClass::Compound, 0, Promotion::None, filled_type<V>, nullptr, filled<V>, kNone, NoLowering{},
               "", doc);
}

Rows fills() {
  Rows r;
  r.push_back(OpDef("aten::full(SymInt[] size, Scalar fill_value, *, " + kOptions + ") -> Tensor", OpClass::Creation, 0,
                    Promotion::None, full_type, full_reference, nullptr, kNone, Lowering(IndexedBody(full_body)), "",
                    "a tensor of one value"));
  const std::string like = "MemoryFormat? memory_format=None) -> Tensor", plain = kOptions + ") -> Tensor";
  const char* fresh = "fresh memory; zeros here, so that results never depend on it";
  r.push_back(filled_row<Value::Zero>("aten::zeros(SymInt[] size, *, " + plain, "a tensor of zeros"));
  r.push_back(filled_row<Value::One>("aten::ones(SymInt[] size, *, " + plain, "a tensor of ones"));
  r.push_back(filled_row<Value::Zero>("aten::empty.memory_format(SymInt[] size, *, " + kOptions + ", " + like, fresh));
  r.push_back(filled_row<Value::Zero>("aten::empty_strided(SymInt[] size, SymInt[] stride, *, " + plain, fresh));
  r.push_back(filled_row<Value::Zero>("aten::zeros_like(Tensor self, *, " + kOptions + ", " + like,
                                      "zeros of the operand's shape and type"));
  r.push_back(filled_row<Value::One>("aten::ones_like(Tensor self, *, " + kOptions + ", " + like,
                                     "ones of the operand's shape and type"));
  r.push_back(filled_row<Value::Zero>("aten::empty_like(Tensor self, *, " + kOptions + ", " + like, fresh));
  r.push_back(filled_row<Value::Given>("aten::full_like(Tensor self, Scalar fill_value, *, " + kOptions + ", " + like,
                                       "one value in the operand's shape and type"));
  r.push_back(filled_row<Value::Zero>("aten::new_zeros(Tensor self, SymInt[] size, *, " + plain,
                                      "zeros of the operand's type"));
  r.push_back(
      filled_row<Value::One>("aten::new_ones(Tensor self, SymInt[] size, *, " + plain, "ones of the operand's type"));
  r.push_back(filled_row<Value::Zero>("aten::new_empty(Tensor self, SymInt[] size, *, " + plain, fresh));
  r.push_back(filled_row<Value::Zero>(
      "aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, " + plain, fresh));
  r.push_back(filled_row<Value::Given>("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, " + plain,
                                       "one value in the operand's type"));
  return r;
}

// --------------------------------------------------------------------------------------------------------- fills of an
// operand

Type scalar_tensor_type(const Call& call) {
  return Type::of(
      given_dtype(call).value_or(number_dtype(call.arg(0)) == DType::Bool ? DType::Bool : number_dtype(call.arg(0))),
      {}, device_of(call));
}
std::vector<Node*> scalar_tensor(Builder& b, const Call& c) {
  const TensorType t = scalar_tensor_type(c).tensor;
  return {b.call("aten.full.default", {sizes({}), c.arg(0)}, {{"dtype", t.dtype}, {"device", DeviceArg{t.device}}})};
}

std::vector<Node*> fill_number(Builder& b, const Call& c) {
  const TensorType& t = c.type(0);
  const auto full = [&](const std::vector<SymInt>& shape) {
    return b.call("aten.full.default", {sizes(shape), c.arg(1)}, {{"dtype", t.dtype}, {"device", DeviceArg{t.device}}});
  };
  const auto order = memory_order(t);
  if (!order || std::is_sorted(order->begin(), order->end())) return {full(t.shape)};
  return {in_own_memory(b, b.expand(full({}), t.shape), t)};
}
/// self's shape and type with the elements of operand 1.
std::vector<Node*> fill_tensor(Builder& b, const Call& c) {
  return {in_own_memory(b, b.expand(b.cast(c.tensor(1), c.type(0).dtype), c.type(0).shape), c.type(0))};
}
Type fill_tensor_type(const Call& call) {
  const auto& shape = tensor_type(call, 0).shape;
  if (broadcast(shape, tensor_type(call, 1).shape, call.node()).size() != shape.size())
    reject(call, "the source has more dimensions than the destination");
  return same_type(call);
}

Rows operand_fills() {
  Rows r;
  r.push_back(OpDef("aten::scalar_tensor(Scalar s, *, " + kOptions + ") -> Tensor", OpClass::Compound, 0,
                    Promotion::None, scalar_tensor_type, nullptr, scalar_tensor, kNone, NoLowering{}, "",
                    "a number as a 0-dimensional tensor"));
  r.push_back(compound("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", 0, same_type, fill_number,
                       "self's shape filled with a number"));
  r.push_back(compound("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", 0, fill_tensor_type, fill_tensor,
                       "self's shape filled with a 0-dimensional tensor"));
  r.push_back(compound("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", 0, fill_tensor_type,
                       fill_tensor, "src in self's shape and type"));
  r.push_back(compound(
      "aten::zero(Tensor self) -> Tensor", 0, same_type,
      [](Builder& b, const Call& c) -> std::vector<Node*> { return {b.call("aten.fill.Scalar", {c.tensor(0), 0})}; },
      "zeros in self's shape"));
  return r;
}

// -------------------------------------------------------------------------------------------------------------- arange

/// Positions of start, end and step among the parameters; -1: not there (0 and 1).
struct Progression {
  int start, end, step;
};
Progression progression(const Call& call) {
  const auto at = [&](const char* name) {
    const auto p = param(call, name);
    return p ? static_cast<int>(*p) : -1;
  };
  return {at("start"), at("end"), at("step")};
}

bool integral(const Call& call, int i) { return i < 0 || number_dtype(call.arg(static_cast<size_t>(i))) != DType::F32; }
bool all_integral(const Call& call) {
  const Progression p = progression(call);
  return integral(call, p.start) && integral(call, p.end) && integral(call, p.step);
}
/// A float that is a whole number; none for others, and for what is no float.
std::optional<int64_t> whole_float(const Call& call, int i) {
  const auto* x = i < 0 ? nullptr : call.arg(static_cast<size_t>(i)).as<double>();
  return x && std::abs(*x) < 0x1p53 && *x == std::trunc(*x) ? std::optional(static_cast<int64_t>(*x)) : std::nullopt;
}
/// Whether the progression is one of integers, whatever the type of the result: also where floats that are whole
/// numbers stand beside sizes that only a run tells, as in `arange(n, -n, -1.0)`.
bool in_integers(const Call& call) {
  if (all_integral(call)) return true;
  const Progression p = progression(call);
  bool symbolic = false;
  for (int i : {p.start, p.end, p.step}) {
    if (!integral(call, i) && !whole_float(call, i)) return false;
    const Argument* a = i < 0 ? nullptr : &call.arg(static_cast<size_t>(i));
    symbolic |= a && (a->node() || a->as<SymInt>());
  }
  return symbolic;
}
SymInt int_or(const Call& call, int i, int64_t otherwise) {
  if (i < 0) return otherwise;
  const auto whole = whole_float(call, i);
  return whole ? SymInt(*whole) : call.integer(static_cast<size_t>(i));
}
double number_or(const Call& call, int i, double otherwise) {
  return i < 0 ? otherwise : call.number(static_cast<size_t>(i));
}

/// ceil((end - start) / step) for a size `end` and floats that have few binary digits, so that float64 tells it
/// exactly, or on the right side of the next whole number; nothing where the end is no size.
std::optional<SymInt> length_to_size(const Call& call, const Progression& p) {
  if (!call.is_integer_scalar(static_cast<size_t>(p.end)) || given_dtype(call) == DType::I64) return {};
  const SymInt end = call.integer(static_cast<size_t>(p.end));
  const double start = number_or(call, p.start, 0), step = number_or(call, p.step, 1);
  const auto first = start == 0 ? std::pair(int64_t{0}, int64_t{1})
                                : short_fraction(std::abs(start)).value_or(std::pair(int64_t{0}, int64_t{0}));
  const auto by = short_fraction(std::abs(step));
  constexpr int64_t kMost = 1 << 18;
  if (end.is_const() || !by || first.second == 0 || by->first > kMost || first.second > kMost / by->first) return {};
  const SymInt distance =
      (end * SymInt(first.second) - SymInt(start < 0 ? -first.first : first.first)) * SymInt(by->second);
  return ceildiv(step < 0 ? SymInt(0) - distance : distance, SymInt(first.second * by->first));
}

SymInt arange_length(const Call& call) {
  const Progression p = progression(call);
  if (!in_integers(call)) {
    if (const auto length = length_to_size(call, p)) return *length;
    // PyTorch counts in the type of the result where that is int64, and in float64 for narrower integers.
    const bool whole = given_dtype(call) == DType::I64;
    const auto number = [&](int i, double otherwise) {
      const double x = number_or(call, i, otherwise);
      return whole ? std::trunc(x) : x;
    };
    const double n = std::ceil((number(p.end, 0) - number(p.start, 0)) / number(p.step, 1));
    if (!(n >= 0 && n < 1e15)) reject(call, "start, end and step do not make a progression");
    return static_cast<int64_t>(n);
  }
  const SymInt step = int_or(call, p.step, 1), distance = int_or(call, p.end, 0) - int_or(call, p.start, 0);
  if (!step.is_const() || step.value() == 0) reject(call, "step must be a constant other than 0");
  require_at_least(call, step.value() > 0 ? distance : SymInt(0) - distance, 0,
                   "distance from start to end in the direction of step");
  return step == SymInt(1)  ? distance
         : step.value() > 0 ? ceildiv(distance, step)
                            : ceildiv(SymInt(0) - distance, SymInt(0) - step);
}

Type arange_type(const Call& call) {
  return Type::of(given_dtype(call).value_or(all_integral(call) ? DType::I64 : DType::F32), {arange_length(call)},
                  device_of(call));
}

/// Start and step of a progression of floats; where the result is integral both lose their fractions first.
std::pair<double, double> float_progression(const Call& call) {
  const Progression p = progression(call);
  const double start = number_or(call, p.start, 0), step = number_or(call, p.step, 1);
  if (is_floating(given_dtype(call).value_or(DType::F32))) return {start, step};
  return {std::trunc(start), std::trunc(step)};
}

RefValue arange_reference(const RefContext& c) {
  const Progression p = progression(c.call);
  Tensor out = c.result();
  const int64_t n = out.numel();
  if (in_integers(c.call)) {
    const int64_t start = c.eval(int_or(c.call, p.start, 0)), step = c.eval(int_or(c.call, p.step, 1));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t value = wrap_add(start, wrap_mul(i, step));
      is_floating(out.dtype) ? out.set(i, static_cast<double>(value)) : out.set_int(i, value);
    }
  } else {
    const auto [start, step] = float_progression(c.call);
    for (int64_t i = 0; i < n; ++i) out.set(i, start + static_cast<double>(i) * step);
  }
  return out;
}

/// Floats are computed in double and rounded once, as PyTorch does on the CPU.
ScalarId arange_body(const IndexedCall& c) {
  Body& b = c.body;
  const Progression p = progression(c.call);
  const DType dtype = compute_dtype(c.call.node().type.tensor.dtype);
  if (in_integers(c.call))
    return b.cast(b.index(int_or(c.call, p.start, 0) + c.index[0] * int_or(c.call, p.step, 1)), dtype);
  const auto [start, step] = float_progression(c.call);
  const ScalarId scaled =
      b.binary(ScalarOp::Mul, b.cast(b.index(c.index[0]), DType::F64), b.constant(step, DType::F64));
  return b.cast(b.binary(ScalarOp::Add, b.constant(start, DType::F64), scaled), dtype);
}

Rows aranges() {
  Rows r;
  for (const char* head : {"aten::arange(Scalar end", "aten::arange.start(Scalar start, Scalar end",
                           "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1"})
    r.push_back(OpDef(head + std::string(", *, ") + kOptions + ") -> Tensor", OpClass::Creation, 0, Promotion::None,
                      arange_type, arange_reference, nullptr, kNone, Lowering(IndexedBody(arange_body)), "",
                      "start, start + step, ... below end"));
  r.push_back(OpDef(
      "prims::iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) "
      "-> Tensor",
      OpClass::Compound, 0, Promotion::None,
      [](const Call& c) { return Type::of(*c.dtype(3), {c.integer(0)}, device_of(c)); }, nullptr,
      [](Builder& b, const Call& c) -> std::vector<Node*> {
        const SymInt end = c.integer(1) + c.integer(0) * c.integer(2);
        return {b.call("aten.arange.start_step", {integer(c.integer(1)), integer(end), integer(c.integer(2))},
                       {{"dtype", *c.dtype(3)}})};
      },
      kNone, NoLowering{}, "", "an arithmetic progression of given length"));
  return r;
}

}  // namespace

Rows creations() {
  Rows rows;
  for (auto part : {fills, operand_fills, aranges}) append(rows, part());
  return rows;
}

}  // namespace strata::ops
