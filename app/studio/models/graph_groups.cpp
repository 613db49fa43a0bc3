// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/graph_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace strata::studio {
namespace {

using draw::GroupBy;
using draw::NodeState;
using draw::Picture;
using draw::PictureNode;

constexpr size_t kMostParts = 48;  // nobody nests deeper, and a broken path must not make thousands of frames

struct Module {
  std::string path;
  int parent = -1;         // always earlier in the list
  std::vector<int> nodes;  // of the flat picture, direct ones
  std::vector<int> children;
  size_t total = 0;    // nodes, those of inner modules included
  bool shown = false;  // has a frame or box of its own
  int depth = 0;       // number of shown modules around it
  bool collapsed = false;
  bool hidden = false;       // inside a collapsed one
  int box = -1, frame = -1;  // in the new picture
};

size_t common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

class Grouper {
 public:
  Grouper(const Picture& flat, const std::vector<trace::NodeRecord>& records, const draw::DrawOptions& options)
      : flat_(flat), options_(options) {
    find_paths(records);
    make_modules();
    choose_shown();
    choose_collapsed();
  }

  Picture run() {
    out_.title = flat_.title;
    out_.grouped_by = GroupBy::Modules;
    for (Module& m : modules_)
      if (m.shown && !m.hidden && !m.collapsed) add_frame(m);
    place_.assign(flat_.nodes.size(), -1);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) add_node(i);
    add_edges();
    for (const Module& m : modules_)
      if (m.box >= 0) finish_box(m);
    out_.index();
    return std::move(out_);
  }

 private:
  // Where nodes belong ------------------------------------------------------------------------------------------------

  void find_paths(const std::vector<trace::NodeRecord>& records) {
    paths_.resize(flat_.nodes.size());
    std::vector<char> backward(flat_.nodes.size(), 0);
    bool forward = false;
    for (const auto& record : records) {
      int i = flat_.find(record.id);
      if (i < 0) continue;
      paths_[static_cast<size_t>(i)] = module_parts(record.module);
      backward[static_cast<size_t>(i)] = record.role == "backward";
      forward = forward || record.role == "forward";
    }
    inherit(true);
    inherit(false);
    if (!forward) return;
    // In a joint graph a module stands twice: its own operators, and far below their gradients.
    for (size_t i = 0; i < paths_.size(); ++i)
      if (backward[i] && !paths_[i].empty()) paths_[i].insert(paths_[i].begin(), "(backward)");
  }

  /// Nodes without a module go where all their users (or all their operands) are.
  void inherit(bool from_users) {
    std::vector<std::vector<int>> others(flat_.nodes.size());
    for (const auto& edge : flat_.edges)
      if (flat_.nodes[static_cast<size_t>(edge.to)].op_class !=
          draw::OpClass::Output)  // it uses what is kept for later
        others[static_cast<size_t>(from_users ? edge.from : edge.to)].push_back(from_users ? edge.to : edge.from);
    for (size_t step = 0; step < paths_.size(); ++step) {
      size_t i = from_users ? paths_.size() - 1 - step : step;
      if (!paths_[i].empty() || flat_.nodes[i].op_class == draw::OpClass::Output || others[i].empty()) continue;
      std::vector<std::string> shared = paths_[static_cast<size_t>(others[i][0])];
      for (int other : others[i]) shared.resize(common(shared, paths_[static_cast<size_t>(other)]));
      paths_[i] = std::move(shared);
    }
  }

  void make_modules() {
    module_of_.assign(flat_.nodes.size(), -1);
    for (size_t i = 0; i < paths_.size(); ++i) {
      int at = -1;
      std::string path;
      for (const std::string& part : paths_[i]) {
        path += (path.empty() ? "" : ".") + part;
        at = child(at, path);
      }
      module_of_[i] = at;
      if (at >= 0) modules_[static_cast<size_t>(at)].nodes.push_back(static_cast<int>(i));
    }
    for (size_t m = modules_.size(); m-- > 0;) {
      modules_[m].total += modules_[m].nodes.size();
      if (int parent = modules_[m].parent; parent >= 0)
        modules_[static_cast<size_t>(parent)].total += modules_[m].total;
    }
  }

