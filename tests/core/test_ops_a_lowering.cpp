// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Loop bodies, index maps and indexed bodies of the operator table, evaluated one result element at a time by a small
// evaluator of loop scalars, against PyTorch's values. Every load must be in bounds wherever its mask holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ir/loop_fold.h"
#include "core/support/error.h"
#include "tests/core/ops_cases.h"

namespace strata {
namespace {

using loop::Scalar;
using loop::ScalarId;
using loop::ScalarOp;
using testing::CaseGraph;
using testing::OpCase;

struct Value {
  DType dtype = DType::F32;
  double number = 0;
  int64_t integer = 0;
  bool floating() const { return is_floating(dtype); }
  bool truth() const { return floating() ? number != 0 : integer != 0; }
};

double float_unary(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::Neg:
      return -a;
    case ScalarOp::Abs:
      return std::fabs(a);
    case ScalarOp::Sqrt:
      return std::sqrt(a);
    case ScalarOp::Rsqrt:
      return 1 / std::sqrt(a);
    case ScalarOp::Exp:
      return std::exp(a);
    case ScalarOp::Exp2:
      return std::exp2(a);
    case ScalarOp::Expm1:
      return std::expm1(a);
    case ScalarOp::Log:
      return std::log(a);
    case ScalarOp::Log2:
      return std::log2(a);
    case ScalarOp::Log10:
      return std::log10(a);
    case ScalarOp::Log1p:
      return std::log1p(a);
    case ScalarOp::Sin:
      return std::sin(a);
    case ScalarOp::Cos:
      return std::cos(a);
    case ScalarOp::Tan:
      return std::tan(a);
    case ScalarOp::Asin:
      return std::asin(a);
    case ScalarOp::Acos:
      return std::acos(a);
    case ScalarOp::Atan:
      return std::atan(a);
    case ScalarOp::Sinh:
      return std::sinh(a);
    case ScalarOp::Cosh:
      return std::cosh(a);
    case ScalarOp::Tanh:
      return std::tanh(a);
    case ScalarOp::Asinh:
      return std::asinh(a);
    case ScalarOp::Acosh:
      return std::acosh(a);
    case ScalarOp::Atanh:
      return std::atanh(a);
    case ScalarOp::Erf:
      return std::erf(a);
    case ScalarOp::Erfc:
      return std::erfc(a);
    case ScalarOp::Floor:
      return std::floor(a);
    case ScalarOp::Ceil:
      return std::ceil(a);
    case ScalarOp::Round:
      return std::nearbyint(a);
    case ScalarOp::Trunc:
      return std::trunc(a);
    case ScalarOp::Sigmoid:
      return 1 / (1 + std::exp(-a));
    case ScalarOp::Reciprocal:
      return 1 / a;
    case ScalarOp::Sign:
      return std::isnan(a) ? 0 : (a > 0) - (a < 0);
    default:
      throw_internal("evaluator: no float '" + std::string(to_string(op)) + "'");
  }
}

double python_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double python_floordiv(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b), q = (a - rest) / b - (rest != 0 && (b < 0) != (rest < 0) ? 1 : 0);
  return q == 0 ? std::copysign(0.0, a / b) : std::isfinite(q) ? std::round(q) : q;
}

double float_binary(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::Add:
      return a + b;
    case ScalarOp::Sub:
      return a - b;
    case ScalarOp::Mul:
      return a * b;
    case ScalarOp::Div:
      return a / b;
    case ScalarOp::FloorDiv:
      return python_floordiv(a, b);
    case ScalarOp::Mod:
      return python_mod(a, b);
    case ScalarOp::Fmod:
      return std::fmod(a, b);
    case ScalarOp::Pow:
      return std::pow(a, b);
    case ScalarOp::Atan2:
      return std::atan2(a, b);
    case ScalarOp::Min:
      return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    case ScalarOp::Max:
      return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    case ScalarOp::Fmin:
      return std::fmin(a, b);
    case ScalarOp::Fmax:
      return std::fmax(a, b);
    default:
      throw_internal("evaluator: no float '" + std::string(to_string(op)) + "'");
  }
}

