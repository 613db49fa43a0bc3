// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// How fast the window is with large flat graphs: layout beside Graphviz, opening, frames, stepping, memory.
/// bench_studio [SECONDS]: the limit of each run of Graphviz, 20 by default, 0 leaves it out.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QMouseEvent>
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
#include "core/trace/writer.h"

namespace {

using namespace strata;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

/// A decoder without modules: norms, projections with weights, attention, residuals, a gated MLP, 30 nodes a layer.
class Decoder {
 public:
  explicit Decoder(size_t count) {
    trace::NodeId x = input("tokens");
    const trace::NodeId mask = input("mask");
    while (nodes_.size() + 30 < count) x = layer(x, mask);
    while (nodes_.size() < count) x = call("aten.gelu.default", {x});
  }
  std::vector<trace::NodeRecord> take() { return std::move(nodes_); }

 private:
  trace::NodeId add(trace::NodeRecord node) {
    node.id = static_cast<trace::NodeId>(nodes_.size()) + 1;
    if (node.name.empty()) node.name = fmt::format("v{}", node.id);
    node.dtype = "f32";
    node.shape = "[8, 128, 768]";
    nodes_.push_back(std::move(node));
    return nodes_.back().id;
  }
  trace::NodeId input(const std::string& name) {
    trace::NodeRecord node;
    node.name = name;
    node.op = "placeholder";
    return add(std::move(node));
  }
  trace::NodeId weight() { return input(fmt::format("p_weight_{}", nodes_.size())); }
  trace::NodeId call(const char* target, const std::vector<trace::NodeId>& operands) {
    trace::NodeRecord node;
    node.op = "call";
    node.target = target;
    for (auto operand : operands) node.inputs.push_back({operand});
    return add(std::move(node));
  }
  trace::NodeId norm(trace::NodeId x) {
    auto scale = call("aten.rsqrt.default", {call("aten.mean.dim", {call("aten.pow.Tensor_Scalar", {x})})});
    return call("aten.mul.Tensor", {call("aten.mul.Tensor", {x, scale}), weight()});
  }
  friend std::vector<trace::NodeRecord> towers(size_t count);
  Decoder() = default;
  trace::NodeId layer(trace::NodeId x, trace::NodeId mask) {
    const auto h = norm(x);
    auto heads = [&] { return call("aten.view.default", {call("aten.mm.default", {h, weight()})}); };
    const auto q = heads(), k = heads(), v = heads();
    const auto scores = call("aten.add.Tensor", {call("aten.bmm.default", {q, k}), mask});
    const auto mixed = call("aten.bmm.default", {call("aten.softmax.int", {scores}), v});
    x = call("aten.add.Tensor", {x, call("aten.mm.default", {mixed, weight()})});
    const auto g = norm(x);
    const auto gate = call("aten.silu.default", {call("aten.mm.default", {g, weight()})});
    const auto up = call("aten.mul.Tensor", {gate, call("aten.mm.default", {g, weight()})});
    return call("aten.add.Tensor", {x, call("aten.mm.default", {up, weight()})});
  }
  std::vector<trace::NodeRecord> nodes_;
};

/// A hundred chains side by side, each step also reading from its neighbour: as many boxes in view as can be.
std::vector<trace::NodeRecord> towers(size_t count) {
  Decoder made;
  std::vector<trace::NodeId> last;
  for (size_t i = 0; i < 100; ++i) last.push_back(made.input(fmt::format("in{}", i)));
  for (size_t i = 100; i < count; ++i)
    last[i % 100] = made.call("aten.add.Tensor", {last[i % 100], last[(i + 1) % 100]});
  return made.take();
}

/// Three stages: every twentieth node changes, then every fiftieth call is bypassed.
void write_trace(const std::filesystem::path& path, std::vector<trace::NodeRecord> nodes) {
  trace::Writer writer(path);
  trace::CompileRecord compile;
  compile.address = "0/0";
  compile.name = "decoder";
  compile.outcome = "ok";
  const trace::Id id = writer.add(compile);
  auto stage = [&](const char* name) {
    trace::SnapshotRecord snapshot;
    snapshot.compile = id;
    snapshot.stage = name;
    writer.add(snapshot, nodes);
  };
  stage("captured");
  for (size_t i = 0; i < nodes.size(); i += 20) nodes[i].dtype = "bf16";
  stage("functional");
  std::vector<trace::NodeRecord> fewer;
  std::vector<trace::NodeId> instead(nodes.size() + 1);
  for (auto& node : nodes) {
    for (auto& operand : node.inputs)
      for (auto& of : operand) of = instead[static_cast<size_t>(of)];
    const bool gone = node.id % 50 == 0 && node.inputs.size() == 1;
    instead[static_cast<size_t>(node.id)] = gone ? node.inputs[0][0] : node.id;
    if (!gone) fewer.push_back(node);
  }
  nodes = std::move(fewer);
  stage("decomposed");
  writer.close();
}

// ---------------------------------------------------------------------------------------------------------------
// memory

/// The most memory since the last reset, in MB.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return std::nan("");
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

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
  }
}

// ---------------------------------------------------------------------------------------------------------------
// window

