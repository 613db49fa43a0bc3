// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loop IR: what a kernel computes, apart from how.
///
/// **What.** A kernel has axes with symbolic extents. Its *outer* axes (any order, no dependence between iterations)
/// surround a list of *nests* that run one after the other for each outer point. A nest has *inner* axes of its own
/// (none: it runs once per outer point), a body of scalar instructions in SSA form, reductions over all its inner axes,
/// and stores. Reduction results and the scalars of nests without inner axes are constants for the nests that follow.
/// So softmax is: outer = rows; nest 1 reduces max over columns; nest 2 reduces sum of exp; nest 3 stores.
///
/// Index expressions are SymInts over axis symbols, size symbols, and *indirect* symbols that stand for an integer
/// scalar of the body (`indirect()`). Buffers are flat: an index counts elements from the buffer's start. Loads are in
/// bounds wherever their mask holds; a load whose mask is false is not performed and gives 0. Loads see the stores of
/// earlier nests of the same outer point (only to Local buffers or with the same index), never those of other outer
/// points.
///
/// Scalars are computed in their dtype: 16-bit floats are never computed in (loads widen to F32, stores round), bool is
/// i1, integers wrap. Floating point is as written: no reassociation except in reductions, no assumption about NaN,
/// infinity or signed zero.
///
/// **How.** `Schedule` stands beside it and never changes results beyond the order of a reduction.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/dtype.h"
#include "core/ir/sym.h"

namespace strata::loop {

using ScalarId = uint32_t;
using BufferId = uint32_t;
using AxisId = uint32_t;
inline constexpr ScalarId kNone = UINT32_MAX;

enum class ScalarOp : uint8_t {
  Const,    ///< `number` (floats) or `integer`
  Index,    ///< value of `index` as I64
  Load,     ///< buffer[index], under `a` as mask unless kNone
  Reduced,  ///< result `integer` of reduction `b` in nest `a` (an earlier one)
  Cast,     ///< a to dtype: PyTorch's conversion; float to bool is `!= 0`; float to int truncates
  Bitcast,
  Neg,
  Abs,
  Sqrt,
  Rsqrt,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc,
  Floor,
  Ceil,
  Round /* half to even */,
  Trunc,
  Sigmoid,
  Reciprocal,
  Not /* bool or bitwise */,
  IsNan,
  IsInf,
  Sign,
  Add,
  Sub,
  Mul,
  Div /* float: IEEE; integer: truncating */,
  FloorDiv /* Python's */,
  Mod /* Python's: sign of divisor */,
  Fmod /* C's */,
  Pow,
  Atan2,
  Min /* propagates NaN */,
  Max /* propagates NaN */,
  Fmin,
  Fmax /* ignore NaN */,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,      ///< bool; IEEE
  Select,  ///< a ? b : c
  Fma,     ///< a * b + c, rounded once
  Check,   ///< a where b holds, else c, and the run ends with the error of `Kernel::checks[integer]`
};
std::string_view to_string(ScalarOp op);
bool is_unary(ScalarOp op);
bool is_binary(ScalarOp op);
bool is_comparison(ScalarOp op);

struct Scalar {
  ScalarOp op = ScalarOp::Const;
  DType dtype = DType::F32;
  ScalarId a = kNone, b = kNone, c = kNone;
  double number = 0;
  int64_t integer = 0;
  BufferId buffer = 0;
  SymInt index;
  uint64_t node = 0;  ///< graph node it comes from (provenance of every emitted line)
};

enum class Combine : uint8_t { Sum, Prod, Max, Min, Any, All, ArgMax, ArgMin, Welford, SumExp };
std::string_view to_string(Combine combine);
/// Results per reduction: ArgMax/ArgMin give (value, I64 position), Welford (mean, m2, count), SumExp (the largest, the
/// sum of e^(value - the largest)); others one.
size_t result_count(Combine combine);

struct Reduction {
  Combine combine = Combine::Sum;
  ScalarId value = kNone;     ///< what is combined, in the accumulator's type
  ScalarId position = kNone;  ///< ArgMax/ArgMin: I64 index of the element; ties take the smaller; NaN wins
  ScalarId mask = kNone;      ///< elements where it is false do not count
  DType dtype = DType::F32;   ///< accumulator
  uint64_t node = 0;
};

struct Store {
  BufferId buffer = 0;
  SymInt index;
  ScalarId value = kNone;
  ScalarId mask = kNone;
  bool accumulate = false;  ///< buffer[index] += value, atomically if outer points may meet (scatter_add)
  uint64_t node = 0;
};

/// What data must satisfy. A kernel that finds it violated goes on with a harmless value and says so when it is done;
/// then the run ends with an error. So a check costs a comparison and two selects, and nothing leaves the loop.
struct Check {
  enum class Kind : uint8_t {
    Index,   ///< the I64 in [0, size)
    Divisor  ///< the integer is not 0
  };
  Kind kind = Kind::Index;
  SymInt size;           ///< Index
  bool wrapped = false;  ///< Index: negative ones have been counted from the end
  std::string text;      ///< Index: PyTorch's words; `{index}` and `{size}` stand for the numbers
  std::string where;     ///< node and line of Python
  uint64_t node = 0;

