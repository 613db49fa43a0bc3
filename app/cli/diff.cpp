// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata diff`.

#include "profiler/diff.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "app/cli/cli.h"
#include "app/cli/eager_diff_text.h"
#include "app/cli/json_text.h"
#include "app/cli/statistics_json.h"
#include "app/cli/table.h"
#include "app/driver/import.h"
#include "core/support/error.h"
#include "profiler/timeline.h"

namespace strata::cli {
namespace {

using profiler::Cost;

struct DiffOptions {
  std::string first, second;
  std::vector<std::string> logs;
  std::string by = "kernel";
  bool json = false;
  std::optional<double> fail_slower;
};

/// `TRACE`, `TRACE@GRAPH` or `TRACE@GRAPH@STAGE`.
struct Place {
  std::string trace;
  Address address;
};

Place parse_place(const std::string& text) {
  Place place;
  const size_t first = text.find('@');
  place.trace = text.substr(0, first);
  if (first == std::string::npos) return place;
  const size_t second = text.find('@', first + 1);
  place.address.graph = text.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  if (second != std::string::npos) place.address.stage = text.substr(second + 1);
  return place;
}

std::string joined(const std::vector<std::string>& words, size_t most) {
  std::string text;
  for (size_t i = 0; i < words.size() && i < most; ++i) text += (i ? ", " : "") + words[i];
  if (words.size() > most) text += fmt::format(", ... {} more", words.size() - most);
  return text;
}

std::string saved_text(double before, double after, std::string (*print_one)(double)) {
  const double saved = before - after;
  return saved < 0 ? "-" + print_one(-saved) : print_one(saved);
}

std::vector<std::string> change_row(const std::string& name, const Cost& a, const Cost& b, bool timed,
                                    const std::string& operators) {
  const auto time = [timed](double t) { return timed ? time_text(t) : std::string("-"); };
  return {name,
          fmt::format("{} -> {}", a.launches, b.launches),
          time(a.time),
          time(b.time),
          timed ? saved_text(a.time, b.time, time_text) : "-",
          saved_text(a.bytes, b.bytes, bytes_text),
          std::to_string(a.launches - b.launches),
          operators};
}

std::string diff_text(const profiler::ProfileDiff& d) {
  const bool timed = d.first_run.count > 0 && d.second_run.count > 0;
  Table table({"kernel", "launches", ">time before", ">time after", ">time saved", ">bytes saved", ">launches saved",
               "operators"});
  for (const profiler::KernelChange& c : d.changes)
    table.row(
        change_row(c.kernel.empty() ? "(no kernel)" : c.kernel, c.first, c.second, timed, joined(c.operators, 8)));
  table.rule();
  table.row(change_row("all", d.first, d.second, timed, ""));
  std::string text = table.text();
  if (timed)
    text += fmt::format("runs: {} median {}, {} median {}: {:.2f} times as fast\n", d.first_label,
                        time_text(d.first_run.median), d.second_label, time_text(d.second_run.median),
                        d.first_run.median / std::max(d.second_run.median, 1.0));
  return text;
}

Json cost_json(const Cost& c) {
  return Json{JsonObject{
      {"time_ns", json(c.time)}, {"bytes", json(c.bytes)}, {"flops", json(c.flops)}, {"launches", json(c.launches)}}};
}

Json diff_json(const profiler::ProfileDiff& d) {
  JsonArray changes;
  for (const profiler::KernelChange& c : d.changes)
    changes.push_back(Json{JsonObject{{"kernel", c.kernel.empty() ? Json{} : json(c.kernel)},
                                      {"kind", json(c.kind)},
                                      {"operators", json_list(c.operators)},
                                      {"targets", json_list(c.targets)},
                                      {"before", json_list(c.before)},
                                      {"first", cost_json(c.first)},
                                      {"second", cost_json(c.second)}}});
  return Json{JsonObject{{"first", cost_json(d.first)},
                         {"second", cost_json(d.second)},
                         {"first_runs", statistics_json(d.first_run)},
                         {"second_runs", statistics_json(d.second_run)},
                         {"slower_percent", json(d.slower_percent())},
                         {"changes", Json{std::move(changes)}}}};
}

std::string node_line(const trace::NodeRecord& n) {
  return fmt::format("{} = {}({}){}", n.name, n.target, n.args, n.type.empty() ? "" : " : " + n.type);
}

std::string graph_diff_text(const profiler::GraphDiff& d) {
  std::string text;
  for (const auto& n : d.removed) text += "- " + node_line(n) + "\n";
  for (const auto& c : d.changed) text += "~ " + node_line(c.before) + "\n> " + node_line(c.after) + "\n";
  for (const auto& n : d.added) text += "+ " + node_line(n) + "\n";
  return text + fmt::format("{} removed, {} changed, {} added, {} the same\n", d.removed.size(), d.changed.size(),
                            d.added.size(), d.same);
}

Json graph_diff_json(const profiler::GraphDiff& d) {
  JsonArray removed, added, changed;
  for (const auto& n : d.removed) removed.push_back(json(node_line(n)));
  for (const auto& n : d.added) added.push_back(json(node_line(n)));
  for (const auto& c : d.changed)
    changed.push_back(Json{JsonObject{{"before", json(node_line(c.before))}, {"after", json(node_line(c.after))}}});
  return Json{JsonObject{{"removed", Json{std::move(removed)}},
                         {"changed", Json{std::move(changed)}},
                         {"added", Json{std::move(added)}},
                         {"same", json(d.same)}}};
}

int diff_graphs(const DiffOptions& o, const Place& a, const Place& b) {
  if (o.fail_slower) throw_user("--fail-slower compares runs, not graphs", "give two traces without @STAGE");
  trace::Reader first(a.trace), second(b.trace);
  const trace::CompileRecord ca = select_compile(first, a.address), cb = select_compile(second, b.address);
  const trace::SnapshotRecord sa = select_snapshot(first, ca.id, a.address),
                              sb = select_snapshot(second, cb.id, b.address);
  for (const auto* s : {&sa, &sb})
    if (s->kind != trace::SnapshotKind::Graph) throw_user(fmt::format("stage '{}' is text, not a graph", s->stage));
  std::error_code ignored;
  const bool one_compile = std::filesystem::equivalent(a.trace, b.trace, ignored) && ca.id == cb.id;
  const auto d = profiler::diff_graphs(first.nodes(sa.id), second.nodes(sb.id), one_compile);
  print(o.json ? to_text(graph_diff_json(d)) : graph_diff_text(d));
  return 0;
}

// ------------------------------------------------------------------------------------------------------------------
// imported profiles

int exit_code_of(const DiffOptions& o, double slower_percent) {
  if (!o.fail_slower || slower_percent <= *o.fail_slower) return 0;
  note(fmt::format("slower by {:.1f}%, allowed are {:.1f}%", slower_percent, *o.fail_slower));
  return 1;
}

int diff_imported(const DiffOptions& o, trace::Reader& first, trace::Reader& second) {
  const auto d = profiler::diff_eager(first, second, profiler::parse_eager_by(o.by));
  print(o.json ? to_text(eager_diff_json(d)) : eager_diff_text(d));
  return exit_code_of(o, d.slower_percent());
}

/// Whether a path is a trace file (or at least a database), not something to import.
bool is_trace(const std::filesystem::path& path) {
  constexpr std::string_view magic = "SQLite format 3";
  std::array<char, magic.size()> head{};
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), head.size()) && std::string_view(head.data(), head.size()) == magic;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "strata-diff-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw_runtime(fmt::format("cannot create a folder '{}'", name), "set TMPDIR to a folder that can be written");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What PyTorch left behind, imported for the time of the comparison.
class TemporaryTrace {
 public:
  TemporaryTrace(const std::string& name, const std::vector<std::filesystem::path>& paths)
      : path_(folder_.path() / name) {
    const ImportSummary summary = import_paths(paths, path_);
    for (const std::string& warning : summary.warnings) note(warning);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

int diff_raw(const DiffOptions& o) {
  std::optional<TemporaryTrace> a, b;
  std::filesystem::path first = o.first, second = o.second;
  const bool one = second.empty();  // both profiles come together
  if (!is_trace(first)) {
    std::vector<std::filesystem::path> paths{first};
    if (one) paths.insert(paths.end(), o.logs.begin(), o.logs.end());
    first = a.emplace("first.strata", paths).path();
  }
  if (one) {
    second = first;
  } else if (!is_trace(second)) {
    std::vector<std::filesystem::path> paths{second};
    paths.insert(paths.end(), o.logs.begin(), o.logs.end());
    second = b.emplace("second.strata", paths).path();
  } else if (!o.logs.empty()) {
    throw_user("--log goes with a profile, not with a trace", "import the log and the profile into one trace");
  }
  trace::Reader x(first), y(second);
  return diff_imported(o, x, y);
}

// ------------------------------------------------------------------------------------------------------------------

/// Whether an argument is a file or folder that is no trace.
bool is_raw(const std::string& argument) {
  std::error_code ignored;
  return std::filesystem::exists(argument, ignored) && !is_trace(argument);
}

int diff_own(const DiffOptions& o, trace::Reader& first, trace::Reader& second, const Place& a, const Place& b) {
  const trace::CompileRecord ca = select_compile(first, a.address), cb = select_compile(second, b.address);
  const profiler::ProfileDiff d = profiler::diff_profiles(first, ca.id, second, cb.id);
  if (o.fail_slower && (d.first_run.count == 0 || d.second_run.count == 0))
    throw_user("--fail-slower needs runs in both traces", "make them with `strata run --trace`");
  print(o.json ? to_text(diff_json(d)) : diff_text(d));
  return o.fail_slower ? exit_code_of(o, d.slower_percent()) : 0;
}

int diff(const DiffOptions& o) {
  check_word("--by", o.by, {"kernel", "line", "module"});
  if (is_raw(o.first) || is_raw(o.second) || !o.logs.empty()) return diff_raw(o);
  const Place a = parse_place(o.first), b = parse_place(o.second.empty() ? o.first : o.second);
  if (!a.address.stage.empty() || !b.address.stage.empty()) return diff_graphs(o, a, b);
  trace::Reader first(a.trace), second(b.trace);
  const bool profiles = profiler::has_profile(first) && profiler::has_profile(second);
  if (profiles && a.address.graph.empty() && b.address.graph.empty()) {
    if (o.second.empty() && profiler::profiles_in(first).size() < 2)
      throw_user(fmt::format("'{}' has one profile only", o.first), "give a second trace, or import both into one");
    return diff_imported(o, first, second);
  }
  if (o.second.empty()) throw_user("there is nothing to compare with", "give a second trace");
  return diff_own(o, first, second, a, b);
}

}  // namespace

void add_diff(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "diff", "two profiles (traces, or profiles of PyTorch as they are), or two graphs (TRACE@GRAPH@STAGE)");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("A", options->first, "the first: what is compared with, e.g. an unfused run")->required();
  command->add_option("B", options->second, "the second; left out where A has an eager and a compiled profile");
  command
      ->add_option("--fail-slower", options->fail_slower,
                   "exit code 1 if a run of B takes this many percent longer than one of A")
      ->type_name("PCT");
  command->add_option("--by", options->by, "imported profiles: kernel (default), line or module")->type_name("WHAT");
  command->add_option("--log", options->logs, "TORCH_TRACE log or folder that belongs to B, where B is no trace")
      ->type_name("PATH");
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options, &invocation] { invocation.exit_code = diff(*options); });
}

}  // namespace strata::cli
