// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/fusion_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/support/error.h"

namespace strata::cli {
namespace {

/// One of the two that are asked about.
struct Side {
  std::string name;
  trace::NodeId node = 0;  ///< 0: a whole kernel
  std::int64_t group = 0;  ///< 0: computed in no kernel
};

class Question {
 public:
  Question(trace::Reader& reader, trace::Id compile)
      : kernels_(reader.kernels(compile)), fusions_(reader.fusions(compile)) {
    for (const trace::SnapshotRecord& s : reader.snapshots(compile))
      if (s.stage == "scheduled") nodes_ = reader.nodes(s.id);
    if (nodes_.empty()) throw_user("this graph has no stage 'scheduled', so nothing is known of its kernels");
    for (const trace::NodeRecord& n : nodes_) names_[n.id] = n.name;
  }

  Side side(const std::string& name) const {
    std::vector<std::string> known;
    for (const trace::NodeRecord& n : nodes_) {
      if (n.name == name || std::to_string(n.id) == name) return {n.name, n.id, std::max<std::int64_t>(n.group, 0)};
      known.push_back(n.name);
    }
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (kernels_[k].name == name) return {name, 0, static_cast<std::int64_t>(k) + 1};
      known.push_back(kernels_[k].name);
    }
    throw_user(fmt::format("stage 'scheduled' has no node or kernel '{}'", name), suggest(name, known));
  }

  std::string answer(const Side& a, const Side& b) const {
    std::string text;
    for (const Side* s : {&a, &b})
      text += fmt::format("{}: {}\n", s->name, s->group > 0 ? "kernel " + kernel(s->group) : "no kernel of its own");
    if (a.group == 0 || b.group == 0) return text + "what has no kernel is read, or seen through, where it is needed\n";
    const std::string reasons = reasons_between(a, b);
    if (a.group == b.group) return text + "one kernel computes both\n" + reasons;
    return text + (reasons.empty() ? "two kernels: they share no data\n" : "two kernels\n" + reasons);
  }

 private:
  std::string kernel(std::int64_t group) const {
    const auto k = static_cast<size_t>(group) - 1;
    return k < kernels_.size() ? kernels_[k].name : std::to_string(group);
  }

  std::string name(trace::NodeId id) const {
    const auto it = names_.find(id);
    return it == names_.end() ? std::to_string(id) : it->second;
  }

  /// What was decided about the two nodes themselves comes first, then about others of their kernels.
  std::string reasons_between(const Side& a, const Side& b) const {
    std::string own, others;
    for (const trace::FusionRecord& f : fusions_) {
      if (f.rule == "readers") continue;
      const bool same_groups = std::minmax(f.producer_group, f.consumer_group) == std::minmax(a.group, b.group);
      if (!same_groups) continue;
      const bool asked = a.node != 0 && std::minmax(f.producer, f.consumer) == std::minmax(a.node, b.node);
      if (a.group == b.group && a.node != 0 && b.node != 0 && !asked) continue;
      (asked ? own : others) +=
          fmt::format("  {} {} {}: {}: {}\n", name(f.producer), f.rule == "siblings" ? "and" : "to", name(f.consumer),
                      f.accepted ? "fused" : "not fused", f.reason);
    }
    return own + others + crowds(a, b);
  }

  /// Values with so many readers that these were not asked in pairs.
  std::string crowds(const Side& a, const Side& b) const {
    if (a.group == b.group) return "";
    std::string text;
    std::map<trace::NodeId, std::set<std::int64_t>> readers;
    for (const trace::FusionRecord& f : fusions_) {
      if (f.rule != "readers") continue;
      std::set<std::int64_t>& groups = readers[f.producer];
      const bool was = groups.contains(a.group) && groups.contains(b.group);
      groups.insert(f.consumer_group);
      if (!was && groups.contains(a.group) && groups.contains(b.group)) text += "  not fused: " + f.reason + "\n";
    }
    return text;
  }

  std::vector<trace::KernelRecord> kernels_;
  std::vector<trace::FusionRecord> fusions_;
  std::vector<trace::NodeRecord> nodes_;
  std::map<trace::NodeId, std::string> names_;
};

}  // namespace

std::string why_fused(trace::Reader& reader, trace::Id compile, const std::string& a, const std::string& b) {
  const Question question(reader, compile);
  const Side first = question.side(a), second = question.side(b);
  return question.answer(first, second);
}

}  // namespace strata::cli
