// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ir/op.h"
#include "core/support/error.h"

namespace strata {
namespace {

constexpr size_t kMaxPlaces = 8;

void count_unsupported(const Graph& graph, std::map<std::string, UnsupportedOp>& found) {
  for (const auto& node : graph.nodes()) {
    const bool call =
        node->kind == NodeKind::Call || node->kind == NodeKind::CallMethod || node->kind == NodeKind::CallModule;
    if (!call || node->op) continue;
    UnsupportedOp& op = found[node->target];
    op.target = node->target;
    ++op.count;
    const SourceLocation* line = user_line(node->meta.source);
    if (line && op.where.size() < kMaxPlaces && std::find(op.where.begin(), op.where.end(), *line) == op.where.end())
      op.where.push_back(*line);
  }
  for (const auto& [name, subgraph] : graph.subgraphs) count_unsupported(*subgraph, found);
}

std::string size_text(const std::string& name, size_t dim) { return fmt::format("{}.size()[{}]", name, dim); }

std::string range_text(const Symbol& symbol) {
  std::string text;
  if (symbol.range.min != kSymMin) text += fmt::format("{} <= ", symbol.range.min);
  text += symbol.name;
  if (symbol.range.max != kSymMax) text += fmt::format(" <= {}", symbol.range.max);
  return text;
}

/// One equation `expression == value`, and the words for it.
struct Equation {
  SymInt expression;
  int64_t value = 0;
  std::string place;  ///< `x.size()[0]`
};

/// Solves sizes for symbols and collects what does not fit.
class Binder {
 public:
  explicit Binder(const ShapeEnv& env) : env_(env), bindings_(env.symbol_count()), places_(env.symbol_count()) {}

  void add(const SymInt& expression, int64_t value, std::string place) {
    equations_.push_back({expression, value, std::move(place)});
  }

  /// Binds symbols until nothing new is found, then checks every equation and range.
  SymBindings run(std::vector<std::string>& problems) {
    for (bool progress = true; progress;) {
      progress = false;
      for (const Equation& equation : equations_) progress |= solve(equation);
    }
    for (const Equation& equation : equations_) check(equation, problems);
    for (size_t id = 0; id < bindings_.size(); ++id) check_range(id, problems);
    return bindings_;
  }

 private:
  bool solve(const Equation& equation) {
    if (equation.expression.is_const()) return false;
    std::optional<size_t> unknown;
    for (const size_t id : free_symbols(equation.expression)) {
      if (bindings_[id]) continue;
      if (unknown) return false;
      unknown = id;
    }
    if (!unknown) return false;
    const auto linear = linear_in(equation.expression, *unknown);
    if (!linear) return false;
    const auto coefficient = evaluate(linear->coefficient, bindings_), rest = evaluate(linear->rest, bindings_);
    int64_t difference = 0;
    // INT64_MIN / -1 has no value
    if (!coefficient || *coefficient == 0 || !rest || __builtin_sub_overflow(equation.value, *rest, &difference) ||
        difference == INT64_MIN || difference % *coefficient != 0)
      return false;
    bindings_[*unknown] = difference / *coefficient;
    places_[*unknown] = equation.place;
    return true;
  }

  void check(const Equation& equation, std::vector<std::string>& problems) const {
    if (equation.expression.is_const()) {
      if (equation.expression.value() != equation.value)
        problems.push_back(
            fmt::format("{} must be {}, found {}", equation.place, equation.expression.value(), equation.value));
      return;
    }
    const auto expected = evaluate(equation.expression, bindings_);
    if (expected && *expected == equation.value) return;
    if (!expected) {
      if (auto reason = unsolvable(equation); !reason.empty()) problems.push_back(reason);
      return;
    }
    std::string because;
    for (const size_t id : free_symbols(equation.expression))
      because += fmt::format("{}{} = {} from {}", because.empty() ? "" : ", ", env_.info(id).name, *bindings_[id],
                             places_[id]);
    problems.push_back(fmt::format("{} must be {} = {} ({}), found {}", equation.place, equation.expression.str(),
                                   *expected, because, equation.value));
  }

