// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/python/fx_graph.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "app/python/foreign_call.h"
#include "app/python/tensor_exchange.h"
#include "capture/pt2_meta.h"
#include "core/ir/builder.h"
#include "core/ir/complex_parts.h"
#include "core/ir/foreign.h"
#include "core/ir/op.h"
#include "core/support/error.h"

namespace py = pybind11;

namespace strata {
namespace {

/// The classes that values are compared with, looked up once.
struct TorchTypes {
  py::object tensor, sym_int, sym_float, sym_bool, dtype, device, memory_format, layout, node, graph_module,
      op_overload, higher_order, size;

  static const TorchTypes& get() {
    static const auto* types = new TorchTypes;  // outlives the interpreter's end
    return *types;
  }

 private:
  TorchTypes() {
    const py::module_ torch = py::module_::import("torch");
    const py::module_ fx = py::module_::import("torch.fx");
    tensor = torch.attr("Tensor");
    sym_int = torch.attr("SymInt");
    sym_float = torch.attr("SymFloat");
    sym_bool = torch.attr("SymBool");
    dtype = torch.attr("dtype");
    device = torch.attr("device");
    memory_format = torch.attr("memory_format");
    layout = torch.attr("layout");
    size = torch.attr("Size");
    node = fx.attr("Node");
    graph_module = fx.attr("GraphModule");
    op_overload = torch.attr("_ops").attr("OpOverload");
    higher_order = torch.attr("_ops").attr("HigherOrderOperator");
  }
};

std::string text_of(py::handle value) { return py::str(value); }

/// A stack as PyTorch prints it, without the numbers that the process gave to generated modules (`<eval_with_key>.12`):
/// the same program says the same in every process, and no file has the name either way.
std::string numberless(std::string stack) {
  constexpr std::string_view kGenerated = "<eval_with_key>";
  for (size_t at = stack.find(kGenerated); at != std::string::npos; at = stack.find(kGenerated, at)) {
    at += kGenerated.size();
    if (at >= stack.size() || stack[at] != '.') continue;
    const size_t end = std::min(stack.find_first_not_of("0123456789", at + 1), stack.size());
    if (end > at + 1) stack.erase(at, end - at);
  }
  return stack;
}

/// `aten.linear.default`; `_operator.add` for Python's own functions.
std::string target_of(py::handle target) {
  const TorchTypes& types = TorchTypes::get();
  if (py::isinstance(target, types.op_overload) || PyUnicode_Check(target.ptr())) return text_of(target);
  if (py::isinstance(target, types.higher_order)) return "higher_order." + text_of(target.attr("name")());
  if (py::hasattr(target, "__module__") && py::hasattr(target, "__name__"))
    return text_of(target.attr("__module__")) + "." + text_of(target.attr("__name__"));
  return text_of(target);
}

/// The operator's row in the table, or one through which PyTorch is called; null if there is neither.
const OpDef* row_of(const py::object& target, const std::string& name) {
  if (py::hasattr(target, "strata_schema")) return opaque_row(target);
  const OpDef* row = find_op(name);
  return row || !py::isinstance(target, TorchTypes::get().op_overload) ? row : torch_op(target);
}

/// As a list: the iterator of torch.fx starts again when it is asked once more after its end, as pybind11 does.
py::list nodes_of(const py::object& module) { return py::list(module.attr("graph").attr("nodes")); }

/// The tensor or module that a dotted name leads to.
py::object attribute(const py::object& module, const std::string& target) {
  py::object value = module;
  for (size_t at = 0; at <= target.size();) {
    const size_t dot = std::min(target.find('.', at), target.size());
    value = value.attr(target.substr(at, dot - at).c_str());
    at = dot + 1;
  }
  return value;
}

void collect_operators(const py::object& module, std::set<std::string>& missing, std::set<std::string>& foreign) {
  for (const py::handle node : nodes_of(module)) {
    const std::string op = text_of(node.attr("op"));
    if (op == "get_attr") {
      const py::object value = attribute(module, text_of(node.attr("target")));
      if (py::isinstance(value, TorchTypes::get().graph_module)) collect_operators(value, missing, foreign);
    }
    if (op != "call_function") continue;
    const std::string name = target_of(node.attr("target"));
    const OpDef* row = row_of(node.attr("target"), name);
    if (!row) missing.insert(name);
    if (row && is_foreign(*row) && !py::hasattr(node.attr("target"), "strata_schema")) foreign.insert(row->name);
  }
}

/// An expression as PyTorch prints it, or, where it has floats, with all their digits.
std::string text_of_size(const py::handle& expression) {
  std::string text = text_of(expression);
  return text.find('.') == std::string::npos ? text : text_of(py::module_::import("sympy").attr("srepr")(expression));
}

SymInt parse_size(ShapeEnv& env, std::string_view text) {
  return text.find("Float('") == std::string_view::npos ? parse_sym(env, text) : parse_srepr(env, text);
}

class FxReader {
 public:
  FxReader(const py::object& module, std::shared_ptr<ShapeEnv> env, std::shared_ptr<IdSource> ids)
      : module_(module), graph_(std::move(env), std::move(ids)) {}