int64_t int_unary(ScalarOp op, int64_t a, DType dtype) {
  switch (op) {
    case ScalarOp::Neg:
      return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
    case ScalarOp::Abs:
      return a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a;
    case ScalarOp::Sign:
      return (a > 0) - (a < 0);
    case ScalarOp::Not:
      return dtype == DType::Bool ? static_cast<int64_t>(a == 0) : ~a;
    default:
      throw_internal("evaluator: no integer '" + std::string(to_string(op)) + "'");
  }
}

int64_t int_power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  uint64_t r = 1, base = static_cast<uint64_t>(a);
  for (; b > 0; b >>= 1, base *= base)
    if (b & 1) r *= base;
  return static_cast<int64_t>(r);
}

int64_t int_binary(ScalarOp op, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case ScalarOp::Add:
      return static_cast<int64_t>(ua + ub);
    case ScalarOp::Sub:
      return static_cast<int64_t>(ua - ub);
    case ScalarOp::Mul:
      return static_cast<int64_t>(ua * ub);
    case ScalarOp::Div:
      return a / b;
    case ScalarOp::FloorDiv:
      return a / b - (a % b != 0 && (a < 0) != (b < 0));
    case ScalarOp::Mod:
      return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    case ScalarOp::Fmod:
      return a % b;
    case ScalarOp::Pow:
      return int_power(a, b);
    case ScalarOp::Min:
      return std::min(a, b);
    case ScalarOp::Max:
      return std::max(a, b);
    case ScalarOp::And:
      return a & b;
    case ScalarOp::Or:
      return a | b;
    case ScalarOp::Xor:
      return a ^ b;
    case ScalarOp::Shl:
      return static_cast<int64_t>(ua << ub);
    case ScalarOp::Shr:
      return a >> b;
    default:
      throw_internal("evaluator: no integer '" + std::string(to_string(op)) + "'");
  }
}

template <class T>
bool compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::Eq:
      return a == b;
    case ScalarOp::Ne:
      return a != b;
    case ScalarOp::Lt:
      return a < b;
    case ScalarOp::Le:
      return a <= b;
    case ScalarOp::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

/// One result element: a kernel of its own whose operands are constants.
class Element {
 public:
  Element(const OpCase& c, CaseGraph& g) : case_(c), graph_(g), body_(kernel_, g.graph.env()) { body_.begin_nest({}); }
  loop::Body& body() { return body_; }

  Value evaluate(ScalarId id) const {
    const Scalar s = kernel_.scalars[id];
    if (s.op == ScalarOp::Const) return {s.dtype, s.number, s.integer};
    if (s.op == ScalarOp::Index) return {s.dtype, 0, at(s.index)};
    if (s.op == ScalarOp::Select) return evaluate(evaluate(s.a).truth() ? s.b : s.c);
    if (s.op == ScalarOp::Check) return evaluate(evaluate(s.b).truth() ? s.a : s.c);
    const Value a = evaluate(s.a);
    if (s.op == ScalarOp::Cast) return cast(a, s.dtype);
    if (s.op == ScalarOp::IsNan) return {DType::Bool, 0, std::isnan(a.number)};
    if (s.op == ScalarOp::IsInf) return {DType::Bool, 0, std::isinf(a.number)};
    if (!loop::is_binary(s.op) && !loop::is_comparison(s.op))
      return a.floating() ? of(s.dtype, float_unary(s.op, a.number)) : of(s.dtype, int_unary(s.op, a.integer, s.dtype));
    const Value b = evaluate(s.b);
    if (loop::is_comparison(s.op) && a.dtype == DType::U64)
      return {DType::Bool, 0, compare(s.op, static_cast<uint64_t>(a.integer), static_cast<uint64_t>(b.integer))};
    if (loop::is_comparison(s.op))
      return {DType::Bool, 0, a.floating() ? compare(s.op, a.number, b.number) : compare(s.op, a.integer, b.integer)};
    return a.floating() ? of(s.dtype, float_binary(s.op, a.number, b.number))
                        : of(s.dtype, int_binary(s.op, a.integer, b.integer));
  }

