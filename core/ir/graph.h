// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Graph IR: what every stage from `captured` to `scheduled` is made of.
///
/// A graph is a list of nodes in execution order, as in torch.fx: a node is its value. Operators with several results
/// have a tuple type, and `getitem` nodes take the parts. An operand always stands before its user (the verifier checks
/// it).
///
/// Aliasing: as captured, a node's value may be a view of another's and in-place operators (`add_`) may write it; from
/// the stage `functional` on every value is immutable and independent. Broadcasting, promotion, NaN and integer
/// overflow (wraps) are PyTorch's. Evaluation order of effects (random, collective, in-place) is list order; pure nodes
/// may be moved.
///
/// Identity: a NodeId is unique in one compile and survives passes: same id in two graphs = the same node, perhaps with
/// other operands. A node that replaces others gets a new id and `origins`. Graphs own their nodes; `Node*` is valid as
/// long as its graph.

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "core/ir/dtype.h"
#include "core/ir/sym.h"
#include "core/runtime/tensor.h"

namespace strata {

using NodeId = uint64_t;
struct Node;
struct OpDef;
class Graph;

// ----------------------------------------------------------------------------------------------------------------
// types

struct TensorType {
  DType dtype = DType::F32;
  std::vector<SymInt> shape;
  std::optional<std::vector<SymInt>> strides;  ///< none: unknown (FX text without strides)
  std::string device;                          ///< `cpu`, `cuda:0`; empty: unknown
  bool requires_grad = false;

  SymInt numel() const;
  /// Row-major without gaps, as far as known.
  bool is_contiguous() const;
};
std::vector<SymInt> contiguous_strides(const std::vector<SymInt>& shape);
/// Whether elements lie at the same places by both: the stride of an axis of one element says nothing.
bool same_places(const std::vector<SymInt>& shape, const std::vector<SymInt>& strides,
                 const std::vector<SymInt>& others);

struct Type {
  enum class Kind : uint8_t { Unknown, Tensor, SymInt, SymFloat, SymBool, Tuple, None, Other };
  Kind kind = Kind::Unknown;
  TensorType tensor;        ///< Tensor
  SymInt sym;               ///< SymInt: its expression
  std::vector<Type> parts;  ///< Tuple
  std::string text;         ///< Other (or the annotation exactly as PyTorch wrote it, when read from FX text)

  bool is_tensor() const { return kind == Kind::Tensor; }
  /// A tensor, or several values.
  bool is_result() const { return is_tensor() || kind == Kind::Tuple; }
  static Type of(TensorType t);
  static Type of(DType dtype, std::vector<SymInt> shape, std::string device = "cpu");  ///< contiguous
  static Type symint(SymInt e);
  static Type tuple(std::vector<Type> parts);
};
/// FX annotation: `f32[8, 64][64, 1]cpu`, `Sym(s77)`; `(f32[...], f32[...])` for tuples; empty for unknown.
std::string to_string(const Type& type);

// -------------------------------------------------------------------------------------------------------------
// arguments

struct Argument;
struct NoneArg {
  bool operator==(const NoneArg&) const = default;
};
struct EllipsisArg {
  bool operator==(const EllipsisArg&) const = default;
};
struct DeviceArg {
  std::string name;
  bool operator==(const DeviceArg&) const = default;
};  ///< `cuda:0`
/// `torch.strided`, `torch.contiguous_format`: the dotted name.
struct EnumArg {
  std::string name;
  bool operator==(const EnumArg&) const = default;
};
/// Text kept as it stands (object reprs, values of a kind not known here).
struct OpaqueArg {
  std::string text;
  bool operator==(const OpaqueArg&) const = default;
};
/// A subgraph of the enclosing graph, by name (higher-order operators).
struct GraphArg {
  std::string name;
  bool operator==(const GraphArg&) const = default;
};
struct ListArg {
  enum class Kind : uint8_t { List, Tuple, Size };
  Kind kind = Kind::List;
  std::vector<Argument> items;
  bool operator==(const ListArg&) const;
};
struct DictArg {
  std::vector<std::pair<Argument, Argument>> items;
  bool operator==(const DictArg&) const;
};
struct SliceArg {
  std::vector<Argument> parts;  ///< start, stop, step
  bool operator==(const SliceArg&) const;
};

struct Argument {
  using Value = std::variant<NoneArg, Node*, bool, int64_t, double, std::complex<double>, std::string, SymInt, DType,
                             DeviceArg, EnumArg, ListArg, DictArg, SliceArg, EllipsisArg, GraphArg, OpaqueArg>;
  Value value;

