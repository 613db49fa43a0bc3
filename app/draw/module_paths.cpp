// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/module_paths.h"

#include <algorithm>

namespace strata::draw {
namespace {

using Paths = std::vector<std::vector<std::string>>;

size_t common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

/// Nodes without a module go where all their users (or all their operands) are. The output uses what is kept for later
/// and says nothing.
void inherit(const Picture& flat, Paths& paths, bool from_users) {
  std::vector<std::vector<int>> others(flat.nodes.size());
  for (const auto& [from, to] : flat.edges)
    if (flat.nodes[static_cast<size_t>(to)].op_class != OpClass::Output)
      others[static_cast<size_t>(from_users ? from : to)].push_back(from_users ? to : from);
  for (size_t step = 0; step < paths.size(); ++step) {
    const size_t i = from_users ? paths.size() - 1 - step : step;
    if (!paths[i].empty() || flat.nodes[i].op_class == OpClass::Output || others[i].empty()) continue;
    std::vector<std::string> shared = paths[static_cast<size_t>(others[i][0])];
    for (int other : others[i]) shared.resize(common(shared, paths[static_cast<size_t>(other)]));
    paths[i] = std::move(shared);
  }
}

}  // namespace

std::vector<std::string> module_parts(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  int open = 0;
  char quote = 0;
  for (char c : path) {
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[') {
      ++open;
    } else if (c == ']' && open > 0) {
      --open;
    } else if (c == '.' && open == 0) {
      if (!part.empty()) parts.push_back(std::move(part));
      part.clear();
      if (parts.size() == kMostParts) return parts;
      continue;
    }
    part += c;
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

Paths module_paths(const Picture& flat, const std::vector<trace::NodeRecord>& nodes) {
  Paths paths(flat.nodes.size());
  std::vector<char> backward(flat.nodes.size(), 0);
  bool forward = false;
  for (const auto& record : nodes) {
    const int i = flat.find(record.id);
    if (i < 0) continue;
    paths[static_cast<size_t>(i)] = module_parts(record.module);
    backward[static_cast<size_t>(i)] = record.role == "backward";
    forward = forward || record.role == "forward";
  }
  inherit(flat, paths, true);
  inherit(flat, paths, false);
  if (!forward) return paths;
  // In a joint graph a module stands twice: its own operators, and far below their gradients.
  for (size_t i = 0; i < paths.size(); ++i)
    if (backward[i] && !paths[i].empty()) paths[i].insert(paths[i].begin(), "(backward)");
  return paths;
}

std::string join_path(const std::vector<std::string>& parts, size_t count) {
  std::string path;
  for (size_t i = 0; i < std::min(count, parts.size()); ++i) path += (path.empty() ? "" : ".") + parts[i];
  return path;
}

}  // namespace strata::draw
