// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace strata::studio {

using namespace trace;

namespace {

/// Beyond this (the year 2043, in nanoseconds) times are taken for nonsense, so that differences are numbers.
constexpr std::int64_t kLatest = std::int64_t{1} << 61;

/// Key of a row: the track, or the stream where the producer named none.
struct RowKey {
  Id track = kNone;
  std::int64_t stream = -1;
  auto operator<=>(const RowKey&) const = default;
};

void index_slices(Timeline& timeline) {
  timeline.name_counts.assign(timeline.names.size(), 0);
  timeline.by_event.reserve(timeline.slices);
  for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t)
    for (std::uint32_t l = 0; l < timeline.tracks[t].lanes.size(); ++l) {
      const Lane& lane = timeline.tracks[t].lanes[l];
      for (std::uint32_t i = 0; i < lane.size(); ++i) {
        ++timeline.name_counts[lane[i].name];
        timeline.by_event.push_back({lane[i].event, {t, l, i}});
        if (lane[i].correlation != 0) timeline.by_correlation.push_back({lane[i].correlation, {t, l, i}});
        if (lane[i].kernel != kNone) timeline.by_kernel.push_back({lane[i].kernel, {t, l, i}});
      }
    }
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(timeline.by_event.begin(), timeline.by_event.end(), less);
  std::stable_sort(timeline.by_correlation.begin(), timeline.by_correlation.end(), less);
  std::stable_sort(timeline.by_kernel.begin(), timeline.by_kernel.end(), less);
}

class Loader {
 public:
  Loader(Reader& reader, const std::function<bool()>& cancelled) : reader_(reader), cancelled_(cancelled) {}

  TimelinePtr load(const std::vector<Id>& runs) {
    for (const TrackRecord& track : reader_.tracks()) tracks_[track.id] = track;
    for (const Id run : runs)
      if (!read(run)) return std::make_shared<Timeline>();
    auto timeline = std::make_shared<Timeline>();
    // The reader is busy while it gives out events; texts are looked up after.
    timeline->names.resize(name_ids_.size());
    for (const auto& [text, index] : name_ids_) timeline->names[index] = reader_.text(text);
    std::int64_t first = INT64_MAX, last = INT64_MIN;
    for (auto& [key, slices] : rows_)
      for (const Slice& s : slices) {
        first = std::min(first, s.start);
        last = std::max(last, s.end());
      }
    if (first > last) return timeline;
    timeline->origin = first;
    timeline->duration = last - first;
    add_kernels(*timeline);
    name_after_kernels(*timeline);
    for (auto& [key, slices] : rows_) add_track(*timeline, key, slices);
    std::stable_sort(timeline->tracks.begin(), timeline->tracks.end(),
                     [](const auto& a, const auto& b) { return a.device < b.device; });
    index_slices(*timeline);
    add_flows(*timeline);
    add_markers(*timeline, runs);
    return timeline;
  }

 private:
  std::uint32_t name(Id text) {
    return name_ids_.try_emplace(text, static_cast<std::uint32_t>(name_ids_.size())).first->second;
  }

  bool read(Id run) {
    bool stopped = false;
    std::size_t count = 0;
    reader_.each_event_key(run, {}, [&](const EventKey& key) {
      if (stopped || (++count % 8192 == 0 && cancelled_ && cancelled_())) {
        stopped = true;
        return;
      }
      if (key.duration_ns < 0) return;
      Slice slice;
      slice.start = std::clamp(key.start_ns, -kLatest, kLatest);
      slice.duration = std::min(key.duration_ns, kLatest);
      slice.event = key.id;
      slice.kernel = key.kernel;
      slice.launch = key.launch;
      slice.correlation = key.correlation;
      slice.name = name(key.name);
      slice.category = name(key.category);
      rows_[{key.track, key.track ? -1 : key.stream}].push_back(slice);
      if (const auto [at, fresh] = run_starts_.try_emplace(run, slice.start); !fresh)
        at->second = std::min(at->second, slice.start);
    });
    return !stopped;
  }