  int child(int parent, const std::string& path) {
    auto [it, fresh] = by_path_.emplace(path, static_cast<int>(modules_.size()));
    if (fresh) {
      modules_.emplace_back();
      modules_.back().path = path;
      modules_.back().parent = parent;
      if (parent >= 0) modules_[static_cast<size_t>(parent)].children.push_back(it->second);
    }
    return it->second;
  }

  void choose_shown() {
    for (Module& m : modules_) {
      m.shown = m.total >= 2 && !(m.nodes.empty() && m.children.size() == 1);
      if (m.parent >= 0) {
        const Module& parent = modules_[static_cast<size_t>(m.parent)];
        m.depth = parent.depth + (parent.shown ? 1 : 0);
      }
    }
  }

  // What is collapsed
  // --------------------------------------------------------------------------------------------------

  void choose_collapsed() {
    int limit = flat_.nodes.size() > kWholeGraph ? deepest_that_fits() : static_cast<int>(kMostParts) + 2;
    for (Module& m : modules_) {
      auto chosen = options_.opened.find(m.path);
      m.collapsed = m.shown && (chosen == options_.opened.end() ? m.depth >= limit : !chosen->second);
      if (m.parent >= 0) {
        const Module& parent = modules_[static_cast<size_t>(m.parent)];
        m.hidden = parent.hidden || parent.collapsed;
      }
    }
  }

  int deepest_that_fits() const {
    int best = 0;
    for (int limit = 1; limit <= static_cast<int>(kMostParts); ++limit) {
      if (boxes_at(limit) > kMostBoxes) break;
      best = limit;
    }
    return best;
  }

  size_t boxes_at(int limit) const {
    size_t boxes = 0;
    for (int m : module_of_) boxes += m < 0 ? 1 : 0;
    std::vector<char> inside(modules_.size(), 0);  // of a collapsed one
    for (size_t m = 0; m < modules_.size(); ++m) {
      const Module& module = modules_[m];
      inside[m] = module.parent >= 0 && inside[static_cast<size_t>(module.parent)];
      if (inside[m]) continue;
      bool collapsed = module.shown && module.depth >= limit;
      boxes += collapsed ? 1 : module.nodes.size();
      inside[m] = collapsed;
    }
    return boxes;
  }

  // The new picture
  // ----------------------------------------------------------------------------------------------------

  const Module* shown_around(int parent) const {
    while (parent >= 0 && !modules_[static_cast<size_t>(parent)].shown)
      parent = modules_[static_cast<size_t>(parent)].parent;
    return parent < 0 ? nullptr : &modules_[static_cast<size_t>(parent)];
  }

  std::string title(const Module& m) const {
    const Module* around = shown_around(m.parent);
    return around ? m.path.substr(around->path.size() + 1) : m.path;
  }

  double time(const Module& m) const {
    double sum = -1;
    auto add = [&](double t) {
      if (t >= 0) sum = std::max(sum, 0.0) + t;
    };
    for (int i : m.nodes) add(flat_.nodes[static_cast<size_t>(i)].time_share);
    for (int c : m.children) add(time(modules_[static_cast<size_t>(c)]));  // as deep as paths: at most kMostParts
    return sum;
  }

  std::string note(const Module& m, double time) const {
    std::string text = fmt::format("{} nodes", m.total);
    if (time >= 0 && options_.times) text += " · " + draw::format_time(time);
    return text;
  }

  void add_frame(Module& m) {
    const Module* around = shown_around(m.parent);
    m.frame = static_cast<int>(out_.groups.size());
    draw::PictureGroup group;
    group.title = title(m);
    group.time_ns = time(m);
    group.note = note(m, group.time_ns);
    group.tooltip = fmt::format("module {}\n{}\ndouble click or Enter: collapse", m.path, group.note);
    group.parent = around ? around->frame : -1;
    group.module = m.path;
    out_.groups.push_back(std::move(group));
  }

  /// The module that is to be drawn as one box and holds this node, or null.
  Module* box_of(size_t i) {
    for (int m = module_of_[i]; m >= 0; m = modules_[static_cast<size_t>(m)].parent) {
      Module& module = modules_[static_cast<size_t>(m)];
      if (module.collapsed && !module.hidden) return &module;
    }
    return nullptr;
  }

