// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "app/draw/attributes.h"
#include "app/draw/module_paths.h"
#include "app/draw/user_groups.h"

namespace strata::draw {
namespace {

// Every node has a way: the frames around it, outermost first. Ways start as module paths (or the kernel), and each of
// the user's groups is put into the ways of its members, right after what they all have in common. The ways together
// are a tree, whose vertices become frames, boxes, or nothing.

enum class Kind { Module, Kernel, User };

struct Step {
  Kind kind = Kind::Module;
  std::string name;  // of a module: one part of its path
  int number = -1;   // of a kernel or a user's group
  bool operator==(const Step&) const = default;
};

using Way = std::vector<Step>;

struct Group {
  Kind kind = Kind::Module;
  std::string key;    // in DrawOptions::opened
  std::string whole;  // all names on the way: no other group has the same
  int number = -1;
  int parent = -1;         // always earlier in the list
  std::vector<int> nodes;  // of the flat picture, direct ones
  std::vector<int> children;
  size_t total = 0;    // nodes, those of inner groups included
  bool shown = false;  // has a frame or box of its own
  int depth = 0;       // number of shown modules around it
  bool collapsed = false;
  bool hidden = false;       // inside a collapsed one
  int box = -1, frame = -1;  // in the new picture
};

class Ways {
 public:
  Ways(const Picture& flat, const std::vector<trace::NodeRecord>& records, const DrawOptions& options, GroupBy grouping)
      : flat_(flat), ways_(flat.nodes.size()) {
    if (grouping == GroupBy::None) return;
    const bool paths_asked = std::any_of(options.user_groups.begin(), options.user_groups.end(),
                                         [](const auto& g) { return g.rule == UserGroup::Rule::Module; });
    if (grouping == GroupBy::Modules || paths_asked) paths_ = module_paths(flat, records);
    if (grouping == GroupBy::Modules) take_modules();
    if (grouping == GroupBy::Kernels) take_kernels();
    for (size_t g = 0; g < options.user_groups.size(); ++g)
      take(static_cast<int>(g), options.user_groups[g].name, members(options.user_groups[g], flat, records, paths_));
  }
  std::vector<Way> take() { return std::move(ways_); }

 private:
  void take_modules() {
    for (size_t i = 0; i < ways_.size(); ++i)
      for (const std::string& part : paths_[i]) ways_[i].push_back({Kind::Module, part, -1});
  }

  void take_kernels() {
    for (size_t i = 0; i < ways_.size(); ++i) {
      const int k = flat_.nodes[i].member_of;
      if (k >= 0 && flat_.kernels[static_cast<size_t>(k)].nodes.size() > 1)
        ways_[i] = {{Kind::Kernel, flat_.kernels[static_cast<size_t>(k)].name, k}};
    }
  }

  void take(int number, const std::string& name, const std::vector<char>& inside) {
    const auto first = std::find(inside.begin(), inside.end(), 1);
    if (first == inside.end()) return;
    Way shared = ways_[static_cast<size_t>(first - inside.begin())];
    for (size_t i = 0; i < ways_.size(); ++i) {
      if (!inside[i]) continue;
      const auto end = std::mismatch(shared.begin(), shared.end(), ways_[i].begin(), ways_[i].end()).first;
      shared.erase(end, shared.end());
    }
    const std::unordered_set<int> cut = groups_cut_by(inside);
    for (size_t i = 0; i < ways_.size(); ++i) {
      if (!inside[i]) continue;
      Way& way = ways_[i];
      const auto at = way.begin() + static_cast<long>(shared.size());
      way.erase(
          std::remove_if(at, way.end(), [&](const Step& s) { return s.kind == Kind::User && cut.contains(s.number); }),
          way.end());
      way.insert(way.begin() + static_cast<long>(shared.size()), {Kind::User, name, number});
    }
  }

  /// Earlier groups of the user's that have nodes on both sides.
  std::unordered_set<int> groups_cut_by(const std::vector<char>& inside) const {
    std::unordered_set<int> in, out;
    for (size_t i = 0; i < ways_.size(); ++i)
      for (const Step& step : ways_[i])
        if (step.kind == Kind::User) (inside[i] ? in : out).insert(step.number);
    std::erase_if(in, [&](int number) { return !out.contains(number); });
    return in;
  }

  const Picture& flat_;
  std::vector<std::vector<std::string>> paths_;
  std::vector<Way> ways_;
};

class Grouper {
 public:
  Grouper(const Picture& flat, const std::vector<trace::NodeRecord>& records, const DrawOptions& options,
          GroupBy grouping)
      : flat_(flat), options_(options) {
    out_.grouped_by = grouping;
    make_groups(Ways(flat, records, options, grouping).take());
    choose_shown();
    choose_collapsed();
  }

