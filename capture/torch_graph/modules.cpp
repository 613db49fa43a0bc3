// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/torch_graph/modules.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_map>

namespace strata::capture::graphs {
namespace {

/// As Dynamo makes names of sources: all but letters and digits are one `_`.
std::string mangled(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += c;
    } else if (!out.ends_with('_')) {
      out += '_';
    }
  }
  return out;
}

void append_part(std::string& path, std::string_view part) {
  if (!path.empty()) path += '.';
  path += part;
}

/// `['layer1']` behind `key` in `text`, from `at` on; moves `at` behind it.
std::optional<std::string_view> subscript(std::string_view text, std::string_view key, size_t& at) {
  const size_t found = text.find(key, at);
  if (found == std::string_view::npos) return std::nullopt;
  const size_t open = found + key.size();
  if (open + 2 > text.size() || text[open] != '[' || (text[open + 1] != '\'' && text[open + 1] != '"'))
    return std::nullopt;
  const size_t close = text.find(text[open + 1], open + 2);
  if (close == std::string_view::npos) return std::nullopt;
  at = close + 1;
  return text.substr(open + 2, close - open - 2);
}

/// The module of a parameter: `layer1.0` of `L['self']._modules['layer1']._modules['0']._parameters['weight']`.
std::optional<std::string> module_of_source(std::string_view source) {
  if (source.find("_parameters[") == std::string_view::npos && source.find("_buffers[") == std::string_view::npos)
    return std::nullopt;
  std::string path;
  size_t at = 0;
  while (const auto part = subscript(source, "_modules", at)) append_part(path, *part);
  return path;
}

/// The same from the name of the input: `L_self_modules_layer1_modules_0_parameters_weight_`.
std::optional<std::string> module_of_name(std::string_view name) {
  size_t end = name.rfind("_parameters_");
  if (end == std::string_view::npos) end = name.rfind("_buffers_");
  if (end == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kModules = "_modules_";
  std::string path;
  size_t at = name.find(kModules);
  while (at < end) {
    const size_t start = at + kModules.size();
    size_t next = name.find(kModules, start);
    if (next > end) next = end;
    if (next <= start) return std::nullopt;
    append_part(path, name.substr(start, next - start));
    at = next;
  }
  return path;
}

std::string parent_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

class Finder {
 public:
  Finder(const ImportedGraph& graph, const std::vector<std::string>& sources) : g_(graph) {
    for (const std::string& s : sources)
      if (auto module = module_of_source(s)) known_.emplace(mangled(s), std::move(*module));
    out_.path.resize(g_.nodes.size());
    out_.inferred.resize(g_.nodes.size());
    owner_.resize(g_.nodes.size());
    certain_.resize(g_.nodes.size());
  }

  ModulePaths run() {
    for (int i = 0; i < g_.size(); ++i) owners(i);
    for (int i = 0; i < g_.size(); ++i)
      if (g_.nodes[at(i)].op.starts_with("call")) by_parameter(i);
    between();
    return std::move(out_);
  }

 private:
  /// The module whose parameter an input or attribute is.
  void owners(int i) {
    const trace::NodeRecord& n = g_.nodes[at(i)];
    if (n.op == "placeholder") {
      if (const auto found = known_.find(mangled(n.target)); found != known_.end()) {
        owner_[at(i)] = found->second;
        certain_[at(i)] = true;
      } else {
        owner_[at(i)] = module_of_name(n.target);
      }
    } else if (n.op == "get_attr" && n.target.find('.') != std::string::npos) {
      owner_[at(i)] = parent_of(n.target);
      certain_[at(i)] = true;
    }
  }

  void by_parameter(int i) {
    if (g_.is(i, "call_module")) {
      out_.path[at(i)] = g_.nodes[at(i)].target;
      return;
    }
    const std::string* found = nullptr;
    bool certain = true;
    for (const int o : g_.operands[at(i)]) {
      if (!owner_[at(o)]) continue;
      if (found && *found != *owner_[at(o)]) return;
      found = &*owner_[at(o)];
      certain = certain && certain_[at(o)];
    }
    if (!found) return;
    out_.path[at(i)] = *found;
    out_.inferred[at(i)] = !certain;
  }

  /// In one function, or all in functions that the producer does not show.
  static bool same_function(const SourceStack& a, const SourceStack& b) {
    const bool unknown_a = !a || a->empty(), unknown_b = !b || b->empty();
    if (unknown_a || unknown_b) return unknown_a && unknown_b;
    return a->back().file == b->back().file && a->back().function == b->back().function;
  }

  /// Calls without parameters between two with them.
  void between() {
    std::vector<int> open;
    int before = -1;
    for (int i = 0; i < g_.size(); ++i) {
      if (!g_.nodes[at(i)].op.starts_with("call")) continue;
      if (out_.path[at(i)].empty()) {
        open.push_back(i);
        continue;
      }
      if (before >= 0) fill(before, open, i);
      open.clear();
      before = i;
    }
  }

  void fill(int before, const std::vector<int>& open, int after) {
    const std::string& a = out_.path[at(before)];
    const std::string& b = out_.path[at(after)];
    const std::string parent = parent_of(a);
    if (parent.empty() || parent != parent_of(b) || !same_function(g_.sources[at(before)], g_.sources[at(after)]))
      return;
    for (const int i : open) {
      if (!same_function(g_.sources[at(i)], g_.sources[at(before)])) continue;
      out_.path[at(i)] = parent;
      out_.inferred[at(i)] = true;
    }
  }

  const ImportedGraph& g_;
  std::unordered_map<std::string, std::string> known_;  // by mangled source
  std::vector<std::optional<std::string>> owner_;       // by node
  std::vector<bool> certain_;
  ModulePaths out_;
};

}  // namespace

ModulePaths module_paths(const ImportedGraph& graph, const std::vector<std::string>& sources) {
  return Finder(graph, sources).run();
}

}  // namespace strata::capture::graphs
