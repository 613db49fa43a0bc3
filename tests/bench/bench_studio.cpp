// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// How fast the window is: layout beside Graphviz, start of the program, stepping, selection, frames, memory; one table
/// at the end says each figure with its limit.
///
/// bench_studio [--dot SECONDS] [TRACE...]
///   --dot SECONDS  limit of each run of Graphviz, 20 by default; 0 leaves it out
///   TRACE          further traces: stepped through, selected in, and opened by the program for its memory

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QMouseEvent>
#include <QProcess>
#include <QWheelEvent>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "app/draw/layout.h"
#include "app/studio/views/main_window.h"
#include "app/studio/views/theme.h"
#include "tests/bench/studio_graphs.h"

namespace {

using namespace strata;
using bench::Decoder;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

struct Times {
  std::vector<double> all;
  double percentile(double p) {
    if (all.empty()) return std::nan("");
    std::sort(all.begin(), all.end());
    return all[std::min(all.size() - 1, static_cast<size_t>(p * static_cast<double>(all.size())))];
  }
};

// ---------------------------------------------------------------------------------------------------------------
// the table

struct Row {
  std::string what;
  double value = 0;
  std::string unit;
  double limit = 0;  ///< 0: none
  std::string more;
};
std::vector<Row> g_table;

void note(Row row) {
  fmt::print("  {}: {:.1f} {} {}\n", row.what, row.value, row.unit, row.more);
  std::fflush(stdout);
  g_table.push_back(std::move(row));
}

void print_table() {
  fmt::print("\n{:<64} {:>9} {:>9}  {}\n", "figure", "measured", "limit", "");
  for (const Row& row : g_table)
    fmt::print("{:<64} {:>6.1f} {:<2} {:>9}  {:<5} {}\n", row.what, row.value, row.unit,
               row.limit > 0 ? fmt::format("{:.0f} {}", row.limit, row.unit) : "-",
               row.limit <= 0           ? ""
               : row.value <= row.limit ? "ok"
                                        : "OVER",
               row.more);
}

// ---------------------------------------------------------------------------------------------------------------
// layout

/// In a process of its own, so that it can be ended; negative: it took longer than the limit.
double graphviz_time(const draw::Picture& picture, int seconds) {
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    alarm(static_cast<unsigned>(seconds));
    draw::lay_out(picture, draw::Engine::Graphviz);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? milliseconds(start) : -1;
}

void bench_layout(int limit) {
  fmt::print("layout of a flat decoder-like graph (limit of dot: {} s)\n", limit);
  fmt::print("{:>8} {:>8} {:>10} {:>12}\n", "nodes", "edges", "ours ms", "dot ms");
  for (size_t count : {1000, 2000, 5000, 10000, 40000}) {
    const draw::Picture picture = draw::make_picture(Decoder(count).take(), {}, {}, {});
    double best = 1e300;
    for (int i = 0; i < 3; ++i) {
      const auto start = Clock::now();
      draw::lay_out(picture, draw::Engine::Layered);
      best = std::min(best, milliseconds(start));
    }
    std::string dot = "-";
    if (limit > 0 && count <= 10000) {
      const double time = graphviz_time(picture, limit);
      dot = time < 0 ? fmt::format("> {}000", limit) : fmt::format("{:.0f}", time);
    }
    fmt::print("{:>8} {:>8} {:>10.1f} {:>12}\n", picture.nodes.size(), picture.edges.size(), best, dot);
    std::fflush(stdout);
    if (count == 10000) g_table.push_back({"layout of 10,000 nodes, flat", best, "ms", 2000, "dot: " + dot + " ms"});
  }
}

// ---------------------------------------------------------------------------------------------------------------
// the program itself

struct Start {
  double window = -1, graph = -1, settled = -1, memory = -1;  ///< ms since the start, MB
};

std::string g_program;

Start start_program(const fs::path& trace, const QStringList& more) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("QT_QPA_PLATFORM", "offscreen");
  process.setProcessEnvironment(environment);
  const double began = static_cast<double>(Clock::now().time_since_epoch().count());
  process.start(QString::fromStdString(g_program),
                QStringList{QString::fromStdString(trace.string()), "--measure", "--size", "1600x1000"} + more);
  process.waitForFinished(120000);
  const auto words = process.readAllStandardOutput().trimmed().split(' ');
  Start start;
  if (words.size() != 8) return start;
  const auto at = [&](int i) { return (words[i].toDouble() - began) / 1e6; };
  start.window = at(1);
  start.graph = at(3);
  start.settled = at(5);
  start.memory = words[7].toDouble() / 1024;
  return start;
}

