// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/timeline_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "app/draw/picture.h"
#include "app/studio/models/lists.h"

namespace strata::studio {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// What slices of one name and category mean, looked up once per name.
struct Meaning {
  bool work = false;        ///< on a device: kernel, copy or fill; annotations are not
  bool sync = false;        ///< the host waits for the device
  bool copy = false;        ///< the host moves data
  bool annotation = false;  ///< says nothing of what the host does
  bool dispatch = false;    ///< operators and launch calls
};

bool is_copy(std::string_view name) {
  return contains(name, "emcpy") || name == "aten::copy_" || name == "aten::to" || name == "aten::_to_copy";
}

class Finder {
 public:
  explicit Finder(const Timeline& timeline) : t_(timeline), out_(std::make_shared<GapData>()) {
    for (const std::string& name : t_.names) {
      Meaning m;
      m.work = name == "kernel" || name == "gpu_memcpy" || name == "gpu_memset" || name == "library" || name == "copy";
      m.sync = contains(name, "Synchronize");
      m.copy = is_copy(name);
      m.annotation = name == "user_annotation" || name == "Trace" || name == "gpu_user_annotation";
      m.dispatch = name == "cpu_op" || name == "cuda_runtime" || name == "cuda_driver";
      meanings_.push_back(m);
    }
  }

  GapPtr find() {
    find_launches();
    std::map<std::pair<trace::Id, std::int64_t>, std::uint32_t> devices;
    for (std::uint32_t t = 0; t < t_.tracks.size(); ++t) {
      const TimelineTrack& track = t_.tracks[t];
      if (!track.device || !has_work(track)) continue;
      const auto [at, fresh] =
          devices.try_emplace({track.process, track.device_number}, static_cast<std::uint32_t>(out_->devices.size()));
      if (fresh) {
        out_->devices.emplace_back();
        out_->devices.back().title = fmt::format("device {}", track.device_number);
      }
      out_->devices[at->second].tracks.push_back(t);
    }
    collect_host();
    for (std::uint32_t d = 0; d < out_->devices.size(); ++d) find(d);
    for (const DeviceGaps& d : out_->devices)
      for (const Gap& gap : d.gaps) out_->by_start.push_back(&gap);
    std::sort(out_->by_start.begin(), out_->by_start.end(),
              [](const Gap* a, const Gap* b) { return a->start < b->start; });
    out_->longest = out_->by_start;
    std::stable_sort(out_->longest.begin(), out_->longest.end(),
                     [](const Gap* a, const Gap* b) { return a->duration > b->duration; });
    find_host_idle();
    return out_;
  }

 private:
  bool has_work(const TimelineTrack& track) const {
    return std::any_of(track.lanes.begin(), track.lanes.end(), [&](const Lane& lane) {
      return std::any_of(lane.begin(), lane.end(), [&](const Slice& s) { return kind_of(s).work; });
    });
  }
  const Meaning& name_of(const Slice& s) const { return meanings_[s.name]; }
  const Meaning& kind_of(const Slice& s) const { return meanings_[s.category]; }

