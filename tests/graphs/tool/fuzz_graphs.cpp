// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// fuzz_graphs: random programs through the interpreter, unfused and compiled; see docs/fuzzing.md.

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/support/error.h"
#include "tests/graphs/reproduce.h"

namespace strata::fuzz {
namespace {

std::atomic<bool> cancelled = false;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_user("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int replay(const std::string& path) {
  const std::vector<RandomProgram> programs = from_file(read(path));
  poison_memory();
  const std::vector<std::string> found = check_together(programs);
  std::string why;
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].empty())
      why += (found.size() > 1 ? "program " + std::to_string(i + 1) + ": " : std::string()) + found[i] + "\n";
  if (why.empty() && programs.size() == 1) why = check(programs[0], Depth::Stages);
  std::cout << (why.empty() ? "no difference\n" : why) << std::flush;
  return why.empty() ? 0 : 1;
}

/// Whole or not at all, whenever this ends.
void write(const std::string& path, const std::string& text) {
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw_user("cannot write " + beside);
  std::filesystem::rename(beside, path);
}

struct Arguments {
  CampaignOptions campaign;
  std::string out = ".", file, row;
  bool show = false, quiet = false;
  int seconds = 120;
};

void list_rows() {
  size_t made = 0, count = 0;
  for (const OpDef* row : all_ops()) {
    ++count;
    made += recipe_of(*row) != nullptr;
    if (!recipe_of(*row)) std::cout << row->name << ": " << reason_left_out(*row) << "\n";
  }
  std::cout << made << " of " << count << " rows are made\n";
}

int run(const Arguments& a) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Clock::time_point shown = start;
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto progress = [&](size_t done, size_t failures) {
    if (a.quiet || Clock::now() - shown < std::chrono::seconds(5)) return;
    shown = Clock::now();
    std::cerr << done << " of " << a.campaign.graphs << " graphs, "
              << static_cast<int>(static_cast<double>(done) / seconds()) << " per second, " << failures << " differ"
              << std::endl;
  };
  const Outcome outcome = run_campaign(a.campaign, progress);
  const Statistics& s = outcome.statistics;
  std::cout << s.programs << " graphs from seed " << a.campaign.first << " in " << static_cast<int>(seconds()) << " s ("
            << static_cast<int>(static_cast<double>(s.programs) / seconds()) << " per second): " << s.nodes
            << " nodes, " << s.kernels << " loop kernels (" << s.distinct << " different in their batches, LLVM took "
            << s.generate_ns / 1000000000 << " s), " << s.refused << " refused, " << s.elements << " results, of which "
            << (s.elements ? 100 * s.numbers / s.elements : 0) << " % are finite\n"
            << outcome.failures.size() << " differ" << (cancelled ? ", cancelled" : "") << "\n";
  for (const Failure& f : outcome.failures) {
    std::cout << "seed " << f.seed << ": " << f.what << std::endl;
    const std::string path = (std::filesystem::path(a.out) / ("graph-" + std::to_string(f.seed) + ".txt")).string();
    write(path, whole_program(f, a.campaign.generator));
    if (!cancelled) write(path, reproducer(f, {a.campaign.generator, a.seconds, &cancelled}));
    std::cout << (cancelled ? "  as it was made: " : "  made smaller: ") << path << std::endl;
  }
  return outcome.failures.empty() && !cancelled ? 0 : 1;
}

int main_of(int argc, char** argv) {
  setenv("STRATA_CACHE", "0", 0);  // nothing on disk
  Arguments a;
  CLI::App app{"random graphs over the operator table: interpreter, unfused and compiled must agree"};
  bool rows = false;
  app.add_option("--graphs", a.campaign.graphs, "how many")->capture_default_str();
  app.add_option("--seed", a.campaign.first, "the first one's seed")->capture_default_str();
  app.add_option("--jobs", a.campaign.jobs, "processes at a time")->capture_default_str();
  app.add_option("--batch", a.campaign.batch, "graphs that are compiled together")->capture_default_str();
  app.add_option("--most-failures", a.campaign.most_failures, "where to stop")->capture_default_str();
  app.add_option("--row", a.row, "an operator that every graph should have");
  app.add_option("--out", a.out, "folder for reproducers")->capture_default_str();
  app.add_option("--shrink", a.seconds, "seconds in which a program that differs is made smaller")
      ->capture_default_str();
  app.add_option("--file", a.file, "run a reproducer again");
  app.add_flag("--rows", rows, "list the operators that are never made, and why");
  app.add_flag("--show", a.show, "print the program of --seed");
  app.add_flag("--quiet", a.quiet, "no progress");
  CLI11_PARSE(app, argc, argv);
  if (rows) return list_rows(), 0;
  if (!a.row.empty()) {
    a.campaign.generator.row = find_op(a.row);
    if (!a.campaign.generator.row) throw_user("there is no operator '" + a.row + "' in the table");
  }
  if (a.show) {
    std::cout << random_program(a.campaign.first, a.campaign.generator).str();
    return 0;
  }
  if (!a.file.empty()) return replay(a.file);
  std::filesystem::create_directories(a.out);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { cancelled = true; });
  a.campaign.cancelled = &cancelled;
  return run(a);
}

}  // namespace
}  // namespace strata::fuzz

int main(int argc, char** argv) {
  try {
    return strata::fuzz::main_of(argc, argv);
  } catch (const strata::Error& e) {
    std::cerr << "fuzz_graphs: " << e.what() << "\n";
    return e.exit_code();
  }
}
