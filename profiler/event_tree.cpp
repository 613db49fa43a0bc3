// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/event_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata::profiler {
namespace {

enum class Category : int { Other, Operator, Annotation, Runtime, Kernel, Copy };

Category category_of(std::string_view text) {
  if (text == "cpu_op") return Category::Operator;
  if (text == "user_annotation") return Category::Annotation;
  if (text == "kernel") return Category::Kernel;
  if (text == "gpu_memcpy" || text == "gpu_memset") return Category::Copy;
  if (text.ends_with("_runtime") || text.ends_with("_driver")) return Category::Runtime;
  return Category::Other;
}

}  // namespace

EventTree::EventTree(trace::Reader& reader, trace::Id run) {
  read(reader, run);
  nest();
  find_launchers();
}

std::uint32_t EventTree::intern(trace::Reader&, trace::Id text) {
  const auto [it, fresh] = name_index_.try_emplace(text, static_cast<std::uint32_t>(name_texts_.size()));
  if (fresh) name_texts_.push_back(text);
  return it->second;
}

void EventTree::read(trace::Reader& reader, trace::Id run) {
  std::unordered_map<trace::Id, Category> categories;
  std::vector<trace::Id> wanted, on_device;
  for (const auto& [id, text] : reader.event_categories(run)) {
    if (category_of(text) == Category::Other) continue;
    categories[id] = category_of(text);
    wanted.push_back(id);
    const bool device = categories[id] == Category::Kernel || categories[id] == Category::Copy;
    if (device) on_device.push_back(id);
  }
  if (wanted.empty()) return;
  const std::int64_t devices = on_device.empty() ? 0 : reader.event_count(run, on_device);
  device_.reserve(static_cast<size_t>(devices));
  host_.reserve(static_cast<size_t>(reader.event_count(run, wanted) - devices));
  reader.each_event_key(run, wanted, [&](const trace::EventKey& key) {
    const Category category = categories.at(key.category);
    const std::int64_t duration = std::clamp<std::int64_t>(key.duration_ns, 0, INT64_MAX / 4);
    const std::int64_t start = std::clamp<std::int64_t>(key.start_ns, INT64_MIN / 4, INT64_MAX / 4);
    const std::uint32_t name = intern(reader, key.name);
    if (category == Category::Kernel || category == Category::Copy) {
      device_.push_back(
          {key.id, start, duration, key.correlation, key.external, name, kNoEvent, category == Category::Copy});
      return;
    }
    const Kind kind = category == Category::Operator     ? Kind::Operator
                      : category == Category::Annotation ? Kind::Annotation
                                                         : Kind::Runtime;
    host_.push_back({key.id, start, start + duration, key.correlation, key.external, key.sequence,
                     static_cast<std::uint32_t>(key.track), name, kNoEvent, 0, kind});
  });
  for (trace::Id text : name_texts_) names_.push_back(reader.text(text));
}

void EventTree::nest() {
  std::sort(host_.begin(), host_.end(), [](const Host& a, const Host& b) {
    // The longer one is outside; of two equal ones the call into the driver is inside.
    return std::tuple(a.track, a.start, -a.end, a.kind == Kind::Runtime, a.id) <
           std::tuple(b.track, b.start, -b.end, b.kind == Kind::Runtime, b.id);
  });
  std::vector<std::uint32_t> open;
  const auto close_until = [&](std::uint32_t at, bool all) {
    while (!open.empty() &&
           (all || host_[open.back()].track != host_[at].track || host_[open.back()].end <= host_[at].start)) {
      // An event of no length stays around one at the same place.
      if (!all && host_[open.back()].track == host_[at].track && host_[open.back()].start == host_[at].start &&
          host_[open.back()].end == host_[at].end && host_[at].kind == Kind::Runtime)
        break;
      host_[open.back()].after = at;
      open.pop_back();
    }
  };
  const auto count = static_cast<std::uint32_t>(host_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    close_until(i, false);
    if (!open.empty()) host_[i].parent = open.back();
    open.push_back(i);
  }
  close_until(count, true);
}

namespace {
/// Numbers of host events, sorted: less memory than a hash table.
class ByNumber {
 public:
  void add(std::int64_t number, std::uint32_t event) { entries_.emplace_back(number, event); }
  void sort() { std::stable_sort(entries_.begin(), entries_.end(), before); }
  /// The first (or last) event with this number.
  std::uint32_t find(std::int64_t number, bool last) const {
    const auto [begin, end] = std::equal_range(entries_.begin(), entries_.end(), Entry(number, 0), before);
    if (begin == end) return EventTree::kNoEvent;
    return last ? std::prev(end)->second : begin->second;
  }

 private:
  using Entry = std::pair<std::int64_t, std::uint32_t>;
  static bool before(const Entry& a, const Entry& b) { return a.first < b.first; }
  std::vector<Entry> entries_;
};
}  // namespace

void EventTree::find_launchers() {
  ByNumber calls, operators;
  for (std::uint32_t i = 0; i < host_.size(); ++i) {
    const Host& h = host_[i];
    if (h.kind == Kind::Runtime && h.correlation != 0) calls.add(h.correlation, i);
    if (h.kind == Kind::Operator && h.external != 0) operators.add(h.external, i);
  }
  calls.sort();
  operators.sort();
  for (Device& d : device_) {
    if (d.correlation != 0) d.launcher = calls.find(d.correlation, false);
    if (d.launcher == kNoEvent && d.external != 0) d.launcher = operators.find(d.external, true);
  }
  std::sort(device_.begin(), device_.end(), [](const Device& a, const Device& b) {
    return std::tuple(a.launcher, a.start, a.id) < std::tuple(b.launcher, b.start, b.id);
  });
  first_launched_.assign(host_.size() + 1, 0);
  for (const Device& d : device_)
    if (d.launcher != kNoEvent) ++first_launched_[d.launcher + 1];
  for (size_t i = 1; i < first_launched_.size(); ++i) first_launched_[i] += first_launched_[i - 1];
}

std::span<const EventTree::Device> EventTree::launched(std::uint32_t host) const {
  const std::uint32_t first = first_launched_[host];
  return {device_.data() + first, first_launched_[host + 1] - first};
}

}  // namespace strata::profiler
