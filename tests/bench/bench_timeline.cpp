// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// How fast the timeline is: reading a profile, its gaps, and frames while it is panned and zoomed.
/// bench_timeline [TRACE...]: these traces besides a made one of 500,000 events.

#include <fmt/format.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "app/studio/views/memory_view.h"
#include "app/studio/views/theme.h"
#include "app/studio/views/timeline_view.h"
#include "core/trace/writer.h"

namespace {

using namespace strata;
using studio::TimelineView;

/// Python functions, operators in them, launches in those, and kernels on two streams: 40 rows, 500,000 events.
class Profile {
 public:
  explicit Profile(const std::filesystem::path& path) : writer_(path) {
    trace::ProcessRecord process;
    const trace::Id id = writer_.add(process);
    thread_ = track(id, "thread 1", -1, -1);
    streams_[0] = track(id, "stream 7", 0, 7);
    streams_[1] = track(id, "stream 20", 0, 20);
    trace::RunRecord run;
    run.process = id;
    run.label = "profile";
    run.clock = "unix";
    run_ = writer_.add(run);
  }

  void write(size_t count) {
    std::int64_t now = 1'000'000'000, device = now;
    for (int step = 0; made_ < count; ++step) {
      const std::int64_t begin = now;
      const size_t first = made_;
      while (made_ < count && made_ - first < count / 10) now = operators(now, device);
      event(fmt::format("ProfilerStep#{}", step), "user_annotation", thread_, begin - 10, now - begin + 20, 0, -1);
    }
    writer_.add(batch_);
    writer_.close();
  }

 private:
  trace::Id track(trace::Id process, const char* name, std::int64_t device, std::int64_t stream) {
    trace::TrackRecord t;
    t.process = process;
    t.name = name;
    t.device = device;
    t.stream = stream;
    return writer_.add(t);
  }

  std::int64_t below(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random_); }

  /// A call of Python functions, some deep, around operators that launch.
  std::int64_t operators(std::int64_t now, std::int64_t& device) {
    const std::int64_t begin = now;
    const std::int64_t depth = 2 + below(34);
    for (std::int64_t i = below(6); i > 0; --i) {
      now += below(4000);
      const std::int64_t op = now;
      now += 1000 + below(3000);
      ++correlation_;
      event("cudaLaunchKernel", "cuda_runtime", thread_, now, 900, correlation_, -1);
      device = std::max(device, now + 2000) + below(3000);
      const std::int64_t length = 500 + below(9000);
      event(fmt::format("kernel_{}_with_a_longer_name", below(60)), "kernel",
            streams_[static_cast<size_t>(correlation_ % 2)], device, length, correlation_, correlation_ % 2 ? 20 : 7);
      device += length;
      now += 1500;
      event(fmt::format("aten::op_{}", below(80)), "cpu_op", thread_, op, now - op, 0, -1);
    }
    now += 500;
    for (std::int64_t d = 0; d < depth; ++d)
      event(fmt::format("model.py({}): forward", below(300)), "python_function", thread_, begin - 3 * (depth - d),
            now - begin + 6 * (depth - d), 0, -1);
    return now + 6 * depth + below(2000);
  }

  void event(std::string name, const char* category, trace::Id where, std::int64_t start, std::int64_t length,
             std::int64_t correlation, std::int64_t stream) {
    trace::EventRecord e;
    e.run = run_;
    e.track = where;
    e.name = std::move(name);
    e.category = category;
    e.clock = "unix";
    e.start_ns = start;
    e.duration_ns = length;
    e.correlation = correlation;
    e.stream = stream;
    batch_.push_back(std::move(e));
    ++made_;
    if (batch_.size() < 20000) return;
    writer_.add(batch_);
    batch_.clear();
  }

  trace::Writer writer_;
  std::mt19937 random_{7};
  std::vector<trace::EventRecord> batch_;
  trace::Id run_ = 0, thread_ = 0, streams_[2] = {};
  std::int64_t correlation_ = 0;
  size_t made_ = 0;
};

double percentile(std::vector<double>& times, double part) {
  std::sort(times.begin(), times.end());
  return times[std::min(times.size() - 1, static_cast<size_t>(part * static_cast<double>(times.size())))];
}

template <class Change>
void frame(TimelineView& view, std::vector<double>& out, Change change) {
  QElapsedTimer timer;
  timer.start();
  change();
  view.repaint();
  out.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
}

void mouse(TimelineView& view, QEvent::Type type, QPointF at) {
  QMouseEvent event(type, at, view.mapToGlobal(at), type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton,
                    Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&view, &event);
}

void wheel(TimelineView& view, int delta) {
  const QPointF at(view.width() / 2.0, view.height() / 2.0);
  QWheelEvent event(at, view.mapToGlobal(at), {}, {0, delta}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&view, &event);
}

void measure(TimelineView& view, const char* what) {
  std::vector<double> pan, zoom;
  QPointF at(view.width() / 2.0, view.height() / 2.0);
  mouse(view, QEvent::MouseButtonPress, at);
  for (int i = 0; i < 150; ++i) {
    at += QPointF(30 * std::cos(i / 9.0), 12 * std::sin(i / 9.0));
    frame(view, pan, [&] { mouse(view, QEvent::MouseMove, at); });
  }
  mouse(view, QEvent::MouseButtonRelease, at);
  for (int i = 0; i < 100; ++i) frame(view, zoom, [&] { wheel(view, i % 20 < 10 ? 60 : -60); });
  for (auto& [name, times] : {std::pair<const char*, std::vector<double>&>("pan", pan), {"zoom", zoom}})
    fmt::print("  {:<34} {:>10.1f} ns/pixel  median {:>5.1f}  95% {:>5.1f}  most {:>5.1f} ms\n",
               fmt::format("{}, {}", what, name), view.scale(), percentile(times, 0.5), percentile(times, 0.95),
               percentile(times, 1));
}