  Picture run() {
    out_.title = flat_.title;
    out_.kernels = flat_.kernels;
    out_.modules = flat_.modules;
    out_.devices = flat_.devices;
    for (Group& g : groups_)
      if (g.shown && !g.hidden && !g.collapsed) add_frame(g);
    place_.assign(flat_.nodes.size(), -1);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) add_node(i);
    add_edges();
    for (const Group& g : groups_)
      if (g.box >= 0) finish_box(g);
    scale_bytes(out_);
    out_.index();
    return std::move(out_);
  }

 private:
  // The tree ---------------------------------------------------------------------------------------------------------

  void make_groups(const std::vector<Way>& ways) {
    group_of_.assign(flat_.nodes.size(), -1);
    for (size_t i = 0; i < ways.size(); ++i) {
      int at = -1;
      std::string path;
      for (const Step& step : ways[i]) at = child(at, step, path);
      group_of_[i] = at;
      if (at >= 0) groups_[static_cast<size_t>(at)].nodes.push_back(static_cast<int>(i));
    }
    for (size_t g = groups_.size(); g-- > 0;) {
      groups_[g].total += groups_[g].nodes.size();
      if (int parent = groups_[g].parent; parent >= 0) groups_[static_cast<size_t>(parent)].total += groups_[g].total;
    }
  }

  /// `path` is that of the modules on the way so far.
  int child(int parent, const Step& step, std::string& path) {
    std::string whole = parent < 0 ? "" : groups_[static_cast<size_t>(parent)].whole;
    if (step.kind == Kind::Module) {
      path += (path.empty() ? "" : ".") + step.name;
      whole += (whole.empty() ? "" : ".") + step.name;
    } else {
      whole += fmt::format("\x1f{}{}", step.kind == Kind::Kernel ? "kernel " : "group ", step.name);
      if (step.kind == Kind::Kernel) whole += fmt::format(" {}", step.number);
    }
    auto [it, fresh] = by_name_.emplace(whole, static_cast<int>(groups_.size()));
    if (!fresh) return it->second;
    Group& g = groups_.emplace_back();
    g.kind = step.kind;
    g.number = step.number;
    g.key = step.kind == Kind::Module ? path
            : step.kind == Kind::User ? user_group_key(step.name)
                                      : kernel_key(step.number);
    g.whole = std::move(whole);
    g.parent = parent;
    if (parent >= 0) groups_[static_cast<size_t>(parent)].children.push_back(it->second);
    return it->second;
  }

  /// The trace's number where there is one: the same in every picture.
  std::string kernel_key(int number) const {
    const PictureKernel& kernel = flat_.kernels[static_cast<size_t>(number)];
    return kernel.id != trace::kNone ? fmt::format("kernel:{}", kernel.id)
                                     : fmt::format("kernel:of {}", kernel.nodes.front());
  }

  bool only_wraps(const Group& g) const {
    return g.nodes.empty() && g.children.size() == 1 &&
           groups_[static_cast<size_t>(g.children.front())].kind == Kind::Module;
  }

  void choose_shown() {
    for (Group& g : groups_) {
      g.shown = g.kind != Kind::Module || (g.total >= 2 && !only_wraps(g));
      if (g.parent >= 0) {
        const Group& parent = groups_[static_cast<size_t>(g.parent)];
        g.depth = parent.depth + (parent.shown && parent.kind == Kind::Module ? 1 : 0);
      }
    }
  }

  // What is collapsed ------------------------------------------------------------------------------------------------

  bool starts_collapsed(const Group& g, int limit) const { return g.kind == Kind::Module && g.depth >= limit; }

