// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

/// Layout times and quality, ours and Graphviz' `dot`, of the same graphs in one run: flat decoders of 250 to 10k
/// and (ours only) 40k nodes; and of graphs in traces.
/// bench_layout [SECONDS [TRACE...]]: the limit of each run of dot, 60 by default, 0 leaves it out. Traces in place of
/// decoders: every stage with nodes, by kernels and by modules.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "app/draw/grouping.h"
#include "app/draw/layout.h"
#include "app/draw/layout_quality.h"
#include "tests/bench/studio_graphs.h"

namespace {

using namespace strata;
using Clock = std::chrono::steady_clock;

/// Crossings of larger graphs are not counted: that takes longer than their layout.
constexpr size_t kMostMeasured = 10000;

struct Measured {
  double milliseconds = 0;
  draw::LayoutQuality quality;
};

Measured measure(const draw::Picture& picture, draw::Engine engine, int rounds) {
  Measured result;
  result.milliseconds = 1e300;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    const draw::Layout layout = draw::lay_out(picture, engine);
    result.milliseconds =
        std::min(result.milliseconds, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    if (i + 1 == rounds && picture.nodes.size() <= kMostMeasured)
      result.quality = draw::measure_quality(picture, layout);
  }
  return result;
}

/// In a process of its own, so that it can be ended; nothing when it took longer than the limit.
std::optional<Measured> measure_dot(const draw::Picture& picture, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    alarm(static_cast<unsigned>(seconds));
    const Measured made = measure(picture, draw::Engine::Graphviz, 1);
    const bool written = write(ends[1], &made, sizeof made) == static_cast<ssize_t>(sizeof made);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Measured result;
  const bool complete = read(ends[0], &result, sizeof result) == static_cast<ssize_t>(sizeof result);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return complete ? std::optional(result) : std::nullopt;
}

void print_head() {
  fmt::print("{:<24} {:>6} {:>6} {:>6} | {:>8} {:>8} {:>7} | {:>9} {:>9} {:>6} {:>6} | {:>6} {:>6} | {:>7} {:>7}\n", "",
             "nodes", "edges", "groups", "ours ms", "dot ms", "ratio", "crossings", "dot", "over", "dot", "length",
             "dot", "area", "dot");
}

void print_row(const std::string& name, const draw::Picture& picture, int limit) {
  const Measured ours = measure(picture, draw::Engine::Layered, picture.nodes.size() > 20000 ? 2 : 3);
  const auto dot = limit > 0 ? measure_dot(picture, limit) : std::nullopt;
  auto text = [&](auto value, const char* format) {
    return dot ? fmt::format(fmt::runtime(format), value(*dot)) : std::string(limit > 0 ? "stopped" : "-");
  };
  const auto& q = ours.quality;
  fmt::print(
      "{:<24} {:>6} {:>6} {:>6} | {:>8.1f} {:>8} {:>7} | {:>9} {:>9} {:>6} {:>6} | {:>6.0f} {:>6} | {:>7.1f} {:>7}\n",
      name, picture.nodes.size(), picture.edges.size(), picture.groups.size(), ours.milliseconds,
      text([](const Measured& m) { return m.milliseconds; }, "{:.0f}"),
      dot         ? fmt::format("{:.0f}x", dot->milliseconds / ours.milliseconds)
      : limit > 0 ? fmt::format(">{:.0f}x", limit * 1e3 / ours.milliseconds)
                  : "-",
      picture.nodes.size() > kMostMeasured ? "-" : fmt::format("{}", q.crossings),
      text([](const Measured& m) { return m.quality.crossings; }, "{}"), q.through_boxes,
      text([](const Measured& m) { return m.quality.through_boxes; }, "{}"), q.mean_length,
      text([](const Measured& m) { return m.quality.mean_length; }, "{:.0f}"), q.area,
      text([](const Measured& m) { return m.quality.area; }, "{:.1f}"));
  std::fflush(stdout);
}

void bench_decoders(int limit) {
  print_head();
  for (size_t count : {250, 500, 1000, 2000, 5000, 10000, 40000})
    print_row("flat decoder", draw::make_picture(bench::Decoder(count).take(), {}, {}, {}), count > 10000 ? 0 : limit);
}

void bench_trace(const char* path, int limit) {
  trace::Reader reader(path);
  print_head();
  for (const auto& compile : reader.compiles())
    for (const auto& snapshot : reader.snapshots(compile.id)) {
      if (snapshot.kind != trace::SnapshotKind::Graph) continue;
      for (draw::GroupBy by : {draw::GroupBy::Kernels, draw::GroupBy::Modules}) {
        draw::DrawOptions options;
        options.group_by = by;
        const draw::Picture picture = draw::make_picture(reader, snapshot.id, options);
        if (by == draw::GroupBy::Modules && picture.groups.empty()) continue;
        print_row(fmt::format("{}{}", snapshot.stage.substr(0, 18), by == draw::GroupBy::Modules ? " (mod)" : ""),
                  picture, limit);
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  const int limit = argc > 1 ? std::max(0, std::atoi(argv[1])) : 60;
  double load[3] = {0, 0, 0};
  if (getloadavg(load, 3) < 1) load[0] = std::nan("");
  fmt::print("load {:.1f} on {} cores; limit of dot {} s\n", load[0], std::thread::hardware_concurrency(), limit);
  if (argc <= 2) bench_decoders(limit);
  for (int i = 2; i < argc; ++i) bench_trace(argv[i], limit);
  return 0;
}