  void add_flows(Timeline& timeline) {
    add_launch_flows(timeline);
    for (const FlowRecord& flow : reader_.flows()) {
      const SlicePlace* from = timeline.find(flow.from);
      const SlicePlace* to = timeline.find(flow.to);
      if (from && to) timeline.flows.push_back(made_flow(timeline, *from, *to, true));
    }
    std::sort(timeline.flows.begin(), timeline.flows.end(),
              [](const TimelineFlow& a, const TimelineFlow& b) { return a.start < b.start; });
  }

  static TimelineFlow made_flow(const Timeline& timeline, const SlicePlace& from, const SlicePlace& to, bool backward) {
    const std::int64_t a = timeline.at(from).start, b = timeline.at(to).start;
    return {from, to, std::min(a, b), std::max(a, b), backward};
  }

  /// Of the calls with one number the innermost launched.
  static void add_launch_flows(Timeline& timeline) {
    const auto& all = timeline.by_correlation;
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      const SlicePlace* call = nullptr;
      for (end = begin; end < all.size() && all[end].first == all[begin].first; ++end) {
        const SlicePlace& at = all[end].second;
        if (!timeline.tracks[at.track].device && (!call || at.lane > call->lane)) call = &at;
      }
      for (size_t i = begin; call && i < end; ++i)
        if (timeline.tracks[all[i].second.track].device)
          timeline.flows.push_back(made_flow(timeline, *call, all[i].second, false));
    }
  }

  /// Iterations that the profile names; else the runs that stand side by side.
  void add_markers(Timeline& timeline, const std::vector<Id>& runs) {
    for (const TimelineTrack& track : timeline.tracks)
      for (const Lane& lane : track.lanes) {
        if (track.device) continue;
        for (const Slice& s : lane)
          if (timeline.name(s).starts_with("ProfilerStep#")) timeline.markers.push_back({s.start, timeline.name(s)});
      }
    if (timeline.markers.empty() && runs.size() > 1)
      for (size_t i = 0; i < runs.size(); ++i)
        if (const auto at = run_starts_.find(runs[i]); at != run_starts_.end())
          timeline.markers.push_back({at->second - timeline.origin, fmt::format("run {}", i + 1)});
    std::sort(timeline.markers.begin(), timeline.markers.end(),
              [](const auto& a, const auto& b) { return a.time < b.time; });
  }

  void add_kernels(Timeline& timeline) {
    for (const auto& [key, slices] : rows_)
      for (const Slice& s : slices)
        if (s.kernel != kNone) timeline.kernels.try_emplace(s.kernel);
    for (auto& [id, kernel] : timeline.kernels) {
      const auto record = reader_.kernel(id);
      if (!record) continue;
      kernel = {record->compile, record->name, {}};
      for (const NodeId node : record->nodes) {
        if (const auto found = reader_.last_node(record->compile, node)) kernel.module = found->module;
        if (!kernel.module.empty()) break;
      }
    }
  }

  /// Launches of our own have no name but that of their kernel.
  void name_after_kernels(Timeline& timeline) {
    std::unordered_map<std::string, std::uint32_t> made;
    for (auto& [key, slices] : rows_)
      for (Slice& s : slices) {
        if (s.kernel == kNone || !timeline.names[s.name].empty()) continue;
        const std::string& name = timeline.kernels[s.kernel].name;
        const auto [at, fresh] = made.try_emplace(name, static_cast<std::uint32_t>(timeline.names.size()));
        if (fresh) timeline.names.push_back(name);
        s.name = at->second;
      }
  }

  std::string title(const RowKey& key) const {
    const auto found = tracks_.find(key.track);
    if (found == tracks_.end()) return key.stream >= 0 ? fmt::format("stream {}", key.stream) : "launches";
    const TrackRecord& t = found->second;
    std::string text = t.name.empty() ? (t.stream >= 0 ? "stream " : "thread ") + t.tid : t.name;
    if (!t.process_name.empty()) text += " · " + t.process_name;
    return text;
  }

  void add_track(Timeline& timeline, const RowKey& key, std::vector<Slice>& slices) {
    TimelineTrack track;
    track.title = title(key);
    const auto found = tracks_.find(key.track);
    track.device = key.stream >= 0 || (found != tracks_.end() && found->second.device >= 0);
    if (track.device) track.device_number = found != tracks_.end() ? found->second.device : 0;
    if (found != tracks_.end()) track.process = found->second.process;
    for (Slice& s : slices) s.start -= timeline.origin;
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.start != b.start ? a.start < b.start : a.duration > b.duration;
    });
    // On a device annotations stand below the work, so that the first row shows when it worked and when not.
    const auto annotates = [&](const Slice& s) {
      return track.device && timeline.category(s) == "gpu_user_annotation";
    };
    std::stable_partition(slices.begin(), slices.end(), [&](const Slice& s) { return !annotates(s); });
    // A slice goes into the highest lane that is free when it starts; what it lies in ends later, so it is lower.
    size_t first = 0;
    for (const Slice& s : slices) {
      if (first == 0 && annotates(s)) first = track.lanes.size();
      size_t lane = first;
      while (lane < track.lanes.size() && track.lanes[lane].back().end() > s.start) ++lane;
      if (lane == track.lanes.size()) track.lanes.emplace_back();
      track.lanes[lane].push_back(s);
    }
    timeline.slices += slices.size();
    timeline.tracks.push_back(std::move(track));
  }

  Reader& reader_;
  const std::function<bool()>& cancelled_;
  std::map<Id, TrackRecord> tracks_;
  std::map<RowKey, std::vector<Slice>> rows_;
  std::unordered_map<Id, std::uint32_t> name_ids_;
  std::map<Id, std::int64_t> run_starts_;
};

}  // namespace