/// As far as the system allows: the trace and the program are read from the disk again.
void forget_files(const fs::path& trace) {
  for (const fs::path& path : {trace, fs::path(g_program)}) {
    const int file = ::open(path.c_str(), O_RDONLY);
    if (file < 0) continue;
    fdatasync(file);
    [[maybe_unused]] const int done = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

void bench_start(const fs::path& trace, const char* what, double limit) {
  for (const bool cold : {true, false}) {
    Times graph, window;
    for (int i = 0; i < 7; ++i) {
      if (cold) forget_files(trace);
      const Start start = start_program(trace, {"--view", "graph"});
      graph.all.push_back(start.graph);
      window.all.push_back(start.window);
    }
    note({fmt::format("start of the program to first graph, {}, {} files", what, cold ? "uncached" : "cached"),
          graph.percentile(0.5), "ms", limit,
          fmt::format("median of 7, most {:.0f}, window after {:.0f}", graph.percentile(1), window.percentile(0.5))});
  }
}

void bench_memory(const fs::path& trace, const std::string& what) {
  double most = 0;
  std::string at;
  for (const char* view : {"graph", "timeline", "profile", "memory"}) {
    const Start start = start_program(trace, {"--view", view});
    if (start.memory > most) most = start.memory, at = view;
  }
  note({"memory of the program, " + what, most, "MB", 500, "most: " + at});
}

// ---------------------------------------------------------------------------------------------------------------
// window

void run_until(const std::function<bool()>& done) {
  do {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    if (!done()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (!done());
}

/// Until all work is done and everything that changed was painted.
void settle(studio::Context& context) {
  run_until([&] { return context.queue().idle(); });
  QCoreApplication::processEvents();
}

struct Shown {
  explicit Shown(const fs::path& path) {
    draw::DrawOptions options;
    options.group_by = draw::GroupBy::Automatic;
    context.set_options(options);
    window.resize(1600, 1000);
    window.show();
    window.arrange();
    window.show_view("graph");
    const auto start = Clock::now();
    context.open({QString::fromStdString(path.string()), "", "", ""});
    run_until([&] { return context.step_data() || context.exit_code() != 0 || context.queue().idle(); });
    QCoreApplication::processEvents();
    opened = milliseconds(start);
    settle(context);
  }
  studio::Context context;
  studio::MainWindow window{context, false};
  double opened = 0;
};

/// Through all stages and back, from the key to the painted graph.
void bench_steps(Shown& shown, const std::string& what, double limit) {
  if (!shown.context.compile() || shown.context.compile()->snapshots.size() < 2) return;
  Times times;
  const int stages = static_cast<int>(shown.context.compile()->snapshots.size());
  shown.window.show_view("graph");
  settle(shown.context);
  for (int i = 0; i < 2 * (stages - 1); ++i) {
    const auto before = shown.context.step_data();
    const auto start = Clock::now();
    shown.context.step(i < stages - 1 ? 1 : -1);
    run_until([&] { return shown.context.step_data() != before; });
    QCoreApplication::processEvents();
    times.all.push_back(milliseconds(start));
    settle(shown.context);
  }
  note({fmt::format("step to the next stage, {}", what), times.percentile(0.95), "ms", limit,
        fmt::format("95 % of {}, median {:.0f}, most {:.0f}", times.all.size(), times.percentile(0.5),
                    times.percentile(1))});
}

/// From the choice of a node until everything shows it: every page in front in turn.
void bench_selection(Shown& shown, const std::string& what, double limit) {
  Times all;
  std::string slowest;
  double most = 0;
  for (const auto& view : studio::MainWindow::views()) {
    shown.window.show_view(QString::fromStdString(view));
    settle(shown.context);
    const auto step = shown.context.step_data();
    if (!step || step->nodes.empty()) return;
    Times here;
    for (size_t i = 0; i < 12; ++i) {
      const auto id = step->nodes[(i * 7919 + 13) % step->nodes.size()].id;
      const auto start = Clock::now();
      shown.context.select_node(id);
      settle(shown.context);
      here.all.push_back(milliseconds(start));
    }
    if (here.percentile(0.95) > most) most = here.percentile(0.95), slowest = view;
    all.all.insert(all.all.end(), here.all.begin(), here.all.end());
  }
  note({fmt::format("selection shown everywhere, {}", what), all.percentile(0.95), "ms", limit,
        fmt::format("95 % of {}, median {:.0f}; slowest page {}: {:.0f}", all.all.size(), all.percentile(0.5), slowest,
                    most)});
}

// ---------------------------------------------------------------------------------------------------------------
// frames

void send_mouse(QWidget& view, QEvent::Type type, QPointF at) {
  const Qt::MouseButton button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
  QMouseEvent event(type, at, view.mapToGlobal(at), button, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&view, &event);
}

void send_wheel(QWidget& view, int delta, Qt::KeyboardModifiers held = Qt::NoModifier) {
  const QPointF at(view.width() / 2.0, view.height() / 2.0);
  QWheelEvent event(at, view.mapToGlobal(at), {}, {0, delta}, Qt::NoButton, held, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&view, &event);
}

void frame(QWidget& view, Times& out, const std::function<void()>& change) {
  const auto start = Clock::now();
  change();
  view.repaint();
  out.all.push_back(milliseconds(start));
}

/// Dragging in circles, then the wheel in and out, ending where it began.
void script(QWidget& view, Times& out, Qt::KeyboardModifiers held = Qt::NoModifier) {
  QPointF at(view.width() / 2.0, view.height() / 2.0);
  send_mouse(view, QEvent::MouseButtonPress, at);
  for (int i = 0; i < 150; ++i) {
    at += QPointF(25 * std::cos(i / 9.0), 40 * std::sin(i / 9.0));
    frame(view, out, [&] { send_mouse(view, QEvent::MouseMove, at); });
  }
  send_mouse(view, QEvent::MouseButtonRelease, at);
  for (int i = 0; i < 100; ++i) frame(view, out, [&] { send_wheel(view, i % 20 < 10 ? 60 : -60, held); });
}

void note_frames(const std::string& what, Times& times, double limit, const std::string& more) {
  note({"frame while panning and zooming, " + what, times.percentile(0.95), "ms", limit,
        fmt::format("95 % of {}, median {:.1f}, most {:.1f}; {}", times.all.size(), times.percentile(0.5),
                    times.percentile(1), more)});
}

size_t in_view(studio::Context& context, studio::GraphView& view) {
  size_t count = 0;
  for (const auto& node : context.step_data()->picture.nodes)
    count += view.node_rect(node.id).intersects(QRectF(view.rect()));
  return count;
}

void bench_graph_frames(studio::Context& context, const std::string& what) {
  studio::GraphView view(context);
  view.resize(1600, 1000);
  view.show();
  context.select({});
  emit context.stepChanged();
  QCoreApplication::processEvents();
  const auto measure = [&](const char* where, double limit) {
    Times times;
    const size_t boxes = in_view(context, view);
    const double scale = view.scale();
    script(view, times);
    note_frames(fmt::format("{}, {}", what, where), times, limit, fmt::format("{} nodes, scale {:.3f}", boxes, scale));
  };
  view.fit();
  measure("overview", 33);
  const auto& nodes = context.step_data()->picture.nodes;
  const auto centre = nodes[nodes.size() / 2].id;
  view.centre_on(centre);
  while (in_view(context, view) <= 2000 && view.scale() > 0.01) send_wheel(view, -20);
  while (in_view(context, view) > 2000) send_wheel(view, 20);
  measure("at most 2000 nodes in view", 16);
  view.centre_on(centre);
  while (view.scale() > 0.45) send_wheel(view, -20);
  measure("smallest readable", 16);
  view.centre_on(centre);
  measure("readable", 16);
}

void bench_timeline_frames(const fs::path& path) {
  Shown shown(path);
  shown.window.show_view("timeline");
  settle(shown.context);
  studio::TimelineView& view = shown.window.timeline().view();
  studio::TimelineView alone;
  alone.set_timeline(view.timeline());
  alone.resize(1600, 1000);
  alone.show();
  QCoreApplication::processEvents();
  const size_t slices = alone.timeline() ? alone.timeline()->slices : 0;
  Times far, near;
  script(alone, far, Qt::ControlModifier);
  note_frames("timeline of 500,000 events, overview", far, 33, fmt::format("{} events", slices));
  for (int i = 0; i < 60; ++i) send_wheel(alone, 120, Qt::ControlModifier);
  for (int i = 0; i < 30; ++i) send_wheel(alone, -120, Qt::ControlModifier);
  script(alone, near, Qt::ControlModifier);
  note_frames("timeline of 500,000 events, closer", near, 16, "");
}

void bench_window(const std::string& what, const fs::path& path, bool frames, bool large) {
  fmt::print("{}: {:.1f} MB\n", what, static_cast<double>(fs::file_size(path)) / 1e6);
  Shown shown(path);
  note({fmt::format("open in a running window to first graph, {}", what), shown.opened, "ms", 0, ""});
  bench_steps(shown, what, large ? 0 : 100);
  bench_selection(shown, what, large ? 0 : 50);
  if (frames) bench_graph_frames(shown.context, what);
}

int usage() {
  fmt::print(stderr, "usage: bench_studio [--dot SECONDS] [--only-traces] [TRACE...]\n");
  return 2;
}

void bench_synthetic(const fs::path& folder, int limit) {
  bench_layout(limit);
  bench::write_trace(folder / "decoder10k.strata", Decoder(10000).take());
  bench::write_trace(folder / "decoder40k.strata", Decoder(40000).take());
  bench::write_trace(folder / "towers.strata", bench::towers(10000));
  bench::write_events(folder / "events.strata", 500'000);
  bench_start(folder / "decoder10k.strata", "10,000 nodes", 1000);
  bench_start(folder / "decoder40k.strata", "40,000 nodes", 0);
  bench_window("10,000 nodes", folder / "decoder10k.strata", true, false);
  bench_window("10,000 nodes in towers", folder / "towers.strata", true, false);
  bench_window("40,000 nodes", folder / "decoder40k.strata", false, true);
  bench_timeline_frames(folder / "events.strata");
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  QApplication app(argc, argv);
  studio::apply_theme(false);
  int limit = 20;
  bool synthetic = true;
  std::vector<fs::path> traces;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--dot" && i + 1 < argc)
      limit = std::max(0, std::atoi(argv[++i]));
    else if (word == "--only-traces")
      synthetic = false;
    else if (word.starts_with("-") || !fs::exists(word))
      return usage();
    else
      traces.push_back(word);
  }
  g_program = STRATA_STUDIO_BINARY;
  double load[3] = {0, 0, 0};
  if (getloadavg(load, 3) < 1) load[0] = std::nan("");
  fmt::print("load {:.1f} on {} cores\n", load[0], std::thread::hardware_concurrency());
  const fs::path folder = fs::temp_directory_path() / fmt::format("strata-bench-studio-{}", getpid());
  fs::create_directories(folder);
  if (synthetic) bench_synthetic(folder, limit);
  for (const fs::path& trace : traces) bench_window(trace.stem().string(), trace, false, false);
  if (synthetic) bench_memory(folder / "decoder40k.strata", "40,000 nodes");
  if (synthetic) bench_memory(folder / "events.strata", "500,000 events");
  for (const fs::path& trace : traces) bench_memory(trace, trace.stem().string());
  print_table();
  fs::remove_all(folder);
  return 0;
}
