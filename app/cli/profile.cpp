// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata profile`.

#include "profiler/profile.h"

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/statistics_json.h"
#include "app/cli/table.h"

namespace strata::cli {
namespace {

struct ProfileOptions {
  std::string trace, by = "kernel";
  Address address;
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

void show_profile(const ProfileOptions& o) {
  const profiler::By by = profiler::parse_by(o.by);
  trace::Reader reader(o.trace);
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
  command->add_option("--by", options->by, "kernel (default), op, module or line")->type_name("WHAT");
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options] { show_profile(*options); });
}

}  // namespace strata::cli
