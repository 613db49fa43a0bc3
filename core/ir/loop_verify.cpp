// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <utility>

#include "core/ir/loop.h"
#include "core/support/error.h"

namespace strata::loop {

namespace {

constexpr size_t kNoNest = SIZE_MAX;

bool only_float(ScalarOp op) {
  if (op >= ScalarOp::Sqrt && op <= ScalarOp::Erfc) return true;
  switch (op) {
    case ScalarOp::Sigmoid:
    case ScalarOp::Reciprocal:
    case ScalarOp::IsNan:
    case ScalarOp::IsInf:
    case ScalarOp::Atan2:
    case ScalarOp::Fma:
      return true;
    default:
      return false;
  }
}

bool only_integral(ScalarOp op) { return op == ScalarOp::Not || (op >= ScalarOp::And && op <= ScalarOp::Shr); }

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : k_(kernel), defined_in_(kernel.scalars.size(), kNoNest) {}

  void run() {
    check_axes();
    check_buffers();
    check_sizes();
    for (nest_ = 0; nest_ < k_.nests.size(); ++nest_) check_nest(k_.nests[nest_]);
  }

 private:
  void check_axes() {
    std::set<size_t> symbols;
    for (const Axis& axis : k_.axes) {
      if (!symbols.insert(axis.symbol).second) fail("axis '" + axis.name + "' shares its symbol with another axis");
      axis_symbols_.insert(axis.symbol);
    }
    std::set<AxisId> used;
    for (AxisId a : k_.outer) check_axis(a, used);
    scope_.clear();
    for (const Axis& axis : k_.axes) check_expression(axis.extent, "extent of axis '" + axis.name + "'");
    for (AxisId a : k_.outer) scope_.insert(k_.axes[a].symbol);
  }

  void check_axis(AxisId axis, std::set<AxisId>& used) {
    if (axis >= k_.axes.size()) fail("axis " + std::to_string(axis) + " does not exist");
    if (!used.insert(axis).second) fail("axis '" + k_.axes[axis].name + "' is used twice");
  }

  void check_buffers() {
    for (const Buffer& b : k_.buffers) {
      if (!is_loop_dtype(b.dtype)) fail("buffer '" + b.name + "' has dtype " + std::string(dtype_name(b.dtype)));
    }
  }

  void check_sizes() {
    std::set<size_t> sizes;
    for (size_t s : k_.symbols) {
      if (!sizes.insert(s).second) fail("size symbol " + std::to_string(s) + " is listed twice");
    }
  }

  void check_nest(const Nest& nest) {
    std::set<AxisId> used(k_.outer.begin(), k_.outer.end());
    for (AxisId a : nest.axes) check_axis(a, used);
    for (AxisId a : nest.axes) scope_.insert(k_.axes[a].symbol);
    if (nest.scan && nest.axes.size() != 1)
      fail("a scan runs over one axis, found " + std::to_string(nest.axes.size()));
    if (!nest.reductions.empty() && nest.axes.empty()) fail("reductions need inner axes");
    for (ScalarId id : nest.body) check_scalar(id);
    current_ = "reductions";
    for (const Reduction& r : nest.reductions) check_reduction(r);
    current_ = "stores";
    for (const Store& s : nest.stores) check_store(nest, s);
    for (AxisId a : nest.axes) scope_.erase(k_.axes[a].symbol);
  }

  void check_scalar(ScalarId id) {
    current_ = "%" + std::to_string(id);
    if (id >= k_.scalars.size()) fail("no such instruction");
    const Scalar& s = k_.scalars[id];
    current_ += " (" + std::string(to_string(s.op)) + ")";
    if (defined_in_[id] != kNoNest) fail("instruction stands in two places");
    if (!is_loop_dtype(s.dtype)) fail("dtype " + std::string(dtype_name(s.dtype)) + " cannot be computed in");
    check_operation(s);
    defined_in_[id] = nest_;
  }