namespace {

/// Where no compile was timed by events, the passes say how long they took.
void add_pass_runs(Reader& reader, const std::map<Id, CompileRecord>& compiles, std::vector<TimelineRun>& out) {
  if (std::any_of(out.begin(), out.end(), [](const auto& shown) { return shown.run.label == "compile"; })) return;
  for (const auto& [id, compile] : compiles) {
    const auto passes = reader.passes(id);
    if (std::none_of(passes.begin(), passes.end(), [](const auto& p) { return p.duration_ns >= 0; })) continue;
    TimelineRun shown;
    shown.run.label = "compile";
    shown.run.compile = id;
    shown.title = "passes of " + compile.address;
    shown.passes_of = id;
    out.push_back(std::move(shown));
  }
}

}  // namespace

std::vector<TimelineRun> timeline_runs(Reader& reader) {
  std::map<Id, ProcessRecord> processes;
  for (const ProcessRecord& p : reader.processes()) processes[p.id] = p;
  std::map<Id, CompileRecord> compiles;
  for (const CompileRecord& c : reader.compiles()) compiles[c.id] = c;
  std::vector<TimelineRun> out;
  std::map<std::pair<std::string, Id>, std::size_t> groups;
  for (const RunRecord& run : reader.runs()) {
    // Repeats of one program stand side by side on one clock; everything else is a run of its own.
    const bool repeat = run.label != "profile" && run.label != "compile";
    if (repeat) {
      const auto [entry, fresh] = groups.try_emplace({run.label, run.compile}, out.size());
      if (!fresh) {
        out[entry->second].runs.push_back(run.id);
        continue;
      }
    }
    TimelineRun shown{run, {}, {run.id}, kNone};
    const auto process = processes.find(run.process);
    const bool ranked = process != processes.end() && process->second.rank >= 0;
    shown.title = run.label == "compile" ? "compile times" : run.label.empty() ? "run" : run.label;
    if (const auto compile = compiles.find(run.compile); compile != compiles.end())
      shown.title += " of " + compile->second.address;
    if (ranked) shown.title += fmt::format(", rank {}", process->second.rank);
    out.push_back(std::move(shown));
  }
  for (TimelineRun& shown : out)
    if (shown.runs.size() > 1) shown.title += fmt::format(", {} runs", shown.runs.size());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return (a.run.label == "compile") < (b.run.label == "compile");
  });
  add_pass_runs(reader, compiles, out);
  return out;
}

