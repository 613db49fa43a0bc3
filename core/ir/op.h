// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The operator table: one row per operator, everything about it in that row.
///
/// Rows stand in `core/ir/ops/*.cpp`, one file per family. Capture, verifier, interpreter, autograd, decomposition,
/// lowering, tests and docs iterate over the table. A row that lacks a column does not compile: every column is a
/// constructor argument of `OpDef`.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ir/graph.h"
#include "core/ir/loop.h"

namespace strata {

class Builder;

// ----------------------------------------------------------------------------------------------------------------
// schema

/// One parameter of an operator's schema.
struct Param {
  std::string name;
  std::string type;       ///< ATen's word without suffixes: `Tensor`, `int`, `SymInt`, `float`, `bool`, `Scalar`,
                          ///< `ScalarType`, `Device`, `Layout`, `MemoryFormat`, `str`
  bool list = false;      ///< `Tensor[]`, `SymInt[2]`
  bool optional = false;  ///< `?`
  bool keyword_only = false;
  bool written = false;  ///< `Tensor(a!)`
  bool aliased = false;  ///< `Tensor(a)` or `Tensor(a!)`
  std::optional<Argument> default_value;
};

struct Schema {
  std::string name;  ///< `aten.add.Tensor`
  std::vector<Param> params;
  std::vector<std::string> returns;  ///< `Tensor`, `Tensor[]`, `SymInt`, ...; several: a tuple
  bool returns_alias = false;        ///< a return shares memory with an operand

  size_t index_of(std::string_view param) const;  ///< throws an internal Error if there is none
};
/// Parses ATen's notation: `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`. No overload
/// means `.default`.
Schema parse_schema(std::string_view text);

/// A node's arguments, matched to the schema: defaults filled in, keywords placed.
class Call {
 public:
  /// `node.op` must be set. Throws a user Error for arguments that the schema does not allow.
  explicit Call(const Node& node);

  const Node& node() const { return *node_; }
  const OpDef& op() const { return *node_->op; }
  size_t size() const { return args_.size(); }
  const Argument& arg(size_t i) const { return *args_[i]; }
  const Argument& arg(std::string_view param) const;

  bool is_none(size_t i) const { return args_[i]->is_none(); }
  Node* tensor(size_t i) const;           ///< throws an internal Error if it is none
  Node* optional_tensor(size_t i) const;  ///< null for None
  const TensorType& type(size_t i) const { return tensor(i)->type.tensor; }
  std::vector<Node*> tensors(size_t i) const;  ///< Tensor[] (null for None elements)
  /// Integers, symbolic or not; a node of type SymInt gives its expression; bool gives 0 or 1.
  SymInt integer(size_t i) const;
  std::optional<SymInt> optional_integer(size_t i) const;
  std::vector<SymInt> integers(size_t i) const;  ///< a single integer gives a list of one; None an empty list
  int64_t constant(size_t i) const;              ///< integer that must not be symbolic
  std::vector<int64_t> constants(size_t i) const;
  double number(size_t i) const;           ///< Scalar, float, int, bool
  bool is_integer_scalar(size_t i) const;  ///< Scalar given as an int or bool (for promotion)
  bool boolean(size_t i) const;
  std::optional<DType> dtype(size_t i) const;
  std::string string(size_t i) const;
  /// `dim` normalised into [0, rank); throws a user Error naming the operator if out of range.
  size_t dim(size_t i, size_t rank) const;

 private:
  [[noreturn]] void expected(size_t i, const std::string& what) const;

  const Node* node_;
  std::vector<const Argument*> args_;
};
/// `dim` normalised into [0, rank); rank 0 counts as 1, as in PyTorch.
size_t normalize_dim(int64_t dim, size_t rank, const Node& where);

// ----------------------------------------------------------------------------------------------------------------
// columns

enum class OpClass : uint8_t {
  Pointwise,  ///< one element from one element of each operand, broadcast; has a loop body
  Reduction,  ///< folds dimensions; has a reduction rule
  View,       ///< same elements, other indices; has an index map
  Indexing,   ///< loop kernel with computed or indirect indices (embedding, gather, cat, pad, pooling, arange, cumsum);
              ///< has a loop rule
  Library,    ///< matrix product, convolution, attention: a library call or a kernel of its own
  Creation,   ///< no tensor operands
  Compound,   ///< only as captured: has a decomposition
  Mutation,   ///< in-place or out variant: functionalize turns it into `functional_name`
  Symbolic,   ///< integers and sizes: no kernel
  Assertion,  ///< checks without a value: dropped after being recorded as an assumption
  Control     ///< runs other graphs (control_flow.h)
};
std::string_view to_string(OpClass c);

/// Result type of a call. Throws a user Error with the operator, operand types and what was expected.
using ShapeRule = Type (*)(const Call& call);

/// A value at run time in the interpreter.
struct RefValue {
  std::variant<std::monostate, Tensor, int64_t, double, bool, std::vector<RefValue>> value;
  RefValue() = default;
  template <class T>
    requires std::is_constructible_v<decltype(value), T&&> && (!std::is_same_v<std::decay_t<T>, RefValue>)
  RefValue(T&& v) : value(std::forward<T>(v)) {}  // NOLINT
  const Tensor& tensor() const { return std::get<Tensor>(value); }
};

/// What a reference rule sees: the call, the operands' values, and whether floats are carried in float64.
struct RefContext {
  const Call& call;
  const std::function<const RefValue&(const Node*)>& value_of;
  const SymBindings& symbols;
  bool float64 = false;  ///< every floating tensor is F64 storage whatever its declared dtype