  void check_operation(const Scalar& s) {
    switch (s.op) {
      case ScalarOp::Const:
        return;
      case ScalarOp::Index:
        if (s.dtype != DType::I64) fail("an index is int64");
        return check_expression(s.index, "index");
      case ScalarOp::Load:
        return check_load(s);
      case ScalarOp::Reduced:
        return check_reduced(s);
      case ScalarOp::Cast:
        return check_operand(s.a);
      case ScalarOp::Bitcast:
        check_operand(s.a);
        if (dtype_size(type(s.a)) != dtype_size(s.dtype)) fail("bitcast between sizes");
        return;
      case ScalarOp::Select:
        check_operand(s.a);
        expect_type(s.a, DType::Bool);
        check_operand(s.b);
        check_operand(s.c);
        expect_type(s.b, s.dtype);
        return expect_type(s.c, s.dtype);
      case ScalarOp::Check:
        return check_check(s);
      default:
        check_arithmetic(s);
    }
  }

  void check_check(const Scalar& s) {
    for (const ScalarId operand : {s.a, s.b, s.c}) check_operand(operand);
    expect_type(s.a, s.dtype);
    expect_type(s.b, DType::Bool);
    expect_type(s.c, s.dtype);
    if (!is_integral(s.dtype)) fail("checks are of integers");
    if (k_.scalars[s.c].op != ScalarOp::Const) fail("a check needs a constant instead");
    if (s.integer < 0 || static_cast<size_t>(s.integer) >= k_.checks.size()) fail("no such check");
    if (k_.checks[static_cast<size_t>(s.integer)].kind == Check::Kind::Index) expect_type(s.a, DType::I64);
  }

  void check_arithmetic(const Scalar& s) {
    check_operand(s.a);
    DType t = type(s.a);
    if (is_reduced_float(t)) fail("16-bit floats are not computed in: widen first");
    if (only_float(s.op) && !is_floating(t)) fail("needs floats, found " + std::string(dtype_name(t)));
    if (only_integral(s.op) && is_floating(t)) fail("needs integers or bool, found " + std::string(dtype_name(t)));
    bool to_bool = is_comparison(s.op) || s.op == ScalarOp::IsNan || s.op == ScalarOp::IsInf;
    DType result = to_bool ? DType::Bool : t;
    if (s.dtype != result) {
      fail("result is " + std::string(dtype_name(s.dtype)) + ", expected " + std::string(dtype_name(result)));
    }
    if (is_unary(s.op)) return;
    check_operand(s.b);
    expect_type(s.b, t);
    if (s.op != ScalarOp::Fma) return;
    check_operand(s.c);
    expect_type(s.c, t);
  }

  void check_load(const Scalar& s) {
    if (s.buffer >= k_.buffers.size()) fail("buffer " + std::to_string(s.buffer) + " does not exist");
    DType stored = k_.buffers[s.buffer].dtype;
    if (s.dtype != compute_dtype(stored)) fail("a load from '" + k_.buffers[s.buffer].name + "' has the wrong dtype");
    check_expression(s.index, "index");
    check_mask(s.a);
  }

  void check_reduced(const Scalar& s) {
    if (s.a > nest_ || (s.a == nest_ && !k_.nests[nest_].scan)) {
      fail("the result of nest " + std::to_string(s.a) + " is not known yet");
    }
    if (s.b >= k_.nests[s.a].reductions.size()) fail("reduction " + std::to_string(s.b) + " does not exist");
    const Reduction& r = k_.nests[s.a].reductions[s.b];
    if (s.integer < 0 || static_cast<size_t>(s.integer) >= result_count(r.combine)) fail("no such result");
    bool position = s.integer == 1 && (r.combine == Combine::ArgMax || r.combine == Combine::ArgMin);
    if (s.dtype != (position ? DType::I64 : r.dtype)) fail("wrong dtype of a reduction's result");
  }

  void check_reduction(const Reduction& r) {
    check_operand(r.value);
    expect_type(r.value, r.dtype);
    if (is_reduced_float(r.dtype)) fail("16-bit floats are not accumulated in");
    bool arg = r.combine == Combine::ArgMax || r.combine == Combine::ArgMin;
    if (arg != (r.position != kNone)) fail("exactly argmax and argmin have a position");
    if (arg) {
      check_operand(r.position);
      expect_type(r.position, DType::I64);
    }
    if ((r.combine == Combine::Welford || r.combine == Combine::SumExp) && !is_floating(r.dtype))
      fail(std::string(to_string(r.combine)) + " needs floats");
    if ((r.combine == Combine::Any || r.combine == Combine::All) && r.dtype != DType::Bool)
      fail("any and all need bool");
    bool arithmetic = r.combine == Combine::Sum || r.combine == Combine::Prod;
    if (arithmetic && r.dtype == DType::Bool) fail("bool is not summed");
    check_mask(r.mask);
  }