  Graph run() {
    for (const py::handle node : nodes_of(module_)) read_node(node);
    return std::move(graph_);
  }

 private:
  // --- sizes

  /// The expression behind a symbolic number; its symbols get PyTorch's hints and ranges.
  SymInt size_of(py::handle value) {
    if (PyLong_Check(value.ptr())) return value.cast<int64_t>();
    const py::object node = value.attr("node");
    const py::object expression = node.attr("expr");
    const std::string text = text_of_size(expression);
    if (const auto known = sizes_.find(text); known != sizes_.end()) return known->second;
    describe_symbols(expression, node.attr("shape_env"));
    return sizes_.emplace(text, parse_size(graph_.env(), text)).first->second;
  }

  /// A size that is computed with floats in a way that sizes do not have (`TruncToInt(ToFloat(s0)**0.5)`) is a symbol
  /// of its own: the graph reads it off a tensor, and later sizes are made of it.
  void name_size(py::handle value) {
    const SymInt call = size_of(value);
    if (is_computable(call)) return;
    const py::object node = value.attr("node");
    const py::object range = node.attr("shape_env").attr("bound_sympy")(node.attr("expr"));
    Symbol description{
        .name = "f" + std::to_string(graph_.env().symbol_count()), .max_expr = {}, .hint = {}, .origin = {}};
    description.range = {bound(range.attr("lower"), kSymMin), bound(range.attr("upper"), kSymMax)};
    if (const py::object hint = node.attr("hint"); PyLong_Check(hint.ptr())) description.hint = hint.cast<int64_t>();
    description.origin = call.str();
    const SymInt symbol = graph_.env().symbol(description);
    graph_.env().define(call, symbol);
    sizes_.clear();  // of those read before, some are made of it
  }

  static std::optional<int64_t> whole(const py::object& mapping, py::handle key) {
    const py::object value = mapping.attr("get")(key);
    if (value.is_none() || !py::hasattr(value, "__int__")) return {};
    try {
      return py::int_(value).cast<int64_t>();
    } catch (const py::error_already_set&) {
      return {};
    } catch (const py::cast_error&) {
      return {};
    }
  }

  static int64_t bound(const py::object& value, int64_t otherwise) {
    try {
      return py::int_(value).cast<int64_t>();
    } catch (const std::exception&) {  // infinity
      return otherwise;
    }
  }

  void describe_symbols(const py::object& expression, const py::object& shape_env) {
    const char* values = py::hasattr(shape_env, "backed_var_to_val") ? "backed_var_to_val" : "var_to_val";
    for (const py::handle symbol : expression.attr("free_symbols")) {
      Symbol description{.name = text_of(symbol), .max_expr = {}, .hint = {}, .origin = {}};
      if (graph_.env().find(description.name)) continue;
      description.hint = whole(shape_env.attr(values), symbol);
      const py::object range = shape_env.attr("var_to_range").attr("get")(symbol);
      if (!range.is_none())
        description.range = {bound(range.attr("lower"), kSymMin), bound(range.attr("upper"), kSymMax)};
      graph_.env().symbol(description);
    }
  }

  std::vector<SymInt> sizes_of(py::handle sequence) {
    std::vector<SymInt> result;
    for (const py::handle item : sequence) result.push_back(size_of(item));
    return result;
  }

  // --- types