TimelinePtr load_timeline(Reader& reader, const std::vector<Id>& runs, const std::function<bool()>& cancelled) {
  return Loader(reader, cancelled).load(runs);
}

TimelinePtr load_passes(Reader& reader, Id compile) {
  auto timeline = std::make_shared<Timeline>();
  timeline->names = {"pass", "pass without effect"};
  std::unordered_map<std::string, std::uint32_t> names;
  Lane lane;
  std::int64_t now = 0;
  for (const PassRecord& pass : reader.passes(compile)) {
    if (pass.duration_ns < 0) continue;
    const auto [name, fresh] = names.try_emplace(pass.name, static_cast<std::uint32_t>(timeline->names.size()));
    if (fresh) timeline->names.push_back(pass.name);
    if (timeline->origin == 0 && pass.start_ns >= 0) timeline->origin = std::min(pass.start_ns, kLatest);
    Slice slice;
    slice.start = std::max(now, pass.start_ns >= 0 ? std::min(pass.start_ns, kLatest) - timeline->origin : now);
    slice.duration = std::min(pass.duration_ns, kLatest / 1024);
    slice.event = -pass.id;
    slice.name = name->second;
    slice.category = pass.changed ? 0 : 1;
    now = add_clamped(slice.start, slice.duration);
    if (now > 4 * (kLatest / 2)) break;
    lane.push_back(slice);
  }
  timeline->slices = lane.size();
  timeline->duration = now;
  if (lane.empty()) return timeline;
  TimelineTrack track;
  track.title = "passes";
  track.lanes.push_back(std::move(lane));
  timeline->tracks.push_back(std::move(track));
  index_slices(*timeline);
  return timeline;
}

TimelinePtr load_run(Reader& reader, const TimelineRun& run, const std::function<bool()>& cancelled) {
  return run.passes_of != kNone ? load_passes(reader, run.passes_of) : load_timeline(reader, run.runs, cancelled);
}

const SlicePlace* Timeline::find(Id event) const {
  const auto at = std::lower_bound(by_event.begin(), by_event.end(), event,
                                   [](const auto& entry, Id id) { return entry.first < id; });
  return at == by_event.end() || at->first != event || event == kNone ? nullptr : &at->second;
}

std::vector<TimelineFlow> Timeline::flows_of(const SlicePlace& place) const {
  std::vector<TimelineFlow> out;
  for (const TimelineFlow& flow : flows)
    if (flow.from == place || flow.to == place) out.push_back(flow);
  return out;
}

std::vector<SlicePlace> Timeline::slices_of(Id kernel, Id launch) const {
  std::vector<SlicePlace> all, exact;
  const auto begin = std::lower_bound(by_kernel.begin(), by_kernel.end(), kernel,
                                      [](const auto& entry, Id id) { return entry.first < id; });
  for (auto it = begin; it != by_kernel.end() && it->first == kernel && kernel != kNone; ++it) {
    all.push_back(it->second);
    if (launch != kNone && at(it->second).launch == launch) exact.push_back(it->second);
  }
  return exact.empty() ? all : exact;
}

std::size_t first_ending_after(const Lane& lane, std::int64_t time) {
  const auto at =
      std::upper_bound(lane.begin(), lane.end(), time, [](std::int64_t t, const Slice& s) { return t < s.end(); });
  return static_cast<std::size_t>(at - lane.begin());
}