  /// An index expression: indirect symbols stand for scalars.
  int64_t at(const SymInt& e) const {
    SymBindings bindings;
    for (const auto& [symbol, scalar] : kernel_.indirect) {
      if (bindings.size() <= symbol) bindings.resize(symbol + 1);
      bindings[symbol] = evaluate(scalar).integer;
    }
    const auto v = strata::evaluate(e, bindings);
    if (!v) throw_internal("evaluator: index " + e.str() + " has no value");
    return *v;
  }

  ScalarId load(const Node* operand, const std::vector<SymInt>& index, std::optional<ScalarId> mask) {
    size_t k = 0;
    while (graph_.inputs[k] != operand) ++k;
    const Tensor& t = case_.inputs[k];
    const DType held = compute_dtype(t.dtype);
    const auto constant = [&](double n, int64_t i) {
      return is_floating(held) ? body_.constant(n, held) : body_.integer(i, held);
    };
    if (mask && !evaluate(*mask).truth()) return constant(0, 0);
    int64_t flat = 0;
    EXPECT_EQ(index.size(), t.rank());
    for (size_t d = 0; d < t.rank(); ++d) {
      const int64_t i = at(index[d]);
      EXPECT_TRUE(i >= 0 && i < t.shape[d]) << "load at " << i << " of dimension " << d << " of size " << t.shape[d];
      if (i < 0 || i >= t.shape[d]) return constant(0, 0);
      flat = flat * t.shape[d] + i;
    }
    return is_floating(held) ? constant(t.at(flat), 0) : constant(0, t.int_at(flat));
  }

 private:
  static Value of(DType d, double n) { return {d, loop::fold::round_to(n, d), 0}; }
  static Value of(DType d, int64_t i) { return {d, 0, loop::fold::wrap(i, d)}; }
  static Value cast(const Value& a, DType d) {
    if (is_floating(d)) return of(d, a.floating() ? a.number : static_cast<double>(a.integer));
    return {d, 0, a.floating() ? loop::fold::float_to_integer(a.number, d) : loop::fold::wrap(a.integer, d)};
  }

  const OpCase& case_;
  CaseGraph& graph_;
  loop::Kernel kernel_;
  loop::Body body_;
};

std::vector<SymInt> broadcast_index(const std::vector<SymInt>& index, const std::vector<int64_t>& shape) {
  std::vector<SymInt> out;
  for (size_t d = 0; d < shape.size(); ++d)
    out.push_back(shape[d] == 1 ? SymInt(0) : index[index.size() - shape.size() + d]);
  return out;
}

/// Operands as the lowering hands them to a pointwise body.
std::vector<ScalarId> pointwise_operands(Element& e, const Call& call, const std::vector<SymInt>& index,
                                         const CaseGraph& g, const OpCase& c) {
  const bool fixed = call.op().promotion == Promotion::Fixed;
  const DType compute =
      fixed ? compute_dtype(call.node().tensor().dtype) : compute_dtype(pointwise_compute_dtype(call));
  std::vector<ScalarId> out;
  for (size_t i = 0; i < call.size(); ++i) {
    if (call.op().schema.params[i].type != "Tensor") continue;
    const Node* n = call.arg(i).node();
    if (call.is_none(i)) {
      out.push_back(loop::kNone);
    } else if (!n) {
      out.push_back(call.is_integer_scalar(i) ? e.body().cast(e.body().index(call.integer(i)), compute)
                                              : e.body().constant(call.number(i), compute));
    } else {
      size_t k = 0;
      while (g.inputs[k] != n) ++k;
      const ScalarId v = e.load(n, broadcast_index(index, c.inputs[k].shape), {});
      out.push_back(fixed ? v : e.body().cast(v, compute));
    }
  }
  return out;
}

/// The element of the result at `index`, by whatever lowering the row has.
ScalarId lowered(Element& e, const Call& call, const std::vector<SymInt>& index, const CaseGraph& g, const OpCase& c) {
  const Lowering& rule = call.op().lowering;
  if (const auto* body = std::get_if<PointwiseBody>(&rule))
    return (*body)(e.body(), call, pointwise_operands(e, call, index, g, c));
  const auto load = [&](const Node* n, const std::vector<SymInt>& at, std::optional<ScalarId> mask) {
    return e.load(n, at, mask);
  };
  if (const auto* map = std::get_if<IndexMap>(&rule)) return e.load(call.tensor(0), (*map)(call, index), {});
  return std::get<IndexedBody>(rule)(IndexedCall{e.body(), call, index, load});
}