  Type type_of(py::handle value) {
    const TorchTypes& types = TorchTypes::get();
    Type type;
    if (value.is_none()) {
      type.kind = Type::Kind::None;
    } else if (py::isinstance(value, types.tensor)) {
      return Type::of(tensor_type(value));
    } else if (py::isinstance(value, types.sym_int) || (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()))) {
      return Type::symint(size_of(value));
    } else if (py::isinstance(value, types.sym_float) || PyFloat_Check(value.ptr())) {
      type.kind = Type::Kind::SymFloat;
      type.text = text_of(value);
    } else if (py::isinstance(value, types.sym_bool) || PyBool_Check(value.ptr())) {
      type.kind = Type::Kind::SymBool;
      type.text = text_of(value);
    } else if (py::isinstance<py::tuple>(value) || py::isinstance<py::list>(value)) {
      std::vector<Type> parts;
      for (const py::handle part : value) parts.push_back(type_of(part));
      return Type::tuple(std::move(parts));
    } else {
      type.kind = Type::Kind::Other;
      type.text = text_of(value);
    }
    return type;
  }

  TensorType tensor_type(py::handle value) {
    TensorType type;
    type.dtype = dtype_of_torch(value.attr("dtype"));
    type.shape = sizes_of(value.attr("shape"));
    for (const SymInt& size : type.shape)
      if (!is_computable(size)) throw_user("the size " + size.str() + " is computed with floats");
    type.device = text_of(value.attr("device"));
    type.requires_grad = value.attr("requires_grad").cast<bool>();
    if (text_of(value.attr("layout")) == "torch.strided") type.strides = sizes_of(value.attr("stride")());
    return type;
  }

  // --- arguments

  Argument list_of(py::handle sequence, ListArg::Kind kind) {
    ListArg list{kind, {}};
    for (const py::handle item : sequence) list.items.push_back(argument_of(item));
    return list;
  }

  Argument node_named(py::handle value) {
    if (const auto graph = graphs_.find(value.ptr()); graph != graphs_.end()) return GraphArg{graph->second};
    const auto found = nodes_.find(value.ptr());
    if (found == nodes_.end()) throw_user("'" + text_of(value.attr("name")) + "' is used but not defined before");
    return found->second;
  }

  Argument argument_of(py::handle value) {
    const TorchTypes& types = TorchTypes::get();
    PyObject* object = value.ptr();
    if (value.is_none()) return NoneArg{};
    if (PyBool_Check(object)) return value.cast<bool>();
    if (PyLong_Check(object)) return value.cast<int64_t>();
    if (PyFloat_Check(object)) return value.cast<double>();
    if (PyComplex_Check(object))
      return std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
    if (PyUnicode_Check(object)) return value.cast<std::string>();
    if (py::isinstance(value, types.node)) return node_named(value);
    if (py::isinstance(value, types.size)) return list_of(value, ListArg::Kind::Size);
    if (PyTuple_Check(object)) return list_of(value, ListArg::Kind::Tuple);
    if (py::isinstance<py::sequence>(value) && !py::isinstance(value, types.tensor))
      return list_of(value, ListArg::Kind::List);
    if (PySlice_Check(object))
      return SliceArg{
          {argument_of(value.attr("start")), argument_of(value.attr("stop")), argument_of(value.attr("step"))}};
    if (object == Py_Ellipsis) return EllipsisArg{};
    if (py::isinstance(value, types.dtype)) return dtype_of_torch(value);
    if (py::isinstance(value, types.device)) return DeviceArg{text_of(value)};
    if (py::isinstance(value, types.memory_format) || py::isinstance(value, types.layout))
      return EnumArg{text_of(value)};
    if (py::isinstance(value, types.sym_int)) return size_of(value);
    if (PyDict_Check(object)) {
      DictArg dict;
      for (const auto& [key, item] : py::reinterpret_borrow<py::dict>(value))
        dict.items.emplace_back(argument_of(key), argument_of(item));
      return dict;
    }
    return OpaqueArg{text_of(value)};
  }

  // --- nodes

  void read_metadata(const py::dict& meta, NodeMeta& out) {
    if (meta.contains("stack_trace") && !meta["stack_trace"].is_none()) {
      const std::string text = text_of(meta["stack_trace"]);
      auto& stack = stacks_[text];
      if (!stack)
        stack = std::make_shared<const std::vector<SourceLocation>>(capture::parse_stack_trace(numberless(text)));
      if (!stack->empty()) out.source = stack;
    }
    if (!meta.contains("nn_module_stack") || meta["nn_module_stack"].is_none()) return;
    py::object innermost;
    for (const py::handle entry : meta["nn_module_stack"].attr("values")())
      innermost = py::reinterpret_borrow<py::object>(entry);
    if (!innermost || !PyTuple_Check(innermost.ptr()) || py::len(innermost) != 2) return;
    const py::object type = innermost[py::int_(1)];
    std::string class_name = PyType_Check(type.ptr())
                                 ? text_of(type.attr("__module__")) + "." + text_of(type.attr("__qualname__"))
                                 : text_of(type);
    const auto entry = capture::parse_module_stack("module," + text_of(innermost[py::int_(0)]) + "," + class_name);
    out.module_path = entry.path;
    out.module_type = entry.type;
  }

