// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/eager_stacks.h"

#include <algorithm>

#include "profiler/iterations.h"
#include "profiler/op_names.h"

namespace strata::profiler {
namespace {

const HostEvent& at(const Timeline& t, int i) { return t.host[static_cast<size_t>(i)]; }

}  // namespace

EagerStacks::EagerStacks(const Timeline& eager, const Timeline& compiled, CompiledGraphs& graphs,
                         const EagerMatch& match)
    : timeline_(eager), eager_(eager), compiled_(compiled) {
  if (!eager_.any()) return;
  add_calls(graphs);
  std::set<trace::Id> tracks;
  for (const HostEvent& e : eager.host) tracks.insert(e.track);
  for (const trace::Id track : tracks)
    for (const int top : top_operators(eager, track)) {
      const PythonPlace& place = eager_.of(top);
      if (place.known() && place.definition > 0)
        definitions_[key_of(place.file, place.function)].emplace(place.definition, place.file);
    }
  for (const auto& [top, item] : match.of) {
    const PythonPlace& place = eager_.of(top);
    if (item.call != nullptr && !place.modules.empty()) modules_[place.modules].insert(item.call->module);
    corresponds_ |= place.known() && !calls_in(place).empty();
  }
}

EagerStacks::Function EagerStacks::key_of(const std::string& file, const std::string& function) {
  const size_t folder = file.find_last_of("/\\");
  return {folder == std::string::npos ? file : file.substr(folder + 1), std::string(original_function(function))};
}

void EagerStacks::add_calls(CompiledGraphs& graphs) {
  for (const auto& compile : graphs.compiles())
    if (const CompiledGraph* g = graphs.graph(compile.id); g != nullptr)
      for (const CapturedCall& call : g->calls)
        if (!call.at.file.empty()) calls_[key_of(call.at.file, call.at.function)].push_back(&call);
}

/// Where the function that `line` is in begins: of several with this name in the file, the last before it.
std::int64_t EagerStacks::definition_of(const PythonPlace& place, std::int64_t line) const {
  const auto found = definitions_.find(key_of(place.file, place.function));
  std::int64_t best = 0;
  if (found != definitions_.end())
    for (const auto& [definition, file] : found->second)
      if (definition <= line && same_file(file, place.file)) best = definition;
  return best;
}

bool EagerStacks::is_in(const CapturedCall& call, const PythonPlace& place) const {
  if (!same_file(call.at.file, place.file) || original_function(call.at.function) != original_function(place.function))
    return false;
  return place.definition == 0 || definition_of(place, call.at.line) == place.definition;
}

std::vector<const CapturedCall*> EagerStacks::calls_in(const PythonPlace& place) const {
  const auto found = calls_.find(key_of(place.file, place.function));
  std::vector<const CapturedCall*> calls;
  if (found != calls_.end())
    for (const CapturedCall* call : found->second)
      if (is_in(*call, place)) calls.push_back(call);
  return calls;
}

StackRow EagerStacks::function_row(const PythonPlace& place) const {
  return {place.text(), true, corresponds_ && calls_in(place).empty()};
}

std::optional<StackRow> EagerStacks::line(int top, const CapturedCall* aligned) {
  const PythonPlace& place = eager_.of(top);
  // Without a function in common the names of files say nothing about each other: paths were changed.
  if (!place.known() || (aligned != nullptr && !corresponds_)) return std::nullopt;
  const auto calls = calls_in(place);
  const std::string name = operator_base(at(timeline_, top).name);
  // Of a module that is known, only what that module calls.
  const auto module = modules_.find(place.modules);
  const bool one_module = module != modules_.end() && module->second.size() == 1;
  std::set<std::string> lines;
  for (const CapturedCall* call : calls) {
    if (place.line > 0 && call->at.line == place.line) return StackRow{call->line, true, false};
    if (one_module && call->module != *module->second.begin()) continue;
    if (name_match(call->item.name, name) > 0) lines.insert(call->line);
  }
  if (place.line > 0) return function_row(place);
  if (aligned != nullptr && is_in(*aligned, place))
    return StackRow{aligned->line, lines.size() == 1 && lines.contains(aligned->line), false};
  if (lines.size() == 1) return StackRow{*lines.begin(), false, false};
  return function_row(place);
}

std::optional<StackRow> EagerStacks::module(int top, const CapturedCall* aligned) {
  const std::string& chain = eager_.of(top).modules;
  if (chain.empty()) return std::nullopt;
  const auto found = modules_.find(chain);
  if (found == modules_.end()) return StackRow{chain, true, !modules_.empty()};
  if (found->second.size() == 1) return StackRow{*found->second.begin(), true, false};
  if (aligned != nullptr) return StackRow{aligned->module, false, false};
  return StackRow{chain, true, false};
}

std::optional<StackRow> EagerStacks::line_of_compiled(int top) {
  PythonPlace place = compiled_.of(top);
  if (!both() || !place.known()) return std::nullopt;
  // A function that goes on behind a graph break is the one that it was.
  if (original_function(place.function) != place.function) {
    place.function = original_function(place.function);
    const std::int64_t definition = definition_of(place, place.definition);
    if (definition > 0) place.definition = definition;
  }
  return function_row(place);
}

}  // namespace strata::profiler
