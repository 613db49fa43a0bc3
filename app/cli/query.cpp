// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata query`: nodes by what is known of them.

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "app/cli/table.h"
#include "core/support/error.h"

namespace strata::cli {
namespace {

struct QueryOptions {
  std::string trace;
  std::vector<std::string> terms;
  Address address;
  bool json = false;
};

/// `KEY=PATTERN`, or `KEY!=PATTERN`; a pattern may hold `*`.
struct Term {
  std::string key, pattern;
  bool negated = false;
};

const std::vector<std::string>& keys() {
  static const std::vector<std::string> all = {"name", "op", "target", "dtype", "shape", "module", "group", "id"};
  return all;
}

Term parse_term(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw_user(fmt::format("'{}' is no condition", text), "write KEY=PATTERN, as in 'target=aten.relu*' 'dtype=f32'");
  Term term{text.substr(0, equals), text.substr(equals + 1), false};
  if (term.key.ends_with('!')) {
    term.negated = true;
    term.key.pop_back();
  }
  check_word("key", term.key, keys());
  return term;
}

/// Glob with `*` only, in linear space and quadratic time at worst.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string value_of(const trace::NodeRecord& n, const std::string& key) {
  if (key == "name") return n.name;
  if (key == "op") return n.op;
  if (key == "target") return n.target;
  if (key == "dtype") return n.dtype;
  if (key == "shape") return n.shape;
  if (key == "module") return n.module;
  return std::to_string(key == "group" ? n.group : n.id);
}

void query(const QueryOptions& o) {
  std::vector<Term> terms;
  for (const std::string& t : o.terms) terms.push_back(parse_term(t));
  trace::Reader reader(o.trace);
  const trace::CompileRecord compile = select_compile(reader, o.address);
  const trace::SnapshotRecord snapshot = select_snapshot(reader, compile.id, o.address);
  Table table({">id", "name", "target", "type", "module"});
  JsonArray items;
  for (const trace::NodeRecord& n : reader.nodes(snapshot.id)) {
    const bool all = std::all_of(terms.begin(), terms.end(),
                                 [&](const Term& t) { return matches(t.pattern, value_of(n, t.key)) != t.negated; });
    if (!all) continue;
    table.row({std::to_string(n.id), n.name, n.target, n.type, n.module});
    items.push_back(Json{JsonObject{{"id", json(n.id)},
                                    {"name", json(n.name)},
                                    {"op", json(n.op)},
                                    {"target", json(n.target)},
                                    {"type", json(n.type)},
                                    {"module", json(n.module)}}});
  }
  print(o.json ? to_text(Json{std::move(items)}) : table.text());
}

}  // namespace

void add_query(CLI::App& app, Invocation&) {
  CLI::App* command =
      app.add_subcommand("query", "nodes of a stage by name, op, target, dtype, shape, module, group or id");
  auto options = std::make_shared<QueryOptions>();
  command->add_option("TRACE", options->trace, "trace file")->required();
  command
      ->add_option("EXPR", options->terms,
                   "conditions that must all hold: KEY=PATTERN or KEY!=PATTERN, * stands for anything")
      ->expected(0, 1000);
  add_graph_option(*command, options->address);
  add_stage_option(*command, options->address);
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options] { query(*options); });
}

}  // namespace strata::cli
