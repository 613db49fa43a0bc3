// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines and modules of an eager profile's operators by the Python stacks in it, in the words of the captured graphs.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/compiled_graphs.h"
#include "profiler/eager_match.h"
#include "profiler/python_stacks.h"

namespace strata::profiler {

/// Where an operator of the program belongs.
struct StackRow {
  std::string key;     ///< line or module as captured calls have it; else `model.py(12): forward`, `Net_0.Linear_1`
  bool exact = false;  ///< the stack alone says so; else it agrees with what order and names say
  bool not_compiled = false;  ///< no captured graph has anything of this function or module
};

class EagerStacks {
 public:
  /// Keeps references to the timelines. Calls of all graphs are looked at.
  EagerStacks(const Timeline& eager, const Timeline& compiled, CompiledGraphs& graphs, const EagerMatch& match);

  /// Whether the eager profile has stacks.
  bool any() const { return eager_.any(); }
  /// Whether both have.
  bool both() const { return eager_.any() && compiled_.any(); }

  /// Row of an operator that the eager program called itself; `aligned` is the captured call that order and names put
  /// it beside, null for none. Nothing when its stack does not help.
  std::optional<StackRow> line(int top, const CapturedCall* aligned);
  std::optional<StackRow> module(int top, const CapturedCall* aligned);
  /// Row of an operator of the compiled program that runs outside of graphs.
  std::optional<StackRow> line_of_compiled(int top);

 private:
  using Function = std::pair<std::string, std::string>;  ///< name of the file without folders, function
  static Function key_of(const std::string& file, const std::string& function);
  void add_calls(CompiledGraphs& graphs);
  std::int64_t definition_of(const PythonPlace& place, std::int64_t line) const;
  bool is_in(const CapturedCall& call, const PythonPlace& place) const;
  std::vector<const CapturedCall*> calls_in(const PythonPlace& place) const;
  StackRow function_row(const PythonPlace& place) const;

  const Timeline& timeline_;
  PythonPlaces eager_, compiled_;
  std::map<Function, std::vector<const CapturedCall*>> calls_;
  std::map<Function, std::set<std::pair<std::int64_t, std::string>>> definitions_;  ///< with the file
  std::map<std::string, std::set<std::string>> modules_;                            ///< of captured calls, by chain
  bool corresponds_ = false;  ///< some function of the eager profile is in a captured graph
};

}  // namespace strata::profiler
