// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Snapshots: orders from their chain of deltas, nodes by version, differences.

#include <algorithm>
#include <numeric>

#include "core/support/error.h"
#include "core/trace/reader_impl.h"

namespace strata::trace {
namespace {

constexpr std::size_t kCachedOrders = 8;
/// Rows between two wanted versions that are read over rather than sought past.
constexpr Id kMaxGap = 16;
/// No row of table `node` is smaller than this in the file.
constexpr std::int64_t kMinNodeBytes = 8;

}  // namespace

SnapshotRow Reader::Impl::snapshot_locked(Id snapshot) {
  auto row = one_locked<SnapshotRow>("WHERE id = ?", snapshot);
  if (!row) throw_user(fmt::format("{} has no snapshot {}", path.string(), snapshot));
  return std::move(*row);
}

const std::vector<OrderEntry>& Reader::Impl::order_locked(Id snapshot) {
  const auto cached = [&](Id id) {
    return std::find_if(orders.begin(), orders.end(), [&](const auto& entry) { return entry.first == id; });
  };
  if (const auto hit = cached(snapshot); hit != orders.end()) return hit->second;

  std::vector<SnapshotRow> chain{snapshot_locked(snapshot)};
  auto base = orders.end();
  while (chain.back().base != kNone) {
    const Id next = chain.back().base;
    if (base = cached(next); base != orders.end()) break;
    // Bases are older, which also rules out circles.
    if (next >= chain.back().id || next < 0) throw FormatError("a snapshot is based on a later one");
    chain.push_back(snapshot_locked(next));
  }
  const auto limit = static_cast<std::int64_t>(database().file_bytes() / kMinNodeBytes);
  std::vector<OrderEntry> order = base == orders.end() ? std::vector<OrderEntry>() : base->second;
  for (auto row = chain.rbegin(); row != chain.rend(); ++row) {
    if (row->node_count < 0 || row->node_count > limit) throw FormatError("a snapshot has an impossible size");
    order = decode_order(row->order, order, static_cast<std::size_t>(row->node_count));
    if (order.size() != static_cast<std::size_t>(row->node_count)) {
      throw FormatError("a snapshot holds fewer nodes than it says");
    }
  }
  if (orders.size() >= kCachedOrders) orders.pop_front();
  return orders.emplace_back(snapshot, std::move(order)).second;
}

// Versions are read in runs of neighbouring rows: a snapshot is mostly a few long runs.
std::vector<NodeRecord> Reader::Impl::versions_locked(const std::vector<Id>& versions) {
  std::vector<std::size_t> by_version(versions.size());
  std::iota(by_version.begin(), by_version.end(), std::size_t{0});
  const auto less = [&](std::size_t a, std::size_t b) { return versions[a] < versions[b]; };
  if (!std::is_sorted(versions.begin(), versions.end())) std::sort(by_version.begin(), by_version.end(), less);

  std::vector<NodeRecord> result(versions.size());
  const std::string sql =
      fmt::format("SELECT {} FROM node WHERE version BETWEEN ? AND ? ORDER BY version", column_list<NodeRow>());
  for (std::size_t first = 0; first < by_version.size();) {
    std::size_t last = first;
    const auto at = [&](std::size_t i) { return versions[by_version[i]]; };
    while (last + 1 < by_version.size() && at(last + 1) - kMaxGap <= at(last)) ++last;
    Query query = database().query(sql);
    query.bind(at(first)).bind(at(last));
    for (std::size_t i = first; i <= last;) {
      if (!query.step()) throw FormatError("a node of a snapshot is missing");
      const Id version = query.integer(0);
      if (version < at(i)) continue;
      if (version > at(i)) throw FormatError("a node of a snapshot is missing");
      result[by_version[i]] = rows.read<NodeRow>(query);
      for (++i; i <= last && at(i) == version; ++i) result[by_version[i]] = result[by_version[i - 1]];
    }
    first = last + 1;
  }
  return result;
}

std::vector<NodeRecord> Reader::nodes(Id snapshot) {
  return impl_->guarded([&] {
    std::vector<Id> versions;
    for (const OrderEntry& entry : impl_->order_locked(snapshot)) versions.push_back(entry.version);
    return impl_->versions_locked(versions);
  });
}

std::optional<NodeRecord> Reader::node(Id snapshot, NodeId node) {
  return impl_->guarded([&]() -> std::optional<NodeRecord> {
    const auto& order = impl_->order_locked(snapshot);
    const auto found = std::find_if(order.begin(), order.end(), [&](const auto& entry) { return entry.node == node; });
    if (found == order.end()) return std::nullopt;
    return impl_->versions_locked({found->version}).front();
  });
}

std::optional<NodeRow> Reader::Impl::last_node_locked(Id compile, NodeId node) {
  return one_locked<NodeRow>("WHERE compile = ? AND node = ? ORDER BY version DESC LIMIT 1", compile, node);
}

std::optional<NodeRecord> Reader::last_node(Id compile, NodeId node) {
  return impl_->guarded([&]() -> std::optional<NodeRecord> { return impl_->last_node_locked(compile, node); });
}

std::vector<NodeVersion> Reader::history(Id compile, NodeId node) {
  std::vector<NodeVersion> result;
  for (NodeRow& row : impl_->select<NodeRow>("WHERE compile = ? AND node = ? ORDER BY version", compile, node)) {
    result.push_back({row.snapshot, std::move(row)});
  }
  return result;
}

SnapshotDiff Reader::diff(Id before, Id after) {
  return impl_->guarded([&] {
    if (impl_->snapshot_locked(before).compile != impl_->snapshot_locked(after).compile) {
      throw_user(fmt::format("snapshots {} and {} are of different compiles", before, after),
                 "compare two graphs with `strata diff`");
    }
    const std::vector<OrderEntry> old_order = impl_->order_locked(before);
    const std::vector<OrderEntry>& new_order = impl_->order_locked(after);
    std::unordered_map<NodeId, std::pair<Id, std::size_t>> old_place;
    for (std::size_t i = 0; i < old_order.size(); ++i) old_place[old_order[i].node] = {old_order[i].version, i};

    SnapshotDiff result;
    std::vector<Id> added, removed, changed_before, changed_after;
    std::vector<bool> kept(old_order.size());
    std::size_t furthest = 0;
    for (const OrderEntry& entry : new_order) {
      const auto found = old_place.find(entry.node);
      if (found == old_place.end()) {
        added.push_back(entry.version);
        continue;
      }
      const auto [version, place] = found->second;
      kept[place] = true;
      result.reordered |= place < furthest;
      furthest = std::max(furthest, place);
      if (version == entry.version) continue;
      changed_before.push_back(version);
      changed_after.push_back(entry.version);
    }
    for (std::size_t i = 0; i < old_order.size(); ++i) {
      if (!kept[i]) removed.push_back(old_order[i].version);
    }
    result.added = impl_->versions_locked(added);
    result.removed = impl_->versions_locked(removed);
    auto from = impl_->versions_locked(changed_before), to = impl_->versions_locked(changed_after);
    for (std::size_t i = 0; i < from.size(); ++i) result.changed.push_back({std::move(from[i]), std::move(to[i])});
    return result;
  });
}

}  // namespace strata::trace