  Tensor tensor(size_t i) const;           ///< operand i
  Tensor optional_tensor(size_t i) const;  ///< undefined Tensor for None
  std::vector<Tensor> tensors(size_t i) const;
  int64_t integer(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;
  int64_t eval(const SymInt& e) const;
  std::vector<int64_t> eval(const std::vector<SymInt>& e) const;
  /// Uninitialised result of the node's type (or part `k` of a tuple), floats widened when `float64`.
  Tensor result(size_t k = 0) const;
  DType storage_dtype(DType declared) const { return float64 && is_floating(declared) ? DType::F64 : declared; }
};
/// Reference semantics: slow, plain, independent of the loop rules. Native precision: computed in at least the operand
/// type, rounded once to the result's type.
using Reference = RefValue (*)(const RefContext& context);

/// Rewrites a call into simpler ones; returns the node per result (one, or the parts of a tuple).
using Decompose = std::vector<Node*> (*)(Builder& builder, const Call& call);

/// Gradient builder: one cotangent per parameter of the schema (null: none), given one per result (null: not needed,
/// treat as zero). A `Tensor[]` parameter has an entry per element instead of one. Rows that say `Pending` and have a
/// decomposition are differentiated through it.
struct GradientCall {
  Builder& builder;
  const Call& call;  ///< the forward call; its node may be used as "result"
  std::vector<Node*> cotangents;
  std::function<bool(size_t)> needed;  ///< does parameter i need a gradient
};
using Gradient = std::vector<Node*> (*)(const GradientCall& call);
enum class NoGradient : uint8_t { Nondifferentiable, Pending };

/// Loop body of a pointwise operator: operands are already loaded and cast to the compute type; the result is cast by
/// the caller.
using PointwiseBody = loop::ScalarId (*)(loop::Body& body, const Call& call, std::span<const loop::ScalarId> operands);
/// View: index into the operand, given the index into the result.
using IndexMap = std::vector<SymInt> (*)(const Call& call, const std::vector<SymInt>& result_index);
/// Indexing and creation: the scalar at `index` of the result. `load(k, index, mask)` reads operand tensor k (a
/// masked-off lane reads nothing and gives 0).
struct IndexedCall {
  loop::Body& body;
  const Call& call;
  std::vector<SymInt> index;  ///< into the result
  std::function<loop::ScalarId(const Node* operand, const std::vector<SymInt>& index,
                               std::optional<loop::ScalarId> mask)>
      load;
};
using IndexedBody = loop::ScalarId (*)(const IndexedCall& call);
/// Reduction over dimensions: what is combined. The loop nest is made by the lowering.
struct ReductionRule {
  loop::Combine combine;
  /// Per-element value before combining (null: the element itself in the compute type).
  loop::ScalarId (*prepare)(loop::Body& body, const Call& call, loop::ScalarId element) = nullptr;
  /// From combined results and the number of elements to the value (null: the first combined result).
  loop::ScalarId (*finish)(loop::Body& body, const Call& call, std::span<const loop::ScalarId> results,
                           loop::ScalarId count) = nullptr;
};
/// Library: the name the library front end dispatches on (`matmul`, `convolution`, ...).
struct LibraryRule {
  std::string_view name;
};
/// A kernel written by hand (sorting, scatters that meet): the name that codegen/native knows it by. Results are
/// row-major; operands come with strides.
struct KernelRule {
  std::string_view name;
};
/// Windowed reductions (pooling): extents of the window axes, and the combined value per window position.
struct WindowRule {
  loop::Combine combine;
  std::vector<SymInt> (*window)(const Call& call);
  /// Element at result index and window index; `inside` gets the mask of positions that count (none: all).
  loop::ScalarId (*element)(const IndexedCall& call, const std::vector<SymInt>& window_index,
                            std::optional<loop::ScalarId>& inside);
  loop::ScalarId (*finish)(const IndexedCall& call, std::span<const loop::ScalarId> results) = nullptr;
};
/// Running combination along one dimension, inclusive (cumsum).
struct ScanRule {
  loop::Combine combine;
};
struct NoLowering {};  ///< never reaches a kernel: compound, mutation, symbolic, assertion
using Lowering = std::variant<NoLowering, PointwiseBody, IndexMap, IndexedBody, ReductionRule, LibraryRule, KernelRule,
                              WindowRule, ScanRule>;

/// How the types of operands and result of a pointwise operator are found.
enum class Promotion : uint8_t {
  None,        ///< not pointwise
  Default,     ///< torch.result_type; compute in it
  IntToFloat,  ///< as Default, integers and bool become float32 (sin, div, ...)
  Compare,     ///< operands as Default, result bool
  Logical,     ///< operands to bool, result bool
  Fixed        ///< the shape rule says; operands are not cast (where's condition, casts)
};

namespace trait {
inline constexpr uint32_t Commutative = 1, Idempotent = 2, Involution = 4, Random = 8, SideEffect = 16,
                          ZeroPreserving = 32, DataDependent = 64,
                          NotAffine = 128,  ///< NotAffine: of a view's IndexMap
    WideFactor = 256;                       ///< the second operand, if it is one number, keeps its digits beside
                                            ///< numbers of 16 bits (rounds_operand)
}

struct OpDef {
  OpDef(std::string_view schema_text, OpClass op_class, uint32_t traits, Promotion promotion, ShapeRule shape,
        Reference reference, Decompose decompose, std::variant<Gradient, NoGradient> gradient, Lowering lowering,
        std::string_view functional_name, std::string_view doc);