  void find_launches() {
    std::map<std::uint32_t, std::size_t> count;
    for (const TimelineFlow& flow : t_.flows) {
      if (flow.backward) continue;
      launches_.push_back({flow.to, flow.from});
      ++count[flow.from.track];
    }
    std::sort(launches_.begin(), launches_.end(),
              [](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
    std::size_t most = 0;
    for (const auto& [track, calls] : count)
      if (calls > most) most = calls, out_->host_track = static_cast<int>(track);
  }

  static std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> key(const SlicePlace& p) {
    return {p.track, p.lane, p.index};
  }

  /// Slices of the launching thread that say something, the waits of all threads; by start.
  void collect_host() {
    for (std::uint32_t t = 0; t < t_.tracks.size(); ++t) {
      if (t_.tracks[t].device) continue;
      for (const Lane& lane : t_.tracks[t].lanes)
        for (const Slice& s : lane) {
          if (name_of(s).sync) waits_.push_back({s.start, s.end()});
          if (static_cast<int>(t) != out_->host_track || kind_of(s).annotation) continue;
          active_.push_back({s.start, s.end()});
          if (kind_of(s).dispatch) dispatch_.push_back({s.start, s.end()});
          if (name_of(s).copy) copies_.push_back({s.start, s.end()});
        }
    }
    for (auto* spans : {&waits_, &active_, &dispatch_, &copies_}) merge(*spans);
  }

  static void merge(std::vector<Span>& spans) {
    std::sort(spans.begin(), spans.end());
    std::vector<Span> merged;
    for (const Span& s : spans) {
      if (!merged.empty() && s.first <= merged.back().second)
        merged.back().second = std::max(merged.back().second, s.second);
      else
        merged.push_back(s);
    }
    spans = std::move(merged);
  }

  /// The first of merged spans that ends after this time.
  static std::vector<Span>::const_iterator ending_after(const std::vector<Span>& spans, std::int64_t time) {
    return std::upper_bound(spans.begin(), spans.end(), time,
                            [](std::int64_t t, const Span& s) { return t < s.second; });
  }

  static double share(const std::vector<Span>& spans, std::int64_t from, std::int64_t to) {
    std::int64_t covered = 0;
    for (auto s = ending_after(spans, from); s != spans.end() && s->first < to; ++s)
      covered += std::min(s->second, to) - std::max(s->first, from);
    return to > from ? static_cast<double>(covered) / static_cast<double>(to - from) : 0;
  }

  void find(std::uint32_t index) {
    DeviceGaps& device = out_->devices[index];
    std::vector<std::pair<Span, SlicePlace>> work;
    for (const std::uint32_t t : device.tracks)
      for (std::uint32_t l = 0; l < t_.tracks[t].lanes.size(); ++l) {
        const Lane& lane = t_.tracks[t].lanes[l];
        for (std::uint32_t i = 0; i < lane.size(); ++i)
          if (kind_of(lane[i]).work) work.push_back({{lane[i].start, lane[i].end()}, {t, l, i}});
      }
    if (work.empty()) return;
    std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::int64_t end = work.front().first.first;
    for (const auto& [span, place] : work) {
      if (span.first > end) add(device, index, end, span.first, place);
      end = std::max(end, span.second);
    }
    device.span = end - work.front().first.first;
    device.busy = device.span - device.idle;
  }

  void add(DeviceGaps& device, std::uint32_t index, std::int64_t from, std::int64_t to, const SlicePlace& next) {
    Gap gap;
    gap.start = from;
    gap.duration = to - from;
    gap.device = index;
    gap.next = next;
    const auto launch = std::lower_bound(launches_.begin(), launches_.end(), next,
                                         [](const auto& a, const SlicePlace& p) { return key(a.first) < key(p); });
    gap.launched = launch != launches_.end() && launch->first == next;
    if (gap.launched) gap.launch = launch->second;
    gap.reason = reason(gap);
    device.idle += gap.duration;
    device.gaps.push_back(gap);
  }

  GapReason reason(const Gap& gap) const {
    if (!gap.launched) return GapReason::Unknown;
    const Slice& launch = t_.at(gap.launch);
    if (launch.end() <= gap.start) return GapReason::Queue;
    // The device ran dry while the host waited for just that, so the next launch had to come late.
    const auto wait = ending_after(waits_, gap.start - 1);
    if (wait != waits_.end() && wait->first <= gap.start && wait->second <= launch.end()) return GapReason::Sync;
    const std::int64_t until = std::min(gap.end(), std::max(launch.end(), gap.start + 1));
    const std::string& next = t_.category(t_.at(gap.next));
    if (next == "gpu_memcpy" || share(copies_, gap.start, until) > 0.5) return GapReason::Copy;
    return share(dispatch_, gap.start, until) >= 0.5 ? GapReason::Launch : GapReason::Host;
  }

  void find_host_idle() {
    if (out_->host_track < 0) return;
    for (const Gap* gap : out_->by_start) {
      std::int64_t from = gap->start;
      for (auto s = ending_after(active_, from); s != active_.end() && s->first < gap->end(); ++s) {
        if (s->first > from) out_->host_idle.push_back({from, s->first});
        from = std::max(from, s->second);
      }
      if (from < gap->end()) out_->host_idle.push_back({from, gap->end()});
    }
    merge(out_->host_idle);
  }

  const Timeline& t_;
  std::shared_ptr<GapData> out_;
  std::vector<Meaning> meanings_;                            ///< by name
  std::vector<std::pair<SlicePlace, SlicePlace>> launches_;  ///< device work and its call, by place of the work
  std::vector<Span> waits_, active_, dispatch_, copies_;
};

std::string time_text(std::int64_t ns) { return draw::format_time(static_cast<double>(ns)); }

TableCell time_cell(std::int64_t ns) { return {qt(time_text(ns)), static_cast<qlonglong>(ns)}; }

}  // namespace

const char* reason_name(GapReason reason) {
  static constexpr const char* names[] = {"unknown",   "queue",        "synchronisation",
                                          "data copy", "launch bound", "host busy"};
  return names[static_cast<int>(reason)];
}

const char* reason_text(GapReason reason) {
  static constexpr const char* texts[] = {
      "the profile does not say what launched the work that ended it",
      "the next work was already launched: the device was between two pieces of work",
      "the host waited for the device and launched the next work only after that",
      "the host was copying data, or a copy came next",
      "the next launch came late: the host was in operators and launch calls",
      "the next launch came late: the host did something else"};
  return texts[static_cast<int>(reason)];
}

GapPtr find_gaps(const Timeline& timeline) { return Finder(timeline).find(); }

std::int64_t GapData::idle() const {
  std::int64_t sum = 0;
  for (const DeviceGaps& d : devices) sum = add_clamped(sum, d.idle);
  return sum;
}

std::int64_t GapData::span() const {
  std::int64_t sum = 0;
  for (const DeviceGaps& d : devices) sum = add_clamped(sum, d.span);
  return sum;
}

std::string GapData::summary() const {
  if (devices.empty() || span() == 0) return {};
  std::string text = fmt::format("{} idle {:.0f} %", devices.size() > 1 ? "devices" : "device",
                                 100 * static_cast<double>(idle()) / static_cast<double>(span()));
  if (!longest.empty())
    text += fmt::format(", largest gap {} ({})", time_text(longest.front()->duration),
                        reason_name(longest.front()->reason));
  return text;
}

const Gap* GapData::at(std::uint32_t track, std::int64_t time) const {
  for (const DeviceGaps& d : devices) {
    if (std::find(d.tracks.begin(), d.tracks.end(), track) == d.tracks.end()) continue;
    const auto after =
        std::upper_bound(d.gaps.begin(), d.gaps.end(), time, [](std::int64_t t, const Gap& g) { return t < g.start; });
    if (after == d.gaps.begin()) return nullptr;
    return std::prev(after)->end() > time ? &*std::prev(after) : nullptr;
  }
  return nullptr;
}

std::vector<Meanwhile> host_meanwhile(const Timeline& timeline, std::int64_t from, std::int64_t to, std::size_t most) {
  std::vector<Meanwhile> out;
  for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.device) continue;
    for (std::uint32_t l = 0; l < track.lanes.size(); ++l) {
      const Lane& lane = track.lanes[l];
      for (std::size_t i = first_ending_after(lane, from); i < lane.size() && lane[i].start < to; ++i) {
        const std::int64_t begin = std::max(lane[i].start, from), end = std::min(lane[i].end(), to);
        std::int64_t own = end - begin;
        if (l + 1 < track.lanes.size()) {
          const Lane& inner = track.lanes[l + 1];
          for (std::size_t k = first_ending_after(inner, begin); k < inner.size() && inner[k].start < end; ++k)
            own -= std::min(inner[k].end(), end) - std::max(inner[k].start, begin);
        }
        // The profiler itself is no work of the host.
        if (own > 0 && timeline.category(lane[i]) != "Trace")
          out.push_back({{t, l, static_cast<std::uint32_t>(i)}, own});
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Meanwhile& a, const Meanwhile& b) { return a.time > b.time; });
  if (out.size() > most) out.resize(most);
  return out;
}

QStringList gap_headers() { return {"Length", "At", "Reason", "Host meanwhile", "Then ran", "Device"}; }

std::vector<TableRow> gap_rows(const Timeline& timeline, const GapData& gaps, std::size_t most) {
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < std::min(most, gaps.longest.size()); ++i) {
    const Gap& gap = *gaps.longest[i];
    QStringList host;
    for (const Meanwhile& m : host_meanwhile(timeline, gap.start, gap.end(), 3))
      host << QString("%1 %2").arg(qt(timeline.name(timeline.at(m.place))).left(60), qt(time_text(m.time)));
    TableRow row;
    row.cells = {time_cell(gap.duration),
                 time_cell(gap.start),
                 {reason_name(gap.reason), {}, reason_text(gap.reason)},
                 {host.join(", "), {}, host.join("\n")},
                 {qt(timeline.name(timeline.at(gap.next))).left(300)},
                 {qt(gaps.devices[gap.device].title)}};
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList range_headers() { return {"Name", "Category", "Count", "Own time", "Total", "Longest"}; }

std::vector<TableRow> range_rows(const Timeline& timeline, const std::vector<RangeSum>& sums) {
  std::vector<TableRow> rows;
  for (const RangeSum& s : sums) {
    TableRow row;
    row.cells = {{qt(timeline.names[s.name]).left(300)},
                 {qt(timeline.names[s.category])},
                 {QString::number(s.count), static_cast<qlonglong>(s.count)},
                 time_cell(s.self),
                 time_cell(s.total),
                 time_cell(s.longest)};
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::studio
