// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/passes/pass_testing.h"

#include <sstream>

#include "core/ir/fx_printer.h"
#include "core/ir/fx_reader.h"
#include "core/ir/op.h"
#include "core/ir/verify.h"

namespace strata::testing {
namespace {

void infer(Node& node) {
  if (node.kind != NodeKind::Call) return;
  if (node.target == "_operator.getitem") {
    node.type = node.args.at(0).node()->type.parts.at(static_cast<size_t>(*node.args.at(1).as<int64_t>()));
  } else if (node.op) {
    node.type = node.op->shape(Call(node));
  }
}

InputSpec spec_of(const Node& input) {
  InputSpec spec;
  if (input.name.starts_with("p_")) spec.kind = InputSpec::Kind::Parameter;
  if (input.name.starts_with("b_")) spec.kind = InputSpec::Kind::Buffer;
  if (spec.kind != InputSpec::Kind::User) spec.target = input.name;
  return spec;
}

/// Types of inputs without strides in the text are row-major.
void complete(TensorType& type) {
  if (!type.strides) type.strides = contiguous_strides(type.shape);
  if (type.device.empty()) type.device = "cpu";
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace

Graph graph_of(std::string_view text) {
  Graph graph = parse_fx(text, std::make_shared<ShapeEnv>());
  for (const auto& node : graph.nodes()) {
    if (node->kind == NodeKind::Placeholder) {
      complete(node->type.tensor);
      graph.input_specs.push_back(spec_of(*node));
    }
    infer(*node);
  }
  for (size_t s = 0; s < graph.env().symbol_count(); ++s) graph.env().info(s).range = {2, 1 << 20};
  graph.extra.clear();
  verify(graph, "the test's text");
  return graph;
}

std::string body_of(const Graph& graph) {
  FxOptions options{FxOptions::Form::Function, false, false, false};
  std::istringstream lines(print_fx(graph, options));
  std::string body, line;
  while (std::getline(lines, line)) {
    const size_t start = line.find_first_not_of(' ');
    if (start == line.npos || line.starts_with("def ")) continue;
    body += line.substr(start) + "\n";
  }
  replace_all(body, "torch.ops.", "");
  return body;
}

std::string after(PassResult (*pass)(const Graph&, const PassContext&), std::string_view text,
                  const PassContext& context) {
  const Graph graph = graph_of(text);
  const std::string before = body_of(graph);
  const PassResult result = pass(graph, context);
  verify(result.graph, "the pass");
  if (body_of(graph) != before) return "the pass has changed its input";
  return body_of(result.graph);
}

std::string rules_of(const std::vector<Rewrite>& rewrites) {
  std::string text;
  for (const Rewrite& r : rewrites) text += (text.empty() ? "" : ", ") + r.rule;
  return text;
}

}  // namespace strata::testing