  Schema schema;
  std::string name;  ///< `aten.add.Tensor`
  OpClass op_class;
  uint32_t traits;
  Promotion promotion;
  ShapeRule shape;      ///< never null
  Reference reference;  ///< null only for Compound (interpreted through its decomposition) and Mutation
  Decompose decompose;  ///< null: primitive
  std::variant<Gradient, NoGradient> gradient;
  Lowering lowering;
  std::string functional_name;  ///< Mutation: `aten.add.Tensor`; else empty
  std::string doc;              ///< one line

  bool has(uint32_t trait) const { return (traits & trait) != 0; }
};

/// The row of a target (`aten.add.Tensor`; other spellings are mapped: `aten.add`, `torch.ops.aten.add.Tensor`), one
/// that was added at run time (foreign.h) if the table has none, or null.
const OpDef* find_op(std::string_view target);
/// All rows, sorted by name.
std::span<const OpDef* const> all_ops();

/// Element type that a pointwise call computes in (PyTorch's `result_type` over its tensor and scalar operands, by
/// `promotion`).
DType pointwise_compute_dtype(const Call& call);
/// Whether operand `i` of a pointwise call is rounded to that type before it is computed with in float32. It is a
/// matter of numbers of 16 bits only. As PyTorch on the CPU has it, whatever is of another type is rounded, numbers and
/// tensors without dimensions too: 2049 is no larger than a float16 of 2048, and x % 0.3 is what is left of divisions
/// by the bfloat16 nearest to 0.3. Products and quotients take a number as it is.
bool rounds_operand(const Call& call, size_t i);
/// PyTorch's broadcast of two shapes; throws a user Error naming both shapes.
std::vector<SymInt> broadcast(const std::vector<SymInt>& a, const std::vector<SymInt>& b, const Node& where);

// Families; each returns its rows. `core/ir/op.cpp` joins them.
namespace ops {
std::vector<OpDef> pointwise();     ///< unary, binary, comparison, where, casts
std::vector<OpDef> views();         ///< view, reshape, permute, slice, expand, ... and split/unbind/chunk
std::vector<OpDef> reductions();    ///< sum, mean, amax, var, argmax, softmax, ...
std::vector<OpDef> indexing();      ///< embedding, gather, index, cat, pad, cumsum, arange, full, ...
std::vector<OpDef> matrix();        ///< mm, addmm, bmm, linear, matmul, attention
std::vector<OpDef> convolution();   ///< conv, transposed conv, pooling, batch norm, layer norm, ...
std::vector<OpDef> symbolic();      ///< sym_size, operator.*, assertions, getitem
std::vector<OpDef> mutations();     ///< add_, relu_, copy_, ...
std::vector<OpDef> control_flow();  ///< cond, while_loop, map, scan
}  // namespace ops

}  // namespace strata
