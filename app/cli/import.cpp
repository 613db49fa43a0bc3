// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata import`: from PyTorch's logs, debug folders and profiles to a trace.

#include "app/driver/import.h"

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/import_report.h"
#include "app/cli/interrupt.h"
#include "app/cli/json_text.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"

namespace strata::cli {
namespace {

constexpr std::size_t kShownWarnings = 20;

struct ImportCommand {
  std::vector<std::string> paths;
  std::string output;
  bool redact = false, json = false, progress = false;
};

template <class Number>
std::string counted(Number n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string matched_text(const ImportSummary& s) {
  if (s.kernel_ns < 0) return "";
  if (s.kernel_ns == 0) return "no kernel ran under a compiled region\n";
  return fmt::format("{} of kernel time under compiled regions, {} of it matched to graph nodes\n",
                     time_text(s.kernel_ns), percent_text(s.matched_ns / s.kernel_ns));
}

Json input_json(const ImportSummary::Input& input) {
  JsonObject counts;
  for (const auto& [kind, number] : input.counts) counts.emplace_back(kind, json(number));
  return Json{JsonObject{{"path", json(input.path)},
                         {"kind", json(input.kind)},
                         {"producer", json(input.producer)},
                         {"bytes", json(input.bytes)},
                         {"records", json(input.records)},
                         {"problems", json(input.problems)},
                         {"counts", Json{std::move(counts)}}}};
}

void import(const ImportCommand& o, const Invocation& invocation) {
  const std::vector<std::filesystem::path> paths(o.paths.begin(), o.paths.end());
  const ImportSummary summary = import_with_progress(paths, o.output, o.redact, invocation.command_line(), o.progress);
  note_import_warnings(summary, kShownWarnings);
  print(o.json ? to_text(import_json(summary, o.output)) : import_text(summary, o.output));
}

}  // namespace

ImportSummary import_with_progress(const std::vector<std::filesystem::path>& paths, const std::string& out, bool redact,
                                   const std::string& command, bool lines) {
  Progress progress(lines);
  ImportOptions options;
  options.redact = redact;
  options.properties = {{"version", STRATA_VERSION}, {"command", command}};
  options.progress = [&](double part, std::string_view what) {
    progress.say(fmt::format("{:3.0f}% {}", part * 100, what));
    return !interrupted();
  };
  return import_paths(paths, out, options);
}

std::string import_text(const ImportSummary& s, const std::string& out) {
  Table table({"input", "kind", ">size", ">records", ">problems", "made by"});
  for (const ImportSummary::Input& i : s.inputs)
    table.row({shortened(i.path, 70), i.kind, bytes_text(static_cast<double>(i.bytes)), std::to_string(i.records),
               std::to_string(i.problems), i.producer});
  std::string text = table.text();
  text += fmt::format("{}: {}, {} ({} attempts), {}, {}, {}\n", out, counted(s.frames, "frame"),
                      counted(s.compiles, "compile"), s.attempts, counted(s.breaks, "graph break"),
                      counted(s.recompiles, "recompile"), counted(s.guards, "guard"));
  text += fmt::format("{}, {}, {}, {}", counted(s.graphs, "graph"), counted(s.programs, "program"),
                      counted(s.kernels, "kernel"), counted(s.events, "event"));
  if (s.processes > 1) text += fmt::format(", {} processes", s.processes);
  text += "\n" + matched_text(s);
  if (s.skipped_count > 0)
    text += fmt::format("{} skipped: nothing known in {}\n", counted(s.skipped_count, "file"),
                        s.skipped_count == 1 ? "it" : "them");
  return text;
}

Json import_json(const ImportSummary& s, const std::string& out) {
  JsonArray inputs, skipped;
  for (const ImportSummary::Input& i : s.inputs) inputs.push_back(input_json(i));
  for (const SkippedInput& i : s.skipped)
    skipped.push_back(Json{JsonObject{{"path", json(i.path.string())}, {"why", json(i.why)}}});
  const bool matched = s.kernel_ns > 0;
  return Json{JsonObject{{"trace", json(out)},
                         {"inputs", Json{std::move(inputs)}},
                         {"skipped", Json{std::move(skipped)}},
                         {"skipped_count", json(s.skipped_count)},
                         {"warnings", json_list(s.warnings)},
                         {"warning_count", json(s.warning_count)},
                         {"processes", json(s.processes)},
                         {"frames", json(s.frames)},
                         {"compiles", json(s.compiles)},
                         {"attempts", json(s.attempts)},
                         {"graph_breaks", json(s.breaks)},
                         {"recompiles", json(s.recompiles)},
                         {"guards", json(s.guards)},
                         {"graphs", json(s.graphs)},
                         {"programs", json(s.programs)},
                         {"kernels", json(s.kernels)},
                         {"events", json(s.events)},
                         {"kernel_ns", s.kernel_ns < 0 ? Json{} : json(s.kernel_ns)},
                         {"matched_ns", s.kernel_ns < 0 ? Json{} : json(s.matched_ns)},
                         {"matched_share", matched ? json(s.matched_ns / s.kernel_ns) : Json{}}}};
}

void note_import_warnings(const ImportSummary& s, std::size_t most) {
  for (std::size_t i = 0; i < s.warnings.size() && i < most; ++i) note("warning: " + s.warnings[i]);
  if (const std::size_t shown = std::min(s.warnings.size(), most); s.warning_count > shown)
    note(fmt::format("{} more warnings; --json lists them", s.warning_count - shown));
  for (std::size_t i = 0; i < s.skipped.size() && i < most; ++i)
    note(fmt::format("skipped {}: {}", s.skipped[i].path.string(), s.skipped[i].why));
  if (s.skipped_count > most) note(fmt::format("{} more files skipped", s.skipped_count - most));
}

void add_import(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("import", "a trace from PyTorch's logs, debug folders and profiles");
  auto options = std::make_shared<ImportCommand>();
  command
      ->add_option(
          "PATH", options->paths,
          "TORCH_TRACE folders and logs, torch_compile_debug folders, TORCH_LOGS text, tlparse folders, profiler "
          "traces; .gz too; exported programs (.pt2); folders are searched")
      ->required();
  command->add_option("-o,--output", options->output, "the trace to write")->type_name("OUT.strata")->required();
  command->add_flag("--redact", options->redact, "leave out source text, paths, names, strings and constants");
  command->add_flag("--json", options->json, "results as JSON");
  command->add_flag("--progress", options->progress,
                    "say what is being done as lines on stderr, for programs that show it");
  command->callback([options, &invocation] { import(*options, invocation); });
}

}  // namespace strata::cli
