// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/driver/graph_records.h"

#include <string>

#include "capture/torch_graph/records.h"
#include "core/ir/foreign.h"
#include "core/ir/fx_printer.h"

namespace strata {
namespace {

std::string arguments_text(const Node& node) {
  std::string text;
  for (const Argument& a : node.args) text += (text.empty() ? "" : ", ") + print_fx(a);
  for (const auto& [key, a] : node.kwargs) text += (text.empty() ? "" : ", ") + key + " = " + print_fx(a);
  return text;
}

std::string_view role_name(Role role) {
  return role == Role::Backward ? "backward" : role == Role::Recomputed ? "recomputed" : "forward";
}

using Members = std::vector<std::pair<std::string, std::string>>;

void add_form(const Graph& graph, const std::string& path, Members& form) {
  for (const auto& [name, body] : graph.subgraphs) {
    const std::string inner = capture::child_path(path, name);
    form.emplace_back(inner + "class", body->name);
    add_form(*body, inner, form);
  }
}

}  // namespace

std::string shape_text(const std::vector<SymInt>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + shape[d].str();
  return text + "]";
}

trace::Id GraphRecords::stack_of(const SourceStack& stack) {
  if (!stack || stack->empty()) return trace::kNone;
  const auto it = stacks_.find(stack.get());
  if (it != stacks_.end()) return it->second;
  std::vector<trace::SourceLocation> entries;
  for (const SourceLocation& l : *stack) entries.push_back({l.file, l.line, l.function, l.code});
  kept_stacks_.push_back(stack);
  return stacks_[stack.get()] = writer_.stack(entries);
}

trace::NodeRecord GraphRecords::record_of(const Node& node, const std::string& path) {
  trace::NodeRecord r;
  r.id = static_cast<trace::NodeId>(node.id);
  r.name = path + node.name;
  r.op = to_string(node.kind);
  r.target = node.target;
  r.args = arguments_text(node);
  const auto add_operands = [&](const Argument& a) {
    r.inputs.emplace_back();
    for_each_node(a, [&](Node* n) { r.inputs.back().push_back(static_cast<trace::NodeId>(n->id)); });
  };
  for (const Argument& a : node.args) add_operands(a);
  for (const auto& [key, a] : node.kwargs) add_operands(a);
  r.type = to_string(node.type);
  if (node.type.is_tensor()) {
    r.dtype = dtype_abbr(node.tensor().dtype);
    r.shape = shape_text(node.tensor().shape);
    r.device = node.tensor().device;
  }
  r.module = node.meta.module_path;
  r.stack = stack_of(node.meta.source);
  r.role = role_name(node.meta.role);
  Members extra;
  if (!path.empty()) extra.emplace_back("graph", path.substr(0, path.size() - 1));
  if (node.op && is_foreign(*node.op)) extra.emplace_back("opaque", "PyTorch");
  r.extra = capture::json_object(extra);
  return r;
}

std::vector<trace::NodeRecord> GraphRecords::nodes(const Graph& graph) {
  std::vector<trace::NodeRecord> nodes;
  nodes.reserve(graph.size());
  add(graph, {}, nodes);
  return nodes;
}

void GraphRecords::add(const Graph& graph, const std::string& path, std::vector<trace::NodeRecord>& nodes) {
  for (const auto& node : graph.nodes()) nodes.push_back(record_of(*node, path));
  for (const auto& [name, body] : graph.subgraphs) add(*body, capture::child_path(path, name), nodes);
}

std::string GraphRecords::form(const Graph& graph) {
  Members form;
  add_form(graph, {}, form);
  return capture::json_object(form);
}

void GraphRecords::symbols(const Graph& graph, trace::Id compile) {
  const ShapeEnv& env = graph.env();
  for (size_t id = 0; id < env.symbol_count(); ++id) {
    const Symbol& s = env.info(id);
    if (s.origin == "axis" || s.origin == "indirect") continue;
    trace::SymbolRecord r;
    r.compile = compile;
    r.name = s.name;
    r.hint = s.hint;
    if (s.range.min != kSymMin) r.min = s.range.min;
    if (s.range.max != kSymMax) r.max = s.range.max;
    r.origin = s.origin;
    writer_.add(r);
  }
}

void GraphRecords::assumptions(const Graph& graph, trace::Id compile) {
  for (const Assumption& a : graph.env().assumptions()) {
    trace::AssumptionRecord record;
    record.compile = compile;
    record.expression = a.text;
    record.kind = "relation";
    record.reason = a.reason + (a.where.empty() ? "" : " at " + a.where);
    writer_.add(record);
  }
}

}  // namespace strata
