// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata profile`.

#include "profiler/profile.h"

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/statistics_json.h"
#include "app/cli/table.h"
#include "core/support/error.h"
#include "profiler/measured.h"

namespace strata::cli {
namespace {

struct ProfileOptions {
  std::string trace, by = "kernel";
  Address address;
  std::int64_t run = 0;
  bool json = false;
};

std::string profile_text(const profiler::Profile& p) {
  static const char* const heads[] = {"kernel", "operator", "module", "line"};
  Table table({heads[static_cast<int>(p.by)], "kind", ">calls", ">total", ">mean", ">share", ">GB/s", ">GFLOP/s",
               ">flop/byte"});
  bool shared = false;
  for (const profiler::Row& r : p.rows) {
    table.row({shortened(r.key, 90) + (r.shared ? " *" : ""), r.kind, std::to_string(r.calls), time_text(r.total),
               time_text(r.mean), percent_text(r.share), rate_text(r.rates.gigabytes_per_second),
               rate_text(r.rates.gigaflops_per_second), rate_text(r.rates.flops_per_byte)});
    shared |= r.shared;
  }
  table.rule();
  table.row({"all", "", "", time_text(p.total), "", "100.0%"});
  std::string text = table.text();
  if (shared) text += "* part of the time of kernels that compute several operators, divided among them\n";
  const profiler::Costs& c = p.costs;
  if (c.run.count > 0)
    text += fmt::format("{} run{} ({}): median {}, min {}; {} launches take {} of it ({})\n", c.run.count,
                        c.run.count == 1 ? "" : "s", c.label, time_text(c.run.median), time_text(c.run.min), c.launches,
                        time_text(c.launched), percent_text(c.launched / c.run.median));
  return text;
}

Json profile_json(const profiler::Profile& p) {
  JsonArray rows;
  for (const profiler::Row& r : p.rows)
    rows.push_back(Json{JsonObject{{"name", json(r.key)},
                                   {"kind", json(r.kind)},
                                   {"calls", json(r.calls)},
                                   {"total_ns", json(r.total)},
                                   {"mean_ns", json(r.mean)},
                                   {"share", json(r.share)},
                                   {"bytes", json(r.bytes)},
                                   {"flops", json(r.flops)},
                                   {"gb_per_s", json(r.rates.gigabytes_per_second)},
                                   {"gflop_per_s", json(r.rates.gigaflops_per_second)},
                                   {"shared", json(r.shared)}}});
  return Json{JsonObject{{"label", json(p.costs.label)},
                         {"runs", statistics_json(p.costs.run)},
                         {"launches", json(p.costs.launches)},
                         {"launched_ns", json(p.costs.launched)},
                         {"total_ns", json(p.total)},
                         {"rows", Json{std::move(rows)}}}};
}

// ------------------------------------------------------------------------------------------------------------------
// imported profiles

profiler::MeasuredBy parse_measured_by(const std::string& word) {
  static const std::vector<std::string> words = {"kernel", "op", "module", "line", "graph"};
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<profiler::MeasuredBy>(i);
  throw_user("a profile cannot be made by '" + word + "'", suggest(word, words));
}

std::string match_text(const profiler::MeasuredRow& row) {
  if (row.match == trace::Match::None) return "";
  if (row.match == trace::Match::Exact) return "exact";
  return row.exact < 0.005 ? "inferred" : fmt::format("{:.0f}% exact", 100 * row.exact);
}

std::string runs_text(const profiler::MeasuredTable& t) {
  std::string text;
  for (const std::string& run : t.runs) text += (text.empty() ? "" : "; ") + run;
  return text;
}

/// Kernel names say most at their beginning, lines at their end.
std::string key_text(const profiler::MeasuredRow& r) {
  constexpr size_t kWidth = 90;
  if (r.part != profiler::TimePart::Matched && r.key.size() > kWidth) return r.key.substr(0, kWidth - 3) + "...";
  return shortened(r.key, kWidth) + (r.shared ? " *" : "");
}

std::string measured_text(const profiler::MeasuredTable& t) {
  static const char* const heads[] = {"kernel", "operator", "module", "line", "graph"};
  const bool kernels = t.by == profiler::MeasuredBy::Kernel;
  std::vector<std::string> columns = {heads[static_cast<int>(t.by)]};
  if (kernels) columns.insert(columns.end(), {"kind", "graph"});
  columns.insert(columns.end(), {">calls", ">total", ">mean", ">share", "match"});
  if (t.device && kernels) columns.push_back("tensor cores");
  Table table(columns);
  std::string missing;
  for (const profiler::MeasuredRow& r : t.rows) {
    if (!r.measured) {
      missing += "not measured: " + r.key + "\n";
      continue;
    }
    std::vector<std::string> cells = {key_text(r)};
    if (kernels) cells.insert(cells.end(), {r.kind, r.graph});
    const bool calls = r.calls > 0 && !r.shared;
    cells.insert(cells.end(), {calls ? std::to_string(r.calls) : "", time_text(r.total), calls ? time_text(r.mean) : "",
                               percent_text(r.share), match_text(r)});
    const bool named = r.part == profiler::TimePart::Matched || r.kind != r.key;
    if (t.device && kernels) cells.push_back(named ? std::string(profiler::tensor_core_text(r.tensor_core)) : "");
    table.row(cells);
  }
  table.rule();
  std::vector<std::string> sum(columns.size());
  sum[0] = "all";
  sum[kernels ? 4 : 2] = time_text(t.total);
  sum[kernels ? 6 : 4] = "100.0%";
  table.row(sum);
  std::string text = table.text();
  if (std::any_of(t.rows.begin(), t.rows.end(), [](const auto& r) { return r.shared; }))
    text += "* the time of kernels, divided among what they compute\n";
  text += missing;
  text += fmt::format("{} time of {}", t.device ? "device" : "host operator", runs_text(t));
  if (t.matched_percent >= 0) text += fmt::format("; {:.1f}% of it under compiled code is matched", t.matched_percent);
  if (t.device && t.total > 0)
    text += fmt::format("; {} in kernels on Tensor Cores", percent_text(t.tensor_ns / t.total));
  return text + "\n";
}

Json measured_json(const profiler::MeasuredTable& t) {
  JsonArray rows;
  for (const profiler::MeasuredRow& r : t.rows)
    rows.push_back(Json{JsonObject{{"name", json(r.key)},
                                   {"kind", json(r.kind)},
                                   {"graph", json(r.graph)},
                                   {"calls", json(r.calls)},
                                   {"total_ns", json(r.total)},
                                   {"mean_ns", json(r.mean)},
                                   {"share", json(r.share)},
                                   {"match", json(r.match == trace::Match::Exact      ? "exact"
                                                  : r.match == trace::Match::Inferred ? "inferred"
                                                                                      : "")},
                                   {"exact_share", json(r.exact)},
                                   {"tensor_cores", json(std::string(profiler::tensor_core_text(r.tensor_core)))},
                                   {"part", json(std::string(profiler::time_part_text(r.part)))},
                                   {"measured", json(r.measured)},
                                   {"shared", json(r.shared)}}});
  return Json{JsonObject{{"runs", json_list(t.runs)},
                         {"device", json(t.device)},
                         {"total_ns", json(t.total)},
                         {"matched_percent", json(t.matched_percent)},
                         {"tensor_core_ns", json(t.tensor_ns)},
                         {"rows", Json{std::move(rows)}}}};
}

void show_measured(const ProfileOptions& o, trace::Reader& reader) {
  profiler::MeasuredOptions options;
  options.by = parse_measured_by(o.by);
  options.run = o.run;
  if (!o.address.graph.empty()) options.compile = reader.find_compile(o.address.graph).id;
  const profiler::MeasuredTable t = profiler::make_measured_table(reader, options);
  print(o.json ? to_text(measured_json(t)) : measured_text(t));
}

void show_profile(const ProfileOptions& o) {
  trace::Reader reader(o.trace);
  if (!profiler::profile_runs(reader).empty()) return show_measured(o, reader);
  if (o.run != 0) throw_user("--run selects among imported profiles", "'" + o.trace + "' has none");
  const profiler::By by = profiler::parse_by(o.by);
  const trace::CompileRecord compile = select_compile(reader, o.address);
  const profiler::Profile p = profiler::make_profile(reader, compile.id, by);
  print(o.json ? to_text(profile_json(p)) : profile_text(p));
}

}  // namespace

void add_profile(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("profile", "where the time of the recorded runs went");
  auto options = std::make_shared<ProfileOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  add_graph_option(*command, options->address);
  command->add_option("--by", options->by, "kernel (default), op, module or line; graph for imported profiles")
      ->type_name("WHAT");
  command->add_option("--run", options->run, "imported profile, from 1 (default: all)")->type_name("N");
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options] { show_profile(*options); });
}

}  // namespace strata::cli
