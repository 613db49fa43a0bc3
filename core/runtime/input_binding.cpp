// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/input_binding.h"

#include <algorithm>
#include <utility>

#include "core/support/error.h"

namespace strata {
namespace {

/// The one symbol of `expr` that is not yet known, if the expression is linear in it with a constant coefficient.
int solvable(const SymInt& expr, const std::vector<bool>& known) {
  int found = -1;
  for (size_t id : free_symbols(expr)) {
    if (id < known.size() && known[id]) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(id);
  }
  if (found < 0) return -1;
  const std::optional<Linear> linear = linear_in(expr, static_cast<size_t>(found));
  return linear && linear->coefficient.is_const() && linear->coefficient.value() != 0 ? found : -1;
}

bool all_known(const SymInt& expr, const std::vector<bool>& known) {
  const std::vector<size_t> ids = free_symbols(expr);
  return std::all_of(ids.begin(), ids.end(), [&](size_t id) { return id < known.size() && known[id]; });
}

/// The value of `symbol` for which `expr`, linear in it, is `value`.
std::optional<int64_t> solved(const SymInt& expr, size_t symbol, int64_t value, const SymBindings& symbols) {
  const std::optional<Linear> linear = linear_in(expr, symbol);
  if (!linear || !linear->coefficient.is_const() || linear->coefficient.value() == 0) return {};
  const std::optional<int64_t> rest = evaluate(linear->rest, symbols);
  int64_t difference = 0;
  if (!rest || __builtin_sub_overflow(value, *rest, &difference)) return {};
  if (linear->coefficient.value() == -1) return difference == INT64_MIN ? std::nullopt : std::optional(-difference);
  if (difference % linear->coefficient.value() != 0) return {};
  return difference / linear->coefficient.value();
}

std::optional<size_t> unknown_symbol(const SymInt& expr, const SymBindings& symbols) {
  for (size_t id : free_symbols(expr))
    if (id >= symbols.size() || !symbols[id]) return id;
  return {};
}

}  // namespace

void bind_size(const ShapeEnv& env, const SymInt& size, int64_t value, const std::string& where, SymBindings& symbols) {
  const std::optional<size_t> id = unknown_symbol(size, symbols);
  if (!id) {
    const std::optional<int64_t> expected = evaluate(size, symbols);
    if (expected == value) return;
    throw_user("size " + std::to_string(value) + ", in " + where + ", expected " + size.str() +
               (size.is_const() ? "" : " = " + std::to_string(expected.value_or(-1))));
  }
  const std::optional<int64_t> found = solved(size, *id, value, symbols);
  if (!found) throw_user("size " + std::to_string(value) + ", in " + where + ", is not of the form " + size.str());
  if (symbols.size() <= *id) symbols.resize(*id + 1);
  symbols[*id] = *found;
  const Symbol& symbol = env.info(*id);
  int64_t most = symbol.range.max;
  if (symbol.max_expr) most = std::min(most, evaluate(*symbol.max_expr, symbols).value_or(most));
  if (*found >= symbol.range.min && *found <= most) return;
  const bool low = *found < symbol.range.min;
  throw_user("size " + std::to_string(value) + ", in " + where + ", is out of range: " + symbol.name +
             (low ? " >= " + std::to_string(symbol.range.min) : " <= " + std::to_string(most)));
}

InputBinder::InputBinder(const Plan& plan) : plan_(plan), names_(plan.inputs.size()) {
  for (const PlanBuffer& b : plan.buffers) {
    if (b.input >= 0 && static_cast<size_t>(b.input) < names_.size()) names_[b.input] = b.name;
  }
  std::vector<Step> open;
  for (size_t i = 0; i < plan.inputs.size(); ++i) add_steps(plan.inputs[i], i, open);
  // Plain symbols first, so that derived sizes become checks instead of equations.
  std::stable_partition(open.begin(), open.end(),
                        [&](const Step& s) { return plan.env && plan.env->symbol_id(s.expr).has_value(); });
  std::vector<bool> known(plan.env ? plan.env->symbol_count() : 0, false);
  for (bool progress = true; progress && !open.empty();) {
    progress = false;
    std::vector<Step> later;
    for (Step& s : open) {
      s.symbol = solvable(s.expr, known);
      if (s.symbol < 0 && !all_known(s.expr, known)) {
        later.push_back(s);
        continue;
      }
      if (s.symbol >= 0) known[s.symbol] = true;
      steps_.push_back(s);
      progress = true;
    }
    open = std::move(later);
  }
}

void InputBinder::add_steps(const Type& type, size_t input, std::vector<Step>& found) const {
  if (type.kind == Type::Kind::SymInt) found.push_back({input, -1, type.sym, -1});
  if (!type.is_tensor()) return;
  for (size_t d = 0; d < type.tensor.shape.size(); ++d)
    found.push_back({input, static_cast<int>(d), type.tensor.shape[d], -1});
}

std::string InputBinder::describe(size_t input) const {
  const std::string number = "input " + std::to_string(input);
  return names_[input].empty() ? number : number + " (" + names_[input] + ")";
}

std::string InputBinder::place(const Step& step) const {
  if (step.dim < 0) return describe(step.input);
  return "dimension " + std::to_string(step.dim) + " of " + describe(step.input);
}

void InputBinder::check_kinds(const std::vector<Tensor>& inputs) const {
  if (inputs.size() != plan_.inputs.size()) {
    throw_user("the model takes " + std::to_string(plan_.inputs.size()) + " inputs, found " +
               std::to_string(inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = plan_.inputs[i];
    const Tensor& t = inputs[i];
    if (type.kind != Type::Kind::Tensor && type.kind != Type::Kind::SymInt) continue;
    if (!t.defined()) throw_user(describe(i) + " is missing", "expected " + to_string(type));
    if (type.kind == Type::Kind::SymInt) {
      if (t.numel() != 1 || !is_integral(t.dtype)) throw_user(describe(i) + " must be one integer, found " + t.str());
      continue;
    }
    if (t.dtype != type.tensor.dtype) {
      throw_user(describe(i) + " has dtype " + std::string(dtype_name(t.dtype)) + ", expected " +
                     std::string(dtype_name(type.tensor.dtype)),
                 "convert it first");
    }
    if (t.rank() != type.tensor.shape.size()) {
      throw_user(describe(i) + " has " + std::to_string(t.rank()) + " dimensions (" + t.str() + "), expected " +
                 std::to_string(type.tensor.shape.size()) + " (" + to_string(type) + ")");
    }
  }
}

int64_t InputBinder::actual(const Step& step, const std::vector<Tensor>& inputs) const {
  const Tensor& t = inputs[step.input];
  return step.dim < 0 ? t.int_at(0) : t.shape[step.dim];
}

void InputBinder::solve(const Step& step, int64_t size, SymBindings& symbols) const {
  const auto id = static_cast<size_t>(step.symbol);
  if (std::as_const(*plan_.env).symbol_id(step.expr)) {
    symbols[id] = size;
  } else {
    const Linear linear = *linear_in(step.expr, id);
    const int64_t coefficient = linear.coefficient.value();
    const std::optional<int64_t> rest = evaluate(linear.rest, symbols);
    int64_t difference = 0;
    if (!rest || __builtin_sub_overflow(size, *rest, &difference) || difference % coefficient != 0) {
      throw_user("size " + std::to_string(size) + " in " + place(step) + " is not of the form " + step.expr.str());
    }
    symbols[id] = difference / coefficient;
  }
  check_range(step, size, symbols);
}

void InputBinder::check_range(const Step& step, int64_t size, const SymBindings& symbols) const {
  const Symbol& symbol = std::as_const(*plan_.env).info(static_cast<size_t>(step.symbol));
  const int64_t value = *symbols[step.symbol];
  int64_t most = symbol.range.max;
  if (symbol.max_expr) most = std::min(most, evaluate(*symbol.max_expr, symbols).value_or(most));
  if (value >= symbol.range.min && value <= most) return;
  const bool low = value < symbol.range.min;
  const std::string constraint = symbol.name + (low ? " >= " : " <= ") + std::to_string(low ? symbol.range.min : most);
  std::string message = "size " + std::to_string(size) + " in " + place(step) + " is out of range: ";
  if (step.expr.str() != symbol.name)
    message += "it is " + step.expr.str() + ", which makes " + symbol.name + " = " + std::to_string(value) + ", but ";
  throw_user(message + constraint, "the program was exported for these sizes only");
}

SymBindings InputBinder::bind(const std::vector<Tensor>& inputs) const {
  check_kinds(inputs);
  SymBindings symbols(plan_.env ? plan_.env->symbol_count() : 0);
  for (const Step& step : steps_) {
    const int64_t size = actual(step, inputs);
    if (step.symbol >= 0) {
      solve(step, size, symbols);
      continue;
    }
    const std::optional<int64_t> expected = evaluate(step.expr, symbols);
    if (expected && *expected == size) continue;
    const std::string wanted =
        step.expr.is_const() ? step.expr.str() : step.expr.str() + " = " + std::to_string(expected.value_or(-1));
    throw_user("size " + std::to_string(size) + " in " + place(step) + ", expected " + wanted);
  }
  return symbols;
}

}  // namespace strata
