// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/trace/snapshot_writer.h"

#include <fmt/format.h>

#include <cstring>

#include "core/support/error.h"

namespace strata::trace {
namespace {

/// Two independent multiplicative lanes.
class Hasher {
 public:
  void word(std::uint64_t value) {
    low_ = (low_ ^ value) * 0x9e3779b97f4a7c15u;
    low_ ^= low_ >> 32;
    high_ = (high_ + value) * 0xc2b2ae3d27d4eb4fu;
    high_ ^= high_ >> 29;
  }

  void text(std::string_view text) {
    word(text.size());
    while (text.size() >= 8) {
      std::uint64_t value;
      std::memcpy(&value, text.data(), 8);
      word(value);
      text.remove_prefix(8);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, text.data(), text.size());
    if (!text.empty()) word(rest);
  }

  NodeHash result() const { return {low_, high_}; }

 private:
  std::uint64_t low_ = 0x243f6a8885a308d3u, high_ = 0x13198a2e03707344u;
};

}  // namespace

NodeHash hash_node(const NodeRecord& node) {
  Hasher hasher;
  for (const std::string* text : {&node.name, &node.op, &node.target, &node.args, &node.type, &node.dtype, &node.shape,
                                  &node.device, &node.module, &node.role, &node.extra}) {
    hasher.text(*text);
  }
  hasher.word(node.inputs.size());
  for (const auto& operand : node.inputs) {
    hasher.word(operand.size());
    for (const NodeId input : operand) hasher.word(static_cast<std::uint64_t>(input));
  }
  for (const std::int64_t number : {node.id, node.stack, node.maker, node.group}) {
    hasher.word(static_cast<std::uint64_t>(number));
  }
  return hasher.result();
}

std::string CompileNodes::unique_stage(const std::string& stage) {
  std::string name = stage;
  for (int copy = 2; !stages_.insert(name).second; ++copy) name = fmt::format("{}#{}", stage, copy);
  return name;
}

std::vector<CompileNodes::Entry> CompileNodes::check(std::span<const NodeRecord> nodes,
                                                     const std::span<const NodeId>* order) {
  std::unordered_map<NodeId, const NodeRecord*> given;
  if (order) {
    for (const NodeRecord& node : nodes) {
      if (!given.emplace(node.id, &node).second) throw_internal(fmt::format("node {} is given twice", node.id));
    }
  }
  const std::size_t count = order ? order->size() : nodes.size();
  std::vector<Entry> entries;
  entries.reserve(count);
  ++stamp_;
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId id = order ? (*order)[i] : nodes[i].id;
    if (id <= 0) throw_internal(fmt::format("node id {} is not positive", id));
    State& state = states_[id];
    if (state.stamp == stamp_) throw_internal(fmt::format("node {} is twice in one snapshot", id));
    state.stamp = stamp_;
    const NodeRecord* record = order ? nullptr : &nodes[i];
    if (const auto found = given.find(id); found != given.end()) record = found->second;
    if (!record && !state.version) throw_internal(fmt::format("node {} is new but its content is not given", id));
    used += record != nullptr;
    entries.push_back({&state, id, record});
  }
  if (used != nodes.size()) throw_internal("a snapshot is given nodes that are not in its order");
  return entries;
}

SnapshotPlan CompileNodes::advance(Id snapshot, std::span<const NodeRecord> nodes, const std::span<const NodeId>* order,
                                   Id& last_version, int keyframe_interval) {
  const std::vector<Entry> entries = check(nodes, order);
  const std::int64_t before = graphs_ - 1, now = graphs_++;
  SnapshotPlan plan;
  plan.node_count = static_cast<std::int64_t>(entries.size());
  OrderEncoder delta;
  std::int64_t inserted = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [state, id, record] = entries[i];
    bool fresh = false;
    if (record) {
      const NodeHash hash = hash_node(*record);
      fresh = !state->version || hash != state->hash;
      if (fresh) {
        state->hash = hash;
        state->version = ++last_version;
        plan.rows.emplace_back(record, state->version);
      }
    }
    const bool continues = state->seen >= 0 && state->seen == before;
    if (continues && !fresh) {
      delta.copy(state->position);
    } else {
      delta.insert({id, state->version});
      ++inserted;
    }
    plan.added += !continues;
    plan.changed += continues && fresh;
    if (state->seen >= 0 && !continues) plan.revived.push_back(id);
    state->seen = now;
    state->position = static_cast<std::int64_t>(i);
  }
  for (const NodeId id : last_order_) {
    if (states_[id].seen != now) plan.ended.push_back(id);
  }
  plan.removed = static_cast<std::int64_t>(plan.ended.size());
  if (!last_snapshot_ || ++since_keyframe_ >= keyframe_interval || inserted * 2 >= plan.node_count) {
    OrderEncoder full;
    for (const Entry& entry : entries) full.insert({entry.id, entry.state->version});
    plan.order = full.finish();
    since_keyframe_ = 0;
  } else {
    plan.order = delta.finish();
    plan.base = last_snapshot_;
  }
  plan.previous = last_snapshot_;
  last_snapshot_ = snapshot;
  last_order_.clear();
  for (const Entry& entry : entries) last_order_.push_back(entry.id);
  return plan;
}

}  // namespace strata::trace