  /// A linear size whose division leaves a rest; empty for sizes that bind nothing (data-dependent symbols).
  std::string unsolvable(const Equation& equation) const {
    for (const size_t id : free_symbols(equation.expression)) {
      if (bindings_[id]) continue;
      const auto linear = linear_in(equation.expression, id);
      const auto coefficient = linear ? evaluate(linear->coefficient, bindings_) : std::nullopt;
      const auto rest = linear ? evaluate(linear->rest, bindings_) : std::nullopt;
      int64_t difference = 0;
      if (!coefficient || !rest || *coefficient == 0 || __builtin_sub_overflow(equation.value, *rest, &difference))
        continue;
      return fmt::format("{} must be {} with an integer {}, found {}", equation.place, equation.expression.str(),
                         env_.info(id).name, equation.value);
    }
    return {};
  }

  void check_range(size_t id, std::vector<std::string>& problems) const {
    const Symbol& symbol = env_.info(id);
    if (!bindings_[id] || (*bindings_[id] >= symbol.range.min && *bindings_[id] <= symbol.range.max)) return;
    problems.push_back(fmt::format("{} gives {} = {}, the program allows {}", places_[id], symbol.name, *bindings_[id],
                                   range_text(symbol)));
  }

  const ShapeEnv& env_;
  SymBindings bindings_;
  std::vector<std::string> places_;
  std::vector<Equation> equations_;
};

std::string input_name(std::span<const std::string> names, const std::vector<Node*>& placeholders, size_t i) {
  return i < names.size() ? names[i] : placeholders[i]->name;
}

/// Dtype and rank; false if the sizes cannot be compared.
bool check_type(const Type& type, const Tensor& input, const std::string& name, std::vector<std::string>& problems) {
  if (!input.defined()) {
    problems.push_back(fmt::format("input '{}' is missing", name));
    return false;
  }
  if (!type.is_tensor()) {
    const bool fits = type.kind != Type::Kind::SymInt || (input.rank() == 0 && is_integral(input.dtype));
    if (!fits) problems.push_back(fmt::format("input '{}' must be an integer scalar, found {}", name, input.str()));
    return fits;
  }
  if (input.dtype != type.tensor.dtype)
    problems.push_back(
        fmt::format("input '{}' must be {}, found {}", name, dtype_name(type.tensor.dtype), dtype_name(input.dtype)));
  if (input.rank() == type.tensor.shape.size()) return true;
  std::vector<std::string> sizes;
  for (const SymInt& size : type.tensor.shape) sizes.push_back(size.str());
  problems.push_back(fmt::format("input '{}' must have {} dimensions [{}], found {}: [{}]", name, sizes.size(),
                                 fmt::join(sizes, ", "), input.rank(), fmt::join(input.shape, ", ")));
  return false;
}

void add_equations(Binder& binder, const Type& type, const Tensor& input, const std::string& name) {
  if (type.kind == Type::Kind::SymInt) binder.add(type.sym, input.int_at(0), name);
  if (!type.is_tensor()) return;
  for (size_t d = 0; d < input.rank(); ++d) binder.add(type.tensor.shape[d], input.shape[d], size_text(name, d));
}

[[noreturn]] void throw_problems(const std::vector<std::string>& problems) {
  throw_user(fmt::format("the inputs do not fit the program: {}", fmt::join(problems, "; ")));
}

}  // namespace

std::optional<bool> SizeGuard::holds(const SymBindings& bindings) const {
  const auto a = evaluate(left, bindings), b = evaluate(right, bindings);
  if (!a || !b) return std::nullopt;
  switch (relation) {
    case Relation::Equal:
      return *a == *b;
    case Relation::NotEqual:
      return *a != *b;
    case Relation::Less:
      return *a < *b;
    case Relation::LessEqual:
      return *a <= *b;
    case Relation::Greater:
      return *a > *b;
    case Relation::GreaterEqual:
      return *a >= *b;
  }
  return std::nullopt;
}

size_t TreeSpec::leaf_count() const {
  if (is_leaf()) return 1;
  size_t count = 0;
  for (const TreeSpec& child : children) count += child.leaf_count();
  return count;
}

const SourceLocation* user_line(const SourceStack& stack) {
  if (!stack || stack->empty()) return nullptr;
  for (auto it = stack->rbegin(); it != stack->rend(); ++it) {
    const bool library =
        it->file.find("/torch/") != std::string::npos || it->file.starts_with("torch/") || it->file.starts_with("<");
    if (!library) return &*it;
  }
  return &stack->back();
}

std::string place_of(const Node& node) {
  const SourceLocation* at = user_line(node.meta.source);
  return "'" + node.name + "' (" + node.target + ")" + (at ? " at " + at->file + ":" + std::to_string(at->line) : "");
}

std::vector<UnsupportedOp> unsupported_operators(const Graph& graph) {
  std::map<std::string, UnsupportedOp> found;
  count_unsupported(graph, found);
  std::vector<UnsupportedOp> result;
  for (auto& [target, op] : found) result.push_back(std::move(op));
  return result;
}

void require_supported_operators(const Graph& graph) {
  const auto missing = unsupported_operators(graph);
  if (missing.empty()) return;
  std::string text = missing.size() == 1 ? "1 operator of the program is not supported"
                                         : fmt::format("{} operators of the program are not supported", missing.size());
  for (const UnsupportedOp& op : missing) {
    text += fmt::format("\n  {} ({} {})", op.target, op.count, op.count == 1 ? "call" : "calls");
    for (const SourceLocation& line : op.where) {
      text += fmt::format("\n    {}:{}", line.file, line.line);
      if (!line.function.empty()) text += " in " + line.function;
      if (!line.code.empty()) text += ": " + line.code;
    }
  }
  throw_user(text + "\n", "rewrite these lines with other operators, or run the model without them");
}

std::vector<Node*> user_placeholders(const Graph& graph) {
  std::vector<Node*> result;
  const auto placeholders = graph.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i)
    if (i >= graph.input_specs.size() || graph.input_specs[i].kind == InputSpec::Kind::User)
      result.push_back(placeholders[i]);
  return result;
}

