// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/rank_collectives.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/support/error.h"
#include "core/support/json.h"

namespace strata::profiler {
namespace {

/// Members of an event's args as text; empty when there are none.
std::string member(const Json& args, std::string_view key) {
  const Json* value = args.find(key);
  if (value == nullptr) return {};
  if (const auto* s = value->as<std::string>()) return *s;
  if (const auto* i = value->as<std::int64_t>()) return std::to_string(*i);
  return {};
}

std::int64_t number(const Json& args, std::string_view key) {
  const Json* value = args.find(key);
  const auto* i = value == nullptr ? nullptr : value->as<std::int64_t>();
  return i == nullptr ? -1 : *i;
}

bool between_two(std::string_view name) {
  return name.find("send") != std::string_view::npos || name.find("recv") != std::string_view::npos;
}

/// Whether an event is a collective; fills in what it says.
bool read_call(const trace::EventRecord& e, CollectiveCall& call) {
  if (e.args.find("Collective name") == std::string::npos) return false;
  try {
    const Json args = parse_json(e.args, "args");
    call.name = member(args, "Collective name");
    call.group = member(args, "Process Group Name");
    call.sequence = number(args, "Seq");
  } catch (const Error&) {
    return false;
  }
  // Nonsense from a damaged file must not overflow; nanoseconds since 1970 are beyond 2^60 already.
  call.start = std::clamp(e.start_ns, -(std::int64_t{1} << 62), std::int64_t{1} << 62);
  call.end = call.start + std::clamp<std::int64_t>(e.duration_ns, 0, std::int64_t{1} << 50);
  return !call.name.empty() && !between_two(call.name);
}

using Key = std::tuple<std::string, std::string, std::int64_t>;

/// Each call under the number it has in its group: as the profile says, else the how-manieth of that name it is.
std::map<Key, CollectiveCall> numbered(const std::vector<CollectiveCall>& calls) {
  std::map<std::pair<std::string, std::string>, std::int64_t> seen;
  std::map<Key, CollectiveCall> out;
  for (const auto& c : calls) {
    const std::int64_t n = c.sequence >= 0 ? c.sequence : seen[{c.group, c.name}]++;
    out.try_emplace(Key{c.group, c.name, n}, c);
  }
  return out;
}

std::int64_t middle(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// How far each rank's clock is ahead of the first rank's.
std::map<std::int64_t, std::int64_t> clock_offsets(const std::map<std::int64_t, std::map<Key, CollectiveCall>>& ranks) {
  std::map<std::int64_t, std::int64_t> offsets;
  if (ranks.empty()) return offsets;
  const auto& first = ranks.begin()->second;
  for (const auto& [rank, calls] : ranks) {
    std::vector<std::int64_t> differences;
    for (const auto& [key, call] : calls)
      if (const auto other = first.find(key); other != first.end()) differences.push_back(call.end - other->second.end);
    offsets[rank] = middle(std::move(differences));
  }
  return offsets;
}

void add_waits(CollectiveWaits& waits, const Key& key, const std::map<std::int64_t, std::int64_t>& starts) {
  if (starts.size() < 2) return;
  ++waits.compared;
  const auto last =
      std::max_element(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  ++waits.last[last->first];
  for (const auto& [rank, start] : starts) {
    const std::int64_t wait = last->second - start;
    waits.waited[rank] += wait;
    waits.caused[last->first] += wait;
    if (wait <= waits.longest_wait) continue;
    waits.longest_wait = wait;
    waits.longest_for = last->first;
    waits.longest_name = std::get<1>(key);
  }
}

}  // namespace

CollectiveCalls collective_calls(trace::Reader& reader, const std::vector<RankView>& ranks) {
  std::map<trace::Id, std::int64_t> rank_of_process, rank_of_run;
  for (const auto& r : ranks) rank_of_process[r.process] = r.rank;
  for (const auto& run : reader.runs())
    if (const auto found = rank_of_process.find(run.process); run.label == "profile" && found != rank_of_process.end())
      rank_of_run[run.id] = found->second;
  CollectiveCalls host, device;
  if (rank_of_run.empty()) return host;
  reader.each_event([&](const trace::EventRecord& e) {
    const auto rank = rank_of_run.find(e.run);
    CollectiveCall call;
    if (rank == rank_of_run.end() || !read_call(e, call)) return true;
    (e.category == "kernel" ? device : host)[rank->second].push_back(std::move(call));
    return true;
  });
  // One kind for all ranks: host and device times of a collective have nothing to do with each other.
  CollectiveCalls& calls = device.size() == rank_of_run.size() ? device : host;
  for (auto& [rank, list] : calls)
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return std::move(calls);
}

CollectiveWaits collective_waits(const CollectiveCalls& calls) {
  std::map<std::int64_t, std::map<Key, CollectiveCall>> ranks;
  for (const auto& [rank, list] : calls) ranks[rank] = numbered(list);
  const auto offsets = clock_offsets(ranks);
  std::map<Key, std::map<std::int64_t, std::int64_t>> starts;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = std::numeric_limits<std::int64_t>::min();
  for (const auto& [rank, list] : ranks)
    for (const auto& [key, call] : list) {
      starts[key][rank] = call.start - offsets.at(rank);
      begin = std::min(begin, call.start - offsets.at(rank));
      end = std::max(end, call.end - offsets.at(rank));
    }
  CollectiveWaits waits;
  for (const auto& [key, of_rank] : starts) add_waits(waits, key, of_rank);
  waits.span = end > begin ? end - begin : 0;
  return waits;
}

}  // namespace strata::profiler