void visible_boxes(const Lane& lane, std::int64_t from, std::int64_t to, double per_pixel, std::vector<Box>& out) {
  out.clear();
  const auto pixel = static_cast<std::int64_t>(per_pixel);
  for (std::size_t i = first_ending_after(lane, from); i < lane.size() && lane[i].start < to;) {
    const Slice& s = lane[i];
    Box box{s.start, s.end(), &s, 1};
    if (s.duration >= pixel) {
      out.push_back(box);
      ++i;
      continue;
    }
    // Everything that begins within this pixel is one box; the search jumps over what lies below it.
    const std::int64_t limit = s.start + std::max<std::int64_t>(pixel, 1);
    // It is mostly near, so the part that is searched doubles until it holds the end.
    size_t reach = 1;
    while (i + reach < lane.size() && lane[i + reach].start < limit) reach *= 2;
    const auto next = std::lower_bound(lane.begin() + static_cast<std::ptrdiff_t>(i + 1 + reach / 2 * (reach > 1)),
                                       lane.begin() + static_cast<std::ptrdiff_t>(std::min(i + reach, lane.size())),
                                       limit, [](const Slice& a, std::int64_t t) { return a.start < t; });
    const auto last = static_cast<std::size_t>(next - lane.begin());
    // The widest of at most a few: enough to colour the box by what stands out.
    for (std::size_t k = i + 1; k < std::min(last, i + 16); ++k)
      if (lane[k].duration > box.slice->duration) box.slice = &lane[k];
    box.merged = static_cast<std::uint32_t>(last - i);
    box.end = std::max(limit, lane[last - 1].end());
    // A long slice that begins in this pixel is painted by itself.
    if (lane[last - 1].duration >= pixel && last - i > 1) {
      box.end = lane[last - 1].start;
      box.merged -= 1;
      if (box.slice == &lane[last - 1]) box.slice = &s;
      out.push_back(box);
      i = last - 1;
      continue;
    }
    out.push_back(box);
    i = last;
  }
}

std::vector<RangeSum> sum_range(const Timeline& timeline, std::int64_t from, std::int64_t to) {
  std::unordered_map<std::uint64_t, RangeSum> sums;
  const auto within = [&](const Slice& s) { return std::min(s.end(), to) - std::max(s.start, from); };
  const auto sum_of = [&](const Slice& s, bool device) -> RangeSum& {
    return sums[std::uint64_t{s.name} << 33 | std::uint64_t{s.category} << 1 | (device ? 1 : 0)];
  };
  for (const TimelineTrack& track : timeline.tracks)
    for (size_t l = 0; l < track.lanes.size(); ++l) {
      const Lane& lane = track.lanes[l];
      const Lane* above = l > 0 ? &track.lanes[l - 1] : nullptr;
      size_t parent = above ? first_ending_after(*above, from) : 0;
      for (size_t i = first_ending_after(lane, from); i < lane.size() && lane[i].start < to; ++i) {
        const Slice& s = lane[i];
        const std::int64_t time = within(s);
        RangeSum& sum = sum_of(s, track.device);
        if (sum.count++ == 0 || time > sum.longest) sum.longest = time, sum.event = s.event;
        sum.name = s.name;
        sum.category = s.category;
        sum.device = track.device;
        sum.total = add_clamped(sum.total, time);
        sum.self = add_clamped(sum.self, time);
        if (!above) continue;
        while (parent < above->size() && (*above)[parent].end() <= s.start) ++parent;
        if (parent < above->size() && (*above)[parent].start <= s.start && (*above)[parent].end() >= s.end()) {
          RangeSum& outer = sum_of((*above)[parent], track.device);
          outer.self = add_clamped(outer.self, -time);
        }
      }
    }
  std::vector<RangeSum> out;
  for (auto& [key, sum] : sums) out.push_back(sum);
  std::sort(out.begin(), out.end(), [](const RangeSum& a, const RangeSum& b) {
    return std::tie(b.self, a.name, a.category, a.device) < std::tie(a.self, b.name, b.category, b.device);
  });
  return out;
}

}  // namespace strata::studio