SymBindings bind_symbols(const Graph& graph, std::span<const Tensor> inputs, std::span<const std::string> names) {
  const auto placeholders = user_placeholders(graph);
  std::vector<std::string> problems;
  Binder binder(graph.env());
  for (size_t i = 0; i < placeholders.size() && i < inputs.size(); ++i) {
    const std::string name = input_name(names, placeholders, i);
    if (check_type(placeholders[i]->type, inputs[i], name, problems))
      add_equations(binder, placeholders[i]->type, inputs[i], name);
  }
  SymBindings bindings = binder.run(problems);
  if (!problems.empty()) throw_problems(problems);
  return bindings;
}

SymBindings check_inputs(const Program& program, std::span<const Tensor> inputs) {
  const auto& names = program.user_input_names;
  const auto placeholders = user_placeholders(program.graph);
  if (inputs.size() != placeholders.size()) {
    std::vector<std::string> expected;
    for (size_t i = 0; i < placeholders.size(); ++i)
      expected.push_back(fmt::format("{}: {}", input_name(names, placeholders, i), to_string(placeholders[i]->type)));
    throw_user(fmt::format("the program takes {} input{} ({}), {} {} given", placeholders.size(),
                           placeholders.size() == 1 ? "" : "s", fmt::join(expected, ", "), inputs.size(),
                           inputs.size() == 1 ? "was" : "were"));
  }
  SymBindings bindings = bind_symbols(program.graph, inputs, names);
  std::vector<std::string> problems;
  for (const SizeGuard& guard : program.guards)
    if (guard.holds(bindings) == false)
      problems.push_back(fmt::format("the program requires {}; here the left side is {}, the right side is {}",
                                     guard.text, *evaluate(guard.left, bindings), *evaluate(guard.right, bindings)));
  if (!problems.empty()) throw_problems(problems);
  return bindings;
}

}  // namespace strata