void bench(const std::filesystem::path& path) {
  QElapsedTimer timer;
  timer.start();
  trace::Reader reader(path);
  const auto runs = studio::timeline_runs(reader);
  if (runs.empty()) return fmt::print("{}: no runs\n", path.string());
  const auto timeline = studio::load_run(reader, runs.front());
  const auto read = timer.restart();
  const auto gaps = studio::find_gaps(*timeline);
  const auto found = timer.restart();
  const auto rows = studio::gap_rows(*timeline, *gaps);
  size_t lanes = 0;
  for (const auto& track : timeline->tracks) lanes += track.lanes.size();
  fmt::print(
      "{} events in {} rows of {} threads and streams, {} arrows: read in {} ms; {} gaps in {} ms, table {} ms\n",
      timeline->slices, lanes, timeline->tracks.size(), timeline->flows.size(), read, gaps->by_start.size(), found,
      timer.elapsed());
  fmt::print("  {}\n", gaps->summary());
  TimelineView view;
  view.resize(1600, 1000);
  view.set_timeline(timeline, gaps);
  view.show();
  QCoreApplication::processEvents();
  view.fit();
  measure(view, "overview");
  view.set_colour_by(studio::TimelineColour::Kernel);
  view.repaint();
  measure(view, "overview by kernel");
  view.set_colour_by(studio::TimelineColour::Name);
  view.set_all_flows(true);
  for (const double part : {0.1, 0.01, 0.001, 0.0001}) {
    const auto middle = timeline->duration / 2,
               half = static_cast<std::int64_t>(static_cast<double>(timeline->duration) * part / 2);
    view.show_span(middle - half, middle + half);
    measure(view, fmt::format("{} % with arrows", part * 100).c_str());
  }
  timer.restart();
  const auto sums = studio::sum_range(*timeline, 0, timeline->duration);
  fmt::print("  sums by name of everything: {} names in {} ms\n", sums.size(), timer.elapsed());
}

/// A plan of many short-lived buffers: painted whole, then pointed at, then zoomed.
void bench_memory(int buffers) {
  std::mt19937 random(5);
  studio::CompileData data;
  const int launches = buffers / 2;
  for (int i = 0; i < launches; ++i) {
    trace::LaunchRecord launch;
    launch.id = i + 1;
    launch.ordinal = i;
    launch.name = fmt::format("launch_{}", i);
    data.launches.push_back(launch);
  }
  for (int i = 0; i < buffers; ++i) {
    trace::BufferRecord b;
    b.id = i + 1;
    b.name = fmt::format("buf{}", i);
    b.kind = "temporary";
    b.bytes = {static_cast<double>(1000 + random() % 50000), ""};
    b.first_launch = static_cast<std::int64_t>(random() % static_cast<unsigned>(launches));
    b.last_launch = b.first_launch + static_cast<std::int64_t>(random() % 40);
    data.buffers.push_back(b);
  }
  QElapsedTimer timer;
  timer.start();
  studio::MemoryPlan plan = studio::make_memory_plan(data, trace::kNone, false);
  fmt::print("{} buffers: placed in {} ms\n", buffers, timer.elapsed());
  studio::MemoryMap map;
  map.resize(1600, 1000);
  map.set_plan(std::move(plan));
  map.show();
  QCoreApplication::processEvents();
  std::vector<double> point, zoom;
  const auto timed = [&](std::vector<double>& out, const auto& change) {
    timer.restart();
    change();
    map.repaint();
    out.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  };
  for (int i = 0; i < 150; ++i)
    timed(point, [&] {
      const QPointF at(100 + 9 * i, 500 + 300 * std::sin(i / 9.0));
      QMouseEvent event(QEvent::MouseMove, at, map.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
      QApplication::sendEvent(&map, &event);
    });
  for (int i = 0; i < 100; ++i)
    timed(zoom, [&] { map.zoom(i % 50 < 25 ? 1.2 : 1 / 1.2, i % 50 < 25 ? 1.1 : 1 / 1.1, map.rect().center()); });
  for (auto& [name, times] : {std::pair<const char*, std::vector<double>&>("pointing", point), {"zoom", zoom}})
    fmt::print("  {:<34} median {:>5.1f}  95% {:>5.1f}  most {:>5.1f} ms\n", name, percentile(times, 0.5),
               percentile(times, 0.95), percentile(times, 1));
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  studio::apply_theme(false);
  double load[3] = {0, 0, 0};
  if (getloadavg(load, 3) < 1) load[0] = std::nan("");
  fmt::print("load {:.1f}; frames of 1600x1000\n", load[0]);
  const auto path = std::filesystem::temp_directory_path() / fmt::format("strata-bench-timeline-{}.strata", getpid());
  Profile(path).write(500'000);
  bench(path);
  std::filesystem::remove(path);
  for (int i = 1; i < argc; ++i) bench(argv[i]);
  for (const int buffers : {200, 20000}) bench_memory(buffers);
  return 0;
}