  Argument() = default;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Argument> && std::is_constructible_v<Value, T &&>)
  Argument(T&& v) : value(std::forward<T>(v)) {}            // NOLINT: implicit on purpose
  Argument(int v) : value(static_cast<int64_t>(v)) {}       // NOLINT
  Argument(const char* v) : value(std::string(v)) {}        // NOLINT
  Argument(const Node* v) : value(const_cast<Node*>(v)) {}  // NOLINT
  static Argument list(std::vector<Argument> items) { return ListArg{ListArg::Kind::List, std::move(items)}; }
  static Argument ints(const std::vector<SymInt>& items);  ///< list of int64 or SymInt

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return std::holds_alternative<NoneArg>(value); }
  Node* node() const {
    auto* p = std::get_if<Node*>(&value);
    return p ? *p : nullptr;
  }
  bool operator==(const Argument&) const = default;  ///< structural; nodes by pointer
};

/// Calls `visit(Node*&)` for every node in the argument, depth first, in order.
void for_each_node(Argument& argument, const std::function<void(Node*&)>& visit);
void for_each_node(const Argument& argument, const std::function<void(Node*)>& visit);

// ------------------------------------------------------------------------------------------------------------
// provenance

struct SourceLocation {
  std::string file;
  int line = 0;
  std::string function;
  std::string code;  ///< the line's text, stripped
  bool operator==(const SourceLocation&) const = default;
};
/// Outermost first; shared between nodes. Null: unknown.
using SourceStack = std::shared_ptr<const std::vector<SourceLocation>>;

enum class OriginKind : uint8_t { Copied, Lowered, Decomposed, Fused, Folded, Gradient, Replaced };
std::string_view to_string(OriginKind kind);
struct Origin {
  NodeId node = 0;  ///< in an earlier stage
  OriginKind kind = OriginKind::Replaced;
  std::string rule;
  bool exact = true;  ///< false: inferred
  bool operator==(const Origin&) const = default;
};
enum class Role : uint8_t { Forward, Backward, Recomputed };

/// What a node has beside its computation.
struct NodeMeta {
  SourceStack source;
  std::string module_path;  ///< `encoder.layer.0.attention`; empty at the root
  std::string module_type;  ///< innermost class, `torch.nn.modules.linear.Linear`
  std::vector<Origin> origins;
  std::string maker;  ///< pass that made it; empty: capture
  Role role = Role::Forward;
  std::map<std::string, std::string> extra;  ///< further metadata as the producer wrote it
};

// -----------------------------------------------------------------------------------------------------------------
// nodes

enum class NodeKind : uint8_t {
  Placeholder,  ///< graph input; target = the argument's name
  GetAttr,      ///< attribute of the module (`target`), a constant tensor in `Graph::attributes`, or a subgraph
  Call,         ///< call_function: table operator or foreign one, or Python operator (`_operator.add`)
  CallMethod,   ///< `x.relu()`; target = method name; args[0] is self
  CallModule,   ///< `self.lin(x)`; target = module path
  Output        ///< the last node; args[0] = what is returned, nested as returned
};
std::string_view to_string(NodeKind kind);  ///< fx's words: `placeholder`, `call_function`, ...

struct Node {
  NodeId id = 0;
  NodeKind kind = NodeKind::Call;
  const OpDef* op = nullptr;  ///< row of the operator table, if `target` is one
  std::string target;         ///< ATen name without prefix (`aten.add.Tensor`); foreign: dotted name as written
                              ///< (`torch._C._nn.linear`)
  std::string name;           ///< unique in its graph
  std::vector<Argument> args;
  std::vector<std::pair<std::string, Argument>> kwargs;
  Type type;
  NodeMeta meta;

  bool is(std::string_view name_of_target) const { return target == name_of_target; }
  const TensorType& tensor() const { return type.tensor; }
  /// Distinct operand nodes in order of first use.
  std::vector<Node*> operands() const;
  void for_each_operand(const std::function<void(Node*&)>& visit);
};

// -------------------------------------------------------------------------------------------------------------
// signature