  /// A value that is no violation, and that no violating one equals.
  int64_t unviolated() const { return kind == Kind::Index ? INT64_MIN : 1; }
  bool operator==(const Check& o) const {
    return kind == o.kind && size == o.size && wrapped == o.wrapped && text == o.text && node == o.node;
  }
};
/// Ends a run: throws IndexError, or a user Error for a divisor. `value` is the one that violated the check.
[[noreturn]] void throw_violation(const Check& check, int64_t value, int64_t size);

struct Axis {
  std::string name;   ///< `i0`, `r0`
  size_t symbol = 0;  ///< id in the ShapeEnv; range [0, extent)
  SymInt extent;
};

/// Running combination along the (single) inner axis of a nest: `results` of reduction `reduction` are also visible in
/// the stores of the same nest, as the value up to and including the present element.
struct Nest {
  std::vector<AxisId> axes;    ///< inner axes, outermost first; may be empty
  std::vector<ScalarId> body;  ///< instructions in order
  std::vector<Reduction> reductions;
  std::vector<Store> stores;
  bool scan = false;  ///< stores may use `Reduced` of this very nest: inclusive scan over the inner axes in order
};

enum class BufferRole : uint8_t { Input, Output, InOut, Local /* per outer point scratch, at most a few KB */ };
struct Buffer {
  std::string name;
  DType dtype = DType::F32;
  SymInt numel;  ///< elements reachable
  BufferRole role = BufferRole::Input;
  uint64_t node = 0;
};

/// How to run it. Zero or -1: let the code generator choose.
struct Schedule {
  int vector_axis =
      -1;  ///< AxisId that becomes the vector dimension in the nests where it can (outer axis: every nest)
  int vector_width = 0;  ///< lanes
  int unroll = 0;
  int64_t grain = 0;   ///< outer points per task at least
  std::string reason;  ///< why, for people
};

struct Kernel {
  std::string name;  ///< `fused_add_relu_3`
  std::vector<Axis> axes;
  std::vector<AxisId> outer;  ///< outermost first; empty: a single point
  std::vector<Buffer> buffers;
  std::vector<Scalar>
      scalars;  ///< pool of all instructions; an operand is defined before its user, in the same nest or an earlier one
  std::vector<Nest> nests;
  Schedule schedule;
  std::vector<uint64_t> nodes;  ///< graph nodes it computes
  SymInt flops;                 ///< arithmetic operations, from the IR
  std::vector<size_t> symbols;  ///< size symbols (ids) the kernel needs at run time, in argument order
  std::unordered_map<size_t, ScalarId> indirect;  ///< indirect symbol id -> scalar it stands for
  std::vector<Check> checks;
};

/// Appends instructions to a nest, with constant folding and reuse of equal instructions inside the nest.
class Body {
 public:
  Body(Kernel& kernel, ShapeEnv& env) : kernel_(kernel), env_(env) {}
  Kernel& kernel() const { return kernel_; }
  ShapeEnv& env() const { return env_; }

  /// Starts a new nest; later instructions go there. Equal instructions of nests without inner axes are still reused.
  size_t begin_nest(std::vector<AxisId> axes);
  size_t nest() const { return kernel_.nests.size() - 1; }
  AxisId axis(std::string_view prefix, SymInt extent);  ///< new axis with its symbol
  SymInt axis_index(AxisId axis) const;                 ///< the symbol as an expression
  BufferId buffer(Buffer buffer);

  uint64_t node = 0;      ///< provenance given to what is appended
  ScalarId live = kNone;  ///< where it is false nothing is wanted: checks do not count

  ScalarId constant(double value, DType dtype);
  ScalarId integer(int64_t value, DType dtype = DType::I64);
  ScalarId index(const SymInt& e);
  ScalarId load(BufferId buffer, const SymInt& index, ScalarId mask = kNone);  ///< 16-bit floats come widened to F32
  ScalarId cast(ScalarId a, DType dtype);
  ScalarId unary(ScalarOp op, ScalarId a);
  ScalarId binary(ScalarOp op, ScalarId a, ScalarId b);  ///< operands of one dtype; comparisons give Bool
  ScalarId select(ScalarId condition, ScalarId a, ScalarId b);
  /// `value` where `holds`, else `instead`, a constant for which it would hold.
  ScalarId check(ScalarId value, ScalarId holds, ScalarId instead, Check check);
  ScalarId reduced(size_t nest, size_t reduction, size_t result = 0);
  size_t reduce(Reduction reduction);  ///< returns its number in the current nest
  void store(Store store);
  /// An integer scalar as a symbol for index expressions, with inclusive bounds the code may rely on.
  SymInt indirect(ScalarId scalar, SymRange bounds, std::optional<SymInt> max_expr = {});

  DType dtype(ScalarId a) const { return kernel_.scalars[a].dtype; }
  const Scalar& scalar(ScalarId a) const { return kernel_.scalars[a]; }

 private:
  ScalarId append(Scalar scalar);
  Kernel& kernel_;
  ShapeEnv& env_;
  std::unordered_multimap<size_t, ScalarId> seen_;  ///< hash -> instruction visible in the current nest
};

/// Text form; `parse_loop(env, print_loop(k))` prints the same again.
std::string print_loop(const Kernel& kernel);
Kernel parse_loop(ShapeEnv& env, std::string_view text);
/// Throws an internal Error naming the kernel, nest and instruction: use before definition, wrong dtype, axis out of
/// scope, store conflicts.
void verify_loop(const Kernel& kernel);

}  // namespace strata::loop