void run_until(const std::function<bool()>& done) {
  do {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    if (!done()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (!done());
}

void settle(studio::Context& context) {
  run_until([&] { return context.queue().idle(); });
}

struct Frames {
  std::vector<double> times;
  double percentile(double p) {
    std::sort(times.begin(), times.end());
    return times[std::min(times.size() - 1, static_cast<size_t>(p * static_cast<double>(times.size())))];
  }
};

class Script {
 public:
  Script(studio::Context& context, studio::GraphView& view) : context_(context), view_(view) {}

  size_t in_view() const {
    size_t count = 0;
    for (const auto& node : context_.step_data()->picture.nodes)
      count += view_.node_rect(node.id).intersects(QRectF(view_.rect()));
    return count;
  }

  /// Dragging in circles, `frames` events.
  void pan(Frames& out, int frames) {
    QPointF at(view_.width() / 2.0, view_.height() / 2.0);
    mouse(QEvent::MouseButtonPress, at);
    for (int i = 0; i < frames; ++i) {
      at += QPointF(25 * std::cos(i / 9.0), 40 * std::sin(i / 9.0));
      frame(out, [&] { mouse(QEvent::MouseMove, at); });
    }
    mouse(QEvent::MouseButtonRelease, at);
  }

  /// Wheel in and out, ending where it began; never further out than at the start.
  void zoom(Frames& out, int frames) {
    for (int i = 0; i < frames; ++i) frame(out, [&] { wheel(i % 20 < 10 ? 60 : -60); });
  }

  void wheel(int delta) {
    const QPointF at(view_.width() / 2.0, view_.height() / 2.0);
    QWheelEvent event(at, view_.mapToGlobal(at), {}, {0, delta}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(&view_, &event);
  }

 private:
  void frame(Frames& out, const std::function<void()>& change) {
    const auto start = Clock::now();
    change();
    view_.repaint();
    out.times.push_back(milliseconds(start));
  }

  void mouse(QEvent::Type type, QPointF at) {
    const Qt::MouseButton button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
    QMouseEvent event(type, at, view_.mapToGlobal(at), button, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&view_, &event);
  }

  studio::Context& context_;
  studio::GraphView& view_;
};

void print_frames(const char* what, const studio::GraphView& view, size_t boxes, Frames& frames) {
  fmt::print("  {:<28} scale {:>6.3f} {:>7} nodes  median {:>6.1f}  95% {:>6.1f}  most {:>6.1f} ms\n", what,
             view.scale(), boxes, frames.percentile(0.5), frames.percentile(0.95), frames.percentile(1));
}

void bench_frames(studio::Context& context) {
  studio::GraphView view(context);
  view.resize(1600, 1000);
  view.show();
  context.select({});
  emit context.stepChanged();
  QCoreApplication::processEvents();
  Script script(context, view);
  auto measure = [&](const char* what) {
    Frames pan, zoom;
    const size_t boxes = script.in_view();
    script.pan(pan, 150);
    print_frames(fmt::format("{}, pan", what).c_str(), view, boxes, pan);
    script.zoom(zoom, 100);
    print_frames(fmt::format("{}, zoom", what).c_str(), view, boxes, zoom);
  };
  view.fit();
  measure("overview");
  const auto& nodes = context.step_data()->picture.nodes;
  view.centre_on(nodes[nodes.size() / 2].id);
  while (script.in_view() <= 2000 && view.scale() > 0.01) script.wheel(-20);
  while (script.in_view() > 2000) script.wheel(20);
  measure("at most 2000 nodes");
  view.centre_on(nodes[nodes.size() / 2].id);
  while (view.scale() > 0.45) script.wheel(-20);
  measure("smallest readable");
  view.centre_on(nodes[nodes.size() / 2].id);
  measure("readable");
}

void bench_window(const char* shape, const std::vector<trace::NodeRecord>& nodes, const std::filesystem::path& folder) {
  const size_t count = nodes.size();
  const auto path = folder / fmt::format("{}-{}.strata", shape, count);
  write_trace(path, nodes);
  reset_peak();
  const auto start = Clock::now();
  studio::Context context;
  draw::DrawOptions options;
  options.group_by = draw::GroupBy::Automatic;
  context.set_options(options);
  studio::MainWindow window(context, false);
  window.resize(1600, 1000);
  window.show();
  window.show_view("graph");
  context.open({QString::fromStdString(path.string()), "", "", ""});
  run_until([&] { return context.step_data() || context.exit_code() != 0; });
  window.graph().repaint();
  fmt::print("{}, {} nodes, trace of {:.1f} MB\n", shape, count,
             static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  fmt::print("  window made, trace opened, graph painted: {:.0f} ms\n", milliseconds(start));
  settle(context);
  for (int by : {1, 1, -1}) {
    const auto began = Clock::now();
    context.step(by);
    const auto before = context.step_data();
    run_until([&] { return context.step_data() != before; });
    window.graph().repaint();
    const auto& diff = context.step_data()->diff;
    fmt::print("  stage {}: {:.0f} ms (+{} -{} ~{})\n", context.step_data()->snapshot.stage, milliseconds(began),
               diff.added.size(), diff.removed.size(), diff.changed.size());
    settle(context);
  }
  bench_frames(context);
  fmt::print("  peak memory {:.0f} MB\n", peak_memory());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  QApplication app(argc, argv);
  studio::apply_theme(false);
  const int limit = argc > 1 ? std::max(0, std::atoi(argv[1])) : 20;
  double load[3] = {0, 0, 0};
  if (getloadavg(load, 3) < 1) load[0] = std::nan("");
  fmt::print("load {:.1f} on {} cores\n", load[0], std::thread::hardware_concurrency());
  bench_layout(limit);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("strata-bench-studio-{}", getpid());
  std::filesystem::create_directories(folder);
  bench_window("towers", towers(10000), folder);
  bench_window("decoder", Decoder(10000).take(), folder);
  bench_window("decoder", Decoder(40000).take(), folder);
  std::filesystem::remove_all(folder);
  return 0;
}
