// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `;  x = None` behind statements of FX graph text. Internal to the FX reader.

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/fx_printer.h"
#include "core/ir/graph.h"

namespace strata::fx {

/// What is set to None behind each node. Only what the printer would not print by itself stays with the node.
class CleanUps {
 public:
  /// `cleaned` is set to None behind `node`, the last one that was read.
  void add(const Node* node, const Node* cleaned) {
    if (lines_.empty() || lines_.back().node != node) lines_.push_back({node, cleaned_.size(), 0});
    cleaned_.push_back(cleaned);
    ++lines_.back().count;
  }
  /// The same as text: `a = b`, in a statement of its own.
  void add(const Node* node, const std::string& names) {
    const auto [it, fresh] = texts_.try_emplace(node);
    std::string& all = it->second;
    if (fresh && !lines_.empty() && lines_.back().node == node) all = text(lines_.back());
    all += (all.empty() ? "" : " = None;  ") + names;
  }

  void finish(Graph& graph) {
    const LastUses uses = last_uses(graph);
    size_t next = 0;
    for (size_t i = 0; i < graph.size(); ++i) {
      Node& node = *graph.nodes()[i];
      const bool has_line = next < lines_.size() && lines_[next].node == &node;
      const Line line = has_line ? lines_[next++] : Line{};
      if (node.kind != NodeKind::Placeholder && node.kind != NodeKind::Output) compare(node, line, uses.of(i));
    }
  }

 private:
  struct Line {
    const Node* node = nullptr;
    size_t first = 0, count = 0;  // in cleaned_
  };

  void compare(Node& node, const Line& line, std::span<const Node* const> expected) {
    const auto it = texts_.find(&node);
    if (it == texts_.end()) {
      const std::span<const Node* const> found(cleaned_.data() + line.first, line.count);
      if (!std::equal(expected.begin(), expected.end(), found.begin(), found.end()))
        node.meta.extra["fx.clean_up"] = text(line);
      return;
    }
    std::string names;
    for (const Node* used : expected) names += (names.empty() ? "" : " = ") + used->name;
    if (it->second != names) node.meta.extra["fx.clean_up"] = it->second;
  }

  std::string text(const Line& line) const {
    std::string names;
    for (size_t k = 0; k < line.count; ++k) names += (k ? " = " : "") + cleaned_[line.first + k]->name;
    return names;
  }

  std::vector<Line> lines_;  // in order of the nodes
  std::vector<const Node*> cleaned_;
  std::unordered_map<const Node*, std::string> texts_;
};

}  // namespace strata::fx