  void check_store(const Nest& nest, const Store& s) {
    if (s.buffer >= k_.buffers.size()) fail("buffer " + std::to_string(s.buffer) + " does not exist");
    const Buffer& b = k_.buffers[s.buffer];
    if (b.role == BufferRole::Input) fail("store to the input '" + b.name + "'");
    check_operand(s.value);
    if (type(s.value) != b.dtype && type(s.value) != compute_dtype(b.dtype)) {
      fail("store to '" + b.name + "' of " + std::string(dtype_name(type(s.value))) + ", expected " +
           std::string(dtype_name(b.dtype)));
    }
    if (s.accumulate && b.dtype == DType::Bool) fail("bool is not accumulated");
    check_expression(s.index, "index of the store to '" + b.name + "'");
    check_mask(s.mask);
    if (!s.accumulate) check_conflict(nest, s);
  }

  /// Two unmasked stores of one nest to the same place: the order would decide.
  void check_conflict(const Nest& nest, const Store& s) {
    for (const Store& other : nest.stores) {
      if (&other == &s) return;
      bool unmasked = other.mask == kNone && s.mask == kNone;
      if (unmasked && other.buffer == s.buffer && other.index == s.index) {
        fail("two stores to '" + k_.buffers[s.buffer].name + "[" + s.index.str() + "]'");
      }
    }
  }

  void check_mask(ScalarId mask) {
    if (mask == kNone) return;
    check_operand(mask);
    expect_type(mask, DType::Bool);
  }

  void check_operand(ScalarId id) {
    if (id == kNone) fail("operand missing");
    if (id >= k_.scalars.size()) fail("operand %" + std::to_string(id) + " does not exist");
    size_t nest = defined_in_[id];
    if (nest == kNoNest) fail("%" + std::to_string(id) + " is used before its definition");
    if (nest != nest_ && !k_.nests[nest].axes.empty()) {
      fail("%" + std::to_string(id) + " of nest " + std::to_string(nest) +
           " has an inner axis and is not visible here");
    }
  }

  void check_expression(const SymInt& e, const std::string& what) {
    for (size_t symbol : free_symbols(e)) {
      if (axis_symbols_.contains(symbol)) {
        if (!scope_.contains(symbol))
          fail(what + ": axis symbol " + std::to_string(symbol) + " is out of scope in '" + e.str() + "'");
      } else if (auto it = k_.indirect.find(symbol); it != k_.indirect.end()) {
        check_operand(it->second);
        if (!is_integral(type(it->second))) fail(what + ": indirect symbol is not an integer");
      } else if (std::find(k_.symbols.begin(), k_.symbols.end(), symbol) == k_.symbols.end()) {
        fail(what + ": '" + e.str() + "' uses a symbol that is neither axis, size nor indirect");
      }
    }
  }

  DType type(ScalarId id) const { return k_.scalars[id].dtype; }
  void expect_type(ScalarId id, DType expected) {
    if (type(id) == expected) return;
    fail("%" + std::to_string(id) + " is " + std::string(dtype_name(type(id))) + ", expected " +
         std::string(dtype_name(expected)));
  }

  [[noreturn]] void fail(const std::string& what) const {
    std::string where = "loop kernel '" + k_.name + "'";
    if (nest_ < k_.nests.size()) where += ", nest " + std::to_string(nest_);
    if (!current_.empty()) where += ", " + current_;
    throw_internal(where + ": " + what);
  }

  const Kernel& k_;
  std::vector<size_t> defined_in_;
  std::set<size_t> axis_symbols_, scope_;
  size_t nest_ = kNoNest;
  std::string current_;
};

}  // namespace

void verify_loop(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace strata::loop