  void read_node(py::handle node) {
    const std::string op = text_of(node.attr("op")), name = text_of(node.attr("name"));
    const auto meta = node.attr("meta").cast<py::dict>();
    if (op == "output") {
      graph_.output(argument_of(node.attr("args")[py::int_(0)]));
      return;
    }
    auto made = std::make_unique<Node>();
    made->name = name;
    const py::object target = node.attr("target");
    const bool reads_element = op == "call_function" && target_of(target) == "aten._local_scalar_dense.default";
    if (reads_element && meta.contains("val") && py::isinstance(meta["val"], TorchTypes::get().sym_int))
      name_size(meta["val"]);
    if (meta.contains("val")) made->type = type_of(meta["val"]);
    read_metadata(meta, made->meta);
    if (op == "placeholder") {
      made->kind = NodeKind::Placeholder;
      made->target = name;
    } else if (op == "get_attr") {
      if (read_body(node)) return;
      read_attribute(text_of(node.attr("target")), *made);
    } else if (op == "call_function") {
      made->kind = NodeKind::Call;
      made->target = target_of(node.attr("target"));
      made->op = row_of(node.attr("target"), made->target);
      if (made->op && py::hasattr(node.attr("target"), "strata_schema")) made->target = made->op->name;
      for (const py::handle argument : node.attr("args")) made->args.push_back(argument_of(argument));
      for (const auto& [key, value] : node.attr("kwargs").cast<py::dict>())
        made->kwargs.emplace_back(text_of(key), argument_of(value));
    } else {
      throw_user("'" + name + "' is a node of kind '" + op + "'", "only graphs of ATen calls can be read");
    }
    nodes_[node.ptr()] = graph_.add(std::move(made));
  }

  /// A graph that a call runs: its argument, no node.
  bool read_body(py::handle node) {
    const std::string target = text_of(node.attr("target"));
    const py::object value = attribute(module_, target);
    if (!py::isinstance(value, TorchTypes::get().graph_module)) return false;
    FxReader inner(value, graph_.shared_env(), graph_.ids());
    graph_.subgraphs[target] = std::make_unique<Graph>(inner.run());
    graph_.subgraphs[target]->name = target;
    graphs_[node.ptr()] = target;
    return true;
  }

  void read_attribute(const std::string& target, Node& made) {
    const py::object value = attribute(module_, target);
    made.kind = NodeKind::GetAttr;
    made.target = target;
    const TorchTypes& types = TorchTypes::get();
    if (!py::isinstance(value, types.tensor)) throw_user("attribute '" + target + "' is neither a tensor nor a graph");
    graph_.attributes[target] = view_of_torch(value, "attribute '" + target + "'");
    if (made.type.kind == Type::Kind::Unknown) made.type = type_of(value);
  }

