// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/models/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace strata::studio {

using namespace trace;

namespace {

/// Key of a row: the track, or the stream where the producer named none.
struct RowKey {
  Id track = kNone;
  std::int64_t stream = -1;
  auto operator<=>(const RowKey&) const = default;
};

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
    for (auto& [key, slices] : rows_) add_track(*timeline, key, slices);
    std::stable_sort(timeline->tracks.begin(), timeline->tracks.end(),
                     [](const auto& a, const auto& b) { return a.device < b.device; });
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
      slice.start = key.start_ns;
      slice.duration = key.duration_ns;
      slice.event = key.id;
      slice.kernel = key.kernel;
      slice.correlation = key.correlation;
      slice.name = name(key.name);
      slice.category = name(key.category);
      rows_[{key.track, key.track ? -1 : key.stream}].push_back(slice);
    });
    return !stopped;
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
    if (found != tracks_.end()) track.process = found->second.process;
    for (Slice& s : slices) s.start -= timeline.origin;
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.start != b.start ? a.start < b.start : a.duration > b.duration;
    });
    // A slice goes into the highest lane that is free when it starts; what it lies in ends later, so it is lower.
    for (const Slice& s : slices) {
      std::size_t lane = 0;
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
};

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
    TimelineRun shown{run, {}, {run.id}};
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
  return out;
}

TimelinePtr load_timeline(Reader& reader, const std::vector<Id>& runs, const std::function<bool()>& cancelled) {
  return Loader(reader, cancelled).load(runs);
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
    const auto next = std::lower_bound(lane.begin() + static_cast<std::ptrdiff_t>(i) + 1, lane.end(), limit,
                                       [](const Slice& a, std::int64_t t) { return a.start < t; });
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

}  // namespace strata::studio
