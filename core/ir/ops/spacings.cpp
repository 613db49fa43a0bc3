// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers spaced evenly between two ends, or powers with evenly spaced exponents. The ends are numbers or 0-dimensional
// tensors, and become elements of the result before anything is computed. And windows: functions of such numbers.

#include <algorithm>
#include <limits>
#include <numbers>

#include "core/ir/ops/indexing.h"

namespace strata::ops {
namespace {

constexpr auto kNone = NoGradient::Nondifferentiable;

DType spaced_dtype(const Call& call) {
  if (const auto given = given_dtype(call)) return *given;
  const auto is_complex_end = [&](size_t i) {
    return is_tensor(call, i) ? is_complex(tensor_type(call, i).dtype)
                              : call.arg(i).as<std::complex<double>>() != nullptr;
  };
  return is_complex_end(0) || is_complex_end(1) ? DType::C64 : DType::F32;
}

Type spaced_type(const Call& call) {
  const SymInt steps = call.integer(2);
  if (known_lt(steps, 0)) reject(call, "number of steps must be non-negative");
  for (size_t i = 0; i < 2; ++i)
    if (is_tensor(call, i) && !tensor_type(call, i).shape.empty())
      reject(call, "only 0-dimensional start and end tensors are supported, found " +
                       std::to_string(tensor_type(call, i).shape.size()) + " dimensions");
  return Type::of(spaced_dtype(call), {steps}, "cpu");
}

// ------------------------------------------------------------------------------------------------------------ linspace

/// An end in float64, after its conversion to the result's type.
Node* bound(Builder& b, const Call& c, size_t i, DType d) {
  if (is_tensor(c, i)) return b.cast(b.cast(c.tensor(i), d), DType::F64);
  const double value = is_integral(d) ? std::trunc(c.number(i)) : c.number(i);
  return b.call("aten.full.default", {sizes({}), value}, {{"dtype", DType::F64}});
}

/// start + i * (end - start) / (steps - 1), from both ends towards the middle as PyTorch does.
std::vector<Node*> linspace(Builder& b, const Call& c) {
  const int64_t n = c.constant(2);
  const DType d = spaced_dtype(c);
  Node* start = bound(b, c, 0, d);
  Node* end = bound(b, c, 1, d);
  Node* step = b.div(b.sub(end, start), static_cast<double>(std::max<int64_t>(n - 1, 1)));
  Node* i = b.call("aten.arange.default", {n});
  Node* from_start = b.add(b.mul(b.cast(i, DType::F64), step), start);
  Node* left = b.cast(b.call("aten.rsub.Scalar", {i, n - 1}), DType::F64);
  Node* from_end = b.sub(end, b.mul(left, step));
  Node* first = b.call("aten.lt.Scalar", {i, n == 1 ? 1 : n / 2});
  return {b.cast(b.call("aten.where.self", {first, from_start, from_end}), d)};
}

// ------------------------------------------------------------------------------------------------------------ logspace

/// What the machine makes of a double as an integer: the smallest one where it does not fit.
int64_t machine_integer(DType d, double x) {
  const bool wide = d == DType::I64;
  const double limit = wide ? 0x1p63 : 0x1p31;
  if (!(x > -limit - (wide ? 0 : 1) && x < limit))
    return wide ? std::numeric_limits<int64_t>::min() : int64_t{std::numeric_limits<int32_t>::min()};
  return static_cast<int64_t>(x);
}

RefValue logspace_reference(const RefContext& c) {
  Tensor out = c.result();
  const bool integral = is_integral(out.dtype);
  const auto end_of = [&](size_t i) {
    Tensor t = Tensor::empty(out.dtype, {});
    const double value = is_tensor(c.call, i) ? c.tensor(i).at(0) : c.call.number(i);
    if (integral)
      t.set_int(0, static_cast<int64_t>(value));
    else
      t.set(0, value);
    return t.at(0);
  };
  const double start = end_of(0), end = end_of(1), base = c.call.number(3);
  const int64_t n = out.numel();
  if (n == 1) {  // of the end as it was given
    const double power = std::pow(base, is_tensor(c.call, 0) ? c.tensor(0).at(0) : c.call.number(0));
    integral ? out.set_int(0, machine_integer(out.dtype, power)) : out.set(0, power);
    return out;
  }
  Tensor distance = Tensor::empty(integral ? DType::F64 : out.dtype, {});
  distance.set(0, end - start);
  const double step = distance.at(0) / static_cast<double>(std::max<int64_t>(n - 1, 1));
  for (int64_t i = 0; i < n; ++i) {
    const bool first = i < n / 2;
    const double exponent = first ? start + step * static_cast<double>(i) : end - step * static_cast<double>(n - 1 - i);
    if (integral)
      out.set_int(i, machine_integer(out.dtype, std::pow(base, exponent)));
    else
      out.set(i, std::pow(base, exponent));
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------------- windows

/// Number `i` of a window's own, after its length and whether it is periodic.
double shape_number(const Call& call, size_t i, double otherwise) {
  return call.op().schema.params.size() > i && !call.op().schema.params[i].keyword_only ? call.number(i) : otherwise;
}

/// Values of a window at places from 0 to `last`, by PyTorch's `TensorFactories.cpp`.
Node* window_at(Builder& b, const Call& c, Node* place, double last) {
  const std::string_view name = c.op().name;
  const auto cosine = [&](double times) {
    return b.call("aten.cos.default", {b.mul(place, times * std::numbers::pi / last)});
  };
  if (name.starts_with("aten.bartlett")) {
    Node* rising = b.mul(place, 2 / last);
    return b.call("aten.minimum.default", {rising, b.call("aten.rsub.Scalar", {rising, 2})});
  }
  if (name.starts_with("aten.blackman")) return b.add(b.sub(b.mul(cosine(4), 0.08), b.mul(cosine(2), 0.5)), 0.42);
  if (name.starts_with("aten.kaiser")) {
    const double beta = shape_number(c, 2, 12.0);
    Node* from_middle = b.sub(b.mul(place, 2 / last), 1);
    Node* inside =
        b.call("aten.clamp_min.default", {b.call("aten.rsub.Scalar", {b.mul(from_middle, from_middle), 1}), 0});
    const auto bessel = [&](Node* x) { return b.call("aten.i0.default", {x}); };
    Node* height = bessel(b.call("aten.full.default", {sizes({}), beta}, {{"dtype", place->tensor().dtype}}));
    return b.div(bessel(b.mul(b.call("aten.sqrt.default", {inside}), beta)), height);
  }
  const bool hann = name.starts_with("aten.hann");
  const double alpha = hann ? 0.5 : shape_number(c, 2, 0.54), beta = hann ? 0.5 : shape_number(c, 3, 0.46);
  return b.add(b.mul(cosine(2), -beta), alpha);
}

/// A periodic window is one of an element more without its last.
std::vector<Node*> window(Builder& b, const Call& c) {
  const int64_t length = c.constant(0);
  const auto& params = c.op().schema.params;
  const bool periodic = params.size() < 2 || params[1].keyword_only || c.boolean(1);
  const DType d = given_dtype(c).value_or(DType::F32);
  if (length < 0) reject(c, "window_length must not be negative, found " + std::to_string(length));
  if (!is_floating(d)) reject(c, "expected a floating-point type, found " + std::string(dtype_name(d)));
  if (length <= 1) return {b.call("aten.full.default", {int_list({length}), 1}, {{"dtype", d}})};
  Node* place = b.call("aten.arange.default", {length}, {{"dtype", compute_dtype(d)}});
  return {b.cast(window_at(b, c, place, static_cast<double>(periodic ? length : length - 1)), d)};
}

Rows windows() {
  const std::string options =
      ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  Rows r;
  const auto add = [&](const std::string& name, const std::string& overload, const std::string& more) {
    r.push_back(compound("aten::" + name + "_window" + overload + "(int window_length" + more + options, 0,
                         decomposed_type, window, "weights of a frame's elements"));
  };
  for (const char* name : {"bartlett", "blackman", "hamming", "hann", "kaiser"}) {
    add(name, "", "");
    add(name, ".periodic", ", bool periodic");
  }
  add("hamming", ".periodic_alpha", ", bool periodic, float alpha");
  add("hamming", ".periodic_alpha_beta", ", bool periodic, float alpha, float beta");
  add("kaiser", ".beta", ", bool periodic, float beta");
  return r;
}

}  // namespace

Rows spacings() {
  Rows r = windows();
  const std::string options =
      ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  const std::array<std::string, 4> heads{"(Scalar start, Scalar end", ".Tensor_Tensor(Tensor start, Tensor end",
                                         ".Tensor_Scalar(Tensor start, Scalar end",
                                         ".Scalar_Tensor(Scalar start, Tensor end"};
  for (const std::string& head : heads) {
    r.push_back(compound("aten::linspace" + head + ", int steps" + options, 0, spaced_type, linspace,
                         "evenly spaced numbers, both ends included"));
    r.push_back(OpDef("aten::logspace" + head + ", int steps, float base=10.0" + options, OpClass::Indexing, 0,
                      Promotion::None, spaced_type, logspace_reference, nullptr, kNone, KernelRule{"logspace"}, "",
                      "powers of a base whose exponents are evenly spaced, both ends included"));
  }
  return r;
}

}  // namespace strata::ops