bool is_lowered_here(const OpDef& op) {
  return std::holds_alternative<PointwiseBody>(op.lowering) || std::holds_alternative<IndexMap>(op.lowering) ||
         std::holds_alternative<IndexedBody>(op.lowering);
}

std::vector<SymInt> index_at(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<SymInt> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

bool close(const Value& got, const Tensor& want, int64_t flat) {
  if (!is_floating(want.dtype)) return got.integer == want.int_at(flat);
  const double g = got.number, w = want.at(flat);
  const double tol = want.dtype == DType::BF16 ? 1e-2 : want.dtype == DType::F16 ? 2e-3 : 4e-6;
  if (want.dtype == DType::F16 && std::isinf(w)) return g > 65519 || g < -65519;  // the store rounds to infinity
  return (std::isnan(g) && std::isnan(w)) || g == w || std::fabs(g - w) <= tol * (std::fabs(w) + 1);
}

/// Indices that are masks are taken apart before loops are made.
bool indexed_by_mask(const OpCase& c) {
  const auto is_mask = [](const Tensor& t) { return t.dtype == DType::Bool; };
  return c.op == "aten.index.Tensor" && std::any_of(c.inputs.begin() + 1, c.inputs.end(), is_mask);
}

TEST(OpsALowering, LoopRulesGivePyTorchsValues) {
  size_t checked = 0;
  std::set<std::string> rows;
  for (const OpCase& c : testing::all_op_cases()) {
    const OpDef* op = find_op(c.op);
    if (!is_lowered_here(*op) || indexed_by_mask(c) || c.has_complex()) continue;
    SCOPED_TRACE(c.text);
    CaseGraph g(c);
    Builder b(g.graph);
    try {
      const Call call(*g.add_call(b, c));
      const Tensor& want = c.out[0].data;
      const DType result = compute_dtype(want.dtype);
      for (int64_t flat = 0; flat < want.numel(); ++flat) {
        Element e(c, g);
        const ScalarId v = e.body().cast(lowered(e, call, index_at(flat, want.shape), g, c), result);
        const Value got = e.evaluate(v);
        EXPECT_TRUE(close(got, want, flat))
            << "element " << flat << " is " << (got.floating() ? got.number : static_cast<double>(got.integer))
            << ", expected " << want.at(flat);
        ++checked;
      }
      rows.insert(c.op);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GT(checked, 4000U);
  EXPECT_GT(rows.size(), 150U);
}

/// Indices from data that are out of range must stay inside the operand: a kernel goes on, and tells in the end.
TEST(OpsALowering, IndicesFromDataNeverLeaveTheOperand) {
  for (const char* name :
       {"aten.embedding.default", "aten.gather.default", "aten.index_select.default", "aten.index.Tensor"}) {
    for (const OpCase& c : testing::all_op_cases()) {
      if (c.op != name || c.out[0].data.numel() == 0 || indexed_by_mask(c) || c.has_complex()) continue;
      SCOPED_TRACE(c.text);
      OpCase wild = c;
      const int64_t far[] = {1000, -1000, INT32_MAX, INT32_MIN};
      for (Tensor& t : wild.inputs)
        if (!is_floating(t.dtype)) {
          t = t.clone();
          for (int64_t i = 0; i < t.numel(); ++i) t.set_int(i, far[i % 4]);
        }
      CaseGraph g(wild);
      Builder b(g.graph);
      const Call call(*g.add_call(b, wild));
      for (int64_t flat = 0; flat < wild.out[0].data.numel(); ++flat) {
        Element e(wild, g);
        e.evaluate(lowered(e, call, index_at(flat, wild.out[0].shape), g, wild));
      }
      g.graph.output(Argument::list({g.call}));
      EXPECT_THROW(Interpreter(g.graph).run(std::span<const Tensor>(wild.inputs)), Error);
    }
  }
}

}  // namespace
}  // namespace strata