struct InputSpec {
  enum class Kind : uint8_t { User, Parameter, Buffer, TensorConstant, CustomObject, Token, ConstantInput };
  Kind kind = Kind::User;
  std::string target;  ///< fully qualified name of the parameter, buffer or constant
  bool persistent = true;
  Argument constant;     ///< ConstantInput
  bool complex = false;  ///< the placeholder has pairs of real numbers where callers give complex ones
};
struct OutputSpec {
  enum class Kind : uint8_t {
    User,
    Loss,
    BufferMutation,
    ParameterMutation,
    UserInputMutation,
    GradientToParameter,
    GradientToUserInput,
    Token
  };
  Kind kind = Kind::User;
  std::string target;  ///< what is mutated, or gets the gradient
};

/// Whether a caller gets an output as an array, which is so for values and numbers. None, strings and the like are the
/// same in every run.
bool is_array_output(const Argument& output);

// -----------------------------------------------------------------------------------------------------------------
// graph

/// Hands out node ids; shared by all graphs of one compile.
struct IdSource {
  NodeId next = 1;
};

class Graph {
 public:
  explicit Graph(std::shared_ptr<ShapeEnv> env = nullptr, std::shared_ptr<IdSource> ids = nullptr);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  std::string name = "GraphModule";
  std::vector<InputSpec> input_specs;        ///< parallel to the placeholders; empty: all user inputs
  std::vector<OutputSpec> output_specs;      ///< parallel to the flat outputs; empty: all user outputs
  std::map<std::string, Tensor> attributes;  ///< constants that GetAttr nodes name
  std::map<std::string, std::unique_ptr<Graph>> subgraphs;
  /// Producer's extras by key (`fx.trailer`, ...), kept for printing.
  std::map<std::string, std::string> extra;

  ShapeEnv& env() const { return *env_; }
  const std::shared_ptr<ShapeEnv>& shared_env() const { return env_; }
  const std::shared_ptr<IdSource>& ids() const { return ids_; }

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  size_t size() const { return nodes_.size(); }
  /// Appends (before the output node, if there is one and `node` is another kind). Gives it an id unless it has one,
  /// and makes its name unique.
  Node* add(std::unique_ptr<Node> node);
  Node* add(NodeKind kind, std::string target, std::vector<Argument> args, Type type, std::string name_hint = {});
  Node* placeholder(std::string name, Type type);
  Node* output(Argument value);
  /// Removes nodes for which `dead` holds; they must have no users left.
  void remove_if(const std::function<bool(const Node&)>& dead);
  /// Puts the nodes into this order (a permutation of the present ones).
  void reorder(const std::vector<Node*>& order);

  std::vector<Node*> placeholders() const;
  Node* output_node() const;                   ///< null if none yet
  std::vector<Argument> flat_outputs() const;  ///< leaves of the output, in order
  OutputSpec output_spec(size_t i) const;      ///< of the i-th of them
  bool is_user_output(size_t i) const { return output_spec(i).kind == OutputSpec::Kind::User; }
  Node* find(std::string_view name) const;
  Node* find(NodeId id) const;
  std::string unique_name(std::string_view hint);
  /// Names that new nodes must not take (nodes that come with an id, copies, still may).
  void reserve_names_of(const Graph& other);

  /// Deep copy: same ids, names, metadata; attribute tensors are shared.
  Graph clone() const;
  /// Replaces symbols in types and arguments of all nodes, those of subgraphs too; the function returns nothing to keep
  /// one.
  void substitute(const std::function<std::optional<SymInt>(size_t)>& replacement);

 private:
  std::shared_ptr<ShapeEnv> env_;
  std::shared_ptr<IdSource> ids_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::string, Node*> names_;
  std::unordered_map<std::string, int> name_counters_;
  std::unordered_set<std::string> reserved_;
};

/// Users of each node: computed once, valid until the graph changes.
using UserMap = std::unordered_map<const Node*, std::vector<Node*>>;
UserMap users_of(const Graph& graph);

/// Same computation: node by node equal kind, target, arguments, types and names (ids, source locations and origins are
/// not compared unless `with_source`). On difference, `why` says where.
bool structurally_equal(const Graph& a, const Graph& b, std::string* why = nullptr, bool with_source = false);

}  // namespace strata