  void choose_collapsed() {
    const int limit = flat_.nodes.size() > kWholeGraph ? deepest_that_fits() : static_cast<int>(kMostParts) + 2;
    for (Group& g : groups_) {
      auto chosen = options_.opened.find(g.key);
      g.collapsed = g.shown && (chosen == options_.opened.end() ? starts_collapsed(g, limit) : !chosen->second);
      if (g.parent >= 0) {
        const Group& parent = groups_[static_cast<size_t>(g.parent)];
        g.hidden = parent.hidden || parent.collapsed;
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

  /// Nodes in no group are there at any depth.
  size_t boxes_at(int limit) const {
    size_t boxes = 0;
    std::vector<char> inside(groups_.size(), 0);  // of a collapsed one
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      inside[g] = group.parent >= 0 && inside[static_cast<size_t>(group.parent)];
      if (inside[g]) continue;
      const bool collapsed = group.shown && starts_collapsed(group, limit);
      boxes += collapsed ? 1 : group.nodes.size();
      inside[g] = collapsed;
    }
    return boxes;
  }

  // The new picture --------------------------------------------------------------------------------------------------

  const Group* shown_around(int parent) const {
    while (parent >= 0 && !groups_[static_cast<size_t>(parent)].shown)
      parent = groups_[static_cast<size_t>(parent)].parent;
    return parent < 0 ? nullptr : &groups_[static_cast<size_t>(parent)];
  }

  const Group* module_around(int parent) const {
    const Group* around = shown_around(parent);
    while (around && around->kind != Kind::Module) around = shown_around(around->parent);
    return around;
  }

  std::string title(const Group& g) const {
    if (g.kind == Kind::Kernel) return flat_.kernels[static_cast<size_t>(g.number)].name;
    if (g.kind == Kind::User) return user_group_name(g.key);
    const Group* around = module_around(g.parent);
    return around ? g.key.substr(around->key.size() + 1) : g.key;
  }

  /// A kernel's time divided evenly among its nodes, so that a part of one has a part of it.
  double time(const Group& g) const {
    double sum = -1;
    auto add = [&](double t) {
      if (t >= 0) sum = std::max(sum, 0.0) + t;
    };
    for (int i : g.nodes) add(flat_.nodes[static_cast<size_t>(i)].time_share);
    for (int c : g.children) add(time(groups_[static_cast<size_t>(c)]));  // as deep as ways are long
    return sum;
  }

  bool is_part(const Group& g) const {
    return g.kind == Kind::Kernel && g.total < flat_.kernels[static_cast<size_t>(g.number)].nodes.size();
  }

  std::string size_text(const Group& g) const {
    if (is_part(g))
      return fmt::format("{} of {} nodes", g.total, flat_.kernels[static_cast<size_t>(g.number)].nodes.size());
    return fmt::format("{} node{}", g.total, g.total == 1 ? "" : "s");
  }

  std::string note(const Group& g, double time) const {
    if (g.kind == Kind::Kernel && !is_part(g)) return flat_.kernels[static_cast<size_t>(g.number)].note;
    std::string text = size_text(g);
    if (time >= 0 && options_.times) text += " · " + format_time(time);
    return text;
  }

  std::string tooltip(const Group& g, double time, const char* action) const {
    std::string text;
    if (g.kind == Kind::Kernel)
      text = flat_.kernels[static_cast<size_t>(g.number)].tooltip;
    else if (g.kind == Kind::User)
      text = fmt::format("group {}", user_group_name(g.key));
    else
      text = fmt::format("module {}", g.key);
    if (g.kind != Kind::Kernel || is_part(g)) text += "\n" + note(g, time);
    if (const std::string rule =
            g.kind == Kind::User ? rule_words(options_.user_groups[static_cast<size_t>(g.number)]) : "";
        !rule.empty())
      text += "\nrule: " + rule;
    return text + "\ndouble click or Enter: " + action;
  }

  trace::Id kernel_of(const Group& g) const {
    return g.kind == Kind::Kernel ? flat_.kernels[static_cast<size_t>(g.number)].id : trace::kNone;
  }

  void add_frame(Group& g) {
    const Group* around = shown_around(g.parent);
    g.frame = static_cast<int>(out_.groups.size());
    PictureGroup group;
    group.title = title(g);
    group.kernel = kernel_of(g);
    group.time_ns = time(g);
    group.note = note(g, group.time_ns);
    group.tooltip = tooltip(g, group.time_ns, "collapse");
    group.parent = around ? around->frame : -1;
    group.module = g.key;
    out_.groups.push_back(std::move(group));
  }

  /// The group that is to be drawn as one box and holds this node, or null.
  Group* box_of(size_t i) {
    for (int g = group_of_[i]; g >= 0; g = groups_[static_cast<size_t>(g)].parent) {
      Group& group = groups_[static_cast<size_t>(g)];
      if (group.collapsed && !group.hidden) return &group;
    }
    return nullptr;
  }

  void put_into_frame(PictureNode node, int parent) {
    const Group* around = shown_around(parent);
    node.group = around ? around->frame : -1;
    if (node.group >= 0)
      out_.groups[static_cast<size_t>(node.group)].nodes.push_back(static_cast<int>(out_.nodes.size()));
    out_.nodes.push_back(std::move(node));
  }

  void add_node(size_t i) {
    Group* box = box_of(i);
    if (!box) {
      place_[i] = static_cast<int>(out_.nodes.size());
      return put_into_frame(flat_.nodes[i], group_of_[i]);
    }
    const PictureNode& inner = flat_.nodes[i];
    if (box->box < 0) {
      box->box = static_cast<int>(out_.nodes.size());
      put_into_frame(make_box(*box, inner), box->parent);
    }
    place_[i] = box->box;
    PictureNode& node = out_.nodes[static_cast<size_t>(box->box)];
    node.members.push_back(inner.id);
    if (node.module_slot != inner.module_slot) node.module_slot = -1;
    if (node.device != inner.device) node.device.clear(), node.device_slot = -1;
    count(*box, inner.state);
  }

  PictureNode make_box(const Group& g, const PictureNode& first) const {
    PictureNode node;
    // The same in every stage, and no node has it: nodes are counted from one.
    node.id = static_cast<trace::NodeId>((std::uint64_t{1} << 62) | (std::hash<std::string>{}(g.whole) >> 3));
    node.title = title(g);
    if (node.title.empty()) node.title = g.kind == Kind::Kernel ? "kernel" : "group";
    node.time_ns = node.time_share = time(g);
    node.subtitle = size_text(g);
    if (node.time_ns >= 0 && options_.times) node.footer = format_time(node.time_ns);
    node.tooltip = tooltip(g, node.time_ns, "expand");
    node.module = g.key;
    node.kernel = kernel_of(g);
    node.module_slot = first.module_slot;
    node.device = first.device;
    node.device_slot = first.device_slot;
    return node;
  }

  void count(const Group& g, NodeState state) {
    auto& [added, changed] = states_[g.box];
    added += state == NodeState::Added;
    changed += state == NodeState::Changed;
  }

  /// A box is new when all in it is, and has changed when anything in it is new or has changed.
  void finish_box(const Group& g) {
    auto [added, changed] = states_[g.box];
    PictureNode& node = out_.nodes[static_cast<size_t>(g.box)];
    if (added == node.members.size())
      node.state = NodeState::Added;
    else if (added + changed > 0)
      node.state = NodeState::Changed;
    if (added + changed > 0) node.tooltip += fmt::format("\n{} added, {} changed in this step", added, changed);
  }

  void add_edges() {
    std::unordered_set<std::uint64_t> seen;
    std::vector<char> counted(flat_.nodes.size(), 0);
    for (const auto& edge : flat_.edges) {
      const int from = place_[static_cast<size_t>(edge.from)], to = place_[static_cast<size_t>(edge.to)];
      if (from == to) continue;
      const PictureNode& source = flat_.nodes[static_cast<size_t>(edge.from)];
      PictureNode& box = out_.nodes[static_cast<size_t>(from)];
      if (!box.members.empty() && source.bytes >= 0 && !counted[static_cast<size_t>(edge.from)]) {
        counted[static_cast<size_t>(edge.from)] = 1;
        box.bytes = std::max(box.bytes, 0.0) + source.bytes;
      }
      const std::uint64_t key = (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint32_t>(to);
      if (seen.insert(key).second) out_.edges.push_back({from, to});
    }
  }

  const Picture& flat_;
  const DrawOptions& options_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // innermost, of each node of the flat picture
  std::unordered_map<std::string, int> by_name_;
  std::vector<int> place_;  // in the new picture
  std::unordered_map<int, std::pair<size_t, size_t>> states_;
  Picture out_;
};

constexpr std::string_view kUserGroup = "group:";

}  // namespace

GroupBy effective_grouping(const DrawOptions& options, const std::vector<trace::NodeRecord>& nodes) {
  if (!options.groups) return GroupBy::None;
  if (options.group_by != GroupBy::Automatic) return options.group_by;
  if (nodes.size() <= kWholeGraph) return GroupBy::Kernels;
  const bool known = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return !n.module.empty(); });
  return known ? GroupBy::Modules : GroupBy::Kernels;
}

Picture group_picture(const Picture& flat, const std::vector<trace::NodeRecord>& nodes, const DrawOptions& options,
                      GroupBy grouping) {
  return Grouper(flat, nodes, options, grouping).run();
}

std::string user_group_key(const std::string& name) { return std::string(kUserGroup) + name; }

std::string user_group_name(const std::string& key) {
  return key.compare(0, kUserGroup.size(), kUserGroup) == 0 ? key.substr(kUserGroup.size()) : std::string();
}

std::string group_of(const Picture& picture, int node) {
  if (node < 0 || static_cast<size_t>(node) >= picture.nodes.size()) return {};
  const PictureNode& found = picture.nodes[static_cast<size_t>(node)];
  if (!found.module.empty()) return found.module;
  return found.group < 0 ? std::string() : picture.groups[static_cast<size_t>(found.group)].module;
}

}  // namespace strata::draw