  py::object module_;
  Graph graph_;
  std::unordered_map<const PyObject*, Node*> nodes_;
  std::unordered_map<const PyObject*, std::string> graphs_;
  std::unordered_map<std::string, SymInt> sizes_;
  std::unordered_map<std::string, SourceStack> stacks_;
};

constexpr int kMaxDepth = 6;

/// The result that the row gives is the one that PyTorch gives: its type and shape.
void require_same_result(const Node& node, const Type& ours, const Type& theirs) {
  if (ours.kind == Type::Kind::Tuple && theirs.kind == Type::Kind::Tuple) {
    for (size_t i = 0; i < std::min(ours.parts.size(), theirs.parts.size()); ++i)
      require_same_result(node, ours.parts[i], theirs.parts[i]);
    return;
  }
  if (!ours.is_result() || !theirs.is_result()) return;
  const auto &a = ours.tensor.shape, &b = theirs.tensor.shape;
  bool same = ours.kind == theirs.kind && ours.tensor.dtype == theirs.tensor.dtype && a.size() == b.size();
  for (size_t d = 0; same && d < a.size(); ++d) same = !known_ne(a[d], b[d]);
  if (!same)
    throw_user("'" + node.name + "' (" + node.target + ") is " + to_string(theirs) + " in PyTorch, and " +
               to_string(ours) + " here");
}

/// Whether only the reference interpreter could compute a row.
bool is_interpreted(const OpDef& row) {
  const OpDef* functional = row.functional_name.empty() ? &row : find_op(row.functional_name);
  if (!functional || is_foreign(*functional) || functional->decompose) return false;
  const OpClass kind = functional->op_class;
  const bool computes = kind == OpClass::Pointwise || kind == OpClass::Reduction || kind == OpClass::Indexing;
  return computes && std::holds_alternative<NoLowering>(functional->lowering);
}

/// Throws what the rules of a call throw, those of its decomposition too; also for calls that have no kernel.
void check_call(const Node& node, const Graph& graph, int depth) {
  const Call call(node);
  const Type type = node.op->shape(call);
  if (depth == 0) require_same_result(node, type, node.type);
  const bool complex = touches_complex(node);
  if (complex) require_complex_support(node);
  if (is_interpreted(*node.op)) throw_user("no kernel computes " + node.op->name);
  if (!node.op->decompose || node.op->op_class != OpClass::Compound || depth == kMaxDepth) return;
  if (complex && complex_support(*node.op) != ComplexSupport::Decomposes) return;
  Graph scratch(graph.shared_env());
  std::unordered_map<const Node*, Node*> operands;
  Node copy = node;
  copy.for_each_operand([&](Node*& operand) {
    Node*& inside = operands[operand];
    if (!inside) inside = scratch.placeholder(operand->name, operand->type);
    operand = inside;
  });
  Builder builder(scratch);
  builder.meta = node.meta;
  (void)node.op->decompose(builder, Call(copy));
  for (const auto& step : scratch.nodes())
    if (step->kind == NodeKind::Call && step->op &&
        (step->op->op_class == OpClass::Compound || is_interpreted(*step->op)))
      check_call(*step, scratch, depth + 1);
    else if (step->kind == NodeKind::Call && touches_complex(*step))
      require_complex_support(*step);
}

/// Lines of Python that the nodes name, by file.
std::map<std::string, std::map<int, std::string>> lines_of(const Graph& graph) {
  std::map<std::string, std::map<int, std::string>> result;
  std::set<const void*> seen;  // nodes of one line share their stack
  for (const auto& node : graph.nodes()) {
    if (!node->meta.source || !seen.insert(node->meta.source.get()).second) continue;
    for (const SourceLocation& at : *node->meta.source)
      if (!at.code.empty()) result[at.file][at.line] = at.code;
  }
  return result;
}

}  // namespace

Program read_fx_graph(const py::object& module, const std::string& name) {
  return program_of_fx(FxReader(module, std::make_shared<ShapeEnv>(), std::make_shared<IdSource>()).run(), name);
}

Program program_of_fx(Graph graph, const std::string& name) {
  Program program(std::move(graph));
  program.name = name;
  program.source_lines = lines_of(program.graph);
  program.producer = "torch " + text_of(py::module_::import("torch").attr("__version__"));
  for (const Node* node : program.graph.placeholders()) program.user_input_names.push_back(node->name);
  const size_t outputs = program.graph.flat_outputs().size();
  for (size_t i = 0; i < outputs; ++i)
    program.user_output_names.push_back(outputs == 1 ? "out" : "out." + std::to_string(i));
  return program;
}

std::map<std::string, std::string> rejected_calls(const py::object& module) {
  const Graph graph = FxReader(module, std::make_shared<ShapeEnv>(), std::make_shared<IdSource>()).run();
  std::map<std::string, std::string> rejected;
  for (const auto& node : graph.nodes()) {
    if (node->kind != NodeKind::Call || !node->op || node->op->op_class == OpClass::Symbolic) continue;
    try {
      check_call(*node, graph, 0);
    } catch (const Error& error) {
      rejected[node->name] = error.what();
    }
  }
  return rejected;
}

FxOperators operators_of_fx_graph(const py::object& module) {
  std::set<std::string> missing, foreign;
  collect_operators(module, missing, foreign);
  return {{missing.begin(), missing.end()}, {foreign.begin(), foreign.end()}};
}

bool is_size(const py::object& expression) {
  ShapeEnv env;
  return is_computable(parse_size(env, text_of_size(expression)));
}

}  // namespace strata