  void put_into_frame(PictureNode node, int parent) {
    const Module* around = shown_around(parent);
    node.group = around ? around->frame : -1;
    if (node.group >= 0)
      out_.groups[static_cast<size_t>(node.group)].nodes.push_back(static_cast<int>(out_.nodes.size()));
    out_.nodes.push_back(std::move(node));
  }

  void add_node(size_t i) {
    Module* box = box_of(i);
    if (!box) {
      place_[i] = static_cast<int>(out_.nodes.size());
      return put_into_frame(flat_.nodes[i], module_of_[i]);
    }
    if (box->box < 0) {
      box->box = static_cast<int>(out_.nodes.size());
      put_into_frame(make_box(*box), box->parent);
    }
    place_[i] = box->box;
    PictureNode& node = out_.nodes[static_cast<size_t>(box->box)];
    node.members.push_back(flat_.nodes[i].id);
    count(*box, flat_.nodes[i].state);
  }

  PictureNode make_box(const Module& m) const {
    PictureNode node;
    // The same in every stage, and no node has it: nodes are counted from one.
    node.id = static_cast<trace::NodeId>((std::uint64_t{1} << 62) | (std::hash<std::string>{}(m.path) >> 3));
    node.title = title(m);
    node.time_ns = node.time_share = time(m);
    node.subtitle = fmt::format("{} nodes", m.total);
    if (node.time_ns >= 0 && options_.times) node.footer = draw::format_time(node.time_ns);
    node.tooltip = fmt::format("module {}\n{}\ndouble click or Enter: expand", m.path, note(m, node.time_ns));
    node.module = m.path;
    return node;
  }

  void count(const Module& m, NodeState state) {
    auto& [added, changed] = states_[m.box];
    added += state == NodeState::Added;
    changed += state == NodeState::Changed;
  }

  /// A box is new when all in it is, and has changed when anything in it is new or has changed.
  void finish_box(const Module& m) {
    auto [added, changed] = states_[m.box];
    PictureNode& node = out_.nodes[static_cast<size_t>(m.box)];
    if (added == node.members.size())
      node.state = NodeState::Added;
    else if (added + changed > 0)
      node.state = NodeState::Changed;
    if (added + changed > 0) node.tooltip += fmt::format("\n{} added, {} changed in this step", added, changed);
  }

  void add_edges() {
    std::unordered_set<std::uint64_t> seen;
    for (const auto& edge : flat_.edges) {
      int from = place_[static_cast<size_t>(edge.from)], to = place_[static_cast<size_t>(edge.to)];
      std::uint64_t key = (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint32_t>(to);
      if (from != to && seen.insert(key).second) out_.edges.push_back({from, to});
    }
  }

  const Picture& flat_;
  const draw::DrawOptions& options_;
  std::vector<std::vector<std::string>> paths_;
  std::vector<Module> modules_;
  std::vector<int> module_of_;  // innermost, of each node of the flat picture
  std::unordered_map<std::string, int> by_path_;
  std::vector<int> place_;  // in the new picture
  std::unordered_map<int, std::pair<size_t, size_t>> states_;
  Picture out_;
};

}  // namespace

GroupBy effective_grouping(const draw::DrawOptions& options, const std::vector<trace::NodeRecord>& nodes) {
  if (!options.groups) return GroupBy::None;
  if (options.group_by != GroupBy::Automatic) return options.group_by;
  if (nodes.size() <= kWholeGraph) return GroupBy::Kernels;
  bool known = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return !n.module.empty(); });
  return known ? GroupBy::Modules : GroupBy::Kernels;
}

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

Picture group_by_modules(const Picture& flat, const std::vector<trace::NodeRecord>& nodes,
                         const draw::DrawOptions& options) {
  return Grouper(flat, nodes, options).run();
}

std::string module_of(const Picture& picture, int node) {
  if (node < 0 || static_cast<size_t>(node) >= picture.nodes.size()) return {};
  const PictureNode& found = picture.nodes[static_cast<size_t>(node)];
  if (!found.module.empty()) return found.module;
  return found.group < 0 ? std::string() : picture.groups[static_cast<size_t>(found.group)].module;
}

}  // namespace strata::studio
