// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/ir/control_flow.h"
#include "core/ir/verify.h"
#include "core/support/error.h"

namespace strata {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

std::string names_until(const std::vector<Pass>& pipeline, size_t end) {
  std::string text;
  for (size_t i = 0; i < end; ++i) text += (i ? ", " : "") + pipeline[i].name;
  return text.empty() ? "none" : text;
}

void verify_after(const std::vector<Pass>& pipeline, size_t i, const Graph& graph) {
  try {
    verify(graph, pipeline[i].name);
  } catch (const Error& e) {
    throw_internal("pass '" + pipeline[i].name + "' (after: " + names_until(pipeline, i) +
                   ") made an invalid graph: " + e.what());
  }
}

/// What is wrong before any pass was in the program that was given.
void verify_captured(const Graph& graph) {
  try {
    verify(graph, "capture");
  } catch (const Error& e) {
    throw_user(e.message(), "the program is damaged, or was changed by hand; export it again");
  }
}

/// To a graph, then to the bodies of its control flow.
void apply(const Pass& pass, const PassContext& context, Graph& graph, PassRun& run) {
  if (!pass.may_change || pass.may_change(graph, context)) {
    PassResult result = pass.run(graph, context);
    std::move(result.refusals.begin(), result.refusals.end(), std::back_inserter(run.refusals));
    if (!result.rewrites.empty()) graph = std::move(result.graph);
    std::move(result.rewrites.begin(), result.rewrites.end(), std::back_inserter(run.rewrites));
  }
  for (auto& [name, body] : graph.subgraphs) apply(pass, context, *body, run);
}

}  // namespace

void check_disabled(const std::vector<Pass>& pipeline, const std::set<std::string>& disabled) {
  for (const std::string& name : disabled) {
    const auto it = std::find_if(pipeline.begin(), pipeline.end(), [&](const Pass& p) { return p.name == name; });
    if (it == pipeline.end()) {
      std::vector<std::string> names;
      for (const Pass& p : pipeline) names.push_back(p.name);
      throw_user("there is no pass '" + name + "'", suggest(name, names));
    }
    if (it->required) throw_user("pass '" + name + "' cannot be switched off: later passes rely on its result");
  }
}

Graph run_passes(const std::vector<Pass>& pipeline, const Graph& graph, const PassContext& context,
                 const RunnerOptions& options) {
  check_disabled(pipeline, options.disabled);
  Graph current = graph.clone();
  if (options.verify) verify_captured(current);
  std::map<std::string, int> occurrences;
  int optional_left = options.stop_after;
  for (size_t i = 0; i < pipeline.size(); ++i) {
    if (options.cancelled && options.cancelled()) throw_user("cancelled before pass '" + pipeline[i].name + "'");
    const Pass& pass = pipeline[i];
    PassRun run;
    run.pass = &pass;
    run.ordinal = static_cast<int>(i);
    run.occurrence = ++occurrences[pass.name];
    run.nodes_before = all_nodes(current).size();
    run.skipped = !pass.required && (options.disabled.contains(pass.name) || optional_left == 0);
    if (!run.skipped) {
      if (!pass.required && optional_left > 0) --optional_left;
      const int64_t start = now_ns();
      apply(pass, context, current, run);
      run.duration_ns = now_ns() - start;
      run.changed = !run.rewrites.empty();
      if (options.verify && run.changed) {
        const int64_t verify_start = now_ns();
        verify_after(pipeline, i, current);
        run.verify_ns = now_ns() - verify_start;
      }
    }
    run.nodes_after = all_nodes(current).size();
    if (options.observer) options.observer(run, current);
  }
  return current;
}

ConstantInputs::ConstantInputs(const Graph& graph, const PassContext& context) {
  std::set<std::string> written;
  for (const OutputSpec& spec : graph.output_specs)
    if (spec.kind == OutputSpec::Kind::BufferMutation || spec.kind == OutputSpec::Kind::ParameterMutation)
      written.insert(spec.target);
  const auto inputs = graph.placeholders();
  for (size_t i = 0; i < inputs.size() && i < graph.input_specs.size(); ++i) {
    const InputSpec& spec = graph.input_specs[i];
    if (spec.kind == InputSpec::Kind::User || !context.state || written.contains(spec.target)) continue;
    const auto it = context.state->find(spec.target);
    if (it == context.state->end()) continue;
    values_[inputs[i]] = spec.complex ? &(pairs_[inputs[i]] = as_pairs(it->second.contiguous())) : &it->second;
  }
  for (const auto& node : graph.nodes()) {
    if (node->kind != NodeKind::GetAttr) continue;
    if (const auto it = graph.attributes.find(node->target); it != graph.attributes.end())
      values_[node.get()] = &it->second;
  }
}

const Tensor* ConstantInputs::value(const Node* leaf) const {
  const auto it = values_.find(leaf);
  return it == values_.end() ? nullptr : it->second;
}

}  // namespace strata
