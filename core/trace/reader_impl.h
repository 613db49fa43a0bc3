// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the sources of the reader share. Methods whose names end in `_locked` expect the mutex to be held and may throw
/// FormatError, which `guarded` turns into the User error with the path.

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/trace/reader.h"
#include "core/trace/rows.h"
#include "core/trace/trace_file.h"

namespace strata::trace {

struct Reader::Impl {
  explicit Impl(const std::filesystem::path& path_) : path(path_), file(path_) {}

  struct InUse {
    explicit InUse(int& count_) : count(count_) { ++count; }
    ~InUse() { --count; }
    int& count;
  };
  struct Lookup {
    Impl* impl;
    const std::string& operator()(Id id) const { return impl->string(id); }
  };

  std::mutex mutex;
  std::filesystem::path path;
  TraceFile file;
  int in_use = 0;  ///< calls that are under way; touched with the mutex held
  std::unordered_map<Id, std::string> strings;
  RowReader<Lookup> rows{Lookup{this}};
  /// The orders of the snapshots that were asked for last, newest at the back.
  std::deque<std::pair<Id, std::vector<OrderEntry>>> orders;

  Database& database() { return file.database(); }
  const std::string& string(Id id);

  template <class F>
  auto guarded(F&& action) {
    std::lock_guard lock(mutex);
    const InUse count(in_use);
    try {
      return action();
    } catch (const FormatError& error) {
      throw_corrupt(path, error.what());
    }
  }

  static void bind_all(Query&) {}
  template <class First, class... Rest>
  static void bind_all(Query& query, First first, Rest... rest) {
    if constexpr (std::is_integral_v<First> || std::is_enum_v<First>) {
      query.bind(static_cast<std::int64_t>(first));
    } else {
      query.bind(std::string_view(first));
    }
    bind_all(query, rest...);
  }

  /// `SELECT columns FROM table` + tail, with packed columns or without.
  template <class R, class... Args>
  std::vector<R> select_locked(bool packed, const char* tail, Args... args) {
    Query query = database().query(fmt::format("SELECT {} FROM {} {}", column_list<R>(packed), Table<R>::name, tail));
    bind_all(query, args...);
    std::vector<R> result;
    while (query.step()) result.push_back(rows.template read<R>(query));
    return result;
  }

  template <class R, class... Args>
  std::optional<R> one_locked(const char* tail, Args... args) {
    Query query = database().query(fmt::format("SELECT {} FROM {} {}", column_list<R>(true), Table<R>::name, tail));
    bind_all(query, args...);
    if (!query.step()) return std::nullopt;
    return rows.template read<R>(query);
  }

  template <class R, class... Args>
  std::vector<R> select(const char* tail, Args... args) {
    return guarded([&] { return select_locked<R>(true, tail, args...); });
  }
  template <class R, class... Args>
  std::vector<R> list(const char* tail, Args... args) {
    return guarded([&] { return select_locked<R>(false, tail, args...); });
  }
  template <class R, class... Args>
  std::optional<R> one(const char* tail, Args... args) {
    return guarded([&] { return one_locked<R>(tail, args...); });
  }

  SnapshotRow snapshot_locked(Id snapshot);
  /// The reference is good until the next call.
  const std::vector<OrderEntry>& order_locked(Id snapshot);
  std::vector<NodeRecord> versions_locked(const std::vector<Id>& versions);
  std::optional<NodeRow> last_node_locked(Id compile, NodeId node);
  std::vector<SourceLocation> stack_locked(Id stack);
  /// The first and the last graph snapshot that show the node.
  std::pair<Id, Id> lifetime_locked(Id compile, NodeId node);
  /// Breadth first along origin edges, the node itself first; empty if there is no such node.
  std::vector<OriginStep> walk_locked(Id compile, NodeId node, bool up);
};

}  // namespace strata::trace
