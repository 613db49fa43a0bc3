// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata explain`: why graphs broke, why functions were compiled again, what that cost, what to do.

#include "app/explain/explain.h"

#include "app/cli/cli.h"
#include "app/cli/explain_text.h"
#include "app/cli/fusion_text.h"
#include "app/cli/json_text.h"

namespace strata::cli {
namespace {

struct ExplainOptions {
  std::string trace;
  Address address;
  bool json = false;
  bool all = false;
  std::vector<std::string> pair;
};

void run_explain(const ExplainOptions& o) {
  trace::Reader reader(o.trace);
  if (!o.pair.empty()) return print(why_fused(reader, select_compile(reader, o.address).id, o.pair[0], o.pair[1]));
  const Explanation explanation = explain(reader, o.address.graph);
  print(o.json ? to_text(explain_json(explanation)) + "\n" : explain_text(explanation, o.all));
}

}  // namespace

void add_explain(CLI::App& app, Invocation&) {
  auto o = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "why graphs broke and functions were compiled again, what it cost, what to do");
  command->add_option("trace", o->trace, "trace file")->required();
  command->add_option("--graph", o->address.graph, "only this compile, as `strata graphs` lists it: 0/1")
      ->type_name("G");
  command->add_option("--pair", o->pair, "why these two nodes or kernels are, or are not, in one kernel")
      ->type_name("A B")
      ->expected(2);
  command->add_flag("--all", o->all, "long lists in full");
  command->add_flag("--json", o->json, "for scripts, always complete");
  command->callback([o] { run_explain(*o); });
}

}  // namespace strata::cli
